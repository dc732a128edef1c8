/* test_linear.c: the derivative of one instruction against flipping every bit it could depend on.
 *
 * For each of the 256 opcodes, machines are made at random: registers, flags (decimal mode among them), RAM, cartridge
 * RAM, every TIA register, timer, ports, paddles, with addresses aimed at every chip. The truth is found by running:
 * each tracked bit of the machine and each bit of ROM that the instruction meets is flipped, one at a time, bytes with
 * carries are moved as each carry says (sweep.h), and each number (time, positions, ...) by one either way;
 * vcs_cpu_step runs; the bits that moved are a row of the Jacobian. Then the tape of the same instruction is walked
 * forwards with a unit tangent on an input, which must give that row, and backwards with a unit adjoint on an output,
 * which must give the column.
 *
 * The picture is kept out (the beam is above the first row; test_line.c has it). What is left out besides are the stops
 * that local.h, instruction.c and chips.c name, each by a condition in `stops`.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "core/console.h"
#include "grad/sweep.h"
#include "noise.h"

/* ---- What is tracked ------------------------------------------------------------------------------------------ */

enum { NOTHING, BITS, NUMBER, POSITION, KNOB }; /* a position wraps at 160, a knob's unit is VCS_PADDLE_STEP */
enum { CPU = 1, MEMORY = 2, CHIPS = 4, TIME = 8, EVERYTHING = 15 };

typedef struct {
  size_t offset, count; /* of bytes; of one number */
  uint8_t kind, bits, part;
} tracked_t;

#define FIELD(field) VCS_OFFSET(field), sizeof(((vcs_t *)NULL)->field)
static const tracked_t tracked[] = {
    {FIELD(cycles), NUMBER, 0, TIME},
    {FIELD(dump_cycle), NUMBER, 0, CHIPS},
    {FIELD(timer_cycle), NUMBER, 0, CHIPS},
    {VCS_OFFSET(paddle), 4, KNOB, 0, CHIPS},
    {VCS_OFFSET(paddle) + 4, 4, KNOB, 0, CHIPS},
    {VCS_OFFSET(paddle) + 8, 4, KNOB, 0, CHIPS},
    {VCS_OFFSET(paddle) + 12, 4, KNOB, 0, CHIPS},
    {FIELD(collisions), BITS, 0xFF, CHIPS},
    {FIELD(a), BITS, 0xFF, CPU},
    {FIELD(x), BITS, 0xFF, CPU},
    {FIELD(y), BITS, 0xFF, CPU},
    {FIELD(sp), BITS, 0xFF, CPU},
    {FIELD(p), BITS, 0xCF, CPU}, /* B and the bit beside it are always 1 */
    {FIELD(ram), BITS, 0xFF, MEMORY},
    {FIELD(timer), BITS, 0xFF, CHIPS},
    {FIELD(ddra), BITS, 0xFF, CHIPS},
    {FIELD(swcha), BITS, 0xFF, CHIPS},
    {FIELD(swchb), BITS, 0xFF, CHIPS},
    {FIELD(fire), BITS, 0x01, CHIPS},
    {FIELD(vsync), BITS, 0xFF, CHIPS},
    {FIELD(vblank), BITS, 0x7F, CHIPS}, /* bit 7 is `dump`, which is tracked: one cannot change without the other */
    {FIELD(nusiz), BITS, 0xFF, CHIPS},
    {FIELD(colu), BITS, 0xFE, CHIPS},
    {FIELD(ctrlpf), BITS, 0xFF, CHIPS},
    {FIELD(reflect), BITS, 0x08, CHIPS},
    {FIELD(pf), BITS, 0xFF, CHIPS},
    {FIELD(grp), BITS, 0xFF, CHIPS},
    {FIELD(grp_old), BITS, 0xFF, CHIPS},
    {FIELD(enam), BITS, 0x02, CHIPS},
    {FIELD(enabl), BITS, 0x02, CHIPS},
    {FIELD(enabl_old), BITS, 0x02, CHIPS},
    {FIELD(hm), BITS, 0x0F, CHIPS},
    {FIELD(vdelp), BITS, 0x01, CHIPS},
    {FIELD(vdelbl), BITS, 0x01, CHIPS},
    {FIELD(resmp), BITS, 0x02, CHIPS},
    {VCS_OFFSET(pos), 1, POSITION, 0, CHIPS},
    {VCS_OFFSET(pos) + 1, 1, POSITION, 0, CHIPS},
    {VCS_OFFSET(pos) + 2, 1, POSITION, 0, CHIPS},
    {VCS_OFFSET(pos) + 3, 1, POSITION, 0, CHIPS},
    {VCS_OFFSET(pos) + 4, 1, POSITION, 0, CHIPS},
    {FIELD(pf_mirrored), BITS, 0x01, CHIPS},
    {FIELD(dump), BITS, 0x01, CHIPS},
    {FIELD(audio), BITS, 0xFF, CHIPS},
    {FIELD(cart_ram), BITS, 0xFF, MEMORY}, /* as far as the cartridge has some */
};
enum { TRACKED = sizeof tracked / sizeof *tracked };

