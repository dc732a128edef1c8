/* undrawn.c: frames without a picture, on a TIA that sleeps (core/tia_asleep.h).
 *
 * The core is compiled a second time, with the hot loop's stores to the TIA replaced by those below. They do what
 * core/tia.h does, for the registers that programs write most, up to the time at which the TIA has to wake up.
 */
#define VCS_TIA_ASLEEP
#include "core/tia.h"
#include "host/undrawn.h"

/* Notes an access: its time, with the register in the low byte. */
VCS_HOT_FN void note(vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  asleep->last[0] = asleep->last[1];
  asleep->last[1] = (time & ~0xFFull) | r;
}

/* The clock from which on the noted access shows. */
VCS_FN int32_t shown_from(const vcs_t *m, const vcs_asleep_t *asleep) {
  int32_t at = vcs_asleep_target(m, asleep->last[1]);
  return at < asleep->video.start || at < m->seen_clock ? m->seen_clock : at;
}

/* Whether an access at or after `wake` needs no more than what is done here: it is the first after an HMOVE. */
VCS_SLOW_FN bool stirs(vcs_t *m, vcs_asleep_t *asleep, uint64_t time, unsigned r) {
  int32_t at = vcs_asleep_target(m, (time & ~0xFFull) | r);
  if (time >= asleep->later) return false;
  if (at < asleep->video.start) return true;
  m->blank_first = at;
  asleep->wake = asleep->later;
  return true;
}

/* Changes registers of objects. */
VCS_SLOW_FN void set_playfield(vcs_t *m, vcs_asleep_t *asleep, unsigned i, uint8_t value) {
  vcs_asleep_change(m, &asleep->video, 1u << VCS_PF, shown_from(m, asleep));
  m->pf[i] = value;
  asleep->on = (uint8_t)((asleep->on & ~(1u << VCS_PF)) | (m->pf[0] >> 4 | m->pf[1] | m->pf[2] ? 1u << VCS_PF : 0));
}

VCS_SLOW_FN void set_player(vcs_t *m, vcs_asleep_t *asleep, unsigned side, uint8_t value) {
  unsigned objects = vcs_tia_grp_shows(m, side, value);
  if (objects) vcs_asleep_change(m, &asleep->video, objects, shown_from(m, asleep));
  vcs_tia_latch(m, side, value);
  if (objects) asleep->on = (uint8_t)vcs_objects_on(m);
}

VCS_SLOW_FN void set_other(vcs_t *m, vcs_asleep_t *asleep, unsigned objects, uint8_t *reg, uint8_t value) {
  vcs_asleep_change(m, &asleep->video, objects, shown_from(m, asleep));
  *reg = value;
  asleep->on = (uint8_t)vcs_objects_on(m);
}

/* The whole motion of an HMOVE. */
VCS_SLOW_FN void move(vcs_t *m, vcs_asleep_t *asleep, int32_t at) {
  unsigned moved = 0;
  for (int i = 0; i < 5; i++) moved |= (unsigned)(m->hm[i] != 0) << i;
  vcs_asleep_change(m, &asleep->video, moved, at);
  for (int i = 0; i < 5; i++) {
    int to = m->pos[i] + (m->hm[i] < 8 ? -m->hm[i] : 16 - m->hm[i]);
    m->pos[i] = (uint8_t)(to >= 160 ? to - 160 : to < 0 ? to + 160 : to);
  }
}

/* HMOVE at the beginning of a line, as most are. */
VCS_SLOW_FN bool hmove(vcs_t *m, vcs_asleep_t *asleep, uint64_t time) {
  uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  uint32_t cycle = (uint32_t)(cycles - (uint32_t)(m->frame_clock / 3)) % VCS_LINE_CYCLES;
  if (cycle > 3 || m->first_copy_off[0] | m->first_copy_off[1] | m->stars | m->stars_shape) return false;
  note(asleep, time, VCS_HMOVE);
  int32_t at = shown_from(m, asleep);
  if (m->hm[0] | m->hm[1] | m->hm[2] | m->hm[3] | m->hm[4]) move(m, asleep, at);
  m->hmove_clock = (int32_t)(cycles * 3);
  if (!asleep->video.hmove_blanks || (m->hmove_blank && at < vcs_asleep_blank_end(m, &asleep->video))) return true;
  m->blank_clock = at;
  m->blank_first = 0;
  m->hmove_blank = 1;
  asleep->wake = 0;
  return true;
}

