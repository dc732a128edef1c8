/* truth.c: `diffvcs truth ROM`: the exact effects of bits, by flipping each and running again (docs/truth.md).
 *
 * A heading, then one row for each bit, tab separated: byte, bit, pixels that differ, bytes of RAM that differ, CRC-32
 * of the screen and of RAM; the first row, `- -`, is the run without flips.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bit_job.h"

static const char command[] = "diffvcs truth";
static const vcs_usage_t usage = {
    command,
    "Plays a game, flips each bit in turn, runs on without input, and prints the differences: a heading, then columns "
    "byte, bit, pixels and bytes of RAM that differ, CRC-32 of the screen and of RAM; with several horizons, the "
    "horizon first; for pairs, both bits. The first row (`-`) is the run without flips. A result of `-` means that no "
    "machine can have the flipped value. Runs go on after the end of a game unless --stop-when-over is given. The "
    "default is --wrt ram." VCS_BIT_JOB_NOTE VCS_ROMS_NOTE,
    "diffvcs truth demo --frame 100 --horizon 8\n"
    "diffvcs truth pong --seed 1 --frame 300 --horizon 1,4,15 --wrt ram --out pong.tsv.gz\n"
    "diffvcs truth breakout --frame 200 --horizon 30 --wrt input --score\n"
    "diffvcs truth pong --frame 200 --horizon 2 --bits 9C,9D.0,grp[1].3\n"
    "diffvcs truth pong --frame 200 --horizon 2 --bits 9C,9D --pairs\n"
    "diffvcs truth space_invaders --frame 300 --horizon 8 --gpu\n"};

typedef struct {
  vcs_bit_job_t bits;
  bool together, pairs, score, stop_when_over, gpu;
  size_t rows; /* without those of the run itself */
  size_t (*pair_list)[2];
  vcs_truth_t *base, *results;
} job_t;

/* ---- Printing ----------------------------------------------------------------------------------------------- */

static void print_row(const job_t *job, const char *label, int horizon, const vcs_truth_t *row, vcs_text_t *text) {
  if (job->bits.horizon_count > 1) vcs_text_printf(text, "%d\t", (int)job->bits.horizons[horizon]);
  if (row->outcome == VCS_TRUTH_IMPOSSIBLE) {
    vcs_text_printf(text, "%s\t-\t-\t-\t-%s\n", label, job->score ? "\t-" : "");
    return;
  }
  vcs_text_printf(text, "%s\t%d\t%d\t%08" PRIx32 "\t%08" PRIx32, label, (int)row->pixels, (int)row->ram_bytes,
                  row->screen_crc, row->ram_crc);
  if (job->score) vcs_text_printf(text, "\t%d", (int)row->score);
  vcs_text_printf(text, "\n");
}

static void label_of(const job_t *job, size_t item, char *label, size_t size) {
  const vcs_bit_job_t *bits = &job->bits;
  if (job->together) {
    snprintf(label, size, "all\t%zu", bits->list.count);
  } else if (job->pairs) {
    snprintf(label, size, "%s\t%s", bits->list.labels[job->pair_list[item][0]],
             bits->list.labels[job->pair_list[item][1]]);
  } else {
    snprintf(label, size, "%s", bits->list.labels[item]);
  }
}

static void print_heading(const job_t *job, vcs_text_t *text) {
  vcs_text_printf(text, "%s%s\tpixels\tram_bytes\tscreen_crc\tram_crc%s\n",
                  job->bits.horizon_count > 1 ? "horizon\t" : "", job->pairs ? "byte\tbit\tbyte2\tbit2" : "byte\tbit",
                  job->score ? "\tscore" : "");
}

/* Returns how many flips were run. */
static size_t print(const job_t *job, vcs_text_t *text) {
  const int horizons = (int)job->bits.horizon_count;
  size_t done = 0;
  print_heading(job, text);
  for (int h = 0; h < horizons; h++) print_row(job, job->pairs ? "-\t-\t-\t-" : "-\t-", h, &job->base[h], text);
  for (size_t i = 0; i < job->rows; i++) {
    char label[2 * VCS_PLACE_LABEL_SIZE + 2];
    const vcs_truth_t *rows = job->results + i * (size_t)horizons;
    if (rows->outcome == VCS_TRUTH_NOT_RUN) continue;
    label_of(job, i, label, sizeof label);
    for (int h = 0; h < horizons; h++) print_row(job, label, h, &rows[h], text);
    done++;
  }
  return done;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static void add_progress(void *context, size_t runs) { vcs_progress_add(context, runs); }

static vcs_status_t list_pairs(job_t *job, vcs_error_t *error) {
  const size_t n = job->bits.list.count;
  size_t at = 0;
  job->rows = n * (n - 1) / 2;
  job->pair_list = malloc((job->rows ? job->rows : 1) * sizeof *job->pair_list);
  if (!job->pair_list) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for %zu pairs", job->rows);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i + 1; j < n; j++) job->pair_list[at][0] = i, job->pair_list[at++][1] = j;
  }
  return VCS_OK;
}

