/* test_grad.c: derivatives of whole runs.
 *
 * Recording is running: a frame written to tape leaves machine and picture as vcs_frame does. The two products are of
 * one matrix: <J v, w> = <v, J^T w> for random v and w. Results are added to what is there and do not change from call
 * to call. An episode needs memory by frames for one machine each, and one tape: the peak is measured in a child
 * process.
 *
 *   test_grad               our own cartridge, and, where DIFFVCS_ROMS names ale-py's folder, a few games
 *   test_grad all           the same with every image in that folder
 *   test_grad episode N [GAME [METHOD]]     differentiates N frames of our own cartridge, or of a game, by bit or by
 *                           ste; prints time and peak memory
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "grad/each.h"
#include "grad/ends.h"
#include "grad/sweep.h"
#include "need.h"
#include "noise.h"

/* ---- Cartridges ------------------------------------------------------------------------------------------------- */

static bool every_game, one_in_three;

static vcs_cart_t *load(const void *image, size_t size) {
  vcs_cart_options_t options = {.profile = VCS_PROFILE_XITARI};
  vcs_cart_t *cart;
  vcs_error_t error;
  return vcs_cart_load(image, size, &options, &cart, &error) == VCS_OK ? cart : NULL;
}

static vcs_cart_t *load_demo(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  return load(image, size);
}

static vcs_cart_t *load_file(const char *folder, const char *name) {
  static uint8_t image[1 << 20];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t size = fread(image, 1, sizeof image, file);
  fclose(file);
  return load(image, size);
}

/* One in DIFFVCS_ROMS, or our own if there is no name. */
static vcs_cart_t *load_game(const char *name) {
  const char *folder = rom_folder();
  if (!name) return load_demo();
  return folder ? load_file(folder, name) : NULL;
}

/* Calls with our own cartridge, and with games: all of them, one in three by the letters of their names, or some that
 * differ much from each other. */
static void each_cartridge(void (*check)(const char *name, const vcs_cart_t *cart)) {
  static const char *const some[] = {"breakout.bin", "pong.bin", "pitfall2.bin", "qbert.bin", "robotank.bin"};
  vcs_cart_t *cart = load_demo();
  assert_non_null(cart);
  check("demo", cart);
  vcs_cart_free(cart);
  const char *folder = rom_folder();
  DIR *directory = folder ? opendir(folder) : NULL;
  if (!directory) {
    NEED_PART("roms", "set DIFFVCS_ROMS to ale-py's roms folder");
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory));) {
    const char *end = strrchr(entry->d_name, '.');
    bool wanted = every_game && end && strcmp(end, ".bin") == 0;
    if (one_in_three) {
      unsigned letters = 0;
      for (const char *c = entry->d_name; *c; c++) letters += (unsigned char)*c;
      wanted &= letters % 3 == 0;
    }
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) wanted |= strcmp(entry->d_name, some[i]) == 0;
    cart = wanted ? load_file(folder, entry->d_name) : NULL;
    if (!cart) continue;
    check(entry->d_name, cart);
    vcs_cart_free(cart);
  }
  closedir(directory);
}

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

enum { FRAMES = 2 };

typedef struct {
  vcs_cart_t const *cart;
  size_t size, rom, pixels;
  vcs_t start;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
} fixture_t;

static vcs_controls_t some_controls(void) {
  vcs_controls_t controls = {{(uint8_t)(1u << noise() % 6), 0}, {100000, 200000, 300000, 400000}, {0, 0}, 0};
  return controls;
}

/* A game in progress: RESET is pressed once, then controls change. */
static void set_fixture(fixture_t *fixture, const vcs_cart_t *cart, int warm_up) {
  memset(fixture, 0, sizeof *fixture);
  fixture->cart = cart;
  fixture->size = 8 * vcs_state_size(cart);
  fixture->rom = 8 * (size_t)cart->rom_size;
  fixture->pixels = (size_t)(VCS_WIDTH * cart->height);
  vcs_boot(cart, &fixture->start, NULL);
  for (int i = 0; i < warm_up; i++) {
    vcs_controls_t controls = some_controls();
    controls.console = i > 5 && i < 12 ? 1 : 0;
    vcs_control(cart, &fixture->start, &controls);
    vcs_frame(cart, &fixture->start, NULL);
  }
  for (int i = 0; i < FRAMES; i++) fixture->controls[i] = some_controls();
  vcs_run_t run = {cart, &fixture->start, NULL, fixture->controls, FRAMES};
  fixture->run = run;
}

static float *floats(size_t count) {
  float *values = calloc(count, sizeof *values);
  assert_non_null(values);
  return values;
}

static float *noisy_floats(size_t count) {
  float *values = floats(count);
  for (size_t i = 0; i < count; i++) values[i] = noise_float();
  return values;
}

typedef struct {
  float *state, *rom, *input;
} in_t;
typedef struct {
  float *state, *pixels[FRAMES];
} out_t;

static void free_all(in_t *in, out_t *out) {
  free(in->state);
  free(in->rom);
  free(in->input);
  free(out->state);
  for (int i = 0; i < FRAMES; i++) free(out->pixels[i]);
}

static vcs_grad_workspace_t *workspace; /* of product(), or NULL */

/* Backwards along a direction, if there is one. */
static void product_along(const fixture_t *fixture, const vcs_grad_options_t *options, const in_t *along, in_t *in,
                          out_t *out) {
  vcs_grad_inputs_t inputs = {in->state, in->rom, in->input}, direction = {along->state, along->rom, along->input};
  vcs_grad_outputs_t outputs = {.pixels = out->pixels, .state = out->state};
  vcs_error_t error;
  assert_int_equal(
      vcs_grad_vjp_directional(workspace, &fixture->run, options, &direction, &inputs, &outputs, NULL, &error), VCS_OK);
}

static void product(bool transposed, const fixture_t *fixture, const vcs_grad_options_t *options, in_t *in,
                    out_t *out) {
  vcs_grad_inputs_t inputs = {in->state, in->rom, in->input};
  vcs_grad_outputs_t outputs = {.pixels = out->pixels, .state = out->state};
  vcs_error_t error;
  vcs_status_t status = transposed
                            ? vcs_grad_vjp_in(workspace, &fixture->run, options, &inputs, &outputs, NULL, &error)
                            : vcs_grad_jvp_in(workspace, &fixture->run, options, &inputs, &outputs, NULL, &error);
  assert_int_equal(status, VCS_OK);
}

