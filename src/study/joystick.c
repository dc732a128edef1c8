/* joystick.c: what the stick does to the picture, by running again and by every method (study.h).
 *
 * In the run no control is held. Forward: each direction is pressed, for one frame or from then on, and d(picture) /
 * d(direction) is computed after every frame: by running again (the truth), and by one forward pass for each method.
 * Reverse: which direction moves light to the right? The output is the sum of luminance * (column - 80) over some rows
 * after the last frame. One reverse pass for each method ranks all directions; bit+fork makes a directional one for
 * each direction, which takes account of moves that cancel.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "study/internal.h"

enum { FRAMES_MAX = 256, CONTROLS = VCS_JOYSTICK_CONTROLS, ANSWERS = VCS_JOYSTICK_ANSWERS, TRUTH = VCS_JOYSTICK_TRUTH };

static const uint8_t controls[CONTROLS] = {VCS_INPUT_RIGHT, VCS_INPUT_LEFT, VCS_INPUT_UP, VCS_INPUT_DOWN};
static const char *const answers[ANSWERS] = {"truth", "bit+fork", "ste", "naive"};

int vcs_joystick_input(int control) { return control >= 0 && control < CONTROLS ? controls[control] : -1; }
const char *vcs_joystick_answer(int answer) { return answer >= 0 && answer < ANSWERS ? answers[answer] : NULL; }

typedef struct {
  const vcs_joystick_options_t *options;
  const vcs_run_t *run;
  vcs_joystick_t *result;
  float scale[768];
  float *weights;           /* of the reverse output, by pixel */
  float **map_by_frame;     /* for one pass */
  float *input, *direction; /* tangents or adjoints, by frame and input */
} job_t;

static float *map_of(const job_t *job, int answer, int control, int frame) {
  const size_t row = (size_t)(answer * CONTROLS + control) * (size_t)job->run->frames + (size_t)frame;
  return job->result->maps + row * job->result->pixels;
}

/* The frames in which a control is pressed: [first, end). */
static int first_frame(const job_t *job) { return (int)job->options->press; }
static int end_frame(const job_t *job) { return job->options->held ? job->run->frames : first_frame(job) + 1; }

/* ---- The answers -------------------------------------------------------------------------------------------- */

static double weighed(const job_t *job, const float *map) {
  double sum = 0;
  for (size_t i = 0; i < job->result->pixels; i++) sum += (double)job->weights[i] * (double)map[i];
  return sum;
}

static vcs_status_t find_truth(job_t *job, vcs_error_t *error) {
  const int first = first_frame(job), frames = job->run->frames;
  const size_t pressed = (size_t)(end_frame(job) - first);
  int32_t horizons[FRAMES_MAX];
  size_t ends[CONTROLS];
  vcs_place_t *places = calloc(CONTROLS * pressed, sizeof *places);
  if (!places) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; i < frames; i++) horizons[i] = i + 1;
  for (size_t c = 0; c < CONTROLS; c++) {
    ends[c] = (c + 1) * pressed;
    for (size_t i = 0; i < pressed; i++) {
      places[c * pressed + i] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(first + (int)i), controls[c]};
    }
  }
  const vcs_truth_options_t options = {
      .horizons = horizons, .horizon_count = frames, .values = job->scale, .channels = 1};
  const vcs_truth_results_t results = {.pixels = map_of(job, TRUTH, 0, 0)};
  vcs_status_t status = vcs_truth_sets(job->run, &options, places, ends, CONTROLS, &results, error);
  free(places);
  for (int c = 0; c < CONTROLS; c++) job->result->inverse[TRUTH][c] = weighed(job, map_of(job, TRUTH, c, frames - 1));
  return status;
}

static void set_method(const job_t *job, int answer, vcs_grad_options_t *options) {
  const char *name = answers[answer];
  vcs_study_method_options(vcs_study_method_by_name(name), (int32_t)job->options->window, options);
  options->scale = job->scale;
}

/* Makes the tangent of pressing a control. */
static void press(const job_t *job, int control, float *input) {
  memset(input, 0, (size_t)VCS_INPUTS * (size_t)job->run->frames * sizeof *input);
  for (int f = first_frame(job); f < end_frame(job); f++) input[VCS_INPUTS * f + controls[control]] = 1;
}

static vcs_status_t run_forward(job_t *job, int answer, int control, vcs_error_t *error) {
  vcs_grad_options_t options;
  set_method(job, answer, &options);
  press(job, control, job->input);
  for (int f = 0; f < job->run->frames; f++) job->map_by_frame[f] = map_of(job, answer, control, f);
  const vcs_grad_inputs_t inputs = {.input = job->input};
  const vcs_grad_outputs_t outputs = {.pixels = job->map_by_frame};
  return vcs_grad_jvp(job->run, &options, &inputs, &outputs, NULL, error);
}

