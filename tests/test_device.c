/* Batches, derivatives and exact effects on a device: the GPU whose number is in DIFFVCS_DEVICE, or VCS_CPU_AS_GPU.
 * They are compared with the CPU's batches where both have the same definition (no randomness, first episodes), with
 * device batches, and with VCS_CPU_AS_GPU. The same program tests the GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "carts.h"
#include "cuda/engine.h"
#include "diffvcs/cuda.h"
#include "host/batch.h"
#include "need.h"

static int32_t device(void) {
  const char *named = getenv("DIFFVCS_DEVICE");
  return named ? VCS_GPU + atoi(named) : VCS_CPU_AS_GPU;
}

static void must(vcs_status_t status, const vcs_error_t *error) {
  if (status) fail_msg("%s", error->message);
}

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

enum { CARTS = 3 };

/* Our own cartridge, and games whose images are in DIFFVCS_ROMS: paddles and FIRE, and one with lives. */
static int load_some(vcs_cart_t *carts[CARTS]) {
  static const char *const games[] = {"breakout", "space_invaders"};
  int count = 0;
  carts[count++] = load_demo_as(VCS_PROFILE_ALE, NULL);
  return load_games(games, sizeof games / sizeof *games, carts, count);
}

/* ---- A batch, its results in both memories, and its actions ------------------------------------------------------ */

typedef struct {
  vcs_batch_t *batch;
  int32_t device, envs;
  vcs_batch_results_t there, host;
  int32_t *actions;
} port_t;

/* A row of results: its name in both structs, and bytes an environment. */
#define PLAYED(X)                                          \
  X(observations, vcs_batch_observation_size(port->batch)) \
  X(rewards, sizeof(int32_t))                              \
  X(lives, sizeof(int32_t))                                \
  X(frame_numbers, sizeof(int32_t))                        \
  X(episode_frame_numbers, sizeof(int32_t))                \
  X(terminated, 1)                                         \
  X(truncated, 1)                                          \
  X(ram, 128)
#define RESULTS(X)            \
  PLAYED(X)                   \
  X(env_ids, sizeof(int32_t)) \
  X(final_observations, vcs_batch_observation_size(port->batch))

static void *allocate(int32_t where, size_t size) {
  void *memory;
  vcs_error_t error;
  must(vcs_device_allocate(where, size ? size : 1, &memory, &error), &error);
  return memory;
}

static void move(int32_t where, void *to, const void *from, size_t size) {
  vcs_error_t error;
  if (size) must(vcs_device_move(where, to, from, size, &error), &error);
}

static void *upload(int32_t where, const void *from, size_t size) {
  void *there = allocate(where, size);
  move(where, there, from, size);
  return there;
}

/* What every device has. */
static vcs_batch_options_t options_of(int32_t envs, int32_t where) {
  vcs_batch_options_t options;
  vcs_batch_defaults(&options);
  options.envs = envs;
  options.device = where;
  options.autoreset = VCS_AUTORESET_SAME_STEP;
  options.stack_in_place = 1;
  return options;
}

/* With `varied`, every other environment plays another mode and difficulty. */
static port_t open_port_varied(vcs_cart_t *const *carts, int count, const vcs_batch_options_t *options, bool varied) {
  static const int32_t modes[CARTS] = {2, 4, 4};
  vcs_batch_env_t *envs = malloc((size_t)options->envs * sizeof *envs);
  for (int32_t i = 0; i < options->envs; i++) {
    const bool other = varied && i % 2 == 0;
    envs[i] = (vcs_batch_env_t){i % count, other ? modes[i % count] : -1, other ? i % count > 0 : -1, (uint32_t)i};
  }
  port_t opened = {.device = options->device, .envs = options->envs}, *port = &opened;
  vcs_error_t error;
  must(vcs_batch_create((const vcs_cart_t *const *)carts, count, varied ? envs : NULL, options, &port->batch, &error),
       &error);
  free(envs);
#define OPEN(name, size)                                    \
  port->host.name = calloc((size_t)port->envs, (size) + 1); \
  port->there.name = upload(port->device, port->host.name, (size_t)port->envs * (size));
  RESULTS(OPEN)
  if (vcs_batch_observation_size(port->batch) == 0) { /* none without pictures */
    vcs_device_free(port->device, port->there.final_observations);
    port->there.final_observations = NULL;
  }
  port->actions = allocate(port->device, (size_t)port->envs * sizeof(int32_t));
  return opened;
}

static port_t open_port(vcs_cart_t *const *carts, int count, const vcs_batch_options_t *options) {
  return open_port_varied(carts, count, options, false);
}

static void close_port(port_t *port) {
#define CLOSE(name, size)                          \
  vcs_device_free(port->device, port->there.name); \
  free(port->host.name);
  RESULTS(CLOSE)
  vcs_device_free(port->device, port->actions);
  vcs_batch_free(port->batch);
}

static void fetch(port_t *port) {
  vcs_error_t error;
  must(vcs_batch_wait(port->batch, &error), &error);
#define FETCH(name, size) move(port->device, port->host.name, port->there.name, (size_t)port->envs *(size));
  RESULTS(FETCH)
  for (int32_t i = 0; i < port->envs; i++) assert_int_equal(port->host.env_ids[i], i);
}

