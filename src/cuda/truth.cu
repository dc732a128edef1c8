/* truth.cu: exact effects on a GPU: all runs at once, each in its own warps.
 *
 * A thousand runs of a few frames are few for a GPU, and all begin together, so the slowest run determines the time,
 * and the latency of one 6507 instruction determines the slowest run. So each run has its own warps, and its machine
 * and current line are in shared memory: in local memory, which is interleaved for 32 lanes, each word of a single lane
 * would take a cache line.
 *
 * A second kernel compares the runs, with one block per run.
 */
#include "kernels.h"
#include "truth.h"

namespace {

enum { RUNS_PER_SM = 8 }; /* so that a thousand runs execute at once; with a second wave the time would double */
enum { COMPARE_THREADS = 256, IMAGE_BLOCKS = 64, IMAGE_THREADS = 128 };

constexpr size_t PICTURE_BYTES = 2 * static_cast<size_t>(VCS_FRAME_BYTES);

__global__ void picture_kernel(const __grid_constant__ vcs_truth_view_t truth, const uint8_t *pictures) {
  const int32_t run = blockIdx.x;
  copy_together(truth.frames + run * PICTURE_BYTES, pictures + vcs_truth_base(&truth, run) * PICTURE_BYTES,
                PICTURE_BYTES);
}

/* Codes the image for single_lane.h. */
__global__ void image_kernel(const __grid_constant__ vcs_truth_view_t truth) {
  for (uint32_t at = blockIdx.x * blockDim.x + threadIdx.x; at < truth.cart->rom_size; at += gridDim.x * blockDim.x) {
    truth.image[at] = vcs_single_lane_code_of(truth.cart->code[at]);
  }
}

/* Hides the origin of a pointer into shared memory, which the compiler would recompute at each use. */
template <typename T>
__device__ T *kept(void *shared) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("" : "+r"(address));
  return static_cast<T *>(__cvta_shared_to_generic(address));
}

/* Runs one machine on two warps with one active lane each: the CPU's and the TIA's. The inactive lanes exit at once,
 * and a vote decides the role of the warp, so the compiler knows that lanes never diverge; otherwise every branch would
 * need a reconvergence barrier. Shared memory holds the machine with all its cartridge RAM. */
__global__ void __launch_bounds__(2 * WARP, RUNS_PER_SM) run_kernel(const __grid_constant__ vcs_truth_view_t truth) {
  extern __shared__ uint4 machine[];
  __shared__ uint4 registers[(offsetof(vcs_t, cart_ram) + 15) / 16];
  __shared__ vcs_video_t video;
  __shared__ vcs_gate_t gate;
  __shared__ bool ends;
  __shared__ vcs_cpu_tia_pair_t pair;
  const int32_t run = blockIdx.x;
  vcs_t *there = vcs_truth_machine(&truth, run);
  copy_together(machine, there, truth.machine_bytes);
  if (threadIdx.x == 0) {
    ends = false;
    pair = {reinterpret_cast<vcs_t *>(registers), &video, truth.logs + run * static_cast<size_t>(VCS_LOG_SIZE), &gate,
            &ends};
    __mbarrier_init(&gate, 2);
  }
  __syncthreads();
  if (threadIdx.x % WARP != 0) return;
  if (__any_sync(1, threadIdx.x == WARP)) {
    vcs_cpu_tia_pair_follow(&pair);
    return;
  }
  vcs_t *m = kept<vcs_t>(machine);
  vcs_truth_run(&truth, run, m, &pair, there);
  ends = true;
  vcs_gate_pass(&gate);
  vcs_copy_machine(there, m, truth.machine_bytes);
}

