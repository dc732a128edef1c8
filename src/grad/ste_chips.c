/* ste_chips.c: straight-through derivatives of the accesses to TIA and RIOT registers.
 *
 * A register that keeps a byte keeps its number. One that keeps a bit gets the bit's share of the byte, 1/255; the
 * motion registers keep a nibble, 1/16. The rest turn bytes or time into numbers:
 *
 *   GRP0, GRP1    latch the other player's graphics (and the ball's) for vertical delay
 *   RESxx         three clocks a cycle; nothing in the horizontal blank, where the position is fixed
 *   HMOVE         position by motion: the mean of the table's two neighbouring differences
 *   RESMPx        position of a released missile = the player's
 *   WSYNC         absorbs time
 *   INTIM         less by one for every interval of time, more by one for every one the timer was set to
 *   INPT0-3       the comparator is a ramp of slope 1/255 in cycles, as a comparison of bytes is
 *
 * Stops: the time of an HMOVE, INSTAT, port A's direction, wheels and keypads, the strobes of vcs_after_hmove.
 */
#include "ste.h"

/* ---- Writing -------------------------------------------------------------------------------------------------- */

typedef enum { KEEPS_NOTHING, KEEPS_BYTE, KEEPS_BIT, KEEPS_NIBBLE } keeps_t;

VCS_DATA struct {
  uint16_t offset;
  keeps_t keeps;
} registers[64] = {
    [VCS_VSYNC] = {VCS_OFFSET(vsync), KEEPS_BYTE},
    [VCS_VBLANK] = {VCS_OFFSET(vblank), KEEPS_BYTE},
    [VCS_WSYNC] = {0, KEEPS_NOTHING},
    [VCS_RSYNC] = {0, KEEPS_NOTHING},
    [VCS_NUSIZ0] = {VCS_OFFSET(nusiz), KEEPS_BYTE},
    [VCS_NUSIZ1] = {VCS_OFFSET(nusiz) + 1, KEEPS_BYTE},
    [VCS_COLUP0_W] = {VCS_OFFSET(colu) + VCS_COLUP0, KEEPS_BYTE},
    [VCS_COLUP1_W] = {VCS_OFFSET(colu) + VCS_COLUP1, KEEPS_BYTE},
    [VCS_COLUPF_W] = {VCS_OFFSET(colu) + VCS_COLUPF, KEEPS_BYTE},
    [VCS_COLUBK_W] = {VCS_OFFSET(colu) + VCS_COLUBK, KEEPS_BYTE},
    [VCS_CTRLPF] = {VCS_OFFSET(ctrlpf), KEEPS_BYTE},
    [VCS_REFP0] = {VCS_OFFSET(reflect), KEEPS_BIT},
    [VCS_REFP1] = {VCS_OFFSET(reflect) + 1, KEEPS_BIT},
    [VCS_PF0] = {VCS_OFFSET(pf), KEEPS_BYTE},
    [VCS_PF1] = {VCS_OFFSET(pf) + 1, KEEPS_BYTE},
    [VCS_PF2] = {VCS_OFFSET(pf) + 2, KEEPS_BYTE},
    [VCS_RESP0] = {0, KEEPS_NOTHING},
    [VCS_RESP1] = {0, KEEPS_NOTHING},
    [VCS_RESM0] = {0, KEEPS_NOTHING},
    [VCS_RESM1] = {0, KEEPS_NOTHING},
    [VCS_RESBL] = {0, KEEPS_NOTHING},
    [VCS_AUDC0] = {VCS_OFFSET(audio), KEEPS_BYTE},
    [VCS_AUDC1] = {VCS_OFFSET(audio) + 1, KEEPS_BYTE},
    [VCS_AUDF0] = {VCS_OFFSET(audio) + 2, KEEPS_BYTE},
    [VCS_AUDF1] = {VCS_OFFSET(audio) + 3, KEEPS_BYTE},
    [VCS_AUDV0] = {VCS_OFFSET(audio) + 4, KEEPS_BYTE},
    [VCS_AUDV1] = {VCS_OFFSET(audio) + 5, KEEPS_BYTE},
    [VCS_GRP0] = {VCS_OFFSET(grp), KEEPS_BYTE},
    [VCS_GRP1] = {VCS_OFFSET(grp) + 1, KEEPS_BYTE},
    [VCS_ENAM0] = {VCS_OFFSET(enam), KEEPS_BIT},
    [VCS_ENAM1] = {VCS_OFFSET(enam) + 1, KEEPS_BIT},
    [VCS_ENABL] = {VCS_OFFSET(enabl), KEEPS_BIT},
    [VCS_HMP0] = {VCS_OFFSET(hm), KEEPS_NIBBLE},
    [VCS_HMP1] = {VCS_OFFSET(hm) + 1, KEEPS_NIBBLE},
    [VCS_HMM0] = {VCS_OFFSET(hm) + 2, KEEPS_NIBBLE},
    [VCS_HMM1] = {VCS_OFFSET(hm) + 3, KEEPS_NIBBLE},
    [VCS_HMBL] = {VCS_OFFSET(hm) + 4, KEEPS_NIBBLE},
    [VCS_VDELP0] = {VCS_OFFSET(vdelp), KEEPS_BIT},
    [VCS_VDELP1] = {VCS_OFFSET(vdelp) + 1, KEEPS_BIT},
    [VCS_VDELBL] = {VCS_OFFSET(vdelbl), KEEPS_BIT},
    [VCS_RESMP0] = {VCS_OFFSET(resmp), KEEPS_BIT},
    [VCS_RESMP1] = {VCS_OFFSET(resmp) + 1, KEEPS_BIT},
};

