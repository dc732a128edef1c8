/* game_rules.c: the compiler of rule programs.
 *
 * Recursive descent, one function a level of precedence, straight into bytecode; the language is described in
 * game_rules.h. The compiler keeps count of the stack, so that the machine that runs the code need not check it. It
 * runs once a program and allocates nothing.
 */
#include "game_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *text, *at;
  vcs_rule_kind_t kind;
  vcs_rule_t *out;
  vcs_error_t *error;
  int depth; /* of the stack, here */
  bool in_fold, failed;
  uint32_t assigned; /* bit per variable */
  bool lives_kept;
} compiler_t;

typedef struct {
  const char *name;
  uint8_t value;
} name_t;

static const name_t variables[] = {
    {"score", VCS_VAR_SCORE}, {"reward", VCS_VAR_REWARD}, {"lives", VCS_VAR_LIVES}, {"lives_kept", VCS_VAR_LIVES},
    {"over", VCS_VAR_OVER},   {"m0", VCS_VAR_M0},         {"m1", VCS_VAR_M1},       {"m2", VCS_VAR_M2},
    {"m3", VCS_VAR_M3},       {"was", VCS_VAR_WAS},       {"gain", VCS_VAR_GAIN},   {"x", VCS_VAR_X},
    {"y", VCS_VAR_Y},         {"z", VCS_VAR_Z},           {"w", VCS_VAR_W},         {"m", VCS_VAR_MODE},
    {"it", VCS_VAR_IT},       {"p", VCS_VAR_M3},
};

static const name_t actions[] = {
    {"NOOP", 0}, {"FIRE", 1},    {"UP", 2},         {"RIGHT", 3},     {"LEFT", 4},
    {"DOWN", 5}, {"UPFIRE", 10}, {"RIGHTFIRE", 11}, {"LEFTFIRE", 12}, {"DOWNFIRE", 13},
};

/* Binary operators by precedence, loosest first; a longer spelling stands before its prefix. */
typedef struct {
  const char *spelling;
  uint8_t level, op;
} operator_t;

static const operator_t operators[] = {
    {"||", 0, VCS_RULE_LOR}, {"&&", 1, VCS_RULE_LAND}, {"|", 2, VCS_RULE_OR},   {"&", 3, VCS_RULE_AND},
    {"==", 4, VCS_RULE_EQ},  {"!=", 4, VCS_RULE_NE},   {"<<", 6, VCS_RULE_SHL}, {">>", 6, VCS_RULE_SHR},
    {"<=", 5, VCS_RULE_LE},  {">=", 5, VCS_RULE_GE},   {"<", 5, VCS_RULE_LT},   {">", 5, VCS_RULE_GT},
    {"+", 7, VCS_RULE_ADD},  {"-", 7, VCS_RULE_SUB},   {"*", 8, VCS_RULE_MUL},  {"/", 8, VCS_RULE_DIV},
    {"%", 8, VCS_RULE_MOD},
};
enum { LEVELS = 9 };

static void expression(compiler_t *c);
static void program(compiler_t *c, char end);

static void fail(compiler_t *c, const char *what) {
  if (c->failed) return;
  c->failed = true;
  if (c->error) {
    snprintf(c->error->message, sizeof c->error->message, "rule: %s at \"%.40s\" (character %d)", what, c->at,
             (int)(c->at - c->text));
  }
}

/* ---- Words -------------------------------------------------------------------------------------------------- */

static void skip_blanks(compiler_t *c) {
  while (*c->at == ' ' || *c->at == '\n') c->at++;
}

static bool accept(compiler_t *c, const char *spelling) {
  skip_blanks(c);
  const size_t n = strlen(spelling);
  if (strncmp(c->at, spelling, n) != 0) return false;
  c->at += n;
  return true;
}

static void expect(compiler_t *c, const char *spelling) {
  char what[32];
  if (c->failed || accept(c, spelling)) return;
  snprintf(what, sizeof what, "'%s' expected", spelling);
  fail(c, what);
}

/* Takes an identifier; an empty word when there is none. */
static void take_word(compiler_t *c, char word[16]) {
  size_t n = 0;
  skip_blanks(c);
  if (isalpha((unsigned char)*c->at)) {
    while (n < 15 && (isalnum((unsigned char)*c->at) || *c->at == '_')) word[n++] = *c->at++;
  }
  word[n] = 0;
}

