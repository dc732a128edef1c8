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

/* ---- Everything at once ------------------------------------------------------------------------------------------
 *
 * Along a direction, if the tangents of all inputs are whole moves (sweep.h) and there are several, or they reach
 * another address, the row is evaluated once: as it would run with everything moved. */

/* A row with moved inputs. */
typedef struct {
  const vcs_function_t *f;
  const float *in;  /* the slots of its inputs */
  uint64_t word;    /* registers and byte, moved */
  vcs_address_t at; /* the address, moved */
  uint8_t spared;   /* what the row's own cell would keep, if it stores elsewhere */
  int moves;        /* one of several steps counts as two */
  bool keeps;       /* the inputs are being kept */
} moved_t;

/* Keeps the inputs in some slots, which begin at `place`. */
VCS_STATIC void keep_inputs(const moved_t *moved, const float *slots, int count, uint32_t place) {
  for (int slot = 0; moved->keeps && slot < count; slot++) {
    if (slots[slot] != 0) vcs_keep_move(moved->f->i->s, VCS_ROW_INPUTS, place + (uint32_t)slot, slots[slot]);
  }
}

/* Moves a byte in memory as its tangents say. An input of the row may be kept. */
VCS_STATIC bool move_content(moved_t *moved, uint16_t addr, bool input, uint8_t *byte) {
  const vcs_sweep_t *s = moved->f->i->s;
  const vcs_cell_t cell = vcs_cell_read(s, addr);
  int moves = 0;
  if (!vcs_cell_live(s, cell)) return true;
  const bool rom = cell.live < 0;
  if (!vcs_move_along(rom ? VCS_OFFSET(p) : (size_t)cell.live, cell.slots, vcs_cell_slots(cell), byte, &moves))
    return false;
  if (!input) return true;
  moved->moves += moves;
  keep_inputs(moved, cell.slots, vcs_cell_slots(cell),
              rom ? VCS_OF_ROM | (uint32_t)(cell.slots - s->rom) : (uint32_t)(VCS_SLOTS * (size_t)cell.live));
  return true;
}

/* Registers, flags, and the byte that is read at the row's own address. */
VCS_STATIC bool move_word(moved_t *moved, int index) {
  const vcs_function_t *f = moved->f;
  const vcs_instruction_t *i = f->i;
  moved->word = f->word;
  for (int lane = 0; lane < VCS_LANES; lane++) {
    const unsigned reads = i->uses.reads >> 8 * lane & 0xFF;
    const float *slots = moved->in + VCS_SLOTS * lane;
    uint8_t byte = (uint8_t)(f->word >> 8 * lane);
    if (!reads && lane != index) continue;
    if (lane == VCS_LANE_V) {
      if (i->reads &&
          !move_content(moved, i->op.mode == VCS_MODE_IMM ? (uint16_t)(i->row->pc + 1) : i->row->addr, true, &byte))
        return false;
    } else if (lane == VCS_LANE_P) {
      for (unsigned left = reads; left; left &= left - 1) {
        const int bit = VCS_LOWEST(left);
        const uint32_t place = (uint32_t)(VCS_SLOTS * VCS_OFFSET(p)) + (uint32_t)bit;
        if (slots[bit] == 0) continue;
        if (!vcs_move_by(VCS_OFFSET(p), bit, slots[bit], byte, &byte)) return false;
        moved->moves++;
        keep_inputs(moved, slots + bit, 1, place);
      }
    } else {
      if (!vcs_move_along(vcs_lane_offset(lane), slots, VCS_SLOTS, &byte, &moved->moves)) return false;
      keep_inputs(moved, slots, VCS_SLOTS, (uint32_t)(VCS_SLOTS * vcs_lane_offset(lane)));
    }
    moved->word = (moved->word & ~VCS_LANE(lane, 0xFF)) | VCS_LANE(lane, byte);
  }
  return true;
}

/* The address, of operands, pointer and index. */
VCS_STATIC bool move_address(moved_t *moved) {
  const vcs_function_t *f = moved->f;
  const vcs_instruction_t *i = f->i;
  const uint8_t x = (uint8_t)(moved->word >> 8 * VCS_LANE_X), y = (uint8_t)(moved->word >> 8 * VCS_LANE_Y);
  uint8_t operand[2] = {f->at->low, f->at->high};
  for (int n = 0; n + 1 < vcs_mode_length(i->op.mode); n++) {
    if (!move_content(moved, (uint16_t)(i->row->pc + 1 + n), true, &operand[n])) return false;
  }
  vcs_address_t *at = &moved->at;
  *at = vcs_address_with(i, operand[0], operand[1], x, y);
  if (!vcs_is_indirect(i->op)) return true;
  if (!vcs_pointer_in_ram(at->pointer)) return false;
  const bool own = at->pointer == f->at->pointer;
  uint8_t base[2] = {(uint8_t)at->base, (uint8_t)(at->base >> 8)};
  for (int n = 0; n < 2; n++) {
    if (!move_content(moved, (uint16_t)(at->pointer + n), own, &base[n])) return false;
  }
  at->base = (uint16_t)(base[0] | base[1] << 8);
  at->addr = (uint16_t)(at->base + (i->op.mode == VCS_MODE_IZY ? y : 0));
  at->crosses = i->op.access == VCS_ACCESS_READ && (at->base ^ at->addr) & 0xFF00;
  return true;
}

