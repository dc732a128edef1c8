/* game_rules.h: score, reward, lives and ending of each game, as data.
 *
 * The machine knows no score: a game keeps it somewhere in its 128 bytes of RAM, in its own way. A rule program says
 * where, in one line a game:
 *
 *     score = bcd(E8,E6); reward = gain < 0 ? gain + 10000 : gain; lives = [C9]; over = [98] & $80 || lives == 0
 *
 * Programs are compiled once into bytecode without pointers, and a small stack machine runs them after every frame, on
 * the CPU and on the GPU (a rule has no branch but the loop of a fold, so machines in a batch keep step). A second kind
 * of program, the script, says how SELECT and the joystick lead to a game's variation.
 *
 *   program    := statement { ';' statement }
 *   statement  := variable '=' expression                   sequential; an empty statement is allowed
 *               | 'until' '(' expression ')' '{' program '}'                                       scripts only
 *               | 'select' '(' frames [ ',' spread ] ')' | 'act' '(' action ')' | 'reset' '(' ')'  scripts only
 *   expression := C's, on 32-bit integers: ?: || && | & == != < <= > >= << >> + - * / % unary - ! and brackets; both
 *                 sides of || && ?: are evaluated (there are no side effects); x / 0 and x % 0 are 0
 *   primary    := 12 | $1F | [C9] a byte of RAM, hex address | [F0B4] a byte of cartridge RAM, four-digit address
 *               | variable | NOOP, FIRE ... the actions' codes (scripts only)
 *               | signed(e)            the low byte of e as two's complement
 *               | pick(e, c0, c1 ...)  the e-th of the expressions, 0 outside
 *               | bcd(A,B,C)           two BCD digits a byte, lowest byte first, at most four
 *               | digits(A,B,C..F: e)  one decimal digit a byte, lowest first, each read as e says of `it`
 *               | sum(A,B..C: e)       the sum of e over the bytes `it`
 *
 * Variables. `score`, `reward`, `lives`, `over` are the result and keep their value from step to step; `was` is the
 * score before this step and `gain` is score - was. `m0`..`m3` are the game's own memory; a reset clears m0..m2, m3
 * survives. `x`, `y`, `z`, `w` are free and start each run at 0; `m` is the wanted mode (scripts).
 *
 * What a step program leaves unsaid: without an assignment to `reward` it ends with `reward = gain`. Lives are reported
 * as 0 once the game is over, so it ends with `lives = over ? 0 : lives`, or `over ? 0 : 1` where it never mentions
 * lives; a program that goes on counting after the end assigns `lives_kept` instead.
 *
 * Several players. A game for several players has one step program, which runs once per player with that player's own
 * variables. `p` is the player's number, 0 to 3; it is kept in m3. Every player's program must come to the same `over`.
 * The start program may use `m`, the mode. Nothing is implied about lives, which are -1 once a player is out.
 */
#ifndef VCS_HOST_GAME_RULES_H
#define VCS_HOST_GAME_RULES_H

#include "../core/base.h"

/* What a frame meant. Plain data: copying it saves it. */
typedef struct vcs_play {
  int32_t score, reward, lives, over, mem[4];
} vcs_play_t;

enum { VCS_RULE_BYTES = 446, VCS_RULE_STACK = 24 };

typedef struct vcs_rule {
  uint16_t length;
  uint8_t code[VCS_RULE_BYTES];
} vcs_rule_t;

typedef enum {
  VCS_VAR_SCORE,
  VCS_VAR_REWARD,
  VCS_VAR_LIVES,
  VCS_VAR_OVER,
  VCS_VAR_M0,
  VCS_VAR_M1,
  VCS_VAR_M2,
  VCS_VAR_M3,
  VCS_VAR_WAS,
  VCS_VAR_X,
  VCS_VAR_Y,
  VCS_VAR_Z,
  VCS_VAR_W,
  VCS_VAR_MODE,
  VCS_VAR_IT,
  VCS_VAR_GAIN, /* computed, not stored */
  VCS_VAR_COUNT = VCS_VAR_GAIN
} vcs_rule_var_t;

