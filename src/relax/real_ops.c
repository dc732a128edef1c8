/* real_ops.c: the operations on real numbers.
 *
 * All operations follow one rule. The exact operation (vcs_op_XXX of cpu.h) is a function of bytes and flags; on
 * real numbers it is the multilinear interpolation between its values at the integers around them. So it equals the
 * exact one at integers, stays in range, is continuous, and has a slope in every input: the difference of two
 * neighbouring values, or, at an integer, the mean of the differences to both sides. Only the registers that an
 * operation reads (core/cpu_ops.h) need interpolating; test_relax.c checks the table by trying all of them.
 *
 * Addresses and counters are sums. Stack operations, jumps and branches are explicit functions.
 */
#include <math.h>

#include "core/cpu.h"
#include "real.h"

/* ---- Inputs and outputs ---------------------------------------------------------------------------------------- */

/* The operand among the inputs, and the value that is written among the outputs, comes after the registers. */
enum { OPERAND = VCS_SLOT_C + 1, INPUTS };

/* A set of registers and flags of core/cpu_ops.h as a set of 1 << input. */
#define INPUT_OF(set, of, input) ((set)&VCS_OF_##of ? 1 << (input) : 0)
#define INPUTS_OF(set)                                                                           \
  (INPUT_OF(set, A, VCS_SLOT_A) | INPUT_OF(set, X, VCS_SLOT_X) | INPUT_OF(set, Y, VCS_SLOT_Y) |  \
   INPUT_OF(set, S, VCS_SLOT_SP) | INPUT_OF(set, N, VCS_SLOT_N) | INPUT_OF(set, V, VCS_SLOT_V) | \
   INPUT_OF(set, D, VCS_SLOT_D) | INPUT_OF(set, I, VCS_SLOT_I) | INPUT_OF(set, Z, VCS_SLOT_Z) |  \
   INPUT_OF(set, C, VCS_SLOT_C) | INPUT_OF(set, B, OPERAND))

/* The exact operation of every opcode, on the registers and an operand; returns the value that is written, if any. */
#define EVALUATE_READ(operation) (vcs_op_##operation(cpu, operand), 0)
#define EVALUATE_MODIFY(operation) vcs_op_##operation(cpu, operand)
#define EVALUATE_WRITE(operation) vcs_op_##operation(cpu, addr)
#define EVALUATE_IMPLIED(operation) (vcs_do_##operation(NULL, m, cpu, NULL), 0)
#define EVALUATE_STACK(operation) 0
#define EVALUATE_JUMP(operation) 0
#define EVALUATE_BRANCH(operation) 0
#define EVALUATE_ROW(code, operation, mode, access, cost) \
  case code:                                              \
    return EVALUATE_##access(operation);

/* `m` is for JAM, which only an acting opcode executes. */
static uint8_t exactly(uint8_t opcode, vcs_t *m, vcs_cpu_t *cpu, uint8_t operand, uint16_t addr) {
  if (opcode == VCS_PLP) vcs_cpu_set_status(cpu, operand);
  switch (opcode) { VCS_OPCODES(EVALUATE_ROW) }
  return 0;
}

/* The interpolated inputs and outputs. Of the stack operations only PLP's status is interpolated; all other stack
 * operations are explicit functions below, which also count the stack pointer. */
