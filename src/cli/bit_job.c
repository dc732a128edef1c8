/* bit_job.c: a game, played up to a frame, and the bits that are flipped there (bit_job.h). */
#include "cli/bit_job.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HORIZONS_MAX = 256, HORIZON_MAX = 65535 };

/* Reads ascending numbers of frames with commas between them. */
static vcs_status_t read_horizons(vcs_bit_job_t *job, vcs_error_t *error) {
  const char *at = job->horizon;
  job->horizons = malloc(HORIZONS_MAX * sizeof *job->horizons);
  if (!job->horizons) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  while (job->horizon_count < HORIZONS_MAX && isdigit((unsigned char)*at)) {
    char *end;
    const long frames = strtol(at, &end, 10);
    const int32_t last = job->horizon_count ? job->horizons[job->horizon_count - 1] : 0;
    if (frames <= last || frames > HORIZON_MAX) break;
    job->horizons[job->horizon_count++] = (int32_t)frames;
    if (!*end) return VCS_OK;
    if (*end != ',') break;
    at = end + 1;
  }
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "--horizon takes a number of frames, 1 to %d, or several, ascending, with commas; not '%.60s'",
                        HORIZON_MAX, job->horizon);
}

int vcs_bit_job_set(vcs_bit_job_t *job, const char *command) {
  vcs_error_t error = {""};
  if (job->wrt && job->bits) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--wrt and --bits both choose bits: give one of them");
  }
  if (read_horizons(job, &error)) return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  int exit_code = vcs_cli_setup_complete(&job->choice, command);
  if (exit_code == VCS_ARGS_GO)
    exit_code = vcs_rom_open_or_complain(command, job->choice.rom, &job->choice.rom_options, &job->rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  if (strcmp(job->out, "-") != 0 && vcs_output_try(job->out, &error)) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  }
  vcs_interrupt_catch();
  job->choice.setup.horizon = job->horizons[job->horizon_count - 1];
  vcs_status_t status = vcs_setup_create(job->rom.cart, &job->choice.setup, &job->setup, &error);
  if (status == VCS_CANCELLED) return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted while playing");
  if (status == VCS_OK) {
    const vcs_run_t *run = &job->setup.run;
    status = job->bits ? vcs_places_of_bits(run, job->bits, &job->list, &error)
                       : vcs_places_of_groups(run, job->wrt ? job->wrt : "ram", &job->list, &error);
  }
  const int failed = status == VCS_BAD_ARGUMENT ? VCS_EXIT_USAGE : VCS_EXIT_FAILED;
  return status ? vcs_cli_complain(command, failed, "%s", error.message) : VCS_ARGS_GO;
}

void vcs_bit_job_free(vcs_bit_job_t *job) {
  vcs_setup_free(&job->setup);
  vcs_places_free(&job->list);
  vcs_rom_free(&job->rom);
  free(job->horizons);
}
