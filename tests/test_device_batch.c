/* Device batches on the GPU whose number is in DIFFVCS_DEVICE, or on the CPU, compared with single environments, with
 * batches, with a device batch on the CPU, and with the golden records. The same program tests the GPU.
 *
 *   test_device_batch                    the quick tests
 *   test_device_batch many ENVS FRAMES   ENVS machines, each with its own action stream, byte by byte
 *   test_device_batch million            2^20 environments step
 *   test_device_batch truth              the exact effect of every bit
 *   test_device_batch short              a few steps of everything, for compute-sanitizer
 *   test_device_batch golden DIRECTORY   the first 2,000 frames of GAME.1.tsv.gz of all games at once
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <zlib.h>

#include "carts.h"
#include "cuda/device_batch.h"
#include "diffvcs/cuda.h"
#include "host/env.h"
#include "host/files.h"
#include "host/parallel.h"
#include "ragged.h"
#include "need.h"

static int32_t device(void) {
  const char *named = getenv("DIFFVCS_DEVICE");
  return named ? VCS_GPU + atoi(named) : VCS_CPU_AS_GPU;
}

/* ---- Cartridges --------------------------------------------------------------------------------------------- */

static vcs_cart_t *load_demo(void) { return load_demo_as(VCS_PROFILE_ALE, NULL); }

static vcs_cart_t *load_ragged(void) {
  uint8_t image[4096];
  ragged_image(image);
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart = NULL;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &cart, NULL), VCS_OK);
  return cart;
}

/* A cartridge with 1 KiB of RAM (CommaVid): a counter in its first byte; after it one byte changes in every frame,
 * depending on the counter, itself and the joystick; lines have the colours of those bytes. */
static vcs_cart_t *load_with_ram(void) {
  static const uint8_t program[] = {
      0x78, 0xD8, 0xA2, 0xFF, 0x9A,             /* F800 SEI, CLD, LDX #FF, TXS */
      0xA9, 0x02, 0x85, 0x00,                   /* F805 LDA #2, STA VSYNC */
      0x85, 0x02, 0x85, 0x02, 0x85, 0x02,       /* F809 STA WSYNC, three times */
      0xA9, 0x00, 0x85, 0x00, 0xE6, 0x80,       /* F80F LDA #0, STA VSYNC, INC 80 */
      0xAE, 0x00, 0xF0, 0xE8, 0x8E, 0x00, 0xF4, /* F815 LDX F000, INX, STX F400: RAM is written 1 KiB above */
      0x8A, 0x7D, 0x00, 0xF0,                   /* F81C TXA, ADC F000,X */
      0x4D, 0x80, 0x02, 0x9D, 0x00, 0xF4,       /* F820 EOR SWCHA, STA F400,X */
      0xA2, 0x28, 0x85, 0x02, 0xCA, 0xD0, 0xFB, /* F826 LDX #28, STA WSYNC, DEX, BNE F828 */
      0xA2, 0xDC, 0x85, 0x02, 0xBD, 0x00, 0xF0, /* F82D LDX #DC, STA WSYNC, LDA F000,X */
      0x45, 0x80, 0x85, 0x09, 0xCA, 0xD0, 0xF4, /* F834 EOR 80, STA COLUBK, DEX, BNE F82F */
      0x4C, 0x05, 0xF8,                         /* F83B JMP F805 */
  };
  uint8_t image[2048] = {0};
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .scheme = VCS_SCHEME_CV, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart = NULL;
  memcpy(image, program, sizeof program);
  image[0x7FD] = image[0x7FF] = 0xF8;
  assert_int_equal(vcs_cart_load(image, sizeof image, &options, &cart, NULL), VCS_OK);
  return cart;
}

enum { CARTS = 7 };

/* Our own cartridges, and some games if they are there: paddles, Superchip RAM, a coprocessor. */
static int load_some(vcs_cart_t *carts[CARTS]) {
  static const char *const games[] = {"pong", "breakout", "elevator_action", "pitfall2"};
  int count = 0;
  carts[count++] = load_demo();
  carts[count++] = load_ragged();
  carts[count++] = load_with_ram();
  return load_games(games, sizeof games / sizeof *games, carts, count);
}

/* ---- Device batches and their results ---------------------------------------------------------------------------- */

typedef struct {
  vcs_device_batch_t *batch;
  int32_t envs;
  size_t observation_size;
  vcs_batch_results_t device, host; /* the same results in both memories */
  int32_t *actions;                 /* the device's */
} port_t;

static void *allocate(const port_t *port, size_t size) {
  void *memory = NULL;
  vcs_error_t error;
  if (vcs_device_allocate(vcs_device_batch_options(port->batch)->device, size ? size : 1, &memory, &error))
    fail_msg("%s", error.message);
  return memory;
}

/* A row of results: its name in both structs, and bytes per environment. */
#define RESULTS(X)                          \
  X(observations, port->observation_size)   \
  X(rewards, sizeof(int32_t))               \
  X(lives, sizeof(int32_t))                 \
  X(frame_numbers, sizeof(int32_t))         \
  X(episode_frame_numbers, sizeof(int32_t)) \
  X(terminated, 1)                          \
  X(truncated, 1)                           \
  X(ram, 128)

static port_t open_port(vcs_cart_t *const *carts, int count, const vcs_device_batch_options_t *options) {
  port_t opened = {0}, *port = &opened;
  vcs_error_t error;
  if (vcs_device_batch_create((const vcs_cart_t *const *)carts, count, NULL, options, &port->batch, &error)) {
    fail_msg("%s", error.message);
  }
  port->envs = options->envs;
  port->observation_size = vcs_device_batch_observation_size(port->batch);
#define OPEN(name, size)                                           \
  port->device.name = allocate(port, (size_t)port->envs * (size)); \
  port->host.name = calloc((size_t)port->envs, (size) + 1);
  RESULTS(OPEN)
  port->actions = allocate(port, (size_t)port->envs * sizeof(int32_t));
  return opened;
}

