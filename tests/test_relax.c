/* test_relax.c: the relaxed machine.
 *
 * Softened values against sums written out here; the machine of integers and the machine of real numbers against each
 * other, instruction by instruction, where they must agree and where the relaxation goes wrong; both against the exact
 * machine where it must not; derivatives against differences. What the paper prints is checked if DIFFVCS_ROMS names a
 * folder with Space Invaders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "carts.h"
#include "core/cpu_ops.h"
#include "core/state.h"
#include "diffvcs/grad.h"
#include "diffvcs/relax.h"
#include "diffvcs/study.h"
#include "need.h"
#include "noise.h"

/* ---- Machines -------------------------------------------------------------------------------------------------- */

static vcs_cart_t *load_demo(void) { return load_demo_as(VCS_PROFILE_XITARI, "demo"); }

/* NULL: no such image. */
static vcs_cart_t *load_game(const char *name) { return load_game_as(name, VCS_PROFILE_XITARI); }

/* 4 KiB of noise, begun at $F000; hot spots and the like are as far away as can be. */
static vcs_cart_t *load_noise(void) {
  uint8_t image[4096];
  for (size_t i = 0; i < sizeof image; i++) image[i] = (uint8_t)noise();
  image[0xFFC] = 0x00;
  image[0xFFD] = 0xF0;
  return load_as(image, sizeof image, VCS_PROFILE_XITARI, "noise");
}

static vcs_relax_t *relaxed(const vcs_cart_t *cart, const vcs_relax_options_t *options) {
  vcs_relax_t *relax;
  vcs_error_t error = {""};
  if (vcs_relax_create(cart, options, &relax, &error)) fail_msg("%s", error.message);
  return relax;
}

static vcs_relax_options_t options_of(double alpha, double temperature) {
  vcs_relax_options_t options;
  vcs_relax_defaults(&options);
  options.alpha = alpha;
  options.temperature = temperature;
  return options;
}

static void assert_same_machine(const vcs_cart_t *cart, const vcs_t *a, const vcs_t *b, int when) {
  if (!memcmp(a, b, vcs_state_size(cart))) return;
  for (int i = 0; vcs_field(i); i++) {
    const vcs_field_t *field = vcs_field(i);
    size_t size = field->size * field->count;
    if (!strcmp(field->name, "cart_ram")) size = cart->ram_size;
    if (memcmp((const char *)a + field->offset, (const char *)b + field->offset, size))
      print_error("step %d: %s differs\n", when, field->name);
  }
  fail();
}

/* ---- Softened values ------------------------------------------------------------------------------------------- */

/* The same read by the definition: a softmax over every cell of the array. */
static double read_all(const vcs_relax_options_t *o, const uint8_t *cells, int size, int index) {
  double sum = 0, total = 0;
  float narrow_sum = 0, narrow_total = 0;
  int before = o->wrap ? (size - 1) / 2 : index, after = o->wrap ? size / 2 : size - 1 - index;
  for (int k = -before; k <= after; k++) {
    if (o->window && abs(k) > o->window) continue;
    int cell = (index + k + size) % size;
    double weight = exp(-abs(k) / o->temperature);
    float narrow = expf((float)-abs(k) / (float)o->temperature);
    sum += weight * cells[cell];
    total += weight;
    narrow_sum += narrow * (float)cells[cell];
    narrow_total += narrow;
  }
  return o->single ? narrow_sum / narrow_total : sum / total;
}

static void test_read_is_the_softmax_over_the_whole_array(void **state) {
  (void)state;
  static const double temperatures[] = {0.01, 0.08, 0.14, 0.2, 1, 50};
  vcs_cart_t *cart = load_demo();
  uint8_t cells[128];
  for (int i = 0; i < 128; i++) cells[i] = (uint8_t)noise();
  for (int i = 0; i < 6 * 8; i++) {
    vcs_relax_options_t o = options_of(6, temperatures[i / 8]);
    o.single = i & 1;
    o.wrap = i >> 1 & 1;
    o.window = i & 4 ? 4 : 0;
    vcs_relax_t *relax = relaxed(cart, &o);
    for (int index = 0; index < 128; index++)
      assert_true(vcs_relax_read(relax, cells, 128, index) == read_all(&o, cells, 128, index));
    vcs_relax_free(relax);
  }
  vcs_cart_free(cart);
}

