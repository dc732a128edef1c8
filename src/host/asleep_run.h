/* asleep_run.h: the core on a TIA that sleeps (core/tia_asleep.h).
 *
 * A file that includes this gets the core compiled once more, with the hot loop's stores to the TIA replaced by those
 * below. They do what core/tia.h does, for the registers that programs write most, up to the time at which the TIA has
 * to wake up. asleep.c includes it with a hook that runs compiled code.
 */
#ifndef VCS_HOST_ASLEEP_RUN_H
#define VCS_HOST_ASLEEP_RUN_H

#include <string.h>

#ifndef VCS_TIA_ASLEEP
#define VCS_TIA_ASLEEP
#endif
#include "core/tia.h"
#include "host/asleep.h"

/* The shape of an object is about to change by the access to register r that was noted last, both constants; then it is
 * on or not. */
VCS_HOT_FN void change(vcs_t *m, vcs_asleep_t *asleep, unsigned object, unsigned r) {
  vcs_asleep_change_shape(m, &asleep->video, object, r);
}
VCS_HOT_FN void turn(vcs_asleep_t *asleep, unsigned object, bool on) {
  asleep->on = (uint8_t)((asleep->on & ~(1u << object)) | (unsigned)on << object);
}

VCS_SLOW_FN void set_colour(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  if (asleep->rows) {
    vcs_rows_recolour(asleep->rows, m, &asleep->video, asleep->on, i, vcs_moment_now(m, asleep->last));
  }
  m->colu[i] = value;
}

/* The playfield gets a new byte. */
VCS_HOT_FN void put_playfield(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i, uint64_t at) {
  vcs_asleep_part(asleep, 1u << VCS_PF);
  asleep->video.stale |= 1u << VCS_PF;
  asleep->since[VCS_PF] = at;
  m->pf[i] = value;
  turn(asleep, VCS_PF, m->pf[0] >> 4 | m->pf[1] | m->pf[2]);
}

/* The same where collisions are known, at a clock at which rows have ended, or that needs more than a row's bits. */
VCS_SLOW_FN void set_playfield_shown(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i, int32_t clock) {
  vcs_rows_change_field(asleep->rows, m, &asleep->video, asleep->on, i, clock);
  put_playfield(m, asleep, value, i, vcs_moment(asleep->last, VCS_PF0 + i));
}

/* The same where there may be a collision. */
VCS_SLOW_FN void set_playfield_met(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  const uint64_t at = vcs_moment(asleep->last, VCS_PF0 + i);
  vcs_asleep_collide_these(m, &asleep->video, 1u << VCS_PF, at);
  if (asleep->rows) {
    set_playfield_shown(m, asleep, value, i, vcs_moment_clock(m, &asleep->video, at));
  } else {
    put_playfield(m, asleep, value, i, at);
  }
}

/* Programs that change the playfield do it up to six times a line. Without a new collision and within a row this calls
 * nothing. */
VCS_HOT_FN void set_playfield(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  const uint64_t at = vcs_moment(asleep->last, VCS_PF0 + i);
  vcs_rows_t *rows = asleep->rows;
  if (VCS_UNLIKELY(vcs_asleep_chances(m, asleep, 1u << VCS_PF))) {
    set_playfield_met(m, asleep, value, i);
    return;
  }
  if (rows) {
    const int32_t now = vcs_moment_now(m, at), clock = now + vcs_tia_delay(VCS_PF0 + i, now), x = clock - rows->clock;
    if (x <= 0) {
      rows->dirty |= 1u << VCS_PF;
    } else if (!vcs_rows_keep_field(rows, m, i, x)) {
      set_playfield_shown(m, asleep, value, i, clock);
      return;
    }
  }
  put_playfield(m, asleep, value, i, at);
}

VCS_SLOW_FN void set_playfield_0(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  set_playfield(m, asleep, value, 0);
}
VCS_SLOW_FN void set_playfield_1(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  set_playfield(m, asleep, value, 1);
}
VCS_SLOW_FN void set_playfield_2(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  set_playfield(m, asleep, value, 2);
}

/* GRPx: what is delayed does not show yet; what it delays may show now. */
VCS_HOT_FN void set_player(vcs_t *m, vcs_asleep_t *asleep, unsigned side, uint8_t value) {
  unsigned other = side ^ 1;
  if (m->grp[side] != value && !m->vdelp[side]) {
    change(m, asleep, VCS_P0 + side, VCS_GRP0 + side);
    turn(asleep, VCS_P0 + side, value);
  }
  if (m->grp_old[other] != m->grp[other] && m->vdelp[other]) {
    change(m, asleep, VCS_P0 + other, VCS_GRP0 + side);
    turn(asleep, VCS_P0 + other, m->grp[other]);
  }
  if (side && m->enabl_old != m->enabl && m->vdelbl) {
    change(m, asleep, VCS_BL, VCS_GRP1);
    turn(asleep, VCS_BL, m->enabl);
  }
  vcs_tia_latch(m, side, value);
}
VCS_SLOW_FN void set_player_0(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  set_player(m, asleep, 0, value);
}
VCS_SLOW_FN void set_player_1(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  set_player(m, asleep, 1, value);
}

