/* Truth: against a simple implementation: it copies the machine, flips the bit, and draws every frame to the end into
 * buffers of its own. On our own cartridge and on one with ragged frames, which show rows of earlier frames; state,
 * ROM and inputs, several horizons, sets, pairs, maps, scores, any number of threads. Equality with ale-py's setRAM is
 * tests/ale_truth_live.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "brief.h"
#include "grad/rerun.h"
#include "host/hash.h"
#include "host/save.h"
#include "ragged.h"

enum { FRAMES = 24, RAM_BITS = 1024 };
static const int32_t horizons[] = {1, 2, 7, FRAMES};
enum { HORIZONS = sizeof horizons / sizeof *horizons };

/* ---- Fixtures ------------------------------------------------------------------------------------------------- */

/* A game in the middle of a run of FRAMES frames with input. */
typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
} fixture_t;

static void open_fixture(fixture_t *fixture, bool ragged, int played) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  uint8_t image[4096];
  size_t size = sizeof image;
  ragged_image(image);
  const uint8_t *from = ragged ? image : vcs_demo_image(&size);
  vcs_error_t error;
  if (vcs_cart_load(from, size, &options, &fixture->cart, &error)) fail_msg("%s", error.message);
  if (vcs_env_create(fixture->cart, &fixture->env, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < played; i++) vcs_env_act_on(fixture->env, i / 5 % VCS_ACTIONS, VCS_NOOP);
  vcs_run_idle(fixture->env, FRAMES, fixture->controls, &fixture->run);
  for (int i = 0; i < FRAMES; i++) fixture->controls[i].held[0] = (uint8_t)(i / 3 * 5 % 32);
}

static void close_fixture(fixture_t *fixture) {
  vcs_env_free(fixture->env);
  vcs_cart_free(fixture->cart);
}

/* ---- The twin ----------------------------------------------------------------------------------------------- */

typedef struct {
  uint8_t picture[HORIZONS][VCS_FRAME_BYTES], ram[HORIZONS][128];
  int32_t score[HORIZONS];
  bool possible;
} outcome_t;

static size_t pixels_of(const fixture_t *fixture) { return (size_t)VCS_WIDTH * (size_t)vcs_env_height(fixture->env); }

static void flip_by_hand(const vcs_place_t *place, vcs_t *m, uint8_t *rom, vcs_controls_t *controls) {
  static const uint8_t held[] = {VCS_HELD_UP, VCS_HELD_DOWN, VCS_HELD_LEFT, VCS_HELD_RIGHT, VCS_HELD_FIRE};
  if (place->kind == VCS_PLACE_STATE) ((uint8_t *)m)[place->index] ^= (uint8_t)(1 << place->bit);
  if (place->kind == VCS_PLACE_ROM) rom[place->index] ^= (uint8_t)(1 << place->bit);
  if (place->kind != VCS_PLACE_INPUT) return;
  vcs_controls_t *frame = &controls[place->frame];
  if (place->index == VCS_INPUT_RESET) {
    frame->console ^= VCS_CONSOLE_RESET;
  } else if (place->index == VCS_INPUT_SELECT) {
    frame->console ^= VCS_CONSOLE_SELECT;
  } else {
    frame->held[place->index / 5] ^= held[place->index % 5];
  }
}

static void run_twin(const fixture_t *fixture, const vcs_place_t *flips, size_t count, outcome_t *outcome) {
  vcs_cart_t cart = *fixture->cart;
  vcs_controls_t controls[FRAMES];
  vcs_t *m = malloc(sizeof *m);
  uint8_t *frames = malloc(2 * VCS_FRAME_BYTES), *rom = malloc(cart.rom_size);
  vcs_play_t play = fixture->env->play;
  int32_t score = 0;
  memcpy(m, fixture->run.start, vcs_state_size(&cart));
  memcpy(frames, fixture->run.picture, 2 * VCS_FRAME_BYTES);
  memcpy(rom, cart.rom, cart.rom_size);
  memcpy(controls, fixture->controls, sizeof controls);
  cart.rom = rom;
  cart.code = NULL; /* bytes change */
  for (size_t i = 0; i < count; i++) flip_by_hand(&flips[i], m, rom, controls);
  outcome->possible = vcs_machine_is_possible(&cart, m);
  for (int i = 0, h = 0; i < FRAMES && outcome->possible; i++) {
    vcs_control(&cart, m, &controls[i]);
    vcs_frame(&cart, m, frames);
    if (fixture->env->game) {
      vcs_game_code_step(fixture->env->code, &play, m->ram, m->cart_ram);
      score += play.reward;
    }
    if (i + 1 != horizons[h]) continue;
    memcpy(outcome->picture[h], vcs_picture(m, frames), pixels_of(fixture));
    memcpy(outcome->ram[h], m->ram, 128);
    outcome->score[h++] = score;
  }
  free(m);
  free(frames);
  free(rom);
}

