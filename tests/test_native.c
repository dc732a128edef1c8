/* test_native.c: compiled code (host/native.c) against the same machine one instruction at a time (core/cpu.h).
 *
 * Programs are made of trials. A trial sets all registers and flags to noise, executes an instruction among others that
 * set, read or keep what it sets, with operands in RAM, ROM and the chips, and stores all registers and flags. Every
 * opcode is tried with every addressing mode that it has. Programs run frame by frame, compiled before their first
 * frame, and step by step; the two machines must be equal after every frame, byte for byte.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "core/cpu_ops.h"
#include "core/state.h"
#include "host/native.h"
#include "noise.h"
#include "program.h"

enum { TRIALS_END = 0xE00 };

/* Two bytes of an address: RAM and its mirrors, tables in ROM, the TIA, the RIOT. */
static uint16_t any_address(void) {
  switch (below(8)) {
    case 0:
      return (uint16_t)(0xF000 + below(0xF80));
    case 1:
      return (uint16_t)(0x280 + below(8));
    case 2:
      return (uint16_t)(4 + below(0x28));
    case 3:
      return (uint16_t)(0x180 + below(128));
    case 4:
      return (uint16_t)(0xFF00 + below(0x100));
    default:
      return (uint16_t)(0x80 + below(128));
  }
}

/* An instruction with an operand; branches go forwards. */
static void put_instruction(uint8_t opcode) {
  const vcs_opcode_t op = vcs_opcode(opcode);
  const uint16_t addr = any_address();
  switch (op.mode) {
    case VCS_MODE_IMP:
    case VCS_MODE_ACC:
      put(1, opcode);
      break;
    case VCS_MODE_IMM:
      put(2, opcode, below(2) ? noise() : ONE_OF(0, 1, 0x7F, 0x80, 0xFF));
      break;
    case VCS_MODE_REL:
      put(2, opcode, 2 + below(2)); /* over an instruction that sets flags */
      put(3, ONE_OF(0xA9, 0xC9, 0x69, 0xEA), 0xEA, 0xEA);
      break;
    case VCS_MODE_ABS:
    case VCS_MODE_ABX:
    case VCS_MODE_ABY:
      put(3, opcode, addr & 0xFF, addr >> 8);
      break;
    case VCS_MODE_IZX:
    case VCS_MODE_IZY:
      put(2, opcode, 0x90 + below(16));
      break;
    default:
      put(2, opcode, below(4) ? 0x80 + below(128) : 4 + below(0x28));
      break;
  }
}

/* One that goes on with the next instruction, and does not end the frame or lose the stack. */
static bool is_ordinary(uint8_t opcode) {
  const vcs_opcode_t op = vcs_opcode(opcode);
  return op.access != VCS_ACCESS_JUMP && op.access != VCS_ACCESS_STACK && strcmp(op.name, "JAM") != 0;
}

static void put_ordinary(void) {
  uint8_t opcode;
  do {
    opcode = below(3) ? ONE_OF(0xA9, 0xA5, 0xC9, 0xC5, 0x69, 0xE9, 0x65, 0x18, 0x38, 0xB0, 0x90, 0xD0, 0xF0, 0x10, 0x30,
                               0x50, 0x70, 0xCA, 0x88, 0xE8, 0x0A, 0x4A, 0x2A, 0x6A, 0xE6, 0xC6, 0x26, 0x24, 0x29)
                      : noise_byte();
  } while (!is_ordinary(opcode));
  put_instruction(opcode);
}

/* The instruction of the trial, whatever it is. */
static void put_tried(uint8_t opcode) {
  switch (opcode) {
    case 0x4C: /* JMP */
      put(4, 0x4C, (end + 4) & 0xFF, 0xF0 + ((end + 4) >> 8), 0xEA);
      break;
    case 0x6C: { /* JMP (pointer in RAM) */
      const size_t to = end + 11;
      put(11, 0xA9, to & 0xFF, 0x85, 0xA0, 0xA9, 0xF0 + (to >> 8), 0x85, 0xA1, 0x6C, 0xA0, 0x00);
      break;
    }
    case 0x20:   /* JSR to an RTS */
    case 0x60: { /* RTS */
      const size_t to = end + 6;
      put(7, 0x20, to & 0xFF, 0xF0 + (to >> 8), 0x4C, (to + 1) & 0xFF, 0xF0 + ((to + 1) >> 8), 0x60);
      break;
    }
    case 0x40: { /* RTI: status and address are pushed */
      const size_t to = end + 10;
      put(10, 0xA9, 0xF0 + (to >> 8), 0x48, 0xA9, to & 0xFF, 0x48, 0xA9, noise() & 0xF7, 0x48, 0x40);
      break;
    }
    case 0x00: /* BRK: its vector returns by RTI */
      put(2, 0x00, 0xEA);
      break;
    default:
      put_instruction(opcode);
      break;
  }
}