VCS_SLOW_FN void set_missile(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  change(m, asleep, VCS_M0 + i, VCS_ENAM0);
  m->enam[i] = value;
  turn(asleep, VCS_M0 + i, vcs_missile_on(m, (int)i));
}

/* ENABL; if it is delayed it does not show yet. */
VCS_SLOW_FN void set_ball(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  (void)i;
  if (m->vdelbl) {
    m->enabl = value;
    return;
  }
  change(m, asleep, VCS_BL, VCS_ENABL);
  m->enabl = value;
  turn(asleep, VCS_BL, value);
}

VCS_SLOW_FN void set_reflect(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  if (asleep->on >> (VCS_P0 + i) & 1) {
    change(m, asleep, VCS_P0 + i, VCS_REFP0);
  } else if (asleep->rows && asleep->rows->split >> (VCS_P0 + i) & 1) { /* it was on in a row that may have ended */
    const int32_t now = vcs_moment_now(m, asleep->last), clock = now + vcs_tia_delay(VCS_REFP0, now);
    if (clock >= asleep->rows->clock + VCS_WIDTH)
      asleep->rows->end_rows(asleep->rows, m, &asleep->video, asleep->on, clock);
  }
  m->reflect[i] = value;
}

/* NUSIZx or CTRLPF, which turn nothing on or off. */
VCS_SLOW_FN void set_other(vcs_t *m, vcs_asleep_t *asleep, unsigned objects, uint8_t *reg, uint8_t value) {
  vcs_asleep_move(m, &asleep->video, objects, asleep->last_register);
  *reg = value;
}

VCS_SLOW_FN void set_delay(vcs_t *m, vcs_asleep_t *asleep, uint8_t value, unsigned i) {
  if (m->grp[i] != m->grp_old[i]) {
    change(m, asleep, VCS_P0 + i, VCS_VDELP0);
    turn(asleep, VCS_P0 + i, value ? m->grp_old[i] : m->grp[i]);
  }
  m->vdelp[i] = value;
}

/* The end of the line that `time` is in. */
VCS_SLOW_FN uint64_t find_line_end(const vcs_t *m, uint64_t time) {
  return VCS_CYCLES(vcs_wsync_end((uint32_t)(time >> VCS_CYCLES_SHIFT), m->frame_clock)) | VCS_COUNT_MASK;
}

/* The same if it is behind the line whose end is known; most often it is in the next one. */
VCS_HOT_FN uint64_t end_of_line(const vcs_t *m, const vcs_asleep_t *asleep, uint64_t time) {
  const uint64_t next = asleep->line_end + VCS_CYCLES(VCS_LINE_CYCLES);
  return VCS_LIKELY(time <= next && asleep->line_end) ? next : find_line_end(m, time);
}

/* The whole motion of an HMOVE. */
VCS_SLOW_FN void move(vcs_t *m, vcs_asleep_t *asleep) {
  unsigned moved = 0;
  for (unsigned i = 0; i < 5; i++) {
    if (m->hm[i]) moved |= 1u << i;
  }
  vcs_asleep_move(m, &asleep->video, moved, VCS_HMOVE);
  for (; moved; moved &= moved - 1) {
    int i = VCS_LOWEST(moved);
    int to = m->pos[i] + (m->hm[i] < 8 ? -m->hm[i] : 16 - m->hm[i]);
    m->pos[i] = (uint8_t)(to >= 160 ? to - 160 : to < 0 ? to + 160 : to);
  }
}

/* What an HMOVE does besides motion. */
VCS_HOT_FN bool blank_line(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  const int32_t clock = (int32_t)((uint32_t)(time >> VCS_CYCLES_SHIFT) * 3), at = vcs_wrap_minus(clock, m->frame_clock);
  m->hmove_clock = clock;
  if (!asleep->video.hmove_blanks) return true;
  m->blank_clock = at;
  m->blank_first = 0;
  m->hmove_blank = 1;
  asleep->hmove_from = time + VCS_CYCLES(VCS_COMB_END / 3 + 1);
  asleep->wake = 0;
  if (asleep->rows) vcs_rows_comb(asleep->rows, (int32_t)((uint32_t)at / VCS_LINE_CLOCKS) - m->first_line, 0);
  return true;
}

VCS_SLOW_FN bool hmove_and_move(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  move(m, asleep);
  return blank_line(m, asleep, time);
}

