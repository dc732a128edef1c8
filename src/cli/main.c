/* main.c: the program `diffvcs`: a table of commands, one file each (info.c, run.c, ...).
 *
 * Exit codes, for all of them: 0 all is well; 1 the answer is no (a record differs), or the work could not be finished
 * or was interrupted; 2 the question was wrong: an unknown option, a file that cannot be read or is not what it should
 * be.
 */
#include <string.h>

#include "cli/common.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
    {"info", vcs_cli_info, "what is known about a cartridge: mapper, television, game, hashes"},
    {"run", vcs_cli_run, "run a game; pictures, films, scores, a hash of the final state"},
    {"record", vcs_cli_record, "write a record of a run: checksums of RAM, screen and play"},
    {"verify", vcs_cli_verify, "run what records say and tell whether it is the same"},
    {"trace", vcs_cli_trace, "every instruction of some frames, with disassembly"},
    {"truth", vcs_cli_truth, "what bits do to screen, RAM and score: flip each, run again, exactly"},
    {"smooth", vcs_cli_smooth, "how an expected output changes with the probability of bits: draw, run, estimate"},
    {"grad", vcs_cli_grad, "what moves a pixel, a byte, the score; what a key or a bit moves"},
    {"score", vcs_cli_score, "how good the methods are: derivatives beside the truth"},
    {"joystick", vcs_cli_joystick, "what the stick does to the screen, by every method, and the inverse"},
    {"edit", vcs_cli_edit, "from a drawing to the bytes of ROM that make the game show it"},
    {"steer", vcs_cli_steer, "what to press to reach a goal: by chance, by blind search, by derivatives"},
    {"explain", vcs_cli_explain, "why a pixel is what it is: a page of objects, writes, instructions, bytes, controls"},
    {"play", vcs_cli_play, "a window to play in: rewind, save, film, look into the machine"},
    {"debug", vcs_cli_debug, "a debugger in the terminal: breakpoints, steps forwards and backwards"},
    {"paper", vcs_cli_paper, "every table and figure of the paper again, beside its numbers, on one page"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
  fprintf(to, "diffvcs %s: an exact, fast and differentiable Atari 2600\n\n", VCS_VERSION);
  fprintf(to, "usage: diffvcs COMMAND [arguments]\n\n");
  for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fprintf(to,
          "\n'diffvcs COMMAND --help' lists a command's options, with examples. Every command takes a ROM file, the\n");
  fprintf(to, "name of a game (pong), or `demo`, the cartridge that is built in:\n\n");
  fprintf(to, "  diffvcs run demo --seed 1 --frames 600 --screenshot demo.png\n");
}

static int dispatch(int argc, char **argv) {
  const char *name = argv[1];
  const char *words[COMMANDS + 3] = {"--help", "--version", "help"};
  if (strcmp(name, "--version") == 0) return printf("diffvcs %s\n", VCS_VERSION), VCS_EXIT_OK;
  bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
  if (help && argc == 2) return print_help(stdout), VCS_EXIT_OK;
  if (help) name = argv[2];
  for (int i = 0; i < COMMANDS; i++) {
    words[3 + i] = commands[i].name;
    if (strcmp(name, commands[i].name) != 0) continue;
    char *ask[] = {argv[1], "--help", NULL};
    return help ? commands[i].run(2, ask) : commands[i].run(argc - 1, argv + 1);
  }
  int near = vcs_args_nearest(name, words, COMMANDS + 3);
  if (near >= 0) {
    return vcs_cli_complain("diffvcs", VCS_EXIT_USAGE, "no command '%s'; did you mean %s?", name, words[near]);
  }
  return vcs_cli_complain("diffvcs", VCS_EXIT_USAGE, "no command '%s'; 'diffvcs --help' lists them", name);
}

int main(int argc, char **argv) {
  if (argc < 2) return print_help(stderr), VCS_EXIT_USAGE;
  int exit_code = dispatch(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
  return exit_code ? exit_code : vcs_cli_complain("diffvcs", VCS_EXIT_FAILED, "cannot write to stdout");
}
