/* test_version: the library reports the version of its header. tests/test_version.sh compares everything else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "diffvcs/diffvcs.h"

static void test_the_library_has_the_version_of_the_header(void **state) {
  (void)state;
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", VCS_VERSION_MAJOR, VCS_VERSION_MINOR, VCS_VERSION_PATCH);
  assert_string_equal(VCS_VERSION, text);
  assert_string_equal(vcs_version(), text);
}

static void test_the_number_is_made_of_three_parts(void **state) {
  (void)state;
  assert_int_equal(VCS_VERSION_NUMBER / 10000, VCS_VERSION_MAJOR);
  assert_int_equal(VCS_VERSION_NUMBER / 100 % 100, VCS_VERSION_MINOR);
  assert_int_equal(VCS_VERSION_NUMBER % 100, VCS_VERSION_PATCH);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_library_has_the_version_of_the_header),
      cmocka_unit_test(test_the_number_is_made_of_three_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
