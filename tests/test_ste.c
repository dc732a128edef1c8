/* test_ste.c: straight-through and naive derivatives.
 *
 * The first part is about whole frames, of our own cartridge and of games if DIFFVCS_ROMS names a folder of them: both
 * products come from one Jacobian, and the run is the machine's own. The second part spells out the rules, one little
 * program each, with the numbers written here. In it a change of a byte is a tangent of 1 on its bit 0, and a byte's
 * tangent is read off as 255 times that of any bit.
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

#include "carts.h"
#include "grad/sweep.h"
#include "need.h"
#include "noise.h"

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

enum { FRAMES = 3, PIXELS = VCS_FRAME_BYTES };

typedef struct {
  vcs_cart_t *cart;
  vcs_t *start;
  size_t size, rom_size;
  vcs_controls_t controls[FRAMES];
  float *state, *rom, *input; /* tangents, or adjoints that come out */
  float *pixels[FRAMES], *end;
} trial_t;

static void randomise(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = noise_float();
}

static float *floats(size_t count) {
  float *values = calloc(count, sizeof *values);
  assert_non_null(values);
  return values;
}

static void open_trial(trial_t *t, const uint8_t *image, size_t size, const char *name, int frames_before) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = name};
  memset(t, 0, sizeof *t);
  assert_int_equal(vcs_cart_load(image, size, &options, &t->cart, NULL), VCS_OK);
  t->size = vcs_state_size(t->cart);
  t->rom_size = t->cart->rom_size;
  t->start = calloc(1, sizeof *t->start);
  assert_non_null(t->start);
  vcs_boot(t->cart, t->start, NULL);
  for (int i = 0; i < frames_before; i++) {
    vcs_controls_t controls = {.paddle = {200000, 200000, 200000, 200000}, .console = i >= 60 && i < 64};
    controls.held[0] = i % 16 == 0 ? VCS_HELD_FIRE : VCS_HELD_RIGHT;
    vcs_control(t->cart, t->start, &controls);
    vcs_frame(t->cart, t->start, NULL);
  }
  for (int f = 0; f < FRAMES; f++) {
    t->controls[f] = (vcs_controls_t){.held = {VCS_HELD_LEFT, 0}, .paddle = {200000, 200000, 200000, 200000}};
    t->pixels[f] = floats(PIXELS);
  }
  t->state = floats(8 * t->size);
  t->end = floats(8 * t->size);
  t->rom = floats(8 * t->rom_size);
  t->input = floats((size_t)VCS_INPUTS * FRAMES);
}

static void close_trial(trial_t *t) {
  for (int f = 0; f < FRAMES; f++) free(t->pixels[f]);
  free(t->state);
  free(t->end);
  free(t->rom);
  free(t->input);
  free(t->start);
  vcs_cart_free(t->cart);
}

static void product(trial_t *t, const vcs_grad_options_t *options, int frames, bool reverse) {
  const vcs_run_t run = {t->cart, t->start, NULL, t->controls, frames};
  const vcs_grad_inputs_t inputs = {t->state, t->rom, t->input};
  const vcs_grad_outputs_t outputs = {.pixels = t->pixels, .state = t->end};
  vcs_status_t status = reverse ? vcs_grad_vjp(&run, options, &inputs, &outputs, NULL, NULL)
                                : vcs_grad_jvp(&run, options, &inputs, &outputs, NULL, NULL);
  assert_int_equal(status, VCS_OK);
}

static vcs_grad_options_t options_for(vcs_method_t method) {
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = method;
  options.side = VCS_SIDE_MEAN; /* linear: what the tangent points to would not be */
  return options;
}

/* ---- One Jacobian ------------------------------------------------------------------------------------------------ */

static double dot(const float *a, const float *b, size_t count, double *size) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)a[i] * b[i];
    *size += fabs((double)a[i] * b[i]);
  }
  return sum;
}

