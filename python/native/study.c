/* study.c: the studies of diffvcs/study.h for Python (study.h). */
#include "study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "cuda/engine.h"
#include "diffvcs/annotate.h"
#include "host/batch.h"
#include "host/progress.h"
#include "study/internal.h"
#include "study/score_game.h"

/* ---- Texts -------------------------------------------------------------------------------------------------- */

struct vcs_answer {
  char *text;
  size_t size;
};

size_t vcs_answer_size(const vcs_answer_t *answer) { return answer->size; }

void vcs_answer_text(const vcs_answer_t *answer, char *text) { memcpy(text, answer->text, answer->size); }

void vcs_answer_free(vcs_answer_t *answer) {
  if (answer) vcs_text_release(answer->text);
  free(answer);
}

/* Takes a text over; NULL: out of memory. */
static vcs_status_t make_answer(char *text, vcs_answer_t **answer, vcs_error_t *error) {
  *answer = text ? malloc(sizeof **answer) : NULL;
  if (!*answer) {
    vcs_text_release(text);
    return vcs_no_memory(error);
  }
  **answer = (vcs_answer_t){text, strlen(text)};
  return VCS_OK;
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(vcs_stop_flag_t) == sizeof(int32_t), "Python's number is the flag");

void vcs_call_watch(const int32_t *stop) { vcs_interrupt_watch((const vcs_stop_flag_t *)stop); }

/* ---- Questions about a run ---------------------------------------------------------------------------------- */

vcs_status_t vcs_call_explain(const vcs_run_t *run, const vcs_explain_call_t *call, vcs_answer_t **answer,
                              vcs_error_t *error) {
  const vcs_explain_options_t options = {
      .target = call->target, .object = call->object, .span = call->span, .window = call->window, .env = call->env};
  const char *name = call->name ? call->name : "";
  vcs_explanation_t *explanation = calloc(1, sizeof *explanation);
  *answer = NULL;
  if (!explanation) return vcs_no_memory(error);
  vcs_status_t status = vcs_explain(run, &options, explanation, error);
  if (status == VCS_OK && call->directory) {
    status = vcs_explain_page(explanation, name, call->frame, call->directory, error);
  }
  if (status == VCS_OK) status = make_answer(vcs_explain_json(explanation, name, call->frame), answer, error);
  vcs_explanation_free(explanation);
  free(explanation);
  return status;
}

/* ---- Games -------------------------------------------------------------------------------------------------- */

/* A vcs_report_t's function: its context is the number that another thread sets. */
static int look_at_stop(void *context, const char *step, uint64_t done, uint64_t total) {
  (void)step, (void)done, (void)total;
  return *(const volatile int32_t *)context != 0;
}

static vcs_report_t report_of(const int32_t *stop) { return (vcs_report_t){look_at_stop, (void *)(uintptr_t)stop}; }

vcs_status_t vcs_call_score_game(const vcs_cart_t *cart, const char *game, const vcs_score_game_options_t *given,
                                 const int32_t *stop, vcs_answer_t **answer, vcs_error_t *error) {
  vcs_score_game_options_t options = *given;
  char *rows;
  *answer = NULL;
  options.report = report_of(stop);
  const vcs_status_t status = vcs_score_game(cart, game, &options, &rows, error);
  return status ? status : make_answer(rows, answer, error);
}

vcs_status_t vcs_call_score_heading(vcs_profile_t profile, const vcs_score_game_options_t *options,
                                    vcs_answer_t **answer, vcs_error_t *error) {
  vcs_text_t settings = {0}, heading = {0};
  *answer = NULL;
  vcs_score_settings(&settings, profile, options);
  if (!settings.failed) vcs_score_begin(&heading, settings.text);
  const bool failed = settings.failed || heading.failed;
  vcs_text_free(&settings);
  if (!failed) return make_answer(heading.text, answer, error);
  vcs_text_free(&heading);
  return vcs_no_memory(error);
}

