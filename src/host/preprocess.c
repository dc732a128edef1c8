/* preprocess.c: tint, pool, resize.
 *
 * OpenCV computes INTER_AREA of bytes in four ways, depending on the scales (source size over size) of both dimensions:
 *
 *   copy    equal sizes
 *   mean    both scales are whole numbers: the mean of a block, of 2 x 2 in integers, otherwise sum * (1 / area)
 *   area    both are at least 1: a float sum of the pixels that a cell covers, weighted by the covered part;
 *           first along the row, in order, then down the column, in order; rounded half to even
 *   blend   one is less than 1: between two neighbours with 11-bit weights; most pixels show just one
 *
 * The usual observation (210 x 160 to 84 x 84) is `area`, which has a short cut. In units of the common divisor all
 * weights are small whole numbers, so the exact value of a pixel is an integer over `den` (for 84 x 84: 200). Float
 * sums err by less than 1/1000, so unless the exact value is that close to a half, both round to the same byte. Where
 * it is (some ten pixels of a picture), the pixel is recomputed in OpenCV's order. Exact sums may be added in any
 * order, so every different row is summed along once, and the rest is adding rows of sums:
 *
 *   row of bytes  --along-->  row of 84 sums  \
 *   row of bytes  --along-->  row of 84 sums   >--down, round-->  row of 84 bytes
 *   row that repeats the one above: its sums  /
 *
 * If all source rows of a result row equal those of the row above, the result row is copied from the row above,
 * except near halves.
 *
 * Plain loops vectorize, except two that are bound by loads of single bytes and have x86 intrinsics: the
 * table of grays, and sums along a row.
 */
#include "host/preprocess.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/palette.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE 1
#include <immintrin.h>
#else
#define WIDE 0
#endif

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

/* The vectors of this machine: AVX2, or AVX-512 with permutations of bytes. */
enum { NARROW, WIDE_AVX2, WIDE_AVX512 };

static int find_wide(void) {
#if WIDE
#if !defined(_WIN32) /* there GCC aligns the stack to 16 bytes only */
  if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vl")) return WIDE_AVX512;
#endif
  if (__builtin_cpu_supports("avx2")) return WIDE_AVX2;
#endif
  return NARROW;
}

void vcs_tint_make(vcs_tint_t *tint, vcs_format_t format, int rgb) {
  const uint32_t *palette = vcs_palette(format);
  tint->channels = rgb ? 3 : 1;
  tint->wide = rgb ? NARROW : find_wide();
  for (int i = 0; i < 256; i++) {
    for (int c = 0; c < 3; c++) {
      tint->byte[c][i] = rgb ? (uint8_t)(palette[i] >> (16 - 8 * c)) : vcs_palette_gray(format)[i];
    }
  }
  for (int i = 0; i < 128; i++) tint->even[i] = tint->byte[0][2 * i];
}

static inline uint8_t brighter(uint8_t a, uint8_t b) { return a > b ? a : b; }

static void pool_row(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, uint8_t *out) {
  if (tint->channels == 1) {
    const uint8_t *gray = tint->byte[0];
    for (int x = 0; x < VCS_WIDTH; x++) out[x] = brighter(gray[a[x]], gray[b[x]]);
    return;
  }
  for (int x = 0; x < VCS_WIDTH; x++) {
    for (int c = 0; c < 3; c++) out[3 * x + c] = brighter(tint->byte[c][a[x]], tint->byte[c][b[x]]);
  }
}

#if WIDE
enum { EIGHTHS = 8 };

/* Looks up even indices in eight tables of 16: each table gives 0 for indices outside it. */
__attribute__((target("avx2"))) INLINE __m256i look_up(const __m256i table[EIGHTHS], __m256i index) {
  const __m256i half = _mm256_and_si256(_mm256_srli_epi16(index, 1), _mm256_set1_epi8(0x7F));
  __m256i found = _mm256_setzero_si256();
  for (int i = 0; i < EIGHTHS; i++) {
    const __m256i mine = _mm256_xor_si256(half, _mm256_set1_epi8((char)(16 * i)));
    found = _mm256_or_si256(found, _mm256_shuffle_epi8(table[i], _mm256_adds_epu8(mine, _mm256_set1_epi8(0x70))));
  }
  return found;
}

