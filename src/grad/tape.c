/* tape.c: running a frame and writing down what happened.
 *
 * vcs_tape_step writes down any instruction, whatever it does: it finds out beforehand what the instruction is going to
 * read and overwrite, and then lets cpu.h execute it. Nearly all instructions need none of that care. They are code in
 * ROM which meets RAM, ROM, or a chip at the end of its bus cycle, and quick_rows executes and writes them down at the
 * same time, with the registers in place from row to row. What it does not do itself it leaves to vcs_tape_step, before
 * it has changed anything. test_grad.c compares the two.
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
  free(tape->sides);
  free(tape->branches);
  free(tape->branch_machines);
  free(tape->start);
  free(tape->copy);
  free(tape);
}

#endif

/* Room for more than `count` elements of `size` bytes. A device's tapes do not grow. */
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

/* The picture is drawn up to this clock of the frame. */
VCS_STATIC void draw_to(vcs_tape_t *tape, int32_t clock) {
  if (clock < tape->picture_from) return;
  if (clock > tape->picture_to) clock = tape->picture_to;
  if (clock > tape->drawn) tape->drawn = clock;
}

/* The comb of an HMOVE: the first eight pixels of the line, or of the next one if they are drawn. */
VCS_STATIC void place_comb(vcs_tape_t *tape, const vcs_t *m) {
  if (tape->drawn < tape->comb_end) return;
  int32_t line = tape->drawn / VCS_LINE_CLOCKS, since = tape->drawn % VCS_LINE_CLOCKS;
  if (since >= VCS_HBLANK_CLOCKS + 8) {
    line++;
    since = 0;
  }
  int32_t row = line - m->first_line;
  tape->comb_end = VCS_LINE_CLOCKS * line + VCS_HBLANK_CLOCKS + 8;
  if (row < 0 || row >= VCS_ROWS_MAX) return;
  tape->comb[row].from = (uint8_t)(since < VCS_HBLANK_CLOCKS ? 0 : since - VCS_HBLANK_CLOCKS);
  tape->comb[row].to = 8;
}

/* What strobes do to the picture beside setting a register: a player that is reset while a copy of it is being drawn
 * shows the rest of it, and HMOVE draws its comb. */
VCS_STATIC void draw_strobe(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, unsigned reg, int32_t clock) {
  const int hpos = clock % VCS_LINE_CLOCKS;
  if (reg == VCS_HMOVE) {
    if (cart->hmove_blanks && (hpos <= 62 || hpos >= 225)) place_comb(tape, m);
  } else if (vcs_player_phase(m->nusiz[reg - VCS_RESP0], m->pos[reg - VCS_RESP0],
                              hpos < VCS_HBLANK_CLOCKS ? 3 : (hpos - VCS_HBLANK_CLOCKS + 5) % 160) == 1) {
    draw_to(tape, clock + 11);
  }
}

/* The event of a row, with the TIA as it is before it. There is room. */
VCS_HOT_FN vcs_event_t *begin_event(vcs_tape_t *tape, const vcs_t *m, int32_t row, int32_t clock, unsigned reg,
                                    uint8_t value) {
  vcs_event_t *event = &tape->events[tape->event_count++];
  event->row = row;
  event->clock = clock;
  /* Writes that have no event (a call whose stack is in the TIA) may have drawn lines: those have no derivative. */
  if (tape->drawn < VCS_LINE_CLOCKS * m->line) tape->drawn = VCS_LINE_CLOCKS * m->line;
  event->from = tape->drawn;
  event->line = m->line;
  event->collisions = m->collisions;
  event->reg = (uint8_t)reg;
  event->value = value;
  vcs_event_take_tia(event, m);
  return event;
}

VCS_HOT_FN bool event_room(vcs_tape_t *tape) {
  return grow((void **)&tape->events, tape->event_count, &tape->event_capacity, sizeof *tape->events);
}

VCS_HOT_FN bool is_strobe(unsigned reg) { return reg == VCS_RESP0 || reg == VCS_RESP1 || reg == VCS_HMOVE; }

/* A write that is about to be made; for a strobe draw_strobe has to follow. */
VCS_HOT_FN vcs_event_t *note_write(vcs_tape_t *tape, const vcs_t *m, int32_t row, unsigned reg, uint8_t value,
                                   uint32_t cycles) {
  const int32_t clock = vcs_wrap_minus((int32_t)(cycles * 3), m->frame_clock);
  vcs_event_t *event = begin_event(tape, m, row, clock, reg, value);
  draw_to(tape, clock + vcs_tia_delay(reg, clock));
  event->to = tape->drawn;
  return event;
}

