/* test_args.c: the parser of the command line and its help, with one table of options as a command has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/args.h"

static int64_t frames, seed;
static double rate;
static const char *game, *other, *output;
static int format;
static bool quiet;
static vcs_rest_t rest;
static vcs_error_t error;

/* Parses a line of words, from fresh values. */
static vcs_args_result_t parse(const char *line) {
  static char words[512];
  static char *argv[32];
  int argc = 0;
  const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("GAME", &game, "a ROM image or the name of a game"),
                            VCS_ARG_OPTIONAL("OTHER", &other, "what to compare with"),
                            VCS_ARG_REST("MORE", &rest, "and more"),
                            VCS_ARG_INTEGER("frames", &frames, 1, 1000, "frames to run"),
                            VCS_ARG_INTEGER("seed", &seed, INT64_MIN, INT64_MAX, "first random number"),
                            VCS_ARG_NUMBER("rate", &rate, 0, 1, "share of random actions"),
                            VCS_ARG_TEXT("output", &output, "FILE", "where to write"),
                            VCS_ARG_CHOICE("format", &format, "auto|ntsc|pal", "television"),
                            VCS_ARG_FLAG("quiet", &quiet, "say nothing"),
                            VCS_ARG_END};
  const vcs_usage_t usage = {"diffvcs run", "run a game", NULL};
  frames = 600, seed = 0, rate = 0.25, game = other = output = NULL, format = 0, quiet = false, rest = (vcs_rest_t){0};
  snprintf(words, sizeof words, "run %s", line);
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
  return vcs_args_parse(&usage, args, argc, argv, &error);
}

static void assert_wrong(const char *line, const char *complaint) {
  assert_int_equal(parse(line), VCS_ARGS_WRONG);
  assert_string_equal(error.message, complaint);
}

static void test_values_keep_their_defaults(void **state) {
  (void)state;
  assert_int_equal(parse("pong"), VCS_ARGS_RUN);
  assert_string_equal(game, "pong");
  assert_null(other);
  assert_int_equal(frames, 600);
  assert_int_equal(rest.count, 0);
  assert_string_equal(error.message, "");
}

static void test_options_stand_before_and_after_positionals(void **state) {
  (void)state;
  assert_int_equal(parse("--frames 7 pong --quiet xitari --output=a=b.png"), VCS_ARGS_RUN);
  assert_int_equal(frames, 7);
  assert_string_equal(game, "pong");
  assert_string_equal(other, "xitari");
  assert_string_equal(output, "a=b.png");
  assert_true(quiet);
}

static void test_rest_takes_all_that_are_left(void **state) {
  (void)state;
  assert_int_equal(parse("pong b --quiet c --frames 5 d e"), VCS_ARGS_RUN);
  assert_int_equal(rest.count, 3);
  assert_string_equal(rest.items[0], "c");
  assert_string_equal(rest.items[1], "d");
  assert_string_equal(rest.items[2], "e");
  assert_string_equal(game, "pong");
}

static void test_integers_are_decimal_or_hex(void **state) {
  (void)state;
  assert_int_equal(parse("pong --seed -12"), VCS_ARGS_RUN);
  assert_true(seed == -12);
  assert_int_equal(parse("pong --seed 0xF3"), VCS_ARGS_RUN);
  assert_true(seed == 0xf3);
  assert_int_equal(parse("pong --seed=010"), VCS_ARGS_RUN);
  assert_true(seed == 10);
  assert_int_equal(parse("pong --seed -9223372036854775808"), VCS_ARGS_RUN);
  assert_true(seed == INT64_MIN);
}

static void test_integers_are_whole_and_in_range(void **state) {
  (void)state;
  assert_wrong("pong --frames 0", "--frames must be 1 to 1000, not 0");
  assert_wrong("pong --frames 1001", "--frames must be 1 to 1000, not 1001");
  assert_wrong("pong --frames 99999999999999999999", "--frames must be 1 to 1000, not 99999999999999999999");
  assert_wrong("pong --frames 1.5", "--frames takes a whole number, not '1.5'");
  assert_wrong("pong --frames=", "--frames takes a whole number, not ''");
  assert_wrong("pong --frames 0x", "--frames takes a whole number, not '0x'");
  assert_int_equal(frames, 600);
}

