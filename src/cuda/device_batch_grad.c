/* device_batch_grad.c: the host's part of derivatives of batches and device batches: options and memory.
 *
 * On the CPU every environment is a call of vcs_grad_*. A GPU processes as many environments at once as its workspace
 * holds (grad.h), and the workspace is kept for the next call with the same options.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/engine.h"
#include "cuda/grad.h"
#include "host/batch.h"
#include "host/files.h"
#include "host/parallel.h"
#include "host/options.h"
#include "host/progress.h"

enum { ROWS = 8192, EVENTS = 2304, SNAPSHOTS = 128, AT_ONCE = 65536, STE_SLOTS = 8, BIT_SLOTS = 16 };

void vcs_batch_grad_defaults(vcs_batch_grad_options_t *options) {
  vcs_batch_grad_options_t defaults = {
      .frames = 1, .rows = ROWS, .events = EVENTS, .snapshots = SNAPSHOTS, .at_once = AT_ONCE};
  vcs_grad_defaults(&defaults.grad);
  defaults.grad.method = VCS_METHOD_STE;
  *options = defaults;
}

/* ---- Workspace --------------------------------------------------------------------------------------------------- */

/* A workspace: its arrays and the options that it was made for. */
struct vcs_device_batch_workspace {
  vcs_device_batch_grad_view_t view;
  int32_t envs, frames, slots;
  float *scale;    /* on the device */
  float held[256]; /* its contents; NaNs before the first product */
};

/* The arrays of a view: address of the pointer, and bytes per environment. */
enum { ARRAYS = 13 };
typedef struct {
  void **memory;
  size_t bytes;
} array_t;

static void list_arrays(vcs_device_batch_grad_view_t *view, array_t arrays[ARRAYS]) {
  const size_t events = (size_t)view->event_capacity, machine = view->machine_bytes;
  const array_t all[ARRAYS] = {
      {(void **)&view->starts, (size_t)view->frames * machine},
      {(void **)&view->machines, VCS_GRAD_MACHINES * machine},
      {(void **)&view->tapes, sizeof *view->tapes},
      {(void **)&view->rows, (size_t)view->row_capacity * sizeof *view->rows},
      {(void **)&view->events, events * sizeof *view->events},
      {(void **)&view->snapshots, (size_t)view->snapshot_capacity * sizeof *view->snapshots},
      {(void **)&view->slots, view->slot_count * sizeof *view->slots},
      {(void **)&view->live, machine},
      {(void **)&view->lit, VCS_ROWS_MAX},
      {(void **)&view->latched, events * sizeof *view->latched},
      {(void **)&view->sums, (size_t)view->height * (VCS_WIDTH + 1) * sizeof *view->sums},
      {(void **)&view->shown, events * sizeof *view->shown},
      {(void **)&view->walked, sizeof *view->walked + sizeof *view->failed},
  };
  memcpy(arrays, all, sizeof all);
}

/* Returns a view with all sizes and with NULL pointers. */
static vcs_device_batch_grad_view_t plan(const vcs_device_batch_t *batch, const vcs_batch_grad_options_t *options) {
  vcs_device_batch_grad_view_t view = {.batch = batch->view,
                                       .frames = options->frames,
                                       .machine_bytes = batch->view.machine_bytes,
                                       .row_capacity = options->rows,
                                       .event_capacity = options->events,
                                       .snapshot_capacity = options->snapshots,
                                       .height = 0};
  size_t machine = 0;
  for (int32_t i = 0; i < batch->kind_count; i++) {
    if (batch->carts[i]->height > view.height) view.height = batch->carts[i]->height;
    if (vcs_state_size(batch->carts[i]) > machine) machine = vcs_state_size(batch->carts[i]);
  }
  view.slot_count = (options->grad.method == VCS_METHOD_BIT ? BIT_SLOTS : STE_SLOTS) * machine;
  return view;
}

static size_t bytes_of(vcs_device_batch_grad_view_t *view) {
  array_t arrays[ARRAYS];
  size_t sum = 0;
  list_arrays(view, arrays);
  for (int i = 0; i < ARRAYS; i++) sum += arrays[i].bytes;
  return sum;
}

