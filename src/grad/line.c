/* line.c: derivatives of the picture and of the collisions with respect to the TIA's registers.
 *
 * Between two register writes the beam draws a span; within a line that is a piece. A piece is the primitive here: with
 * the registers as they are it shows certain colours and latches certain collisions. With one register bit flipped, or
 * an object one pixel further, tia_video.h computes what it would show instead, and the difference is the link from
 * that slot to each pixel that changes and to each latch. Nothing is derived by hand, so nothing can disagree with the
 * picture: every register bit, priority, score mode, delays, copies, stretches and wrap-around come out exactly.
 *
 * A latch is an OR over the pieces since it was cleared: a piece moves it only if no earlier piece has set it. That is
 * first order, like every chain of differences: two pieces that both set a latch each see that the other would.
 *
 * Stops: pixels under the comb of HMOVE, in rows the beam did not reach, and in the greyed rest of a partial frame;
 * collisions that the time of a write would add or spare.
 */
#include <string.h>

#include "line.h"

/* ---- Pieces --------------------------------------------------------------------------------------------------- */

/* The latches of the objects that meet in the piece. */
VCS_STATIC uint16_t hits_of(const vcs_piece_t *piece, const vcs_pixels_t line[VCS_OBJECTS]) {
  uint16_t hits = 0;
  unsigned lit = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) lit |= (line[i].word[0] | line[i].word[1] | line[i].word[2] ? 1u : 0) << i;
  for (unsigned pairs = vcs_pairs(lit); pairs; pairs &= pairs - 1) {
    int latch = VCS_LOWEST(pairs);
    vcs_pair_t pair = vcs_pair((unsigned)latch);
    uint64_t met = 0;
    for (int w = piece->first_word; w <= piece->last_word; w++) {
      met |= line[pair.a].word[w] & line[pair.b].word[w] & piece->beam[w];
    }
    if (met) hits |= (uint16_t)(1u << latch);
  }
  return hits;
}

/* All collisions are latched before the piece: new ones change nothing. */
enum { ALL_LATCHED = 0xFFFF };

/* What the objects' pixels show: colours and collisions. */
VCS_STATIC void show_line(const vcs_t *t, const vcs_piece_t *piece, vcs_shown_t *shown) {
  for (int w = piece->first_word; w <= piece->last_word; w++) vcs_line_colours(t, w, shown->line, shown->colour[w]);
  bool black = t->vblank & 2;
  if (black) {
    memset(shown->index, 0, sizeof shown->index);
  } else {
    memcpy(shown->index, t->colu, sizeof shown->index);
  }
  shown->hits = black || piece->latched == ALL_LATCHED ? 0 : hits_of(piece, shown->line);
}

/* The piece as the registers have it. */
VCS_STATIC void show_piece(const vcs_t *t, vcs_piece_t *piece) {
  vcs_pixels_t *line = piece->base.line;
  line[VCS_P0] = vcs_object_pixels(t, VCS_P0);
  line[VCS_P1] = vcs_object_pixels(t, VCS_P1);
  line[VCS_M0] = vcs_object_pixels(t, VCS_M0);
  line[VCS_M1] = vcs_object_pixels(t, VCS_M1);
  line[VCS_BL] = vcs_object_pixels(t, VCS_BL);
  line[VCS_PF] = vcs_object_pixels(t, VCS_PF);
  show_line(t, piece, &piece->base);
}

VCS_STATIC void show_objects(const vcs_t *t, unsigned objects, vcs_pixels_t line[VCS_OBJECTS]) {
  for (; objects; objects &= objects - 1) {
    int i = VCS_LOWEST(objects);
    line[i] = vcs_object_pixels(t, i);
  }
}

/* The same, but for the objects in `objects`, which are made again. */
VCS_STATIC void show(const vcs_t *t, const vcs_piece_t *piece, unsigned objects, vcs_shown_t *shown) {
  for (int i = 0; i < VCS_OBJECTS; i++) shown->line[i] = piece->base.line[i];
  show_objects(t, objects, shown->line);
  show_line(t, piece, shown);
}

