/* explain.c: finding why an output is what it is, by changing causes and running again (study.h). */
#include <stdlib.h>
#include <string.h>

#include "core/cpu_ops.h"
#include "core/state.h"
#include "grad/rerun.h"
#include "host/arena.h"
#include "host/env.h"
#include "study/expression.h"
#include "study/internal.h"

enum { CHUNK = 4096 }; /* flips between two reports of progress */
enum { LINE_CLOCKS = 228 };

static size_t picture_bytes(const vcs_cart_t *cart) { return (size_t)VCS_WIDTH * (size_t)cart->frame_height; }

/* Copies frame buffers; NULL is black. */
static void copy_frames(uint8_t *to, const uint8_t *from) {
  if (from) {
    memcpy(to, from, (size_t)2 * VCS_FRAME_BYTES);
  } else {
    memset(to, 0, (size_t)2 * VCS_FRAME_BYTES);
  }
}

/* ---- Interventions ---------------------------------------------------------------------------------------- */

/* The last frame, run again with one change. It need not run beyond the clock at which all pixels of the
 * question are drawn. */
typedef struct {
  const vcs_explanation_t *e;
  vcs_t *m;
  uint8_t *frames;
  int done; /* instructions */
  int32_t begin_clock, end_clock;
  const uint8_t *states; /* of the unchanged frame, before each of its instructions; NULL: not known */
  size_t first, end;     /* the pixels of the question lie in [first, end) */
} trial_t;

/* Returns false if the machine is the unchanged one again before a pixel of the question was drawn: then so is the
 * output. */
static bool finish(trial_t *trial) {
  const vcs_cart_t *cart = trial->e->run.cart;
  const size_t size = vcs_state_size(cart);
  vcs_step_t step = {0};
  while (trial->done < VCS_FRAME_INSTRUCTIONS && !trial->m->jammed && !step.frame_over &&
         vcs_moment_clock(trial->m) < trial->end_clock) {
    vcs_step(cart, trial->m, vcs_moment_clock(trial->m) < trial->begin_clock ? NULL : trial->frames, &step);
    trial->done++;
    if (trial->states && trial->done < trial->e->slice.count && vcs_moment_clock(trial->m) < trial->begin_clock &&
        memcmp(trial->m, trial->states + (size_t)trial->done * size, size) == 0) {
      return false;
    }
  }
  vcs_frame_end(cart, trial->m, trial->frames);
  return true;
}

/* Whether the output differs from that of the unchanged run. */
static bool differs(const trial_t *trial) {
  const vcs_explanation_t *e = trial->e;
  if (e->target.kind == VCS_SCALAR_RAM) {
    const uint8_t byte = trial->m->ram[e->target.index];
    return (e->target.bit < 0 ? byte : byte >> e->target.bit & 1) != (int)e->value;
  }
  const uint8_t *picture = vcs_picture(trial->m, trial->frames);
  for (size_t i = trial->first; i < trial->end; i++) {
    if (e->mask[i] && picture[i] != e->picture[i]) return true;
  }
  return false;
}

/* The pixels of the question lie in [first, end). */
typedef struct {
  size_t first, end;
} range_t;

static range_t question_range(const vcs_explanation_t *e) {
  range_t range = {0, 0};
  for (size_t i = 0; i < picture_bytes(e->run.cart); i++) {
    if (!e->mask[i]) continue;
    if (range.end == 0) range.first = i;
    range.end = i + 1;
  }
  return range;
}

/* ---- Objects ------------------------------------------------------------------------------------------------ */

static void remove_object(vcs_t *m, int object) {
  switch (object) {
    case 0:
    case 1:
      m->grp[object] = m->grp_old[object] = 0;
      break;
    case 2:
    case 3:
      m->enam[object - 2] = 0;
      break;
    case 4:
      m->enabl = m->enabl_old = 0;
      break;
    default:
      m->pf[0] = m->pf[1] = m->pf[2] = 0;
      break;
  }
}

