/* options.h: the rule that all option structs share (docs/abi.md): words that this version does not know are 0. */
#ifndef DIFFVCS_HOST_OPTIONS_H
#define DIFFVCS_HOST_OPTIONS_H

#include "diffvcs/diffvcs.h"
#include "files.h"

/* Refuses nonzero reserved words, which this version would ignore. `name` is the name of the struct. */
static inline vcs_status_t vcs_reserved_check(const uint64_t reserved[8], const char *name, vcs_error_t *error) {
  for (int i = 0; i < 8; i++) {
    if (reserved[i] == 0) continue;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "%s.reserved[%d] is not 0: the struct was not cleared (by its defaults function or an "
                          "initializer), or it comes "
                          "from a newer header than this library (%s)",
                          name, i, VCS_VERSION);
  }
  return VCS_OK;
}

#endif
