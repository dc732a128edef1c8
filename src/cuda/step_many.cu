/* step_many.cu: the step of many environments (step_kernel.h). */
#define WARPS_PER_SM 16
#include "step_kernel.h"

const vcs_fault_t *vcs_kernels_step_many(const vcs_device_batch_view_t *batch, const int32_t *actions,
                                         const vcs_batch_results_t *results, void *stream) {
  return launch_step(batch, WARP, actions, results, static_cast<cudaStream_t>(stream));
}