vcs_status_t vcs_call_annotate(const vcs_cart_t *cart, const char *game, int32_t seeds, int32_t depths, int32_t threads,
                               const int32_t *stop, vcs_answer_t **answer, vcs_error_t *error) {
  const vcs_annotate_options_t options = {
      .seeds = seeds, .depths = depths, .threads = threads, .report = report_of(stop)};
  vcs_annotation_t *annotation = NULL;
  *answer = NULL;
  vcs_status_t status = vcs_annotate(cart, game, &options, &annotation, error);
  if (status == VCS_OK) status = make_answer(vcs_annotation_json(annotation), answer, error);
  vcs_annotation_free(annotation);
  return status;
}

/* ---- Frames and derivatives --------------------------------------------------------------------------------- */

vcs_status_t vcs_call_slice(const vcs_run_t *run, const int32_t *marks, size_t count, vcs_slice_row_t *rows,
                            int32_t *row_count, uint8_t *sources, vcs_error_t *error) {
  const vcs_run_t before = {run->cart, run->start, run->picture, run->controls, run->frames - 1};
  vcs_ending_t ending = {0};
  vcs_slice_t *slice = calloc(1, sizeof *slice);
  vcs_t *m = calloc(1, sizeof *m);
  vcs_status_t status = VCS_OK;
  if (!slice || !m) status = vcs_no_memory(error);
  if (status == VCS_OK && before.frames) status = vcs_ending_make(&before, NULL, NULL, &ending, error);
  if (status == VCS_OK) {
    memcpy(m, before.frames ? ending.machine : run->start, vcs_state_size(run->cart));
    status = vcs_slice_record(run->cart, m, &run->controls[run->frames - 1], slice, error);
  }
  for (size_t i = 0; i < count && status == VCS_OK; i++) {
    if (marks[i] < 0 || marks[i] >= slice->count) {
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "instruction %d: the last frame has 0 to %d", (int)marks[i],
                              (int)slice->count - 1);
    } else {
      slice->rows[marks[i]].slice = 1;
    }
  }
  if (status == VCS_OK) {
    vcs_slice_close(slice);
    memcpy(rows, slice->rows, (size_t)slice->count * sizeof *rows);
    memcpy(sources, slice->read, sizeof slice->read);
    *row_count = slice->count;
  }
  if (slice) vcs_slice_free(slice);
  vcs_ending_free(&ending);
  free(slice);
  free(m);
  return status;
}

vcs_status_t vcs_call_attribute(const vcs_run_t *run, const vcs_attribute_call_t *call,
                                const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, double *value,
                                vcs_grad_report_t *report, vcs_error_t *error) {
  const vcs_attribution_options_t attribution = {
      .env = call->env,
      .grad = options,
      .wrt = (inputs->state ? VCS_WRT_RAM : 0) | (inputs->rom ? VCS_WRT_ROM : 0) | (inputs->input ? VCS_WRT_INPUT : 0)};
  vcs_scalar_t target;
  vcs_attribution_t found = {0};
  vcs_status_t status = vcs_target_parse(call->target, run->cart, call->env, options->scale, &target, error);
  if (status == VCS_OK) status = vcs_attribute(run, &target, &attribution, &found, error);
  if (status == VCS_OK) {
    *value = found.value;
    *report = found.report;
    const size_t state = 8 * vcs_state_size(run->cart), rom = (size_t)8 * run->cart->rom_size;
    for (size_t i = 0; inputs->state && i < state; i++) inputs->state[i] += found.state[i];
    for (size_t i = 0; inputs->rom && i < rom; i++) inputs->rom[i] += found.rom[i];
    for (int i = 0; inputs->input && i < VCS_INPUTS * run->frames; i++) inputs->input[i] += found.input[i];
  }
  vcs_attribution_free(&found);
  return status;
}

