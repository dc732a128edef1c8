/* debugger.c: a machine that moves by instruction, scan line and frame, forwards and backwards (study.h).
 *
 * The position is a frame and an instruction count within it. A step forwards is vcs_step. A step backwards restores
 * the machine at the beginning of the frame from its history (vcs_history_t) and runs up to the instruction before; the
 * state is the same to the bit. Running backwards to a breakpoint searches for the last stop of the frame, then of the
 * frame before, and so on.
 *
 * Frames that the history has are repeated with the controls they had. A new frame takes the controls held now.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "study/breakpoint.h"
#include "study/internal.h"

enum { LINE_CLOCKS = 228, LINES_MAX = 100000, HISTORY_INTERVAL = 20, HISTORY_ROOM = 600, REPORT_INTERVAL = 1024 };

struct vcs_debugger {
  const vcs_cart_t *cart;
  vcs_t *m;
  uint8_t *frames;
  vcs_history_t *history;
  int64_t frame;           /* the one that runs: a frame begins as soon as the one before has ended */
  int32_t instruction;     /* executed in it */
  int32_t before;          /* clock at which the last instruction of the frame began; -1: none */
  vcs_controls_t controls; /* of new frames */
  vcs_symbols_t symbols;
  vcs_break_t *breaks;
  int32_t break_count, break_room;
  vcs_debugger_watch_t watch;
  void *watch_context;
  vcs_report_t report;
  uint64_t moved; /* instructions executed by the present move */
  bool cancelled;
  vcs_status_t status; /* of the present move: beginning a frame can run out of memory */
  vcs_error_t *error;
};

/* ---- Life --------------------------------------------------------------------------------------------------- */

static bool begin_frame(vcs_debugger_t *d) {
  d->instruction = 0;
  d->before = -1;
  if (d->frame == vcs_history_end(d->history)) {
    d->status = vcs_history_add(d->history, d->m, d->frames, &d->controls, d->error);
    if (d->status) return false;
  }
  vcs_control(d->cart, d->m, vcs_history_controls(d->history, d->frame));
  vcs_frame_begin(d->cart, d->m);
  return true;
}

vcs_status_t vcs_debugger_create(const vcs_cart_t *cart, const vcs_t *start, const uint8_t *picture,
                                 const vcs_controls_t *controls, int64_t frame, vcs_debugger_t **debugger,
                                 vcs_error_t *error) {
  vcs_debugger_t *d = calloc(1, sizeof *d);
  *debugger = NULL;
  if (!d) return vcs_no_memory(error);
  *d = (vcs_debugger_t){.cart = cart, .frame = frame, .controls = *controls, .error = error};
  d->m = calloc(1, sizeof *d->m);
  d->frames = calloc(2, VCS_FRAME_BYTES);
  d->status = d->m && d->frames ? vcs_history_create(cart, frame, HISTORY_INTERVAL, HISTORY_ROOM, &d->history, error)
                                : vcs_no_memory(error);
  if (d->status == VCS_OK) {
    memcpy(d->m, start, vcs_state_size(cart));
    if (picture) memcpy(d->frames, picture, (size_t)2 * VCS_FRAME_BYTES);
    begin_frame(d);
  }
  const vcs_status_t status = d->status;
  if (status)
    vcs_debugger_free(d);
  else
    *debugger = d;
  return status;
}

void vcs_debugger_free(vcs_debugger_t *debugger) {
  if (!debugger) return;
  vcs_history_free(debugger->history);
  vcs_symbols_free(&debugger->symbols);
  free(debugger->breaks);
  free(debugger->m);
  free(debugger->frames);
  free(debugger);
}

const vcs_t *vcs_debugger_machine(const vcs_debugger_t *debugger) { return debugger->m; }

const uint8_t *vcs_debugger_frames(const vcs_debugger_t *debugger) { return debugger->frames; }

