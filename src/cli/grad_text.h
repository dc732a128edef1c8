/* grad_text.h: derivatives in words: the ranking for people and the JSON for programs.
 *
 * A byte is as important as the bit of it that counts most, and that bit is shown. Beside the derivatives at the top
 * stands the truth, found by flipping the bit and running again.
 */
#ifndef VCS_CLI_GRAD_TEXT_H
#define VCS_CLI_GRAD_TEXT_H

#include "study/agreement.h"
#include "study/target.h"
#include "study/rom_use.h"

/* Which slots are asked for (--wrt). */
enum {
  VCS_WRT_ROM = 1,
  VCS_WRT_RAM = 2,
  VCS_WRT_INPUT = 4,
  VCS_WRT_CPU = 8,
  VCS_WRT_TIA = 16,
  VCS_WRT_RIOT = 32,
};
#define VCS_WRT_CHOICES "rom, ram, input, cpu, tia, riot"
int vcs_wrt_read(const char *text); /* "rom,ram": the bits above; 0: something else */

/* Everything that was asked and found. Slots that were not asked for are NULL. */
typedef struct {
  const vcs_setup_t *setup;
  const vcs_ending_t *ending;
  const char *what; /* "pixel:190,38", "right@0" */
  bool forward;
  int wrt;                                 /* backwards */
  const vcs_target_t *target;              /* the output; backwards */
  double value;                            /* of it */
  vcs_agreement_t pixels_agree, ram_agree; /* with the truth; forwards */
  const char *method, *scale;
  const float *scale_values; /* [256] */
  int32_t window;
  vcs_grad_report_t report;
  const float *rom, *state, *input; /* backwards: by bit of the image, of the machine when the run begins, by frame */
  const float *pixels, *end;        /* forwards: of the last frame; of the machine after it */
  const vcs_rom_use_t *uses;        /* backwards, with rom */
  uint32_t *ranking;                /* bytes of the image that are not zero, most important first; with rom */
  uint32_t ranked;
} vcs_finding_t;

/* Fills `ranking`. False: no memory. */
bool vcs_finding_rank(vcs_finding_t *finding);

/* The ranking, at most `limit` lines of each kind. */
void vcs_finding_print(const vcs_finding_t *finding, int limit, vcs_text_t *text);
void vcs_finding_json(const vcs_finding_t *finding, vcs_text_t *text);

#endif
