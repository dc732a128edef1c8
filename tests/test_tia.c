/* test_tia.c: the TIA against a pixel-by-pixel oracle (oracle_tia.h) and against spelled-out times and positions.
 *
 * Everything goes through the machine's API: a register is written by an instruction, at a chosen cycle of a chosen
 * line, and its effect is read from the picture. There are four kinds of test. The picture: random registers, random
 * pieces of a line, equal pixels and collisions. Time: a register is written at every cycle of a line, and the line
 * must show the old registers up to a clock that is computed here and the new ones after it. Programs: hundreds of
 * random writes in one go, compared with a television made of the oracle. Whole frames: VSYNC, the line limit, grey
 * partial frames and colour loss.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "core/decode.h"
#include "noise.h"
#include "oracle/oracle_tia.h"

static int pick(int n) { return (int)below((uint32_t)n); }

/* The registers that the tests name. */
enum {
  VSYNC = 0x00,
  VBLANK,
  WSYNC,
  RSYNC,
  NUSIZ0,
  NUSIZ1,
  COLUP0,
  COLUP1,
  COLUPF,
  COLUBK,
  CTRLPF,
  PF1 = 0x0E,
  RESP0 = 0x10,
  RESM0 = 0x12,
  RESBL = 0x14,
  AUDV0 = 0x19,
  GRP0 = 0x1B,
  GRP1,
  ENABL = 0x1F,
  HMP0,
  HMM0 = 0x22,
  HMBL = 0x24,
  RESMP0 = 0x28,
  HMOVE = 0x2A,
  HMCLR,
  CXCLR
};
enum { BACKGROUND, PLAYFIELD, PLAYER_0, PLAYER_1 }; /* in m.colu */

/* ---- A television ------------------------------------------------------------------------------------------- */

static vcs_cart_t console; /* as loaded, but with a picture from line 0 on, and an image that tests write */
static vcs_code_t code_of_rom[ROM_SIZE];
static vcs_t m, fresh;
static size_t state_size;
static uint8_t frames[2 * VCS_FRAME_BYTES];

static void connect(void) {
  console = *loaded;
  console.rom = rom;
  console.code = NULL;
  console.top_line = 0;
}

static int plug_in_console(void **state) {
  if (plug_in(state)) return -1;
  state_size = vcs_state_size(loaded);
  connect();
  vcs_boot(&console, &fresh, NULL);
  return 0;
}

static int switch_on(void **state) {
  (void)state;
  connect();
  console.height = 210;
  console.max_lines = 290;
  console.hmove_blanks = 1;
  memcpy(&m, &fresh, state_size);
  memset(frames, 0xEE, sizeof frames);
  random_state = 1;
  return 0;
}

/* Now is this cycle of this line. */
static void at(int line, int cycle) { m.cycles = (uint32_t)(76 * line + cycle); }

/* An instruction of four cycles that ends now. */
static vcs_step_t execute(uint8_t code, int addr) {
  vcs_step_t step;
  rom[0] = code;
  rom[1] = (uint8_t)addr;
  rom[2] = (uint8_t)(addr >> 8);
  m.pc = 0xF000;
  m.cycles -= 4;
  vcs_step(&console, &m, frames, &step);
  return step;
}

/* STA; whether it ended the frame. */
static bool poke(int r, uint8_t value) {
  m.a = value;
  return execute(0x8D, r).frame_over;
}

/* LDA; below $100 the bits that the TIA does not drive are zero. */
static uint8_t peek(int r) { return execute(0xAD, r).a; }

static const uint8_t *row(int line) { return frames + 160 * line; }

/* Draws up to the start of a line: reading a collision does. */
static void draw_to(int line) {
  at(line, 0);
  peek(0x00);
}

/* The set at the first clock of a line, everything above it drawn. */
static void begin_line(int line) {
  draw_to(line);
  m.line = line;
  m.line_clock = 0;
}

/* Random registers; each object is enabled or not as often. */
static void randomise(void) {
  for (int i = 0; i < 2; i++) {
    m.nusiz[i] = (uint8_t)noise();
    m.reflect[i] = noise() & 8;
    m.grp[i] = noise() & 1 ? (uint8_t)noise() : 0;
    m.grp_old[i] = noise() & 1 ? (uint8_t)noise() : 0;
    m.vdelp[i] = noise() & 1;
    m.enam[i] = noise() & 2;
    m.resmp[i] = pick(4) == 0 ? 2 : 0;
    m.first_copy_off[i] = pick(4) == 0;
  }
  uint32_t pf = noise();
  for (int i = 0; i < 3; i++) m.pf[i] = pf & 1 ? (uint8_t)noise() : pf & 2 ? m.pf[i] : 0;
  if (pf & 12) m.pf[0] &= 0xF0;
  for (int i = 0; i < 5; i++) m.pos[i] = (uint8_t)pick(160);
  for (int i = 0; i < 5; i++) m.hm[i] = (uint8_t)pick(16);
  if (noise() & 1) { /* close together, so that they touch */
    for (int i = 1; i < 5; i++) m.pos[i] = (uint8_t)((m.pos[0] + pick(12)) % 160);
  }
  m.enabl = noise() & 2;
  m.enabl_old = noise() & 2;
  m.vdelbl = noise() & 1;
  m.ctrlpf = (uint8_t)noise();
  m.pf_mirrored = noise() & 1;
  m.stars_shape = pick(4) == 0 ? (uint8_t)pick(3) : 0;
  m.vblank = pick(16) == 0 ? 2 : 0;
  for (int i = 0; i < 4; i++) m.colu[i] = (uint8_t)(0x20 * i + 0x10 + 2 * pick(8)); /* four different colours */
  m.collisions = pick(4) ? 0 : (uint16_t)(noise() & 0xDFFF);
}

/* ---- The picture -------------------------------------------------------------------------------------------- */

/* A piece of a line is what lies between two accesses: here, two reads. */
static void test_tia_line_agrees_with_the_oracle_on_random_pieces(void **state) {
  (void)state;
  uint16_t seen = 0;
  for (int trial = 0; trial < 15000; trial++) {
    uint8_t expected[160], *ours = frames + 160;
    int first = 23 + pick(53), second = first + 1 + pick(76 - first); /* cycles; 76 is the end of the line */
    uint16_t latches = 0;
    uint64_t kept = random_state;
    switch_on(NULL);
    random_state = kept;
    begin_line(1);
    memset(expected, 0xEE, 160);
    for (int piece = 0; piece < 2; piece++) {
      int x0 = piece ? 3 * first - 68 : 0, x1 = 3 * (piece ? second : first) - 68;
      randomise();
      latches = m.collisions | oracle_paint(&m, x0, x1, expected);
      at(1, piece ? second : first);
      peek(0);
      seen |= latches;
      if (m.collisions != latches) fail_msg("trial %d: collisions %04X, not %04X", trial, m.collisions, latches);
    }
    if (memcmp(ours, expected, 160) != 0) {
      int x = 0;
      while (ours[x] == expected[x]) x++;
      fail_msg("trial %d, cycles %d and %d: pixel %d is %02X, not %02X", trial, first, second, x, ours[x], expected[x]);
    }
  }
  assert_int_equal(seen, 0xDFFF); /* all fifteen pairs have met */
}