static void test_branch_is_exact_below_the_papers_threshold(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  for (int alpha = 1; alpha <= 6; alpha++) {
    const vcs_relax_options_t o = options_of(alpha, 0.14);
    vcs_relax_t *relax = relaxed(cart, &o);
    double threshold = 0.5 * (1 + exp(alpha));
    for (int offset = -128; offset < 128; offset++) {
      for (int taken = 0; taken < 2; taken++) {
        double pc = vcs_relax_branch(relax, 0xF000, offset, taken);
        assert_int_equal(nearbyint(pc) == 0xF000 + (taken ? offset : 0), abs(offset) < threshold);
      }
    }
    vcs_relax_free(relax);
  }
  vcs_cart_free(cart);
}

static void test_bad_options_are_refused(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  vcs_relax_options_t o = options_of(6, 0.14), wrong[7];
  vcs_relax_t *relax;
  vcs_error_t error;
  for (int i = 0; i < 7; i++) wrong[i] = o;
  wrong[0].alpha = 0;
  wrong[1].temperature = -1;
  wrong[2].temperature = NAN;
  wrong[3].window = -1;
  wrong[4].dispatch = 7;
  wrong[5].alpha = INFINITY;
  wrong[6].alpha = 1e39; /* infinite as a float */
  for (int i = 0; i < 7; i++) {
    assert_int_equal(vcs_relax_create(cart, &wrong[i], &relax, &error), VCS_BAD_ARGUMENT);
    assert_null(relax);
    assert_true(strlen(error.message) > 10);
  }
  vcs_cart_free(cart);
}

/* ---- Machines against each other ------------------------------------------------------------------------------- */

/* Sharp settings are HARD, whole frames long, with every field of the machine. */
static void check_sharp(vcs_cart_t *cart, uint8_t cast, uint8_t dispatch, int frames) {
  vcs_relax_options_t o = options_of(1000, 0.001);
  o.cast = cast;
  o.dispatch = dispatch;
  vcs_relax_t *relax = relaxed(cart, &o);
  vcs_env_t *env;
  vcs_controls_t controls = {{0}, {0}, {0}, 0};
  uint8_t *buffers = calloc(4, VCS_FRAME_BYTES), *others = buffers + 2 * VCS_FRAME_BYTES;
  vcs_t *m = malloc(vcs_state_size(cart));
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  memcpy(m, vcs_env_machine(env), vcs_state_size(cart));
  vcs_relax_load(relax, m);
  for (int i = 0; i < frames; i++) {
    controls.held[0] = (uint8_t)(noise() & 31);
    vcs_control(cart, m, &controls);
    vcs_relax_control(relax, &controls);
    vcs_frame(cart, m, buffers);
    vcs_relax_frame(relax, others);
    assert_same_machine(cart, m, vcs_relax_machine(relax), i);
    assert_memory_equal(buffers, others, 2 * VCS_FRAME_BYTES);
  }
  assert_int_equal(vcs_relax_report(relax)->wrong_reads + vcs_relax_report(relax)->wrong_branches, 0);
  assert_true(vcs_relax_report(relax)->reads > 1000);
  free(m);
  free(buffers);
  vcs_env_free(env);
  vcs_relax_free(relax);
}

static void test_sharp_is_hard(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo();
  check_sharp(demo, VCS_CAST_ROUND, VCS_DISPATCH_HARD, 40);
  check_sharp(demo, VCS_CAST_NONE, VCS_DISPATCH_HARD, 10);
  check_sharp(demo, VCS_CAST_NONE, VCS_DISPATCH_ONE_HOT, 1);
  check_sharp(demo, VCS_CAST_ROUND, VCS_DISPATCH_DISTANCE, 1);
  vcs_cart_free(demo);
  static const char *const games[] = {"space_invaders", "pong",     "elevator_action", "montezuma_revenge",
                                      "robotank",       "pitfall2", "solaris"};
  for (int i = 0; i < 7; i++) {
    vcs_cart_t *cart = load_game(games[i]);
    if (!cart) {
      NEED_PART("roms", games[i]);
      continue;
    }
    check_sharp(cart, VCS_CAST_ROUND, VCS_DISPATCH_HARD, 20);
    check_sharp(cart, VCS_CAST_NONE, VCS_DISPATCH_HARD, 4);
    vcs_cart_free(cart);
  }
}