static const tracked_t *track[sizeof(vcs_t)]; /* by byte of the state */

static int make_track(void **state) {
  (void)state;
  for (size_t i = 0; i < TRACKED; i++) {
    for (size_t k = 0; k < tracked[i].count; k++) track[tracked[i].offset + k] = &tracked[i];
  }
  return 0;
}

static const char *name_of(size_t offset) {
  const vcs_field_t *field = NULL;
  for (int i = 0; vcs_field(i) && vcs_field(i)->offset <= offset; i++) field = vcs_field(i);
  return field->name;
}

/* ---- A machine -------------------------------------------------------------------------------------------------- */

enum { IMAGE_MAX = 16384, RAM_MAX = 2048 };
static const struct {
  vcs_scheme_t scheme;
  size_t size;
} boards[] = {{VCS_SCHEME_4K, 4096}, {VCS_SCHEME_F8SC, 8192}, {VCS_SCHEME_CV, 2048}, {VCS_SCHEME_E7, 16384}};
enum { F8SC = 1, BOARDS = sizeof boards / sizeof *boards };

static vcs_cart_t console;
static uint8_t image[IMAGE_MAX];
static vcs_t before, after, other;
static size_t size; /* of the state */
static vcs_tape_t *tape;
static vcs_sweep_t sweep;
static float state_slots[VCS_SLOTS * sizeof(vcs_t)], rom_slots[8 * IMAGE_MAX];
static uint8_t live[sizeof(vcs_t)], lit[VCS_ROWS_MAX];
static vcs_t contents, scratch;
static uint16_t latched[8];
static float scale[256];