void vcs_frame_without(const vcs_run_t *run, int object, vcs_t *m, uint8_t *frames) {
  vcs_step_t step = {0};
  memcpy(m, run->start, vcs_state_size(run->cart));
  copy_frames(frames, run->picture);
  vcs_control(run->cart, m, run->controls);
  vcs_frame_begin(run->cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !m->jammed && !step.frame_over; i++) {
    remove_object(m, object);
    vcs_step(run->cart, m, frames, &step);
  }
  vcs_frame_end(run->cart, m, frames);
}

vcs_status_t vcs_object_boxes(const vcs_run_t *run, vcs_box_t boxes[VCS_OBJECT_COUNT], vcs_error_t *error) {
  const vcs_run_t first = {run->cart, run->start, run->picture, run->controls, 1};
  vcs_ending_t with, without;
  vcs_status_t status = vcs_ending_make(&first, NULL, NULL, &with, error);
  if (status) return status;
  status = vcs_ending_make(&first, NULL, NULL, &without, error); /* its buffers serve the frames without an object */
  for (int object = 0; object < VCS_OBJECT_COUNT && status == VCS_OK; object++) {
    int left = VCS_WIDTH, top = 1 << 20, right = -1, bottom = -1;
    vcs_frame_without(&first, object, without.machine, without.frames);
    const uint8_t *picture = vcs_picture(without.machine, without.frames);
    for (int i = 0; i < (int)picture_bytes(run->cart); i++) {
      if (picture[i] == with.picture[i]) continue;
      const int x = i % VCS_WIDTH, y = i / VCS_WIDTH;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    boxes[object] = right < 0 ? (vcs_box_t){0, 0, 0, 0} : (vcs_box_t){left, top, right - left + 1, bottom - top + 1};
  }
  vcs_ending_free(&with);
  if (status == VCS_OK) vcs_ending_free(&without);
  return status;
}

/* ---- Writes to the TIA -------------------------------------------------------------------------------------- */

/* Restores every field that a register write can change, but not what drawing and time change. */
static void restore_tia(vcs_t *m, const vcs_t *before) {
  static const char fields[] =
      " collisions vsync vblank nusiz colu ctrlpf reflect pf grp grp_old enam enabl enabl_old hm vdelp vdelbl resmp "
      "pos "
      "first_copy_off pf_mirrored hmove_blank hmove_clock blank_clock blank_first stars stars_phase stars_shape ";
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    char word[40];
    snprintf(word, sizeof word, " %.36s ", field->name);
    if (!strstr(fields, word)) continue;
    memcpy((uint8_t *)m + field->offset, (const uint8_t *)before + field->offset, field->size * field->count);
  }
}

/* The CPU register whose value an instruction stores, or NULL. */
static uint8_t *stored(vcs_t *m, uint8_t opcode) {
  const char *name = vcs_opcode(opcode).name;
  if (strcmp(name, "STA") == 0 || strcmp(name, "PHA") == 0) return &m->a;
  if (strcmp(name, "STX") == 0) return &m->x;
  if (strcmp(name, "STY") == 0) return &m->y;
  if (strcmp(name, "PHP") == 0) return &m->p;
  return NULL;
}

/* Whether the output changes if a bit of the written value is flipped (bit 0 to 7) or the write is suppressed (8). */
static bool matters(trial_t *trial, const vcs_t *before, const uint8_t *frames, int row, int bit) {
  const vcs_cart_t *cart = trial->e->run.cart;
  const uint8_t opcode = trial->e->slice.rows[row].opcode;
  vcs_step_t step;
  memcpy(trial->m, before, vcs_state_size(cart));
  for (size_t buffer = 0; buffer < 2; buffer++) {
    const size_t at = buffer * VCS_FRAME_BYTES + trial->first;
    memcpy(trial->frames + at, frames + at, trial->end - trial->first);
  }
  uint8_t *value = stored(trial->m, opcode);
  if (bit < 8) *value ^= (uint8_t)(1 << bit);
  vcs_step(cart, trial->m, trial->frames, &step);
  if (bit < 8) *value ^= (uint8_t)(1 << bit);
  if (bit == 8) restore_tia(trial->m, before);
  trial->done = row + 1;
  if (step.frame_over) {
    vcs_frame_end(cart, trial->m, trial->frames);
  } else if (!finish(trial)) {
    return false;
  }
  return differs(trial);
}