static vcs_batch_results_t keep_results(const port_t *port) {
  vcs_batch_results_t kept = {0};
#define KEEP(name, size)                               \
  kept.name = malloc((size_t)port->envs * (size) + 1); \
  memcpy(kept.name, port->host.name, (size_t)port->envs *(size));
  PLAYED(KEEP)
  return kept;
}

static void drop_results(vcs_batch_results_t *kept) {
#define DROP(name, size) free(kept->name);
  PLAYED(DROP)
}

/* Ids and seeds are the host's. */
static void reset(port_t *port, const int32_t *ids, const int32_t *seeds, int32_t count) {
  const size_t size = (size_t)count * sizeof(int32_t);
  int32_t *ids_there = ids ? upload(port->device, ids, size) : NULL;
  int32_t *seeds_there = seeds ? upload(port->device, seeds, size) : NULL;
  vcs_error_t error;
  must(vcs_batch_reset(port->batch, ids_there, seeds_there, count, &port->there, &error), &error);
  fetch(port);
  vcs_device_free(port->device, ids_there);
  vcs_device_free(port->device, seeds_there);
}

static void step(port_t *port, const int32_t *actions) {
  vcs_error_t error;
  move(port->device, port->actions, actions, (size_t)port->envs * sizeof *actions);
  must(vcs_batch_step(port->batch, port->actions, NULL, &port->there, &error), &error);
  fetch(port);
}

/* An action of each environment's own set. */
static void choose(const vcs_batch_t *batch, uint64_t *random, int32_t *actions) {
  int32_t list[VCS_ACTIONS];
  for (int32_t i = 0; i < vcs_batch_options(batch)->envs; i++) {
    actions[i] = (int32_t)(vcs_splitmix64(random) % (uint64_t)vcs_batch_actions(batch, i, list));
  }
}

/* Environment i of these results, and environment k of those. */
static void assert_same(const port_t *port, int32_t i, const vcs_batch_results_t *those, int32_t k) {
#define COMPARE(name, size)                                                  \
  assert_memory_equal((const uint8_t *)port->host.name + (size_t)i * (size), \
                      (const uint8_t *)those->name + (size_t)k * (size), size);
  PLAYED(COMPARE)
}

/* ---- The CPU's batches ------------------------------------------------------------------------------------------- */

enum { ENVS = 7, STEPS = 60 };

/* Without chance, first episodes on a device are the CPU's, result for result, with their last observations. */
static void compare_with_cpu(vcs_cart_t *const *carts, int count, vcs_batch_options_t options, bool varied) {
  options.noop_max = 0;
  options.device = VCS_CPU;
  port_t cpu = open_port_varied(carts, count, &options, varied);
  options.device = device();
  port_t port = open_port_varied(carts, count, &options, varied);
  bool over[ENVS] = {false};
  int32_t actions[ENVS], list[VCS_ACTIONS], other[VCS_ACTIONS];
  uint64_t random = 3;
  int ends = 0;
  for (int32_t i = 0; i < ENVS; i++) {
    const int known = vcs_batch_actions(cpu.batch, i, list);
    assert_int_equal(vcs_batch_actions(port.batch, i, other), known);
    assert_memory_equal(list, other, (size_t)known * sizeof *list);
  }
  assert_int_equal(vcs_batch_actions(port.batch, ENVS, other), 0);
  reset(&cpu, NULL, NULL, ENVS);
  reset(&port, NULL, NULL, ENVS);
  for (int32_t i = 0; i < ENVS; i++) assert_same(&port, i, &cpu.host, i);
  for (int k = 0; k < STEPS; k++) {
    choose(cpu.batch, &random, actions);
    step(&cpu, actions);
    step(&port, actions);
    for (int32_t i = 0; i < ENVS; i++) {
      if (over[i]) continue; /* the CPU goes on with the RAM of the old episode, a device from a start */
      assert_int_equal(port.host.rewards[i], cpu.host.rewards[i]);
      assert_int_equal(port.host.terminated[i], cpu.host.terminated[i]);
      assert_int_equal(port.host.truncated[i], cpu.host.truncated[i]);
      over[i] = cpu.host.truncated[i] || (cpu.host.terminated[i] && !options.life_loss_info);
      if (over[i] && options.autoreset == VCS_AUTORESET_SAME_STEP) {
        const size_t size = vcs_batch_observation_size(port.batch), at = (size_t)i * size;
        assert_memory_equal(port.host.final_observations + at, cpu.host.final_observations + at, size);
      } else {
        assert_same(&port, i, &cpu.host, i);
      }
      ends += over[i];
      if (options.autoreset == VCS_AUTORESET_DISABLED) over[i] = false;
    }
  }
  if (options.max_episode_frames < STEPS) assert_true(ends >= ENVS);
  close_port(&cpu);
  close_port(&port);
}

