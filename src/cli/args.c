/* args.c: parsing and help from one table.
 *
 * Every complaint names the option, what was given and what is expected; an unknown word gets the nearest known one
 * by spelling distance (Damerau and Levenshtein's, where swapped neighbours count once).
 */
#include "cli/args.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Spelling ----------------------------------------------------------------------------------------------- */

enum { WORD_MAX = 40 }; /* longer words are compared by their first letters */

static int smaller(int a, int b) { return a < b ? a : b; }

static int spelling_distance(const char *a, const char *b) {
  int d[WORD_MAX + 1][WORD_MAX + 1];
  int m = (int)strnlen(a, WORD_MAX), n = (int)strnlen(b, WORD_MAX);
  for (int i = 0; i <= m; i++) d[i][0] = i;
  for (int j = 0; j <= n; j++) d[0][j] = j;
  for (int i = 1; i <= m; i++) {
    for (int j = 1; j <= n; j++) {
      int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
      d[i][j] = smaller(d[i - 1][j - 1] + (x != y), smaller(d[i - 1][j], d[i][j - 1]) + 1);
      bool swapped = i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
      if (swapped) d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[m][n];
}

int vcs_args_nearest(const char *wrong, const char *const *words, size_t count) {
  int best = -1, least = (int)(strnlen(wrong, WORD_MAX) + 2) / 3; /* a third of the letters may be wrong */
  for (size_t i = 0; i < count; i++) {
    int distance = spelling_distance(wrong, words[i]);
    const bool begins = strncasecmp(words[i], wrong, strlen(wrong)) == 0; /* --rom: rather --roms than --ram */
    if (distance < least || (distance == least && (best < 0 || begins))) best = (int)i, least = distance;
  }
  return best;
}

/* ---- Choices: "a|b|c" --------------------------------------------------------------------------------------- */

/* The word with this number, and its length; NULL after the last. */
static const char *choice(const char *choices, int number, size_t *length) {
  for (; number > 0 && choices; number--) {
    choices = strchr(choices, '|');
    if (choices) choices++;
  }
  if (choices) *length = strcspn(choices, "|");
  return choices;
}

/* ---- Parsing ------------------------------------------------------------------------------------------------ */

static bool is_option(const vcs_arg_t *arg) {
  return arg->kind >= VCS_ARG_KIND_FLAG && arg->kind <= VCS_ARG_KIND_CHOICE;
}

static vcs_args_result_t wrong(vcs_error_t *error, const char *format, ...) VCS_PRINTF(2, 3);

static vcs_args_result_t wrong(vcs_error_t *error, const char *format, ...) {
  char message[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s", message);
  return VCS_ARGS_WRONG;
}

static vcs_args_result_t set_integer(const vcs_arg_t *arg, const char *text, vcs_error_t *error) {
  const char *digits = text + (*text == '-' || *text == '+');
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, hex ? 16 : 10); /* not 0: 010 is ten */
  bool number = isdigit((unsigned char)*digits) && !*end;
  if (!number) return wrong(error, "--%s takes a whole number, not '%s'", arg->name, text);
  if (errno || value < arg->low || value > arg->high)
    return wrong(error, "--%s must be %" PRId64 " to %" PRId64 ", not %s", arg->name, arg->low, arg->high, text);
  *(int64_t *)arg->to = value;
  return VCS_ARGS_RUN;
}

static vcs_args_result_t set_number(const vcs_arg_t *arg, const char *text, vcs_error_t *error) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || isnan(value)) return wrong(error, "--%s takes a number, not '%s'", arg->name, text);
  if (value < arg->least || value > arg->most)
    return wrong(error, "--%s must be %g to %g, not %s", arg->name, arg->least, arg->most, text);
  *(double *)arg->to = value;
  return VCS_ARGS_RUN;
}

static vcs_args_result_t set_choice(const vcs_arg_t *arg, const char *text, vcs_error_t *error) {
  size_t length;
  const char *word;
  for (int number = 0; (word = choice(arg->value, number, &length)); number++) {
    if (strlen(text) != length || strncasecmp(text, word, length) != 0) continue;
    *(int *)arg->to = number;
    return VCS_ARGS_RUN;
  }
  return wrong(error, "--%s must be one of %s, not '%s'", arg->name, arg->value, text);
}

static vcs_args_result_t set_option(const vcs_arg_t *arg, const char *text, vcs_error_t *error) {
  switch (arg->kind) {
    case VCS_ARG_KIND_INTEGER:
      return set_integer(arg, text, error);
    case VCS_ARG_KIND_NUMBER:
      return set_number(arg, text, error);
    case VCS_ARG_KIND_CHOICE:
      return set_choice(arg, text, error);
    default:
      *(const char **)arg->to = text;
      return VCS_ARGS_RUN;
  }
}

