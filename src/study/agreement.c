/* agreement.c: how well an estimate of a derivative agrees with the truth (study.h). */
#include "diffvcs/study.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static float tamed(float value, int64_t *overflown) {
  if (isfinite(value)) return value;
  ++*overflown;
  return isnan(value) ? 0 : copysignf(FLT_MAX, value);
}

/* Whether floats are all 0: most of a map is. */
enum { TOGETHER = 16 };
static bool are_zero(const float *values) {
  uint32_t words[TOGETHER], any = 0;
  memcpy(words, values, sizeof words);
  for (int i = 0; i < TOGETHER; i++) any |= words[i];
  return !(any << 1);
}

void vcs_agreement_add(vcs_agreement_t *a, const float *truth, const float *estimate, size_t count) {
  for (size_t i = 0; i < count; i++) {
    while (i + TOGETHER <= count && are_zero(truth + i) && are_zero(estimate + i)) i += TOGETHER;
    if (i == count) break;
    if (truth[i] == 0 && estimate[i] == 0) continue;
    const double t = (double)truth[i], e = (double)tamed(estimate[i], &a->overflown);
    a->product += t * e;
    a->truth_square += t * t;
    a->estimate_square += e * e;
    if (fabs(e) > a->largest) a->largest = fabs(e);
    a->in_truth += t != 0;
    a->in_estimate += e != 0;
    a->in_both += t != 0 && e != 0;
    a->same_sign += t * e > 0;
  }
}

void vcs_agreement_merge(vcs_agreement_t *into, const vcs_agreement_t *from) {
  into->product += from->product;
  into->truth_square += from->truth_square;
  into->estimate_square += from->estimate_square;
  if (from->largest > into->largest) into->largest = from->largest;
  into->in_truth += from->in_truth;
  into->in_estimate += from->in_estimate;
  into->in_both += from->in_both;
  into->same_sign += from->same_sign;
  into->overflown += from->overflown;
}

double vcs_agreement_cosine(const vcs_agreement_t *a) {
  if (a->truth_square == 0 && a->estimate_square == 0) return NAN;
  if (a->truth_square == 0 || a->estimate_square == 0) return 0;
  return a->product / sqrt(a->truth_square) / sqrt(a->estimate_square);
}

static double share(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : NAN; }

double vcs_agreement_sign(const vcs_agreement_t *a) { return share(a->same_sign, a->in_both); }
double vcs_agreement_precision(const vcs_agreement_t *a) { return share(a->in_both, a->in_estimate); }
double vcs_agreement_recall(const vcs_agreement_t *a) { return share(a->in_both, a->in_truth); }

void vcs_agreements_add(vcs_agreements_t *all, const vcs_agreement_t *map) {
  const double cosine = vcs_agreement_cosine(map);
  vcs_agreement_merge(&all->pooled, map);
  all->maps++;
  if (isnan(cosine)) {
    all->still++;
  } else {
    all->cosines += cosine;
  }
}

double vcs_agreements_cosine(const vcs_agreements_t *all) {
  return all->maps > all->still ? all->cosines / (double)(all->maps - all->still) : NAN;
}
