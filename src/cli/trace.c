/* trace.c: `diffvcs trace ROM`: every instruction of some frames, with disassembly.
 *
 * Rows are those of a CPU record (study/record.h): count, opcode, PC after, A, X, Y, SP, P, cycles, the chains over all
 * instructions since the start; then PC before and the disassembly. Lines `# frame N` stand between frames. There are
 * two runs to choose from:
 *
 *   as CPU records    A reset after the environment was created, 60 frames without input, 4 of RESET, starting actions,
 *   (the default)     then action k / 7 % 18 in step k, whether or not the game is over. Frame 1 is the first frame
 *                     after the reset, so the game's own frames begin near 65. `diffvcs verify` can check such a
 *                     trace if its name is GAME.tsv or GAME.tsv.gz, whatever frame it begins with.
 *   --seed S          Play record GAME.S: frame 1 is the first frame of the stream, so the numbers are those of the
 *                     record's rows. Where a game is over, the reset's instructions belong to the frame after it.
 *
 * An instruction is disassembled before it is executed, because it may switch the bank it is in: the text
 * of the next instruction is made when one is done. After a reset there is none before, and the text is made
 * afterwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "host/progress.h"
#include "study/record.h"

static const char command[] = "diffvcs trace";

enum { FLUSH_SIZE = 1 << 20 };

typedef struct {
  const vcs_cart_t *cart;
  int64_t from, to, limit; /* frames, both included; rows */
  bool by_stream;          /* frames are numbered by the loop that plays, not by counting them here */
  vcs_cpu_row_t row;
  int64_t frame, announced; /* the frame of the next instruction; the one of the last heading */
  int64_t rows;
  int frame_instructions;
  bool known; /* whether `next` is the text of the next instruction */
  char next[32];
  vcs_text_t text;
  vcs_output_t output;
} tracer_t;

static bool is_done(const tracer_t *tracer) { return tracer->frame > tracer->to || tracer->rows >= tracer->limit; }

static void print_row(tracer_t *tracer, const vcs_t *m, const vcs_step_t *step) {
  if (!tracer->known) vcs_disassemble(tracer->cart, m, step->pc_before, tracer->next, sizeof tracer->next);
  if (tracer->announced != tracer->frame) vcs_text_printf(&tracer->text, "# frame %" PRId64 "\n", tracer->frame);
  tracer->announced = tracer->frame;
  vcs_cpu_row_print(&tracer->row, &tracer->text);
  vcs_text_printf(&tracer->text, "\t%04x\t%s\n", step->pc_before, tracer->next);
  tracer->rows++;
  if (tracer->text.length >= FLUSH_SIZE) vcs_output_text(&tracer->output, &tracer->text);
}

static void watch(void *context, const vcs_t *m, const vcs_step_t *step) {
  tracer_t *tracer = context;
  if (is_done(tracer)) return;
  vcs_cpu_row_add(&tracer->row, step);
  if (tracer->frame >= tracer->from) print_row(tracer, m, step);
  /* A frame ends as in env.c: when the picture is complete, or when it takes too long. */
  bool last = step->frame_over || ++tracer->frame_instructions == VCS_FRAME_INSTRUCTIONS;
  if (last) tracer->frame_instructions = 0;
  if (last && !tracer->by_stream) tracer->frame++;
  tracer->known = tracer->frame + 1 >= tracer->from && !is_done(tracer);
  if (tracer->known) vcs_disassemble(tracer->cart, m, step->pc, tracer->next, sizeof tracer->next);
}

/* ---- The two runs ------------------------------------------------------------------------------------------- */

static void reset(vcs_env_t *env, tracer_t *tracer) {
  tracer->known = false;
  tracer->frame_instructions = 0;
  vcs_env_reset(env);
}

/* Both return false when the processor has jammed: there will be no more instructions. */
static bool run_as_cpu_record(vcs_env_t *env, tracer_t *tracer) {
  tracer->frame = 1;
  reset(env, tracer);
  for (int64_t k = 0; !is_done(tracer) && !vcs_interrupted(); k++) {
    int64_t before = tracer->row.count;
    vcs_env_act_on(env, (int)(k / 7 % VCS_ACTIONS), VCS_NOOP);
    if (tracer->row.count == before) return false;
  }
  return true;
}

static bool run_as_play_record(vcs_env_t *env, tracer_t *tracer, uint64_t seed) {
  vcs_stream_t stream;
  vcs_stream_start(&stream, seed);
  tracer->by_stream = true;
  for (tracer->frame = 1; !is_done(tracer) && !vcs_interrupted(); tracer->frame++) {
    int64_t before = tracer->row.count;
    if (vcs_env_over(env)) reset(env, tracer);
    vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
    if (tracer->row.count == before) return false;
  }
  return true;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static int trace(tracer_t *tracer, const vcs_rom_t *rom, const char *out, bool play, uint64_t seed) {
  vcs_env_t *env;
  vcs_error_t error = {""};
  tracer->cart = rom->cart;
  if (vcs_env_create(rom->cart, &env, &error) || vcs_output_open(&tracer->output, out, &error)) {
    vcs_env_free(env);
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  }
  /* Not the heading of a CPU record where the run is not one. */
  if (play) vcs_text_printf(&tracer->text, "# trace of play record %s.%" PRIu64 "\n", rom->name, seed);
  vcs_text_printf(&tracer->text, "%s\tpc_before\tdisassembly\n# profile=%s\n", VCS_CPU_HEADING,
                  vcs_profile_name(vcs_cart_info(rom->cart)->profile));
  vcs_env_set_drawing(env, 0);
  if (play) vcs_env_reset(env); /* play records begin with a reset too, but do not count its frames */
  vcs_env_watch(env, watch, tracer);
  bool alive = play ? run_as_play_record(env, tracer, seed) : run_as_cpu_record(env, tracer);
  vcs_output_text(&tracer->output, &tracer->text);
  vcs_status_t status = vcs_output_close(&tracer->output, &error);
  vcs_text_free(&tracer->text);
  vcs_env_free(env);
  if (status) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  if (!alive) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED,
                            "the processor jammed in frame %" PRId64 ", at instruction %" PRId64
                            " (opcode $%02X at $%04X)",
                            tracer->frame, tracer->row.count, tracer->row.step.opcode, tracer->row.step.pc_before);
  }
  if (vcs_interrupted() && !is_done(tracer)) {
    return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted in frame %" PRId64, tracer->frame);
  }
  return VCS_EXIT_OK;
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
  const vcs_usage_t usage = {
      command,
      "Prints every instruction of some frames: the columns of a CPU record, then PC before and disassembly.\n"
      "The run is that of a CPU record, where frame 1 is the first of the 60 boot frames after a reset; verify\n"
      "checks such a trace if it is called GAME.tsv or GAME.tsv.gz. With --seed it is that of a play record, and\n"
      "frames are numbered as its rows are." VCS_ROMS_NOTE,
      "diffvcs trace pong | head -100\n"
      "diffvcs trace pong --frame 65 --frames 2 --out pong.tsv.gz\n"
      "diffvcs trace pong --seed 1 --frame 123\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
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
  tracer_t tracer = {.from = from, .to = to, .limit = limit ? limit : INT64_MAX};
  vcs_interrupt_catch();
  exit_code = trace(&tracer, &rom, out, seed_text != NULL, seed);
  vcs_rom_free(&rom);
  return exit_code;
}