void vcs_debugger_position(const vcs_debugger_t *debugger, vcs_position_t *position) {
  const int32_t clock = vcs_moment_clock(debugger->m);
  *position = (vcs_position_t){.frame = debugger->frame,
                               .instruction = debugger->instruction,
                               .scanline = clock / LINE_CLOCKS,
                               .clock = clock % LINE_CLOCKS};
}

void vcs_debugger_watch(vcs_debugger_t *debugger, vcs_debugger_watch_t watch, void *context) {
  debugger->watch = watch;
  debugger->watch_context = context;
}

void vcs_debugger_report(vcs_debugger_t *debugger, const vcs_report_t *report) {
  debugger->report = report ? *report : (vcs_report_t){0};
}

/* ---- Steps -------------------------------------------------------------------------------------------------- */

static bool is_cancelled(vcs_debugger_t *d) {
  if (d->report.report && d->moved % REPORT_INTERVAL == 0 && !d->cancelled) {
    d->cancelled = d->report.report(d->report.context, "running", d->moved, 0) != 0;
  }
  return d->cancelled;
}

/* Executes one instruction. False: the processor is jammed, or memory has run out. */
static bool step(vcs_debugger_t *d) {
  vcs_step_t done;
  if (d->m->jammed) return false;
  d->before = vcs_moment_clock(d->m);
  vcs_step(d->cart, d->m, d->frames, &done);
  d->instruction++;
  d->moved++;
  if (!done.frame_over && !done.jammed && d->instruction < VCS_FRAME_INSTRUCTIONS) return true;
  vcs_frame_end(d->cart, d->m, d->frames);
  d->frame++;
  return begin_frame(d);
}

/* The same, and shows the watching function the machine before it. */
static bool step_watched(vcs_debugger_t *d) {
  if (d->watch && !d->m->jammed) d->watch(d->watch_context, d);
  return step(d);
}

/* Goes to a position in the history. */
static void go(vcs_debugger_t *d, int64_t frame, int32_t instruction) {
  vcs_history_go(d->history, frame, d->m, d->frames);
  d->frame = frame;
  begin_frame(d);
  while (d->frame == frame && d->instruction < instruction && step(d)) {
  }
}

static bool is_at_the_beginning(const vcs_debugger_t *d) {
  return d->instruction == 0 && d->frame == vcs_history_first(d->history);
}

/* Counts the instructions of a frame in the history; leaves the debugger after it. */
static int32_t frame_length(vcs_debugger_t *d, int64_t frame) {
  int32_t length = 0;
  go(d, frame, 0);
  while (d->frame == frame && step(d)) length++;
  return length;
}

/* Goes back by `count` instructions, or to the beginning of the history, and returns how many it went. */
static int64_t back_steps(vcs_debugger_t *d, int64_t count) {
  int64_t left = count, frame = d->frame;
  int32_t instruction = d->instruction;
  while (left > instruction && frame > vcs_history_first(d->history)) {
    left -= instruction;
    instruction = frame_length(d, --frame);
  }
  const int64_t gone = left < instruction ? left : instruction;
  if (gone || frame != d->frame) go(d, frame, instruction - (int32_t)gone);
  return count - (left - gone);
}

static int64_t line_number(const vcs_debugger_t *d) {
  return d->frame * LINES_MAX + vcs_moment_clock(d->m) / LINE_CLOCKS;
}

/* ---- Moves -------------------------------------------------------------------------------------------------- */

static int32_t breakpoint_here(const vcs_debugger_t *d) {
  const vcs_moment_t moment = {d->cart, d->m, d->frame};
  for (int32_t i = 0; i < d->break_count; i++) {
    if (vcs_break_met(&d->breaks[i], &moment, d->before)) return i + 1;
  }
  return 0;
}

/* Runs to the next line after `line` or to the frame `frame`, or to a breakpoint. */
static vcs_stop_t run_until(vcs_debugger_t *d, int64_t line, int64_t frame) {
  for (;;) {
    if (!step_watched(d)) return (vcs_stop_t){.reason = VCS_STOP_JAMMED};
    const int32_t breakpoint = breakpoint_here(d);
    if (breakpoint) return (vcs_stop_t){VCS_STOP_BREAKPOINT, breakpoint};
    if (line_number(d) > line || d->frame >= frame) return (vcs_stop_t){.reason = VCS_STOP_ARRIVED};
    if (is_cancelled(d)) return (vcs_stop_t){.reason = VCS_STOP_CANCELLED};
  }
}

