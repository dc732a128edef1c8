/* debug.c: `diffvcs debug GAME`: a debugger in the terminal that also goes backwards.
 *
 * The game is played up to a frame, and from there on by instruction. The position is a frame and an instruction count
 * within it. A step forwards is vcs_step. A step backwards restores the machine at the beginning of the frame from its
 * history (vcs_history_t) and runs up to the instruction before; the state is the same to the bit. Running backwards to
 * a breakpoint searches for the last stop of the frame, then of the frame before, and so on.
 *
 * Commands come from the terminal, a file or a pipe, one on each line; an empty line repeats the last one. The controls
 * set by `hold` are held from the next frame on, and frames that had been run after it are forgotten.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/common.h"
#include "core/state.h"
#include "host/picture.h"
#include "study/breakpoint.h"

static const char command[] = "diffvcs debug";

enum {
  LINE_CLOCKS = 228,
  LINES_MAX = 100000,
  BREAKS_MAX = 64,
  WATCHES_MAX = 16,
  PAST_INTERVAL = 20,
  PAST_ROOM = 600,
  LINE_SIZE = 512
};

typedef struct {
  char text[96];
  vcs_expression_t expression;
} watch_t;

typedef struct {
  vcs_rom_t rom;
  vcs_setup_t setup;
  const vcs_cart_t *cart;
  vcs_t *m;
  uint8_t *frames;
  vcs_history_t *past;
  int64_t frame;   /* the one under way: the next one begins as soon as one ends */
  int instruction; /* done in it */
  int32_t before;  /* clock at which the last instruction of the frame began; -1: none */
  vcs_controls_t controls;
  vcs_symbols_t symbols;
  vcs_break_t breaks[BREAKS_MAX];
  watch_t watches[WATCHES_MAX];
  int break_count, watch_count;
  vcs_output_t trace;
  vcs_text_t trace_text;
  bool tracing, quits, failed;
} debugger_t;

static vcs_moment_t moment_of(const debugger_t *d) { return (vcs_moment_t){d->cart, d->m, d->frame}; }

/* Prints an error to stdout, like the answers, so that a transcript shows it in its place. */
static void complain(debugger_t *d, const char *message) {
  printf("! %s\n", message);
  d->failed = true;
}

/* ---- Moving ------------------------------------------------------------------------------------------------- */

static void trace_row(debugger_t *d) {
  char text[64];
  const vcs_t *m = d->m;
  const int32_t clock = vcs_moment_clock(m);
  vcs_disassemble_named(&d->symbols, d->cart, m, m->pc, text, sizeof text);
  vcs_text_printf(&d->trace_text, "%" PRId64 ",%d,%d,%d,%u,%04X,%02X,%02X,%02X,%02X,%02X,\"%s\"\n", d->frame,
                  d->instruction, clock / LINE_CLOCKS, clock % LINE_CLOCKS, m->cycles, m->pc, m->a, m->x, m->y, m->sp,
                  m->p, text);
  if (d->trace_text.length > 1 << 20) vcs_output_text(&d->trace, &d->trace_text);
}

/* Begins a frame: one that the history has is repeated with its controls; a new one is added. */
static bool begin_frame(debugger_t *d) {
  vcs_error_t error = {""};
  d->instruction = 0;
  d->before = -1;
  if (d->frame == vcs_history_end(d->past) && vcs_history_add(d->past, d->m, d->frames, &d->controls, &error)) {
    complain(d, error.message);
    return false;
  }
  vcs_control(d->cart, d->m, vcs_history_controls(d->past, d->frame));
  vcs_frame_begin(d->cart, d->m);
  return true;
}

/* Executes one instruction. False: the processor is jammed. */
static bool step(debugger_t *d) {
  vcs_step_t done;
  if (d->m->jammed) return false;
  if (d->tracing) trace_row(d);
  d->before = vcs_moment_clock(d->m);
  vcs_step(d->cart, d->m, d->frames, &done);
  d->instruction++;
  if (!done.frame_over && !done.jammed && d->instruction < VCS_FRAME_INSTRUCTIONS) return true;
  vcs_frame_end(d->cart, d->m, d->frames);
  d->frame++;
  return begin_frame(d);
}

