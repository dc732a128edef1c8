/* verify.c: `diffvcs verify RECORD...`: runs what records say and compares (host/record.h).
 *
 * The file's name says what to run: GAME.SEED.tsv[.gz] is a play record, GAME.tsv[.gz] a CPU record; which of the two
 * it is, its heading says, so a saved trace (`diffvcs trace`) is checked like a CPU record. Records are checked in
 * parallel, and each one's line is printed as soon as those before it are:
 *
 *   pong.0 exact 6000 frames
 *   pong.1 differs at frame 200 (equal up to 100): RAM screen play
 *
 * A record with a row for every hundredth frame can only say that the difference is in (100, 200]; chains over every
 * frame make sure that it says at least that.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "host/parallel.h"
#include "host/record.h"

static const char command[] = "diffvcs verify";

enum { RECORD_LIMIT = 1 << 30 };

typedef enum { PENDING = 0, EXACT, DIFFERS, UNREADABLE, INTERRUPTED, VERDICTS } verdict_t;

typedef struct {
  verdict_t verdict;
  bool cpu, no_rom;
  char label[256]; /* the file's name without .tsv and .gz */
  vcs_record_check_t check;
  vcs_error_t error;
} result_t;

typedef struct {
  vcs_cart_choice_t choice;
  vcs_rest_t records;
  result_t *results;
  int printed; /* the lines so far */
  pthread_mutex_t printing;
  vcs_progress_t progress;
} job_t;

/* ---- One record --------------------------------------------------------------------------------------------- */

static void label_of(const char *path, char *label, size_t size) {
  snprintf(label, size, "%s", vcs_path_base(path));
  if (vcs_path_ends(label, ".gz")) label[strlen(label) - 3] = 0;
  if (vcs_path_ends(label, ".tsv")) label[strlen(label) - 4] = 0;
}

/* "pong.3" -> "pong" and 3. A CPU record needs no seed: "pong" and "pong.anything" are both pong. */
static vcs_status_t read_label(const result_t *result, char *game, size_t size, uint64_t *seed, vcs_error_t *error) {
  const char *dot = result->cpu ? strchr(result->label, '.') : strrchr(result->label, '.');
  const char *digits = dot ? dot + 1 : "";
  char *end;
  snprintf(game, size, "%.*s", dot ? (int)(dot - result->label) : (int)size, result->label);
  if (result->cpu) return VCS_OK;
  errno = 0;
  *seed = strtoull(digits, &end, 10);
  if (*digits >= '0' && *digits <= '9' && !*end && !errno) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_FILE,
                        "the name says no game and seed; a play record is called GAME.SEED.tsv or GAME.SEED.tsv.gz");
}

static vcs_status_t check_text(const job_t *job, const char *text, result_t *result) {
  char game[256];
  uint64_t seed = 0;
  vcs_rom_t rom;
  result->cpu = vcs_record_is_cpu(text) != 0;
  if (*text != '#' && strncmp(text, "boot\t", 5) != 0) {
    return vcs_error_fill(&result->error, VCS_BAD_FILE,
                          *text ? "not a record: it has no heading" : "the file is empty");
  }
  vcs_status_t status = read_label(result, game, sizeof game, &seed, &result->error);
  if (status) return status;
  status = vcs_rom_open(game, &job->choice, &rom, &result->error);
  if (status == VCS_NOT_FOUND) {
    result->no_rom = true;
    vcs_error_fill(&result->error, status, "no ROM image '%.100s'", game);
  }
  if (status) return status;
  status = result->cpu ? vcs_record_verify_cpu(rom.cart, text, &result->check, &result->error)
                       : vcs_record_verify_play(rom.cart, text, seed, &result->check, &result->error);
  vcs_rom_free(&rom);
  return status;
}

