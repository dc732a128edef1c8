/* concurrent_follow.c: a flip that is awake and stays on the base's path.
 *
 * Most flips that wake up read the byte that differs, store something made from it, and do so with the base's
 * instructions at the base's time. Such a flip needs no machine of its own. Its registers are the base's at each row,
 * with some bits changed; rows that read nothing that differs do to it what they do to the base, and only the other
 * rows are evaluated, by the core's own operations, with the base's operands wherever those are the same.
 *
 * The flip leaves the path at a branch whose flag differs, and at every row whose evaluation needs more than that: an
 * address that differs (but for a table in plain ROM, at the same time), a chip that is written with another value, a
 * return address. Then nothing has happened, and concurrent_run.c runs it from the row on at which it woke.
 */
#include "concurrent_note.h"

#include "core/cpu.h"

VCS_HOT_FN bool has(const uint64_t *bytes, unsigned i) { return bytes[i >> 6] >> (i & 63) & 1; }
VCS_HOT_FN void take(uint64_t *bytes, unsigned i) { bytes[i >> 6] &= ~(1ull << (i & 63)); }

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
  vcs_t *m; /* of its RAM, what the flip has instead of the base's bytes */
} here_t;

/* The pointer in RAM of a row in mode IZY, as the base has read it, or as the flip does. False: it is not in RAM. */
VCS_HOT_FN bool pointers(const here_t *here, const vcs_follow_t *flip, uint16_t *base, uint16_t *own) {
  const vcs_base_frame_t *frame = here->frame;
  const uint32_t first = here->stand->touch;
  if (here->stand[1].touch - first < 2) return false;
  const unsigned low = frame->touches[first], high = frame->touches[first + 1];
  if (low >= VCS_WHERE_TIMER || high != low + 1 || high == VCS_WHERE_TIMER) return false;
  const uint8_t own_low = has(flip->ram, low) ? here->m->ram[low] : frame->touch_values[first];
  const uint8_t own_high = has(flip->ram, high) ? here->m->ram[high] : frame->touch_values[first + 1];
  *base = (uint16_t)(frame->touch_values[first] | frame->touch_values[first + 1] << 8);
  *own = (uint16_t)(own_low | own_high << 8);
  return true;
}

