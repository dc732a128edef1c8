/* picture.h: small observations: two frames of palette indices -> gray -> maximum -> 84 x 84.
 *
 * The results equal those of the host's batches (host/preprocess.h) bit for bit: OpenCV's INTER_AREA, whose rounding
 * depends on the order of its float additions, so this file keeps the order. Multiplications and additions must not be
 * fused.
 */
#ifndef VCS_CUDA_PICTURE_H
#define VCS_CUDA_PICTURE_H

#include "../core/base.h"

enum { VCS_SMALL = 84, VCS_SMALL_BYTES = VCS_SMALL * VCS_SMALL, VCS_SMALL_STACK = 4, VCS_SMALL_TAPS = 6 };

/* One dimension: cell i is a weighted sum of taps[i] pixels from first[i] on. */
typedef struct {
  int16_t first[VCS_SMALL], taps[VCS_SMALL];
  float weight[VCS_SMALL][VCS_SMALL_TAPS];
} vcs_cells_t;

/* The tables for the frames of a cartridge. */
typedef struct {
  uint8_t gray[256];
  vcs_cells_t across, down;
} vcs_small_t;

VCS_FN float vcs_multiply(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  volatile float product = a * b;
  return product;
#endif
}

/* Returns a pixel of the small picture of a gray picture with 160 pixels per row. */
VCS_FN uint8_t vcs_small_pixel(const vcs_small_t *small, const uint8_t *gray, int x, int y) {
  const float *across = small->across.weight[x], *down = small->down.weight[y];
  const uint8_t *row = gray + small->down.first[y] * VCS_WIDTH + small->across.first[x];
  float sum = 0;
  for (int t = 0; t < small->down.taps[y]; t++, row += VCS_WIDTH) {
    float along = 0;
    for (int k = 0; k < small->across.taps[x]; k++) along += vcs_multiply(row[k], across[k]);
    sum += vcs_multiply(down[t], along);
  }
  const int whole = (int)sum; /* round half to even */
  const float part = sum - (float)whole;
  return (uint8_t)(whole + (part > 0.5f || (part == 0.5f && (whole & 1))));
}

#endif
