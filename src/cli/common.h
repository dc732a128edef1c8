/* common.h: what the commands share: finding and loading a cartridge, and writing results.
 *
 * Wherever a command takes a ROM, it takes a file, the name of a game, or `demo`, the cartridge that is built in. The
 * options that choose a cartridge's surroundings are the same everywhere, so they are listed here, once.
 */
#ifndef VCS_CLI_COMMON_H
#define VCS_CLI_COMMON_H

#include <zlib.h>

#include "cli/args.h"

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
int vcs_cli_paper(int argc, char **argv);

/* "diffvcs run: what was wrong", to stderr; returns the exit code it is given. */
int vcs_cli_complain(const char *command, int exit_code, const char *format, ...) VCS_PRINTF(3, 4);

/* How a command ends that writes its results last: says what was wrong, or that it was interrupted before it wrote any,
 * and returns the exit code. */
int vcs_cli_end(const char *command, vcs_status_t status, const vcs_error_t *error);

/* ---- Actions ------------------------------------------------------------------------------------------------ */

int vcs_cli_action(const char *word);              /* by name in any case, or by number; -1: none */
const char *vcs_cli_action_near(const char *word); /* the action that was perhaps meant, or NULL */

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

typedef struct {
  int profile, scheme, format; /* vcs_profile_t, vcs_scheme_t, vcs_format_t */
  const char *roms;            /* a directory, or NULL */
  const char *patch;           /* a file, or NULL */
} vcs_cart_choice_t;

#define VCS_PROFILE_CHOICES "xitari|ale|fixed"
#define VCS_FORMAT_CHOICES "auto|ntsc|pal|pal60|secam"
#define VCS_SCHEME_CHOICES "auto|2K|4K|F8|F6|F4|F8SC|F6SC|F4SC|E0|FE|DPC|3F|3E|E7|FA|UA|CV|0840|SB"

#define VCS_ARGS_ROMS(c)                                                              \
  VCS_ARG_CHOICE("profile", &(c)->profile, VCS_PROFILE_CHOICES, "boot and settings"), \
      VCS_ARG_TEXT("roms", &(c)->roms, "DIR", "where ROM images are; see above for the other places")
#define VCS_ARGS_CART(c)                                                                       \
  VCS_ARGS_ROMS(c), VCS_ARG_CHOICE("scheme", &(c)->scheme, VCS_SCHEME_CHOICES, "bank scheme"), \
      VCS_ARG_CHOICE("format", &(c)->format, VCS_FORMAT_CHOICES, "television"),                \
      VCS_ARG_TEXT("patch", &(c)->patch, "FILE", "an IPS or BPS patch for the image")

/* Closes the summary of every command that takes ROMs. */
#define VCS_ROMS_NOTE                                                                                            \
  "\n\nROM images are found by name (pong) in --roms, $DIFFVCS_ROMS, $ALE_ROMS_DIR or an installed ale-py (pip " \
  "install\nale-py); a path is taken as it is, and `demo` is the built-in cartridge."

typedef struct {
  vcs_cart_t *cart;
  char name[256];           /* the image's file name without its endings: "pong" */
  char path[VCS_PATH_SIZE]; /* "built in" for demo */
} vcs_rom_t;

/* Finds, reads and loads. Threads may. On success vcs_rom_free is due. */
vcs_status_t vcs_rom_open(const char *name, const vcs_cart_choice_t *choice, vcs_rom_t *rom, vcs_error_t *error);
void vcs_rom_free(vcs_rom_t *rom);

/* The same, complaining to stderr at length; returns VCS_ARGS_GO or the exit code. */
int vcs_rom_open_or_complain(const char *command, const char *name, const vcs_cart_choice_t *choice, vcs_rom_t *rom);

/* To stderr: where ROM images were looked for and how to get them. */
void vcs_rom_advise(const char *roms);

/* ---- Results ------------------------------------------------------------------------------------------------ */

/* A file under way, gzipped where its name ends with .gz, or stdout for "-". End with one of close and abandon. */
typedef struct {
  vcs_draft_t draft;
  gzFile gz;    /* NULL: plain */
  FILE *stream; /* NULL: gzipped */
  bool failed;
} vcs_output_t;

vcs_status_t vcs_output_open(vcs_output_t *output, const char *path, vcs_error_t *error);
void vcs_output_text(vcs_output_t *output, vcs_text_t *text); /* writes it and empties it */
vcs_status_t vcs_output_close(vcs_output_t *output, vcs_error_t *error);
void vcs_output_abandon(vcs_output_t *output);

/* A string as JSON has it, with its quotes; bytes of UTF-8 pass. */
void vcs_text_json(vcs_text_t *text, const char *string);

/* Whether a file of that name could be written: asked before a long run instead of after it. */
vcs_status_t vcs_output_try(const char *path, vcs_error_t *error);

/* Makes the directory of --out unless it is there; returns VCS_ARGS_GO, or complains and returns the exit code. */
int vcs_output_directory(const char *command, const char *path);

#endif
