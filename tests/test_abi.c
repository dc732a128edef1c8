/* test_abi: the binary interface that docs/abi.md promises. Option structs keep their size, defaults clear the reserved
 * words, and every call that takes options refuses reserved words that are not 0 and numbers of threads that cannot be.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/annotate.h"
#include "diffvcs/cuda.h"
#include "diffvcs/diffvcs.h"
#include "diffvcs/grad.h"
#include "diffvcs/relax.h"
#include "diffvcs/study.h"

/* A struct's size, where its reserved words begin, and where its last field begins, with 64-bit pointers. */
#define FROZEN(type, size, words, last, at)                                \
  _Static_assert(sizeof(type) == (size), #type " has another size");       \
  _Static_assert(offsetof(type, reserved) == (words), #type " has moved"); \
  _Static_assert(offsetof(type, last) == (at), #type "." #last " has moved")
#if UINTPTR_MAX == UINT64_MAX
FROZEN(vcs_cart_options_t, 88, 24, name, 16);
FROZEN(vcs_env_options_t, 104, 48, players, 40);
FROZEN(vcs_batch_options_t, 120, 64, players, 56);
FROZEN(vcs_grad_options_t, 96, 48, threads, 40);
FROZEN(vcs_batch_grad_options_t, 184, 120, at_once, 116);
FROZEN(vcs_truth_options_t, 136, 72, device, 64);
FROZEN(vcs_smooth_options_t, 168, 112, control, 104);
FROZEN(vcs_relax_options_t, 96, 32, bus, 24);
FROZEN(vcs_device_batch_options_t, 96, 64, rgb, 60);
FROZEN(vcs_jacobian_options_t, 144, 80, engine, 72);
FROZEN(vcs_rom_options_t, 96, 32, patch, 24);
FROZEN(vcs_setup_options_t, 104, 40, replay, 32);
FROZEN(vcs_score_options_t, 128, 88, cell, 80);
FROZEN(vcs_score_game_options_t, 176, 120, budget, 112);
FROZEN(vcs_attribution_options_t, 88, 24, wrt, 16);
FROZEN(vcs_explain_options_t, 128, 64, parts, 56);
FROZEN(vcs_joystick_options_t, 112, 48, report, 32);
FROZEN(vcs_edit_options_t, 136, 104, code, 96);
FROZEN(vcs_steer_options_t, 144, 80, report, 64);
FROZEN(vcs_record_options_t, 128, 64, report, 48);
FROZEN(vcs_annotate_options_t, 104, 40, report, 24);
FROZEN(vcs_trace_options_t, 136, 72, report, 56);
#endif

static vcs_status_t score_game(const vcs_cart_t *cart, const vcs_score_game_options_t *options, vcs_error_t *error) {
  char *rows;
  const vcs_status_t status = vcs_score_game(cart, "demo", options, &rows, error);
  vcs_text_release(rows);
  return status;
}

static int drop_row(void *context, const vcs_trace_row_t *row) { return (void)context, (void)row, 0; }

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[1];
  vcs_run_t run;
} fixture_t;

static int make(void **state) {
  fixture_t *f = calloc(1, sizeof *f);
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  if (!f || vcs_cart_load(image, size, NULL, &f->cart, NULL) || vcs_env_create(f->cart, &f->env, NULL)) return 1;
  vcs_run_idle(f->env, 1, f->controls, &f->run);
  *state = f;
  return 0;
}

static int discard(void **state) {
  fixture_t *f = *state;
  vcs_env_free(f->env);
  vcs_cart_free(f->cart);
  free(f);
  return 0;
}

/* ---- Defaults ---------------------------------------------------------------------------------------------------- */

/* A newer header has fields where this one has reserved words: defaults must have cleared them. */
#define CLEARS(type, call)                                                       \
  do {                                                                           \
    type options;                                                                \
    memset(&options, 0xFF, sizeof options);                                      \
    call;                                                                        \
    const int words = (int)(sizeof options.reserved / sizeof *options.reserved); \
    for (int i = 0; i < words; i++) assert_int_equal(options.reserved[i], 0);    \
  } while (0)

static void test_defaults_clear_the_reserved_words(void **state) {
  const fixture_t *f = *state;
  CLEARS(vcs_env_options_t, vcs_env_defaults(f->cart, &options));
  CLEARS(vcs_batch_options_t, vcs_batch_defaults(&options));
  CLEARS(vcs_grad_options_t, vcs_grad_defaults(&options));
  CLEARS(vcs_batch_grad_options_t, vcs_batch_grad_defaults(&options));
  CLEARS(vcs_batch_grad_options_t, vcs_batch_grad_defaults(&options); options.reserved[0] = options.grad.reserved[5]);
  CLEARS(vcs_smooth_options_t, vcs_smooth_defaults(&options));
  CLEARS(vcs_relax_options_t, vcs_relax_defaults(&options));
  CLEARS(vcs_device_batch_options_t, vcs_device_batch_defaults(&options));
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* The call works with the options as they are, and with any reserved word set it is refused, naming the word. */
#define REFUSES(options, word, call)                                 \
  do {                                                               \
    vcs_error_t error;                                               \
    assert_int_equal(call, VCS_OK);                                  \
    for (int i = 0; i < (int)(sizeof(word) / sizeof *(word)); i++) { \
      char named[32];                                                \
      snprintf(named, sizeof named, "reserved[%d] is not 0", i);     \
      (word)[i] = 1;                                                 \
      assert_int_equal(call, VCS_BAD_ARGUMENT);                      \
      assert_non_null(strstr(error.message, named));                 \
      (word)[i] = 0;                                                 \
    }                                                                \
  } while (0)

static void test_cartridges_and_environments_refuse_unknown_options(void **state) {
  fixture_t *f = *state;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_cart_options_t cart = {.name = "demo"};
  vcs_cart_t *loaded = NULL;
  REFUSES(cart, cart.reserved, (vcs_cart_free(loaded), vcs_cart_load(image, size, &cart, &loaded, &error)));
  vcs_cart_free(loaded);
  vcs_env_options_t env;
  vcs_env_defaults(f->cart, &env);
  REFUSES(env, env.reserved, vcs_env_configure(f->env, &env, &error));
  vcs_env_t *created = NULL;
  REFUSES(env, env.reserved, (vcs_env_free(created), vcs_env_create_with(f->cart, &env, &created, &error)));
  vcs_env_free(created);
}

static void test_batches_refuse_unknown_options(void **state) {
  const fixture_t *f = *state;
  const vcs_cart_t *carts[] = {f->cart};
  for (int32_t device = VCS_CPU_AS_GPU; device <= VCS_CPU; device++) {
    vcs_batch_options_t options;
    vcs_batch_t *batch = NULL;
    vcs_batch_defaults(&options);
    options.device = device;
    options.autoreset = VCS_AUTORESET_SAME_STEP;
    options.stack_in_place = 1;
    REFUSES(options, options.reserved,
            (vcs_batch_free(batch), vcs_batch_create(carts, 1, NULL, &options, &batch, &error)));
    vcs_batch_free(batch);
  }
  vcs_device_batch_options_t options;
  vcs_device_batch_t *batch = NULL;
  vcs_device_batch_defaults(&options);
  options.device = VCS_CPU_AS_GPU;
  REFUSES(options, options.reserved,
          (vcs_device_batch_free(batch), vcs_device_batch_create(carts, 1, NULL, &options, &batch, &error)));
  vcs_device_batch_free(batch);
}

static void test_derivatives_refuse_unknown_options(void **state) {
  const fixture_t *f = *state;
  float input[VCS_INPUTS] = {0};
  const vcs_grad_inputs_t inputs = {.input = input};
  const vcs_grad_outputs_t outputs = {0};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  REFUSES(options, options.reserved, vcs_grad_jvp(&f->run, &options, &inputs, &outputs, NULL, &error));
  REFUSES(options, options.reserved, vcs_grad_vjp(&f->run, &options, &inputs, &outputs, NULL, &error));
  REFUSES(options, options.reserved,
          vcs_grad_vjp_directional(NULL, &f->run, &options, &inputs, &inputs, &outputs, NULL, &error));

  const vcs_cart_t *carts[] = {f->cart};
  vcs_batch_t *batch;
  assert_int_equal(vcs_batch_create(carts, 1, NULL, NULL, &batch, NULL), VCS_OK);
  const vcs_batch_results_t nothing = {0};
  assert_int_equal(vcs_batch_reset(batch, NULL, NULL, 1, &nothing, NULL), VCS_OK);
  vcs_batch_grad_options_t many;
  vcs_batch_grad_defaults(&many);
  const vcs_batch_inputs_t many_inputs = {0};
  const vcs_batch_outputs_t many_outputs = {0};
  const vcs_controls_t held = f->controls[0];
  REFUSES(many, many.reserved, vcs_batch_jvp(batch, &held, &many, &many_inputs, &many_outputs, NULL, &error));
  REFUSES(many, many.grad.reserved, vcs_batch_vjp(batch, &held, &many, &many_inputs, &many_outputs, NULL, &error));
  vcs_batch_free(batch);
}

static void test_truth_and_smooth_refuse_unknown_options(void **state) {
  const fixture_t *f = *state;
  const vcs_place_t place = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT};
  const size_t end = 1;
  const double probability = 0.5;
  vcs_truth_t row;
  const vcs_truth_results_t results = {.rows = &row};
  vcs_truth_options_t truth = {.threads = 1};
  REFUSES(truth, truth.reserved, vcs_truth(&f->run, &truth, &place, 1, &results, &error));
  REFUSES(truth, truth.reserved, vcs_truth_sets(&f->run, &truth, &place, &end, 1, &results, &error));
  REFUSES(truth, truth.reserved, vcs_truth_pairs(&f->run, &truth, &place, 1, NULL, 0, &results, &error));
  truth.device = VCS_CPU_AS_GPU;
  REFUSES(truth, truth.reserved, vcs_truth(&f->run, &truth, &place, 1, &results, &error));
  vcs_smooth_options_t smooth;
  vcs_smooth_defaults(&smooth);
  smooth.output = (vcs_scalar_t){.kind = VCS_SCALAR_RAM, .bit = -1};
  smooth.samples = 2;
  REFUSES(smooth, smooth.reserved, vcs_smooth(&f->run, &smooth, &place, &probability, 1, NULL, NULL, NULL, &error));
}

static void test_the_relaxed_machine_refuses_unknown_options(void **state) {
  const fixture_t *f = *state;
  vcs_relax_options_t options;
  vcs_relax_t *relax = NULL;
  vcs_relax_defaults(&options);
  REFUSES(options, options.reserved,
          (vcs_relax_free(relax), relax = NULL, vcs_relax_create(f->cart, &options, &relax, &error)));
  vcs_relax_free(relax);
}

static void test_the_jacobian_refuses_unknown_options(void **state) {
  const fixture_t *f = *state;
  const vcs_place_t place = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT};
  const size_t end = 1;
  const float tangent = 1;
  float adjoint = 0, ram[8 * 128] = {0};
  vcs_jacobian_entry_t entries[128];
  size_t count;
  const vcs_jacobian_outputs_t outputs = {.ram = ram};
  vcs_jacobian_options_t options = {.of = VCS_OF_RAM, .threads = 1};
  REFUSES(options, options.reserved,
          vcs_jacobian(&f->run, &options, &place, &end, 1, entries, 128, &count, NULL, &error));
  REFUSES(options, options.reserved, vcs_jacobian_jvp(&f->run, &options, &place, 1, &tangent, &outputs, &error));
  REFUSES(options, options.reserved, vcs_jacobian_vjp(&f->run, &options, &place, 1, &outputs, &adjoint, &error));
}

/* A study's results are safe to free after a refusal. */
static void test_studies_refuse_unknown_options(void **state) {
  const fixture_t *f = *state;
  vcs_rom_options_t rom_options = {.roms = NULL};
  vcs_rom_t rom = {0};
  REFUSES(rom_options, rom_options.reserved,
          (vcs_cart_free(rom.cart), vcs_rom_open("demo", &rom_options, &rom, &error)));
  assert_null(rom.cart);
  vcs_setup_options_t setup_options = {.frame = 1};
  vcs_setup_t setup = {0};
  REFUSES(setup_options, setup_options.reserved,
          (vcs_setup_free(&setup), vcs_setup_create(f->cart, &setup_options, &setup, &error)));
  vcs_setup_free(&setup);

  const vcs_place_t place = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT};
  const int32_t method = VCS_STUDY_STE, search = VCS_STEER_RANDOM;
  vcs_score_options_t score_options = {.methods = &method, .method_count = 1, .threads = 1};
  vcs_agreements_t agreements[VCS_VIEWS];
  const int32_t horizon = 1;
  vcs_score_game_options_t score_game_options = {
      .horizons = &horizon, .horizon_count = 1, .methods = &method, .method_count = 1, .states = 1, .threads = 1};
  REFUSES(score_game_options, score_game_options.reserved, score_game(f->cart, &score_game_options, &error));
  REFUSES(score_options, score_options.reserved, vcs_score(&f->run, &score_options, &place, 1, agreements, &error));

  const vcs_scalar_t target = {.kind = VCS_SCALAR_RAM, .bit = -1};
  vcs_attribution_options_t attribution_options = {.wrt = VCS_WRT_RAM};
  vcs_attribution_t attribution = {0};
  REFUSES(attribution_options, attribution_options.reserved,
          (vcs_attribution_free(&attribution),
           vcs_attribute(&f->run, &target, &attribution_options, &attribution, &error)));
  vcs_attribution_free(&attribution);
  vcs_effect_t effect = {0};
  REFUSES(attribution_options, attribution_options.reserved,
          (vcs_effect_free(&effect), vcs_effect(&f->run, &place, &attribution_options, &effect, &error)));
  vcs_effect_free(&effect);

  vcs_explain_options_t explain_options = {.target = "pixel:100,80", .parts = VCS_EXPLAIN_INPUTS};
  vcs_explanation_t explanation = {0};
  REFUSES(explain_options, explain_options.reserved,
          (vcs_explanation_free(&explanation), vcs_explain(&f->run, &explain_options, &explanation, &error)));
  vcs_explanation_free(&explanation);

  vcs_joystick_options_t joystick_options = {.top = 20, .bottom = 180};
  vcs_joystick_t joystick = {0};
  REFUSES(joystick_options, joystick_options.reserved,
          (vcs_joystick_free(&joystick), vcs_joystick(&f->run, &joystick_options, &joystick, &error)));
  vcs_joystick_free(&joystick);

  const uint8_t drawing[3] = {0};
  vcs_edit_options_t edit_options = {.width = 1, .height = 1, .drawing = drawing, .exact = 1, .steps = 1};
  vcs_edit_t edit = {0};
  REFUSES(edit_options, edit_options.reserved, (vcs_edit_free(&edit), vcs_edit(&f->run, &edit_options, &edit, &error)));
  vcs_edit_free(&edit);

  vcs_steer_options_t steer_options = {
      .goal = "ram:80=200", .searches = &search, .search_count = 1, .budget = 10, .threads = 1};
  vcs_steer_t steer = {0};
  REFUSES(steer_options, steer_options.reserved,
          (vcs_steer_free(&steer, 1), vcs_steer(&f->run, &steer_options, &steer, NULL, &error)));
  vcs_steer_free(&steer, 1);

  for (int i = 0; i < 8; i++) { /* what is not refused takes seconds: tests of annotations have it */
    vcs_annotate_options_t annotate_options = {.seeds = 1};
    vcs_annotation_t *annotation = NULL;
    annotate_options.reserved[i] = 1;
    assert_int_equal(vcs_annotate(f->cart, "demo", &annotate_options, &annotation, NULL), VCS_BAD_ARGUMENT);
    assert_null(annotation);
  }

  vcs_record_options_t record_options = {.frames = 2};
  char *text = NULL;
  REFUSES(record_options, record_options.reserved,
          (vcs_text_release(text), vcs_record(f->cart, &record_options, &text, &error)));
  vcs_text_release(text);

  vcs_trace_options_t trace_options = {.limit = 1, .row = drop_row};
  REFUSES(trace_options, trace_options.reserved, vcs_trace(f->cart, &trace_options, &error));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Every number of threads that is not from 0 to 4096 is refused, and named. */
#define REFUSES_THREADS(options, call)                                                        \
  do {                                                                                        \
    const int32_t kept = (options).threads, wrong[] = {-1, -5, INT32_MIN, 4097, INT32_MAX};   \
    for (int i = 0; i < 5; i++) {                                                             \
      char named[64];                                                                         \
      vcs_error_t error;                                                                      \
      snprintf(named, sizeof named, "threads is %d, but goes from 0 to 4096", (int)wrong[i]); \
      (options).threads = wrong[i];                                                           \
      assert_int_equal(call, VCS_BAD_ARGUMENT);                                               \
      assert_string_equal(error.message, named);                                              \
    }                                                                                         \
    (options).threads = kept;                                                                 \
  } while (0)

static void test_derivatives_refuse_threads_that_cannot_be(void **state) {
  const fixture_t *f = *state;
  const vcs_cart_t *carts[] = {f->cart};
  const vcs_place_t place = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT};
  const size_t end = 1;
  const double probability = 0.5;
  const float tangent = 1;
  float input[VCS_INPUTS] = {0}, adjoint = 0, ram[8 * 128] = {0};
  vcs_batch_options_t batch;
  vcs_batch_t *created = NULL;
  vcs_batch_defaults(&batch);
  REFUSES_THREADS(batch, vcs_batch_create(carts, 1, NULL, &batch, &created, &error));
  assert_null(created);

  const vcs_grad_inputs_t inputs = {.input = input};
  const vcs_grad_outputs_t outputs = {0};
  vcs_grad_options_t grad;
  vcs_grad_defaults(&grad);
  for (int method = 0; method < VCS_METHODS; method++) {
    grad.method = (vcs_method_t)method;
    REFUSES_THREADS(grad, vcs_grad_jvp(&f->run, &grad, &inputs, &outputs, NULL, &error));
    REFUSES_THREADS(grad, vcs_grad_vjp(&f->run, &grad, &inputs, &outputs, NULL, &error));
  }

  vcs_truth_t row;
  const vcs_truth_results_t results = {.rows = &row};
  vcs_truth_options_t truth = {.device = VCS_CPU};
  REFUSES_THREADS(truth, vcs_truth(&f->run, &truth, &place, 1, &results, &error));
  REFUSES_THREADS(truth, vcs_truth_sets(&f->run, &truth, &place, &end, 1, &results, &error));
  REFUSES_THREADS(truth, vcs_truth_pairs(&f->run, &truth, &place, 1, NULL, 0, &results, &error));
  truth.device = VCS_CPU_AS_GPU;
  REFUSES_THREADS(truth, vcs_truth(&f->run, &truth, &place, 1, &results, &error));

  vcs_smooth_options_t smooth;
  vcs_smooth_defaults(&smooth);
  smooth.output = (vcs_scalar_t){.kind = VCS_SCALAR_RAM, .bit = -1};
  REFUSES_THREADS(smooth, vcs_smooth(&f->run, &smooth, &place, &probability, 1, NULL, NULL, NULL, &error));

  size_t count;
  const vcs_jacobian_outputs_t wanted = {.ram = ram};
  vcs_jacobian_entry_t entries[128];
  vcs_jacobian_options_t jacobian = {.of = VCS_OF_RAM};
  REFUSES_THREADS(jacobian, vcs_jacobian(&f->run, &jacobian, &place, &end, 1, entries, 128, &count, NULL, &error));
  REFUSES_THREADS(jacobian, vcs_jacobian_jvp(&f->run, &jacobian, &place, 1, &tangent, &wanted, &error));
  REFUSES_THREADS(jacobian, vcs_jacobian_vjp(&f->run, &jacobian, &place, 1, &wanted, &adjoint, &error));
}

