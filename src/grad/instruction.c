/* instruction.c: derivatives of one instruction.
 *
 * An instruction is three primitives in a row: a byte is read, registers and the byte go through a pure function
 * (local.h), a byte is written. The bytes' own bits pass unchanged. The function's bits are linked by flipping each
 * input. An address is an input too: with one bit of the index, of the pointer or of the operand flipped, another byte
 * would have been read (a peek, without side effects), or another cell written and this one spared; and a page might
 * have been crossed, which costs time.
 *
 * Stops: which TIA or RIOT register a store reaches, which collision register a load reaches, what the stack finds in
 * the TIA, pointers in the TIA's registers, bank switches, registers of the DPC, the program counter and with it the
 * cycles of a branch and the bytes of the stack a call fills; dark rows (tape.h). A byte with two parts in an access
 * (operand, pointer, the byte read) is linked as each of them, to first order.
 */
#include <assert.h>
#include <string.h>

#include "gain.h"

enum { ALL = VCS_SLOTS * VCS_LANES };

VCS_DATA uint16_t lane_offset[VCS_LANES - 1] = {VCS_OFFSET(a), VCS_OFFSET(x), VCS_OFFSET(y), VCS_OFFSET(sp),
                                                VCS_OFFSET(p)};

/* Everything about the row that is being linked. */
typedef struct {
  vcs_sweep_t *s;
  const vcs_row_t *row;
  const vcs_event_t *event; /* the TIA access it makes, or NULL */
  vcs_opcode_t op;
  vcs_uses_t uses;
  bool reads, stores;      /* a data byte from, or to, `addr` */
  vcs_address_t at;        /* how the address was formed */
  uint64_t word, result;   /* before and after */
  vcs_cpu_t before, after; /* the same unpacked, walking backwards */
  uint8_t v_before, v_after;
  unsigned asked;              /* of the lanes that it sets, walking backwards: those with adjoints, */
  vcs_gain_t gains[VCS_LANES]; /* and what they gain */
  bool flags;                  /* somebody asks for flags that it sets */
  bool moves;                  /* it moves a byte, and nobody asks for its flags */
  bool only_time;              /* walking backwards, nothing but the time it takes matters */
  float in[ALL], out[ALL];
} work_t;

/* ---- Cells ---------------------------------------------------------------------------------------------------- */

/* A byte that a data access reaches: its slots, and its offset in the state; ROM has none (-1), and its bits only. */
typedef struct {
  float *slots; /* NULL: it has none */
  int32_t live;
} cell_t;

VCS_STATIC int slots_of(cell_t cell) { return cell.live < 0 ? 8 : VCS_SLOTS; }

VCS_STATIC cell_t state_cell(const vcs_sweep_t *s, size_t offset) {
  cell_t cell = {vcs_slots(s, offset), (int32_t)offset};
  return cell;
}

VCS_STATIC cell_t rom_cell(const vcs_sweep_t *s, int32_t place) {
  cell_t cell = {s->rom ? s->rom + 8 * (size_t)place : NULL, -1};
  return cell;
}

VCS_STATIC cell_t cell_read(const vcs_sweep_t *s, uint16_t addr) {
  cell_t none = {NULL, -1};
  switch (vcs_chip_at(addr)) {
    case VCS_TO_RAM:
      return state_cell(s, VCS_OFFSET(ram) + (addr & 0x7F));
    case VCS_TO_CART: {
      int32_t place = vcs_cart_read_place(s->cart, s->m, addr);
      if (place == VCS_CART_REGISTER) return none;
      return place < 0 ? state_cell(s, VCS_OFFSET(cart_ram) + (size_t)~place) : rom_cell(s, place);
    }
    default:
      return none;
  }
}

VCS_STATIC cell_t cell_written(const vcs_sweep_t *s, uint16_t addr) {
  cell_t none = {NULL, -1};
  if (vcs_chip_at(addr) == VCS_TO_RAM) return state_cell(s, VCS_OFFSET(ram) + (addr & 0x7F));
  if (vcs_chip_at(addr) != VCS_TO_CART) return none;
  int32_t place = vcs_cart_write_place(s->cart, s->m, addr);
  return place >= 0 ? state_cell(s, VCS_OFFSET(cart_ram) + (size_t)place) : none;
}

VCS_STATIC uint8_t content_of(const vcs_sweep_t *s, cell_t cell) { return ((const uint8_t *)s->m)[cell.live]; }

/* forward: out = in, slot by slot */
VCS_STATIC void link_slots(const vcs_sweep_t *s, float *in, float *out, int count) {
  if (s->reverse) {
    for (int i = 0; i < count; i++) in[i] += out[i];
  } else {
    for (int i = 0; i < count; i++) out[i] += in[i];
  }
}

VCS_STATIC bool cell_live(const vcs_sweep_t *s, cell_t cell) {
  if (!cell.slots) return false;
  return cell.live >= 0 ? s->live[cell.live] : vcs_any(cell.slots, 8);
}

VCS_STATIC void mark(const vcs_sweep_t *s, cell_t cell) {
  if (cell.live >= 0) s->live[cell.live] = 1;
}

/* ---- Reading and writing the byte itself ------------------------------------------------------------------------ */

/* forward: V = the byte at addr */
VCS_STATIC void link_read(const work_t *w, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  if (s->reverse && !vcs_any(v, VCS_SLOTS)) return;
  vcs_chip_t chip = vcs_chip_at(w->row->addr);
  if (w->op.mode != VCS_MODE_IMM && (chip == VCS_TO_TIA || chip == VCS_TO_RIOT)) {
    vcs_sweep_chip_read(s, w->row, w->row->addr, vcs_row_time(s->tape, w->row, w->at.crosses), v);
    return;
  }
  cell_t cell = cell_read(s, w->op.mode == VCS_MODE_IMM ? (uint16_t)(w->row->pc + 1) : w->row->addr);
  if (!cell.slots || (!s->reverse && !cell_live(s, cell))) return;
  link_slots(s, cell.slots, v, slots_of(cell));
  if (s->reverse) mark(s, cell);
}

/* forward: the byte at addr = V */
VCS_STATIC void link_write(work_t *w, float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  switch (vcs_chip_at(w->row->addr)) {
    case VCS_TO_TIA:
      if (w->event) vcs_sweep_tia_write(s, w->event, v);
      return;
    case VCS_TO_RIOT:
      vcs_sweep_riot_write(s, w->row, w->row->addr, v);
      return;
    default:
      break;
  }
  cell_t cell = cell_written(s, w->row->addr);
  if (!cell.slots) return;
  if (s->reverse) {
    if (!s->live[cell.live]) return;
    memcpy(v, cell.slots, VCS_SLOTS * sizeof *v);
    memset(cell.slots, 0, VCS_SLOTS * sizeof *v);
    s->live[cell.live] = 0;
  } else {
    bool live = vcs_any(v, VCS_SLOTS);
    if (!live && !s->live[cell.live]) return;
    memcpy(cell.slots, v, VCS_SLOTS * sizeof *v);
    s->live[cell.live] = live;
  }
}

