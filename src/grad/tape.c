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

/* Room for one more element of `size` bytes. */
static bool grow(void **array, int32_t count, int32_t *capacity, size_t size) {
  if (VCS_LIKELY(count < *capacity)) return true;
  int32_t wanted = *capacity ? 2 * *capacity : 512;
  void *larger = realloc(*array, (size_t)wanted * size);
  if (!larger) return false;
  *array = larger;
  *capacity = wanted;
  return true;
}

/* The picture is drawn up to this clock of the frame. */
static void draw_to(vcs_tape_t *tape, const vcs_cart_t *cart, int32_t clock) {
  int32_t start = VCS_LINE_CLOCKS * cart->top_line, stop = start + VCS_LINE_CLOCKS * cart->height;
  if (clock < start) return;
  if (clock > stop) clock = stop;
  if (clock > tape->drawn) tape->drawn = clock;
}

/* The comb of an HMOVE: the first eight pixels of the line, or of the next one if they are drawn. */
static void place_comb(vcs_tape_t *tape, const vcs_t *m) {
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

static bool add_event(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, unsigned reg, uint8_t value,
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
    int hpos = clock % VCS_LINE_CLOCKS, delay = vcs_write_delay(reg);
    if (delay == VCS_DELAY_PHASE) delay = vcs_phase_delay((unsigned)hpos / 3 & 3);
    draw_to(tape, cart, clock + delay);
    if (reg == VCS_RESP0 || reg == VCS_RESP1) {
      int to = hpos < VCS_HBLANK_CLOCKS ? 3 : (hpos - VCS_HBLANK_CLOCKS + 5) % 160;
      if (vcs_player_phase(m->nusiz[reg - VCS_RESP0], m->pos[reg - VCS_RESP0], to) == 1)
        draw_to(tape, cart, clock + 11);
    }
    if (reg == VCS_HMOVE && cart->hmove_blanks && (hpos <= 62 || hpos >= 225)) place_comb(tape, m);
  } else {
    draw_to(tape, cart, reg == VCS_EVENT_END ? m->seen_clock : clock);
  }
  event->to = tape->drawn;
  return true;
}

static bool add_side(vcs_tape_t *tape, const vcs_t *m) {
  if (!grow((void **)&tape->sides, tape->side_count, &tape->side_capacity, sizeof *tape->sides)) return false;
  vcs_side_t *side = &tape->sides[tape->side_count++];
  side->row = tape->count;
  memcpy(side->machine, m, sizeof side->machine);
  return true;
}

static bool add_branch(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  size_t size = vcs_state_size(cart);
  if (!grow((void **)&tape->branches, tape->branch_count, &tape->branch_capacity, sizeof *tape->branches)) return false;
  if (!grow((void **)&tape->branch_machines, tape->branch_count, &tape->machine_capacity, size)) return false;
  tape->branches[tape->branch_count].row = tape->count;
  memcpy(tape->branch_machines + size * (size_t)tape->branch_count++, m, size);
  return true;
}

static bool is_hot(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && cart->hot_pages >> (addr >> 6 & 63) & 1;
}

static bool is_chip(uint16_t addr) { return vcs_chip_at(addr) == VCS_TO_TIA || vcs_chip_at(addr) == VCS_TO_RIOT; }

/* The byte that a read is about to find, which may be a chip's: the read is done, on a copy. */
static uint8_t byte_found(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr,
                          uint32_t cycles, uint8_t bus) {
  if (!is_chip(addr)) return vcs_code_byte(cart, m, addr);
  vcs_video_t nobody;
  vcs_video_start(&nobody, cart, NULL);
  memcpy(tape->copy, m, vcs_state_size(cart));
  tape->copy->cycles = cycles;
  return vcs_bus_read_chip(cart, tape->copy, &nobody, addr, bus);
}

