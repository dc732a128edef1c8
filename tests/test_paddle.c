/* test_paddle.c: a paddle that is turned by a step is an input like a joystick, and its derivative is the exact effect.
 *
 * The program lets the capacitors charge and records in every line whether the left one is charged: a turn to the left
 * clears the top bit of some of these bytes, a turn to the right sets it in some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"
#include "diffvcs/grad.h"

enum { FRAMES = 2, LINES = 120, RAM_BITS = 1024 };

/* clang-format off */
static const uint8_t program[] = {
    0xA9, 0x82, 0x85, 0x01,              /* F000  LDA #$82  STA VBLANK   discharge */
    0xA9, 0x02, 0x85, 0x00, 0x85, 0x02,  /* F004  LDA #2    STA VSYNC    STA WSYNC */
    0xA9, 0x00, 0x85, 0x00, 0x85, 0x01,  /* F00A  LDA #0    STA VSYNC    STA VBLANK: charge */
    0xA2, LINES - 1,                     /* F010  LDX #119 */
    0x85, 0x02, 0xA5, 0x38, 0x95, 0x80,  /* F012  STA WSYNC  LDA INPT0  STA $80,X */
    0xCA, 0x10, 0xF7,                    /* F018  DEX  BPL F012 */
    0xA2, 0x80,                          /* F01B  LDX #128 */
    0x85, 0x02, 0xCA, 0xD0, 0xFB,        /* F01D  STA WSYNC  DEX  BNE F01D */
    0x4C, 0x00, 0xF0,                    /* F022  JMP F000 */
};
/* clang-format on */

typedef struct {
  vcs_cart_t *cart;
  vcs_t *start;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  size_t slots;
} fixture_t;

static void hold_at(fixture_t *fixture, int32_t resistance) {
  for (int f = 0; f < FRAMES; f++) fixture->controls[f] = (vcs_controls_t){.paddle = {resistance, resistance}};
}

static int set_up(void **state) {
  static fixture_t fixture;
  static uint8_t image[4096];
  memcpy(image, program, sizeof program);
  image[0xFFD] = 0xF0;
  const vcs_cart_options_t options = {.scheme = VCS_SCHEME_4K, .format = VCS_FORMAT_NTSC};
  if (vcs_cart_load(image, sizeof image, &options, &fixture.cart, NULL)) return -1;
  fixture.cart->controller[0] = VCS_CONTROLLER_PADDLES;
  fixture.start = calloc(1, vcs_state_size(fixture.cart));
  if (!fixture.start) return -1;
  vcs_boot(fixture.cart, fixture.start, NULL);
  for (int f = 0; f < 3; f++) vcs_frame(fixture.cart, fixture.start, NULL);
  fixture.run = (vcs_run_t){fixture.cart, fixture.start, NULL, fixture.controls, FRAMES};
  fixture.slots = 8 * vcs_state_size(fixture.cart);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  vcs_cart_free(fixture->cart);
  free(fixture->start);
  return 0;
}

/* What the flipped input does to RAM. */
static void truth_of(const fixture_t *fixture, const vcs_place_t *place, float ram[RAM_BITS]) {
  const vcs_truth_options_t options = {.threads = 1};
  const vcs_truth_results_t results = {.ram = ram};
  memset(ram, 0, RAM_BITS * sizeof *ram);
  assert_int_equal(vcs_truth(&fixture->run, &options, place, 1, &results, NULL), VCS_OK);
}

static int lines_moved(const float ram[RAM_BITS]) {
  int lines = 0;
  for (int i = 0; i < RAM_BITS; i++) lines += ram[i] != 0;
  return lines;
}

static void test_a_turn_forwards_is_the_truth(void **state) {
  fixture_t *fixture = *state;
  float ram[RAM_BITS], *out = calloc(fixture->slots, sizeof *out);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  for (int32_t resistance = 50000; resistance < 400000; resistance += 9777) {
    hold_at(fixture, resistance);
    for (uint32_t input = VCS_INPUT_LEFT; input <= VCS_INPUT_RIGHT; input++) {
      const vcs_place_t place = {VCS_PLACE_INPUT, 0, FRAMES - 1, input};
      float tangent[VCS_INPUTS * FRAMES] = {0};
      const vcs_grad_inputs_t in = {.input = tangent};
      const vcs_grad_outputs_t to = {.state = out};
      tangent[VCS_INPUTS * (FRAMES - 1) + input] = 1;
      memset(out, 0, fixture->slots * sizeof *out);
      truth_of(fixture, &place, ram);
      assert_int_equal(vcs_grad_jvp(&fixture->run, &options, &in, &to, NULL, NULL), VCS_OK);
      assert_in_range(lines_moved(ram), 5, 6); /* a step is 5.8 lines */
      assert_memory_equal(out + 8 * offsetof(vcs_t, ram), ram, sizeof ram);
    }
  }
  free(out);
}

/* Left is the side of more resistance. */
static void test_adjoints_of_a_side_are_the_truth(void **state) {
  fixture_t *fixture = *state;
  float ram[RAM_BITS], *adjoints = calloc(fixture->slots, sizeof *adjoints);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  hold_at(fixture, 200000);
  for (int i = 0; i < RAM_BITS; i++) adjoints[8 * offsetof(vcs_t, ram) + (size_t)i] = (float)(i % 37 - 18);
  for (uint32_t input = VCS_INPUT_LEFT; input <= VCS_INPUT_RIGHT; input++) {
    const vcs_place_t place = {VCS_PLACE_INPUT, 0, FRAMES - 1, input};
    float sum = 0, slots[VCS_INPUTS * FRAMES] = {0};
    const vcs_grad_inputs_t in = {.input = slots};
    float *copy = malloc(fixture->slots * sizeof *copy);
    memcpy(copy, adjoints, fixture->slots * sizeof *copy);
    const vcs_grad_outputs_t to = {.state = copy};
    options.side = input == VCS_INPUT_LEFT ? VCS_SIDE_MORE : VCS_SIDE_LESS;
    truth_of(fixture, &place, ram);
    for (int i = 0; i < RAM_BITS; i++) sum += ram[i] * adjoints[8 * offsetof(vcs_t, ram) + (size_t)i];
    assert_int_equal(vcs_grad_vjp(&fixture->run, &options, &in, &to, NULL, NULL), VCS_OK);
    assert_true(sum != 0);
    assert_true(slots[VCS_INPUTS * (FRAMES - 1) + input] == sum);
    free(copy);
  }
  free(adjoints);
}

/* The ramp of a capacitor: more resistance, less charge, on every line. */
static void test_the_paper_has_a_ramp(void **state) {
  fixture_t *fixture = *state;
  float *out = calloc(fixture->slots, sizeof *out), tangent[VCS_INPUTS * FRAMES] = {0};
  const vcs_grad_inputs_t in = {.input = tangent};
  const vcs_grad_outputs_t to = {.state = out};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = VCS_METHOD_STE;
  hold_at(fixture, 200000);
  tangent[VCS_INPUTS * (FRAMES - 1) + VCS_INPUT_LEFT] = 1;
  assert_int_equal(vcs_grad_jvp(&fixture->run, &options, &in, &to, NULL, NULL), VCS_OK);
  for (size_t i = 0; i < LINES; i++) assert_true(out[8 * (offsetof(vcs_t, ram) + i) + 7] < 0);
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_turn_forwards_is_the_truth),
      cmocka_unit_test(test_adjoints_of_a_side_are_the_truth),
      cmocka_unit_test(test_the_paper_has_a_ramp),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
