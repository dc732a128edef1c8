/* ste_line.c: straight-through derivatives of the picture.
 *
 * The object that is visible at a pixel, the winner, is taken as constant. Given the winner, a pixel is linear in its
 * inputs:
 *
 *   colour     pixel = the winner's colour: the slope of the scalar along the luminance goes to that register
 *   graphics   pixel = without + bit * (with - without), "with" and "without" the object's bit being lit: the
 *              difference, times the bit's share of its byte, goes to the byte, whether the bit is set or not
 *   position   an object one pixel further lights the pixels it enters and darkens those it leaves: the same
 *              differences along its edges, one-sided, as a triangular kernel has them at an integer
 *   time       a write one cycle later leaves the pixels between as they were
 *
 * All of it is sums over masks. A mask is a few runs of pixels, and with the sums of a row's adjoints up to each pixel
 * a run is one subtraction; the masks are those of tia_video.h, computed again only when a register that shapes them
 * has changed between two events.
 *
 * Stops: NUSIZx, CTRLPF, REFPx, VDELxx, RESMPx and VBLANK as shapes and switches; collisions; the stops of line.c.
 */
#include <string.h>

#include "ste.h"

/* ---- What a register write changes ------------------------------------------------------------------------------ */

/* Objects whose lit bits, or whose places, a write may change; and whether the picture can show it at all. */
VCS_DATA struct {
  uint8_t bits, places, shows;
} effects[64] = {
    [VCS_VSYNC] = {0, 0, 0},
    [VCS_VBLANK] = {0, 0, 1},
    [VCS_WSYNC] = {0, 0, 0},
    [VCS_RSYNC] = {0, 0, 0},
    [VCS_NUSIZ0] = {0, VCS_ON_P0 | VCS_ON_M0, 1},
    [VCS_NUSIZ1] = {0, VCS_ON_P1 | VCS_ON_M1, 1},
    [VCS_COLUP0_W] = {0, 0, 1},
    [VCS_COLUP1_W] = {0, 0, 1},
    [VCS_COLUPF_W] = {0, 0, 1},
    [VCS_COLUBK_W] = {0, 0, 1},
    [VCS_CTRLPF] = {VCS_ON_PF, VCS_ON_BL, 1},
    [VCS_REFP0] = {VCS_ON_P0, 0, 1},
    [VCS_REFP1] = {VCS_ON_P1, 0, 1},
    [VCS_PF0] = {VCS_ON_PF, 0, 1},
    [VCS_PF1] = {VCS_ON_PF, 0, 1},
    [VCS_PF2] = {VCS_ON_PF, 0, 1},
    [VCS_RESP0] = {0, VCS_ON_P0, 1},
    [VCS_RESP1] = {0, VCS_ON_P1, 1},
    [VCS_RESM0] = {0, VCS_ON_M0, 1},
    [VCS_RESM1] = {0, VCS_ON_M1, 1},
    [VCS_RESBL] = {0, VCS_ON_BL, 1},
    [VCS_AUDC0] = {0, 0, 0},
    [VCS_AUDC1] = {0, 0, 0},
    [VCS_AUDF0] = {0, 0, 0},
    [VCS_AUDF1] = {0, 0, 0},
    [VCS_AUDV0] = {0, 0, 0},
    [VCS_AUDV1] = {0, 0, 0},
    [VCS_GRP0] = {VCS_ON_P0 | VCS_ON_P1, 0, 1},
    [VCS_GRP1] = {VCS_ON_P0 | VCS_ON_P1 | VCS_ON_BL, 0, 1},
    [VCS_ENAM0] = {VCS_ON_M0, 0, 1},
    [VCS_ENAM1] = {VCS_ON_M1, 0, 1},
    [VCS_ENABL] = {VCS_ON_BL, 0, 1},
    [VCS_HMP0] = {0, 0, 0},
    [VCS_HMP1] = {0, 0, 0},
    [VCS_HMM0] = {0, VCS_ON_M0, 1}, /* the star field */
    [VCS_HMM1] = {0, 0, 0},
    [VCS_HMBL] = {0, 0, 0},
    [VCS_VDELP0] = {VCS_ON_P0, 0, 1},
    [VCS_VDELP1] = {VCS_ON_P1, 0, 1},
    [VCS_VDELBL] = {VCS_ON_BL, 0, 1},
    [VCS_RESMP0] = {0, VCS_ON_M0, 1},
    [VCS_RESMP1] = {0, VCS_ON_M1, 1},
    [VCS_HMOVE] = {0, VCS_ON_MOVABLE, 1},
};

