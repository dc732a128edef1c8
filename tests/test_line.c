/* test_line.c: the derivative of the picture against drawing it again.
 *
 * The TIA's registers are made at random, with delays, copies, stretches, priorities, scores, objects across the right
 * edge and combs after HMOVE among them, and a span is drawn by the core: a piece of a line, a line, or several. Then
 * each register bit is flipped, each colour moved as its carries say, each object put one pixel further either way, and
 * the span is drawn again. The difference is the expected result of a unit tangent on that slot, and the expected sum
 * of random adjoints on pixels and latches. Finally a register is written by an instruction one cycle later, or
 * earlier.
 *
 * Latches are looked at within one line: over several, line.c's OR is first order. Where they have no adjoints, reverse
 * mode uses line_sums.c instead: spans are tested with and without them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grad/sweep.h"
#include "noise.h"

/* The registers and the bits they have. */
static const struct {
  size_t offset, count;
  uint8_t bits;
} registers[] = {
    {VCS_OFFSET(vsync), 1, 0xFF},
    {VCS_OFFSET(vblank), 1, 0xFF},
    {VCS_OFFSET(nusiz), 2, 0xFF},
    {VCS_OFFSET(colu), 4, 0xFF},
    {VCS_OFFSET(ctrlpf), 1, 0xFF},
    {VCS_OFFSET(reflect), 2, 0x08},
    {VCS_OFFSET(pf), 3, 0xFF},
    {VCS_OFFSET(grp), 2, 0xFF},
    {VCS_OFFSET(grp_old), 2, 0xFF},
    {VCS_OFFSET(enam), 2, 0x02},
    {VCS_OFFSET(enabl), 1, 0x02},
    {VCS_OFFSET(enabl_old), 1, 0x02},
    {VCS_OFFSET(hm), 5, 0x0F},
    {VCS_OFFSET(vdelp), 2, 0x01},
    {VCS_OFFSET(vdelbl), 1, 0x01},
    {VCS_OFFSET(resmp), 2, 0x02},
    {VCS_OFFSET(first_copy_off), 2, 0x01},
    {VCS_OFFSET(pf_mirrored), 1, 0x01},
};
enum { REGISTERS = sizeof registers / sizeof *registers };

static vcs_cart_t console;
static uint8_t image[4096];
static vcs_t start, m;
static uint8_t shown[2 * VCS_FRAME_BYTES], shown_else[2 * VCS_FRAME_BYTES];
static vcs_tape_t *tape;
static vcs_sweep_t sweep;
static float slots[VCS_SLOTS * sizeof(vcs_t)], pixels[VCS_FRAME_BYTES], scale[256];
static uint8_t live[sizeof(vcs_t)], lit[VCS_ROWS_MAX];
static vcs_t contents, scratch;
static uint16_t latched[8];
static int32_t from, to; /* the span, in clocks of the frame */

static int plug_in(void **state) {
  (void)state;
  vcs_cart_options_t options = {.profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_4K, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  if (vcs_cart_load(image, 4096, &options, &cart, &error) != VCS_OK) return -1;
  console = *cart;
  console.rom = image;
  vcs_boot(cart, &start, NULL);
  vcs_cart_free(cart);
  random_state = 1;
  for (int i = 0; i < 256; i++) scale[i] = (float)below(1000); /* sums of a few such integers are exact */
  vcs_sweep_t blank = {.cart = &console, .scale = scale, .state = slots, .live = live, .lit = lit, .m = &contents};
  sweep = blank;
  sweep.scratch = &scratch;
  sweep.latched = latched;
  if (vcs_tape_create(&console, &tape, &error) != VCS_OK) return -1;
  sweep.tape = tape;
  return 0;
}

static int unplug(void **state) {
  (void)state;
  vcs_tape_free(tape);
  return 0;
}

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static void random_registers(void) {
  for (size_t i = 0; i < REGISTERS; i++) {
    for (size_t k = 0; k < registers[i].count; k++)
      ((uint8_t *)&start)[registers[i].offset + k] = noise_byte() & registers[i].bits;
  }
  if (below(4)) start.vblank &= 0xFD;
  if (below(2)) start.grp[below(2)] = start.pf[below(3)] = 0;
  for (int i = 0; i < 5; i++) start.pos[i] = (uint8_t)(below(4) ? below(160) : (130 + below(60)) % 160);
  start.colu[below(4)] = start.colu[below(4)];
  start.collisions = below(2) ? (uint16_t)(noise() & noise()) : 0;
}

/* Where the beam is when the span begins. */
static void place_beam(int32_t at) {
  bool line_begins = at % VCS_LINE_CLOCKS == 0 && at > VCS_LINE_CLOCKS * console.top_line;
  start.first_line = console.top_line;
  start.line = at / VCS_LINE_CLOCKS - line_begins;
  start.line_clock = line_begins ? VCS_LINE_CLOCKS : at % VCS_LINE_CLOCKS; /* not closed yet */
  start.seen_clock = start.seen_before = from = at;
  start.hmove_blank = below(3) == 0;
  start.blank_clock = at;
  start.blank_first = 0;
}

static void random_span(int lines) {
  random_registers();
  int32_t line = VCS_LINE_CLOCKS * (console.top_line + (int32_t)below(below(4) ? (uint32_t)console.height - 8 : 1));
  if (lines == 0) { /* a piece */
    place_beam(line + (int32_t)below(VCS_LINE_CLOCKS - 1));
    to = from + 1 + (int32_t)below((uint32_t)(line + VCS_LINE_CLOCKS - from));
  } else {
    place_beam(line + (lines > 1 ? (int32_t)below(VCS_LINE_CLOCKS) : 0));
    to = line + VCS_LINE_CLOCKS * lines;
  }
}

/* Draws the span with the registers of m. */
static void draw(uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, &console, frames);
  m.seen_clock = to;
  vcs_tia_catch_up(&m, &video);
}

