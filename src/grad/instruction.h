/* instruction.h: the row whose derivative is being computed, as the files about instructions and addresses share it.
 *
 *   instruction.c           both directions: what a row is, the byte that it reads or writes, which way to go
 *   instruction_forward.c   forward mode: links from inputs with a tangent
 *   instruction_reverse.c   reverse mode: deltas of the bytes that the instruction makes
 *   address.c               both directions: how an address was formed; links to accesses at other addresses
 *   address_reverse.c       reverse mode: deltas of accesses at other addresses
 */
#ifndef VCS_GRAD_INSTRUCTION_H
#define VCS_GRAD_INSTRUCTION_H

#include <string.h>

#include "adjoint_delta.h"

/* ---- Cells ---------------------------------------------------------------------------------------------------- */

/* A byte that a data access reaches: its slots, and its offset in the state; ROM has none (-1), and its bits only. */
typedef struct {
  float *slots; /* NULL: it has none */
  int32_t live;
} vcs_cell_t;

VCS_FN int vcs_cell_slots(vcs_cell_t cell) { return cell.live < 0 ? 8 : VCS_SLOTS; }

VCS_FN vcs_cell_t vcs_cell_of_state(const vcs_sweep_t *s, size_t offset) {
  vcs_cell_t cell = {vcs_slots(s, offset), (int32_t)offset};
  return cell;
}

VCS_FN vcs_cell_t vcs_cell_of_rom(const vcs_sweep_t *s, int32_t place) {
  vcs_cell_t cell = {s->rom ? s->rom + 8 * (size_t)place : NULL, -1};
  return cell;
}

VCS_FN vcs_cell_t vcs_cell_read(const vcs_sweep_t *s, uint16_t addr) {
  vcs_cell_t none = {NULL, -1};
  switch (vcs_chip_at(addr)) {
    case VCS_TO_RAM:
      return vcs_cell_of_state(s, VCS_OFFSET(ram) + (addr & 0x7F));
    case VCS_TO_CART: {
      if (!(s->cart->hot_pages >> (addr >> 6 & 63) & 1))
        return vcs_cell_of_rom(s, (int32_t)(s->m->bank[addr >> 10 & 3] + (addr & 0x3FF)));
      int32_t place = vcs_cart_read_place(s->cart, s->m, addr);
      if (place == VCS_CART_REGISTER) return none;
      return place < 0 ? vcs_cell_of_state(s, VCS_OFFSET(cart_ram) + (size_t)~place) : vcs_cell_of_rom(s, place);
    }
    default:
      return none;
  }
}

VCS_FN vcs_cell_t vcs_cell_written(const vcs_sweep_t *s, uint16_t addr) {
  vcs_cell_t none = {NULL, -1};
  const int32_t place = vcs_written_at(s->cart, s->m, addr);
  return place >= 0 ? vcs_cell_of_state(s, (size_t)place) : none;
}

VCS_FN uint8_t vcs_cell_content(const vcs_sweep_t *s, vcs_cell_t cell) { return ((const uint8_t *)s->m)[cell.live]; }

VCS_FN bool vcs_cell_live(const vcs_sweep_t *s, vcs_cell_t cell) {
  if (!cell.slots) return false;
  return cell.live >= 0 ? s->live[cell.live] : vcs_any(cell.slots, 8);
}

VCS_FN void vcs_cell_mark(const vcs_sweep_t *s, vcs_cell_t cell) {
  if (cell.live >= 0) s->live[cell.live] = 1;
}

/* ---- The row ---------------------------------------------------------------------------------------------------- */

/* How a row makes its result, in groups of enum vcs_kind. All but the last make one byte, from which N and Z follow:
 * how it changes with an input is known without evaluating the function. */
typedef enum {
  VCS_ROW_MOVES,   /* the byte read, or a register */
  VCS_ROW_ADDS,    /* the sum of bytes, which moves as they do: ADC, SBC in binary, INC, DEC and their like */
  VCS_ROW_MASKS,   /* AND, ORA, EOR: a byte's bits, some of them, or inverted */
  VCS_ROW_SHIFTS,  /* ASL, LSR, ROL, ROR */
  VCS_ROW_COMPUTES /* any other row */
} vcs_row_how_t;