/* Links from a slot to what changes between two ways to show a piece. */
VCS_STATIC void link_change(const vcs_sweep_t *s, const vcs_piece_t *piece, const vcs_shown_t *is, float *slot,
                            float weight) {
  const vcs_shown_t *was = &piece->base;
  if (s->pixels) {
    float *row = s->pixels + VCS_WIDTH * piece->y;
    for (int w = piece->first_word; w <= piece->last_word; w++) {
      for (int from = 0; from < 4; from++) {
        uint64_t there = was->colour[w][from] & piece->mask[w];
        for (int to = 0; there && to < 4; to++) {
          uint64_t change = there & is->colour[w][to];
          if (was->index[from] == is->index[to]) continue;
          float by = weight * (s->scale[is->index[to]] - s->scale[was->index[from]]);
          for (; change; change &= change - 1) vcs_link(s, slot, &row[64 * w + VCS_LOWEST_64(change)], by);
        }
      }
    }
  }
  for (unsigned moved = (was->hits ^ is->hits) & ~(unsigned)piece->latched; moved; moved &= moved - 1) {
    int bit = VCS_LOWEST(moved);
    float by = weight * (was->hits >> bit & 1 ? -1.0F : 1.0F);
    vcs_link(s, slot, vcs_latch(s, bit), by);
  }
}

/* ---- Registers ------------------------------------------------------------------------------------------------ */

/* What a piece depends on: bits of registers, and the objects each of them shapes. */
typedef struct {
  uint16_t offset;
  uint8_t bits, objects;
} dependence_t;

VCS_DATA dependence_t dependences[] = {
    {VCS_OFFSET(vblank), 0x02, 0},
    {VCS_OFFSET(nusiz), 0x37, VCS_ON_P0 | VCS_ON_M0},
    {VCS_OFFSET(nusiz) + 1, 0x37, VCS_ON_P1 | VCS_ON_M1},
    {VCS_OFFSET(colu), 0xFF, 0},
    {VCS_OFFSET(colu) + 1, 0xFF, 0},
    {VCS_OFFSET(colu) + 2, 0xFF, 0},
    {VCS_OFFSET(colu) + 3, 0xFF, 0},
    {VCS_OFFSET(ctrlpf), 0x36, VCS_ON_BL},
    {VCS_OFFSET(reflect), 0x08, VCS_ON_P0},
    {VCS_OFFSET(reflect) + 1, 0x08, VCS_ON_P1},
    {VCS_OFFSET(pf), 0xF0, VCS_ON_PF},
    {VCS_OFFSET(pf) + 1, 0xFF, VCS_ON_PF},
    {VCS_OFFSET(pf) + 2, 0xFF, VCS_ON_PF},
    {VCS_OFFSET(grp), 0xFF, VCS_ON_P0},
    {VCS_OFFSET(grp) + 1, 0xFF, VCS_ON_P1},
    {VCS_OFFSET(grp_old), 0xFF, VCS_ON_P0},
    {VCS_OFFSET(grp_old) + 1, 0xFF, VCS_ON_P1},
    {VCS_OFFSET(enam), 0x02, VCS_ON_M0},
    {VCS_OFFSET(enam) + 1, 0x02, VCS_ON_M1},
    {VCS_OFFSET(enabl), 0x02, VCS_ON_BL},
    {VCS_OFFSET(enabl_old), 0x02, VCS_ON_BL},
    {VCS_OFFSET(vdelp), 0x01, VCS_ON_P0},
    {VCS_OFFSET(vdelp) + 1, 0x01, VCS_ON_P1},
    {VCS_OFFSET(vdelbl), 0x01, VCS_ON_BL},
    {VCS_OFFSET(resmp), 0x02, VCS_ON_M0},
    {VCS_OFFSET(resmp) + 1, 0x02, VCS_ON_M1},
    {VCS_OFFSET(first_copy_off), 0x01, VCS_ON_P0},
    {VCS_OFFSET(first_copy_off) + 1, 0x01, VCS_ON_P1},
    {VCS_OFFSET(pf_mirrored), 0x01, VCS_ON_PF},
};

VCS_EXTERN void vcs_piece_link(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece, size_t offset, int slot,
                               unsigned objects) {
  uint8_t *at = (uint8_t *)t + offset, byte = *at;
  vcs_shown_t is;
  *at = vcs_moved(byte, slot);
  show(t, piece, objects, &is);
  *at = byte;
  link_change(s, piece, &is, &vcs_slots(s, offset)[slot], vcs_direction(byte, slot));
}