static void close_port(port_t *port) {
#define CLOSE(name, size)                                                            \
  vcs_device_free(vcs_device_batch_options(port->batch)->device, port->device.name); \
  free(port->host.name);
  RESULTS(CLOSE)
  vcs_device_free(vcs_device_batch_options(port->batch)->device, port->actions);
  vcs_device_batch_free(port->batch);
}

static void move(const port_t *port, void *to, const void *from, size_t size) {
  vcs_error_t error;
  if (size && vcs_device_move(vcs_device_batch_options(port->batch)->device, to, from, size, &error))
    fail_msg("%s", error.message);
}

static void fetch_results(port_t *port) {
  assert_int_equal(vcs_device_batch_wait(port->batch, NULL, NULL), VCS_OK);
#define FETCH(name, size) move(port, port->host.name, port->device.name, (size_t)port->envs *(size));
  RESULTS(FETCH)
}

static void reset_port(port_t *port, uint64_t seed) {
  vcs_error_t error;
  if (vcs_device_batch_reset(port->batch, seed, &port->device, NULL, &error)) fail_msg("%s", error.message);
  fetch_results(port);
}

/* A step with the host's actions; NULL: random play. The results stay where they are. */
static void start_step(port_t *port, const int32_t *actions) {
  vcs_error_t error;
  if (actions) move(port, port->actions, actions, (size_t)port->envs * sizeof *actions);
  if (vcs_device_batch_step(port->batch, actions ? port->actions : NULL, &port->device, NULL, &error)) {
    fail_msg("%s", error.message);
  }
}

static void step_port(port_t *port, const int32_t *actions) {
  start_step(port, actions);
  fetch_results(port);
}

/* Picture and RAM of one env. */
static void fetch_slot(port_t *port, int env) {
#define FETCH_ONE(name, size) \
  move(port, port->host.name + (size_t)env * (size), port->device.name + (size_t)env * (size), size);
  FETCH_ONE(observations, port->observation_size)
  FETCH_ONE(ram, 128)
}

static void assert_ports_equal(const port_t *port, const port_t *other) {
#define COMPARE(name, size) assert_memory_equal(port->host.name, other->host.name, (size_t)port->envs *(size));
  RESULTS(COMPARE)
}

static vcs_device_batch_options_t options_of(int32_t envs, uint8_t shows) {
  vcs_device_batch_options_t options;
  vcs_device_batch_defaults(&options);
  options.envs = envs;
  options.shows = shows;
  options.device = device();
  return options;
}

/* What differs between two machines, by name. */
static void assert_machines_equal(const vcs_cart_t *cart, const vcs_t *got, const vcs_t *want, int env, int frame) {
  if (memcmp(got, want, vcs_state_size(cart)) == 0) return;
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)) != NULL && field->offset < vcs_state_size(cart); i++) {
    const uint8_t *a = (const uint8_t *)got + field->offset, *b = (const uint8_t *)want + field->offset;
    if (memcmp(a, b, field->size) != 0) {
      print_error("env %d, frame %d: %s is %d, not %d\n", env, frame, field->name, a[0], b[0]);
    }
  }
  fail();
}

/* ---- Machines, one by one -------------------------------------------------------------------------------------- */

typedef struct {
  vcs_env_t **envs;
  const int32_t *actions;
} envs_t;

static bool act_one(void *context, size_t item, int worker) {
  const envs_t *all = context;
  (void)worker;
  vcs_env_act_on(all->envs[item], all->actions[item], VCS_NOOP);
  return true;
}

/* Every machine, every frame. */
static void compare_machines(vcs_cart_t *const *carts, int cart_count, int32_t env_count, int frames) {
  vcs_device_batch_options_t options = options_of(env_count, VCS_DEVICE_BATCH_SHOWS_NOTHING);
  options.frame_skip = 1;
  options.noop_max = options.max_episode_frames = 0;
  port_t port = open_port(carts, cart_count, &options);
  reset_port(&port, 1);
  vcs_env_t **envs = calloc((size_t)env_count, sizeof(*envs));
  vcs_stream_t *streams = calloc((size_t)env_count, sizeof *streams);
  int32_t *actions = calloc((size_t)env_count, sizeof *actions);
  uint8_t *done = calloc((size_t)env_count, 1),
          *states = malloc((size_t)env_count * vcs_device_batch_env_bytes(port.batch));
  void *there = allocate(&port, (size_t)env_count * vcs_device_batch_env_bytes(port.batch));
  for (int32_t i = 0; i < env_count; i++) {
    vcs_env_options_t env_options;
    const vcs_cart_t *cart = carts[(int64_t)i * cart_count / env_count];
    vcs_env_defaults(cart, &env_options);
    env_options.repeat_action_probability = 0;
    env_options.fire_reset = VCS_FIRE_RESET_MINIMAL;
    assert_int_equal(vcs_env_create_with(cart, &env_options, &envs[i], NULL), VCS_OK);
    vcs_env_set_drawing(envs[i], 0);
    vcs_env_reset(envs[i]);
    vcs_stream_start(&streams[i], (uint64_t)i + 1);
  }
  for (int frame = 0; frame < frames; frame++) {
    for (int32_t i = 0; i < env_count; i++) actions[i] = vcs_stream_next(&streams[i]);
    envs_t all = {envs, actions};
    vcs_parallel((size_t)env_count, 0, act_one, &all);
    step_port(&port, actions);
    assert_int_equal(vcs_device_batch_copy(port.batch, NULL, env_count, there, NULL, NULL), VCS_OK);
    assert_int_equal(vcs_device_batch_wait(port.batch, NULL, NULL), VCS_OK);
    move(&port, states, there, (size_t)env_count * vcs_device_batch_env_bytes(port.batch));
    for (int32_t i = 0; i < env_count; i++) {
      if (done[i]) continue;
      if (vcs_env_over(envs[i])) { /* a device batch begins anew where an environment stands still */
        assert_true(port.host.terminated[i]);
        done[i] = 1;
        continue;
      }
      const uint8_t *state = states + (size_t)i * vcs_device_batch_env_bytes(port.batch);
      assert_machines_equal(envs[i]->cart, (const vcs_t *)(const void *)(state + VCS_DEVICE_ENV_BYTES), envs[i]->m, i,
                            frame);
      assert_int_equal(port.host.lives[i], vcs_env_lives(envs[i]));
    }
  }
  int over = 0;
  for (int32_t i = 0; i < env_count; i++) {
    over += done[i];
    vcs_env_free(envs[i]);
  }
  print_message("%d machines, %d frames, %d of them over before\n", (int)env_count, frames, over);
  vcs_device_free(vcs_device_batch_options(port.batch)->device, there);
  free(envs);
  free(streams);
  free(actions);
  free(done);
  free(states);
  close_port(&port);
}