/* A random state of the registers and of memory. */
static void scramble(vcs_t *m) {
  m->a = (uint8_t)noise();
  m->x = (uint8_t)noise();
  m->y = (uint8_t)noise();
  m->sp = (uint8_t)noise();
  m->p = (uint8_t)(noise() | 0x30);
  m->pc = (uint16_t)(0xF000 + noise() % 4000);
  for (int i = 0; i < 128; i++) m->ram[i] = (uint8_t)noise();
}

/* Programs of noise: every opcode, code in RAM, stacks in the TIA. Where values round wrongly both go the same wrong
 * way. */
static void check_round_both_ways(const vcs_relax_options_t *options) {
  uint64_t wrong = 0;
  for (int trial = 0; trial < trials(60, 10); trial++) {
    vcs_cart_t *cart = load_noise();
    vcs_relax_options_t real = *options;
    vcs_relax_t *integers = relaxed(cart, options), *numbers;
    real.cast = VCS_CAST_ROUND;
    numbers = relaxed(cart, &real);
    vcs_t *m = malloc(vcs_state_size(cart));
    memcpy(m, vcs_relax_machine(integers), vcs_state_size(cart));
    vcs_frame_begin(cart, m);
    scramble(m);
    vcs_relax_load(integers, m);
    vcs_relax_load(numbers, m);
    const size_t slots = vcs_relax_input_slots(numbers), states = vcs_relax_state_slots(numbers);
    double *none = calloc(slots, sizeof *none), *out = calloc(states, sizeof *out);
    for (int i = 0; i < 200 && !vcs_relax_machine(integers)->jammed; i++) {
      vcs_relax_step(integers, NULL);
      assert_int_equal(vcs_relax_jvp(numbers, 1, none, out, NULL), VCS_OK); /* runs the machine of real numbers */
      assert_same_machine(cart, vcs_relax_machine(integers), vcs_relax_machine(numbers), i);
    }
    wrong += vcs_relax_report(numbers)->wrong_reads;
    free(none);
    free(out);
    free(m);
    vcs_relax_free(integers);
    vcs_relax_free(numbers);
    vcs_cart_free(cart);
  }
  if (options->temperature > 0.15) assert_true(wrong > (uint64_t)trials(100, 10));
}

static void test_integers_and_rounded_numbers_agree(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    vcs_relax_options_t o = options_of(i & 1 ? 6 : 3, i & 1 ? 0.14 : 0.17);
    o.single = i >> 1 & 1;
    o.window = i & 2 ? 4 : 0;
    o.wrap = i & 1;
    o.bus = i & 4 ? VCS_BUS_REDUCED : VCS_BUS_REAL;
    check_round_both_ways(&o);
  }
}

/* Two frames after a first one: by frames, by steps, and by a product over as many steps. */
static void check_frames_by_steps(uint8_t cast) {
  vcs_cart_t *cart = load_demo();
  vcs_relax_options_t o = options_of(6, 0.14);
  o.cast = cast;
  o.window = 4;
  const size_t pixels = (size_t)(VCS_WIDTH * cart->frame_height);
  vcs_relax_t *relax[3];
  double *values[3], *pictures[3];
  for (int i = 0; i < 3; i++) {
    relax[i] = relaxed(cart, &o);
    values[i] = calloc(vcs_relax_input_slots(relax[i]), sizeof **values);
    pictures[i] = calloc(pixels, sizeof **pictures);
    vcs_relax_frame(relax[i], NULL);
  }
  const uint64_t before = vcs_relax_report(relax[0])->instructions;
  for (int i = 0; i < 2; i++) vcs_relax_frame(relax[0], NULL);
  const int32_t steps = (int32_t)(vcs_relax_report(relax[0])->instructions - before);
  for (int32_t i = 0; i < steps; i++) vcs_relax_step(relax[1], NULL);
  double *none = calloc(vcs_relax_input_slots(relax[2]), sizeof *none);
  double *out = calloc(vcs_relax_state_slots(relax[2]), sizeof *out);
  assert_int_equal(vcs_relax_jvp(relax[2], steps, none, out, NULL), VCS_OK);
  for (int i = 0; i < 3; i++) {
    vcs_relax_values(relax[i], values[i]);
    vcs_relax_picture(relax[i], pictures[i]);
    assert_same_machine(cart, vcs_relax_machine(relax[0]), vcs_relax_machine(relax[i]), steps);
    assert_memory_equal(values[0], values[i], vcs_relax_input_slots(relax[i]) * sizeof **values);
    if (cast == VCS_CAST_NONE) assert_memory_equal(pictures[0], pictures[i], pixels * sizeof **pictures);
  }
  for (int i = 0; i < 3; i++) free(values[i]), free(pictures[i]), vcs_relax_free(relax[i]);
  free(none);
  free(out);
  vcs_cart_free(cart);
}

