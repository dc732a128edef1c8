/* relaxed.c: derivatives of whole runs by the relaxed machine (relaxed.h).
 *
 * The frames are run once, to know where each begins; then each is run again with its derivative, forwards or
 * backwards. A frame begins with a machine of integers and the numbers beside it. The pins of the controllers depend
 * on the inputs of that frame only, not on their values before it.
 */
#include "relaxed.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/arena.h"
#include "host/files.h"
#include "host/progress.h"
#include "host/save.h"
#include "study/internal.h"

/* ---- Slots ---------------------------------------------------------------------------------------------------- */

/* A number of the relaxed machine, and the bits of vcs_t that are the same. */
typedef struct {
  size_t slot;
  size_t bit; /* the first, counted through the bytes of vcs_t */
  int bits;
} number_t;

/* `count` numbers, one in each byte of a field (or of `stride` bits), from this bit of it on. */
typedef struct {
  size_t slot;
  int count;
  size_t offset;
  int first, bits, stride;
} numbers_t;

static const numbers_t registers[] = {
#define ROW(slot, count, field, first, bits, stride) \
  { VCS_SLOT_##slot, count, offsetof(vcs_t, field), first, bits, stride }
    ROW(A, 1, a, 0, 8, 8),
    ROW(X, 1, x, 0, 8, 8),
    ROW(Y, 1, y, 0, 8, 8),
    ROW(SP, 1, sp, 0, 8, 8),
    ROW(N, 1, p, 7, 1, 8),
    ROW(V, 1, p, 6, 1, 8),
    ROW(D, 1, p, 3, 1, 8),
    ROW(I, 1, p, 2, 1, 8),
    ROW(Z, 1, p, 1, 1, 8),
    ROW(C, 1, p, 0, 1, 8),
    ROW(PC, 1, pc, 0, 16, 16),
    ROW(TIME, 1, cycles, 0, 1, 8), /* times and positions are numbers in slot 0 */
    ROW(BUS, 1, bus, 0, 8, 8),
    ROW(SWCHA, 8, swcha, 0, 1, 1),
    ROW(SWCHB, 8, swchb, 0, 1, 1),
    ROW(FIRE, 2, fire, 0, 1, 8),
    ROW(DDRA, 1, ddra, 0, 8, 8),
    ROW(TIMER, 1, timer, 0, 8, 8),
    ROW(TIMER_CYCLE, 1, timer_cycle, 0, 1, 8),
    ROW(DUMP_CYCLE, 1, dump_cycle, 0, 1, 8),
    ROW(VSYNC, 1, vsync, 0, 8, 8),
    ROW(VBLANK, 1, vblank, 0, 8, 8),
    ROW(NUSIZ, 2, nusiz, 0, 8, 8),
    ROW(COLU, 4, colu, 0, 8, 8),
    ROW(CTRLPF, 1, ctrlpf, 0, 8, 8),
    ROW(REFLECT, 2, reflect, 3, 1, 8),
    ROW(PF, 3, pf, 0, 8, 8),
    ROW(GRP, 2, grp, 0, 8, 8),
    ROW(GRP_OLD, 2, grp_old, 0, 8, 8),
    ROW(ENAM, 2, enam, 1, 1, 8),
    ROW(ENABL, 1, enabl, 1, 1, 8),
    ROW(ENABL_OLD, 1, enabl_old, 1, 1, 8),
    ROW(HM, 5, hm, 0, 4, 8),
    ROW(VDELP, 2, vdelp, 0, 1, 8),
    ROW(VDELBL, 1, vdelbl, 0, 1, 8),
    ROW(RESMP, 2, resmp, 1, 1, 8),
    ROW(POS, 5, pos, 0, 1, 8),
    ROW(MIRRORED, 1, pf_mirrored, 0, 1, 8),
    ROW(COLLISIONS, 16, collisions, 0, 1, 1),
    ROW(AUDIO, 6, audio, 0, 8, 8),
    ROW(RAM, 128, ram, 0, 8, 8),
#undef ROW
};

static number_t number_at(size_t slot) {
  const numbers_t *row = registers;
  const size_t cart_ram = VCS_SLOT_RAM + 128;
  if (slot >= cart_ram) return (number_t){slot, 8 * (offsetof(vcs_t, cart_ram) + slot - cart_ram), 8};
  while (slot >= row->slot + (size_t)row->count) row++;
  return (number_t){slot, 8 * row->offset + (size_t)row->first + (slot - row->slot) * (size_t)row->stride, row->bits};
}

/* The walk of a run: the relaxed machine, and what begins each frame. */
typedef struct {
  vcs_arena_t arena; /* of the arrays */
  const vcs_run_t *run;
  vcs_relax_t *relax;
  size_t states, inputs; /* slots */
  uint8_t *machines;     /* one a frame */
  double *values;        /* `inputs` a frame */
  double *d_input, *d_state, *d_pixels;
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

/* Whether only what the relaxed machine has as a number has a derivative. */
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
                        "the relaxed machine has no number for byte %zu of the state, bit %zu: it decides something, "
                        "or is not used",
                        i / 8, i % 8);
}