/* Goes to a position in the history, without tracing. */
static void go(debugger_t *d, int64_t frame, int instruction) {
  const bool tracing = d->tracing;
  d->tracing = false;
  vcs_history_go(d->past, frame, d->m, d->frames);
  d->frame = frame;
  begin_frame(d);
  while (d->frame == frame && d->instruction < instruction && step(d)) {
  }
  d->tracing = tracing;
}

static int breakpoint_here(const debugger_t *d) {
  const vcs_moment_t moment = moment_of(d);
  for (int i = 0; i < d->break_count; i++) {
    if (vcs_break_met(&d->breaks[i], &moment, d->before)) return i;
  }
  return -1;
}

/* Counts the instructions of a frame in the history; leaves the debugger after it. */
static int frame_length(debugger_t *d, int64_t frame) {
  int length = 0;
  go(d, frame, 0);
  while (d->frame == frame && step(d)) length++;
  return length;
}

static bool is_at_the_beginning(const debugger_t *d) {
  return d->instruction == 0 && d->frame == vcs_history_first(d->past);
}

static bool step_back(debugger_t *d) {
  if (is_at_the_beginning(d)) return false;
  const bool tracing = d->tracing;
  d->tracing = false;
  int64_t frame = d->frame;
  int instruction = d->instruction;
  if (instruction == 0) instruction = frame_length(d, --frame);
  go(d, frame, instruction - 1);
  d->tracing = tracing;
  return true;
}

/* ---- Showing ------------------------------------------------------------------------------------------------ */

static void show_flags(uint8_t p) {
  for (int i = 7; i >= 0; i--) putchar(p >> i & 1 ? "NV1BDIZC"[7 - i] : '.');
}

static void show_here(debugger_t *d) {
  char text[64];
  const vcs_t *m = d->m;
  const vcs_moment_t moment = moment_of(d);
  const int32_t clock = vcs_moment_clock(m);
  vcs_disassemble_named(&d->symbols, d->cart, m, m->pc, text, sizeof text);
  const char *label = vcs_symbol_name(&d->symbols, m->pc, false);
  printf("frame %" PRId64 ".%d  line %d clock %d  A=%02X X=%02X Y=%02X SP=%02X ", d->frame, d->instruction,
         clock / LINE_CLOCKS, clock % LINE_CLOCKS, m->a, m->x, m->y, m->sp);
  show_flags(m->p);
  printf("  %04X %s%s%s%s\n", m->pc, label ? label : "", label ? ": " : "", text,
         m->jammed ? "  (the processor is jammed)" : "");
  for (int i = 0; i < d->watch_count; i++) {
    const int64_t value = vcs_expression_value(&d->watches[i].expression, &moment);
    printf("  %s = %" PRId64 " $%" PRIX64 "\n", d->watches[i].text, value, (uint64_t)value & 0xFFFF);
  }
}

static bool number_of(debugger_t *d, const char *text, int64_t otherwise, int64_t *number) {
  vcs_expression_t expression;
  vcs_error_t error = {""};
  const vcs_moment_t moment = moment_of(d);
  *number = otherwise;
  if (!*text) return true;
  if (vcs_expression_read(text, &d->symbols, &expression, &error)) {
    complain(d, error.message);
    return false;
  }
  *number = vcs_expression_value(&expression, &moment);
  return true;
}

/* ---- Commands: moving --------------------------------------------------------------------------------------- */

static bool report_interrupt(void) {
  if (!vcs_interrupted()) return false;
  vcs_interrupt_clear();
  printf("interrupted\n");
  return true;
}

/* Runs until `arrived`, a breakpoint or Ctrl-C. */
typedef bool (*arrived_t)(const debugger_t *d, int64_t target);

