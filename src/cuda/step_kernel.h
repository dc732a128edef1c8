/* step_kernel.h: the kernel of a step, one thread per environment. Two files compile it, for many environments and for
 * few.
 *
 * Many (step_many.cu, WARPS_PER_SM 16) wait for instructions, because warps at different places of the code compete for
 * the caches: ptxas -O1 makes less code. Few (step_few.cu, WARPS_PER_SM 8) have two warps on an SM, which wait for
 * their own results: -O3 and 230 registers make a step of 256 to 4,096 environments 7 to 10 % faster
 * (docs/learning.md).
 *
 * A machine has the host's layout in global memory and is copied into the thread's local memory while it runs: local
 * memory is interleaved word by word across a warp, so lanes that read the same field of their own machines read one
 * cache line. Machines with much cartridge RAM (E7, CV, 3E) run in global memory. A block is one warp, so an SM takes
 * the next block as soon as a warp ends, and no warp waits for another.
 */
#ifndef VCS_CUDA_STEP_KERNEL_H
#define VCS_CUDA_STEP_KERNEL_H

#include "kernels.h"

namespace {

enum { LOCAL_RAM = 256 };

/* Local memory of a running machine. */
struct machine_t {
  uint64_t words[(offsetof(vcs_t, cart_ram) + LOCAL_RAM + 7) / 8];
};

__device__ vcs_t *enter(const vcs_cart_t *cart, vcs_t *there, machine_t *here) {
  if (cart->ram_size > LOCAL_RAM) return there;
  vcs_t *m = reinterpret_cast<vcs_t *>(here->words);
  vcs_copy_machine(m, there, vcs_machine_size(cart));
  return m;
}

__device__ void leave(const vcs_cart_t *cart, vcs_t *there, const vcs_t *m) {
  if (m != there) vcs_copy_machine(there, m, vcs_machine_size(cart));
}

__global__ void __launch_bounds__(WARP, WARPS_PER_SM)
    step_kernel(const __grid_constant__ vcs_device_batch_view_t batch, int32_t used, const int32_t *actions,
                vcs_batch_results_t results) {
  const int32_t number = static_cast<int32_t>(blockIdx.x) * used + static_cast<int32_t>(threadIdx.x);
  const bool idle = static_cast<int32_t>(threadIdx.x) >= used || number >= batch.count;
  const unsigned lanes = __ballot_sync(~0u, !idle);
  if (idle) return;
  uint8_t *record = vcs_device_batch_record(&batch, number);
  vcs_device_env_t env = *reinterpret_cast<vcs_device_env_t *>(record);
  const vcs_cart_t *cart = &batch.kinds[env.kind].cart;
  vcs_t *there = vcs_record_machine(&batch, record, VCS_DEVICE_ENV_NOW);
  machine_t here;
  vcs_t *m = enter(cart, there, &here);
  vcs_device_env_step(&batch, number, &env, m, actions, &results, lanes);
  vcs_device_env_report(&batch, number, &env, m, &results);
  leave(cart, there, m);
  *reinterpret_cast<vcs_device_env_t *>(record) = env;
}

/* Queues a step with `used` environments per warp. */
const vcs_fault_t *launch_step(const vcs_device_batch_view_t *batch, int32_t used, const int32_t *actions,
                               const vcs_batch_results_t *results, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((batch->count + used - 1) / used);
  step_kernel<<<blocks, WARP, 0, stream>>>(*batch, used, actions, *results);
  return error_of(cudaGetLastError());
}

}  // namespace

#endif
