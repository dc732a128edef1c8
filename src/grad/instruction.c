/* instruction.c: derivatives of one instruction.
 *
 * An instruction is a sequence of three primitives: it reads a byte, puts registers and the byte through a pure
 * function (local.h), and writes a byte. Reading and writing pass a byte's slots on unchanged. The function is linked
 * by changing each input and evaluating it again. The address is an input too: address.c.
 *
 * Forward mode evaluates the function once for each input slot with a tangent (link_row). Reverse mode would have to
 * evaluate it for all slots of all inputs. But most instructions make one byte, and the flags that they set mostly have
 * no adjoint. How that byte changes with an input is then known: it is the input (loads, stores, transfers), it moves
 * as far (sums), or each of its bits follows one bit (AND, ORA, EOR, shifts). byte_row handles these rows, link_row all
 * others. test_linear.c compares both with executing the instruction with every input changed.
 *
 * Stops: which TIA or RIOT register a store reaches, which collision register a load reaches, what the stack finds in
 * the TIA, pointers in the TIA's registers, bank switches, registers of the DPC, the program counter and with it the
 * cycles of a branch and the bytes of the stack a call fills; opaque rows (tape.h). A byte with two parts in an access
 * (operand, pointer, the byte read) is linked as each of them, to first order.
 */
#include <assert.h>
#include <string.h>

#include "instruction.h"

VCS_DATA uint16_t lane_offset[VCS_LANES - 1] = {VCS_OFFSET(a), VCS_OFFSET(x), VCS_OFFSET(y), VCS_OFFSET(sp),
                                                VCS_OFFSET(p)};

/* forward: out = in, slot by slot */
VCS_STATIC void link_slots(const vcs_sweep_t *s, float *in, float *out, int count) {
  if (s->reverse) {
    for (int i = 0; i < count; i++) in[i] += out[i];
  } else {
    for (int i = 0; i < count; i++) out[i] += in[i];
  }
}

/* ---- Reading and writing the byte itself ------------------------------------------------------------------------ */

/* forward: V = the byte at addr */
VCS_STATIC void link_read(const vcs_work_t *w, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  if (s->reverse && !vcs_any(v, VCS_SLOTS)) return;
  vcs_chip_t chip = vcs_chip_at(w->row->addr);
  if (w->op.mode != VCS_MODE_IMM && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT)) {
    vcs_sweep_chip_read(s, w->row, w->row->addr, vcs_row_time(s->tape, w->row, w->at.crosses), v);
    return;
  }
  vcs_cell_t cell = vcs_cell_read(s, w->op.mode == VCS_MODE_IMM ? (uint16_t)(w->row->pc + 1) : w->row->addr);
  if (!cell.slots || (!s->reverse && !vcs_cell_live(s, cell))) return;
  link_slots(s, cell.slots, v, vcs_cell_slots(cell));
  if (s->reverse) vcs_cell_mark(s, cell);
}

/* forward: the byte at addr = V */
VCS_STATIC void link_write(vcs_work_t *w, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  switch (vcs_chip_at(w->row->addr)) {
    case VCS_TO_TIA:
      if (w->event) vcs_sweep_tia_write(s, w->event, v);
      return;
    case VCS_TO_RIOT:
      vcs_sweep_riot_write(s, w->row, w->row->addr, v);
      return;
    default:
      break;
  }
  vcs_cell_t cell = vcs_cell_written(s, w->row->addr);
  if (!cell.slots) return;
  if (s->reverse) {
    if (!s->live[cell.live]) return;
    memcpy(v, cell.slots, VCS_SLOTS * sizeof *v);
    memset(cell.slots, 0, VCS_SLOTS * sizeof *v);
    s->live[cell.live] = 0;
  } else {
    bool live = vcs_any(v, VCS_SLOTS);
    if (!live && !s->live[cell.live]) return;
    memcpy(cell.slots, v, VCS_SLOTS * sizeof *v);
    s->live[cell.live] = live;
  }
}