/* Bytes that become constants: return addresses on the stack. */
VCS_STATIC void forget_stack(const vcs_sweep_t *s, uint8_t sp, int count) {
  for (int i = 0; i < count; i++) {
    uint16_t addr = (uint16_t)(0x100 + (uint8_t)(sp - i));
    if (vcs_chip_at(addr) != VCS_TO_RAM) continue;
    size_t offset = VCS_OFFSET(ram) + (addr & 0x7F);
    if (!s->live[offset]) continue;
    memset(vcs_slots(s, offset), 0, VCS_SLOTS * sizeof(float));
    s->live[offset] = 0;
  }
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

/* Links an input, whose change turns the result into `result`, to the bytes that move. */
VCS_STATIC void link_result(work_t *w, float *in, uint64_t result, float weight) {
  uint64_t moved = (result ^ w->result) & w->uses.writes;
  for (int lane = 0; moved; lane++, moved >>= 8) {
    if (!(moved & 0xFF)) continue;
    uint8_t was = (uint8_t)(w->result >> 8 * lane), is = (uint8_t)(was ^ (moved & 0xFF));
    if (lane == VCS_LANE_P) {
      vcs_link_bits(w->s, in, w->out + VCS_SLOTS * lane, was, is, weight);
    } else {
      vcs_link_byte(w->s, in, w->out + VCS_SLOTS * lane, was, is, weight);
    }
  }
}

/* ---- The function backwards: what is gained if it is given something else --------------------------------------- */

/* Which of the registers, flags and V that the row sets are asked for, and what their moves gain. */
VCS_STATIC void make_gains(work_t *w) {
  const uint8_t after[VCS_LANES] = {w->after.a, w->after.x, w->after.y, w->after.sp, vcs_cpu_status(&w->after),
                                    w->v_after};
  for (unsigned lanes = w->asked; lanes; lanes &= lanes - 1) {
    int lane = VCS_LOWEST(lanes);
    vcs_gain_make(&w->gains[lane], w->out + VCS_SLOTS * lane, after[lane]);
  }
}

/* What lanes that are asked for gain if the function is given these registers and this V. */
VCS_STATIC float gain_of_input(const work_t *w, unsigned lanes, vcs_cpu_t *cpu, uint8_t v) {
  float gain = 0;
  vcs_local_run(w->row->opcode, w->row->addr, cpu, &v);
  if (lanes & 1 << VCS_LANE_A && cpu->a != w->after.a) gain += vcs_gain(&w->gains[VCS_LANE_A], cpu->a);
  if (lanes & 1 << VCS_LANE_V && v != w->v_after) gain += vcs_gain(&w->gains[VCS_LANE_V], v);
  if (lanes & 1 << VCS_LANE_P) gain += vcs_gain_bits(&w->gains[VCS_LANE_P], vcs_cpu_status(cpu));
  if (!(lanes & (1 << VCS_LANE_X | 1 << VCS_LANE_Y | 1 << VCS_LANE_S))) return gain;
  if (lanes & 1 << VCS_LANE_X && cpu->x != w->after.x) gain += vcs_gain(&w->gains[VCS_LANE_X], cpu->x);
  if (lanes & 1 << VCS_LANE_Y && cpu->y != w->after.y) gain += vcs_gain(&w->gains[VCS_LANE_Y], cpu->y);
  if (lanes & 1 << VCS_LANE_S && cpu->sp != w->after.sp) gain += vcs_gain(&w->gains[VCS_LANE_S], cpu->sp);
  return gain;
}

/* The same with one lane's byte moved. */
VCS_HOT_FN float gain_of_lane(const work_t *w, int lane, uint8_t byte) {
  vcs_cpu_t cpu = w->before;
  uint8_t v = w->v_before;
  switch (lane) {
    case VCS_LANE_A:
      cpu.a = byte;
      break;
    case VCS_LANE_X:
      cpu.x = byte;
      break;
    case VCS_LANE_Y:
      cpu.y = byte;
      break;
    case VCS_LANE_S:
      cpu.sp = byte;
      break;
    case VCS_LANE_P:
      vcs_cpu_set_status(&cpu, byte);
      break;
    default:
      v = byte;
      break;
  }
  return gain_of_input(w, w->asked, &cpu, v);
}

/* The register that is the index, or -1. */
VCS_STATIC int index_lane(vcs_opcode_t op) {
  if (op.mode == VCS_MODE_ZPX || op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_IZX) return VCS_LANE_X;
  if (op.mode == VCS_MODE_ZPY || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY) return VCS_LANE_Y;
  return -1;
}

/* A byte's slots come in pairs: bit k moves it by 2^k one way, carry k the other way, which for bit 7 is the same. */
#define EACH_MOVE(byte, count, slots, gain_of)                     \
  for (int k = 0; k < 8; k++) {                                    \
    int step = (byte) >> k & 1 ? -(1 << k) : 1 << k;               \
    float there = gain_of((uint8_t)((byte) + step));               \
    (slots)[k] += step < 0 ? -there : there;                       \
    if ((count) == 8) continue;                                    \
    float back = k == 7 ? there : gain_of((uint8_t)((byte)-step)); \
    (slots)[8 + k] += step < 0 ? back : -back;                     \
  }

/* Sums of bytes: ADC and SBC in binary, INC and DEC of memory, X and Y. The lane their result is in, or -1. */
VCS_STATIC int lane_of_sum(const vcs_row_t *row) {
  const uint8_t opcode = row->opcode;
  if ((opcode & 0xE3) == 0x61 || (opcode & 0xE3) == 0xE1) return row->flags & VCS_ROW_D ? -1 : VCS_LANE_A;
  if ((opcode & 0xE7) == 0xE6 || (opcode & 0xE7) == 0xC6) return VCS_LANE_V;
  if (opcode == 0xE8 || opcode == 0xCA) return VCS_LANE_X;
  return opcode == 0xC8 || opcode == 0x88 ? VCS_LANE_Y : -1;
}

/* Walking backwards and without flags, a sum moves as far as what is added: the function need not be asked. SBC takes V
 * away. */
VCS_STATIC void gain_by_sum(work_t *w, int lane, int sum_lane, int count) {
  const vcs_gain_t *sum = &w->gains[sum_lane];
  const uint8_t byte = (uint8_t)(w->word >> 8 * lane);
  const bool less = lane == VCS_LANE_V && sum_lane == VCS_LANE_A && w->row->opcode & 0x80;
  float *in = w->in + VCS_SLOTS * lane;
#define GAIN_OF_TERM(other) vcs_gain(sum, (uint8_t)(less ? sum->was - (other) + byte : sum->was + (other)-byte))
  EACH_MOVE(byte, count, in, GAIN_OF_TERM)
}

/* How many slots the byte that is read has: of ROM its bits, or none if nobody asks for it. */
VCS_STATIC int slots_read(const work_t *w) {
  const bool immediate = w->op.mode == VCS_MODE_IMM;
  if (!immediate && !(w->row->addr & 0x1000)) return VCS_SLOTS;
  const cell_t cell = cell_read(w->s, immediate ? (uint16_t)(w->row->pc + 1) : w->row->addr);
  return cell.slots ? slots_of(cell) : 0;
}

VCS_STATIC void gain_by_function(work_t *w) {
  const int sum_lane = w->flags ? -1 : lane_of_sum(w->row);
  if (!(w->asked & (sum_lane < 0 ? ~0u : 1u << sum_lane))) return;
  for (int lane = 0; lane < VCS_LANES; lane++) {
    const uint8_t byte = (uint8_t)(w->word >> 8 * lane);
    float *in = w->in + VCS_SLOTS * lane;
    unsigned reads = w->uses.reads >> 8 * lane & 0xFF;
    if (!reads || (w->stores && lane == index_lane(w->op))) continue; /* SAX (zp,X): link_index does both */
    const int count = lane == VCS_LANE_V ? slots_read(w) : VCS_SLOTS;
    if (!count) continue;
    if (lane == VCS_LANE_P) {
      for (; reads; reads &= reads - 1) {
        const uint8_t flag = (uint8_t)(1 << VCS_LOWEST(reads));
        const float gain = gain_of_lane(w, lane, byte ^ flag);
        in[VCS_LOWEST(reads)] += byte & flag ? -gain : gain;
      }
    } else if (sum_lane >= 0) {
      gain_by_sum(w, lane, sum_lane, count);
    } else if (lane == VCS_LANE_S && w->op.access == VCS_ACCESS_STACK) { /* it moves as it is counted up or down */
      if (w->asked >> VCS_LANE_S & 1) gain_by_sum(w, lane, lane, count);
    } else {
#define GAIN_OF_BYTE(other) gain_of_lane(w, lane, other)
      EACH_MOVE(byte, count, in, GAIN_OF_BYTE)
    }
  }
}

VCS_STATIC void link_function(work_t *w) {
  if (w->moves) { /* forward: to = from */
    link_slots(w->s, w->in + VCS_SLOTS * w->uses.from, w->out + VCS_SLOTS * w->uses.to, VCS_SLOTS);
    return;
  }
  if (w->s->reverse) {
    gain_by_function(w);
    return;
  }
  for (int lane = 0; lane < VCS_LANES; lane++) {
    unsigned reads = w->uses.reads >> 8 * lane & 0xFF;
    if (w->stores && lane == index_lane(w->op)) continue; /* SAX (zp,X): link_index does both */
    if (lane != VCS_LANE_P) reads |= reads << 8;
    uint8_t byte = (uint8_t)(w->word >> 8 * lane);
    uint64_t others = w->word & ~VCS_LANE(lane, 0xFF);
    for (; reads; reads &= reads - 1) {
      int slot = VCS_LOWEST(reads);
      float *in = &w->in[VCS_SLOTS * lane + slot];
      if (*in == 0) continue;
      uint64_t result = vcs_local(w->row->opcode, w->row->addr, others | VCS_LANE(lane, vcs_moved(byte, slot)));
      link_result(w, in, result, vcs_direction(byte, slot));
    }
  }
}

/* ---- Other addresses --------------------------------------------------------------------------------------------- */

/* The last byte on the bus before the data access, of which the TIA leaves six bits: of the operand or the pointer. */
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

/* The byte that a read at another address would have found. False: that is a stop. */
VCS_STATIC bool byte_at(const work_t *w, vcs_address_t at, uint8_t *byte) {
  vcs_sweep_t *s = w->s;
  vcs_chip_t chip = vcs_chip_at(at.addr);
  if (chip == VCS_TO_RAM || chip == VCS_TO_CART) {
    *byte = vcs_code_byte(s->cart, s->m, at.addr);
    return true;
  }
  return w->op.access != VCS_ACCESS_STACK &&
         vcs_sweep_chip_byte(s, at.addr, vcs_row_time(s->tape, w->row, at.crosses), byte_before(w->op, at), byte);
}

/* Another cell is written with `value` instead, and this one is spared. Walking forwards the spared cell's new slots
 * are still in V; backwards they are there already. */
VCS_STATIC void link_store_elsewhere(work_t *w, float *in, float weight, uint16_t addr, uint8_t value) {
  vcs_sweep_t *s = w->s;
  float *v = w->out + VCS_SLOTS * VCS_LANE_V;
  cell_t spared = cell_written(s, w->row->addr), hit = cell_written(s, addr);
  if (spared.slots == hit.slots) { /* a mirror of the same cell */
    vcs_link_byte(s, in, v, w->row->value, value, weight);
    return;
  }
  if (spared.slots) vcs_link_byte(s, in, v, w->row->value, content_of(s, spared), weight);
  if (!hit.slots || (s->reverse && !s->live[hit.live])) return;
  vcs_link_byte(s, in, hit.slots, content_of(s, hit), value, weight);
  if (!s->reverse) mark(s, hit);
}

/* The access as it would have gone with another address: `in` is the slot on which it depends, `weight` its direction,
 * `word` the registers, of which the index may be different. */
VCS_STATIC void link_elsewhere(work_t *w, float *in, float weight, vcs_address_t at, uint64_t word) {
  vcs_sweep_t *s = w->s;
  if (at.crosses != w->at.crosses) {
    vcs_link(s, in, vcs_slots(s, VCS_OFFSET(cycles)), at.crosses ? weight : -weight);
    if (!s->reverse) s->live[VCS_OFFSET(cycles)] = 1;
  }
  if ((at.addr == w->row->addr && !(w->stores && word != w->word)) || w->only_time) return;
  if (w->reads) {
    uint8_t byte;
    if (!byte_at(w, at, &byte)) return;
    if (w->moves) {
      vcs_link_byte(s, in, w->out + VCS_SLOTS * w->uses.to, w->row->value, byte, weight);
      return;
    }
    word = (word & ~VCS_V) | VCS_LANE(VCS_LANE_V, byte);
  }
  uint64_t result = vcs_local(w->row->opcode, at.addr, word), v = w->stores ? VCS_V : 0;
  if (!w->moves) link_result(w, in, (result & ~v) | (w->result & v), weight);
  if (w->stores) link_store_elsewhere(w, in, weight, at.addr, (uint8_t)(result >> 8 * VCS_LANE_V));
}

VCS_STATIC vcs_address_t address_of(const work_t *w, uint8_t low, uint8_t high, uint8_t x, uint8_t y) {
  return vcs_form_address(w->s->cart, w->s->m, w->op, low, high, x, y);
}

VCS_STATIC bool is_indirect(vcs_opcode_t op) { return op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY; }

/* The address of an indirect access with another base. */
VCS_STATIC vcs_address_t address_with_base(const work_t *w, uint16_t base) {
  vcs_address_t at = w->at;
  at.base = base;
  at.addr = (uint16_t)(base + (w->op.mode == VCS_MODE_IZY ? w->row->y : 0));
  at.crosses = w->op.access == VCS_ACCESS_READ && (at.base ^ at.addr) & 0xFF00;
  return at;
}

/* A byte in memory that the address is made of. Its slots are taken before anything is linked, and given back after
 * everything is: the access may store into it. */
typedef struct {
  cell_t cell;
  float slots[VCS_SLOTS];
} source_t;

VCS_STATIC void take_source(const vcs_sweep_t *s, uint16_t addr, source_t *source) {
  source->cell = cell_read(s, addr);
  memset(source->slots, 0, sizeof source->slots);
  if (!s->reverse && cell_live(s, source->cell))
    memcpy(source->slots, source->cell.slots, (size_t)slots_of(source->cell) * sizeof(float));
}

VCS_STATIC void give_source(const vcs_sweep_t *s, const source_t *source) {
  if (!s->reverse || !source->cell.slots) return;
  for (int i = 0; i < slots_of(source->cell); i++) source->cell.slots[i] += source->slots[i];
  mark(s, source->cell);
}

/* Slots of a source that have something to say. */
VCS_STATIC bool source_speaks(const vcs_sweep_t *s, const source_t *source, int slot) {
  return source->cell.slots && slot < slots_of(source->cell) && (s->reverse || source->slots[slot] != 0);
}

/* Whether the address decides how long the instruction takes. */
VCS_STATIC bool may_cross(vcs_opcode_t op) {
  return op.access == VCS_ACCESS_READ &&
         (op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY);
}

VCS_STATIC void link_index(work_t *w, int lane) {
  vcs_sweep_t *s = w->s;
  const vcs_row_t *row = w->row;
  float *in = w->in + VCS_SLOTS * lane;
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

VCS_STATIC void link_pointer(work_t *w, source_t *source, int half) {
  uint8_t byte = (uint8_t)(w->at.base >> 8 * half), other = (uint8_t)(w->at.base >> 8 * !half);
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_speaks(w->s, source, slot)) continue;
    uint8_t moved = vcs_moved(byte, slot);
    link_elsewhere(w, &source->slots[slot], vcs_direction(byte, slot),
                   address_with_base(w, (uint16_t)(half ? moved << 8 | other : other << 8 | moved)), w->word);
  }
}

