/* real_line.c: from real registers to real pixels and collisions (real.h).
 *
 * An object covers a pixel by a number from 0 to 1, its cover. At integers that is the mask of tia_video.h; in between
 * everything is linear in everything:
 *
 *   position    pos = 30.25 is 0.75 of the object at 30 and 0.25 of it at 31: a triangular kernel for every edge
 *   graphics    the number of the bit (vcs_look_t); a delayed or mirrored byte is a blend of both
 *   copies      the object's covers for each code of NUSIZx, weighted by the numbers of the codes
 *   priority    an OR is 1 - (1 - a)(1 - b), an AND NOT is a (1 - b): every colour gets a weight, and a pixel is the
 *               sum of the four colours by weight, times 1 - blank
 *   collisions  latch' = 1 - (1 - latch)(1 - a b), pixel by pixel
 *   time        a write that comes between two cycles shows in the pixels between them with the weight of the part of
 *               a cycle that is left
 *
 * So the slope of a pixel in any number is the difference of two of its values, and at an integer position or time,
 * where two stretches meet, the mean of their slopes.
 *
 * Drawing is postponed to the next visible write. The registers before a write (a look) are kept until the window of
 * the following look, from one cycle before its time to one cycle after, has been drawn.
 *
 * Constants: pixels under the comb of HMOVE, and what the reference paints ahead of the beam where a frame stops.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"

/* ---- Looks ------------------------------------------------------------------------------------------------------ */

static bool matters(vcs_real_t real) { return real.value != 0 || real.variable; }

static double code_of(const void *context, int byte) {
  const int *shift_mask_code = context;
  return (byte >> shift_mask_code[0] & shift_mask_code[1]) == shift_mask_code[2];
}

/* One number for each code of some bits of a byte. */
static void codes(vcs_links_t *links, vcs_real_t byte, int shift, int mask, vcs_real_t *numbers) {
  for (int code = 0; code <= mask; code++) {
    const int shift_mask_code[3] = {shift, mask, code};
    numbers[code] = vcs_real_interpolated(links, byte, 255, code_of, shift_mask_code);
  }
}

/* (1 - which) a + which b */
static vcs_real_t choose(vcs_links_t *links, vcs_real_t which, vcs_real_t a, vcs_real_t b) {
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, a, 1 - which.value);
  vcs_gather(&g, b, which.value);
  vcs_gather(&g, which, b.value - a.value);
  return vcs_real_gathered(links, (1 - which.value) * a.value + which.value * b.value, &g);
}

static void set_may_light(vcs_look_t *look, int object, bool may) {
  look->may_light = (uint8_t)((look->may_light & ~(1u << object)) | (unsigned)may << object);
}

/* The eight bits that a player shows, leftmost first. */
static void update_player(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look, int side) {
  const vcs_real_t delayed = r->reg[VCS_SLOT_VDELP + side], mirrored = r->reg[VCS_SLOT_REFLECT + side];
  const vcs_real_t now = r->reg[VCS_SLOT_GRP + side], old = r->reg[VCS_SLOT_GRP_OLD + side];
  vcs_real_t bits[8];
  bool any = false;
  for (int i = 0; i < 8; i++) {
    const vcs_real_t none = vcs_real_constant(0);
    const bool needs_now = delayed.value != 1 || delayed.variable, needs_old = matters(delayed);
    bits[i] = choose(links, delayed, needs_now ? vcs_real_bit(links, now, i) : none,
                     needs_old ? vcs_real_bit(links, old, i) : none);
    any |= matters(bits[i]);
  }
  for (int i = 0; i < 8; i++) look->shown[side][i] = choose(links, mirrored, bits[7 - i], bits[i]);
  set_may_light(look, VCS_P0 + side, any);
}

static void update_missile(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look, int side) {
  look->missile[side] =
      choose(links, r->reg[VCS_SLOT_RESMP + side], r->reg[VCS_SLOT_ENAM + side], vcs_real_constant(0));
  set_may_light(look, VCS_M0 + side, matters(look->missile[side]));
}

static void update_ball(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look) {
  look->ball = choose(links, r->reg[VCS_SLOT_VDELBL], r->reg[VCS_SLOT_ENABL], r->reg[VCS_SLOT_ENABL_OLD]);
  set_may_light(look, VCS_BL, matters(look->ball));
}

