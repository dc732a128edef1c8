/* tape.c: running a frame and writing down what happened.
 *
 * vcs_tape_step writes down any instruction, whatever it does: it finds out beforehand what the instruction is going to
 * read and overwrite, and then lets cpu.h execute it. Nearly all instructions need none of that care. They are code in
 * ROM which meets RAM, ROM, or a chip at the end of its bus cycle, and quick_row executes and writes them down at the
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

/* Room for one more element of `size` bytes. A device's tapes do not grow. */
VCS_STATIC bool grow(void **array, int32_t count, int32_t *capacity, size_t size) {
  if (VCS_LIKELY(count < *capacity)) return true;
#if defined(__CUDACC__)
  (void)array, (void)size;
  return false;
#else
  int32_t wanted = *capacity ? 2 * *capacity : 512;
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

VCS_STATIC bool add_event(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, unsigned reg, uint8_t value,
                          uint32_t cycles) {
  if (!grow((void **)&tape->events, tape->event_count, &tape->event_capacity, sizeof *tape->events)) return false;
  vcs_event_t *event = &tape->events[tape->event_count++];
  int32_t clock = vcs_wrap_minus((int32_t)(cycles * 3), m->frame_clock);
  event->row = tape->count;
  event->clock = clock;
  /* Writes that have no event (a call whose stack is in the TIA) may have drawn lines: those have no derivative. */
  if (tape->drawn < VCS_LINE_CLOCKS * m->line) tape->drawn = VCS_LINE_CLOCKS * m->line;
  event->from = tape->drawn;
  event->line = m->line;
  event->collisions = m->collisions;
  event->reg = (uint8_t)reg;
  event->value = value;
  memcpy(event->tia, &m->vsync, VCS_TIA_BYTES);
  if (reg < VCS_EVENT_READ) {
    int delay = vcs_write_delay(reg), hpos;
    if (delay == VCS_DELAY_PHASE) delay = vcs_phase_delay((unsigned)(clock % VCS_LINE_CLOCKS) / 3 & 3);
    draw_to(tape, clock + delay);
    switch (reg) {
      case VCS_RESP0:
      case VCS_RESP1:
        hpos = clock % VCS_LINE_CLOCKS;
        if (vcs_player_phase(m->nusiz[reg - VCS_RESP0], m->pos[reg - VCS_RESP0],
                             hpos < VCS_HBLANK_CLOCKS ? 3 : (hpos - VCS_HBLANK_CLOCKS + 5) % 160) == 1)
          draw_to(tape, clock + 11);
        break;
      case VCS_HMOVE:
        hpos = clock % VCS_LINE_CLOCKS;
        if (cart->hmove_blanks && (hpos <= 62 || hpos >= 225)) place_comb(tape, m);
        break;
      default:
        break;
    }
  } else {
    draw_to(tape, reg == VCS_EVENT_END ? m->seen_clock : clock);
  }
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
  size_t size = vcs_state_size(cart);
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
  memcpy(tape->copy, m, vcs_state_size(cart));
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
    uint32_t cycles = vcs_row_time(row, false);
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

VCS_STATIC bool is_dark(const vcs_cart_t *cart, const vcs_t *m) {
  if (is_chip(m->pc)) return true;
  int length = vcs_mode_length(vcs_opcode(vcs_code_byte(cart, m, m->pc)).mode);
  return is_chip((uint16_t)(m->pc + length - 1)) || is_chip((uint16_t)(m->pc + length / 2));
}

VCS_STATIC void note_flags(vcs_row_t *row, uint8_t p) {
  vcs_cpu_t flags;
  vcs_cpu_set_status(&flags, p);
  row->v = flags.v;
  row->d = flags.d;
  row->i = flags.i;
  row->c = flags.c;
  row->nz = (uint16_t)flags.nz;
}

/* Writes down an instruction that is about to be executed. What it will read or write is filled in afterwards. */
VCS_STATIC bool add_row(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return false;
  vcs_row_t *row = &tape->rows[tape->count];
  row->pc = m->pc;
  row->cycles = m->cycles;
  row->a = m->a;
  row->x = m->x;
  row->y = m->y;
  row->sp = m->sp;
  note_flags(row, m->p);
  row->opcode = is_dark(cart, m) ? VCS_DARK : vcs_code_byte(cart, m, m->pc);
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
      row->old = byte_found(tape, cart, m, at.addr, vcs_row_time(row, false), bus_before(cart, m, op, at));
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
    uint8_t value = 0; /* of a store: known before it happens */
    if (stores) {
      uint64_t word = vcs_local_pack(m->a, m->x, m->y, m->sp, m->p, row->old);
      value = (uint8_t)(vcs_local(row->opcode, row->addr, word) >> 8 * VCS_LANE_V);
    }
    unsigned reg = stores ? row->addr & 63u : VCS_EVENT_READ + (row->addr & 15u);
    if ((stores || reg < VCS_EVENT_READ + 8) && !add_event(tape, cart, m, reg, value, vcs_row_time(row, crosses)))
      return false;
  }
  return true;
}

VCS_EXTERN void vcs_tape_begin(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  tape->count = tape->event_count = tape->side_count = tape->branch_count = 0;
  memset(tape->comb, 0, sizeof tape->comb);
  memcpy(tape->start, m, vcs_state_size(cart));
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
  row->value = row->opcode == 0x20 ? second : m->bus;
  return true;
}

VCS_EXTERN bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  return add_side(tape, m) && add_event(tape, cart, m, VCS_EVENT_END, 0, m->cycles);
}

