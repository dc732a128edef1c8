/* oracle_tia.h: the picture of a line, one pixel at a time.
 *
 * A second way from the TIA's registers to pixels and collisions, for test_tia.c and oracle_vcs.h. Nothing is a mask:
 * every pixel asks every object where it is, modulo 160, and then looks for the colour and for the pairs that touch. It
 * takes the registers out of a vcs_t and shares nothing else with src/core.
 *
 * The reference paints some pieces of a line four pixels at a time and may paint up to three too many; they are seen
 * only where a frame stops there. oracle_paint has the rule.
 *
 * The second half is time: when a write reaches the picture, what strobes and HMOVE do, and a television that puts it
 * all together.
 */
#ifndef ORACLE_TIA_H
#define ORACLE_TIA_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/state.h"

enum { O_P0, O_P1, O_M0, O_M1, O_BL, O_PF };

/* First pixels of the copies that NUSIZ selects, relative to the first; -1: none. */
static const int oracle_copies[8][3] = {{0, -1, -1}, {0, 16, -1}, {0, 32, -1}, {0, 16, 32},
                                        {0, 64, -1}, {0, -1, -1}, {0, 32, 64}, {0, -1, -1}};

static inline int oracle_scale(unsigned nusiz) { return nusiz % 8 == 5 ? 2 : nusiz % 8 == 7 ? 4 : 1; }

/* Which of the player's eight pixels, counted from the left, is at x; -1: none. Wide players come a pixel late. */
static inline int oracle_player_cell(const vcs_t *m, int player, int x) {
  int scale = oracle_scale(m->nusiz[player]);
  for (int copy = 0; copy < 3; copy++) {
    int offset = oracle_copies[m->nusiz[player] % 8][copy];
    if (offset < 0 || (copy == 0 && m->first_copy_off[player])) continue;
    int at = (x - m->pos[player] - offset - (scale > 1) + 3 * 160) % 160;
    if (at < 8 * scale) return at / scale;
  }
  return -1;
}

static inline uint8_t oracle_player_graphics(const vcs_t *m, int player) {
  return m->vdelp[player] ? m->grp_old[player] : m->grp[player];
}

static inline bool oracle_ball_enabled(const vcs_t *m) { return m->vdelbl ? m->enabl_old : m->enabl; }

static inline bool oracle_missile_at(const vcs_t *m, int missile, int x) {
  int width = 1 << (m->nusiz[missile] / 16 % 4);
  if (missile == 0 && m->stars_shape == 1 && width == 1) width = 2; /* the star field: twice as wide, ... */
  if (missile == 0 && m->stars_shape == 1 && width == 4) width = 8;
  if (missile == 0 && m->stars_shape == 2) return false; /* ... or not there */
  for (int copy = 0; copy < 3; copy++) {
    int offset = oracle_copies[m->nusiz[missile] % 8][copy];
    if (offset >= 0 && (x - m->pos[O_M0 + missile] - offset + 3 * 160) % 160 < width) return true;
  }
  return false;
}

static inline bool oracle_playfield_at(const vcs_t *m, int x) {
  int cell = x / 4;
  if (cell >= 20) cell = m->pf_mirrored ? 39 - cell : cell - 20;
  if (cell < 4) return m->pf[0] >> (4 + cell) & 1;   /* PF0: bits 4 to 7 */
  if (cell < 12) return m->pf[1] >> (11 - cell) & 1; /* PF1: bits 7 to 0 */
  return m->pf[2] >> (cell - 12) & 1;                /* PF2: bits 0 to 7 */
}

/* Objects that are switched on and have something to show, wherever they are. */
static inline bool oracle_enabled(const vcs_t *m, int object) {
  switch (object) {
    case O_P0:
    case O_P1:
      return oracle_player_graphics(m, object) != 0;
    case O_M0:
    case O_M1:
      return m->enam[object - O_M0] && !m->resmp[object - O_M0];
    case O_BL:
      return oracle_ball_enabled(m);
    default:
      return m->pf[0] / 16 || m->pf[1] || m->pf[2];
  }
}

