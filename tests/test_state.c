/* test_state.c: the state of a machine is its bytes, and nothing else.
 *
 * Two runs, two threads, drawing or not, one instruction or one frame at a time, a copy put back: all must give the
 * same bytes, frame after frame. The programs are noise after a small frame loop, under random controls, in several
 * bank schemes and both profiles, so that most of the machine moves. The field list must cover the struct without a
 * gap, since the hash, saved states and bindings are made from it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "core/state.h"
#include "core/splitmix.h"

enum { FRAMES = 24, PROGRAMS = 16 };

/* ---- Programs ----------------------------------------------------------------------------------------------- */

/* A frame loop at the start of every bank that draws something different each line; the rest is noise. */
static vcs_cart_t *load(int number) {
  static const vcs_scheme_t schemes[] = {VCS_SCHEME_4K, VCS_SCHEME_F8, VCS_SCHEME_F6SC, VCS_SCHEME_E0,
                                         VCS_SCHEME_FE, VCS_SCHEME_3E, VCS_SCHEME_E7,   VCS_SCHEME_DPC};
  static const size_t sizes[] = {4096, 8192, 16384, 8192, 8192, 8192, 16384, 10240};
  static const uint8_t loop[] = {
      0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0x85, 0x02, /* LDA #2, STA VSYNC, three lines */
      0xA9, 0x00, 0x85, 0x00, 0x85, 0x01,                         /* end of VSYNC and VBLANK */
      0xAD, 0x80, 0x02, 0x85, 0x80,                               /* LDA SWCHA, STA $80 */
      0xA2, 0xC8,                                                 /* LDX #200 */
      0x85, 0x02, 0x8A, 0x65, 0x80, 0x85, 0x09,                   /* line: WSYNC, TXA, ADC $80, STA COLUBK */
      0xBD, 0x00, 0xF2, 0x85, 0x1B, 0x85, 0x0E, 0x85, 0x1D,       /* LDA noise,X, STA GRP0, PF1, ENAM0 */
      0x85, 0x10, 0x85, 0x20, 0x85, 0x2A, 0x65, 0x02,             /* STA RESP0, HMP0, HMOVE, ADC CXP0FB */
      0x85, 0x80, 0xE6, 0x81, 0xCA, 0xD0, 0xDE,                   /* STA $80, INC $81, DEX, BNE line */
      0x4C, 0x00, 0xF1};
  uint64_t seed = 100 + (uint64_t)number;
  int kind = number % 8;
  uint8_t *image = malloc(sizes[kind]);
  vcs_cart_t *cart;
  vcs_error_t error;
  if (!image) abort();
  for (size_t i = 0; i < sizes[kind]; i++) image[i] = (uint8_t)vcs_splitmix64(&seed);
  for (size_t bank = 0; bank + 4096 <= sizes[kind]; bank += 4096) {
    memcpy(image + bank + 0x100, loop, sizeof loop);
    memcpy(image + bank + 0x900, loop, sizeof loop);
    if (number >= 12) image[bank + 0x100 + sizeof loop - 3] = 0xEA; /* falls through into the noise */
    for (size_t i = 0xFFA; i < 0x1000; i += 2) image[bank + i] = 0x00, image[bank + i + 1] = 0xF1;
  }
  vcs_cart_options_t options = {.profile = number & 1 ? VCS_PROFILE_ALE : VCS_PROFILE_XITARI,
                                .scheme = schemes[kind],
                                .format = number & 2 ? VCS_FORMAT_AUTO : VCS_FORMAT_NTSC};
  if (vcs_cart_load(image, sizes[kind], &options, &cart, &error) != VCS_OK) abort();
  free(image);
  return cart;
}

static vcs_controls_t controls_at(int frame) {
  uint64_t seed = (uint64_t)frame / 4;
  vcs_controls_t controls = {{0, 0}, {0, 0, 0, 0}, {0, 0}, 0};
  for (int i = 0; i < 2; i++) controls.held[i] = (uint8_t)(vcs_splitmix64(&seed) & 31);
  for (int i = 0; i < 4; i++) controls.paddle[i] = (int32_t)(vcs_splitmix64(&seed) % 1000000);
  controls.console = vcs_splitmix64(&seed) % 16 == 0;
  return controls;
}