/* The address of an instruction that is about to run. */
static vcs_address_t address_of(const vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m, const vcs_row_t *row) {
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
static uint8_t bus_before(const vcs_cart_t *cart, const vcs_t *m, vcs_opcode_t op, vcs_address_t at) {
  if (op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY) return (uint8_t)(at.base >> 8);
  return vcs_code_byte(cart, m, (uint16_t)(m->pc + vcs_mode_length(op.mode) - 1));
}

static bool is_dark(const vcs_cart_t *cart, const vcs_t *m) {
  if (is_chip(m->pc)) return true;
  int length = vcs_mode_length(vcs_opcode(vcs_code_byte(cart, m, m->pc)).mode);
  return is_chip((uint16_t)(m->pc + length - 1)) || is_chip((uint16_t)(m->pc + length / 2));
}

/* Writes down an instruction that is about to be executed. What it will read or write is filled in afterwards. */
static bool add_row(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return false;
  vcs_row_t *row = &tape->rows[tape->count];
  row->pc = m->pc;
  row->cycles = m->cycles;
  row->a = m->a;
  row->x = m->x;
  row->y = m->y;
  row->sp = m->sp;
  row->p = m->p;
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

void vcs_tape_begin(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  tape->count = tape->event_count = tape->side_count = tape->branch_count = 0;
  memset(tape->comb, 0, sizeof tape->comb);
  memcpy(tape->start, m, vcs_state_size(cart));
  tape->drawn = m->seen_clock;
  tape->comb_end = 0;
  tape->dark = false;
  if (m->hmove_blank) place_comb(tape, m);
}

bool vcs_tape_step(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, bool *frame_over) {
  if (!add_row(tape, cart, m)) return false;
  vcs_row_t *row = &tape->rows[tape->count++];
  uint8_t second = m->ram[(uint8_t)(m->sp - 1) & 0x7F];
  vcs_cpu_step(cart, m, video, frame_over);
  row->value = row->opcode == 0x20 ? second : m->bus;
  return true;
}

bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m) {
  return add_side(tape, m) && add_event(tape, cart, m, VCS_EVENT_END, 0, m->cycles);
}

/* ---- The quick way --------------------------------------------------------------------------------------------- */

/* Whether a read of the RIOT leaves it as it was: then the next snapshot is as good as one before it. */
static bool riot_stays(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr, uint32_t cycles) {
  if (!(addr & 7)) return cart->passive_ports;
  if ((addr & 5) != 4) return true;
  return m->timer_was_read || vcs_riot_intervals(m, cycles - 1 - m->timer_cycle) >= 0;
}

/* The registers are copied back and forth, not pointed at: so they can stay in the host's. */
#define QUICK_STORE(cpu, m)    \
  {                            \
    vcs_cpu_store((cpu), (m)); \
    (m)->bus = (cpu)->bus;     \
  }

/* A read of a chip at the end of an instruction; `bus` is the byte before it. -1: this is for vcs_tape_step. */
VCS_SLOW_FN int quick_chip_read(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                uint32_t cycles, uint8_t bus) {
  if (addr & 0x80 && !riot_stays(cart, m, addr, cycles)) return -1;
  if (!(addr & 0x80) && (addr & 15) < 8 && !add_event(tape, cart, m, VCS_EVENT_READ + (addr & 15u), 0, cycles))
    return -1;
  m->cycles = cycles;
  return vcs_bus_read_chip(cart, m, video, addr, bus);
}

/* A write to a chip; `deep` if the machine has to be kept. A set of VCS_STOP_..., or -1. */
VCS_SLOW_FN int quick_chip_write(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr,
                                 uint8_t value, uint32_t cycles, bool deep) {
  if (deep && !add_side(tape, m)) return -1;
  if (!(addr & 0x80) && !add_event(tape, cart, m, addr & 63u, value, cycles)) return -1;
  m->cycles = cycles;
  return (int)vcs_bus_write_chip(cart, m, video, addr, value, true);
}

/* A byte of code, in ROM. */
VCS_HOT_FN uint8_t code_at(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  return cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FF)];
}

/* The address of a data access, and the last byte on the bus before it. False: the pointer is not in RAM. */
VCS_HOT_FN bool quick_address(const vcs_cart_t *cart, const vcs_t *m, vcs_cpu_t *cpu, vcs_opcode_t op,
                              vcs_address_t *at) {
  bool indirect = op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY;
  uint8_t low = code_at(cart, m, (uint16_t)(cpu->pc + 1)), high = low;
  if (vcs_mode_length(op.mode) == 3) high = code_at(cart, m, (uint16_t)(cpu->pc + 2));
  *at = vcs_form_address(cart, m, op, low, high, cpu->x, cpu->y);
  cpu->bus = indirect ? (uint8_t)(at->base >> 8) : high;
  return !indirect || vcs_pointer_in_ram(at->pointer);
}

#define QUICK_IMPLIED(code, operation, cost) \
  cpu->pc++;                                 \
  cpu->time += VCS_COST(cost);               \
  cpu->bus = (code);                         \
  vcs_do_##operation(VCS_HERE);

