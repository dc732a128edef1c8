/* exact.c: the method `exact` of vcs_grad_jvp and vcs_grad_vjp: products with the exact Jacobian of a run.
 *
 * A VJP flips every bit of the inputs that are wanted (the state, the image, the controls of each frame); a JVP flips
 * the bits whose tangent is not zero. All flips share walks over the run (concurrent.c). So the price of a VJP grows
 * with the number of bits and hardly with that of outputs: a caller that needs the derivative of controls only leaves
 * the image out.
 *
 * Every slot is a bit, those of positions and times too. A flip that makes an impossible machine has derivative 0. A
 * reward is the difference of the scores after two frames.
 */
#include <string.h>

#include "grad/jacobian.h"
#include "host/arena.h"

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

vcs_slot_list_t vcs_slot_list(const vcs_run_t *run, const vcs_grad_inputs_t *inputs) {
  vcs_slot_list_t list = {.inputs = inputs,
                          .state = inputs->state ? 8 * vcs_state_size(run->cart) : 0,
                          .rom = inputs->rom ? 8 * (size_t)run->cart->rom_size : 0,
                          .input = inputs->input ? (size_t)VCS_INPUTS * (size_t)run->frames : 0};
  list.count = list.state + list.rom + list.input;
  return list;
}

vcs_place_t vcs_slot_place(const vcs_slot_list_t *list, size_t slot) {
  if (slot < list->state) return (vcs_place_t){VCS_PLACE_STATE, slot % 8, 0, (uint32_t)(slot / 8)};
  slot -= list->state;
  if (slot < list->rom) return (vcs_place_t){VCS_PLACE_ROM, slot % 8, 0, (uint32_t)(slot / 8)};
  slot -= list->rom;
  return (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(slot / VCS_INPUTS), (uint32_t)(slot % VCS_INPUTS)};
}

float *vcs_slot(const vcs_slot_list_t *list, size_t slot) {
  if (slot < list->state) return &list->inputs->state[slot];
  slot -= list->state;
  return slot < list->rom ? &list->inputs->rom[slot] : &list->inputs->input[slot - list->rom];
}

/* ---- Products over places ---------------------------------------------------------------------------------------- */

/* A product under way. */
typedef struct {
  vcs_arena_t arena; /* of the arrays below */
  const vcs_run_t *run;
  const vcs_grad_outputs_t *outputs;
  int32_t *horizons;        /* rows.horizons: frames after which an output is wanted, counted from 1 */
  float **pixels, **states; /* by horizon: the caller's buffers, or NULL */
  float *scores;            /* by horizon */
  float *both_ends;         /* with has_two_ends: 8 * vcs_state_size, their sum (VJP) or a copy (JVP); else NULL */
  vcs_jacobian_options_t options;
  vcs_jacobian_rows_t rows;
  float scale[256];
} product_t;

/* Whether the caller wants an output of a frame. */
static bool looks_at(const vcs_grad_outputs_t *outputs, int32_t frame, int32_t frames) {
  return outputs->rewards || (outputs->pixels && outputs->pixels[frame]) ||
         (outputs->states && outputs->states[frame]) || (outputs->state && frame + 1 == frames);
}

/* Whether the caller passes two buffers for the state after the last frame: as one of `states`, and as `state`. */
static bool has_two_ends(const product_t *p) {
  return p->outputs->state && p->outputs->states && p->outputs->states[p->run->frames - 1];
}

/* Returns adjoints, or NULL if all of them are zero: their output need not be looked at. */
static float *unless_zero(float *adjoints, size_t count) {
  for (size_t i = 0; adjoints && i < count; i++) {
    if (adjoints[i] != 0) return adjoints;
  }
  return NULL;
}

/* Prepares a product: frames with an output become horizons, with pointers to the caller's buffers. */
static vcs_status_t open_product(product_t *p, const vcs_run_t *run, const vcs_grad_options_t *options,
                                 const vcs_grad_outputs_t *outputs, bool reverse, vcs_error_t *error) {
  const size_t frames = (size_t)run->frames;
  *p = (product_t){.run = run, .outputs = outputs};
  p->horizons = vcs_arena_take(&p->arena, frames, sizeof *p->horizons);
  p->pixels = vcs_arena_take(&p->arena, frames, sizeof *p->pixels);
  p->states = vcs_arena_take(&p->arena, frames, sizeof *p->states);
  p->scores = vcs_arena_take(&p->arena, frames, sizeof *p->scores);
  if (has_two_ends(p)) p->both_ends = vcs_arena_take(&p->arena, 8 * vcs_state_size(run->cart), sizeof *p->both_ends);
  if (p->arena.failed) return vcs_arena_status(&p->arena, error);
  bool pictures = false, machines = false;
  for (int32_t f = 0; f < run->frames; f++) {
    if (!looks_at(outputs, f, run->frames)) continue;
    const int32_t h = p->rows.horizons++;
    p->horizons[h] = f + 1;
    p->pixels[h] = outputs->pixels ? outputs->pixels[f] : NULL;
    p->states[h] = outputs->states ? outputs->states[f] : NULL;
    if (f + 1 == run->frames && !p->states[h]) p->states[h] = outputs->state;
    if (reverse) p->pixels[h] = unless_zero(p->pixels[h], (size_t)run->cart->frame_height * VCS_WIDTH);
    if (reverse && !has_two_ends(p)) p->states[h] = unless_zero(p->states[h], 8 * vcs_state_size(run->cart));
    pictures |= p->pixels[h] != NULL;
    machines |= p->states[h] != NULL;
  }
  p->rows.pixels = pictures ? p->pixels : NULL;
  p->rows.state = machines ? p->states : NULL;
  p->rows.score = outputs->rewards ? p->scores : NULL;
  for (int i = 0; i < 256; i++) p->scale[i] = options->scale ? options->scale[i] : (float)i;
  p->options = (vcs_jacobian_options_t){.horizons = p->horizons,
                                        .horizon_count = p->rows.horizons,
                                        .env = outputs->rewards ? outputs->env : NULL,
                                        .threads = options->threads,
                                        .values = p->scale,
                                        .channels = 1};
  return VCS_OK;
}