vcs_status_t vcs_call_joystick(const vcs_run_t *run, const vcs_joystick_call_t *call, float *maps, double *inverse,
                               vcs_error_t *error) {
  const vcs_joystick_options_t options = {
      .press = call->press, .held = call->held, .top = call->top, .bottom = call->bottom, .window = call->window};
  vcs_joystick_t found;
  const vcs_status_t status = vcs_joystick(run, &options, &found, error);
  if (status == VCS_OK) {
    const size_t count = (size_t)VCS_JOYSTICK_ANSWERS * VCS_JOYSTICK_CONTROLS * (size_t)found.frames * found.pixels;
    memcpy(maps, found.maps, count * sizeof *maps);
    memcpy(inverse, found.inverse, sizeof found.inverse);
  }
  vcs_joystick_free(&found);
  return status;
}

/* ---- Searches ------------------------------------------------------------------------------------------------ */

vcs_status_t vcs_call_edit(const vcs_run_t *run, const vcs_edit_call_t *call, uint8_t *image, uint8_t *before,
                           uint8_t *after, int64_t *counts, vcs_error_t *error) {
  const vcs_edit_options_t options = {.x = call->x,
                                      .y = call->y,
                                      .width = call->width,
                                      .height = call->height,
                                      .drawing = call->drawing,
                                      .exact = call->exact,
                                      .method = call->method,
                                      .window = call->window,
                                      .steps = call->steps,
                                      .budget = call->budget,
                                      .keep = call->keep,
                                      .pairs = call->pairs,
                                      .code = call->code};
  vcs_edit_t found;
  const vcs_status_t status = vcs_edit(run, &options, &found, error);
  if (status == VCS_OK) {
    const size_t pixels = (size_t)VCS_WIDTH * (size_t)run->cart->frame_height;
    memcpy(image, found.image, found.image_size);
    memcpy(before, found.before, pixels);
    memcpy(after, found.after, pixels);
    const int64_t numbers[8] = {found.wrong_before, found.wrong_after, found.walks, found.runs,
                                found.frames,       found.changed,     found.pairs, found.pairs_left};
    memcpy(counts, numbers, sizeof numbers);
  }
  vcs_edit_free(&found);
  return status;
}

vcs_status_t vcs_call_steer(const vcs_run_t *run, const vcs_steer_call_t *call, double *values, int64_t *frames,
                            uint8_t *held, int32_t *scored, vcs_error_t *error) {
  const vcs_steer_options_t options = {.goal = call->goal,
                                       .env = call->env,
                                       .searches = call->searches,
                                       .search_count = call->search_count,
                                       .seeds = call->seeds,
                                       .budget = call->budget,
                                       .window = call->window,
                                       .threads = call->threads};
  if (call->search_count < 1 || call->seeds < 1) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there must be a search and a seed");
  }
  for (int32_t i = 0; i < call->search_count; i++) {
    if (!vcs_steer_name(call->searches[i])) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no such search");
  }
  const size_t count = (size_t)call->search_count * (size_t)call->seeds;
  vcs_steer_t *results = calloc(count, sizeof *results);
  if (!results) return vcs_no_memory(error);
  int is_score = 0;
  const vcs_status_t status = vcs_steer(run, &options, results, &is_score, error);
  for (size_t i = 0; i < count && status == VCS_OK; i++) {
    values[i] = results[i].value;
    frames[i] = results[i].frames;
    memcpy(held + i * (size_t)run->frames, results[i].held, (size_t)run->frames);
  }
  *scored = is_score;
  vcs_steer_free(results, count);
  free(results);
  return status;
}

/* ---- Records and histories ----------------------------------------------------------------------------------- */

vcs_status_t vcs_call_record(const vcs_cart_t *cart, const vcs_record_call_t *call, vcs_answer_t **answer,
                             vcs_error_t *error) {
  const vcs_record_options_t options = {.cpu = call->cpu,
                                        .seed = call->seed,
                                        .frames = call->frames,
                                        .dense = call->dense,
                                        .stride = call->stride,
                                        .instructions = call->instructions};
  char *text;
  *answer = NULL;
  const vcs_status_t status = vcs_record(cart, &options, &text, error);
  if (status == VCS_OK) return make_answer(text, answer, error);
  vcs_text_release(text);
  return status;
}

