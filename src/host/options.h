/* options.h: rules that option structs share: words that this version does not know are 0 (docs/abi.md), and numbers
 * are in their ranges. */
#ifndef DIFFVCS_HOST_OPTIONS_H
#define DIFFVCS_HOST_OPTIONS_H

#include "diffvcs/diffvcs.h"
#include "files.h"

/* Refuses nonzero reserved words, which this version would ignore. `name` is the name of the struct. */
static inline vcs_status_t vcs_reserved_words_check(const uint64_t *reserved, int count, const char *name,
                                                    vcs_error_t *error) {
  for (int i = 0; i < count; i++) {
    if (reserved[i] == 0) continue;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "%s.reserved[%d] is not 0: the struct was not cleared (by its defaults function or an "
                          "initializer), or it comes "
                          "from a newer header than this library (%s)",
                          name, i, VCS_VERSION);
  }
  return VCS_OK;
}

static inline vcs_status_t vcs_reserved_check(const uint64_t reserved[8], const char *name, vcs_error_t *error) {
  return vcs_reserved_words_check(reserved, 8, name, error);
}

/* The same for a struct some of whose reserved words have become options. */
#define VCS_RESERVED_CHECK(options, name, error)                                                                      \
  vcs_reserved_words_check((options)->reserved, (int)(sizeof(options)->reserved / sizeof *(options)->reserved), name, \
                           error)

/* The values that an option may have. */
typedef struct {
  const char *name;
  int64_t value, min, max;
} vcs_range_t;

/* Refuses values outside their ranges. */
static inline vcs_status_t vcs_ranges_check(const vcs_range_t *ranges, size_t count, vcs_error_t *error) {
  for (const vcs_range_t *range = ranges; range < ranges + count; range++) {
    if (range->value >= range->min && range->value <= range->max) continue;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s is %lld, but goes from %lld to %lld", range->name,
                          (long long)range->value, (long long)range->min, (long long)range->max);
  }
  return VCS_OK;
}

enum { VCS_THREADS_MAX = 4096 };

/* The same for a number of threads, where 0 is one for each processor. */
static inline vcs_status_t vcs_threads_check(int32_t threads, vcs_error_t *error) {
  const vcs_range_t range = {"threads", threads, 0, VCS_THREADS_MAX};
  return vcs_ranges_check(&range, 1, error);
}

/* The same for the probability with which an action sticks. */
static inline vcs_status_t vcs_repeat_check(float probability, vcs_error_t *error) {
  if (probability >= 0 && probability <= 1) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "repeat_action_probability is %g, but goes from 0 to 1",
                        (double)probability);
}

#endif
