/* instruction_reverse.c: reverse mode over one instruction.
 *
 * Reverse mode would have to evaluate the function of an instruction (local.h) for all slots of all its inputs. But
 * most instructions make one byte, and the flags that they set mostly have no adjoint. How that byte changes with an
 * input is then known: it is the input (loads, stores, transfers), it moves as far (sums), or each of its bits follows
 * one bit (AND, ORA, EOR, shifts). made_row handles these rows; computed_row evaluates the function of all other rows.
 * test_linear.c compares both with executing the instruction with every input changed.
 *
 * Either finds deltas: the change of the scalar if a byte had another value (adjoint_delta.h).
 */
#include "instruction.h"

#include <string.h>

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* Takes the adjoints of the registers that the instruction sets, and clears them. */
VCS_STATIC void take(const vcs_sweep_t *s, uint64_t writes, float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = vcs_slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set || !s->live[vcs_lane_offset(lane)]) continue;
    float *slots = vcs_slots(s, vcs_lane_offset(lane));
    for (unsigned left = set; left; left &= left - 1) {
      int slot = VCS_LOWEST(left);
      out[VCS_SLOTS * lane + slot] = slots[slot];
      slots[slot] = 0;
    }
    s->live[vcs_lane_offset(lane)] = lane == VCS_LANE_P && vcs_any(slots, 8);
  }
}

/* Adds to the adjoints of the registers that the instruction reads. */
VCS_STATIC void give(const vcs_sweep_t *s, unsigned lanes, const float *in) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (!(lanes >> lane & 1) || !vcs_any(in + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    float *slots = vcs_slots(s, vcs_lane_offset(lane));
    for (int slot = 0; slot < VCS_SLOTS; slot++) slots[slot] += in[VCS_SLOTS * lane + slot];
    s->live[vcs_lane_offset(lane)] = 1;
  }
}

/* Whether a store that went elsewhere could have hit a byte that matters. */
VCS_STATIC bool might_hit(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  const uint8_t *live = s->live + VCS_OFFSET(ram);
  const uint16_t addr = i->row->addr;
  if (i->op.mode == VCS_MODE_ZP && vcs_cell_read(s, (uint16_t)(i->row->pc + 1)).live < 0) { /* its operand is in ROM */
    if (!s->rom) return false;
    if (!(addr & 0x80)) return live[addr];
    for (int bit = 0; bit < 7; bit++) {
      if (live[(addr ^ 1u << bit) & 0x7F]) return true;
    }
    return false;
  }
  for (int n = 0; n < 128; n++) {
    if (live[n]) return true;
  }
  return s->cart->ram_size > 0;
}

/* ---- Rows whose function is evaluated ---------------------------------------------------------------------------- */

/* Prepares the deltas of the lanes that have an adjoint; `out` has their slots. */
VCS_STATIC void make_deltas(vcs_computed_t *c, const float *out) {
  const uint8_t after[VCS_LANES] = {c->after.a, c->after.x, c->after.y, c->after.sp, vcs_cpu_status(&c->after),
                                    c->v_after};
  for (unsigned lanes = c->has_adjoint; lanes; lanes &= lanes - 1) {
    int lane = VCS_LOWEST(lanes);
    vcs_adjoint_delta_make(&c->deltas[lane], out + VCS_SLOTS * lane, after[lane]);
  }
}

VCS_EXTERN float vcs_adjoint_delta_of_input(const vcs_instruction_t *i, const vcs_computed_t *c, unsigned lanes,
                                            vcs_cpu_t *cpu, uint8_t v) {
  float delta = 0;
  vcs_local_run(i->row->opcode, i->row->addr, cpu, &v);
  if (lanes & 1 << VCS_LANE_A && cpu->a != c->after.a) delta += vcs_adjoint_delta(&c->deltas[VCS_LANE_A], cpu->a);
  if (lanes & 1 << VCS_LANE_V && v != c->v_after) delta += vcs_adjoint_delta(&c->deltas[VCS_LANE_V], v);
  if (lanes & 1 << VCS_LANE_P) delta += vcs_adjoint_delta_bits(&c->deltas[VCS_LANE_P], vcs_cpu_status(cpu));
  if (!(lanes & (1 << VCS_LANE_X | 1 << VCS_LANE_Y | 1 << VCS_LANE_S))) return delta;
  if (lanes & 1 << VCS_LANE_X && cpu->x != c->after.x) delta += vcs_adjoint_delta(&c->deltas[VCS_LANE_X], cpu->x);
  if (lanes & 1 << VCS_LANE_Y && cpu->y != c->after.y) delta += vcs_adjoint_delta(&c->deltas[VCS_LANE_Y], cpu->y);
  if (lanes & 1 << VCS_LANE_S && cpu->sp != c->after.sp) delta += vcs_adjoint_delta(&c->deltas[VCS_LANE_S], cpu->sp);
  return delta;
}

