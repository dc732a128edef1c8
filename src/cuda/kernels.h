/* kernels.h: declarations that the files of the GPU's engine share. */
#ifndef VCS_CUDA_KERNELS_H
#define VCS_CUDA_KERNELS_H

#include "engine.h"
#include "launch.h"

/* Returns from a function with the fault of a CUDA call, if it fails. */
#define TRY(call)                               \
  do {                                          \
    const vcs_fault_t *fault_ = error_of(call); \
    if (fault_ != nullptr) return fault_;       \
  } while (0)

/* Copies with all threads of a block. Both addresses and the size are multiples of 16. */
static __device__ inline void copy_together(void *to, const void *from, size_t size) {
  for (size_t i = threadIdx.x; i < size / 16; i += blockDim.x) {
    static_cast<uint4 *>(to)[i] = static_cast<const uint4 *>(from)[i];
  }
}

/* The engine's functions for exact effects (truth.cu). */
const vcs_fault_t *vcs_kernels_begin_truth(const vcs_truth_view_t *truth, const uint8_t *pictures);
const vcs_fault_t *vcs_kernels_truth(const vcs_truth_view_t *truth);
const vcs_fault_t *vcs_kernels_map(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count);

/* A step of many environments, 32 per warp (step_many.cu), and of few, `used` per warp (step_few.cu). */
const vcs_fault_t *vcs_kernels_step_many(const vcs_device_batch_view_t *batch, const int32_t *actions,
                                         const vcs_batch_results_t *results, void *stream);
const vcs_fault_t *vcs_kernels_step_few(const vcs_device_batch_view_t *batch, int32_t used, const int32_t *actions,
                                        const vcs_batch_results_t *results, void *stream);

/* Objects (objects.cu). */
const vcs_fault_t *vcs_kernels_objects(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                       void *stream);

#endif
