/* learn.c: how fast batches make observations for a learner, for `make bench-learn`.
 *
 *   learn ROMS [SECONDS] [THREADS...]     Pong, Breakout and Space Invaders, random play, four 84 x 84 pictures each
 *
 * A row for each number of environments, a column for each number of host threads (1, 2, 4, ... up to the number of
 * cores unless they are given) and for the first GPU, if there is one. Numbers are raw frames of 60 Hz a second in
 * millions, mean of the games. In the second table the environments are in two batches that share the threads
 * (vcs_batch_share_threads), with a step of each under way, so threads wait less for the slowest environment. The third
 * table is the control: as many processes of one thread each, which share the environments, run at the same time and
 * never wait for each other. What they lose is lost to the machine (its clock, caches and memory, cores that are half
 * of one).
 * The other tables are efficiencies: speed divided by the number of threads or processes and by the speed of one
 * thread, which is measured just before; and the speed of threads divided by that of as many processes. The row `loop`
 * is that of processes which add numbers in registers and have no memory to share: what cores lose by their clock, and
 * as halves of a physical core.
 *
 * There are at least two environments for each thread. Numbers of environments that would take threads longer than
 * PATIENCE for a step are left out.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "diffvcs/diffvcs.h"
#include "games.h"

enum { COLUMNS_MAX = 12, PARTS_MAX = 2, ALONE_ENVS = 128, WARM_STEPS = 12, ACTIONS_ROWS = 16, FRAME_SKIP = 4, GPU = 0 };
static const int32_t sizes[] = {4, 32, 128, 256, 1024, 4096, 16384};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const double PATIENCE = 0.25, WARM_SECONDS = 0.1, SLOWEST = 25e3; /* seconds; frames a second of one thread */

static void *allocate(int32_t device, size_t size) {
  void *memory;
  vcs_error_t error;
  must(vcs_device_allocate(device, size, &memory, &error), &error);
  return memory;
}

/* Random actions, in the memory of the device: ACTIONS_ROWS rows of one action for each environment. */
static int32_t *random_actions(int32_t device, int32_t envs, int32_t known) {
  const size_t count = (size_t)envs * ACTIONS_ROWS, size = count * sizeof(int32_t);
  int32_t *here = malloc(size), *there = allocate(device, size);
  uint64_t state = 1;
  vcs_error_t error;
  if (!here) die("out of memory");
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    here[i] = (int32_t)((state >> 33) % (uint64_t)known);
  }
  must(vcs_device_move(device, there, here, size, &error), &error);
  free(here);
  return there;
}

/* A process says through one pipe that it is ready, waits at another until that is closed, and sends its speed. */
typedef struct {
  int ready[2], go[2], speed[2];
} gate_t;

static void pass(const gate_t *gate) {
  char byte = 0;
  if (!gate) return;
  close(gate->go[1]);
  if (write(gate->ready[1], &byte, 1) != 1 || read(gate->go[0], &byte, 1) != 0) die("a process lost its parent");
}

/* A batch, and the arrays of its steps. */
typedef struct {
  vcs_batch_t *batch;
  vcs_batch_results_t results;
  int32_t device, envs, *actions;
} part_t;

static part_t make_part(const vcs_cart_t *cart, int32_t device, int32_t threads, int32_t envs) {
  vcs_batch_options_t options;
  part_t part = {.device = device, .envs = envs};
  vcs_error_t error;
  int32_t list[VCS_ACTIONS];
  vcs_batch_defaults(&options);
  options.envs = envs;
  options.threads = threads;
  options.device = device;
  options.autoreset = VCS_AUTORESET_SAME_STEP;
  options.stack_in_place = 1;
  must(vcs_batch_create(&cart, 1, NULL, &options, &part.batch, &error), &error);
  const size_t count = (size_t)envs;
  part.results = (vcs_batch_results_t){
      .observations = allocate(device, count * vcs_batch_observation_size(part.batch)),
      .rewards = allocate(device, count * sizeof(int32_t)),
      .lives = allocate(device, count * sizeof(int32_t)),
      .terminated = allocate(device, count),
      .truncated = allocate(device, count),
  };
  part.actions = random_actions(device, envs, vcs_batch_actions(part.batch, 0, list));
  must(vcs_batch_reset(part.batch, NULL, NULL, envs, &part.results, &error), &error);
  return part;
}

static void free_part(part_t *part) {
  void *const buffers[] = {part->results.observations, part->results.rewards,   part->results.lives,
                           part->results.terminated,   part->results.truncated, part->actions};
  vcs_batch_free(part->batch);
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) vcs_device_free(part->device, buffers[i]);
}

static void begin_step(part_t *part, int64_t step) {
  vcs_error_t error;
  const int32_t *actions = part->actions + (size_t)(step % ACTIONS_ROWS) * (size_t)part->envs;
  must(vcs_batch_begin_step(part->batch, actions, NULL, &part->results, &error), &error);
}

