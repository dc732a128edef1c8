/* detour.c: a branch that turns along a direction.
 *
 * A fork (fork.c) runs the other side of a branch from the machine of the run, as if nothing but the flag had moved.
 * Along a direction the tangents give the other bytes that have moved, and by how much. If they are whole moves
 * (vcs_move_along), they define a second machine. At a branch that turns, this machine, with all bytes moved, is
 * executed from the branch until it meets the run. From the meeting on, the tangents are its differences from the run.
 *
 *        branch --- run, nothing moves ------ meeting --->
 *            \                               /
 *             `-- the same with tangents ---'
 *
 * Between the branch and the meeting the run has no tangents. So branches that turn in sequence on the other side are
 * one detour, not a sum of forks, and a move that the other side undoes leaves no tangent.
 *
 * As a linear map a detour passes on the tangents that are the same at the meeting; all other differences there are the
 * column of the branch's flag. The product backwards along the direction is the transpose of that map. Between meeting
 * and branch the backward walk visits the run's rows as usual, for the adjoints of what has not moved.
 *
 * If the tangents are not whole moves, the branch has a fork. If they are whole moves and the two machines do not meet
 * within the window, no derivative passes the branch (docs/gradients.md, Stops).
 */
#include <stdlib.h>
#include <string.h>

#include "fork.h"

void vcs_detours_free(vcs_detours_t *d) {
  free(d->all);
  free(d->carried);
}

/* ---- The machine beside the run -------------------------------------------------------------------------------- */

/* Whether a field of the machine is a number of four bytes, whose tangent is in its first slot. */
static bool is_number(size_t offset) {
  return offset == VCS_OFFSET(cycles) || offset == VCS_OFFSET(timer_cycle) || offset == VCS_OFFSET(dump_cycle) ||
         (offset >= VCS_OFFSET(paddle) && offset < VCS_OFFSET(paddle) + sizeof((vcs_t *)0)->paddle);
}

static bool move_number(vcs_t *m, size_t offset, float tangent) {
  const int32_t by = tangent >= -1e6F && tangent <= 1e6F ? (int32_t)tangent : 0;
  const bool paddle = offset >= VCS_OFFSET(paddle) && offset < VCS_OFFSET(paddle) + sizeof m->paddle;
  uint8_t *bytes = (uint8_t *)m + offset;
  uint32_t number;
  if ((float)by != tangent) return false;
  memcpy(&number, bytes, sizeof number);
  number += (uint32_t)by * (paddle ? (uint32_t)VCS_PADDLE_STEP : 1);
  memcpy(bytes, &number, sizeof number);
  return true;
}

/* Records the tangents of a byte and applies them to f->other. False: the tangents are not a whole move. */
static bool carry_byte(vcs_forks_t *f, const vcs_sweep_t *s, size_t offset) {
  vcs_detours_t *d = &f->detours;
  const float *slots = vcs_slots(s, offset);
  uint8_t *byte = (uint8_t *)f->other + offset;
  for (uint32_t i = 0; i < VCS_SLOTS; i++) {
    if (slots[i] == 0) continue;
    if (d->carried_count == d->carried_capacity) {
      const int32_t wanted = d->carried_capacity ? 2 * d->carried_capacity : 256;
      if (!vcs_forks_room((void **)&d->carried, (size_t)wanted, sizeof *d->carried)) return false;
      d->carried_capacity = wanted;
    }
    d->carried[d->carried_count++] = (vcs_carried_t){.slot = (uint32_t)(VCS_SLOTS * offset) + i, .tangent = slots[i]};
  }
  int moves = 0;
  if (is_number(offset)) return move_number(f->other, offset, slots[0]);
  return offset != VCS_OFFSET(sp) && vcs_move_along(offset, slots, VCS_SLOTS, byte, &moves);
}

static bool carry_all(vcs_forks_t *f, const vcs_sweep_t *s) {
  for (size_t i = 0; i < f->size; i++) {
    if (s->live[i] && vcs_any(vcs_slots(s, i), VCS_SLOTS) && !carry_byte(f, s, i)) return false;
  }
  return true;
}

/* ---- A detour ---------------------------------------------------------------------------------------------------- */

/* Whether vcs_forks_compare compares a byte. No detour changes the bytes that it does not compare: pins, ports,
 * collisions. */
static bool is_compared(size_t offset) {
  return offset == VCS_OFFSET(cycles) || offset == VCS_OFFSET(timer_cycle) ||
         (offset >= VCS_OFFSET(a) && offset <= VCS_OFFSET(p)) ||
         (offset >= VCS_OFFSET(ram) && offset <= VCS_OFFSET(timer)) ||
         (offset >= VCS_OFFSET(vsync) && offset < VCS_OFFSET(first_copy_off)) || offset >= VCS_OFFSET(cart_ram);
}

/* Returns the tangent of a slot after a detour, which is its difference at the meeting. */
static float difference_at(const vcs_forks_t *f, const vcs_detour_t *detour, uint32_t slot) {
  for (int32_t i = detour->first; i < detour->first + detour->count; i++) {
    if (f->differences[i].slot == slot) return f->differences[i].by;
  }
  return 0;
}

static vcs_detour_t *add_detour(vcs_detours_t *d) {
  if (d->count == d->capacity) {
    const int32_t wanted = d->capacity ? 2 * d->capacity : 64;
    if (!vcs_forks_room((void **)&d->all, (size_t)wanted, sizeof *d->all)) return NULL;
    d->capacity = wanted;
  }
  return &d->all[d->count];
}

/* A detour may be this many times as long as a fork's window: it is executed only where a branch turns. */
enum { WINDOWS = 4 };