/* The same with one lane's byte moved. */
VCS_HOT_FN float adjoint_delta_of_lane(const vcs_instruction_t *i, const vcs_computed_t *c, int lane, uint8_t byte) {
  vcs_cpu_t cpu = c->before;
  uint8_t v = c->v_before;
  switch (lane) {
    case VCS_LANE_A:
      cpu.a = byte;
      break;
    case VCS_LANE_X:
      cpu.x = byte;
      break;
    case VCS_LANE_Y:
      cpu.y = byte;
      break;
    case VCS_LANE_S:
      cpu.sp = byte;
      break;
    case VCS_LANE_P:
      vcs_cpu_set_status(&cpu, byte);
      break;
    default:
      v = byte;
      break;
  }
  return vcs_adjoint_delta_of_input(i, c, c->has_adjoint, &cpu, v);
}

/* The number of slots of the byte that is read: a byte of ROM has its bits, or none if the caller wants no derivative.
 */
VCS_STATIC int slots_read(const vcs_instruction_t *i) {
  const bool immediate = i->op.mode == VCS_MODE_IMM;
  if (!immediate && !(i->row->addr & 0x1000)) return VCS_SLOTS;
  const vcs_cell_t cell = vcs_cell_read(i->s, immediate ? (uint16_t)(i->row->pc + 1) : i->row->addr);
  return cell.slots ? vcs_cell_slots(cell) : 0;
}

/* `word` is the function's input, `inputs` its slots, `out` those of what it sets. */
VCS_STATIC void delta_by_function(const vcs_instruction_t *i, const vcs_computed_t *c, uint64_t word, const float *out,
                                  float *inputs) {
  for (int lane = 0; lane < VCS_LANES; lane++) {
    const uint8_t byte = (uint8_t)(word >> 8 * lane);
    float *in = inputs + VCS_SLOTS * lane;
    unsigned reads = i->uses.reads >> 8 * lane & 0xFF;
    if (!reads || (i->stores && lane == vcs_index_lane(i->op))) continue; /* SAX (zp,X): vcs_link_address does both */
    const int count = lane == VCS_LANE_V ? slots_read(i) : VCS_SLOTS;
    if (!count) continue;
    if (lane == VCS_LANE_P) {
      for (; reads; reads &= reads - 1) {
        const uint8_t flag = (uint8_t)(1 << VCS_LOWEST(reads));
        const float delta = adjoint_delta_of_lane(i, c, lane, byte ^ flag);
        in[VCS_LOWEST(reads)] += byte & flag ? -delta : delta;
      }
    } else if (lane == VCS_LANE_S && i->op.access == VCS_ACCESS_STACK) { /* it moves as it is counted up or down */
      if (!(c->has_adjoint >> VCS_LANE_S & 1)) continue;
      vcs_moves_t moves;
      vcs_moves_of(&moves, out + VCS_SLOTS * lane, c->after.sp);
      vcs_moves_give(&moves, byte, VCS_SLOTS, in);
    } else {
#define DELTA_OF_BYTE(other) adjoint_delta_of_lane(i, c, lane, other)
      VCS_EACH_MOVE(byte, count, in, DELTA_OF_BYTE)
    }
  }
}

