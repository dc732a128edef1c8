/* relax_differences.c: the derivatives of the relaxed machine against differences of the relaxed map, every output.
 *
 * A softened read of a byte is within 1e-9 of an integer at T = 0.05, and operations have a kink at every integer. In
 * double precision a difference needs a step of 1e-6 or so, which crosses such kinks. So the map is compiled a second
 * time, in quadruple precision (quad.h), where a step can be 1e-20. The products are those of the library, in double.
 *
 * A trial is a game in the middle of its picture, with registers, RAM, time and chips between integers, some
 * instructions, and one random direction. For every number of the state and every pixel, the derivative to the left and
 * to the right along the direction is computed from values at 0, h and 2h (the error is of second order); it has
 * converged if the values at 0, 2h and 4h give the same to 1e-9. Steps become smaller until it has. Then
 *
 *   both sides must be equal to 1e-6: a kink at the point itself is a failure, too;
 *   the product of the same sources in quadruple precision must be equal to them, to 1e-6;
 *   the library's product, in double, must be equal to that, to 1e-6, or to what rounding explains: of a byte that is
 *   1e-9 beyond an integer a double keeps five digits of the fraction, and a slope that is this fraction may meet a
 * large derivative. Rounding explains a deviation if it is at most four times the largest one of eight products in
 * quadruple precision whose numbers are rounded to doubles, up or down at random (stochastic arithmetic). Outputs that
 * are off by more than 1e-6 are printed and counted, with that bound.
 *
 *   relax_differences LIBRARY GAMES TRIALS   on that many of the paper's games, and on the demonstration cartridge
 */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "carts.h"
#include "need.h"
#include "noise.h"
#include "paper_games.h"
#include "quad.h"

#include "diffvcs/relax.h"

/* ---- The library ------------------------------------------------------------------------------------------------- */

/* vcs_relax_options_t, as the library has it. */
typedef struct {
  vcs_narrow_t alpha, temperature;
  int32_t window;
  uint8_t wrap, single, cast, dispatch, bus;
  uint64_t reserved[8];
} narrow_options_t;

static struct {
  void (*defaults)(narrow_options_t *options);
  vcs_status_t (*create)(const vcs_cart_t *cart, const narrow_options_t *options, vcs_relax_t **relax,
                         vcs_error_t *error);
  void (*load)(vcs_relax_t *relax, const vcs_t *m);
  void (*set_values)(vcs_relax_t *relax, const vcs_narrow_t *values);
  vcs_status_t (*jvp)(vcs_relax_t *relax, int32_t steps, const vcs_narrow_t *d_input, vcs_narrow_t *d_state,
                      vcs_narrow_t *d_pixels, vcs_error_t *error);
  vcs_status_t (*vjp)(vcs_relax_t *relax, int32_t steps, vcs_narrow_t *d_input, const vcs_narrow_t *d_state,
                      const vcs_narrow_t *d_pixels, vcs_error_t *error);
  void (*free)(vcs_relax_t *relax);
} library;

static void find(void *handle, const char *name, void *function) {
  void *found = dlsym(handle, name);
  if (!found) fprintf(stderr, "the library has no %s\n", name), exit(EXIT_FAILURE);
  memcpy(function, &found, sizeof found);
}

static void open_library(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(EXIT_FAILURE);
  find(handle, "vcs_relax_defaults", &library.defaults);
  find(handle, "vcs_relax_create", &library.create);
  find(handle, "vcs_relax_load", &library.load);
  find(handle, "vcs_relax_set_values", &library.set_values);
  find(handle, "vcs_relax_jvp_picture", &library.jvp);
  find(handle, "vcs_relax_vjp_picture", &library.vjp);
  find(handle, "vcs_relax_free", &library.free);
}

/* ---- A trial ----------------------------------------------------------------------------------------------------- */

enum { STEPS = 20 };
static const vcs_narrow_t alpha = 6, temperature = 0.05;

typedef struct {
  vcs_relax_t *wide, *narrow; /* in quadruple precision, and the library's */
  vcs_t *m;
  size_t slots, states, outputs;
  vcs_narrow_t *in, *direction;
} trial_t;