static void record_span(void) {
  memcpy(&m, &start, sizeof m);
  vcs_tape_begin(tape, &console, &m);
  m.seen_clock = to;
  assert_true(vcs_tape_end(tape, &console, &m));
  assert_int_equal(tape->events[0].from, from);
  assert_int_equal(tape->events[0].to, to);
}

/* ---- Truth and derivative ---------------------------------------------------------------------------------------- */

/* The pixel of a clock, or -1 in the blank. */
static int pixel_at(int32_t clock) {
  int x = clock % VCS_LINE_CLOCKS - VCS_HBLANK_CLOCKS;
  return x < 0 ? -1 : VCS_WIDTH * (clock / VCS_LINE_CLOCKS - console.top_line) + x;
}

static uint16_t hits, hits_else;
static float adjoint[VCS_FRAME_BYTES], latch_adjoint[16];

static float effect_on_pixel(int pixel) {
  size_t front = (size_t)start.front * VCS_FRAME_BYTES;
  return scale[shown_else[front + (size_t)pixel]] - scale[shown[front + (size_t)pixel]];
}

static float effect_on_latch(int bit) { return (float)(hits_else >> bit & 1) - (float)(hits >> bit & 1); }

static void start_walk(bool reverse, vcs_side_rule_t rule) {
  memset(slots, 0, sizeof slots);
  memset(live, 0, sizeof live);
  sweep.reverse = reverse;
  sweep.rule = rule;
  sweep.pixels = pixels;
  sweep.have_latched = false;
  sweep.snapshot = reverse ? tape->snapshot_count - 1 : 0;
  sweep.event = reverse ? tape->event_count - 1 : 0;
}

static void check_pixels(float weight, const char *what, size_t offset, int slot) {
  for (int32_t clock = from; clock < to; clock++) {
    int pixel = pixel_at(clock);
    if (pixel < 0) continue;
    float truth = weight * effect_on_pixel(pixel);
    if (pixels[pixel] != truth)
      fail_msg("%s %zu.%d, pixel %d of clocks %d to %d: %g, drawn %g", what, offset, slot, pixel % VCS_WIDTH, (int)from,
               (int)to, (double)pixels[pixel], (double)truth);
  }
}

/* A unit tangent on a slot; the span drawn again is in shown_else. */
static void check_tangent(size_t offset, int slot, float tangent, float weight, bool latches) {
  start_walk(false, VCS_SIDE_TANGENT);
  memset(pixels, 0, sizeof pixels);
  vcs_slots(&sweep, offset)[slot] = tangent;
  live[offset] = 1;
  vcs_sweep_span(&sweep, &tape->events[0]);
  check_pixels(weight, "tangent on", offset, slot);
  for (int bit = 0; latches && bit < 16; bit++) {
    if (*vcs_latch(&sweep, bit) != weight * effect_on_latch(bit))
      fail_msg("tangent on %zu.%d, latch %d: %g, drawn %g", offset, slot, bit, (double)*vcs_latch(&sweep, bit),
               (double)(weight * effect_on_latch(bit)));
  }
}

