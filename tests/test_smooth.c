/* Smooth: the estimate is compared with sums over all corners of a small cube, where v(p) and its gradient are known
 * exactly. Confidence intervals contain the exact value as often as they should; antithetic pairs and baselines reduce
 * the variance; at a corner the estimate is the truth; the number of threads does not change the result. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grad/rerun.h"
#include "ragged.h"

enum { FRAMES = 3, BITS = 6, CORNERS = 1 << BITS };

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  vcs_place_t places[BITS];
  float values[768];
  vcs_smooth_options_t options;
  double corners[CORNERS]; /* F, by the bits' values */
} fixture_t;

/* Computes the value of `output` independently. */
static double measure(const fixture_t *fixture, const uint8_t *picture) {
  const vcs_scalar_t *output = &fixture->options.output;
  double sum = 0;
  for (int y = output->y; y < output->y + output->height; y++) {
    for (int x = output->x; x < output->x + output->width; x++) {
      sum += (double)fixture->values[picture[y * VCS_WIDTH + x]];
    }
  }
  return sum;
}

/* The ragged cartridge: five bits of its frame counter, which colours, lengths and ends of frames depend on, and a
 * joystick. */
static void open_fixture(fixture_t *fixture) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  uint8_t image[4096];
  vcs_error_t error;
  ragged_image(image);
  if (vcs_cart_load(image, sizeof image, &options, &fixture->cart, &error)) fail_msg("%s", error.message);
  if (vcs_env_create(fixture->cart, &fixture->env, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 21; i++) vcs_env_act_on(fixture->env, VCS_NOOP, VCS_NOOP);
  vcs_run_idle(fixture->env, FRAMES, fixture->controls, &fixture->run);
  for (uint8_t i = 0; i + 1 < BITS; i++) {
    fixture->places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i + 1), 0, (uint32_t)offsetof(vcs_t, ram)};
  }
  fixture->places[BITS - 1] = (vcs_place_t){VCS_PLACE_INPUT, 0, FRAMES - 1, VCS_INPUT_LEFT};
  vcs_pixel_values(fixture->cart, VCS_VALUES_LUMINANCE, fixture->values);
  vcs_smooth_defaults(&fixture->options);
  fixture->options.output =
      (vcs_scalar_t){VCS_SCALAR_PIXELS, .x = 20, .y = 90, .width = 3, .height = 7, .values = fixture->values};
  fixture->options.threads = 1;
}

static void close_fixture(fixture_t *fixture) {
  vcs_env_free(fixture->env);
  vcs_cart_free(fixture->cart);
}

/* F of every corner, by its own recorded run. */
static void visit_corners(fixture_t *fixture) {
  static const int32_t end = FRAMES;
  const vcs_view_t view = {.horizons = &end, .horizon_count = 1, .pictures = true};
  vcs_base_t base;
  bool possible;
  assert_int_equal(vcs_base_create(&base, &fixture->run, &view, NULL), VCS_OK);
  for (int corner = 0; corner < CORNERS; corner++) {
    vcs_base_restore(&base, &fixture->run);
    for (int i = 0; i < BITS; i++) {
      if ((corner >> i & 1) != vcs_place_bit(&fixture->run, &fixture->places[i]))
        vcs_base_flip(&base, &fixture->places[i]);
    }
    assert_int_equal(vcs_base_record(&base, &possible, NULL), VCS_OK);
    fixture->corners[corner] = measure(fixture, vcs_base_sight(&base, 0).picture);
  }
  vcs_base_free(&base);
}

/* v, or its derivative by bit `by`, from all corners. */
static double enumerate(const fixture_t *fixture, const double *p, int by) {
  double sum = 0;
  for (int corner = 0; corner < CORNERS; corner++) {
    double weight = 1;
    for (int i = 0; i < BITS; i++) {
      const bool set = corner >> i & 1;
      weight *= i == by ? (set ? 1 : -1) : set ? p[i] : 1 - p[i];
    }
    sum += weight * fixture->corners[corner];
  }
  return sum;
}

static const double middle[BITS] = {0.3, 0.5, 0.7, 0.4, 0.6, 0.5};

