/* paint.h: the last step of a line: which pixels show which colour (tia_video.h) becomes 160 bytes.
 *
 * A line comes as the masks of its four colours, 64 pixels a word. Each bit becomes a byte of zeros or ones, by a
 * table, eight pixels at a time, and masks a colour:
 *
 *   COLUPF   0 0 1 1 0 0 0 0      00 00 FF FF 00 00 00 00 & (COLUPF ^ COLUBK) * 0101010101010101
 *   COLUP0   0 0 0 0 1 0 0 0      00 00 00 00 FF 00 00 00 & (COLUP0 ^ COLUBK) * ...                  all ^ COLUBK * ...
 *
 * An x86 host with AVX2 takes 32 pixels at a time, which saves a tenth of a frame's time, and one with AVX-512
 * takes 64. The code detects both at run time, so that one build runs everywhere.
 */
#ifndef VCS_CORE_PAINT_H
#define VCS_CORE_PAINT_H

#include "base.h"

enum { VCS_COLUBK, VCS_COLUPF, VCS_COLUP0, VCS_COLUP1 };
enum { VCS_LINE_WORDS = 3 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define VCS_PAINT_WIDE 1
#include <immintrin.h>
#else
#define VCS_PAINT_WIDE 0
#endif
#if VCS_PAINT_WIDE && !defined(_WIN32) /* there GCC aligns the stack to 16 bytes only */
#define VCS_PAINT_WIDEST 1
#else
#define VCS_PAINT_WIDEST 0
#endif

/* Each bit of b as a byte of 0x00 or 0xFF. */
#define VCS_SPREAD_1(b)                                                                                             \
  (((b)&1 ? 0xFFULL : 0) | ((b)&2 ? 0xFFULL << 8 : 0) | ((b)&4 ? 0xFFULL << 16 : 0) | ((b)&8 ? 0xFFULL << 24 : 0) | \
   ((b)&16 ? 0xFFULL << 32 : 0) | ((b)&32 ? 0xFFULL << 40 : 0) | ((b)&64 ? 0xFFULL << 48 : 0) |                     \
   ((b)&128 ? 0xFFULL << 56 : 0))
#define VCS_SPREAD_4(b) VCS_SPREAD_1(b), VCS_SPREAD_1((b) + 1), VCS_SPREAD_1((b) + 2), VCS_SPREAD_1((b) + 3)
#define VCS_SPREAD_16(b) VCS_SPREAD_4(b), VCS_SPREAD_4((b) + 4), VCS_SPREAD_4((b) + 8), VCS_SPREAD_4((b) + 12)
#define VCS_SPREAD_64(b) VCS_SPREAD_16(b), VCS_SPREAD_16((b) + 16), VCS_SPREAD_16((b) + 32), VCS_SPREAD_16((b) + 48)
VCS_TABLE(uint64_t, vcs_spread_bytes, 256,
          {VCS_SPREAD_64(0), VCS_SPREAD_64(64), VCS_SPREAD_64(128), VCS_SPREAD_64(192)})

VCS_FN void vcs_fill(uint8_t *bytes, uint8_t value, int count) {
#if defined(__CUDA_ARCH__)
  for (int i = 0; i < count; i++) bytes[i] = value;
#else
  __builtin_memset(bytes, value, (size_t)count);
#endif
}

/* Paints the pixels of `piece` in a line with these colours, eight at a time. */
VCS_FN void vcs_paint_by_eight(uint64_t colour[VCS_LINE_WORDS][4], const uint64_t piece[VCS_LINE_WORDS],
                               const uint8_t colu[4], uint8_t *row) {
  const uint64_t eight = 0x0101010101010101ULL, bk = colu[VCS_COLUBK] * eight;
  const uint64_t pf = (uint64_t)(colu[VCS_COLUPF] ^ colu[VCS_COLUBK]) * eight;
  const uint64_t p0 = (uint64_t)(colu[VCS_COLUP0] ^ colu[VCS_COLUBK]) * eight;
  const uint64_t p1 = (uint64_t)(colu[VCS_COLUP1] ^ colu[VCS_COLUBK]) * eight;
  for (int x = 0; x < VCS_WIDTH; x += 8) {
    int w = x >> 6, g = x & 63;
    unsigned inside = piece[w] >> g & 0xFF;
    if (!inside) continue;
    uint64_t old, pixels = bk ^ (pf & vcs_spread_bytes(colour[w][VCS_COLUPF] >> g & 0xFF)) ^
                           (p0 & vcs_spread_bytes(colour[w][VCS_COLUP0] >> g & 0xFF)) ^
                           (p1 & vcs_spread_bytes(colour[w][VCS_COLUP1] >> g & 0xFF));
    if (inside != 0xFF) { /* keep what is outside the piece */
      uint64_t keep = ~vcs_spread_bytes(inside);
      __builtin_memcpy(&old, row + x, 8);
      pixels = (pixels & ~keep) | (old & keep);
    }
    __builtin_memcpy(row + x, &pixels, 8);
  }
}

#if VCS_PAINT_WIDE
/* 32 bits of a mask as bytes of 0x00 or 0xFF. */
__attribute__((target("avx2"), always_inline)) static inline __m256i vcs_spread_32(uint64_t mask, int g) {
  const __m256i byte_of_bit = _mm256_setr_epi64x(0, 0x0101010101010101LL, 0x0202020202020202LL, 0x0303030303030303LL);
  const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ULL);
  __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(mask >> g)), byte_of_bit);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

