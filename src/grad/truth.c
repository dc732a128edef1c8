/* truth.c: the exact effects of bits, found by flipping them and running again.
 *
 * The run is executed once and kept (rerun.c); then threads take flips, one after the other, and write the
 * differences at each horizon. Results do not depend on the threads. With s = 1 for a bit that is 0 in the run and -1
 * for one that is 1,
 *
 *     F(1) - F(0)                    = s (flipped - base)                          one bit
 *     F(11) - F(10) - F(01) + F(00)  = s t (both - first - second + base)          a pair
 *
 * A pair also needs the runs with one flip: they are executed first and kept.
 */
#include <stdlib.h>
#include <string.h>

#include "diffvcs/cuda.h"
#include "grad/concurrent.h"
#include "grad/difference_crc.h"
#include "grad/watch.h"
#include "host/arena.h"
#include "host/hash.h"
#include "host/palette.h"
#include "host/parallel.h"
#include "host/progress.h"
#include "host/options.h"

enum { RAM_BYTES = 128, RAM_BITS = 1024 };

/* ---- Runs and values ---------------------------------------------------------------------------------------- */

void vcs_run_idle(vcs_env_t *env, int32_t frames, vcs_controls_t *controls, vcs_run_t *run) {
  for (int32_t i = 0; i < frames; i++) {
    controls[i] = (vcs_controls_t){.paddle = {env->paddle[0], env->paddle[1], env->far_paddle[0], env->far_paddle[1]}};
  }
  vcs_env_hold_switches(env); /* before the first action they are where the console was switched on with them */
  if (!env->draw_history.exact)
    vcs_draw_history_redraw(&env->draw_history, env->cart); /* the run looks at both frame buffers */
  *run = (vcs_run_t){env->cart, env->m, env->draw_history.frames, controls, frames};
}

int32_t vcs_pixel_values(const vcs_cart_t *cart, int kind, float values[768]) {
  const vcs_format_t format = (vcs_format_t)cart->format;
  const uint32_t *palette = vcs_palette(format);
  const uint8_t *gray = vcs_palette_gray(format);
  for (int i = 0; i < 256; i++) {
    if (kind == VCS_VALUES_RGB) {
      for (int c = 0; c < 3; c++) values[3 * i + c] = (float)(palette[i] >> (16 - 8 * c) & 255);
    } else {
      values[i] = kind == VCS_VALUES_LUMINANCE ? (float)gray[i] : (float)i;
    }
  }
  return kind == VCS_VALUES_RGB ? 3 : 1;
}

/* ---- A job -------------------------------------------------------------------------------------------------- */

typedef struct job job_t;

/* For pairs: what the runs with one flip show, by place and horizon. */
typedef struct {
  uint8_t *pictures; /* vcs_base_pixels each */
  uint8_t *ram;      /* RAM_BYTES each */
  int32_t *scores;
  uint8_t *possible; /* by place: its flip makes a possible machine */
} singles_t;

struct job {
  const vcs_truth_options_t *options;
  const vcs_truth_results_t *results;
  const vcs_place_t *places;
  const size_t *ends;       /* sets; NULL: each place by itself */
  const size_t (*pairs)[2]; /* or pairs */
  int32_t horizon_count;
  vcs_base_t base;
  vcs_arena_t arena;              /* of the next two arrays and of `singles` */
  uint32_t *screen_crc, *ram_crc; /* of the base, by horizon */
  vcs_difference_crc_t difference_crc;
  vcs_runner_t *runners;
  int runner_count;
  vcs_concurrent_t **walks; /* one a runner; or NULL: flips are run again */
  size_t batch;             /* flips in a walk */
  singles_t singles;
  size_t place_count;
  const vcs_truth_watch_t *watch; /* or NULL */
};

/* A flip that is being looked at. */
typedef struct {
  job_t *job;
  size_t item;
  const size_t *pair;
  float sign;
} look_t;

static float sign_of(const job_t *job, const vcs_place_t *place) {
  return vcs_place_bit(&job->base.run, place) ? -1.0f : 1.0f;
}

static vcs_truth_t *row_at(const job_t *job, size_t item, int horizon) {
  return &job->results->rows[item * (size_t)job->horizon_count + (size_t)horizon];
}