static void begin_last(const vcs_run_t *last, vcs_t *m) {
  memcpy(m, last->start, vcs_state_size(last->cart));
  vcs_control(last->cart, m, last->controls);
  vcs_frame_begin(last->cart, m);
}

static vcs_status_t find_causes(vcs_explanation_t *e, const vcs_explain_options_t *o, const vcs_run_t *last,
                                trial_t *trial, vcs_error_t *error) {
  const vcs_cart_t *cart = last->cart;
  vcs_t *m = calloc(1, sizeof *m);
  uint8_t *frames = malloc((size_t)2 * VCS_FRAME_BYTES);
  uint8_t *states = malloc(((size_t)e->slice.count + 1) * vcs_state_size(cart));
  e->causes = calloc((size_t)e->slice.count + 1, sizeof *e->causes);
  if (!m || !frames || !states || !e->causes) {
    free(m);
    free(frames);
    free(states);
    return vcs_no_memory(error);
  }
  begin_last(last, m);
  for (int row = 0; row < e->slice.count; row++) {
    vcs_step_t step;
    memcpy(states + (size_t)row * vcs_state_size(cart), m, vcs_state_size(cart));
    vcs_step(cart, m, NULL, &step);
  }
  trial->states = states;
  begin_last(last, m);
  memcpy(frames, last->picture, (size_t)2 * VCS_FRAME_BYTES);
  vcs_steps_t steps;
  vcs_steps_begin(&steps, &o->report, "register writes", (uint64_t)e->slice.count);
  const range_t range = question_range(e);
  trial->first = range.first;
  trial->end = range.end;
  const int32_t end = LINE_CLOCKS * (cart->top_line + (int32_t)(range.end / VCS_WIDTH) + 1);
  trial->begin_clock = LINE_CLOCKS * (cart->top_line + (int32_t)(range.first / VCS_WIDTH) - 2);
  trial->end_clock = end + 2 * LINE_CLOCKS; /* a line is drawn when it is over */
  for (int row = 0; row < e->slice.count && vcs_moment_clock(m) < end && !vcs_steps_stopped(&steps); row++) {
    const vcs_slice_row_t *r = &e->slice.rows[row];
    vcs_step_t step;
    int write = 0;
    while (write < r->accesses.count && !(r->accesses.writes[write] && r->accesses.address[write] < 0x40)) write++;
    if (write < r->accesses.count) {
      const uint8_t *value = stored(m, r->opcode);
      vcs_cause_t cause = {.row = row, .address = r->accesses.address[write], .has_value = value != NULL};
      cause.value = value ? *value : 0;
      for (int bit = 0; bit < 8 && value; bit++) cause.bits |= (uint8_t)(matters(trial, m, frames, row, bit) << bit);
      cause.needed = matters(trial, m, frames, row, 8);
      if (cause.bits || cause.needed) e->causes[e->cause_count++] = cause;
    }
    vcs_step(cart, m, frames, &step);
    vcs_steps_add(&steps, 1);
  }
  const bool stopped = vcs_steps_stopped(&steps);
  vcs_steps_end(&steps);
  free(m);
  free(frames);
  free(states);
  trial->states = NULL;
  return stopped ? vcs_cancelled(error) : VCS_OK;
}

/* ---- Bits: truth and methods -------------------------------------------------------------------------------- */

/* Writes the effect of flipping each place on the output to truth[count], which is zero before: the exact Jacobian's
 * transpose times the derivative of the target. */
