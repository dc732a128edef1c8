/* The sound channels on register settings of our own: periods and shapes of the sixteen waveforms, an oracle that
 * shifts one bit at a time, volumes, and the state of the channels after resets and copies. tests/ale_sound_live.py
 * tests games. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/tia_audio.h"
#include "host/env.h"

enum { LENGTH = 8192, WARM_UP = 4096 };

static vcs_t *machine(void) {
  vcs_t *m = calloc(1, sizeof *m);
  assert_non_null(m);
  vcs_audio_power_on(m);
  return m;
}

static void set(vcs_t *m, int channel, int audc, int audf, int audv) {
  m->audio[channel] = (uint8_t)audc;
  m->audio[2 + channel] = (uint8_t)audf;
  m->audio[4 + channel] = (uint8_t)audv;
}

/* Samples of one channel at full volume, once it has settled: 188 or 128. */
static void settled(int audc, int audf, uint8_t samples[LENGTH]) {
  vcs_t *m = machine();
  uint8_t *before = malloc(WARM_UP);
  assert_non_null(before);
  set(m, 0, audc, audf, 15);
  vcs_sound(m, before, WARM_UP);
  vcs_sound(m, samples, LENGTH);
  free(before);
  free(m);
}

static int period(const uint8_t samples[LENGTH]) {
  for (int p = 1; p <= LENGTH / 2; p++) {
    if (memcmp(samples, samples + p, (size_t)(LENGTH - p)) == 0) return p;
  }
  return 0;
}

/* ---- Waveforms ---------------------------------------------------------------------------------------------- */

static const int periods[16] = {1, 15, 465, 465, 2, 2, 31, 31, 511, 31, 31, 1, 6, 6, 93, 93};
static const int ones[16] = {1, 8, 0, 0, 1, 1, 0, 0, 256, 16, 0, 1, 3, 3, 0, 0}; /* in a period; 0: not stated */

static void test_waveforms_have_their_periods(void **state) {
  (void)state;
  uint8_t samples[LENGTH];
  for (int audc = 0; audc < 16; audc++) {
    settled(audc, 0, samples);
    assert_int_equal(period(samples), periods[audc]);
  }
}

static void test_polynomials_and_squares_have_their_share_of_ones(void **state) {
  (void)state;
  uint8_t samples[LENGTH];
  for (int audc = 0; audc < 16; audc++) {
    int count = 0;
    settled(audc, 0, samples);
    for (int i = 0; i < periods[audc]; i++) count += samples[i] == 188;
    if (ones[audc]) assert_int_equal(count, ones[audc]);
  }
}

static void test_audf_divides_the_pitch(void **state) {
  (void)state;
  uint8_t samples[LENGTH];
  for (int audf = 0; audf < 32; audf++) {
    settled(1, audf, samples);
    assert_int_equal(period(samples), 15 * (audf + 1));
    settled(12, audf, samples);
    assert_int_equal(period(samples), 6 * (audf + 1));
    settled(9, audf, samples);
    assert_int_equal(period(samples), 31 * (audf + 1));
  }
}

static void test_div_31_is_a_square_of_18_and_13(void **state) {
  (void)state;
  static const int waves[] = {6, 10};
  uint8_t samples[LENGTH];
  for (int w = 0; w < 2; w++) {
    int start = 1, runs[2];
    settled(waves[w], 0, samples);
    while (samples[start] == samples[start - 1]) start++;
    for (int r = 0; r < 2; r++) {
      int end = start + 1;
      while (samples[end] == samples[start]) end++;
      runs[r] = end - start;
      start = end;
    }
    assert_int_equal(runs[0] + runs[1], 31);
    assert_int_equal(runs[0] > runs[1] ? runs[0] : runs[1], 18);
  }
}

static void test_twins_are_equal(void **state) {
  (void)state;
  static const int twins[][2] = {{0, 11}, {4, 5}, {12, 13}};
  uint8_t samples[LENGTH], others[LENGTH];
  for (int i = 0; i < 3; i++) {
    settled(twins[i][0], 3, samples);
    settled(twins[i][1], 3, others);
    assert_memory_equal(samples, others, LENGTH);
  }
}