/* `v` are the adjoints of what it stored. */
VCS_STATIC void computed_row(const vcs_instruction_t *i, bool stack, const float v[VCS_SLOTS]) {
  vcs_sweep_t *s = i->s;
  float in[VCS_SLOTS * VCS_LANES], out[VCS_SLOTS * VCS_LANES];
  const vcs_row_lanes_t lanes = vcs_row_lanes(i, stack, in, out);
  memcpy(out + VCS_SLOTS * VCS_LANE_V, v, VCS_SLOTS * sizeof *v);
  take(s, i->uses.writes, out);
  for (int lane = 0; s->directional && lane < VCS_LANES; lane++) {
    if (lanes.set >> lane & 1 && lane != VCS_LANE_P) vcs_cancel_moves(s, -1, (size_t)lane, 0, out + VCS_SLOTS * lane);
  }
  vcs_computed_t c;
  c.has_adjoint = 0;
  for (unsigned left = lanes.set; left; left &= left - 1) {
    int lane = VCS_LOWEST(left);
    if (vcs_any(out + VCS_SLOTS * lane, VCS_SLOTS)) c.has_adjoint |= 1u << lane;
  }
  const bool only_time = !i->stores && !c.has_adjoint;
  if (only_time && !(vcs_may_cross(i->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  vcs_address_t at;
  vcs_look_back(i, &at);
  const uint8_t operand = vcs_operand_of(i);
  const uint64_t word = vcs_local_pack(i->row->a, i->row->x, i->row->y, i->row->sp, vcs_row_status(i->row), operand);
  const uint64_t result = vcs_local(i->row->opcode, i->row->addr, word);
  vcs_local_unpack(word, &c.before, &c.v_before);
  vcs_local_unpack(result, &c.after, &c.v_after);
  make_deltas(&c, out);
  if (!only_time) delta_by_function(i, &c, word, out, in);
  float *index_slots = in + VCS_SLOTS * (lanes.index >= 0 ? lanes.index : VCS_LANE_V);
  if (i->op.access == VCS_ACCESS_WRITE && i->uses.from == i->uses.to) {
    /* SAX, SHA, SHX, SHY, SHS: what the last four store depends on the address */
    const vcs_function_t f = {i, &at, word, result, out};
    if (vcs_has_address(i, &at)) vcs_link_address(&f, index_slots);
  } else if (stack || vcs_has_address(i, &at)) {
    const vcs_access_t access = {i, &at, &c, NULL, out + VCS_SLOTS * VCS_LANE_V, operand, only_time};
    vcs_delta_by_address(&access, index_slots);
  }
  if (i->reads) vcs_link_read(i, at.crosses, in + VCS_SLOTS * VCS_LANE_V);
  give(s, lanes.looked_at, in);
}

/* ---- Rows that make one byte------------------------------------------------------------------------------------ */

/* The lane of that byte. */
VCS_STATIC int lane_made(const vcs_instruction_t *i, vcs_row_how_t how) {
  if (how == VCS_ROW_MOVES) return i->uses.to;
  if (i->op.access == VCS_ACCESS_MODIFY) return VCS_LANE_V;
  return VCS_LOWEST(i->uses.written_lanes);
}

VCS_HOT_FN uint8_t register_in(const vcs_cpu_t *cpu, uint8_t v, int lane) {
  const uint8_t bytes[VCS_LANES] = {cpu->a, cpu->x, cpu->y, cpu->sp, 0, v};
  return bytes[lane];
}

/* The bits of a byte that reach the result of AND, ORA or EOR with another. */
VCS_STATIC uint8_t lets_through(unsigned kind, uint8_t other) {
  return kind == VCS_KIND_ANDS ? other : kind == VCS_KIND_ORS ? (uint8_t)~other : 0xFF;
}

/* The function of such a row, but for one that moves. `lane_set` is the lane of its byte, `before` the registers,
 * `operand` the byte it read, whose adjoints `v` gets. */
VCS_STATIC void delta_by_kind(const vcs_instruction_t *i, vcs_made_t *made, int lane_set, const vcs_cpu_t *before,
                              uint8_t operand, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = i->s;
  const uint8_t opcode = i->row->opcode, a = i->row->a;
  const int lane = VCS_LOWEST(i->uses.read_lanes & ~(1u << VCS_LANE_P)); /* a register; or V alone */
  const uint8_t first = register_in(before, operand, lane);
  float *in = lane == VCS_LANE_V ? v : vcs_slots(s, vcs_lane_offset(lane));
  if (lane != VCS_LANE_V) s->live[vcs_lane_offset(lane)] = 1;
  for (unsigned flags = i->uses.reads >> 8 * VCS_LANE_P & 0xFF; flags; flags &= flags - 1) { /* of C, D: */
    const int bit = VCS_LOWEST(flags);
    const uint8_t status = vcs_cpu_status(before);
    vcs_cpu_t other = *before;
    uint8_t byte = operand;
    vcs_cpu_set_status(&other, (uint8_t)(status ^ 1 << bit));
    vcs_local_run(opcode, i->row->addr, &other, &byte);
    const uint8_t is = register_in(&other, byte, lane_set);
    float delta = made->tabled ? made->of[made->is ^ is] : vcs_adjoint_delta_of(made->byte, made->is, is);
    if (flags & -flags & VCS_FLAG_D) /* in decimal mode N and Z do not follow the byte */
      delta += made->n * (float)(vcs_cpu_is_negative(&other) - (is >> 7)) +
               made->z * (float)(vcs_cpu_is_zero(&other) - (is == 0));
    vcs_slots(s, VCS_OFFSET(p))[bit] += status >> bit & 1 ? -delta : delta;
    s->live[VCS_OFFSET(p)] = 1;
  }
  if (made->how == VCS_ROW_ADDS) {
    vcs_moves_t moves;
    vcs_moves_of(&moves, made->byte, made->is);
    vcs_moves_give(&moves, first, VCS_SLOTS, in);
    if (lane == VCS_LANE_V || !i->reads) return;
    if (i->uses.kind == VCS_KIND_SUBTRACTS) {
      vcs_moves_take(&moves, operand, VCS_SLOTS, v);
    } else {
      vcs_moves_give(&moves, operand, VCS_SLOTS, v);
    }
    return;
  }
  vcs_made_table(made);
  if (made->how == VCS_ROW_SHIFTS) {
    const int by = i->uses.kind == VCS_KIND_SHIFTS_RIGHT ? 0 : 2;
#define DELTA_OF_SHIFT(other) made->of[((first ^ (other)) << by >> 1) & 0xFF]
    VCS_EACH_MOVE(first, VCS_SLOTS, in, DELTA_OF_SHIFT)
    return;
  }
  const uint8_t tells = lets_through(i->uses.kind, operand);
  made->tells = lets_through(i->uses.kind, a);
#define DELTA_OF_MASKED(other) made->of[(a ^ (other)) & tells]
  VCS_EACH_MOVE(a, VCS_SLOTS, in, DELTA_OF_MASKED)
  const int count = slots_read(i);
  if (!count) return;
#define DELTA_OF_MASK(other) made->of[(operand ^ (other)) & made->tells]
  VCS_EACH_MOVE(operand, count, v, DELTA_OF_MASK)
}

/* The adjoints of a register that is set; they end here. */
VCS_STATIC void take_register(const vcs_sweep_t *s, int lane, float out[VCS_SLOTS]) {
  float *slots = vcs_slots(s, vcs_lane_offset(lane));
  memcpy(out, slots, VCS_SLOTS * sizeof *out);
  memset(slots, 0, VCS_SLOTS * sizeof *out);
  s->live[vcs_lane_offset(lane)] = 0;
  if (s->directional) vcs_cancel_moves(s, -1, (size_t)lane, 0, out);
}

/* Pushes and pulls: the stack pointer is counted down or up. */
VCS_STATIC void count_stack(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  vcs_moves_t moves;
  float out[VCS_SLOTS];
  if (!s->live[VCS_OFFSET(sp)]) return;
  take_register(s, VCS_LANE_S, out);
  vcs_moves_of(&moves, out, (uint8_t)(i->reads ? i->row->sp + 1 : i->row->sp - 1));
  vcs_moves_give(&moves, i->row->sp, VCS_SLOTS, vcs_slots(s, VCS_OFFSET(sp)));
  s->live[VCS_OFFSET(sp)] = 1;
}

/* The register that is moved. Of the status there are flags that move, and no carries. */
VCS_STATIC void give_register(const vcs_sweep_t *s, int lane, const float out[VCS_SLOTS]) {
  float *slots = vcs_slots(s, vcs_lane_offset(lane));
  for (int slot = 0; slot < (lane == VCS_LANE_P ? 8 : VCS_SLOTS); slot++) {
    if (lane != VCS_LANE_P || VCS_OF_P >> slot & 1) slots[slot] += out[slot];
  }
  s->live[vcs_lane_offset(lane)] = 1;
}

/* N and Z, which follow the byte: their adjoints end here, and are the byte's. N goes with bit 7. Z does not
 * follow from one bit but from the whole byte: the table has its delta for every byte, and each slot stands for one
 * other byte. */
VCS_STATIC void take_flags(const vcs_sweep_t *s, vcs_made_t *made, float out[VCS_SLOTS]) {
  float *p = vcs_slots(s, VCS_OFFSET(p));
  const float n = p[7], z = p[1], by = made->is == 0 ? -z : z;
  p[7] = p[1] = 0;
  made->n = n;
  made->z = z;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    const uint8_t other = vcs_moved(made->is, slot);
    if ((other ^ made->is) & 0x80) out[slot] += vcs_direction(made->is, slot) * vcs_sign(made->is, 7) * n;
  }
  vcs_made_table(made);
  if (made->is != 0) made->of[made->is] += by; /* the byte that is zero */
  for (int i = 1; made->is == 0 && i < 256; i++) made->of[i] += by;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if ((made->is == 0) != (vcs_moved(made->is, slot) == 0)) out[slot] += vcs_direction(made->is, slot) * by;
  }
}

/* `made->how` is known. `stored` are the adjoints of what it stored, `hits` says whether a store elsewhere could have
 * hit something, `flags` whether N or Z has a nonzero adjoint. */
VCS_STATIC void made_row(const vcs_instruction_t *i, vcs_made_t *made, const float stored[VCS_SLOTS], bool hits,
                         bool flags) {
  vcs_sweep_t *s = i->s;
  const vcs_row_how_t how = made->how;
  const int lane_set = lane_made(i, how);
  const bool stack = i->op.access == VCS_ACCESS_STACK && (i->reads || i->stores);
  float out[VCS_SLOTS], read[VCS_SLOTS] = {0};
  if (lane_set == VCS_LANE_V) {
    memcpy(out, stored, sizeof out);
    if (s->directional) vcs_cancel_moves(s, -1, VCS_LANE_V, 0, out);
  } else {
    take_register(s, lane_set, out);
  }
  if (stack) count_stack(i);
  const bool quiet = !flags && !vcs_any(out, VCS_SLOTS);
  const bool only_time = quiet && !i->stores;
  if (only_time && !(vcs_may_cross(i->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  const uint8_t operand = vcs_operand_of(i);
  vcs_cpu_t before;
  made->byte = out;
  made->is = i->row->value;
  made->tells = 0xFF;
  made->tabled = false;
  made->n = made->z = 0;
  if (how != VCS_ROW_MOVES || flags) {
    before = vcs_registers_of(i->row);
    vcs_cpu_t after = before;
    uint8_t v = operand;
    vcs_local_run(i->row->opcode, i->row->addr, &after, &v);
    made->is = register_in(&after, v, lane_set);
  }
  if (flags) take_flags(s, made, out);
  if (how != VCS_ROW_MOVES && !quiet) delta_by_kind(i, made, lane_set, &before, operand, read);
  const vcs_chip_t chip = vcs_chip_at(i->row->addr);
  const bool spares_nothing = !i->reads && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT); /* what it read may change */
  vcs_address_t at = {0, 0, 0, (uint8_t)i->row->addr, 0, false};
  if (i->stores ? hits || !(quiet || spares_nothing) : i->op.mode != VCS_MODE_IMM && i->reads) {
    const int lane = stack ? VCS_LANE_S : vcs_index_lane(i->op);
    if (!stack && i->op.mode != VCS_MODE_ZP) vcs_look_back(i, &at);
    if (lane >= 0) s->live[vcs_lane_offset(lane)] = 1;
    const vcs_access_t access = {i, &at, NULL, made, out, operand, only_time};
    if (vcs_has_address(i, &at)) vcs_delta_by_address(&access, lane >= 0 ? vcs_slots(s, vcs_lane_offset(lane)) : NULL);
  }
  if (quiet) return;
  if (i->reads) {
    vcs_link_read(i, at.crosses, how == VCS_ROW_MOVES ? out : read);
  } else if (how == VCS_ROW_MOVES) {
    give_register(s, i->uses.from, out);
  }
}

/* ---- Rows whose inputs moved together ---------------------------------------------------------------------------- */

/* Along a direction, the inputs of a row that moved together (instruction_forward.c) share its column. All other inputs
 * have their deltas as always. */
enum { INPUTS_MAX = VCS_SLOTS * (VCS_LANES + 4) };
typedef struct {
  const vcs_kept_move_t *inputs;
  float kept[INPUTS_MAX]; /* their adjoints, if the row does not overwrite them */
  int32_t count;
  float sum; /* the column times the adjoints of what it sets */
} column_t;

VCS_STATIC float *slot_of(const vcs_sweep_t *s, uint32_t slot) {
  if (slot & VCS_OF_ROM) return s->rom ? s->rom + (slot & ~(uint32_t)VCS_OF_ROM) : NULL;
  return s->state + slot;
}

/* Before the row is walked; `v` are the adjoints of what it stored. */
VCS_STATIC void column_take(const vcs_instruction_t *i, const float v[VCS_SLOTS], column_t *column) {
  const vcs_sweep_t *s = i->s;
  int32_t outputs;
  const vcs_kept_move_t *output = vcs_kept_moves(s, VCS_ROW_OUTPUTS, &outputs);
  column->inputs = vcs_kept_moves(s, VCS_ROW_INPUTS, &column->count);
  column->sum = 0;
  for (int32_t k = 0; k < outputs; k++) {
    const uint32_t slot = output[k].slot;
    column->sum += output[k].value * (slot & VCS_OF_DATA ? v[slot & ~(uint32_t)VCS_OF_DATA] : s->state[slot]);
  }
  for (int32_t k = 0; k < column->count; k++) {
    const uint32_t slot = column->inputs[k].slot, lane = slot / VCS_SLOTS - (uint32_t)VCS_OFFSET(a);
    const bool set =
        lane < VCS_LANE_V && vcs_slots_set((int)lane, i->uses.writes >> 8 * lane & 0xFF) >> slot % VCS_SLOTS & 1;
    const float *at = slot_of(s, slot);
    column->kept[k] = set || !at ? 0 : *at;
  }
}

/* After it. */
VCS_STATIC void column_give(const vcs_sweep_t *s, const column_t *column) {
  for (int32_t k = 0; k < column->count; k++) {
    const uint32_t slot = column->inputs[k].slot;
    float *at = slot_of(s, slot);
    if (!at) continue;
    *at = column->kept[k] + column->sum / ((float)column->count * column->inputs[k].value);
    if (!(slot & VCS_OF_ROM)) s->live[slot / VCS_SLOTS] = 1;
  }
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------
 */

VCS_EXTERN void vcs_row_reverse(vcs_sweep_t *s, int32_t index) {
  vcs_instruction_t i;
  vcs_instruction_begin(&i, s, index);
  const vcs_row_t *row = i.row;
  const vcs_row_kind_t *kind = vcs_row_kind(row->opcode);
  float v[VCS_SLOTS] = {0};
  const vcs_applied_t at = vcs_applied(&i);
  vcs_row_undo(&at, s->m);
  if (kind->stores) vcs_link_write(&i, v);
  column_t column;
  column.count = 0;
  if (s->directional) column_take(&i, v, &column);
  const bool hits = kind->stores && might_hit(&i);
  const unsigned flags = vcs_flags_with_adjoint(s, kind->flags);
  if (kind->stores || flags || vcs_row_is_needed(s, kind)) {
    const bool decimal = row->flags & VCS_ROW_D && i.uses.reads & VCS_P(VCS_FLAG_D);
    const bool follow = !flags || !(kind->stores || flags & ~(VCS_FLAG_N | VCS_FLAG_Z));
    if (!decimal && kind->how != VCS_ROW_COMPUTES && follow) {
      vcs_made_t made;
      made.how = (vcs_row_how_t)kind->how;
      made_row(&i, &made, v, hits, flags);
    } else if (flags || hits || vcs_row_is_needed(s, kind) || vcs_any(v, VCS_SLOTS)) {
      computed_row(&i, kind->stack, v);
    }
  }
  column_give(s, &column);
  vcs_forget_return(&i);
  if (!i.event) return;
  if (i.event->reg < VCS_EVENT_READ) vcs_sweep_shift(s, s->event);
  vcs_sweep_span(s, i.event);
}
