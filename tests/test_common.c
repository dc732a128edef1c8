/* test_common.c: what commands have in common (cli/common.h): how they end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/common.h"

/* How a command ends after Ctrl-C, and what it prints. */
static int end_interrupted(vcs_status_t status, char text[256]) {
  const vcs_error_t error = {"the work was cancelled"};
  FILE *printed = tmpfile();
  const int kept = dup(STDERR_FILENO);
  assert_non_null(printed);
  dup2(fileno(printed), STDERR_FILENO);
  signal(SIGINT, SIG_DFL);
  vcs_interrupt_catch();
  raise(SIGINT);
  const int exit_code = vcs_cli_end("diffvcs grad", status, &error);
  vcs_interrupt_clear();
  vcs_interrupt_release();
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(printed);
  const size_t length = fread(text, 1, 255, printed);
  text[length] = 0;
  fclose(printed);
  return exit_code;
}

static void test_an_interrupt_before_the_files_says_that_there_are_none(void **state) {
  (void)state;
  char text[256];
  assert_int_equal(end_interrupted(VCS_CANCELLED, text), VCS_EXIT_FAILED);
  assert_non_null(strstr(text, "nothing was written"));
}

static void test_an_interrupt_while_files_are_written_says_that_they_are_there(void **state) {
  (void)state;
  char text[256];
  assert_int_equal(end_interrupted(VCS_OK, text), VCS_EXIT_FAILED);
  assert_non_null(strstr(text, "interrupted, but all files are written"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_interrupt_before_the_files_says_that_there_are_none),
      cmocka_unit_test(test_an_interrupt_while_files_are_written_says_that_they_are_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