static void check_row(const fixture_t *fixture, const vcs_truth_t *row, int h, const outcome_t *base,
                      const outcome_t *flipped, int sign) {
  int pixels = 0, bytes = 0;
  if (!flipped->possible) {
    assert_int_equal(row->outcome, VCS_TRUTH_IMPOSSIBLE);
    return;
  }
  for (size_t i = 0; i < pixels_of(fixture); i++) pixels += flipped->picture[h][i] != base->picture[h][i];
  for (int i = 0; i < 128; i++) bytes += flipped->ram[h][i] != base->ram[h][i];
  assert_int_equal(row->outcome, VCS_TRUTH_RAN);
  assert_int_equal(row->pixels, pixels);
  assert_int_equal(row->ram_bytes, bytes);
  assert_int_equal(row->screen_crc, vcs_crc32(flipped->picture[h], pixels_of(fixture)));
  assert_int_equal(row->ram_crc, vcs_crc32(flipped->ram[h], 128));
  assert_int_equal(row->score, sign * (flipped->score[h] - base->score[h]));
}

/* ---- Places ------------------------------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*state >> 33) % below);
}

/* Some of every kind. */
static void draw_places(const fixture_t *fixture, vcs_place_t *places, size_t count) {
  uint64_t state = 7;
  for (size_t i = 0; i < count; i++) {
    const uint8_t bit = (uint8_t)draw(&state, 8);
    const uint32_t ram = (uint32_t)offsetof(vcs_t, ram) + draw(&state, 128);
    const vcs_place_t kinds[] = {
        {VCS_PLACE_STATE, bit, 0, ram},
        {VCS_PLACE_STATE, bit, 0, draw(&state, (uint32_t)vcs_state_size(fixture->cart))},
        {VCS_PLACE_ROM, bit, 0, draw(&state, 0x48)},
        {VCS_PLACE_INPUT, 0, (uint16_t)draw(&state, FRAMES), draw(&state, VCS_INPUTS)},
    };
    places[i] = kinds[i % 4];
  }
  places[0] = (vcs_place_t){VCS_PLACE_STATE, 4, 0, (uint32_t)offsetof(vcs_t, ram)}; /* ragged: the frame counter */
  places[1] = (vcs_place_t){VCS_PLACE_STATE, 7, 0, (uint32_t)offsetof(vcs_t, pos)}; /* 128 too far: often impossible */
  places[2] = (vcs_place_t){VCS_PLACE_STATE, 0, 0, (uint32_t)offsetof(vcs_t, front)}; /* the other buffer */
}

/* ---- Tests -------------------------------------------------------------------------------------------------- */