/* Stores to a register unless that needs tia.h: then it returns false and has done nothing. */
VCS_HOT_FN bool store(vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r, uint8_t value) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  unsigned i;
  if (VCS_UNLIKELY(time >= asleep->wake) && !stirs(m, asleep, time, r)) return false;
  switch (r) {
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      i = r - VCS_NUSIZ0;
      if (m->first_copy_off[i] | m->stars | m->stars_shape) return false;
      note(asleep, time, r);
      if (m->nusiz[i] != value) set_other(m, asleep, (1u << VCS_P0 | 1u << VCS_M0) << i, &m->nusiz[i], value);
      return true;
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      note(asleep, time, r);
      m->colu[vcs_colour_index(r - VCS_COLUP0_W)] = vcs_tia_colour(m, video, value);
      return true;
    case VCS_CTRLPF:
      if (m->pf_mirrored != (value & 1) || (m->ctrlpf ^ value) & 1) return false;
      note(asleep, time, r);
      if ((m->ctrlpf ^ value) & 0x30) {
        set_other(m, asleep, 1u << VCS_BL, &m->ctrlpf, value);
      } else {
        m->ctrlpf = value;
      }
      return true;
    case VCS_REFP0:
    case VCS_REFP1:
      i = r - VCS_REFP0, value &= 8;
      note(asleep, time, r);
      if (m->reflect[i] != value) set_other(m, asleep, 1u << (VCS_P0 + i), &m->reflect[i], value);
      return true;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      note(asleep, time, r);
      if (m->pf[r - VCS_PF0] != value) set_playfield(m, asleep, r - VCS_PF0, value);
      return true;
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      note(asleep, time, r);
      m->audio[r - VCS_AUDC0] = value;
      return true;
    case VCS_GRP0:
    case VCS_GRP1:
      i = r - VCS_GRP0;
      note(asleep, time, r);
      if (m->grp[i] != value || m->grp_old[i ^ 1] != m->grp[i ^ 1] || (i && m->enabl_old != m->enabl)) {
        set_player(m, asleep, i, value);
      }
      return true;
    case VCS_ENAM0:
    case VCS_ENAM1:
      i = r - VCS_ENAM0, value &= 2;
      note(asleep, time, r);
      if (m->enam[i] != value) set_other(m, asleep, 1u << (VCS_M0 + i), &m->enam[i], value);
      return true;
    case VCS_ENABL:
      value &= 2;
      note(asleep, time, r);
      if (m->vdelbl) {
        m->enabl = value;
      } else if (m->enabl != value) {
        set_other(m, asleep, 1u << VCS_BL, &m->enabl, value);
      }
      return true;
    case VCS_HMM0:
      if (VCS_UNLIKELY(m->hm[VCS_M0] == 7)) return false; /* this may start stars */
      note(asleep, time, r);
      m->hm[VCS_M0] = value >> 4;
      return true;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      note(asleep, time, r);
      m->hm[r - VCS_HMP0] = value >> 4;
      return true;
    case VCS_VDELP0:
    case VCS_VDELP1:
      i = r - VCS_VDELP0, value &= 1;
      note(asleep, time, r);
      if (m->vdelp[i] != value) set_other(m, asleep, 1u << (VCS_P0 + i), &m->vdelp[i], value);
      return true;
    case VCS_HMOVE:
      return hmove(m, asleep, time);
    case VCS_HMCLR:
      note(asleep, time, r);
      for (int k = 0; k < 5; k++) m->hm[k] = 0;
      return true;
    default:
      return false;
  }
}

/* The same for a register that is not known when the cartridge is decoded. */
VCS_SLOW_FN bool store_any(vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r, uint8_t value) {
  return store(m, video, time, r, value);
}

/* WSYNC: returns the time at which the CPU goes on, or 0 if that needs tia.h. */
VCS_HOT_FN uint64_t wait_line(vcs_t *m, vcs_video_t *video, uint64_t time) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  if (VCS_UNLIKELY(time >= asleep->wake) && !stirs(m, asleep, time, VCS_WSYNC)) return 0;
  note(asleep, time, VCS_WSYNC);
  if (VCS_UNLIKELY(time > asleep->line_end)) {
    uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
    asleep->line_end = VCS_CYCLES(vcs_wsync_end(cycles, m->frame_clock)) | VCS_COUNT_MASK;
  }
  time = (asleep->line_end & ~(uint64_t)VCS_COUNT_MASK) | (time & VCS_COUNT_MASK);
  asleep->line_end += VCS_CYCLES(VCS_LINE_CYCLES);
  return time;
}

/* Reads an input of the TIA: INPT0 to INPT5, or an address behind them. */
VCS_SLOW_FN uint8_t read_input(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r,
                               uint8_t bus) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  m->cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  if (VCS_UNLIKELY(time >= asleep->wake) && !stirs(m, asleep, time, VCS_WSYNC)) {
    return vcs_tia_read(cart, m, video, (uint16_t)r, bus);
  }
  note(asleep, time, VCS_WSYNC);
  return (uint8_t)((r < 14 ? vcs_tia_input(cart, m, (int)r - 8) << 7 : 0) | (bus & 0x3F));
}

#define VCS_RUN_READ_CHIP(taken, addr, last)                                                           \
  cpu->time += (taken);                                                                                \
  cpu->stop = 0;                                                                                       \
  cpu->bus = (last);                                                                                   \
  const uint8_t value = (addr)&8 && !((addr)&0x80) && !cart->snoops                                    \
                            ? read_input(cart, m, video, cpu->time, (addr)&15u, cpu->bus)              \
                            : vcs_bus_read_low(VCS_HERE, addr);
#define VCS_RUN_READ_BUS(taken, addr, last) \
  cpu->time += (taken);                     \
  cpu->stop = 0;                            \
  cpu->bus = (last);                        \
  const uint8_t value = vcs_bus_read(VCS_HERE, addr);
#define VCS_RUN_WRITE_CHIP(taken, addr)                                           \
  cpu->time += (taken);                                                           \
  cpu->stop = 0;                                                                  \
  if (cart->snoops || !store_any(m, video, cpu->time, (addr)&63u, value)) {       \
    m->cycles = vcs_cpu_cycles(cpu);                                              \
    cpu->stop = (uint8_t)vcs_bus_write_tia(cart, m, video, addr, value);          \
  }
#define VCS_RUN_WRITE_BUS(taken, addr)                                                                         \
  cpu->time += (taken);                                                                                        \
  cpu->stop = 0;                                                                                               \
  if (((addr)&0x1080) || cart->snoops || !store_any(m, video, cpu->time, (addr)&63u, value)) {                 \
    vcs_bus_write(VCS_HERE, addr, value);                                                                      \
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

void vcs_undrawn_frame(const vcs_cart_t *cart, vcs_t *m) {
  vcs_asleep_t asleep;
  vcs_console_start_frame(cart, m);
  vcs_asleep_start(m, &asleep, cart);
  vcs_cpu_run(cart, m, &asleep.video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, m, &asleep.video);
}