/* ---- The quick way ---------------------------------------------------------------------------------------------
 *
 * Decoded instructions (decode.h), each written down and run: what run.h does, with a row for each. The last byte on
 * the bus is the row's `value`, so it need not be kept.
 */

/* Whether a read of the RIOT leaves it as it was: then the next snapshot is as good as one before it. */
VCS_STATIC bool riot_stays(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr, uint32_t cycles) {
  if (!(addr & 7)) return cart->passive_ports;
  if ((addr & 5) != 4) return true;
  return m->timer_was_read || vcs_riot_intervals(m, cycles - 1 - m->timer_cycle) >= 0;
}

/* A read of a chip at the end of an instruction; `bus` is the byte before it. -1: this is for vcs_tape_step. */
VCS_SLOW_FN int quick_chip_read(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                const vcs_row_t *row, uint32_t cycles, uint8_t bus) {
  const uint16_t addr = row->addr;
  if (addr & 0x80 && !riot_stays(cart, m, addr, cycles)) return -1;
  if (!(addr & 0x80) && (addr & 15) < 8) {
    tape->count = (int32_t)(row - tape->rows);
    if (!add_event(tape, cart, m, VCS_EVENT_READ + (addr & 15u), 0, cycles)) return -1;
  }
  m->cycles = cycles;
  return vcs_bus_read_chip(cart, m, video, addr, bus);
}

enum { STOP_DRAWN = 4 }; /* beside VCS_STOP_...: all that anybody looks at is drawn */

/* A write to a chip, with the registers as in `cpu`. Why the CPU has to look up, or -1. */
VCS_SLOW_FN int quick_chip_write(vcs_tape_t *tape, const vcs_row_t *row, VCS_ON, uint32_t cycles) {
  const uint16_t addr = row->addr;
  tape->count = (int32_t)(row - tape->rows);
  if (addr & 0x80 || (addr & 63) == VCS_VBLANK) { /* ports, the timer, the paddles' capacitors */
    vcs_cpu_store(cpu, m);
    if (!add_side(tape, m)) return -1;
  }
  if (addr & 0x80) {
    m->cycles = cycles;
    return (int)vcs_bus_write_chip(cart, m, video, addr, row->value, true);
  }
  if (!add_event(tape, cart, m, addr & 63u, row->value, cycles)) return -1;
  m->cycles = cycles;
  int stop = tape->drawn >= tape->until ? STOP_DRAWN : 0;
  return stop | (int)vcs_bus_write_tia(cart, m, video, addr, row->value);
}

#if !defined(__CUDACC__) /* devices record side by side (src/cuda) */

VCS_SLOW_FN bool quick_branch(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_t *cpu,
                              const vcs_row_t *row) {
  tape->count = (int32_t)(row - tape->rows);
  vcs_cpu_store(cpu, m);
  m->pc = row->pc;
  m->bus = row > tape->rows ? row[-1].value : m->bus;
  return add_branch(tape, cart, m);
}