/* Sets the outcome of an item at all horizons. */
static void mark(const job_t *job, size_t item, uint8_t outcome) {
  if (job->watch && job->watch->outcomes) job->watch->outcomes[item] = outcome;
  if (!job->results->rows) return;
  for (int h = 0; h < job->horizon_count; h++) *row_at(job, item, h) = (vcs_truth_t){.outcome = outcome};
}

static vcs_sight_t single_sight(const job_t *job, size_t place, int horizon) {
  const singles_t *singles = &job->singles;
  const size_t at = place * (size_t)job->horizon_count + (size_t)horizon;
  return (vcs_sight_t){singles->pictures + at * vcs_base_pixels(&job->base),
                       singles->ram + at * RAM_BYTES,
                       singles->scores[at],
                       0,
                       NULL,
                       NULL};
}

/* The other terms of a difference: the base, and for a pair the two single flips. */
typedef struct {
  vcs_sight_t base, first, second;
  bool pair;
} terms_t;

static terms_t terms_of(const look_t *look, int horizon) {
  terms_t terms = {.base = vcs_base_sight(&look->job->base, horizon), .pair = look->pair != NULL};
  terms.first = look->pair ? single_sight(look->job, look->pair[0], horizon) : terms.base;
  terms.second = look->pair ? single_sight(look->job, look->pair[1], horizon) : terms.base;
  return terms;
}

/* Returns how many bytes of the difference are not zero. For one flip `first` and `second` are the base. */
static int32_t count_differences(const uint8_t *now, const uint8_t *first, const uint8_t *second, const uint8_t *base,
                                 size_t size) {
  int32_t count = 0;
  if (first == base && second == base) {
    if (now == base || memcmp(now, base, size) == 0) return 0;
    for (size_t i = 0; i < size; i++) count += now[i] != base[i];
    return count;
  }
  for (size_t i = 0; i < size; i++) count += now[i] - first[i] - second[i] + base[i] != 0;
  return count;
}

/* Rows of a picture that may differ from the base's, all unless the sight says more. */
static bool is_changed(const vcs_sight_t *sight, size_t row) { return !sight->lines || sight->lines[row]; }

static void fill_row(const look_t *look, int horizon, const vcs_sight_t *sight, const terms_t *terms) {
  const job_t *job = look->job;
  const size_t pixels = vcs_base_pixels(&job->base);
  vcs_truth_t *row = row_at(job, look->item, horizon);
  const int64_t score = (int64_t)sight->score - terms->first.score - terms->second.score + terms->base.score;
  *row = (vcs_truth_t){.outcome = VCS_TRUTH_RAN, .score = (int32_t)(look->sign < 0 ? -score : score)};
  row->ram_crc = job->ram_crc[horizon];
  if (sight->ram != terms->base.ram && job->walks) {
    row->ram_crc ^= vcs_difference_crc(&job->difference_crc, sight->ram, terms->base.ram, RAM_BYTES, &row->ram_bytes);
  } else if (sight->ram != terms->base.ram) { /* running again is the reference: nothing is shared with the walk */
    row->ram_crc = vcs_crc32(sight->ram, RAM_BYTES);
  }
  if (terms->pair || !job->walks) {
    row->ram_bytes = count_differences(sight->ram, terms->first.ram, terms->second.ram, terms->base.ram, RAM_BYTES);
  }
  const uint32_t base_crc = job->screen_crc[horizon];
  if (sight->lines && !terms->pair) {
    row->screen_crc = base_crc ^ vcs_difference_crc_of_rows(&job->difference_crc, sight->picture, terms->base.picture,
                                                            sight->lines, pixels / VCS_WIDTH, &row->pixels);
    return;
  }
  row->pixels =
      count_differences(sight->picture, terms->first.picture, terms->second.picture, terms->base.picture, pixels);
  const bool same = sight->picture == terms->base.picture || (!terms->pair && row->pixels == 0);
  row->screen_crc = same ? base_crc : vcs_crc32(sight->picture, pixels);
}

