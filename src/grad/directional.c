/* directional.c: reverse mode along one direction.
 *
 * Forward mode with VCS_SIDE_TANGENT is not linear in its tangent v. A number moves to the side to which its tangent
 * points, and as far as the tangent says, and moves of a byte up and down by the same power of two become one move
 * (vcs_cancel_moves). But it is linear once these choices are made. A forward pass along v records its choices here,
 * and the reverse pass over the same tape makes the same ones. The reverse pass is then the transpose of what the
 * forward pass did: <w, Jv> = <J'w, v> for that v.
 *
 *   sides and steps    follow from the tangents of the few fields that are numbers: kept for every row
 *   cancelled moves    which bits were cancelled, and which way the remainder went: kept where there are any
 *   whole moves        the inputs that were moved together, and what that changed (sweep.h): kept where there are any
 *
 * Choices are kept for one frame at a time. The tangents at the start of every frame are enough to find them again.
 */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* The offsets of all numbers in vcs_t. */
#define OFFSETS(name, count) OFFSETS_##count(name)
#define OFFSETS_1(name) VCS_OFFSET(name),
#define OFFSETS_4(name) VCS_OFFSET(name[0]), VCS_OFFSET(name[1]), VCS_OFFSET(name[2]), VCS_OFFSET(name[3]),
#define OFFSETS_5(name) OFFSETS_4(name) VCS_OFFSET(name[4]),
VCS_DATA uint16_t numbers[VCS_NUMBERS] = {VCS_NUMBER_FIELDS(OFFSETS)};

#if !defined(__CUDACC__)

bool vcs_directional_begin(vcs_directional_t *choices, int32_t rows) {
  choices->count = choices->move_count = 0;
  choices->failed = false;
  if (rows < choices->rows) return true;
  float *larger = realloc(choices->numbers, ((size_t)rows + 1) * VCS_NUMBERS * sizeof *larger);
  if (!larger) return false;
  choices->numbers = larger;
  choices->rows = rows + 1;
  return true;
}

void vcs_directional_free(vcs_directional_t *choices) {
  free(choices->numbers);
  free(choices->cancelled);
  free(choices->moves);
  memset(choices, 0, sizeof *choices);
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
  for (int i = 0; i < VCS_NUMBERS; i++) {
    if (numbers[i] == offset) return s->directional->numbers[VCS_NUMBERS * (size_t)s->row + (size_t)i];
  }
  return 0; /* not a number: no tangent is kept */
}

VCS_EXTERN void vcs_keep_move(const vcs_sweep_t *s, int32_t place, uint32_t slot, float value) {
  vcs_directional_t *choices = s->directional;
  if (choices->move_count == choices->move_capacity) {
#if defined(__CUDACC__)
    choices->failed = true;
    return;
#else
    int32_t wanted = choices->move_capacity ? 2 * choices->move_capacity : 1024;
    vcs_kept_move_t *larger = realloc(choices->moves, (size_t)wanted * sizeof *larger);
    choices->failed |= !larger;
    if (!larger) return;
    choices->moves = larger;
    choices->move_capacity = wanted;
#endif
  }
  const vcs_kept_move_t move = {s->row, place, slot, value};
  choices->moves[choices->move_count++] = move;
}

/* Drops what belongs to primitives behind the one at a row and place: the reverse pass has skipped them. */
VCS_STATIC void drop_moves(const vcs_sweep_t *s, int32_t place) {
  vcs_directional_t *choices = s->directional;
  int32_t i = choices->move_count;
  while (i && (choices->moves[i - 1].row > s->row ||
               (choices->moves[i - 1].row == s->row && choices->moves[i - 1].place > place)))
    i--;
  choices->move_count = i;
}

VCS_EXTERN const vcs_kept_move_t *vcs_kept_moves(const vcs_sweep_t *s, int32_t place, int32_t *count) {
  vcs_directional_t *choices = s->directional;
  *count = 0;
  if (!choices) return NULL;
  drop_moves(s, place);
  int32_t i = choices->move_count;
  while (i && choices->moves[i - 1].row == s->row && choices->moves[i - 1].place == place) i--;
  *count = choices->move_count - i;
  choices->move_count = i;
  return choices->moves + i;
}

VCS_EXTERN bool vcs_lines_moved(const vcs_sweep_t *s) {
  if (!s->directional) return false;
  drop_moves(s, VCS_ROW_INPUTS - 1);
  const int32_t count = s->directional->move_count;
  return count && s->directional->moves[count - 1].row == s->row;
}

VCS_STATIC void keep(vcs_directional_t *choices, const vcs_cancelled_move_t *cancelled) {
  if (choices->count == choices->capacity) {
#if defined(__CUDACC__) /* the device has no directional walks */
    choices->failed = true;
    return;
#else
    int32_t wanted = choices->capacity ? 2 * choices->capacity : 256;
    vcs_cancelled_move_t *larger = realloc(choices->cancelled, (size_t)wanted * sizeof *larger);
    choices->failed |= !larger;
    if (!larger) return;
    choices->cancelled = larger;
    choices->capacity = wanted;
#endif
  }
  choices->cancelled[choices->count++] = *cancelled;
}

/* Forward: a bit and its carry that both have a tangent become one move, in the direction of their sum. */
VCS_STATIC void cancel(const vcs_sweep_t *s, vcs_cancelled_move_t where, uint8_t byte, float slots[VCS_SLOTS]) {
  for (int bit = 0; bit < 7; bit++) {
    if (slots[bit] == 0 || slots[8 + bit] == 0) continue;
    float left = slots[bit] + slots[8 + bit];
    bool flips = left * vcs_direction(byte, bit) > 0;
    slots[bit] = flips ? left : 0;
    slots[8 + bit] = flips ? 0 : left;
    where.bits |= (uint8_t)(1 << bit);
    if (flips) where.flips |= (uint8_t)(1 << bit);
  }
  if (where.bits && s->directional) keep(s->directional, &where);
}

/* The transpose: the sum has two terms, and each gets the adjoint of the sum. */
VCS_STATIC void cancel_transposed(vcs_directional_t *choices, vcs_cancelled_move_t where, float slots[VCS_SLOTS]) {
  int32_t i = choices->count;
  while (i && choices->cancelled[i - 1].row > where.row) i--; /* rows that the reverse pass has skipped */
  choices->count = i;
  for (; i && choices->cancelled[i - 1].row == where.row; i--) {
    vcs_cancelled_move_t *cancelled = &choices->cancelled[i - 1];
    if (cancelled->fork != where.fork || cancelled->place != where.place || !cancelled->bits) continue;
    for (unsigned bits = cancelled->bits; bits; bits &= bits - 1) {
      int bit = VCS_LOWEST(bits);
      slots[bit] = slots[8 + bit] = slots[cancelled->flips >> bit & 1 ? bit : 8 + bit];
    }
    cancelled->bits = 0; /* each is used once */
    return;
  }
}

VCS_EXTERN void vcs_cancel_moves(const vcs_sweep_t *s, int32_t fork, size_t place, uint8_t byte,
                                 float slots[VCS_SLOTS]) {
  if (s->rule != VCS_SIDE_TANGENT) return;
  const vcs_cancelled_move_t where = {s->row, fork, (uint16_t)place, 0, 0};
  if (!s->reverse) {
    cancel(s, where, byte, slots);
  } else if (s->directional) {
    cancel_transposed(s->directional, where, slots);
  }
}
