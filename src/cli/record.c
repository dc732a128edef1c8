/* record.c: `diffvcs record GAME...`: writes records (vcs_record) of our own machine.
 *
 * A record of a game and a seed is DIR/GAME.SEED.tsv.gz, a CPU record DIR/GAME.tsv.gz: the names by which `diffvcs
 * verify` knows what to run. Games are recorded in parallel; an interrupted one is written up to where it came and is
 * a valid, shorter record.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "host/parallel.h"

static const char command[] = "diffvcs record";
static const vcs_usage_t usage = {
    command,
    "Writes records of runs, GAME.SEED.tsv.gz or (--cpu) GAME.tsv.gz, which `diffvcs verify` checks. Rows hold "
    "checksums of RAM and screen, reward, lives, game over, and chains over all frames so far." VCS_ROMS_NOTE,
    "diffvcs record pong breakout --seed 1 --out records\n"
    "diffvcs record demo --frames 600 --out -\n"
    "diffvcs record pong --cpu --instructions 100000\n"};

typedef struct {
  vcs_rom_options_t choice;
  vcs_rest_t games;
  int64_t seed, frames, dense, stride, instructions, jobs;
  bool cpu, to_directory, made; /* made: this command has made the directory */
  const char *out;
  pthread_mutex_t printing;
  vcs_progress_t progress;
  int exit_code;
} job_t;

static void fail(job_t *job, int exit_code, const char *message) {
  pthread_mutex_lock(&job->printing);
  vcs_cli_complain(command, exit_code, "%s", message);
  if (exit_code > job->exit_code) job->exit_code = exit_code;
  pthread_mutex_unlock(&job->printing);
}

static void say_written(job_t *job, const char *path) {
  pthread_mutex_lock(&job->printing);
  printf("wrote     %s\n", path);
  pthread_mutex_unlock(&job->printing);
}

/* Makes the path of the record of a game. */
static bool name_output(const job_t *job, const char *game, char *path, size_t size) {
  char file[320];
  if (!job->to_directory) return snprintf(path, size, "%s", job->out) < (int)size;
  if (job->cpu) {
    snprintf(file, sizeof file, "%s.tsv.gz", game);
  } else {
    snprintf(file, sizeof file, "%s.%" PRId64 ".tsv.gz", game, job->seed);
  }
  return vcs_path_join(path, size, job->out, file);
}

/* Makes the record; one that was interrupted is shorter and valid. */
static vcs_status_t make_record(job_t *job, const vcs_cart_t *cart, vcs_text_t *text, vcs_error_t *error) {
  vcs_progress_part_t part = {&job->progress, 0};
  char *record;
  const vcs_record_options_t options = {.cpu = job->cpu,
                                        .seed = (uint64_t)job->seed,
                                        .frames = job->frames ? job->frames : -1,
                                        .dense = job->dense,
                                        .stride = job->stride,
                                        .instructions = job->instructions,
                                        .report = {vcs_progress_report, &part}};
  vcs_status_t status = vcs_record(cart, &options, &record, error);
  if (status == VCS_CANCELLED) status = VCS_OK;
  if (status == VCS_OK && record) vcs_text_append(text, record, strlen(record));
  vcs_text_release(record);
  return status;
}

static bool record_game(void *context, size_t item, int worker) {
  (void)worker;
  job_t *job = context;
  vcs_rom_t rom;
  vcs_text_t text = {0};
  vcs_error_t error = {""};
  char path[VCS_PATH_SIZE];
  if (vcs_rom_open(job->games.items[item], &job->choice, &rom, &error)) {
    return fail(job, VCS_EXIT_USAGE, error.message), true;
  }
  vcs_status_t status = make_record(job, rom.cart, &text, &error);
  if (status == VCS_OK && !name_output(job, rom.name, path, sizeof path)) {
    status = vcs_error_fill(&error, VCS_BAD_ARGUMENT, "the path of the record of %.100s is too long", rom.name);
  }
  if (status == VCS_OK) status = vcs_output_write(path, &text, &error);
  if (status == VCS_OK && strcmp(path, "-") != 0) say_written(job, path);
  if (status) fail(job, VCS_EXIT_FAILED, error.message);
  vcs_text_free(&text);
  vcs_rom_free(&rom);
  return true;
}

