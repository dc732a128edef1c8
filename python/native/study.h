/* study.h: the studies of diffvcs/study.h for Python, which passes arrays of its own and never an address.
 *
 * Each call runs the study of the same name and copies its results into the caller's arrays. Texts, whose length is not
 * known before, come as a vcs_answer_t.
 */
#ifndef DIFFVCS_PYTHON_STUDY_H
#define DIFFVCS_PYTHON_STUDY_H

#include "diffvcs/study.h"

/* A text of the library. */
typedef struct vcs_answer vcs_answer_t;
VCS_API size_t vcs_answer_size(const vcs_answer_t *answer);
VCS_API void vcs_answer_text(const vcs_answer_t *answer, char *text); /* vcs_answer_size bytes, without a zero */
VCS_API void vcs_answer_free(vcs_answer_t *answer);

/* Gives the calling thread a flag, which ends its calls as Ctrl-C does when it is not 0; NULL: none (host/progress.h).
 */
VCS_API void vcs_call_watch(const int32_t *stop);

/* Explains; the answer is explain.json. `directory` (may be NULL) gets the page. */
typedef struct {
  const vcs_env_t *env; /* needed for the score */
  const char *target;   /* or NULL, with an object */
  int32_t object;
  int64_t span, window;
  const char *name; /* of the game */
  int64_t frame;    /* number of the run's last frame */
  const char *directory;
} vcs_explain_call_t;
VCS_API vcs_status_t vcs_call_explain(const vcs_run_t *run, const vcs_explain_call_t *call, vcs_answer_t **answer,
                                      vcs_error_t *error);

/* The rows of vcs_score_game, the two lines above them, and the JSON of vcs_annotate. stop[0] is looked at while they
 * work: another thread that sets it ends the call with VCS_CANCELLED. */
VCS_API vcs_status_t vcs_call_score_game(const vcs_cart_t *cart, const char *game,
                                         const vcs_score_game_options_t *options, const int32_t *stop,
                                         vcs_answer_t **answer, vcs_error_t *error);
VCS_API vcs_status_t vcs_call_score_heading(vcs_profile_t profile, const vcs_score_game_options_t *options,
                                            vcs_answer_t **answer, vcs_error_t *error);
VCS_API vcs_status_t vcs_call_annotate(const vcs_cart_t *cart, const char *game, int32_t seeds, int32_t depths,
                                       int32_t threads, const int32_t *stop, vcs_answer_t **answer, vcs_error_t *error);

/* Records and slices the last frame of a run: rows[VCS_FRAME_INSTRUCTIONS], of them row_count[0] are written, those of
 * `marks` and what they were computed from in the slice; sources[65536] is vcs_slice_t's `read`. */
VCS_API vcs_status_t vcs_call_slice(const vcs_run_t *run, const int32_t *marks, size_t count, vcs_slice_row_t *rows,
                                    int32_t *row_count, uint8_t *sources, vcs_error_t *error);

/* Derivatives of a target: slots as in vcs_grad_inputs_t, added to what is there; value[0] is the target's. */
typedef struct {
  const vcs_env_t *env;
  const char *target;
} vcs_attribute_call_t;
VCS_API vcs_status_t vcs_call_attribute(const vcs_run_t *run, const vcs_attribute_call_t *call,
                                        const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                                        double *value, vcs_grad_report_t *report, vcs_error_t *error);

/* maps[16 * frames * pixels] and inverse[16], as in vcs_joystick_t. */
typedef struct {
  int64_t press;
  uint8_t held;
  int32_t top, bottom;
  int64_t window;
} vcs_joystick_call_t;
VCS_API vcs_status_t vcs_call_joystick(const vcs_run_t *run, const vcs_joystick_call_t *call, float *maps,
                                       double *inverse, vcs_error_t *error);

/* image[image size], before[pixels], after[pixels]; counts[8]: wrong before, wrong after, Jacobians or
 * reverse passes, runs, emulated frames, changed outside, pairs, pairs left. */
typedef struct {
  int32_t x, y, width, height;
  const uint8_t *drawing;
  uint8_t exact;
  const char *method;
  int64_t window, steps, budget;
  double keep;
  int64_t pairs, code;
} vcs_edit_call_t;
VCS_API vcs_status_t vcs_call_edit(const vcs_run_t *run, const vcs_edit_call_t *call, uint8_t *image, uint8_t *before,
                                   uint8_t *after, int64_t *counts, vcs_error_t *error);