/* The line that the registers in m give. */
static const uint8_t *drawn_line(void) {
  static vcs_t kept;
  memcpy(&kept, &m, state_size);
  begin_line(1);
  memcpy(m.pos, kept.pos, sizeof m.pos);
  m.stars_shape = kept.stars_shape;
  m.pf_mirrored = kept.pf_mirrored;
  m.first_copy_off[0] = kept.first_copy_off[0];
  m.first_copy_off[1] = kept.first_copy_off[1];
  draw_to(2);
  return row(1);
}

static void test_tia_player_pixels_spelled_out(void **state) {
  (void)state;
  static const struct {
    uint8_t nusiz;
    const char *pixels; /* of a player $C1 at 2 */
  } shapes[8] = {{0, "..XX.....X"},
                 {1, "..XX.....X........XX.....X"},
                 {2, "..XX.....X........................XX.....X"},
                 {3, "..XX.....X........XX.....X........XX.....X"},
                 {4, "..XX.....X........................................................XX.....X"},
                 {5, "...XXXX..........XX"},
                 {6, "..XX.....X........................XX.....X........................XX.....X"},
                 {7, "...XXXXXXXX....................XXXX"}};
  for (int i = 0; i < 8; i++) {
    switch_on(NULL);
    m.grp[0] = 0xC1;
    m.pos[O_P0] = 2;
    m.nusiz[0] = shapes[i].nusiz;
    m.colu[PLAYER_0] = 'X';
    m.colu[BACKGROUND] = '.';
    const uint8_t *line = drawn_line();
    size_t length = strlen(shapes[i].pixels);
    assert_memory_equal(line, shapes[i].pixels, length);
    for (size_t x = length; x < 160; x++) assert_int_equal(line[x], '.');
  }
}

static void test_tia_objects_wrap_from_the_right_edge_to_the_left(void **state) {
  (void)state;
  m.grp[0] = 0xFF;
  m.pos[O_P0] = 156;
  m.colu[PLAYER_0] = 0x1E;
  const uint8_t *line = drawn_line();
  for (int x = 0; x < 160; x++) assert_int_equal(line[x], x < 4 || x >= 156 ? 0x1E : 0);
}

static void test_tia_score_colours_show_under_priority_when_only_the_playfield_is_on(void **state) {
  (void)state;
  m.pf[0] = 0xF0;
  m.ctrlpf = 6;
  m.colu[PLAYER_0] = 2;
  m.colu[PLAYER_1] = 4;
  m.colu[PLAYFIELD] = 6;
  const uint8_t *line = drawn_line();
  assert_int_equal(line[0], 2);
  assert_int_equal(line[80], 4);
  switch_on(NULL);
  m.pf[0] = 0xF0;
  m.ctrlpf = 6;
  m.colu[PLAYER_0] = 2;
  m.colu[PLAYER_1] = 4;
  m.colu[PLAYFIELD] = 6;
  m.grp[0] = 1; /* with anything else on, priority wins */
  m.pos[O_P0] = 100;
  line = drawn_line();
  assert_int_equal(line[0], 6);
  assert_int_equal(line[80], 6);
}

/* ---- Registers and their delays ----------------------------------------------------------------------------- */

/* Expects a line that changes from `old` to `new` registers at pixel x, and the line after it. */
static void check_two_lines(const vcs_t *old, vcs_t *new, int x, int line, const char *what, int value) {
  uint8_t expected[160];
  uint16_t latches = old->collisions;
  if (x < 0) x = 0;
  if (x > 160) x = 160;
  if (x > 0) latches |= oracle_paint(old, 0, x, expected);
  if (x < 160) latches |= oracle_paint(new, x, 160, expected);
  draw_to(line + 1);
  if (memcmp(row(line), expected, 160) != 0 || m.collisions != latches) {
    int wrong = 0;
    while (wrong < 160 && row(line)[wrong] == expected[wrong]) wrong++;
    fail_msg("%s = %02X, changing at pixel %d: first wrong pixel %d, collisions %04X and %04X", what, value, x, wrong,
             m.collisions, latches);
  }
  oracle_next_line(new);
  latches |= oracle_paint(new, 0, 160, expected);
  draw_to(line + 2);
  if (memcmp(row(line + 1), expected, 160) != 0 || m.collisions != latches) fail_msg("%s: the line after", what);
}

static void test_tia_writes_reach_the_picture_after_their_delays(void **state) {
  (void)state;
  static const uint8_t registers[] = {0x01, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E,
                                      0x0F, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x25, 0x26, 0x27, 0x28, 0x29};
  static vcs_t old, new;
  for (size_t i = 0; i < sizeof registers; i++) {
    for (int cycle = 0; cycle < 76; cycle++) {
      for (int repeat = 0; repeat < 6; repeat++) {
        int r = registers[i];
        uint8_t value = (uint8_t)noise();
        char name[16];
        switch_on(NULL);
        random_state = (uint64_t)(repeat + 16 * cycle + 4096 * r);
        begin_line(10);
        randomise();
        if (r != 0x01) m.vblank = 0;
        old = new = m;
        oracle_apply(&new, r, value, 3 * cycle);
        at(10, cycle);
        assert_false(poke(r, value));
        snprintf(name, sizeof name, "$%02X@%d", r, cycle);
        check_two_lines(&old, &new, 3 * cycle + oracle_delay(r, cycle) - 68, 10, name, value);
      }
    }
  }
}

static void test_tia_a_write_late_in_the_line_shows_from_the_next_one_on(void **state) {
  (void)state;
  m.grp[0] = 0xFF;
  m.colu[PLAYER_0] = 0x1E;
  at(5, 75); /* clock 225 and eight of delay: clock 5 of the next line */
  poke(NUSIZ0, 7);
  draw_to(7);
  assert_int_equal(row(5)[8], 0);
  assert_int_equal(row(6)[8], 0x1E);
}

static void test_tia_mirror_bit_waits_for_the_next_line_in_the_right_half(void **state) {
  (void)state;
  for (int cycle = 0; cycle < 76; cycle++) {
    switch_on(NULL);
    at(3, cycle);
    poke(CTRLPF, 1);
    assert_int_equal(m.pf_mirrored, 3 * cycle < 68 + 79);
    draw_to(5);
    assert_int_equal(m.pf_mirrored, 1);
  }
}