static void end_step(part_t *part) {
  vcs_error_t error;
  must(vcs_batch_end_step(part->batch, &error), &error);
  must(vcs_batch_wait(part->batch, &error), &error);
}

/* Frames a second on a device, with so many threads if it is the host. The environments are in `parts` batches that
 * share the threads; a step of each is always under way. After warming up it passes the gate, if there is one. */
static double measure(const vcs_cart_t *cart, int32_t device, int32_t threads, int32_t envs, int parts, double seconds,
                      const gate_t *gate) {
  part_t part[PARTS_MAX];
  vcs_error_t error;
  int64_t steps = 0;
  bool warm = false;
  for (int p = 0; p < parts; p++) {
    part[p] = make_part(cart, device, threads, envs / parts);
    if (p > 0) must(vcs_batch_share_threads(part[p].batch, part[0].batch, &error), &error);
  }
  for (int p = 0; p < parts; p++) begin_step(&part[p], 0);
  double start = now(), spent = 0;
  for (int64_t i = 1; !warm || spent < seconds; i++) {
    for (int p = 0; p < parts; p++) {
      end_step(&part[p]);
      begin_step(&part[p], i);
    }
    steps++;
    spent = now() - start;
    if (warm || i < WARM_STEPS || spent < WARM_SECONDS) continue;
    pass(gate);
    warm = true;
    start = now();
    spent = 0;
    steps = 0;
  }
  for (int p = 0; p < parts; p++) {
    end_step(&part[p]);
    free_part(&part[p]);
  }
  return (double)steps * FRAME_SKIP * (envs / parts * parts) / spent;
}

/* Iterations a second of a loop in registers, in millions: eight independent sums, as many instructions in a clock as
 * the core can begin. */
static double measure_loop(double seconds, const gate_t *gate) {
  enum { ITERATIONS = 1000000, SUMS = 8 };
  uint64_t sum[SUMS] = {1, 2, 3, 4, 5, 6, 7, 8}, any = 0;
  int64_t rounds = 0;
  pass(gate);
  const double start = now();
  double spent = 0;
  for (; spent < seconds; spent = now() - start) {
    for (int i = 0; i < ITERATIONS; i++) {
      for (int k = 0; k < SUMS; k++) sum[k] += sum[k] >> 1 ^ (uint64_t)i;
    }
    rounds++;
  }
  for (int k = 0; k < SUMS; k++) any |= sum[k];
  return (double)(rounds + (any == 0)) / spent;
}

/* Frames a second of processes that share the environments and run at the same time, each with one thread; without
 * environments they run the loop. */
static double measure_processes(const vcs_cart_t *cart, int32_t processes, int32_t envs, double seconds) {
  gate_t gate;
  double sum = 0, speed;
  char byte;
  fflush(stdout);
  if (pipe(gate.ready) || pipe(gate.go) || pipe(gate.speed)) die("no pipe can be opened");
  for (int32_t i = 0; i < processes; i++) {
    const pid_t child = fork();
    if (child < 0) die("no process can be started");
    if (child > 0) continue;
    speed = envs ? measure(cart, VCS_CPU, 1, envs / processes, 1, seconds, &gate) : measure_loop(seconds, &gate);
    _exit(write(gate.speed[1], &speed, sizeof speed) != sizeof speed);
  }
  close(gate.ready[1]);
  close(gate.speed[1]);
  for (int32_t i = 0; i < processes; i++) {
    if (read(gate.ready[0], &byte, 1) != 1) die("a process ended before it was ready");
  }
  close(gate.go[1]);
  for (int32_t i = 0; i < processes; i++) {
    if (read(gate.speed[0], &speed, sizeof speed) != sizeof speed) die("a process ended without a speed");
    sum += speed;
  }
  for (int32_t i = 0; i < processes; i++) wait(NULL);
  close(gate.ready[0]);
  close(gate.go[0]);
  close(gate.speed[0]);
  return sum;
}

/* The columns: numbers of threads, or GPU. */
typedef struct {
  double seconds;
  int32_t threads[COLUMNS_MAX];
  int count;
} plan_t;

static plan_t read_plan(int argc, char **argv) {
  plan_t plan = {.seconds = 0.3};
  if (argc < 2) die("usage: learn ROMS [SECONDS] [THREADS...]");
  if (argc > 2) plan.seconds = atof(argv[2]);
  if (plan.seconds <= 0) die("SECONDS must be a positive number");
  for (int i = 3; i < argc && plan.count < COLUMNS_MAX - 1; i++) {
    const int32_t threads = atoi(argv[i]);
    if (threads < 1) die("THREADS must be at least 1");
    plan.threads[plan.count++] = threads;
  }
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  for (int32_t threads = 1; argc <= 3 && threads <= cores && plan.count < COLUMNS_MAX - 1; threads *= 2) {
    plan.threads[plan.count++] = threads;
  }
  if (!vcs_device_missing(VCS_GPU)) plan.threads[plan.count++] = GPU;
  return plan;
}

