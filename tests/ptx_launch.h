/* ptx_launch.h: how a kernel that was translated from PTX to C (ptx_to_c.py) is called: one thread at a time. */
#ifndef PTX_LAUNCH_H
#define PTX_LAUNCH_H

#include <stdint.h>

enum { PTX_LOCAL_BYTES = 1 << 16, PTX_PARAMS = 8 };

typedef struct {
  uint32_t tid_x, ctaid_x, nctaid_x;
  uint32_t mask;              /* what a ballot answers */
  uint8_t *param[PTX_PARAMS]; /* the addresses of the kernel's parameters */
  uint8_t *window;            /* PTX_LOCAL_BYTES of local memory, aligned to 16 bytes */
  uint64_t sp;                /* local memory that is in use */
} ptx_launch_t;

void ptx_objects_kernel(ptx_launch_t *launch);

#endif