/* <J v, w> = <v, J^T w> for random v and w; the difference, relative to the terms of the sums. */
static double disagreement(trial_t *forwards, trial_t *backwards, const vcs_grad_options_t *options) {
  const size_t slots = 8 * forwards->size, rom = 8 * forwards->rom_size, inputs = (size_t)VCS_INPUTS * FRAMES;
  trial_t seeds = *backwards;
  float *end = floats(slots), *pixels[FRAMES];
  double size = 0, there = 0, back = 0;
  randomise(forwards->state, slots);
  randomise(forwards->rom, rom);
  randomise(forwards->input, inputs);
  product(forwards, options, FRAMES, false);
  randomise(end, slots);
  for (int f = 0; f < FRAMES; f++) {
    pixels[f] = floats(PIXELS);
    randomise(pixels[f], (size_t)VCS_WIDTH * (size_t)forwards->cart->height);
    there += dot(forwards->pixels[f], pixels[f], PIXELS, &size);
    seeds.pixels[f] = pixels[f];
  }
  there += dot(forwards->end, end, slots, &size);
  seeds.end = end;
  product(&seeds, options, FRAMES, true);
  back = dot(forwards->state, backwards->state, slots, &size) + dot(forwards->rom, backwards->rom, rom, &size) +
         dot(forwards->input, backwards->input, inputs, &size);
  for (int f = 0; f < FRAMES; f++) free(pixels[f]);
  free(end);
  assert_true(size > 0);
  return fabs(there - back) / size;
}

static void check_image(const uint8_t *image, size_t size, const char *name) {
  static const float temperatures[] = {0, 0, 1};
  for (int i = 0; i < 3; i++) {
    trial_t forwards, backwards;
    vcs_grad_options_t options = options_for(i ? VCS_METHOD_STE : VCS_METHOD_NAIVE);
    options.temperature = temperatures[i];
    open_trial(&forwards, image, size, name, 120);
    open_trial(&backwards, image, size, name, 120);
    double off = disagreement(&forwards, &backwards, &options);
    if (off > 1e-5) fail_msg("%s, method %d, temperature %g: %g", name, (int)options.method, temperatures[i], off);
    close_trial(&forwards);
    close_trial(&backwards);
  }
}

static void test_products_agree_on_the_demo(void **state) {
  (void)state;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  check_image(image, size, "demo");
}

static const char *const games[] = {
    "pong",    "breakout",    "space_invaders", "seaquest",          "ms_pacman",   "qbert",        "asteroids",
    "pitfall", "road_runner", "asterix",        "montezuma_revenge", "double_dunk", "crazy_climber"};

static void test_products_agree_on_games(void **state) {
  (void)state;
  size_t size;
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    uint8_t *image = read_game(games[i], &size);
    if (image)
      check_image(image, size, games[i]);
    else
      NEED_PART("roms", games[i]);
    free(image);
  }
}

/* ---- The run is the machine's ------------------------------------------------------------------------------------ */

static void check_forward(const uint8_t *image, size_t size, const char *name) {
  static uint8_t drawn[2 * VCS_FRAME_BYTES], recorded[2 * VCS_FRAME_BYTES];
  trial_t t;
  vcs_tape_t *tape;
  open_trial(&t, image, size, name, 120);
  vcs_t *before = malloc(t.size), *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
  assert_true(before && a && b);
  memcpy(before, t.start, t.size);
  for (size_t i = 0; i < (size_t)VCS_WIDTH * (size_t)t.cart->height; i++) t.pixels[0][i] = 1;
  for (int method = VCS_METHOD_STE; method <= VCS_METHOD_NAIVE; method++) {
    vcs_grad_options_t options = options_for((vcs_method_t)method);
    options.temperature = 2;
    product(&t, &options, FRAMES, true);
    product(&t, &options, FRAMES, false);
    assert_memory_equal(before, t.start, t.size);
  }
  memcpy(a, t.start, t.size);
  memcpy(b, t.start, t.size);
  memset(drawn, 0, sizeof drawn);
  memset(recorded, 0, sizeof recorded);
  assert_int_equal(vcs_tape_create(t.cart, &tape, NULL), VCS_OK);
  for (int f = 0; f < FRAMES; f++) {
    vcs_frame(t.cart, a, drawn);
    assert_true(vcs_tape_record(tape, t.cart, b, recorded));
    assert_memory_equal(a, b, t.size);
    assert_memory_equal(drawn, recorded, sizeof drawn);
  }
  vcs_tape_free(tape);
  free(before);
  free(a);
  free(b);
  close_trial(&t);
}