/* RESP0 hides the first copy to the end of the line: at clock 0 that is the line before. */
static void test_tia_a_write_at_clock_0_still_belongs_to_the_line_before(void **state) {
  (void)state;
  for (int cycle = 0; cycle < 2; cycle++) {
    switch_on(NULL);
    m.grp[0] = 0xFF;
    m.pos[O_P0] = 80;
    m.colu[PLAYER_0] = 0x1E;
    at(4, cycle);
    poke(RESP0, 0);
    draw_to(6);
    assert_int_equal(row(3)[80], 0x1E);
    assert_int_equal(row(4)[3], cycle ? 0 : 0x1E);
    assert_int_equal(row(5)[3], 0x1E);
  }
}

static void test_tia_colours_lose_bit_0(void **state) {
  (void)state;
  for (int r = COLUP0; r <= COLUBK; r++) poke(r, 0xFF);
  for (int i = 0; i < 4; i++) assert_int_equal(m.colu[i], 0xFE);
}

static void test_tia_vdel_shadows_latch_on_the_other_players_write(void **state) {
  (void)state;
  poke(GRP0, 0x11);
  assert_int_equal(m.grp_old[0], 0x00);
  poke(GRP1, 0x22); /* latches GRP0 and ENABL */
  assert_int_equal(m.grp_old[0], 0x11);
  assert_int_equal(m.grp_old[1], 0x00);
  poke(GRP0, 0x33); /* latches GRP1 */
  assert_int_equal(m.grp_old[1], 0x22);
  assert_int_equal(m.grp_old[0], 0x11);
  poke(ENABL, 0xFF);
  assert_int_equal(m.enabl_old, 0);
  poke(GRP0, 0x44);
  assert_int_equal(m.enabl_old, 0);
  poke(GRP1, 0x55);
  assert_int_equal(m.enabl_old, 2);
}

static void test_tia_registers_repeat_every_64_addresses(void **state) {
  (void)state;
  poke(0x40 + GRP0, 0x5A);
  assert_int_equal(m.grp[0], 0x5A);
  poke(0x100 + GRP0, 0xA5);
  assert_int_equal(m.grp[0], 0xA5);
}

static void test_tia_unused_addresses_and_rsync_change_nothing(void **state) {
  (void)state;
  static vcs_t before;
  begin_line(5);
  randomise();
  at(5, 40);
  peek(0);
  memcpy(&before, &m, state_size);
  for (int r = 0x2D; r < 0x40; r++) poke(r, 0xFF);
  poke(RSYNC, 0xFF);
  before.a = m.a, before.bus = m.bus, before.p = m.p, before.instructions = m.instructions; /* the CPU's */
  assert_memory_equal(&before, &m, state_size);
}

/* ---- Strobes ------------------------------------------------------------------------------------------------ */

static void test_tia_missiles_and_ball_are_put_at_the_beam_plus_four(void **state) {
  (void)state;
  static vcs_t old, new;
  for (int object = O_M0; object <= O_BL; object++) {
    for (int cycle = 0; cycle < 76; cycle++) {
      for (int repeat = 0; repeat < 6; repeat++) {
        switch_on(NULL);
        random_state = (uint64_t)(cycle * 100 + repeat * 10 + object);
        begin_line(20);
        randomise();
        m.vblank = 0;
        m.hmove_clock = -1000; /* long ago */
        old = new = m;
        new.pos[object] = (uint8_t)oracle_strobed(false, 3 * cycle);
        if (object == O_M0) new.stars_shape = 0;
        at(20, cycle);
        poke(RESM0 + object - O_M0, 0xFF);
        assert_int_equal(m.pos[object], new.pos[object]);
        check_two_lines(&old, &new, 3 * cycle + oracle_delay(RESM0 + object - O_M0, cycle) - 68, 20,
                        "RESM0/RESM1/RESBL", object);
      }
    }
  }
}

static void test_tia_players_are_put_at_the_beam_plus_five_and_skip_their_first_copy(void **state) {
  (void)state;
  static vcs_t old, new;
  int kinds[3] = {0, 0, 0};
  for (int trial = 0; trial < 12000; trial++) {
    char marks[160];
    int player = trial & 1, cycle = trial / 2 % 76, hpos = 3 * cycle;
    switch_on(NULL);
    random_state = (uint64_t)trial;
    begin_line(30);
    randomise();
    m.vblank = 0;
    int to = oracle_strobed(true, hpos);
    oracle_mark_player(m.nusiz[player], m.pos[player], marks);
    old = new = m;
    new.pos[player] = (uint8_t)to;
    new.first_copy_off[player] = marks[to] != 'D';
    int from = hpos - 68;
    if (marks[to] == 'C') from += 11; /* the copy that is being drawn is finished first */
    kinds[marks[to] == 'C' ? 2 : marks[to] == 'D']++;
    at(30, cycle);
    poke(RESP0 + player, 0);
    assert_int_equal(m.pos[player], to);
    assert_int_equal(m.first_copy_off[player], marks[to] != 'D');
    if (from > 160) continue; /* the strobe is drawn into the next line */
    check_two_lines(&old, &new, from, 30, marks[to] == 'C' ? "RESPx in a copy" : "RESPx", cycle);
  }
  assert_true(kinds[0] > 300 && kinds[1] > 300 && kinds[2] > 300);
}

