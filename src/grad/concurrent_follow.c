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

VCS_HOT_FN bool has(const uint64_t *bytes, unsigned i) { return bytes[i >> 6] >> (i & 63) & 1; }

VCS_HOT_FN bool is_ram(uint16_t addr) { return (addr & 0x1280) == 0x80; }

/* Whether reading an address finds a byte of the image, and does nothing else. */
VCS_HOT_FN bool is_plain(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && !(cart->hot_pages >> (addr >> 6 & 63) & 1);
}

VCS_HOT_FN bool crosses(uint16_t from, uint16_t to) { return (from ^ to) & 0xFF00; }

typedef struct {
  const vcs_cart_t *cart;
  const vcs_base_frame_t *frame;
  const vcs_stand_t *stand;
  const vcs_deed_t *deed;
} here_t;

/* A flip before the row, and behind it. */
typedef struct {
  uint64_t registers;
  vcs_own_ram_t ram;
  uint8_t value; /* that it stores */
} flip_t;

/* The pointer in RAM of a row in mode IZY, as the base has read it, or as the flip does. False: it is not in RAM. */
VCS_HOT_FN bool pointers(const here_t *here, const flip_t *flip, uint16_t *base, uint16_t *own) {
  const vcs_base_frame_t *frame = here->frame;
  const uint32_t first = here->stand->touch;
  if (here->stand[1].touch - first < 2) return false;
  const unsigned low = frame->touches[first], high = frame->touches[first + 1];
  if (low >= VCS_WHERE_TIMER || high != low + 1 || high == VCS_WHERE_TIMER) return false;
  const uint8_t own_low = has(flip->ram.differs, low) ? flip->ram.own[low] : frame->touch_values[first];
  const uint8_t own_high = has(flip->ram.differs, high) ? flip->ram.own[high] : frame->touch_values[first + 1];
  *base = (uint16_t)(frame->touch_values[first] | frame->touch_values[first + 1] << 8);
  *own = (uint16_t)(own_low | own_high << 8);
  return true;
}

/* Where the flip's row reads or writes. False: not known, or not at the base's time. */
VCS_HOT_FN bool find_address(const here_t *here, const flip_t *flip, uint64_t own, unsigned mode, uint16_t *addr) {
  const uint64_t base = here->stand->key;
  const uint16_t base_addr = here->deed->addr;
  *addr = base_addr;
  switch (mode) {
    case VCS_MODE_ZPX:
    case VCS_MODE_IZX:
      return !((base ^ own) >> VCS_KEY_X & 0xFF) && mode == VCS_MODE_ZPX;
    case VCS_MODE_ZPY:
      return !((base ^ own) >> VCS_KEY_Y & 0xFF);
    case VCS_MODE_ABX:
    case VCS_MODE_ABY: {
      const unsigned shift = mode == VCS_MODE_ABX ? VCS_KEY_X : VCS_KEY_Y;
      const uint16_t operand = (uint16_t)(base_addr - (uint8_t)(base >> shift));
      *addr = (uint16_t)(operand + (uint8_t)(own >> shift));
      return crosses(operand, base_addr) == crosses(operand, *addr);
    }
    case VCS_MODE_IZY: {
      uint16_t pointer, own_pointer;
      if (!pointers(here, flip, &pointer, &own_pointer)) return false;
      if ((uint16_t)(pointer + (uint8_t)(base >> VCS_KEY_Y)) != base_addr) return false;
      *addr = (uint16_t)(own_pointer + (uint8_t)(own >> VCS_KEY_Y));
      return crosses(pointer, base_addr) == crosses(own_pointer, *addr);
    }
    case VCS_MODE_IND:
      return false;
    default:
      return true;
  }
}

/* What the flip's row finds there. */
VCS_HOT_FN bool find_operand(const here_t *here, const flip_t *flip, uint16_t addr, uint8_t *value) {
  *value = here->deed->read;
  if (addr == here->deed->addr) {
    if (is_ram(addr) && has(flip->ram.differs, addr & 0x7F)) *value = flip->ram.own[addr & 0x7F];
    return true;
  }
  if (!is_plain(here->cart, addr) || !is_plain(here->cart, here->deed->addr)) return false;
  const vcs_wiring_t *wiring = &here->frame->wirings[here->stand->wiring];
  *value = here->cart->rom[wiring->bank[addr >> 10 & 3] + (addr & 0x3FFu)];
  return true;
}