size_t vcs_device_batch_grad_bytes(const vcs_device_batch_t *batch, const vcs_batch_grad_options_t *options) {
  vcs_device_batch_grad_view_t view = plan(batch, options);
  return bytes_of(&view);
}

size_t vcs_batch_grad_bytes(const vcs_batch_t *batch, const vcs_batch_grad_options_t *options) {
  return batch->device_batch && batch->device_batch->engine->grad
             ? vcs_device_batch_grad_bytes(batch->device_batch, options)
             : 0;
}

void vcs_device_batch_free_workspace(vcs_device_batch_t *batch) {
  struct vcs_device_batch_workspace *w = batch->workspace;
  array_t arrays[ARRAYS];
  if (!w) return;
  list_arrays(&w->view, arrays);
  for (int i = 0; i < ARRAYS; i++) batch->engine->release(*arrays[i].memory);
  batch->engine->release(w->scale);
  free(w);
  batch->workspace = NULL;
}

/* Makes a workspace for these options, unless the existing one fits. */
static const vcs_fault_t *make_room(vcs_device_batch_t *batch, const vcs_batch_grad_options_t *options) {
  vcs_device_batch_grad_view_t wanted = plan(batch, options);
  int32_t envs = options->at_once < batch->view.count ? options->at_once : batch->view.count;
  envs = (envs + 31) / 32 * 32; /* slots are interleaved by warps */
  struct vcs_device_batch_workspace *w = batch->workspace;
  if (w && w->envs == envs && w->view.frames == wanted.frames && w->view.slot_count == wanted.slot_count &&
      w->view.row_capacity == wanted.row_capacity && w->view.event_capacity == wanted.event_capacity &&
      w->view.snapshot_capacity == wanted.snapshot_capacity) {
    return NULL;
  }
  const vcs_fault_t *fault = batch->engine->wait(NULL);
  vcs_device_batch_free_workspace(batch);
  w = calloc(1, sizeof *w);
  if (!w) return &vcs_fault_no_memory;
  batch->workspace = w;
  memset(w->held, 0xFF, sizeof w->held);
  w->view = wanted;
  w->envs = envs;
  array_t arrays[ARRAYS];
  list_arrays(&w->view, arrays);
  for (int i = 0; !fault && i < ARRAYS; i++) {
    fault = batch->engine->allocate((size_t)envs * arrays[i].bytes, arrays[i].memory);
  }
  if (!fault) fault = batch->engine->allocate(256 * sizeof *w->scale, (void **)&w->scale);
  w->view.failed = (uint8_t *)(w->view.walked + envs);
  if (fault) vcs_device_batch_free_workspace(batch);
  return fault;
}

/* ---- On the CPU -------------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_device_batch_t *device_batch; /* on a device, */
  const vcs_batch_t *batch;         /* or on the CPU */
  const vcs_controls_t *controls;
  const vcs_batch_grad_options_t *options;
  const vcs_batch_inputs_t *inputs;
  const vcs_batch_outputs_t *outputs;
  int64_t *instructions;
  bool reverse;
  vcs_grad_workspace_t **workspaces; /* on the CPU, one a thread */
} product_t;

static int32_t count_of(const product_t *p) {
  return p->device_batch ? p->device_batch->view.count : p->batch->options.envs;
}

/* Returns the run of an environment of either kind of batch: its current machine and its controls. */
static vcs_run_t run_of(const product_t *p, size_t item) {
  const int32_t frames = p->options->frames;
  const vcs_controls_t *controls = p->controls + item * (size_t)frames;
  if (!p->device_batch) {
    const vcs_env_t *env = &p->batch->places[item].env;
    return (vcs_run_t){env->cart, env->m, NULL, controls, frames};
  }
  const vcs_cart_t *cart = p->device_batch->carts[p->device_batch->played[item]];
  uint8_t *record = vcs_device_batch_record(&p->device_batch->view, (int32_t)item);
  return (vcs_run_t){cart, vcs_record_machine(&p->device_batch->view, record, VCS_DEVICE_ENV_NOW), NULL, controls,
                     frames};
}

static float *env_slots(float *first, size_t stride, size_t env) { return first ? first + env * stride : NULL; }

