/* tape.c: runs a frame and records it.
 *
 * vcs_tape_step records any instruction: it determines what the instruction is about to read and overwrite, and then
 * cpu.h executes it. Nearly all instructions are simpler: they are in ROM, and access RAM, ROM or a chip in their last
 * cycle. tape_run.c executes and records these at the same time; vcs_tape_read_chip and vcs_tape_write_chip do what
 * such a loop does at the chips.
 */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#include "core/console.h"

#if !defined(__CUDACC__)
#include "host/files.h"

vcs_status_t vcs_tape_create(const vcs_cart_t *cart, vcs_tape_t **tape, vcs_error_t *error) {
  vcs_tape_t *t = calloc(1, sizeof *t);
  if (t) {
    t->start = malloc(vcs_state_size(cart));
    t->copy = malloc(vcs_state_size(cart));
  }
  if (!t || !t->start || !t->copy) {
    vcs_tape_free(t);
    *tape = NULL;
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  *tape = t;
  return VCS_OK;
}

void vcs_tape_free(vcs_tape_t *tape) {
  if (!tape) return;
  free(tape->rows);
  free(tape->events);
  free(tape->snapshots);
  free(tape->branches);
  free(tape->branch_machines);
  free(tape->start);
  free(tape->copy);
  free(tape);
}

#endif

/* Makes room for more than `count` elements of `size` bytes. A tape on a device does not grow. */
VCS_STATIC bool grow(void **array, int32_t count, int32_t *capacity, size_t size) {
  if (VCS_LIKELY(count < *capacity)) return true;
#if defined(__CUDACC__)
  (void)array, (void)size;
  return false;
#else
  int32_t wanted = *capacity ? 2 * *capacity : 512;
  while (wanted <= count) wanted *= 2;
  void *larger = realloc(*array, (size_t)wanted * size);
  if (!larger) return false;
  *array = larger;
  *capacity = wanted;
  return true;
#endif
}

/* The comb of an HMOVE: the first eight pixels of the line, or of the next one if they are drawn. */
VCS_STATIC void place_comb(vcs_tape_t *tape, const vcs_t *m) {
  if (tape->drawn < tape->comb_end) return;
  int32_t line = tape->drawn / VCS_LINE_CLOCKS, since = tape->drawn % VCS_LINE_CLOCKS;
  if (since >= VCS_COMB_END) {
    line++;
    since = 0;
  }
  int32_t row = line - m->first_line;
  tape->comb_end = VCS_LINE_CLOCKS * line + VCS_COMB_END;
  if (row < 0 || row >= VCS_ROWS_MAX) return;
  tape->comb[row].from = (uint8_t)(since < VCS_HBLANK_CLOCKS ? 0 : since - VCS_HBLANK_CLOCKS);
  tape->comb[row].to = VCS_COMB_PIXELS;
}

/* Late ones draw no comb. */
VCS_EXTERN void vcs_record_hmove(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  const unsigned cycle = (uint32_t)tape->next_event[-1].clock / 3 % VCS_LINE_CYCLES;
  if (cart->hmove_blanks && vcs_hmove_makes_comb(cycle)) place_comb(tape, m);
}

/* While a tape is recorded its events are counted by pointers; these go from one to the other. */
VCS_STATIC void count_events(vcs_tape_t *tape) { tape->event_count = (int32_t)(tape->next_event - tape->events); }

VCS_STATIC void find_events(vcs_tape_t *tape) {
  if (!tape->event_capacity) return; /* a new tape: no array yet */
  tape->next_event = tape->events + tape->event_count;
  tape->events_end = tape->events + tape->event_capacity;
}

/* Room for one more. */
VCS_STATIC bool event_room(vcs_tape_t *tape) {
  if (tape->next_event < tape->events_end) return true;
  count_events(tape);
  if (!grow((void **)&tape->events, tape->event_count, &tape->event_capacity, sizeof *tape->events)) return false;
  find_events(tape);
  return true;
}

VCS_STATIC bool add_snapshot(vcs_tape_t *tape, const vcs_t *m) {
  if (!grow((void **)&tape->snapshots, tape->snapshot_count, &tape->snapshot_capacity, sizeof *tape->snapshots))
    return false;
  vcs_snapshot_t *snapshot = &tape->snapshots[tape->snapshot_count++];
  snapshot->row = tape->count;
  memcpy(snapshot->machine, m, sizeof snapshot->machine);
  return true;
}

VCS_EXTERN bool vcs_record_branch(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  size_t size = vcs_machine_size(cart);
  if (!grow((void **)&tape->branches, tape->branch_count, &tape->branch_capacity, sizeof *tape->branches)) return false;
  if (!grow((void **)&tape->branch_machines, tape->branch_count, &tape->machine_capacity, size)) return false;
  tape->branches[tape->branch_count].row = tape->count;
  memcpy(tape->branch_machines + size * (size_t)tape->branch_count++, m, size);
  return true;
}

VCS_STATIC bool is_chip(uint16_t addr) { return vcs_chip_at(addr) == VCS_TO_TIA || vcs_chip_at(addr) == VCS_TO_RIOT; }

/* Returns the byte that a read is about to find. If it is a chip's, a copy of the machine executes the read. */
VCS_STATIC uint8_t byte_found(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr,
                              uint32_t cycles, uint8_t bus) {
  if (!is_chip(addr)) return vcs_code_byte(cart, m, addr);
  vcs_video_t undrawn;
  vcs_video_start(&undrawn, cart, NULL);
  memcpy(tape->copy, m, vcs_machine_size(cart));
  tape->copy->cycles = cycles;
  return vcs_bus_read_chip(cart, tape->copy, &undrawn, addr, bus);
}

/* The address of an instruction that is about to run. */
VCS_STATIC vcs_address_t address_of(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m,
                                    const vcs_row_t *row) {
  vcs_opcode_t op = vcs_opcode(row->opcode);
  uint8_t low = vcs_code_byte(cart, m, (uint16_t)(m->pc + 1)), high = vcs_code_byte(cart, m, (uint16_t)(m->pc + 2));
  vcs_address_t at = vcs_form_address(cart, m, op, low, high, m->x, m->y);
  if ((op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY) && !vcs_pointer_in_ram(at.pointer)) {
    uint32_t cycles = vcs_row_time(tape, row, false);
    uint8_t base_low = byte_found(tape, cart, m, at.pointer, cycles, low);
    at.base = (uint16_t)(base_low | byte_found(tape, cart, m, (uint16_t)(at.pointer + 1), cycles, base_low) << 8);
    at.addr = (uint16_t)(at.base + (op.mode == VCS_MODE_IZY ? m->y : 0));
    at.crosses = op.access == VCS_ACCESS_READ && (at.base ^ at.addr) & 0xFF00;
  }
  return at;
}

/* The byte on the bus before the data access of an instruction that reads and writes. */
VCS_STATIC uint8_t bus_before(const vcs_cart_t *cart, const vcs_t *m, vcs_opcode_t op, vcs_address_t at) {
  if (op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY) return (uint8_t)(at.base >> 8);
  return vcs_code_byte(cart, m, (uint16_t)(m->pc + vcs_mode_length(op.mode) - 1));
}

/* What fetching the instruction that is about to run does to the machine. If it switches banks, the instruction's bytes
 * are not those that the machine before it shows. */
typedef enum { FETCH_ONLY_READS, FETCH_CHANGES, FETCH_SWITCHES } fetch_t;

VCS_STATIC fetch_t fetching(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!vcs_is_hot(cart, m->pc) && !vcs_is_hot(cart, (uint16_t)(m->pc + 2))) return FETCH_ONLY_READS;
  memcpy(tape->copy, m, vcs_machine_size(cart));
  int length = 1;
  for (int i = 0; i < length; i++) {
    const uint16_t addr = (uint16_t)(m->pc + i);
    if (vcs_chip_at(addr) != VCS_TO_CART) break;
    const uint8_t byte = vcs_cart_read(cart, tape->copy, addr);
    if (byte != vcs_code_byte(cart, m, addr)) return FETCH_SWITCHES;
    if (i == 0) length = vcs_mode_length(vcs_opcode(byte).mode);
  }
  for (int i = 0; i < 4; i++) {
    if (tape->copy->bank[i] != m->bank[i]) return FETCH_SWITCHES;
  }
  return vcs_same_bytes(tape->copy, m, offsetof(vcs_t, cart_ram)) ? FETCH_ONLY_READS : FETCH_CHANGES;
}

