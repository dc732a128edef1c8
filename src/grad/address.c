/* address.c: derivatives of where an instruction reads and writes, as links.
 *
 * With one bit of the index, the pointer or the operand flipped, the instruction reads another byte (a peek, without
 * side effects), or writes another cell and leaves this one unchanged; and it may cross a page, which costs a cycle.
 * Each slot of these inputs is linked to what it changes. Forward mode uses the links for all rows; reverse mode uses
 * them for the few stores whose value depends on the address, and finds deltas for all other rows (address_reverse.c).
 *
 * The stops are listed in instruction.c.
 */
#include "instruction.h"

#include <string.h>

/* ---- How an address is formed -------------------------------------------------------------------------------------
 */

VCS_EXTERN uint8_t vcs_byte_before(vcs_opcode_t op, const vcs_address_t *at) {
  switch (op.mode) {
    case VCS_MODE_ZP:
    case VCS_MODE_ZPX:
    case VCS_MODE_ZPY:
      return at->low;
    case VCS_MODE_IZX:
    case VCS_MODE_IZY:
      return (uint8_t)(at->base >> 8);
    default:
      return at->high;
  }
}

/* The address of an indirect access with another base. */
VCS_STATIC vcs_address_t address_with_base(const vcs_instruction_t *i, vcs_address_t at, uint16_t base) {
  at.base = base;
  at.addr = (uint16_t)(base + (i->op.mode == VCS_MODE_IZY ? i->row->y : 0));
  at.crosses = i->op.access == VCS_ACCESS_READ && (at.base ^ at.addr) & 0xFF00;
  return at;
}

VCS_EXTERN void vcs_look_back(const vcs_instruction_t *i, vcs_address_t *at) {
  const vcs_cart_t *cart = i->s->cart;
  const vcs_t *m = i->s->m;
  const vcs_row_t *row = i->row;
  *at = vcs_address_with(i, vcs_code_byte(cart, m, (uint16_t)(row->pc + 1)),
                         vcs_code_byte(cart, m, (uint16_t)(row->pc + 2)), row->x, row->y);
  if (vcs_is_indirect(i->op) && !vcs_pointer_in_ram(at->pointer))
    *at = address_with_base(i, *at, (uint16_t)(row->addr - (i->op.mode == VCS_MODE_IZY ? row->y : 0)));
}

/* ---- Links ---------------------------------------------------------------------------------------------------------
 */

VCS_EXTERN void vcs_link_result(const vcs_function_t *f, float *in, uint64_t result, float weight) {
  uint64_t moved = (result ^ f->result) & f->i->uses.writes;
  for (int lane = 0; moved; lane++, moved >>= 8) {
    if (!(moved & 0xFF)) continue;
    uint8_t was = (uint8_t)(f->result >> 8 * lane), is = (uint8_t)(was ^ (moved & 0xFF));
    if (lane == VCS_LANE_P) {
      vcs_link_bits(f->i->s, in, f->out + VCS_SLOTS * lane, was, is, weight);
    } else {
      vcs_link_byte(f->i->s, in, f->out + VCS_SLOTS * lane, was, is, weight);
    }
  }
}

/* Another cell is written with `value` instead, and this one is spared. Walking forwards the spared cell's new slots
 * are still in V; backwards they are there already. */
VCS_STATIC void link_store_elsewhere(const vcs_function_t *f, float *in, float weight, uint16_t addr, uint8_t value) {
  const vcs_instruction_t *i = f->i;
  vcs_sweep_t *s = i->s;
  float *v = f->out + VCS_SLOTS * VCS_LANE_V;
  vcs_cell_t spared = vcs_cell_written(s, i->row->addr), hit = vcs_cell_written(s, addr);
  if (spared.slots == hit.slots) { /* a mirror of the same cell */
    vcs_link_byte(s, in, v, i->row->value, value, weight);
    return;
  }
  if (spared.slots) vcs_link_byte(s, in, v, i->row->value, vcs_cell_content(s, spared), weight);
  if (!hit.slots || (s->reverse && !s->live[hit.live])) return;
  vcs_link_byte(s, in, hit.slots, vcs_cell_content(s, hit), value, weight);
  if (!s->reverse) vcs_cell_mark(s, hit);
}

/* The access as it would have gone with another address: `in` is the slot on which it depends, `weight` its direction,
 * `word` the registers, possibly with another index. */
