/* breakpoint.c: where the debugger stops (breakpoint.h). */
#include "study/breakpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/state.h"
#include "host/files.h"

enum { LINE_CLOCKS = 228, BLANK_CLOCKS = 68 };

static const char *const kinds[] = {"pc", "cycle", "scanline", "pixel", "read", "write", "access", "if"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- Accesses ---------------------------------------------------------------------------------------------- */

static bool touches(const vcs_moment_t *moment, int32_t address, bool reads, bool writes) {
  const vcs_accesses_t accesses = vcs_next_accesses(moment->cart, moment->m);
  for (int i = 0; i < accesses.count; i++) {
    const bool writing = accesses.writes[i];
    if (!(writing ? writes : reads)) continue;
    if (accesses.address[i] == vcs_address_plain((uint16_t)address, writing)) return true;
  }
  return false;
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

static vcs_status_t read_place(const char *text, const vcs_symbols_t *symbols, const vcs_moment_t *moment,
                               vcs_break_t *breakpoint, vcs_error_t *error) {
  vcs_expression_t expression;
  char *comma = breakpoint->kind == VCS_BREAK_PIXEL ? strchr(text, ',') : NULL;
  if (breakpoint->kind == VCS_BREAK_PIXEL) {
    unsigned x, y;
    char more;
    if (!comma || sscanf(text, "%9u,%9u%c", &x, &y, &more) != 2 || x >= VCS_WIDTH || y >= 320) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "break pixel takes a column and a row, as in: break pixel 80,100");
    }
    breakpoint->at = (moment->cart->top_line + (int32_t)y) * LINE_CLOCKS + BLANK_CLOCKS + (int32_t)x;
    return VCS_OK;
  }
  const vcs_status_t status = vcs_expression_read(text, symbols, &expression, error);
  if (status) return status;
  const int64_t value = vcs_expression_value(&expression, moment);
  const int32_t clocks = breakpoint->kind == VCS_BREAK_SCANLINE ? LINE_CLOCKS : 1;
  const bool in_time = breakpoint->kind == VCS_BREAK_SCANLINE || breakpoint->kind == VCS_BREAK_CYCLE;
  const int32_t most = in_time ? (1 << 24) / clocks : UINT16_MAX; /* or the address of an access or an instruction */
  if (value < 0 || value > most) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%s is %" PRId64 ", but goes from 0 to %" PRId32,
                          kinds[breakpoint->kind], value, most);
  }
  breakpoint->at = (int32_t)value * clocks;
  return VCS_OK;
}

/* KIND [PLACE] [if CONDITION] */
vcs_status_t vcs_break_read(const char *text, const vcs_symbols_t *symbols, const vcs_moment_t *moment,
                            vcs_break_t *breakpoint, vcs_error_t *error) {
  char word[16] = "", place[sizeof breakpoint->text];
  int length = 0, kind = 0;
  *breakpoint = (vcs_break_t){.conditional = false};
  snprintf(breakpoint->text, sizeof breakpoint->text, "%s", text);
  sscanf(text, "%15s%n", word, &length);
  while (kind < KINDS && strcasecmp(word, kinds[kind]) != 0) kind++;
  if (kind == KINDS || strlen(text) >= sizeof place) {
    return vcs_error_fill(
        error, VCS_BAD_ARGUMENT,
        "break takes pc, cycle, scanline, pixel, read, write, access or if, and where: break pc $F123");
  }
  breakpoint->kind = (vcs_break_kind_t)kind;
  strcpy(place, text + length);
  char *condition = kind == VCS_BREAK_IF ? place : strstr(place, " if ");
  if (condition) {
    const vcs_status_t status =
        vcs_expression_read(condition + (kind == VCS_BREAK_IF ? 0 : 4), symbols, &breakpoint->condition, error);
    if (status) return status;
    breakpoint->conditional = true;
    *condition = 0;
  }
  return kind == VCS_BREAK_IF ? VCS_OK : read_place(place, symbols, moment, breakpoint, error);
}

/* ---- Stopping ------------------------------------------------------------------------------------------------ */

static bool place_met(const vcs_break_t *breakpoint, const vcs_moment_t *moment, int32_t before) {
  const int32_t at = breakpoint->at;
  switch (breakpoint->kind) {
    case VCS_BREAK_PC:
      return moment->m->pc == at || (moment->m->pc & 0x1FFF) == (at & 0x1FFF);
    case VCS_BREAK_CYCLE:
      return (int32_t)moment->m->cycles >= at && before < 3 * at - moment->m->frame_clock;
    case VCS_BREAK_SCANLINE:
    case VCS_BREAK_PIXEL:
      return vcs_moment_clock(moment->m) >= at && before < at;
    case VCS_BREAK_READ:
      return touches(moment, at, true, false);
    case VCS_BREAK_WRITE:
      return touches(moment, at, false, true);
    case VCS_BREAK_ACCESS:
      return touches(moment, at, true, true);
    default:
      return true;
  }
}

bool vcs_break_met(const vcs_break_t *breakpoint, const vcs_moment_t *moment, int32_t before) {
  return place_met(breakpoint, moment, before) &&
         (!breakpoint->conditional || vcs_expression_value(&breakpoint->condition, moment));
}
