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
#define READ_KNOWN(taken, addr, last, read)            \
  cpu->time += (taken);                                \
  cpu->stop = 0;                                       \
  cpu->bus = (last);                                   \
  ((vcs_beam_note_t *)(void *)video)->pc = VCS_RUN_PC; \
  const uint8_t value = read(VCS_HERE, addr);          \
  ((vcs_beam_note_t *)(void *)video)->pc = 0;
#define VCS_RUN_READ_CHIP(taken, addr, last) READ_KNOWN(taken, addr, last, vcs_bus_read_low)
#define VCS_RUN_READ_BUS(taken, addr, last) READ_KNOWN(taken, addr, last, vcs_bus_read)
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

enum { SHIFTED = 40 };   /* cycles until the next look of one whose time is not the base's */
enum { ELSEWHERE = 10 }; /* ... of one that is elsewhere in the program at the base's time */
enum { NEAR = 16 };      /* rows that are passed one by one */
enum { PATIENCE = 128 }; /* rows without a look, at most, of one with other registers on the base's path */
enum { AHEAD = 12 };     /* rows: a flip that would be woken so soon does not fall asleep */

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

static bool is_wired(const vcs_base_frame_t *frame, const vcs_t *m, const vcs_stand_t *row) {
  const vcs_wiring_t *wiring = &frame->wirings[row->wiring];
  return vcs_same_bytes(wiring->bank, m->bank, sizeof wiring->bank) &&
         vcs_same_bytes(wiring->cart_clock, m->cart_clock, sizeof wiring->cart_clock) &&
         vcs_same_bytes(wiring->cart_word, m->cart_word, sizeof wiring->cart_word) &&
         vcs_same_bytes(wiring->cart_byte, m->cart_byte, sizeof wiring->cart_byte);
}

/* Whether a row reads a byte of RAM in which the flip differs. */
static bool reads_other(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const vcs_deed_t *deed = &frame->deeds[row];
  if (VCS_LIKELY(!deed->many)) return deed->in != VCS_NO_BYTE && m->ram[deed->in] != deed->read;
  for (uint32_t touch = frame->rows[row].touch; touch < frame->rows[row + 1].touch; touch++) {
    const unsigned where = frame->touches[touch];
    if (where < VCS_WHERE_TIMER && frame->touch_values[touch] != m->ram[where]) return true;
  }
  return false;
}

/* The last of the next rows that reads a byte of RAM in which the flip differs now; frame->count: none does. */
static uint32_t last_reader(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  for (uint32_t end = frame->count - row > AHEAD ? row + AHEAD : frame->count; end-- > row;) {
    if (reads_other(frame, m, end)) return end;
  }
  return frame->count;
}

/* Whether a flip that stands where a row stands falls asleep there. */
VCS_SLOW_FN bool meet(beside_t *beside, const vcs_t *m) {
  const vcs_base_frame_t *frame = beside->frame;
  if (!is_wired(frame, m, &frame->rows[beside->row])) return false;
  const uint32_t reader = last_reader(frame, m, beside->row);
  if (reader == frame->count) return true;
  beside->next = VCS_CYCLES((uint64_t)frame->cycles[reader] + 1);
  return false;
}

/* The first row from `row` on that is not earlier than a time: the flip has passed a loop that waits. */
VCS_SLOW_FN uint32_t find_row(const vcs_base_frame_t *frame, uint32_t row, uint32_t cycles) {
  uint32_t end = frame->count + 1;
  while (row < end) {
    const uint32_t middle = row + (end - row) / 2;
    if (frame->cycles[middle] < cycles) {
      row = middle + 1;
    } else {
      end = middle;
    }
  }
  return row;
}

/* A flip on the base's path differs in registers that may still be read: the time from which on they are not, or a
 * little later, or when it looks again. */
VCS_SLOW_FN uint64_t wait_for(const vcs_base_frame_t *frame, uint32_t row, uint64_t registers) {
  const uint32_t last = frame->count - row > PATIENCE ? row + PATIENCE : frame->count;
  uint32_t at = row;
  while (at < last && frame->rows[at].live & registers) at += 1 + (at - row) / 4;
  return VCS_CYCLES((uint64_t)frame->cycles[at < last ? at : last]);
}