static void test_steps_and_products_begin_and_end_frames(void **state) {
  (void)state;
  check_frames_by_steps(VCS_CAST_ROUND);
  check_frames_by_steps(VCS_CAST_NONE);
}

/* The derivative of a frame's picture, by a frame and by its steps. */
static void test_picture_by_steps_is_that_of_the_frame(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  vcs_relax_options_t o = options_of(6, 0.14);
  o.cast = VCS_CAST_NONE;
  o.window = 4;
  const size_t pixels = (size_t)(VCS_WIDTH * cart->frame_height);
  vcs_relax_t *relax = relaxed(cart, &o);
  const size_t slots = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax);
  double *direction = calloc(slots, sizeof *direction), *out[2];
  for (size_t i = VCS_SLOT_RAM; i < states; i++) direction[i] = fraction() - 0.5;
  vcs_t *m = malloc(vcs_state_size(cart));
  vcs_relax_frame(relax, NULL);
  memcpy(m, vcs_relax_machine(relax), vcs_state_size(cart));
  int32_t steps = VCS_RELAX_FRAME;
  for (int i = 0; i < 2; i++) {
    out[i] = calloc(states + pixels, sizeof **out);
    vcs_relax_load(relax, m);
    assert_int_equal(vcs_relax_jvp_picture(relax, steps, direction, out[i], out[i] + states, NULL), VCS_OK);
    steps = (int32_t)vcs_relax_report(relax)->instructions;
  }
  assert_memory_equal(out[0], out[1], (states + pixels) * sizeof **out);
  for (int i = 0; i < 2; i++) free(out[i]);
  free(direction);
  free(m);
  vcs_relax_free(relax);
  vcs_cart_free(cart);
}

/* ---- Real numbers ---------------------------------------------------------------------------------------------- */

/* A cartridge with a program at $F000, and NOP after it. */
static vcs_cart_t *load_program(const uint8_t *program, size_t size) {
  uint8_t image[4096];
  memset(image, 0xEA, sizeof image);
  memcpy(image, program, size);
  image[0xFFC] = 0x00;
  image[0xFFD] = 0xF0;
  return load_as(image, sizeof image, VCS_PROFILE_XITARI, "program");
}

/* With one instruction, an operand of $80 and up. */
static vcs_cart_t *load_one(int opcode) {
  const uint8_t program[] = {(uint8_t)opcode, 0x90, 0x00};
  return load_program(program, sizeof program);
}

/* With sharp reads the result is linear in each register between two integers: so the table of what an operation uses
 * is complete. */
