/* address_reverse.c: reverse mode over where an instruction reads and writes.
 *
 * Reverse mode needs one number for each slot of the index, the pointer and the operand: the change of the scalar if
 * the slot moved, a delta.
 *
 * The delta of a read is that of the byte it would find. For rows that make one byte (instruction.h) a table has it, so
 * that another address costs two loads, one of the byte and one of its delta; other rows evaluate their function. The
 * delta of a store is that of the cell it would leave unchanged, the same for all other addresses, and that of the cell
 * it would overwrite. An instruction that modifies memory has both.
 *
 * An address is a sum, and moves as far as its base or its index (adjoint_delta.h). So an indexed read looks at sixteen
 * other addresses, not at sixteen for each byte of its address. They differ only where a byte wraps
 * around and the sum does not, at the ends of a page.
 */
#include "instruction.h"

#include <string.h>

/* What the delta of another address consists of: that of the byte read, from the table or from the function; that of
 * the cells stored to; both; or only that of the time. */
typedef enum { READS, ASKS, STORES, MODIFIES, ONLY_TIME } deltas_by_t;

typedef struct {
  vcs_sweep_t *s;
  const vcs_row_t *row;
  const vcs_access_t *access;
  const vcs_address_t *at; /* how the address was formed */
  deltas_by_t by;
  bool may_cross;
  float cost[2];               /* the delta of not crossing a page, and of crossing it */
  float spared;                /* STORES, MODIFIES: the delta of the cell it stored to, left unchanged, */
  float *cell;                 /* the slots of that byte, or NULL */
  const vcs_made_t *made;      /* READS: the row makes one byte, */
  const float *of;             /* its table of deltas, by the bits of `tells` in which a byte differs */
  uint8_t operand, tells;      /* from the byte that was read; */
  bool few;                    /* few other bytes are looked at, and there is no table but of nibbles, */
  vcs_adjoint_delta_t nibbles; /* which are these */
  bool looks_up;               /* READS: the table has the delta of a byte, and the window is one piece of ROM, */
  const uint8_t *rom;          /* in which the byte is at addr & mask */
  uint16_t mask;
} deltas_t;

/* The ROM in the window as one piece: 4 KiB, or 2 KiB shown twice. */
VCS_STATIC void find_window(deltas_t *g) {
  const uint32_t *bank = g->s->m->bank, first = bank[0];
  g->rom = NULL;
  if (bank[1] != first + 1024 || bank[3] != bank[2] + 1024) return;
  if (bank[2] != first && bank[2] != first + 2048) return;
  g->rom = g->s->cart->rom + first;
  g->mask = bank[2] == first ? 0x7FF : 0xFFF;
}

/* Whether nothing but ROM is in the two pages from that of `base` on; and in the same column of all pages. */
VCS_STATIC bool is_rom_near(const deltas_t *g, uint16_t base) {
  const uint64_t hot = g->s->cart->hot_pages;
  const unsigned first = base >> 6 & 0x3C;
  return g->rom && base & (base + 0x100) & 0x1000 && !(hot >> first & 0xFF);
}
VCS_STATIC bool is_rom_above(const deltas_t *g, uint16_t addr) {
  return g->rom && !(g->s->cart->hot_pages >> (addr >> 6 & 3) & 0x1111111111111111);
}

/* ASKS, MODIFIES: the lanes with an adjoint that follow the byte read; the byte that is stored counts by its cell. */
VCS_HOT_FN unsigned lanes_read(const deltas_t *g) {
  if (!g->access->computed) return 0;
  return g->by == MODIFIES ? g->access->computed->has_adjoint & ~(1u << VCS_LANE_V) : g->access->computed->has_adjoint;
}

/* The delta of reading another byte. */
VCS_HOT_FN float adjoint_delta_of_byte(const deltas_t *g, uint8_t byte) {
  const vcs_made_t *made = g->made;
  if (byte == g->operand) return 0;
  if (g->by == READS && made->how == VCS_ROW_ADDS) {
    const int by = byte - g->operand;
    return made
        ->of[made->is ^ (uint8_t)(g->access->i->uses.kind == VCS_KIND_SUBTRACTS ? made->is - by : made->is + by)];
  }
  if (g->by == READS) return g->few ? vcs_adjoint_delta(&g->nibbles, byte) : g->of[(g->operand ^ byte) & g->tells];
  const vcs_computed_t *computed = g->access->computed;
  vcs_cpu_t cpu = computed->before;
  return vcs_adjoint_delta_of_input(g->access->i, computed, lanes_read(g), &cpu, byte);
}

