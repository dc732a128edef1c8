/* smooth.c: estimates the gradient of v(p) = E[F(b)] by drawing b, where bit i of b is 1 with probability p_i.
 *
 * A unit is a draw b with b_i = [u_i < p_i], or, with antithetic pairs, the two draws from u and from 1 - u. Units are
 * independent of each other. The numbers u come from a hash of seed, unit and place, so a unit is the same in any order
 * and on any thread. The estimate of unit j for place i is
 *
 *   difference   the mean over its draws of F(b, b_i = 1) - F(b, b_i = 0): the exact effect of bit i at a random corner
 *                of the cube. The draw is recorded once, and runs with one bit flipped rejoin it (rerun.c).
 *   score        the mean over its draws of (F(b) - B_j) (b_i - p_i) / (p_i (1 - p_i)), the score function estimator
 *                (Williams 1992). The baseline B_j is the mean of F over all other units; it is independent of b, so it
 *                adds no bias. A control variate is a linear estimate c of F: F(b) is replaced by the residual
 *                F(b) - s sum c_i (b_i - p_i), and s c_i is added to the result. The expectation stays the same, and
 *                the variance is that of the residual. The slope s is the regression of F on c over all other units,
 *                so it is near 0 for a useless control.
 *
 * The result is the mean over units, with Student's confidence interval.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/splitmix.h"
#include "grad/rerun.h"
#include "host/files.h"
#include "host/parallel.h"
#include "host/options.h"
#include "host/progress.h"

enum { SAMPLES_MAX = 1 << 24, FREEDOM_MAX = 1000 /* beyond this Student's t is normal to three digits */ };

void vcs_smooth_defaults(vcs_smooth_options_t *options) {
  *options = (vcs_smooth_options_t){.samples = 1000, .antithetic = 1, .baseline = 1, .confidence = 0.95};
}

/* ---- Student's t -------------------------------------------------------------------------------------------- */

/* The probability that |t| is less than x, with whole degrees of freedom: finite series in the angle (Abramowitz and
 * Stegun, 26.7.3 and 26.7.4). */
static double probability_within(double x, int freedom) {
  if (freedom > FREEDOM_MAX) return erf(x / sqrt(2));
  const double angle = atan(x / sqrt(freedom)), square = cos(angle) * cos(angle);
  const bool odd = freedom & 1;
  double term = odd ? cos(angle) : 1, sum = 0;
  for (int k = odd ? 1 : 0; k <= freedom - 2; k += 2) {
    sum += term;
    term *= square * (k + 1) / (k + 2);
  }
  return odd ? 2 / acos(-1) * (angle + sin(angle) * sum) : sin(angle) * sum;
}