/* The same for all of them. False: no memory. */
VCS_STATIC bool add_write(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, int32_t row, unsigned reg,
                          uint8_t value, uint32_t cycles) {
  if (!event_room(tape)) return false;
  vcs_event_t *event = note_write(tape, m, row, reg, value, cycles);
  if (!is_strobe(reg)) return true;
  draw_strobe(tape, cart, m, reg, event->clock);
  event->to = tape->drawn;
  return true;
}

/* A collision register that is about to be read, or the end of the frame. */
VCS_STATIC bool add_look(vcs_tape_t *tape, const vcs_t *m, int32_t row, unsigned reg, uint32_t cycles) {
  if (!event_room(tape)) return false;
  const int32_t clock = vcs_wrap_minus((int32_t)(cycles * 3), m->frame_clock);
  vcs_event_t *event = begin_event(tape, m, row, clock, reg, 0);
  draw_to(tape, reg == VCS_EVENT_END ? m->seen_clock : clock);
  event->to = tape->drawn;
  return true;
}

VCS_STATIC bool add_side(vcs_tape_t *tape, const vcs_t *m) {
  if (!grow((void **)&tape->sides, tape->side_count, &tape->side_capacity, sizeof *tape->sides)) return false;
  vcs_side_t *side = &tape->sides[tape->side_count++];
  side->row = tape->count;
  memcpy(side->machine, m, sizeof side->machine);
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

/* The byte that a read is about to find, which may be a chip's: the read is done, on a copy. */
VCS_STATIC uint8_t byte_found(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr,
                              uint32_t cycles, uint8_t bus) {
  if (!is_chip(addr)) return vcs_code_byte(cart, m, addr);
  vcs_video_t nobody;
  vcs_video_start(&nobody, cart, NULL);
  memcpy(tape->copy, m, vcs_machine_size(cart));
  tape->copy->cycles = cycles;
  return vcs_bus_read_chip(cart, tape->copy, &nobody, addr, bus);
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

/* Whether fetching the instruction that is about to run switches banks: its bytes are then not those that the machine
 * before it shows. */
VCS_STATIC bool switches_itself(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!is_hot(cart, m->pc) && !is_hot(cart, (uint16_t)(m->pc + 2))) return false;
  memcpy(tape->copy, m, vcs_machine_size(cart));
  int length = 1;
  for (int i = 0; i < length; i++) {
    const uint16_t addr = (uint16_t)(m->pc + i);
    if (vcs_chip_at(addr) != VCS_TO_CART) break;
    const uint8_t byte = vcs_cart_read(cart, tape->copy, addr);
    if (byte != vcs_code_byte(cart, m, addr)) return true;
    if (i == 0) length = vcs_mode_length(vcs_opcode(byte).mode);
  }
  for (int i = 0; i < 4; i++) {
    if (tape->copy->bank[i] != m->bank[i]) return true;
  }
  return false;
}

VCS_STATIC bool is_dark(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (is_chip(m->pc)) return true;
  int length = vcs_mode_length(vcs_opcode(vcs_code_byte(cart, m, m->pc)).mode);
  return is_chip((uint16_t)(m->pc + length - 1)) || is_chip((uint16_t)(m->pc + length / 2)) ||
         switches_itself(tape, cart, m);
}

/* Whether an instruction has a byte of data, which its row keeps: JSR has, and what is immediate is one. */
VCS_STATIC bool has_data(uint8_t opcode) {
  const unsigned access = vcs_opcode(opcode).access;
  if (access == VCS_ACCESS_STACK) return opcode == 0x20 || (opcode & 0x8F) == 0x08; /* JSR, PHP PLP PHA PLA */
  return access == VCS_ACCESS_READ || access == VCS_ACCESS_WRITE || access == VCS_ACCESS_MODIFY;
}

/* Writes down an instruction that is about to be executed. What it will read or write is filled in afterwards. */
VCS_STATIC bool add_row(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return false;
  vcs_row_t *row = &tape->rows[tape->count];
  row->pc = m->pc;
  const uint32_t since = m->cycles - tape->start->cycles;
  row->cycles = (uint16_t)since;
  row->a = m->a;
  row->x = m->x;
  row->y = m->y;
  row->sp = m->sp;
  vcs_cpu_t flags;
  vcs_cpu_set_status(&flags, m->p);
  row->flags = (uint16_t)(flags.nz | vcs_row_seldom(&flags, since));
  row->c = flags.c;
  row->opcode = is_dark(tape, cart, m) ? VCS_DARK : vcs_code_byte(cart, m, m->pc);
  row->addr = 0;
  row->old = 0;
  vcs_opcode_t op = vcs_opcode(row->opcode);
  bool stores = op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY, reads = op.access == VCS_ACCESS_READ;
  bool crosses = false, deep = is_hot(cart, m->pc) || tape->dark || row->opcode == VCS_DARK;
  tape->dark = row->opcode == VCS_DARK;
  if (op.access == VCS_ACCESS_STACK) {
    switch (row->opcode) {
      case 0x08: /* PHP */
      case 0x48: /* PHA */
        stores = true;
        row->addr = (uint16_t)(0x100 + m->sp);
        break;
      case 0x28: /* PLP */
      case 0x68: /* PLA */
        reads = true;
        row->addr = (uint16_t)(0x100 + (uint8_t)(m->sp + 1));
        break;
      case 0x20: /* JSR: what its second push overwrites is kept where there is room */
        stores = true;
        row->addr = (uint16_t)(0x100 + m->sp);
        break;
      case 0x00: /* BRK */
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
        deep = true;
        break;
      default:
        deep |= stores && (row->addr & 63) == VCS_VBLANK; /* the paddles' capacitors */
        break;
    }
  }
  if (cart->snoops) deep = true;
  if (tape->forks && op.access == VCS_ACCESS_BRANCH && !add_branch(tape, cart, m)) return false;
  if (deep && !add_side(tape, m)) return false;
  if ((stores || reads) && (op.mode != VCS_MODE_IMM) && vcs_chip_at(row->addr) == VCS_TO_TIA) {
    const uint32_t time = vcs_row_time(tape, row, crosses);
    if (stores) { /* what it stores is known before it happens */
      uint64_t word = vcs_local_pack(m->a, m->x, m->y, m->sp, m->p, row->old);
      uint8_t value = (uint8_t)(vcs_local(row->opcode, row->addr, word) >> 8 * VCS_LANE_V);
      if (!add_write(tape, cart, m, tape->count, row->addr & 63u, value, time)) return false;
    } else if ((row->addr & 15) < 8 && !add_look(tape, m, tape->count, VCS_EVENT_READ + (row->addr & 15u), time)) {
      return false;
    }
  }
  return true;
}

VCS_EXTERN void vcs_tape_begin(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  tape->count = tape->event_count = tape->side_count = tape->branch_count = 0;
  memset(tape->comb, 0, sizeof tape->comb);
  memcpy(tape->start, m, vcs_machine_size(cart));
  tape->drawn = m->seen_clock;
  tape->picture_from = VCS_LINE_CLOCKS * cart->top_line;
  tape->picture_to = tape->picture_from + VCS_LINE_CLOCKS * cart->height;
  tape->until = INT32_MAX;
  tape->comb_end = 0;
  tape->dark = false;
  if (m->hmove_blank) place_comb(tape, m);
}

VCS_EXTERN bool vcs_tape_step(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                              bool *frame_over) {
  if (!add_row(tape, cart, m)) return false;
  vcs_row_t *row = &tape->rows[tape->count++];
  uint8_t second = m->ram[(uint8_t)(m->sp - 1) & 0x7F];
  vcs_cpu_step(cart, m, video, frame_over);
  row->value = row->opcode == 0x20 ? second : has_data(row->opcode) ? m->bus : 0;
  return true;
}

VCS_EXTERN bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  (void)cart;
  return add_side(tape, m) && add_look(tape, m, tape->count, VCS_EVENT_END, m->cycles);
}

