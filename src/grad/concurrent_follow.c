/* concurrent_follow.c: a row of the base for flips that read what differs.
 *
 * Most flips that wake up read the byte that differs, store something made from it, and do so with the base's
 * instructions at the base's time. Such a flip needs no machine of its own. Its registers are the base's at each row,
 * with some bits changed; rows that read nothing that differs do to it what they do to the base, and only the other
 * rows are evaluated, by the core's own operations, with the base's operands wherever those are the same. All flips
 * that need a row are evaluated together, so that its opcode is looked at once.
 *
 * A flip leaves the path at a branch whose flag differs, and at every row whose evaluation needs more than that: an
 * address that differs (but for a table in plain ROM, at the same time), a chip that is written with another value, a
 * return address. Then nothing has happened to it, and concurrent_run.c runs it from that row on.
 */
#include "concurrent_note.h"

#include "core/cpu.h"

VCS_HOT_FN bool has(const uint64_t *flips, unsigned flip) { return flips[flip >> 6] >> (flip & 63) & 1; }

VCS_HOT_FN bool is_ram(uint16_t addr) { return (addr & 0x1280) == 0x80; }

/* Whether reading an address finds a byte of the image, and does nothing else. */
VCS_HOT_FN bool is_plain(uint64_t hot_pages, uint16_t addr) {
  return addr & 0x1000 && !(hot_pages >> (addr >> 6 & 63) & 1);
}

VCS_HOT_FN bool crosses(uint16_t from, uint16_t to) { return (from ^ to) & 0xFF00; }

/* A byte of RAM that the row reads, as the base and as flips have it. */
typedef struct {
  const uint64_t *who; /* NULL: it is not in RAM, or nothing is read */
  const uint8_t *own;
  uint8_t base;
} byte_t;

VCS_HOT_FN uint8_t byte_of(const byte_t *byte, unsigned flip) {
  return has(byte->who, flip) ? byte->own[flip] : byte->base;
}

/* What is the same for all flips. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_t *m; /* the base's; nothing that follows looks at it */
  const uint8_t *rom;
  const uint32_t *banks;
  uint64_t hot_pages;
  uint64_t key, next_key; /* the base's registers before the row, and behind it */
  uint16_t addr, pointer;
  byte_t operand;
  byte_t low, high; /* the pointer in RAM of a row in mode IZY */
  uint8_t written, mask;
  bool may_store; /* a flip may write another value, in the bits of the mask */
  bool plain;     /* the row reads a byte of the image, and does nothing else */
  bool crosses;   /* from the pointer's page to another one */
} here_t;

VCS_HOT_FN byte_t ram_byte(const vcs_own_ram_t *ram, unsigned i, uint8_t base) {
  return (byte_t){ram->who + (size_t)VCS_FLIP_WORDS * i, ram->own + (size_t)VCS_CONCURRENT_MOST * i, base};
}

/* The pointer, as the base has read it. Without one in RAM `low` stays empty. */
VCS_HOT_FN void find_pointer(here_t *here, const vcs_base_frame_t *frame, uint32_t row, const vcs_own_ram_t *ram) {
  const uint32_t first = frame->rows[row].touch;
  if (frame->rows[row + 1].touch - first < 2) return;
  const unsigned low = frame->touches[first], high = frame->touches[first + 1];
  if (low >= VCS_WHERE_TIMER || high != low + 1 || high == VCS_WHERE_TIMER) return;
  const uint8_t *values = frame->touch_values + first;
  here->pointer = (uint16_t)(values[0] | values[1] << 8);
  if ((uint16_t)(here->pointer + (uint8_t)(here->key >> VCS_KEY_Y)) != here->addr) return;
  here->low = ram_byte(ram, low, values[0]);
  here->high = ram_byte(ram, high, values[1]);
  here->crosses = crosses(here->pointer, here->addr);
}

