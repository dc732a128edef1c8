/* test_run.c: decoded instructions (run.h) against the same machine one instruction at a time (cpu.h).
 *
 * Programs are made of the pieces that run.h treats on its own: waiting for the timer in every spelling, delay loops,
 * pushes and pulls with the stack in RAM and in the TIA, calls, stores to the TIA, branches over pages, tables and
 * pointers into ROM, RAM and chips, and now and then plain noise. They run frame by frame (vcs_frame) and step by step
 * (vcs_step), and the two machines must be equal after every frame, byte for byte, time and instruction count included.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "core/decode.h"
#include "noise.h"
#include "program.h"

/* ---- Programs ----------------------------------------------------------------------------------------------- */

/* Sets the timer, does something else for a while, and waits: for its value, its sign, its flag. */
static void put_wait(void) {
  uint8_t address = ONE_OF(0x84, 0x84, 0x84, 0x86, 0x85, 0x87);
  put(5, 0xA9, noise() & 0x7F, 0x8D, 0x94 + below(4), 0x02); /* LDA #, STA TIMxT */
  if (below(4) == 0) put(5, 0xA9, noise(), 0x8D, 0x94 + below(3), 0x02);
  for (unsigned i = below(12); i > 0; i--) put(1, 0xEA);
  if (below(3) == 0) end = (end | 0xFF) - below(6);            /* over the end of a page, or near it */
  put(3, ONE_OF(0xAD, 0xAD, 0xAE, 0xAC, 0x2C), address, 0x02); /* LDA, LDX, LDY, BIT */
  put(2, ONE_OF(0xD0, 0x10, 0x30), below(4) ? 0xFB : 0xFD);    /* BNE, BPL, BMI to it, or past its opcode */
}

static void put_delay(void) {
  bool y = below(2);
  put(2, y ? 0xA0 : 0xA2, below(2) ? noise() : below(8));
  if (below(3) == 0) end = (end | 0xFF) - below(4);
  if (below(8) == 0) put(3, 0x4C, (end + 4) & 0xFF, 0xF0 + ((end + 4) >> 8)); /* JMP into it, at the branch */
  put(3, y ? 0x88 : 0xCA, ONE_OF(0xD0, 0x10), 0xFD);
}

static void put_stack(void) {
  put(3, 0xA2, ONE_OF(0xFF, 0xFE, 0xFD, 0x80, 0x81, 0x82, 0x7F, 0x1F, 0x0E), 0x9A); /* LDX #, TXS */
  for (unsigned i = below(5); i > 0; i--) put(1, ONE_OF(0x48, 0x08, 0x68, 0x28, 0xD8));
  put(3, 0xA2, 0xFF, 0x9A);
  if (below(2)) { /* JSR over some bytes to an RTS ... */
    size_t to = end + 6;
    put(6, 0x20, to & 0xFF, 0xF0 + (to >> 8), 0x4C, (to + 1) & 0xFF, 0xF0 + ((to + 1) >> 8));
    put(1, 0x60);
  }
}

static void put_accesses(void) {
  uint8_t read = ONE_OF(0xB9, 0xBD, 0xBC, 0xBE, 0x1D, 0xD9, 0xAD, 0xAC);
  put(4, 0xA2, noise(), 0xA0, noise());
  put(3, read, noise(), ONE_OF(0xF0, 0xF4, 0xFE, 0xFF, 0x00, 0x02, 0x10, 0x01));
  put(4, 0xA9, noise(), 0x85, 0x90); /* a pointer at $90 */
  put(4, 0xA9, ONE_OF(0xF1, 0xFF, 0x00, 0x02, 0x10), 0x85, 0x91);
  put(2, ONE_OF(0xB1, 0x51, 0x11, 0x71, 0xF1, 0xD1), 0x90); /* through it */
  put(4, 0xA2, below(3), ONE_OF(0xA1, 0x41), 0x90 - below(2));
  put(2, ONE_OF(0xB5, 0xB4, 0xF6, 0xD6, 0x16, 0x56), noise()); /* zero page, indexed */
  put(2, ONE_OF(0xA5, 0xA4, 0x24, 0xC6, 0xE6, 0x46, 0x26), noise());
  put(2, ONE_OF(0x95, 0x94), ONE_OF(0x02, 0x0D, 0x1B, 0x80, 0xC0, 0xFE));
  put(2, ONE_OF(0x85, 0x84, 0x86, 0x87), 0x02 + ONE_OF(0, 0, 4, 0x10, 0x19, 0x28, 0x40));
  put(2, ONE_OF(0x90, 0xB0, 0xF0, 0x50, 0x70), 1 + below(3)); /* a branch over what may be operands */
  put(3, 0xC9, noise(), 0xEA);
}

