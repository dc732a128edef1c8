/* score.c: the predicted effects of bits beside the true ones (study.h).
 *
 * The exact Jacobian gives the true effect of each place on the picture and on RAM at every horizon; one forward pass
 * for each method gives the prediction. Places are independent, so threads share them. They are taken some at a time,
 * so that there is room for what they change.
 *
 * What a method costs is the processor time of its passes, in units of that of a drawn frame of the same run: a ratio
 * that a busy machine changes little. The cost of `exact` is the walk's, shared by its places.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "host/arena.h"
#include "host/parallel.h"
#include "study/internal.h"

enum { HORIZONS_MAX = 64, RAM_BITS = 1024, PART = 256, FRAMES_TIMED = 60 };

/* Buffers of one thread. Pixels and states are by horizon. */
typedef struct {
  float *true_pixels[HORIZONS_MAX], *true_ram[HORIZONS_MAX];
  float *pixels[HORIZONS_MAX], *states[HORIZONS_MAX];
  float **pixels_by_frame, **states_by_frame;
  float *state, *rom, *input; /* the tangent */
} scratch_t;

typedef struct {
  const vcs_score_options_t *options;
  const vcs_run_t *run;
  const vcs_place_t *places;
  size_t place_count, state_size, pixel_count, first; /* of the part that is compared */
  vcs_jacobian_entry_t *entries;                      /* what its places change ... */
  size_t starts[PART + 1], capacity;                  /* ... from here on, for each of them */
  double walk_seconds, *seconds;                      /* of the truth; [place][method] */
  vcs_arena_t arena;                                  /* of the arrays below and of `seconds` */
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

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- The truth ---------------------------------------------------------------------------------------------- */

/* The entries of `count` places from job->first on. */
static vcs_status_t find_truth(job_t *job, size_t count, vcs_error_t *error) {
  const vcs_score_options_t *o = job->options;
  const vcs_jacobian_options_t options = {.of = VCS_OF_SCREEN | VCS_OF_RAM,
                                          .horizons = o->horizons,
                                          .horizon_count = o->horizon_count,
                                          .threads = o->threads};
  const vcs_place_t *places = job->places + job->first;
  size_t found = 0;
  const double begin = now(CLOCK_PROCESS_CPUTIME_ID);
  vcs_status_t status =
      vcs_jacobian(job->run, &options, places, NULL, count, job->entries, job->capacity, &found, NULL, error);
  job->walk_seconds += now(CLOCK_PROCESS_CPUTIME_ID) - begin;
  if (found > job->capacity) {
    vcs_jacobian_entry_t *more = realloc(job->entries, found * sizeof *more);
    if (!more) return vcs_no_memory(error);
    job->entries = more;
    job->capacity = found;
    status = vcs_jacobian(job->run, &options, places, NULL, count, job->entries, job->capacity, &found, NULL, error);
  }
  for (size_t i = 0, at = 0; i <= count && status == VCS_OK; i++) {
    job->starts[i] = at;
    while (at < found && job->entries[at].flip == i) at++;
  }
  return status;
}

/* With the flip minus without it, as maps. */
static void unfold(const job_t *job, scratch_t *scratch, size_t item) {
  for (int h = 0; h < job->options->horizon_count; h++) {
    memset(scratch->true_pixels[h], 0, job->pixel_count * sizeof(float));
    memset(scratch->true_ram[h], 0, RAM_BITS * sizeof(float));
  }
  for (size_t k = job->starts[item]; k < job->starts[item + 1]; k++) {
    const vcs_jacobian_entry_t *e = &job->entries[k];
    if (e->of == VCS_OF_SCREEN) scratch->true_pixels[e->horizon][e->index] = (float)(e->flipped - e->base);
    for (uint32_t bit = 0; e->of == VCS_OF_RAM && bit < 8; bit++) {
      scratch->true_ram[e->horizon][8 * e->index + bit] = (float)((e->flipped >> bit & 1) - (e->base >> bit & 1));
    }
  }
}

/* ---- One bit ------------------------------------------------------------------------------------------------ */

/* Finds the slot of a place and by how much the flip changes it, so that truth and estimate have the same sign. */
static float *tangent_of(const job_t *job, const scratch_t *scratch, const vcs_place_t *place, float *by) {
  *by = vcs_run_bit(job->run, place) == 1 ? -1.0F : 1.0F;
  if (place->kind == VCS_PLACE_INPUT) return &scratch->input[VCS_INPUTS * place->frame + place->index];
  if (place->kind == VCS_PLACE_ROM) return &scratch->rom[8 * (size_t)place->index + place->bit];
  return &scratch->state[8 * (size_t)place->index + place->bit];
}

static vcs_status_t estimate(const job_t *job, scratch_t *scratch, const vcs_place_t *place, int method,
                             vcs_error_t *error) {
  vcs_grad_options_t options;
  float by, *tangent = tangent_of(job, scratch, place, &by);
  vcs_study_method_options(method, (int32_t)job->options->window, &options);
  options.side = VCS_SIDE_TANGENT;
  options.budget = job->options->budget;
  options.threads = 1;
  for (int h = 0; h < job->options->horizon_count; h++) {
    memset(scratch->pixels[h], 0, VCS_FRAME_BYTES * sizeof(float));
    memset(scratch->states[h], 0, 8 * job->state_size * sizeof(float));
  }
  *tangent = by;
  const vcs_grad_inputs_t in = {place->kind == VCS_PLACE_STATE ? scratch->state : NULL,
                                place->kind == VCS_PLACE_ROM ? scratch->rom : NULL,
                                place->kind == VCS_PLACE_INPUT ? scratch->input : NULL};
  const vcs_grad_outputs_t out = {.pixels = scratch->pixels_by_frame, .states = scratch->states_by_frame};
  vcs_status_t status = vcs_grad_jvp(job->run, &options, &in, &out, NULL, error);
  *tangent = 0;
  return status;
}

static bool score_place(void *context, size_t part_item, int worker) {
  job_t *job = context;
  scratch_t *scratch = &job->scratch[worker];
  const size_t item = job->first + part_item;
  const vcs_place_t *place = &job->places[item];
  unfold(job, scratch, part_item);
  for (int method = 0; method < job->options->method_count; method++) {
    const bool exact = job->options->methods[method] == VCS_STUDY_EXACT;
    vcs_error_t error = {""};
    const double begin = now(CLOCK_THREAD_CPUTIME_ID);
    if (!exact && estimate(job, scratch, place, job->options->methods[method], &error)) {
      job->error = error; /* any of several errors serves */
      job->failed = true;
      return false;
    }
    job->seconds[item * (size_t)job->options->method_count + (size_t)method] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    for (int h = 0; h < job->options->horizon_count; h++) {
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_SCREEN), scratch->true_pixels[h],
                        exact ? scratch->true_pixels[h] : scratch->pixels[h], job->pixel_count);
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_RAM), scratch->true_ram[h],
                        exact ? scratch->true_ram[h] : scratch->states[h] + 8 * offsetof(vcs_t, ram), RAM_BITS);
    }
    if (!vcs_steps_add(&job->steps, 1)) return false;
  }
  return true;
}

