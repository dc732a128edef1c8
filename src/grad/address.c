/* address.c: derivatives of where an instruction reads and writes.
 *
 * With one bit of the index, the pointer or the operand flipped, the instruction reads another byte (a peek, without
 * side effects), or writes another cell and leaves this one unchanged; and it may cross a page, which costs a cycle.
 * Forward mode links each slot with a tangent to what it changes (the first half of this file). Reverse mode needs one
 * number for each of many slots, the change of the scalar if the slot moved: a delta (the second half).
 *
 * The delta of a read is that of the byte it would find. For rows that make one byte (instruction.h) a table has it, so
 * that another address costs two loads, one of the byte and one of its delta; other rows evaluate their function. The
 * delta of a store is that of the cell it would leave unchanged, the same for all other addresses, and that of the cell
 * it would overwrite. An instruction that modifies memory has both.
 *
 * An address is a sum, and moves as far as its base or its index (adjoint_delta.h). So an indexed read looks at sixteen
 * other addresses, not at sixteen for each byte of which its address is made. They differ only where a byte wraps
 * around and the sum does not, at the ends of a page.
 *
 * The stops are listed in instruction.c.
 */
#include <string.h>

#include "instruction.h"

/* The last byte on the bus before the data access, from the operand or the pointer. The TIA leaves six of its bits. */
VCS_STATIC uint8_t byte_before(vcs_opcode_t op, vcs_address_t at) {
  switch (op.mode) {
    case VCS_MODE_ZP:
    case VCS_MODE_ZPX:
    case VCS_MODE_ZPY:
      return at.low;
    case VCS_MODE_IZX:
    case VCS_MODE_IZY:
      return (uint8_t)(at.base >> 8);
    default:
      return at.high;
  }
}

VCS_STATIC vcs_address_t address_of(const vcs_work_t *w, uint8_t low, uint8_t high, uint8_t x, uint8_t y) {
  return vcs_form_address(w->s->cart, w->s->m, w->op, low, high, x, y);
}

VCS_STATIC bool is_indirect(vcs_opcode_t op) { return op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY; }
VCS_STATIC bool is_sum(vcs_opcode_t op) {
  return op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY;
}

/* The address of an indirect access with another base. */
VCS_STATIC vcs_address_t address_with_base(const vcs_work_t *w, uint16_t base) {
  vcs_address_t at = w->at;
  at.base = base;
  at.addr = (uint16_t)(base + (w->op.mode == VCS_MODE_IZY ? w->row->y : 0));
  at.crosses = w->op.access == VCS_ACCESS_READ && (at.base ^ at.addr) & 0xFF00;
  return at;
}

VCS_EXTERN void vcs_look_back(vcs_work_t *w) {
  const vcs_cart_t *cart = w->s->cart;
  const vcs_t *m = w->s->m;
  const vcs_row_t *row = w->row;
  w->at = address_of(w, vcs_code_byte(cart, m, (uint16_t)(row->pc + 1)),
                     vcs_code_byte(cart, m, (uint16_t)(row->pc + 2)), row->x, row->y);
  if (is_indirect(w->op) && !vcs_pointer_in_ram(w->at.pointer))
    w->at = address_with_base(w, (uint16_t)(row->addr - (w->op.mode == VCS_MODE_IZY ? row->y : 0)));
}

/* PHA, PHP, PLA, PLP: the stack pointer is the address. */
VCS_STATIC uint16_t stack_address(const vcs_work_t *w, uint8_t sp) {
  return (uint16_t)(0x100 + (w->reads ? (uint8_t)(sp + 1) : sp));
}

/* A byte in memory that the address is made of. Of a row that stores, its slots are taken before anything is linked,
 * and given back after everything is: it may store into them. */
typedef struct {
  vcs_cell_t cell;
  float *slots, room[VCS_SLOTS];
} source_t;