/* Moves all inputs. False: they are not whole moves. Bytes of the chips are moved one by one (chips.c). */
VCS_STATIC bool move_inputs(moved_t *moved, int index) {
  const vcs_function_t *f = moved->f;
  const vcs_instruction_t *i = f->i;
  const vcs_chip_t chip = vcs_chip_at(i->row->addr);
  const bool addressed = vcs_has_address(i, f->at);
  moved->at = *f->at;
  moved->moves = 0;
  if (i->op.access == VCS_ACCESS_STACK || (vcs_is_indirect(i->op) && !addressed)) return false;
  if (i->reads && i->op.mode != VCS_MODE_IMM && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT) &&
      vcs_any(moved->in + VCS_SLOTS * VCS_LANE_V, VCS_SLOTS))
    return false;
  if (!move_word(moved, index) || (addressed && !move_address(moved))) return false;
  if (moved->at.addr == f->at->addr) return moved->moves > 1;
  uint8_t byte = 0;
  if (i->stores) {
    const vcs_cell_t spared = vcs_cell_written(i->s, i->row->addr);
    int moves = 0;
    moved->spared = spared.slots ? vcs_cell_content(i->s, spared) : 0;
    if (spared.slots && !vcs_move_along((size_t)spared.live, spared.slots, VCS_SLOTS, &moved->spared, &moves))
      return false;
  }
  if (!i->reads) return true;
  if (!vcs_byte_at(i, moved->at.addr, moved->at.crosses, vcs_byte_before(i->op, &moved->at), &byte) ||
      !move_content(moved, moved->at.addr, false, &byte))
    return false;
  moved->word = (moved->word & ~VCS_V) | VCS_LANE(VCS_LANE_V, byte);
  return true;
}

/* The store at another address: the row's own cell is spared, and another one is hit. */
VCS_STATIC void store_elsewhere(const moved_t *moved, uint8_t value) {
  const vcs_function_t *f = moved->f;
  vcs_sweep_t *s = f->i->s;
  const vcs_cell_t spared = vcs_cell_written(s, f->i->row->addr), hit = vcs_cell_written(s, moved->at.addr);
  float *v = f->out + VCS_SLOTS * VCS_LANE_V, one = 1, was[VCS_SLOTS];
  if (spared.slots == hit.slots) { /* a mirror of the same cell */
    vcs_link_byte(s, &one, v, f->i->row->value, value, 1);
    return;
  }
  if (spared.slots) vcs_link_byte(s, &one, v, f->i->row->value, moved->spared, 1);
  if (!hit.slots) return;
  memcpy(was, hit.slots, sizeof was);
  memset(hit.slots, 0, sizeof was);
  vcs_link_byte(s, &one, hit.slots, vcs_cell_content(s, hit), value, 1);
  vcs_cell_mark(s, hit);
  for (uint32_t k = 0; s->directional && k < VCS_SLOTS; k++) {
    if (hit.slots[k] != was[k])
      vcs_keep_move(s, VCS_ROW_OUTPUTS, (uint32_t)(VCS_SLOTS * (size_t)hit.live) + k, hit.slots[k] - was[k]);
  }
}

/* Keeps what the row has set. */
VCS_STATIC void keep_outputs(const vcs_function_t *f) {
  for (int lane = 0; lane < VCS_LANES; lane++) {
    const unsigned set =
        lane == VCS_LANE_V ? (f->i->stores ? 0xFFFF : 0) : vcs_slots_set(lane, f->i->uses.writes >> 8 * lane & 0xFF);
    const uint32_t place = lane == VCS_LANE_V ? (uint32_t)VCS_OF_DATA : (uint32_t)(VCS_SLOTS * vcs_lane_offset(lane));
    for (unsigned left = set; left; left &= left - 1) {
      const uint32_t slot = (uint32_t)VCS_LOWEST(left);
      const float value = f->out[VCS_SLOTS * (uint32_t)lane + slot];
      if (value != 0) vcs_keep_move(f->i->s, VCS_ROW_OUTPUTS, place + slot, value);
    }
  }
}

/* Evaluates the row with all of its inputs moved. False: they are linked one by one. */
VCS_STATIC bool link_moved(const vcs_function_t *f, int index, const float *in) {
  const vcs_instruction_t *i = f->i;
  vcs_sweep_t *s = i->s;
  moved_t moved = {f, in, 0, {0}, 0, 0, false};
  float one = 1;
  if (s->rule != VCS_SIDE_TANGENT || !move_inputs(&moved, index)) return false;
  if (s->directional) {
    moved.keeps = true;
    move_inputs(&moved, index);
  }
  const uint64_t result = vcs_local(i->row->opcode, moved.at.addr, moved.word), v = i->stores ? VCS_V : 0;
  const uint8_t value = (uint8_t)(result >> 8 * VCS_LANE_V);
  vcs_link_result(f, &one, (result & ~v) | (f->result & v), 1);
  if (moved.at.crosses != f->at->crosses) {
    const float later = moved.at.crosses ? 1 : -1;
    *vcs_slots(s, VCS_OFFSET(cycles)) += later;
    s->live[VCS_OFFSET(cycles)] = 1;
    if (s->directional) vcs_keep_move(s, VCS_ROW_OUTPUTS, (uint32_t)(VCS_SLOTS * VCS_OFFSET(cycles)), later);
  }
  if (i->stores && moved.at.addr == f->at->addr) {
    vcs_link_byte(s, &one, f->out + VCS_SLOTS * VCS_LANE_V, i->row->value, value, 1);
  } else if (i->stores) {
    store_elsewhere(&moved, value);
  }
  if (s->directional) keep_outputs(f);
  return true;
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
  if (!link_moved(&f, lanes.index, in)) {
    link_function(&f, in);
    if (stack || vcs_has_address(i, &at))
      vcs_link_address(&f, in + VCS_SLOTS * (lanes.index >= 0 ? lanes.index : VCS_LANE_V));
  }
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