VCS_STATIC bool shows(unsigned reg) { return reg == VCS_EVENT_END || (reg < 64 && effects[reg].shows); }

/* Objects that may look different from now on. */
VCS_STATIC void touch(vcs_ste_t *ste, unsigned bits, unsigned places) {
  if (!(bits | places)) return;
  ste->masks.stale |= (uint8_t)(bits | places);
  ste->masks.coloured = 0;
  ste->could_stale |= places;
}

/* ---- The registers at an event ------------------------------------------------------------------------------------
 */

/* A line ends: what holds only to its end. */
VCS_STATIC void next_line(vcs_ste_t *ste) {
  vcs_video_t undrawn;
  undrawn.split = undrawn.stale = undrawn.changed = 0;
  vcs_tia_end_line(ste->s->scratch, &undrawn);
  if (undrawn.stale) touch(ste, undrawn.stale, undrawn.stale & VCS_ON_MOVABLE);
}

#define IN_TIA(field) (VCS_OFFSET(field) - VCS_OFFSET(vsync))

/* The TIA as an event found it, brought to a line. Walking from event to event it is often there already. */
VCS_STATIC void load(vcs_ste_t *ste, const vcs_event_t *event, int32_t line) {
  vcs_t *t = ste->s->scratch;
  if (ste->loaded != event || t->line > line) {
    const uint8_t *tia = event->tia;
    unsigned moved = (t->first_copy_off[0] != tia[IN_TIA(first_copy_off)] ? VCS_ON_P0 : 0) |
                     (t->first_copy_off[1] != tia[IN_TIA(first_copy_off) + 1] ? VCS_ON_P1 : 0) |
                     (t->pos[VCS_M0] != tia[IN_TIA(pos) + VCS_M0] ? VCS_ON_M0 : 0) |
                     (t->stars_shape != tia[IN_TIA(stars_shape)] ? VCS_ON_M0 : 0);
    touch(ste, t->pf_mirrored != tia[IN_TIA(pf_mirrored)] ? VCS_ON_PF : 0, moved);
    vcs_event_put_tia(event, t);
    t->line = event->line;
    ste->loaded = event;
  }
  if (t->line < line - 1 && !t->stars) t->line = line - 1; /* one end of a line is like many */
  while (t->line < line) next_line(ste);
}

/* ---- Words of pixels ----------------------------------------------------------------------------------------------
 */

/* The sums of a row's adjoints up to each pixel. Four at a time: only the last of them waits for those before. */
VCS_STATIC void sum_row(vcs_ste_t *ste, int32_t y) {
  if (ste->sums_of == y) return;
  ste->sums_of = y;
#if defined(__CUDACC__)
  ste->sums = ste->s->sums + (VCS_WIDTH + 1) * y;
#else
  ste->sums = ste->own_sums;
  const float *row = ste->s->pixels + VCS_WIDTH * y;
  float *sums = ste->own_sums + 1, before = 0;
  for (int x = 0; x < VCS_WIDTH; x += 4) {
    const float one = row[x], two = one + row[x + 1], third = row[x + 2], last = third + row[x + 3];
    sums[x] = before + one;
    sums[x + 1] = before + two;
    sums[x + 2] = before + (two + third);
    sums[x + 3] = before += two + last;
  }
#endif
}

