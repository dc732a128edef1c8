/* score_game.c: how well the methods agree with the truth in one game (study.h).
 *
 * States are taken after some frames of action streams; from each a run without input is scored, with respect to:
 *
 *   left/right, up/down, fire   one-frame presses of the stick in the first frame, in several states
 *   ram                         bits of RAM
 *   rom                         bits of bytes of the image that the run reads
 *   vjp, region                 reverse passes from pixels, or from regions of 32 x 16 pixels, with respect to the bits
 *                               of RAM and the presses
 *
 * The last four are scored in the first state only. vcs_score and vcs_score_vjp compare predictions with the truth.
 * The rows depend on the image, the profile and the options only, except for their last column, which is measured where
 * `costs` is set.
 */
#include "study/score_game.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/splitmix.h"
#include "core/state.h"
#include "study/internal.h"

/* A drawn frame of ours in frames of ale-py: the mean of five games (make bench-grad, docs/benchmarks.md). */
static const double ale_frames = 0.23;

enum { LEFT_RIGHT, UP_DOWN, FIRE, RAM, ROM, VJP, REGION, SOURCES };
enum { CELL_WIDTH = 32, CELL_HEIGHT = 16 };
static const char *const sources[SOURCES] = {"left/right", "up/down", "fire", "ram", "rom", "vjp", "region"};
static const uint8_t presses[FIRE + 1][2] = {
    {VCS_INPUT_LEFT, VCS_INPUT_RIGHT}, {VCS_INPUT_UP, VCS_INPUT_DOWN}, {VCS_INPUT_FIRE, VCS_INPUT_FIRE}};
static const char *const views[VCS_VIEWS] = {"screen", "ram"};
enum { PLACES_MAX = VCS_SCORE_RAM_BITS + VCS_SCORE_INPUTS + VCS_SCORE_ROM_BITS };

/* ---- The table's text --------------------------------------------------------------------------------------- */

const char vcs_score_title[] = "# diffvcs score: ";
const char vcs_score_columns[] =
    "# "
    "game\tmethod\tsource\thorizon\tview\tmaps\tstill\tcosine\tpooled\tsign\tprecision\trecall\tin_truth\tin_estimate\t"
    "in_both\tlargest\toverflown\tframes\n";

void vcs_score_settings(vcs_text_t *text, vcs_profile_t profile, const vcs_score_game_options_t *o) {
  vcs_text_printf(text, "profile %s, frame %" PRId64 " of stream %" PRId64 ", horizons ", vcs_profile_name(profile),
                  o->frame, o->seed);
  for (int i = 0; i < o->horizon_count; i++) vcs_text_printf(text, i ? ",%d" : "%d", (int)o->horizons[i]);
  vcs_text_printf(text,
                  ", presses in %" PRId64 " states, %" PRId64 " bits of RAM, %" PRId64 " of ROM, %" PRId64
                  " pixels, window %" PRId64,
                  o->states, o->bits, o->rom_bits, o->pixels, o->window);
  if (o->budget > 0) vcs_text_printf(text, ", budget %g", o->budget);
}

void vcs_score_begin(vcs_text_t *table, const char *settings) {
  vcs_text_printf(table, "%s%s\n%s", vcs_score_title, settings, vcs_score_columns);
}

static void print_value(vcs_text_t *table, double value) {
  if (isnan(value)) {
    vcs_text_printf(table, "\t-");
  } else {
    vcs_text_printf(table, "\t%.6f", value);
  }
}

void vcs_score_row(vcs_text_t *table, const char *game, const char *method, const char *source, int horizon, int view,
                   const vcs_agreements_t *a, double frames) {
  vcs_text_printf(table, "%s\t%s\t%s\t%d\t%s\t%" PRId64 "\t%" PRId64, game, method, source, horizon, views[view],
                  a->maps, a->still);
  print_value(table, vcs_agreements_cosine(a));
  print_value(table, vcs_agreement_cosine(&a->pooled));
  print_value(table, vcs_agreement_sign(&a->pooled));
  print_value(table, vcs_agreement_precision(&a->pooled));
  print_value(table, vcs_agreement_recall(&a->pooled));
  vcs_text_printf(table, "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%.6g\t%" PRId64, a->pooled.in_truth,
                  a->pooled.in_estimate, a->pooled.in_both, a->pooled.largest, a->pooled.overflown);
  if (isnan(frames)) {
    vcs_text_printf(table, "\t-\n");
  } else {
    vcs_text_printf(table, "\t%.3f\n", frames);
  }
}

/* ---- A game ------------------------------------------------------------------------------------------------- */

