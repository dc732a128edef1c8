/* real_tia.c: the TIA's registers on real numbers (real.h).
 *
 * A register keeps the number that is written to it, through the interpolation of what the exact register does to a
 * byte: a colour loses its lowest bit, a motion value is the upper nibble, an enable bit is one bit. Strobes turn time
 * into positions by the same rule, the exact position between the cycles around the time of the write:
 *
 *   RESP0 at cycle 30.25   0.75 position(30) + 0.25 position(31), so three pixels a cycle, and none in the blank
 *   HMOVE                  bilinear in its cycle and the motion value
 *   RESMPx released        the player's position, and its middle
 *
 * A write that shows makes a look (real.h), which takes effect some clocks later; the integer machine knows when, and
 * how much sooner or later it would be by a cycle is computed here. The integer machine has made the write before; what
 * it decides stays: whether the first copy is hidden, the star field, strobes right after HMOVE with a fixed result.
 */
#include <math.h>
#include <string.h>

#include "real.h"

/* ---- Bytes that a register looks at ----------------------------------------------------------------------------- */

static double bit_of(const void *context, int byte) { return byte >> *(const int *)context & 1; }
static double nibble_of(const void *context, int byte) { return (void)context, byte >> 4; }
static double colour_of(const void *context, int byte) { return (byte & 0xFE) | *(const int *)context; }
static double low_six_of(const void *context, int byte) { return (void)context, byte & 0x3F; }

vcs_real_t vcs_real_bit(vcs_links_t *links, vcs_real_t byte, int bit) {
  return vcs_real_interpolated(links, byte, 255, bit_of, &bit);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static vcs_real_t plus_bits(const vcs_doing_t *doing, vcs_real_t byte, vcs_real_t seven, vcs_real_t six) {
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, byte, 1);
  vcs_gather(&g, seven, 128);
  vcs_gather(&g, six, 64);
  return vcs_real_gathered(doing->links, byte.value + 128 * seven.value + 64 * six.value, &g);
}

/* A pot input turns high from one cycle to the next. The cycle in which it does is the integer machine's. */
static vcs_real_t pot_input(const vcs_doing_t *doing, int input) {
  vcs_t *m = doing->relax->m;
  const vcs_real_t time = doing->reg[VCS_SLOT_TIME], from = doing->reals->reg[VCS_SLOT_DUMP_CYCLE];
  const double since = time.value - from.value, low = floor(since), part = since - low;
  const uint32_t cycles = m->cycles;
  double high[3];
  for (int i = 0; i < 3; i++) {
    m->cycles = (uint32_t)m->dump_cycle + (uint32_t)(int64_t)(low + i - 1);
    high[i] = vcs_tia_pot_high(m, m->paddle[input]);
  }
  m->cycles = cycles;
  const double per_cycle = part == 0 ? (high[2] - high[0]) / 2 : high[2] - high[1];
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, time, per_cycle);
  vcs_gather(&g, from, -per_cycle);
  return vcs_real_gathered(doing->links, high[1] + part * (high[2] - high[1]), &g);
}

static vcs_real_t input_pin(const vcs_doing_t *doing, int input) {
  const vcs_cart_t *cart = doing->relax->cart;
  const int port = input < 4 ? input >> 1 : input - 4;
  if (cart->controller[port] == VCS_CONTROLLER_KEYBOARD)
    return vcs_real_constant(vcs_tia_input(cart, doing->relax->m, input));
  return input < 4 ? pot_input(doing, input) : doing->reals->reg[VCS_SLOT_FIRE + port];
}

/* A collision latch. An opcode that acts draws up to now; for the other opcodes the integer machine (a copy) has, and a
 * latch that was not set before is a constant. */
static vcs_real_t latch_of(const vcs_doing_t *doing, int latch) {
  const bool is_new = doing->relax->m->collisions & ~doing->latches & 1u << latch;
  return !doing->acts && is_new ? vcs_real_constant(1) : doing->reals->reg[VCS_SLOT_COLLISIONS + latch];
}

