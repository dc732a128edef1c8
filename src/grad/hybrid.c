/* hybrid.c: the method `hybrid` of vcs_grad_jvp and vcs_grad_vjp: exact effects within a budget, estimates for the
 * rest.
 *
 * The cost of a product with the exact Jacobian is proportional to the number of bits. An estimate costs the same for
 * any number of bits, and is wrong where a branch turns. So the bits whose estimates are least certain are flipped
 * first, until the budget is spent:
 *
 *   VJP   one reverse pass with forks and one without. A bit is seen if either pass finds a derivative for it. First
 *         come the seen bits, the largest derivative first; then unseen controls, as first order misses half of the
 *         effects; then the unseen bits of bytes in which other bits are seen; then unseen bits of RAM, the highest
 *         bit of each byte first, because programs test it most; and last unseen bits of ROM and of chips. Where a
 *         walk finds an effect, the other bits of that byte count as bits of a seen byte from then on.
 *   JVP   the bits with the largest tangents. The estimate is one forward pass along the remaining tangents; it is left
 *         out if none remain.
 *
 * So without a budget `hybrid` is `bit` with forks, and with a large budget it is `exact`, except for numbers
 * (positions, times): their slots are not bits in an estimate, so they keep their estimates.
 *
 * The price of exact effects is not measured but counted, so that results are the same everywhere: a frame of the run
 * for each walk, a frame of a flip in it, an instruction that a flip executes, a wake of a flip (concurrent.c), a frame
 * of a flip that is run again. The weights below are the processor time of each, in frames of ale-py, measured on four
 * games and right within a third (RAM, controls, registers and ROM, 4 and 8 frames). A first walk spends half of the
 * budget, at the usual price of bits of RAM and of ROM. It shows the price of the bits of this run, and the next walk
 * spends the rest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/jacobian.h"
#include "grad/sweep.h"
#include "host/arena.h"

enum {
  FRAMES_PAID = 20, /* the default budget, for each frame of the run */
  WINDOW = 256,     /* the default window of forks, in instructions */
  MOST = 1024       /* bits of one walk */
};

/* Prices, in frames of ale-py. The prices of bits are those expected before the first walk, for each frame of the
 * run. */
static const double walked_frame = 3.9, flipped_frame = 0.0115, instruction = 1.5e-4, wake = 1.7e-3, rerun_frame = 0.58,
                    ram_bit = 0.035, rom_bit = 0.1;

/* The turns in which bits are flipped. The bits of a JVP are all seen. */
enum { SEEN, UNSEEN_CONTROL, UNSEEN_IN_SEEN_BYTE, UNSEEN_RAM, UNSEEN_ROM, UNSEEN_CHIP };

/* A bit that may be flipped. */
typedef struct {
  size_t slot;
  float doubt; /* within a turn, bits with more doubt are flipped first */
  int turn;    /* SEEN, ... */
} candidate_t;

typedef struct {
  const vcs_run_t *run;
  const vcs_grad_options_t *options;
  const vcs_grad_outputs_t *outputs;
  vcs_slot_list_t list;
  vcs_arena_t arena;
  candidate_t *candidates;
  size_t count, done; /* candidates, and those that have been flipped */
  vcs_place_t *places;
  float *numbers; /* tangents or adjoints of the places */
  float *bytes;   /* VJP: by byte of the state and of ROM, the largest derivative that was found in its bits */
  vcs_work_t work;
  vcs_grad_report_t report;
} hybrid_t;

/* ---- The budget ---------------------------------------------------------------------------------------------------
 */

/* Returns the cost of the bits that have been flipped, without the walks that they share. */
static double price(const hybrid_t *h) {
  const vcs_work_t *work = &h->work;
  return flipped_frame * (double)h->done * h->run->frames + instruction * (double)work->executed +
         wake * (double)work->wakes + rerun_frame * (double)work->rerun;
}

/* Returns the number of bits that the next walk flips, after `walks` walks. */
static size_t next_walk(const hybrid_t *h, int walks) {
  const double frames = h->run->frames, budget = h->options->budget > 0 ? h->options->budget : FRAMES_PAID * frames;
  const double walk = walked_frame * frames, each = h->done ? price(h) / (double)h->done : ram_bit * frames;
  double paid = budget - price(h) - (walks + 1) * walk;
  if (walks > 1 && paid < walk) return 0; /* a third walk would cost more than its bits do */
  if (walks == 0 && paid > 2 * walk) paid = (paid - walk) / 2;
  const size_t left = h->count - h->done, most = left < MOST ? left : MOST;
  size_t count = 0;
  while (count < most) {
    const bool rom = h->places[h->done + count].kind == VCS_PLACE_ROM;
    paid -= rom ? fmax(each, rom_bit * frames) : each;
    if (paid < 0) break;
    count++;
  }
  return count;
}

typedef vcs_status_t walk_t(hybrid_t *h, size_t first, size_t count, vcs_error_t *error);