/* PHP PHA JSR, PLP PLA RTS in RAM */
#define QUICK_STACK(code, operation, cost)                                                              \
  {                                                                                                     \
    const bool pulls = (code)&0x20 && (code) != 0x20, keeps = (code) == 0x60;                           \
    uint8_t sp = cpu->sp, second = m->ram[(uint8_t)(sp - 1) & 0x7F];                                    \
    if ((code) == 0x00 || (code) == 0x40 || (pulls ? sp < 0x80 || sp > 0xFD : sp < 0x81)) return false; \
    if (!keeps) {                                                                                       \
      row->addr = (uint16_t)(0x100 + sp + pulls);                                                       \
      row->old = m->ram[row->addr & 0x7F];                                                              \
    }                                                                                                   \
    cpu->pc++;                                                                                          \
    cpu->time += VCS_COST(cost);                                                                        \
    vcs_do_##operation(VCS_HERE);                                                                       \
    row->value = second;                                                                                \
    if ((code) == 0x20) return true;                                                                    \
  }

#define QUICK_READ(code, operation, cost)                                                                         \
  {                                                                                                               \
    const vcs_opcode_t op = vcs_opcode(code);                                                                     \
    const bool immediate = op.mode == VCS_MODE_IMM;                                                               \
    vcs_address_t at = {.crosses = false};                                                                        \
    if (immediate) {                                                                                              \
      cpu->bus = code_at(cart, m, (uint16_t)(cpu->pc + 1));                                                       \
    } else {                                                                                                      \
      if (!quick_address(cart, m, cpu, op, &at)) return false;                                                    \
      row->addr = at.addr;                                                                                        \
    }                                                                                                             \
    uint64_t time = cpu->time + VCS_COST(cost) + VCS_CYCLES(at.crosses);                                          \
    if (immediate) {                                                                                              \
    } else if ((at.addr & 0x1280) == 0x80) {                                                                      \
      cpu->bus = row->old = m->ram[at.addr & 0x7F];                                                               \
    } else if (at.addr & 0x1000) {                                                                                \
      if (is_hot(cart, at.addr)) return false;                                                                    \
      cpu->bus = code_at(cart, m, at.addr);                                                                       \
    } else {                                                                                                      \
      int found = quick_chip_read(tape, cart, m, video, at.addr, (uint32_t)(time >> VCS_CYCLES_SHIFT), cpu->bus); \
      if (found < 0) return false;                                                                                \
      cpu->bus = (uint8_t)found;                                                                                  \
    }                                                                                                             \
    cpu->time = time;                                                                                             \
    cpu->pc = (uint16_t)(cpu->pc + vcs_mode_length(op.mode));                                                     \
    vcs_op_##operation(cpu, cpu->bus);                                                                            \
  }

#define QUICK_WRITE(code, operation, cost)                                             \
  {                                                                                    \
    const vcs_opcode_t op = vcs_opcode(code);                                          \
    vcs_address_t at;                                                                  \
    if (!quick_address(cart, m, cpu, op, &at) || at.addr & 0x1000) return false;       \
    row->addr = at.addr;                                                               \
    uint8_t value = vcs_op_##operation(cpu, at.addr);                                  \
    if ((at.addr & 0x280) == 0x80) {                                                   \
      row->old = m->ram[at.addr & 0x7F];                                               \
      m->ram[at.addr & 0x7F] = value;                                                  \
      cpu->time += VCS_COST(cost);                                                     \
    } else {                                                                           \
      uint64_t time = cpu->time + VCS_COST(cost);                                      \
      uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);                          \
      bool deep = at.addr & 0x80 || (at.addr & 63) == VCS_VBLANK;                      \
      if (deep) QUICK_STORE(cpu, m)                                                    \
      int stop = quick_chip_write(tape, cart, m, video, at.addr, value, cycles, deep); \
      if (stop < 0) return false;                                                      \
      cpu->stop |= (uint8_t)stop;                                                      \
      cpu->time = time + VCS_CYCLES((uint32_t)(m->cycles - cycles));                   \
    }                                                                                  \
    cpu->bus = value;                                                                  \
    cpu->pc = (uint16_t)(cpu->pc + vcs_mode_length(op.mode));                          \
  }