/* Gray, 32 pixels at a time; false if there is an odd index. */
__attribute__((target("avx2"))) static bool pool_row_wide(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b,
                                                          uint8_t *out) {
  __m256i table[EIGHTHS], odd = _mm256_setzero_si256();
  for (int i = 0; i < EIGHTHS; i++) {
    table[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(tint->even + 16 * i)));
  }
  for (int x = 0; x < VCS_WIDTH; x += 32) {
    const __m256i one = _mm256_loadu_si256((const __m256i *)(a + x));
    const __m256i other = _mm256_loadu_si256((const __m256i *)(b + x));
    __m256i gray = look_up(table, one);
    if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(one, other)) != -1) gray = _mm256_max_epu8(gray, look_up(table, other));
    odd = _mm256_or_si256(odd, _mm256_or_si256(one, other));
    _mm256_storeu_si256((__m256i *)(out + x), gray);
  }
  return _mm256_testz_si256(odd, _mm256_set1_epi8(1));
}
#endif

#if WIDE
/* The same, 64 pixels at a time: 128 grays are two registers, and a permutation takes the low seven bits of an index.
 */
__attribute__((target("avx512vbmi,avx512bw"))) static bool pool_row_widest(const vcs_tint_t *tint, const uint8_t *a,
                                                                           const uint8_t *b, uint8_t *out) {
  const __m512i low = _mm512_loadu_si512(tint->even), high = _mm512_loadu_si512(tint->even + 64);
  __m512i odd = _mm512_setzero_si512();
  for (int x = 0; x < VCS_WIDTH; x += 64) {
    const __mmask64 there = VCS_WIDTH - x < 64 ? (1ull << (VCS_WIDTH - x)) - 1 : ~0ull;
    const __m512i one = _mm512_maskz_loadu_epi8(there, a + x), other = _mm512_maskz_loadu_epi8(there, b + x);
    const __m512i gray = _mm512_permutex2var_epi8(low, _mm512_srli_epi16(one, 1), high);
    const __m512i second = _mm512_permutex2var_epi8(low, _mm512_srli_epi16(other, 1), high);
    odd = _mm512_or_si512(odd, _mm512_or_si512(one, other));
    _mm512_mask_storeu_epi8(out + x, there, _mm512_max_epu8(gray, second));
  }
  return _mm512_test_epi8_mask(odd, _mm512_set1_epi8(1)) == 0;
}
#endif

INLINE void tint_row(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, uint8_t *out) {
#if WIDE
  if (tint->wide == WIDE_AVX512 && pool_row_widest(tint, a, b, out)) return;
  if (tint->wide == WIDE_AVX2 && pool_row_wide(tint, a, b, out)) return;
#endif
  pool_row(tint, a, b, out);
}

INLINE bool repeats(const uint8_t *row) {
  uint64_t differs = 0;
  for (int x = 0; x < VCS_WIDTH; x += 8) {
    uint64_t here, above;
    memcpy(&here, row + x, 8);
    memcpy(&above, row + x - VCS_WIDTH, 8);
    differs |= here ^ above;
  }
  return !differs;
}

INLINE void pool_rows(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, int height, uint8_t *picture,
                      const uint8_t **rows) {
  for (int y = 0; y < height; y++, a += VCS_WIDTH, b = b ? b + VCS_WIDTH : NULL) {
    if (y > 0 && repeats(a) && (!b || repeats(b))) {
      rows[y] = rows[y - 1];
      continue;
    }
    rows[y] = picture;
    tint_row(tint, a, b ? b : a, picture);
    picture += VCS_WIDTH * tint->channels;
  }
}

#if WIDE
__attribute__((target("avx2"))) static void pool_rows_wide(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b,
                                                           int height, uint8_t *picture, const uint8_t **rows) {
  pool_rows(tint, a, b, height, picture, rows);
}
#endif

