/* test_relax_dispatch.c: the opcodes that a softened dispatch evaluates beside the one that is named.
 *
 * Each of them must do what it really does: read INTIM, pins, pots and collisions at its own time, keep the bits that
 * the TIA does not drive from the byte that it has had on the bus, wait for WSYNC, read behind a hot spot. So every
 * opcode is executed by the exact machine, in many states, and compared with what the dispatch considers; and the blend
 * of all of them is compared with the sum of opcodes that run by themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "core/cpu.h"
#include "diffvcs/relax.h"
#include "noise.h"
#include "relax/real.h"
#include "relaxed_machine.h"

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(b)); }

/* ---- Each opcode, executed by the exact machine -------------------------------------------------------------------
 */

/* Two banks of noise. From $F600 on, in both banks, are sites: an opcode and two bytes of operand. No pointer leads
 * there, so that only the opcode's fetch reads the opcode. */
enum { SITES = 64, SITE_BYTES = 4, SITES_AT = 0x600, IMAGE = 8192, BANK = 4096, NAMED = 0xEA };

static bool leads_to_sites(unsigned byte) { return (byte & 0x1F) == (0x1000 | SITES_AT) >> 8; }

static uint8_t byte_of_pointer(void) {
  uint8_t byte = noise_byte();
  while (leads_to_sites(byte)) byte = noise_byte();
  return byte;
}

/* RIOT, TIA (collisions, pots, fire, WSYNC, strobes), hot spots, cartridge RAM; RAM; ROM. */
static uint16_t some_address(void) {
  static const uint16_t list[] = {0x0284, 0x0285, 0x0280, 0x0282, 0x0284, 0x0008, 0x0009, 0x000B,
                                  0x000C, 0x000D, 0x0000, 0x0003, 0x0007, 0x0002, 0x0032, 0x0010,
                                  0x002A, 0x0295, 0x1FF8, 0x1FF9, 0x1000, 0x1080};
  const uint32_t kind = below(4);
  if (kind < 2) return list[below(sizeof list / sizeof *list)];
  return (uint16_t)(kind == 2 ? 0x80 | byte_of_pointer() : 0xF100 + 0x100 * below(4) + byte_of_pointer());
}