/* Clears the slots of bytes that become constants: return addresses on the stack. */
VCS_STATIC void forget_stack(const vcs_sweep_t *s, uint8_t sp, int count) {
  for (int i = 0; i < count; i++) {
    uint16_t addr = (uint16_t)(0x100 + (uint8_t)(sp - i));
    if (vcs_chip_at(addr) != VCS_TO_RAM) continue;
    size_t offset = VCS_OFFSET(ram) + (addr & 0x7F);
    if (!s->live[offset]) continue;
    memset(vcs_slots(s, offset), 0, VCS_SLOTS * sizeof(float));
    s->live[offset] = 0;
  }
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

VCS_EXTERN void vcs_link_result(vcs_work_t *w, float *in, uint64_t result, float weight) {
  uint64_t moved = (result ^ w->result) & w->uses.writes;
  for (int lane = 0; moved; lane++, moved >>= 8) {
    if (!(moved & 0xFF)) continue;
    uint8_t was = (uint8_t)(w->result >> 8 * lane), is = (uint8_t)(was ^ (moved & 0xFF));
    if (lane == VCS_LANE_P) {
      vcs_link_bits(w->s, in, w->out + VCS_SLOTS * lane, was, is, weight);
    } else {
      vcs_link_byte(w->s, in, w->out + VCS_SLOTS * lane, was, is, weight);
    }
  }
}

/* ---- The function in reverse mode: deltas of other inputs -------------------------------------------------------- */

/* Prepares the deltas of the lanes that have an adjoint. */
VCS_STATIC void make_deltas(vcs_work_t *w) {
  const uint8_t after[VCS_LANES] = {w->after.a, w->after.x, w->after.y, w->after.sp, vcs_cpu_status(&w->after),
                                    w->v_after};
  for (unsigned lanes = w->has_adjoint; lanes; lanes &= lanes - 1) {
    int lane = VCS_LOWEST(lanes);
    vcs_adjoint_delta_make(&w->deltas[lane], w->out + VCS_SLOTS * lane, after[lane]);
  }
}

VCS_EXTERN float vcs_adjoint_delta_of_input(const vcs_work_t *w, unsigned lanes, vcs_cpu_t *cpu, uint8_t v) {
  float delta = 0;
  vcs_local_run(w->row->opcode, w->row->addr, cpu, &v);
  if (lanes & 1 << VCS_LANE_A && cpu->a != w->after.a) delta += vcs_adjoint_delta(&w->deltas[VCS_LANE_A], cpu->a);
  if (lanes & 1 << VCS_LANE_V && v != w->v_after) delta += vcs_adjoint_delta(&w->deltas[VCS_LANE_V], v);
  if (lanes & 1 << VCS_LANE_P) delta += vcs_adjoint_delta_bits(&w->deltas[VCS_LANE_P], vcs_cpu_status(cpu));
  if (!(lanes & (1 << VCS_LANE_X | 1 << VCS_LANE_Y | 1 << VCS_LANE_S))) return delta;
  if (lanes & 1 << VCS_LANE_X && cpu->x != w->after.x) delta += vcs_adjoint_delta(&w->deltas[VCS_LANE_X], cpu->x);
  if (lanes & 1 << VCS_LANE_Y && cpu->y != w->after.y) delta += vcs_adjoint_delta(&w->deltas[VCS_LANE_Y], cpu->y);
  if (lanes & 1 << VCS_LANE_S && cpu->sp != w->after.sp) delta += vcs_adjoint_delta(&w->deltas[VCS_LANE_S], cpu->sp);
  return delta;
}

/* The same with one lane's byte moved. */
VCS_HOT_FN float adjoint_delta_of_lane(const vcs_work_t *w, int lane, uint8_t byte) {
  vcs_cpu_t cpu = w->before;
  uint8_t v = w->v_before;
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
  return vcs_adjoint_delta_of_input(w, w->has_adjoint, &cpu, v);
}

/* The number of slots of the byte that is read: a byte of ROM has its bits, or none if the caller wants no derivative.
 */
VCS_STATIC int slots_read(const vcs_work_t *w) {
  const bool immediate = w->op.mode == VCS_MODE_IMM;
  if (!immediate && !(w->row->addr & 0x1000)) return VCS_SLOTS;
  const vcs_cell_t cell = vcs_cell_read(w->s, immediate ? (uint16_t)(w->row->pc + 1) : w->row->addr);
  return cell.slots ? vcs_cell_slots(cell) : 0;
}

VCS_STATIC void delta_by_function(vcs_work_t *w) {
  for (int lane = 0; lane < VCS_LANES; lane++) {
    const uint8_t byte = (uint8_t)(w->word >> 8 * lane);
    float *in = w->in + VCS_SLOTS * lane;
    unsigned reads = w->uses.reads >> 8 * lane & 0xFF;
    if (!reads || (w->stores && lane == vcs_index_lane(w->op))) continue; /* SAX (zp,X): link_index does both */
    const int count = lane == VCS_LANE_V ? slots_read(w) : VCS_SLOTS;
    if (!count) continue;
    if (lane == VCS_LANE_P) {
      for (; reads; reads &= reads - 1) {
        const uint8_t flag = (uint8_t)(1 << VCS_LOWEST(reads));
        const float delta = adjoint_delta_of_lane(w, lane, byte ^ flag);
        in[VCS_LOWEST(reads)] += byte & flag ? -delta : delta;
      }
    } else if (lane == VCS_LANE_S && w->op.access == VCS_ACCESS_STACK) { /* it moves as it is counted up or down */
      if (!(w->has_adjoint >> VCS_LANE_S & 1)) continue;
      vcs_moves_t moves;
      vcs_moves_of(&moves, w->out + VCS_SLOTS * lane, w->after.sp);
      vcs_moves_give(&moves, byte, VCS_SLOTS, in);
    } else {
#define DELTA_OF_BYTE(other) adjoint_delta_of_lane(w, lane, other)
      VCS_EACH_MOVE(byte, count, in, DELTA_OF_BYTE)
    }
  }
}

VCS_STATIC void link_function(vcs_work_t *w) {
  if (w->s->reverse) {
    delta_by_function(w);
    return;
  }
  for (int lane = 0; lane < VCS_LANES; lane++) {
    unsigned reads = w->uses.reads >> 8 * lane & 0xFF;
    if (w->stores && lane == vcs_index_lane(w->op)) continue; /* SAX (zp,X): link_index does both */
    if (lane != VCS_LANE_P) reads |= reads << 8;
    uint8_t byte = (uint8_t)(w->word >> 8 * lane);
    uint64_t others = w->word & ~VCS_LANE(lane, 0xFF);
    for (; reads; reads &= reads - 1) {
      int slot = VCS_LOWEST(reads);
      float *in = &w->in[VCS_SLOTS * lane + slot];
      if (*in == 0) continue;
      uint64_t result = vcs_local(w->row->opcode, w->row->addr, others | VCS_LANE(lane, vcs_moved(byte, slot)));
      vcs_link_result(w, in, result, vcs_direction(byte, slot));
    }
  }
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* Those of some flags that have a nonzero adjoint. */
VCS_HOT_FN unsigned flags_with_adjoint(const vcs_sweep_t *s, unsigned flags) {
  const float *p = vcs_slots(s, VCS_OFFSET(p));
  unsigned found = 0;
  if (!s->live[VCS_OFFSET(p)]) return 0;
  for (; flags; flags &= flags - 1) found |= p[VCS_LOWEST(flags)] != 0 ? flags & -flags : 0;
  return found;
}

VCS_STATIC void gather(const vcs_sweep_t *s, unsigned lanes, float *to) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (lanes >> lane & 1 && s->live[lane_offset[lane]])
      memcpy(to + VCS_SLOTS * lane, vcs_slots(s, lane_offset[lane]), VCS_SLOTS * sizeof *to);
  }
}

