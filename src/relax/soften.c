/* soften.c: weighted means and blends (soften.h). */
#include "soften.h"

#include <math.h>
#include <stdlib.h>

bool vcs_soften_start(vcs_soften_t *soften, const vcs_relax_options_t *options, int32_t largest) {
  int32_t most = options->window && options->window < largest ? options->window : largest - 1;
  soften->alpha = options->alpha;
  soften->temperature = options->temperature;
  soften->wrap = options->wrap;
  soften->single = options->single;
  soften->wide = malloc(sizeof *soften->wide * (size_t)(most + 1));
  soften->narrow = malloc(sizeof *soften->narrow * (size_t)(most + 1));
  if (!soften->wide || !soften->narrow) return false;
  soften->reach = 0;
  for (int32_t k = 0; k <= most; k++) {
    soften->wide[k] = exp(-k / soften->temperature);
    soften->narrow[k] = expf((float)-k / (float)soften->temperature);
    if (soften->single ? soften->narrow[k] > 0 : soften->wide[k] > 0) soften->reach = k;
  }
  if (soften->reach < most) soften->reach++; /* that cell counts for an address between two cells */
  return true;
}

void vcs_soften_free(vcs_soften_t *soften) {
  free(soften->wide);
  free(soften->narrow);
}

/* On a ring no cell is counted twice. */
vcs_reach_t vcs_soften_reach(const vcs_soften_t *soften, int32_t size, int32_t index) {
  int32_t before = soften->wrap ? (size - 1) / 2 : index, after = soften->wrap ? size / 2 : size - 1 - index;
  vcs_reach_t reach = {before < soften->reach ? before : soften->reach, after < soften->reach ? after : soften->reach};
  return reach;
}

/* Adds both sums in the order of the cells. */
#define MEAN(type, weights)                                            \
  type sum = 0, total = 0;                                             \
  for (int32_t k = -reach.before; k <= reach.after; k++) {             \
    type weight = (weights)[k < 0 ? -k : k];                           \
    sum += weight * (type)cells[vcs_soften_neighbour(size, index, k)]; \
    total += weight;                                                   \
  }                                                                    \
  return sum / total;

double vcs_soften_read(const vcs_soften_t *soften, const uint8_t *cells, int32_t size, int32_t index) {
  const vcs_reach_t reach = vcs_soften_reach(soften, size, index);
  if (soften->single) {
    MEAN(float, soften->narrow)
  }
  MEAN(double, soften->wide)
}

double vcs_soften_gate(const vcs_soften_t *soften, double z) {
  if (soften->single) return 1.0F / (1.0F + expf(-(float)soften->alpha * (float)z));
  return 1 / (1 + exp(-soften->alpha * z));
}

double vcs_soften_branch(const vcs_soften_t *soften, uint16_t next, int offset, bool taken) {
  const double gate = vcs_soften_gate(soften, taken ? 1 : -1), target = (double)next + offset; /* of any size */
  if (soften->single) {
    float g = (float)gate, stays = next, goes = (float)target;
    return (1.0F - g) * stays + g * goes;
  }
  return (1 - gate) * next + gate * target;
}