static void test_tia_player_positions_spelled_out(void **state) {
  (void)state;
  static const int cases[][2] = {{0, 3}, {22, 3}, {23, 6}, {24, 9}, {40, 57}, {74, 159}, {75, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    at(1, cases[i][0]);
    poke(RESP0, 0);
    assert_int_equal(m.pos[O_P0], cases[i][1]);
    poke(RESBL, 0);
    assert_int_equal(m.pos[O_BL], cases[i][0] < 23 ? 2 : (cases[i][1] + 159) % 160);
  }
}

static void test_tia_nusiz_and_hmove_bring_the_first_copy_back(void **state) {
  (void)state;
  m.first_copy_off[0] = m.first_copy_off[1] = 1;
  poke(NUSIZ0, 0);
  assert_int_equal(m.first_copy_off[0], 0);
  assert_int_equal(m.first_copy_off[1], 1);
  poke(NUSIZ1, 0);
  assert_int_equal(m.first_copy_off[1], 0);
  m.first_copy_off[0] = m.first_copy_off[1] = 1;
  poke(HMOVE, 0);
  assert_int_equal(m.first_copy_off[0] | m.first_copy_off[1], 0);
}

static void test_tia_resmp_release_puts_the_missile_in_the_middle_of_the_player(void **state) {
  (void)state;
  static const uint8_t middle[8] = {4, 4, 4, 4, 4, 8, 4, 16};
  for (int missile = 0; missile < 2; missile++) {
    for (int nusiz = 0; nusiz < 8; nusiz++) {
      for (int pos = 0; pos < 160; pos += 53) {
        m.nusiz[missile] = (uint8_t)nusiz;
        m.pos[missile] = (uint8_t)pos;
        m.enam[missile] = 2;
        m.pos[2 + missile] = 77;
        poke(RESMP0 + missile, 2);
        assert_int_equal(m.pos[2 + missile], 77);
        assert_int_equal(m.resmp[missile], 2);
        poke(RESMP0 + missile, 2); /* holding it moves nothing */
        assert_int_equal(m.pos[2 + missile], 77);
        poke(RESMP0 + missile, 0xFD);
        assert_int_equal(m.pos[2 + missile], (pos + middle[nusiz]) % 160);
        assert_int_equal(m.resmp[missile], 0);
        m.pos[2 + missile] = 88;
        poke(RESMP0 + missile, 0); /* nor does releasing it twice */
        assert_int_equal(m.pos[2 + missile], 88);
      }
    }
  }
}

/* ---- HMOVE -------------------------------------------------------------------------------------------------- */

static void test_tia_hmove_moves_by_the_rule_at_every_cycle(void **state) {
  (void)state;
  for (int cycle = 0; cycle < 76; cycle++) {
    for (int hm = 0; hm < 16; hm++) {
      for (int start = 0; start < 160; start += 159) {
        switch_on(NULL);
        for (int i = 0; i < 5; i++) {
          m.pos[i] = (uint8_t)((start + i) % 160);
          m.hm[i] = (uint8_t)hm;
        }
        at(7, cycle);
        poke(HMOVE, 0);
        for (int i = 0; i < 5; i++)
          assert_int_equal(m.pos[i], ((start + i) % 160 + oracle_motion(cycle, hm) + 160) % 160);
      }
    }
  }
}

static void test_tia_hmove_rows_spelled_out(void **state) {
  (void)state;
  static const struct {
    int cycle;
    int8_t moved[16];
  } rows[] = {{0, {0, -1, -2, -3, -4, -5, -6, -7, 8, 7, 6, 5, 4, 3, 2, 1}},
              {3, {0, -1, -2, -3, -4, -5, -6, -7, 8, 7, 6, 5, 4, 3, 2, 1}},
              {5, {0, -1, -2, -3, -4, -5, -5, -5, 8, 7, 6, 5, 4, 3, 2, 1}},
              {12, {0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1}},
              {20, {6, 6, 6, 6, 6, 6, 6, 6, 8, 7, 6, 6, 6, 6, 6, 6}},
              {21, {0}},
              {54, {0}},
              {55, {0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0}},
              {64, {-1, -2, -3, -4, -5, -6, -7, -8, 0, 0, 0, 0, 0, 0, 0, 0}},
              {73, {-8, -9, -10, -11, -12, -13, -14, -15, 0, -1, -2, -3, -4, -5, -6, -7}},
              {75, {0, -1, -2, -3, -4, -5, -6, -7, 8, 7, 6, 5, 4, 3, 2, 1}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int hm = 0; hm < 16; hm++) {
      switch_on(NULL);
      m.pos[O_BL] = 80;
      m.hm[O_BL] = (uint8_t)hm;
      at(3, rows[i].cycle);
      poke(HMOVE, 0);
      assert_int_equal(m.pos[O_BL], 80 + rows[i].moved[hm]);
    }
  }
}

static void test_tia_hmove_blanks_eight_pixels_if_it_comes_in_time(void **state) {
  (void)state;
  for (int blanks = 0; blanks < 2; blanks++) {
    for (int cycle = 0; cycle < 76; cycle++) {
      switch_on(NULL);
      console.hmove_blanks = (uint8_t)blanks;
      m.colu[BACKGROUND] = 0x46;
      at(7, cycle);
      poke(HMOVE, 0);
      draw_to(10);
      int combed = !blanks ? -1 : cycle <= 20 ? 7 : cycle == 75 ? 8 : -1;
      for (int line = 6; line < 10; line++) {
        for (int x = 0; x < 160; x++) assert_int_equal(row(line)[x], line == combed && x < 8 ? 0 : 0x46);
      }
    }
  }
}

static void test_tia_hmove_blank_does_not_hide_collisions(void **state) {
  (void)state;
  m.grp[0] = m.grp[1] = 0xFF;
  at(7, 0);
  poke(HMOVE, 0);
  draw_to(8);
  assert_int_equal(peek(0x07), 0x80);
}

static void test_tia_hmclr_clears_all_motion(void **state) {
  (void)state;
  for (int r = HMP0; r <= HMBL; r++) poke(r, (uint8_t)(0x1F + 0x10 * r));
  for (int i = 0; i < 5; i++) assert_int_equal(m.hm[i], (1 + HMP0 + i) & 15);
  poke(HMCLR, 0);
  for (int i = 0; i < 5; i++) assert_int_equal(m.hm[i], 0);
}

static void test_tia_strobes_right_after_hmove_have_fixed_results(void **state) {
  (void)state;
  for (int object = O_M0; object <= O_BL; object++) {
    for (int since = 1; since < 30; since++) {
      for (int cycle = since; cycle < 76; cycle++) {
        int expected = oracle_strobed(false, 3 * cycle);
        for (int i = 0; i < 7; i++) {
          const int *known = oracle_after_hmove[i];
          if (known[0] == object && known[1] == since && known[2] == 3 * cycle) expected = known[3];
        }
        switch_on(NULL);
        at(2, cycle - since);
        poke(HMOVE, 0);
        at(2, cycle);
        poke(RESM0 + object - O_M0, 0);
        assert_int_equal(m.pos[object], expected);
      }
    }
  }
}

/* ---- The star field ----------------------------------------------------------------------------------------- */

static void start_stars(int cycles_after, uint8_t before, uint8_t after) {
  switch_on(NULL);
  m.pos[O_M0] = 100;
  m.enam[0] = 2;
  poke(HMM0, before);
  at(9, 0);
  poke(HMOVE, 0); /* 100 - 7 = 93 */
  at(9, cycles_after);
  poke(HMM0, after);
}

static void test_tia_stars_need_7_to_6_just_21_cycles_after_hmove(void **state) {
  (void)state;
  for (int cycles = 3; cycles < 40; cycles++) {
    start_stars(cycles, 0x70, 0x60);
    assert_int_equal(m.stars, cycles == 21);
  }
  for (int before = 0; before < 16; before++) {
    for (int after = 0; after < 16; after++) {
      start_stars(21, (uint8_t)(before << 4), (uint8_t)(after << 4));
      assert_int_equal(m.stars, before == 7 && after == 6);
    }
  }
}

static void test_tia_stars_move_and_change_shape_line_by_line(void **state) {
  (void)state;
  static const struct {
    int pos, width;
  } lines[] = {{93, 1}, {60, 2}, {60, 0}, {43, 1}, {25, 1}, {152, 2}, {152, 0}, {135, 1}, {117, 1}, {84, 2}};
  m.colu[PLAYER_0] = 0x1C;
  start_stars(21, 0x70, 0x60);
  m.colu[PLAYER_0] = 0x1C;
  draw_to(19);
  for (int i = 0; i < 10; i++) {
    for (int x = 8; x < 160; x++) {
      assert_int_equal(row(9 + i)[x], x >= lines[i].pos && x < lines[i].pos + lines[i].width ? 0x1C : 0);
    }
  }
}

static void test_tia_hmove_ends_the_stars_and_their_shape(void **state) {
  (void)state;
  for (int phase = 0; phase < 4; phase++) {
    start_stars(21, 0x70, 0x60);
    m.colu[PLAYER_0] = 0x1C;
    draw_to(10 + phase);
    at(10 + phase, 1);
    poke(HMCLR, 0);
    poke(HMOVE, 0);
    assert_int_equal(m.stars, 0);
    draw_to(12 + phase);
    for (int line = 10 + phase; line < 12 + phase; line++) {
      for (int x = 8; x < 160; x++) assert_int_equal(row(line)[x], x == m.pos[O_M0] ? 0x1C : 0);
    }
  }
}

static void test_tia_stars_widen_only_odd_widths(void **state) {
  (void)state;
  static const uint8_t widths[4] = {2, 2, 8, 8};
  for (int width = 0; width < 4; width++) {
    switch_on(NULL);
    m.enam[0] = 2;
    m.pos[O_M0] = 50;
    m.colu[PLAYER_0] = 0x1C;
    m.nusiz[0] = (uint8_t)(width << 4);
    m.stars_shape = 1;
    const uint8_t *line = drawn_line();
    for (int x = 0; x < 160; x++) assert_int_equal(line[x], x >= 50 && x < 50 + widths[width] ? 0x1C : 0);
  }
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

static void test_tia_reads_leave_undriven_bits_to_the_bus(void **state) {
  (void)state;
  for (int high = 0; high < 256; high++) { /* the last byte on the bus is the high byte of the address */
    if (high & 0x10) continue;             /* A12: the cartridge */
    for (int r = 0; r < 0x80; r++) {
      int driven = r % 16 == 12 || r % 16 == 13 ? 0x80 : 0;
      assert_int_equal(peek(high << 8 | r), driven | (high & 0x3F));
    }
  }
}

static void test_tia_collision_registers_show_their_pairs_and_cxclr_clears_them(void **state) {
  (void)state;
  for (int pair = 0; pair < 16; pair++) {
    if (oracle_pairs[pair][0] < 0) continue;
    switch_on(NULL);
    draw_to(12);
    for (int i = 0; i < 2; i++) { /* both objects at pixel 48 */
      switch (oracle_pairs[pair][i]) {
        case O_P0:
        case O_P1:
          m.grp[oracle_pairs[pair][i]] = 0x80;
          break;
        case O_M0:
        case O_M1:
          m.enam[oracle_pairs[pair][i] - O_M0] = 2;
          break;
        case O_BL:
          m.enabl = 2;
          break;
        default:
          m.pf[2] = 1;
          break;
      }
    }
    for (int i = 0; i < 5; i++) m.pos[i] = 48;
    at(12, 38); /* clock 114: pixels up to 45 are drawn */
    for (int r = 0; r < 8; r++) assert_int_equal(peek(r), 0);
    at(12, 39); /* 117: the beam has passed 48 */
    for (int r = 0; r < 8; r++) assert_int_equal(peek(r), r == pair / 2 ? 0x80 >> pair % 2 : 0);
    poke(CXCLR, 0);
    for (int r = 0; r < 8; r++) assert_int_equal(peek(r), 0);
    draw_to(14); /* the next line latches again */
    assert_int_equal(peek(pair / 2), 0x80 >> pair % 2);
  }
}

static void test_tia_collisions_are_latched_neither_in_vblank_nor_off_the_picture(void **state) {
  (void)state;
  m.grp[0] = m.grp[1] = 0xFF;
  console.top_line = 30;
  m.line = m.first_line = 30;
  at(29, 0);
  assert_int_equal(peek(7), 0);
  m.vblank = 2;
  at(35, 0);
  assert_int_equal(peek(7), 0);
  m.vblank = 0;
  at(36, 0);
  assert_int_equal(peek(7), 0x80);
  poke(CXCLR, 0);
  at(30 + 210, 0);
  peek(7);
  poke(CXCLR, 0);
  at(30 + 212, 0);
  assert_int_equal(peek(7), 0);
}

static void test_tia_fire_buttons_pull_their_inputs_low(void **state) {
  (void)state;
  assert_int_equal(peek(0x0C), 0x80);
  assert_int_equal(peek(0x0D), 0x80);
  m.fire[0] = 0;
  assert_int_equal(peek(0x0C), 0x00);
  assert_int_equal(peek(0x0D), 0x80);
  m.fire[1] = 0;
  assert_int_equal(peek(0x0D), 0x00);
}

static void test_tia_unconnected_pots_read_low_and_shorted_ones_high(void **state) {
  (void)state;
  m.paddle[1] = VCS_RESISTANCE_MIN;
  m.dump = 1;
  for (int i = 0; i < 4; i++) assert_int_equal(peek(8 + i), i == 1 ? 0x80 : 0);
}

static void test_tia_paddles_charge_in_19040_cycles_per_megohm(void **state) {
  (void)state;
  static const struct {
    int32_t resistance;
    uint32_t cycles; /* 1.6 R C at 1.19 MHz with 0.01 microfarad, rounded down */
  } paddles[4] = {{1000000, 19040}, {500000, 9520}, {27450, 522}, {790196, 15045}};
  for (int i = 0; i < 4; i++) m.paddle[i] = paddles[i].resistance;
  at(0, 10);
  poke(VBLANK, 0x80);
  m.cycles = 20000;
  for (int i = 0; i < 4; i++) assert_int_equal(peek(8 + i), 0); /* held to ground */
  uint32_t released = m.cycles = 1000;
  poke(VBLANK, 0x00);
  for (int i = 0; i < 4; i++) {
    m.cycles = released + paddles[i].cycles;
    assert_int_equal(peek(8 + i), 0);
    m.cycles++;
    assert_int_equal(peek(8 + i), 0x80);
  }
  m.cycles = released + 100;
  poke(VBLANK, 0x02); /* bit 7 did not fall: charging goes on from where it began */
  m.cycles = released + 523;
  assert_int_equal(peek(0x0A), 0x80);
}

static void test_tia_keypad_columns_are_pulled_by_keys_of_driven_rows(void **state) {
  (void)state;
  console.controller[0] = console.controller[1] = VCS_CONTROLLER_KEYBOARD;
  for (int port = 0; port < 2; port++) {
    for (int key = 0; key < 12; key++) {
      for (int driven = 0; driven < 16; driven++) {
        memset(m.keypad, 0, sizeof m.keypad);
        m.keypad[2 * port + key / 8] = (uint8_t)(1 << key % 8);
        m.port_a_out = (uint8_t)(port ? driven | 0xF0 : driven << 4 | 0x0F);
        int r = key / 3, column = key % 3;
        bool selected = !(driven >> r & 1);
        /* the fire column sees only the first row that is driven low */
        if (column == 2) selected = selected && (driven & ((1 << r) - 1)) == (1 << r) - 1;
        for (int c = 0; c < 3; c++) {
          int input = c == 2 ? 0x0C + port : 0x08 + 2 * port + c;
          assert_int_equal(peek(input), c == column && selected ? 0 : 0x80);
        }
      }
    }
  }
}

/* ---- Frames ------------------------------------------------------------------------------------------------- */

static void test_tia_vsync_ends_the_frame_if_it_was_held_for_a_line(void **state) {
  (void)state;
  assert_false(poke(VSYNC, 0)); /* never set */
  at(3, 0);
  assert_false(poke(VSYNC, 2));
  at(3, 75);
  assert_false(poke(VSYNC, 0)); /* one cycle short */
  at(4, 0);
  assert_true(poke(VSYNC, 0)); /* the clock of the set still counts */
  at(5, 0);
  assert_false(poke(VSYNC, 0)); /* once */
  at(6, 10);
  assert_false(poke(VSYNC, 0xFF));
  at(7, 9);
  assert_false(poke(VSYNC, 2)); /* set again: counts from here */
  at(8, 8);
  assert_false(poke(VSYNC, 0));
  at(8, 9);
  assert_true(poke(VSYNC, 0xFD));
}

static void test_tia_any_write_after_the_last_line_ends_the_frame(void **state) {
  (void)state;
  at(290, 75);
  assert_false(poke(AUDV0, 0));
  at(291, 0);
  assert_true(poke(AUDV0, 0));
  console.max_lines = 342;
  at(342, 75);
  assert_false(poke(AUDV0, 0));
  at(343, 0);
  assert_true(poke(AUDV0, 0));
}

static void test_tia_vblank_draws_black(void **state) {
  (void)state;
  m.colu[BACKGROUND] = 0x46;
  at(3, 30); /* clock 90, one clock of delay: pixels from 23 on */
  poke(VBLANK, 2);
  draw_to(5);
  for (int x = 0; x < 160; x++) assert_int_equal(row(3)[x], x < 23 ? 0x46 : 0);
  for (int x = 0; x < 160; x++) assert_int_equal(row(4)[x], 0);
}

static void test_tia_time_may_wrap_in_an_endless_frame(void **state) {
  (void)state;
  static const uint32_t late[] = {0x2AAAAAA0u, 0x2AAAAAAAu, 0x2AAAAAABu, 0x2AAAAB00u,
                                  0x40000000u, 0x55555540u, 0x55555560u, 0xFFFFFFF0u};
  for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
    for (int r = 0; r < 64; r++) {
      switch_on(NULL);
      m.frame_clock = -100;
      m.cycles = late[i];
      poke(r, 0xFF);
      peek(r);
      for (int k = 0; k < 5; k++) assert_in_range(m.pos[k], 0, 159);
    }
  }
}

/* ---- Programs of writes ------------------------------------------------------------------------------------- */

/* A program of some hundred writes, run in one go by the machine and followed by the oracle as it is made. Values are
 * written again, registers read, lines waited for. A kernel is a program as games have them: lines that look like the
 * one above, objects that are off most of the time and written in mid-line, latches that are set already. It ends with
 * a jam in mid-picture. Returns how many cycles it takes.
 */
static int make_program(oracle_tv_t *tv, bool kernel) {
  static const uint8_t often[] = {RESP0, RESP0 + 1, RESM0, RESM0 + 1, RESBL, HMOVE, GRP0, GRP1, CTRLPF, NUSIZ0, NUSIZ1};
  static const uint8_t kernels[] = {GRP0,      GRP1,      GRP0,   GRP1,   PF1 - 1, PF1,    PF1 + 1, PF1,
                                    ENABL,     ENABL - 1, COLUP0, COLUBK, COLUPF,  COLUP1, HMOVE,   CTRLPF,
                                    ENABL - 2, RESP0,     0x0B,   0x0C,   0x25,    0x26,   0x27,    GRP0,
                                    GRP1,      PF1,       AUDV0,  RESMP0, HMP0,    CXCLR};
  static const uint8_t plain[] = {0, 0, 0, 0, 0x18, 0x81, 0xFF, 0x02, 0x0A, 0x10};
  uint8_t a = 0;
  int cycles = 0, n = 0;
  int length = 200 + pick(0xD80); /* bytes */
  memset(tv, 0, sizeof *tv);
  memset(tv->picture, 0xEE, sizeof tv->picture);
  while (n < length && cycles < 76 * 180) {
    int r = pick(3) ? pick(0x2D) : often[pick(sizeof often)];
    int kind = pick(16);
    if (kernel) {
      if (pick(20)) r = kernels[pick(sizeof kernels)];
      if (pick(5) == 0) kind = 0;
    }
    if (r == VSYNC || r == WSYNC) r = COLUBK;
    if (r == VBLANK && pick(4)) r = GRP0;
    if (kind == 0) { /* STA WSYNC */
      rom[n++] = 0x85, rom[n++] = WSYNC;
      cycles += 3;
      oracle_draw(tv, 3 * cycles);
      cycles += (76 - cycles % 76) % 76;
      continue;
    }
    if (kind == 1) { /* LDA a collision */
      r %= 8;
      rom[n++] = 0xA5, rom[n++] = (uint8_t)r;
      cycles += 3;
      oracle_draw(tv, 3 * cycles);
      unsigned pair = tv->t.collisions >> 2 * r;
      a = (uint8_t)((pair & 1) << 7 | (pair & 2) << 5 | r);
      continue;
    }
    if (kind == 2 && pick(4) == 0) { /* the star field: HMM0 from 7 to 6, 21 cycles after HMOVE */
      static const uint8_t stars[] = {0xA9, 0x70, 0x85, HMM0, 0x85, HMOVE, 0xEA, 0xEA, 0xEA,
                                      0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xA9,  0x60, 0x85, HMM0};
      memcpy(rom + n, stars, sizeof stars);
      n += (int)sizeof stars;
      oracle_tia_write(tv, cycles + 5, HMM0, 0x70);
      oracle_tia_write(tv, cycles + 8, HMOVE, 0x70);
      oracle_tia_write(tv, cycles + 29, HMM0, a = 0x60);
      cycles += 29;
      continue;
    }
    if (kind == 2) { /* NOP */
      rom[n++] = 0xEA;
      cycles += 2;
    }
    if (kind < 12) { /* LDA #; every now and then what the accumulator holds is written again */
      a = kernel ? plain[pick(sizeof plain)] : (uint8_t)noise();
      if (r == VBLANK) a &= pick(3) ? 0xFD : 0xFF;
      rom[n++] = 0xA9, rom[n++] = a;
      cycles += 2;
    }
    if (r == VBLANK && a & 2 && pick(2)) continue; /* not blanked for long */
    rom[n++] = 0x85, rom[n++] = (uint8_t)r;
    cycles += 3;
    oracle_tia_write(tv, cycles, r, a);
  }
  if (pick(2)) { /* LDA CXM0P draws up to here; without it the last write did */
    rom[n++] = 0xA5, rom[n++] = 0x00;
    cycles += 3;
    oracle_draw(tv, 3 * cycles);
  }
  rom[n] = 0x02; /* JAM */
  return cycles + 2;
}

/* The same program again, one instruction at a time: nothing but the machine itself goes from one to the next. */
static void check_stepped(const vcs_t *expected) {
  static uint8_t picture[VCS_FRAME_BYTES];
  vcs_step_t step = {0};
  memcpy(picture, vcs_picture(expected, frames), sizeof picture);
  memset(frames, 0xEE, sizeof frames);
  memcpy(&m, &fresh, state_size);
  m.pc = 0xF000;
  vcs_frame_begin(&console, &m);
  while (!m.jammed) vcs_step(&console, &m, frames, &step);
  vcs_frame_end(&console, &m, frames);
  assert_memory_equal(&m, expected, state_size);
  assert_memory_equal(vcs_picture(&m, frames), picture, 160 * ORACLE_LINES);
}

static void test_tia_programs_of_writes_draw_what_the_oracle_draws(void **state) {
  (void)state;
  static oracle_tv_t tv;
  static vcs_t drawn;
  for (int number = 0; number < 3000; number++) {
    switch_on(NULL);
    random_state = (uint64_t)number;
    int lines = make_program(&tv, number & 1) / 76;
    for (int line = lines; line < ORACLE_LINES; line++) { /* the frame stops in this line: grey from here on */
      for (int x = 0; x < 160; x++) tv.picture[line][x] = tv.picture[line][x] % 16 / 2;
    }
    m.pc = 0xF000;
    console.code = vcs_decode_image(&console, code_of_rom);
    vcs_frame(&console, &m, frames);
    assert_int_equal(m.jammed, 1);
    for (int line = 0; line < ORACLE_LINES; line++) {
      const uint8_t *ours = vcs_picture(&m, frames) + 160 * line;
      if (memcmp(ours, tv.picture[line], 160) == 0) continue;
      int x = 0;
      while (ours[x] == tv.picture[line][x]) x++;
      fail_msg("program %d of %d lines, line %d, pixel %d: %02X, not %02X", number, lines, line, x, ours[x],
               tv.picture[line][x]);
    }
    assert_int_equal(m.collisions, tv.t.collisions);
    assert_memory_equal(m.pos, tv.t.pos, 5);
    assert_memory_equal(m.hm, tv.t.hm, 5);

    memcpy(&drawn, &m, state_size); /* the same without drawing */
    memcpy(&m, &fresh, state_size);
    m.pc = 0xF000;
    vcs_frame(&console, &m, NULL);
    assert_memory_equal(&m, &drawn, state_size);
    if (number % 10 < 2) check_stepped(&drawn);
  }
}

/* A program on a whole machine. */
typedef struct {
  vcs_cart_t *cart;
  vcs_t *m;
  uint8_t *frames;
} machine_t;

static machine_t run(const uint8_t *code, size_t size, vcs_format_t format) {
  machine_t t;
  vcs_error_t error;
  uint8_t image[4096];
  vcs_cart_options_t options = {.profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_4K, .format = format};
  memset(image, 0xEA, sizeof image);
  memcpy(image, code, size);
  for (int i = 0xFFA; i < 0x1000; i += 2) image[i] = 0x00, image[i + 1] = 0xF0;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &t.cart, &error), VCS_OK);
  t.m = malloc(vcs_state_size(t.cart));
  t.frames = malloc(2 * VCS_FRAME_BYTES);
  assert_true(t.m && t.frames);
  vcs_boot(t.cart, t.m, t.frames);
  return t;
}