static void test_the_run_is_the_machines_own(void **state) {
  (void)state;
  size_t size;
  const uint8_t *demo = vcs_demo_image(&size);
  check_forward(demo, size, "demo");
  for (size_t i = 0; i < 3; i++) {
    uint8_t *image = read_game(games[i], &size);
    if (image)
      check_forward(image, size, games[i]);
    else
      NEED_PART("roms", games[i]);
    free(image);
  }
}

/* ---- Little programs --------------------------------------------------------------------------------------------- */

/* At $F000, with X = 2 and Y = 0; then lines of VSYNC, which ends the frame and changes no register. Two frames have
 * gone by before. */
static trial_t little;
static vcs_grad_options_t chosen;

static void begin(vcs_method_t method, int count, ...) {
  static const uint8_t end[] = {0x86, 0x00, 0x86, 0x02, 0x86, 0x02, 0x86, 0x02, 0x84, 0x00, 0x4C};
  static const uint8_t reset[] = {0xA2, 0x02, 0xA0, 0x00, 0x4C, 0x00, 0xF0};
  static uint8_t image[4096];
  va_list bytes;
  size_t at = 0;
  memset(image, 0xEA, sizeof image);
  va_start(bytes, count);
  while (at < (size_t)count) image[at++] = (uint8_t)va_arg(bytes, int);
  va_end(bytes);
  memcpy(image + at, end, sizeof end);
  image[at + sizeof end] = (uint8_t)at;
  image[at + sizeof end + 1] = 0xF0;
  memcpy(image + 0xF00, reset, sizeof reset);
  image[0xFFC] = 0x00, image[0xFFD] = 0xFF;
  open_trial(&little, image, sizeof image, NULL, 2);
  chosen = options_for(method);
  little.start->pc = 0xF000;
  little.start->a = little.start->y = 0;
  little.start->x = 2;
  little.start->sp = 0xFF;
  little.start->p = VCS_FLAG_1 | VCS_FLAG_B;
}

static void end(void) { close_trial(&little); }

/* Carries a tangent of 1 on one slot through the frame. */
static void carry(size_t slot) {
  memset(little.state, 0, 8 * little.size * sizeof(float));
  memset(little.end, 0, 8 * little.size * sizeof(float));
  memset(little.pixels[0], 0, PIXELS * sizeof(float));
  little.state[slot] = 1;
  product(&little, &chosen, 1, false);
}

#define AT(field) (8 * VCS_OFFSET(field))
#define CELL(addr) (AT(ram) + 8 * ((addr)-0x80u))
#define FLAG(bit) (AT(p) + (bit))

static void assert_near(float value, float expected) {
  if (!(fabsf(value - expected) <= 1e-5F * (1 + fabsf(expected)))) fail_msg("%g instead of %g", value, expected);
}

/* d byte / d byte, d flag / d byte, d byte / d flag, d number / d flag */
#define ASSERT_BYTE(from, to, expected) (carry(from), assert_near(255 * little.end[to], expected))
#define ASSERT_NUMBER(from, to, expected) (carry(from), assert_near(little.end[to], expected))

static void set(uint8_t addr, uint8_t value) { little.start->ram[addr - 0x80] = value; }