/* Twenty bits, leftmost first: PF0's upper nibble upwards, PF1 downwards, PF2 upwards. */
static void update_playfield(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look, int number) {
  const vcs_real_t byte = r->reg[VCS_SLOT_PF + number];
  vcs_real_t *bits = look->playfield;
  for (int i = 0; i < 4 && number == 0; i++) bits[i] = vcs_real_bit(links, byte, 4 + i);
  for (int i = 0; i < 8 && number == 1; i++) bits[4 + i] = vcs_real_bit(links, byte, 7 - i);
  for (int i = 0; i < 8 && number == 2; i++) bits[12 + i] = vcs_real_bit(links, byte, i);
  bool any = false;
  for (int i = 0; i < 20; i++) any |= matters(bits[i]);
  set_may_light(look, VCS_PF, any);
}

static void update_nusiz(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look, int side) {
  codes(links, r->reg[VCS_SLOT_NUSIZ + side], 0, 7, look->copies[side]);
  codes(links, r->reg[VCS_SLOT_NUSIZ + side], 4, 3, look->width[side]);
}

static void update_ctrlpf(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look) {
  codes(links, r->reg[VCS_SLOT_CTRLPF], 4, 3, look->ball_width);
  codes(links, r->reg[VCS_SLOT_CTRLPF], 1, 3, look->priority);
  look->mirrored = r->reg[VCS_SLOT_MIRRORED];
}

void vcs_look_update(const vcs_reals_t *r, vcs_links_t *links, vcs_look_t *look, unsigned reg) {
  const bool all = reg == VCS_LOOK_ALL;
  for (int i = 0; i < 4; i++) look->colour[i] = r->reg[VCS_SLOT_COLU + i];
  for (int i = 0; i < 5; i++) look->pos[i] = r->reg[VCS_SLOT_POS + i];
  for (unsigned side = 0; side < 2; side++) {
    if (all || reg == VCS_GRP0 || reg == VCS_GRP1 || reg == VCS_REFP0 + side || reg == VCS_VDELP0 + side)
      update_player(r, links, look, (int)side);
    if (all || reg == VCS_ENAM0 + side || reg == VCS_RESMP0 + side) update_missile(r, links, look, (int)side);
    if (all || reg == VCS_NUSIZ0 + side) update_nusiz(r, links, look, (int)side);
  }
  if (all || reg == VCS_ENABL || reg == VCS_VDELBL || reg == VCS_GRP1) update_ball(r, links, look);
  for (unsigned i = 0; i < 3; i++) {
    if (all || reg == VCS_PF0 + i) update_playfield(r, links, look, (int)i);
  }
  if (all || reg == VCS_CTRLPF) update_ctrlpf(r, links, look);
  if (all || reg == VCS_VBLANK) look->blank = vcs_real_bit(links, r->reg[VCS_SLOT_VBLANK], 1);
}

/* ---- Covers ----------------------------------------------------------------------------------------------------- */

/* The places of an object that count, by weight and by slope along the position: the integers around it; at an integer,
 * where there are derivatives, both its neighbours. */
typedef struct {
  int pos[3];
  double weight[3], slope[3];
  int count;
} places_t;

static places_t places_of(vcs_real_t pos, bool linked) {
  const int low = (int)pos.value;
  const double part = pos.value - low;
  if (part != 0) return (places_t){{low, (low + 1) % 160}, {1 - part, part}, {-1, 1}, 2};
  if (!linked || !pos.variable) return (places_t){{low}, {1}, {0}, 1};
  return (places_t){{low, (low + 159) % 160, (low + 1) % 160}, {1, 0, 0}, {0, -0.5, 0.5}, 3};
}

/* How far pixel x is behind the beginning of the copy that it may be in, or -1. */
static int into_copy(int x, int pos, unsigned code, bool first_off, int reach) {
  const vcs_copies_t copies = vcs_copies(code);
  const int behind = (x - pos + 160) % 160;
  if (!first_off && behind < reach) return behind;
  if (copies.second) {
    const int second = (behind - 16 * copies.second + 160) % 160, third = (behind - 16 * copies.third + 160) % 160;
    if (second < reach) return second;
    if (copies.third && third < reach) return third;
  }
  return -1;
}