void vcs_tint_pool(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, int height, uint8_t *picture,
                   const uint8_t **rows) {
#if WIDE
  if (tint->wide != NARROW) {
    pool_rows_wide(tint, a, b, height, picture, rows);
    return;
  }
#endif
  pool_rows(tint, a, b, height, picture, rows);
}

void vcs_tint_pool_onto(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *const *coloured, int height,
                        uint8_t *picture, const uint8_t **rows) {
  const int length = VCS_WIDTH * tint->channels;
  for (int y = 0; y < height; y++, a += VCS_WIDTH, picture += length) {
    rows[y] = picture;
    tint_row(tint, a, a, picture);
    for (int x = 0; x < length; x++) picture[x] = brighter(picture[x], coloured[y][x]);
  }
}

/* ---- Plans -------------------------------------------------------------------------------------------------- */

enum { EXACT_MAX = 128, BLOCK = 8, SLICE = 32 };

/* Sums of eight cells with up to three taps each: where the first two are, relative to `at`, and their weights, in
 * turn; the third ones relative to `third_at`. A position of 0x80 is none. */
typedef struct {
  int32_t at, third_at;
  uint8_t place[2 * BLOCK], third_place[2 * BLOCK], weight[2 * BLOCK], third_weight[2 * BLOCK];
} block_t;

/* Division of 16-bit numbers by a fixed one: (n >> before) * factor >> 16 >> after. Factor 0: there is none. */
typedef struct {
  uint16_t factor;
  uint8_t before, after;
} quotient_t;

struct vcs_resize {
  int kind, channels;
  int wide;
  bool exact;
  vcs_axis_t x, y;
  block_t *blocks;   /* of a row, if it can be summed in blocks; else NULL */
  quotient_t by_den; /* where sums are small and den is even, so that halves are whole numbers */
};