static bool differentiate(void *context, size_t env, int worker) {
  const product_t *p = context;
  const vcs_run_t run = run_of(p, env);
  const int32_t frames = run.frames;
  const vcs_grad_inputs_t inputs = {env_slots(p->inputs->state, p->inputs->state_stride, env),
                                    env_slots(p->inputs->rom, p->inputs->rom_stride, env),
                                    env_slots(p->inputs->input, p->inputs->input_stride, env)};
  float *pixels = env_slots(p->outputs->pixels, p->outputs->pixels_stride, env);
  float **pictures = calloc((size_t)frames, sizeof *pictures);
  vcs_grad_workspace_t **workspace = &p->workspaces[worker];
  if (!*workspace) *workspace = vcs_grad_workspace_create();
  if (!pictures) return false;
  for (int32_t f = 0; pixels && f < frames; f++) {
    if (p->options->last_picture && f + 1 < frames) continue;
    const size_t picture = p->options->last_picture ? 0 : (size_t)f;
    pictures[f] = pixels + picture * VCS_WIDTH * (size_t)run.cart->frame_height;
  }
  const vcs_grad_outputs_t outputs = {.pixels = pictures,
                                      .state = env_slots(p->outputs->state, p->outputs->state_stride, env)};
  vcs_grad_report_t report;
  vcs_status_t status = (p->reverse ? vcs_grad_vjp_in : vcs_grad_jvp_in)(*workspace, &run, &p->options->grad, &inputs,
                                                                         &outputs, &report, NULL);
  if (p->instructions) p->instructions[env] = status ? -1 : (int64_t)report.instructions;
  free(pictures);
  return !status;
}

/* Differentiates all environments on `threads` threads. */
static vcs_status_t differentiate_all(product_t *p, int threads, vcs_error_t *error) {
  const size_t count = (size_t)count_of(p);
  const int workers = vcs_thread_count(threads, count);
  p->workspaces = calloc((size_t)workers, sizeof *p->workspaces); /* NOLINT(bugprone-sizeof-expression): pointers */
  const bool done = p->workspaces && vcs_parallel(count, workers, differentiate, p) == count;
  for (int i = 0; p->workspaces && i < workers; i++) vcs_grad_workspace_free(p->workspaces[i]);
  free(p->workspaces);
  if (done) return VCS_OK;
  return vcs_interrupted() ? vcs_error_fill(error, VCS_CANCELLED, "interrupted")
                           : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

/* ---- On a device ------------------------------------------------------------------------------------------------- */

/* Copies a new scale to the device. It waits for queued products that still use the old one, and for the copy, because
 * the copy is not on the caller's stream. */
static const vcs_fault_t *put_scale(const product_t *p, void *stream) {
  struct vcs_device_batch_workspace *w = p->device_batch->workspace;
  const vcs_engine_t *engine = p->device_batch->engine;
  const float *given = p->options->grad.scale;
  float scale[256];
  bool is_held = true;
  for (int i = 0; i < 256; i++) {
    scale[i] = given ? given[i] : (float)i;
    is_held = is_held && w->held[i] == scale[i];
  }
  if (is_held) return NULL;
  const vcs_fault_t *fault = engine->wait(stream);
  if (!fault) fault = engine->move(w->scale, scale, sizeof scale);
  if (!fault) fault = engine->wait(NULL);
  if (!fault) memcpy(w->held, scale, sizeof scale);
  return fault;
}

static const vcs_fault_t *work_through(const product_t *p, void *stream) {
  const vcs_batch_grad_options_t *options = p->options;
  const vcs_grad_options_t *grad = &options->grad;
  const vcs_fault_t *fault = make_room(p->device_batch, options);
  if (!fault) fault = put_scale(p, stream);
  if (fault) return fault;
  const struct vcs_device_batch_workspace *w = p->device_batch->workspace;
  vcs_device_batch_grad_view_t view = w->view;
  view.batch = p->device_batch->view;
  view.controls = p->controls;
  view.reverse = p->reverse;
  view.last_picture_only = options->last_picture;
  view.method = grad->method;
  view.rule = p->reverse && grad->side == VCS_SIDE_TANGENT ? VCS_SIDE_MEAN : grad->side;
  view.alpha = grad->alpha;
  view.temperature = grad->temperature;
  view.scale = w->scale;
  view.inputs = *p->inputs;
  view.outputs = *p->outputs;
  view.instructions = p->instructions;
  for (; !fault && view.first < p->device_batch->view.count; view.first += w->envs) {
    const int32_t left = p->device_batch->view.count - view.first;
    view.count = left < w->envs ? left : w->envs;
    fault = p->device_batch->engine->grad(&view, stream);
  }
  return fault;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static vcs_status_t check(const product_t *p, vcs_error_t *error) {
  const vcs_batch_grad_options_t *o = p->options;
  if (error) error->message[0] = 0;
  if (!p->controls || !o || !p->inputs || !p->outputs)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "controls, options, inputs and outputs must be given");
  if (o->frames < 1 || o->rows < 1 || o->events < 2 || o->snapshots < 1 || o->at_once < 1)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "frames, rows, events, snapshots and at_once are counted from 1 on");
  if (o->grad.method < 0 || o->grad.method >= VCS_METHODS)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no method %d", (int)o->grad.method);
  if (o->grad.side < VCS_SIDE_MEAN || o->grad.side > VCS_SIDE_TANGENT)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no side %d", (int)o->grad.side);
  if (p->device_batch && (o->grad.method == VCS_METHOD_EXACT || o->grad.method == VCS_METHOD_HYBRID))
    return vcs_error_fill(
        error, VCS_BAD_ARGUMENT,
        "a device has no method exact and no hybrid: use vcs_truth, a batch on VCS_CPU, or vcs_grad_vjp");
  if (p->device_batch && o->grad.method == VCS_METHOD_BIT && o->grad.fork_window > 0)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a device has no forks: set fork_window to 0, or use a batch on VCS_CPU, or vcs_grad_jvp");
  vcs_status_t status = vcs_reserved_check(o->reserved, "vcs_batch_grad_options_t", error);
  return status ? status : VCS_RESERVED_CHECK(&o->grad, "vcs_grad_options_t", error);
}

