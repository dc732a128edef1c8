/* engine.h: the interface of an engine, which executes a device batch: on the CPU (engine_cpu.c) or on a GPU
 * (engine.cu).
 *
 * device_batch.c handles games, files and errors; an engine handles memory and operations on many environments. The
 * table below is the interface between them. Functions return NULL, or a fault (fault.h).
 */
#ifndef VCS_CUDA_ENGINE_H
#define VCS_CUDA_ENGINE_H

#include "diffvcs/cuda.h"
#include "device_batch.h"
#include "fault.h"

typedef struct vcs_truth_view vcs_truth_view_t; /* truth.h */
struct vcs_device_batch_grad_view;

typedef struct {
  const vcs_fault_t *(*use)(int32_t gpu); /* selects a GPU by its number, or fails if there is none */
  void (*turn_to)(int32_t gpu);           /* makes a GPU that exists current in the calling thread */
  const vcs_fault_t *(*allocate)(size_t size, void **memory);
  void (*release)(void *memory);
  const vcs_fault_t *(*move)(void *to, const void *from, size_t size);
  const vcs_fault_t *(*deal)(const vcs_device_batch_view_t *batch,
                             const int32_t *kinds,   /* kinds and seeds of all environments, */
                             const uint32_t *seeds); /* in host memory */
  const vcs_fault_t *(*reset)(const vcs_device_batch_view_t *batch, const vcs_device_batch_resets_t *resets,
                              const vcs_batch_results_t *results, void *stream);
  const vcs_fault_t *(*step)(const vcs_device_batch_view_t *batch, const int32_t *actions,
                             const vcs_batch_results_t *results, void *stream);
  const vcs_fault_t *(*copy)(const vcs_device_batch_view_t *batch, const vcs_device_batch_copies_t *what, void *stream);
  const vcs_fault_t *(*begin_truth)(const vcs_truth_view_t *truth,
                                    const uint8_t *pictures); /* pictures by base, in host memory */
  const vcs_fault_t *(*truth)(const vcs_truth_view_t *truth); /* may be queued; so may `map`, by item */
  const vcs_fault_t *(*map)(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count);
  bool (*busy)(void); /* whether queued work is unfinished */
  const vcs_fault_t *(*glance)(void *to, const void *from,
                               size_t size); /* copies like `move` while the engine is busy */
  const vcs_fault_t *(*wait)(void *stream);
  const vcs_fault_t *(*grad)(const struct vcs_device_batch_grad_view *view,
                             void *stream); /* a JVP or VJP (grad.h); NULL on the CPU */
  const vcs_fault_t *(*objects)(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                void *stream); /* of the last frame of all environments */
} vcs_engine_t;

extern const vcs_engine_t vcs_engine_cpu;
const vcs_fault_t *vcs_engine_cpu_objects(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                          void *stream); /* engine_objects.c */

/* Finds the engine of a device, or returns an error that names what is missing (device.c). */
vcs_status_t vcs_engine_find(int32_t device, const vcs_engine_t **engine, vcs_error_t *error);

/* ---- The host's part of a device batch (device_batch.c, device_batch_api.c, device_batch_grad.c) ----------------- */

struct vcs_device_batch {
  vcs_device_batch_options_t options;
  const vcs_engine_t *engine;
  vcs_device_batch_view_t view;
  vcs_device_batch_kind_t *kinds; /* the host's copy, with device pointers */
  int32_t kind_count;
  int32_t *played;                              /* kind of each environment */
  const vcs_cart_t **carts;                     /* the caller's cartridges, by kind */
  struct vcs_device_batch_workspace *workspace; /* workspace of derivatives, or NULL */
};

/* Returns the engine of a device batch and makes its GPU current in the calling thread. */
static inline const vcs_engine_t *vcs_device_batch_engine(const vcs_device_batch_t *batch) {
  batch->engine->turn_to(batch->options.device - VCS_GPU);
  return batch->engine;
}

extern const vcs_fault_t vcs_fault_no_memory; /* of the host */

/* The status of a fault, VCS_OK for NULL, with its sentence in `error`. */
vcs_status_t vcs_device_status(const vcs_fault_t *fault, vcs_error_t *error);

/* Refuses results that a device does not support. */
vcs_status_t vcs_device_batch_check_results(const vcs_device_batch_t *batch, const vcs_batch_results_t *results,
                                            vcs_error_t *error);
void vcs_device_batch_free_workspace(vcs_device_batch_t *batch);

/* The name of the table in libdiffvcs_cuda. It changes whenever the table or its data structures change. */
#define VCS_CUDA_ENGINE vcs_cuda_engine_9
#define VCS_CUDA_ENGINE_NAME "vcs_cuda_engine_9"

#endif