/* One reverse pass for the controls [first, end): a directional one if there is only one, else for all at once. */
static vcs_status_t run_reverse(job_t *job, int answer, int first, int end, vcs_error_t *error) {
  vcs_grad_options_t options;
  const int frames = job->run->frames;
  set_method(job, answer, &options);
  memset(job->input, 0, (size_t)VCS_INPUTS * (size_t)frames * sizeof *job->input);
  for (int f = 0; f < frames; f++) job->map_by_frame[f] = f + 1 < frames ? NULL : job->weights;
  press(job, first, job->direction);
  const vcs_grad_inputs_t inputs = {.input = job->input}, direction = {.input = job->direction};
  const vcs_grad_outputs_t outputs = {.pixels = job->map_by_frame};
  vcs_status_t status =
      end - first == 1 ? vcs_grad_vjp_directional(NULL, job->run, &options, &direction, &inputs, &outputs, NULL, error)
                       : vcs_grad_vjp(job->run, &options, &inputs, &outputs, NULL, error);
  for (int c = first; c < end; c++) {
    double sum = 0;
    for (int f = first_frame(job); f < end_frame(job); f++) sum += (double)job->input[VCS_INPUTS * f + controls[c]];
    job->result->inverse[answer][c] = sum;
  }
  return status;
}

static vcs_status_t make_room(job_t *job, vcs_error_t *error) {
  const vcs_run_t *run = job->run;
  const vcs_joystick_options_t *o = job->options;
  const size_t frames = (size_t)run->frames;
  vcs_joystick_t *r = job->result;
  vcs_ending_t ending;
  if (frames > FRAMES_MAX || o->press < 0 || o->press >= run->frames) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "press %lld: the run has the frames 0 to %d, at most %d",
                          (long long)o->press, (int)run->frames - 1, FRAMES_MAX - 1);
  }
  if (o->top < 0 || o->top >= o->bottom || o->bottom > run->cart->frame_height) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "rows %d:%d: the picture has the rows 0 to %d", (int)o->top,
                          (int)o->bottom, (int)run->cart->frame_height - 1);
  }
  r->pixels = (size_t)VCS_WIDTH * (size_t)run->cart->frame_height;
  r->frames = run->frames;
  r->maps = calloc(ANSWERS * CONTROLS * frames * r->pixels, sizeof(float));
  r->picture = malloc(r->pixels);
  job->weights = calloc(VCS_FRAME_BYTES, sizeof(float));
  job->map_by_frame = calloc(frames, sizeof *job->map_by_frame);
  job->input = calloc(VCS_INPUTS * frames, sizeof(float));
  job->direction = calloc(VCS_INPUTS * frames, sizeof(float));
  if (!r->maps || !r->picture || !job->weights || !job->map_by_frame || !job->input || !job->direction) {
    return vcs_no_memory(error);
  }
  vcs_pixel_values(run->cart, VCS_VALUES_LUMINANCE, job->scale);
  const int middle = VCS_WIDTH / 2;
  for (int y = o->top; y < o->bottom; y++) {
    for (int x = 0; x < VCS_WIDTH; x++) job->weights[VCS_WIDTH * y + x] = (float)(x - middle);
  }
  const vcs_status_t status = vcs_ending_make(run, NULL, NULL, &ending, error);
  if (status) return status;
  memcpy(r->picture, ending.picture, r->pixels);
  vcs_ending_free(&ending);
  return VCS_OK;
}

static vcs_status_t compute(job_t *job, vcs_error_t *error) {
  vcs_steps_t steps;
  vcs_steps_begin(&steps, &job->options->report, "passes", ANSWERS - 1 + ANSWERS * CONTROLS);
  vcs_status_t status = find_truth(job, error);
  vcs_steps_add(&steps, 1);
  for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
    for (int c = 0; c < CONTROLS && status == VCS_OK && !vcs_steps_stopped(&steps); c++) {
      status = run_forward(job, answer, c, error);
      vcs_steps_add(&steps, 1);
    }
    const int passes = answer == VCS_JOYSTICK_FORK ? CONTROLS : 1;
    for (int i = 0; i < passes && status == VCS_OK && !vcs_steps_stopped(&steps); i++) {
      status = run_reverse(job, answer, i, passes == 1 ? CONTROLS : i + 1, error);
      vcs_steps_add(&steps, 1);
    }
  }
  if (status == VCS_OK && vcs_steps_stopped(&steps)) status = vcs_cancelled(error);
  vcs_steps_end(&steps);
  return status;
}

vcs_status_t vcs_joystick(const vcs_run_t *run, const vcs_joystick_options_t *given, vcs_joystick_t *result,
                          vcs_error_t *error) {
  vcs_joystick_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_joystick_options_t, &o, given, error);
  memset(result, 0, sizeof *result);
  job_t job = {.options = &o, .run = run, .result = result};
  if (status == VCS_OK) status = vcs_window_check(o.window, error);
  if (status == VCS_OK) status = make_room(&job, error);
  if (status == VCS_OK) status = compute(&job, error);
  free(job.weights);
  free(job.map_by_frame);
  free(job.input);
  free(job.direction);
  return status;
}

void vcs_joystick_free(vcs_joystick_t *result) {
  free(result->maps);
  free(result->picture);
  memset(result, 0, sizeof *result);
}
