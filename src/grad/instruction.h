/* instruction.h: the row whose derivative is being computed, as instruction.c and address.c share it. */
#ifndef VCS_GRAD_INSTRUCTION_H
#define VCS_GRAD_INSTRUCTION_H

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
  VCS_ROW_COMPUTES /* anything else */
} vcs_row_how_t;

typedef struct {
  vcs_sweep_t *s;
  const vcs_row_t *row;
  const vcs_event_t *event; /* the TIA access it makes, or NULL */
  vcs_opcode_t op;
  vcs_uses_t uses;
  bool reads, stores;      /* a data byte from, or to, `addr` */
  vcs_address_t at;        /* how the address was formed */
  uint8_t operand;         /* the byte it read */
  uint64_t word, result;   /* before and after */
  vcs_cpu_t before, after; /* the same unpacked, walking backwards */
  uint8_t v_before, v_after;
  /* reverse mode: */
  unsigned has_adjoint;                  /* the lanes it sets that have a nonzero adjoint, */
  vcs_adjoint_delta_t deltas[VCS_LANES]; /* and their deltas */
  bool only_time;                        /* only the time it takes has an effect */
  float in[VCS_SLOTS * VCS_LANES], out[VCS_SLOTS * VCS_LANES];
  /* reverse mode over a row that makes one byte, if none of its flags but N and Z has an adjoint: */
  vcs_row_how_t how;
  const float *byte; /* the slots of that byte, */
  uint8_t is;        /* and the byte; */
  float n, z;        /* the adjoints of N and Z, which follow it: they are in its slots, too */
  uint8_t tells;     /* MOVES, MASKS: the bits of the byte read that reach it; */
  bool tabled;       /* the table below is filled in: */
  float of[256];     /* the deltas of other bytes, by the bits in which they differ */
} vcs_work_t;

VCS_FN void vcs_work_table(vcs_work_t *w) {
  if (!w->tabled) vcs_adjoint_delta_table(w->of, w->byte, w->is);
  w->tabled = true;
}

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

/* Links an input, whose change turns the result into `result`, to the bytes that move. */
VCS_EXTERN void vcs_link_result(vcs_work_t *w, float *in, uint64_t result, float weight);

/* Reverse mode: the delta of some lanes if the function had these registers and this V as inputs. */
VCS_EXTERN float vcs_adjoint_delta_of_input(const vcs_work_t *w, unsigned lanes, vcs_cpu_t *cpu, uint8_t v);

/* ---- Other addresses (address.c) -------------------------------------------------------------------------------- */

/* Finds how the row formed its address. */
VCS_EXTERN void vcs_look_back(vcs_work_t *w);

/* Links the row's operands, pointer and index (whose slots are `index`), or its stack pointer, to what the access would
 * have done at another address. */
VCS_EXTERN void vcs_link_address(vcs_work_t *w, float *index);

#endif