static void stop(machine_t *t) {
  vcs_cart_free(t->cart);
  free(t->m);
  free(t->frames);
}

/* VSYNC for three lines, then `lines` (up to 255) of WSYNC, for ever; COLUBK $0E. */
static machine_t run_lines(uint8_t lines, vcs_format_t format) {
  uint8_t code[] = {0xA9, 0x0F, 0x85, 0x09,                                      /* LDA #$0F, STA COLUBK */
                    0xA9, 0x02, 0x85, 0x00, 0x85, 0x02,  0x85, 0x02, 0x85, 0x02, /* VSYNC, three lines */
                    0xA9, 0x00, 0x85, 0x00, 0xA2, lines,                         /* end, LDX #lines */
                    0x85, 0x02, 0xCA, 0xD0, 0xFB, 0x4C,  0x00, 0xF0};            /* STA WSYNC, DEX, BNE, JMP */
  return run(code, sizeof code, format);
}

static void test_tia_a_frame_has_the_lines_from_vsync_to_vsync(void **state) {
  (void)state;
  for (int lines = 200; lines < 256; lines += 11) {
    machine_t t = run_lines((uint8_t)lines, VCS_FORMAT_NTSC);
    for (int i = 0; i < 3; i++) vcs_frame(t.cart, t.m, t.frames);
    assert_int_equal(t.m->scanlines, lines + 3);
    assert_int_equal(t.m->frames, 3);
    stop(&t);
  }
}

