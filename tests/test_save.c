/* States and save files: every later frame is the same, and what is damaged or foreign is refused.
 *
 *   test_save [mutations]     default 30000 damaged files and a tenth as many damaged contents with a right checksum
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/env.h"
#include "host/hash.h"
#include "host/save.h"

static long mutations = 30000;

static uint64_t random_state = 1;
static uint32_t below(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % n);
}

static vcs_cart_t *load(vcs_profile_t profile, int changed) {
  size_t size;
  vcs_cart_t *cart = NULL;
  const uint8_t *image = vcs_demo_image(&size);
  uint8_t other[4096];
  const vcs_cart_options_t options = {.profile = profile};
  memcpy(other, image, sizeof other);
  if (changed) other[0x7FF] ^= 1;
  assert_int_equal(vcs_cart_load(other, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* With sticky actions and no-ops, so that the generators matter. */
static vcs_env_t *create(const vcs_cart_t *cart, uint32_t seed) {
  vcs_env_t *env = NULL;
  vcs_env_options_t options;
  vcs_env_defaults(cart, &options);
  options.seed = seed;
  options.noop_max = 10;
  options.repeat_action_probability = 0.25f;
  options.mode = vcs_cart_info(cart)->game ? 1 : 0;
  assert_int_equal(vcs_env_create_with(cart, &options, &env, NULL), VCS_OK);
  vcs_env_set_sound(env, 1);
  vcs_env_reset(env);
  return env;
}

static void play(vcs_env_t *env, int frames) {
  for (int i = 0; i < frames; i++) {
    if (vcs_env_done(env)) vcs_env_reset(env);
    vcs_env_act(env, (int)below(18), (int)below(18));
  }
}

/* A digest of all that is seen and heard in so many frames of random actions, a reset among them. */
static uint64_t future(vcs_env_t *env, int frames) {
  uint64_t hash = 0;
  random_state = 77;
  for (int i = 0; i < frames; i++) {
    if (vcs_env_done(env) || i == frames / 2) vcs_env_reset(env);
    const int32_t seen[] = {vcs_env_act(env, (int)below(18), VCS_NOOP), vcs_env_lives(env), vcs_env_over(env),
                            (int32_t)vcs_env_frame_number(env), (int32_t)vcs_env_episode_frame_number(env)};
    hash = vcs_hash64(seen, sizeof seen, hash);
    hash = vcs_hash64(vcs_env_screen(env), 160u * (size_t)vcs_env_height(env), hash);
    hash = vcs_hash64(vcs_env_sound(env), VCS_SOUND_SAMPLES, hash);
    hash ^= vcs_hash(vcs_env_cart(env), vcs_env_machine(env));
  }
  return hash;
}

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env, *other;
  uint8_t *state, *file;
  size_t state_size, file_size;
} fixture_t;

static fixture_t begin(void) {
  fixture_t f = {.cart = load(VCS_PROFILE_ALE, 0)};
  f.env = create(f.cart, 3);
  f.other = create(f.cart, 4);
  play(f.env, 100);
  play(f.other, 57);
  f.state_size = vcs_env_state_size(f.env);
  f.state = malloc(f.state_size);
  vcs_env_state_copy(f.env, f.state);
  f.file = malloc(vcs_env_save_bound(f.env));
  assert_int_equal(vcs_env_save_to(f.env, f.file, &f.file_size, NULL), VCS_OK);
  assert_in_range(f.file_size, 1, vcs_env_save_bound(f.env));
  return f;
}

static void end(fixture_t *f) {
  free(f->state);
  free(f->file);
  vcs_env_free(f->env);
  vcs_env_free(f->other);
  vcs_cart_free(f->cart);
}

/* The state of an environment is the one that was copied. */
static void assert_is(const vcs_env_t *env, const uint8_t *state) {
  const size_t size = vcs_env_state_size(env);
  uint8_t *now = malloc(size);
  vcs_env_state_copy(env, now);
  assert_memory_equal(now, state, size);
  free(now);
}

