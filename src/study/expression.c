/* expression.c: conditions and values of the debugger (expression.h): precedence climbing into a stack program. */
#include "study/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/state.h"
#include "host/files.h"

enum { LINE_CLOCKS = 228 };

/* Steps: a number, a name, a byte of memory, a unary or a binary operator. */
enum { NUMBER, NAME, MEMORY, NOT, COMPLEMENT, MINUS, BINARY };

static const char *const names[] = {"a", "x", "y", "sp", "p", "pc", "cycle", "scanline", "clock", "frame"};
enum { A, X, Y, SP, P, PC, CYCLE, SCANLINE, CLOCK, FRAME, NAMES };

/* Operators and their precedences. Where one operator begins with another, the longer one comes first. */
static const struct {
  const char *text;
  int rank;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"|", 3},
                 {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
enum {
  OR,
  AND,
  EQUAL,
  UNEQUAL,
  LEFT,
  RIGHT,
  MOST,
  LEAST,
  BIT_OR,
  BIT_XOR,
  BIT_AND,
  LESS,
  MORE,
  PLUS,
  LESSEN,
  TIMES,
  OVER,
  REST
};
enum { OPERATORS = sizeof operators / sizeof *operators, NESTING_MAX = 32 };

int32_t vcs_moment_clock(const vcs_t *m) { return (int32_t)(m->cycles * 3 - (uint32_t)m->frame_clock); }

/* ---- Reading ------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *at;
  const vcs_symbols_t *symbols;
  vcs_expression_t *expression;
  vcs_error_t *error;
  int nesting;
} reader_t;

static bool refuse(reader_t *reader, const char *why) {
  vcs_error_fill(reader->error, VCS_BAD_ARGUMENT, "%s at '%.40s'", why, reader->at);
  return false;
}

static bool emit(reader_t *reader, int kind, int32_t value) {
  if (reader->expression->count == VCS_EXPRESSION_STEPS) return refuse(reader, "the expression is too long");
  reader->expression->steps[reader->expression->count++] = (vcs_expression_step_t){(uint8_t)kind, value};
  return true;
}

static void skip_blanks(reader_t *reader) { reader->at += strspn(reader->at, " \t"); }

static bool take(reader_t *reader, char symbol) {
  skip_blanks(reader);
  if (*reader->at != symbol) return false;
  reader->at++;
  return true;
}

static bool read_ranked(reader_t *reader, int rank);

static bool read_number(reader_t *reader, int base) {
  char *end = NULL;
  if (!isalnum((unsigned char)*reader->at)) return refuse(reader, "no number");
  const unsigned long value = strtoul(reader->at, &end, base);
  if (end == reader->at) return refuse(reader, "no number");
  if (value > INT32_MAX) return refuse(reader, "a number above 2147483647");
  reader->at = end;
  return emit(reader, NUMBER, (int32_t)value);
}

static bool read_name(reader_t *reader) {
  size_t length = 0;
  while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_' || reader->at[length] == '.') length++;
  for (int i = 0; i < NAMES; i++) {
    if (strlen(names[i]) == length && strncasecmp(names[i], reader->at, length) == 0) {
      reader->at += length;
      return emit(reader, NAME, i);
    }
  }
  const int32_t address = length ? vcs_symbol_address(reader->symbols, reader->at, length) : -1;
  if (address < 0) return refuse(reader, "no number, register or symbol");
  reader->at += length;
  return emit(reader, NUMBER, address);
}

static bool read_operand(reader_t *reader) {
  static const struct {
    char text;
    int kind;
  } prefixes[] = {{'!', NOT}, {'~', COMPLEMENT}, {'-', MINUS}};
  if (reader->nesting == NESTING_MAX) return refuse(reader, "too deeply nested");
  for (int i = 0; i < 3; i++) {
    if (!take(reader, prefixes[i].text)) continue;
    reader->nesting++;
    const bool done = read_operand(reader) && emit(reader, prefixes[i].kind, 0);
    reader->nesting--;
    return done;
  }
  for (int i = 0; i < 2; i++) {
    if (!take(reader, "[("[i])) continue;
    reader->nesting++;
    if (!read_ranked(reader, 1)) return false;
    reader->nesting--;
    if (!take(reader, "])"[i])) return refuse(reader, i ? "a ) is missing" : "a ] is missing");
    return i ? true : emit(reader, MEMORY, 0);
  }
  if (take(reader, '$')) return read_number(reader, 16);
  if (take(reader, '%')) return read_number(reader, 2);
  if (isdigit((unsigned char)*reader->at)) return read_number(reader, 10);
  return read_name(reader);
}

static bool read_ranked(reader_t *reader, int rank) {
  if (!read_operand(reader)) return false;
  for (;;) {
    int i = 0;
    skip_blanks(reader);
    while (i < OPERATORS && strncmp(operators[i].text, reader->at, strlen(operators[i].text)) != 0) i++;
    if (i == OPERATORS || operators[i].rank < rank) return true;
    reader->at += strlen(operators[i].text);
    if (!read_ranked(reader, operators[i].rank + 1) || !emit(reader, BINARY, i)) return false;
  }
}

vcs_status_t vcs_expression_read(const char *text, const vcs_symbols_t *symbols, vcs_expression_t *expression,
                                 vcs_error_t *error) {
  reader_t reader = {text, symbols, expression, error, 0};
  expression->count = 0;
  if (!read_ranked(&reader, 1)) return VCS_BAD_ARGUMENT;
  skip_blanks(&reader);
  return *reader.at ? (refuse(&reader, "no operator"), VCS_BAD_ARGUMENT) : VCS_OK;
}

/* ---- Computing ---------------------------------------------------------------------------------------------- */

static int64_t named(int name, const vcs_moment_t *moment) {
  const vcs_t *m = moment->m;
  switch (name) {
    case A:
      return m->a;
    case X:
      return m->x;
    case Y:
      return m->y;
    case SP:
      return m->sp;
    case P:
      return m->p;
    case PC:
      return m->pc;
    case CYCLE:
      return m->cycles;
    case SCANLINE:
      return vcs_moment_clock(m) / LINE_CLOCKS;
    case CLOCK:
      return vcs_moment_clock(m) % LINE_CLOCKS;
    default:
      return moment->frame;
  }
}

/* Numbers have 64 bits and wrap; a division by 0 and a shift by more than 63 give 0. */
static int64_t joined(int operator, int64_t a, int64_t b) {
  const uint64_t left = (uint64_t)a, right = (uint64_t)b;
  switch (operator) {
    case OR:
      return a || b;
    case AND:
      return a && b;
    case EQUAL:
      return a == b;
    case UNEQUAL:
      return a != b;
    case LEFT:
      return right < 64 ? (int64_t)(left << right) : 0;
    case RIGHT:
      return right < 64 ? (int64_t)(left >> right) : 0;
    case MOST:
      return a <= b;
    case LEAST:
      return a >= b;
    case BIT_OR:
      return (int64_t)(left | right);
    case BIT_XOR:
      return (int64_t)(left ^ right);
    case BIT_AND:
      return (int64_t)(left & right);
    case LESS:
      return a < b;
    case MORE:
      return a > b;
    case PLUS:
      return (int64_t)(left + right);
    case LESSEN:
      return (int64_t)(left - right);
    case TIMES:
      return (int64_t)(left * right);
    case OVER:
      return b == 0 ? 0 : b == -1 ? (int64_t)(0 - left) : a / b;
    default:
      return b == 0 || b == -1 ? 0 : a % b;
  }
}

int64_t vcs_expression_value(const vcs_expression_t *expression, const vcs_moment_t *moment) {
  int64_t stack[VCS_EXPRESSION_STEPS + 1] = {0};
  int top = 0; /* the stack's first value is stack[1] */
  for (int i = 0; i < expression->count; i++) {
    const vcs_expression_step_t step = expression->steps[i];
    switch (step.kind) {
      case NUMBER:
        stack[++top] = step.value;
        break;
      case NAME:
        stack[++top] = named(step.value, moment);
        break;
      case MEMORY:
        stack[top] = vcs_peek(moment->cart, moment->m, (uint16_t)stack[top]);
        break;
      case NOT:
        stack[top] = !stack[top];
        break;
      case COMPLEMENT:
        stack[top] = ~stack[top];
        break;
      case MINUS:
        stack[top] = (int64_t)(0 - (uint64_t)stack[top]);
        break;
      default:
        top--;
        stack[top] = joined(step.value, stack[top], stack[top + 1]);
        break;
    }
  }
  return stack[top];
}