/* ---- Room --------------------------------------------------------------------------------------------------- */

static void make_scratch(job_t *job, scratch_t *s) {
  vcs_arena_t *arena = &job->arena;
  const size_t frames = (size_t)job->run->frames;
  s->pixels_by_frame = vcs_arena_take(arena, frames, sizeof(float *));
  s->states_by_frame = vcs_arena_take(arena, frames, sizeof(float *));
  s->state = vcs_arena_take(arena, 8 * job->state_size, sizeof(float));
  s->rom = vcs_arena_take(arena, (size_t)8 * job->run->cart->rom_size, sizeof(float));
  s->input = vcs_arena_take(arena, VCS_INPUTS * frames, sizeof(float));
  for (int h = 0; h < job->options->horizon_count && !arena->failed; h++) {
    s->true_pixels[h] = vcs_arena_take(arena, VCS_FRAME_BYTES, sizeof(float));
    s->true_ram[h] = vcs_arena_take(arena, RAM_BITS, sizeof(float));
    s->pixels[h] = vcs_arena_take(arena, VCS_FRAME_BYTES, sizeof(float));
    s->states[h] = vcs_arena_take(arena, 8 * job->state_size, sizeof(float));
    if (arena->failed) return;
    s->pixels_by_frame[job->options->horizons[h] - 1] = s->pixels[h];
    s->states_by_frame[job->options->horizons[h] - 1] = s->states[h];
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
    if (vcs_run_bit(run, &places[i]) < 0) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "place %zu is not a bit or an input of the run", i);
    }
  }
  return VCS_OK;
}

