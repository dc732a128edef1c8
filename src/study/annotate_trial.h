/* annotate_trial.h: claims that bytes are positions, tried in moments that had no part in finding them. */
#ifndef VCS_STUDY_ANNOTATE_TRIAL_H
#define VCS_STUDY_ANNOTATE_TRIAL_H

#include "diffvcs/annotate.h"
#include "study/annotate_play.h"

/* A claim: a byte is a position. */
typedef struct {
  int byte;
  vcs_role_t role;
} vcs_claim_t;
enum { VCS_CLAIMS = 2 * VCS_RAM_SIZE };

/* Tries all claims in all moments of some plays. Audits say how often they are right. With `learns` a claim that knows
 * no value with which there is no object may find one. Of the options, threads and the report count. */
vcs_status_t vcs_try_claims(const vcs_cart_t *cart, const vcs_plays_t *plays, vcs_claim_t *claims, int count,
                            bool learns, const vcs_annotate_options_t *o, vcs_audit_t *audits, vcs_error_t *error);

/* Whether fresh moments confirm a claim. */
bool vcs_is_confirmed(const vcs_role_t *role, const vcs_audit_t *audit);

#endif
