/* bits.h: a run as a function of floats, for PyTorch and JAX.
 *
 * A machine is 8 * vcs_state_size floats, an image 8 * (its size), controls are VCS_INPUTS floats per frame: a bit is 1
 * where its float is more than a half. The function is what vcs_frame does, its derivatives are those of grad.h, and a
 * batch is many runs of one cartridge side by side, on all cores. Nothing is kept between calls.
 *
 * Paddles stay where the machine has them, and the picture is black before the first frame.
 */
#ifndef DIFFVCS_PYTHON_BITS_H
#define DIFFVCS_PYTHON_BITS_H

#include "relaxed.h"

typedef struct {
  const vcs_cart_t *cart;
  int32_t runs, frames, threads; /* threads 0: one a core */
  vcs_grad_options_t options;
  const vcs_relax_options_t *relaxed; /* not NULL: derivatives are those of the relaxed machine (relaxed.h) */
  const float *state;                 /* runs x 8 * vcs_state_size */
  const float *rom;                   /* runs x 8 * size of the image, or NULL: the cartridge's own */
  const float *input;                 /* runs x frames x VCS_INPUTS */
} vcs_bits_t;

/* Tangents or adjoints of the arguments and of the results, laid out like them. Any may be NULL. */
typedef struct {
  float *state, *rom, *input;
} vcs_bits_arguments_t;
typedef struct {
  float *pixels; /* runs x frames x height x 160 */
  float *state;  /* runs x 8 * vcs_state_size, after the last frame */
} vcs_bits_results_t;

/* The results; the product of the Jacobian with tangents; of its transpose with adjoints. What is written to is
 * overwritten. A state that no machine can have (a position of 200, say) is refused. */
VCS_API vcs_status_t vcs_bits_run(const vcs_bits_t *bits, const vcs_bits_results_t *results, vcs_error_t *error);
VCS_API vcs_status_t vcs_bits_jvp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments,
                                  const vcs_bits_results_t *results, vcs_error_t *error);
VCS_API vcs_status_t vcs_bits_vjp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments,
                                  const vcs_bits_results_t *results, vcs_error_t *error);

/* Bytes of the image as the machine has it: those with a place in derivatives. */
VCS_API uint32_t vcs_bits_rom_size(const vcs_cart_t *cart);
VCS_API const uint8_t *vcs_bits_rom(const vcs_cart_t *cart);

/* Refuses a place that is not in the run, as vcs_truth does. */
VCS_API vcs_status_t vcs_bits_check_places(const vcs_run_t *run, const vcs_place_t *places, size_t count,
                                           vcs_error_t *error);

/* How far the players' paddles are turned in a machine, as vcs_controls_t has them. */
VCS_API void vcs_bits_paddles(const vcs_cart_t *cart, const vcs_t *m, int32_t paddles[4]);

/* Whether a machine can be in this state; what is no state of a machine must not be run. */
VCS_API int vcs_bits_is_possible(const vcs_cart_t *cart, const vcs_t *m);

#endif
