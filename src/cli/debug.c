/* debug.c: `diffvcs debug GAME`: a debugger in the terminal that also goes backwards.
 *
 * The work is vcs_debugger_t's (study.h); here are the commands and what they print. Commands come from the terminal, a
 * file or a pipe, one on each line; an empty line repeats the last one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/common.h"
#include "core/state.h"
#include "host/picture.h"

static const char command[] = "diffvcs debug";
static const vcs_usage_t usage = {
    command,
    "A debugger: steps by instruction, scan line and frame, forwards and backwards, to breakpoints on addresses, "
    "memory and register accesses, beam positions and conditions. Commands are read from the terminal or a pipe; "
    "'help' lists them. The exit status is 1 if a command that came through a pipe or a file was not "
    "understood." VCS_ROMS_NOTE,
    "diffvcs debug pong --frame 300\n"
    "diffvcs debug demo --symbols demo.sym --frame 60\n"
    "printf 'break write COLUBK if scanline > 100\\ncontinue\\nback 3\\n' | diffvcs debug demo\n"};

enum { WATCHES_MAX = 16, WATCH_SIZE = 96, LINE_SIZE = 512, TRACE_FLUSH_SIZE = 1 << 20, SCRIPT_MAX = 1 << 20 };

typedef struct {
  vcs_rom_t rom;
  vcs_setup_t setup;
  vcs_debugger_t *debugger;
  char watches[WATCHES_MAX][WATCH_SIZE]; /* expressions that every stop shows */
  int watch_count;
  vcs_output_t trace;
  vcs_text_t trace_text;
  char last[LINE_SIZE]; /* the last command, which an empty line repeats */
  bool tracing, quits, failed;
  bool asks; /* a person types the commands */
} session_t;

/* Prints an error to stdout, like the answers, so that a transcript shows it in its place. */
static void complain(session_t *d, const char *message) {
  printf("! %s\n", message);
  d->failed = true;
}

/* ---- Showing ------------------------------------------------------------------------------------------------ */

static void show_flags(uint8_t p) {
  for (int i = 7; i >= 0; i--) putchar(p >> i & 1 ? "NV1BDIZC"[7 - i] : '.');
}

static void show_here(session_t *d) {
  vcs_disassembly_t next;
  vcs_position_t at;
  const vcs_t *m = vcs_debugger_machine(d->debugger);
  vcs_debugger_position(d->debugger, &at);
  vcs_debugger_disassemble(d->debugger, m->pc, &next, 1);
  printf("frame %" PRId64 ".%d  line %d clock %d  A=%02X X=%02X Y=%02X SP=%02X ", at.frame, (int)at.instruction,
         (int)at.scanline, (int)at.clock, m->a, m->x, m->y, m->sp);
  show_flags(m->p);
  printf("  %04X %s%s%s%s\n", m->pc, next.label, *next.label ? ": " : "", next.text,
         m->jammed ? "  (the processor is jammed)" : "");
  for (int i = 0; i < d->watch_count; i++) {
    int64_t value = 0;
    vcs_debugger_value(d->debugger, d->watches[i], &value, NULL);
    printf("  %s = %" PRId64 " $%" PRIX64 "\n", d->watches[i], value, (uint64_t)value & 0xFFFF);
  }
}

static bool number_of(session_t *d, const char *text, int64_t otherwise, int64_t *number) {
  vcs_error_t error = {""};
  *number = otherwise;
  if (!*text || !vcs_debugger_value(d->debugger, text, number, &error)) return true;
  complain(d, error.message);
  return false;
}

/* ---- Commands: moving --------------------------------------------------------------------------------------- */

static int stop_if_interrupted(void *context, const char *step, uint64_t done, uint64_t total) {
  (void)context, (void)step, (void)done, (void)total;
  return vcs_interrupted();
}