/* ... and its save file is the same. A draw history from a file is exact, so its state may differ from the copied one,
 * but the picture is the same. */
static void assert_saves(const vcs_env_t *env, const fixture_t *f) {
  size_t size = 0;
  uint8_t *now = malloc(vcs_env_save_bound(env));
  assert_int_equal(vcs_env_save_to(env, now, &size, NULL), VCS_OK);
  assert_int_equal(size, f->file_size);
  assert_memory_equal(now, f->file, size);
  free(now);
}

/* Puts the right checksum at the end of a file that was changed. */
static void seal(uint8_t *file, size_t size) {
  const uint64_t hash = vcs_hash64(file, size - 8, 0);
  for (int i = 0; i < 8; i++) file[size - 8 + (size_t)i] = (uint8_t)(hash >> 8 * i);
}

/* ---- States ------------------------------------------------------------------------------------------------- */

static void test_restoring_at_random_frames_repeats_every_later_frame(void **state) {
  (void)state;
  vcs_cart_t *cart = load(VCS_PROFILE_ALE, 0);
  vcs_env_t *env = create(cart, 3);
  const size_t size = vcs_env_state_size(env);
  uint8_t *saved = malloc(size);
  for (int trial = 0; trial < 20; trial++) {
    random_state = (uint64_t)trial;
    play(env, 1 + (int)below(150));
    vcs_env_state_copy(env, saved);
    const uint64_t first = future(env, 80);
    assert_int_equal(vcs_env_state_restore(env, saved, size, NULL), VCS_OK);
    assert_int_equal(future(env, 80), first);
  }
  free(saved);
  vcs_env_free(env);
  vcs_cart_free(cart);
}

static void test_a_state_restores_into_another_environment(void **state) {
  (void)state;
  fixture_t f = begin();
  assert_int_equal(vcs_env_state_restore(f.other, f.state, f.state_size, NULL), VCS_OK);
  assert_is(f.other, f.state);
  assert_int_equal(future(f.other, 200), future(f.env, 200));
  end(&f);
}

static void test_a_state_brings_its_mode(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_env_options_t options = *vcs_env_options(f.other);
  options.mode = 3;
  assert_int_equal(vcs_env_configure(f.other, &options, NULL), VCS_OK);
  assert_int_equal(vcs_env_state_restore(f.other, f.state, f.state_size, NULL), VCS_OK);
  assert_int_equal(vcs_env_options(f.other)->mode, 1);
  end(&f);
}

static void test_restoring_the_play_leaves_the_generators(void **state) {
  (void)state;
  fixture_t f = begin();
  const vcs_mt19937_t before = f.other->sticky_random;
  assert_int_equal(vcs_env_state_restore_play(f.other, f.state, f.state_size, NULL), VCS_OK);
  assert_memory_equal(&f.other->sticky_random, &before, sizeof before);
  assert_int_equal(vcs_hash(f.cart, f.other->m), vcs_hash(f.cart, f.env->m));
  end(&f);
}

static void test_states_without_generators_are_equal_when_only_these_differ(void **state) {
  (void)state;
  fixture_t f = begin();
  assert_int_equal(vcs_env_state_restore_play(f.other, f.state, f.state_size, NULL), VCS_OK);
  uint8_t *one = malloc(f.state_size), *two = malloc(f.state_size);
  assert_non_null(one);
  assert_non_null(two);
  vcs_env_state_copy(f.env, one);
  vcs_env_state_copy(f.other, two);
  assert_memory_not_equal(one, two, f.state_size);
  vcs_env_state_copy_play(f.env, one);
  vcs_env_state_copy_play(f.other, two);
  assert_memory_equal(one, two, f.state_size);
  assert_int_equal(vcs_env_state_restore_play(f.other, one, f.state_size, NULL), VCS_OK);
  free(one);
  free(two);
  end(&f);
}

