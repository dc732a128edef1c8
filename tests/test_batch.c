/* test_batch.c: batches against a simple implementation with one environment, which draws every frame and keeps every
 * picture; then threads, orders, resets, and options that are rejected. Two cartridges: our own, and one with ragged
 * frames, which show rows of earlier frames. tests/ale_vector_live.py compares with ale-py's AtariVectorEnv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "brief.h"
#include "diffvcs/objects.h"
#include "host/env.h"
#include "host/preprocess.h"
#include "ragged.h"

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

static vcs_cart_t *load(const void *image, size_t size) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart = NULL;
  vcs_error_t error;
  if (vcs_cart_load(image, size, &options, &cart, &error)) fail_msg("%s", error.message);
  return cart;
}

static vcs_cart_t *load_demo(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  return load(image, size);
}

static vcs_cart_t *load_ragged(void) {
  uint8_t image[4096];
  ragged_image(image);
  return load(image, sizeof image);
}

/* ---- The twin ----------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_env_t *env;
  vcs_batch_options_t o;
  vcs_resize_t *resize;
  void *scratch;
  int height, channels, lives, elapsed, over, life_lost, reward, terminated, truncated;
  size_t raw_size, picture_size;
  uint8_t *raw[2], *stack, *final;
} twin_t;

static twin_t twin_create(const vcs_cart_t *cart, const vcs_batch_options_t *o, const vcs_batch_env_t *place) {
  twin_t t = {.o = *o, .channels = o->rgb ? 3 : 1};
  vcs_env_options_t options;
  vcs_env_defaults(cart, &options);
  options.repeat_action_probability = o->repeat_action_probability;
  options.noop_max = o->noop_max;
  options.fire_reset = o->fire_reset ? o->full_action_space ? VCS_FIRE_RESET_LEGAL : VCS_FIRE_RESET_MINIMAL : 0;
  if (place && place->mode >= 0) options.mode = place->mode;
  if (place && place->difficulty >= 0) options.difficulty = place->difficulty;
  assert_int_equal(vcs_env_create_with(cart, &options, &t.env, NULL), VCS_OK);
  vcs_env_set_sound(t.env, o->sound);
  t.env->draw_history.pinned = true; /* every frame is drawn */
  t.height = vcs_env_height(t.env);
  t.raw_size = (size_t)(t.height * 160 * t.channels);
  t.picture_size = (size_t)(o->height * o->width * t.channels);
  t.resize = vcs_resize_create(t.height, 160, o->height, o->width, t.channels);
  t.scratch = aligned_alloc(64, (vcs_resize_scratch(t.resize) + 63) & ~(size_t)63);
  for (int i = 0; i < 2; i++) t.raw[i] = calloc(1, t.raw_size);
  t.stack = calloc((size_t)o->stack, t.picture_size);
  t.final = calloc((size_t)o->stack, t.picture_size);
  return t;
}

static void twin_free(twin_t *t) {
  vcs_env_free(t->env);
  vcs_resize_free(t->resize);
  free(t->scratch);
  free(t->raw[0]);
  free(t->raw[1]);
  free(t->stack);
  free(t->final);
}

static void twin_capture(twin_t *t, uint8_t *raw) {
  if (t->o.rgb) {
    vcs_env_screen_rgb(t->env, raw);
  } else {
    vcs_env_screen_gray(t->env, raw);
  }
}

static void twin_show(twin_t *t) {
  const uint8_t *rows[320];
  for (size_t i = 0; t->o.max_pool && i < t->raw_size; i++) {
    if (t->raw[1][i] > t->raw[0][i]) t->raw[0][i] = t->raw[1][i];
  }
  for (int y = 0; y < t->height; y++) rows[y] = t->raw[0] + y * 160 * t->channels;
  memmove(t->stack, t->stack + t->picture_size, (size_t)(t->o.stack - 1) * t->picture_size);
  vcs_resize_rows(t->resize, rows, t->scratch, t->stack + (size_t)(t->o.stack - 1) * t->picture_size);
}

static void twin_reset(twin_t *t, int64_t seed) {
  if (seed >= 0) vcs_env_reload(t->env, (uint32_t)seed);
  vcs_env_reset(t->env);
  memset(t->stack, 0, (size_t)t->o.stack * t->picture_size);
  memset(t->raw[1], 0, t->raw_size);
  twin_capture(t, t->raw[0]);
  twin_show(t);
  t->elapsed = t->reward = t->over = t->life_lost = t->terminated = t->truncated = 0;
  t->lives = vcs_env_lives(t->env);
}

static bool twin_ended(const twin_t *t) {
  return t->over || t->elapsed >= t->o.max_episode_frames || (t->o.episodic_life && t->life_lost);
}

static void twin_step(twin_t *t, int number) {
  int32_t list[VCS_ACTIONS];
  if (t->o.autoreset == VCS_AUTORESET_NEXT_STEP && twin_ended(t)) {
    twin_reset(t, -1);
    return;
  }
  if (t->o.full_action_space) {
    vcs_env_legal_actions(t->env, list);
  } else {
    vcs_env_minimal_actions(t->env, list);
  }
  t->reward = 0;
  for (int left = t->o.frame_skip; left > 0; left--) {
    t->reward += vcs_env_act(t->env, list[number], VCS_NOOP);
    t->over = vcs_env_over(t->env);
    t->elapsed++;
    t->life_lost = vcs_env_lives(t->env) < t->lives && vcs_env_lives(t->env) > 0;
    if (twin_ended(t)) break;
    if (left <= 2) twin_capture(t, t->raw[left - 1]);
  }
  twin_show(t);
  t->lives = vcs_env_lives(t->env);
  if (t->o.reward_clipping) t->reward = t->reward < -1 ? -1 : t->reward > 1 ? 1 : t->reward;
  t->terminated = t->over || ((t->o.life_loss_info || t->o.episodic_life) && t->life_lost);
  t->truncated = !t->terminated && t->elapsed >= t->o.max_episode_frames;
  if (t->o.autoreset == VCS_AUTORESET_SAME_STEP && twin_ended(t)) {
    const int reward = t->reward, terminated = t->terminated, truncated = t->truncated;
    memcpy(t->final, t->stack, (size_t)t->o.stack * t->picture_size);
    twin_reset(t, -1);
    t->reward = reward;
    t->terminated = terminated;
    t->truncated = truncated;
  }
}