/* Whether it has a byte in a chip. */
VCS_STATIC bool is_in_chip(const vcs_cart_t *cart, const vcs_t *m) {
  if (is_chip(m->pc)) return true;
  int length = vcs_mode_length(vcs_opcode(vcs_code_byte(cart, m, m->pc)).mode);
  return is_chip((uint16_t)(m->pc + length - 1)) || is_chip((uint16_t)(m->pc + length / 2));
}

/* Whether a read of the RIOT changes nothing in it: then the next snapshot is valid before it, too. */
VCS_STATIC bool riot_stays(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr, uint32_t cycles) {
  if (!(addr & 7)) return cart->passive_ports;
  if ((addr & 5) != 4) return true;
  return m->timer_was_read || vcs_riot_intervals(m, cycles - 1 - m->timer_cycle) >= 0;
}

/* Records an instruction that is about to be executed; the byte that it reads or writes is filled in afterwards. There
 * must be room for an event. */
VCS_STATIC bool add_row(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return false;
  vcs_row_t *row = &tape->rows[tape->count];
  vcs_cpu_t cpu;
  vcs_cpu_load(&cpu, m);
  const fetch_t fetch = fetching(tape, cart, m);
  const bool hidden = fetch == FETCH_SWITCHES || is_in_chip(cart, m), was_opaque = tape->opaque;
  vcs_row_begin(row, &cpu, m->pc, m->cycles, hidden ? VCS_OPAQUE : vcs_code_byte(cart, m, m->pc));
  tape->opaque = row->opcode == VCS_OPAQUE;
  vcs_opcode_t op = vcs_opcode(row->opcode);
  bool stores = op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY, reads = op.access == VCS_ACCESS_READ;
  bool crosses = false, deep = fetch == FETCH_CHANGES || tape->opaque || was_opaque;
  if (op.access == VCS_ACCESS_STACK) {
    switch (row->opcode) {
      case VCS_PHP:
      case VCS_PHA:
        stores = true;
        row->addr = (uint16_t)(0x100 + m->sp);
        break;
      case VCS_PLP:
      case VCS_PLA:
        reads = true;
        row->addr = (uint16_t)(0x100 + (uint8_t)(m->sp + 1));
        break;
      case VCS_JSR: /* what its second push overwrites is kept where there is room */
        stores = true;
        row->addr = (uint16_t)(0x100 + m->sp);
        break;
      case VCS_BRK:
        deep = true;
        break;
      default:
        break;
    }
  } else if ((reads && op.mode != VCS_MODE_IMM) || stores) {
    vcs_address_t at = address_of(tape, cart, m, row);
    row->addr = at.addr;
    crosses = at.crosses;
    if (op.access == VCS_ACCESS_MODIFY && is_chip(at.addr))
      row->old = byte_found(tape, cart, m, at.addr, vcs_row_time(tape, row, false), bus_before(cart, m, op, at));
  }
  if (row->addr) {
    switch (vcs_chip_at(row->addr)) {
      case VCS_TO_RAM:
        row->old = m->ram[row->addr & 0x7F];
        break;
      case VCS_TO_CART:
        deep |= vcs_is_hot(cart, row->addr) || stores;
        if (stores) {
          int32_t place = vcs_cart_write_place(cart, m, row->addr);
          row->old = place >= 0 ? m->cart_ram[place] : vcs_bus_peek(cart, m, row->addr);
        }
        break;
      case VCS_TO_RIOT:
        deep |= stores || !riot_stays(cart, m, row->addr, vcs_row_time(tape, row, crosses));
        break;
      default:
        deep |= stores && (row->addr & 63) == VCS_VBLANK; /* the paddles' capacitors */
        break;
    }
  }
  if (cart->snoops) deep = true;
  if (tape->forks && op.access == VCS_ACCESS_BRANCH && !vcs_record_branch(tape, cart, m)) return false;
  if (deep && !add_snapshot(tape, m)) return false;
  if ((stores || reads) && (op.mode != VCS_MODE_IMM) && vcs_chip_at(row->addr) == VCS_TO_TIA) {
    const uint32_t time = vcs_row_time(tape, row, crosses);
    if (stores) { /* what it stores is known before it happens */
      uint64_t word = vcs_local_pack(m->a, m->x, m->y, m->sp, m->p, row->old);
      uint8_t value = (uint8_t)(vcs_local(row->opcode, row->addr, word) >> 8 * VCS_LANE_V);
      vcs_record_event(tape, m, tape->count, row->addr & 63u, value, time);
    } else if ((row->addr & 15) < 8) {
      vcs_record_event(tape, m, tape->count, VCS_EVENT_READ + (row->addr & 15u), 0, time);
    }
  }
  return true;
}

