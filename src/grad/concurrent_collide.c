/* concurrent_collide.c: executes accesses to the TIA of a flip: computes its registers, its collisions, and its picture
 * if the picture is shown.
 *
 * Accesses are executed by the core's TIA that sleeps (core/tia_asleep.h): a store notes its time and sets the
 * register, and two objects are compared when one of them changes. So lines, and collisions that are not needed, cost
 * nothing. A picture is painted by rows (core/rows.h), from the beam's position when accesses begin to its position
 * when they end. Unlike the reference, this file paints nothing ahead of the beam: a flip is shown only when its beam
 * has left the picture.
 *
 * The last two accesses that were only noted are recorded in full when something else needs the TIA's clocks. Two are
 * enough for `seen_clock` and `seen_before`, because accesses of different instructions are nine clocks apart or more
 * and show at most VCS_DELAY_MOST clocks later; several accesses of one instruction are never only noted.
 */
#define VCS_TIA_ASLEEP
#include "concurrent.h"

#include <stdlib.h>

#include "host/asleep_run.h"

struct vcs_collide {
  vcs_asleep_t asleep;
  vcs_rows_t rows;
  uint64_t last, before; /* moments of the last two accesses that were only noted, and 0 for none */
  uint32_t cycles;       /* of the last access */
  bool stores_only;      /* nothing can collide, so accesses only store their values */
  uint8_t possible;      /* with stores_only: objects that may be on */
  uint8_t changed;       /* with stores_only: objects that have changed, which `asleep` does not have yet */
};

vcs_collide_t *vcs_collide_create(void) { return calloc(1, sizeof(vcs_collide_t)); }

/* Below the picture, while VBLANK is on, no store shows and no clock advances, so the TIA need not wake at any time.
 */
VCS_HOT_FN void sleep_below_picture(vcs_asleep_t *asleep, const vcs_t *m) {
  if (m->seen_clock != asleep->video.stop || !(m->vblank & 2) || asleep->ending != VCS_NEVER) return;
  asleep->wake = asleep->later = UINT64_MAX;
}

/* ---- Where nothing can collide ----------------------------------------------------------------------------------
 *
 * While no two objects can be on whose collision is wanted, an access only stores its value. When this ends, the TIA
 * that sleeps is brought up to date as if all objects had changed with the last access, because before it no objects
 * could collide. */

#define BIT(object) (1u << VCS_##object)

/* Returns the collisions that need not be computed: they are latched, or the objects are apart, or the beam is blank.
 */
VCS_HOT_FN unsigned find_known(const vcs_collide_t *collide, const vcs_t *m) {
  return (m->vblank & 2 ? 0xFFFFu : m->collisions) | collide->asleep.apart;
}

/* Finds whether accesses only store values from here on. A delayed player or ball can be turned on by another register,
 * so it counts as possible. */
VCS_HOT_FN void find_stores_only(vcs_collide_t *collide, const vcs_t *m) {
  unsigned possible = collide->asleep.on;
  if (m->grp[0] | m->grp_old[0]) possible |= BIT(P0);
  if (m->grp[1] | m->grp_old[1]) possible |= BIT(P1);
  if (m->enabl | m->enabl_old) possible |= BIT(BL);
  collide->possible = (uint8_t)possible;
  collide->changed = 0;
  collide->stores_only = !(vcs_pairs(possible) & ~find_known(collide, m)) && !collide->asleep.rows &&
                         !collide->asleep.video.colour_loss; /* which changes colours */
}

/* Brings the TIA that sleeps up to date: from here on accesses do more than store values. */
VCS_HOT_FN void end_stores_only(vcs_collide_t *collide, const vcs_t *m) {
  vcs_asleep_t *asleep = &collide->asleep;
  unsigned changed = collide->changed;
  collide->stores_only = false;
  if (!changed) return;
  asleep->on = (uint8_t)vcs_objects_on(m);
  asleep->video.stale |= (uint8_t)changed;
  for (; changed; changed &= changed - 1) asleep->since[VCS_LOWEST(changed)] = collide->last;
  collide->changed = 0;
}

/* Begins to paint at the beam. */
static void begin_rows(vcs_rows_t *rows, const vcs_t *m, uint8_t *picture) {
  const int x = m->line_clock - VCS_HBLANK_CLOCKS;
  vcs_rows_start(rows, m, picture);
  rows->x = (uint8_t)(x < 0 ? 0 : x);
}

/* Paints up to the beam, with the comb of HMOVE in the row so far. */
static void end_rows(vcs_rows_t *rows, const vcs_t *m, vcs_asleep_t *asleep) {
  vcs_rows_change(rows, m, &asleep->video, asleep->on, VCS_LOOK, m->seen_clock);
  const int comb = rows->comb[rows->number];
  if (rows->x && comb < VCS_COMB_PIXELS) vcs_fill(rows->row + comb, 0, VCS_COMB_PIXELS - comb);
}

