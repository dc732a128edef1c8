/* test_exact.c: the machine as an output of the exact Jacobian, and the method `exact`, against machines that are run.
 *
 * The expected values come from flips that are run here by vcs_frame, without code of src/grad.
 *
 *   test_exact             our cartridge, and some games whose images are in DIFFVCS_ROMS
 *   test_exact games       every game there
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carts.h"
#include "core/state.h"
#include "core/splitmix.h"
#include "diffvcs/grad.h"
#include "host/env.h"
#include "need.h"

static uint64_t random_state = 1;

static uint32_t below(uint32_t n) { return (uint32_t)(vcs_splitmix64(&random_state) % n); }

enum { FRAMES = 4, HORIZONS = 3 };
static const int32_t horizons[HORIZONS] = {1, 2, 4};

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  size_t size, pixels;
} fixture_t;

static bool open_fixture(fixture_t *s, const void *image, size_t size, const char *name) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = name};
  *s = (fixture_t){0};
  if (vcs_cart_load(image, size, &options, &s->cart, NULL) || vcs_env_create(s->cart, &s->env, NULL)) return false;
  for (int i = 0; i < 120; i++) vcs_env_act_on(s->env, (int)below(VCS_ACTIONS), VCS_NOOP);
  vcs_run_idle(s->env, FRAMES, s->controls, &s->run);
  for (int i = 0; i < FRAMES; i++) s->controls[i].held[0] = (uint8_t)(i % 2 ? below(32) : 0);
  s->size = vcs_state_size(s->cart);
  s->pixels = (size_t)(VCS_WIDTH * s->cart->frame_height);
  return true;
}

static bool open_demo(fixture_t *s) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  return open_fixture(s, image, size, "demo");
}

static bool open_game(fixture_t *s, const char *name) {
  size_t size;
  uint8_t *image = read_game(name, &size);
  const bool opened = image && open_fixture(s, image, size, name);
  free(image);
  return opened;
}

static void close_fixture(fixture_t *s) {
  vcs_env_free(s->env);
  vcs_cart_free(s->cart);
}

static vcs_place_t any_place(const fixture_t *s) {
  const uint8_t bit = (uint8_t)below(8);
  const vcs_place_t kinds[] = {
      {VCS_PLACE_STATE, bit, 0, (uint32_t)offsetof(vcs_t, ram) + below(128)},
      {VCS_PLACE_STATE, bit, 0, below((uint32_t)s->size)},
      {VCS_PLACE_INPUT, 0, (uint16_t)below(FRAMES), below(VCS_INPUTS)},
      {VCS_PLACE_ROM, bit, 0, below(s->cart->rom_size)},
  };
  return kinds[below(4)];
}

/* ---- Runs without src/grad ------------------------------------------------------------------------------------------
 */

typedef struct {
  uint8_t *state[FRAMES], *picture[FRAMES]; /* after each frame */
  double score[FRAMES];
} played_t;

static void flip_control(vcs_controls_t *controls, uint32_t input) {
  if (input >= VCS_INPUT_RESET) {
    controls->console ^= (uint8_t)(1u << (input - VCS_INPUT_RESET));
  } else {
    controls->held[input / VCS_INPUT_SECOND_PLAYER] ^= (uint8_t)(1u << input % VCS_INPUT_SECOND_PLAYER);
  }
}

static void play(const fixture_t *s, const vcs_place_t *flips, size_t count, played_t *played) {
  vcs_cart_t cart = *s->cart;
  vcs_t *m = malloc(s->size);
  uint8_t *rom = malloc(cart.rom_size), *frames = malloc((size_t)2 * VCS_FRAME_BYTES);
  vcs_controls_t controls[FRAMES];
  assert_non_null(m);
  assert_non_null(rom);
  assert_non_null(frames);
  memcpy(rom, s->cart->rom, cart.rom_size);
  memcpy(m, s->run.start, s->size);
  memcpy(frames, s->run.picture, (size_t)2 * VCS_FRAME_BYTES);
  memcpy(controls, s->controls, sizeof controls);
  for (size_t i = 0; i < count; i++) {
    const vcs_place_t *p = &flips[i];
    if (p->kind == VCS_PLACE_STATE) ((uint8_t *)m)[p->index] ^= (uint8_t)(1u << p->bit);
    if (p->kind == VCS_PLACE_ROM) rom[p->index] ^= (uint8_t)(1u << p->bit);
    if (p->kind == VCS_PLACE_INPUT) flip_control(&controls[p->frame], p->index);
  }
  cart.rom = rom;
  cart.code = NULL;
  vcs_play_t rules = s->env->play;
  double score = 0;
  for (int f = 0; f < FRAMES; f++) {
    vcs_control(&cart, m, &controls[f]);
    vcs_frame(&cart, m, frames);
    if (s->env->game) {
      vcs_game_code_step(s->env->code, &rules, m->ram, m->cart_ram);
      score += rules.reward;
    }
    played->score[f] = score;
    played->state[f] = malloc(s->size);
    played->picture[f] = malloc(s->pixels);
    memcpy(played->state[f], m, s->size);
    memcpy(played->picture[f], vcs_picture(m, frames), s->pixels);
  }
  free(m), free(rom), free(frames);
}