static bool never(const debugger_t *d, int64_t target) { return (void)d, (void)target, false; }
static bool at_frame(const debugger_t *d, int64_t target) { return d->frame >= target; }

static int64_t line_number(const debugger_t *d) { return d->frame * LINES_MAX + vcs_moment_clock(d->m) / LINE_CLOCKS; }
static bool past_line(const debugger_t *d, int64_t target) { return line_number(d) > target; }

static void run_until(debugger_t *d, arrived_t arrived, int64_t target) {
  for (;;) {
    if (!step(d)) {
      if (d->m->jammed) printf("the processor is jammed: it executed a halt opcode\n");
      return;
    }
    if (arrived(d, target)) return;
    const int hit = breakpoint_here(d);
    if (hit >= 0) {
      printf("breakpoint %d: %s\n", hit + 1, d->breaks[hit].text);
      return;
    }
    if (report_interrupt()) return;
  }
}

static void command_step(debugger_t *d, const char *rest) {
  int64_t count;
  if (!number_of(d, rest, 1, &count)) return;
  for (int64_t i = 0; i < count && step(d) && !vcs_interrupted(); i++) {
  }
  report_interrupt();
  show_here(d);
}

static void command_line(debugger_t *d, const char *rest) {
  int64_t count;
  if (!number_of(d, rest, 1, &count)) return;
  for (int64_t i = 0; i < count; i++) run_until(d, past_line, line_number(d));
  show_here(d);
}

static void command_frame(debugger_t *d, const char *rest) {
  int64_t count;
  if (!number_of(d, rest, 1, &count)) return;
  run_until(d, at_frame, d->frame + count);
  show_here(d);
}

static void command_continue(debugger_t *d, const char *rest) {
  (void)rest;
  run_until(d, never, 0);
  show_here(d);
}

/* Goes to the beginning of the previous line, or of this or the previous frame. */
static bool back_line(debugger_t *d) {
  const int64_t line = line_number(d);
  bool moved = false;
  while (line_number(d) >= line && step_back(d)) moved = true;
  const int64_t frame = d->frame, before = line_number(d);
  int first = 0; /* the first instruction on that line */
  const int last = d->instruction;
  for (go(d, frame, 0); d->instruction < last; first = d->instruction) {
    if (line_number(d) >= before || !step(d)) break;
  }
  go(d, frame, first);
  return moved;
}

static bool back_frame(debugger_t *d) {
  if (is_at_the_beginning(d)) return false;
  go(d, d->instruction ? d->frame : d->frame - 1, 0);
  return true;
}

static void command_back(debugger_t *d, const char *rest) {
  static const struct {
    const char *word;
    bool (*back)(debugger_t *d);
  } units[] = {{"line", back_line}, {"frame", back_frame}, {"", step_back}};
  int unit = 0;
  int64_t count;
  while (strncasecmp(rest, units[unit].word, strlen(units[unit].word)) != 0) unit++;
  rest += strlen(units[unit].word);
  rest += strspn(rest, " ");
  if (!number_of(d, rest, 1, &count)) return;
  for (int64_t i = 0; i < count; i++) {
    if (!units[unit].back(d)) {
      printf("this is the beginning of the history\n");
      break;
    }
    if (report_interrupt()) break;
  }
  show_here(d);
}

static void command_reverse(debugger_t *d, const char *rest) {
  (void)rest;
  const bool tracing = d->tracing;
  int limit = d->instruction, found = -1, hit = -1;
  int64_t frame = d->frame;
  d->tracing = false;
  for (;; limit = VCS_FRAME_INSTRUCTIONS + 1) {
    if (limit > 0) {
      go(d, frame, 0);
      while (d->frame == frame && d->instruction < limit) {
        const int here = breakpoint_here(d);
        if (here >= 0 && d->instruction < limit) found = d->instruction, hit = here;
        if (!step(d)) break;
      }
    }
    if (found >= 0 || frame == vcs_history_first(d->past) || report_interrupt()) break;
    frame--;
  }
  go(d, frame, found < 0 ? 0 : found);
  d->tracing = tracing;
  if (found >= 0)
    printf("breakpoint %d: %s\n", hit + 1, d->breaks[hit].text);
  else
    printf("no earlier breakpoint\n");
  show_here(d);
}