static bool is_bit(int slot) {
  return (slot >= VCS_SLOT_SWCHA && slot < VCS_SLOT_DDRA) || (slot >= VCS_SLOT_REFLECT && slot < VCS_SLOT_PF) ||
         (slot >= VCS_SLOT_ENAM && slot < VCS_SLOT_HM) || (slot >= VCS_SLOT_VDELP && slot < VCS_SLOT_POS) ||
         (slot >= VCS_SLOT_MIRRORED && slot < VCS_SLOT_AUDIO);
}

static vcs_narrow_t most_of(int slot) {
  if (slot >= VCS_SLOT_HM && slot < VCS_SLOT_VDELP) return 15;
  return slot >= VCS_SLOT_POS && slot < VCS_SLOT_MIRRORED ? 159 : 255;
}

/* From an integer to some way below the next one. */
static vcs_narrow_t between(vcs_narrow_t integer, vcs_narrow_t most, vcs_narrow_t least_part, vcs_narrow_t part) {
  return (integer < most ? integer : most - 1) + least_part + part * (vcs_narrow_t)fraction();
}

/* Registers of the CPU, RAM and time stay near integers, so that the program goes on; chips need not. */
static void choose_inputs(trial_t *t) {
  for (int i = VCS_SLOT_BUS; i < VCS_SLOT_RAM; i++) {
    if (i == VCS_SLOT_VBLANK || i == VCS_SLOT_VSYNC) continue;
    const vcs_narrow_t part = 0.1 + 0.2 * (vcs_narrow_t)fraction();
    t->in[i] = !is_bit(i) ? between(t->in[i], most_of(i), 0.1, 0.3) : t->in[i] > 0.5 ? 1 - part : part;
  }
  for (int i = VCS_SLOT_A; i <= VCS_SLOT_Y; i++) t->in[i] = between(t->in[i], 255, 0.001, 0.002);
  for (int i = VCS_SLOT_RAM; i < VCS_SLOT_RAM + 128; i++) t->in[i] = between(t->in[i], 255, 1e-7, 1e-6);
  t->in[VCS_SLOT_TIME] += 0.4 * (vcs_narrow_t)(fraction() - 0.5);
  for (int i = 0; i < VCS_SLOT_RAM + 128; i++) { /* an integer is a kink */
    const bool integer = t->in[i] == (vcs_narrow_t)(int32_t)t->in[i];
    t->direction[i] = integer ? 0 : (vcs_narrow_t)(fraction() - 0.5);
  }
}

/* False: the game does not show the line in this frame. */
static bool open_trial(trial_t *t, const vcs_cart_t *cart) {
  vcs_relax_options_t options;
  narrow_options_t narrow;
  vcs_env_t *env;
  vcs_step_t step;
  vcs_relax_defaults(&options);
  library.defaults(&narrow);
  options.alpha = narrow.alpha = alpha;
  options.temperature = narrow.temperature = temperature;
  options.cast = narrow.cast = VCS_CAST_NONE;
  assert_int_equal(vcs_relax_create(cart, &options, &t->wide, NULL), VCS_OK);
  assert_int_equal(library.create(cart, &narrow, &t->narrow, NULL), VCS_OK);
  t->slots = vcs_relax_input_slots(t->wide);
  t->states = vcs_relax_state_slots(t->wide);
  t->outputs = t->states + (size_t)(VCS_WIDTH * cart->frame_height);
  t->in = calloc(t->slots, sizeof *t->in);
  t->direction = calloc(t->slots, sizeof *t->direction);
  t->m = malloc(vcs_state_size(cart));
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  for (int i = 60 + (int)below(100); i > 0; i--) vcs_env_act_on(env, VCS_NOOP, VCS_NOOP);
  memcpy(t->m, vcs_env_machine(env), vcs_state_size(cart));
  vcs_env_free(env);
  vcs_frame_begin(cart, t->m);
  const int32_t line = cart->top_line + 20 + (int32_t)below(150);
  for (int i = 0; i < 10000 && t->m->line < line && t->m->partial; i++) vcs_step(cart, t->m, NULL, &step);
  double *values = calloc(t->slots, sizeof *values);
  vcs_relax_load(t->wide, t->m);
  vcs_relax_values(t->wide, values);
  for (size_t i = 0; i < t->slots; i++) t->in[i] = (vcs_narrow_t)values[i];
  free(values);
  choose_inputs(t);
  return t->m->partial && t->m->line >= line;
}

static void close_trial(trial_t *t) {
  free(t->in), free(t->direction), free(t->m);
  vcs_relax_free(t->wide);
  library.free(t->narrow);
}

