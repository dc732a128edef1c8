/* directional.c: a walk backwards along a direction.
 *
 * A walk forwards with VCS_SIDE_TANGENT is not linear in its tangent v: numbers move to the side the tangent points to
 * and as far as it says, and moves of a byte up and down by the same power of two become one move (vcs_cancel_moves).
 * But it is linear once these choices are made. Here a walk forwards along v writes its choices down, and the walk
 * backwards over the same tape makes the same ones: it is the transpose of what the walk forwards did, so that <w, Jv>
 * = <J'w, v> for that v, and no tangent need be known for any other.
 *
 *   sides and steps    follow from the tangents of the few fields that are numbers: kept for every row
 *   settled bytes      which bits were settled, and which way what was left of them went: kept where any were
 *
 * Choices are kept for one frame at a time; the tangents at every frame's start are enough to find them again.
 */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

VCS_DATA uint16_t numbers[VCS_NUMBERS] = {
    VCS_OFFSET(cycles),     VCS_OFFSET(timer_cycle), VCS_OFFSET(dump_cycle),  VCS_OFFSET(paddle),
    VCS_OFFSET(paddle) + 4, VCS_OFFSET(paddle) + 8,  VCS_OFFSET(paddle) + 12, VCS_OFFSET(pos),
    VCS_OFFSET(pos) + 1,    VCS_OFFSET(pos) + 2,     VCS_OFFSET(pos) + 3,     VCS_OFFSET(pos) + 4,
};

#if !defined(__CUDACC__)

bool vcs_directional_begin(vcs_directional_t *along, int32_t rows) {
  along->count = 0;
  along->failed = false;
  if (rows < along->rows) return true;
  float *larger = realloc(along->numbers, ((size_t)rows + 1) * VCS_NUMBERS * sizeof *larger);
  if (!larger) return false;
  along->numbers = larger;
  along->rows = rows + 1;
  return true;
}

void vcs_directional_free(vcs_directional_t *along) {
  free(along->numbers);
  free(along->settled);
  memset(along, 0, sizeof *along);
}

#endif

VCS_EXTERN void vcs_directional_at(vcs_sweep_t *s, int32_t row) {
  s->row = row;
  if (!s->directional || s->reverse) return;
  float *kept = s->directional->numbers + VCS_NUMBERS * (size_t)row;
  for (int i = 0; i < VCS_NUMBERS; i++) kept[i] = *vcs_slots(s, numbers[i]);
}

VCS_EXTERN float vcs_tangent(const vcs_sweep_t *s, size_t offset) {
  if (!s->reverse || !s->directional) return *vcs_slots(s, offset);
  int i = 0;
  while (numbers[i] != offset) i++;
  return s->directional->numbers[VCS_NUMBERS * (size_t)s->row + (size_t)i];
}

VCS_STATIC void note(vcs_directional_t *along, const vcs_cancelled_move_t *settled) {
  if (along->count == along->capacity) {
#if defined(__CUDACC__) /* no device walks along a direction */
    along->failed = true;
    return;
#else
    int32_t wanted = along->capacity ? 2 * along->capacity : 256;
    vcs_cancelled_move_t *larger = realloc(along->settled, (size_t)wanted * sizeof *larger);
    along->failed |= !larger;
    if (!larger) return;
    along->settled = larger;
    along->capacity = wanted;
#endif
  }
  along->settled[along->count++] = *settled;
}

VCS_STATIC void settle(const vcs_sweep_t *s, vcs_cancelled_move_t where, uint8_t byte, float slots[VCS_SLOTS]) {
  for (int bit = 0; bit < 7; bit++) {
    if (slots[bit] == 0 || slots[8 + bit] == 0) continue;
    float left = slots[bit] + slots[8 + bit];
    bool flips = left * vcs_direction(byte, bit) > 0;
    slots[bit] = flips ? left : 0;
    slots[8 + bit] = flips ? 0 : left;
    where.bits |= (uint8_t)(1 << bit);
    if (flips) where.flips |= (uint8_t)(1 << bit);
  }
  if (where.bits && s->directional) note(s->directional, &where);
}

/* The transpose: what was left had two shares. */
VCS_STATIC void unsettle(vcs_directional_t *along, vcs_cancelled_move_t where, float slots[VCS_SLOTS]) {
  int32_t i = along->count;
  while (i && along->settled[i - 1].row > where.row) i--; /* rows that nobody asked for */
  along->count = i;
  for (; i && along->settled[i - 1].row == where.row; i--) {
    vcs_cancelled_move_t *settled = &along->settled[i - 1];
    if (settled->fork != where.fork || settled->place != where.place || !settled->bits) continue;
    for (unsigned bits = settled->bits; bits; bits &= bits - 1) {
      int bit = VCS_LOWEST(bits);
      slots[bit] = slots[8 + bit] = slots[settled->flips >> bit & 1 ? bit : 8 + bit];
    }
    settled->bits = 0; /* once */
    return;
  }
}

VCS_EXTERN void vcs_cancel_moves(const vcs_sweep_t *s, int32_t fork, size_t place, uint8_t byte,
                                 float slots[VCS_SLOTS]) {
  if (s->rule != VCS_SIDE_TANGENT) return;
  const vcs_cancelled_move_t where = {s->row, fork, (uint16_t)place, 0, 0};
  if (!s->reverse) {
    settle(s, where, byte, slots);
  } else if (s->directional) {
    unsettle(s->directional, where, slots);
  }
}
