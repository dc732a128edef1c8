/* score.c: `diffvcs score`: how well the methods agree with the truth, and what they cost.
 *
 * vcs_score_game makes the rows of a game. They are written when all of them are computed, the whole file at a time, so
 * that the command can be interrupted and resumed. Several processes can fill one table (vcs_score_merge). Threads
 * share the games.
 */
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/score_table.h"
#include "host/games.h"
#include "host/parallel.h"

static const char command[] = "diffvcs score";
static const vcs_usage_t usage = {
    command,
    "Compares derivatives with the truth. For each game: states after some frames of action streams, then a run "
    "without input; the effect of each one-frame press of the stick, of bits of RAM and of ROM on the screen and on "
    "RAM, by exact Jacobians (the truth) and by one forward pass for each method; and reverse passes from pixels and "
    "from regions of 32 x 16 pixels. "
    "Prints means over games: what a place costs in frames of ale-py, the cosine (mean over bits, and of all maps as "
    "one), sign, precision and recall of what changes.\n\nThe table is written after every game. Games and methods "
    "that it already has are skipped, so an interrupted run is resumed with the same command. Time is "
    "about a second for each 100 bits of RAM, less for a simple program; --bits 1024 scores all of them." VCS_ROMS_NOTE,
    "diffvcs score demo --bits 64 --horizons 1,4 --out demo.tsv\n"
    "diffvcs score pong breakout --methods bit,bit+fork --out score.tsv\n"
    "diffvcs score --all --out score.tsv\n"
    "diffvcs score --summary score.tsv\n"};

enum { HORIZONS_MAX = 16, HORIZON_MAX = 1000 };

typedef struct {
  vcs_rest_t games;
  vcs_rom_options_t choice;
  const char *horizons_text, *methods_text, *out, *summary;
  vcs_score_game_options_t score; /* its arrays are those below */
  int64_t jobs;
  bool all, fresh, no_costs;
  vcs_text_t made; /* the settings, as the table states them */
  int32_t horizons[HORIZONS_MAX];
  int32_t methods[VCS_STUDY_METHODS];
} options_t;

/* ---- A game ------------------------------------------------------------------------------------------------- */

/* Lists the methods that the table does not have for a game; returns how many. */
static int missing_methods(const options_t *o, const vcs_text_t *table, const char *game,
                           int32_t methods[VCS_STUDY_METHODS]) {
  int count = 0;
  for (int i = 0; i < o->score.method_count; i++) {
    if (!vcs_score_has(table, game, vcs_study_method_name(o->methods[i]))) methods[count++] = o->methods[i];
  }
  return count;
}

/* Games under way. As many are scored at a time as there are threads, because one game alone does not keep several
 * threads busy all the time; their rows are written in the order in which the games were given. With fewer games than
 * threads, one game after the other has all threads. */
typedef struct {
  bool done; /* but not written yet */
  vcs_status_t status;
  vcs_error_t error;
  char *rows; /* or NULL: the table had them */
} game_t;

typedef struct {
  const options_t *options;
  vcs_progress_t progress;
  int32_t threads;      /* for each game */
  pthread_mutex_t lock; /* of all that follows */
  vcs_text_t *table;
  game_t *games;
  int written; /* games whose rows are in the table, or that have none */
  int finished, unreadable;
  bool unwritable; /* the table: there is no use in computing more */
} job_t;

/* Makes the rows of the methods that are missing. */
static vcs_status_t score_game(job_t *job, const char *name, char **rows, vcs_error_t *error) {
  int32_t methods[VCS_STUDY_METHODS];
  vcs_rom_t rom;
  vcs_status_t status = vcs_rom_open(name, &job->options->choice, &rom, error);
  if (status) return status;
  vcs_progress_part_t part = {&job->progress, 0};
  vcs_score_game_options_t options = job->options->score;
  pthread_mutex_lock(&job->lock);
  options.methods = methods;
  options.method_count = missing_methods(job->options, job->table, rom.name, methods);
  pthread_mutex_unlock(&job->lock);
  options.report = (vcs_report_t){vcs_progress_report, &part};
  options.threads = job->threads;
  if (options.method_count) status = vcs_score_game(rom.cart, rom.name, &options, rows, error);
  vcs_rom_free(&rom);
  return status;
}

