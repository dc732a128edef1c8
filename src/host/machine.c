/* machine.c: the machine's part of the API: thin wrappers around the core headers, and the only place on the host where
 * the core is compiled. It is C and, for PXC2, CUDA C++ as well. */
#include <stdio.h>
#include <string.h>

#include "core/console.h"
#include "host/asleep.h"
#include "host/hash.h"

/* ---- Machines ----------------------------------------------------------------------------------------------- */

size_t vcs_state_size(const vcs_cart_t *cart) { return offsetof(vcs_t, cart_ram) + cart->ram_size; }

int vcs_boot(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) { return vcs_console_boot(cart, m, frames); }

void vcs_reset(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) { vcs_console_reset(cart, m, frames); }

void vcs_control(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls) {
  vcs_console_control(cart, m, controls);
}

void vcs_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  if (!vcs_asleep_frame(cart, m, frames, NULL, NULL)) vcs_console_frame(cart, m, frames);
}

const uint8_t *vcs_picture(const vcs_t *m, const uint8_t *frames) { return frames + m->front * VCS_FRAME_BYTES; }

void vcs_frame_begin(const vcs_cart_t *cart, vcs_t *m) { vcs_console_start_frame(cart, m); }

void vcs_frame_end(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, cart, frames);
  vcs_console_finish_frame(cart, m, &video);
}

void vcs_step(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_step_t *step) {
  bool frame_over = false;
  uint32_t before = m->cycles;
  vcs_video_t video;
  vcs_video_start(&video, cart, frames);
  step->pc_before = m->pc;
  if (!m->jammed) {
    step->opcode = vcs_cpu_step(cart, m, &video, &frame_over);
    m->instructions++;
  }
  vcs_tia_catch_up(m, &video);
  if (frame_over) m->partial = 0;
  step->cycles = m->cycles - before;
  step->pc = m->pc;
  step->a = m->a;
  step->x = m->x;
  step->y = m->y;
  step->sp = m->sp;
  step->p = m->p;
  step->frame_over = frame_over;
  step->jammed = m->jammed;
}

uint8_t vcs_peek(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) { return vcs_bus_peek(cart, m, addr); }

uint8_t *vcs_ram(vcs_t *m) { return m->ram; }

void vcs_sound(vcs_t *m, uint8_t *samples, int count) { vcs_audio_samples(m, samples, count); }

uint64_t vcs_hash(const vcs_cart_t *cart, const vcs_t *m) { return vcs_hash64(m, vcs_state_size(cart), 0); }

const vcs_field_t *vcs_field(int index) {
#define VCS_FIELD_ROW(type, name, count, meaning) {#name, #type, meaning, offsetof(vcs_t, name), sizeof(type), count},
  static const vcs_field_t fields[] = {VCS_FIELDS(VCS_FIELD_ROW)};
  return index >= 0 && (size_t)index < sizeof fields / sizeof *fields ? &fields[index] : NULL;
}

/* ---- Disassembly -------------------------------------------------------------------------------------------- */

int vcs_disassemble(const vcs_cart_t *cart, const vcs_t *m, uint16_t pc, char *text, size_t text_size) {
  /* operand format and length by addressing mode (enum vcs_mode) */
  static const struct {
    const char *format;
    int length;
  } modes[] = {{"", 1},          {"A", 1},         {"#$%02X", 2},  {"$%02X", 2},   {"$%02X,X", 2},
               {"$%02X,Y", 2},   {"$%04X", 3},     {"$%04X,X", 3}, {"$%04X,Y", 3}, {"($%04X)", 3},
               {"($%02X,X)", 2}, {"($%02X),Y", 2}, {"$%04X", 2}};
  vcs_opcode_t op = vcs_opcode(vcs_bus_peek(cart, m, pc));
  unsigned low = vcs_bus_peek(cart, m, (uint16_t)(pc + 1)), high = vcs_bus_peek(cart, m, (uint16_t)(pc + 2));
  unsigned operand = modes[op.mode].length == 3 ? low | high << 8 : low;
  if (op.mode == VCS_MODE_REL) operand = (uint16_t)(pc + 2 + (int8_t)low);
  char shown[16];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(shown, sizeof shown, modes[op.mode].format, operand);
#pragma GCC diagnostic pop
  snprintf(text, text_size, "%.3s%s%s", op.name, *shown ? " " : "", shown);
  return modes[op.mode].length;
}
