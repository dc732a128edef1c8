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
#include "noise.h"
#include "program.h"

enum { IMAGE_SIZE = 4096, LAST_SEGMENT = 0xE00 };

/* A register of the picture, a strobe or HMOVE. VBLANK, RESPx and their like are rarer than graphics. */
static uint8_t any_register(void) {
  switch (below(8)) {
    case 0:
      return (uint8_t)(0x04 + below(0x29));
    case 1:
      return ONE_OF(0x10, 0x11, 0x12, 0x13, 0x14, 0x2A, 0x2A, 0x2B, 0x2C, 0x28, 0x29, 0x01);
    case 2:
      return ONE_OF(0x06, 0x07, 0x08, 0x09, 0x0A, 0x04, 0x05);
    default:
      return ONE_OF(0x1B, 0x1C, 0x1B, 0x1C, 0x0D, 0x0E, 0x0F, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25,
                    0x26);
  }
}

/* One instruction or a few of a line. Y counts lines, $80 on is noise that changes slowly. */
static void put_piece(void) {
  switch (below(12)) {
    case 0: /* a read: a collision, an input, the timer */
      put(2, ONE_OF(0xA5, 0x24, 0xA6), below(14));
      break;
    case 1:
      put(2, 0xE6, 0x80 + below(16)); /* INC */
      break;
    case 2: /* a delay of up to 50 cycles */
      put(5, 0xA2, 1 + below(10), 0xCA, 0xD0, 0xFD);
      break;
    case 3: /* pushes to the TIA */
      put(3, 0xA2, ONE_OF(0x1F, 0x1D, 0x0F, 0x1C), 0x9A);
      for (unsigned i = 1 + below(3); i > 0; i--) put(1, ONE_OF(0x08, 0x48));
      break;
    case 4: /* INC of a register of the TIA, and an indexed store */
      if (below(4) == 0) put(2, 0xE6, any_register());
      put(4, 0xA2, below(3), 0x95, any_register() & 0x3D);
      break;
    default:
      if (below(3)) {
        put(3, 0xB9, 0x00, 0xF0 + below(16)); /* LDA table,Y */
      } else if (below(2)) {
        put(2, 0xA5, 0x80 + below(16));
      } else {
        put(2, 0xA9, below(2) ? noise() : 0);
      }
      put(2, ONE_OF(0x85, 0x85, 0x85, 0x84), any_register());
      break;
  }
}

static void make_program(void) {
  for (size_t i = 0; i < IMAGE_SIZE; i++) image[i] = (uint8_t)(below(3) ? noise() & noise() : 0); /* also the tables */
  end = 0x200;
  put(4, 0xA9, 0x00, 0x85, 0x01);
  for (unsigned lines = 150 + below(130), count; lines > 0 && end < LAST_SEGMENT; lines -= count) {
    count = 1 + below(60);
    if (count > lines) count = lines;
    put(2, 0xA0, count);
    const size_t top = end;
    const bool waits = below(8) != 0;
    if (waits && below(2)) put(4, 0x85, 0x02, 0x85, 0x2A); /* WSYNC, HMOVE */
    for (unsigned i = below(9); i > 0; i--) put_piece();
    if (waits) put(2, 0x85, 0x02);
    put(1, 0x88);
    put(5, 0xF0, 0x03, 0x4C, top & 0xFF, 0xF0 + (top >> 8)); /* BEQ over JMP top */
  }
  if (below(2)) put(4, 0xA9, 0x02, 0x85, 0x01);
  put(3, 0xA2, 0xFF, 0x9A);
  put(17, 0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x4C, 0x00, 0xF2);
  image[IMAGE_SIZE - 4] = 0x00;
  image[IMAGE_SIZE - 3] = 0xF2;
}

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
