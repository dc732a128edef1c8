/* Environments on our own cartridge: the effect of each option, the values it reports, and the options it rejects. RAM
 * of the cartridge (see demo/README.md): $80, $81 score, $82 lives, $83 over, $84 variation. Equality with ale-py is
 * tests/ale_env_live.py.
 */
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
#include "host/env_screen.h"
#include "host/palette.h"

enum { SCORE_LOW = 1, LIVES = 2, OVER = 3, VARIATION = 4 };

static vcs_cart_t *load(vcs_profile_t profile, const char *name) {
  size_t size;
  vcs_cart_t *cart = NULL;
  const uint8_t *image = vcs_demo_image(&size);
  const vcs_cart_options_t options = {.profile = profile, .name = name};
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

static vcs_cart_t *load_unknown(void) {
  size_t size;
  vcs_cart_t *cart = NULL;
  const uint8_t *image = vcs_demo_image(&size);
  uint8_t other[4096];
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE};
  assert_int_equal(size, sizeof other);
  memcpy(other, image, size);
  other[0x7FF] ^= 1;
  assert_int_equal(vcs_cart_load(other, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* An environment of profile `ale` without sticky actions, and what a test changes of its options. */
typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_env_options_t options;
} fixture_t;

static fixture_t create_on(vcs_cart_t *cart) {
  fixture_t f = {.cart = cart};
  assert_int_equal(vcs_env_create(f.cart, &f.env, NULL), VCS_OK);
  f.options = *vcs_env_options(f.env);
  return f;
}

static fixture_t create(void) { return create_on(load(VCS_PROFILE_ALE, NULL)); }

static void configure(fixture_t *f) {
  vcs_error_t error;
  if (vcs_env_configure(f->env, &f->options, &error)) fail_msg("%s", error.message);
}

static void destroy(fixture_t *f) {
  vcs_env_free(f->env);
  vcs_cart_free(f->cart);
}

static void set_ram(vcs_env_t *env, int index, uint8_t value) {
  assert_int_equal(vcs_env_set_ram(env, index, value, NULL), VCS_OK);
}

/* Everything that can differ between two environments with the same cartridge. */
static void assert_same(const vcs_env_t *a, const vcs_env_t *b) {
  const size_t size = vcs_env_state_size(a);
  uint8_t *x = malloc(size), *y = malloc(size);
  assert_int_equal(vcs_env_state_size(b), size);
  vcs_env_state_copy(a, x);
  vcs_env_state_copy(b, y);
  assert_memory_equal(x, y, size);
  free(x);
  free(y);
}

static void play(vcs_env_t *env, int steps, uint64_t seed) {
  vcs_stream_t stream;
  vcs_stream_start(&stream, seed);
  for (int i = 0; i < steps; i++) vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
}

/* ---- Options ------------------------------------------------------------------------------------------------ */

static void test_defaults_of_profile_ale_are_ale_pys(void **state) {
  (void)state;
  vcs_cart_t *cart = load(VCS_PROFILE_ALE, NULL);
  vcs_env_options_t o;
  vcs_env_defaults(cart, &o);
  assert_int_equal(o.frame_skip, 1);
  assert_true(o.repeat_action_probability == 0.25f);
  assert_int_equal(o.max_episode_frames, 0);
  assert_int_equal(o.reward_min, INT32_MIN);
  assert_int_equal(o.reward_max, INT32_MAX);
  assert_int_equal(o.noop_max | o.life_loss | o.fire_reset | o.colour_averaging | o.mode | o.difficulty, 0);
  vcs_cart_free(cart);
}

static void test_defaults_of_profile_xitari_have_no_sticky_actions(void **state) {
  (void)state;
  vcs_cart_t *cart = load(VCS_PROFILE_XITARI, NULL);
  vcs_env_options_t o;
  vcs_env_defaults(cart, &o);
  assert_true(o.repeat_action_probability == 0);
  vcs_cart_free(cart);
}

static void test_create_without_options_has_no_sticky_actions(void **state) {
  (void)state;
  fixture_t f = create();
  assert_true(vcs_env_options(f.env)->repeat_action_probability == 0);
  destroy(&f);
}

static void test_create_refuses_bad_options(void **state) {
  (void)state;
  vcs_cart_t *cart = load(VCS_PROFILE_ALE, NULL);
  vcs_env_t *env = (vcs_env_t *)cart;
  vcs_env_options_t o;
  vcs_env_defaults(cart, &o);
  o.frame_skip = 0;
  assert_int_equal(vcs_env_create_with(cart, &o, &env, NULL), VCS_BAD_ARGUMENT);
  assert_null(env);
  vcs_cart_free(cart);
}

static void test_configure_names_what_is_out_of_range(void **state) {
  (void)state;
  fixture_t f = create();
  const vcs_env_options_t good = f.options;
  vcs_error_t error;
#define REFUSED(member, value, status, word)                                \
  do {                                                                      \
    f.options = good;                                                       \
    f.options.member = value;                                               \
    assert_int_equal(vcs_env_configure(f.env, &f.options, &error), status); \
    assert_non_null(strstr(error.message, word));                           \
    assert_memory_equal(vcs_env_options(f.env), &good, sizeof good);        \
  } while (0)
  REFUSED(frame_skip, 0, VCS_BAD_ARGUMENT, "frame_skip");
  REFUSED(repeat_action_probability, 1.5f, VCS_BAD_ARGUMENT, "repeat_action_probability");
  REFUSED(repeat_action_probability, NAN, VCS_BAD_ARGUMENT, "from 0 to 1");
  REFUSED(max_episode_frames, -1, VCS_BAD_ARGUMENT, "max_episode_frames");
  REFUSED(noop_max, -1, VCS_BAD_ARGUMENT, "noop_max");
  REFUSED(life_loss, 3, VCS_BAD_ARGUMENT, "life_loss");
  REFUSED(fire_reset, 3, VCS_BAD_ARGUMENT, "fire_reset");
  REFUSED(colour_averaging, 2, VCS_BAD_ARGUMENT, "colour_averaging");
  REFUSED(mode, 4, VCS_NOT_FOUND, "0, 1, 2, 3");
  REFUSED(difficulty, 1, VCS_NOT_FOUND, "no difficulty 1");
#undef REFUSED
  f.options = good;
  f.options.reward_min = 5;
  f.options.reward_max = 4;
  assert_int_equal(vcs_env_configure(f.env, &f.options, &error), VCS_BAD_ARGUMENT);
  assert_string_equal(error.message, "reward_min is 5, but goes from -2147483648 to 4");
  destroy(&f);
}

/* ---- Steps -------------------------------------------------------------------------------------------------- */

static void test_frame_skip_is_as_many_frames(void **state) {
  (void)state;
  fixture_t one = create(), four = create();
  four.options.frame_skip = 4;
  configure(&four);
  for (int i = 0; i < 100; i++) {
    int32_t sum = 0;
    for (int k = 0; k < 4; k++) sum += vcs_env_act(one.env, i % 18, VCS_NOOP);
    assert_int_equal(vcs_env_act(four.env, i % 18, VCS_NOOP), sum);
    assert_int_equal(vcs_env_reward(four.env), sum);
    one.env->reward = four.env->reward;
    one.env->life_lost = four.env->life_lost;
    assert_same(one.env, four.env);
  }
  destroy(&one);
  destroy(&four);
}

static void test_a_step_draws_twice_a_frame(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.frame_skip = 3;
  configure(&f);
  const uint32_t before = f.env->sticky_random.next;
  vcs_env_act(f.env, VCS_UP, VCS_NOOP);
  assert_int_equal(f.env->sticky_random.next, before + 6);
  destroy(&f);
}

static void test_actions_that_always_stick_are_noops(void **state) {
  (void)state;
  fixture_t sticky = create(), idle = create();
  sticky.options.repeat_action_probability = 1;
  configure(&sticky);
  play(sticky.env, 200, 7);
  play(idle.env, 200, 0);
  assert_memory_equal(vcs_env_ram(sticky.env), vcs_env_ram(idle.env), 128);
  destroy(&sticky);
  destroy(&idle);
}

static void test_sticky_actions_follow_the_seed(void **state) {
  (void)state;
  fixture_t a = create(), b = create(), c = create();
  a.options.repeat_action_probability = b.options.repeat_action_probability = c.options.repeat_action_probability =
      0.5f;
  configure(&a);
  configure(&b);
  configure(&c);
  vcs_env_reload(a.env, 5);
  vcs_env_reload(b.env, 5);
  vcs_env_reload(c.env, 6);
  play(a.env, 200, 7);
  play(b.env, 200, 7);
  play(c.env, 200, 7);
  assert_same(a.env, b.env);
  assert_memory_not_equal(vcs_env_ram(a.env), vcs_env_ram(c.env), 128);
  destroy(&a);
  destroy(&b);
  destroy(&c);
}

static void test_rewards_are_clamped(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.reward_min = -1;
  f.options.reward_max = 3;
  configure(&f);
  set_ram(f.env, SCORE_LOW, 0x25);
  assert_int_equal(vcs_env_act(f.env, VCS_NOOP, VCS_NOOP), 3);
  set_ram(f.env, SCORE_LOW, 0x01);
  assert_int_equal(vcs_env_act(f.env, VCS_NOOP, VCS_NOOP), -1);
  destroy(&f);
}

static void test_a_reward_is_the_gain_of_the_score(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, SCORE_LOW, 0x25);
  assert_int_equal(vcs_env_act(f.env, VCS_NOOP, VCS_NOOP), 25);
  assert_int_equal(vcs_env_reward(f.env), 25);
  assert_int_equal(vcs_env_act(f.env, VCS_NOOP, VCS_NOOP), 0);
  destroy(&f);
}

static void test_nothing_happens_once_the_game_is_over(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, OVER, 1);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_true(vcs_env_over(f.env));
  assert_true(vcs_env_done(f.env));
  assert_false(vcs_env_truncated(f.env));
  const uint64_t frames = vcs_env_frame_number(f.env);
  const uint64_t hash = vcs_hash(f.cart, vcs_env_machine(f.env));
  assert_int_equal(vcs_env_act(f.env, VCS_UP, VCS_NOOP), 0);
  assert_int_equal(vcs_env_frame_number(f.env), frames);
  assert_int_equal(vcs_hash(f.cart, vcs_env_machine(f.env)), hash);
  destroy(&f);
}

