/* Derivatives of device batches on the GPU whose number is in DIFFVCS_DEVICE, or on the CPU, compared with vcs_grad_*
 * for each environment. The same program tests the GPU.
 *
 *   test_device_batch_grad           the quick tests: our cartridge, and games whose images are in DIFFVCS_ROMS
 *   test_device_batch_grad short     a few environments by `ste`, for compute-sanitizer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VCS_LANES_RECORD
#include "carts.h"
#include "cuda/engine.h"
#include "cuda/record.h"
#include "diffvcs/cuda.h"
#include "need.h"

static int32_t device(void) {
  const char *named = getenv("DIFFVCS_DEVICE");
  return named ? VCS_GPU + atoi(named) : VCS_CPU_AS_GPU;
}

/* A game of DIFFVCS_ROMS, or NULL; without a name, our own cartridge. */
static vcs_cart_t *load_game(const char *name) {
  return name ? load_game_as(name, VCS_PROFILE_ALE) : load_demo_as(VCS_PROFILE_ALE, NULL);
}

/* Plain ones, and those with many snapshots, paddles, banks, RAM of their own, and a DPC. */
static const char *const games[] = {NULL,       "pong",    "space_invaders", "breakout",
                                    "seaquest", "pitfall", "pitfall2",       "elevator_action"};
enum { GAMES = sizeof games / sizeof *games };

/* ---- A device batch that has played a while, and floats of its device
 * ----------------------------------------------------
 */

static void must(vcs_status_t status, const vcs_error_t *error) {
  if (status) fail_msg("%s", error->message);
}

static vcs_device_batch_t *make_batch(const vcs_cart_t *cart, int32_t envs, int32_t where) {
  vcs_device_batch_options_t options;
  vcs_device_batch_t *batch;
  vcs_error_t error;
  vcs_device_batch_defaults(&options);
  options.envs = envs;
  options.device = where;
  options.shows = VCS_DEVICE_BATCH_SHOWS_NOTHING;
  must(vcs_device_batch_create(&cart, 1, NULL, &options, &batch, &error), &error);
  const vcs_batch_results_t nothing = {0};
  must(vcs_device_batch_reset(batch, 7, &nothing, NULL, &error), &error);
  for (int i = 0; i < 20; i++) must(vcs_device_batch_step(batch, NULL, &nothing, NULL, &error), &error);
  return batch;
}

static void *upload(vcs_device_batch_t *batch, const void *from, size_t size) {
  void *there;
  vcs_error_t error;
  must(vcs_device_allocate(vcs_device_batch_options(batch)->device, size, &there, &error), &error);
  must(vcs_device_move(vcs_device_batch_options(batch)->device, there, from, size, &error), &error);
  return there;
}

static float noise(uint64_t *state) { return (float)(int32_t)(vcs_splitmix64(state) >> 40) / 16777216.0F - 0.5F; }

/* Not zero is one of `every`. */
static float *random_floats(size_t count, uint64_t seed, size_t every) {
  float *floats = calloc(count, sizeof *floats);
  for (size_t i = 0; i < count; i += every) floats[i] = noise(&seed);
  return floats;
}

/* One of everything that a product reads or adds to. */
enum { STATE_IN, ROM, INPUT, PIXELS, STATE_OUT, BUFFERS };
typedef struct {
  size_t stride[BUFFERS]; /* floats per environment */
  float *host[BUFFERS], *there[BUFFERS];
} buffers_t;

static bool is_given(int buffer, bool reverse) { return (buffer < PIXELS) != reverse; }

static void fill_buffers(vcs_device_batch_t *batch, const vcs_cart_t *cart, int32_t envs, int32_t frames, bool reverse,
                         size_t every, buffers_t *b) {
  const size_t sizes[BUFFERS] = {8 * vcs_state_size(cart), 8 * (size_t)cart->rom_size,
                                 (size_t)VCS_INPUTS * (size_t)frames,
                                 (size_t)frames * VCS_WIDTH * (size_t)cart->frame_height, 8 * vcs_state_size(cart)};
  for (int i = 0; i < BUFFERS; i++) {
    const size_t count = sizes[i] * (size_t)envs;
    b->stride[i] = sizes[i];
    b->host[i] = is_given(i, reverse) ? random_floats(count, (uint64_t)i + 1, every) : calloc(count, sizeof(float));
    b->there[i] = upload(batch, b->host[i], count * sizeof(float));
  }
}

