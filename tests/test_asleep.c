/* test_asleep.c: frames on a TIA that sleeps (core/tia_asleep.h, core/rows.h) against a TIA that draws.
 *
 * Programs are kernels: segments of lines, each with stores to TIA registers at all positions of the line, values that
 * change from line to line, strobes, HMOVE early, late and twice, VBLANK within the picture, and reads of collisions
 * and inputs. Their frames have 150 to 400 lines, so that most are whole, some end in the picture and some are cut off.
 * They run by vcs_frame, with a picture and without one, and step by step, which draws after every instruction. The
 * three machines, and the two pictures, must be equal after every frame.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "brief.h"
#include "core/state.h"
#include "kernel.h"

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !step.frame_over && !m->jammed; i++) vcs_step(cart, m, frames, &step);
  vcs_frame_end(cart, m, frames);
}

static void assert_same(const vcs_cart_t *cart, const vcs_t *one, const vcs_t *other, int seed, int frame,
                        const char *what) {
  if (memcmp(one, other, vcs_state_size(cart)) == 0) return;
  const vcs_field_t *field = NULL;
  for (int f = 0; (field = vcs_field(f)); f++) {
    const void *a = (const char *)one + field->offset, *b = (const char *)other + field->offset;
    if (memcmp(a, b, (size_t)field->size * field->count) != 0) break;
  }
  fail_msg("program %d, frame %d, %s: %s", seed, frame, what, field ? field->name : "?");
}

static void test_asleep_frames_are_those_of_steps(void **state) {
  static vcs_t drawn, undrawn, stepped;
  static uint8_t frames[2 * VCS_FRAME_BYTES], stepped_frames[2 * VCS_FRAME_BYTES];
  int whole = 0, all = 0;
  (void)state;
  for (int seed = 0; seed < trials(400, 60); seed++) {
    vcs_cart_options_t options = {.profile = seed & 1 ? VCS_PROFILE_ALE : VCS_PROFILE_XITARI,
                                  .scheme = VCS_SCHEME_4K,
                                  .format = seed % 5 ? VCS_FORMAT_NTSC : VCS_FORMAT_PAL};
    vcs_cart_t *cart;
    vcs_error_t error;
    random_state = (uint64_t)seed;
    make_program();
    assert_int_equal(vcs_cart_load(image, IMAGE_SIZE, &options, &cart, &error), VCS_OK);
    memset(frames, 0, sizeof frames);
    memset(stepped_frames, 0, sizeof stepped_frames);
    vcs_boot(cart, &drawn, frames);
    memcpy(&undrawn, &drawn, vcs_state_size(cart));
    memcpy(&stepped, &drawn, vcs_state_size(cart));
    for (int i = 0; i < 6; i++) {
      vcs_frame(cart, &drawn, frames);
      vcs_frame(cart, &undrawn, NULL);
      frame_by_steps(cart, &stepped, stepped_frames);
      assert_same(cart, &drawn, &stepped, seed, i, "drawn");
      assert_same(cart, &undrawn, &stepped, seed, i, "undrawn");
      for (size_t p = 0; p < sizeof frames; p++) {
        if (frames[p] == stepped_frames[p]) continue;
        fail_msg("program %d, frame %d: row %d, pixel %d", seed, i, (int)(p % VCS_FRAME_BYTES / VCS_WIDTH),
                 (int)(p % VCS_WIDTH));
      }
      all++;
      if (!drawn.partial && drawn.seen_clock == VCS_LINE_CLOCKS * (cart->top_line + cart->height)) whole++;
    }
    vcs_cart_free(cart);
  }
  assert_true(whole > all / 4);
  assert_true(whole < all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_asleep_frames_are_those_of_steps)};
  return cmocka_run_group_tests_name("asleep", tests, NULL, NULL);
}
