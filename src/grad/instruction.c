/* instruction.c: derivatives of one instruction, in both directions.
 *
 * An instruction is a sequence of three primitives: it reads a byte, puts registers and the byte through a pure
 * function (local.h), and writes a byte. Reading and writing pass a byte's slots on unchanged, in either direction
 * (this file). The function is linked by changing each input and evaluating it again, and the address is an input too.
 * Those parts are written once for each direction (instruction.h lists the files); test_linear.c compares both with
 * executing the instruction with every input changed.
 *
 * Stops: which TIA or RIOT register a store reaches, which collision register a load reaches, what the stack finds in
 * the TIA, pointers in the TIA's registers, bank switches, registers of the DPC, the program counter and with it the
 * cycles of a branch and the bytes of the stack a call fills; opaque rows (tape.h). A byte with two parts in an access
 * (operand, pointer, the byte read) is linked as each of them, to first order.
 */
#include "instruction.h"

#include <string.h>

/* ---- The walk -----------------------------------------------------------------------------------------------------
 */

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

VCS_EXTERN void vcs_instruction_begin(vcs_instruction_t *i, vcs_sweep_t *s, int32_t index) {
  const vcs_row_t *row = &s->tape->rows[index];
  follow(s, index);
  i->s = s;
  i->row = row;
  i->op = vcs_opcode(row->opcode);
  i->uses = vcs_uses(row->opcode);
  i->stores = vcs_row_kind(row->opcode)->stores;
  i->reads = vcs_row_kind(row->opcode)->reads;
  i->event = s->tape->events[s->event].row == index ? &s->tape->events[s->event] : NULL;
}

/* ---- Reading and writing the byte itself ------------------------------------------------------------------------ */

/* forward: out = in, slot by slot */
VCS_STATIC void link_slots(const vcs_sweep_t *s, float *in, float *out, int count) {
  if (s->reverse) {
    for (int i = 0; i < count; i++) in[i] += out[i];
  } else {
    for (int i = 0; i < count; i++) out[i] += in[i];
  }
}

/* forward: V = the byte at addr */
VCS_EXTERN void vcs_link_read(const vcs_instruction_t *i, bool crosses, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = i->s;
  if (s->reverse && !vcs_any(v, VCS_SLOTS)) return;
  vcs_chip_t chip = vcs_chip_at(i->row->addr);
  if (i->op.mode != VCS_MODE_IMM && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT)) {
    vcs_sweep_chip_read(s, i->row, i->row->addr, vcs_row_time(s->tape, i->row, crosses), v);
    return;
  }
  vcs_cell_t cell = vcs_cell_read(s, i->op.mode == VCS_MODE_IMM ? (uint16_t)(i->row->pc + 1) : i->row->addr);
  if (!cell.slots || (!s->reverse && !vcs_cell_live(s, cell))) return;
  link_slots(s, cell.slots, v, vcs_cell_slots(cell));
  if (s->reverse) vcs_cell_mark(s, cell);
}

/* forward: the byte at addr = V */
VCS_EXTERN void vcs_link_write(const vcs_instruction_t *i, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = i->s;
  switch (vcs_chip_at(i->row->addr)) {
    case VCS_TO_TIA:
      if (i->event) vcs_sweep_tia_write(s, i->event, v);
      return;
    case VCS_TO_RIOT:
      vcs_sweep_riot_write(s, i->row, i->row->addr, v);
      return;
    default:
      break;
  }
  vcs_cell_t cell = vcs_cell_written(s, i->row->addr);
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

VCS_EXTERN void vcs_forget_return(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  const int count = i->row->opcode == VCS_JSR ? 2 : i->row->opcode == VCS_BRK ? 3 : 0;
  for (int n = 0; n < count; n++) {
    uint16_t addr = (uint16_t)(0x100 + (uint8_t)(i->row->sp - n));
    if (vcs_chip_at(addr) != VCS_TO_RAM) continue;
    size_t offset = VCS_OFFSET(ram) + (addr & 0x7F);
    if (!s->live[offset]) continue;
    memset(vcs_slots(s, offset), 0, VCS_SLOTS * sizeof(float));
    s->live[offset] = 0;
  }
}

/* ---- Either way ------------------------------------------------------------------------------------------------- */

/* Reverse mode: whether the row can be skipped. A read of the TIA ends a span of the picture, so it cannot. */
VCS_STATIC bool passes(const vcs_sweep_t *s, const vcs_row_t *row) {
  const vcs_row_kind_t *kind = vcs_row_kind(row->opcode);
  return kind->passes && !(kind->loads && !(row->addr & 0x1080)) && !vcs_row_is_needed(s, kind) &&
         !vcs_flags_with_adjoint(s, kind->flags);
}

VCS_EXTERN void vcs_sweep_row(vcs_sweep_t *s, int32_t index) {
  if (s->directional) vcs_directional_at(s, index);
  if (!s->reverse) {
    vcs_row_forward(s, index);
  } else if (!passes(s, &s->tape->rows[index])) {
    vcs_row_reverse(s, index);
  }
}