static int greatest_divisor(int a, int b) {
  while (b) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool axis_alloc(vcs_axis_t *axis, int from, int to) {
  axis->from = from;
  axis->to = to;
  axis->scale = 1.0 / ((double)to / from);
  axis->most = (int)ceil(axis->scale) + 2;
  const size_t cells = (size_t)to, taps = cells * (size_t)axis->most;
  axis->first = calloc(cells, sizeof *axis->first);
  axis->taps = calloc(cells, sizeof *axis->taps);
  axis->units = calloc(taps, sizeof *axis->units);
  axis->weight = calloc(taps, sizeof *axis->weight);
  return axis->first && axis->taps && axis->units && axis->weight;
}

static void axis_free(vcs_axis_t *axis) {
  free(axis->first);
  free(axis->taps);
  free(axis->units);
  free(axis->weight);
}

/* What cell i covers of each pixel; less than 1/1000 of one is nothing. */
static void plan_area(vcs_axis_t *axis) {
  const int divisor = greatest_divisor(axis->from, axis->to), pixel = axis->to / divisor;
  axis->cell = axis->from / divisor;
  for (int i = 0; i < axis->to; i++) {
    const double begin = i * axis->scale, end = begin + axis->scale;
    const double width = fmin(axis->scale, axis->from - begin);
    int last = (int)floor(end), first = (int)ceil(begin), count = 0;
    float *weight = axis->weight + i * axis->most;
    if (last > axis->from - 1) last = axis->from - 1;
    if (first > last) first = last;
    axis->first[i] = first;
    if (first - begin > 1e-3) {
      axis->first[i] = first - 1;
      weight[count++] = (float)((first - begin) / width);
    }
    for (int k = first; k < last; k++) weight[count++] = (float)(1.0 / width);
    if (end - last > 1e-3) weight[count++] = (float)(fmin(fmin(end - last, 1.0), width) / width);
    axis->taps[i] = count;
    for (int t = 0; t < count; t++) {
      const int64_t at = (int64_t)(axis->first[i] + t) * pixel, from = (int64_t)i * axis->cell, to = from + axis->cell;
      const int64_t low = at > from ? at : from, high = at + pixel < to ? at + pixel : to;
      axis->units[i * axis->most + t] = high > low ? (int32_t)(high - low) : 0;
    }
  }
}

/* Between which two pixels cell i is, and how near to the second. */
static void plan_blend(vcs_axis_t *axis) {
  for (int i = 0; i < axis->to; i++) {
    int first = (int)floor(i * axis->scale);
    float part = (float)((i + 1) - (first + 1) * ((double)axis->to / axis->from));
    part = part <= 0 ? 0 : part - floorf(part);
    if (first >= axis->from - 1) {
      first = axis->from - 1;
      part = 0;
    }
    axis->first[i] = first;
    axis->taps[i] = first + 1 < axis->from ? 2 : 1;
    axis->units[i * axis->most] = (int32_t)lrintf((1 - part) * (1 << VCS_BLEND_BITS));
    axis->units[i * axis->most + 1] = (int32_t)lrintf(part * (1 << VCS_BLEND_BITS));
  }
}

static bool is_whole(double scale) { return fabs(scale - (int)lrint(scale)) < 2.220446049250313e-16; }

/* The units of every cell must add up to a whole one, or the weights are not what the short cut thinks they are. */
static bool is_exact(const vcs_axis_t *axis) {
  for (int i = 0; i < axis->to; i++) {
    int sum = 0;
    for (int t = 0; t < axis->taps[i]; t++) sum += axis->units[i * axis->most + t];
    if (sum != axis->cell) return false;
  }
  return axis->cell <= EXACT_MAX;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Cells from `first` on as a block; false if they are too far apart. */
static bool plan_block(const vcs_axis_t *axis, int first, block_t *block) {
  memset(block, 0, sizeof *block);
  memset(block->place, 0x80, sizeof block->place);
  memset(block->third_place, 0x80, sizeof block->third_place);
  block->at = least(axis->first[first], axis->from - 2 * BLOCK);
  block->third_at = least(axis->first[first] + 2, axis->from - 2 * BLOCK);
  for (int i = 0; i < BLOCK && first + i < axis->to; i++) {
    const int32_t *units = axis->units + (first + i) * axis->most;
    const int taps = axis->taps[first + i];
    if (taps > 3) return false;
    for (int t = 0; t < taps; t++) {
      const int from = axis->first[first + i] + t - (t < 2 ? block->at : block->third_at);
      if (from < 0 || from >= 2 * BLOCK || units[t] >= EXACT_MAX) return false;
      (t < 2 ? block->place : block->third_place)[2 * i + t % 2] = (uint8_t)from;
      (t < 2 ? block->weight : block->third_weight)[2 * i + t % 2] = (uint8_t)units[t];
    }
  }
  return true;
}

/* Blocks are for gray rows; without them rows are summed a cell at a time. */
static void plan_blocks(vcs_resize_t *plan) {
  const int count = (plan->x.to + BLOCK - 1) / BLOCK;
  if (!plan->wide || !plan->exact || plan->channels > 1 || plan->x.from < 2 * BLOCK) return;
  plan->blocks = calloc((size_t)count, sizeof *plan->blocks);
  for (int i = 0; plan->blocks && i < count; i++) {
    if (plan_block(&plan->x, BLOCK * i, &plan->blocks[i])) continue;
    free(plan->blocks);
    plan->blocks = NULL;
  }
}

static int most_taps(const vcs_axis_t *axis) {
  int most = 0;
  for (int i = 0; i < axis->to; i++) most = axis->taps[i] > most ? axis->taps[i] : most;
  return most;
}

INLINE uint16_t divide(quotient_t by, uint16_t n) {
  return (uint16_t)((uint32_t)(uint16_t)(n >> by.before) * by.factor >> 16) >> by.after;
}

static bool divides_up_to(quotient_t by, uint32_t den, uint32_t most) {
  for (uint32_t n = 0; n <= most; n++) {
    if (divide(by, (uint16_t)n) != n / den) return false;
  }
  return true;
}

/* The first factor that is right for every sum there can be, with half of den added. */
static quotient_t plan_quotient(uint32_t den) {
  quotient_t by = {0, 0, 0};
  const uint32_t most = 255 * den + den / 2;
  if (den % 2 || most > UINT16_MAX) return by;
  while (!(den >> by.before & 1)) by.before++;
  for (; by.after < 16; by.after++) {
    const uint32_t odd = den >> by.before, factor = ((1u << (16 + by.after)) + odd - 1) / odd;
    by.factor = (uint16_t)factor;
    if (factor <= UINT16_MAX && divides_up_to(by, den, most)) return by;
  }
  return (quotient_t){0, 0, 0};
}

vcs_resize_t *vcs_resize_create(int from_height, int from_width, int height, int width, int channels) {
  vcs_resize_t *plan = calloc(1, sizeof *plan);
  if (!plan) return NULL;
  plan->channels = channels;
  if (!axis_alloc(&plan->x, from_width, width) || !axis_alloc(&plan->y, from_height, height)) {
    vcs_resize_free(plan);
    return NULL;
  }
  if (from_height == height && from_width == width) {
    plan->kind = VCS_RESIZE_COPY;
  } else if (plan->x.scale < 1 || plan->y.scale < 1) {
    plan->kind = VCS_RESIZE_BLEND;
    plan_blend(&plan->x);
    plan_blend(&plan->y);
  } else {
    plan->kind = is_whole(plan->x.scale) && is_whole(plan->y.scale) ? VCS_RESIZE_MEAN : VCS_RESIZE_AREA;
    plan_area(&plan->x);
    plan_area(&plan->y);
    plan->exact = is_exact(&plan->x) && is_exact(&plan->y);
    plan->wide = find_wide();
    plan_blocks(plan);
    if (plan->exact && most_taps(&plan->y) <= 3) plan->by_den = plan_quotient((uint32_t)(plan->x.cell * plan->y.cell));
  }
  return plan;
}

int vcs_resize_kind(const vcs_resize_t *plan) { return plan->kind; }
const vcs_axis_t *vcs_resize_across(const vcs_resize_t *plan) { return &plan->x; }
const vcs_axis_t *vcs_resize_down(const vcs_resize_t *plan) { return &plan->y; }

void vcs_resize_free(vcs_resize_t *plan) {
  if (!plan) return;
  axis_free(&plan->x);
  axis_free(&plan->y);
  free(plan->blocks);
  free(plan);
}

/* ---- Copy and mean ------------------------------------------------------------------------------------------ */

static void copy_rows(const vcs_resize_t *plan, const uint8_t *const *rows, uint8_t *out) {
  const size_t length = (size_t)plan->x.to * (size_t)plan->channels;
  for (int y = 0; y < plan->y.to; y++) memcpy(out + (size_t)y * length, rows[y], length);
}

/* Rounds half to even: beyond 2^23 a float has no fraction. The value is from 0 to a little over 255. */
static inline uint8_t round_byte(float value) {
  const float whole = 8388608.0f;
  return (uint8_t)(int32_t)((value + whole) - whole);
}

static void mean_rows(const vcs_resize_t *plan, const uint8_t *const *rows, uint8_t *out) {
  const int channels = plan->channels, wide = plan->x.cell, high = plan->y.cell;
  const float part = 1.0f / (float)(wide * high);
  for (int y = 0; y < plan->y.to; y++) {
    for (int j = 0; j < plan->x.to * channels; j++) {
      const int first = (j / channels) * wide * channels + j % channels;
      int32_t sum = 0;
      for (int k = 0; k < high; k++) {
        for (int i = 0; i < wide; i++) sum += rows[y * high + k][first + i * channels];
      }
      *out++ = wide == 2 && high == 2 ? (uint8_t)((sum + 2) >> 2) : round_byte((float)sum * part);
    }
  }
}

/* ---- Area --------------------------------------------------------------------------------------------------- */

/* One pixel the long way: what OpenCV adds up, in its order. */
static uint8_t area_pixel(const vcs_resize_t *plan, const uint8_t *const *rows, int y, int column) {
  const vcs_axis_t *h = &plan->x, *v = &plan->y;
  const int cell = column / plan->channels, channel = column % plan->channels;
  const float *across = h->weight + cell * h->most, *down = v->weight + y * v->most;
  float sum = 0;
  for (int t = 0; t < v->taps[y]; t++) {
    const uint8_t *at = rows[v->first[y] + t] + h->first[cell] * plan->channels + channel;
    float along = 0;
    for (int k = 0; k < h->taps[cell]; k++) along += (float)at[k * plan->channels] * across[k];
    sum += down[t] * along;
  }
  return round_byte(sum);
}

static void area_rows_slow(const vcs_resize_t *plan, const uint8_t *const *rows, uint8_t *out) {
  for (int y = 0; y < plan->y.to; y++) {
    for (int j = 0; j < plan->x.to * plan->channels; j++) *out++ = area_pixel(plan, rows, y, j);
  }
}

/* Sums along a row. */
static void sum_along(const vcs_resize_t *plan, const uint8_t *row, uint16_t *sums) {
  const vcs_axis_t *axis = &plan->x;
  for (int cell = 0; cell < axis->to; cell++) {
    const int32_t *units = axis->units + cell * axis->most;
    for (int c = 0; c < plan->channels; c++) {
      const uint8_t *at = row + axis->first[cell] * plan->channels + c;
      int32_t sum = 0;
      for (int t = 0; t < axis->taps[cell]; t++) sum += at[t * plan->channels] * units[t];
      *sums++ = (uint16_t)sum;
    }
  }
}

#if WIDE
__attribute__((target("avx2"))) INLINE __m128i weigh(const uint8_t *from, const uint8_t *places,
                                                     const uint8_t *weights) {
  const __m128i bytes = _mm_loadu_si128((const __m128i *)from), place = _mm_loadu_si128((const __m128i *)places);
  return _mm_maddubs_epi16(_mm_shuffle_epi8(bytes, place), _mm_loadu_si128((const __m128i *)weights));
}

/* The same, eight cells at a time, into whole blocks. */
__attribute__((target("avx2"))) static void sum_along_wide(const vcs_resize_t *plan, const uint8_t *row,
                                                           uint16_t *sums) {
  const block_t *end = plan->blocks + (plan->x.to + BLOCK - 1) / BLOCK;
  for (const block_t *b = plan->blocks; b < end; b++, sums += BLOCK) {
    const __m128i two = weigh(row + b->at, b->place, b->weight);
    const __m128i third = weigh(row + b->third_at, b->third_place, b->third_weight);
    _mm_storeu_si128((__m128i *)sums, _mm_add_epi16(two, third));
  }
}
#endif

static void sum_row(const vcs_resize_t *plan, const uint8_t *row, uint16_t *sums) {
#if WIDE
  if (plan->blocks) {
    sum_along_wide(plan, row, sums);
    return;
  }
#endif
  sum_along(plan, row, sums);
}

/* Sums down rows of sums, over den, rounded. Where one is too near to a half its `near` is set. */
INLINE void sum_down(const vcs_resize_t *plan, const uint16_t *const *from, int y, uint8_t *restrict out,
                     uint8_t *restrict near) {
  const vcs_axis_t *axis = &plan->y;
  const int32_t *units = axis->units + y * axis->most;
  const float part = 1.0f / (float)(plan->x.cell * axis->cell);
  for (int first = 0; first < plan->x.to * plan->channels; first += SLICE) {
    int32_t sum[SLICE] = {0};
    for (int t = 0; t < axis->taps[y]; t++) {
      const uint16_t *row = from[t] + first;
      for (int x = 0; x < SLICE; x++) sum[x] += units[t] * row[x];
    }
    for (int x = 0; x < SLICE; x++) {
      const float value = (float)sum[x] * part;
      out[first + x] = round_byte(value);
      near[first + x] = fabsf(value - (float)out[first + x]) > 0.499f;
    }
  }
}

/* The same where sums and den are so small that all fits 16 bits, and a cell has at most three taps: only a half itself
 * is near to a half. */
INLINE void sum_down_small(const vcs_resize_t *plan, const uint16_t *const *from, int y, uint8_t *restrict out,
                           uint8_t *restrict near) {
  const vcs_axis_t *axis = &plan->y;
  const int32_t *units = axis->units + y * axis->most;
  const int length = plan->x.to * plan->channels;
  const uint16_t den = (uint16_t)(plan->x.cell * axis->cell), half = den / 2;
  const quotient_t by = plan->by_den;
  const int second = axis->taps[y] > 1 ? 1 : 0, third = axis->taps[y] > 2 ? 2 : 0;
  const uint16_t p = (uint16_t)units[0], q = (uint16_t)(second ? units[1] : 0), r = (uint16_t)(third ? units[2] : 0);
  for (int first = 0; first < length; first += SLICE) {
    const uint16_t *a = from[0] + first, *b = from[second] + first, *c = from[third] + first;
    uint16_t sum[SLICE], whole[SLICE];
    for (int x = 0; x < SLICE; x++) sum[x] = (uint16_t)(half + a[x] * p + b[x] * q + c[x] * r);
    for (int x = 0; x < SLICE; x++) whole[x] = divide(by, sum[x]);
    for (int x = 0; x < SLICE; x++) near[first + x] = (uint16_t)(whole[x] * den) == sum[x];
    for (int x = 0; x < SLICE; x++) out[first + x] = (uint8_t)whole[x];
  }
}

/* Does the pixels of a row again that are too near to a half. */
static void mend_row(const vcs_resize_t *plan, const uint8_t *const *rows, int y, const uint8_t *near, uint8_t *out) {
  const uint8_t *end = near + plan->x.to * plan->channels;
  for (const uint8_t *at = near; (at = memchr(at, 1, (size_t)(end - at))) != NULL; at++) {
    out[at - near] = area_pixel(plan, rows, y, (int)(at - near));
  }
}

/* The row that all source rows of y are, or NULL. */
static const uint8_t *only_row(const vcs_axis_t *axis, const uint8_t *const *rows, int y) {
  const uint8_t *const *from = rows + axis->first[y];
  for (int t = 1; t < axis->taps[y]; t++) {
    if (from[t] != from[0]) return NULL;
  }
  return from[0];
}

static bool same_weights(const vcs_axis_t *axis, int y, int other) {
  const float *a = axis->weight + y * axis->most, *b = axis->weight + other * axis->most;
  return axis->taps[y] == axis->taps[other] && memcmp(a, b, (size_t)axis->taps[y] * sizeof *a) == 0;
}

/* What making a row needs: sums of as many source rows as a cell covers, in turn, and the row with some room. */
typedef struct {
  uint16_t *sums;             /* a ring of axis.most rows, `stride` apart */
  const uint16_t **of_source; /* the sums of each source row */
  uint8_t *row, *near;
} area_t;

static size_t area_stride(const vcs_resize_t *plan) {
  const size_t length = (size_t)plan->x.to * (size_t)plan->channels;
  return (length + SLICE - 1) / SLICE * SLICE;
}

static area_t area_split(const vcs_resize_t *plan, void *scratch) {
  const size_t stride = area_stride(plan);
  area_t a = {.of_source = scratch};
  a.sums = (uint16_t *)(void *)(a.of_source + plan->y.from);
  a.row = (uint8_t *)(a.sums + (size_t)plan->y.most * stride);
  a.near = a.row + stride;
  return a;
}

/* Rows that repeat the row above may still differ where a sum is near to a half, unless their weights come in the same
 * order. */
INLINE void make_area_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  const vcs_axis_t *axis = &plan->y;
  const size_t stride = area_stride(plan), length = (size_t)plan->x.to * (size_t)plan->channels;
  const int period = axis->to / greatest_divisor(axis->from, axis->to); /* of the weights */
  const area_t a = area_split(plan, scratch);
  const uint8_t *above = NULL;
  int source = 0, slot = 0, top = 0;
  for (int y = 0; y < axis->to; y++, out += length) {
    for (; source < axis->first[y] + axis->taps[y]; source++) {
      if (source > 0 && rows[source] == rows[source - 1]) {
        a.of_source[source] = a.of_source[source - 1];
        continue;
      }
      uint16_t *sums = a.sums + (size_t)slot * stride;
      slot = (slot + 1) % axis->most;
      sum_row(plan, rows[source], sums);
      a.of_source[source] = sums;
    }
    const uint8_t *only = only_row(axis, rows, y);
    if (!only || only != above) {
      top = y;
      if (plan->by_den.factor) {
        sum_down_small(plan, a.of_source + axis->first[y], y, a.row, a.near);
      } else {
        sum_down(plan, a.of_source + axis->first[y], y, a.row, a.near);
      }
    }
    above = only;
    if (y - period >= top && same_weights(axis, y, y - period)) {
      memcpy(out, out - (size_t)period * length, length);
    } else {
      memcpy(out, a.row, length);
      mend_row(plan, rows, y, a.near, out);
    }
  }
}

/* The same loops, once for any machine and once for those with wider vectors. */
static void area_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  make_area_rows(plan, rows, scratch, out);
}