static inline bool oracle_lit(const vcs_t *m, int object, int x) {
  if (!oracle_enabled(m, object)) return false;
  if (object == O_P0 || object == O_P1) {
    int cell = oracle_player_cell(m, object, x);
    if (cell < 0) return false;
    return oracle_player_graphics(m, object) >> (m->reflect[object] ? cell : 7 - cell) & 1;
  }
  if (object == O_M0 || object == O_M1) return oracle_missile_at(m, object - O_M0, x);
  if (object == O_BL) return (x - m->pos[O_BL] + 160) % 160 < 1 << (m->ctrlpf / 16 % 4);
  return oracle_playfield_at(m, x);
}

static inline bool oracle_only(const vcs_t *m, int object) {
  for (int i = 0; i < 6; i++) {
    if (oracle_enabled(m, i) != (i == object)) return false;
  }
  return true;
}

/* The colour at x: m->colu[] is background, playfield, player 0, player 1. */
static inline uint8_t oracle_colour(const vcs_t *m, int x) {
  bool lit[6];
  for (int i = 0; i < 6; i++) lit[i] = oracle_lit(m, i, x);
  bool first = lit[O_P0] || lit[O_M0], second = lit[O_P1] || lit[O_M1];
  bool score = m->ctrlpf & 2, ahead = m->ctrlpf & 4;
  if (oracle_only(m, O_PF)) ahead = false; /* nothing to be ahead of: the score colours show */
  if (ahead) return m->colu[lit[O_PF] || lit[O_BL] ? 1 : first ? 2 : second ? 3 : 0];
  bool left_score = score && lit[O_PF] && x < 80, right_score = score && lit[O_PF] && x >= 80;
  if (first || left_score) return m->colu[2];
  if (second || right_score) return m->colu[3];
  return m->colu[lit[O_PF] || lit[O_BL] ? 1 : 0];
}

/* The pairs, by register: D7 then D6 of CXM0P, CXM1P, CXP0FB, CXP1FB, CXM0FB, CXM1FB, CXBLPF, CXPPMM. */
static const int oracle_pairs[16][2] = {
    {O_M0, O_P1}, {O_M0, O_P0}, {O_M1, O_P0}, {O_M1, O_P1}, {O_P0, O_PF}, {O_P0, O_BL}, {O_P1, O_PF}, {O_P1, O_BL},
    {O_M0, O_PF}, {O_M0, O_BL}, {O_M1, O_PF}, {O_M1, O_BL}, {O_BL, O_PF}, {-1, -1},     {O_P0, O_P1}, {O_M0, O_M1}};

static inline uint16_t oracle_collisions(const vcs_t *m, int x) {
  uint16_t latches = 0;
  bool lit[6];
  for (int i = 0; i < 6; i++) lit[i] = oracle_lit(m, i, x);
  for (int i = 0; i < 16; i++) {
    const int *pair = oracle_pairs[i];
    if (pair[0] >= 0 && lit[pair[0]] && lit[pair[1]]) latches |= (uint16_t)(1 << i);
  }
  return latches;
}

/* ---- Painting ----------------------------------------------------------------------------------------------- */

/* Whether the reference paints this set of enabled objects in fours where it can. */
static inline bool oracle_in_fours(const vcs_t *m) {
  static const char *const sets[] = {"P0", "P1", "P0P1", "M0", "M1", "BL", "M0M1", "M0BL", "M1BL", "P1BL", "PF"};
  static const char *const without_score[] = {"P0PF", "P1PF", "BLPF"};
  static const char names[6][3] = {"P0", "P1", "M0", "M1", "BL", "PF"};
  char set[16] = "";
  for (int i = 0; i < 6; i++) {
    if (oracle_enabled(m, i)) strcat(set, names[i]);
  }
  for (int i = 0; i < 11; i++) {
    if (strcmp(set, sets[i]) == 0) return true;
  }
  for (int i = 0; i < 3; i++) {
    if (strcmp(set, without_score[i]) == 0) return !(m->ctrlpf & 2);
  }
  return false;
}