static void add_pixels(const look_t *look, int horizon, const vcs_sight_t *sight, const terms_t *terms) {
  const job_t *job = look->job;
  const size_t pixels = vcs_base_pixels(&job->base), channels = (size_t)job->options->channels;
  const float *values = job->options->values, sign = look->sign;
  float *map = job->results->pixels + (look->item * (size_t)job->horizon_count + (size_t)horizon) * pixels * channels;
  if (sight->picture == terms->base.picture && !terms->pair) return;
  const uint8_t *now = sight->picture, *first = terms->first.picture, *second = terms->second.picture,
                *base = terms->base.picture;
  for (size_t i = 0; i < pixels; i++) {
    if (!terms->pair && i % VCS_WIDTH == 0 && !is_changed(sight, i / VCS_WIDTH)) {
      i += VCS_WIDTH - 1;
      continue;
    }
    if (now[i] == first[i] && second[i] == base[i]) continue;
    for (size_t c = 0; c < channels; c++) {
      map[i * channels + c] += sign * (values[now[i] * channels + c] - values[first[i] * channels + c] -
                                       values[second[i] * channels + c] + values[base[i] * channels + c]);
    }
  }
}

static void add_ram(const look_t *look, int horizon, const vcs_sight_t *sight, const terms_t *terms) {
  const job_t *job = look->job;
  float *map = job->results->ram + (look->item * (size_t)job->horizon_count + (size_t)horizon) * RAM_BITS;
  for (int i = 0; i < RAM_BITS; i++) {
    const int byte = i >> 3, bit = i & 7;
    const int difference = (sight->ram[byte] >> bit & 1) - (terms->first.ram[byte] >> bit & 1) -
                           (terms->second.ram[byte] >> bit & 1) + (terms->base.ram[byte] >> bit & 1);
    map[i] += look->sign * (float)difference;
  }
}

static void look_at(void *context, int horizon, const vcs_sight_t *sight) {
  const look_t *look = context;
  const vcs_truth_results_t *results = look->job->results;
  const terms_t terms = terms_of(look, horizon);
  if (results->rows) fill_row(look, horizon, sight, &terms);
  if (results->pixels) add_pixels(look, horizon, sight, &terms);
  if (results->ram) add_ram(look, horizon, sight, &terms);
  if (look->job->watch) {
    if (look->job->watch->outcomes && horizon + 1 == look->job->horizon_count)
      look->job->watch->outcomes[look->item] = VCS_TRUTH_RAN;
    look->job->watch->see(look->job->watch->context, look->item, horizon, sight, &terms.base);
  }
}

/* Keeps what a run with one flip shows, for pairs. */
static void keep(void *context, int horizon, const vcs_sight_t *sight) {
  const look_t *look = context;
  const job_t *job = look->job;
  const size_t at = look->item * (size_t)job->horizon_count + (size_t)horizon, pixels = vcs_base_pixels(&job->base);
  memcpy(job->singles.pictures + at * pixels, sight->picture, pixels);
  memcpy(job->singles.ram + at * RAM_BYTES, sight->ram, RAM_BYTES);
  job->singles.scores[at] = sight->score;
}

/* ---- Items -------------------------------------------------------------------------------------------------- */

static void report(const job_t *job) {
  if (job->options->progress) job->options->progress(job->options->progress_context, 1);
}

/* What is flipped in an item, and how the result is looked at. */
typedef struct {
  vcs_place_t both[2]; /* of a pair */
  vcs_flip_t flip;
  look_t look;
} item_t;

static void make_set(job_t *job, size_t number, item_t *item) {
  const size_t first = job->ends ? (number ? job->ends[number - 1] : 0) : number;
  const size_t count = job->ends ? job->ends[number] - first : 1;
  item->flip = (vcs_flip_t){job->places + first, count};
  item->look = (look_t){job, number, NULL, count == 1 ? sign_of(job, &job->places[first]) : 1.0f};
}

static void make_single(job_t *job, size_t number, item_t *item) {
  item->flip = (vcs_flip_t){&job->places[number], 1};
  item->look = (look_t){job, number, NULL, 1.0f};
}

static void make_pair(job_t *job, size_t number, item_t *item) {
  const size_t *pair = job->pairs[number];
  item->both[0] = job->places[pair[0]];
  item->both[1] = job->places[pair[1]];
  item->flip = (vcs_flip_t){item->both, 2};
  item->look = (look_t){job, number, pair, sign_of(job, &item->both[0]) * sign_of(job, &item->both[1])};
}