/* The x within which t is with this probability. */
static double t_quantile(double probability, int freedom) {
  double low = 0, high = 1;
  while (probability_within(high, freedom) < probability && high < 1e12) high *= 2;
  for (int i = 0; i < 100; i++) {
    const double middle = (low + high) / 2;
    if (probability_within(middle, freedom) < probability) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

/* ---- Draws -------------------------------------------------------------------------------------------------- */

/* A random number that is a function of `z`: the first one of the stream with that state. */
static uint64_t mix(uint64_t z) { return vcs_splitmix64(&z); }

typedef struct {
  const vcs_run_t *run;
  const vcs_smooth_options_t *options;
  const vcs_place_t *places;
  const double *probabilities;
  size_t count;
  vcs_view_t view;
  int32_t draws_a_unit;
  size_t units;
  double *outputs;     /* samples: F of each draw */
  double *explained;   /* what the control predicts for each draw, less its expectation */
  double *differences; /* method difference: units x count; else NULL */
  uint8_t *finished;   /* units: 1: all of its draws were run */
  vcs_base_t base;     /* method score: the run itself */
  struct worker *workers;
  int worker_count;
  atomic_int impossible, failed;
} job_t;

typedef struct worker {
  vcs_base_t base; /* method difference: the draw */
  vcs_runner_t runner;
  vcs_place_t *flips;
  uint8_t *bits;
  double output;
  const vcs_scalar_t *wanted;
} worker_t;

/* Bit i of a draw; `other` is the antithetic one. */
static int drawn_bit(const job_t *job, size_t unit, bool other, size_t i) {
  const uint64_t z = mix(mix(mix(job->options->seed) + unit) + i) >> 11;
  const double u = (double)(other ? (1ULL << 53) - 1 - z : z) * 0x1p-53;
  return u < job->probabilities[i];
}

/* ---- Outputs ------------------------------------------------------------------------------------------------ */

static double measure(const vcs_scalar_t *output, const vcs_sight_t *sight) {
  double sum = 0;
  switch (output->kind) {
    case VCS_SCALAR_PIXELS:
      for (int y = output->y; y < output->y + output->height; y++) {
        for (int x = output->x; x < output->x + output->width; x++) {
          sum += (double)output->values[sight->picture[y * VCS_WIDTH + x]];
        }
      }
      return sum;
    case VCS_SCALAR_RAM:
      return output->bit < 0 ? sight->ram[output->index] : sight->ram[output->index] >> output->bit & 1;
    default:
      return sight->score;
  }
}

static void see(void *context, int horizon, const vcs_sight_t *sight) {
  worker_t *worker = context;
  (void)horizon;
  worker->output = measure(worker->wanted, sight);
}

static vcs_status_t check_output(const job_t *job, vcs_error_t *error) {
  const vcs_scalar_t *output = &job->options->output;
  const int32_t height = job->run->cart->frame_height;
  switch (output->kind) {
    case VCS_SCALAR_PIXELS:
      if (output->values && output->x >= 0 && output->y >= 0 && output->width >= 1 && output->height >= 1 &&
          output->width <= VCS_WIDTH - output->x && output->height <= height - output->y) {
        return VCS_OK;
      }
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the output is not a rectangle, with values, in %d x %d pixels",
                            VCS_WIDTH, (int)height);
    case VCS_SCALAR_RAM:
      if (output->index >= 0 && output->index < 128 && output->bit >= -1 && output->bit < 8) return VCS_OK;
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "RAM has bytes 0 to 127 and bits 0 to 7 (-1: all), not %d and %d",
                            (int)output->index, (int)output->bit);
    case VCS_SCALAR_SCORE:
      if (job->options->env && job->options->env->game) return VCS_OK;
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a score needs an environment with a known game");
    default:
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d is no kind of output", (int)output->kind);
  }
}

/* Returns what the control predicts for a draw, less its expectation. */
static double explained(const job_t *job, size_t unit, bool other) {
  const double *control = job->options->control;
  double sum = 0;
  for (size_t i = 0; control && i < job->count; i++) {
    sum += control[i] * (drawn_bit(job, unit, other, i) - job->probabilities[i]);
  }
  return sum;
}

/* ---- Units -------------------------------------------------------------------------------------------------- */

/* Runs a draw by flipping the bits in which it differs from the run. False: it makes an impossible machine. */
static bool run_draw(job_t *job, worker_t *worker, size_t unit, bool other) {
  size_t flips = 0;
  for (size_t i = 0; i < job->count; i++) {
    const vcs_place_t *place = &job->places[i];
    if (drawn_bit(job, unit, other, i) != vcs_place_bit(&job->base.run, place)) worker->flips[flips++] = *place;
  }
  return vcs_rerun(&job->base, &worker->runner, worker->flips, flips, see, worker);
}

/* Runs a draw, and then each place flipped in it. False: it makes an impossible machine, memory ran out, or the run was
 * interrupted. */
