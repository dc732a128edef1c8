/* bit_job.h: what the commands about bits share: a game, played up to the frame where bits are flipped, and the bits.
 *
 * Bits are chosen by group (--wrt ram,cpu) or one by one (--bits ram:9C.3,grp[1].0). In tables a bit has two columns,
 * its byte and its number: RAM, ROM and cartridge RAM are numbered from 0, registers go by the names of vcs_field,
 * inputs by frame and name. Where a table has bits of several groups, the group stands before the byte: `rom:12`.
 */
#ifndef VCS_CLI_BIT_JOB_H
#define VCS_CLI_BIT_JOB_H

#include "cli/common.h"

/* The options, and what they give. Starts as VCS_BIT_JOB. */
typedef struct {
  vcs_cli_setup_t choice;
  const char *wrt, *bits, *horizon, *out;
  int64_t threads;

  int32_t *horizons;
  int32_t horizon_count;
  vcs_rom_t rom;
  vcs_setup_t setup; /* whose run, without input, ends at the last horizon */
  vcs_places_t list;
} vcs_bit_job_t;

#define VCS_BIT_JOB \
  { .choice.setup = {.frame = -1}, .horizon = "1", .out = "-" }

#define VCS_ARGS_BIT_JOB(s)                                                                                          \
  VCS_ARG_ROM(&(s)->choice), VCS_ARGS_PLAYED(&(s)->choice),                                                          \
      VCS_ARG_TEXT("wrt", &(s)->wrt, "GROUPS", "groups of bits, with commas: " VCS_WRT_NAMES),                       \
      VCS_ARG_TEXT("bits", &(s)->bits, "LIST", "only these bits: ram:9C.3,rom:F123.4,grp[1].0,input:0.left"),        \
      VCS_ARG_JOBS(&(s)->threads), VCS_ARG_TEXT("out", &(s)->out, "FILE", "output file, gzipped if .gz; -: stdout"), \
      VCS_ARGS_CART(&(s)->choice.rom_options)

/* Closes the summary of commands that take bits. */
#define VCS_BIT_JOB_NOTE                                                                                         \
  "\n\nGroups and their `byte` column: ram: 0 to 127. rom: offset in the image. cartram: offset. cpu (a x y sp " \
  "p), pc, tia, riot, state (everything): the name of the field, as grp[1]; bits are counted in the field. "     \
  "input: frame and name, as 0.left; names are up down left right fire, up2 ... fire2 of the second player, "    \
  "reset, select; the frame is that of the run, from 0 on; bit 0. A bit is ram:9C.3 (an address; `ram:` may be " \
  "left out), rom:F123.4 (an address), rom:@1F0.4 (an offset in the image), cartram:HEX.BIT, FIELD.BIT, "        \
  "FIELD[N].BIT or input:FRAME.NAME; without .BIT it is the whole byte. With several groups, `byte` begins "     \
  "with the group: ram:28."

/* Opens, lists and plays. Returns VCS_ARGS_GO or the exit code, having complained. vcs_bit_job_free is due in any case.
 */
int vcs_bit_job_set(vcs_bit_job_t *job, const char *command);
void vcs_bit_job_free(vcs_bit_job_t *job);

#endif
