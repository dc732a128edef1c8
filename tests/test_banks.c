/* test_banks.c: programs that move between banks, and programs around hot spots, decoded (core/run.h) and compiled
 * (host/native.c), against the same machine one instruction at a time (core/cpu.h).
 *
 * The programs of scheme FE are routines in both banks that call, jump to and return to each other in every way, at all
 * mirrors of their addresses, and read tables of both banks. Programs around hot spots have other instructions in every
 * bank, with the same lengths, before, at, across and behind the hot spots, and enter them at any of these.
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
#include "host/native.h"
#include "noise.h"
#include "program.h"

/* ---- Two ways ----------------------------------------------------------------------------------------------- */

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m) {
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !step.frame_over && !m->jammed; i++) vcs_step(cart, m, NULL, &step);
  vcs_frame_end(cart, m, NULL);
}

/* Programs that could be compiled, and those whose code found room in the tables. */
static int compilable_programs, compiled_programs;

/* Runs the image for some frames, compiled before the first frame or never. Returns how many of them came to their end.
 */
static int compare(vcs_scheme_t scheme, size_t size, int program, bool compiled) {
  enum { FRAMES = 5 };
  static vcs_t one, other;
  vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .scheme = scheme, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  int whole = 0;
  vcs_native_after(compiled ? 0 : -1);
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, &error), VCS_OK);
  vcs_boot(cart, &one, NULL);
  memcpy(&other, &one, vcs_state_size(cart));
  for (int i = 0; i < FRAMES; i++) {
    vcs_frame(cart, &one, NULL);
    frame_by_steps(cart, &other);
    whole += !one.jammed && !one.partial;
    if (memcmp(&one, &other, vcs_state_size(cart)) == 0) continue;
    const vcs_field_t *field = NULL;
    for (int f = 0; (field = vcs_field(f)); f++) {
      const void *a = (const char *)&one + field->offset, *b = (const char *)&other + field->offset;
      if (memcmp(a, b, (size_t)field->size * field->count) != 0) break;
    }
    fail_msg("scheme %s, program %d, %s, frame %d: %s", vcs_cart_info(cart)->scheme_name, program,
             compiled ? "compiled" : "decoded", i, field ? field->name : "?");
  }
  compilable_programs += compiled && cart->native;
  compiled_programs += vcs_native_size(cart->native) > 0;
  vcs_cart_free(cart);
  return 100 * whole / FRAMES;
}

static void assert_most_are_compiled(void) {
  assert_in_range(compiled_programs, compilable_programs * 4 / 5, compilable_programs);
  compiled_programs = compilable_programs = 0;
}

/* Three lines of VSYNC, and on at an address. */
static void put_end_of_frame(uint16_t to) {
  put(14, 0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00);
  put(3, 0x4C, to & 0xFF, to >> 8);
}

/* ---- FE ------------------------------------------------------------------------------------------------------- */

enum { FIRST_ROUTINE = 0x300, ROUTINE = 0x40, ROUTINES = (0xF00 - FIRST_ROUTINE) / ROUTINE };

/* An address at which an offset in a bank is seen. A13 is high for the first bank. */
static uint16_t seen_at(unsigned bank, unsigned offset) {
  return (uint16_t)(below(4) << 14 | (bank ? 0 : 0x2000) | 0x1000 | offset);
}

/* A routine of either bank that is behind routine `i`, so that calls come to an end. */
static uint16_t routine_behind(unsigned i) {
  return seen_at(below(2), FIRST_ROUTINE + ROUTINE * (i + 1 + below(ROUTINES - 1 - i)));
}

static void put_pointer(uint8_t at, uint16_t to) { put(8, 0xA9, to & 0xFF, 0x85, at, 0xA9, to >> 8, 0x85, at + 1); }