static bool run_corner(job_t *job, worker_t *worker, size_t unit, bool other, double *output) {
  vcs_base_t *base = &worker->base;
  bool possible = false;
  vcs_base_restore(base, job->run);
  for (size_t i = 0; i < job->count; i++) {
    worker->bits[i] = (uint8_t)drawn_bit(job, unit, other, i);
    if (worker->bits[i] != vcs_place_bit(job->run, &job->places[i])) vcs_base_flip(base, &job->places[i]);
  }
  if (vcs_base_record(base, &possible, NULL)) job->failed = 1;
  if (!possible || job->failed) return false;
  vcs_runner_follow(&worker->runner, base);
  const vcs_sight_t sight = vcs_base_sight(base, 0);
  *output = measure(worker->wanted, &sight);
  for (size_t i = 0; i < job->count; i++) {
    if (vcs_interrupted() || !vcs_rerun(base, &worker->runner, &job->places[i], 1, see, worker)) return false;
    const double difference = worker->bits[i] ? *output - worker->output : worker->output - *output;
    job->differences[unit * job->count + i] += difference / job->draws_a_unit;
  }
  return true;
}

static bool run_unit(void *context, size_t unit, int number) {
  job_t *job = context;
  worker_t *worker = &job->workers[number];
  for (int32_t d = 0; d < job->draws_a_unit; d++) {
    double *output = &job->outputs[unit * (size_t)job->draws_a_unit + (size_t)d];
    bool possible;
    if (job->differences) {
      possible = run_corner(job, worker, unit, d == 1, output);
    } else {
      possible = run_draw(job, worker, unit, d == 1);
      *output = worker->output;
      job->explained[unit * (size_t)job->draws_a_unit + (size_t)d] = explained(job, unit, d == 1);
    }
    if (!possible) {
      if (!vcs_interrupted()) job->impossible = 1;
      return false;
    }
  }
  job->finished[unit] = 1;
  if (job->options->progress) job->options->progress(job->options->progress_context, (size_t)job->draws_a_unit);
  return true;
}

/* ---- Estimates ---------------------------------------------------------------------------------------------- */

/* Mean and spread over units, in their order: the same whatever the threads. */
typedef struct {
  size_t units;
  double mean, squares;
} moments_t;

static void add(moments_t *moments, double value) {
  const double before = value - moments->mean;
  moments->mean += before / (double)++moments->units;
  moments->squares += before * (value - moments->mean);
}

static vcs_estimate_t estimate(const moments_t *moments, double quantile) {
  const double units = (double)moments->units;
  const double deviation = moments->units > 1 ? sqrt(moments->squares / (units - 1) / units) : INFINITY;
  return (vcs_estimate_t){moments->mean, deviation, quantile * deviation};
}

/* Sums over draws, for the mean of F and its slope against the control's predictions. */
typedef struct {
  double draws, outputs, explained, products, squares;
} sums_t;

static void add_unit(sums_t *sums, const job_t *job, size_t unit, double times) {
  for (int32_t d = 0; d < job->draws_a_unit; d++) {
    const size_t draw = unit * (size_t)job->draws_a_unit + (size_t)d;
    const double output = job->outputs[draw], explained = job->explained[draw];
    sums->draws += times;
    sums->outputs += times * output;
    sums->explained += times * explained;
    sums->products += times * output * explained;
    sums->squares += times * explained * explained;
  }
}

/* The slope and the baseline for a unit, from all other units. */
typedef struct {
  double slope, baseline;
} others_t;

static others_t others_of(const job_t *job, const sums_t *all, size_t unit) {
  sums_t sums = *all;
  add_unit(&sums, job, unit, -1);
  if (sums.draws < 1) return (others_t){0, 0};
  const double spread = sums.squares - sums.explained * sums.explained / sums.draws;
  const double common = sums.products - sums.outputs * sums.explained / sums.draws;
  const double slope = job->options->control && spread > 0 ? common / spread : 0;
  return (others_t){slope, job->options->baseline ? (sums.outputs - slope * sums.explained) / sums.draws : 0};
}

/* Returns F of a draw less the part that the control explains. */
static double residual_of(const job_t *job, size_t unit, int32_t d, double slope) {
  const size_t draw = unit * (size_t)job->draws_a_unit + (size_t)d;
  return job->outputs[draw] - slope * job->explained[draw];
}