/* The bit of a player's graphics at pixel x, leftmost 0, or -1. Stretched players start one pixel late. */
static int player_bit(int x, int pos, unsigned code, bool first_off) {
  const int stretch = vcs_copies(code).stretch;
  const int into = into_copy(x, pos, code, first_off, stretch == 1 ? 8 : 8 * stretch + 1);
  if (stretch == 1) return into;
  return into <= 0 ? -1 : (into - 1) / stretch;
}

static vcs_real_t cover_player(vcs_links_t *links, const vcs_look_t *look, int side, int x) {
  const vcs_real_t pos = look->pos[VCS_P0 + side];
  const places_t places = places_of(pos, links != NULL);
  double value = 0, along = 0;
  vcs_gathered_t g;
  g.count = 0;
  for (unsigned code = 0; code < 8; code++) {
    const vcs_real_t is = look->copies[side][code];
    if (!matters(is)) continue;
    double here = 0;
    for (int i = 0; i < places.count; i++) {
      const int bit = player_bit(x, places.pos[i], code, look->first_copy_off[side]);
      if (bit < 0) continue;
      const vcs_real_t shown = look->shown[side][bit];
      here += places.weight[i] * shown.value;
      along += is.value * places.slope[i] * shown.value;
      vcs_gather(&g, shown, is.value * places.weight[i]);
    }
    value += is.value * here;
    vcs_gather(&g, is, here);
  }
  vcs_gather(&g, pos, along);
  return vcs_real_gathered(links, value, &g);
}

/* Objects that are on or off: missiles and the ball. `copies` is NULL for the ball. */
static vcs_real_t cover_bar(vcs_links_t *links, vcs_real_t on, vcs_real_t pos, const vcs_real_t *copies,
                            const vcs_real_t widths[4], int stars_shape, int x) {
  const places_t places = places_of(pos, links != NULL);
  double total = 0, along = 0;
  vcs_gathered_t g;
  g.count = 0;
  if (stars_shape == 2) return vcs_real_constant(0);
  for (unsigned code = 0; code < 8; code++) {
    const vcs_real_t is = copies ? copies[code] : vcs_real_constant(code == 0);
    if (!matters(is)) continue;
    for (int width = 0; width < 4; width++) {
      const vcs_real_t wide = widths[width];
      if (!matters(wide)) continue;
      const int pixels = 1 << (stars_shape == 1 ? width | 1 : width);
      double here = 0;
      for (int i = 0; i < places.count; i++) {
        if (into_copy(x, places.pos[i], code, false, pixels) < 0) continue;
        here += places.weight[i];
        along += on.value * is.value * wide.value * places.slope[i];
      }
      total += is.value * wide.value * here;
      vcs_gather(&g, is, on.value * wide.value * here);
      vcs_gather(&g, wide, on.value * is.value * here);
    }
  }
  vcs_gather(&g, on, total);
  vcs_gather(&g, pos, along);
  return vcs_real_gathered(links, on.value * total, &g);
}

static vcs_real_t cover_playfield(vcs_links_t *links, const vcs_look_t *look, int x) {
  if (x < 80) return look->playfield[x >> 2];
  return choose(links, look->mirrored, look->playfield[(x - 80) >> 2], look->playfield[(159 - x) >> 2]);
}

static vcs_real_t cover_of(vcs_links_t *links, const vcs_look_t *look, int object, int x) {
  const int side = object & 1;
  switch (object) {
    case VCS_P0:
    case VCS_P1:
      return cover_player(links, look, side, x);
    case VCS_M0:
    case VCS_M1:
      return cover_bar(links, look->missile[side], look->pos[object], look->copies[side], look->width[side],
                       side == 0 ? look->stars_shape : 0, x);
    case VCS_BL:
      return cover_bar(links, look->ball, look->pos[VCS_BL], NULL, look->ball_width, 0, x);
    default:
      return cover_playfield(links, look, x);
  }
}

/* ---- Pixels ----------------------------------------------------------------------------------------------------- */

static double either(double a, double b) { return 1 - (1 - a) * (1 - b); }

/* The weight of each colour, as vcs_line_colours has it. `priority` is CTRLPF's bits 1 (score) and 2 (playfield in
 * front). */