/* What one game needs. Agreements are [method][horizon][view], those of reverse passes [method][horizon]. */
typedef struct {
  const vcs_score_game_options_t *options;
  vcs_score_options_t score; /* of vcs_score and vcs_score_vjp */
  vcs_place_t *places;
  vcs_agreements_t *results, *sums[SOURCES]; /* of one call; of each source */
  double costs[SOURCES][VCS_STUDY_METHODS];
} job_t;

/* Lists `bits` bits of RAM, drawn with the seed; returns how many. */
static size_t list_ram(const job_t *job) {
  const vcs_score_game_options_t *o = job->options;
  uint16_t bits[VCS_SCORE_RAM_BITS];
  uint64_t random = (uint64_t)o->seed;
  for (int i = 0; i < VCS_SCORE_RAM_BITS; i++) bits[i] = (uint16_t)i;
  for (int i = 0; i < (int)o->bits; i++) {
    const int other = i + (int)(vcs_splitmix64(&random) % (uint64_t)(VCS_SCORE_RAM_BITS - i));
    const uint16_t bit = bits[other];
    bits[other] = bits[i];
    bits[i] = bit;
    job->places[i] = (vcs_place_t){VCS_PLACE_STATE, bit % 8, 0, (uint32_t)(offsetof(vcs_t, ram) + (size_t)(bit / 8))};
  }
  return (size_t)o->bits;
}

/* Lists bits of bytes that the run reads, drawn with the seed. */
static vcs_status_t list_rom(const job_t *job, const vcs_run_t *run, size_t *count, vcs_error_t *error) {
  const uint32_t size = vcs_cart_info(run->cart)->image_size;
  vcs_rom_use_t *uses = calloc(size, sizeof *uses);
  uint32_t *used = calloc(size, sizeof *used);
  uint64_t random = (uint64_t)job->options->seed + 1;
  size_t bytes = 0;
  *count = 0;
  const bool room = uses && used;
  vcs_status_t status = room ? vcs_rom_uses(run, uses, error) : vcs_no_memory(error);
  for (uint32_t i = 0; room && status == VCS_OK && i < size; i++) {
    if (uses[i].kind != VCS_ROM_UNUSED) used[bytes++] = i;
  }
  for (; room && status == VCS_OK && bytes && *count < (size_t)job->options->rom_bits; ++*count) {
    const uint64_t bit = vcs_splitmix64(&random) % (8 * (uint64_t)bytes);
    job->places[*count] = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)(bit % 8), 0, used[bit / 8]};
  }
  free(uses);
  free(used);
  return status;
}

static void add_agreements(vcs_agreements_t *into, const vcs_agreements_t *from) {
  vcs_agreement_merge(&into->pooled, &from->pooled);
  into->cosines += from->cosines;
  into->maps += from->maps;
  into->still += from->still;
}

/* Scores the first `count` places and adds the result to a source. `share` is the part of the states that this one is.
 */
static vcs_status_t add_source(job_t *job, const vcs_run_t *run, size_t count, double share, int source,
                               vcs_error_t *error) {
  double costs[VCS_STUDY_METHODS] = {0};
  vcs_score_options_t options = job->score;
  if (job->options->costs) options.costs = costs;
  const vcs_status_t status = vcs_score(run, &options, job->places, count, job->results, error);
  for (int i = 0; status == VCS_OK && i < options.method_count * options.horizon_count * VCS_VIEWS; i++) {
    add_agreements(&job->sums[source][i], &job->results[i]);
  }
  for (int m = 0; m < options.method_count; m++) job->costs[source][m] += share * costs[m];
  return status;
}

static vcs_status_t score_presses(job_t *job, const vcs_run_t *run, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (int source = 0; source <= FIRE && status == VCS_OK; source++) {
    for (int i = 0; i < 2; i++) job->places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, 0, presses[source][i]};
    status = add_source(job, run, source == FIRE ? 1 : 2, 1.0 / (double)job->options->states, source, error);
  }
  return status;
}

/* Bits of RAM and of ROM, and reverse passes. */
static vcs_status_t score_bits(job_t *job, const vcs_run_t *run, vcs_error_t *error) {
  const vcs_score_game_options_t *o = job->options;
  const size_t ram = list_ram(job);
  size_t rom = 0;
  vcs_status_t status = ram ? add_source(job, run, ram, 1, RAM, error) : VCS_OK;
  if (status == VCS_OK && o->pixels && ram) {
    vcs_score_options_t reverse = job->score;
    for (uint32_t i = 0; i < VCS_SCORE_INPUTS; i++) job->places[ram + i] = (vcs_place_t){VCS_PLACE_INPUT, 0, 0, i};
    for (int source = VJP; source <= REGION && status == VCS_OK; source++) {
      if (o->costs) reverse.costs = job->costs[source];
      if (source == REGION) reverse.cell[0] = CELL_WIDTH, reverse.cell[1] = CELL_HEIGHT;
      status = vcs_score_vjp(run, &reverse, job->places, ram + VCS_SCORE_INPUTS, (int32_t)o->pixels, (uint64_t)o->seed,
                             job->sums[source], error);
    }
  }
  if (status == VCS_OK) status = list_rom(job, run, &rom, error);
  if (status == VCS_OK && rom) status = add_source(job, run, rom, 1, ROM, error);
  return status;
}