/* Bits that remain from other waveforms may all be 0; a polynomial restarts from there. */
static void test_polynomials_leave_zero(void **state) {
  (void)state;
  static const int waves[] = {1, 2, 3, 8, 9};
  uint8_t samples[LENGTH];
  for (int i = 0; i < 5; i++) {
    vcs_t *m = machine();
    m->audio_five[0] = m->audio_four[0] = 0;
    set(m, 0, waves[i], 0, 15);
    vcs_sound(m, samples, LENGTH);
    vcs_sound(m, samples, LENGTH);
    assert_int_equal(period(samples), periods[waves[i]]);
    free(m);
  }
}

/* ---- An oracle, a bit at a time ----------------------------------------------------------------------------- */

typedef struct {
  int wait;
  char five[5], four[4]; /* '0' or '1', oldest bit first */
} slow_t;

static void push(char *bits, int count, int bit) {
  memmove(bits, bits + 1, (size_t)count - 1);
  bits[count - 1] = bit ? '1' : '0';
}

static int all_zero(const char *bits, int count) { return memchr(bits, '1', (size_t)count) == NULL; }

/* The sequences by their recurrences: a bit is the sum of the one n ago and the one k ago. */
static int next_of(const char *bits, int n, int k) { return all_zero(bits, n) || bits[0] != bits[n - k]; }

static void slow_pulse(slow_t *s, int audc) {
  char nine[9], wave = "0123456789ABCDEF"[audc];
  int left_five = s->five[0] == '1', moves = 1;
  memcpy(nine, s->four, 4);
  memcpy(nine + 4, s->five, 5);
  if (audc == 8) { /* the nine bits are one register */
    push(nine, 9, next_of(nine, 9, 5));
    memcpy(s->four, nine, 4);
    memcpy(s->five, nine + 4, 5);
    return;
  }
  if (strchr("23679AEF", wave)) push(s->five, 5, next_of(s->five, 5, 3));
  if (strchr("26AE", wave)) moves = memcmp(s->five + 1, "1000", 4) == 0;
  if (strchr("37F", wave)) moves = s->five[0] == '1';
  if (!moves) return;
  if (audc == 0 || audc == 11) push(s->four, 4, 1);
  if (audc >= 1 && audc <= 3) push(s->four, 4, next_of(s->four, 4, 3));
  if (audc >= 4 && audc <= 7) push(s->four, 4, s->four[3] == '0');
  if (audc == 9) push(s->four, 4, left_five);
  if (audc == 10) push(s->four, 4, s->five[0] == '1');
  if (audc >= 12) {
    int bit = memcmp(s->four + 1, "001", 3) == 0 || memcmp(s->four + 1, "01", 2) == 0;
    for (int i = 0; i < 4; i++) s->four[i] = s->four[i] == '1' ? '0' : '1';
    push(s->four, 4, bit);
  }
}

static int slow_sample(slow_t *s, const vcs_t *m) {
  int sample = 128;
  for (int c = 0; c < 2; c++) {
    if (s[c].wait++ >= m->audio[2 + c] % 32) {
      s[c].wait = 0;
      slow_pulse(&s[c], m->audio[c] % 16);
    }
    if (s[c].four[0] == '1') sample += 4 * (m->audio[4 + c] % 16);
  }
  return sample;
}

/* Random registers, all eight bits of them, changed at random times: the waveforms hand their bits to one another. */
static void test_samples_equal_the_slow_oracle(void **state) {
  (void)state;
  vcs_t *m = machine();
  slow_t slow[2] = {{0, {'0', '0', '0', '0', '1'}, {'0', '0', '0', '1'}},
                    {0, {'0', '0', '0', '0', '1'}, {'0', '0', '0', '1'}}};
  uint64_t random = 1;
  uint8_t samples[64];
  long checked = 0;
  for (int round = 0; round < 100000; round++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    m->audio[(random >> 40) % 6] = (uint8_t)(random >> 56 & (random >> 33 & 1 ? 0xFF : 0xE3)); /* high pitches, too */
    int count = (int)((random >> 48) % 64);
    vcs_sound(m, samples, count);
    for (int i = 0; i < count; i++) assert_int_equal(samples[i], slow_sample(slow, m));
    checked += count;
  }
  assert_true(checked > 3000000);
  free(m);
}

