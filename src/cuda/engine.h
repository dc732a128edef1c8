/* engine.h: what runs a fleet: this library's own processors (engine_cpu.c), or a GPU (engine.cu).
 *
 * fleet.c knows games, files and errors; an engine knows memory and how to do the same to many seats. The table below
 * is all that is between them. Every function returns NULL, or a sentence about what went wrong.
 */
#ifndef VCS_CUDA_ENGINE_H
#define VCS_CUDA_ENGINE_H

#include "diffvcs/cuda.h"
#include "fleet.h"

typedef struct vcs_truth_view vcs_truth_view_t; /* truth.h */
struct vcs_fleet_grad_view;

typedef struct {
  const char *(*use)(int32_t device);
  const char *(*allocate)(size_t size, void **memory);
  void (*release)(void *memory);
  const char *(*move)(void *to, const void *from, size_t size);
  const char *(*deal)(const vcs_fleet_view_t *fleet, const int32_t *kinds); /* what seats play; in host memory */
  const char *(*reset)(const vcs_fleet_view_t *fleet, uint64_t seed, const vcs_batch_results_t *results, void *stream);
  const char *(*step)(const vcs_fleet_view_t *fleet, const int32_t *actions, const vcs_batch_results_t *results,
                      void *stream);
  const char *(*copy)(const vcs_fleet_view_t *fleet, const int32_t *ids, int32_t count, uint8_t *states, bool restores,
                      void *stream);
  const char *(*begin_truth)(const vcs_truth_view_t *truth, const uint8_t *pictures); /* by base; in host memory */
  const char *(*truth)(const vcs_truth_view_t *truth); /* may only be queued, and so may this, by item: */
  const char *(*map)(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count);
  bool (*busy)(void);                                             /* with truths */
  const char *(*glance)(void *to, const void *from, size_t size); /* what `move` does, while it is busy */
  const char *(*wait)(void *stream);
  const char *(*grad)(const struct vcs_fleet_grad_view *view, void *stream); /* a product (grad.h); the CPU has none */
} vcs_engine_t;

extern const vcs_engine_t vcs_engine_cpu;

/* ---- A fleet on the host's side (fleet.c, fleet_grad.c) ---------------------------------------------------------- */

struct vcs_fleet {
  vcs_fleet_options_t options;
  const vcs_engine_t *engine;
  vcs_fleet_view_t view;
  vcs_fleet_kind_t *kinds; /* the host's copy, with the device's pointers */
  int32_t kind_count;
  const vcs_cart_t **carts;              /* by kind, as the caller has them */
  struct vcs_fleet_workspace *workspace; /* of derivatives, or NULL */
};

/* What an engine says, as an error. */
vcs_status_t vcs_fleet_told(const char *why, vcs_error_t *error);
void vcs_fleet_free_workspace(vcs_fleet_t *fleet);

/* The name of the table in libdiffvcs_cuda; it changes whenever the table or what it speaks of does. */
#define VCS_CUDA_ENGINE vcs_cuda_engine_5
#define VCS_CUDA_ENGINE_NAME "vcs_cuda_engine_5"

#endif