static vcs_status_t find_truth(vcs_explanation_t *e, const vcs_explain_options_t *o, const vcs_run_t *run,
                               const vcs_place_t *places, size_t count, float *truth, vcs_error_t *error) {
  const size_t size = picture_bytes(run->cart);
  float values[768], ram[1024] = {0}, score = 1;
  float *pixels = calloc(size, sizeof *pixels);
  if (!pixels) return vcs_no_memory(error);
  for (size_t i = 0; i < size; i++) pixels[i] = e->mask[i];
  for (int bit = 0; bit < 8 && e->target.kind == VCS_SCALAR_RAM; bit++) {
    if (e->target.bit < 0 || e->target.bit == bit)
      ram[8 * e->target.index + bit] = e->target.bit < 0 ? (float)(1 << bit) : 1;
  }
  const vcs_jacobian_outputs_t outputs = {.pixels = e->target.kind == VCS_SCALAR_PIXELS ? pixels : NULL,
                                          .ram = e->target.kind == VCS_SCALAR_RAM ? ram : NULL,
                                          .score = e->target.kind == VCS_SCALAR_SCORE ? &score : NULL};
  vcs_pixel_values(run->cart, VCS_VALUES_INDEX, values);
  const vcs_jacobian_options_t options = {
      .env = e->target.kind == VCS_SCALAR_SCORE ? o->env : NULL, .values = values, .channels = 1};
  vcs_steps_t steps;
  vcs_steps_begin(&steps, &o->report, "flips", count);
  vcs_status_t status = VCS_OK;
  for (size_t first = 0; first < count && status == VCS_OK; first += CHUNK) {
    const size_t some = count - first < CHUNK ? count - first : CHUNK;
    status = vcs_jacobian_vjp(run, &options, places + first, some, &outputs, truth + first, error);
    if (status == VCS_OK && !vcs_steps_add(&steps, some)) status = vcs_cancelled(error);
  }
  vcs_steps_end(&steps);
  free(pixels);
  return status;
}

/* Slots of a reverse pass by every method. */
typedef struct {
  float *state[VCS_STUDY_ESTIMATES], *rom[VCS_STUDY_ESTIMATES], *input[VCS_STUDY_ESTIMATES];
} slots_t;

static void free_slots(slots_t *slots) {
  for (int i = 0; i < VCS_STUDY_ESTIMATES; i++) {
    free(slots->state[i]);
    free(slots->rom[i]);
    free(slots->input[i]);
  }
}

static vcs_status_t differentiate(vcs_explanation_t *e, const vcs_explain_options_t *o, const vcs_run_t *run,
                                  slots_t *slots, vcs_error_t *error) {
  const size_t state_slots = 8 * vcs_state_size(run->cart);
  float *pixels = calloc(picture_bytes(run->cart), sizeof *pixels), *end = calloc(state_slots, sizeof *end);
  float **by_frame = calloc((size_t)run->frames, sizeof *by_frame);
  float *rewards = calloc((size_t)run->frames, sizeof *rewards);
  vcs_grad_outputs_t outputs = {.pixels = by_frame, .state = end};
  vcs_status_t status = VCS_OK;
  if (!pixels || !end || !by_frame || !rewards) status = vcs_no_memory(error);
  if (status == VCS_OK) {
    by_frame[run->frames - 1] = pixels;
    if (e->target.kind == VCS_SCALAR_PIXELS) {
      for (size_t i = 0; i < picture_bytes(run->cart); i++) pixels[i] = e->mask[i];
    } else {
      vcs_target_adjoint(&e->target, run->frames, pixels, end, rewards);
    }
    if (e->target.kind == VCS_SCALAR_SCORE) outputs = (vcs_grad_outputs_t){.env = o->env, .rewards = rewards};
  }
  for (int i = 0; i < VCS_STUDY_ESTIMATES && status == VCS_OK; i++) {
    vcs_grad_options_t options;
    vcs_study_method_options(i, (int32_t)o->window, &options);
    slots->state[i] = calloc(state_slots, sizeof(float));
    slots->rom[i] = calloc((size_t)8 * run->cart->rom_size, sizeof(float));
    slots->input[i] = calloc((size_t)VCS_INPUTS * (size_t)run->frames, sizeof(float));
    if (!slots->state[i] || !slots->rom[i] || !slots->input[i]) {
      status = vcs_no_memory(error);
      break;
    }
    const vcs_grad_inputs_t inputs = {slots->state[i], slots->rom[i], slots->input[i]};
    status = vcs_grad_vjp(run, &options, &inputs, &outputs, NULL, error);
  }
  free(rewards);
  free(pixels);
  free(end);
  free(by_frame);
  return status;
}