static void check_singles(bool ragged, int played) {
  enum { PLACES = 240 };
  fixture_t fixture;
  vcs_place_t places[PLACES];
  vcs_truth_t rows[PLACES][HORIZONS], again[PLACES][HORIZONS], own[HORIZONS];
  outcome_t *base = malloc(sizeof *base), *flipped = malloc(sizeof *flipped);
  int changed = 0;
  open_fixture(&fixture, ragged, played);
  draw_places(&fixture, places, PLACES);
  vcs_truth_options_t options = {.horizons = horizons, .horizon_count = HORIZONS, .env = fixture.env, .threads = 1};
  vcs_truth_results_t results = {.base = own, .rows = rows[0]};
  const uint64_t before = vcs_hash(fixture.cart, fixture.run.start);
  assert_int_equal(vcs_truth(&fixture.run, &options, places, PLACES, &results, NULL), VCS_OK);
  options.threads = 3;
  results.rows = again[0];
  assert_int_equal(vcs_truth(&fixture.run, &options, places, PLACES, &results, NULL), VCS_OK);
  assert_true(vcs_hash(fixture.cart, fixture.run.start) == before);
  run_twin(&fixture, NULL, 0, base);
  for (int h = 0; h < HORIZONS; h++) check_row(&fixture, &own[h], h, base, base, 1);
  for (int i = 0; i < PLACES; i++) {
    run_twin(&fixture, &places[i], 1, flipped);
    const int sign = vcs_place_bit(&fixture.run, &places[i]) ? -1 : 1;
    for (int h = 0; h < HORIZONS; h++) {
      check_row(&fixture, &rows[i][h], h, base, flipped, sign);
      check_row(&fixture, &again[i][h], h, base, flipped, sign);
      changed += rows[i][h].pixels > 0;
    }
  }
  assert_true(changed > 10);
  free(base);
  free(flipped);
  close_fixture(&fixture);
}

static void test_truth_equals_running_by_hand(void **context) {
  (void)context;
  check_singles(false, 100);
}

/* In some of these the run itself is ragged, in some only flips make it so. */
static void test_truth_shows_old_rows_as_a_run_that_draws_everything(void **context) {
  (void)context;
  for (int played = 1; played < 40; played += trials(9, 36)) check_singles(true, played);
}

static void test_truth_maps_are_signed_differences_and_add_up(void **context) {
  (void)context;
  enum { PLACES = 40 };
  fixture_t fixture;
  vcs_place_t places[PLACES];
  float values[768];
  outcome_t *base = malloc(sizeof *base), *flipped = malloc(sizeof *flipped);
  open_fixture(&fixture, false, 60);
  draw_places(&fixture, places, PLACES);
  const size_t pixels = pixels_of(&fixture);
  float *map = malloc(PLACES * HORIZONS * pixels * 3 * sizeof *map),
        *ram = malloc(sizeof(float) * PLACES * HORIZONS * RAM_BITS);
  run_twin(&fixture, NULL, 0, base);
  for (int kind = VCS_VALUES_INDEX; kind <= VCS_VALUES_RGB; kind++) {
    const int32_t channels = vcs_pixel_values(fixture.cart, kind, values);
    const size_t size = pixels * (size_t)channels;
    const vcs_truth_options_t options = {
        .horizons = horizons, .horizon_count = HORIZONS, .values = values, .channels = channels};
    const vcs_truth_results_t results = {.pixels = map, .ram = ram};
    for (size_t i = 0; i < PLACES * HORIZONS * size; i++) map[i] = 5;
    for (size_t i = 0; i < (size_t)PLACES * HORIZONS * RAM_BITS; i++) ram[i] = 5;
    assert_int_equal(vcs_truth(&fixture.run, &options, places, PLACES, &results, NULL), VCS_OK);
    for (size_t i = 0; i < PLACES; i++) {
      run_twin(&fixture, &places[i], 1, flipped);
      const bool set = vcs_place_bit(&fixture.run, &places[i]);
      const outcome_t *one = !flipped->possible || set ? base : flipped,
                      *zero = !flipped->possible || !set ? base : flipped;
      for (size_t h = 0; h < HORIZONS; h++) {
        const float *at = map + (i * HORIZONS + h) * size, *bits = ram + (i * HORIZONS + h) * RAM_BITS;
        for (size_t k = 0; k < size; k++) {
          const size_t pixel = k / (size_t)channels, c = k % (size_t)channels;
          const float want =
              values[one->picture[h][pixel] * channels + c] - values[zero->picture[h][pixel] * channels + c];
          if (at[k] != 5 + want) fail_msg("place %zu horizon %zu pixel %zu: %g, not %g", i, h, pixel, at[k] - 5, want);
        }
        for (int k = 0; k < RAM_BITS; k++) {
          const int want = (one->ram[h][k / 8] >> k % 8 & 1) - (zero->ram[h][k / 8] >> k % 8 & 1);
          assert_int_equal((int)bits[k], 5 + want);
        }
      }
    }
  }
  free(map);
  free(ram);
  free(base);
  free(flipped);
  close_fixture(&fixture);
}