void vcs_collide_begin(vcs_collide_t *collide, const vcs_cart_t *cart, const vcs_t *m, uint8_t *picture) {
  if (picture) begin_rows(&collide->rows, m, picture);
  vcs_asleep_start(m, &collide->asleep, cart, picture, picture ? &collide->rows : NULL);
  sleep_below_picture(&collide->asleep, m);
  collide->last = collide->before = 0;
  collide->cycles = UINT32_MAX;
  find_stores_only(collide, m);
}

/* Records the accesses that were only noted in the machine's clocks. */
static void record_notes(vcs_collide_t *collide, vcs_t *m) {
  if (collide->before && collide->asleep.last) {
    const int32_t first = m->blank_first;
    vcs_tia_record(m, &collide->asleep.video, vcs_moment_target(m, collide->before));
    m->blank_first = first;
  }
  collide->last = collide->before = 0;
  vcs_tia_recall(m, &collide->asleep.video);
}

void vcs_collide_end(vcs_collide_t *collide, vcs_t *m) {
  end_stores_only(collide, m);
  record_notes(collide, m);
  if (collide->asleep.rows) end_rows(&collide->rows, m, &collide->asleep);
  vcs_tia_catch_up(m, &collide->asleep.video);
}

/* Executes an access that is more than noted. */
VCS_SLOW_FN void access_in_full(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access, uint16_t live) {
  vcs_video_t *video = &collide->asleep.video;
  record_notes(collide, m);
  m->cycles = access->cycles;
  if (access->kind == VCS_BEAM_READ) {
    vcs_tia_see(m, video, vcs_tia_since_frame(m));
    if (access->reg < 8) vcs_tia_catch_up(m, video);
    vcs_tia_settle(m, video);
  } else if (access->kind == VCS_BEAM_WRITE) {
    vcs_tia_write_first(m, video, access->reg, access->value);
  } else {
    vcs_tia_write_next(m, video, access->reg, access->value);
  }
  if (access->kind != VCS_BEAM_READ && access->reg == VCS_CXCLR) m->collisions = (uint16_t)~live;
  sleep_below_picture(&collide->asleep, m);
}

/* Notes an access and stores its value. False: nothing is done, and the access has to be executed in full. */
VCS_HOT_FN bool note_access(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access) {
  vcs_asleep_t *asleep = &collide->asleep;
  const uint64_t time = VCS_CYCLES((uint64_t)access->cycles);
  if (access->reg == VCS_HMOVE && asleep->wake == UINT64_MAX) return false; /* it needs the clock, which has stopped */
  if (access->kind == VCS_BEAM_WRITE && access->reg != VCS_WSYNC) {
    if (!store(m, &asleep->video, time, access->reg, access->value)) return false;
  } else {
    if (access->kind == VCS_BEAM_NEXT || (access->kind == VCS_BEAM_READ && access->reg < 8)) return false;
    if (!vcs_asleep_sleeps(m, asleep, time, VCS_WSYNC)) return false;
    vcs_asleep_note(asleep, time, VCS_WSYNC);
  }
  collide->before = collide->last;
  collide->last = vcs_moment_last(asleep);
  return true;
}

/* Whether a store turns on an object with which a wanted collision becomes possible. */
VCS_HOT_FN bool turns_on(vcs_collide_t *collide, const vcs_t *m, unsigned object, uint8_t value) {
  if (VCS_LIKELY(collide->possible & object || !value)) return false;
  collide->possible |= (uint8_t)object;
  return vcs_pairs(collide->possible) & ~find_known(collide, m);
}

/* Whether a change of the playfield makes a wanted collision possible: objects that were apart from it may meet it now.
 */
VCS_HOT_FN bool field_may_collide(vcs_collide_t *collide, const vcs_t *m) {
  collide->asleep.apart &= vcs_pairs(VCS_ALL_OBJECTS & ~BIT(PF));
  return vcs_pairs(collide->possible) & ~find_known(collide, m);
}

/* Returns the register under which an access is noted: a read shows at once, like WSYNC. */
VCS_HOT_FN unsigned register_of(const vcs_beam_access_t *access) {
  return access->kind == VCS_BEAM_READ ? (unsigned)VCS_WSYNC : access->reg;
}
VCS_HOT_FN uint64_t moment_of(const vcs_beam_access_t *access) {
  return vcs_moment(VCS_CYCLES((uint64_t)access->cycles), register_of(access));
}

/* Stores a value, which has only the bits that its register holds (vcs_note_mask). False: nothing is done, because the
 * access does more, or makes a wanted collision possible. The CPU stores sound itself (vcs_note_write). */
