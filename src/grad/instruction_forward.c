/* instruction_forward.c: forward mode over one instruction.
 *
 * The function of an instruction (local.h) is evaluated once for each input slot with a tangent, with that input moved.
 * What the results differ in is linked to it.
 */
#include "instruction.h"

#include <string.h>

VCS_STATIC void link_function(const vcs_function_t *f, float *inputs) {
  const vcs_instruction_t *i = f->i;
  for (int lane = 0; lane < VCS_LANES; lane++) {
    unsigned reads = i->uses.reads >> 8 * lane & 0xFF;
    if (i->stores && lane == vcs_index_lane(i->op)) continue; /* SAX (zp,X): link_index does both */
    if (lane != VCS_LANE_P) reads |= reads << 8;
    uint8_t byte = (uint8_t)(f->word >> 8 * lane);
    uint64_t others = f->word & ~VCS_LANE(lane, 0xFF);
    for (; reads; reads &= reads - 1) {
      int slot = VCS_LOWEST(reads);
      float *in = &inputs[VCS_SLOTS * lane + slot];
      if (*in == 0) continue;
      uint64_t result = vcs_local(i->row->opcode, i->row->addr, others | VCS_LANE(lane, vcs_moved(byte, slot)));
      vcs_link_result(f, in, result, vcs_direction(byte, slot));
    }
  }
}

VCS_STATIC void gather(const vcs_sweep_t *s, unsigned lanes, float *to) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (lanes >> lane & 1 && s->live[vcs_lane_offset(lane)])
      memcpy(to + VCS_SLOTS * lane, vcs_slots(s, vcs_lane_offset(lane)), VCS_SLOTS * sizeof *to);
  }
}

/* Stores the tangents of the registers that the instruction sets. */
VCS_STATIC void put(const vcs_sweep_t *s, uint64_t writes, const float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = vcs_slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set) continue;
    float *slots = vcs_slots(s, vcs_lane_offset(lane));
    if (!s->live[vcs_lane_offset(lane)] && !vcs_any(out + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    for (unsigned left = set; left; left &= left - 1)
      slots[VCS_LOWEST(left)] = out[VCS_SLOTS * lane + VCS_LOWEST(left)];
    s->live[vcs_lane_offset(lane)] = vcs_any(slots, VCS_SLOTS);
  }
}

VCS_STATIC void link_row(const vcs_instruction_t *i) {
  vcs_sweep_t *s = i->s;
  const bool stack = vcs_row_kind(i->row->opcode)->stack;
  float in[VCS_SLOTS * VCS_LANES], out[VCS_SLOTS * VCS_LANES];
  const vcs_row_lanes_t lanes = vcs_row_lanes(i, stack, in, out);
  vcs_address_t at;
  vcs_look_back(i, &at);
  const uint64_t word =
      vcs_local_pack(i->row->a, i->row->x, i->row->y, i->row->sp, vcs_row_status(i->row), vcs_operand_of(i));
  const vcs_function_t f = {i, &at, word, vcs_local(i->row->opcode, i->row->addr, word), out};
  gather(s, lanes.looked_at, in);
  if (i->reads) vcs_link_read(i, at.crosses, in + VCS_SLOTS * VCS_LANE_V);
  link_function(&f, in);
  if (stack || vcs_has_address(i, &at))
    vcs_link_address(&f, in + VCS_SLOTS * (lanes.index >= 0 ? lanes.index : VCS_LANE_V));
  for (int lane = 0; lane < VCS_LANES; lane++) {
    if (lanes.set >> lane & 1 && lane != VCS_LANE_P) {
      vcs_cancel_moves(s, -1, (size_t)lane, (uint8_t)(f.result >> 8 * lane), out + VCS_SLOTS * lane);
    }
  }
  put(s, i->uses.writes, out);
  if (i->stores) vcs_link_write(i, out + VCS_SLOTS * VCS_LANE_V);
}

/* Whether a byte of the image that the row fetches or reads has a tangent. The opcode's has no effect. */
VCS_STATIC bool image_moves(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  const int length = vcs_mode_length(i->op.mode);
  for (int k = 1; k < length; k++) {
    if (vcs_cell_live(s, vcs_cell_read(s, (uint16_t)(i->row->pc + k)))) return true;
  }
  return i->reads && i->row->addr & 0x1000 && vcs_cell_live(s, vcs_cell_read(s, i->row->addr));
}

/* Whether nothing that the row reads has a tangent, and nothing that it writes, so that nothing would have one
 * afterwards. Of memory only RAM and the image are looked at; link_row handles pointers, the stack and the chips. */
VCS_STATIC bool is_still(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  const vcs_row_t *row = i->row;
  uint32_t live;
  memcpy(&live, s->live + VCS_OFFSET(a), sizeof live);
  if (live || s->live[VCS_OFFSET(p)] || *vcs_slots(s, VCS_OFFSET(cycles)) != 0) return false;
  if (i->event || row->opcode == VCS_OPAQUE || (s->rom && image_moves(i))) return false;
  switch (i->op.access) {
    case VCS_ACCESS_READ:
    case VCS_ACCESS_WRITE:
    case VCS_ACCESS_MODIFY:
      break;
    default:
      return i->op.access != VCS_ACCESS_STACK;
  }
  if (i->op.mode == VCS_MODE_IMM) return true;
  if (i->op.mode == VCS_MODE_IZX || i->op.mode == VCS_MODE_IZY || s->cart->ram_size) return false;
  if (row->addr & 0x1000) return i->op.access == VCS_ACCESS_READ;
  return (row->addr & 0x280) == 0x80 && !s->live[VCS_OFFSET(ram) + (row->addr & 0x7F)];
}

VCS_EXTERN void vcs_row_forward(vcs_sweep_t *s, int32_t index) {
  vcs_instruction_t i;
  vcs_instruction_begin(&i, s, index);
  if (is_still(&i)) {
    const vcs_applied_t still = vcs_applied(&i);
    vcs_row_apply(&still, s->m);
    return;
  }
  if (i.event) vcs_sweep_span(s, i.event);
  if (i.event && i.event->reg < VCS_EVENT_READ) vcs_sweep_shift(s, s->event);
  link_row(&i);
  vcs_forget_return(&i);
  const vcs_applied_t at = vcs_applied(&i);
  vcs_row_apply(&at, s->m);
}