static void test_batch_on_a_device_is_the_cpus(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = options_of(ENVS, VCS_CPU);
  compare_with_cpu(carts, count, options, false);
  options.full_action_space = 1;
  options.frame_skip = 3;
  compare_with_cpu(carts, count, options, true);
  options.max_pool = 0;
  options.fire_reset = 0;
  options.reward_clipping = 0;
  options.life_loss_info = 1;
  compare_with_cpu(carts, count, options, true);
  options.life_loss_info = 0;
  options.episodic_life = 1;
  options.max_episode_frames = 40;
  compare_with_cpu(carts, count, options, true);
  free_carts(carts, count);
}

/* Episodes that end with any frame of a step: their last pictures, and the three ways to go on. */
static void test_episodes_end_as_on_the_cpu(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  for (uint8_t mode = VCS_AUTORESET_NEXT_STEP; mode <= VCS_AUTORESET_DISABLED; mode++) {
    vcs_batch_options_t options = options_of(ENVS, VCS_CPU);
    options.autoreset = mode;
    for (options.max_episode_frames = 20; options.max_episode_frames < 24; options.max_episode_frames++) {
      compare_with_cpu(carts, count, options, false);
    }
    options.max_pool = 0;
    options.frame_skip = 2;
    compare_with_cpu(carts, count, options, false);
  }
  free_carts(carts, count);
}

/* Sizes for each way to compute a pixel: as it is, the mean of whole pixels, of parts of pixels, and between two. */
static void test_pictures_of_every_size_are_the_cpus(void **state) {
  (void)state;
  static const int32_t sizes[][3] = {{160, 210, 1}, {80, 105, 2}, {32, 42, 3},  {84, 84, 1},
                                     {61, 97, 5},   {7, 9, 1},    {200, 100, 2}};
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
    vcs_batch_options_t options = options_of(ENVS, VCS_CPU);
    options.width = sizes[i / 2][0];
    options.height = sizes[i / 2][1];
    options.stack = sizes[i / 2][2];
    options.rgb = i % 2;
    options.max_episode_frames = 24 + (int32_t)i % 4;
    compare_with_cpu(carts, count, options, false);
  }
  free_carts(carts, count);
}

/* A step after the end only begins an episode; without autoreset a game that is over stands still. */
static void test_the_step_after_the_end(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  const int32_t actions[ENVS] = {0};
  vcs_batch_options_t options = options_of(ENVS, device());
  options.max_episode_frames = 8;
  options.autoreset = VCS_AUTORESET_NEXT_STEP;
  port_t port = open_port(carts, count, &options);
  reset(&port, NULL, NULL, ENVS);
  for (int k = 0; k < 9; k++) {
    const size_t size = vcs_batch_observation_size(port.batch);
    step(&port, actions);
    for (int32_t i = 0; i < ENVS; i++) {
      assert_int_equal(port.host.truncated[i], k % 3 == 1);
      assert_int_equal(port.host.terminated[i], 0);
      const uint8_t *seen = port.host.observations + (size_t)i * size;
      bool has_past = false;
      for (size_t at = 0; at < size / 4 * 3; at++) has_past = has_past || seen[at];
      assert_int_equal(has_past, k % 3 != 2); /* a new episode has one picture */
    }
  }
  close_port(&port);
  free_carts(carts, count);
}

/* ---- The same on every device ------------------------------------------------------------------------------------ */

static vcs_batch_options_t chancy(int32_t where) {
  vcs_batch_options_t options = options_of(ENVS, where);
  options.repeat_action_probability = 0.25f;
  options.noop_max = 7;
  options.max_episode_frames = 50;
  options.episodic_life = 1;
  return options;
}

/* Sticky actions, no-op starts, short episodes, seeds, resets of some: a device does what the CPU in its place does. */
static void test_batch_is_the_same_on_every_device(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t here = chancy(device()), there = chancy(VCS_CPU_AS_GPU);
  port_t port = open_port(carts, count, &here), other = open_port(carts, count, &there);
  const int32_t some[] = {5, 1, 99, -1}, seeds[] = {-1, 12, 3, 4};
  int32_t actions[ENVS];
  uint64_t random = 8;
  vcs_batch_set_stream(port.batch, (void *)2); /* cudaStreamPerThread */
  reset(&port, NULL, NULL, ENVS);
  reset(&other, NULL, NULL, ENVS);
  for (int k = 0; k < STEPS; k++) {
    choose(port.batch, &random, actions);
    actions[k % ENVS] = k % 2 ? 18 : -1; /* does nothing */
    step(&port, actions);
    step(&other, actions);
    if (k % 9 == 4) {
      reset(&port, some, seeds, 4);
      reset(&other, some, seeds, 4);
    }
    for (int32_t i = 0; i < ENVS; i++) assert_same(&port, i, &other.host, i);
  }
  close_port(&port);
  close_port(&other);
  free_carts(carts, count);
}