/* ---- The quick way ---------------------------------------------------------------------------------------------
 *
 * The loop of run.h with a row written down for each decoded instruction (decode.h), by stores from the registers it
 * has anyway. What a row of code does not do itself it leaves to vcs_tape_step, before it has changed anything.
 *
 * - The last byte on the bus is not kept: last_byte finds it when the loop ends.
 * - Whether there is room for more rows, or more instructions are allowed, is asked only where the program goes
 *   backwards, elsewhere or waits, and by time: an instruction takes two cycles at least. There is always room for a
 *   bank from end to end (VCS_RUN_MARGIN).
 * - What changes seldom is put together only by operations that set V, D or I; the upper bits of the time do not change
 *   in here.
 * - Time is counted from the tape's beginning.
 */

/* Whether a read of the RIOT leaves it as it was: then the next snapshot is as good as one before it. */
VCS_STATIC bool riot_stays(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr, uint32_t cycles) {
  if (!(addr & 7)) return cart->passive_ports;
  if ((addr & 5) != 4) return true;
  return m->timer_was_read || vcs_riot_intervals(m, cycles - 1 - m->timer_cycle) >= 0;
}

/* A read of a chip at the end of an instruction; `bus` is the byte before it. -1: this is for vcs_tape_step. */
VCS_SLOW_EXTERN int vcs_tape_read_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                       const vcs_row_t *row, uint16_t addr, uint32_t cycles, uint8_t bus) {
  if (addr & 0x80 && !riot_stays(cart, m, addr, cycles)) return -1;
  if (!(addr & 0x80) && (addr & 15) < 8) {
    if (!add_look(tape, m, (int32_t)(row - tape->rows), VCS_EVENT_READ + (addr & 15u), cycles)) return -1;
  }
  m->cycles = cycles;
  return vcs_bus_read_chip(cart, m, video, addr, bus);
}

