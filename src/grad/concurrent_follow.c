/* concurrent_follow.c: evaluates a row of the base for flips that read a difference there.
 *
 * Most flips that wake read the byte that differs and store a value computed from it, by the base's instructions at the
 * base's time. Such a flip needs no machine of its own. Its registers are the base's at each row, with some bits
 * changed. A row that reads no difference has the same effect on the flip as on the base; only the other rows are
 * evaluated, by the core's own operations, with the base's operands wherever these are equal. All flips that need a row
 * are evaluated together, so its opcode is decoded once.
 *
 * A flip leaves the path at a branch whose flag differs, and at every row that needs more: an address that differs
 * (except one of a table in plain ROM that takes the same time), a chip that is written with another value, a return
 * address. Then the row is not evaluated for the flip, and concurrent_run.c runs the flip from that row on.
 */
#include "concurrent_note.h"

#include "core/cpu.h"

/* Whether a flip is in a set. */
VCS_HOT_FN bool has(const uint64_t *flips, unsigned flip) { return flips[flip >> 6] >> (flip & 63) & 1; }

VCS_HOT_FN bool is_ram(uint16_t addr) { return (addr & 0x1280) == 0x80; }

/* Whether an address is in the cartridge's window and finds a byte of the image without a side effect. */
VCS_HOT_FN bool is_plain(uint64_t hot_pages, uint16_t addr) {
  return addr & 0x1000 && !(hot_pages >> (addr >> 6 & 63) & 1);
}

/* Whether two addresses are on different pages, so that indexing takes a cycle more. */
VCS_HOT_FN bool crosses(uint16_t from, uint16_t to) { return (from ^ to) & 0xFF00; }

/* A byte that the row reads, as the base and as the flips have it. */
typedef struct {
  const uint64_t *differing; /* the set of flips that have another value; NULL: it is not in RAM, or nothing is read */
  const uint8_t *values;
  uint8_t base;
} shared_byte_t;

/* Returns a byte as a flip has it. */
VCS_HOT_FN uint8_t byte_of(const shared_byte_t *byte, unsigned flip) {
  return has(byte->differing, flip) ? byte->values[flip] : byte->base;
}

/* What is the same for all flips at a row. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_t *m; /* the base's machine, a parameter of operations that they do not use */
  const uint8_t *rom;
  const uint32_t *banks;
  uint64_t hot_pages;
  uint64_t key, next_key; /* the base's registers before and after the row */
  uint16_t addr, pointer;
  shared_byte_t operand;
  shared_byte_t low, high; /* the pointer in RAM of a row in mode IZY */
  uint8_t written, mask;
  bool may_store; /* a flip may write another value, in the bits of the mask */
  bool plain;     /* the row reads a byte of the image, and does nothing else */
  bool crosses;   /* from the pointer's page to another one */
} row_context_t;

/* Returns byte i of RAM. */
VCS_HOT_FN shared_byte_t ram_byte(const vcs_own_ram_t *ram, unsigned i, uint8_t base) {
  return (shared_byte_t){ram->differing + (size_t)VCS_FLIP_WORDS * i, ram->values + (size_t)VCS_CONCURRENT_MOST * i,
                         base};
}

/* Finds the pointer of a row in mode IZY. If it is not in RAM, `low` stays empty. */
VCS_HOT_FN void find_pointer(row_context_t *context, const vcs_base_frame_t *frame, uint32_t row,
                             const vcs_own_ram_t *ram) {
  const uint32_t first = frame->rows[row].touch;
  if (frame->rows[row + 1].touch - first < 2) return;
  const unsigned low = frame->touches[first], high = frame->touches[first + 1];
  if (low >= VCS_LOCATION_TIMER || high != low + 1 || high == VCS_LOCATION_TIMER) return;
  const uint8_t *values = frame->touch_values + first;
  context->pointer = (uint16_t)(values[0] | values[1] << 8);
  if ((uint16_t)(context->pointer + (uint8_t)(context->key >> VCS_KEY_Y)) != context->addr) return;
  context->low = ram_byte(ram, low, values[0]);
  context->high = ram_byte(ram, high, values[1]);
  context->crosses = crosses(context->pointer, context->addr);
}