#define QUICK_MODIFY(code, operation, cost)                                                \
  {                                                                                        \
    const vcs_opcode_t op = vcs_opcode(code);                                              \
    vcs_address_t at;                                                                      \
    if (!quick_address(cart, m, cpu, op, &at) || (at.addr & 0x1280) != 0x80) return false; \
    row->addr = at.addr;                                                                   \
    row->old = m->ram[at.addr & 0x7F];                                                     \
    cpu->time += VCS_COST(cost);                                                           \
    cpu->bus = m->ram[at.addr & 0x7F] = vcs_op_##operation(cpu, row->old);                 \
    cpu->pc = (uint16_t)(cpu->pc + vcs_mode_length(op.mode));                              \
  }

#define QUICK_JUMP(code, operation, cost)                                            \
  {                                                                                  \
    if (vcs_opcode(code).mode != VCS_MODE_ABS) return false;                         \
    cpu->time += VCS_COST(cost);                                                     \
    cpu->bus = code_at(cart, m, (uint16_t)(cpu->pc + 2));                            \
    cpu->pc = (uint16_t)(code_at(cart, m, (uint16_t)(cpu->pc + 1)) | cpu->bus << 8); \
  }

#define QUICK_BRANCH(code, operation, cost)                         \
  {                                                                 \
    if (tape->forks) {                                              \
      QUICK_STORE(cpu, m)                                           \
      if (!add_branch(tape, cart, m)) return false;                 \
    }                                                               \
    cpu->bus = code_at(cart, m, (uint16_t)(cpu->pc + 1));           \
    cpu->pc = (uint16_t)(cpu->pc + 2);                              \
    cpu->time += VCS_COST(cost);                                    \
    if (vcs_op_##operation(cpu)) {                                  \
      uint16_t target = (uint16_t)(cpu->pc + (int8_t)cpu->bus);     \
      cpu->time += VCS_CYCLES((cpu->pc ^ target) & 0xFF00 ? 2 : 1); \
      cpu->pc = target;                                             \
    }                                                               \
  }

#define QUICK_CASE(code, operation, mode, access, cost) \
  case code:                                            \
    QUICK_##access(code, operation, cost) break;

/* Executes and writes down an instruction whose bytes are all in ROM. False: nothing has happened yet. */
VCS_HOT_FN bool quick_row(vcs_tape_t *tape, vcs_row_t *row, VCS_ON) {
  row->pc = cpu->pc;
  row->addr = 0;
  row->cycles = vcs_cpu_cycles(cpu);
  row->a = cpu->a;
  row->x = cpu->x;
  row->y = cpu->y;
  row->sp = cpu->sp;
  row->p = vcs_cpu_status(cpu);
  row->opcode = code_at(cart, m, cpu->pc);
  row->old = 0;
  switch (row->opcode) { VCS_OPCODES(QUICK_CASE) }
  row->value = cpu->bus;
  return true;
}

/* Whether three bytes of code are in ROM and nowhere near what a cartridge reacts to. */
VCS_HOT_FN bool is_plain_code(const vcs_cart_t *cart, uint16_t pc) {
  uint16_t last = (uint16_t)(pc + 2);
  if (!(pc & last & 0x1000)) return false;
  return !cart->hot_pages || !((cart->hot_pages >> (pc >> 6 & 63) | cart->hot_pages >> (last >> 6 & 63)) & 1);
}

bool vcs_tape_record(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t looking = {0}, *video = &looking;
  vcs_cpu_t registers, *cpu = &registers;
  bool frame_over = false;
  vcs_video_start(video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_tape_begin(tape, cart, m);
  vcs_cpu_load(cpu, m);
  while (tape->count < VCS_FRAME_INSTRUCTIONS && !frame_over && !m->jammed) {
    if (!grow((void **)&tape->rows, tape->count, &tape->capacity, sizeof *tape->rows)) return false;
    if (VCS_LIKELY(is_plain_code(cart, cpu->pc) && !cart->snoops && !tape->dark) &&
        code_at(cart, m, cpu->pc) != VCS_DARK && quick_row(tape, &tape->rows[tape->count], VCS_HERE)) {
      tape->count++;
      if (VCS_UNLIKELY(cpu->stop)) frame_over = cpu->stop & VCS_STOP_FRAME;
      continue;
    }
    QUICK_STORE(cpu, m)
    if (!vcs_tape_step(tape, cart, m, video, &frame_over)) return false;
    vcs_cpu_load(cpu, m);
  }
  QUICK_STORE(cpu, m)
  m->instructions += (uint32_t)tape->count;
  if (frame_over) m->partial = 0;
  if (!vcs_tape_end(tape, cart, m)) return false;
  vcs_console_finish_frame(cart, m, video);
  return true;
}
