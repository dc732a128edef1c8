/* Every allocation fails once: the first, the second, and so on up to the last of a call (as SQLite tests it); then
 * every allocation from one on. A call either succeeds without the memory, with its usual result, or it returns
 * VCS_NO_MEMORY and a message. Then the same call, with memory, gives its usual result.
 *
 * The linker sends the library's malloc, calloc, realloc and pthread_create here (--wrap). Under the address sanitizer
 * a leak on the way out of a failed call fails the test as well. tests/faults.py does the same with zlib's and
 * libpng's. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "brief.h"
#include "diffvcs/grad.h"
#include "diffvcs/study.h"
#include "core/state.h"
#include "host/hash.h"

/* ---- The allocator ------------------------------------------------------------------------------------------ */

static atomic_long allocations, blocks; /* calls of malloc and the like so far; blocks in use */
static long fails_at;                   /* 0: none */
static bool fails_on;                   /* all later ones, too */

static bool fails(void) {
  if (!fails_at) return false;
  const long number = atomic_fetch_add(&allocations, 1) + 1;
  return number == fails_at || (fails_on && number > fails_at);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

static void *count(void *memory) {
  if (memory) atomic_fetch_add(&blocks, 1);
  return memory;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : count(__real_malloc(size)); }
void *__wrap_calloc(size_t number, size_t size) { return fails() ? NULL : count(__real_calloc(number, size)); }
void *__wrap_realloc(void *memory, size_t size) {
  if (fails()) return NULL;
  void *moved = __real_realloc(memory, size);
  return memory ? moved : count(moved);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : count(__real_aligned_alloc(alignment, size));
}
void __wrap_free(void *memory) {
  if (memory) atomic_fetch_sub(&blocks, 1);
  __real_free(memory);
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return fails() ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

/* ---- Calls: each gives a number that stands for its result ---------------------------------------------------- */

typedef vcs_status_t (*call_t)(uint64_t *result, vcs_error_t *error);

enum { FRAMES = 3, PLACES = 40 };
static struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  vcs_place_t places[PLACES];
} fixture;

static int make_fixture(void **state) {
  (void)state;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  if (vcs_cart_load(image, size, NULL, &fixture.cart, NULL) || vcs_env_create(fixture.cart, &fixture.env, NULL))
    return 1;
  vcs_env_reset(fixture.env);
  for (int i = 0; i < 20; i++) vcs_env_act(fixture.env, i % VCS_ACTIONS, VCS_NOOP);
  vcs_run_idle(fixture.env, FRAMES, fixture.controls, &fixture.run);
  for (int i = 0; i < PLACES; i++) {
    const size_t index = i % 2 ? offsetof(vcs_t, ram) + (size_t)i : 0x100 + (size_t)i;
    fixture.places[i] = (vcs_place_t){i % 2 ? VCS_PLACE_STATE : VCS_PLACE_ROM, (uint8_t)(i % 8), 0, (uint32_t)index};
  }
  return 0;
}

static int free_fixture(void **state) {
  (void)state;
  vcs_env_free(fixture.env);
  vcs_cart_free(fixture.cart);
  return 0;
}

static void add(uint64_t *result, const void *bytes, size_t size) { *result = vcs_hash64(bytes, size, *result); }

static vcs_status_t call_load(uint64_t *result, vcs_error_t *error) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_cart_t *cart = NULL;
  const vcs_status_t status = vcs_cart_load(image, size, NULL, &cart, error);
  assert_true((status == VCS_OK) == (cart != NULL));
  if (status == VCS_OK) add(result, vcs_cart_info(cart)->md5, 32);
  vcs_cart_free(cart);
  return status;
}

static vcs_status_t call_rom(uint64_t *result, vcs_error_t *error) {
  vcs_rom_t rom;
  const vcs_rom_options_t options = {.reserved = {0}};
  const vcs_status_t status = vcs_rom_open("demo", &options, &rom, error);
  if (status) return status;
  add(result, rom.name, strlen(rom.name));
  vcs_rom_free(&rom);
  return VCS_OK;
}

