/* Annotations of the demo, whose RAM is known: the same in every call and for any number of threads, the positions
 * found are positions, and the JSON has every byte. And how two pictures are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "carts.h"
#include "diffvcs/annotate.h"
#include "host/progress.h"
#include "study/annotate_compare.h"
#include "study/annotate_probe.h"

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

/* Sets the flag that Ctrl-C sets, or asks for a stop, while positions are tried. */
typedef struct {
  vcs_stop_flag_t *flag; /* NULL: the report asks for a stop */
} stopper_t;

static int stop_at_positions(void *context, const char *step, uint64_t done, uint64_t total) {
  const stopper_t *stopper = context;
  (void)done;
  (void)total;
  if (strcmp(step, "positions") != 0) return 0;
  if (stopper->flag) *stopper->flag = 1;
  return !stopper->flag;
}

static void test_a_stop_while_positions_are_tried_gives_no_table(void **state) {
  (void)state;
  vcs_annotation_t *whole = annotate(1);
  for (int by_flag = 0; by_flag < 2; by_flag++) {
    vcs_stop_flag_t flag = 0;
    stopper_t stopper = {by_flag ? &flag : NULL};
    const vcs_annotate_options_t options = {
        .seeds = 2, .depths = 3, .threads = 2, .report = {stop_at_positions, &stopper}};
    vcs_annotation_t *annotation = NULL;
    vcs_audit_t audits[64];
    int32_t count = -1;
    vcs_interrupt_watch(&flag);
    assert_int_equal(vcs_annotate(rom.cart, rom.name, &options, &annotation, NULL), VCS_CANCELLED);
    assert_null(annotation);
    flag = 0;
    assert_int_equal(vcs_annotation_audit(rom.cart, whole, &options, audits, 64, &count, NULL), VCS_CANCELLED);
    assert_int_equal(count, 0);
    vcs_interrupt_watch(NULL);
  }
  vcs_annotation_free(whole);
}

/* A program that draws as many lines as byte $81 says in the colour of byte $80, and reads nothing else. */
static const uint8_t short_frames[] = {
    0x78, 0xD8, 0xA2, 0xFF, 0x9A,                               /* SEI, CLD, LDX #$FF, TXS */
    0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, /* F005: LDA #2, STA VSYNC, STA WSYNC three times */
    0xA9, 0x00, 0x85, 0x00, 0x85, 0x01, 0xA5, 0x80, 0x85, 0x09, /* VSYNC and VBLANK off, LDA $80, STA COLUBK */
    0xA6, 0x81, 0x85, 0x02, 0xCA, 0xD0, 0xFB,                   /* LDX $81; STA WSYNC, DEX, BNE */
    0x4C, 0x05, 0xF0};                                          /* JMP F005 */

static void test_a_probe_does_not_see_rows_that_an_earlier_one_drew(void **state) {
  (void)state;
  static uint8_t image[4096];
  memcpy(image, short_frames, sizeof short_frames);
  image[0xFFD] = 0xF0; /* the reset vector */
  vcs_cart_t *cart = load_as(image, sizeof image, VCS_PROFILE_ALE, NULL);
  vcs_env_t *env;
  vcs_bench_t *bench = calloc(1, sizeof *bench);
  vcs_evidence_t evidence[3] = {{0}};
  assert_non_null(bench);
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  vcs_env_reset(env);
  const uint8_t ram[3] = {0x84, 120, 0}; /* the frame ends in the middle of the picture */
  for (int i = 0; i < 3; i++) assert_int_equal(vcs_env_set_ram(env, i, ram[i], NULL), VCS_OK);
  for (int i = 0; i < 2; i++) vcs_env_act(env, 0, 0);
  uint8_t *machine = malloc(vcs_state_size(cart));
  assert_non_null(machine);
  memcpy(machine, vcs_env_machine(env), vcs_state_size(cart));
  const vcs_moment_t moment = {.machine = machine};
  const vcs_survey_t survey = {.cart = cart};
  vcs_bench_base(cart, machine, bench);
  for (int byte = 0; byte < 3; byte++) vcs_probe_byte(&survey, &moment, byte, &evidence[byte], bench);
  assert_true(evidence[0].effective > 0 && evidence[1].effective > 0);
  assert_int_equal(evidence[2].effective, 0);
  free(machine);
  free(bench);
  vcs_env_free(env);
  vcs_cart_free(cart);
}

static vcs_object_t sprite(int x, int y, int w, int h, uint32_t pattern) {
  return (vcs_object_t){.x = (int16_t)x,
                        .y = (int16_t)y,
                        .w = (int16_t)w,
                        .h = (int16_t)h,
                        .pixels = w * h,
                        .size = 1,
                        .pattern = pattern};
}

static vcs_shown_diff_t compare(const vcs_object_t *was, int32_t before, const vcs_object_t *is, int32_t after) {
  vcs_shown_t shown[2];
  vcs_shown_diff_t d;
  vcs_shown_take(was, before, &shown[0]);
  vcs_shown_take(is, after, &shown[1]);
  vcs_shown_compare(&shown[0], &shown[1], &d, NULL, 0);
  return d;
}

