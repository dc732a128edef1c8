/* cuda.c: the throughput of device batches on a GPU, for `make bench-cuda`.
 *
 *   cuda ROMS [SECONDS] [WORK...] [ENVS...]     Pong, Breakout and Space Invaders, random play; default: everything,
 *                                                by device batches of 65,536 and 131,072 envs
 *
 * Frames are raw frames of 60 Hz. A device batch plays for a while first, so that its machines have diverged.
 * Time is wall time around steps that are queued and then waited for. Instructions are those of the 6507s: what a
 * machine's own counter says of a step, mean over a sample. The last line is for scripts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "diffvcs/cuda.h"
#include "games.h"

enum { SAMPLE = 96, WARM_FRAMES = 120, SIZES_MAX = 8 };

typedef struct {
  const char *name;
  uint8_t shows;
  int32_t frame_skip;
} work_t;

enum { EMULATE, DRAWN, PIPELINE, STE, BIT, TRUTH, WORKS };
static const work_t works[WORKS] = {
    {"emulate", VCS_DEVICE_BATCH_SHOWS_NOTHING, 4}, {"drawn", VCS_DEVICE_BATCH_SHOWS_FRAMES, 1},
    {"pipeline", VCS_DEVICE_BATCH_SHOWS_SMALL, 4},  {"ste", VCS_DEVICE_BATCH_SHOWS_NOTHING, 4},
    {"bit", VCS_DEVICE_BATCH_SHOWS_NOTHING, 4},     {"truth", VCS_DEVICE_BATCH_SHOWS_NOTHING, 0}};

static void *allocate(size_t size) {
  void *memory;
  vcs_error_t error;
  must(vcs_device_allocate(VCS_GPU, size ? size : 1, &memory, &error), &error);
  return memory;
}

/* Instructions a frame: a sample of machines before and after some steps; episodes that ended in between aside. */
static double instructions_per_frame(vcs_device_batch_t *batch, const vcs_batch_results_t *results, int32_t envs) {
  static vcs_t m;
  static uint32_t before[SAMPLE], frames[SAMPLE];
  double sum = 0, count = 0;
  vcs_error_t error;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < SAMPLE; i++) {
      must(vcs_device_batch_machine(batch, (int32_t)((int64_t)i * envs / SAMPLE), &m, &error), &error);
      if (pass && m.frames > frames[i] && m.frames - frames[i] < 100) {
        sum += m.instructions - before[i];
        count += m.frames - frames[i];
      }
      before[i] = m.instructions;
      frames[i] = m.frames;
    }
    for (int i = 0; !pass && i < 4; i++) must(vcs_device_batch_step(batch, NULL, results, NULL, &error), &error);
  }
  return count ? sum / count : 0;
}

typedef struct {
  double frames_per_second, instructions;
} rate_t;

static rate_t measure(const vcs_cart_t *cart, const work_t *work, int32_t envs, double seconds) {
  vcs_device_batch_options_t options;
  vcs_device_batch_t *batch;
  vcs_error_t error;
  vcs_device_batch_defaults(&options);
  options.envs = envs;
  options.shows = work->shows;
  options.frame_skip = work->frame_skip;
  must(vcs_device_batch_create(&cart, 1, NULL, &options, &batch, &error), &error);
  const size_t size = vcs_device_batch_observation_size(batch);
  const vcs_batch_results_t results = {.observations = size ? allocate(size * (size_t)envs) : NULL,
                                       .rewards = allocate((size_t)envs * sizeof(int32_t)),
                                       .lives = allocate((size_t)envs * sizeof(int32_t)),
                                       .terminated = allocate((size_t)envs),
                                       .truncated = allocate((size_t)envs)};
  must(vcs_device_batch_reset(batch, 1, &results, NULL, &error), &error);
  for (int i = 0; i < WARM_FRAMES / options.frame_skip; i++) {
    must(vcs_device_batch_step(batch, NULL, &results, NULL, &error), &error);
  }
  must(vcs_device_batch_wait(batch, NULL, &error), &error);
  const double start = now();
  double spent = 0;
  int64_t steps = 0;
  for (int more = 4; spent < seconds; more *= 2) {
    for (int i = 0; i < more; i++) must(vcs_device_batch_step(batch, NULL, &results, NULL, &error), &error);
    must(vcs_device_batch_wait(batch, NULL, &error), &error);
    steps += more;
    spent = now() - start;
  }
  const rate_t rate = {(double)steps * options.frame_skip * envs / spent,
                       instructions_per_frame(batch, &results, envs)};
  vcs_device_free(VCS_GPU, results.observations);
  vcs_device_free(VCS_GPU, results.rewards);
  vcs_device_free(VCS_GPU, results.lives);
  vcs_device_free(VCS_GPU, results.terminated);
  vcs_device_free(VCS_GPU, results.truncated);
  vcs_device_batch_free(batch);
  return rate;
}