/* The delta of storing elsewhere. An instruction that modifies memory stores what it makes of the byte there. */
VCS_STATIC float adjoint_delta_of_store(const deltas_t *g, uint16_t addr, uint8_t byte) {
  const vcs_cell_t hit = vcs_cell_written(g->s, addr);
  if (hit.slots != g->cell && (!hit.slots || !g->s->live[hit.live])) return g->spared;
  if (g->by == MODIFIES) {
    vcs_cpu_t cpu = vcs_registers_of(g->row);
    vcs_local_run(g->row->opcode, addr, &cpu, &byte);
  }
  if (hit.slots == g->cell) /* a mirror of the same cell */
    return vcs_adjoint_delta_of(g->access->stored, g->row->value, byte);
  return g->spared + vcs_adjoint_delta_of(hit.slots, vcs_cell_content(g->s, hit), byte);
}

/* The delta of an access at another address; `before` is the byte on the bus before it. */
VCS_SLOW_FN float adjoint_delta_of_access(const deltas_t *g, uint16_t addr, bool crosses, uint8_t before) {
  uint8_t byte;
  if (g->by == ONLY_TIME || addr == g->row->addr) return 0;
  if (g->by == STORES) return adjoint_delta_of_store(g, addr, g->row->value);
  if (!vcs_byte_at(g->access->i, addr, crosses, before, &byte)) return 0;
  if (g->by != MODIFIES) return adjoint_delta_of_byte(g, byte);
  return (lanes_read(g) ? adjoint_delta_of_byte(g, byte) : 0) + adjoint_delta_of_store(g, addr, byte);
}

/* The same, fast in RAM, and at a collision, which is a stop. */
VCS_HOT_FN float delta_at(const deltas_t *g, uint16_t addr, bool crosses, uint8_t before) {
  if (g->by == READS && (addr & 0x1280) == 0x80) return adjoint_delta_of_byte(g, g->s->m->ram[addr & 0x7F]);
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
  return g->of[(g->operand ^ g->rom[addr & g->mask]) & g->tells];
}

/* The access where low byte and index add up to another sum, on the page of the base or the next. */
VCS_HOT_FN float adjoint_delta_of_sum(const deltas_t *g, bool in_rom, int sum) {
  const unsigned addr = (g->at->base & 0xFF00u) + (unsigned)sum;
  return in_rom ? adjoint_delta_of_rom(g, addr)
                : delta_at(g, (uint16_t)addr, g->may_cross && sum > 0xFF, g->at->base >> 8);
}

/* 2^k further on, or back. */
VCS_STATIC void look_around(const deltas_t *g, bool in_rom, vcs_moves_t *moves) {
  const int sum = (uint8_t)g->at->base + (uint16_t)(g->row->addr - g->at->base);
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
  const unsigned rest = (uint16_t)(g->row->addr - (byte << 8));
  const bool crosses = g->at->crosses;
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
  const vcs_address_t at = vcs_address_with(g->access->i, low, g->at->high, x, y);
  if (vcs_is_indirect(g->access->i->op) && !vcs_pointer_in_ram(at.pointer)) return 0;
  return delta_elsewhere(g, at.base, at.addr, vcs_byte_before(g->access->i->op, &at));
}

/* Page zero: RAM, and what the TIA reads; of these a collision is a stop. Nothing but RAM is hit by a store. */
VCS_HOT_FN float delta_in_page_zero(const deltas_t *g, uint8_t addr, uint8_t before) {
  const bool in_ram = addr & 0x80, only_stores = g->by == STORES || (g->by == MODIFIES && !lanes_read(g));
  if (only_stores && in_ram && !g->s->live[VCS_OFFSET(ram) + (addr & 0x7F)]) return g->spared;
  if (g->by == STORES) return in_ram ? adjoint_delta_of_store(g, addr, g->row->value) : g->spared;
  return delta_at(g, addr, false, before);
}

/* Page zero, indexed: index and operand move the address alike, but the TIA lets through what of the operand was on the
 * bus. */
VCS_STATIC void delta_by_page_zero(const deltas_t *g, uint8_t index, float *in, int count, float *operand) {
  const uint8_t low = g->at->low;
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
  const uint16_t index = (uint16_t)(g->row->addr - g->at->base);
  const uint8_t low = (uint8_t)g->at->base, high = (uint8_t)(g->at->base >> 8);
#define DELTA_OF_LOW(other) \
  delta_elsewhere(g, (uint16_t)((other) | high << 8), (uint16_t)(((other) | high << 8) + index), high)
  VCS_EACH_MOVE(low, count, slots, DELTA_OF_LOW)
}

