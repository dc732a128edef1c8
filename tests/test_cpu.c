/* test_cpu.c: the 6507, against a second model of it and against spelled-out cases.
 *
 * The first part runs every opcode byte from thousands of random states on the machine, both by itself (vcs_step)
 * and in the loop that runs frames, and on the oracle (oracle_6502.h), and compares registers, flags, cycles, the bus,
 * RAM, writes to chips, and, if no chip was accessed, every other byte of the machine. The second part is
 * decimal arithmetic, all of it. The third spells out the rules that people get wrong, with the numbers written here.
 *
 * Built with -DVCS_MUTANTS (mutate_cpu.sh does, against core headers with a hook in them) the program has another main:
 * it makes every opcode wrong in its cycles and in each of its flags, one at a time, and counts how many of those
 * mutants the first part notices.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "core/decode.h"
#include "noise.h"
#include "oracle/oracle_6502.h"

/* ---- A machine with a program ------------------------------------------------------------------------------- */

static vcs_code_t code_of_rom[ROM_SIZE]; /* only what a test decodes; the rest are steps */
static vcs_cart_t cart;                  /* as loaded, but its image is `rom`, which tests write */
static vcs_t m, fresh;
static size_t state_size;
static vcs_step_t last;

static int plug_in_steps(void **state) {
  if (plug_in(state)) return -1;
  cart = *loaded;
  cart.rom = rom;
  cart.code = code_of_rom;
  for (int i = 0; i < ROM_SIZE; i++) code_of_rom[i].row = VCS_ROW_STEP;
  state_size = vcs_state_size(&cart);
  vcs_boot(&cart, &fresh, NULL);
  return 0;
}

/* A machine just after reset, with these bytes at `pc` (in the cartridge) about to be executed. */
static void program(uint16_t pc, int count, ...) {
  va_list bytes;
  memcpy(&m, &fresh, state_size);
  m.pc = pc;
  m.cycles = 1000;
  va_start(bytes, count);
  for (int i = 0; i < count; i++) rom[(pc + i) & 0xFFF] = (uint8_t)va_arg(bytes, int);
  va_end(bytes);
}

/* One instruction; the cycles it took. */
static uint32_t step(void) {
  vcs_step(&cart, &m, NULL, &last);
  return last.cycles;
}

/* ---- Every opcode against the oracle ------------------------------------------------------------------------ */

/* A byte; every other time one from the edges. */
static uint8_t edgy(void) {
  static const uint8_t edges[8] = {0x00, 0x01, 0x7F, 0x80, 0xFF, 0xFE, 0x99, 0x10};
  uint32_t r = noise();
  return r & 0x100 ? (uint8_t)r : edges[r & 7];
}

/* Puts an instruction and random everything else into the machine, and the same into the oracle. */
static void random_trial(uint8_t code, oracle_t *o) {
  memcpy(&m, &fresh, state_size);
  for (int i = 0; i < 128; i++) m.ram[i] = edgy();
  uint32_t where = noise();
  m.pc = where & 7 ? (uint16_t)((where >> 8 & 0xEFFF) | 0x1000) : (uint16_t)(0x80 + (where >> 8 & 0x17F));
  if (where >> 4 & 1) m.pc |= 0x00F8; /* near the end of a page */
  if (!(m.pc & 0x1000)) m.pc = (uint16_t)((m.pc & 0x17F) | 0x80);
  for (int i = 0; i < 3; i++) {
    uint16_t addr = (uint16_t)(m.pc + i);
    uint8_t byte = i ? edgy() : code;
    if (addr & 0x1000) {
      rom[addr & 0xFFF] = byte;
    } else if (addr & 0x80) {
      m.ram[addr & 0x7F] = byte;
    }
  }
  m.a = edgy();
  m.x = edgy();
  m.y = edgy();
  m.sp = edgy();
  m.p = edgy() | 0x30;
  m.bus = edgy();
  m.cycles = noise() % 20000;
  m.ddra = edgy();
  m.timer = ORACLE_INTIM + 1;
  m.timer_shift = 10;
  m.timer_cycle = m.cycles;

  memset(o, 0, sizeof *o);
  o->a = m.a;
  o->x = m.x;
  o->y = m.y;
  o->sp = m.sp;
  oracle_set_p(o, m.p);
  o->pc = m.pc;
  o->cycles = m.cycles;
  memcpy(o->ram, m.ram, 128);
  o->rom = rom;
  o->switches = m.swchb;
  o->ddra = m.ddra;
  o->bus = m.bus;
}