VCS_STATIC void link_registers(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece) {
  for (size_t i = 0; i < sizeof dependences / sizeof *dependences; i++) {
    const dependence_t *d = &dependences[i];
    float *slots = vcs_slots(s, d->offset);
    if (!s->reverse && !s->live[d->offset]) continue;
    unsigned wanted = d->bits;
    if (vcs_has_carries(d->offset)) wanted |= wanted << 8;
    for (; wanted; wanted &= wanted - 1) {
      int slot = VCS_LOWEST(wanted);
      if (s->reverse || slots[slot] != 0) vcs_piece_link(s, t, piece, d->offset, slot, d->objects);
    }
    if (s->reverse) s->live[d->offset] = 1;
  }
}

/* An object one pixel to the right, and one to the left. */
VCS_STATIC void link_positions(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece) {
  vcs_shown_t is;
  for (int i = 0; i < 5; i++) {
    size_t offset = VCS_OFFSET(pos) + (size_t)i;
    float *slot = vcs_slots(s, offset);
    if (!s->reverse && *slot == 0) continue;
    vcs_sides_t sides = vcs_sides(s, vcs_tangent(s, offset));
    uint8_t pos = t->pos[i];
    if (sides.more != 0) {
      t->pos[i] = (uint8_t)((pos + sides.up) % 160);
      show(t, piece, 1u << i, &is);
      link_change(s, piece, &is, slot, sides.more);
    }
    if (sides.less != 0) {
      t->pos[i] = (uint8_t)((pos + 160 - sides.down) % 160);
      show(t, piece, 1u << i, &is);
      link_change(s, piece, &is, slot, sides.less);
    }
    t->pos[i] = pos;
    if (s->reverse) s->live[offset] = 1;
  }
}

/* What each register shapes, in the order of the machine's fields from vsync on: objects, and VCS_LOOK for how they
 * look.
 */
VCS_DATA uint8_t shapes[VCS_TIA_BYTES] = {
    0,
    VCS_LOOK,
    VCS_ON_P0 | VCS_ON_M0,
    VCS_ON_P1 | VCS_ON_M1, /* vsync, vblank, nusiz */
    VCS_LOOK,
    VCS_LOOK,
    VCS_LOOK,
    VCS_LOOK, /* colu */
    VCS_LOOK | VCS_ON_BL,
    VCS_ON_P0,
    VCS_ON_P1, /* ctrlpf, reflect */
    VCS_ON_PF,
    VCS_ON_PF,
    VCS_ON_PF, /* pf */
    VCS_ON_P0,
    VCS_ON_P1,
    VCS_ON_P0,
    VCS_ON_P1, /* grp, grp_old */
    VCS_ON_M0,
    VCS_ON_M1,
    VCS_ON_BL,
    VCS_ON_BL, /* enam, enabl, enabl_old */
    0,
    0,
    0,
    0,
    0, /* hm */
    VCS_ON_P0,
    VCS_ON_P1,
    VCS_ON_BL,
    VCS_ON_M0,
    VCS_ON_M1, /* vdelp, vdelbl, resmp */
    VCS_ON_P0,
    VCS_ON_P1,
    VCS_ON_M0,
    VCS_ON_M1,
    VCS_ON_BL, /* pos */
    VCS_ON_P0,
    VCS_ON_P1,
    VCS_ON_PF,
    0, /* first_copy_off, pf_mirrored, hmove_blank */
    0,
    0,
    VCS_ON_M0, /* stars, stars_phase, stars_shape */
};

/* Along a direction: what moves in a piece. */
enum { MOVES_MAX = 160 };
typedef struct {
  uint32_t slots[MOVES_MAX];
  float tangents[MOVES_MAX];
  int count;
} moves_t;

VCS_STATIC void find_slots(const vcs_sweep_t *s, size_t offset, unsigned wanted, moves_t *moves) {
  const float *slots = vcs_slots(s, offset);
  if (!s->live[offset]) return;
  for (; wanted; wanted &= wanted - 1) {
    const int slot = VCS_LOWEST(wanted);
    if (slots[slot] == 0) continue;
    moves->slots[moves->count] = (uint32_t)(VCS_SLOTS * offset) + (uint32_t)slot;
    moves->tangents[moves->count++] = slots[slot];
  }
}