VCS_STATIC void delta_by_high(const deltas_t *g, int count, float *slots) {
  const uint16_t index = (uint16_t)(g->row->addr - g->at->base);
  const uint8_t low = (uint8_t)g->at->base, high = (uint8_t)(g->at->base >> 8);
  if (g->by == ONLY_TIME) return; /* pages are crossed as before */
  if (g->looks_up && g->row->addr & 0x1000 && is_rom_above(g, g->row->addr)) {
    delta_above(g, high, count, slots);
    return;
  }
#define DELTA_OF_HIGH(other) \
  delta_elsewhere(g, (uint16_t)(low | (other) << 8), (uint16_t)((low | (other) << 8) + index), other)
  VCS_EACH_MOVE(high, count, slots, DELTA_OF_HIGH)
}

/* (pointer),Y with another pointer. */
VCS_HOT_FN float adjoint_delta_of_pointer(const deltas_t *g, uint8_t pointer) {
  const uint8_t *ram = g->s->m->ram, y = g->row->y;
  if (!vcs_pointer_in_ram(pointer)) return 0;
  const uint8_t low = ram[pointer & 0x7F], high = ram[(pointer + 1) & 0x7F];
  const uint16_t base = (uint16_t)(low | high << 8), addr = (uint16_t)(base + y);
  if (g->looks_up && addr & 0x1000 && !(g->s->cart->hot_pages >> (addr >> 6 & 63) & 1))
    return adjoint_delta_of_rom(g, addr) + g->cost[(low + y) >> 8];
  return delta_elsewhere(g, base, addr, high);
}

/* The operand of an access whose base it is not, or not as it stands: page zero and pointers. */
VCS_STATIC void delta_by_operand(const deltas_t *g, int count, float *slots) {
  if (g->few && g->at->low & 0x80 && count == 8) {
    for (int bit = 0; bit < 7; bit++) { /* another byte of RAM */
      const uint8_t byte = g->s->m->ram[(g->at->low ^ 1u << bit) & 0x7F];
      if (byte != g->operand)
        slots[bit] += vcs_adjoint_delta_sign(g->at->low, bit) * vcs_adjoint_delta(&g->nibbles, byte);
    }
    slots[7] -= delta_in_page_zero(g, g->at->low & 0x7F, g->at->low & 0x7F);
  } else if (g->access->i->op.mode == VCS_MODE_ZP) {
#define DELTA_OF_PAGE_ZERO(other) delta_in_page_zero(g, other, other)
    VCS_EACH_MOVE(g->at->low, count, slots, DELTA_OF_PAGE_ZERO)
  } else if (g->access->i->op.mode == VCS_MODE_IZY) {
#define DELTA_OF_POINTER(other) adjoint_delta_of_pointer(g, other)
    VCS_EACH_MOVE(g->at->low, count, slots, DELTA_OF_POINTER)
  } else {
#define DELTA_OF_OPERAND(other) adjoint_delta_of_address(g, other, g->row->x, g->row->y)
    VCS_EACH_MOVE(g->at->low, count, slots, DELTA_OF_OPERAND)
  }
}

VCS_STATIC void deltas_begin(deltas_t *g, const vcs_access_t *access) {
  const vcs_instruction_t *i = access->i;
  vcs_made_t *made = access->made;
  const float cycle = vcs_may_cross(i->op) ? *vcs_slots(i->s, VCS_OFFSET(cycles)) : 0;
  g->s = i->s;
  g->row = i->row;
  g->access = access;
  g->at = access->at;
  g->operand = access->operand;
  g->made = made;
  g->may_cross = vcs_may_cross(i->op);
  g->cost[0] = access->at->crosses ? -cycle : 0;
  g->cost[1] = access->at->crosses ? 0 : cycle;
  g->spared = 0;
  g->few = false;
  g->rom = NULL;
  g->by = i->stores && i->reads ? MODIFIES : i->stores ? STORES : access->only_time ? ONLY_TIME : made ? READS : ASKS;
  if (g->by == READS) {
    g->of = made->of;
    g->tells = made->tells;
    g->few = made->how == VCS_ROW_MOVES && i->op.mode == VCS_MODE_ZP && !made->tabled;
    if (g->few) {
      vcs_adjoint_delta_make(&g->nibbles, made->byte, made->is);
    } else {
      vcs_made_table(made);
    }
    if (made->how != VCS_ROW_ADDS && !g->few) find_window(g);
  }
  g->looks_up = g->rom;
  if (!i->stores) return;
  const vcs_cell_t spared = vcs_cell_written(i->s, i->row->addr);
  g->cell = spared.slots;
  if (spared.slots) g->spared = vcs_adjoint_delta_of(access->stored, i->row->value, vcs_cell_content(i->s, spared));
}

