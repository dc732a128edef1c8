/* grad_text.h: derivatives in words: the ranking for people and the JSON for programs.
 *
 * A byte is shown with its bit of largest derivative. Beside the first derivatives stands the truth, found by flipping
 * the bit and running again.
 */
#ifndef VCS_CLI_GRAD_TEXT_H
#define VCS_CLI_GRAD_TEXT_H

#include "cli/common.h"

/* The question and its answer. */
typedef struct {
  const char *name; /* of the game */
  const vcs_setup_t *setup;
  const char *what; /* "pixel:38,190", "right@0" */
  bool forward;
  int wrt;                       /* reverse: the selected groups */
  vcs_scalar_t target;           /* reverse */
  vcs_attribution_t attribution; /* reverse */
  vcs_place_t place;             /* forward: the cause */
  vcs_effect_t effect;           /* forward */
  const char *method, *scale;
  int32_t window;
} vcs_finding_t;

/* Prints the ranking, at most `limit` lines of each kind; and the JSON. */
void vcs_finding_print(const vcs_finding_t *finding, int limit, vcs_text_t *text);
void vcs_finding_json(const vcs_finding_t *finding, vcs_text_t *text);

#endif
