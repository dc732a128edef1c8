/* explain.c: `diffvcs explain GAME --frame N --output pixel:ROW,COLUMN`: why a pixel is what it is, as a page
 * (explain.h). */
#include "study/explain.h"
#include "host/progress.h"

static const char command[] = "diffvcs explain";

enum { HORIZON_MAX = 1000 };

static int explain(const vcs_question_t *question, const char *out) {
  static vcs_explanation_t explanation;
  vcs_error_t error = {""};
  vcs_text_t text = {0};
  vcs_rom_t rom;
  int exit_code = vcs_rom_open_or_complain(command, question->setup.rom, &question->setup.choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  vcs_status_t status = vcs_explain(question, &explanation, &error);
  if (status == VCS_OK && !vcs_interrupted()) {
    vcs_explain_summary(&explanation, &text);
    printf("%s\n", text.text ? text.text : "");
    status = vcs_explain_page(&explanation, out, &error);
  }
  vcs_text_free(&text);
  vcs_explanation_free(&explanation);
  return vcs_cli_end(command, status, &error);
}

int vcs_cli_explain(int argc, char **argv) {
  vcs_question_t q = {.setup = {.frame = -1, .horizon = 8}, .span = 1, .window = VCS_CLI_WINDOW};
  const char *out = "explain";
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &q.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frame", &q.setup.frame, -1, 100000000,
                      "the frame that is asked about; -1: all --actions, or 300"),
      VCS_ARG_TEXT("output", &q.output, "WHAT",
                   "why is this so? As in grad: pixel:ROW,COLUMN, region:X,Y,W,H, ram:9C, score"),
      VCS_ARG_TEXT("pixel", &q.pixel, "X,Y", "or this pixel, the column first: --pixel 38,190 is pixel:190,38"),
      VCS_ARG_TEXT("region", &q.region, "X,Y,W,H", "or this region"),
      VCS_ARG_TEXT("object", &q.object, "NAME", "or all that this lights: P0, P1, M0, M1, BL, PF"),
      VCS_ARG_TEXT("ram", &q.ram, "ADDRESS", "or this byte of RAM after the frame: 9C, or a bit of it: 9C.3"),
      VCS_ARG_FLAG("score", &q.score, "or the points won in the last frames"),
      VCS_ARG_INTEGER("span", &q.span, 1, HORIZON_MAX, "so many frames before, bits of RAM and ROM are flipped"),
      VCS_ARG_INTEGER("horizon", &q.setup.horizon, 1, HORIZON_MAX, "so many frames back, controls are tried"),
      VCS_ARG_INTEGER("seed", &q.setup.seed, 0, INT64_MAX, "whose actions: the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &q.setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4"),
      VCS_ARG_INTEGER("window", &q.window, 1, 1000000, "bit+fork: instructions within which a branch's sides meet"),
      VCS_ARG_TEXT("out", &out, "DIR", "where to write"),
      VCS_ARGS_CART(&q.setup.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Why a pixel is what it is: which object lit it, which register writes at which beam position made it so, by\n"
      "which instructions, from which bytes of RAM and ROM, and which controls of earlier frames; each with its truth\n"
      "(the bit flipped, the frames run again) and its derivative by every method. Writes a page that needs nothing\n"
      "else (explain.html), the same as explain.json, and frame.png, ram.png, rom.png.\n\n"
      "--output takes what it takes in grad and smooth: pixel:ROW,COLUMN has the row first, --pixel X,Y the "
      "column." VCS_ROMS_NOTE,
      "diffvcs explain space_invaders --frame 1050 --output pixel:190,38 --out why\n"
      "diffvcs explain demo --frame 100 --pixel 80,100\n"
      "diffvcs explain pong --seed 1 --frame 400 --object P0 --horizon 16\n"
      "diffvcs explain breakout --seed 1 --frame 600 --ram 9C\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = vcs_setup_complete(&q.setup, command);
  if (exit_code == VCS_ARGS_GO) exit_code = vcs_output_directory(command, out);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  return explain(&q, out);
}