VCS_STATIC void link_operand(work_t *w, source_t *source, int number) {
  uint8_t operand = number == 1 ? w->at.low : w->at.high;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (!source_speaks(w->s, source, slot)) continue;
    uint8_t other = vcs_moved(operand, slot);
    vcs_address_t at =
        address_of(w, number == 1 ? other : w->at.low, number == 2 ? other : w->at.high, w->row->x, w->row->y);
    if (is_indirect(w->op) && !vcs_pointer_in_ram(at.pointer)) continue;
    link_elsewhere(w, &source->slots[slot], vcs_direction(operand, slot), at, w->word);
  }
}

VCS_STATIC void link_address(work_t *w) {
  vcs_sweep_t *s = w->s;
  source_t pointer[2], operand[2];
  bool indirect = is_indirect(w->op);
  int operands = vcs_mode_length(w->op.mode) - 1;
  for (int i = 0; indirect && i < 2; i++) take_source(s, (uint16_t)(w->at.pointer + i), &pointer[i]);
  for (int i = 0; i < operands; i++) take_source(s, (uint16_t)(w->row->pc + 1 + i), &operand[i]);
  if (index_lane(w->op) >= 0) link_index(w, index_lane(w->op));
  for (int i = 0; indirect && i < 2; i++) link_pointer(w, &pointer[i], i);
  for (int i = 0; i < operands; i++) link_operand(w, &operand[i], i + 1);
  for (int i = 0; indirect && i < 2; i++) give_source(s, &pointer[i]);
  for (int i = 0; i < operands; i++) give_source(s, &operand[i]);
}

