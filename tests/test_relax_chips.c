/* test_relax_chips.c: the relaxed machine's TIA and RIOT.
 *
 * At integers every number of the chips and every pixel is the exact machine's: the games of DIFFVCS_ROMS are run
 * beside it, with random input. Between integers the derivatives through the chips are those of the map: both products
 * agree with each other, and with differences of the map wherever these have converged. And opcodes that a softened
 * dispatch evaluates read what they would really read.
 *
 *   test_relax_chips                     some games
 *   test_relax_chips long FRAMES [GAME]  all of the 64 games, or one, at integers
 *   test_relax_chips derivatives COUNT   derivatives on that many games
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

enum { SOME = 8 };

/* NULL: no such image. */
static vcs_cart_t *load_game(const char *name) {
  vcs_cart_t *cart = load_game_as(name, VCS_PROFILE_XITARI);
  if (!cart && need_missing("test_relax_chips", "roms", name)) exit(EXIT_FAILURE); /* also outside of cmocka's tests */
  return cart;
}

static vcs_cart_t *load_demo(void) { return load_demo_as(VCS_PROFILE_XITARI, "demo"); }

static vcs_relax_t *relaxed(const vcs_cart_t *cart, double alpha, double temperature, uint8_t dispatch) {
  vcs_relax_options_t options;
  vcs_relax_t *relax;
  vcs_relax_defaults(&options);
  options.alpha = alpha;
  options.temperature = temperature;
  options.cast = VCS_CAST_NONE;
  options.dispatch = dispatch;
  assert_int_equal(vcs_relax_create(cart, &options, &relax, NULL), VCS_OK);
  return relax;
}

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

/* ---- Between integers ------------------------------------------------------------------------------------------- */

/* A game in the middle of its picture, the chips' registers, the CPU's and time between integers. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_relax_t *relax;
  vcs_t *m;
  size_t slots, states, pixels;
  double *in;
} trial_t;

static void open_trial(trial_t *t, const vcs_cart_t *cart) {
  vcs_step_t step;
  t->cart = cart;
  t->relax = relaxed(cart, 6, 0.05, VCS_DISPATCH_HARD);
  t->slots = vcs_relax_input_slots(t->relax);
  t->states = vcs_relax_state_slots(t->relax);
  t->pixels = (size_t)(VCS_WIDTH * cart->frame_height);
  t->in = calloc(t->slots, sizeof *t->in);
  t->m = machine_after(cart, 60 + (int)(noise() % 100));
  vcs_frame_begin(cart, t->m);
  const int32_t line = cart->top_line + 20 + (int32_t)(noise() % 150);
  for (int i = 0; i < 10000 && t->m->line < line && t->m->partial; i++) vcs_step(cart, t->m, NULL, &step);
  vcs_relax_load(t->relax, t->m);
  vcs_relax_values(t->relax, t->in);
  for (int i = VCS_SLOT_BUS; i < VCS_SLOT_RAM; i++) {
    const bool bit = (i >= VCS_SLOT_SWCHA && i < VCS_SLOT_DDRA) || (i >= VCS_SLOT_REFLECT && i < VCS_SLOT_PF) ||
                     (i >= VCS_SLOT_ENAM && i < VCS_SLOT_HM) || (i >= VCS_SLOT_VDELP && i < VCS_SLOT_POS) ||
                     (i >= VCS_SLOT_MIRRORED && i < VCS_SLOT_AUDIO);
    if (i == VCS_SLOT_VBLANK || i == VCS_SLOT_VSYNC) continue;
    if (bit)
      t->in[i] = fabs(t->in[i] - 0.1 - 0.2 * fraction());
    else
      t->in[i] = fmin(t->in[i], i >= VCS_SLOT_HM && i < VCS_SLOT_VDELP ? 14
                                : i >= VCS_SLOT_POS                    ? 158
                                                                       : 254) +
                 0.1 + 0.3 * fraction();
  }
  for (int i = VCS_SLOT_A; i <= VCS_SLOT_Y; i++) t->in[i] = fmin(t->in[i], 254) + 0.01 + 0.02 * fraction();
  t->in[VCS_SLOT_TIME] += 0.4 * (fraction() - 0.5);
}

static void close_trial(trial_t *t) {
  free(t->in);
  free(t->m);
  vcs_relax_free(t->relax);
}

static void set(trial_t *t, const double *direction, double by) {
  double *in = malloc(t->slots * sizeof *in);
  for (size_t i = 0; i < t->slots; i++) in[i] = t->in[i] + by * direction[i];
  vcs_relax_load(t->relax, t->m);
  vcs_relax_set_values(t->relax, in);
  free(in);
}

/* The state and behind it the picture, some steps later. */
static void at(trial_t *t, const double *direction, double by, int steps, double *out) {
  set(t, direction, by);
  for (int i = 0; i < steps; i++) vcs_relax_step(t->relax, NULL);
  double *values = malloc(t->slots * sizeof *values);
  vcs_relax_values(t->relax, values);
  memcpy(out, values, t->states * sizeof *values);
  vcs_relax_picture(t->relax, out + t->states);
  free(values);
}