/* The slots of a register of which an instruction sets these bits: all, or some flags. */
VCS_STATIC unsigned slots_set(int lane, unsigned bits) { return lane == VCS_LANE_P ? bits : bits ? 0xFFFF : 0; }

/* Reverse mode: takes the adjoints of the registers that the instruction sets, and clears them. */
VCS_STATIC void take(const vcs_sweep_t *s, uint64_t writes, float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set || !s->live[lane_offset[lane]]) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    for (unsigned left = set; left; left &= left - 1) {
      int slot = VCS_LOWEST(left);
      out[VCS_SLOTS * lane + slot] = slots[slot];
      slots[slot] = 0;
    }
    s->live[lane_offset[lane]] = lane == VCS_LANE_P && vcs_any(slots, 8);
  }
}

/* Reverse mode: adds to the adjoints of the registers that the instruction reads. */
VCS_STATIC void give(const vcs_sweep_t *s, unsigned lanes, const float *in) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (!(lanes >> lane & 1) || !vcs_any(in + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    for (int slot = 0; slot < VCS_SLOTS; slot++) slots[slot] += in[VCS_SLOTS * lane + slot];
    s->live[lane_offset[lane]] = 1;
  }
}

/* Forward mode: stores the tangents of the registers that the instruction sets. */
VCS_STATIC void put(const vcs_sweep_t *s, uint64_t writes, const float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    if (!s->live[lane_offset[lane]] && !vcs_any(out + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    for (unsigned left = set; left; left &= left - 1)
      slots[VCS_LOWEST(left)] = out[VCS_SLOTS * lane + VCS_LOWEST(left)];
    s->live[lane_offset[lane]] = vcs_any(slots, VCS_SLOTS);
  }
}

/* ---- Before and after a row ------------------------------------------------------------------------------------- */

/* How to apply the row to s->m, or to undo it: the contents of memory follow the walk. */
VCS_FN vcs_applied_t applied(const vcs_sweep_t *s, const vcs_row_t *row) {
  const vcs_applied_t at = {s->tape, s->cart, s->m, row, s->snapshot};
  return at;
}

/* Points event and snapshot to the first ones at or after the row; the machine's banks and ports are the snapshot's. */
VCS_STATIC void follow(vcs_sweep_t *s, int32_t row) {
  const vcs_tape_t *tape = s->tape;
  int32_t snapshot = s->snapshot, event = s->event;
  if (s->reverse) {
    while (snapshot > 0 && tape->snapshots[snapshot - 1].row >= row) snapshot--;
    while (event > 0 && tape->events[event - 1].row >= row) event--;
  } else {
    while (tape->snapshots[snapshot].row < row) snapshot++;
    while (tape->events[event].row < row) event++;
  }
  s->event = event;
  if (snapshot == s->snapshot) return;
  s->snapshot = snapshot;
  const uint8_t *machine = tape->snapshots[s->snapshot].machine;
  uint8_t *m = (uint8_t *)s->m;
  size_t behind = VCS_OFFSET(ram) + sizeof s->m->ram;
  memcpy(m, machine, VCS_OFFSET(ram));
  memcpy(m + behind, machine + behind, VCS_OFFSET(cart_ram) - behind);
}

/* Whether other addresses can be looked at: not those of a pointer in the TIA. */
VCS_STATIC bool has_address(const vcs_work_t *w) {
  const bool indirect = w->op.mode == VCS_MODE_IZX || w->op.mode == VCS_MODE_IZY;
  return (w->reads || w->stores) && w->op.mode != VCS_MODE_IMM && !(indirect && !vcs_pointer_in_ram(w->at.pointer));
}

/* The byte the row read, before it was modified. */
VCS_STATIC uint8_t operand_of(const vcs_work_t *w) {
  const vcs_row_t *row = w->row;
  if (w->op.access != VCS_ACCESS_MODIFY) return w->reads ? row->value : 0;
  const vcs_chip_t chip = vcs_chip_at(row->addr);
  return chip == VCS_TO_RAM || chip == VCS_TO_CART ? vcs_code_byte(w->s->cart, w->s->m, row->addr) : row->old;
}

VCS_STATIC vcs_cpu_t registers_of(const vcs_row_t *row) {
  vcs_cpu_t cpu = {0};
  cpu.a = row->a, cpu.x = row->x, cpu.y = row->y, cpu.sp = row->sp;
  cpu.nz = row->nz;
  cpu.c = row->flags / VCS_ROW_C & 1, cpu.v = row->flags / VCS_ROW_V & 1;
  cpu.d = row->flags / VCS_ROW_D & 1, cpu.i = row->flags / VCS_ROW_I & 1;
  return cpu;
}

/* Walking backwards, whether a store that went elsewhere could have hit a byte that matters. */
VCS_STATIC bool might_hit(const vcs_work_t *w) {
  const vcs_sweep_t *s = w->s;
  const uint8_t *live = s->live + VCS_OFFSET(ram);
  const uint16_t addr = w->row->addr;
  if (w->op.mode == VCS_MODE_ZP && vcs_cell_read(s, (uint16_t)(w->row->pc + 1)).live < 0) { /* its operand is in ROM */
    if (!s->rom) return false;
    if (!(addr & 0x80)) return live[addr];
    for (int bit = 0; bit < 7; bit++) {
      if (live[(addr ^ 1u << bit) & 0x7F]) return true;
    }
    return false;
  }
  for (int i = 0; i < 128; i++) {
    if (live[i]) return true;
  }
  return s->cart->ram_size > 0;
}

/* ---- Rows that make one byte, backwards -------------------------------------------------------------------------- */

/* The lane of that byte. */
VCS_STATIC int lane_made(const vcs_work_t *w) {
  if (w->how == VCS_ROW_MOVES) return w->uses.to;
  if (w->op.access == VCS_ACCESS_MODIFY) return VCS_LANE_V;
  return VCS_LOWEST(w->uses.written_lanes);
}

VCS_HOT_FN uint8_t register_in(const vcs_cpu_t *cpu, uint8_t v, int lane) {
  const uint8_t bytes[VCS_LANES] = {cpu->a, cpu->x, cpu->y, cpu->sp, 0, v};
  return bytes[lane];
}

/* The bits of a byte that reach the result of AND, ORA or EOR with another. */
VCS_STATIC uint8_t lets_through(unsigned kind, uint8_t other) {
  return kind == VCS_KIND_ANDS ? other : kind == VCS_KIND_ORS ? (uint8_t)~other : 0xFF;
}

/* The function of such a row, but for one that moves; `v` gets the adjoints of the byte it read. */
VCS_STATIC void delta_by_kind(vcs_work_t *w, int made, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  const uint8_t opcode = w->row->opcode, a = w->row->a;
  const int lane = VCS_LOWEST(w->uses.read_lanes & ~(1u << VCS_LANE_P)); /* a register; or V alone */
  const uint8_t first = register_in(&w->before, w->operand, lane);
  float *in = lane == VCS_LANE_V ? v : vcs_slots(s, lane_offset[lane]);
  if (lane != VCS_LANE_V) s->live[lane_offset[lane]] = 1;
  for (unsigned flags = w->uses.reads >> 8 * VCS_LANE_P & 0xFF; flags; flags &= flags - 1) { /* of C, D: */
    const int bit = VCS_LOWEST(flags);
    const uint8_t status = vcs_cpu_status(&w->before);
    vcs_cpu_t other = w->before;
    uint8_t byte = w->operand;
    vcs_cpu_set_status(&other, (uint8_t)(status ^ 1 << bit));
    vcs_local_run(opcode, w->row->addr, &other, &byte);
    const uint8_t is = register_in(&other, byte, made);
    float delta = w->tabled ? w->of[w->is ^ is] : vcs_adjoint_delta_of(w->byte, w->is, is);
    if (flags & -flags & VCS_FLAG_D) /* in decimal mode N and Z do not follow the byte */
      delta +=
          w->n * (float)(vcs_cpu_is_negative(&other) - (is >> 7)) + w->z * (float)(vcs_cpu_is_zero(&other) - (is == 0));
    vcs_slots(s, VCS_OFFSET(p))[bit] += status >> bit & 1 ? -delta : delta;
    s->live[VCS_OFFSET(p)] = 1;
  }
  if (w->how == VCS_ROW_ADDS) {
    vcs_moves_t moves;
    vcs_moves_of(&moves, w->byte, w->is);
    vcs_moves_give(&moves, first, VCS_SLOTS, in);
    if (lane == VCS_LANE_V || !w->reads) return;
    if (w->uses.kind == VCS_KIND_SUBTRACTS) {
      vcs_moves_take(&moves, w->operand, VCS_SLOTS, v);
    } else {
      vcs_moves_give(&moves, w->operand, VCS_SLOTS, v);
    }
    return;
  }
  vcs_work_table(w);
  if (w->how == VCS_ROW_SHIFTS) {
    const int by = w->uses.kind == VCS_KIND_SHIFTS_RIGHT ? 0 : 2;
#define DELTA_OF_SHIFT(other) w->of[((first ^ (other)) << by >> 1) & 0xFF]
    VCS_EACH_MOVE(first, VCS_SLOTS, in, DELTA_OF_SHIFT)
    return;
  }
  const uint8_t tells = lets_through(w->uses.kind, w->operand);
  w->tells = lets_through(w->uses.kind, a);
#define DELTA_OF_MASKED(other) w->of[(a ^ (other)) & tells]
  VCS_EACH_MOVE(a, VCS_SLOTS, in, DELTA_OF_MASKED)
  const int count = slots_read(w);
  if (!count) return;
#define DELTA_OF_MASK(other) w->of[(w->operand ^ (other)) & w->tells]
  VCS_EACH_MOVE(w->operand, count, v, DELTA_OF_MASK)
}

/* The adjoints of a register that is set; they end here. */
VCS_STATIC void take_register(const vcs_sweep_t *s, int lane, float out[VCS_SLOTS]) {
  float *slots = vcs_slots(s, lane_offset[lane]);
  memcpy(out, slots, VCS_SLOTS * sizeof *out);
  memset(slots, 0, VCS_SLOTS * sizeof *out);
  s->live[lane_offset[lane]] = 0;
  if (s->directional) vcs_cancel_moves(s, -1, (size_t)lane, 0, out);
}

/* Pushes and pulls: the stack pointer is counted down or up. */
VCS_STATIC void count_stack(const vcs_work_t *w) {
  const vcs_sweep_t *s = w->s;
  vcs_moves_t moves;
  float out[VCS_SLOTS];
  if (!s->live[VCS_OFFSET(sp)]) return;
  take_register(s, VCS_LANE_S, out);
  vcs_moves_of(&moves, out, (uint8_t)(w->reads ? w->row->sp + 1 : w->row->sp - 1));
  vcs_moves_give(&moves, w->row->sp, VCS_SLOTS, vcs_slots(s, VCS_OFFSET(sp)));
  s->live[VCS_OFFSET(sp)] = 1;
}

/* The register that is moved. Of the status there are flags that move, and no carries. */
VCS_STATIC void give_register(const vcs_sweep_t *s, int lane, const float out[VCS_SLOTS]) {
  float *slots = vcs_slots(s, lane_offset[lane]);
  for (int slot = 0; slot < (lane == VCS_LANE_P ? 8 : VCS_SLOTS); slot++) {
    if (lane != VCS_LANE_P || VCS_OF_P >> slot & 1) slots[slot] += out[slot];
  }
  s->live[lane_offset[lane]] = 1;
}

/* N and Z, which follow the byte: their adjoints end here, and are the byte's. N goes with bit 7. Z does not go with
 * any bit, but with what the byte is: the table has it, and so have the slots, each of which stands for one other byte.
 */
VCS_STATIC void take_flags(vcs_work_t *w, float out[VCS_SLOTS]) {
  float *p = vcs_slots(w->s, VCS_OFFSET(p));
  const float n = p[7], z = p[1], by = w->is == 0 ? -z : z;
  p[7] = p[1] = 0;
  w->n = n;
  w->z = z;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    const uint8_t other = vcs_moved(w->is, slot);
    if ((other ^ w->is) & 0x80) out[slot] += vcs_direction(w->is, slot) * vcs_sign(w->is, 7) * n;
  }
  vcs_work_table(w);
  if (w->is != 0) w->of[w->is] += by; /* the byte that is zero */
  for (int i = 1; w->is == 0 && i < 256; i++) w->of[i] += by;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if ((w->is == 0) != (vcs_moved(w->is, slot) == 0)) out[slot] += vcs_direction(w->is, slot) * by;
  }
}

