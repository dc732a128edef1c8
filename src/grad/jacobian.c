/* jacobian.c: the exact Jacobian of a run in coordinates, and its products.
 *
 * Each flip has a list of the outputs that it changes, written by the thread that walks it; lists are put behind each
 * other in the order of flips. A product is a sum over that, in that order.
 */
#include <stdlib.h>
#include <string.h>

#include "grad/watch.h"
#include "host/files.h"
#include "host/options.h"

enum { RAM_BYTES = 128, RAM_BITS = 1024 };

typedef struct {
  vcs_jacobian_entry_t *entries;
  size_t count, capacity;
} list_t;

typedef struct {
  uint32_t of;
  size_t rows; /* of a picture */
  list_t *lists;
  bool failed; /* no memory; any thread may say so */
} gather_t;

static void add(gather_t *gather, size_t flip, int horizon, uint32_t of, size_t index, int32_t base, int32_t flipped) {
  list_t *list = &gather->lists[flip];
  if (list->count == list->capacity) {
    const size_t more = list->capacity ? 2 * list->capacity : 32;
    vcs_jacobian_entry_t *grown = realloc(list->entries, more * sizeof *grown);
    if (!grown) {
      gather->failed = true;
      return;
    }
    list->entries = grown;
    list->capacity = more;
  }
  list->entries[list->count++] =
      (vcs_jacobian_entry_t){(uint32_t)flip, (uint16_t)horizon, (uint16_t)of, (uint32_t)index, base, flipped};
}

static void add_bytes(gather_t *gather, size_t flip, int horizon, uint32_t of, size_t first, size_t count,
                      const uint8_t *base, const uint8_t *flipped) {
  if (base == flipped || memcmp(base, flipped, count) == 0) return;
  for (size_t i = 0; i < count; i++) {
    if (base[i] != flipped[i]) add(gather, flip, horizon, of, first + i, base[i], flipped[i]);
  }
}

static void see(void *context, size_t flip, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base) {
  gather_t *gather = context;
  for (size_t row = 0; gather->of & VCS_OF_SCREEN && sight->picture != base->picture && row < gather->rows; row++) {
    if (sight->lines && !sight->lines[row]) continue;
    add_bytes(gather, flip, horizon, VCS_OF_SCREEN, row * VCS_WIDTH, VCS_WIDTH, base->picture + row * VCS_WIDTH,
              sight->picture + row * VCS_WIDTH);
  }
  if (gather->of & VCS_OF_RAM) add_bytes(gather, flip, horizon, VCS_OF_RAM, 0, RAM_BYTES, base->ram, sight->ram);
  if (gather->of & VCS_OF_SCORE && sight->score != base->score) {
    add(gather, flip, horizon, VCS_OF_SCORE, 0, base->score, sight->score);
  }
  if (gather->of & VCS_OF_LIVES && sight->lives != base->lives) {
    add(gather, flip, horizon, VCS_OF_LIVES, 0, base->lives, sight->lives);
  }
}

static void free_lists(gather_t *gather, size_t count) {
  for (size_t i = 0; gather->lists && i < count; i++) free(gather->lists[i].entries);
  free(gather->lists);
}

static vcs_status_t gather_all(gather_t *gather, const vcs_run_t *run, const vcs_jacobian_options_t *options,
                               uint32_t of, const vcs_place_t *places, const size_t *ends, size_t count,
                               uint8_t *outcomes, vcs_error_t *error) {
  const vcs_truth_options_t truth = {.horizons = options->horizons,
                                     .horizon_count = options->horizon_count,
                                     .env = options->env,
                                     .threads = options->threads,
                                     .stop_when_over = options->stop_when_over,
                                     .progress = options->progress,
                                     .progress_context = options->progress_context,
                                     .engine = options->engine};
  const vcs_truth_watch_t watch = {see, gather, outcomes};
  vcs_status_t status = vcs_reserved_check(options->reserved, "vcs_jacobian_options_t", error);
  if (status) return status;
  if (!of || of > 15) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%u is no set of outputs: add up VCS_OF_SCREEN, ...", (unsigned)of);
  }
  if (of & (VCS_OF_SCORE | VCS_OF_LIVES) && !options->env) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "score and lives need an environment: set options.env");
  }
  if (!run || !run->cart) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a run needs a cartridge");
  gather->of = of;
  gather->rows = (size_t)run->cart->frame_height;
  gather->lists = calloc(count ? count : 1, sizeof *gather->lists);
  if (!gather->lists) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for %zu flips", count);
  status = vcs_truth_watch(run, &truth, places, ends, count, &watch, error);
  if (status == VCS_OK && gather->failed) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for what %zu flips change", count);
  }
  return status;
}

vcs_status_t vcs_jacobian(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                          const size_t *ends, size_t set_count, vcs_jacobian_entry_t *entries, size_t capacity,
                          size_t *count, uint8_t *outcomes, vcs_error_t *error) {
  gather_t gather = {0};
  size_t needed = 0;
  if (error) error->message[0] = 0;
  if (!options || !count || (capacity && !entries)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a Jacobian needs options, and a place for its entries' number");
  }
  for (size_t i = 1; ends && i < set_count; i++) {
    if (ends[i] < ends[i - 1]) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the ends of sets must ascend");
  }
  *count = 0;
  vcs_status_t status = gather_all(&gather, run, options, options->of, places, ends, set_count, outcomes, error);
  for (size_t i = 0; status == VCS_OK && i < set_count; i++) {
    const list_t *list = &gather.lists[i];
    const size_t room = needed < capacity ? capacity - needed : 0, fit = list->count < room ? list->count : room;
    if (fit) memcpy(entries + needed, list->entries, fit * sizeof *entries);
    needed += list->count;
  }
  free_lists(&gather, set_count);
  *count = needed;
  if (status == VCS_OK && needed > capacity) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%zu entries do not fit into %zu: ask again with room for them",
                          needed, capacity);
  }
  return status;
}