/* Stores to TIA registers, most of them with their own rows, at all positions of a line; and to their mirrors. */
static void put_registers(void) {
  for (unsigned i = 4 + below(12); i > 0; i--) {
    put(2, ONE_OF(0xA9, 0xA2, 0xA0), noise());
    put(2, ONE_OF(0x85, 0x86, 0x84), 0x04 + below(0x29) + (below(4) ? 0 : 0x40));
  }
}

/* A frame: pieces, then three lines of VSYNC and round again. */
static void make_program(size_t size) {
  static void (*const pieces[])(void) = {put_wait, put_delay, put_stack, put_accesses, put_registers};
  for (size_t i = 0; i < size; i++) image[i] = below(8) ? 0xEA : ONE_OF(0x18, 0x38, 0xCA, 0x88, 0x4A, 0xE8);
  end = 0x200;
  for (unsigned count = 2 + below(14); count > 0; count--) pieces[below(5)]();
  put(17, 0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x4C, 0x00, 0xF2);
  for (size_t bank = 4096; bank < size; bank += 4096) memcpy(image + bank, image, 4096);
  for (size_t bank = size; bank > 0; bank -= size < 4096 ? size : 4096) {
    image[bank - 4] = 0x00;
    image[bank - 3] = 0xF2;
  }
}

/* ---- Two ways ----------------------------------------------------------------------------------------------- */

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m) {
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !step.frame_over && !m->jammed; i++) vcs_step(cart, m, NULL, &step);
  vcs_frame_end(cart, m, NULL);
}

static void compare(vcs_scheme_t scheme, size_t size, uint64_t seed) {
  static vcs_t one, other;
  vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .scheme = scheme, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  random_state = seed;
  make_program(size);
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, &error), VCS_OK);
  assert_non_null(cart->code);
  vcs_boot(cart, &one, NULL);
  memcpy(&other, &one, vcs_state_size(cart));
  for (int i = 0; i < 6; i++) {
    one.timer = other.timer = (uint8_t)noise();
    vcs_frame(cart, &one, NULL);
    frame_by_steps(cart, &other);
    if (memcmp(&one, &other, vcs_state_size(cart)) == 0) continue;
    const vcs_field_t *field = vcs_field(0);
    for (int f = 0; (field = vcs_field(f)); f++) {
      const void *a = (const char *)&one + field->offset, *b = (const char *)&other + field->offset;
      if (memcmp(a, b, (size_t)field->size * field->count) != 0) break;
    }
    fail_msg("program %llu, frame %d: %s", (unsigned long long)seed, i, field ? field->name : "?");
  }
  vcs_cart_free(cart);
}

static void test_run_programs_are_those_of_steps(void **state) {
  (void)state;
  for (int seed = 0; seed < trials(1200, 200); seed++) compare(VCS_SCHEME_4K, 4096, (uint64_t)seed);
}