typedef struct {
  vcs_cart_t *cart;
  vcs_t *m;
  uint8_t *frames;
} machine_t;

static machine_t make(int number) {
  machine_t t;
  t.cart = load(number);
  t.m = malloc(vcs_state_size(t.cart));
  t.frames = malloc(2 * VCS_FRAME_BYTES);
  if (!t.m || !t.frames) abort();
  memset(t.m, 0xCD, vcs_state_size(t.cart)); /* booting leaves nothing of what was there */
  memset(t.frames, 0xCD, 2 * VCS_FRAME_BYTES);
  vcs_boot(t.cart, t.m, t.frames);
  return t;
}

static void destroy(machine_t *t) {
  vcs_cart_free(t->cart);
  free(t->m);
  free(t->frames);
}

static void one_frame(machine_t *t, int frame, int drawing) {
  vcs_controls_t controls = controls_at(frame);
  vcs_control(t->cart, t->m, &controls);
  vcs_frame(t->cart, t->m, drawing ? t->frames : NULL);
}

static uint64_t picture_sum(const machine_t *t) {
  const uint8_t *picture = vcs_picture(t->m, t->frames);
  uint64_t sum = 0;
  for (int i = 0; i < 160 * vcs_cart_info(t->cart)->height; i++) sum = sum * 31 + picture[i];
  return sum;
}

static void run_program(int number, int drawing, uint64_t hashes[FRAMES]) {
  machine_t t = make(number);
  for (int i = 0; i < FRAMES; i++) {
    one_frame(&t, i, drawing);
    hashes[i] = vcs_hash(t.cart, t.m);
  }
  destroy(&t);
}

/* ---- Tests -------------------------------------------------------------------------------------------------- */

static void test_state_programs_differ_and_move(void **state) {
  (void)state;
  uint64_t hashes[PROGRAMS][FRAMES];
  for (int i = 0; i < PROGRAMS; i++) {
    run_program(i, 0, hashes[i]);
    for (int k = 0; k < i; k++) assert_true(hashes[k][FRAMES - 1] != hashes[i][FRAMES - 1]);
    if (i < 12) {
      for (int f = 1; f < FRAMES; f++) assert_true(hashes[i][f] != hashes[i][f - 1]);
    }
  }
}

static void test_state_two_runs_are_equal(void **state) {
  (void)state;
  uint64_t first[FRAMES], second[FRAMES];
  for (int i = 0; i < PROGRAMS; i++) {
    run_program(i, 1, first);
    run_program(i, 1, second);
    assert_memory_equal(first, second, sizeof first);
  }
}

static void test_state_drawing_changes_nothing(void **state) {
  (void)state;
  uint64_t drawn[FRAMES], blind[FRAMES];
  for (int i = 0; i < PROGRAMS; i++) {
    run_program(i, 1, drawn);
    run_program(i, 0, blind);
    assert_memory_equal(drawn, blind, sizeof drawn);
  }
}

static uint64_t thread_hashes[2][PROGRAMS][FRAMES];

static void *run_all(void *which) {
  int thread = *(int *)which;
  for (int i = 0; i < PROGRAMS; i++) {
    int number = thread ? PROGRAMS - 1 - i : i; /* in another order */
    run_program(number, 1, thread_hashes[thread][number]);
  }
  return NULL;
}

static void test_state_two_threads_are_equal(void **state) {
  (void)state;
  pthread_t threads[2];
  int which[2] = {0, 1};
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_all, &which[i]), 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert_memory_equal(thread_hashes[0], thread_hashes[1], sizeof thread_hashes[0]);
}