static void move(session_t *d, vcs_move_t how, int64_t count) {
  vcs_stop_t stop;
  vcs_error_t error = {""};
  if (vcs_debugger_move(d->debugger, how, count, &stop, &error)) {
    complain(d, error.message);
  } else if (stop.reason == VCS_STOP_BREAKPOINT) {
    printf("breakpoint %d: %s\n", (int)stop.breakpoint, vcs_debugger_breakpoint(d->debugger, stop.breakpoint));
  } else if (stop.reason == VCS_STOP_JAMMED) {
    printf("the processor is jammed: it executed a halt opcode\n");
  } else if (stop.reason == VCS_STOP_BEGINNING) {
    printf(how == VCS_MOVE_REVERSE ? "no earlier breakpoint\n" : "this is the beginning of the history\n");
  } else if (stop.reason == VCS_STOP_CANCELLED) {
    if (d->asks) vcs_interrupt_clear();
    printf("interrupted\n");
  }
  show_here(d);
}

static void move_counted(session_t *d, vcs_move_t how, const char *rest) {
  int64_t count;
  if (number_of(d, rest, 1, &count)) move(d, how, count);
}

static void command_step(session_t *d, const char *rest) { move_counted(d, VCS_MOVE_STEP, rest); }
static void command_line(session_t *d, const char *rest) { move_counted(d, VCS_MOVE_LINE, rest); }
static void command_frame(session_t *d, const char *rest) { move_counted(d, VCS_MOVE_FRAME, rest); }

static void command_continue(session_t *d, const char *rest) {
  (void)rest;
  move(d, VCS_MOVE_FRAME, INT64_MAX);
}

static void command_back(session_t *d, const char *rest) {
  static const struct {
    const char *word;
    vcs_move_t how;
  } units[] = {{"line", VCS_MOVE_BACK_LINE}, {"frame", VCS_MOVE_BACK_FRAME}, {"", VCS_MOVE_BACK_STEP}};
  int unit = 0;
  while (strncasecmp(rest, units[unit].word, strlen(units[unit].word)) != 0) unit++;
  rest += strlen(units[unit].word);
  move_counted(d, units[unit].how, rest + strspn(rest, " "));
}

static void command_reverse(session_t *d, const char *rest) {
  (void)rest;
  move(d, VCS_MOVE_REVERSE, 1);
}

/* ---- Commands: breakpoints and watches ------------------------------------------------------------------------- */

static void command_break(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  const char *text;
  int number = 1;
  if (*rest && vcs_debugger_break(d->debugger, rest, &error)) return complain(d, error.message);
  for (; (text = vcs_debugger_breakpoint(d->debugger, number)); number++) {
    if (!*rest) printf("%d: %s\n", number, text);
  }
  if (*rest)
    printf("breakpoint %d: %s\n", number - 1, rest);
  else if (number == 1)
    printf("no breakpoints; as in: break pc $F123, break write COLUBK if a == 0\n");
}

static void command_delete(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  int64_t number;
  if (!number_of(d, rest, 0, &number)) return;
  while (!*rest && vcs_debugger_breakpoint(d->debugger, 1)) vcs_debugger_delete(d->debugger, 1, &error);
  if (number < 0 || number > INT32_MAX) number = 0;
  if (*rest && vcs_debugger_delete(d->debugger, (int32_t)number, &error)) complain(d, error.message);
}

static void command_watch(session_t *d, const char *rest) {
  int64_t value;
  if (!*rest)
    d->watch_count = 0;
  else if (d->watch_count == WATCHES_MAX)
    return complain(d, "there are 16 watches already; 'watch' alone removes all");
  else if (strlen(rest) >= WATCH_SIZE)
    return complain(d, "the expression is too long for a watch");
  else if (!number_of(d, rest, 0, &value))
    return;
  else
    strcpy(d->watches[d->watch_count++], rest);
  show_here(d);
}

/* ---- Commands: looking ------------------------------------------------------------------------------------------- */

static void command_print(session_t *d, const char *rest) {
  int64_t value;
  if (!*rest) return complain(d, "print takes an expression: print [$80] + x");
  if (number_of(d, rest, 0, &value)) printf("%" PRId64 " $%" PRIX64 "\n", value, (uint64_t)value & 0xFFFFFFFF);
}