/* The weights of a number's one-sided differences, each for a step of one. */
VCS_STATIC vcs_sides_t unit_sides(const vcs_sweep_t *s, float tangent) {
  vcs_sides_t sides = vcs_sides(s, tangent);
  sides.more *= (float)sides.up;
  sides.less *= (float)sides.down;
  return sides;
}

/* The scalar's slope along the luminance, in its own hue; bit 0 of a colour shows nothing. */
VCS_FN float luminance_slope(const float *scale, int index) {
  int less = index & 0x0E ? index - 2 : index, more = (index & 0x0E) < 0x0E ? index + 2 : index;
  return (scale[more] - scale[less]) / (float)(more - less);
}

VCS_FN float slope_of(const vcs_ste_t *ste, int index) {
#if defined(__CUDACC__)
  return luminance_slope(ste->s->scale, index);
#else
  return ste->slope[index];
#endif
}

/* A word of a row of the picture, within a piece. */
typedef struct {
  int32_t y;
  int x;         /* of its first pixel */
  uint64_t mask; /* the pixels that count */
} word_t;

/* The sum of the adjoints of some pixels: a difference for every run of them. */
VCS_HOT_FN float sum_of(const float *sums, uint64_t mask) {
  float sum = 0;
  while (mask) {
    const int from = VCS_LOWEST_64(mask);
    const uint64_t behind = mask + (mask & -mask);
    sum += sums[behind ? VCS_LOWEST_64(behind) : 64] - sums[from];
    mask &= behind;
  }
  return sum;
}

/* forward: the pixels of `mask` += weight * slot */
VCS_HOT_FN void link_mask(vcs_ste_t *ste, const word_t *word, uint64_t mask, float *slot, float weight, bool reverse) {
  if (!mask) return;
  if (reverse) {
    *slot += weight * sum_of(ste->sums + word->x, mask);
  } else if (*slot != 0) {
    float *pixels = ste->s->pixels + VCS_WIDTH * word->y + word->x;
    for (; mask; mask &= mask - 1) pixels[VCS_LOWEST_64(mask)] += weight * *slot;
  }
}

/* ---- Objects --------------------------------------------------------------------------------------------------------
 */

/* What an object would light with all its bits set. */
VCS_STATIC vcs_pixels_t could_light(const vcs_t *t, int object) {
  int side = object & 1;
  uint64_t k[4] = {0, 0, 0, 0};
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      vcs_place_copies(k, vcs_player_shape(0xFF, t->nusiz[side]), t->pos[object], t->nusiz[side],
                       t->first_copy_off[side]);
      break;
    case VCS_M0:
    case VCS_M1:
      if (!t->resmp[side]) vcs_place_copies(k, vcs_missile_shape(t, side), t->pos[object], t->nusiz[side], 0);
      break;
    default:
      vcs_place(k, vcs_width_shape(t->ctrlpf >> 4), t->pos[VCS_BL]);
      break;
  }
  vcs_pixels_t pixels = {{k[0] | k[2] >> 32, k[1], k[2] & 0xFFFFFFFF}};
  return pixels;
}

/* Pixels one to the right, and one to the left, in word w of a line; they go round its edges. */
VCS_STATIC uint64_t moved_right(const uint64_t line[3], int w) {
  return line[w] << 1 | (w == 0 ? line[2] >> 31 & 1 : line[w - 1] >> 63);
}
VCS_STATIC uint64_t moved_left(const uint64_t line[3], int w) {
  if (w == 2) return (line[2] & 0xFFFFFFFF) >> 1 | (line[0] & 1) << 31;
  return line[w] >> 1 | line[w + 1] << 63;
}

