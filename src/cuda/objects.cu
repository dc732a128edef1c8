/* objects.cu: objects of environments on a GPU (device_objects.h): one thread per environment, with its recorder, list
 * and picture in global memory. So many threads would need much of it: a limited number of them take turns. */
#include "device_objects.h"

#include "kernels.h"

namespace {

enum { THREADS = 2048 }; /* benches, of some 200 KB each */

__global__ void __launch_bounds__(WARP)
    objects_kernel(const __grid_constant__ vcs_device_batch_view_t batch,
                   const __grid_constant__ vcs_device_batch_objects_t out, uint8_t *benches, size_t bench_bytes) {
  const int32_t thread = static_cast<int32_t>(blockIdx.x * WARP + threadIdx.x);
  vcs_objects_bench_t *bench = reinterpret_cast<vcs_objects_bench_t *>(benches + thread * bench_bytes);
  for (int32_t number = thread; number - static_cast<int32_t>(threadIdx.x) < batch.count;
       number += static_cast<int32_t>(gridDim.x * WARP)) {
    const unsigned lanes = __ballot_sync(~0u, number < batch.count);
    if (number < batch.count) vcs_device_env_objects(&batch, number, bench, &out, lanes);
    __syncwarp();
  }
}

}  // namespace

const vcs_fault_t *vcs_kernels_objects(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                       void *stream) {
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  const size_t bytes = vcs_objects_bench_bytes(batch);
  const unsigned blocks = warps(batch->count < THREADS ? batch->count : static_cast<int32_t>(THREADS));
  void *benches = nullptr;
  TRY(cudaMallocAsync(&benches, blocks * WARP * bytes, queue));
  objects_kernel<<<blocks, WARP, 0, queue>>>(*batch, *out, static_cast<uint8_t *>(benches), bytes);
  const cudaError_t status = cudaGetLastError();
  TRY(cudaFreeAsync(benches, queue));
  return error_of(status);
}
