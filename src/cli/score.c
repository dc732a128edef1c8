/* score.c: `diffvcs score`: the methods beside the truth.
 *
 * For every game one state is taken, after some frames of an action stream, and from there a run in which nobody does
 * anything. Its bits are what the left player and the console's owner may hold in the first frame, and the bits of RAM.
 * Each is flipped and run again, which gives its true effect on the screen and on RAM at every horizon; and one walk
 * forwards (JVP) a method gives the estimate of the same. agreement.h says how the two are compared.
 *
 * Bits are independent of each other, so threads share them; a game's rows are written when all of them are done, the
 * whole file at a time, so that it can be interrupted and gone on with.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "study/setup.h"
#include "cli/score_table.h"
#include "core/state.h"
#include "host/games.h"
#include "host/parallel.h"
#include "host/progress.h"

static const char command[] = "diffvcs score";

enum { HORIZONS_MAX = 16, HORIZON_MAX = 1000, RAM_BITS = 1024 };

static const uint8_t inputs[] = {VCS_INPUT_UP,   VCS_INPUT_DOWN,  VCS_INPUT_LEFT,  VCS_INPUT_RIGHT,
                                 VCS_INPUT_FIRE, VCS_INPUT_RESET, VCS_INPUT_SELECT};
enum { INPUTS = sizeof inputs };

typedef struct {
  vcs_rest_t games;
  vcs_cart_choice_t choice;
  const char *horizons_text, *methods_text, *out, *summary;
  int64_t frame, seed, bits, window, jobs;
  bool all, fresh;
  int horizons[HORIZONS_MAX], horizon_count;
  int methods[VCS_CLI_METHODS], method_count;
} options_t;

/* What a thread needs. Pixels and states are by horizon. */
typedef struct {
  vcs_t *machine;
  uint8_t *frames;
  vcs_controls_t *controls;
  float *true_pixels[HORIZONS_MAX], *true_ram[HORIZONS_MAX];
  float *pixels[HORIZONS_MAX], *states[HORIZONS_MAX];
  float **pixels_by_frame, **states_by_frame;
  float *state, *input; /* the tangent */
} scratch_t;

typedef struct {
  const options_t *options;
  const vcs_setup_t *setup;
  vcs_progress_t *progress;
  int methods[VCS_CLI_METHODS], method_count; /* those the table has not */
  vcs_place_t places[INPUTS + RAM_BITS];
  size_t place_count, state_size, pixel_count;
  uint8_t *pictures[HORIZONS_MAX], ram[HORIZONS_MAX][128]; /* of the run itself */
  scratch_t *scratch;
  vcs_agreement_t *agreements; /* [place][method][horizon][view] */
  vcs_error_t error;
  bool failed;
} job_t;

static vcs_agreement_t *agreement_at(const job_t *job, size_t place, int method, int horizon, int view) {
  const size_t row = (place * (size_t)job->method_count + (size_t)method) * (size_t)job->options->horizon_count;
  return &job->agreements[(row + (size_t)horizon) * VCS_VIEWS + (size_t)view];
}

/* ---- The bits ----------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/* All inputs, and the RAM bits or as many of them, drawn with the seed of the stream. */
static void list_places(job_t *job) {
  uint16_t bits[RAM_BITS];
  uint64_t random = (uint64_t)job->options->seed;
  for (int i = 0; i < INPUTS; i++) job->places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, 0, inputs[i]};
  for (int i = 0; i < RAM_BITS; i++) bits[i] = (uint16_t)i;
  for (int i = 0; i < (int)job->options->bits; i++) {
    const int other = i + (int)(draw(&random) % (uint64_t)(RAM_BITS - i));
    const uint16_t bit = bits[other];
    bits[other] = bits[i];
    bits[i] = bit;
    job->places[INPUTS + i] =
        (vcs_place_t){VCS_PLACE_STATE, bit % 8, 0, (uint32_t)(offsetof(vcs_t, ram) + (size_t)(bit / 8))};
  }
  job->place_count = INPUTS + (size_t)job->options->bits;
}

/* ---- The truth ---------------------------------------------------------------------------------------------- */

