/* preprocess.h: from palette indices to the small pictures that agents see.
 *
 *   two frames of indices -> gray or RGB, the brighter of both at each pixel -> resized -> uint8
 *
 * Resizing is OpenCV's INTER_AREA, to the bit. A float sum that is rounded to the nearest even number depends on the
 * order of the additions, so OpenCV's order is part of the definition (docs/batch.md).
 */
#ifndef VCS_HOST_PREPROCESS_H
#define VCS_HOST_PREPROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "diffvcs/diffvcs.h"

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

/* Indices to bytes: what a pixel becomes, in one or three tables. */
typedef struct {
  int channels, wide; /* wide: the vectors of this machine (preprocess.c) */
  uint8_t byte[3][256];
  uint8_t even[128]; /* every other one of the first table: a television that has not lost its colour needs no more */
} vcs_tint_t;

void vcs_tint_make(vcs_tint_t *tint, vcs_format_t format, int rgb);

/* Colours `height` rows of 160 indices into `picture`; rows[y] is where row y of it is, which for a row that repeats
 * the one above is the same place. `b` may be NULL: then there is nothing to compare with. */
void vcs_tint_pool(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *b, int height, uint8_t *picture,
                   const uint8_t **rows);

/* The same, the brighter of that and of rows which are already coloured. */
void vcs_tint_pool_onto(const vcs_tint_t *tint, const uint8_t *a, const uint8_t *const *coloured, int height,
                        uint8_t *picture, const uint8_t **rows);

/* ---- Resizing ----------------------------------------------------------------------------------------------- */

typedef struct vcs_resize vcs_resize_t;

/* How a plan computes a pixel (docs/batch.md): a copy, a mean of whole pixels or of parts of pixels, or a blend of two.
 */
enum { VCS_RESIZE_COPY, VCS_RESIZE_MEAN, VCS_RESIZE_AREA, VCS_RESIZE_BLEND };
enum { VCS_BLEND_BITS = 11 };

/* A direction: cell i has taps[i] pixels from first[i] on, weighted `weight` (float) and `units` (whole numbers whose
 * sum is `cell`), at [i * most + t]. For blending, two 11-bit weights. */
typedef struct {
  int from, to, most, cell;
  double scale;
  int32_t *first, *taps, *units;
  float *weight;
} vcs_axis_t;

/* A plan from one size to another, with 1 or 3 channels; NULL when there is no memory. It is const from then on. */
vcs_resize_t *vcs_resize_create(int from_height, int from_width, int height, int width, int channels);
void vcs_resize_free(vcs_resize_t *plan);
int vcs_resize_kind(const vcs_resize_t *plan);
const vcs_axis_t *vcs_resize_across(const vcs_resize_t *plan);
const vcs_axis_t *vcs_resize_down(const vcs_resize_t *plan);
size_t vcs_resize_scratch(const vcs_resize_t *plan); /* bytes of the scratch space, which is aligned to 64 */

/* rows[y] points to row y of the source; equal pointers are equal rows, which are processed once. */
void vcs_resize_rows(const vcs_resize_t *plan, const uint8_t *const *rows, void *scratch, uint8_t *out);

#endif