static void test_operations_interpolate(void **state) {
  (void)state;
  for (int opcode = 0; opcode < 256; opcode++) {
    const vcs_opcode_t row = vcs_opcode((uint8_t)opcode);
    const bool plain = row.access == VCS_ACCESS_IMPLIED || row.mode == VCS_MODE_IMM || row.mode == VCS_MODE_ZP;
    if (!plain || row.access == VCS_ACCESS_STACK || row.name[0] == 'J') continue;
    vcs_cart_t *cart = load_one(opcode);
    vcs_relax_options_t o = options_of(6, 0.001);
    o.cast = VCS_CAST_NONE;
    vcs_relax_t *relax = relaxed(cart, &o);
    const size_t slots = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax);
    double *in = calloc(slots, sizeof *in), *out[3];
    vcs_t *m = malloc(vcs_state_size(cart));
    memcpy(m, vcs_relax_machine(relax), vcs_state_size(cart));
    for (int i = 0; i < 3; i++) out[i] = calloc(slots, sizeof **out);
    for (int trial = 0; trial < trials(40, 8); trial++) {
      scramble(m);
      m->pc = 0xF000;
      vcs_relax_load(relax, m);
      vcs_relax_values(relax, in);
      int slot = (int)(noise() % 11), low;
      if (slot == 10) slot = VCS_SLOT_RAM + 0x10; /* the operand in memory */
      low = slot >= VCS_SLOT_N && slot <= VCS_SLOT_C ? 0 : (int)(noise() % 255);
      for (int i = 0; i < 3; i++) { /* at both ends and at a quarter of the way */
        static const double parts[] = {0, 1, 0.25};
        vcs_relax_load(relax, m);
        in[slot] = low + parts[i];
        vcs_relax_set_values(relax, in);
        vcs_relax_step(relax, NULL);
        vcs_relax_values(relax, out[i]);
      }
      for (size_t i = 0; i < states; i++) {
        double expected = 0.75 * out[0][i] + 0.25 * out[1][i];
        if (fabs(out[2][i] - expected) > 1e-9)
          fail_msg("opcode %02X %s, slot %d from %d: slot %zu is %g, not %g", opcode, row.name, slot, low, i, out[2][i],
                   expected);
      }
    }
    for (int i = 0; i < 3; i++) free(out[i]);
    free(in);
    free(m);
    vcs_relax_free(relax);
    vcs_cart_free(cart);
  }
}

static void test_reduced_timer_is_what_was_written(void **state) {
  (void)state;
  static const uint8_t program[] = {0xA9, 33, 0x8D, 0x96, 0x02}; /* LDA #33, STA TIM64T */
  vcs_cart_t *cart = load_program(program, sizeof program);
  for (int dispatch = VCS_DISPATCH_HARD; dispatch <= VCS_DISPATCH_DISTANCE; dispatch++) {
    vcs_relax_options_t o = options_of(6, 0.02);
    o.cast = VCS_CAST_NONE;
    o.bus = VCS_BUS_REDUCED;
    o.dispatch = (uint8_t)dispatch;
    vcs_relax_t *relax = relaxed(cart, &o);
    double *values = calloc(vcs_relax_input_slots(relax), sizeof *values);
    vcs_relax_load_reduced(relax);
    for (int i = 0; i < 2; i++) vcs_relax_step(relax, NULL);
    vcs_relax_values(relax, values);
    assert_int_equal(vcs_relax_machine(relax)->timer, 33);
    assert_true(values[VCS_SLOT_TIMER] == 33);
    free(values);
    vcs_relax_free(relax);
  }
  vcs_cart_free(cart);
}

static void test_product_of_integers_reads_the_cartridges_image(void **state) {
  (void)state;
  static const uint8_t program[] = {0xA9, 33}; /* LDA #33 */
  vcs_cart_t *cart = load_program(program, sizeof program);
  const vcs_relax_options_t o = options_of(6, 0.14);
  vcs_relax_t *relax = relaxed(cart, &o);
  const size_t slots = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax);
  double *values = calloc(slots, sizeof *values), *none = calloc(slots, sizeof *none);
  double *out = calloc(states, sizeof *out);
  vcs_relax_values(relax, values);
  values[states + 1] = 77;
  vcs_relax_set_values(relax, values);
  vcs_relax_values(relax, values);
  assert_true(values[states + 1] == 33);
  values[states + 1] = 77;
  vcs_relax_set_values(relax, values);
  assert_int_equal(vcs_relax_jvp(relax, 1, none, out, NULL), VCS_OK);
  assert_int_equal(vcs_relax_machine(relax)->a, 33);
  free(values), free(none), free(out);
  vcs_relax_free(relax);
  vcs_cart_free(cart);
}

