/* args.h: the command line, as a table.
 *
 * A command lists its options once; parsing, ranges, defaults and --help come from the list:
 *
 *   int64_t frames = 600;
 *   const char *game = NULL, *output = NULL;
 *   int format = 0;
 *   bool quiet = false;
 *   const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("GAME", &game, "a ROM image or the name of a game"),
 *                             VCS_ARG_INTEGER("frames", &frames, 1, 1000000, "frames to run"),
 *                             VCS_ARG_TEXT("output", &output, "FILE", "where to write the picture"),
 *                             VCS_ARG_CHOICE("format", &format, "auto|ntsc|pal|secam", "television"),
 *                             VCS_ARG_FLAG("quiet", &quiet, "say nothing"),
 *                             VCS_ARG_END};
 *   const vcs_usage_t usage = {"diffvcs run", "Runs a game.", "diffvcs run pong --frames 600\n"};
 *   int exit_code = vcs_args_read(&usage, args, argc, argv);
 *   if (exit_code != VCS_ARGS_GO) return exit_code;
 *
 * Options that are not given keep their value, which --help shows as the default. `--name value`,
 * `--name=value` and, after `--`, arguments that begin with '-' are understood. For an unknown name the error suggests
 * the nearest known one.
 */
#ifndef VCS_CLI_ARGS_H
#define VCS_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diffvcs/diffvcs.h"
#include "host/files.h"

/* What the process exits with. */
enum { VCS_EXIT_OK = 0, VCS_EXIT_FAILED = 1, VCS_EXIT_USAGE = 2 };

typedef enum {
  VCS_ARG_KIND_END = 0,
  VCS_ARG_KIND_FLAG,
  VCS_ARG_KIND_INTEGER,
  VCS_ARG_KIND_NUMBER,
  VCS_ARG_KIND_TEXT,
  VCS_ARG_KIND_CHOICE,
  VCS_ARG_KIND_POSITIONAL,
  VCS_ARG_KIND_OPTIONAL,
  VCS_ARG_KIND_REST
} vcs_arg_kind_t;

typedef struct { /* the positionals that are left, gathered at the front of argv; starts as {0} */
  char **items;
  int count;
} vcs_rest_t;

typedef struct {
  vcs_arg_kind_t kind;
  const char *name;   /* without the dashes; for positionals the word shown in the usage line */
  const char *help;   /* one line */
  const char *value;  /* the word shown for the value (N, X, FILE), or the choices: "a|b|c" */
  void *to;           /* bool *, int64_t *, double *, const char **, int *, vcs_rest_t *, as the kind says */
  int64_t low, high;  /* INTEGER, both included */
  double least, most; /* NUMBER, both included */
} vcs_arg_t;

/* The macros check that the variable has the right type. A POSITIONAL must be given, an OPTIONAL need not, a REST
 * takes all that are left; they stand in the table in this order. */
#define VCS_ARG_FLAG(name, to_bool, help) \
  { VCS_ARG_KIND_FLAG, name, help, NULL, 1 ? (to_bool) : (bool *)0, 0, 0, 0, 0 }
#define VCS_ARG_INTEGER(name, to_int64, low, high, help) \
  { VCS_ARG_KIND_INTEGER, name, help, "N", 1 ? (to_int64) : (int64_t *)0, low, high, 0, 0 }
#define VCS_ARG_NUMBER(name, to_double, least, most, help) \
  { VCS_ARG_KIND_NUMBER, name, help, "X", 1 ? (to_double) : (double *)0, 0, 0, least, most }
#define VCS_ARG_TEXT(name, to_text, value, help) \
  { VCS_ARG_KIND_TEXT, name, help, value, 1 ? (to_text) : (const char **)0, 0, 0, 0, 0 }
#define VCS_ARG_CHOICE(name, to_int, choices, help) \
  { VCS_ARG_KIND_CHOICE, name, help, choices, 1 ? (to_int) : (int *)0, 0, 0, 0, 0 }
#define VCS_ARG_POSITIONAL(name, to_text, help) \
  { VCS_ARG_KIND_POSITIONAL, name, help, NULL, 1 ? (to_text) : (const char **)0, 0, 0, 0, 0 }
#define VCS_ARG_OPTIONAL(name, to_text, help) \
  { VCS_ARG_KIND_OPTIONAL, name, help, NULL, 1 ? (to_text) : (const char **)0, 0, 0, 0, 0 }
#define VCS_ARG_REST(name, to_rest, help) \
  { VCS_ARG_KIND_REST, name, help, NULL, 1 ? (to_rest) : (vcs_rest_t *)0, 0, 0, 0, 0 }
#define VCS_ARG_END \
  { VCS_ARG_KIND_END, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

typedef struct {
  const char *command;  /* "diffvcs run" */
  const char *summary;  /* paragraphs, with an empty line between them; --help breaks their lines */
  const char *examples; /* one command per line, or NULL */
} vcs_usage_t;

typedef enum { VCS_ARGS_RUN, VCS_ARGS_HELP, VCS_ARGS_WRONG } vcs_args_result_t;

/* argv[0] is the name of the subcommand and skipped. VCS_ARGS_WRONG comes with a message in error. */
vcs_args_result_t vcs_args_parse(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv,
                                 vcs_error_t *error);

/* Parses; prints help to stdout and errors to stderr. Returns VCS_ARGS_GO to go on, else the exit code. */
enum { VCS_ARGS_GO = -1 };
int vcs_args_read(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv);

void vcs_args_help(const vcs_usage_t *usage, const vcs_arg_t *args, vcs_text_t *text);

/* The index of the word nearest to `wrong` (spelling distance, case ignored), or -1 where none is near. */
int vcs_args_nearest(const char *wrong, const char *const *words, size_t count);

#endif