VCS_STATIC void take_source(const vcs_work_t *w, uint16_t addr, source_t *source) {
  const vcs_sweep_t *s = w->s;
  source->cell = vcs_cell_read(s, addr);
  source->slots = s->reverse && !w->stores ? source->cell.slots : source->room;
  if (source->slots != source->room) return;
  memset(source->room, 0, sizeof source->room);
  if (!s->reverse && vcs_cell_live(s, source->cell))
    memcpy(source->room, source->cell.slots, (size_t)vcs_cell_slots(source->cell) * sizeof(float));
}

VCS_STATIC void give_source(const vcs_sweep_t *s, const source_t *source) {
  if (!s->reverse || !source->cell.slots) return;
  if (source->slots == source->room) {
    for (int i = 0; i < vcs_cell_slots(source->cell); i++) source->cell.slots[i] += source->room[i];
  }
  vcs_cell_mark(s, source->cell);
}

/* ---- Links: any row forwards, and backwards stores whose value depends on the address --------------------------- */

/* The byte that a read at another address would have found. False: that is a stop. */
VCS_STATIC bool byte_at(const vcs_work_t *w, uint16_t addr, bool crosses, uint8_t before, uint8_t *byte) {
  vcs_sweep_t *s = w->s;
  if (addr & 0x1000 || (addr & 0x280) == 0x80) {
    *byte = vcs_code_byte(s->cart, s->m, addr);
    return true;
  }
  if (!(addr & 0x88)) return false; /* a collision */
  return w->op.access != VCS_ACCESS_STACK &&
         vcs_sweep_chip_byte(s, addr, vcs_row_time(s->tape, w->row, crosses), before, byte);
}

/* Another cell is written with `value` instead, and this one is spared. Walking forwards the spared cell's new slots
 * are still in V; backwards they are there already. */
VCS_STATIC void link_store_elsewhere(vcs_work_t *w, float *in, float weight, uint16_t addr, uint8_t value) {
  vcs_sweep_t *s = w->s;
  float *v = w->out + VCS_SLOTS * VCS_LANE_V;
  vcs_cell_t spared = vcs_cell_written(s, w->row->addr), hit = vcs_cell_written(s, addr);
  if (spared.slots == hit.slots) { /* a mirror of the same cell */
    vcs_link_byte(s, in, v, w->row->value, value, weight);
    return;
  }
  if (spared.slots) vcs_link_byte(s, in, v, w->row->value, vcs_cell_content(s, spared), weight);
  if (!hit.slots || (s->reverse && !s->live[hit.live])) return;
  vcs_link_byte(s, in, hit.slots, vcs_cell_content(s, hit), value, weight);
  if (!s->reverse) vcs_cell_mark(s, hit);
}

/* The access as it would have gone with another address: `in` is the slot on which it depends, `weight` its direction,
 * `word` the registers, possibly with another index. */
VCS_STATIC void link_elsewhere(vcs_work_t *w, float *in, float weight, vcs_address_t at, uint64_t word) {
  vcs_sweep_t *s = w->s;
  if (at.crosses != w->at.crosses) {
    vcs_link(s, in, vcs_slots(s, VCS_OFFSET(cycles)), at.crosses ? weight : -weight);
    if (!s->reverse) s->live[VCS_OFFSET(cycles)] = 1;
  }
  if (at.addr == w->row->addr && !(w->stores && word != w->word)) return;
  if (w->reads) {
    uint8_t byte;
    if (!byte_at(w, at.addr, at.crosses, byte_before(w->op, at), &byte)) return;
    word = (word & ~VCS_V) | VCS_LANE(VCS_LANE_V, byte);
  }
  uint64_t result = vcs_local(w->row->opcode, at.addr, word), v = w->stores ? VCS_V : 0;
  vcs_link_result(w, in, (result & ~v) | (w->result & v), weight);
  if (w->stores) link_store_elsewhere(w, in, weight, at.addr, (uint8_t)(result >> 8 * VCS_LANE_V));
}

/* Whether a slot of a source exists and, in forward mode, has a tangent. */
VCS_STATIC bool source_has(const vcs_sweep_t *s, const source_t *source, int slot) {
  return source->cell.slots && slot < vcs_cell_slots(source->cell) && (s->reverse || source->slots[slot] != 0);
}