/* ---- Tangents along a direction ---------------------------------------------------------------------------------- */

/* A directional VJP needs the tangents of numbers; other fields have none. */
static void test_grad_tangents_are_kept_for_numbers_only(void **context) {
  (void)context;
  float *kept = noisy_floats(2 * VCS_NUMBERS);
  vcs_directional_t choices = {.numbers = kept, .rows = 2};
  vcs_sweep_t s = {.directional = &choices, .reverse = true, .row = 1};
  const size_t offsets[VCS_NUMBERS] = {VCS_OFFSET(cycles),    VCS_OFFSET(timer_cycle), VCS_OFFSET(dump_cycle),
                                       VCS_OFFSET(paddle[0]), VCS_OFFSET(paddle[1]),   VCS_OFFSET(paddle[2]),
                                       VCS_OFFSET(paddle[3]), VCS_OFFSET(pos[0]),      VCS_OFFSET(pos[1]),
                                       VCS_OFFSET(pos[2]),    VCS_OFFSET(pos[3]),      VCS_OFFSET(pos[4])};
  for (int i = 0; i < VCS_NUMBERS; i++) assert_true(vcs_tangent(&s, offsets[i]) == kept[VCS_NUMBERS + i]);
  for (size_t offset = 0; offset < VCS_OFFSET(cart_ram); offset++) {
    bool number = false;
    for (int i = 0; i < VCS_NUMBERS; i++) number |= offsets[i] == offset;
    if (!number) assert_true(vcs_tangent(&s, offset) == 0);
  }
  free(kept);
}

/* ---- Recording is running ---------------------------------------------------------------------------------------- */

/* The same frame, every instruction by vcs_tape_step. */
static void record_step_by_step(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video;
  bool frame_over = false;
  vcs_video_start(&video, cart, frames);
  vcs_frame_begin(cart, m);
  vcs_tape_begin(tape, cart, m);
  while (tape->count < VCS_FRAME_INSTRUCTIONS && !frame_over && !m->jammed)
    assert_true(vcs_tape_step(tape, cart, m, &video, &frame_over));
  assert_true(vcs_tape_end(tape, cart, m));
}

/* Rows and events are the same, and what the next snapshot says of banks, timer and ports. */
static void check_same_tape(const char *name, const vcs_tape_t *tape, const vcs_tape_t *other) {
  const size_t event = offsetof(vcs_event_t, tia) + VCS_TIA_BYTES;
  const size_t parts[][2] = {{VCS_OFFSET(timer), VCS_OFFSET(vsync)},
                             {VCS_OFFSET(bank), VCS_OFFSET(frames)},
                             {VCS_OFFSET(timer_cycle), VCS_OFFSET(timer_read_cycle)}};
  if (tape->count != other->count || tape->event_count != other->event_count)
    fail_msg("%s: %d rows and %d events instead of %d and %d", name, tape->count, tape->event_count, other->count,
             other->event_count);
  for (int32_t i = 0; i < tape->count; i++) {
    const vcs_row_t *row = &tape->rows[i], *step = &other->rows[i];
    if (memcmp(row, step, offsetof(vcs_row_t, nz)) != 0 || vcs_row_status(row) != vcs_row_status(step) ||
        row->flags != step->flags || row->opcode != step->opcode)
      fail_msg("%s: row %d is another", name, i);
  }
  for (int32_t i = 0; i < tape->event_count; i++) {
    if (memcmp(&tape->events[i], &other->events[i], event) != 0) fail_msg("%s: event %d is another", name, i);
  }
  for (int32_t i = 0, j = 0; i < other->snapshot_count; i++) {
    while (tape->snapshots[j].row < other->snapshots[i].row) j++;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
      size_t from = parts[part][0], size = parts[part][1] - from;
      if (memcmp(tape->snapshots[j].machine + from, other->snapshots[i].machine + from, size) != 0)
        fail_msg("%s: snapshot %d is another", name, i);
    }
  }
}

static void check_recording(const char *name, const vcs_cart_t *cart) {
  static uint8_t drawn[2 * VCS_FRAME_BYTES], recorded[2 * VCS_FRAME_BYTES], again[2 * VCS_FRAME_BYTES];
  static vcs_t m, twin, third;
  vcs_tape_t *tape, *other;
  vcs_error_t error;
  random_state = 3;
  vcs_boot(cart, &m, drawn);
  memcpy(&twin, &m, vcs_state_size(cart));
  memcpy(recorded, drawn, sizeof drawn);
  assert_int_equal(vcs_tape_create(cart, &tape, &error), VCS_OK);
  assert_int_equal(vcs_tape_create(cart, &other, &error), VCS_OK);
  for (int frame = 0; frame < 90; frame++) {
    vcs_controls_t controls = some_controls();
    controls.console = frame == 20;
    vcs_control(cart, &m, &controls);
    vcs_control(cart, &twin, &controls);
    memcpy(&third, &twin, vcs_state_size(cart));
    vcs_frame(cart, &m, drawn);
    assert_true(vcs_tape_record(tape, cart, &twin, recorded));
    record_step_by_step(other, cart, &third, again);
    check_same_tape(name, tape, other);
    if (memcmp(&m, &twin, vcs_state_size(cart)) != 0 || memcmp(drawn, recorded, sizeof drawn) != 0)
      fail_msg("%s: frame %d is not the same on tape", name, frame);
  }
  vcs_tape_free(tape);
  vcs_tape_free(other);
}

static void test_recording_a_frame_is_running_it(void **state) {
  (void)state;
  each_cartridge(check_recording);
}