static void test_truth_of_sets(void **context) {
  (void)context;
  enum { PLACES = 60 };
  static const size_t ends[] = {1, 3, 3, 10, 30, PLACES};
  enum { SETS = sizeof ends / sizeof *ends };
  for (int ragged = 0; ragged < 2; ragged++) {
    fixture_t fixture;
    vcs_place_t places[PLACES];
    vcs_truth_t rows[SETS][HORIZONS];
    outcome_t *base = malloc(sizeof *base), *flipped = malloc(sizeof *flipped);
    open_fixture(&fixture, ragged, 21);
    draw_places(&fixture, places, PLACES);
    for (int i = 0; i < PLACES; i++) { /* sets of odd state are hardly ever possible */
      if (places[i].kind == VCS_PLACE_STATE) places[i].index = (uint32_t)offsetof(vcs_t, ram) + places[i].index % 128;
    }
    const vcs_truth_options_t options = {.horizons = horizons, .horizon_count = HORIZONS};
    const vcs_truth_results_t results = {.rows = rows[0]};
    assert_int_equal(vcs_truth_sets(&fixture.run, &options, places, ends, SETS, &results, NULL), VCS_OK);
    run_twin(&fixture, NULL, 0, base);
    for (int i = 0; i < SETS; i++) {
      const size_t first = i ? ends[i - 1] : 0;
      run_twin(&fixture, places + first, ends[i] - first, flipped);
      for (int h = 0; h < HORIZONS; h++) {
        rows[i][h].score = flipped->score[h] - base->score[h]; /* no environment, no score */
        check_row(&fixture, &rows[i][h], h, base, flipped, 1);
      }
    }
    free(base);
    free(flipped);
    close_fixture(&fixture);
  }
}

static void test_truth_of_pairs(void **context) {
  (void)context;
  enum { PLACES = 10, PAIRS = PLACES * (PLACES - 1) / 2 };
  fixture_t fixture;
  vcs_place_t places[PLACES];
  size_t pairs[PAIRS][2], n = 0;
  vcs_truth_t rows[PAIRS][HORIZONS];
  float values[768];
  int interacting = 0;
  open_fixture(&fixture, true, 33);
  for (uint8_t i = 0; i < PLACES; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_STATE, i % 8, 0, (uint32_t)offsetof(vcs_t, ram) + (i < 8 ? 0 : 5u)};
  }
  places[9] = (vcs_place_t){VCS_PLACE_INPUT, 0, 5, VCS_INPUT_LEFT};
  for (size_t i = 0; i < PLACES; i++) {
    for (size_t j = i + 1; j < PLACES; j++) pairs[n][0] = i, pairs[n++][1] = j;
  }
  const size_t pixels = pixels_of(&fixture);
  float *map = calloc(PAIRS * HORIZONS * pixels, sizeof *map),
        *ram = calloc((size_t)PAIRS * HORIZONS * RAM_BITS, sizeof *ram);
  const vcs_truth_options_t options = {.horizons = horizons,
                                       .horizon_count = HORIZONS,
                                       .env = fixture.env,
                                       .values = values,
                                       .channels = vcs_pixel_values(fixture.cart, VCS_VALUES_INDEX, values)};
  const vcs_truth_results_t results = {.rows = rows[0], .pixels = map, .ram = ram};
  assert_int_equal(
      vcs_truth_pairs(&fixture.run, &options, places, PLACES, (const size_t(*)[2])pairs, PAIRS, &results, NULL),
      VCS_OK);
  outcome_t *base = malloc(sizeof *base), *one = malloc(sizeof *one), *two = malloc(sizeof *two),
            *both = malloc(sizeof *both);
  run_twin(&fixture, NULL, 0, base);
  for (size_t i = 0; i < PAIRS; i++) {
    const vcs_place_t flips[2] = {places[pairs[i][0]], places[pairs[i][1]]};
    const bool negative = vcs_place_bit(&fixture.run, &flips[0]) != vcs_place_bit(&fixture.run, &flips[1]);
    run_twin(&fixture, &flips[0], 1, one);
    run_twin(&fixture, &flips[1], 1, two);
    run_twin(&fixture, flips, 2, both);
    for (size_t h = 0; h < HORIZONS; h++) {
      int different = 0, bytes = 0;
      for (size_t k = 0; k < pixels; k++) {
        int want = both->picture[h][k] - one->picture[h][k] - two->picture[h][k] + base->picture[h][k];
        if (negative) want = -want;
        different += want != 0;
        if (map[(i * HORIZONS + h) * pixels + k] != (float)want) fail_msg("pair %zu horizon %zu pixel %zu", i, h, k);
      }
      for (int k = 0; k < 128; k++) bytes += both->ram[h][k] - one->ram[h][k] - two->ram[h][k] + base->ram[h][k] != 0;
      assert_int_equal(rows[i][h].pixels, different);
      assert_int_equal(rows[i][h].ram_bytes, bytes);
      assert_int_equal(rows[i][h].screen_crc, vcs_crc32(both->picture[h], pixels));
      interacting += different > 0;
    }
  }
  assert_true(interacting > 0);
  free(map);
  free(ram);
  free(base);
  free(one);
  free(two);
  free(both);
  close_fixture(&fixture);
}