/* PHA, PHP, PLA, PLP: the stack pointer is the address. */
VCS_STATIC uint16_t stack_address(const work_t *w, uint8_t sp) {
  return (uint16_t)(0x100 + (w->reads ? (uint8_t)(sp + 1) : sp));
}

VCS_STATIC void link_stack_address(work_t *w) {
  float *in = w->in + VCS_SLOTS * VCS_LANE_S;
  for (int slot = 0; slot < VCS_SLOTS; slot++) {
    if (in[slot] == 0) continue;
    vcs_address_t at = w->at;
    at.addr = stack_address(w, vcs_moved(w->row->sp, slot));
    link_elsewhere(w, &in[slot], vcs_direction(w->row->sp, slot), at, w->word);
  }
}

/* ---- Gains --------------------------------------------------------------------------------------------------------
 *
 * Walking backwards, all links of a slot are one number: what would be gained, by the adjoints of what the instruction
 * sets, if the slot had moved. For most instructions that is quicker to find than links are to add one by one. A load
 * gains by its byte alone, which a table tells (gain.h); any other reader gains by what its function makes of the byte;
 * a store gains by the cell it spares, the same wherever else it goes, and by the one it hits; what modifies memory
 * does both.
 */

typedef enum { LOADS, COMPUTES, STORES, MODIFIES, ONLY_TIME } gains_by_t;

typedef struct {
  work_t *w;
  gains_by_t by;
  bool may_cross;
  float cost[2];      /* what is gained not to cross a page, or to cross it */
  float spared;       /* STORES, MODIFIES: by the byte it went to, */
  float *cell;        /* the slots of that byte, or NULL */
  uint8_t was;        /* LOADS: the byte, */
  vcs_gain_t byte;    /* and what others gain if there are few of them; */
  bool many;          /* else a table has it, */
  float of[256];      /* by the bits in which they differ */
  const uint8_t *rom; /* the cartridge, if the window is ROM and nothing else: the byte at addr & mask; or NULL */
  uint16_t mask;
} gains_t;

/* The ROM in the window as one piece: 4 KiB, or 2 KiB shown twice. */
VCS_STATIC void find_window(gains_t *g) {
  const vcs_cart_t *cart = g->w->s->cart;
  const uint32_t *bank = g->w->s->m->bank, first = bank[0];
  g->rom = NULL;
  if (cart->hot_pages || bank[1] != first + 1024 || bank[3] != bank[2] + 1024) return;
  if (bank[2] != first && bank[2] != first + 2048) return;
  g->rom = cart->rom + first;
  g->mask = bank[2] == first ? 0x7FF : 0xFFF;
}

/* Whether the row's address can be differenced here: what a store writes does not depend on where. */
VCS_STATIC bool gains_apply(const work_t *w) {
  return w->s->reverse && (w->op.access != VCS_ACCESS_WRITE || w->uses.from != w->uses.to);
}

VCS_STATIC float gain_of_store(const gains_t *g, uint16_t addr, uint8_t value) {
  const vcs_sweep_t *s = g->w->s;
  cell_t hit = cell_written(s, addr);
  if (hit.slots == g->cell) /* a mirror of the same cell */
    return vcs_gain_of(g->w->out + VCS_SLOTS * VCS_LANE_V, g->w->row->value, value);
  if (!hit.slots || !s->live[hit.live]) return g->spared;
  return g->spared + vcs_gain_of(hit.slots, content_of(s, hit), value);
}

/* What is gained by an access at another address; `before` is the byte on the bus before it. */
VCS_SLOW_FN float gain_of_access(const gains_t *g, uint16_t addr, bool crosses, uint8_t before) {
  const work_t *w = g->w;
  vcs_sweep_t *s = w->s;
  uint8_t byte;
  if (g->by == ONLY_TIME || addr == w->row->addr) return 0;
  if (g->by == STORES) return gain_of_store(g, addr, w->row->value);
  if (addr & 0x1000 || (addr & 0x280) == 0x80) {
    byte = vcs_code_byte(s->cart, s->m, addr);
  } else if (w->op.access == VCS_ACCESS_STACK ||
             !vcs_sweep_chip_byte(s, addr, vcs_row_time(s->tape, w->row, crosses), before, &byte)) {
    return 0;
  }
  if (g->by == LOADS && g->many) return g->of[g->was ^ byte];
  if (g->by == LOADS) return byte == g->was ? 0 : vcs_gain(&g->byte, byte);
  vcs_cpu_t cpu = w->before;
  if (g->by == COMPUTES) return byte == w->row->value ? 0 : gain_of_input(w, w->asked, &cpu, byte);
  const float gain = gain_of_input(w, w->asked & ~(1u << VCS_LANE_V), &cpu, byte);
  cpu = w->before;
  vcs_local_run(w->row->opcode, addr, &cpu, &byte);
  return gain + gain_of_store(g, addr, byte);
}