static void put_trial(uint8_t opcode) {
  put(3, 0xA2, ONE_OF(0xFF, 0xFE, 0xFD, 0xC0, 0x83), 0x9A);      /* LDX #, TXS */
  put(4, 0xA9, below(4) ? noise() & 0xF7 : noise(), 0x48, 0x28); /* LDA #, PHA, PLP: binary, mostly */
  put(6, 0xA9, noise(), 0xA2, below(2) ? noise() : below(4), 0xA0, below(2) ? noise() : below(4));
  for (unsigned i = below(4); i > 0; i--) put_ordinary();
  put_tried(opcode);
  for (unsigned i = below(4); i > 0; i--) put_ordinary();
  put(2, 0x08, 0x85); /* PHP, STA */
  put(1, 0x80 + below(128));
  put(5, 0x86, 0x80 + below(128), 0x84, 0x80 + below(128), 0xBA); /* STX, STY, TSX */
  put(4, 0x86, 0x80 + below(128), 0x85, 0x02);                    /* STX, WSYNC */
  put(4, 0xA9, 0x00, 0x85, 0x90);                                 /* pointers to RAM, ROM and chips */
}

static void start_program(void) {
  for (size_t i = 0; i < 4096; i++) image[i] = noise_byte();
  end = 0x200;
  put(3, 0xA2, 0xFF, 0x9A);
  for (int i = 0; i < 16; i += 2) { /* at $90 */
    const uint16_t addr = any_address();
    put(8, 0xA9, addr & 0xFF, 0x85, 0x90 + i, 0xA9, addr >> 8, 0x85, 0x91 + i);
  }
}

static void end_program(void) {
  put(4, 0xD8, 0xA2, 0xFF, 0x9A);
  put(17, 0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x4C, 0x00, 0xF2);
  image[0xFFC] = 0x00;
  image[0xFFD] = 0xF2;
  image[0x1F0] = 0x40; /* RTI, for BRK */
  image[0xFFE] = 0xF0;
  image[0xFFF] = 0xF1;
}

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m) {
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !step.frame_over && !m->jammed; i++) vcs_step(cart, m, NULL, &step);
  vcs_frame_end(cart, m, NULL);
}

/* It was compiled, where the host can, has not given up, and is not too large. */
static void assert_has_code(const vcs_cart_t *cart) {
  if (!cart->native) return;
  assert_in_range(vcs_native_size(cart->native), 1, (1 << 20) - 1);
}

static void compare(uint64_t seed, int opcode) {
  static vcs_t one, other;
  vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .scheme = VCS_SCHEME_4K, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  assert_int_equal(vcs_cart_load(image, 4096, &options, &cart, &error), VCS_OK);
  vcs_boot(cart, &one, NULL);
  memcpy(&other, &one, vcs_state_size(cart));
  for (int i = 0; i < 4; i++) {
    vcs_frame(cart, &one, NULL);
    frame_by_steps(cart, &other);
    if (memcmp(&one, &other, vcs_state_size(cart)) == 0) continue;
    const vcs_field_t *field = NULL;
    for (int f = 0; (field = vcs_field(f)); f++) {
      const void *a = (const char *)&one + field->offset, *b = (const char *)&other + field->offset;
      if (memcmp(a, b, (size_t)field->size * field->count) != 0) break;
    }
    fail_msg("opcode $%02X, program %llu, frame %d: %s", (unsigned)opcode, (unsigned long long)seed, i,
             field ? field->name : "?");
  }
  assert_has_code(cart);
  vcs_cart_free(cart);
}

static void test_native_every_opcode(void **state) {
  (void)state;
  vcs_native_after(0);
  for (int opcode = 0; opcode < 256; opcode++) {
    if (strcmp(vcs_opcode((unsigned)opcode).name, "JAM") == 0) continue;
    for (int seed = 0; seed < trials(8, 2); seed++) {
      random_state = (uint64_t)(1000 * opcode + seed);
      start_program();
      while (end < TRIALS_END) put_trial((uint8_t)opcode);
      end_program();
      compare((uint64_t)seed, opcode);
    }
  }
}

/* ---- Cartridges ----------------------------------------------------------------------------------------------- */

static vcs_cart_t *load_program(vcs_scheme_t scheme, size_t size) {
  vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .scheme = scheme, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart;
  vcs_error_t error;
  for (size_t bank = 4096; bank < size; bank += 4096) memcpy(image + bank, image, 4096);
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, &error), VCS_OK);
  return cart;
}