vcs_status_t vcs_exact_jvp_of(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                              const float *tangents, size_t count, const vcs_grad_outputs_t *outputs, vcs_work_t *work,
                              vcs_error_t *error) {
  product_t p;
  vcs_status_t status = open_product(&p, run, options, outputs, false, error);
  const size_t slots = 8 * vcs_state_size(run->cart);
  float *last = status == VCS_OK ? p.both_ends : NULL;
  if (last) memcpy(last, p.states[p.rows.horizons - 1], slots * sizeof *last);
  if (status == VCS_OK && p.rows.horizons && count) {
    status = vcs_jacobian_rows_jvp(run, &p.options, places, count, tangents, &p.rows, work, error);
  }
  for (size_t i = 0; last && status == VCS_OK && i < slots; i++) {
    outputs->state[i] += p.states[p.rows.horizons - 1][i] - last[i];
  }
  for (int32_t h = 0; status == VCS_OK && outputs->rewards && h < p.rows.horizons; h++) {
    outputs->rewards[h] += p.scores[h] - (h ? p.scores[h - 1] : 0);
  }
  vcs_arena_free(&p.arena);
  return status;
}

vcs_status_t vcs_exact_vjp_of(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                              float *adjoints, size_t count, const vcs_grad_outputs_t *outputs, vcs_work_t *work,
                              vcs_error_t *error) {
  product_t p;
  vcs_status_t status = open_product(&p, run, options, outputs, true, error);
  const size_t slots = 8 * vcs_state_size(run->cart);
  for (int32_t h = 0; status == VCS_OK && outputs->rewards && h < p.rows.horizons; h++) {
    p.scores[h] = outputs->rewards[h] - (h + 1 < p.rows.horizons ? outputs->rewards[h + 1] : 0);
  }
  float *both = status == VCS_OK ? p.both_ends : NULL;
  for (size_t i = 0; both && i < slots; i++) both[i] = p.states[p.rows.horizons - 1][i] + outputs->state[i];
  if (both) p.states[p.rows.horizons - 1] = both;
  if (status == VCS_OK && count && (p.rows.pixels || p.rows.state || p.rows.score)) {
    status = vcs_jacobian_rows_vjp(run, &p.options, places, count, &p.rows, adjoints, work, error);
  }
  vcs_arena_free(&p.arena);
  return status;
}

/* ---- The method ---------------------------------------------------------------------------------------------------
 */

static void fill_report(const vcs_work_t *work, vcs_grad_report_t *report) {
  if (report) *report = (vcs_grad_report_t){.instructions = work->executed, .forks = work->wakes};
}

vcs_status_t vcs_exact_jvp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error) {
  const vcs_slot_list_t list = vcs_slot_list(run, inputs);
  vcs_arena_t arena = {0};
  vcs_work_t work = {0};
  vcs_place_t *places = vcs_arena_take(&arena, list.count, sizeof *places);
  float *tangents = vcs_arena_take(&arena, list.count, sizeof *tangents);
  vcs_status_t status = vcs_arena_status(&arena, error);
  size_t count = 0;
  for (size_t i = 0; status == VCS_OK && i < list.count; i++) {
    if (*vcs_slot(&list, i) == 0) continue;
    places[count] = vcs_slot_place(&list, i);
    tangents[count++] = *vcs_slot(&list, i);
  }
  if (status == VCS_OK) {
    status = vcs_exact_jvp_of(run, options, places, tangents, count, outputs, report ? &work : NULL, error);
  }
  vcs_arena_free(&arena);
  fill_report(&work, report);
  return status;
}

vcs_status_t vcs_exact_vjp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                           const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error) {
  const vcs_slot_list_t list = vcs_slot_list(run, inputs);
  vcs_arena_t arena = {0};
  vcs_work_t work = {0};
  vcs_place_t *places = vcs_arena_take(&arena, list.count, sizeof *places);
  float *adjoints = vcs_arena_take(&arena, list.count, sizeof *adjoints);
  vcs_status_t status = vcs_arena_status(&arena, error);
  for (size_t i = 0; status == VCS_OK && i < list.count; i++) places[i] = vcs_slot_place(&list, i);
  if (status == VCS_OK) {
    status = vcs_exact_vjp_of(run, options, places, adjoints, list.count, outputs, report ? &work : NULL, error);
  }
  for (size_t i = 0; status == VCS_OK && i < list.count; i++) *vcs_slot(&list, i) += adjoints[i];
  vcs_arena_free(&arena);
  fill_report(&work, report);
  return status;
}