/* What a brief tape leaves out are turns of a loop in which the timer is still above one. */
static void check_brief(const char *name, const vcs_cart_t *cart) {
  static vcs_t m, twin;
  vcs_tape_t *tape, *brief;
  vcs_error_t error;
  assert_int_equal(vcs_tape_create(cart, &tape, &error), VCS_OK);
  assert_int_equal(vcs_tape_create(cart, &brief, &error), VCS_OK);
  brief->brief = true;
  vcs_boot(cart, &m, NULL);
  int32_t left_out = 0;
  for (int frame = 0; frame < 60; frame++) {
    memcpy(&twin, &m, vcs_state_size(cart));
    assert_true(vcs_tape_record(tape, cart, &m, NULL));
    assert_true(vcs_tape_record(brief, cart, &twin, NULL));
    assert_memory_equal(&m, &twin, vcs_state_size(cart));
    int32_t j = 0;
    for (int32_t i = 0; i < tape->count; i++) {
      const vcs_row_t *row = &tape->rows[i];
      if (j < brief->count && vcs_row_cycles(brief, &brief->rows[j]) == vcs_row_cycles(tape, row)) {
        assert_int_equal(brief->rows[j++].pc, row->pc);
        continue;
      }
      left_out++;
      if (row->opcode != 0xD0 && !((row->addr & 0x1284) == 0x284 && row->value > 1))
        fail_msg("%s: row %d of frame %d, at %04X, is left out", name, i, frame, row->pc);
    }
    assert_int_equal(j, brief->count);
  }
  print_message("%s: %d rows left out\n", name, left_out);
  vcs_tape_free(tape);
  vcs_tape_free(brief);
}

static void test_a_brief_tape_leaves_out_waiting(void **state) {
  (void)state;
  each_cartridge(check_brief);
}

/* From pixels alone a frame is not run to its end; with adjoints on the state it is, be they zero. */
static void check_short_tape(const char *name, const vcs_cart_t *cart) {
  static fixture_t fixture;
  random_state = 23;
  set_fixture(&fixture, cart, 60);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  for (int round = 0; round < 6; round++) {
    options.method = round % 3 == 1 ? VCS_METHOD_STE : VCS_METHOD_BIT;
    options.fork_window = round % 3 == 2 ? 256 : 0;
    in_t in[2];
    out_t w = {NULL, {NULL, floats(fixture.pixels)}};
    w.pixels[1][noise() % fixture.pixels] = 1;
    for (int i = 0; i < 2; i++) {
      in_t none = {floats(fixture.size), floats(fixture.rom), floats((size_t)VCS_INPUTS * FRAMES)};
      in[i] = none;
      if (i) w.state = floats(fixture.size);
      product(true, &fixture, &options, &in[i], &w);
    }
    if (memcmp(in[0].state, in[1].state, fixture.size * sizeof(float)) != 0 ||
        memcmp(in[0].rom, in[1].rom, fixture.rom * sizeof(float)) != 0)
      fail_msg("%s, round %d: the end of the frame makes a difference", name, round);
    out_t nothing = {NULL, {NULL, NULL}};
    free_all(&in[0], &nothing);
    free_all(&in[1], &w);
  }
}

static void test_behind_the_last_pixel_nothing_matters(void **state) {
  (void)state;
  each_cartridge(check_short_tape);
}

/* ---- Two products of one matrix ---------------------------------------------------------------------------------- */

/* The sum of products, and of their magnitudes: where a sum cancels, rounding is relative to the latter. */
typedef struct {
  double sum, magnitude;
} dot_t;

static void add_dot(dot_t *dot, const float *a, const float *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double product = (double)a[i] * (double)b[i];
    dot->sum += product;
    dot->magnitude += fabs(product);
  }
}

/* |<Jv, w> - <v, J'w>| relative to the terms of the larger side: a float carries seven digits of each term, however the
 * terms cancel. The terms themselves are rounded along thousands of links: over all games the worst is 7e-7. */
static double disagreement_along(in_t v, const fixture_t *fixture, const vcs_grad_options_t *options, double *size) {
  out_t jv = {floats(fixture->size), {floats(fixture->pixels), floats(fixture->pixels)}};
  in_t jw = {floats(fixture->size), floats(fixture->rom), floats((size_t)VCS_INPUTS * FRAMES)};
  out_t w = {noisy_floats(fixture->size), {noisy_floats(fixture->pixels), noisy_floats(fixture->pixels)}};
  product(false, fixture, options, &v, &jv);
  if (options->side == VCS_SIDE_TANGENT) {
    product_along(fixture, options, &v, &jw, &w);
  } else {
    product(true, fixture, options, &jw, &w);
  }
  dot_t left = {0, 0}, right = {0, 0};
  add_dot(&left, jv.state, w.state, fixture->size);
  for (int i = 0; i < FRAMES; i++) add_dot(&left, jv.pixels[i], w.pixels[i], fixture->pixels);
  add_dot(&right, v.state, jw.state, fixture->size);
  add_dot(&right, v.rom, jw.rom, fixture->rom);
  add_dot(&right, v.input, jw.input, (size_t)VCS_INPUTS * FRAMES);
  *size = fmax(left.magnitude, right.magnitude);
  free_all(&v, &jv);
  free_all(&jw, &w);
  return left.sum == right.sum ? 0 : fabs(left.sum - right.sum) / *size;
}

static double disagreement(const fixture_t *fixture, const vcs_grad_options_t *options, double *size) {
  in_t v = {noisy_floats(fixture->size), noisy_floats(fixture->rom), noisy_floats((size_t)VCS_INPUTS * FRAMES)};
  return disagreement_along(v, fixture, options, size);
}

static int disagreeing;

static void check_dot(const char *name, const vcs_cart_t *cart) {
  static fixture_t fixture;
  random_state = 11;
  set_fixture(&fixture, cart, 60);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  for (int way = 0; way < 2 * (VCS_SIDE_TANGENT + 1); way++) {
    options.side = (vcs_side_rule_t)(way / 2);
    options.fork_window = way % 2 ? 256 : 0;
    double size, by = disagreement(&fixture, &options, &size);
    if (every_game) print_message("%-24s side %d, window %d: %.1e of %.1e\n", name, way / 2, way % 2, by, size);
    if (!(by < 2e-6)) {
      disagreeing++;
      print_error("%s, side %d, window %d: the products disagree by %.1e of %.1e\n", name, way / 2,
                  (int)options.fork_window, by, size);
    }
  }
}

static void test_forwards_and_backwards_are_one_matrix(void **state) {
  (void)state;
  disagreeing = 0;
  each_cartridge(check_dot);
  assert_int_equal(disagreeing, 0);
}

