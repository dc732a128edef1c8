/* relaxed.c: derivatives of whole runs by the relaxed machine (relaxed.h).
 *
 * The frames are run once, to know where each begins and how many instructions it has; then each is run again with its
 * derivative, forwards or backwards. A frame begins with a machine of integers (the chips) and the numbers beside it.
 */
#include "relaxed.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/files.h"
#include "host/save.h"

/* ---- Slots ---------------------------------------------------------------------------------------------------- */

/* A number of the relaxed machine, and the bits of vcs_t that are the same. */
typedef struct {
  size_t slot;
  size_t bit; /* the first, counted through the bytes of vcs_t */
  int bits;
} number_t;

#define NUMBER(slot, field, bits) \
  { slot, 8 * offsetof(vcs_t, field), bits }
#define FLAG(slot, bit) \
  { slot, 8 * offsetof(vcs_t, p) + (bit), 1 }
static const number_t registers[] = {
    NUMBER(VCS_SLOT_A, a, 8),   NUMBER(VCS_SLOT_X, x, 8),    NUMBER(VCS_SLOT_Y, y, 8),
    NUMBER(VCS_SLOT_SP, sp, 8), FLAG(VCS_SLOT_N, 7),         FLAG(VCS_SLOT_V, 6),
    FLAG(VCS_SLOT_D, 3),        FLAG(VCS_SLOT_I, 2),         FLAG(VCS_SLOT_Z, 1),
    FLAG(VCS_SLOT_C, 0),        NUMBER(VCS_SLOT_PC, pc, 16), NUMBER(VCS_SLOT_TIME, cycles, 1), /* a number in slot 0 */
};
#undef NUMBER
#undef FLAG

static number_t number_at(size_t slot) {
  if (slot < VCS_SLOT_RAM) return registers[slot];
  const size_t cell = slot - VCS_SLOT_RAM;
  const size_t byte = cell < 128 ? offsetof(vcs_t, ram) + cell : offsetof(vcs_t, cart_ram) + (cell - 128);
  return (number_t){slot, 8 * byte, 8};
}

/* The walk of a run: the relaxed machine, and what begins each frame. */
typedef struct {
  const vcs_run_t *run;
  vcs_relax_t *relax;
  size_t states, inputs; /* slots */
  uint8_t *machines;     /* one a frame */
  double *values;        /* `inputs` a frame */
  int32_t *steps;        /* instructions of each frame */
  double *d_input, *d_state;
} walk_t;

/* What bits say of numbers at the beginning: sum of 2^j b_j. split_inputs is the transpose. */
static void join_inputs(const walk_t *w, const float *state, const float *rom, double *numbers) {
  for (size_t i = 0; i < w->inputs; i++) {
    const number_t n = i < w->states ? number_at(i) : (number_t){i, 8 * (i - w->states), 8};
    const float *bits = i < w->states ? state : rom;
    for (int b = 0; bits && b < n.bits; b++) numbers[i] += (double)bits[n.bit + (size_t)b] * (double)(1u << b);
  }
}

static void split_inputs(const walk_t *w, const double *numbers, float *state, float *rom) {
  for (size_t i = 0; i < w->inputs; i++) {
    const number_t n = i < w->states ? number_at(i) : (number_t){i, 8 * (i - w->states), 8};
    float *bits = i < w->states ? state : rom;
    for (int b = 0; bits && b < n.bits; b++) bits[n.bit + (size_t)b] += (float)(numbers[i] * (double)(1u << b));
  }
}

/* And at the end: a change is spread evenly over the bits. */
static double share(const number_t *n) { return 1 / (double)((1u << n->bits) - 1); }

static void split_outputs(const walk_t *w, const double *numbers, float *state) {
  for (size_t i = 0; i < w->states; i++) {
    const number_t n = number_at(i);
    for (int b = 0; b < n.bits; b++) state[n.bit + (size_t)b] += (float)(numbers[i] * share(&n));
  }
}

static void join_outputs(const walk_t *w, const float *state, double *numbers) {
  for (size_t i = 0; i < w->states; i++) {
    const number_t n = number_at(i);
    for (int b = 0; b < n.bits; b++) numbers[i] += (double)state[n.bit + (size_t)b] * share(&n);
  }
}

/* ---- What it cannot do ------------------------------------------------------------------------------------------ */

static bool is_zero(const float *floats, size_t count) {
  for (size_t i = 0; floats && i < count; i++) {
    if (floats[i] != 0) return false;
  }
  return true;
}

/* Whether nothing but registers, flags, time and RAM has a derivative. */
static vcs_status_t check_state(const walk_t *w, const float *state, vcs_error_t *error) {
  const size_t count = 8 * vcs_state_size(w->run->cart);
  if (!state) return VCS_OK;
  uint8_t *known = calloc(count, 1);
  if (!known) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < w->states; i++) {
    const number_t n = number_at(i);
    memset(known + n.bit, 1, (size_t)n.bits);
  }
  size_t i = 0;
  while (i < count && (known[i] || state[i] == 0)) i++;
  free(known);
  if (i == count) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "the relaxed machine's chips carry no derivative: of the state, only registers, flags, cycles "
                        "and RAM can have one (byte %zu has)",
                        i / 8);
}

static vcs_status_t check_pixels(const walk_t *w, float *const *pixels, vcs_error_t *error) {
  const size_t count = (size_t)w->run->cart->frame_height * VCS_WIDTH;
  for (int32_t f = 0; pixels && f < w->run->frames; f++) {
    if (!is_zero(pixels[f], count)) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "the relaxed machine's chips carry no derivative, so pixels have none: weigh RAM or "
                            "registers, or take another method");
    }
  }
  return VCS_OK;
}