/* What a plain TIA register holds after a write, and where; false for strobes. */
static bool tia_holds(unsigned r, uint8_t value, uint8_t *expected, uint8_t *held) {
  static const struct {
    uint8_t first, last, mask, shift;
    uint16_t offset;
  } plain[] = {{0, 0, 0xFF, 0, offsetof(vcs_t, vsync)},    {1, 1, 0xFF, 0, offsetof(vcs_t, vblank)},
               {4, 5, 0xFF, 0, offsetof(vcs_t, nusiz)},    {6, 7, 0xFE, 0, offsetof(vcs_t, colu) + 2},
               {8, 8, 0xFE, 0, offsetof(vcs_t, colu) + 1}, {9, 9, 0xFE, 0, offsetof(vcs_t, colu)},
               {10, 10, 0xFF, 0, offsetof(vcs_t, ctrlpf)}, {11, 12, 0x08, 0, offsetof(vcs_t, reflect)},
               {13, 15, 0xFF, 0, offsetof(vcs_t, pf)},     {21, 26, 0xFF, 0, offsetof(vcs_t, audio)},
               {27, 28, 0xFF, 0, offsetof(vcs_t, grp)},    {29, 30, 0x02, 0, offsetof(vcs_t, enam)},
               {31, 31, 0x02, 0, offsetof(vcs_t, enabl)},  {32, 36, 0xFF, 4, offsetof(vcs_t, hm)},
               {37, 38, 0x01, 0, offsetof(vcs_t, vdelp)},  {39, 39, 0x01, 0, offsetof(vcs_t, vdelbl)},
               {40, 41, 0x02, 0, offsetof(vcs_t, resmp)}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (r < plain[i].first || r > plain[i].last) continue;
    *expected = (uint8_t)((value & plain[i].mask) >> plain[i].shift);
    *held = ((const uint8_t *)&m)[plain[i].offset + r - plain[i].first];
    return true;
  }
  return false;
}

/* Whether the chips hold what the oracle wrote to them. */
static bool chips_hold_writes(const oracle_t *o) {
  for (int i = 0; i < o->writes; i++) {
    uint16_t addr = o->write_addr[i];
    uint8_t value = o->write_value[i], expected = 0, held = 0;
    if (addr & 0x1000 || (addr & 0x280) == 0x80) continue;
    if (!(addr & 0x80)) {
      if (tia_holds(addr & 63, value, &expected, &held) && expected != held) return false;
    } else if ((addr & 7) == 0) {
      if (m.port_a_out != (value & o->ddra)) return false;
    } else if ((addr & 7) == 1) {
      if (m.ddra != value) return false;
    } else if (addr & 4 && addr & 16) {
      static const uint8_t shifts[4] = {0, 3, 6, 10};
      if (m.timer != value || m.timer_shift != shifts[addr & 3] || m.timer_cycle != o->cycles) return false;
    }
  }
  return true;
}

/* Returns the name of a part that differs from the oracle's, or NULL. `after`: the oracle after the instruction. */
static const char *difference(const oracle_t *o, const oracle_t *after, vcs_t *before) {
  if (m.pc != o->pc) return "PC";
  if (m.cycles != o->cycles) return "cycles";
  if (m.a != o->a) return "A";
  if (m.x != o->x) return "X";
  if (m.y != o->y) return "Y";
  if (m.sp != o->sp) return "SP";
  if (m.p != oracle_p(o)) return "P";
  if (m.jammed != o->jammed) return "jam";
  if (m.bus != o->bus) return "bus";
  if (memcmp(m.ram, o->ram, 128) != 0) return "RAM";
  if (!chips_hold_writes(after)) return "chip registers";
  if (after->chips) return NULL;
  before->pc = m.pc, before->cycles = m.cycles; /* nothing else may have moved */
  before->a = m.a, before->x = m.x, before->y = m.y, before->sp = m.sp, before->p = m.p;
  before->bus = m.bus, before->jammed = m.jammed;
  memcpy(before->ram, m.ram, 128);
  return memcmp(before, &m, state_size) != 0 ? "something else" : NULL;
}

static const char *compare_step(uint8_t code) {
  static vcs_t before;
  oracle_t o;
  random_trial(code, &o);
  memcpy(&before, &m, state_size);
  step();
  oracle_step(&o);
  if (last.opcode != code || last.pc_before != before.pc || last.frame_over || last.jammed != o.jammed) return "step";
  if (last.pc != o.pc || last.a != o.a || last.x != o.x || last.y != o.y || last.sp != o.sp) return "step's registers";
  if (last.p != oracle_p(&o) || last.cycles != o.cycles - before.cycles) return "step's flags and cycles";
  before.instructions++;
  return difference(&o, &o, &before);
}

/* The same in the loop that runs whole frames, on decoded instructions: the instruction, and then a jam. */
static const char *compare_frame(uint8_t code) {
  static vcs_t before;
  oracle_t o, once;
  random_trial(code, &o);
  once = o;
  oracle_step(&once);
  if (once.jammed || !(once.pc & 0x1000)) return NULL;
  uint16_t after = once.pc;
  rom[after & 0xFFF] = 0x02;
  once = o;
  if (oracle_step(&once) != code || once.pc != after) return NULL; /* the jam got into the instruction */
  o = once;
  oracle_step(&o);
  m.partial = 1; /* go on with a frame: time does not restart */
  memcpy(&before, &m, state_size);
  vcs_code_t *decoded = &code_of_rom[m.pc & 0xFFF];
  *decoded = vcs_decode(&cart, m.pc & 0xFFF);
  vcs_frame(&cart, &m, NULL);
  decoded->row = VCS_ROW_STEP;
  before.instructions += 2;
  before.greyed = 1;
  return difference(&o, &once, &before);
}

