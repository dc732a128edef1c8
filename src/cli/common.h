/* common.h: what the commands share: cartridges, setups, progress, and results.
 *
 * Wherever a command takes a ROM, it takes a file, the name of a game, or `demo`, the built-in cartridge. The options
 * that choose a cartridge are the same everywhere and are listed here, once.
 */
#ifndef VCS_CLI_COMMON_H
#define VCS_CLI_COMMON_H

#include <zlib.h>

#include "cli/args.h"
#include "diffvcs/study.h"
#include "host/progress.h"

/* ---- Commands ----------------------------------------------------------------------------------------------- */

int vcs_cli_info(int argc, char **argv);
int vcs_cli_run(int argc, char **argv);
int vcs_cli_record(int argc, char **argv);
int vcs_cli_verify(int argc, char **argv);
int vcs_cli_trace(int argc, char **argv);
int vcs_cli_truth(int argc, char **argv);
int vcs_cli_smooth(int argc, char **argv);
int vcs_cli_grad(int argc, char **argv);
int vcs_cli_score(int argc, char **argv);
int vcs_cli_joystick(int argc, char **argv);
int vcs_cli_edit(int argc, char **argv);
int vcs_cli_steer(int argc, char **argv);
int vcs_cli_debug(int argc, char **argv);
int vcs_cli_play(int argc, char **argv);
int vcs_cli_explain(int argc, char **argv);
int vcs_cli_annotate(int argc, char **argv);
int vcs_cli_paper(int argc, char **argv);

/* "diffvcs run: what was wrong", to stderr; returns the exit code it is given. */
int vcs_cli_complain(const char *command, int exit_code, const char *format, ...) VCS_PRINTF(3, 4);

/* Ends a command that writes its results last: prints what was wrong, or that it was interrupted before it wrote any,
 * and returns the exit code. */
int vcs_cli_end(const char *command, vcs_status_t status, const vcs_error_t *error);

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

#define VCS_PROFILE_CHOICES "ale|xitari|fixed"
#define VCS_FORMAT_CHOICES "auto|ntsc|pal|pal60|secam"
#define VCS_SCHEME_CHOICES "auto|2K|4K|F8|F6|F4|F8SC|F6SC|F4SC|E0|FE|DPC|3F|3E|E7|FA|UA|CV|0840|SB"
_Static_assert(VCS_SCHEME_COUNT == 20 && VCS_SCHEME_SB == 19, "VCS_SCHEME_CHOICES lists the schemes in order");

#define VCS_ARG_ROMS(c) VCS_ARG_TEXT("roms", &(c)->roms, "DIR", "where ROM images are; see above for the other places")
#define VCS_ARGS_ROMS(c) \
  VCS_ARG_CHOICE("profile", &(c)->profile, VCS_PROFILE_CHOICES, "boot and settings"), VCS_ARG_ROMS(c)
#define VCS_ARGS_CART(c)                                                                       \
  VCS_ARGS_ROMS(c), VCS_ARG_CHOICE("scheme", &(c)->scheme, VCS_SCHEME_CHOICES, "bank scheme"), \
      VCS_ARG_CHOICE("format", &(c)->format, VCS_FORMAT_CHOICES, "television"),                \
      VCS_ARG_TEXT("patch", &(c)->patch, "FILE", "an IPS or BPS patch for the image")

/* Closes the summary of every command that takes ROMs. */
#define VCS_ROMS_NOTE                                                                                            \
  "\n\nROM images are found by name (pong) in --roms, $DIFFVCS_ROMS, $ALE_ROMS_DIR or an installed ale-py (pip " \
  "install ale-py); a path is taken as it is, and `demo` is the built-in cartridge."

/* vcs_rom_open, with a full explanation on stderr if it fails; returns VCS_ARGS_GO or the exit code. */
int vcs_rom_open_or_complain(const char *command, const char *name, const vcs_rom_options_t *options, vcs_rom_t *rom);

