/* concurrent_beam.c: makes the TIA of a flip from its accesses, when it is needed.
 *
 * The TIA affects the CPU only through collisions that the CPU reads (and through time, which the CPU's notes have), so
 * the state of the TIA can be computed later, or never. A flip makes the base's accesses while it sleeps, and its own
 * while it is awake (vcs_beam_patch_t). A segment is one of three kinds for a flip:
 *
 *   - It has no access of the flip's own, and no register that differs is read or shown in it. Its pixels and
 *     collisions are the base's, and registers that it overwrites no longer differ: nothing is executed.
 *   - No picture is drawn, and the flip's own accesses only store other values in objects that cannot collide. The
 *     values are stored in the flip's TIA: nothing is executed.
 *   - Any other segment is executed by the TIA that sleeps (concurrent_collide.c), from the state that the flip's TIA
 *     has before it.
 *
 * Invariant: the sets of a segment may have too many members, which costs time, never too few.
 */
#include "concurrent.h"

#include <stdlib.h>
#include <string.h>

/* ---- Registers ------------------------------------------------------------------------------------------------- */

#define LOOK(field, i) (1ull << (offsetof(vcs_t, field) - VCS_LOOKS_FROM + (i)))

void vcs_beam_take(vcs_beam_t *tia, const vcs_t *m) {
  memcpy(tia->looks, (const uint8_t *)m + VCS_LOOKS_FROM, sizeof tia->looks);
  tia->collisions = m->collisions;
  tia->line = m->line;
  tia->line_clock = m->line_clock;
  tia->seen_clock = m->seen_clock;
  tia->seen_before = m->seen_before;
  tia->blank_clock = m->blank_clock;
  tia->blank_first = m->blank_first;
  tia->hmove_clock = m->hmove_clock;
}

void vcs_beam_put(const vcs_beam_t *tia, vcs_t *m) {
  memcpy((uint8_t *)m + VCS_LOOKS_FROM, tia->looks, sizeof tia->looks);
  m->collisions = tia->collisions;
  m->line = tia->line;
  m->line_clock = tia->line_clock;
  m->seen_clock = tia->seen_clock;
  m->seen_before = tia->seen_before;
  m->blank_clock = tia->blank_clock;
  m->blank_first = tia->blank_first;
  m->hmove_clock = tia->hmove_clock;
}

/* Whether two TIAs blank the same pixels after an HMOVE. The clocks of a blank that is over have no effect in later
 * lines. */
static bool same_blank(const vcs_beam_t *one, const vcs_beam_t *other) {
  const size_t blank = offsetof(vcs_t, hmove_blank) - VCS_LOOKS_FROM;
  if (one->blank_clock == other->blank_clock && one->blank_first == other->blank_first) return true;
  if (one->looks[blank] || other->looks[blank] || one->line != other->line) return false;
  const int32_t start = VCS_LINE_CLOCKS * one->line;
  return one->blank_first == other->blank_first || (one->blank_first <= start && other->blank_first <= start);
}

_Static_assert(offsetof(vcs_beam_t, looks) == 0 && sizeof(vcs_beam_t) >= 64, "looks are compared as 64 bytes");

/* Returns the parts of `looks` that differ, VCS_BEAM_MIRROR among them. Both arrays are readable up to 64 bytes. */
static uint64_t differing_looks(const uint8_t *one, const uint8_t *other) {
  const size_t ctrlpf = offsetof(vcs_t, ctrlpf) - VCS_LOOKS_FROM;
  const uint64_t differs = vcs_differing_bytes(one, other) & ((1ull << VCS_LOOKS_SIZE) - 1);
  return (one[ctrlpf] ^ other[ctrlpf]) & 1 ? differs | VCS_BEAM_MIRROR : differs;
}

/* Collisions are not compared, because a set of parts does not include them. */
uint64_t vcs_beam_differs(const vcs_beam_t *one, const vcs_beam_t *other) {
  uint64_t differs = differing_looks(one->looks, other->looks);
  if (one->hmove_clock != other->hmove_clock) differs |= VCS_BEAM_HMOVE;
  if (one->line != other->line || one->line_clock != other->line_clock || one->seen_clock != other->seen_clock ||
      one->seen_before != other->seen_before || !same_blank(one, other)) {
    differs |= VCS_BEAM_CLOCKS;
  }
  return differs;
}

/* ---- What accesses do ------------------------------------------------------------------------------------------- */

/* The parts that every segment reads: state on which the end of a line depends, and state that differs too seldom to be
 * treated separately.
 */