/* Bytecode: an operation, then its operand bytes; a is the top of the stack, b the one below. */
typedef enum {
  VCS_RULE_END,
  VCS_RULE_CONST8,  /* byte */
  VCS_RULE_CONST32, /* four bytes, low first */
  VCS_RULE_BYTE,    /* index: 0-127 RAM, 128-255 cartridge RAM */
  VCS_RULE_BCD,     /* count, then that many indices, lowest digits first */
  VCS_RULE_GET,     /* variable */
  VCS_RULE_SET,     /* variable */
  VCS_RULE_NEG,
  VCS_RULE_NOT,
  VCS_RULE_SIGNED,
  VCS_RULE_MUL,
  VCS_RULE_DIV,
  VCS_RULE_MOD,
  VCS_RULE_ADD,
  VCS_RULE_SUB,
  VCS_RULE_SHL,
  VCS_RULE_SHR,
  VCS_RULE_LT,
  VCS_RULE_LE,
  VCS_RULE_GT,
  VCS_RULE_GE,
  VCS_RULE_EQ,
  VCS_RULE_NE,
  VCS_RULE_AND,
  VCS_RULE_OR,
  VCS_RULE_LAND,
  VCS_RULE_LOR,
  VCS_RULE_CHOOSE,   /* c ? b : a */
  VCS_RULE_PICK,     /* count: pops count values and the index below them */
  VCS_RULE_FOLD,     /* base, pairs, then first and last index of each pair; then the body, which ends in FOLD_END */
  VCS_RULE_FOLD_END, /* total += place * a; place *= base */
  VCS_RULE_JUMP,     /* target, two bytes, low first */
  VCS_RULE_EXIT,     /* target: taken when a != 0 */
  VCS_RULE_SELECT,   /* the script waits for: SELECT held for b frames, or as many as the generator adds below a */
  VCS_RULE_ACT,      /* ... one step of action a */
  VCS_RULE_RESET     /* ... the RESET switch */
} vcs_rule_op_t;

/* A run of a program. A rule runs to VCS_RULE_END at once; a script stops at each thing it waits for, and goes on from
 * there when called again. */
typedef struct vcs_rule_run {
  int32_t var[VCS_VAR_COUNT];
  int32_t arg[2];
  uint16_t pc;
} vcs_rule_run_t;

/* The compiler (game_rules.c) gives out only programs whose stack is deep enough and whose bytes are in range; the
 * analyzer cannot know that. NOLINTBEGIN(clang-analyzer-core.*) */
VCS_FN int32_t vcs_rule_byte(uint8_t index, const uint8_t *ram, const uint8_t *cart_ram) {
  if (index < 128) return ram[index];
  return cart_ram ? cart_ram[index - 128] : 0;
}

/* Arithmetic wraps, so that no program can overflow into undefined behaviour. */
VCS_FN int32_t vcs_rule_binary(uint8_t op, int32_t b, int32_t a) {
  const uint32_t ub = (uint32_t)b, ua = (uint32_t)a;
  switch (op) {
    case VCS_RULE_MUL:
      return (int32_t)(ub * ua);
    case VCS_RULE_DIV:
      return a == 0 ? 0 : a == -1 ? (int32_t)(0u - ub) : b / a;
    case VCS_RULE_MOD:
      return a == 0 || a == -1 ? 0 : b % a;
    case VCS_RULE_ADD:
      return (int32_t)(ub + ua);
    case VCS_RULE_SUB:
      return (int32_t)(ub - ua);
    case VCS_RULE_SHL:
      return (int32_t)(ub << (ua & 31));
    case VCS_RULE_SHR:
      return b >> (ua & 31);
    case VCS_RULE_LT:
      return b < a;
    case VCS_RULE_LE:
      return b <= a;
    case VCS_RULE_GT:
      return b > a;
    case VCS_RULE_GE:
      return b >= a;
    case VCS_RULE_EQ:
      return b == a;
    case VCS_RULE_NE:
      return b != a;
    case VCS_RULE_AND:
      return b & a;
    case VCS_RULE_OR:
      return b | a;
    case VCS_RULE_LAND:
      return b && a;
    default:
      return b || a;
  }
}