VCS_STATIC void refresh_word(vcs_ste_t *ste, int w) {
  vcs_masks_t *masks = &ste->masks;
  for (; masks->stale; masks->stale &= (uint8_t)(masks->stale - 1)) {
    int object = VCS_LOWEST((unsigned)masks->stale);
    const vcs_pixels_t pixels = vcs_object_pixels(ste->s->scratch, object);
    masks->line[object] = pixels;
    masks->on &= (uint8_t) ~(1 << object);
    if (pixels.word[0] | pixels.word[1] | pixels.word[2]) masks->on |= (uint8_t)(1 << object);
  }
  if (masks->coloured >> w & 1) return;
  uint64_t lit = 0, twice = 0;
  for (int object = 0; object < VCS_OBJECTS; object++) {
    twice |= lit & masks->line[object].word[w];
    lit |= masks->line[object].word[w];
  }
  masks->lit[w] = lit;
  masks->twice[w] = twice;
  vcs_line_colours(ste->s->scratch, w, masks->line, masks->colour[w]);
  masks->coloured |= (uint8_t)(1 << w);
}

VCS_STATIC void refresh_places(vcs_ste_t *ste) {
  for (; ste->could_stale; ste->could_stale &= ste->could_stale - 1) {
    int object = VCS_LOWEST(ste->could_stale);
    uint64_t line[3];
    vcs_pixels_t pixels = could_light(ste->s->scratch, object);
    for (int w = 0; w < 3; w++) line[w] = ste->could[w][object] = pixels.word[w];
    for (int w = 0; w < 3; w++) ste->reach[w][object] = line[w] | moved_right(line, w) | moved_left(line, w);
  }
}

/* Pixels of each playfield register, with the right half repeated, and mirrored. */
VCS_DATA uint64_t playfield[2][3][3] = {
    {{0x000000000000FFFF, 0x00000000FFFF0000, 0}, /* PF0: 0 to 15, 80 to 95 */
     {0x0000FFFFFFFF0000, 0xFFFFFFFF00000000, 0}, /* PF1: 16 to 47, 96 to 127 */
     {0xFFFF000000000000, 0x000000000000FFFF, 0x00000000FFFFFFFF}},
    {{0x000000000000FFFF, 0, 0x00000000FFFF0000},
     {0x0000FFFFFFFF0000, 0xFFFF000000000000, 0x000000000000FFFF},
     {0xFFFF000000000000, 0x0000FFFFFFFFFFFF, 0}},
};

/* The colour an object shows; the playfield may show those of the score instead. */
VCS_DATA uint8_t own_colour[VCS_OBJECTS] = {[VCS_P0] = VCS_COLUP0, [VCS_P1] = VCS_COLUP1, [VCS_M0] = VCS_COLUP0,
                                            [VCS_M1] = VCS_COLUP1, [VCS_BL] = VCS_COLUPF, [VCS_PF] = VCS_COLUPF};

/* The register whose bits light an object now. */
VCS_STATIC size_t graphics_of(const vcs_t *t, int object) {
  size_t side = (size_t)object & 1;
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      return (t->vdelp[side] ? VCS_OFFSET(grp_old) : VCS_OFFSET(grp)) + side;
    case VCS_M0:
    case VCS_M1:
      return VCS_OFFSET(enam) + side;
    default:
      return t->vdelbl ? VCS_OFFSET(enabl_old) : VCS_OFFSET(enabl);
  }
}

/* forward: the pixels of `change`, which the playfield turns by `by`, += their slopes along its registers */
VCS_HOT_FN void link_playfield(vcs_ste_t *ste, const word_t *word, int w, uint64_t change, float by, bool reverse) {
  const uint64_t(*pixels)[3] = playfield[ste->s->scratch->pf_mirrored];
  for (size_t r = 0; r < 3; r++)
    link_mask(ste, word, change & pixels[r][w], vcs_slots(ste->s, VCS_OFFSET(pf) + r), by * ste->rules.lift, reverse);
}

