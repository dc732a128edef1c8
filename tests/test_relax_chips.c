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
#include "core/state.h"
#include "diffvcs/relax.h"
#include "diffvcs/study.h"
#include "host/files.h"

static uint64_t random_state = 1;

static uint32_t noise(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return (uint32_t)(z ^ z >> 31);
}

static double fraction(void) { return noise() / 4294967296.0; }

/* The paper's. */
static const char *const games[] = {
    "space_invaders", "pong",          "breakout",       "elevator_action", "montezuma_revenge",
    "robotank",       "seaquest",      "qbert",          "air_raid",        "alien",
    "amidar",         "assault",       "asterix",        "asteroids",       "atlantis",
    "bank_heist",     "battle_zone",   "beam_rider",     "berzerk",         "bowling",
    "boxing",         "carnival",      "centipede",      "chopper_command", "crazy_climber",
    "defender",       "demon_attack",  "double_dunk",    "enduro",          "fishing_derby",
    "freeway",        "frostbite",     "gopher",         "gravitar",        "hero",
    "ice_hockey",     "jamesbond",     "journey_escape", "kangaroo",        "krull",
    "kung_fu_master", "ms_pacman",     "name_this_game", "pacman",          "phoenix",
    "pitfall",        "pooyan",        "private_eye",    "riverraid",       "road_runner",
    "skiing",         "solaris",       "star_gunner",    "surround",        "tennis",
    "time_pilot",     "tutankham",     "up_n_down",      "venture",         "video_pinball",
    "videochess",     "wizard_of_wor", "yars_revenge",   "zaxxon"};
enum { GAMES = sizeof games / sizeof *games, SOME = 8 };

static vcs_cart_t *load(const uint8_t *image, size_t size, const char *name) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_XITARI, .name = name};
  vcs_cart_t *cart;
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* NULL: no such image. */
static vcs_cart_t *load_game(const char *name) {
  char path[VCS_PATH_SIZE];
  uint8_t *image;
  size_t size;
  if (!getenv("DIFFVCS_ROMS") || vcs_rom_find(name, NULL, path, sizeof path, NULL)) return NULL;
  assert_int_equal(vcs_file_read(path, 1 << 20, &image, &size, NULL), VCS_OK);
  vcs_cart_t *cart = load(image, size, name);
  free(image);
  return cart;
}

static vcs_cart_t *load_demo(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  return load(image, size, "demo");
}

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

static vcs_t *machine_after(const vcs_cart_t *cart, int frames) {
  vcs_env_t *env;
  vcs_t *m = malloc(vcs_state_size(cart));
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  memcpy(m, vcs_env_machine(env), vcs_state_size(cart));
  for (int i = 0; i < frames; i++) vcs_frame(cart, m, NULL);
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
    if (only && strcmp(only, games[i])) continue;
    vcs_cart_t *cart = load_game(games[i]);
    if (!cart) continue;
    check_exact(cart, games[i], frames);
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
    vcs_cart_t *cart = load_game(games[i]);
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

/* ---- Dispatch --------------------------------------------------------------------------------------------------- */

/* 2 KiB, mirrored: an opcode at the end of the image, which $F7FF reads, and its operand at the beginning, whose
 * neighbours the opcode is not. So the same operand is read whatever the opcode. */
static vcs_cart_t *load_opcode(int opcode, unsigned operand) {
  uint8_t image[2048];
  memset(image, 0xEA, sizeof image);
  memset(image + 2040, opcode, 8);
  image[0] = (uint8_t)operand;
  image[1] = (uint8_t)(operand >> 8);
  return load(image, sizeof image, "opcode");
}

/* A state in which INTIM reads 46, some paddle is charged, and objects collide. */
static vcs_t *dispatch_state(const vcs_cart_t *cart) {
  vcs_t *m = machine_after(cart, 0);
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
  return m;
}

static void values_after(const vcs_cart_t *cart, const vcs_t *m, uint8_t dispatch, double temperature, double *values) {
  vcs_relax_t *relax = relaxed(cart, 6, temperature, dispatch);
  vcs_relax_load(relax, m);
  vcs_relax_step(relax, NULL);
  double *all = calloc(vcs_relax_input_slots(relax), sizeof *all);
  vcs_relax_values(relax, all);
  memcpy(values, all, (VCS_SLOT_RAM + 128) * sizeof *all);
  free(all);
  vcs_relax_free(relax);
}

/* The blend of all opcodes against each opcode run by itself, acting. */
static void check_dispatch(unsigned operand, int named) {
  enum { SLOTS = VCS_SLOT_RAM + 128 };
  const double temperature = 0.3, other = exp(-1 / temperature), total = 1 + 255 * other;
  double expected[SLOTS] = {0}, blended[SLOTS];
  for (int k = 0; k < 256; k++) {
    double values[SLOTS];
    vcs_cart_t *cart = load_opcode(k, operand);
    vcs_t *m = dispatch_state(cart);
    values_after(cart, m, VCS_DISPATCH_HARD, temperature, values);
    if (k == 0) values[VCS_SLOT_PC] = 257 * named; /* BRK's vector is where the opcode is */
    for (int i = 0; i < SLOTS; i++) expected[i] += (k == named ? 1 : other) / total * values[i];
    free(m);
    vcs_cart_free(cart);
  }
  vcs_cart_t *cart = load_opcode(named, operand);
  vcs_t *m = dispatch_state(cart);
  values_after(cart, m, VCS_DISPATCH_ONE_HOT, temperature, blended);
  for (int i = 0; i < SLOTS; i++) {
    if (i > VCS_SLOT_TIME && i < VCS_SLOT_RAM) continue; /* only the opcode that is named changes chips */
    if (!is_near(blended[i], expected[i], 1e-9))
      fail_msg("operand $%04X, opcode $%02X: slot %d is %.12g, opcode by opcode %.12g", operand, (unsigned)named, i,
               blended[i], expected[i]);
  }
  free(m);
  vcs_cart_free(cart);
}

static void test_dispatch_blends_what_opcodes_really_do(void **state) {
  (void)state;
  /* INTIM, INSTAT, SWCHA, pots and fire with undriven bits, collisions, WSYNC, RAM */
  static const unsigned operands[] = {0x0284, 0x0285, 0x0280, 0x0008, 0x003C, 0x0032, 0x0002, 0x0090};
  for (int i = 0; i < 8; i++) check_dispatch(operands[i], 0xAD);
  check_dispatch(0x0284, 0xEA);
  check_dispatch(0x0284, 0x8D);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "long")) {
    const int frames = atoi(argv[2]);
    printf("%d games, %d frames each: equal\n", check_all_exact(GAMES, frames, argc > 3 ? argv[3] : NULL), frames);
    return 0;
  }
  if (argc > 2 && !strcmp(argv[1], "derivatives")) {
    check_derivatives(atoi(argv[2]), 8, 20);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers_are_exact),
      cmocka_unit_test(test_derivatives_go_through_the_chips),
      cmocka_unit_test(test_dispatch_blends_what_opcodes_really_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