/* Without chance a batch is a batch, later episodes too. */
static void test_batch_is_a_device_batch(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = options_of(ENVS, device());
  options.noop_max = 1;
  options.max_episode_frames = 50;
  port_t port = open_port(carts, count, &options);
  vcs_device_batch_options_t device_options;
  vcs_device_batch_defaults(&device_options);
  assert_int_equal(device_options.device, VCS_GPU);
  device_options.envs = ENVS;
  device_options.device = device();
  device_options.noop_max = 1;
  device_options.max_episode_frames = 50;
  vcs_batch_env_t envs[ENVS];
  for (int32_t i = 0; i < ENVS; i++) envs[i] = (vcs_batch_env_t){i % count, -1, -1, 0};
  vcs_device_batch_t *batch;
  vcs_error_t error;
  must(vcs_device_batch_create((const vcs_cart_t *const *)carts, count, envs, &device_options, &batch, &error), &error);
  const size_t size = vcs_device_batch_observation_size(batch);
  assert_int_equal(size, vcs_batch_observation_size(port.batch));
  uint8_t *seen = allocate(device(), ENVS * size), *ram = allocate(device(), ENVS * 128);
  uint8_t *seen_here = malloc(ENVS * size), ram_here[ENVS * 128];
  int32_t *actions_there = allocate(device(), ENVS * sizeof(int32_t)), actions[ENVS], list[VCS_ACTIONS];
  const vcs_batch_results_t results = {.observations = seen, .ram = ram};
  uint64_t random = 21;
  reset(&port, NULL, NULL, ENVS);
  must(vcs_device_batch_reset(batch, 1, &results, NULL, &error), &error);
  for (int k = 0; k < STEPS; k++) {
    choose(port.batch, &random, actions);
    step(&port, actions);
    for (int32_t i = 0; i < ENVS; i++) {
      vcs_batch_actions(port.batch, i, list);
      actions[i] = list[actions[i]];
    }
    move(device(), actions_there, actions, sizeof actions);
    must(vcs_device_batch_step(batch, actions_there, &results, NULL, &error), &error);
    must(vcs_device_batch_wait(batch, NULL, &error), &error);
    move(device(), seen_here, seen, ENVS * size);
    move(device(), ram_here, ram, sizeof ram_here);
    assert_memory_equal(port.host.observations, seen_here, ENVS * size);
    assert_memory_equal(port.host.ram, ram_here, sizeof ram_here);
  }
  void *const all[] = {seen, ram, actions_there};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) vcs_device_free(device(), all[i]);
  free(seen_here);
  vcs_device_batch_free(batch);
  close_port(&port);
  free_carts(carts, count);
}

/* ---- Seeds, resets of some, states ------------------------------------------------------------------------------- */

/* A seed determines the game, independent of the environment's number; a partial reset changes only the given
 * environments.
 */
static void test_seeds_decide_and_resets_are_of_some(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = chancy(device());
  options.noop_max = 30;
  options.max_episode_frames = 120;
  port_t port = open_port(carts, 1, &options);
  const int32_t seeds[ENVS] = {4, 4, 5, 6, 7, 8, 4}, some[] = {2, 3}, fresh[] = {4, -1};
  int32_t actions[ENVS];
  uint64_t random = 5;
  int differ = 0;
  reset(&port, NULL, seeds, ENVS);
  vcs_batch_results_t first = keep_results(&port);
  for (int k = 0; k < STEPS; k++) {
    const int32_t action = (int32_t)(vcs_splitmix64(&random) % 4);
    for (int32_t i = 0; i < ENVS; i++) actions[i] = action;
    step(&port, actions);
    assert_same(&port, 0, &port.host, 1);
    assert_same(&port, 0, &port.host, 6);
    differ += memcmp(port.host.ram, port.host.ram + (size_t)2 * 128, 128) != 0;
  }
  assert_true(differ > 0);
  vcs_batch_results_t before = keep_results(&port);
  reset(&port, some, fresh, 2);
  for (int32_t i = 0; i < ENVS; i++) {
    if (i != 2 && i != 3) assert_same(&port, i, &before, i);
  }
  assert_same(&port, 2, &first, 0);
  assert_int_equal(port.host.frame_numbers[3], before.frame_numbers[3] + port.host.episode_frame_numbers[3]);
  assert_int_equal(port.host.rewards[3], 0);
  drop_results(&first);
  drop_results(&before);
  close_port(&port);
  free_carts(carts, count);
}

/* States of some environments, with stacks and generators, can be restored into other environments. */
static void test_states_go_to_others(void **state) {
  (void)state;
  enum { COPIES = 3, FURTHER = 20 };
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  const vcs_batch_options_t options = chancy(device());
  port_t port = open_port(carts, 1, &options);
  const size_t size = vcs_batch_state_size(port.batch);
  const int32_t from[COPIES] = {0, 2, 3}, to[COPIES] = {6, 2, 1};
  int32_t *from_there = upload(device(), from, sizeof from), *to_there = upload(device(), to, sizeof to);
  uint8_t *states = allocate(device(), COPIES * size);
  int32_t actions[ENVS];
  uint64_t random = 17;
  vcs_error_t error;
  vcs_batch_results_t then[FURTHER], kept;
  reset(&port, NULL, NULL, ENVS);
  for (int k = 0; k < 7; k++) {
    choose(port.batch, &random, actions);
    step(&port, actions);
  }
  must(vcs_batch_copy(port.batch, from_there, COPIES, states, &error), &error);
  kept = keep_results(&port);
  for (int k = 0; k < FURTHER; k++) {
    for (int32_t i = 0; i < ENVS; i++) actions[i] = k % 4;
    step(&port, actions);
    then[k] = keep_results(&port);
  }
  must(vcs_batch_restore(port.batch, to_there, COPIES, states, &port.there, &error), &error);
  fetch(&port);
  const size_t seen = vcs_batch_observation_size(port.batch);
  for (int c = 0; c < COPIES; c++) {
    const size_t a = (size_t)to[c], b = (size_t)from[c];
    assert_memory_equal(port.host.observations + a * seen, kept.observations + b * seen, seen);
    assert_memory_equal(port.host.ram + a * 128, kept.ram + b * 128, 128);
    assert_int_equal(port.host.lives[a], kept.lives[b]);
    assert_int_equal(port.host.frame_numbers[a], kept.frame_numbers[b]);
  }
  for (int32_t i = 3; i < 6; i++) assert_same(&port, i, &then[FURTHER - 1], i);
  for (int k = 0; k < FURTHER; k++) {
    for (int32_t i = 0; i < ENVS; i++) actions[i] = k % 4;
    step(&port, actions);
    for (int c = 0; c < COPIES; c++) assert_same(&port, to[c], &then[k], from[c]);
    drop_results(&then[k]);
  }
  drop_results(&kept);
  vcs_device_free(device(), from_there);
  vcs_device_free(device(), to_there);
  vcs_device_free(device(), states);
  close_port(&port);
  free_carts(carts, count);
}