/* Returns what is the same for all flips at a row. */
VCS_HOT_FN row_context_t row_context_of(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                                        const vcs_own_ram_t *ram) {
  const vcs_row_start_t *start = &frame->rows[row];
  const vcs_row_data_t *data = &frame->data[row];
  const unsigned reg = data->addr & 63;
  row_context_t context = {.cart = cart,
                           .m = frame->m,
                           .rom = cart->rom,
                           .banks = frame->mappings[start->mapping].bank,
                           .hot_pages = cart->hot_pages,
                           .key = start->key,
                           .next_key = start[1].key,
                           .addr = data->addr,
                           .plain = is_plain(cart->hot_pages, data->addr),
                           .operand = {NULL, NULL, data->value_read},
                           .written = data->value_written};
  if (is_ram(data->addr)) {
    context.operand = ram_byte(ram, data->addr & 0x7F, data->value_read);
    context.may_store = true;
    context.mask = 0xFF;
  } else {
    context.may_store =
        !(data->addr & 0x1080) && reg != VCS_VSYNC && reg != VCS_VBLANK && start[1].access == start->access + 1;
    context.mask = vcs_note_mask(reg);
  }
  if (vcs_facts_of[data->opcode].mode == VCS_MODE_IZY) find_pointer(&context, frame, row, ram);
  return context;
}

/* Finds the address of a flip's data. False: it is not known, or the access takes another time than the base's. */
VCS_HOT_FN bool find_address(const row_context_t *context, unsigned flip, uint64_t flip_key, unsigned mode,
                             uint16_t *addr) {
  *addr = context->addr;
  switch (mode) {
    case VCS_MODE_ZPX:
    case VCS_MODE_IZX:
      return !((context->key ^ flip_key) >> VCS_KEY_X & 0xFF) && mode == VCS_MODE_ZPX;
    case VCS_MODE_ZPY:
      return !((context->key ^ flip_key) >> VCS_KEY_Y & 0xFF);
    case VCS_MODE_ABX:
    case VCS_MODE_ABY: {
      const unsigned shift = mode == VCS_MODE_ABX ? VCS_KEY_X : VCS_KEY_Y;
      const uint16_t operand = (uint16_t)(context->addr - (uint8_t)(context->key >> shift));
      *addr = (uint16_t)(operand + (uint8_t)(flip_key >> shift));
      return crosses(operand, context->addr) == crosses(operand, *addr);
    }
    case VCS_MODE_IZY: {
      if (!context->low.differing) return false;
      const uint16_t pointer = (uint16_t)(byte_of(&context->low, flip) | byte_of(&context->high, flip) << 8);
      *addr = (uint16_t)(pointer + (uint8_t)(flip_key >> VCS_KEY_Y));
      return context->crosses == crosses(pointer, *addr);
    }
    case VCS_MODE_IND:
      return false;
    default:
      return true;
  }
}

/* Finds the byte that a flip reads at an address. False: it is not known. */
VCS_HOT_FN bool find_operand(const row_context_t *context, unsigned flip, uint16_t addr, uint8_t *value) {
  if (addr == context->addr) {
    *value = context->operand.differing ? byte_of(&context->operand, flip) : context->operand.base;
    return true;
  }
  if (!context->plain || !is_plain(context->hot_pages, addr)) return false;
  *value = context->rom[context->banks[addr >> 10 & 3] + (addr & 0x3FFu)];
  return true;
}

/* Stores a byte of a flip in the place where the base stores one. Returns the flip's result. */
VCS_HOT_FN uint8_t store(const row_context_t *context, uint16_t addr, uint8_t value, uint8_t *stored) {
  if (addr != context->addr) return VCS_LEAVES;
  if (value == context->written) return VCS_FOLLOWS;
  if (!context->may_store) return VCS_LEAVES;
  *stored = value & context->mask;
  return (value ^ context->written) & context->mask ? VCS_STORES : VCS_FOLLOWS;
}

/* Returns a flip's registers before the row. N, V and Z are left out: no operation reads them. */
VCS_HOT_FN vcs_cpu_t registers_of(uint64_t flip_key) {
  return (vcs_cpu_t){.a = (uint8_t)(flip_key >> VCS_KEY_A),
                     .x = (uint8_t)(flip_key >> VCS_KEY_X),
                     .y = (uint8_t)(flip_key >> VCS_KEY_Y),
                     .c = flip_key >> VCS_KEY_P & VCS_FLAG_C,
                     .d = (flip_key >> VCS_KEY_P & VCS_FLAG_D) != 0};
}

/* Returns a flip's registers ^ the base's after the row. `sets` are those that the row sets, a constant: VCS_OF_A ...
 */
