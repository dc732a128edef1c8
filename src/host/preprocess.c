/* preprocess.c: tint, pool, resize.
 *
 * OpenCV has four ways of INTER_AREA for bytes, by the scale (source size over size) of both directions:
 *
 *   copy    the sizes are equal
 *   mean    both scales are whole numbers: the mean of a block; of 2 x 2 in integers, of others sum * (1 / area) in
 * float area    both are at least 1: a float sum of the pixels that a cell covers, weighted by how much of them it
 * covers; first along the row, in order, then down the column, in order; rounded half to even blend   one is less:
 * between two neighbours with 11-bit weights, of which most pixels show just one
 *
 * Area is what agents see (210 x 160 to 84 x 84), and has a short cut. In units of the common divisor all weights are
 * small whole numbers, so the exact value of a pixel is an integer over `den` (for 84 x 84: 200). Float sums err by
 * less than 1/1000, so unless the exact value is that near to a half, its rounding is theirs. Where it is (some ten
 * pixels of a picture), the pixel is done again, in their order. Exact sums may be made in any order, so here they go
 * down first, over contiguous bytes, then along with eight rows side by side: all loops are plain and vectorise.
 *
 *   rows of bytes  --down-->  8 rows of 160 sums  --interleave-->  160 x 8  --along-->  84 x 8  --round, part-->  8
 * rows
 *
 * A row of the result whose source rows are all the one row that those of the row above are too is that row again,
 * near halves aside.
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
#else
#define WIDE 0
#endif

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

void vcs_tint_make(vcs_tint_t *tint, vcs_format_t format, int rgb) {
  const uint32_t *palette = vcs_palette(format);
  tint->channels = rgb ? 3 : 1;
  for (int i = 0; i < 256; i++) {
    for (int c = 0; c < 3; c++) {
      tint->byte[c][i] = rgb ? (uint8_t)(palette[i] >> (16 - 8 * c)) : vcs_palette_gray(format)[i];
    }
  }
}

static void tint_row(const vcs_tint_t *tint, const uint8_t *a, uint8_t *out) {
  if (tint->channels == 1) {
    const uint8_t *gray = tint->byte[0];
    for (int x = 0; x < VCS_WIDTH; x++) out[x] = gray[a[x]];
    return;
  }
  for (int x = 0; x < VCS_WIDTH; x++) {
    for (int c = 0; c < 3; c++) out[3 * x + c] = tint->byte[c][a[x]];
  }
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

static bool repeats(const uint8_t *row) { return memcmp(row, row - VCS_WIDTH, VCS_WIDTH) == 0; }

void vcs_tint_pool(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, int height, uint8_t *picture,
                   const uint8_t **rows) {
  for (int y = 0; y < height; y++, a += VCS_WIDTH, b = b ? b + VCS_WIDTH : NULL) {
    if (y > 0 && repeats(a) && (!b || repeats(b))) {
      rows[y] = rows[y - 1];
      continue;
    }
    rows[y] = picture;
    if (!b || memcmp(a, b, VCS_WIDTH) == 0) {
      tint_row(tint, a, picture);
    } else {
      pool_row(tint, a, b, picture);
    }
    picture += VCS_WIDTH * tint->channels;
  }
}

void vcs_tint_pool_onto(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *const *coloured, int height,
                        uint8_t *picture, const uint8_t **rows) {
  const int length = VCS_WIDTH * tint->channels;
  for (int y = 0; y < height; y++, a += VCS_WIDTH, picture += length) {
    rows[y] = picture;
    tint_row(tint, a, picture);
    for (int x = 0; x < length; x++) picture[x] = brighter(picture[x], coloured[y][x]);
  }
}

/* ---- Plans -------------------------------------------------------------------------------------------------- */

enum { COPY, MEAN, AREA, BLEND };
enum { LANES = 8, BLEND_BITS = 11, EXACT_MAX = 128 };

/* A direction: cell i has taps[i] pixels from first[i] on, weighted `weight` (float) and `units` (whole numbers whose
 * sum is `cell`), at [i * most + t]. For blending, two 11-bit weights. */
typedef struct {
  int from, to, most, cell;
  double scale;
  int32_t *first, *taps, *units;
  float *weight;
} axis_t;

struct vcs_resize {
  int kind, channels;
  bool exact, wide;
  axis_t x, y;
};