static void free_buffers(vcs_device_batch_t *batch, buffers_t *b) {
  for (int i = 0; i < BUFFERS; i++) {
    vcs_device_free(vcs_device_batch_options(batch)->device, b->there[i]);
    free(b->host[i]);
  }
}

static void call(vcs_device_batch_t *batch, const vcs_controls_t *controls, const vcs_batch_grad_options_t *options,
                 const buffers_t *b, bool reverse, int64_t *instructions) {
  const vcs_batch_inputs_t inputs = {b->there[STATE_IN],  b->there[ROM],  b->there[INPUT],
                                     b->stride[STATE_IN], b->stride[ROM], b->stride[INPUT]};
  const vcs_batch_outputs_t outputs = {b->there[PIXELS], b->there[STATE_OUT], b->stride[PIXELS], b->stride[STATE_OUT]};
  vcs_error_t error;
  must((reverse ? vcs_device_batch_vjp : vcs_device_batch_jvp)(batch, controls, options, &inputs, &outputs,
                                                               instructions, NULL, &error),
       &error);
  must(vcs_device_batch_wait(batch, NULL, &error), &error);
}

static float *download(vcs_device_batch_t *batch, const buffers_t *b, int buffer, int32_t envs) {
  const size_t size = b->stride[buffer] * (size_t)envs * sizeof(float);
  float *here = malloc(size);
  vcs_error_t error;
  must(vcs_device_move(vcs_device_batch_options(batch)->device, here, b->there[buffer], size, &error), &error);
  return here;
}

/* ---- Against the CPU --------------------------------------------------------------------------------------------- */

/* The largest difference, by the largest number. */
static double distance(const float *a, const float *b, size_t count) {
  double apart = 0, size = 0;
  for (size_t i = 0; i < count; i++) {
    const double by = a[i] > b[i] ? (double)a[i] - b[i] : (double)b[i] - a[i];
    const double large = b[i] < 0 ? -(double)b[i] : (double)b[i];
    if (!(by <= apart)) apart = by; /* also if it is no number */
    if (large > size) size = large;
  }
  return apart == 0 ? 0 : apart / size;
}