/* Reads of both banks, by every mode that can. */
static void put_table_read(void) {
  const uint16_t table = seen_at(below(2), below(3) ? below(0xF00) : 0xF00 + below(0x100));
  switch (below(5)) {
    case 0:
      put(3, ONE_OF(0xAD, 0x4D, 0x6D, 0xCD, 0xAC), table & 0xFF, table >> 8);
      break;
    case 1:
      put(5, 0xA2, noise(), ONE_OF(0xBD, 0x5D, 0x7D, 0xBC), table & 0xFF, table >> 8);
      break;
    case 2:
      put(5, 0xA0, noise(), ONE_OF(0xB9, 0x59, 0xF9, 0xBE), table & 0xFF, table >> 8);
      break;
    case 3:
      put_pointer(0x90, table);
      put(4, 0xA0, noise(), ONE_OF(0xB1, 0x51, 0x71, 0xD1), 0x90);
      break;
    default:
      put_pointer(0x90, table);
      put(4, 0xA2, 0x02, ONE_OF(0xA1, 0x41), 0x8E);
      break;
  }
  put(2, 0x85, 0xA0 + below(16));
}

/* How a routine ends: it goes back, or on to another one. */
static void put_end_of_routine(unsigned i) {
  const uint16_t to = i + 1 < ROUTINES ? routine_behind(i) : 0;
  switch (to ? below(8) : 7) {
    case 0:
      put(3, 0x4C, to & 0xFF, to >> 8);
      break;
    case 1:
      put_pointer(0x92, to);
      put(3, 0x6C, 0x92, 0x00);
      break;
    case 2: /* a return to what was pushed */
      put(7, 0xA9, (to - 1) >> 8, 0x48, 0xA9, (to - 1) & 0xFF, 0x48, 0x60);
      break;
    case 3: /* the same by RTI */
      put(10, 0xA9, to >> 8, 0x48, 0xA9, to & 0xFF, 0x48, 0xA9, noise() & 0xF7, 0x48, 0x40);
      break;
    case 4: /* code in RAM jumps on */
      put(4, 0xA9, 0x4C, 0x85, 0x94);
      put_pointer(0x95, to);
      put(3, 0x4C, 0x94, 0x00);
      break;
    default:
      put(1, 0x60);
      break;
  }
}

static void put_routine(unsigned bank, unsigned i) {
  end = bank * 4096 + FIRST_ROUTINE + ROUTINE * i;
  put_table_read();
  if (below(4) == 0) put(2, 0x00, 0xEA); /* BRK: its routine returns by RTI */
  if (i + 1 < ROUTINES && below(2)) {
    const uint16_t to = routine_behind(i);
    put(3, 0x20, to & 0xFF, to >> 8);
  }
  if (below(4) == 0) put_table_read();
  put_end_of_routine(i);
  assert_true(end <= bank * 4096 + FIRST_ROUTINE + ROUTINE * (i + 1));
}

/* Some programs end their frame in the last bytes of a bank, and run on where there is no ROM. */
static void make_fe_program(bool runs_out) {
  for (size_t i = 0; i < 8192; i++) image[i] = noise_byte();
  for (unsigned i = 0; i < ROUTINES; i++) {
    put_routine(0, i);
    put_routine(1, i);
  }
  for (unsigned bank = 0; bank < 2; bank++) {
    end = bank * 4096 + 0x1F0;
    put(1, 0x40); /* RTI, for BRK */
    end = bank * 4096 + 0x200;
    put(4, 0xD8, 0xA2, 0xFF, 0x9A);
    for (int i = 0; i < 12; i++) {
      const uint16_t to = seen_at(below(2), FIRST_ROUTINE + ROUTINE * below(ROUTINES));
      put(3, 0x20, to & 0xFF, to >> 8);
    }
    put_end_of_frame(runs_out ? seen_at(bank, 0xFF6 + below(4)) : seen_at(below(2), 0x200));
    const uint16_t starts = seen_at(below(2), 0x200), breaks = seen_at(below(2), 0x1F0);
    end = bank * 4096 + 0xFFA;
    put(6, ONE_OF(0xAD, 0x4C, 0xEA), noise(), starts & 0xFF, starts >> 8, breaks & 0xFF, breaks >> 8);
  }
}

static void test_banks_of_fe_are_chosen_by_the_address(void **state) {
  (void)state;
  int whole = 0;
  const int programs = trials(120, 20);
  for (int i = 0; i < programs; i++) {
    random_state = 810000 + (uint64_t)i;
    make_fe_program(i % 4 == 3);
    for (int compiled = 0; compiled < 2; compiled++) whole += compare(VCS_SCHEME_FE, 8192, i, compiled);
  }
  assert_in_range(whole / (2 * programs), 60, 100);
  assert_most_are_compiled();
}