typedef struct {
  const char *name;
  int32_t method;
  uint8_t antithetic, baseline, control;
} way_t;
static const way_t ways[] = {
    {"difference", VCS_SMOOTH_DIFFERENCE, 0, 0, 0}, {"difference, pairs", VCS_SMOOTH_DIFFERENCE, 1, 0, 0},
    {"score", VCS_SMOOTH_SCORE, 0, 0, 0},           {"score, baseline", VCS_SMOOTH_SCORE, 0, 1, 0},
    {"score, pairs", VCS_SMOOTH_SCORE, 1, 0, 0},    {"score, pairs, baseline", VCS_SMOOTH_SCORE, 1, 1, 0},
    {"score, control", VCS_SMOOTH_SCORE, 0, 1, 1},  {"score, pairs, control", VCS_SMOOTH_SCORE, 1, 1, 1},
};
static const double wrong_control[BITS] = {40, -25, 0, 7, 3, -60}; /* any numbers may be given */
enum { WAYS = sizeof ways / sizeof *ways };

static void take_way(fixture_t *fixture, int way) {
  fixture->options.method = ways[way].method;
  fixture->options.antithetic = ways[way].antithetic;
  fixture->options.baseline = ways[way].baseline;
  fixture->options.control = ways[way].control ? wrong_control : NULL;
}

/* ---- Tests -------------------------------------------------------------------------------------------------- */

/* Of all intervals of 95 % over many seeds, about 95 % hold the exact value. */
static void test_smooth_intervals_hold_the_exact_gradient(void **context) {
  (void)context;
  enum { SEEDS = 40 };
  fixture_t fixture;
  double exact[BITS];
  open_fixture(&fixture);
  visit_corners(&fixture);
  for (int i = 0; i < BITS; i++) exact[i] = enumerate(&fixture, middle, i);
  fixture.options.samples = 64;
  for (int way = 0; way < WAYS; way++) {
    int held = 0, moved = 0, value_held = 0;
    take_way(&fixture, way);
    for (int seed = 0; seed < SEEDS; seed++) {
      vcs_estimate_t value, gradient[BITS];
      fixture.options.seed = (uint64_t)seed;
      assert_int_equal(
          vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, &value, gradient, NULL, NULL),
          VCS_OK);
      value_held += fabs(value.mean - enumerate(&fixture, middle, -1)) <= value.half_width;
      for (int i = 0; i < BITS; i++) {
        held += fabs(gradient[i].mean - exact[i]) <= gradient[i].half_width + 1e-9;
        moved += fabs(gradient[i].mean) > 0;
      }
    }
    const double rate = (double)held / (SEEDS * BITS), value_rate = (double)value_held / SEEDS;
    if (rate < 0.91 || rate > 0.99) fail_msg("%s: %.3f of the intervals hold the gradient", ways[way].name, rate);
    if (value_rate < 0.85) fail_msg("%s: %.3f of the intervals hold the value", ways[way].name, value_rate);
    assert_true(moved > 0);
  }
  close_fixture(&fixture);
}

/* The mean of independent estimates approaches the exact value: no way is biased. */
static void test_smooth_is_unbiased(void **context) {
  (void)context;
  fixture_t fixture;
  open_fixture(&fixture);
  visit_corners(&fixture);
  for (int way = 0; way < WAYS; way++) {
    vcs_estimate_t gradient[BITS];
    take_way(&fixture, way);
    fixture.options.samples = ways[way].method == VCS_SMOOTH_SCORE ? 4000 : 1000;
    fixture.options.confidence = 0.9999;
    assert_int_equal(
        vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, NULL, gradient, NULL, NULL), VCS_OK);
    for (int i = 0; i < BITS; i++) {
      const double exact = enumerate(&fixture, middle, i);
      if (fabs(gradient[i].mean - exact) > gradient[i].half_width + 1e-9) {
        fail_msg("%s, bit %d: %g, not %g", ways[way].name, i, gradient[i].mean, exact);
      }
    }
  }
  close_fixture(&fixture);
}

/* The sum of variances over bits, for the same number of runs. */
static double variance(fixture_t *fixture, int way) {
  vcs_estimate_t gradient[BITS];
  double sum = 0;
  take_way(fixture, way);
  assert_int_equal(
      vcs_smooth(&fixture->run, &fixture->options, fixture->places, middle, BITS, NULL, gradient, NULL, NULL), VCS_OK);
  for (int i = 0; i < BITS; i++) sum += gradient[i].deviation * gradient[i].deviation;
  return sum;
}