/* ---- Commands: stops and watches -------------------------------------------------------------------------------- */

static void command_break(debugger_t *d, const char *rest) {
  vcs_error_t error = {""};
  const vcs_moment_t moment = moment_of(d);
  if (!*rest) {
    for (int i = 0; i < d->break_count; i++) printf("%d: %s\n", i + 1, d->breaks[i].text);
    if (d->break_count == 0) printf("no breakpoints; as in: break pc $F123, break write COLUBK if a == 0\n");
    return;
  }
  if (d->break_count == BREAKS_MAX) return complain(d, "there are 64 breakpoints already; delete one");
  if (vcs_break_read(rest, &d->symbols, &moment, &d->breaks[d->break_count], &error)) return complain(d, error.message);
  printf("breakpoint %d: %s\n", d->break_count + 1, rest);
  d->break_count++;
}

static void command_delete(debugger_t *d, const char *rest) {
  int64_t number;
  if (!number_of(d, rest, 0, &number)) return;
  if (!*rest)
    d->break_count = 0;
  else if (number < 1 || number > d->break_count)
    return complain(d, "there is no breakpoint of that number");
  else {
    d->break_count--;
    memmove(&d->breaks[number - 1], &d->breaks[number], (size_t)(d->break_count - number + 1) * sizeof *d->breaks);
  }
}

static void command_watch(debugger_t *d, const char *rest) {
  vcs_error_t error = {""};
  if (!*rest)
    d->watch_count = 0;
  else if (d->watch_count == WATCHES_MAX)
    return complain(d, "there are 16 watches already; 'watch' alone removes all");
  else {
    watch_t *watch = &d->watches[d->watch_count];
    if (vcs_expression_read(rest, &d->symbols, &watch->expression, &error)) return complain(d, error.message);
    snprintf(watch->text, sizeof watch->text, "%s", rest);
    d->watch_count++;
  }
  show_here(d);
}

/* ---- Commands: looking ------------------------------------------------------------------------------------------- */

static void command_print(debugger_t *d, const char *rest) {
  int64_t value;
  if (!*rest) return complain(d, "print takes an expression: print [$80] + x");
  if (number_of(d, rest, 0, &value)) printf("%" PRId64 " $%" PRIX64 "\n", value, (uint64_t)value & 0xFFFFFFFF);
}

static void command_disassemble(debugger_t *d, const char *rest) {
  vcs_disassembly_t rows[16];
  int64_t at;
  if (!number_of(d, rest, d->m->pc, &at)) return;
  vcs_disassemble_list(d->cart, d->m, &d->symbols, (uint16_t)at, rows, 16);
  for (int i = 0; i < 16; i++) {
    if (*rows[i].label) printf("%s:\n", rows[i].label);
    printf("%s %04X ", rows[i].address == d->m->pc ? ">" : " ", rows[i].address);
    for (int j = 0; j < 3; j++) j < rows[i].length ? printf(" %02X", rows[i].bytes[j]) : printf("   ");
    printf("  %s\n", rows[i].text);
  }
}

static void command_memory(debugger_t *d, const char *rest) {
  int64_t at;
  if (!number_of(d, rest, 0x80, &at)) return;
  for (int row = 0; row < 8; row++) {
    printf("%04X ", (unsigned)(at + 16 * row) & 0xFFFF);
    for (int i = 0; i < 16; i++) printf(" %02X", vcs_peek(d->cart, d->m, (uint16_t)(at + 16 * row + i)));
    putchar('\n');
  }
}

