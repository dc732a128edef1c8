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

/* The method `exact` of vcs_grad_jvp and vcs_grad_vjp (exact.c). */
vcs_status_t vcs_exact_jvp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);
vcs_status_t vcs_exact_vjp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);

#endif