static void test_smooth_reduces_variance(void **context) {
  (void)context;
  fixture_t fixture;
  open_fixture(&fixture);
  fixture.options.samples = 2000;
  const double difference = variance(&fixture, 0), paired = variance(&fixture, 1), plain = variance(&fixture, 2),
               baseline = variance(&fixture, 3), pairs = variance(&fixture, 4), both = variance(&fixture, 5);
  assert_true(paired < difference);
  assert_true(difference < baseline);
  assert_true(baseline < plain);
  assert_true(pairs < plain);
  assert_true(both < plain);
  close_fixture(&fixture);
}

/* The variance with a control that is the gradient itself, and with one that is partly wrong. */
static void test_smooth_samples_what_a_control_leaves(void **context) {
  (void)context;
  fixture_t fixture;
  double exact[BITS], partly[BITS];
  open_fixture(&fixture);
  visit_corners(&fixture);
  fixture.options.samples = 2000;
  const double baseline = variance(&fixture, 3);
  for (int i = 0; i < BITS; i++) exact[i] = enumerate(&fixture, middle, i), partly[i] = i % 2 ? exact[i] : 0;
  double left[2];
  for (int k = 0; k < 2; k++) {
    vcs_estimate_t gradient[BITS];
    fixture.options.control = k ? partly : exact;
    assert_int_equal(
        vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, NULL, gradient, NULL, NULL), VCS_OK);
    left[k] = 0;
    for (int i = 0; i < BITS; i++) left[k] += gradient[i].deviation * gradient[i].deviation;
  }
  assert_true(left[0] < left[1]);
  assert_true(left[1] < baseline);
  vcs_error_t error = {""};
  fixture.options.method = VCS_SMOOTH_DIFFERENCE;
  assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, NULL, NULL, NULL, &error),
                   VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "control"));
  close_fixture(&fixture);
}

/* At a corner every draw is the run, and a difference is the truth; near it, nearly. */
static void test_smooth_becomes_truth_at_the_corner(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_truth_t rows[BITS];
  double at[BITS], near[BITS];
  vcs_estimate_t gradient[BITS], value;
  open_fixture(&fixture);
  fixture.options.samples = 20;
  const size_t pixels = (size_t)VCS_WIDTH * (size_t)vcs_env_height(fixture.env);
  float *maps = calloc(BITS * pixels, sizeof *maps);
  const vcs_truth_options_t options = {.values = fixture.values, .channels = 1};
  const vcs_truth_results_t results = {.rows = rows, .pixels = maps};
  assert_int_equal(vcs_truth(&fixture.run, &options, fixture.places, BITS, &results, NULL), VCS_OK);
  for (int i = 0; i < BITS; i++) {
    at[i] = vcs_place_bit(&fixture.run, &fixture.places[i]);
    near[i] = fabs(at[i] - 1e-7);
  }
  const double *corners[] = {at, near};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(
        vcs_smooth(&fixture.run, &fixture.options, fixture.places, corners[k], BITS, &value, gradient, NULL, NULL),
        VCS_OK);
    assert_true(value.deviation == 0);
    for (int i = 0; i < BITS; i++) {
      double truth = 0;
      for (int y = 0; y < fixture.options.output.height; y++) {
        for (int x = 0; x < fixture.options.output.width; x++) {
          truth += (double)maps[(size_t)i * pixels + (size_t)((90 + y) * VCS_WIDTH + 20 + x)];
        }
      }
      assert_true(gradient[i].mean == truth);
      assert_true(gradient[i].half_width == 0);
    }
  }
  free(maps);
  close_fixture(&fixture);
}