/* `stored` are the adjoints of what it stored, `hits` says whether a store elsewhere could have hit something, `flags`
 * whether N or Z has a nonzero adjoint. */
VCS_STATIC void byte_row(vcs_work_t *w, const float stored[VCS_SLOTS], bool hits, bool flags) {
  vcs_sweep_t *s = w->s;
  const int made = lane_made(w);
  const bool stack = w->op.access == VCS_ACCESS_STACK && (w->reads || w->stores);
  float *out = w->out + VCS_SLOTS * made, read[VCS_SLOTS] = {0};
  if (made == VCS_LANE_V) {
    memcpy(out, stored, sizeof read);
    if (s->directional) vcs_cancel_moves(s, -1, VCS_LANE_V, 0, out);
  } else {
    take_register(s, made, out);
  }
  if (stack) count_stack(w);
  const bool quiet = !flags && !vcs_any(out, VCS_SLOTS);
  w->only_time = quiet && !w->stores;
  if (w->only_time && !(vcs_may_cross(w->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  w->byte = out;
  w->tabled = false;
  w->n = w->z = 0;
  w->operand = operand_of(w);
  w->is = w->row->value;
  w->tells = 0xFF;
  if (w->how != VCS_ROW_MOVES || flags) {
    w->before = registers_of(w->row);
    w->has_adjoint = 1u << made;
    vcs_cpu_t after = w->before;
    uint8_t v = w->operand;
    vcs_local_run(w->row->opcode, w->row->addr, &after, &v);
    w->is = register_in(&after, v, made);
  }
  if (flags) take_flags(w, out);
  if (w->how != VCS_ROW_MOVES && !quiet) delta_by_kind(w, made, read);
  const vcs_chip_t chip = vcs_chip_at(w->row->addr);
  const bool spares_nothing = !w->reads && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT); /* what it read may change */
  if (w->stores ? hits || !(quiet || spares_nothing) : w->op.mode != VCS_MODE_IMM && w->reads) {
    const int lane = stack ? VCS_LANE_S : vcs_index_lane(w->op);
    if (stack || w->op.mode == VCS_MODE_ZP) {
      w->at.low = (uint8_t)w->row->addr;
      w->at.crosses = false;
    } else {
      vcs_look_back(w);
    }
    if (lane >= 0) s->live[lane_offset[lane]] = 1;
    if (has_address(w)) vcs_link_address(w, lane >= 0 ? vcs_slots(s, lane_offset[lane]) : NULL);
  }
  if (quiet) return;
  if (w->reads) {
    link_read(w, w->how == VCS_ROW_MOVES ? out : read);
  } else if (w->how == VCS_ROW_MOVES) {
    give_register(s, w->uses.from, out);
  }
}

/* ---- Any row ---------------------------------------------------------------------------------------------------- */

/* The links of the row, once it is known that they matter. Backwards V is the adjoint of what it stored. */
VCS_STATIC void link_row(vcs_work_t *w, bool stack, const float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  unsigned set = w->uses.written_lanes | 1u << VCS_LANE_V, looked_at = w->uses.read_lanes | 1u << VCS_LANE_V;
  if (stack) looked_at |= 1u << VCS_LANE_S;
  const int index = vcs_index_lane(w->op);
  if (index >= 0) looked_at |= 1u << index;
  for (int lane = 0; lane < VCS_LANES; lane++) {
    if (looked_at >> lane & 1) memset(w->in + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *v);
    if (set >> lane & 1) memset(w->out + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *v);
  }
  if (s->reverse) {
    memcpy(w->out + VCS_SLOTS * VCS_LANE_V, v, VCS_SLOTS * sizeof *v);
    take(s, w->uses.writes, w->out);
    for (int lane = 0; s->directional && lane < VCS_LANES; lane++) {
      if (set >> lane & 1 && lane != VCS_LANE_P) vcs_cancel_moves(s, -1, (size_t)lane, 0, w->out + VCS_SLOTS * lane);
    }
  }
  w->has_adjoint = 0;
  for (unsigned lanes = s->reverse ? set : 0; lanes; lanes &= lanes - 1) {
    int lane = VCS_LOWEST(lanes);
    if (vcs_any(w->out + VCS_SLOTS * lane, VCS_SLOTS)) w->has_adjoint |= 1u << lane;
  }
  w->how = VCS_ROW_COMPUTES;
  w->only_time = s->reverse && !w->stores && !w->has_adjoint;
  if (w->only_time && !(vcs_may_cross(w->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  vcs_look_back(w);
  w->operand = operand_of(w);
  w->word = vcs_local_pack(w->row->a, w->row->x, w->row->y, w->row->sp, vcs_row_status(w->row), w->operand);
  w->result = vcs_local(w->row->opcode, w->row->addr, w->word);
  if (s->reverse) {
    vcs_local_unpack(w->word, &w->before, &w->v_before);
    vcs_local_unpack(w->result, &w->after, &w->v_after);
    make_deltas(w);
  }
  if (!s->reverse) {
    gather(s, looked_at, w->in);
    if (w->reads) link_read(w, w->in + VCS_SLOTS * VCS_LANE_V);
  }
  if (!w->only_time) link_function(w);
  if (stack) {
    vcs_link_address(w, w->in + VCS_SLOTS * VCS_LANE_S);
  } else if (has_address(w)) {
    vcs_link_address(w, w->in + VCS_SLOTS * (index >= 0 ? index : VCS_LANE_V));
  }
  if (s->reverse) {
    if (w->reads) link_read(w, w->in + VCS_SLOTS * VCS_LANE_V);
    give(s, looked_at, w->in);
  } else {
    for (int lane = 0; lane < VCS_LANES; lane++) {
      if (set >> lane & 1 && lane != VCS_LANE_P) {
        vcs_cancel_moves(s, -1, (size_t)lane, (uint8_t)(w->result >> 8 * lane), w->out + VCS_SLOTS * lane);
      }
    }
    put(s, w->uses.writes, w->out);
    if (w->stores) link_write(w, w->out + VCS_SLOTS * VCS_LANE_V);
  }
}

/* ---- What rows are ---------------------------------------------------------------------------------------------- */

/* Facts by opcode. `lanes` has a one for every register but P that the opcode sets, in the same places in which `live`
 * has a one for every register with an adjoint. Rows that store nothing are skipped when nothing that they set has one.
 */
typedef struct {
  uint32_t lanes;
  uint8_t flags;
  uint8_t how; /* a vcs_row_how_t */
  bool passes, loads, may_cross;
  bool stack, reads, stores;
} kind_t;

#define ONE_IN(set, lane) ((set)&VCS_OF_##lane ? 1U << 8 * VCS_LANE_##lane : 0)
#define HOW(kind)                                                                                  \
  ((kind) == VCS_KIND_MOVES                                                       ? VCS_ROW_MOVES  \
   : (kind) == VCS_KIND_ADDS || (kind) == VCS_KIND_SUBTRACTS                      ? VCS_ROW_ADDS   \
   : (kind) == VCS_KIND_ANDS || (kind) == VCS_KIND_ORS || (kind) == VCS_KIND_XORS ? VCS_ROW_MASKS  \
   : (kind) == VCS_KIND_SHIFTS_LEFT || (kind) == VCS_KIND_SHIFTS_RIGHT            ? VCS_ROW_SHIFTS \
                                                                                  : VCS_ROW_COMPUTES)
#define IS(name, access) (VCS_ACCESS_##access == VCS_ACCESS_##name)
#define KIND(code, operation, mode, access, cycles)                                                             \
  {ONE_IN(VCS_SETS_##operation, A) | ONE_IN(VCS_SETS_##operation, X) | ONE_IN(VCS_SETS_##operation, Y) |        \
       ONE_IN(VCS_SETS_##operation, S),                                                                         \
   VCS_SETS_##operation & 0xFF,                                                                                 \
   HOW((int)VCS_KIND_OF_##operation),                                                                           \
   (code) != VCS_OPAQUE && !IS(WRITE, access) && !IS(MODIFY, access) && !IS(STACK, access),                     \
   IS(READ, access) && VCS_MODE_##mode != VCS_MODE_IMM,                                                         \
   IS(READ, access) &&                                                                                          \
       (VCS_MODE_##mode == VCS_MODE_ABX || VCS_MODE_##mode == VCS_MODE_ABY || VCS_MODE_##mode == VCS_MODE_IZY), \
   VCS_PUSHED_BY_##operation == 1 || VCS_PUSHED_BY_##operation == -1,                                           \
   IS(READ, access) || IS(MODIFY, access) || VCS_PUSHED_BY_##operation == -1,                                   \
   IS(WRITE, access) || IS(MODIFY, access) || VCS_PUSHED_BY_##operation == 1},
VCS_DATA kind_t kinds[256] = {VCS_OPCODES(KIND)};

static_assert(VCS_OFFSET(x) == VCS_OFFSET(a) + VCS_LANE_X && VCS_OFFSET(y) == VCS_OFFSET(a) + VCS_LANE_Y &&
                  VCS_OFFSET(sp) == VCS_OFFSET(a) + VCS_LANE_S && VCS_OFFSET(p) == VCS_OFFSET(a) + VCS_LANE_P,
              "registers are in the order of the lanes");

/* Reverse mode: whether a register that the row sets, or the time it takes, has an adjoint. */
VCS_HOT_FN bool is_needed(const vcs_sweep_t *s, const kind_t *kind) {
  uint32_t live;
  memcpy(&live, s->live + VCS_OFFSET(a), sizeof live);
  return live & kind->lanes || (kind->may_cross && *vcs_slots(s, VCS_OFFSET(cycles)) != 0);
}

VCS_STATIC void begin_row(vcs_sweep_t *s, int32_t index, vcs_work_t *w) {
  const vcs_row_t *row = &s->tape->rows[index];
  follow(s, index);
  w->s = s;
  w->row = row;
  w->op = vcs_opcode(row->opcode);
  w->uses = vcs_uses(row->opcode);
  w->stores = kinds[row->opcode].stores;
  w->reads = kinds[row->opcode].reads;
  w->event = s->tape->events[s->event].row == index ? &s->tape->events[s->event] : NULL;
}

/* Forward mode: whether nothing that the row reads has a tangent, and nothing that it writes, so that nothing would
 * have one afterwards. Of memory only RAM is looked at; pointers, the stack, the chips and bytes of the image with
 * tangents are for link_row. */
VCS_STATIC bool is_still(const vcs_sweep_t *s, const vcs_row_t *row) {
  const vcs_opcode_t op = vcs_opcode(row->opcode);
  uint32_t live;
  memcpy(&live, s->live + VCS_OFFSET(a), sizeof live);
  if (s->rom || live || s->live[VCS_OFFSET(p)] || *vcs_slots(s, VCS_OFFSET(cycles)) != 0) return false;
  if (row->opcode == VCS_OPAQUE) return false;
  switch (op.access) {
    case VCS_ACCESS_READ:
    case VCS_ACCESS_WRITE:
    case VCS_ACCESS_MODIFY:
      break;
    default:
      return op.access != VCS_ACCESS_STACK;
  }
  if (op.mode == VCS_MODE_IMM) return true;
  if (op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY || s->cart->ram_size) return false;
  if (row->addr & 0x1000) return op.access == VCS_ACCESS_READ;
  return (row->addr & 0x280) == 0x80 && !s->live[VCS_OFFSET(ram) + (row->addr & 0x7F)];
}

VCS_STATIC void row_forwards(vcs_sweep_t *s, int32_t index) {
  vcs_work_t w;
#if !defined(__CUDACC__)
  follow(s, index);
  if (s->tape->events[s->event].row != index && is_still(s, &s->tape->rows[index])) {
    const vcs_applied_t still = applied(s, &s->tape->rows[index]);
    vcs_row_apply(&still, s->m);
    return;
  }
#endif
  begin_row(s, index, &w);
  const vcs_row_t *row = w.row;
  if (w.event) vcs_sweep_span(s, w.event);
  if (w.event && w.event->reg < VCS_EVENT_READ) vcs_sweep_shift(s, s->event);
  link_row(&w, kinds[row->opcode].stack, NULL);
  if (row->opcode == VCS_JSR) forget_stack(s, row->sp, 2);
  if (row->opcode == VCS_BRK) forget_stack(s, row->sp, 3);
  const vcs_applied_t at = applied(s, row);
  vcs_row_apply(&at, s->m);
}

VCS_SLOW_FN void row_backwards(vcs_sweep_t *s, int32_t index) {
  vcs_work_t w;
  begin_row(s, index, &w);
  const vcs_row_t *row = w.row;
  const kind_t *kind = &kinds[row->opcode];
  float v[VCS_SLOTS] = {0};
  const vcs_applied_t at = applied(s, row);
  vcs_row_undo(&at, s->m);
  if (kind->stores) link_write(&w, v);
  const bool hits = kind->stores && might_hit(&w);
  const unsigned flags = flags_with_adjoint(s, kind->flags);
  if (kind->stores || flags || is_needed(s, kind)) {
    const bool decimal = row->flags & VCS_ROW_D && w.uses.reads & VCS_P(VCS_FLAG_D);
    const bool follow = !flags || !(kind->stores || flags & ~(VCS_FLAG_N | VCS_FLAG_Z));
    w.how = decimal ? VCS_ROW_COMPUTES : (vcs_row_how_t)kind->how;
    if (w.how != VCS_ROW_COMPUTES && follow) {
      byte_row(&w, v, hits, flags);
    } else if (flags || hits || is_needed(s, kind) || vcs_any(v, VCS_SLOTS)) {
      link_row(&w, kind->stack, v);
    }
  }
  if (row->opcode == VCS_JSR) forget_stack(s, row->sp, 2);
  if (row->opcode == VCS_BRK) forget_stack(s, row->sp, 3);
  if (!w.event) return;
  if (w.event->reg < VCS_EVENT_READ) vcs_sweep_shift(s, s->event);
  vcs_sweep_span(s, w.event);
}

/* Reverse mode: whether the row can be skipped. A read of the TIA ends a span of the picture, so it cannot. */
VCS_STATIC bool passes(const vcs_sweep_t *s, const vcs_row_t *row) {
  const kind_t *kind = &kinds[row->opcode];
  return kind->passes && !(kind->loads && !(row->addr & 0x1080)) && !is_needed(s, kind) &&
         !flags_with_adjoint(s, kind->flags);
}

VCS_EXTERN void vcs_sweep_row(vcs_sweep_t *s, int32_t index) {
  if (s->directional) vcs_directional_at(s, index);
  if (!s->reverse) {
    row_forwards(s, index);
  } else if (!passes(s, &s->tape->rows[index])) {
    row_backwards(s, index);
  }
}
