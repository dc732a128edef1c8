/* gain.h: walking backwards, what would be gained if a byte were another.
 *
 * The byte has adjoints in its slots; if it were `is` instead of `was`, the scalar that is differentiated would be more
 * by those of the slots that tell the move: one carry, or the bits that differ, up or down (vcs_link_byte says the same
 * as links). Where many alternatives to one byte are looked at, the bits' part comes from two tables of nibbles.
 */
#ifndef VCS_GRAD_GAIN_H
#define VCS_GRAD_GAIN_H

#include "sweep.h"

VCS_FN float vcs_gain_of_bits(const float *slots, uint8_t was, unsigned moved) {
  float gain = 0;
  for (; moved; moved &= moved - 1) {
    int bit = VCS_LOWEST(moved);
    gain += was >> bit & 1 ? -slots[bit] : slots[bit];
  }
  return gain;
}

/* The carry between two bytes that differ in more than one bit, with its sign. False: there is none. */
VCS_HOT_FN bool vcs_gain_of_carry(const float *slots, uint8_t was, uint8_t is, float *gain) {
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

VCS_FN float vcs_gain_of(const float *slots, uint8_t was, uint8_t is) {
  float gain;
  if (was == is) return 0;
  return vcs_gain_of_carry(slots, was, is, &gain) ? gain : vcs_gain_of_bits(slots, was, was ^ is);
}

typedef struct {
  const float *slots;
  uint8_t was;
  float low[16], high[16]; /* by the bits of a nibble that differ */
} vcs_gain_t;

VCS_FN void vcs_gain_make(vcs_gain_t *g, const float *slots, uint8_t was) {
  g->slots = slots;
  g->was = was;
  g->low[0] = g->high[0] = 0;
  for (int bit = 0; bit < 4; bit++) {
    float low = was >> bit & 1 ? -slots[bit] : slots[bit],
          high = was >> (4 + bit) & 1 ? -slots[4 + bit] : slots[4 + bit];
    for (int i = 0; i < 1 << bit; i++) {
      g->low[i + (1 << bit)] = g->low[i] + low;
      g->high[i + (1 << bit)] = g->high[i] + high;
    }
  }
}

VCS_HOT_FN float vcs_gain_bits(const vcs_gain_t *g, uint8_t is) {
  unsigned moved = g->was ^ is;
  return g->low[moved & 15] + g->high[moved >> 4];
}

/* `is` is not what it was. */
VCS_HOT_FN float vcs_gain(const vcs_gain_t *g, uint8_t is) {
  float gain;
  return vcs_gain_of_carry(g->slots, g->was, is, &gain) ? gain : vcs_gain_bits(g, is);
}

#endif