/* The same, with what it takes, by an access at `addr`, which is `base` and an index. */
VCS_STATIC float gain_elsewhere(const gains_t *g, uint16_t base, uint16_t addr, uint8_t before) {
  const bool crosses = g->may_cross && (base ^ addr) & 0xFF00;
  return g->cost[crosses] + gain_of_access(g, addr, crosses, before);
}

/* Loads from ROM, where `byte`, which moves, and `rest` are the sum of the low byte: of base and index, or of index and
 * base. False: it is not only ROM, and nothing is done. */
VCS_STATIC bool load_by_low(const gains_t *g, uint8_t byte, uint8_t rest, int count, float *slots) {
  const uint16_t page = g->w->at.base & 0xFF00;
  if (g->by != LOADS || !g->rom || !(page & (page + 0x100) & 0x1000)) return false;
  const float *of = g->of;
  const uint8_t *rom = g->rom, was = g->was;
#define GAIN_OF_LOAD(other) \
  (of[was ^ rom[(page + rest + (unsigned)(other)) & g->mask]] + g->cost[(rest + (unsigned)(other)) >> 8])
  EACH_MOVE(byte, count, slots, GAIN_OF_LOAD)
  return true;
}

/* The same for the high byte; what is not in the cartridge goes the other way. */
VCS_STATIC bool load_by_high(const gains_t *g, uint8_t byte, int count, float *slots) {
  const unsigned rest = (uint16_t)(g->w->row->addr - (byte << 8));
  const bool crosses = g->w->at.crosses;
  if (g->by != LOADS || !g->rom) return false;
#define GAIN_OF_LOAD_HIGH(other)                                             \
  ((rest + ((unsigned)(other) << 8)) & 0x1000                                \
       ? g->of[g->was ^ g->rom[(rest + ((unsigned)(other) << 8)) & g->mask]] \
       : gain_of_access(g, (uint16_t)(rest + ((unsigned)(other) << 8)), crosses, (uint8_t)(other)))
  EACH_MOVE(byte, count, slots, GAIN_OF_LOAD_HIGH)
  return true;
}

VCS_STATIC bool is_sum(vcs_opcode_t op) {
  return op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY;
}

/* The access with other operands or registers, of modes whose address is not a sum. */
VCS_STATIC float gain_of_address(const gains_t *g, uint8_t low, uint8_t x, uint8_t y) {
  vcs_address_t at = address_of(g->w, low, g->w->at.high, x, y);
  if (is_indirect(g->w->op) && !vcs_pointer_in_ram(at.pointer)) return 0;
  return gain_elsewhere(g, at.base, at.addr, byte_before(g->w->op, at));
}

VCS_STATIC void gain_by_index(const gains_t *g, int lane, float *in) {
  const work_t *w = g->w;
  const uint8_t x = w->row->x, y = w->row->y, index = lane == VCS_LANE_X ? x : y, low = w->at.low;
  if (is_sum(w->op)) {
    const uint16_t base = w->at.base;
    if (load_by_low(g, index, (uint8_t)base, VCS_SLOTS, in)) return;
    const uint8_t before = byte_before(w->op, w->at);
#define GAIN_OF_SUM(other) gain_elsewhere(g, base, (uint16_t)(base + (other)), before)
    EACH_MOVE(index, VCS_SLOTS, in, GAIN_OF_SUM)
  } else if (w->op.mode != VCS_MODE_IZX) {
#define GAIN_OF_ZERO_PAGE(other) gain_of_access(g, (uint8_t)(low + (other)), false, low)
    EACH_MOVE(index, VCS_SLOTS, in, GAIN_OF_ZERO_PAGE)
  } else {
#define GAIN_OF_X(other) gain_of_address(g, low, other, y)
    EACH_MOVE(index, VCS_SLOTS, in, GAIN_OF_X)
  }
}

/* One half of the base, which the operand or the pointer gives. */
VCS_STATIC void gain_by_base(const gains_t *g, int half, source_t *source) {
  const work_t *w = g->w;
  const uint16_t index = (uint16_t)(w->row->addr - w->at.base);
  const int count = slots_of(source->cell);
  const uint8_t low = (uint8_t)w->at.base, high = (uint8_t)(w->at.base >> 8);
  if (half) {
    if (g->by == ONLY_TIME || load_by_high(g, high, count, source->slots)) return; /* pages are crossed as before */
#define GAIN_OF_HIGH(other) \
  gain_elsewhere(g, (uint16_t)(low | (other) << 8), (uint16_t)((low | (other) << 8) + index), other)
    EACH_MOVE(high, count, source->slots, GAIN_OF_HIGH)
  } else if (!load_by_low(g, low, (uint8_t)index, count, source->slots)) {
#define GAIN_OF_LOW(other) \
  gain_elsewhere(g, (uint16_t)((other) | high << 8), (uint16_t)(((other) | high << 8) + index), high)
    EACH_MOVE(low, count, source->slots, GAIN_OF_LOW)
  }
}

/* (pointer),Y with another pointer. */
VCS_STATIC float gain_of_pointer(const gains_t *g, uint8_t pointer) {
  const uint8_t *ram = g->w->s->m->ram, y = g->w->row->y;
  if (!vcs_pointer_in_ram(pointer)) return 0;
  const uint8_t low = ram[pointer & 0x7F], high = ram[(pointer + 1) & 0x7F];
  const uint16_t base = (uint16_t)(low | high << 8), addr = (uint16_t)(base + y);
  if (g->by == LOADS && g->rom && addr & 0x1000)
    return g->cost[(low + y) >> 8] + g->of[g->was ^ g->rom[addr & g->mask]];
  return gain_elsewhere(g, base, addr, high);
}

/* The operand of an access whose base it is not, or not as it stands: page zero and pointers. */
VCS_STATIC void gain_by_operand(const gains_t *g, source_t *source) {
  const work_t *w = g->w;
  const int count = slots_of(source->cell);
  if (w->op.mode == VCS_MODE_ZP && g->by == STORES && !(w->at.low & 0x80) && count == 8) { /* one bit leads to RAM */
    source->slots[7] += gain_of_access(g, w->at.low | 0x80, false, 0);
  } else if (w->op.mode == VCS_MODE_ZP && g->by == LOADS && w->at.low & 0x80 && count == 8) {
    const uint8_t *ram = w->s->m->ram;
    for (int bit = 0; bit < 7; bit++) { /* another byte of RAM */
      const uint8_t byte = ram[(w->at.low ^ 1u << bit) & 0x7F];
      if (byte == g->was) continue;
      const float gain = vcs_gain(&g->byte, byte);
      source->slots[bit] += w->at.low >> bit & 1 ? -gain : gain;
    }
    source->slots[7] -= gain_of_access(g, w->at.low & 0x7F, false, w->at.low & 0x7F);
  } else if (w->op.mode == VCS_MODE_ZP) {
#define GAIN_OF_PAGE_ZERO(other) gain_of_access(g, other, false, other)
    EACH_MOVE(w->at.low, count, source->slots, GAIN_OF_PAGE_ZERO)
  } else if (w->op.mode == VCS_MODE_IZY) {
#define GAIN_OF_POINTER(other) gain_of_pointer(g, other)
    EACH_MOVE(w->at.low, count, source->slots, GAIN_OF_POINTER)
  } else {
#define GAIN_OF_OPERAND(other) gain_of_address(g, other, w->row->x, w->row->y)
    EACH_MOVE(w->at.low, count, source->slots, GAIN_OF_OPERAND)
  }
}