static void test_device_batch_machines_are_those_of_environments(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  compare_machines(carts, count, 70, 90);
  free_carts(carts, count);
}

/* ---- Pictures and rewards: against a batch ---------------------------------------------------------------------- */

static void test_device_batch_shows_what_a_batch_shows(void **state) {
  (void)state;
  enum { ENVS = 12, STEPS = 70 };
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  vcs_device_batch_options_t options = options_of(ENVS, VCS_DEVICE_BATCH_SHOWS_SMALL);
  options.noop_max = 0;
  port_t port = open_port(carts, count, &options);
  vcs_batch_options_t batch_options;
  vcs_batch_defaults(&batch_options);
  batch_options.envs = ENVS;
  batch_options.noop_max = 0;
  batch_options.autoreset = VCS_AUTORESET_SAME_STEP;
  vcs_batch_env_t envs[ENVS];
  for (int i = 0; i < ENVS; i++) envs[i] = (vcs_batch_env_t){i * count / ENVS, -1, -1, (uint32_t)i};
  vcs_batch_t *batch;
  vcs_error_t error;
  if (vcs_batch_create((const vcs_cart_t *const *)carts, count, envs, &batch_options, &batch, &error)) {
    fail_msg("%s", error.message);
  }
  const size_t size = vcs_batch_observation_size(batch);
  assert_int_equal(size, port.observation_size);
  uint8_t *observations = malloc(ENVS * size), terminated[ENVS], truncated[ENVS], ram[ENVS * 128];
  int32_t rewards[ENVS], lives[ENVS], chosen[ENVS], actions[ENVS];
  const vcs_batch_results_t results = {.observations = observations,
                                       .rewards = rewards,
                                       .lives = lives,
                                       .terminated = terminated,
                                       .truncated = truncated,
                                       .ram = ram};
  if (vcs_batch_reset(batch, NULL, NULL, ENVS, &results, &error)) fail_msg("%s", error.message);
  reset_port(&port, 5);
  bool over[ENVS] = {false};
  uint64_t random = 99;
  for (int step = 0; step <= STEPS; step++) {
    for (int i = 0; i < ENVS; i++) {
      if (over[i]) continue; /* a batch goes on with the same RAM, a device batch from a start */
      assert_memory_equal(port.host.observations + (size_t)i * size, observations + (size_t)i * size, size);
      assert_memory_equal(port.host.ram + (size_t)i * 128, ram + (size_t)i * 128, 128);
      assert_int_equal(port.host.lives[i], lives[i]);
    }
    for (int i = 0; i < ENVS; i++) {
      int32_t list[VCS_ACTIONS];
      chosen[i] = (int32_t)(vcs_splitmix64(&random) % (uint64_t)vcs_batch_actions(batch, i, list));
      actions[i] = list[chosen[i]];
    }
    if (vcs_batch_step(batch, chosen, NULL, &results, &error)) fail_msg("%s", error.message);
    step_port(&port, actions);
    for (int i = 0; i < ENVS; i++) {
      if (over[i]) continue;
      assert_int_equal(port.host.rewards[i], rewards[i]);
      assert_int_equal(port.host.terminated[i], terminated[i]);
      assert_int_equal(port.host.truncated[i], truncated[i]);
      over[i] = terminated[i] || truncated[i];
    }
  }
  free(observations);
  vcs_batch_free(batch);
  close_port(&port);
  free_carts(carts, count);
}

/* ---- The same on every device ------------------------------------------------------------------------------------ */

static int same_slots = 45, same_steps = 40;

/* Random play with sticky actions, no-op starts and short episodes: device batches here and there do the same, all the
 * time. */