static void test_numbers_are_in_range(void **state) {
  (void)state;
  assert_int_equal(parse("pong --rate 5e-1"), VCS_ARGS_RUN);
  assert_true(rate == 0.5);
  assert_wrong("pong --rate 1.5", "--rate must be 0 to 1, not 1.5");
  assert_wrong("pong --rate nan", "--rate takes a number, not 'nan'");
  assert_wrong("pong --rate much", "--rate takes a number, not 'much'");
}

static void test_choices_give_their_number(void **state) {
  (void)state;
  assert_int_equal(parse("pong --format PAL"), VCS_ARGS_RUN);
  assert_int_equal(format, 2);
  assert_wrong("pong --format pa", "--format must be one of auto|ntsc|pal, not 'pa'");
  assert_wrong("pong --format ntsc|pal", "--format must be one of auto|ntsc|pal, not 'ntsc|pal'");
}

static void test_unknown_option_gets_the_nearest(void **state) {
  (void)state;
  assert_wrong("pong --frmaes 5", "no option --frmaes; did you mean --frames?");
  assert_wrong("pong --Quiet", "no option --Quiet; did you mean --quiet?");
  assert_wrong("pong --zzz", "no option --zzz; 'diffvcs run --help' lists them");
}

static void test_short_options_are_refused(void **state) {
  (void)state;
  assert_wrong("pong -f 5", "no option -f; options are spelled out: 'diffvcs run --help' lists them");
}

static void test_option_without_its_value_is_wrong(void **state) {
  (void)state;
  assert_wrong("pong --output", "--output needs a value: FILE");
}

static void test_flag_with_a_value_is_wrong(void **state) {
  (void)state;
  assert_wrong("pong --quiet=yes", "--quiet takes no value");
}

static void test_missing_positional_is_named(void **state) {
  (void)state;
  assert_wrong("--quiet", "GAME is missing: a ROM image or the name of a game");
}

static void test_words_after_two_dashes_are_positionals(void **state) {
  (void)state;
  assert_int_equal(parse("-- --frames -"), VCS_ARGS_RUN);
  assert_string_equal(game, "--frames");
  assert_string_equal(other, "-");
}

static void test_one_positional_too_many_is_wrong(void **state) {
  (void)state;
  const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("GAME", &game, "a game"), VCS_ARG_END};
  const vcs_usage_t usage = {"diffvcs x", "y", NULL};
  char *argv[] = {"x", "pong", "tennis"};
  assert_int_equal(vcs_args_parse(&usage, args, 3, argv, &error), VCS_ARGS_WRONG);
  assert_string_equal(error.message, "'tennis' is one argument too many");
}

static void test_h_and_help_print_the_help(void **state) {
  (void)state;
  assert_int_equal(parse("--help"), VCS_ARGS_HELP);
  assert_int_equal(parse("pong --frames 5 -h"), VCS_ARGS_HELP);
}

static void test_help_shows_names_defaults_and_examples(void **state) {
  (void)state;
  game = other = output = NULL, format = 1, frames = 600, quiet = false;
  const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("GAME", &game, "a game"),
                            VCS_ARG_REST("MORE", &rest, "more games"),
                            VCS_ARG_INTEGER("frames", &frames, 1, 1000, "frames to run"),
                            VCS_ARG_TEXT("output", &output, "FILE", "where to write"),
                            VCS_ARG_CHOICE("format", &format, "auto|ntsc|pal", "television"),
                            VCS_ARG_FLAG("quiet", &quiet, "say nothing"),
                            VCS_ARG_END};
  const vcs_usage_t usage = {"diffvcs run", "run games", "diffvcs run pong\ndiffvcs run pong tennis\n"};
  vcs_text_t text = {0};
  vcs_args_help(&usage, args, &text);
  assert_string_equal(text.text,
                      "usage: diffvcs run GAME [MORE...] [options]\n"
                      "\n"
                      "run games\n"
                      "\n"
                      "  GAME           a game\n"
                      "  MORE           more games\n"
                      "\n"
                      "options:\n"
                      "  --frames N     frames to run (default 600)\n"
                      "  --output FILE  where to write\n"
                      "  --format WORD  television: auto|ntsc|pal (default ntsc)\n"
                      "  --quiet        say nothing\n"
                      "  --help         this text\n"
                      "\n"
                      "examples:\n"
                      "  diffvcs run pong\n"
                      "  diffvcs run pong tennis\n");
  vcs_text_free(&text);
}