static void plug_in(unsigned board) {
  vcs_cart_options_t options = {
      .profile = VCS_PROFILE_XITARI, .scheme = boards[board].scheme, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  for (size_t i = 0; i < boards[board].size; i++) image[i] = noise_byte();
  assert_int_equal(vcs_cart_load(image, boards[board].size, &options, &cart, &error), VCS_OK);
  console = *cart;
  console.rom = image;
  assert_true(console.passive_ports);
  assert_true(console.ram_size <= RAM_MAX);
  size = vcs_state_size(cart);
  vcs_boot(cart, &before, NULL);
  vcs_cart_free(cart);
  vcs_tape_free(tape);
  assert_int_equal(vcs_tape_create(&console, &tape, &error), VCS_OK);
  memset(&sweep, 0, sizeof sweep);
  sweep.cart = &console;
  sweep.tape = tape;
  sweep.scale = scale;
  sweep.state = state_slots;
  sweep.rom = rom_slots;
  sweep.live = live;
  sweep.lit = lit;
  sweep.m = &contents;
  sweep.scratch = &scratch;
  sweep.latched = latched;
}

/* An address of a chip: TIA, RAM, RIOT or cartridge, at one of its mirrors. */
static uint16_t some_address(void) {
  switch (below(5)) {
    case 0:
      return (uint16_t)(below(0x40) | (below(4) ? 0 : below(0x10) << 8));
    case 1:
      return (uint16_t)(0x80 | below(0x80) | below(2) << 8 | (below(8) ? 0 : 0x2400));
    case 2:
      return (uint16_t)(0x280 | below(0x20));
    case 3: /* the ports of cartridge RAM */
      return (uint16_t)(0xF000 | below(0x100) | (below(3) ? 0 : below(16) << 8));
    default:
      return (uint16_t)(0x1000 | noise());
  }
}

static void random_tia(vcs_t *m) {
  for (size_t i = VCS_OFFSET(vsync); i < VCS_OFFSET(first_copy_off); i++) {
    uint8_t bits = track[i]->kind == BITS ? track[i]->bits : 0xFF;
    ((uint8_t *)m)[i] = noise_byte() & bits;
  }
  for (int i = 0; i < 5; i++) m->pos[i] = (uint8_t)below(160);
  m->dump = (uint8_t)below(2);
  m->vblank = (uint8_t)((m->vblank & 0x7F) | m->dump << 7);
  m->pf_mirrored = (uint8_t)below(2);
  m->collisions = (uint16_t)noise();
  for (int i = 0; i < 6; i++) m->audio[i] = noise_byte();
}

/* Some way into the lines above the picture. */
static void random_times(vcs_t *m) {
  static const uint8_t shifts[4] = {0, 3, 6, 10};
  m->cycles = 100 + below(VCS_LINE_CYCLES * ((uint32_t)console.top_line - 4));
  m->frame_clock = -3 * (int32_t)below(VCS_LINE_CYCLES);
  m->line = m->first_line = console.top_line;
  m->line_clock = 0;
  m->seen_clock = m->seen_before = VCS_LINE_CLOCKS * console.top_line;
  m->hmove_clock = -1000; /* long ago: vcs_after_hmove and the star field are stops */
  m->timer = noise_byte();
  m->timer_shift = shifts[below(4)];
  uint32_t length = (uint32_t)m->timer << m->timer_shift, ago = below(3) ? below(length + 300) : length + 8 - below(16);
  m->timer_cycle = m->cycles - ago;
  m->timer_was_read = (uint8_t)below(2);
  m->timer_read_cycle = m->timer_cycle + length + below(20);
  m->dump_cycle = (int32_t)below(m->cycles);
  for (int i = 0; i < 4; i++) { /* capacitors that charge about now */
    double needed = (double)(m->cycles - (uint32_t)m->dump_cycle + below(8));
    m->paddle[i] = (int32_t)(needed * VCS_CHARGE_OHMS / VCS_CHARGE_CYCLES) + (int32_t)below(3) - 1;
  }
}

static void random_machine(uint8_t opcode) {
  vcs_t *m = &before;
  vcs_opcode_t op = vcs_opcode(opcode);
  random_times(m);
  random_tia(m);
  for (int i = 0; i < 128; i++) m->ram[i] = below(3) ? noise_byte() : (uint8_t)(some_address() >> 8);
  for (uint32_t i = 0; i < console.ram_size; i++) m->cart_ram[i] = noise_byte();
  m->a = noise_byte(), m->x = noise_byte(), m->y = noise_byte(), m->sp = noise_byte();
  m->p = noise_byte() | VCS_FLAG_1 | VCS_FLAG_B;
  m->ddra = noise_byte(), m->swcha = noise_byte(), m->swchb = noise_byte();
  m->fire[0] = (uint8_t)below(2), m->fire[1] = (uint8_t)below(2);
  if (!below(8)) m->x = m->y = 0;

  uint16_t to = some_address();
  uint8_t low = (uint8_t)to, high = (uint8_t)(to >> 8);
  if (op.mode == VCS_MODE_ABX) to = (uint16_t)(to - m->x);
  if (op.mode == VCS_MODE_ABY || op.mode == VCS_MODE_IZY) to = (uint16_t)(to - m->y);
  if (op.mode == VCS_MODE_ABX || op.mode == VCS_MODE_ABY) low = (uint8_t)to, high = (uint8_t)(to >> 8);
  if (op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY) { /* mostly a pointer in RAM */
    uint8_t pointer = (uint8_t)(below(16) ? 0x80 + below(0x7F) : noise());
    low = (uint8_t)(pointer - (op.mode == VCS_MODE_IZX ? m->x : 0));
    m->ram[pointer & 0x7F] = (uint8_t)to;
    m->ram[(pointer + 1) & 0x7F] = (uint8_t)(to >> 8);
  }
  if (op.mode == VCS_MODE_IMM || op.mode == VCS_MODE_REL) low = noise_byte();
  uint8_t code[3] = {opcode, low, high};
  if (below(8) == 0) { /* from RAM */
    m->pc = (uint16_t)(0x80 + below(0x7E));
    memcpy(m->ram + (m->pc & 0x7F), code, 3);
  } else {
    do { /* from ROM, away from RAM and hot spots */
      m->pc = (uint16_t)(0xF000 | below(0xFFD));
    } while (console.hot_pages >> (m->pc >> 6 & 63) & 1 || console.hot_pages >> ((m->pc + 2) >> 6 & 63) & 1 ||
             (m->pc & 0x3FF) > 0x3FC);
    memcpy(image + m->bank[m->pc >> 10 & 3] + (m->pc & 0x3FF), code, 3);
  }
}

static void step(vcs_t *m) {
  vcs_video_t video;
  bool frame_over;
  vcs_video_start(&video, &console, NULL);
  vcs_cpu_step(&console, m, &video, &frame_over);
}

/* ---- The Jacobian by running ----------------------------------------------------------------------------------- */

/* An input: a slot of a byte of the state, a bit of ROM, or a step of a number. */
typedef struct {
  size_t place; /* the byte */
  int8_t slot;  /* or -1: a number */
  int8_t step;
  bool rom;
  uint8_t stops;         /* parts of the machine where a stop lets the two differ */
  uint32_t first, count; /* its entries */
} input_t;

typedef struct {
  uint32_t bit; /* an output: of the state */
  float effect; /* F(1) - F(0), or of the step */
} entry_t;

enum { INPUTS_MAX = VCS_SLOTS * (RAM_MAX + 512), ENTRIES_MAX = 8 * INPUTS_MAX };
static input_t inputs[INPUTS_MAX];
static entry_t entries[ENTRIES_MAX];
static uint32_t input_count, entry_count;

static float number_effect(const tracked_t *t, const vcs_t *is) {
  if (t->kind == POSITION) {
    int by = (((const uint8_t *)is)[t->offset] - ((const uint8_t *)&after)[t->offset] + 160) % 160;
    return (float)(by > 80 ? by - 160 : by);
  }
  uint32_t to, from;
  memcpy(&to, (const uint8_t *)is + t->offset, 4);
  memcpy(&from, (const uint8_t *)&after + t->offset, 4);
  if (t->kind == KNOB) return to > from ? 1 : -1; /* by one step, or less at the end of the track */
  return (float)(int32_t)(to - from);
}

/* Everything that differs between a machine and `after`. */
static void find_entries(input_t *input, const vcs_t *is, float sign) {
  const uint8_t *to = (const uint8_t *)is, *from = (const uint8_t *)&after;
  input->first = entry_count;
  for (size_t i = 0; i < size; i++) {
    if (i % 64 == 0 && i + 64 < size && memcmp(to + i, from + i, 64) == 0) i += 63;
    const tracked_t *t = track[i];
    if (to[i] == from[i] || !t) continue;
    assert_true(entry_count + 8 < ENTRIES_MAX);
    if (t->kind != BITS) {
      entry_t entry = {(uint32_t)(8 * t->offset), sign * number_effect(t, is)};
      entries[entry_count++] = entry;
      i = t->offset + t->count - 1;
      continue;
    }
    for (int bit = 0; bit < 8; bit++) {
      int moved = (to[i] >> bit & 1) - (from[i] >> bit & 1);
      entry_t entry = {(uint32_t)(8 * i) + (uint32_t)bit, sign * (float)moved};
      if (moved && t->bits >> bit & 1) entries[entry_count++] = entry;
    }
  }
  input->count = entry_count - input->first;
}

static vcs_address_t address_on(const vcs_t *m) {
  uint8_t opcode = vcs_code_byte(&console, m, m->pc);
  vcs_opcode_t op = vcs_opcode(opcode);
  vcs_address_t at = vcs_form_address(&console, m, op, vcs_code_byte(&console, m, (uint16_t)(m->pc + 1)),
                                      vcs_code_byte(&console, m, (uint16_t)(m->pc + 2)), m->x, m->y);
  bool pulls = opcode == 0x28 || opcode == 0x68;
  if (op.access == VCS_ACCESS_STACK) at.addr = (uint16_t)(0x100 + (uint8_t)(m->sp + pulls));
  return at;
}

static bool to_chip(uint16_t addr) { return vcs_chip_at(addr) == VCS_TO_TIA || vcs_chip_at(addr) == VCS_TO_RIOT; }

/* The byte of the state or of ROM that a read at an address finds; state bytes count from 0, ROM from sizeof(vcs_t). */
static size_t place_read(const vcs_t *m, uint16_t addr) {
  if (vcs_chip_at(addr) == VCS_TO_RAM) return VCS_OFFSET(ram) + (addr & 0x7F);
  if (vcs_chip_at(addr) != VCS_TO_CART) return SIZE_MAX;
  int32_t place = vcs_cart_read_place(&console, m, addr);
  return place < 0 ? VCS_OFFSET(cart_ram) + (size_t)~place : sizeof(vcs_t) + (size_t)place;
}

static uint8_t timer_read(const vcs_t *m, vcs_opcode_t op, vcs_address_t at) {
  static vcs_t copy;
  memcpy(&copy, m, size);
  copy.cycles += op.cycles + at.crosses;
  return vcs_riot_read(&console, &copy, at.addr);
}

/* Where `other`, run from the changed machine `m`, may differ from the derivative. */
static uint8_t stops(const vcs_t *m, const vcs_t *is, const input_t *input, vcs_address_t base, vcs_address_t at) {
  uint8_t opcode = vcs_code_byte(&console, &before, before.pc);
  vcs_opcode_t op = vcs_opcode(opcode);
  /* local.h: the program counter, and with it the cycles of a branch; which bytes of the stack a call fills */
  if (is->pc != after.pc || is->jammed != after.jammed) return EVERYTHING;
  /* local.h: the opcode */
  size_t place = input->place + (input->rom ? sizeof(vcs_t) : 0);
  if (place == place_read(&before, before.pc)) return EVERYTHING;
  if (op.access == VCS_ACCESS_BRANCH) return TIME;
  /* local.h: BRK and RTI and the status register */
  if (opcode == 0x00) return EVERYTHING;
  if (opcode == 0x40) return CPU;
  bool calls = opcode == 0x20;
  if (calls && m->sp != before.sp) return MEMORY | CHIPS | TIME;
  if (calls && (to_chip(0x100 + m->sp) || to_chip(0x100 + (uint8_t)(m->sp - 1)))) return CHIPS | TIME;
  /* instruction.c: bank switches */
  if (memcmp(is->bank, after.bank, sizeof is->bank) != 0 ||
      memcmp(is->cart_byte, after.cart_byte, sizeof is->cart_byte) != 0)
    return EVERYTHING;
  if (op.access == VCS_ACCESS_IMPLIED && !(opcode == 0x08 || opcode == 0x28 || opcode == 0x48 || opcode == 0x68))
    return 0;
  /* instruction.c: what the stack finds in the TIA: six bits of the byte that was its top */
  if (op.access == VCS_ACCESS_STACK && to_chip(base.addr) && place == place_read(&before, 0x100 + before.sp))
    return CPU;
  /* sweep.h: what the timer reads moves by more than a power of two, and is converted to bits */
  if (vcs_chip_at(base.addr) == VCS_TO_RIOT && base.addr & 4 && op.mode != VCS_MODE_IMM &&
      op.access != VCS_ACCESS_WRITE && base.addr == at.addr) {
    uint8_t was = timer_read(&before, op, base), found = timer_read(m, op, at), moved = was ^ found;
    if (moved & (moved - 1) && vcs_carry_between(was, found, 0xFF) < 0) return EVERYTHING;
  }
  /* instruction.c: pointers in the TIA's registers */
  bool indirect = op.mode == VCS_MODE_IZX || op.mode == VCS_MODE_IZY;
  if (indirect && !(vcs_pointer_in_ram(base.pointer) && vcs_pointer_in_ram(at.pointer))) return EVERYTHING;
  if (op.mode == VCS_MODE_IMM || base.addr == at.addr) return 0;
  bool stack = op.access == VCS_ACCESS_STACK || op.access == VCS_ACCESS_IMPLIED;
  bool stores = op.access == VCS_ACCESS_WRITE || op.access == VCS_ACCESS_MODIFY || (stack && !(opcode & 0x20));
  /* instruction.c: a byte with two parts in the access */
  bool operand = false, pointer = false;
  for (int i = 1; i < vcs_mode_length(op.mode); i++) operand |= place == place_read(&before, (uint16_t)(before.pc + i));
  for (int i = 0; indirect && i < 2; i++) {
    pointer |= place == place_read(&before, (uint16_t)(base.pointer + i));
    pointer |= place == place_read(&before, (uint16_t)(at.pointer + i));
  }
  bool data = place == place_read(&before, base.addr) || place == place_read(&before, at.addr);
  if (operand + pointer + data > 1) return EVERYTHING;
  uint8_t stopped = 0;
  /* instruction.c: which register of a chip a store reaches */
  if (stores && (to_chip(base.addr) || to_chip(at.addr))) stopped |= CHIPS | TIME;
  /* instruction.c: which collision register a load reaches; what the stack finds in the TIA */
  if (op.access != VCS_ACCESS_WRITE && vcs_chip_at(at.addr) == VCS_TO_TIA && ((at.addr & 15) < 8 || stack))
    return EVERYTHING;
  return stopped;
}

/* Slots of a byte: its bits, and its carries if it has some. Motion registers have four bits, and four carries. */
static unsigned slots_of(size_t place) {
  unsigned bits = track[place]->bits;
  bool motion = place - VCS_OFFSET(hm) < 5;
  return motion || vcs_has_carries(place) ? bits | bits << 8 : bits;
}

static uint8_t move_byte(size_t place, uint8_t byte, int slot) {
  return vcs_moved(byte, slot) & (place - VCS_OFFSET(hm) < 5 ? 0x0F : 0xFF);
}

static void try_input(size_t place, int slot, int by, bool rom) {
  assert_true(input_count < INPUTS_MAX);
  input_t *input = &inputs[input_count++];
  memcpy(&other, &before, size);
  uint8_t *byte = rom ? image + place : (uint8_t *)&other + place;
  uint8_t was = *byte;
  input->place = place;
  input->slot = (int8_t)slot;
  input->step = (int8_t)by;
  input->rom = rom;
  vcs_address_t base = address_on(&before);
  if (slot >= 0) {
    *byte = rom ? vcs_moved(was, slot) : move_byte(place, was, slot);
  } else if (track[place]->kind == POSITION) {
    *byte = (uint8_t)((*byte + 160 + by) % 160);
  } else if (track[place]->kind == KNOB) {
    int32_t *resistance = &other.paddle[(place - VCS_OFFSET(paddle)) / 4];
    *resistance = vcs_turned(*resistance, by > 0, by < 0);
  } else {
    uint32_t number;
    memcpy(&number, byte, 4);
    number += (uint32_t)by;
    memcpy(byte, &number, 4);
  }
  if (!rom && place == VCS_OFFSET(dump)) other.vblank ^= 0x80; /* the same bit, kept twice */
  vcs_t *changed = &scratch;
  memcpy(changed, &other, size);
  vcs_address_t at = address_on(changed);
  step(&other);
  if (rom) *byte = was;
  input->stops = stops(changed, &other, input, base, at);
  find_entries(input, &other, slot < 0 ? 1.0F : vcs_direction(was, slot));
}

/* Whether an instruction can depend on a byte of memory; independent ones are sampled. */
static bool is_near(size_t place) {
  if (track[place]->part != MEMORY || below(32) == 0) return true;
  vcs_address_t at = address_on(&before);
  const uint16_t about[] = {at.addr,
                            at.pointer,
                            (uint16_t)(at.pointer + 1),
                            before.pc,
                            (uint16_t)(before.pc + 1),
                            (uint16_t)(before.pc + 2),
                            (uint16_t)(0x100 + before.sp),
                            (uint16_t)(0x100 + (uint8_t)(before.sp + 1)),
                            (uint16_t)(0x100 + (uint8_t)(before.sp - 1))};
  for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
    if (place == place_read(&before, about[i])) return true;
  }
  int32_t written = at.addr & 0x1000 ? vcs_cart_write_place(&console, &before, at.addr) : -1;
  return written >= 0 && place == VCS_OFFSET(cart_ram) + (size_t)written;
}