static vcs_status_t call_env(uint64_t *result, vcs_error_t *error) {
  vcs_env_t *env = NULL;
  const vcs_status_t status = vcs_env_create(fixture.cart, &env, error);
  assert_true((status == VCS_OK) == (env != NULL));
  if (status) return status;
  vcs_env_reset(env);
  for (int i = 0; i < 3; i++) vcs_env_act(env, 1, VCS_NOOP);
  add(result, vcs_env_machine(env), vcs_state_size(fixture.cart));
  vcs_env_free(env);
  return VCS_OK;
}

static vcs_status_t call_save(uint64_t *result, vcs_error_t *error) {
  const char path[] = "test_allocation.save";
  vcs_status_t status = vcs_env_save(fixture.env, path, error);
  if (status == VCS_OK) status = vcs_env_load(fixture.env, path, error);
  if (status == VCS_OK) add(result, vcs_env_machine(fixture.env), vcs_state_size(fixture.cart));
  remove(path);
  return status;
}

static vcs_status_t call_batch(uint64_t *result, vcs_error_t *error) {
  enum { ENVS = 3 };
  const vcs_cart_t *carts[] = {fixture.cart};
  const int32_t actions[ENVS] = {0, 1, 2};
  static uint8_t observations[ENVS * 2 * 20 * 20];
  static int32_t rewards[ENVS];
  vcs_batch_options_t options;
  vcs_batch_t *batch = NULL;
  vcs_batch_defaults(&options);
  options.envs = ENVS;
  options.threads = 2;
  options.width = options.height = 20;
  options.stack = 2;
  const vcs_batch_results_t results = {.observations = observations, .rewards = rewards};
  vcs_status_t status = vcs_batch_create(carts, 1, NULL, &options, &batch, error);
  assert_true((status == VCS_OK) == (batch != NULL));
  if (status) return status;
  status = vcs_batch_reset(batch, NULL, NULL, ENVS, &results, error);
  for (int i = 0; i < 3 && status == VCS_OK; i++) status = vcs_batch_step(batch, actions, NULL, &results, error);
  vcs_batch_free(batch);
  if (status == VCS_OK) add(result, observations, sizeof observations);
  return status;
}

static vcs_status_t truth_by(int engine, uint64_t *result, vcs_error_t *error) {
  static const int32_t horizons[] = {1, FRAMES};
  static vcs_truth_t rows[PLACES * 2];
  const vcs_truth_options_t options = {.horizons = horizons, .horizon_count = 2, .threads = 2, .engine = engine};
  const vcs_truth_results_t results = {.rows = rows};
  const vcs_status_t status = vcs_truth(&fixture.run, &options, fixture.places, PLACES, &results, error);
  if (status) return status;
  for (int i = 0; i < PLACES * 2; i++) add(result, &rows[i].pixels, 2 * sizeof rows[i].pixels);
  return VCS_OK;
}

static vcs_status_t call_truth(uint64_t *result, vcs_error_t *error) { return truth_by(0, result, error); }
static vcs_status_t call_rerun(uint64_t *result, vcs_error_t *error) {
  return truth_by(VCS_TRUTH_RERUN, result, error);
}