static void test_moves_have_slope_one(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 12, 0xA5, 0x80, 0xA8, 0x98, 0x48, 0x68, 0x85, 0x90, 0xA0, 0x00, 0xE6, 0x80);
  ASSERT_BYTE(CELL(0x80), CELL(0x90), 1); /* LDA TAY TYA PHA PLA STA */
  ASSERT_BYTE(CELL(0x80), CELL(0xFF), 1); /* what was pushed is still there */
  ASSERT_BYTE(CELL(0x80), CELL(0x80), 1); /* INC */
  ASSERT_BYTE(CELL(0x90), CELL(0x90), 0); /* overwritten */
  ASSERT_BYTE(CELL(0xA0), CELL(0xA0), 1); /* untouched */
  carry(CELL(0x80) + 7);                  /* bit 7 weighs 128 */
  assert_near(255 * little.end[CELL(0x90)], 128);
  end();
}

static void test_sums(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 6, 0xA5, 0x80, 0x65, 0x81, 0x85, 0x90); /* ADC */
  set(0x80, 200), set(0x81, 100);
  ASSERT_BYTE(CELL(0x80), CELL(0x90), 1);
  ASSERT_BYTE(CELL(0x81), CELL(0x90), 1);
  ASSERT_BYTE(FLAG(0), CELL(0x90), 1);
  ASSERT_NUMBER(CELL(0x80), FLAG(0), 1.0F / 255);
  end();
  begin(VCS_METHOD_STE, 6, 0xA5, 0x80, 0xE5, 0x81, 0x85, 0x90); /* SBC */
  ASSERT_BYTE(CELL(0x80), CELL(0x90), 1);
  ASSERT_BYTE(CELL(0x81), CELL(0x90), -1);
  ASSERT_BYTE(FLAG(0), CELL(0x90), 1);
  ASSERT_NUMBER(CELL(0x81), FLAG(0), -1.0F / 255);
  end();
}

static void test_shifts(void **state) {
  (void)state;
  static const struct {
    uint8_t opcode;
    float byte, carry;
  } shifts[] = {{0x06, 2, 0}, {0x26, 2, 1}, {0x46, 0.5F, 0}, {0x66, 0.5F, 128}};
  for (int i = 0; i < 4; i++) {
    begin(VCS_METHOD_STE, 2, shifts[i].opcode, 0x80); /* ASL ROL LSR ROR */
    ASSERT_BYTE(CELL(0x80), CELL(0x80), shifts[i].byte);
    ASSERT_BYTE(FLAG(0), CELL(0x80), shifts[i].carry);
    ASSERT_NUMBER(CELL(0x80), FLAG(0), 1.0F / 255);
    end();
    begin(VCS_METHOD_STE, 5, 0xA5, 0x80, shifts[i].opcode + 4, 0x85, 0x90); /* the same on A */
    ASSERT_BYTE(CELL(0x80), CELL(0x90), shifts[i].byte);
    ASSERT_BYTE(FLAG(0), CELL(0x90), shifts[i].carry);
    end();
  }
}

static void test_logic_is_lifted_and_projected(void **state) {
  (void)state;
  static const struct {
    uint8_t opcode;
    float a, m; /* with A = $0F, M = $55 */
  } operations[] = {{0x25, 85, 15}, {0x05, 170, 240}, {0x45, 85, 225}};
  for (int i = 0; i < 3; i++) {
    begin(VCS_METHOD_STE, 6, 0xA5, 0x80, operations[i].opcode, 0x81, 0x85, 0x90); /* AND ORA EOR */
    set(0x80, 0x0F), set(0x81, 0x55);
    ASSERT_BYTE(CELL(0x80), CELL(0x90), operations[i].a / 255);
    ASSERT_BYTE(CELL(0x81), CELL(0x90), operations[i].m / 255);
    end();
  }
  begin(VCS_METHOD_STE, 6, 0xA5, 0x80, 0x07, 0x81, 0x85, 0x90); /* SLO = ASL, ORA */
  set(0x80, 0x0F), set(0x81, 0x55);
  ASSERT_BYTE(CELL(0x81), CELL(0x81), 2);
  ASSERT_BYTE(CELL(0x81), CELL(0x90), 2 * 240.0F / 255);
  ASSERT_BYTE(CELL(0x80), CELL(0x90), (255 - 0xAA) / 255.0F);
  end();
}