/* Runs with a place flipped (NULL: as it is) and hands over what there is to see at each horizon. */
static void rerun(job_t *job, scratch_t *scratch, const vcs_place_t *flipped,
                  void (*look)(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture)) {
  const vcs_run_t *run = &job->setup->run;
  vcs_t *m = scratch->machine;
  memcpy(m, run->start, job->state_size);
  memcpy(scratch->frames, run->picture, 2 * VCS_FRAME_BYTES);
  memcpy(scratch->controls, run->controls, (size_t)run->frames * sizeof *run->controls);
  if (flipped && flipped->kind == VCS_PLACE_STATE) ((uint8_t *)m)[flipped->index] ^= (uint8_t)(1 << flipped->bit);
  if (flipped && flipped->kind == VCS_PLACE_INPUT) {
    vcs_controls_t *controls = &scratch->controls[flipped->frame];
    if (flipped->index >= VCS_INPUT_RESET) {
      controls->console ^= (uint8_t)(1 << (flipped->index - VCS_INPUT_RESET));
    } else {
      controls->held[0] ^= (uint8_t)(1 << flipped->index);
    }
  }
  for (int32_t f = 0, horizon = 0; f < run->frames; f++) {
    vcs_control(run->cart, m, &scratch->controls[f]);
    vcs_frame(run->cart, m, scratch->frames);
    if (f + 1 == job->options->horizons[horizon]) look(job, scratch, horizon++, vcs_picture(m, scratch->frames));
  }
}

static void keep_base(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture) {
  memcpy(job->pictures[horizon], picture, job->pixel_count);
  memcpy(job->ram[horizon], scratch->machine->ram, 128);
}

/* With the flip minus without: the sign of the bit comes later. */
static void difference(job_t *job, scratch_t *scratch, int horizon, const uint8_t *picture) {
  for (size_t i = 0; i < job->pixel_count; i++) {
    scratch->true_pixels[horizon][i] = (float)(picture[i] - job->pictures[horizon][i]);
  }
  for (int i = 0; i < RAM_BITS; i++) {
    const int now = scratch->machine->ram[i / 8] >> i % 8 & 1, was = job->ram[horizon][i / 8] >> i % 8 & 1;
    scratch->true_ram[horizon][i] = (float)(now - was);
  }
}

/* ---- One bit ------------------------------------------------------------------------------------------------ */

/* The tangent of a flip: what the bit changes by. Truth and estimate then have the same sign without more ado. */
static float *tangent_of(const job_t *job, const scratch_t *scratch, const vcs_place_t *place, float *by) {
  *by = 1;
  if (place->kind == VCS_PLACE_INPUT) return &scratch->input[VCS_INPUTS * place->frame + place->index];
  if (((const uint8_t *)job->setup->run.start)[place->index] >> place->bit & 1) *by = -1;
  return &scratch->state[8 * (size_t)place->index + place->bit];
}

static vcs_status_t estimate(const job_t *job, scratch_t *scratch, const vcs_place_t *place, int method,
                             vcs_error_t *error) {
  vcs_grad_options_t options;
  float by, *tangent = tangent_of(job, scratch, place, &by);
  vcs_cli_method_options(method, job->options->window, &options);
  options.side = VCS_SIDE_TANGENT;
  for (int h = 0; h < job->options->horizon_count; h++) {
    memset(scratch->pixels[h], 0, VCS_FRAME_BYTES * sizeof(float));
    memset(scratch->states[h], 0, 8 * job->state_size * sizeof(float));
  }
  *tangent = by;
  const vcs_grad_inputs_t in = {scratch->state, NULL, scratch->input};
  const vcs_grad_outputs_t out = {.pixels = scratch->pixels_by_frame, .states = scratch->states_by_frame};
  vcs_status_t status = vcs_grad_jvp(&job->setup->run, &options, &in, &out, NULL, error);
  *tangent = 0;
  return status;
}

