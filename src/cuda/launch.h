/* launch.h: what all launches of kernels have in common. */
#ifndef VCS_CUDA_LAUNCH_H
#define VCS_CUDA_LAUNCH_H

#include <cuda_runtime.h>
#include <stdint.h>

enum { WARP = 32 };

/* So many warps have a lane for each of them. */
static inline unsigned warps(int32_t count) { return static_cast<unsigned>(count / WARP + (count % WARP != 0)); }

static inline const char *error_of(cudaError_t status) {
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/* What went wrong with the launches before, or NULL. */
static inline const char *launched() { return error_of(cudaGetLastError()); }

#endif