/* forward: the pixels of `change`, which a movable object turns by `by`, += their slopes along its graphics and its
 * position */
VCS_HOT_FN void link_movable(vcs_ste_t *ste, const word_t *word, int w, int object, uint64_t change, float by,
                             bool reverse) {
  const vcs_sweep_t *s = ste->s;
  const uint64_t *line = ste->masks.line[object].word, on = line[w];
  const float share = by * (object <= VCS_P1 ? ste->rules.lift : ste->rules.place);
  link_mask(ste, word, change & ste->could[w][object], vcs_slots(s, graphics_of(s->scratch, object)), share, reverse);
  if (!(ste->masks.on >> object & 1)) return;
  const uint64_t right = moved_right(line, w), left = moved_left(line, w);
  float *pos = vcs_slots(s, VCS_OFFSET(pos) + (size_t)object);
  const vcs_sides_t sides = reverse ? ste->sides : unit_sides(s, *pos);
  const float more = by * sides.more * ste->rules.place, less = by * sides.less * ste->rules.place;
  if (more == -less) { /* what is lit by both, or by none, cancels */
    link_mask(ste, word, change & right & ~left, pos, more, reverse);
    link_mask(ste, word, change & left & ~right, pos, less, reverse);
    return;
  }
  link_mask(ste, word, change & right & ~on, pos, more, reverse);
  link_mask(ste, word, change & on & ~right, pos, -more, reverse);
  link_mask(ste, word, change & left & ~on, pos, less, reverse);
  link_mask(ste, word, change & on & ~left, pos, -less, reverse);
}

/* The pixels of `change` turn from one colour to another when the object is lit. */
VCS_HOT_FN void link_change(vcs_ste_t *ste, const word_t *word, int w, int object, uint64_t change, int from, int to,
                            bool reverse) {
  const uint8_t *colu = ste->s->scratch->colu;
  if (!change || colu[to] == colu[from]) return;
  const float by = ste->s->scale[colu[to]] - ste->s->scale[colu[from]];
  if (object == VCS_PF) {
    link_playfield(ste, word, w, change, by, reverse);
  } else {
    link_movable(ste, word, w, object, change, by, reverse);
  }
}

/* Among other objects: which colours it takes from which is seen by showing the word with it and without. */
VCS_STATIC void link_among(vcs_ste_t *ste, const word_t *word, int w, int object, uint64_t pixels) {
  const vcs_t *t = ste->s->scratch;
  uint64_t with[4], without[4], *here = &ste->masks.line[object].word[w];
  const uint64_t on = *here;
  *here = 0;
  vcs_line_colours(t, w, ste->masks.line, without);
  *here = ~0ULL;
  vcs_line_colours(t, w, ste->masks.line, with);
  *here = on;
  for (int to = 0; to < 4; to++) {
    const uint64_t gained = with[to] & ~without[to] & pixels;
    for (int from = 0; gained && from < 4; from++)
      link_change(ste, word, w, object, gained & without[from], from, to, ste->s->reverse);
  }
}

/* forward: the pixels of an object in a word += their slopes along its graphics and its position. Where no other object
 * is lit it is in front of the background, in its own colour. */
VCS_HOT_FN void link_object(vcs_ste_t *ste, const word_t *word, int w, int object, bool reverse) {
  const vcs_masks_t *masks = &ste->masks;
  const uint64_t concerned = ste->reach[w][object] & word->mask;
  if (!concerned) return;
  const uint64_t others = (masks->lit[w] & ~masks->line[object].word[w]) | masks->twice[w];
  link_change(ste, word, w, object, concerned & ~others, VCS_COLUBK, own_colour[object], reverse);
  if (concerned & others) link_among(ste, word, w, object, concerned & others);
}