VCS_STATIC void link_index(vcs_work_t *w, int lane, float *in) {
  vcs_sweep_t *s = w->s;
  const vcs_row_t *row = w->row;
  uint8_t index = lane == VCS_LANE_X ? row->x : row->y;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!s->reverse && in[slot] == 0) continue;
    uint8_t other = vcs_moved(index, slot);
    vcs_address_t at =
        address_of(w, w->at.low, w->at.high, lane == VCS_LANE_X ? other : row->x, lane == VCS_LANE_Y ? other : row->y);
    if (is_indirect(w->op) && !vcs_pointer_in_ram(at.pointer)) continue;
    link_elsewhere(w, &in[slot], vcs_direction(index, slot), at,
                   (w->word & ~VCS_LANE(lane, 0xFF)) | VCS_LANE(lane, other));
  }
}

VCS_STATIC void link_pointer(vcs_work_t *w, source_t *source, int half) {
  uint8_t byte = (uint8_t)(w->at.base >> 8 * half), other = (uint8_t)(w->at.base >> 8 * !half);
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_has(w->s, source, slot)) continue;
    uint8_t moved = vcs_moved(byte, slot);
    link_elsewhere(w, &source->slots[slot], vcs_direction(byte, slot),
                   address_with_base(w, (uint16_t)(half ? moved << 8 | other : other << 8 | moved)), w->word);
  }
}

VCS_STATIC void link_operand(vcs_work_t *w, source_t *source, int number) {
  uint8_t operand = number == 1 ? w->at.low : w->at.high;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_has(w->s, source, slot)) continue;
    uint8_t other = vcs_moved(operand, slot);
    vcs_address_t at =
        address_of(w, number == 1 ? other : w->at.low, number == 2 ? other : w->at.high, w->row->x, w->row->y);
    if (is_indirect(w->op) && !vcs_pointer_in_ram(at.pointer)) continue;
    link_elsewhere(w, &source->slots[slot], vcs_direction(operand, slot), at, w->word);
  }
}

VCS_STATIC void link_address(vcs_work_t *w, float *index) {
  vcs_sweep_t *s = w->s;
  source_t pointer[2], operand[2];
  bool indirect = is_indirect(w->op);
  int operands = vcs_mode_length(w->op.mode) - 1;
  for (int i = 0; indirect && i < 2; i++) take_source(w, (uint16_t)(w->at.pointer + i), &pointer[i]);
  for (int i = 0; i < operands; i++) take_source(w, (uint16_t)(w->row->pc + 1 + i), &operand[i]);
  if (vcs_index_lane(w->op) >= 0) link_index(w, vcs_index_lane(w->op), index);
  for (int i = 0; indirect && i < 2; i++) link_pointer(w, &pointer[i], i);
  for (int i = 0; i < operands; i++) link_operand(w, &operand[i], i + 1);
  for (int i = 0; indirect && i < 2; i++) give_source(s, &pointer[i]);
  for (int i = 0; i < operands; i++) give_source(s, &operand[i]);
}

VCS_STATIC void link_stack_address(vcs_work_t *w, float *in) {
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (in[slot] == 0) continue;
    vcs_address_t at = w->at;
    at.addr = stack_address(w, vcs_moved(w->row->sp, slot));
    link_elsewhere(w, &in[slot], vcs_direction(w->row->sp, slot), at, w->word);
  }
}

/* ---- Deltas: reverse mode --------------------------------------------------------------------------------------- */

/* What the delta of another address consists of: that of the byte read, from the table or from the function; that of
 * the cells stored to; both; or only that of the time. */
typedef enum { READS, ASKS, STORES, MODIFIES, ONLY_TIME } deltas_by_t;

typedef struct {
  vcs_work_t *w;
  deltas_by_t by;
  bool may_cross;
  float cost[2];               /* the delta of not crossing a page, and of crossing it */
  float spared;                /* STORES, MODIFIES: the delta of the cell it stored to, left unchanged, */
  float *cell;                 /* the slots of that byte, or NULL */
  bool few;                    /* READS: few other bytes are looked at, and there is no table but of nibbles, */
  vcs_adjoint_delta_t nibbles; /* which are these */
  bool looks_up;               /* READS: the table knows the gain of a byte, and the window is one piece of ROM, */
  const uint8_t *rom;          /* in which the byte is at addr & mask */
  uint16_t mask;
} deltas_t;

