/* concurrent_run.c: a flip that is awake: the CPU, run beside the base until the two meet.
 *
 * They meet where a row of the base stands: same time, program counter, stack pointer, and the cartridge wired the same
 * way; and the same registers and flags, as far as the base reads them before it sets them. Memory, timer and inputs
 * may differ: with them a flip can sleep. It does not if the base is about to read a byte in which it differs.
 */
#include "concurrent_note.h"

/* Where a flip is beside the base. */
typedef struct {
  const vcs_base_frame_t *frame;
  uint32_t row;  /* the first that is not earlier than the last look */
  uint64_t next; /* time from which on it is worth looking again */
} beside_t;

#define VCS_RUN_BESIDE
#define VCS_RUN_WITH , beside_t *beside
#define VCS_RUN_LOOK \
  if (VCS_UNLIKELY(cpu->time >= beside->next)) goto met;
#define VCS_RUN_LABELS                                                  \
  met:                                                                  \
  cpu->pc = (uint16_t)(bank.start + (at - bank.code));                  \
  if (look(beside, cpu, m, false) | ((vcs_beam_note_t *)video)->full) { \
    end = VCS_RUN_STEP | RUN_MET;                                       \
    goto out;                                                           \
  }                                                                     \
  VCS_DISPATCH_NOW;

enum { RUN_MET = 1 << 18 }; /* the flip has met the base */

enum { SHIFTED = 10 }; /* cycles until the next look of one whose time is not the base's */
enum { AHEAD = 12 };   /* rows: a flip that would be woken so soon does not fall asleep */

VCS_HOT_FN bool look(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over);

#include "core/run.h"

#include <string.h>

vcs_wiring_t vcs_wiring_of(const vcs_t *m) {
  vcs_wiring_t wiring;
  memcpy(wiring.bank, m->bank, sizeof wiring.bank);
  memcpy(wiring.cart_clock, m->cart_clock, sizeof wiring.cart_clock);
  memcpy(wiring.cart_word, m->cart_word, sizeof wiring.cart_word);
  memcpy(wiring.cart_byte, m->cart_byte, sizeof wiring.cart_byte);
  return wiring;
}

static bool is_wired(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const vcs_wiring_t *wiring = &frame->wirings[frame->rows[row].wiring];
  return memcmp(wiring->bank, m->bank, sizeof wiring->bank) == 0 &&
         memcmp(wiring->cart_clock, m->cart_clock, sizeof wiring->cart_clock) == 0 &&
         memcmp(wiring->cart_word, m->cart_word, sizeof wiring->cart_word) == 0 &&
         memcmp(wiring->cart_byte, m->cart_byte, sizeof wiring->cart_byte) == 0;
}

/* The last of the next rows that reads a byte of RAM in which the flip differs now; `row` - 1: none does. */
static uint32_t last_reader(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const uint32_t end = row + AHEAD < frame->count ? row + AHEAD : frame->count;
  uint32_t touch = frame->rows[end].touch;
  const uint32_t first = frame->rows[row].touch;
  while (touch > first) {
    touch--;
    const unsigned where = frame->touches[touch];
    if (where < VCS_WHERE_TIMER && frame->touch_values[touch] != m->ram[where]) {
      uint32_t reader = end - 1;
      while (frame->rows[reader].touch > touch) reader--;
      return reader;
    }
  }
  return row - 1;
}

/* Whether a flip that stands where a row stands falls asleep there. */
VCS_SLOW_FN bool meet(beside_t *beside, const vcs_t *m) {
  const vcs_base_frame_t *frame = beside->frame;
  if (!is_wired(frame, m, beside->row)) return false;
  const uint32_t reader = last_reader(frame, m, beside->row);
  if (reader + 1 == beside->row) return true;
  beside->next = VCS_CYCLES((uint64_t)frame->rows[reader].cycles + 1);
  return false;
}

/* Whether a flip stands where a row of the base stands. If not, there is nothing to look at before the next row. */
VCS_HOT_FN bool look(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over) {
  const vcs_stand_t *row = &beside->frame->rows[beside->row];
  const uint32_t cycles = vcs_cpu_cycles(cpu);
  while (row->cycles < cycles) row++; /* the row behind the last is never reached */
  beside->row = (uint32_t)(row - beside->frame->rows);
  if (row->cycles != cycles) { /* it is earlier or later than the base, mostly up to the next WSYNC */
    beside->next = VCS_CYCLES((uint64_t)cycles + SHIFTED);
    return false;
  }
  beside->next = VCS_CYCLES((uint64_t)cycles + 1);
  const uint64_t registers = vcs_stand_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, 0);
  if ((registers ^ row->key) & row->live & ((1ull << VCS_KEY_P) - 1)) return false;
  const uint64_t flags = (uint64_t)vcs_cpu_status(cpu) << VCS_KEY_P;
  if ((flags ^ row->key) & row->live & 0xFFull << VCS_KEY_P) return false;
  if (over || beside->row == beside->frame->count) {
    return over && beside->row == beside->frame->count && is_wired(beside->frame, m, beside->row);
  }
  return meet(beside, m);
}

int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed) {
  beside_t beside = {frame, from, VCS_CYCLES((uint64_t)m->cycles + 1)};
  vcs_video_t *video = &note->video;
  uint32_t left = most;
  int32_t met = VCS_RUN_LOST;
  while (left && !m->jammed && !note->full) {
    uint32_t end = VCS_RUN_STEP;
    bool over = false;
    if (VCS_LIKELY(left > VCS_RUN_MARGIN)) {
      end = vcs_run(cart, m, video, (left < VCS_RUN_MOST ? left : (uint32_t)VCS_RUN_MOST) - VCS_RUN_MARGIN, &beside);
      left -= end & VCS_COUNT_MASK;
      over = end & VCS_RUN_OVER;
      if (end & RUN_MET) {
        if (!note->full) met = (int32_t)beside.row;
        break;
      }
    }
    if (end & VCS_RUN_STEP) {
      vcs_cpu_step(cart, m, video, &over);
      left--;
    }
    vcs_cpu_t registers;
    vcs_cpu_load(&registers, m);
    if (m->jammed | note->full) break;
    if (left != most && look(&beside, &registers, m, over)) {
      met = (int32_t)beside.row;
      break;
    }
    if (over) {
      met = VCS_RUN_ENDED;
      break;
    }
  }
  *executed = most - left;
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