static void test_states_of_others_are_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_cart_t *carts[] = {load(VCS_PROFILE_ALE, 1), load(VCS_PROFILE_XITARI, 0), load(VCS_PROFILE_FIXED, 0)};
  for (int i = 0; i < 3; i++) {
    vcs_env_t *env = NULL;
    vcs_error_t error;
    assert_int_equal(vcs_env_create(carts[i], &env, NULL), VCS_OK);
    const uint64_t before = vcs_hash(carts[i], env->m);
    assert_int_equal(vcs_env_state_restore(env, f.state, f.state_size, &error), VCS_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "another cartridge or profile"));
    assert_int_equal(vcs_hash(carts[i], env->m), before);
    vcs_env_free(env);
    vcs_cart_free(carts[i]);
  }
  end(&f);
}

static void test_states_of_a_wrong_length_are_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  assert_int_equal(vcs_env_state_restore(f.env, f.state, f.state_size - 1, NULL), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_env_state_restore(f.env, f.state, 3, NULL), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_env_state_restore(f.env, NULL, f.state_size, NULL), VCS_BAD_ARGUMENT);
  assert_is(f.env, f.state);
  end(&f);
}

/* A plain state has no checksum. Damage that makes an impossible machine is refused; the rest plays on somehow, and
 * whatever it plays must stay inside its memory: the sanitizers watch. */
static void test_damaged_states_are_refused_or_play_on(void **state) {
  (void)state;
  fixture_t f = begin();
  uint8_t *damaged = malloc(f.state_size);
  long refused = 0;
  for (long i = 0; i < mutations / 10; i++) {
    memcpy(damaged, f.state, f.state_size);
    random_state = (uint64_t)i + 1000;
    const size_t interesting = i % 2 ? f.state_size : 32 + sizeof(vcs_env_live_t) + 4 * 400; /* frames are just bytes */
    for (uint32_t k = 0; k <= below(4); k++) damaged[below((uint32_t)interesting)] = (uint8_t)below(256);
    if (vcs_env_state_restore(f.other, damaged, f.state_size, NULL)) {
      refused++;
    } else {
      for (int k = 0; k < 2; k++) vcs_env_act_on(f.other, (int)below(18), (int)below(18));
    }
  }
  assert_true(refused > 0);
  free(damaged);
  end(&f);
}

/* Running the generator up to billions of draws would make every reset take seconds. */
static void test_a_state_with_impossibly_many_draws_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_env_machine(f.other)->rng_draws = 0xFFFFFFF0u;
  vcs_env_state_copy(f.other, f.state);
  assert_int_equal(vcs_env_state_restore(f.env, f.state, f.state_size, NULL), VCS_BAD_ARGUMENT);
  end(&f);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

static void test_a_file_restores_every_later_frame(void **state) {
  (void)state;
  fixture_t f = begin();
  assert_int_equal(vcs_env_load_from(f.other, f.file, f.file_size, NULL), VCS_OK);
  assert_saves(f.other, &f);
  assert_int_equal(future(f.other, 200), future(f.env, 200));
  end(&f);
}

static void test_a_file_is_written_and_read(void **state) {
  (void)state;
  fixture_t f = begin();
  char directory[] = "test_save_XXXXXX", path[64]; /* below the directory the test is run in */
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/game.vcs", directory);
  assert_int_equal(vcs_env_save(f.env, path, NULL), VCS_OK);
  assert_int_equal(vcs_env_load(f.other, path, NULL), VCS_OK);
  assert_saves(f.other, &f);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(vcs_env_load(f.other, path, NULL), VCS_NOT_FOUND);
  assert_int_equal(rmdir(directory), 0); /* and nothing else was left there */
  end(&f);
}

