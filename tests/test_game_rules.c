/* test_game_rules.c: the rule language, and the table of games written in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/games.h"

/* ---- Helpers ------------------------------------------------------------------------------------------------ */

static uint8_t ram[128], cart_ram[128];

static void set(int address, int value) { ram[address - 0x80] = (uint8_t)value; }

static vcs_play_t run_step(const char *text, vcs_play_t play) {
  vcs_game_code_t code;
  vcs_error_t error;
  if (vcs_rule_compile(text, VCS_RULE_FOR_STEP, &code.step, &error) != VCS_OK) fail_msg("%s", error.message);
  vcs_game_code_step(&code, &play, ram, cart_ram);
  return play;
}

/* The value of an expression. */
static int value(const char *expression) {
  char text[200] = "m0 = ";
  strncat(text, expression, sizeof text - strlen(text) - 1);
  return run_step(text, (vcs_play_t){0}).mem[0];
}

static bool compiles(const char *text, vcs_rule_kind_t kind) {
  vcs_rule_t rule;
  return vcs_rule_compile(text, kind, &rule, NULL) == VCS_OK;
}

static int clear_ram(void **state) {
  (void)state;
  memset(ram, 0, sizeof ram);
  memset(cart_ram, 0, sizeof cart_ram);
  return 0;
}

static const vcs_game_t *ale_game(const char *name) { return vcs_game_find(VCS_PROFILE_ALE, NULL, name); }

static vcs_play_t started(const char *name, vcs_profile_t profile) {
  vcs_play_t play = {0};
  vcs_game_reset(vcs_game_find(profile, NULL, name), profile, &play);
  return play;
}

static void step(const char *name, vcs_profile_t profile, vcs_play_t *play) {
  vcs_game_step(vcs_game_find(profile, NULL, name), profile, play, ram, cart_ram);
}

/* ---- Expressions -------------------------------------------------------------------------------------------- */

static void test_operators_bind_as_in_c(void **state) {
  (void)state;
  assert_int_equal(value("1 + 2 * 3 - 4 / 2"), 1 + 2 * 3 - 4 / 2);
  assert_int_equal(value("7 & 3 == 3 || 0 && 1"), (7 & (3 == 3)) || (0 && 1));
  assert_int_equal(value("1 << 3 + 1"), 1 << (3 + 1));
  assert_int_equal(value("1 | 6 & 4"), 1 | (6 & 4));
  assert_int_equal(value("-2 * 3 < !5"), (-2 * 3) < !5);
  assert_int_equal(value("10 - 3 - 2"), 5);
}

static void test_choice_is_right_associative(void **state) {
  (void)state;
  assert_int_equal(value("0 ? 1 : 0 ? 2 : 3"), 3);
  assert_int_equal(value("1 ? 0 ? 4 : 5 : 6"), 5);
}

static void test_constants_are_decimal_or_dollar_hex(void **state) {
  (void)state;
  assert_int_equal(value("100000"), 100000);
  assert_int_equal(value("$1F"), 31);
  assert_int_equal(value("$F2AC"), 0xF2AC);
}

static void test_a_bracket_reads_ram(void **state) {
  (void)state;
  set(0xC9, 42);
  assert_int_equal(value("[C9]"), 42);
}

static void test_a_four_digit_address_reads_cartridge_ram(void **state) {
  (void)state;
  cart_ram[0x34] = 7;
  set(0xB4, 1);
  assert_int_equal(value("[F0B4]"), 7);
}

static void test_missing_cartridge_ram_reads_zero(void **state) {
  (void)state;
  vcs_game_code_t code;
  vcs_play_t play = {0};
  assert_int_equal(vcs_rule_compile("m0 = [F0B4] + 1", VCS_RULE_FOR_STEP, &code.step, NULL), VCS_OK);
  vcs_game_code_step(&code, &play, ram, NULL);
  assert_int_equal(play.mem[0], 1);
}

static void test_bcd_takes_the_lowest_byte_first(void **state) {
  (void)state;
  set(0x80, 0x12), set(0x81, 0x34), set(0x82, 0x56);
  assert_int_equal(value("bcd(82,81,80)"), 123456);
  assert_int_equal(value("bcd(80)"), 12);
}

