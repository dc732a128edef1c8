/* grad_bit.cu: the passes of `bit` over a frame, with one lane per environment. The code is that of grad/instruction.c
 * and the files it needs; slots, sixteen per byte, stay in global memory. */
#include <cuda_runtime.h>

#define VCS_DEVICE_ONLY
#define VCS_SMALL_CODE
#include "grad.h"
#include "launch.h"

#include "../grad/address.c"
#include "../grad/address_reverse.c"
#include "../grad/directional.c"
#include "../grad/chips.c"
#include "../grad/ends.h"
#include "../grad/instruction.c"
#include "../grad/instruction_forward.c"
#include "../grad/instruction_reverse.c"
#include "../grad/line.c"
#include "../grad/line_sums.c"

namespace {

__device__ void open(const vcs_device_batch_grad_view_t *view, int32_t env, vcs_sweep_t *s) {
  memset(s, 0, sizeof *s);
  s->cart = vcs_grad_cart(view, env);
  s->tape = &view->tapes[env];
  s->scale = view->scale;
  s->rule = view->rule;
  s->reverse = view->reverse;
  s->rom = view->inputs.rom != nullptr
               ? view->inputs.rom + static_cast<size_t>(view->first + env) * view->inputs.rom_stride
               : nullptr;
  s->state = view->slots + static_cast<size_t>(env) * view->slot_count;
  s->m = vcs_grad_machine(view, env, VCS_GRAD_CONTENTS);
  s->scratch = vcs_grad_machine(view, env, VCS_GRAD_SCRATCH);
  s->live = view->live + static_cast<size_t>(env) * view->machine_bytes;
  s->lit = view->lit + static_cast<size_t>(env) * VCS_ROWS_MAX;
  s->latched = view->latched + static_cast<size_t>(env) * view->event_capacity;
}

__global__ void __launch_bounds__(WARP) begin_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count) return;
  vcs_sweep_t sweep, *s = &sweep;
  open(&view, env, s);
  const size_t size = vcs_machine_size(s->cart);
  for (size_t i = 0; i < VCS_SLOTS * size; i++) s->state[i] = 0;
  memset(s->scratch, 0, size);
  float *outputs = vcs_grad_state_after(&view, env);
  const float *inputs = vcs_grad_state_before(&view, env);
  if (view.reverse && outputs != nullptr) {
    vcs_link_bits_of_state(s, size, vcs_grad_machine(&view, env, VCS_GRAD_NOW), outputs);
  } else if (!view.reverse && inputs != nullptr) {
    for (size_t i = 0; i < 8 * size; i++) vcs_slots(s, i / 8)[i % 8] = inputs[i];
  }
  vcs_mark_live(s, size);
}

__device__ void walk_forwards(vcs_sweep_t *s) {
  const vcs_tape_t *tape = s->tape;
  s->snapshot = s->event = 0;
  for (int32_t row = 0; row < tape->count; row++) vcs_sweep_row(s, row);
  vcs_sweep_span(s, &tape->events[tape->event_count - 1]);
}

__device__ void walk_backwards(vcs_sweep_t *s) {
  const vcs_tape_t *tape = s->tape;
  s->snapshot = tape->snapshot_count - 1;
  s->event = tape->event_count - 1;
  vcs_sweep_span(s, &tape->events[s->event]);
  for (int32_t row = tape->count - 1; row >= 0; row--) vcs_sweep_row(s, row);
}

__global__ void __launch_bounds__(WARP) walk_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count || view.failed[env]) return;
  vcs_sweep_t sweep, *s = &sweep;
  open(&view, env, s);
  s->pixels = vcs_grad_pixels(&view, env);
  const size_t size = vcs_machine_size(s->cart);
  const vcs_t *before = vcs_grad_start(&view, env, view.frame);
  if (view.reverse) {
    s->lit_from = VCS_LINE_CLOCKS * (s->tape->start->first_line + vcs_find_lit(s, s->pixels).first);
    vcs_copy_machine(s->m, vcs_grad_machine(&view, env, VCS_GRAD_NOW), size);
    walk_backwards(s);
    vcs_link_controls(s, before, vcs_grad_controls(&view, env), vcs_grad_input(&view, env));
  } else {
    vcs_link_controls(s, before, vcs_grad_controls(&view, env), vcs_grad_input(&view, env));
    vcs_copy_machine(s->m, s->tape->start, size);
    walk_forwards(s);
  }
}

__global__ void __launch_bounds__(WARP) end_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count) return;
  if (view.instructions != nullptr) view.instructions[view.first + env] = view.failed[env] ? -1 : view.walked[env];
  if (view.failed[env]) return;
  vcs_sweep_t sweep, *s = &sweep;
  open(&view, env, s);
  const size_t size = vcs_machine_size(s->cart);
  float *outputs = vcs_grad_state_after(&view, env);
  float *inputs = vcs_grad_state_before(&view, env);
  if (view.reverse && inputs != nullptr) {
    for (size_t i = 0; i < 8 * size; i++) inputs[i] += vcs_slots(s, i / 8)[i % 8];
  } else if (!view.reverse && outputs != nullptr) {
    vcs_link_bits_of_state(s, size, vcs_grad_machine(&view, env, VCS_GRAD_NOW), outputs);
  }
}

}  // namespace

const vcs_fault_t *vcs_grad_bit_begin(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  begin_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}

const vcs_fault_t *vcs_grad_bit_walk(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  walk_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}

const vcs_fault_t *vcs_grad_bit_end(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  end_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}