#if WIDE
__attribute__((target("avx2"))) static void area_rows_wide(const vcs_resize_t *plan, const uint8_t *const *rows,
                                                           void *scratch, uint8_t *out) {
  make_area_rows(plan, rows, scratch, out);
}

__attribute__((target("avx512bw,avx512vl"))) static void area_rows_widest(const vcs_resize_t *plan,
                                                                          const uint8_t *const *rows, void *scratch,
                                                                          uint8_t *out) {
  make_area_rows(plan, rows, scratch, out);
}
#endif

/* ---- Blend -------------------------------------------------------------------------------------------------- */

static void blend_along(const vcs_resize_t *plan, const uint8_t *row, int32_t *out) {
  const vcs_axis_t *axis = &plan->x;
  for (int cell = 0; cell < axis->to; cell++) {
    const int32_t *units = axis->units + cell * axis->most;
    for (int c = 0; c < plan->channels; c++) {
      const uint8_t *at = row + axis->first[cell] * plan->channels + c;
      *out++ = axis->taps[cell] == 2 ? at[0] * units[0] + at[plan->channels] * units[1] : at[0] << VCS_BLEND_BITS;
    }
  }
}

static void blend_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  const vcs_axis_t *axis = &plan->y;
  const int length = plan->x.to * plan->channels;
  int32_t *made[2] = {scratch, (int32_t *)scratch + length};
  for (int y = 0; y < axis->to; y++) {
    const int32_t *units = axis->units + y * axis->most;
    const int second = axis->first[y] + 1 < axis->from ? axis->first[y] + 1 : axis->from - 1;
    blend_along(plan, rows[axis->first[y]], made[0]);
    blend_along(plan, rows[second], made[1]);
    for (int j = 0; j < length; j++) {
      const int32_t upper = (units[0] * (made[0][j] >> 4)) >> 16, lower = (units[1] * (made[1][j] >> 4)) >> 16;
      *out++ = (uint8_t)((upper + lower + 2) >> 2);
    }
  }
}