static void test_act_on_goes_on_after_the_end(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, OVER, 1);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  const uint64_t frames = vcs_env_frame_number(f.env);
  const uint32_t draws = f.env->sticky_random.next;
  vcs_env_act_on(f.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(vcs_env_frame_number(f.env), frames + 1);
  assert_int_equal(f.env->sticky_random.next, draws);
  destroy(&f);
}

static void test_actions_out_of_range_are_noops(void **state) {
  (void)state;
  fixture_t a = create(), b = create();
  static const int wrong[] = {-1, VCS_ACTIONS, 40, 1000000};
  for (int i = 0; i < 4; i++) {
    vcs_env_act(a.env, wrong[i], wrong[3 - i]);
    vcs_env_act(b.env, VCS_NOOP, VCS_NOOP);
  }
  assert_same(a.env, b.env);
  destroy(&a);
  destroy(&b);
}

static void test_the_second_player_has_the_right_port(void **state) {
  (void)state;
  fixture_t f = create();
  vcs_env_act(f.env, VCS_NOOP, VCS_UPFIRE);
  assert_int_equal(f.env->m->swcha, 0xFE);
  assert_int_equal(f.env->m->fire[1], 0);
  vcs_env_act(f.env, VCS_LEFT, VCS_NOOP);
  assert_int_equal(f.env->m->swcha, 0xBF);
  destroy(&f);
}

