/* record.h: rows of CPU records, which `diffvcs trace` writes as well (study.h describes records). */
#ifndef VCS_STUDY_RECORD_H
#define VCS_STUDY_RECORD_H

#include "study/internal.h"

/* A row: the instruction, how many there were, and the chains over all of them. Starts as {0}. */
typedef struct {
  int64_t count;
  vcs_step_t step;
  uint32_t state_chain, cycle_chain;
} vcs_cpu_row_t;

#define VCS_CPU_HEADING "# n\topcode\tpc_after\tA\tX\tY\tSP\tP\tcycles\tstate_chain\tcycle_chain"

void vcs_cpu_row_add(vcs_cpu_row_t *row, const vcs_step_t *step);
void vcs_cpu_row_print(const vcs_cpu_row_t *row, vcs_text_t *out); /* without the end of the line: more may follow */

/* The name of a record's file without .tsv and .gz. */
void vcs_record_label(const char *path, char *label, size_t size);

#endif