enum { STOP_DRAWN = 4 }; /* beside VCS_STOP_...: all that anybody looks at is drawn */

/* The event of a write to the TIA that is about to be made, if there is room for it: this calls nothing, and needs no
 * stack. STOP_DRAWN, or 0; -1: this is for vcs_tape_step. */
VCS_SLOW_FN int quick_event(vcs_tape_t *tape, vcs_t *m, const vcs_row_t *row, unsigned reg, uint8_t value,
                            uint32_t cycles) {
  if (VCS_UNLIKELY(tape->event_count >= tape->event_capacity)) return -1;
  note_write(tape, m, (int32_t)(row - tape->rows), reg, value, cycles);
  m->cycles = cycles;
  return tape->drawn >= tape->until ? STOP_DRAWN : 0;
}

/* The same for any register. */
VCS_SLOW_FN int quick_strobe(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, const vcs_row_t *row, unsigned reg,
                             uint8_t value, uint32_t cycles) {
  if (!add_write(tape, cart, m, (int32_t)(row - tape->rows), reg, value, cycles)) return -1;
  m->cycles = cycles;
  return tape->drawn >= tape->until ? STOP_DRAWN : 0;
}

/* A write to any register of a chip; the registers are in m where a snapshot needs them. Why the CPU has to look up, or
 * -1. */
VCS_SLOW_EXTERN int vcs_tape_write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                        const vcs_row_t *row, uint16_t addr, uint8_t value, uint32_t cycles) {
  tape->count = (int32_t)(row - tape->rows);
  if ((addr & 0x80 || (addr & 63) == VCS_VBLANK) && !add_side(tape, m)) return -1;
  if (addr & 0x80) {
    m->cycles = cycles;
    return (int)vcs_bus_write_chip(cart, m, video, addr, value, true);
  }
  int stop = quick_strobe(tape, cart, m, row, addr & 63u, value, cycles);
  return stop < 0 ? stop : stop | (int)vcs_bus_write_tia(cart, m, video, addr, value);
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
  if (row->opcode == 0x20) return (uint8_t)(m->pc >> 8);                         /* JSR */
  if (row->opcode == 0x60) return vcs_code_byte(cart, m, (uint16_t)(m->pc - 1)); /* RTS */
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
VCS_HOT_FN void quick_store(const vcs_cpu_t *cpu, vcs_t *m, uint32_t pc, uint32_t origin) {
  vcs_cpu_store(cpu, m);
  m->pc = (uint16_t)pc;
  m->cycles += origin;
}

/* Where the element of an address is, given the first one's: an array indexed by addresses. */
static const void *by_address(const void *array, size_t size, uint16_t first) {
  return (const void *)((uintptr_t)array - size * first); /* NOLINT(performance-no-int-to-ptr) */
}

/* A X Y S side by side, as a row has them, and with one of them set anew. */
VCS_HOT_FN uint32_t quick_registers(const vcs_cpu_t *cpu) {
  return cpu->a | (uint32_t)cpu->x << 8 | (uint32_t)cpu->y << 16 | (uint32_t)cpu->sp << 24;
}
VCS_HOT_FN uint32_t quick_register(uint32_t registers, int lane, uint8_t byte) {
  return (registers & ~(0xFFu << 8 * lane)) | (uint32_t)byte << 8 * lane;
}

/* The row of an instruction without data. Neighbouring fields go in one store where the host is as the 6507 is. */
VCS_HOT_FN void quick_row(vcs_row_t *row, const vcs_cpu_t *cpu, uint32_t pc, uint32_t registers, unsigned seldom,
                          uint8_t opcode) {
  const uint32_t flags = cpu->nz | seldom;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&row->pc, &pc, 4); /* and no address */
  memcpy(&row->a, &registers, 4);
  memcpy(&row->flags, &flags, 4); /* and no data */
#else
  row->pc = (uint16_t)pc;
  row->addr = 0;
  row->a = cpu->a;
  row->x = cpu->x;
  row->y = cpu->y;
  row->sp = cpu->sp;
  row->flags = (uint16_t)flags;
  row->value = row->old = 0;
  (void)registers;
#endif
  row->cycles = (uint16_t)(cpu->time >> VCS_CYCLES_SHIFT);
  row->opcode = opcode;
  row->c = cpu->c;
}

