/* engine.cu: a fleet on a GPU: a thread a seat, a warp a block.
 *
 * A machine lies in global memory as the host has it, and is copied into the thread's local memory while it runs: local
 * memory is laid out word by word across a warp, so that lanes which read the same field of their own machines read one
 * line of the cache. Cartridges with much RAM of their own (E7, CV, 3E) are few and run where they lie. Blocks are one
 * warp, so that an SM takes the next one as soon as a warp is done, and no warp waits for another.
 *
 * What agents see is made by a second kernel, a block a seat: it has the whole picture in shared memory.
 */
#include <cstdio>

#include "kernels.h"

const char *vcs_grad_product(const struct vcs_fleet_grad_view *view, void *stream); /* grad.cu */

namespace {

enum { WARPS_PER_SM = 16, LOCAL_RAM = 256, SHOW_THREADS = 256 };

constexpr uint64_t POOL_KEEPS = 1ull << 30;

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

const char *use(int32_t device) {
  static thread_local char why[256];
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::snprintf(why, sizeof why, "there is no GPU that CUDA can use (%s): use the CPU (VCS_CPU)",
                  status == cudaSuccess ? "none was found" : cudaGetErrorString(status));
    return why;
  }
  if (device < 0 || device >= count) {
    std::snprintf(why, sizeof why, "there is no GPU %d, but 0 to %d", static_cast<int>(device), count - 1);
    return why;
  }
  TRY(cudaSetDevice(device));
  cudaMemPool_t pool;
  uint64_t kept = POOL_KEEPS;
  TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  return error_of(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
}

void turn_to(int32_t device) { cudaSetDevice(device); }

/* From the device's pool, which keeps some for the next time: a truth is over in less time than cudaMalloc takes. */
const char *allocate(size_t size, void **memory) {
  const cudaError_t status = cudaMallocAsync(memory, size, nullptr);
  return error_of(status == cudaSuccess ? cudaStreamSynchronize(nullptr) : status);
}

void release(void *memory) {
  if (memory != nullptr) cudaFreeAsync(memory, nullptr);
}

const char *move(void *to, const void *from, size_t size) {
  return error_of(cudaMemcpy(to, from, size, cudaMemcpyDefault));
}

bool busy() { return cudaStreamQuery(nullptr) == cudaErrorNotReady; }

/* By a stream that does not wait for the others. */
const char *glance(void *to, const void *from, size_t size) {
  cudaStream_t aside;
  TRY(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
  cudaError_t status = cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, aside);
  if (status == cudaSuccess) status = cudaStreamSynchronize(aside);
  cudaStreamDestroy(aside);
  return error_of(status);
}

const char *wait_for(void *stream) { return error_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

/* ---- Seats ------------------------------------------------------------------------------------------------------- */

/* A machine while it runs: in local memory, or where it lies. */
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

__global__ void deal_kernel(const __grid_constant__ vcs_fleet_view_t fleet, const int32_t *kinds,
                            const uint32_t *seeds) {
  const int32_t number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= fleet.count) return;
  vcs_seat_t seat = {};
  seat.kind = kinds[number];
  seat.random = vcs_seat_random(seeds[number]);
  seat.frame_number = fleet.kinds[seat.kind].loaded;
  *reinterpret_cast<vcs_seat_t *>(vcs_fleet_record(&fleet, number)) = seat;
}

__global__ void __launch_bounds__(WARP)
    reset_kernel(const __grid_constant__ vcs_fleet_view_t fleet, const __grid_constant__ vcs_fleet_resets_t resets,
                 vcs_batch_results_t results) {
  const int32_t entry = blockIdx.x * WARP + threadIdx.x;
  if (entry >= resets.count) return;
  const int32_t number = resets.ids != nullptr ? resets.ids[entry] : entry;
  if (number < 0 || number >= fleet.count) return;
  uint8_t *record = vcs_fleet_record(&fleet, number);
  vcs_seat_t *seat = reinterpret_cast<vcs_seat_t *>(record);
  vcs_t *m = vcs_record_machine(&fleet, record, VCS_SEAT_NOW);
  vcs_seat_reset(&fleet, &resets, entry, number, seat, m, &results);
  vcs_seat_report(number, seat, m, &results);
}

__global__ void __launch_bounds__(WARP, WARPS_PER_SM)
    step_kernel(const __grid_constant__ vcs_fleet_view_t fleet, const int32_t *actions, vcs_batch_results_t results) {
  const int32_t number = blockIdx.x * WARP + threadIdx.x;
  const unsigned lanes = __ballot_sync(~0u, number < fleet.count);
  if (number >= fleet.count) return;
  uint8_t *record = vcs_fleet_record(&fleet, number);
  vcs_seat_t seat = *reinterpret_cast<vcs_seat_t *>(record);
  const vcs_cart_t *cart = &fleet.kinds[seat.kind].cart;
  vcs_t *there = vcs_record_machine(&fleet, record, VCS_SEAT_NOW);
  machine_t here;
  vcs_t *m = enter(cart, there, &here);
  vcs_seat_step(&fleet, number, &seat, m, actions, &results, lanes);
  vcs_seat_report(number, &seat, m, &results);
  leave(cart, there, m);
  *reinterpret_cast<vcs_seat_t *>(record) = seat;
}

/* ---- Observations --------------------------------------------------------------------------------------------------
 */

__device__ void show_small(const vcs_fleet_kind_t *kind, const uint8_t *a, const uint8_t *b, bool starts,
                           uint8_t *stack, uint8_t *gray) {
  const int last = (VCS_SMALL_STACK - 1) * VCS_SMALL_BYTES;
  for (int i = 4 * threadIdx.x; i < VCS_WIDTH * kind->cart.frame_height; i += 4 * blockDim.x) {
    const uint32_t four = *reinterpret_cast<const uint32_t *>(a + i),
                   other = *reinterpret_cast<const uint32_t *>(b + i);
    uint32_t first = 0, second = 0;
    for (int k = 0; k < 32; k += 8) {
      first |= static_cast<uint32_t>(kind->small.gray[four >> k & 0xFF]) << k;
      second |= static_cast<uint32_t>(kind->small.gray[other >> k & 0xFF]) << k;
    }
    *reinterpret_cast<uint32_t *>(gray + i) = __vmaxu4(first, second);
  }
  for (int i = threadIdx.x; i < VCS_SMALL_BYTES;
       i += blockDim.x) { /* each thread moves its own pixels down the stack */
    for (int k = 0; k < last; k += VCS_SMALL_BYTES) stack[k + i] = starts ? 0 : stack[k + VCS_SMALL_BYTES + i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < VCS_SMALL_BYTES; i += blockDim.x) {
    stack[last + i] = vcs_small_pixel(&kind->small, gray, i % VCS_SMALL, i / VCS_SMALL);
  }
}

__global__ void __launch_bounds__(SHOW_THREADS)
    show_kernel(const __grid_constant__ vcs_fleet_view_t fleet, uint8_t *observations, bool starts_only) {
  extern __shared__ uint8_t gray[];
  const int32_t number = blockIdx.x;
  uint8_t *record = vcs_fleet_record(&fleet, number), *frames = record + fleet.frames_at;
  vcs_seat_t *seat = reinterpret_cast<vcs_seat_t *>(record);
  const vcs_fleet_kind_t *kind = &fleet.kinds[seat->kind];
  const int32_t start = seat->start;
  if (starts_only && start < 0) return;
  const uint8_t *a = frames + seat->shown[0] * VCS_FRAME_BYTES, *b = frames + seat->shown[1] * VCS_FRAME_BYTES;
  if (start >= 0) {
    copy_together(frames, kind->starts + start * fleet.record_bytes + fleet.frames_at,
                  fleet.record_bytes - fleet.frames_at);
  }
  __syncthreads();
  if (threadIdx.x == 0) seat->start = -1;
  if (observations == nullptr) return;
  uint8_t *observation = observations + number * fleet.observation_bytes;
  if (fleet.shows == VCS_FLEET_SHOWS_FRAMES) {
    copy_together(observation, a, static_cast<size_t>(VCS_WIDTH * kind->cart.frame_height));
  } else {
    show_small(kind, a, b, start >= 0, observation, gray);
  }
}

/* What seats show; after a reset only those that begin. */
const char *show(const vcs_fleet_view_t *fleet, uint8_t *observations, bool starts_only, cudaStream_t stream) {
  if (fleet->frames_at == 0) return nullptr;
  const bool small = fleet->shows == VCS_FLEET_SHOWS_SMALL;
  const int shared = small ? VCS_WIDTH * fleet->height : 0;
  TRY(cudaFuncSetAttribute(show_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  show_kernel<<<fleet->count, SHOW_THREADS, shared, stream>>>(*fleet, observations, starts_only);
  return error_of(cudaGetLastError());
}

const char *deal(const vcs_fleet_view_t *fleet, const int32_t *kinds, const uint32_t *seeds) {
  const size_t size = fleet->count * sizeof *kinds;
  int32_t *kinds_there;
  uint32_t *seeds_there;
  TRY(cudaMalloc(&kinds_there, size));
  TRY(cudaMalloc(&seeds_there, size));
  TRY(cudaMemcpy(kinds_there, kinds, size, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(seeds_there, seeds, size, cudaMemcpyHostToDevice));
  TRY(cudaMemset(fleet->records, 0, fleet->count * fleet->record_bytes));
  deal_kernel<<<warps(fleet->count), WARP>>>(*fleet, kinds_there, seeds_there);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
  TRY(cudaFree(kinds_there));
  return error_of(cudaFree(seeds_there));
}

const char *reset(const vcs_fleet_view_t *fleet, const vcs_fleet_resets_t *resets, const vcs_batch_results_t *results,
                  void *stream) {
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  if (resets->count <= 0) return nullptr;
  reset_kernel<<<warps(resets->count), WARP, 0, queue>>>(*fleet, *resets, *results);
  TRY(cudaGetLastError());
  return show(fleet, results->observations, true, queue);
}

const char *step(const vcs_fleet_view_t *fleet, const int32_t *actions, const vcs_batch_results_t *results,
                 void *stream) {
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  step_kernel<<<warps(fleet->count), WARP, 0, queue>>>(*fleet, actions, *results);
  TRY(cudaGetLastError());
  return show(fleet, results->observations, false, queue);
}

/* ---- States --------------------------------------------------------------------------------------------------------
 */

__global__ void copy_kernel(const __grid_constant__ vcs_fleet_view_t fleet,
                            const __grid_constant__ vcs_fleet_copies_t what) {
  const int32_t seat = what.ids != nullptr ? what.ids[blockIdx.x] : static_cast<int32_t>(blockIdx.x);
  if (seat < 0 || seat >= fleet.count) return;
  uint8_t *record = vcs_fleet_record(&fleet, seat), *state = what.states + blockIdx.x * what.state_bytes;
  copy_together(what.restores ? record : state, what.restores ? state : record, fleet.record_bytes);
  if (what.observations != nullptr) {
    uint8_t *stack = what.observations + seat * fleet.observation_bytes, *kept = state + fleet.record_bytes;
    copy_together(what.restores ? stack : kept, what.restores ? kept : stack, fleet.observation_bytes);
  }
  __syncthreads();
  if (!what.restores || threadIdx.x != 0) return;
  vcs_seat_report(seat, reinterpret_cast<const vcs_seat_t *>(record), vcs_record_machine(&fleet, record, VCS_SEAT_NOW),
                  &what.results);
}

const char *copy(const vcs_fleet_view_t *fleet, const vcs_fleet_copies_t *what, void *stream) {
  if (what->count <= 0) return nullptr;
  copy_kernel<<<what->count, 128, 0, static_cast<cudaStream_t>(stream)>>>(*fleet, *what);
  return error_of(cudaGetLastError());
}

}  // namespace

extern "C" VCS_API const vcs_engine_t VCS_CUDA_ENGINE;
const vcs_engine_t VCS_CUDA_ENGINE = {use,
                                      turn_to,
                                      allocate,
                                      release,
                                      move,
                                      deal,
                                      reset,
                                      step,
                                      copy,
                                      vcs_kernels_begin_truth,
                                      vcs_kernels_truth,
                                      vcs_kernels_map,
                                      busy,
                                      glance,
                                      wait_for,
                                      vcs_grad_product};