/* The ROM in the window as one piece: 4 KiB, or 2 KiB shown twice. */
VCS_STATIC void find_window(deltas_t *g) {
  const uint32_t *bank = g->w->s->m->bank, first = bank[0];
  g->rom = NULL;
  if (bank[1] != first + 1024 || bank[3] != bank[2] + 1024) return;
  if (bank[2] != first && bank[2] != first + 2048) return;
  g->rom = g->w->s->cart->rom + first;
  g->mask = bank[2] == first ? 0x7FF : 0xFFF;
}

/* Whether nothing but ROM is in the two pages from that of `base` on; and in the same column of all pages. */
VCS_STATIC bool is_rom_near(const deltas_t *g, uint16_t base) {
  const uint64_t hot = g->w->s->cart->hot_pages;
  const unsigned first = base >> 6 & 0x3C;
  return g->rom && base & (base + 0x100) & 0x1000 && !(hot >> first & 0xFF);
}
VCS_STATIC bool is_rom_above(const deltas_t *g, uint16_t addr) {
  return g->rom && !(g->w->s->cart->hot_pages >> (addr >> 6 & 3) & 0x1111111111111111);
}

/* The delta of reading another byte. */
VCS_HOT_FN float adjoint_delta_of_byte(const deltas_t *g, uint8_t byte) {
  const vcs_work_t *w = g->w;
  if (byte == w->operand) return 0;
  if (g->by == READS && w->how == VCS_ROW_ADDS) {
    const int by = byte - w->operand;
    return w->of[w->is ^ (uint8_t)(w->uses.kind == VCS_KIND_SUBTRACTS ? w->is - by : w->is + by)];
  }
  if (g->by == READS) return g->few ? vcs_adjoint_delta(&g->nibbles, byte) : w->of[(w->operand ^ byte) & w->tells];
  vcs_cpu_t cpu = w->before;
  return vcs_adjoint_delta_of_input(w, g->by == MODIFIES ? w->has_adjoint & ~(1u << VCS_LANE_V) : w->has_adjoint, &cpu,
                                    byte);
}

/* The delta of storing elsewhere. An instruction that modifies memory stores what it makes of the byte there. */
VCS_STATIC float adjoint_delta_of_store(const deltas_t *g, uint16_t addr, uint8_t byte) {
  const vcs_work_t *w = g->w;
  const vcs_cell_t hit = vcs_cell_written(w->s, addr);
  if (hit.slots != g->cell && (!hit.slots || !w->s->live[hit.live])) return g->spared;
  if (g->by == MODIFIES) {
    vcs_cpu_t cpu = w->before;
    vcs_local_run(w->row->opcode, addr, &cpu, &byte);
  }
  if (hit.slots == g->cell) /* a mirror of the same cell */
    return vcs_adjoint_delta_of(w->out + VCS_SLOTS * VCS_LANE_V, w->row->value, byte);
  return g->spared + vcs_adjoint_delta_of(hit.slots, vcs_cell_content(w->s, hit), byte);
}

/* The delta of an access at another address; `before` is the byte on the bus before it. */
VCS_SLOW_FN float adjoint_delta_of_access(const deltas_t *g, uint16_t addr, bool crosses, uint8_t before) {
  const vcs_work_t *w = g->w;
  uint8_t byte;
  if (g->by == ONLY_TIME || addr == w->row->addr) return 0;
  if (g->by == STORES) return adjoint_delta_of_store(g, addr, w->row->value);
  if (!byte_at(w, addr, crosses, before, &byte)) return 0;
  if (g->by != MODIFIES) return adjoint_delta_of_byte(g, byte);
  return (w->has_adjoint & ~(1u << VCS_LANE_V) ? adjoint_delta_of_byte(g, byte) : 0) +
         adjoint_delta_of_store(g, addr, byte);
}