static void test_a_file_says_what_it_belongs_to(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_save_info_t info;
  assert_int_equal(vcs_save_info(f.file, f.file_size, &info, NULL), VCS_OK);
  assert_int_equal(info.version, VCS_SAVE_VERSION);
  assert_int_equal(info.profile, VCS_PROFILE_ALE);
  assert_string_equal(info.sha256, vcs_cart_info(f.cart)->sha256);
  assert_int_equal(info.frame_number, vcs_env_frame_number(f.env));
  end(&f);
}

static void test_files_of_others_are_refused_by_name(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_cart_t *carts[] = {load(VCS_PROFILE_ALE, 1), load(VCS_PROFILE_XITARI, 0)};
  const char *words[] = {"another cartridge", "another profile: 'ale', here it is 'xitari'"};
  for (int i = 0; i < 2; i++) {
    vcs_env_t *env = NULL;
    vcs_error_t error;
    assert_int_equal(vcs_env_create(carts[i], &env, NULL), VCS_OK);
    assert_int_equal(vcs_env_load_from(env, f.file, f.file_size, &error), VCS_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, words[i]));
    vcs_env_free(env);
    vcs_cart_free(carts[i]);
  }
  end(&f);
}

static void assert_refused(fixture_t *f, const char *words) {
  vcs_error_t error;
  seal(f->file, f->file_size);
  assert_int_equal(vcs_env_load_from(f->env, f->file, f->file_size, &error), VCS_BAD_FILE);
  if (!strstr(error.message, words)) fail_msg("\"%s\" says nothing of \"%s\"", error.message, words);
  assert_is(f->env, f->state);
}

static void test_a_file_of_a_later_version_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  f.file[8] = VCS_SAVE_VERSION + 1;
  assert_refused(&f, "version 3, this program reads up to 2");
  end(&f);
}

static void test_an_unknown_field_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  f.file[VCS_SAVE_HEADER + 8] = 'w'; /* the first field's name */
  assert_refused(&f, "does not know");
  end(&f);
}

static void test_a_field_of_another_size_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  f.file[VCS_SAVE_HEADER + 4]++;
  assert_refused(&f, "of another kind");
  end(&f);
}

static void test_a_missing_field_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  const size_t row = 8u + f.file[VCS_SAVE_HEADER + 1];
  memmove(f.file + VCS_SAVE_HEADER, f.file + VCS_SAVE_HEADER + row, f.file_size - VCS_SAVE_HEADER - row);
  f.file_size -= row;
  f.file[12]--;    /* one row less */
  f.file[16] -= 4; /* of four bytes */
  assert_refused(&f, "lacks the field 'm.cycles'");
  end(&f);
}

static void test_a_payload_that_does_not_unpack_is_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  f.file[f.file_size - 20] ^= 0x55;
  assert_refused(&f, "cannot be unpacked");
  end(&f);
}

static void test_other_files_are_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  vcs_error_t error;
  assert_int_equal(vcs_env_load_from(f.env, "GIF89a and so on", 16, &error), VCS_BAD_FILE);
  assert_string_equal(error.message, "this is no save file of diffvcs");
  assert_int_equal(vcs_env_load_from(f.env, f.file, 0, &error), VCS_BAD_FILE);
  assert_int_equal(vcs_env_load_from(f.env, NULL, 0, &error), VCS_BAD_FILE);
  end(&f);
}

/* Flipped bits, changed bytes, zeroed and exchanged pieces, missing and doubled ends. Returns the new size. */
static size_t damage(uint8_t *file, size_t size) {
  const uint32_t n = (uint32_t)size;
  switch (below(6)) {
    case 0:
      file[below(n)] ^= (uint8_t)(1u << below(8));
      return size;
    case 1:
      for (uint32_t i = 0; i <= below(8); i++) file[below(n)] = (uint8_t)below(256);
      return size;
    case 2: {
      const uint32_t at = below(n), length = below(n - at) % 64;
      memset(file + at, 0, length);
      return size;
    }
    case 3: {
      const uint32_t at = below(n), length = 1 + below(64) % (n - at);
      memmove(file + at, file + at + length, size - at - length);
      return size - length;
    }
    case 4:
      return below(n);
    default:
      memmove(file + below(n / 2), file + n / 2, n / 4);
      return size;
  }
}