VCS_HOT_FN bool keep_value(vcs_collide_t *collide, vcs_t *m, unsigned r, uint8_t value) {
  unsigned i;
  switch (r) {
    case VCS_WSYNC:
    case VCS_AUDC0:
    case VCS_AUDC1:
    case VCS_AUDF0:
    case VCS_AUDF1:
    case VCS_AUDV0:
    case VCS_AUDV1:
      return true;
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      m->colu[vcs_colour_index(r - VCS_COLUP0_W)] = value;
      return true;
    case VCS_REFP0:
    case VCS_REFP1:
      i = r - VCS_REFP0;
      collide->changed |= (uint8_t)(BIT(P0) << i);
      m->reflect[i] = value;
      return true;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      i = r - VCS_PF0;
      if (m->pf[i] == value) return true;
      if (turns_on(collide, m, BIT(PF), value) || field_may_collide(collide, m)) return false;
      collide->changed |= BIT(PF);
      m->pf[i] = value;
      return true;
    case VCS_GRP0:
      if (turns_on(collide, m, BIT(P0), value)) return false;
      collide->changed |= BIT(P0) | BIT(P1);
      vcs_tia_latch(m, 0, value);
      return true;
    case VCS_GRP1:
      if (turns_on(collide, m, BIT(P1), value)) return false;
      collide->changed |= BIT(P0) | BIT(P1) | BIT(BL);
      vcs_tia_latch(m, 1, value);
      return true;
    case VCS_ENAM0:
    case VCS_ENAM1:
      i = r - VCS_ENAM0;
      if (turns_on(collide, m, BIT(M0) << i, value)) return false;
      collide->changed |= (uint8_t)(BIT(M0) << i);
      m->enam[i] = value;
      return true;
    case VCS_ENABL:
      if (turns_on(collide, m, BIT(BL), value)) return false;
      collide->changed |= BIT(BL);
      m->enabl = value;
      return true;
    case VCS_HMM0:
      if (VCS_UNLIKELY(m->hm[VCS_M0] == 7)) return false; /* this may start stars */
      m->hm[VCS_M0] = value >> 4;
      return true;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      m->hm[r - VCS_HMP0] = value >> 4;
      return true;
    case VCS_VDELP0:
    case VCS_VDELP1:
      i = r - VCS_VDELP0;
      collide->changed |= (uint8_t)(BIT(P0) << i);
      m->vdelp[i] = value;
      return true;
    case VCS_HMCLR:
      for (int k = 0; k < 5; k++) m->hm[k] = 0;
      return true;
    default:
      return false;
  }
}

/* Executes HMOVE. False: nothing is done, because objects could collide at their new positions, or because the clock,
 * which HMOVE needs, has stopped below the picture. */
VCS_HOT_FN bool make_hmove(vcs_collide_t *collide, vcs_t *m, uint64_t time) {
  vcs_asleep_t *asleep = &collide->asleep;
  const unsigned apart = m->vblank & 2 ? 0 : asleep->apart & ~(unsigned)m->collisions;
  if (asleep->wake == UINT64_MAX || vcs_pairs(collide->possible) & apart) return false;
  return vcs_asleep_sleeps(m, asleep, time, VCS_HMOVE) && hmove(m, asleep, time);
}

/* Executes an access that only stores a value. False: nothing is done, because the access does more. */
VCS_HOT_FN bool make_store(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access) {
  const uint64_t time = VCS_CYCLES((uint64_t)access->cycles);
  if (VCS_UNLIKELY(time >= collide->asleep.later)) return false;
  if (VCS_UNLIKELY(access->kind != VCS_BEAM_WRITE)) {
    if (access->kind == VCS_BEAM_NEXT || access->reg < 8) return false;
  } else if (access->reg == VCS_HMOVE) {
    return make_hmove(collide, m, time);
  } else if (!keep_value(collide, m, access->reg, access->value)) {
    return false;
  }
  if (VCS_UNLIKELY(time >= collide->asleep.wake))
    vcs_asleep_after_hmove(m, &collide->asleep, time, register_of(access));
  return true;
}

/* Executes accesses while they only store values. Returns the first access that does more, or `end`. */
VCS_HOT_FN const vcs_beam_access_t *make_stores(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access,
                                                const vcs_beam_access_t *end) {
  const vcs_beam_access_t *const begin = access;
  uint32_t cycles = collide->cycles;
  while (access != end && access->cycles != cycles && make_store(collide, m, access)) cycles = access++->cycles;
  if (access == begin) return access;
  collide->before = access - begin > 1 ? moment_of(access - 2) : collide->last;
  collide->last = moment_of(access - 1);
  collide->cycles = cycles;
  vcs_asleep_note(&collide->asleep, VCS_CYCLES((uint64_t)cycles), register_of(access - 1));
  return access;
}

bool vcs_collide_apply(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *accesses, uint32_t count,
                       uint16_t live) {
  const vcs_beam_access_t *access = accesses, *end = accesses + count;
  bool clears = false;
  for (;;) {
    bool recheck = collide->stores_only;
    if (recheck) access = make_stores(collide, m, access, end);
    if (access == end) return clears;
    if (recheck) end_stores_only(collide, m);
    if (access->cycles == collide->cycles || !note_access(collide, m, access)) {
      access_in_full(collide, m, access, live);
      clears |= access->kind != VCS_BEAM_READ && access->reg == VCS_CXCLR;
      recheck = true;
    }
    collide->cycles = access->cycles;
    if (recheck) find_stores_only(collide, m);
    access++;
  }
}