/* forward: to = weight * from */
VCS_STATIC void set_slot(const vcs_sweep_t *s, float *from, float *to, float weight) {
  if (s->reverse) {
    *from += weight * *to;
    *to = 0;
  } else {
    *to = weight * *from;
  }
}

VCS_STATIC void copy_field(const vcs_sweep_t *s, size_t from, size_t to) {
  set_slot(s, vcs_slots(s, from), vcs_slots(s, to), 1);
}

VCS_STATIC void write_kept(vcs_ste_t *ste, unsigned reg) {
  if (!registers[reg].keeps) return;
  float *kept = vcs_slots(ste->s, registers[reg].offset);
  if (ste->s->reverse && *kept == 0) return;
  const float weights[] = {0, 1, ste->rules.lift, ste->rules.half / 8};
  set_slot(ste->s, &ste->lane[VCS_STE_M], kept, weights[registers[reg].keeps]);
}

/* forward: pos = 3 * time, as far as the beam is in the picture */
VCS_STATIC void link_strobe(vcs_ste_t *ste, const vcs_event_t *event, size_t object) {
  bool moves = event->clock % VCS_LINE_CLOCKS >= VCS_HBLANK_CLOCKS;
  set_slot(ste->s, ste->time, vcs_slots(ste->s, VCS_OFFSET(pos) + object), moves ? 3 * ste->rules.place : 0);
}

/* Pixels to the right by one unit more of signed motion, -8 to 7 as the nibble has it. */
VCS_STATIC float motion_slope(int cycle, unsigned nibble) {
  vcs_motion_t at = vcs_hmove_at((unsigned)cycle);
  int motion = nibble < 8 ? (int)nibble : (int)nibble - 16, more = motion < 7 ? motion + 1 : motion,
      less = motion > -8 ? motion - 1 : motion;
  int moved = vcs_hmove_motion(at, (unsigned)more & 15) - vcs_hmove_motion(at, (unsigned)less & 15);
  return (float)moved / (float)(more - less);
}

/* forward: pos += slope * hm for every object */
VCS_STATIC void link_hmove(vcs_ste_t *ste, const vcs_event_t *event) {
  const vcs_sweep_t *s = ste->s;
  const uint8_t *nibbles = &event->tia[VCS_OFFSET(hm) - VCS_OFFSET(vsync)];
  int cycle = event->clock % VCS_LINE_CLOCKS / 3;
  for (size_t i = 0; i < 5; i++) {
    float *motion = vcs_slots(s, VCS_OFFSET(hm) + i), *pos = vcs_slots(s, VCS_OFFSET(pos) + i);
    if ((s->reverse ? *pos : *motion) != 0)
      vcs_link(s, motion, pos, ste->rules.place * motion_slope(cycle, nibbles[i]));
  }
}

VCS_EXTERN void vcs_ste_tia_write(vcs_ste_t *ste, const vcs_event_t *event) {
  const vcs_sweep_t *s = ste->s;
  const uint8_t *tia = event->tia;
  unsigned reg = event->reg;
  size_t player = reg & 1;
  switch (reg) {
    case VCS_GRP0:
      copy_field(s, VCS_OFFSET(grp) + 1, VCS_OFFSET(grp_old) + 1);
      break;
    case VCS_GRP1:
      copy_field(s, VCS_OFFSET(grp), VCS_OFFSET(grp_old));
      copy_field(s, VCS_OFFSET(enabl), VCS_OFFSET(enabl_old));
      break;
    case VCS_RESP0:
    case VCS_RESP1:
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      link_strobe(ste, event, reg - VCS_RESP0);
      return;
    case VCS_RESMP0:
    case VCS_RESMP1:
      if (tia[VCS_OFFSET(resmp) - VCS_OFFSET(vsync) + player] && !(event->value & 2))
        copy_field(s, VCS_OFFSET(pos) + player, VCS_OFFSET(pos) + VCS_M0 + player);
      break;
    case VCS_HMOVE:
      link_hmove(ste, event);
      return;
    case VCS_HMCLR:
      for (size_t i = 0; i < 5; i++) *vcs_slots(s, VCS_OFFSET(hm) + i) = 0;
      return;
    case VCS_CXCLR:
      for (int i = 0; i < 16; i++) *vcs_latch(s, i) = 0;
      return;
    case VCS_WSYNC:
      *ste->time = 0;
      return;
    case VCS_VBLANK: /* the capacitors are let go */
      if (tia[VCS_OFFSET(vblank) - VCS_OFFSET(vsync)] & ~event->value & 0x80)
        set_slot(s, ste->time, vcs_slots(s, VCS_OFFSET(dump_cycle)), ste->rules.place);
      break;
    default:
      break;
  }
  write_kept(ste, reg);
}

