/* engine.h: what runs a device batch: this library's own processors (engine_cpu.c), or a GPU (engine.cu).
 *
 * device_batch.c knows games, files and errors; an engine knows memory and how to do the same to many envs. The table
 * below is all that is between them. Functions return NULL, or what went wrong (fault.h).
 */
#ifndef VCS_CUDA_ENGINE_H
#define VCS_CUDA_ENGINE_H

#include "diffvcs/cuda.h"
#include "device_batch.h"
#include "fault.h"

typedef struct vcs_truth_view vcs_truth_view_t; /* truth.h */
struct vcs_device_batch_grad_view;

typedef struct {
  const vcs_fault_t *(*use)(int32_t gpu); /* by its number; also that there is one */
  void (*turn_to)(int32_t gpu);           /* that is known to be there: the caller's thread works on it from now on */
  const vcs_fault_t *(*allocate)(size_t size, void **memory);
  void (*release)(void *memory);
  const vcs_fault_t *(*move)(void *to, const void *from, size_t size);
  const vcs_fault_t *(*deal)(const vcs_device_batch_view_t *batch,
                             const int32_t *kinds,   /* what envs play, and their generators: */
                             const uint32_t *seeds); /* in host memory */
  const vcs_fault_t *(*reset)(const vcs_device_batch_view_t *batch, const vcs_device_batch_resets_t *resets,
                              const vcs_batch_results_t *results, void *stream);
  const vcs_fault_t *(*step)(const vcs_device_batch_view_t *batch, const int32_t *actions,
                             const vcs_batch_results_t *results, void *stream);
  const vcs_fault_t *(*copy)(const vcs_device_batch_view_t *batch, const vcs_device_batch_copies_t *what, void *stream);
  const vcs_fault_t *(*begin_truth)(const vcs_truth_view_t *truth,
                                    const uint8_t *pictures); /* by base; in host memory */
  const vcs_fault_t *(*truth)(const vcs_truth_view_t *truth); /* may only be queued, and so may this, by item: */
  const vcs_fault_t *(*map)(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count);
  bool (*busy)(void);                                                    /* with truths */
  const vcs_fault_t *(*glance)(void *to, const void *from, size_t size); /* what `move` does, while it is busy */
  const vcs_fault_t *(*wait)(void *stream);
  const vcs_fault_t *(*grad)(const struct vcs_device_batch_grad_view *view,
                             void *stream); /* a product (grad.h); the CPU has none */
} vcs_engine_t;

extern const vcs_engine_t vcs_engine_cpu;

/* The engine of a device, or what is missing (device.c). */
vcs_status_t vcs_engine_find(int32_t device, const vcs_engine_t **engine, vcs_error_t *error);

/* ---- A device batch on the host's side (device_batch.c, device_batch_api.c, device_batch_grad.c)
 * ---------------------------------------------------------- */

struct vcs_device_batch {
  vcs_device_batch_options_t options;
  const vcs_engine_t *engine;
  vcs_device_batch_view_t view;
  vcs_device_batch_kind_t *kinds; /* the host's copy, with the device's pointers */
  int32_t kind_count;
  int32_t *played;                              /* the kind of each env */
  const vcs_cart_t **carts;                     /* by kind, as the caller has them */
  struct vcs_device_batch_workspace *workspace; /* of derivatives, or NULL */
};

/* The engine of a device batch, which works on the fleet's GPU, whatever the caller's thread did before. */
static inline const vcs_engine_t *vcs_device_batch_engine(const vcs_device_batch_t *batch) {
  batch->engine->turn_to(batch->options.device - VCS_GPU);
  return batch->engine;
}

extern const vcs_fault_t vcs_fault_no_memory; /* of the host */

/* The status of a fault, VCS_OK for NULL, with its sentence in `error`. */
vcs_status_t vcs_device_status(const vcs_fault_t *fault, vcs_error_t *error);

/* Refuses results that a device does not have. */
vcs_status_t vcs_device_batch_check_results(const vcs_batch_results_t *results, vcs_error_t *error);
void vcs_device_batch_free_workspace(vcs_device_batch_t *batch);

/* The name of the table in libdiffvcs_cuda; it changes whenever the table or what it speaks of does. */
#define VCS_CUDA_ENGINE vcs_cuda_engine_7
#define VCS_CUDA_ENGINE_NAME "vcs_cuda_engine_7"

#endif
