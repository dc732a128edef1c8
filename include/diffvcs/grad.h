/* diffvcs/grad.h: derivatives of a run, and exact effects to compare them with.
 *
 * A run is a machine and the controls of each of its frames. It is a function y = F(b), where b is every bit that the
 * machine reads and y the pixels and the RAM after the last frame. The derivative with respect to a bit is F with the
 * bit set minus F with the bit clear. vcs_truth computes it exactly by running again; the vcs_grad_* functions estimate
 * it for all bits at once (docs/gradients.md has the mathematics, docs/glossary.md the terms).
 *
 * The conventions are those of diffvcs.h. Derivatives are added to the contents of the caller's buffers.
 */
#ifndef DIFFVCS_GRAD_H
#define DIFFVCS_GRAD_H

#include "diffvcs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Places: bits that can be flipped ---------------------------------------------------------------------------- */

/* The kinds of bits that a run reads: a bit of vcs_t at the beginning of the run (vcs_field gives offsets by name), a
 * bit of ROM for the whole run, or an input that is held or not held during one frame. */
typedef enum { VCS_PLACE_STATE, VCS_PLACE_ROM, VCS_PLACE_INPUT } vcs_place_kind_t;

/* Inputs: the controls of each player, and the console's switches. For a player with paddles, LEFT and RIGHT turn the
 * first paddle by a step, DOWN and UP the second (vcs_controls_t); FIRE is the first paddle's button. The difficulty
 * and colour switches are bits of the state (swchb). */
enum {
  VCS_INPUT_UP,
  VCS_INPUT_DOWN,
  VCS_INPUT_LEFT,
  VCS_INPUT_RIGHT,
  VCS_INPUT_FIRE,
  VCS_INPUT_SECOND_PLAYER, /* first of the second player's five inputs */
  VCS_INPUT_RESET = 10,
  VCS_INPUT_SELECT,
  VCS_INPUTS
};

typedef struct {
  uint8_t kind;   /* vcs_place_kind_t */
  uint8_t bit;    /* bit of the byte, 0 the lowest; 0 for an input */
  uint16_t frame; /* frame of the run, for an input */
  uint32_t index; /* offset of the byte in the state or the image, or number of the input */
} vcs_place_t;

/* ---- Runs --------------------------------------------------------------------------------------------------- */

/* A run. */
typedef struct {
  const vcs_cart_t *cart;
  const vcs_t *start;             /* machine before the first frame */
  const uint8_t *picture;         /* frame buffers before the first frame, 2 * VCS_FRAME_BYTES, or NULL for black: rows
                                     that the beam does not reach keep their contents */
  const vcs_controls_t *controls; /* controls of each frame */
  int32_t frames;                 /* number of frames */
} vcs_run_t;

/* Describes the next `frames` frames of an environment without input, as vcs_env_act_on(env, VCS_NOOP, VCS_NOOP) would
 * run them, in *run, and writes `frames` controls. The difficulty switches, which the first action moves, move now. The
 * run points into the environment and is valid until its next step. */
VCS_API void vcs_run_idle(vcs_env_t *env, int32_t frames, vcs_controls_t *controls, vcs_run_t *run);

/* Returns the value of a bit in the run, 0 or 1, or -1 for an invalid place. */
VCS_API int vcs_run_bit(const vcs_run_t *run, const vcs_place_t *place);

/* Writes the value of each palette index to values[256 * channels]: the index itself, its luminance, or its red, green
 * and blue (0 to 255). Returns the number of channels, 1 or 3. */
enum { VCS_VALUES_INDEX, VCS_VALUES_LUMINANCE, VCS_VALUES_RGB };
VCS_API int32_t vcs_pixel_values(const vcs_cart_t *cart, int kind, float values[768]);

/* ---- Derivatives ---------------------------------------------------------------------------------------------- */

