/* chips.c: derivatives of the accesses to TIA and RIOT registers.
 *
 * Most registers keep some bits of the value written; a table has these. The rest turn bits or time into numbers, and
 * are differenced by evaluating the chip's own rule again:
 *
 *   GRP0, GRP1    latch the other player's graphics (and the ball's) for vertical delay
 *   RESxx         position = a function of time
 *   HMOVE         position = position + a function of the motion register and of time
 *   RESMPx        position of a released missile = the player's
 *   WSYNC         time = the end of the line: an instruction earlier or later within the line waits for the same
 *   INTIM         = a function of what the timer was set to, when, and of time
 *   INPT0-3       = whether the capacitor has charged: a function of time and of when it was released
 *
 * Stops: whether WSYNC waits for the end of another line (in the last cycle of a line, one cycle more costs 76, which
 * is a jump and not a slope; linked jumps grew by 76 in every line, and estimates were worse with them); the strobes
 * right after HMOVE with fixed results (vcs_after_hmove), whether HMOVE draws its comb, whether RESPx hides the
 * player's first copy, the star field, when VSYNC ends the frame, the timer's interval and the effect of its first
 * reading after zero, whether a write to VBLANK lets the paddles' capacitors charge, the bits that port A drives,
 * wheels and keypads.
 */
#include <string.h>

#include "adjoint_delta.h"

/* ---- TIA writes --------------------------------------------------------------------------------------------- */

/* A register that keeps the bits `mask` of what is written, shifted right. */
typedef struct {
  uint16_t offset;
  uint8_t mask, shift;
} keeps_t;

VCS_DATA keeps_t keeps[64] = {
    [VCS_VSYNC] = {VCS_OFFSET(vsync), 0xFF, 0},
    [VCS_VBLANK] = {VCS_OFFSET(vblank), 0xFF, 0},
    [VCS_WSYNC] = {0, 0, 0},
    [VCS_RSYNC] = {0, 0, 0},
    [VCS_NUSIZ0] = {VCS_OFFSET(nusiz), 0xFF, 0},
    [VCS_NUSIZ1] = {VCS_OFFSET(nusiz) + 1, 0xFF, 0},
    [VCS_COLUP0_W] = {VCS_OFFSET(colu) + VCS_COLUP0, 0xFE, 0},
    [VCS_COLUP1_W] = {VCS_OFFSET(colu) + VCS_COLUP1, 0xFE, 0},
    [VCS_COLUPF_W] = {VCS_OFFSET(colu) + VCS_COLUPF, 0xFE, 0},
    [VCS_COLUBK_W] = {VCS_OFFSET(colu) + VCS_COLUBK, 0xFE, 0},
    [VCS_CTRLPF] = {VCS_OFFSET(ctrlpf), 0xFF, 0},
    [VCS_REFP0] = {VCS_OFFSET(reflect), 0x08, 0},
    [VCS_REFP1] = {VCS_OFFSET(reflect) + 1, 0x08, 0},
    [VCS_PF0] = {VCS_OFFSET(pf), 0xFF, 0},
    [VCS_PF1] = {VCS_OFFSET(pf) + 1, 0xFF, 0},
    [VCS_PF2] = {VCS_OFFSET(pf) + 2, 0xFF, 0},
    [VCS_RESP0] = {0, 0, 0},
    [VCS_RESP1] = {0, 0, 0},
    [VCS_RESM0] = {0, 0, 0},
    [VCS_RESM1] = {0, 0, 0},
    [VCS_RESBL] = {0, 0, 0},
    [VCS_AUDC0] = {VCS_OFFSET(audio), 0xFF, 0},
    [VCS_AUDC1] = {VCS_OFFSET(audio) + 1, 0xFF, 0},
    [VCS_AUDF0] = {VCS_OFFSET(audio) + 2, 0xFF, 0},
    [VCS_AUDF1] = {VCS_OFFSET(audio) + 3, 0xFF, 0},
    [VCS_AUDV0] = {VCS_OFFSET(audio) + 4, 0xFF, 0},
    [VCS_AUDV1] = {VCS_OFFSET(audio) + 5, 0xFF, 0},
    [VCS_GRP0] = {VCS_OFFSET(grp), 0xFF, 0},
    [VCS_GRP1] = {VCS_OFFSET(grp) + 1, 0xFF, 0},
    [VCS_ENAM0] = {VCS_OFFSET(enam), 0x02, 0},
    [VCS_ENAM1] = {VCS_OFFSET(enam) + 1, 0x02, 0},
    [VCS_ENABL] = {VCS_OFFSET(enabl), 0x02, 0},
    [VCS_HMP0] = {VCS_OFFSET(hm), 0xF0, 4},
    [VCS_HMP1] = {VCS_OFFSET(hm) + 1, 0xF0, 4},
    [VCS_HMM0] = {VCS_OFFSET(hm) + 2, 0xF0, 4},
    [VCS_HMM1] = {VCS_OFFSET(hm) + 3, 0xF0, 4},
    [VCS_HMBL] = {VCS_OFFSET(hm) + 4, 0xF0, 4},
    [VCS_VDELP0] = {VCS_OFFSET(vdelp), 0x01, 0},
    [VCS_VDELP1] = {VCS_OFFSET(vdelp) + 1, 0x01, 0},
    [VCS_VDELBL] = {VCS_OFFSET(vdelbl), 0x01, 0},
    [VCS_RESMP0] = {VCS_OFFSET(resmp), 0x02, 0},
    [VCS_RESMP1] = {VCS_OFFSET(resmp) + 1, 0x02, 0},
};

