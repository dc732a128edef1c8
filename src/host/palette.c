/* palette.c: the colours of three televisions, and the gray they have.
 *
 * Each list has a line per hue (bits 7..4) with its eight luminances (bits 3..1), so the colour of index i is entry
 * i >> 1. SECAM knows no hues: the eight luminances are eight colours. The values are those that Stella's standard
 * palette and so ale-py shows; the test holds their fingerprints.
 *
 * From a list C(rgb) C(rgb) ... these tables are made at compile time:
 *   colours  rgb, gray(rgb), rgb, gray(rgb), ...    an odd index is the pixel that lost its colour
 *   grays    [i] is the low byte of colours[i + 1]  ale-py's rule. For an even index that is its gray; for an odd one
 *                                                   it is the blue of the next colour, an accident that we keep, for
 *                                                   observations must agree. At 255 ale-py reads beyond its table
 *                                                   and finds 0.
 *   even     red, green, blue and gray of the even indices only, each by itself: 128 bytes are two registers of
 *            AVX-512, in which one instruction looks up 64 pixels
 */
#include "host/palette.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32) /* there GCC aligns the stack to 16 bytes only */
#define WIDE 1
#include <immintrin.h>
#else
#define WIDE 0
#endif

/* clang-format off */
#define NTSC(C) \
  C(0x000000) C(0x4a4a4a) C(0x6f6f6f) C(0x8e8e8e) C(0xaaaaaa) C(0xc0c0c0) C(0xd6d6d6) C(0xececec) \
  C(0x484800) C(0x69690f) C(0x86861d) C(0xa2a22a) C(0xbbbb35) C(0xd2d240) C(0xe8e84a) C(0xfcfc54) \
  C(0x7c2c00) C(0x904811) C(0xa26221) C(0xb47a30) C(0xc3903d) C(0xd2a44a) C(0xdfb755) C(0xecc860) \
  C(0x901c00) C(0xa33915) C(0xb55328) C(0xc66c3a) C(0xd5824a) C(0xe39759) C(0xf0aa67) C(0xfcbc74) \
  C(0x940000) C(0xa71a1a) C(0xb83232) C(0xc84848) C(0xd65c5c) C(0xe46f6f) C(0xf08080) C(0xfc9090) \
  C(0x840064) C(0x97197a) C(0xa8308f) C(0xb846a2) C(0xc659b3) C(0xd46cc3) C(0xe07cd2) C(0xec8ce0) \
  C(0x500084) C(0x68199a) C(0x7d30ad) C(0x9246c0) C(0xa459d0) C(0xb56ce0) C(0xc57cee) C(0xd48cfc) \
  C(0x140090) C(0x331aa3) C(0x4e32b5) C(0x6848c6) C(0x7f5cd5) C(0x956fe3) C(0xa980f0) C(0xbc90fc) \
  C(0x000094) C(0x181aa7) C(0x2d32b8) C(0x4248c8) C(0x545cd6) C(0x656fe4) C(0x7580f0) C(0x8490fc) \
  C(0x001c88) C(0x183b9d) C(0x2d57b0) C(0x4272c2) C(0x548ad2) C(0x65a0e1) C(0x75b5ef) C(0x84c8fc) \
  C(0x003064) C(0x185080) C(0x2d6d98) C(0x4288b0) C(0x54a0c5) C(0x65b7d9) C(0x75cceb) C(0x84e0fc) \
  C(0x004030) C(0x18624e) C(0x2d8169) C(0x429e82) C(0x54b899) C(0x65d1ae) C(0x75e7c2) C(0x84fcd4) \
  C(0x004400) C(0x1a661a) C(0x328432) C(0x48a048) C(0x5cba5c) C(0x6fd26f) C(0x80e880) C(0x90fc90) \
  C(0x143c00) C(0x355f18) C(0x527e2d) C(0x6e9c42) C(0x87b754) C(0x9ed065) C(0xb4e775) C(0xc8fc84) \
  C(0x303800) C(0x505916) C(0x6d762b) C(0x88923e) C(0xa0ab4f) C(0xb7c25f) C(0xccd86e) C(0xe0ec7c) \
  C(0x482c00) C(0x694d14) C(0x866a26) C(0xa28638) C(0xbb9f47) C(0xd2b656) C(0xe8cc63) C(0xfce070)