static void discard(played_t *played) {
  for (int f = 0; f < FRAMES; f++) free(played->state[f]), free(played->picture[f]);
}

/* Bytes that no output is computed from, as grad.h lists them: 1. */
static void list_hidden(uint8_t *hidden, size_t size) {
  static const char names[] =
      " frames instructions rng_draws scanlines bus audio audio_divider audio_five audio_four timer_read_cycle "
      "blank_clock blank_first ";
  const vcs_field_t *field;
  memset(hidden, 0, size);
  for (int i = 0; (field = vcs_field(i)); i++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", field->name);
    if (strstr(names, word)) memset(hidden + field->offset, 1, field->size * field->count);
  }
}

static bool is_cpu(size_t offset) {
  return (offset >= offsetof(vcs_t, a) && offset <= offsetof(vcs_t, p)) || offset == offsetof(vcs_t, pc) ||
         offset == offsetof(vcs_t, pc) + 1;
}

/* ---- The machine as an output
 * ---------------------------------------------------------------------------------------- */

/* Every byte of the machine at every horizon, for random single flips and pairs. Returns bytes that differ from runs.
 */
static size_t compare_states(const fixture_t *s, size_t count, size_t *changed) {
  vcs_place_t *places = calloc(2 * count, sizeof *places);
  size_t *ends = calloc(count, sizeof *ends), needed = 0, found = 0, wrong = 0, at = 0, last = 0;
  uint8_t *outcomes = calloc(count, 1), hidden[sizeof(vcs_t)];
  list_hidden(hidden, sizeof hidden);
  for (size_t i = 0; i < count; i++) {
    places[last++] = any_place(s);
    if (i % 8 == 0) places[last++] = any_place(s);
    ends[i] = last;
  }
  const vcs_jacobian_options_t options = {
      .of = VCS_OF_STATE | VCS_OF_CPU, .horizons = horizons, .horizon_count = HORIZONS, .threads = 1};
  vcs_jacobian(&s->run, &options, places, ends, count, NULL, 0, &needed, NULL, NULL);
  vcs_jacobian_entry_t *entries = calloc(needed + 1, sizeof *entries);
  assert_int_equal(vcs_jacobian(&s->run, &options, places, ends, count, entries, needed, &found, outcomes, NULL),
                   VCS_OK);
  played_t base, flipped;
  play(s, NULL, 0, &base);
  *changed += found;
  for (size_t i = 0; i < count; i++) {
    const size_t first = i ? ends[i - 1] : 0;
    if (outcomes[i] != VCS_TRUTH_RAN) continue;
    play(s, places + first, ends[i] - first, &flipped);
    for (int h = 0; h < HORIZONS; h++) {
      const uint8_t *was = base.state[horizons[h] - 1], *is = flipped.state[horizons[h] - 1];
      for (int of = VCS_OF_STATE; of <= VCS_OF_CPU; of *= 2) {
        for (size_t k = 0; k < s->size; k++) {
          if (was[k] == is[k] || hidden[k] || (of == VCS_OF_CPU && !is_cpu(k))) continue;
          const vcs_jacobian_entry_t want = {(uint32_t)i, (uint16_t)h, (uint16_t)of, (uint32_t)k, was[k], is[k]};
          if (at < found && memcmp(&entries[at], &want, sizeof want) == 0) {
            at++;
          } else if (wrong++ < 8) {
            fprintf(stderr, "flip %zu (kind %d index %u bit %d), horizon %d: byte %zu is %02x, was %02x: no entry\n", i,
                    places[first].kind, places[first].index, places[first].bit, horizons[h], k, is[k], was[k]);
          }
        }
      }
      while (at < found && entries[at].flip == i && entries[at].horizon == h) {
        if (wrong++ < 8) {
          fprintf(stderr, "flip %zu (kind %d index %u bit %d), horizon %d: entry for byte %u, %02x to %02x\n", i,
                  places[first].kind, places[first].index, places[first].bit, horizons[h], entries[at].index,
                  (unsigned)entries[at].base, (unsigned)entries[at].flipped);
        }
        at++;
      }
    }
    discard(&flipped);
  }
  wrong += found - at;
  discard(&base);
  free(places), free(ends), free(outcomes), free(entries);
  return wrong;
}