static void test_frames_are_counted_by_steps_and_modes(void **state) {
  (void)state;
  fixture_t f = create();
  assert_int_equal(vcs_env_frame_number(f.env), 0);
  play(f.env, 10, 3);
  vcs_env_reset(f.env);
  assert_int_equal(vcs_env_frame_number(f.env), 10);
  assert_int_equal(vcs_env_episode_frame_number(f.env), 0);
  f.options.mode = 1; /* one press of SELECT */
  configure(&f);
  vcs_env_reset(f.env);
  assert_int_equal(vcs_env_frame_number(f.env), 11);
  assert_int_equal(vcs_env_episode_frame_number(f.env), 1);
  destroy(&f);
}

/* ---- Endings ------------------------------------------------------------------------------------------------ */

static void test_an_episode_is_truncated_at_its_frame_limit(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.max_episode_frames = 10;
  f.options.frame_skip = 4;
  configure(&f);
  for (int i = 0; i < 2; i++) vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_false(vcs_env_truncated(f.env));
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_true(vcs_env_truncated(f.env));
  assert_true(vcs_env_done(f.env));
  assert_false(vcs_env_over(f.env));
  assert_int_equal(vcs_env_episode_frame_number(f.env), 10);
  vcs_env_reset(f.env);
  assert_false(vcs_env_truncated(f.env));
  destroy(&f);
}

static void test_life_loss_truncates_until_the_reset(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.life_loss = VCS_LIFE_LOSS_TRUNCATES;
  configure(&f);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_false(vcs_env_truncated(f.env));
  set_ram(f.env, LIVES, 2);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_true(vcs_env_truncated(f.env));
  const uint64_t frames = vcs_env_frame_number(f.env);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(vcs_env_frame_number(f.env), frames);
  vcs_env_reset(f.env);
  assert_false(vcs_env_truncated(f.env));
  destroy(&f);
}

static void test_life_loss_ends_a_step_and_play_goes_on(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.life_loss = VCS_LIFE_LOSS_ENDS;
  f.options.frame_skip = 4;
  configure(&f);
  set_ram(f.env, LIVES, 2);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(vcs_env_frame_number(f.env), 1);
  assert_true(vcs_env_life_lost(f.env));
  assert_true(vcs_env_done(f.env));
  assert_false(vcs_env_over(f.env) || vcs_env_truncated(f.env));
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(vcs_env_frame_number(f.env), 5);
  assert_false(vcs_env_life_lost(f.env) || vcs_env_done(f.env));
  destroy(&f);
}

static void test_life_loss_is_reported_but_ends_nothing_by_default(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, LIVES, 1);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(vcs_env_lives(f.env), 1);
  assert_true(vcs_env_life_lost(f.env));
  assert_false(vcs_env_done(f.env));
  destroy(&f);
}