#define READ_ALWAYS                                                                                               \
  (LOOK(vblank, 0) | VCS_BEAM_MIRROR | LOOK(first_copy_off, 0) | LOOK(first_copy_off, 1) | LOOK(pf_mirrored, 0) | \
   LOOK(hmove_blank, 0) | LOOK(stars, 0) | LOOK(stars_phase, 0) | LOOK(stars_shape, 0) | VCS_BEAM_CLOCKS)
#define ALL_HM (LOOK(hm, 0) | LOOK(hm, 1) | LOOK(hm, 2) | LOOK(hm, 3) | LOOK(hm, 4))
#define ALL_COLOURS (LOOK(colu, 0) | LOOK(colu, 1) | LOOK(colu, 2) | LOOK(colu, 3))
#define ALL_POS (LOOK(pos, 0) | LOOK(pos, 1) | LOOK(pos, 2) | LOOK(pos, 3) | LOOK(pos, 4))

/* The effects of a write to a register. A part that the write changes is in `replaced` if its new value does not depend
 * on its old value, and in `reads` otherwise. */
typedef struct {
  uint64_t reads, replaced;
  int8_t motion[5]; /* pixels by which HMOVE moves each object */
} effect_t;

static effect_t effect_of(const vcs_t *m, unsigned r, uint8_t value) {
  effect_t e = {0, 0, {0, 0, 0, 0, 0}};
  unsigned i;
  switch (r) {
    case VCS_VBLANK:
      e.replaced = LOOK(vblank, 0);
      break;
    case VCS_NUSIZ0:
    case VCS_NUSIZ1:
      e.replaced = LOOK(nusiz, r - VCS_NUSIZ0);
      break;
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      e.replaced = LOOK(colu, vcs_colour_index(r - VCS_COLUP0_W));
      break;
    case VCS_CTRLPF:
      e.replaced = LOOK(ctrlpf, 0) | VCS_BEAM_MIRROR;
      break;
    case VCS_REFP0:
    case VCS_REFP1:
      e.replaced = LOOK(reflect, r - VCS_REFP0);
      break;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      e.replaced = LOOK(pf, r - VCS_PF0);
      break;
    case VCS_RESP0:
    case VCS_RESP1:
      i = r - VCS_RESP0;
      e.reads = LOOK(nusiz, i) | LOOK(pos, i);
      e.replaced = LOOK(pos, i);
      break;
    case VCS_RESM0:
    case VCS_RESM1:
    case VCS_RESBL:
      e.reads = VCS_BEAM_HMOVE;
      e.replaced = LOOK(pos, VCS_M0 + r - VCS_RESM0);
      break;
    case VCS_GRP0:
      e.reads = LOOK(grp, 1);
      e.replaced = LOOK(grp, 0) | LOOK(grp_old, 1);
      break;
    case VCS_GRP1:
      e.reads = LOOK(grp, 0) | LOOK(enabl, 0);
      e.replaced = LOOK(grp, 1) | LOOK(grp_old, 0) | LOOK(enabl_old, 0);
      break;
    case VCS_ENAM0:
    case VCS_ENAM1:
      e.replaced = LOOK(enam, r - VCS_ENAM0);
      break;
    case VCS_ENABL:
      e.replaced = LOOK(enabl, 0);
      break;
    case VCS_HMM0:
      if (value >> 4 == 6) e.reads = LOOK(hm, VCS_M0) | VCS_BEAM_HMOVE;
      e.replaced = LOOK(hm, VCS_M0);
      break;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      e.replaced = LOOK(hm, r - VCS_HMP0);
      break;
    case VCS_VDELP0:
    case VCS_VDELP1:
      e.replaced = LOOK(vdelp, r - VCS_VDELP0);
      break;
    case VCS_VDELBL:
      e.replaced = LOOK(vdelbl, 0);
      break;
    case VCS_RESMP0:
    case VCS_RESMP1:
      i = r - VCS_RESMP0;
      e.reads = LOOK(resmp, i) | LOOK(pos, i) | LOOK(nusiz, i) | LOOK(pos, VCS_M0 + i); /* the missile may move */
      break;
    case VCS_HMOVE: {
      const unsigned cycle = ((uint32_t)vcs_tia_since_frame(m) / 3) % VCS_LINE_CYCLES;
      const vcs_motion_t at = vcs_hmove_at(cycle);
      e.reads = ALL_HM;
      for (i = 0; i < 5; i++) e.motion[i] = (int8_t)vcs_hmove_motion(at, m->hm[i]);
      e.replaced = VCS_BEAM_HMOVE;
      break;
    }
    case VCS_HMCLR:
      e.replaced = ALL_HM;
      break;
    default:
      break;
  }
  return e;
}

