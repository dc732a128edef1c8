/* ste_line.c: straight-through derivatives of the picture.
 *
 * Who wins a pixel is a stored switch. With the winner known, a pixel is linear in what it was made from:
 *
 *   colour     pixel = the winner's colour: the slope of the scalar along the luminance goes to that register
 *   graphics   pixel = without + bit * (with - without), "with" and "without" the object's bit being lit: the
 *              difference, times the bit's share of its byte, goes to the byte, whether the bit is set or not
 *   position   an object one pixel further lights the pixels it enters and darkens those it leaves: the same
 *              differences along its edges, one-sided, as a triangular kernel has them at an integer
 *   time       a write one cycle later leaves the pixels between as they were
 *
 * All of it is sums over masks. A mask is a few runs of pixels, and with the sums of a row's adjoints up to each pixel
 * a run is one subtraction; the masks are those of tia_video.h, made afresh only when a register that shapes them
 * changed on the way from event to event.
 *
 * Stops: NUSIZx, CTRLPF, REFPx, VDELxx, RESMPx and VBLANK as shapes and switches; collisions; what line.c stops at.
 */
#include <string.h>

#include "ste.h"

/* ---- What a register write changes ------------------------------------------------------------------------------ */

enum {
  ON_P0 = 1 << VCS_P0,
  ON_P1 = 1 << VCS_P1,
  ON_M0 = 1 << VCS_M0,
  ON_M1 = 1 << VCS_M1,
  ON_BL = 1 << VCS_BL,
  ON_PF = 1 << VCS_PF,
  ON_MOVABLE = ON_PF - 1,
};

/* Objects whose lit bits, or whose places, a write may change; and whether the picture can show it at all. */
static const struct {
  uint8_t bits, places, shows;
} effects[64] = {
    [VCS_VBLANK] = {0, 0, 1},
    [VCS_NUSIZ0] = {0, ON_P0 | ON_M0, 1},
    [VCS_NUSIZ1] = {0, ON_P1 | ON_M1, 1},
    [VCS_COLUP0_W] = {0, 0, 1},
    [VCS_COLUP1_W] = {0, 0, 1},
    [VCS_COLUPF_W] = {0, 0, 1},
    [VCS_COLUBK_W] = {0, 0, 1},
    [VCS_CTRLPF] = {ON_PF, ON_BL, 1},
    [VCS_REFP0] = {ON_P0, 0, 1},
    [VCS_REFP1] = {ON_P1, 0, 1},
    [VCS_PF0] = {ON_PF, 0, 1},
    [VCS_PF1] = {ON_PF, 0, 1},
    [VCS_PF2] = {ON_PF, 0, 1},
    [VCS_RESP0] = {0, ON_P0, 1},
    [VCS_RESP1] = {0, ON_P1, 1},
    [VCS_RESM0] = {0, ON_M0, 1},
    [VCS_RESM1] = {0, ON_M1, 1},
    [VCS_RESBL] = {0, ON_BL, 1},
    [VCS_GRP0] = {ON_P0 | ON_P1, 0, 1},
    [VCS_GRP1] = {ON_P0 | ON_P1 | ON_BL, 0, 1},
    [VCS_ENAM0] = {ON_M0, 0, 1},
    [VCS_ENAM1] = {ON_M1, 0, 1},
    [VCS_ENABL] = {ON_BL, 0, 1},
    [VCS_HMM0] = {0, ON_M0, 1}, /* the star field */
    [VCS_VDELP0] = {ON_P0, 0, 1},
    [VCS_VDELP1] = {ON_P1, 0, 1},
    [VCS_VDELBL] = {ON_BL, 0, 1},
    [VCS_RESMP0] = {0, ON_M0, 1},
    [VCS_RESMP1] = {0, ON_M1, 1},
    [VCS_HMOVE] = {0, ON_MOVABLE, 1},
};

static bool shows(unsigned reg) { return reg == VCS_EVENT_END || (reg < 64 && effects[reg].shows); }

static void touch(vcs_ste_t *ste, unsigned bits, unsigned places) {
  vcs_video_touch(&ste->video, bits | places);
  ste->could_stale |= places;
}

/* ---- The registers at an event ------------------------------------------------------------------------------------
 */