static void test_the_last_life_is_the_end_not_a_loss(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, LIVES, 0);
  set_ram(f.env, OVER, 1);
  vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
  assert_true(vcs_env_over(f.env));
  assert_false(vcs_env_life_lost(f.env));
  destroy(&f);
}

/* ---- Beginnings --------------------------------------------------------------------------------------------- */

static void test_no_op_starts_take_every_length_below_the_limit(void **state) {
  (void)state;
  fixture_t f = create();
  unsigned seen = 0;
  f.options.noop_max = 5;
  configure(&f);
  for (int i = 0; i < 60; i++) {
    vcs_env_reset(f.env);
    assert_in_range(vcs_env_episode_frame_number(f.env), 0, 4);
    seen |= 1u << vcs_env_episode_frame_number(f.env);
  }
  assert_int_equal(seen, 0x1F);
  destroy(&f);
}

static void test_fire_counts_as_one_of_the_no_ops(void **state) {
  (void)state;
  fixture_t f = create();
  unsigned seen = 0;
  f.options.noop_max = 4;
  f.options.fire_reset = VCS_FIRE_RESET_MINIMAL;
  configure(&f);
  for (int i = 0; i < 40; i++) {
    vcs_env_reset(f.env);
    seen |= 1u << vcs_env_episode_frame_number(f.env);
  }
  assert_int_equal(seen, 0xE); /* one frame of FIRE and up to two more: 1, 2, 3 */
  destroy(&f);
}

static void test_a_mode_is_selected_by_the_next_reset(void **state) {
  (void)state;
  fixture_t f = create();
  for (int mode = 3; mode >= 0; mode--) {
    const int before = vcs_env_ram(f.env)[VARIATION];
    f.options.mode = mode;
    configure(&f);
    vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
    assert_int_equal(vcs_env_ram(f.env)[VARIATION], before);
    vcs_env_reset(f.env);
    assert_int_equal(vcs_env_ram(f.env)[VARIATION], mode);
    assert_false(vcs_env_over(f.env));
  }
  destroy(&f);
}

static void test_loading_begins_in_the_default_mode(void **state) {
  (void)state;
  fixture_t f = create();
  f.options.mode = 2;
  configure(&f);
  vcs_env_reload(f.env, 0);
  assert_int_equal(vcs_env_ram(f.env)[VARIATION], 0);
  assert_int_equal(vcs_env_options(f.env)->mode, 2);
  vcs_env_reset(f.env);
  assert_int_equal(vcs_env_ram(f.env)[VARIATION], 2);
  destroy(&f);
}

static void test_difficulty_moves_the_switches(void **state) {
  (void)state;
  fixture_t f = create_on(load_unknown());
  for (int difficulty = 3; difficulty >= 0; difficulty--) {
    f.options.difficulty = difficulty;
    configure(&f);
    vcs_env_act(f.env, VCS_NOOP, VCS_NOOP);
    assert_int_equal(f.env->m->swchb >> 6, difficulty);
  }
  destroy(&f);
}

static void test_an_idle_run_begins_with_the_switches_of_the_next_frame(void **state) {
  (void)state;
  for (int profile = VCS_PROFILE_ALE; profile <= VCS_PROFILE_XITARI; profile++) {
    fixture_t f = create_on(load((vcs_profile_t)profile, NULL));
    vcs_controls_t controls;
    vcs_run_t run;
    const int before = f.env->m->swchb >> 6;
    f.env->difficulty = 3 ^ before;
    vcs_run_idle(f.env, 1, &controls, &run);
    const int start = run.start->swchb >> 6;
    vcs_env_act_on(f.env, VCS_NOOP, VCS_NOOP);
    assert_int_equal(start, f.env->m->swchb >> 6);
    assert_int_equal(start == before, profile == VCS_PROFILE_XITARI);
    destroy(&f);
  }
}

static void test_an_idle_run_keeps_the_paddles_of_four_players(void **state) {
  (void)state;
  fixture_t f = create();
  vcs_controls_t controls;
  vcs_run_t run;
  for (int i = 0; i < 2; i++) {
    f.env->paddle[i] = 100 + i;
    f.env->far_paddle[i] = 102 + i;
  }
  vcs_run_idle(f.env, 1, &controls, &run);
  for (int i = 0; i < 4; i++) assert_int_equal(controls.paddle[i], 100 + i);
  destroy(&f);
}

static void test_reload_is_a_new_environment(void **state) {
  (void)state;
  fixture_t a = create(), b = create();
  play(a.env, 300, 9);
  vcs_env_reset(a.env);
  vcs_env_reload(a.env, 0);
  assert_same(a.env, b.env);
  destroy(&a);
  destroy(&b);
}