/* Returns the parts that pixels and collisions depend on, with the registers as they are in m. */
static uint64_t looks_shown(const vcs_t *m) {
  const unsigned on = vcs_objects_on(m);
  uint64_t shows = LOOK(pf, 0) | LOOK(pf, 1) | LOOK(pf, 2);
  for (unsigned i = 0; i < 2; i++) {
    shows |= LOOK(vdelp, i) | (m->vdelp[i] ? LOOK(grp_old, i) : LOOK(grp, i)) | LOOK(enam, i) | LOOK(resmp, i);
    if (on >> (VCS_P0 + i) & 1) shows |= LOOK(pos, VCS_P0 + i) | LOOK(nusiz, i) | LOOK(reflect, i);
    if (on >> (VCS_M0 + i) & 1) shows |= LOOK(pos, VCS_M0 + i) | LOOK(nusiz, i);
  }
  shows |= LOOK(vdelbl, 0) | (m->vdelbl ? LOOK(enabl_old, 0) : LOOK(enabl, 0));
  if (on >> VCS_BL & 1) shows |= LOOK(pos, VCS_BL) | LOOK(ctrlpf, 0);
  return shows;
}

/* Returns the parts that only the picture depends on, with the registers as they are in m. */
static uint64_t looks_coloured(const vcs_t *m) {
  const unsigned on = vcs_objects_on(m);
  uint64_t colours = LOOK(colu, VCS_COLUBK) | LOOK(colu, VCS_COLUPF) | LOOK(ctrlpf, 0);
  for (unsigned i = 0; i < 2; i++) {
    if (on >> (VCS_P0 + i) & 1 || on >> (VCS_M0 + i) & 1 || m->ctrlpf & 2) colours |= LOOK(colu, VCS_COLUP0 + i);
  }
  return colours;
}

/* Whether the beam passes a visible pixel between two clocks of the frame. */
static bool sweeps(int32_t from, int32_t to) {
  const int32_t start = from % VCS_LINE_CLOCKS;
  return to > from && start + (to - from) > VCS_HBLANK_CLOCKS;
}

/* Returns the objects whose pixels depend on a set of parts. */
static unsigned objects_of(uint64_t looks) {
  static const uint64_t makes[VCS_OBJECTS] = {
      LOOK(grp, 0) | LOOK(grp_old, 0) | LOOK(vdelp, 0) | LOOK(nusiz, 0) | LOOK(reflect, 0) | LOOK(pos, VCS_P0),
      LOOK(grp, 1) | LOOK(grp_old, 1) | LOOK(vdelp, 1) | LOOK(nusiz, 1) | LOOK(reflect, 1) | LOOK(pos, VCS_P1),
      LOOK(enam, 0) | LOOK(resmp, 0) | LOOK(nusiz, 0) | LOOK(pos, VCS_M0),
      LOOK(enam, 1) | LOOK(resmp, 1) | LOOK(nusiz, 1) | LOOK(pos, VCS_M1),
      LOOK(enabl, 0) | LOOK(enabl_old, 0) | LOOK(vdelbl, 0) | LOOK(pos, VCS_BL) | LOOK(ctrlpf, 0),
      LOOK(pf, 0) | LOOK(pf, 1) | LOOK(pf, 2),
  };
  unsigned objects = 0;
  for (unsigned i = 0; i < VCS_OBJECTS; i++) objects |= (unsigned)((looks & makes[i]) != 0) << i;
  return objects;
}

/* Executes an access of the base in the TIA that draws. */
static void make_access(vcs_t *m, vcs_video_t *video, const vcs_beam_access_t *access) {
  m->cycles = access->cycles;
  if (access->kind == VCS_BEAM_WRITE) {
    vcs_tia_write_first(m, video, access->reg, access->value);
  } else if (access->kind == VCS_BEAM_NEXT) {
    vcs_tia_write_next(m, video, access->reg, access->value);
  } else {
    vcs_tia_see(m, video, vcs_tia_since_frame(m));
    if (access->reg < 8) vcs_tia_catch_up(m, video);
  }
}

/* ---- The base ---------------------------------------------------------------------------------------------------- */

