/* engine.cu: the engine of a GPU: one thread per environment, one warp per block.
 *
 * Lanes of a warp that are at different instructions wait for each other, but warps compete for the caches. The fastest
 * number of environments per warp was measured: it leaves two warps per SM, from 1 environment per warp (256
 * environments on an H200) to 32 (8,192 and more). Few environments and many have a kernel each
 * (step_kernel.h).
 *
 * A second kernel computes observations with one block per environment, which holds the whole picture in shared
 * memory.
 */
#include <cstdio>

#include "kernels.h"

const vcs_fault_t *vcs_grad_product(const struct vcs_device_batch_grad_view *view, void *stream); /* grad.cu */

namespace {

enum { FEW_WARPS_PER_SM = 2, SHOW_THREADS = 256 };

constexpr uint64_t POOL_KEEPS = 1ull << 30;

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

const vcs_fault_t *use(int32_t device) {
  static thread_local char message[256];
  static thread_local vcs_fault_t missing = {VCS_NOT_FOUND, message};
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    std::snprintf(message, sizeof message, "there is no GPU that CUDA can use (%s): use the CPU (VCS_CPU)",
                  status == cudaSuccess ? "none was found" : cudaGetErrorString(status));
    return &missing;
  }
  if (device < 0 || device >= count) {
    std::snprintf(message, sizeof message, "there is no GPU %d, but 0 to %d", static_cast<int>(device), count - 1);
    return &missing;
  }
  TRY(cudaSetDevice(device));
  cudaMemPool_t pool;
  uint64_t kept = POOL_KEEPS;
  TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  return error_of(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
}

void turn_to(int32_t device) { cudaSetDevice(device); }

/* Allocates from the device's pool, which keeps freed memory: a vcs_truth call takes less time than cudaMalloc. */
const vcs_fault_t *allocate(size_t size, void **memory) {
  const cudaError_t status = cudaMallocAsync(memory, size, nullptr);
  return error_of(status == cudaSuccess ? cudaStreamSynchronize(nullptr) : status);
}

void release(void *memory) {
  if (memory != nullptr) cudaFreeAsync(memory, nullptr);
}

const vcs_fault_t *move(void *to, const void *from, size_t size) {
  return error_of(cudaMemcpy(to, from, size, cudaMemcpyDefault));
}

bool busy() { return cudaStreamQuery(nullptr) == cudaErrorNotReady; }

/* Copies on a separate stream, which does not wait for queued work. */
const vcs_fault_t *glance(void *to, const void *from, size_t size) {
  cudaStream_t aside;
  TRY(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
  cudaError_t status = cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, aside);
  if (status == cudaSuccess) status = cudaStreamSynchronize(aside);
  cudaStreamDestroy(aside);
  return error_of(status);
}

const vcs_fault_t *wait_for(void *stream) { return error_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

/* ---- Environments ------------------------------------------------------------------------------------------------ */

__global__ void deal_kernel(const __grid_constant__ vcs_device_batch_view_t batch, const int32_t *kinds,
                            const uint32_t *seeds) {
  const int32_t number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= batch.count) return;
  vcs_device_env_t env = {};
  env.kind = kinds[number];
  env.random = vcs_device_env_random(seeds[number]);
  env.frame_number = batch.kinds[env.kind].loaded;
  *reinterpret_cast<vcs_device_env_t *>(vcs_device_batch_record(&batch, number)) = env;
}

__global__ void __launch_bounds__(WARP)
    reset_kernel(const __grid_constant__ vcs_device_batch_view_t batch,
                 const __grid_constant__ vcs_device_batch_resets_t resets, vcs_batch_results_t results) {
  const int32_t entry = blockIdx.x * WARP + threadIdx.x;
  if (entry >= resets.count) return;
  const int32_t number = resets.ids != nullptr ? resets.ids[entry] : entry;
  if (number < 0 || number >= batch.count) return;
  uint8_t *record = vcs_device_batch_record(&batch, number);
  vcs_device_env_t *env = reinterpret_cast<vcs_device_env_t *>(record);
  vcs_t *m = vcs_record_machine(&batch, record, VCS_DEVICE_ENV_NOW);
  vcs_device_env_reset(&batch, &resets, entry, number, env, m, &results);
  vcs_device_env_report(&batch, number, env, m, &results);
}

/* Environments per warp. */
int32_t lanes_used(int32_t count) {
  static thread_local int device_of = -1, warps_of = 0; /* of the device that was used last */
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return WARP;
  if (device != device_of) {
    int processors = 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return WARP;
    device_of = device;
    warps_of = processors * FEW_WARPS_PER_SM;
  }
  const int32_t lanes = (count + warps_of - 1) / warps_of;
  return lanes < WARP ? lanes : WARP;
}

/* ---- Observations ------------------------------------------------------------------------------------------------ */

/* Colours frame `a` and pools it with another frame or, without one, with the picture that was shown last; the result
 * is in shared memory and kept in the record. Gray pictures are coloured four pixels at a time. */
__device__ void pool(const vcs_device_batch_kind_t *kind, const uint8_t *a, const uint8_t *b, uint8_t *pooled,
                     uint8_t *coloured) {
  const int pixels = VCS_WIDTH * kind->cart.frame_height;
  for (int i = 3 * threadIdx.x; kind->small.channels == 3 && i < 3 * pixels; i += 3 * blockDim.x) {
    for (int c = 0; c < 3; c++) {
      const uint8_t first = kind->small.byte[c][a[i / 3]];
      const uint8_t second = b != nullptr ? kind->small.byte[c][b[i / 3]] : pooled[i + c];
      coloured[i + c] = pooled[i + c] = first > second ? first : second;
    }
  }
  if (kind->small.channels == 3) return;
  const uint8_t *gray = kind->small.byte[0];
  for (int i = 4 * threadIdx.x; i < pixels; i += 4 * blockDim.x) {
    const uint32_t four = *reinterpret_cast<const uint32_t *>(a + i),
                   other = *reinterpret_cast<const uint32_t *>((b != nullptr ? b : pooled) + i);
    uint32_t first = 0, second = 0;
    for (int k = 0; k < 32; k += 8) {
      first |= static_cast<uint32_t>(gray[four >> k & 0xFF]) << k;
      second |= static_cast<uint32_t>(gray[other >> k & 0xFF]) << k;
    }
    const uint32_t both = __vmaxu4(first, b != nullptr ? second : other);
    *reinterpret_cast<uint32_t *>(coloured + i) = both;
    *reinterpret_cast<uint32_t *>(pooled + i) = both;
  }
}

/* Writes a stack with one more picture, from shared memory or the last again; `to` may be the stack itself. Each thread
 * moves its own bytes down the stack. */
__device__ void push(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind, const uint8_t *coloured,
                     bool starts, bool again, const uint8_t *stack, uint8_t *to) {
  const int size = static_cast<int>(batch->picture_bytes), last = static_cast<int>(batch->observation_bytes) - size;
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    for (int k = 0; k < last; k += size) to[k + i] = starts ? 0 : stack[k + size + i];
    to[last + i] = again ? stack[last + i] : vcs_small_byte(&kind->small, coloured, i);
  }
}

