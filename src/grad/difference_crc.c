/* difference_crc.c: tables for zeros, and two ways to compute the CRC-32 of a difference (difference_crc.h explains
 * it).
 *
 * By table: four bytes at a time. By multiplication: 16 bytes of a message are a polynomial; moved on by 16 bytes, it
 * is congruent, modulo the CRC's polynomial, to its two halves times x^160 and x^96 (in the reflected order of bits:
 * Gopal and others, Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, 2009). So a row is folded
 * into its last 16 bytes, and four steps by table finish it.
 */
#include "grad/difference_crc.h"

#include <string.h>

#include "core/state.h"
#include "host/hash.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#include <wmmintrin.h>
#define FOLDS 1
#else
#define FOLDS 0
#endif

_Static_assert(VCS_WIDTH % VCS_CRC_BLOCK == 0 && VCS_FRAME_BYTES / VCS_WIDTH < 1 << VCS_CRC_ROWS_LOG,
               "a picture is rows of blocks");

/* Returns a register after the zeros of a table. */
static uint32_t carry(const vcs_crc_carry_t over, uint32_t crc) {
  return over[0][crc & 255] ^ over[1][crc >> 8 & 255] ^ over[2][crc >> 16 & 255] ^ over[3][crc >> 24];
}

/* Completes a table that has its entries for single bits: an entry is the XOR of those of its bits. */
static void sum_bits(vcs_crc_carry_t made) {
  for (int byte = 0; byte < 4; byte++) {
    made[byte][0] = 0;
    for (uint32_t i = 1; i < 256; i++) made[byte][i] = made[byte][i & (i - 1)] ^ made[byte][i & (~i + 1)];
  }
}

/* Makes a table for `times` as many zeros as another one has. */
static void prepare_carry(const vcs_crc_carry_t over, int times, vcs_crc_carry_t made) {
  for (int bit = 0; bit < 32; bit++) {
    uint32_t crc = 1u << bit;
    for (int k = 0; k < times; k++) crc = carry(over, crc);
    made[bit / 8][1u << bit % 8] = crc;
  }
  sum_bits(made);
}

void vcs_difference_crc_prepare(vcs_difference_crc_t *d) {
  static const uint8_t zeros[4];
  for (int bit = 0; bit < 32; bit++) {
    d->over_four[bit / 8][1u << bit % 8] = ~vcs_crc32_on(~(1u << bit), zeros, sizeof zeros);
  }
  sum_bits(d->over_four);
  prepare_carry(d->over_four, VCS_CRC_BLOCK / 4, d->over_block);
  prepare_carry(d->over_block, VCS_WIDTH / VCS_CRC_BLOCK, d->over_rows[0]);
  for (int i = 1; i < VCS_CRC_ROWS_LOG; i++) prepare_carry(d->over_rows[i - 1], 2, d->over_rows[i]);
#if FOLDS
  d->folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
#else
  d->folds = false;
#endif
}

static uint32_t carry_rows(const vcs_difference_crc_t *d, uint32_t crc, size_t rows) {
  for (int i = 0; rows; i++, rows >>= 1) {
    if (rows & 1) crc = carry(d->over_rows[i], crc);
  }
  return crc;
}

static uint32_t by_table(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other, size_t size,
                         int32_t *count) {
  uint32_t crc = 0;
  for (size_t at = 0; at < size; at += VCS_CRC_BLOCK, one += VCS_CRC_BLOCK, other += VCS_CRC_BLOCK) {
    uint8_t differs[VCS_CRC_BLOCK], bytes = 0;
    if (memcmp(one, other, VCS_CRC_BLOCK) == 0) {
      if (crc) crc = carry(d->over_block, crc);
      continue;
    }
    for (int i = 0; i < VCS_CRC_BLOCK; i++) bytes += (differs[i] = one[i] ^ other[i]) != 0;
    for (int i = 0; i < VCS_CRC_BLOCK; i += 4) {
      const uint32_t four = (uint32_t)differs[i] | (uint32_t)differs[i + 1] << 8 | (uint32_t)differs[i + 2] << 16 |
                            (uint32_t)differs[i + 3] << 24;
      crc = carry(d->over_four, crc ^ four);
    }
    *count += bytes;
  }
  return crc;
}

#if FOLDS
__attribute__((target("pclmul,popcnt"))) static uint32_t by_multiplication(const vcs_difference_crc_t *d,
                                                                           const uint8_t *one, const uint8_t *other,
                                                                           size_t size, int32_t *count) {
  const __m128i powers = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0); /* x^96 and x^160, reflected */
  __m128i sum = _mm_setzero_si128();
  int equal = 0;
  for (size_t at = 0; at < size; at += 16) {
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(one + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(other + at));
    const __m128i folded =
        _mm_xor_si128(_mm_clmulepi64_si128(sum, powers, 0x00), _mm_clmulepi64_si128(sum, powers, 0x11));
    sum = _mm_xor_si128(folded, _mm_xor_si128(a, b));
    equal += __builtin_popcount((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
  }
  uint32_t words[4], crc = 0;
  _mm_storeu_si128((__m128i *)(void *)words, sum);
  for (int i = 0; i < 4; i++) crc = carry(d->over_four, crc ^ words[i]);
  *count += (int32_t)size - equal;
  return crc;
}
#endif

uint32_t vcs_difference_crc(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other, size_t size,
                            int32_t *count) {
#if FOLDS
  if (d->folds) return by_multiplication(d, one, other, size, count);
#endif
  return by_table(d, one, other, size, count);
}

uint32_t vcs_difference_crc_of_rows(const vcs_difference_crc_t *d, const uint8_t *one, const uint8_t *other,
                                    const uint8_t *lines, size_t rows, int32_t *count) {
  uint32_t crc = 0;
  size_t last = 0; /* the row that `crc` is behind */
  for (const uint8_t *line = lines; (line = memchr(line, 1, (size_t)(lines + rows - line))); line++) {
    const size_t row = (size_t)(line - lines), at = row * VCS_WIDTH;
    crc = carry_rows(d, crc, row - last) ^ vcs_difference_crc(d, one + at, other + at, VCS_WIDTH, count);
    last = row;
  }
  return carry_rows(d, crc, rows - 1 - last);
}
