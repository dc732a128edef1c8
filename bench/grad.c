/* grad.c: what derivatives of one frame cost: `grad ROM NAME METHOD ROUNDS [dense|sparse]`, METHOD a number of
 * vcs_method_t. Prints, in microseconds a frame and as the best of the rounds, a frame that is drawn, its tape, and
 * its VJP with an adjoint on every pixel (dense) or on one in the middle (sparse), the tape included, and a frame's
 * share of the dense VJP of a run of many, where a frame is run, recorded and walked over. With dense or sparse it does
 * only that VJP, inside bench_loop, for callgrind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grad/tape.h"
#include "diffvcs/grad.h"

enum { IMAGE_MAX = 1 << 20, FRAMES_BEFORE = 300, RUN_MAX = 8 };

typedef struct {
  vcs_cart_t *cart;
  vcs_t *start, *machine;
  vcs_tape_t *tape;
  vcs_grad_workspace_t *workspace;
  uint8_t *frames;
  float *pixels, *state, *rom;
  vcs_grad_options_t options;
  int frames_in_run;
} work_t;

static void draw(work_t *w) {
  memcpy(w->machine, w->start, vcs_state_size(w->cart));
  vcs_frame(w->cart, w->machine, w->frames);
}

static void record(work_t *w) {
  memcpy(w->machine, w->start, vcs_state_size(w->cart));
  vcs_tape_record(w->tape, w->cart, w->machine, NULL);
}

static void differentiate(work_t *w) {
  const vcs_controls_t hands[RUN_MAX] = {{{0, 0}, {0, 0, 0, 0}, {0, 0}, 0}};
  const vcs_run_t run = {w->cart, w->start, NULL, hands, w->frames_in_run};
  const vcs_grad_inputs_t inputs = {w->state, w->rom, NULL};
  float *pictures[RUN_MAX];
  for (int i = 0; i < RUN_MAX; i++) pictures[i] = w->pixels;
  const vcs_grad_outputs_t outputs = {pictures, NULL};
  vcs_grad_vjp_in(w->workspace, &run, &w->options, &inputs, &outputs, NULL, NULL);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

__attribute__((noinline)) void bench_loop(work_t *w, void (*call)(work_t *), int calls);
void bench_loop(work_t *w, void (*call)(work_t *), int calls) {
  for (int i = 0; i < calls; i++) call(w);
}

static double best(work_t *w, void (*call)(work_t *), int rounds) {
  double least = 1e9;
  for (int i = 0; i < rounds; i++) {
    double begin = now();
    bench_loop(w, call, 1);
    double took = now() - begin;
    if (took < least) least = took;
  }
  return least;
}

static void seed(work_t *w, bool dense) {
  int count = VCS_WIDTH * w->cart->height;
  for (int i = 0; i < count; i++) w->pixels[i] = dense ? (float)(i % 7 - 3) + 0.5F : 0;
  if (!dense) w->pixels[count / 2 + VCS_WIDTH / 2] = 1;
}

int main(int argc, char **argv) {
  static uint8_t image[IMAGE_MAX];
  work_t w = {0};
  FILE *file = argc >= 5 ? fopen(argv[1], "rb") : NULL;
  const size_t size = file ? fread(image, 1, sizeof image, file) : 0;
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = argc >= 5 ? argv[2] : NULL};
  if (file) fclose(file);
  if (!size || vcs_cart_load(image, size, &options, &w.cart, NULL) || vcs_tape_create(w.cart, &w.tape, NULL)) {
    fprintf(stderr, "usage: grad ROM NAME METHOD ROUNDS [dense|sparse]\n");
    return 2;
  }
  w.frames_in_run = 1;
  w.workspace = vcs_grad_workspace_create();
  vcs_grad_defaults(&w.options);
  w.options.method = argv[3][0] == 's' ? VCS_METHOD_STE : VCS_METHOD_BIT;
  if (argv[3][0] == 'f') w.options.fork_window = 256;
  w.start = calloc(1, sizeof *w.start);
  w.machine = calloc(1, sizeof *w.machine);
  w.frames = calloc(2, VCS_FRAME_BYTES);
  w.pixels = calloc(VCS_FRAME_BYTES, sizeof *w.pixels);
  w.state = calloc(8 * sizeof *w.start, sizeof *w.state);
  w.rom = calloc(8 * size, sizeof *w.rom);
  if (!w.start || !w.machine || !w.frames || !w.pixels || !w.state || !w.rom) return 1;
  vcs_boot(w.cart, w.start, w.frames);
  for (int i = 0; i < FRAMES_BEFORE; i++) {
    vcs_controls_t hands = {.console = i >= 60 && i < 64};
    hands.held[0] = i % 32 == 0 ? VCS_HELD_FIRE : 0;
    vcs_control(w.cart, w.start, &hands);
    vcs_frame(w.cart, w.start, w.frames);
  }
  if (argc > 5) {
    seed(&w, argv[5][0] == 'd');
    bench_loop(&w, differentiate, atoi(argv[4]));
  } else {
    int rounds = atoi(argv[4]);
    double frame = best(&w, draw, rounds), tape = best(&w, record, rounds);
    seed(&w, true);
    w.frames_in_run = RUN_MAX;
    double many = best(&w, differentiate, rounds) / RUN_MAX;
    w.frames_in_run = 1;
    double dense = best(&w, differentiate, rounds);
    seed(&w, false);
    double sparse = best(&w, differentiate, rounds);
    printf("%-16s frame %5.1f  tape %5.1f  dense %5.1f  sparse %5.1f  dense, a frame of many %5.1f (sweep %5.1f)\n",
           argv[2], frame, tape, dense, sparse, many, many - tape - frame);
  }
  vcs_grad_workspace_free(w.workspace);
  vcs_tape_free(w.tape);
  vcs_cart_free(w.cart);
  free(w.start);
  free(w.machine);
  free(w.frames);
  free(w.pixels);
  free(w.state);
  free(w.rom);
  return 0;
}