/* A line ends: what holds only to its end. */
static void next_line(vcs_ste_t *ste) {
  uint32_t stale = ste->video.stale;
  ste->video.stale = 0;
  vcs_tia_end_line(ste->s->scratch, &ste->video);
  ste->could_stale |= ste->video.stale & ON_MOVABLE;
  ste->video.stale |= stale;
}

/* The TIA as an event found it, brought to the line of `clock`. */
static void load(vcs_ste_t *ste, const vcs_event_t *event, int32_t clock) {
  vcs_t *t = ste->s->scratch;
  const uint8_t *tia = event->tia - VCS_OFFSET(vsync);
  unsigned moved = (t->first_copy_off[0] != tia[VCS_OFFSET(first_copy_off)] ? ON_P0 : 0) |
                   (t->first_copy_off[1] != tia[VCS_OFFSET(first_copy_off) + 1] ? ON_P1 : 0) |
                   (t->pos[VCS_M0] != tia[VCS_OFFSET(pos) + VCS_M0] ? ON_M0 : 0) |
                   (t->stars_shape != tia[VCS_OFFSET(stars_shape)] ? ON_M0 : 0);
  touch(ste, t->pf_mirrored != tia[VCS_OFFSET(pf_mirrored)] ? ON_PF : 0, moved);
  memcpy(&t->vsync, event->tia, VCS_TIA_BYTES);
  t->line = event->line;
  int32_t line = clock / VCS_LINE_CLOCKS;
  if (t->line < line - 1 && !t->stars) t->line = line - 1; /* one end of a line is like many */
  while (t->line < line) next_line(ste);
}

/* ---- Words of pixels ----------------------------------------------------------------------------------------------
 */

/* The sums of a row's adjoints up to each pixel: five stretches side by side, then one behind the other. */
static void sum_row(vcs_ste_t *ste, int32_t y) {
  enum { STRETCH = 32, STRETCHES = VCS_WIDTH / STRETCH };
  if (ste->sums_of == y) return;
  ste->sums_of = y;
  const float *row = ste->s->pixels + VCS_WIDTH * y;
  float *sums = ste->sums + 1, run[STRETCHES] = {0}, before = 0;
  for (int x = 0; x < STRETCH; x++) {
    for (int i = 0; i < STRETCHES; i++) sums[STRETCH * i + x] = run[i] += row[STRETCH * i + x];
  }
  for (int i = 1; i < STRETCHES; i++) {
    before += run[i - 1];
    for (int x = 0; x < STRETCH; x++) sums[STRETCH * i + x] += before;
  }
}

/* A word of a row of the picture, within a piece. */
typedef struct {
  int32_t y;
  int x;         /* of its first pixel */
  uint64_t mask; /* the pixels that count */
} word_t;

/* forward: the pixels of `mask` += weight * slot */
static void link_mask(vcs_ste_t *ste, const word_t *word, uint64_t mask, float *slot, float weight) {
  const vcs_sweep_t *s = ste->s;
  mask &= word->mask;
  if (s->reverse) {
    const float *sums = ste->sums + word->x;
    float sum = 0;
    while (mask) {
      int from = __builtin_ctzll(mask);
      uint64_t behind = mask + (mask & -mask);
      sum += sums[behind ? __builtin_ctzll(behind) : 64] - sums[from];
      mask &= behind;
    }
    *slot += weight * sum;
  } else if (*slot != 0) {
    float *pixels = s->pixels + VCS_WIDTH * word->y + word->x;
    for (; mask; mask &= mask - 1) pixels[__builtin_ctzll(mask)] += weight * *slot;
  }
}

/* ---- Objects --------------------------------------------------------------------------------------------------------
 */

/* What an object would light with all its bits set, in the 64 pixels from x on. */
static uint64_t could_light(const vcs_t *t, int object, int x) {
  int side = object & 1;
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      return vcs_place_copies(vcs_player_shape(0xFF, t->nusiz[side]), t->pos[object], t->nusiz[side],
                              t->first_copy_off[side], x);
    case VCS_M0:
    case VCS_M1:
      return t->resmp[side] ? 0 : vcs_place_copies(vcs_missile_shape(t, side), t->pos[object], t->nusiz[side], 0, x);
    default:
      return vcs_place(vcs_width_shape(t->ctrlpf >> 4), t->pos[VCS_BL], x);
  }
}