/* The flip stores a byte where the base stores one. */
VCS_HOT_FN uint8_t store(const here_t *here, flip_t *flip, uint16_t addr, uint8_t value) {
  const uint8_t base = here->deed->written;
  if (addr != here->deed->addr) return VCS_LEAVES;
  if (value == base) return VCS_FOLLOWS;
  if (!is_ram(addr)) {
    const unsigned reg = addr & 63;
    if (addr & 0x1080 || reg == VCS_VSYNC || reg == VCS_VBLANK || here->stand[1].access != here->stand->access + 1) {
      return VCS_LEAVES;
    }
    if (!((value ^ base) & vcs_note_mask(reg))) return VCS_FOLLOWS;
    value &= vcs_note_mask(reg);
  }
  flip->value = value;
  return VCS_STORES;
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
VCS_HOT_FN void finish(const here_t *here, flip_t *flip, const vcs_cpu_t *cpu, unsigned sets) {
  uint64_t key = 0, set = (uint64_t)(sets & VCS_OF_P) << VCS_KEY_P;
  if (sets & VCS_OF_A) key |= (uint64_t)cpu->a << VCS_KEY_A, set |= 0xFFull << VCS_KEY_A;
  if (sets & VCS_OF_X) key |= (uint64_t)cpu->x << VCS_KEY_X, set |= 0xFFull << VCS_KEY_X;
  if (sets & VCS_OF_Y) key |= (uint64_t)cpu->y << VCS_KEY_Y, set |= 0xFFull << VCS_KEY_Y;
  if (sets & VCS_OF_P) key |= (uint64_t)vcs_cpu_status(cpu) << VCS_KEY_P;
  flip->registers = (flip->registers & ~set) | ((key ^ here->stand[1].key) & set);
}

/* A row of each opcode, by its access. One that sets the stack pointer leaves the path, but for PHA, PHP and PLA. */
#define EVALUATE(code, operation, mode, access, cost)                                                               \
  case code:                                                                                                        \
    for (uint32_t i = 0; i < flips->count; i++) {                                                                   \
      const unsigned sets = (unsigned)VCS_SETS_##operation;                                                         \
      flip_t state = {flips->registers[i], rams[flips->flip[i]], 0}, *flip = &state;                                \
      const uint64_t own = here->stand->key ^ state.registers;                                                      \
      vcs_cpu_t registers = registers_of(own), *cpu = &registers;                                                   \
      uint16_t addr = here->deed->addr;                                                                             \
      uint8_t value, result = VCS_LEAVES;                                                                           \
      if (sets & VCS_OF_S) {                                                                                        \
        EVALUATE_STACKED(code)                                                                                      \
      } else if (find_address(here, flip, own, VCS_MODE_##mode, &addr) && find_operand(here, flip, addr, &value)) { \
        EVALUATE_##access(operation) if (result != VCS_LEAVES) finish(here, flip, cpu, sets);                       \
      }                                                                                                             \
      flips->registers[i] = state.registers;                                                                        \
      flips->value[i] = state.value;                                                                                \
      flips->result[i] = result;                                                                                    \
      results |= result;                                                                                            \
    }                                                                                                               \
    break;
#define EVALUATE_STACKED(code)                                                          \
  if ((code) == VCS_PHA) result = store(here, flip, addr, (uint8_t)(own >> VCS_KEY_A)); \
  if ((code) == VCS_PHP) result = store(here, flip, addr, (uint8_t)(own >> VCS_KEY_P)); \
  if ((code) == VCS_PLA && find_operand(here, flip, addr, &value)) {                    \
    vcs_op_LDA(cpu, value);                                                             \
    finish(here, flip, cpu, VCS_OF_A | VCS_OF_NZ);                                      \
    result = VCS_FOLLOWS;                                                               \
  }
#define EVALUATE_IMPLIED(operation) vcs_do_##operation(here->cart, NULL, cpu, NULL), result = VCS_FOLLOWS;
#define EVALUATE_READ(operation) vcs_op_##operation(cpu, value), result = VCS_FOLLOWS;
#define EVALUATE_WRITE(operation) result = store(here, flip, addr, vcs_op_##operation(cpu, addr));
#define EVALUATE_MODIFY(operation) result = store(here, flip, addr, vcs_op_##operation(cpu, value));
#define EVALUATE_STACK(operation)
#define EVALUATE_JUMP(operation)
#define EVALUATE_BRANCH(operation)

bool vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                           const vcs_own_ram_t *rams, vcs_followers_t *flips) {
  const here_t position = {cart, frame, &frame->rows[row], &frame->deeds[row]}, *here = &position;
  unsigned results = 0;
  if (!(here->stand->key & 0x1000)) { /* code in RAM may be what differs */
    for (uint32_t i = 0; i < flips->count; i++) flips->result[i] = VCS_LEAVES;
    return flips->count == 0;
  }
  switch (here->deed->opcode) { VCS_OPCODES(EVALUATE) } /* NOLINT(bugprone-branch-clone): some operations are equal */
  return !(results & VCS_LEAVES);
}
