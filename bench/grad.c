/* grad.c: the workloads that bench/grad.py times beside ale-py, and that callgrind counts: `grad ROM NAME WORK ROUNDS`.
 *
 *   frame      a frame, drawn               tape       the same recorded, not drawn
 *   run        a frame, not drawn           truth      1,024 bits of RAM, each flipped for eight frames, in one thread
 *                                           jacobian   the same in one walk
 *   ste-dense, ste-sparse, bit-dense, bit-sparse, fork-dense, fork-sparse
 *              a frame's VJP, its tape included: an adjoint on every pixel, or on one in the middle; `fork` is `bit`
 *              with a window of 256
 *
 * All begin at the same frame of a game that has been started and fires now and then. */
#include "diffvcs/grad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grad/tape.h"

enum { IMAGE_MAX = 1 << 20, FRAMES_BEFORE = 300, TRUTH_FRAMES = 8, RAM_BITS = 1024, WINDOW = 256 };

typedef struct {
  vcs_cart_t *cart;
  vcs_t *start, *machine;
  vcs_tape_t *tape;
  vcs_grad_workspace_t *workspace;
  uint8_t *frames;
  float *dense, *sparse, *state, *rom;
  vcs_truth_t *rows;
} work_t;

static void frame(work_t *w, uint8_t *frames) {
  memcpy(w->machine, w->start, vcs_state_size(w->cart));
  vcs_frame(w->cart, w->machine, frames);
}

static void draw(work_t *w) { frame(w, w->frames); }
static void run(work_t *w) { frame(w, NULL); }

static void record(work_t *w) {
  memcpy(w->machine, w->start, vcs_state_size(w->cart));
  vcs_tape_record(w->tape, w->cart, w->machine, NULL);
}

static const vcs_controls_t idle[TRUTH_FRAMES];

static void differentiate(work_t *w, vcs_method_t method, int32_t window, bool dense) {
  const vcs_run_t one = {w->cart, w->start, NULL, idle, 1};
  const vcs_grad_inputs_t inputs = {w->state, w->rom, NULL};
  float *const pictures[] = {dense ? w->dense : w->sparse};
  const vcs_grad_outputs_t outputs = {.pixels = pictures};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.method = method;
  options.fork_window = window;
  vcs_grad_vjp_in(w->workspace, &one, &options, &inputs, &outputs, NULL, NULL);
}

static void ste_dense(work_t *w) { differentiate(w, VCS_METHOD_STE, 0, true); }
static void ste_sparse(work_t *w) { differentiate(w, VCS_METHOD_STE, 0, false); }
static void bit_dense(work_t *w) { differentiate(w, VCS_METHOD_BIT, 0, true); }
static void bit_sparse(work_t *w) { differentiate(w, VCS_METHOD_BIT, 0, false); }
static void fork_dense(work_t *w) { differentiate(w, VCS_METHOD_BIT, WINDOW, true); }
static void fork_sparse(work_t *w) { differentiate(w, VCS_METHOD_BIT, WINDOW, false); }

static void flip_ram(work_t *w, int32_t engine) {
  static vcs_place_t places[RAM_BITS];
  for (uint32_t i = 0; i < RAM_BITS; i++) {
    const vcs_place_t place = {VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i / 8};
    places[i] = place;
  }
  const vcs_run_t eight = {w->cart, w->start, NULL, idle, TRUTH_FRAMES};
  const vcs_truth_options_t options = {.threads = 1, .engine = engine};
  const vcs_truth_results_t results = {.rows = w->rows};
  vcs_truth(&eight, &options, places, RAM_BITS, &results, NULL);
}

static void truth(work_t *w) { flip_ram(w, VCS_TRUTH_RERUN); }
static void jacobian(work_t *w) { flip_ram(w, VCS_TRUTH_WALK); }

static const struct {
  const char *name;
  void (*call)(work_t *);
} works[] = {{"frame", draw},
             {"run", run},
             {"tape", record},
             {"ste-dense", ste_dense},
             {"ste-sparse", ste_sparse},
             {"bit-dense", bit_dense},
             {"bit-sparse", bit_sparse},
             {"fork-dense", fork_dense},
             {"fork-sparse", fork_sparse},
             {"truth", truth},
             {"jacobian", jacobian}};

/* For grad.py; NULL and false if something is not there. */
work_t *grad_open(const char *rom, const char *name);
bool grad_do(work_t *w, const char *name, int rounds);

work_t *grad_open(const char *rom, const char *name) {
  static uint8_t image[IMAGE_MAX];
  work_t *w = calloc(1, sizeof *w);
  FILE *file = fopen(rom, "rb");
  const size_t size = file ? fread(image, 1, sizeof image, file) : 0;
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = name};
  if (file) fclose(file);
  if (!w || !size || vcs_cart_load(image, size, &options, &w->cart, NULL) || vcs_tape_create(w->cart, &w->tape, NULL))
    return NULL;
  w->tape->brief = true; /* as derivatives without forks have it */
  w->workspace = vcs_grad_workspace_create();
  w->start = calloc(1, sizeof *w->start);
  w->machine = calloc(1, sizeof *w->machine);
  w->frames = calloc(2, VCS_FRAME_BYTES);
  w->dense = calloc(VCS_FRAME_BYTES, sizeof *w->dense);
  w->sparse = calloc(VCS_FRAME_BYTES, sizeof *w->sparse);
  w->state = calloc(8 * sizeof *w->start, sizeof *w->state);
  w->rom = calloc(8 * size, sizeof *w->rom);
  w->rows = calloc(RAM_BITS, sizeof *w->rows);
  if (!w->workspace || !w->start || !w->machine || !w->frames || !w->dense || !w->sparse || !w->state || !w->rom ||
      !w->rows)
    return NULL;
  const int count = VCS_WIDTH * w->cart->height;
  for (int i = 0; i < count; i++) w->dense[i] = (float)(i % 7 - 3) + 0.5F;
  w->sparse[count / 2 + VCS_WIDTH / 2] = 1;
  vcs_boot(w->cart, w->start, w->frames);
  for (int i = 0; i < FRAMES_BEFORE; i++) {
    vcs_controls_t controls = {.console = i >= 60 && i < 64};
    controls.held[0] = i % 32 == 0 ? VCS_HELD_FIRE : 0;
    vcs_control(w->cart, w->start, &controls);
    vcs_frame(w->cart, w->start, w->frames);
  }
  return w;
}

bool grad_do(work_t *w, const char *name, int rounds) {
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    if (strcmp(works[i].name, name) != 0) continue;
    for (int round = 0; round < rounds; round++) works[i].call(w);
    return true;
  }
  return false;
}

int main(int argc, char **argv) {
  work_t *w = argc == 5 ? grad_open(argv[1], argv[2]) : NULL;
  if (!w || !grad_do(w, argv[3], atoi(argv[4]))) {
    fprintf(stderr, "usage: grad ROM NAME WORK ROUNDS\n");
    return 2;
  }
  return 0;
}