/* ---- The walk -----------------------------------------------------------------------------------------------------
 */

static void end_walk(walk_t *w) {
  vcs_relax_free(w->relax);
  free(w->machines);
  free(w->values);
  free(w->steps);
  free(w->d_input);
  free(w->d_state);
}

static vcs_t *machine_of(const walk_t *w, int32_t frame) {
  return (vcs_t *)(void *)(w->machines + (size_t)frame * vcs_state_size(w->run->cart));
}

static double *values_of(const walk_t *w, int32_t frame) { return w->values + (size_t)frame * w->inputs; }

/* Runs the frames, and keeps where each begins. */
static vcs_status_t start_walk(walk_t *w, const vcs_run_t *run, const vcs_relax_options_t *options,
                               vcs_relaxed_report_t *report, vcs_error_t *error) {
  const size_t frames = (size_t)run->frames, size = vcs_state_size(run->cart);
  *w = (walk_t){.run = run};
  if (!vcs_machine_is_possible(run->cart, run->start)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the run begins with a machine that cannot be");
  }
  if (options->bus != VCS_BUS_REAL) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the reduced bus has no frames, so no runs");
  }
  vcs_status_t status = vcs_relax_create(run->cart, options, &w->relax, error);
  if (status) return status;
  w->states = vcs_relax_state_slots(w->relax);
  w->inputs = vcs_relax_input_slots(w->relax);
  w->machines = calloc(frames, size);
  w->values = calloc(frames * w->inputs, sizeof *w->values);
  w->steps = calloc(frames, sizeof *w->steps);
  w->d_input = calloc(w->inputs, sizeof *w->d_input);
  w->d_state = calloc(w->states, sizeof *w->d_state);
  if (!w->machines || !w->values || !w->steps || !w->d_input || !w->d_state) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  const vcs_relax_report_t *counts = vcs_relax_report(w->relax);
  vcs_relax_load(w->relax, run->start);
  for (int32_t f = 0; f < run->frames; f++) {
    vcs_relax_control(w->relax, &run->controls[f]);
    memcpy(machine_of(w, f), vcs_relax_machine(w->relax), size);
    vcs_relax_values(w->relax, values_of(w, f));
    const uint64_t before = counts->instructions;
    vcs_relax_frame(w->relax, NULL);
    w->steps[f] = (int32_t)(counts->instructions - before);
  }
  if (report) {
    *report = (vcs_relaxed_report_t){counts->instructions, counts->reads, counts->branches, counts->wrong_reads,
                                     counts->wrong_branches};
  }
  return VCS_OK;
}

/* Puts the machine at the first instruction of a frame. Times restart there. */
static void go_to(walk_t *w, int32_t frame) {
  vcs_t *m = machine_of(w, frame);
  double *values = values_of(w, frame);
  const uint32_t before = m->cycles;
  vcs_frame_begin(w->run->cart, m);
  values[VCS_SLOT_TIME] += (double)m->cycles - (double)before;
  vcs_relax_load(w->relax, m);
  vcs_relax_set_values(w->relax, values);
}

vcs_status_t vcs_relaxed_jvp(const vcs_run_t *run, const vcs_relax_options_t *options, const vcs_grad_inputs_t *inputs,
                             const vcs_grad_outputs_t *outputs, vcs_relaxed_report_t *report, vcs_error_t *error) {
  walk_t w;
  vcs_status_t status = start_walk(&w, run, options, report, error);
  if (!status) status = check_state(&w, inputs->state, error);
  if (!status && !is_zero(inputs->input, (size_t)VCS_INPUTS * (size_t)run->frames)) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "the relaxed machine's chips carry no derivative, so inputs have none: they come through "
                            "the RIOT and the TIA");
  }
  if (!status) join_inputs(&w, inputs->state, inputs->rom, w.d_input);
  for (int32_t f = 0; !status && f < run->frames; f++) {
    go_to(&w, f);
    memset(w.d_state, 0, w.states * sizeof *w.d_state);
    status = vcs_relax_jvp(w.relax, w.steps[f], w.d_input, w.d_state, error);
    memcpy(w.d_input, w.d_state, w.states * sizeof *w.d_state); /* the image's stays */
  }
  if (!status && outputs->state) split_outputs(&w, w.d_input, outputs->state);
  end_walk(&w);
  return status;
}

vcs_status_t vcs_relaxed_vjp(const vcs_run_t *run, const vcs_relax_options_t *options, const vcs_grad_inputs_t *inputs,
                             const vcs_grad_outputs_t *outputs, vcs_relaxed_report_t *report, vcs_error_t *error) {
  walk_t w;
  vcs_status_t status = start_walk(&w, run, options, report, error);
  if (!status) status = check_state(&w, outputs->state, error);
  if (!status) status = check_pixels(&w, outputs->pixels, error);
  if (!status && outputs->state) join_outputs(&w, outputs->state, w.d_input);
  for (int32_t f = run->frames - 1; !status && f >= 0; f--) {
    go_to(&w, f);
    memcpy(w.d_state, w.d_input, w.states * sizeof *w.d_state);
    memset(w.d_input, 0, w.states * sizeof *w.d_input); /* the image's adds up */
    status = vcs_relax_vjp(w.relax, w.steps[f], w.d_input, w.d_state, error);
  }
  if (!status) split_inputs(&w, w.d_input, inputs->state, inputs->rom);
  end_walk(&w);
  return status;
}
