/* main.c: the program `diffvcs`: a table of commands, one file each (info.c, run.c, ...).
 *
 * Exit codes, for all of them: 0 success; 1 a negative result (a record differs), or work that failed or was
 * interrupted; 2 a usage error: an unknown option, or a file that cannot be read or is of the wrong kind.
 */
#include <errno.h>
#include <string.h>

#include "cli/common.h"
#include "host/games.h"
#include "host/os.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
    {"info", vcs_cli_info, "facts about a cartridge: mapper, television, game, hashes"},
    {"run", vcs_cli_run, "run a game; pictures, videos, scores, a hash of the final state"},
    {"record", vcs_cli_record, "write a record of a run: checksums of RAM, screen and play"},
    {"verify", vcs_cli_verify, "run records again and compare"},
    {"trace", vcs_cli_trace, "print every instruction of some frames, with disassembly"},
    {"truth", vcs_cli_truth, "exact effects of bits on screen, RAM and score: flip each, run again"},
    {"smooth", vcs_cli_smooth, "derivative of an expected output with respect to the probabilities of bits"},
    {"grad", vcs_cli_grad, "derivatives of a pixel, a byte or the score, or with respect to a key or a bit"},
    {"score", vcs_cli_score, "how well the methods of differentiation agree with the truth"},
    {"joystick", vcs_cli_joystick, "what the stick does to the screen, by every method, and the inverse"},
    {"edit", vcs_cli_edit, "change bytes of ROM until the game shows a drawing"},
    {"steer", vcs_cli_steer, "search for controls that reach a goal: at random, blindly, by derivatives"},
    {"explain", vcs_cli_explain,
     "causes of a pixel: objects, register writes, instructions, bytes, controls; as a page"},
    {"annotate", vcs_cli_annotate, "what every byte of RAM means: positions, scores, timers; found by changing it"},
    {"play", vcs_cli_play, "a window to play in: rewind, save, record, look into the machine"},
    {"debug", vcs_cli_debug, "a debugger in the terminal: breakpoints, steps forwards and backwards"},
    {"paper", vcs_cli_paper, "reproduce every table and figure of the paper, on one page"},
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

/* Whether a word that is no command names a cartridge: `diffvcs pong`. */
static bool is_rom(const char *word) {
  if (strcmp(word, "demo") == 0 || vcs_path_is_file(word)) return true;
  for (int i = 0; i < vcs_game_count(); i++) {
    if (strcmp(word, vcs_game_at(i)->name) == 0) return true;
  }
  return false;
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
  if (is_rom(name)) {
    return vcs_cli_complain("diffvcs", VCS_EXIT_USAGE,
                            "'%s' is no command but a cartridge; did you mean diffvcs play %s, or diffvcs run %s?",
                            name, name, name);
  }
  int near = vcs_args_nearest(name, words, COMMANDS + 3);
  if (near >= 0) {
    return vcs_cli_complain("diffvcs", VCS_EXIT_USAGE, "no command '%s'; did you mean %s?", name, words[near]);
  }
  return vcs_cli_complain("diffvcs", VCS_EXIT_USAGE, "no command '%s'; 'diffvcs --help' lists them", name);
}

int main(int argc, char **argv) {
  vcs_os_prepare_streams();
  if (argc < 2) return print_help(stderr), VCS_EXIT_USAGE;
  int exit_code = dispatch(argc, argv);
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
  return exit_code ? exit_code
                   : vcs_cli_complain("diffvcs", VCS_EXIT_FAILED, "cannot write to stdout: %s",
                                      errno ? strerror(errno) : "the device is full or closed");
}