/* Where the weight of a neighbour is zero from a cell, but not from half way to it. */
static void test_read_between_cells_has_both_at_any_temperature(void **state) {
  (void)state;
  static const uint8_t program[] = {0xB5, 0x80}; /* LDA $80,X */
  static const double temperatures[] = {0.001, 0.005};
  vcs_cart_t *cart = load_program(program, sizeof program);
  for (int single = 0; single < 2; single++) {
    vcs_relax_options_t o = options_of(6, temperatures[single]);
    o.cast = VCS_CAST_NONE;
    o.single = (uint8_t)single;
    vcs_relax_t *relax = relaxed(cart, &o);
    double *values = calloc(vcs_relax_input_slots(relax), sizeof *values);
    vcs_relax_values(relax, values);
    values[VCS_SLOT_X] = 0.499;
    values[VCS_SLOT_RAM] = 10;
    values[VCS_SLOT_RAM + 1] = 200;
    vcs_relax_set_values(relax, values);
    vcs_relax_step(relax, NULL);
    vcs_relax_values(relax, values);
    const double weight = exp(-0.002 / o.temperature);
    assert_true(fabs(values[VCS_SLOT_A] - (10 + 200 * weight) / (1 + weight)) < 1e-3);
    free(values);
    vcs_relax_free(relax);
  }
  vcs_cart_free(cart);
}

static void test_positions_beyond_the_last_pixel_stay_when_set(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  for (int cast = VCS_CAST_ROUND; cast <= VCS_CAST_NONE; cast++) {
    vcs_relax_options_t o = options_of(6, 0.14);
    o.cast = (uint8_t)cast;
    vcs_relax_t *relax = relaxed(cart, &o);
    double *values = calloc(vcs_relax_input_slots(relax), sizeof *values);
    vcs_relax_values(relax, values);
    values[VCS_SLOT_POS] = 159.75;
    values[VCS_SLOT_POS + 1] = 160;
    vcs_relax_set_values(relax, values);
    vcs_relax_values(relax, values);
    assert_true(values[VCS_SLOT_POS] == (cast == VCS_CAST_NONE ? 159.75 : 159));
    assert_true(values[VCS_SLOT_POS + 1] < 160);
    assert_int_equal(vcs_relax_machine(relax)->pos[0], cast == VCS_CAST_NONE ? 0 : 159);
    free(values);
    vcs_relax_free(relax);
  }
  vcs_cart_free(cart);
}

static void test_timer_set_long_ago_has_a_derivative(void **state) {
  (void)state;
  static const uint8_t program[] = {0xAD, 0x84, 0x02}; /* LDA INTIM */
  vcs_cart_t *cart = load_program(program, sizeof program);
  vcs_relax_options_t o = options_of(6, 0.02);
  o.cast = VCS_CAST_NONE;
  vcs_relax_t *relax = relaxed(cart, &o);
  vcs_t *m = malloc(vcs_state_size(cart));
  memcpy(m, vcs_relax_machine(relax), vcs_state_size(cart));
  vcs_frame_begin(cart, m);
  const size_t slots = vcs_relax_input_slots(relax);
  double *values = calloc(slots, sizeof *values), *direction = calloc(slots, sizeof *direction), a[2];
  double *out = calloc(vcs_relax_state_slots(relax), sizeof *out);
  direction[VCS_SLOT_TIME] = 1;
  for (int i = 0; i < 3; i++) {
    vcs_relax_load(relax, m);
    vcs_relax_values(relax, values);
    values[VCS_SLOT_TIME] = 0;
    values[VCS_SLOT_TIMER_CYCLE] = -2147483644.75 - (i == 1 ? 0.125 : 0); /* 2^31 before the read; an interval ends */
    vcs_relax_set_values(relax, values);
    if (i < 2) {
      vcs_relax_step(relax, NULL);
      vcs_relax_values(relax, values);
      a[i] = values[VCS_SLOT_A];
    } else {
      assert_int_equal(vcs_relax_jvp(relax, 1, direction, out, NULL), VCS_OK);
      assert_true(fabs((a[1] - a[0]) / 0.125 + 1) < 1e-3 && fabs(out[VCS_SLOT_A] + 1) < 1e-3);
    }
  }
  free(values), free(direction), free(out), free(m);
  vcs_relax_free(relax);
  vcs_cart_free(cart);
}

/* A relaxed machine somewhere between the integers, in a program of noise. Everything that decides (rounded addresses,
 * the opcode) is away from its switching points. */
typedef struct {
  vcs_cart_t *cart;
  vcs_relax_t *relax;
  vcs_t *m;
  size_t slots, states;
  double *in;
} trial_t;