static void test_bcd_counts_a_digit_above_nine_as_its_value(void **state) {
  (void)state;
  set(0x80, 0xAB);
  assert_int_equal(value("bcd(80)"), 111);
}

static void test_bcd_stands_inside_a_fold(void **state) {
  (void)state;
  set(0x80, 0x12), set(0x90, 1), set(0x91, 2);
  assert_int_equal(value("sum(90..91: it * bcd(80))"), 36);
}

static void test_digits_read_one_place_a_byte(void **state) {
  (void)state;
  set(0x90, 0x13), set(0x91, 0x0A), set(0x92, 0x05);
  assert_int_equal(value("digits(90..92: (it & 15) == 10 ? 0 : it & 15)"), 503);
  assert_int_equal(value("digits(92,90: it & 15)"), 35);
}

static void test_sum_runs_over_ranges_and_single_bytes(void **state) {
  (void)state;
  for (int a = 0x80; a <= 0x8F; a++) set(a, 1);
  set(0xFF, 5);
  assert_int_equal(value("sum(80..83,88..89,FF: it)"), 11);
}

static void test_folds_stand_inside_expressions(void **state) {
  (void)state;
  set(0x80, 0x25);
  assert_int_equal(value("1 + 2 * (bcd(80) + sum(80..80: it == 37)) - 3"), 1 + 2 * (25 + 1) - 3);
}

static void test_signed_reads_two_s_complement(void **state) {
  (void)state;
  set(0x80, 0xFE);
  assert_int_equal(value("signed([80])"), -2);
  assert_int_equal(value("signed(127)"), 127);
  assert_int_equal(value("signed(-(-128))"), -128);
}

static void test_pick_outside_its_list_is_zero(void **state) {
  (void)state;
  assert_int_equal(value("pick(1, 7, 8, 9)"), 8);
  assert_int_equal(value("pick(3, 7, 8, 9)"), 0);
  assert_int_equal(value("pick(-1, 7, 8, 9)"), 0);
}

static void test_division_by_zero_is_zero(void **state) {
  (void)state;
  assert_int_equal(value("7 / 0"), 0);
  assert_int_equal(value("7 % 0"), 0);
}

/* ---- Programs ----------------------------------------------------------------------------------------------- */

static void test_reward_is_the_gain_unless_assigned(void **state) {
  (void)state;
  assert_int_equal(run_step("score = 30", (vcs_play_t){.score = 10}).reward, 20);
  assert_int_equal(run_step("score = 30; reward = -gain", (vcs_play_t){.score = 10}).reward, -20);
}

static void test_an_assigned_reward_can_keep_its_last_value(void **state) {
  (void)state;
  assert_int_equal(run_step("reward = 0 ? 5 : reward", (vcs_play_t){.reward = 3}).reward, 3);
}

static void test_lives_are_zero_once_over(void **state) {
  (void)state;
  assert_int_equal(run_step("lives = 3", (vcs_play_t){0}).lives, 3);
  assert_int_equal(run_step("lives = 3; over = 1", (vcs_play_t){0}).lives, 0);
}

static void test_lives_kept_stay_once_over(void **state) {
  (void)state;
  assert_int_equal(run_step("lives_kept = 3; over = 1", (vcs_play_t){0}).lives, 3);
}

static void test_a_program_silent_on_lives_has_one(void **state) {
  (void)state;
  assert_int_equal(run_step("score = 0", (vcs_play_t){0}).lives, 1);
  assert_int_equal(run_step("over = 1", (vcs_play_t){0}).lives, 0);
}

static void test_over_is_stored_as_zero_or_one(void **state) {
  (void)state;
  set(0x98, 0x80);
  assert_int_equal(run_step("over = [98] & $80", (vcs_play_t){0}).over, 1);
}

static void test_memory_cells_persist_and_locals_do_not(void **state) {
  (void)state;
  vcs_play_t play = {0};
  for (int i = 0; i < 3; i++) play = run_step("x = x + 1; m0 = m0 + 1; m1 = x", play);
  assert_int_equal(play.mem[0], 3);
  assert_int_equal(play.mem[1], 1);
}