static void test_damaged_files_are_refused(void **state) {
  (void)state;
  fixture_t f = begin();
  uint8_t *damaged = malloc(f.file_size);
  long same = 0;
  for (long i = 0; i < mutations; i++) {
    memcpy(damaged, f.file, f.file_size);
    random_state = (uint64_t)i;
    const size_t size = damage(damaged, f.file_size);
    const bool unchanged = size == f.file_size && memcmp(damaged, f.file, size) == 0;
    const vcs_status_t status = vcs_env_load_from(f.env, damaged, size, NULL);
    if ((status == VCS_OK) != unchanged) fail_msg("damage %ld: %s", i, vcs_status_name(status));
    same += unchanged;
  }
  assert_saves(f.env, &f);
  assert_true(same < mutations / 10);
  free(damaged);
  end(&f);
}

/* The same with the checksum made right: now the table, the packing and the values must be doubted. */
static void test_damaged_files_with_a_right_checksum_are_refused_or_play_on(void **state) {
  (void)state;
  fixture_t f = begin();
  uint8_t *damaged = malloc(f.file_size);
  long refused = 0;
  for (long i = 0; i < mutations / 10; i++) {
    memcpy(damaged, f.file, f.file_size);
    random_state = (uint64_t)i + 5;
    size_t size;
    if (i % 2) { /* in the table */
      size = f.file_size;
      for (uint32_t k = 0; k <= below(3); k++) damaged[below(2000)] = (uint8_t)below(256);
    } else {
      size = damage(damaged, f.file_size);
    }
    if (size >= 8) seal(damaged, size);
    if (vcs_env_load_from(f.other, damaged, size, NULL)) {
      refused++;
    } else {
      for (int k = 0; k < 2; k++) vcs_env_act_on(f.other, (int)below(18), (int)below(18));
    }
  }
  assert_true(refused > 0);
  free(damaged);
  end(&f);
}

int main(int argc, char **argv) {
  if (argc > 1) mutations = atol(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_restoring_at_random_frames_repeats_every_later_frame),
      cmocka_unit_test(test_a_state_restores_into_another_environment),
      cmocka_unit_test(test_a_state_brings_its_mode),
      cmocka_unit_test(test_restoring_the_play_leaves_the_generators),
      cmocka_unit_test(test_states_without_generators_are_equal_when_only_these_differ),
      cmocka_unit_test(test_states_of_others_are_refused),
      cmocka_unit_test(test_states_of_a_wrong_length_are_refused),
      cmocka_unit_test(test_damaged_states_are_refused_or_play_on),
      cmocka_unit_test(test_a_state_with_impossibly_many_draws_is_refused),
      cmocka_unit_test(test_a_file_restores_every_later_frame),
      cmocka_unit_test(test_a_file_is_written_and_read),
      cmocka_unit_test(test_a_file_says_what_it_belongs_to),
      cmocka_unit_test(test_files_of_others_are_refused_by_name),
      cmocka_unit_test(test_a_file_of_a_later_version_is_refused),
      cmocka_unit_test(test_an_unknown_field_is_refused),
      cmocka_unit_test(test_a_field_of_another_size_is_refused),
      cmocka_unit_test(test_a_missing_field_is_refused),
      cmocka_unit_test(test_a_payload_that_does_not_unpack_is_refused),
      cmocka_unit_test(test_other_files_are_refused),
      cmocka_unit_test(test_damaged_files_are_refused),
      cmocka_unit_test(test_damaged_files_with_a_right_checksum_are_refused_or_play_on),
  };
  return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