static void open_trial(trial_t *t, uint8_t dispatch, uint8_t bus) {
  t->cart = load_noise();
  vcs_relax_options_t o = options_of(3, 0.15);
  o.cast = VCS_CAST_NONE;
  o.dispatch = dispatch;
  o.bus = bus;
  t->relax = relaxed(t->cart, &o);
  t->slots = vcs_relax_input_slots(t->relax);
  t->states = vcs_relax_state_slots(t->relax);
  t->in = calloc(t->slots, sizeof *t->in);
  t->m = malloc(vcs_state_size(t->cart));
  memcpy(t->m, vcs_relax_machine(t->relax), vcs_state_size(t->cart));
  vcs_frame_begin(t->cart, t->m);
  scramble(t->m);
  vcs_relax_load(t->relax, t->m);
  vcs_relax_values(t->relax, t->in);
  for (size_t i = 0; i < t->slots; i++) { /* chips: test_relax_chips.c */
    if (i >= VCS_SLOT_TIME && i < VCS_SLOT_RAM) continue;
    if (i >= VCS_SLOT_N && i <= VCS_SLOT_C)
      t->in[i] = 0.1 + 0.8 * fraction();
    else
      t->in[i] = fmin(t->in[i], 254) + 0.01 + 0.3 * fraction();
  }
  t->in[VCS_SLOT_PC] = t->m->pc + 0.01 * fraction();
}

static void close_trial(trial_t *t) {
  free(t->in);
  free(t->m);
  vcs_relax_free(t->relax);
  vcs_cart_free(t->cart);
}

static void at(trial_t *t, const double *direction, double step, int steps, double *out) {
  double *in = malloc(t->slots * sizeof *in);
  for (size_t i = 0; i < t->slots; i++) in[i] = t->in[i] + (direction ? step * direction[i] : 0);
  vcs_relax_load(t->relax, t->m);
  vcs_relax_set_values(t->relax, in);
  for (int i = 0; i < steps; i++) vcs_relax_step(t->relax, NULL);
  vcs_relax_values(t->relax, out);
  free(in);
}

static void difference(trial_t *t, const double *direction, double h, double *out) {
  double *less = calloc(t->slots, sizeof *less);
  at(t, direction, h, 1, out);
  at(t, direction, -h, 1, less);
  for (size_t i = 0; i < t->states; i++) out[i] = (out[i] - less[i]) / (2 * h);
  free(less);
}

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(b)); }

static void check_derivatives(uint8_t dispatch, uint8_t bus, int count) {
  int all = 0, converged = 0, agreed = 0;
  for (int trial = 0; trial < count; trial++) {
    trial_t t;
    open_trial(&t, dispatch, bus);
    double *direction = calloc(t.slots, sizeof *direction), *forward = calloc(t.states, sizeof *forward);
    double *adjoint = calloc(t.states, sizeof *adjoint), *backward = calloc(t.slots, sizeof *backward);
    double *more = calloc(t.slots, sizeof *more), *wide = calloc(t.slots, sizeof *wide);
    double *narrow = calloc(t.slots, sizeof *narrow);
    for (size_t i = 0; i < t.slots; i++) direction[i] = i >= VCS_SLOT_TIME && i < VCS_SLOT_RAM ? 0 : fraction() - 0.5;
    for (size_t i = 0; i < t.states; i++) adjoint[i] = fraction() - 0.5;
    direction[VCS_SLOT_PC] *= 0.01;

    /* One Jacobian, two products. */
    at(&t, NULL, 0, 0, more);
    assert_int_equal(vcs_relax_jvp(t.relax, 3, direction, forward, NULL), VCS_OK);
    at(&t, NULL, 0, 0, more);
    assert_int_equal(vcs_relax_vjp(t.relax, 3, backward, adjoint, NULL), VCS_OK);
    double left = 0, right = 0, size = 0;
    for (size_t i = 0; i < t.states; i++) left += forward[i] * adjoint[i], size += fabs(forward[i] * adjoint[i]);
    for (size_t i = 0; i < t.slots; i++) right += backward[i] * direction[i];
    assert_true(fabs(left - right) <= 1e-9 * (size + 1));

    /* One step against a central difference, wherever it has converged: two widths give the same. */
    memset(forward, 0, t.states * sizeof *forward);
    at(&t, NULL, 0, 0, more);
    assert_int_equal(vcs_relax_jvp(t.relax, 1, direction, forward, NULL), VCS_OK);
    difference(&t, direction, 2e-6, wide);
    difference(&t, direction, 5e-7, narrow);
    for (size_t i = 0; i < t.states; i++) {
      if (!is_near(wide[i], narrow[i], 1e-4)) continue;
      converged++;
      agreed += is_near(forward[i], narrow[i], 1e-3);
    }
    all += (int)t.states;
    free(direction), free(forward), free(adjoint), free(backward), free(more), free(wide), free(narrow);
    close_trial(&t);
  }
  if (converged < 0.98 * all) fail_msg("%d of %d differences converge", converged, all);
  if (agreed < 0.9995 * converged) fail_msg("%d of %d derivatives agree with differences", agreed, converged);
}