static vcs_args_result_t unknown_option(const vcs_usage_t *usage, const vcs_arg_t *args, const char *name,
                                        vcs_error_t *error) {
  const char *names[64] = {"help"};
  size_t count = 1;
  for (const vcs_arg_t *arg = args; arg->kind != VCS_ARG_KIND_END && count < 64; arg++) {
    if (is_option(arg)) names[count++] = arg->name;
  }
  int near = vcs_args_nearest(name, names, count);
  if (near >= 0) return wrong(error, "no option --%s; did you mean --%s?", name, names[near]);
  return wrong(error, "no option --%s; '%s --help' lists them", name, usage->command);
}

/* argv[*at] begins with "--"; advances *at over a value in the next argument. */
static vcs_args_result_t parse_option(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv, int *at,
                                      vcs_error_t *error) {
  char name[64];
  const char *given = argv[*at] + 2, *equals = strchr(given, '=');
  snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - given) : (int)sizeof name, given);
  if (strcmp(name, "help") == 0) return VCS_ARGS_HELP;
  const vcs_arg_t *arg = args;
  while (arg->kind != VCS_ARG_KIND_END && !(is_option(arg) && strcmp(arg->name, name) == 0)) arg++;
  if (arg->kind == VCS_ARG_KIND_END) return unknown_option(usage, args, name, error);
  if (arg->kind == VCS_ARG_KIND_FLAG) {
    if (equals) return wrong(error, "--%s takes no value", name);
    *(bool *)arg->to = true;
    return VCS_ARGS_RUN;
  }
  if (equals) return set_option(arg, equals + 1, error);
  if (*at + 1 >= argc) return wrong(error, "--%s needs a value: %s", name, arg->value);
  return set_option(arg, argv[++*at], error);
}

/* The next positional that has no value yet; `taken` have one. */
static const vcs_arg_t *next_positional(const vcs_arg_t *args, int taken) {
  for (const vcs_arg_t *arg = args; arg->kind != VCS_ARG_KIND_END; arg++) {
    if (is_option(arg)) continue;
    if (arg->kind == VCS_ARG_KIND_REST || taken-- == 0) return arg;
  }
  return NULL;
}

vcs_args_result_t vcs_args_parse(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv,
                                 vcs_error_t *error) {
  int taken = 0, rest = 0;
  bool options = true;
  if (error) error->message[0] = 0;
  for (int at = 1; at < argc; at++) {
    char *word = argv[at];
    if (options && strcmp(word, "--") == 0) {
      options = false;
      continue;
    }
    if (options && strcmp(word, "-h") == 0) return VCS_ARGS_HELP;
    if (options && strncmp(word, "--", 2) == 0) {
      vcs_args_result_t result = parse_option(usage, args, argc, argv, &at, error);
      if (result != VCS_ARGS_RUN) return result;
      continue;
    }
    if (options && word[0] == '-' && word[1])
      return wrong(error, "no option %s; options are spelled out: '%s --help' lists them", word, usage->command);
    const vcs_arg_t *arg = next_positional(args, taken);
    if (!arg) return wrong(error, "'%s' is one argument too many", word);
    if (arg->kind == VCS_ARG_KIND_REST) {
      argv[1 + rest++] = word; /* positionals move to the front of argv, which at least as many words have left */
      *(vcs_rest_t *)arg->to = (vcs_rest_t){argv + 1, rest};
    } else {
      *(const char **)arg->to = word;
      taken++;
    }
  }
  const vcs_arg_t *missing = next_positional(args, taken);
  if (missing && missing->kind == VCS_ARG_KIND_POSITIONAL)
    return wrong(error, "%s is missing: %s", missing->name, missing->help);
  return VCS_ARGS_RUN;
}

/* ---- Help --------------------------------------------------------------------------------------------------- */

enum { HELP_COLUMNS = 118 };

static void print_default(const vcs_arg_t *arg, vcs_text_t *text) {
  size_t length;
  const char *word;
  switch (arg->kind) {
    case VCS_ARG_KIND_INTEGER:
      vcs_text_printf(text, " (default %" PRId64 ")", *(int64_t *)arg->to);
      break;
    case VCS_ARG_KIND_NUMBER:
      vcs_text_printf(text, " (default %g)", *(double *)arg->to);
      break;
    case VCS_ARG_KIND_TEXT:
      if (*(const char **)arg->to) vcs_text_printf(text, " (default %s)", *(const char **)arg->to);
      break;
    case VCS_ARG_KIND_CHOICE:
      word = choice(arg->value, *(int *)arg->to, &length);
      if (word) vcs_text_printf(text, " (default %.*s)", (int)length, word);
      break;
    default:
      break;
  }
}