/* Where an opcode first disagrees with the oracle, as text, or NULL. */
static const char *disagreement(uint8_t code, int trials) {
  static char text[200];
  random_state = code;
  for (int i = 0; i < 4096; i++) rom[i] = edgy();
  for (int t = 0; t < trials; t++) {
    const char *what = t & 1 ? compare_frame(code) : compare_step(code);
    if (what) {
      snprintf(text, sizeof text, "$%02X %.4s, trial %d: %s (A=%02X X=%02X Y=%02X SP=%02X P=%02X PC=%04X)", code,
               oracle_matrix[code / 16] + code % 16 * 5, t, what, m.a, m.x, m.y, m.sp, m.p, m.pc);
      return text;
    }
  }
  return NULL;
}

enum { TRIALS = 4000 };

#ifdef VCS_MUTANTS

/* ---- Mutants ------------------------------------------------------------------------------------------------ */

/* Read by the hook: the opcode that is wrong, and how. */
int vcs_mutant_code = -1, vcs_mutant_what;

/* The flags an instruction sets, from the programmer's manual. */
static const char *flags_of(const char *name) {
  static const struct {
    const char *names, *flags;
  } table[] = {{"ADC SBC RRA ISB ARR", "NVZC"},
               {"CMP CPX CPY DCP SBX ASL LSR ROL ROR SLO RLA SRE ANC ASR", "NZC"},
               {"LDA LDX LDY LAX AND ORA EOR INC DEC INX INY DEX DEY TAX TAY TXA TYA TSX PLA LXA ANE LAS", "NZ"},
               {"BIT", "NVZ"},
               {"PLP RTI", "NVDIZC"},
               {"CLC SEC", "C"},
               {"CLI SEI BRK", "I"},
               {"CLD SED", "D"},
               {"CLV", "V"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (oracle_is(name, table[i].names)) return table[i].flags;
  }
  return "";
}

/* With an argument: only whether the machine, as it was built, agrees with the oracle. */
int main(int argc, char **argv) {
  int mutants = 0, killed = 0;
  (void)argv;
  if (plug_in_steps(NULL)) return 2;
  for (int code = 0; code < 256; code++) {
    const char *survivor = disagreement((uint8_t)code, TRIALS);
    if (survivor) {
      printf("not a mutant, and yet: %s\n", survivor);
      return 2;
    }
  }
  if (argc > 1) return 0;
  for (int code = 0; code < 256; code++) {
    const char *name = oracle_matrix[code / 16] + code % 16 * 5;
    /* a cycle more, a cycle less; a flag that should be set is left alone, one that should be left alone is cleared */
    char what[] = "+-nvdizcNVDIZC";
    for (char *w = what; *w; w++) {
      if (strchr("nvdizc", *w) && !strchr(flags_of(name), *w - 32)) continue;
      if (strchr("NVDIZC", *w) && strchr(flags_of(name), *w)) continue;
      vcs_mutant_code = code;
      vcs_mutant_what = *w;
      mutants++;
      if (disagreement((uint8_t)code, TRIALS)) {
        killed++;
      } else {
        printf("survived: $%02X %.4s with '%c'\n", code, name, *w);
      }
      vcs_mutant_code = -1;
    }
  }
  printf("%d mutants, %d killed\n", mutants, killed);
  unplug(NULL);
  return mutants == killed ? 0 : 1;
}

#else

static void test_cpu_every_opcode_agrees_with_the_oracle(void **state) {
  (void)state;
  for (int code = 0; code < 256; code++) {
    const char *where = disagreement((uint8_t)code, TRIALS);
    if (where) fail_msg("%s", where);
  }
}

/* Runs through random code, the machine and the oracle side by side, until a jam or a write to a chip. */
static void test_cpu_random_programs_agree_with_the_oracle(void **state) {
  (void)state;
  uint64_t instructions = 0;
  for (int run = 0; run < 600; run++) {
    oracle_t o;
    random_state = 1000 + (uint64_t)run;
    for (int i = 0; i < 4096; i++) {
      rom[i] = (uint8_t)noise();
      if ((rom[i] & 0x0F) == 2) rom[i] = 0xA0; /* few jams */
    }
    random_trial(rom[0], &o);
    memset(m.ram, 0x1F, 128); /* pointers and return addresses point into the cartridge */
    memcpy(o.ram, m.ram, 128);
    for (int i = 0; i < 500; i++) {
      step();
      oracle_step(&o);
      instructions++;
      if (m.pc != o.pc || m.a != o.a || m.x != o.x || m.y != o.y || m.sp != o.sp || m.p != oracle_p(&o) ||
          m.cycles != o.cycles || m.bus != o.bus || memcmp(m.ram, o.ram, 128) != 0) {
        fail_msg("run %d, instruction %d: opcode $%02X", run, i, last.opcode);
      }
      bool wrote_chip = false; /* so that a chip may show what the oracle does not model */
      for (int w = 0; w < o.writes; w++) wrote_chip |= !(o.write_addr[w] & 0x1000) && (o.write_addr[w] & 0x280) != 0x80;
      if (o.jammed || wrote_chip || m.cycles - m.timer_cycle > 1000) break;
    }
  }
  assert_true(instructions > 6000);
}

/* ---- Decimal arithmetic, exhaustively ----------------------------------------------------------------------- */

/* One accumulator operation for all A, operands and carries, in binary and in decimal. */
static void check_all(uint8_t code, int a_step) {
  static oracle_t o;
  bool in_memory = code != 0x69 && code != 0xE9 && code != 0x6B && code != 0xEB;
  program(0xF000, 2, code, 0x80);
  vcs_t *start = malloc(sizeof m);
  assert_non_null(start);
  memcpy(start, &m, state_size);
  for (int d = 0; d < 2; d++) {
    for (int a = 0; a < 256; a += a_step) {
      for (int b = 0; b < 256; b++) {
        for (int c = 0; c < 2; c++) {
          m.pc = 0xF000;
          m.a = (uint8_t)a;
          m.p = (uint8_t)(0x30 | d << 3 | c | (noise() & 0xC2));
          m.ram[0] = (uint8_t)b;
          if (!in_memory) rom[1] = (uint8_t)b;
          o.a = m.a;
          oracle_set_p(&o, m.p);
          o.ram[0] = m.ram[0];
          o.rom = rom;
          o.pc = m.pc;
          step();
          oracle_step(&o);
          if (m.a != o.a || m.p != oracle_p(&o) || m.ram[0] != o.ram[0]) {
            free(start);
            fail_msg("$%02X: A=%02X operand=%02X carry=%d decimal=%d gives A=%02X P=%02X, not A=%02X P=%02X", code, a,
                     b, c, d, m.a, m.p, o.a, oracle_p(&o));
          }
        }
      }
    }
  }
  free(start);
}

static void test_cpu_adc_is_right_for_all_operands_binary_and_decimal(void **state) {
  (void)state;
  check_all(0x69, 1);
}
static void test_cpu_sbc_is_right_for_all_operands_binary_and_decimal(void **state) {
  (void)state;
  check_all(0xE9, 1);
}
static void test_cpu_usbc_is_sbc(void **state) {
  (void)state;
  check_all(0xEB, 1);
}
static void test_cpu_arr_is_right_for_all_operands_binary_and_decimal(void **state) {
  (void)state;
  check_all(0x6B, 1);
}
static void test_cpu_rra_adds_the_rotated_byte_in_decimal(void **state) {
  (void)state;
  check_all(0x67, 3);
}
static void test_cpu_isb_subtracts_the_incremented_byte_in_decimal(void **state) {
  (void)state;
  check_all(0xE7, 3);
}

static void decimal(uint8_t code, uint8_t a, uint8_t b, int carry, uint8_t result, uint8_t p) {
  program(0xF000, 2, code, b);
  m.a = a;
  m.p = (uint8_t)(0x38 | carry);
  step();
  assert_int_equal(m.a, result);
  assert_int_equal(m.p, 0x38 | p);
}

static void test_cpu_decimal_sums_spelled_out(void **state) {
  (void)state;
  enum { C = 1, Z = 2, V = 64, N = 128 };
  decimal(0x69, 0x19, 0x28, 0, 0x47, 0);
  decimal(0x69, 0x58, 0x46, 1, 0x05, C);
  decimal(0x69, 0x99, 0x01, 0, 0x00, C | Z); /* N and Z come from the decimal result */
  decimal(0x69, 0x50, 0x50, 0, 0x00, C | Z);
  decimal(0x69, 0x40, 0x40, 0, 0x80, N | V);
  decimal(0x69, 0xFF, 0xFF, 1, 0x75, C | V); /* 165 + 165 + 1 = 331; the byte is 75 */
  decimal(0x69, 0x0A, 0x00, 0, 0x10, 0);
  decimal(0xE9, 0x46, 0x12, 1, 0x34, C);
  decimal(0xE9, 0x12, 0x21, 1, 0x91, N | V); /* 12 - 21 = -9 borrows; the sign is not that of either */
  decimal(0xE9, 0x40, 0x13, 0, 0x26, C);
  decimal(0xE9, 0x00, 0x00, 0, 0x99, N | V);
  decimal(0xE9, 0x00, 0xFF, 0, 0x7C, 0); /* -166 + 100 = -66: byte 190 ($BE) read as a number, 11 * 10 + 14 */
}

/* ---- Rules spelled out -------------------------------------------------------------------------------------- */

static void test_cpu_reset_loads_the_vector_and_clears_registers(void **state) {
  (void)state;
  program(0xF000, 1, 0xEA);
  rom[0xFFC] = 0x34;
  rom[0xFFD] = 0xF2;
  m.a = m.x = m.y = m.sp = 0x55;
  m.p = 0xFF;
  vcs_reset(&cart, &m, NULL);
  assert_int_equal(m.pc, 0xF234);
  assert_int_equal(m.a | m.x | m.y, 0);
  assert_int_equal(m.sp, 0xFF);
  assert_int_equal(m.p, 0x30);
  assert_int_equal(m.cycles, 0);
}

/* An indexed instruction without and with a page crossing: cycles taken. */
static void check_crossing(uint8_t code, int bytes, int near, int far) {
  for (int crosses = 0; crosses < 2; crosses++) {
    uint8_t low = crosses ? 0xC1 : 0xC0; /* $F1C0 + $3F is on the page, $F1C1 + $3F is not */
    if (bytes == 3) {
      program(0xF000, 3, code, low, 0xF1);
    } else {
      program(0xF000, 2, code, 0x90);
      m.ram[0x10] = low;
      m.ram[0x11] = 0xF1;
    }
    m.x = m.y = 0x3F;
    assert_int_equal(step(), crosses ? far : near);
  }
}

static void test_cpu_reads_pay_a_cycle_for_crossing_a_page(void **state) {
  (void)state;
  static const uint8_t abx[] = {0xBD, 0xBC, 0x1D, 0x3D, 0x5D, 0x7D, 0xDD, 0xFD, 0x1C, 0x3C, 0x5C, 0x7C, 0xDC, 0xFC};
  static const uint8_t aby[] = {0xB9, 0xBE, 0x19, 0x39, 0x59, 0x79, 0xD9, 0xF9, 0xBB, 0xBF};
  static const uint8_t izy[] = {0xB1, 0x11, 0x31, 0x51, 0x71, 0xD1, 0xF1, 0xB3};
  for (size_t i = 0; i < sizeof abx; i++) check_crossing(abx[i], 3, 4, 5);
  for (size_t i = 0; i < sizeof aby; i++) check_crossing(aby[i], 3, 4, 5);
  for (size_t i = 0; i < sizeof izy; i++) check_crossing(izy[i], 2, 5, 6);
}

static void test_cpu_stores_always_pay_for_crossing_a_page(void **state) {
  (void)state;
  static const uint8_t absolute[] = {0x9D, 0x99, 0x9B, 0x9C, 0x9E, 0x9F};
  for (size_t i = 0; i < sizeof absolute; i++) check_crossing(absolute[i], 3, 5, 5);
  check_crossing(0x91, 2, 6, 6);
  check_crossing(0x93, 2, 6, 6);
}

static void test_cpu_modifying_takes_the_same_time_on_either_side_of_a_page(void **state) {
  (void)state;
  static const uint8_t absolute[] = {0x1E, 0x3E, 0x5E, 0x7E, 0xDE, 0xFE, 0x1F, 0x3F, 0x5F,
                                     0x7F, 0xDF, 0xFF, 0x1B, 0x3B, 0x5B, 0x7B, 0xDB, 0xFB};
  static const uint8_t indirect[] = {0x13, 0x33, 0x53, 0x73, 0xD3, 0xF3};
  for (size_t i = 0; i < sizeof absolute; i++) check_crossing(absolute[i], 3, 7, 7);
  for (size_t i = 0; i < sizeof indirect; i++) check_crossing(indirect[i], 2, 8, 8);
}

static void test_cpu_the_crossing_is_paid_before_the_operand_is_read(void **state) {
  (void)state;
  program(0xF000, 3, 0xBD, 0x85, 0x02); /* LDA $0285,X: $0284 is INTIM */
  m.timer = 100;
  m.timer_shift = 0;
  m.timer_cycle = m.cycles;
  m.x = 0xFF; /* $0285 + $FF = $0384: INTIM again, a page later */
  assert_int_equal(step(), 5);
  assert_int_equal(m.a, 100 - (5 - 1) - 1);
}

static void test_cpu_zero_page_indexing_wraps(void **state) {
  (void)state;
  program(0xF000, 2, 0xB5, 0xF0); /* LDA $F0,X */
  m.x = 0x95;
  m.ram[5] = 0x42; /* $F0 + $95 = $185, wrapped to $85 */
  assert_int_equal(step(), 4);
  assert_int_equal(m.a, 0x42);
}

/* To the chips $0110 is $0010; a 3F cartridge sees the difference: it answers and listens below $40 only. */
static void test_cpu_zero_page_indexing_wraps_for_a_cartridge_that_looks(void **state) {
  (void)state;
  uint8_t image[8192];
  vcs_error_t error;
  vcs_cart_t *three_f;
  vcs_cart_options_t options = {.profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_3F, .format = VCS_FORMAT_NTSC};
  static const uint8_t code[] = {0x95, 0xF0, 0x96, 0xF0, 0xB5, 0xF0, 0xB6, 0xF0, 0xA1, 0xF0};
  memset(image, 0x5A, sizeof image);
  memcpy(image + 6144, code, sizeof code); /* the last 2 KiB are always at $F800 */
  image[4096 + 0x10] = 0x34;               /* bank 2 */
  image[4096 + 0x11] = 0xF9;
  image[6144 + 0x134] = 0xA7;
  image[8190] = image[8188] = 0x00;
  image[8191] = image[8189] = 0xF8;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &three_f, &error), VCS_OK);
  vcs_boot(three_f, &m, NULL);
  m.a = 1;
  m.x = 0x4F;
  vcs_step(three_f, &m, NULL, &last); /* STA $F0,X is STA $3F */
  assert_int_equal(m.bank[0], 2048);
  m.x = 2;
  m.y = 0x4F;
  vcs_step(three_f, &m, NULL, &last); /* STX $F0,Y */
  assert_int_equal(m.bank[0], 4096);
  m.x = m.y = 0x20;
  vcs_step(three_f, &m, NULL, &last); /* LDA $F0,X is LDA $10 */
  assert_int_equal(m.a, 0x34);
  m.x = 0x20;
  vcs_step(three_f, &m, NULL, &last); /* LDX $F0,Y */
  assert_int_equal(m.x, 0x34);
  m.x = 0x20;
  vcs_step(three_f, &m, NULL, &last); /* LDA ($F0,X): the pointer is at $10 */
  assert_int_equal(m.a, 0xA7);
  vcs_cart_free(three_f);
}