static void ignore(void *context, int horizon, const vcs_sight_t *sight) { (void)context, (void)horizon, (void)sight; }

/* A byte that the game overwrites without reading, a register nothing is computed from: one frame is enough to know. */
static void test_truth_cuts_runs_that_rejoin(void **context) {
  (void)context;
  static const size_t offsets[] = {offsetof(vcs_t, audio), offsetof(vcs_t, bus), offsetof(vcs_t, instructions)};
  static const int32_t end = FRAMES;
  for (int ragged = 0; ragged < 2; ragged++) {
    fixture_t fixture;
    vcs_base_t base;
    vcs_runner_t runner;
    bool possible;
    const vcs_view_t view = {.horizons = &end, .horizon_count = 1, .pictures = true};
    open_fixture(&fixture, ragged, 35);
    assert_int_equal(vcs_base_create(&base, &fixture.run, &view, NULL), VCS_OK);
    assert_int_equal(vcs_base_record(&base, &possible, NULL), VCS_OK);
    assert_int_equal(vcs_runner_create(&runner, &base, NULL), VCS_OK);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
      const vcs_place_t place = {VCS_PLACE_STATE, 3, 0, (uint32_t)offsets[i]};
      runner.frames_run = 0;
      assert_true(vcs_rerun(&base, &runner, &place, 1, ignore, NULL));
      assert_int_equal(runner.frames_run, 1);
    }
    const vcs_place_t late = {VCS_PLACE_INPUT, 0, FRAMES - 2, VCS_INPUT_UP};
    runner.frames_run = 0;
    assert_true(vcs_rerun(&base, &runner, &late, 1, ignore, NULL));
    assert_true(runner.frames_run <= 2);
    vcs_runner_free(&runner);
    vcs_base_free(&base);
    close_fixture(&fixture);
  }
}

/* Inverting a byte that is marked unread changes nothing; executed bytes are not marked. */
static void test_truth_knows_rom_that_is_not_read(void **context) {
  (void)context;
  static const int32_t end = FRAMES;
  for (int ragged = 0; ragged < 2; ragged++) {
    fixture_t fixture;
    vcs_base_t base;
    bool possible;
    uint32_t unread = 0;
    const vcs_view_t view = {.horizons = &end, .horizon_count = 1, .pictures = true, .rom = true};
    outcome_t *plain = malloc(sizeof *plain), *inverted = malloc(sizeof *inverted);
    open_fixture(&fixture, ragged, 35);
    assert_int_equal(vcs_base_create(&base, &fixture.run, &view, NULL), VCS_OK);
    assert_int_equal(vcs_base_record(&base, &possible, NULL), VCS_OK);
    vcs_base_find_unread(&base);
    assert_non_null(base.unread);
    run_twin(&fixture, NULL, 0, plain);
    for (uint32_t i = 0; i < base.cart.rom_size; i++) {
      vcs_place_t byte[8];
      unread += base.unread[i];
      if (!base.unread[i] || i % (uint32_t)trials(13, 97)) continue;
      for (uint8_t bit = 0; bit < 8; bit++) byte[bit] = (vcs_place_t){VCS_PLACE_ROM, bit, 0, i};
      run_twin(&fixture, byte, 8, inverted);
      assert_memory_equal(plain->ram, inverted->ram, sizeof plain->ram);
      for (int h = 0; h < HORIZONS; h++) {
        assert_memory_equal(plain->picture[h], inverted->picture[h], pixels_of(&fixture));
      }
    }
    assert_true(unread > 1000 && unread < 4090);
    for (uint32_t i = 0x05; ragged && i < 0x16; i++) assert_int_equal(base.unread[i], 0);
    vcs_base_free(&base);
    free(plain);
    free(inverted);
    close_fixture(&fixture);
  }
}

