/* grad.h: derivatives of many runs at once on a GPU: the arrays of the kernels, and the order of their launches.
 *
 * An environment's run is its machine and the controls of some frames. All data is in device memory, one part per
 * environment: the machine at every frame's start, one tape, the slots. A product is a sequence of launches:
 *
 *   VJP   forward     run all frames without recording and keep the machine before each     lane per environment
 *         record      record one frame, from the last to the first                          lane per environment
 *         sum         add up the picture's adjoints along its rows                          warp per row
 *         picture     compute the adjoints of each event's span and of its time             lane per event
 *         walk        reverse pass over the instructions, which adds those adjoints         lane per environment
 *   JVP   record, walk, picture for each frame
 *
 * In reverse mode the adjoints that a span of the picture contributes to the displayed registers depend only on the
 * tape and on the pixels' adjoints. So all events of all environments are processed in parallel, and the sequential
 * pass has only the instructions. Forward mode is the transpose: the pass stores the tangents of the displayed
 * registers at each event, and the picture is computed from them afterwards. `bit` is not split: its pass includes the
 * picture.
 *
 * No sum depends on an order that may change from call to call.
 */
#ifndef VCS_CUDA_GRAD_H
#define VCS_CUDA_GRAD_H

#include "../grad/tape.h"
#include "diffvcs/cuda.h"
#include "device_batch.h"
#include "fault.h"

/* The registers on which a picture depends in `ste`: four ranges of the state, and time. */
#define VCS_SHOWN_STRETCHES(X) X(colu, 4) X(pf, 7) X(enam, 4) X(pos, 5)
#define VCS_SHOWN_COUNT(field, count) +(count)
enum { VCS_SHOWN_TIME = 0 VCS_SHOWN_STRETCHES(VCS_SHOWN_COUNT), VCS_SHOWN };

/* Slots of these registers at an event: adjoints of its span and its time, or tangents before it. `any` is the set of
 * nonzero slots; only those are written. */
typedef struct {
  uint32_t any;
  float slot[VCS_SHOWN];
} vcs_shown_slots_t;

typedef struct vcs_device_batch_grad_view {
  vcs_device_batch_view_t batch;
  int32_t first, count; /* range of environments in progress */
  int32_t frames, frame;
  const vcs_controls_t *controls; /* by environment and frame, of all environments */
  bool reverse, last_picture_only;
  vcs_method_t method;
  vcs_side_rule_t rule;
  float alpha, temperature;
  const float *scale; /* [256] */
  vcs_batch_inputs_t inputs;
  vcs_batch_outputs_t outputs;
  int64_t *instructions; /* of all environments: number of instructions, or -1 if a tape was full; or NULL */

  /* Arrays by environment in progress. */
  size_t machine_bytes; /* a multiple of 16 */
  int32_t row_capacity, event_capacity, snapshot_capacity, height;
  uint8_t *starts;   /* `frames` machines each */
  uint8_t *machines; /* VCS_GRAD_MACHINES each */
  vcs_tape_t *tapes;
  vcs_row_t *rows;
  vcs_event_t *events;
  vcs_snapshot_t *snapshots;
  float *slots; /* slots of all bytes of a machine */
  size_t slot_count;
  uint8_t *live;
  uint8_t *lit; /* VCS_ROWS_MAX */
  uint16_t *latched;
  float *sums;              /* height * (VCS_WIDTH + 1) */
  vcs_shown_slots_t *shown; /* by event */
  uint8_t *failed;
  int64_t *walked;
} vcs_device_batch_grad_view_t;

/* The machines of a pass in addition to the starts. */
enum { VCS_GRAD_NOW, VCS_GRAD_TAPE_START, VCS_GRAD_TAPE_COPY, VCS_GRAD_CONTENTS, VCS_GRAD_SCRATCH, VCS_GRAD_MACHINES };

VCS_FN vcs_t *vcs_grad_machine(const vcs_device_batch_grad_view_t *view, int32_t env, int which) {
  return (vcs_t *)(void *)(view->machines + ((size_t)env * VCS_GRAD_MACHINES + (size_t)which) * view->machine_bytes);
}

VCS_FN vcs_t *vcs_grad_start(const vcs_device_batch_grad_view_t *view, int32_t env, int32_t frame) {
  return (vcs_t *)(void *)(view->starts + ((size_t)env * (size_t)view->frames + (size_t)frame) * view->machine_bytes);
}

VCS_FN const vcs_cart_t *vcs_grad_cart(const vcs_device_batch_grad_view_t *view, int32_t env) {
  const uint8_t *record = vcs_device_batch_record(&view->batch, view->first + env);
  return &view->batch.kinds[((const vcs_device_env_t *)(const void *)record)->kind].cart;
}

VCS_FN const vcs_controls_t *vcs_grad_controls(const vcs_device_batch_grad_view_t *view, int32_t env) {
  return view->controls + (size_t)(view->first + env) * (size_t)view->frames + (size_t)view->frame;
}

/* Returns the picture of the view's frame in the caller's buffer, or NULL. */
VCS_FN float *vcs_grad_pixels(const vcs_device_batch_grad_view_t *view, int32_t env) {
  if (!view->outputs.pixels || (view->last_picture_only && view->frame + 1 < view->frames)) return NULL;
  const size_t picture = view->last_picture_only ? 0 : (size_t)view->frame;
  return view->outputs.pixels + (size_t)(view->first + env) * view->outputs.pixels_stride +
         picture * VCS_WIDTH * (size_t)vcs_grad_cart(view, env)->frame_height;
}

/* Return the caller's slots of an environment's state before and after the run, or NULL. */
VCS_FN float *vcs_grad_state_before(const vcs_device_batch_grad_view_t *view, int32_t env) {
  const vcs_batch_inputs_t *inputs = &view->inputs;
  return inputs->state ? inputs->state + (size_t)(view->first + env) * inputs->state_stride : NULL;
}

VCS_FN float *vcs_grad_state_after(const vcs_device_batch_grad_view_t *view, int32_t env) {
  const vcs_batch_outputs_t *outputs = &view->outputs;
  return outputs->state ? outputs->state + (size_t)(view->first + env) * outputs->state_stride : NULL;
}

VCS_FN float *vcs_grad_input(const vcs_device_batch_grad_view_t *view, int32_t env) {
  if (!view->inputs.input) return NULL;
  return view->inputs.input + (size_t)(view->first + env) * view->inputs.input_stride +
         (size_t)VCS_INPUTS * (size_t)view->frame;
}

/* The launches. Each returns NULL or a fault. */
#if defined(__CUDACC__)
const vcs_fault_t *vcs_grad_forward(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_record(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_ste_begin(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_ste_walk(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_ste_end(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_picture(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_bit_begin(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_bit_walk(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
const vcs_fault_t *vcs_grad_bit_end(const vcs_device_batch_grad_view_t *view, cudaStream_t stream);
#endif

#endif
