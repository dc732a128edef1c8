/* score_vjp.c: reverse passes beside the truth (study.h).
 *
 * At each horizon some pixels are drawn among those that the exact Jacobian says some place changes. A reverse pass
 * from one pixel, or from all pixels of the cell of a grid that contains it, predicts the effect of every place on it;
 * the truth is that pixel's row of the Jacobian, or the sum of the cell's rows. One walk gives the rows of all pixels,
 * so that its price does not depend on how many are looked at.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "grad/rerun.h"
#include "host/parallel.h"
#include "study/internal.h"

typedef struct {
  const vcs_score_options_t *options;
  const vcs_run_t *run;
  const vcs_place_t *places;
  size_t count;
  vcs_jacobian_entry_t *entries;
  size_t entry_count;
  int32_t pixels, workers;
  uint32_t *chosen;            /* [horizon][pixel]; UINT32_MAX: none */
  vcs_agreement_t *agreements; /* [horizon][pixel][method] */
  double *seconds;
  vcs_steps_t steps;
  atomic_bool failed; /* set by any thread */
} job_t;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Draws entries of each horizon; their pixels are looked at. */
static void choose(job_t *job, uint64_t random) {
  for (int h = 0; h < job->options->horizon_count; h++) {
    size_t here = 0;
    for (size_t i = 0; i < job->entry_count; i++) here += job->entries[i].horizon == h;
    for (int32_t p = 0; p < job->pixels; p++) {
      uint32_t *chosen = &job->chosen[h * job->pixels + p];
      *chosen = UINT32_MAX;
      random = random * 6364136223846793005u + 1442695040888963407u;
      size_t left = here ? (size_t)((random >> 33) % here) + 1 : 0;
      for (size_t i = 0; left && i < job->entry_count; i++) {
        if (job->entries[i].horizon == h && !--left) *chosen = job->entries[i].index;
      }
    }
  }
}

/* Whether a pixel is the one that was drawn, or in the same cell. */
static bool is_output(const job_t *job, uint32_t pixel, uint32_t drawn) {
  const int32_t *cell = job->options->cell;
  if (!cell[0] || !cell[1]) return pixel == drawn;
  return pixel % VCS_WIDTH / (uint32_t)cell[0] == drawn % VCS_WIDTH / (uint32_t)cell[0] &&
         pixel / VCS_WIDTH / (uint32_t)cell[1] == drawn / VCS_WIDTH / (uint32_t)cell[1];
}

/* The derivative of one pixel, or cell, after some frames with respect to every place, by a method. */
static bool predict(const job_t *job, int method, int32_t frames, uint32_t pixel, float *estimate) {
  const vcs_run_t run = {job->run->cart, job->run->start, job->run->picture, job->run->controls, frames};
  const size_t state = 8 * vcs_state_size(run.cart), rom = (size_t)8 * run.cart->rom_size,
               input = (size_t)VCS_INPUTS * (size_t)frames;
  bool wanted[3] = {false};
  for (size_t i = 0; i < job->count; i++) wanted[job->places[i].kind] = true;
  float *slots[] = {calloc(state, sizeof(float)), calloc(rom, sizeof(float)), calloc(input, sizeof(float))};
  float *pixels = calloc(VCS_FRAME_BYTES, sizeof(float)), **by_frame = calloc((size_t)frames, sizeof *by_frame);
  bool done = slots[0] && slots[1] && slots[2] && pixels && by_frame;
  if (done) {
    vcs_grad_options_t options;
    vcs_study_method_options(method, (int32_t)job->options->window, &options);
    options.budget = job->options->budget;
    options.threads = 1;
    for (uint32_t i = 0; i < VCS_WIDTH * (uint32_t)run.cart->frame_height; i++) pixels[i] = is_output(job, i, pixel);
    by_frame[frames - 1] = pixels;
    const vcs_grad_inputs_t inputs = {wanted[0] ? slots[0] : NULL, wanted[1] ? slots[1] : NULL,
                                      wanted[2] ? slots[2] : NULL};
    const vcs_grad_outputs_t outputs = {.pixels = by_frame};
    done = vcs_grad_vjp(&run, &options, &inputs, &outputs, NULL, NULL) == VCS_OK;
  }
  for (size_t i = 0; done && i < job->count; i++) {
    const vcs_place_t *p = &job->places[i];
    const bool late = p->kind == VCS_PLACE_INPUT && p->frame >= frames;
    const size_t slot =
        p->kind == VCS_PLACE_INPUT ? (size_t)VCS_INPUTS * p->frame + p->index : 8 * (size_t)p->index + p->bit;
    estimate[i] = late ? 0 : slots[p->kind][slot];
  }
  for (int i = 0; i < 3; i++) free(slots[i]);
  free(pixels);
  free(by_frame);
  return done;
}