/* HMOVE at the beginning of a line of the picture, as most are. */
VCS_HOT_FN bool hmove_in_line(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  if (asleep->line_end - time < VCS_CYCLES(VCS_LINE_CYCLES - 3) || time < asleep->hmove_from) return false;
  vcs_asleep_note(asleep, time, VCS_HMOVE);
  if (m->hm[0] | m->hm[1] | m->hm[2] | m->hm[3] | m->hm[4]) return hmove_and_move(m, asleep, time);
  return blank_line(m, asleep, time);
}

VCS_SLOW_FN bool hmove_in_next_line(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  asleep->line_end = end_of_line(m, asleep, time);
  return hmove_in_line(m, asleep, time);
}

VCS_SLOW_FN bool hmove(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  if (VCS_UNLIKELY(time > asleep->line_end)) return hmove_in_next_line(m, asleep, time);
  return hmove_in_line(m, asleep, time);
}

/* RESPx in the picture, unless a copy of the player is being drawn. It has another place, and perhaps no first copy
 * until the line ends. A line that ends without need, because its first copy is back, changes nothing. */
VCS_SLOW_FN bool reset_player(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  const unsigned i = r - VCS_RESP0;
  const int32_t at = vcs_moment_target(m, vcs_moment(time, r));
  if (at <= asleep->video.start || at >= asleep->video.stop) return false;
  m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  const int to = vcs_reset_position(vcs_tia_hpos(m), true);
  const int phase = vcs_player_phase(m->nusiz[i], m->pos[VCS_P0 + i], to);
  if (phase == 1) return false;
  vcs_asleep_note(asleep, time, r);
  vcs_asleep_move(m, &asleep->video, 1u << (VCS_P0 + i), VCS_RESP0);
  m->pos[VCS_P0 + i] = (uint8_t)to;
  m->first_copy_off[i] = phase == 0;
  if (phase == 0 && asleep->ending == VCS_NEVER) { /* as vcs_tia_settle does */
    asleep->ending = VCS_LINE_CLOCKS * (vcs_asleep_line_of(m, at) + 1);
    asleep->hmove_from = ~0ULL;
    const int32_t end = asleep->ending < asleep->video.late ? asleep->ending : asleep->video.late;
    asleep->later = vcs_asleep_time(m, end - VCS_DELAY_MOST);
    asleep->wake = m->hmove_blank && !m->blank_first ? 0 : asleep->later;
  }
  return true;
}

/* RESMx or RESBL in the picture. */
VCS_SLOW_FN bool reset_object(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  const unsigned object = VCS_M0 + (r - VCS_RESM0);
  const int32_t at = vcs_moment_target(m, vcs_moment(time, r));
  if (at <= asleep->video.start || at >= asleep->video.stop || m->stars_shape) return false;
  vcs_asleep_note(asleep, time, r);
  vcs_asleep_move(m, &asleep->video, 1u << object, r);
  m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  m->pos[object] = (uint8_t)vcs_tia_strobed_position(m, (int)object);
  return true;
}

