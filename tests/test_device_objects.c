/* Objects of batches on the GPU whose number is in DIFFVCS_DEVICE, or on the CPU as if it were one, against those of
 * batches on the CPU: the same lists, object by object, after a reset and steps of the first episode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "carts.h"
#include "diffvcs/cuda.h"
#include "diffvcs/objects.h"

enum { GAMES = 10, CARTS = GAMES + 1, ENVS = 22, CAPACITY = 256, STEPS = 60, PICTURES = 4 * 84 * 84 };

static int32_t device(void) {
  const char *named = getenv("DIFFVCS_DEVICE");
  return named ? VCS_GPU + atoi(named) : VCS_CPU_AS_GPU;
}

static int load_some(vcs_cart_t *carts[CARTS]) {
  static const char *const games[GAMES] = {"pong",           "qbert",           "seaquest", "freeway",
                                           "ms_pacman",      "elevator_action", "pitfall",  "breakout",
                                           "space_invaders", "asteroids"};
  carts[0] = load_demo_as(VCS_PROFILE_ALE, NULL);
  return load_games(games, GAMES, carts, 1);
}

/* A batch with what its calls need in the memory of its device. */
typedef struct {
  int32_t device;
  vcs_batch_t *batch;
  vcs_batch_results_t results;
  vcs_object_t *objects;
  int32_t *counts, *actions;
} port_t;

static void *allocate(int32_t device, size_t size) {
  void *memory = NULL;
  vcs_error_t error;
  if (vcs_device_allocate(device == VCS_CPU ? VCS_CPU_AS_GPU : device, size, &memory, &error))
    fail_msg("%s", error.message);
  return memory;
}

static void release(int32_t device, void *memory) {
  vcs_device_free(device == VCS_CPU ? VCS_CPU_AS_GPU : device, memory);
}

static void move(int32_t device, void *to, const void *from, size_t size) {
  vcs_error_t error;
  if (vcs_device_move(device == VCS_CPU ? VCS_CPU_AS_GPU : device, to, from, size, &error))
    fail_msg("%s", error.message);
}

static port_t open_port(vcs_cart_t *const *carts, int count, int32_t device) {
  port_t port = {.device = device};
  vcs_batch_options_t options;
  vcs_error_t error;
  vcs_batch_defaults(&options);
  options.envs = ENVS;
  options.device = device;
  options.noop_max = 0;
  options.repeat_action_probability = 0;
  options.frame_skip = 3;
  options.full_action_space = 1;
  options.stack_in_place = 1;
  if (vcs_batch_create((const vcs_cart_t *const *)carts, count, NULL, &options, &port.batch, &error))
    fail_msg("%s", error.message);
  port.results.observations = allocate(device, (size_t)ENVS * PICTURES);
  port.objects = allocate(device, (size_t)ENVS * CAPACITY * sizeof *port.objects);
  port.counts = allocate(device, ENVS * sizeof *port.counts);
  port.actions = allocate(device, ENVS * sizeof *port.actions);
  return port;
}

static void close_port(port_t *port) {
  release(port->device, port->results.observations);
  release(port->device, port->objects);
  release(port->device, port->counts);
  release(port->device, port->actions);
  vcs_batch_free(port->batch);
}

/* Takes a step, or resets, and lists the objects; brings them to the host. */
static void play(port_t *port, const int32_t *actions, vcs_object_t *objects, int32_t *counts) {
  vcs_error_t error;
  vcs_status_t status;
  if (actions) {
    move(port->device, port->actions, actions, ENVS * sizeof *actions);
    status = vcs_batch_step(port->batch, port->actions, NULL, &port->results, &error);
  } else {
    status = vcs_batch_reset(port->batch, NULL, NULL, ENVS, &port->results, &error);
  }
  if (!status) status = vcs_batch_list_objects(port->batch, port->objects, port->counts, CAPACITY, &error);
  if (!status) status = vcs_batch_wait(port->batch, &error);
  if (status) fail_msg("%s", error.message);
  move(port->device, objects, port->objects, (size_t)ENVS * CAPACITY * sizeof *objects);
  move(port->device, counts, port->counts, ENVS * sizeof *counts);
}

static void test_objects_are_those_of_the_cpu(void **state) {
  (void)state;
  static vcs_object_t here[ENVS * CAPACITY], there[ENVS * CAPACITY];
  int32_t here_counts[ENVS], there_counts[ENVS], actions[ENVS];
  vcs_cart_t *carts[CARTS];
  const int count = load_some(carts);
  port_t cpu = open_port(carts, count, VCS_CPU), gpu = open_port(carts, count, device());
  uint32_t random = 1;
  long listed = 0;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < ENVS; i++) {
      random = random * 1664525u + 1013904223u;
      actions[i] = (int32_t)(random >> 16) % VCS_ACTIONS;
    }
    play(&cpu, step ? actions : NULL, here, here_counts);
    play(&gpu, step ? actions : NULL, there, there_counts);
    for (int i = 0; i < ENVS; i++) {
      if (here_counts[i] != there_counts[i])
        fail_msg("step %d, environment %d: %d objects on the CPU, %d on the device", step, i, (int)here_counts[i],
                 (int)there_counts[i]);
      const int32_t n = here_counts[i] < CAPACITY ? here_counts[i] : CAPACITY;
      for (int k = i * CAPACITY; k < i * CAPACITY + n; k++) {
        if (memcmp(&here[k], &there[k], sizeof *here) == 0) continue;
        fail_msg(
            "step %d, environment %d, object %d (kind %d at %d, %d): the device has another one (kind %d at %d, %d)",
            step, i, k % CAPACITY, here[k].kind, here[k].x, here[k].y, there[k].kind, there[k].x, there[k].y);
      }
      listed += n;
    }
  }
  assert_true(listed > (long)ENVS * STEPS);
  printf("%d cartridges, %d environments, %d steps: %ld objects equal\n", count, ENVS, STEPS, listed);
  close_port(&cpu);
  close_port(&gpu);
  for (int i = 0; i < count; i++) vcs_cart_free(carts[i]);
}

static void test_a_batch_without_pictures_is_refused(void **state) {
  (void)state;
  vcs_cart_t *cart = load_demo_as(VCS_PROFILE_ALE, NULL);
  vcs_batch_options_t options;
  vcs_batch_t *batch;
  vcs_object_t object;
  vcs_error_t error;
  int32_t count;
  vcs_batch_defaults(&options);
  options.envs = 1;
  options.device = VCS_CPU_AS_GPU;
  options.width = options.height = options.stack = options.stack_in_place = 0;
  const vcs_cart_t *const carts[] = {cart};
  assert_int_equal(vcs_batch_create(carts, 1, NULL, &options, &batch, NULL), VCS_OK);
  assert_int_equal(vcs_batch_list_objects(batch, &object, &count, 1, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "reset"));
  assert_int_equal(vcs_batch_reset(batch, NULL, NULL, 1, NULL, NULL), VCS_OK);
  assert_int_equal(vcs_batch_list_objects(batch, &object, &count, 1, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "pictures"));
  assert_int_equal(vcs_batch_list_objects(batch, &object, &count, -1, &error), VCS_BAD_ARGUMENT);
  assert_non_null(strstr(error.message, "capacity"));
  vcs_batch_free(batch);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_objects_are_those_of_the_cpu),
      cmocka_unit_test(test_a_batch_without_pictures_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