/* A batch that draws nothing plays the same, in a hundredth of the memory. */
static void test_batch_without_pictures(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = chancy(device());
  port_t port = open_port(carts, count, &options);
  options.width = options.height = options.stack = options.stack_in_place = 0;
  port_t blind = open_port(carts, count, &options);
  int32_t actions[ENVS];
  uint64_t random = 2;
  assert_int_equal(vcs_batch_observation_size(blind.batch), 0);
  assert_true(vcs_batch_bytes(blind.batch, NULL) < vcs_batch_bytes(port.batch, NULL) / 100);
  reset(&port, NULL, NULL, ENVS);
  reset(&blind, NULL, NULL, ENVS);
  for (int k = 0; k < STEPS; k++) {
    choose(port.batch, &random, actions);
    step(&port, actions);
    step(&blind, actions);
    assert_memory_equal(port.host.ram, blind.host.ram, (size_t)ENVS * 128);
    assert_memory_equal(port.host.rewards, blind.host.rewards, sizeof actions);
    assert_memory_equal(port.host.terminated, blind.host.terminated, ENVS);
  }
  close_port(&port);
  close_port(&blind);
  free_carts(carts, count);
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* Products of all environments, in host memory: a VJP from pixels and the state to state and inputs, or a JVP. */
enum { FRAMES = 2 };
typedef struct {
  size_t pixels, state;
  float *state_in, *input, *seen, *state_out;
  int64_t walked[ENVS];
} product_t;

static float noise(uint64_t *state) { return (float)(int32_t)(vcs_splitmix64(state) >> 40) / 16777216.0F - 0.5F; }

static float *floats(size_t count, bool given, uint64_t seed) {
  float *all = calloc(count, sizeof *all);
  for (size_t i = 0; given && i < count; i += 3) all[i] = noise(&seed);
  return all;
}

static product_t ask(const vcs_cart_t *cart, bool reverse) {
  product_t p = {.pixels = (size_t)FRAMES * VCS_WIDTH * (size_t)cart->height, .state = 8 * vcs_state_size(cart)};
  p.state_in = floats(ENVS * p.state, !reverse, 1);
  p.input = floats((size_t)ENVS * FRAMES * VCS_INPUTS, !reverse, 2);
  p.seen = floats(ENVS * p.pixels, reverse, 3);
  p.state_out = floats(ENVS * p.state, reverse, 4);
  return p;
}

static void drop_product(product_t *p) {
  free(p->state_in);
  free(p->input);
  free(p->seen);
  free(p->state_out);
}

static const vcs_controls_t held[ENVS * FRAMES] = {
    [1] = {.held = {VCS_HELD_RIGHT, 0}}, [4] = {.held = {VCS_HELD_FIRE}}};

static vcs_status_t multiply(port_t *port, const vcs_batch_grad_options_t *options, bool reverse, product_t *p,
                             vcs_error_t *error) {
  const int32_t where = port->device;
  const size_t input = (size_t)FRAMES * VCS_INPUTS;
  struct {
    void *here, *there;
    size_t size;
  } buffers[] = {
      {p->state_in, NULL, ENVS * p->state * sizeof(float)},
      {p->input, NULL, ENVS * input * sizeof(float)},
      {p->seen, NULL, ENVS * p->pixels * sizeof(float)},
      {p->state_out, NULL, ENVS * p->state * sizeof(float)},
      {p->walked, NULL, sizeof p->walked},
      {(void *)held, NULL, sizeof held},
  };
  enum { BUFFERS = sizeof buffers / sizeof *buffers };
  for (int i = 0; i < BUFFERS; i++) buffers[i].there = upload(where, buffers[i].here, buffers[i].size);
  const vcs_batch_inputs_t inputs = {
      .state = buffers[0].there, .input = buffers[1].there, .state_stride = p->state, .input_stride = input};
  const vcs_batch_outputs_t outputs = {
      .pixels = buffers[2].there, .state = buffers[3].there, .pixels_stride = p->pixels, .state_stride = p->state};
  const vcs_status_t status = (reverse ? vcs_batch_vjp : vcs_batch_jvp)(port->batch, buffers[5].there, options, &inputs,
                                                                        &outputs, buffers[4].there, error);
  if (!status) must(vcs_batch_wait(port->batch, error), error);
  for (int i = 0; i < BUFFERS; i++) {
    if (!status && buffers[i].here != held) move(where, buffers[i].here, buffers[i].there, buffers[i].size);
    vcs_device_free(where, buffers[i].there);
  }
  return status;
}

static void assert_close(const float *got, const float *want, size_t count, bool exactly) {
  float largest = 0, apart = 0;
  for (size_t i = 0; i < count; i++) {
    const float size = want[i] < 0 ? -want[i] : want[i], off = got[i] < want[i] ? want[i] - got[i] : got[i] - want[i];
    if (size > largest) largest = size;
    if (!(off <= apart)) apart = off;
  }
  assert_true(largest > 0);
  assert_true(apart <= (exactly ? 0 : 1e-4F * largest));
}

/* What vcs_grad_* gives for an environment of a batch on the CPU, where its machine is to be seen. */
static void multiply_one(const vcs_batch_t *batch, int32_t env, const vcs_grad_options_t *options, bool reverse,
                         product_t *p) {
  const vcs_env_t *game = &batch->places[env].env;
  const vcs_run_t run = {game->cart, game->m, NULL, held + (size_t)env * FRAMES, FRAMES};
  float *pictures[FRAMES];
  for (size_t f = 0; f < FRAMES; f++) pictures[f] = p->seen + (size_t)env * p->pixels + f * (p->pixels / FRAMES);
  const vcs_grad_inputs_t inputs = {.state = p->state_in + (size_t)env * p->state,
                                    .input = p->input + (size_t)env * FRAMES * VCS_INPUTS};
  const vcs_grad_outputs_t outputs = {.pixels = pictures, .state = p->state_out + (size_t)env * p->state};
  vcs_grad_report_t report;
  vcs_error_t error;
  must((reverse ? vcs_grad_vjp : vcs_grad_jvp)(&run, options, &inputs, &outputs, &report, &error), &error);
  p->walked[env] = (int64_t)report.instructions;
}

static void compare_products(port_t *cpu, port_t *port, const vcs_batch_grad_options_t *options, bool reverse) {
  const vcs_cart_t *cart = cpu->batch->places[0].env.cart;
  product_t one = ask(cart, reverse), ours = ask(cart, reverse), theirs = ask(cart, reverse);
  vcs_error_t error;
  for (int32_t i = 0; i < ENVS; i++) multiply_one(cpu->batch, i, &options->grad, reverse, &one);
  must(multiply(cpu, options, reverse, &ours, &error), &error);
  assert_memory_equal(ours.walked, one.walked, sizeof one.walked);
  assert_close(reverse ? ours.state_in : ours.seen, reverse ? one.state_in : one.seen,
               ENVS * (reverse ? one.state : one.pixels), true);
  if (options->grad.fork_window > 0) {
    assert_int_equal(multiply(port, options, reverse, &theirs, &error), VCS_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "fork_window"));
  } else {
    must(multiply(port, options, reverse, &theirs, &error), &error);
    for (int32_t i = 0; i < ENVS; i++) assert_true(theirs.walked[i] > 0);
    assert_close(reverse ? theirs.state_in : theirs.seen, reverse ? one.state_in : one.seen,
                 ENVS * (reverse ? one.state : one.pixels), device() < VCS_GPU);
  }
  drop_product(&one);
  drop_product(&ours);
  drop_product(&theirs);
}