static void test_help_breaks_lines_and_keeps_paragraphs(void **state) {
  (void)state;
  const vcs_arg_t args[] = {VCS_ARG_END};
  const vcs_usage_t usage = {"diffvcs x",
                             "This sentence has exactly as many characters as a line of help may have, which is one "
                             "hundred and eighteen altogether. Rest.\n\nSecond.",
                             NULL};
  vcs_text_t text = {0};
  vcs_args_help(&usage, args, &text);
  assert_non_null(strstr(text.text, "may have, which is one hundred and eighteen altogether.\nRest.\n\nSecond.\n\n"));
  vcs_text_free(&text);
}

static void test_nearest_word_counts_a_swap_once_and_ignores_case(void **state) {
  (void)state;
  static const char *const words[] = {"pong", "tennis", "breakout", "run"};
  assert_int_equal(vcs_args_nearest("pnog", words, 4), 0);
  assert_int_equal(vcs_args_nearest("BREAKOUT", words, 4), 2);
  assert_int_equal(vcs_args_nearest("tenis", words, 4), 1);
  assert_int_equal(vcs_args_nearest("urn", words, 4), 3);
  assert_int_equal(vcs_args_nearest("seaquest", words, 4), -1);
  assert_int_equal(vcs_args_nearest("", words, 4), -1);
}

static void test_read_answers_with_exit_codes(void **state) {
  (void)state;
  const vcs_arg_t args[] = {VCS_ARG_POSITIONAL("GAME", &game, "a game"), VCS_ARG_END};
  const vcs_usage_t usage = {"diffvcs x", "y", NULL};
  char *good[] = {"x", "pong"}, *bad[] = {"x"}, *help[] = {"x", "--help"};
  assert_int_equal(vcs_args_read(&usage, args, 2, good), VCS_ARGS_GO);
  assert_int_equal(vcs_args_read(&usage, args, 1, bad), VCS_EXIT_USAGE);
  assert_int_equal(vcs_args_read(&usage, args, 2, help), VCS_EXIT_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_keep_their_defaults),
      cmocka_unit_test(test_options_stand_before_and_after_positionals),
      cmocka_unit_test(test_rest_takes_all_that_are_left),
      cmocka_unit_test(test_integers_are_decimal_or_hex),
      cmocka_unit_test(test_integers_are_whole_and_in_range),
      cmocka_unit_test(test_numbers_are_in_range),
      cmocka_unit_test(test_choices_give_their_number),
      cmocka_unit_test(test_unknown_option_gets_the_nearest),
      cmocka_unit_test(test_short_options_are_refused),
      cmocka_unit_test(test_option_without_its_value_is_wrong),
      cmocka_unit_test(test_flag_with_a_value_is_wrong),
      cmocka_unit_test(test_missing_positional_is_named),
      cmocka_unit_test(test_words_after_two_dashes_are_positionals),
      cmocka_unit_test(test_one_positional_too_many_is_wrong),
      cmocka_unit_test(test_h_and_help_print_the_help),
      cmocka_unit_test(test_help_shows_names_defaults_and_examples),
      cmocka_unit_test(test_help_breaks_lines_and_keeps_paragraphs),
      cmocka_unit_test(test_nearest_word_counts_a_swap_once_and_ignores_case),
      cmocka_unit_test(test_read_answers_with_exit_codes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
