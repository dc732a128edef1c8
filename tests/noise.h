/* noise.h: the random numbers of the tests. A test sets random_state to repeat what it draws. */
#ifndef TESTS_NOISE_H
#define TESTS_NOISE_H

#include <stdint.h>

#include "core/splitmix.h"

static uint64_t random_state = 1;

static inline uint32_t noise(void) { return (uint32_t)vcs_splitmix64(&random_state); }

/* Returns a number from 0 to n - 1. */
static inline uint32_t below(uint32_t n) { return noise() % n; }

static inline uint8_t noise_byte(void) { return (uint8_t)noise(); }

/* From 0 to 1, without 1. */
static inline double fraction(void) { return noise() / 4294967296.0; }

/* From -1 to 1. */
static inline float noise_float(void) { return (float)(int32_t)noise() / 2147483648.0F; }

#endif