VCS_EXTERN void vcs_tape_begin(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  tape->count = tape->event_count = tape->snapshot_count = tape->branch_count = 0;
  memset(tape->comb, 0, sizeof tape->comb);
  memcpy(tape->start, m, vcs_machine_size(cart));
  find_events(tape);
  tape->drawn = m->seen_clock;
  tape->picture_from = VCS_LINE_CLOCKS * cart->top_line;
  tape->until = INT32_MAX;
  tape->comb_end = 0;
  tape->opaque = false;
  if (m->hmove_blank) place_comb(tape, m);
}

/* Records the byte of cartridge RAM that an opaque row has stored to, if there is one. */
VCS_STATIC void note_opaque_store(vcs_row_t *row, const vcs_cart_t *cart, const vcs_t *before, const vcs_t *after) {
  for (uint32_t i = 0; i < cart->ram_size; i++) {
    if (before->cart_ram[i] == after->cart_ram[i]) continue;
    row->addr = (uint16_t)(i + 1);
    row->old = before->cart_ram[i];
    row->value = after->cart_ram[i];
  }
}

VCS_EXTERN bool vcs_tape_step(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                              bool *frame_over) {
  if (!event_room(tape)) return false;
  const vcs_event_t *event = tape->next_event;
  if (!add_row(tape, cart, m)) return false;
  vcs_row_t *row = &tape->rows[tape->count++];
  uint8_t second = m->ram[(uint8_t)(m->sp - 1) & 0x7F];
  if (tape->opaque) memcpy(tape->copy, m, vcs_machine_size(cart));
  vcs_cpu_step(cart, m, video, frame_over);
  row->value = row->opcode == VCS_JSR ? second : vcs_has_data(row->opcode) ? m->bus : 0;
  if (tape->opaque) note_opaque_store(row, cart, tape->copy, m);
  if (tape->next_event > event) {
    vcs_record_event_end(tape, m);
    if (event->reg == VCS_HMOVE) vcs_record_hmove(tape, cart, m);
  } else if (tape->drawn < VCS_LINE_CLOCKS * m->line) {
    tape->drawn = VCS_LINE_CLOCKS * m->line; /* an opaque row's write has no event: these lines have no derivative */
  }
  return true;
}