/* Two lines are driven; the other lines keep what was on the bus. */
vcs_real_t vcs_real_tia_read(vcs_doing_t *doing, uint16_t addr) {
  const vcs_real_t none = vcs_real_constant(0);
  const vcs_real_t undriven = vcs_real_interpolated(doing->links, doing->bus, 255, low_six_of, NULL);
  const int r = addr & 15;
  if (r < 8) {
    if (doing->acts) vcs_beam_draw(doing->relax, doing->links, doing->relax->m->seen_clock);
    return plus_bits(doing, undriven, latch_of(doing, 2 * r), latch_of(doing, 2 * r + 1));
  }
  return r < 14 ? plus_bits(doing, undriven, input_pin(doing, r - 8), none) : undriven;
}

/* ---- Positions -------------------------------------------------------------------------------------------------- */

/* The cycle of the line, rounded, and how far time is beyond it. */
typedef struct {
  int cycle;
  double past;
  vcs_real_t time;
} moment_t;

static moment_t moment_of(const vcs_doing_t *doing) {
  const vcs_t *m = doing->relax->m;
  const vcs_real_t time = doing->reg[VCS_SLOT_TIME];
  const moment_t moment = {vcs_tia_hpos(m) / 3, time.value - nearbyint(time.value), time};
  return moment;
}

/* The shortest way round the line from one position to another. */
static double way(double from, double to) {
  const double by = to - from;
  return by > 80 ? by - 160 : by < -80 ? by + 160 : by;
}

static vcs_real_t round_the_line(vcs_real_t pos) {
  if (pos.value < 0) pos.value += 160;
  if (pos.value >= 160) pos.value -= 160;
  return pos;
}

static int strobed(int object, int cycle) {
  const int hpos = 3 * ((cycle + VCS_LINE_CYCLES) % VCS_LINE_CYCLES), player = object <= VCS_P1;
  return hpos < VCS_HBLANK_CLOCKS ? 2 + player : (hpos - VCS_HBLANK_CLOCKS + 4 + player) % 160;
}

static void strobe(vcs_doing_t *doing, int object) {
  const moment_t at = moment_of(doing);
  const int here = strobed(object, at.cycle);
  vcs_real_t *pos = &doing->reals->reg[VCS_SLOT_POS + object];
  if (doing->relax->m->pos[object] != here) { /* right after HMOVE */
    *pos = vcs_real_constant(doing->relax->m->pos[object]);
    return;
  }
  const double sooner = way(strobed(object, at.cycle - 1), here), later = way(here, strobed(object, at.cycle + 1));
  const double slope = at.past > 0 ? later : at.past < 0 ? sooner : (sooner + later) / 2;
  vcs_gathered_t g;
  g.count = 0;
  vcs_gather(&g, at.time, slope);
  *pos = round_the_line(vcs_real_gathered(doing->links, here + at.past * slope, &g));
}

/* How far an HMOVE at a cycle moves an object, interpolated along the motion value. */
typedef struct {
  vcs_motion_t at;
} hmove_t;

static double motion_of(const void *context, int hm) {
  return vcs_hmove_motion(((const hmove_t *)context)->at, (unsigned)hm);
}

static vcs_real_t motion_at(const vcs_doing_t *doing, int cycle, vcs_real_t hm) {
  const hmove_t hmove = {vcs_hmove_at((unsigned)(cycle + VCS_LINE_CYCLES) % VCS_LINE_CYCLES)};
  return vcs_real_interpolated(doing->links, hm, 15, motion_of, &hmove);
}

static void hmove(vcs_doing_t *doing) {
  const moment_t at = moment_of(doing);
  const bool sooner = at.past < 0 || (at.past == 0 && at.time.variable && doing->links),
             later = at.past > 0 || (at.past == 0 && at.time.variable && doing->links);
  for (int i = 0; i < 5; i++) {
    const vcs_real_t hm = doing->reals->reg[VCS_SLOT_HM + i], pos = doing->reals->reg[VCS_SLOT_POS + i];
    const vcs_real_t here = motion_at(doing, at.cycle, hm), before = sooner ? motion_at(doing, at.cycle - 1, hm) : here,
                     after = later ? motion_at(doing, at.cycle + 1, hm) : here;
    const double slope = (after.value - before.value) / (sooner && later ? 2 : 1);
    vcs_gathered_t g;
    g.count = 0;
    vcs_gather(&g, pos, 1);
    vcs_gather(&g, here, 1 - fabs(at.past));
    vcs_gather(&g, at.past < 0 ? before : after, fabs(at.past));
    vcs_gather(&g, at.time, slope);
    doing->reals->reg[VCS_SLOT_POS + i] =
        round_the_line(vcs_real_gathered(doing->links, pos.value + here.value + at.past * slope, &g));
  }
}

