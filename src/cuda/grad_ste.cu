/* grad_ste.cu: the passes of `ste` over the instructions of a frame, with one lane per environment.
 *
 * The code is that of grad/ste.c. grad_picture.cu computes the picture's part before a reverse pass or after a forward
 * pass; this file exchanges its data with the pass. A machine's slots are in the thread's local memory during the pass,
 * which the hardware interleaves, so lanes at the same slot of their own machines access one cache line; between
 * launches they have the same order in global memory. A byte has eight slots here, because `ste` has no carries.
 */
#include <cuda_runtime.h>

#define VCS_DEVICE_ONLY
#define VCS_SLOTS 8
#include "grad.h"
#include "launch.h"

#include "../grad/ends.h"
#include "../grad/ste.c"
#include "../grad/ste_chips.c"

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* The functions of ste.h for the picture. Their context is the sweep and the slots at the events. */
struct shown_walk_t {
  vcs_sweep_t sweep; /* first member: the pass has a pointer to it */
  vcs_shown_slots_t *shown;
};

__device__ static vcs_shown_slots_t *shown_at(const vcs_ste_t *ste, const vcs_event_t *event) {
  return reinterpret_cast<const shown_walk_t *>(ste->s)->shown + (event - ste->s->tape->events);
}

__device__ static size_t shown_offset(int i) {
#define SHOWN_OFFSET(field, count)               \
  if (i < (count)) return VCS_OFFSET(field) + i; \
  i -= (count);
  VCS_SHOWN_STRETCHES(SHOWN_OFFSET)
  return VCS_OFFSET(cycles);
}

VCS_EXTERN void vcs_ste_line_begin(vcs_ste_t *ste) { (void)ste; }

/* Reverse mode adds the picture's adjoints of an event; forward mode stores the tangents for the picture. */
VCS_EXTERN void vcs_ste_span(vcs_ste_t *ste, const vcs_event_t *event) {
  const vcs_sweep_t *s = ste->s;
  if (s->pixels == nullptr) return;
  vcs_shown_slots_t *shown = shown_at(ste, event);
  if (s->reverse) {
    for (uint32_t any = shown->any; any; any &= any - 1) {
      const int i = VCS_LOWEST(any);
      *vcs_slots(s, shown_offset(i)) += shown->slot[i];
    }
    return;
  }
  uint32_t any = 0;
  for (int i = 0; i < VCS_SHOWN; i++) {
    const float slot = *vcs_slots(s, shown_offset(i));
    if (slot == 0) continue;
    shown->slot[i] = slot;
    any |= 1u << i;
  }
  shown->any = any;
}

VCS_EXTERN void vcs_ste_shift(vcs_ste_t *ste, const vcs_event_t *event) {
  (void)ste;
  (void)event;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

namespace {

enum { WARPS_PER_SM = 8, LOCAL_SLOTS = VCS_SLOTS * offsetof(vcs_t, cart_ram) };

/* An environment's slots: in local memory, or in global memory with cartridge RAM. */
struct slots_t {
  float here[LOCAL_SLOTS];
};

/* Returns the address of slot i, which is interleaved with those of the warp's other lanes. */
__device__ float *interleaved(const vcs_device_batch_grad_view_t *view, int32_t env) {
  return view->slots + (env / WARP) * (WARP * view->slot_count) + env % WARP;
}

/* Whether no cartridge of the batch has RAM. */
__device__ bool fits(const vcs_device_batch_grad_view_t *view) { return view->slot_count <= LOCAL_SLOTS; }

__device__ void enter(const vcs_device_batch_grad_view_t *view, int32_t env, slots_t *slots, vcs_sweep_t *s) {
  if (!fits(view)) {
    s->state = view->slots + static_cast<size_t>(env) * view->slot_count;
    return;
  }
  const float *there = interleaved(view, env);
  for (int i = 0; i < LOCAL_SLOTS; i++) slots->here[i] = there[i * WARP];
  s->state = slots->here;
}

__device__ void leave(const vcs_device_batch_grad_view_t *view, int32_t env, const slots_t *slots) {
  if (!fits(view)) return;
  float *there = interleaved(view, env);
  for (int i = 0; i < LOCAL_SLOTS; i++) there[i * WARP] = slots->here[i];
}

/* Prepares a sweep without its slots. */
__device__ void open(const vcs_device_batch_grad_view_t *view, const vcs_cart_t *cart, int32_t env,
                     shown_walk_t *walk) {
  vcs_sweep_t *s = &walk->sweep;
  memset(walk, 0, sizeof *walk);
  s->cart = cart;
  s->tape = &view->tapes[env];
  s->scale = view->scale;
  s->rule = view->rule;
  s->reverse = view->reverse;
  s->rom = view->inputs.rom != nullptr
               ? view->inputs.rom + static_cast<size_t>(view->first + env) * view->inputs.rom_stride
               : nullptr;
  s->m = vcs_grad_machine(view, env, VCS_GRAD_CONTENTS);
  s->scratch = vcs_grad_machine(view, env, VCS_GRAD_SCRATCH);
  s->live = view->live + static_cast<size_t>(env) * view->machine_bytes;
  walk->shown = view->shown + static_cast<size_t>(env) * view->event_capacity;
}

/* Initializes the slots before the first frame of the pass with the caller's tangents or adjoints. */
__global__ void __launch_bounds__(WARP) begin_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count) return;
  const vcs_cart_t *cart = vcs_grad_cart(&view, env);
  const size_t size = vcs_machine_size(cart);
  shown_walk_t walk;
  slots_t slots;
  open(&view, cart, env, &walk);
  vcs_sweep_t *s = &walk.sweep;
  s->state = fits(&view) ? slots.here : view.slots + static_cast<size_t>(env) * view.slot_count;
  for (size_t i = 0; i < VCS_SLOTS * size; i++) s->state[i] = 0;
  float *outputs = vcs_grad_state_after(&view, env);
  const float *inputs = vcs_grad_state_before(&view, env);
  if (view.reverse && outputs != nullptr) {
    vcs_link_bits_of_state(s, size, vcs_grad_machine(&view, env, VCS_GRAD_NOW), outputs);
    vcs_ste_fold(s, size);
  } else if (!view.reverse && inputs != nullptr) {
    for (size_t i = 0; i < 8 * size; i++) s->state[i] = inputs[i];
    vcs_ste_fold(s, size);
  }
  leave(&view, env, &slots);
}