static void weigh(const vcs_look_t *look, const double cover[VCS_OBJECTS], int priority, bool left, double weight[4]) {
  const double p0 = either(cover[VCS_P0], cover[VCS_M0]), p1 = either(cover[VCS_P1], cover[VCS_M1]);
  const double pf = cover[VCS_PF], bl = cover[VCS_BL], pf_bl = either(pf, bl);
  const bool score = priority & 1, front = priority & 2;
  if (score && (!front || look->only_playfield)) {
    const double first = left ? either(p0, pf) : p0, second = left ? p1 : either(p1, pf);
    weight[VCS_COLUP0] = first;
    weight[VCS_COLUP1] = second * (1 - first);
    weight[VCS_COLUPF] = bl * (1 - first) * (1 - second);
  } else if (front) {
    weight[VCS_COLUPF] = pf_bl;
    weight[VCS_COLUP0] = p0 * (1 - pf_bl);
    weight[VCS_COLUP1] = p1 * (1 - pf_bl) * (1 - p0);
  } else {
    weight[VCS_COLUP0] = p0;
    weight[VCS_COLUP1] = p1 * (1 - p0);
    weight[VCS_COLUPF] = pf_bl * (1 - p0) * (1 - p1);
  }
  weight[VCS_COLUBK] = 1 - weight[VCS_COLUPF] - weight[VCS_COLUP0] - weight[VCS_COLUP1];
}

static double shade(const vcs_look_t *look, const double cover[VCS_OBJECTS], int priority, bool left) {
  double weight[4], sum = 0;
  weigh(look, cover, priority, left, weight);
  for (int i = 0; i < 4; i++) sum += weight[i] * look->colour[i].value;
  return sum;
}

/* The same for the priority as it is, between its codes. */
static double shade_blended(const vcs_look_t *look, const double cover[VCS_OBJECTS], bool left) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    if (look->priority[i].value != 0) sum += look->priority[i].value * shade(look, cover, i, left);
  }
  return sum;
}

/* A pixel of a look, and what may collide there: products of covers by latch. */
typedef struct {
  vcs_real_t pixel, cover[VCS_OBJECTS];
  unsigned present; /* objects whose cover matters */
} spot_t;

static void spot_of(vcs_links_t *links, const vcs_look_t *look, int x, spot_t *spot) {
  const bool left = x < 80;
  const double light = 1 - look->blank.value;
  double cover[VCS_OBJECTS];
  spot->present = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) {
    spot->cover[i] = look->may_light >> i & 1 ? cover_of(links, look, i, x) : vcs_real_constant(0);
    cover[i] = spot->cover[i].value;
    if (matters(spot->cover[i])) spot->present |= 1u << i;
  }
  const double sum = shade_blended(look, cover, left);
  vcs_gathered_t g;
  g.count = 0;
  for (int i = 0; i < VCS_OBJECTS && links; i++) {
    if (!spot->cover[i].variable || light == 0) continue;
    const double is = cover[i];
    cover[i] = 1;
    const double with = shade_blended(look, cover, left);
    cover[i] = 0;
    vcs_gather(&g, spot->cover[i], light * (with - shade_blended(look, cover, left)));
    cover[i] = is;
  }
  for (int i = 0; i < 4 && links; i++) {
    double weight[4];
    if (!matters(look->priority[i])) continue;
    weigh(look, cover, i, left, weight);
    double here = 0;
    for (int c = 0; c < 4; c++) {
      here += weight[c] * look->colour[c].value;
      vcs_gather(&g, look->colour[c], light * look->priority[i].value * weight[c]);
    }
    vcs_gather(&g, look->priority[i], light * here);
  }
  vcs_gather(&g, look->blank, -sum);
  spot->pixel = vcs_real_gathered(links, light * sum, &g);
}

/* a b light */
static vcs_real_t product(vcs_links_t *links, vcs_real_t a, vcs_real_t b, vcs_real_t blank) {
  const double light = 1 - blank.value;
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, a, b.value * light);
  vcs_gather(&g, b, a.value * light);
  vcs_gather(&g, blank, -a.value * b.value);
  return vcs_real_gathered(links, a.value * b.value * light, &g);
}