/* No enabled object but the playfield could light one of the four pixels from x on. */
static inline bool oracle_four_empty(const vcs_t *m, int x) {
  for (int i = x; i < x + 4; i++) {
    for (int object = O_P0; object <= O_BL; object++) {
      if (!oracle_enabled(m, object)) continue;
      if (object <= O_P1 ? oracle_player_cell(m, object, i) >= 0 : oracle_lit(m, object, i)) return false;
    }
  }
  return true;
}

/* Paints [x0, x1) of a row, which has room, and gives the collisions there. */
static inline uint16_t oracle_paint(const vcs_t *m, int x0, int x1, uint8_t row[160]) {
  uint16_t latches = 0;
  if (m->vblank & 2) {
    memset(row + x0, 0, (size_t)(x1 - x0));
    return 0;
  }
  bool fours = oracle_in_fours(m);
  for (int x = x0; x < x1;) {
    int step = fours && x % 4 == 0 && oracle_four_empty(m, x) ? 4 : 1;
    for (int i = 0; i < step; i++) row[x + i] = oracle_colour(m, x);
    for (int i = x; i < x + step && i < x1; i++) latches |= oracle_collisions(m, i);
    x += step;
  }
  return latches;
}

/* ---- Registers and time ------------------------------------------------------------------------------------- */

/* Clocks from the bus to the picture. */
static inline int oracle_delay(int r, int cycle) {
  switch (r) {
    case 0x01: /* VBLANK */
    case 0x0B: /* REFP0, REFP1 */
    case 0x0C:
    case 0x1B: /* GRP0, GRP1 */
    case 0x1C:
      return 1;
    case 0x04: /* NUSIZ0, NUSIZ1, RESM0, RESM1 */
    case 0x05:
    case 0x12:
    case 0x13:
      return 8;
    case 0x0D: /* PF0, PF1, PF2: at the next edge of four pixels, and two clocks more */
    case 0x0E:
    case 0x0F:
      return cycle % 4 == 0 ? 4 : cycle % 4 == 1 ? 5 : cycle % 4 == 2 ? 2 : 3;
    default:
      return 0;
  }
}

/* What a write does to the registers; strobes are not here. */
static inline void oracle_apply(vcs_t *t, int r, uint8_t value, int hpos) {
  int second = r & 1;
  switch (r) {
    case 0x01:
      t->vblank = value;
      break;
    case 0x04:
    case 0x05:
      t->nusiz[second] = value;
      t->first_copy_off[second] = 0;
      if (!second) t->stars_shape = 0;
      break;
    case 0x06:
    case 0x07:
      t->colu[2 + second] = value & 0xFE;
      break;
    case 0x08:
      t->colu[1] = value & 0xFE;
      break;
    case 0x09:
      t->colu[0] = value & 0xFE;
      break;
    case 0x0A:
      t->ctrlpf = value;
      if (hpos < 147) t->pf_mirrored = value & 1;
      break;
    case 0x0B:
    case 0x0C:
      t->reflect[r - 0x0B] = value & 8;
      break;
    case 0x0D:
    case 0x0E:
    case 0x0F:
      t->pf[r - 0x0D] = value;
      break;
    case 0x1B:
      t->grp[0] = value;
      t->grp_old[1] = t->grp[1];
      break;
    case 0x1C:
      t->grp[1] = value;
      t->grp_old[0] = t->grp[0];
      t->enabl_old = t->enabl;
      break;
    case 0x1D:
    case 0x1E:
      t->enam[r - 0x1D] = value & 2;
      break;
    case 0x1F:
      t->enabl = value & 2;
      break;
    case 0x25:
    case 0x26:
      t->vdelp[r - 0x25] = value & 1;
      break;
    case 0x27:
      t->vdelbl = value & 1;
      break;
    case 0x28:
    case 0x29:
      r -= 0x28;
      if (t->resmp[r] && !(value & 2)) {
        t->pos[2 + r] = (uint8_t)((t->pos[r] + 4 * oracle_scale(t->nusiz[r])) % 160);
        if (r == 0) t->stars_shape = 0;
      }
      t->resmp[r] = value & 2;
      break;
    default:
      break;
  }
}