static vcs_stop_t forward_steps(vcs_debugger_t *d, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (is_cancelled(d)) return (vcs_stop_t){.reason = VCS_STOP_CANCELLED};
    if (!step_watched(d)) return (vcs_stop_t){.reason = VCS_STOP_JAMMED};
  }
  return (vcs_stop_t){.reason = VCS_STOP_ARRIVED};
}

static vcs_stop_t forward_lines(vcs_debugger_t *d, int64_t count) {
  vcs_stop_t stop = {.reason = VCS_STOP_ARRIVED};
  for (int64_t i = 0; i < count && stop.reason == VCS_STOP_ARRIVED; i++) {
    stop = run_until(d, line_number(d), INT64_MAX);
  }
  return stop;
}

/* The number of the frame `count` frames ahead. */
static int64_t frame_ahead(const vcs_debugger_t *d, int64_t count) {
  return count < INT64_MAX - d->frame ? d->frame + count : INT64_MAX;
}

/* Goes to the beginning of the previous line, or of this or the previous frame. */
static bool back_line(vcs_debugger_t *d) {
  const int64_t line = line_number(d);
  bool moved = false;
  while (line_number(d) >= line && back_steps(d, 1)) moved = true;
  const int64_t frame = d->frame, before = line_number(d);
  int32_t first = 0; /* the first instruction on that line */
  const int32_t last = d->instruction;
  for (go(d, frame, 0); d->instruction < last; first = d->instruction) {
    if (line_number(d) >= before || !step(d)) break;
  }
  go(d, frame, first);
  return moved;
}

static bool back_frame(vcs_debugger_t *d) {
  if (is_at_the_beginning(d)) return false;
  go(d, d->instruction ? d->frame : d->frame - 1, 0);
  return true;
}

static vcs_stop_t back(vcs_debugger_t *d, bool (*unit)(vcs_debugger_t *d), int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (!unit(d)) return (vcs_stop_t){.reason = VCS_STOP_BEGINNING};
    if (d->report.report && d->report.report(d->report.context, "running", d->moved, 0)) {
      return (vcs_stop_t){.reason = VCS_STOP_CANCELLED};
    }
  }
  return (vcs_stop_t){.reason = VCS_STOP_ARRIVED};
}

static vcs_stop_t reverse(vcs_debugger_t *d) {
  int32_t limit = d->instruction, found = -1;
  int64_t frame = d->frame;
  vcs_stop_t stop = {.reason = VCS_STOP_BEGINNING};
  for (;; limit = VCS_FRAME_INSTRUCTIONS + 1) {
    if (limit > 0) {
      go(d, frame, 0);
      while (d->frame == frame && d->instruction < limit) {
        const int32_t breakpoint = breakpoint_here(d);
        if (breakpoint) {
          found = d->instruction;
          stop = (vcs_stop_t){VCS_STOP_BREAKPOINT, breakpoint};
        }
        if (!step(d)) break;
      }
    }
    if (found >= 0 || frame == vcs_history_first(d->history)) break;
    if (d->report.report && d->report.report(d->report.context, "running", d->moved, 0)) {
      stop.reason = VCS_STOP_CANCELLED;
      break;
    }
    frame--;
  }
  go(d, frame, found < 0 ? 0 : found);
  return stop;
}

