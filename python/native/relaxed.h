/* relaxed.h: derivatives of a run by the fully relaxed machine (relax.h), in the slots of grad.h.
 *
 * The relaxed machine has one number for a byte and goes by instructions; a run goes by frames, with a slot for every
 * bit. As in docs/ste.md a byte's tangent is the sum of 2^j times those of its bits, a byte's change is spread evenly
 * over the bits of the result, and adjoints go the other way round. Flags are bits, time is a number in slot 0.
 *
 * The relaxed machine starts from the run's state and may differ from the run afterwards. Pixels are palette indices; a
 * paddle's resistance has no derivative. Slots of the state that are no numbers of the relaxed machine (banks, sound,
 * times that decide which line or frame something is in) must be zero.
 */
#ifndef DIFFVCS_PYTHON_RELAXED_H
#define DIFFVCS_PYTHON_RELAXED_H

#include "diffvcs/grad.h"
#include "diffvcs/relax.h"

/* As vcs_relax_report_t has them, over the whole run. */
typedef struct {
  uint64_t instructions, reads, branches, wrong_reads, wrong_branches;
} vcs_relaxed_report_t;

/* As vcs_grad_jvp and vcs_grad_vjp; outputs->states is not looked at. Memory is the links of one frame
 * (docs/relaxed.md) and the numbers of every frame. */
VCS_API vcs_status_t vcs_relaxed_jvp(const vcs_run_t *run, const vcs_relax_options_t *options,
                                     const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                     vcs_relaxed_report_t *report, vcs_error_t *error);
VCS_API vcs_status_t vcs_relaxed_vjp(const vcs_run_t *run, const vcs_relax_options_t *options,
                                     const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                     vcs_relaxed_report_t *report, vcs_error_t *error);

#endif
