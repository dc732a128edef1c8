/* relaxed.h: the data of a relaxed machine, and its two implementations.
 *
 * `m` is the machine as integers, whole at all times. With the cast `round` and hard dispatch it is all there is, and
 * rounded.c runs it: cpu.h itself, on a bus whose reads are softened and rounded. In all other cases real.c runs a
 * machine of real numbers beside it, and `m` holds the chips and everything else rounded.
 */
#ifndef VCS_RELAX_RELAXED_H
#define VCS_RELAX_RELAXED_H

#include "core/state.h"
#include "soften.h"

typedef struct vcs_reals vcs_reals_t; /* real.h */

struct vcs_relax {
  const vcs_cart_t *cart;
  vcs_relax_options_t options;
  vcs_soften_t soften;
  vcs_relax_report_t report;
  vcs_relax_watch_t watch;
  void *watch_context;
  vcs_t *m;
  vcs_reals_t *reals; /* NULL for a machine of integers */
};

/* Counts a value and passes it to the watch function. */
VCS_FN void vcs_relax_note(vcs_relax_t *relax, const vcs_relax_value_t *value, bool wrong) {
  vcs_relax_report_t *report = &relax->report;
  bool branch = !value->cells;
  if (branch)
    report->branches++;
  else
    report->reads++;
  if (wrong) {
    if (!report->wrong_reads && !report->wrong_branches) {
      report->first_wrong = *value;
      report->first_wrong_instruction = report->instructions;
    }
    if (branch)
      report->wrong_branches++;
    else
      report->wrong_reads++;
  }
  if (relax->watch) relax->watch(relax->watch_context, value);
}

/* The paper's reduced machine has 189 of the 256 opcodes. The remaining opcodes are one-byte no-ops. */
bool vcs_reduced_away(uint8_t opcode);

/* Its bus below $1000: 128 cells, but the ports read $FF, the timer what it was last set to (m->timer; it never ticks),
 * and INSTAT 0. Returns whether the address is one of these. */
VCS_FN bool vcs_reduced_port(const vcs_t *m, uint16_t addr, uint8_t *value) {
  if ((addr & 0x1280) != 0x280) return false;
  *value = (addr & 7) == 4 ? m->timer : (addr & 7) == 5 ? 0 : 0xFF;
  return true;
}
VCS_FN bool vcs_reduced_timer(uint16_t addr) { return (addr & 0x1294) == 0x294; }

/* vcs_relax_jvp_picture along `count` directions at once: the arrays have so many rows, and the links are recorded
 * once. */
vcs_status_t vcs_relax_jvp_many(vcs_relax_t *relax, int32_t steps, int32_t count, const double *d_input,
                                double *d_state, double *d_pixels, vcs_error_t *error);

void vcs_rounded_step(vcs_relax_t *relax, uint8_t *frames);
void vcs_rounded_frame(vcs_relax_t *relax, uint8_t *frames);

#endif
