/* smooth.c: `diffvcs smooth ROM`: the derivative of an expected output when bits are drawn at random (docs/truth.md).
 *
 * A table with a heading, largest first: byte, bit, derivative, half the width of its interval. The first row, `- -`,
 * is the expected output itself.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bit_job.h"

static const char command[] = "diffvcs smooth";
static const vcs_usage_t usage = {
    command,
    "Plays a game, then draws the chosen bits at random, runs on without input, and estimates how the expected output "
    "changes with the probability that a bit is 1. Columns: byte, bit, derivative, half the width of its confidence "
    "interval, largest derivative first; the first row (`-`) is the expected output. A pixel is its luminance, a "
    "region the sum of them; with =COLOUR (a palette index, hex), as region:0,0,160,210=44, it is the number of pixels "
    "of that colour. The score is the sum of rewards. The default is --wrt ram." VCS_BIT_JOB_NOTE VCS_ROMS_NOTE,
    "diffvcs smooth demo --frame 100 --horizon 2 --pixel 80,100 --p 0.01 --top 10\n"
    "diffvcs smooth pong --seed 1 --frame 200 --horizon 4 --output ram:8D --bits B6,B8 --samples 1000\n"
    "diffvcs smooth space_invaders --seed 1 --frame 200 --horizon 60 --wrt input --output score --method score\n"};

#define CONTROL_CHOICES "none|" VCS_METHOD_CHOICES
enum { CONTROL_NONE };

typedef struct {
  double size;
  size_t place;
} rank_t;

typedef struct {
  vcs_bit_job_t bits;
  vcs_cli_output_t output;
  double p, confidence;
  int64_t samples, draw_seed, top;
  int method;
  bool no_antithetic, no_baseline, stop_when_over;
  int control; /* a method, or CONTROL_NONE */
  float values[768];
  double *probabilities, *controls;
  vcs_estimate_t value, *gradient;
  rank_t *order;
} job_t;

/* ---- The output --------------------------------------------------------------------------------------------- */

/* Reads what vcs_target_parse reads; pixels may be followed by "=HEX", which counts those of that colour. */
static vcs_status_t read_output(job_t *job, vcs_scalar_t *output, vcs_error_t *error) {
  const char *text = job->output.text, *colour = strchr(text, '=');
  const vcs_cart_t *cart = job->bits.rom.cart;
  char what[64];
  snprintf(what, sizeof what, "%.*s", colour ? (int)(colour - text) : (int)sizeof what - 1, text);
  vcs_pixel_values(cart, VCS_VALUES_LUMINANCE, job->values);
  const vcs_status_t status = vcs_target_parse(what, cart, job->bits.setup.env, job->values, output, error);
  if (status) return status;
  if (!colour) return VCS_OK;
  char *end;
  const unsigned long index = strtoul(colour + 1, &end, 16);
  if (output->kind != VCS_SCALAR_PIXELS || end == colour + 1 || *end || index > 255) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "--output counts pixels of a palette index in hex, as region:0,0,160,210=44, not '%.60s'",
                          text);
  }
  for (unsigned long i = 0; i < 256; i++) job->values[i] = i == index;
  return VCS_OK;
}

/* ---- The control --------------------------------------------------------------------------------------------- */

/* One VJP of the output, by the method that --control names. */
static vcs_status_t find_controls(job_t *job, const vcs_scalar_t *output, vcs_error_t *error) {
  const vcs_bit_job_t *bits = &job->bits;
  vcs_grad_options_t grad;
  vcs_attribution_t found;
  vcs_study_method_options(job->control - 1, 0, &grad);
  grad.scale = job->values;
  grad.threads = (int32_t)bits->threads;
  static const int32_t groups[] = {VCS_WRT_RAM, VCS_WRT_ROM, VCS_WRT_INPUT}; /* by kind of place */
  vcs_attribution_options_t options = {.env = bits->setup.env, .grad = &grad};
  for (size_t i = 0; i < bits->list.count; i++) options.wrt |= groups[bits->list.places[i].kind];
  job->controls = calloc(bits->list.count + 1, sizeof *job->controls);
  if (!job->controls) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  const vcs_status_t status = vcs_attribute(&bits->setup.run, output, &options, &found, error);
  for (size_t i = 0; status == VCS_OK && i < bits->list.count; i++) {
    const vcs_place_t *place = &bits->list.places[i];
    const float *slots[] = {found.state, found.rom, found.input};
    job->controls[i] =
        (double)slots[place->kind][place->kind == VCS_PLACE_INPUT ? (size_t)VCS_INPUTS * place->frame + place->index
                                                                  : (size_t)8 * place->index + place->bit];
  }
  vcs_attribution_free(&found);
  return status;
}