static void test_cpu_absolute_indexing_wraps_at_64k(void **state) {
  (void)state;
  program(0xF000, 3, 0xBD, 0xF0, 0xFF); /* LDA $FFF0,X */
  m.x = 0x95;
  m.ram[5] = 0x24; /* $FFF0 + $95 = $0085 */
  assert_int_equal(step(), 5);
  assert_int_equal(m.a, 0x24);
}

static void test_cpu_branches_take_2_3_or_4_cycles(void **state) {
  (void)state;
  static const struct {
    uint8_t code, taken, not_taken;
  } branches[8] = {{0x10, 0x00, 0x80}, {0x30, 0x80, 0x00}, {0x50, 0x00, 0x40}, {0x70, 0x40, 0x00},
                   {0x90, 0x00, 0x01}, {0xB0, 0x01, 0x00}, {0xD0, 0x00, 0x02}, {0xF0, 0x02, 0x00}};
  static const struct {
    uint16_t at;
    uint8_t offset;
    uint16_t to;
    uint8_t cycles;
  } ways[] = {{0xF010, 0x20, 0xF032, 3}, {0xF010, 0xFE, 0xF010, 3}, {0xF010, 0x80, 0xEF92, 4},
              {0xF0F0, 0x0D, 0xF0FF, 3}, {0xF0F0, 0x0E, 0xF100, 4}, {0xF0FD, 0x00, 0xF0FF, 3},
              {0xF0FE, 0x00, 0xF100, 3}, {0xF0FE, 0xFF, 0xF0FF, 4}, {0xF102, 0xFC, 0xF100, 3},
              {0xF102, 0xFB, 0xF0FF, 4}};
  for (int i = 0; i < 8; i++) {
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      program(ways[w].at, 2, branches[i].code, ways[w].offset);
      m.p = 0x30 | branches[i].taken;
      assert_int_equal(step(), ways[w].cycles);
      assert_int_equal(m.pc, ways[w].to);
      program(ways[w].at, 2, branches[i].code, ways[w].offset);
      m.p = 0x30 | branches[i].not_taken;
      assert_int_equal(step(), 2);
      assert_int_equal(m.pc, ways[w].at + 2);
    }
  }
}