VCS_STATIC void find_moves(const vcs_sweep_t *s, moves_t *moves) {
  moves->count = 0;
  for (size_t i = 0; i < sizeof dependences / sizeof *dependences; i++) {
    const unsigned bits = dependences[i].bits;
    find_slots(s, dependences[i].offset, vcs_has_carries(dependences[i].offset) ? bits | bits << 8 : bits, moves);
  }
  for (size_t i = 0; i < 5; i++) find_slots(s, VCS_OFFSET(pos) + i, 1, moves);
}

/* Links a number to what the piece shows with all registers moved. False: these are not whole moves. */
VCS_STATIC bool link_moves(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece, const moves_t *moves,
                           float *number) {
  uint8_t registers[VCS_TIA_BYTES];
  unsigned objects = 0;
  bool whole = true;
  memcpy(registers, &t->vsync, VCS_TIA_BYTES);
  for (int i = 0; whole && i < moves->count; i++) {
    const size_t offset = moves->slots[i] / VCS_SLOTS;
    const int slot = (int)(moves->slots[i] % VCS_SLOTS);
    const size_t number = offset - VCS_OFFSET(vsync);
    whole = vcs_move_by(offset, slot, moves->tangents[i], registers[number], &t->vsync + number);
    objects |= shapes[number];
  }
  if (whole) {
    vcs_shown_t is;
    show(t, piece, objects & VCS_ALL_OBJECTS, &is);
    link_change(s, piece, &is, number, 1);
  }
  memcpy(&t->vsync, registers, VCS_TIA_BYTES);
  return whole;
}

/* Registers and positions together, walking forwards: as one column, which is kept. False: each by itself. */
VCS_STATIC bool move_forwards(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece) {
  moves_t moves;
  float one = 1;
  if (s->rule != VCS_SIDE_TANGENT) return false;
  find_moves(s, &moves);
  if (moves.count < 2 || !link_moves(s, t, piece, &moves, &one)) return false;
  for (int i = 0; s->directional && i < moves.count; i++) {
    vcs_keep_move(s, t->line, moves.slots[i], moves.tangents[i]);
  }
  return true;
}

/* The transpose: what did not move has its links, what did move shares the column. */
VCS_STATIC void move_backwards(const vcs_sweep_t *s, vcs_t *t, const vcs_piece_t *piece) {
  moves_t moves;
  float adjoints[MOVES_MAX], sum = 0;
  int32_t count;
  const vcs_kept_move_t *kept = vcs_kept_moves(s, t->line, &count);
  for (int32_t i = 0; i < count; i++) {
    moves.slots[i] = kept[i].slot;
    moves.tangents[i] = kept[i].value;
    adjoints[i] = s->state[kept[i].slot];
  }
  moves.count = count;
  link_registers(s, t, piece);
  link_positions(s, t, piece);
  if (!count) return;
  link_moves(s, t, piece, &moves, &sum);
  for (int32_t i = 0; i < count; i++) {
    s->state[moves.slots[i]] = adjoints[i] + sum / ((float)count * moves.tangents[i]);
    s->live[moves.slots[i] / VCS_SLOTS] = 1;
  }
}

/* ---- Pieces and spans ----------------------------------------------------------------------------------------- */

/* The pixels [x0, x1) of t's line. What the comb covers is black whatever the registers say, and rows below the picture
 * (after a reset in the middle of a frame it is drawn too low) are not looked at, but collisions happen there. False if
 * there are none. */
VCS_STATIC bool lay_piece(const vcs_sweep_t *s, const vcs_t *t, int x0, int x1, uint16_t latched, vcs_piece_t *piece) {
  piece->y = t->line - t->first_line;
  piece->latched = latched;
  if (piece->y < 0 || piece->y >= VCS_ROWS_MAX || x1 <= x0) return false;
  vcs_comb_t comb = s->tape->comb[piece->y];
  piece->x0 = x0;
  piece->x1 = x1;
  piece->first_word = x0 >> 6;
  piece->last_word = (x1 - 1) >> 6;
  for (int w = piece->first_word; w <= piece->last_word; w++) {
    int from = x0 > 64 * w ? x0 - 64 * w : 0, to = x1 < 64 * w + 64 ? x1 - 64 * w : 64;
    piece->beam[w] = (~0ULL >> (64 - (to - from))) << from;
    piece->mask[w] = piece->y < s->cart->height ? piece->beam[w] : 0;
    if (w == 0 && comb.to) piece->mask[w] &= ~(0xFFULL >> comb.from << comb.from);
  }
  return true;
}

