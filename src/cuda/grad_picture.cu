/* grad_picture.cu: the picture's part in `ste`: pixels and displayed registers, event by event.
 *
 * The derivative is that of grad/ste_line.c. In reverse mode the adjoints of an event's span and time are functions of
 * the tape and of the pixels' adjoints: one warp per environment, one lane per event. In forward mode neighbouring
 * events add to the same pixels, so one lane processes all events of an environment in order.
 */
#include <cuda_runtime.h>

#define VCS_DEVICE_ONLY
#define VCS_SLOTS 1 /* one number per register */
#include "grad.h"
#include "launch.h"

#include "../grad/ste.h"
#include "../grad/ste_line.c"

namespace {

enum { SUM_WARPS = 4 };

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* Computes the prefix sums of a row's adjoints, and whether it has any: one warp per row. */
__global__ void __launch_bounds__(SUM_WARPS *WARP)
    sum_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x, lane = threadIdx.x % WARP;
  const float *pixels = vcs_grad_pixels(&view, env);
  const int32_t height = vcs_grad_cart(&view, env)->height;
  uint8_t *lit = view.lit + static_cast<size_t>(env) * VCS_ROWS_MAX;
  for (int32_t y = height + threadIdx.x; y < VCS_ROWS_MAX; y += blockDim.x) lit[y] = 0;
  for (int32_t y = threadIdx.x / WARP; y < height; y += SUM_WARPS) {
    float *sums = view.sums + (static_cast<size_t>(env) * view.height + y) * (VCS_WIDTH + 1);
    float before = 0;
    bool any = false;
    for (int x = lane; x < VCS_WIDTH; x += WARP) {
      float sum = pixels[VCS_WIDTH * y + x];
      any |= sum != 0;
      for (int by = 1; by < WARP; by *= 2) {
        const float left = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += left;
      }
      sums[x + 1] = before + sum;
      before += __shfl_sync(~0u, sum, WARP - 1);
    }
    any = __any_sync(~0u, any);
    if (lane == 0) {
      sums[0] = 0;
      lit[y] = any;
    }
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* The part of a sweep that the picture needs: registers, and a machine to draw them. */
struct picture_t {
  vcs_sweep_t sweep;
  vcs_ste_t ste;
  float slots[VCS_OFFSET(first_copy_off)], time;
  uint64_t scratch[(offsetof(vcs_t, cart_ram) + 7) / 8];
};

__device__ void open(const vcs_device_batch_grad_view_t *view, int32_t env, picture_t *p) {
  vcs_sweep_t *s = &p->sweep;
  memset(s, 0, sizeof *s);
  memset(p->scratch, 0, sizeof p->scratch);
  s->cart = vcs_grad_cart(view, env);
  s->tape = &view->tapes[env];
  s->scale = view->scale;
  s->rule = view->rule;
  s->reverse = view->reverse;
  s->state = p->slots;
  s->scratch = reinterpret_cast<vcs_t *>(p->scratch);
  s->pixels = vcs_grad_pixels(view, env);
  s->lit = view->lit + static_cast<size_t>(env) * VCS_ROWS_MAX;
  s->sums = view->sums + static_cast<size_t>(env) * view->height * (VCS_WIDTH + 1);
  p->ste.s = s;
  p->ste.time = &p->time;
  p->ste.rules = vcs_ste_rules(view->method, view->alpha, view->temperature);
}

__device__ float *slot_of(picture_t *p, int i) {
#define SLOT_OF(field, count)                               \
  if (i < (count)) return &p->slots[VCS_OFFSET(field) + i]; \
  i -= (count);
  VCS_SHOWN_STRETCHES(SLOT_OF)
  return &p->time;
}

/* Whether an event has a visible span or time shift. */
__device__ bool may_show(const vcs_tape_t *tape, int32_t i) {
  if (!shows(tape->events[i].reg)) return false;
  return i + 1 == tape->event_count || tape->events[i + 1].to > tape->picture_from;
}

__global__ void __launch_bounds__(WARP) backwards_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  __shared__ int32_t queue[2 * WARP];
  const int32_t env = blockIdx.x;
  if (view.failed[env]) return;
  queue[threadIdx.x] = queue[WARP + threadIdx.x] = 0;
  __syncwarp();
  picture_t p;
  open(&view, env, &p);
  vcs_ste_line_begin(&p.ste);
  const vcs_tape_t *tape = p.sweep.tape;
  const int32_t count = tape->event_count;
  vcs_shown_slots_t *shown = view.shown + static_cast<size_t>(env) * view.event_capacity;
  for (int32_t from = 0, waiting = 0; from < count || waiting > 0;) {
    while (from < count && waiting < WARP) { /* collects visible events until every lane has one */
      const int32_t next = from + static_cast<int32_t>(threadIdx.x);
      const bool matters = next < count && may_show(tape, next);
      const unsigned lanes = __ballot_sync(~0u, matters);
      if (matters) queue[waiting + __popc(lanes & ((1u << threadIdx.x) - 1))] = next;
      if (next < count && !matters) shown[next].any = 0;
      waiting += __popc(lanes);
      from += WARP;
    }
    __syncwarp();
    const bool works = static_cast<int32_t>(threadIdx.x) < waiting;
    const int32_t i = works ? queue[threadIdx.x] : 0, later = queue[WARP + threadIdx.x];
    __syncwarp();
    queue[threadIdx.x] = later;
    waiting = waiting > WARP ? waiting - WARP : 0;
    __syncwarp();
    if (!works) continue;
    const vcs_event_t *event = &tape->events[i];
    for (int k = 0; k < VCS_SHOWN; k++) *slot_of(&p, k) = 0;
    vcs_ste_line_forget(&p.ste);
    if (i + 1 < count) vcs_ste_shift(&p.ste, event);
    vcs_ste_span(&p.ste, event);
    uint32_t any = 0;
    for (int k = 0; k < VCS_SHOWN; k++) {
      const float slot = *slot_of(&p, k);
      if (slot == 0) continue;
      shown[i].slot[k] = slot;
      any |= 1u << k;
    }
    shown[i].any = any;
  }
}

__global__ void __launch_bounds__(WARP) forwards_kernel(const __grid_constant__ vcs_device_batch_grad_view_t view) {
  const int32_t env = blockIdx.x * WARP + threadIdx.x;
  if (env >= view.count || view.failed[env]) return;
  picture_t p;
  open(&view, env, &p);
  const int32_t count = p.sweep.tape->event_count;
  const vcs_shown_slots_t *shown = view.shown + static_cast<size_t>(env) * view.event_capacity;
  vcs_ste_line_begin(&p.ste);
  for (size_t i = 0; i < VCS_OFFSET(first_copy_off); i++) p.slots[i] = 0;
  for (int32_t i = 0; i < count; i++) {
    const vcs_event_t *event = &p.sweep.tape->events[i];
    for (int k = 0; k < VCS_SHOWN; k++) *slot_of(&p, k) = shown[i].any >> k & 1 ? shown[i].slot[k] : 0;
    vcs_ste_span(&p.ste, event);
    if (i + 1 < count) vcs_ste_shift(&p.ste, event);
  }
}

}  // namespace

const vcs_fault_t *vcs_grad_picture(const vcs_device_batch_grad_view_t *view, cudaStream_t stream) {
  if (!view->reverse) {
    forwards_kernel<<<warps(view->count), WARP, 0, stream>>>(*view);
    return launched();
  }
  sum_kernel<<<view->count, SUM_WARPS * WARP, 0, stream>>>(*view);
  backwards_kernel<<<view->count, WARP, 0, stream>>>(*view);
  return launched();
}