__global__ void __launch_bounds__(SHOW_THREADS) show_kernel(const __grid_constant__ vcs_device_batch_view_t batch,
                                                            uint8_t *observations, uint8_t *finals, bool starts_only) {
  extern __shared__ uint8_t coloured[];
  const int32_t number = blockIdx.x;
  uint8_t *record = vcs_device_batch_record(&batch, number), *frames = record + batch.frames_at;
  uint8_t *pooled = record + batch.pooled_at;
  vcs_device_env_t *env = reinterpret_cast<vcs_device_env_t *>(record);
  const vcs_device_batch_kind_t *kind = &batch.kinds[env->kind];
  const int32_t start = env->start, ending = env->ending;
  if (starts_only && start < 0) return;
  const uint8_t *a = frames + env->shown[0] * VCS_FRAME_BYTES, *b = frames + env->shown[1] * VCS_FRAME_BYTES;
  const size_t at = number * batch.observation_bytes;
  uint8_t *observation = observations != nullptr ? observations + at : nullptr;
  if (ending != VCS_ENDING_NONE) { /* the last picture of the old episode */
    uint8_t *to = start < 0 ? observation : finals != nullptr ? finals + at : nullptr;
    if (ending == VCS_ENDING_ONTO) {
      pool(kind, frames + env->ending_frame * VCS_FRAME_BYTES, nullptr, pooled, coloured);
      __syncthreads();
    }
    if (observation != nullptr && to != nullptr) {
      push(&batch, kind, coloured, false, ending == VCS_ENDING_AGAIN, observation, to);
    }
    __syncthreads();
  }
  if (start >= 0) {
    copy_together(frames, kind->starts + start * batch.record_bytes + batch.frames_at,
                  batch.record_bytes - batch.frames_at);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    env->start = -1;
    env->ending = VCS_ENDING_NONE;
  }
  if (batch.shows == VCS_DEVICE_BATCH_SHOWS_FRAMES) {
    if (observation != nullptr) {
      copy_together(observation, a, static_cast<size_t>(VCS_WIDTH * kind->cart.frame_height));
    }
  } else if (start >= 0 || ending == VCS_ENDING_NONE) {
    pool(kind, a, b, pooled, coloured);
    __syncthreads();
    if (observation != nullptr) push(&batch, kind, coloured, start >= 0, false, observation, observation);
  }
}