static void test_states_are_those_of_machines_that_are_run(void **context) {
  (void)context;
  static const char *const games[] = {"pong", "space_invaders", "pitfall2", "montezuma_revenge", "asteroids"};
  size_t changed = 0;
  fixture_t s;
  random_state = 3;
  assert_true(open_demo(&s));
  assert_int_equal(compare_states(&s, 400, &changed), 0);
  assert_true(changed > 1000);
  close_fixture(&s);
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    if (!open_game(&s, games[i])) continue;
    assert_int_equal(compare_states(&s, 200, &changed), 0);
    close_fixture(&s);
  }
}

/* ---- The method `exact`
 * ---------------------------------------------------------------------------------------------- */

typedef struct {
  float *pixels[FRAMES], *states[FRAMES], *state, rewards[FRAMES];
} sides_t;

static float *floats(size_t count) {
  float *data = calloc(count, sizeof *data);
  assert_non_null(data);
  return data;
}

static void make_sides(const fixture_t *s, sides_t *sides, bool filled) {
  sides->pixels[0] = sides->pixels[2] = NULL;
  sides->pixels[1] = floats(s->pixels), sides->pixels[3] = floats(s->pixels);
  sides->state = floats(8 * s->size);
  for (int f = 0; f < FRAMES; f++) sides->states[f] = f == 1 ? NULL : floats(8 * s->size);
  for (int f = 0; f < FRAMES; f++) {
    sides->rewards[f] = filled ? (float)below(5) - 2 : 0;
    for (size_t i = 0; filled && sides->pixels[f] && i < s->pixels; i++) sides->pixels[f][i] = (float)below(5) - 2;
    for (size_t i = 0; filled && sides->states[f] && i < 8 * s->size; i++) sides->states[f][i] = (float)below(3) - 1;
  }
  for (size_t i = 0; filled && i < 8 * s->size; i++) sides->state[i] = (float)below(3) - 1;
}

static void free_sides(sides_t *sides) {
  for (int f = 0; f < FRAMES; f++) free(sides->pixels[f]), free(sides->states[f]);
  free(sides->state);
}

static double bits_of(const float *weights, const uint8_t *was, const uint8_t *is, const uint8_t *hidden, size_t size) {
  double sum = 0;
  for (size_t i = 0; weights && i < 8 * size; i++) {
    if (!hidden[i / 8]) sum += (double)weights[i] * ((is[i / 8] >> i % 8 & 1) - (was[i / 8] >> i % 8 & 1));
  }
  return sum;
}

/* What the outputs are worth, with the flip minus without. */
static double worth(const fixture_t *s, const sides_t *w, const played_t *base, const played_t *flipped,
                    const float *scale) {
  uint8_t hidden[sizeof(vcs_t)];
  double sum = 0;
  list_hidden(hidden, sizeof hidden);
  for (int f = 0; f < FRAMES; f++) {
    for (size_t i = 0; w->pixels[f] && i < s->pixels; i++) {
      sum += (double)w->pixels[f][i] * ((double)scale[flipped->picture[f][i]] - (double)scale[base->picture[f][i]]);
    }
    sum += bits_of(w->states[f], base->state[f], flipped->state[f], hidden, s->size);
    const double reward = flipped->score[f] - (f ? flipped->score[f - 1] : 0);
    sum += (double)w->rewards[f] * (reward - (base->score[f] - (f ? base->score[f - 1] : 0)));
  }
  return sum + bits_of(w->state, base->state[FRAMES - 1], flipped->state[FRAMES - 1], hidden, s->size);
}