/* How far a look is in effect at a clock, and how that moves with the time of its write, in cycles. */
static double effect(const vcs_look_t *look, int32_t clock, double *slope) {
  *slope = 0;
  if (clock < look->sooner) return 0;
  if (clock >= look->later) return 1;
  const bool before = clock < look->clock;
  if (look->past == 0) {
    *slope = -0.5;
    return before ? 0 : 1;
  }
  if (before ? look->past > 0 : look->past < 0) return before ? 0 : 1;
  *slope = -1;
  return before ? -look->past : 1 - look->past;
}

/* old + part (new - old), where part moves with time */
static vcs_real_t mixed(vcs_links_t *links, vcs_real_t old, vcs_real_t new, double part, vcs_real_t time,
                        double slope) {
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, old, 1 - part);
  vcs_gather(&g, new, part);
  vcs_gather(&g, time, slope * (new.value - old.value));
  return vcs_real_gathered(links, old.value + part * (new.value - old.value), &g);
}

static void collide(vcs_reals_t *r, vcs_links_t *links, int latch, vcs_real_t hit) {
  vcs_real_t *held = &r->reg[VCS_SLOT_COLLISIONS + latch];
  if (!matters(hit)) return;
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, *held, 1 - hit.value);
  vcs_gather(&g, hit, 1 - held->value);
  *held = vcs_real_gathered(links, either(held->value, hit.value), &g);
}

/* One pixel, with the looks that are in effect there. */
static vcs_real_t draw_pixel(vcs_reals_t *r, vcs_links_t *links, int32_t clock, int x) {
  const vcs_beam_t *beam = &r->beam;
  spot_t spot, next;
  int first = beam->count - 1;
  double slope, part;
  while (first > 0) {
    part = effect(&beam->looks[first], clock, &slope);
    if (part == 1 && (slope == 0 || !links || !beam->looks[first].time.variable)) break;
    first--;
  }
  const vcs_look_t *base = &beam->looks[first];
  spot_of(links, base, x, &spot);
  vcs_real_t pixel = spot.pixel, hits[16];
  unsigned latches = base->blank.value == 1 && !base->blank.variable ? 0 : vcs_pairs(spot.present);
  for (unsigned left = latches; left; left &= left - 1) {
    const int latch = VCS_LOWEST(left);
    const vcs_pair_t pair = vcs_pair((unsigned)latch);
    hits[latch] = product(links, spot.cover[pair.a], spot.cover[pair.b], base->blank);
  }
  for (int i = first + 1; i < beam->count; i++) {
    const vcs_look_t *look = &beam->looks[i];
    part = effect(look, clock, &slope);
    if (part == 0 && (slope == 0 || !links || !look->time.variable)) continue;
    spot_of(links, look, x, &next);
    pixel = mixed(links, pixel, next.pixel, part, look->time, slope);
    const unsigned more = vcs_pairs(next.present), all = latches | more;
    for (unsigned left = all; left; left &= left - 1) {
      const int latch = VCS_LOWEST(left);
      const vcs_pair_t pair = vcs_pair((unsigned)latch);
      const vcs_real_t none = vcs_real_constant(0), old = latches >> latch & 1 ? hits[latch] : none;
      hits[latch] = mixed(
          links, old, more >> latch & 1 ? product(links, next.cover[pair.a], next.cover[pair.b], look->blank) : none,
          part, look->time, slope);
    }
    latches = all;
  }
  for (; latches; latches &= latches - 1) collide(r, links, VCS_LOWEST(latches), hits[VCS_LOWEST(latches)]);
  return pixel;
}

/* ---- The beam --------------------------------------------------------------------------------------------------- */

/* Clocks [from, to) of the line. The comb covers the first eight pixels of the line whose eighth is not drawn when it
 * begins, or of the next one. */