VCS_STATIC void gain_by_address(work_t *w) {
  vcs_sweep_t *s = w->s;
  gains_t g;
  g.w = w;
  g.may_cross = may_cross(w->op);
  const float cycle = g.may_cross ? *vcs_slots(s, VCS_OFFSET(cycles)) : 0;
  g.cost[0] = w->at.crosses ? -cycle : 0;
  g.cost[1] = w->at.crosses ? 0 : cycle;
  g.spared = 0;
  g.was = w->row->value;
  g.by = w->stores && w->reads ? MODIFIES : w->stores ? STORES : w->only_time ? ONLY_TIME : w->moves ? LOADS : COMPUTES;
  if (g.by == LOADS) {
    const float *byte = w->out + VCS_SLOTS * w->uses.to;
    g.many = w->op.mode != VCS_MODE_ZP;
    if (g.many) {
      vcs_gain_table(g.of, byte, g.was);
      find_window(&g);
    } else {
      vcs_gain_make(&g.byte, byte, g.was);
    }
  }
  if (w->stores) {
    cell_t spared = cell_written(s, w->row->addr);
    g.cell = spared.slots;
    if (spared.slots) g.spared = vcs_gain_of(w->out + VCS_SLOTS * VCS_LANE_V, w->row->value, content_of(s, spared));
  }
  source_t pointer[2], operand[2];
  bool indirect = is_indirect(w->op),
       words = w->op.mode == VCS_MODE_ABS || w->op.mode == VCS_MODE_ABX || w->op.mode == VCS_MODE_ABY;
  int operands = s->rom || !(w->row->pc & 0x1000) ? vcs_mode_length(w->op.mode) - 1 : 0, lane = index_lane(w->op);
  for (int i = 0; indirect && i < 2; i++) take_source(s, (uint16_t)(w->at.pointer + i), &pointer[i]);
  for (int i = 0; i < operands; i++) take_source(s, (uint16_t)(w->row->pc + 1 + i), &operand[i]);
  if (lane >= 0) gain_by_index(&g, lane, w->in + VCS_SLOTS * lane);
  if (w->op.access == VCS_ACCESS_STACK) {
#define GAIN_OF_STACK(other) gain_of_access(&g, stack_address(w, other), false, 0)
    EACH_MOVE(w->row->sp, VCS_SLOTS, w->in + VCS_SLOTS * VCS_LANE_S, GAIN_OF_STACK)
  }
  for (int i = 0; indirect && i < 2; i++) {
    if (pointer[i].cell.slots) gain_by_base(&g, i, &pointer[i]);
  }
  for (int i = 0; i < operands; i++) {
    if (!operand[i].cell.slots) continue;
    if (words) {
      gain_by_base(&g, i, &operand[i]);
    } else {
      gain_by_operand(&g, &operand[i]);
    }
  }
  for (int i = 0; indirect && i < 2; i++) give_source(s, &pointer[i]);
  for (int i = 0; i < operands; i++) give_source(s, &operand[i]);
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* Whether somebody asks for one of these flags. */
VCS_HOT_FN bool flags_live(const vcs_sweep_t *s, unsigned flags) {
  if (!s->live[VCS_OFFSET(p)]) return false;
  const float *p = vcs_slots(s, VCS_OFFSET(p));
  for (; flags; flags &= flags - 1) {
    if (p[VCS_LOWEST(flags)] != 0) return true;
  }
  return false;
}

/* Whether any of these registers, or of these flags, is live, and not only said to be. */
VCS_STATIC bool lanes_live(const vcs_sweep_t *s, unsigned lanes, unsigned flags) {
  bool found = flags_live(s, flags);
  for (lanes &= (1u << VCS_LANE_P) - 1; lanes; lanes &= lanes - 1) {
    uint8_t *live = &s->live[lane_offset[VCS_LOWEST(lanes)]];
    if (*live) *live = vcs_any(vcs_slots(s, lane_offset[VCS_LOWEST(lanes)]), VCS_SLOTS);
    found |= *live;
  }
  return found;
}

VCS_STATIC void gather(const vcs_sweep_t *s, unsigned lanes, float *to) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (lanes >> lane & 1 && s->live[lane_offset[lane]])
      memcpy(to + VCS_SLOTS * lane, vcs_slots(s, lane_offset[lane]), VCS_SLOTS * sizeof *to);
  }
}

/* The slots of a register of which an instruction sets these bits: all, or some flags. */
VCS_STATIC unsigned slots_set(int lane, unsigned bits) { return lane == VCS_LANE_P ? bits : bits ? 0xFFFF : 0; }

/* Walking backwards, the adjoints of what the instruction sets; they end here. */
VCS_STATIC void take(const vcs_sweep_t *s, uint64_t writes, float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set || !s->live[lane_offset[lane]]) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    for (unsigned left = set; left; left &= left - 1) {
      int slot = VCS_LOWEST(left);
      out[VCS_SLOTS * lane + slot] = slots[slot];
      slots[slot] = 0;
    }
    s->live[lane_offset[lane]] = lane == VCS_LANE_P && vcs_any(slots, 8);
  }
}

/* Walking backwards, what the instruction read gets its share. */
VCS_STATIC void give(const vcs_sweep_t *s, unsigned lanes, const float *in) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    if (!(lanes >> lane & 1) || !vcs_any(in + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    for (int slot = 0; slot < VCS_SLOTS; slot++) slots[slot] += in[VCS_SLOTS * lane + slot];
    s->live[lane_offset[lane]] = 1;
  }
}

/* Walking forwards, the tangents of what the instruction sets. */
VCS_STATIC void put(const vcs_sweep_t *s, uint64_t writes, const float *out) {
  for (int lane = 0; lane < VCS_LANE_V; lane++) {
    unsigned set = slots_set(lane, writes >> 8 * lane & 0xFF);
    if (!set) continue;
    float *slots = vcs_slots(s, lane_offset[lane]);
    if (!s->live[lane_offset[lane]] && !vcs_any(out + VCS_SLOTS * lane, VCS_SLOTS)) continue;
    for (unsigned left = set; left; left &= left - 1)
      slots[VCS_LOWEST(left)] = out[VCS_SLOTS * lane + VCS_LOWEST(left)];
    s->live[lane_offset[lane]] = vcs_any(slots, VCS_SLOTS);
  }
}

/* ---- One row ------------------------------------------------------------------------------------------------------
 */

/* Contents follow the walk: what a row stored is there after it, and not before it. */
VCS_STATIC void redo(const vcs_sweep_t *s, const vcs_row_t *row, bool stores) {
  if (row->opcode == 0x20 || row->opcode == 0x00) { /* JSR, BRK push the address of their last byte, or the next */
    uint16_t pc = (uint16_t)(row->pc + 2);
    uint8_t pushed[3] = {(uint8_t)(pc >> 8), (uint8_t)pc, vcs_row_status(row)};
    for (int i = 0; i < (row->opcode ? 2 : 3); i++) {
      uint16_t addr = (uint16_t)(0x100 + (uint8_t)(row->sp - i));
      if (vcs_chip_at(addr) == VCS_TO_RAM) s->m->ram[addr & 0x7F] = pushed[i];
    }
  } else if (row->opcode == VCS_DARK) {
    vcs_row_contents(s->tape, s->side, row, true, s->m);
  } else if (stores) {
    cell_t cell = cell_written(s, row->addr);
    if (cell.slots) ((uint8_t *)s->m)[cell.live] = row->value;
  }
}