/* Computes the observations of all environments, or of those that begin an episode. */
const vcs_fault_t *show(const vcs_device_batch_view_t *batch, const vcs_batch_results_t *results, bool starts_only,
                        cudaStream_t stream) {
  if (batch->frames_at == 0) return nullptr;
  const bool small = batch->shows == VCS_DEVICE_BATCH_SHOWS_SMALL;
  const int shared = small ? VCS_WIDTH * batch->height * batch->channels : 0;
  TRY(cudaFuncSetAttribute(show_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  show_kernel<<<batch->count, SHOW_THREADS, shared, stream>>>(*batch, results->observations,
                                                              results->final_observations, starts_only);
  return error_of(cudaGetLastError());
}

const vcs_fault_t *deal(const vcs_device_batch_view_t *batch, const int32_t *kinds, const uint32_t *seeds) {
  const size_t size = batch->count * sizeof *kinds;
  int32_t *kinds_there;
  uint32_t *seeds_there;
  TRY(cudaMalloc(&kinds_there, size));
  TRY(cudaMalloc(&seeds_there, size));
  TRY(cudaMemcpy(kinds_there, kinds, size, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(seeds_there, seeds, size, cudaMemcpyHostToDevice));
  TRY(cudaMemset(batch->records, 0, batch->count * batch->record_bytes));
  deal_kernel<<<warps(batch->count), WARP>>>(*batch, kinds_there, seeds_there);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
  TRY(cudaFree(kinds_there));
  return error_of(cudaFree(seeds_there));
}

const vcs_fault_t *reset(const vcs_device_batch_view_t *batch, const vcs_device_batch_resets_t *resets,
                         const vcs_batch_results_t *results, void *stream) {
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  if (resets->count <= 0) return nullptr;
  reset_kernel<<<warps(resets->count), WARP, 0, queue>>>(*batch, *resets, *results);
  TRY(cudaGetLastError());
  return show(batch, results, true, queue);
}

const vcs_fault_t *step(const vcs_device_batch_view_t *batch, const int32_t *actions,
                        const vcs_batch_results_t *results, void *stream) {
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  const int32_t used = lanes_used(batch->count);
  const vcs_fault_t *fault = used < WARP ? vcs_kernels_step_few(batch, used, actions, results, stream)
                                         : vcs_kernels_step_many(batch, actions, results, stream);
  return fault != nullptr ? fault : show(batch, results, false, queue);
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

__global__ void copy_kernel(const __grid_constant__ vcs_device_batch_view_t batch,
                            const __grid_constant__ vcs_device_batch_copies_t what) {
  const int32_t env = what.ids != nullptr ? what.ids[blockIdx.x] : static_cast<int32_t>(blockIdx.x);
  if (env < 0 || env >= batch.count) return;
  uint8_t *record = vcs_device_batch_record(&batch, env), *state = what.states + blockIdx.x * what.state_bytes;
  copy_together(what.restores ? record : state, what.restores ? state : record, batch.record_bytes);
  if (what.observations != nullptr) {
    uint8_t *stack = what.observations + env * batch.observation_bytes, *kept = state + batch.record_bytes;
    uint8_t *to = what.restores ? stack : kept;
    const uint8_t *from = what.restores ? kept : stack;
    if (batch.observation_bytes % 16 == 0) {
      copy_together(to, from, batch.observation_bytes);
    } else {
      for (size_t i = threadIdx.x; i < batch.observation_bytes; i += blockDim.x) to[i] = from[i];
    }
  }
  __syncthreads();
  if (!what.restores || threadIdx.x != 0) return;
  vcs_device_env_report(&batch, env, reinterpret_cast<const vcs_device_env_t *>(record),
                        vcs_record_machine(&batch, record, VCS_DEVICE_ENV_NOW), &what.results);
}

const vcs_fault_t *copy(const vcs_device_batch_view_t *batch, const vcs_device_batch_copies_t *what, void *stream) {
  if (what->count <= 0) return nullptr;
  copy_kernel<<<what->count, 128, 0, static_cast<cudaStream_t>(stream)>>>(*batch, *what);
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
                                      vcs_grad_product,
                                      vcs_kernels_objects};