static void refresh(vcs_ste_t *ste) {
  const vcs_t *t = ste->s->scratch;
  for (int w = 0; w < 3; w++) {
    if (ste->video.stale >> 8 * w & 0x3F) vcs_line_refresh(t, &ste->video, w);
  }
  for (; ste->could_stale; ste->could_stale &= ste->could_stale - 1) {
    int object = VCS_LOWEST(ste->could_stale);
    for (int w = 0; w < 3; w++) ste->could[w][object] = could_light(t, object, 64 * w);
  }
}

/* Pixels of each playfield register, with the right half repeated, and mirrored. */
static const uint64_t playfield[2][3][3] = {
    {{0x000000000000FFFF, 0x00000000FFFF0000, 0}, /* PF0: 0 to 15, 80 to 95 */
     {0x0000FFFFFFFF0000, 0xFFFFFFFF00000000, 0}, /* PF1: 16 to 47, 96 to 127 */
     {0xFFFF000000000000, 0x000000000000FFFF, 0x00000000FFFFFFFF}},
    {{0x000000000000FFFF, 0, 0x00000000FFFF0000},
     {0x0000FFFFFFFF0000, 0xFFFF000000000000, 0x000000000000FFFF},
     {0xFFFF000000000000, 0x0000FFFFFFFFFFFF, 0}},
};