static void make_program(uint64_t seed) {
  random_state = seed;
  start_program();
  while (end < TRIALS_END) {
    uint8_t opcode = noise_byte();
    if (strcmp(vcs_opcode(opcode).name, "JAM") != 0) put_trial(opcode);
  }
  end_program();
}

/* Bank switching: every bank is the same program, and operands are on hot spots and ports of cartridge RAM too. */
static void test_native_banks(void **state) {
  static const struct {
    vcs_scheme_t scheme;
    size_t size;
  } kinds[] = {{VCS_SCHEME_F8, 8192},  {VCS_SCHEME_F6SC, 16384}, {VCS_SCHEME_E0, 8192},  {VCS_SCHEME_FE, 8192},
               {VCS_SCHEME_E7, 16384}, {VCS_SCHEME_FA, 12288},   {VCS_SCHEME_DPC, 10240}};
  static vcs_t one, other;
  (void)state;
  vcs_native_after(0);
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    for (int seed = 0; seed < trials(30, 5); seed++) {
      make_program(500000 + 1000 * kind + (uint64_t)seed);
      vcs_cart_t *cart = load_program(kinds[kind].scheme, kinds[kind].size);
      vcs_boot(cart, &one, NULL);
      memcpy(&other, &one, vcs_state_size(cart));
      for (int i = 0; i < 4; i++) {
        vcs_frame(cart, &one, NULL);
        frame_by_steps(cart, &other);
        if (memcmp(&one, &other, vcs_state_size(cart)) != 0) {
          fail_msg("scheme %s, program %d, frame %d", vcs_cart_info(cart)->scheme_name, seed, i);
        }
      }
      if (kinds[kind].scheme != VCS_SCHEME_E7) assert_has_code(cart); /* there the program is in a RAM port */
      vcs_cart_free(cart);
    }
  }
}

typedef struct {
  const vcs_cart_t *cart;
  uint64_t hash;
} runner_t;

static void *run_frames(void *argument) {
  runner_t *runner = argument;
  vcs_t *m = malloc(sizeof *m);
  runner->hash = 0;
  if (!m) return NULL;
  vcs_boot(runner->cart, m, NULL);
  for (int i = 0; i < 40; i++) {
    vcs_frame(runner->cart, m, NULL);
    runner->hash = 31 * runner->hash + vcs_hash(runner->cart, m);
  }
  free(m);
  return NULL;
}

/* Threads find, compile and run the code of one cartridge at the same time. */
static void test_native_threads_share_code(void **state) {
  enum { THREADS = 4 };
  (void)state;
  for (int seed = 0; seed < trials(20, 4); seed++) {
    runner_t runner[THREADS + 1];
    pthread_t thread[THREADS];
    make_program(600000 + (uint64_t)seed);
    vcs_native_after(-1);
    vcs_cart_t *plain = load_program(VCS_SCHEME_4K, 4096);
    assert_null(plain->native);
    vcs_native_after(seed % 3);
    vcs_cart_t *cart = load_program(VCS_SCHEME_4K, 4096);
    runner[THREADS].cart = plain;
    run_frames(&runner[THREADS]);
    for (int i = 0; i < THREADS; i++) {
      runner[i].cart = cart;
      assert_int_equal(pthread_create(&thread[i], NULL, run_frames, &runner[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(thread[i], NULL);
      assert_int_equal(runner[i].hash, runner[THREADS].hash);
    }
    vcs_cart_free(cart);
    vcs_cart_free(plain);
  }
}

/* A copy of a cartridge with other bytes does not run the code of the bytes that were compiled. */
static void test_native_not_for_other_bytes(void **state) {
  static vcs_t one, other;
  static uint8_t changed[4096];
  (void)state;
  vcs_native_after(0);
  make_program(700000);
  vcs_cart_t *cart = load_program(VCS_SCHEME_4K, 4096);
  vcs_boot(cart, &one, NULL);
  vcs_frame(cart, &one, NULL);
  vcs_cart_t copy = *cart;
  memcpy(changed, cart->rom, sizeof changed);
  for (int i = 0x240; i < 0x400; i++) changed[i] = 0xEA;
  copy.rom = changed;
  copy.code = NULL;
  memcpy(&other, &one, vcs_state_size(cart));
  vcs_frame(&copy, &one, NULL);
  frame_by_steps(&copy, &other);
  assert_memory_equal(&one, &other, vcs_state_size(cart));
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_native_every_opcode), cmocka_unit_test(test_native_banks),
                                     cmocka_unit_test(test_native_threads_share_code),
                                     cmocka_unit_test(test_native_not_for_other_bytes)};
  return cmocka_run_group_tests_name("native", tests, NULL, NULL);
}