static void test_derivatives_are_those_of_the_map(void **state) {
  (void)state;
  check_derivatives(VCS_DISPATCH_HARD, VCS_BUS_REAL, trials(400, 60));
  check_derivatives(VCS_DISPATCH_HARD, VCS_BUS_REDUCED, trials(100, 20));
  check_derivatives(VCS_DISPATCH_DISTANCE, VCS_BUS_REAL, trials(12, 3));
  check_derivatives(VCS_DISPATCH_ONE_HOT, VCS_BUS_REAL, trials(12, 3));
}

/* Whatever the settings, numbers stay numbers, in their ranges. */
static void test_extremes_stay_in_range(void **state) {
  (void)state;
  static const double alphas[] = {1e-9, 1, 1e38}, temperatures[] = {1e-30, 0.3, 1e30};
  for (int i = 0; i < 9 * 4; i++) {
    vcs_cart_t *cart = load_noise();
    vcs_relax_options_t o = options_of(alphas[i % 3], temperatures[i / 3 % 3]);
    o.cast = i / 9 & 1 ? VCS_CAST_ROUND : VCS_CAST_NONE;
    o.dispatch = i / 18 ? VCS_DISPATCH_DISTANCE : VCS_DISPATCH_HARD;
    o.single = i & 1;
    vcs_relax_t *relax = relaxed(cart, &o);
    double *values = calloc(vcs_relax_input_slots(relax), sizeof *values);
    for (int step = 0; step < (i / 18 ? 4 : 200); step++) vcs_relax_step(relax, NULL);
    vcs_relax_values(relax, values);
    for (size_t slot = 0; slot < vcs_relax_state_slots(relax); slot++) {
      double most = slot >= VCS_SLOT_N && slot <= VCS_SLOT_C ? 1 : slot == VCS_SLOT_PC ? 65535.5 : 255.5;
      if (slot == VCS_SLOT_TIMER_CYCLE || slot == VCS_SLOT_DUMP_CYCLE) continue; /* may lie in an earlier frame */
      if (slot == VCS_SLOT_TIME) most = 1e9;
      if (!(values[slot] >= -0.5 && values[slot] <= most))
        fail_msg("setting %d: slot %zu is %g", i, slot, values[slot]);
    }
    free(values);
    vcs_relax_free(relax);
    vcs_cart_free(cart);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_is_the_softmax_over_the_whole_array),
      cmocka_unit_test(test_branch_is_exact_below_the_papers_threshold),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_sharp_is_hard),
      cmocka_unit_test(test_integers_and_rounded_numbers_agree),
      cmocka_unit_test(test_steps_and_products_begin_and_end_frames),
      cmocka_unit_test(test_picture_by_steps_is_that_of_the_frame),
      cmocka_unit_test(test_operations_interpolate),
      cmocka_unit_test(test_reduced_timer_is_what_was_written),
      cmocka_unit_test(test_product_of_integers_reads_the_cartridges_image),
      cmocka_unit_test(test_read_between_cells_has_both_at_any_temperature),
      cmocka_unit_test(test_positions_beyond_the_last_pixel_stay_when_set),
      cmocka_unit_test(test_timer_set_long_ago_has_a_derivative),
      cmocka_unit_test(test_derivatives_are_those_of_the_map),
      cmocka_unit_test(test_extremes_stay_in_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