static bool score_place(void *context, size_t item, int worker) {
  job_t *job = context;
  scratch_t *scratch = &job->scratch[worker];
  const vcs_place_t *place = &job->places[item];
  rerun(job, scratch, place, difference);
  for (int method = 0; method < job->method_count; method++) {
    vcs_error_t error = {""};
    if (estimate(job, scratch, place, job->methods[method], &error)) {
      job->error = error; /* the last one is as good as the first */
      job->failed = true;
      return false;
    }
    for (int h = 0; h < job->options->horizon_count; h++) {
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_SCREEN), scratch->true_pixels[h],
                        scratch->pixels[h], job->pixel_count);
      vcs_agreement_add(agreement_at(job, item, method, h, VCS_VIEW_RAM), scratch->true_ram[h],
                        scratch->states[h] + 8 * offsetof(vcs_t, ram), RAM_BITS);
    }
    vcs_progress_add(job->progress, 1);
  }
  return true;
}

/* ---- Room --------------------------------------------------------------------------------------------------- */

static void *room(size_t count, size_t size, bool *failed) {
  void *data = calloc(count, size);
  if (!data) *failed = true;
  return data;
}

static void make_scratch(const job_t *job, scratch_t *s, bool *failed) {
  const size_t frames = (size_t)job->setup->run.frames;
  s->machine = room(1, sizeof(vcs_t), failed);
  s->frames = room(2, VCS_FRAME_BYTES, failed);
  s->controls = room(frames, sizeof *s->controls, failed);
  s->pixels_by_frame = room(frames, sizeof(float *), failed);
  s->states_by_frame = room(frames, sizeof(float *), failed);
  s->state = room(8 * job->state_size, sizeof(float), failed);
  s->input = room(VCS_INPUTS * frames, sizeof(float), failed);
  for (int h = 0; h < job->options->horizon_count && !*failed; h++) {
    s->true_pixels[h] = room(VCS_FRAME_BYTES, sizeof(float), failed);
    s->true_ram[h] = room(RAM_BITS, sizeof(float), failed);
    s->pixels[h] = room(VCS_FRAME_BYTES, sizeof(float), failed);
    s->states[h] = room(8 * job->state_size, sizeof(float), failed);
    s->pixels_by_frame[job->options->horizons[h] - 1] = s->pixels[h];
    s->states_by_frame[job->options->horizons[h] - 1] = s->states[h];
  }
}

static void free_scratch(scratch_t *s) {
  free(s->machine);
  free(s->frames);
  free(s->controls);
  free(s->pixels_by_frame);
  free(s->states_by_frame);
  free(s->state);
  free(s->input);
  for (int h = 0; h < HORIZONS_MAX; h++) {
    free(s->true_pixels[h]);
    free(s->true_ram[h]);
    free(s->pixels[h]);
    free(s->states[h]);
  }
}

/* ---- A game ------------------------------------------------------------------------------------------------- */

static vcs_status_t score_scene(job_t *job, vcs_text_t *table, vcs_error_t *error) {
  const options_t *o = job->options;
  const vcs_setup_t *setup = job->setup;
  bool failed = false;
  job->state_size = vcs_state_size(setup->rom.cart);
  job->pixel_count = (size_t)VCS_WIDTH * (size_t)vcs_env_height(setup->env);
  list_places(job);
  const int workers = vcs_thread_count((int)o->jobs, job->place_count);
  job->scratch = room((size_t)workers, sizeof *job->scratch, &failed);
  job->agreements = room(job->place_count * (size_t)(job->method_count * o->horizon_count * VCS_VIEWS),
                         sizeof *job->agreements, &failed);
  for (int i = 0; i < workers && !failed; i++) make_scratch(job, &job->scratch[i], &failed);
  for (int h = 0; h < o->horizon_count && !failed; h++) job->pictures[h] = room(job->pixel_count, 1, &failed);
  if (!failed && job->scratch[0].machine) { /* there is always a first worker */
    rerun(job, &job->scratch[0], NULL, keep_base);
    vcs_parallel(job->place_count, (int)o->jobs, score_place, job);
  }
  for (int row = 0; !failed && !job->failed && !vcs_interrupted() && row < job->method_count * o->horizon_count;
       row++) {
    const int method = row / o->horizon_count, h = row % o->horizon_count;
    for (int view = 0; view < VCS_VIEWS; view++) {
      vcs_agreements_t sum = {0};
      for (size_t i = 0; i < job->place_count; i++) vcs_agreements_add(&sum, agreement_at(job, i, method, h, view));
      vcs_score_row(table, setup->rom.name, vcs_cli_method_name(job->methods[method]), o->horizons[h], view, &sum);
    }
  }
  for (int i = 0; job->scratch && i < workers; i++) free_scratch(&job->scratch[i]);
  for (int h = 0; h < o->horizon_count; h++) free(job->pictures[h]);
  free(job->scratch);
  free(job->agreements);
  if (failed) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return job->failed ? vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s", job->error.message) : VCS_OK;
}