static void test_device_batch_is_the_same_on_every_device(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  for (uint8_t shows = VCS_DEVICE_BATCH_SHOWS_NOTHING; shows <= VCS_DEVICE_BATCH_SHOWS_SMALL; shows++) {
    vcs_device_batch_options_t options = options_of(same_slots, shows);
    options.repeat_action_probability = 0.25f;
    options.noop_max = 7;
    options.max_episode_frames = 50;
    options.episodic_life = 1;
    options.frame_skip = shows == VCS_DEVICE_BATCH_SHOWS_FRAMES ? 1 : 3;
    port_t port = open_port(carts, count, &options);
    options.device = VCS_CPU_AS_GPU;
    port_t other = open_port(carts, count, &options);
    reset_port(&port, 17);
    reset_port(&other, 17);
    int ended = 0;
    for (int step = 0; step <= same_steps; step++) {
      assert_ports_equal(&port, &other);
      step_port(&port, NULL);
      step_port(&other, NULL);
      for (int i = 0; i < same_slots; i++) ended += port.host.terminated[i] + port.host.truncated[i];
    }
    if (options.frame_skip * same_steps > options.max_episode_frames) assert_true(ended >= same_slots);
    close_port(&port);
    close_port(&other);
  }
  free_carts(carts, count);
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

static void test_device_batch_states_of_a_subset_go_back(void **state) {
  (void)state;
  enum { ENVS = 33, KEPT = 5, STEPS = 12 };
  vcs_cart_t *cart = load_demo();
  const vcs_device_batch_options_t options = options_of(ENVS, VCS_DEVICE_BATCH_SHOWS_SMALL);
  port_t port = open_port(&cart, 1, &options);
  const int32_t ids[KEPT] = {3, 32, 0, 17, 8}, others[KEPT] = {4, 31, -1, 17, ENVS};
  const size_t bytes = vcs_device_batch_env_bytes(port.batch);
  int32_t *there = allocate(&port, sizeof ids);
  uint8_t *states = allocate(&port, KEPT * bytes), first[2][128];
  reset_port(&port, 3);
  for (int i = 0; i < STEPS; i++) step_port(&port, NULL);
  move(&port, there, ids, sizeof ids);
  assert_int_equal(vcs_device_batch_copy(port.batch, there, KEPT, states, NULL, NULL), VCS_OK);
  for (int i = 0; i < STEPS; i++) step_port(&port, NULL);
  memcpy(first[0], port.host.ram + 3 * 128, 128);
  memcpy(first[1], port.host.ram + 17 * 128, 128);
  move(&port, there, others,
       sizeof others); /* 3 is restored into 4, 17 into itself; indices out of range are skipped */
  assert_int_equal(vcs_device_batch_restore(port.batch, there, KEPT, states, NULL, NULL), VCS_OK);
  for (int i = 0; i < STEPS; i++) step_port(&port, NULL);
  assert_memory_equal(port.host.ram + 4 * 128, first[0], 128);
  assert_memory_equal(port.host.ram + 17 * 128, first[1], 128);
  vcs_device_free(vcs_device_batch_options(port.batch)->device, there);
  vcs_device_free(vcs_device_batch_options(port.batch)->device, states);
  close_port(&port);
  vcs_cart_free(cart);
}

/* ---- Truth ------------------------------------------------------------------------------------------------------- */

/* Returns how many of them have a pixel that differs. */
static int assert_rows_equal(const vcs_truth_t *got, const vcs_truth_t *want, size_t count) {
  int moved = 0;
  for (size_t i = 0; i < count; i++) {
    moved += want[i].pixels > 0;
    assert_int_equal(got[i].outcome, want[i].outcome);
    assert_int_equal(got[i].pixels, want[i].pixels);
    assert_int_equal(got[i].ram_bytes, want[i].ram_bytes);
    assert_int_equal(got[i].screen_crc, want[i].screen_crc);
    assert_int_equal(got[i].ram_crc, want[i].ram_crc);
  }
  return moved;
}

/* At several horizons, and at the last one alone, which need not draw every frame. All bits of the banks are
 * among the flips: some derail the program, so that it executes addresses of the TIA, where the byte that a frame
 * leaves on the bus matters to the next one. */
static void compare_truth(vcs_cart_t *cart, size_t stride, int first) {
  enum { FRAMES = 8, HORIZONS = 3 };
  static const int32_t horizons[HORIZONS] = {1, 2, FRAMES};
  vcs_env_t *env;
  vcs_run_t run;
  vcs_controls_t controls[FRAMES];
  assert_int_equal(vcs_env_create(cart, &env, NULL), VCS_OK);
  for (int i = 0; i < 30; i++) vcs_env_act(env, i % VCS_ACTIONS, VCS_NOOP);
  vcs_run_idle(env, FRAMES, controls, &run);
  size_t count = 0;
  vcs_place_t *places = calloc(8 * vcs_state_size(cart) + (size_t)FRAMES * VCS_INPUTS, sizeof *places);
  for (size_t bit = 0; bit < 8 * vcs_state_size(cart); bit++) {
    const bool of_bank = bit / 8 - offsetof(vcs_t, bank) < sizeof(((vcs_t *)0)->bank);
    if (bit % stride && !of_bank) continue;
    places[count++] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(bit % 8), 0, (uint32_t)(bit / 8)};
  }
  for (uint32_t i = 0; i < FRAMES * VCS_INPUTS; i++) {
    places[count++] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(i / VCS_INPUTS), i % VCS_INPUTS};
  }
  vcs_truth_t *want = calloc(count * HORIZONS, sizeof *want), *got = calloc(count * HORIZONS, sizeof *got);
  vcs_truth_t base[HORIZONS], our_base[HORIZONS];
  const int horizon_count = HORIZONS - first;
  const vcs_truth_options_t options = {.horizons = horizons + first, .horizon_count = horizon_count};
  const vcs_truth_results_t theirs = {.base = base, .rows = want}, ours = {.base = our_base, .rows = got};
  vcs_error_t error;
  if (vcs_truth(&run, &options, places, count, &theirs, &error)) fail_msg("%s", error.message);
  if (vcs_device_batch_truth(device(), &run, &options, places, count, &ours, &error)) fail_msg("%s", error.message);
  const int moved = assert_rows_equal(got, want, count * (size_t)horizon_count);
  for (int i = 0; i < horizon_count; i++) assert_int_equal(our_base[i].screen_crc, base[i].screen_crc);
  assert_true(moved > 0);
  free(places);
  free(want);
  free(got);
  vcs_env_free(env);
}

static bool every_bit;

static void test_device_batch_truth_is_the_truth(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  for (int i = 0; i < count; i++) {
    const size_t stride = every_bit ? 1 : i < 2 ? 11 : 47;
    compare_truth(carts[i], stride, 0);
    compare_truth(carts[i], stride, 2);
  }
  free_carts(carts, count);
}

