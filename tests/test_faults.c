/* Errors of a device reach the caller unchanged, with the status and the message of the engine. The engine
 * here is broken_engine.c, which DIFFVCS_CUDA names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diffvcs/cuda.h"

static void assert_fails(vcs_status_t status, vcs_status_t wanted, const vcs_error_t *error, const char *sentence) {
  assert_int_equal(status, wanted);
  if (!strstr(error->message, sentence)) fail_msg("\"%s\" lacks \"%s\"", error->message, sentence);
}

static void test_statuses_have_names(void **state) {
  (void)state;
  assert_string_equal(vcs_status_name(VCS_NO_MEMORY), "out of memory");
  assert_string_equal(vcs_status_name(VCS_DEVICE_FAILED), "device failed");
  assert_string_equal(vcs_status_name(VCS_CANCELLED), "cancelled");
}

static void test_faults_keep_their_status_and_their_sentence(void **state) {
  uint8_t byte = 0;
  void *memory = NULL;
  vcs_error_t error;
  (void)state;
  assert_null(vcs_device_missing(VCS_GPU));
  assert_string_equal(vcs_device_missing(VCS_GPU + 1), "there is one GPU, number 0");
  assert_fails(vcs_device_allocate(VCS_GPU + 1, 1, &memory, &error), VCS_NOT_FOUND, &error, "number 0");
  assert_fails(vcs_device_allocate(VCS_GPU, 1000, &memory, &error), VCS_NO_MEMORY, &error, "too little memory");
  assert_int_equal(vcs_device_allocate(VCS_GPU, 8, &memory, &error), VCS_OK);
  assert_string_equal(error.message, "");
  assert_fails(vcs_device_move(VCS_GPU, NULL, &byte, 1, &error), VCS_BAD_ARGUMENT, &error, "not a pointer");
  assert_fails(vcs_device_move(VCS_GPU, memory, &byte, 1, &error), VCS_DEVICE_FAILED, &error,
               "an illegal memory access");
  vcs_device_free(VCS_GPU, memory);
}

static void test_a_batch_that_cannot_be_made_says_why(void **state) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE};
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_cart_t *cart = NULL;
  vcs_device_batch_t *batch = NULL;
  vcs_error_t error;
  (void)state;
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, &error), VCS_OK);
  const vcs_cart_t *carts[] = {cart};
  assert_fails(vcs_device_batch_create(carts, 1, NULL, NULL, &batch, &error), VCS_NO_MEMORY, &error,
               "too little memory");
  assert_null(batch);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statuses_have_names),
      cmocka_unit_test(test_faults_keep_their_status_and_their_sentence),
      cmocka_unit_test(test_a_batch_that_cannot_be_made_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