/* Prints to stderr where ROM images were searched and how to get them. */
void vcs_rom_advise(const char *roms);

/* ---- Outputs ------------------------------------------------------------------------------------------------ */

/* The output that a command is about, by --output WHAT or by one of its short forms. */
typedef struct {
  const char *output, *pixel, *region, *ram;
  bool score;
  char text[96]; /* as vcs_target_parse reads it */
} vcs_cli_output_t;

#define VCS_ARGS_OUTPUT(o)                                                                                             \
  VCS_ARG_TEXT("output", &(o)->output, "WHAT",                                                                         \
               "the output: pixel:X,Y, region:X,Y,W,H, screen, ram:9C, ram:9C.3, score"),                              \
      VCS_ARG_TEXT("pixel", &(o)->pixel, "X,Y", "or this pixel: its column, then its row, counted from the top left"), \
      VCS_ARG_TEXT("region", &(o)->region, "X,Y,W,H", "or this region"),                                               \
      VCS_ARG_TEXT("ram", &(o)->ram, "ADDRESS", "or this byte of RAM: 9C, or a bit of it: 9C.3"),                      \
      VCS_ARG_FLAG("score", &(o)->score, "or the points won in the run")
#define VCS_OUTPUT_CHOICES "--output WHAT, --pixel X,Y, --region X,Y,W,H, --ram 9C, --score"

/* How many of the forms are given, and the one that is, as text. */
int vcs_cli_output_count(const vcs_cli_output_t *output);
void vcs_cli_output_read(vcs_cli_output_t *output);

/* ---- Sound -------------------------------------------------------------------------------------------------- */

/* The sound of the machine's last frame: two samples a scan line, so pitch and length are the machine's whatever its
 * frames are. Sound advances the waveforms of the machine it is computed on; that is `listener` (a copy of `m` at
 * first), which otherwise takes the state of `m`, so that runs are the same with and without sound. Returns the number
 * of samples. */
int vcs_cli_listen(const vcs_cart_t *cart, const vcs_t *m, vcs_t *listener, uint8_t samples[VCS_SOUND_LENGTH_MAX]);

/* ---- Studies ------------------------------------------------------------------------------------------------ */

#define VCS_METHOD_CHOICES "naive|ste|bit|bit+fork|exact|hybrid"
#define VCS_BUDGET_HELP "hybrid: frames of ale-py that exact effects may cost; 0: 20 for each frame of the run"
#define VCS_ARG_WINDOW(to_int64)                                 \
  VCS_ARG_INTEGER("window", to_int64, 1, VCS_FRAME_INSTRUCTIONS, \
                  "bit+fork: instructions within which the two sides of a branch must meet")
#define VCS_ARG_DIRECTORY(to_text) VCS_ARG_TEXT("out", to_text, "DIR", "directory to write into")
#define VCS_ARG_JOBS(to_int64) VCS_ARG_INTEGER("jobs", to_int64, 0, 4096, "threads; 0: one for each CPU")

/* The options that say which game is played up to which frame. */
typedef struct {
  const char *rom;
  vcs_rom_options_t rom_options;
  vcs_setup_options_t setup;
  int64_t frame; /* that is played to if neither --frame nor --actions is given; 0: 300 */
} vcs_cli_setup_t;

