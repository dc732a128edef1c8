/* concurrent_latch.c: finds which of the two collisions that an instruction reads matter to the program.
 *
 * A collision register has two bits, 7 and 6. Programs seldom use both: after LDA CXP1FB, BMI tests bit 7, and A and Z
 * are overwritten soon. Some programs read a register only to pass time. If no instruction uses the value of a bit, the
 * collision need not be computed, neither for a flip that sleeps nor for a flip that runs.
 *
 * The code after the read is followed in both directions at branches, with the set of bits of registers and flags that
 * may depend on the bit that was read. If all of them are set before any other instruction reads them, the bit does not
 * matter, whatever else the program does: this is a property of the code alone. Where the analysis would take long, or
 * depends on more than code (returns, banks that may be switched), the bit is taken to matter.
 */
#include "concurrent.h"
#include "core/cart.h"

enum { FOLLOWED_MOST = 192 }; /* instructions that are followed at most; then the bit is taken to matter */
typedef struct {
  const vcs_cart_t *cart;
  const uint32_t *banks;
  unsigned followed; /* instructions so far, each with its set of registers and flags */
  uint16_t pc[FOLLOWED_MOST];
  uint64_t set[FOLLOWED_MOST];
} code_t;

#define FLAG(name) ((uint64_t)VCS_FLAG_##name << VCS_KEY_P)
enum { JMP = 0x4C, RTI = 0x40, ASL_A = 0x0A, ROL_A = 0x2A, LSR_A = 0x4A, ROR_A = 0x6A, BIT_ZP = 0x24, BIT_ABS = 0x2C };
enum { ORA = 0x01, AND = 0x21, EOR = 0x41, LDA = 0xA1, LDX = 0xA2, LDY = 0xA0 }; /* opcodes without their modes */
enum { IMMEDIATE = 0x08 };

static unsigned family(unsigned opcode) { return opcode & 0xE3; }
static bool is_bit(unsigned opcode) { return opcode == BIT_ZP || opcode == BIT_ABS; }
static bool is_branch(unsigned opcode) { return (opcode & 0x1F) == 0x10; }

static bool is_hot(const code_t *code, uint16_t addr) {
  return addr & 0x1000 && code->cart->hot_pages >> (addr >> 6 & 63) & 1;
}

static uint8_t byte_at(const code_t *code, uint16_t addr) {
  return code->cart->rom[code->banks[addr >> 10 & 3] + (addr & 0x3FFu)];
}

static uint16_t word_at(const code_t *code, uint16_t addr) {
  return (uint16_t)(byte_at(code, addr) | byte_at(code, (uint16_t)(addr + 1)) << 8);
}

/* Whether an instruction is in plain ROM, its successors follow from its bytes alone, and it does not switch banks,
 * stop the CPU or end the frame. */
static bool is_straight(const code_t *code, uint16_t pc) {
  for (unsigned i = 0; i < 3; i++) {
    const uint16_t addr = (uint16_t)(pc + i);
    if (!(addr & 0x1000) || is_hot(code, addr)) return false;
  }
  const unsigned opcode = byte_at(code, pc);
  const vcs_facts_t *facts = &vcs_facts_of[opcode];
  const bool jams = (opcode & 0x1F) == 0x12 || (opcode & 0x9F) == 0x02, writes = facts->touches & VCS_TOUCHES_WRITE;
  if (jams || opcode == VCS_BRK || opcode == RTI || opcode == VCS_RTS || opcode == VCS_JMP_INDIRECT) return false;
  switch (facts->mode) {
    case VCS_MODE_IMP:
    case VCS_MODE_ACC:
    case VCS_MODE_IMM:
    case VCS_MODE_REL:
      return true;
    case VCS_MODE_ZP:
      return !writes || byte_at(code, (uint16_t)(pc + 1)) & 0xBF; /* VSYNC */
    case VCS_MODE_ABS:
      return !is_hot(code, word_at(code, (uint16_t)(pc + 1)));
    default:
      return !code->cart->hot_pages;
  }
}

/* Updates a set for an instruction that combines A with an operand and reads no other member of the set. False: the
 * instruction is of another kind. */