/* Collects reasons: `places` has `bits` flips for each byte, one after the other; the derivatives of the same bits
 * begin at slots[method][offset] and have `bits` for each byte as well. */
static vcs_status_t gather(vcs_explanation_t *e, const vcs_explain_options_t *o, const vcs_run_t *run,
                           const vcs_place_t *places, const uint32_t *indices, size_t bytes, int bits,
                           float *const slots[VCS_STUDY_ESTIMATES], size_t offset, vcs_reasons_t *reasons,
                           vcs_error_t *error) {
  float *truth = calloc(bytes * (size_t)bits + 1, sizeof *truth);
  reasons->reasons = calloc(bytes + 1, sizeof *reasons->reasons);
  vcs_status_t status = VCS_OK;
  if (!truth || !reasons->reasons) status = vcs_no_memory(error);
  if (status == VCS_OK) status = find_truth(e, o, run, places, bytes * (size_t)bits, truth, error);
  for (size_t i = 0; i < bytes && status == VCS_OK; i++) {
    vcs_reason_t reason = {.index = indices[i]};
    bool is_true = false, is_predicted = false;
    for (int bit = 0; bit < bits; bit++) {
      reason.truth[bit] = truth[i * (size_t)bits + (size_t)bit];
      is_true |= reason.truth[bit] != 0;
      for (int method = 0; method < VCS_STUDY_ESTIMATES && slots[method]; method++) {
        reason.derivative[method][bit] = slots[method][offset + (size_t)bits * indices[i] + (size_t)bit];
        is_predicted |= reason.derivative[method][bit] != 0;
      }
    }
    if (is_true || is_predicted) reasons->reasons[reasons->count++] = reason;
    reasons->true_count += is_true;
  }
  free(truth);
  return status;
}

static vcs_status_t find_ram(vcs_explanation_t *e, const vcs_explain_options_t *o, const slots_t *slots,
                             vcs_error_t *error) {
  vcs_place_t places[1024];
  uint32_t indices[128];
  for (uint32_t i = 0; i < 1024; i++) {
    indices[i / 8] = i / 8;
    places[i] = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)(i % 8), 0, (uint32_t)offsetof(vcs_t, ram) + i / 8};
  }
  return gather(e, o, &e->span, places, indices, 128, 8, slots->state, 8 * offsetof(vcs_t, ram), &e->ram, error);
}

/* Flips bytes that are read as data or as operands; opcodes are in the slice. */
static vcs_status_t find_rom(vcs_explanation_t *e, const vcs_explain_options_t *o, const slots_t *slots,
                             vcs_error_t *error) {
  const uint32_t size = e->span.cart->rom_size;
  vcs_place_t *places = calloc((size_t)8 * size, sizeof *places);
  uint32_t *indices = calloc(size, sizeof *indices);
  size_t bytes = 0;
  e->uses = calloc(size, sizeof *e->uses);
  vcs_status_t status = VCS_OK;
  if (!places || !indices || !e->uses) status = vcs_no_memory(error);
  if (status == VCS_OK) status = vcs_rom_uses(&e->span, e->uses, error);
  for (uint32_t i = 0; i < size && status == VCS_OK; i++) {
    if (!e->uses[i].read && e->uses[i].kind != VCS_ROM_OPERAND) continue;
    for (int bit = 0; bit < 8; bit++)
      places[8 * bytes + (size_t)bit] = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)bit, 0, i};
    indices[bytes++] = i;
  }
  if (status == VCS_OK) status = gather(e, o, &e->span, places, indices, bytes, 8, slots->rom, 0, &e->rom, error);
  free(places);
  free(indices);
  return status;
}

static vcs_status_t find_inputs(vcs_explanation_t *e, const vcs_explain_options_t *o, const slots_t *slots,
                                vcs_error_t *error) {
  const vcs_run_t *run = &e->run;
  const size_t count = (size_t)VCS_INPUTS * (size_t)run->frames;
  vcs_place_t *places = calloc(count, sizeof *places);
  uint32_t *indices = calloc(count, sizeof *indices);
  vcs_status_t status = VCS_OK;
  if (!places || !indices) status = vcs_no_memory(error);
  for (size_t i = 0; i < count && status == VCS_OK; i++) {
    places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(i / VCS_INPUTS), (uint32_t)(i % VCS_INPUTS)};
    indices[i] = (uint32_t)i;
  }
  if (status == VCS_OK) status = gather(e, o, run, places, indices, count, 1, slots->input, 0, &e->inputs, error);
  free(places);
  free(indices);
  return status;
}

