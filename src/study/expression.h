/* expression.h: conditions and values of the debugger: `a == $1F && [COUNTER] > 3`.
 *
 * study.h (vcs_debugger_value) describes the language. An expression is compiled once, into steps for a stack of
 * numbers, because a condition is evaluated at every instruction.
 */
#ifndef VCS_STUDY_EXPRESSION_H
#define VCS_STUDY_EXPRESSION_H

#include "study/symbols.h"

enum { VCS_EXPRESSION_STEPS = 64 };

typedef struct {
  uint8_t kind; /* expression.c */
  int32_t value;
} vcs_expression_step_t;

typedef struct {
  vcs_expression_step_t steps[VCS_EXPRESSION_STEPS];
  int count;
} vcs_expression_t;

/* The machine that an expression is evaluated on. */
typedef struct {
  const vcs_cart_t *cart;
  const vcs_t *m;
  int64_t frame;
} vcs_moment_t;

/* Where the beam is: colour clocks since the frame's first line began; 228 of them make a line. */
int32_t vcs_moment_clock(const vcs_t *m);

/* Reads all of `text`. The error says what was not understood. */
vcs_status_t vcs_expression_read(const char *text, const vcs_symbols_t *symbols, vcs_expression_t *expression,
                                 vcs_error_t *error);
int64_t vcs_expression_value(const vcs_expression_t *expression, const vcs_moment_t *moment);

#endif