/* The same, fast in RAM, and at a collision, which is a stop. */
VCS_HOT_FN float delta_at(const deltas_t *g, uint16_t addr, bool crosses, uint8_t before) {
  if (g->by == READS && (addr & 0x1280) == 0x80) return adjoint_delta_of_byte(g, g->w->s->m->ram[addr & 0x7F]);
  if (g->by == READS && !(addr & 0x1088)) return 0;
  return adjoint_delta_of_access(g, addr, crosses, before);
}

/* The same with the delta of its time, at `addr`, which is `base` plus an index. */
VCS_STATIC float delta_elsewhere(const deltas_t *g, uint16_t base, uint16_t addr, uint8_t before) {
  const bool crosses = g->may_cross && (base ^ addr) & 0xFF00;
  return g->cost[crosses] + delta_at(g, addr, crosses, before);
}

/* Reads from ROM that is one piece. */
VCS_HOT_FN float adjoint_delta_of_rom(const deltas_t *g, unsigned addr) {
  return g->w->of[(g->w->operand ^ g->rom[addr & g->mask]) & g->w->tells];
}

/* The access where low byte and index add up to another sum, on the page of the base or the next. */
VCS_HOT_FN float adjoint_delta_of_sum(const deltas_t *g, bool in_rom, int sum) {
  const unsigned addr = (g->w->at.base & 0xFF00u) + (unsigned)sum;
  return in_rom ? adjoint_delta_of_rom(g, addr)
                : delta_at(g, (uint16_t)addr, g->may_cross && sum > 0xFF, g->w->at.base >> 8);
}

/* 2^k further on, or back. */
VCS_STATIC void look_around(const deltas_t *g, bool in_rom, vcs_moves_t *moves) {
  const int sum = (uint8_t)g->w->at.base + (uint16_t)(g->w->row->addr - g->w->at.base);
  for (int k = 0; k < 8; k++) {
    moves->by[0][k] = adjoint_delta_of_sum(g, in_rom, sum + (1 << k));
    moves->by[1][k] = -adjoint_delta_of_sum(g, in_rom, sum - (1 << k));
  }
  if (g->cost[0] == g->cost[1]) return;
  for (int k = 0; k < 8; k++) {
    moves->by[0][k] += g->cost[sum + (1 << k) > 0xFF];
    moves->by[1][k] -= g->cost[sum - (1 << k) > 0xFF];
  }
}

/* One of the two bytes that are added up; `rest` is the other. Carries that wrap lead 256 further back, or on: those
 * from the highest bit down that are like it. */
VCS_STATIC void delta_around(const deltas_t *g, bool in_rom, const vcs_moves_t *around, uint8_t byte, uint8_t rest,
                             int count, float *slots) {
  const unsigned top = byte >> 7;
  vcs_moves_t moves = *around;
  moves.by[!top][7] = -moves.by[top][7];
  for (int k = 6; count == VCS_SLOTS && k >= 0 && (byte >> k & 1u) == top; k--) {
    const int sum = rest + (uint8_t)(top ? byte + (1 << k) : byte - (1 << k));
    const float delta = adjoint_delta_of_sum(g, in_rom, sum) + g->cost[sum > 0xFF];
    moves.by[!top][k] = top ? delta : -delta;
  }
  vcs_moves_give(&moves, byte, count, slots);
}

/* The high byte: what is not in the cartridge goes the other way. Bits above the fifth are not decoded. */
VCS_STATIC void delta_above(const deltas_t *g, uint8_t byte, int count, float *slots) {
  const unsigned rest = (uint16_t)(g->w->row->addr - (byte << 8));
  const bool crosses = g->w->at.crosses;
#define DELTA_OF_PAGE(other)                                      \
  ((rest + ((unsigned)(other) << 8)) & 0x1000                     \
       ? adjoint_delta_of_rom(g, rest + ((unsigned)(other) << 8)) \
       : delta_at(g, (uint16_t)(rest + ((unsigned)(other) << 8)), crosses, (uint8_t)(other)))
  for (int k = 0; k < 5; k++) {
    const int sign = byte >> k & 1 ? -1 : 1, step = sign * (1 << k);
    slots[k] += (float)sign * DELTA_OF_PAGE((uint8_t)(byte + step));
    if (count == VCS_SLOTS) slots[8 + k] -= (float)sign * DELTA_OF_PAGE((uint8_t)(byte - step));
  }
}