/* One call, either device: the products are vcs_grad_*'s, environment by environment. */
static void test_batch_derivatives_are_those_of_runs(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = options_of(ENVS, VCS_CPU);
  options.noop_max = 0;
  port_t cpu = open_port(carts, 1, &options);
  options.device = device();
  port_t port = open_port(carts, 1, &options);
  vcs_batch_grad_options_t grad;
  vcs_batch_grad_defaults(&grad);
  grad.frames = FRAMES;
  product_t p = ask(carts[0], false);
  vcs_error_t error;
  assert_int_equal(multiply(&cpu, &grad, false, &p, &error), VCS_BAD_ARGUMENT); /* not reset yet */
  assert_int_equal(multiply(&port, &grad, false, &p, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "reset"));
  drop_product(&p);
  int32_t actions[ENVS];
  uint64_t random = 12;
  reset(&cpu, NULL, NULL, ENVS);
  reset(&port, NULL, NULL, ENVS);
  for (int k = 0; k < 20; k++) {
    choose(cpu.batch, &random, actions);
    step(&cpu, actions);
    step(&port, actions);
  }
  compare_products(&cpu, &port, &grad, false);
  compare_products(&cpu, &port, &grad, true);
  grad.grad.method = VCS_METHOD_BIT;
  grad.grad.fork_window = 64;
  compare_products(&cpu, &port, &grad, true);
  assert_int_equal(vcs_batch_grad_bytes(cpu.batch, &grad), 0);
  assert_int_equal(vcs_batch_grad_bytes(port.batch, &grad) > 0, device() >= VCS_GPU);
  close_port(&cpu);
  close_port(&port);
  free_carts(carts, count);
}