static void draw_piece(vcs_relax_t *relax, vcs_links_t *links, int from, int to) {
  vcs_reals_t *r = relax->reals;
  vcs_beam_t *beam = &r->beam;
  const int32_t start = VCS_LINE_CLOCKS * beam->line, row = beam->line - relax->m->first_line;
  const int comb = beam->comb ? (int)(beam->comb_clock - start) : VCS_LINE_CLOCKS;
  if (from < VCS_HBLANK_CLOCKS) from = VCS_HBLANK_CLOCKS;
  if (row < 0 || row >= VCS_FRAME_BYTES / VCS_WIDTH) return;
  vcs_real_t *pixels = beam->pictures[relax->m->front & 1] + VCS_WIDTH * row;
  for (int clock = from; clock < to; clock++) {
    const int x = clock - VCS_HBLANK_CLOCKS;
    const vcs_real_t pixel = draw_pixel(r, links, start + clock, x);
    pixels[x] = x < 8 && clock >= comb ? vcs_real_constant(0) : pixel;
  }
  if (from < VCS_HBLANK_CLOCKS + 8 && to >= VCS_HBLANK_CLOCKS + 8 && comb < VCS_HBLANK_CLOCKS + 8) beam->comb = false;
}

static void end_line(vcs_reals_t *r) {
  vcs_beam_t *beam = &r->beam;
  vcs_look_t *look = &beam->looks[beam->count - 1];
  beam->line++;
  beam->line_clock = 0;
  beam->looks[0] = *look;
  beam->count = 1;
  look = beam->looks;
  look->first_copy_off[0] = look->first_copy_off[1] = 0;
  look->mirrored = r->reg[VCS_SLOT_MIRRORED];
  if (beam->stars) {
    vcs_real_t *pos = &r->reg[VCS_SLOT_POS + VCS_M0];
    static const uint8_t moved[4] = {18, 33, 0, 17};
    beam->stars_phase = (beam->stars_phase + 1) & 3;
    pos->value -= moved[beam->stars_phase];
    if (pos->value < 0) pos->value += 160;
    look->pos[VCS_M0] = *pos;
    look->stars_shape = beam->stars_phase == 1 ? 1 : beam->stars_phase == 2 ? 2 : 0;
  }
}

/* Looks whose window is drawn, and those before them, are not needed any more. */
static void forget_looks(vcs_beam_t *beam, int32_t clock) {
  int first = beam->count - 1;
  while (first > 0 && beam->looks[first].later > clock) first--;
  if (first == 0) return;
  memmove(beam->looks, beam->looks + first, (size_t)(beam->count - first) * sizeof *beam->looks);
  beam->count -= first;
}

void vcs_beam_draw(vcs_relax_t *relax, vcs_links_t *links, int32_t clock) {
  vcs_reals_t *r = relax->reals;
  vcs_beam_t *beam = &r->beam;
  if (clock <= VCS_LINE_CLOCKS * beam->line + beam->line_clock) return;
  while (clock > VCS_LINE_CLOCKS * (beam->line + 1)) {
    draw_piece(relax, links, beam->line_clock, VCS_LINE_CLOCKS);
    r->reg[VCS_SLOT_MIRRORED] = vcs_real_bit(links, r->reg[VCS_SLOT_CTRLPF], 0);
    end_line(r);
  }
  const int to = (int)(clock - VCS_LINE_CLOCKS * beam->line);
  draw_piece(relax, links, beam->line_clock, to);
  beam->line_clock = to;
  forget_looks(beam, clock);
}

vcs_look_t *vcs_beam_push(vcs_beam_t *beam) {
  if (beam->count == beam->capacity) {
    vcs_look_t *larger = realloc(beam->looks, 2 * (size_t)beam->capacity * sizeof *larger);
    if (!larger) {
      beam->failed = true;
      return NULL;
    }
    beam->looks = larger;
    beam->capacity *= 2;
  }
  beam->looks[beam->count] = beam->looks[beam->count - 1];
  return &beam->looks[beam->count++];
}

/* ---- Frames ----------------------------------------------------------------------------------------------------- */

bool vcs_beam_start(vcs_reals_t *r) {
  vcs_beam_t *beam = &r->beam;
  beam->capacity = 16;
  beam->looks = calloc((size_t)beam->capacity, sizeof *beam->looks);
  beam->pictures[0] = calloc(2 * VCS_FRAME_BYTES, sizeof *beam->pictures[0]);
  if (!beam->looks || !beam->pictures[0]) return false;
  beam->pictures[1] = beam->pictures[0] + VCS_FRAME_BYTES;
  return true;
}

void vcs_beam_free(vcs_reals_t *r) {
  free(r->beam.looks);
  free(r->beam.pictures[0]);
}