/* In forward mode the tangents of the controls are added before the frame. */
__global__ void __launch_bounds__(WARP, WARPS_PER_SM)
    walk_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count || view.failed[env]) return;
  const vcs_cart_t *cart = vcs_grad_cart(&view, env);
  shown_walk_t walk;
  slots_t slots;
  open(&view, cart, env, &walk);
  vcs_sweep_t *s = &walk.sweep;
  enter(&view, env, &slots, s);
  s->pixels = vcs_grad_pixels(&view, env);
  vcs_grad_options_t options;
  options.method = view.method;
  options.alpha = view.alpha;
  options.temperature = view.temperature;
  const vcs_t *before = vcs_grad_start(&view, env, view.frame);
  if (!view.reverse) vcs_link_controls(s, before, vcs_grad_controls(&view, env), vcs_grad_input(&view, env));
  if (view.temperature > 0) { /* softened reads need the contents of memory */
    const vcs_t *contents = view.reverse ? vcs_grad_machine(&view, env, VCS_GRAD_NOW) : s->tape->start;
    vcs_copy_machine(s->m, contents, vcs_machine_size(cart));
  }
  vcs_ste_frame(s, &options);
  if (view.reverse) vcs_link_controls(s, before, vcs_grad_controls(&view, env), vcs_grad_input(&view, env));
  leave(&view, env, &slots);
}

/* Adds the slots after the last frame of the pass to the caller's. */
__global__ void __launch_bounds__(WARP) end_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count) return;
  if (view.instructions != nullptr) view.instructions[view.first + env] = view.failed[env] ? -1 : view.walked[env];
  if (view.failed[env]) return;
  const vcs_cart_t *cart = vcs_grad_cart(&view, env);
  const size_t size = vcs_machine_size(cart);
  shown_walk_t walk;
  slots_t slots;
  open(&view, cart, env, &walk);
  vcs_sweep_t *s = &walk.sweep;
  enter(&view, env, &slots, s);
  vcs_ste_unfold(s, size);
  float *outputs = vcs_grad_state_after(&view, env);
  float *inputs = vcs_grad_state_before(&view, env);
  if (view.reverse && inputs != nullptr) {
    for (size_t i = 0; i < 8 * size; i++) inputs[i] += s->state[i];
  } else if (!view.reverse && outputs != nullptr) {
    vcs_link_bits_of_state(s, size, vcs_grad_machine(&view, env, VCS_GRAD_NOW), outputs);
  }
}

}  // namespace

const vcs_fault_t *vcs_grad_ste_begin(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  begin_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}

const vcs_fault_t *vcs_grad_ste_walk(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  walk_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}

const vcs_fault_t *vcs_grad_ste_end(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  end_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
  return launched();
}
