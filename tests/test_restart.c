/* test_restart.c: episodes that begin by copying are those that begin by running all frames.
 *
 *   test_restart          the demonstration cartridge and the paper's games of DIFFVCS_ROMS, two episodes each
 *   test_restart print    the same, and a line for each game: how many of its beginnings were copied
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carts.h"
#include "host/restart.h"
#include "need.h"
#include "paper_games.h"

enum { EPISODES = 4, STEPS = 60, PLAYED_ON = 20, NOOPS = 31 };
static bool prints;

static vcs_env_t *make_env(const vcs_cart_t *cart, float stickiness) {
  vcs_env_t *env;
  vcs_env_options_t options;
  vcs_error_t error;
  vcs_env_defaults(cart, &options);
  options.repeat_action_probability = stickiness;
  options.noop_max = NOOPS;
  options.fire_reset = VCS_FIRE_RESET_MINIMAL;
  if (vcs_env_create_with(cart, &options, &env, &error)) fail_msg("%s", error.message);
  env->look = VCS_LOOK_LATER; /* as in a batch */
  return env;
}

static void play(vcs_env_t *one, vcs_env_t *other, uint32_t *random, int steps) {
  for (int i = 0; i < steps; i++) {
    *random = *random * 1664525 + 1013904223;
    const int action = (int)(*random >> 24) % VCS_ACTIONS;
    assert_int_equal(vcs_env_act(one, action, VCS_NOOP), vcs_env_act(other, action, VCS_NOOP));
  }
}

static void must_be_equal(const vcs_env_t *one, const vcs_env_t *other, const char *when) {
  const size_t size = vcs_env_state_size(one), machines = vcs_state_size(one->cart);
  uint8_t *a = malloc(size), *b = malloc(size);
  assert_true(a && b);
  vcs_env_state_copy(one, a);
  vcs_env_state_copy(other, b);
  if (memcmp(a, b, size) != 0) fail_msg("states differ %s", when);
  for (int back = 0; back < VCS_DRAW_HISTORY_BEFORE; back++) {
    assert_memory_equal(vcs_draw_history_before(&one->draw_history, one->cart, back),
                        vcs_draw_history_before(&other->draw_history, other->cart, back), machines);
  }
  free(a);
  free(b);
}

/* Two equal environments play the same; their episodes begin by vcs_env_begin and vcs_env_open, and by
 * vcs_restart_episode. Returns the number of those that were copied. */
static int compare(const vcs_cart_t *cart, float stickiness) {
  vcs_env_t *whole = make_env(cart, stickiness), *copied = make_env(cart, stickiness),
            *first = make_env(cart, stickiness), *again = make_env(cart, stickiness);
  void *memory = malloc(vcs_restart_bytes(cart));
  uint32_t random = 1;
  int count = 0;
  vcs_restart_t restart;
  assert_non_null(memory);
  vcs_restart_record(&restart, first, memory);
  vcs_env_begin(again);
  must_be_equal(first, again, "after a recording"); /* which a batch copies */
  if (stickiness > 0) assert_true(restart.count <= VCS_RESTART_END + 1);
  for (int i = 0; i < EPISODES; i++) {
    play(whole, copied, &random, STEPS + 37 * i);
    must_be_equal(whole, copied, "before an episode begins");
    vcs_env_begin(whole);
    vcs_env_open(whole);
    count += vcs_restart_episode(&restart, copied);
    must_be_equal(whole, copied, "as an episode begins");
    play(whole, copied, &random, PLAYED_ON);
    must_be_equal(whole, copied, "after an episode began");
  }
  if (prints) printf("%-20s %d of %d, %d points\n", vcs_cart_info(cart)->game, count, EPISODES, restart.count);
  vcs_env_free(whole);
  vcs_env_free(copied);
  vcs_env_free(first);
  vcs_env_free(again);
  free(memory);
  return count;
}

static void test_copied_beginnings_are_whole_ones(void **state) {
  (void)state;
  int copied = 0, games = 0;
  vcs_cart_t *demo = load_demo_as(VCS_PROFILE_ALE, "demo");
  assert_int_equal(compare(demo, 0), EPISODES);
  assert_int_equal(compare(demo, 0.25F), EPISODES);
  vcs_cart_free(demo);
  for (int g = 0; g < PAPER_GAMES; g++) {
    vcs_cart_t *cart = load_game_as(paper_games[g], VCS_PROFILE_ALE);
    if (!cart) {
      NEED_PART("roms", paper_games[g]);
      continue;
    }
    copied += compare(cart, 0) > 0;
    games++;
    vcs_cart_free(cart);
  }
  if (3 * copied < 2 * games) fail_msg("only %d of %d games are copied", copied, games);
}

/* A program that counts its resets in RAM begins differently every time: nothing may be copied. */
static void test_a_changed_byte_is_not_copied(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo_as(VCS_PROFILE_ALE, "demo");
  vcs_env_t *env = make_env(cart, 0);
  void *memory = malloc(vcs_restart_bytes(cart));
  vcs_restart_t restart;
  assert_non_null(memory);
  vcs_restart_record(&restart, env, memory);
  assert_true(vcs_restart_episode(&restart, env));
  ((vcs_t *)(void *)restart.point[VCS_RESTART_EARLY].machines)->ram[3] ^= 1;
  assert_false(vcs_restart_episode(&restart, env));
  ((vcs_t *)(void *)restart.point[VCS_RESTART_EARLY].machines)->ram[3] ^= 1;
  restart.point[VCS_RESTART_EARLY].live.play.mem[3] ^= 1;
  assert_false(vcs_restart_episode(&restart, env));
  vcs_env_free(env);
  free(memory);
  vcs_cart_free(cart);
}

int main(int argc, char **argv) {
  prints = argc > 1 && strcmp(argv[1], "print") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copied_beginnings_are_whole_ones),
                                     cmocka_unit_test(test_a_changed_byte_is_not_copied)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