/* Whether both bits of a pair can be flipped one by one; otherwise the pair is not run. */
static bool can_flip_singly(const job_t *job, const item_t *item) {
  const size_t *pair = item->look.pair;
  return !pair || (job->singles.possible[pair[0]] && job->singles.possible[pair[1]]);
}

/* What a worker walks with. */
typedef struct {
  item_t items[VCS_CONCURRENT_MOST];
  item_t *walked[VCS_CONCURRENT_MOST]; /* those that are flips of the walk */
  vcs_flip_t flips[VCS_CONCURRENT_MOST];
  bool possible[VCS_CONCURRENT_MOST];
} batch_t;

/* A pass of a job: all its items are made by one function and seen by another. */
typedef struct {
  job_t *job;
  size_t items;
  void (*make)(job_t *job, size_t number, item_t *item);
  vcs_see_t see;
  batch_t *batches; /* one for each worker */
  bool is_singles;
} pass_t;

/* Records whether an item was possible, and reports progress. */
static void finish(const pass_t *pass, const item_t *item, bool possible) {
  if (pass->is_singles) {
    pass->job->singles.possible[item->look.item] = possible;
  } else if (!possible) {
    mark(pass->job, item->look.item, VCS_TRUTH_IMPOSSIBLE);
  }
  report(pass->job);
}

static bool run_item(void *context, size_t number, int worker) {
  const pass_t *pass = context;
  job_t *job = pass->job;
  item_t item;
  pass->make(job, number, &item);
  const bool possible = can_flip_singly(job, &item) && vcs_rerun(&job->base, &job->runners[worker], item.flip.places,
                                                                 item.flip.count, pass->see, &item.look);
  finish(pass, &item, possible);
  return true;
}

typedef struct {
  const pass_t *pass;
  const batch_t *batch;
} walk_context_t;

static void see_flip(void *context, size_t flip, int horizon, const vcs_sight_t *sight) {
  const walk_context_t *callbacks = context;
  callbacks->pass->see(&callbacks->batch->walked[flip]->look, horizon, sight);
}

static bool run_batch(void *context, size_t number, int worker) {
  const pass_t *pass = context;
  job_t *job = pass->job;
  const size_t first = number * job->batch, left = pass->items - first, count = left < job->batch ? left : job->batch;
  batch_t *batch = &pass->batches[worker];
  size_t flips = 0;
  for (size_t i = 0; i < count; i++) {
    item_t *item = &batch->items[i];
    pass->make(job, first + i, item);
    if (!can_flip_singly(job, item)) {
      finish(pass, item, false);
      continue;
    }
    batch->walked[flips] = item;
    batch->flips[flips++] = item->flip;
  }
  walk_context_t walk_context = {pass, batch};
  const vcs_concurrent_callbacks_t callbacks = {
      .see = see_flip, .context = &walk_context, .keeps_all = job->watch && job->watch->work};
  vcs_concurrent_walk(job->walks[worker], &job->base, &job->runners[worker], batch->flips, flips, &callbacks,
                      batch->possible);
  for (size_t i = 0; i < flips; i++) finish(pass, batch->walked[i], batch->possible[i]);
  return true;
}

/* True: all items are done. A walk that Ctrl-C ends leaves the later horizons of its items out. */
static bool run_pass(pass_t *pass) {
  job_t *job = pass->job;
  if (job->walks) pass->batches = malloc((size_t)job->runner_count * sizeof *pass->batches);
  if (pass->batches) {
    vcs_parallel((pass->items + job->batch - 1) / job->batch, job->runner_count, run_batch, pass);
    free(pass->batches);
  } else {
    vcs_parallel(pass->items, job->runner_count, run_item, pass);
  }
  return !vcs_interrupted();
}

/* ---- The whole ---------------------------------------------------------------------------------------------- */

static vcs_status_t check_request(const vcs_run_t *run, const vcs_truth_options_t *options,
                                  const vcs_truth_results_t *results, vcs_error_t *error) {
  vcs_status_t known = vcs_reserved_check(options->reserved, "vcs_truth_options_t", error);
  if (known == VCS_OK) known = vcs_threads_check(options->threads, error);
  if (known) return known;
  if (results && results->pixels && (!options->values || options->channels < 1)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "maps of pixels need what a pixel is worth: options.values");
  }
  if (!results) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no place for results was given");
  if (options->device != VCS_CPU) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "sets and pairs are flipped on the CPU: set device to VCS_CPU");
  }
  return vcs_run_check(run, options->horizons, options->horizon_count, options->env, error);
}