/* Returns a unit's estimate for a place by the score function. */
static double unit_score(const job_t *job, size_t unit, size_t i, others_t others) {
  const double p = job->probabilities[i];
  double sum = 0;
  for (int32_t d = 0; d < job->draws_a_unit; d++) {
    const double residual = residual_of(job, unit, d, others.slope) - others.baseline;
    sum += residual * (drawn_bit(job, unit, d == 1, i) - p) / (p * (1 - p));
  }
  return sum / job->draws_a_unit + (job->options->control ? others.slope * job->options->control[i] : 0);
}

/* Returns the mean of a unit's residuals. */
static double unit_mean(const job_t *job, size_t unit, double slope) {
  double sum = 0;
  for (int32_t d = 0; d < job->draws_a_unit; d++) sum += residual_of(job, unit, d, slope);
  return sum / job->draws_a_unit;
}

static void conclude(const job_t *job, vcs_estimate_t *value, vcs_estimate_t *gradient, int32_t *done) {
  moments_t outputs = {0};
  sums_t all = {0};
  size_t units = job->units; /* up to the last that is finished: Ctrl-C may leave millions out */
  while (units > 0 && !job->finished[units - 1]) units--;
  for (size_t j = 0; j < units; j++) {
    if (job->finished[j]) add_unit(&all, job, j, 1);
  }
  for (size_t j = 0; j < units; j++) {
    if (job->finished[j]) add(&outputs, unit_mean(job, j, others_of(job, &all, j).slope));
  }
  const double quantile = outputs.units > 1 ? t_quantile(job->options->confidence, (int)outputs.units - 1) : 1;
  if (done) *done = (int32_t)outputs.units * job->draws_a_unit;
  if (value) *value = estimate(&outputs, quantile);
  for (size_t i = 0; gradient && i < job->count; i++) {
    moments_t moments = {0};
    for (size_t j = 0; j < units; j++) {
      if (!job->finished[j]) continue;
      add(&moments,
          job->differences ? job->differences[j * job->count + i] : unit_score(job, j, i, others_of(job, &all, j)));
    }
    gradient[i] = estimate(&moments, quantile);
  }
}

/* ---- The whole ---------------------------------------------------------------------------------------------- */

static vcs_status_t check_request(const job_t *job, vcs_error_t *error) {
  const vcs_smooth_options_t *o = job->options;
  if (!o || (job->count && (!job->places || !job->probabilities))) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "smooth derivatives need options, places and probabilities");
  }
  vcs_status_t status = VCS_RESERVED_CHECK(o, "vcs_smooth_options_t", error);
  if (status == VCS_OK) status = vcs_threads_check(o->threads, error);
  if (status == VCS_OK) status = vcs_run_check(job->run, NULL, 0, o->env, error);
  if (status == VCS_OK) status = check_output(job, error);
  if (status) return status;
  if (o->method != VCS_SMOOTH_DIFFERENCE && o->method != VCS_SMOOTH_SCORE) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d is no method", (int)o->method);
  }
  if (o->control && o->method != VCS_SMOOTH_SCORE) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "only VCS_SMOOTH_SCORE takes a control");
  }
  if (o->samples < 1 || o->samples > SAMPLES_MAX || (o->antithetic && o->samples % 2)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "samples go from 1 to %d, an even number for pairs; not %d",
                          SAMPLES_MAX, (int)o->samples);
  }
  if (!(o->confidence > 0 && o->confidence < 1)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the confidence is between 0 and 1, not %g", o->confidence);
  }
  for (size_t i = 0; i < job->count; i++) {
    const double p = job->probabilities[i];
    status = vcs_place_check(job->run, &job->places[i], error);
    if (status) return status;
    const bool inside = o->method == VCS_SMOOTH_SCORE ? p > 0 && p < 1 : p >= 0 && p <= 1;
    if (!inside) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a probability is %g, but goes from 0 to 1%s", p,
                            o->method == VCS_SMOOTH_SCORE ? ", both excluded" : "");
    }
  }
  return VCS_OK;
}

