/* each.h: forward passes for many places of one run, each by itself. The tape of a frame, and the forks on it, are made
 * once for all of them. */
#ifndef VCS_GRAD_EACH_H
#define VCS_GRAD_EACH_H

#include "grad/rerun.h"

/* What the flip of a place changes after a frame, by first order: pixels of its picture and bits of the state, as
 * vcs_grad_jvp has them. NULL: nothing. */
typedef void (*vcs_see_product_t)(void *context, size_t place, int32_t frame, const float *pixels, const float *bits);

/* The same products as `count` calls of vcs_grad_jvp, each along one flip: +1 for a bit that is 0 in the run, -1 for
 * one that is 1. Frames with looks[frame] are seen, place by place. Not for the methods `exact` and `hybrid`. */
vcs_status_t vcs_grad_jvp_each(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                               size_t count, const uint8_t *looks, vcs_see_product_t see, void *context,
                               vcs_error_t *error);

#endif
