/* agreement.h: how well an estimate of a derivative agrees with the truth.
 *
 * An effect map is what one bit does to every pixel (or to every bit of RAM). Two of them, the truth and the estimate,
 * are compared place by place:
 *
 *   cosine      of the two maps as vectors: direction, whatever the size. 0 where one of them is zero
 *   sign        of the values that are in both maps, the share with the same sign
 *   precision   of the values that are in the estimate, the share that is in the truth
 *   recall      of the values that are in the truth, the share that is in the estimate
 *
 * First-order chains can overflow a float. Infinities count as the largest float, what is no number as zero; both are
 * counted. Sums are doubles, which have room for the squares of floats.
 */
#ifndef VCS_STUDY_AGREEMENT_H
#define VCS_STUDY_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
typedef struct {
  double product, truth_square, estimate_square; /* sums over the map */
  double largest;                                /* size of an estimate */
  int64_t in_truth, in_estimate, in_both, same_sign, overflown;
} vcs_agreement_t;

void vcs_agreement_add(vcs_agreement_t *agreement, const float *truth, const float *estimate, size_t count);
void vcs_agreement_merge(vcs_agreement_t *into, const vcs_agreement_t *from);

/* Each is NaN where there is nothing to compare. */
double vcs_agreement_cosine(const vcs_agreement_t *agreement);
double vcs_agreement_sign(const vcs_agreement_t *agreement);
double vcs_agreement_precision(const vcs_agreement_t *agreement);
double vcs_agreement_recall(const vcs_agreement_t *agreement);

/* Over many maps: all of them as one (pooled), and the mean of their cosines. Maps that are zero in truth and estimate
 * agree, but would make any mean look good: they are counted and left out. Starts as {0}. */
typedef struct {
  vcs_agreement_t pooled;
  double cosines;
  int64_t maps, still; /* still: zero in both */
} vcs_agreements_t;

void vcs_agreements_add(vcs_agreements_t *all, const vcs_agreement_t *map);
double vcs_agreements_cosine(const vcs_agreements_t *all);

#endif