#define PAL(C) \
  C(0x000000) C(0x2b2b2b) C(0x525252) C(0x767676) C(0x979797) C(0xb6b6b6) C(0xd2d2d2) C(0xececec) \
  C(0x000000) C(0x2b2b2b) C(0x525252) C(0x767676) C(0x979797) C(0xb6b6b6) C(0xd2d2d2) C(0xececec) \
  C(0x805800) C(0x96711a) C(0xab8732) C(0xbe9c48) C(0xcfaf5c) C(0xdfc06f) C(0xeed180) C(0xfce090) \
  C(0x445c00) C(0x5e791a) C(0x769332) C(0x8cac48) C(0xa0c25c) C(0xb3d76f) C(0xc4ea80) C(0xd4fc90) \
  C(0x703400) C(0x89511a) C(0xa06b32) C(0xb68448) C(0xc99a5c) C(0xdcaf6f) C(0xecc280) C(0xfcd490) \
  C(0x006414) C(0x1a8035) C(0x329852) C(0x48b06e) C(0x5cc587) C(0x6fd99e) C(0x80ebb4) C(0x90fcc8) \
  C(0x700014) C(0x891a35) C(0xa03252) C(0xb6486e) C(0xc95c87) C(0xdc6f9e) C(0xec80b4) C(0xfc90c8) \
  C(0x005c5c) C(0x1a7676) C(0x328e8e) C(0x48a4a4) C(0x5cb8b8) C(0x6fcbcb) C(0x80dcdc) C(0x90ecec) \
  C(0x70005c) C(0x841a74) C(0x963289) C(0xa8489e) C(0xb75cb0) C(0xc66fc1) C(0xd380d1) C(0xe090e0) \
  C(0x003c70) C(0x195a89) C(0x2f75a0) C(0x448eb6) C(0x57a5c9) C(0x68badc) C(0x79ceec) C(0x88e0fc) \
  C(0x580070) C(0x6e1a89) C(0x8332a0) C(0x9648b6) C(0xa75cc9) C(0xb76fdc) C(0xc680ec) C(0xd490fc) \
  C(0x002070) C(0x193f89) C(0x2f5aa0) C(0x4474b6) C(0x578bc9) C(0x68a1dc) C(0x79b5ec) C(0x88c8fc) \
  C(0x340080) C(0x4a1a96) C(0x5f32ab) C(0x7248be) C(0x835ccf) C(0x936fdf) C(0xa280ee) C(0xb090fc) \
  C(0x000088) C(0x1a1a9d) C(0x3232b0) C(0x4848c2) C(0x5c5cd2) C(0x6f6fe1) C(0x8080ef) C(0x9090fc) \
  C(0x000000) C(0x2b2b2b) C(0x525252) C(0x767676) C(0x979797) C(0xb6b6b6) C(0xd2d2d2) C(0xececec) \
  C(0x000000) C(0x2b2b2b) C(0x525252) C(0x767676) C(0x979797) C(0xb6b6b6) C(0xd2d2d2) C(0xececec)

#define SECAM_HUE(C) \
  C(0x000000) C(0x2121ff) C(0xf03c79) C(0xff50ff) C(0x7fff00) C(0x7fffff) C(0xffff3f) C(0xffffff)
/* clang-format on */
#define SECAM_4(C) SECAM_HUE(C) SECAM_HUE(C) SECAM_HUE(C) SECAM_HUE(C)
#define SECAM(C) SECAM_4(C) SECAM_4(C) SECAM_4(C) SECAM_4(C)

#define GRAY(rgb) (uint8_t)(0.2989 * ((rgb) >> 16) + 0.5870 * ((rgb) >> 8 & 255) + 0.1140 * ((rgb)&255) + 0.5)
#define COLOUR_THEN_GRAY(rgb) rgb, GRAY(rgb) * 0x010101u,
#define BLUE_THEN_GRAY(rgb) (rgb) & 255, GRAY(rgb), /* begins one before index 0 */
#define ONLY_RED(rgb) (rgb) >> 16,
#define ONLY_GREEN(rgb) (rgb) >> 8 & 255,
#define ONLY_BLUE(rgb) (rgb) & 255,
#define ONLY_GRAY(rgb) GRAY(rgb),

enum { RED, GREEN, BLUE, LUMINANCE, PLANES };

typedef struct {
  _Alignas(64) uint8_t even[PLANES][128];
  uint32_t colours[256];
  uint8_t grays[1 + 256];
} television_t;