/* The access with other operands or registers, of modes whose address is not a sum. */
VCS_STATIC float adjoint_delta_of_address(const deltas_t *g, uint8_t low, uint8_t x, uint8_t y) {
  vcs_address_t at = address_of(g->w, low, g->w->at.high, x, y);
  if (is_indirect(g->w->op) && !vcs_pointer_in_ram(at.pointer)) return 0;
  return delta_elsewhere(g, at.base, at.addr, byte_before(g->w->op, at));
}

/* Page zero: RAM, and what the TIA reads; of these a collision is a stop. Nothing but RAM is hit by a store. */
VCS_HOT_FN float delta_in_page_zero(const deltas_t *g, uint8_t addr, uint8_t before) {
  const vcs_work_t *w = g->w;
  const bool in_ram = addr & 0x80,
             only_stores = g->by == STORES || (g->by == MODIFIES && w->has_adjoint == 1u << VCS_LANE_V);
  if (only_stores && in_ram && !w->s->live[VCS_OFFSET(ram) + (addr & 0x7F)]) return g->spared;
  if (g->by == STORES) return in_ram ? adjoint_delta_of_store(g, addr, w->row->value) : g->spared;
  return delta_at(g, addr, false, before);
}

/* Page zero, indexed: index and operand move the address alike, but the TIA lets through what of the operand was on the
 * bus. */
VCS_STATIC void delta_by_page_zero(const deltas_t *g, uint8_t index, float *in, int count, float *operand) {
  const uint8_t low = g->w->at.low;
  vcs_moves_t moves;
  for (int k = 0; k < 8; k++) {
    moves.by[0][k] = delta_in_page_zero(g, (uint8_t)(low + index + (1 << k)), low);
    moves.by[1][k] = k == 7 ? -moves.by[0][k] : -delta_in_page_zero(g, (uint8_t)(low + index - (1 << k)), low);
  }
  vcs_moves_give(&moves, index, VCS_SLOTS, in);
  if (!operand) return;
#define DELTA_OF_OTHER_PAGE_ZERO(other) delta_in_page_zero(g, (uint8_t)((other) + index), other)
  VCS_EACH_MOVE(low, count, operand, DELTA_OF_OTHER_PAGE_ZERO)
}

/* The low and the high byte of the base, which the operand or the pointer gives. */
VCS_STATIC void delta_by_low(const deltas_t *g, int count, float *slots) {
  const uint16_t index = (uint16_t)(g->w->row->addr - g->w->at.base);
  const uint8_t low = (uint8_t)g->w->at.base, high = (uint8_t)(g->w->at.base >> 8);
#define DELTA_OF_LOW(other) \
  delta_elsewhere(g, (uint16_t)((other) | high << 8), (uint16_t)(((other) | high << 8) + index), high)
  VCS_EACH_MOVE(low, count, slots, DELTA_OF_LOW)
}

VCS_STATIC void delta_by_high(const deltas_t *g, int count, float *slots) {
  const vcs_work_t *w = g->w;
  const uint16_t index = (uint16_t)(w->row->addr - w->at.base);
  const uint8_t low = (uint8_t)w->at.base, high = (uint8_t)(w->at.base >> 8);
  if (g->by == ONLY_TIME) return; /* pages are crossed as before */
  if (g->looks_up && w->row->addr & 0x1000 && is_rom_above(g, w->row->addr)) {
    delta_above(g, high, count, slots);
    return;
  }
#define DELTA_OF_HIGH(other) \
  delta_elsewhere(g, (uint16_t)(low | (other) << 8), (uint16_t)((low | (other) << 8) + index), other)
  VCS_EACH_MOVE(high, count, slots, DELTA_OF_HIGH)
}