/* Runs until the program ends or waits; returns VCS_RULE_END, VCS_RULE_SELECT, VCS_RULE_ACT or VCS_RULE_RESET. The
 * compiler guarantees that code is well formed and the stack deep enough. */
VCS_SLOW_FN vcs_rule_op_t vcs_rule_resume(const vcs_rule_t *rule, vcs_rule_run_t *run, const uint8_t *ram,
                                          const uint8_t *cart_ram) {
  const uint8_t *code = rule->code;
  int32_t stack[VCS_RULE_STACK];
  int32_t total = 0, place = 1; /* of the fold under way */
  int top = -1, base = 0, pairs = 0, pair = 0, index = 0, body = 0, pc = run->pc;
  for (;;) {
    const uint8_t op = code[pc++];
    switch (op) {
      case VCS_RULE_END:
        run->pc = (uint16_t)(pc - 1);
        return VCS_RULE_END;
      case VCS_RULE_CONST8:
        stack[++top] = code[pc++];
        break;
      case VCS_RULE_CONST32:
        stack[++top] = (int32_t)(code[pc] | (uint32_t)code[pc + 1] << 8 | (uint32_t)code[pc + 2] << 16 |
                                 (uint32_t)code[pc + 3] << 24);
        pc += 4;
        break;
      case VCS_RULE_BYTE:
        stack[++top] = vcs_rule_byte(code[pc++], ram, cart_ram);
        break;
      case VCS_RULE_BCD: {
        int32_t value = 0;
        const int count = code[pc++];
        for (int i = count - 1; i >= 0; i--) {
          const int32_t byte = vcs_rule_byte(code[pc + i], ram, cart_ram);
          value = 100 * value + 10 * (byte >> 4) + (byte & 15);
        }
        stack[++top] = value;
        pc += count;
        break;
      }
      case VCS_RULE_GET: {
        const uint8_t v = code[pc++];
        stack[++top] = v == VCS_VAR_GAIN ? vcs_rule_binary(VCS_RULE_SUB, run->var[VCS_VAR_SCORE], run->var[VCS_VAR_WAS])
                                         : run->var[v];
        break;
      }
      case VCS_RULE_SET:
        run->var[code[pc++]] = stack[top--];
        break;
      case VCS_RULE_NEG:
        stack[top] = (int32_t)(0u - (uint32_t)stack[top]);
        break;
      case VCS_RULE_NOT:
        stack[top] = !stack[top];
        break;
      case VCS_RULE_SIGNED:
        stack[top] = (int32_t)(((uint32_t)stack[top] & 0xFF) ^ 0x80) - 0x80;
        break;
      case VCS_RULE_CHOOSE:
        top -= 2;
        stack[top] = stack[top] ? stack[top + 1] : stack[top + 2];
        break;
      case VCS_RULE_PICK: {
        const int count = code[pc++];
        top -= count;
        stack[top] = stack[top] >= 0 && stack[top] < count ? stack[top + 1 + stack[top]] : 0;
        break;
      }
      case VCS_RULE_FOLD:
        base = code[pc];
        pairs = pc + 2; /* where the first pair stands */
        pair = 0;
        body = pairs + 2 * code[pc + 1];
        index = code[pairs];
        total = 0;
        place = 1;
        run->var[VCS_VAR_IT] = vcs_rule_byte((uint8_t)index, ram, cart_ram);
        pc = body;
        break;
      case VCS_RULE_FOLD_END:
        total = (int32_t)((uint32_t)total + (uint32_t)place * (uint32_t)stack[top--]);
        place = (int32_t)((uint32_t)place * (uint32_t)base);
        if (index == code[pairs + 2 * pair + 1]) {
          pair++;
          index = pairs + 2 * pair < body ? code[pairs + 2 * pair] : -1;
        } else {
          index++;
        }
        if (index < 0) {
          stack[++top] = total;
        } else {
          run->var[VCS_VAR_IT] = vcs_rule_byte((uint8_t)index, ram, cart_ram);
          pc = body;
        }
        break;
      case VCS_RULE_JUMP:
        pc = code[pc] | code[pc + 1] << 8;
        break;
      case VCS_RULE_EXIT:
        pc = stack[top--] ? code[pc] | code[pc + 1] << 8 : pc + 2;
        break;
      case VCS_RULE_SELECT:
        run->arg[0] = stack[top - 1];
        run->arg[1] = stack[top];
        run->pc = (uint16_t)pc;
        return VCS_RULE_SELECT;
      case VCS_RULE_ACT:
        run->arg[0] = stack[top];
        run->pc = (uint16_t)pc;
        return VCS_RULE_ACT;
      case VCS_RULE_RESET:
        run->pc = (uint16_t)pc;
        return VCS_RULE_RESET;
      default:
        top--;
        stack[top] = vcs_rule_binary(op, stack[top], stack[top + 1]);
        break;
    }
  }
}