static void try_rom_byte(uint16_t addr) {
  size_t place = place_read(&before, addr);
  if (place == SIZE_MAX || place < sizeof(vcs_t)) return;
  place -= sizeof(vcs_t);
  for (uint32_t i = 0; i < input_count; i++) {
    if (inputs[i].rom && inputs[i].place == place) return;
  }
  for (int bit = 0; bit < 8; bit++) try_input(place, bit, 0, true);
}

static void find_jacobian(void) {
  input_count = entry_count = 0;
  memcpy(&after, &before, size);
  step(&after);
  for (size_t i = 0; i < size; i++) {
    const tracked_t *t = track[i];
    if (!t || !is_near(i)) continue;
    if (t->kind == BITS) {
      for (unsigned slots = slots_of(i); slots; slots &= slots - 1) try_input(i, VCS_LOWEST(slots), 0, false);
    } else if (i == t->offset) {
      try_input(i, -1, 1, false);
      try_input(i, -1, -1, false);
    }
  }
  uint8_t opcode = vcs_code_byte(&console, &before, before.pc);
  for (int i = 1; i < vcs_mode_length(vcs_opcode(opcode).mode); i++) try_rom_byte((uint16_t)(before.pc + i));
  try_rom_byte(address_on(&before).addr);
  try_rom_byte((uint16_t)(0x1000 + below(0x1000)));
}

