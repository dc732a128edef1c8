/* progress.h: a progress bar and Ctrl-C.
 *
 * The bar is drawn on stderr, only if that is a terminal (or when forced), at most ten times a second; otherwise one
 * line at the end states what was done, or nothing is printed. Any thread may add to it.
 *
 * vcs_interrupt_catch makes Ctrl-C (and SIGTERM) a flag that long loops test: they finish the item, save, and report.
 * The second Ctrl-C ends the process at once. A signal handler has nowhere else to write, so the flag is a global.
 *
 * A program that has several threads, and handles signals itself, gives each thread a flag of its own
 * (vcs_interrupt_watch): the calls of that thread, and the threads that these start (vcs_parallel), end as if Ctrl-C
 * was pressed when the flag is set. The calls of other threads go on.
 */
#ifndef VCS_HOST_PROGRESS_H
#define VCS_HOST_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  VCS_PROGRESS_AUTO = 0, /* a bar on a terminal, nothing elsewhere */
  VCS_PROGRESS_LINE,     /* a bar on a terminal, one line at the end elsewhere */
  VCS_PROGRESS_FORCE,    /* a bar in any case */
  VCS_PROGRESS_QUIET     /* nothing at all */
} vcs_progress_mode_t;

typedef struct {
  const char *title;
  uint64_t total;
  _Atomic uint64_t done;
  _Atomic int64_t next_draw; /* nanoseconds of the monotonic clock */
  int64_t start;
  bool draws, line;
  pthread_mutex_t drawing;
} vcs_progress_t;

void vcs_progress_start(vcs_progress_t *progress, const char *title, uint64_t total, vcs_progress_mode_t mode);
void vcs_progress_add(vcs_progress_t *progress, uint64_t count);
void vcs_progress_finish(vcs_progress_t *progress);

/* A part of the work, and what it has done so far. vcs_progress_report is the function of a vcs_report_t whose context
 * is a part: adds what the part has done since its last report, and returns whether it is to stop (vcs_interrupted). */
typedef struct {
  vcs_progress_t *progress;
  uint64_t done;
} vcs_progress_part_t;
int vcs_progress_report(void *context, const char *step, uint64_t done, uint64_t total);

/* One line of a bar, without the carriage return: what _add draws. Made a function so that it can be tested. */
void vcs_progress_format(char *line, size_t size, const char *title, uint64_t done, uint64_t total, double seconds,
                         int columns);

double vcs_seconds(void); /* a monotonic clock */

void vcs_interrupt_catch(void);   /* from now on Ctrl-C and SIGTERM set the flag */
bool vcs_interrupted(void);       /* whether one came, or the calling thread's flag is set */
void vcs_interrupt_clear(void);   /* forget it */
void vcs_interrupt_release(void); /* give the signals their former meaning back */

/* The flag of the calling thread, which the caller owns: set where it is not 0; NULL: none. Returns the flag before. */
typedef _Atomic int32_t vcs_stop_flag_t;
const vcs_stop_flag_t *vcs_interrupt_watch(const vcs_stop_flag_t *flag);

#endif