/* forward: to = from, for the first `count` slots: all of a byte's, one of a number's */
VCS_STATIC void copy_slots(const vcs_sweep_t *s, size_t from, size_t to, int count) {
  float *in = vcs_slots(s, from), *out = vcs_slots(s, to);
  if (!s->live[s->reverse ? to : from]) {
    if (!s->reverse && s->live[to]) memset(out, 0, (size_t)count * sizeof *out);
    if (!s->reverse) s->live[to] = 0;
    return;
  }
  for (int i = 0; i < count; i++) {
    if (s->reverse) {
      in[i] += out[i];
      out[i] = 0;
    } else {
      out[i] = in[i];
    }
  }
  s->live[to] = !s->reverse;
  s->live[from] = 1;
}

/* A number that is set anew depends on nothing it was before. */
VCS_STATIC void forget(const vcs_sweep_t *s, size_t offset) {
  memset(vcs_slots(s, offset), 0, VCS_SLOTS * sizeof(float));
  s->live[offset] = 0;
}

/* Where an object is after its strobe at a clock of the line. */
VCS_STATIC int strobe_position(int object, int32_t clock) {
  return vcs_reset_position(clock % VCS_LINE_CLOCKS, object <= VCS_P1);
}

/* The shorter way round the line from one position to another. */
VCS_STATIC int moved_by(int from, int to) {
  int by = (to - from + 160) % 160;
  return by > 80 ? by - 160 : by;
}

/* forward: pos = f(time) */
VCS_STATIC void link_strobe(const vcs_sweep_t *s, const vcs_event_t *event, int object) {
  size_t offset = VCS_OFFSET(pos) + (size_t)object;
  float *time = vcs_slots(s, VCS_OFFSET(cycles)), *pos = vcs_slots(s, offset);
  int here = strobe_position(object, event->clock);
  vcs_sides_t sides = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)));
  float by = sides.more * (float)moved_by(here, strobe_position(object, event->clock + 3 * sides.up)) +
             sides.less * (float)moved_by(here, strobe_position(object, event->clock - 3 * sides.down));
  if (s->reverse) {
    *time += by * *pos;
    if (*pos != 0) s->live[VCS_OFFSET(cycles)] = 1;
    forget(s, offset);
  } else {
    forget(s, offset);
    *pos = by * *time;
    s->live[offset] = *pos != 0;
  }
  if (object <= VCS_P1) forget(s, VCS_OFFSET(first_copy_off) + (size_t)object);
}

