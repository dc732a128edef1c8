/* splitmix.h: the generator of random numbers of the whole project, on the host and on devices.
 *
 * splitmix64 (Steele, Lea and Flood, 2014) adds a constant to a counter and mixes its bits. Every seed is a good one,
 * and the state is one number, so a stream of random numbers is easy to keep, to copy and to repeat.
 */
#ifndef VCS_CORE_SPLITMIX_H
#define VCS_CORE_SPLITMIX_H

#include "base.h"

/* Advances the state and returns the next number. */
VCS_FN uint64_t vcs_splitmix64(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

#endif