#define INTERPOLATED(code, operation, set) \
  (VCS_PUSHED_BY_##operation ? ((code) == VCS_PLP ? INPUTS_OF((set) & ~VCS_OF_S) : 0) : INPUTS_OF(set))
#define MASKS_ROW(code, operation, mode, access, cost) \
  {INTERPOLATED(code, operation, VCS_READS_##operation), INTERPOLATED(code, operation, VCS_SETS_##operation)},
static const struct { uint16_t uses, sets; } masks[256] = {VCS_OPCODES(MASKS_ROW)};

/* ---- Interpolation --------------------------------------------------------------------------------------------- */

static double most_of(int input) { return input >= VCS_SLOT_N && input <= VCS_SLOT_C ? 1 : 255; }

typedef struct {
  uint8_t opcode;
  uint16_t addr; /* of a store */
  vcs_t *m;
} operation_t;

static void at_integers(const operation_t *op, const double in[INPUTS], double out[INPUTS]) {
  vcs_cpu_t cpu = {.a = (uint8_t)in[VCS_SLOT_A],
                   .x = (uint8_t)in[VCS_SLOT_X],
                   .y = (uint8_t)in[VCS_SLOT_Y],
                   .sp = (uint8_t)in[VCS_SLOT_SP],
                   .v = in[VCS_SLOT_V] > 0.5,
                   .d = in[VCS_SLOT_D] > 0.5,
                   .i = in[VCS_SLOT_I] > 0.5,
                   .c = in[VCS_SLOT_C] > 0.5};
  vcs_cpu_set_nz(&cpu, in[VCS_SLOT_N] > 0.5 ? 0x80 : 0, in[VCS_SLOT_Z] <= 0.5);
  out[OPERAND] = exactly(op->opcode, op->m, &cpu, (uint8_t)in[OPERAND], op->addr);
  out[VCS_SLOT_A] = cpu.a;
  out[VCS_SLOT_X] = cpu.x;
  out[VCS_SLOT_Y] = cpu.y;
  out[VCS_SLOT_SP] = cpu.sp;
  out[VCS_SLOT_N] = vcs_cpu_is_negative(&cpu);
  out[VCS_SLOT_V] = cpu.v;
  out[VCS_SLOT_D] = cpu.d;
  out[VCS_SLOT_I] = cpu.i;
  out[VCS_SLOT_Z] = vcs_cpu_is_zero(&cpu);
  out[VCS_SLOT_C] = cpu.c;
}

/* Interpolates between integers, along each fractional input. */
static void interpolate(const operation_t *op, const double in[INPUTS], double out[INPUTS]) {
  for (int input = 0; input < INPUTS; input++) {
    double low = floor(in[input]), part = in[input] - low;
    if (!(masks[op->opcode].uses >> input & 1) || part == 0) continue;
    double lower[INPUTS], upper[INPUTS], end[INPUTS];
    for (int i = 0; i < INPUTS; i++) end[i] = in[i];
    end[input] = low;
    interpolate(op, end, lower);
    end[input] = low + 1;
    interpolate(op, end, upper);
    for (int i = 0; i < INPUTS; i++) out[i] = (1 - part) * lower[i] + part * upper[i];
    return;
  }
  at_integers(op, in, out);
}

/* d(out)/d(in[input]): between the integers around it, or between both neighbours of an integer. */
static void slopes_of(const operation_t *op, const double in[INPUTS], int input, double slopes[INPUTS]) {
  double lower[INPUTS], upper[INPUTS], end[INPUTS], low = floor(in[input]), high = low + 1;
  if (low == in[input]) {
    if (low > 0) low -= 1;
    if (high > most_of(input)) high = most_of(input);
  }
  for (int i = 0; i < INPUTS; i++) end[i] = in[i];
  end[input] = low;
  interpolate(op, end, lower);
  end[input] = high;
  interpolate(op, end, upper);
  for (int i = 0; i < INPUTS; i++) slopes[i] = (upper[i] - lower[i]) / (high - low);
}

/* Applies the operation to the registers; returns the value that is written. */
static vcs_real_t operate(vcs_doing_t *doing, uint8_t opcode, vcs_real_t operand, uint16_t addr) {
  const operation_t op = {opcode, addr, doing->relax->m};
  const unsigned uses = masks[opcode].uses, sets = masks[opcode].sets;
  vcs_real_t from[INPUTS], made[INPUTS];
  double in[INPUTS], out[INPUTS], slopes[INPUTS][INPUTS];
  for (int i = 0; i < INPUTS; i++) {
    from[i] = vcs_real_clamped(i == OPERAND ? operand : doing->reg[i], most_of(i));
    in[i] = from[i].value;
  }
  interpolate(&op, in, out);
  for (int i = 0; i < INPUTS && doing->links; i++) {
    if (uses >> i & 1) slopes_of(&op, in, i, slopes[i]);
  }
  for (int o = 0; o < INPUTS; o++) {
    if (!(sets >> o & 1)) continue;
    made[o] = vcs_real_new(doing->links, out[o]);
    for (int i = 0; i < INPUTS && doing->links; i++) {
      if (uses >> i & 1) vcs_real_from(doing->links, from[i], slopes[i][o]);
    }
  }
  for (int o = 0; o < OPERAND; o++) {
    if (sets >> o & 1) doing->reg[o] = made[o];
  }
  return sets >> OPERAND & 1 ? made[OPERAND] : operand;
}

/* ---- Fetches, addresses, the stack ----------------------------------------------------------------------------- */

static vcs_real_t plus(const vcs_doing_t *doing, vcs_real_t a, double number) {
  return vcs_real_linear(doing->links, number, a, 1);
}

static void spend(vcs_doing_t *doing, int cycles) {
  doing->reg[VCS_SLOT_TIME] = plus(doing, doing->reg[VCS_SLOT_TIME], cycles);
}

static vcs_real_t fetch(vcs_doing_t *doing) {
  vcs_real_t byte = vcs_real_read(doing, doing->reg[VCS_SLOT_PC]);
  doing->reg[VCS_SLOT_PC] = vcs_real_wrapped(plus(doing, doing->reg[VCS_SLOT_PC], 1), 65536);
  return byte;
}

static vcs_real_t word(const vcs_doing_t *doing, vcs_real_t low, vcs_real_t high) {
  return vcs_real_sum(doing->links, 0, low, 1, high, 256);
}

static vcs_real_t fetch_word(vcs_doing_t *doing) {
  vcs_real_t low = fetch(doing);
  return word(doing, low, fetch(doing));
}

static vcs_real_t read_word(vcs_doing_t *doing, vcs_real_t low_address, vcs_real_t high_address) {
  vcs_real_t low = vcs_real_read(doing, low_address);
  return word(doing, low, vcs_real_read(doing, high_address));
}

/* base + index; `reads`: a page crossing costs a cycle. */
static vcs_real_t indexed(vcs_doing_t *doing, vcs_real_t base, int slot, bool reads) {
  vcs_real_t address = vcs_real_sum(doing->links, 0, base, 1, doing->reg[slot], 1);
  address = vcs_real_wrapped(address, 65536);
  if (reads && (vcs_real_address(base) ^ vcs_real_address(address)) & 0xFF00) spend(doing, 1);
  return address;
}

static vcs_real_t zero_page(vcs_doing_t *doing, int slot) {
  vcs_real_t base = fetch(doing);
  return vcs_real_wrapped(vcs_real_sum(doing->links, 0, base, 1, doing->reg[slot], 1), 256);
}

static vcs_real_t jump_pointer(vcs_doing_t *doing) {
  vcs_real_t pointer = fetch_word(doing);
  int next = (vcs_real_address(pointer) & 0xFF) == 0xFF ? -0xFF : 1; /* JMP ($xxFF) stays in its page */
  return read_word(doing, pointer, plus(doing, pointer, next));
}

static vcs_real_t address_of(vcs_doing_t *doing, int mode, bool reads) {
  vcs_real_t pointer;
  switch (mode) {
    case VCS_MODE_ZP:
      return fetch(doing);
    case VCS_MODE_ZPX:
      return zero_page(doing, VCS_SLOT_X);
    case VCS_MODE_ZPY:
      return zero_page(doing, VCS_SLOT_Y);
    case VCS_MODE_ABS:
      return fetch_word(doing);
    case VCS_MODE_ABX:
      return indexed(doing, fetch_word(doing), VCS_SLOT_X, reads);
    case VCS_MODE_ABY:
      return indexed(doing, fetch_word(doing), VCS_SLOT_Y, reads);
    case VCS_MODE_IZX:
      pointer = zero_page(doing, VCS_SLOT_X);
      return read_word(doing, pointer, plus(doing, pointer, 1));
    case VCS_MODE_IZY:
      pointer = fetch(doing);
      return indexed(doing, read_word(doing, pointer, plus(doing, pointer, 1)), VCS_SLOT_Y, reads);
    default:
      return jump_pointer(doing);
  }
}

static vcs_real_t top_of_stack(const vcs_doing_t *doing) { return plus(doing, doing->reg[VCS_SLOT_SP], 0x100); }

static void move_stack(vcs_doing_t *doing, int by) {
  vcs_real_t sp = vcs_real_wrapped(plus(doing, doing->reg[VCS_SLOT_SP], by), 256);
  doing->reg[VCS_SLOT_SP] = vcs_real_clamped(sp, 255);
}

static void push(vcs_doing_t *doing, vcs_real_t value, bool stalls) {
  vcs_real_write(doing, top_of_stack(doing), value, stalls);
  move_stack(doing, -1);
}

static vcs_real_t pull(vcs_doing_t *doing) {
  move_stack(doing, 1);
  return vcs_real_read(doing, top_of_stack(doing));
}

/* Splits the counter into the page that it rounds to and the remainder, which keeps the fraction. */
static void push_counter(vcs_doing_t *doing) {
  vcs_real_t pc = doing->reg[VCS_SLOT_PC];
  int page = vcs_real_address(pc) >> 8;
  push(doing, vcs_real_constant(page), true);
  push(doing, plus(doing, pc, -256.0 * page), false);
}

static vcs_real_t pull_counter(vcs_doing_t *doing) {
  vcs_real_t low = pull(doing);
  return word(doing, low, pull(doing));
}

static vcs_real_t status(const vcs_doing_t *doing) {
  static const struct {
    int slot, weight;
  } bits[] = {{VCS_SLOT_N, VCS_FLAG_N}, {VCS_SLOT_V, VCS_FLAG_V}, {VCS_SLOT_D, VCS_FLAG_D},
              {VCS_SLOT_I, VCS_FLAG_I}, {VCS_SLOT_Z, VCS_FLAG_Z}, {VCS_SLOT_C, VCS_FLAG_C}};
  double value = VCS_FLAG_1 | VCS_FLAG_B;
  for (int i = 0; i < 6; i++) value += bits[i].weight * doing->reg[bits[i].slot].value;
  vcs_real_t byte = vcs_real_new(doing->links, value);
  for (int i = 0; i < 6; i++) vcs_real_from(doing->links, doing->reg[bits[i].slot], bits[i].weight);
  return byte;
}

/* ---- Branches -------------------------------------------------------------------------------------------------- */

/* pc = next + g offset, g = sigma(alpha z), z = sign (2 flag - 1); its cycles are blended in the same way. */
static void branch(vcs_doing_t *doing, uint8_t opcode) {
  static const uint8_t flags[4] = {VCS_SLOT_N, VCS_SLOT_V, VCS_SLOT_C, VCS_SLOT_Z}; /* opcode bits 7 and 6 */
  const vcs_soften_t *soften = &doing->relax->soften;
  vcs_real_t flag = doing->reg[flags[opcode >> 6]], byte = fetch(doing), next = doing->reg[VCS_SLOT_PC];
  double sign = opcode & 0x20 ? 1 : -1, gate = vcs_soften_gate(soften, sign * (2 * flag.value - 1));
  double offset = byte.value - (nearbyint(byte.value) >= 128 ? 256 : 0),
         steep = 2 * sign * soften->alpha * gate * (1 - gate);
  bool taken = (flag.value > 0.5) == (sign > 0);
  uint16_t from = vcs_real_address(next), target = (uint16_t)(from + (int)nearbyint(offset));
  int cost = (from ^ target) & 0xFF00 ? 2 : 1;
  bool rounds = doing->relax->options.cast == VCS_CAST_ROUND;
  double blend = rounds ? vcs_soften_branch(soften, from, (int)offset, taken) : next.value + gate * offset;

  vcs_real_t pc = vcs_real_new(doing->links, blend);
  vcs_real_from(doing->links, next, 1);
  vcs_real_from(doing->links, byte, gate);
  vcs_real_from(doing->links, flag, steep * offset);
  if (doing->acts) {
    uint16_t exact = taken ? target : from, cast = (uint16_t)(int64_t)nearbyint(blend);
    const vcs_relax_value_t note = {NULL, 0, 0, doing->pc, target, (int16_t)nearbyint(offset), taken, exact, blend};
    vcs_relax_note(doing->relax, &note, cast != exact);
  }
  doing->reg[VCS_SLOT_PC] = vcs_real_wrapped(vcs_real_cast(doing, pc), 65536);

  vcs_real_t before = doing->reg[VCS_SLOT_TIME];
  vcs_real_t time = vcs_real_new(doing->links, before.value + (rounds ? taken : gate) * cost);
  vcs_real_from(doing->links, before, 1);
  vcs_real_from(doing->links, flag, steep * cost);
  doing->reg[VCS_SLOT_TIME] = time;
}

/* ---- Opcodes --------------------------------------------------------------------------------------------------- */

static void use_stack(vcs_doing_t *doing, uint8_t opcode) {
  vcs_real_t *reg = doing->reg, low;
  switch (opcode) {
    case VCS_BRK:
      fetch(doing);
      push_counter(doing);
      push(doing, status(doing), false);
      reg[VCS_SLOT_I] = vcs_real_constant(1);
      reg[VCS_SLOT_PC] = read_word(doing, vcs_real_constant(0xFFFE), vcs_real_constant(0xFFFF));
      break;
    case VCS_PHP:
      push(doing, status(doing), true);
      break;
    case VCS_PHA:
      push(doing, reg[VCS_SLOT_A], true);
      break;
    case VCS_JSR:
      low = fetch(doing);
      vcs_real_read(doing, top_of_stack(doing));
      push_counter(doing);
      reg[VCS_SLOT_PC] = word(doing, low, fetch(doing));
      break;
    default:
      vcs_real_read(doing, top_of_stack(doing));
      if (opcode == VCS_PLP || opcode == VCS_RTI) operate(doing, VCS_PLP, pull(doing), 0);
      if (opcode == VCS_PLA) operate(doing, VCS_LDA_IMM, pull(doing), 0);
      if (opcode == VCS_RTI || opcode == VCS_RTS) reg[VCS_SLOT_PC] = pull_counter(doing);
      if (opcode == VCS_RTS) {
        vcs_real_read(doing, reg[VCS_SLOT_PC]);
        reg[VCS_SLOT_PC] = vcs_real_wrapped(plus(doing, reg[VCS_SLOT_PC], 1), 65536);
      }
      break;
  }
}

static void stand_still(vcs_doing_t *doing) {
  if (doing->acts) doing->relax->m->jammed = 1;
}

void vcs_real_evaluate(vcs_doing_t *doing, uint8_t opcode) {
  const vcs_opcode_t row = vcs_opcode(opcode);
  vcs_real_t address, value;
  if (doing->relax->options.bus == VCS_BUS_REDUCED && (opcode == VCS_BRK || vcs_reduced_away(opcode))) {
    if (opcode == VCS_BRK) doing->reg[VCS_SLOT_PC] = plus(doing, doing->reg[VCS_SLOT_PC], -1);
    return;
  }
  spend(doing, row.cycles);
  switch (row.access) {
    case VCS_ACCESS_IMPLIED:
      if (row.name[0] == 'J')
        stand_still(doing);
      else
        operate(doing, opcode, vcs_real_constant(0), 0);
      break;
    case VCS_ACCESS_READ:
      value = row.mode == VCS_MODE_IMM ? fetch(doing) : vcs_real_read(doing, address_of(doing, row.mode, true));
      operate(doing, opcode, value, 0);
      break;
    case VCS_ACCESS_WRITE:
      address = address_of(doing, row.mode, false);
      value = operate(doing, opcode, vcs_real_constant(0), vcs_real_address(address));
      vcs_real_write(doing, address, value, true);
      break;
    case VCS_ACCESS_MODIFY:
      address = address_of(doing, row.mode, false);
      value = operate(doing, opcode, vcs_real_read(doing, address), 0);
      vcs_real_write(doing, address, value, true);
      break;
    case VCS_ACCESS_JUMP:
      doing->reg[VCS_SLOT_PC] = address_of(doing, row.mode, false);
      break;
    case VCS_ACCESS_BRANCH:
      branch(doing, opcode);
      break;
    default:
      use_stack(doing, opcode);
      break;
  }
}