VCS_STATIC bool any_pixel(const vcs_sweep_t *s, const vcs_piece_t *piece) {
  if (!s->pixels || !s->lit[piece->y]) return false;
  const float *row = s->pixels + VCS_WIDTH * piece->y;
  for (int w = piece->first_word; w <= piece->last_word; w++) {
    for (uint64_t mask = piece->mask[w]; mask; mask &= mask - 1) {
      if (row[64 * w + VCS_LOWEST_64(mask)] != 0) return true;
    }
  }
  return false;
}

VCS_STATIC bool any_latch(const vcs_sweep_t *s) {
  return s->live[VCS_OFFSET(collisions)] || s->live[VCS_OFFSET(collisions) + 1];
}

VCS_STATIC bool any_register(const vcs_sweep_t *s) {
  for (size_t i = VCS_OFFSET(vsync); i < VCS_OFFSET(dump); i++) {
    if (s->live[i]) return true;
  }
  return false;
}

/* Latches that a piece sets do not depend on what they were before it. */
VCS_STATIC void forget_latches(const vcs_sweep_t *s, uint16_t hits) {
  for (unsigned set = hits; set; set &= set - 1) *vcs_latch(s, VCS_LOWEST(set)) = 0;
}

/* The links of one piece, the registers in t. Returns the collisions it hits. */
VCS_STATIC uint16_t link_piece(vcs_sweep_t *s, vcs_t *t, int x0, int x1, uint16_t latched) {
  vcs_piece_t piece;
  if (!lay_piece(s, t, x0, x1, latched, &piece)) return 0;
  if (s->reverse && !any_latch(s) && !any_pixel(s, &piece)) return 0;
  show_piece(t, &piece);
  if (s->reverse) {
    move_backwards(s, t, &piece);
    forget_latches(s, piece.base.hits);
  } else {
    forget_latches(s, piece.base.hits);
    if (!move_forwards(s, t, &piece)) {
      link_registers(s, t, &piece);
      link_positions(s, t, &piece);
    }
  }
  if (!s->reverse) s->live[VCS_OFFSET(collisions)] = s->live[VCS_OFFSET(collisions) + 1] = 1;
  return piece.base.hits;
}

VCS_STATIC uint16_t piece_hits(const vcs_sweep_t *s, const vcs_t *t, int x0, int x1) {
  vcs_piece_t piece;
  if (!lay_piece(s, t, x0, x1, 0, &piece)) return 0;
  show_piece(t, &piece);
  return piece.base.hits;
}

/* Registers of t that hold for one line only, at the beginning of the next one. */
VCS_STATIC void next_line(vcs_t *t) {
  vcs_video_t undrawn;
  undrawn.split = undrawn.stale = undrawn.changed = 0;
  vcs_tia_end_line(t, &undrawn);
}

/* forward: first_copy_off = 0; pf_mirrored = ctrlpf & 1 */
VCS_STATIC void link_line_end(const vcs_sweep_t *s) {
  size_t mirrored = VCS_OFFSET(pf_mirrored), ctrlpf = VCS_OFFSET(ctrlpf);
  float *out = vcs_slots(s, mirrored), *in = vcs_slots(s, ctrlpf);
  for (size_t p = 0; p < 2; p++) {
    *vcs_slots(s, VCS_OFFSET(first_copy_off) + p) = 0;
    s->live[VCS_OFFSET(first_copy_off) + p] = 0;
  }
  if (s->reverse) {
    if (!s->live[mirrored]) return;
    in[0] += out[0];
    out[0] = 0;
    s->live[mirrored] = 0;
    s->live[ctrlpf] = 1;
  } else {
    out[0] = in[0];
    s->live[mirrored] = s->live[ctrlpf];
  }
}

VCS_EXTERN void vcs_sweep_tia(vcs_sweep_t *s, const vcs_event_t *event, int32_t clock) {
  vcs_t *t = s->scratch;
  vcs_event_put_tia(event, t);
  t->first_line = s->tape->start->first_line;
  t->line = event->line;
  if (VCS_LINE_CLOCKS * (t->line + 1) > clock) return;
  next_line(t);
  if (!t->stars) t->line = clock / VCS_LINE_CLOCKS; /* the ends of further lines change nothing */
  while (VCS_LINE_CLOCKS * (t->line + 1) <= clock) next_line(t);
}