#if VCS_ROWS_JUMP
#define QUICK_DISPATCH goto *labels[code[pc].row]
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

#define QUICK_ROW(opcode) quick_row(row, cpu, pc, packed, seldom, (opcode));

/* What is kept beside the registers follows those that an operation sets. */
#define QUICK_SETS(operation, bits) (QUICK_WRITES(VCS_USES_##operation) & (bits))
#define QUICK_WRITES(...) QUICK_WRITES_OF(__VA_ARGS__)
#define QUICK_WRITES_OF(reads, writes, ...) ((uint64_t)(writes))
#define QUICK_SET(operation)                                                              \
  if (QUICK_SETS(operation, VCS_A)) packed = quick_register(packed, VCS_LANE_A, cpu->a);  \
  if (QUICK_SETS(operation, VCS_X)) packed = quick_register(packed, VCS_LANE_X, cpu->x);  \
  if (QUICK_SETS(operation, VCS_Y)) packed = quick_register(packed, VCS_LANE_Y, cpu->y);  \
  if (QUICK_SETS(operation, VCS_S)) packed = quick_register(packed, VCS_LANE_S, cpu->sp); \
  if (QUICK_SETS(operation, VCS_P(VCS_FLAG_V | VCS_FLAG_D | VCS_FLAG_I)))                 \
    seldom = vcs_row_seldom(cpu, vcs_cpu_cycles(cpu));

#define QUICK_IMPLIED(opcode, operation, cost, second) \
  QUICK_ROW(opcode)                                    \
  cpu->time += VCS_COST(cost);                         \
  vcs_do_##operation(VCS_HERE);                        \
  QUICK_SET(operation)                                 \
  QUICK_ON(1)

#define QUICK_READ(opcode, operation, cost, second)                                                                    \
  {                                                                                                                    \
    const unsigned mode = vcs_opcode(opcode).mode;                                                                     \
    const bool in_ram = mode == VCS_MODE_ZP && !(second);                                                              \
    const vcs_code_t at = code[pc];                                                                                    \
    uint64_t time = cpu->time + VCS_COST(cost);                                                                        \
    uint8_t value;                                                                                                     \
    if (mode == VCS_MODE_IZX) goto step;                                                                               \
    QUICK_ROW(opcode)                                                                                                  \
    if (mode == VCS_MODE_IMM) {                                                                                        \
      value = (uint8_t)at.operand;                                                                                     \
    } else {                                                                                                           \
      const uint32_t base = in_ram ? 0x80u + at.operand : quick_base(m, cpu, at, rom + pc, mode);                      \
      const uint16_t addr = (uint16_t)(base + quick_index(cpu, mode));                                                 \
      time += VCS_PAGE_CROSSED(base, quick_index(cpu, mode));                                                          \
      row->addr = addr;                                                                                                \
      if ((mode == VCS_MODE_ABS || mode == VCS_MODE_ABX || mode == VCS_MODE_ABY) && !(second)) {                       \
        value = bank.rom[at.operand + quick_index(cpu, mode)];                                                         \
      } else if (in_ram || (addr & 0x1280) == 0x80) {                                                                  \
        value = row->old = m->ram[addr & 0x7F];                                                                        \
      } else if (addr & 0x1000) {                                                                                      \
        if (is_hot(cart, addr)) goto step;                                                                             \
        value = cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FF)];                                                   \
      } else {                                                                                                         \
        int found = vcs_tape_read_chip(tape, cart, m, video, row, addr, (uint32_t)(time >> VCS_CYCLES_SHIFT) + origin, \
                                       quick_bus(rom + pc, mode, base));                                               \
        if (found < 0) goto step;                                                                                      \
        value = (uint8_t)found;                                                                                        \
      }                                                                                                                \
    }                                                                                                                  \
    row->value = value;                                                                                                \
    cpu->time = time;                                                                                                  \
    vcs_op_##operation(cpu, value);                                                                                    \
    QUICK_SET(operation)                                                                                               \
    QUICK_ON(vcs_mode_length(mode))                                                                                    \
  }