/* A store to a register of the TIA on page zero by an operand in ROM: one bit of it leads to RAM, nothing is spared. */
VCS_STATIC bool store_to_tia(const vcs_instruction_t *i) {
  const vcs_sweep_t *s = i->s;
  if (i->op.mode != VCS_MODE_ZP || i->reads || i->row->addr & 0x80) return false;
  const vcs_cell_t operand = vcs_cell_read(s, (uint16_t)(i->row->pc + 1));
  const size_t hit = VCS_OFFSET(ram) + (i->row->addr & 0x7F);
  if (operand.live >= 0) return false;
  if (operand.slots && s->live[hit])
    operand.slots[7] += vcs_adjoint_delta_of(vcs_slots(s, hit), ((const uint8_t *)s->m)[hit], i->row->value);
  return true;
}

VCS_STATIC bool is_sum(vcs_opcode_t op) {
  return op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY;
}

VCS_EXTERN void vcs_delta_by_address(const vcs_access_t *access, float *index_slots) {
  const vcs_instruction_t *i = access->i;
  const vcs_sweep_t *s = i->s;
  deltas_t g;
  if (i->stores && store_to_tia(i)) return;
  deltas_begin(&g, access);
  if (i->op.access == VCS_ACCESS_STACK) {
#define DELTA_OF_STACK(other) delta_in_page_zero(&g, (uint8_t)vcs_stack_address(i, other), 0)
    VCS_EACH_MOVE(i->row->sp, VCS_SLOTS, index_slots, DELTA_OF_STACK)
    return;
  }
  /* the bytes in memory that the address is made of: operands, and the pointer */
  vcs_source_t operand[2], pointer[2];
  const vcs_cell_t none = {NULL, -1};
  const bool indirect = vcs_is_indirect(i->op);
  const int operands = s->rom || !(i->row->pc & 0x1000) ? vcs_mode_length(i->op.mode) - 1 : 0;
  for (int n = 0; n < 2; n++) operand[n].cell = pointer[n].cell = none;
  for (int n = 0; n < operands; n++) vcs_source_take(i, (uint16_t)(i->row->pc + 1 + n), &operand[n]);
  for (int n = 0; indirect && n < 2; n++) vcs_source_take(i, (uint16_t)(access->at->pointer + n), &pointer[n]);

  const uint8_t index = vcs_index_lane(i->op) == VCS_LANE_X ? i->row->x : i->row->y;
  const bool words = i->op.mode == VCS_MODE_ABS || i->op.mode == VCS_MODE_ABX || i->op.mode == VCS_MODE_ABY;
  vcs_source_t *low = words ? &operand[0] : &pointer[0], *high = words ? &operand[1] : &pointer[1];
  if (i->op.mode == VCS_MODE_ZPX || i->op.mode == VCS_MODE_ZPY) {
    delta_by_page_zero(&g, index, index_slots, vcs_cell_slots(operand->cell),
                       operand->cell.slots ? operand->slots : NULL);
  } else if (is_sum(i->op)) {
    const bool in_rom = g.looks_up && is_rom_near(&g, access->at->base);
    vcs_moves_t moves;
    look_around(&g, in_rom, &moves);
    delta_around(&g, in_rom, &moves, index, (uint8_t)access->at->base, VCS_SLOTS, index_slots);
    if (low->cell.slots)
      delta_around(&g, in_rom, &moves, (uint8_t)access->at->base, index, vcs_cell_slots(low->cell), low->slots);
  } else if (low->cell.slots) {
    delta_by_low(&g, vcs_cell_slots(low->cell), low->slots);
  }
  if (i->op.mode == VCS_MODE_IZX) {
#define DELTA_OF_X(other) adjoint_delta_of_address(&g, access->at->low, other, i->row->y)
    VCS_EACH_MOVE(index, VCS_SLOTS, index_slots, DELTA_OF_X)
  }
  if (high->cell.slots) delta_by_high(&g, vcs_cell_slots(high->cell), high->slots);
  if ((i->op.mode == VCS_MODE_ZP || indirect) && operand->cell.slots)
    delta_by_operand(&g, vcs_cell_slots(operand->cell), operand->slots);
  for (int n = 0; n < operands; n++) vcs_source_give(s, &operand[n]);
  for (int n = 0; indirect && n < 2; n++) vcs_source_give(s, &pointer[n]);
}