VCS_EXTERN bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  (void)cart;
  const bool fits = add_snapshot(tape, m) && event_room(tape);
  if (fits) {
    vcs_record_event(tape, m, tape->count, VCS_EVENT_END, 0, m->cycles);
    vcs_record_event_end(tape, m);
  }
  count_events(tape);
  return fits;
}

/* ---- What a loop does at the chips ------------------------------------------------------------------------------ */

/* A read of a chip at the end of an instruction; `bus` is the byte before it. -1: this is for vcs_tape_step. */
VCS_SLOW_EXTERN int vcs_tape_read_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                       const vcs_row_t *row, uint16_t addr, uint32_t cycles, uint8_t bus) {
  const bool collision = !(addr & 0x80) && (addr & 15) < 8;
  if (addr & 0x80 && !riot_stays(cart, m, addr, cycles)) return -1;
  if (collision) {
    if (!event_room(tape)) return -1;
    vcs_record_event(tape, m, (int32_t)(row - tape->rows), VCS_EVENT_READ + (addr & 15u), 0, cycles);
  }
  m->cycles = cycles;
  const uint8_t byte = vcs_bus_read_chip(cart, m, video, addr, bus);
  if (collision) vcs_record_event_end(tape, m);
  return byte;
}

/* A write to any register of a chip; the registers are in m where a snapshot needs them. Returns a set of VCS_STOP_...,
 * or -1. */