#define QUICK_WRITE(opcode, operation, cost, second)                                                        \
  {                                                                                                         \
    const unsigned mode = vcs_opcode(opcode).mode;                                                          \
    const bool in_ram = mode == VCS_MODE_ZP && !(second);                                                   \
    if (mode == VCS_MODE_IZX) goto step;                                                                    \
    const uint32_t base = in_ram ? 0x80u + code[pc].operand : quick_base(m, cpu, code[pc], rom + pc, mode); \
    const uint16_t addr = (uint16_t)(base + quick_index(cpu, mode));                                        \
    if (!in_ram && addr & 0x1000) goto step;                                                                \
    const uint8_t value = vcs_op_##operation(cpu, addr);                                                    \
    QUICK_ROW(opcode)                                                                                       \
    QUICK_SET(operation)                                                                                    \
    row->addr = addr;                                                                                       \
    row->value = value;                                                                                     \
    if (in_ram || (addr & 0x280) == 0x80) {                                                                 \
      row->old = m->ram[addr & 0x7F];                                                                       \
      m->ram[addr & 0x7F] = value;                                                                          \
      cpu->time += VCS_COST(cost);                                                                          \
      QUICK_ON(vcs_mode_length(mode))                                                                       \
    }                                                                                                       \
    time = cpu->time + VCS_COST(cost);                                                                      \
    length = vcs_mode_length(mode);                                                                         \
    goto chip_write;                                                                                        \
  }

/* A write to a register of the TIA that is known, which `write` makes. */
#define QUICK_TIA(opcode, reg, stored, write)                                                   \
  {                                                                                             \
    const uint32_t cycles = (uint32_t)((cpu->time + VCS_COST(3)) >> VCS_CYCLES_SHIFT) + origin; \
    QUICK_ROW(opcode)                                                                           \
    row->addr = rom[pc + 1];                                                                    \
    row->value = (stored);                                                                      \
    stop = is_strobe(reg) ? quick_strobe(tape, cart, m, row, reg, (stored), cycles)             \
                          : quick_event(tape, m, row, reg, (stored), cycles);                   \
    if (VCS_UNLIKELY(stop < 0)) goto step;                                                      \
    stop |= (write) ? VCS_STOP_FRAME : 0;                                                       \
    cpu->time += VCS_COST(3);                                                                   \
    if ((reg) == VCS_WSYNC) cpu->time += VCS_CYCLES((uint32_t)(m->cycles - cycles));            \
    pc += 2;                                                                                    \
    row++;                                                                                      \
    if (VCS_UNLIKELY(stop)) goto stopped;                                                       \
    if ((reg) == VCS_WSYNC && VCS_UNLIKELY(cpu->time >= limit)) goto look_up;                   \
    QUICK_DISPATCH;                                                                             \
  }
