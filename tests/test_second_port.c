/* test_second_port.c: the machine against the second console (src/oracle), which was written independently.
 *
 *   test_second_port                      the demonstration cartridge and some games of DIFFVCS_ROMS, some frames each
 *   test_second_port long FRAMES [GAME]   all of the paper's 64 games, or one
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
#include "diffvcs/study.h"
#include "oracle/oracle_port.h"
#include "need.h"
#include "paper_games.h"

/* One of each bank scheme; paddles; a game that reads collisions all the time. */
static const char *const some[] = {"breakout",  "space_invaders", "asterix",         "double_dunk",
                                   "jamesbond", "robotank",       "elevator_action", "seaquest"};
enum { SOME = sizeof some / sizeof *some };

/* NULL: no such image. */
static vcs_cart_t *load_game(const char *name) {
  vcs_cart_t *cart = load_game_as(name, VCS_PROFILE_XITARI);
  if (!cart && need_missing("test_second_port", "roms", name)) exit(EXIT_FAILURE); /* also outside of cmocka's tests */
  return cart;
}

static vcs_cart_t *load_demo(void) { return load_demo_as(VCS_PROFILE_XITARI, "demo"); }

/* Runs both with buttons pressed at random. If `spoiled` is not negative, the machine gets another byte of RAM before
 * that frame. Returns the first frame after which they differ, and what differs in *part; 0: none. */
static int compare(const vcs_cart_t *cart, int frames, int spoiled, const char **part) {
  oracle_vcs_t *v = malloc(sizeof *v);
  vcs_t *m = malloc(vcs_state_size(cart));
  uint8_t *pictures = calloc(2, VCS_FRAME_BYTES);
  vcs_controls_t controls = {{0}, {0}, {0}, 0};
  vcs_env_t *env;
  int differs = 0;
  uint32_t random = 1;
  assert_true(v && m && pictures);
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  memcpy(m, vcs_env_machine(env), vcs_state_size(cart));
  for (int i = 0; i < 4; i++) controls.paddle[i] = 400000;
  oracle_load(v, cart, m);
  for (int f = 1; f <= frames && !differs; f++) {
    if (f % 8 == 1) random = random * 1664525 + 1013904223;
    controls.held[0] = (uint8_t)(random >> 24 & 31);
    controls.held[1] = (uint8_t)(random >> 16 & 31);
    vcs_control(cart, m, &controls);
    if (f == spoiled) m->ram[0x04] ^= 1;
    oracle_connect(v, m);
    vcs_frame(cart, m, pictures);
    oracle_frame(v);
    *part = oracle_difference(v, cart, m, vcs_picture(m, pictures));
    if (*part) differs = f;
  }
  vcs_env_free(env);
  free(v);
  free(m);
  free(pictures);
  return differs;
}

static void check(const vcs_cart_t *cart, const char *name, int frames) {
  const char *part;
  const int differs = compare(cart, frames, -1, &part);
  if (differs) fail_msg("%s: the two ports differ after frame %d: %s", name, differs, part);
}

static void test_second_port_runs_the_demonstration_cartridge(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  check(cart, "demo", 60);
  vcs_cart_free(cart);
}

static void test_second_port_notices_one_bit(void **state) {
  (void)state;
  const char *part;
  vcs_cart_t *cart = load_demo();
  assert_int_equal(compare(cart, 8, 5, &part), 5);
  vcs_cart_free(cart);
}

static void test_second_port_runs_games(void **state) {
  (void)state;
  for (int i = 0; i < SOME; i++) {
    vcs_cart_t *cart = load_game(some[i]);
    if (!cart) continue;
    check(cart, some[i], 15);
    vcs_cart_free(cart);
  }
}

/* Prints a line for every game that differs. */
static int compare_all(int frames, const char *only) {
  int run = 0, different = 0;
  for (int i = 0; i < PAPER_GAMES; i++) {
    const char *part;
    if (only && strcmp(only, paper_games[i]) != 0) continue;
    vcs_cart_t *cart = load_game(paper_games[i]);
    if (!cart) continue;
    const int differs = compare(cart, frames, -1, &part);
    if (differs) printf("%s: differs after frame %d: %s\n", paper_games[i], differs, part);
    different += differs != 0;
    run++;
    vcs_cart_free(cart);
  }
  printf("%d games, %d frames each: %d differ\n", run, frames, different);
  return different ? 1 : run ? 0 : 77;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "long") == 0) return compare_all(atoi(argv[2]), argc > 3 ? argv[3] : NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_second_port_runs_the_demonstration_cartridge),
      cmocka_unit_test(test_second_port_notices_one_bit),
      cmocka_unit_test(test_second_port_runs_games),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
