/* breakpoint.h: where the debugger stops.
 *
 * study.h (vcs_debugger_break) describes the kinds. Every stop is before an instruction. The accesses of an instruction
 * follow from its opcode, operand and registers (vcs_next_accesses). Addresses match with all their mirrors. A stop at
 * a beam position is before the first instruction that begins there or later.
 */
#ifndef VCS_STUDY_BREAKPOINT_H
#define VCS_STUDY_BREAKPOINT_H

#include "study/expression.h"

typedef enum {
  VCS_BREAK_PC,
  VCS_BREAK_CYCLE,
  VCS_BREAK_SCANLINE,
  VCS_BREAK_PIXEL,
  VCS_BREAK_READ,
  VCS_BREAK_WRITE,
  VCS_BREAK_ACCESS,
  VCS_BREAK_IF
} vcs_break_kind_t;

typedef struct {
  vcs_break_kind_t kind;
  int32_t at; /* address, cycle or clock of the frame */
  bool conditional;
  vcs_expression_t condition;
  char text[128]; /* as the user wrote it */
} vcs_break_t;

vcs_status_t vcs_break_read(const char *text, const vcs_symbols_t *symbols, const vcs_moment_t *moment,
                            vcs_break_t *breakpoint, vcs_error_t *error);

/* Whether it stops here. `before` is the clock at which the last instruction of this frame began, -1: none did. */
bool vcs_break_met(const vcs_break_t *breakpoint, const vcs_moment_t *moment, int32_t before);

#endif