/* What a decoded instruction adds its index to; its second way is the decoder's. */
VCS_HOT_FN uint16_t quick_base(const vcs_t *m, const vcs_cpu_t *cpu, vcs_code_t at, const uint8_t *bytes,
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

VCS_HOT_FN uint8_t quick_index(const vcs_cpu_t *cpu, unsigned mode) {
  return mode == VCS_MODE_ABX ? cpu->x : mode == VCS_MODE_ABY || mode == VCS_MODE_IZY ? cpu->y : 0;
}

/* The last byte on the bus before a data access: of the operand or of the pointer. */
VCS_HOT_FN uint8_t quick_bus(const uint8_t *bytes, unsigned mode, uint16_t base) {
  return mode == VCS_MODE_ZP || mode == VCS_MODE_ZPX || mode == VCS_MODE_ZPY ? bytes[1] : (uint8_t)(base >> 8);
}

#define QUICK_ON(length) \
  offset += (length);    \
  row++;                 \
  break;

/* To an address; `row` is done. */
#define QUICK_TO(target)                      \
  row++;                                      \
  cpu->pc = (target);                         \
  offset = (uint16_t)(cpu->pc - bank.start);  \
  if (offset >= bank.size) goto another_bank; \
  break;

#define QUICK_IMPLIED(code, operation, cost, second) \
  cpu->time += VCS_COST(cost);                       \
  row->value = (code);                               \
  vcs_do_##operation(VCS_HERE);                      \
  QUICK_ON(1)

#define QUICK_READ(code, operation, cost, second)                                                                  \
  {                                                                                                                \
    const unsigned mode = vcs_opcode(code).mode;                                                                   \
    uint64_t time = cpu->time + VCS_COST(cost);                                                                    \
    if (mode == VCS_MODE_IMM) {                                                                                    \
      row->value = (uint8_t)at.operand;                                                                            \
    } else if (mode == VCS_MODE_IZX) {                                                                             \
      goto step;                                                                                                   \
    } else {                                                                                                       \
      const uint16_t base = quick_base(m, cpu, at, bytes, mode), addr = (uint16_t)(base + quick_index(cpu, mode)); \
      time += VCS_PAGE_CROSSED(base, quick_index(cpu, mode));                                                      \
      row->addr = addr;                                                                                            \
      if ((mode == VCS_MODE_ABS || mode == VCS_MODE_ABX || mode == VCS_MODE_ABY) && !(second)) {                   \
        row->value = bank.rom[(uint32_t)at.operand + quick_index(cpu, mode)];                                      \
      } else if ((addr & 0x1280) == 0x80) {                                                                        \
        row->value = row->old = m->ram[addr & 0x7F];                                                               \
      } else if (addr & 0x1000) {                                                                                  \
        if (is_hot(cart, addr)) goto step;                                                                         \
        row->value = cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FF)];                                          \
      } else {                                                                                                     \
        int found = quick_chip_read(tape, cart, m, video, row, (uint32_t)(time >> VCS_CYCLES_SHIFT),               \
                                    quick_bus(bytes, mode, base));                                                 \
        if (found < 0) goto step;                                                                                  \
        row->value = (uint8_t)found;                                                                               \
      }                                                                                                            \
    }                                                                                                              \
    cpu->time = time;                                                                                              \
    vcs_op_##operation(cpu, row->value);                                                                           \
    QUICK_ON(vcs_mode_length(mode))                                                                                \
  }

#define QUICK_WRITE(code, operation, cost, second)                                                  \
  {                                                                                                 \
    const unsigned mode = vcs_opcode(code).mode;                                                    \
    if (mode == VCS_MODE_IZX) goto step;                                                            \
    const uint16_t addr = (uint16_t)(quick_base(m, cpu, at, bytes, mode) + quick_index(cpu, mode)); \
    if (addr & 0x1000) goto step;                                                                   \
    row->addr = addr;                                                                               \
    row->value = vcs_op_##operation(cpu, addr);                                                     \
    if ((addr & 0x280) == 0x80) {                                                                   \
      row->old = m->ram[addr & 0x7F];                                                               \
      m->ram[addr & 0x7F] = row->value;                                                             \
      cpu->time += VCS_COST(cost);                                                                  \
      QUICK_ON(vcs_mode_length(mode))                                                               \
    }                                                                                               \
    const uint32_t cycles = (uint32_t)((cpu->time + VCS_COST(cost)) >> VCS_CYCLES_SHIFT);           \
    cpu->pc = row->pc;                                                                              \
    int stop = quick_chip_write(tape, row, VCS_HERE, cycles);                                       \
    if (stop < 0) goto step;                                                                        \
    cpu->stop = (uint8_t)stop;                                                                      \
    cpu->time += VCS_COST(cost) + VCS_CYCLES((uint32_t)(m->cycles - cycles));                       \
    if (VCS_UNLIKELY(cpu->stop)) {                                                                  \
      cpu->pc = (uint16_t)(row->pc + vcs_mode_length(mode));                                        \
      row++;                                                                                        \
      goto stopped;                                                                                 \
    }                                                                                               \
    QUICK_ON(vcs_mode_length(mode))                                                                 \
  }

