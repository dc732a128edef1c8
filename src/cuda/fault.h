/* fault.h: the errors of an engine.
 *
 * An engine's functions return NULL on success and otherwise a fault: the status that the library returns to its
 * caller, and a message, which for a GPU is CUDA's own. A fault is valid until the next fault of the same thread.
 */
#ifndef VCS_CUDA_FAULT_H
#define VCS_CUDA_FAULT_H

#include "diffvcs/diffvcs.h"

typedef struct {
  vcs_status_t status;
  const char *message;
} vcs_fault_t;

#endif