#define QUICK_STORE(opcode, name, stored) \
  QUICK_TIA(opcode, VCS_##name, stored, vcs_tia_write_this(m, video, VCS_##name, (stored)))
#define QUICK_TIA_ROW(name)                     \
  VCS_ROW_LABEL(sty_##name, VCS_ROW_STY_##name) \
  QUICK_STORE(0x84, name, cpu->y)               \
  VCS_ROW_LABEL(sta_##name, VCS_ROW_STA_##name) \
  QUICK_STORE(0x85, name, cpu->a) VCS_ROW_LABEL(stx_##name, VCS_ROW_STX_##name) QUICK_STORE(0x86, name, cpu->x)

#define QUICK_MODIFY(opcode, operation, cost, second)                                                        \
  {                                                                                                          \
    const unsigned mode = vcs_opcode(opcode).mode;                                                           \
    if (mode == VCS_MODE_IZX || mode == VCS_MODE_IZY) goto step;                                             \
    const uint16_t addr = (uint16_t)(quick_base(m, cpu, code[pc], rom + pc, mode) + quick_index(cpu, mode)); \
    if ((addr & 0x1280) != 0x80) goto step;                                                                  \
    QUICK_ROW(opcode)                                                                                        \
    row->addr = addr;                                                                                        \
    const uint8_t old = m->ram[addr & 0x7F];                                                                 \
    row->old = old;                                                                                          \
    cpu->time += VCS_COST(cost);                                                                             \
    row->value = m->ram[addr & 0x7F] = vcs_op_##operation(cpu, old);                                         \
    QUICK_SET(operation)                                                                                     \
    QUICK_ON(vcs_mode_length(mode))                                                                          \
  }

#define QUICK_JUMP(opcode, operation, cost, second)       \
  if (vcs_opcode(opcode).mode != VCS_MODE_ABS) goto step; \
  QUICK_ROW(opcode)                                       \
  cpu->time += VCS_COST(cost);                            \
  QUICK_TO(code[pc].operand)

#define QUICK_BRANCH(opcode, operation, cost, second)   \
  QUICK_ROW(opcode)                                     \
  if (VCS_UNLIKELY(tape->forks)) {                      \
    quick_store(cpu, m, row->pc, origin);               \
    if (!quick_branch(tape, cart, m, row)) goto step;   \
  }                                                     \
  if (vcs_op_##operation(cpu)) {                        \
    cpu->time += VCS_COST((cost) + ((second) ? 2 : 1)); \
    QUICK_BACK((uint32_t)(int16_t)code[pc].operand)     \
  }                                                     \
  cpu->time += VCS_COST(cost);                          \
  QUICK_ON(2)

#define QUICK_STACK(opcode, operation, cost, second) QUICK_##operation(opcode, cost)
/* Programs push into the TIA, too. */
#define QUICK_PUSH(opcode, cost, pushed)                \
  QUICK_ROW(opcode)                                     \
  row->addr = (uint16_t)(0x100 + cpu->sp);              \
  row->value = (pushed);                                \
  if (VCS_UNLIKELY(cpu->sp < 0x80)) {                   \
    time = cpu->time + VCS_COST(cost);                  \
    length = 1;                                         \
    goto chip_write;                                    \
  }                                                     \
  row->old = m->ram[cpu->sp & 0x7F];                    \
  m->ram[cpu->sp-- & 0x7F] = row->value;                \
  packed = quick_register(packed, VCS_LANE_S, cpu->sp); \
  cpu->time += VCS_COST(cost);                          \
  QUICK_ON(1)
#define QUICK_PHA(opcode, cost) QUICK_PUSH(opcode, cost, cpu->a)
#define QUICK_PHP(opcode, cost) QUICK_PUSH(opcode, cost, vcs_cpu_status(cpu))
/* The stack in RAM, the byte that a pull touches first included. */
#define QUICK_PULL(opcode, cost, set)                \
  if (cpu->sp < 0x80 || cpu->sp > 0xFE) goto step;   \
  QUICK_ROW(opcode)                                  \
  row->addr = (uint16_t)(0x100 + ++cpu->sp);         \
  const uint8_t value = m->ram[cpu->sp & 0x7F];      \
  row->value = row->old = value;                     \
  cpu->time += VCS_COST(cost);                       \
  set(cpu, value);                                   \
  seldom = vcs_row_seldom(cpu, vcs_cpu_cycles(cpu)); \
  packed = quick_registers(cpu);                     \
  QUICK_ON(1)
#define QUICK_PLA(opcode, cost) QUICK_PULL(opcode, cost, vcs_op_LDA)
#define QUICK_PLP(opcode, cost) QUICK_PULL(opcode, cost, vcs_cpu_set_status)
#define QUICK_JSR(opcode, cost)                         \
  if (cpu->sp < 0x81) goto step;                        \
  const uint16_t back = (uint16_t)(pc + 2);             \
  QUICK_ROW(opcode)                                     \
  row->addr = (uint16_t)(0x100 + cpu->sp);              \
  row->old = m->ram[cpu->sp & 0x7F];                    \
  row->value = m->ram[(uint8_t)(cpu->sp - 1) & 0x7F];   \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);      \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;             \
  packed = quick_register(packed, VCS_LANE_S, cpu->sp); \
  cpu->time += VCS_COST(cost);                          \
  QUICK_TO(code[pc].operand)
#define QUICK_RTS(opcode, cost)                                             \
  if (cpu->sp < 0x80 || cpu->sp > 0xFD) goto step;                          \
  const uint16_t back = vcs_run_pointer(&m->ram[(cpu->sp + 1) & 0x7F]);     \
  const uint16_t there = (uint16_t)(back - bank.start);                     \
  if (there >= bank.size || bank.code[there].row == VCS_ROW_HOT) goto step; \
  QUICK_ROW(opcode)                                                         \
  cpu->sp = (uint8_t)(cpu->sp + 2);                                         \
  packed = quick_register(packed, VCS_LANE_S, cpu->sp);                     \
  cpu->time += VCS_COST(cost);                                              \
  QUICK_TO((uint16_t)(back + 1))
#define QUICK_RTI(opcode, cost) goto step;
#define QUICK_BRK(opcode, cost) goto step;

#define QUICK_PAIR(opcode, operation, mode, access, cost)                                              \
  VCS_ROW_LABEL(first_##opcode, opcode){QUICK_##access(opcode, operation, cost, false)} VCS_ROW_LABEL( \
      second_##opcode, opcode + VCS_ROW_SECOND) {                                                      \
    QUICK_##access(opcode, operation, cost, true)                                                      \
  }

/* The cycles for which it may run: two for each row there is room for and each instruction that is allowed, and not so
 * long that the upper bits of the time would change before it looks up, a bank of slow instructions later. */
static uint32_t cycles_ahead(const vcs_tape_t *tape, const vcs_t *m, int32_t allowed) {
  enum { MARGIN = 4 * 4096 + 256, HIGH = 1 << 16 };
  const int32_t room = tape->capacity - tape->count - VCS_RUN_MARGIN, most = room < allowed ? room : allowed;
  const int32_t low = HIGH - MARGIN - (int32_t)((m->cycles - tape->start->cycles) % HIGH);
  if (most <= 0 || low <= 0) return 0;
  return (uint32_t)(2 * most < low ? 2 * most : low);
}

/* Runs on, and writes down, as long as it can: about `allowed` instructions, surely not VCS_RUN_MARGIN more. Returns
 * how many. */
static int32_t quick_rows(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t allowed,
                          bool *frame_over) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_bank_t bank;
  const uint32_t ahead = cycles_ahead(tape, m, allowed);
  if (!ahead || cart->snoops || tape->dark || !vcs_find_bank(cart, m, m->pc, &bank)) return 0;
  vcs_row_t *row = tape->rows + tape->count, *const first = row;
  const uint32_t origin = tape->start->cycles;
  const vcs_code_t *code = by_address(bank.code, sizeof *code, bank.start);
  const uint8_t *rom = by_address(bank.rom, 1, bank.start);
  uint32_t pc = m->pc;
  vcs_cpu_load(cpu, m);
  cpu->time -= VCS_CYCLES(origin);
  const uint64_t limit = cpu->time + VCS_CYCLES(ahead);
  unsigned seldom = vcs_row_seldom(cpu, vcs_cpu_cycles(cpu));
  uint32_t packed = quick_registers(cpu);
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
  switch (code[pc].row) {
#endif
    VCS_OPCODES(QUICK_PAIR) /* NOLINT(bugprone-branch-clone): rows that only step are alike */
    VCS_TIA_ROWS(QUICK_TIA_ROW)
    VCS_ROW_LABEL(wsync, VCS_ROW_WSYNC) {
      const uint8_t opcode = rom[pc], value = opcode == 0x84 ? cpu->y : opcode == 0x85 ? cpu->a : cpu->x;
      QUICK_TIA(opcode, VCS_WSYNC, value, vcs_bus_write_wsync(m, video))
    }
    VCS_ROW_LABEL(wait_bne, VCS_ROW_WAIT_BNE) {
      if (vcs_op_BNE(cpu) && cpu->time < limit) {
        const uint32_t most = (uint32_t)((limit - cpu->time) / VCS_CYCLES(7));
        cpu->time += vcs_tape_turns(tape, m, vcs_cpu_cycles(cpu) + origin, most) * (VCS_COST(3) + VCS_COST(4));
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
  const uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT) + origin;
  if (row->addr & 0x80 || (row->addr & 63) == VCS_VBLANK) quick_store(cpu, m, row->pc, origin); /* for the snapshot */
  stop = vcs_tape_write_chip(tape, cart, m, video, row, row->addr, row->value, cycles);
  if (VCS_UNLIKELY(stop < 0)) goto step;
  if (length == 1) packed = quick_register(packed, VCS_LANE_S, --cpu->sp); /* a push */
  cpu->time = time + VCS_CYCLES((uint32_t)(m->cycles - cycles));
  pc += length;
  row++;
  if (VCS_UNLIKELY(stop)) goto stopped;
  if (VCS_LIKELY(cpu->time < limit)) QUICK_DISPATCH;
}
look_up: /* it has run for long, or may have left its bank */
  if (cpu->time < limit && vcs_find_bank(cart, m, (uint16_t)pc, &bank)) {
    code = by_address(bank.code, sizeof *code, bank.start);
    rom = by_address(bank.rom, 1, bank.start);
    QUICK_DISPATCH;
  }
step:
  stop = 0;
stopped:
  *frame_over = stop & VCS_STOP_FRAME;
  quick_store(cpu, m, pc, origin);
  if (row > first) m->bus = last_byte(cart, m, row - 1);
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
      if (further < left) left = further, margin = 0; /* nobody counts them */
      tape->until = INT32_MAX;
      continue;
    }
    if (!grow((void **)&tape->rows, tape->count + VCS_RUN_MARGIN, &tape->capacity, sizeof *tape->rows)) return -1;
    left -= quick_rows(tape, cart, m, video, left - margin, frame_over);
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