/* Every field of the machine, or those whose name begins with a word. */
static void command_state(debugger_t *d, const char *rest) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (strncasecmp(field->name, rest, strlen(rest)) != 0 || field->count > 128) continue;
    printf("%-16s", field->name);
    for (size_t j = 0; j < field->count; j++) {
      const uint8_t *at = (const uint8_t *)d->m + field->offset + j * field->size;
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

static void command_screenshot(debugger_t *d, const char *rest) {
  vcs_error_t error = {""};
  if (!*rest) return complain(d, "screenshot takes a file: screenshot now.png");
  if (vcs_png_write(rest, vcs_picture(d->m, d->frames), VCS_WIDTH, d->cart->frame_height, d->cart->format, 1, &error)) {
    return complain(d, error.message);
  }
  printf("%s: the picture as far as the beam has drawn it, the frame before below\n", rest);
}

/* ---- Commands: the rest -------------------------------------------------------------------------------------------
 */

/* "hold right,fire": the machine's controls, by the names of inputs; paddles stay where they are. */
static void command_hold(debugger_t *d, const char *rest) {
  vcs_controls_t controls = d->controls;
  char words[LINE_SIZE], *more = words;
  snprintf(words, sizeof words, "%s", rest);
  controls.held[0] = controls.held[1] = controls.console = 0;
  for (char *word = strtok_r(words, ", \t", &more); word; word = strtok_r(NULL, ", \t", &more)) {
    const int input = vcs_input_by_name(word);
    if (input < 0)
      return complain(d, "hold takes up, down, left, right, fire, up2 ... fire2, reset, select, or nothing");
    if (input < VCS_INPUT_SECOND_PLAYER)
      controls.held[0] |= (uint8_t)(1 << input);
    else if (input < VCS_INPUT_RESET)
      controls.held[1] |= (uint8_t)(1 << (input - VCS_INPUT_SECOND_PLAYER));
    else
      controls.console |= (uint8_t)(1 << (input - VCS_INPUT_RESET));
  }
  d->controls = controls;
  vcs_history_cut(d->past, d->frame + 1);
  printf("held from frame %" PRId64 " on: %s\n", vcs_history_end(d->past), *rest ? rest : "nothing");
}

static void command_symbols(debugger_t *d, const char *rest) {
  vcs_error_t error = {""};
  if (vcs_symbols_read(&d->symbols, rest, &error)) return complain(d, error.message);
  printf("%zu symbols\n", d->symbols.count);
}

static void end_trace(debugger_t *d) {
  vcs_error_t error = {""};
  if (!d->tracing) return;
  d->tracing = false;
  vcs_output_text(&d->trace, &d->trace_text);
  if (vcs_output_close(&d->trace, &error)) complain(d, error.message);
}

static void command_trace(debugger_t *d, const char *rest) {
  vcs_error_t error = {""};
  end_trace(d);
  if (!*rest || strcasecmp(rest, "off") == 0) return;
  if (vcs_output_open(&d->trace, rest, &error)) return complain(d, error.message);
  vcs_text_printf(&d->trace_text, "frame,instruction,scanline,clock,cycle,pc,a,x,y,sp,p,disassembly\n");
  d->tracing = true;
}

static void command_quit(debugger_t *d, const char *rest) {
  (void)rest;
  d->quits = true;
}

static void command_help(debugger_t *d, const char *rest);

static const struct {
  const char *name, *brief;
  void (*run)(debugger_t *d, const char *rest);
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

static void command_help(debugger_t *d, const char *rest) {
  (void)d, (void)rest;
  for (int i = 0; i < COMMANDS; i++) printf("  %-11s %-4s %s\n", commands[i].name, commands[i].brief, commands[i].help);
  printf("  an empty line repeats the last command; Ctrl-C stops a run\n");
}

static void execute(debugger_t *d, const char *line) {
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

static void converse(debugger_t *d, FILE *from, bool asks) {
  char line[LINE_SIZE], last[LINE_SIZE] = "";
  while (!d->quits) {
    if (asks) printf("(diffvcs) "), fflush(stdout);
    errno = 0;
    if (!fgets(line, sizeof line, from)) {
      if (!vcs_interrupted()) break;
      vcs_interrupt_clear(); /* Ctrl-C at the prompt: a new one */
      clearerr(from);
      putchar('\n');
      continue;
    }
    line[strcspn(line, "\r\n")] = 0;
    if (line[strspn(line, " \t")] == '#') continue;
    if (line[strspn(line, " \t")]) memcpy(last, line, sizeof last);
    if (*last) execute(d, last);
  }
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static vcs_status_t set_up(debugger_t *d, const vcs_cli_setup_t *choice, const char *symbols, vcs_error_t *error) {
  vcs_status_t status = vcs_rom_open(choice->rom, &choice->rom_options, &d->rom, error);
  if (status == VCS_OK) status = vcs_setup_create(d->rom.cart, &choice->setup, &d->setup, error);
  if (status) return status;
  const vcs_run_t *run = &d->setup.run;
  d->cart = d->rom.cart;
  d->frame = d->setup.frame;
  d->controls = run->controls[0];
  d->m = calloc(1, sizeof *d->m);
  d->frames = calloc(2, VCS_FRAME_BYTES);
  if (!d->m || !d->frames) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  memcpy(d->m, run->start, vcs_state_size(d->cart));
  if (run->picture) memcpy(d->frames, run->picture, (size_t)2 * VCS_FRAME_BYTES);
  status = vcs_history_create(d->cart, d->frame, PAST_INTERVAL, PAST_ROOM, &d->past, error);
  if (status == VCS_OK && symbols) status = vcs_symbols_read(&d->symbols, symbols, error);
  if (status == VCS_OK && !begin_frame(d)) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return status;
}

static void tear_down(debugger_t *d) {
  end_trace(d);
  vcs_text_free(&d->trace_text);
  vcs_history_free(d->past);
  vcs_symbols_free(&d->symbols);
  free(d->m);
  free(d->frames);
  vcs_setup_free(&d->setup);
  vcs_rom_free(&d->rom);
}

int vcs_cli_debug(int argc, char **argv) {
  vcs_cli_setup_t choice = {.setup = {.frame = -1, .horizon = 1}};
  const char *symbols = NULL, *script = NULL;
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &choice.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frame", &choice.setup.frame, -1, 100000000, "frames to play first; -1: all --actions, or none"),
      VCS_ARG_INTEGER("seed", &choice.setup.seed, 0, INT64_MAX, "actions from the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &choice.setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4"),
      VCS_ARG_TEXT("symbols", &symbols, "FILE", "names from a symbol file of dasm -s"),
      VCS_ARG_TEXT("commands", &script, "FILE", "commands to do first, one a line"),
      VCS_ARGS_CART(&choice.rom_options),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "A debugger: steps by instruction, scan line and frame, forwards and backwards, to breakpoints on addresses,\n"
      "memory and register accesses, beam positions and conditions. Commands are read from the terminal or a pipe;\n"
      "'help' lists them. The exit status is 1 if a command that came through a pipe or a file was not "
      "understood." VCS_ROMS_NOTE,
      "diffvcs debug pong --frame 300\n"
      "diffvcs debug demo --symbols demo.sym --frame 60\n"
      "printf 'break write COLUBK if scanline > 100\\ncontinue\\nback 3\\n' | diffvcs debug demo\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  static debugger_t d;
  vcs_error_t error = {""};
  FILE *from = NULL;
  if (set_up(&d, &choice, symbols, &error)) {
    exit_code = vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  } else if (script && !(from = fopen(script, "r"))) {
    exit_code = vcs_cli_complain(command, VCS_EXIT_USAGE, "%s: %s", script, strerror(errno));
  } else {
    const bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    vcs_interrupt_catch();
    show_here(&d);
    if (from) converse(&d, from, false);
    converse(&d, stdin, asks);
    exit_code = d.failed && !asks ? VCS_EXIT_FAILED : VCS_EXIT_OK;
  }
  if (from) fclose(from);
  tear_down(&d);
  return exit_code;
}