/* Facts by opcode. `lanes` has a one for every register but P that the opcode sets, in the same places in which `live`
 * has a one for every register with an adjoint. Rows that store nothing are skipped when nothing that they set has one.
 */
typedef struct {
  uint32_t lanes;
  uint8_t flags;
  uint8_t how; /* a vcs_row_how_t */
  bool passes, loads, may_cross;
  bool stack, reads, stores;
} vcs_row_kind_t;

#define VCS_ONE_IN(set, lane) ((set)&VCS_OF_##lane ? 1U << 8 * VCS_LANE_##lane : 0)
#define VCS_HOW(kind)                                                                              \
  ((kind) == VCS_KIND_MOVES                                                       ? VCS_ROW_MOVES  \
   : (kind) == VCS_KIND_ADDS || (kind) == VCS_KIND_SUBTRACTS                      ? VCS_ROW_ADDS   \
   : (kind) == VCS_KIND_ANDS || (kind) == VCS_KIND_ORS || (kind) == VCS_KIND_XORS ? VCS_ROW_MASKS  \
   : (kind) == VCS_KIND_SHIFTS_LEFT || (kind) == VCS_KIND_SHIFTS_RIGHT            ? VCS_ROW_SHIFTS \
                                                                                  : VCS_ROW_COMPUTES)