static void test_state_two_machines_share_a_cartridge(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) {
    machine_t t = make(i);
    size_t size = vcs_state_size(t.cart);
    vcs_t *other = malloc(size);
    assert_non_null(other);
    memcpy(other, t.m, size);
    for (int f = 0; f < 10; f++) { /* interleaved */
      vcs_controls_t controls = controls_at(f);
      one_frame(&t, f, 1);
      vcs_control(t.cart, other, &controls);
      vcs_frame(t.cart, other, NULL);
      assert_memory_equal(t.m, other, size);
    }
    free(other);
    destroy(&t);
  }
}

static void test_state_a_copy_put_back_repeats_later_frames_exactly(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) {
    machine_t t = make(i);
    size_t size = vcs_state_size(t.cart);
    uint8_t *saved = malloc(size), *saved_frames = malloc(2 * VCS_FRAME_BYTES);
    uint64_t hashes[12], pictures[12];
    assert_true(saved && saved_frames);
    for (int f = 0; f < 8; f++) one_frame(&t, f, 1);
    memcpy(saved, t.m, size);
    memcpy(saved_frames, t.frames, 2 * VCS_FRAME_BYTES);
    for (int f = 0; f < 12; f++) {
      one_frame(&t, 8 + f, 1);
      hashes[f] = vcs_hash(t.cart, t.m);
      pictures[f] = picture_sum(&t);
    }
    memcpy(t.m, saved, size);
    memcpy(t.frames, saved_frames, 2 * VCS_FRAME_BYTES);
    for (int f = 0; f < 12; f++) {
      one_frame(&t, 8 + f, 1);
      assert_true(hashes[f] == vcs_hash(t.cart, t.m));
      assert_true(pictures[f] == picture_sum(&t));
    }
    free(saved);
    free(saved_frames);
    destroy(&t);
  }
}

static void test_state_instruction_by_instruction_equals_frame_by_frame(void **state) {
  (void)state;
  for (int i = 0; i < PROGRAMS; i++) {
    machine_t whole = make(i), single = make(i);
    for (int f = 0; f < 12; f++) {
      vcs_controls_t controls = controls_at(f);
      vcs_step_t step = {0};
      one_frame(&whole, f, 1);
      vcs_control(single.cart, single.m, &controls);
      vcs_frame_begin(single.cart, single.m);
      for (int k = 0; k < VCS_FRAME_INSTRUCTIONS && !single.m->jammed; k++) {
        vcs_step(single.cart, single.m, single.frames, &step);
        if (step.frame_over) break;
      }
      vcs_frame_end(single.cart, single.m, single.frames);
      assert_memory_equal(whole.m, single.m, vcs_state_size(whole.cart));
      assert_memory_equal(whole.frames, single.frames, 2 * VCS_FRAME_BYTES);
    }
    destroy(&whole);
    destroy(&single);
  }
}

static void test_state_environments_of_the_same_stream_are_equal(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    vcs_cart_t *cart = load(i);
    vcs_env_t *env[2];
    vcs_stream_t stream[2];
    for (int k = 0; k < 2; k++) {
      assert_int_equal(vcs_env_create(cart, &env[k], NULL), VCS_OK);
      vcs_env_set_drawing(env[k], k);
      vcs_stream_start(&stream[k], 5);
    }
    for (int f = 0; f < 30; f++) {
      for (int k = 0; k < 2; k++) vcs_env_act(env[k], vcs_stream_next(&stream[k]), VCS_NOOP);
      assert_true(vcs_hash(cart, vcs_env_machine(env[0])) == vcs_hash(cart, vcs_env_machine(env[1])));
    }
    for (int k = 0; k < 2; k++) vcs_env_free(env[k]);
    vcs_cart_free(cart);
  }
}

static void test_state_fields_cover_the_struct_without_gaps(void **state) {
  (void)state;
  size_t end = 0;
  int count = 0;
  for (const vcs_field_t *f; (f = vcs_field(count)) != NULL; count++) {
    assert_int_equal(f->offset, end);
    assert_int_equal(f->offset % f->size, 0);
    assert_true(f->size == 1 || f->size == 2 || f->size == 4);
    assert_true(f->count > 0);
    assert_true(strlen(f->name) > 0 && strlen(f->meaning) > 0 && strlen(f->type) > 0);
    for (int k = 0; k < count; k++) assert_string_not_equal(vcs_field(k)->name, f->name);
    end += f->size * f->count;
  }
  assert_int_equal(end, sizeof(vcs_t));
  assert_true(count > 60);
  assert_null(vcs_field(-1));
  assert_null(vcs_field(count + 1));
}

