/* score.c: the predicted effects of bits beside the true ones (study.h).
 *
 * Each place is flipped and the run executed again, which gives its true effect on the picture and on RAM at every
 * horizon; one forward pass for each method gives the prediction. Places are independent, so threads share them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/parallel.h"
#include "study/internal.h"

enum { HORIZONS_MAX = 64, RAM_BITS = 1024 };

/* Buffers of one thread. Pixels and states are by horizon. */
typedef struct {
  vcs_t *machine;
  uint8_t *frames;
  vcs_controls_t *controls;
  float *true_pixels[HORIZONS_MAX], *true_ram[HORIZONS_MAX];
  float *pixels[HORIZONS_MAX], *states[HORIZONS_MAX];
  float **pixels_by_frame, **states_by_frame;
  float *state, *input; /* the tangent */
} scratch_t;

typedef struct {
  const vcs_score_options_t *options;
  const vcs_run_t *run;
  const vcs_place_t *places;
  size_t place_count, state_size, pixel_count;
  uint8_t *pictures[HORIZONS_MAX], ram[HORIZONS_MAX][128]; /* of the unchanged run */
  scratch_t *scratch;
  vcs_agreement_t *agreements; /* [place][method][horizon][view] */
  vcs_steps_t steps;
  vcs_error_t error;
  bool failed;
} job_t;

static vcs_agreement_t *agreement_at(const job_t *job, size_t place, int method, int horizon, int view) {
  const size_t row =
      (place * (size_t)job->options->method_count + (size_t)method) * (size_t)job->options->horizon_count;
  return &job->agreements[(row + (size_t)horizon) * VCS_VIEWS + (size_t)view];
}

/* ---- The truth ---------------------------------------------------------------------------------------------- */

/* Runs with a place flipped (NULL: unchanged) and calls `look` at each horizon. */
static void rerun(job_t *job, scratch_t *scratch, const vcs_place_t *flipped,
                  void (*look)(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture)) {
  const vcs_run_t *run = job->run;
  vcs_t *m = scratch->machine;
  memcpy(m, run->start, job->state_size);
  if (run->picture) memcpy(scratch->frames, run->picture, 2 * VCS_FRAME_BYTES);
  memcpy(scratch->controls, run->controls, (size_t)run->frames * sizeof *run->controls);
  if (flipped && flipped->kind == VCS_PLACE_STATE) ((uint8_t *)m)[flipped->index] ^= (uint8_t)(1 << flipped->bit);
  if (flipped && flipped->kind == VCS_PLACE_INPUT) {
    vcs_controls_t *controls = &scratch->controls[flipped->frame];
    if (flipped->index >= VCS_INPUT_RESET) {
      controls->console ^= (uint8_t)(1 << (flipped->index - VCS_INPUT_RESET));
    } else {
      controls->held[flipped->index / VCS_INPUT_SECOND_PLAYER] ^=
          (uint8_t)(1 << flipped->index % VCS_INPUT_SECOND_PLAYER);
    }
  }
  for (int32_t f = 0, horizon = 0; f < run->frames && horizon < job->options->horizon_count; f++) {
    vcs_control(run->cart, m, &scratch->controls[f]);
    vcs_frame(run->cart, m, scratch->frames);
    if (f + 1 == job->options->horizons[horizon]) look(job, scratch, horizon++, vcs_picture(m, scratch->frames));
  }
}

static void keep_base(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture) {
  memcpy(job->pictures[horizon], picture, job->pixel_count);
  memcpy(job->ram[horizon], scratch->machine->ram, 128);
}

/* With the flip minus without it. */
static void difference(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture) {
  for (size_t i = 0; i < job->pixel_count; i++) {
    scratch->true_pixels[horizon][i] = (float)(picture[i] - job->pictures[horizon][i]);
  }
  for (int i = 0; i < RAM_BITS; i++) {
    const int now = scratch->machine->ram[i / 8] >> i % 8 & 1, was = job->ram[horizon][i / 8] >> i % 8 & 1;
    scratch->true_ram[horizon][i] = (float)(now - was);
  }
}

/* ---- One bit ------------------------------------------------------------------------------------------------ */