VCS_STATIC void undo(const vcs_sweep_t *s, const vcs_row_t *row, bool stores) {
  if (row->opcode == 0x00 || row->opcode == VCS_DARK) {
    vcs_row_contents(s->tape, s->side, row, false, s->m);
  } else if (row->opcode == 0x20) {
    uint16_t second = (uint16_t)(0x100 + (uint8_t)(row->sp - 1));
    if (vcs_chip_at(second) == VCS_TO_RAM) s->m->ram[second & 0x7F] = row->value;
    if (vcs_chip_at(row->addr) == VCS_TO_RAM) s->m->ram[row->addr & 0x7F] = row->old;
  } else if (stores) {
    cell_t cell = cell_written(s, row->addr);
    if (cell.slots) ((uint8_t *)s->m)[cell.live] = row->old;
  }
}

/* Points event and side to the first ones at or after the row; the machine's banks and ports are the side's. */
VCS_STATIC void follow(vcs_sweep_t *s, int32_t row) {
  const vcs_tape_t *tape = s->tape;
  int32_t side = s->side;
  while (tape->sides[s->side].row < row) s->side++;
  while (s->side > 0 && tape->sides[s->side - 1].row >= row) s->side--;
  while (tape->events[s->event].row < row) s->event++;
  while (s->event > 0 && tape->events[s->event - 1].row >= row) s->event--;
  if (side == s->side) return;
  const uint8_t *machine = tape->sides[s->side].machine;
  uint8_t *m = (uint8_t *)s->m;
  size_t behind = VCS_OFFSET(ram) + sizeof s->m->ram;
  memcpy(m, machine, VCS_OFFSET(ram));
  memcpy(m + behind, machine + behind, VCS_OFFSET(cart_ram) - behind);
}

/* Whether other addresses can be looked at. */
VCS_STATIC bool has_address(const work_t *w) {
  return (w->reads || w->stores) && w->op.mode != VCS_MODE_IMM &&
         !(is_indirect(w->op) && !vcs_pointer_in_ram(w->at.pointer));
}

VCS_STATIC void link_all(work_t *w, bool stack) {
  if (!w->only_time) link_function(w);
  if (!stack && !has_address(w)) return;
  if (gains_apply(w)) {
    gain_by_address(w);
  } else if (stack) {
    link_stack_address(w);
  } else {
    link_address(w);
  }
}

/* How the row formed its address, and the byte it read there. */
VCS_STATIC void look_back(work_t *w) {
  const vcs_cart_t *cart = w->s->cart;
  const vcs_t *m = w->s->m;
  const vcs_row_t *row = w->row;
  uint8_t low = vcs_code_byte(cart, m, (uint16_t)(row->pc + 1)), high = vcs_code_byte(cart, m, (uint16_t)(row->pc + 2));
  w->at = vcs_form_address(cart, m, w->op, low, high, row->x, row->y);
  if (is_indirect(w->op) && !vcs_pointer_in_ram(w->at.pointer))
    w->at = address_with_base(w, (uint16_t)(row->addr - (w->op.mode == VCS_MODE_IZY ? row->y : 0)));
  uint8_t operand = w->reads ? row->value : 0;
  if (w->op.access == VCS_ACCESS_MODIFY) {
    vcs_chip_t chip = vcs_chip_at(row->addr);
    operand = chip == VCS_TO_RAM || chip == VCS_TO_CART ? vcs_code_byte(cart, m, row->addr) : row->old;
  }
  w->word = vcs_local_pack(row->a, row->x, row->y, row->sp, vcs_row_status(row), operand);
}

/* Walking backwards, whether a store that went elsewhere could have hit a byte that matters. */
VCS_STATIC bool might_hit(const work_t *w) {
  const vcs_sweep_t *s = w->s;
  const uint8_t *live = s->live + VCS_OFFSET(ram);
  if (w->op.mode == VCS_MODE_ZP && cell_read(s, (uint16_t)(w->row->pc + 1)).live < 0) { /* its operand is in ROM */
    for (int bit = 0; s->rom && bit < 8; bit++) {
      uint16_t addr = w->row->addr ^ (uint16_t)(1 << bit);
      if (addr & 0x80 && live[addr & 0x7F]) return true;
    }
    return false;
  }
  for (int i = 0; i < 128; i++) {
    if (live[i]) return true;
  }
  return s->cart->ram_size > 0;
}