/* The state and behind it the picture, some steps later. False: the frame ends on the way. */
static bool run(trial_t *t, double by, double *out) {
  double *in = malloc(t->slots * sizeof *in);
  for (size_t i = 0; i < t->slots; i++) in[i] = t->in[i] + by * t->direction[i];
  vcs_relax_load(t->wide, t->m);
  vcs_relax_set_values(t->wide, in);
  for (int i = 0; i < STEPS; i++) vcs_relax_step(t->wide, NULL);
  vcs_relax_values(t->wide, in);
  memcpy(out, in, t->states * sizeof *in);
  vcs_relax_picture(t->wide, out + t->states);
  free(in);
  return vcs_relax_machine(t->wide)->partial;
}

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

bool quad_rounds;

double quad_round(double x) { return (vcs_narrow_t)x; }

/* ---- Differences ------------------------------------------------------------------------------------------------- */

enum { LEFT, RIGHT, SIDES };
static const vcs_narrow_t widths[] = {1e-10, 1e-14, 1e-18, 1e-22};
enum { WIDTHS = sizeof widths / sizeof *widths };

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(b)); }

static double one_sided(double here, double near, double far, double h) {
  return (4 * near - far - 3 * here) / (2 * h);
}

/* Fills in the derivatives to one side; returns how many have not converged. */
static size_t difference(trial_t *t, int side, const double *here, double *out) {
  double *f[3];
  size_t left = t->outputs;
  bool *converged = calloc(t->outputs, sizeof *converged);
  for (int k = 0; k < 3; k++) f[k] = calloc(t->outputs, sizeof **f);
  for (int i = 0; i < WIDTHS && left; i++) {
    const double h = (side == RIGHT ? 1 : -1) * (double)widths[i];
    for (int k = 0; k < 3; k++) run(t, h * (1 << k), f[k]);
    for (size_t o = 0; o < t->outputs; o++) {
      if (converged[o]) continue;
      const double fine = one_sided(here[o], f[0][o], f[1][o], h);
      out[o] = fine;
      converged[o] = is_near(fine, one_sided(here[o], f[1][o], f[2][o], 2 * h), 1e-9);
      left -= converged[o];
    }
  }
  for (int k = 0; k < 3; k++) free(f[k]);
  free(converged);
  return left;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* The library's J direction, at some inputs. */
static void narrow_product(trial_t *t, const vcs_narrow_t *in, vcs_narrow_t *out) {
  memset(out, 0, t->outputs * sizeof *out);
  library.load(t->narrow, t->m);
  library.set_values(t->narrow, in);
  assert_int_equal(library.jvp(t->narrow, STEPS, t->direction, out, out + t->states, NULL), VCS_OK);
}

static void wide_product(trial_t *t, double *out) {
  double *in = malloc(t->slots * sizeof *in), *direction = malloc(t->slots * sizeof *in);
  for (size_t i = 0; i < t->slots; i++) in[i] = t->in[i], direction[i] = t->direction[i];
  vcs_relax_load(t->wide, t->m);
  vcs_relax_set_values(t->wide, in);
  assert_int_equal(vcs_relax_jvp_picture(t->wide, STEPS, direction, out, out + t->states, NULL), VCS_OK);
  free(in), free(direction);
}

/* How far the two products of the library are from being each other's transposes, by the size of the terms. */
static double pair_error(trial_t *t, const vcs_narrow_t *forward) {
  vcs_narrow_t *adjoint = calloc(t->outputs, sizeof *adjoint), *backward = calloc(t->slots, sizeof *backward);
  double left = 0, right = 0, size = 1;
  for (size_t i = 0; i < t->outputs; i++) adjoint[i] = (vcs_narrow_t)(fraction() - 0.5);
  library.load(t->narrow, t->m);
  library.set_values(t->narrow, t->in);
  assert_int_equal(library.vjp(t->narrow, STEPS, backward, adjoint, adjoint + t->states, NULL), VCS_OK);
  for (size_t i = 0; i < t->outputs; i++)
    left += (double)forward[i] * adjoint[i], size += fabs((double)forward[i] * adjoint[i]);
  for (size_t i = 0; i < t->slots; i++) right += (double)backward[i] * t->direction[i];
  free(adjoint), free(backward);
  return fabs(left - right) / size;
}

/* ---- Trials -------------------------------------------------------------------------------------------------------
 */

typedef struct {
  long outputs, equal, rounded, wrong, open, moving, pixels;
  int trials;
  double worst_pair;
} tally_t;

/* The product at numbers that are rounded to doubles. */
static double *rounded_product(trial_t *t) {
  double *rounded = calloc(t->outputs, sizeof *rounded);
  quad_rounds = true;
  wide_product(t, rounded);
  quad_rounds = false;
  return rounded;
}

static void judge(const char *game, trial_t *t, const vcs_narrow_t *narrow, const double *wide, double *const d[SIDES],
                  tally_t *tally) {
  double *at_doubles = NULL; /* computed when it is needed */
  for (size_t i = 0; i < t->outputs; i++) {
    const double left = d[LEFT][i], right = d[RIGHT][i];
    const bool derived = is_near(left, right, 1e-6) && is_near(wide[i], left, 1e-6) && is_near(wide[i], right, 1e-6);
    const bool equal = derived && is_near(narrow[i], wide[i], 1e-6);
    if (derived && !equal && !at_doubles) at_doubles = rounded_product(t);
    const bool rounded = derived && !equal && is_near(narrow[i], at_doubles[i], 1e-6);
    tally->outputs++;
    tally->equal += equal;
    tally->rounded += rounded;
    tally->wrong += !equal && !rounded;
    tally->moving += narrow[i] != 0;
    tally->pixels += narrow[i] != 0 && i >= t->states;
    if (equal) continue;
    printf("%s, trial %d, %s %zu: left %.9g, right %.9g; product %.9g, at rounded numbers %.9g, in double %.9g: %s\n",
           game, tally->trials, i < t->states ? "slot" : "pixel", i < t->states ? i : i - t->states, (vcs_narrow_t)left,
           (vcs_narrow_t)right, (vcs_narrow_t)wide[i], at_doubles ? (vcs_narrow_t)at_doubles[i] : NAN, narrow[i],
           rounded ? "rounded" : "wrong");
  }
  free(at_doubles);
}

static void check_trial(const vcs_cart_t *cart, const char *game, tally_t *tally) {
  trial_t t;
  const bool shown = open_trial(&t, cart);
  vcs_narrow_t *narrow = calloc(t.outputs, sizeof *narrow);
  double *here = calloc(t.outputs, sizeof *here), *wide = calloc(t.outputs, sizeof *wide), *d[SIDES];
  for (int side = 0; side < SIDES; side++) d[side] = calloc(t.outputs, sizeof **d);
  if (shown && run(&t, 0, here)) {
    narrow_product(&t, t.in, narrow);
    wide_product(&t, wide);
    tally->worst_pair = fmax(tally->worst_pair, pair_error(&t, narrow));
    for (int side = 0; side < SIDES; side++) tally->open += (long)difference(&t, side, here, d[side]);
    judge(game, &t, narrow, wide, d, tally);
    tally->trials++;
  }
  free(narrow), free(here), free(wide), free(d[LEFT]), free(d[RIGHT]);
  close_trial(&t);
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: relax_differences LIBRARY GAMES TRIALS\n"), EXIT_FAILURE;
  tally_t tally = {0};
  int games = 0;
  open_library(argv[1]);
  for (int i = 0; i <= atoi(argv[2]); i++) {
    const char *game = i < atoi(argv[2]) ? paper_games[i] : "demo";
    vcs_cart_t *cart =
        i < atoi(argv[2]) ? load_game_as(game, VCS_PROFILE_XITARI) : load_demo_as(VCS_PROFILE_XITARI, game);
    if (!cart && need_missing("relax_differences", "roms", game)) return EXIT_FAILURE;
    if (!cart) continue;
    for (int k = 0; k < atoi(argv[3]); k++) check_trial(cart, game, &tally);
    vcs_cart_free(cart);
    games++;
  }
  printf(
      "%d cartridges, %d trials of %d instructions: %ld outputs, %ld of them moving (%ld pixels); %ld equal to 1e-6, "
      "%ld rounded, %ld wrong, %ld sides not converged; the two products differ by %.1e\n",
      games, tally.trials, STEPS, tally.outputs, tally.moving, tally.pixels, tally.equal, tally.rounded, tally.wrong,
      tally.open, (vcs_narrow_t)tally.worst_pair);
  return tally.wrong || tally.open || tally.worst_pair > 1e-9 || tally.pixels < tally.trials;
}