/* Writes the rows of a game, or says why there are none. */
static void write_game(job_t *job, const char *name, game_t *game) {
  const options_t *o = job->options;
  if (game->rows) {
    const vcs_text_t text = {.text = game->rows, .length = strlen(game->rows)};
    game->status = vcs_score_merge(o->out, o->made.text, &text, job->table, &game->error);
    vcs_text_release(game->rows);
    if (game->status) {
      job->unwritable = true;
      vcs_cli_complain(command, VCS_EXIT_FAILED,
                       "%s. The games that it already has are kept: run the same command to resume",
                       game->error.message);
      return;
    }
  }
  job->finished += game->status == VCS_OK;
  if (game->status == VCS_OK || game->status == VCS_CANCELLED) return;
  vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", name, game->error.message);
  if (game->status == VCS_NOT_FOUND && !job->unreadable) vcs_rom_advise(o->choice.roms);
  job->unreadable++;
}

static bool score_item(void *context, size_t number, int worker) {
  job_t *job = context;
  const vcs_rest_t *names = &job->options->games;
  game_t *game = &job->games[number], *next;
  (void)worker;
  game->status = score_game(job, names->items[number], &game->rows, &game->error);
  pthread_mutex_lock(&job->lock);
  game->done = true;
  for (; job->written < names->count && (next = &job->games[job->written])->done && !job->unwritable; job->written++) {
    write_game(job, names->items[job->written], next);
  }
  const bool goes_on = !job->unwritable;
  pthread_mutex_unlock(&job->lock);
  return goes_on;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static int print_summary(const vcs_text_t *table) {
  vcs_text_t out = {0};
  vcs_score_summary(table, &out);
  if (out.text) fputs(out.text, stdout);
  vcs_text_free(&out);
  return VCS_EXIT_OK;
}

static int summarize(const char *path) {
  vcs_text_t table = {0};
  vcs_error_t error = {""};
  int exit_code = VCS_EXIT_USAGE;
  if (vcs_score_read(path, NULL, &table, &error)) {
    vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  } else {
    exit_code = print_summary(&table);
  }
  vcs_text_free(&table);
  return exit_code;
}

static vcs_status_t open_table(options_t *o, vcs_text_t *table, vcs_error_t *error) {
  const vcs_text_t no_rows = {0};
  vcs_score_settings(&o->made, (vcs_profile_t)o->choice.profile, &o->score);
  if (o->made.failed) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (!o->fresh) return vcs_score_merge(o->out, o->made.text, &no_rows, table, error);
  int lock; /* which also refuses what no table can be kept in */
  vcs_status_t status = vcs_file_lock(o->out, &lock, error);
  if (status) return status;
  vcs_score_begin(table, o->made.text);
  status = vcs_file_write_text(o->out, table, error);
  vcs_file_unlock(lock);
  return status;
}

static int score(options_t *o) {
  vcs_text_t table = {0};
  vcs_error_t error = {""};
  vcs_status_t status = open_table(o, &table, &error);
  job_t job = {.options = o, .table = &table, .games = calloc((size_t)o->games.count + 1, sizeof *job.games)};
  if (status == VCS_OK && !job.games) status = vcs_error_fill(&error, VCS_NO_MEMORY, "out of memory");
  if (status) {
    free(job.games);
    vcs_text_free(&table);
    return vcs_cli_complain(command, status == VCS_BAD_FILE ? VCS_EXIT_USAGE : VCS_EXIT_FAILED, "%s", error.message);
  }
  uint64_t predictions = 0;
  for (int i = 0; i < o->games.count; i++) {
    int32_t methods[VCS_STUDY_METHODS];
    char stem[256];
    vcs_path_stem(o->games.items[i], stem, sizeof stem);
    predictions += (uint64_t)missing_methods(o, &table, stem, methods) *
                   (uint64_t)(VCS_SCORE_INPUTS * o->score.states + o->score.bits + o->score.rom_bits +
                              2 * o->score.pixels * o->score.horizon_count);
  }
  const int threads = vcs_thread_count((int)o->jobs, SIZE_MAX);
  const bool together = o->games.count >= threads;
  job.threads = together ? 1 : threads;
  pthread_mutex_init(&job.lock, NULL);
  vcs_progress_start(&job.progress, "scoring", predictions, VCS_PROGRESS_AUTO);
  vcs_parallel((size_t)o->games.count, together ? threads : 1, score_item, &job);
  vcs_progress_finish(&job.progress);
  pthread_mutex_destroy(&job.lock);
  for (int i = job.written; i < o->games.count; i++) vcs_text_release(job.games[i].rows);
  free(job.games);
  if (!job.unwritable) print_summary(&table);
  vcs_text_free(&table);
  if (job.unwritable) return VCS_EXIT_FAILED;
  if (vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED,
                            "interrupted: %d of %d games are in %s; run the same command to resume", job.finished,
                            o->games.count, o->out);
  }
  return job.unreadable ? VCS_EXIT_USAGE : VCS_EXIT_OK;
}