static void test_mode_scripts_give_up_on_another_image(void **state) {
  (void)state;
  fixture_t f = create_on(load(VCS_PROFILE_ALE, "freeway")); /* whose mode 7 our cartridge never shows at $80 */
  assert_string_equal(f.env->game->name, "freeway");
  f.options.mode = 7;
  configure(&f);
  vcs_env_reset(f.env);
  assert_in_range(vcs_env_episode_frame_number(f.env), VCS_MODE_PATIENCE, VCS_MODE_PATIENCE);
  destroy(&f);
}

/* ---- What is offered ---------------------------------------------------------------------------------------- */

static void test_our_cartridge_offers_all_actions_and_four_modes(void **state) {
  (void)state;
  fixture_t f = create();
  int32_t numbers[VCS_MODES_MAX];
  assert_int_equal(vcs_env_minimal_actions(f.env, numbers), 18);
  assert_int_equal(vcs_env_legal_actions(f.env, numbers), 18);
  assert_int_equal(numbers[17], 17);
  assert_int_equal(vcs_env_modes(f.env, numbers), 4);
  assert_int_equal(numbers[3], 3);
  assert_int_equal(vcs_env_difficulties(f.env, numbers), 1);
  assert_int_equal(numbers[0], 0);
  assert_false(vcs_env_two_players(f.env));
  destroy(&f);
}

static void test_profile_xitari_has_no_modes(void **state) {
  (void)state;
  fixture_t f = create_on(load(VCS_PROFILE_XITARI, NULL));
  int32_t numbers[VCS_MODES_MAX];
  assert_int_equal(vcs_env_modes(f.env, numbers), 1);
  f.options.mode = 1;
  assert_int_equal(vcs_env_configure(f.env, &f.options, NULL), VCS_NOT_FOUND);
  destroy(&f);
}

static void test_unknown_cartridges_play_without_rewards_or_end(void **state) {
  (void)state;
  fixture_t f = create_on(load_unknown());
  int32_t numbers[VCS_MODES_MAX];
  assert_null(f.env->game);
  assert_int_equal(vcs_env_minimal_actions(f.env, numbers), 18);
  assert_int_equal(vcs_env_modes(f.env, numbers), 1);
  assert_int_equal(vcs_env_difficulties(f.env, numbers), 4);
  set_ram(f.env, SCORE_LOW, 0x25);
  set_ram(f.env, OVER, 1);
  assert_int_equal(vcs_env_act(f.env, VCS_NOOP, VCS_NOOP), 0);
  assert_false(vcs_env_done(f.env));
  destroy(&f);
}

static void test_games_for_two_are_known_as_such(void **state) {
  (void)state;
  fixture_t f = create_on(load(VCS_PROFILE_ALE, "combat"));
  assert_true(vcs_env_two_players(f.env));
  vcs_env_act(f.env, VCS_UP, VCS_DOWN);
  assert_false(vcs_env_done(f.env));
  assert_int_equal(vcs_env_frame_number(f.env), 1);
  destroy(&f);
}

static void test_illegal_actions_are_noops(void **state) {
  (void)state;
  fixture_t f = create_on(load(VCS_PROFILE_ALE, "skiing"));
  int32_t numbers[VCS_ACTIONS];
  assert_int_equal(vcs_env_legal_actions(f.env, numbers), 9);
  vcs_env_act(f.env, VCS_FIRE, VCS_FIRE);
  assert_int_equal(f.env->m->fire[0], 1);
  assert_int_equal(f.env->m->fire[1], 1);
  destroy(&f);
}

static void test_profile_fixed_boots_like_ale(void **state) {
  (void)state;
  fixture_t ale = create(), fixed = create_on(load(VCS_PROFILE_FIXED, NULL));
  assert_string_equal(vcs_profile_name(vcs_cart_info(fixed.cart)->profile), "fixed");
  assert_string_equal(vcs_cart_info(fixed.cart)->game, "contour");
  assert_int_equal(vcs_hash(ale.cart, vcs_env_machine(ale.env)), vcs_hash(fixed.cart, vcs_env_machine(fixed.env)));
  destroy(&ale);
  destroy(&fixed);
}

/* ---- Profile fixed ------------------------------------------------------------------------------------------ */

/* A game's play after two frames with these bytes of RAM: (address, before, after), ended by 0. */
static vcs_play_t judged(vcs_profile_t profile, const char *name, const uint8_t bytes[][3]) {
  const vcs_game_t *game = vcs_game_find(profile, NULL, name);
  uint8_t ram[128] = {0};
  vcs_play_t play = {0};
  assert_non_null(game);
  vcs_game_reset(game, profile, &play);
  for (int when = 1; when <= 2; when++) {
    for (int i = 0; bytes[i][0]; i++) ram[bytes[i][0] & 127] = bytes[i][when];
    vcs_game_step(game, profile, &play, ram, NULL);
  }
  return play;
}

static void test_fixed_asterix_counts_beyond_a_million(void **state) {
  (void)state;
  static const uint8_t bytes[][3] = {{0xDE, 0x99, 0x00}, {0xDF, 0x95, 0x00}, {0xE0, 0x00, 0x00}, {0xD3, 3, 3}, {0}};
  assert_int_equal(judged(VCS_PROFILE_ALE, "asterix", bytes).reward, -999500);
  assert_int_equal(judged(VCS_PROFILE_FIXED, "asterix", bytes).reward, 500);
}

