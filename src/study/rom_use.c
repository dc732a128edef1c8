/* rom_use.c: what a run does with each byte of the image (study.h), found by watching every instruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grad/tape.h"
#include "study/internal.h"

typedef struct {
  const vcs_cart_t *cart;
  vcs_t *m;
  vcs_rom_use_t *uses;
} watcher_t;

static void note(watcher_t *w, uint16_t address, uint16_t pc, vcs_rom_kind_t kind) {
  if (!(address & 0x1000)) return;
  const int32_t place = vcs_cart_read_place(w->cart, w->m, address);
  if (place < 0 || (uint32_t)place >= w->cart->rom_size) return;
  vcs_rom_use_t *use = &w->uses[place];
  use->read |= kind == VCS_ROM_DATA;
  if (use->kind >= kind) return;
  *use = (vcs_rom_use_t){(uint8_t)kind, use->read, address, pc, ""};
  vcs_disassemble(w->cart, w->m, pc, use->text, sizeof use->text);
}

/* The instruction that is about to run. */
static void note_instruction(watcher_t *w) {
  const vcs_t *m = w->m;
  const uint16_t pc = m->pc;
  const vcs_opcode_t op = vcs_opcode(vcs_bus_peek(w->cart, m, pc));
  const int length = vcs_mode_length(op.mode);
  note(w, pc, pc, VCS_ROM_OPCODE);
  for (int i = 1; i < length; i++) note(w, (uint16_t)(pc + i), pc, VCS_ROM_OPERAND);
  const uint8_t low = vcs_bus_peek(w->cart, m, (uint16_t)(pc + 1)), high = vcs_bus_peek(w->cart, m, (uint16_t)(pc + 2));
  if (op.mode == VCS_MODE_IND) { /* a table of addresses */
    note(w, (uint16_t)(high << 8 | low), pc, VCS_ROM_DATA);
    note(w, (uint16_t)(high << 8 | (uint8_t)(low + 1)), pc, VCS_ROM_DATA);
  }
  if (op.mode == VCS_MODE_IMM || (op.access != VCS_ACCESS_READ && op.access != VCS_ACCESS_MODIFY)) return;
  note(w, vcs_form_address(w->cart, m, op, low, high, m->x, m->y).addr, pc, VCS_ROM_DATA);
}

vcs_status_t vcs_rom_uses(const vcs_run_t *run, vcs_rom_use_t *uses, vcs_error_t *error) {
  watcher_t w = {run->cart, calloc(1, sizeof(vcs_t)), uses};
  if (!w.m) return vcs_no_memory(error);
  memset(uses, 0, run->cart->rom_size * sizeof *uses);
  memcpy(w.m, run->start, vcs_state_size(run->cart));
  for (int32_t f = 0; f < run->frames; f++) {
    vcs_step_t step = {0};
    vcs_control(run->cart, w.m, &run->controls[f]);
    vcs_frame_begin(run->cart, w.m);
    for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !w.m->jammed && !step.frame_over; i++) {
      note_instruction(&w);
      vcs_step(run->cart, w.m, NULL, &step);
    }
    vcs_frame_end(run->cart, w.m, NULL);
  }
  free(w.m);
  return VCS_OK;
}

void vcs_rom_address(const vcs_rom_use_t *use, uint32_t offset, char *text, size_t size) {
  const unsigned address = use->kind ? use->address : 0xF000 | (offset & 0xFFF);
  snprintf(text, size, "%u:%04X", (unsigned)(offset >> 12), address);
}

void vcs_rom_describe(const vcs_rom_use_t *use, char *text, size_t size) {
  if (use->kind == VCS_ROM_UNUSED) {
    snprintf(text, size, "not used");
  } else if (use->kind == VCS_ROM_DATA) {
    snprintf(text, size, "read by %04X %s", use->pc, use->text);
  } else {
    snprintf(text, size, "%s", use->text);
  }
}