/* A directory is one that exists, ends with '/', or is needed because there are several games. It is made if missing.
 */
static int prepare_output(job_t *job) {
  bool to_stdout = strcmp(job->out, "-") == 0;
  size_t length = strlen(job->out);
  if (length == 0) return vcs_cli_complain(command, VCS_EXIT_USAGE, "--out needs a name");
  if (to_stdout && job->games.count > 1) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--out - takes one game: give a directory for several");
  }
  job->to_directory =
      !to_stdout && (job->games.count > 1 || vcs_path_names_directory(job->out) || vcs_path_is_directory(job->out));
  if (job->to_directory) {
    const int exit_code = vcs_output_directory(command, job->out, &job->made);
    if (exit_code != VCS_ARGS_GO) return exit_code;
  }
  vcs_error_t error = {""};
  char path[VCS_PATH_SIZE];
  bool named = name_output(job, "x", path, sizeof path);
  if (!to_stdout && (!named || vcs_output_try(path, &error))) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", named ? error.message : "the path is too long");
  }
  return VCS_ARGS_GO;
}

int vcs_cli_record(int argc, char **argv) {
  job_t job = {.frames = 6000, .dense = 120, .stride = 100, .instructions = 1000000, .out = "."};
  const vcs_arg_t args[] = {
      VCS_ARG_REST("GAME", &job.games, "ROM images, names of games, or demo"),
      VCS_ARG_INTEGER("seed", &job.seed, 0, INT64_MAX, "the action stream; 0: NOOP only"),
      VCS_ARG_INTEGER("frames", &job.frames, 0, INT64_C(1000000000000), "frames to run"),
      VCS_ARG_INTEGER("dense", &job.dense, 0, INT64_MAX, "a row for every frame up to this one"),
      VCS_ARG_INTEGER("stride", &job.stride, 1, INT64_MAX, "then one for every frame that this divides, and the last"),
      VCS_ARG_FLAG("cpu", &job.cpu, "record instructions instead of frames"),
      VCS_ARG_INTEGER("instructions", &job.instructions, 1, INT64_C(1000000000000), "how many, with --cpu"),
      VCS_ARG_TEXT("out", &job.out, "DIR|FILE", "a directory, a file (gzipped if .gz), or - for stdout"),
      VCS_ARG_JOBS(&job.jobs),
      VCS_ARGS_CART(&job.choice),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (job.games.count == 0) return vcs_cli_complain(command, VCS_EXIT_USAGE, "GAME is missing: which game to record?");
  for (int i = 0; i < job.games.count; i++) { /* finds unreadable images before anything runs */
    vcs_rom_t rom;
    exit_code = vcs_rom_open_or_complain(command, job.games.items[i], &job.choice, &rom);
    if (exit_code != VCS_ARGS_GO) return exit_code;
    vcs_rom_free(&rom);
  }
  exit_code = vcs_cli_names_differ(command, &job.games, &job.choice);
  if (exit_code == VCS_ARGS_GO) exit_code = prepare_output(&job);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  pthread_mutex_init(&job.printing, NULL);
  uint64_t each = (uint64_t)(job.cpu ? job.instructions : job.frames);
  vcs_progress_start(&job.progress, "recording", each * (uint64_t)job.games.count, VCS_PROGRESS_AUTO);
  vcs_parallel((size_t)job.games.count, (int)job.jobs, record_game, &job);
  vcs_progress_finish(&job.progress);
  pthread_mutex_destroy(&job.printing);
  if (job.exit_code && job.made) rmdir(job.out); /* which does nothing if a record is in it */
  if (job.exit_code == VCS_EXIT_OK && vcs_interrupted()) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED,
                            "interrupted: unfinished records are shorter, later ones are missing");
  }
  return job.exit_code;
}