static void test_calls_can_be_split_anywhere(void **state) {
  (void)state;
  vcs_t *m = machine(), *split = machine();
  uint8_t whole[2048], parts[2048];
  set(m, 0, 8, 3, 9);
  set(m, 1, 15, 6, 5);
  memcpy(split->audio, m->audio, sizeof m->audio);
  vcs_sound(m, whole, 2048);
  for (int at = 0, step = 0; at < 2048; at += step, step++) {
    if (step > 2048 - at) step = 2048 - at;
    vcs_sound(split, parts + at, step);
  }
  assert_memory_equal(whole, parts, sizeof whole);
  assert_memory_equal(m, split, sizeof *m);
  free(m);
  free(split);
}

/* ---- Registers ---------------------------------------------------------------------------------------------- */

static void test_volume_0_is_silence(void **state) {
  (void)state;
  vcs_t *m = machine();
  uint8_t samples[LENGTH];
  for (int audc = 0; audc < 16; audc++) {
    set(m, 0, audc, audc, 0);
    set(m, 1, 15 - audc, 31 - audc, 0);
    vcs_sound(m, samples, LENGTH);
    for (int i = 0; i < LENGTH; i++) assert_int_equal(samples[i], 128);
  }
  free(m);
}

static void test_volume_is_four_a_step_and_channels_add(void **state) {
  (void)state;
  vcs_t *m = machine();
  uint8_t samples[64];
  for (int a = 0; a < 16; a++) {
    for (int b = 0; b < 16; b++) {
      set(m, 0, 0, 0, a);
      set(m, 1, 11, 0, b);
      vcs_sound(m, samples, 64);
      assert_int_equal(samples[63], 128 + 4 * (a + b));
    }
  }
  free(m);
}

static void test_channels_do_not_touch_each_other(void **state) {
  (void)state;
  vcs_t *both = machine(), *left = machine(), *right = machine();
  uint8_t sum[LENGTH], first[LENGTH], second[LENGTH];
  set(both, 0, 2, 7, 6);
  set(left, 0, 2, 7, 6);
  set(both, 1, 7, 4, 11);
  set(right, 1, 7, 4, 11);
  vcs_sound(both, sum, LENGTH);
  vcs_sound(left, first, LENGTH);
  vcs_sound(right, second, LENGTH);
  for (int i = 0; i < LENGTH; i++) assert_int_equal(sum[i], first[i] + second[i] - 128);
  free(both);
  free(left);
  free(right);
}

static void test_a_lowered_audf_pulses_at_once(void **state) {
  (void)state;
  vcs_t *m = machine();
  uint8_t samples[32];
  set(m, 0, 4, 31, 15);
  vcs_sound(m, samples, 20);
  assert_int_equal(m->audio_divider[0], 20);
  m->audio[2] = 5;
  vcs_sound(m, samples, 1);
  assert_int_equal(m->audio_divider[0], 0);
  free(m);
}

/* A cartridge that writes $10 + n to sound register n, every other one through a mirror, and makes frames of two lines.
 */
static void test_writes_reach_the_registers(void **state) {
  (void)state;
  static uint8_t image[4096];
  static const uint8_t frame[] = {0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x85, 0x02};
  size_t at = 0;
  for (int n = 0; n < 6; n++) { /* LDA #, STA */
    const uint8_t write[] = {0xA9, (uint8_t)(0x10 + n), 0x85, (uint8_t)((n & 1 ? 0x55 : 0x15) + n)};
    memcpy(image + at, write, sizeof write);
    at += sizeof write;
  }
  memcpy(image + at, frame, sizeof frame);
  at += sizeof frame;
  memcpy(image + at, (const uint8_t[]){0x4C, 0x00, 0xF0}, 3);
  image[0xFFD] = 0xF0;
  vcs_cart_t *cart;
  vcs_env_t *env;
  assert_int_equal(vcs_cart_load(image, sizeof image, NULL, &cart, NULL), VCS_OK);
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  for (int n = 0; n < 6; n++) assert_int_equal(vcs_env_machine(env)->audio[n], 0x10 + n);
  vcs_env_free(env);
  vcs_cart_free(cart);
}

/* ---- Machines and environments ------------------------------------------------------------------------------ */

