/* Arrays from an arena: zero, aligned, apart from each other; a failed allocation is remembered until they are freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/arena.h"

static void test_arrays_are_zero_aligned_and_apart(void **state) {
  (void)state;
  vcs_arena_t arena = {0};
  uint8_t *arrays[16];
  for (size_t i = 0; i < 16; i++) {
    arrays[i] = vcs_arena_take(&arena, i, 3);
    assert_non_null(arrays[i]);
    assert_int_equal((uintptr_t)arrays[i] % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < 3 * i; k++) assert_int_equal(arrays[i][k], 0);
    memset(arrays[i], (int)i, 3 * i);
  }
  for (size_t i = 0; i < 16; i++) {
    for (size_t k = 0; k < 3 * i; k++) assert_int_equal(arrays[i][k], i);
  }
  assert_int_equal(vcs_arena_status(&arena, NULL), VCS_OK);
  vcs_arena_free(&arena);
  assert_null(arena.last);
}

static void test_a_size_that_overflows_fails_until_the_arena_is_freed(void **state) {
  (void)state;
  vcs_arena_t arena = {0};
  vcs_error_t error = {""};
  assert_null(vcs_arena_take(&arena, SIZE_MAX / 2, 4));
  assert_null(vcs_arena_take(&arena, SIZE_MAX, 1));
  assert_non_null(vcs_arena_take(&arena, 1, 1));
  assert_int_equal(vcs_arena_status(&arena, &error), VCS_NO_MEMORY);
  assert_string_equal(error.message, "out of memory");
  vcs_arena_free(&arena);
  assert_int_equal(vcs_arena_status(&arena, NULL), VCS_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrays_are_zero_aligned_and_apart),
                                     cmocka_unit_test(test_a_size_that_overflows_fails_until_the_arena_is_freed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
