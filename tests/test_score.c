/* Agreement of estimates with the truth, on maps small enough to check by hand, and the table of `diffvcs score`. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/score_table.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static vcs_agreement_t compare(const float *truth, const float *estimate, size_t count) {
  vcs_agreement_t agreement = {0};
  vcs_agreement_add(&agreement, truth, estimate, count);
  return agreement;
}

static void test_equal_maps_agree(void **state) {
  (void)state;
  const float map[] = {0, 3, -4, 0};
  const vcs_agreement_t a = compare(map, map, 4);
  assert_near(vcs_agreement_cosine(&a), 1);
  assert_near(vcs_agreement_sign(&a), 1);
  assert_near(vcs_agreement_precision(&a), 1);
  assert_near(vcs_agreement_recall(&a), 1);
}

static void test_size_does_not_count_for_the_cosine(void **state) {
  (void)state;
  const float truth[] = {3, -4}, estimate[] = {-30, 40};
  const vcs_agreement_t a = compare(truth, estimate, 2);
  assert_near(vcs_agreement_cosine(&a), -1);
  assert_near(vcs_agreement_sign(&a), 0);
  assert_near(a.largest, 40);
}

static void test_supports(void **state) {
  (void)state;
  const float truth[] = {1, 1, 0, 0, 2}, estimate[] = {1, 0, 5, 0, -1};
  const vcs_agreement_t a = compare(truth, estimate, 5);
  assert_near(vcs_agreement_precision(&a), 2.0 / 3);
  assert_near(vcs_agreement_recall(&a), 2.0 / 3);
  assert_near(vcs_agreement_sign(&a), 0.5);
  assert_near(vcs_agreement_cosine(&a), (1 - 2) / sqrt(6) / sqrt(27));
}

static void test_nothing_is_no_number(void **state) {
  (void)state;
  const float nothing[] = {0, 0}, something[] = {0, 1};
  vcs_agreement_t a = compare(nothing, nothing, 2);
  assert_true(isnan(vcs_agreement_cosine(&a)) && isnan(vcs_agreement_sign(&a)));
  assert_true(isnan(vcs_agreement_precision(&a)) && isnan(vcs_agreement_recall(&a)));
  a = compare(something, nothing, 2);
  assert_near(vcs_agreement_cosine(&a), 0);
  assert_near(vcs_agreement_recall(&a), 0);
  assert_true(isnan(vcs_agreement_precision(&a)));
}

static void test_overflow_is_counted_and_harmless(void **state) {
  (void)state;
  const float truth[] = {1, 1, 1}, estimate[] = {INFINITY, FLT_MAX, NAN};
  const vcs_agreement_t a = compare(truth, estimate, 3);
  assert_int_equal(a.overflown, 2);
  assert_int_equal(a.in_estimate, 2);
  assert_near(vcs_agreement_cosine(&a), 2 / sqrt(3) / sqrt(2));
}

static void test_means_leave_still_maps_out(void **state) {
  (void)state;
  const float truth[] = {1, 0}, right[] = {2, 0}, wrong[] = {0, 2}, nothing[] = {0, 0};
  vcs_agreements_t all = {0};
  const vcs_agreement_t maps[] = {compare(truth, right, 2), compare(truth, wrong, 2), compare(nothing, nothing, 2)};
  for (int i = 0; i < 3; i++) vcs_agreements_add(&all, &maps[i]);
  assert_int_equal(all.maps, 3);
  assert_int_equal(all.still, 1);
  assert_near(vcs_agreements_cosine(&all), 0.5);
  assert_near(vcs_agreement_cosine(&all.pooled), 2 / sqrt(2) / sqrt(8));
}

static void test_table_and_summary(void **state) {
  (void)state;
  const float truth[] = {1, 0}, right[] = {2, 0}, nothing[] = {0, 0};
  vcs_agreements_t good = {0}, bad = {0};
  const vcs_agreement_t fits = compare(truth, right, 2), misses = compare(truth, nothing, 2);
  vcs_text_t table = {0}, summary = {0};
  vcs_agreements_add(&good, &fits);
  vcs_agreements_add(&bad, &misses);
  vcs_score_begin(&table, "as ever");
  assert_false(vcs_score_has(&table, "pong", "bit"));
  vcs_score_row(&table, "pong", "bit", "ram", 15, VCS_VIEW_SCREEN, &good, 3);
  vcs_score_row(&table, "pong", "bit", "ram", 1, VCS_VIEW_SCREEN, &good, 1);
  vcs_score_row(&table, "pong", "bit", "ram", 1, VCS_VIEW_RAM, &bad, 1);
  vcs_score_row(&table, "pong", "bit", "up/down", 15, VCS_VIEW_SCREEN, &good, 7);
  vcs_score_row(&table, "qbert", "bit", "ram", 1, VCS_VIEW_SCREEN, &bad, 2);
  assert_true(vcs_score_has(&table, "pong", "bit"));
  assert_false(vcs_score_has(&table, "pong", "bit+fork"));
  assert_false(vcs_score_has(&table, "pon", "bit"));
  vcs_score_summary(&table, &summary);
  const char *first =
      strstr(summary.text,
             "| ram | 1 | `bit` | 1.5 | 0.500 | 0.500 | 1.000 | 1.000 | 0.500 | 0.000 | 0.000 | - | - | 0.000 | 2 |\n");
  const char *last = strstr(
      summary.text, "| ram | 15 | `bit` | 3 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | - | - | - | - | - | 1 |\n");
  assert_non_null(first);
  assert_true(last > first);
  const char *presses = strstr(summary.text, "| up/down | 15 | `bit` | 7 | 1.000");
  assert_true(presses && presses < first);
  vcs_text_free(&table);
  vcs_text_free(&summary);
}

static void test_a_table_with_other_settings_is_refused(void **state) {
  (void)state;
  const char path[] = "test_score.tsv";
  vcs_text_t table = {0}, read = {0};
  vcs_error_t error = {""};
  vcs_score_begin(&table, "frame 300");
  assert_int_equal(vcs_file_write_text(path, &table, &error), VCS_OK);
  assert_int_equal(vcs_score_read(path, "frame 300", &read, &error), VCS_OK);
  assert_string_equal(read.text, table.text);
  assert_int_equal(vcs_score_read(path, "frame 30", &read, &error), VCS_BAD_FILE);
  assert_int_equal(vcs_score_read(path, NULL, &read, &error), VCS_OK);
  assert_int_equal(vcs_file_write(path, "pong", 4, &error), VCS_OK);
  assert_int_equal(vcs_score_read(path, NULL, &read, &error), VCS_BAD_FILE);
  remove(path);
  vcs_text_free(&table);
  vcs_text_free(&read);
}

/* What another process has added to the file since it was read stays, and is not added again. */
static void test_a_table_is_merged_with_what_its_file_has(void **state) {
  (void)state;
  const char path[] = "test_score_merged.tsv";
  const vcs_agreements_t none = {0};
  vcs_text_t pong = {0}, both = {0}, mine = {0}, empty = {0};
  vcs_error_t error = {""};
  remove(path);
  vcs_score_row(&pong, "pong", "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  vcs_score_row(&both, "pong", "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  vcs_score_row(&both, "qbert", "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  assert_int_equal(vcs_file_write(path, "", 0, &error), VCS_OK); /* as a kill right after the lock leaves it */
  assert_int_equal(vcs_score_merge(path, "frame 300", &empty, &mine, &error), VCS_OK);
  assert_false(vcs_score_has(&mine, "pong", "bit"));
  assert_int_equal(vcs_score_merge(path, "frame 300", &pong, &mine, &error), VCS_OK);
  mine.length = 0;
  assert_int_equal(vcs_score_merge(path, "frame 300", &both, &mine, &error), VCS_OK);
  assert_true(vcs_score_has(&mine, "pong", "bit") && vcs_score_has(&mine, "qbert", "bit"));
  assert_ptr_equal(strstr(strstr(mine.text, "\npong\t") + 1, "\npong\t"), NULL);
  assert_int_equal(vcs_score_merge(path, "frame 30", &both, &mine, &error), VCS_BAD_FILE);
  remove(path);
  vcs_text_free(&pong);
  vcs_text_free(&both);
  vcs_text_free(&mine);
}

static int count(const char *text, const char *word) {
  int times = 0;
  while ((text = strstr(text, word))) times++, text++;
  return times;
}

static void test_a_game_of_any_name_is_found_again(void **state) {
  (void)state;
  const char path[] = "test_score_long.tsv";
  const vcs_agreements_t none = {0};
  char name[VCS_ROM_NAME_SIZE];
  vcs_text_t rows = {0}, table = {0};
  vcs_error_t error = {""};
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = 0;
  remove(path);
  vcs_score_row(&rows, name, "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  for (int i = 0; i < 2; i++) assert_int_equal(vcs_score_merge(path, "frame 300", &rows, &table, &error), VCS_OK);
  assert_true(vcs_score_has(&table, name, "bit"));
  assert_int_equal(count(table.text, name), 1);
  remove(path);
  vcs_text_free(&rows);
  vcs_text_free(&table);
}

static void test_a_table_without_its_last_newline_loses_no_row(void **state) {
  (void)state;
  const char path[] = "test_score_cut.tsv";
  const vcs_agreements_t none = {0};
  vcs_text_t pong = {0}, qbert = {0}, table = {0};
  vcs_error_t error = {""};
  remove(path);
  vcs_score_row(&pong, "pong", "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  vcs_score_row(&qbert, "qbert", "bit", "ram", 1, VCS_VIEW_RAM, &none, 1);
  assert_int_equal(vcs_score_merge(path, "frame 300", &pong, &table, &error), VCS_OK);
  assert_int_equal(vcs_file_write(path, table.text, table.length - 1, &error), VCS_OK);
  assert_int_equal(vcs_score_merge(path, "frame 300", &qbert, &table, &error), VCS_OK);
  assert_true(vcs_score_has(&table, "pong", "bit") && vcs_score_has(&table, "qbert", "bit"));
  remove(path);
  vcs_text_free(&pong);
  vcs_text_free(&qbert);
  vcs_text_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_maps_agree),
      cmocka_unit_test(test_size_does_not_count_for_the_cosine),
      cmocka_unit_test(test_supports),
      cmocka_unit_test(test_nothing_is_no_number),
      cmocka_unit_test(test_overflow_is_counted_and_harmless),
      cmocka_unit_test(test_means_leave_still_maps_out),
      cmocka_unit_test(test_table_and_summary),
      cmocka_unit_test(test_a_table_with_other_settings_is_refused),
      cmocka_unit_test(test_a_table_is_merged_with_what_its_file_has),
      cmocka_unit_test(test_a_game_of_any_name_is_found_again),
      cmocka_unit_test(test_a_table_without_its_last_newline_loses_no_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