/* `tolerance` is float rounding over as many additions as there are pixels and rows. */
static void compare_cart(const char *name, const vcs_cart_t *cart, vcs_method_t method, bool reverse, int32_t frames,
                         int32_t envs) {
  const double tolerance = 1e-4;
  vcs_device_batch_t *batch = make_batch(cart, envs, device());
  vcs_batch_grad_options_t options;
  vcs_batch_grad_defaults(&options);
  options.grad.method = method;
  options.frames = frames;
  options.rows = 25100;
  options.snapshots = 2048;
  options.at_once = envs / 2 + 1; /* in two parts */
  vcs_controls_t *controls = calloc((size_t)(envs * frames), sizeof *controls);
  uint64_t seed = 5;
  for (int32_t i = 0; i < envs * frames; i++) {
    controls[i].held[0] = (uint8_t)(vcs_splitmix64(&seed) % 32);
    for (int k = 0; k < 4; k++) controls[i].paddle[k] = 300000;
  }
  vcs_controls_t *controls_there = upload(batch, controls, (size_t)(envs * frames) * sizeof *controls);
  int64_t *instructions = calloc((size_t)envs, sizeof *instructions),
          *instructions_there = upload(batch, instructions, (size_t)envs * sizeof *instructions);
  buffers_t b, again;
  const size_t every = method == VCS_METHOD_BIT && !reverse ? 97 : 1; /* else each piece is shown a thousand times */
  fill_buffers(batch, cart, envs, frames, reverse, every, &b);
  fill_buffers(batch, cart, envs, frames, reverse, every, &again);
  call(batch, controls_there, &options, &b, reverse, instructions_there);
  call(batch, controls_there, &options, &again, reverse, NULL);
  vcs_error_t error;
  must(vcs_device_move(vcs_device_batch_options(batch)->device, instructions, instructions_there,
                       (size_t)envs * sizeof *instructions, &error),
       &error);

  vcs_t *m = malloc(sizeof *m);
  double worst = 0;
  for (int32_t env = 0; env < envs; env++) {
    assert_true(instructions[env] > 1000);
    must(vcs_device_batch_machine(batch, env, m, &error), &error);
    const vcs_run_t run = {cart, m, NULL, controls + (size_t)env * (size_t)frames, frames};
    float *of[BUFFERS], *pictures[16];
    for (int i = 0; i < BUFFERS; i++) of[i] = b.host[i] + b.stride[i] * (size_t)env;
    for (int32_t f = 0; f < frames; f++) pictures[f] = of[PIXELS] + (size_t)f * VCS_WIDTH * (size_t)cart->frame_height;
    const vcs_grad_inputs_t inputs = {of[STATE_IN], of[ROM], of[INPUT]};
    const vcs_grad_outputs_t outputs = {.pixels = pictures, .state = of[STATE_OUT]};
    must((reverse ? vcs_grad_vjp : vcs_grad_jvp)(&run, &options.grad, &inputs, &outputs, NULL, &error), &error);
  }
  for (int i = 0; i < BUFFERS; i++) {
    float *found = download(batch, &b, i, envs), *twice = download(batch, &again, i, envs);
    assert_memory_equal(found, twice, b.stride[i] * (size_t)envs * sizeof(float));
    for (int32_t env = 0; env < envs; env++) {
      const size_t at = b.stride[i] * (size_t)env;
      const double apart = distance(found + at, b.host[i] + at, b.stride[i]);
      if (!(apart <= tolerance)) {
        fail_msg("%s, method %d, %s, %d frames: buffer %d of env %d is off by %g", name, (int)method,
                 reverse ? "vjp" : "jvp", (int)frames, i, (int)env, apart);
      }
      if (apart > worst) worst = apart;
    }
    free(found);
    free(twice);
  }
  print_message("%-16s method %d %s %d: %.1e\n", name, (int)method, reverse ? "vjp" : "jvp", (int)frames, worst);
  vcs_device_free(vcs_device_batch_options(batch)->device, controls_there);
  vcs_device_free(vcs_device_batch_options(batch)->device, instructions_there);
  free_buffers(batch, &b);
  free_buffers(batch, &again);
  free(controls);
  free(instructions);
  free(m);
  vcs_device_batch_free(batch);
}

static void compare_product(const char *game, vcs_method_t method, bool reverse, int32_t frames, int32_t envs) {
  vcs_cart_t *cart = load_game(game);
  if (!cart) {
    NEED_PART("roms", game ? game : "demo");
    return;
  }
  compare_cart(game ? game : "demo", cart, method, reverse, frames, envs);
  vcs_cart_free(cart);
}

static int32_t envs_wanted(void) { return device() == VCS_CPU_AS_GPU ? 3 : 37; }

static void compare_method(vcs_method_t method, int game_count, int32_t frames) {
  for (int g = 0; g < game_count; g++) {
    for (int reverse = 0; reverse < 2; reverse++) {
      compare_product(games[g], method, reverse, 1, envs_wanted());
      if (frames > 1) compare_product(games[g], method, reverse, frames, envs_wanted());
    }
  }
}

static void test_device_batch_ste_is_the_cpus(void **context) {
  (void)context;
  compare_method(VCS_METHOD_STE, GAMES, 3);
}

static void test_device_batch_bit_is_the_cpus(void **context) {
  (void)context;
  const bool cpu = device() == VCS_CPU_AS_GPU; /* a GPU has seconds for what a CPU has milliseconds for */
  compare_method(VCS_METHOD_BIT, cpu ? GAMES : 3, cpu ? 3 : 1);
  compare_product(NULL, VCS_METHOD_BIT, true, 2, envs_wanted());
}

