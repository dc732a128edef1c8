/* steer.c: `diffvcs steer ROM --goal WHAT`: searches for controls that reach a goal (docs/steer.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common.h"

static const char command[] = "diffvcs steer";
static const vcs_usage_t usage = {
    command,
    "Searches for the controls of some frames after which bytes of RAM have given values, objects are at given pixels, "
    "or the score is high. docs/annotations.md has the names of objects. The search `horizon`, the default, learns the "
    "effect of each action on the bytes in one frame, and plans with it. For a score use `exact`, which computes the "
    "exact effects of 32 changes of the controls at a time. --searches all compares all searches with the same budget "
    "for each seed: these two, random sequences, a blind local search, the same guided by estimated derivatives, "
    "ascent along probabilities of controls, the cross-entropy method, evolution, and a mixture of exact effects and "
    "draws in short windows. Prints medians; the table has the best sequence of each search. A derivative is charged "
    "with the frames that it costs. Sticks are searched, paddles are not. docs/steer.md has results." VCS_ROMS_NOTE,
    "diffvcs steer space_invaders --actions NOOP*1050,RIGHT*40,NOOP*4 --goal ram:9C=100 --horizon 100 --budget 8000\n"
    "diffvcs steer boxing --actions NOOP*300 --goal \"object:player 0 x=60,object:player 0 y=70\" --budget 4000\n"
    "diffvcs steer space_invaders --goal score --horizon 120 --budget 12000 --searches all\n"
    "diffvcs steer demo --frame 100 --goal ram:80=200 --horizon 10 --budget 500 --seeds 3\n"};

enum { FRAMES_MAX = 3600, SEEDS_MAX = 10000 };

typedef struct {
  vcs_cli_setup_t setup;
  vcs_steer_options_t steer;
  const char *out, *searches_text;
  int32_t searches[VCS_STEERS];
  int64_t jobs;
} options_t;

typedef struct {
  const vcs_steer_t *results; /* [seed][search] */
  const int32_t *searches;
  size_t seeds, count; /* of searches */
  int32_t frames;
  int scored; /* the goal is the score, not a distance */
} report_t;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The number that is printed: the score, or the distance. */
static double shown(const report_t *r, double value) { return r->scored ? value : 0 - value; }

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void print_summary(const report_t *r, vcs_text_t *text) {
  double *values = malloc(r->seeds * sizeof *values);
  vcs_text_printf(text, "| search | %s: median | best | worst | goal reached | frames until then: median |\n",
                  r->scored ? "score" : "distance");
  vcs_text_printf(text, "|---|---|---|---|---|---|\n");
  for (size_t k = 0; k < r->count && values; k++) {
    size_t reached = 0;
    for (size_t i = 0; i < r->seeds; i++) values[i] = r->results[r->count * i + (size_t)k].value;
    for (size_t i = 0; i < r->seeds; i++) reached += !r->scored && values[i] == 0;
    const double middle = median(values, r->seeds);
    vcs_text_printf(text, "| %s | %g | %g | %g | ", vcs_steer_name(r->searches[k]), shown(r, middle),
                    shown(r, values[r->seeds - 1]), shown(r, values[0]));
    if (r->scored) {
      vcs_text_printf(text, "- |");
    } else {
      vcs_text_printf(text, "%zu of %zu |", reached, r->seeds);
    }
    for (size_t i = 0; i < r->seeds; i++) values[i] = (double)r->results[r->count * i + (size_t)k].frames;
    vcs_text_printf(text, " %g |\n", median(values, r->seeds));
  }
  if (!values) text->failed = true;
  free(values);
}

static void print_table(const report_t *r, vcs_text_t *text) {
  vcs_text_printf(text, "seed\tsearch\t%s\tframes\tactions\n", r->scored ? "score" : "distance");
  for (size_t i = 0; i < r->count * r->seeds; i++) {
    const vcs_steer_t *result = &r->results[i];
    char *actions = vcs_held_actions(result->held, r->frames);
    if (!actions) text->failed = true;
    vcs_text_printf(text, "%zu\t%s\t%g\t%" PRId64 "\t%s\n", i / r->count + 1, vcs_steer_name(r->searches[i % r->count]),
                    shown(r, result->value), result->frames, actions ? actions : "");
    vcs_text_release(actions);
  }
}