/* What the end of a line does. */
static inline void oracle_next_line(vcs_t *t) {
  t->pf_mirrored = t->ctrlpf & 1;
  t->first_copy_off[0] = t->first_copy_off[1] = 0;
}

/* Where a strobe at this clock of the line puts a player, or another object. */
static inline int oracle_strobed(bool player, int hpos) {
  if (hpos < 68) return player ? 3 : 2;
  return (hpos - 68 + (player ? 5 : 4)) % 160;
}

/* Marks a line with what the player does there: D in the four clocks before a copy, C during one. */
static inline void oracle_mark_player(unsigned nusiz, int pos, char line[160]) {
  memset(line, '.', 160);
  for (int copy = 0; copy < 3; copy++) {
    int offset = oracle_copies[nusiz % 8][copy];
    if (offset < 0) continue;
    for (int i = 0; i < 4; i++) line[(pos + offset + i) % 160] = 'D';
    for (int i = 0; i < 8 * oracle_scale(nusiz); i++) line[(pos + offset + 4 + i) % 160] = 'C';
  }
}

/* HMxx requests -8 (right) to 7 (left). A motion pulse comes every four clocks: of those that move left, one is lost
 * for every 4 clocks that HMOVE comes late, and beyond twelve cycles the unextended blank moves the object right. Late
 * in the line the pulses come before the next blank does, and add up to 15 to the left. */
static inline int oracle_motion(int cycle, int hm) {
  int motion = hm < 8 ? -hm : 16 - hm;
  if (cycle == 75) cycle = 0;
  if (cycle <= 20) {
    int least = (3 * cycle + 1) / 4 - 9;
    return motion < least ? least : motion;
  }
  if (cycle < 55) return 0;
  motion += 6 - (3 * (cycle - 55) + 2) / 4;
  return motion > 0 ? 0 : motion;
}

/* Cycles between HMOVE and a strobe, and the clock of the strobe in its line, where the reference knows the result:
 * object, cycles, clock, position. */
static const int oracle_after_hmove[7][4] = {{O_M0, 20, 69, 8},  {O_M1, 3, 18, 3}, {O_BL, 18, 60, 10},
                                             {O_BL, 18, 69, 10}, {O_BL, 3, 18, 3}, {O_BL, 7, 30, 6},
                                             {O_BL, 6, 27, 5}};

/* ---- A television ------------------------------------------------------------------------------------------- */

enum { ORACLE_LINES = 210, ORACLE_LINES_MOST = 320 };

typedef struct {
  vcs_t t;        /* its registers, positions and latches; nothing else of it is used */
  int top, lines; /* the first line that is shown, and how many are; 0, 0: the first ORACLE_LINES */
  bool no_comb;   /* HMOVE blanks nothing: some cartridges switch the comb off */
  int drawn;      /* clocks drawn since the frame's first line began; lines above the picture count as drawn */
  int hmove;      /* clock of the last HMOVE */
  bool comb;      /* the first eight pixels of the next line to be shown are blank */
  bool stars;
  int stars_phase;
  uint8_t picture[ORACLE_LINES_MOST][160];
} oracle_tv_t;