/* A speed, and divided by the number of threads and by the speed of one; NAN: not measured. */
typedef struct {
  double speed, efficiency;
} cell_t;
typedef cell_t table_t[SIZES][COLUMNS_MAX];
typedef enum { TOGETHER, IN_PARTS, PROCESSES } way_t;

static void print_names(const plan_t *plan, const char *title, const char *one) {
  printf("%s\n%8s", title, "envs");
  for (int c = 0; c < plan->count; c++) {
    char name[32];
    snprintf(name, sizeof name, "%d %s%s", (int)plan->threads[c], one,
             plan->threads[c] == 1 ? ""
             : *one == 'p'         ? "es"
                                   : "s");
    printf("%14s", plan->threads[c] == GPU ? "GPU" : name);
  }
  printf("\n");
}

static void print_number(double number, int digits) {
  if (isnan(number)) {
    printf("%14s", "");
  } else {
    printf("%14.*f", digits, number);
  }
  fflush(stdout);
}

/* Measures one game, and one thread just before it, because other work changes the speed of many computers by the
 * second. Adds both to *speed and *alone. */
static void measure_game(const vcs_cart_t *cart, way_t way, int32_t threads, int32_t envs, double seconds,
                         double *speed, double *alone) {
  if (threads != GPU) *alone += measure(cart, VCS_CPU, 1, ALONE_ENVS, 1, seconds, NULL);
  *speed += way == PROCESSES ? measure_processes(cart, threads, envs, seconds)
                             : measure(cart, threads == GPU ? VCS_GPU : VCS_CPU, threads, envs,
                                       way == IN_PARTS ? PARTS_MAX : 1, seconds, NULL);
}

/* Measures and prints a table of speeds. */
static void measure_table(const plan_t *plan, vcs_cart_t *const *carts, way_t way, table_t table) {
  for (int s = 0; s < SIZES; s++) {
    printf("%8d", (int)sizes[s]);
    for (int c = 0; c < plan->count; c++) {
      const int32_t threads = plan->threads[c];
      const bool few = sizes[s]<2 * threads, many = FRAME_SKIP * sizes[s]> PATIENCE * SLOWEST * threads;
      const bool skips = threads == GPU ? way != TOGETHER : few || many;
      double speed = 0, alone = 0;
      for (int g = 0; !skips && g < GAMES; g++) {
        measure_game(carts[g], way, threads, sizes[s], plan->seconds, &speed, &alone);
      }
      table[s][c].speed = skips ? NAN : 1e-6 * speed / GAMES;
      table[s][c].efficiency = skips || threads == GPU ? NAN : speed / threads / alone;
      print_number(table[s][c].speed, 4);
    }
    printf("\n");
  }
}

static void print_efficiency(const plan_t *plan, table_t table) {
  for (int s = 0; s < SIZES; s++) {
    printf("%8d", (int)sizes[s]);
    for (int c = 0; c < plan->count && plan->threads[c] != GPU; c++) print_number(table[s][c].efficiency, 2);
    printf("\n");
  }
}

/* Measures the loop by so many processes, and by one just before it, and prints the efficiency. */
static void print_loop(const plan_t *plan) {
  printf("%8s", "loop");
  for (int c = 0; c < plan->count && plan->threads[c] != GPU; c++) {
    const double alone = measure_processes(NULL, 1, 0, plan->seconds);
    print_number(measure_processes(NULL, plan->threads[c], 0, plan->seconds) / plan->threads[c] / alone, 2);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  const plan_t plan = read_plan(argc, argv);
  vcs_cart_t *carts[GAMES];
  static table_t threads, in_parts, processes;
  for (int g = 0; g < GAMES; g++) carts[g] = load(argv[1], games[g]);
  print_names(&plan, "raw frames a second, millions, mean of Pong, Breakout and Space Invaders", "thread");
  measure_table(&plan, carts, TOGETHER, threads);
  print_names(&plan, "the same in two batches that share the threads", "thread");
  measure_table(&plan, carts, IN_PARTS, in_parts);
  print_names(&plan, "the same by independent processes", "process");
  measure_table(&plan, carts, PROCESSES, processes);
  print_names(&plan, "efficiency of threads", "thread");
  print_efficiency(&plan, threads);
  print_names(&plan, "efficiency in two batches that share the threads", "thread");
  print_efficiency(&plan, in_parts);
  print_names(&plan, "efficiency of independent processes", "process");
  print_efficiency(&plan, processes);
  print_loop(&plan);
  print_names(&plan, "speed of threads by that of as many processes", "thread");
  for (int s = 0; s < SIZES; s++) {
    printf("%8d", (int)sizes[s]);
    for (int c = 0; c < plan.count && plan.threads[c] != GPU; c++) {
      print_number(threads[s][c].speed / processes[s][c].speed, 2);
    }
    printf("\n");
  }
  for (int g = 0; g < GAMES; g++) vcs_cart_free(carts[g]);
  return 0;
}