/* ---- The question ------------------------------------------------------------------------------------------- */

static vcs_status_t read_question(const vcs_explain_options_t *o, vcs_explanation_t *e, vcs_error_t *error) {
  e->object = o->target ? -1 : o->object;
  if (!o->target && (o->object < 0 || o->object >= VCS_OBJECT_COUNT)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no object %d", (int)o->object);
  }
  snprintf(e->what, sizeof e->what, "%s", o->target ? o->target : vcs_object_name(o->object));
  return vcs_target_parse(o->target ? o->target : "screen", e->run.cart, o->env, NULL, &e->target, error);
}

/* Marks the pixels of the question: a rectangle, or all pixels that an object draws. */
static void fill_mask(vcs_explanation_t *e, const vcs_run_t *last, trial_t *trial) {
  const vcs_scalar_t *target = &e->target;
  if (target->kind != VCS_SCALAR_PIXELS) return;
  for (int y = target->y; y < target->y + target->height; y++)
    memset(e->mask + VCS_WIDTH * y + target->x, 1, (size_t)target->width);
  if (e->object >= 0) {
    vcs_frame_without(last, e->object, trial->m, trial->frames);
    const uint8_t *without = vcs_picture(trial->m, trial->frames);
    for (size_t i = 0; i < picture_bytes(last->cart); i++) e->mask[i] = without[i] != e->picture[i];
  }
  for (int object = 0; object < VCS_OBJECT_COUNT; object++) {
    vcs_frame_without(last, object, trial->m, trial->frames);
    e->drawn_by[object] = differs(trial);
  }
  e->value = 0;
  for (size_t i = 0; i < picture_bytes(last->cart); i++) e->value += e->mask[i] ? e->picture[i] : 0;
}

/* The machine and the pictures `frames` frames before the run's end. */
static void go_to_start(const vcs_run_t *run, int32_t frames, vcs_t *m, uint8_t *pictures) {
  memcpy(m, run->start, vcs_state_size(run->cart));
  copy_frames(pictures, run->picture);
  for (int32_t i = 0; i < run->frames - frames; i++) {
    vcs_control(run->cart, m, &run->controls[i]);
    vcs_frame(run->cart, m, pictures);
  }
}

/* Finds the register writes that are causes, or the last instruction that wrote the byte of RAM, and their slice. */
static vcs_status_t find_instructions(vcs_explanation_t *e, const vcs_explain_options_t *o, const vcs_run_t *last,
                                      trial_t *trial, vcs_error_t *error) {
  memcpy(trial->m, last->start, vcs_state_size(last->cart));
  vcs_status_t status = vcs_slice_record(last->cart, trial->m, last->controls, &e->slice, error);
  if (status == VCS_OK && e->target.kind == VCS_SCALAR_PIXELS) status = find_causes(e, o, last, trial, error);
  if (status) return status;
  for (int i = 0; i < e->cause_count; i++) e->slice.rows[e->causes[i].row].slice = true;
  for (int i = e->slice.count - 1; i >= 0 && e->target.kind == VCS_SCALAR_RAM; i--) {
    const vcs_accesses_t *accesses = &e->slice.rows[i].accesses;
    bool writes = false;
    for (int j = 0; j < accesses->count; j++)
      writes |= accesses->writes[j] && accesses->address[j] == 0x80 + e->target.index;
    e->slice.rows[i].slice = writes;
    if (writes) break;
  }
  vcs_slice_close(&e->slice);
  return VCS_OK;
}