/* Which of the two one-sided differences of a number (a position or a time) is used. */
typedef enum {
  VCS_SIDE_MEAN,   /* their mean */
  VCS_SIDE_MORE,   /* one to the right, one cycle later */
  VCS_SIDE_LESS,   /* one to the left, one cycle earlier */
  VCS_SIDE_TANGENT /* JVP: a step in the direction and of the size of the tangent; VJP: the mean */
} vcs_side_rule_t;

typedef enum {
  VCS_METHOD_BIT,    /* Boolean differences, composed to first order */
  VCS_METHOD_STE,    /* the paper's SOFT-STE */
  VCS_METHOD_NAIVE,  /* derivative of the integer program: none through an index, a comparison or a branch */
  VCS_METHOD_EXACT,  /* no estimate: differences of runs. A VJP flips every bit of the inputs that are wanted, a JVP
                        every bit with a tangent, all in one walk. Every slot is a bit, those of numbers too */
  VCS_METHOD_HYBRID, /* `exact` for the bits that need it most, as many as `budget` pays for; `bit` with forks for the
                        rest, and for numbers */
  VCS_METHODS
} vcs_method_t;

typedef struct {
  vcs_method_t method;
  int32_t fork_window;      /* `bit`: largest number of instructions of a fork; a detour along whole moves may have
                               four times as many; 0: no forks; at most VCS_FRAME_INSTRUCTIONS */
  float alpha, temperature; /* `ste`: sharpness of the gate, and temperature of reads (0: one-hot reads) */
  vcs_side_rule_t side;
  const float *scale;   /* value of each of the 256 palette indices, or NULL for the index itself */
  double budget;        /* `hybrid`: what exact effects may cost, in frames of ale-py (src/grad/hybrid.c); 0: 20 for
                           each frame of the run */
  int32_t threads;      /* `exact`, `hybrid`: number of threads; 0: one per core. Results do not depend on it */
  uint64_t reserved[6]; /* 0 */
} vcs_grad_options_t;

/* Fills in the defaults: `bit` without forks, alpha 6, temperature 0, VCS_SIDE_TANGENT, palette indices. */
VCS_API void vcs_grad_defaults(vcs_grad_options_t *options);

/* Tangents or adjoints of a run's inputs, one float per bit. A NULL pointer means zero, or not wanted. */
typedef struct {
  float *state; /* 8 * vcs_state_size(cart): bit b of the byte at offset o is at 8 * o + b; numbers such as positions
                   and cycles use slot 0 of their first byte */
  float *rom;   /* 8 per byte of the image */
  float *input; /* frames x VCS_INPUTS, for the change from released to held */
} vcs_grad_inputs_t;

/* Tangents or adjoints of a run's outputs. Any pointer may be NULL, also those in the arrays. */
typedef struct {
  float *const *pixels; /* picture after each frame, height x 160 floats each */
  float *state;         /* state after the last frame, as in vcs_grad_inputs_t */
  float *const *states; /* state after each frame, for several horizons in one call */
  const vcs_env_t *env; /* environment whose rules and current score define the rewards; only for rewards */
  float *rewards;       /* reward of each frame */
} vcs_grad_outputs_t;

typedef struct {
  uint64_t instructions, branches; /* number of tape rows processed; waits and rows without derivative may be skipped */
  uint64_t forks, rejoined;        /* number of forks, and of those that met the run again */
  /* `exact`: instructions that flips executed by themselves, and how often a flip left the run; `hybrid`: the sum of
   * both methods, and in `branches` the number of bits whose effect is exact */
} vcs_grad_report_t;

/* vcs_grad_jvp adds the product of the run's Jacobian with the tangents in `inputs` to `outputs`; vcs_grad_vjp adds the
 * product of its transpose with the adjoints in `outputs` to `inputs`. Both process one frame's tape at a time; memory
 * is one machine per frame and one tape. The run's machine does not change. `report` may be NULL. With VCS_SIDE_TANGENT
 * a JVP along whole moves, such as the flips of several bits, estimates their joint effect. With forks, and
 * without VCS_SIDE_TANGENT, derivatives stop in both products at forks that explode and, between two frames, at bytes
 * of RAM that explode in the second (docs/gradients.md); the report does not count these. */