static void test_fixed_centipede_counts_beyond_a_million(void **state) {
  (void)state;
  static const uint8_t bytes[][3] = {{0xF4, 0x99, 0x00}, {0xF5, 0x99, 0x02}, {0xF6, 0x99, 0x99}, {0}};
  assert_int_equal(judged(VCS_PROFILE_ALE, "centipede", bytes).reward, 0);
  assert_int_equal(judged(VCS_PROFILE_FIXED, "centipede", bytes).reward, 300);
}

static void test_fixed_keeps_a_score_that_falls_a_little(void **state) {
  (void)state;
  static const uint8_t bytes[][3] = {{0xDF, 0x05, 0x03}, {0xD3, 3, 3}, {0}};
  assert_int_equal(judged(VCS_PROFILE_FIXED, "asterix", bytes).reward, -200);
  static const uint8_t centipede[][3] = {{0xF5, 0x05, 0x03}, {0}};
  assert_int_equal(judged(VCS_PROFILE_FIXED, "centipede", centipede).reward, 0);
}

static void test_fixed_pitfall_ends_with_its_time(void **state) {
  (void)state;
  static const uint8_t bytes[][3] = {{0x80, 0xA0, 0xA0}, {0xD6, 0x20, 0x20}, {0xD8, 0, 0}, {0xD9, 1, 0}, {0}};
  assert_false(judged(VCS_PROFILE_ALE, "pitfall", bytes).over);
  assert_true(judged(VCS_PROFILE_FIXED, "pitfall", bytes).over);
}

static void test_fixed_hero_and_kung_fu_master_end_at_a_million(void **state) {
  (void)state;
  static const uint8_t hero[][3] = {{0xB7, 0x99, 0xBB}, {0xB8, 0x99, 0xBB}, {0xB9, 0x50, 0xBB}, {0xB3, 4, 4}, {0}};
  assert_int_equal(judged(VCS_PROFILE_ALE, "hero", hero).reward, 1222221 - 999950);
  assert_int_equal(judged(VCS_PROFILE_FIXED, "hero", hero).reward, 50);
  assert_true(judged(VCS_PROFILE_FIXED, "hero", hero).over);
  static const uint8_t kung_fu[][3] = {{0x98, 0x99, 0xFF}, {0x99, 0x99, 0xFF}, {0x9A, 0, 0xFF}, {0x9D, 3, 3}, {0}};
  assert_int_equal(judged(VCS_PROFILE_FIXED, "kung_fu_master", kung_fu).reward, 100);
  assert_true(judged(VCS_PROFILE_FIXED, "kung_fu_master", kung_fu).over);
}

static void test_fixed_riverraid_is_not_fined_at_a_million(void **state) {
  (void)state;
  static const uint8_t bytes[][3] = {
      {0xCD, 72, 80}, {0xCF, 72, 80}, {0xD1, 72, 80}, {0xD3, 72, 80}, {0xD5, 72, 80}, {0xD7, 0, 80}, {0}};
  assert_int_equal(judged(VCS_PROFILE_ALE, "riverraid", bytes).reward, -999990);
  assert_int_equal(judged(VCS_PROFILE_FIXED, "riverraid", bytes).reward, 10);
}

static void test_fixed_is_ale_where_nothing_is_wrong(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    const vcs_game_t *game = vcs_game_at(i);
    vcs_game_code_t ale, fixed;
    assert_int_equal(vcs_game_has(game, VCS_PROFILE_FIXED), vcs_game_has(game, VCS_PROFILE_ALE));
    assert_int_equal(vcs_game_compile(game, VCS_PROFILE_ALE, &ale, NULL), VCS_OK);
    assert_int_equal(vcs_game_compile(game, VCS_PROFILE_FIXED, &fixed, NULL), VCS_OK);
    const bool same = memcmp(&ale, &fixed, sizeof ale) == 0;
    assert_int_equal(same, !game->wraps && !game->fixed_rule);
  }
}

/* ---- Paddles ------------------------------------------------------------------------------------------------ */

static fixture_t create_with_paddles(void) {
  vcs_cart_t *cart = load(VCS_PROFILE_ALE, NULL);
  ((vcs_cartridge_t *)cart)->info.left = VCS_CONTROLLER_PADDLES;
  return create_on(cart);
}

static void test_paddles_start_in_the_middle(void **state) {
  (void)state;
  fixture_t f = create_with_paddles();
  assert_int_equal(f.env->paddle[0], (27450 + 790196) / 2);
  assert_int_equal(f.env->paddle[1], f.env->paddle[0]);
  destroy(&f);
}