/* The register whose bits light an object now. */
static size_t graphics_of(const vcs_t *t, int object) {
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

/* An object's pixels one to the right, and one to the left, in word w of the line; it goes round the edges. */
static uint64_t moved_right(const vcs_ste_t *ste, int object, int w) {
  const uint64_t on = ste->video.mask[w][object];
  const uint64_t last = w == 0 ? ste->video.mask[2][object] >> 31 : ste->video.mask[w - 1][object] >> 63;
  return on << 1 | (last & 1);
}
static uint64_t moved_left(const vcs_ste_t *ste, int object, int w) {
  const uint64_t first = ste->video.mask[w == 2 ? 0 : w + 1][object] & 1;
  const uint64_t on = ste->video.mask[w][object];
  return w == 2 ? (on & 0xFFFFFFFF) >> 1 | first << 31 : on >> 1 | first << 63;
}

/* forward: the pixels of an object in a word += their slopes along its graphics and its position */
static void link_object(vcs_ste_t *ste, const word_t *word, int w, int object) {
  const vcs_sweep_t *s = ste->s;
  const vcs_t *t = s->scratch;
  const float *scale = s->scale;
  uint64_t on = ste->video.mask[w][object], k[VCS_OBJECTS], with[4], without[4];
  uint64_t could = ste->could[w][object], right = on, left = on;
  if (object < VCS_PF) {
    right = moved_right(ste, object, w);
    left = moved_left(ste, object, w);
  }
  const uint64_t concerned = (could | right | left) & word->mask;
  if (!concerned) return;
  float *pos = vcs_slots(s, VCS_OFFSET(pos) + (size_t)object), *graphics = vcs_slots(s, graphics_of(t, object)),
        *pf = vcs_slots(s, VCS_OFFSET(pf));
  const bool is_pf = object == VCS_PF;
  const float share = object <= VCS_P1 || is_pf ? ste->rules.lift : ste->rules.place;
  vcs_sides_t sides = vcs_sides(s, *pos);
  memcpy(k, ste->video.mask[w], sizeof k);
  k[object] = 0;
  vcs_line_colours(t, word->x, k, without);
  k[object] = ~0ULL;
  vcs_line_colours(t, word->x, k, with);
  for (int c = 0; c < 4; c++) {
    uint64_t gained = with[c] & ~without[c] & concerned;
    for (int from = 0; gained && from < 4; from++) {
      uint64_t change = gained & without[from];
      float by = scale[t->colu[c]] - scale[t->colu[from]];
      if (!change || by == 0) continue;
      if (is_pf) {
        for (size_t r = 0; r < 3; r++)
          link_mask(ste, word, change & playfield[t->pf_mirrored][r][w], pf + 8 * r, by * share);
        continue;
      }
      link_mask(ste, word, change & could, graphics, by * share);
      if (right != on) {
        float more = by * sides.more * ste->rules.place;
        link_mask(ste, word, change & right & ~on, pos, more);
        link_mask(ste, word, change & on & ~right, pos, -more);
      }
      if (left != on) {
        float less = by * sides.less * ste->rules.place;
        link_mask(ste, word, change & left & ~on, pos, less);
        link_mask(ste, word, change & on & ~left, pos, -less);
      }
    }
  }
}

/* ---- Pieces and spans -----------------------------------------------------------------------------------------------
 */

/* The first register of which the picture has slopes, and the one behind the last. */
enum { SHOWN_FROM = VCS_OFFSET(colu), SHOWN_TO = VCS_OFFSET(first_copy_off) };

static bool any_tangent(const vcs_sweep_t *s) {
  for (size_t offset = SHOWN_FROM; offset < SHOWN_TO; offset++) {
    if (*vcs_slots(s, offset) != 0) return true;
  }
  return false;
}

static bool row_matters(const vcs_sweep_t *s, int32_t y) {
  return y >= 0 && y < VCS_ROWS_MAX && (!s->reverse || s->lit[y]);
}

/* Word w of the pixels [x0, x1) of a row, without those under the comb of HMOVE. */
static word_t word_of(const vcs_sweep_t *s, int32_t y, int w, int x0, int x1) {
  int x = 64 * w, from = x0 > x ? x0 - x : 0, to = x1 < x + 64 ? x1 - x : 64;
  word_t word = {y, x, to > from ? (~0ULL >> (64 - (to - from))) << from : 0};
  if (w == 0 && s->tape->comb[y].to) word.mask &= ~(0xFFULL >> s->tape->comb[y].from << s->tape->comb[y].from);
  return word;
}

static void link_piece(vcs_ste_t *ste, int32_t y, int x0, int x1) {
  const vcs_sweep_t *s = ste->s;
  const vcs_t *t = s->scratch;
  if (t->vblank & 2 || x1 <= x0) return;
  refresh(ste);
  if (s->reverse) sum_row(ste, y);
  for (int w = x0 >> 6; 64 * w < x1; w++) {
    word_t word = word_of(s, y, w, x0, x1);
    for (size_t c = 0; c < 4; c++)
      link_mask(ste, &word, ste->video.colour[w][c], vcs_slots(s, VCS_OFFSET(colu) + c), ste->slope[t->colu[c]]);
    if (ste->rules.place == 0) continue; /* nothing but colours */
    for (int object = 0; object < VCS_OBJECTS; object++) link_object(ste, &word, w, object);
  }
}

/* Writes that do not show do not end a span. */
void vcs_ste_span(vcs_ste_t *ste, int32_t index) {
  vcs_sweep_t *s = ste->s;
  const vcs_event_t *events = s->tape->events;
  if (!s->pixels || !shows(events[index].reg)) return;
  int32_t first = index;
  while (first > 0 && !shows(events[first - 1].reg)) first--;
  int32_t from = events[first].from, to = events[index].to;
  if (to <= from || (!s->reverse && !any_tangent(s))) return;
  bool loaded = false;
  for (int32_t line = from / VCS_LINE_CLOCKS; VCS_LINE_CLOCKS * line < to; line++) {
    int32_t y = line - s->tape->start->first_line, left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
    if (to <= left || from >= left + VCS_WIDTH || !row_matters(s, y)) continue;
    if (!loaded) load(ste, &events[first], VCS_LINE_CLOCKS * line);
    loaded = true;
    while (s->scratch->line < line) next_line(ste);
    link_piece(ste, y, from > left ? from - left : 0, to - left < VCS_WIDTH ? to - left : VCS_WIDTH);
  }
}

/* ---- Time -----------------------------------------------------------------------------------------------------------
 */

/* The clock up to which the picture is drawn before a write at `clock` takes effect. */
static int32_t effective(const vcs_sweep_t *s, unsigned reg, int32_t clock) {
  int32_t start = VCS_LINE_CLOCKS * s->cart->top_line, stop = start + VCS_LINE_CLOCKS * s->cart->height;
  int delay = vcs_write_delay(reg);
  if (delay == VCS_DELAY_PHASE) delay = vcs_phase_delay((unsigned)clock % VCS_LINE_CLOCKS / 3 & 3);
  clock += delay;
  return clock < start ? start : clock > stop ? stop : clock;
}

/* What the pixels of a line show. */
typedef struct {
  uint64_t colour[3][4];
  uint8_t index[4];
} shown_t;

static void show(vcs_ste_t *ste, const vcs_event_t *event, int32_t clock, shown_t *shown) {
  load(ste, event, clock);
  refresh(ste);
  memcpy(shown->colour, ste->video.colour, sizeof shown->colour);
  for (int c = 0; c < 4; c++) shown->index[c] = ste->s->scratch->vblank & 2 ? 0 : ste->s->scratch->colu[c];
}

/* Clocks of a line, of which pixels may be seen. */
typedef struct {
  int32_t from, to;
} window_t;

static bool window_matters(const vcs_sweep_t *s, window_t window) {
  int32_t line = window.from / VCS_LINE_CLOCKS, left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
  return window.to > window.from && window.to > left && row_matters(s, line - s->tape->start->first_line);
}

/* forward: pixels of the window += weight * time * (what they would show instead) */
static void link_window(vcs_ste_t *ste, window_t window, const shown_t *is, const shown_t *instead, float weight) {
  const vcs_sweep_t *s = ste->s;
  int32_t line = window.from / VCS_LINE_CLOCKS, left = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS;
  int32_t y = line - s->tape->start->first_line;
  int x0 = window.from > left ? window.from - left : 0,
      x1 = window.to - left < VCS_WIDTH ? window.to - left : VCS_WIDTH;
  if (s->reverse) sum_row(ste, y);
  for (int w = x0 >> 6; 64 * w < x1; w++) {
    word_t word = word_of(s, y, w, x0, x1);
    for (int c = 0; c < 4; c++) {
      uint64_t there = is->colour[w][c] & word.mask;
      for (int to = 0; there && to < 4; to++) {
        float by = weight * (s->scale[instead->index[to]] - s->scale[is->index[c]]);
        if (by != 0) link_mask(ste, &word, there & instead->colour[w][to], ste->time, by);
      }
    }
  }
}

void vcs_ste_shift(vcs_ste_t *ste, int32_t index) {
  const vcs_sweep_t *s = ste->s;
  const vcs_event_t *event = &s->tape->events[index], *next = event + 1;
  if (event->reg >= 64) return;
  vcs_sides_t sides = vcs_sides(s, *ste->time);
  bool matters = s->pixels && effects[event->reg].shows && ste->rules.place != 0 && (s->reverse || *ste->time != 0);
  window_t later = {event->to, 0}, sooner = {0, event->to};
  if (matters) {
    later.to = effective(s, event->reg, event->clock + 3);
    sooner.from = effective(s, event->reg, event->clock - 3);
    if (later.to > next->to) later.to = next->to;
    if (sooner.from < event->from) sooner.from = event->from;
  }
  bool more = matters && sides.more != 0 && window_matters(s, later),
       less = matters && sides.less != 0 && window_matters(s, sooner);
  shown_t before, after;
  int32_t clock = more ? later.from : sooner.from;
  if ((more || less) && s->reverse) show(ste, next, clock, &after);
  if ((more || less) && !s->reverse) show(ste, event, clock, &before);
  touch(ste, effects[event->reg].bits, effects[event->reg].places);
  if ((more || less) && s->reverse) show(ste, event, clock, &before);
  if ((more || less) && !s->reverse) show(ste, next, clock, &after);
  if (more) link_window(ste, later, &after, &before, sides.more);
  if (less) link_window(ste, sooner, &before, &after, sides.less);
}

/* ---- Beginning ------------------------------------------------------------------------------------------------------
 */

/* The scalar's slope along the luminance, in its own hue; bit 0 of a colour shows nothing. */
static float luminance_slope(const float *scale, int index) {
  int less = index & 0x0E ? index - 2 : index, more = (index & 0x0E) < 0x0E ? index + 2 : index;
  return (scale[more] - scale[less]) / (float)(more - less);
}

void vcs_ste_line_begin(vcs_ste_t *ste) {
  vcs_sweep_t *s = ste->s;
  ste->video.frames = s->lit; /* nothing is drawn, but colours are made only when there is a picture */
  ste->video.stale = 0x3F3F3F;
  ste->could_stale = ON_MOVABLE;
  for (int w = 0; w < 3; w++) ste->could[w][VCS_PF] = ~0ULL;
  ste->sums_of = -1;
  s->scratch->first_line = s->tape->start->first_line;
  for (int i = 0; i < 256; i++) ste->slope[i] = luminance_slope(s->scale, i);
}