VCS_API vcs_status_t vcs_grad_jvp(const vcs_run_t *run, const vcs_grad_options_t *options,
                                  const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                  vcs_grad_report_t *report, vcs_error_t *error);
VCS_API vcs_status_t vcs_grad_vjp(const vcs_run_t *run, const vcs_grad_options_t *options,
                                  const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                  vcs_grad_report_t *report, vcs_error_t *error);

/* The same with a workspace, buffers that are kept between calls, for many short runs: allocating the buffers takes
 * half as long as a frame's derivative by `ste`. A workspace serves one call at a time, for any run, and does not
 * influence results. With NULL the call allocates its own. */
typedef struct vcs_grad_workspace vcs_grad_workspace_t;
VCS_API vcs_grad_workspace_t *vcs_grad_workspace_create(void); /* NULL: out of memory */
VCS_API void vcs_grad_workspace_free(vcs_grad_workspace_t *workspace);
VCS_API vcs_status_t vcs_grad_jvp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                     const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                                     const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);
VCS_API vcs_status_t vcs_grad_vjp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                     const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                                     const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error);

/* Adds the transpose of the JVP along `direction` to `inputs`: it uses the sides, steps and cancelled moves of the JVP
 * with VCS_SIDE_TANGENT, so that <outputs, JVP(direction)> = <result, direction>. It handles moves that the program
 * undoes (a step into a wall), which a plain VJP does not. Only for `bit`; options->side is ignored. It costs one JVP
 * and two VJPs. */
VCS_API vcs_status_t vcs_grad_vjp_directional(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                              const vcs_grad_options_t *options, const vcs_grad_inputs_t *direction,
                                              const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                              vcs_grad_report_t *report, vcs_error_t *error);

/* ---- Derivatives of a batch's environments ---------------------------------------------------------------------- */

/* vcs_grad_jvp and vcs_grad_vjp for every environment of a batch, on the batch's device. Each run begins with an
 * environment's current machine, which does not change. There are no episodes, no sticky actions and no environment
 * reads of RAM between frames; the caller gives the controls. A GPU supports all methods except forks.
 *
 * The arrays are those of vcs_grad_inputs_t and vcs_grad_outputs_t, in device memory; those of environment i begin at
 * pointer + i * stride, with strides in floats. Any pointer may be NULL. Results are added to the arrays. A GPU's
 * results equal the CPU's except for rounding, and are the same in every call. */
typedef struct {
  float *state, *rom, *input;
  size_t state_stride, rom_stride, input_stride;
} vcs_batch_inputs_t;
typedef struct {
  float *pixels; /* frames x height x 160, or height x 160 with last_picture */
  float *state;  /* state after the last frame */
  size_t pixels_stride, state_stride;
} vcs_batch_outputs_t;

/* Options of batch derivatives. Plain data; vcs_batch_grad_defaults fills it with the defaults given here. */
typedef struct {
  vcs_grad_options_t grad;         /* vcs_grad_defaults with method `ste`; `scale` is in host memory */
  int32_t frames;                  /* 1: frames of every run */
  uint8_t last_picture;            /* 0; 1: outputs->pixels has only the picture after the last frame */
  int32_t rows, events, snapshots; /* 8192, 2304, 128: capacity of a GPU's tape in instructions, TIA accesses and
                                      snapshots. On the CPU tapes grow, and these are ignored */
  int32_t at_once;                 /* 65536: environments that a GPU processes at the same time, each with
                                      vcs_batch_grad_bytes of memory; more environments are processed in turn */
  uint64_t reserved[8];            /* 0 */
} vcs_batch_grad_options_t;
VCS_API void vcs_batch_grad_defaults(vcs_batch_grad_options_t *options);