__attribute__((target("avx2"))) VCS_SLOW_FN void vcs_paint_by_32(uint64_t colour[VCS_LINE_WORDS][4],
                                                                 const uint64_t piece[VCS_LINE_WORDS],
                                                                 const uint8_t colu[4], uint8_t *row) {
  const __m256i bk = _mm256_set1_epi8((char)colu[VCS_COLUBK]), pf = _mm256_set1_epi8((char)colu[VCS_COLUPF]);
  const __m256i p0 = _mm256_set1_epi8((char)colu[VCS_COLUP0]), p1 = _mm256_set1_epi8((char)colu[VCS_COLUP1]);
  for (int x = 0; x < VCS_WIDTH; x += 32) {
    int w = x >> 6, g = x & 63;
    uint32_t inside = (uint32_t)(piece[w] >> g);
    __m256i *to = (__m256i *)(void *)(row + x);
    if (!inside) continue;
    __m256i pixels = _mm256_blendv_epi8(bk, pf, vcs_spread_32(colour[w][VCS_COLUPF], g));
    pixels = _mm256_blendv_epi8(pixels, p0, vcs_spread_32(colour[w][VCS_COLUP0], g));
    pixels = _mm256_blendv_epi8(pixels, p1, vcs_spread_32(colour[w][VCS_COLUP1], g));
    if (inside != 0xFFFFFFFF) { /* keep what is outside the piece */
      pixels = _mm256_blendv_epi8(_mm256_loadu_si256(to), pixels, vcs_spread_32(inside, 0));
    }
    _mm256_storeu_si256(to, pixels);
  }
}
#endif

/* Colours, and the pixels that each paints over what is below it: the last layer is on top, or the first. */
enum { VCS_LAYERS = 3 };
typedef struct {
  uint64_t word[VCS_LAYERS][VCS_LINE_WORDS];
  uint8_t colour[VCS_LAYERS], background;
  bool first_on_top;
} vcs_layers_t;

/* The layers from the lowest one on. */
VCS_FN int vcs_layer_at(const vcs_layers_t *layers, int i) {
  return !layers->first_on_top ? i : i < VCS_LAYERS - 1 ? i + 1 : 0;
}

/* Paint pixels [from, to) of a row. */
VCS_FN void vcs_paint_layers_by_eight(const vcs_layers_t *layers, int from, int to, uint8_t *row) {
  const uint64_t eight = 0x0101010101010101ULL;
  for (int x = from & ~7; x < to; x += 8) {
    uint64_t pixels = layers->background * eight;
    for (int k = 0; k < VCS_LAYERS; k++) {
      const int i = vcs_layer_at(layers, k);
      uint64_t spread = vcs_spread_bytes(layers->word[i][x >> 6] >> (x & 63) & 0xFF);
      pixels ^= (pixels ^ layers->colour[i] * eight) & spread;
    }
    if (x < from || x + 8 > to) {
      uint64_t old, inside = ~0ULL;
      if (x < from) inside &= ~0ULL << 8 * (from - x);
      if (x + 8 > to) inside &= ~0ULL >> 8 * (x + 8 - to);
      __builtin_memcpy(&old, row + x, 8);
      pixels = (pixels & inside) | (old & ~inside);
    }
    __builtin_memcpy(row + x, &pixels, 8);
  }
}

