/* step_few.cu: the step of few environments (step_kernel.h). */
#define WARPS_PER_SM 8
#include "step_kernel.h"

const vcs_fault_t *vcs_kernels_step_few(const vcs_device_batch_view_t *batch, int32_t used, const int32_t *actions,
                                        const vcs_batch_results_t *results, void *stream) {
  return launch_step(batch, used, actions, results, static_cast<cudaStream_t>(stream));
}
