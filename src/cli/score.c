/* score.c: `diffvcs score`: how well the methods agree with the truth, and what they cost.
 *
 * For every game states are taken after some frames of action streams, and from each a run without input. Scored are:
 *
 *   left/right, up/down, fire   one-frame presses of the stick in the first frame, in several states
 *   ram                         bits of RAM
 *   rom                         bits of bytes of the image that the run reads
 *   vjp                         reverse passes from pixels, with respect to the bits of RAM and the presses
 *
 * The last three in the first state. vcs_score and vcs_score_vjp compare predictions with the truth. A game's rows are
 * written when all of them are computed, the whole file at a time, so that the command can be interrupted and resumed.
 * Several processes can fill one table (vcs_score_merge).
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/score_table.h"
#include "core/splitmix.h"
#include "core/state.h"
#include "host/games.h"

static const char command[] = "diffvcs score";
static const vcs_usage_t usage = {
    command,
    "Compares derivatives with the truth. For each game: states after some frames of action streams, then a run "
    "without input; the effect of each one-frame press of the stick, of bits of RAM and of ROM on the screen and on "
    "RAM, by exact Jacobians (the truth) and by one forward pass for each method; and reverse passes from pixels. "
    "Prints means over games: what a place costs in frames of ale-py, the cosine (mean over bits, and of all maps as "
    "one), sign, precision and recall of what changes.\n\nThe table is written after every game. Games and methods "
    "that it already has are skipped, so an interrupted run is resumed with the same command. Most of the time is for "
    "bits of RAM by bit and bit+fork: --bits 64 takes a tenth of the time." VCS_ROMS_NOTE,
    "diffvcs score demo --bits 64 --horizons 1,4\n"
    "diffvcs score pong breakout --methods bit,bit+fork --out score.tsv\n"
    "diffvcs score --all --out score.tsv\n"
    "diffvcs score --summary score.tsv\n"};

enum { HORIZONS_MAX = 16, HORIZON_MAX = 1000, RAM_BITS = 1024 };

/* A drawn frame of ours in frames of ale-py: the mean of five games (make bench-grad, docs/benchmarks.md). */
static const double ale_frames = 0.23;

enum { LEFT_RIGHT, UP_DOWN, FIRE, RAM, ROM, VJP, SOURCES };
static const char *const sources[SOURCES] = {"left/right", "up/down", "fire", "ram", "rom", "vjp"};
static const uint8_t presses[FIRE + 1][2] = {
    {VCS_INPUT_LEFT, VCS_INPUT_RIGHT}, {VCS_INPUT_UP, VCS_INPUT_DOWN}, {VCS_INPUT_FIRE, VCS_INPUT_FIRE}};
enum { INPUTS = 5, ROM_BITS_MAX = 4096, PLACES_MAX = RAM_BITS + INPUTS + ROM_BITS_MAX };

typedef struct {
  vcs_rest_t games;
  vcs_rom_options_t choice;
  const char *horizons_text, *methods_text, *out, *summary;
  int64_t frame, seed, states, bits, rom_bits, pixels, window, jobs;
  bool all, fresh;
  char made[512]; /* the settings, as the table states them */
  int32_t horizons[HORIZONS_MAX], horizon_count;
  int32_t methods[VCS_STUDY_METHODS], method_count;
} options_t;

/* ---- A game ------------------------------------------------------------------------------------------------- */

/* Lists `bits` bits of RAM, drawn with the seed; returns how many. */
static size_t list_ram(const options_t *o, vcs_place_t *places) {
  uint16_t bits[RAM_BITS];
  uint64_t random = (uint64_t)o->seed;
  for (int i = 0; i < RAM_BITS; i++) bits[i] = (uint16_t)i;
  for (int i = 0; i < (int)o->bits; i++) {
    const int other = i + (int)(vcs_splitmix64(&random) % (uint64_t)(RAM_BITS - i));
    const uint16_t bit = bits[other];
    bits[other] = bits[i];
    bits[i] = bit;
    places[i] = (vcs_place_t){VCS_PLACE_STATE, bit % 8, 0, (uint32_t)(offsetof(vcs_t, ram) + (size_t)(bit / 8))};
  }
  return (size_t)o->bits;
}

/* Lists bits of bytes that the run reads, drawn with the seed. */
static vcs_status_t list_rom(const options_t *o, const vcs_run_t *run, vcs_place_t *places, size_t *count,
                             vcs_error_t *error) {
  const uint32_t size = vcs_cart_info(run->cart)->image_size;
  vcs_rom_use_t *uses = calloc(size, sizeof *uses);
  uint32_t *used = calloc(size, sizeof *used);
  uint64_t random = (uint64_t)o->seed + 1;
  size_t bytes = 0;
  *count = 0;
  const bool room = uses && used;
  vcs_status_t status = room ? vcs_rom_uses(run, uses, error) : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (uint32_t i = 0; room && status == VCS_OK && i < size; i++) {
    if (uses[i].kind != VCS_ROM_UNUSED) used[bytes++] = i;
  }
  for (; room && status == VCS_OK && bytes && *count < (size_t)o->rom_bits; ++*count) {
    const uint64_t bit = vcs_splitmix64(&random) % (8 * (uint64_t)bytes);
    places[*count] = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)(bit % 8), 0, used[bit / 8]};
  }
  free(uses);
  free(used);
  return status;
}