static vcs_status_t steer(const vcs_rom_t *rom, const vcs_setup_t *setup, void *context, vcs_error_t *error) {
  options_t *o = context;
  const size_t count = (size_t)o->steer.search_count * (size_t)o->steer.seeds;
  vcs_steer_t *results = calloc(count, sizeof *results);
  report_t r = {.results = results,
                .searches = o->searches,
                .seeds = (size_t)o->steer.seeds,
                .count = (size_t)o->steer.search_count,
                .frames = setup->run.frames};
  vcs_text_t table = {0}, summary = {0};
  vcs_bar_t bar = {0};
  (void)rom;
  if (!results) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  o->steer.env = setup->env;
  o->steer.threads = (int32_t)o->jobs;
  o->steer.report = vcs_bar_report(&bar);
  vcs_status_t status = vcs_steer(&setup->run, &o->steer, results, &r.scored, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) {
    print_table(&r, &table);
    print_summary(&r, &summary);
    status = vcs_file_write_text(o->out, &table, error);
  }
  if (status == VCS_OK && summary.text) printf("%swrote     %s\n", summary.text, o->out);
  vcs_text_free(&table);
  vcs_text_free(&summary);
  vcs_steer_free(results, count);
  free(results);
  return status;
}

/* Reads names with commas between them, or `all`. */
static bool read_searches(options_t *o) {
  const bool all = strcmp(o->searches_text, "all") == 0;
  for (int i = 0; all && i < VCS_STEERS; i++) o->searches[i] = i;
  o->steer.searches = o->searches;
  o->steer.search_count = all ? VCS_STEERS : 0;
  for (const char *at = o->searches_text; !all; at++) {
    const size_t length = strcspn(at, ",");
    int search = 0;
    while (search < VCS_STEERS &&
           !(strlen(vcs_steer_name(search)) == length && strncasecmp(vcs_steer_name(search), at, length) == 0)) {
      search++;
    }
    if (search == VCS_STEERS || o->steer.search_count == VCS_STEERS) return false;
    o->searches[o->steer.search_count++] = search;
    at += length;
    if (!*at) break;
  }
  return true;
}

static int check_options(void *options) {
  options_t *o = options;
  if (!read_searches(o)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--searches takes all, or some of random, blind, guided, smooth, evolution, exact, cem, "
                            "horizon, mixed, with commas; not '%s'",
                            o->searches_text);
  }
  vcs_error_t error = {""};
  if (!o->steer.goal)
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--goal is needed: score, ram:9C=60 or \"object:player 0 x=80\"");
  if (o->steer.budget < o->setup.setup.horizon) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--budget must be enough for one run of %d frames",
                            (int)o->setup.setup.horizon);
  }
  if (vcs_output_try(o->out, &error)) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  return VCS_ARGS_GO;
}

int vcs_cli_steer(int argc, char **argv) {
  options_t o = {.setup.setup = {.frame = -1, .horizon = 60},
                 .out = "steer.tsv",
                 .searches_text = "horizon",
                 .steer = {.budget = 20000, .seeds = 20, .window = 16}};
  const vcs_arg_t args[] = {
      VCS_ARG_ROM(&o.setup),
      VCS_ARG_TEXT(
          "goal", &o.steer.goal, "WHAT",
          "score, or ram:9C=60: a byte of RAM and its value after the last frame, or \"object:player 0 x=80\": an "
          "object's pixel then; up to eight bytes and objects, with commas"),
      VCS_ARGS_PLAYED(&o.setup),
      VCS_ARG_TEXT("searches", &o.searches_text, "LIST",
                   "all, or some of random, blind, guided, smooth, evolution, exact, cem, horizon, mixed"),
      VCS_ARG_INTEGER("horizon", &o.setup.setup.horizon, 1, FRAMES_MAX, "frames whose controls are searched"),
      VCS_ARG_INTEGER("budget", &o.steer.budget, 1, INT64_C(1000000000000), "emulated frames for each search"),
      VCS_ARG_INTEGER("seeds", &o.steer.seeds, 1, SEEDS_MAX, "beginnings for each search"),
      VCS_ARG_WINDOW(&o.steer.window),
      VCS_ARG_JOBS(&o.jobs),
      VCS_ARG_TEXT("out", &o.out, "FILE", "the table, with the sequences"),
      VCS_ARGS_CART(&o.setup.rom_options),
      VCS_ARG_END};
  return vcs_cli_study(&usage, args, argc, argv, &(vcs_cli_study_t){&o.setup, NULL, check_options, steer, &o});
}
