/* ptx_objects.c: the CPU's engine lists objects by the GPU's kernel, translated from PTX (ptx_to_c.py), in the place of
 * engine_objects.c. Memory that the kernel allocates holds 0xA5. */
#include <stdlib.h>
#include <string.h>

#include "cuda/device_objects.h"
#include "cuda/engine.h"
#include "ptx_launch.h"

const vcs_fault_t *vcs_engine_cpu_objects(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                          void *stream) {
  enum { WARP = 32 };
  const uint32_t blocks = (uint32_t)(batch->count + WARP - 1) / WARP;
  size_t bytes = vcs_objects_bench_bytes(batch);
  uint8_t *benches = aligned_alloc(256, (blocks * WARP * bytes + 255) / 256 * 256);
  uint8_t *window = aligned_alloc(256, PTX_LOCAL_BYTES);
  (void)stream;
  if (!benches || !window) return &vcs_fault_no_memory;
  memset(benches, 0xA5, blocks * WARP * bytes);
  for (uint32_t thread = 0; thread < blocks * WARP; thread++) {
    ptx_launch_t launch = {.tid_x = thread % WARP, .ctaid_x = thread / WARP, .nctaid_x = blocks, .window = window};
    launch.mask = ~0u; /* as if all lanes took part: then they run line by line */
    launch.param[0] = (uint8_t *)batch;
    launch.param[1] = (uint8_t *)out;
    launch.param[2] = (uint8_t *)&benches;
    launch.param[3] = (uint8_t *)&bytes;
    ptx_objects_kernel(&launch);
  }
  free(benches);
  free(window);
  return NULL;
}