VCS_EXTERN void vcs_ste_riot_write(vcs_ste_t *ste, uint16_t addr) {
  const vcs_sweep_t *s = ste->s;
  float *m = &ste->lane[VCS_STE_M];
  unsigned reg = addr & 7;
  if (reg == 1) set_slot(s, m, vcs_slots(s, VCS_OFFSET(ddra)), 1);
  if (reg < 4 || !(addr & 0x10)) return;
  set_slot(s, m, vcs_slots(s, VCS_OFFSET(timer)), 1);
  set_slot(s, ste->time, vcs_slots(s, VCS_OFFSET(timer_cycle)), ste->rules.place);
}

/* ---- Reading -------------------------------------------------------------------------------------------------- */

/* forward: m += bits, each with its weight in a byte */
VCS_STATIC void link_pins(const vcs_sweep_t *s, float *pins, float *m) {
  for (int bit = 0; bit < 8; bit++) vcs_link(s, &pins[bit], m, (float)(1 << bit));
}

/* forward: m += timer - (time - timer_cycle) / interval */
VCS_STATIC void link_timer(vcs_ste_t *ste, const vcs_row_t *row, float *m) {
  const vcs_sweep_t *s = ste->s;
  const vcs_t *side = ste->side;
  uint32_t elapsed = vcs_row_time(ste->s->tape, row, false) - 1 - side->timer_cycle;
  bool runs_out = vcs_riot_intervals(side, elapsed) < 0 && !side->timer_was_read;
  float per_cycle = ste->rules.place / (float)(runs_out ? 1 : 1 << side->timer_shift);
  vcs_link(s, vcs_slots(s, VCS_OFFSET(timer)), m, 1);
  vcs_link(s, ste->time, m, -per_cycle);
  vcs_link(s, vcs_slots(s, VCS_OFFSET(timer_cycle)), m, per_cycle);
}

/* forward: m += 128 * (time - dump_cycle - cycles to charge) / 255 */
VCS_STATIC void link_pot(vcs_ste_t *ste, size_t input, float *m) {
  const vcs_sweep_t *s = ste->s;
  const float ramp = 128 * ste->rules.lift;
  const float cycles_to_charge = (float)VCS_CHARGE_CYCLES * VCS_PADDLE_STEP / VCS_CHARGE_OHMS;
  vcs_link(s, ste->time, m, ramp);
  vcs_link(s, vcs_slots(s, VCS_OFFSET(dump_cycle)), m, -ramp);
  vcs_link(s, vcs_slots(s, VCS_OFFSET(paddle) + 4 * input), m, -ramp * cycles_to_charge);
}

VCS_STATIC void link_tia_read(vcs_ste_t *ste, unsigned reg, float *m) {
  const vcs_sweep_t *s = ste->s;
  if (reg < 8) {
    vcs_link(s, vcs_latch(s, 2 * (int)reg), m, 128);
    vcs_link(s, vcs_latch(s, 2 * (int)reg + 1), m, 64);
    return;
  }
  unsigned input = reg - 8;
  if (input >= 6 || s->cart->controller[input < 4 ? input >> 1 : input - 4] == VCS_CONTROLLER_KEYBOARD) return;
  if (input < 4) {
    link_pot(ste, input, m);
  } else {
    vcs_link(s, vcs_slots(s, VCS_OFFSET(fire) + input - 4), m, 128);
  }
}

VCS_EXTERN void vcs_ste_chip_read(vcs_ste_t *ste, const vcs_row_t *row) {
  const vcs_sweep_t *s = ste->s;
  float *m = &ste->lane[VCS_STE_M];
  if (vcs_chip_at(row->addr) == VCS_TO_TIA) {
    link_tia_read(ste, row->addr & 15, m);
    return;
  }
  switch (row->addr & 7) {
    case 0:
      if (s->cart->passive_ports) link_pins(s, vcs_slots(s, VCS_OFFSET(swcha)), m);
      return;
    case 1:
      vcs_link(s, vcs_slots(s, VCS_OFFSET(ddra)), m, 1);
      return;
    case 2:
      link_pins(s, vcs_slots(s, VCS_OFFSET(swchb)), m);
      return;
    case 4:
    case 6:
      link_timer(ste, row, m);
      return;
    default:
      return;
  }
}
