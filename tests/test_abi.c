/* test_abi: the binary interface that docs/abi.md promises. Option structs keep their size, defaults clear the reserved
 * words, and every call that takes options refuses reserved words that are not 0. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/cuda.h"
#include "diffvcs/diffvcs.h"
#include "diffvcs/grad.h"
#include "diffvcs/relax.h"

/* A struct's size, where its reserved words begin, and where its last field begins, with 64-bit pointers. */
#define FROZEN(type, size, words, last, at)                                \
  _Static_assert(sizeof(type) == (size), #type " has another size");       \
  _Static_assert(offsetof(type, reserved) == (words), #type " has moved"); \
  _Static_assert(offsetof(type, last) == (at), #type "." #last " has moved")
#if UINTPTR_MAX == UINT64_MAX
FROZEN(vcs_cart_options_t, 88, 24, name, 16);
FROZEN(vcs_env_options_t, 104, 40, colour_averaging, 38);
FROZEN(vcs_batch_options_t, 120, 56, sound, 53);
FROZEN(vcs_grad_options_t, 96, 32, scale, 24);
FROZEN(vcs_batch_grad_options_t, 184, 120, at_once, 116);
FROZEN(vcs_truth_options_t, 136, 72, device, 64);
FROZEN(vcs_smooth_options_t, 168, 104, progress_context, 96);
FROZEN(vcs_relax_options_t, 96, 32, bus, 24);
FROZEN(vcs_device_batch_options_t, 96, 32, endless, 31);
#endif

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
#define CLEARS(type, call)                                                \
  do {                                                                    \
    type options;                                                         \
    memset(&options, 0xFF, sizeof options);                               \
    call;                                                                 \
    for (int i = 0; i < 8; i++) assert_int_equal(options.reserved[i], 0); \
  } while (0)

static void test_defaults_clear_the_reserved_words(void **state) {
  const fixture_t *f = *state;
  CLEARS(vcs_env_options_t, vcs_env_defaults(f->cart, &options));
  CLEARS(vcs_batch_options_t, vcs_batch_defaults(&options));
  CLEARS(vcs_grad_options_t, vcs_grad_defaults(&options));
  CLEARS(vcs_batch_grad_options_t, vcs_batch_grad_defaults(&options));
  CLEARS(vcs_batch_grad_options_t, vcs_batch_grad_defaults(&options); options.reserved[0] = options.grad.reserved[7]);
  CLEARS(vcs_smooth_options_t, vcs_smooth_defaults(&options));
  CLEARS(vcs_relax_options_t, vcs_relax_defaults(&options));
  CLEARS(vcs_device_batch_options_t, vcs_device_batch_defaults(&options));
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

/* The call works with the options as they are, and with any reserved word set it is refused, naming the word. */
#define REFUSES(options, word, call)                             \
  do {                                                           \
    vcs_error_t error;                                           \
    assert_int_equal(call, VCS_OK);                              \
    for (int i = 0; i < 8; i++) {                                \
      char named[32];                                            \
      snprintf(named, sizeof named, "reserved[%d] is not 0", i); \
      (word)[i] = 1;                                             \
      assert_int_equal(call, VCS_BAD_ARGUMENT);                  \
      assert_non_null(strstr(error.message, named));             \
      (word)[i] = 0;                                             \
    }                                                            \
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults_clear_the_reserved_words),
      cmocka_unit_test(test_cartridges_and_environments_refuse_unknown_options),
      cmocka_unit_test(test_batches_refuse_unknown_options),
      cmocka_unit_test(test_derivatives_refuse_unknown_options),
      cmocka_unit_test(test_truth_and_smooth_refuse_unknown_options),
      cmocka_unit_test(test_the_relaxed_machine_refuses_unknown_options),
  };
  return cmocka_run_group_tests(tests, make, discard);
}