/* Stores to a register unless that needs tia.h: then it returns false and has done nothing. */
VCS_HOT_FN bool store(vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r, uint8_t value) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  unsigned i;
  if (!vcs_asleep_sleeps(m, asleep, time, r)) return false;
  switch (r) {
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      i = r - VCS_NUSIZ0;
      if (m->first_copy_off[i] | m->stars | m->stars_shape) return false;
      vcs_asleep_note(asleep, time, r);
      if (m->nusiz[i] != value) set_other(m, asleep, (1u << VCS_P0 | 1u << VCS_M0) << i, &m->nusiz[i], value);
      return true;
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      vcs_asleep_note(asleep, time, r);
      i = vcs_colour_index(r - VCS_COLUP0_W), value = vcs_tia_colour(m, video, value);
      if (m->colu[i] != value) set_colour(m, asleep, value, i);
      return true;
    case VCS_CTRLPF:
      if (m->pf_mirrored != (value & 1) || (m->ctrlpf ^ value) & 1) return false;
      vcs_asleep_note(asleep, time, r);
      if (m->ctrlpf != value) set_other(m, asleep, 1u << VCS_BL | VCS_LOOK, &m->ctrlpf, value);
      return true;
    case VCS_REFP0:
    case VCS_REFP1:
      i = r - VCS_REFP0, value &= 8;
      vcs_asleep_note(asleep, time, r);
      if (m->reflect[i] != value) set_reflect(m, asleep, value, i);
      return true;
    case VCS_PF0:
      vcs_asleep_note(asleep, time, r);
      if (m->pf[0] != value) set_playfield_0(m, asleep, value, 0);
      return true;
    case VCS_PF1:
      vcs_asleep_note(asleep, time, r);
      if (m->pf[1] != value) set_playfield_1(m, asleep, value, 1);
      return true;
    case VCS_PF2:
      vcs_asleep_note(asleep, time, r);
      if (m->pf[2] != value) set_playfield_2(m, asleep, value, 2);
      return true;
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      vcs_asleep_note(asleep, time, r);
      m->audio[r - VCS_AUDC0] = value;
      return true;
    case VCS_GRP0:
    case VCS_GRP1:
      i = r - VCS_GRP0;
      vcs_asleep_note(asleep, time, r);
      if (m->grp[i] != value || m->grp_old[i ^ 1] != m->grp[i ^ 1] || (i && m->enabl_old != m->enabl)) {
        if (i) {
          set_player_1(m, asleep, value, i);
        } else {
          set_player_0(m, asleep, value, i);
        }
      }
      return true;
    case VCS_ENAM0:
    case VCS_ENAM1:
      i = r - VCS_ENAM0, value &= 2;
      vcs_asleep_note(asleep, time, r);
      if (m->enam[i] != value) set_missile(m, asleep, value, i);
      return true;
    case VCS_ENABL:
      value &= 2;
      vcs_asleep_note(asleep, time, r);
      if (m->enabl != value) set_ball(m, asleep, value, 0);
      return true;
    case VCS_HMM0:
      if (VCS_UNLIKELY(m->hm[VCS_M0] == 7)) return false; /* this may start stars */
      vcs_asleep_note(asleep, time, r);
      m->hm[VCS_M0] = value >> 4;
      return true;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      vcs_asleep_note(asleep, time, r);
      m->hm[r - VCS_HMP0] = value >> 4;
      return true;
    case VCS_VDELP0:
    case VCS_VDELP1:
      i = r - VCS_VDELP0, value &= 1;
      vcs_asleep_note(asleep, time, r);
      if (m->vdelp[i] != value) set_delay(m, asleep, value, i);
      return true;
    case VCS_RESP0:
    case VCS_RESP1:
      return reset_player(m, asleep, time, r);
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      return reset_object(m, asleep, time, r);
    case VCS_HMOVE:
      return hmove(m, asleep, time);
    case VCS_HMCLR:
      vcs_asleep_note(asleep, time, r);
      for (int k = 0; k < 5; k++) m->hm[k] = 0;
      return true;
    default:
      return false;
  }
}

/* The same for a register that is not known when the cartridge is decoded; an instruction that pushes has several. */
VCS_SLOW_FN bool store_any(vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r, uint8_t value) {
  vcs_tia_recall_earlier(m, video, time);
  return store(m, video, time, r, value);
}

/* WSYNC: returns the time at which the CPU goes on, or 0 if that needs tia.h. */
VCS_HOT_FN uint64_t wait_line(vcs_t *m, vcs_video_t *video, uint64_t time) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  if (!vcs_asleep_sleeps(m, asleep, time, VCS_WSYNC)) return 0;
  vcs_asleep_note(asleep, time, VCS_WSYNC);
  if (VCS_UNLIKELY(time > asleep->line_end)) asleep->line_end = end_of_line(m, asleep, time);
  time = (asleep->line_end & ~(uint64_t)VCS_COUNT_MASK) | (time & VCS_COUNT_MASK);
  asleep->line_end += VCS_CYCLES(VCS_LINE_CYCLES);
  return time;
}

#define VCS_RUN_WRITE_CHIP(taken, addr)                                     \
  cpu->time += (taken);                                                     \
  cpu->stop = 0;                                                            \
  if (cart->snoops || !store_any(m, video, cpu->time, (addr)&63u, value)) { \
    m->cycles = vcs_cpu_cycles(cpu);                                        \
    cpu->stop = (uint8_t)vcs_bus_write_tia(cart, m, video, addr, value);    \
  }
#define VCS_RUN_WRITE_BUS(taken, addr)                                                         \
  cpu->time += (taken);                                                                        \
  cpu->stop = 0;                                                                               \
  if (((addr)&0x1080) || cart->snoops || !store_any(m, video, cpu->time, (addr)&63u, value)) { \
    vcs_bus_write(VCS_HERE, addr, value);                                                      \
  }
#define VCS_RUN_STORE_TIA(reg)                              \
  if (VCS_LIKELY(store(m, video, cpu->time, reg, value))) { \
    VCS_RUN_MOVE(2)                                         \
    VCS_DISPATCH;                                           \
  }                                                         \
  m->cycles = vcs_cpu_cycles(cpu);                          \
  cpu->stop = vcs_tia_write_first(m, video, reg, value) ? VCS_STOP_FRAME : 0;
#define VCS_RUN_STORE_WSYNC                               \
  const uint64_t waited = wait_line(m, video, cpu->time); \
  if (VCS_LIKELY(waited)) {                               \
    cpu->time = waited;                                   \
    VCS_RUN_MOVE(2)                                       \
    VCS_DISPATCH;                                         \
  }

#include "core/console.h"

#endif
