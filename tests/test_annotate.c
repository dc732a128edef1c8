/* Annotations of the demo, whose RAM is known: the same in every call and for any number of threads, the positions
 * found are positions, and the JSON has every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diffvcs/annotate.h"

static vcs_rom_t rom;

static vcs_annotation_t *annotate(int32_t threads) {
  const vcs_annotate_options_t options = {.seeds = 2, .depths = 3, .threads = threads};
  vcs_annotation_t *annotation = NULL;
  vcs_error_t error;
  assert_int_equal(vcs_annotate(rom.cart, rom.name, &options, &annotation, &error), VCS_OK);
  assert_non_null(annotation);
  return annotation;
}

static int open_demo(void **state) {
  (void)state;
  const vcs_rom_options_t options = {.profile = VCS_PROFILE_ALE};
  return vcs_rom_open("demo", &options, &rom, NULL);
}

static int close_demo(void **state) {
  (void)state;
  vcs_cart_free(rom.cart);
  return 0;
}

static void test_the_same_table_twice(void **state) {
  (void)state;
  vcs_annotation_t *one = annotate(1), *two = annotate(2);
  char *a = vcs_annotation_json(one), *b = vcs_annotation_json(two);
  assert_string_equal(a, b);
  vcs_text_release(a);
  vcs_text_release(b);
  vcs_annotation_free(one);
  vcs_annotation_free(two);
}

/* In fresh states, most bytes that are called positions move their object as they should. */
static void test_positions_move_their_objects(void **state) {
  (void)state;
  enum { MOST = 64 };
  vcs_audit_t audits[MOST];
  vcs_annotation_t *annotation = annotate(0);
  const vcs_annotate_options_t options = {.seeds = 1, .depths = 4};
  int32_t count = 0, right = 0, effective = 0, axes[2] = {0, 0};
  assert_int_equal(vcs_annotation_audit(rom.cart, annotation, &options, audits, MOST, &count, NULL), VCS_OK);
  for (int32_t i = 0; i < count; i++) {
    axes[audits[i].role == VCS_ROLE_Y]++;
    right += audits[i].right;
    effective += audits[i].effective;
  }
  assert_true(axes[0] > 0 && axes[1] > 0);
  assert_true(effective > 0 && 10 * right >= 8 * effective);
  vcs_annotation_free(annotation);
}

static void test_json_and_page_have_every_byte(void **state) {
  (void)state;
  vcs_annotation_t *annotation = annotate(0);
  char *json = vcs_annotation_json(annotation), *page = vcs_annotation_page(rom.cart, annotation, NULL);
  char word[40];
  for (int byte = 0; byte < 128; byte++) {
    snprintf(word, sizeof word, "{\"byte\": %d, \"roles\": [", byte);
    assert_non_null(strstr(json, word));
    assert_true(annotation->ram[byte].count <= VCS_BYTE_ROLES);
    for (int i = 0; i < annotation->ram[byte].count; i++) {
      const vcs_role_t *role = &annotation->ram[byte].roles[i];
      assert_non_null(vcs_role_name(role->role));
      assert_true(role->confidence > 0 && role->confidence <= 1);
    }
  }
  assert_non_null(strstr(page, "<svg"));
  assert_non_null(strstr(page, "</html>"));
  vcs_text_release(json);
  vcs_text_release(page);
  vcs_annotation_free(annotation);
}

static void test_bad_options_are_refused(void **state) {
  (void)state;
  const vcs_annotate_options_t options = {.seeds = 1000};
  vcs_annotation_t *annotation = NULL;
  vcs_error_t error;
  assert_int_equal(vcs_annotate(rom.cart, rom.name, &options, &annotation, &error), VCS_BAD_ARGUMENT);
  assert_null(annotation);
  assert_non_null(strstr(error.message, "seeds"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_table_twice),
      cmocka_unit_test(test_positions_move_their_objects),
      cmocka_unit_test(test_json_and_page_have_every_byte),
      cmocka_unit_test(test_bad_options_are_refused),
  };
  return cmocka_run_group_tests(tests, open_demo, close_demo);
}