/* The methods that the table does not have for a game; returns how many. */
static int missing_methods(const options_t *o, const vcs_text_t *table, const char *game,
                           int methods[VCS_CLI_METHODS]) {
  int count = 0;
  for (int i = 0; i < o->method_count; i++) {
    if (!vcs_score_has(table, game, vcs_cli_method_name(o->methods[i]))) methods[count++] = o->methods[i];
  }
  return count;
}

static vcs_status_t score_game(const options_t *o, const char *name, vcs_progress_t *progress, vcs_text_t *table,
                               vcs_error_t *error) {
  job_t *job = calloc(1, sizeof *job);
  vcs_setup_t setup;
  const vcs_setup_choice_t choice = {name,  NULL,     o->seed, o->frame, o->horizons[o->horizon_count - 1],
                                     false, o->choice};
  if (!job) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_status_t status = vcs_setup_open(&choice, &setup, error);
  if (status == VCS_OK) {
    job->options = o;
    job->setup = &setup;
    job->progress = progress;
    job->method_count = missing_methods(o, table, setup.rom.name, job->methods);
    if (job->method_count) status = score_scene(job, table, error);
    if (status == VCS_OK && job->method_count && !vcs_interrupted()) {
      status = vcs_file_write_text(o->out, table, error);
    }
    vcs_setup_free(&setup);
  }
  free(job);
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

static vcs_status_t open_table(const options_t *o, vcs_text_t *table, vcs_error_t *error) {
  char made[512];
  snprintf(made, sizeof made,
           "profile %s, frame %" PRId64 " of stream %" PRId64 ", horizons %s, %d inputs and %" PRId64
           " bits of RAM, window %" PRId64,
           vcs_profile_name((vcs_profile_t)o->choice.profile), o->frame, o->seed, o->horizons_text, INPUTS, o->bits,
           o->window);
  if (!o->fresh && vcs_path_is_file(o->out)) return vcs_score_read(o->out, made, table, error);
  vcs_score_begin(table, made);
  return vcs_file_write_text(o->out, table, error);
}

static int score(const options_t *o) {
  vcs_text_t table = {0};
  vcs_error_t error = {""};
  vcs_progress_t progress;
  int finished = 0, unreadable = 0;
  vcs_status_t status = open_table(o, &table, &error);
  if (status) {
    vcs_text_free(&table);
    return vcs_cli_complain(command, status == VCS_BAD_FILE ? VCS_EXIT_USAGE : VCS_EXIT_FAILED, "%s", error.message);
  }
  uint64_t walks = 0;
  for (int i = 0; i < o->games.count; i++) {
    int methods[VCS_CLI_METHODS];
    char stem[256];
    vcs_path_stem(o->games.items[i], stem, sizeof stem);
    walks += (uint64_t)missing_methods(o, &table, stem, methods) * (uint64_t)(INPUTS + o->bits);
  }
  vcs_progress_start(&progress, "scoring", walks, VCS_PROGRESS_AUTO);
  for (int i = 0; i < o->games.count && !vcs_interrupted(); i++) {
    status = score_game(o, o->games.items[i], &progress, &table, &error);
    if (status == VCS_OK) {
      finished += !vcs_interrupted();
      continue;
    }
    vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", o->games.items[i], error.message);
    if (status == VCS_NOT_FOUND && !unreadable) vcs_rom_advise(o->choice.roms);
    unreadable++;
  }
  vcs_progress_finish(&progress);
  print_summary(&table);
  vcs_text_free(&table);
  if (vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: %d of %d games are in %s; the same command goes on",
                            finished, o->games.count, o->out);
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

static bool read_methods(options_t *o) {
  for (const char *at = o->methods_text;; at++) {
    const size_t length = strcspn(at, ",");
    const int method = vcs_cli_method_by_name(at, length);
    if (method < 0 || o->method_count == VCS_CLI_METHODS) return false;
    o->methods[o->method_count++] = method;
    at += length;
    if (!*at) return true;
  }
}

/* All games that the profile has, as if they had been named. */
static void name_all(options_t *o, char **names) {
  o->games = (vcs_rest_t){names, 0};
  for (int i = 0; i < vcs_game_count(); i++) {
    const vcs_game_t *game = vcs_game_at(i);
    if (vcs_game_has(game, (vcs_profile_t)o->choice.profile)) names[o->games.count++] = (char *)(uintptr_t)game->name;
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
                            "--methods takes some of naive, ste, bit, bit+fork, with commas; not '%s'",
                            o->methods_text);
  }
  if (o->all && o->games.count) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--all takes all games: name none, or leave --all out");
  }
  return VCS_ARGS_GO;
}