/* Lists the methods that the table does not have for a game; returns how many. */
static int missing_methods(const options_t *o, const vcs_text_t *table, const char *game,
                           int32_t methods[VCS_STUDY_METHODS]) {
  int count = 0;
  for (int i = 0; i < o->method_count; i++) {
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

/* Sums of one source: [method][horizon][view], and costs. */
typedef struct {
  vcs_agreements_t agreements[VCS_STUDY_METHODS * HORIZONS_MAX * VCS_VIEWS];
  double costs[VCS_STUDY_METHODS];
} sums_t;

static void add_agreements(vcs_agreements_t *into, const vcs_agreements_t *from) {
  vcs_agreement_merge(&into->pooled, &from->pooled);
  into->cosines += from->cosines;
  into->maps += from->maps;
  into->still += from->still;
}

/* Scores places of one source and adds the result. `share` is the part of the states that this one is. */
static vcs_status_t add_source(const vcs_score_options_t *given, const vcs_run_t *run, const vcs_place_t *places,
                               size_t count, double share, sums_t *sums, vcs_error_t *error) {
  static vcs_agreements_t results[VCS_STUDY_METHODS * HORIZONS_MAX * VCS_VIEWS];
  double costs[VCS_STUDY_METHODS] = {0};
  vcs_score_options_t options = *given;
  options.costs = costs;
  const vcs_status_t status = vcs_score(run, &options, places, count, results, error);
  for (int i = 0; status == VCS_OK && i < options.method_count * options.horizon_count * VCS_VIEWS; i++) {
    add_agreements(&sums->agreements[i], &results[i]);
  }
  for (int m = 0; m < options.method_count; m++) sums->costs[m] += share * costs[m];
  return status;
}

/* The rows of one method. */
static void print_method(const vcs_score_options_t *options, const char *game, int m, const sums_t sums[SOURCES],
                         vcs_text_t *table) {
  for (int source = 0; source < SOURCES; source++) {
    const int views = source == VJP ? 1 : VCS_VIEWS; /* a reverse pass has one row of effects */
    for (int i = 0; i < options->horizon_count * views; i++) {
      vcs_score_row(table, game, vcs_study_method_name(options->methods[m]), sources[source],
                    options->horizons[i / views], i % views,
                    &sums[source].agreements[m * options->horizon_count * views + i],
                    ale_frames * sums[source].costs[m]);
    }
  }
}

/* The presses of one state. */
static vcs_status_t score_presses(const options_t *o, const vcs_score_options_t *options, const vcs_run_t *run,
                                  sums_t *sums, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (int source = 0; source <= FIRE && status == VCS_OK; source++) {
    const vcs_place_t places[] = {{VCS_PLACE_INPUT, 0, 0, presses[source][0]},
                                  {VCS_PLACE_INPUT, 0, 0, presses[source][1]}};
    status = add_source(options, run, places, source == FIRE ? 1 : 2, 1.0 / (double)o->states, &sums[source], error);
  }
  return status;
}

/* Bits of RAM and of ROM, and reverse passes. */
static vcs_status_t score_bits(const options_t *o, const vcs_score_options_t *options, const vcs_run_t *run,
                               sums_t *sums, vcs_error_t *error) {
  static vcs_place_t places[PLACES_MAX];
  const size_t ram = list_ram(o, places);
  size_t rom = 0;
  vcs_status_t status = ram ? add_source(options, run, places, ram, 1, &sums[RAM], error) : VCS_OK;
  if (status == VCS_OK && o->pixels && ram) {
    vcs_score_options_t reverse = *options;
    reverse.costs = sums[VJP].costs;
    for (uint32_t i = 0; i < INPUTS; i++) places[ram + i] = (vcs_place_t){VCS_PLACE_INPUT, 0, 0, i};
    status = vcs_score_vjp(run, &reverse, places, ram + INPUTS, (int32_t)o->pixels, (uint64_t)o->seed,
                           sums[VJP].agreements, error);
  }
  if (status == VCS_OK) status = list_rom(o, run, places, &rom, error);
  if (status == VCS_OK && rom) status = add_source(options, run, places, rom, 1, &sums[ROM], error);
  return status;
}

/* Adds the rows of the methods that are missing to the table. */
static vcs_status_t score_game(const options_t *o, const char *name, total_t *total, vcs_text_t *table,
                               vcs_error_t *error) {
  static sums_t sums[SOURCES];
  int32_t methods[VCS_STUDY_METHODS];
  vcs_rom_t rom;
  vcs_status_t status = vcs_rom_open(name, &o->choice, &rom, error);
  if (status) return status;
  const vcs_score_options_t options = {.horizons = o->horizons,
                                       .horizon_count = o->horizon_count,
                                       .methods = methods,
                                       .method_count = missing_methods(o, table, rom.name, methods),
                                       .window = o->window,
                                       .threads = (int32_t)o->jobs,
                                       .report = {add_progress, total}};
  memset(sums, 0, sizeof sums);
  for (int64_t i = 0; i < o->states && status == VCS_OK && options.method_count; i++) {
    const vcs_setup_options_t play = {.seed = o->seed ? o->seed + i : 0,
                                      .frame = o->frame + (o->seed ? 0 : 60 * i),
                                      .horizon = o->horizons[o->horizon_count - 1]};
    vcs_setup_t setup;
    status = vcs_setup_create(rom.cart, &play, &setup, error);
    if (status) break;
    status = score_presses(o, &options, &setup.run, sums, error);
    if (status == VCS_OK && i == 0) status = score_bits(o, &options, &setup.run, sums, error);
    vcs_setup_free(&setup);
  }
  vcs_text_t rows = {0};
  for (int m = 0; status == VCS_OK && m < options.method_count; m++) print_method(&options, rom.name, m, sums, &rows);
  if (status == VCS_OK && options.method_count) {
    status = rows.failed ? vcs_error_fill(error, VCS_NO_MEMORY, "no memory for the rows of %.60s", rom.name)
                         : vcs_score_merge(o->out, o->made, &rows, table, error);
    total->unwritable = status != VCS_OK;
  }
  vcs_text_free(&rows);
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
  snprintf(o->made, sizeof o->made,
           "profile %s, frame %" PRId64 " of stream %" PRId64 ", horizons %s, presses in %" PRId64 " states, %" PRId64
           " bits of RAM, %" PRId64 " of ROM, %" PRId64 " pixels, window %" PRId64,
           vcs_profile_name((vcs_profile_t)o->choice.profile), o->frame, o->seed, o->horizons_text, o->states, o->bits,
           o->rom_bits, o->pixels, o->window);
  if (!o->fresh) return vcs_score_merge(o->out, o->made, &no_rows, table, error);
  vcs_score_begin(table, o->made);
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
                   (uint64_t)(INPUTS * o->states + o->bits + o->rom_bits + o->pixels * o->horizon_count);
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
  for (const char *at = o->horizons_text; o->horizon_count < HORIZONS_MAX; at++) {
    char *end;
    if (!isdigit((unsigned char)*at)) return false;
    const long horizon = strtol(at, &end, 10);
    const int before = o->horizon_count ? o->horizons[o->horizon_count - 1] : 0;
    if (horizon <= before || horizon > HORIZON_MAX || (*end && *end != ',')) return false;
    o->horizons[o->horizon_count++] = (int)horizon;
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
    if (method < 0 || o->method_count == VCS_STUDY_METHODS) return false;
    o->methods[o->method_count++] = method;
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
                            "--methods takes some of naive, ste, bit, bit+fork, exact, with commas; not '%s'",
                            o->methods_text);
  }
  return VCS_ARGS_GO;
}

int vcs_cli_score(int argc, char **argv) {
  options_t o = {.horizons_text = "1,2,4,8,15",
                 .methods_text = "naive,ste,bit,bit+fork,exact",
                 .out = "score.tsv",
                 .frame = 300,
                 .states = 4,
                 .bits = RAM_BITS,
                 .rom_bits = 64,
                 .pixels = 4,
                 .window = VCS_STUDY_WINDOW};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("GAME", &o.games, "games, ROM images, or demo"),
      VCS_ARG_FLAG("all", &o.all, "all games of the profile"),
      VCS_ARG_TEXT("summary", &o.summary, "FILE", "only print the means over the games of this table"),
      VCS_ARG_TEXT("methods", &o.methods_text, "LIST", "which methods"),
      VCS_ARG_TEXT("horizons", &o.horizons_text, "LIST", "frames after which effects are compared"),
      VCS_ARG_INTEGER("frame", &o.frame, 0, 100000000, "frames to play first"),
      VCS_ARG_INTEGER("seed", &o.seed, 0, INT64_MAX, "the action stream of the records; 0: NOOP only"),
      VCS_ARG_INTEGER("bits", &o.bits, 0, RAM_BITS, "how many bits of RAM, drawn with the seed; 1024: all"),
      VCS_ARG_INTEGER("states", &o.states, 1, 1000, "states of each game in which presses are tried"),
      VCS_ARG_INTEGER("rom-bits", &o.rom_bits, 0, ROM_BITS_MAX,
                      "how many bits of ROM that is read, drawn with the seed"),
      VCS_ARG_INTEGER("pixels", &o.pixels, 0, 1000, "reverse passes at each horizon"),
      VCS_ARG_WINDOW(&o.window),
      VCS_ARG_JOBS(&o.jobs),
      VCS_ARG_TEXT("out", &o.out, "FILE", "the table"),
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
  exit_code = score(&o);
  free(names);
  return exit_code;
}