/* Steps are as long as the tangent says, and moves cancel: bits of RAM and the inputs of the first frame, with forks.
 * In the first rounds all bits flip, so that bytes move as a whole. */
static void check_direction(const char *name, const vcs_cart_t *cart) {
  static fixture_t fixture;
  random_state = 17;
  set_fixture(&fixture, cart, 60);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  for (int round = 0; round < 12; round++) {
    in_t v = {floats(fixture.size), floats(fixture.rom), floats((size_t)VCS_INPUTS * FRAMES)};
    for (int i = 0; i < 1 << round / 2; i++) {
      const uint32_t bit = noise() % 1024;
      const float flip = fixture.start.ram[bit / 8] >> bit % 8 & 1 ? -1.0F : 1.0F;
      v.state[8 * VCS_OFFSET(ram) + bit] = round < 6 || noise() & 1 ? flip : -flip;
    }
    const int input = (int)(noise() % VCS_INPUTS);
    v.input[input] = vcs_input_held(&fixture.controls[0], input) && round < 6 ? -1 : 1;
    options.fork_window = round & 1 ? 256 : 0;
    double size, by = disagreement_along(v, &fixture, &options, &size);
    if (by < 2e-6) continue; /* and not what is no number */
    disagreeing++;
    print_error("%s, direction %d: the products disagree by %.1e of %.1e\n", name, round, by, size);
  }
}

static void test_backwards_along_a_direction_is_forwards_transposed(void **state) {
  (void)state;
  disagreeing = 0;
  each_cartridge(check_direction);
  assert_int_equal(disagreeing, 0);
}

/* Frame 300 of a game, and options with forks; NULL without its image. */
static vcs_cart_t *open_forks(const char *game, uint32_t seed, fixture_t *fixture, vcs_grad_options_t *options) {
  vcs_cart_t *cart = load_game(game);
  if (!cart) {
    NEED_PART("roms", game);
    return NULL;
  }
  random_state = seed;
  set_fixture(fixture, cart, 300);
  vcs_grad_defaults(options);
  options->fork_window = 256;
  return cart;
}

/* Loops of branches whose columns move what the next one looks at: unless they are refused they multiply by eight a
 * round, and one frame of these games is more than a float holds. */
static void test_forks_that_explode_are_refused(void **state) {
  static const char *const games[] = {"montezuma_revenge.bin", "asteroids.bin", "venture.bin"};
  static fixture_t fixture;
  (void)state;
  for (size_t game = 0; game < sizeof games / sizeof *games; game++) {
    vcs_grad_options_t options;
    vcs_cart_t *cart = open_forks(games[game], 31, &fixture, &options);
    if (!cart) continue;
    options.side = VCS_SIDE_MEAN;
    double size, by = disagreement(&fixture, &options, &size);
    if (!(by < 1e-5) || size > 1e14) fail_msg("%s: %.1e of %.1e", games[game], by, size);
    vcs_cart_free(cart);
  }
}

static bool all_finite(const float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) return false;
  }
  return true;
}

static void test_forks_stay_finite(void **state) {
  static const char *const games[] = {"asteroids.bin", "up_n_down.bin"};
  static fixture_t fixture;
  (void)state;
  for (size_t game = 0; game < sizeof games / sizeof *games; game++) {
    vcs_grad_options_t options;
    vcs_cart_t *cart = open_forks(games[game], 29, &fixture, &options);
    if (!cart) continue;
    in_t in = {floats(fixture.size), floats(fixture.rom), floats((size_t)VCS_INPUTS * FRAMES)};
    out_t out = {noisy_floats(fixture.size), {NULL, noisy_floats(fixture.pixels)}};
    product(true, &fixture, &options, &in, &out);
    assert_true(all_finite(in.state, fixture.size));
    assert_true(all_finite(in.rom, fixture.rom));
    assert_true(all_finite(in.input, (size_t)VCS_INPUTS * FRAMES));
    free_all(&in, &out);
    vcs_cart_free(cart);
  }
}

/* Loads an image with a program at $F000, and prepares one frame of it from an empty RAM. */
static vcs_cart_t *load_program(uint8_t image[4096], const uint8_t *program, size_t size, fixture_t *fixture) {
  memcpy(image, program, size);
  image[0xFFD] = 0xF0; /* reset at $F000 */
  vcs_cart_t *cart = load(image, 4096);
  set_fixture(fixture, cart, 2);
  memset(fixture->start.ram, 0, sizeof fixture->start.ram);
  fixture->start.pc = 0xF000;
  fixture->start.sp = 0xFF;
  fixture->run.frames = 1;
  return cart;
}

/* A branch around BRK: the bytes that it pushes are there on one side and not on the other. */
static void test_forks_see_what_brk_pushes(void **state) {
  static const uint8_t program[] = {0xA5, 0x80, 0xF0, 0x02, 0x00, 0xEA,        /* LDA $80  BEQ over  BRK  (a byte) */
                                    0xA2, 0x02, 0x86, 0x00,                    /* over: LDX #2  STX VSYNC */
                                    0x85, 0x02, 0x85, 0x02, 0x85, 0x02,        /* STA WSYNC, three times */
                                    0xA0, 0x00, 0x84, 0x00, 0x4C, 0x06, 0xF0}; /* LDY #0  STY VSYNC  JMP over */
  enum { RTI = 0x40, FIRST_BYTE = 8 * VCS_OFFSET(ram) };
  static uint8_t image[4096];
  static fixture_t fixture;
  static vcs_t with, without;
  (void)state;
  image[0xF00] = RTI;
  image[0xFFF] = 0xFF; /* BRK to $FF00 */
  vcs_cart_t *cart = load_program(image, program, sizeof program, &fixture);
  memcpy(&with, &fixture.start, vcs_state_size(cart));
  memcpy(&without, &fixture.start, vcs_state_size(cart));
  fixture.start.ram[0] = with.ram[0] = 1;
  vcs_frame(cart, &with, NULL);
  vcs_frame(cart, &without, NULL);
  assert_int_equal(with.ram[0x7F], 0xF0);
  assert_int_equal(without.ram[0x7F], 0);
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256;
  in_t in = {floats(fixture.size), NULL, NULL};
  out_t out = {floats(fixture.size), {NULL, NULL}};
  in.state[FIRST_BYTE] = 1;
  product(false, &fixture, &options, &in, &out);
  for (int i = 0; i < 128; i++) {
    for (int bit = 0; bit < 8; bit++) {
      const float effect = (float)((with.ram[i] >> bit & 1) - (without.ram[i] >> bit & 1));
      assert_float_equal(out.state[FIRST_BYTE + 8 * i + bit], effect, 0);
    }
  }
  free_all(&in, &out);
  vcs_cart_free(cart);
}