/* forward: pos += motion(hm, time) for every object */
VCS_STATIC void link_hmove(vcs_sweep_t *s, const vcs_event_t *event) {
  float *time = vcs_slots(s, VCS_OFFSET(cycles));
  int cycle = event->clock % VCS_LINE_CLOCKS / 3, later, sooner;
  vcs_sides_t sides = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)));
  later = (cycle + sides.up) % VCS_LINE_CYCLES;
  sooner = (cycle + VCS_LINE_CYCLES - sides.down) % VCS_LINE_CYCLES;
  const uint8_t *hm = &event->tia[VCS_OFFSET(hm) - VCS_OFFSET(vsync)];
  const vcs_motion_t now = vcs_hmove_at((unsigned)cycle), then = vcs_hmove_at((unsigned)later),
                     before = vcs_hmove_at((unsigned)sooner);
  for (int i = 0; i < 5; i++) {
    size_t offset = VCS_OFFSET(pos) + (size_t)i, motion = VCS_OFFSET(hm) + (size_t)i;
    float *pos = vcs_slots(s, offset), *bits = vcs_slots(s, motion);
    if (s->reverse ? *pos == 0 : !s->live[motion] && *time == 0) continue;
    int base = vcs_hmove_motion(now, hm[i]);
    for (int slot = 0; slot < 12; slot++) {
      if ((slot & 7) > 3 || (!s->reverse && bits[slot] == 0)) continue;
      int by = vcs_hmove_motion(now, vcs_moved(hm[i], slot) & 15) - base;
      vcs_link(s, &bits[slot], pos, vcs_direction(hm[i], slot) * (float)by);
    }
    vcs_link(s, time, pos,
             sides.more * (float)(vcs_hmove_motion(then, hm[i]) - base) +
                 sides.less * (float)(vcs_hmove_motion(before, hm[i]) - base));
    s->live[offset] = s->live[motion] = 1;
    if (s->reverse) s->live[VCS_OFFSET(cycles)] = 1;
  }
  for (size_t p = 0; p < 2; p++) forget(s, VCS_OFFSET(first_copy_off) + p);
}

/* Where a missile is after a write to its RESMPx. */
VCS_STATIC int released_at(const vcs_t *t, size_t missile, uint8_t value) {
  if (!t->resmp[missile] || value & 2) return t->pos[VCS_M0 + missile];
  return vcs_released_position(t->pos[VCS_P0 + missile], t->nusiz[missile]);
}

/* forward: pos[missile] = f(value, resmp, nusiz, positions) */
VCS_STATIC void link_release(vcs_sweep_t *s, const vcs_event_t *event, size_t missile, float v[VCS_SLOTS]) {
  size_t offset = VCS_OFFSET(pos) + VCS_M0 + missile, player = VCS_OFFSET(pos) + missile;
  size_t held = VCS_OFFSET(resmp) + missile, size = VCS_OFFSET(nusiz) + missile;
  vcs_t *t = s->scratch;
  memcpy(&t->vsync, event->tia, VCS_TIA_BYTES);
  bool released = t->resmp[missile] && !(event->value & 2);
  int here = released_at(t, missile, event->value);
  float pos = *vcs_slots(s, offset), new_pos = 0, *to = s->reverse ? &pos : &new_pos;
  if (s->reverse && pos == 0) return;
  forget(s, offset);
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    int there = released_at(t, missile, vcs_moved(event->value, slot));
    vcs_link(s, &v[slot], to, vcs_direction(event->value, slot) * (float)moved_by(here, there));
  }
  t->resmp[missile] ^= 2;
  vcs_link(s, &vcs_slots(s, held)[1], to,
           vcs_sign(t->resmp[missile] ^ 2u, 1) * (float)moved_by(here, released_at(t, missile, event->value)));
  t->resmp[missile] ^= 2;
  uint8_t nusiz = t->nusiz[missile];
  for (int bit = 0; bit < 3; bit++) {
    t->nusiz[missile] = nusiz ^ (uint8_t)(1 << bit);
    vcs_link(s, &vcs_slots(s, size)[bit], to,
             vcs_sign(nusiz, bit) * (float)moved_by(here, released_at(t, missile, event->value)));
  }
  if (s->reverse) {
    *vcs_slots(s, released ? player : offset) += pos;
    s->live[released ? player : offset] = s->live[held] = s->live[size] = 1;
  } else {
    *vcs_slots(s, offset) = new_pos + (released ? *vcs_slots(s, player) : pos);
    s->live[offset] = 1;
  }
}

