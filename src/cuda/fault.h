/* fault.h: what an engine returns when it fails.
 *
 * An engine's functions return NULL on success and a fault otherwise: the status that the caller of the library gets,
 * and a sentence for people, which for a GPU is CUDA's own. A fault stays valid until the same thread's next one.
 */
#ifndef VCS_CUDA_FAULT_H
#define VCS_CUDA_FAULT_H

#include "diffvcs/diffvcs.h"

typedef struct {
  vcs_status_t status;
  const char *message;
} vcs_fault_t;

#endif