int vcs_cli_score(int argc, char **argv) {
  options_t o = {.horizons_text = "1,2,4,8,15",
                 .methods_text = "naive,ste,bit,bit+fork",
                 .out = "score.tsv",
                 .frame = 300,
                 .seed = 1,
                 .bits = RAM_BITS,
                 .window = VCS_CLI_WINDOW};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("ROM", &o.games, "games, ROM images, or demo"),
      VCS_ARG_FLAG("all", &o.all, "all games of the profile"),
      VCS_ARG_TEXT("summary", &o.summary, "FILE", "only print the means over the games of this table"),
      VCS_ARG_TEXT("methods", &o.methods_text, "LIST", "which methods"),
      VCS_ARG_TEXT("horizons", &o.horizons_text, "LIST", "frames after which is looked"),
      VCS_ARG_INTEGER("frame", &o.frame, 0, 100000000, "frames to play before"),
      VCS_ARG_INTEGER("seed", &o.seed, 0, INT64_MAX, "the action stream of the records; 0: NOOP only"),
      VCS_ARG_INTEGER("bits", &o.bits, 0, RAM_BITS, "so many bits of RAM, drawn with the seed; 1024: all"),
      VCS_ARG_INTEGER("window", &o.window, 1, 1000000, "bit+fork: instructions within which a branch's sides meet"),
      VCS_ARG_INTEGER("jobs", &o.jobs, 0, 4096, "threads; 0: one for each CPU"),
      VCS_ARG_TEXT("out", &o.out, "FILE", "the table"),
      VCS_ARG_FLAG("fresh", &o.fresh, "begin a new table, though there is one"),
      VCS_ARGS_ROMS(&o.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Compares derivatives with the truth. For each game: the state after some frames, then frames of nothing; what\n"
      "each input (the left player's and the console's, held in the first of them) and each bit of RAM does to the\n"
      "screen and to RAM, by running again (the truth) and by one walk forwards a method. Prints the means over "
      "games:\n"
      "cosine (mean over bits, and of all maps as one), sign, precision and recall of what moves.\n"
      "\n"
      "The table is written after every game. Where it is there already, games and methods that are in it are not "
      "done\n"
      "again, so an interrupted run goes on with the same command. All games with all bits of RAM and all methods "
      "take\n"
      "half an hour on two cores; --bits 64 takes two minutes." VCS_ROMS_NOTE,
      "diffvcs score demo --bits 64 --horizons 1,4\n"
      "diffvcs score pong breakout --methods bit,bit+fork --out score.tsv\n"
      "diffvcs score --all --out score.tsv\n"
      "diffvcs score --summary score.tsv\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (o.summary) return summarize(o.summary);
  char **names = calloc((size_t)vcs_game_count(), sizeof *names);
  if (!names) return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  if (o.all) name_all(&o, names);
  if (o.games.count) {
    vcs_interrupt_catch();
    exit_code = score(&o);
  } else {
    exit_code = vcs_cli_complain(command, VCS_EXIT_USAGE, "ROM is missing: which games? --all takes all of them");
  }
  free(names);
  return exit_code;
}