/* Makes room for two more segments. False: there is no memory. */
static bool grow_segments(vcs_base_frame_t *frame) {
  if (frame->segment_count + 2 < frame->segment_capacity) return true;
  const uint32_t more = frame->segment_capacity ? 2 * frame->segment_capacity : 512;
  vcs_segment_t *grown = realloc(frame->segments, more * sizeof *grown);
  if (!grown) {
    frame->lost = true;
    return false;
  }
  frame->segments = grown;
  frame->segment_capacity = more;
  return true;
}

/* Ends the last segment and begins the next one with `access`. */
static void begin_segment(vcs_base_frame_t *frame, uint32_t access) {
  vcs_t *m = frame->beam_m;
  if (!grow_segments(frame)) return;
  vcs_segment_t *next = &frame->segments[frame->segment_count];
  vcs_tia_catch_up(m, &frame->video);
  if (frame->segment_count) {
    vcs_segment_t *last = next - 1;
    last->replaced = frame->segment_replaced;
    last->depends = last->reads | last->shows | last->replaced | last->moves;
    last->found_collisions = m->collisions;
    frame->latched = last->has_cxclr ? m->collisions : (uint16_t)(frame->latched | m->collisions);
  }
  *next = (vcs_segment_t){.access = access, .reads = READ_ALWAYS};
  if (frame->segment_count) next->cxclr_before = (uint16_t)(next[-1].cxclr_before + next[-1].has_cxclr);
  vcs_beam_take(&next->before, m);
  next->before.collisions = frame->latched;
  m->collisions = 0;
  vcs_video_start(&frame->video, frame->cart, NULL); /* collisions that were latched before count again */
  frame->segment_replaced = 0;
  frame->segment_count++;
}

bool vcs_beam_record_begin(vcs_base_frame_t *frame, const vcs_cart_t *cart) {
  memcpy(frame->beam_m, frame->begun, vcs_machine_size(cart));
  frame->cart = cart;
  vcs_video_start(&frame->video, cart, NULL);
  frame->segment_count = frame->hmoves = 0;
  frame->latched = frame->begun->collisions;
  begin_segment(frame, 0);
  return !frame->lost;
}

bool vcs_beam_record_end(vcs_base_frame_t *frame) {
  begin_segment(frame, frame->note.count);
  if (frame->lost) return false;
  frame->segment_count--;
  frame->segment_of[frame->note.count] = (uint16_t)(frame->segment_count - 1);
  return true;
}

uint16_t vcs_beam_record(vcs_base_frame_t *frame, uint32_t number) {
  vcs_t *m = frame->beam_m;
  const vcs_beam_access_t *access = &frame->note.accesses[number];
  if (frame->lost) return 0;
  m->cycles = access->cycles;
  const int32_t now = vcs_tia_since_frame(m);
  const bool reads = access->kind == VCS_BEAM_READ, latches = reads && access->reg < 8;
  int32_t target = reads ? now : vcs_wrap_minus(now, -vcs_tia_delay(access->reg, now));
  if (!reads && (access->reg == VCS_RESP0 || access->reg == VCS_RESP1)) target += 11;
  if (target > frame->video.stop) target = frame->video.stop;
  if (target < frame->video.start) target = frame->video.start;
  vcs_segment_t *current = &frame->segments[frame->segment_count - 1];
  const bool was_latch = current->access < number && frame->note.accesses[number - 1].kind == VCS_BEAM_READ &&
                         frame->note.accesses[number - 1].reg < 8;
  const int32_t line = target / VCS_LINE_CLOCKS;
  if (current->access < number && (latches || was_latch || line > frame->segment_line)) {
    begin_segment(frame, number);
    if (frame->lost) return 0;
    current = &frame->segments[frame->segment_count - 1];
  }
  if (current->access == number) frame->segment_line = line;
  frame->segment_of[number] = (uint16_t)(frame->segment_count - 1);
  if (!(m->vblank & 2) && sweeps(m->seen_clock, target)) {
    current->objects_on |= (uint8_t)vcs_objects_on(m);
    current->shows |= looks_shown(m) & ~frame->segment_replaced;
    current->colours |= looks_coloured(m) & ~frame->segment_replaced;
  }
  if (m->stars) current->reads |= LOOK(pos, VCS_M0); /* stars move M0 at the end of a line */
  if (!reads) {
    const effect_t effect = effect_of(m, access->reg, access->value);
    current->reads |= effect.reads & ~frame->segment_replaced;
    frame->segment_replaced |= effect.replaced;
    for (int i = 0; access->reg == VCS_HMOVE && i < 5; i++) {
      current->motion[i] = (int16_t)(current->motion[i] + effect.motion[i]);
      current->moves |= effect.motion[i] ? LOOK(pos, i) : 0;
    }
    if (access->reg == VCS_HMOVE) frame->hmoves++;
    if (access->reg == VCS_CXCLR) current->has_cxclr = frame->has_cxclr = true;
  }
  make_access(m, &frame->video, access);
  return current->has_cxclr ? m->collisions : (uint16_t)(frame->latched | m->collisions);
}