static void difference(trial_t *t, const double *direction, double h, int steps, double *out, double *less) {
  at(t, direction, h, steps, out);
  at(t, direction, -h, steps, less);
  for (size_t i = 0; i < t->states + t->pixels; i++) out[i] = (out[i] - less[i]) / (2 * h);
}

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(b)); }

typedef struct {
  int all, converged, agreed, pixels, trials;
  double worst_pair;
} tally_t;

static void check_trial(const vcs_cart_t *cart, int steps, tally_t *tally) {
  trial_t t;
  open_trial(&t, cart);
  if (!t.m->partial || t.m->line < cart->top_line + 20) { /* the game does not show that line in this frame */
    close_trial(&t);
    return;
  }
  const size_t all = t.states + t.pixels;
  double *direction = calloc(t.slots, sizeof *direction), *forward = calloc(all, sizeof *forward);
  double *adjoint = calloc(all, sizeof *adjoint), *backward = calloc(t.slots, sizeof *backward);
  double *wide = calloc(all, sizeof *wide), *narrow = calloc(all, sizeof *narrow), *less = calloc(all, sizeof *less);
  for (size_t i = 0; i < VCS_SLOT_RAM + 128; i++) { /* a number at the end of its range cannot go on */
    const bool inside = t.in[i] > 0 && t.in[i] < (i >= VCS_SLOT_N && i <= VCS_SLOT_C ? 1 : 255);
    direction[i] = i == VCS_SLOT_TIME || (inside && i != VCS_SLOT_PC) ? fraction() - 0.5 : 0;
  }
  for (size_t i = 0; i < all; i++) adjoint[i] = fraction() - 0.5;
  at(&t, direction, 0, steps, less);
  if (!vcs_relax_machine(t.relax)->partial) goto done; /* the frame ends on the way, and differences stop there */
  set(&t, direction, 0);
  assert_int_equal(vcs_relax_jvp_picture(t.relax, steps, direction, forward, forward + t.states, NULL), VCS_OK);
  set(&t, direction, 0);
  assert_int_equal(vcs_relax_vjp_picture(t.relax, steps, backward, adjoint, adjoint + t.states, NULL), VCS_OK);
  double left = 0, right = 0, size = 0;
  for (size_t i = 0; i < all; i++) left += forward[i] * adjoint[i], size += fabs(forward[i] * adjoint[i]);
  for (size_t i = 0; i < t.slots; i++) right += backward[i] * direction[i];
  tally->worst_pair = fmax(tally->worst_pair, fabs(left - right) / (size + 1));
  difference(&t, direction, 2e-5, steps, wide, less);
  difference(&t, direction, 1e-5, steps, narrow, less);
  for (size_t i = 0; i < all; i++) {
    tally->all++;
    if (!is_near(wide[i], narrow[i], 1e-7)) continue;
    tally->converged++;
    tally->agreed += is_near(forward[i], narrow[i], 1e-6);
    tally->pixels += i >= t.states && narrow[i] != 0;
  }
  tally->trials++;
done:
  free(direction), free(forward), free(adjoint), free(backward), free(wide), free(narrow), free(less);
  close_trial(&t);
}