/* ---- Pins ---------------------------------------------------------------------------------------------------------
 */

enum { PINS = VCS_SLOT_DDRA - VCS_SLOT_SWCHA };

/* How the pins of a frame move when an input is held: 1 or -1 for each pin that it changes. */
static void pins_of(const walk_t *w, int32_t frame, int input, double pins[PINS]) {
  const vcs_cart_t *cart = w->run->cart;
  vcs_t machine[2];
  for (int held = 0; held < 2; held++) {
    vcs_controls_t controls = w->run->controls[frame];
    const int second = input >= VCS_INPUT_SECOND_PLAYER, bit = input - VCS_INPUT_SECOND_PLAYER * second;
    uint8_t *byte = input >= VCS_INPUT_RESET ? &controls.console : &controls.held[second];
    const uint8_t mask = (uint8_t)(1 << (input >= VCS_INPUT_RESET ? input - VCS_INPUT_RESET : bit));
    *byte = (uint8_t)(held ? *byte | mask : *byte & ~mask);
    memcpy(&machine[held], w->run->start, vcs_state_size(cart));
    vcs_control(cart, &machine[held], &controls);
  }
  for (int i = 0; i < 8; i++) {
    pins[i] = (machine[1].swcha >> i & 1) - (machine[0].swcha >> i & 1);
    pins[8 + i] = (machine[1].swchb >> i & 1) - (machine[0].swchb >> i & 1);
  }
  for (int i = 0; i < 2; i++) pins[16 + i] = machine[1].fire[i] - machine[0].fire[i];
}

/* Whether the inputs set a pin: the player holds the switches of a stick, and RESET and SELECT of SWCHB; the other
 * switches of SWCHB keep their positions. */
static bool is_held(int pin) { return pin < 8 || pin >= 16 || pin - 8 < 2; }

/* forward: the pins = the inputs of this frame */
static void hold(walk_t *w, int32_t frame, const float *inputs) {
  double pins[PINS];
  for (int i = 0; i < PINS; i++) {
    if (is_held(i)) w->d_input[VCS_SLOT_SWCHA + i] = 0;
  }
  for (int input = 0; inputs && input < VCS_INPUTS; input++) {
    if (inputs[input] == 0) continue;
    pins_of(w, frame, input, pins);
    for (int i = 0; i < PINS; i++) w->d_input[VCS_SLOT_SWCHA + i] += pins[i] * (double)inputs[input];
  }
}

static void hold_backwards(walk_t *w, int32_t frame, float *inputs) {
  double pins[PINS];
  for (int input = 0; inputs && input < VCS_INPUTS; input++) {
    double sum = 0;
    pins_of(w, frame, input, pins);
    for (int i = 0; i < PINS; i++) sum += pins[i] * w->d_input[VCS_SLOT_SWCHA + i];
    inputs[input] += (float)sum;
  }
  for (int i = 0; i < PINS; i++) {
    if (is_held(i)) w->d_input[VCS_SLOT_SWCHA + i] = 0;
  }
}

/* ---- The walk -----------------------------------------------------------------------------------------------------
 */

static void end_walk(walk_t *w) {
  vcs_relax_free(w->relax);
  vcs_arena_free(&w->arena);
}

static vcs_t *machine_of(const walk_t *w, int32_t frame) {
  return (vcs_t *)(void *)(w->machines + (size_t)frame * vcs_state_size(w->run->cart));
}