static vcs_cart_t *demo(void) {
  vcs_cart_t *cart;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = "demo"};
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

static vcs_env_t *play(const vcs_cart_t *cart, int frame_skip, int sound) {
  vcs_env_t *env;
  vcs_env_options_t options;
  vcs_env_defaults(cart, &options);
  options.frame_skip = frame_skip;
  options.repeat_action_probability = 0;
  assert_int_equal(vcs_env_create_with(cart, &options, &env, NULL), VCS_OK);
  vcs_env_set_sound(env, sound);
  return env;
}

static int is_heard(const vcs_env_t *env) {
  const uint8_t *samples = vcs_env_sound(env);
  return memcmp(samples, samples + 1, VCS_SOUND_SAMPLES - 1) != 0;
}

static void test_power_on_is_silent_and_reset_keeps_the_sound(void **state) {
  (void)state;
  vcs_cart_t *cart = demo();
  vcs_t *m = machine(), *sound = machine(); /* only the sound of the second is looked at */
  uint8_t samples[1000];
  vcs_boot(cart, m, NULL);
  vcs_sound(m, samples, 1000);
  for (int i = 0; i < 1000; i++) assert_int_equal(samples[i], 128);
  set(m, 0, 8, 3, 9);
  set(m, 1, 1, 0, 2);
  vcs_sound(m, samples, 777);
  memcpy(sound, m, vcs_state_size(cart));
  vcs_reset(cart, m, NULL);
  assert_memory_equal(m->audio, sound->audio, sizeof m->audio);
  assert_memory_equal(m->audio_divider, sound->audio_divider, sizeof m->audio_divider);
  assert_memory_equal(m->audio_five, sound->audio_five, sizeof m->audio_five);
  assert_memory_equal(m->audio_four, sound->audio_four, sizeof m->audio_four);
  free(m);
  free(sound);
  vcs_cart_free(cart);
}

static void test_sound_is_off_and_zero_at_first(void **state) {
  (void)state;
  static const uint8_t zero[VCS_SOUND_SAMPLES];
  vcs_cart_t *cart = demo();
  vcs_env_t *env = play(cart, 1, 0);
  for (int i = 0; i < 100; i++) vcs_env_act(env, VCS_FIRE, VCS_NOOP);
  assert_memory_equal(vcs_env_sound(env), zero, sizeof zero);
  vcs_env_set_sound(env, 1);
  assert_memory_equal(vcs_env_sound(env), zero, sizeof zero);
  vcs_env_act(env, VCS_NOOP, VCS_NOOP);
  assert_true(vcs_env_sound(env)[0] >= 128);
  vcs_env_free(env);
  vcs_cart_free(cart);
}

static void test_listening_changes_nothing_but_the_waveforms(void **state) {
  (void)state;
  vcs_cart_t *cart = demo();
  vcs_env_t *loud = play(cart, 1, 1), *quiet = play(cart, 1, 0);
  vcs_stream_t stream;
  int heard = 0;
  vcs_stream_start(&stream, 3);
  for (int i = 0; i < 600; i++) {
    int action = vcs_stream_next(&stream);
    assert_int_equal(vcs_env_act(loud, action, VCS_NOOP), vcs_env_act(quiet, action, VCS_NOOP));
    heard += is_heard(loud);
  }
  vcs_t *a = vcs_env_machine(loud), *b = vcs_env_machine(quiet);
  assert_true(heard > 10);
  assert_int_not_equal(vcs_hash(cart, a), vcs_hash(cart, b));
  memcpy(a->audio_divider, b->audio_divider, sizeof a->audio_divider);
  memcpy(a->audio_five, b->audio_five, sizeof a->audio_five);
  memcpy(a->audio_four, b->audio_four, sizeof a->audio_four);
  assert_int_equal(vcs_hash(cart, a), vcs_hash(cart, b));
  assert_memory_equal(vcs_env_screen(loud), vcs_env_screen(quiet), (size_t)(VCS_WIDTH * vcs_env_height(loud)));
  vcs_env_free(loud);
  vcs_env_free(quiet);
  vcs_cart_free(cart);
}