static void check_products(const fixture_t *s, int tries) {
  float scale[768];
  sides_t w, jv;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = VCS_METHOD_EXACT;
  options.scale = scale;
  vcs_pixel_values(s->cart, VCS_VALUES_LUMINANCE, scale);
  make_sides(s, &w, true);
  const size_t slots[3] = {8 * s->size, (size_t)8 * s->cart->rom_size, (size_t)VCS_INPUTS * FRAMES};
  float *got[3], *tangents[3];
  for (int k = 0; k < 3; k++) got[k] = floats(slots[k]), tangents[k] = floats(slots[k]);
  const vcs_grad_inputs_t back = {got[0], got[1], got[2]}, forth = {tangents[0], tangents[1], tangents[2]};
  vcs_grad_outputs_t outputs = {
      .pixels = w.pixels, .state = w.state, .states = w.states, .env = s->env, .rewards = w.rewards};
  vcs_error_t error = {""};
  assert_int_equal(vcs_grad_vjp(&s->run, &options, &back, &outputs, NULL, &error), VCS_OK);
  played_t base, flipped;
  play(s, NULL, 0, &base);
  int moved = 0;
  for (int i = 0; i < tries; i++) { /* w J, against runs */
    const vcs_place_t place = any_place(s);
    const size_t slot = place.kind == VCS_PLACE_INPUT ? (size_t)VCS_INPUTS * place.frame + place.index
                                                      : (size_t)8 * place.index + place.bit;
    const vcs_jacobian_options_t ask = {.of = VCS_OF_RAM};
    uint8_t outcome;
    size_t count;
    vcs_jacobian(&s->run, &ask, &place, NULL, 1, NULL, 0, &count, &outcome, NULL);
    if (outcome == VCS_TRUTH_IMPOSSIBLE) {
      assert_true(got[place.kind][slot] == 0);
      continue;
    }
    play(s, &place, 1, &flipped);
    double truth = worth(s, &w, &base, &flipped, scale);
    if (vcs_run_bit(&s->run, &place) == 1) truth = -truth;
    assert_true(fabs((double)got[place.kind][slot] - truth) <= 1e-6 * fabs(truth));
    moved += truth != 0;
    discard(&flipped);
  }
  assert_true(moved > tries / 8);
  make_sides(s, &jv, false); /* <w, J v> = <w J, v> */
  double left = 0, right = 0;
  for (int i = 0; i < 40; i++) {
    const vcs_place_t place = any_place(s);
    const size_t slot = place.kind == VCS_PLACE_INPUT ? (size_t)VCS_INPUTS * place.frame + place.index
                                                      : (size_t)8 * place.index + place.bit;
    tangents[place.kind][slot] = (float)below(9) - 4;
  }
  outputs = (vcs_grad_outputs_t){
      .pixels = jv.pixels, .state = jv.state, .states = jv.states, .env = s->env, .rewards = jv.rewards};
  assert_int_equal(vcs_grad_jvp(&s->run, &options, &forth, &outputs, NULL, &error), VCS_OK);
  for (int f = 0; f < FRAMES; f++) {
    for (size_t i = 0; w.pixels[f] && i < s->pixels; i++) left += (double)w.pixels[f][i] * (double)jv.pixels[f][i];
    for (size_t i = 0; w.states[f] && i < 8 * s->size; i++) left += (double)w.states[f][i] * (double)jv.states[f][i];
    left += (double)w.rewards[f] * (double)jv.rewards[f];
  }
  for (size_t i = 0; i < 8 * s->size; i++) left += (double)w.state[i] * (double)jv.state[i];
  for (int k = 0; k < 3; k++) {
    for (size_t i = 0; i < slots[k]; i++) right += (double)tangents[k][i] * (double)got[k][i];
  }
  assert_true(left != 0 && fabs(left - right) <= 1e-4 * fabs(left));
  for (int k = 0; k < 3; k++) free(got[k]), free(tangents[k]);
  discard(&base);
  free_sides(&w);
  free_sides(&jv);
}

static void test_products_are_those_of_machines_that_are_run(void **context) {
  (void)context;
  static const char *const games[] = {"breakout", "space_invaders"};
  fixture_t s;
  random_state = 4;
  assert_true(open_demo(&s));
  check_products(&s, 300);
  close_fixture(&s);
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    if (!open_game(&s, games[i])) continue;
    check_products(&s, 100);
    close_fixture(&s);
  }
}

/* ---- The method `hybrid` ------------------------------------------------------------------------------------------
 */