static bool combine(const code_t *code, uint16_t pc, uint64_t *set) {
  const unsigned opcode = byte_at(code, pc), operand = byte_at(code, (uint16_t)(pc + 1));
  const bool immediate = (opcode & 0x1C) == IMMEDIATE;
  unsigned a = (unsigned)(*set >> VCS_KEY_A & 0xFF), carry = 0;
  const uint64_t rest = *set & ~vcs_facts_of[opcode].sets;
  if (is_bit(opcode)) {
    *set = rest | FLAG(Z);
    return true;
  }
  if (family(opcode) == AND) {
    if (immediate) a &= operand;
  } else if (family(opcode) == ORA) {
    if (immediate) a &= ~operand;
  } else if (opcode == ASL_A || opcode == ROL_A) {
    carry = a >> 7;
    a = a << 1 & 0xFF;
  } else if (opcode == LSR_A || opcode == ROR_A) {
    carry = a & 1;
    a >>= 1;
  } else if (family(opcode) != EOR) {
    return false;
  }
  *set = (rest & ~(0xFFull << VCS_KEY_A)) | (uint64_t)a << VCS_KEY_A | (a ? FLAG(Z) : 0) | (a & 0x80 ? FLAG(N) : 0) |
         (carry ? FLAG(C) : 0);
  return true;
}

/* Whether an instruction has been followed with this set already, so that following it again gives nothing new. */
static bool was_followed(const code_t *code, uint16_t pc, uint64_t set) {
  for (unsigned i = 0; i < code->followed; i++) {
    if (code->pc[i] == pc && code->set[i] == set) return true;
  }
  return false;
}

/* Whether the code at pc uses a bit of a set. */
static bool looks_at(code_t *code, uint16_t pc, uint64_t set) { /* NOLINT(misc-no-recursion): FOLLOWED_MOST deep */
  while (set) {
    if (was_followed(code, pc, set)) return false;
    if (code->followed == FOLLOWED_MOST || !is_straight(code, pc)) return true;
    code->pc[code->followed] = pc;
    code->set[code->followed++] = set;
    const unsigned opcode = byte_at(code, pc);
    const vcs_facts_t *facts = &vcs_facts_of[opcode];
    uint16_t next = (uint16_t)(pc + vcs_mode_length(facts->mode));
    if (is_branch(opcode)) {
      if (facts->reads & set) return true;
      if (looks_at(code, (uint16_t)(next + (int8_t)byte_at(code, (uint16_t)(pc + 1))), set)) return true;
    } else if (opcode == JMP || opcode == VCS_JSR) {
      next = word_at(code, (uint16_t)(pc + 1));
    } else if (!(facts->reads & set)) {
      set &= ~facts->sets;
    } else if (facts->reads & set & ~(0xFFull << VCS_KEY_A) || !combine(code, pc, &set)) {
      return true;
    }
    pc = next;
  }
  return false;
}

/* Finds the set of bits that depend on a bit of the byte that an instruction reads. False: the instruction does more
 * than load or combine the byte. */
static bool find_set(unsigned opcode, unsigned bit, uint64_t *set) {
  const uint64_t n = bit == 7 ? FLAG(N) : 0;
  if (!(vcs_facts_of[opcode].touches & VCS_TOUCHES_READ)) return false;
  if (is_bit(opcode)) {
    *set = FLAG(Z) | n | (bit == 6 ? FLAG(V) : 0);
  } else if (family(opcode) == LDA || family(opcode) == ORA || family(opcode) == AND || family(opcode) == EOR) {
    *set = FLAG(Z) | n | 1ull << (VCS_KEY_A + bit);
  } else if (family(opcode) == LDX) {
    *set = FLAG(Z) | n | 1ull << (VCS_KEY_X + bit);
  } else if (family(opcode) == LDY) {
    *set = FLAG(Z) | n | 1ull << (VCS_KEY_Y + bit);
  } else {
    return false;
  }
  return true;
}

/* Returns the bits as vcs_latch_bits does. */
static unsigned find_bits(const vcs_cart_t *cart, const uint32_t *banks, uint16_t pc) {
  unsigned bits = 0;
  for (unsigned i = 0; i < 2; i++) {
    code_t code = {.cart = cart, .banks = banks};
    uint64_t set = 0;
    if (!is_straight(&code, pc)) return 3;
    const unsigned opcode = byte_at(&code, pc);
    const uint16_t next = (uint16_t)(pc + vcs_mode_length(vcs_facts_of[opcode].mode));
    if (!find_set(opcode, 7 - i, &set) || looks_at(&code, next, set)) bits |= 1u << i;
  }
  return bits;
}

unsigned vcs_latch_bits(vcs_latch_bits_t *known, const vcs_cart_t *cart, const uint32_t *banks, uint16_t pc) {
  if (cart->snoops || !(pc & 0x1000)) return 3;
  known += pc % VCS_LATCH_BITS;
  if (known->pc != pc || __builtin_memcmp(known->bank, banks, sizeof known->bank) != 0) {
    for (int i = 0; i < 4; i++) known->bank[i] = banks[i];
    known->pc = pc;
    known->bits = (uint8_t)find_bits(cart, banks, pc);
  }
  return known->bits;
}
