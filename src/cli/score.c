/* score.c: `diffvcs score`: how well the methods agree with the truth, and what they cost.
 *
 * vcs_score_game makes the rows of a game. They are written when all of them are computed, the whole file at a time, so
 * that the command can be interrupted and resumed. Several processes can fill one table (vcs_score_merge).
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/score_table.h"
#include "host/games.h"

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
    "diffvcs score demo --bits 64 --horizons 1,4\n"
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

/* Progress over all games: each game reports its own part. */
typedef struct {
  vcs_progress_t progress;
  uint64_t done;   /* of the current game */
  bool unwritable; /* the table: there is no use in computing more */
} total_t;

static int add_progress(void *context, const char *step, uint64_t done, uint64_t total) {
  total_t *t = context;
  (void)step, (void)total;
  if (done > t->done) vcs_progress_add(&t->progress, done - t->done);
  t->done = done;
  return vcs_interrupted();
}

/* Adds the rows of the methods that are missing to the table. */
static vcs_status_t score_game(const options_t *o, const char *name, total_t *total, vcs_text_t *table,
                               vcs_error_t *error) {
  int32_t methods[VCS_STUDY_METHODS];
  vcs_rom_t rom;
  vcs_status_t status = vcs_rom_open(name, &o->choice, &rom, error);
  if (status) return status;
  vcs_score_game_options_t options = o->score;
  options.methods = methods;
  options.method_count = missing_methods(o, table, rom.name, methods);
  options.report = (vcs_report_t){add_progress, total};
  if (options.method_count) {
    char *rows;
    status = vcs_score_game(rom.cart, rom.name, &options, &rows, error);
    if (status == VCS_OK) {
      const vcs_text_t text = {.text = rows, .length = strlen(rows)};
      status = vcs_score_merge(o->out, o->made.text, &text, table, error);
      total->unwritable = status != VCS_OK;
    }
    vcs_text_release(rows);
  }
  vcs_rom_free(&rom);
  return status;
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
  vcs_score_begin(table, o->made.text);
  return vcs_file_write_text(o->out, table, error);
}

static int score(options_t *o) {
  vcs_text_t table = {0};
  vcs_error_t error = {""};
  total_t total = {.done = 0};
  int finished = 0, unreadable = 0;
  vcs_status_t status = open_table(o, &table, &error);
  if (status) {
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
  vcs_progress_start(&total.progress, "scoring", predictions, VCS_PROGRESS_AUTO);
  for (int i = 0; i < o->games.count && !vcs_interrupted() && !total.unwritable; i++) {
    status = score_game(o, o->games.items[i], &total, &table, &error);
    total.done = 0;
    finished += status == VCS_OK;
    if (status == VCS_OK || status == VCS_CANCELLED || total.unwritable) continue;
    vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", o->games.items[i], error.message);
    if (status == VCS_NOT_FOUND && !unreadable) vcs_rom_advise(o->choice.roms);
    unreadable++;
  }
  vcs_progress_finish(&total.progress);
  if (total.unwritable) {
    vcs_text_free(&table);
    return vcs_cli_complain(command, VCS_EXIT_FAILED,
                            "%s. The games that it already has are kept: run the same command to resume",
                            error.message);
  }
  print_summary(&table);
  vcs_text_free(&table);
  if (vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED,
                            "interrupted: %d of %d games are in %s; run the same command to resume", finished,
                            o->games.count, o->out);
  }
  return unreadable ? VCS_EXIT_USAGE : VCS_EXIT_OK;
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
    if (method < 0 || o->score.method_count == VCS_STUDY_METHODS) return false;
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
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--methods takes some of naive, ste, bit, bit+fork, hybrid, exact, with commas; not '%s'",
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
      VCS_ARG_INTEGER("frame", &o.score.frame, 0, 100000000, "frames to play first"),
      VCS_ARG_INTEGER("seed", &o.score.seed, 0, INT64_MAX, "the action stream of the records; 0: NOOP only"),
      VCS_ARG_INTEGER("bits", &o.score.bits, 0, VCS_SCORE_RAM_BITS,
                      "how many bits of RAM, drawn with the seed; 1024: all"),
      VCS_ARG_INTEGER("states", &o.score.states, 1, 1000, "states of each game in which presses are tried"),
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
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  o.score.horizons = o.horizons;
  o.score.methods = o.methods;
  o.score.threads = (int32_t)o.jobs;
  o.score.costs = !o.no_costs;
  exit_code = score(&o);
  vcs_text_free(&o.made);
  free(names);
  return exit_code;
}