/* The same for the playfield, which is behind all other objects unless CTRLPF sets priority or score mode. */
VCS_HOT_FN void link_background(vcs_ste_t *ste, const word_t *word, int w, bool reverse) {
  enum { SCORE = 2, FRONT = 4, LEFT_HALF = VCS_WIDTH / 2 };
  const vcs_masks_t *masks = &ste->masks;
  const uint64_t others = (masks->lit[w] & ~masks->line[VCS_PF].word[w]) | masks->twice[w];
  const uint64_t alone = word->mask & ~others, right = vcs_from(LEFT_HALF, w);
  const unsigned how = ste->s->scratch->ctrlpf & (SCORE | FRONT);
  if (how == (SCORE | FRONT)) {
    link_among(ste, word, w, VCS_PF, word->mask);
    return;
  }
  if (how == SCORE) {
    link_change(ste, word, w, VCS_PF, alone & ~right, VCS_COLUBK, VCS_COLUP0, reverse);
    link_change(ste, word, w, VCS_PF, alone & right, VCS_COLUBK, VCS_COLUP1, reverse);
  } else {
    link_change(ste, word, w, VCS_PF, alone, VCS_COLUBK, VCS_COLUPF, reverse);
  }
  if (how && word->mask & others) link_among(ste, word, w, VCS_PF, word->mask & others);
}

/* ---- Pieces and spans -----------------------------------------------------------------------------------------------
 */

/* The registers [SHOWN_FROM, SHOWN_TO) are those with slopes in the picture. */
enum { SHOWN_FROM = VCS_OFFSET(colu), SHOWN_TO = VCS_OFFSET(first_copy_off) };

VCS_STATIC bool any_tangent(const vcs_sweep_t *s) {
  for (size_t offset = SHOWN_FROM; offset < SHOWN_TO; offset++) {
    if (*vcs_slots(s, offset) != 0) return true;
  }
  return false;
}

VCS_STATIC bool row_matters(const vcs_sweep_t *s, int32_t y) {
  return y >= 0 && y < VCS_ROWS_MAX && (!s->reverse || s->lit[y]);
}

/* Word w of the pixels [x0, x1) of a row, without those under the comb of HMOVE. */
VCS_STATIC word_t word_of(const vcs_sweep_t *s, int32_t y, int w, int x0, int x1) {
  int x = 64 * w, from = x0 > x ? x0 - x : 0, to = x1 < x + 64 ? x1 - x : 64;
  word_t word = {y, x, to > from ? (~0ULL >> (64 - (to - from))) << from : 0};
  if (w == 0 && s->tape->comb[y].to) word.mask &= ~(0xFFULL >> s->tape->comb[y].from << s->tape->comb[y].from);
  return word;
}

VCS_HOT_FN void link_piece(vcs_ste_t *ste, int32_t y, int x0, int x1, bool reverse) {
  const vcs_sweep_t *s = ste->s;
  const vcs_t *t = s->scratch;
  if (t->vblank & 2 || x1 <= x0) return;
  refresh_places(ste);
  if (reverse) sum_row(ste, y);
  for (int w = x0 >> 6; 64 * w < x1; w++) {
    const word_t word = word_of(s, y, w, x0, x1);
    refresh_word(ste, w);
    for (size_t c = 0; c < 4; c++)
      link_mask(ste, &word, ste->masks.colour[w][c] & word.mask, vcs_slots(s, VCS_OFFSET(colu) + c),
                slope_of(ste, t->colu[c]), reverse);
    if (ste->rules.place == 0) continue; /* nothing but colours */
    for (int object = 0; object < VCS_PF; object++) link_object(ste, &word, w, object, reverse);
    link_background(ste, &word, w, reverse);
  }
}

VCS_STATIC void link_piece_forwards(vcs_ste_t *ste, int32_t y, int x0, int x1) { link_piece(ste, y, x0, x1, false); }
VCS_STATIC void link_piece_backwards(vcs_ste_t *ste, int32_t y, int x0, int x1) { link_piece(ste, y, x0, x1, true); }