static void command_disassemble(session_t *d, const char *rest) {
  vcs_disassembly_t rows[16];
  int64_t at;
  const uint16_t pc = vcs_debugger_machine(d->debugger)->pc;
  if (!number_of(d, rest, pc, &at)) return;
  vcs_debugger_disassemble(d->debugger, (uint16_t)at, rows, 16);
  for (int i = 0; i < 16; i++) {
    if (*rows[i].label) printf("%s:\n", rows[i].label);
    printf("%s %04X ", rows[i].address == pc ? ">" : " ", rows[i].address);
    for (int j = 0; j < 3; j++) j < rows[i].length ? printf(" %02X", rows[i].bytes[j]) : printf("   ");
    printf("  %s\n", rows[i].text);
  }
}

static void command_memory(session_t *d, const char *rest) {
  int64_t at;
  const vcs_t *m = vcs_debugger_machine(d->debugger);
  if (!number_of(d, rest, 0x80, &at)) return;
  for (int row = 0; row < 8; row++) {
    printf("%04X ", (unsigned)(at + 16 * row) & 0xFFFF);
    for (int i = 0; i < 16; i++) printf(" %02X", vcs_peek(d->rom.cart, m, (uint16_t)(at + 16 * row + i)));
    putchar('\n');
  }
}

/* Every field of the machine, or those whose name begins with a word. */
static void command_state(session_t *d, const char *rest) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (strncasecmp(field->name, rest, strlen(rest)) != 0 || field->count > 128) continue;
    printf("%-16s", field->name);
    for (size_t j = 0; j < field->count; j++) {
      const uint8_t *at = (const uint8_t *)vcs_debugger_machine(d->debugger) + field->offset + j * field->size;
      uint32_t value = 0;
      memcpy(&value, at, field->size); /* the hosts this runs on are little-endian */
      if (field->type[0] == 'i')
        printf(" %" PRId32, (int32_t)value);
      else
        printf(" $%0*" PRIX32, (int)(2 * field->size), value);
    }
    putchar('\n');
  }
}

static void command_screenshot(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  if (!*rest) return complain(d, "screenshot takes a file: screenshot now.png");
  const vcs_cart_info_t *info = vcs_cart_info(d->rom.cart);
  const uint8_t *picture = vcs_picture(vcs_debugger_machine(d->debugger), vcs_debugger_frames(d->debugger));
  if (vcs_png_write(rest, picture, VCS_WIDTH, info->height, info->format, 1, &error)) return complain(d, error.message);
  printf("%s: the picture as far as the beam has drawn it, the frame before below\n", rest);
}

/* ---- Commands: controls, symbols, traces ----------------------------------------------------------------------- */

/* "hold right,fire": the machine's controls, by the names of inputs; paddles stay where they are. */
static void command_hold(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  vcs_controls_t controls = *vcs_debugger_controls(d->debugger);
  if (vcs_controls_parse(rest, &controls, &error)) return complain(d, error.message);
  const int64_t frame = vcs_debugger_hold(d->debugger, &controls);
  printf("held from frame %" PRId64 " on: %s\n", frame, *rest ? rest : "nothing");
}

static void command_symbols(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  int32_t count;
  if (vcs_debugger_read_symbols(d->debugger, rest, &count, &error)) return complain(d, error.message);
  printf("%d symbols\n", (int)count);
}

static void trace_row(void *context, const vcs_debugger_t *debugger) {
  session_t *d = context;
  vcs_disassembly_t next;
  vcs_position_t at;
  const vcs_t *m = vcs_debugger_machine(debugger);
  vcs_debugger_position(debugger, &at);
  vcs_debugger_disassemble(debugger, m->pc, &next, 1);
  vcs_text_printf(&d->trace_text, "%" PRId64 ",%d,%d,%d,%u,%04X,%02X,%02X,%02X,%02X,%02X,\"%s\"\n", at.frame,
                  (int)at.instruction, (int)at.scanline, (int)at.clock, m->cycles, m->pc, m->a, m->x, m->y, m->sp, m->p,
                  next.text);
  if (d->trace_text.length > TRACE_FLUSH_SIZE) vcs_output_text(&d->trace, &d->trace_text);
}