static vcs_status_t prepare_worker(const job_t *job, worker_t *worker, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  worker->wanted = &job->options->output;
  worker->flips = malloc((job->count + 1) * sizeof *worker->flips);
  worker->bits = malloc(job->count + 1);
  if (!worker->flips || !worker->bits) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (job->differences) status = vcs_base_create(&worker->base, job->run, &job->view, error);
  if (status) return status;
  return vcs_runner_create(&worker->runner, job->differences ? &worker->base : &job->base, error);
}

static vcs_status_t prepare(job_t *job, vcs_error_t *error) {
  const vcs_smooth_options_t *o = job->options;
  bool possible = false;
  job->view = (vcs_view_t){.horizons = &job->run->frames,
                           .horizon_count = 1,
                           .env = o->env,
                           .stop_when_over = o->stop_when_over,
                           .pictures = o->output.kind == VCS_SCALAR_PIXELS};
  for (size_t i = 0; i < job->count; i++) job->view.rom = job->view.rom || job->places[i].kind == VCS_PLACE_ROM;
  job->draws_a_unit = o->antithetic ? 2 : 1;
  job->units = (size_t)(o->samples / job->draws_a_unit);
  vcs_status_t status = vcs_base_create(&job->base, job->run, &job->view, error);
  if (status == VCS_OK) status = vcs_base_record(&job->base, &possible, error);
  if (status) return status;
  if (!possible) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the run begins with a machine that cannot be");
  const bool by_difference = o->method == VCS_SMOOTH_DIFFERENCE;
  job->worker_count = vcs_thread_count(o->threads, job->units);
  job->workers = calloc((size_t)job->worker_count, sizeof *job->workers);
  job->outputs = calloc((size_t)o->samples, sizeof *job->outputs);
  job->explained = calloc((size_t)o->samples, sizeof *job->explained);
  job->finished = calloc(job->units, 1);
  job->differences = by_difference ? calloc(job->units, (job->count + 1) * sizeof *job->differences) : NULL;
  if (!job->workers || !job->outputs || !job->explained || !job->finished || (by_difference && !job->differences)) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for %d samples of %zu places", (int)o->samples,
                          job->count);
  }
  for (int i = 0; i < job->worker_count && status == VCS_OK; i++) {
    status = prepare_worker(job, &job->workers[i], error);
  }
  return status;
}

static void free_job(job_t *job) {
  for (int i = 0; job->workers && i < job->worker_count; i++) {
    vcs_base_free(&job->workers[i].base);
    vcs_runner_free(&job->workers[i].runner);
    free(job->workers[i].flips);
    free(job->workers[i].bits);
  }
  vcs_base_free(&job->base);
  free(job->workers);
  free(job->outputs);
  free(job->explained);
  free(job->differences);
  free(job->finished);
}

vcs_status_t vcs_smooth(const vcs_run_t *run, const vcs_smooth_options_t *options, const vcs_place_t *places,
                        const double *probabilities, size_t count, vcs_estimate_t *value, vcs_estimate_t *gradient,
                        int32_t *done, vcs_error_t *error) {
  job_t job = {.run = run, .options = options, .places = places, .probabilities = probabilities, .count = count};
  if (error) error->message[0] = 0;
  vcs_status_t status = check_request(&job, error);
  if (status == VCS_OK) status = prepare(&job, error);
  if (status == VCS_OK) {
    vcs_parallel(job.units, job.worker_count, run_unit, &job);
    if (job.failed) {
      status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the pictures of %d frames", (int)run->frames);
    } else if (job.impossible) {
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT,
                              "a draw gave a machine that cannot be: leave out bits of fields that do not use all "
                              "values (positions, timer_shift, banks, clocks)");
    } else {
      conclude(&job, value, gradient, done);
    }
  }
  free_job(&job);
  return status;
}
