/* trace.c: `diffvcs trace ROM`: every instruction of some frames, with disassembly.
 *
 * vcs_trace makes the rows; here they are printed. Columns are those of a CPU record: count, opcode, PC after, A, X, Y,
 * SP, P, cycles, the chains over all instructions since the start; then PC before and the disassembly. Lines `# frame
 * N` stand between frames. There are two runs to choose from:
 *
 *   as CPU records    A reset after the environment was created, 60 frames without input, 4 of RESET, starting actions,
 *   (the default)     then action k / 7 % 18 in step k, whether or not the game is over. Frame 1 is the first frame
 *                     after the reset, so the game's own frames begin near 65. `diffvcs verify` can check such a
 *                     trace if its name is GAME.tsv or GAME.tsv.gz, whatever frame it begins with.
 *   --seed S          Play record GAME.S: frame 1 is the first frame of the stream, so the numbers are those of the
 *                     record's rows. Where a game is over, the reset's instructions belong to the frame after it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "study/record.h"

static const char command[] = "diffvcs trace";
static const vcs_usage_t usage = {
    command,
    "Prints every instruction of some frames: the columns of a CPU record, then PC before and disassembly. The run is "
    "that of a CPU record, where frame 1 is the first of the 60 boot frames after a reset; verify checks such a trace "
    "if it is called GAME.tsv or GAME.tsv.gz. With --seed it is that of a play record, and frames are numbered as its "
    "rows are." VCS_ROMS_NOTE,
    "diffvcs trace pong | head -100\n"
    "diffvcs trace pong --frame 65 --frames 2 --out pong.tsv.gz\n"
    "diffvcs trace pong --seed 1 --frame 123\n"};

enum { FLUSH_SIZE = 1 << 20 };

typedef struct {
  int64_t frame; /* of the last heading */
  vcs_text_t text;
  vcs_output_t output;
} printer_t;

static int print_row(void *context, const vcs_trace_row_t *row) {
  printer_t *printer = context;
  const vcs_cpu_row_t columns = {row->number, row->step, row->state_chain, row->cycle_chain};
  if (printer->frame != row->frame) vcs_text_printf(&printer->text, "# frame %" PRId64 "\n", row->frame);
  printer->frame = row->frame;
  vcs_cpu_row_print(&columns, &printer->text);
  vcs_text_printf(&printer->text, "\t%04x\t%s\n", row->step.pc_before, row->text);
  if (printer->text.length >= FLUSH_SIZE) vcs_output_text(&printer->output, &printer->text);
  return printer->output.failed; /* nothing more can be written */
}

static int trace(const vcs_rom_t *rom, vcs_trace_options_t *options, const char *out) {
  printer_t printer = {0};
  vcs_error_t error = {""}, closing = {""};
  if (vcs_output_open(&printer.output, out, &error)) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  }
  /* Not the heading of a CPU record where the run is not one. */
  if (options->play) {
    vcs_text_printf(&printer.text, "# trace of play record %s.%" PRIu64 "\n", rom->name, options->seed);
  }
  vcs_text_printf(&printer.text, "%s\tpc_before\tdisassembly\n# profile=%s\n", VCS_CPU_HEADING,
                  vcs_profile_name(vcs_cart_info(rom->cart)->profile));
  options->row = print_row;
  options->context = &printer;
  const vcs_status_t status = vcs_trace(rom->cart, options, &error);
  vcs_output_text(&printer.output, &printer.text);
  const vcs_status_t closed = vcs_output_close(&printer.output, &closing);
  vcs_text_free(&printer.text);
  if (closed) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", closing.message);
  return status ? vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message) : VCS_EXIT_OK;
}

int vcs_cli_trace(int argc, char **argv) {
  const char *name = NULL, *out = "-", *seed_text = NULL;
  int64_t from = 1, frames = 0, limit = 0;
  vcs_rom_options_t choice = {0};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &name, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frame", &from, 1, INT64_MAX / 4, "the first frame"),
      VCS_ARG_INTEGER("frames", &frames, 0, INT64_MAX / 4, "how many; 0: one, or all that --limit takes"),
      VCS_ARG_TEXT("seed", &seed_text, "N", "the run of play record GAME.N instead of that of the CPU record"),
      VCS_ARG_INTEGER("limit", &limit, 0, INT64_MAX, "instructions at most; 0: all"),
      VCS_ARG_TEXT("out", &out, "FILE", "output file, gzipped if .gz; -: stdout"),
      VCS_ARGS_CART(&choice),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  char *end = NULL;
  errno = 0;
  uint64_t seed = seed_text ? strtoull(seed_text, &end, 10) : 0;
  if (seed_text && (*seed_text < '0' || *seed_text > '9' || *end || errno)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--seed takes a whole number, 0 or more, not '%s'", seed_text);
  }
  const int64_t to = frames ? from + frames - 1 : limit ? INT64_MAX - 1 : from;
  vcs_rom_t rom;
  exit_code = vcs_rom_open_or_complain(command, name, &choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_trace_options_t options = {.from = from, .to = to, .limit = limit, .play = seed_text != NULL, .seed = seed};
  vcs_interrupt_catch();
  exit_code = trace(&rom, &options, out);
  vcs_rom_free(&rom);
  return exit_code;
}
