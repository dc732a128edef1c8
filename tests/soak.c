/* soak.c: whether memory stays flat, and whether results depend on the number of threads.
 *
 *   soak ENVS SECONDS CYCLES
 *
 * A batch of ENVS environments steps for SECONDS; then CYCLES environments, batches and runs with derivatives are made
 * and freed. Resident memory is read ten times in each part: after the first tenth it must not grow by more than 1 %,
 * or 256 KiB. Before, a batch runs with 1, 2, 3, 7 and 16 threads: hashes of all it returns must be equal. Exit
 * status 1 if a check fails. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "diffvcs/grad.h"
#include "host/hash.h"

enum { PARTS = 10, SIDE = 42 };

static vcs_cart_t *cart;

static void give_up(const vcs_error_t *error) {
  fprintf(stderr, "soak: %s\n", error->message);
  exit(2);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long resident_kib(void) {
  long pages[2] = {0, 0};
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) exit(2);
  fclose(file);
  return pages[1] * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Prints what was measured; 1 if memory grew after the first part. */
static int judge(const char *name, const long kib[PARTS]) {
  long most = 0;
  for (int i = 1; i < PARTS; i++) most = kib[i] > most ? kib[i] : most;
  const long grown = most - kib[0], allowed = kib[0] / 100 > 256 ? kib[0] / 100 : 256;
  printf("%s %s: %ld KiB after a tenth, at most %ld KiB later\n", grown > allowed ? "not ok" : "ok", name, kib[0],
         most);
  return grown > allowed;
}

/* ---- A batch ---------------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_batch_t *batch;
  uint8_t *observations;
  int32_t *rewards, *actions, envs;
} load_t;

static load_t begin(int32_t envs, int32_t threads) {
  load_t load = {.envs = envs};
  const vcs_cart_t *carts[] = {cart};
  vcs_batch_options_t options;
  vcs_error_t error;
  vcs_batch_defaults(&options);
  options.envs = envs;
  options.threads = threads;
  options.width = options.height = SIDE;
  options.stack = 1;
  options.repeat_action_probability = 0.25F;
  if (vcs_batch_create(carts, 1, NULL, &options, &load.batch, &error)) give_up(&error);
  load.observations = calloc((size_t)envs, SIDE * SIDE);
  load.rewards = calloc((size_t)envs, sizeof *load.rewards);
  load.actions = calloc((size_t)envs, sizeof *load.actions);
  if (!load.observations || !load.rewards || !load.actions) exit(2);
  const vcs_batch_results_t results = {.observations = load.observations, .rewards = load.rewards};
  if (vcs_batch_reset(load.batch, NULL, NULL, envs, &results, &error)) give_up(&error);
  return load;
}

static void step(load_t *load, int number) {
  const vcs_batch_results_t results = {.observations = load->observations, .rewards = load->rewards};
  int32_t legal[VCS_ACTIONS];
  const int count = vcs_batch_actions(load->batch, 0, legal);
  vcs_error_t error;
  for (int32_t i = 0; i < load->envs; i++) load->actions[i] = (i + number / 5) % count;
  if (vcs_batch_step(load->batch, load->actions, NULL, &results, &error)) give_up(&error);
}

static void end(load_t *load) {
  vcs_batch_free(load->batch);
  free(load->observations);
  free(load->rewards);
  free(load->actions);
}

static int over_threads(void) {
  static const int32_t threads[] = {1, 2, 3, 7, 16};
  uint64_t first = 0;
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    load_t load = begin(24, threads[i]);
    uint64_t hash = 0;
    for (int number = 0; number < 100; number++) {
      step(&load, number);
      hash = vcs_hash64(load.observations, (size_t)load.envs * SIDE * SIDE, hash);
      hash = vcs_hash64(load.rewards, (size_t)load.envs * sizeof *load.rewards, hash);
    }
    end(&load);
    if (i == 0) first = hash;
    if (hash != first) {
      printf("not ok threads: %d threads give another result than one\n", (int)threads[i]);
      return 1;
    }
  }
  printf("ok threads: 1, 2, 3, 7 and 16 give %016" PRIx64 "\n", first);
  return 0;
}

static int soak(int32_t envs, double duration) {
  long kib[PARTS];
  char name[80];
  load_t load = begin(envs, 0);
  const double start = seconds();
  int64_t steps = 0;
  for (int part = 0; part < PARTS; part++) {
    do step(&load, (int)(steps++ % 100000));
    while (seconds() - start < duration * (part + 1) / PARTS);
    kib[part] = resident_kib();
  }
  end(&load);
  snprintf(name, sizeof name, "%d environments, %.0f s, %" PRId64 " steps each", (int)envs, seconds() - start, steps);
  return judge(name, kib);
}

/* ---- Made and freed --------------------------------------------------------------------------------------------- */

static void differentiate(vcs_env_t *env) {
  static float rom[8 * 4096], picture[VCS_FRAME_BYTES];
  float *pixels[] = {picture};
  vcs_controls_t controls[1];
  vcs_run_t run;
  vcs_grad_options_t options;
  vcs_error_t error;
  const vcs_grad_inputs_t in = {.rom = rom};
  const vcs_grad_outputs_t out = {.pixels = pixels};
  picture[VCS_WIDTH * 100 + 80] = 1;
  vcs_run_idle(env, 1, controls, &run);
  vcs_grad_defaults(&options);
  if (vcs_grad_vjp(&run, &options, &in, &out, NULL, &error)) give_up(&error);
}

static int cycle(int cycles) {
  long kib[PARTS];
  char name[80];
  vcs_error_t error;
  for (int part = 0; part < PARTS; part++) {
    for (int i = part * cycles / PARTS; i < (part + 1) * cycles / PARTS; i++) {
      vcs_env_t *env;
      if (vcs_env_create(cart, &env, &error)) give_up(&error);
      vcs_env_act(env, VCS_NOOP, VCS_NOOP);
      if (i % 20 == 0) differentiate(env);
      vcs_env_free(env);
      if (i % 10) continue;
      load_t load = begin(4, 2);
      step(&load, i);
      end(&load);
    }
    kib[part] = resident_kib();
  }
  snprintf(name, sizeof name, "%d times made and freed", cycles);
  return judge(name, kib);
}

int main(int argc, char **argv) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_error_t error;
  if (argc != 4) return 2;
  if (vcs_cart_load(image, size, NULL, &cart, &error)) give_up(&error);
  const int failed = over_threads() | soak(atoi(argv[1]), atof(argv[2])) | cycle(atoi(argv[3]));
  vcs_cart_free(cart);
  return failed;
}