static void test_device_batch_naive_is_the_cpus(void **context) {
  (void)context;
  compare_product(NULL, VCS_METHOD_NAIVE, true, 2, envs_wanted());
  compare_product(NULL, VCS_METHOD_NAIVE, false, 2, envs_wanted());
}

/* Where fewer rows are drawn than a picture has, pictures follow each other by the rows of a picture. */
static void test_pictures_with_undrawn_rows_are_whole(void **context) {
  (void)context;
  vcs_cart_t *cart = load_game(NULL);
  cart->height = cart->frame_height - 60;
  for (int reverse = 0; reverse < 2; reverse++) {
    compare_cart("150 rows", cart, VCS_METHOD_STE, reverse, 2, envs_wanted());
    compare_cart("150 rows", cart, VCS_METHOD_BIT, reverse, 2, envs_wanted());
  }
  vcs_cart_free(cart);
}

static void test_device_batch_grad_short(void **context) {
  (void)context;
  for (int reverse = 0; reverse < 2; reverse++) compare_product(NULL, VCS_METHOD_STE, reverse, 2, 3);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void test_forks_are_refused(void **context) {
  (void)context;
  vcs_cart_t *cart = load_game(NULL);
  vcs_device_batch_t *batch = make_batch(cart, 1, device());
  vcs_batch_grad_options_t options;
  vcs_batch_grad_defaults(&options);
  options.grad.method = VCS_METHOD_BIT;
  options.grad.fork_window = 256;
  const vcs_controls_t controls = {0};
  const vcs_batch_inputs_t inputs = {0};
  const vcs_batch_outputs_t outputs = {0};
  vcs_error_t error;
  assert_int_equal(vcs_device_batch_vjp(batch, &controls, &options, &inputs, &outputs, NULL, NULL, &error),
                   VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "fork_window"));
  options.grad.fork_window = 0;
  options.frames = 0;
  assert_int_equal(vcs_device_batch_vjp(batch, &controls, &options, &inputs, &outputs, NULL, NULL, &error),
                   VCS_BAD_ARGUMENT);
  vcs_device_batch_free(batch);
  vcs_cart_free(cart);
}

/* On a GPU a tape has an end, and says so; what the env would have given is left out. */
static void test_a_short_tape_says_so(void **context) {
  (void)context;
  if (device() == VCS_CPU_AS_GPU) NEED("gpu", "a tape on the CPU grows");
  vcs_cart_t *cart = load_game(NULL);
  vcs_device_batch_t *batch = make_batch(cart, 2, device());
  vcs_batch_grad_options_t options;
  vcs_batch_grad_defaults(&options);
  const int32_t rooms[3][3] = {{100, 2304, 128}, {8192, 10, 128}, {8192, 2304, 1}};
  for (int i = 0; i < 3; i++) {
    options.rows = rooms[i][0];
    options.events = rooms[i][1];
    options.snapshots = rooms[i][2];
    buffers_t b;
    fill_buffers(batch, cart, 2, 1, true, 1, &b);
    const vcs_controls_t controls[2] = {0};
    int64_t instructions[2] = {0};
    vcs_controls_t *controls_there = upload(batch, controls, sizeof controls);
    int64_t *instructions_there = upload(batch, instructions, sizeof instructions);
    call(batch, controls_there, &options, &b, true, instructions_there);
    vcs_error_t error;
    must(vcs_device_move(vcs_device_batch_options(batch)->device, instructions, instructions_there, sizeof instructions,
                         &error),
         &error);
    assert_int_equal(instructions[0], -1);
    assert_int_equal(instructions[1], -1);
    float *state = download(batch, &b, STATE_IN, 2);
    assert_memory_equal(state, b.host[STATE_IN], b.stride[STATE_IN] * 2 * sizeof(float));
    free(state);
    free_buffers(batch, &b);
    vcs_device_free(vcs_device_batch_options(batch)->device, controls_there);
    vcs_device_free(vcs_device_batch_options(batch)->device, instructions_there);
  }
  vcs_device_batch_free(batch);
  vcs_cart_free(cart);
}