/* ---- A flip ------------------------------------------------------------------------------------------------------ */

void vcs_beam_compose(vcs_beam_t *tia, const vcs_flip_beam_t *beam) {
  for (uint64_t left = beam->differs & (VCS_BEAM_MIRROR - 1); left; left &= left - 1) {
    const int i = VCS_LOWEST_64(left);
    tia->looks[i] = beam->tia.looks[i];
  }
  if (beam->differs & VCS_BEAM_HMOVE) tia->hmove_clock = beam->tia.hmove_clock;
  if (beam->differs & VCS_BEAM_CLOCKS) {
    tia->line = beam->tia.line;
    tia->line_clock = beam->tia.line_clock;
    tia->seen_clock = beam->tia.seen_clock;
    tia->seen_before = beam->tia.seen_before;
    tia->blank_clock = beam->tia.blank_clock;
    tia->blank_first = beam->tia.blank_first;
  }
  tia->collisions = beam->tia.collisions;
}

/* Puts a flip's TIA into work->m. Collisions that are not live count as latched, so that they are not computed. */
static void load_flip(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam) {
  vcs_beam_t tia = work->frame->segments[beam->at].before;
  vcs_beam_compose(&tia, beam);
  tia.collisions |= (uint16_t)~work->frame->live_collisions;
  vcs_beam_put(&tia, work->m);
}

int32_t vcs_beam_seen(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam) {
  return beam->differs & VCS_BEAM_CLOCKS ? beam->tia.seen_clock : work->frame->segments[beam->at].before.seen_clock;
}

/* Takes a flip's TIA before segment `at` from work->m. */
static void store_flip(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t at) {
  vcs_beam_take(&beam->tia, work->m);
  beam->at = at;
  beam->differs = vcs_beam_differs(&beam->tia, &work->frame->segments[at].before);
}

static int row_of(const vcs_beam_work_t *work, int32_t line) { return line - work->cart->top_line; }

/* Marks the rows from a line to the beam's as drawn. In the last one, what is right of the beam may have been painted
 * ahead, and is set to the base's pixels. */
static void mark_lines(const vcs_beam_work_t *work, int32_t from) {
  const vcs_t *m = work->m;
  const int first = row_of(work, from), last = row_of(work, m->line);
  for (int i = first < 0 ? 0 : first; i <= last && i < work->cart->height; i++) work->lines[i] = 1;
  if (last < 0 || last >= work->cart->height || m->line_clock >= VCS_LINE_CLOCKS) return;
  const int x = m->line_clock < VCS_HBLANK_CLOCKS ? 0 : m->line_clock - VCS_HBLANK_CLOCKS;
  const size_t at = (size_t)(VCS_WIDTH * last + x);
  memcpy(work->picture + at, work->base + at, (size_t)(VCS_WIDTH - x));
}

/* Whether the objects that differ (`shown`) could cause a live collision that is not latched yet. */
static bool may_collide(const vcs_base_frame_t *frame, const vcs_segment_t *current, uint64_t shown, uint16_t latched) {
  const unsigned objects = shown & ~ALL_COLOURS ? objects_of(shown) : 0;
  return vcs_pairs(current->objects_on | objects) & ~vcs_pairs(VCS_ALL_OBJECTS & ~objects) & frame->live_collisions &
         ~latched;
}

/* Whether segment `next` has to be executed, too, judged by the registers at the end of the one before it. */
static bool next_is_needed(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, uint32_t next) {
  const vcs_segment_t *current = &work->frame->segments[next];
  if (beam->patch >= 0 && work->patches->patches[beam->patch].from < current[1].access) return true;
  const uint64_t differs = differing_looks((const uint8_t *)work->m + VCS_LOOKS_FROM, current->before.looks);
  if (differs & current->reads & ~LOOK(hmove_blank, 0)) return true;
  const uint64_t shown = differs & current->shows;
  if (work->picture) return shown | (differs & current->colours);
  return shown && may_collide(work->frame, current, shown, work->m->collisions);
}

/* The cost of beginning to execute accesses, and of an access, in instructions of a flip that runs (concurrent.c). */
enum { MAKE_EFFORT = 60, ACCESS_EFFORT = 4 };