VCS_HOT_FN uint64_t set_registers(const row_context_t *context, uint64_t registers, const vcs_cpu_t *cpu,
                                  unsigned sets) {
  uint64_t key = 0, set = (uint64_t)(sets & VCS_OF_P) << VCS_KEY_P;
  if (sets & VCS_OF_A) key |= (uint64_t)cpu->a << VCS_KEY_A, set |= 0xFFull << VCS_KEY_A;
  if (sets & VCS_OF_X) key |= (uint64_t)cpu->x << VCS_KEY_X, set |= 0xFFull << VCS_KEY_X;
  if (sets & VCS_OF_Y) key |= (uint64_t)cpu->y << VCS_KEY_Y, set |= 0xFFull << VCS_KEY_Y;
  unsigned p = 0;
  if (sets & VCS_OF_NZ) p |= (vcs_cpu_is_negative(cpu) ? VCS_FLAG_N : 0u) | (vcs_cpu_is_zero(cpu) ? VCS_FLAG_Z : 0u);
  if (sets & VCS_OF_V) p |= (unsigned)cpu->v << 6;
  if (sets & VCS_OF_D) p |= (unsigned)cpu->d << 3;
  if (sets & VCS_OF_I) p |= (unsigned)cpu->i << 2;
  if (sets & VCS_OF_C) p |= cpu->c;
  if (sets & VCS_OF_P) key |= (uint64_t)p << VCS_KEY_P;
  return (registers & ~set) | ((key ^ context->next_key) & set);
}

/* Evaluates an opcode by its kind of access. Flips leave the path where it sets the stack pointer, except at PHA, PHP
 * and PLA. */
#define EVALUATE(code, operation, mode, access, cost)                                                            \
  case code:                                                                                                     \
    for (uint32_t i = 0; i < count; i++) {                                                                       \
      const unsigned sets = (unsigned)VCS_SETS_##operation, flip = flips->flip[i];                               \
      uint64_t after = flips->registers[i];                                                                      \
      const uint64_t flip_key = context->key ^ after;                                                            \
      vcs_cpu_t registers = registers_of(flip_key), *cpu = &registers;                                           \
      uint16_t addr = context->addr;                                                                             \
      uint8_t value, stored = 0, result = VCS_LEAVES;                                                            \
      if (sets & VCS_OF_S) {                                                                                     \
        EVALUATE_STACKED(code)                                                                                   \
      } else if (find_address(context, flip, flip_key, VCS_MODE_##mode, &addr) &&                                \
                 find_operand(context, flip, addr, &value)) {                                                    \
        EVALUATE_##access(operation) if (result != VCS_LEAVES) after = set_registers(context, after, cpu, sets); \
      }                                                                                                          \
      flips->registers[i] = after;                                                                               \
      if (CAN_STORE(code, access)) flips->value[i] = stored;                                                     \
      flips->result[i] = result;                                                                                 \
      results |= result;                                                                                         \
    }                                                                                                            \
    break;
#define CAN_STORE(code, access)                                                                                \
  (VCS_ACCESS_##access == VCS_ACCESS_WRITE || VCS_ACCESS_##access == VCS_ACCESS_MODIFY || (code) == VCS_PHA || \
   (code) == VCS_PHP)
#define EVALUATE_STACKED(code)                                                                        \
  if ((code) == VCS_PHA) result = store(context, addr, (uint8_t)(flip_key >> VCS_KEY_A), &stored);    \
  if ((code) == VCS_PHP) result = store(context, addr, (uint8_t)(flip_key >> VCS_KEY_P), &stored);    \
  if ((code) == VCS_PLA && context->operand.differing && find_operand(context, flip, addr, &value)) { \
    vcs_op_LDA(cpu, value);                                                                           \
    after = set_registers(context, after, cpu, VCS_OF_A | VCS_OF_NZ);                                 \
    result = VCS_FOLLOWS;                                                                             \
  }
#define EVALUATE_IMPLIED(operation) vcs_do_##operation(context->cart, context->m, cpu, NULL), result = VCS_FOLLOWS;
#define EVALUATE_READ(operation) vcs_op_##operation(cpu, value), result = VCS_FOLLOWS;
#define EVALUATE_WRITE(operation) result = store(context, addr, vcs_op_##operation(cpu, addr), &stored);
#define EVALUATE_MODIFY(operation) result = store(context, addr, vcs_op_##operation(cpu, value), &stored);
#define EVALUATE_STACK(operation)
#define EVALUATE_JUMP(operation)
#define EVALUATE_BRANCH(operation)

unsigned vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                               const vcs_own_ram_t *ram, vcs_followers_t *flips) {
  const uint32_t count = flips->count;
  unsigned results = 0;
  if (!(frame->rows[row].key & 0x1000)) { /* code in RAM may differ */
    for (uint32_t i = 0; i < count; i++) flips->result[i] = VCS_LEAVES;
    return count ? VCS_LEAVES : 0;
  }
  const row_context_t row_context = row_context_of(cart, frame, row, ram), *context = &row_context;
  switch (frame->data[row].opcode) {
    VCS_OPCODES(EVALUATE)
  } /* NOLINT(bugprone-branch-clone): some operations are equal */
  return results;
}