static vcs_cart_t *load_sites(vcs_scheme_t scheme) {
  static uint8_t image[IMAGE];
  for (int i = 0; i < IMAGE; i++) image[i] = byte_of_pointer();
  for (int i = 0; i < SITES; i++) {
    const uint16_t operand = some_address();
    for (int bank = 0; bank < IMAGE; bank += BANK) {
      uint8_t *site = image + bank + SITES_AT + SITE_BYTES * i;
      site[0] = NAMED;
      site[1] = (uint8_t)operand;
      site[2] = (uint8_t)(operand >> 8);
    }
  }
  const vcs_cart_options_t options = {
      .profile = VCS_PROFILE_XITARI, .scheme = scheme, .format = VCS_FORMAT_NTSC, .name = "sites"};
  vcs_cart_t *cart;
  assert_int_equal(vcs_cart_load(image, scheme == VCS_SCHEME_4K ? BANK : IMAGE, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* A machine in the middle of a line, objects all over it; time has passed since the last access. */
static void some_state(const vcs_cart_t *cart, vcs_t *m) {
  static const uint8_t registers[] = {0x04, 0x05, 0x06, 0x08, 0x0A, 0x0B, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13,
                                      0x14, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x25, 0x26, 0x28, 0x2A, 0x2C};
  vcs_video_t video;
  vcs_boot(cart, m, NULL);
  m->jammed = 0;
  vcs_frame_begin(cart, m);
  vcs_video_start(&video, cart, NULL);
  m->cycles += 76 * (40 + below(150));
  for (int i = 0; i < 40; i++) {
    m->cycles += below(20);
    vcs_bus_write_chip(cart, m, &video, registers[below(sizeof registers)], noise_byte(), true);
    if (i % 10 == 5) vcs_bus_write_chip(cart, m, &video, VCS_VBLANK, noise_byte() & 0xC0, true);
  }
  vcs_bus_write_chip(cart, m, &video, (uint16_t)(0x294 + below(4)), noise_byte(), true);
  m->cycles += below(60);
  if (below(2)) m->timer_cycle -= below(20000);
  if (below(2)) vcs_riot_intim(m);
  vcs_tia_catch_up(m, &video);
  m->cycles += below(8);
  for (int i = 0; i < 128; i++) m->ram[i] = byte_of_pointer();
  for (int i = 0; i < 128; i += 2) {
    const uint16_t address = some_address();
    if (below(2)) m->ram[i] = (uint8_t)address, m->ram[i + 1] = (uint8_t)(address >> 8);
  }
  for (uint32_t i = 0; i < cart->ram_size; i++) m->cart_ram[i] = byte_of_pointer();
  for (int i = 0; i < 2; i++) m->fire[i] = (uint8_t)below(2);
  for (int i = 0; i < 4; i++) m->paddle[i] = (int32_t)below(1000000);
  m->swcha = noise_byte();
  m->swchb = noise_byte();
  m->bus = noise_byte();
  m->a = noise_byte();
  m->x = (uint8_t)(below(2) ? 0 : noise_byte());
  m->y = (uint8_t)(below(2) ? 0 : noise_byte());
  m->sp = noise_byte();
  m->p = noise_byte() | VCS_FLAG_1 | VCS_FLAG_B;
  m->pc = (uint16_t)(0xF000 + SITES_AT + SITE_BYTES * below(SITES));
}

/* The registers and cells of a machine, as numbers. */
static void numbers_of(const vcs_t *m, double reg[VCS_REGISTERS]) {
  static const struct {
    int slot, bit;
  } flags[] = {{VCS_SLOT_N, 7}, {VCS_SLOT_V, 6}, {VCS_SLOT_D, 3}, {VCS_SLOT_I, 2}, {VCS_SLOT_Z, 1}, {VCS_SLOT_C, 0}};
  reg[VCS_SLOT_A] = m->a, reg[VCS_SLOT_X] = m->x, reg[VCS_SLOT_Y] = m->y, reg[VCS_SLOT_SP] = m->sp;
  reg[VCS_SLOT_PC] = m->pc, reg[VCS_SLOT_TIME] = m->cycles;
  for (int i = 0; i < 6; i++) reg[flags[i].slot] = m->p >> flags[i].bit & 1;
}

static void check_opcode(const vcs_cart_t *exact, vcs_relax_t *relax, const vcs_t *from, int opcode) {
  vcs_t *m = malloc(vcs_state_size(exact));
  vcs_step_t step;
  vcs_outcome_t outcome;
  double reg[VCS_REGISTERS];
  for (uint32_t bank = 0; bank < exact->rom_size; bank += BANK)
    ((uint8_t *)(uintptr_t)exact->rom)[bank + (from->pc & 0xFFF)] = (uint8_t)opcode;
  memcpy(m, from, vcs_state_size(exact));
  vcs_step(exact, m, NULL, &step);
  numbers_of(m, reg);
  vcs_relax_load(relax, from);
  vcs_real_consider(relax, opcode, &outcome);
  for (int i = 0; i < VCS_REGISTERS; i++) {
    if (outcome.reg[i].value != reg[i])
      fail_msg("opcode $%02X, operand $%02X%02X, X %d, Y %d, SP $%02X: slot %d is %g, not %g", (unsigned)opcode,
               exact->rom[(from->pc & 0xFFF) + 2], exact->rom[(from->pc & 0xFFF) + 1], from->x, from->y, from->sp, i,
               outcome.reg[i].value, reg[i]);
  }
  for (int i = 0; i < 128 + (int)exact->ram_size; i++) {
    const uint8_t after = i < 128 ? m->ram[i] : m->cart_ram[i - 128];
    double value = i < 128 ? from->ram[i] : from->cart_ram[i - 128];
    for (int w = 0; w < outcome.write_count; w++) {
      if (outcome.writes[w].cell == i) value = outcome.writes[w].value.value;
    }
    if (value != after) fail_msg("opcode $%02X: cell %d is %g, not %d", (unsigned)opcode, i, value, after);
  }
  free(m);
}

static void test_every_opcode_does_what_it_really_does(void **state) {
  (void)state;
  static const vcs_scheme_t schemes[] = {VCS_SCHEME_4K, VCS_SCHEME_F8, VCS_SCHEME_F8SC};
  for (int i = 0; i < 3; i++) {
    random_state = 7;
    vcs_cart_t *named = load_sites(schemes[i]);
    random_state = 7;
    vcs_cart_t *exact = load_sites(schemes[i]);
    vcs_relax_t *relax = relaxed(named, 1000, 0.001, VCS_DISPATCH_ONE_HOT);
    vcs_t *m = malloc(vcs_state_size(named)), *after = malloc(vcs_state_size(named));
    for (int k = trials(80, 10); k > 0; k--) {
      some_state(named, m);
      for (int opcode = 0; opcode < 256; opcode++) check_opcode(exact, relax, m, opcode);
      memcpy(after, vcs_relax_machine(relax), vcs_state_size(named));
      if (after->collisions != m->collisions || after->seen_clock != m->seen_clock || after->bank[0] != m->bank[0] ||
          memcmp(after->ram, m->ram, 128))
        fail_msg("an opcode that does not act has changed the machine");
    }
    free(m), free(after);
    vcs_relax_free(relax);
    vcs_cart_free(named);
    vcs_cart_free(exact);
  }
}

/* ---- The blend ------------------------------------------------------------------------------------------------------
 */

/* 2 KiB, mirrored: an opcode at the end of the image, which $F7FF reads, and its operand at the beginning, whose
 * neighbours the opcode is not. So the same operand is read whatever the opcode. */
static vcs_cart_t *load_opcode(int opcode, unsigned operand) {
  uint8_t image[2048];
  memset(image, 0xEA, sizeof image);
  memset(image + 2040, opcode, 8);
  image[0] = (uint8_t)operand;
  image[1] = (uint8_t)(operand >> 8);
  /* A format that is known: these images have no frames to probe. */
  const vcs_cart_options_t options = {
      .profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_2K, .format = VCS_FORMAT_NTSC, .name = "opcode"};
  vcs_cart_t *cart;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* A state in which INTIM reads 46, and objects collide. It is that of any of these images. */
static void dispatch_state(const vcs_cart_t *cart, vcs_t *m) {
  vcs_boot(cart, m, NULL);
  vcs_frame_begin(cart, m);
  for (int i = 0; i < 128; i++) m->ram[i] = (uint8_t)(37 * i + 11);
  m->a = 0x5C, m->x = 0x03, m->y = 0x11, m->sp = 0xE0, m->p = 0x31, m->pc = 0xF7FF;
  m->jammed = 0, m->frame_clock = 0;
  m->cycles = 2000;
  m->timer = 50;
  m->timer_shift = 6;
  m->timer_cycle = m->cycles - 200;
  m->timer_was_read = 0;
  m->collisions = 0xA5C3;
  m->fire[0] = 1;
}

enum { DISPATCH_SLOTS = VCS_SLOT_RAM + 128 };

static void values_after(const vcs_cart_t *cart, const vcs_t *m, uint8_t dispatch, double temperature, double *values) {
  vcs_relax_t *relax = relaxed(cart, 6, temperature, dispatch);
  vcs_relax_load(relax, m);
  vcs_relax_step(relax, NULL);
  double *all = calloc(vcs_relax_input_slots(relax), sizeof *all);
  vcs_relax_values(relax, all);
  memcpy(values, all, DISPATCH_SLOTS * sizeof *all);
  free(all);
  vcs_relax_free(relax);
}

/* The blend of all opcodes against each opcode run by itself, acting. */
static void check_dispatch(const vcs_t *m, unsigned operand) {
  static const int names[] = {0xAD, 0xEA, 0x8D}; /* LDA, NOP, STA */
  const double temperature = 0.3, other = exp(-1 / temperature), total = 1 + 255 * other;
  static double values[256][DISPATCH_SLOTS];
  for (int k = 0; k < 256; k++) {
    vcs_cart_t *cart = load_opcode(k, operand);
    values_after(cart, m, VCS_DISPATCH_HARD, temperature, values[k]);
    vcs_cart_free(cart);
  }
  for (int n = 0; n < 3; n++) {
    double blended[DISPATCH_SLOTS];
    vcs_cart_t *cart = load_opcode(names[n], operand);
    values[0][VCS_SLOT_PC] = 257 * names[n]; /* BRK's vector is where the opcode is */
    values_after(cart, m, VCS_DISPATCH_ONE_HOT, temperature, blended);
    for (int i = 0; i < DISPATCH_SLOTS; i++) {
      if (i > VCS_SLOT_TIME && i < VCS_SLOT_RAM) continue; /* only the opcode that is named changes chips */
      double expected = 0;
      for (int k = 0; k < 256; k++) expected += (k == names[n] ? 1 : other) / total * values[k][i];
      if (!is_near(blended[i], expected, 1e-9))
        fail_msg("operand $%04X, opcode $%02X: slot %d is %.12g, opcode by opcode %.12g", operand, (unsigned)names[n],
                 i, blended[i], expected);
    }
    vcs_cart_free(cart);
  }
}

static void test_dispatch_blends_what_opcodes_really_do(void **state) {
  (void)state;
  /* INTIM; a pot with undriven bits; collisions; WSYNC */
  static const unsigned operands[] = {0x0284, 0x0008, 0x0032, 0x0002};
  vcs_cart_t *cart = load_opcode(0xEA, 0);
  vcs_t *m = malloc(vcs_state_size(cart));
  dispatch_state(cart, m);
  for (int i = 0; i < 4; i++) check_dispatch(m, operands[i]);
  free(m);
  vcs_cart_free(cart);
}

/* The sum of A after each of the 256 opcodes: by the exact machine, by the relaxed one, and as it is in a blend around
 * NOP: a blend is (A of NOP + q * the sum over the other opcodes) / (1 + 255 q). At T = 0.05 reads are off by less than
 * 1e-6.
 */
enum { EXACTLY, ONE_BY_ONE, BLENDED, SUMS };

static void sums_of_a(const vcs_t *m, size_t size, double sums[SUMS]) {
  const double temperature = 0.05, q = exp(-1 / temperature);
  double values[DISPATCH_SLOTS];
  vcs_t *exact = malloc(size);
  memset(sums, 0, SUMS * sizeof *sums);
  for (int k = 0; k < 256; k++) {
    vcs_cart_t *cart = load_opcode(k, 0x0284);
    vcs_step_t step;
    memcpy(exact, m, size);
    vcs_step(cart, exact, NULL, &step);
    sums[EXACTLY] += step.a;
    values_after(cart, m, VCS_DISPATCH_HARD, temperature, values);
    sums[ONE_BY_ONE] += values[VCS_SLOT_A];
    if (k == NAMED) {
      const double nop = values[VCS_SLOT_A];
      values_after(cart, m, VCS_DISPATCH_ONE_HOT, temperature, values);
      sums[BLENDED] = (values[VCS_SLOT_A] * (1 + 255 * q) - nop) / q + nop;
    }
    vcs_cart_free(cart);
  }
  free(exact);
}

/* Operand $0284 is INTIM for absolute addresses, indexed or not. With A = X = Y = 0, C = 1 and D = 0, these opcodes
 * leave in A, for an INTIM of n, all modulo 256:
 *
 *   ORA, EOR, LDA   3 opcodes each   n          SLO   3 opcodes   2 n
 *   LAX             2                n          SRE   3           n / 2
 *   ADC             3                n + 1      RRA   3           128 + n / 2 + (n odd)
 *   SBC             3                -n         ISB   3           -1 - n
 *   LAS             1                n AND SP   and AND, RLA and all that do not write A: 0
 *
 * That is 2734 for n = 46 and SP = $E0, and 1152 for n = 0. The opcodes with other operands add 6234 in this state. An
 * opcode that read no timer would make a blend of 7386 whatever the timer shows. */
static void test_dispatch_reads_the_timer_in_every_opcode(void **state) {
  (void)state;
  static const struct {
    int timer, sum;
  } rows[] = {{50, 6234 + 2734}, {4, 6234 + 1152}}; /* 50 - 3 intervals - 1 is 46 */
  vcs_cart_t *cart = load_opcode(NAMED, 0x0284);
  vcs_t *m = malloc(vcs_state_size(cart));
  for (int i = 0; i < 2; i++) {
    double sums[SUMS];
    dispatch_state(cart, m);
    m->a = m->x = m->y = 0;
    m->timer = (uint8_t)rows[i].timer;
    sums_of_a(m, vcs_state_size(cart), sums);
    for (int k = 0; k < SUMS; k++) {
      if (fabs(sums[k] - rows[i].sum) > 0.01)
        fail_msg("timer %d: sum %d is %.6f, not %d", rows[i].timer, k, sums[k], rows[i].sum);
    }
  }
  free(m);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_opcode_does_what_it_really_does),
      cmocka_unit_test(test_dispatch_blends_what_opcodes_really_do),
      cmocka_unit_test(test_dispatch_reads_the_timer_in_every_opcode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
