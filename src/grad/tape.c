/* tape.c: running a frame and writing down what happened. */
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

bool vcs_tape_record(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video;
  vcs_video_start(&video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_tape_begin(tape, cart, m);
  bool frame_over = false;
  while (tape->count < VCS_FRAME_INSTRUCTIONS && !frame_over && !m->jammed) {
    if (!vcs_tape_step(tape, cart, m, &video, &frame_over)) return false;
  }
  m->instructions += (uint32_t)tape->count;
  if (frame_over) m->partial = 0;
  if (!vcs_tape_end(tape, cart, m)) return false;
  vcs_console_finish_frame(cart, m, &video);
  return true;
}