/* ---- Tapes ------------------------------------------------------------------------------------------------------- */

/* Whether two rows mean the same: N and Z have several encodings. */
static bool same_row(vcs_row_t a, vcs_row_t b) {
  if (vcs_row_status(&a) != vcs_row_status(&b)) return false;
  a.nz = b.nz = 0;
  return !memcmp(&a, &b, sizeof a);
}

/* record.h on the host: machine, rows, events and combs of vcs_tape_record. */
static void test_lanes_record_the_cpus_tape(void **context) {
  (void)context;
  enum { ROWS = 25100, EVENTS = 8192, SNAPSHOTS = 25100, FRAMES = 60 };
  for (int g = 0; g < GAMES; g++) {
    vcs_cart_t *cart = load_game(games[g]);
    if (!cart) {
      NEED_PART("roms", games[g] ? games[g] : "demo");
      continue;
    }
    vcs_device_batch_t *batch = make_batch(cart, 1, VCS_CPU_AS_GPU);
    const vcs_cart_t *coded = &batch->kinds[0].cart;
    vcs_tape_t *tape, *other;
    assert_int_equal(vcs_tape_create(cart, &tape, NULL), VCS_OK);
    assert_int_equal(vcs_tape_create(cart, &other, NULL), VCS_OK);
    tape->brief = other->brief = true;
    other->rows = malloc(ROWS * sizeof *other->rows);
    other->events = malloc(EVENTS * sizeof *other->events);
    other->snapshots = malloc(SNAPSHOTS * sizeof *other->snapshots);
    other->capacity = ROWS;
    other->event_capacity = EVENTS;
    other->snapshot_capacity = SNAPSHOTS;
    vcs_t *m = malloc(sizeof *m), *n = malloc(sizeof *n);
    vcs_error_t error;
    must(vcs_device_batch_machine(batch, 0, m, &error), &error);
    memcpy(n, m, vcs_state_size(cart));
    uint64_t seed = 3;
    for (int f = 0; f < FRAMES; f++) {
      const vcs_controls_t controls = {.held = {(uint8_t)(vcs_splitmix64(&seed) % 32)}};
      vcs_control(cart, m, &controls);
      vcs_control(cart, n, &controls);
      assert_true(vcs_tape_record(tape, cart, m, NULL));
      vcs_record_together(other, coded, n, true, VCS_THIS_LANE);
      assert_false(other->full);
      assert_memory_equal(m, n, vcs_state_size(cart));
      assert_int_equal(tape->count, other->count);
      assert_int_equal(tape->event_count, other->event_count);
      for (int32_t i = 0; i < tape->count; i++) assert_true(same_row(tape->rows[i], other->rows[i]));
      assert_memory_equal(tape->events, other->events, (size_t)tape->event_count * sizeof *tape->events);
      assert_memory_equal(tape->comb, other->comb, sizeof tape->comb);
    }
    vcs_tape_free(tape);
    vcs_tape_free(other);
    free(m);
    free(n);
    vcs_device_batch_free(batch);
    vcs_cart_free(cart);
  }
}

int main(int argc, char **argv) {
  const char *missing = vcs_device_missing(device());
  if (missing) return need_exit("test_device_batch_grad", "gpu", missing);
  if (argc > 1 && strcmp(argv[1], "short") == 0) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_device_batch_grad_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lanes_record_the_cpus_tape),   cmocka_unit_test(test_forks_are_refused),
      cmocka_unit_test(test_device_batch_ste_is_the_cpus), cmocka_unit_test(test_device_batch_naive_is_the_cpus),
      cmocka_unit_test(test_device_batch_bit_is_the_cpus), cmocka_unit_test(test_pictures_with_undrawn_rows_are_whole),
      cmocka_unit_test(test_a_short_tape_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