/* ---- The same by walking ----------------------------------------------------------------------------------------- */

static void record(void) {
  vcs_video_t video;
  bool frame_over;
  vcs_video_start(&video, &console, NULL);
  memcpy(&contents, &before, size);
  vcs_tape_begin(tape, &console, &before);
  assert_true(vcs_tape_step(tape, &console, &contents, &video, &frame_over));
  assert_true(vcs_tape_end(tape, &console, &contents));
  assert_memory_equal(&contents, &after, size);
}

static void walk(bool reverse, vcs_side_rule_t rule, const vcs_t *at) {
  sweep.reverse = reverse;
  sweep.rule = rule;
  sweep.have_latched = false;
  sweep.snapshot = reverse ? tape->snapshot_count - 1 : 0;
  sweep.event = reverse ? tape->event_count - 1 : 0;
  memcpy(&contents, at, size);
  vcs_sweep_row(&sweep, 0);
}

static float *slot_of(const input_t *input) {
  int slot = input->slot < 0 ? 0 : input->slot;
  return input->rom ? &rom_slots[8 * input->place + (size_t)slot] : &vcs_slots(&sweep, input->place)[slot];
}

/* An output bit is seen in its own slot and in those of the carries that move it. */
static void link_output(uint32_t bit, float *value) {
  size_t place = bit / 8;
  float *slots = vcs_slots(&sweep, place);
  vcs_link(&sweep, &slots[bit % 8], value, 1);
  uint8_t byte = ((uint8_t *)&after)[place];
  for (unsigned carries = slots_of(place) & 0xFF00; carries; carries &= carries - 1) {
    int slot = VCS_LOWEST(carries);
    if ((byte ^ move_byte(place, byte, slot)) >> bit % 8 & 1)
      vcs_link(&sweep, &slots[slot], value, vcs_direction(byte, slot) * vcs_sign(byte, (int)(bit % 8)));
  }
}