/* forward: pf_mirrored += f(time): a write in time mirrors this line, a later one the next */
VCS_STATIC void link_mirroring(vcs_sweep_t *s, const vcs_event_t *event) {
  float *time = vcs_slots(s, VCS_OFFSET(cycles)), *mirrored = vcs_slots(s, VCS_OFFSET(pf_mirrored));
  if (*(s->reverse ? mirrored : time) == 0) return;
  vcs_sweep_tia(s, event, event->clock);
  vcs_sides_t sides = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)));
  const int moved[3] = {-3 * sides.down, 0, 3 * sides.up};
  int before = s->scratch->pf_mirrored, after = event->value & 1, now[3];
  for (int i = 0; i < 3; i++) {
    int hpos = (event->clock + moved[i] + VCS_LINE_CLOCKS) % VCS_LINE_CLOCKS;
    now[i] = vcs_mirrors_this_line(hpos) ? after : before;
  }
  vcs_link(s, time, mirrored, sides.more * (float)(now[2] - now[1]) + sides.less * (float)(now[0] - now[1]));
  s->live[s->reverse ? VCS_OFFSET(cycles) : VCS_OFFSET(pf_mirrored)] = 1;
}

/* Links an input that turns one byte written into another to what a register keeps of them. Motion registers and
 * colours are numbers, and keep carries; in other registers every bit has its own meaning. */
VCS_STATIC void link_field(const vcs_sweep_t *s, const keeps_t *k, float *in, uint8_t was, uint8_t is, float weight) {
  float *field = vcs_slots(s, k->offset);
  was = (uint8_t)((was & k->mask) >> k->shift);
  is = (uint8_t)((is & k->mask) >> k->shift);
  bool number = k->shift || vcs_has_carries(k->offset);
  int carry = number ? vcs_carry_between(was, is, k->shift ? 0x0F : 0xFF) : -1;
  if (carry < 0) {
    vcs_link_bits(s, in, field, was, is, weight);
  } else {
    vcs_link(s, in, field + 8 + carry, weight * vcs_direction(was, 8 + carry));
  }
}

/* The same for all slots of the byte at once, in reverse mode, where the field is not shifted. A bit has its own delta.
 * A carry moves its bit and the next one, and if the two are alike all that the next carry moves. Where bits mean
 * something each, the sum of their deltas is its delta; a number has carries of its own, and below the bits that it
 * keeps (of colours, all but the lowest) it moves by the next one. */
VCS_STATIC void delta_by_field(const vcs_sweep_t *s, const keeps_t *k, uint8_t value, float v[VCS_SLOTS]) {
  const float *slots = vcs_slots(s, k->offset);
  const bool number = vcs_has_carries(k->offset);
  float bit_above = 0, carry_above = 0;
  for (int bit = 7; bit >= 0; bit--) {
    const float sign = vcs_adjoint_delta_sign(value, bit), delta = k->mask >> bit & 1 ? sign * slots[bit] : 0;
    const bool alike = bit < 7 && !((value ^ value >> 1) >> bit & 1), kept = number && bit < 7 && k->mask >> bit & 1;
    carry_above = kept ? -sign * slots[8 + bit] : delta + (alike ? carry_above : bit_above);
    bit_above = delta;
    v[bit] += sign * delta;
    v[8 + bit] -= sign * carry_above;
  }
}

/* forward: field = (value & mask) >> shift */
VCS_STATIC void link_kept(const vcs_sweep_t *s, const keeps_t *k, uint8_t value, float v[VCS_SLOTS]) {
  if (s->reverse && !s->live[k->offset]) return;
  float *field = vcs_slots(s, k->offset);
  if (s->reverse && !k->shift) {
    if (vcs_any(field, VCS_SLOTS)) delta_by_field(s, k, value, v);
    forget(s, k->offset);
    return;
  }
  if (!s->reverse) memset(field, 0, VCS_SLOTS * sizeof *field);
  bool any = false;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!s->reverse && v[slot] == 0) continue;
    link_field(s, k, &v[slot], value, vcs_moved(value, slot), vcs_direction(value, slot));
    any = true;
  }
  if (s->reverse) memset(field, 0, VCS_SLOTS * sizeof *field);
  s->live[k->offset] = any && !s->reverse;
}

