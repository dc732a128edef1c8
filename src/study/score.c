/* score.c: the predicted effects of bits beside the true ones (study.h).
 *
 * The exact Jacobian gives the true effect of each place on the picture and on RAM at every horizon; one forward pass
 * for each method gives the prediction. Places are independent, so threads share them, some at a time: what does not
 * depend on the place, the tapes of the run and the forks on them, is made once for those (grad/each.h).
 *
 * What a method costs is the processor time of one forward pass by itself, in units of that of a drawn frame of the
 * same run: a ratio that a busy machine changes little. It is measured for the first place of every PART. The cost of
 * `exact` is the walk's, shared by its places.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "grad/each.h"
#include "host/arena.h"
#include "host/parallel.h"
#include "study/internal.h"

enum { HORIZONS_MAX = 64, RAM_BITS = 1024, PART = 256, TOGETHER = 32, FRAMES_TIMED = 60 };

/* Buffers of one thread. Pixels and states are by horizon. */
typedef struct {
  float *true_pixels, *true_ram, *nothing; /* of one horizon; between places they are 0 */
  float *pixels[HORIZONS_MAX], *states[HORIZONS_MAX];
  float **pixels_by_frame, **states_by_frame;
  float *state, *rom, *input; /* the tangent */
} scratch_t;

