/* The game behind the player's window (cli/play.h): its slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/play.h"
#include "core/state.h"
#include "host/env.h"

static const char path[] = "test_play_run.sav";

static void begin(vcs_game_run_t *run, int64_t frame) {
  vcs_error_t error = {""};
  const vcs_cli_setup_t choice = {.rom = "demo", .setup = {.frame = frame, .seed = 1, .horizon = 1}};
  assert_int_equal(vcs_game_run_begin(&choice, run, &error), VCS_OK);
}

static void play(vcs_game_run_t *run, int frames) {
  vcs_error_t error = {""};
  const vcs_controls_t controls = {.held = {VCS_HELD_RIGHT}};
  for (int i = 0; i < frames; i++) assert_int_equal(vcs_game_run_frame(run, &controls, &error), VCS_OK);
}

static void test_a_slot_of_an_impossible_frame_is_refused_and_the_game_goes_on(void **state) {
  (void)state;
  vcs_game_run_t run;
  vcs_error_t error = {""};
  begin(&run, 60);
  play(&run, 40);
  const uint64_t hash = vcs_hash(run.cart, run.m);
  vcs_env_t *env;
  assert_int_equal(vcs_env_create(run.cart, &env, &error), VCS_OK);
  env->frame_number = (UINT64_C(1) << 63) + 5;
  assert_int_equal(vcs_env_save(env, path, &error), VCS_OK);
  assert_int_equal(vcs_game_run_load(&run, path, &error), VCS_BAD_FILE);
  assert_non_null(strstr(error.message, "no game reaches frame 9223372036854775813"));
  assert_int_equal(run.frame, 100);
  assert_int_equal(vcs_hash(run.cart, run.m), hash);
  assert_int_equal(vcs_game_run_go(&run, 70), 70);
  play(&run, 30);
  assert_int_equal(vcs_hash(run.cart, run.m), hash);
  vcs_env_free(env);
  vcs_game_run_end(&run);
  unlink(path);
}

static void test_a_slot_has_score_and_lives_of_its_frame(void **state) {
  (void)state;
  enum { FRAMES = 2000 };
  vcs_game_run_t run, played;
  vcs_error_t error = {""};
  vcs_env_t *env;
  begin(&run, 0);
  begin(&played, FRAMES);
  const vcs_env_t *judged = played.setup.env; /* it has followed the rules frame by frame */
  assert_true(judged->play.score > 0);
  memcpy(run.m, played.m, vcs_state_size(run.cart));
  run.frame = FRAMES;
  assert_int_equal(vcs_game_run_save(&run, path, &error), VCS_OK);
  assert_int_equal(vcs_env_create(run.cart, &env, &error), VCS_OK);
  assert_int_equal(vcs_env_load(env, path, &error), VCS_OK);
  assert_int_equal(env->play.score, judged->play.score);
  assert_int_equal(env->play.lives, judged->play.lives);
  assert_int_equal(env->play.over, judged->play.over);
  assert_int_equal(env->play.reward, 0);
  assert_int_equal(env->frame_number, FRAMES);
  assert_int_equal(env->episode_frame_number, FRAMES);
  vcs_env_free(env);
  vcs_game_run_end(&run);
  vcs_game_run_end(&played);
  unlink(path);
}

static void test_a_slot_counts_the_frames_of_its_episode_from_the_slot_that_was_loaded(void **state) {
  (void)state;
  vcs_game_run_t run;
  vcs_error_t error = {""};
  vcs_env_t *env;
  begin(&run, 0);
  assert_int_equal(vcs_env_create(run.cart, &env, &error), VCS_OK);
  env->frame_number = 5000;
  env->episode_frame_number = 200;
  assert_int_equal(vcs_env_save(env, path, &error), VCS_OK);
  assert_int_equal(vcs_game_run_load(&run, path, &error), VCS_OK);
  play(&run, 30);
  assert_int_equal(vcs_game_run_save(&run, path, &error), VCS_OK);
  assert_int_equal(vcs_game_run_go(&run, 5010), 5010);
  assert_int_equal(vcs_game_run_save(&run, path, &error), VCS_OK);
  assert_int_equal(vcs_env_load(env, path, &error), VCS_OK);
  assert_int_equal(env->frame_number, 5010);
  assert_int_equal(env->episode_frame_number, 210);
  vcs_env_free(env);
  vcs_game_run_end(&run);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_slot_of_an_impossible_frame_is_refused_and_the_game_goes_on),
      cmocka_unit_test(test_a_slot_has_score_and_lives_of_its_frame),
      cmocka_unit_test(test_a_slot_counts_the_frames_of_its_episode_from_the_slot_that_was_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