#define VCS_IS(name, access) (VCS_ACCESS_##access == VCS_ACCESS_##name)
#define VCS_ROW_KIND(code, operation, mode, access, cycles)                                                          \
  {VCS_ONE_IN(VCS_SETS_##operation, A) | VCS_ONE_IN(VCS_SETS_##operation, X) | VCS_ONE_IN(VCS_SETS_##operation, Y) | \
       VCS_ONE_IN(VCS_SETS_##operation, S),                                                                          \
   VCS_SETS_##operation & 0xFF,                                                                                      \
   VCS_HOW((int)VCS_KIND_OF_##operation),                                                                            \
   (code) != VCS_OPAQUE && !VCS_IS(WRITE, access) && !VCS_IS(MODIFY, access) && !VCS_IS(STACK, access),              \
   VCS_IS(READ, access) && VCS_MODE_##mode != VCS_MODE_IMM,                                                          \
   VCS_IS(READ, access) &&                                                                                           \
       (VCS_MODE_##mode == VCS_MODE_ABX || VCS_MODE_##mode == VCS_MODE_ABY || VCS_MODE_##mode == VCS_MODE_IZY),      \
   VCS_PUSHED_BY_##operation == 1 || VCS_PUSHED_BY_##operation == -1,                                                \
   VCS_IS(READ, access) || VCS_IS(MODIFY, access) || VCS_PUSHED_BY_##operation == -1,                                \
   VCS_IS(WRITE, access) || VCS_IS(MODIFY, access) || VCS_PUSHED_BY_##operation == 1},
VCS_FN const vcs_row_kind_t *vcs_row_kind(uint8_t opcode) {
  static const vcs_row_kind_t kinds[256] = {VCS_OPCODES(VCS_ROW_KIND)};
  return &kinds[opcode];
}

/* A row and what holds of it while its derivative is computed. */
typedef struct {
  vcs_sweep_t *s;
  const vcs_row_t *row;
  const vcs_event_t *event; /* the TIA access it makes, or NULL */
  vcs_opcode_t op;
  vcs_uses_t uses;
  bool reads, stores; /* a data byte from, or to, `addr` */
} vcs_instruction_t;

/* Moves the walk to a row. */
VCS_EXTERN void vcs_instruction_begin(vcs_instruction_t *i, vcs_sweep_t *s, int32_t index);

/* How to apply the row to s->m, or to undo it: the contents of memory follow the walk. */
VCS_FN vcs_applied_t vcs_applied(const vcs_instruction_t *i) {
  const vcs_applied_t at = {i->s->tape, i->s->cart, i->s->m, i->row, i->s->snapshot};
  return at;
}

/* The byte the row read, before it was modified. */
VCS_FN uint8_t vcs_operand_of(const vcs_instruction_t *i) {
  const vcs_row_t *row = i->row;
  if (i->op.access != VCS_ACCESS_MODIFY) return i->reads ? row->value : 0;
  const vcs_chip_t chip = vcs_chip_at(row->addr);
  return chip == VCS_TO_RAM || chip == VCS_TO_CART ? vcs_code_byte(i->s->cart, i->s->m, row->addr) : row->old;
}

/* Links the byte that the row reads to V, and V to the byte that it writes. In reverse mode the adjoints of the byte
 * written end in V. */
VCS_EXTERN void vcs_link_read(const vcs_instruction_t *i, bool crosses, float v[VCS_SLOTS]);
VCS_EXTERN void vcs_link_write(const vcs_instruction_t *i, float v[VCS_SLOTS]);

/* Clears the slots of the return address that JSR or BRK pushes, which is a constant. */
VCS_EXTERN void vcs_forget_return(const vcs_instruction_t *i);

/* One row in each direction. */
VCS_EXTERN void vcs_row_forward(vcs_sweep_t *s, int32_t index);
VCS_EXTERN void vcs_row_reverse(vcs_sweep_t *s, int32_t index);

/* ---- Registers ----------------------------------------------------------------------------------------------------
 */

/* The offset in the state of a lane's register. */
VCS_ASSERT(VCS_OFFSET(x) == VCS_OFFSET(a) + VCS_LANE_X && VCS_OFFSET(y) == VCS_OFFSET(a) + VCS_LANE_Y &&
               VCS_OFFSET(sp) == VCS_OFFSET(a) + VCS_LANE_S && VCS_OFFSET(p) == VCS_OFFSET(a) + VCS_LANE_P,
           "registers are in the order of the lanes");
VCS_FN size_t vcs_lane_offset(int lane) { return VCS_OFFSET(a) + (size_t)lane; }

/* Those of some flags that have a nonzero adjoint. */
VCS_HOT_FN unsigned vcs_flags_with_adjoint(const vcs_sweep_t *s, unsigned flags) {
  const float *p = vcs_slots(s, VCS_OFFSET(p));
  unsigned found = 0;
  if (!s->live[VCS_OFFSET(p)]) return 0;
  for (; flags; flags &= flags - 1) found |= p[VCS_LOWEST(flags)] != 0 ? flags & -flags : 0;
  return found;
}

/* Whether a register that the row sets, or the time it takes, has an adjoint. */
VCS_HOT_FN bool vcs_row_is_needed(const vcs_sweep_t *s, const vcs_row_kind_t *kind) {
  uint32_t live;
  memcpy(&live, s->live + VCS_OFFSET(a), sizeof live);
  return live & kind->lanes || (kind->may_cross && *vcs_slots(s, VCS_OFFSET(cycles)) != 0);
}

/* The slots of a register whose bits `bits` an instruction sets: all of them, or in P those of the flags. */
VCS_FN unsigned vcs_slots_set(int lane, unsigned bits) { return lane == VCS_LANE_P ? bits : bits ? 0xFFFF : 0; }

/* The register that is the index, or -1. */
VCS_FN int vcs_index_lane(vcs_opcode_t op) {
  if (op.mode == VCS_MODE_ZPX || op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_IZX) return VCS_LANE_X;
  if (op.mode == VCS_MODE_ZPY || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY) return VCS_LANE_Y;
  return -1;
}

/* Whether the address decides how long the instruction takes. */
VCS_FN bool vcs_may_cross(vcs_opcode_t op) {
  return op.access == VCS_ACCESS_READ &&
         (op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY);
}

/* A byte's slots come in pairs: bit k moves it by 2^k one way, carry k the other way, which for bit 7 is the same. */
#define VCS_EACH_BIT(byte, slots, delta_of) \
  for (int k = 0; k < 8; k++) (slots)[k] += vcs_adjoint_delta_sign(byte, k) * delta_of((uint8_t)((byte) ^ 1u << k));
#define VCS_EACH_MOVE(byte, count, slots, delta_of)                                           \
  VCS_EACH_BIT(byte, slots, delta_of)                                                         \
  for (int k = 0; (count) == VCS_SLOTS && k < 8; k++) {                                       \
    const uint8_t moved = (uint8_t)((byte) >> k & 1 ? (byte) + (1 << k) : (byte) - (1 << k)); \
    (slots)[8 + k] -= vcs_adjoint_delta_sign(byte, k) * delta_of(moved);                      \
  }

/* The lanes that a row sets, and those that it looks at, its index (or -1) included; V is among both. */
typedef struct {
  unsigned set, looked_at;
  int index;
} vcs_row_lanes_t;

/* Finds them, and clears their slots. */
VCS_FN vcs_row_lanes_t vcs_row_lanes(const vcs_instruction_t *i, bool stack, float *in, float *out) {
  vcs_row_lanes_t lanes;
  lanes.index = stack ? VCS_LANE_S : vcs_index_lane(i->op);
  lanes.set = i->uses.written_lanes | 1u << VCS_LANE_V;
  lanes.looked_at = i->uses.read_lanes | 1u << VCS_LANE_V | (lanes.index >= 0 ? 1u << lanes.index : 0);
  for (int lane = 0; lane < VCS_LANES; lane++) {
    if (lanes.looked_at >> lane & 1) memset(in + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *in);
    if (lanes.set >> lane & 1) memset(out + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *out);
  }
  return lanes;
}

/* ---- Addresses ----------------------------------------------------------------------------------------------------
 */

/* Finds how the row formed its address. */
VCS_EXTERN void vcs_look_back(const vcs_instruction_t *i, vcs_address_t *at);

/* The address with other operands or registers. */
VCS_FN vcs_address_t vcs_address_with(const vcs_instruction_t *i, uint8_t low, uint8_t high, uint8_t x, uint8_t y) {
  return vcs_form_address(i->s->cart, i->s->m, i->op, low, high, x, y);
}

VCS_FN bool vcs_is_indirect(vcs_opcode_t op) { return op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY; }

/* Whether other addresses can be looked at: not those of a pointer in the TIA. */
VCS_FN bool vcs_has_address(const vcs_instruction_t *i, const vcs_address_t *at) {
  return (i->reads || i->stores) && i->op.mode != VCS_MODE_IMM &&
         !(vcs_is_indirect(i->op) && !vcs_pointer_in_ram(at->pointer));
}

/* PHA, PHP, PLA, PLP: the stack pointer is the address. */
VCS_FN uint16_t vcs_stack_address(const vcs_instruction_t *i, uint8_t sp) {
  return (uint16_t)(0x100 + (i->reads ? (uint8_t)(sp + 1) : sp));
}

/* The last byte on the bus before the data access, from the operand or the pointer. The TIA leaves six of its bits. */
VCS_EXTERN uint8_t vcs_byte_before(vcs_opcode_t op, const vcs_address_t *at);

/* The byte that a read at another address would have found. False: that is a stop. */
VCS_FN bool vcs_byte_at(const vcs_instruction_t *i, uint16_t addr, bool crosses, uint8_t before, uint8_t *byte) {
  vcs_sweep_t *s = i->s;
  if (addr & 0x1000 || (addr & 0x280) == 0x80) {
    *byte = vcs_code_byte(s->cart, s->m, addr);
    return true;
  }
  if (!(addr & 0x88)) return false; /* a collision */
  return i->op.access != VCS_ACCESS_STACK &&
         vcs_sweep_chip_byte(s, addr, vcs_row_time(s->tape, i->row, crosses), before, byte);
}

/* A byte in memory that the address is made of. Of a row that stores, its slots are taken before anything is linked,
 * and given back after everything is: it may store into them. */
typedef struct {
  vcs_cell_t cell;
  float *slots, room[VCS_SLOTS];
} vcs_source_t;

VCS_FN void vcs_source_take(const vcs_instruction_t *i, uint16_t addr, vcs_source_t *source) {
  const vcs_sweep_t *s = i->s;
  source->cell = vcs_cell_read(s, addr);
  source->slots = s->reverse && !i->stores ? source->cell.slots : source->room;
  if (source->slots != source->room) return;
  memset(source->room, 0, sizeof source->room);
  if (!s->reverse && vcs_cell_live(s, source->cell))
    memcpy(source->room, source->cell.slots, (size_t)vcs_cell_slots(source->cell) * sizeof(float));
}

VCS_FN void vcs_source_give(const vcs_sweep_t *s, const vcs_source_t *source) {
  if (!s->reverse || !source->cell.slots) return;
  if (source->slots == source->room) {
    for (int slot = 0; slot < vcs_cell_slots(source->cell); slot++) source->cell.slots[slot] += source->room[slot];
  }
  vcs_cell_mark(s, source->cell);
}

/* ---- Links: forward mode, and in reverse mode stores whose value depends on the address ---------------------------
 */

/* The function that a row computes, and the slots of what it sets. */
typedef struct {
  const vcs_instruction_t *i;
  const vcs_address_t *at; /* how the address was formed */
  uint64_t word, result;   /* before and after */
  float *out;              /* [VCS_SLOTS * VCS_LANES] */
} vcs_function_t;

/* Links an input, whose change turns the result into `result`, to the bytes that move. */
VCS_EXTERN void vcs_link_result(const vcs_function_t *f, float *in, uint64_t result, float weight);

/* Links the row's operands, pointer and index (whose slots are `index`), or its stack pointer, to what the access would
 * have done at another address. */
VCS_EXTERN void vcs_link_address(const vcs_function_t *f, float *index);

/* ---- Deltas: reverse mode ------------------------------------------------------------------------------------------
 */

/* A row whose function is evaluated with other inputs: the lanes that it sets and that have a nonzero adjoint, and
 * their deltas. */
typedef struct {
  vcs_cpu_t before, after;
  uint8_t v_before, v_after;
  unsigned has_adjoint;
  vcs_adjoint_delta_t deltas[VCS_LANES];
} vcs_computed_t;

/* The delta of some lanes if the function had these registers and this V as inputs. */
VCS_EXTERN float vcs_adjoint_delta_of_input(const vcs_instruction_t *i, const vcs_computed_t *c, unsigned lanes,
                                            vcs_cpu_t *cpu, uint8_t v);

/* A row that makes one byte, and none of its flags but N and Z has an adjoint. */
typedef struct {
  vcs_row_how_t how; /* not VCS_ROW_COMPUTES */
  const float *byte; /* the slots of that byte, */
  uint8_t is;        /* and the byte; */
  float n, z;        /* the adjoints of N and Z, which follow it: they are in its slots, too */
  uint8_t tells;     /* MOVES, MASKS: the bits of the byte read that reach it; */
  bool tabled;       /* the table below is filled in: */
  float of[256];     /* the deltas of other bytes, by the bits in which they differ */
} vcs_made_t;

VCS_FN void vcs_made_table(vcs_made_t *made) {
  if (!made->tabled) vcs_adjoint_delta_table(made->of, made->byte, made->is);
  made->tabled = true;
}

/* The access of a row, for address_reverse.c. Its result is one of two kinds. */
typedef struct {
  const vcs_instruction_t *i;
  const vcs_address_t *at;        /* how the address was formed */
  const vcs_computed_t *computed; /* or NULL: */
  vcs_made_t *made;
  const float *stored; /* the slots of the byte that it stores */
  uint8_t operand;     /* the byte that it read */
  bool only_time;      /* only the time it takes has an effect */
} vcs_access_t;

/* Adds the deltas of accesses at other addresses to the row's operands, its pointer and its index or stack pointer
 * (whose slots are `index`). */
VCS_EXTERN void vcs_delta_by_address(const vcs_access_t *access, float *index);

#endif