typedef struct {
  const vcs_score_options_t *options;
  const vcs_run_t *run;
  const vcs_place_t *places;
  size_t place_count, state_size, pixel_count;
  size_t first, part_count;          /* the part that is compared */
  vcs_jacobian_entry_t *entries;     /* what its places change ... */
  size_t starts[PART + 1], capacity; /* ... from here on, for each of them */
  double walk_seconds, *seconds;     /* of the truth; [part][method] */
  uint8_t *looks;                    /* by frame: it is a horizon */
  vcs_arena_t arena;                 /* of the arrays below and of `seconds` */
  scratch_t *scratch;
  vcs_agreement_t *agreements; /* [place][method][horizon][view] */
  vcs_steps_t steps;
  vcs_error_t error;
  atomic_bool failed; /* set by any thread */
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
  const clockid_t clock = o->threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
  const double begin = now(clock);
  vcs_status_t status =
      vcs_jacobian(job->run, &options, places, NULL, count, job->entries, job->capacity, &found, NULL, error);
  job->walk_seconds += now(clock) - begin;
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

/* With the flip minus without it, as maps of a horizon; or what that has set is 0 again. */
static void unfold(const job_t *job, const scratch_t *scratch, size_t part_item, int horizon, bool again) {
  for (size_t k = job->starts[part_item]; k < job->starts[part_item + 1]; k++) {
    const vcs_jacobian_entry_t *e = &job->entries[k];
    if (e->horizon != horizon) continue;
    if (e->of == VCS_OF_SCREEN) scratch->true_pixels[e->index] = again ? 0 : (float)(e->flipped - e->base);
    for (uint32_t bit = 0; e->of == VCS_OF_RAM && bit < 8; bit++) {
      scratch->true_ram[8 * e->index + bit] = again ? 0 : (float)((e->flipped >> bit & 1) - (e->base >> bit & 1));
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

/* Places that are predicted together by one method. */
typedef struct {
  job_t *job;
  const scratch_t *scratch;
  size_t first; /* in the part */
  int method;
} group_t;

/* A prediction beside the truth; NULL: the truth itself. */
static void compare(const group_t *group, size_t part_item, int h, const float *pixels, const float *ram) {
  const job_t *job = group->job;
  const scratch_t *scratch = group->scratch;
  const size_t item = job->first + part_item;
  unfold(job, scratch, part_item, h, false);
  vcs_agreement_add(agreement_at(job, item, group->method, h, VCS_VIEW_SCREEN), scratch->true_pixels,
                    pixels ? pixels : scratch->true_pixels, job->pixel_count);
  vcs_agreement_add(agreement_at(job, item, group->method, h, VCS_VIEW_RAM), scratch->true_ram,
                    ram ? ram : scratch->true_ram, RAM_BITS);
  unfold(job, scratch, part_item, h, true);
}

static void see(void *context, size_t place, int32_t frame, const float *pixels, const float *bits) {
  const group_t *group = context;
  const scratch_t *scratch = group->scratch;
  int h = 0;
  while (group->job->options->horizons[h] != frame + 1) h++;
  compare(group, group->first + place, h, pixels ? pixels : scratch->nothing,
          bits ? bits + 8 * offsetof(vcs_t, ram) : scratch->nothing);
}

static vcs_status_t predict_together(group_t *group, size_t count, vcs_error_t *error) {
  const job_t *job = group->job;
  vcs_grad_options_t options;
  vcs_study_method_options(job->options->methods[group->method], (int32_t)job->options->window, &options);
  options.side = VCS_SIDE_TANGENT;
  return vcs_grad_jvp_each(job->run, &options, job->places + job->first + group->first, count, job->looks, see, group,
                           error);
}

/* A place by itself; the first of a part is timed. */
static vcs_status_t predict_alone(const group_t *group, scratch_t *scratch, size_t part_item, vcs_error_t *error) {
  const job_t *job = group->job;
  const size_t methods = (size_t)job->options->method_count, method = (size_t)group->method;
  const double begin = now(CLOCK_THREAD_CPUTIME_ID);
  const vcs_status_t status =
      estimate(job, scratch, &job->places[job->first + part_item], job->options->methods[method], error);
  if (part_item == 0) job->seconds[job->first / PART * methods + method] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
  return status;
}

/* Predicts and compares some places by one method. */
static vcs_status_t score_group(group_t *group, scratch_t *scratch, size_t count, vcs_error_t *error) {
  const job_t *job = group->job;
  const int32_t method = job->options->methods[group->method];
  vcs_status_t status = VCS_OK;
  if (method != VCS_STUDY_EXACT && method != VCS_STUDY_HYBRID) {
    if (group->first == 0 && job->options->costs) status = predict_alone(group, scratch, 0, error);
    return status ? status : predict_together(group, count, error);
  }
  for (size_t i = group->first; i < group->first + count && status == VCS_OK; i++) {
    const bool exact = method == VCS_STUDY_EXACT;
    if (!exact) status = predict_alone(group, scratch, i, error);
    for (int h = 0; h < job->options->horizon_count && status == VCS_OK; h++) {
      compare(group, i, h, exact ? NULL : scratch->pixels[h],
              exact ? NULL : scratch->states[h] + 8 * offsetof(vcs_t, ram));
    }
  }
  return status;
}

static bool score_places(void *context, size_t number, int worker) {
  job_t *job = context;
  const size_t first = TOGETHER * number, left = job->part_count - first, count = left < TOGETHER ? left : TOGETHER;
  for (int method = 0; method < job->options->method_count; method++) {
    group_t group = {job, &job->scratch[worker], first, method};
    vcs_error_t error = {""};
    if (score_group(&group, &job->scratch[worker], count, &error)) {
      if (!atomic_exchange(&job->failed, true)) job->error = error; /* the first of several errors */
      return false;
    }
    if (!vcs_steps_add(&job->steps, count)) return false;
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
  s->true_pixels = vcs_arena_take(arena, VCS_FRAME_BYTES, sizeof(float));
  s->true_ram = vcs_arena_take(arena, RAM_BITS, sizeof(float));
  s->nothing = vcs_arena_take(arena, VCS_FRAME_BYTES, sizeof(float));
  for (int h = 0; h < job->options->horizon_count && !arena->failed; h++) {
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
  vcs_status_t status = vcs_methods_check(o->methods, o->method_count, error);
  if (status == VCS_OK) status = vcs_window_check(o->window, error);
  if (status) return status;
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
  job->seconds = vcs_arena_take(arena, (job->place_count / PART + 1) * (size_t)o->method_count, sizeof *job->seconds);
  job->looks = vcs_arena_take(arena, (size_t)job->run->frames, 1);
  for (int i = 0; i < workers && !arena->failed; i++) make_scratch(job, &job->scratch[i]);
  vcs_status_t status = vcs_arena_status(arena, error);
  if (status) return status;
  for (int h = 0; h < o->horizon_count; h++) job->looks[o->horizons[h] - 1] = 1;
  vcs_steps_begin(&job->steps, &o->report, "predictions", job->place_count * (uint64_t)o->method_count);
  for (; job->first < job->place_count && status == VCS_OK && !vcs_steps_stopped(&job->steps); job->first += PART) {
    const size_t left = job->place_count - job->first;
    job->part_count = left < PART ? left : PART;
    const size_t groups = (job->part_count + TOGETHER - 1) / TOGETHER;
    status = find_truth(job, job->part_count, error);
    if (status == VCS_OK && vcs_parallel(groups, (int)o->threads, score_places, job) < groups) break;
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
    const size_t parts = (job->place_count + PART - 1) / PART;
    double sum = 0;
    for (size_t i = 0; i < parts; i++) sum += job->seconds[i * (size_t)o->method_count + (size_t)m];
    double mean = parts ? sum / (double)parts : 0;
    if (o->methods[m] == VCS_STUDY_EXACT) mean = job->place_count ? job->walk_seconds / (double)job->place_count : 0;
    o->costs[m] = frame > 0 ? mean / frame : 0;
  }
  return VCS_OK;
}

vcs_status_t vcs_score(const vcs_run_t *run, const vcs_score_options_t *given, const vcs_place_t *places, size_t count,
                       vcs_agreements_t *results, vcs_error_t *error) {
  static const int32_t all[] = {VCS_STUDY_NAIVE,    VCS_STUDY_STE,   VCS_STUDY_BIT,
                                VCS_STUDY_BIT_FORK, VCS_STUDY_EXACT, VCS_STUDY_HYBRID};
  vcs_score_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_score_options_t, &o, given, error);
  if (status == VCS_OK) status = vcs_threads_check(o.threads, error);
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
  const int workers = vcs_thread_count((int)o.threads, (count + TOGETHER - 1) / TOGETHER);
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