/* Counts the bits of $80 whose JVP along `much` times the flip is not `much` times the exact effect on RAM. */
static int inexact_bits(const fixture_t *fixture, const vcs_grad_options_t *options, float much) {
  enum { FIRST_BYTE = 8 * VCS_OFFSET(ram) };
  static vcs_t base, flipped;
  const size_t size = vcs_state_size(fixture->cart);
  int inexact = 0;
  memcpy(&base, &fixture->start, size);
  vcs_frame(fixture->cart, &base, NULL);
  for (int bit = 0; bit < 8; bit++) {
    bool exact = true;
    memcpy(&flipped, &fixture->start, size);
    flipped.ram[0] ^= (uint8_t)(1 << bit);
    vcs_frame(fixture->cart, &flipped, NULL);
    in_t in = {floats(fixture->size), NULL, NULL};
    out_t out = {floats(fixture->size), {NULL, NULL}};
    in.state[FIRST_BYTE + bit] = fixture->start.ram[0] >> bit & 1 ? -much : much;
    product(false, fixture, options, &in, &out);
    for (int i = 0; i < 8 * 128; i++) {
      const float effect = (float)((flipped.ram[i / 8] >> i % 8 & 1) - (base.ram[i / 8] >> i % 8 & 1));
      exact &= out.state[FIRST_BYTE + i] == much * effect;
    }
    inexact += !exact;
    free_all(&in, &out);
  }
  return inexact;
}

/* A division by subtraction. */
static const uint8_t division[] = {0xA5, 0x80, 0x38, 0xA0, 0xFF,              /* LDA $80  SEC  LDY #$FF */
                                   0xC8, 0xE9, 0x0F, 0xB0, 0xFB,              /* turn: INY  SBC #15  BCS turn */
                                   0x84, 0x81, 0x85, 0x82,                    /* STY $81  STA $82 */
                                   0xA2, 0x02, 0x86, 0x00,                    /* over: LDX #2  STX VSYNC */
                                   0x85, 0x02, 0x85, 0x02, 0x85, 0x02,        /* STA WSYNC, three times */
                                   0xA0, 0x00, 0x84, 0x00, 0x4C, 0x0E, 0xF0}; /* LDY #0  STY VSYNC  JMP over */
enum { DIVIDEND = 100, DIVISOR_AT = 7 };

/* However many turns of the loop a bit of the dividend adds: along a whole flip by detours, along half of it by a
 * region. */
static void test_a_division_is_exact(void **state) {
  static uint8_t image[4096];
  static fixture_t fixture;
  (void)state;
  vcs_cart_t *cart = load_program(image, division, sizeof division, &fixture);
  fixture.start.p = 0;
  fixture.start.ram[0] = DIVIDEND;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256;
  assert_int_equal(inexact_bits(&fixture, &options, 1), 0);
  assert_int_equal(inexact_bits(&fixture, &options, 0.5F), 0);
  vcs_cart_free(cart);
}

/* A workspace keeps nothing of a cartridge whose memory another one has now: here they divide by 15 and by 14. */
static void test_a_workspace_serves_another_cartridge_at_the_same_address(void **state) {
  static uint8_t image[4096];
  static fixture_t fixture;
  static vcs_cart_t here;
  out_t found[2];
  (void)state;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256;
  vcs_grad_workspace_t *kept = vcs_grad_workspace_create();
  assert_non_null(kept);
  for (uint8_t divisor = 15; divisor >= 14; divisor--) {
    uint8_t program[sizeof division];
    memcpy(program, division, sizeof program);
    program[DIVISOR_AT] = divisor;
    vcs_cart_t *cart = load_program(image, program, sizeof program, &fixture);
    here = *cart;
    fixture.cart = fixture.run.cart = &here;
    fixture.start.p = 0;
    fixture.start.ram[0] = DIVIDEND;
    for (int i = 0; i < 2; i++) {
      in_t in = {floats(fixture.size), floats(fixture.rom), NULL};
      found[i] = (out_t){floats(fixture.size), {NULL, NULL}};
      in.rom[8 * DIVISOR_AT + 1] = 0.5F;
      workspace = i ? kept : NULL;
      product(false, &fixture, &options, &in, &found[i]);
      out_t nothing = {NULL, {NULL, NULL}};
      free_all(&in, &nothing);
    }
    workspace = NULL;
    assert_memory_equal(found[0].state, found[1].state, fixture.size * sizeof(float));
    in_t nothing = {NULL, NULL, NULL};
    for (int i = 0; i < 2; i++) free_all(&nothing, &found[i]);
    vcs_cart_free(cart);
  }
  vcs_grad_workspace_free(kept);
}

/* A byte of a table moves in several bits at once, through a sum and two comparisons; what follows happens only if both
 * turn. Along a direction every bit of the index has its exact effect. Bit by bit, none has. */