static void test_flags(void **state) {
  (void)state;
  for (int value = 0; value < 4; value++) {
    begin(VCS_METHOD_STE, 2, 0xA5, 0x80); /* LDA */
    set(0x80, (uint8_t)value);
    ASSERT_NUMBER(CELL(0x80), FLAG(7), 1.0F / 255);
    ASSERT_NUMBER(CELL(0x80), FLAG(1), value <= 1 ? -1 : 0);
    end();
  }
  begin(VCS_METHOD_STE, 4, 0xA5, 0x80, 0xC5, 0x81); /* CMP */
  set(0x80, 7), set(0x81, 7);
  ASSERT_NUMBER(CELL(0x80), FLAG(0), 1.0F / 255);
  ASSERT_NUMBER(CELL(0x81), FLAG(0), -1.0F / 255);
  ASSERT_NUMBER(CELL(0x81), FLAG(7), -1.0F / 255);
  ASSERT_NUMBER(CELL(0x81), FLAG(1), 1);
  end();
  begin(VCS_METHOD_STE, 4, 0xA5, 0x80, 0x24, 0x81); /* BIT */
  set(0x80, 0x01), set(0x81, 0xF1);
  ASSERT_NUMBER(CELL(0x81), FLAG(7), 1.0F / 255);
  ASSERT_NUMBER(CELL(0x81), FLAG(6), 1.0F / 255);
  ASSERT_NUMBER(CELL(0x81), FLAG(1), -1.0F / 255);
  ASSERT_NUMBER(CELL(0x80), FLAG(1), -241.0F / 255);
  end();
  begin(VCS_METHOD_STE, 5, 0x08, 0x68, 0x48, 0x28, 0x18); /* PHP PLA PHA PLP CLC */
  ASSERT_BYTE(FLAG(6), CELL(0xFF), 64);
  ASSERT_NUMBER(FLAG(6), FLAG(6), 64.0F / 255);
  ASSERT_NUMBER(FLAG(6), FLAG(7), 64.0F / 255);
  ASSERT_NUMBER(FLAG(6), FLAG(0), 0);
  end();
}

static void test_a_branch_costs_time(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    uint8_t opcode = i & 1 ? 0xB0 : 0x90;                     /* BCS, BCC to the next instruction; STX TIM64T notes */
    begin(VCS_METHOD_STE, 5, opcode, 0x00, 0x8E, 0x96, 0x02); /* the time of the write */
    little.start->p |= i & 2 ? VCS_FLAG_C : 0;
    float open = 1 / (1 + expf(-6)), gate = 2 * 6 * open * (1 - open);
    ASSERT_NUMBER(FLAG(0), AT(timer_cycle), i & 1 ? gate : -gate);
    chosen.alpha = 2;
    open = 1 / (1 + expf(-2));
    gate = 2 * 2 * open * (1 - open);
    ASSERT_NUMBER(FLAG(0), AT(timer_cycle), i & 1 ? gate : -gate);
    end();
  }
  begin(VCS_METHOD_STE, 5, 0x90, 0x80, 0x8E, 0x96, 0x02); /* not taken, to another page */
  little.start->p |= VCS_FLAG_C;
  float open = 1 / (1 + expf(-6));
  ASSERT_NUMBER(FLAG(0), AT(timer_cycle), -2 * 2 * 6 * open * (1 - open));
  end();
}