static void make_all(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, const vcs_beam_access_t *accesses,
                     uint32_t count) {
  const uint16_t live = work->frame->live_collisions;
  *work->effort += (uint64_t)ACCESS_EFFORT * count;
  if (vcs_collide_apply(work->collide, work->m, accesses, count, live)) beam->unknown = (uint16_t)~live;
}

/* Executes accesses from the flip's segment on, up to the first later segment that need not be executed, or `limit`,
 * and returns its number; or up to the base's access `stop`, and returns 0. */
static uint32_t make_accesses(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t limit, uint32_t stop) {
  const vcs_base_frame_t *frame = work->frame;
  const vcs_beam_patches_t *patches = work->patches;
  uint32_t access = frame->segments[beam->at].access, next = beam->at + 1;
  load_flip(work, beam);
  *work->effort += MAKE_EFFORT;
  vcs_collide_begin(work->collide, work->cart, work->m, work->picture);
  for (;;) {
    const bool last = access == frame->note.count;
    const vcs_beam_patch_t *patch = beam->patch >= 0 ? &patches->patches[beam->patch] : NULL;
    while (next < frame->segment_count && frame->segments[next].access < access) next++;
    if (access != stop && !last && frame->segments[next].access == access) {
      if (next >= limit || !next_is_needed(work, beam, next)) return next;
      next++;
    }
    if (patch && patch->from == access) {
      make_all(work, beam, &patches->accesses[patch->first], patch->count);
      access = patch->to;
      beam->patch = patch->next;
      continue;
    }
    if (access == stop) return 0;
    if (last) return frame->segment_count;
    uint32_t to = next < frame->segment_count ? frame->segments[next].access : frame->note.count;
    if (to > stop) to = stop;
    if (patch && to > patch->from) to = patch->from;
    make_all(work, beam, &frame->note.accesses[access], to - access);
    access = to;
  }
}

/* Moves the objects whose positions differ by the same pixels as the segment's HMOVEs move the base's objects: 1600
 * keeps the sum positive. */
static void move_objects(vcs_flip_beam_t *beam, const vcs_segment_t *current) {
  for (int i = 0; i < 5; i++) {
    uint8_t *pos = &beam->tia.looks[offsetof(vcs_t, pos) - VCS_LOOKS_FROM + (size_t)i];
    if (beam->differs & current->moves & LOOK(pos, i)) *pos = (uint8_t)((*pos + current->motion[i] + 1600) % 160);
  }
}

/* By register: the byte of `looks` that holds the value, if a write only stores it; 0, which is the byte of another
 * register, for all other registers. */
#define AT(field, i) (uint8_t)(offsetof(vcs_t, field) - VCS_LOOKS_FROM + (i))
static const uint8_t look_of_register[64] = {[VCS_NUSIZ0] = AT(nusiz, 0),
                                             [VCS_NUSIZ1] = AT(nusiz, 1),
                                             [VCS_COLUP0_W] = AT(colu, VCS_COLUP0),
                                             [VCS_COLUP1_W] = AT(colu, VCS_COLUP1),
                                             [VCS_COLUPF_W] = AT(colu, VCS_COLUPF),
                                             [VCS_COLUBK_W] = AT(colu, VCS_COLUBK),
                                             [VCS_REFP0] = AT(reflect, 0),
                                             [VCS_REFP1] = AT(reflect, 1),
                                             [VCS_PF0] = AT(pf, 0),
                                             [VCS_PF1] = AT(pf, 1),
                                             [VCS_PF2] = AT(pf, 2),
                                             [VCS_GRP0] = AT(grp, 0),
                                             [VCS_GRP1] = AT(grp, 1),
                                             [VCS_ENAM0] = AT(enam, 0),
                                             [VCS_ENAM1] = AT(enam, 1),
                                             [VCS_ENABL] = AT(enabl, 0),
                                             [VCS_HMP0] = AT(hm, VCS_P0),
                                             [VCS_HMP1] = AT(hm, VCS_P1),
                                             [VCS_HMM1] = AT(hm, VCS_M1),
                                             [VCS_HMBL] = AT(hm, VCS_BL)};

VCS_HOT_FN bool find_kept_value(unsigned r, uint8_t value, unsigned *look, uint8_t *kept) {
  *look = look_of_register[r];
  *kept = r >= VCS_HMP0 && r <= VCS_HMBL ? value >> 4 : value;
  return *look;
}