/* ---- The table ---------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  const rank_t *x = a, *y = b;
  return x->size > y->size ? -1 : x->size < y->size ? 1 : x->place < y->place ? -1 : 1;
}

static void print(job_t *job, vcs_text_t *text) {
  const size_t count = job->bits.list.count;
  const size_t rows = job->top && (size_t)job->top < count ? (size_t)job->top : count;
  for (size_t i = 0; i < count; i++) job->order[i] = (rank_t){fabs(job->gradient[i].mean), i};
  qsort(job->order, count, sizeof *job->order, by_size);
  vcs_text_printf(text, "byte\tbit\tderivative\thalf_width\n");
  vcs_text_printf(text, "-\t-\t%.6g\t%.3g\n", job->value.mean, job->value.half_width);
  for (size_t i = 0; i < rows; i++) {
    const size_t place = job->order[i].place;
    vcs_text_printf(text, "%s\t%.6g\t%.3g\n", job->bits.list.labels[place], job->gradient[place].mean,
                    job->gradient[place].half_width);
  }
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static void add_progress(void *context, size_t draws) { vcs_progress_add(context, draws); }

static vcs_status_t find(job_t *job, const vcs_scalar_t *output, int32_t *done, vcs_error_t *error) {
  const vcs_bit_job_t *bits = &job->bits;
  vcs_progress_t progress;
  const vcs_smooth_options_t options = {.output = *output,
                                        .method = job->method,
                                        .samples = (int32_t)job->samples,
                                        .antithetic = !job->no_antithetic,
                                        .baseline = !job->no_baseline,
                                        .seed = (uint64_t)job->draw_seed,
                                        .confidence = job->confidence,
                                        .env = bits->setup.env,
                                        .stop_when_over = job->stop_when_over,
                                        .control = job->controls,
                                        .threads = (int32_t)bits->threads,
                                        .progress = add_progress,
                                        .progress_context = &progress};
  vcs_progress_start(&progress, bits->rom.name, (uint64_t)job->samples, VCS_PROGRESS_AUTO);
  vcs_status_t status = vcs_smooth(&bits->setup.run, &options, bits->list.places, job->probabilities, bits->list.count,
                                   &job->value, job->gradient, done, error);
  vcs_progress_finish(&progress);
  return status;
}

static int smooth(job_t *job) {
  const vcs_bit_job_t *bits = &job->bits;
  vcs_error_t error = {""};
  vcs_scalar_t scalar;
  vcs_text_t text = {0};
  int32_t done = 0;
  if (read_output(job, &scalar, &error)) return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  job->probabilities = malloc(bits->list.count * sizeof *job->probabilities);
  job->gradient = malloc(bits->list.count * sizeof *job->gradient);
  job->order = malloc(bits->list.count * sizeof *job->order);
  if (!job->probabilities || !job->gradient || !job->order) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  }
  for (size_t i = 0; i < bits->list.count; i++) {
    job->probabilities[i] = vcs_run_bit(&bits->setup.run, &bits->list.places[i]) ? 1 - job->p : job->p;
  }
  vcs_status_t status = job->control == CONTROL_NONE ? VCS_OK : find_controls(job, &scalar, &error);
  if (status == VCS_OK) status = find(job, &scalar, &done, &error);
  if (status == VCS_BAD_ARGUMENT) return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  if (status == VCS_OK && done > 0) {
    print(job, &text);
    status = vcs_output_write(bits->out, &text, &error);
  }
  vcs_text_free(&text);
  if (status) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  if (done < job->samples) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted after %d of %" PRId64 " draws", (int)done,
                            job->samples);
  }
  return VCS_EXIT_OK;
}

int vcs_cli_smooth(int argc, char **argv) {
  job_t job = {.bits = VCS_BIT_JOB, .p = 0.1, .confidence = 0.95, .samples = 100};
  const vcs_arg_t args[] = {
      VCS_ARGS_BIT_JOB(&job.bits),
      VCS_ARG_TEXT("horizon", &job.bits.horizon, "K", "NOOP frames to run after the draw"),
      VCS_ARGS_OUTPUT(&job.output),
      VCS_ARG_NUMBER("p", &job.p, 0, 1, "the probability that a bit differs from its value in the run"),
      VCS_ARG_INTEGER("samples", &job.samples, 1, 1 << 24, "draws; an even number for antithetic pairs"),
      VCS_ARG_CHOICE("method", &job.method, "difference|score", "one run for each bit and draw, or one for each draw"),
      VCS_ARG_CHOICE("control", &job.control, CONTROL_CHOICES,
                     "method score: sample only what one VJP by this method leaves unexplained"),
      VCS_ARG_INTEGER("draw-seed", &job.draw_seed, 0, INT64_MAX, "seed of the draws"),
      VCS_ARG_NUMBER("confidence", &job.confidence, 0.01, 0.9999, "confidence of the intervals"),
      VCS_ARG_INTEGER("top", &job.top, 0, INT64_MAX, "rows to print; 0: all"),
      VCS_ARG_FLAG("no-antithetic", &job.no_antithetic, "independent draws instead of pairs"),
      VCS_ARG_FLAG("no-baseline", &job.no_baseline, "method score: do not subtract the mean of the other draws"),
      VCS_ARG_FLAG("stop-when-over", &job.stop_when_over, "stop a run when its game is over, as ale-py does"),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (vcs_cli_output_count(&job.output) > 1) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "choose one output: " VCS_OUTPUT_CHOICES);
  }
  vcs_cli_output_read(&job.output);
  exit_code = vcs_bit_job_set(&job.bits, command);
  if (exit_code == VCS_ARGS_GO && job.bits.horizon_count > 1) {
    exit_code =
        vcs_cli_complain(command, VCS_EXIT_USAGE, "--horizon takes one number here, not '%s'", job.bits.horizon);
  }
  if (exit_code == VCS_ARGS_GO) exit_code = smooth(&job);
  vcs_bit_job_free(&job.bits);
  free(job.probabilities);
  free(job.controls);
  free(job.gradient);
  free(job.order);
  return exit_code;
}
