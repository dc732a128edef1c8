/* launch.h: helpers for kernel launches: grid sizes and errors. */
#ifndef VCS_CUDA_LAUNCH_H
#define VCS_CUDA_LAUNCH_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#include "fault.h"

enum { WARP = 32 };

/* Returns the number of warps with at least `count` lanes. */
static inline unsigned warps(int32_t count) { return static_cast<unsigned>(count / WARP + (count % WARP != 0)); }

/* Returns the library's status for a CUDA error. */
static inline vcs_status_t status_of(cudaError_t code) {
  switch (code) {
    case cudaSuccess:
      return VCS_OK;
    case cudaErrorMemoryAllocation:
      return VCS_NO_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidResourceHandle:
      return VCS_BAD_ARGUMENT; /* a caller's pointer or stream */
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
      return VCS_NOT_FOUND; /* a GPU or a driver that this build cannot use */
    default:
      return VCS_DEVICE_FAILED;
  }
}

/* NULL for cudaSuccess, or the fault with CUDA's own sentence and the name of the error. */
static inline const vcs_fault_t *error_of(cudaError_t code) {
  static thread_local char message[256];
  static thread_local vcs_fault_t fault;
  if (code == cudaSuccess) return nullptr;
  snprintf(message, sizeof message, "%s (%s)", cudaGetErrorString(code), cudaGetErrorName(code));
  fault = {status_of(code), message};
  return &fault;
}

/* The error of the launches since the last check, or NULL. */
static inline const vcs_fault_t *launched() { return error_of(cudaGetLastError()); }

#endif