static void test_a_reset_keeps_only_m3(void **state) {
  (void)state;
  vcs_game_code_t code;
  vcs_play_t play = {1, 2, 3, 1, {4, 5, 6, 7}};
  assert_int_equal(vcs_rule_compile("lives = m3; m1 = 9", VCS_RULE_FOR_START, &code.start, NULL), VCS_OK);
  vcs_game_code_reset(&code, &play);
  const vcs_play_t wanted = {0, 0, 7, 0, {0, 9, 0, 7}};
  assert_memory_equal(&play, &wanted, sizeof play);
}

static void test_bytecode_is_plain_data(void **state) {
  (void)state;
  vcs_rule_t rule, copy;
  vcs_play_t play = {0};
  vcs_rule_run_t run;
  assert_int_equal(vcs_rule_compile("score = sum(80..FF: it)", VCS_RULE_FOR_STEP, &rule, NULL), VCS_OK);
  copy = rule;
  memset(&rule, 0xFF, sizeof rule);
  set(0xF0, 9);
  vcs_rule_begin(&run, 0);
  assert_int_equal(vcs_rule_continue(&copy, &run, &play, ram, NULL), VCS_RULE_END);
  assert_int_equal(play.score, 9);
}

/* ---- Errors ------------------------------------------------------------------------------------------------- */

static void test_bad_programs_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "score",
      "score = ",
      "score = 1 2",
      "= 3",
      "score = [7F]",
      "score = [C]",
      "score = [C9",
      "score = bcd()",
      "score = bcd(80,81,82,83,84)",
      "score = (1",
      "score = 1 ? 2",
      "score = unknown",
      "was = 1",
      "gain = 1",
      "score = it",
      "score = sum(80..81: sum(80: it))",
      "score = m",
      "score = $",
      "score = sum(81..80: it)",
      "select(1)",
      "score = 1; }",
      "score = FIRE",
      "score = digits(80)",
      "score = 1234567890",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (compiles(bad[i], VCS_RULE_FOR_STEP)) fail_msg("\"%s\" compiles", bad[i]);
  }
}

static void test_an_error_quotes_the_place(void **state) {
  (void)state;
  vcs_rule_t rule;
  vcs_error_t error;
  assert_int_equal(vcs_rule_compile("score = 1; lives = ?", VCS_RULE_FOR_STEP, &rule, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "\"?\" (character 19)"));
}

static void test_too_long_a_program_is_refused(void **state) {
  (void)state;
  char text[2000] = "";
  for (int i = 0; i < 120; i++) strcat(text, "score = 1000;");
  assert_false(compiles(text, VCS_RULE_FOR_STEP));
}

static void test_too_deep_an_expression_is_refused(void **state) {
  (void)state;
  char text[400] = "score = ";
  for (int i = 0; i < VCS_RULE_STACK; i++) strcat(text, "1 + (");
  strcat(text, "1");
  for (int i = 0; i < VCS_RULE_STACK; i++) strcat(text, ")");
  assert_false(compiles(text, VCS_RULE_FOR_STEP));
}

static void test_a_start_program_reads_no_ram(void **state) {
  (void)state;
  assert_false(compiles("lives = [80]", VCS_RULE_FOR_START));
  assert_false(compiles("lives = bcd(80)", VCS_RULE_FOR_START));
  assert_true(compiles("lives = 3", VCS_RULE_FOR_START));
}

static void test_an_empty_program_compiles(void **state) {
  (void)state;
  assert_true(compiles("", VCS_RULE_FOR_STEP));
  assert_true(compiles(NULL, VCS_RULE_FOR_MODE));
}

/* ---- Scripts ------------------------------------------------------------------------------------------------ */