/* Where the flip's row reads or writes. False: not known, or not at the base's time. */
VCS_HOT_FN bool find_address(const here_t *here, const vcs_follow_t *flip, uint64_t own, unsigned mode,
                             uint16_t *addr) {
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
VCS_HOT_FN bool find_operand(const here_t *here, const vcs_follow_t *flip, uint16_t addr, uint8_t *value) {
  *value = here->deed->read;
  if (addr == here->deed->addr) {
    if (is_ram(addr) && has(flip->ram, addr & 0x7F)) *value = here->m->ram[addr & 0x7F];
    return true;
  }
  if (!is_plain(here->cart, addr) || !is_plain(here->cart, here->deed->addr)) return false;
  const vcs_wiring_t *wiring = &here->frame->wirings[here->stand->wiring];
  *value = here->cart->rom[wiring->bank[addr >> 10 & 3] + (addr & 0x3FFu)];
  return true;
}

/* The flip stores a byte where the base stores one. */
static bool store(const here_t *here, vcs_follow_t *flip, uint16_t addr, uint8_t value) {
  const uint8_t base = here->deed->written;
  if (is_ram(addr)) {
    const unsigned i = addr & 0x7F;
    take(flip->ram, i);
    if (value == base) return true;
    if (flip->stored_count == VCS_FOLLOW_MOST) return false;
    flip->stored[flip->stored_count++] = (vcs_follow_byte_t){(uint8_t)i, here->m->ram[i]};
    flip->ram[i >> 6] |= 1ull << (i & 63);
    here->m->ram[i] = value;
    return true;
  }
  if (value == base) return true;
  const unsigned reg = addr & 63;
  if (addr & 0x1080 || reg == VCS_VSYNC || reg == VCS_VBLANK || here->stand[1].access != here->stand->access + 1) {
    return false;
  }
  if (!((value ^ base) & vcs_note_mask(reg))) return true;
  if (flip->access_count == VCS_FOLLOW_MOST) return false;
  flip->accesses[flip->access_count++] =
      (vcs_follow_access_t){here->stand->access, (uint8_t)(value & vcs_note_mask(reg))};
  return true;
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
VCS_HOT_FN bool finish(const here_t *here, vcs_follow_t *flip, const vcs_cpu_t *cpu, const vcs_facts_t *facts,
                       unsigned sets) {
  uint64_t key = 0;
  if (sets & VCS_OF_A) key |= (uint64_t)cpu->a << VCS_KEY_A;
  if (sets & VCS_OF_X) key |= (uint64_t)cpu->x << VCS_KEY_X;
  if (sets & VCS_OF_Y) key |= (uint64_t)cpu->y << VCS_KEY_Y;
  if (sets & VCS_OF_P) key |= (uint64_t)vcs_cpu_status(cpu) << VCS_KEY_P;
  flip->registers = (flip->registers & ~facts->sets) | ((key ^ here->stand[1].key) & facts->sets);
  return true;
}

VCS_HOT_FN bool store_here(const here_t *here, vcs_follow_t *flip, uint16_t addr, uint8_t value) {
  return addr == here->deed->addr && store(here, flip, addr, value);
}

/* A row of each opcode, by its access. One that sets the stack pointer leaves the path, but for PHA, PHP and PLA. */
#define EVALUATE(code, operation, mode, access, cost)                                                        \
  case code: {                                                                                               \
    if ((unsigned)VCS_SETS_##operation & VCS_OF_S) EVALUATE_PUSH(code)                                       \
    if (!find_address(here, flip, own, VCS_MODE_##mode, &addr) || !find_operand(here, flip, addr, &value)) { \
      return false;                                                                                          \
    }                                                                                                        \
    EVALUATE_##access(operation) return finish(here, flip, cpu, facts, (unsigned)VCS_SETS_##operation);      \
  }
#define EVALUATE_PUSH(code)                                                                              \
  {                                                                                                      \
    if ((code) == VCS_PHA) return store_here(here, flip, here->deed->addr, (uint8_t)(own >> VCS_KEY_A)); \
    if ((code) == VCS_PHP) return store_here(here, flip, here->deed->addr, (uint8_t)(own >> VCS_KEY_P)); \
    if ((code) != VCS_PLA || !find_operand(here, flip, here->deed->addr, &value)) return false;          \
    vcs_op_LDA(cpu, value);                                                                              \
    return finish(here, flip, cpu, facts, VCS_OF_A | VCS_OF_NZ);                                         \
  }
#define EVALUATE_IMPLIED(operation) vcs_do_##operation(here->cart, here->m, cpu, NULL);
#define EVALUATE_READ(operation) vcs_op_##operation(cpu, value);
#define EVALUATE_WRITE(operation) \
  if (!store_here(here, flip, addr, vcs_op_##operation(cpu, addr))) return false;
#define EVALUATE_MODIFY(operation) \
  if (!store_here(here, flip, addr, vcs_op_##operation(cpu, value))) return false;
#define EVALUATE_STACK(operation) return false;
#define EVALUATE_JUMP(operation) return false;
#define EVALUATE_BRANCH(operation) return false;

/* A row that reads what differs. False: the flip leaves the path. */
static bool evaluate(const here_t *here, const vcs_facts_t *facts, vcs_follow_t *flip) {
  const uint64_t own = here->stand->key ^ flip->registers;
  vcs_cpu_t registers = registers_of(own), *cpu = &registers;
  uint16_t addr;
  uint8_t value;
  switch (here->deed->opcode) { VCS_OPCODES(EVALUATE) } /* NOLINT(bugprone-branch-clone): some operations are equal */
  return false;
}

/* N and Z of a byte, in a status register. */
VCS_HOT_FN uint64_t nz_of(uint8_t value) { return (uint64_t)((value & VCS_FLAG_N) | (value == 0) << 1) << VCS_KEY_P; }

/* The same for what most rows are: moves between a fixed address and a register. */
VCS_HOT_FN bool evaluate_any(const here_t *here, const vcs_facts_t *facts, vcs_follow_t *flip) {
  if (facts->loads) {
    const uint8_t base = here->deed->read, own = here->m->ram[here->deed->addr & 0x7F];
    flip->registers =
        (flip->registers & ~facts->sets) | (uint64_t)(uint8_t)(base ^ own) << facts->loads | (nz_of(base) ^ nz_of(own));
    return true;
  }
  if (facts->stores) {
    return store(here, flip, here->deed->addr, (uint8_t)((here->stand->key ^ flip->registers) >> facts->stores));
  }
  return evaluate(here, facts, flip);
}

/* Whether a row touches a group of places in which the flip differs; a timer that is set differs no more. */
static bool touches_group(vcs_follow_t *flip, unsigned touch) {
  const unsigned where = touch & 0xFF;
  if (where >= VCS_WHERE_CART_RAM) return flip->cart_ram >> (where - VCS_WHERE_CART_RAM) & 1;
  const uint32_t group = 1u << (where - VCS_WHERE_TIMER);
  if (!(touch & VCS_WHERE_REPLACED)) return flip->groups & group;
  flip->groups &= ~group;
  return false;
}

/* A row with many touches. */
static bool touch_all(const here_t *here, vcs_follow_t *flip, bool *reads) {
  for (uint32_t i = here->stand->touch; i < here->stand[1].touch; i++) {
    const unsigned touch = here->frame->touches[i], where = touch & 0xFF;
    if (where >= VCS_WHERE_TIMER) {
      if (touches_group(flip, touch)) return false;
    } else if (!(touch & VCS_WHERE_REPLACED)) {
      *reads |= has(flip->ram, where);
    } else if (!*reads) {
      take(flip->ram, where);
    }
  }
  return true;
}

/* The flip's next row. False: it leaves the path. */
VCS_HOT_FN bool pass(const here_t *here, vcs_follow_t *flip) {
  const vcs_deed_t *deed = here->deed;
  const vcs_facts_t *facts = &vcs_facts_of[deed->opcode];
  bool reads = flip->registers & facts->reads;
  if (VCS_UNLIKELY(deed->many)) {
    if (!touch_all(here, flip, &reads)) return false;
    if (deed->latch && (flip->beam || flip->access_count)) return false;
  } else {
    reads |= has(flip->ram, deed->in);
    if (!reads) take(flip->ram, deed->out);
  }
  if (reads) return here->stand->key & 0x1000 && evaluate_any(here, facts, flip); /* code in RAM may be what differs */
  flip->registers &= ~facts->sets;
  return true;
}

int32_t vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_follow_t *flip,
                              uint32_t from) {
  here_t here = {cart, frame, &frame->rows[from], &frame->deeds[from], m};
  const vcs_stand_t *end = &frame->rows[frame->count];
  flip->stored_count = flip->access_count = 0;
  while (here.stand != end && pass(&here, flip)) {
    here.stand++;
    here.deed++;
    if (!(flip->registers & here.stand->live)) return (int32_t)(here.stand - frame->rows);
  }
  while (flip->stored_count) {
    const vcs_follow_byte_t *byte = &flip->stored[--flip->stored_count];
    m->ram[byte->at] = byte->old;
  }
  return -1;
}