static void free_job(job_t *job) {
  vcs_base_free(&job->base);
  for (int i = 0; job->runners && i < job->runner_count; i++) vcs_runner_free(&job->runners[i]);
  free(job->runners);
  for (int i = 0; job->walks && i < job->runner_count; i++) vcs_concurrent_free(job->walks[i]);
  free(job->walks);
  vcs_arena_free(&job->arena);
}

/* Memory for the single flips of pairs. */
static vcs_status_t prepare_singles(job_t *job, vcs_error_t *error) {
  const size_t sights = job->place_count * (size_t)job->horizon_count;
  singles_t *singles = &job->singles;
  singles->pictures = vcs_arena_take(&job->arena, sights, vcs_base_pixels(&job->base));
  singles->ram = vcs_arena_take(&job->arena, sights, RAM_BYTES);
  singles->scores = vcs_arena_take(&job->arena, sights, sizeof *singles->scores);
  singles->possible = vcs_arena_take(&job->arena, job->place_count, 1);
  if (!job->arena.failed) return VCS_OK;
  return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for what %zu bits do alone", job->place_count);
}

/* Walks take as many flips as there are for each thread, and not more than fit. Without memory for them, or where
 * nothing would be gained, flips are run again. */
static void prepare_walks(job_t *job, size_t items) {
  const size_t share = (items + (size_t)job->runner_count - 1) / (size_t)job->runner_count;
  if (job->options->engine == VCS_TRUTH_RERUN || job->base.draws_all || items < 2) return;
  job->batch = share < VCS_CONCURRENT_MOST ? share : VCS_CONCURRENT_MOST;
  job->walks = calloc((size_t)job->runner_count, sizeof *job->walks); /* NOLINT(bugprone-sizeof-expression): pointers */
  for (int i = 0; job->walks && i < job->runner_count; i++) {
    job->walks[i] = vcs_concurrent_create(&job->base);
    if (job->walks[i]) continue;
    while (i > 0) vcs_concurrent_free(job->walks[--i]);
    free(job->walks);
    job->walks = NULL;
  }
}

static void fill_base(job_t *job) {
  for (int h = 0; h < job->horizon_count; h++) {
    const vcs_sight_t sight = vcs_base_sight(&job->base, h);
    job->screen_crc[h] = vcs_crc32(sight.picture, vcs_base_pixels(&job->base));
    job->ram_crc[h] = vcs_crc32(sight.ram, RAM_BYTES);
    if (job->results->base) {
      job->results->base[h] = (vcs_truth_t){VCS_TRUTH_RAN, 0, 0, sight.score, job->screen_crc[h], job->ram_crc[h]};
    }
  }
}

static vcs_status_t prepare(job_t *job, const vcs_run_t *run, size_t items, vcs_error_t *error) {
  const vcs_truth_options_t *options = job->options;
  vcs_view_t view = {
      options->horizons, options->horizon_count, options->env, options->stop_when_over, true, false, false};
  if (job->watch) view.pictures = job->watch->pictures, view.states = job->watch->states;
  if (!view.horizons) {
    view.horizons = &run->frames;
    view.horizon_count = 1;
  }
  job->horizon_count = view.horizon_count;
  for (size_t i = 0; i < job->place_count; i++) {
    vcs_status_t status = vcs_place_check(run, &job->places[i], error);
    if (status) return status;
    view.rom = view.rom || job->places[i].kind == VCS_PLACE_ROM;
  }
  vcs_status_t status = vcs_base_create(&job->base, run, &view, error);
  bool possible = false;
  if (status == VCS_OK) status = vcs_base_record(&job->base, &possible, error);
  if (status) return status;
  if (!possible) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the run begins with a machine that cannot be");
  if (view.rom) vcs_base_find_unread(&job->base);
  job->screen_crc = vcs_arena_take(&job->arena, (size_t)job->horizon_count, sizeof *job->screen_crc);
  job->ram_crc = vcs_arena_take(&job->arena, (size_t)job->horizon_count, sizeof *job->ram_crc);
  job->runner_count = vcs_thread_count(options->threads, items);
  job->runners = calloc((size_t)job->runner_count, sizeof *job->runners);
  if (job->arena.failed || !job->runners) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  for (int i = 0; i < job->runner_count && status == VCS_OK; i++) {
    status = vcs_runner_create(&job->runners[i], &job->base, error);
  }
  if (status) return status;
  prepare_walks(job, items);
  if (!job->watch) {
    if (job->walks) vcs_difference_crc_prepare(&job->difference_crc);
    fill_base(job);
  }
  for (size_t i = 0; i < items; i++) mark(job, i, VCS_TRUTH_NOT_RUN);
  return job->pairs ? prepare_singles(job, error) : VCS_OK;
}

