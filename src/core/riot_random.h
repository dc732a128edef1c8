/* riot_random.h: the contents of memory at power-on.
 *
 * A RAM chip has arbitrary contents at power-on. An emulator has to choose them, and programs that read RAM before they
 * write it show the choice. Both references draw it from a seeded generator:
 *
 *   random_ram == 0   a small linear congruential generator, v <- (2416 v + 374441) mod 1771875, which starts again
 *                     from its seed for every block of RAM. Only cartridge RAM is drawn, once, at power-on.
 *   random_ram != 0   one MT19937 for the whole machine: 128 bytes of RIOT RAM and the timer at power-on, then, at
 *                     every reset, the timer and after it the cartridge RAM. A byte is the low byte of a draw.
 *
 * The state holds only the number of draws made so far (m->rng_draws): the generator is seeded anew and run up to that
 * point when it is needed, which is at power-on and reset only.
 * M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998. Proof: tests/test_cart.c,
 * test_random_mt19937_gives_the_published_10000th_value.
 */
#ifndef VCS_CORE_RIOT_RANDOM_H
#define VCS_CORE_RIOT_RANDOM_H

#include "state.h"

enum { VCS_MT_WORDS = 624, VCS_MT_LAG = 397 };

typedef struct {
  uint32_t word[VCS_MT_WORDS];
  uint32_t next; /* index of the next word to give out */
} vcs_mt19937_t;

/* The next 624 words. */
VCS_SLOW_FN void vcs_mt19937_twist(vcs_mt19937_t *mt) {
  for (uint32_t i = 0; i < VCS_MT_WORDS; ++i) {
    uint32_t y = (mt->word[i] & 0x80000000u) | (mt->word[(i + 1) % VCS_MT_WORDS] & 0x7FFFFFFFu);
    mt->word[i] = mt->word[(i + VCS_MT_LAG) % VCS_MT_WORDS] ^ (y >> 1) ^ ((y & 1) ? 0x9908B0DFu : 0u);
  }
  mt->next = 0;
}

/* A generator that has been seeded and has already given `draws` values. */
VCS_SLOW_FN void vcs_mt19937_start(vcs_mt19937_t *mt, uint32_t seed, uint32_t draws) {
  mt->word[0] = seed;
  for (uint32_t i = 1; i < VCS_MT_WORDS; ++i)
    mt->word[i] = 1812433253u * (mt->word[i - 1] ^ (mt->word[i - 1] >> 30)) + i;
  for (uint32_t block = 0; block <= draws / VCS_MT_WORDS; ++block) vcs_mt19937_twist(mt);
  mt->next = draws % VCS_MT_WORDS;
}

VCS_FN uint32_t vcs_mt19937_draw(vcs_mt19937_t *mt) {
  if (mt->next == VCS_MT_WORDS) vcs_mt19937_twist(mt);
  uint32_t y = mt->word[mt->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680u;
  y ^= (y << 15) & 0xEFC60000u;
  return y ^ (y >> 18);
}

/* One whole value from the machine's generator. */
VCS_SLOW_FN uint32_t vcs_random_next(const vcs_cart_t *cart, vcs_t *m) {
  vcs_mt19937_t mt;
  vcs_mt19937_start(&mt, cart->random_seed, m->rng_draws++);
  return vcs_mt19937_draw(&mt);
}

/* Fills a block of memory as it is at power-on. */
VCS_SLOW_FN void vcs_random_fill(const vcs_cart_t *cart, vcs_t *m, uint8_t *bytes, int count) {
  if (cart->random_ram) {
    vcs_mt19937_t mt;
    vcs_mt19937_start(&mt, cart->random_seed, m->rng_draws);
    for (int i = 0; i < count; ++i) bytes[i] = (uint8_t)vcs_mt19937_draw(&mt);
    m->rng_draws += (uint32_t)count;
  } else {
    uint32_t value = cart->random_seed;
    for (int i = 0; i < count; ++i) {
      value = (value * 2416u + 374441u) % 1771875u;
      bytes[i] = (uint8_t)value;
    }
  }
}

#endif