/* Computes all agreements; `workers` is the number of threads. */
static vcs_status_t compute(job_t *job, int workers, vcs_error_t *error) {
  const vcs_score_options_t *o = job->options;
  vcs_arena_t *arena = &job->arena;
  job->scratch = vcs_arena_take(arena, (size_t)workers, sizeof *job->scratch);
  job->agreements = vcs_arena_take(arena, job->place_count * (size_t)(o->method_count * o->horizon_count * VCS_VIEWS),
                                   sizeof *job->agreements);
  job->seconds = vcs_arena_take(arena, job->place_count * (size_t)o->method_count, sizeof *job->seconds);
  for (int i = 0; i < workers && !arena->failed; i++) make_scratch(job, &job->scratch[i]);
  vcs_status_t status = vcs_arena_status(arena, error);
  if (status) return status;
  vcs_steps_begin(&job->steps, &o->report, "predictions", job->place_count * (uint64_t)o->method_count);
  for (; job->first < job->place_count && status == VCS_OK && !vcs_steps_stopped(&job->steps); job->first += PART) {
    const size_t left = job->place_count - job->first, count = left < PART ? left : PART;
    status = find_truth(job, count, error);
    if (status == VCS_OK && vcs_parallel(count, (int)o->threads, score_place, job) < count) break;
  }
  const bool stopped = vcs_steps_stopped(&job->steps);
  vcs_steps_end(&job->steps);
  if (status) return status;
  if (job->failed) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s", job->error.message);
  return stopped ? vcs_cancelled(error) : VCS_OK;
}

double vcs_frame_seconds(const vcs_run_t *run, vcs_error_t *error) {
  double least = -1;
  for (int tries = 0; tries < 3; tries++) {
    vcs_ending_t ending;
    double total = 0;
    int frames = 0;
    while (frames < FRAMES_TIMED) {
      const double begin = now(CLOCK_THREAD_CPUTIME_ID);
      if (vcs_ending_make(run, NULL, NULL, &ending, error)) return -1;
      total += now(CLOCK_THREAD_CPUTIME_ID) - begin;
      frames += run->frames;
      vcs_ending_free(&ending);
    }
    if (least < 0 || total / frames < least) least = total / frames;
  }
  return least;
}

/* Fills in the costs. */
static vcs_status_t find_costs(const job_t *job, vcs_error_t *error) {
  const vcs_score_options_t *o = job->options;
  const double frame = vcs_frame_seconds(job->run, error);
  if (frame < 0) return VCS_NO_MEMORY;
  for (int m = 0; m < o->method_count; m++) {
    double sum = o->methods[m] == VCS_STUDY_EXACT ? job->walk_seconds : 0;
    for (size_t i = 0; i < job->place_count; i++) sum += job->seconds[i * (size_t)o->method_count + (size_t)m];
    o->costs[m] = job->place_count && frame > 0 ? sum / (double)job->place_count / frame : 0;
  }
  return VCS_OK;
}

vcs_status_t vcs_score(const vcs_run_t *run, const vcs_score_options_t *given, const vcs_place_t *places, size_t count,
                       vcs_agreements_t *results, vcs_error_t *error) {
  static const int32_t all[] = {VCS_STUDY_NAIVE,    VCS_STUDY_STE,   VCS_STUDY_BIT,
                                VCS_STUDY_BIT_FORK, VCS_STUDY_EXACT, VCS_STUDY_HYBRID};
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
  if (status == VCS_OK && o.costs) status = find_costs(job, error);
  for (int row = 0; row < o.method_count * o.horizon_count * VCS_VIEWS && status == VCS_OK; row++) {
    const int view = row % VCS_VIEWS, h = row / VCS_VIEWS % o.horizon_count, m = row / VCS_VIEWS / o.horizon_count;
    results[row] = (vcs_agreements_t){.maps = 0};
    for (size_t i = 0; i < count; i++) vcs_agreements_add(&results[row], agreement_at(job, i, m, h, view));
  }
  vcs_arena_free(&job->arena);
  free(job->entries);
  free(job);
  return status;
}
