/* soften.h: the two softened decisions, as functions of numbers.
 *
 * A softened read is a weighted mean of the cells around an address, exp(-distance / T) each; a softened branch is a
 * blend of the two counters by a sigmoid gate. Both are computed in double or, as the paper does, in float, and nothing
 * here rounds to integers: that is the cast, and the caller's.
 *
 * "The whole array" is taken literally, but not cell by cell: exp(-distance / T) is exactly zero from some distance on
 * (in float at T = 0.14 from 15 on), and a cell of weight zero adds zero to both sums, which changes no bit of them.
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
  int32_t reach; /* the largest distance that counts */
  bool wrap, single;
} vcs_soften_t;

/* Weights for arrays of up to `largest` cells. False: no memory. */
bool vcs_soften_start(vcs_soften_t *soften, const vcs_relax_options_t *options, int32_t largest);
void vcs_soften_free(vcs_soften_t *soften);

/* Which neighbours of a cell count: from -before to after. */
typedef struct {
  int32_t before, after;
} vcs_reach_t;
vcs_reach_t vcs_soften_reach(const vcs_soften_t *soften, int32_t size, int32_t index);

/* The neighbour at a distance within reach. */
VCS_FN int32_t vcs_soften_neighbour(int32_t size, int32_t index, int32_t distance) {
  int32_t cell = index + distance;
  return cell < 0 ? cell + size : cell >= size ? cell - size : cell;
}

double vcs_soften_read(const vcs_soften_t *soften, const uint8_t *cells, int32_t size, int32_t index);

/* sigma(alpha z), and the counter it makes. */
double vcs_soften_gate(const vcs_soften_t *soften, double z);
double vcs_soften_branch(const vcs_soften_t *soften, uint16_t next, int offset, bool taken);

#endif