/* Backwards, a row that only moves a byte: nobody asks for its flags. The byte's slots go to where it came from. */
VCS_STATIC void move_row(work_t *w, const float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  float *out = w->out + VCS_SLOTS * w->uses.to;
  if (w->stores) {
    memcpy(out, v, VCS_SLOTS * sizeof *v);
  } else {
    size_t to = lane_offset[w->uses.to];
    memcpy(out, vcs_slots(s, to), VCS_SLOTS * sizeof *v);
    memset(vcs_slots(s, to), 0, VCS_SLOTS * sizeof *v);
    s->live[to] = 0;
  }
  vcs_settle(s, -1, w->uses.to, w->row->value, out);
  bool quiet = !vcs_any(out, VCS_SLOTS);
  w->moves = true;
  w->only_time = quiet && !w->stores;
  if (w->only_time && !(may_cross(w->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  bool spares_nothing = vcs_chip_at(w->row->addr) == VCS_TO_TIA || vcs_chip_at(w->row->addr) == VCS_TO_RIOT;
  if (w->reads || (w->stores && !(spares_nothing && !might_hit(w)))) {
    look_back(w);
    int lane = index_lane(w->op);
    if (lane >= 0) memset(w->in + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *v);
    if (has_address(w)) gain_by_address(w);
    if (lane >= 0) give(s, 1u << lane, w->in);
  }
  if (quiet) return;
  if (w->reads) {
    link_read(w, out);
  } else {
    size_t from = lane_offset[w->uses.from];
    for (int slot = 0; slot < VCS_SLOTS; slot++) vcs_slots(s, from)[slot] += out[slot];
    s->live[from] = 1;
  }
}

/* The links of the row, once it is known that they matter. Backwards V is the adjoint of what it stored. */
VCS_STATIC void link_row(work_t *w, bool stack, const float v[VCS_SLOTS]) {
  vcs_sweep_t *s = w->s;
  unsigned set = w->uses.written_lanes | 1u << VCS_LANE_V, looked_at = w->uses.read_lanes | 1u << VCS_LANE_V;
  if (stack) looked_at |= 1u << VCS_LANE_S;
  if (index_lane(w->op) >= 0) looked_at |= 1u << index_lane(w->op);
  for (int lane = 0; lane < VCS_LANES; lane++) {
    if (looked_at >> lane & 1) memset(w->in + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *v);
    if (set >> lane & 1) memset(w->out + VCS_SLOTS * lane, 0, VCS_SLOTS * sizeof *v);
  }
  if (s->reverse) {
    memcpy(w->out + VCS_SLOTS * VCS_LANE_V, v, VCS_SLOTS * sizeof *v);
    take(s, w->uses.writes, w->out);
    for (int lane = 0; s->along && lane < VCS_LANES; lane++) {
      if (set >> lane & 1 && lane != VCS_LANE_P) vcs_settle(s, -1, (size_t)lane, 0, w->out + VCS_SLOTS * lane);
    }
  }
  w->asked = 0;
  for (unsigned lanes = s->reverse ? set : 0; lanes; lanes &= lanes - 1) {
    int lane = VCS_LOWEST(lanes);
    if (vcs_any(w->out + VCS_SLOTS * lane, VCS_SLOTS)) w->asked |= 1u << lane;
  }
  w->flags = w->asked >> VCS_LANE_P & 1;
  w->moves = w->uses.from != w->uses.to && s->reverse && !w->flags;
  w->only_time = s->reverse && !w->stores && !w->asked;
  if (w->only_time && !(may_cross(w->op) && *vcs_slots(s, VCS_OFFSET(cycles)) != 0)) return;
  look_back(w);
  if (!w->moves) w->result = vcs_local(w->row->opcode, w->row->addr, w->word);
  if (!w->moves && s->reverse) {
    vcs_local_unpack(w->word, &w->before, &w->v_before);
    vcs_local_unpack(w->result, &w->after, &w->v_after);
    make_gains(w);
  }
  if (!s->reverse) {
    gather(s, looked_at, w->in);
    if (w->reads) link_read(w, w->in + VCS_SLOTS * VCS_LANE_V);
  }
  link_all(w, stack);
  if (s->reverse) {
    if (w->reads) link_read(w, w->in + VCS_SLOTS * VCS_LANE_V);
    give(s, looked_at, w->in);
  } else {
    for (int lane = 0; lane < VCS_LANES; lane++) {
      if (set >> lane & 1 && lane != VCS_LANE_P) {
        vcs_settle(s, -1, (size_t)lane, (uint8_t)(w->result >> 8 * lane), w->out + VCS_SLOTS * lane);
      }
    }
    put(s, w->uses.writes, w->out);
    if (w->stores) link_write(w, w->out + VCS_SLOTS * VCS_LANE_V);
  }
}

/* Which rows can be passed by when nobody asks for anything they set: those that store nothing. `lanes` has a one for
 * every register an opcode sets but P, as `live` has for every one that is asked for: registers lie there in the same
 * order. */
typedef struct {
  uint32_t lanes;
  uint8_t flags;
  bool passes, reads, may_cross;
} passing_t;

#define ONE_IN(bits, lane) ((bits) >> 8 * (lane)&0xFF ? 1U << 8 * (lane) : 0)
#define ONES_IN(bits) \
  (ONE_IN(bits, VCS_LANE_A) | ONE_IN(bits, VCS_LANE_X) | ONE_IN(bits, VCS_LANE_Y) | ONE_IN(bits, VCS_LANE_S))
#define WRITES_OF(...) WRITES_OF_THEM(__VA_ARGS__)
#define WRITES_OF_THEM(reads, writes, ...) ((uint64_t)(writes))
#define PASSING_ROW(code, operation, mode, access, cycles)                                                      \
  {ONES_IN(WRITES_OF(VCS_USES_##operation)), WRITES_OF(VCS_USES_##operation) >> 8 * VCS_LANE_P & 0xFF,          \
   (code) != VCS_DARK && VCS_ACCESS_##access != VCS_ACCESS_WRITE && VCS_ACCESS_##access != VCS_ACCESS_MODIFY && \
       VCS_ACCESS_##access != VCS_ACCESS_STACK,                                                                 \
   VCS_ACCESS_##access == VCS_ACCESS_READ && VCS_MODE_##mode != VCS_MODE_IMM,                                   \
   VCS_ACCESS_##access == VCS_ACCESS_READ &&                                                                    \
       (VCS_MODE_##mode == VCS_MODE_ABX || VCS_MODE_##mode == VCS_MODE_ABY || VCS_MODE_##mode == VCS_MODE_IZY)},
VCS_DATA passing_t passing[256] = {VCS_OPCODES(PASSING_ROW)};

static_assert(VCS_OFFSET(x) == VCS_OFFSET(a) + VCS_LANE_X && VCS_OFFSET(y) == VCS_OFFSET(a) + VCS_LANE_Y &&
                  VCS_OFFSET(sp) == VCS_OFFSET(a) + VCS_LANE_S && VCS_OFFSET(p) == VCS_OFFSET(a) + VCS_LANE_P,
              "registers are in the order of the lanes");

/* A read of the TIA ends a span of the picture, so it does not pass. */
VCS_STATIC bool passes(const vcs_sweep_t *s, const vcs_row_t *row) {
  const passing_t *at = &passing[row->opcode];
  uint32_t live;
  memcpy(&live, s->live + VCS_OFFSET(a), sizeof live);
  return at->passes && !(live & at->lanes) && !flags_live(s, at->flags) && !(at->reads && !(row->addr & 0x1080)) &&
         !(at->may_cross && *vcs_slots(s, VCS_OFFSET(cycles)) != 0);
}

VCS_SLOW_FN void sweep_row(vcs_sweep_t *s, int32_t index) {
  follow(s, index);
  work_t w;
  const vcs_row_t *row = w.row = &s->tape->rows[index];
  w.s = s;
  w.op = vcs_opcode(row->opcode);
  w.uses = vcs_uses(row->opcode);
  bool stack = row->opcode == 0x08 || row->opcode == 0x48 || row->opcode == 0x28 || row->opcode == 0x68;
  bool modifies = w.op.access == VCS_ACCESS_MODIFY;
  w.stores = w.op.access == VCS_ACCESS_WRITE || modifies || (stack && !(row->opcode & 0x20));
  w.reads = w.op.access == VCS_ACCESS_READ || modifies || (stack && row->opcode & 0x20);
  w.event = s->tape->events[s->event].row == index ? &s->tape->events[s->event] : NULL;
  bool writes_tia = w.event && w.event->reg < VCS_EVENT_READ;

  if (!s->reverse) {
    if (w.event) vcs_sweep_span(s, w.event);
    if (writes_tia) vcs_sweep_shift(s, s->event);
    link_row(&w, stack, NULL);
  } else {
    float v[VCS_SLOTS] = {0};
    undo(s, row, w.stores);
    if (w.stores) link_write(&w, v);
    bool busy = lanes_live(s, w.uses.written_lanes, w.uses.writes >> 8 * VCS_LANE_P & 0xFF) ||
                (*vcs_slots(s, VCS_OFFSET(cycles)) != 0 && may_cross(w.op));
    if (w.stores) busy = busy || vcs_any(v, VCS_SLOTS) || might_hit(&w);
    if (busy && w.uses.from != w.uses.to && !flags_live(s, VCS_FLAG_N | VCS_FLAG_Z)) {
      move_row(&w, v);
    } else if (busy) {
      link_row(&w, stack, v);
    }
  }
  if (row->opcode == 0x20) forget_stack(s, row->sp, 2);
  if (row->opcode == 0x00) forget_stack(s, row->sp, 3);

  if (s->reverse && w.event) {
    if (writes_tia) vcs_sweep_shift(s, s->event);
    vcs_sweep_span(s, w.event);
  }
  if (!s->reverse) redo(s, row, w.stores);
}

VCS_EXTERN void vcs_sweep_row(vcs_sweep_t *s, int32_t index) {
  if (s->along) vcs_along_at(s, index);
  if (!s->reverse || !passes(s, &s->tape->rows[index])) sweep_row(s, index);
}