VCS_SLOW_EXTERN int vcs_tape_write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                        const vcs_row_t *row, uint16_t addr, uint8_t value, uint32_t cycles) {
  tape->count = (int32_t)(row - tape->rows);
  if (!event_room(tape)) return -1;
  if ((addr & 0x80 || (addr & 63) == VCS_VBLANK) && !add_snapshot(tape, m)) return -1;
  if (!(addr & 0x80)) vcs_record_event(tape, m, tape->count, addr & 63u, value, cycles);
  m->cycles = cycles;
  int stop = (int)vcs_bus_write_chip(cart, m, video, addr, value, true);
  if (addr & 0x80) return stop;
  vcs_record_event_end(tape, m);
  if ((addr & 63) == VCS_HMOVE) vcs_record_hmove(tape, cart, m);
  return tape->drawn >= tape->until ? stop | VCS_STOP_DRAWN : stop;
}

/* Turns of a loop that waits for the timer, beginning with its branch, that are left out: the timer is surely above 1
 * at their readings, so that neither the branch nor a slope of Z (docs/ste.md) takes notice of it. */
VCS_EXTERN uint32_t vcs_tape_turns(const vcs_tape_t *tape, const vcs_t *m, uint32_t cycles, uint32_t most) {
  if (!tape->brief || tape->forks) return 0;
  uint32_t turns = vcs_turns_of_timer(m, cycles, 7, 2, 255);
  return turns < most ? turns : most;
}

#if !defined(__CUDACC__) /* devices record side by side (src/cuda/record.h) */

/* The frame's instructions, `further` of them after the picture is drawn to tape->until. Returns how many are left of
 * those that a frame may have; -1: no memory. */
static int32_t run_frame(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t further,
                         bool *frame_over) {
  int32_t left = VCS_FRAME_INSTRUCTIONS, margin = VCS_RUN_MARGIN;
  while (left > 0 && !*frame_over && !m->jammed) {
    if (tape->drawn >= tape->until) {
      if (further < left) left = further, margin = 0; /* a few more do no harm */
      tape->until = INT32_MAX;
      continue;
    }
    if (!grow((void **)&tape->rows, tape->count + VCS_RUN_MARGIN, &tape->capacity, sizeof *tape->rows)) return -1;
    const uint32_t end =
        vcs_is_hot(cart, m->pc) ? (uint32_t)VCS_RUN_STEP : vcs_tape_run(tape, cart, m, video, left - margin);
    left -= (int32_t)(end & VCS_COUNT_MASK);
    *frame_over = end & VCS_RUN_OVER;
    if (!(end & VCS_RUN_STEP) || left <= 0 || tape->drawn >= tape->until) continue;
    if (!vcs_tape_step(tape, cart, m, video, frame_over)) return -1;
    left--;
  }
  return left > 0 ? left : 0;
}

bool vcs_tape_record(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video = {0};
  bool frame_over = false;
  vcs_video_start(&video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_tape_begin(tape, cart, m);
  int32_t left = run_frame(tape, cart, m, &video, 0, &frame_over);
  if (left < 0) return false;
  m->instructions += (uint32_t)(VCS_FRAME_INSTRUCTIONS - left);
  if (frame_over) m->partial = 0;
  if (!vcs_tape_end(tape, cart, m)) return false;
  vcs_console_finish_frame(cart, m, &video);
  return true;
}

bool vcs_tape_record_to(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, int32_t rows,
                        int32_t further) {
  vcs_video_t video = {0};
  bool frame_over = false;
  vcs_video_start(&video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_tape_begin(tape, cart, m);
  tape->until = rows ? VCS_LINE_CLOCKS * (m->first_line + rows) : 0;
  if (run_frame(tape, cart, m, &video, further, &frame_over) < 0 || !vcs_tape_end(tape, cart, m)) return false;
  vcs_tia_catch_up(m, &video);
  return true;
}

#endif
