/* accesses.c: what an instruction is about to read and write, from its opcode, operand and registers (study.h). */
#include "core/cpu_ops.h"
#include "core/state.h"
#include "study/internal.h"

static void add_access(vcs_accesses_t *accesses, unsigned address, bool writes) {
  accesses->address[accesses->count] = vcs_address_plain((uint16_t)address, writes);
  accesses->full[accesses->count] = (uint16_t)address;
  accesses->writes[accesses->count++] = writes;
}

/* Reads a pointer from zero page and adds the two reads. */
static unsigned follow(vcs_accesses_t *accesses, const vcs_cart_t *cart, const vcs_t *m, unsigned zero_page) {
  const unsigned low = zero_page & 0xFF, high = (zero_page + 1) & 0xFF;
  add_access(accesses, low, false);
  add_access(accesses, high, false);
  return vcs_peek(cart, m, (uint16_t)low) | vcs_peek(cart, m, (uint16_t)high) << 8;
}

static void add_stack_accesses(vcs_accesses_t *accesses, uint8_t opcode, unsigned sp) {
  const int count = vcs_pushed(opcode);
  for (int i = 0; i < count; i++) add_access(accesses, 0x100 | ((sp - (unsigned)i) & 0xFF), true);
  for (int i = 1; i <= -count; i++) add_access(accesses, 0x100 | ((sp + (unsigned)i) & 0xFF), false);
}

vcs_accesses_t vcs_next_accesses(const vcs_cart_t *cart, const vcs_t *m) {
  vcs_accesses_t accesses = {.count = 0};
  const uint8_t opcode = vcs_peek(cart, m, m->pc);
  const vcs_opcode_t op = vcs_opcode(opcode);
  const unsigned low = vcs_peek(cart, m, (uint16_t)(m->pc + 1));
  const unsigned word = low | (unsigned)vcs_peek(cart, m, (uint16_t)(m->pc + 2)) << 8;
  unsigned address = 0;
  switch (op.mode) {
    case VCS_MODE_ZP:
      address = low;
      break;
    case VCS_MODE_ZPX:
      address = (low + m->x) & 0xFF;
      break;
    case VCS_MODE_ZPY:
      address = (low + m->y) & 0xFF;
      break;
    case VCS_MODE_ABS:
      address = word;
      break;
    case VCS_MODE_ABX:
      address = word + m->x;
      break;
    case VCS_MODE_ABY:
      address = word + m->y;
      break;
    case VCS_MODE_IZX:
      address = follow(&accesses, cart, m, low + m->x);
      break;
    case VCS_MODE_IZY:
      address = follow(&accesses, cart, m, low) + m->y;
      break;
    case VCS_MODE_IND:
      add_access(&accesses, word, false);
      add_access(&accesses, (word & 0xFF00) | ((word + 1) & 0xFF), false);
      return accesses;
    default:
      break;
  }
  const bool memory = op.mode != VCS_MODE_IMM && op.mode != VCS_MODE_REL;
  if (memory && (op.access == VCS_ACCESS_READ || op.access == VCS_ACCESS_MODIFY)) add_access(&accesses, address, false);
  if (memory && (op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY)) add_access(&accesses, address, true);
  if (op.access == VCS_ACCESS_STACK) add_stack_accesses(&accesses, opcode, m->sp);
  return accesses;
}