/* ---- Products --------------------------------------------------------------------------------------------------- */

/* A walk over the entries of a flip. With `sums` it is forwards: the flip's tangent times what changes is added;
 * without, backwards: returns the sum of what changes times the adjoints. */
typedef struct {
  const vcs_jacobian_options_t *options;
  const vcs_jacobian_outputs_t *outputs;
  size_t pixels; /* of a picture */
  int32_t horizons;
  double *sums; /* pixels, bits, score, lives of each horizon; NULL: backwards */
} product_t;

static size_t slots(const product_t *p) { return p->pixels * (size_t)p->options->channels + RAM_BITS + 2; }

static double term(const product_t *p, size_t horizon, size_t slot, const float *adjoint, double change) {
  if (!p->sums) return change * (double)*adjoint;
  p->sums[horizon * slots(p) + slot] += change;
  return 0;
}

static double entry_terms(const product_t *p, const vcs_jacobian_entry_t *e, double scale) {
  const vcs_jacobian_outputs_t *out = p->outputs;
  const size_t channels = (size_t)p->options->channels, h = e->horizon, screen = p->pixels * channels;
  double sum = 0;
  switch (e->of) {
    case VCS_OF_SCREEN:
      for (size_t c = 0; c < channels; c++) {
        const float *values = p->options->values + c;
        const double change =
            (double)values[(size_t)e->flipped * channels] - (double)values[(size_t)e->base * channels];
        const size_t slot = e->index * channels + c;
        if (change != 0) sum += term(p, h, slot, &out->pixels[h * screen + slot], scale * change);
      }
      break;
    case VCS_OF_RAM:
      for (uint32_t bit = 0; bit < 8; bit++) {
        const int change = (e->flipped >> bit & 1) - (e->base >> bit & 1);
        const size_t slot = 8 * e->index + bit;
        if (change) sum += term(p, h, screen + slot, &out->ram[h * RAM_BITS + slot], scale * change);
      }
      break;
    case VCS_OF_SCORE:
      sum += term(p, h, screen + RAM_BITS, &out->score[h], scale * ((double)e->flipped - e->base));
      break;
    default:
      sum += term(p, h, screen + RAM_BITS + 1, &out->lives[h], scale * ((double)e->flipped - e->base));
      break;
  }
  return sum;
}

static vcs_status_t multiply(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                             size_t count, const float *tangents, const vcs_jacobian_outputs_t *outputs,
                             float *adjoints, vcs_error_t *error) {
  gather_t gather = {0};
  if (error) error->message[0] = 0;
  if (!options || !outputs || (!tangents && !adjoints)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a product needs options, outputs and a number for each place");
  }
  if (outputs->pixels && (!options->values || options->channels < 1)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "pixels need what a pixel is worth: options.values");
  }
  const uint32_t of = (outputs->pixels ? VCS_OF_SCREEN : 0u) | (outputs->ram ? VCS_OF_RAM : 0u) |
                      (outputs->score ? VCS_OF_SCORE : 0u) | (outputs->lives ? VCS_OF_LIVES : 0u);
  vcs_status_t status = gather_all(&gather, run, options, of, places, NULL, count, NULL, error);
  product_t product = {options, outputs, gather.rows * VCS_WIDTH, options->horizons ? options->horizon_count : 1, NULL};
  if (status == VCS_OK && tangents) {
    product.sums = calloc((size_t)product.horizons * slots(&product), sizeof *product.sums);
    if (!product.sums) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for a product");
  }
  for (size_t i = 0; status == VCS_OK && i < count; i++) {
    const double sign = vcs_place_bit(run, &places[i]) ? -1 : 1, scale = tangents ? sign * (double)tangents[i] : sign;
    double sum = 0;
    for (size_t k = 0; k < gather.lists[i].count; k++) sum += entry_terms(&product, &gather.lists[i].entries[k], scale);
    if (adjoints) adjoints[i] += (float)sum;
  }
  const size_t screen = product.pixels * (size_t)options->channels;
  for (size_t h = 0; product.sums && status == VCS_OK && h < (size_t)product.horizons; h++) {
    const double *sums = product.sums + h * slots(&product);
    for (size_t i = 0; outputs->pixels && i < screen; i++) outputs->pixels[h * screen + i] += (float)sums[i];
    for (size_t i = 0; outputs->ram && i < RAM_BITS; i++) outputs->ram[h * RAM_BITS + i] += (float)sums[screen + i];
    if (outputs->score) outputs->score[h] += (float)sums[screen + RAM_BITS];
    if (outputs->lives) outputs->lives[h] += (float)sums[screen + RAM_BITS + 1];
  }
  free(product.sums);
  free_lists(&gather, count);
  return status;
}

vcs_status_t vcs_jacobian_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                              size_t count, const float *tangents, const vcs_jacobian_outputs_t *outputs,
                              vcs_error_t *error) {
  if (!tangents) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a product needs a tangent for each place");
  return multiply(run, options, places, count, tangents, outputs, NULL, error);
}

vcs_status_t vcs_jacobian_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                              size_t count, const vcs_jacobian_outputs_t *outputs, float *adjoints,
                              vcs_error_t *error) {
  return multiply(run, options, places, count, NULL, outputs, adjoints, error);
}