static void release_missile(const vcs_doing_t *doing, int missile) {
  const vcs_real_t player = doing->reals->reg[VCS_SLOT_POS + VCS_P0 + missile];
  const int middle = 4 * vcs_copies(doing->relax->m->nusiz[missile] & 7).stretch;
  doing->reals->reg[VCS_SLOT_POS + VCS_M0 + missile] = round_the_line(vcs_real_linear(doing->links, middle, player, 1));
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

static void recolour(const vcs_doing_t *doing, unsigned index, vcs_real_t value) {
  const int lost = vcs_tia_colour(doing->relax->m, doing->video, 0);
  doing->reals->reg[VCS_SLOT_COLU + index] = vcs_real_interpolated(doing->links, value, 255, colour_of, &lost);
}

/* True: the picture may show it. */
static bool store(vcs_doing_t *doing, unsigned r, vcs_real_t value, const vcs_tia_before_t *before) {
  vcs_real_t *reg = doing->reals->reg;
  const vcs_t *m = doing->relax->m;
  switch (r) {
    case VCS_VSYNC:
      reg[VCS_SLOT_VSYNC] = value;
      return false;
    case VCS_VBLANK:
      if (before->vblank & ~m->vblank & 0x80) reg[VCS_SLOT_DUMP_CYCLE] = doing->reg[VCS_SLOT_TIME];
      reg[VCS_SLOT_VBLANK] = value;
      return true;
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      reg[VCS_SLOT_NUSIZ + r - VCS_NUSIZ0] = value;
      return true;
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      recolour(doing, vcs_colour_index(r - VCS_COLUP0_W), value);
      return true;
    case VCS_CTRLPF:
      reg[VCS_SLOT_CTRLPF] = value;
      if (vcs_tia_hpos(m) < VCS_HBLANK_CLOCKS + 79) reg[VCS_SLOT_MIRRORED] = vcs_real_bit(doing->links, value, 0);
      return true;
    case VCS_REFP0:
    case VCS_REFP1:
      reg[VCS_SLOT_REFLECT + r - VCS_REFP0] = vcs_real_bit(doing->links, value, 3);
      return true;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      reg[VCS_SLOT_PF + r - VCS_PF0] = value;
      return true;
    case VCS_RESP0:
    case VCS_RESP1:
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      strobe(doing, (int)(r - VCS_RESP0));
      return true;
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      reg[VCS_SLOT_AUDIO + r - VCS_AUDC0] = value;
      return false;
    case VCS_GRP0:
      reg[VCS_SLOT_GRP] = value;
      reg[VCS_SLOT_GRP_OLD + 1] = reg[VCS_SLOT_GRP + 1];
      return true;
    case VCS_GRP1:
      reg[VCS_SLOT_GRP + 1] = value;
      reg[VCS_SLOT_GRP_OLD] = reg[VCS_SLOT_GRP];
      reg[VCS_SLOT_ENABL_OLD] = reg[VCS_SLOT_ENABL];
      return true;
    case VCS_ENAM0:
    case VCS_ENAM1:
      reg[VCS_SLOT_ENAM + r - VCS_ENAM0] = vcs_real_bit(doing->links, value, 1);
      return true;
    case VCS_ENABL:
      reg[VCS_SLOT_ENABL] = vcs_real_bit(doing->links, value, 1);
      return true;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM0:
    case VCS_HMM1:
    case VCS_HMBL:
      reg[VCS_SLOT_HM + r - VCS_HMP0] = vcs_real_interpolated(doing->links, value, 255, nibble_of, NULL);
      return r == VCS_HMM0; /* the star field */
    case VCS_VDELP0:
    case VCS_VDELP1:
      reg[VCS_SLOT_VDELP + r - VCS_VDELP0] = vcs_real_bit(doing->links, value, 0);
      return true;
    case VCS_VDELBL:
      reg[VCS_SLOT_VDELBL] = vcs_real_bit(doing->links, value, 0);
      return true;
    case VCS_RESMP0:
    case VCS_RESMP1:
      if (before->resmp[r - VCS_RESMP0] && !m->resmp[r - VCS_RESMP0]) release_missile(doing, (int)(r - VCS_RESMP0));
      reg[VCS_SLOT_RESMP + r - VCS_RESMP0] = vcs_real_bit(doing->links, value, 1);
      return true;
    case VCS_HMOVE:
      hmove(doing);
      return true;
    case VCS_HMCLR:
      for (int i = 0; i < 5; i++) reg[VCS_SLOT_HM + i] = vcs_real_constant(0);
      return false;
    case VCS_CXCLR:
      for (int i = 0; i < 16; i++) reg[VCS_SLOT_COLLISIONS + i] = vcs_real_constant(0);
      return false;
    default:
      return false;
  }
}

/* The clock of the frame that the picture is drawn to before a write `cycles` later than this one shows. The integer
 * machine may have waited longer than the register's delay: a player that is reset while it is drawn. */
static int32_t reaches(const vcs_doing_t *doing, unsigned reg, const vcs_tia_before_t *before, int cycles) {
  const vcs_t *m = doing->relax->m;
  const vcs_video_t *video = doing->video;
  const int32_t here = (int32_t)nearbyint(doing->reg[VCS_SLOT_TIME].value) * 3 - m->frame_clock;
  const int32_t waited = (reg == VCS_RESP0 || reg == VCS_RESP1) && m->seen_clock == here + 11 ? 11 : 0;
  int32_t clock = here + 3 * cycles;
  clock += vcs_tia_delay(reg, clock) + waited;
  if (clock < before->seen || clock < video->start) return before->seen;
  return clock > video->stop ? video->stop : clock;
}

/* The positions that the integer machine goes on with are the rounded ones. */
static void adopt_positions(const vcs_doing_t *doing) {
  vcs_t *m = doing->relax->m;
  for (int i = 0; i < 5; i++) {
    const int pos = (int)nearbyint(doing->reals->reg[VCS_SLOT_POS + i].value) % 160;
    if (m->pos[i] == pos) continue;
    m->pos[i] = (uint8_t)pos;
    vcs_video_touch(doing->video, 1u << i);
  }
}

void vcs_real_tia_write(vcs_doing_t *doing, unsigned reg, vcs_real_t value, const vcs_tia_before_t *before) {
  vcs_beam_t *beam = &doing->reals->beam;
  const vcs_t *m = doing->relax->m;
  const double time = doing->reg[VCS_SLOT_TIME].value;
  const int32_t clock = m->seen_clock, line_start = VCS_LINE_CLOCKS * ((clock - 1) / VCS_LINE_CLOCKS);
  int32_t sooner = reaches(doing, reg, before, -1), later = reaches(doing, reg, before, 1);
  if (sooner > clock) sooner = clock;
  if (sooner < line_start) sooner = line_start;
  if (later < clock) later = clock;
  if (later > line_start + VCS_LINE_CLOCKS) later = line_start + VCS_LINE_CLOCKS;
  if (reg == VCS_CXCLR) sooner = clock; /* when it clears the latches is the integer machine's */
  beam->seen = clock;
  vcs_beam_draw(doing->relax, doing->links, sooner);
  if (clock > line_start && sooner == line_start) vcs_beam_draw(doing->relax, doing->links, line_start + 1);
  if (reg == VCS_HMOVE && doing->video->hmove_blanks && m->hmove_blank) {
    beam->comb = true;
    beam->comb_clock = m->blank_clock;
  }
  if (!store(doing, reg, value, before)) return;
  if (reg >= VCS_RESP0) adopt_positions(doing);
  vcs_look_t *look = vcs_beam_push(beam);
  if (!look) return;
  vcs_look_update(doing->reals, doing->links, look, reg);
  vcs_look_take_flags(beam, look, m);
  look->sooner = sooner;
  look->clock = clock;
  look->later = later;
  look->time = doing->reg[VCS_SLOT_TIME];
  look->past = time - nearbyint(time);
}