static void test_a_sprite_that_passes_the_edge_moves_as_one(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(150, 20, 8, 6, 7)};
  const vcs_object_t is[] = {sprite(0, 20, 3, 6, 8), sprite(155, 20, 5, 6, 9)};
  const vcs_shown_diff_t d = compare(was, 1, is, 2);
  assert_int_equal(d.moved_x, 1);
  assert_int_equal(d.dx, 5);
  assert_int_equal(d.came + d.went + d.reshaped, 0);
}

static void test_equal_sprites_are_paired_in_their_order(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(10, 20, 8, 6, 7), sprite(26, 20, 8, 6, 7), sprite(42, 20, 8, 6, 7)};
  const vcs_object_t is[] = {sprite(22, 20, 8, 6, 7), sprite(38, 20, 8, 6, 7), sprite(54, 20, 8, 6, 7)};
  const vcs_shown_diff_t d = compare(was, 3, is, 3);
  assert_int_equal(d.moved_x, 3);
  assert_int_equal(d.dx, 12);
}

/* With one less, the nearest belong together. */
static void test_what_is_left_pairs_with_the_nearest(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(10, 20, 8, 6, 7), sprite(10, 60, 8, 6, 7)};
  const vcs_object_t is[] = {sprite(10, 58, 8, 6, 7)};
  const vcs_shown_diff_t d = compare(was, 2, is, 1);
  assert_int_equal(d.moved_y, 1);
  assert_int_equal(d.dy, -2);
  assert_int_equal(d.went, 1);
}

static void test_two_sprites_that_become_one_have_not_moved(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(10, 20, 8, 16, 7), sprite(10, 40, 8, 16, 7)};
  const vcs_object_t is[] = {sprite(10, 20, 8, 34, 9)};
  const vcs_shown_diff_t d = compare(was, 2, is, 1);
  assert_int_equal(d.moved_x + d.moved_y + d.moved_both + d.reshaped, 0);
  assert_int_equal(d.cut, 1);
  assert_int_equal(d.went, 1);
}

/* An object that is drawn from another row on, and down to the next object: the upper end tells how far it moved. */
static void test_the_ends_of_a_longer_object_are_noted(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(60, 77, 5, 8, 7), sprite(54, 127, 5, 8, 7)};
  const vcs_object_t is[] = {sprite(54, 75, 11, 60, 9)};
  const vcs_shown_diff_t d = compare(was, 2, is, 1);
  assert_int_equal(d.ended, 1);
  assert_int_equal(d.end[0].object, 0);
  assert_int_equal(d.end[0].upper, -2);
  assert_int_equal(d.end[0].lower, 50);
}

/* One more line was drawn, and with it something came: nothing below has moved. */
static void test_a_line_more_moves_nothing(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(10, 20, 8, 6, 7), sprite(30, 40, 8, 6, 8), sprite(50, 60, 8, 6, 9)};
  const vcs_object_t is[] = {sprite(10, 20, 8, 6, 7), sprite(90, 30, 4, 2, 5), sprite(30, 41, 8, 6, 8),
                             sprite(50, 61, 8, 6, 9)};
  const vcs_object_t moved[] = {sprite(10, 20, 8, 6, 7), sprite(30, 41, 8, 6, 8), sprite(50, 60, 8, 6, 9)};
  assert_true(compare(was, 3, is, 4).shifted);
  assert_false(compare(was, 3, moved, 3).shifted);
}

/* One more line was drawn because a sprite stands elsewhere: it has moved to the side, and nothing else has moved. */
static void test_a_line_more_hides_no_move_to_the_side(void **state) {
  (void)state;
  const vcs_object_t was[] = {sprite(10, 20, 8, 6, 7), sprite(30, 40, 8, 6, 8), sprite(50, 60, 8, 6, 9)};
  const vcs_object_t is[] = {sprite(10, 20, 8, 6, 7), sprite(46, 41, 8, 6, 8), sprite(50, 61, 8, 6, 9)};
  const vcs_shown_diff_t d = compare(was, 3, is, 3);
  assert_int_equal(d.moved_x, 1);
  assert_int_equal(d.moved_y + d.moved_both, 0);
  assert_int_equal(d.moved, 1);
  assert_int_equal(d.dx, 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sprite_that_passes_the_edge_moves_as_one),
      cmocka_unit_test(test_equal_sprites_are_paired_in_their_order),
      cmocka_unit_test(test_what_is_left_pairs_with_the_nearest),
      cmocka_unit_test(test_two_sprites_that_become_one_have_not_moved),
      cmocka_unit_test(test_the_ends_of_a_longer_object_are_noted),
      cmocka_unit_test(test_a_line_more_moves_nothing),
      cmocka_unit_test(test_a_line_more_hides_no_move_to_the_side),
      cmocka_unit_test(test_the_same_table_twice),
      cmocka_unit_test(test_positions_move_their_objects),
      cmocka_unit_test(test_json_and_page_have_every_byte),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_a_stop_while_positions_are_tried_gives_no_table),
      cmocka_unit_test(test_a_probe_does_not_see_rows_that_an_earlier_one_drew),
  };
  return cmocka_run_group_tests(tests, open_demo, close_demo);
}