static void test_cpu_jmp_indirect_stays_on_the_page(void **state) {
  (void)state;
  program(0xF000, 3, 0x6C, 0xFF, 0xF2);
  rom[0x2FF] = 0x34;
  rom[0x300] = 0x55;
  rom[0x200] = 0xF4;
  assert_int_equal(step(), 5);
  assert_int_equal(m.pc, 0xF434);
}

static void test_cpu_indirect_x_pointer_takes_its_high_byte_from_0100_not_0000(void **state) {
  (void)state;
  program(0xF000, 2, 0xA1, 0xF0); /* LDA ($F0,X), X = $0F: the pointer is at $FF and $100 */
  m.x = 0x0F;
  m.ram[0x7F] = 0x90;
  rom[0x90] = 0x77; /* $100 is a TIA mirror: CXM0P, 0 over the undriven bits of $90, gives $10 */
  step();
  assert_int_equal(m.a, 0x77);
}

static void test_cpu_brk_and_rti_round_trip(void **state) {
  (void)state;
  program(0xF123, 2, 0x00, 0xFF);
  rom[0xFFE] = 0x00;
  rom[0xFFF] = 0xF4;
  rom[0x400] = 0x40; /* RTI */
  m.p = 0xC9 | 0x30; /* N V D C */
  m.sp = 0xFF;
  assert_int_equal(step(), 7);
  assert_int_equal(m.pc, 0xF400);
  assert_int_equal(m.sp, 0xFC);
  assert_int_equal(m.ram[0x7F], 0xF1);
  assert_int_equal(m.ram[0x7E], 0x25); /* the byte after BRK is skipped */
  assert_int_equal(m.ram[0x7D], 0xF9);
  assert_int_equal(m.p, 0xFD); /* I is set, D is not cleared */
  assert_int_equal(step(), 6);
  assert_int_equal(m.pc, 0xF125);
  assert_int_equal(m.sp, 0xFF);
  assert_int_equal(m.p, 0xF9);
}

