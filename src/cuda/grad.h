/* grad.h: derivatives of many runs at once: what the kernels of a GPU work on, and in which order.
 *
 * A env's run is its machine and the controls of some frames. Everything a walk needs lies in device memory, one
 * stretch for each env: the machine at every frame's start, one tape, the slots. A product is a sequence of launches,
 * the same for every number of envs:
 *
 *   VJP   forward     the frames, not recorded; the machine before each is kept            a lane a env
 *         record      one frame, from the last to the first, on tape                       a lane a env
 *         sum         the picture's adjoints added up along its rows                       a warp a row
 *         picture     what each event's span and its time gain by them                     a lane an event
 *         walk        the instructions backwards; events add what the picture has found    a lane a env
 *   JVP   record, walk, picture, frame by frame
 *
 * Backwards, what a span of the picture adds to the registers that were shown depends on the tape and on the pixels'
 * adjoints alone, not on any other adjoint: so all events of all envs are worked on at the same time, and the walk,
 * where one thing comes after the other, has the instructions only. Forwards it is the transpose: the walk leaves the
 * tangents of what was shown at each event, and the picture is made of them afterwards. `bit` has no such split: its
 * walk does it all.
 *
 * No sum depends on an order that may change from run to run.
 */
#ifndef VCS_CUDA_GRAD_H
#define VCS_CUDA_GRAD_H

#include "../grad/tape.h"
#include "diffvcs/cuda.h"
#include "device_batch.h"
#include "fault.h"

/* The registers that a picture is a function of in `ste`: four stretches of the state. Beside them, time. */
#define VCS_SHOWN_STRETCHES(X) X(colu, 4) X(pf, 7) X(enam, 4) X(pos, 5)
#define VCS_SHOWN_COUNT(field, count) +(count)
enum { VCS_SHOWN_TIME = 0 VCS_SHOWN_STRETCHES(VCS_SHOWN_COUNT), VCS_SHOWN };

/* Their slots at an event: adjoints from its span and its shift, or tangents before it. `any` is a set of those that
 * are not zero; the others are not written. */
typedef struct {
  uint32_t any;
  float slot[VCS_SHOWN];
} vcs_shown_slots_t;

typedef struct vcs_device_batch_grad_view {
  vcs_device_batch_view_t batch;
  int32_t first, count; /* envs that are worked on: these, of all */
  int32_t frames, frame;
  const vcs_controls_t *controls; /* by env and frame, of all envs */
  bool reverse, last_picture_only;
  vcs_method_t method;
  vcs_side_rule_t rule;
  float alpha, temperature;
  const float *scale; /* [256] */
  vcs_batch_inputs_t inputs;
  vcs_batch_outputs_t outputs;
  int64_t *instructions; /* by env, of all; -1: its tape was full; or NULL */

  /* By env, of those that are worked on. */
  size_t machine_bytes; /* a multiple of 16 */
  int32_t row_capacity, event_capacity, snapshot_capacity, height;
  uint8_t *starts;   /* frames machines */
  uint8_t *machines; /* VCS_GRAD_MACHINES of them */
  vcs_tape_t *tapes;
  vcs_row_t *rows;
  vcs_event_t *events;
  vcs_snapshot_t *snapshots;
  float *slots; /* of all bytes of a machine */
  size_t slot_count;
  uint8_t *live;
  uint8_t *lit; /* VCS_ROWS_MAX */
  uint16_t *latched;
  float *sums;              /* height * (VCS_WIDTH + 1) */
  vcs_shown_slots_t *shown; /* by event */
  uint8_t *failed;
  int64_t *walked;
} vcs_device_batch_grad_view_t;

/* The machines a walk needs beside the starts. */
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

/* The picture of the view's frame in the caller's buffer, or NULL. */
VCS_FN float *vcs_grad_pixels(const vcs_device_batch_grad_view_t *view, int32_t env) {
  if (!view->outputs.pixels || (view->last_picture_only && view->frame + 1 < view->frames)) return NULL;
  const size_t picture = view->last_picture_only ? 0 : (size_t)view->frame;
  return view->outputs.pixels + (size_t)(view->first + env) * view->outputs.pixels_stride +
         picture * VCS_WIDTH * (size_t)vcs_grad_cart(view, env)->height;
}

/* The caller's slots of a env's state before the run and after it, or NULL. */
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

/* The launches. Each returns NULL, or a sentence about what went wrong. `stream` is a cudaStream_t. */
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