/* values[seeds * searches], frames[seeds * searches], held[seeds * searches * frames of the run], scored[1]. */
typedef struct {
  const char *goal;
  const vcs_env_t *env;
  const int32_t *searches;
  int32_t search_count;
  int64_t seeds, budget, window;
  int32_t threads;
} vcs_steer_call_t;
VCS_API vcs_status_t vcs_call_steer(const vcs_run_t *run, const vcs_steer_call_t *call, double *values, int64_t *frames,
                                    uint8_t *held, int32_t *scored, vcs_error_t *error);

/* The record of a run as a text; and the verification of one. */
typedef struct {
  uint8_t cpu;
  uint64_t seed;
  int64_t frames, dense, stride, instructions;
} vcs_record_call_t;
VCS_API vcs_status_t vcs_call_record(const vcs_cart_t *cart, const vcs_record_call_t *call, vcs_answer_t **answer,
                                     vcs_error_t *error);
VCS_API vcs_status_t vcs_call_verify(const vcs_cart_t *cart, const char *record, uint64_t seed,
                                     vcs_record_check_t *check, vcs_error_t *error);

VCS_API vcs_status_t vcs_call_verify_file(const char *path, vcs_profile_t profile, const char *roms,
                                          vcs_record_check_t *check, vcs_error_t *error);

/* Rows of a trace: the first `room` of them go to rows[room], and count[0] is how many there are. `row`, `context` and
 * `report` of the options are not used. */
typedef struct {
  int64_t from_frame, to_frame, limit;
  uint8_t play;
  uint64_t seed;
} vcs_trace_call_t;
VCS_API vcs_status_t vcs_call_trace(const vcs_cart_t *cart, const vcs_trace_call_t *call, vcs_trace_row_t *rows,
                                    size_t room, size_t *count, vcs_error_t *error);

/* vcs_env_act_on, and the instructions that it executes: the first `room` of them go to rows[room], and count[0] is how
 * many there are. Chains and frames are 0. Returns the reward. */
VCS_API int32_t vcs_call_act_watched(vcs_env_t *env, int player_a, int player_b, vcs_trace_row_t *rows, size_t room,
                                     size_t *count);

/* The history of all frames of a run, numbered from `first` on. */
VCS_API vcs_status_t vcs_call_history(const vcs_cart_t *cart, const vcs_run_t *run, int64_t first, int32_t interval,
                                      int32_t room, vcs_history_t **history, vcs_error_t *error);

/* vcs_truth_pairs with pairs[2 * count], whose results have `count` rows for each horizon. */
VCS_API vcs_status_t vcs_call_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options,
                                          const vcs_place_t *places, size_t place_count, const size_t *pairs,
                                          size_t count, const vcs_truth_results_t *results, vcs_error_t *error);

/* Derivatives with respect to one place: slots as in vcs_effect_t; agreements[2] with the truth, of pixels and of RAM.
 */
VCS_API vcs_status_t vcs_call_effect(const vcs_run_t *run, const vcs_place_t *place, const vcs_grad_options_t *options,
                                     float *pixels, float *state, vcs_agreement_t *agreements,
                                     vcs_grad_report_t *report, vcs_error_t *error);

/* Places by name: `text` lists groups ("ram,input") or bits ("ram:9C.3,input:0.left"), as in vcs_places_of_groups and
 * vcs_places_of_bits. The first `room` of them go to places[room] and labels[room], and count[0] is how many there are.
 */
VCS_API vcs_status_t vcs_call_places(const vcs_run_t *run, const char *text, uint8_t groups, vcs_place_t *places,
                                     char *labels, size_t room, size_t *count, vcs_error_t *error);

/* vcs_batch_jvp and vcs_batch_vjp, after checking that every stride holds what an environment has. */
VCS_API vcs_status_t vcs_call_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                        const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                        const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);
VCS_API vcs_status_t vcs_call_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                        const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                        const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error);

/* A workspace, with an error instead of NULL. */
VCS_API vcs_status_t vcs_call_workspace(vcs_grad_workspace_t **workspace, vcs_error_t *error);

#endif