VCS_HOT_FN here_t look_around(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                              const vcs_own_ram_t *ram) {
  const vcs_stand_t *stand = &frame->rows[row];
  const vcs_deed_t *deed = &frame->deeds[row];
  const unsigned reg = deed->addr & 63;
  here_t here = {.cart = cart,
                 .m = frame->m,
                 .rom = cart->rom,
                 .banks = frame->wirings[stand->wiring].bank,
                 .hot_pages = cart->hot_pages,
                 .key = stand->key,
                 .next_key = stand[1].key,
                 .addr = deed->addr,
                 .plain = is_plain(cart->hot_pages, deed->addr),
                 .operand = {NULL, NULL, deed->read},
                 .written = deed->written};
  if (is_ram(deed->addr)) {
    here.operand = ram_byte(ram, deed->addr & 0x7F, deed->read);
    here.may_store = true;
    here.mask = 0xFF;
  } else {
    here.may_store =
        !(deed->addr & 0x1080) && reg != VCS_VSYNC && reg != VCS_VBLANK && stand[1].access == stand->access + 1;
    here.mask = vcs_note_mask(reg);
  }
  if (vcs_facts_of[deed->opcode].mode == VCS_MODE_IZY) find_pointer(&here, frame, row, ram);
  return here;
}

/* Where the flip's row reads or writes. False: not known, or not at the base's time. */
VCS_HOT_FN bool find_address(const here_t *here, unsigned flip, uint64_t own, unsigned mode, uint16_t *addr) {
  *addr = here->addr;
  switch (mode) {
    case VCS_MODE_ZPX:
    case VCS_MODE_IZX:
      return !((here->key ^ own) >> VCS_KEY_X & 0xFF) && mode == VCS_MODE_ZPX;
    case VCS_MODE_ZPY:
      return !((here->key ^ own) >> VCS_KEY_Y & 0xFF);
    case VCS_MODE_ABX:
    case VCS_MODE_ABY: {
      const unsigned shift = mode == VCS_MODE_ABX ? VCS_KEY_X : VCS_KEY_Y;
      const uint16_t operand = (uint16_t)(here->addr - (uint8_t)(here->key >> shift));
      *addr = (uint16_t)(operand + (uint8_t)(own >> shift));
      return crosses(operand, here->addr) == crosses(operand, *addr);
    }
    case VCS_MODE_IZY: {
      if (!here->low.who) return false;
      const uint16_t pointer = (uint16_t)(byte_of(&here->low, flip) | byte_of(&here->high, flip) << 8);
      *addr = (uint16_t)(pointer + (uint8_t)(own >> VCS_KEY_Y));
      return here->crosses == crosses(pointer, *addr);
    }
    case VCS_MODE_IND:
      return false;
    default:
      return true;
  }
}

/* What the flip's row finds there. */
VCS_HOT_FN bool find_operand(const here_t *here, unsigned flip, uint16_t addr, uint8_t *value) {
  if (addr == here->addr) {
    *value = here->operand.who ? byte_of(&here->operand, flip) : here->operand.base;
    return true;
  }
  if (!here->plain || !is_plain(here->hot_pages, addr)) return false;
  *value = here->rom[here->banks[addr >> 10 & 3] + (addr & 0x3FFu)];
  return true;
}

/* The flip stores a byte where the base stores one. */
VCS_HOT_FN uint8_t store(const here_t *here, uint16_t addr, uint8_t value, uint8_t *stored) {
  if (addr != here->addr) return VCS_LEAVES;
  if (value == here->written) return VCS_FOLLOWS;
  if (!here->may_store) return VCS_LEAVES;
  *stored = value & here->mask;
  return (value ^ here->written) & here->mask ? VCS_STORES : VCS_FOLLOWS;
}

/* The flip's registers before the row. N, V and Z are not read by operations. */
VCS_HOT_FN vcs_cpu_t registers_of(uint64_t own) {
  return (vcs_cpu_t){.a = (uint8_t)(own >> VCS_KEY_A),
                     .x = (uint8_t)(own >> VCS_KEY_X),
                     .y = (uint8_t)(own >> VCS_KEY_Y),
                     .c = own >> VCS_KEY_P & VCS_FLAG_C,
                     .d = (own >> VCS_KEY_P & VCS_FLAG_D) != 0};
}