/* NOLINTEND(clang-analyzer-core.*) */

/* The play state's place in a run, and back. */
VCS_FN void vcs_rule_load(vcs_rule_run_t *run, const vcs_play_t *play) {
  run->var[VCS_VAR_SCORE] = run->var[VCS_VAR_WAS] = play->score;
  run->var[VCS_VAR_REWARD] = play->reward;
  run->var[VCS_VAR_LIVES] = play->lives;
  run->var[VCS_VAR_OVER] = play->over;
  for (int i = 0; i < 4; i++) run->var[VCS_VAR_M0 + i] = play->mem[i];
}

VCS_FN void vcs_rule_store(const vcs_rule_run_t *run, vcs_play_t *play) {
  play->score = run->var[VCS_VAR_SCORE];
  play->reward = run->var[VCS_VAR_REWARD];
  play->lives = run->var[VCS_VAR_LIVES];
  play->over = run->var[VCS_VAR_OVER] != 0;
  for (int i = 0; i < 4; i++) play->mem[i] = run->var[VCS_VAR_M0 + i];
}

/* A run's beginning: variables 0, `m` the mode. */
VCS_FN void vcs_rule_begin(vcs_rule_run_t *run, int32_t mode) {
  for (int i = 0; i < VCS_VAR_COUNT; i++) run->var[i] = 0;
  run->var[VCS_VAR_MODE] = mode;
  run->arg[0] = run->arg[1] = 0;
  run->pc = 0;
}

/* Goes on with a run over a play state, from its beginning or from where it waited. */
VCS_FN vcs_rule_op_t vcs_rule_continue(const vcs_rule_t *rule, vcs_rule_run_t *run, vcs_play_t *play,
                                       const uint8_t *ram, const uint8_t *cart_ram) {
  vcs_rule_load(run, play);
  const vcs_rule_op_t ask = vcs_rule_resume(rule, run, ram, cart_ram);
  vcs_rule_store(run, play);
  return ask;
}

/* What a program is for decides what it may say and what is implied at its end. */
typedef enum {
  VCS_RULE_FOR_STEP,    /* after every frame; reward and lives are implied where not assigned */
  VCS_RULE_FOR_START,   /* values after a reset: no RAM, nothing is implied */
  VCS_RULE_FOR_MODE,    /* a script that selects a mode */
  VCS_RULE_FOR_PLAYERS, /* after every frame, for each of several players; the reward is implied where not assigned */
} vcs_rule_kind_t;

#ifdef __cplusplus
extern "C" {
#endif

/* Compiles; on an error the message quotes the place. Text may be NULL or empty, error may be NULL. */
vcs_status_t vcs_rule_compile(const char *text, vcs_rule_kind_t kind, vcs_rule_t *out, vcs_error_t *error);

/* Sets looks[index] for every byte, numbered as VCS_RULE_BYTE does, that a run of the program may look at. */
void vcs_rule_looks(const vcs_rule_t *rule, uint8_t looks[256]);

#ifdef __cplusplus
}
#endif

#endif
