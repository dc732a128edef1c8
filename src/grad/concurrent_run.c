/* concurrent_run.c: a flip that is awake: the CPU, run beside the base until the two meet.
 *
 * They meet where a row of the base stands: same time, program counter, stack pointer, registers and flags, and the
 * cartridge wired the same way. Memory, timer and inputs may differ: with them a flip can sleep.
 */
#include "concurrent_note.h"

#include "core/cpu.h"

#include <string.h>

vcs_wiring_t vcs_wiring_of(const vcs_t *m) {
  vcs_wiring_t wiring;
  memcpy(wiring.bank, m->bank, sizeof wiring.bank);
  memcpy(wiring.cart_clock, m->cart_clock, sizeof wiring.cart_clock);
  memcpy(wiring.cart_word, m->cart_word, sizeof wiring.cart_word);
  memcpy(wiring.cart_byte, m->cart_byte, sizeof wiring.cart_byte);
  return wiring;
}

static uint64_t key_of(uint16_t pc, uint8_t sp, uint8_t a, uint8_t x, uint8_t y, uint8_t p) {
  return pc | (uint64_t)sp << 16 | (uint64_t)a << 24 | (uint64_t)x << 32 | (uint64_t)y << 40 | (uint64_t)p << 48;
}

uint64_t vcs_stand_key(const vcs_t *m) { return key_of(m->pc, m->sp, m->a, m->x, m->y, m->p); }

static bool is_wired(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const vcs_wiring_t *wiring = &frame->wirings[frame->rows[row].wiring];
  return memcmp(wiring->bank, m->bank, sizeof wiring->bank) == 0 &&
         memcmp(wiring->cart_clock, m->cart_clock, sizeof wiring->cart_clock) == 0 &&
         memcmp(wiring->cart_word, m->cart_word, sizeof wiring->cart_word) == 0 &&
         memcmp(wiring->cart_byte, m->cart_byte, sizeof wiring->cart_byte) == 0;
}

int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &note->video;
  const vcs_stand_t *rows = frame->rows;
  uint32_t row = from, count = 0;
  int32_t met = -1;
  vcs_cpu_load(cpu, m);
  while (count < most) {
    vcs_cpu_instruction(VCS_HERE);
    count++;
    const bool over = cpu->stop & VCS_STOP_FRAME;
    const uint32_t cycles = vcs_cpu_cycles(cpu);
    cpu->stop = 0;
    while (rows[row].cycles < cycles) row++;
    if (VCS_UNLIKELY(m->jammed | note->full)) break;
    if (rows[row].cycles == cycles && (row == frame->count) == over &&
        rows[row].key == key_of(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu)) &&
        is_wired(frame, m, row)) {
      met = (int32_t)row;
      break;
    }
    if (over || row > frame->count) break;
  }
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  *executed = count;
  return met;
}

void vcs_concurrent_advance(const vcs_cart_t *cart, vcs_t *m, vcs_beam_note_t *note, uint32_t rows) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &note->video;
  vcs_cpu_load(cpu, m);
  for (uint32_t i = 0; i < rows; i++) {
    vcs_cpu_instruction(VCS_HERE);
    note->count = 0;
  }
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
}