static void test_a_script_asks_until_ram_agrees(void **state) {
  (void)state;
  const vcs_game_t *game = ale_game("pooyan"); /* one press first, then until [BD] is the mode */
  vcs_rule_run_t run;
  vcs_play_t play = {0};
  vcs_rule_begin(&run, 50);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(game, VCS_PROFILE_ALE), &run, &play, ram, NULL), VCS_RULE_SELECT);
  assert_int_equal(run.arg[0], 2);
  set(0xBD, 10);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(game, VCS_PROFILE_ALE), &run, &play, ram, NULL), VCS_RULE_SELECT);
  set(0xBD, 50);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(game, VCS_PROFILE_ALE), &run, &play, ram, NULL), VCS_RULE_RESET);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(game, VCS_PROFILE_ALE), &run, &play, ram, NULL), VCS_RULE_END);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(game, VCS_PROFILE_ALE), &run, &play, ram, NULL), VCS_RULE_END);
}

static void test_adventure_holds_select_for_a_random_time(void **state) {
  (void)state;
  vcs_rule_run_t run;
  vcs_play_t play = {0};
  vcs_rule_begin(&run, 2);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(ale_game("adventure"), VCS_PROFILE_ALE), &run, &play, ram, NULL),
                   VCS_RULE_SELECT);
  assert_int_equal(run.arg[0], 2);
  assert_int_equal(run.arg[1], 256);
  assert_int_equal(vcs_game_mode_next(vcs_game_code(ale_game("adventure"), VCS_PROFILE_ALE), &run, &play, ram, NULL),
                   VCS_RULE_ACT);
}

static void test_a_script_changes_the_play_state(void **state) {
  (void)state;
  vcs_rule_run_t run;
  vcs_play_t play = {0};
  set(0xF6, 19); /* reverse checkers: mode 13 shows as 19 */
  vcs_rule_begin(&run, 13);
  assert_int_equal(
      vcs_game_mode_next(vcs_game_code(ale_game("video_checkers"), VCS_PROFILE_ALE), &run, &play, ram, NULL),
      VCS_RULE_RESET);
  assert_int_equal(play.mem[3], 1);
}

/* ---- The table ---------------------------------------------------------------------------------------------- */

static void test_every_row_compiles(void **state) {
  (void)state;
  static vcs_game_code_t code;
  vcs_error_t error;
  for (int i = 0; i < vcs_game_count(); i++) {
    for (int p = 0; p < VCS_PROFILE_COUNT; p++) {
      if (vcs_game_compile(vcs_game_at(i), (vcs_profile_t)p, &code, &error) != VCS_OK) {
        fail_msg("%s: %s", vcs_game_at(i)->name, error.message);
      }
    }
  }
}

static void test_names_are_unique_and_in_order(void **state) {
  (void)state;
  for (int i = 1; i < vcs_game_count(); i++) {
    assert_true(strcmp(vcs_game_at(i - 1)->name, vcs_game_at(i)->name) < 0);
  }
}

static void test_profiles_have_their_references_games(void **state) {
  (void)state;
  int games[VCS_PROFILE_COUNT] = {0}, two_player = 0;
  for (int i = 0; i < vcs_game_count(); i++) {
    for (int p = 0; p < VCS_PROFILE_COUNT; p++) games[p] += vcs_game_has(vcs_game_at(i), (vcs_profile_t)p);
    two_player += vcs_game_is_two_player(vcs_game_at(i));
  }
  assert_int_equal(games[VCS_PROFILE_XITARI], 64);
  assert_int_equal(games[VCS_PROFILE_ALE], 108);
  assert_int_equal(two_player, 4);
}

static void test_hashes_are_well_formed_and_name_one_game(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    const char *md5 = vcs_game_at(i)->md5;
    for (;; md5 += 33) {
      char one[33] = "";
      assert_int_equal(strspn(md5, "0123456789abcdef"), 32);
      memcpy(one, md5, 32);
      assert_ptr_equal(vcs_game_find(VCS_PROFILE_ALE, one, NULL), vcs_game_at(i));
      if (!md5[32]) break;
      assert_int_equal(md5[32], ' ');
    }
  }
}

static void test_minimal_actions_are_legal(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    for (int p = 0; p < VCS_PROFILE_COUNT; p++) {
      const uint32_t minimal = vcs_game_minimal(vcs_game_at(i), (vcs_profile_t)p);
      assert_int_not_equal(minimal, 0);
      assert_int_equal(minimal & ~(uint32_t)VCS_ALL_ACTIONS, 0);
      assert_int_equal(minimal & vcs_game_at(i)->illegal, 0);
    }
  }
}