static void test_tia_pal_loses_its_colour_after_a_frame_of_odd_lines(void **state) {
  (void)state;
  for (int lines = 240; lines < 244; lines++) {
    for (int pal = 0; pal < 2; pal++) {
      machine_t t = run_lines((uint8_t)lines, pal ? VCS_FORMAT_PAL : VCS_FORMAT_NTSC);
      for (int i = 0; i < 4; i++) vcs_frame(t.cart, t.m, t.frames);
      int odd = (lines + 3) & 1;
      assert_int_equal(t.m->colu[BACKGROUND], 0x0E | (pal && odd));
      assert_int_equal(vcs_picture(t.m, t.frames)[160 * 100], 0x0E | (pal && odd));
      t.m->scanlines++; /* registers that are not written follow at the next frame */
      vcs_frame_begin(t.cart, t.m);
      assert_int_equal(t.m->colu[BACKGROUND], 0x0E | (pal && !odd));
      stop(&t);
    }
  }
}

static void test_tia_a_frame_without_vsync_ends_at_the_line_limit(void **state) {
  (void)state;
  static const uint8_t code[] = {0x85, 0x02, 0x4C, 0x00, 0xF0}; /* STA WSYNC, JMP */
  for (int pal = 0; pal < 2; pal++) {
    machine_t t = run(code, sizeof code, pal ? VCS_FORMAT_PAL : VCS_FORMAT_NTSC);
    for (int i = 0; i < 3; i++) vcs_frame(t.cart, t.m, t.frames);
    assert_int_equal(t.m->partial, 0);
    assert_int_equal(t.m->scanlines, (pal ? 342 : 290) + 2); /* the write that finds out waits for its line to end */
    stop(&t);
  }
}

