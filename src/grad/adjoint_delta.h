/* adjoint_delta.h: reverse mode: the change of the scalar if a byte had another value.
 *
 * A byte has adjoints in its slots. If it were `is` instead of `was`, the scalar that is differentiated would change by
 * the adjoints of the slots that describe the move: one carry, or the bits that differ, up or down (vcs_link_byte has
 * the same as links). This change is called the byte's delta. To compare a few other values with one byte, the part of
 * the bits comes from two tables of nibbles; to compare many, everything comes from one table of bytes.
 */
#ifndef VCS_GRAD_ADJOINT_DELTA_H
#define VCS_GRAD_ADJOINT_DELTA_H

#include "sweep.h"

/* On a CPU four floats, or their bits, at a time; a device has a thread for each tape, and does them one by one. */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define VCS_ADJOINT_DELTA_FOURS 1
typedef float vcs_four_t __attribute__((vector_size(16)));
typedef int32_t vcs_four_ints_t __attribute__((vector_size(16)));

VCS_FN vcs_four_ints_t vcs_four_bits(const float *floats) {
  vcs_four_ints_t bits;
  memcpy(&bits, floats, sizeof bits);
  return bits;
}
VCS_FN void vcs_four_add(float *floats, vcs_four_ints_t bits) {
  vcs_four_t sum;
  memcpy(&sum, floats, sizeof sum);
  sum += (vcs_four_t)bits;
  memcpy(floats, &sum, sizeof sum);
}
#else
#define VCS_ADJOINT_DELTA_FOURS 0
#endif

/* +1 where a bit is 0, -1 where it is 1; without a branch, which would be mispredicted half the time. */
VCS_TABLE(float, vcs_adjoint_delta_ways, 2, {1, -1})
VCS_HOT_FN float vcs_adjoint_delta_sign(unsigned byte, int bit) { return vcs_adjoint_delta_ways(byte >> bit & 1); }

VCS_FN float vcs_adjoint_delta_of_bits(const float *slots, uint8_t was, unsigned moved) {
  float delta = 0;
  for (; moved; moved &= moved - 1) delta += vcs_adjoint_delta_sign(was, VCS_LOWEST(moved)) * slots[VCS_LOWEST(moved)];
  return delta;
}

/* Finds the carry between two bytes that differ in more than one bit, with its sign. Returns false if there is none. */
VCS_HOT_FN bool vcs_adjoint_delta_of_carry(const float *slots, uint8_t was, uint8_t is, float *delta) {
  unsigned up = (uint8_t)(is - was), down = (uint8_t)(was - is);
  if (!(up & (up - 1)) && was & up) {
    *delta = slots[8 + VCS_LOWEST(up)];
    return up != 0x80;
  }
  if (!(down & (down - 1)) && !(was & down)) {
    *delta = -slots[8 + VCS_LOWEST(down)];
    return down != 0x80;
  }
  return false;
}

VCS_FN float vcs_adjoint_delta_of(const float *slots, uint8_t was, uint8_t is) {
  float delta;
  if (was == is) return 0;
  return vcs_adjoint_delta_of_carry(slots, was, is, &delta) ? delta : vcs_adjoint_delta_of_bits(slots, was, was ^ is);
}

typedef struct {
  const float *slots;
  uint8_t was;
  float low[16], high[16]; /* by the bits of a nibble that differ */
} vcs_adjoint_delta_t;

/* The sums of four signed slots, by the set of them. */
VCS_HOT_FN void vcs_adjoint_delta_nibble(float of[16], const float *slots, unsigned was) {
  of[0] = 0;
  of[1] = vcs_adjoint_delta_sign(was, 0) * slots[0];
  of[2] = vcs_adjoint_delta_sign(was, 1) * slots[1];
  of[3] = of[1] + of[2];
  const float third = vcs_adjoint_delta_sign(was, 2) * slots[2], fourth = vcs_adjoint_delta_sign(was, 3) * slots[3];
  for (int i = 0; i < 4; i++) of[4 + i] = of[i] + third;
  for (int i = 0; i < 8; i++) of[8 + i] = of[i] + fourth;
}

VCS_FN void vcs_adjoint_delta_make(vcs_adjoint_delta_t *g, const float *slots, uint8_t was) {
  g->slots = slots;
  g->was = was;
  vcs_adjoint_delta_nibble(g->low, slots, was);
  vcs_adjoint_delta_nibble(g->high, slots + 4, was >> 4);
}

VCS_HOT_FN float vcs_adjoint_delta_bits(const vcs_adjoint_delta_t *g, uint8_t is) {
  unsigned moved = g->was ^ is;
  return g->low[moved & 15] + g->high[moved >> 4];
}