static void test_smooth_of_ram_and_rom(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_estimate_t gradient[2], value;
  const vcs_place_t places[2] = {{VCS_PLACE_STATE, 0, 0, (uint32_t)offsetof(vcs_t, ram) + 7},
                                 {VCS_PLACE_ROM, 5, 0, 0x14}};
  const double p[2] = {0.25, 0};
  open_fixture(&fixture);
  fixture.options.samples = 400;
  fixture.options.output = (vcs_scalar_t){.kind = VCS_SCALAR_RAM, .index = 7, .bit = -1};
  assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, places, p, 2, &value, gradient, NULL, NULL), VCS_OK);
  assert_true(gradient[0].mean == 1 && gradient[0].half_width == 0);
  const int others = vcs_env_ram(fixture.env)[7] & 0xFE;
  assert_true(fabs(value.mean - others - 0.25) <= 3 * value.half_width);
  fixture.options.output.bit = 0;
  assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, places, p, 2, &value, gradient, NULL, NULL), VCS_OK);
  assert_true(gradient[0].mean == 1);
  fixture.options.output.index = 0; /* the operand of INC 80: with the bit, INC A0 counts elsewhere */
  fixture.options.output.bit = -1;
  assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, places, p, 2, &value, gradient, NULL, NULL), VCS_OK);
  assert_true(gradient[1].mean != 0);
  close_fixture(&fixture);
}

static void test_smooth_is_the_same_with_any_threads(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_estimate_t one[BITS + 1], many[BITS + 1];
  open_fixture(&fixture);
  fixture.options.samples = 50;
  for (int way = 0; way < WAYS; way++) {
    take_way(&fixture, way);
    fixture.options.threads = 1;
    assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, one, one + 1, NULL, NULL),
                     VCS_OK);
    fixture.options.threads = 4;
    int32_t done = 0;
    assert_int_equal(
        vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, many, many + 1, &done, NULL), VCS_OK);
    assert_memory_equal(one, many, sizeof one);
    assert_int_equal(done, 50);
    fixture.options.seed++;
    assert_int_equal(
        vcs_smooth(&fixture.run, &fixture.options, fixture.places, middle, BITS, many, many + 1, NULL, NULL), VCS_OK);
    assert_memory_not_equal(one, many, sizeof one);
  }
  close_fixture(&fixture);
}

static void test_smooth_refuses_what_is_not_there(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_estimate_t gradient[BITS];
  vcs_error_t error;
  open_fixture(&fixture);
  const vcs_smooth_options_t fine = fixture.options;
  vcs_smooth_options_t wrong[8];
  for (int i = 0; i < 8; i++) wrong[i] = fine;
  wrong[0].samples = 0;
  wrong[1].samples = 3;
  wrong[2].method = 9;
  wrong[3].confidence = 1;
  wrong[4].output.width = 141;
  wrong[5].output.kind = VCS_SCALAR_SCORE; /* of an unknown game */
  wrong[6].output = (vcs_scalar_t){.kind = VCS_SCALAR_RAM, .index = 128};
  wrong[7].output.values = NULL;
  for (int i = 0; i < 8; i++) {
    assert_int_equal(vcs_smooth(&fixture.run, &wrong[i], fixture.places, middle, BITS, NULL, gradient, NULL, &error),
                     VCS_BAD_ARGUMENT);
    assert_true(strlen(error.message) > 0);
  }
  const double outside[] = {1.5}, corner[] = {0};
  assert_int_equal(vcs_smooth(&fixture.run, &fine, fixture.places, outside, 1, NULL, gradient, NULL, &error),
                   VCS_BAD_ARGUMENT);
  fixture.options.method = VCS_SMOOTH_SCORE;
  assert_int_equal(vcs_smooth(&fixture.run, &fixture.options, fixture.places, corner, 1, NULL, gradient, NULL, &error),
                   VCS_BAD_ARGUMENT);
  const vcs_place_t position = {VCS_PLACE_STATE, 7, 0, (uint32_t)offsetof(vcs_t, timer_shift)};
  assert_int_equal(vcs_smooth(&fixture.run, &fine, &position, middle, 1, NULL, gradient, NULL, &error),
                   VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "cannot be"));
  close_fixture(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smooth_intervals_hold_the_exact_gradient),
      cmocka_unit_test(test_smooth_is_unbiased),
      cmocka_unit_test(test_smooth_reduces_variance),
      cmocka_unit_test(test_smooth_samples_what_a_control_leaves),
      cmocka_unit_test(test_smooth_becomes_truth_at_the_corner),
      cmocka_unit_test(test_smooth_of_ram_and_rom),
      cmocka_unit_test(test_smooth_is_the_same_with_any_threads),
      cmocka_unit_test(test_smooth_refuses_what_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