#define VCS_ARG_ROM(s) VCS_ARG_POSITIONAL("ROM", &(s)->rom, "a ROM image, the name of a game, or demo")
#define VCS_ARGS_PLAYED_TO(s, words)                                                                                \
  VCS_ARG_INTEGER("frame", &(s)->setup.frame, -1, 100000000, "frames to play first; -1: all --actions, or " words), \
      VCS_ARG_INTEGER("seed", &(s)->setup.seed, 0, INT64_MAX, "actions from the records' stream; 0: NOOP only"),    \
      VCS_ARG_TEXT("actions", &(s)->setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4")
#define VCS_ARGS_PLAYED(s) VCS_ARGS_PLAYED_TO(s, "300")

/* Checks that only one of --seed and --actions is given and sets the default frame. Returns VCS_ARGS_GO or the exit
 * code. */
int vcs_cli_setup_complete(vcs_cli_setup_t *choice, const char *command);

/* A command that studies a run. */
typedef struct {
  vcs_cli_setup_t *choice;      /* the options that choose the run */
  const char *const *directory; /* the option that names the output directory, or NULL */
  int (*check)(void *options);  /* completes the other options; returns VCS_ARGS_GO or the exit code */
  vcs_status_t (*study)(const vcs_rom_t *rom, const vcs_setup_t *setup, void *options, vcs_error_t *error);
  void *options; /* the command's options, for the two functions */
} vcs_cli_study_t;

/* Reads and checks the options, opens the ROM, makes the output directory, plays, calls the study and reports. Returns
 * the exit code. */
int vcs_cli_study(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv, const vcs_cli_study_t *to);

/* ---- Several games ------------------------------------------------------------------------------------------ */

/* The games that a command is about: those named, or with --all every game of the profile. Prints an error and returns
 * the exit code if there are none or if both are given, else VCS_ARGS_GO. The list of --all is allocated: *named takes
 * it, for free(). */
int vcs_cli_games(const char *command, bool all, const vcs_rom_options_t *options, vcs_rest_t *games, char ***named);

/* Refuses images of one name (a/x.bin and b/x.bin), whose results would replace each other: prints an error that names
 * it and returns the exit code, else VCS_ARGS_GO. */
int vcs_cli_names_differ(const char *command, const vcs_rest_t *games, const vcs_rom_options_t *options);

/* A progress bar on stderr that a vcs_report_t draws; Ctrl-C stops the work. Starts as {0}. */
typedef struct {
  vcs_progress_t progress;
  const char *step;
  uint64_t done;
} vcs_bar_t;
vcs_report_t vcs_bar_report(vcs_bar_t *bar);
void vcs_bar_finish(vcs_bar_t *bar);

/* ---- Results ------------------------------------------------------------------------------------------------ */

/* A file being written, gzipped if its name ends with .gz, or stdout for "-". End with one of close and abandon. */
typedef struct {
  vcs_draft_t draft;
  gzFile gz;    /* NULL: plain */
  FILE *stream; /* NULL: gzipped */
  bool failed;
  int reason; /* errno of the first failure; 0: none known */
} vcs_output_t;

vcs_status_t vcs_output_open(vcs_output_t *output, const char *path, vcs_error_t *error);
void vcs_output_text(vcs_output_t *output, vcs_text_t *text); /* writes it and empties it */
vcs_status_t vcs_output_close(vcs_output_t *output, vcs_error_t *error);
void vcs_output_abandon(vcs_output_t *output);

/* Checks that a file of that name can be written, before a long run instead of after it. */
vcs_status_t vcs_output_try(const char *path, vcs_error_t *error);

/* Makes the directory of --out if it is missing, and sets *made then; returns VCS_ARGS_GO, or complains and returns the
 * exit code. A command that fails removes the directory that it made, if it is still empty. */
int vcs_output_directory(const char *command, const char *path, bool *made);

/* Writes a text to a file or, for "-", to stdout; empties the text. */
vcs_status_t vcs_output_write(const char *path, vcs_text_t *text, vcs_error_t *error);

/* The path of a file in a directory; VCS_BAD_ARGUMENT: too long. */
vcs_status_t vcs_output_path(const char *directory, const char *name, char path[VCS_PATH_SIZE], vcs_error_t *error);

/* Writes a text to a file in a directory, prints "wrote PATH", and frees the text. */
vcs_status_t vcs_output_file(const char *directory, const char *name, vcs_text_t *text, vcs_error_t *error);

#endif
