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

/* Inputs: what hands can hold down, by player, and the console's switches. Where a player has paddles, LEFT and RIGHT
 * hold the first of them turned by a step, DOWN and UP the second (vcs_controls_t); FIRE is the first one's button. The
 * difficulty and colour switches are bits of the state (swchb), which stay as they are put. */
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

/* The next `frames` frames of an environment in which nobody does anything: what vcs_env_act_on(env, VCS_NOOP,
 * VCS_NOOP) would run. `controls` is the caller's, one for each frame. The run points into the environment, so it holds
 * until the environment goes on. */
VCS_API void vcs_run_idle(vcs_env_t *env, int32_t frames, vcs_controls_t *controls, vcs_run_t *run);

/* A bit as it is in the run, 0 or 1; -1 where there is no such place. */
VCS_API int vcs_run_bit(const vcs_run_t *run, const vcs_place_t *place);

/* What a pixel is worth, by palette index: itself, its luminance, or its red, green and blue (0 to 255). Fills
 * values[256 * channels] and returns the channels, 1 or 3. */
enum { VCS_VALUES_INDEX, VCS_VALUES_LUMINANCE, VCS_VALUES_RGB };
VCS_API int32_t vcs_pixel_values(const vcs_cart_t *cart, int kind, float values[768]);

/* ---- Derivatives ---------------------------------------------------------------------------------------------- */

/* Numbers (positions, times) have two one-sided differences at an integer. */
typedef enum {
  VCS_SIDE_MEAN,   /* their mean */
  VCS_SIDE_MORE,   /* one to the right, one cycle later */
  VCS_SIDE_LESS,   /* one to the left, one cycle earlier */
  VCS_SIDE_TANGENT /* the side a JVP's tangent points to, as far as it says; in a VJP, which has none, the mean */
} vcs_side_rule_t;

typedef enum {
  VCS_METHOD_BIT,   /* Boolean differences, composed to first order */
  VCS_METHOD_STE,   /* the paper's SOFT-STE */
  VCS_METHOD_NAIVE, /* the integer program as written: nothing through an index, a comparison or a branch */
  VCS_METHODS
} vcs_method_t;

typedef struct {
  vcs_method_t method;
  int32_t fork_window; /* `bit` and forks: instructions within which the two sides of a branch may meet; 0: no forks;
                          at most VCS_FRAME_INSTRUCTIONS */
  float alpha, temperature; /* `ste`: the gate's sharpness and the softness of reads; 0: one-hot reads */
  vcs_side_rule_t side;
  const float *scale;   /* the scalar that each of the 256 palette indices stands for; NULL: the index itself */
  uint64_t reserved[8]; /* 0 */
} vcs_grad_options_t;

/* `bit` without forks, alpha 6, temperature 0, VCS_SIDE_TANGENT, palette indices. */
VCS_API void vcs_grad_defaults(vcs_grad_options_t *options);

/* Slots: a float for every bit. `state` has 8 * vcs_state_size(cart) of them, bit b of the byte at offset o at 8 * o +
 * b (numbers such as positions and cycles in slot 0 of their first byte), `rom` 8 for every byte of the image, `input`
 * VCS_INPUTS for every frame, 1 standing for "held". Any pointer may be NULL: nothing is wanted, or all is zero. */
typedef struct {
  float *state, *rom, *input;
} vcs_grad_inputs_t;

/* What a run shows: a picture after each frame, height * 160 floats, the state after the last one, and, for who looks
 * at several horizons in one go, the state after each; and the reward of each frame, by the rules of an environment's
 * game, from its present play on. Any pointer may be NULL, also those in the arrays. */
typedef struct {
  float *const *pixels;
  float *state;
  float *const *states;
  const vcs_env_t *env; /* needed for rewards only */
  float *rewards;       /* one for each frame */
} vcs_grad_outputs_t;

typedef struct {
  uint64_t instructions, branches; /* that were walked over: waits and what nobody looks at may be left out */
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

/* The same with buffers that stay from call to call, for many short runs on one cartridge: those of a frame cost half
 * as much time to make as the frame's derivative by `ste`. A workspace serves one call at a time and any run, and what
 * it has served before makes no difference to a result. NULL instead of one is allowed: the call makes its own. */
typedef struct vcs_grad_workspace vcs_grad_workspace_t;
VCS_API vcs_grad_workspace_t *vcs_grad_workspace_create(void); /* NULL: no memory */
VCS_API void vcs_grad_workspace_free(vcs_grad_workspace_t *workspace);
VCS_API vcs_status_t vcs_grad_jvp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                     const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                                     const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);
VCS_API vcs_status_t vcs_grad_vjp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                     const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                                     const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);

/* The transpose of what a JVP with VCS_SIDE_TANGENT does in `direction`: with the same sides, the same steps
 * and the same moves that cancel, so that the product of `outputs` with that JVP is the product of the result with
 * `along`. Where a move is undone on the way (a step into a wall), this knows it, and a plain VJP, which has no
 * direction, does not. `bit` only; options->side is not looked at. Costs a JVP and twice a VJP. */