/* ---- A batch and its buffers -------------------------------------------------------------------------------- */

enum { ENVS = 6 };

typedef struct {
  vcs_batch_t *batch;
  vcs_batch_results_t to;
  int32_t ids[ENVS], rewards[ENVS], lives[ENVS], frames[ENVS], episode_frames[ENVS];
  uint8_t terminated[ENVS], truncated[ENVS], ram[ENVS][128], sound[ENVS][VCS_SOUND_SAMPLES];
} fixture_t;

static vcs_batch_options_t defaults(void) {
  vcs_batch_options_t o;
  vcs_batch_defaults(&o);
  o.envs = ENVS;
  o.threads = 2;
  o.max_episode_frames = 61;
  return o;
}

static fixture_t *create(const vcs_cart_t *const *carts, int count, const vcs_batch_env_t *envs,
                         const vcs_batch_options_t *o) {
  fixture_t *f = calloc(1, sizeof *f);
  vcs_error_t error;
  if (vcs_batch_create(carts, count, envs, o, &f->batch, &error)) fail_msg("%s", error.message);
  const size_t size = vcs_batch_observation_size(f->batch);
  f->to = (vcs_batch_results_t){calloc(ENVS, size), calloc(ENVS, size), f->ids,       f->rewards, f->lives,   f->frames,
                                f->episode_frames,  f->terminated,      f->truncated, f->ram[0],  f->sound[0]};
  return f;
}

static void destroy(fixture_t *f) {
  vcs_batch_free(f->batch);
  free(f->to.observations);
  free(f->to.final_observations);
  free(f);
}

static void assert_refused(vcs_status_t status, vcs_status_t expected, const vcs_error_t *error, const char *part) {
  assert_int_equal(status, expected);
  if (!strstr(error->message, part)) fail_msg("'%s' does not say '%s'", error->message, part);
}

static void require(vcs_status_t status, const vcs_error_t *error) {
  if (status) fail_msg("%s", error->message);
}

static void reset_all(fixture_t *f, int32_t seed) {
  int32_t seeds[ENVS];
  vcs_error_t error;
  for (int i = 0; i < ENVS; i++) seeds[i] = seed + i;
  require(vcs_batch_reset(f->batch, NULL, seeds, ENVS, &f->to, &error), &error);
}

static void step(fixture_t *f, const int32_t *actions) {
  vcs_error_t error;
  require(vcs_batch_step(f->batch, actions, NULL, &f->to, &error), &error);
}

/* Actions of a step, from nowhere in particular. */
static void draw(uint32_t *random, int32_t actions[ENVS]) {
  for (int i = 0; i < ENVS; i++) {
    *random = *random * 1664525u + 1013904223u;
    actions[i] = (int32_t)(*random >> 16) % 6;
  }
}

static void compare(const fixture_t *f, int at, const twin_t *t, int when) {
  const size_t size = vcs_batch_observation_size(f->batch);
  if (memcmp(f->to.observations + (size_t)at * size, t->stack, size) != 0)
    fail_msg("observation %d of step %d", at, when);
  assert_int_equal(f->rewards[at], t->reward);
  assert_int_equal(f->lives[at], t->lives);
  assert_int_equal(f->terminated[at], t->terminated);
  assert_int_equal(f->truncated[at], t->truncated);
  assert_int_equal(f->frames[at], vcs_env_frame_number(t->env));
  assert_int_equal(f->episode_frames[at], vcs_env_episode_frame_number(t->env));
  assert_memory_equal(f->ram[at], vcs_env_ram(t->env), 128);
  if (t->o.sound) assert_memory_equal(f->sound[at], vcs_env_sound(t->env), VCS_SOUND_SAMPLES);
  if (t->o.autoreset == VCS_AUTORESET_SAME_STEP && (t->truncated || (t->terminated && twin_ended(t)))) {
    assert_memory_equal(f->to.final_observations + (size_t)at * size, t->final, size);
  }
}

/* Plays both; returns how many episodes ended. */
static int play_beside_twins(const vcs_cart_t *const *carts, int count, const vcs_batch_env_t *envs,
                             const vcs_batch_options_t *o, int steps) {
  fixture_t *f = create(carts, count, envs, o);
  twin_t twins[ENVS];
  uint32_t random = 7;
  int endings = 0;
  for (int i = 0; i < ENVS; i++) {
    twins[i] = twin_create(carts[envs ? envs[i].cart : i % count], o, envs ? &envs[i] : NULL);
    twin_reset(&twins[i], 50 + i);
  }
  reset_all(f, 50);
  for (int i = 0; i < ENVS; i++) compare(f, i, &twins[i], -1);
  for (int k = 0; k < steps; k++) {
    int32_t actions[ENVS];
    draw(&random, actions);
    step(f, actions);
    for (int i = 0; i < ENVS; i++) {
      twin_step(&twins[i], actions[i]);
      compare(f, i, &twins[i], k);
      endings += twins[i].terminated || twins[i].truncated;
    }
    if (k == steps / 2) { /* some, with and without seeds */
      const int32_t ids[] = {4, 1}, seeds[] = {-1, 99};
      vcs_error_t error;
      require(vcs_batch_reset(f->batch, ids, seeds, 2, &f->to, &error), &error);
      twin_reset(&twins[4], -1);
      twin_reset(&twins[1], 99);
      for (int i = 0; i < ENVS; i++) compare(f, i, &twins[i], k);
    }
  }
  for (int i = 0; i < ENVS; i++) twin_free(&twins[i]);
  destroy(f);
  return endings;
}

/* ---- Equal to the twin -------------------------------------------------------------------------------------- */

static void test_batch_equals_the_plain_way(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  assert_true(play_beside_twins(carts, 1, NULL, &o, trials(60, 24)) > 0);
  o.max_episode_frames = 4000;
  o.repeat_action_probability = 0.25f;
  o.episodic_life = 1;
  o.reward_clipping = 0;
  play_beside_twins(carts, 1, NULL, &o, trials(150, 30));
  vcs_cart_free(cart);
}