/* Writes that do not show do not end a span. */
VCS_EXTERN void vcs_ste_span(vcs_ste_t *ste, const vcs_event_t *event) {
  vcs_sweep_t *s = ste->s;
  const vcs_event_t *first = event;
  if (!s->pixels || !shows(event->reg)) return;
  while (first > s->tape->events && !shows(first[-1].reg)) first--;
  int32_t from = first->from, to = event->to;
  if (to <= from || (!s->reverse && !any_tangent(s))) return;
  for (int32_t line = from / VCS_LINE_CLOCKS; VCS_LINE_CLOCKS * line < to; line++) {
    int32_t y = line - s->tape->start->first_line, left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
    if (to <= left || from >= left + VCS_WIDTH || !row_matters(s, y)) continue;
    const int x0 = from > left ? from - left : 0, x1 = to - left < VCS_WIDTH ? to - left : VCS_WIDTH;
    load(ste, first, line);
    if (s->reverse) {
      link_piece_backwards(ste, y, x0, x1);
    } else {
      link_piece_forwards(ste, y, x0, x1);
    }
  }
}

/* ---- Time -----------------------------------------------------------------------------------------------------------
 */

/* The clock up to which the picture is drawn before a write at `clock` takes effect. */
VCS_STATIC int32_t effective(const vcs_sweep_t *s, unsigned reg, int32_t clock) {
  int32_t start = VCS_LINE_CLOCKS * s->cart->top_line, stop = start + VCS_LINE_CLOCKS * s->cart->height;
  int delay = vcs_write_delay(reg);
  if (delay == VCS_DELAY_PHASE) delay = vcs_phase_delay((unsigned)clock % VCS_LINE_CLOCKS / 3 & 3);
  clock += delay;
  return clock < start ? start : clock > stop ? stop : clock;
}

/* Clocks of a line, the pixels there, and what they show. */
typedef struct {
  int32_t from, to, y;
  int x0, x1;
} window_t;

typedef struct {
  uint64_t colour[3][4];
  uint8_t index[4];
} shown_t;

/* The pixels of a window; false if there are none that matter. */
VCS_STATIC bool window_matters(const vcs_sweep_t *s, window_t *window) {
  int32_t line = window->from / VCS_LINE_CLOCKS, left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
  window->y = line - s->tape->start->first_line;
  window->x0 = window->from > left ? window->from - left : 0;
  window->x1 = window->to - left < VCS_WIDTH ? window->to - left : VCS_WIDTH;
  return window->x1 > window->x0 && row_matters(s, window->y);
}

/* The colours of the words from w0 to w1 of the line at `clock`. */
VCS_STATIC void show(vcs_ste_t *ste, const vcs_event_t *event, int32_t clock, int w0, int w1, shown_t *shown) {
  const vcs_t *t = ste->s->scratch;
  load(ste, event, clock / VCS_LINE_CLOCKS);
  for (int w = w0; w <= w1; w++) {
    refresh_word(ste, w);
    memcpy(shown->colour[w], ste->masks.colour[w], sizeof shown->colour[w]);
  }
  for (int c = 0; c < 4; c++) shown->index[c] = t->vblank & 2 ? 0 : t->colu[c];
}

/* The pixels of word w that do not show the same in both. */
VCS_STATIC uint64_t differ(const shown_t *a, const shown_t *b, int w) {
  uint64_t same = 0;
  for (int c = 0; c < 4; c++) same |= a->index[c] == b->index[c] ? a->colour[w][c] & b->colour[w][c] : 0;
  return ~same;
}