/* ---- Hot spots ------------------------------------------------------------------------------------------------ */

/* In every 1 KiB of the image the program is at MAIN, and instructions from AROUND to LAST; a return follows, which is
 * the low byte of the reset vector, too. */
enum { MAIN = 0x260, AROUND = 0x380, LAST = 0x3FC };

static unsigned other_mirror; /* beside $F000: a bank is compiled for each */

static uint16_t any_mirror(void) { return (uint16_t)(below(2) ? 0xE000 : other_mirror << 13); }

/* An address near the end of the window, or of a slice; or RAM. */
static uint16_t address_near_hot_spots(void) {
  switch (below(6)) {
    case 0:
      return (uint16_t)(0x80 + below(0x40));
    case 1:
      return (uint16_t)(any_mirror() | 0x1380 | below(4) << 10 | below(0x7C));
    default:
      return (uint16_t)(any_mirror() | 0x1FC0 | below(0x40));
  }
}

static void put_of_length(unsigned length) {
  const uint16_t addr = address_near_hot_spots();
  if (length == 1) {
    put(1, ONE_OF(0xEA, 0x18, 0x38, 0xCA, 0x88, 0xE8, 0xC8, 0x0A, 0x4A, 0x2A, 0x6A, 0xAA, 0x8A, 0xA8, 0x98));
  } else if (length == 2) {
    const uint8_t opcode =
        ONE_OF(0xA9, 0x69, 0x49, 0xC9, 0xA2, 0xA0, 0xA5, 0xE6, 0x85, 0xC6, 0xB1, 0x51, 0x90, 0xF0, 0x10, 0xD0);
    const bool branch = (opcode & 0x1F) == 0x10, pointer = opcode == 0xB1 || opcode == 0x51;
    put(2, opcode, branch ? below(3) : pointer ? 0x90 + 2 * below(4) : 0xA0 + below(0x20));
  } else {
    put(3, ONE_OF(0xAD, 0xBD, 0xB9, 0x8D, 0x9D, 0x4D, 0xAC, 0x7D, 0xD9, 0x2C), addr & 0xFF, addr >> 8);
  }
}

static void put_main(vcs_scheme_t scheme, const unsigned *starts, unsigned count) {
  put(4, 0xD8, 0xA2, 0xFF, 0x9A);
  for (uint8_t i = 0; i < 4; i++) put_pointer((uint8_t)(0x90 + 2 * i), address_near_hot_spots());
  for (int i = 0; i < 14; i++) {
    const unsigned slice = scheme != VCS_SCHEME_E7 && below(2) ? below(4) : 3;
    const uint16_t to = (uint16_t)(any_mirror() | 0x1000 | slice << 10 | starts[below(count)]);
    put(6, 0xA9, noise(), 0xA2, noise(), 0xA0, below(0x40));
    put(5, 0x20, to & 0xFF, to >> 8, 0x85, 0xC0 + below(0x10));
  }
  put_end_of_frame((uint16_t)(0xF800 + MAIN));
}

static void make_program_around_hot_spots(vcs_scheme_t scheme, size_t size) {
  unsigned starts[LAST - AROUND], lengths[LAST - AROUND], count = 0;
  for (unsigned at = AROUND; at < LAST; at += lengths[count++]) {
    starts[count] = at;
    lengths[count] = at < LAST - 6 ? 1 + below(3) : 1;
  }
  for (size_t i = 0; i < size; i++) image[i] = noise_byte();
  other_mirror = below(8);
  end = MAIN;
  put_main(scheme, starts, count);
  assert_true(end <= AROUND);
  for (size_t slice = 0; slice + 1024 <= size; slice += 1024) {
    memmove(image + slice + MAIN, image + MAIN, AROUND - MAIN);
    end = slice + AROUND;
    for (unsigned i = 0; i < count; i++) put_of_length(lengths[i]);
    put(4, 0x60, 0xF8 + (MAIN >> 8), 0x60, 0xF8 + (MAIN >> 8));
  }
}