VCS_STATIC void link_elsewhere(const vcs_function_t *f, float *in, float weight, vcs_address_t at, uint64_t word) {
  const vcs_instruction_t *i = f->i;
  vcs_sweep_t *s = i->s;
  if (at.crosses != f->at->crosses) {
    vcs_link(s, in, vcs_slots(s, VCS_OFFSET(cycles)), at.crosses ? weight : -weight);
    if (!s->reverse) s->live[VCS_OFFSET(cycles)] = 1;
  }
  if (at.addr == i->row->addr && !(i->stores && word != f->word)) return;
  if (i->reads) {
    uint8_t byte;
    if (!vcs_byte_at(i, at.addr, at.crosses, vcs_byte_before(i->op, &at), &byte)) return;
    word = (word & ~VCS_V) | VCS_LANE(VCS_LANE_V, byte);
  }
  uint64_t result = vcs_local(i->row->opcode, at.addr, word), v = i->stores ? VCS_V : 0;
  vcs_link_result(f, in, (result & ~v) | (f->result & v), weight);
  if (i->stores) link_store_elsewhere(f, in, weight, at.addr, (uint8_t)(result >> 8 * VCS_LANE_V));
}

/* Whether a slot of a source exists and, in forward mode, has a tangent. */
VCS_STATIC bool source_has(const vcs_sweep_t *s, const vcs_source_t *source, int slot) {
  return source->cell.slots && slot < vcs_cell_slots(source->cell) && (s->reverse || source->slots[slot] != 0);
}

VCS_STATIC void link_index(const vcs_function_t *f, int lane, float *in) {
  const vcs_instruction_t *i = f->i;
  vcs_sweep_t *s = i->s;
  const vcs_row_t *row = i->row;
  uint8_t index = lane == VCS_LANE_X ? row->x : row->y;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!s->reverse && in[slot] == 0) continue;
    uint8_t other = vcs_moved(index, slot);
    vcs_address_t at = vcs_address_with(i, f->at->low, f->at->high, lane == VCS_LANE_X ? other : row->x,
                                        lane == VCS_LANE_Y ? other : row->y);
    if (vcs_is_indirect(i->op) && !vcs_pointer_in_ram(at.pointer)) continue;
    link_elsewhere(f, &in[slot], vcs_direction(index, slot), at,
                   (f->word & ~VCS_LANE(lane, 0xFF)) | VCS_LANE(lane, other));
  }
}

VCS_STATIC void link_pointer(const vcs_function_t *f, vcs_source_t *source, int half) {
  const vcs_instruction_t *i = f->i;
  uint8_t byte = (uint8_t)(f->at->base >> 8 * half), other = (uint8_t)(f->at->base >> 8 * !half);
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_has(i->s, source, slot)) continue;
    uint8_t moved = vcs_moved(byte, slot);
    link_elsewhere(f, &source->slots[slot], vcs_direction(byte, slot),
                   address_with_base(i, *f->at, (uint16_t)(half ? moved << 8 | other : other << 8 | moved)), f->word);
  }
}

VCS_STATIC void link_operand(const vcs_function_t *f, vcs_source_t *source, int number) {
  const vcs_instruction_t *i = f->i;
  uint8_t operand = number == 1 ? f->at->low : f->at->high;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_has(i->s, source, slot)) continue;
    uint8_t other = vcs_moved(operand, slot);
    vcs_address_t at =
        vcs_address_with(i, number == 1 ? other : f->at->low, number == 2 ? other : f->at->high, i->row->x, i->row->y);
    if (vcs_is_indirect(i->op) && !vcs_pointer_in_ram(at.pointer)) continue;
    link_elsewhere(f, &source->slots[slot], vcs_direction(operand, slot), at, f->word);
  }
}

VCS_STATIC void link_address(const vcs_function_t *f, float *index) {
  const vcs_instruction_t *i = f->i;
  vcs_sweep_t *s = i->s;
  vcs_source_t pointer[2], operand[2];
  bool indirect = vcs_is_indirect(i->op);
  int operands = vcs_mode_length(i->op.mode) - 1;
  for (int n = 0; indirect && n < 2; n++) vcs_source_take(i, (uint16_t)(f->at->pointer + n), &pointer[n]);
  for (int n = 0; n < operands; n++) vcs_source_take(i, (uint16_t)(i->row->pc + 1 + n), &operand[n]);
  if (vcs_index_lane(i->op) >= 0) link_index(f, vcs_index_lane(i->op), index);
  for (int n = 0; indirect && n < 2; n++) link_pointer(f, &pointer[n], n);
  for (int n = 0; n < operands; n++) link_operand(f, &operand[n], n + 1);
  for (int n = 0; indirect && n < 2; n++) vcs_source_give(s, &pointer[n]);
  for (int n = 0; n < operands; n++) vcs_source_give(s, &operand[n]);
}

VCS_STATIC void link_stack_address(const vcs_function_t *f, float *in) {
  const vcs_instruction_t *i = f->i;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (in[slot] == 0) continue;
    vcs_address_t at = *f->at;
    at.addr = vcs_stack_address(i, vcs_moved(i->row->sp, slot));
    link_elsewhere(f, &in[slot], vcs_direction(i->row->sp, slot), at, f->word);
  }
}

VCS_EXTERN void vcs_link_address(const vcs_function_t *f, float *index) {
  if (f->i->op.access == VCS_ACCESS_STACK) {
    link_stack_address(f, index);
  } else {
    link_address(f, index);
  }
}