static void test_modes_ascend_and_fit(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    uint16_t modes[VCS_GAME_MODES];
    const int count = vcs_game_modes(vcs_game_at(i), 1, modes);
    assert_in_range(count, 1, VCS_GAME_MODES - 1);
    for (int k = 1; k < count; k++) assert_true(modes[k - 1] < modes[k]);
  }
}

static void test_mode_lists_have_ranges_steps_and_widths(void **state) {
  (void)state;
  uint16_t modes[VCS_GAME_MODES];
  assert_int_equal(vcs_game_modes(ale_game("asteroids"), 1, modes), 33);
  assert_int_equal(modes[32], 128);
  assert_int_equal(vcs_game_modes(ale_game("bank_heist"), 1, modes), 8);
  assert_int_equal(modes[7], 28);
  assert_int_equal(vcs_game_modes(ale_game("video_cube"), 1, modes), 153);
  assert_int_equal(modes[4], 101);
  assert_int_equal(modes[152], 5002);
  assert_true(vcs_game_has_mode(ale_game("casino"), 2));
  assert_false(vcs_game_has_mode(ale_game("casino"), 1));
}

static void test_more_than_the_first_mode_needs_a_script(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    uint16_t modes[VCS_GAME_MODES];
    if (vcs_game_modes(vcs_game_at(i), 1, modes) > 1) assert_non_null(vcs_game_at(i)->mode_script);
  }
}

static void test_difficulties_default_to_zero_alone(void **state) {
  (void)state;
  assert_true(vcs_game_has_difficulty(ale_game("air_raid"), 0));
  assert_false(vcs_game_has_difficulty(ale_game("air_raid"), 1));
  assert_true(vcs_game_has_difficulty(ale_game("amidar"), 3));
  assert_false(vcs_game_has_difficulty(ale_game("amidar"), 4));
}

static void test_starting_actions_are_counted(void **state) {
  (void)state;
  vcs_press_t press[VCS_GAME_PRESSES];
  assert_int_equal(vcs_game_presses(ale_game("word_zapper"), VCS_PROFILE_ALE, 1, press), 3);
  assert_int_equal(press[0].action, 0);
  assert_int_equal(press[0].frames, 486);
  assert_int_equal(press[1].action, 1);
  assert_int_equal(press[1].frames, 1);
  assert_int_equal(press[2].frames, 2);
  assert_int_equal(vcs_game_presses(ale_game("pong"), VCS_PROFILE_ALE, 1, press), 0);
}

static void test_every_starting_action_is_understood(void **state) {
  (void)state;
  for (int i = 0; i < vcs_game_count(); i++) {
    const char *texts[2] = {vcs_game_at(i)->press, vcs_game_at(i)->xitari_press};
    for (int p = 0; p < 2; p++) {
      vcs_press_t press[VCS_GAME_PRESSES];
      int words = texts[p] ? 1 : 0;
      for (const char *at = texts[p]; at && *at; at++) words += *at == ' ';
      if (!texts[p]) continue;
      assert_int_equal(vcs_game_presses(vcs_game_at(i), p ? VCS_PROFILE_XITARI : VCS_PROFILE_ALE, 1, press), words);
    }
  }
}

static void test_surround_starts_by_switches_in_xitari_only(void **state) {
  (void)state;
  vcs_press_t press[VCS_GAME_PRESSES];
  assert_int_equal(vcs_game_presses(ale_game("surround"), VCS_PROFILE_ALE, 1, press), 0);
  assert_int_equal(vcs_game_presses(ale_game("surround"), VCS_PROFILE_XITARI, 1, press), 2);
  assert_int_equal(press[0].action, VCS_PRESS_SELECT);
  assert_int_equal(press[1].action, VCS_PRESS_RESET);
}

/* ---- Finding ------------------------------------------------------------------------------------------------ */

static void test_a_game_is_found_by_alias(void **state) {
  (void)state;
  assert_string_equal(vcs_game_find(VCS_PROFILE_XITARI, NULL, "videochess")->name, "video_chess");
}