static vcs_status_t product_on_device(product_t *p, void *stream, vcs_error_t *error) {
  vcs_status_t status = check(p, error);
  if (status) return status;
  if (vcs_device_batch_engine(p->device_batch)->grad) return vcs_device_status(work_through(p, stream), error);
  return differentiate_all(p, 0, error);
}

vcs_status_t vcs_device_batch_jvp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                  const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                  const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                  vcs_error_t *error) {
  product_t p = {batch, NULL, controls, options, inputs, outputs, instructions, false, NULL};
  return product_on_device(&p, stream, error);
}

vcs_status_t vcs_device_batch_vjp(vcs_device_batch_t *batch, const vcs_controls_t *controls,
                                  const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                  const vcs_batch_outputs_t *outputs, int64_t *instructions, void *stream,
                                  vcs_error_t *error) {
  product_t p = {batch, NULL, controls, options, inputs, outputs, instructions, true, NULL};
  return product_on_device(&p, stream, error);
}

static vcs_status_t product_of_batch(product_t *p, vcs_error_t *error) {
  const vcs_batch_t *batch = p->batch;
  if (error) error->message[0] = 0;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (status) return status;
  if (!batch->started) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch has derivatives after its first reset");
  if (batch->sent > 0)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the results of the last send were not received yet");
  if (p->device_batch) return product_on_device(p, batch->stream, error);
  status = check(p, error);
  return status ? status : differentiate_all(p, batch->options.threads, error);
}

vcs_status_t vcs_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls, const vcs_batch_grad_options_t *options,
                           const vcs_batch_inputs_t *inputs, const vcs_batch_outputs_t *outputs, int64_t *instructions,
                           vcs_error_t *error) {
  product_t p = {batch->device_batch, batch, controls, options, inputs, outputs, instructions, false, NULL};
  return product_of_batch(&p, error);
}

vcs_status_t vcs_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls, const vcs_batch_grad_options_t *options,
                           const vcs_batch_inputs_t *inputs, const vcs_batch_outputs_t *outputs, int64_t *instructions,
                           vcs_error_t *error) {
  product_t p = {batch->device_batch, batch, controls, options, inputs, outputs, instructions, true, NULL};
  return product_of_batch(&p, error);
}