static void test_cpu_php_plp_round_trip_all_flags(void **state) {
  (void)state;
  for (int p = 0; p < 256; p++) {
    program(0xF000, 3, 0x08, 0xA9, 0x00); /* PHP, LDA #0 */
    rom[3] = 0x28;                        /* PLP */
    m.p = (uint8_t)(p | 0x30);
    m.sp = 0xF0;
    assert_int_equal(step(), 3);
    assert_int_equal(m.ram[0x70], p | 0x30);
    m.ram[0x70] = (uint8_t)p; /* bits 5 and 4 are ignored on the way back */
    step();
    assert_int_equal(step(), 4);
    assert_int_equal(m.p, p | 0x30);
    assert_int_equal(m.sp, 0xF0);
  }
}

static void test_cpu_jsr_pushes_its_last_byte_and_rts_returns_behind_it(void **state) {
  (void)state;
  program(0xF0FE, 3, 0x20, 0x00, 0xF3);
  rom[0x300] = 0x60;
  m.sp = 0xFF;
  assert_int_equal(step(), 6);
  assert_int_equal(m.pc, 0xF300);
  assert_int_equal(m.ram[0x7F], 0xF1);
  assert_int_equal(m.ram[0x7E], 0x00);
  assert_int_equal(step(), 6);
  assert_int_equal(m.pc, 0xF101);
}