static void test_only_ale_ignores_case(void **state) {
  (void)state;
  assert_non_null(vcs_game_find(VCS_PROFILE_ALE, NULL, "Pong"));
  assert_null(vcs_game_find(VCS_PROFILE_XITARI, NULL, "Pong"));
}

static void test_xitari_prefers_the_name_to_the_hash(void **state) {
  (void)state;
  const char *pong = "60e0ea3cbe0913d39803477945e9e5ec";
  assert_string_equal(vcs_game_find(VCS_PROFILE_XITARI, pong, "tennis")->name, "tennis");
  assert_string_equal(vcs_game_find(VCS_PROFILE_XITARI, pong, NULL)->name, "pong");
  assert_string_equal(vcs_game_find(VCS_PROFILE_XITARI, pong, "my_rom")->name, "pong");
}

static void test_ale_takes_the_first_row_that_fits(void **state) {
  (void)state;
  const char *pong = "60e0ea3cbe0913d39803477945e9e5ec";
  assert_string_equal(vcs_game_find(VCS_PROFILE_ALE, pong, "tennis")->name, "pong");
}

static void test_a_profile_does_not_find_what_it_lacks(void **state) {
  (void)state;
  assert_null(vcs_game_find(VCS_PROFILE_XITARI, NULL, "tetris"));
  assert_null(vcs_game_find(VCS_PROFILE_ALE, NULL, "no_such_game"));
  assert_null(vcs_game_find(VCS_PROFILE_ALE, NULL, NULL));
  assert_null(vcs_game_find(VCS_PROFILE_ALE, "", ""));
}

/* ---- Consoles ----------------------------------------------------------------------------------------------- */

static void test_an_unknown_image_gets_the_default_console(void **state) {
  (void)state;
  vcs_console_props_t props;
  vcs_game_props(VCS_PROFILE_ALE, "00000000000000000000000000000000", &props);
  assert_int_equal(props.scheme, VCS_SCHEME_AUTO);
  assert_int_equal(props.format, VCS_FORMAT_AUTO);
  assert_int_equal(props.left, VCS_CONTROLLER_JOYSTICK);
  assert_int_equal(props.right, VCS_CONTROLLER_JOYSTICK);
  assert_int_equal(props.ystart, 34);
  assert_int_equal(props.height, 210);
  assert_false(props.swap_ports || props.swap_paddles || props.left_pro || props.right_pro || props.black_and_white);
  assert_true(props.hmove_blanks);
}

static void test_pong_has_swapped_paddles_on_both_sides(void **state) {
  (void)state;
  vcs_console_props_t props;
  vcs_game_props(VCS_PROFILE_XITARI, "60e0ea3cbe0913d39803477945e9e5ec", &props);
  assert_int_equal(props.left, VCS_CONTROLLER_PADDLES);
  assert_int_equal(props.right, VCS_CONTROLLER_PADDLES);
  assert_true(props.swap_paddles);
}

static void test_surround_swaps_ports_in_ale_and_not_in_xitari(void **state) {
  (void)state;
  vcs_console_props_t props;
  vcs_game_props(VCS_PROFILE_ALE, "4d7517ae69f95cfbc053be01312b7dba", &props);
  assert_true(props.swap_ports);
  vcs_game_props(VCS_PROFILE_XITARI, "4d7517ae69f95cfbc053be01312b7dba", &props);
  assert_false(props.swap_ports);
}

static void test_wizard_of_wor_uses_the_right_socket(void **state) {
  (void)state;
  vcs_console_props_t props;
  vcs_game_props(VCS_PROFILE_XITARI, "7e8aa18bc9502eb57daaf5e7c1e94da7", &props);
  assert_true(props.swap_ports);
}

/* ---- Rules -------------------------------------------------------------------------------------------------- */