static int find_name(const name_t *names, size_t count, const char *word) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(names[i].name, word) == 0) return names[i].value;
  }
  return -1;
}
#define FIND_NAME(names, word) find_name(names, sizeof(names) / sizeof *(names), word)

static int hex_digit(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
  return -1;
}

/* Two hex digits name a byte of RAM, four a byte of cartridge RAM. */
static uint8_t take_address(compiler_t *c) {
  int value = 0, digits = 0;
  skip_blanks(c);
  for (; digits < 4 && hex_digit(*c->at) >= 0; digits++) value = value << 4 | hex_digit(*c->at++);
  if (digits == 2 && value >= 0x80) return (uint8_t)(value & 0x7F);
  if (digits == 4) return (uint8_t)(value | 0x80);
  fail(c, "an address is 80 to FF, or has four digits");
  return 0;
}

/* ---- Code --------------------------------------------------------------------------------------------------- */

static void emit(compiler_t *c, int byte) {
  if (c->out->length >= VCS_RULE_BYTES) {
    fail(c, "program too long");
    return;
  }
  c->out->code[c->out->length++] = (uint8_t)byte;
}

/* An operation, and what it does to the depth of the stack. */
static void emit_op(compiler_t *c, vcs_rule_op_t op, int change) {
  emit(c, op);
  c->depth += change;
  if (c->depth > VCS_RULE_STACK) fail(c, "expression too deep");
}

static void emit_constant(compiler_t *c, uint32_t value) {
  if (value < 256) {
    emit_op(c, VCS_RULE_CONST8, 1);
    emit(c, (int)value);
  } else {
    emit_op(c, VCS_RULE_CONST32, 1);
    for (int i = 0; i < 4; i++) emit(c, (int)(value >> 8 * i & 0xFF));
  }
}

static void emit_variable(compiler_t *c, vcs_rule_op_t op, int variable) {
  emit_op(c, op, op == VCS_RULE_GET ? 1 : -1);
  emit(c, variable);
}

/* ---- Expressions -------------------------------------------------------------------------------------------- */

static void refuse_without_ram(compiler_t *c) {
  if (c->kind == VCS_RULE_FOR_START) fail(c, "no RAM before the first frame");
}

/* ( A, B ), after the word. */
static void bcd(compiler_t *c) {
  refuse_without_ram(c);
  expect(c, "(");
  emit_op(c, VCS_RULE_BCD, 1);
  const int count_at = c->out->length;
  int count = 0;
  emit(c, 0);
  do {
    emit(c, take_address(c));
    count++;
  } while (!c->failed && accept(c, ","));
  expect(c, ")");
  if (count > 4) fail(c, "more than eight digits");
  if (!c->failed) c->out->code[count_at] = (uint8_t)count;
}

/* ( A, B..C: expression ), after the word. */
static void fold(compiler_t *c, int base) {
  refuse_without_ram(c);
  if (c->in_fold) fail(c, "a fold inside a fold");
  if (c->failed) return;
  c->in_fold = true;
  expect(c, "(");
  emit(c, VCS_RULE_FOLD);
  emit(c, base);
  const int count_at = c->out->length;
  emit(c, 0);
  do {
    const uint8_t first = take_address(c), last = accept(c, "..") ? take_address(c) : first;
    if (last < first) fail(c, "a range runs upwards");
    emit(c, first);
    emit(c, last);
    if (!c->failed) c->out->code[count_at]++;
  } while (!c->failed && accept(c, ","));
  expect(c, ":");
  expression(c);
  expect(c, ")");
  emit_op(c, VCS_RULE_FOLD_END, 0);
  c->in_fold = false;
}

static void pick(compiler_t *c) {
  int count = 0;
  expect(c, "(");
  expression(c);
  while (!c->failed && accept(c, ",")) {
    expression(c);
    count++;
  }
  expect(c, ")");
  emit_op(c, VCS_RULE_PICK, -count);
  emit(c, count);
}

static void number(compiler_t *c) {
  const int base = *c->at == '$' ? 16 : 10;
  uint32_t value = 0;
  int digits = 0;
  if (base == 16) c->at++;
  for (; hex_digit(*c->at) >= 0 && hex_digit(*c->at) < base; digits++) {
    value = value * (uint32_t)base + (uint32_t)hex_digit(*c->at++);
  }
  if (digits == 0 || digits > 9) fail(c, "a number has one to nine digits");
  emit_constant(c, value);
}