VCS_EXTERN void vcs_sweep_tia_write(vcs_sweep_t *s, const vcs_event_t *event, float v[VCS_SLOTS]) {
  unsigned reg = event->reg;
  const keeps_t *k = &keeps[reg];
  const uint8_t *tia = event->tia;
  size_t player = reg & 1;
  const keeps_t dump = {VCS_OFFSET(dump), 0x80, 7};
  switch (reg) {
    case VCS_GRP0: /* forward: grp_old[1] = grp[1]; grp[0] = value */
      copy_slots(s, VCS_OFFSET(grp) + 1, VCS_OFFSET(grp_old) + 1, VCS_SLOTS);
      link_kept(s, k, event->value, v);
      return;
    case VCS_GRP1: /* forward: grp_old[0] = grp[0]; enabl_old = enabl; grp[1] = value */
      copy_slots(s, VCS_OFFSET(grp), VCS_OFFSET(grp_old), VCS_SLOTS);
      copy_slots(s, VCS_OFFSET(enabl), VCS_OFFSET(enabl_old), VCS_SLOTS);
      link_kept(s, k, event->value, v);
      return;
    case VCS_RESP0:
    case VCS_RESP1:
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      link_strobe(s, event, (int)reg - VCS_RESP0);
      return;
    case VCS_RESMP0:
    case VCS_RESMP1: /* forward: if it is released, pos[missile] = pos[player] + middle; resmp = value & 2 */
      if (!s->reverse) link_release(s, event, player, v);
      link_kept(s, k, event->value, v);
      if (s->reverse) link_release(s, event, player, v);
      return;
    case VCS_HMOVE:
      link_hmove(s, event);
      return;
    case VCS_HMCLR:
      for (size_t i = 0; i < 5; i++) forget(s, VCS_OFFSET(hm) + i);
      return;
    case VCS_CXCLR:
      for (size_t i = 0; i < 2; i++) forget(s, VCS_OFFSET(collisions) + i);
      return;
    case VCS_WSYNC: /* forward: time = the end of the line */
      forget(s, VCS_OFFSET(cycles));
      return;
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      forget(s, VCS_OFFSET(first_copy_off) + player);
      link_kept(s, k, event->value, v);
      return;
    case VCS_CTRLPF: /* forward: ctrlpf = value; pf_mirrored = value & 1 unless the right half has begun */
      if (s->reverse) link_mirroring(s, event);
      if (vcs_mirrors_this_line(event->clock % VCS_LINE_CLOCKS)) {
        const keeps_t mirrored = {VCS_OFFSET(pf_mirrored), 0x01, 0};
        link_kept(s, &mirrored, event->value, v);
      }
      if (!s->reverse) link_mirroring(s, event);
      link_kept(s, k, event->value, v);
      return;
    case VCS_VBLANK: /* forward: vblank = value; dump = bit 7 of it; when that falls, dump_cycle = time */
      link_kept(s, &dump, event->value, v);
      if (tia[VCS_OFFSET(vblank) - VCS_OFFSET(vsync)] & ~event->value & 0x80) {
        copy_slots(s, VCS_OFFSET(cycles), VCS_OFFSET(dump_cycle), 1);
      }
      link_kept(s, k, event->value, v);
      return;
    default:
      if (k->mask) link_kept(s, k, event->value, v);
      return;
  }
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* The fields of the machine that the RIOT and the ports have, at the row of the walk: times, paddles, all from the
 * timer up to the controllers, the capacitors. */
VCS_STATIC void look_up(const vcs_sweep_t *s, vcs_t *t, uint32_t cycles) {
  const uint8_t *machine = s->tape->snapshots[s->snapshot].machine;
  memcpy(t, machine, VCS_OFFSET(line));
  memcpy(t->paddle, machine + VCS_OFFSET(paddle), sizeof t->paddle);
  memcpy(&t->timer, machine + VCS_OFFSET(timer), VCS_OFFSET(vsync) - VCS_OFFSET(timer));
  t->dump = machine[VCS_OFFSET(dump)];
  t->cycles = cycles;
}

VCS_EXTERN bool vcs_sweep_chip_byte(vcs_sweep_t *s, uint16_t addr, uint32_t cycles, uint8_t bus, uint8_t *byte) {
  vcs_t *t = s->scratch;
  int input = (addr & 15) - 8;
  if (vcs_chip_at(addr) == VCS_TO_RIOT) {
    look_up(s, t, cycles);
    *byte = vcs_riot_read(s->cart, t, addr);
    return addr & 7 || s->cart->passive_ports;
  }
  if (input < 0) return false;
  if (input < 6) look_up(s, t, cycles);
  *byte = (uint8_t)((bus & 0x3F) | (input < 6 ? vcs_tia_input(s->cart, t, input) << 7 : 0));
  return true;
}

VCS_STATIC uint8_t timer_at(vcs_sweep_t *s, uint32_t cycles, uint8_t timer, bool status) {
  look_up(s, s->scratch, cycles);
  s->scratch->timer = timer;
  return status ? vcs_riot_instat(s->scratch) : vcs_riot_intim(s->scratch);
}

/* The same with the timer set earlier or later; when it was first read after it ran out does not move with it. */
VCS_STATIC uint8_t timer_set_at(vcs_sweep_t *s, uint32_t cycles, int by, bool status) {
  look_up(s, s->scratch, cycles);
  s->scratch->timer_cycle += (uint32_t)by;
  return status ? vcs_riot_instat(s->scratch) : vcs_riot_intim(s->scratch);
}

/* forward: v = intim(timer, time, timer_cycle) */
VCS_STATIC void link_timer(vcs_sweep_t *s, uint32_t cycles, bool status, float v[VCS_SLOTS]) {
  float *time = vcs_slots(s, VCS_OFFSET(cycles)), *set = vcs_slots(s, VCS_OFFSET(timer_cycle)),
        *timer = vcs_slots(s, VCS_OFFSET(timer));
  look_up(s, s->scratch, cycles);
  uint8_t value = s->scratch->timer, base = timer_at(s, cycles, value, status);
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!s->reverse && timer[slot] == 0) continue;
    vcs_link_byte(s, &timer[slot], v, base, timer_at(s, cycles, vcs_moved(value, slot), status),
                  vcs_direction(value, slot));
  }
  vcs_sides_t since = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)) -
                                       vcs_tangent(s, VCS_OFFSET(timer_cycle))); /* what counts is the time between */
  uint8_t later = timer_at(s, cycles + (uint32_t)since.up, value, status);
  uint8_t sooner = timer_at(s, cycles - (uint32_t)since.down, value, status);
  vcs_link_byte(s, time, v, base, later, since.more);
  vcs_link_byte(s, time, v, base, sooner, since.less);
  vcs_sides_t until = vcs_sides_of_beginning(s, since);
  vcs_link_byte(s, set, v, base, timer_set_at(s, cycles, until.up, status), until.more);
  vcs_link_byte(s, set, v, base, timer_set_at(s, cycles, -until.down, status), until.less);
  if (s->reverse) s->live[VCS_OFFSET(cycles)] = s->live[VCS_OFFSET(timer_cycle)] = s->live[VCS_OFFSET(timer)] = 1;
}