/* Returns the bytes of device memory per environment during differentiation, kept for the next call; 0 on the CPU. */
VCS_API size_t vcs_batch_grad_bytes(const vcs_batch_t *batch, const vcs_batch_grad_options_t *options);

/* JVP and VJP of all environments. `controls` is envs x frames, and `instructions` (or NULL) receives the number of
 * processed instructions of each environment, or -1 if a frame did not fit its tape and the results are invalid. Both
 * are in device memory. On a GPU calls queue their work; the first call with new options waits. VCS_BAD_ARGUMENT: a
 * batch before its first reset, or with results that were not received. */
VCS_API vcs_status_t vcs_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                   const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                   const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);
VCS_API vcs_status_t vcs_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                   const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                   const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);

/* ---- Truth: exact effects of bits (docs/truth.md) ------------------------------------------------------------ */

/* Algorithms of exact effects on the CPU. Both give the same results, byte for byte. */
typedef enum {
  VCS_TRUTH_WALK, /* all flips in one pass over the run: only their differences are kept, and run where they matter */
  VCS_TRUTH_RERUN /* every flip is run again separately: the reference */
} vcs_truth_engine_t;

/* Options of vcs_truth. Plain data; all zero are the defaults. */
typedef struct {
  const int32_t *horizons; /* ascending numbers of frames, from 1, after which outputs are compared; NULL: the last */
  int32_t horizon_count;
  const vcs_env_t *env;   /* environment whose rules and current score define the score; NULL: no score */
  int32_t threads;        /* number of threads, at most 4096; 0: one per core */
  uint8_t stop_when_over; /* with env: 1: a game that is over stops, as in ale-py; 0: frames continue */
  const float *values;    /* values of pixels for maps, [256 * channels], from vcs_pixel_values */
  int32_t channels;       /* channels of `values` */
  void (*progress)(void *context, size_t runs); /* called by any thread after `runs` further runs, or NULL */
  void *progress_context;
  int32_t device; /* VCS_CPU, or a GPU for vcs_truth with places in the state and inputs and without env: all flips at
                     once, with the same results. Run, places and results are in host memory; threads and progress are
                     ignored */
  int32_t engine; /* vcs_truth_engine_t, on the CPU */
  uint64_t reserved[8]; /* 0 */
} vcs_truth_options_t;

/* Outcome of a flip. */
enum {
  VCS_TRUTH_NOT_RUN,    /* interrupted before this run */
  VCS_TRUTH_RAN,        /* the row is valid */
  VCS_TRUTH_IMPOSSIBLE, /* the field cannot have this value (a position of 200, for example): not run */
};

/* Comparison of a flipped run with the base run at one horizon. */
typedef struct {
  uint8_t outcome;
  int32_t pixels, ram_bytes;    /* number of different pixels and RAM bytes */
  int32_t score;                /* sum of rewards with the bit set minus with the bit clear; for several bits, with the
                                   flips minus without */
  uint32_t screen_crc, ram_crc; /* CRC-32 of height x 160 palette indices and of 128 bytes, as in records */
} vcs_truth_t;

/* The caller's buffers for results; any pointer may be NULL. Rows are written; maps have the sign of the score and are
 * added to the buffers. */
typedef struct {
  vcs_truth_t *base; /* horizons: score and CRCs of the base run */
  vcs_truth_t *rows; /* flips x horizons */
  float *pixels;     /* flips x horizons x height x 160 x channels */
  float *ram;        /* flips x horizons x 1024 RAM bits, 8 per byte, lowest first */
} vcs_truth_results_t;

/* Flips each of `count` places alone and computes the exact difference F(1) - F(0), for either value of the bit in the
 * run. */
VCS_API vcs_status_t vcs_truth(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                               size_t count, const vcs_truth_results_t *results, vcs_error_t *error);

/* Flips sets of places together: set i is places[ends[i - 1]] to places[ends[i] - 1]. Differences are with the flips
 * minus without; a set of one has the sign of vcs_truth. */
