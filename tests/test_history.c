/* Histories: every kept frame can be restored exactly; the oldest are dropped; play that continues from an earlier
 * frame replaces the later ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"
#include "diffvcs/study.h"
#include "ragged.h"

enum { FRAMES = 200, INTERVAL = 7 };

typedef struct {
  vcs_cart_t *cart;
  vcs_t *m;
  uint8_t *frames;
  vcs_history_t *history;
} past_t;

static vcs_controls_t controls_of(int frame) {
  vcs_controls_t controls = {.held = {(uint8_t)(frame * 5 % 32), 0}};
  return controls;
}

static void play(past_t *past, int from, int to, uint64_t *hashes, uint64_t *pictures) {
  for (int i = from; i < to; i++) {
    const vcs_controls_t controls = controls_of(i);
    if (hashes) hashes[i] = vcs_hash(past->cart, past->m);
    if (pictures) pictures[i] = 0;
    for (int j = 0; pictures && j < VCS_WIDTH * 200; j++) {
      pictures[i] = pictures[i] * 31 + past->frames[j] + 7ull * past->frames[VCS_FRAME_BYTES + j];
    }
    assert_int_equal(vcs_history_add(past->history, past->m, past->frames, &controls, NULL), VCS_OK);
    vcs_control(past->cart, past->m, &controls);
    vcs_frame(past->cart, past->m, past->frames);
  }
}

static past_t begin(bool ragged, int room) {
  past_t past = {0};
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  uint8_t image[4096];
  size_t size = sizeof image;
  ragged_image(image);
  const uint8_t *bytes = ragged ? image : vcs_demo_image(&size);
  assert_int_equal(vcs_cart_load(bytes, size, &options, &past.cart, NULL), VCS_OK);
  past.m = calloc(1, sizeof *past.m);
  past.frames = calloc(2, VCS_FRAME_BYTES);
  vcs_boot(past.cart, past.m, past.frames);
  assert_int_equal(vcs_history_create(past.cart, 0, INTERVAL, room, &past.history, NULL), VCS_OK);
  return past;
}

static void end(past_t *past) {
  vcs_history_free(past->history);
  vcs_cart_free(past->cart);
  free(past->m);
  free(past->frames);
}

static void goes_back_to_every_frame(bool ragged) {
  uint64_t hashes[FRAMES], pictures[FRAMES];
  past_t past = begin(ragged, 1000);
  play(&past, 0, FRAMES, hashes, pictures);
  for (int i = FRAMES - 1; i >= 0; i--) {
    uint64_t picture = 0;
    vcs_history_go(past.history, i, past.m, past.frames);
    assert_true(vcs_hash(past.cart, past.m) == hashes[i]);
    for (int j = 0; j < VCS_WIDTH * 200; j++) {
      picture = picture * 31 + past.frames[j] + 7ull * past.frames[VCS_FRAME_BYTES + j];
    }
    assert_true(picture == pictures[i]);
    assert_int_equal(vcs_history_controls(past.history, i)->held[0], controls_of(i).held[0]);
  }
  end(&past);
}

static void test_every_frame(void **state) {
  (void)state;
  goes_back_to_every_frame(false);
  goes_back_to_every_frame(true);
}

static void test_the_oldest_are_forgotten(void **state) {
  (void)state;
  uint64_t hashes[FRAMES];
  past_t past = begin(false, 5);
  play(&past, 0, FRAMES, hashes, NULL);
  const int64_t first = vcs_history_first(past.history);
  assert_int_equal(first, (FRAMES - 1) / INTERVAL * INTERVAL - 4 * INTERVAL);
  assert_int_equal(vcs_history_end(past.history), FRAMES);
  for (int64_t i = first; i < FRAMES; i++) {
    vcs_history_go(past.history, i, past.m, past.frames);
    assert_true(vcs_hash(past.cart, past.m) == hashes[i]);
  }
  end(&past);
}

static void test_a_cut_and_another_future(void **state) {
  (void)state;
  past_t past = begin(false, 1000);
  play(&past, 0, 100, NULL, NULL);
  vcs_history_go(past.history, 53, past.m, past.frames);
  vcs_history_cut(past.history, 53);
  assert_int_equal(vcs_history_end(past.history), 53);
  for (int i = 53; i < 120; i++) {
    const vcs_controls_t none = {{0, 0}, {0, 0, 0, 0}, {0, 0}, 0};
    assert_int_equal(vcs_history_add(past.history, past.m, past.frames, &none, NULL), VCS_OK);
    vcs_control(past.cart, past.m, &none);
    vcs_frame(past.cart, past.m, past.frames);
  }
  const uint64_t last = vcs_hash(past.cart, past.m);
  vcs_history_go(past.history, 119, past.m, past.frames);
  vcs_control(past.cart, past.m, vcs_history_controls(past.history, 119));
  vcs_frame(past.cart, past.m, past.frames);
  assert_true(vcs_hash(past.cart, past.m) == last);
  end(&past);
}

/* Frames before the first are not there: a cut below it forgets everything, and the past begins again there. */
static void test_a_cut_before_the_first_frame_forgets_all(void **state) {
  (void)state;
  past_t past = begin(false, 3);
  play(&past, 0, FRAMES, NULL, NULL);
  const int64_t first = vcs_history_first(past.history);
  assert_true(first > 0);
  vcs_history_go(past.history, first, past.m, past.frames);
  const uint64_t hash = vcs_hash(past.cart, past.m);
  vcs_history_cut(past.history, first - 7);
  assert_int_equal(vcs_history_first(past.history), first);
  assert_int_equal(vcs_history_end(past.history), first);
  play(&past, (int)first, (int)first + INTERVAL, NULL, NULL);
  vcs_history_go(past.history, first, past.m, past.frames);
  assert_true(vcs_hash(past.cart, past.m) == hash);
  end(&past);
}

static void test_changes_by_hand_are_kept(void **state) {
  (void)state;
  uint64_t hashes[FRAMES];
  past_t past = begin(false, 1000);
  play(&past, 0, 10, hashes, NULL);
  past.m->swchb ^= 0x40;
  vcs_history_changed(past.history);
  play(&past, 10, 40, hashes, NULL);
  for (int i = 39; i >= 0; i--) {
    vcs_history_go(past.history, i, past.m, past.frames);
    assert_true(vcs_hash(past.cart, past.m) == hashes[i]);
  }
  end(&past);
}

static void test_numbers_that_would_overflow_are_refused(void **state) {
  (void)state;
  past_t past = begin(false, 2);
  vcs_history_t *history = NULL;
  const int64_t wrong[] = {INT64_MIN, -1, INT64_MAX - 1, INT64_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(vcs_history_create(past.cart, wrong[i], 1, 2, &history, NULL), VCS_BAD_ARGUMENT);
    assert_null(history);
  }
  assert_int_equal(vcs_history_create(past.cart, 0, 1, INT32_MAX, &history, NULL), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_history_create(past.cart, 0, 0, 2, &history, NULL), VCS_BAD_ARGUMENT);
  assert_null(history);
  end(&past);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_frame),
                                     cmocka_unit_test(test_the_oldest_are_forgotten),
                                     cmocka_unit_test(test_a_cut_and_another_future),
                                     cmocka_unit_test(test_a_cut_before_the_first_frame_forgets_all),
                                     cmocka_unit_test(test_changes_by_hand_are_kept),
                                     cmocka_unit_test(test_numbers_that_would_overflow_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
