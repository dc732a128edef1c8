/* adjoint_delta.h: walking backwards, what would be gained if a byte were another.
 *
 * The byte has adjoints in its slots; if it were `is` instead of `was`, the scalar that is differentiated would be more
 * by those of the slots that tell the move: one carry, or the bits that differ, up or down (vcs_link_byte says the same
 * as links). Where some alternatives to one byte are looked at, the bits' part comes from two tables of nibbles, where
 * many are, all comes from one of bytes.
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

/* +1 where a bit is 0, -1 where it is 1: without a jump, which nobody could foresee. */
VCS_TABLE(float, vcs_adjoint_delta_ways, 2, {1, -1})
VCS_HOT_FN float vcs_adjoint_delta_sign(unsigned byte, int bit) { return vcs_adjoint_delta_ways(byte >> bit & 1); }

VCS_FN float vcs_adjoint_delta_of_bits(const float *slots, uint8_t was, unsigned moved) {
  float gain = 0;
  for (; moved; moved &= moved - 1) gain += vcs_adjoint_delta_sign(was, VCS_LOWEST(moved)) * slots[VCS_LOWEST(moved)];
  return gain;
}

/* The carry between two bytes that differ in more than one bit, with its sign. False: there is none. */
VCS_HOT_FN bool vcs_adjoint_delta_of_carry(const float *slots, uint8_t was, uint8_t is, float *gain) {
  unsigned up = (uint8_t)(is - was), down = (uint8_t)(was - is);
  if (!(up & (up - 1)) && was & up) {
    *gain = slots[8 + VCS_LOWEST(up)];
    return up != 0x80;
  }
  if (!(down & (down - 1)) && !(was & down)) {
    *gain = -slots[8 + VCS_LOWEST(down)];
    return down != 0x80;
  }
  return false;
}

VCS_FN float vcs_adjoint_delta_of(const float *slots, uint8_t was, uint8_t is) {
  float gain;
  if (was == is) return 0;
  return vcs_adjoint_delta_of_carry(slots, was, is, &gain) ? gain : vcs_adjoint_delta_of_bits(slots, was, was ^ is);
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

/* `is` is not what it was. */
VCS_HOT_FN float vcs_adjoint_delta(const vcs_adjoint_delta_t *g, uint8_t is) {
  float gain;
  return vcs_adjoint_delta_of_carry(g->slots, g->was, is, &gain) ? gain : vcs_adjoint_delta_bits(g, is);
}

/* The gain of every byte at once, by the bits in which it differs: worth it where sixteen or more are looked at. */
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
 * Slots come in pairs: bit k moves the byte by 2^k one way, carry k the other way. Told by the way they go, moves are
 * the same for everything that is added up to one number: a sum moves as far as each of its terms does. So the moves of
 * an address are looked at once, and shared by all that it is made of. */

/* by[0][k] is gained by 2^k more, the way of a bit that is 0; by[1][k] is lost by 2^k less, the way of one that is 1.
 */
typedef struct {
  float by[2][8];
} vcs_moves_t;

/* Of a byte that has adjoints. To move by 128 up or down is the same. */
VCS_FN void vcs_moves_of(vcs_moves_t *moves, const float slots[VCS_SLOTS], uint8_t byte) {
  for (int k = 0; k < 8; k++) {
    const unsigned bit = byte >> k & 1;
    moves->by[bit][k] = slots[k];
    moves->by[!bit][k] = k == 7 ? -slots[7] : slots[8 + k];
  }
}

/* To a byte that moves them: its bits, and its carries if it has some. */
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

/* To a byte that moves them the other way. */
VCS_FN void vcs_moves_take(const vcs_moves_t *moves, uint8_t byte, int count, float *slots) {
  for (int k = 0; k < 8; k++) slots[k] -= moves->by[~byte >> k & 1][k];
  if (count == 8) return;
  for (int k = 0; k < 8; k++) slots[8 + k] -= moves->by[byte >> k & 1][k];
}

#endif