static void test_time(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 5, 0xAD, 0x84, 0x02, 0x85, 0x90); /* LDA INTIM, STA */
  little.start->timer = 100, little.start->timer_shift = 6, little.start->timer_cycle = little.start->cycles;
  ASSERT_BYTE(AT(timer), CELL(0x90), 1);
  ASSERT_BYTE(AT(cycles), CELL(0x90), -1.0F / 64);
  ASSERT_BYTE(AT(timer_cycle), CELL(0x90), 1.0F / 64);
  end();
  begin(VCS_METHOD_STE, 5, 0x85, 0x02, 0x8E, 0x96, 0x02); /* STA WSYNC, STX TIM64T */
  ASSERT_NUMBER(AT(cycles), AT(timer_cycle), 0);
  end();
}

static void test_softened_reads(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 4, 0xB5, 0x8E, 0x85, 0x90); /* LDA $8E,X with X = 2, STA */
  for (int i = 0; i < 9; i++) set((uint8_t)(0x8C + i), (uint8_t)(i * i));
  ASSERT_BYTE(AT(x), CELL(0x90), 0);
  for (int i = 1; i < 3; i++) {
    float temperature = (float)i, sum = 1, slope = 0;
    for (int k = 1; k <= 4; k++) {
      float weight = expf(-(float)k / temperature);
      sum += 2 * weight;
      slope += weight * (float)((4 + k) * (4 + k) - (4 - k) * (4 - k));
    }
    chosen.temperature = temperature;
    ASSERT_BYTE(AT(x), CELL(0x90), slope / sum / temperature);
  }
  end();
  begin(VCS_METHOD_STE, 4, 0xB1, 0x80, 0x85, 0x98); /* LDA ($80),Y */
  set(0x80, 0x90), set(0x81, 0x00), set(0x8F, 10), set(0x91, 30);
  chosen.temperature = 0.1F; /* only the neighbours count */
  float slope = 20 * expf(-10) / 0.1F;
  carry(CELL(0x80));
  assert_true(fabsf(255 * little.end[CELL(0x98)] / slope - 1) < 1e-2F);
  carry(CELL(0x81));
  assert_true(fabsf(255 * little.end[CELL(0x98)] / slope / 256 - 1) < 1e-2F);
  carry(AT(y));
  assert_true(fabsf(255 * little.end[CELL(0x98)] / slope - 1) < 1e-2F);
  end();
}

static void test_registers(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 8, 0xA5, 0x80, 0x85, VCS_HMP0, 0x85, 0x02, 0x85, VCS_HMOVE);
  set(0x80, 0x30);
  carry(CELL(0x80));
  assert_near(15 * little.end[AT(hm)], 1.0F / 16);
  assert_near(little.end[AT(pos)], -1.0F / 16);
  carry(AT(pos));
  assert_near(little.end[AT(pos)], 1);
  end();
  begin(VCS_METHOD_STE, 6, 0xA5, 0x80, 0x85, VCS_ENAM0, 0x85, VCS_GRP0);
  ASSERT_NUMBER(CELL(0x80), AT(enam) + 1, 1.0F / 255);
  ASSERT_BYTE(CELL(0x80), AT(grp), 1);
  ASSERT_BYTE(AT(grp) + 8, AT(grp_old) + 8, 1);
  end();
}