/* Instructions a second of derivatives: a frame is run, recorded, and walked over backwards (VJP) from an adjoint on
 * every pixel of its picture to the machine before it and to what is held. Counted are the instructions on the tapes.
 */
static double product_rate(const vcs_cart_t *cart, vcs_method_t method, int32_t envs, double seconds) {
  enum { PATTERN = 1 << 20 };
  vcs_device_batch_options_t options;
  vcs_batch_grad_options_t grad;
  vcs_device_batch_t *batch;
  vcs_error_t error;
  vcs_device_batch_defaults(&options);
  options.envs = envs;
  options.shows = VCS_DEVICE_BATCH_SHOWS_NOTHING;
  must(vcs_device_batch_create(&cart, 1, NULL, &options, &batch, &error), &error);
  const vcs_batch_results_t results = {0};
  must(vcs_device_batch_reset(batch, 1, &results, NULL, &error), &error);
  for (int i = 0; i < WARM_FRAMES / options.frame_skip; i++) {
    must(vcs_device_batch_step(batch, NULL, &results, NULL, &error), &error);
  }
  vcs_batch_grad_defaults(&grad);
  grad.grad.method = method;
  const size_t state = 8 * vcs_state_size(cart), picture = (size_t)VCS_WIDTH * (size_t)cart->height;
  const size_t pixels = picture * (size_t)envs;
  const vcs_batch_inputs_t inputs = {.state = allocate(state * (size_t)envs * sizeof(float)),
                                     .state_stride = state,
                                     .input = allocate(VCS_INPUTS * (size_t)envs * sizeof(float)),
                                     .input_stride = VCS_INPUTS};
  const vcs_batch_outputs_t outputs = {.pixels = allocate(pixels * sizeof(float)), .pixels_stride = picture};
  vcs_controls_t *controls = allocate((size_t)envs * sizeof *controls);
  int64_t *walked = allocate((size_t)envs * sizeof *walked);
  static float pattern[PATTERN];
  static const vcs_controls_t idle[PATTERN / sizeof(vcs_controls_t)];
  for (int i = 0; i < PATTERN; i++) pattern[i] = (float)(i % 7 - 3) + 0.5F;
  for (size_t i = 0; i < pixels; i += PATTERN) {
    const size_t left = pixels - i < PATTERN ? pixels - i : PATTERN;
    must(vcs_device_move(VCS_GPU, outputs.pixels + i, pattern, left * sizeof(float), &error), &error);
  }
  const size_t some = sizeof idle / sizeof *idle;
  for (size_t i = 0; i < (size_t)envs; i += some) {
    const size_t left = (size_t)envs - i < some ? (size_t)envs - i : some;
    must(vcs_device_move(VCS_GPU, controls + i, idle, left * sizeof *idle, &error), &error);
  }
  double start = 0, spent = 0;
  int64_t products = 0;
  for (int more = 0; spent < seconds; more = more ? 2 * more : 1) { /* the first one makes room, and does not count */
    for (int i = 0; i < (more ? more : 1); i++) {
      must(vcs_device_batch_vjp(batch, controls, &grad, &inputs, &outputs, walked, NULL, &error), &error);
    }
    must(vcs_device_batch_wait(batch, NULL, &error), &error);
    if (!more) start = now();
    products += more;
    spent = now() - start;
  }
  int64_t *here = malloc((size_t)envs * sizeof *here), sum = 0;
  must(vcs_device_move(VCS_GPU, here, walked, (size_t)envs * sizeof *here, &error), &error);
  for (int32_t i = 0; i < envs; i++) {
    if (here[i] < 0) die("a tape was too short");
    sum += here[i];
  }
  free(here);
  void *const buffers[] = {inputs.state, inputs.input, outputs.pixels, controls, walked};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) vcs_device_free(VCS_GPU, buffers[i]);
  vcs_device_batch_free(batch);
  return (double)sum * (double)products / spent;
}

/* All 1,024 bits of RAM, the whole screen after 8 frames; milliseconds, the best of a few. */
static double truth_ms(const vcs_cart_t *cart, double seconds) {
  enum { BITS = 1024, FRAMES = 8, TIMES = 5 };
  static vcs_place_t places[BITS];
  static vcs_truth_t rows[BITS];
  vcs_env_t *env;
  vcs_run_t run;
  vcs_controls_t controls[FRAMES];
  vcs_error_t error;
  must(vcs_env_create(cart, &env, &error), &error);
  for (int i = 0; i < 200; i++) vcs_env_act(env, i / 7 % VCS_ACTIONS, VCS_NOOP);
  vcs_run_idle(env, FRAMES, controls, &run);
  for (uint32_t i = 0; i < BITS; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i / 8};
  }
  const vcs_truth_results_t results = {.rows = rows};
  const double began = now();
  double best = 1e9;
  for (int i = 0; i < TIMES || now() - began < seconds;
       i++) { /* a GPU that was idle takes a while to run at full speed */
    const double start = now();
    must(vcs_device_batch_truth(VCS_GPU, &run, NULL, places, BITS, &results, &error), &error);
    const double spent = 1e3 * (now() - start);
    if (spent < best) best = spent;
  }
  vcs_env_free(env);
  return best;
}