#if VCS_PAINT_WIDE
__attribute__((target("avx2"))) VCS_SLOW_FN void vcs_paint_layers_by_32(const vcs_layers_t *layers, int from, int to,
                                                                        uint8_t *row) {
  __m256i pixels[VCS_WIDTH / 32];
  uint8_t painted[VCS_WIDTH], *all = to - from == VCS_WIDTH ? row : painted;
  for (int g = 0; g < VCS_WIDTH / 32; g++) pixels[g] = _mm256_set1_epi8((char)layers->background);
  for (int k = 0; k < VCS_LAYERS; k++) {
    const int i = vcs_layer_at(layers, k);
    const __m256i colour = _mm256_set1_epi8((char)layers->colour[i]);
    const uint64_t *word = layers->word[i];
    if (word[0]) {
      pixels[0] = _mm256_blendv_epi8(pixels[0], colour, vcs_spread_32(word[0], 0));
      pixels[1] = _mm256_blendv_epi8(pixels[1], colour, vcs_spread_32(word[0], 32));
    }
    if (word[1]) {
      pixels[2] = _mm256_blendv_epi8(pixels[2], colour, vcs_spread_32(word[1], 0));
      pixels[3] = _mm256_blendv_epi8(pixels[3], colour, vcs_spread_32(word[1], 32));
    }
    if (word[2]) pixels[4] = _mm256_blendv_epi8(pixels[4], colour, vcs_spread_32(word[2], 0));
  }
  for (int g = 0; g < VCS_WIDTH / 32; g++) _mm256_storeu_si256((__m256i *)(void *)(all + 32 * g), pixels[g]);
  if (all != row) __builtin_memcpy(row + from, painted + from, (size_t)(to - from));
}

#endif

#if VCS_PAINT_WIDEST
/* The same by AVX-512, which takes a word of a layer as the mask of 64 pixels. */
#define VCS_AVX512 __attribute__((target("avx512bw")))
VCS_AVX512 VCS_FN void vcs_lay_64(__m512i pixels[VCS_LINE_WORDS], const uint64_t word[VCS_LINE_WORDS], uint8_t colour) {
  __m512i all = _mm512_set1_epi8((char)colour);
  __asm__("" : "+v"(all)); /* or GCC broadcasts the colour again for each word */
  for (int w = 0; w < VCS_LINE_WORDS; w++) pixels[w] = _mm512_mask_mov_epi8(pixels[w], word[w], all);
}

VCS_AVX512 VCS_FN void vcs_paint_layers_by_64(const vcs_layers_t *layers, int from, int to, uint8_t *row) {
  const __m512i background = _mm512_set1_epi8((char)layers->background);
  __m512i pixels[VCS_LINE_WORDS] = {background, background, background};
  if (!layers->first_on_top) vcs_lay_64(pixels, layers->word[0], layers->colour[0]);
  vcs_lay_64(pixels, layers->word[1], layers->colour[1]);
  vcs_lay_64(pixels, layers->word[2], layers->colour[2]);
  if (layers->first_on_top) vcs_lay_64(pixels, layers->word[0], layers->colour[0]);
  if (VCS_LIKELY(to - from == VCS_WIDTH)) {
    _mm512_storeu_si512((void *)row, pixels[0]);
    _mm512_storeu_si512((void *)(row + 64), pixels[1]);
    _mm256_storeu_si256((__m256i *)(void *)(row + 128), _mm512_castsi512_si256(pixels[2]));
    return;
  }
  for (int w = 0; w < VCS_LINE_WORDS; w++) {
    const int first = from - 64 * w, end = to - 64 * w;
    uint64_t piece = first <= 0 ? ~0ULL : first < 64 ? ~0ULL << first : 0;
    if (end < 64) piece &= end > 0 ? (1ULL << end) - 1 : 0;
    _mm512_mask_storeu_epi8(row + 64 * w, piece, pixels[w]);
  }
}
#endif

VCS_FN void vcs_paint_layers(const vcs_layers_t *layers, int from, int to, uint8_t *row) {
#if VCS_PAINT_WIDE
  if (VCS_LIKELY(__builtin_cpu_supports("avx2"))) {
    vcs_paint_layers_by_32(layers, from, to, row);
    return;
  }
#endif
  vcs_paint_layers_by_eight(layers, from, to, row);
}

VCS_FN void vcs_paint(uint64_t colour[VCS_LINE_WORDS][4], const uint64_t piece[VCS_LINE_WORDS], const uint8_t colu[4],
                      uint8_t *row) {
#if VCS_PAINT_WIDE
  if (VCS_LIKELY(__builtin_cpu_supports("avx2"))) {
    vcs_paint_by_32(colour, piece, colu, row);
    return;
  }
#endif
  vcs_paint_by_eight(colour, piece, colu, row);
}

#endif