static void test_space_invaders_score_wraps_in_ale_only(void **state) {
  (void)state;
  vcs_play_t ale = started("space_invaders", VCS_PROFILE_ALE), xitari = started("space_invaders", VCS_PROFILE_XITARI);
  set(0xC9, 3), set(0xE6, 0x99), set(0xE8, 0x90);
  step("space_invaders", VCS_PROFILE_ALE, &ale), step("space_invaders", VCS_PROFILE_XITARI, &xitari);
  assert_int_equal(ale.reward, 9990);
  set(0xE6, 0), set(0xE8, 0x05);
  step("space_invaders", VCS_PROFILE_ALE, &ale), step("space_invaders", VCS_PROFILE_XITARI, &xitari);
  assert_int_equal(ale.reward, 15);
  assert_int_equal(xitari.reward, -9985);
}

static void test_breakout_is_not_over_before_it_started(void **state) {
  (void)state;
  vcs_play_t play = started("breakout", VCS_PROFILE_XITARI);
  assert_int_equal(play.lives, 5);
  step("breakout", VCS_PROFILE_XITARI, &play);
  assert_int_equal(play.over, 0);
  set(0xB9, 5);
  step("breakout", VCS_PROFILE_XITARI, &play);
  set(0xB9, 0);
  step("breakout", VCS_PROFILE_XITARI, &play);
  assert_int_equal(play.over, 1);
}

static void test_pitfall_starts_with_its_points(void **state) {
  (void)state;
  vcs_play_t play = started("pitfall", VCS_PROFILE_ALE);
  set(0xD6, 0x20), set(0x80, 0xA0);
  step("pitfall", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.reward, 0);
  assert_int_equal(play.lives, 3);
}

static void test_qbert_earns_nothing_in_its_last_frame(void **state) {
  (void)state;
  vcs_play_t play = started("qbert", VCS_PROFILE_ALE);
  set(0x88, 0xFE), set(0xDB, 0x25);
  step("qbert", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.over, 1);
  assert_int_equal(play.reward, 0);
}

static void test_videochess_counts_material_in_xitari(void **state) {
  (void)state;
  vcs_play_t play = started("videochess", VCS_PROFILE_XITARI);
  set(0xE1, 0x82), set(0xEE, 3);
  set(0x80, 0x0A), set(0x81, 0x02), set(0x82, 0x0D); /* a queen each, a white rook */
  step("videochess", VCS_PROFILE_XITARI, &play);
  assert_int_equal(play.reward, 5);
  set(0xE1, 0), set(0x82, 0); /* the computer thinks: the board is scratch */
  step("videochess", VCS_PROFILE_XITARI, &play);
  assert_int_equal(play.reward, 0);
  assert_int_equal(play.score, 5);
}

static void test_backgammon_is_won_with_fifteen_pieces_out(void **state) {
  (void)state;
  vcs_play_t play = started("backgammon", VCS_PROFILE_ALE);
  set(0x80, 0x100 - 15), set(0x90, 15);
  step("backgammon", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.reward, 1);
  assert_int_equal(play.over, 1);
  play = started("backgammon", VCS_PROFILE_ALE);
  set(0x90, 14); /* a piece is missing: the board is scratch */
  step("backgammon", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.over, 0);
}

static void test_klax_reads_cartridge_ram(void **state) {
  (void)state;
  vcs_play_t play = started("klax", VCS_PROFILE_ALE);
  cart_ram[0x34] = 0x50;
  step("klax", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.reward, 50);
}

static void test_two_player_games_give_no_reward(void **state) {
  (void)state;
  vcs_play_t play = started("combat", VCS_PROFILE_ALE);
  memset(ram, 0xA5, sizeof ram);
  step("combat", VCS_PROFILE_ALE, &play);
  assert_int_equal(play.reward, 0);
  assert_int_equal(play.over, 0);
}

static void test_xitari_ends_pong_early(void **state) {
  (void)state;
  assert_int_equal(vcs_game_max_frames(ale_game("pong"), VCS_PROFILE_XITARI), 65000);
  assert_int_equal(vcs_game_max_frames(ale_game("alien"), VCS_PROFILE_XITARI), 1728000);
  assert_int_equal(vcs_game_max_frames(ale_game("pong"), VCS_PROFILE_ALE), 0);
}