/* Flips the candidates in their order, walk by walk, as far as the budget goes. */
static vcs_status_t spend(hybrid_t *h, walk_t *walk, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  size_t count;
  for (int walks = 0; status == VCS_OK && (count = next_walk(h, walks)) > 0; walks++, h->done += count) {
    status = walk(h, h->done, count, error);
  }
  h->report.branches = h->done;
  h->report.instructions += h->work.executed;
  h->report.forks += h->work.wakes;
  return status;
}

/* ---- Candidates ---------------------------------------------------------------------------------------------------
 */

#define NUMBER(name, count) {offsetof(vcs_t, name), sizeof((vcs_t *)0)->name},
static const struct { size_t offset, size; } numbers[] = {VCS_NUMBER_FIELDS(NUMBER)};

static bool is_number(const vcs_place_t *place) {
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (place->kind == VCS_PLACE_STATE && place->index - numbers[i].offset < numbers[i].size) return true;
  }
  return false;
}

static bool is_ram(const vcs_place_t *place) {
  return place->kind == VCS_PLACE_STATE && place->index - offsetof(vcs_t, ram) < sizeof((vcs_t *)0)->ram;
}

static int by_turn(const void *a, const void *b) {
  const candidate_t *x = a, *y = b;
  if (x->turn != y->turn) return x->turn - y->turn;
  if (x->doubt != y->doubt) return x->doubt > y->doubt ? -1 : 1;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static vcs_status_t open_hybrid(hybrid_t *h, const vcs_run_t *run, const vcs_grad_options_t *options,
                                const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                vcs_error_t *error) {
  *h = (hybrid_t){.run = run, .options = options, .outputs = outputs, .list = vcs_slot_list(run, inputs)};
  h->candidates = vcs_arena_take(&h->arena, h->list.count, sizeof *h->candidates);
  h->places = vcs_arena_take(&h->arena, h->list.count, sizeof *h->places);
  h->numbers = vcs_arena_take(&h->arena, h->list.count, sizeof *h->numbers);
  return vcs_arena_status(&h->arena, error);
}

/* Puts the candidates from `first` on into the order in which they are flipped. */
static void sort_from(hybrid_t *h, size_t first) {
  qsort(h->candidates + first, h->count - first, sizeof *h->candidates, by_turn);
  for (size_t i = first; i < h->count; i++) h->places[i] = vcs_slot_place(&h->list, h->candidates[i].slot);
}

/* The estimate: `bit`, with forks of the caller's window, or without. */
static vcs_grad_options_t estimate_of(const hybrid_t *h, bool forks) {
  vcs_grad_options_t options = *h->options;
  options.method = VCS_METHOD_BIT;
  options.fork_window = !forks ? 0 : options.fork_window ? options.fork_window : WINDOW;
  return options;
}

/* ---- Forwards ------------------------------------------------------------------------------------------------------
 */

static vcs_status_t walk_forwards(hybrid_t *h, size_t first, size_t count, vcs_error_t *error) {
  return vcs_exact_jvp_of(h->run, h->options, h->places + first, h->numbers + first, count, h->outputs, &h->work,
                          error);
}

/* Makes slots of the same sizes as the caller's. */
static vcs_grad_inputs_t make_slots(hybrid_t *h) {
  const vcs_slot_list_t *list = &h->list;
  return (vcs_grad_inputs_t){list->state ? vcs_arena_take(&h->arena, list->state, sizeof(float)) : NULL,
                             list->rom ? vcs_arena_take(&h->arena, list->rom, sizeof(float)) : NULL,
                             list->input ? vcs_arena_take(&h->arena, list->input, sizeof(float)) : NULL};
}

vcs_status_t vcs_hybrid_jvp(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                            const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                            vcs_grad_report_t *report, vcs_error_t *error) {
  hybrid_t h;
  vcs_status_t status = open_hybrid(&h, run, options, inputs, outputs, error);
  const vcs_grad_inputs_t rest = make_slots(&h); /* the tangents that are left to the estimate */
  const vcs_slot_list_t left = vcs_slot_list(run, &rest);
  bool estimates = false;
  if (status == VCS_OK) status = vcs_arena_status(&h.arena, error);
  for (size_t i = 0; status == VCS_OK && i < h.list.count; i++) {
    const float tangent = *vcs_slot(&h.list, i);
    const vcs_place_t place = vcs_slot_place(&h.list, i);
    *vcs_slot(&left, i) = tangent;
    if (tangent == 0) continue;
    if (is_number(&place)) {
      estimates = true;
    } else {
      h.candidates[h.count++] = (candidate_t){i, fabsf(tangent), SEEN};
    }
  }
  if (status == VCS_OK) {
    sort_from(&h, 0);
    for (size_t i = 0; i < h.count; i++) h.numbers[i] = *vcs_slot(&h.list, h.candidates[i].slot);
    status = spend(&h, walk_forwards, error);
  }
  for (size_t i = 0; status == VCS_OK && i < h.done; i++) *vcs_slot(&left, h.candidates[i].slot) = 0;
  if (status == VCS_OK && (estimates || h.done < h.count)) {
    const vcs_grad_options_t estimate = estimate_of(&h, true);
    vcs_grad_report_t first = {0};
    status = vcs_grad_jvp_in(workspace, run, &estimate, &rest, outputs, &first, error);
    h.report.instructions += first.instructions;
    h.report.forks += first.forks;
    h.report.rejoined += first.rejoined;
  }
  vcs_arena_free(&h.arena);
  if (report) *report = h.report;
  return status;
}

/* ---- Backwards -----------------------------------------------------------------------------------------------------
 */

/* Returns the place of the largest derivative found in the byte of a slot; NULL for controls, which are not in
 * bytes. */
static float *byte_of(const hybrid_t *h, size_t slot) {
  return slot < h->list.state + h->list.rom ? &h->bytes[slot / 8] : NULL;
}

/* Records a derivative that was found in the byte of a slot. */
static void see(const hybrid_t *h, size_t slot, float derivative) {
  float *byte = byte_of(h, slot);
  if (byte) *byte = fmaxf(*byte, fabsf(derivative));
}

/* The turn of an unseen bit. */
static candidate_t judge_unseen(const hybrid_t *h, size_t slot) {
  const vcs_place_t place = vcs_slot_place(&h->list, slot);
  const float *byte = byte_of(h, slot);
  if (!byte) return (candidate_t){slot, 0, UNSEEN_CONTROL};
  if (*byte > 0) return (candidate_t){slot, *byte, UNSEEN_IN_SEEN_BYTE};
  return (candidate_t){slot, place.bit,
                       place.kind == VCS_PLACE_ROM ? UNSEEN_ROM
                       : is_ram(&place)            ? UNSEEN_RAM
                                                   : UNSEEN_CHIP};
}

static vcs_status_t walk_backwards(hybrid_t *h, size_t first, size_t count, vcs_error_t *error) {
  const vcs_status_t status =
      vcs_exact_vjp_of(h->run, h->options, h->places + first, h->numbers + first, count, h->outputs, &h->work, error);
  for (size_t i = first; i < first + count; i++) see(h, h->candidates[i].slot, h->numbers[i]);
  for (size_t i = first + count; i < h->count; i++) {
    candidate_t *c = &h->candidates[i];
    if (c->turn != SEEN) *c = judge_unseen(h, c->slot);
  }
  sort_from(h, first + count);
  return status;
}

/* Returns the larger size of two estimates of a derivative; infinite if one of them is NaN. */
static float size_of(const vcs_slot_list_t *one, const vcs_slot_list_t *other, size_t slot) {
  const float a = fabsf(*vcs_slot(one, slot)), b = fabsf(*vcs_slot(other, slot));
  return isnan(a) || isnan(b) ? INFINITY : fmaxf(a, b);
}

vcs_status_t vcs_hybrid_vjp(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                            const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                            vcs_grad_report_t *report, vcs_error_t *error) {
  hybrid_t h;
  vcs_status_t status = open_hybrid(&h, run, options, inputs, outputs, error);
  const vcs_grad_inputs_t with = make_slots(&h), without = make_slots(&h);
  const vcs_slot_list_t forked = vcs_slot_list(run, &with), plain = vcs_slot_list(run, &without);
  const vcs_grad_options_t forks = estimate_of(&h, true), no_forks = estimate_of(&h, false);
  h.bytes = vcs_arena_take(&h.arena, (h.list.state + h.list.rom) / 8 + 1, sizeof *h.bytes);
  if (status == VCS_OK) status = vcs_arena_status(&h.arena, error);
  if (status == VCS_OK) status = vcs_grad_vjp_in(workspace, run, &no_forks, &without, outputs, NULL, error);
  if (status == VCS_OK) status = vcs_grad_vjp_in(workspace, run, &forks, &with, outputs, &h.report, error);
  for (size_t i = 0; status == VCS_OK && i < h.list.count; i++) see(&h, i, size_of(&forked, &plain, i));
  for (size_t i = 0; status == VCS_OK && i < h.list.count; i++) {
    const vcs_place_t place = vcs_slot_place(&h.list, i);
    const float size = size_of(&forked, &plain, i);
    if (is_number(&place)) continue;
    h.candidates[h.count++] = size > 0 ? (candidate_t){i, size, SEEN} : judge_unseen(&h, i);
  }
  if (status == VCS_OK) {
    sort_from(&h, 0);
    status = spend(&h, walk_backwards, error);
  }
  for (size_t i = 0; status == VCS_OK && i < h.done; i++) *vcs_slot(&forked, h.candidates[i].slot) = h.numbers[i];
  for (size_t i = 0; status == VCS_OK && i < h.list.count; i++) *vcs_slot(&h.list, i) += *vcs_slot(&forked, i);
  vcs_arena_free(&h.arena);
  if (report) *report = h.report;
  return status;
}