/* Finds the slot of a place and by how much the flip changes it, so that truth and estimate have the same sign. */
static float *tangent_of(const job_t *job, const scratch_t *scratch, const vcs_place_t *place, float *by) {
  *by = vcs_run_bit(job->run, place) == 1 ? -1.0F : 1.0F;
  if (place->kind == VCS_PLACE_INPUT) return &scratch->input[VCS_INPUTS * place->frame + place->index];
  return &scratch->state[8 * (size_t)place->index + place->bit];
}

static vcs_status_t estimate(const job_t *job, scratch_t *scratch, const vcs_place_t *place, int method,
                             vcs_error_t *error) {
  vcs_grad_options_t options;
  float by, *tangent = tangent_of(job, scratch, place, &by);
  vcs_study_method_options(method, (int32_t)job->options->window, &options);
  options.side = VCS_SIDE_TANGENT;
  for (int h = 0; h < job->options->horizon_count; h++) {
    memset(scratch->pixels[h], 0, VCS_FRAME_BYTES * sizeof(float));
    memset(scratch->states[h], 0, 8 * job->state_size * sizeof(float));
  }
  *tangent = by;
  const vcs_grad_inputs_t in = {scratch->state, NULL, scratch->input};
  const vcs_grad_outputs_t out = {.pixels = scratch->pixels_by_frame, .states = scratch->states_by_frame};
  vcs_status_t status = vcs_grad_jvp(job->run, &options, &in, &out, NULL, error);
  *tangent = 0;
  return status;
}

static bool score_place(void *context, size_t item, int worker) {
  job_t *job = context;
  scratch_t *scratch = &job->scratch[worker];
  const vcs_place_t *place = &job->places[item];
  rerun(job, scratch, place, difference);
  for (int method = 0; method < job->options->method_count; method++) {
    vcs_error_t error = {""};
    if (estimate(job, scratch, place, job->options->methods[method], &error)) {
      job->error = error; /* any of several errors serves */
      job->failed = true;
      return false;
    }
    for (int h = 0; h < job->options->horizon_count; h++) {
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_SCREEN), scratch->true_pixels[h],
                        scratch->pixels[h], job->pixel_count);
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_RAM), scratch->true_ram[h],
                        scratch->states[h] + 8 * offsetof(vcs_t, ram), RAM_BITS);
    }
    if (!vcs_steps_add(&job->steps, 1)) return false;
  }
  return true;
}

/* ---- Room --------------------------------------------------------------------------------------------------- */

static void *room(size_t count, size_t size, bool *failed) {
  void *data = calloc(count, size);
  if (!data) *failed = true;
  return data;
}

static void make_scratch(const job_t *job, scratch_t *s, bool *failed) {
  const size_t frames = (size_t)job->run->frames;
  s->machine = room(1, sizeof(vcs_t), failed);
  s->frames = room(2, VCS_FRAME_BYTES, failed);
  s->controls = room(frames, sizeof *s->controls, failed);
  s->pixels_by_frame = room(frames, sizeof(float *), failed);
  s->states_by_frame = room(frames, sizeof(float *), failed);
  s->state = room(8 * job->state_size, sizeof(float), failed);
  s->input = room(VCS_INPUTS * frames, sizeof(float), failed);
  for (int h = 0; h < job->options->horizon_count && !*failed; h++) {
    s->true_pixels[h] = room(VCS_FRAME_BYTES, sizeof(float), failed);
    s->true_ram[h] = room(RAM_BITS, sizeof(float), failed);
    s->pixels[h] = room(VCS_FRAME_BYTES, sizeof(float), failed);
    s->states[h] = room(8 * job->state_size, sizeof(float), failed);
    s->pixels_by_frame[job->options->horizons[h] - 1] = s->pixels[h];
    s->states_by_frame[job->options->horizons[h] - 1] = s->states[h];
  }
}

static void free_scratch(scratch_t *s) {
  free(s->machine);
  free(s->frames);
  free(s->controls);
  free(s->pixels_by_frame);
  free(s->states_by_frame);
  free(s->state);
  free(s->input);
  for (int h = 0; h < HORIZONS_MAX; h++) {
    free(s->true_pixels[h]);
    free(s->true_ram[h]);
    free(s->pixels[h]);
    free(s->states[h]);
  }
}