/* By byte of `looks`: the set of registers to which a write reads this byte. */
#define REG(r) (1ull << (r))
static const uint64_t read_by[64] = {[AT(nusiz, 0)] = REG(VCS_RESP0) | REG(VCS_RESMP0),
                                     [AT(nusiz, 1)] = REG(VCS_RESP1) | REG(VCS_RESMP1),
                                     [AT(grp, 0)] = REG(VCS_GRP1),
                                     [AT(grp, 1)] = REG(VCS_GRP0),
                                     [AT(enabl, 0)] = REG(VCS_GRP1),
                                     [AT(hm, 0)] = REG(VCS_HMOVE),
                                     [AT(hm, 1)] = REG(VCS_HMOVE),
                                     [AT(hm, 2)] = REG(VCS_HMOVE),
                                     [AT(hm, 3)] = REG(VCS_HMOVE),
                                     [AT(hm, 4)] = REG(VCS_HMOVE)};

/* The values that a flip's own accesses in a segment leave in registers. Segments seldom leave more than KEPT_MOST. */
enum { KEPT_MOST = 8 };
typedef struct {
  uint64_t written; /* parts to which they store, even if the value is overwritten */
  int32_t patch;    /* next patch that is not in the segment */
  unsigned count;   /* number of these values */
  uint8_t look[KEPT_MOST], value[KEPT_MOST];
} kept_t;

/* Finds these values. False: the accesses do more than store values that nothing else in the segment reads. */
static bool find_kept_values(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, kept_t *kept) {
  const vcs_base_frame_t *frame = work->frame;
  const uint32_t end = frame->segments[beam->at + 1].access;
  for (kept->patch = beam->patch; kept->patch >= 0; kept->patch = work->patches->patches[kept->patch].next) {
    const vcs_beam_patch_t *own = &work->patches->patches[kept->patch];
    if (own->from >= end) break;
    const vcs_beam_access_t *base = &frame->note.accesses[own->from], *access = &work->patches->accesses[own->first];
    unsigned look;
    uint8_t value;
    if (own->to != own->from + 1 || own->count != 1 || access->cycles != base->cycles || access->kind != base->kind ||
        base->kind != VCS_BEAM_WRITE || access->reg != base->reg ||
        !find_kept_value(base->reg, access->value, &look, &value)) {
      return false;
    }
    const uint64_t reads = read_by[look], writes = REG(base->reg) | (ALL_HM >> look & 1 ? REG(VCS_HMCLR) : 0);
    bool stays = true;
    for (uint32_t i = own->from + 1; i < end && stays; i++) {
      const vcs_beam_access_t *later = &frame->note.accesses[i];
      if (later->kind == VCS_BEAM_READ || !((reads | writes) >> later->reg & 1)) continue;
      if (reads >> later->reg & 1) return false;
      stays = false;
    }
    kept->written |= 1ull << look;
    if (!stays) continue;
    if (kept->count == KEPT_MOST) return false;
    kept->look[kept->count] = (uint8_t)look;
    kept->value[kept->count++] = value;
  }
  return true;
}

/* Advances a flip over a segment without executing it. False: the segment has to be executed. */
static bool skip_segment(const vcs_beam_work_t *work, vcs_flip_beam_t *beam) {
  const vcs_segment_t *current = &work->frame->segments[beam->at];
  const bool last = beam->at + 1 == work->frame->segment_count;
  kept_t kept;
  kept.written = kept.count = 0;
  if (beam->patch >= 0 && (last || work->patches->patches[beam->patch].from < current[1].access)) {
    if (last || work->picture || work->cart->colour_loss || beam->differs & current->reads) return false;
    if (!find_kept_values(work, beam, &kept)) return false;
    const uint64_t shown = (beam->differs & current->shows) | kept.written;
    if (may_collide(work->frame, current, shown, current->has_cxclr ? 0 : beam->tia.collisions)) return false;
    beam->patch = kept.patch;
  }
  if (beam->differs) {
    if (beam->differs & current->reads) return false;
    const uint64_t shown = beam->differs & current->shows;
    if (work->picture) {
      if (shown | (beam->differs & current->colours)) return false;
    } else if (shown && may_collide(work->frame, current, shown, current->has_cxclr ? 0 : beam->tia.collisions)) {
      return false;
    }
    beam->differs &= ~current->replaced;
    if (beam->differs & current->moves) move_objects(beam, current);
  }
  for (unsigned i = 0; i < kept.count; i++) {
    beam->tia.looks[kept.look[i]] = kept.value[i];
    beam->differs |= 1ull << kept.look[i];
  }
  beam->tia.collisions =
      (uint16_t)(current->has_cxclr ? current->found_collisions : beam->tia.collisions | current->found_collisions);
  if (current->has_cxclr) beam->unknown = (uint16_t)~work->frame->live_collisions;
  beam->at++;
  return true;
}

