/* soften.h: the two softened decisions, as functions of numbers.
 *
 * A softened read is a weighted mean of the cells around an address, exp(-distance / T) each; a softened branch is a
 * blend of the two counters by a sigmoid gate. Both are computed in double or, as the paper does, in float, and nothing
 * here rounds to integers: the caller does the cast.
 *
 * A read of the whole array evaluates only the cells in reach: exp(-distance / T) is exactly zero from some distance on
 * (in float at T = 0.14 from 15 on), and a cell of weight zero does not change the sums.
 * test_relax.c compares with the sum over all cells.
 */
#ifndef VCS_RELAX_SOFTEN_H
#define VCS_RELAX_SOFTEN_H

#include "core/base.h"
#include "diffvcs/relax.h"

typedef struct {
  double alpha, temperature;
  double *wide;  /* exp(-distance / T) by distance, ... */
  float *narrow; /* ... and in float */
  int32_t reach; /* largest distance with a nonzero weight, from an address between two cells */
  bool wrap, single;
} vcs_soften_t;

/* Computes the weights for arrays of up to `largest` cells. Returns false when out of memory. */
bool vcs_soften_start(vcs_soften_t *soften, const vcs_relax_options_t *options, int32_t largest);
void vcs_soften_free(vcs_soften_t *soften);

/* The range of neighbours with a weight: from -before to after. */
typedef struct {
  int32_t before, after;
} vcs_reach_t;
vcs_reach_t vcs_soften_reach(const vcs_soften_t *soften, int32_t size, int32_t index);

/* Returns the index of a neighbour. */
VCS_FN int32_t vcs_soften_neighbour(int32_t size, int32_t index, int32_t distance) {
  int32_t cell = index + distance;
  return cell < 0 ? cell + size : cell >= size ? cell - size : cell;
}

double vcs_soften_read(const vcs_soften_t *soften, const uint8_t *cells, int32_t size, int32_t index);

/* Return sigma(alpha z), and the blended program counter. */
double vcs_soften_gate(const vcs_soften_t *soften, double z);
double vcs_soften_branch(const vcs_soften_t *soften, uint16_t next, int offset, bool taken);

#endif