vcs_status_t vcs_call_verify(const vcs_cart_t *cart, const char *record, uint64_t seed, vcs_record_check_t *check,
                             vcs_error_t *error) {
  return vcs_verify(cart, record, seed, NULL, check, error);
}

vcs_status_t vcs_call_verify_file(const char *path, vcs_profile_t profile, const char *roms, vcs_record_check_t *check,
                                  vcs_error_t *error) {
  const vcs_rom_options_t options = {.profile = profile, .roms = roms};
  return vcs_verify_file(path, &options, NULL, check, error);
}

/* Rows that come one at a time, into the caller's array as far as it has room. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_trace_row_t *rows;
  size_t room, count;
  char next[32]; /* disassembly of the next instruction */
} row_list_t;

static int add_row(void *context, const vcs_trace_row_t *row) {
  row_list_t *list = context;
  if (list->count < list->room) list->rows[list->count] = *row;
  list->count++;
  return 0;
}

vcs_status_t vcs_call_trace(const vcs_cart_t *cart, const vcs_trace_call_t *call, vcs_trace_row_t *rows, size_t room,
                            size_t *count, vcs_error_t *error) {
  row_list_t list = {.rows = rows, .room = room};
  const vcs_trace_options_t options = {.from = call->from_frame,
                                       .to = call->to_frame,
                                       .limit = call->limit,
                                       .play = call->play,
                                       .seed = call->seed,
                                       .row = add_row,
                                       .context = &list};
  const vcs_status_t status = vcs_trace(cart, &options, error);
  *count = list.count;
  return status;
}

/* An instruction is disassembled before it is executed, because it may switch the bank it is in. */
static void add_step(void *context, const vcs_t *m, const vcs_step_t *step) {
  row_list_t *list = context;
  vcs_trace_row_t row = {.number = (int64_t)list->count + 1, .step = *step};
  snprintf(row.text, sizeof row.text, "%s", list->next);
  add_row(list, &row);
  vcs_disassemble(list->cart, m, step->pc, list->next, sizeof list->next);
}

int32_t vcs_call_act_watched(vcs_env_t *env, int player_a, int player_b, vcs_trace_row_t *rows, size_t room,
                             size_t *count) {
  row_list_t list = {.cart = vcs_env_cart(env), .rows = rows, .room = room};
  const vcs_t *m = vcs_env_machine(env);
  vcs_disassemble(list.cart, m, m->pc, list.next, sizeof list.next);
  vcs_env_watch(env, add_step, &list);
  const int32_t reward = vcs_env_act_on(env, player_a, player_b);
  vcs_env_watch(env, NULL, NULL);
  *count = list.count;
  return reward;
}

vcs_status_t vcs_call_history(const vcs_cart_t *cart, const vcs_run_t *run, int64_t first, int32_t interval,
                              int32_t room, vcs_history_t **history, vcs_error_t *error) {
  *history = NULL;
  if (run->cart != cart) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the run has another cartridge");
  vcs_t *m = calloc(1, sizeof *m);
  uint8_t *frames = calloc(2, VCS_FRAME_BYTES);
  vcs_status_t status =
      m && frames ? vcs_history_create(cart, first, interval, room, history, error) : vcs_no_memory(error);
  if (status == VCS_OK) {
    memcpy(m, run->start, vcs_state_size(cart));
    if (run->picture) memcpy(frames, run->picture, (size_t)2 * VCS_FRAME_BYTES);
  }
  for (int32_t f = 0; f < run->frames && status == VCS_OK; f++) {
    status = vcs_history_add(*history, m, frames, &run->controls[f], error);
    vcs_control(cart, m, &run->controls[f]);
    vcs_frame(cart, m, frames);
  }
  if (status && *history) {
    vcs_history_free(*history);
    *history = NULL;
  }
  free(m);
  free(frames);
  return status;
}

/* ---- What grad.h has ------------------------------------------------------------------------------------------ */

vcs_status_t vcs_call_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places,
                                  size_t place_count, const size_t *pairs, size_t count,
                                  const vcs_truth_results_t *results, vcs_error_t *error) {
  return vcs_truth_pairs(run, options, places, place_count, (const size_t(*)[2])pairs, count, results, error);
}