static void test_an_act_of_four_frames_is_heard_as_one(void **state) {
  (void)state;
  vcs_cart_t *cart = demo();
  vcs_env_t *four = play(cart, 4, 1), *one = play(cart, 1, 0);
  vcs_stream_t stream;
  int heard = 0;
  vcs_stream_start(&stream, 3);
  for (int i = 0; i < 300; i++) {
    uint8_t samples[VCS_SOUND_SAMPLES];
    int action = vcs_stream_next(&stream);
    vcs_env_act(four, action, VCS_NOOP);
    for (int k = 0; k < 4; k++) vcs_env_act(one, action, VCS_NOOP);
    vcs_sound(vcs_env_machine(one), samples, VCS_SOUND_SAMPLES);
    assert_memory_equal(vcs_env_sound(four), samples, sizeof samples);
    heard += is_heard(four);
  }
  assert_true(heard > 10);
  vcs_env_free(four);
  vcs_env_free(one);
  vcs_cart_free(cart);
}

static void test_a_clone_keeps_the_waveform(void **state) {
  (void)state;
  vcs_cart_t *cart = demo();
  vcs_env_t *env = play(cart, 1, 1), *other = play(cart, 1, 1);
  vcs_stream_t stream;
  size_t size = vcs_env_state_size(env);
  void *saved = malloc(size);
  int heard = 0;
  assert_non_null(saved);
  vcs_stream_start(&stream, 3);
  for (int i = 0; i < 200; i++) vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
  vcs_env_state_copy(env, saved);
  assert_int_equal(vcs_env_state_restore(other, saved, size, NULL), VCS_OK);
  for (int i = 0; i < 300; i++) {
    int action = vcs_stream_next(&stream);
    vcs_env_act(env, action, VCS_NOOP);
    vcs_env_act(other, action, VCS_NOOP);
    assert_memory_equal(vcs_env_sound(env), vcs_env_sound(other), VCS_SOUND_SAMPLES);
    heard += is_heard(env);
  }
  assert_true(heard > 10);
  free(saved);
  vcs_env_free(env);
  vcs_env_free(other);
  vcs_cart_free(cart);
}

static void test_a_frame_lasts_two_samples_a_line(void **state) {
  (void)state;
  vcs_t *m = machine();
  assert_int_equal(vcs_sound_length(m), 524);
  m->scanlines = 312;
  assert_int_equal(vcs_sound_length(m), 624);
  m->scanlines = 100000;
  assert_int_equal(vcs_sound_length(m), VCS_SOUND_LENGTH_MAX);
  assert_int_equal(vcs_sound_rate(VCS_FORMAT_NTSC), 31400);
  assert_int_equal(vcs_sound_rate(VCS_FORMAT_AUTO), 31400);
  assert_int_equal(vcs_sound_rate(VCS_FORMAT_PAL), 31113);
  assert_int_equal(vcs_sound_rate(VCS_FORMAT_SECAM), 31113);
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_waveforms_have_their_periods),
      cmocka_unit_test(test_polynomials_and_squares_have_their_share_of_ones),
      cmocka_unit_test(test_audf_divides_the_pitch),
      cmocka_unit_test(test_div_31_is_a_square_of_18_and_13),
      cmocka_unit_test(test_twins_are_equal),
      cmocka_unit_test(test_polynomials_leave_zero),
      cmocka_unit_test(test_samples_equal_the_slow_oracle),
      cmocka_unit_test(test_calls_can_be_split_anywhere),
      cmocka_unit_test(test_volume_0_is_silence),
      cmocka_unit_test(test_volume_is_four_a_step_and_channels_add),
      cmocka_unit_test(test_channels_do_not_touch_each_other),
      cmocka_unit_test(test_a_lowered_audf_pulses_at_once),
      cmocka_unit_test(test_writes_reach_the_registers),
      cmocka_unit_test(test_power_on_is_silent_and_reset_keeps_the_sound),
      cmocka_unit_test(test_sound_is_off_and_zero_at_first),
      cmocka_unit_test(test_listening_changes_nothing_but_the_waveforms),
      cmocka_unit_test(test_an_act_of_four_frames_is_heard_as_one),
      cmocka_unit_test(test_a_clone_keeps_the_waveform),
      cmocka_unit_test(test_a_frame_lasts_two_samples_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