static float *adjoint_slots; /* after a walk backwards with each rule */

static void walk_back(vcs_side_rule_t rule, bool latches) {
  start_walk(true, rule);
  memcpy(pixels, adjoint, sizeof pixels);
  memset(lit, 1, sizeof lit);
  for (int bit = 0; latches && bit < 16; bit++) *vcs_latch(&sweep, bit) = latch_adjoint[bit];
  live[VCS_OFFSET(collisions)] = live[VCS_OFFSET(collisions) + 1] = latches;
  vcs_sweep_span(&sweep, &tape->events[0]);
  memcpy(adjoint_slots + (size_t)rule * (sizeof slots / sizeof *slots), slots, sizeof slots);
}

static void check_adjoint(size_t offset, int slot, vcs_side_rule_t rule, float weight, bool latches) {
  double truth = 0, size = 1;
  for (int32_t clock = from; clock < to; clock++) {
    int pixel = pixel_at(clock);
    if (pixel < 0) continue;
    truth += (double)(weight * effect_on_pixel(pixel) * adjoint[pixel]);
    size += fabs((double)(effect_on_pixel(pixel) * adjoint[pixel]));
  }
  for (int bit = 0; latches && bit < 16; bit++) {
    truth += (double)(weight * effect_on_latch(bit) * latch_adjoint[bit]);
    size += fabs((double)(effect_on_latch(bit) * latch_adjoint[bit]));
  }
  double got = (double)adjoint_slots[(size_t)rule * (sizeof slots / sizeof *slots) + VCS_SLOTS * offset + (size_t)slot];
  if (fabs(got - truth) > 1e-5 * size)
    fail_msg("adjoint of %zu.%d, clocks %d to %d: %g, drawn %g", offset, slot, (int)from, (int)to, got, truth);
}

static void draw_changed(size_t offset, uint8_t byte) {
  memcpy(&m, &start, sizeof m);
  ((uint8_t *)&m)[offset] = byte;
  memset(shown_else, 0, sizeof shown_else);
  draw(shown_else);
  hits_else = m.collisions;
}

static void check_span(int lines, bool latches) {
  random_span(lines);
  memcpy(&m, &start, sizeof m);
  memset(shown, 0, sizeof shown);
  draw(shown);
  hits = m.collisions;
  record_span();
  for (int i = 0; i < VCS_FRAME_BYTES; i++) adjoint[i] = (float)below(9) - 4;
  for (int i = 0; i < 16; i++) latch_adjoint[i] = (float)below(9) - 4;
  walk_back(VCS_SIDE_MORE, latches);
  walk_back(VCS_SIDE_LESS, latches);
  for (size_t i = 0; i < REGISTERS; i++) {
    for (size_t offset = registers[i].offset; offset < registers[i].offset + registers[i].count; offset++) {
      unsigned wanted = registers[i].bits;
      if (vcs_has_carries(offset)) wanted |= wanted << 8;
      for (; wanted; wanted &= wanted - 1) {
        int slot = VCS_LOWEST(wanted);
        uint8_t byte = ((uint8_t *)&start)[offset];
        draw_changed(offset, vcs_moved(byte, slot));
        check_tangent(offset, slot, 1, vcs_direction(byte, slot), latches);
        check_adjoint(offset, slot, VCS_SIDE_MORE, vcs_direction(byte, slot), latches);
      }
    }
  }
  for (int object = 0; object < 5; object++) {
    size_t offset = VCS_OFFSET(pos) + (size_t)object;
    for (int by = -1; by <= 1; by += 2) {
      draw_changed(offset, (uint8_t)((start.pos[object] + 160 + by) % 160));
      check_tangent(offset, 0, (float)by, 1, latches);
      check_adjoint(offset, 0, by > 0 ? VCS_SIDE_MORE : VCS_SIDE_LESS, (float)by, latches);
    }
  }
}

static void check_spans(int lines, bool latches, int count) {
  static float walks[4 * VCS_SLOTS * sizeof(vcs_t)];
  adjoint_slots = walks;
  random_state = 100 + (uint64_t)lines;
  for (int i = 0; i < count; i++) check_span(lines, latches);
}

static void test_a_line_moves_as_redrawing_moves_it(void **state) {
  (void)state;
  check_spans(1, true, 60);
}