/* (pointer),Y with another pointer. */
VCS_HOT_FN float adjoint_delta_of_pointer(const deltas_t *g, uint8_t pointer) {
  const uint8_t *ram = g->w->s->m->ram, y = g->w->row->y;
  if (!vcs_pointer_in_ram(pointer)) return 0;
  const uint8_t low = ram[pointer & 0x7F], high = ram[(pointer + 1) & 0x7F];
  const uint16_t base = (uint16_t)(low | high << 8), addr = (uint16_t)(base + y);
  if (g->looks_up && addr & 0x1000 && !(g->w->s->cart->hot_pages >> (addr >> 6 & 63) & 1))
    return adjoint_delta_of_rom(g, addr) + g->cost[(low + y) >> 8];
  return delta_elsewhere(g, base, addr, high);
}

/* The operand of an access whose base it is not, or not as it stands: page zero and pointers. */
VCS_STATIC void delta_by_operand(const deltas_t *g, int count, float *slots) {
  const vcs_work_t *w = g->w;
  if (g->few && w->at.low & 0x80 && count == 8) {
    for (int bit = 0; bit < 7; bit++) { /* another byte of RAM */
      const uint8_t byte = w->s->m->ram[(w->at.low ^ 1u << bit) & 0x7F];
      if (byte != w->operand)
        slots[bit] += vcs_adjoint_delta_sign(w->at.low, bit) * vcs_adjoint_delta(&g->nibbles, byte);
    }
    slots[7] -= delta_in_page_zero(g, w->at.low & 0x7F, w->at.low & 0x7F);
  } else if (w->op.mode == VCS_MODE_ZP) {
#define DELTA_OF_PAGE_ZERO(other) delta_in_page_zero(g, other, other)
    VCS_EACH_MOVE(w->at.low, count, slots, DELTA_OF_PAGE_ZERO)
  } else if (w->op.mode == VCS_MODE_IZY) {
#define DELTA_OF_POINTER(other) adjoint_delta_of_pointer(g, other)
    VCS_EACH_MOVE(w->at.low, count, slots, DELTA_OF_POINTER)
  } else {
#define DELTA_OF_OPERAND(other) adjoint_delta_of_address(g, other, w->row->x, w->row->y)
    VCS_EACH_MOVE(w->at.low, count, slots, DELTA_OF_OPERAND)
  }
}

VCS_STATIC void deltas_begin(deltas_t *g, vcs_work_t *w) {
  const float cycle = vcs_may_cross(w->op) ? *vcs_slots(w->s, VCS_OFFSET(cycles)) : 0;
  g->w = w;
  g->may_cross = vcs_may_cross(w->op);
  g->cost[0] = w->at.crosses ? -cycle : 0;
  g->cost[1] = w->at.crosses ? 0 : cycle;
  g->spared = 0;
  g->few = false;
  g->rom = NULL;
  g->by = w->stores && w->reads        ? MODIFIES
          : w->stores                  ? STORES
          : w->only_time               ? ONLY_TIME
          : w->how == VCS_ROW_COMPUTES ? ASKS
                                       : READS;
  if (g->by == READS) {
    g->few = w->how == VCS_ROW_MOVES && w->op.mode == VCS_MODE_ZP && !w->tabled;
    if (g->few) {
      vcs_adjoint_delta_make(&g->nibbles, w->byte, w->is);
    } else {
      vcs_work_table(w);
    }
    if (w->how != VCS_ROW_ADDS && !g->few) find_window(g);
  }
  g->looks_up = g->rom;
  if (!w->stores) return;
  const vcs_cell_t spared = vcs_cell_written(w->s, w->row->addr);
  g->cell = spared.slots;
  if (spared.slots)
    g->spared = vcs_adjoint_delta_of(w->out + VCS_SLOTS * VCS_LANE_V, w->row->value, vcs_cell_content(w->s, spared));
}

/* A store to a register of the TIA on page zero by an operand in ROM: one bit of it leads to RAM, nothing is spared. */
VCS_STATIC bool store_to_tia(vcs_work_t *w) {
  const vcs_sweep_t *s = w->s;
  if (w->op.mode != VCS_MODE_ZP || w->reads || w->row->addr & 0x80) return false;
  const vcs_cell_t operand = vcs_cell_read(s, (uint16_t)(w->row->pc + 1));
  const size_t hit = VCS_OFFSET(ram) + (w->row->addr & 0x7F);
  if (operand.live >= 0) return false;
  if (operand.slots && s->live[hit])
    operand.slots[7] += vcs_adjoint_delta_of(vcs_slots(s, hit), ((const uint8_t *)s->m)[hit], w->row->value);
  return true;
}