VCS_API vcs_status_t vcs_truth_sets(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                                    const size_t *ends, size_t set_count, const vcs_truth_results_t *results,
                                    vcs_error_t *error);

/* Computes the interaction F(11) - F(10) - F(01) + F(00) of pairs of indices into `places`. A row counts the pixels (by
 * palette index) and RAM bytes with a nonzero interaction, has the interaction of the score, and the CRCs of the run
 * with both places flipped. */
VCS_API vcs_status_t vcs_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options,
                                     const vcs_place_t *places, size_t count, const size_t (*pairs)[2],
                                     size_t pair_count, const vcs_truth_results_t *results, vcs_error_t *error);

/* ---- The exact Jacobian of a run (docs/truth.md) ---------------------------------------------------------------- */

/* Outputs of a run, as a set of bits. */
enum {
  VCS_OF_SCREEN = 1, /* palette indices; entry: index = 160 * row + column */
  VCS_OF_RAM = 2,    /* bytes of RAM; entry: index 0 to 127 */
  VCS_OF_SCORE = 4,  /* the sum of rewards; needs an environment */
  VCS_OF_LIVES = 8,  /* needs an environment */
  VCS_OF_STATE = 16, /* bytes of the machine; entry: index = offset in vcs_t. Without what no output is computed from:
                        counters of frames, lines and instructions, sound, the byte left on the bus,
                        the times of a past HMOVE and of a past timer read */
  VCS_OF_CPU = 32    /* the same, of a, x, y, sp, p and pc only */
};

/* Options of vcs_jacobian. Plain data: set `of`; all other fields may be zero. Fields with the names of fields of
 * vcs_truth_options_t have the same meaning. */
typedef struct {
  uint32_t of; /* a set of VCS_OF_... */
  const int32_t *horizons;
  int32_t horizon_count;
  const vcs_env_t *env;
  int32_t threads;
  uint8_t stop_when_over;
  const float *values; /* of pixels, [256 * channels], for vcs_jacobian_jvp and vcs_jacobian_vjp */
  int32_t channels;
  void (*progress)(void *context, size_t flips);
  void *progress_context;
  int32_t engine;       /* vcs_truth_engine_t */
  uint64_t reserved[8]; /* 0 */
} vcs_jacobian_options_t;

/* One output that differs between the run and a flipped run. An output without an entry is equal in both. */
typedef struct {
  uint32_t flip;         /* the number of the place, or set */
  uint16_t horizon;      /* the number of the horizon */
  uint16_t of;           /* one of VCS_OF_... */
  uint32_t index;        /* of the pixel or byte; 0 for score and lives */
  int32_t base, flipped; /* the output in the run, and with the flip */
} vcs_jacobian_entry_t;

/* The Jacobian in coordinates: every output that differs, by flip, horizon, `of` and index, ascending. Set i is
 * places[ends[i - 1]] up to but not including places[ends[i]]; if `ends` is NULL each place is a set of its own.
 * `entries` is the caller's, with room for `capacity`; *count is set to how many there are. If they do not fit, the
 * first `capacity` are filled in and the call returns VCS_BAD_ARGUMENT, with the number needed in its message; a call
 * with capacity 0 returns the number alone, at the full price. `outcomes` (or NULL) receives VCS_TRUTH_... for each
 * set: one that is impossible has no entries. Results do not depend on the number of threads. An interrupted call
 * returns VCS_CANCELLED, with *count 0. */
VCS_API vcs_status_t vcs_jacobian(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                  const vcs_place_t *places, const size_t *ends, size_t set_count,
                                  vcs_jacobian_entry_t *entries, size_t capacity, size_t *count, uint8_t *outcomes,
                                  vcs_error_t *error);

/* Outputs of a product, a row a horizon: height x 160 x channels values of pixels, 1024 bits of RAM (8 a byte, lowest
 * first), a score, lives, 8 * vcs_state_size bits of the machine. Any pointer may be NULL. */