/* Adds up what the walks and runners have done. */
static void sum_work(const job_t *job, vcs_work_t *work) {
  for (int i = 0; i < job->runner_count; i++) {
    work->rerun += job->runners[i].frames_run;
    if (!job->walks) continue;
    const vcs_concurrent_count_t *counts = vcs_concurrent_counts(job->walks[i]);
    work->walked += counts->walks * (uint64_t)job->base.run.frames;
    work->executed += counts->executed;
    work->wakes += counts->wakes;
  }
}

static vcs_status_t find_truth(job_t *job, const vcs_run_t *run, size_t items, vcs_error_t *error) {
  static const vcs_truth_options_t defaults = {0};
  if (error) error->message[0] = 0;
  if (!job->options) job->options = &defaults;
  if (job->place_count && !job->places) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no places were given");
  vcs_status_t status = check_request(run, job->options, job->results, error);
  if (status == VCS_OK) status = prepare(job, run, items, error);
  if (status == VCS_OK) {
    pass_t singles = {job, job->place_count, make_single, keep, NULL, true};
    pass_t pairs = {job, items, make_pair, look_at, NULL, false}, sets = {job, items, make_set, look_at, NULL, false};
    if (!job->pairs) {
      run_pass(&sets);
    } else if (run_pass(&singles)) {
      run_pass(&pairs);
    }
    if (job->watch && job->watch->work) sum_work(job, job->watch->work);
  }
  free_job(job);
  return status;
}

vcs_status_t vcs_truth(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                       size_t count, const vcs_truth_results_t *results, vcs_error_t *error) {
  job_t job = {.options = options, .results = results, .places = places, .place_count = count};
  if (options && options->device != VCS_CPU) {
    const vcs_status_t status = vcs_threads_check(options->threads, error);
    return status ? status : vcs_device_batch_truth(options->device, run, options, places, count, results, error);
  }
  return find_truth(&job, run, count, error);
}

vcs_status_t vcs_truth_watch(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                             const size_t *ends, size_t set_count, const vcs_truth_watch_t *watch, vcs_error_t *error) {
  static const vcs_truth_results_t nothing = {0};
  job_t job = {.options = options, .results = &nothing, .places = places, .ends = ends, .watch = watch};
  job.place_count = ends ? (set_count ? ends[set_count - 1] : 0) : set_count;
  return find_truth(&job, run, set_count, error);
}

vcs_status_t vcs_truth_sets(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                            const size_t *ends, size_t set_count, const vcs_truth_results_t *results,
                            vcs_error_t *error) {
  if (set_count && !ends) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "sets need their ends");
  for (size_t i = 0; i < set_count; i++) {
    if (i && ends[i] < ends[i - 1]) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the ends of sets must ascend");
  }
  job_t job = {.options = options, .results = results, .places = places, .ends = ends};
  job.place_count = set_count ? ends[set_count - 1] : 0;
  return find_truth(&job, run, set_count, error);
}

vcs_status_t vcs_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                             size_t count, const size_t (*pairs)[2], size_t pair_count,
                             const vcs_truth_results_t *results, vcs_error_t *error) {
  if (pair_count && !pairs) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no pairs were given");
  for (size_t i = 0; i < pair_count; i++) {
    if (pairs[i][0] >= count || pairs[i][1] >= count || pairs[i][0] == pairs[i][1]) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "pair %zu is not of two different places", i);
    }
  }
  job_t job = {.options = options, .results = results, .places = places, .pairs = pairs, .place_count = count};
  return find_truth(&job, run, pair_count, error);
}
