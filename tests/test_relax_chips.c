/* test_relax_chips.c: the relaxed machine's TIA and RIOT.
 *
 * At integers every number of the chips and every pixel is the exact machine's: the games of DIFFVCS_ROMS are run
 * beside it, with random input. relax_differences.c checks the derivatives between integers, test_relax_dispatch.c the
 * opcodes that a softened dispatch evaluates.
 *
 *   test_relax_chips                     some games
 *   test_relax_chips long FRAMES [GAME]  all of the 64 games, or one, at integers
 *   test_relax_chips bound STATES        the theorem's bound on all games
 *   test_relax_chips growth              how a deviation grows over N steps
 *   test_relax_chips right ALPHA T CAST  d(screen)/d(RIGHT) in Space Invaders beside the truth
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

#include "brief.h"
#include "carts.h"
#include "core/state.h"
#include "diffvcs/relax.h"
#include "diffvcs/study.h"
#include "need.h"
#include "noise.h"
#include "paper_games.h"
#include "relaxed_machine.h"

enum { SOME = 8 };

/* NULL: no such image. */
static vcs_cart_t *load_game(const char *name) {
  vcs_cart_t *cart = load_game_as(name, VCS_PROFILE_XITARI);
  if (!cart && need_missing("test_relax_chips", "roms", name)) exit(EXIT_FAILURE); /* also outside of cmocka's tests */
  return cart;
}

static vcs_cart_t *load_demo(void) { return load_demo_as(VCS_PROFILE_XITARI, "demo"); }

/* A run in which no control is held. */
static vcs_t *machine_after(const vcs_cart_t *cart, int frames) {
  vcs_env_t *env;
  vcs_t *m = malloc(vcs_state_size(cart));
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  for (int i = 0; i < frames; i++) vcs_env_act_on(env, VCS_NOOP, VCS_NOOP);
  memcpy(m, vcs_env_machine(env), vcs_state_size(cart));
  vcs_env_free(env);
  return m;
}

/* ---- At integers ------------------------------------------------------------------------------------------------ */

static void check_exact(const vcs_cart_t *cart, const char *name, int frames) {
  vcs_relax_t *relax = relaxed(cart, 1000, 0.001, VCS_DISPATCH_HARD),
              *exact = relaxed(cart, 1000, 0.001, VCS_DISPATCH_HARD);
  const size_t slots = vcs_relax_state_slots(relax), inputs = vcs_relax_input_slots(relax);
  const int pixels = VCS_WIDTH * cart->frame_height;
  double *values = calloc(inputs, sizeof *values), *expected = calloc(inputs, sizeof *expected);
  double *picture = calloc(VCS_FRAME_BYTES, sizeof *picture);
  uint8_t *buffers = calloc(4, VCS_FRAME_BYTES), *others = buffers + 2 * VCS_FRAME_BYTES;
  vcs_controls_t controls = {{0}, {0}, {0}, 0};
  vcs_t *m = machine_after(cart, 0);
  vcs_relax_load(relax, m);
  for (int i = 0; i < frames; i++) {
    if (i % 5 == 0) controls.held[0] = (uint8_t)(noise() & 31);
    for (int k = 0; k < 4; k++) controls.paddle[k] = 400000;
    vcs_control(cart, m, &controls);
    vcs_relax_control(relax, &controls);
    vcs_frame(cart, m, buffers);
    vcs_relax_frame(relax, others);
    vcs_relax_load(exact, m);
    vcs_relax_values(relax, values);
    vcs_relax_values(exact, expected);
    vcs_relax_picture(relax, picture);
    for (size_t s = 0; s < slots; s++) {
      if (values[s] != expected[s])
        fail_msg("%s, frame %d: slot %zu is %.17g, not %g", name, i, s, values[s], expected[s]);
    }
    const uint8_t *shown = vcs_picture(m, buffers);
    for (int p = 0; p < pixels; p++) {
      if (picture[p] != shown[p])
        fail_msg("%s, frame %d: pixel %d, %d is %g, not %d", name, i, p / VCS_WIDTH, p % VCS_WIDTH, picture[p],
                 shown[p]);
    }
    if (memcmp(m, vcs_relax_machine(relax), vcs_state_size(cart))) fail_msg("%s, frame %d: another machine", name, i);
  }
  free(values), free(expected), free(picture), free(buffers), free(m);
  vcs_relax_free(relax);
  vcs_relax_free(exact);
}

