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

/* Changes a register of objects. */
VCS_SLOW_FN void set(vcs_t *m, vcs_asleep_t *asleep, unsigned objects, uint8_t *reg, uint8_t value) {
  vcs_asleep_change(m, &asleep->video, objects, shown_from(m, asleep));
  *reg = value;
}

VCS_SLOW_FN void set_player(vcs_t *m, vcs_asleep_t *asleep, unsigned side, uint8_t value) {
  unsigned objects = vcs_tia_grp_shows(m, side, value);
  if (objects) vcs_asleep_change(m, &asleep->video, objects, shown_from(m, asleep));
  vcs_tia_latch(m, side, value);
}

/* Stores to a register, a constant, unless that needs tia.h: then it returns false and has done nothing. */
VCS_HOT_FN bool store(vcs_t *m, vcs_video_t *video, uint64_t time, unsigned r, uint8_t value) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  uint8_t *reg = NULL;
  unsigned i, objects = 0;
  if (VCS_UNLIKELY(time >= asleep->wake)) return false;
  switch (r) {
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      note(asleep, time, r);
      m->colu[vcs_colour_index(r - VCS_COLUP0_W)] = vcs_tia_colour(m, video, value);
      return true;
    case VCS_REFP0:
    case VCS_REFP1:
      i = r - VCS_REFP0, reg = &m->reflect[i], objects = 1u << (VCS_P0 + i), value &= 8;
      break;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      reg = &m->pf[r - VCS_PF0], objects = 1u << VCS_PF;
      break;
    case VCS_GRP0:
    case VCS_GRP1:
      i = r - VCS_GRP0;
      note(asleep, time, r);
      if (m->grp[i] == value && m->grp_old[i ^ 1] == m->grp[i ^ 1] && (!i || m->enabl_old == m->enabl)) return true;
      set_player(m, asleep, i, value);
      return true;
    case VCS_ENAM0:
    case VCS_ENAM1:
      i = r - VCS_ENAM0, reg = &m->enam[i], objects = 1u << (VCS_M0 + i), value &= 2;
      break;
    case VCS_ENABL:
      reg = &m->enabl, objects = 1u << VCS_BL, value &= 2;
      if (!m->vdelbl) break;
      note(asleep, time, r);
      *reg = value;
      return true;
    case VCS_HMM0:
      if (VCS_UNLIKELY(m->hm[VCS_M0] == 7)) return false; /* stars */
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
    case VCS_HMCLR:
      note(asleep, time, r);
      for (int k = 0; k < 5; k++) m->hm[k] = 0;
      return true;
    case VCS_VDELP0:
    case VCS_VDELP1:
      i = r - VCS_VDELP0, reg = &m->vdelp[i], objects = 1u << (VCS_P0 + i), value &= 1;
      break;
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      i = r - VCS_NUSIZ0;
      if (m->nusiz[i] != value || m->first_copy_off[i] | m->stars | m->stars_shape) return false;
      note(asleep, time, r);
      return true;
    case VCS_CTRLPF:
      if (m->ctrlpf != value || m->pf_mirrored != (value & 1)) return false;
      note(asleep, time, r);
      return true;
    default:
      return false;
  }
  note(asleep, time, r);
  if (*reg != value) set(m, asleep, objects, reg, value);
  return true;
}

/* WSYNC: returns the time at which the CPU goes on, or 0 if it needs tia.h. */
VCS_HOT_FN uint64_t wait_line(const vcs_t *m, vcs_video_t *video, uint64_t time) {
  vcs_asleep_t *asleep = vcs_asleep(video);
  if (VCS_UNLIKELY(time >= asleep->wake)) return 0;
  note(asleep, time, VCS_WSYNC);
  if (VCS_UNLIKELY(time > asleep->line_end)) {
    uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
    asleep->line_end = VCS_CYCLES(vcs_wsync_end(cycles, m->frame_clock)) | VCS_COUNT_MASK;
  }
  time = (asleep->line_end & ~(uint64_t)VCS_COUNT_MASK) | (time & VCS_COUNT_MASK);
  asleep->line_end += VCS_CYCLES(VCS_LINE_CYCLES);
  return time;
}

#define VCS_RUN_STORE_TIA(reg)                                       \
  if (VCS_LIKELY(store(m, video, cpu->time, reg, value))) {          \
    VCS_RUN_MOVE(2)                                                  \
    VCS_DISPATCH;                                                    \
  }                                                                  \
  m->cycles = vcs_cpu_cycles(cpu);                                   \
  cpu->stop = vcs_tia_write_first(m, video, reg, value) ? VCS_STOP_FRAME : 0;
#define VCS_RUN_STORE_WSYNC                                \
  const uint64_t waited = wait_line(m, video, cpu->time);  \
  if (VCS_LIKELY(waited)) {                                \
    cpu->time = waited;                                    \
    VCS_RUN_MOVE(2)                                        \
    VCS_DISPATCH;                                          \
  }

#include "core/console.h"

void vcs_undrawn_frame(const vcs_cart_t *cart, vcs_t *m) {
  vcs_asleep_t asleep;
  vcs_console_start_frame(cart, m);
  vcs_asleep_start(m, &asleep, cart);
  vcs_cpu_run(cart, m, &asleep.video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, m, &asleep.video);
}