static void test_bytes_move_as_a_whole(void **state) {
  static const uint8_t program[] = {0xA6, 0x80, 0xBD, 0x00, 0xF1,              /* LDX $80  LDA $F100,X */
                                    0x18, 0x69, 0x01, 0x85, 0x81, 0x85, 0x82,  /* CLC  ADC #1  STA $81  STA $82 */
                                    0xC9, 0x10, 0x90, 0x08,                    /* CMP #$10  BCC over */
                                    0xA5, 0x82, 0xC9, 0x10, 0x90, 0x02,        /* LDA $82  CMP #$10  BCC over */
                                    0xE6, 0x83,                                /* INC $83 */
                                    0xA2, 0x02, 0x86, 0x00,                    /* over: LDX #2  STX VSYNC */
                                    0x85, 0x02, 0x85, 0x02, 0x85, 0x02,        /* STA WSYNC, three times */
                                    0xA0, 0x00, 0x84, 0x00, 0x4C, 0x18, 0xF0}; /* LDY #0  STY VSYNC  JMP over */
  static uint8_t image[4096];
  static fixture_t fixture;
  (void)state;
  for (unsigned i = 1; i < 256; i++) image[0x100 + i] = 0x0F | (uint8_t)(i & 0x70); /* 0, and else a nibble of ones */
  vcs_cart_t *cart = load_program(image, program, sizeof program, &fixture);
  fixture.start.p = 0;
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256;
  assert_int_equal(inexact_bits(&fixture, &options, 1), 0);
  options.side = VCS_SIDE_MEAN;
  assert_int_equal(inexact_bits(&fixture, &options, 1), 8);
  vcs_cart_free(cart);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static fixture_t demo_fixture;
static vcs_grad_options_t defaults;

static int set_demo_fixture(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  if (!cart) return -1;
  random_state = 5;
  set_fixture(&demo_fixture, cart, 30);
  vcs_grad_defaults(&defaults);
  return 0;
}

static int free_demo_fixture(void **state) {
  (void)state;
  vcs_cart_free((vcs_cart_t *)demo_fixture.cart);
  return 0;
}

static void test_results_are_the_same_every_time_and_added(void **state) {
  (void)state;
  const fixture_t *fixture = &demo_fixture;
  in_t v = {noisy_floats(fixture->size), noisy_floats(fixture->rom), noisy_floats((size_t)VCS_INPUTS * FRAMES)};
  in_t adjoints[2];
  out_t tangents[2];
  for (int i = 0; i < 2; i++) {
    out_t zero = {floats(fixture->size), {floats(fixture->pixels), floats(fixture->pixels)}};
    in_t none = {floats(fixture->size), floats(fixture->rom), floats((size_t)VCS_INPUTS * FRAMES)};
    tangents[i] = zero;
    adjoints[i] = none;
    if (i) tangents[i].pixels[1][80] = 100; /* somewhere to add to */
    if (i) adjoints[i].rom[0] = 100;
    product(false, fixture, &defaults, &v, &tangents[i]);
    product(true, fixture, &defaults, &adjoints[i], &tangents[0]);
  }
  tangents[0].pixels[1][80] += 100;
  adjoints[0].rom[0] += 100;
  assert_memory_equal(tangents[0].state, tangents[1].state, fixture->size * sizeof(float));
  for (int i = 0; i < FRAMES; i++)
    assert_memory_equal(tangents[0].pixels[i], tangents[1].pixels[i], fixture->pixels * sizeof(float));
  assert_memory_equal(adjoints[0].input, adjoints[1].input, (size_t)VCS_INPUTS * FRAMES * sizeof(float));
  free_all(&v, &tangents[0]);
  free_all(&adjoints[0], &tangents[1]);
  free(adjoints[1].state);
  free(adjoints[1].rom);
  free(adjoints[1].input);
}

/* Whatever a workspace has served before: another method, other scalars of the colours. */
static void test_a_workspace_makes_no_difference(void **state) {
  (void)state;
  const fixture_t *fixture = &demo_fixture;
  out_t w = {noisy_floats(fixture->size), {noisy_floats(fixture->pixels), noisy_floats(fixture->pixels)}};
  vcs_grad_workspace_t *kept = vcs_grad_workspace_create();
  assert_non_null(kept);
  float scale[256];
  for (int i = 0; i < 256; i++) scale[i] = (float)(i * 37 % 101);
  for (int round = 0; round < 8; round++) {
    vcs_grad_options_t options = defaults;
    options.method = round % 4 == 2 ? VCS_METHOD_STE : VCS_METHOD_BIT;
    options.fork_window = round % 4 == 3 ? 64 : 0;
    options.scale = round % 4 == 1 ? scale : NULL;
    out_t pixels_only = {NULL, {w.pixels[0], w.pixels[1]}}, *seen = round % 4 < 2 ? &pixels_only : &w;
    in_t in[2];
    for (int i = 0; i < 2; i++) {
      in_t none = {floats(fixture->size), floats(fixture->rom), floats((size_t)VCS_INPUTS * FRAMES)};
      in[i] = none;
      workspace = i ? kept : NULL;
      product(true, fixture, &options, &in[i], seen);
    }
    workspace = NULL;
    assert_memory_equal(in[0].state, in[1].state, fixture->size * sizeof(float));
    assert_memory_equal(in[0].rom, in[1].rom, fixture->rom * sizeof(float));
    out_t nothing = {NULL, {NULL, NULL}};
    free_all(&in[0], &nothing);
    free_all(&in[1], &nothing);
  }
  vcs_grad_workspace_free(kept);
  in_t nothing = {NULL, NULL, NULL};
  free_all(&nothing, &w);
}

/* What forward passes of several places at a time have seen. */
typedef struct {
  const fixture_t *fixture;
  const vcs_grad_options_t *options;
  const vcs_place_t *places;
  const vcs_run_t *run;
  int seen, moved;
} passes_t;

/* Beside a forward pass of the place alone. */
static void see_pass(void *context, size_t place, int32_t frame, const float *pixels, const float *bits) {
  passes_t *passes = context;
  const fixture_t *fixture = passes->fixture;
  const vcs_place_t *at = &passes->places[place];
  in_t in = {floats(fixture->size), floats(fixture->rom), floats((size_t)VCS_INPUTS * FRAMES)};
  float *slots[] = {in.state, in.rom, in.input}, *zero = floats(fixture->pixels + fixture->size);
  float *own_pixels = floats(fixture->pixels), *own_bits = floats(fixture->size);
  const size_t slot =
      at->kind == VCS_PLACE_INPUT ? VCS_INPUTS * (size_t)at->frame + at->index : 8 * at->index + at->bit;
  slots[at->kind][slot] = vcs_run_bit(passes->run, at) == 1 ? -1 : 1;
  float *pixels_by_frame[FRAMES] = {NULL}, *bits_by_frame[FRAMES] = {NULL};
  pixels_by_frame[frame] = own_pixels;
  bits_by_frame[frame] = own_bits;
  const vcs_grad_inputs_t inputs = {in.state, at->kind == VCS_PLACE_ROM ? in.rom : NULL, in.input};
  const vcs_grad_outputs_t outputs = {.pixels = pixels_by_frame, .states = bits_by_frame};
  assert_int_equal(vcs_grad_jvp(passes->run, passes->options, &inputs, &outputs, NULL, NULL), VCS_OK);
  assert_memory_equal(pixels ? pixels : zero, own_pixels, fixture->pixels * sizeof(float));
  assert_memory_equal(bits ? bits : zero, own_bits, fixture->size * sizeof(float));
  passes->seen++;
  passes->moved += bits && memcmp(bits, zero, fixture->size * sizeof(float)) != 0;
  out_t out = {own_bits, {own_pixels, zero}};
  free_all(&in, &out);
}

/* Tapes and forks that are shared change nothing. */
static void test_passes_together_are_passes_alone(void **state) {
  (void)state;
  const fixture_t *fixture = &demo_fixture;
  enum { PLACES = 40 };
  vcs_place_t places[PLACES];
  for (uint32_t i = 0; i < PLACES; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)VCS_OFFSET(ram) + 5 * i % 128};
    if (i % 8 == 6) places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(i / 8 % FRAMES), i % VCS_INPUTS};
    if (i % 8 == 7) places[i] = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)(i % 8), 0, 97 * i % 4096};
  }
  const vcs_run_t run = {fixture->cart, &fixture->start, NULL, fixture->controls, FRAMES};
  const uint8_t looks[FRAMES] = {1, 1};
  for (int round = 0; round < 4; round++) {
    vcs_grad_options_t options = defaults;
    options.method = round == 2 ? VCS_METHOD_STE : VCS_METHOD_BIT;
    options.fork_window = round == 1 || round == 3 ? 64 : 0;
    options.side = round == 3 ? VCS_SIDE_MEAN : VCS_SIDE_TANGENT;
    passes_t passes = {fixture, &options, places, &run, 0, 0};
    assert_int_equal(vcs_grad_jvp_each(&run, &options, places, PLACES, looks, see_pass, &passes, NULL), VCS_OK);
    assert_int_equal(passes.seen, PLACES * FRAMES);
    assert_true(passes.moved > PLACES / 4);
  }
}