/* ---- All places --------------------------------------------------------------------------------------------- */

static vcs_status_t check_options(const vcs_run_t *run, const vcs_score_options_t *o, const vcs_place_t *places,
                                  size_t count, vcs_error_t *error) {
  if (o->horizon_count < 1 || o->horizon_count > HORIZONS_MAX) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "1 to %d horizons can be compared", HORIZONS_MAX);
  }
  for (int h = 0; h < o->horizon_count; h++) {
    if (o->horizons[h] <= (h ? o->horizons[h - 1] : 0) || o->horizons[h] > run->frames) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "horizons ascend from 1 to the %d frames of the run",
                            (int)run->frames);
    }
  }
  for (int i = 0; i < o->method_count; i++) {
    if (!vcs_study_method_name(o->methods[i])) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no method %d", (int)o->methods[i]);
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (places[i].kind == VCS_PLACE_ROM || vcs_run_bit(run, &places[i]) < 0) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "place %zu is not a bit of the state or an input of the run", i);
    }
  }
  return VCS_OK;
}

/* Computes all agreements; `workers` is the number of threads. */
static vcs_status_t compute(job_t *job, int workers, vcs_error_t *error) {
  const vcs_score_options_t *o = job->options;
  bool failed = false;
  job->scratch = room((size_t)workers, sizeof *job->scratch, &failed);
  job->agreements = room(job->place_count * (size_t)(o->method_count * o->horizon_count * VCS_VIEWS),
                         sizeof *job->agreements, &failed);
  for (int i = 0; i < workers && !failed; i++) make_scratch(job, &job->scratch[i], &failed);
  for (int h = 0; h < o->horizon_count && !failed; h++) job->pictures[h] = room(job->pixel_count, 1, &failed);
  if (failed || !job->scratch || !job->scratch[0].machine) return vcs_no_memory(error);
  rerun(job, &job->scratch[0], NULL, keep_base);
  vcs_steps_begin(&job->steps, &o->report, "predictions", job->place_count * (uint64_t)o->method_count);
  vcs_parallel(job->place_count, (int)o->threads, score_place, job);
  const bool stopped = vcs_steps_stopped(&job->steps);
  vcs_steps_end(&job->steps);
  if (job->failed) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s", job->error.message);
  return stopped ? vcs_cancelled(error) : VCS_OK;
}

vcs_status_t vcs_score(const vcs_run_t *run, const vcs_score_options_t *given, const vcs_place_t *places, size_t count,
                       vcs_agreements_t *results, vcs_error_t *error) {
  static const int32_t all[] = {VCS_STUDY_NAIVE, VCS_STUDY_STE, VCS_STUDY_BIT, VCS_STUDY_BIT_FORK};
  vcs_score_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_score_options_t, &o, given, error);
  if (status) return status;
  if (!o.methods) o.methods = all, o.method_count = VCS_STUDY_METHODS;
  if (!o.horizons) o.horizons = &run->frames, o.horizon_count = 1;
  status = check_options(run, &o, places, count, error);
  if (status) return status;
  job_t *job = calloc(1, sizeof *job);
  if (!job) return vcs_no_memory(error);
  job->options = &o;
  job->run = run;
  job->places = places;
  job->place_count = count;
  job->state_size = vcs_state_size(run->cart);
  job->pixel_count = (size_t)VCS_WIDTH * (size_t)run->cart->frame_height;
  const int workers = vcs_thread_count((int)o.threads, count);
  status = compute(job, workers, error);
  for (int row = 0; row < o.method_count * o.horizon_count * VCS_VIEWS && status == VCS_OK; row++) {
    const int view = row % VCS_VIEWS, h = row / VCS_VIEWS % o.horizon_count, m = row / VCS_VIEWS / o.horizon_count;
    results[row] = (vcs_agreements_t){.maps = 0};
    for (size_t i = 0; i < count; i++) vcs_agreements_add(&results[row], agreement_at(job, i, m, h, view));
  }
  for (int i = 0; job->scratch && i < workers; i++) free_scratch(&job->scratch[i]);
  for (int h = 0; h < o.horizon_count; h++) free(job->pictures[h]);
  free(job->scratch);
  free(job->agreements);
  free(job);
  return status;
}