/* forward: v bit 7 = whether the capacitor has charged at this time */
VCS_STATIC void link_pot(vcs_sweep_t *s, uint32_t cycles, int input, float v[VCS_SLOTS]) {
  float *time = vcs_slots(s, VCS_OFFSET(cycles)), *released = vcs_slots(s, VCS_OFFSET(dump_cycle));
  size_t offset = VCS_OFFSET(paddle) + 4 * (size_t)input;
  float *paddle = vcs_slots(s, offset);
  vcs_t *t = s->scratch;
  look_up(s, t, cycles);
  uint8_t base = (uint8_t)(vcs_tia_input(s->cart, t, input) << 7);
  vcs_sides_t since = vcs_sides(s, vcs_tangent(s, VCS_OFFSET(cycles)) - vcs_tangent(s, VCS_OFFSET(dump_cycle))),
              turned = vcs_sides(s, vcs_tangent(s, offset));
  for (int i = 0; i < 2; i++) { /* later, sooner */
    t->cycles = i ? cycles - (uint32_t)since.down : cycles + (uint32_t)since.up;
    uint8_t is = (uint8_t)(vcs_tia_input(s->cart, t, input) << 7);
    vcs_link_byte(s, time, v, base, is, i ? since.less : since.more);
  }
  vcs_sides_t until = vcs_sides_of_beginning(s, since);
  for (int i = 0; i < 2; i++) { /* released later is read sooner */
    t->cycles = i ? cycles + (uint32_t)until.down : cycles - (uint32_t)until.up;
    uint8_t is = (uint8_t)(vcs_tia_input(s->cart, t, input) << 7);
    vcs_link_byte(s, released, v, base, is, i ? until.less : until.more);
  }
  t->cycles = cycles;
  float *held = vcs_slots(s, VCS_OFFSET(dump));
  t->dump ^= 1;
  vcs_link_byte(s, held, v, base, (uint8_t)(vcs_tia_input(s->cart, t, input) << 7), vcs_sign(t->dump ^ 1u, 0));
  t->dump ^= 1;
  if (s->reverse) s->live[VCS_OFFSET(dump)] = 1;
  int64_t resistance = t->paddle[input];
  for (int i = 0; i < 2; i++) { /* more, less; a paddle's unit is VCS_PADDLE_STEP, and its track has ends */
    int64_t turned_to = resistance + (int64_t)VCS_PADDLE_STEP * (i ? -turned.down : turned.up);
    t->paddle[input] = (int32_t)(turned_to < VCS_RESISTANCE_MIN   ? VCS_RESISTANCE_MIN
                                 : turned_to > VCS_RESISTANCE_MAX ? VCS_RESISTANCE_MAX
                                                                  : turned_to);
    uint8_t is = (uint8_t)(vcs_tia_input(s->cart, t, input) << 7);
    vcs_link_byte(s, paddle, v, base, is, i ? turned.less : turned.more);
  }
  if (s->reverse) s->live[VCS_OFFSET(cycles)] = s->live[VCS_OFFSET(dump_cycle)] = s->live[offset] = 1;
}