static int greatest_divisor(int a, int b) {
  while (b) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool axis_alloc(axis_t *axis, int from, int to) {
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

static void axis_free(axis_t *axis) {
  free(axis->first);
  free(axis->taps);
  free(axis->units);
  free(axis->weight);
}

/* What cell i covers of each pixel; less than 1/1000 of one is nothing. */
static void plan_area(axis_t *axis) {
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
static void plan_blend(axis_t *axis) {
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
    axis->units[i * axis->most] = (int32_t)lrintf((1 - part) * (1 << BLEND_BITS));
    axis->units[i * axis->most + 1] = (int32_t)lrintf(part * (1 << BLEND_BITS));
  }
}

static bool is_whole(double scale) { return fabs(scale - (int)lrint(scale)) < 2.220446049250313e-16; }

/* The units of every cell must add up to a whole one, or the weights are not what the short cut thinks they are. */
static bool is_exact(const axis_t *axis) {
  for (int i = 0; i < axis->to; i++) {
    int sum = 0;
    for (int t = 0; t < axis->taps[i]; t++) sum += axis->units[i * axis->most + t];
    if (sum != axis->cell) return false;
  }
  return axis->cell <= EXACT_MAX;
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
    plan->kind = COPY;
  } else if (plan->x.scale < 1 || plan->y.scale < 1) {
    plan->kind = BLEND;
    plan_blend(&plan->x);
    plan_blend(&plan->y);
  } else {
    plan->kind = is_whole(plan->x.scale) && is_whole(plan->y.scale) ? MEAN : AREA;
    plan_area(&plan->x);
    plan_area(&plan->y);
    plan->exact = is_exact(&plan->x) && is_exact(&plan->y);
#if WIDE
    plan->wide = __builtin_cpu_supports("avx2");
#endif
  }
  return plan;
}

void vcs_resize_free(vcs_resize_t *plan) {
  if (!plan) return;
  axis_free(&plan->x);
  axis_free(&plan->y);
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
  const axis_t *h = &plan->x, *v = &plan->y;
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

/* Sums down the columns of one cell row. */
INLINE void sum_down(const axis_t *axis, const uint8_t *const *rows, int y, int length, uint16_t *restrict sums) {
  const int32_t *units = axis->units + y * axis->most;
  const uint8_t *const *from = rows + axis->first[y];
  const int taps = axis->taps[y];
  if (taps == 3) {
    const uint8_t *restrict a = from[0], *restrict b = from[1], *restrict c = from[2];
    const uint16_t p = (uint16_t)units[0], q = (uint16_t)units[1], r = (uint16_t)units[2];
    for (int x = 0; x < length; x++) sums[x] = (uint16_t)(a[x] * p + b[x] * q + c[x] * r);
    return;
  }
  for (int x = 0; x < length; x++) sums[x] = 0;
  for (int t = 0; t < taps; t++) {
    const uint8_t *restrict a = from[t];
    const uint16_t p = (uint16_t)units[t];
    for (int x = 0; x < length; x++) sums[x] = (uint16_t)(sums[x] + a[x] * p);
  }
}

/* Eight rows of sums side by side, as float. */
INLINE void interleave(const uint16_t *restrict sums, int length, float *restrict side) {
  const uint16_t *r0 = sums, *r1 = r0 + length, *r2 = r1 + length, *r3 = r2 + length;
  const uint16_t *r4 = r3 + length, *r5 = r4 + length, *r6 = r5 + length, *r7 = r6 + length;
  for (int x = 0; x < length; x++) {
    side[8 * x + 0] = r0[x];
    side[8 * x + 1] = r1[x];
    side[8 * x + 2] = r2[x];
    side[8 * x + 3] = r3[x];
    side[8 * x + 4] = r4[x];
    side[8 * x + 5] = r5[x];
    side[8 * x + 6] = r6[x];
    side[8 * x + 7] = r7[x];
  }
}

/* Sums along the rows, eight at a time, over den, rounded. Where one is too near to a half its `near` is set, and that
 * of its row. */
INLINE void sum_along(const vcs_resize_t *plan, const float *restrict side, uint8_t *restrict done,
                      uint8_t *restrict near, uint8_t row_near[LANES]) {
  const axis_t *axis = &plan->x;
  const int channels = plan->channels;
  const float part = 1.0f / (float)(axis->cell * plan->y.cell), whole = 8388608.0f;
  uint8_t any[LANES] = {0};
  for (int cell = 0; cell < axis->to; cell++) {
    const int32_t *units = axis->units + cell * axis->most;
    const int taps = axis->taps[cell];
    for (int c = 0; c < channels; c++) {
      const float *restrict from = side + LANES * (axis->first[cell] * channels + c);
      const int at = LANES * (cell * channels + c);
      float sum[LANES] = {0};
      for (int t = 0; t < taps; t++) {
        const float weight = (float)units[t];
        for (int k = 0; k < LANES; k++) sum[k] += weight * from[LANES * t * channels + k];
      }
      for (int k = 0; k < LANES; k++) {
        const float value = sum[k] * part, rounded = (value + whole) - whole;
        done[at + k] = (uint8_t)(int32_t)rounded;
        near[at + k] = fabsf(value - rounded) > 0.499f;
      }
      for (int k = 0; k < LANES; k++) any[k] |= near[at + k];
    }
  }
  memcpy(row_near, any, sizeof any);
}

/* The lane k of eight rows side by side. */
INLINE void part_rows(const uint8_t *restrict done, int columns, int k, uint8_t *restrict out) {
  for (int j = 0; j < columns; j++) out[j] = done[LANES * j + k];
}

/* Does the pixels of a row again that are too near to a half. */
static void mend_row(const vcs_resize_t *plan, const uint8_t *const *rows, int y, const uint8_t *near, uint8_t *out) {
  for (int j = 0; j < plan->x.to * plan->channels; j++) {
    if (near[LANES * j]) out[j] = area_pixel(plan, rows, y, j);
  }
}

/* The row that all source rows of y are, or NULL. */
static const uint8_t *only_row(const axis_t *axis, const uint8_t *const *rows, int y) {
  const uint8_t *const *from = rows + axis->first[y];
  for (int t = 1; t < axis->taps[y]; t++) {
    if (from[t] != from[0]) return NULL;
  }
  return from[0];
}

static bool same_weights(const axis_t *axis, int y, int other) {
  const float *a = axis->weight + y * axis->most, *b = axis->weight + other * axis->most;
  return axis->taps[y] == axis->taps[other] && memcmp(a, b, (size_t)axis->taps[y] * sizeof *a) == 0;
}

/* Rows are made eight at a time, each with the rows below it that repeat it. Those may still differ where a sum is near
 * to a half, unless their weights come in the same order. */
INLINE void make_area_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  const int from_length = plan->x.from * plan->channels, length = plan->x.to * plan->channels;
  const int period = plan->y.to / greatest_divisor(plan->y.from, plan->y.to); /* of the weights */
  float *side = scratch;
  uint16_t *sums = (uint16_t *)(side + (size_t)LANES * (size_t)from_length);
  uint8_t *done = (uint8_t *)(sums + (size_t)LANES * (size_t)from_length),
          *near = done + (size_t)LANES * (size_t)length;
  for (int y = 0; y < plan->y.to;) {
    const uint8_t *above = NULL;
    uint8_t row_near[LANES];
    const int first = y;
    int lanes = 0, last[LANES]; /* the last row that is this one of the eight */
    for (; y < plan->y.to; y++) {
      const uint8_t *only = only_row(&plan->y, rows, y);
      if (!only || only != above) {
        if (lanes == LANES) break;
        sum_down(&plan->y, rows, y, from_length, sums + lanes++ * from_length);
      }
      above = only;
      last[lanes - 1] = y;
    }
    interleave(sums, from_length, side);
    sum_along(plan, side, done, near, row_near);
    for (int k = 0, row = first; k < lanes; k++) {
      for (const int top = row; row <= last[k]; row++) {
        uint8_t *made = out + row * length;
        if (row - period >= top && same_weights(&plan->y, row, row - period)) {
          memcpy(made, made - period * length, (size_t)length);
        } else if (row > top && !row_near[k]) {
          memcpy(made, made - length, (size_t)length);
        } else {
          part_rows(done, length, k, made);
          if (row_near[k]) mend_row(plan, rows, row, near + k, made);
        }
      }
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
#endif

/* ---- Blend -------------------------------------------------------------------------------------------------- */

static void blend_along(const vcs_resize_t *plan, const uint8_t *row, int32_t *out) {
  const axis_t *axis = &plan->x;
  for (int cell = 0; cell < axis->to; cell++) {
    const int32_t *units = axis->units + cell * axis->most;
    for (int c = 0; c < plan->channels; c++) {
      const uint8_t *at = row + axis->first[cell] * plan->channels + c;
      *out++ = axis->taps[cell] == 2 ? at[0] * units[0] + at[plan->channels] * units[1] : at[0] << BLEND_BITS;
    }
  }
}

static void blend_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  const axis_t *axis = &plan->y;
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
  const size_t from = (size_t)plan->x.from * (size_t)plan->channels, to = (size_t)plan->x.to * (size_t)plan->channels;
  const size_t area = LANES * (from * (sizeof(float) + sizeof(uint16_t)) + 2 * to), blend = 2 * to * sizeof(int32_t);
  return area > blend ? area : blend;
}

void vcs_resize_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out) {
  if (plan->kind == COPY) {
    copy_rows(plan, rows, out);
  } else if (plan->kind == MEAN) {
    mean_rows(plan, rows, out);
  } else if (plan->kind == BLEND) {
    blend_rows(plan, rows, scratch, out);
#if WIDE
  } else if (plan->exact && plan->wide) {
    area_rows_wide(plan, rows, scratch, out);
#endif
  } else if (plan->exact) {
    area_rows(plan, rows, scratch, out);
  } else {
    area_rows_slow(plan, rows, out);
  }
}