void vcs_beam_forget_pictures(vcs_reals_t *r) {
  memset(r->beam.pictures[0], 0, 2 * VCS_FRAME_BYTES * sizeof *r->beam.pictures[0]);
}

void vcs_look_take_flags(vcs_beam_t *beam, vcs_look_t *look, const vcs_t *m) {
  look->first_copy_off[0] = m->first_copy_off[0];
  look->first_copy_off[1] = m->first_copy_off[1];
  look->stars_shape = m->stars_shape;
  look->only_playfield = vcs_objects_on(m) == 1u << VCS_PF;
  beam->stars = m->stars;
  beam->stars_phase = m->stars_phase;
}

static void make_look(vcs_relax_t *relax, vcs_links_t *links) {
  vcs_reals_t *r = relax->reals;
  vcs_beam_t *beam = &r->beam;
  vcs_look_t *look = beam->looks;
  const vcs_t *m = relax->m;
  memset(look, 0, sizeof *look);
  beam->count = 1;
  vcs_look_update(r, links, look, VCS_LOOK_ALL);
  vcs_look_take_flags(beam, look, m);
}

void vcs_beam_load(vcs_relax_t *relax, vcs_links_t *links) {
  vcs_beam_t *beam = &relax->reals->beam;
  const vcs_t *m = relax->m;
  beam->line = m->line;
  beam->line_clock = m->line_clock;
  beam->seen = m->seen_clock;
  beam->comb = m->hmove_blank;
  beam->comb_clock = m->blank_clock;
  make_look(relax, links);
}

void vcs_beam_begin_frame(vcs_relax_t *relax) {
  vcs_beam_t *beam = &relax->reals->beam;
  const vcs_t *m = relax->m;
  beam->looks[0] = beam->looks[beam->count - 1];
  beam->count = 1;
  beam->line = m->line;
  beam->line_clock = m->line_clock;
  beam->seen = m->seen_clock;
  beam->comb_clock = m->blank_clock;
  for (int i = 0; i < 4; i++) {
    relax->reals->reg[VCS_SLOT_COLU + i].value +=
        m->colu[i] - nearbyint(relax->reals->reg[VCS_SLOT_COLU + i].value); /* a PAL set lost or found its colour */
    beam->looks[0].colour[i] = relax->reals->reg[VCS_SLOT_COLU + i];
  }
}

/* The exact grey of a rest that the beam did not reach (console.h). */
static double grey_of(const void *context, int index) { return (void)context, (index & 15) >> 1; }

void vcs_beam_finish(vcs_relax_t *relax, const uint8_t *frames) {
  vcs_beam_t *beam = &relax->reals->beam;
  const vcs_t *m = relax->m;
  vcs_real_t *picture = beam->pictures[m->front & 1];
  const int32_t row = beam->line - m->first_line, rows = relax->cart->height;
  const int x = beam->line_clock < VCS_HBLANK_CLOCKS ? 0 : beam->line_clock - VCS_HBLANK_CLOCKS;
  if (frames && row >= 0 && row < rows) {
    const uint8_t *shown = frames + (size_t)m->front * VCS_FRAME_BYTES + (size_t)VCS_WIDTH * (size_t)row;
    for (int i = x; i < VCS_WIDTH; i++) {
      vcs_real_t *pixel = &picture[VCS_WIDTH * row + i];
      if (nearbyint(pixel->value) != shown[i]) *pixel = vcs_real_constant(shown[i]);
    }
  }
  if (!m->partial || m->greyed) return;
  const int32_t below = (int32_t)((m->cycles * 3 - (uint32_t)m->frame_clock) / VCS_LINE_CLOCKS) - relax->cart->top_line;
  for (int32_t i = VCS_WIDTH * (below < 0 ? 0 : below); i < VCS_WIDTH * rows; i++)
    picture[i] = vcs_real_interpolated(NULL, picture[i], 255, grey_of, NULL);
}

void vcs_relax_picture(const vcs_relax_t *relax, double *pixels) {
  const vcs_real_t *picture = relax->reals->beam.pictures[relax->m->front & 1];
  for (int32_t i = 0; i < VCS_WIDTH * relax->cart->frame_height; i++) pixels[i] = picture[i].value;
}