/* forward: v[to] = field[from] */
VCS_STATIC void link_bits(const vcs_sweep_t *s, size_t offset, uint8_t bits, float v[VCS_SLOTS]) {
  float *field = vcs_slots(s, offset);
  for (int bit = 0; bit < 8; bit++) {
    if (bits >> bit & 1) vcs_link(s, &field[bit], &v[bit], 1);
  }
  if (s->reverse) s->live[offset] = 1;
}

VCS_STATIC void link_tia_read(vcs_sweep_t *s, unsigned reg, uint32_t cycles, float v[VCS_SLOTS]) {
  if (reg < 8) { /* forward: v7, v6 = two latches */
    vcs_link(s, vcs_latch(s, 2 * (int)reg), &v[7], 1);
    vcs_link(s, vcs_latch(s, 2 * (int)reg + 1), &v[6], 1);
    if (s->reverse && (v[7] != 0 || v[6] != 0))
      s->live[VCS_OFFSET(collisions)] = s->live[VCS_OFFSET(collisions) + 1] = 1;
    return;
  }
  int input = (int)reg - 8;
  if (input >= 6) return;
  int port = input < 4 ? input >> 1 : input - 4;
  if (s->cart->controller[port] == VCS_CONTROLLER_KEYBOARD) return;
  if (input < 4) {
    link_pot(s, cycles, input, v);
  } else {
    float *fire = vcs_slots(s, VCS_OFFSET(fire) + (size_t)port);
    vcs_link(s, &fire[0], &v[7], 1);
    if (s->reverse) s->live[VCS_OFFSET(fire) + (size_t)port] = 1;
  }
}

VCS_EXTERN void vcs_sweep_chip_read(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, uint32_t cycles,
                                    float v[VCS_SLOTS]) {
  (void)row;
  if (vcs_chip_at(addr) == VCS_TO_TIA) {
    link_tia_read(s, addr & 15, cycles, v);
    return;
  }
  switch (addr & 7) {
    case 0:
      if (s->cart->passive_ports) link_bits(s, VCS_OFFSET(swcha), 0xFF, v);
      return;
    case 1:
      link_bits(s, VCS_OFFSET(ddra), 0xFF, v);
      return;
    case 2:
      link_bits(s, VCS_OFFSET(swchb), 0xFF, v);
      return;
    case 3:
      return;
    case 4:
    case 6:
      link_timer(s, cycles, false, v);
      return;
    default:
      link_timer(s, cycles, true, v);
      return;
  }
}

VCS_EXTERN void vcs_sweep_riot_write(vcs_sweep_t *s, const vcs_row_t *row, uint16_t addr, float v[VCS_SLOTS]) {
  const keeps_t ddra = {VCS_OFFSET(ddra), 0xFF, 0}, timer = {VCS_OFFSET(timer), 0xFF, 0};
  unsigned reg = addr & 7;
  if (reg == 1) link_kept(s, &ddra, row->value, v);
  if (reg < 4 || !(addr & 0x10)) return;
  link_kept(s, &timer, row->value, v); /* forward: timer = value; timer_cycle = time */
  copy_slots(s, VCS_OFFSET(cycles), VCS_OFFSET(timer_cycle), 1);
}
