/* tape.c: runs a frame and records it.
 *
 * vcs_tape_step records any instruction: it determines what the instruction is about to read and overwrite, and then
 * cpu.h executes it. Nearly all instructions are simpler: they are in ROM, and access RAM, ROM or a chip in their last
 * cycle. quick_rows executes and records these at the same time, and keeps the registers in host registers from row to
 * row. Instructions that it cannot handle go to vcs_tape_step, before anything has changed. test_grad.c compares the
 * two.
 */
#include "tape.h"

#include <stdlib.h>
#include <string.h>

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

/* The event of an access to the TIA that is about to happen `cycles` into the frame, with the TIA as it is before it.
 * There is room. end_event has to follow. */
VCS_HOT_FN void begin_event(vcs_tape_t *tape, const vcs_t *m, int32_t row, unsigned reg, uint8_t value,
                            uint32_t cycles) {
  vcs_event_t *event = tape->next_event++;
  event->row = row;
  event->clock = vcs_wrap_minus((int32_t)(cycles * 3), m->frame_clock);
  event->from = tape->drawn;
  event->line = m->line;
  event->collisions = m->collisions;
  event->reg = (uint8_t)reg;
  event->value = value;
  vcs_event_take_tia(event, m);
}

/* It has happened: this is what had been drawn before it (tia.h). */
VCS_HOT_FN void end_event(vcs_tape_t *tape, const vcs_t *m) { tape->next_event[-1].to = tape->drawn = m->seen_clock; }