static int check_all_exact(int count, int frames, const char *only) {
  int checked = 0;
  for (int i = 0; i < count; i++) {
    if (only && strcmp(only, paper_games[i])) continue;
    vcs_cart_t *cart = load_game(paper_games[i]);
    if (!cart) continue;
    check_exact(cart, paper_games[i], frames);
    checked++;
    vcs_cart_free(cart);
  }
  return checked;
}

static void test_integers_are_exact(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo();
  check_exact(demo, "demo", 30);
  vcs_cart_free(demo);
  check_all_exact(SOME, 20, NULL);
}

/* ---- The bound of docs/theorem.md -------------------------------------------------------------------------------- */

/* e1, e2, e3 of the theorem: errors of reads at an exact address, at one of a softened byte, at one of two of them. */
typedef struct {
  double q, e1, e2, e3, branch;
} bound_t;

static bound_t bound_of(double alpha, double temperature) {
  bound_t b = {.q = exp(-1 / temperature), .branch = exp(-alpha)};
  b.e1 = 510 * b.q / (1 + b.q);
  b.e2 = 510 * pow(b.q, 1 - 2 * b.e1) / (1 - b.q);
  b.e3 = 510 * pow(b.q, 1 - 2 * 257 * b.e2) / (1 - b.q);
  assert_true(257 * b.e2 < 0.5); /* T <= T0 */
  return b;
}

static double bound_at(const bound_t *b, size_t slot, bool dispatch) {
  const double others = dispatch ? 255 * b->q : 0, slack = 1e-9;
  const bool flag = (slot >= VCS_SLOT_N && slot <= VCS_SLOT_C);
  if (slot == VCS_SLOT_PC) return 65535 * others + fmax(128 * b->branch + b->e1, 257 * b->e2) + slack;
  if (slot == VCS_SLOT_TIME) return 84 * others + 2 * b->branch + slack;
  return (flag ? 1 : 255) * (others + b->e3) + slack;
}

typedef struct {
  long steps, coordinates, above;
  double closest; /* the largest deviation by its bound */
} bound_tally_t;

static void check_bound(const vcs_cart_t *cart, const char *name, int states, bound_tally_t *tally) {
  static const double temperatures[] = {0.03, 0.04, 0.05, 0.06, 0.07}, alphas[] = {1, 4, 12};
  enum { SETTINGS = 5 * 3 * 2 };
  vcs_relax_t *relax[SETTINGS], *exact = relaxed(cart, 6, 0.05, VCS_DISPATCH_HARD);
  bound_t bounds[SETTINGS];
  for (int i = 0; i < SETTINGS; i++) {
    relax[i] = relaxed(cart, alphas[i / 2 % 3], temperatures[i / 6], i % 2 ? VCS_DISPATCH_ONE_HOT : VCS_DISPATCH_HARD);
    bounds[i] = bound_of(alphas[i / 2 % 3], temperatures[i / 6]);
  }
  const size_t slots = vcs_relax_state_slots(exact), pixels = (size_t)(VCS_WIDTH * cart->frame_height);
  double *values = calloc(vcs_relax_input_slots(exact), sizeof *values), *picture = calloc(pixels, sizeof *picture);
  double *expected = calloc(vcs_relax_input_slots(exact), sizeof *expected);
  uint8_t *frames = calloc(2, VCS_FRAME_BYTES);
  vcs_t *m = machine_after(cart, 30), *after = malloc(vcs_state_size(cart));
  vcs_step_t step = {0};
  vcs_frame_begin(cart, m);
  for (int s = 0; s < states && !m->jammed; s++) {
    for (int i = (int)(noise() % 700); i >= 0; i--) {
      vcs_step(cart, m, NULL, &step);
      if (!step.frame_over) continue;
      vcs_frame_end(cart, m, NULL);
      vcs_frame_begin(cart, m);
    }
    memcpy(after, m, vcs_state_size(cart));
    memset(frames, 0, 2 * VCS_FRAME_BYTES);
    vcs_step(cart, after, frames, &step);
    vcs_relax_load(exact, after);
    vcs_relax_values(exact, expected);
    for (int i = 0; i < SETTINGS; i++) {
      vcs_relax_load(relax[i], m);
      vcs_relax_step(relax[i], NULL);
      vcs_relax_values(relax[i], values);
      vcs_relax_picture(relax[i], picture);
      for (size_t k = 0; k < slots; k++) {
        const double off = fabs(values[k] - expected[k]), most = bound_at(&bounds[i], k, i % 2);
        tally->closest = fmax(tally->closest, off / most);
        tally->above += off > most;
        if (off > most && getenv("DIFFVCS_VERBOSE"))
          printf("%s, T %g, %s: slot %zu off by %g, bound %g, opcode %02X\n", name, temperatures[i / 6],
                 i % 2 ? "all opcodes" : "one opcode", k, off, most, step.opcode);
      }
      const int beam = after->line_clock < 68 ? 0 : after->line_clock - 68;
      for (size_t k = 0; k < pixels; k++) { /* what the reference paints ahead of the beam is not drawn yet */
        const int row = after->line - after->first_line;
        if ((int)(k / VCS_WIDTH) > row || ((int)(k / VCS_WIDTH) == row && (int)(k % VCS_WIDTH) >= beam)) break;
        const bool wrong = fabs(picture[k] - vcs_picture(after, frames)[k]) > bound_at(&bounds[i], VCS_SLOT_A, i % 2);
        tally->above += wrong;
      }
      tally->steps++;
      tally->coordinates += (long)(slots + pixels);
    }
  }
  for (int i = 0; i < SETTINGS; i++) vcs_relax_free(relax[i]);
  vcs_relax_free(exact);
  free(values), free(expected), free(picture), free(frames), free(m), free(after);
}