static void test_the_start_of_a_run_is_not_changed(void **state) {
  (void)state;
  static vcs_t before;
  memcpy(&before, &demo_fixture.start, sizeof before);
  in_t in = {floats(demo_fixture.size), NULL, NULL};
  out_t out = {noisy_floats(demo_fixture.size), {NULL, NULL}};
  product(true, &demo_fixture, &defaults, &in, &out);
  product(false, &demo_fixture, &defaults, &in, &out);
  assert_memory_equal(&before, &demo_fixture.start, sizeof before);
  free_all(&in, &out);
}

/* Outputs that are not requested do not change the requested ones. */
static void test_missing_arrays_are_zero_or_not_wanted(void **state) {
  (void)state;
  const fixture_t *fixture = &demo_fixture;
  vcs_error_t error;
  in_t all = {floats(fixture->size), floats(fixture->rom), floats((size_t)VCS_INPUTS * FRAMES)};
  in_t some = {floats(fixture->size), NULL, NULL};
  out_t w = {noisy_floats(fixture->size), {NULL, noisy_floats(fixture->pixels)}};
  product(true, fixture, &defaults, &all, &w);
  product(true, fixture, &defaults, &some, &w);
  assert_memory_equal(all.state, some.state, fixture->size * sizeof(float));
  vcs_grad_inputs_t no_inputs = {NULL, NULL, NULL};
  vcs_grad_outputs_t no_outputs = {.pixels = NULL};
  vcs_grad_report_t report;
  assert_int_equal(vcs_grad_vjp(&fixture->run, &defaults, &no_inputs, &no_outputs, &report, &error), VCS_OK);
  assert_true(report.instructions > 100);
  assert_int_equal(vcs_grad_jvp(&fixture->run, &defaults, &no_inputs, &no_outputs, NULL, NULL), VCS_OK);
  free_all(&all, &w);
  free(some.state);
}

static void refuse(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                   const vcs_grad_outputs_t *outputs) {
  vcs_error_t error;
  assert_int_equal(vcs_grad_jvp(run, options, inputs, outputs, NULL, &error), VCS_BAD_ARGUMENT);
  assert_true(error.message[0]);
  assert_int_equal(vcs_grad_vjp(run, options, inputs, outputs, NULL, NULL), VCS_BAD_ARGUMENT);
}