/* Whether a flip stands where a row of the base stands. If not, it is not worth looking before beside->next. */
VCS_HOT_FN bool look(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over) {
  const vcs_base_frame_t *frame = beside->frame;
  const uint32_t cycles = vcs_cpu_cycles(cpu);
  uint32_t row = beside->row;
  for (int i = 0; frame->cycles[row] < cycles; i++, row++) { /* the time behind the last is never reached */
    if (VCS_UNLIKELY(i == NEAR)) {
      row = find_row(frame, row, cycles);
      break;
    }
  }
  beside->row = row;
  if (frame->cycles[row] != cycles) { /* it is earlier or later than the base, mostly up to the next WSYNC */
    beside->next = VCS_CYCLES((uint64_t)cycles + SHIFTED);
    return false;
  }
  const vcs_stand_t *stand = &frame->rows[row];
  beside->next = VCS_CYCLES((uint64_t)cycles + ELSEWHERE);
  if ((stand->key & 0xFFFFFF) != (cpu->pc | (uint32_t)cpu->sp << VCS_KEY_SP)) return false;
  const uint64_t key = vcs_stand_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu));
  const uint64_t differs = (key ^ stand->key) & stand->live;
  if (differs) {
    beside->next = wait_for(frame, row, differs);
    return false;
  }
  if (over || row == frame->count) return over && row == frame->count && is_wired(frame, m, stand);
  return meet(beside, m);
}

int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed) {
  beside_t beside = {frame, from, VCS_CYCLES((uint64_t)m->cycles + 1)};
  if (from < frame->count) { /* what the first instruction sets is not the base's */
    const uint64_t set = wait_for(frame, from + 1, vcs_facts_of[frame->deeds[from].opcode].sets);
    if (set > beside.next) beside.next = set;
  }
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

/* Whether all that a row has changed is registers, time and one byte of RAM. */
static bool is_simple(const vcs_base_frame_t *frame, uint32_t row) {
  const vcs_deed_t *deed = &frame->deeds[row];
  const unsigned reg = deed->addr & 63;
  const bool sounds = !(deed->addr & 0x1080) && reg >= VCS_AUDC0 && reg <= VCS_AUDV1;
  return !deed->many && !sounds && frame->rows[row].wiring == frame->rows[row + 1].wiring;
}

static void take_registers(vcs_cpu_t *cpu, const vcs_base_frame_t *frame, uint32_t row) {
  const vcs_stand_t *stand = &frame->rows[row];
  cpu->time = VCS_CYCLES((uint64_t)frame->cycles[row]);
  cpu->pc = (uint16_t)stand->key;
  cpu->sp = (uint8_t)(stand->key >> VCS_KEY_SP);
  cpu->a = (uint8_t)(stand->key >> VCS_KEY_A);
  cpu->x = (uint8_t)(stand->key >> VCS_KEY_X);
  cpu->y = (uint8_t)(stand->key >> VCS_KEY_Y);
  vcs_cpu_set_status(cpu, (uint8_t)(stand->key >> VCS_KEY_P));
}

/* Rows that only change registers are passed, and of simple ones the byte is stored. The last row of the frame is
 * executed, because it leaves its byte on the bus; everywhere else the next instruction's first fetch replaces that. */
void vcs_concurrent_advance(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                            uint32_t from, uint32_t to) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &note->video;
  vcs_cpu_load(cpu, m);
  for (uint32_t row = frame->effects[from]; from < to; row = frame->effects[from]) {
    if (row >= to) {
      if (to < frame->count) break;
      row = to - 1;
    }
    from = row + 1;
    const vcs_deed_t *deed = &frame->deeds[row];
    if (from < frame->count && is_simple(frame, row)) {
      if (deed->out != VCS_NO_BYTE) m->ram[deed->out] = deed->written;
      continue;
    }
    take_registers(cpu, frame, row);
    vcs_cpu_instruction(VCS_HERE);
    note->count = 0;
  }
  take_registers(cpu, frame, to);
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
}
