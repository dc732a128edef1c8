/* test_reward.c: derivatives of rewards, of the rules alone and through the whole machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diffvcs/grad.h"
#include "host/env.h"

enum { FRAMES = 3, WARM_UP = 120 };

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  size_t slots;
} fixture_t;

static uint64_t random_state = 5;

static uint32_t noise(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33);
}

static int set_up(void **state) {
  static fixture_t fixture;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE};
  if (vcs_cart_load(image, size, &options, &fixture.cart, NULL)) return -1;
  if (vcs_env_create(fixture.cart, &fixture.env, NULL)) return -1;
  for (int i = 0; i < WARM_UP; i++) vcs_env_act_on(fixture.env, VCS_FIRE, VCS_NOOP);
  vcs_run_idle(fixture.env, FRAMES, fixture.controls, &fixture.run);
  fixture.slots = 8 * vcs_state_size(fixture.cart);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  vcs_env_free(fixture->env);
  vcs_cart_free(fixture->cart);
  return 0;
}

/* ---- What rules look at --------------------------------------------------------------------------------------- */

static void fill(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)noise();
}

static void test_rules_see_nothing_but_what_they_look_at(void **state) {
  (void)state;
  int games = 0, seen = 0;
  const vcs_game_t *game;
  for (; (game = vcs_game_at(games)); games++) {
    const vcs_game_code_t *code = vcs_game_code(game, VCS_PROFILE_ALE);
    uint8_t looks[256] = {0};
    vcs_rule_looks(&code->step, looks);
    for (int trial = 0; trial < 200; trial++) {
      uint8_t ram[256], other[256];
      vcs_play_t play, moved;
      fill(ram, sizeof ram);
      fill((uint8_t *)&play, sizeof play);
      play.over = 0;
      moved = play;
      fill(other, sizeof other);
      for (int i = 0; i < 256; i++) {
        if (looks[i]) other[i] = ram[i];
      }
      vcs_game_code_step(code, &play, ram, ram + 128);
      vcs_game_code_step(code, &moved, other, other + 128);
      assert_memory_equal(&play, &moved, sizeof play);
    }
    for (int i = 0; i < 256; i++) seen += looks[i];
  }
  assert_true(games > 100 && seen > 2 * games && seen < 20 * games);
}

/* ---- Through the machine --------------------------------------------------------------------------------------- */

/* The digits of the score do not change without a score, so first order is exact. */
static void test_a_bit_of_the_score_is_worth_what_it_is_worth(void **state) {
  const fixture_t *fixture = *state;
  uint8_t looks[256] = {0};
  int worth_something = 0;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  vcs_rule_looks(&fixture->env->code->step, looks);
  for (uint32_t i = 0; i < 8 * 128; i++) {
    if (!looks[i / 8]) continue;
    const vcs_place_t place = {VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i / 8};
    const vcs_truth_options_t with_score = {.env = fixture->env, .threads = 1};
    vcs_truth_t row;
    const vcs_truth_results_t results = {.rows = &row};
    assert_int_equal(vcs_truth(&fixture->run, &with_score, &place, 1, &results, NULL), VCS_OK);
    float *tangent = calloc(fixture->slots, sizeof *tangent), rewards[FRAMES] = {0};
    tangent[8 * place.index + place.bit] = 1;
    const vcs_grad_inputs_t in = {.state = tangent};
    const vcs_grad_outputs_t out = {.env = fixture->env, .rewards = rewards};
    assert_int_equal(vcs_grad_jvp(&fixture->run, &options, &in, &out, NULL, NULL), VCS_OK);
    assert_true(rewards[0] + rewards[1] + rewards[2] == (float)row.score);
    worth_something += row.score != 0;
    if (row.score) assert_true(rewards[0] == (float)row.score && rewards[1] == 0);
    free(tangent);
  }
  assert_true(worth_something >= 8);
}

static void test_both_products_are_of_one_matrix(void **state) {
  const fixture_t *fixture = *state;
  for (vcs_method_t method = VCS_METHOD_BIT; method < VCS_METHODS; method++) {
    vcs_grad_options_t options;
    if (method == VCS_METHOD_HYBRID) continue; /* it chooses its exact bits by the direction, so it is not one matrix */
    vcs_grad_defaults(&options);
    options.method = method;
    options.side = VCS_SIDE_MEAN;
    float *v = calloc(fixture->slots, sizeof *v), *jw = calloc(fixture->slots, sizeof *jw);
    float w[FRAMES], weights[FRAMES], jv[FRAMES] = {0};
    double left = 0, right = 0, size = 0;
    for (size_t i = 8 * offsetof(vcs_t, ram); i < 8 * (offsetof(vcs_t, ram) + 128); i++) {
      v[i] = (float)(noise() % 2001) / 1000 - 1;
    }
    for (int f = 0; f < FRAMES; f++) w[f] = weights[f] = (float)(noise() % 2001) / 1000 - 1;
    const vcs_grad_inputs_t tangents = {.state = v}, adjoints = {.state = jw};
    const vcs_grad_outputs_t effects = {.env = fixture->env, .rewards = jv};
    const vcs_grad_outputs_t weighed = {.env = fixture->env, .rewards = weights};
    assert_int_equal(vcs_grad_jvp(&fixture->run, &options, &tangents, &effects, NULL, NULL), VCS_OK);
    assert_int_equal(vcs_grad_vjp(&fixture->run, &options, &adjoints, &weighed, NULL, NULL), VCS_OK);
    for (int f = 0; f < FRAMES; f++) left += (double)w[f] * (double)jv[f], size += fabs((double)w[f] * (double)jv[f]);
    for (size_t i = 0; i < fixture->slots; i++) right += (double)v[i] * (double)jw[i];
    assert_true(size > 1);
    assert_true(fabs(left - right) <= 1e-5 * size);
    free(v);
    free(jw);
  }
}

static void test_rewards_need_rules(void **state) {
  const fixture_t *fixture = *state;
  vcs_grad_options_t options;
  vcs_error_t error;
  float rewards[FRAMES] = {0};
  const vcs_grad_inputs_t in = {NULL, NULL, NULL};
  const vcs_grad_outputs_t out = {.rewards = rewards};
  vcs_grad_defaults(&options);
  assert_int_equal(vcs_grad_jvp(&fixture->run, &options, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "environment"));
  assert_int_equal(vcs_grad_vjp(&fixture->run, &options, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules_see_nothing_but_what_they_look_at),
      cmocka_unit_test(test_a_bit_of_the_score_is_worth_what_it_is_worth),
      cmocka_unit_test(test_both_products_are_of_one_matrix),
      cmocka_unit_test(test_rewards_need_rules),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