vcs_status_t vcs_call_effect(const vcs_run_t *run, const vcs_place_t *place, const vcs_grad_options_t *options,
                             float *pixels, float *state, vcs_agreement_t *agreements, vcs_grad_report_t *report,
                             vcs_error_t *error) {
  const vcs_attribution_options_t attribution = {.grad = options};
  vcs_effect_t found = {0};
  const vcs_status_t status = vcs_effect(run, place, &attribution, &found, error);
  if (status == VCS_OK) {
    memcpy(pixels, found.pixels, (size_t)VCS_WIDTH * (size_t)run->cart->frame_height * sizeof *pixels);
    memcpy(state, found.state, 8 * vcs_state_size(run->cart) * sizeof *state);
    agreements[0] = found.pixels_agree;
    agreements[1] = found.ram_agree;
    *report = found.report;
  }
  vcs_effect_free(&found);
  return status;
}

vcs_status_t vcs_call_places(const vcs_run_t *run, const char *text, uint8_t groups, vcs_place_t *places, char *labels,
                             size_t room, size_t *count, vcs_error_t *error) {
  vcs_places_t found = {0};
  const vcs_status_t status =
      groups ? vcs_places_of_groups(run, text, &found, error) : vcs_places_of_bits(run, text, &found, error);
  *count = status == VCS_OK ? found.count : 0;
  const size_t copied = *count < room ? *count : room;
  for (size_t i = 0; i < copied; i++) {
    places[i] = found.places[i];
    snprintf(labels + i * VCS_PLACE_LABEL_SIZE, VCS_PLACE_LABEL_SIZE, "%s", found.labels[i]);
  }
  vcs_places_free(&found);
  return status;
}

/* ---- Derivatives of a batch ---------------------------------------------------------------------------------- */

static const vcs_cart_t *batch_cart(const vcs_batch_t *batch, int32_t i) {
  return batch->device_batch ? batch->device_batch->carts[i] : batch->carts[i].cart;
}

static vcs_status_t check_strides(const vcs_batch_t *batch, const vcs_batch_grad_options_t *options,
                                  const vcs_batch_inputs_t *inputs, const vcs_batch_outputs_t *outputs,
                                  vcs_error_t *error) {
  const int32_t count = batch->device_batch ? batch->device_batch->kind_count : batch->cart_count;
  const size_t frames = options->last_picture ? 1 : (size_t)options->frames;
  bool fits = options->frames > 0 && inputs->input_stride >= (size_t)VCS_INPUTS * (size_t)options->frames;
  for (int32_t i = 0; i < count; i++) {
    const vcs_cart_t *cart = batch_cart(batch, i);
    const size_t state = 8 * vcs_state_size(cart), pixels = (size_t)VCS_WIDTH * (size_t)cart->frame_height;
    fits = fits && inputs->state_stride >= state && inputs->rom_stride >= (size_t)8 * cart->rom_size &&
           outputs->state_stride >= state && outputs->pixels_stride >= frames * pixels;
  }
  return fits ? VCS_OK
              : vcs_error_fill(error, VCS_BAD_ARGUMENT, "a stride is smaller than what an environment has there");
}

vcs_status_t vcs_call_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error) {
  const vcs_status_t status = check_strides(batch, options, inputs, outputs, error);
  return status ? status : vcs_batch_jvp(batch, controls, options, inputs, outputs, instructions, error);
}

vcs_status_t vcs_call_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls,
                                const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs,
                                const vcs_batch_outputs_t *outputs, int64_t *instructions, vcs_error_t *error) {
  const vcs_status_t status = check_strides(batch, options, inputs, outputs, error);
  return status ? status : vcs_batch_vjp(batch, controls, options, inputs, outputs, instructions, error);
}

vcs_status_t vcs_call_workspace(vcs_grad_workspace_t **workspace, vcs_error_t *error) {
  *workspace = vcs_grad_workspace_create();
  return *workspace ? VCS_OK : vcs_no_memory(error);
}