bool vcs_detour_take(vcs_forks_t *f, vcs_sweep_t *s, int32_t branch, uint32_t flag) {
  vcs_detours_t *d = &f->detours;
  const vcs_t *before = (const vcs_t *)(const void *)(f->tape->branch_machines + f->size * (size_t)branch);
  const int32_t row = f->tape->branches[branch].row, carried = d->carried_count;
  vcs_video_t video;
  vcs_detour_t *detour = d->off ? NULL : add_detour(d);
  if (!detour) return false;
  memcpy(f->other, before, f->size);
  const bool whole = carry_all(f, s);
  vcs_video_start(&video, f->cart, f->frames ? f->other_frames : NULL);
  const int32_t meets = whole ? vcs_forks_meet(f, row, WINDOWS * f->window, &video) : -1;
  if (meets < 0) {
    d->carried_count = carried;
    return whole;
  }
  *detour = (vcs_detour_t){.row = row, .meets = meets, .first = f->difference_count, .carried = carried};
  vcs_forks_compare(f, before, row, meets, &video);
  detour->count = f->difference_count - detour->first;
  detour->carries = d->carried_count - carried;
  for (int32_t i = carried; i < d->carried_count; i++) {
    vcs_carried_t *one = &d->carried[i];
    one->stays = !is_compared(one->slot / VCS_SLOTS) || difference_at(f, detour, one->slot) == one->tangent;
    if (one->slot == flag) detour->flag = i;
    s->state[one->slot] = 0;
    s->live[one->slot / VCS_SLOTS] = 0;
  }
  d->count++;
  return true;
}

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

/* Forwards: sets the tangents at the meeting. Only a backward walk needs the detour again. */
static void meet_forwards(vcs_forks_t *f, vcs_sweep_t *s, vcs_detour_t *detour) {
  vcs_detours_t *d = &f->detours;
  float one = 1;
  vcs_forks_link(f, s, &one, detour->first, detour->count);
  for (int32_t i = detour->carried; i < detour->carried + detour->carries; i++) {
    const size_t offset = d->carried[i].slot / VCS_SLOTS;
    if (is_compared(offset)) continue;
    s->state[d->carried[i].slot] += d->carried[i].tangent;
    s->live[offset] = 1;
  }
  if (s->directional) return;
  d->carried_count = detour->carried;
  f->difference_count = detour->first;
  d->count--;
}

/* Backwards: computes the contribution of the detour to the scalar, and the adjoints of the tangents that it passes
 * on. */
static void meet_backwards(vcs_forks_t *f, vcs_sweep_t *s, vcs_detour_t *detour) {
  detour->sum = 0;
  vcs_forks_link(f, s, &detour->sum, detour->first, detour->count);
  for (int32_t i = detour->carried; i < detour->carried + detour->carries; i++) {
    vcs_carried_t *one = &f->detours.carried[i];
    one->adjoint = one->stays ? s->state[one->slot] : 0;
    if (one->stays && is_compared(one->slot / VCS_SLOTS)) detour->sum -= one->tangent * one->adjoint;
  }
}

void vcs_detour_meet(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  const vcs_detours_t *d = &f->detours;
  if (d->count && d->all[d->count - 1].meets == row)
    (s->reverse ? meet_backwards : meet_forwards)(f, s, &d->all[d->count - 1]);
}

void vcs_detour_leave(vcs_forks_t *f, vcs_sweep_t *s, int32_t row) {
  vcs_detours_t *d = &f->detours;
  if (!d->count || d->all[d->count - 1].row != row) return;
  const vcs_detour_t *detour = &d->all[--d->count];
  for (int32_t i = detour->carried; i < detour->carried + detour->carries; i++) {
    const vcs_carried_t *one = &d->carried[i];
    s->state[one->slot] = one->adjoint;
    s->live[one->slot / VCS_SLOTS] = 1;
  }
  const vcs_carried_t *flag = &d->carried[detour->flag];
  s->state[flag->slot] += vcs_bounded(detour->sum, vcs_beyond_meaning) / flag->tangent;
}

void vcs_detours_begin(vcs_forks_t *f, const vcs_sweep_t *s) {
  vcs_detours_t *d = &f->detours;
  d->count = d->carried_count = 0;
  d->off = !f->along || (s->rom && vcs_any(s->rom, (int)(8 * f->cart->rom_size)));
}

/* Finds the byte of the run at an offset, in memory or in the registers of a row. False: the walk does not have it. */
static bool find_byte(const vcs_sweep_t *s, const vcs_row_t *row, size_t offset, uint8_t *byte) {
  const uint8_t registers[] = {row->a, row->x, row->y, row->sp, vcs_row_status(row)};
  const bool is_register = offset >= VCS_OFFSET(a) && offset <= VCS_OFFSET(p);
  *byte = is_register ? registers[offset - VCS_OFFSET(a)] : ((const uint8_t *)s->m)[offset];
  return is_register || (offset >= VCS_OFFSET(ram) && offset < VCS_OFFSET(timer)) || offset >= VCS_OFFSET(cart_ram);
}

bool vcs_detours_possible(const vcs_forks_t *f, const vcs_sweep_t *s, int32_t row) {
  if (f->detours.off || row >= f->tape->count) return false; /* a jammed machine has no rows */
  for (size_t i = 0; i < f->size; i++) {
    const float *slots = vcs_slots(s, i);
    uint8_t byte;
    int moves = 0;
    if (!s->live[i]) continue;
    if (find_byte(s, &f->tape->rows[row], i, &byte)) {
      if (!vcs_move_along(i, slots, VCS_SLOTS, &byte, &moves)) return false;
      continue;
    }
    for (int slot = 0; slot < VCS_SLOTS; slot++) {
      if (!(slots[slot] >= -1e6F && slots[slot] <= 1e6F) || slots[slot] != (float)(int32_t)slots[slot]) return false;
    }
  }
  return true;
}