#define TELEVISION(LIST)                                                                  \
  {                                                                                       \
    .even = {{LIST(ONLY_RED)}, {LIST(ONLY_GREEN)}, {LIST(ONLY_BLUE)}, {LIST(ONLY_GRAY)}}, \
    .colours = {LIST(COLOUR_THEN_GRAY)}, .grays = {                                       \
      LIST(BLUE_THEN_GRAY)                                                                \
    }                                                                                     \
  }

static const television_t ntsc = TELEVISION(NTSC), pal = TELEVISION(PAL), secam = TELEVISION(SECAM);

static const television_t *television(vcs_format_t format) {
  switch (format) {
    case VCS_FORMAT_PAL:
    case VCS_FORMAT_PAL60:
      return &pal;
    case VCS_FORMAT_SECAM:
      return &secam;
    default:
      return &ntsc;
  }
}

const uint32_t *vcs_palette(vcs_format_t format) { return television(format)->colours; }
const uint8_t *vcs_palette_gray(vcs_format_t format) { return television(format)->grays + 1; }

/* ---- Pixels ------------------------------------------------------------------------------------------------- */

static uint32_t rgb_first(uint32_t colour) {
  const uint8_t bytes[4] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour, 0};
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Writes four bytes for a pixel; the next pixel overwrites the fourth. */
static void pixels_rgb(const television_t *tv, const uint8_t *indices, size_t count, uint8_t *rgb) {
  const uint32_t *colours = tv->colours;
  for (size_t i = 0; i + 1 < count; i++) {
    const uint32_t pixel = rgb_first(colours[indices[i]]);
    memcpy(rgb + 3 * i, &pixel, 4);
  }
  if (count) {
    const uint32_t pixel = rgb_first(colours[indices[count - 1]]);
    memcpy(rgb + 3 * (count - 1), &pixel, 3);
  }
}

static void pixels_gray(const television_t *tv, const uint8_t *indices, size_t count, uint8_t *gray) {
  const uint8_t *grays = tv->grays + 1;
  for (size_t i = 0; i < count; i++) gray[i] = grays[indices[i]];
}

#if WIDE
/* Where a row of 160 pixels is divided into 64, 64 and the last 64, which overlap. */
enum { SIXTY_FOUR = 64, LAST = VCS_WIDTH - SIXTY_FOUR };

/* Byte j of 64 pixels in RGB is from pixel j / 3: of the first register, which is red, or the second, green. Blue, of
 * the same pixels, is laid over it. */
#define PLACE_1(j) ((j) / 3 | ((j) % 3 == 1 ? 64 : 0))
#define PLACE_4(j) PLACE_1(j), PLACE_1((j) + 1), PLACE_1((j) + 2), PLACE_1((j) + 3)
#define PLACE_16(j) PLACE_4(j), PLACE_4((j) + 4), PLACE_4((j) + 8), PLACE_4((j) + 12)
#define PLACE_64(j) PLACE_16(j), PLACE_16((j) + 16), PLACE_16((j) + 32), PLACE_16((j) + 48)
static const uint8_t places[3][SIXTY_FOUR] = {{PLACE_64(0)}, {PLACE_64(64)}, {PLACE_64(128)}};
static const uint64_t blues[3] = {0x4924924924924924, 0x2492492492492492, 0x9249249249249249};

#define AVX512 __attribute__((target("avx512vbmi,avx512bw")))

AVX512 static inline __m512i look_up(const uint8_t even[128], __m512i indices) {
  return _mm512_permutex2var_epi8(_mm512_loadu_si512(even), _mm512_srli_epi16(indices, 1),
                                  _mm512_loadu_si512(even + 64));
}

/* A row as three registers. */
typedef struct {
  __m512i part[3];
} row_t;
static const int starts[3] = {0, SIXTY_FOUR, LAST};

AVX512 static inline row_t load_row(const uint8_t *indices) {
  row_t row;
  for (int i = 0; i < 3; i++) row.part[i] = _mm512_loadu_si512(indices + starts[i]);
  return row;
}

AVX512 static inline bool all_even(row_t row) {
  const __m512i any = _mm512_or_si512(row.part[0], _mm512_or_si512(row.part[1], row.part[2]));
  return _mm512_test_epi8_mask(any, _mm512_set1_epi8(1)) == 0;
}

AVX512 static inline bool are_equal(row_t a, row_t b) {
  __m512i differ = _mm512_setzero_si512();
  for (int i = 0; i < 3; i++) differ = _mm512_or_si512(differ, _mm512_xor_si512(a.part[i], b.part[i]));
  return _mm512_test_epi8_mask(differ, differ) == 0;
}

