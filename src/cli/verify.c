/* verify.c: `diffvcs verify RECORD...`: runs what records describe and compares (vcs_verify_file).
 *
 * The file's name says what to run: GAME.SEED.tsv[.gz] is a play record, GAME.tsv[.gz] a CPU record. The heading tells
 * the two apart, so a saved trace (`diffvcs trace`) is checked like a CPU record. Records are checked in parallel; each
 * one's line is printed as soon as those before it are:
 *
 *   pong.0 exact 6000 frames
 *   pong.1 differs at frame 200 (equal up to 100): RAM screen play
 *
 * A record with a row for every hundredth frame locates the difference in (100, 200]; chains over every frame make
 * sure that no difference is missed.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/common.h"
#include "host/parallel.h"
#include "study/record.h"

static const char command[] = "diffvcs verify";
static const vcs_usage_t usage = {
    command,
    "Runs what each record describes and prints `exact`, or where it first differs and in what. The file's name begins "
    "with the name of the game. Exit status: 1 if any record differs, else 2 if a record or a ROM could not be read, "
    "else 0. All records are checked." VCS_ROMS_NOTE,
    "diffvcs verify tests/golden/xitari/pong.*.tsv.gz\n"
    "diffvcs verify --jobs 4 records/*.tsv.gz\n"
    "diffvcs record demo --seed 1 --out . && diffvcs verify demo.1.tsv.gz\n"};

typedef enum { PENDING = 0, EXACT, DIFFERS, UNREADABLE, INTERRUPTED, VERDICTS } verdict_t;

typedef struct {
  verdict_t verdict;
  bool no_rom;
  char label[256]; /* the file's name without .tsv and .gz */
  vcs_record_check_t check;
  vcs_error_t error;
} result_t;

typedef struct {
  vcs_rom_options_t choice;
  vcs_rest_t records;
  result_t *results;
  int printed; /* the lines so far */
  pthread_mutex_t printing;
  vcs_progress_t progress;
} job_t;

/* ---- One record --------------------------------------------------------------------------------------------- */

static int stop_if_interrupted(void *context, const char *step, uint64_t done, uint64_t total) {
  (void)context, (void)step, (void)done, (void)total;
  return vcs_interrupted();
}

static verdict_t check_record(const job_t *job, const char *path, result_t *result) {
  const vcs_report_t report = {stop_if_interrupted, NULL};
  vcs_record_label(path, result->label, sizeof result->label);
  const vcs_status_t status = vcs_verify_file(path, &job->choice, &report, &result->check, &result->error);
  result->no_rom = status == VCS_NOT_FOUND;
  if (status == VCS_CANCELLED) return INTERRUPTED;
  if (status) return UNREADABLE;
  return result->check.differs_at >= 0 ? DIFFERS : EXACT;
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

static void print_result(const result_t *result) {
  const vcs_record_check_t *check = &result->check;
  const char *unit = check->cpu ? "instruction" : "frame";
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
  job_t job = {.choice.profile = VCS_PROFILE_XITARI};
  int64_t jobs = 0;
  const vcs_arg_t args[] = {VCS_ARG_REST("RECORD", &job.records, "GAME.SEED.tsv, GAME.tsv, plain or gzipped"),
                            VCS_ARG_CHOICE("profile", &job.choice.profile, VCS_PROFILE_CHOICES,
                                           "profile of records that do not name theirs, as the reference's"),
                            VCS_ARG_ROMS(&job.choice), VCS_ARG_JOBS(&jobs), VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
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