static void test_bad_arguments_are_refused(void **state) {
  (void)state;
  vcs_grad_inputs_t in = {NULL, NULL, NULL};
  vcs_grad_outputs_t out = {.pixels = NULL};
  vcs_run_t run = demo_fixture.run;
  vcs_grad_options_t options = defaults;
  refuse(NULL, &options, &in, &out);
  refuse(&run, NULL, &in, &out);
  refuse(&run, &options, NULL, &out);
  refuse(&run, &options, &in, NULL);
  run.frames = 0;
  refuse(&run, &options, &in, &out);
  run = demo_fixture.run, run.cart = NULL;
  refuse(&run, &options, &in, &out);
  run = demo_fixture.run, run.start = NULL;
  refuse(&run, &options, &in, &out);
  run = demo_fixture.run, run.controls = NULL;
  refuse(&run, &options, &in, &out);
  run = demo_fixture.run, options.method = VCS_METHODS;
  refuse(&run, &options, &in, &out);
  options = defaults, options.side = (vcs_side_rule_t)(VCS_SIDE_TANGENT + 1);
  refuse(&run, &options, &in, &out);
  options = defaults, options.fork_window = INT32_MAX; /* would run for ever */
  refuse(&run, &options, &in, &out);
  vcs_error_t error;
  options = defaults;
  assert_int_equal(vcs_grad_vjp_directional(NULL, &run, &options, NULL, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
  options.method = VCS_METHOD_STE;
  assert_int_equal(vcs_grad_vjp_directional(NULL, &run, &options, &in, &in, &out, NULL, &error), VCS_BAD_ARGUMENT);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct {
  int32_t frames;
  const char *game; /* in DIFFVCS_ROMS, or NULL for our own cartridge */
  vcs_method_t method;
} episode_t;

/* Differentiates the last picture of an episode with respect to its start and all its inputs. The
 * controls are those of the action stream. */
static int differentiate_episode(const episode_t *e) {
  static vcs_t start;
  const int32_t frames = e->frames;
  vcs_cart_t *cart = load_game(e->game);
  vcs_controls_t *controls = calloc((size_t)frames, sizeof *controls);
  float **pixels = calloc((size_t)frames, sizeof *pixels);
  float *last = calloc(VCS_FRAME_BYTES, sizeof *last), *inputs = calloc((size_t)(VCS_INPUTS * frames), sizeof *inputs);
  float *slots = calloc(8 * sizeof(vcs_t), sizeof *slots);
  if (!cart || !controls || !pixels || !last || !inputs || !slots) return 1;
  vcs_boot(cart, &start, NULL);
  for (int i = 0; i < VCS_FRAME_BYTES; i++) last[i] = noise_float();
  for (int32_t f = 0; f < frames; f++) {
    controls[f].held[0] = f % 16 ? controls[f - 1].held[0] : (uint8_t)(noise() & 31);
    controls[f].console = f < 4; /* RESET begins a game */
  }
  pixels[frames - 1] = last;
  vcs_run_t run = {cart, &start, NULL, controls, frames};
  vcs_grad_inputs_t in = {slots, NULL, inputs};
  vcs_grad_outputs_t out = {.pixels = pixels};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = e->method;
  vcs_status_t status = vcs_grad_vjp(&run, &options, &in, &out, NULL, NULL);
  vcs_cart_free(cart);
  free(controls);
  free((void *)pixels);
  free(last);
  free(inputs);
  free(slots);
  return status != VCS_OK;
}

/* Differentiates an episode in a child. The child's peak of resident memory in KiB; -1 if it failed. */
static long episode_peak(const episode_t *e) {
  int pipe_ends[2], status = 1;
  long peak = -1;
  if (pipe(pipe_ends)) return -1;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    struct rusage used;
    int failed = differentiate_episode(e);
    getrusage(RUSAGE_SELF, &used);
    failed |= write(pipe_ends[1], &used.ru_maxrss, sizeof used.ru_maxrss) < 0;
    _exit(failed);
  }
  close(pipe_ends[1]);
  if (read(pipe_ends[0], &peak, sizeof peak) != (ssize_t)sizeof peak) peak = -1;
  close(pipe_ends[0]);
  waitpid(child, &status, 0);
  return status == 0 ? peak : -1;
}

#if !defined(__SANITIZE_ADDRESS__) /* which keeps freed memory, so that the peak means nothing */
/* 18,000 frames fit into a GiB if a frame more costs less than 58 KiB. A frame's controls, inputs and machine are well
 * below one; the tape is there once. */
static void test_an_episode_needs_memory_for_a_machine_a_frame(void **state) {
  (void)state;
  const episode_t twenty = {20, NULL, VCS_METHOD_BIT}, more = {420, NULL, VCS_METHOD_BIT};
  long few = episode_peak(&twenty), many = episode_peak(&more);
  assert_true(few > 0 && many > 0);
  assert_true((many - few) / 400 <= 4);
  assert_true(few < 256 * 1024);
}
#endif

/* N [GAME [METHOD]] */
static int test_episode(int argc, char **argv) {
  enum { PEAK_MAX_KIB = 1024 * 1024 };
  const bool ste = argc > 2 && strcmp(argv[2], "ste") == 0;
  const int32_t frames = (int32_t)strtol(argv[0], NULL, 10);
  const episode_t e = {frames < 1 ? 1 : frames, argc > 1 ? argv[1] : NULL, ste ? VCS_METHOD_STE : VCS_METHOD_BIT};
  vcs_cart_t *cart = load_game(e.game);
  if (!cart) return need_exit("test_grad episode", "roms", e.game);
  vcs_cart_free(cart);
  const time_t began = time(NULL);
  const long peak = episode_peak(&e);
  printf("%s, %s: %d frames: %ld s, peak %.1f MiB\n", e.game ? e.game : "demo", ste ? "ste" : "bit", (int)e.frames,
         (long)(time(NULL) - began), (double)peak / 1024);
  return peak < 0 || peak >= PEAK_MAX_KIB;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "episode") == 0) return test_episode(argc - 2, argv + 2);
  one_in_three = argc > 1 && strcmp(argv[1], "third") == 0;
  every_game = one_in_three || (argc > 1 && strcmp(argv[1], "all") == 0);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_grad_tangents_are_kept_for_numbers_only),
    cmocka_unit_test(test_recording_a_frame_is_running_it),
    cmocka_unit_test(test_a_brief_tape_leaves_out_waiting),
    cmocka_unit_test(test_behind_the_last_pixel_nothing_matters),
    cmocka_unit_test(test_forwards_and_backwards_are_one_matrix),
    cmocka_unit_test(test_backwards_along_a_direction_is_forwards_transposed),
    cmocka_unit_test(test_forks_that_explode_are_refused),
    cmocka_unit_test(test_forks_stay_finite),
    cmocka_unit_test(test_forks_see_what_brk_pushes),
    cmocka_unit_test(test_a_division_is_exact),
    cmocka_unit_test(test_a_workspace_serves_another_cartridge_at_the_same_address),
    cmocka_unit_test(test_bytes_move_as_a_whole),
    cmocka_unit_test(test_results_are_the_same_every_time_and_added),
    cmocka_unit_test(test_a_workspace_makes_no_difference),
    cmocka_unit_test(test_passes_together_are_passes_alone),
    cmocka_unit_test(test_the_start_of_a_run_is_not_changed),
    cmocka_unit_test(test_missing_arrays_are_zero_or_not_wanted),
    cmocka_unit_test(test_bad_arguments_are_refused),
#if !defined(__SANITIZE_ADDRESS__)
    cmocka_unit_test(test_an_episode_needs_memory_for_a_machine_a_frame),
#endif
  };
  return cmocka_run_group_tests(tests, set_demo_fixture, free_demo_fixture);
}