enum { SOURCES = 3 };

/* The derivatives of the last picture, by a method, with respect to everything or to all but the image. */
static void differentiate(const fixture_t *s, const vcs_grad_options_t *options, bool rom, float *slots[SOURCES],
                          vcs_grad_report_t *report) {
  float *pixels[FRAMES] = {NULL}, *weights = floats(s->pixels);
  for (size_t i = 0; i < s->pixels; i++) weights[i] = (float)(i % 7) - 3;
  pixels[FRAMES - 1] = weights;
  slots[0] = floats(8 * s->size), slots[1] = floats((size_t)8 * s->cart->rom_size);
  slots[2] = floats((size_t)VCS_INPUTS * FRAMES);
  const vcs_grad_inputs_t in = {slots[0], rom ? slots[1] : NULL, slots[2]};
  const vcs_grad_outputs_t out = {.pixels = pixels};
  assert_int_equal(vcs_grad_vjp(&s->run, options, &in, &out, report, NULL), VCS_OK);
  free(weights);
}

static void free_slots(float *slots[SOURCES]) {
  for (int k = 0; k < SOURCES; k++) free(slots[k]);
}

static bool is_number(size_t slot) {
  static const char names[] = " cycles timer_cycle dump_cycle paddle pos ";
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", field->name);
    if (strstr(names, word) && slot / 8 >= field->offset && slot / 8 < field->offset + field->size * field->count)
      return true;
  }
  return false;
}

/* The squared distance of two products over RAM and the inputs. */
static double distance(float *const one[SOURCES], float *const other[SOURCES]) {
  double sum = 0;
  for (size_t i = 0; i < 1024; i++) {
    const size_t slot = 8 * offsetof(vcs_t, ram) + i;
    sum += pow((double)one[0][slot] - (double)other[0][slot], 2);
  }
  for (size_t i = 0; i < (size_t)VCS_INPUTS * FRAMES; i++) sum += pow((double)one[2][i] - (double)other[2][i], 2);
  return sum;
}

static void check_hybrid(const fixture_t *s) {
  float *exact[SOURCES], *forked[SOURCES], *poor[SOURCES], *rich[SOURCES], *between[SOURCES], *again[SOURCES];
  vcs_grad_report_t report;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256;
  differentiate(s, &options, true, forked, NULL);
  options.method = VCS_METHOD_EXACT;
  options.fork_window = 0;
  differentiate(s, &options, true, exact, NULL);
  options.method = VCS_METHOD_HYBRID;

  options.budget = 1e-3; /* pays for nothing */
  differentiate(s, &options, true, poor, &report);
  assert_int_equal(report.branches, 0);
  assert_memory_equal(poor[0], forked[0], 8 * s->size * sizeof(float));
  assert_memory_equal(poor[1], forked[1], (size_t)8 * s->cart->rom_size * sizeof(float));
  assert_memory_equal(poor[2], forked[2], (size_t)VCS_INPUTS * FRAMES * sizeof(float));

  options.budget = 1e9; /* pays for everything */
  differentiate(s, &options, true, rich, &report);
  assert_true(report.branches > 8 * ((size_t)s->cart->rom_size + 128));
  for (size_t i = 0; i < 8 * s->size; i++) assert_true(rich[0][i] == (is_number(i) ? forked : exact)[0][i]);
  assert_memory_equal(rich[1], exact[1], (size_t)8 * s->cart->rom_size * sizeof(float));
  assert_memory_equal(rich[2], exact[2], (size_t)VCS_INPUTS * FRAMES * sizeof(float));

  options.budget = 30 * FRAMES; /* pays for some bits, and these are not the worst choice */
  options.threads = 1;
  differentiate(s, &options, false, between, &report);
  const uint64_t flipped = report.branches;
  assert_true(flipped > 0 && flipped < 8 * s->size);
  assert_true(distance(between, exact) < distance(forked, exact) || distance(forked, exact) == 0);
  options.threads = 3;
  differentiate(s, &options, false, again, &report);
  assert_int_equal(report.branches, flipped);
  assert_memory_equal(again[0], between[0], 8 * s->size * sizeof(float));
  free_slots(exact), free_slots(forked), free_slots(poor), free_slots(rich), free_slots(between), free_slots(again);
}