static bool score_pixel(void *context, size_t item, int worker) {
  job_t *job = context;
  const vcs_score_options_t *o = job->options;
  const int horizon = (int)(item / (size_t)job->pixels);
  const uint32_t pixel = job->chosen[item];
  (void)worker;
  if (pixel == UINT32_MAX) return vcs_steps_add(&job->steps, (uint64_t)o->method_count);
  float *truth = calloc(job->count + 1, sizeof *truth), *estimate = calloc(job->count + 1, sizeof *estimate);
  bool done = truth && estimate;
  for (size_t i = 0; done && i < job->entry_count; i++) {
    const vcs_jacobian_entry_t *e = &job->entries[i];
    if (e->horizon != horizon || !is_output(job, e->index, pixel)) continue;
    const int sign = vcs_run_bit(job->run, &job->places[e->flip]) == 1 ? -1 : 1;
    truth[e->flip] += (float)(sign * (e->flipped - e->base));
  }
  for (int m = 0; m < o->method_count && done; m++) {
    const bool exact = o->methods[m] == VCS_STUDY_EXACT;
    const size_t at = item * (size_t)o->method_count + (size_t)m;
    const double begin = now(CLOCK_THREAD_CPUTIME_ID);
    if (!exact) done = predict(job, o->methods[m], o->horizons[horizon], pixel, estimate);
    job->seconds[at] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (done) vcs_agreement_add(&job->agreements[at], truth, exact ? truth : estimate, job->count);
    vcs_steps_add(&job->steps, 1);
  }
  free(truth);
  free(estimate);
  if (!done) job->failed = true;
  return done && !vcs_steps_stopped(&job->steps);
}

static vcs_status_t find_rows(job_t *job, double *seconds, vcs_error_t *error) {
  const vcs_jacobian_options_t options = {.of = VCS_OF_SCREEN,
                                          .horizons = job->options->horizons,
                                          .horizon_count = job->options->horizon_count,
                                          .threads = job->options->threads};
  const clockid_t clock = options.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
  size_t capacity = 1 << 18;
  for (;;) {
    vcs_jacobian_entry_t *more = realloc(job->entries, capacity * sizeof *more);
    if (!more) return vcs_no_memory(error);
    job->entries = more;
    const double begin = now(clock);
    const vcs_status_t status = vcs_jacobian(job->run, &options, job->places, NULL, job->count, job->entries, capacity,
                                             &job->entry_count, NULL, error);
    *seconds = now(clock) - begin;
    if (job->entry_count <= capacity) return status;
    capacity = job->entry_count;
  }
}

vcs_status_t vcs_score_vjp(const vcs_run_t *run, const vcs_score_options_t *given, const vcs_place_t *places,
                           size_t count, int32_t pixels, uint64_t seed, vcs_agreements_t *results, vcs_error_t *error) {
  vcs_score_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_score_options_t, &o, given, error);
  if (status == VCS_OK) status = vcs_threads_check(o.threads, error);
  if (status) return status;
  if (!o.methods || !o.horizons || pixels < 1 || o.cell[0] < 0 || o.cell[1] < 0) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "reverse passes are scored by given methods, horizons and pixels");
  }
  status = vcs_run_check(run, o.horizons, o.horizon_count, NULL, error);
  if (status == VCS_OK) status = vcs_methods_check(o.methods, o.method_count, error);
  if (status == VCS_OK) status = vcs_window_check(o.window, error);
  if (status) return status;
  job_t job = {.options = &o, .run = run, .places = places, .count = count, .pixels = pixels};
  const size_t items = (size_t)o.horizon_count * (size_t)pixels, rows = items * (size_t)o.method_count;
  double walk = 0;
  status = find_rows(&job, &walk, error);
  job.chosen = calloc(items, sizeof *job.chosen);
  job.agreements = calloc(rows, sizeof *job.agreements);
  job.seconds = calloc(rows, sizeof *job.seconds);
  if (status == VCS_OK && (!job.chosen || !job.agreements || !job.seconds)) status = vcs_no_memory(error);
  if (status == VCS_OK) {
    choose(&job, seed);
    vcs_steps_begin(&job.steps, &o.report, "reverse passes", rows);
    vcs_parallel(items, (int)o.threads, score_pixel, &job);
    if (vcs_steps_stopped(&job.steps)) status = vcs_cancelled(error);
    vcs_steps_end(&job.steps);
    if (job.failed) status = vcs_no_memory(error);
  }
  const double frame = status == VCS_OK && o.costs ? vcs_frame_seconds(run, error) : 0;
  for (int m = 0; m < o.method_count && status == VCS_OK; m++) {
    double sum = 0;
    int passes = 0;
    for (int h = 0; h < o.horizon_count; h++) {
      vcs_agreements_t *result = &results[m * o.horizon_count + h];
      *result = (vcs_agreements_t){.maps = 0};
      for (int32_t p = 0; p < pixels; p++) {
        const size_t item = (size_t)(h * pixels + p);
        if (job.chosen[item] == UINT32_MAX) continue;
        vcs_agreements_add(result, &job.agreements[item * (size_t)o.method_count + (size_t)m]);
        sum += job.seconds[item * (size_t)o.method_count + (size_t)m];
        passes++;
      }
    }
    if (o.costs) o.costs[m] = frame > 0 && passes ? (o.methods[m] == VCS_STUDY_EXACT ? walk : sum / passes) / frame : 0;
  }
  free(job.entries);
  free(job.chosen);
  free(job.agreements);
  free(job.seconds);
  return status;
}