/* A strobe in the middle of a line: thirty NOPs after WSYNC. */
static void test_a_strobe_turns_time_into_position(void **state) {
  (void)state;
  begin(VCS_METHOD_STE, 34, 0x85, 0x02, 0xB0, 0x00, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA,
        0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0x85,
        VCS_RESP0);
  float open = 1 / (1 + expf(-6));
  ASSERT_NUMBER(FLAG(0), AT(pos), 3 * 2 * 6 * open * (1 - open)); /* BCS */
  ASSERT_NUMBER(AT(pos), AT(pos), 0);
  end();
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

static void set_picture(void);

/* Writes A, which comes from $80, to `reg` in the middle of every one of 120 lines. */
static void begin_picture(vcs_method_t method, uint8_t reg) {
  begin(method, 24, 0xA5, 0x80, 0xA2, 120, 0x85, 0x02, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA, 0xEA,
        0x85, reg, 0xCA, 0xD0, 0xEE, 0xA2, 0x02);
  set_picture();
}

/* Writes X, which counts down from 255, again and again, wherever the beam is. */
static void begin_stripes(vcs_method_t method, uint8_t reg) {
  begin(method, 13, 0xA2, 0xFF, 0x86, reg, 0xEA, 0xEA, 0xEA, 0xEA, 0xCA, 0xD0, 0xF7, 0xA2, 0x02);
  set_picture();
}

static void set_picture(void) {
  vcs_t *m = little.start;
  m->vblank = 0;
  m->ctrlpf = m->nusiz[0] = m->nusiz[1] = 0;
  m->colu[VCS_COLUBK] = 0x10, m->colu[VCS_COLUPF] = 0x2A, m->colu[VCS_COLUP0] = 0x4E, m->colu[VCS_COLUP1] = 0x86;
  memset(m->pf, 0, sizeof m->pf);
  memset(m->enam, 0, sizeof m->enam);
  m->pf[1] = 0x3C, m->grp[0] = 0xA5, m->grp[1] = 0xFF, m->enabl = 2;
  m->pos[VCS_P0] = 60, m->pos[VCS_P1] = 64, m->pos[VCS_BL] = 159, m->pos[VCS_M0] = 100, m->pos[VCS_M1] = 3;
}

enum { ROW = 30 };
static float pixel(int x) { return little.pixels[0][VCS_WIDTH * ROW + x]; }

static void test_colours_and_graphics(void **state) {
  (void)state;
  begin_picture(VCS_METHOD_STE, VCS_COLUBK_W);
  set(0x80, 0x10);
  carry(CELL(0x80));
  assert_near(pixel(150), 1); /* background */
  assert_near(pixel(60), 0);  /* player 0 */
  carry(AT(colu) + 8 * VCS_COLUP0);
  assert_near(pixel(60), 1);
  assert_near(pixel(61), 0);
  carry(AT(grp)); /* all eight bits, set or not, over what is below */
  for (int x = 58; x < 70; x++) {
    float below = x >= 64 ? 0x86 : 0x10;
    assert_near(pixel(x), x >= 60 && x < 68 ? (0x4E - below) / 255 : 0);
  }
  carry(AT(grp) + 8); /* player 1 is below player 0: bits 5, 2 and 0 of $A5 are at 62, 65 and 67 */
  for (int x = 62; x < 74; x++)
    assert_near(pixel(x), x >= 64 && x < 72 && x != 65 && x != 67 ? (0x86 - 0x10) / 255.0F : 0);
  carry(AT(pf)); /* PF0: pixels 0 to 15 and 80 to 95 */
  assert_near(pixel(2), (0x2A - 0x10) / 255.0F);
  assert_near(pixel(95), (0x2A - 0x10) / 255.0F);
  assert_near(pixel(16), 0);
  carry(AT(enam) + 1); /* missile 0 */
  assert_near(pixel(100), 0x4E - 0x10);
  assert_near(pixel(101), 0);
  end();
}

/* A position's and a time's one-sided differences are those of Boolean differences, exactly. */
static void test_places_agree_with_boolean_differences(void **state) {
  (void)state;
  static const uint8_t registers[] = {VCS_COLUBK_W, VCS_GRP0,  VCS_GRP1,  VCS_PF1,   VCS_NUSIZ0,
                                      VCS_CTRLPF,   VCS_ENABL, VCS_REFP0, VCS_RESM0, VCS_VDELP1};
  float *expected = floats(PIXELS);
  double changed[6] = {0};
  for (size_t r = 0; r < sizeof registers; r++) {
    for (int side = VCS_SIDE_MEAN; side <= VCS_SIDE_LESS; side++) {
      for (size_t place = 0; place < 6; place++) {
        if (registers[r] == VCS_CTRLPF && place == 5) continue; /* whether it mirrors this line is a switch here */
        for (int method = VCS_METHOD_BIT; method <= VCS_METHOD_STE; method++) {
          begin_stripes((vcs_method_t)method, registers[r]);
          chosen.side = (vcs_side_rule_t)side;
          carry(place < 5 ? AT(pos) + 8 * place : AT(cycles));
          for (int i = 0; i < PIXELS; i++) {
            if (method == VCS_METHOD_BIT) expected[i] = little.pixels[0][i];
            assert_near(little.pixels[0][i], expected[i]);
            changed[place] += fabsf(expected[i]);
          }
          end();
        }
      }
    }
  }
  assert_true(changed[VCS_P0] > 0 && changed[VCS_P1] > 0 && changed[VCS_BL] > 0 && changed[5] > 0);
  free(expected);
}

/* ---- The naive derivative ---------------------------------------------------------------------------------------- */

static void test_naive_is_zero_through_everything_but_moves_and_sums(void **state) {
  (void)state;
  begin(VCS_METHOD_NAIVE, 9, 0xA5, 0x80, 0x18, 0x65, 0x81, 0x0A, 0x85, 0x90, 0xEA); /* LDA CLC ADC ASL STA */
  ASSERT_BYTE(CELL(0x80), CELL(0x90), 2);
  ASSERT_BYTE(CELL(0x81), CELL(0x90), 2);
  ASSERT_NUMBER(CELL(0x80), FLAG(7), 0);
  ASSERT_NUMBER(CELL(0x80), FLAG(1), 0);
  ASSERT_NUMBER(CELL(0x80), FLAG(0), 0);
  end();
  static const uint8_t stops[] = {0x25, 0x05, 0x45}; /* AND ORA EOR */
  for (int i = 0; i < 3; i++) {
    begin(VCS_METHOD_NAIVE, 6, 0xA5, 0x80, stops[i], 0x81, 0x85, 0x90);
    ASSERT_BYTE(CELL(0x80), CELL(0x90), 0);
    ASSERT_BYTE(CELL(0x81), CELL(0x90), 0);
    end();
  }
  begin(VCS_METHOD_NAIVE, 9, 0x46, 0x80, 0x90, 0x00, 0x8E, 0x96, 0x02, 0xB5, 0x80); /* LSR BCC STX LDA,X */
  chosen.temperature = 1;
  ASSERT_BYTE(CELL(0x80), CELL(0x80), 0);
  ASSERT_NUMBER(FLAG(0), AT(timer_cycle), 0);
  ASSERT_BYTE(AT(x), AT(a), 0);
  end();
  begin_picture(VCS_METHOD_NAIVE, VCS_COLUBK_W);
  carry(AT(grp));
  for (int x = 0; x < VCS_WIDTH; x++) assert_near(pixel(x), 0);
  carry(AT(pos));
  for (int x = 0; x < VCS_WIDTH; x++) assert_near(pixel(x), 0);
  carry(CELL(0x80));
  assert_near(pixel(150), 1);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products_agree_on_the_demo),
      cmocka_unit_test(test_products_agree_on_games),
      cmocka_unit_test(test_the_run_is_the_machines_own),
      cmocka_unit_test(test_moves_have_slope_one),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_shifts),
      cmocka_unit_test(test_logic_is_lifted_and_projected),
      cmocka_unit_test(test_flags),
      cmocka_unit_test(test_a_branch_costs_time),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_softened_reads),
      cmocka_unit_test(test_registers),
      cmocka_unit_test(test_a_strobe_turns_time_into_position),
      cmocka_unit_test(test_colours_and_graphics),
      cmocka_unit_test(test_places_agree_with_boolean_differences),
      cmocka_unit_test(test_naive_is_zero_through_everything_but_moves_and_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