static void test_paddles_turn_by_their_strength(void **state) {
  (void)state;
  fixture_t f = create_with_paddles();
  const int32_t middle = f.env->paddle[0];
  vcs_env_act_strength(f.env, VCS_RIGHT, VCS_UPLEFTFIRE, 0.5f, 0.25f);
  assert_int_equal(f.env->paddle[0], middle - 11500);
  assert_int_equal(f.env->paddle[1], middle + 5750);
  vcs_env_act_strength(f.env, VCS_RIGHT, VCS_NOOP, -1, 1);
  assert_int_equal(f.env->paddle[0], middle - 34500);
  assert_int_equal(f.env->paddle[1], middle + 5750);
  destroy(&f);
}

static void test_paddles_stop_at_their_ends(void **state) {
  (void)state;
  fixture_t f = create_with_paddles();
  vcs_env_act_strength(f.env, VCS_RIGHT, VCS_LEFT, 1e30f, 1e30f);
  assert_int_equal(f.env->paddle[0], 27450);
  assert_int_equal(f.env->paddle[1], 790196);
  destroy(&f);
}

/* ---- Pictures and RAM --------------------------------------------------------------------------------------- */

enum { MOST = 160 * 320 };
static uint8_t indices[MOST], gray[MOST], rgb[3 * MOST];

static void test_pictures_are_the_screen_in_colours(void **state) {
  (void)state;
  fixture_t f = create();
  play(f.env, 60, 3);
  const size_t pixels = 160u * (size_t)vcs_env_height(f.env);
  vcs_env_screen_indices(f.env, indices);
  vcs_env_screen_rgb(f.env, rgb);
  vcs_env_screen_gray(f.env, gray);
  assert_memory_equal(indices, vcs_env_screen(f.env), pixels);
  for (size_t i = 0; i < pixels; i++) {
    const uint32_t colour = vcs_palette(VCS_FORMAT_NTSC)[indices[i]];
    assert_int_equal(rgb[3 * i] << 16 | rgb[3 * i + 1] << 8 | rgb[3 * i + 2], colour);
    assert_int_equal(gray[i], vcs_palette_gray(VCS_FORMAT_NTSC)[indices[i]]);
  }
  destroy(&f);
}

static void test_averaged_pictures_are_of_the_last_two_frames(void **state) {
  (void)state;
  fixture_t f = create();
  uint8_t last[MOST];
  f.options.colour_averaging = 1;
  configure(&f);
  play(f.env, 60, 3);
  const size_t pixels = 160u * (size_t)vcs_env_height(f.env);
  memcpy(last, vcs_env_screen(f.env), pixels);
  vcs_env_act(f.env, VCS_UP, VCS_NOOP);
  vcs_env_screen_indices(f.env, indices);
  vcs_env_screen_rgb(f.env, rgb);
  vcs_env_screen_gray(f.env, gray);
  size_t blended = 0;
  for (size_t i = 0; i < pixels; i++) {
    const uint8_t now = vcs_env_screen(f.env)[i], average = vcs_blend_table(VCS_FORMAT_NTSC)[256 * now + last[i]];
    assert_int_equal(indices[i], average);
    assert_int_equal(rgb[3 * i + 1], vcs_palette(VCS_FORMAT_NTSC)[average] >> 8 & 255);
    assert_int_equal(gray[i], vcs_palette_gray(VCS_FORMAT_NTSC)[average]);
    blended += now != last[i];
  }
  assert_true(blended > 0);
  destroy(&f);
}

static void test_averages_do_not_depend_on_the_order(void **state) {
  (void)state;
  static const vcs_format_t formats[] = {VCS_FORMAT_NTSC, VCS_FORMAT_PAL, VCS_FORMAT_SECAM};
  for (int f = 0; f < 3; f++) {
    vcs_blend_prepare(formats[f]);
    const uint8_t *table = vcs_blend_table(formats[f]);
    for (int a = 0; a < 256; a++) {
      for (int b = 0; b < 256; b++) assert_int_equal(table[256 * a + b], table[256 * b + a]);
    }
  }
}

/* 77 % of 0xEC is 0xB5; without its low bits 0xB4, and gray 0xAA is nearer than 0xC0. */
static void test_average_of_black_and_white_is_a_gray(void **state) {
  (void)state;
  vcs_blend_prepare(VCS_FORMAT_NTSC);
  assert_int_equal(vcs_blend_table(VCS_FORMAT_NTSC)[256 * 0x0E + 0x00], 0x08);
}

static void test_ram_is_written_a_byte_at_a_time(void **state) {
  (void)state;
  fixture_t f = create();
  set_ram(f.env, 127, 0xA5);
  assert_int_equal(vcs_env_ram(f.env)[127], 0xA5);
  assert_int_equal(vcs_peek(f.cart, vcs_env_machine(f.env), 0xFF), 0xA5);
  destroy(&f);
}