/* The line is over. */
static inline void oracle_end_line(oracle_tv_t *o) {
  static const int star_moves[4] = {18, 33, 0, 17}, star_shapes[4] = {0, 1, 2, 0};
  oracle_next_line(&o->t);
  if (!o->stars) return;
  o->stars_phase = (o->stars_phase + 1) % 4;
  o->t.pos[O_M0] = (uint8_t)((o->t.pos[O_M0] + 160 - star_moves[o->stars_phase]) % 160);
  o->t.stars_shape = (uint8_t)star_shapes[o->stars_phase];
}

/* An access: the picture is drawn up to it, line by line. A line is over when the first clock of the next one is drawn.
 * The comb is cut in front of the beam, and from the blank on: one that stops there has cut too much. */
static inline void oracle_draw(oracle_tv_t *o, int clock) {
  const int end = o->top + (o->lines ? o->lines : ORACLE_LINES);
  if (clock > 228 * end) clock = 228 * end;
  while (o->drawn < clock) {
    int line = o->drawn / 228, from = o->drawn % 228, to = clock - 228 * line > 228 ? 228 : clock - 228 * line;
    if (from == 0 && line > o->top) oracle_end_line(o);
    o->drawn = 228 * line + to;
    if (from < 68) from = to < 68 ? to : 68;
    if (to > from) o->t.collisions |= oracle_paint(&o->t, from - 68, to - 68, o->picture[line - o->top]);
    if (o->comb && from < 76) {
      memset(o->picture[line - o->top] + (from < 68 ? 0 : from - 68), 0, (size_t)(76 - from));
      if (to >= 76) o->comb = false;
    }
  }
}

static inline void oracle_tia_write(oracle_tv_t *o, int cycles, int r, uint8_t value) {
  int clock = 3 * cycles, hpos = clock % 228, object;
  char marks[160];
  oracle_draw(o, clock + oracle_delay(r, cycles % 76));
  switch (r) {
    case 0x10: /* RESP0, RESP1 */
    case 0x11:
      object = r - 0x10;
      oracle_mark_player(o->t.nusiz[object], o->t.pos[object], marks);
      if (marks[oracle_strobed(true, hpos)] == 'C') oracle_draw(o, clock + 11);
      o->t.pos[object] = (uint8_t)oracle_strobed(true, hpos);
      o->t.first_copy_off[object] = marks[o->t.pos[object]] != 'D';
      break;
    case 0x12: /* RESM0, RESM1, RESBL */
    case 0x13:
    case 0x14:
      object = O_M0 + r - 0x12;
      o->t.pos[object] = (uint8_t)oracle_strobed(false, hpos);
      for (int i = 0; i < 7; i++) {
        const int *known = oracle_after_hmove[i];
        if (known[0] == object && 3 * known[1] == clock - o->hmove && known[2] == hpos)
          o->t.pos[object] = (uint8_t)known[3];
      }
      if (object == O_M0) o->t.stars_shape = 0;
      break;
    case 0x22: /* HMM0 */
      if (clock - o->hmove == 63 && o->t.hm[O_M0] == 7 && value / 16 == 6) o->stars = true, o->stars_phase = 0;
      o->t.hm[O_M0] = value / 16;
      break;
    case 0x20:
    case 0x21:
    case 0x23:
    case 0x24:
      o->t.hm[r - 0x20] = value / 16;
      break;
    case 0x2A: /* HMOVE */
      if (!o->no_comb && (hpos <= 62 || hpos == 225)) o->comb = true;
      for (int i = 0; i < 5; i++)
        o->t.pos[i] = (uint8_t)((o->t.pos[i] + 160 + oracle_motion(hpos / 3, o->t.hm[i])) % 160);
      o->t.first_copy_off[0] = o->t.first_copy_off[1] = o->t.stars_shape = 0;
      o->stars = false;
      o->hmove = clock;
      break;
    case 0x2B: /* HMCLR */
      memset(o->t.hm, 0, 5);
      break;
    case 0x2C: /* CXCLR */
      o->t.collisions = 0;
      break;
    default:
      oracle_apply(&o->t, r, value, hpos);
      break;
  }
}

#endif