static vcs_status_t grad_by(int method, bool forward, uint64_t *result, vcs_error_t *error) {
  static float state[8 * sizeof(vcs_t)], out[8 * sizeof(vcs_t)], rom[8 * 4096], input[VCS_INPUTS * FRAMES];
  static float picture[VCS_FRAME_BYTES];
  float *pixels[FRAMES] = {NULL, NULL, picture};
  vcs_grad_options_t options;
  vcs_study_method_options(method, 64, &options);
  memset(state, 0, sizeof state);
  memset(out, 0, sizeof out);
  memset(rom, 0, sizeof rom);
  memset(input, 0, sizeof input);
  memset(picture, 0, sizeof picture);
  const vcs_grad_inputs_t in = {state, rom, input};
  const vcs_grad_outputs_t of = {.pixels = pixels, .state = out};
  vcs_status_t status;
  if (forward) {
    for (size_t i = 0; i < 1024; i++) state[8 * offsetof(vcs_t, ram) + i] = 1;
    status = vcs_grad_jvp(&fixture.run, &options, &in, &of, NULL, error);
    if (status == VCS_OK) add(result, picture, sizeof picture);
  } else {
    for (size_t i = 0; i < 160 * 210; i += 50) picture[i] = 1;
    status = vcs_grad_vjp(&fixture.run, &options, &in, &of, NULL, error);
    if (status == VCS_OK) add(result, rom, sizeof rom);
  }
  return status;
}

static vcs_status_t call_jvp_bit(uint64_t *r, vcs_error_t *e) { return grad_by(VCS_STUDY_BIT_FORK, true, r, e); }
static vcs_status_t call_vjp_bit(uint64_t *r, vcs_error_t *e) { return grad_by(VCS_STUDY_BIT_FORK, false, r, e); }
static vcs_status_t call_jvp_ste(uint64_t *r, vcs_error_t *e) { return grad_by(VCS_STUDY_STE, true, r, e); }
static vcs_status_t call_vjp_ste(uint64_t *r, vcs_error_t *e) { return grad_by(VCS_STUDY_STE, false, r, e); }

static vcs_status_t call_record(uint64_t *result, vcs_error_t *error) {
  const vcs_record_options_t options = {.frames = 3, .dense = 3};
  char *text = NULL;
  vcs_record_check_t found;
  vcs_status_t status = vcs_record(fixture.cart, &options, &text, error);
  if (status == VCS_OK) status = vcs_verify(fixture.cart, text, 0, NULL, &found, error);
  if (status == VCS_OK) {
    add(result, text, strlen(text));
    assert_int_equal(found.differs_at, -1);
  }
  vcs_text_release(text);
  return status;
}

/* ---- The test ------------------------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  call_t call;
} calls[] = {{"load", call_load},         {"rom", call_rom},         {"env", call_env},
             {"save", call_save},         {"batch", call_batch},     {"truth", call_truth},
             {"truth again", call_rerun}, {"jvp bit", call_jvp_bit}, {"vjp bit", call_vjp_bit},
             {"jvp ste", call_jvp_ste},   {"vjp ste", call_vjp_ste}, {"record", call_record}};

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  long tried = 0, refused = 0;
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
    uint64_t expected = 1;
    vcs_error_t error = {""};
    if (calls[c].call(&expected, &error)) fail_msg("%s: %s", calls[c].name, error.message);
    for (int on = 0; on < 2; on++) {
      for (long at = 1;; at++) {
        uint64_t got = 1, again = 1;
        error = (vcs_error_t){""};
        const long before = blocks;
        allocations = 0;
        fails_on = on;
        fails_at = at;
        const vcs_status_t status = calls[c].call(&got, &error);
        fails_at = 0;
        const bool reached = allocations >= at;
        if (status == VCS_OK && got != expected)
          fail_msg("%s without allocation %ld: another result", calls[c].name, at);
        if (status != VCS_OK && (status != VCS_NO_MEMORY || !error.message[0]))
          fail_msg("%s without allocation %ld: status %d, '%s'", calls[c].name, at, status, error.message);
        if (blocks != before)
          fail_msg("%s without allocation %ld: %ld blocks are lost", calls[c].name, at, (long)blocks - before);
        if (!reached) break;
        tried++;
        refused += status != VCS_OK;
        if (calls[c].call(&again, &error) != VCS_OK || again != expected)
          fail_msg("%s after allocation %ld failed: another result", calls[c].name, at);
        if (at > 400) break; /* a call with more allocations than that makes the same ones again */
      }
    }
  }
  printf("%ld allocations failed: %ld calls refused, %ld did without\n", tried, refused, tried - refused);
  assert_true(tried > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