static size_t pixel_count(const walk_t *w) { return (size_t)w->run->cart->frame_height * VCS_WIDTH; }

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
  w->machines = vcs_arena_take(&w->arena, frames, size);
  w->values = vcs_arena_take(&w->arena, frames * w->inputs, sizeof *w->values);
  w->d_input = vcs_arena_take(&w->arena, w->inputs, sizeof *w->d_input);
  w->d_state = vcs_arena_take(&w->arena, w->states, sizeof *w->d_state);
  w->d_pixels = vcs_arena_take(&w->arena, pixel_count(w), sizeof *w->d_pixels);
  if (w->arena.failed) return vcs_arena_status(&w->arena, error);
  const vcs_relax_report_t *counts = vcs_relax_report(w->relax);
  vcs_relax_load(w->relax, run->start);
  for (int32_t f = 0; f < run->frames; f++) {
    if (vcs_interrupted()) return vcs_cancelled(error);
    vcs_relax_control(w->relax, &run->controls[f]);
    memcpy(machine_of(w, f), vcs_relax_machine(w->relax), size);
    vcs_relax_values(w->relax, values_of(w, f));
    vcs_relax_frame(w->relax, NULL);
  }
  if (report) {
    *report = (vcs_relaxed_report_t){counts->instructions, counts->reads, counts->branches, counts->wrong_reads,
                                     counts->wrong_branches};
  }
  return VCS_OK;
}

/* Puts the machine where a frame begins. */
static void go_to(walk_t *w, int32_t frame) {
  vcs_relax_load(w->relax, machine_of(w, frame));
  vcs_relax_set_values(w->relax, values_of(w, frame));
}

static float *inputs_of(const vcs_grad_inputs_t *inputs, int32_t frame) {
  return inputs->input ? inputs->input + (size_t)VCS_INPUTS * (size_t)frame : NULL;
}

vcs_status_t vcs_relaxed_jvp(const vcs_run_t *run, const vcs_relax_options_t *options, const vcs_grad_inputs_t *inputs,
                             const vcs_grad_outputs_t *outputs, vcs_relaxed_report_t *report, vcs_error_t *error) {
  walk_t w;
  vcs_status_t status = start_walk(&w, run, options, report, error);
  if (!status) status = check_state(&w, inputs->state, error);
  if (!status) join_inputs(&w, inputs->state, inputs->rom, w.d_input);
  for (int32_t f = 0; !status && f < run->frames; f++) {
    if (vcs_interrupted()) status = vcs_cancelled(error);
    if (status) break;
    float *pixels = outputs->pixels ? outputs->pixels[f] : NULL;
    go_to(&w, f);
    hold(&w, f, inputs_of(inputs, f));
    memset(w.d_state, 0, w.states * sizeof *w.d_state);
    memset(w.d_pixels, 0, pixel_count(&w) * sizeof *w.d_pixels);
    status = vcs_relax_jvp_picture(w.relax, VCS_RELAX_FRAME, w.d_input, w.d_state, w.d_pixels, error);
    memcpy(w.d_input, w.d_state, w.states * sizeof *w.d_state); /* the image's stays */
    for (size_t i = 0; pixels && i < pixel_count(&w); i++) pixels[i] += (float)w.d_pixels[i];
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
  if (!status && outputs->state) join_outputs(&w, outputs->state, w.d_input);
  for (int32_t f = run->frames - 1; !status && f >= 0; f--) {
    if (vcs_interrupted()) status = vcs_cancelled(error);
    if (status) break;
    const float *pixels = outputs->pixels ? outputs->pixels[f] : NULL;
    go_to(&w, f);
    memcpy(w.d_state, w.d_input, w.states * sizeof *w.d_state);
    memset(w.d_input, 0, w.states * sizeof *w.d_input); /* the image's adds up */
    for (size_t i = 0; i < pixel_count(&w); i++) w.d_pixels[i] = pixels ? (double)pixels[i] : 0;
    status = vcs_relax_vjp_picture(w.relax, VCS_RELAX_FRAME, w.d_input, w.d_state, w.d_pixels, error);
    if (!status) hold_backwards(&w, f, inputs_of(inputs, f));
  }
  if (!status) split_inputs(&w, w.d_input, inputs->state, inputs->rom);
  end_walk(&w);
  return status;
}