/* The pixels of clocks [from, to) that lie in a line. */
typedef struct {
  int x0, x1;
} stretch_t;

VCS_STATIC stretch_t stretch_of(int32_t line, int32_t from, int32_t to) {
  int32_t left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
  stretch_t at = {from > left ? from - left : 0, to - left < VCS_WIDTH ? to - left : VCS_WIDTH};
  return at;
}

/* The collisions at the beginning of every event's span. */
VCS_STATIC void find_latched(vcs_sweep_t *s) {
  uint16_t latched = s->tape->start->collisions;
  for (int32_t i = 0; i < s->tape->event_count; i++) {
    const vcs_event_t *event = &s->tape->events[i];
    s->latched[i] = latched;
    if (event->to > event->from) {
      vcs_sweep_tia(s, event, event->from);
      for (vcs_t *t = s->scratch; VCS_LINE_CLOCKS * t->line < event->to; next_line(t)) {
        stretch_t at = stretch_of(t->line, event->from, event->to);
        latched |= piece_hits(s, t, at.x0, at.x1);
      }
    }
    if (event->reg == VCS_CXCLR) latched = 0;
  }
  s->have_latched = true;
}

/* Whether a span can matter: backwards, if a pixel of its rows or a latch has an adjoint; forwards, if a register or a
 * latch has a tangent. */
VCS_STATIC bool span_matters(const vcs_sweep_t *s, const vcs_event_t *event) {
  if (any_latch(s)) return true;
  if (!s->reverse) return any_register(s);
  if (!s->pixels || event->to <= s->lit_from) return false;
  int32_t first = event->from / VCS_LINE_CLOCKS - s->tape->start->first_line;
  int32_t last = (event->to - 1) / VCS_LINE_CLOCKS - s->tape->start->first_line;
  for (int32_t y = first < 0 ? 0 : first; y <= last && y < VCS_ROWS_MAX; y++) {
    if (s->lit[y]) return true;
  }
  return false;
}

/* Backwards, each line is reached again from the span's first. */
VCS_STATIC void span_backwards(vcs_sweep_t *s, const vcs_event_t *event, uint16_t latched, bool begins_line) {
  vcs_t *t = s->scratch;
  int32_t first = event->from / VCS_LINE_CLOCKS, last = (event->to - 1) / VCS_LINE_CLOCKS;
  for (int32_t line = last; line >= first; line--) {
    vcs_sweep_tia(s, event, event->from);
    uint16_t before = latched;
    for (int32_t l = first; l < line; l++) {
      stretch_t at = stretch_of(l, event->from, event->to);
      before |= piece_hits(s, t, at.x0, at.x1);
      next_line(t);
    }
    stretch_t at = stretch_of(line, event->from, event->to);
    link_piece(s, t, at.x0, at.x1, before);
    if (line > first || begins_line) link_line_end(s);
  }
}

/* Adjoints of a piece's pixels, from lines that look alike. */
VCS_STATIC void sum_piece(vcs_sweep_t *s, vcs_t *t, stretch_t at, const float *adjoints) {
  vcs_piece_t piece;
  if (!lay_piece(s, t, at.x0, at.x1, ALL_LATCHED, &piece)) return;
  show_piece(t, &piece);
  if (vcs_line_sums(s, t, &piece, adjoints)) return;
  float *pixels = s->pixels; /* line.c finds the row by itself */
  float *row = pixels + VCS_WIDTH * piece.y, kept[VCS_WIDTH];
  memcpy(kept, row, sizeof kept);
  memcpy(row, adjoints, sizeof kept);
  link_registers(s, t, &piece);
  link_positions(s, t, &piece);
  memcpy(row, kept, sizeof kept);
}

/* Backwards and without collisions lines can be added up: those in the middle of a span mostly look alike. Each line
 * but the first begins within the span, so the adjoints of what begins with a line end there, whichever line it was. */