/* ---- Truth ------------------------------------------------------------------------------------------------------- */

static void test_truth_has_a_device(void **state) {
  (void)state;
  enum { PLACES = 64, LOOKS = 3 };
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_env_t *env;
  vcs_run_t run;
  vcs_controls_t controls[LOOKS];
  vcs_error_t error;
  vcs_place_t places[PLACES];
  vcs_truth_t ours[PLACES], theirs[PLACES], base[2];
  must(vcs_env_create(carts[0], &env, &error), &error);
  for (int i = 0; i < 200; i++) vcs_env_act(env, i / 7 % VCS_ACTIONS, VCS_NOOP);
  vcs_run_idle(env, LOOKS, controls, &run);
  for (uint32_t i = 0; i < PLACES; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i};
  }
  places[3] = (vcs_place_t){VCS_PLACE_INPUT, 0, 1, VCS_INPUT_LEFT};
  vcs_truth_options_t options = {0};
  vcs_truth_results_t results = {.rows = ours, .base = &base[0]};
  must(vcs_truth(&run, &options, places, PLACES, &results, &error), &error);
  options.device = device();
  results = (vcs_truth_results_t){.rows = theirs, .base = &base[1]};
  must(vcs_truth(&run, &options, places, PLACES, &results, &error), &error);
  int moved = 0;
  for (int i = 0; i < PLACES; i++) {
    assert_int_equal(ours[i].outcome, theirs[i].outcome);
    assert_int_equal(ours[i].pixels, theirs[i].pixels);
    assert_int_equal(ours[i].ram_bytes, theirs[i].ram_bytes);
    assert_int_equal(ours[i].screen_crc, theirs[i].screen_crc);
    assert_int_equal(ours[i].ram_crc, theirs[i].ram_crc);
    moved += ours[i].pixels > 0;
  }
  assert_true(moved > 0);
  assert_int_equal(base[0].screen_crc, base[1].screen_crc);
  const size_t ends[1] = {2}, pairs[1][2] = {{0, 1}};
  assert_int_equal(vcs_truth_sets(&run, &options, places, ends, 1, &results, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "VCS_CPU"));
  assert_int_equal(vcs_truth_pairs(&run, &options, places, PLACES, pairs, 1, &results, &error), VCS_BAD_ARGUMENT);
  places[0] = (vcs_place_t){VCS_PLACE_ROM, 0, 0, 0};
  assert_int_equal(vcs_truth(&run, &options, places, PLACES, &results, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "ROM"));
  options.env = env;
  assert_int_equal(vcs_truth(&run, &options, places + 1, 1, &results, &error), VCS_BAD_ARGUMENT);
  options.device = VCS_GPU + 4711;
  assert_int_equal(vcs_truth(&run, &options, places, PLACES, &results, &error), VCS_NOT_FOUND);
  vcs_env_free(env);
  free_carts(carts, count);
}

/* ---- What there is not ------------------------------------------------------------------------------------------- */

static void assert_refused(const vcs_cart_t *cart, const vcs_batch_options_t *options, vcs_status_t status,
                           const char *word) {
  vcs_batch_t *batch = (vcs_batch_t *)1;
  vcs_error_t error;
  assert_int_equal(vcs_batch_create(&cart, 1, NULL, options, &batch, &error), status);
  assert_null(batch);
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not speak of %s", error.message, word);
}