typedef struct {
  float *pixels, *ram, *score, *lives, *state;
} vcs_jacobian_outputs_t;

/* The exact Jacobian's product with a tangent on each place, added to `outputs`; and that of its transpose with
 * adjoints in `outputs`, added to adjoints[place]. A column is F with the bit set minus F with the bit clear
 * (vcs_truth). `options->of` is ignored: the products use the outputs that are not NULL. Sums are made in the order of
 * entries, in double precision, so they do not depend on the number of threads. An interrupted call returns
 * VCS_CANCELLED and adds nothing. */
VCS_API vcs_status_t vcs_jacobian_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                      const vcs_place_t *places, size_t count, const float *tangents,
                                      const vcs_jacobian_outputs_t *outputs, vcs_error_t *error);
VCS_API vcs_status_t vcs_jacobian_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                      const vcs_place_t *places, size_t count, const vcs_jacobian_outputs_t *outputs,
                                      float *adjoints, vcs_error_t *error);

/* ---- Smooth: the derivative inside the cube, by sampling (docs/truth.md) ---------------------------------------- */

/* A scalar output of a run. */
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

/* Estimators of the derivative. Both are unbiased. */
enum {
  VCS_SMOOTH_DIFFERENCE, /* F(b, b_i = 1) - F(b, b_i = 0) for the same sampled b: one run per place and sample */
  VCS_SMOOTH_SCORE       /* F(b) (b_i - p_i) / (p_i (1 - p_i)): one run per sample; p strictly between 0 and 1 */
};

/* Options of vcs_smooth. Plain data; vcs_smooth_defaults fills it with the defaults given here. */
typedef struct {
  vcs_scalar_t output;
  int32_t method;         /* VCS_SMOOTH_DIFFERENCE */
  int32_t samples;        /* 1000: number of samples of b */
  uint8_t antithetic;     /* 1: samples come in pairs, from random numbers u and 1 - u; `samples` must be even */
  uint8_t baseline;       /* 1: VCS_SMOOTH_SCORE subtracts the mean of all other samples from F */
  uint64_t seed;          /* 0: seed; results do not depend on the number of threads */
  double confidence;      /* 0.95: confidence level of the intervals */
  const vcs_env_t *env;   /* as in vcs_truth_options_t */
  uint8_t stop_when_over; /* as in vcs_truth_options_t */
  int32_t threads;        /* as in vcs_truth_options_t */
  void (*progress)(void *context, size_t draws);
  void *progress_context;
  const double *control; /* NULL, or an estimate of each place's derivative, such as a VJP: VCS_SMOOTH_SCORE samples
                            only what it leaves unexplained, F(b) - sum_i control_i (b_i - p_i). Any numbers keep the
                            result unbiased; good ones make the intervals narrow; the slope s is found from the draws */
  uint64_t reserved[7];  /* 0 */
} vcs_smooth_options_t;
VCS_API void vcs_smooth_defaults(vcs_smooth_options_t *options);

/* An estimate: the interval from mean - half_width to mean + half_width contains the true value with probability
 * `confidence` (Student's t over independent samples, or pairs of samples). */
typedef struct {
  double mean, deviation, half_width; /* deviation: standard error of the mean */
} vcs_estimate_t;

/* Estimates v(p) = E[F(b)], where b_i is 1 with probability p_i, independently, for `count` different places; all other
 * bits are those of the run, and F is the output after its last frame. Writes v to `value` and dv/dp_i of each place to
 * `gradient` (both may be NULL), and the number of samples, fewer after an interrupt, to `done` (may be NULL). Fields
 * that do not use all values of their bits, such as positions, are refused. */
VCS_API vcs_status_t vcs_smooth(const vcs_run_t *run, const vcs_smooth_options_t *options, const vcs_place_t *places,
                                const double *probabilities, size_t count, vcs_estimate_t *value,
                                vcs_estimate_t *gradient, int32_t *done, vcs_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