static int wrong;

static void report(const input_t *input, uint32_t bit, float truth, float derivative, const char *direction) {
  const vcs_row_t *row = &tape->rows[0];
  vcs_opcode_t op = vcs_opcode(row->opcode);
  if (wrong++ < 40)
    print_error("%02X %s mode %d at $%04X, pc %04X: d %s+%u.%d / d %s%zu.%d: truth %g, %s %g\n", row->opcode, op.name,
                op.mode, row->addr, row->pc, name_of(bit / 8), bit / 8, (int)(bit % 8),
                input->rom ? "rom " : name_of(input->place), input->place, input->slot < 0 ? input->step : input->slot,
                (double)truth, direction, (double)derivative);
}

static bool stopped(const input_t *input, uint32_t bit) {
  /* chips.c: whether a write to VBLANK is the one that lets the capacitors charge */
  if (bit == 8 * VCS_OFFSET(dump_cycle) && input->slot >= 0) return true;
  return input->stops & track[bit / 8]->part;
}

static void clear_slots(void) {
  memset(state_slots, 0, VCS_SLOTS * size * sizeof *state_slots);
  memset(live, 0, size);
}

static void check_forward(const input_t *input) {
  static float truth[8 * sizeof(vcs_t)];
  clear_slots();
  float *in = slot_of(input);
  *in = input->slot < 0 ? input->step : 1.0F;
  if (!input->rom) live[input->place] = 1;
  walk(false, VCS_SIDE_TANGENT, &before);
  if (input->rom) *in = 0;
  for (uint32_t i = 0; i < input->count; i++) truth[entries[input->first + i].bit] = entries[input->first + i].effect;
  static const float nothing[VCS_SLOTS];
  for (size_t i = 0; i < size; i++) {
    if (memcmp(vcs_slots(&sweep, i), nothing, sizeof nothing) == 0 && memcmp(&truth[8 * i], nothing, 32) == 0) continue;
    for (uint32_t bit = (uint32_t)(8 * i); track[i] && bit < 8 * i + 8; bit++) {
      if (track[i]->kind == BITS ? !(track[i]->bits >> bit % 8 & 1) : bit != 8 * track[i]->offset) continue;
      float derivative = 0;
      link_output(bit, &derivative);
      if (derivative != truth[bit] && !stopped(input, bit)) report(input, bit, truth[bit], derivative, "forwards");
    }
  }
  for (uint32_t i = 0; i < input->count; i++) truth[entries[input->first + i].bit] = 0;
}