static void end_trace(session_t *d) {
  vcs_error_t error = {""};
  if (!d->tracing) return;
  d->tracing = false;
  vcs_debugger_watch(d->debugger, NULL, NULL);
  vcs_output_text(&d->trace, &d->trace_text);
  if (vcs_output_close(&d->trace, &error)) complain(d, error.message);
}

static void command_trace(session_t *d, const char *rest) {
  vcs_error_t error = {""};
  end_trace(d);
  if (!*rest || strcasecmp(rest, "off") == 0) return;
  if (vcs_output_open(&d->trace, rest, &error)) return complain(d, error.message);
  vcs_text_printf(&d->trace_text, "frame,instruction,scanline,clock,cycle,pc,a,x,y,sp,p,disassembly\n");
  d->tracing = true;
  vcs_debugger_watch(d->debugger, trace_row, d);
}

static void command_quit(session_t *d, const char *rest) {
  (void)rest;
  d->quits = true;
}

static void command_help(session_t *d, const char *rest);

static const struct {
  const char *name, *brief;
  void (*run)(session_t *d, const char *rest);
  const char *help;
} commands[] = {
    {"step", "s", command_step, "[N]  an instruction, or N"},
    {"line", "l", command_line, "[N]  to the next scan line"},
    {"frame", "f", command_frame, "[N]  to the next frame"},
    {"continue", "c", command_continue, "to a breakpoint"},
    {"back", "b", command_back, "[line|frame] [N]  the same backwards, exactly"},
    {"reverse", "r", command_reverse, "backwards to a breakpoint"},
    {"break", "br", command_break,
     "[pc A|cycle N|scanline N|pixel X,Y|read A|write A|access A] [if CONDITION]  alone: list them"},
    {"delete", "del", command_delete, "[N]  a breakpoint; alone: all"},
    {"watch", "w", command_watch, "EXPRESSION  shown at every stop; alone: remove all"},
    {"print", "p", command_print,
     "EXPRESSION  as in a + [$80 + x] << 1; names: a x y sp p pc cycle scanline clock frame"},
    {"disassemble", "d", command_disassemble, "[A]  from the program counter or an address on"},
    {"memory", "m", command_memory, "[A]  128 bytes from an address on; default: RAM"},
    {"state", "st", command_state, "[NAME]  fields of the machine: state grp, state timer"},
    {"hold", "h", command_hold, "[right,fire ...]  controls held from the next frame on; alone: none"},
    {"symbols", "sym", command_symbols, "FILE  of dasm -s"},
    {"trace", "t", command_trace, "FILE.csv|off  every instruction from now on, as CSV (.gz: gzipped)"},
    {"screenshot", "shot", command_screenshot, "FILE.png"},
    {"help", "?", command_help, ""},
    {"quit", "q", command_quit, ""},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void command_help(session_t *d, const char *rest) {
  (void)d, (void)rest;
  for (int i = 0; i < COMMANDS; i++) printf("  %-11s %-4s %s\n", commands[i].name, commands[i].brief, commands[i].help);
  printf("  an empty line repeats the last command; Ctrl-C stops a run\n");
}

static void execute(session_t *d, const char *line) {
  char word[24] = "";
  int length = 0, i = 0;
  sscanf(line, " %23s%n", word, &length);
  while (i < COMMANDS && strcasecmp(word, commands[i].name) != 0 && strcasecmp(word, commands[i].brief) != 0) i++;
  if (i == COMMANDS) {
    char message[96];
    snprintf(message, sizeof message, "no command '%s'; 'help' lists them", word);
    return complain(d, message);
  }
  line += length;
  commands[i].run(d, line + strspn(line, " \t"));
}

static const char too_long[] = "a command has at most 510 characters"; /* LINE_SIZE without "\n" and the zero */

/* A line: a command, a comment, or nothing, which repeats the last command. */
static void obey(session_t *d, char *line) {
  line[strcspn(line, "\r\n")] = 0;
  const char *word = line + strspn(line, " \t");
  if (*word == '#') return;
  if (strlen(line) > LINE_SIZE - 2) return complain(d, too_long);
  if (*word) strcpy(d->last, line);
  if (*d->last) execute(d, d->last);
}

/* Ctrl-C and SIGTERM end a script or a pipe. Where a person types, they end the run that is under way. */
static bool goes_on(const session_t *d) { return !d->quits && (d->asks || !vcs_interrupted()); }

static void follow(session_t *d, char *script) {
  for (char *end; *script && goes_on(d); script = end) {
    end = script + strcspn(script, "\n");
    if (*end) *end++ = 0;
    obey(d, script);
  }
}

/* Reads to the end of a line that is longer than an array: its beginning alone would be another command. */
static bool skip_long_line(const char *line) {
  if (strlen(line) < LINE_SIZE - 1 || strchr(line, '\n')) return false;
  for (int c = 0; c != EOF && c != '\n';) c = getchar();
  return true;
}

static void converse(session_t *d) {
  char line[LINE_SIZE];
  while (goes_on(d)) {
    if (d->asks) printf("(diffvcs) "), fflush(stdout);
    if (!d->asks) vcs_interrupt_release(); /* a signal ends a program that waits for a pipe */
    if (!fgets(line, sizeof line, stdin)) break;
    const bool is_long = skip_long_line(line);
    vcs_interrupt_catch();
    if (d->asks) vcs_interrupt_clear(); /* Ctrl-C at the prompt is not for the next run */
    if (is_long) {
      complain(d, too_long);
    } else {
      obey(d, line);
    }
  }
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static vcs_status_t set_up(session_t *d, const vcs_cli_setup_t *choice, const char *symbols, vcs_error_t *error) {
  vcs_status_t status = vcs_rom_open(choice->rom, &choice->rom_options, &d->rom, error);
  if (status == VCS_OK) status = vcs_setup_create(d->rom.cart, &choice->setup, &d->setup, error);
  if (status) return status;
  const vcs_run_t *run = &d->setup.run;
  status =
      vcs_debugger_create(d->rom.cart, run->start, run->picture, run->controls, d->setup.frame, &d->debugger, error);
  if (status == VCS_OK && symbols) status = vcs_debugger_read_symbols(d->debugger, symbols, NULL, error);
  if (status == VCS_OK) vcs_debugger_report(d->debugger, &(vcs_report_t){stop_if_interrupted, NULL});
  return status;
}

static void tear_down(session_t *d) {
  end_trace(d);
  vcs_text_free(&d->trace_text);
  vcs_debugger_free(d->debugger);
  vcs_setup_free(&d->setup);
  vcs_rom_free(&d->rom);
}

int vcs_cli_debug(int argc, char **argv) {
  vcs_cli_setup_t choice = {.setup = {.frame = -1, .horizon = 1}};
  const char *symbols = NULL, *path = NULL;
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &choice.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frame", &choice.setup.frame, -1, 100000000, "frames to play first; -1: all --actions, or none"),
      VCS_ARG_INTEGER("seed", &choice.setup.seed, 0, INT64_MAX, "actions from the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &choice.setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4"),
      VCS_ARG_TEXT("symbols", &symbols, "FILE", "names from a symbol file of dasm -s"),
      VCS_ARG_TEXT("commands", &path, "FILE", "commands to do first, one a line"),
      VCS_ARGS_CART(&choice.rom_options),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  static session_t d;
  vcs_error_t error = {""};
  uint8_t *script = NULL;
  size_t size;
  if (set_up(&d, &choice, symbols, &error) || (path && vcs_file_read(path, SCRIPT_MAX, &script, &size, &error))) {
    exit_code = vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  } else {
    d.asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    vcs_interrupt_catch();
    show_here(&d);
    if (script) follow(&d, (char *)script);
    const bool script_failed = d.failed;
    converse(&d);
    const bool failed = d.failed || vcs_interrupted(); /* a person at a terminal may make mistakes, a script may not */
    exit_code = script_failed || (failed && !d.asks) ? VCS_EXIT_FAILED : VCS_EXIT_OK;
  }
  free(script);
  tear_down(&d);
  return exit_code;
}