VCS_STATIC void lines_backwards(vcs_sweep_t *s, const vcs_event_t *event, bool begins_line) {
  vcs_t *t = s->scratch;
  int32_t first = event->from / VCS_LINE_CLOCKS, last = (event->to - 1) / VCS_LINE_CLOCKS, top = t->first_line;
  stretch_t beginning = stretch_of(first, event->from, event->to);
  if (last > first) {
    float sum[VCS_WIDTH];
    uint8_t tia[VCS_TIA_BYTES];
    stretch_t like = {0, 0};
    int32_t lines = 0, like_line = 0;
    bool like_comb = false;
    for (int32_t line = first + 1; line <= last; line++) {
      next_line(t);
      int32_t y = line - top;
      if (y < 0 || y >= VCS_ROWS_MAX || !s->lit[y]) continue;
      stretch_t at = stretch_of(line, event->from, event->to);
      bool comb = s->tape->comb[y].to != 0;
      const float *row = s->pixels + VCS_WIDTH * y;
      bool alike = lines && at.x0 == like.x0 && at.x1 == like.x1 && !comb && !like_comb && vcs_same_tia(tia, &t->vsync);
      if (alike) {
        for (int x = 0; x < VCS_WIDTH; x++) sum[x] += row[x];
        lines++;
        continue;
      }
      if (lines) { /* what has been added up so far is shown by the registers that were kept */
        uint8_t now[VCS_TIA_BYTES];
        memcpy(now, &t->vsync, VCS_TIA_BYTES);
        memcpy(&t->vsync, tia, VCS_TIA_BYTES);
        t->line = like_line;
        sum_piece(s, t, like, sum);
        memcpy(&t->vsync, now, VCS_TIA_BYTES);
        t->line = line;
      }
      memcpy(sum, row, sizeof sum);
      memcpy(tia, &t->vsync, VCS_TIA_BYTES);
      like = at;
      like_line = line;
      like_comb = comb;
      lines = 1;
    }
    if (lines) {
      memcpy(&t->vsync, tia, VCS_TIA_BYTES);
      t->line = like_line;
      sum_piece(s, t, like, sum);
    }
    link_line_end(s);
    vcs_sweep_tia(s, event, event->from);
  }
  int32_t y = first - top;
  if (y >= 0 && y < VCS_ROWS_MAX && s->lit[y]) sum_piece(s, t, beginning, s->pixels + VCS_WIDTH * y);
  if (begins_line) link_line_end(s);
}

/* Lines end within a span at every multiple of VCS_LINE_CLOCKS in [from, to), but none does where the picture begins.
 */
VCS_EXTERN void vcs_sweep_span(vcs_sweep_t *s, const vcs_event_t *event) {
  if (event->reg == VCS_EVENT_END) s->line.known = 0; /* another walk may have another scale */
  if (event->to <= event->from) return;
  int32_t first = event->from / VCS_LINE_CLOCKS, last = (event->to - 1) / VCS_LINE_CLOCKS;
  bool begins_line = event->from % VCS_LINE_CLOCKS == 0 && event->line < first;
  if (!span_matters(s, event)) {
    if (begins_line || last > first) link_line_end(s);
    return;
  }
  bool latches = !s->reverse || any_latch(s) || vcs_lines_moved(s);
  if (latches && !s->have_latched) find_latched(s);
  uint16_t latched = latches ? s->latched[event - s->tape->events] : 0;
  vcs_t *t = s->scratch;
  vcs_sweep_tia(s, event, event->from);
  if (!s->reverse) {
    for (int32_t line = first; line <= last; line++) {
      if (line > first || begins_line) link_line_end(s);
      if (line > first) next_line(t);
      stretch_t at = stretch_of(line, event->from, event->to);
      latched |= link_piece(s, t, at.x0, at.x1, latched);
    }
    return;
  }
  if (latches) {
    span_backwards(s, event, latched, begins_line);
  } else {
    lines_backwards(s, event, begins_line);
  }
}

/* ---- Time ------------------------------------------------------------------------------------------------------- */

/* The clock up to which the picture is drawn before a write at `clock` takes effect. */
VCS_STATIC int32_t effective(const vcs_sweep_t *s, unsigned reg, int32_t clock) {
  int32_t start = VCS_LINE_CLOCKS * s->cart->top_line, stop = start + VCS_LINE_CLOCKS * s->cart->height;
  int delay = vcs_write_delay(reg);
  if (delay == VCS_DELAY_PHASE) delay = vcs_phase_delay((unsigned)clock % VCS_LINE_CLOCKS / 3 & 3);
  clock += delay;
  return clock < start ? start : clock > stop ? stop : clock;
}

