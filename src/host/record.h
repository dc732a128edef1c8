/* record.h: records of runs, the form in which the reference's behaviour is kept (tests/golden).
 *
 * A play record has a row for the state after the first reset (`boot`) and one for some of the frames of an action
 * stream: checksums of RAM and screen, the play (reward, lives, over) and chains, checksums continued over every frame
 * so far, so that a sparse record still covers every frame. A CPU record has a row for some of the instructions after
 * an explicit reset: registers, cycles and chains over all of them. Both are tab-separated text, plain or gzipped.
 */
#ifndef VCS_HOST_RECORD_H
#define VCS_HOST_RECORD_H

#include "diffvcs/diffvcs.h"
#include "host/files.h"
#include "host/progress.h"

/* How often a play record has a row: every frame up to `dense`, then every `stride`-th. */
typedef struct {
  uint64_t seed;
  int64_t frames;
  int64_t dense, stride;
  vcs_progress_t *progress; /* told of every frame, or NULL */
} vcs_record_plan_t;

typedef struct {
  int64_t checked;       /* frames or instructions compared, one way or another */
  int64_t differs_at;    /* the first row that differs; -1: none. 0 is `boot` */
  int64_t last_equal;    /* the row before it */
  int ram, screen, play; /* what differs there */
  int state, cycles;     /* the same for CPU records */
} vcs_record_check_t;

/* Runs the plan on a fresh environment and writes the record as text. Stops early when interrupted. */
vcs_status_t vcs_record_play(const vcs_cart_t *cart, const vcs_record_plan_t *plan, vcs_text_t *out,
                             vcs_error_t *error);

/* The same for a CPU record: `count` instructions, rows for the first 64, every 1000th and the last. */
vcs_status_t vcs_record_cpu(const vcs_cart_t *cart, int64_t count, vcs_text_t *out, vcs_error_t *error);

/* A row of a CPU record: the instruction, how many there were, and the chains over all of them. Starts as {0}. */
typedef struct {
  int64_t count;
  vcs_step_t step;
  uint32_t state_chain, cycle_chain;
} vcs_cpu_row_t;

#define VCS_CPU_HEADING "# n\topcode\tpc_after\tA\tX\tY\tSP\tP\tcycles\tstate_chain\tcycle_chain"

void vcs_cpu_row_add(vcs_cpu_row_t *row, const vcs_step_t *step);
void vcs_cpu_row_print(const vcs_cpu_row_t *row, vcs_text_t *out); /* without the end of the line: more may follow */

/* Whether the text is a CPU record (by its heading). */
int vcs_record_is_cpu(const char *text);

/* Runs what a record says and compares; `seed` is the play record's stream, from its file name. VCS_BAD_FILE: the text
 * is no record. */
vcs_status_t vcs_record_verify_play(const vcs_cart_t *cart, const char *text, uint64_t seed, vcs_record_check_t *check,
                                    vcs_error_t *error);
vcs_status_t vcs_record_verify_cpu(const vcs_cart_t *cart, const char *text, vcs_record_check_t *check,
                                   vcs_error_t *error);

#endif