/* Why a GPU cannot do this; NULL: it can. */
static const char *why_not_gpu(const job_t *job) {
  if (job->together || job->pairs) return "a GPU flips one bit at a time";
  if (job->score || job->stop_when_over) return "a GPU computes neither scores nor the end of games";
  for (size_t i = 0; i < job->bits.list.count; i++) {
    if (job->bits.list.places[i].kind == VCS_PLACE_ROM)
      return "a GPU has one image for all runs, so it flips no bits of ROM";
  }
  return vcs_device_missing(VCS_GPU);
}

static vcs_status_t find(job_t *job, vcs_progress_t *progress, vcs_error_t *error) {
  const vcs_bit_job_t *bits = &job->bits;
  const vcs_truth_options_t options = {.horizons = bits->horizons,
                                       .horizon_count = bits->horizon_count,
                                       .env = job->gpu ? NULL : bits->setup.env,
                                       .threads = (int32_t)bits->threads,
                                       .stop_when_over = job->stop_when_over,
                                       .progress = add_progress,
                                       .progress_context = progress,
                                       .device = job->gpu ? VCS_GPU : VCS_CPU};
  const vcs_truth_results_t results = {.base = job->base, .rows = job->results};
  if (job->together)
    return vcs_truth_sets(&bits->setup.run, &options, bits->list.places, &bits->list.count, 1, &results, error);
  if (job->pairs) {
    return vcs_truth_pairs(&bits->setup.run, &options, bits->list.places, bits->list.count,
                           (const size_t(*)[2])job->pair_list, job->rows, &results, error);
  }
  return vcs_truth(&bits->setup.run, &options, bits->list.places, bits->list.count, &results, error);
}

static int truth(job_t *job) {
  vcs_error_t error = {""};
  vcs_progress_t progress;
  vcs_text_t text = {0};
  const size_t horizons = (size_t)job->bits.horizon_count;
  job->rows = job->together ? 1 : job->bits.list.count;
  if (job->pairs && list_pairs(job, &error)) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  job->base = calloc(horizons, sizeof *job->base);
  job->results = calloc(job->rows ? job->rows * horizons : 1, sizeof *job->results);
  if (!job->base || !job->results) return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  const char *why_not = job->gpu ? why_not_gpu(job) : NULL;
  if (why_not) vcs_cli_complain(command, 0, "not on a GPU: %s; using the CPU", why_not);
  if (why_not) job->gpu = false;
  vcs_progress_start(&progress, job->bits.rom.name, job->rows + (job->pairs ? job->bits.list.count : 0),
                     VCS_PROGRESS_AUTO);
  vcs_status_t status = find(job, &progress, &error);
  vcs_progress_finish(&progress);
  size_t done = 0;
  if (status == VCS_OK) {
    done = print(job, &text);
    status = vcs_output_write(job->bits.out, &text, &error);
  }
  vcs_text_free(&text);
  if (status) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  if (done < job->rows) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: %zu of %zu rows were written", done, job->rows);
  }
  return VCS_EXIT_OK;
}

int vcs_cli_truth(int argc, char **argv) {
  job_t job = {.bits = VCS_BIT_JOB};
  const vcs_arg_t args[] = {
      VCS_ARGS_BIT_JOB(&job.bits),
      VCS_ARG_TEXT("horizon", &job.bits.horizon, "K", "NOOP frames to run after the flip, or several: 1,4,15"),
      VCS_ARG_FLAG("together", &job.together, "flip all the bits at once: one row, `all` and their number"),
      VCS_ARG_FLAG("pairs", &job.pairs, "interactions of every two bits: F(11)-F(10)-F(01)+F(00)"),
      VCS_ARG_FLAG("score", &job.score, "one more column: the score with the bit set minus with the bit clear"),
      VCS_ARG_FLAG("stop-when-over", &job.stop_when_over, "stop a run when its game is over, as ale-py does"),
      VCS_ARG_FLAG("gpu", &job.gpu, "run all flips at once on a GPU, if that is possible"),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (job.together && job.pairs) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--together and --pairs exclude each other: give one of them");
  }
  exit_code = vcs_bit_job_set(&job.bits, command);
  if (exit_code == VCS_ARGS_GO) exit_code = truth(&job);
  vcs_bit_job_free(&job.bits);
  free(job.pair_list);
  free(job.base);
  free(job.results);
  return exit_code;
}