static bound_tally_t check_bounds(int count, int states) {
  bound_tally_t tally = {0};
  for (int i = 0; i < count; i++) {
    vcs_cart_t *cart = load_game(paper_games[i]);
    if (!cart) continue;
    check_bound(cart, paper_games[i], states, &tally);
    vcs_cart_free(cart);
  }
  vcs_cart_t *demo = load_demo();
  check_bound(demo, "demo", states, &tally);
  vcs_cart_free(demo);
  print_message("%ld steps, %ld coordinates: %ld above the bound; the closest is %.3f of it\n", tally.steps,
                tally.coordinates, tally.above, tally.closest);
  return tally;
}

static void test_one_step_is_within_the_bound(void **state) {
  (void)state;
  assert_int_equal(check_bounds(2, trials(10, 2)).above, 0);
}

/* N steps at T = 0.05, by real numbers: how far the largest coordinate of the state has gone. */
static void print_growth(void) {
  static const char *const some[] = {"space_invaders", "pong", "breakout", "seaquest"};
  for (int g = 0; g < 4; g++) {
    vcs_cart_t *cart = load_game(some[g]);
    if (!cart) continue;
    vcs_relax_t *relax = relaxed(cart, 40, 0.05, VCS_DISPATCH_HARD),
                *exact = relaxed(cart, 40, 0.05, VCS_DISPATCH_HARD);
    const size_t slots = vcs_relax_state_slots(relax);
    double *values = calloc(vcs_relax_input_slots(relax), sizeof *values);
    double *expected = calloc(vcs_relax_input_slots(relax), sizeof *expected);
    vcs_t *m = machine_after(cart, 60);
    vcs_step_t step;
    vcs_frame_begin(cart, m);
    vcs_relax_load(relax, m);
    printf("%s, alpha 40, T 0.05:", some[g]);
    for (int n = 1; n <= 1000; n++) {
      vcs_step(cart, m, NULL, &step);
      vcs_relax_step(relax, NULL);
      if (n != 1 && n != 3 && n != 10 && n != 30 && n != 100 && n != 300 && n != 1000) continue;
      vcs_relax_load(exact, m);
      vcs_relax_values(exact, expected);
      vcs_relax_values(relax, values);
      double most = 0;
      for (size_t k = 0; k < slots; k++) {
        if (k != VCS_SLOT_PC && k != VCS_SLOT_TIME && k != VCS_SLOT_TIMER_CYCLE && k != VCS_SLOT_DUMP_CYCLE)
          most = fmax(most, fabs(values[k] - expected[k]));
      }
      printf("  %d: %.1e", n, most);
    }
    printf("\n");
    free(values), free(expected), free(m);
    vcs_relax_free(relax);
    vcs_relax_free(exact);
    vcs_cart_free(cart);
  }
}

/* ---- A joystick -------------------------------------------------------------------------------------------------- */

