/* internal.h: what the studies share: options that may be absent, and progress with cancellation. */
#ifndef VCS_STUDY_INTERNAL_H
#define VCS_STUDY_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "diffvcs/study.h"
#include "host/files.h"
#include "host/options.h"

/* Returns VCS_NO_MEMORY as a constant, so that the analyzer knows that the caller's pointers are not used after it. */
static inline vcs_status_t vcs_no_memory(vcs_error_t *error) {
  vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return VCS_NO_MEMORY;
}

/* Copies the options of type `type` that a caller gave; all are zero if `given` is NULL. Refuses reserved words that
 * are not 0 (docs/abi.md). */
#define VCS_OPTIONS_TAKE(type, options, given, error)                                                            \
  (*(options) = (given) ? *(const type *)(given) : (type){.reserved = {0}},                                      \
   vcs_reserved_words_check((options)->reserved, (int)(sizeof(options)->reserved / sizeof *(options)->reserved), \
                            #type, error))

/* A step of long work under way. */
typedef struct {
  vcs_report_t report;
  const char *name;
  uint64_t done, total;
  bool stopped;
  pthread_mutex_t lock;
} vcs_steps_t;

/* Begins a step of `total` units; adds `count` of them; ends it. Any thread may add. False: stop. */
void vcs_steps_begin(vcs_steps_t *steps, const vcs_report_t *report, const char *name, uint64_t total);
bool vcs_steps_add(vcs_steps_t *steps, uint64_t count);
void vcs_steps_end(vcs_steps_t *steps);

/* Whether the caller's report function, or Ctrl-C in a program that catches it, stops the work. */
bool vcs_steps_stopped(vcs_steps_t *steps);

/* The processor time of a drawn frame of a run; -1: no memory. */
double vcs_frame_seconds(const vcs_run_t *run, vcs_error_t *error);

/* Checks a window of forks; 0 means a default. */
vcs_status_t vcs_window_check(int64_t window, vcs_error_t *error);

/* Checks that there are methods with these numbers. */
vcs_status_t vcs_methods_check(const int32_t *methods, int32_t count, vcs_error_t *error);

/* VCS_CANCELLED and its message. */
vcs_status_t vcs_cancelled(vcs_error_t *error);

/* The same method and name tables that the public header describes, for lists in one string. */
int vcs_study_method_of(const char *name, size_t length);
void vcs_input_names(char *text, size_t size); /* all of them, with commas */

/* Whether a field of the machine is in one of the groups (VCS_WRT_RAM | ...). */
bool vcs_wrt_has(int wrt, const char *field);

/* Presses an input that is released, and the reverse. */
void vcs_controls_flip(vcs_controls_t *controls, uint32_t input);

/* Parses whole numbers with commas between them, none of them negative; false unless there are exactly `count`. */
bool vcs_parse_counts(const char *text, int *numbers, int count);

#endif
