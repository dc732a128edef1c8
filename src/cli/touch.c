/* touch.c: what an instruction is about to read and write (touch.h). */
#include "cli/touch.h"

#include "cli/symbols.h"
#include "core/cpu_ops.h"
#include "core/state.h"

static void touch(vcs_touched_t *touched, unsigned address, bool writes) {
  touched->address[touched->count] = vcs_address_plain((uint16_t)address, writes);
  touched->full[touched->count] = (uint16_t)address;
  touched->writes[touched->count++] = writes;
}

/* Reads a pointer from zero page and counts it. */
static unsigned follow(vcs_touched_t *touched, const vcs_cart_t *cart, const vcs_t *m, unsigned zero_page) {
  const unsigned low = zero_page & 0xFF, high = (zero_page + 1) & 0xFF;
  touch(touched, low, false);
  touch(touched, high, false);
  return vcs_peek(cart, m, (uint16_t)low) | vcs_peek(cart, m, (uint16_t)high) << 8;
}

static void touch_stack(vcs_touched_t *touched, uint8_t opcode, unsigned sp) {
  const int count = vcs_pushed(opcode);
  for (int i = 0; i < count; i++) touch(touched, 0x100 | ((sp - (unsigned)i) & 0xFF), true);
  for (int i = 1; i <= -count; i++) touch(touched, 0x100 | ((sp + (unsigned)i) & 0xFF), false);
}

vcs_touched_t vcs_about_to_touch(const vcs_cart_t *cart, const vcs_t *m) {
  vcs_touched_t touched = {.count = 0};
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
      address = follow(&touched, cart, m, low + m->x);
      break;
    case VCS_MODE_IZY:
      address = follow(&touched, cart, m, low) + m->y;
      break;
    case VCS_MODE_IND:
      touch(&touched, word, false);
      touch(&touched, (word & 0xFF00) | ((word + 1) & 0xFF), false);
      return touched;
    default:
      break;
  }
  const bool memory = op.mode != VCS_MODE_IMM && op.mode != VCS_MODE_REL;
  if (memory && (op.access == VCS_ACCESS_READ || op.access == VCS_ACCESS_MODIFY)) touch(&touched, address, false);
  if (memory && (op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY)) touch(&touched, address, true);
  if (op.access == VCS_ACCESS_STACK) touch_stack(&touched, opcode, m->sp);
  return touched;
}
