/* grad_record.cu: runs or records the frames of runs, with one lane per environment. */
#include <cuda_runtime.h>

#define VCS_DEVICE_ONLY
#define VCS_LANES_RECORD
#include "grad.h"
#include "launch.h"
#include "record.h"

#include "../grad/tape.c"

namespace {

enum { WARPS_PER_SM = 8, LOCAL_RAM = 256 };

struct machine_t {
  uint64_t words[(offsetof(vcs_t, cart_ram) + LOCAL_RAM + 7) / 8];
};

/* Local memory of a running machine; machines with much RAM run in global memory. */
__device__ vcs_t *place_of(const vcs_cart_t *cart, vcs_t *there, machine_t *here) {
  return cart->ram_size > LOCAL_RAM ? there : reinterpret_cast<vcs_t *>(here->words);
}

/* Runs all frames and keeps the machine before each; runs the last one only if the state after it is needed. */
__global__ void __launch_bounds__(WARP, WARPS_PER_SM)
    forward_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  const unsigned lanes = __ballot_sync(~0u, env < view.count);
  if (env >= view.count) return;
  const vcs_cart_t *cart = vcs_grad_cart(&view, env);
  const size_t size = vcs_machine_size(cart);
  vcs_t *there = vcs_grad_machine(&view, env, VCS_GRAD_NOW);
  machine_t here;
  vcs_t *m = place_of(cart, there, &here);
  uint8_t *record = vcs_device_batch_record(&view.batch, view.first + env);
  vcs_copy_machine(m, vcs_record_machine(&view.batch, record, VCS_DEVICE_ENV_NOW), size);
  view.failed[env] = 0;
  view.walked[env] = 0;
  const vcs_controls_t *controls = view.controls + static_cast<size_t>(view.first + env) * view.frames;
  vcs_video_t video;
  const int32_t frames = !view.reverse ? 0 : view.outputs.state != nullptr ? view.frames : view.frames - 1;
  for (int32_t f = 0; f < frames; f++) {
    vcs_copy_machine(vcs_grad_start(&view, env, f), m, size);
    vcs_console_control(cart, m, &controls[f]);
    vcs_frame_together(cart, m, &video, nullptr, true, lanes);
  }
  if (view.reverse && frames < view.frames) vcs_copy_machine(vcs_grad_start(&view, env, frames), m, size);
  if (m != there) vcs_copy_machine(there, m, size);
}

/* Records one frame: in reverse mode from the kept machine, in forward mode from the end of the previous frame. */
__global__ void __launch_bounds__(WARP, WARPS_PER_SM)
    record_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  const unsigned lanes = __ballot_sync(~0u, env < view.count);
  if (env >= view.count) return;
  const vcs_cart_t *cart = vcs_grad_cart(&view, env);
  const size_t size = vcs_machine_size(cart);
  vcs_t *there = vcs_grad_machine(&view, env, VCS_GRAD_NOW);
  machine_t here;
  vcs_t *m = place_of(cart, there, &here);
  const vcs_t *from = view.reverse ? vcs_grad_start(&view, env, view.frame) : there;
  if (m != from) vcs_copy_machine(m, from, size);
  if (!view.reverse) vcs_copy_machine(vcs_grad_start(&view, env, view.frame), m, size);
  vcs_console_control(cart, m, vcs_grad_controls(&view, env));
  vcs_tape_t head, *tape = &head; /* in local memory, like the machine */
  tape->rows = view.rows + static_cast<size_t>(env) * view.row_capacity;
  tape->events = view.events + static_cast<size_t>(env) * view.event_capacity;
  tape->snapshots = view.snapshots + static_cast<size_t>(env) * view.snapshot_capacity;
  tape->start = vcs_grad_machine(&view, env, VCS_GRAD_TAPE_START);
  tape->copy = vcs_grad_machine(&view, env, VCS_GRAD_TAPE_COPY);
  tape->capacity = view.row_capacity;
  tape->event_capacity = view.event_capacity;
  tape->snapshot_capacity = view.snapshot_capacity;
  tape->forks = false;
  tape->brief = true;
  vcs_record_together(tape, cart, m, true, lanes);
  if (m != there) vcs_copy_machine(there, m, size);
  if (tape->full) view.failed[env] = 1;
  view.tapes[env] = head;
  view.walked[env] += tape->count;
}

}  // namespace

const vcs_fault_t *vcs_grad_forward(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  forward_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}

const vcs_fault_t *vcs_grad_record(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  record_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}
