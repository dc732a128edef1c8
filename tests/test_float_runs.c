/* test_float_runs.c: batches of runs of floats (python/native/bits.h), and what ends them early. Their results are
 * tested by python/tests/test_bits.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../python/native/bits.h"
#include "host/env.h"
#include "host/progress.h"

enum { RUNS = 3 };

static void test_an_interrupted_batch_is_no_result(void **state) {
  (void)state;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_cart_t *cart = NULL;
  vcs_env_t *env = NULL;
  vcs_error_t error;
  assert_int_equal(vcs_cart_load(image, size, NULL, &cart, NULL), VCS_OK);
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  const size_t bytes = vcs_state_size(cart);
  float *before = malloc(RUNS * 8 * bytes * sizeof *before), *after = malloc(RUNS * 8 * bytes * sizeof *after);
  float input[RUNS * VCS_INPUTS] = {0};
  for (size_t i = 0; i < RUNS * 8 * bytes; i++) {
    const size_t bit = i % (8 * bytes);
    before[i] = (float)(((const uint8_t *)env->m)[bit / 8] >> bit % 8 & 1);
  }
  const vcs_bits_t bits = {.cart = cart, .runs = RUNS, .frames = 1, .threads = 1, .state = before, .input = input};
  const vcs_bits_results_t results = {.state = after};
  vcs_stop_flag_t flag = 1;
  vcs_interrupt_watch(&flag);
  assert_int_equal(vcs_bits_run(&bits, &results, &error), VCS_CANCELLED);
  assert_string_equal(error.message, "interrupted");
  vcs_interrupt_watch(NULL);
  assert_int_equal(vcs_bits_run(&bits, &results, &error), VCS_OK);
  free(before);
  free(after);
  vcs_env_free(env);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_interrupted_batch_is_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