static void test_a_piece_of_a_line_moves_as_redrawing_moves_it(void **state) {
  (void)state;
  check_spans(0, true, 120);
}

static void test_a_line_without_latches_moves_as_redrawing_moves_it(void **state) {
  (void)state;
  check_spans(1, false, 100);
}

static void test_a_piece_without_latches_moves_as_redrawing_moves_it(void **state) {
  (void)state;
  check_spans(0, false, 300);
}

static void test_several_lines_move_as_redrawing_moves_them(void **state) {
  (void)state;
  check_spans(3, false, 40);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* STA reg at a cycle of the frame, then the beam goes on to `to`. */
static void run_store(uint32_t cycles, uint8_t *frames) {
  vcs_video_t video;
  bool frame_over;
  vcs_video_start(&video, &console, frames);
  memcpy(&m, &start, sizeof m);
  m.cycles = cycles;
  vcs_cpu_step(&console, &m, &video, &frame_over);
  m.seen_clock = to;
  vcs_tia_catch_up(&m, &video);
}

/* Registers whose write is not itself a function of time, as strobes are. */
static const uint8_t plain_registers[] = {
    VCS_VBLANK, VCS_NUSIZ0, VCS_NUSIZ1, VCS_COLUP0_W, VCS_COLUP1_W, VCS_COLUPF_W, VCS_COLUBK_W, VCS_CTRLPF,
    VCS_REFP0,  VCS_REFP1,  VCS_PF0,    VCS_PF1,      VCS_PF2,      VCS_GRP0,     VCS_GRP1,     VCS_ENAM0,
    VCS_ENAM1,  VCS_ENABL,  VCS_VDELP0, VCS_VDELP1,   VCS_VDELBL,   VCS_RESMP0,   VCS_RESMP1};

static void test_a_write_a_cycle_later_or_earlier_moves_as_redrawing_moves_it(void **state) {
  (void)state;
  random_state = 77;
  for (int i = 0; i < 4000; i++) {
    random_registers();
    int32_t line = console.top_line + 2 + (int32_t)below((uint32_t)console.height - 10);
    place_beam(VCS_LINE_CLOCKS * (line - 1));
    start.first_copy_off[0] = start.first_copy_off[1] = 0; /* they hold for a line, which has begun */
    start.hmove_blank = 0;
    start.frame_clock = 0;
    uint32_t cycle = VCS_LINE_CYCLES * (uint32_t)line + below(VCS_LINE_CYCLES) - 3;
    uint8_t code[2] = {0x85, plain_registers[below(sizeof plain_registers)]};
    memcpy(image, code, 2);
    start.pc = 0xF000;
    start.a = noise_byte();
    to = VCS_LINE_CLOCKS * (line + 3);
    memset(shown, 0, sizeof shown);
    run_store(cycle, shown);
    memcpy(&m, &start, sizeof m);
    m.cycles = cycle;
    vcs_video_t video;
    bool frame_over;
    vcs_video_start(&video, &console, NULL);
    vcs_tape_begin(tape, &console, &m);
    assert_true(vcs_tape_step(tape, &console, &m, &video, &frame_over));
    m.seen_clock = to;
    assert_true(vcs_tape_end(tape, &console, &m));
    for (int by = -1; by <= 1; by += 2) {
      memset(shown_else, 0, sizeof shown_else);
      run_store(cycle + (uint32_t)by, shown_else);
      start_walk(false, VCS_SIDE_TANGENT);
      memset(pixels, 0, sizeof pixels);
      memcpy(&contents, tape->start, vcs_state_size(&console));
      *vcs_slots(&sweep, VCS_OFFSET(cycles)) = (float)by;
      live[VCS_OFFSET(cycles)] = 1;
      vcs_sweep_row(&sweep, 0);
      vcs_sweep_span(&sweep, &tape->events[1]);
      check_pixels(1, "time of register", code[1], by);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_line_moves_as_redrawing_moves_it),
      cmocka_unit_test(test_a_piece_of_a_line_moves_as_redrawing_moves_it),
      cmocka_unit_test(test_a_line_without_latches_moves_as_redrawing_moves_it),
      cmocka_unit_test(test_a_piece_without_latches_moves_as_redrawing_moves_it),
      cmocka_unit_test(test_several_lines_move_as_redrawing_moves_them),
      cmocka_unit_test(test_a_write_a_cycle_later_or_earlier_moves_as_redrawing_moves_it),
  };
  return cmocka_run_group_tests(tests, plug_in, unplug);
}