/* The options of the command line. */
typedef struct {
  double seconds;
  bool wanted[WORKS];
  int32_t sizes[SIZES_MAX];
  int size_count;
} plan_t;

static plan_t read_plan(int argc, char **argv) {
  plan_t plan = {.seconds = 0.5};
  bool any = false;
  if (argc < 2) die("usage: cuda ROMS [SECONDS] [emulate|drawn|pipeline|ste|bit|truth...] [ENVS...]");
  for (int i = 2; i < argc; i++) {
    bool work = false;
    for (int w = 0; w < WORKS; w++) {
      if (strcmp(argv[i], works[w].name) == 0) plan.wanted[w] = work = any = true;
    }
    if (work) continue;
    const double number = atof(argv[i]);
    if (number <= 0) die("neither a number nor a kind of work: emulate, drawn, pipeline, ste, bit, truth");
    if (i == 2) {
      plan.seconds = number;
    } else if (plan.size_count < SIZES_MAX) {
      plan.sizes[plan.size_count++] = (int32_t)number;
    }
  }
  for (int w = 0; !any && w < WORKS; w++) plan.wanted[w] = true;
  if (!plan.size_count) {
    plan.sizes[plan.size_count++] = 65536;
    plan.sizes[plan.size_count++] = 131072;
  }
  return plan;
}

int main(int argc, char **argv) {
  const plan_t plan = read_plan(argc, argv);
  const char *missing = vcs_device_missing(VCS_GPU);
  if (missing) die(missing);
  vcs_cart_t *carts[GAMES];
  for (int g = 0; g < GAMES; g++) carts[g] = load(argv[1], games[g]);
  double best[WORKS], instructions = NAN;
  for (int w = 0; w < WORKS; w++) best[w] = NAN;
  printf("raw frames a second, millions\n%-12s%9s", "work", "envs");
  for (int g = 0; g < GAMES; g++) printf("%16s", games[g]);
  printf("%16s\n", "mean");
  for (int w = 0; w <= PIPELINE; w++) {
    for (int s = 0; plan.wanted[w] && s < plan.size_count; s++) {
      double mean = 0, executed = 0;
      printf("%-12s%9d", works[w].name, (int)plan.sizes[s]);
      for (int g = 0; g < GAMES; g++) {
        const rate_t rate = measure(carts[g], &works[w], plan.sizes[s], plan.seconds);
        mean += rate.frames_per_second / GAMES;
        executed += rate.frames_per_second * rate.instructions / GAMES;
        printf("%16.3f", 1e-6 * rate.frames_per_second);
        fflush(stdout);
      }
      printf("%16.3f\n", 1e-6 * mean);
      best[w] = fmax(best[w], mean); /* fmax takes the number when the other is none */
      if (w == EMULATE) instructions = fmax(instructions, executed);
    }
  }
  if (plan.wanted[STE] || plan.wanted[BIT]) printf("instructions a second of a frame's run and VJP, millions\n");
  for (int w = STE; w <= BIT; w++) {
    for (int s = 0; plan.wanted[w] && s < plan.size_count; s++) {
      double mean = 0;
      printf("%-12s%9d", works[w].name, (int)plan.sizes[s]);
      for (int g = 0; g < GAMES; g++) {
        const double rate =
            product_rate(carts[g], w == STE ? VCS_METHOD_STE : VCS_METHOD_BIT, plan.sizes[s], plan.seconds);
        mean += rate / GAMES;
        printf("%16.1f", 1e-6 * rate);
        fflush(stdout);
      }
      printf("%16.1f\n", 1e-6 * mean);
      best[w] = fmax(best[w], mean);
    }
  }
  if (plan.wanted[TRUTH]) {
    best[TRUTH] = 0;
    printf("%-21s", "truth, 1024 x 8, ms");
    for (int g = 0; g < GAMES; g++) {
      const double ms = truth_ms(carts[g], plan.seconds);
      best[TRUTH] += ms / GAMES;
      printf("%16.2f", ms);
    }
    printf("%16.2f\n", best[TRUTH]);
  }
  for (int g = 0; g < GAMES; g++) vcs_cart_free(carts[g]);
  printf("cuda: emulate=%.3g drawn=%.3g pipeline=%.3g forward_instr=%.3g ste_vjp_instr=%.3g truth_ms=%.3g\n",
         best[EMULATE], best[DRAWN], best[PIPELINE], instructions, best[STE], best[TRUTH]);
  return 0;
}