/* Those behind it, as far as the row sets them: `sets` is a constant, VCS_OF_A and the like. */
VCS_HOT_FN uint64_t finish(const here_t *here, uint64_t registers, const vcs_cpu_t *cpu, unsigned sets) {
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
  return (registers & ~set) | ((key ^ here->next_key) & set);
}

/* A row of each opcode, by its access. One that sets the stack pointer leaves the path, but for PHA, PHP and PLA. */
#define EVALUATE(code, operation, mode, access, cost)                                                               \
  case code:                                                                                                        \
    for (uint32_t i = 0; i < count; i++) {                                                                          \
      const unsigned sets = (unsigned)VCS_SETS_##operation, flip = flips->flip[i];                                  \
      uint64_t after = flips->registers[i];                                                                         \
      const uint64_t own = here->key ^ after;                                                                       \
      vcs_cpu_t registers = registers_of(own), *cpu = &registers;                                                   \
      uint16_t addr = here->addr;                                                                                   \
      uint8_t value, stored = 0, result = VCS_LEAVES;                                                               \
      if (sets & VCS_OF_S) {                                                                                        \
        EVALUATE_STACKED(code)                                                                                      \
      } else if (find_address(here, flip, own, VCS_MODE_##mode, &addr) && find_operand(here, flip, addr, &value)) { \
        EVALUATE_##access(operation) if (result != VCS_LEAVES) after = finish(here, after, cpu, sets);              \
      }                                                                                                             \
      flips->registers[i] = after;                                                                                  \
      if (CAN_STORE(code, access)) flips->value[i] = stored;                                                        \
      flips->result[i] = result;                                                                                    \
      results |= result;                                                                                            \
    }                                                                                                               \
    break;
#define CAN_STORE(code, access)                                                                                \
  (VCS_ACCESS_##access == VCS_ACCESS_WRITE || VCS_ACCESS_##access == VCS_ACCESS_MODIFY || (code) == VCS_PHA || \
   (code) == VCS_PHP)
#define EVALUATE_STACKED(code)                                                             \
  if ((code) == VCS_PHA) result = store(here, addr, (uint8_t)(own >> VCS_KEY_A), &stored); \
  if ((code) == VCS_PHP) result = store(here, addr, (uint8_t)(own >> VCS_KEY_P), &stored); \
  if ((code) == VCS_PLA && find_operand(here, flip, addr, &value)) {                       \
    vcs_op_LDA(cpu, value);                                                                \
    after = finish(here, after, cpu, VCS_OF_A | VCS_OF_NZ);                                \
    result = VCS_FOLLOWS;                                                                  \
  }
#define EVALUATE_IMPLIED(operation) vcs_do_##operation(here->cart, here->m, cpu, NULL), result = VCS_FOLLOWS;
#define EVALUATE_READ(operation) vcs_op_##operation(cpu, value), result = VCS_FOLLOWS;
#define EVALUATE_WRITE(operation) result = store(here, addr, vcs_op_##operation(cpu, addr), &stored);
#define EVALUATE_MODIFY(operation) result = store(here, addr, vcs_op_##operation(cpu, value), &stored);
#define EVALUATE_STACK(operation)
#define EVALUATE_JUMP(operation)
#define EVALUATE_BRANCH(operation)

unsigned vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                               const vcs_own_ram_t *ram, vcs_followers_t *flips) {
  const uint32_t count = flips->count;
  unsigned results = 0;
  if (!(frame->rows[row].key & 0x1000)) { /* code in RAM may be what differs */
    for (uint32_t i = 0; i < count; i++) flips->result[i] = VCS_LEAVES;
    return count ? VCS_LEAVES : 0;
  }
  const here_t position = look_around(cart, frame, row, ram), *here = &position;
  switch (frame->deeds[row].opcode) {
    VCS_OPCODES(EVALUATE)
  } /* NOLINT(bugprone-branch-clone): some operations are equal */
  return results;
}