static void test_tia_frames_alternate_between_two_buffers(void **state) {
  (void)state;
  machine_t t = run_lines(240, VCS_FORMAT_NTSC);
  for (int i = 0; i < 6; i++) {
    vcs_frame(t.cart, t.m, t.frames);
    assert_int_equal(t.m->front, (i + 1) & 1);
    assert_ptr_equal(vcs_picture(t.m, t.frames), t.frames + ((i + 1) & 1) * VCS_FRAME_BYTES);
  }
  stop(&t);
}

static void test_tia_a_partial_frame_is_greyed_once_from_the_beam_down(void **state) {
  (void)state;
  static const uint8_t code[] = {0xA2, 100, 0x85, 0x02, 0xCA, 0xD0, 0xFB, 0x02}; /* 100 lines of WSYNC, then a jam */
  machine_t t = run(code, sizeof code, VCS_FORMAT_NTSC);
  int top = t.cart->top_line, height = t.cart->height;
  memset(t.frames, 0x9C, 2 * VCS_FRAME_BYTES);
  vcs_frame(t.cart, t.m, t.frames);
  assert_int_equal(t.m->partial, 1);
  const uint8_t *picture = vcs_picture(t.m, t.frames);
  for (int i = 0; i < height; i++) { /* black as drawn up to the last WSYNC, in line 99; as it was; grey */
    int expected = i < 99 - top ? 0x00 : i == 99 - top ? 0x9C : 0x0C >> 1;
    assert_int_equal(picture[160 * i], expected);
    assert_int_equal(picture[160 * i + 159], expected);
  }
  assert_int_equal(picture[160 * height], 0x9C); /* below the picture nothing is touched */
  vcs_frame(t.cart, t.m, t.frames);              /* the same frame goes on: not greyed again, buffers not exchanged */
  assert_ptr_equal(vcs_picture(t.m, t.frames), picture);
  assert_int_equal(picture[160 * (100 - top)], 0x06);
  stop(&t);
}