#define QUICK_MODIFY(code, operation, cost, second)                                                 \
  {                                                                                                 \
    const unsigned mode = vcs_opcode(code).mode;                                                    \
    if (mode == VCS_MODE_IZX || mode == VCS_MODE_IZY) goto step;                                    \
    const uint16_t addr = (uint16_t)(quick_base(m, cpu, at, bytes, mode) + quick_index(cpu, mode)); \
    if ((addr & 0x1280) != 0x80) goto step;                                                         \
    row->addr = addr;                                                                               \
    row->old = m->ram[addr & 0x7F];                                                                 \
    cpu->time += VCS_COST(cost);                                                                    \
    row->value = m->ram[addr & 0x7F] = vcs_op_##operation(cpu, row->old);                           \
    QUICK_ON(vcs_mode_length(mode))                                                                 \
  }

#define QUICK_JUMP(code, operation, cost, second)       \
  if (vcs_opcode(code).mode != VCS_MODE_ABS) goto step; \
  cpu->time += VCS_COST(cost);                          \
  row->value = bytes[2];                                \
  QUICK_TO(at.operand)

#define QUICK_BRANCH(code, operation, cost, second)                     \
  if (tape->forks && !quick_branch(tape, cart, m, cpu, row)) goto step; \
  row->value = bytes[1];                                                \
  if (vcs_op_##operation(cpu)) {                                        \
    cpu->time += VCS_COST((cost) + ((second) ? 2 : 1));                 \
    QUICK_ON((uint32_t)(int16_t)at.operand)                             \
  }                                                                     \
  cpu->time += VCS_COST(cost);                                          \
  QUICK_ON(2)

#define QUICK_STACK(code, operation, cost, second) QUICK_##operation(cost)
/* The stack in RAM, the byte that a pull touches first included. */
#define QUICK_PUSH(cost, pushed)                    \
  if (cpu->sp < 0x80) goto step;                    \
  row->addr = (uint16_t)(0x100 + cpu->sp);          \
  row->old = m->ram[cpu->sp & 0x7F];                \
  m->ram[cpu->sp-- & 0x7F] = row->value = (pushed); \
  cpu->time += VCS_COST(cost);                      \
  QUICK_ON(1)
#define QUICK_PHA(cost) QUICK_PUSH(cost, cpu->a)
#define QUICK_PHP(cost) QUICK_PUSH(cost, vcs_cpu_status(cpu))
#define QUICK_PULL(cost, set)                      \
  if (cpu->sp < 0x80 || cpu->sp > 0xFE) goto step; \
  row->addr = (uint16_t)(0x100 + ++cpu->sp);       \
  row->value = row->old = m->ram[cpu->sp & 0x7F];  \
  cpu->time += VCS_COST(cost);                     \
  set(cpu, row->value);                            \
  QUICK_ON(1)
#define QUICK_PLA(cost) QUICK_PULL(cost, vcs_op_LDA)
#define QUICK_PLP(cost) QUICK_PULL(cost, vcs_cpu_set_status)
#define QUICK_JSR(cost)                                 \
  {                                                     \
    if (cpu->sp < 0x81) goto step;                      \
    const uint16_t back = (uint16_t)(row->pc + 2);      \
    row->addr = (uint16_t)(0x100 + cpu->sp);            \
    row->old = m->ram[cpu->sp & 0x7F];                  \
    row->value = m->ram[(uint8_t)(cpu->sp - 1) & 0x7F]; \
    m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);    \
    m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;           \
    cpu->time += VCS_COST(cost);                        \
    QUICK_TO(at.operand)                                \
  }
#define QUICK_RTS(cost)                                                       \
  {                                                                           \
    if (cpu->sp < 0x80 || cpu->sp > 0xFD) goto step;                          \
    const uint16_t back = vcs_run_pointer(&m->ram[(cpu->sp + 1) & 0x7F]);     \
    const uint16_t there = (uint16_t)(back - bank.start);                     \
    if (there >= bank.size || bank.code[there].row == VCS_ROW_HOT) goto step; \
    row->value = bank.rom[there];                                             \
    cpu->sp = (uint8_t)(cpu->sp + 2);                                         \
    cpu->time += VCS_COST(cost);                                              \
    QUICK_TO((uint16_t)(back + 1))                                            \
  }
#define QUICK_RTI(cost) goto step;
#define QUICK_BRK(cost) goto step;

#define QUICK_FIRST(code, operation, mode, access, cost) \
  case code: {                                           \
    QUICK_##access(code, operation, cost, false)         \
  }
#define QUICK_SECOND(code, operation, mode, access, cost) \
  case code + VCS_ROW_SECOND: {                           \
    QUICK_##access(code, operation, cost, true)           \
  }