static void primary(compiler_t *c) {
  char word[16];
  skip_blanks(c);
  if (accept(c, "(")) {
    expression(c);
    expect(c, ")");
  } else if (accept(c, "[")) {
    refuse_without_ram(c);
    emit_op(c, VCS_RULE_BYTE, 1);
    emit(c, take_address(c));
    expect(c, "]");
  } else if (*c->at == '$' || isdigit((unsigned char)*c->at)) {
    number(c);
  } else {
    take_word(c, word);
    const int variable = FIND_NAME(variables, word), action = FIND_NAME(actions, word);
    if (strcmp(word, "bcd") == 0) {
      bcd(c);
    } else if (strcmp(word, "digits") == 0) {
      fold(c, 10);
    } else if (strcmp(word, "sum") == 0) {
      fold(c, 1);
    } else if (strcmp(word, "pick") == 0) {
      pick(c);
    } else if (strcmp(word, "signed") == 0) {
      expect(c, "(");
      expression(c);
      expect(c, ")");
      emit_op(c, VCS_RULE_SIGNED, 0);
    } else if (variable == VCS_VAR_IT && !c->in_fold) {
      fail(c, "'it' stands in digits() and sum() only");
    } else if (variable == VCS_VAR_MODE && c->kind != VCS_RULE_FOR_MODE && c->kind != VCS_RULE_FOR_START) {
      fail(c, "'m' stands in scripts and start programs only");
    } else if (strcmp(word, "p") == 0 && (c->kind == VCS_RULE_FOR_STEP || c->kind == VCS_RULE_FOR_MODE)) {
      fail(c, "'p' stands in the rules of several players only");
    } else if (variable >= 0) {
      emit_variable(c, VCS_RULE_GET, variable);
    } else if (action >= 0 && c->kind == VCS_RULE_FOR_MODE) {
      emit_constant(c, (uint32_t)action);
    } else {
      fail(c, "a value expected");
    }
  }
}

static void unary(compiler_t *c) {
  if (c->failed) return;
  if (accept(c, "-")) {
    unary(c);
    emit_op(c, VCS_RULE_NEG, 0);
  } else if (accept(c, "!")) {
    unary(c);
    emit_op(c, VCS_RULE_NOT, 0);
  } else {
    primary(c);
  }
}

/* The operator that stands here, if it is of this level. */
static const operator_t *accept_operator(compiler_t *c, int level) {
  skip_blanks(c);
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    const size_t n = strlen(operators[i].spelling);
    if (strncmp(c->at, operators[i].spelling, n) != 0) continue;
    if (operators[i].level != level) return NULL;
    c->at += n;
    return &operators[i];
  }
  return NULL;
}

static void binary(compiler_t *c, int level) {
  if (level == LEVELS) {
    unary(c);
    return;
  }
  binary(c, level + 1);
  for (const operator_t *o; !c->failed && (o = accept_operator(c, level)) != NULL;) {
    binary(c, level + 1);
    emit_op(c, (vcs_rule_op_t)o->op, -1);
  }
}

static void expression(compiler_t *c) {
  binary(c, 0);
  if (!c->failed && accept(c, "?")) {
    expression(c);
    expect(c, ":");
    expression(c);
    emit_op(c, VCS_RULE_CHOOSE, -2);
  }
}

/* ---- Statements --------------------------------------------------------------------------------------------- */

static void assign(compiler_t *c, const char *word) {
  const int variable = FIND_NAME(variables, word);
  if (variable < 0 || variable == VCS_VAR_WAS || variable == VCS_VAR_GAIN || variable == VCS_VAR_MODE ||
      variable == VCS_VAR_IT || strcmp(word, "p") == 0 || (variable == VCS_VAR_M3 && c->kind == VCS_RULE_FOR_PLAYERS)) {
    fail(c, "a statement expected");
    return;
  }
  expect(c, "=");
  expression(c);
  emit_variable(c, VCS_RULE_SET, variable);
  c->assigned |= 1u << variable;
  if (strcmp(word, "lives_kept") == 0) c->lives_kept = true;
}

static void emit_target(compiler_t *c, int target) {
  emit(c, target & 0xFF);
  emit(c, target >> 8);
}

/* start: condition; exit to end; body; jump to start; end: */
static void until(compiler_t *c) {
  const int start = c->out->length;
  expect(c, "(");
  expression(c);
  expect(c, ")");
  emit_op(c, VCS_RULE_EXIT, -1);
  const int patch = c->out->length;
  emit_target(c, 0);
  expect(c, "{");
  program(c, '}');
  expect(c, "}");
  emit_op(c, VCS_RULE_JUMP, 0);
  emit_target(c, start);
  if (c->failed) return;
  c->out->code[patch] = (uint8_t)(c->out->length & 0xFF);
  c->out->code[patch + 1] = (uint8_t)(c->out->length >> 8);
}