static void check_derivatives(int count, int each, int steps) {
  tally_t tally = {0};
  for (int i = 0; i < count; i++) {
    vcs_cart_t *cart = load_game(paper_games[i]);
    for (int k = 0; cart && k < each; k++) check_trial(cart, steps, &tally);
    if (cart) vcs_cart_free(cart);
  }
  vcs_cart_t *demo = load_demo();
  for (int k = 0; k < each; k++) check_trial(demo, steps, &tally);
  vcs_cart_free(demo);
  print_message(
      "%d trials of %d instructions: %d of %d differences converge, %d agree, %d are of pixels and not zero; "
      "the products differ by %.1e\n",
      tally.trials, steps, tally.converged, tally.all, tally.agreed, tally.pixels, tally.worst_pair);
  assert_true(tally.worst_pair <= 1e-9);
  assert_true(tally.converged > 0.99 * tally.all);
  assert_true(tally.agreed > 0.99995 * tally.converged);
  assert_true(tally.pixels > tally.trials);
}

static void test_derivatives_go_through_the_chips(void **state) {
  (void)state;
  check_derivatives(SOME, trials(4, 1), 20);
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

/* ---- Dispatch --------------------------------------------------------------------------------------------------- */

/* 2 KiB, mirrored: an opcode at the end of the image, which $F7FF reads, and its operand at the beginning, whose
 * neighbours the opcode is not. So the same operand is read whatever the opcode. */
static vcs_cart_t *load_opcode(int opcode, unsigned operand) {
  uint8_t image[2048];
  memset(image, 0xEA, sizeof image);
  memset(image + 2040, opcode, 8);
  image[0] = (uint8_t)operand;
  image[1] = (uint8_t)(operand >> 8);
  /* A format that is known: these images have no frames to probe. */
  const vcs_cart_options_t options = {
      .profile = VCS_PROFILE_XITARI, .scheme = VCS_SCHEME_2K, .format = VCS_FORMAT_NTSC, .name = "opcode"};
  vcs_cart_t *cart;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* A state in which INTIM reads 46, and objects collide. It is that of any of these images. */
static void dispatch_state(const vcs_cart_t *cart, vcs_t *m) {
  vcs_boot(cart, m, NULL);
  vcs_frame_begin(cart, m);
  for (int i = 0; i < 128; i++) m->ram[i] = (uint8_t)(37 * i + 11);
  m->a = 0x5C, m->x = 0x03, m->y = 0x11, m->sp = 0xE0, m->p = 0x31, m->pc = 0xF7FF;
  m->jammed = 0, m->frame_clock = 0;
  m->cycles = 2000;
  m->timer = 50;
  m->timer_shift = 6;
  m->timer_cycle = m->cycles - 200;
  m->timer_was_read = 0;
  m->collisions = 0xA5C3;
  m->fire[0] = 1;
}

enum { DISPATCH_SLOTS = VCS_SLOT_RAM + 128 };

static void values_after(const vcs_cart_t *cart, const vcs_t *m, uint8_t dispatch, double temperature, double *values) {
  vcs_relax_t *relax = relaxed(cart, 6, temperature, dispatch);
  vcs_relax_load(relax, m);
  vcs_relax_step(relax, NULL);
  double *all = calloc(vcs_relax_input_slots(relax), sizeof *all);
  vcs_relax_values(relax, all);
  memcpy(values, all, DISPATCH_SLOTS * sizeof *all);
  free(all);
  vcs_relax_free(relax);
}

/* The blend of all opcodes against each opcode run by itself, acting. */
static void check_dispatch(const vcs_t *m, unsigned operand) {
  static const int names[] = {0xAD, 0xEA, 0x8D}; /* LDA, NOP, STA */
  const double temperature = 0.3, other = exp(-1 / temperature), total = 1 + 255 * other;
  static double values[256][DISPATCH_SLOTS];
  for (int k = 0; k < 256; k++) {
    vcs_cart_t *cart = load_opcode(k, operand);
    values_after(cart, m, VCS_DISPATCH_HARD, temperature, values[k]);
    vcs_cart_free(cart);
  }
  for (int n = 0; n < 3; n++) {
    double blended[DISPATCH_SLOTS];
    vcs_cart_t *cart = load_opcode(names[n], operand);
    values[0][VCS_SLOT_PC] = 257 * names[n]; /* BRK's vector is where the opcode is */
    values_after(cart, m, VCS_DISPATCH_ONE_HOT, temperature, blended);
    for (int i = 0; i < DISPATCH_SLOTS; i++) {
      if (i > VCS_SLOT_TIME && i < VCS_SLOT_RAM) continue; /* only the opcode that is named changes chips */
      double expected = 0;
      for (int k = 0; k < 256; k++) expected += (k == names[n] ? 1 : other) / total * values[k][i];
      if (!is_near(blended[i], expected, 1e-9))
        fail_msg("operand $%04X, opcode $%02X: slot %d is %.12g, opcode by opcode %.12g", operand, (unsigned)names[n],
                 i, blended[i], expected);
    }
    vcs_cart_free(cart);
  }
}

static void test_dispatch_blends_what_opcodes_really_do(void **state) {
  (void)state;
  /* INTIM; a pot with undriven bits; collisions; WSYNC */
  static const unsigned operands[] = {0x0284, 0x0008, 0x0032, 0x0002};
  vcs_cart_t *cart = load_opcode(0xEA, 0);
  vcs_t *m = malloc(vcs_state_size(cart));
  dispatch_state(cart, m);
  for (int i = 0; i < 4; i++) check_dispatch(m, operands[i]);
  free(m);
  vcs_cart_free(cart);
}

/* The sum of A after each of the 256 opcodes by itself, and the same sum as it is in a blend around NOP: a blend is
 * (A of NOP + q * the sum over the others) / (1 + 255 q). At T = 0.05 reads are off by less than 1e-6. */
static void sums_of_a(const vcs_t *m, double *one_by_one, double *blended) {
  const double temperature = 0.05, q = exp(-1 / temperature);
  double values[DISPATCH_SLOTS], nop = 0;
  *one_by_one = 0;
  for (int k = 0; k < 256; k++) {
    vcs_cart_t *cart = load_opcode(k, 0x0284);
    values_after(cart, m, VCS_DISPATCH_HARD, temperature, values);
    *one_by_one += values[VCS_SLOT_A];
    if (k == 0xEA) {
      nop = values[VCS_SLOT_A];
      values_after(cart, m, VCS_DISPATCH_ONE_HOT, temperature, values);
      *blended = (values[VCS_SLOT_A] * (1 + 255 * q) - nop) / q + nop;
    }
    vcs_cart_free(cart);
  }
}

/* Operand $0284 is INTIM. With registers of 0 the 256 opcodes leave 8968 in A, together, if INTIM is 46, and 7386 if it
 * is 0. The other opcodes of a blend once read through vcs_bus_peek, where INTIM is 0, so that a blend had the second
 * number whatever the timer showed. Now each opcode reads the timer at its own time. */
static void test_dispatch_reads_the_timer_in_every_opcode(void **state) {
  (void)state;
  static const struct { int timer, sum; } rows[] = {{50, 8968}, {4, 7386}}; /* 50 - 3 intervals - 1 is 46 */
  vcs_cart_t *cart = load_opcode(0xEA, 0x0284);
  vcs_t *m = malloc(vcs_state_size(cart));
  for (int i = 0; i < 2; i++) {
    double one_by_one, blended = 0;
    dispatch_state(cart, m);
    m->a = m->x = m->y = 0;
    m->timer = (uint8_t)rows[i].timer;
    sums_of_a(m, &one_by_one, &blended);
    if (fabs(one_by_one - rows[i].sum) > 0.01 || fabs(blended - rows[i].sum) > 0.01)
      fail_msg("timer %d: %.6f opcode by opcode, %.6f blended, not %d", rows[i].timer, one_by_one, blended,
               rows[i].sum);
  }
  free(m);
  vcs_cart_free(cart);
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
  if (argc > 2 && !strcmp(argv[1], "derivatives")) {
    check_derivatives(atoi(argv[2]), 8, 20);
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
      cmocka_unit_test(test_derivatives_go_through_the_chips),
      cmocka_unit_test(test_one_step_is_within_the_bound),
      cmocka_unit_test(test_dispatch_blends_what_opcodes_really_do),
      cmocka_unit_test(test_dispatch_reads_the_timer_in_every_opcode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