/* d(screen)/d(RIGHT) in Space Invaders beside the truth: `test_relax_chips right [ALPHA T CAST]` prints it. */
static void print_right(double alpha, double temperature, uint8_t cast) {
  enum { FRAMES = 3, RIGHT_PIN = VCS_SLOT_SWCHA + 7 };
  vcs_cart_t *cart = load_game("space_invaders");
  if (!cart) return;
  vcs_relax_options_t options;
  vcs_relax_t *relax;
  vcs_relax_defaults(&options);
  options.alpha = alpha;
  options.temperature = temperature;
  options.cast = cast;
  assert_int_equal(vcs_relax_create(cart, &options, &relax, NULL), VCS_OK);
  const size_t pixels = (size_t)(VCS_WIDTH * cart->frame_height), slots = vcs_relax_input_slots(relax);
  vcs_t *m = machine_after(cart, 1050);
  for (int first = 0; first < 2; first++) { /* the game polls every other frame */
    vcs_t *held = malloc(vcs_state_size(cart)), *free_run = malloc(vcs_state_size(cart));
    uint8_t *with = calloc(2, VCS_FRAME_BYTES), *without = calloc(2, VCS_FRAME_BYTES);
    double *d_input = calloc(slots, sizeof *d_input), *d_state = calloc(slots, sizeof *d_state);
    double *d_pixels = calloc(pixels, sizeof *d_pixels);
    vcs_controls_t idle = {{0}, {0}, {0}, 0}, right = {{VCS_HELD_RIGHT}, {0}, {0}, 0};
    memcpy(held, m, vcs_state_size(cart));
    memcpy(free_run, m, vcs_state_size(cart));
    vcs_relax_load(relax, m);
    for (int f = 0; f < FRAMES; f++) {
      vcs_control(cart, held, f ? &idle : &right);
      vcs_control(cart, free_run, &idle);
      vcs_frame(cart, held, with);
      vcs_frame(cart, free_run, without);
      vcs_relax_control(relax, &idle);
      memset(d_state, 0, slots * sizeof *d_state);
      memset(d_pixels, 0, pixels * sizeof *d_pixels);
      memset(d_input + VCS_SLOT_SWCHA, 0, 18 * sizeof *d_input);
      if (f == 0) d_input[RIGHT_PIN] = -1; /* held: the pin goes low */
      assert_int_equal(vcs_relax_jvp_picture(relax, VCS_RELAX_FRAME, d_input, d_state, d_pixels, NULL), VCS_OK);
      memcpy(d_input, d_state, vcs_relax_state_slots(relax) * sizeof *d_input);
      const uint8_t *a = vcs_picture(held, with), *b = vcs_picture(free_run, without);
      double dot = 0, ours = 0, truth = 0, largest = 0;
      int true_ones = 0, found = 0, both = 0;
      for (size_t i = 0; i < pixels; i++) {
        const double t = a[i] - b[i], e = d_pixels[i];
        dot += t * e, ours += e * e, truth += t * t;
        largest = fmax(largest, fabs(e));
        true_ones += t != 0, found += fabs(e) > 1e-9, both += t != 0 && fabs(e) > 1e-9;
      }
      const double moved = d_state[VCS_SLOT_RAM + 0x1C];
      printf(
          "alpha %g, T %g, %s, from frame %d, %d later: %d true pixels, %d found, %d of them true, largest %.3g, "
          "cosine %.3f; $9C moves by %.3g, truly by %d\n",
          alpha, temperature, cast == VCS_CAST_ROUND ? "rounded" : "real", 1050 + first, f + 1, true_ones, found, both,
          largest, ours > 0 && truth > 0 ? dot / sqrt(ours) / sqrt(truth) : 0, moved,
          held->ram[0x1C] - free_run->ram[0x1C]);
    }
    free(held), free(free_run), free(with), free(without), free(d_input), free(d_state), free(d_pixels);
    vcs_frame(cart, m, NULL);
  }
  free(m);
  vcs_relax_free(relax);
  vcs_cart_free(cart);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "long")) {
    const int frames = atoi(argv[2]);
    printf("%d games, %d frames each: equal\n", check_all_exact(PAPER_GAMES, frames, argc > 3 ? argv[3] : NULL),
           frames);
    return 0;
  }
  if (argc > 2 && !strcmp(argv[1], "bound")) return check_bounds(PAPER_GAMES, atoi(argv[2])).above != 0;
  if (argc > 1 && !strcmp(argv[1], "growth")) {
    print_growth();
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "right")) {
    const bool given = argc > 4;
    print_right(given ? atof(argv[2]) : 6, given ? atof(argv[3]) : 0.14,
                given && !strcmp(argv[4], "none") ? VCS_CAST_NONE : VCS_CAST_ROUND);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers_are_exact),
      cmocka_unit_test(test_one_step_is_within_the_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