static bool script_statement(compiler_t *c, const char *word) {
  if (strcmp(word, "until") == 0) {
    until(c);
  } else if (strcmp(word, "select") == 0) {
    expect(c, "(");
    expression(c);
    if (accept(c, ",")) {
      expression(c);
    } else {
      emit_constant(c, 0);
    }
    expect(c, ")");
    emit_op(c, VCS_RULE_SELECT, -2);
  } else if (strcmp(word, "act") == 0) {
    expect(c, "(");
    expression(c);
    expect(c, ")");
    emit_op(c, VCS_RULE_ACT, -1);
  } else if (strcmp(word, "reset") == 0) {
    expect(c, "(");
    expect(c, ")");
    emit_op(c, VCS_RULE_RESET, 0);
  } else {
    return false;
  }
  return true;
}

static void program(compiler_t *c, char end) {
  char word[16];
  for (;;) {
    while (accept(c, ";")) {
    }
    if (c->failed || *c->at == end) return;
    take_word(c, word);
    if (c->kind != VCS_RULE_FOR_MODE || !script_statement(c, word)) assign(c, word);
    skip_blanks(c);
    if (c->failed || *c->at == end) return;
    expect(c, ";");
  }
}

static bool is_assigned(const compiler_t *c, vcs_rule_var_t variable) { return c->assigned >> variable & 1; }

/* What a step program leaves unsaid about reward and lives; of the latter only in the rules of one player. */
static void emit_implied(compiler_t *c) {
  if (!is_assigned(c, VCS_VAR_REWARD)) {
    emit_variable(c, VCS_RULE_GET, VCS_VAR_GAIN);
    emit_variable(c, VCS_RULE_SET, VCS_VAR_REWARD);
  }
  if (!c->lives_kept && c->kind == VCS_RULE_FOR_STEP) {
    emit_variable(c, VCS_RULE_GET, VCS_VAR_OVER);
    emit_constant(c, 0);
    if (is_assigned(c, VCS_VAR_LIVES)) {
      emit_variable(c, VCS_RULE_GET, VCS_VAR_LIVES);
    } else {
      emit_constant(c, 1);
    }
    emit_op(c, VCS_RULE_CHOOSE, -2);
    emit_variable(c, VCS_RULE_SET, VCS_VAR_LIVES);
  }
}

vcs_status_t vcs_rule_compile(const char *text, vcs_rule_kind_t kind, vcs_rule_t *out, vcs_error_t *error) {
  compiler_t c = {.text = text ? text : "", .at = text ? text : "", .kind = kind, .out = out, .error = error};
  if (error) error->message[0] = 0;
  memset(out, 0, sizeof *out);
  program(&c, 0);
  if (!c.failed && *c.at) fail(&c, "';' expected");
  if (kind == VCS_RULE_FOR_STEP || kind == VCS_RULE_FOR_PLAYERS) emit_implied(&c);
  emit(&c, VCS_RULE_END);
  return c.failed ? VCS_BAD_ARGUMENT : VCS_OK;
}

/* ---- Looking at a program ------------------------------------------------------------------------------------ */

void vcs_rule_looks(const vcs_rule_t *rule, uint8_t looks[256]) {
  const uint8_t *code = rule->code;
  for (int pc = 0; pc < rule->length;) {
    switch (code[pc++]) {
      case VCS_RULE_CONST32:
        pc += 4;
        break;
      case VCS_RULE_BYTE:
        looks[code[pc++]] = 1;
        break;
      case VCS_RULE_BCD:
        for (int count = code[pc++]; count > 0; count--) looks[code[pc++]] = 1;
        break;
      case VCS_RULE_FOLD:
        pc++;
        for (int pairs = code[pc++]; pairs > 0; pairs--, pc += 2) {
          for (int index = code[pc]; index <= code[pc + 1]; index++) looks[index] = 1;
        }
        break;
      case VCS_RULE_JUMP:
      case VCS_RULE_EXIT:
        pc += 2;
        break;
      case VCS_RULE_CONST8:
      case VCS_RULE_GET:
      case VCS_RULE_SET:
      case VCS_RULE_PICK:
        pc++;
        break;
      default: /* without operands */
        break;
    }
  }
}