static void test_cpu_jsr_reads_its_target_after_the_pushes(void **state) {
  (void)state;
  program(0xF000, 1, 0xEA);
  m.pc = 0x01F0; /* in the stack: the second push overwrites the high byte of the target */
  m.ram[0x70] = 0x20;
  m.ram[0x71] = 0x34;
  m.ram[0x72] = 0xF5;
  m.sp = 0xF3;
  step();
  assert_int_equal(m.pc, 0xF234); /* $01F2 now holds the low byte of $01F2 */
}

static void test_cpu_the_stack_wraps_at_both_ends(void **state) {
  (void)state;
  program(0xF000, 1, 0x48); /* PHA at SP = $00 writes $0100, a TIA mirror (VSYNC) */
  m.sp = 0x00;
  m.a = 0x01;
  step();
  assert_int_equal(m.sp, 0xFF);
  assert_int_equal(m.vsync, 0x01);
  program(0xF000, 1, 0x68); /* PLA at SP = $FF reads $0100, CXM0P: nothing but the undriven bus */
  m.sp = 0xFF;
  m.ram[0x7F] = 0xAA; /* the touch of the old top leaves this on the bus */
  step();
  assert_int_equal(m.sp, 0x00);
  assert_int_equal(m.a, 0x2A);
  program(0xF000, 3, 0x20, 0x00, 0xF3); /* JSR across the end */
  m.sp = 0x00;
  step();
  assert_int_equal(m.sp, 0xFE);
  assert_int_equal(m.ram[0x7F], 0x02);
}

/* The TIA notices: the picture is drawn up to the look, then up to the push, which shows later. */
static void test_cpu_jsr_looks_at_the_stack_first(void **state) {
  (void)state;
  program(0xF000, 3, 0x20, 0x00, 0xF3);
  m.sp = 0x04; /* a mirror of NUSIZ0, whose writes show eight clocks later */
  m.cycles = 76 * 60 + 40;
  m.seen_clock = m.seen_before = 228 * 50;
  const int32_t look = (int32_t)(m.cycles + 6) * 3 - m.frame_clock;
  step();
  assert_int_equal(m.seen_before, look);
  assert_true(m.seen_clock > look);
}

static void test_cpu_sta_wsync_waits_for_the_end_of_the_line(void **state) {
  (void)state;
  for (uint32_t cycle = 0; cycle < 76; cycle++) {
    program(0xF000, 2, 0x85, 0x02);
    m.cycles = 760 + cycle;
    step();
    assert_int_equal(m.cycles, cycle == 73 ? 836 : cycle < 73 ? 836 : 912);
  }
}

static void test_cpu_inc_wsync_waits_too(void **state) {
  (void)state;
  program(0xF000, 2, 0xE6, 0x02);
  m.cycles = 760;
  assert_int_equal(step(), 76);
  program(0xF000, 2, 0xE6, 0x02);
  m.cycles = 760 + 72; /* five cycles end one after the line: a whole line is waited for */
  assert_int_equal(step(), 80);
}

static void test_cpu_wsync_halts_only_the_first_push_of_jsr(void **state) {
  (void)state;
  program(0xF000, 3, 0x20, 0x00, 0xF3);
  m.cycles = 760;
  m.sp = 0x02;
  assert_int_equal(step(), 76);
  program(0xF000, 3, 0x20, 0x00, 0xF3);
  m.cycles = 760;
  m.sp = 0x03; /* the second push goes to WSYNC */
  assert_int_equal(step(), 6);
  program(0xF000, 1, 0x00);
  m.cycles = 760;
  m.sp = 0x04; /* and so does BRK's third */
  assert_int_equal(step(), 7);
  program(0xF000, 1, 0x48);
  m.cycles = 760;
  m.sp = 0x02;
  assert_int_equal(step(), 76);
}