/* If nothing differs: advances a flip to a segment, or to that of its next own access. */
static void skip_equal_segments(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment) {
  const vcs_segment_t *segments = work->frame->segments;
  if (beam->differs || beam->at >= segment || beam->tia.collisions != segments[beam->at].before.collisions) return;
  uint32_t to = segment;
  if (beam->patch >= 0) {
    if (work->patches->patches[beam->patch].from < segments[beam->at + 1].access) return;
    const uint32_t from = work->frame->segment_of[work->patches->patches[beam->patch].from];
    if (from < to) to = from;
  }
  if (to <= beam->at) return;
  if (segments[to].cxclr_before != segments[beam->at].cxclr_before)
    beam->unknown = (uint16_t)~work->frame->live_collisions;
  beam->at = to;
  beam->tia.collisions = segments[to].before.collisions;
}

/* Advances a flip over segments that do not depend on what differs. */
static void skip_unconcerned_segments(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment) {
  const vcs_base_frame_t *frame = work->frame;
  const uint32_t own = beam->patch >= 0 ? work->patches->patches[beam->patch].from : frame->note.count;
  const uint64_t colours = work->picture ? beam->differs : 0;
  const vcs_segment_t *current = &frame->segments[beam->at], *end = &frame->segments[segment];
  uint16_t collisions = beam->tia.collisions;
  if (end == &frame->segments[frame->segment_count]) end--;
  for (; current < end && current[1].access <= own && !(current->depends & beam->differs) &&
         !(current->colours & colours);
       current++) {
    if (VCS_UNLIKELY(current->has_cxclr)) {
      collisions = 0;
      beam->unknown = (uint16_t)~frame->live_collisions;
    }
    collisions |= current->found_collisions;
  }
  beam->tia.collisions = collisions;
  beam->at = (uint32_t)(current - frame->segments);
}

/* Whether a flip has an access of its own in its segment. */
static bool has_own_access(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam) {
  return beam->patch >= 0 && work->patches->patches[beam->patch].from < work->frame->segments[beam->at + 1].access;
}

void vcs_beam_advance(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment) {
  while (beam->at < segment) {
    skip_equal_segments(work, beam, segment);
    if (beam->at >= segment) return;
    if (!has_own_access(work, beam)) {
      skip_unconcerned_segments(work, beam, segment);
      if (beam->at >= segment) return;
    }
    if (skip_segment(work, beam)) continue;
    const vcs_beam_t *before = &work->frame->segments[beam->at].before;
    const int32_t line = beam->differs & VCS_BEAM_CLOCKS ? beam->tia.line : before->line;
    const uint32_t next = make_accesses(work, beam, segment, UINT32_MAX);
    vcs_collide_end(work->collide, work->m);
    if (work->picture) mark_lines(work, line);
    store_flip(work, beam, next);
  }
}

uint16_t vcs_beam_collisions_after(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, uint32_t segment) {
  vcs_flip_beam_t copy = *beam;
  vcs_beam_advance(work, &copy, segment + 1);
  return copy.tia.collisions;
}

/* Makes a flip's TIA before an access of the base in work->m. */
static void make_up_to(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t from) {
  const vcs_base_frame_t *frame = work->frame;
  const uint32_t last = frame->segment_of[from];
  for (;;) {
    do {
      skip_equal_segments(work, beam, last);
    } while (beam->at < last && skip_segment(work, beam));
    vcs_flip_beam_t copy = *beam;
    const uint32_t next = make_accesses(work, &copy, UINT32_MAX, from);
    if (!next) return;
    vcs_collide_end(work->collide, work->m);
    store_flip(work, &copy, next);
    *beam = copy;
  }
}

uint16_t vcs_beam_collisions_now(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t from,
                                 const vcs_beam_access_t *own, uint32_t count, vcs_beam_now_t *now) {
  if (!now->made) {
    make_up_to(work, beam, from);
    now->made = 1;
  }
  *work->effort += (uint64_t)ACCESS_EFFORT * (count + 1 - now->made);
  vcs_collide_apply(work->collide, work->m, own + now->made - 1, count + 1 - now->made, work->frame->live_collisions);
  now->made = count + 1;
  return work->m->collisions; /* the last access was the read, which computes collisions up to it */
}
