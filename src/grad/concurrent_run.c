/* concurrent_run.c: runs a flip that is awake beside the base until the two meet.
 *
 * The flip meets the base before a row if it has the row's time, program counter, stack pointer and mapping, and the
 * base's values in all registers and flags that the base reads before it sets them. Memory, timer and inputs may
 * differ: the flip can sleep with these differences. If the base is about to read a byte that differs, the flip does
 * not sleep yet.
 */
#include "concurrent_note.h"

/* The position of a flip that runs, relative to the base. */
typedef struct {
  const vcs_base_frame_t *frame;
  uint32_t row;  /* first row that does not begin before the time of the last comparison */
  uint64_t next; /* time before which the two need not be compared again */
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
#define VCS_RUN_LABELS                                                     \
  met:                                                                     \
  cpu->pc = (uint16_t)(bank.start + (at - bank.code));                     \
  if (has_met(beside, cpu, m, false) | ((vcs_beam_note_t *)video)->full) { \
    end = VCS_RUN_STEP | RUN_MET;                                          \
    goto out;                                                              \
  }                                                                        \
  VCS_DISPATCH_NOW;

enum { RUN_MET = 1 << 18 }; /* the flip has met the base */

/* How long a flip runs between two comparisons with the base. The numbers were measured; only time depends on them. */
enum {
  LOOK_AFTER_SHIFT = 40,  /* cycles, if no row has the flip's time */
  LOOK_AFTER_DETOUR = 10, /* cycles, if the flip is elsewhere in the program at a row's time */
  NEAR_ROWS = 16,         /* rows that are searched one by one before find_row searches the rest */
  WAIT_ROWS = 128,        /* rows at most, if the flip is on the base's path with other registers */
  AHEAD_ROWS = 12         /* a flip that would be woken within so many rows does not sleep */
};

VCS_HOT_FN bool has_met(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over);

#include "core/run.h"

#include <string.h>

vcs_mapping_t vcs_mapping_of(const vcs_t *m) {
  vcs_mapping_t mapping;
  memcpy(mapping.bank, m->bank, sizeof mapping.bank);
  memcpy(mapping.cart_clock, m->cart_clock, sizeof mapping.cart_clock);
  memcpy(mapping.cart_word, m->cart_word, sizeof mapping.cart_word);
  memcpy(mapping.cart_byte, m->cart_byte, sizeof mapping.cart_byte);
  return mapping;
}

/* Whether a machine has the mapping of a row. */
static bool has_mapping(const vcs_base_frame_t *frame, const vcs_t *m, const vcs_row_start_t *row) {
  const vcs_mapping_t *mapping = &frame->mappings[row->mapping];
  return vcs_same_bytes(mapping->bank, m->bank, sizeof mapping->bank) &&
         vcs_same_bytes(mapping->cart_clock, m->cart_clock, sizeof mapping->cart_clock) &&
         vcs_same_bytes(mapping->cart_word, m->cart_word, sizeof mapping->cart_word) &&
         vcs_same_bytes(mapping->cart_byte, m->cart_byte, sizeof mapping->cart_byte);
}

/* Whether a row reads a byte of RAM in which the flip differs now. */
static bool reads_other(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  const vcs_row_data_t *data = &frame->data[row];
  if (VCS_LIKELY(!data->listed)) return data->ram_read != VCS_NO_BYTE && m->ram[data->ram_read] != data->value_read;
  for (uint32_t touch = frame->rows[row].touch; touch < frame->rows[row + 1].touch; touch++) {
    const unsigned location = frame->touches[touch];
    if (location < VCS_LOCATION_TIMER && frame->touch_values[touch] != m->ram[location]) return true;
  }
  return false;
}

/* Returns the last of the next AHEAD_ROWS rows that reads a byte of RAM in which the flip differs; frame->count: none.
 */
static uint32_t last_reader(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t row) {
  for (uint32_t end = frame->count - row > AHEAD_ROWS ? row + AHEAD_ROWS : frame->count; end-- > row;) {
    if (reads_other(frame, m, end)) return end;
  }
  return frame->count;
}

/* Whether a flip that has the state of beside->row can sleep there. */
VCS_SLOW_FN bool can_sleep(beside_t *beside, const vcs_t *m) {
  const vcs_base_frame_t *frame = beside->frame;
  if (!has_mapping(frame, m, &frame->rows[beside->row])) return false;
  const uint32_t reader = last_reader(frame, m, beside->row);
  if (reader == frame->count) return true;
  beside->next = VCS_CYCLES((uint64_t)frame->cycles[reader] + 1);
  return false;
}

/* Returns the first row from `row` on that does not begin before a time, by binary search. */
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

/* Returns the time of a row, at most WAIT_ROWS later, from which on the base does not read these registers. Rows are
 * tried at growing distances, so it may be a little late. */
VCS_SLOW_FN uint64_t wait_for(const vcs_base_frame_t *frame, uint32_t row, uint64_t registers) {
  const uint32_t last = frame->count - row > WAIT_ROWS ? row + WAIT_ROWS : frame->count;
  uint32_t at = row;
  while (at < last && frame->rows[at].live & registers) at += 1 + (at - row) / 4;
  return VCS_CYCLES((uint64_t)frame->cycles[at < last ? at : last]);
}

/* Whether a flip can sleep at a row of the base now. If not, sets beside->next. */
VCS_HOT_FN bool has_met(beside_t *beside, const vcs_cpu_t *cpu, const vcs_t *m, bool over) {
  const vcs_base_frame_t *frame = beside->frame;
  const uint32_t cycles = vcs_cpu_cycles(cpu);
  uint32_t row = beside->row;
  for (int i = 0; frame->cycles[row] < cycles; i++, row++) { /* the last time is never reached */
    if (VCS_UNLIKELY(i == NEAR_ROWS)) {
      row = find_row(frame, row, cycles);
      break;
    }
  }
  beside->row = row;
  if (frame->cycles[row] != cycles) { /* the flip is earlier or later than the base, mostly up to the next WSYNC */
    beside->next = VCS_CYCLES((uint64_t)cycles + LOOK_AFTER_SHIFT);
    return false;
  }
  const vcs_row_start_t *start = &frame->rows[row];
  beside->next = VCS_CYCLES((uint64_t)cycles + LOOK_AFTER_DETOUR);
  if ((start->key & 0xFFFFFF) != (cpu->pc | (uint32_t)cpu->sp << VCS_KEY_SP)) return false;
  const uint64_t key = vcs_register_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu));
  const uint64_t differs = (key ^ start->key) & start->live;
  if (differs) {
    beside->next = wait_for(frame, row, differs);
    return false;
  }
  if (over || row == frame->count) return over && row == frame->count && has_mapping(frame, m, start);
  return can_sleep(beside, m);
}

