/* picture.h: small observations: two frames of palette indices -> gray or colours -> maximum -> another size.
 *
 * The results equal those of the host's batches bit for bit: a picture follows the host's plan (host/preprocess.h),
 * which is copied to the device. OpenCV's INTER_AREA rounds floats whose error depends on the order of additions, so
 * this file keeps the order. Multiplications and additions must not be fused.
 */
#ifndef VCS_CUDA_PICTURE_H
#define VCS_CUDA_PICTURE_H

#include "../core/base.h"
#include "../host/preprocess.h"

/* One direction of a plan: cell i has taps[i] pixels from first[i] on, weighted by weight and units[i * most + t]. */
typedef struct {
  int32_t to, most, cell;
  const int32_t *first, *taps, *units;
  const float *weight;
} vcs_cells_t;

/* The plan for the small pictures of a cartridge. Pointers are device pointers. */
typedef struct {
  int32_t kind, channels; /* VCS_RESIZE_... */
  float part;             /* of VCS_RESIZE_MEAN: 1 / pixels of a cell */
  uint8_t byte[3][256];   /* of each palette index, by channel */
  vcs_cells_t across, down;
  void *tables; /* the arrays of both directions */
} vcs_small_t;

VCS_FN float vcs_multiply(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  volatile float product = a * b;
  return product;
#endif
}

VCS_FN uint8_t vcs_round_half_to_even(float value) {
  const int whole = (int)value;
  const float part = value - (float)whole;
  return (uint8_t)(whole + (part > 0.5f || (part == 0.5f && (whole & 1))));
}

/* Returns one channel of cell (x, y), summed by a plan, from a picture with 160 pixels per row; `from` points to the
 * channel. */
VCS_FN uint8_t vcs_small_area(const vcs_small_t *small, const uint8_t *from, int x, int y) {
  const float *across = small->across.weight + x * small->across.most,
              *down = small->down.weight + y * small->down.most;
  const int step = small->channels;
  const uint8_t *row = from + (small->down.first[y] * VCS_WIDTH + small->across.first[x]) * step;
  float sum = 0;
  for (int t = 0; t < small->down.taps[y]; t++, row += VCS_WIDTH * step) {
    float along = 0;
    for (int k = 0; k < small->across.taps[x]; k++) along += vcs_multiply(row[k * step], across[k]);
    sum += vcs_multiply(down[t], along);
  }
  return vcs_round_half_to_even(sum);
}

VCS_FN uint8_t vcs_small_mean(const vcs_small_t *small, const uint8_t *from, int x, int y) {
  const int wide = small->across.cell, high = small->down.cell, step = small->channels;
  const uint8_t *row = from + (y * high * VCS_WIDTH + x * wide) * step;
  int32_t sum = 0;
  for (int t = 0; t < high; t++, row += VCS_WIDTH * step) {
    for (int k = 0; k < wide; k++) sum += row[k * step];
  }
  if (wide == 2 && high == 2) return (uint8_t)((sum + 2) >> 2);
  return vcs_round_half_to_even(vcs_multiply((float)sum, small->part));
}

VCS_FN int32_t vcs_small_blend_along(const vcs_small_t *small, const uint8_t *row, int x) {
  const int32_t *units = small->across.units + x * small->across.most;
  const uint8_t *at = row + small->across.first[x] * small->channels;
  return small->across.taps[x] == 2 ? at[0] * units[0] + at[small->channels] * units[1] : at[0] << VCS_BLEND_BITS;
}

VCS_FN uint8_t vcs_small_blend(const vcs_small_t *small, const uint8_t *from, int x, int y) {
  const int32_t *units = small->down.units + y * small->down.most;
  const int length = VCS_WIDTH * small->channels;
  const uint8_t *row = from + small->down.first[y] * length;
  const int32_t one = vcs_small_blend_along(small, row, x);
  const int32_t two = vcs_small_blend_along(small, small->down.taps[y] == 2 ? row + length : row, x);
  const int32_t upper = (units[0] * (one >> 4)) >> 16, lower = (units[1] * (two >> 4)) >> 16;
  return (uint8_t)((upper + lower + 2) >> 2);
}

/* Returns byte `i` of the small picture of a coloured picture with 160 pixels per row. */
VCS_FN uint8_t vcs_small_byte(const vcs_small_t *small, const uint8_t *coloured, int i) {
  const int pixel = small->channels == 1 ? i : i / 3, x = pixel % small->across.to, y = pixel / small->across.to;
  const uint8_t *from = coloured + (i - pixel * small->channels);
  switch (small->kind) {
    case VCS_RESIZE_AREA:
      return vcs_small_area(small, from, x, y);
    case VCS_RESIZE_MEAN:
      return vcs_small_mean(small, from, x, y);
    case VCS_RESIZE_BLEND:
      return vcs_small_blend(small, from, x, y);
    default: /* VCS_RESIZE_COPY */
      return from[(y * VCS_WIDTH + x) * small->channels];
  }
}

#endif