static void test_rows_the_beam_did_not_reach_are_exact(void **state) {
  (void)state;
  vcs_cart_t *cart = load_ragged();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.max_episode_frames = 171;
  assert_true(play_beside_twins(carts, 1, NULL, &o, trials(120, 50)) > 0);
  o.frame_skip = 1;
  play_beside_twins(carts, 1, NULL, &o, trials(200, 40));
  o.frame_skip = 3;
  o.max_pool = 0;
  play_beside_twins(carts, 1, NULL, &o, trials(60, 20));
  vcs_cart_free(cart);
}

static void test_episodes_end_at_every_frame_of_a_step(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  for (int autoreset = VCS_AUTORESET_NEXT_STEP; autoreset <= VCS_AUTORESET_SAME_STEP; autoreset++) {
    for (int frames = 4; frames < 9; frames++) {
      vcs_batch_options_t o = defaults();
      o.autoreset = (uint8_t)autoreset;
      o.max_episode_frames = frames;
      o.noop_max = 5;
      assert_true(play_beside_twins(carts, 2, NULL, &o, 8) > 0);
    }
  }
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_autoreset_can_be_disabled(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  vcs_batch_options_t o = defaults();
  o.autoreset = VCS_AUTORESET_DISABLED;
  o.max_episode_frames = 40;
  assert_true(play_beside_twins(carts, 2, NULL, &o, 20) > 6 * 2);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_colours_sizes_and_stacks(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  vcs_batch_options_t o = defaults();
  o.rgb = 1;
  o.stack = 2;
  play_beside_twins(carts, 2, NULL, &o, 20);
  o.rgb = 0;
  o.width = 160;
  o.height = 210;
  o.stack = 1;
  play_beside_twins(carts, 2, NULL, &o, 20);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_sound_is_that_of_the_last_frame(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  for (int autoreset = VCS_AUTORESET_NEXT_STEP; autoreset <= VCS_AUTORESET_DISABLED; autoreset++) {
    vcs_batch_options_t o = defaults();
    o.sound = 1;
    o.autoreset = (uint8_t)autoreset;
    play_beside_twins(carts, 2, NULL, &o, trials(40, 20));
  }
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_environments_have_cartridges_modes_and_difficulties_of_their_own(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  const vcs_batch_env_t envs[ENVS] = {{0, 1, -1, 3},  {1, -1, -1, 4}, {0, 2, 0, 5},
                                      {0, -1, -1, 6}, {0, 1, -1, 7},  {1, 0, 3, 8}};
  vcs_batch_options_t o = defaults();
  o.full_action_space = 1;
  o.fire_reset = 0;
  play_beside_twins(carts, 2, envs, &o, 30);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

/* ---- Threads and orders ------------------------------------------------------------------------------------- */

static void assert_same_results(const fixture_t *a, const fixture_t *b) {
  const size_t size = vcs_batch_observation_size(a->batch);
  assert_memory_equal(a->to.observations, b->to.observations, ENVS * size);
  assert_memory_equal(a->ids, b->ids, sizeof a->ids);
  assert_memory_equal(a->rewards, b->rewards, sizeof a->rewards);
  assert_memory_equal(a->lives, b->lives, sizeof a->lives);
  assert_memory_equal(a->frames, b->frames, sizeof a->frames);
  assert_memory_equal(a->terminated, b->terminated, sizeof a->terminated);
  assert_memory_equal(a->truncated, b->truncated, sizeof a->truncated);
  assert_memory_equal(a->ram, b->ram, sizeof a->ram);
  for (int i = 0; i < ENVS; i++) {
    if (!a->terminated[i] && !a->truncated[i]) continue;
    const size_t at = (size_t)i * size;
    assert_memory_equal(a->to.final_observations + at, b->to.final_observations + at, size);
  }
}

static void test_thread_count_changes_nothing(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 7};
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  fixture_t *f[3];
  uint32_t random = 3;
  for (int i = 0; i < 3; i++) {
    vcs_batch_options_t o = defaults();
    o.threads = threads[i];
    o.autoreset = VCS_AUTORESET_SAME_STEP;
    f[i] = create(carts, 2, NULL, &o);
    reset_all(f[i], 1);
  }
  for (int k = 0; k < trials(40, 20); k++) {
    int32_t actions[ENVS];
    draw(&random, actions);
    for (int i = 0; i < 3; i++) step(f[i], actions);
    assert_same_results(f[0], f[1]);
    assert_same_results(f[0], f[2]);
  }
  for (int i = 0; i < 3; i++) destroy(f[i]);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_halves_are_a_step(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.autoreset = VCS_AUTORESET_SAME_STEP;
  fixture_t *a = create(carts, 1, NULL, &o), *b = create(carts, 1, NULL, &o), *c = create(carts, 1, NULL, &o);
  uint32_t random = 5;
  reset_all(a, 1);
  reset_all(b, 1);
  reset_all(c, 1);
  for (int k = 0; k < trials(40, 20); k++) {
    int32_t actions[ENVS];
    vcs_error_t error;
    draw(&random, actions);
    step(a, actions);
    require(vcs_batch_send(b->batch, actions, NULL, &error), &error);
    require(vcs_batch_begin_step(c->batch, actions, NULL, &c->to, &error), &error);
    require(vcs_batch_receive(b->batch, &b->to, &error), &error);
    require(vcs_batch_end_step(c->batch, &error), &error);
    assert_same_results(a, b);
    assert_same_results(a, c);
  }
  destroy(a);
  destroy(b);
  destroy(c);
  vcs_cart_free(cart);
}

/* Batches of different cartridges and numbers of threads that share the threads of the first. */
static void test_batches_that_share_threads_are_the_same(void **state) {
  (void)state;
  enum { SHARING = 3 };
  const int rounds = trials(60, 20);
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged, demo};
  fixture_t *alone[SHARING], *shared[SHARING];
  uint32_t random = 5;
  vcs_error_t error;
  for (int last = 0; last < SHARING; last++) { /* which one outlives the others */
    for (int i = 0; i < SHARING; i++) {
      vcs_batch_options_t o = defaults();
      o.autoreset = VCS_AUTORESET_SAME_STEP;
      o.threads = 1;
      alone[i] = create(&carts[i], 1, NULL, &o);
      o.threads = 2 + (i + last) % SHARING;
      shared[i] = create(&carts[i], 1, NULL, &o);
      if (i > 0) require(vcs_batch_share_threads(shared[i]->batch, shared[i - 1]->batch, &error), &error);
      reset_all(alone[i], 1);
      reset_all(shared[i], 1);
    }
    require(vcs_batch_share_threads(shared[0]->batch, shared[2]->batch, &error), &error); /* they do already */
    for (int k = 0; k < rounds; k++) {
      int32_t actions[ENVS];
      draw(&random, actions);
      if (k == rounds / 2) { /* in the middle of steps */
        for (int i = 0; i < SHARING; i++) {
          if (i == last) continue;
          destroy(shared[i]);
          shared[i] = NULL;
        }
      }
      for (int i = 0; i < SHARING; i++) {
        if (!shared[i]) continue;
        if (k > 0) require(vcs_batch_end_step(shared[i]->batch, &error), &error);
        if (k > 0) assert_same_results(shared[i], alone[i]);
        require(vcs_batch_begin_step(shared[i]->batch, actions, NULL, &shared[i]->to, &error), &error);
      }
      for (int i = 0; i < SHARING; i++) step(alone[i], actions);
    }
    for (int i = 0; i < SHARING; i++) {
      if (shared[i]) destroy(shared[i]);
      destroy(alone[i]);
    }
  }
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

/* Each environment's story is the same, whatever the order in which they are ready. */
static void test_first_ready_results_tell_the_same_stories(void **state) {
  (void)state;
  enum { READY = 2 };
  const int moves = trials(30, 10);
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  vcs_batch_options_t o = defaults();
  o.batch_size = READY;
  fixture_t *f = create(carts, 2, NULL, &o);
  twin_t twins[ENVS];
  int seen[ENVS] = {0};
  const int32_t seeds[ENVS] = {10, 11, 12, 13, 14, 15};
  vcs_error_t error;
  for (int i = 0; i < ENVS; i++) {
    twins[i] = twin_create(carts[i % 2], &o, NULL);
    twin_reset(&twins[i], seeds[i]);
  }
  require(vcs_batch_reset(f->batch, NULL, seeds, ENVS, &f->to, &error), &error);
  for (int k = 0; k < moves * ENVS; k++) {
    int32_t actions[READY];
    for (int i = 0; i < READY; i++) {
      const int id = f->ids[i];
      if (seen[id]++ > 0) twin_step(&twins[id], (id + seen[id] - 1) % 6);
      compare(f, i, &twins[id], k);
      actions[i] = (id + seen[id]) % 6;
    }
    require(vcs_batch_send(f->batch, actions, NULL, &error), &error);
    require(vcs_batch_receive(f->batch, &f->to, &error), &error);
  }
  for (int i = 0; i < ENVS; i++) {
    assert_true(seen[i] > 0);
    twin_free(&twins[i]);
  }
  require(vcs_batch_reset(f->batch, NULL, NULL, ENVS, &f->to, &error), &error); /* drops what is under way */
  destroy(f);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

/* Steps and resets of some environments, several sends before a receive: each goes on as it would alone, results come
 * in the order of sending, and all other environments do not change. */
static void test_some_environments_go_on_alone(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  const vcs_batch_options_t o = defaults();
  fixture_t *f = create(carts, 2, NULL, &o);
  twin_t twins[ENVS];
  vcs_error_t error;
  reset_all(f, 20);
  for (int i = 0; i < ENVS; i++) {
    twins[i] = twin_create(carts[i % 2], &o, NULL);
    twin_reset(&twins[i], 20 + i);
  }
  const int32_t some[] = {4, 1}, others[] = {0}, again[] = {3, 5}, seeds[] = {7, 8};
  for (int k = 0; k < 30; k++) {
    const int32_t actions[] = {k % 6, (k + 1) % 6};
    require(vcs_batch_send_to(f->batch, some, 2, actions, NULL, &error), &error);
    require(vcs_batch_send_to(f->batch, others, 1, actions, NULL, &error), &error);
    require(vcs_batch_send_reset(f->batch, again, seeds, 2, &error), &error);
    assert_int_equal(vcs_batch_next(f->batch), 5);
    require(vcs_batch_receive(f->batch, &f->to, &error), &error);
    const int32_t order[] = {4, 1, 0, 3, 5};
    twin_step(&twins[4], actions[0]);
    twin_step(&twins[1], actions[1]);
    twin_step(&twins[0], actions[0]);
    twin_reset(&twins[3], 7);
    twin_reset(&twins[5], 8);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(f->ids[i], order[i]);
      compare(f, i, &twins[order[i]], k);
    }
    assert_int_equal(vcs_batch_next(f->batch), 0);
  }
  const int32_t all[ENVS] = {0};
  step(f, all); /* and all of them together again: 2 has not moved yet */
  for (int i = 0; i < ENVS; i++) {
    twin_step(&twins[i], 0);
    compare(f, i, &twins[i], 30);
    twin_free(&twins[i]);
  }
  destroy(f);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

/* With batch_size below envs, more actions may be sent while environments are under way. */
static void test_sends_may_overtake(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.batch_size = 2;
  fixture_t *f = create(carts, 1, NULL, &o);
  int32_t count[ENVS] = {0}, free_ids[ENVS], free_count = 0;
  twin_t twins[ENVS];
  uint32_t random = 5;
  vcs_error_t error;
  for (int i = 0; i < ENVS; i++) {
    twins[i] = twin_create(cart, &o, NULL);
    twin_reset(&twins[i], i);
  }
  require(vcs_batch_send_reset(f->batch, NULL, NULL, ENVS, &error), &error);
  for (int k = 0; k < 200; k++) {
    const int32_t ready = vcs_batch_next(f->batch);
    assert_true(ready <= 2);
    if (ready > 0) require(vcs_batch_receive(f->batch, &f->to, &error), &error);
    for (int32_t i = 0; i < ready; i++) {
      const int32_t id = f->ids[i];
      if (count[id]++ > 0) twin_step(&twins[id], (id + count[id]) % 6);
      compare(f, i, &twins[id], k);
      free_ids[free_count++] = id;
    }
    random = random * 1664525 + 1013904223;
    for (int32_t sends = (int32_t)(random >> 30); sends > 0 && free_count > 0; sends--) {
      const int32_t at = (int32_t)(random >> 8) % free_count, id = free_ids[at], action = (id + count[id] + 1) % 6;
      free_ids[at] = free_ids[--free_count];
      require(vcs_batch_send_to(f->batch, &id, 1, &action, NULL, &error), &error);
    }
  }
  for (int i = 0; i < ENVS; i++) {
    assert_true(count[i] > 10);
    twin_free(&twins[i]);
  }
  destroy(f);
  vcs_cart_free(cart);
}

static void test_a_batch_can_be_freed_with_work_under_way(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.batch_size = 2;
  const int32_t actions[2] = {0, 0};
  fixture_t *f = create(carts, 1, NULL, &o);
  destroy(f);
  f = create(carts, 1, NULL, &o);
  reset_all(f, 1);
  assert_int_equal(vcs_batch_send(f->batch, actions, NULL, NULL), VCS_OK);
  destroy(f);
  vcs_cart_free(cart);
}

static void test_stacks_in_place_are_the_same(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.autoreset = VCS_AUTORESET_SAME_STEP;
  fixture_t *a = create(carts, 1, NULL, &o);
  o.stack_in_place = 1;
  fixture_t *b = create(carts, 1, NULL, &o);
  uint32_t random = 5;
  reset_all(a, 1);
  reset_all(b, 1);
  for (int k = 0; k < trials(40, 20); k++) {
    int32_t actions[ENVS];
    draw(&random, actions);
    step(a, actions);
    step(b, actions);
    assert_same_results(a, b);
  }
  const int32_t some[] = {2};
  assert_int_equal(vcs_batch_reset(a->batch, some, NULL, 1, &a->to, NULL), VCS_OK);
  assert_int_equal(vcs_batch_reset(b->batch, some, NULL, 1, &b->to, NULL), VCS_OK);
  assert_same_results(a, b);
  assert_true(vcs_batch_bytes(b->batch, NULL) <= 16384);
  destroy(a);
  destroy(b);
  vcs_cart_free(cart);
}

/* ---- States ------------------------------------------------------------------------------------------------- */

static void play(fixture_t *f, uint32_t seed, int steps) {
  for (int k = 0; k < steps; k++) {
    int32_t actions[ENVS];
    draw(&seed, actions);
    step(f, actions);
  }
}

/* Both cartridges, so that some draw histories are exact; frame by frame, so that states are copied in all conditions.
 */
static void test_restored_states_repeat_every_later_step(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  for (int in_place = 0; in_place < 2; in_place++) {
    vcs_batch_options_t o = defaults();
    o.sound = 1;
    o.frame_skip = 3;
    fixture_t *a = create(carts, 2, NULL, &o);
    o.stack_in_place = (uint8_t)in_place;
    fixture_t *b = create(carts, 2, NULL, &o);
    const size_t size = vcs_batch_state_size(a->batch);
    uint8_t *states = malloc(ENVS * size);
    vcs_error_t error;
    reset_all(a, 1);
    reset_all(b, 50);
    for (int trial = 0; trial < trials(40, 10); trial++) {
      play(a, (uint32_t)trial, 1 + trial % 3);
      require(vcs_batch_copy(a->batch, NULL, ENVS, states, &error), &error);
      require(vcs_batch_restore(b->batch, NULL, ENVS, states, &b->to, &error), &error);
      assert_same_results(a, b);
      play(a, 99, 3);
      play(b, 99, 3);
      assert_same_results(a, b);
      require(vcs_batch_restore(a->batch, NULL, ENVS, states, &a->to, &error), &error);
    }
    free(states);
    destroy(a);
    destroy(b);
  }
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_a_state_goes_into_other_environments(void **state) {
  (void)state;
  vcs_cart_t *demo = load_demo(), *ragged = load_ragged();
  const vcs_cart_t *carts[] = {demo, ragged};
  const vcs_batch_options_t o = defaults();
  fixture_t *f = create(carts, 2, NULL, &o);
  const size_t size = vcs_batch_state_size(f->batch), seen = vcs_batch_observation_size(f->batch);
  const int32_t from[] = {2, 3}, to[] = {0, 5}, other[] = {4, 5}, crossed[] = {1, 0};
  uint8_t *states = malloc(2 * size), *before = malloc(ENVS * seen);
  vcs_error_t e;
  reset_all(f, 1);
  play(f, 4, 3);
  memcpy(before, f->to.observations, ENVS * seen);
  require(vcs_batch_copy(f->batch, from, 2, states, &e), &e);
  require(vcs_batch_restore(f->batch, to, 2, states, &f->to, &e), &e);
  for (int i = 0; i < ENVS; i++) {
    const int source = i == 0 ? 2 : i == 5 ? 3 : i;
    assert_memory_equal(f->to.observations + (size_t)i * seen, before + (size_t)source * seen, seen);
    assert_memory_equal(f->ram[i], f->ram[source], 128);
  }
  for (int k = 0; k < 20; k++) {
    const int32_t actions[ENVS] = {k % 6, 1, k % 6, k % 5, 2, k % 5};
    step(f, actions);
    assert_memory_equal(f->to.observations, f->to.observations + 2 * seen, seen);
    assert_memory_equal(f->to.observations + 5 * seen, f->to.observations + 3 * seen, seen);
  }
  assert_refused(vcs_batch_restore(f->batch, crossed, 2, states, &f->to, &e), VCS_BAD_ARGUMENT, &e,
                 "another cartridge");
  assert_refused(vcs_batch_copy(f->batch, from, 2, NULL, &e), VCS_BAD_ARGUMENT, &e, "no states");
  assert_refused(vcs_batch_copy(f->batch, NULL, 2, states, &e), VCS_BAD_ARGUMENT, &e, "without ids");
  memset(states + size, 0xFF, 64);
  assert_refused(vcs_batch_restore(f->batch, other, 2, states, &f->to, &e), VCS_BAD_ARGUMENT, &e, "no state");
  require(vcs_batch_copy(f->batch, from, 2, states, &e), &e);
  memset(states + size + 64 + sizeof(vcs_env_live_t), 0xFF, 300); /* into the first machine */
  assert_refused(vcs_batch_restore(f->batch, other, 2, states, &f->to, &e), VCS_BAD_ARGUMENT, &e, "no machine");
  free(states);
  free(before);
  destroy(f);
  vcs_cart_free(demo);
  vcs_cart_free(ragged);
}

static void test_states_need_a_batch_at_rest(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  fixture_t *f = create(carts, 1, NULL, &o);
  uint8_t *states = malloc(ENVS * vcs_batch_state_size(f->batch));
  const int32_t actions[ENVS] = {0};
  vcs_error_t e;
  assert_refused(vcs_batch_copy(f->batch, NULL, ENVS, states, &e), VCS_BAD_ARGUMENT, &e, "first reset");
  reset_all(f, 1);
  require(vcs_batch_send(f->batch, actions, NULL, &e), &e);
  assert_refused(vcs_batch_copy(f->batch, NULL, ENVS, states, &e), VCS_BAD_ARGUMENT, &e, "not received");
  destroy(f);
  o.batch_size = 2;
  f = create(carts, 1, NULL, &o);
  reset_all(f, 1);
  assert_refused(vcs_batch_copy(f->batch, NULL, ENVS, states, &e), VCS_BAD_ARGUMENT, &e, "batch_size");
  destroy(f);
  free(states);
  vcs_cart_free(cart);
}

/* ---- Small things ------------------------------------------------------------------------------------------- */

static void test_ram_and_actions_are_the_environments(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  const vcs_batch_options_t o = defaults();
  fixture_t *f = create(carts, 1, NULL, &o);
  twin_t twin = twin_create(cart, &o, NULL);
  int32_t list[VCS_ACTIONS], expected[VCS_ACTIONS];
  reset_all(f, 1);
  twin_reset(&twin, 3);
  assert_memory_equal(vcs_batch_ram(f->batch, 2), vcs_env_ram(twin.env), 128);
  const int count = vcs_env_minimal_actions(twin.env, expected);
  assert_int_equal(vcs_batch_actions(f->batch, 2, list), count);
  assert_memory_equal(list, expected, (size_t)count * sizeof *list);
  assert_int_equal(vcs_batch_actions(f->batch, ENVS, list), 0);
  assert_null(vcs_batch_ram(f->batch, -1));
  twin_free(&twin);
  destroy(f);
  vcs_cart_free(cart);
}

static void test_continuous_actions_are_directions(void **state) {
  (void)state;
  static const struct {
    float radius, angle, fire;
    int action;
  } cases[] = {{0, 0, 0, VCS_NOOP},          {0, 1, 1, VCS_FIRE},
               {1, 0, 0, VCS_RIGHT},         {1, 3.14f, 1, VCS_LEFTFIRE},
               {1, 1.5708f, 0, VCS_UP},      {1, -1.5708f, 1, VCS_DOWNFIRE},
               {1, 0.7854f, 0, VCS_UPRIGHT}, {1, -2.3562f, 1, VCS_DOWNLEFTFIRE},
               {0.4f, 0, 0.4f, VCS_NOOP}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const float polar[3] = {cases[i].radius, cases[i].angle, cases[i].fire};
    int32_t action;
    float strength;
    vcs_batch_continuous(polar, 1, 0.5f, &action, &strength);
    assert_int_equal(action, cases[i].action);
    assert_true(strength == cases[i].radius);
  }
}

static void test_a_thousand_environments_share_their_boot(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.envs = 1000;
  vcs_batch_t *batch;
  assert_int_equal(vcs_batch_create(carts, 1, NULL, &o, &batch, NULL), VCS_OK);
  assert_int_equal(vcs_batch_reset(batch, NULL, NULL, 1000, NULL, NULL), VCS_OK);
  assert_true(vcs_batch_bytes(batch, NULL) <= 65536);
  vcs_batch_free(batch);
  vcs_cart_free(cart);
}

/* ---- Refusals ----------------------------------------------------------------------------------------------- */

static void test_bad_options_are_refused(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart}, *none[] = {NULL};
  vcs_batch_t *batch = NULL;
  vcs_error_t e;
#define REFUSES(field, value, part)                                                               \
  do {                                                                                            \
    vcs_batch_options_t o = defaults();                                                           \
    o.field = value;                                                                              \
    assert_refused(vcs_batch_create(carts, 1, NULL, &o, &batch, &e), VCS_BAD_ARGUMENT, &e, part); \
    assert_null(batch);                                                                           \
  } while (0)
  REFUSES(envs, 0, "envs is 0");
  REFUSES(batch_size, ENVS + 1, "batch_size is 7");
  REFUSES(threads, -1, "threads");
  REFUSES(device, 1, "device");
  REFUSES(width, 0, "width");
  REFUSES(height, 5000, "height");
  REFUSES(stack, 0, "stack");
  REFUSES(frame_skip, 0, "frame_skip");
  REFUSES(noop_max, 1001, "noop_max");
  REFUSES(max_episode_frames, -1, "max_episode_frames");
  REFUSES(autoreset, 3, "autoreset");
  REFUSES(repeat_action_probability, 1.5f, "repeat_action_probability");
  vcs_batch_options_t o = defaults();
  assert_refused(vcs_batch_create(carts, 0, NULL, &o, &batch, &e), VCS_BAD_ARGUMENT, &e, "needs a cartridge");
  assert_refused(vcs_batch_create(none, 1, NULL, &o, &batch, &e), VCS_BAD_ARGUMENT, &e, "is missing");
  assert_refused(vcs_batch_create(carts, 1, NULL, &o, NULL, &e), VCS_BAD_ARGUMENT, &e, "no place");
  o.envs = 1;
  vcs_batch_env_t place = {1, -1, -1, 0};
  assert_refused(vcs_batch_create(carts, 1, &place, &o, &batch, &e), VCS_BAD_ARGUMENT, &e, "cartridge 1");
  place = (vcs_batch_env_t){0, 77, -1, 0};
  assert_refused(vcs_batch_create(carts, 1, &place, &o, &batch, &e), VCS_NOT_FOUND, &e, "mode 77");
  o.stack_in_place = 1;
  o.envs = 2;
  o.batch_size = 1;
  assert_refused(vcs_batch_create(carts, 1, NULL, &o, &batch, &e), VCS_BAD_ARGUMENT, &e, "stack_in_place");
  vcs_cart_free(cart);
}

static void test_more_environments_than_memory_are_refused_with_their_bytes(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_t *batch = NULL;
  vcs_error_t e;
  vcs_batch_options_t o = defaults();
  o.envs = 1000000000;
  assert_refused(vcs_batch_create(carts, 1, NULL, &o, &batch, &e), VCS_NO_MEMORY, &e, "1000000000 environments need 4");
  assert_null(batch);
  vcs_cart_free(cart);
}

/* gcc and clang have each their own way to say that the thread sanitizer is on. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#endif

/* A child process has the batch but not its threads: every call is refused, freeing ends, and a new batch works. */
static int child_uses(fixture_t *f, const vcs_cart_t *const *carts) {
  const int32_t actions[ENVS] = {0};
  vcs_batch_options_t o = defaults();
#if defined(UNDER_THREAD_SANITIZER)
  o.threads = 1; /* it cannot follow threads that a child of a process with threads starts, and ends the child */
#endif
  vcs_error_t e;
  int refused = 0;
  refused += vcs_batch_step(f->batch, actions, NULL, &f->to, &e) == VCS_BAD_ARGUMENT && strstr(e.message, "forked");
  refused += vcs_batch_send(f->batch, actions, NULL, &e) == VCS_BAD_ARGUMENT && strstr(e.message, "forked");
  refused += vcs_batch_receive(f->batch, &f->to, &e) == VCS_BAD_ARGUMENT && strstr(e.message, "forked");
  refused += vcs_batch_reset(f->batch, NULL, NULL, ENVS, &f->to, &e) == VCS_BAD_ARGUMENT && strstr(e.message, "forked");
  refused += vcs_batch_send_reset(f->batch, NULL, NULL, ENVS, &e) == VCS_BAD_ARGUMENT && strstr(e.message, "forked");
  vcs_batch_free(f->batch);
  vcs_batch_t *other = NULL;
  if (vcs_batch_create(carts, 1, NULL, &o, &other, &e) || vcs_batch_reset(other, NULL, NULL, ENVS, NULL, &e) ||
      vcs_batch_step(other, actions, NULL, NULL, &e)) {
    return 2;
  }
  vcs_batch_free(other);
  return refused == 5 ? 0 : 1;
}

static void test_a_batch_whose_threads_stayed_behind_a_fork_is_refused(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t o = defaults();
  o.threads = 3;
  /* One at rest, and one with work under way. The latter not under gcc's sanitizers, whose allocators' locks are not
   * taken around fork: a thread of the parent may hold one for ever in the child. */
#if defined(__SANITIZE_ADDRESS__) || defined(UNDER_THREAD_SANITIZER)
  const int32_t most = 0;
#else
  const int32_t most = 2;
#endif
  for (int32_t size = 0; size <= most; size += 2) {
    o.batch_size = size;
    fixture_t *f = create(carts, 1, NULL, &o);
    const int32_t actions[ENVS] = {0};
    reset_all(f, 1);
    if (size) assert_int_equal(vcs_batch_send(f->batch, actions, NULL, NULL), VCS_OK);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(30); /* instead of hanging */
      _exit(child_uses(f, carts));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    if (size) assert_int_equal(vcs_batch_receive(f->batch, &f->to, NULL), VCS_OK); /* the parent goes on */
    destroy(f);
  }
  vcs_cart_free(cart);
}

static void test_calls_out_of_order_are_refused(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  const vcs_cart_t *carts[] = {cart};
  const vcs_batch_options_t o = defaults();
  fixture_t *f = create(carts, 1, NULL, &o);
  const int32_t actions[ENVS] = {0}, wrong[ENVS] = {0, 0, 18}, twice[] = {1, 1}, beyond[] = {ENVS}, one[] = {1};
  static vcs_object_t objects[VCS_OBJECTS_MAX];
  int32_t counts[ENVS];
  vcs_error_t e;
  assert_refused(vcs_batch_step(f->batch, actions, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "reset before");
  assert_refused(vcs_batch_receive(f->batch, &f->to, &e), VCS_BAD_ARGUMENT, &e, "nothing was sent");
  assert_refused(vcs_batch_reset(f->batch, one, NULL, 1, &f->to, &e), VCS_BAD_ARGUMENT, &e, "first reset");
  assert_refused(vcs_batch_send_reset(f->batch, one, NULL, 1, &e), VCS_BAD_ARGUMENT, &e, "first reset");
  assert_refused(vcs_batch_send(f->batch, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "reset before");
  reset_all(f, 1);
  assert_refused(vcs_batch_reset(f->batch, twice, NULL, 2, &f->to, &e), VCS_BAD_ARGUMENT, &e, "twice");
  assert_refused(vcs_batch_reset(f->batch, beyond, NULL, 1, &f->to, &e), VCS_BAD_ARGUMENT, &e, "no environment 6");
  assert_refused(vcs_batch_reset(f->batch, NULL, NULL, 2, &f->to, &e), VCS_BAD_ARGUMENT, &e, "without ids");
  assert_refused(vcs_batch_step(f->batch, wrong, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "environment 2 has actions");
  assert_refused(vcs_batch_step(f->batch, NULL, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "no actions");
  const int32_t before = f->frames[1];
  require(vcs_batch_send(f->batch, actions, NULL, &e), &e);
  assert_refused(vcs_batch_send(f->batch, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "not received");
  require(vcs_batch_receive(f->batch, &f->to, &e), &e);
  assert_int_equal(f->frames[1], before + 4); /* what was refused has moved nothing */
  require(vcs_batch_send_to(f->batch, one, 1, actions, NULL, &e), &e);
  assert_refused(vcs_batch_send_to(f->batch, one, 1, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "not received");
  assert_refused(vcs_batch_send_reset(f->batch, one, NULL, 1, &e), VCS_BAD_ARGUMENT, &e, "not received");
  assert_refused(vcs_batch_send(f->batch, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "environment 1");
  assert_refused(vcs_batch_step(f->batch, actions, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "not received");
  require(vcs_batch_receive(f->batch, &f->to, &e), &e);
  assert_int_equal(f->frames[0], before + 8); /* nor has a batch that refused one of its environments */
  assert_refused(vcs_batch_send_to(f->batch, twice, 2, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "twice");
  assert_refused(vcs_batch_send_to(f->batch, beyond, 1, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "no environment 6");
  assert_refused(vcs_batch_send_to(f->batch, NULL, 2, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "without ids");
  assert_refused(vcs_batch_receive(f->batch, &f->to, &e), VCS_BAD_ARGUMENT, &e, "nothing was sent");
  assert_refused(vcs_batch_end_step(f->batch, &e), VCS_BAD_ARGUMENT, &e, "no step was begun");
  require(vcs_batch_begin_step(f->batch, actions, NULL, &f->to, &e), &e);
  assert_refused(vcs_batch_begin_step(f->batch, actions, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "has not ended");
  assert_refused(vcs_batch_send(f->batch, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "has not ended");
  assert_refused(vcs_batch_reset(f->batch, NULL, NULL, ENVS, &f->to, &e), VCS_BAD_ARGUMENT, &e, "has not ended");
  assert_int_equal(vcs_batch_objects(f->batch, 0, objects, VCS_OBJECTS_MAX), -1); /* a thread may be running it */
  require(vcs_batch_end_step(f->batch, &e), &e);
  assert_true(vcs_batch_objects(f->batch, 0, objects, VCS_OBJECTS_MAX) > 0);
  assert_int_equal(f->frames[1], before + 12);
  vcs_batch_options_t ready = defaults();
  fixture_t *g = create(carts, 1, NULL, &ready);
  require(vcs_batch_begin_step(f->batch, actions, NULL, &f->to, &e), &e);
  assert_refused(vcs_batch_share_threads(g->batch, f->batch, &e), VCS_BAD_ARGUMENT, &e, "has not ended");
  assert_refused(vcs_batch_share_threads(f->batch, g->batch, &e), VCS_BAD_ARGUMENT, &e, "has not ended");
  assert_refused(vcs_batch_share_threads(g->batch, NULL, &e), VCS_BAD_ARGUMENT, &e, "NULL");
  destroy(f); /* before the step ends */
  ready.batch_size = 2;
  f = create(carts, 1, NULL, &ready);
  assert_refused(vcs_batch_share_threads(f->batch, g->batch, &e), VCS_BAD_ARGUMENT, &e, "all environments at once");
  assert_refused(vcs_batch_share_threads(g->batch, f->batch, &e), VCS_BAD_ARGUMENT, &e, "all environments at once");
  destroy(g);
  reset_all(f, 1);
  assert_refused(vcs_batch_begin_step(f->batch, actions, NULL, &f->to, &e), VCS_BAD_ARGUMENT, &e, "batch_size 2 of 6");
  assert_refused(vcs_batch_reset(f->batch, one, NULL, 1, &f->to, &e), VCS_BAD_ARGUMENT, &e, "must be of all");
  require(vcs_batch_receive(f->batch, NULL, &e), &e);
  require(vcs_batch_receive(f->batch, NULL, &e), &e); /* every environment is at rest */
  require(vcs_batch_send_to(f->batch, one, 1, actions, NULL, &e), &e);
  assert_int_equal(vcs_batch_objects(f->batch, one[0], objects, VCS_OBJECTS_MAX), -1);
  assert_true(vcs_batch_objects(f->batch, (one[0] + 1) % ENVS, objects, VCS_OBJECTS_MAX) > 0);
  assert_refused(vcs_batch_list_objects(f->batch, objects, counts, 1, &e), VCS_BAD_ARGUMENT, &e, "not received yet");
  require(vcs_batch_receive(f->batch, NULL, &e), &e);
  require(vcs_batch_list_objects(f->batch, objects, counts, 1, &e), &e);
  assert_true(counts[one[0]] > 0);
  destroy(f);
  ready = defaults();
  ready.stack_in_place = 1;
  f = create(carts, 1, NULL, &ready);
  assert_refused(vcs_batch_reset(f->batch, NULL, NULL, ENVS, NULL, &e), VCS_BAD_ARGUMENT, &e, "observations");
  reset_all(f, 1);
  assert_refused(vcs_batch_send(f->batch, actions, NULL, &e), VCS_BAD_ARGUMENT, &e, "stack_in_place");
  destroy(f);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_batch_equals_the_plain_way),
      cmocka_unit_test(test_rows_the_beam_did_not_reach_are_exact),
      cmocka_unit_test(test_episodes_end_at_every_frame_of_a_step),
      cmocka_unit_test(test_autoreset_can_be_disabled),
      cmocka_unit_test(test_colours_sizes_and_stacks),
      cmocka_unit_test(test_sound_is_that_of_the_last_frame),
      cmocka_unit_test(test_environments_have_cartridges_modes_and_difficulties_of_their_own),
      cmocka_unit_test(test_thread_count_changes_nothing),
      cmocka_unit_test(test_halves_are_a_step),
      cmocka_unit_test(test_batches_that_share_threads_are_the_same),
      cmocka_unit_test(test_first_ready_results_tell_the_same_stories),
      cmocka_unit_test(test_some_environments_go_on_alone),
      cmocka_unit_test(test_sends_may_overtake),
      cmocka_unit_test(test_a_batch_can_be_freed_with_work_under_way),
      cmocka_unit_test(test_stacks_in_place_are_the_same),
      cmocka_unit_test(test_restored_states_repeat_every_later_step),
      cmocka_unit_test(test_a_state_goes_into_other_environments),
      cmocka_unit_test(test_states_need_a_batch_at_rest),
      cmocka_unit_test(test_more_environments_than_memory_are_refused_with_their_bytes),
      cmocka_unit_test(test_a_batch_whose_threads_stayed_behind_a_fork_is_refused),
      cmocka_unit_test(test_ram_and_actions_are_the_environments),
      cmocka_unit_test(test_continuous_actions_are_directions),
      cmocka_unit_test(test_a_thousand_environments_share_their_boot),
      cmocka_unit_test(test_bad_options_are_refused),
      cmocka_unit_test(test_calls_out_of_order_are_refused),
  };
  return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