static void test_options_that_a_device_has_not_are_refused(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_batch_options_t options = options_of(ENVS, device());
#define REFUSED(name, value)                                           \
  {                                                                    \
    const vcs_batch_options_t good = options;                          \
    options.name = (value);                                            \
    assert_refused(carts[0], &options, VCS_BAD_ARGUMENT, #name " is"); \
    options = good;                                                    \
  }
  REFUSED(width, 0)
  REFUSED(height, 5000)
  REFUSED(stack, -1)
  REFUSED(sound, 1)
  REFUSED(autoreset, VCS_AUTORESET_DISABLED + 1)
  REFUSED(stack_in_place, 0)
  options.stack_in_place = 0;
  REFUSED(batch_size, 3)
  options.stack_in_place = 1;
  REFUSED(device, -2)
  REFUSED(frame_skip, 0)
  REFUSED(repeat_action_probability, 2)
  options.device = VCS_CPU;
  REFUSED(stack, 0)
  options.device = VCS_GPU + 4711;
  assert_refused(carts[0], &options, VCS_NOT_FOUND, vcs_device_missing(options.device));
  free_carts(carts, count);
}

static void test_calls_that_a_device_has_not_are_refused(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  const vcs_batch_options_t options = options_of(ENVS, device());
  port_t port = open_port(carts, 1, &options);
  vcs_batch_t *batch = port.batch;
  vcs_batch_results_t odd = port.there;
  const int32_t *actions = port.actions;
  const float strengths[ENVS] = {0};
  vcs_error_t error;
#define REFUSES(call, word)                 \
  assert_int_equal(call, VCS_BAD_ARGUMENT); \
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not speak of %s", error.message, word);
  REFUSES(vcs_batch_step(batch, actions, NULL, &port.there, &error), "reset")
  REFUSES(vcs_batch_copy(batch, NULL, ENVS, port.there.observations, &error), "reset")
  REFUSES(vcs_batch_reset(batch, actions, NULL, 2, &port.there, &error), "first reset")
  must(vcs_batch_reset(batch, NULL, NULL, ENVS, &port.there, &error), &error);
  REFUSES(vcs_batch_reset(batch, NULL, NULL, 2, &port.there, &error), "without ids")
  REFUSES(vcs_batch_step(batch, NULL, NULL, &port.there, &error), "actions")
  REFUSES(vcs_batch_step(batch, actions, strengths, &port.there, &error), "strengths")
  REFUSES(vcs_batch_step(batch, actions, NULL, NULL, &error), "observations")
  REFUSES(vcs_batch_send(batch, actions, NULL, &error), "on a device")
  REFUSES(vcs_batch_send_reset(batch, NULL, NULL, ENVS, &error), "on a device")
  REFUSES(vcs_batch_receive(batch, &port.there, &error), "nothing was sent")
  odd.final_observations += 3;
  REFUSES(vcs_batch_step(batch, actions, NULL, &odd, &error), "final_observations")
  odd = port.there;
  odd.sound = port.there.ram;
  REFUSES(vcs_batch_step(batch, actions, NULL, &odd, &error), "sound")
  odd = port.there;
  odd.observations += 3;
  REFUSES(vcs_batch_step(batch, actions, NULL, &odd, &error), "aligned")
  REFUSES(vcs_batch_copy(batch, NULL, ENVS, odd.observations, &error), "aligned")
  assert_null(vcs_batch_ram(batch, 0));
  assert_int_equal(vcs_batch_next(batch), 0);
  must(vcs_batch_wait(batch, &error), &error);
  close_port(&port);
  free_carts(carts, count);
}

/* Without a GPU, or without its library, a sentence says what is missing and what to do. */
static void test_what_is_missing_is_said(void **state) {
  (void)state;
  vcs_error_t error;
  void *memory;
  assert_null(vcs_device_missing(VCS_CPU));
  assert_null(vcs_device_missing(VCS_CPU_AS_GPU));
  assert_null(vcs_device_missing(device()));
  assert_non_null(vcs_device_missing(-2));
  const char *missing = vcs_device_missing(VCS_GPU + 4711);
  assert_non_null(missing);
  assert_true(strstr(missing, "make cuda") || strstr(missing, "GPU"));
  assert_int_equal(vcs_device_allocate(VCS_GPU + 4711, 16, &memory, &error), VCS_NOT_FOUND);
  assert_string_equal(error.message, missing);
  assert_null(memory);
  assert_int_equal(vcs_device_move(VCS_GPU + 4711, &error, &error, 0, &error), VCS_NOT_FOUND);
  vcs_device_free(VCS_GPU + 4711, NULL);
}

static void test_tensors_say_where_they_are(void **state) {
  (void)state;
  int32_t *memory = allocate(device(), 60);
  const int64_t shape[2] = {3, 5};
  struct { /* the head of a DLManagedTensor */
    void *data;
    int32_t device_type, device_id, dimensions;
    uint8_t kind, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
    void *context;
    void (*deleter)(void *);
  } *tensor = vcs_device_dlpack(device(), memory, 2, shape, 2, 32);
  assert_ptr_equal(tensor->data, memory);
  assert_int_equal(tensor->device_type, device() < VCS_GPU ? 1 : 2);
  assert_int_equal(tensor->device_id, device() < VCS_GPU ? 0 : device() - VCS_GPU);
  assert_int_equal(tensor->dimensions, 2);
  assert_int_equal(tensor->kind, 2);
  assert_int_equal(tensor->bits, 32);
  assert_memory_equal(tensor->shape, shape, sizeof shape);
  tensor->deleter(tensor);
  assert_null(vcs_device_dlpack(device(), memory, 9, shape, 1, 8));
  vcs_device_free(device(), memory);
}

int main(void) {
  const char *missing = vcs_device_missing(device());
  if (missing) return need_exit("test_device", "gpu", missing);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_batch_on_a_device_is_the_cpus),
      cmocka_unit_test(test_episodes_end_as_on_the_cpu),
      cmocka_unit_test(test_pictures_of_every_size_are_the_cpus),
      cmocka_unit_test(test_the_step_after_the_end),
      cmocka_unit_test(test_batch_is_the_same_on_every_device),
      cmocka_unit_test(test_batch_is_a_device_batch),
      cmocka_unit_test(test_seeds_decide_and_resets_are_of_some),
      cmocka_unit_test(test_states_go_to_others),
      cmocka_unit_test(test_batch_without_pictures),
      cmocka_unit_test(test_batch_derivatives_are_those_of_runs),
      cmocka_unit_test(test_truth_has_a_device),
      cmocka_unit_test(test_options_that_a_device_has_not_are_refused),
      cmocka_unit_test(test_calls_that_a_device_has_not_are_refused),
      cmocka_unit_test(test_what_is_missing_is_said),
      cmocka_unit_test(test_tensors_say_where_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