/* The delta of a byte `is` that differs from g->was. */
VCS_HOT_FN float vcs_adjoint_delta(const vcs_adjoint_delta_t *g, uint8_t is) {
  float delta;
  return vcs_adjoint_delta_of_carry(g->slots, g->was, is, &delta) ? delta : vcs_adjoint_delta_bits(g, is);
}

/* The deltas of all bytes, indexed by the bits in which they differ: worth it for sixteen or more of them. */
VCS_FN void vcs_adjoint_delta_table(float of[256], const float *slots, uint8_t was) {
  float high[16];
  vcs_adjoint_delta_nibble(high, slots + 4, was >> 4);
#if VCS_ADJOINT_DELTA_FOURS /* the sixteen sums of the low bits stay in four registers */
  const float first = vcs_adjoint_delta_sign(was, 0) * slots[0], second = vcs_adjoint_delta_sign(was, 1) * slots[1];
  vcs_four_t low[4] = {{0, first, second, first + second}};
  low[1] = low[0] + vcs_adjoint_delta_sign(was, 2) * slots[2];
  low[2] = low[0] + vcs_adjoint_delta_sign(was, 3) * slots[3];
  low[3] = low[1] + vcs_adjoint_delta_sign(was, 3) * slots[3];
  for (int i = 0; i < 16; i++) {
    for (int k = 0; k < 4; k++) {
      const vcs_four_t sums = low[k] + high[i];
      memcpy(of + 16 * i + 4 * k, &sums, sizeof sums);
    }
  }
#else
  float low[16];
  vcs_adjoint_delta_nibble(low, slots, was);
  for (int i = 0; i < 256; i++) of[i] = high[i >> 4] + low[i & 15];
#endif
  for (int k = 0; k < 7; k++) {
    const int way = was >> k & 1 ? 1 : -1; /* the one that the bit cannot go */
    of[was ^ (uint8_t)(was + way * (1 << k))] = (float)way * slots[8 + k];
  }
}

/* ---- Moves by powers of two -----------------------------------------------------------------------------------------
 *
 * Slots come in pairs: bit k moves the byte by 2^k one way, carry k the other way. Sorted by direction, moves are the
 * same for all terms of a sum, because a sum moves as far as each of its terms. So the moves of an address are computed
 * once, and shared by all bytes that are its terms. */

/* by[0][k] is the delta of 2^k more, the direction of a bit that is 0; by[1][k] is minus the delta of 2^k less, the
 * direction of a bit that is 1. */
typedef struct {
  float by[2][8];
} vcs_moves_t;

/* The moves of a byte that has adjoints. To move by 128 up or down is the same. */
VCS_FN void vcs_moves_of(vcs_moves_t *moves, const float slots[VCS_SLOTS], uint8_t byte) {
  for (int k = 0; k < 8; k++) {
    const unsigned bit = byte >> k & 1;
    moves->by[bit][k] = slots[k];
    moves->by[!bit][k] = k == 7 ? -slots[7] : slots[8 + k];
  }
}

/* Adds the moves to the adjoints of a term: its bits, and its carries if it has any. */
VCS_FN void vcs_moves_give(const vcs_moves_t *moves, uint8_t byte, int count, float *slots) {
#if VCS_ADJOINT_DELTA_FOURS
  for (int half = 0; half < 8; half += 4) {
    const vcs_four_ints_t ones = {1 << half, 2 << half, 4 << half, 8 << half};
    const vcs_four_ints_t more = vcs_four_bits(moves->by[0] + half), less = vcs_four_bits(moves->by[1] + half);
    const vcs_four_ints_t set = (ones & byte) != 0, swap = (more ^ less) & set;
    vcs_four_add(slots + half, more ^ swap);
    if (count != 8) vcs_four_add(slots + 8 + half, less ^ swap);
  }
#else
  for (int k = 0; k < 8; k++) slots[k] += moves->by[byte >> k & 1][k];
  if (count == 8) return;
  for (int k = 0; k < 8; k++) slots[8 + k] += moves->by[~byte >> k & 1][k];
#endif
}

/* The same for a term that is subtracted. */
VCS_FN void vcs_moves_take(const vcs_moves_t *moves, uint8_t byte, int count, float *slots) {
  for (int k = 0; k < 8; k++) slots[k] -= moves->by[~byte >> k & 1][k];
  if (count == 8) return;
  for (int k = 0; k < 8; k++) slots[8 + k] -= moves->by[byte >> k & 1][k];
}

#endif
