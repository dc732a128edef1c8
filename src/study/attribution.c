/* attribution.c: derivatives of one target with respect to all bits, and of everything with respect to one (study.h).
 *
 * A byte is as important as its bit of largest derivative.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/rerun.h"
#include "host/arena.h"
#include "plot/map.h"
#include "study/internal.h"

/* ---- Bytes in order of importance --------------------------------------------------------------------------- */

typedef struct {
  vcs_ranked_t *entries;
  size_t count, capacity;
  bool failed;
} ranking_t;

static void add_entry(ranking_t *list, const float *bits, uint32_t index, const char *name) {
  if (vcs_map_largest(bits, 8) == 0 || list->failed) return;
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 256;
    vcs_ranked_t *entries = realloc(list->entries, capacity * sizeof *entries);
    list->failed = !entries;
    if (!entries) return;
    list->entries = entries;
    list->capacity = capacity;
  }
  vcs_ranked_t *entry = &list->entries[list->count++];
  *entry = (vcs_ranked_t){bits, index, ""};
  snprintf(entry->name, sizeof entry->name, "%s", name);
}

static int by_importance(const void *a, const void *b) {
  const vcs_ranked_t *x = a, *y = b;
  const float first = fabsf(vcs_map_largest(x->bits, 8)), second = fabsf(vcs_map_largest(y->bits, 8));
  if (first != second) return first > second ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static void sort_entries(ranking_t *list) {
  if (list->count) qsort(list->entries, list->count, sizeof *list->entries, by_importance);
}

/* Lists the bytes of the selected fields. */
static void list_state(const float *slots, int wrt, size_t size, ranking_t *list) {
  const vcs_field_t *field;
  for (int i = 0; (field = vcs_field(i)); i++) {
    if (!vcs_wrt_has(wrt, field->name)) continue;
    for (size_t n = 0; n < field->count; n++) {
      char name[32];
      const size_t offset = field->offset + n * field->size;
      if (offset >= size) break;
      if (strcmp(field->name, "ram") == 0) {
        snprintf(name, sizeof name, "$%02X", (unsigned)(0x80 + n));
      } else if (field->count > 1) {
        snprintf(name, sizeof name, "%.16s[%u]", field->name, (unsigned)n);
      } else {
        snprintf(name, sizeof name, "%.24s", field->name);
      }
      for (size_t byte = 0; byte < field->size; byte++) {
        add_entry(list, slots + 8 * (offset + byte), (uint32_t)(offset + byte), name);
      }
    }
  }
  sort_entries(list);
}

vcs_status_t vcs_rank_state(const vcs_cart_t *cart, const float *slots, int wrt, vcs_ranked_t **list, size_t *count,
                            vcs_error_t *error) {
  ranking_t ranking = {0};
  list_state(slots, wrt, vcs_state_size(cart), &ranking);
  *list = ranking.entries;
  *count = ranking.count;
  if (!ranking.failed) return VCS_OK;
  free(ranking.entries);
  *list = NULL;
  *count = 0;
  return vcs_no_memory(error);
}

/* Ranks the bytes of the image. */
static vcs_status_t rank_rom(const vcs_cart_t *cart, vcs_attribution_t *a, vcs_error_t *error) {
  ranking_t list = {0};
  for (uint32_t i = 0; i < cart->rom_size; i++) add_entry(&list, a->rom + 8 * (size_t)i, i, "");
  sort_entries(&list);
  a->ranking = malloc((list.count ? list.count : 1) * sizeof *a->ranking);
  if (!a->ranking) list.failed = true;
  for (size_t i = 0; !list.failed && i < list.count; i++) a->ranking[i] = list.entries[i].index;
  a->ranked = (uint32_t)list.count;
  free(list.entries);
  return list.failed ? vcs_no_memory(error) : VCS_OK;
}

/* ---- Derivatives -------------------------------------------------------------------------------------------- */

/* Takes the options and fills in their defaults; `grad` is where the default method goes. */
static vcs_status_t complete(const vcs_attribution_options_t *given, vcs_attribution_options_t *o,
                             vcs_grad_options_t *grad, vcs_error_t *error) {
  const vcs_status_t status = VCS_OPTIONS_TAKE(vcs_attribution_options_t, o, given, error);
  vcs_study_method_options(VCS_STUDY_EXACT, 0, grad);
  if (!o->grad) o->grad = grad;
  if (!o->wrt) o->wrt = VCS_WRT_ROM | VCS_WRT_RAM | VCS_WRT_CARTRAM | VCS_WRT_INPUT;
  return status;
}

/* What the target is computed from, as outputs of a run. */
typedef struct {
  vcs_arena_t arena; /* of the arrays */
  float *pixels, *end, *rewards, **frames;
} ends_t;

static vcs_status_t make_ends(const vcs_run_t *run, ends_t *ends, vcs_error_t *error) {
  *ends = (ends_t){0};
  ends->pixels = vcs_arena_take(&ends->arena, VCS_FRAME_BYTES, sizeof(float));
  ends->end = vcs_arena_take(&ends->arena, 8 * vcs_state_size(run->cart), sizeof(float));
  ends->rewards = vcs_arena_take(&ends->arena, (size_t)run->frames, sizeof(float));
  ends->frames = vcs_arena_take(&ends->arena, (size_t)run->frames, sizeof(float *));
  if (!ends->arena.failed) ends->frames[run->frames - 1] = ends->pixels;
  return vcs_arena_status(&ends->arena, error);
}

static vcs_status_t attribute(const vcs_run_t *run, const vcs_scalar_t *target, const vcs_attribution_options_t *o,
                              ends_t *ends, vcs_attribution_t *a, vcs_error_t *error) {
  const uint32_t rom_size = run->cart->rom_size;
  vcs_status_t status = vcs_ending_make(run, o->env, NULL, &a->ending, error);
  if (status) return status;
  a->value = vcs_target_value(target, &a->ending);
  vcs_target_adjoint(target, run->frames, ends->pixels, ends->end, ends->rewards);
  a->state = calloc(8 * vcs_state_size(run->cart), sizeof(float));
  if (o->wrt & VCS_WRT_ROM) a->rom = calloc((size_t)8 * rom_size, sizeof(float));
  if (o->wrt & VCS_WRT_ROM) a->uses = calloc(rom_size, sizeof *a->uses);
  if (o->wrt & VCS_WRT_INPUT) a->input = calloc((size_t)VCS_INPUTS * (size_t)run->frames, sizeof(float));
  if (!a->state || (o->wrt & VCS_WRT_ROM && (!a->rom || !a->uses)) || (o->wrt & VCS_WRT_INPUT && !a->input)) {
    return vcs_no_memory(error);
  }
  const bool wants_state = o->wrt & ~(VCS_WRT_ROM | VCS_WRT_INPUT);
  const vcs_grad_inputs_t inputs = {wants_state ? a->state : NULL, a->rom, a->input};
  vcs_grad_outputs_t outputs = {.pixels = ends->frames};
  if (target->kind == VCS_SCALAR_RAM) outputs = (vcs_grad_outputs_t){.state = ends->end};
  if (target->kind == VCS_SCALAR_SCORE) outputs = (vcs_grad_outputs_t){.env = o->env, .rewards = ends->rewards};
  status = vcs_grad_vjp(run, o->grad, &inputs, &outputs, &a->report, error);
  if (status || !a->rom) return status;
  status = vcs_rom_uses(run, a->uses, error);
  return status ? status : rank_rom(run->cart, a, error);
}

vcs_status_t vcs_attribute(const vcs_run_t *run, const vcs_scalar_t *target, const vcs_attribution_options_t *given,
                           vcs_attribution_t *attribution, vcs_error_t *error) {
  vcs_grad_options_t grad;
  vcs_attribution_options_t o;
  ends_t ends;
  memset(attribution, 0, sizeof *attribution);
  vcs_status_t status = complete(given, &o, &grad, error);
  if (status == VCS_OK) status = vcs_run_check(run, NULL, 0, o.env, error);
  if (status) return status;
  status = make_ends(run, &ends, error);
  if (status == VCS_OK) status = attribute(run, target, &o, &ends, attribution, error);
  vcs_arena_free(&ends.arena);
  return status;
}

void vcs_attribution_free(vcs_attribution_t *attribution) {
  vcs_ending_free(&attribution->ending);
  free(attribution->rom);
  free(attribution->state);
  free(attribution->input);
  free(attribution->uses);
  free(attribution->ranking);
  memset(attribution, 0, sizeof *attribution);
}

/* Compares the predicted effect with the true one. */
static vcs_status_t compare(const vcs_run_t *run, const vcs_place_t *place, const vcs_attribution_options_t *o,
                            vcs_effect_t *e, vcs_error_t *error) {
  const vcs_ending_t *base = &e->ending;
  const float sign = vcs_run_bit(run, place) == 1 ? -1.0F : 1.0F;
  const float *scale = o->grad->scale;
  vcs_ending_t moved;
  const vcs_status_t status = vcs_ending_make(run, o->env, place, &moved, error);
  if (status) return status;
  for (int i = 0; i < VCS_WIDTH * run->cart->frame_height; i++) {
    const uint8_t now = moved.picture[i], was = base->picture[i];
    const float truth = sign * (scale ? scale[now] - scale[was] : (float)(now - was));
    e->true_pixels[i] = truth;
    vcs_agreement_add(&e->pixels_agree, &truth, &e->pixels[i], 1);
  }
  for (int i = 0; i < 1024; i++) {
    const int now = moved.machine->ram[i / 8] >> i % 8 & 1, was = base->machine->ram[i / 8] >> i % 8 & 1;
    const float truth = sign * (float)(now - was);
    vcs_agreement_add(&e->ram_agree, &truth, &e->state[8 * offsetof(vcs_t, ram) + (size_t)i], 1);
  }
  vcs_ending_free(&moved);
  return VCS_OK;
}

/* `tangent` has the slots of the kind of the place. */
static vcs_status_t differentiate(const vcs_run_t *run, const vcs_place_t *place, const vcs_attribution_options_t *o,
                                  float *tangent, float **frames, vcs_effect_t *e, vcs_error_t *error) {
  /* A set bit can only be cleared: the pass goes in that direction, and its result is the negative of the derivative.
   */
  const float direction = vcs_run_bit(run, place) == 1 ? -1.0F : 1.0F;
  vcs_grad_inputs_t inputs = {0};
  if (place->kind == VCS_PLACE_INPUT) {
    tangent[VCS_INPUTS * place->frame + place->index] = direction;
    inputs.input = tangent;
  } else {
    tangent[8 * (size_t)place->index + place->bit] = direction;
    if (place->kind == VCS_PLACE_ROM) inputs.rom = tangent;
    if (place->kind == VCS_PLACE_STATE) inputs.state = tangent;
  }
  frames[run->frames - 1] = e->pixels;
  const vcs_grad_outputs_t outputs = {.pixels = frames, .state = e->state};
  const vcs_status_t status = vcs_grad_jvp(run, o->grad, &inputs, &outputs, &e->report, error);
  for (int i = 0; i < VCS_FRAME_BYTES; i++) e->pixels[i] = direction * e->pixels[i] + 0.0F; /* no minus zero */
  for (size_t i = 0; i < 8 * vcs_state_size(run->cart); i++) e->state[i] = direction * e->state[i] + 0.0F;
  return status;
}

vcs_status_t vcs_effect(const vcs_run_t *run, const vcs_place_t *place, const vcs_attribution_options_t *given,
                        vcs_effect_t *effect, vcs_error_t *error) {
  vcs_grad_options_t grad;
  vcs_attribution_options_t o;
  vcs_status_t taken = complete(given, &o, &grad, error);
  memset(effect, 0, sizeof *effect);
  if (taken == VCS_OK) taken = vcs_run_check(run, NULL, 0, o.env, error);
  if (taken == VCS_OK) taken = vcs_place_check(run, place, error);
  if (taken) return taken;
  const size_t slots = place->kind == VCS_PLACE_INPUT ? (size_t)VCS_INPUTS * (size_t)run->frames
                       : place->kind == VCS_PLACE_ROM ? (size_t)8 * run->cart->rom_size
                                                      : 8 * vcs_state_size(run->cart);
  float *tangent = calloc(slots, sizeof *tangent), **frames = calloc((size_t)run->frames, sizeof *frames);
  effect->pixels = calloc(VCS_FRAME_BYTES, sizeof(float));
  effect->true_pixels = calloc(VCS_FRAME_BYTES, sizeof(float));
  effect->state = calloc(8 * vcs_state_size(run->cart), sizeof(float));
  vcs_status_t status = VCS_OK;
  if (!tangent || !frames || !effect->pixels || !effect->true_pixels || !effect->state) status = vcs_no_memory(error);
  if (status == VCS_OK) status = vcs_ending_make(run, o.env, NULL, &effect->ending, error);
  if (status == VCS_OK) status = differentiate(run, place, &o, tangent, frames, effect, error);
  if (status == VCS_OK) status = compare(run, place, &o, effect, error);
  free(tangent);
  free(frames);
  return status;
}

void vcs_effect_free(vcs_effect_t *effect) {
  vcs_ending_free(&effect->ending);
  free(effect->pixels);
  free(effect->true_pixels);
  free(effect->state);
  memset(effect, 0, sizeof *effect);
}