/* One block per run, one thread per row: each thread counts and computes the checksum of a row; one combines them. */
__global__ void __launch_bounds__(COMPARE_THREADS) compare_kernel(const __grid_constant__ vcs_truth_view_t truth) {
  __shared__ int32_t pixels, ram_bytes;
  __shared__ uint32_t row_crc[VCS_FRAME_BYTES / VCS_WIDTH];
  const int32_t run = blockIdx.x, plain = vcs_truth_plain(&truth, run);
  const int32_t height = truth.cart->frame_height, size = VCS_WIDTH * height;
  const uint8_t *picture = vcs_truth_picture(&truth, run), *base = vcs_truth_picture(&truth, plain);
  const uint8_t *ram = vcs_truth_machine(&truth, run)->ram, *base_ram = vcs_truth_machine(&truth, plain)->ram;
  if (threadIdx.x == 0) pixels = ram_bytes = 0;
  __syncthreads();
  atomicAdd(&pixels, vcs_count_different(picture, base, size, threadIdx.x, blockDim.x));
  atomicAdd(&ram_bytes, vcs_count_different(ram, base_ram, 128, threadIdx.x, blockDim.x));
  for (int y = threadIdx.x; y < height; y += blockDim.x) row_crc[y] = vcs_crc_of(picture + y * VCS_WIDTH, VCS_WIDTH);
  __syncthreads();
  if (threadIdx.x != 0) return;
  vcs_truth_t row = {};
  row.outcome = VCS_TRUTH_RAN;
  row.pixels = pixels;
  row.ram_bytes = ram_bytes;
  const uint32_t power = vcs_crc_power(VCS_WIDTH);
  row.screen_crc = row_crc[0];
  for (int y = 1; y < height; y++) row.screen_crc = vcs_crc_multiply(row.screen_crc, power) ^ row_crc[y];
  row.ram_crc = vcs_crc_of(ram, 128);
  truth.rows[run * static_cast<size_t>(truth.horizon_count) + truth.horizon] = row;
}

/* One block per item. */
__global__ void __launch_bounds__(COMPARE_THREADS)
    map_kernel(const __grid_constant__ vcs_truth_view_t truth, bool ram, float *maps, int32_t first) {
  const size_t size = vcs_truth_map_size(&truth, ram);
  float *map = maps + (blockIdx.x * static_cast<size_t>(truth.horizon_count) + truth.horizon) * size;
  const int32_t item = first + static_cast<int32_t>(blockIdx.x);
  if (ram) {
    vcs_truth_map_ram(&truth, item, map, threadIdx.x, COMPARE_THREADS);
  } else {
    vcs_truth_map_pixels(&truth, item, map, threadIdx.x, COMPARE_THREADS);
  }
}

}  // namespace

const vcs_fault_t *vcs_kernels_map(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count) {
  map_kernel<<<count, COMPARE_THREADS>>>(*truth, ram, maps, first);
  return error_of(cudaGetLastError());
}

const vcs_fault_t *vcs_kernels_begin_truth(const vcs_truth_view_t *truth, const uint8_t *pictures) {
  const size_t size = truth->bases * PICTURE_BYTES;
  const size_t rows = vcs_truth_runs(truth) * static_cast<size_t>(truth->horizon_count);
  uint8_t *there;
  TRY(cudaMemsetAsync(truth->rows, 0, rows * sizeof *truth->rows)); /* also the padding */
  TRY(cudaMallocAsync(&there, size, nullptr));
  TRY(cudaMemcpyAsync(there, pictures, size, cudaMemcpyHostToDevice));
  picture_kernel<<<vcs_truth_runs(truth), 256>>>(*truth, there);
  TRY(cudaGetLastError());
  image_kernel<<<IMAGE_BLOCKS, IMAGE_THREADS>>>(*truth);
  TRY(cudaGetLastError());
  return error_of(cudaFreeAsync(there, nullptr));
}

const vcs_fault_t *vcs_kernels_truth(const vcs_truth_view_t *truth) {
  TRY(cudaMemsetAsync(truth->logs, 0, vcs_truth_runs(truth) * sizeof *truth->logs * VCS_LOG_SIZE));
  run_kernel<<<vcs_truth_runs(truth), 2 * WARP, truth->machine_bytes>>>(*truth);
  TRY(cudaGetLastError());
  compare_kernel<<<vcs_truth_runs(truth), COMPARE_THREADS>>>(*truth);
  return error_of(cudaGetLastError());
}