/* ---- All ---------------------------------------------------------------------------------------------------- */

size_t vcs_resize_scratch(const vcs_resize_t *plan) {
  const size_t stride = area_stride(plan), blend = 2 * stride * sizeof(int32_t);
  const size_t area =
      (size_t)plan->y.from * sizeof(uint16_t *) + stride * ((size_t)plan->y.most * sizeof(uint16_t) + 2);
  return area > blend ? area : blend;
}

void vcs_resize_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  if (plan->kind == VCS_RESIZE_COPY) {
    copy_rows(plan, rows, out);
  } else if (plan->kind == VCS_RESIZE_MEAN) {
    mean_rows(plan, rows, out);
  } else if (plan->kind == VCS_RESIZE_BLEND) {
    blend_rows(plan, rows, scratch, out);
#if WIDE
  } else if (plan->by_den.factor &&
             plan->wide == WIDE_AVX512) { /* whole numbers: no float could be rounded otherwise */
    area_rows_widest(plan, rows, scratch, out);
  } else if (plan->exact && plan->wide != NARROW) {
    area_rows_wide(plan, rows, scratch, out);
#endif
  } else if (plan->exact) {
    area_rows(plan, rows, scratch, out);
  } else {
    area_rows_slow(plan, rows, out);
  }
}