/* Forwards: `hybrid` splits the tangents between the exact product and the estimate. */
static void check_hybrid_forwards(const fixture_t *s) {
  enum { CAUSES = 40 };
  vcs_grad_options_t options;
  vcs_grad_report_t report;
  float *tangents = floats(8 * s->size), *maps[4][FRAMES] = {{NULL}};
  vcs_grad_defaults(&options);
  for (int i = 0; i < CAUSES; i++) tangents[8 * (offsetof(vcs_t, ram) + below(128)) + below(8)] = (float)(i + 1);
  const vcs_grad_inputs_t in = {.state = tangents};
  static const vcs_method_t methods[4] = {VCS_METHOD_EXACT, VCS_METHOD_BIT, VCS_METHOD_HYBRID, VCS_METHOD_HYBRID};
  for (int k = 0; k < 4; k++) {
    maps[k][FRAMES - 1] = floats(s->pixels);
    const vcs_grad_outputs_t out = {.pixels = maps[k]};
    options.method = methods[k];
    options.fork_window = k == 1 ? 256 : 0;
    options.budget = k == 3 ? 1e-3 : 0;
    assert_int_equal(vcs_grad_jvp(&s->run, &options, &in, &out, &report, NULL), VCS_OK);
    if (k == 2) assert_true(report.branches > 0);
    if (k == 3) assert_int_equal(report.branches, 0);
  }
  assert_memory_equal(maps[2][FRAMES - 1], maps[0][FRAMES - 1], s->pixels * sizeof(float));
  assert_memory_equal(maps[3][FRAMES - 1], maps[1][FRAMES - 1], s->pixels * sizeof(float));
  for (int k = 0; k < 4; k++) free(maps[k][FRAMES - 1]);
  free(tangents);
}

static void test_hybrid_is_between_an_estimate_and_the_truth(void **context) {
  (void)context;
  static const char *const games[] = {"space_invaders", "qbert"};
  fixture_t s;
  random_state = 5;
  assert_true(open_demo(&s));
  check_hybrid(&s);
  check_hybrid_forwards(&s);
  close_fixture(&s);
  for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
    if (!open_game(&s, games[i])) continue;
    check_hybrid(&s);
    check_hybrid_forwards(&s);
    close_fixture(&s);
  }
}

static void test_what_exact_cannot_do_is_refused(void **context) {
  (void)context;
  fixture_t s;
  vcs_grad_options_t options;
  vcs_error_t error = {""};
  assert_true(open_demo(&s));
  vcs_grad_defaults(&options);
  options.method = VCS_METHOD_EXACT;
  const vcs_grad_inputs_t in = {0};
  const vcs_grad_outputs_t out = {0};
  assert_int_equal(vcs_grad_vjp_directional(NULL, &s.run, &options, &in, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
  options.method = VCS_METHOD_HYBRID;
  options.budget = -1;
  assert_int_equal(vcs_grad_vjp(&s.run, &options, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
  options.budget = 0;
  options.method = VCS_METHODS;
  assert_int_equal(vcs_grad_vjp(&s.run, &options, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
  const vcs_jacobian_options_t wrong = {.of = 64};
  size_t count;
  const vcs_place_t place = {VCS_PLACE_STATE, 0, 0, 0};
  assert_int_equal(vcs_jacobian(&s.run, &wrong, &place, NULL, 1, NULL, 0, &count, NULL, &error), VCS_BAD_ARGUMENT);
  close_fixture(&s);
}

static int sweep_games(void) {
  const char *folder = rom_folder();
  DIR *directory = folder ? opendir(folder) : NULL;
  size_t changed = 0, wrong = 0, games = 0;
  if (!directory) return 77;
  for (const struct dirent *entry; (entry = readdir(directory));) {
    char name[256];
    fixture_t s;
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".bin") != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(length - 4), entry->d_name);
    if (!open_game(&s, name)) continue;
    const size_t here = compare_states(&s, 400, &changed);
    if (here) printf("%s: %zu bytes differ\n", name, here);
    wrong += here;
    games++;
    close_fixture(&s);
  }
  closedir(directory);
  printf("%zu games, %zu bytes changed, %zu of them wrong\n", games, changed, wrong);
  return wrong != 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "games") == 0) return sweep_games();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_states_are_those_of_machines_that_are_run),
      cmocka_unit_test(test_products_are_those_of_machines_that_are_run),
      cmocka_unit_test(test_hybrid_is_between_an_estimate_and_the_truth),
      cmocka_unit_test(test_what_exact_cannot_do_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