static void test_ram_beyond_its_end_is_refused(void **state) {
  (void)state;
  fixture_t f = create();
  vcs_error_t error;
  assert_int_equal(vcs_env_set_ram(f.env, 128, 0, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_env_set_ram(f.env, -1, 0, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "0 to 127"));
  destroy(&f);
}

static void test_not_drawing_changes_nothing_but_the_picture(void **state) {
  (void)state;
  fixture_t a = create(), b = create();
  vcs_env_set_drawing(b.env, 0);
  play(a.env, 200, 5);
  play(b.env, 200, 5);
  assert_int_equal(vcs_hash(a.cart, vcs_env_machine(a.env)), vcs_hash(b.cart, vcs_env_machine(b.env)));
  destroy(&a);
  destroy(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults_of_profile_ale_are_ale_pys),
      cmocka_unit_test(test_defaults_of_profile_xitari_have_no_sticky_actions),
      cmocka_unit_test(test_create_without_options_has_no_sticky_actions),
      cmocka_unit_test(test_create_refuses_bad_options),
      cmocka_unit_test(test_configure_names_what_is_out_of_range),
      cmocka_unit_test(test_frame_skip_is_as_many_frames),
      cmocka_unit_test(test_a_step_draws_twice_a_frame),
      cmocka_unit_test(test_actions_that_always_stick_are_noops),
      cmocka_unit_test(test_sticky_actions_follow_the_seed),
      cmocka_unit_test(test_rewards_are_clamped),
      cmocka_unit_test(test_a_reward_is_the_gain_of_the_score),
      cmocka_unit_test(test_nothing_happens_once_the_game_is_over),
      cmocka_unit_test(test_act_on_goes_on_after_the_end),
      cmocka_unit_test(test_actions_out_of_range_are_noops),
      cmocka_unit_test(test_the_second_player_has_the_right_port),
      cmocka_unit_test(test_frames_are_counted_by_steps_and_modes),
      cmocka_unit_test(test_an_episode_is_truncated_at_its_frame_limit),
      cmocka_unit_test(test_life_loss_truncates_until_the_reset),
      cmocka_unit_test(test_life_loss_ends_a_step_and_play_goes_on),
      cmocka_unit_test(test_life_loss_is_reported_but_ends_nothing_by_default),
      cmocka_unit_test(test_the_last_life_is_the_end_not_a_loss),
      cmocka_unit_test(test_no_op_starts_take_every_length_below_the_limit),
      cmocka_unit_test(test_fire_counts_as_one_of_the_no_ops),
      cmocka_unit_test(test_a_mode_is_selected_by_the_next_reset),
      cmocka_unit_test(test_loading_begins_in_the_default_mode),
      cmocka_unit_test(test_difficulty_moves_the_switches),
      cmocka_unit_test(test_an_idle_run_begins_with_the_switches_of_the_next_frame),
      cmocka_unit_test(test_an_idle_run_keeps_the_paddles_of_four_players),
      cmocka_unit_test(test_reload_is_a_new_environment),
      cmocka_unit_test(test_mode_scripts_give_up_on_another_image),
      cmocka_unit_test(test_our_cartridge_offers_all_actions_and_four_modes),
      cmocka_unit_test(test_profile_xitari_has_no_modes),
      cmocka_unit_test(test_unknown_cartridges_play_without_rewards_or_end),
      cmocka_unit_test(test_games_for_two_are_known_as_such),
      cmocka_unit_test(test_illegal_actions_are_noops),
      cmocka_unit_test(test_profile_fixed_boots_like_ale),
      cmocka_unit_test(test_fixed_asterix_counts_beyond_a_million),
      cmocka_unit_test(test_fixed_centipede_counts_beyond_a_million),
      cmocka_unit_test(test_fixed_keeps_a_score_that_falls_a_little),
      cmocka_unit_test(test_fixed_pitfall_ends_with_its_time),
      cmocka_unit_test(test_fixed_hero_and_kung_fu_master_end_at_a_million),
      cmocka_unit_test(test_fixed_riverraid_is_not_fined_at_a_million),
      cmocka_unit_test(test_fixed_is_ale_where_nothing_is_wrong),
      cmocka_unit_test(test_paddles_start_in_the_middle),
      cmocka_unit_test(test_paddles_turn_by_their_strength),
      cmocka_unit_test(test_paddles_stop_at_their_ends),
      cmocka_unit_test(test_pictures_are_the_screen_in_colours),
      cmocka_unit_test(test_averaged_pictures_are_of_the_last_two_frames),
      cmocka_unit_test(test_averages_do_not_depend_on_the_order),
      cmocka_unit_test(test_average_of_black_and_white_is_a_gray),
      cmocka_unit_test(test_ram_is_written_a_byte_at_a_time),
      cmocka_unit_test(test_ram_beyond_its_end_is_refused),
      cmocka_unit_test(test_not_drawing_changes_nothing_but_the_picture),
  };
  return cmocka_run_group_tests_name("env", tests, NULL, NULL);
}
