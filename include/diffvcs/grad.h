/* diffvcs/grad.h: derivatives of a run, and the truth they are scored against.
 *
 * A run is a machine, the controls of each of its frames, and nothing else: y = F(b), where b is every bit the machine
 * reads and y the pixels and the RAM after the last frame. The derivative with respect to a bit is F with the bit set
 * minus F with the bit clear. vcs_truth finds it by running again; the vcs_grad_* calls estimate it for all bits at
 * once (docs/gradients.md has the mathematics).
 *
 * Conventions as in diffvcs.h: callers own buffers, results are added to what is there, nothing is hidden.
 */
#ifndef DIFFVCS_GRAD_H
#define DIFFVCS_GRAD_H

#include "diffvcs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Places: what can be flipped ---------------------------------------------------------------------------- */

/* One bit that a run reads. A place in the state is a bit of vcs_t when the run begins: `index` is the offset of its
 * byte (vcs_field gives the offsets by name). A place in ROM holds for the whole run. An input is held or not during
 * one frame of the run. */
typedef enum { VCS_PLACE_STATE, VCS_PLACE_ROM, VCS_PLACE_INPUT } vcs_place_kind_t;

/* Inputs: what hands can hold down, by player, and the console's switches. */
enum {
  VCS_INPUT_UP,
  VCS_INPUT_DOWN,
  VCS_INPUT_LEFT,
  VCS_INPUT_RIGHT,
  VCS_INPUT_FIRE,
  VCS_INPUT_SECOND_PLAYER, /* the same five again */
  VCS_INPUT_RESET = 10,
  VCS_INPUT_SELECT,
  VCS_INPUTS
};

typedef struct {
  uint8_t kind;   /* vcs_place_kind_t */
  uint8_t bit;    /* of the byte; 0 for an input */
  uint16_t frame; /* of the run, for an input */
  uint32_t index; /* of the byte in the state or the image, or the input */
} vcs_place_t;

/* ---- Runs --------------------------------------------------------------------------------------------------- */

/* The machine before the run and what is held in each of its frames. `picture` is the frame buffers as they are before
 * the run (2 * VCS_FRAME_BYTES), or NULL for black: rows that no beam reaches keep what they showed. */
typedef struct {
  const vcs_cart_t *cart;
  const vcs_t *start;
  const uint8_t *picture;
  const vcs_controls_t *controls; /* one for each frame */
  int32_t frames;
} vcs_run_t;

/* ---- Derivatives ---------------------------------------------------------------------------------------------- */

/* Numbers (positions, times) have two one-sided differences at an integer. */
typedef enum {
  VCS_SIDE_MEAN,    /* their mean; what a VJP takes unless told otherwise */
  VCS_SIDE_MORE,    /* one to the right, one cycle later */
  VCS_SIDE_LESS,    /* one to the left, one cycle earlier */
  VCS_SIDE_TANGENT, /* the side a JVP's tangent points to; its default */
} vcs_side_rule_t;

typedef enum {
  VCS_METHOD_BIT,   /* Boolean differences, composed to first order */
  VCS_METHOD_STE,   /* the paper's SOFT-STE */
  VCS_METHOD_NAIVE, /* the integer program as written: nothing through an index, a comparison or a branch */
  VCS_METHODS
} vcs_method_t;

typedef struct {
  vcs_method_t method;
  int32_t fork_window; /* `bit` and forks: instructions within which the two sides of a branch may meet; 0: no forks */
  float alpha, temperature; /* `ste`: the gate's sharpness and the softness of reads; 0: one-hot reads */
  vcs_side_rule_t side;
  const float *scale; /* the scalar that each of the 256 palette indices stands for; NULL: the index itself */
} vcs_grad_options_t;

/* `bit` without forks, alpha 6, temperature 0, VCS_SIDE_MEAN, palette indices. */
VCS_API void vcs_grad_defaults(vcs_grad_options_t *options);

/* Slots: a float for every bit. `state` has 8 * vcs_state_size(cart) of them, bit b of the byte at offset o at 8 * o +
 * b (numbers such as positions and cycles in slot 0 of their first byte), `rom` 8 for every byte of the image, `input`
 * VCS_INPUTS for every frame, 1 standing for "held". Any pointer may be NULL: nothing is wanted, or all is zero. */
typedef struct {
  float *state, *rom, *input;
} vcs_grad_inputs_t;

/* What a run shows: a picture after each frame, height * 160 floats, the state after the last one, and, for who looks
 * at several horizons in one go, the state after each. Any pointer may be NULL, also those in the arrays. */
typedef struct {
  float *const *pixels;
  float *state;
  float *const *states;
} vcs_grad_outputs_t;

typedef struct {
  uint64_t instructions, branches; /* executed by the run */
  uint64_t forks, rejoined;        /* sides tried out, and those that met the run again */
} vcs_grad_report_t;

/* The product of the run's Jacobian with the tangents in `inputs`, added to `outputs`; and of its transpose with the
 * adjoints in `outputs`, added to `inputs`. Both walk over one frame's tape at a time; memory is the machine's size by
 * frames and one tape. The machine itself is not changed, and no result depends on the number of threads. `report` may
 * be NULL. */
VCS_API vcs_status_t vcs_grad_jvp(const vcs_run_t *run, const vcs_grad_options_t *options,
                                  const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                  vcs_grad_report_t *report, vcs_error_t *error);
VCS_API vcs_status_t vcs_grad_vjp(const vcs_run_t *run, const vcs_grad_options_t *options,
                                  const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                  vcs_grad_report_t *report, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
