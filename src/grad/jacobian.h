/* jacobian.h: products of the exact Jacobian for callers inside the library, whose outputs need not lie behind each
 * other (jacobian.c). */
#ifndef VCS_GRAD_JACOBIAN_H
#define VCS_GRAD_JACOBIAN_H

#include "grad/watch.h"

/* Outputs of a product, by horizon. NULL, and NULL arrays: not wanted. */
typedef struct {
  int32_t horizons;
  float *const *pixels; /* height x 160 x channels each */
  float *const *ram;    /* 1024 bits each */
  float *const *state;  /* 8 * vcs_state_size each */
  float *score, *lives; /* a number each */
} vcs_jacobian_rows_t;

/* As vcs_jacobian_jvp and vcs_jacobian_vjp. `work` (or NULL): what was done is added. */
vcs_status_t vcs_jacobian_rows_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                   const vcs_place_t *places, size_t count, const float *tangents,
                                   const vcs_jacobian_rows_t *rows, vcs_work_t *work, vcs_error_t *error);
vcs_status_t vcs_jacobian_rows_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                   const vcs_place_t *places, size_t count, const vcs_jacobian_rows_t *rows,
                                   float *adjoints, vcs_work_t *work, vcs_error_t *error);

/* The slots of a run's inputs as one list: those of the state, the image and the controls that are given. */
typedef struct {
  const vcs_grad_inputs_t *inputs;
  size_t state, rom, input, count; /* of each kind, and of all */
} vcs_slot_list_t;
vcs_slot_list_t vcs_slot_list(const vcs_run_t *run, const vcs_grad_inputs_t *inputs);
vcs_place_t vcs_slot_place(const vcs_slot_list_t *list, size_t slot);
float *vcs_slot(const vcs_slot_list_t *list, size_t slot);

/* Exact products over some places, with the outputs of vcs_grad_jvp and vcs_grad_vjp: tangents[place] is what the
 * outputs are multiplied by, and adjoints[place] is added to (exact.c). */
vcs_status_t vcs_exact_jvp_of(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                              const float *tangents, size_t count, const vcs_grad_outputs_t *outputs, vcs_work_t *work,
                              vcs_error_t *error);
vcs_status_t vcs_exact_vjp_of(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                              float *adjoints, size_t count, const vcs_grad_outputs_t *outputs, vcs_work_t *work,
                              vcs_error_t *error);

/* The methods `exact` (exact.c) and `hybrid` (hybrid.c) of vcs_grad_jvp and vcs_grad_vjp. */
vcs_status_t vcs_exact_jvp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);
vcs_status_t vcs_exact_vjp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);
vcs_status_t vcs_hybrid_jvp(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                            const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                            vcs_grad_report_t *report, vcs_error_t *error);
vcs_status_t vcs_hybrid_vjp(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                            const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                            vcs_grad_report_t *report, vcs_error_t *error);

#endif