static verdict_t check_record(const job_t *job, const char *path, result_t *result) {
  uint8_t *data;
  size_t size;
  label_of(path, result->label, sizeof result->label);
  vcs_status_t status = vcs_file_read(path, RECORD_LIMIT, &data, &size, &result->error);
  if (status == VCS_OK) {
    status = check_text(job, (const char *)data, result);
    free(data);
  }
  if (status) return UNREADABLE;
  if (result->check.differs_at >= 0) return DIFFERS;
  return vcs_interrupted() ? INTERRUPTED : EXACT;
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

static void print_result(const result_t *result) {
  const vcs_record_check_t *check = &result->check;
  const char *unit = result->cpu ? "instruction" : "frame";
  printf("%s ", result->label);
  switch (result->verdict) {
    case EXACT:
      printf("exact %" PRId64 " %ss\n", check->checked, unit);
      break;
    case DIFFERS:
      if (check->differs_at == 0) {
        printf("differs at boot:");
      } else {
        printf("differs at %s %" PRId64 " (equal up to %" PRId64 "):", unit, check->differs_at, check->last_equal);
      }
      printf("%s%s%s%s%s\n", check->ram ? " RAM" : "", check->screen ? " screen" : "", check->play ? " play" : "",
             check->state ? " state" : "", check->cycles ? " cycles" : "");
      break;
    case UNREADABLE:
      printf("unreadable: %s\n", result->error.message);
      break;
    default:
      printf("interrupted, equal up to %s %" PRId64 "\n", unit, check->last_equal);
      break;
  }
  fflush(stdout);
}

static bool verify_record(void *context, size_t item, int worker) {
  (void)worker;
  job_t *job = context;
  result_t *result = &job->results[item];
  verdict_t verdict = check_record(job, job->records.items[item], result);
  pthread_mutex_lock(&job->printing);
  result->verdict = verdict;
  while (job->printed < job->records.count && job->results[job->printed].verdict != PENDING) {
    print_result(&job->results[job->printed++]);
  }
  pthread_mutex_unlock(&job->printing);
  vcs_progress_add(&job->progress, 1);
  return true;
}

static int conclude(const job_t *job) {
  int count[VERDICTS] = {0};
  bool no_rom = false;
  for (int i = 0; i < job->records.count; i++) {
    count[job->results[i].verdict]++;
    no_rom = no_rom || job->results[i].no_rom;
  }
  int unfinished = count[PENDING] + count[INTERRUPTED];
  printf("%d record%s: %d exact, %d differ, %d unreadable", job->records.count, job->records.count == 1 ? "" : "s",
         count[EXACT], count[DIFFERS], count[UNREADABLE]);
  if (unfinished) printf(", %d not checked to the end (interrupted)", unfinished);
  printf("\n");
  fflush(stdout);
  if (no_rom) vcs_rom_advise(job->choice.roms);
  if (count[DIFFERS]) return VCS_EXIT_FAILED;
  if (count[UNREADABLE]) return VCS_EXIT_USAGE;
  return unfinished ? VCS_EXIT_FAILED : VCS_EXIT_OK;
}

int vcs_cli_verify(int argc, char **argv) {
  job_t job = {0};
  int64_t jobs = 0;
  const vcs_arg_t args[] = {VCS_ARG_REST("RECORD", &job.records, "GAME.SEED.tsv, GAME.tsv, plain or gzipped"),
                            VCS_ARGS_ROMS(&job.choice),
                            VCS_ARG_INTEGER("jobs", &jobs, 0, 4096, "threads; 0: one for each CPU"), VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Runs what each record says and prints `exact`, or where it first differs and in what. The game is the\n"
      "one that the file's name begins with. Exit status: 1 if any record differs, else 2 if a record or a ROM\n"
      "could not be read, else 0. The others are checked in any case." VCS_ROMS_NOTE,
      "diffvcs verify tests/golden/xitari/pong.*.tsv.gz\n"
      "diffvcs verify --profile ale --jobs 4 records/*.tsv.gz\n"
      "diffvcs record demo --seed 1 --out . && diffvcs verify demo.1.tsv.gz\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (job.records.count == 0) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "RECORD is missing: which record to check?");
  }
  job.results = calloc((size_t)job.records.count, sizeof *job.results);
  if (!job.results) return vcs_cli_complain(command, VCS_EXIT_FAILED, "out of memory");
  vcs_interrupt_catch();
  pthread_mutex_init(&job.printing, NULL);
  /* On a terminal the lines are progress enough, and a bar would be written over them. */
  vcs_progress_start(&job.progress, "verifying", (uint64_t)job.records.count,
                     isatty(STDOUT_FILENO) ? VCS_PROGRESS_QUIET : VCS_PROGRESS_AUTO);
  vcs_parallel((size_t)job.records.count, (int)jobs, verify_record, &job);
  vcs_progress_finish(&job.progress);
  for (; job.printed < job.records.count; job.printed++) { /* interrupted: some were checked behind one that was not */
    if (job.results[job.printed].verdict != PENDING) print_result(&job.results[job.printed]);
  }
  exit_code = conclude(&job);
  pthread_mutex_destroy(&job.printing);
  free(job.results);
  return exit_code;
}