static void check_backward(uint32_t bit) {
  vcs_side_rule_t rule = below(2) ? VCS_SIDE_MORE : VCS_SIDE_LESS;
  float adjoint = 1;
  clear_slots();
  sweep.reverse = true;
  link_output(bit, &adjoint);
  live[bit / 8] = 1;
  walk(true, rule, &after);
  for (uint32_t i = 0; i < input_count; i++) {
    const input_t *input = &inputs[i];
    if (stopped(input, bit) || (input->slot < 0 && input->step != (rule == VCS_SIDE_MORE ? 1 : -1))) continue;
    float truth = 0, derivative = *slot_of(input);
    for (uint32_t e = input->first; e < input->first + input->count; e++) {
      if (entries[e].bit == bit) truth = entries[e].effect;
    }
    if (input->slot < 0) truth *= input->step;
    if (derivative != truth) report(input, bit, truth, derivative, "backwards");
  }
  for (uint32_t i = 0; i < input_count; i++) {
    if (inputs[i].rom) *slot_of(&inputs[i]) = 0;
  }
  size_t read = place_read(&before, tape->rows[0].addr);
  if (read != SIZE_MAX && read >= sizeof(vcs_t)) memset(&rom_slots[8 * (read - sizeof(vcs_t))], 0, 8 * sizeof(float));
}

/* An input that does more, or less, than stay what it is. */
static bool does_something(const input_t *input) {
  if (input->rom || input->count == 0) return true;
  for (uint32_t e = input->first; e < input->first + input->count; e++) {
    if (entries[e].bit / 8 != input->place) return true;
  }
  return false;
}

static bool base_stops(void) { /* instruction.c: bank switches */
  return memcmp(before.bank, after.bank, sizeof before.bank) != 0 ||
         memcmp(before.cart_byte, after.cart_byte, sizeof before.cart_byte) != 0;
}

static void each_opcode(int machines, void (*check)(void)) {
  wrong = 0;
  for (unsigned board = 0; board < BOARDS; board++) {
    random_state = 0x11EA2 + board;
    plug_in(board);
    for (int opcode = 0; opcode < 256; opcode++) {
      for (int i = 0; i < machines; i++) {
        random_machine((uint8_t)opcode);
        find_jacobian();
        if (base_stops()) {
          vcs_boot(&console, &before, NULL);
          continue;
        }
        record();
        check();
      }
    }
  }
  assert_int_equal(wrong, 0);
}

static void check_rows(void) {
  for (uint32_t i = 0; i < input_count; i++) {
    if (does_something(&inputs[i]) || below(64) == 0) check_forward(&inputs[i]);
  }
}