/* An HMOVE has happened; late ones draw no comb. */
VCS_STATIC void end_hmove(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
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

VCS_STATIC bool add_branch(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  size_t size = vcs_machine_size(cart);
  if (!grow((void **)&tape->branches, tape->branch_count, &tape->branch_capacity, sizeof *tape->branches)) return false;
  if (!grow((void **)&tape->branch_machines, tape->branch_count, &tape->machine_capacity, size)) return false;
  tape->branches[tape->branch_count].row = tape->count;
  memcpy(tape->branch_machines + size * (size_t)tape->branch_count++, m, size);
  return true;
}

VCS_STATIC bool is_hot(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && cart->hot_pages >> (addr >> 6 & 63) & 1;
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
  if (!is_hot(cart, m->pc) && !is_hot(cart, (uint16_t)(m->pc + 2))) return FETCH_ONLY_READS;
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

/* Whether an instruction has a byte of data, which its row keeps: JSR has, and what is immediate is one. */
VCS_STATIC bool has_data(uint8_t opcode) {
  const unsigned access = vcs_opcode(opcode).access;
  if (access == VCS_ACCESS_STACK) return opcode == VCS_JSR || vcs_pushed(opcode) == 1 || vcs_pushed(opcode) == -1;
  return access == VCS_ACCESS_READ || access == VCS_ACCESS_WRITE || access == VCS_ACCESS_MODIFY;
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
        deep |= is_hot(cart, row->addr) || stores;
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
  if (tape->forks && op.access == VCS_ACCESS_BRANCH && !add_branch(tape, cart, m)) return false;
  if (deep && !add_snapshot(tape, m)) return false;
  if ((stores || reads) && (op.mode != VCS_MODE_IMM) && vcs_chip_at(row->addr) == VCS_TO_TIA) {
    const uint32_t time = vcs_row_time(tape, row, crosses);
    if (stores) { /* what it stores is known before it happens */
      uint64_t word = vcs_local_pack(m->a, m->x, m->y, m->sp, m->p, row->old);
      uint8_t value = (uint8_t)(vcs_local(row->opcode, row->addr, word) >> 8 * VCS_LANE_V);
      begin_event(tape, m, tape->count, row->addr & 63u, value, time);
    } else if ((row->addr & 15) < 8) {
      begin_event(tape, m, tape->count, VCS_EVENT_READ + (row->addr & 15u), 0, time);
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
  row->value = row->opcode == VCS_JSR ? second : has_data(row->opcode) ? m->bus : 0;
  if (tape->opaque) note_opaque_store(row, cart, tape->copy, m);
  if (tape->next_event > event) {
    end_event(tape, m);
    if (event->reg == VCS_HMOVE) end_hmove(tape, cart, m);
  } else if (tape->drawn < VCS_LINE_CLOCKS * m->line) {
    tape->drawn = VCS_LINE_CLOCKS * m->line; /* an opaque row's write has no event: these lines have no derivative */
  }
  return true;
}

VCS_EXTERN bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  (void)cart;
  const bool fits = add_snapshot(tape, m) && event_room(tape);
  if (fits) {
    begin_event(tape, m, tape->count, VCS_EVENT_END, 0, m->cycles);
    end_event(tape, m);
  }
  count_events(tape);
  return fits;
}

/* ---- The quick way ---------------------------------------------------------------------------------------------
 *
 * This is the loop of run.h with a row recorded for each decoded instruction (decode.h). Cases that a row of code does
 * not handle go to vcs_tape_step, before anything has changed.
 *
 * - The loop does not maintain the last byte on the bus: last_byte computes it when the loop ends.
 * - Only branches taken, jumps, returns and waits check for room for more rows and for the allowance of instructions.
 *   They compare time, since an instruction takes at least two cycles. There is always room for a bank from end to end
 *   (VCS_RUN_MARGIN).
 * - A, X, Y, S and the flags except N and Z are in one word, as a row has them. One access stores it, and everything
 * else fits into host registers. Operations take their registers out of the word, and put back those that they set. The
 *   upper bits of the time, which are also in that word, are corrected at the end (carry_time).
 */

/* A read of a chip at the end of an instruction; `bus` is the byte before it. -1: this is for vcs_tape_step. */
VCS_SLOW_EXTERN int vcs_tape_read_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                       const vcs_row_t *row, uint16_t addr, uint32_t cycles, uint8_t bus) {
  const bool collision = !(addr & 0x80) && (addr & 15) < 8;
  if (addr & 0x80 && !riot_stays(cart, m, addr, cycles)) return -1;
  if (collision) {
    if (!event_room(tape)) return -1;
    begin_event(tape, m, (int32_t)(row - tape->rows), VCS_EVENT_READ + (addr & 15u), 0, cycles);
  }
  m->cycles = cycles;
  const uint8_t byte = vcs_bus_read_chip(cart, m, video, addr, bus);
  if (collision) end_event(tape, m);
  return byte;
}

enum { STOP_DRAWN = 4 }; /* beside VCS_STOP_...: the picture is drawn up to tape->until */

/* A write to any register of a chip; the registers are in m where a snapshot needs them. Returns a set of VCS_STOP_...
 * or STOP_DRAWN, or -1. */
VCS_SLOW_EXTERN int vcs_tape_write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                        const vcs_row_t *row, uint16_t addr, uint8_t value, uint32_t cycles) {
  tape->count = (int32_t)(row - tape->rows);
  if (!event_room(tape)) return -1;
  if ((addr & 0x80 || (addr & 63) == VCS_VBLANK) && !add_snapshot(tape, m)) return -1;
  if (!(addr & 0x80)) begin_event(tape, m, tape->count, addr & 63u, value, cycles);
  m->cycles = cycles;
  int stop = (int)vcs_bus_write_chip(cart, m, video, addr, value, true);
  if (addr & 0x80) return stop;
  end_event(tape, m);
  if ((addr & 63) == VCS_HMOVE) end_hmove(tape, cart, m);
  return tape->drawn >= tape->until ? stop | STOP_DRAWN : stop;
}

/* Turns of a loop that waits for the timer, beginning with its branch, that are left out: the timer is surely above 1
 * at their readings, so that neither the branch nor a slope of Z (docs/ste.md) takes notice of it. */
VCS_EXTERN uint32_t vcs_tape_turns(const vcs_tape_t *tape, const vcs_t *m, uint32_t cycles, uint32_t most) {
  if (!tape->brief || tape->forks) return 0;
  uint32_t turns = vcs_turns_of_timer(m, cycles, 7, 2, 255);
  return turns < most ? turns : most;
}

#if !defined(__CUDACC__) /* devices record side by side (src/cuda/record.h) */

/* The byte on the bus after a row, from which the program went on to pc. */
static uint8_t last_byte(const vcs_cart_t *cart, const vcs_t *m, const vcs_row_t *row) {
  if (row->opcode == VCS_JSR || row->opcode == VCS_JMP_INDIRECT) return (uint8_t)(m->pc >> 8);
  if (row->opcode == VCS_RTS) return vcs_code_byte(cart, m, (uint16_t)(m->pc - 1));
  if (has_data(row->opcode)) return row->value;
  return vcs_code_byte(cart, m, (uint16_t)(row->pc + vcs_mode_length(vcs_opcode(row->opcode).mode) - 1));
}

/* The machine before the branch on a row, for a fork. */
VCS_SLOW_FN bool quick_branch(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, const vcs_row_t *row) {
  tape->count = (int32_t)(row - tape->rows);
  if (row > tape->rows) m->bus = last_byte(cart, m, row - 1);
  return add_branch(tape, cart, m);
}

/* What a decoded instruction adds its index to; its second way is the decoder's. */
VCS_HOT_FN uint32_t quick_base(const vcs_t *m, const vcs_cpu_t *cpu, vcs_code_t at, const uint8_t *bytes,
                               unsigned mode) {
  switch (mode) {
    case VCS_MODE_ZP:
      return bytes[1];
    case VCS_MODE_ZPX:
      return (uint8_t)(at.operand + cpu->x);
    case VCS_MODE_ZPY:
      return (uint8_t)(at.operand + cpu->y);
    case VCS_MODE_IZX:
      return vcs_run_pointer(&m->ram[(at.operand + cpu->x) & 0x7F]);
    case VCS_MODE_IZY:
      return vcs_run_pointer(&m->ram[at.operand]);
    default: /* ABS, ABX, ABY */
      return vcs_run_pointer(bytes + 1);
  }
}

VCS_HOT_FN uint32_t quick_index(const vcs_cpu_t *cpu, unsigned mode) {
  return mode == VCS_MODE_ABX ? cpu->x : mode == VCS_MODE_ABY || mode == VCS_MODE_IZY ? cpu->y : 0;
}

/* The last byte on the bus before a data access: of the operand or of the pointer. */
VCS_HOT_FN uint8_t quick_bus(const uint8_t *bytes, unsigned mode, uint32_t base) {
  return mode == VCS_MODE_ZP || mode == VCS_MODE_ZPX || mode == VCS_MODE_ZPY ? bytes[1] : (uint8_t)(base >> 8);
}

/* The registers as they are before the instruction at pc. */
VCS_HOT_FN void quick_store(vcs_cpu_t *cpu, vcs_t *m, uint32_t pc) {
  cpu->pc = (uint16_t)pc;
  vcs_cpu_store(cpu, m);
}

/* Arrays of a bank, indexed by the program counter itself. Where element 0 would be may lie outside any object, so that
 * place is an integer; only the address of an element of the bank becomes a pointer. (To subtract the bank's start from
 * the program counter at every instruction takes four per cent more host instructions.) */
typedef uintptr_t quick_array_t;

static quick_array_t quick_array(const void *array, size_t size, uint16_t first) {
  return (uintptr_t)array - size * first;
}
VCS_HOT_FN const vcs_code_t *quick_code(quick_array_t code, size_t pc) {
  return (const vcs_code_t *)(code + sizeof(vcs_code_t) * pc); /* NOLINT(performance-no-int-to-ptr) */
}
VCS_HOT_FN const uint8_t *quick_bytes(quick_array_t rom, size_t pc) {
  return (const uint8_t *)(rom + pc); /* NOLINT(performance-no-int-to-ptr) */
}

/* What a row has from its registers on, N, Z and the opcode left out, in a word. */
enum { QUICK_FLAGS = 8 * (offsetof(vcs_row_t, flags) - offsetof(vcs_row_t, a)) };

VCS_HOT_FN uint64_t quick_pack(const vcs_cpu_t *cpu) {
  return VCS_LANE(VCS_LANE_A, cpu->a) | VCS_LANE(VCS_LANE_X, cpu->x) | VCS_LANE(VCS_LANE_Y, cpu->y) |
         VCS_LANE(VCS_LANE_S, cpu->sp) | (uint64_t)vcs_row_flags(cpu, vcs_cpu_cycles(cpu)) << QUICK_FLAGS;
}

VCS_HOT_FN void quick_unpack(vcs_cpu_t *cpu, uint64_t word) {
  cpu->a = (uint8_t)(word >> 8 * VCS_LANE_A);
  cpu->x = (uint8_t)(word >> 8 * VCS_LANE_X);
  cpu->y = (uint8_t)(word >> 8 * VCS_LANE_Y);
  cpu->sp = (uint8_t)(word >> 8 * VCS_LANE_S);
  cpu->c = word >> QUICK_FLAGS & VCS_ROW_C ? 1 : 0;
  cpu->v = word >> QUICK_FLAGS & VCS_ROW_V ? 1 : 0;
  cpu->d = word >> QUICK_FLAGS & VCS_ROW_D ? 1 : 0;
  cpu->i = word >> QUICK_FLAGS & VCS_ROW_I ? 1 : 0;
}

/* The word with a register, or a flag, set anew. */
VCS_HOT_FN uint64_t quick_register(uint64_t word, int lane, uint8_t byte) {
  return (word & ~VCS_LANE(lane, 0xFF)) | VCS_LANE(lane, byte);
}
VCS_HOT_FN uint64_t quick_flag(uint64_t word, uint64_t flag, uint8_t set) {
  return (word & ~(flag << QUICK_FLAGS)) | set * (flag << QUICK_FLAGS);
}

/* The row of an instruction without data. Neighbouring fields go in one store. */
VCS_HOT_FN void quick_row(vcs_row_t *row, const vcs_cpu_t *cpu, uint32_t pc, uint64_t word, uint8_t opcode) {
  memcpy(&row->pc, &pc, 4); /* and no address */
  row->cycles = (uint16_t)vcs_cpu_cycles(cpu);
  row->value = row->old = 0;
  memcpy(&row->a, &word, 8);
  row->nz = (uint16_t)cpu->nz;
  row->opcode = opcode;
}

#if VCS_ROWS_JUMP
#define QUICK_DISPATCH goto *labels[quick_code(code, pc)->row]
#else
#define QUICK_DISPATCH goto next
#endif

/* The row is done; to the instruction `length` bytes on. */
#define QUICK_ON(length) \
  pc += (length);        \
  row++;                 \
  QUICK_DISPATCH;

/* The same for those that may go backwards. */
#define QUICK_BACK(length)                            \
  pc += (length);                                     \
  row++;                                              \
  if (VCS_UNLIKELY(cpu->time >= limit)) goto look_up; \
  QUICK_DISPATCH;

/* To an address. */
#define QUICK_TO(target)                                                                          \
  pc = (target);                                                                                  \
  row++;                                                                                          \
  if (VCS_UNLIKELY((uint16_t)(pc - bank.start) >= bank.size || cpu->time >= limit)) goto look_up; \
  QUICK_DISPATCH;

#define QUICK_ROW(opcode) quick_row(row, cpu, (uint32_t)pc, word, (opcode));

/* What an operation sets is put back into the word. */
#define QUICK_SET(operation)                                                             \
  if (VCS_SETS_##operation & VCS_OF_A) word = quick_register(word, VCS_LANE_A, cpu->a);  \
  if (VCS_SETS_##operation & VCS_OF_X) word = quick_register(word, VCS_LANE_X, cpu->x);  \
  if (VCS_SETS_##operation & VCS_OF_Y) word = quick_register(word, VCS_LANE_Y, cpu->y);  \
  if (VCS_SETS_##operation & VCS_OF_S) word = quick_register(word, VCS_LANE_S, cpu->sp); \
  if (VCS_SETS_##operation & VCS_OF_C) word = quick_flag(word, VCS_ROW_C, cpu->c);       \
  if (VCS_SETS_##operation & VCS_OF_V) word = quick_flag(word, VCS_ROW_V, cpu->v);       \
  if (VCS_SETS_##operation & VCS_OF_D) word = quick_flag(word, VCS_ROW_D, cpu->d);       \
  if (VCS_SETS_##operation & VCS_OF_I) word = quick_flag(word, VCS_ROW_I, cpu->i);

#define QUICK_IMPLIED(opcode, operation, cost, second) \
  QUICK_ROW(opcode)                                    \
  cpu->time += VCS_COST(cost);                         \
  vcs_do_##operation(VCS_HERE);                        \
  QUICK_SET(operation)                                 \
  QUICK_ON(1)

#define QUICK_READ(opcode, operation, cost, second)                                                           \
  {                                                                                                           \
    const unsigned mode = vcs_opcode(opcode).mode;                                                            \
    const bool in_ram = mode == VCS_MODE_ZP && !(second);                                                     \
    const vcs_code_t at = *quick_code(code, pc);                                                              \
    uint64_t time = cpu->time + VCS_COST(cost);                                                               \
    uint8_t value;                                                                                            \
    if (mode == VCS_MODE_IZX && !vcs_pointer_in_ram((uint8_t)(at.operand + cpu->x))) goto step;               \
    QUICK_ROW(opcode)                                                                                         \
    if (mode == VCS_MODE_IMM) {                                                                               \
      value = (uint8_t)at.operand;                                                                            \
    } else {                                                                                                  \
      const uint32_t base = in_ram ? 0x80u + at.operand : quick_base(m, cpu, at, quick_bytes(rom, pc), mode); \
      const uint16_t addr = (uint16_t)(base + quick_index(cpu, mode));                                        \
      time += VCS_PAGE_CROSSED(base, quick_index(cpu, mode));                                                 \
      row->addr = addr;                                                                                       \
      if ((mode == VCS_MODE_ABS || mode == VCS_MODE_ABX || mode == VCS_MODE_ABY) && !(second)) {              \
        value = bank.rom[at.operand + quick_index(cpu, mode)];                                                \
      } else if (in_ram || (addr & 0x1280) == 0x80) {                                                         \
        value = row->old = m->ram[addr & 0x7F];                                                               \
      } else if (addr & 0x1000) {                                                                             \
        if (is_hot(cart, addr)) goto step;                                                                    \
        value = cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FF)];                                          \
      } else {                                                                                                \
        int found = vcs_tape_read_chip(tape, cart, m, video, row, addr, (uint32_t)(time >> VCS_CYCLES_SHIFT), \
                                       quick_bus(quick_bytes(rom, pc), mode, base));                          \
        if (found < 0) goto step;                                                                             \
        value = (uint8_t)found;                                                                               \
      }                                                                                                       \
    }                                                                                                         \
    row->value = value;                                                                                       \
    cpu->time = time;                                                                                         \
    vcs_op_##operation(cpu, value);                                                                           \
    QUICK_SET(operation)                                                                                      \
    QUICK_ON(vcs_mode_length(mode))                                                                           \
  }

#define QUICK_WRITE(opcode, operation, cost, second)                                                      \
  {                                                                                                       \
    const unsigned mode = vcs_opcode(opcode).mode;                                                        \
    const bool in_ram = mode == VCS_MODE_ZP && !(second);                                                 \
    if (mode == VCS_MODE_IZX) goto step;                                                                  \
    const uint32_t base = in_ram ? 0x80u + quick_code(code, pc)->operand                                  \
                                 : quick_base(m, cpu, *quick_code(code, pc), quick_bytes(rom, pc), mode); \
    const uint16_t addr = (uint16_t)(base + quick_index(cpu, mode));                                      \
    if (!in_ram && addr & 0x1000) goto step;                                                              \
    const uint8_t value = vcs_op_##operation(cpu, addr);                                                  \
    QUICK_ROW(opcode)                                                                                     \
    QUICK_SET(operation)                                                                                  \
    row->addr = addr;                                                                                     \
    row->value = value;                                                                                   \
    if (in_ram || (addr & 0x280) == 0x80) {                                                               \
      row->old = m->ram[addr & 0x7F];                                                                     \
      m->ram[addr & 0x7F] = value;                                                                        \
      cpu->time += VCS_COST(cost);                                                                        \
      QUICK_ON(vcs_mode_length(mode))                                                                     \
    }                                                                                                     \
    time = cpu->time + VCS_COST(cost);                                                                    \
    length = vcs_mode_length(mode);                                                                       \
    goto chip_write;                                                                                      \
  }

/* A write to a register of the TIA that is known, which `write` makes. */
#define QUICK_TIA(opcode, reg, stored, write)                                          \
  {                                                                                    \
    if (VCS_UNLIKELY(tape->next_event >= tape->events_end)) goto step;                 \
    const uint32_t cycles = (uint32_t)((cpu->time + VCS_COST(3)) >> VCS_CYCLES_SHIFT); \
    QUICK_ROW(opcode)                                                                  \
    row->addr = quick_bytes(rom, pc)[1];                                               \
    row->value = (stored);                                                             \
    quick_event(tape, m, row, (reg), (stored), cycles);                                \
    stop = (write) ? VCS_STOP_FRAME : 0;                                               \
    end_event(tape, m);                                                                \
    if ((reg) == VCS_HMOVE) end_hmove(tape, cart, m);                                  \
    cpu->time += VCS_COST(3);                                                          \
    if ((reg) == VCS_WSYNC) cpu->time += VCS_CYCLES((uint32_t)(m->cycles - cycles));   \
    pc += 2;                                                                           \
    row++;                                                                             \
    if (VCS_UNLIKELY(stop || tape->drawn >= tape->until)) goto stopped;                \
    if ((reg) == VCS_WSYNC && VCS_UNLIKELY(cpu->time >= limit)) goto look_up;          \
    QUICK_DISPATCH;                                                                    \
  }
#define QUICK_STORE(opcode, name, stored) \
  QUICK_TIA(opcode, VCS_##name, stored, vcs_tia_write_this(m, video, VCS_##name, (stored)))
#define QUICK_TIA_ROW(name)                       \
  VCS_ROW_LABEL(sty_##name, VCS_ROW_STY_##name) { \
    quick_unpack(cpu, word);                      \
    QUICK_STORE(VCS_STY_ZP, name, cpu->y)         \
  }                                               \
  VCS_ROW_LABEL(sta_##name, VCS_ROW_STA_##name) { \
    quick_unpack(cpu, word);                      \
    QUICK_STORE(VCS_STA_ZP, name, cpu->a)         \
  }                                               \
  VCS_ROW_LABEL(stx_##name, VCS_ROW_STX_##name) { \
    quick_unpack(cpu, word);                      \
    QUICK_STORE(VCS_STX_ZP, name, cpu->x)         \
  }

#define QUICK_MODIFY(opcode, operation, cost, second)                                                               \
  {                                                                                                                 \
    const unsigned mode = vcs_opcode(opcode).mode;                                                                  \
    if (mode == VCS_MODE_IZX || mode == VCS_MODE_IZY) goto step;                                                    \
    const uint16_t addr =                                                                                           \
        (uint16_t)(quick_base(m, cpu, *quick_code(code, pc), quick_bytes(rom, pc), mode) + quick_index(cpu, mode)); \
    if ((addr & 0x1280) != 0x80) goto step;                                                                         \
    QUICK_ROW(opcode)                                                                                               \
    row->addr = addr;                                                                                               \
    const uint8_t old = m->ram[addr & 0x7F];                                                                        \
    row->old = old;                                                                                                 \
    cpu->time += VCS_COST(cost);                                                                                    \
    row->value = m->ram[addr & 0x7F] = vcs_op_##operation(cpu, old);                                                \
    QUICK_SET(operation)                                                                                            \
    QUICK_ON(vcs_mode_length(mode))                                                                                 \
  }

#define QUICK_JUMP(opcode, operation, cost, second)       \
  QUICK_ROW(opcode)                                       \
  cpu->time += VCS_COST(cost);                            \
  const uint16_t operand = quick_code(code, pc)->operand; \
  QUICK_TO(vcs_opcode(opcode).mode == VCS_MODE_IND ? vcs_run_pointer(&m->ram[operand]) : operand)

#define QUICK_BRANCH(opcode, operation, cost, second)          \
  QUICK_ROW(opcode)                                            \
  if (VCS_UNLIKELY(tape->forks)) {                             \
    quick_unpack(cpu, word);                                   \
    quick_store(cpu, m, row->pc);                              \
    if (!quick_branch(tape, cart, m, row)) goto step;          \
  }                                                            \
  if (vcs_op_##operation(cpu)) {                               \
    cpu->time += VCS_COST((cost) + ((second) ? 2 : 1));        \
    QUICK_BACK((size_t)(int16_t)quick_code(code, pc)->operand) \
  }                                                            \
  cpu->time += VCS_COST(cost);                                 \
  QUICK_ON(2)

#define QUICK_STACK(opcode, operation, cost, second) QUICK_##operation(opcode, cost)
/* Programs push into the TIA, too. */
#define QUICK_PUSH(opcode, cost, pushed)            \
  QUICK_ROW(opcode)                                 \
  row->addr = (uint16_t)(0x100 + cpu->sp);          \
  row->value = (pushed);                            \
  if (VCS_UNLIKELY(cpu->sp < 0x80)) {               \
    time = cpu->time + VCS_COST(cost);              \
    length = 1;                                     \
    goto chip_write;                                \
  }                                                 \
  row->old = m->ram[cpu->sp & 0x7F];                \
  m->ram[cpu->sp-- & 0x7F] = row->value;            \
  word = quick_register(word, VCS_LANE_S, cpu->sp); \
  cpu->time += VCS_COST(cost);                      \
  QUICK_ON(1)
#define QUICK_PHA(opcode, cost) QUICK_PUSH(opcode, cost, cpu->a)
#define QUICK_PHP(opcode, cost) QUICK_PUSH(opcode, cost, vcs_cpu_status(cpu))
/* A pull reads the byte before, too. Programs that keep other things in S pull from the TIA, to pass time: that is all
 * it does there above the collisions. */
#define QUICK_PULL(opcode, cost, set)                                                   \
  const uint8_t before = cpu->sp++;                                                     \
  const bool chip = before < 0x7F && (before & 15) >= 8 && (cpu->sp & 15) >= 8;         \
  if (VCS_UNLIKELY(before < 0x80 ? !chip : before > 0xFE)) goto step;                   \
  QUICK_ROW(opcode)                                                                     \
  row->addr = (uint16_t)(0x100 + cpu->sp);                                              \
  cpu->time += VCS_COST(cost);                                                          \
  if (VCS_UNLIKELY(chip)) {                                                             \
    m->cycles = vcs_cpu_cycles(cpu);                                                    \
    row->value = vcs_bus_read_chip(cart, m, video, (uint16_t)(0x100 + before), opcode); \
    row->value = vcs_bus_read_chip(cart, m, video, row->addr, row->value);              \
  } else {                                                                              \
    row->value = row->old = m->ram[cpu->sp & 0x7F];                                     \
  }                                                                                     \
  set(cpu, row->value);                                                                 \
  word = quick_pack(cpu);                                                               \
  QUICK_ON(1)
#define QUICK_PLA(opcode, cost) QUICK_PULL(opcode, cost, vcs_op_LDA)
#define QUICK_PLP(opcode, cost) QUICK_PULL(opcode, cost, vcs_cpu_set_status)
#define QUICK_JSR(opcode, cost)                       \
  if (cpu->sp < 0x81) goto step;                      \
  const uint16_t back = (uint16_t)(pc + 2);           \
  QUICK_ROW(opcode)                                   \
  row->addr = (uint16_t)(0x100 + cpu->sp);            \
  row->old = m->ram[cpu->sp & 0x7F];                  \
  row->value = m->ram[(uint8_t)(cpu->sp - 1) & 0x7F]; \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);    \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;           \
  word = quick_register(word, VCS_LANE_S, cpu->sp);   \
  cpu->time += VCS_COST(cost);                        \
  QUICK_TO(quick_code(code, pc)->operand)
#define QUICK_RTS(opcode, cost)                                             \
  if (cpu->sp < 0x80 || cpu->sp > 0xFD) goto step;                          \
  const uint16_t back = vcs_run_pointer(&m->ram[(cpu->sp + 1) & 0x7F]);     \
  const uint16_t there = (uint16_t)(back - bank.start);                     \
  if (there >= bank.size || bank.code[there].row == VCS_ROW_HOT) goto step; \
  QUICK_ROW(opcode)                                                         \
  cpu->sp = (uint8_t)(cpu->sp + 2);                                         \
  word = quick_register(word, VCS_LANE_S, cpu->sp);                         \
  cpu->time += VCS_COST(cost);                                              \
  QUICK_TO((uint16_t)(back + 1))
#define QUICK_RTI(opcode, cost) goto step;
#define QUICK_BRK(opcode, cost) goto step;

#define QUICK_PAIR(opcode, operation, mode, access, cost)   \
  VCS_ROW_LABEL(first_##opcode, opcode) {                   \
    quick_unpack(cpu, word);                                \
    QUICK_##access(opcode, operation, cost, false)          \
  }                                                         \
  VCS_ROW_LABEL(second_##opcode, opcode + VCS_ROW_SECOND) { \
    quick_unpack(cpu, word);                                \
    QUICK_##access(opcode, operation, cost, true)           \
  }

/* The event of a write to the TIA that is about to be made. */
VCS_HOT_FN void quick_event(vcs_tape_t *tape, vcs_t *m, const vcs_row_t *row, unsigned reg, uint8_t value,
                            uint32_t cycles) {
  begin_event(tape, m, (int32_t)(row - tape->rows), reg, value, cycles);
  m->cycles = cycles;
}

/* The cycles for which it may run: two for each row there is room for and each instruction that is allowed, and not so
 * long that the lower bits of the time could come round, a bank of slow instructions later. */
static uint32_t cycles_ahead(const vcs_tape_t *tape, int32_t allowed) {
  enum { HALF_WAY_ROUND = 1 << 15 };
  const int32_t room = tape->capacity - tape->count - VCS_RUN_MARGIN, most = room < allowed ? room : allowed;
  if (most <= 0) return 0;
  return 2 * most < HALF_WAY_ROUND ? 2 * (uint32_t)most : HALF_WAY_ROUND;
}

/* Rows from `first` to `end` in which the lower bits of the time have passed zero still have the upper bits from
 * before. Those at the end are `flags`. */
static void carry_time(vcs_row_t *first, vcs_row_t *end, uint8_t flags) {
  enum { UPPER = VCS_ROW_HIGH << VCS_ROW_HIGH_SHIFT };
  for (vcs_row_t *row = end - 1; row > first && row->cycles < first->cycles; row--)
    row->flags = (uint8_t)((row->flags & ~UPPER) | (flags & UPPER));
}

/* Runs on, and writes down, as long as it can: about `allowed` instructions, surely not VCS_RUN_MARGIN more. Returns
 * how many. */
static int32_t quick_rows(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t allowed,
                          bool *frame_over) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_bank_t bank;
  const uint32_t ahead = cycles_ahead(tape, allowed);
  if (!ahead || cart->snoops || tape->opaque || !vcs_find_bank(cart, m, m->pc, &bank)) return 0;
  vcs_row_t *row = tape->rows + tape->count, *const first = row;
  quick_array_t code = quick_array(bank.code, sizeof *bank.code, bank.start);
  quick_array_t rom = quick_array(bank.rom, 1, bank.start);
  size_t pc = m->pc;
  vcs_cpu_load(cpu, m);
  const uint64_t limit = cpu->time + VCS_CYCLES(ahead);
  uint64_t word = quick_pack(cpu);
  uint64_t time;   /* of a write to a chip, */
  unsigned length; /* how long its instruction is, */
  int stop;        /* and whether it stops */

#if VCS_ROWS_JUMP
#define QUICK_FIRST_ADDRESS(opcode, operation, mode, access, cost) &&first_##opcode,
#define QUICK_SECOND_ADDRESS(opcode, operation, mode, access, cost) &&second_##opcode,
#define QUICK_TIA_ADDRESSES(name) &&sty_##name, &&sta_##name, &&stx_##name,
  static const void *const addresses[VCS_ROWS] = {
      VCS_OPCODES(QUICK_FIRST_ADDRESS) VCS_OPCODES(QUICK_SECOND_ADDRESS) && step,
      &&step,
      &&wsync,
      &&wait_bne,
      &&wait_bpl,
      &&wait_bmi,
      &&delay_dex_bne,
      &&delay_dey_bne,
      &&delay_dex_bpl,
      &&delay_dey_bpl,
      VCS_TIA_ROWS(QUICK_TIA_ADDRESSES)};
  const void *const *labels = addresses;
  __asm__("" : "+r"(labels)); /* as in run.h: it stays in a register */
  QUICK_DISPATCH;
  {
#else
next:
  switch (quick_code(code, pc)->row) {
#endif
    VCS_OPCODES(QUICK_PAIR) /* NOLINT(bugprone-branch-clone): rows that only step are alike */
    VCS_TIA_ROWS(QUICK_TIA_ROW)
    VCS_ROW_LABEL(wsync, VCS_ROW_WSYNC) {
      quick_unpack(cpu, word);
      const uint8_t opcode = *quick_bytes(rom, pc), value = opcode == VCS_STY_ZP   ? cpu->y
                                                            : opcode == VCS_STA_ZP ? cpu->a
                                                                                   : cpu->x;
      QUICK_TIA(opcode, VCS_WSYNC, value, vcs_bus_write_wsync(m, video))
    }
    VCS_ROW_LABEL(wait_bne, VCS_ROW_WAIT_BNE) {
      if (vcs_op_BNE(cpu) && cpu->time < limit) {
        const uint32_t most = (uint32_t)((limit - cpu->time) / VCS_CYCLES(7));
        cpu->time += vcs_tape_turns(tape, m, vcs_cpu_cycles(cpu), most) * (VCS_COST(3) + VCS_COST(4));
      }
      QUICK_BRANCH(0xD0, BNE, 2, false)
    }
    VCS_ROW_LABEL(delay_dex_bne, VCS_ROW_DELAY_DEX_BNE)
    VCS_ROW_LABEL(delay_dey_bne, VCS_ROW_DELAY_DEY_BNE){QUICK_BRANCH(0xD0, BNE, 2, false)} VCS_ROW_LABEL(
        wait_bpl, VCS_ROW_WAIT_BPL) VCS_ROW_LABEL(delay_dex_bpl, VCS_ROW_DELAY_DEX_BPL)
        VCS_ROW_LABEL(delay_dey_bpl, VCS_ROW_DELAY_DEY_BPL){QUICK_BRANCH(0x10, BPL, 2, false)} VCS_ROW_LABEL(
            wait_bmi, VCS_ROW_WAIT_BMI) {
      QUICK_BRANCH(0x30, BMI, 2, false)
    }
#if !VCS_ROWS_JUMP
    default:
      goto step;
#endif
  }
chip_write : { /* any chip's register: the row has the address and the value */
  const uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);
  quick_unpack(cpu, word);
  if (row->addr & 0x80 || (row->addr & 63) == VCS_VBLANK) quick_store(cpu, m, row->pc); /* for the snapshot */
  stop = vcs_tape_write_chip(tape, cart, m, video, row, row->addr, row->value, cycles);
  if (VCS_UNLIKELY(stop < 0)) goto step;
  if (length == 1) word = quick_register(word, VCS_LANE_S, --cpu->sp); /* a push */
  cpu->time = time + VCS_CYCLES((uint32_t)(m->cycles - cycles));
  pc += length;
  row++;
  if (VCS_UNLIKELY(stop)) goto stopped;
  if (VCS_LIKELY(cpu->time < limit)) QUICK_DISPATCH;
}
look_up: /* it has run for long, or may have left its bank */
  if (cpu->time < limit && vcs_find_bank(cart, m, (uint16_t)pc, &bank)) {
    code = quick_array(bank.code, sizeof *bank.code, bank.start);
    rom = quick_array(bank.rom, 1, bank.start);
    QUICK_DISPATCH;
  }
step:
  stop = 0;
stopped:
  *frame_over = stop & VCS_STOP_FRAME;
  quick_unpack(cpu, word);
  quick_store(cpu, m, (uint32_t)pc);
  if (row > first) {
    m->bus = last_byte(cart, m, row - 1);
    carry_time(first, row, vcs_row_flags(cpu, m->cycles));
  }
  tape->count = (int32_t)(row - tape->rows);
  return (int32_t)(cpu->time & VCS_COUNT_MASK);
}

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
    if (!is_hot(cart, m->pc)) left -= quick_rows(tape, cart, m, video, left - margin, frame_over);
    if (left <= 0 || *frame_over || tape->drawn >= tape->until) continue;
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