static void test_state_hash_sees_every_byte(void **state) {
  (void)state;
  machine_t t = make(5); /* with 32 KiB of cartridge RAM */
  size_t size = vcs_state_size(t.cart);
  uint64_t hash = vcs_hash(t.cart, t.m);
  uint8_t *bytes = (uint8_t *)t.m;
  for (size_t i = 0; i < size; i += i < 1024 ? 1 : 97) {
    bytes[i] ^= 0x10;
    assert_true(vcs_hash(t.cart, t.m) != hash);
    bytes[i] ^= 0x10;
  }
  assert_true(vcs_hash(t.cart, t.m) == hash);
  destroy(&t);
}

static void test_state_size_is_the_struct_less_unused_cartridge_ram(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    vcs_cart_t *cart = load(i);
    assert_int_equal(vcs_state_size(cart), sizeof(vcs_t) - VCS_CART_RAM_MAX + vcs_cart_info(cart)->ram_size);
    vcs_cart_free(cart);
  }
}

static void test_state_random_bytes_jam_or_run_but_never_crash(void **state) {
  (void)state;
  uint64_t seed = 42;
  int jams = 0, frames = 0;
  for (int image_number = 0; image_number < trials(200, 40); image_number++) {
    uint8_t image[8192];
    size_t size = image_number % 2 ? 8192 : 4096;
    vcs_cart_options_t options = {.profile = (vcs_profile_t)(image_number % 2), .format = VCS_FORMAT_NTSC};
    vcs_error_t error;
    machine_t t;
    for (size_t i = 0; i < size; i++) image[i] = (uint8_t)vcs_splitmix64(&seed);
    assert_int_equal(vcs_cart_load(image, size, &options, &t.cart, &error), VCS_OK);
    t.m = malloc(vcs_state_size(t.cart));
    t.frames = malloc(2 * VCS_FRAME_BYTES);
    assert_true(t.m && t.frames);
    vcs_boot(t.cart, t.m, t.frames);
    for (int f = 0; f < 20; f++, frames++) {
      one_frame(&t, f, f & 1);
      if (!t.m->jammed) continue;
      jams++;
      one_frame(&t, f, 1); /* greys the rest */
      uint64_t hash = vcs_hash(t.cart, t.m);
      for (int k = 0; k < 3; k++) one_frame(&t, f, 1);
      assert_true(vcs_hash(t.cart, t.m) == hash); /* it stands still ... */
      vcs_reset(t.cart, t.m, t.frames);
      assert_int_equal(t.m->jammed, 0); /* ... until reset */
    }
    destroy(&t);
  }
  assert_int_equal(frames, trials(4000, 800));
  assert_true(jams > trials(100, 20));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_state_programs_differ_and_move),
      cmocka_unit_test(test_state_two_runs_are_equal),
      cmocka_unit_test(test_state_drawing_changes_nothing),
      cmocka_unit_test(test_state_two_threads_are_equal),
      cmocka_unit_test(test_state_two_machines_share_a_cartridge),
      cmocka_unit_test(test_state_a_copy_put_back_repeats_later_frames_exactly),
      cmocka_unit_test(test_state_instruction_by_instruction_equals_frame_by_frame),
      cmocka_unit_test(test_state_environments_of_the_same_stream_are_equal),
      cmocka_unit_test(test_state_fields_cover_the_struct_without_gaps),
      cmocka_unit_test(test_state_hash_sees_every_byte),
      cmocka_unit_test(test_state_size_is_the_struct_less_unused_cartridge_ram),
      cmocka_unit_test(test_state_random_bytes_jam_or_run_but_never_crash),
  };
  return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