/* Converts rows, and copies those that are like the one above from registers, up to the first one with an odd index.
 * Returns its number, or that of all rows. */
AVX512 static size_t rows_rgb_wide(const television_t *tv, const uint8_t *indices, size_t rows, uint8_t *rgb) {
  row_t above;
  __m512i done[3][3];
  for (size_t y = 0; y < rows; y++, indices += VCS_WIDTH, rgb += (size_t)3 * VCS_WIDTH) {
    const row_t row = load_row(indices);
    if (y == 0 || !are_equal(row, above)) {
      if (!all_even(row)) return y;
      for (int i = 0; i < 3; i++) {
        const __m512i red = look_up(tv->even[RED], row.part[i]), green = look_up(tv->even[GREEN], row.part[i]);
        const __m512i blue = look_up(tv->even[BLUE], row.part[i]);
        for (int k = 0; k < 3; k++) {
          const __m512i place = _mm512_loadu_si512(places[k]);
          const __m512i two = _mm512_permutex2var_epi8(red, place, green);
          done[i][k] = _mm512_mask_permutexvar_epi8(two, blues[k], place, blue);
        }
      }
      above = row;
    }
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) _mm512_storeu_si512(rgb + 3 * starts[i] + SIXTY_FOUR * k, done[i][k]);
    }
  }
  return rows;
}

AVX512 static size_t rows_gray_wide(const television_t *tv, const uint8_t *indices, size_t rows, uint8_t *gray) {
  for (size_t y = 0; y < rows; y++, indices += VCS_WIDTH, gray += VCS_WIDTH) {
    const row_t row = load_row(indices);
    if (!all_even(row)) return y;
    for (int i = 0; i < 3; i++) {
      _mm512_storeu_si512(gray + starts[i], look_up(tv->even[LUMINANCE], row.part[i]));
    }
  }
  return rows;
}

static bool is_wide(void) { return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw"); }
#endif

/* ---- Frames ------------------------------------------------------------------------------------------------- */

/* Most rows of a picture are the same as the row above. How many rows are the same as the first one, itself included?
 */
static size_t like_first(const uint8_t *indices, size_t rows) {
  size_t same = 1;
  while (same < rows && memcmp(indices + same * VCS_WIDTH, indices, VCS_WIDTH) == 0) same++;
  return same;
}

/* Copies bytes behind themselves, until they are there so many times. */
static void repeat(uint8_t *bytes, size_t count, size_t times) {
  for (size_t there = 1; there < times;) {
    const size_t more = there < times - there ? there : times - there;
    memcpy(bytes + there * count, bytes, more * count);
    there += more;
  }
}

/* Converts the pixels behind the first `row` rows, each to `bytes` bytes: rows that are the same only once. */
static void convert(const television_t *tv, const uint8_t *indices, size_t pixels, size_t row, uint8_t *to,
                    size_t bytes,
                    void (*some)(const television_t *tv, const uint8_t *indices, size_t count, uint8_t *to)) {
  const size_t rows = pixels / VCS_WIDTH, rest = pixels % VCS_WIDTH, at = pixels - rest;
  for (size_t same = 0; row < rows; row += same) {
    const uint8_t *first = indices + row * VCS_WIDTH;
    same = like_first(first, rows - row);
    some(tv, first, VCS_WIDTH, to + bytes * row * VCS_WIDTH);
    repeat(to + bytes * row * VCS_WIDTH, bytes * VCS_WIDTH, same);
  }
  some(tv, indices + at, rest, to + bytes * at);
}

void vcs_frame_rgb(vcs_format_t format, const uint8_t *indices, size_t pixels, uint8_t *rgb) {
  const television_t *tv = television(format);
  size_t done = 0;
#if WIDE
  if (is_wide()) done = rows_rgb_wide(tv, indices, pixels / VCS_WIDTH, rgb);
#endif
  convert(tv, indices, pixels, done, rgb, 3, pixels_rgb);
}

void vcs_frame_gray(vcs_format_t format, const uint8_t *indices, size_t pixels, uint8_t *gray) {
  const television_t *tv = television(format);
  size_t done = 0;
#if WIDE
  if (is_wide()) done = rows_gray_wide(tv, indices, pixels / VCS_WIDTH, gray);
#endif
  convert(tv, indices, pixels, done, gray, 1, pixels_gray);
}