VCS_API vcs_status_t vcs_grad_vjp_directional(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                              const vcs_grad_options_t *options, const vcs_grad_inputs_t *direction,
                                              const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                              vcs_grad_report_t *report, vcs_error_t *error);

/* ---- Derivatives of a batch's environments ---------------------------------------------------------------------- */

/* vcs_grad_jvp and vcs_grad_vjp for every environment of a batch, on the batch's device: a run begins with an
 * environment's present machine, which is not changed, and goes on for some frames. Nothing of the play takes part: no
 * episodes, no sticky actions, no reading of RAM between frames; what is held is given. A GPU has all methods but
 * forks.
 *
 * Slots are those of vcs_grad_inputs_t and vcs_grad_outputs_t, those of environment i from pointer + i * stride on
 * (strides are in floats), in the device's memory. Any pointer may be NULL. Results are added to what is there. A GPU's
 * are the CPU's but for rounding, and the same from run to run. */
typedef struct {
  float *state, *rom, *input;
  size_t state_stride, rom_stride, input_stride;
} vcs_batch_inputs_t;
typedef struct {
  float *pixels; /* height * 160 floats for every frame, or for the last one only */
  float *state;  /* after the last frame */
  size_t pixels_stride, state_stride;
} vcs_batch_outputs_t;

/* Plain data; vcs_batch_grad_defaults fills it. */
typedef struct {
  vcs_grad_options_t grad;         /* the defaults of vcs_grad_defaults, but `ste`; `scale` is in host memory */
  int32_t frames;                  /* of every run; 1 */
  uint8_t last_picture;            /* 0; 1: outputs->pixels has the picture after the last frame only */
  int32_t rows, events, snapshots; /* room on a tape: instructions 8192, TIA accesses 2304, snapshots 128. On a GPU a
                                      tape does not grow; on the CPU it does, and these are not looked at */
  int32_t at_once;                 /* environments that a GPU works on at the same time, for which there must be memory
                                      (vcs_batch_grad_bytes each); the others wait. 65536 */
  uint64_t reserved[8];            /* 0 */
} vcs_batch_grad_options_t;
VCS_API void vcs_batch_grad_defaults(vcs_batch_grad_options_t *options);

/* Bytes of device memory that an environment needs while it is differentiated, kept for the next call; 0 on the CPU. */
VCS_API size_t vcs_batch_grad_bytes(const vcs_batch_t *batch, const vcs_batch_grad_options_t *options);

/* `controls` is one for each frame, environment after environment, and `instructions` (or NULL) one number for each:
 * how many were walked over; -1: the tape was too short for a frame, and its results are not to be used. Both in the
 * device's memory. On a GPU calls only queue their work, but the first with new options waits. A batch that was not
 * reset yet, or one whose send was not received: VCS_BAD_ARGUMENT. */
VCS_API vcs_status_t vcs_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                   const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                   const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                   const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                   const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);

/* ---- Truth: what a bit does, by running again (docs/truth.md) -------------------------------------------------- */

/* How the CPU finds the truth. Both give the same, byte for byte. */
typedef enum {
  VCS_TRUTH_WALK, /* all flips in one walk over the run: what differs is kept, and run only where it matters */
  VCS_TRUTH_RERUN /* each flip is run again by itself: the reference */
} vcs_truth_engine_t;

/* What is asked. Plain data; all zero is a good beginning. */
typedef struct {
  const int32_t *horizons; /* the frames of the run after which is looked, ascending, from 1 on; NULL: after the last */
  int32_t horizon_count;
  const vcs_env_t *env;   /* the rules of its game count the score, from its present play on; NULL: there is no score */
  int32_t threads;        /* 0: one a core */
  uint8_t stop_when_over; /* with env: a game that is over stands still, as in ale-py; 0: frames go on */
  const float *values;    /* of pixels, for maps: [256 * channels], as vcs_pixel_values gives them */
  int32_t channels;       /* of them */
  void (*progress)(void *context, size_t runs); /* called by any thread: so many more runs are done; or NULL */
  void *progress_context;
  int32_t device; /* VCS_CPU; or vcs_truth on a GPU, for places in the state and inputs, without env: all flips at once,
                     with the same rows. Run, places and results are in host memory; threads and progress are not
                     looked at. What a GPU does not do is refused */
  int32_t engine; /* vcs_truth_engine_t; on the CPU */
  uint64_t reserved[8]; /* 0 */
} vcs_truth_options_t;

/* How a flip turned out. */
enum {
  VCS_TRUTH_NOT_RUN,    /* interrupted before its turn came */
  VCS_TRUTH_RAN,        /* and the row is right */
  VCS_TRUTH_IMPOSSIBLE, /* no machine has this value in this field (a position of 200, say): nothing was run */
};

