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

#include "grad/sweep.h"

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

static uint64_t random_state;

static uint32_t noise(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return (uint32_t)(z ^ z >> 31);
}

static void randomise(float *values, size_t count) {
  for (size_t i = 0; i < count; i++) values[i] = (float)(int32_t)noise() / 2147483648.0F;
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
    vcs_controls_t hands = {.paddle = {200000, 200000, 200000, 200000}, .console = i >= 60 && i < 64};
    hands.held[0] = i % 16 == 0 ? VCS_HELD_FIRE : VCS_HELD_RIGHT;
    vcs_control(t->cart, t->start, &hands);
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
  const vcs_grad_outputs_t outputs = {t->pixels, t->end};
  vcs_status_t status = reverse ? vcs_grad_vjp(&run, options, &inputs, &outputs, NULL, NULL)
                                : vcs_grad_jvp(&run, options, &inputs, &outputs, NULL, NULL);
  assert_int_equal(status, VCS_OK);
}

static vcs_grad_options_t options_for(vcs_method_t method) {
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = method;
  return options;
}

/* ---- One Jacobian ------------------------------------------------------------------------------------------------- */

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

static const char *const games[] = {"pong",     "breakout", "space_invaders", "seaquest",  "ms_pacman", "qbert",
                                    "asteroids", "pitfall",  "road_runner",    "asterix", "montezuma_revenge",
                                    "double_dunk", "crazy_climber"};

static size_t read_game(const char *name, uint8_t *image, size_t room) {
  char path[1024];
  const char *folder = getenv("DIFFVCS_ROMS");
  if (!folder) return 0;
  snprintf(path, sizeof path, "%s/%s.bin", folder, name);
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(image, 1, room, file) : 0;
  if (file) fclose(file);
  return size;
}

static void test_products_agree_on_games(void **state) {
  (void)state;
  static uint8_t image[1 << 19];
  if (!getenv("DIFFVCS_ROMS")) skip();
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    size_t size = read_game(games[i], image, sizeof image);
    if (size) check_image(image, size, games[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products_agree_on_the_demo),
      cmocka_unit_test(test_products_agree_on_games),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