static void check_columns(void) {
  static uint8_t seen[8 * sizeof(vcs_t)];
  uint32_t columns[64], count = 0;
  for (uint32_t i = 0; i < input_count; i++) {
    if (!does_something(&inputs[i]) && below(512)) continue;
    for (uint32_t e = inputs[i].first; e < inputs[i].first + inputs[i].count && count < 64; e++) {
      if (!seen[entries[e].bit]) columns[count++] = entries[e].bit;
      seen[entries[e].bit] = 1;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    check_backward(columns[i]);
    seen[columns[i]] = 0;
  }
}

/* What is in RAM after the row, walked forwards, and before it, walked backwards. */
static void check_contents(void) {
  clear_slots();
  walk(false, VCS_SIDE_TANGENT, &before);
  assert_memory_equal(contents.ram, after.ram, sizeof after.ram);
  assert_memory_equal(contents.cart_ram, after.cart_ram, console.ram_size);
  walk(true, VCS_SIDE_MORE, &after);
  assert_memory_equal(contents.ram, before.ram, sizeof before.ram);
  assert_memory_equal(contents.cart_ram, before.cart_ram, console.ram_size);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* Of every opcode and board. */
static int machines(void) { return trials(5, 1); }

static void test_a_tangent_on_any_input_gives_what_flipping_it_gives(void **state) {
  (void)state;
  each_opcode(machines(), check_rows);
}

static void test_an_adjoint_on_any_output_gives_what_flipping_every_input_gives(void **state) {
  (void)state;
  each_opcode(machines(), check_columns);
}

static void test_contents_follow_the_walk(void **state) {
  (void)state;
  each_opcode(machines(), check_contents);
}

/* A store to cartridge RAM whose last byte is on a hot spot: the row is opaque (tape.h). */
static void test_contents_follow_a_store_that_switches_banks(void **state) {
  (void)state;
  enum { STA_ABSOLUTE = 0x8D, BANKS = 2, BANK_SIZE = 4096, HOT_SPOT_0 = 0xFFF8, HOT_SPOT_1 = 0xFFF9 };
  random_state = 9;
  plug_in(F8SC);
  for (unsigned place = 0; place < console.ram_size; place += 7) {
    random_machine(STA_ABSOLUTE);
    vcs_cart_read(&console, &before, HOT_SPOT_1);
    before.pc = HOT_SPOT_0 - 2;
    before.a = (uint8_t)~before.cart_ram[place];
    const uint8_t code[3] = {STA_ABSOLUTE, (uint8_t)place, 0xF0};
    for (int bank = 0; bank < BANKS; bank++) memcpy(image + BANK_SIZE * bank + (before.pc & 0xFFF), code, sizeof code);
    memcpy(&after, &before, size);
    step(&after);
    assert_int_equal(after.cart_ram[place], before.a);
    assert_int_not_equal(after.bank[0], before.bank[0]);
    record();
    assert_int_equal(tape->rows[0].opcode, VCS_OPAQUE);
    check_contents();
  }
}

/* vcs_uses promises two things about vcs_local: bits that it does not list as written stay, and bits that it does not
 * list as read change none of those that are. */
static void test_nothing_outside_writes_changes(void **state) {
  (void)state;
  random_state = 7;
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    for (int i = 0; i < trials(2000, 200); i++) {
      uint64_t word = ((uint64_t)noise() << 16 ^ noise()) & 0xFFFFFFFFFFFFULL;
      word |= VCS_P(VCS_FLAG_1 | VCS_FLAG_B);
      uint64_t result = vcs_local((uint8_t)opcode, (uint16_t)noise(), word);
      assert_int_equal((result ^ word) & ~vcs_uses(opcode).writes, 0);
    }
  }
}

static void test_nothing_outside_reads_moves_what_is_written(void **state) {
  (void)state;
  random_state = 8;
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    for (int i = 0; i < trials(300, 30); i++) {
      uint64_t word = ((uint64_t)noise() << 16 ^ noise()) & 0xFFFFFFFFFFFFULL;
      word |= VCS_P(VCS_FLAG_1 | VCS_FLAG_B);
      uint16_t addr = (uint16_t)noise();
      vcs_uses_t uses = vcs_uses(opcode);
      uint64_t result = vcs_local((uint8_t)opcode, addr, word);
      for (int bit = 0; bit < 48; bit++) {
        if (uses.reads >> bit & 1) continue;
        uint64_t moved = vcs_local((uint8_t)opcode, addr, word ^ 1ULL << bit) ^ result;
        uint64_t itself = uses.writes & 1ULL << bit & ~uses.reads; /* a bit that is set without being looked at */
        assert_int_equal(moved & uses.writes & ~itself, 0);
      }
    }
  }
}

static int tear_down(void **state) {
  (void)state;
  vcs_tape_free(tape);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_outside_writes_changes),
      cmocka_unit_test(test_nothing_outside_reads_moves_what_is_written),
      cmocka_unit_test(test_contents_follow_the_walk),
      cmocka_unit_test(test_contents_follow_a_store_that_switches_banks),
      cmocka_unit_test(test_a_tangent_on_any_input_gives_what_flipping_it_gives),
      cmocka_unit_test(test_an_adjoint_on_any_output_gives_what_flipping_every_input_gives),
  };
  return cmocka_run_group_tests(tests, make_track, tear_down);
}