static bool read_horizons(options_t *o) {
  for (const char *at = o->horizons_text; o->score.horizon_count < HORIZONS_MAX; at++) {
    char *end;
    if (!isdigit((unsigned char)*at)) return false;
    const long horizon = strtol(at, &end, 10);
    const int before = o->score.horizon_count ? o->horizons[o->score.horizon_count - 1] : 0;
    if (horizon <= before || horizon > HORIZON_MAX || (*end && *end != ',')) return false;
    o->horizons[o->score.horizon_count++] = (int)horizon;
    at = end;
    if (!*at) return true;
  }
  return false;
}

static int method_of(const char *name, size_t length) {
  char word[16];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), name);
  return vcs_study_method_by_name(word);
}

static bool read_methods(options_t *o) {
  for (const char *at = o->methods_text;; at++) {
    const size_t length = strcspn(at, ",");
    const int method = method_of(at, length);
    for (int i = 0; i < o->score.method_count; i++) {
      if (o->methods[i] == method) return false;
    }
    if (method < 0) return false;
    o->methods[o->score.method_count++] = method;
    at += length;
    if (!*at) return true;
  }
}

static int check_options(options_t *o) {
  if (!read_horizons(o)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--horizons takes at most %d numbers of frames, 1 to %d, ascending, with commas; not '%s'",
                            HORIZONS_MAX, HORIZON_MAX, o->horizons_text);
  }
  if (!read_methods(o)) {
    return vcs_cli_complain(
        command, VCS_EXIT_USAGE,
        "--methods takes some of naive, ste, bit, bit+fork, hybrid, exact, each once, with commas; not '%s'",
        o->methods_text);
  }
  return VCS_ARGS_GO;
}

int vcs_cli_score(int argc, char **argv) {
  options_t o = {
      .horizons_text = "1,2,4,8,15",
      .methods_text = "naive,ste,bit,bit+fork,hybrid,exact",
      .out = "score.tsv",
      .score = {.frame = 300, .states = 4, .bits = 128, .rom_bits = 64, .pixels = 4, .window = VCS_STUDY_WINDOW}};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("GAME", &o.games, "games, ROM images, or demo"),
      VCS_ARG_FLAG("all", &o.all, "all games of the profile"),
      VCS_ARG_TEXT("summary", &o.summary, "FILE", "only print the means over the games of this table"),
      VCS_ARG_TEXT("methods", &o.methods_text, "LIST", "which methods"),
      VCS_ARG_TEXT("horizons", &o.horizons_text, "LIST", "frames after which effects are compared"),
      VCS_ARG_INTEGER("frame", &o.score.frame, 0, VCS_SCORE_FRAMES, "frames to play first"),
      VCS_ARG_INTEGER("seed", &o.score.seed, 0, INT64_MAX, "the action stream of the records; 0: NOOP only"),
      VCS_ARG_INTEGER("bits", &o.score.bits, 0, VCS_SCORE_RAM_BITS,
                      "how many bits of RAM, drawn with the seed; 1024: all"),
      VCS_ARG_INTEGER("states", &o.score.states, 1, VCS_SCORE_STATES, "states of each game in which presses are tried"),
      VCS_ARG_INTEGER("rom-bits", &o.score.rom_bits, 0, VCS_SCORE_ROM_BITS,
                      "how many bits of ROM that is read, drawn with the seed"),
      VCS_ARG_INTEGER("pixels", &o.score.pixels, 0, 1000, "reverse passes at each horizon"),
      VCS_ARG_WINDOW(&o.score.window),
      VCS_ARG_NUMBER("budget", &o.score.budget, 0, 1e12, VCS_BUDGET_HELP),
      VCS_ARG_JOBS(&o.jobs),
      VCS_ARG_TEXT("out", &o.out, "FILE", "the table"),
      VCS_ARG_FLAG("no-costs", &o.no_costs, "do not measure what methods cost: the table is then always the same"),
      VCS_ARG_FLAG("fresh", &o.fresh, "begin a new table even if there is one"),
      VCS_ARGS_ROMS(&o.choice),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (o.summary) return summarize(o.summary);
  char **names;
  exit_code = vcs_cli_games(command, o.all, &o.choice, &o.games, &names);
  if (exit_code == VCS_ARGS_GO) exit_code = vcs_cli_names_differ(command, &o.games, &o.choice);
  if (exit_code != VCS_ARGS_GO) {
    free(names);
    return exit_code;
  }
  vcs_interrupt_catch();
  o.score.horizons = o.horizons;
  o.score.methods = o.methods;
  o.score.costs = !o.no_costs;
  exit_code = score(&o);
  vcs_text_free(&o.made);
  free(names);
  return exit_code;
}
