/* concurrent_collide.c: the TIA of a flip whose picture is not looked at: registers and collisions.
 *
 * Accesses are made by the core's TIA that sleeps (core/tia_asleep.h): a store notes its time and keeps the register,
 * and two objects are compared when one of them changes. So a line costs nothing, and a collision that is not looked
 * for costs nothing.
 *
 * The last accesses that were only noted are recorded in full when something else has to know the TIA's clocks. Two are
 * enough for `seen_clock` and `seen_before`, because notes of different instructions are nine clocks apart or more, and
 * show at most VCS_DELAY_MOST clocks later; accesses of one instruction are not noted.
 */
#define VCS_TIA_ASLEEP
#include "concurrent.h"

#include <stdlib.h>

#include "host/asleep_run.h"

struct vcs_collide {
  vcs_asleep_t asleep;
  uint64_t last, before; /* moments of the last note, and of the one before it; or 0 */
  uint32_t cycles;       /* of the last access */
};

vcs_collide_t *vcs_collide_create(void) { return calloc(1, sizeof(vcs_collide_t)); }

/* Below the picture, while it is blank, nothing that is stored shows any more, and no clock goes on. */
VCS_HOT_FN void sleep_below(vcs_asleep_t *asleep, const vcs_t *m) {
  if (m->seen_clock != asleep->video.stop || !(m->vblank & 2) || asleep->ending != VCS_NEVER) return;
  asleep->wake = asleep->later = UINT64_MAX;
}

void vcs_collide_begin(vcs_collide_t *collide, const vcs_cart_t *cart, const vcs_t *m) {
  vcs_asleep_start(m, &collide->asleep, cart, NULL, NULL);
  sleep_below(&collide->asleep, m);
  collide->last = collide->before = 0;
  collide->cycles = UINT32_MAX;
}

/* Records what was noted. */
static void record(vcs_collide_t *collide, vcs_t *m) {
  if (collide->before && collide->asleep.last) {
    const int32_t first = m->blank_first;
    vcs_tia_record(m, &collide->asleep.video, vcs_moment_target(m, collide->before));
    m->blank_first = first;
  }
  collide->last = collide->before = 0;
  vcs_tia_recall(m, &collide->asleep.video);
}

void vcs_collide_end(vcs_collide_t *collide, vcs_t *m) {
  record(collide, m);
  vcs_tia_catch_up(m, &collide->asleep.video);
}

/* An access that is not only noted. */
VCS_SLOW_FN void access_in_full(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access, uint16_t live) {
  vcs_video_t *video = &collide->asleep.video;
  record(collide, m);
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
  sleep_below(&collide->asleep, m);
}

/* Notes an access, if that is all there is to do. */
VCS_HOT_FN bool note(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *access) {
  vcs_asleep_t *asleep = &collide->asleep;
  const uint64_t time = VCS_CYCLES((uint64_t)access->cycles);
  if (access->reg == VCS_HMOVE && asleep->wake == UINT64_MAX) return false; /* it looks at the clock */
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

bool vcs_collide_apply(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *accesses, uint32_t count,
                       uint16_t live) {
  uint32_t cycles = collide->cycles;
  bool clears = false;
  for (const vcs_beam_access_t *access = accesses, *end = accesses + count; access != end; access++) {
    if (access->cycles == cycles || !note(collide, m, access)) {
      access_in_full(collide, m, access, live);
      clears |= access->kind != VCS_BEAM_READ && access->reg == VCS_CXCLR;
    }
    cycles = access->cycles;
  }
  collide->cycles = cycles;
  return clears;
}