static void test_cpu_jam_is_reported_and_stays_until_reset(void **state) {
  (void)state;
  static const uint8_t jams[12] = {0x02, 0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x72, 0x92, 0xB2, 0xD2, 0xF2};
  int count = 0;
  for (int code = 0; code < 256; code++) {
    program(0xF000, 3, code, 0xF3, 0xF3);
    step();
    count += last.jammed;
    assert_int_equal(last.jammed, memchr(jams, code, 12) != NULL);
  }
  assert_int_equal(count, 12);

  program(0xF000, 2, 0x02, 0xE8); /* JAM, INX */
  m.x = 7;
  step();
  assert_int_equal(m.jammed, 1);
  uint32_t executed = m.instructions, cycles = m.cycles;
  for (int i = 0; i < 10; i++) {
    assert_int_equal(step(), 0);
    assert_int_equal(last.jammed, 1);
  }
  vcs_frame(&cart, &m, NULL);
  vcs_frame(&cart, &m, NULL);
  assert_int_equal(m.x, 7);
  assert_int_equal(m.pc, 0xF001);
  assert_int_equal(m.instructions, executed);
  assert_true(m.cycles <= cycles);

  rom[0xFFC] = 0x01;
  rom[0xFFD] = 0xF0;
  vcs_reset(&cart, &m, NULL);
  assert_int_equal(m.jammed, 0);
  step();
  assert_int_equal(m.x, 1);
  assert_int_equal(last.jammed, 0);
}

static void test_cpu_disassembly_names_every_opcode_as_the_oracle_does(void **state) {
  (void)state;
  static const struct {
    char mode;
    const char *operand;
    int length;
  } shown[] = {{'-', "", 1},         {'#', " #$34", 2},    {'z', " $34", 2},     {'x', " $34,X", 2},
               {'y', " $34,Y", 2},   {'i', " ($34,X)", 2}, {'j', " ($34),Y", 2}, {'a', " $F234", 3},
               {'X', " $F234,X", 3}, {'Y', " $F234,Y", 3}, {'n', " ($F234)", 3}, {'r', " $F036", 2}};
  for (int code = 0; code < 256; code++) {
    const char *name = oracle_matrix[code / 16] + code % 16 * 5;
    char text[32], expected[32];
    program(0xF000, 3, code, 0x34, 0xF2);
    int length = vcs_disassemble(&cart, &m, 0xF000, text, sizeof text);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
      if (shown[i].mode != name[3]) continue;
      const char *operand = shown[i].operand;
      int bytes = shown[i].length;
      if (oracle_is(name, "ASL LSR ROL ROR") && name[3] == '-') operand = " A";
      if (oracle_is(name, "JSR")) operand = " $F234", bytes = 3;
      snprintf(expected, sizeof expected, "%.3s%s", name, operand);
      assert_string_equal(text, expected);
      assert_int_equal(length, bytes);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cpu_every_opcode_agrees_with_the_oracle),
      cmocka_unit_test(test_cpu_random_programs_agree_with_the_oracle),
      cmocka_unit_test(test_cpu_adc_is_right_for_all_operands_binary_and_decimal),
      cmocka_unit_test(test_cpu_sbc_is_right_for_all_operands_binary_and_decimal),
      cmocka_unit_test(test_cpu_usbc_is_sbc),
      cmocka_unit_test(test_cpu_arr_is_right_for_all_operands_binary_and_decimal),
      cmocka_unit_test(test_cpu_rra_adds_the_rotated_byte_in_decimal),
      cmocka_unit_test(test_cpu_isb_subtracts_the_incremented_byte_in_decimal),
      cmocka_unit_test(test_cpu_decimal_sums_spelled_out),
      cmocka_unit_test(test_cpu_reset_loads_the_vector_and_clears_registers),
      cmocka_unit_test(test_cpu_reads_pay_a_cycle_for_crossing_a_page),
      cmocka_unit_test(test_cpu_stores_always_pay_for_crossing_a_page),
      cmocka_unit_test(test_cpu_modifying_takes_the_same_time_on_either_side_of_a_page),
      cmocka_unit_test(test_cpu_the_crossing_is_paid_before_the_operand_is_read),
      cmocka_unit_test(test_cpu_zero_page_indexing_wraps),
      cmocka_unit_test(test_cpu_zero_page_indexing_wraps_for_a_cartridge_that_looks),
      cmocka_unit_test(test_cpu_absolute_indexing_wraps_at_64k),
      cmocka_unit_test(test_cpu_branches_take_2_3_or_4_cycles),
      cmocka_unit_test(test_cpu_jmp_indirect_stays_on_the_page),
      cmocka_unit_test(test_cpu_indirect_x_pointer_takes_its_high_byte_from_0100_not_0000),
      cmocka_unit_test(test_cpu_brk_and_rti_round_trip),
      cmocka_unit_test(test_cpu_php_plp_round_trip_all_flags),
      cmocka_unit_test(test_cpu_jsr_pushes_its_last_byte_and_rts_returns_behind_it),
      cmocka_unit_test(test_cpu_jsr_reads_its_target_after_the_pushes),
      cmocka_unit_test(test_cpu_the_stack_wraps_at_both_ends),
      cmocka_unit_test(test_cpu_jsr_looks_at_the_stack_first),
      cmocka_unit_test(test_cpu_sta_wsync_waits_for_the_end_of_the_line),
      cmocka_unit_test(test_cpu_inc_wsync_waits_too),
      cmocka_unit_test(test_cpu_wsync_halts_only_the_first_push_of_jsr),
      cmocka_unit_test(test_cpu_jam_is_reported_and_stays_until_reset),
      cmocka_unit_test(test_cpu_disassembly_names_every_opcode_as_the_oracle_does),
  };
  return cmocka_run_group_tests_name("cpu", tests, plug_in_steps, unplug);
}

#endif