static vcs_status_t answer(const vcs_explain_options_t *o, vcs_explanation_t *e, vcs_t *start, uint8_t *frames,
                           trial_t *trial, vcs_error_t *error) {
  const vcs_run_t *run = &e->run;
  vcs_status_t status = read_question(o, e, error);
  if (status) return status;
  const bool all = e->target.kind == VCS_SCALAR_SCORE || o->span > run->frames;
  const int32_t span = all ? run->frames : (int32_t)o->span;
  go_to_start(run, span, e->start, e->start_frames);
  e->span = (vcs_run_t){run->cart, e->start, e->start_frames, run->controls + run->frames - span, span};
  go_to_start(run, 1, start, frames);
  const vcs_run_t last = {run->cart, start, frames, run->controls + run->frames - 1, 1};
  vcs_ending_t ending;
  status = vcs_ending_make(run, o->env, NULL, &ending, error);
  if (status) return status;
  e->value = vcs_target_value(&e->target, &ending);
  memcpy(e->frames, ending.frames, (size_t)2 * VCS_FRAME_BYTES);
  e->picture = e->frames + (ending.picture - ending.frames);
  vcs_ending_free(&ending);
  fill_mask(e, &last, trial);
  slots_t over_span = {0}, over_run = {0};
  const int32_t parts = o->parts ? o->parts : VCS_EXPLAIN_ALL;
  const bool methods = parts & VCS_EXPLAIN_METHODS;
  if (parts & VCS_EXPLAIN_WRITES) status = find_instructions(e, o, &last, trial, error);
  if (status == VCS_OK && methods && parts & (VCS_EXPLAIN_RAM | VCS_EXPLAIN_ROM))
    status = differentiate(e, o, &e->span, &over_span, error);
  if (status == VCS_OK && methods && parts & VCS_EXPLAIN_INPUTS) status = differentiate(e, o, run, &over_run, error);
  if (status == VCS_OK && parts & VCS_EXPLAIN_RAM) status = find_ram(e, o, &over_span, error);
  if (status == VCS_OK && parts & VCS_EXPLAIN_ROM) status = find_rom(e, o, &over_span, error);
  if (status == VCS_OK && parts & VCS_EXPLAIN_INPUTS) status = find_inputs(e, o, &over_run, error);
  free_slots(&over_span);
  free_slots(&over_run);
  return status;
}

vcs_status_t vcs_explain(const vcs_run_t *run, const vcs_explain_options_t *given, vcs_explanation_t *e,
                         vcs_error_t *error) {
  vcs_explain_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_explain_options_t, &o, given, error);
  memset(e, 0, sizeof *e);
  if (status == VCS_OK) status = vcs_run_check(run, NULL, 0, o.env, error);
  if (status == VCS_OK) status = vcs_window_check(o.window, error);
  if (status) return status;
  if (o.span < 1) o.span = 1;
  e->run = *run;
  vcs_arena_t arena = {0};
  trial_t trial = {
      e, vcs_arena_take(&arena, 1, sizeof(vcs_t)), vcs_arena_take(&arena, 2, VCS_FRAME_BYTES), 0, 0, INT32_MAX, NULL, 0,
      0};
  trial.end = picture_bytes(run->cart);
  vcs_t *start = vcs_arena_take(&arena, 1, sizeof *start);
  uint8_t *frames = vcs_arena_take(&arena, 2, VCS_FRAME_BYTES);
  e->start = calloc(1, sizeof *e->start);
  e->start_frames = malloc((size_t)2 * VCS_FRAME_BYTES);
  e->frames = malloc((size_t)2 * VCS_FRAME_BYTES);
  e->mask = calloc(VCS_FRAME_BYTES, 1);
  if (!arena.failed && e->start && e->start_frames && e->frames && e->mask) {
    status = answer(&o, e, start, frames, &trial, error);
  } else {
    status = vcs_no_memory(error);
  }
  vcs_arena_free(&arena);
  return status;
}

void vcs_explanation_free(vcs_explanation_t *e) {
  vcs_slice_free(&e->slice);
  free(e->start);
  free(e->start_frames);
  free(e->frames);
  free(e->mask);
  free(e->causes);
  free(e->uses);
  free(e->ram.reasons);
  free(e->rom.reasons);
  free(e->inputs.reasons);
  memset(e, 0, sizeof *e);
}