/* Every test starts with the set switched on. */
#define TIA_TEST(name) cmocka_unit_test_setup(name, switch_on)

int main(void) {
  const struct CMUnitTest tests[] = {
      TIA_TEST(test_tia_line_agrees_with_the_oracle_on_random_pieces),
      TIA_TEST(test_tia_player_pixels_spelled_out),
      TIA_TEST(test_tia_objects_wrap_from_the_right_edge_to_the_left),
      TIA_TEST(test_tia_score_colours_show_under_priority_when_only_the_playfield_is_on),
      TIA_TEST(test_tia_writes_reach_the_picture_after_their_delays),
      TIA_TEST(test_tia_a_write_late_in_the_line_shows_from_the_next_one_on),
      TIA_TEST(test_tia_mirror_bit_waits_for_the_next_line_in_the_right_half),
      TIA_TEST(test_tia_a_write_at_clock_0_still_belongs_to_the_line_before),
      TIA_TEST(test_tia_colours_lose_bit_0),
      TIA_TEST(test_tia_vdel_shadows_latch_on_the_other_players_write),
      TIA_TEST(test_tia_registers_repeat_every_64_addresses),
      TIA_TEST(test_tia_unused_addresses_and_rsync_change_nothing),
      TIA_TEST(test_tia_missiles_and_ball_are_put_at_the_beam_plus_four),
      TIA_TEST(test_tia_players_are_put_at_the_beam_plus_five_and_skip_their_first_copy),
      TIA_TEST(test_tia_player_positions_spelled_out),
      TIA_TEST(test_tia_nusiz_and_hmove_bring_the_first_copy_back),
      TIA_TEST(test_tia_resmp_release_puts_the_missile_in_the_middle_of_the_player),
      TIA_TEST(test_tia_hmove_moves_by_the_rule_at_every_cycle),
      TIA_TEST(test_tia_hmove_rows_spelled_out),
      TIA_TEST(test_tia_hmove_blanks_eight_pixels_if_it_comes_in_time),
      TIA_TEST(test_tia_hmove_blank_does_not_hide_collisions),
      TIA_TEST(test_tia_hmclr_clears_all_motion),
      TIA_TEST(test_tia_strobes_right_after_hmove_have_fixed_results),
      TIA_TEST(test_tia_stars_need_7_to_6_just_21_cycles_after_hmove),
      TIA_TEST(test_tia_stars_move_and_change_shape_line_by_line),
      TIA_TEST(test_tia_hmove_ends_the_stars_and_their_shape),
      TIA_TEST(test_tia_stars_widen_only_odd_widths),
      TIA_TEST(test_tia_reads_leave_undriven_bits_to_the_bus),
      TIA_TEST(test_tia_collision_registers_show_their_pairs_and_cxclr_clears_them),
      TIA_TEST(test_tia_collisions_are_latched_neither_in_vblank_nor_off_the_picture),
      TIA_TEST(test_tia_fire_buttons_pull_their_inputs_low),
      TIA_TEST(test_tia_unconnected_pots_read_low_and_shorted_ones_high),
      TIA_TEST(test_tia_paddles_charge_in_19040_cycles_per_megohm),
      TIA_TEST(test_tia_keypad_columns_are_pulled_by_keys_of_driven_rows),
      TIA_TEST(test_tia_vsync_ends_the_frame_if_it_was_held_for_a_line),
      TIA_TEST(test_tia_any_write_after_the_last_line_ends_the_frame),
      TIA_TEST(test_tia_vblank_draws_black),
      TIA_TEST(test_tia_time_may_wrap_in_an_endless_frame),
      TIA_TEST(test_tia_programs_of_writes_draw_what_the_oracle_draws),
      TIA_TEST(test_tia_a_frame_has_the_lines_from_vsync_to_vsync),
      TIA_TEST(test_tia_pal_loses_its_colour_after_a_frame_of_odd_lines),
      TIA_TEST(test_tia_a_frame_without_vsync_ends_at_the_line_limit),
      TIA_TEST(test_tia_frames_alternate_between_two_buffers),
      TIA_TEST(test_tia_a_partial_frame_is_greyed_once_from_the_beam_down),
  };
  return cmocka_run_group_tests_name("tia", tests, plug_in_console, unplug);
}