/* The run with flipped bits beside the one without, at a horizon. `score` is signed: the sum of rewards with the bit
 * set minus with the bit clear; where several bits are flipped together, with the flips minus without. */
typedef struct {
  uint8_t outcome;
  int32_t pixels, ram_bytes; /* that differ */
  int32_t score;
  uint32_t screen_crc, ram_crc; /* CRC-32 of height x 160 palette indices and of 128 bytes, as in records */
} vcs_truth_t;

/* Where results go: caller's buffers, each of which may be NULL. A flip has a row a horizon, one behind the other; a
 * row's maps are height x 160 x channels values of pixels and 1024 RAM bits (8 a byte, lowest first). Rows are written;
 * maps are signed like the score, and added to what is there. */
typedef struct {
  vcs_truth_t *base; /* the run itself: its score and CRCs, a row a horizon */
  vcs_truth_t *rows;
  float *pixels, *ram;
} vcs_truth_results_t;

/* Each place flipped by itself: an exact difference F(1) - F(0), whatever the bit is in the run. */
VCS_API vcs_status_t vcs_truth(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                               size_t count, const vcs_truth_results_t *results, vcs_error_t *error);

/* Places flipped together: set i is places[ends[i - 1]] up to, without it, places[ends[i]]. Differences are with the
 * flips minus without; a set of one is signed as in vcs_truth. */
VCS_API vcs_status_t vcs_truth_sets(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                                    const size_t *ends, size_t set_count, const vcs_truth_results_t *results,
                                    vcs_error_t *error);

/* What two places do together beyond what each does alone: F(11) - F(10) - F(01) + F(00), for pairs of numbers of
 * places. A row then counts the pixels (by palette index) and RAM bytes where that is not zero, its score is the
 * score's, and its CRCs are those of the run with both flipped. */
VCS_API vcs_status_t vcs_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options,
                                     const vcs_place_t *places, size_t count, const size_t (*pairs)[2],
                                     size_t pair_count, const vcs_truth_results_t *results, vcs_error_t *error);

/* ---- Smooth: the derivative inside the cube, by drawing (docs/truth.md) ---------------------------------------- */

/* A number that a run ends with. */
enum {
  VCS_SCALAR_PIXELS, /* the sum of values[palette index] over a rectangle of the picture */
  VCS_SCALAR_RAM,    /* byte `index` of RAM, or its bit `bit` */
  VCS_SCALAR_SCORE   /* the sum of rewards; needs an environment */
};
typedef struct {
  int32_t kind;
  int32_t x, y, width, height;
  const float *values; /* [256] */
  int32_t index, bit;  /* bit -1: the whole byte */
} vcs_scalar_t;

/* How the derivative is estimated. Both are unbiased. */
enum {
  VCS_SMOOTH_DIFFERENCE, /* F(b, b_i = 1) - F(b, b_i = 0) under the same drawn b: a run for each place and draw */
  VCS_SMOOTH_SCORE       /* F(b) (b_i - p_i) / (p_i (1 - p_i)): a run a draw; p strictly between 0 and 1 */
};

/* Plain data; vcs_smooth_defaults fills it. */
typedef struct {
  vcs_scalar_t output;
  int32_t method;         /* VCS_SMOOTH_DIFFERENCE */
  int32_t samples;        /* draws of b; 1000 */
  uint8_t antithetic;     /* 1: draws come in pairs, from numbers u and 1 - u; samples must be even */
  uint8_t baseline;       /* 1: VCS_SMOOTH_SCORE subtracts from F the mean of all other draws */
  uint64_t seed;          /* 0; the same seed gives the same result whatever the threads */
  double confidence;      /* of the intervals: 0.95 */
  const vcs_env_t *env;   /* as in vcs_truth_options_t */
  uint8_t stop_when_over; /* ... */
  int32_t threads;        /* ... */
  void (*progress)(void *context, size_t draws);
  void *progress_context;
  uint64_t reserved[8]; /* 0 */
} vcs_smooth_options_t;
VCS_API void vcs_smooth_defaults(vcs_smooth_options_t *options);

/* An estimate: the interval from mean - half_width to mean + half_width holds the true value with the probability
 * `confidence` (Student's t over independent draws, or pairs of draws). */
typedef struct {
  double mean, deviation, half_width; /* deviation: the standard error of the mean */
} vcs_estimate_t;

/* v(p) = E[F(b)] with b_i = 1 with probability p_i, independently, for `count` different places; all other bits are as
 * in the run, and F is the output after its last frame. `value` is v, `gradient` dv/dp_i for each place; both may be
 * NULL. `done` (may be NULL) is how many draws they rest on: all, unless interrupted. Refuses places of which some
 * draw makes a machine that cannot be: positions and others that do not use all values of their bits. */
VCS_API vcs_status_t vcs_smooth(const vcs_run_t *run, const vcs_smooth_options_t *options, const vcs_place_t *places,
                                const double *probabilities, size_t count, vcs_estimate_t *value,
                                vcs_estimate_t *gradient, int32_t *done, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