static void test_reward_ranges_are_xitaris(void **state) {
  (void)state;
  int32_t min, max;
  vcs_game_reward_range(ale_game("seaquest"), &min, &max);
  assert_int_equal(min, 0);
  assert_int_equal(max, 1200);
  vcs_game_reward_range(ale_game("alien"), &min, &max);
  assert_int_equal(min, -65536);
  assert_int_equal(max, 65536);
}

#define TEST(name) cmocka_unit_test_setup(name, clear_ram)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_operators_bind_as_in_c),
      TEST(test_choice_is_right_associative),
      TEST(test_constants_are_decimal_or_dollar_hex),
      TEST(test_a_bracket_reads_ram),
      TEST(test_a_four_digit_address_reads_cartridge_ram),
      TEST(test_missing_cartridge_ram_reads_zero),
      TEST(test_bcd_takes_the_lowest_byte_first),
      TEST(test_bcd_counts_a_digit_above_nine_as_its_value),
      TEST(test_bcd_stands_inside_a_fold),
      TEST(test_digits_read_one_place_a_byte),
      TEST(test_sum_runs_over_ranges_and_single_bytes),
      TEST(test_folds_stand_inside_expressions),
      TEST(test_signed_reads_two_s_complement),
      TEST(test_pick_outside_its_list_is_zero),
      TEST(test_division_by_zero_is_zero),
      TEST(test_reward_is_the_gain_unless_assigned),
      TEST(test_an_assigned_reward_can_keep_its_last_value),
      TEST(test_lives_are_zero_once_over),
      TEST(test_lives_kept_stay_once_over),
      TEST(test_a_program_silent_on_lives_has_one),
      TEST(test_over_is_stored_as_zero_or_one),
      TEST(test_memory_cells_persist_and_locals_do_not),
      TEST(test_a_reset_keeps_only_m3),
      TEST(test_bytecode_is_plain_data),
      TEST(test_bad_programs_are_refused),
      TEST(test_an_error_quotes_the_place),
      TEST(test_too_long_a_program_is_refused),
      TEST(test_too_deep_an_expression_is_refused),
      TEST(test_a_start_program_reads_no_ram),
      TEST(test_an_empty_program_compiles),
      TEST(test_a_script_asks_until_ram_agrees),
      TEST(test_adventure_holds_select_for_a_random_time),
      TEST(test_a_script_changes_the_play_state),
      TEST(test_every_row_compiles),
      TEST(test_names_are_unique_and_in_order),
      TEST(test_profiles_have_their_references_games),
      TEST(test_hashes_are_well_formed_and_name_one_game),
      TEST(test_minimal_actions_are_legal),
      TEST(test_modes_ascend_and_fit),
      TEST(test_mode_lists_have_ranges_steps_and_widths),
      TEST(test_more_than_the_first_mode_needs_a_script),
      TEST(test_difficulties_default_to_zero_alone),
      TEST(test_starting_actions_are_counted),
      TEST(test_every_starting_action_is_understood),
      TEST(test_surround_starts_by_switches_in_xitari_only),
      TEST(test_a_game_is_found_by_alias),
      TEST(test_only_ale_ignores_case),
      TEST(test_xitari_prefers_the_name_to_the_hash),
      TEST(test_ale_takes_the_first_row_that_fits),
      TEST(test_a_profile_does_not_find_what_it_lacks),
      TEST(test_an_unknown_image_gets_the_default_console),
      TEST(test_pong_has_swapped_paddles_on_both_sides),
      TEST(test_surround_swaps_ports_in_ale_and_not_in_xitari),
      TEST(test_wizard_of_wor_uses_the_right_socket),
      TEST(test_space_invaders_score_wraps_in_ale_only),
      TEST(test_breakout_is_not_over_before_it_started),
      TEST(test_pitfall_starts_with_its_points),
      TEST(test_qbert_earns_nothing_in_its_last_frame),
      TEST(test_videochess_counts_material_in_xitari),
      TEST(test_backgammon_is_won_with_fifteen_pieces_out),
      TEST(test_klax_reads_cartridge_ram),
      TEST(test_two_player_games_give_no_reward),
      TEST(test_xitari_ends_pong_early),
      TEST(test_reward_ranges_are_xitaris),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