VCS_STATIC void delta_by_address(vcs_work_t *w, float *index_slots) {
  vcs_sweep_t *s = w->s;
  deltas_t g;
  if (w->stores && store_to_tia(w)) return;
  deltas_begin(&g, w);
  if (w->op.access == VCS_ACCESS_STACK) {
#define DELTA_OF_STACK(other) delta_in_page_zero(&g, (uint8_t)stack_address(w, other), 0)
    VCS_EACH_MOVE(w->row->sp, VCS_SLOTS, index_slots, DELTA_OF_STACK)
    return;
  }
  /* the bytes in memory that the address is made of: operands, and the pointer */
  source_t operand[2], pointer[2];
  const vcs_cell_t none = {NULL, -1};
  const bool indirect = is_indirect(w->op);
  const int operands = s->rom || !(w->row->pc & 0x1000) ? vcs_mode_length(w->op.mode) - 1 : 0;
  for (int i = 0; i < 2; i++) operand[i].cell = pointer[i].cell = none;
  for (int i = 0; i < operands; i++) take_source(w, (uint16_t)(w->row->pc + 1 + i), &operand[i]);
  for (int i = 0; indirect && i < 2; i++) take_source(w, (uint16_t)(w->at.pointer + i), &pointer[i]);

  const uint8_t index = vcs_index_lane(w->op) == VCS_LANE_X ? w->row->x : w->row->y;
  const bool words = w->op.mode == VCS_MODE_ABS || w->op.mode == VCS_MODE_ABX || w->op.mode == VCS_MODE_ABY;
  source_t *low = words ? &operand[0] : &pointer[0], *high = words ? &operand[1] : &pointer[1];
  if (w->op.mode == VCS_MODE_ZPX || w->op.mode == VCS_MODE_ZPY) {
    delta_by_page_zero(&g, index, index_slots, vcs_cell_slots(operand->cell),
                       operand->cell.slots ? operand->slots : NULL);
  } else if (is_sum(w->op)) {
    const bool in_rom = g.looks_up && is_rom_near(&g, w->at.base);
    vcs_moves_t moves;
    look_around(&g, in_rom, &moves);
    delta_around(&g, in_rom, &moves, index, (uint8_t)w->at.base, VCS_SLOTS, index_slots);
    if (low->cell.slots)
      delta_around(&g, in_rom, &moves, (uint8_t)w->at.base, index, vcs_cell_slots(low->cell), low->slots);
  } else if (low->cell.slots) {
    delta_by_low(&g, vcs_cell_slots(low->cell), low->slots);
  }
  if (w->op.mode == VCS_MODE_IZX) {
#define DELTA_OF_X(other) adjoint_delta_of_address(&g, w->at.low, other, w->row->y)
    VCS_EACH_MOVE(index, VCS_SLOTS, index_slots, DELTA_OF_X)
  }
  if (high->cell.slots) delta_by_high(&g, vcs_cell_slots(high->cell), high->slots);
  if ((w->op.mode == VCS_MODE_ZP || indirect) && operand->cell.slots)
    delta_by_operand(&g, vcs_cell_slots(operand->cell), operand->slots);
  for (int i = 0; i < operands; i++) give_source(s, &operand[i]);
  for (int i = 0; indirect && i < 2; i++) give_source(s, &pointer[i]);
}

/* SHA, SHX, SHY and SHS store a value that depends on the address: these are linked in reverse mode, too. */
VCS_EXTERN void vcs_link_address(vcs_work_t *w, float *index) {
  if (w->s->reverse && (w->op.access != VCS_ACCESS_WRITE || w->uses.from != w->uses.to)) {
    delta_by_address(w, index);
  } else if (w->op.access == VCS_ACCESS_STACK) {
    link_stack_address(w, index);
  } else {
    link_address(w, index);
  }
}