static void test_truth_refuses_what_is_not_there(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_truth_t rows[4];
  vcs_error_t error;
  open_fixture(&fixture, false, 5);
  const vcs_truth_results_t results = {.rows = rows};
  const vcs_place_t fine = {VCS_PLACE_STATE, 0, 0, 0};
  const vcs_place_t wrong[] = {{9, 0, 0, 0},
                               {VCS_PLACE_STATE, 8, 0, 0},
                               {VCS_PLACE_STATE, 0, 0, (uint32_t)vcs_state_size(fixture.cart)},
                               {VCS_PLACE_ROM, 0, 0, 4096},
                               {VCS_PLACE_INPUT, 1, 0, 0},
                               {VCS_PLACE_INPUT, 0, FRAMES, 0},
                               {VCS_PLACE_INPUT, 0, 0, VCS_INPUTS}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(vcs_truth(&fixture.run, NULL, &wrong[i], 1, &results, &error), VCS_BAD_ARGUMENT);
    assert_true(strlen(error.message) > 0);
  }
  static const int32_t backwards[] = {2, 1}, far[] = {FRAMES + 1}, none[] = {0};
  const vcs_truth_options_t bad[] = {{.horizons = backwards, .horizon_count = 2},
                                     {.horizons = far, .horizon_count = 1},
                                     {.horizons = none, .horizon_count = 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(vcs_truth(&fixture.run, &bad[i], &fine, 1, &results, &error), VCS_BAD_ARGUMENT);
  }
  float map[1];
  const vcs_truth_results_t no_values = {.pixels = map};
  assert_int_equal(vcs_truth(&fixture.run, NULL, &fine, 1, &no_values, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth(&fixture.run, NULL, &fine, 1, NULL, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth(NULL, NULL, &fine, 1, &results, &error), VCS_BAD_ARGUMENT);
  vcs_run_t empty = fixture.run;
  empty.frames = 0;
  assert_int_equal(vcs_truth(&empty, NULL, &fine, 1, &results, &error), VCS_BAD_ARGUMENT);
  const size_t same[][2] = {{0, 0}}, descending[] = {2, 1};
  assert_int_equal(vcs_truth_pairs(&fixture.run, NULL, &fine, 1, same, 1, &results, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth_sets(&fixture.run, NULL, &fine, descending, 2, &results, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth(&fixture.run, NULL, &fine, 1, &results, &error), VCS_OK);
  assert_int_equal(vcs_truth(&fixture.run, NULL, NULL, 0, &results, &error), VCS_OK);
  assert_int_equal(vcs_truth(&fixture.run, NULL, NULL, 1, &results, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth_sets(&fixture.run, NULL, &fine, NULL, 1, &results, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_truth_pairs(&fixture.run, NULL, &fine, 1, NULL, 1, &results, &error), VCS_BAD_ARGUMENT);
  close_fixture(&fixture);
}

static void test_truth_idle_run_is_what_the_environment_does(void **context) {
  (void)context;
  fixture_t fixture;
  vcs_truth_t end;
  open_fixture(&fixture, false, 80);
  vcs_run_idle(fixture.env, FRAMES, fixture.controls, &fixture.run);
  const vcs_truth_results_t results = {.base = &end};
  assert_int_equal(vcs_truth(&fixture.run, NULL, NULL, 0, &results, NULL), VCS_OK);
  for (int i = 0; i < FRAMES; i++) vcs_env_act_on(fixture.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal(end.screen_crc, vcs_crc32(vcs_env_screen(fixture.env), pixels_of(&fixture)));
  assert_int_equal(end.ram_crc, vcs_crc32(vcs_env_ram(fixture.env), 128));
  close_fixture(&fixture);
}

/* A program whose frames end with the program counter at 0, in the TIA, which drives two bits of a byte and leaves the
 * last byte on the bus in the others. After a frame of an environment that is the last byte of RAM, $18 here: CLC. So
 * the processor executes instructions of one byte up to RAM, where it jumps back to the image. With the byte of the
 * last instruction, 0, it would execute BRK, which jumps to $85 and takes one from the counter of frames. */
static void test_truth_of_a_program_in_the_tia_is_what_the_environment_does(void **context) {
  static const uint8_t program[] = {
      0xA2, 0xFF, 0x9A,                                           /* LDX #$FF, TXS */
      0xA2, 0x09, 0xBD, 0x22, 0xF0, 0x95, 0x80, 0xCA, 0x10, 0xF8, /* copy ten bytes from $F022 to $80 */
      0xA9, 0x18, 0x85, 0xFF,                                     /* $FF: CLC */
      0xE6, 0x90,                                                 /* INC $90 counts frames */
      0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, /* VSYNC for three lines */
      0xA9, 0x00, 0x4C, 0xFE, 0xFF,                               /* LDA #0, JMP to STA VSYNC at $FFFE */
      0x4C, 0x00, 0xF0, 0xEA, 0xEA,                               /* $80: JMP $F000 */
      0xC6, 0x90, 0x4C, 0x00, 0xF0,                               /* $85: DEC $90, JMP $F000 */
  };
  (void)context;
  uint8_t image[4096] = {0};
  fixture_t fixture;
  vcs_error_t error;
  vcs_truth_t base, row;
  memcpy(image, program, sizeof program);
  memcpy(image + 0xFFC, (const uint8_t[]){0x00, 0xF0, 0x85, 0x00}, 4);
  if (vcs_cart_load(image, sizeof image, NULL, &fixture.cart, &error)) fail_msg("%s", error.message);
  if (vcs_env_create(fixture.cart, &fixture.env, &error)) fail_msg("%s", error.message);
  vcs_run_idle(fixture.env, FRAMES, fixture.controls, &fixture.run);
  const vcs_place_t counter = {VCS_PLACE_STATE, 5, 0, (uint32_t)(offsetof(vcs_t, ram) + 0x10)};
  const vcs_truth_results_t results = {.base = &base, .rows = &row};
  assert_int_equal(vcs_truth(&fixture.run, NULL, &counter, 1, &results, &error), VCS_OK);
  const uint8_t before = vcs_env_ram(fixture.env)[0x10];
  for (int i = 0; i < FRAMES; i++) vcs_env_act_on(fixture.env, VCS_NOOP, VCS_NOOP);
  assert_int_equal((uint8_t)(vcs_env_ram(fixture.env)[0x10] - before), FRAMES);
  assert_int_equal(base.ram_crc, vcs_crc32(vcs_env_ram(fixture.env), 128));
  assert_int_equal(row.ram_bytes, 1);
  close_fixture(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truth_equals_running_by_hand),
      cmocka_unit_test(test_truth_shows_old_rows_as_a_run_that_draws_everything),
      cmocka_unit_test(test_truth_maps_are_signed_differences_and_add_up),
      cmocka_unit_test(test_truth_of_sets),
      cmocka_unit_test(test_truth_of_pairs),
      cmocka_unit_test(test_truth_cuts_runs_that_rejoin),
      cmocka_unit_test(test_truth_knows_rom_that_is_not_read),
      cmocka_unit_test(test_truth_refuses_what_is_not_there),
      cmocka_unit_test(test_truth_idle_run_is_what_the_environment_does),
      cmocka_unit_test(test_truth_of_a_program_in_the_tia_is_what_the_environment_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