/* Turns of a loop that waits for the timer, beginning with its branch, that are left out: the timer is surely above 1
 * at their readings, so that neither the branch nor a slope of Z (docs/ste.md) takes notice of it. */
VCS_STATIC uint32_t turns_left_out(const vcs_tape_t *tape, const vcs_t *m, uint32_t cycles, int32_t allowed) {
  if (!tape->brief || tape->forks) return 0;
  uint32_t turns = vcs_turns_of_timer(m, cycles, 7, 2, 255);
  return turns < (uint32_t)allowed / 2 ? turns : (uint32_t)allowed / 2;
}

/* Runs on, and writes down, as long as it can; not more than `allowed` instructions. Returns how many. */
VCS_STATIC int32_t quick_rows(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t allowed,
                              bool *frame_over) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_bank_t bank;
  if (cart->snoops || tape->dark || !vcs_find_bank(cart, m, m->pc, &bank)) return 0;
  int32_t room = tape->capacity - tape->count, left_out = 0;
  vcs_row_t *row = tape->rows + tape->count, *const first = row, *end = row + (room < allowed ? room : allowed);
  uint32_t offset = (uint16_t)(m->pc - bank.start);
  vcs_cpu_load(cpu, m);
  while (row < end) {
    const vcs_code_t at = bank.code[offset];
    const uint8_t *bytes = bank.rom + offset;
    row->pc = (uint16_t)(bank.start + offset);
    row->addr = 0;
    row->cycles = vcs_cpu_cycles(cpu);
    memcpy(&row->a, &cpu->a, 8); /* A X Y S, V D I C */
    row->nz = (uint16_t)cpu->nz;
    row->opcode = *bytes;
    row->old = 0;
    switch (at.row) {
      VCS_OPCODES(QUICK_FIRST)
      VCS_OPCODES(QUICK_SECOND)
      case VCS_ROW_WSYNC:
        switch (at.operand) {
          case 0x84: {
            QUICK_WRITE(0x84, STY, 3, true)
          }
          case 0x85: {
            QUICK_WRITE(0x85, STA, 3, true)
          }
          default: {
            QUICK_WRITE(0x86, STX, 3, true)
          }
        }
        break;
      case VCS_ROW_WAIT_BNE:
        if (vcs_op_BNE(cpu)) {
          uint32_t turns = turns_left_out(tape, m, row->cycles, (int32_t)(end - row) - 2);
          cpu->time += turns * (VCS_COST(3) + VCS_COST(4));
          left_out += (int32_t)turns * 2;
          end -= turns * 2;
        }
        QUICK_BRANCH(0xD0, BNE, 2, false)
      case VCS_ROW_DELAY_DEX_BNE:
      case VCS_ROW_DELAY_DEY_BNE:
        QUICK_BRANCH(0xD0, BNE, 2, false)
      case VCS_ROW_WAIT_BPL:
      case VCS_ROW_DELAY_DEX_BPL:
      case VCS_ROW_DELAY_DEY_BPL:
        QUICK_BRANCH(0x10, BPL, 2, false)
      case VCS_ROW_WAIT_BMI:
        QUICK_BRANCH(0x30, BMI, 2, false)
      default:
        goto step;
    }
    continue;
  another_bank:
    if (!vcs_find_bank(cart, m, cpu->pc, &bank)) goto stopped;
    offset = (uint16_t)(cpu->pc - bank.start);
  }
step:
  cpu->pc = (uint16_t)(bank.start + offset);
stopped:
  *frame_over = cpu->stop & VCS_STOP_FRAME;
  vcs_cpu_store(cpu, m);
  if (row > first) m->bus = row[-1].opcode == 0x20 ? (uint8_t)(cpu->pc >> 8) : row[-1].value;
  tape->count = (int32_t)(row - tape->rows);
  return (int32_t)(row - first) + left_out;
}

/* The frame's instructions, `further` of them after the picture is drawn to tape->until. Returns how many are left of
 * those that a frame may have; -1: no memory. */
VCS_STATIC int32_t run_frame(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t further,
                             bool *frame_over) {
  int32_t left = VCS_FRAME_INSTRUCTIONS;
  while (left && !*frame_over && !m->jammed) {
    if (tape->drawn >= tape->until) {
      if (further < left) left = further;
      tape->until = INT32_MAX;
      continue;
    }
    if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return -1;
    left -= quick_rows(tape, cart, m, video, left, frame_over);
    if (!left || *frame_over || tape->count == tape->capacity || tape->drawn >= tape->until) continue;
    if (!vcs_tape_step(tape, cart, m, video, frame_over)) return -1;
    left--;
  }
  return left;
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