static void test_banks_code_around_hot_spots(void **state) {
  static const struct {
    vcs_scheme_t scheme;
    size_t size;
  } kinds[] = {{VCS_SCHEME_F8, 8192},  {VCS_SCHEME_F6, 16384},   {VCS_SCHEME_F4, 32768}, {VCS_SCHEME_F8SC, 8192},
               {VCS_SCHEME_E0, 8192},  {VCS_SCHEME_F4SC, 32768}, {VCS_SCHEME_FA, 12288}, {VCS_SCHEME_DPC, 10240},
               {VCS_SCHEME_E7, 16384}, {VCS_SCHEME_F6SC, 16384}};
  (void)state;
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    int whole = 0;
    const int programs = trials(60, 10);
    for (int i = 0; i < programs; i++) {
      random_state = 820000 + 1000 * kind + (uint64_t)i;
      make_program_around_hot_spots(kinds[kind].scheme, kinds[kind].size);
      for (int compiled = 0; compiled < 2; compiled++) {
        whole += compare(kinds[kind].scheme, kinds[kind].size, i, compiled);
      }
    }
    assert_in_range(whole / (2 * programs), 40, 100);
    assert_most_are_compiled();
  }
}

/* ---- What is decoded ------------------------------------------------------------------------------------------ */

static uint16_t row_at(vcs_scheme_t scheme, uint32_t at) {
  vcs_cart_t cart = {.rom = image, .rom_size = scheme == VCS_SCHEME_F6 ? 16384 : 8192, .scheme = (uint8_t)scheme};
  return vcs_decode(&cart, at).row;
}

static void test_banks_decode_all_but_hot_spots(void **state) {
  (void)state;
  memset(image, 0xEA, sizeof image);
  for (uint32_t at = 0xF00; at < 0xFFF; at++) { /* the last byte of a bank is a step in any scheme */
    assert_int_equal(row_at(VCS_SCHEME_F8, at), at == 0xFF8 || at == 0xFF9 ? VCS_ROW_HOT : 0xEA);
    assert_int_equal(row_at(VCS_SCHEME_F6, at), at >= 0xFF6 && at <= 0xFF9 ? VCS_ROW_HOT : 0xEA);
    assert_int_equal(row_at(VCS_SCHEME_E0, at + 4096), at >= 0xFE0 && at <= 0xFF7 ? VCS_ROW_HOT : 0xEA);
    assert_int_equal(row_at(VCS_SCHEME_FE, at), 0xEA);
    if (at != 0xBFF) assert_int_equal(row_at(VCS_SCHEME_DPC, at), at >= 0xFC0 ? VCS_ROW_HOT : 0xEA);
  }
  image[0xFF6] = image[0xFFA] = 0xAD; /* LDA $EAEA, across the first hot spot and behind the second */
  assert_int_equal(row_at(VCS_SCHEME_F8, 0xFF6), VCS_ROW_STEP);
  assert_int_equal(row_at(VCS_SCHEME_F8, 0xFFA), 0xAD + VCS_ROW_SECOND);
  image[0xFF5] = 0xA9; /* LDA #, which ends before it */
  assert_int_equal(row_at(VCS_SCHEME_F8, 0xFF5), 0xA9);
}

static void test_banks_decode_tables_of_fe(void **state) {
  (void)state;
  memset(image, 0xEA, sizeof image);
  for (unsigned bank = 0; bank < 2; bank++) {
    for (unsigned high = 0; high < 8; high++) {
      const uint32_t at = bank * 4096 + 0x300;
      image[at] = 0xAD;
      image[at + 2] = (uint8_t)(high << 5 | 0x15);
      const bool own = (high & 1) == 1 - bank; /* A13 is high for the first bank */
      assert_int_equal(row_at(VCS_SCHEME_FE, at), own ? 0xAD : 0xAD + VCS_ROW_SECOND);
      image[at] = 0xBD;
      assert_int_equal(row_at(VCS_SCHEME_FE, at), own ? 0xBD : 0xBD + VCS_ROW_SECOND);
      image[at + 2] = (uint8_t)(high << 5 | 0x1F); /* beyond the end of the bank, with an index */
      assert_int_equal(row_at(VCS_SCHEME_FE, at), 0xBD + VCS_ROW_SECOND);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_banks_of_fe_are_chosen_by_the_address), cmocka_unit_test(test_banks_code_around_hot_spots),
      cmocka_unit_test(test_banks_decode_all_but_hot_spots), cmocka_unit_test(test_banks_decode_tables_of_fe)};
  return cmocka_run_group_tests_name("banks", tests, NULL, NULL);
}
