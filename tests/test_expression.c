/* Expressions of the debugger: C's precedence, registers, memory, symbols; errors name the position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/expression.h"
#include "core/state.h"

static const vcs_symbol_t own[] = {{"COUNTER", 0x85}};
static const vcs_symbols_t symbols = {(vcs_symbol_t *)own, 1};

typedef struct {
  vcs_cart_t *cart;
  vcs_t *m;
} machine_t;

static machine_t begin(void) {
  machine_t machine;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  assert_int_equal(vcs_cart_load(image, size, NULL, &machine.cart, NULL), VCS_OK);
  machine.m = calloc(1, sizeof *machine.m);
  machine.m->a = 0x1F;
  machine.m->x = 3;
  machine.m->pc = 0xF123;
  machine.m->ram[5] = 77;
  machine.m->cycles = 76 * 40 + 10;
  return machine;
}

static int64_t value(const machine_t *machine, const char *text) {
  vcs_expression_t expression;
  vcs_error_t error = {""};
  const vcs_moment_t moment = {machine->cart, machine->m, 12};
  if (vcs_expression_read(text, &symbols, &expression, &error)) fail_msg("%s: %s", text, error.message);
  return vcs_expression_value(&expression, &moment);
}

static void test_values(void **state) {
  (void)state;
  machine_t machine = begin();
  static const struct {
    const char *text;
    int64_t value;
  } rows[] = {{"1 + 2 * 3", 7},
              {"(1 + 2) * 3", 9},
              {"$1F == a", 1},
              {"%101 << 1", 10},
              {"10 - 3 - 2", 5},
              {"a == $1F && x > 3", 0},
              {"a == 1 || x == 3", 1},
              {"[$85]", 77},
              {"[counter] + 1", 78},
              {"[COUNTER] & 1 == 1", 77 & 1},
              {"pc", 0xF123},
              {"scanline", 40},
              {"clock", 30},
              {"frame", 12},
              {"!x", 0},
              {"-x", -3},
              {"~0", -1},
              {"5 / 0", 0},
              {"5 % 3", 2},
              {"wsync", 2},
              {"1 << 99", 0},
              {"[[$85] - 77 + $85]", 77},
              {"3 <= x && x >= 3 && x != 4", 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (value(&machine, rows[i].text) != rows[i].value) fail_msg("%s", rows[i].text);
  }
  vcs_cart_free(machine.cart);
  free(machine.m);
}

static void test_what_is_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"",   "1 +", "(1",          "[1",   "unknown", "1 2",  "$",
                                      "%2", "$$1", "99999999999", "a ==", ")",       "1 @ 2"};
  vcs_expression_t expression;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    vcs_error_t error = {""};
    if (!vcs_expression_read(wrong[i], &symbols, &expression, &error)) fail_msg("'%s' was taken", wrong[i]);
    assert_true(error.message[0]);
  }
  char deep[400];
  memset(deep, '(', sizeof deep);
  deep[sizeof deep - 1] = 0;
  assert_int_not_equal(vcs_expression_read(deep, &symbols, &expression, NULL), VCS_OK);
  char longest[400] = "1";
  for (int i = 0; i < 90; i++) strcat(longest, "+1");
  assert_int_not_equal(vcs_expression_read(longest, &symbols, &expression, NULL), VCS_OK);
}

/* 2,000 names in a file whose lines end as on a Macintosh, as on Windows and as here. */
static void test_every_line_end_of_a_symbol_file_has_room(void **state) {
  (void)state;
  static const char *const ends[] = {"\r", "\r\n", "\n", "\r\r\r"};
  for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
    char path[] = "test_expression-XXXXXX";
    const int handle = mkstemp(path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "wb");
    assert_non_null(file);
    for (int i = 0; i < 2000; i++) fprintf(file, "N%d %x%s", i, i, ends[e]);
    assert_int_equal(fclose(file), 0);
    vcs_symbols_t read = {0};
    vcs_error_t error;
    if (vcs_symbols_read(&read, path, &error)) fail_msg("%s", error.message);
    remove(path);
    assert_int_equal(read.count, 2000);
    assert_int_equal(vcs_symbol_address(&read, "N1999", 5), 1999);
    vcs_symbols_free(&read);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_what_is_refused),
                                     cmocka_unit_test(test_every_line_end_of_a_symbol_file_has_room)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