int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed) {
  beside_t beside = {frame, from, VCS_CYCLES((uint64_t)m->cycles + 1)};
  if (from < frame->count) { /* the first instruction may set other values than in the base */
    const uint64_t set = wait_for(frame, from + 1, vcs_facts_of[frame->data[from].opcode].sets);
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
    if (left != most && has_met(&beside, &registers, m, over)) {
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

/* Whether a row changes only registers, time and one byte of RAM. */
static bool is_simple(const vcs_base_frame_t *frame, uint32_t row) {
  const vcs_row_data_t *data = &frame->data[row];
  const unsigned reg = data->addr & 63;
  const bool sounds = !(data->addr & 0x1080) && reg >= VCS_AUDC0 && reg <= VCS_AUDV1;
  return !data->listed && !sounds && frame->rows[row].mapping == frame->rows[row + 1].mapping;
}

/* Sets the CPU to the state of a row. */
static void take_registers(vcs_cpu_t *cpu, const vcs_base_frame_t *frame, uint32_t row) {
  const vcs_row_start_t *start = &frame->rows[row];
  cpu->time = VCS_CYCLES((uint64_t)frame->cycles[row]);
  cpu->pc = (uint16_t)start->key;
  cpu->sp = (uint8_t)(start->key >> VCS_KEY_SP);
  cpu->a = (uint8_t)(start->key >> VCS_KEY_A);
  cpu->x = (uint8_t)(start->key >> VCS_KEY_X);
  cpu->y = (uint8_t)(start->key >> VCS_KEY_Y);
  vcs_cpu_set_status(cpu, (uint8_t)(start->key >> VCS_KEY_P));
}

/* Rows that only change registers are skipped, and for simple rows the byte is stored. The last row of the frame is
 * executed, because the byte that it leaves on the bus stays there; elsewhere the next fetch replaces that byte. */
void vcs_concurrent_advance(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                            uint32_t from, uint32_t to) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &note->video;
  vcs_cpu_load(cpu, m);
  for (uint32_t row = frame->next_effect[from]; from < to; row = frame->next_effect[from]) {
    if (row >= to) {
      if (to < frame->count) break;
      row = to - 1;
    }
    from = row + 1;
    const vcs_row_data_t *data = &frame->data[row];
    if (from < frame->count && is_simple(frame, row)) {
      if (data->ram_written != VCS_NO_BYTE) m->ram[data->ram_written] = data->value_written;
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