/* forward: pixels of the window += weight * time * (what they would show instead - what they show) */
VCS_STATIC void link_window(vcs_ste_t *ste, const window_t *window, const shown_t *is, const shown_t *instead,
                            float weight) {
  const vcs_sweep_t *s = ste->s;
  for (int w = window->x0 >> 6; 64 * w < window->x1; w++) {
    const word_t word = word_of(s, window->y, w, window->x0, window->x1);
    const uint64_t change = differ(is, instead, w) & word.mask;
    if (change && s->reverse) sum_row(ste, window->y);
    for (int c = 0; change && c < 4; c++) {
      for (int to = 0; to < 4; to++) {
        const float by = s->scale[instead->index[to]] - s->scale[is->index[c]];
        link_mask(ste, &word, change & is->colour[w][c] & instead->colour[w][to], ste->time, weight * by, s->reverse);
      }
    }
  }
}

/* The pixels between a write's clock and that of one a cycle later, and earlier, if it is a write that shows there. */
VCS_STATIC bool windows_of(const vcs_ste_t *ste, const vcs_event_t *event, window_t *later, window_t *sooner) {
  const vcs_sweep_t *s = ste->s;
  const vcs_event_t *next = event + 1;
  if (!s->pixels || ste->rules.place == 0 || (!s->reverse && *ste->time == 0)) return false;
  later->from = sooner->to = event->to;
  later->to = effective(s, event->reg, event->clock + 3);
  sooner->from = effective(s, event->reg, event->clock - 3);
  if (later->to > next->to) later->to = next->to;
  if (sooner->from < event->from) sooner->from = event->from;
  if (!window_matters(s, later)) later->x1 = later->x0;
  if (!window_matters(s, sooner)) sooner->x1 = sooner->x0;
  return later->x1 > later->x0 || sooner->x1 > sooner->x0;
}

VCS_EXTERN void vcs_ste_shift(vcs_ste_t *ste, const vcs_event_t *event) {
  const bool reverse = ste->s->reverse;
  window_t later = {0}, sooner = {0};
  if (event->reg >= 64 || !effects[event->reg].shows || vcs_same_tia(event->tia, event[1].tia)) return;
  bool matters = windows_of(ste, event, &later, &sooner), more = matters && later.x1 > later.x0,
       less = matters && sooner.x1 > sooner.x0;
  shown_t before, after;
  int32_t clock = more ? later.from : sooner.from;
  int w0 = (less ? sooner.x0 : later.x0) >> 6, w1 = ((more ? later.x1 : sooner.x1) - 1) >> 6;
  if (matters) show(ste, reverse ? event + 1 : event, clock, w0, w1, reverse ? &after : &before);
  touch(ste, effects[event->reg].bits, effects[event->reg].places);
  if (!matters) return;
  show(ste, reverse ? event : event + 1, clock, w0, w1, reverse ? &before : &after);
  const vcs_sides_t sides = reverse ? ste->sides : unit_sides(ste->s, *ste->time);
  if (more && sides.more != 0) link_window(ste, &later, &after, &before, sides.more);
  if (less && sides.less != 0) link_window(ste, &sooner, &before, &after, sides.less);
}

/* ---- Beginning ------------------------------------------------------------------------------------------------------
 */

/* Nothing is known of the registers: before the first event that is looked at, or one that is not the next. */
VCS_EXTERN void vcs_ste_line_forget(vcs_ste_t *ste) {
  ste->masks.stale = VCS_ALL_OBJECTS;
  ste->masks.coloured = 0;
  ste->could_stale = VCS_ON_MOVABLE;
  ste->loaded = NULL;
}

VCS_EXTERN void vcs_ste_line_begin(vcs_ste_t *ste) {
  vcs_sweep_t *s = ste->s;
  vcs_ste_line_forget(ste);
  for (int w = 0; w < 3; w++) ste->could[w][VCS_PF] = ste->reach[w][VCS_PF] = ~0ULL;
  ste->sums_of = -1;
  s->scratch->first_line = s->tape->start->first_line;
  ste->sides = unit_sides(s, 0);
#if !defined(__CUDACC__)
  for (int i = 0; i < 256; i++) ste->slope[i] = luminance_slope(s->scale, i);
#endif
}