/* "--frames N", "GAME"; returns its length, and prints it where there is a text. */
static int print_name(const vcs_arg_t *arg, vcs_text_t *text) {
  char name[128];
  const char *value = arg->kind == VCS_ARG_KIND_CHOICE ? "WORD" : arg->value;
  int length = snprintf(name, sizeof name, "%s%s%s%s", is_option(arg) ? "--" : "", arg->name, value ? " " : "",
                        value ? value : "");
  if (text) vcs_text_printf(text, "%s", name);
  return length;
}

/* Breaks lines between words so that none has more than HELP_COLUMNS characters (unless a word has). */
static void print_paragraphs(const char *summary, vcs_text_t *text) {
  int column = 0;
  for (const char *at = summary; *at;) {
    const int length = (int)strcspn(at, " \n");
    const bool breaks = column + 1 + length > HELP_COLUMNS;
    if (column) vcs_text_printf(text, breaks ? "\n" : " ");
    vcs_text_printf(text, "%.*s", length, at);
    column = (column && !breaks ? column + 1 : 0) + length;
    at += length;
    if (*at == ' ') at++;
    if (*at != '\n') continue;
    vcs_text_printf(text, "%.*s", (int)strspn(at, "\n"), at);
    at += strspn(at, "\n");
    column = 0;
  }
  vcs_text_printf(text, "\n");
}

static void print_section(const vcs_arg_t *args, bool options, int width, vcs_text_t *text) {
  for (const vcs_arg_t *arg = args; arg->kind != VCS_ARG_KIND_END; arg++) {
    if (is_option(arg) != options) continue;
    vcs_text_printf(text, "  ");
    int length = print_name(arg, text);
    vcs_text_printf(text, "%*s%s", width - length + 2, "", arg->help);
    if (arg->kind == VCS_ARG_KIND_CHOICE) vcs_text_printf(text, ": %s", arg->value);
    print_default(arg, text);
    vcs_text_printf(text, "\n");
  }
}

void vcs_args_help(const vcs_usage_t *usage, const vcs_arg_t *args, vcs_text_t *text) {
  bool positionals = false;
  int width = (int)strlen("--help");
  vcs_text_printf(text, "usage: %s", usage->command);
  for (const vcs_arg_t *arg = args; arg->kind != VCS_ARG_KIND_END; arg++) {
    int length = print_name(arg, NULL);
    if (length > width) width = length;
    if (is_option(arg)) continue;
    positionals = true;
    bool needed = arg->kind == VCS_ARG_KIND_POSITIONAL;
    vcs_text_printf(text, " %s%s%s%s", needed ? "" : "[", arg->name, arg->kind == VCS_ARG_KIND_REST ? "..." : "",
                    needed ? "" : "]");
  }
  vcs_text_printf(text, " [options]\n\n");
  print_paragraphs(usage->summary, text);
  if (positionals) vcs_text_printf(text, "\n");
  print_section(args, false, width, text);
  vcs_text_printf(text, "\noptions:\n");
  print_section(args, true, width, text);
  vcs_text_printf(text, "  --help%*sthis text\n", width - (int)strlen("--help") + 2, "");
  if (!usage->examples) return;
  vcs_text_printf(text, "\nexamples:\n");
  for (const char *line = usage->examples; *line;) {
    int length = (int)strcspn(line, "\n");
    vcs_text_printf(text, "  %.*s\n", length, line);
    line += length + (line[length] == '\n');
  }
}

int vcs_args_read(const vcs_usage_t *usage, const vcs_arg_t *args, int argc, char **argv) {
  vcs_error_t error;
  vcs_text_t text = {0};
  /* Values are also the defaults that help shows, so help is written before they change. */
  vcs_args_help(usage, args, &text);
  vcs_args_result_t result = vcs_args_parse(usage, args, argc, argv, &error);
  if (result == VCS_ARGS_HELP && text.text) fputs(text.text, stdout);
  if (result == VCS_ARGS_WRONG) fprintf(stderr, "%s: %s\n", usage->command, error.message);
  vcs_text_free(&text);
  return result == VCS_ARGS_RUN ? VCS_ARGS_GO : result == VCS_ARGS_HELP ? VCS_EXIT_OK : VCS_EXIT_USAGE;
}