/* Maps of two runs, at one horizon and at two, of colours and of RAM; what was there before stays in the sum. */
static void compare_maps(vcs_cart_t *cart, int horizon_count) {
  enum { RUNS = 2, FRAMES = 4, STRIDE = 23, PLACES = 8 * 128 / STRIDE + 1 };
  static const int32_t horizons[] = {FRAMES, 1, FRAMES};
  vcs_env_t *envs[RUNS];
  vcs_run_t runs[RUNS];
  vcs_controls_t controls[RUNS][FRAMES];
  vcs_place_t places[PLACES];
  float values[768];
  const int32_t channels = vcs_pixel_values(cart, VCS_VALUES_RGB, values);
  const size_t items = (size_t)PLACES * (size_t)horizon_count;
  const size_t pixels = items * (size_t)(VCS_WIDTH * cart->frame_height * channels), bits = items * 8 * 128;
  const vcs_truth_options_t options = {.horizons = horizon_count == 1 ? horizons : horizons + 1,
                                       .horizon_count = horizon_count,
                                       .values = values,
                                       .channels = channels};
  float *want_pixels = malloc(RUNS * pixels * sizeof *want_pixels), *want_ram = malloc(RUNS * bits * sizeof *want_ram);
  float *got_pixels = malloc(RUNS * pixels * sizeof *got_pixels), *got_ram = malloc(RUNS * bits * sizeof *got_ram);
  vcs_truth_t *want = calloc(RUNS * items, sizeof *want), *got = calloc(RUNS * items, sizeof *got);
  for (size_t i = 0; i < RUNS * pixels; i++) want_pixels[i] = got_pixels[i] = (float)(i % 7);
  for (size_t i = 0; i < RUNS * bits; i++) want_ram[i] = got_ram[i] = 0.5f;
  for (uint32_t i = 0; i < PLACES; i++) {
    const uint32_t bit = i * STRIDE;
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(bit % 8), 0, (uint32_t)offsetof(vcs_t, ram) + bit / 8};
  }
  for (size_t i = 0; i < RUNS; i++) {
    assert_int_equal(vcs_env_create(cart, &envs[i], NULL), VCS_OK);
    for (size_t k = 0; k < 30 + 11 * i; k++) vcs_env_act(envs[i], (int)k % VCS_ACTIONS, VCS_NOOP);
    vcs_run_idle(envs[i], FRAMES, controls[i], &runs[i]);
    const vcs_truth_results_t theirs = {
        .rows = want + i * items, .pixels = want_pixels + i * pixels, .ram = want_ram + i * bits};
    assert_int_equal(vcs_truth(&runs[i], &options, places, PLACES, &theirs, NULL), VCS_OK);
  }
  const vcs_truth_results_t ours = {.rows = got, .pixels = got_pixels, .ram = got_ram};
  vcs_error_t error;
  if (vcs_device_batch_truths(device(), runs, RUNS, &options, places, PLACES, &ours, &error))
    fail_msg("%s", error.message);
  assert_true(assert_rows_equal(got, want, RUNS * items) > 0);
  assert_memory_equal(got_pixels, want_pixels, RUNS * pixels * sizeof *want_pixels);
  assert_memory_equal(got_ram, want_ram, RUNS * bits * sizeof *want_ram);
  const vcs_truth_options_t no_values = {.horizons = options.horizons, .horizon_count = horizon_count};
  const vcs_truth_results_t ram_alone = {.ram = got_ram};
  for (size_t i = 0; i < RUNS * bits; i++) got_ram[i] = 0.5f;
  assert_int_equal(vcs_device_batch_truths(device(), runs, RUNS, &no_values, places, PLACES, &ram_alone, NULL), VCS_OK);
  assert_memory_equal(got_ram, want_ram, RUNS * bits * sizeof *want_ram);
  void *const buffers[] = {want_pixels, want_ram, got_pixels, got_ram, want, got};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) free(buffers[i]);
  for (int i = 0; i < RUNS; i++) vcs_env_free(envs[i]);
}

static void test_device_batch_maps_are_those_of_the_truth(void **state) {
  (void)state;
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  for (int i = 0; i < count; i++) {
    if (i >= 2 && i < 5) continue; /* our own, and two of the games */
    compare_maps(carts[i], 1);
    compare_maps(carts[i], 2);
  }
  free_carts(carts, count);
}

static void test_device_batch_truths_of_several_runs_are_those_of_each(void **state) {
  (void)state;
  enum { RUNS = 3, FRAMES = 3, HORIZONS = 2, PLACES = 64 };
  static const int32_t horizons[HORIZONS] = {1, FRAMES};
  vcs_cart_t *cart = load_with_ram();
  vcs_env_t *envs[RUNS];
  vcs_run_t runs[RUNS];
  vcs_controls_t controls[RUNS][FRAMES];
  vcs_place_t places[PLACES];
  vcs_truth_t want[RUNS][PLACES][HORIZONS], got[RUNS][PLACES][HORIZONS], base[RUNS][HORIZONS], our_base[RUNS][HORIZONS];
  const vcs_truth_options_t options = {.horizons = horizons, .horizon_count = HORIZONS};
  for (uint32_t i = 0; i < PLACES; i++) { /* the first bytes of the cartridge's RAM, and some inputs */
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, cart_ram) + i / 8};
    if (i % 8 == 7) places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(i / 8 % FRAMES), i / 8 % VCS_INPUTS};
  }
  for (int i = 0; i < RUNS; i++) {
    const vcs_truth_results_t theirs = {.base = base[i], .rows = want[i][0]};
    assert_int_equal(vcs_env_create(cart, &envs[i], NULL), VCS_OK);
    for (int k = 0; k < 7 * i; k++) vcs_env_act(envs[i], k % VCS_ACTIONS, VCS_NOOP);
    vcs_run_idle(envs[i], FRAMES, controls[i], &runs[i]);
    controls[i][1].held[0] = (uint8_t)(i == 1 ? VCS_HELD_RIGHT : 0);
    assert_int_equal(vcs_truth(&runs[i], &options, places, PLACES, &theirs, NULL), VCS_OK);
  }
  const vcs_truth_results_t ours = {.base = our_base[0], .rows = got[0][0]};
  vcs_error_t error;
  if (vcs_device_batch_truths(device(), runs, RUNS, &options, places, PLACES, &ours, &error))
    fail_msg("%s", error.message);
  assert_true(assert_rows_equal(got[0][0], want[0][0], (size_t)RUNS * PLACES * HORIZONS) > 0);
  assert_rows_equal(our_base[0], base[0], (size_t)RUNS * HORIZONS);
  assert_true(base[0][0].screen_crc != base[1][0].screen_crc);
  runs[1].frames = 2; /* shorter than the first run */
  assert_int_equal(vcs_device_batch_truths(device(), runs, RUNS, NULL, places, PLACES, &ours, &error),
                   VCS_BAD_ARGUMENT);
  for (int i = 0; i < RUNS; i++) vcs_env_free(envs[i]);
  vcs_cart_free(cart);
}