static void test_run_banks_are_those_of_steps(void **state) {
  (void)state;
  static const struct {
    vcs_scheme_t scheme;
    size_t size;
  } kinds[] = {{VCS_SCHEME_2K, 2048}, {VCS_SCHEME_F8, 8192}, {VCS_SCHEME_F6SC, 16384}, {VCS_SCHEME_E0, 8192},
               {VCS_SCHEME_3F, 8192}, {VCS_SCHEME_3E, 8192}, {VCS_SCHEME_E7, 16384},   {VCS_SCHEME_FE, 8192},
               {VCS_SCHEME_CV, 4096}, {VCS_SCHEME_UA, 8192}, {VCS_SCHEME_FA, 12288}};
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    for (int seed = 0; seed < trials(100, 15); seed++) {
      compare(kinds[kind].scheme, kinds[kind].size, 10000 * kind + (uint64_t)seed);
    }
  }
}

/* ---- What is recognised ------------------------------------------------------------------------------------- */

/* The row of the branch of a loop of these bytes. */
static uint16_t row_of_loop(int length, ...) {
  vcs_cart_t cart = {.rom = image, .rom_size = 4096, .scheme = VCS_SCHEME_4K};
  va_list bytes;
  memset(image, 0xEA, 4096);
  va_start(bytes, length);
  for (int i = 0; i < length; i++) image[0x300 + i] = (uint8_t)va_arg(bytes, int);
  va_end(bytes);
  return vcs_decode(&cart, (uint32_t)(0x300 + length - 2)).row;
}

static void test_run_knows_the_loops_that_only_wait(void **state) {
  (void)state;
  assert_int_equal(row_of_loop(5, 0xAD, 0x84, 0x02, 0xD0, 0xFB), VCS_ROW_WAIT_BNE); /* LDA INTIM, BNE */
  assert_int_equal(row_of_loop(5, 0xAE, 0x96, 0x0A, 0xD0, 0xFB), VCS_ROW_WAIT_BNE); /* LDX of a mirror */
  assert_int_equal(row_of_loop(5, 0x2C, 0x84, 0x02, 0x10, 0xFB), VCS_ROW_WAIT_BPL); /* BIT INTIM, BPL */
  assert_int_equal(row_of_loop(5, 0x2C, 0x85, 0x02, 0x10, 0xFB), VCS_ROW_WAIT_BPL); /* BIT INSTAT, BPL */
  assert_int_equal(row_of_loop(5, 0xAC, 0x84, 0x02, 0x30, 0xFB), VCS_ROW_WAIT_BMI); /* LDY INTIM, BMI */
  assert_int_equal(row_of_loop(3, 0xCA, 0xD0, 0xFD), VCS_ROW_DELAY_DEX_BNE);
  assert_int_equal(row_of_loop(3, 0x88, 0xD0, 0xFD), VCS_ROW_DELAY_DEY_BNE);
  assert_int_equal(row_of_loop(3, 0xCA, 0x10, 0xFD), VCS_ROW_DELAY_DEX_BPL);
  assert_int_equal(row_of_loop(3, 0x88, 0x10, 0xFD), VCS_ROW_DELAY_DEY_BPL);
  /* not: Z of BIT is another's, INSTAT has no value, a port, another distance, another register */
  assert_int_equal(row_of_loop(5, 0x2C, 0x84, 0x02, 0xD0, 0xFB), 0xD0);
  assert_int_equal(row_of_loop(5, 0xAD, 0x85, 0x02, 0xD0, 0xFB), 0xD0);
  assert_int_equal(row_of_loop(5, 0xAD, 0x82, 0x02, 0xD0, 0xFB), 0xD0);
  assert_int_equal(row_of_loop(5, 0xAD, 0x84, 0x02, 0xD0, 0xFC), 0xD0);
  assert_int_equal(row_of_loop(3, 0xE8, 0xD0, 0xFD), 0xD0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run_programs_are_those_of_steps),
      cmocka_unit_test(test_run_banks_are_those_of_steps),
      cmocka_unit_test(test_run_knows_the_loops_that_only_wait),
  };
  return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