static vcs_status_t score_states(job_t *job, const vcs_cart_t *cart, vcs_error_t *error) {
  const vcs_score_game_options_t *o = job->options;
  vcs_status_t status = VCS_OK;
  for (int64_t i = 0; i < o->states && status == VCS_OK; i++) {
    const vcs_setup_options_t play = {.seed = o->seed ? o->seed + i : 0,
                                      .frame = o->frame + (o->seed ? 0 : 60 * i),
                                      .horizon = o->horizons[o->horizon_count - 1]};
    vcs_setup_t setup;
    status = vcs_setup_create(cart, &play, &setup, error);
    if (status) break;
    status = score_presses(job, &setup.run, error);
    if (status == VCS_OK && i == 0) status = score_bits(job, &setup.run, error);
    vcs_setup_free(&setup);
  }
  return status;
}

/* The rows of one method. */
static void print_method(const job_t *job, const char *game, int m, vcs_text_t *rows) {
  const int horizons = job->options->horizon_count;
  for (int source = 0; source < SOURCES; source++) {
    const int count = source >= VJP ? 1 : VCS_VIEWS; /* a reverse pass has one row of effects */
    for (int i = 0; i < horizons * count; i++) {
      vcs_score_row(rows, game, vcs_study_method_name(job->options->methods[m]), sources[source],
                    job->options->horizons[i / count], i % count, &job->sums[source][m * horizons * count + i],
                    job->options->costs ? ale_frames * job->costs[source][m] : NAN);
    }
  }
}

static vcs_status_t check_options(const vcs_score_game_options_t *o, vcs_error_t *error) {
  if (!o->horizons || o->horizon_count < 1 || !o->methods || o->method_count < 1 ||
      o->method_count > VCS_STUDY_METHODS) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a game is scored by given horizons and by 1 to %d methods",
                          VCS_STUDY_METHODS);
  }
  const struct {
    const char *name;
    int64_t value, least, most;
  } numbers[] = {{"states", o->states, 1, VCS_SCORE_STATES},       {"bits", o->bits, 0, VCS_SCORE_RAM_BITS},
                 {"rom_bits", o->rom_bits, 0, VCS_SCORE_ROM_BITS}, {"pixels", o->pixels, 0, VCS_SCORE_PIXELS},
                 {"frame", o->frame, 0, VCS_SCORE_FRAMES},         {"seed", o->seed, 0, INT64_MAX - VCS_SCORE_STATES}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i].value >= numbers[i].least && numbers[i].value <= numbers[i].most) continue;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "%s is %" PRId64 ", but goes from %" PRId64 " to %" PRId64 " when a game is scored",
                          numbers[i].name, numbers[i].value, numbers[i].least, numbers[i].most);
  }
  return VCS_OK;
}

vcs_status_t vcs_score_game(const vcs_cart_t *cart, const char *game, const vcs_score_game_options_t *given,
                            char **rows, vcs_error_t *error) {
  vcs_score_game_options_t o;
  *rows = NULL;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_score_game_options_t, &o, given, error);
  if (status == VCS_OK) status = vcs_threads_check(o.threads, error);
  if (status == VCS_OK) status = check_options(&o, error);
  if (status) return status;
  job_t job = {.options = &o,
               .score = {.horizons = o.horizons,
                         .horizon_count = o.horizon_count,
                         .methods = o.methods,
                         .method_count = o.method_count,
                         .window = o.window,
                         .budget = o.budget,
                         .threads = o.threads,
                         .report = o.report}};
  const size_t count = (size_t)o.method_count * (size_t)o.horizon_count * VCS_VIEWS;
  job.places = calloc(PLACES_MAX, sizeof *job.places);
  job.results = calloc((SOURCES + 1) * count, sizeof *job.results);
  if (!job.places || !job.results) status = vcs_no_memory(error);
  for (int i = 0; i < SOURCES && job.results; i++) job.sums[i] = job.results + (size_t)(i + 1) * count;
  if (status == VCS_OK) status = score_states(&job, cart, error);
  vcs_text_t text = {0};
  for (int m = 0; status == VCS_OK && m < o.method_count; m++) print_method(&job, game, m, &text);
  if (text.failed) status = vcs_no_memory(error);
  if (status == VCS_OK) {
    *rows = text.text;
  } else {
    vcs_text_free(&text);
  }
  free(job.places);
  free(job.results);
  return status;
}