static vcs_stop_t move(vcs_debugger_t *d, vcs_move_t how, int64_t count) {
  switch (how) {
    case VCS_MOVE_STEP:
      return forward_steps(d, count);
    case VCS_MOVE_LINE:
      return forward_lines(d, count);
    case VCS_MOVE_FRAME:
      return run_until(d, INT64_MAX, frame_ahead(d, count));
    case VCS_MOVE_BACK_STEP:
      return (vcs_stop_t){.reason = back_steps(d, count) < count ? VCS_STOP_BEGINNING : VCS_STOP_ARRIVED};
    case VCS_MOVE_BACK_LINE:
      return back(d, back_line, count);
    case VCS_MOVE_BACK_FRAME:
      return back(d, back_frame, count);
    default:
      return reverse(d);
  }
}

vcs_status_t vcs_debugger_move(vcs_debugger_t *debugger, vcs_move_t how, int64_t count, vcs_stop_t *stop,
                               vcs_error_t *error) {
  if ((int)how < 0 || how > VCS_MOVE_REVERSE) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no such move");
  debugger->status = VCS_OK;
  debugger->error = error;
  debugger->moved = 0;
  debugger->cancelled = false;
  *stop = count > 0 || how == VCS_MOVE_REVERSE ? move(debugger, how, count) : (vcs_stop_t){.reason = VCS_STOP_ARRIVED};
  debugger->error = NULL;
  return debugger->status;
}

/* ---- Controls, breakpoints, values -------------------------------------------------------------------------- */

int64_t vcs_debugger_hold(vcs_debugger_t *debugger, const vcs_controls_t *controls) {
  debugger->controls = *controls;
  vcs_history_cut(debugger->history, debugger->frame + 1);
  return vcs_history_end(debugger->history);
}

const vcs_controls_t *vcs_debugger_controls(const vcs_debugger_t *debugger) { return &debugger->controls; }

vcs_status_t vcs_debugger_read_symbols(vcs_debugger_t *debugger, const char *path, int32_t *count, vcs_error_t *error) {
  const vcs_status_t status = vcs_symbols_read(&debugger->symbols, path, error);
  if (count) *count = (int32_t)debugger->symbols.count;
  return status;
}

vcs_status_t vcs_debugger_break(vcs_debugger_t *debugger, const char *text, vcs_error_t *error) {
  const vcs_moment_t moment = {debugger->cart, debugger->m, debugger->frame};
  if (debugger->break_count == debugger->break_room) {
    const int32_t room = 2 * debugger->break_room + 8;
    vcs_break_t *grown = realloc(debugger->breaks, (size_t)room * sizeof *grown);
    if (!grown) return vcs_no_memory(error);
    debugger->breaks = grown;
    debugger->break_room = room;
  }
  const vcs_status_t status =
      vcs_break_read(text, &debugger->symbols, &moment, &debugger->breaks[debugger->break_count], error);
  if (status == VCS_OK) debugger->break_count++;
  return status;
}

const char *vcs_debugger_breakpoint(const vcs_debugger_t *debugger, int32_t number) {
  return number >= 1 && number <= debugger->break_count ? debugger->breaks[number - 1].text : NULL;
}

vcs_status_t vcs_debugger_delete(vcs_debugger_t *debugger, int32_t number, vcs_error_t *error) {
  if (number < 1 || number > debugger->break_count) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no breakpoint %d", (int)number);
  }
  debugger->break_count--;
  memmove(&debugger->breaks[number - 1], &debugger->breaks[number],
          (size_t)(debugger->break_count - number + 1) * sizeof *debugger->breaks);
  return VCS_OK;
}

vcs_status_t vcs_debugger_value(const vcs_debugger_t *debugger, const char *text, int64_t *value, vcs_error_t *error) {
  const vcs_moment_t moment = {debugger->cart, debugger->m, debugger->frame};
  vcs_expression_t expression;
  const vcs_status_t status = vcs_expression_read(text, &debugger->symbols, &expression, error);
  if (status == VCS_OK) *value = vcs_expression_value(&expression, &moment);
  return status;
}

void vcs_debugger_disassemble(const vcs_debugger_t *debugger, uint16_t address, vcs_disassembly_t *rows,
                              int32_t count) {
  vcs_disassemble_list(debugger->cart, debugger->m, &debugger->symbols, address, rows, count);
}