/* The objects and properties of the picture that differ between the registers of t and `others`. */
VCS_STATIC unsigned differing(const vcs_t *t, const uint8_t others[VCS_TIA_BYTES]) {
  const uint8_t *these = &t->vsync;
  unsigned set = 0;
  for (int i = 0; i < VCS_TIA_BYTES; i += 4) {
    uint32_t one, other;
    memcpy(&one, these + i, 4);
    memcpy(&other, others + i, 4);
    if (one == other) continue;
    for (int k = i; k < i + 4; k++) set |= these[k] == others[k] ? 0 : shapes[k];
  }
  if (set && (t->ctrlpf & 6) == 6) set |= VCS_LOOK; /* where any object being on changes the playfield's colour */
  return set;
}

/* Exchanges the registers of t and `others`. */
VCS_STATIC void swap_registers(vcs_t *t, uint8_t others[VCS_TIA_BYTES]) {
  uint8_t kept[VCS_TIA_BYTES];
  memcpy(kept, &t->vsync, VCS_TIA_BYTES);
  memcpy(&t->vsync, others, VCS_TIA_BYTES);
  memcpy(others, kept, VCS_TIA_BYTES);
}

/* Whether any of some objects has other pixels in the piece than in `line`. */
VCS_STATIC bool objects_move(const vcs_t *t, const vcs_piece_t *piece, unsigned objects,
                             const vcs_pixels_t line[VCS_OBJECTS]) {
  uint64_t moved = 0;
  for (; objects; objects &= objects - 1) {
    const int i = VCS_LOWEST(objects);
    const vcs_pixels_t is = vcs_object_pixels(t, i);
    for (int w = piece->first_word; w <= piece->last_word; w++)
      moved |= (line[i].word[w] ^ is.word[w]) & piece->mask[w];
  }
  return moved;
}

/* Pixels [from, to), which one event's registers show and would be shown by another's. Most writes change an object
 * that is elsewhere. */
VCS_STATIC void link_between(vcs_sweep_t *s, const vcs_event_t *as, const vcs_event_t *instead, int32_t from,
                             int32_t to, float weight) {
  if (to <= from) return;
  vcs_t *t = s->scratch;
  for (int32_t line = from / VCS_LINE_CLOCKS; line <= (to - 1) / VCS_LINE_CLOCKS; line++) {
    stretch_t at = stretch_of(line, from, to);
    int32_t clock = VCS_LINE_CLOCKS * line;
    vcs_piece_t piece;
    vcs_shown_t is;
    uint8_t others[VCS_TIA_BYTES];
    if (at.x1 <= at.x0) continue;
    vcs_sweep_tia(s, as, clock);
    memcpy(others, &t->vsync, VCS_TIA_BYTES);
    vcs_sweep_tia(s, instead, clock);
    t->line = line;
    if (!lay_piece(s, t, at.x0, at.x1, ALL_LATCHED, &piece)) continue;
    if (s->reverse && !any_pixel(s, &piece)) continue;
    const unsigned differ = differing(t, others);
    show_objects(t, differ & VCS_ALL_OBJECTS, is.line);
    swap_registers(t, others);
    if (!(differ & VCS_LOOK) && !objects_move(t, &piece, differ, is.line)) continue;
    show_piece(t, &piece);
    swap_registers(t, others);
    show(t, &piece, differ & VCS_ALL_OBJECTS, &is);
    link_change(s, &piece, &is, vcs_slots(s, VCS_OFFSET(cycles)), weight);
  }
}

/* A write that happens one cycle later leaves the old registers on the screen for some clocks more; one that happens
 * earlier shows the new ones sooner. */
VCS_EXTERN void vcs_sweep_shift(vcs_sweep_t *s, int32_t index) {
  const vcs_event_t *event = &s->tape->events[index], *next = event + 1;
  float *time = vcs_slots(s, VCS_OFFSET(cycles));
  if (!s->pixels || (s->reverse ? next->to <= s->lit_from : *time == 0)) return;
  if (vcs_same_tia(event->tia, next->tia)) return;
  vcs_sides_t sides = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)));
  int32_t here = event->to, later = effective(s, event->reg, event->clock + 3 * sides.up),
          sooner = effective(s, event->reg, event->clock - 3 * sides.down);
  if (later > next->to) later = next->to;
  if (sooner < event->from) sooner = event->from;
  if (sides.more != 0) link_between(s, next, event, here, later, sides.more);
  if (sides.less != 0) link_between(s, event, next, sooner, here, sides.less);
  if (s->reverse) s->live[VCS_OFFSET(cycles)] = 1;
}