static void test_studies_refuse_threads_that_cannot_be(void **state) {
  const fixture_t *f = *state;
  const vcs_place_t place = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT};
  const int32_t method = VCS_STUDY_STE, search = VCS_STEER_RANDOM, horizon = 1;
  vcs_agreements_t agreements[VCS_VIEWS];
  vcs_score_options_t score = {.horizons = &horizon, .horizon_count = 1, .methods = &method, .method_count = 1};
  REFUSES_THREADS(score, vcs_score(&f->run, &score, &place, 1, agreements, &error));
  REFUSES_THREADS(score, vcs_score_vjp(&f->run, &score, &place, 1, 1, 1, agreements, &error));
  vcs_score_game_options_t game = {
      .horizons = &horizon, .horizon_count = 1, .methods = &method, .method_count = 1, .states = 1};
  REFUSES_THREADS(game, score_game(f->cart, &game, &error));
  vcs_steer_options_t steer = {.goal = "ram:80=200", .searches = &search, .search_count = 1, .budget = 10};
  vcs_steer_t found = {0};
  REFUSES_THREADS(steer, vcs_steer(&f->run, &steer, &found, NULL, &error));
  vcs_annotate_options_t annotate = {.seeds = 1};
  vcs_annotation_t *annotation = NULL, *empty = calloc(1, sizeof *empty);
  vcs_audit_t audit;
  int32_t audits = 0;
  REFUSES_THREADS(annotate, vcs_annotate(f->cart, "demo", &annotate, &annotation, &error));
  assert_null(annotation);
  REFUSES_THREADS(annotate, vcs_annotation_audit(f->cart, empty, &annotate, &audit, 1, &audits, &error));
  free(empty);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults_clear_the_reserved_words),
      cmocka_unit_test(test_cartridges_and_environments_refuse_unknown_options),
      cmocka_unit_test(test_batches_refuse_unknown_options),
      cmocka_unit_test(test_derivatives_refuse_unknown_options),
      cmocka_unit_test(test_truth_and_smooth_refuse_unknown_options),
      cmocka_unit_test(test_the_relaxed_machine_refuses_unknown_options),
      cmocka_unit_test(test_the_jacobian_refuses_unknown_options),
      cmocka_unit_test(test_studies_refuse_unknown_options),
      cmocka_unit_test(test_derivatives_refuse_threads_that_cannot_be),
      cmocka_unit_test(test_studies_refuse_threads_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, make, discard);
}