/* ---- What cannot be ---------------------------------------------------------------------------------------------- */

static void test_device_batch_refuses(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo();
  vcs_device_batch_options_t options = options_of(2, VCS_DEVICE_BATCH_SHOWS_NOTHING);
  vcs_device_batch_t *batch;
  vcs_error_t error;
  options.device = VCS_GPU + 4711;
  assert_int_equal(vcs_device_batch_create((const vcs_cart_t *const *)&cart, 1, NULL, &options, &batch, &error),
                   VCS_NOT_FOUND);
  assert_null(batch);
  assert_non_null(strstr(error.message, "CPU") ? error.message : strstr(error.message, "4711"));
  assert_non_null(vcs_device_missing(VCS_GPU + 4711));
  assert_null(vcs_device_missing(VCS_CPU_AS_GPU));
  options.device = device();
  options.envs = 0;
  assert_int_equal(vcs_device_batch_create((const vcs_cart_t *const *)&cart, 1, NULL, &options, &batch, &error),
                   VCS_BAD_ARGUMENT);
  options.envs = 2;
  const vcs_batch_env_t wrong[2] = {{0, -1, -1, 0}, {1, -1, -1, 0}};
  assert_int_equal(vcs_device_batch_create((const vcs_cart_t *const *)&cart, 1, wrong, &options, &batch, &error),
                   VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_device_batch_create((const vcs_cart_t *const *)&cart, 1, NULL, &options, &batch, &error),
                   VCS_OK);
  uint8_t sound[2 * VCS_SOUND_SAMPLES];
  const vcs_batch_results_t results = {.sound = sound};
  assert_int_equal(vcs_device_batch_step(batch, NULL, &results, NULL, &error), VCS_BAD_ARGUMENT);
  static vcs_t machine;
  assert_int_equal(vcs_device_batch_machine(batch, 2, &machine, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_device_batch_machine(batch, 1, &machine, &error), VCS_OK);
  vcs_device_batch_free(batch);
  vcs_cart_free(cart);
}

/* Creates a batch of `count` environments in modes 0 to kinds - 1 of the demo, which has only mode 0: it must fail with
 * a message that contains `sentence`. */
static void refuse_modes(int32_t count, int32_t kinds, const char *sentence) {
  vcs_cart_t *cart = load_demo();
  vcs_device_batch_options_t options = options_of(count, VCS_DEVICE_BATCH_SHOWS_NOTHING);
  vcs_batch_env_t *envs = malloc((size_t)count * sizeof *envs);
  vcs_device_batch_t *batch;
  vcs_error_t error;
  for (int32_t i = 0; i < count; i++) envs[i] = (vcs_batch_env_t){0, i % kinds, -1, 0};
  const vcs_status_t status =
      vcs_device_batch_create((const vcs_cart_t *const *)&cart, 1, envs, &options, &batch, &error);
  assert_int_not_equal(status, VCS_OK);
  assert_null(batch);
  if (!strstr(error.message, sentence)) fail_msg("\"%s\" lacks \"%s\"", error.message, sentence);
  free(envs);
  vcs_cart_free(cart);
}

static void test_device_batch_has_at_most_4096_kinds(void **state) {
  (void)state;
  refuse_modes(4200, 4200, "environments 0 to 4096 have more than 4096");
  refuse_modes(4096, 4096, "mode");
}

/* 2^22 environments of 4,096 kinds: a search through the list of kinds takes ten seconds, a hash table a tenth of one.
 */
static void test_device_batch_finds_kinds_quickly(void **state) {
  (void)state;
  const clock_t before = clock();
  refuse_modes(1 << 22, 4096, "mode");
  assert_true(clock() - before < 3 * CLOCKS_PER_SEC);
}

/* ---- Golden records ---------------------------------------------------------------------------------------------- */

enum { GOLDEN_FRAMES = 2000, GOLDEN_MAX = 80 };

/* A game of the records: the environment that follows its reference, and the chains of the device batch's frames. */
typedef struct {
  char name[64];
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_stream_t stream;
  uint32_t ram_chain, screen_chain, want_ram, want_screen;
} golden_t;

/* Puts an environment into the environments `first` and on: machine, frames, paddles. */
static void put_env(port_t *port, int first, int count, const vcs_env_t *env) {
  const size_t bytes = vcs_device_batch_env_bytes(port->batch);
  uint8_t *state = malloc(bytes), *there = allocate(port, bytes);
  int32_t *id = allocate(port, sizeof *id);
  for (int32_t i = first; i < first + count; i++) {
    move(port, id, &i, sizeof i);
    if (i == first) {
      assert_int_equal(vcs_device_batch_copy(port->batch, id, 1, there, NULL, NULL), VCS_OK);
      assert_int_equal(vcs_device_batch_wait(port->batch, NULL, NULL), VCS_OK);
      move(port, state, there, bytes);
      vcs_device_env_t *head = (vcs_device_env_t *)(void *)state;
      memcpy(head->paddle, env->paddle, sizeof head->paddle);
      memcpy(state + VCS_DEVICE_ENV_BYTES, env->m, vcs_state_size(env->cart));
      move(port, there, state, bytes);
      move(port, there + (bytes - (size_t)2 * VCS_FRAME_BYTES), env->draw_history.frames, (size_t)2 * VCS_FRAME_BYTES);
    }
    assert_int_equal(vcs_device_batch_restore(port->batch, id, 1, there, NULL, NULL), VCS_OK);
    assert_int_equal(vcs_device_batch_wait(port->batch, NULL, NULL), VCS_OK);
  }
  vcs_device_free(vcs_device_batch_options(port->batch)->device, there);
  vcs_device_free(vcs_device_batch_options(port->batch)->device, id);
  free(state);
}

static void look(const vcs_env_t *env, uint32_t crc[2]) {
  crc[0] = (uint32_t)crc32(0, vcs_env_ram(env), 128);
  crc[1] = (uint32_t)crc32(0, vcs_env_screen(env), (unsigned)(VCS_WIDTH * vcs_env_height(env)));
}

/* The record's boot row, and its row of the last frame. */
static void read_record(const char *path, golden_t *game, uint32_t boot[2]) {
  char line[512];
  bool found = false;
  gzFile file = gzopen(path, "rb");
  assert_non_null(file);
  while (gzgets(file, line, sizeof line)) {
    int frame;
    sscanf(line, "boot\t-\t%x\t%x", &boot[0], &boot[1]);
    if (sscanf(line, "%d\t%*d\t%*x\t%*x\t%*d\t%*d\t%*d\t%*d\t%x\t%x", &frame, &game->want_ram, &game->want_screen) ==
            3 &&
        frame == GOLDEN_FRAMES) {
      found = true;
      break;
    }
  }
  gzclose(file);
  assert_true(found);
}

/* An environment as the record begins: after a reset or, in a few games, as it was created. */
static void start_as_recorded(const char *path, golden_t *game) {
  uint32_t boot[2] = {0}, created[2], now[2];
  read_record(path, game, boot);
  assert_int_equal(vcs_env_create(game->cart, &game->env, NULL), VCS_OK);
  look(game->env, created);
  game->env->draw_history.pinned = true;
  vcs_env_reset(game->env);
  look(game->env, now);
  if (memcmp(now, boot, sizeof boot) == 0 || memcmp(created, boot, sizeof boot) != 0) return;
  vcs_env_free(game->env);
  assert_int_equal(vcs_env_create(game->cart, &game->env, NULL), VCS_OK);
  game->env->draw_history.pinned = true;
  if (!game->env->draw_history.exact) vcs_draw_history_redraw(&game->env->draw_history, game->cart);
}

/* The record of a game, which may have its other name. */
static bool find_record(const char *directory, const vcs_game_t *game, char *path, size_t size) {
  const char *const names[] = {game->name, game->alias};
  for (int i = 0; i < 2 && names[i]; i++) {
    snprintf(path, size, "%s/%s.1.tsv.gz", directory, names[i]);
    FILE *there = fopen(path, "rb");
    if (!there) continue;
    fclose(there);
    return true;
  }
  return false;
}

static bool follow_one(void *context, size_t item, int worker) {
  golden_t *game = (golden_t *)context + item;
  (void)worker;
  vcs_env_act(game->env, game->stream.action, VCS_NOOP);
  return true;
}

static int golden(const char *directory) {
  static golden_t games[GOLDEN_MAX];
  vcs_cart_t *carts[GOLDEN_MAX];
  int count = 0, missing = 0;
  for (int i = 0; i < vcs_game_count() && count < GOLDEN_MAX; i++) {
    golden_t *game = &games[count];
    char path[1024];
    snprintf(game->name, sizeof game->name, "%s", vcs_game_at(i)->name);
    if (!find_record(directory, vcs_game_at(i), path, sizeof path)) continue;
    game->cart = load_game_as(game->name, VCS_PROFILE_XITARI);
    if (!game->cart) {
      if (need_missing("golden", "roms", game->name)) return 1;
      missing++;
      continue;
    }
    start_as_recorded(path, game);
    vcs_stream_start(&game->stream, 1);
    carts[count++] = game->cart;
  }
  if (count == 0) {
    printf("no records, or no ROM images: give the folder of records, and DIFFVCS_ROMS\n");
    return 1;
  }
  /* On a GPU each game has its own warp with 32 equal lanes: 32 different games in a warp would wait for each other. */
  const int lanes = device() == VCS_CPU_AS_GPU ? 1 : 32;
  vcs_device_batch_options_t options = options_of(count * lanes, VCS_DEVICE_BATCH_SHOWS_FRAMES);
  options.frame_skip = 1;
  options.noop_max = options.max_episode_frames = 0;
  options.fire_reset = 0;
  options.endless = 1;
  port_t port = open_port(carts, count, &options);
  reset_port(&port, 1);
  for (int i = 0; i < count; i++) put_env(&port, i * lanes, lanes, games[i].env);
  int32_t actions[GOLDEN_MAX * 32];
  bool wrong[GOLDEN_MAX] = {false};
  for (int frame = 1; frame <= GOLDEN_FRAMES; frame++) {
    for (int i = 0; i < count; i++) {
      if (vcs_env_over(games[i].env)) {
        vcs_env_reset(games[i].env);
        put_env(&port, i * lanes, lanes, games[i].env);
      }
      vcs_stream_next(&games[i].stream);
    }
    vcs_parallel((size_t)count, 0, follow_one, games);
    for (int i = 0; i < count * lanes; i++) actions[i] = games[i / lanes].env->action[0]; /* none that is not allowed */
    start_step(&port, actions);
    for (int i = 0; i < count; i++) {
      fetch_slot(&port, i * lanes);
      const uint8_t *screen = port.host.observations + (size_t)(i * lanes) * port.observation_size;
      const uint8_t *ram = port.host.ram + (size_t)(i * lanes) * 128;
      const size_t size = (size_t)VCS_WIDTH * (size_t)vcs_env_height(games[i].env);
      games[i].ram_chain = (uint32_t)crc32(games[i].ram_chain, ram, 128);
      games[i].screen_chain = (uint32_t)crc32(games[i].screen_chain, screen, (unsigned)size);
      if (!wrong[i] &&
          (memcmp(ram, games[i].env->m->ram, 128) != 0 || memcmp(screen, vcs_env_screen(games[i].env), size) != 0)) {
        printf("%s: frame %d differs from the CPU's\n", games[i].name, frame);
        wrong[i] = true;
      }
    }
  }
  int exact = 0;
  for (int i = 0; i < count; i++) {
    const bool same = games[i].ram_chain == games[i].want_ram && games[i].screen_chain == games[i].want_screen;
    if (!same) printf("%s: not the record's\n", games[i].name);
    exact += same && !wrong[i];
    vcs_env_free(games[i].env);
  }
  close_port(&port);
  for (int i = 0; i < count; i++) vcs_cart_free(games[i].cart);
  printf("golden: %d of %d games exact over %d frames, %d without image\n", exact, count, GOLDEN_FRAMES, missing);
  return exact != count;
}

/* Pong, Breakout and Space Invaders, if they are there, else our own cartridges. */
static void many(int32_t envs, int frames) {
  vcs_cart_t *carts[3];
  static const char *const games[] = {"pong", "breakout", "space_invaders"};
  int count = load_games(games, 3, carts, 0);
  if (count == 0) carts[count++] = load_demo();
  compare_machines(carts, count, envs, frames);
  free_carts(carts, count);
}

/* A million environments step, and the first of them have the results of a small device batch. */
static void test_million(void **state) {
  (void)state;
  enum { ENVS = 1 << 20, STEPS = 3, LOOKED_AT = 64 };
  vcs_cart_t *cart = load_game_as("pong", VCS_PROFILE_ALE);
  if (!cart) {
    NEED_PART("roms", "pong");
    cart = load_demo();
  }
  vcs_device_batch_options_t options = options_of(ENVS, VCS_DEVICE_BATCH_SHOWS_NOTHING);
  port_t port = open_port(&cart, 1, &options);
  options.envs = LOOKED_AT;
  options.device = VCS_CPU_AS_GPU;
  port_t other = open_port(&cart, 1, &options);
  reset_port(&port, 1);
  reset_port(&other, 1);
  for (int i = 0; i < STEPS; i++) {
    step_port(&port, NULL);
    step_port(&other, NULL);
    assert_memory_equal(port.host.ram, other.host.ram, (size_t)LOOKED_AT * 128);
  }
  print_message("%d envs of %zu bytes\n", ENVS, vcs_device_batch_env_bytes(port.batch));
  close_port(&port);
  close_port(&other);
  vcs_cart_free(cart);
}

static int32_t many_slots, many_frames;

static void test_many(void **state) {
  (void)state;
  many(many_slots, many_frames);
}

int main(int argc, char **argv) {
  const char *missing = vcs_device_missing(device());
  if (missing) return need_exit("test_device_batch", "gpu", missing);
  if (argc == 3 && strcmp(argv[1], "golden") == 0) return golden(argv[2]);
  if (argc == 4 && strcmp(argv[1], "many") == 0) {
    const struct CMUnitTest one[] = {cmocka_unit_test(test_many)};
    many_slots = atoi(argv[2]);
    many_frames = atoi(argv[3]);
    return cmocka_run_group_tests(one, NULL, NULL);
  }
  if (argc == 2 && strcmp(argv[1], "million") == 0) {
    const struct CMUnitTest one[] = {cmocka_unit_test(test_million)};
    return cmocka_run_group_tests(one, NULL, NULL);
  }
  if (argc == 2 && strcmp(argv[1], "truth") == 0) {
    const struct CMUnitTest one[] = {cmocka_unit_test(test_device_batch_truth_is_the_truth)};
    every_bit = true;
    return cmocka_run_group_tests(one, NULL, NULL);
  }
  if (argc == 2 && strcmp(argv[1], "short") == 0) {
    const struct CMUnitTest one[] = {cmocka_unit_test(test_device_batch_is_the_same_on_every_device),
                                     cmocka_unit_test(test_device_batch_truths_of_several_runs_are_those_of_each)};
    same_slots = 12;
    same_steps = 2;
    return cmocka_run_group_tests(one, NULL, NULL);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device_batch_machines_are_those_of_environments),
      cmocka_unit_test(test_device_batch_shows_what_a_batch_shows),
      cmocka_unit_test(test_device_batch_is_the_same_on_every_device),
      cmocka_unit_test(test_device_batch_states_of_a_subset_go_back),
      cmocka_unit_test(test_device_batch_truth_is_the_truth),
      cmocka_unit_test(test_device_batch_truths_of_several_runs_are_those_of_each),
      cmocka_unit_test(test_device_batch_maps_are_those_of_the_truth),
      cmocka_unit_test(test_device_batch_refuses),
      cmocka_unit_test(test_device_batch_has_at_most_4096_kinds),
      cmocka_unit_test(test_device_batch_finds_kinds_quickly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
