/* watch.h: a callback for each effect that the truth finds, for callers that need more than rows and maps (jacobian.c).
 */
#ifndef VCS_GRAD_WATCH_H
#define VCS_GRAD_WATCH_H

#include "grad/rerun.h"

/* What flips cost. */
typedef struct {
  uint64_t walked;   /* frames of the run, once for each walk over it */
  uint64_t executed; /* instructions that flips executed while they were awake */
  uint64_t wakes;    /* how often a flip woke */
  uint64_t rerun;    /* frames of flips that were run again as a whole */
} vcs_work_t;

typedef struct {
  /* Called by any thread, horizon after horizon of an item; different items at the same time. */
  void (*see)(void *context, size_t item, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base);
  void *context;
  uint8_t *outcomes; /* VCS_TRUTH_... of each item; or NULL */
  bool pictures;     /* sights have pictures */
  bool states;       /* ... and whole machines */
  vcs_work_t *work;  /* what was done is added, the same on every machine; or NULL */
} vcs_truth_watch_t;

/* As vcs_truth_sets, but seen instead of written down; without `ends` each place is a set. */
vcs_status_t vcs_truth_watch(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                             const size_t *ends, size_t set_count, const vcs_truth_watch_t *watch, vcs_error_t *error);

#endif
