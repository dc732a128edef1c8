/* jacobian.c: the exact Jacobian of a run in coordinates, and its products.
 *
 * The thread that walks the flips reports each of them, one horizon after another (watch.h). From these reports come
 *
 *   entries   a list for each flip of the outputs that it changes; the lists are joined in the order of the flips
 *   J v       a sum over the same lists in that order, so that rounding does not depend on the threads
 *   w J       a sum for each flip of its changes times the adjoints, without a list
 *
 * Some bytes of a machine have no influence on any output, and may stay different after a flip has rejoined the run:
 * counters, sound, the byte left on the bus, the clocks of past HMOVEs. They are not outputs.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/jacobian.h"
#include "grad/watch.h"
#include "host/files.h"
#include "host/options.h"
#include "host/progress.h"

enum { RAM_BYTES = 128, RAM_BITS = 1024, ALL_OUTPUTS = 63 };

/* ---- Bytes of the machine that are outputs ---------------------------------------------------------------------- */

/* Marks each byte of a machine: VCS_OF_STATE, and VCS_OF_CPU. */
enum { VCS_MACHINE_BYTES = sizeof(vcs_t) };

static void mark_outputs(uint8_t *outputs, size_t size) {
  memset(outputs, VCS_OF_STATE, size);
#define HIDE(field) memset(outputs + offsetof(vcs_t, field), 0, sizeof((vcs_t *)0)->field)
  HIDE(frames), HIDE(instructions), HIDE(rng_draws), HIDE(scanlines), HIDE(bus), HIDE(audio), HIDE(audio_divider);
  HIDE(audio_five), HIDE(audio_four), HIDE(timer_read_cycle), HIDE(blank_clock), HIDE(blank_first);
#undef HIDE
#define MARK(field) memset(outputs + offsetof(vcs_t, field), VCS_OF_STATE | VCS_OF_CPU, sizeof((vcs_t *)0)->field)
  MARK(pc), MARK(a), MARK(x), MARK(y), MARK(sp), MARK(p);
#undef MARK
}

/* ---- What flips change ------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_jacobian_entry_t *entries;
  size_t count, capacity;
} list_t;

typedef struct {
  uint32_t of;       /* the outputs that are wanted: VCS_OF_... */
  size_t rows;       /* rows of a picture */
  uint8_t *outputs;  /* by byte of the machine: mark_outputs */
  size_t state_size; /* bytes of a machine */
  list_t *lists;     /* by flip; NULL for a VJP, which needs no lists but the following */
  double *sums;      /* by flip: its changes times the adjoints */
  uint8_t *counts;   /* horizons x rows: 0: all adjoints of the picture's row are zero; NULL: unknown */
  const vcs_jacobian_rows_t *adjoints; /* of the outputs */
  const float *values;                 /* 256 x channels: what a pixel is worth, by palette index */
  size_t channels;                     /* numbers of a pixel */
  atomic_bool failed;                  /* memory ran out; set by any thread */
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

/* Returns the changes of a byte's bits times their adjoints. */
static double bits_times(const float *adjoints, int base, int flipped) {
  double sum = 0;
  for (unsigned bits = (unsigned)(base ^ flipped); bits; bits &= bits - 1) {
    const int bit = VCS_LOWEST(bits);
    sum += (double)adjoints[bit] * (flipped >> bit & 1 ? 1 : -1);
  }
  return sum;
}

/* Returns the change of a pixel times its adjoints. */
static double pixel_times(const gather_t *gather, const float *adjoints, int base, int flipped) {
  const size_t channels = gather->channels;
  double sum = 0;
  for (size_t c = 0; c < channels; c++) {
    sum += (double)adjoints[c] * ((double)gather->values[(size_t)flipped * channels + c] -
                                  (double)gather->values[(size_t)base * channels + c]);
  }
  return sum;
}

/* Records an output that differs: as an entry of the flip's list, or as a term of its sum. */
static void found(gather_t *gather, size_t flip, int h, uint32_t of, size_t index, int32_t base, int32_t flipped) {
  const vcs_jacobian_rows_t *a = gather->adjoints;
  if (gather->lists) {
    add(gather, flip, h, of, index, base, flipped);
    return;
  }
  switch (of) {
    case VCS_OF_SCREEN:
      gather->sums[flip] += pixel_times(gather, a->pixels[h] + index * gather->channels, base, flipped);
      break;
    case VCS_OF_RAM:
      gather->sums[flip] += bits_times(a->ram[h] + 8 * index, base, flipped);
      break;
    case VCS_OF_STATE:
      gather->sums[flip] += bits_times(a->state[h] + 8 * index, base, flipped);
      break;
    default:
      gather->sums[flip] += (double)(of == VCS_OF_SCORE ? a->score : a->lives)[h] * ((double)flipped - base);
      break;
  }
}

/* Whether an output is wanted at a horizon. */
static bool wanted(const gather_t *gather, int horizon, uint32_t of) {
  const vcs_jacobian_rows_t *a = gather->adjoints;
  if (!(gather->of & of)) return false;
  if (gather->lists) return true;
  return of == VCS_OF_SCREEN ? a->pixels[horizon] != NULL
         : of == VCS_OF_RAM  ? a->ram[horizon] != NULL
                             : a->state[horizon] != NULL;
}

static void find_bytes(gather_t *gather, size_t flip, int horizon, uint32_t of, size_t first, size_t count,
                       const uint8_t *base, const uint8_t *flipped) {
  if (base == flipped || memcmp(base, flipped, count) == 0) return;
  for (size_t i = 0; i < count; i++) {
    if (base[i] != flipped[i]) found(gather, flip, horizon, of, first + i, base[i], flipped[i]);
  }
}

static void find_state(gather_t *gather, size_t flip, int horizon, uint32_t of, const vcs_sight_t *sight,
                       const vcs_sight_t *base) {
  const uint8_t *one = (const uint8_t *)sight->state, *other = (const uint8_t *)base->state;
  if (one == other) return;
  for (size_t i = 0; i < gather->state_size; i++) {
    if (one[i] != other[i] && gather->outputs[i] & of) found(gather, flip, horizon, of, i, other[i], one[i]);
  }
}

static void see(void *context, size_t flip, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base) {
  gather_t *gather = context;
  const uint8_t *counts = gather->counts ? gather->counts + (size_t)horizon * gather->rows : NULL;
  if (wanted(gather, horizon, VCS_OF_SCREEN) && sight->picture != base->picture) {
    for (size_t row = 0; row < gather->rows; row++) {
      if ((sight->lines && !sight->lines[row]) || (counts && !counts[row])) continue;
      find_bytes(gather, flip, horizon, VCS_OF_SCREEN, row * VCS_WIDTH, VCS_WIDTH, base->picture + row * VCS_WIDTH,
                 sight->picture + row * VCS_WIDTH);
    }
  }
  if (wanted(gather, horizon, VCS_OF_RAM)) {
    find_bytes(gather, flip, horizon, VCS_OF_RAM, 0, RAM_BYTES, base->ram, sight->ram);
  }
  if (gather->of & VCS_OF_SCORE && sight->score != base->score) {
    found(gather, flip, horizon, VCS_OF_SCORE, 0, base->score, sight->score);
  }
  if (gather->of & VCS_OF_LIVES && sight->lives != base->lives) {
    found(gather, flip, horizon, VCS_OF_LIVES, 0, base->lives, sight->lives);
  }
  if (wanted(gather, horizon, VCS_OF_STATE)) find_state(gather, flip, horizon, VCS_OF_STATE, sight, base);
  if (gather->of & VCS_OF_CPU) find_state(gather, flip, horizon, VCS_OF_CPU, sight, base);
}

static void free_gather(gather_t *gather, size_t count) {
  for (size_t i = 0; gather->lists && i < count; i++) free(gather->lists[i].entries);
  free(gather->lists);
  free(gather->outputs);
  free(gather->counts);
}

/* Marks the rows of pictures that have adjoints. False: no memory. */
static bool mark_rows(gather_t *gather) {
  const vcs_jacobian_rows_t *a = gather->adjoints;
  const size_t rows = gather->rows, width = VCS_WIDTH * gather->channels;
  gather->counts = calloc((size_t)a->horizons * rows + 1, 1);
  for (size_t i = 0; gather->counts && i < (size_t)a->horizons * rows; i++) {
    const float *adjoints = a->pixels[i / rows];
    for (size_t k = 0; adjoints && k < width && !gather->counts[i]; k++) {
      gather->counts[i] = adjoints[i % rows * width + k] != 0;
    }
  }
  return gather->counts;
}

/* Walks all flips. gather->sums is set for sums, or NULL for lists, which are made here. */
static vcs_status_t gather_all(gather_t *gather, const vcs_run_t *run, const vcs_jacobian_options_t *options,
                               uint32_t of, const vcs_place_t *places, const size_t *ends, size_t count,
                               uint8_t *outcomes, vcs_work_t *work, vcs_error_t *error) {
  const vcs_truth_options_t truth = {.horizons = options->horizons,
                                     .horizon_count = options->horizon_count,
                                     .env = options->env,
                                     .threads = options->threads,
                                     .stop_when_over = options->stop_when_over,
                                     .progress = options->progress,
                                     .progress_context = options->progress_context,
                                     .engine = options->engine};
  const vcs_truth_watch_t watch = {.see = see,
                                   .context = gather,
                                   .outcomes = outcomes,
                                   .pictures = of & VCS_OF_SCREEN,
                                   .states = of & (VCS_OF_STATE | VCS_OF_CPU),
                                   .work = work};
  vcs_status_t status = vcs_reserved_check(options->reserved, "vcs_jacobian_options_t", error);
  if (status) return status;
  if (!of || of > ALL_OUTPUTS) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%u is no set of outputs: add up VCS_OF_SCREEN, ...", (unsigned)of);
  }
  if (of & (VCS_OF_SCORE | VCS_OF_LIVES) && !options->env) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "score and lives need an environment: set options.env");
  }
  if (!run || !run->cart) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a run needs a cartridge");
  gather->of = of;
  gather->rows = (size_t)run->cart->frame_height;
  gather->state_size = vcs_state_size(run->cart);
  gather->outputs = malloc(VCS_MACHINE_BYTES);
  if (!gather->sums) gather->lists = calloc(count ? count : 1, sizeof *gather->lists);
  const bool marked = !gather->sums || !gather->adjoints->pixels || mark_rows(gather);
  if (!gather->outputs || !marked || (!gather->sums && !gather->lists)) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for %zu flips", count);
  }
  mark_outputs(gather->outputs, VCS_MACHINE_BYTES);
  status = vcs_truth_watch(run, &truth, places, ends, count, &watch, error);
  if (status == VCS_OK && gather->failed) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for what %zu flips change", count);
  }
  if (status == VCS_OK && vcs_interrupted()) status = vcs_error_fill(error, VCS_CANCELLED, "interrupted");
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
  vcs_status_t status = gather_all(&gather, run, options, options->of, places, ends, set_count, outcomes, NULL, error);
  for (size_t i = 0; status == VCS_OK && i < set_count; i++) {
    const list_t *list = &gather.lists[i];
    const size_t room = needed < capacity ? capacity - needed : 0, fit = list->count < room ? list->count : room;
    if (fit) memcpy(entries + needed, list->entries, fit * sizeof *entries);
    needed += list->count;
  }
  free_gather(&gather, set_count);
  *count = needed;
  if (status == VCS_OK && needed > capacity) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%zu entries do not fit into %zu: ask again with room for them",
                          needed, capacity);
  }
  return status;
}

/* ---- Products --------------------------------------------------------------------------------------------------- */

static uint32_t outputs_of(const vcs_jacobian_rows_t *rows) {
  return (rows->pixels ? VCS_OF_SCREEN : 0u) | (rows->ram ? VCS_OF_RAM : 0u) | (rows->score ? VCS_OF_SCORE : 0u) |
         (rows->lives ? VCS_OF_LIVES : 0u) | (rows->state ? VCS_OF_STATE : 0u);
}

static vcs_status_t check_product(const vcs_jacobian_options_t *options, const vcs_jacobian_rows_t *rows,
                                  vcs_error_t *error) {
  if (!rows->pixels || (options->values && options->channels >= 1)) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "pixels need what a pixel is worth: options.values");
}

vcs_status_t vcs_jacobian_rows_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                   const vcs_place_t *places, size_t count, const vcs_jacobian_rows_t *rows,
                                   float *adjoints, vcs_work_t *work, vcs_error_t *error) {
  gather_t gather = {.adjoints = rows, .values = options->values, .channels = (size_t)options->channels};
  vcs_status_t status = check_product(options, rows, error);
  if (status) return status;
  gather.sums = calloc(count ? count : 1, sizeof *gather.sums);
  if (!gather.sums) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for %zu flips", count);
  status = gather_all(&gather, run, options, outputs_of(rows), places, NULL, count, NULL, work, error);
  for (size_t i = 0; status == VCS_OK && i < count; i++) {
    adjoints[i] += (float)(vcs_place_bit(run, &places[i]) ? -gather.sums[i] : gather.sums[i]);
  }
  free(gather.sums);
  free_gather(&gather, count);
  return status;
}

/* Sums of one horizon, in double precision. */
typedef struct {
  double *pixels, *ram, *state, score, lives;
  size_t pixel_count, state_count;
} sums_t;

static void add_bits(double *sums, const vcs_jacobian_entry_t *e, double scale) {
  for (uint32_t bit = 0; bit < 8; bit++) {
    sums[8 * (size_t)e->index + bit] += scale * ((e->flipped >> bit & 1) - (e->base >> bit & 1));
  }
}

static void add_entry(const vcs_jacobian_options_t *options, const vcs_jacobian_entry_t *e, double scale,
                      sums_t *sums) {
  const size_t channels = (size_t)options->channels;
  switch (e->of) {
    case VCS_OF_SCREEN:
      for (size_t c = 0; c < channels; c++) {
        sums->pixels[e->index * channels + c] += scale * ((double)options->values[(size_t)e->flipped * channels + c] -
                                                          (double)options->values[(size_t)e->base * channels + c]);
      }
      break;
    case VCS_OF_RAM:
      add_bits(sums->ram, e, scale);
      break;
    case VCS_OF_STATE:
      add_bits(sums->state, e, scale);
      break;
    case VCS_OF_SCORE:
      sums->score += scale * ((double)e->flipped - e->base);
      break;
    default:
      sums->lives += scale * ((double)e->flipped - e->base);
      break;
  }
}

static void clear_sums(sums_t *sums) {
  memset(sums->pixels, 0, sums->pixel_count * sizeof(double));
  memset(sums->ram, 0, RAM_BITS * sizeof(double));
  memset(sums->state, 0, sums->state_count * sizeof(double));
  sums->score = sums->lives = 0;
}

static void add_floats(const double *sums, float *const *rows, int horizon, size_t count) {
  float *to = rows ? rows[horizon] : NULL;
  for (size_t i = 0; to && i < count; i++) to[i] += (float)sums[i];
}

vcs_status_t vcs_jacobian_rows_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                                   const vcs_place_t *places, size_t count, const float *tangents,
                                   const vcs_jacobian_rows_t *rows, vcs_work_t *work, vcs_error_t *error) {
  gather_t gather = {0};
  vcs_status_t status = check_product(options, rows, error);
  if (status == VCS_OK) {
    status = gather_all(&gather, run, options, outputs_of(rows), places, NULL, count, NULL, work, error);
  }
  sums_t sums = {.pixel_count = gather.rows * VCS_WIDTH * (size_t)(rows->pixels ? options->channels : 1),
                 .state_count = 8 * gather.state_size};
  size_t *at = calloc(count + 1, sizeof *at); /* by flip: the next entry of its list */
  sums.pixels = malloc((sums.pixel_count + 1) * sizeof(double));
  sums.ram = malloc(RAM_BITS * sizeof(double));
  sums.state = malloc((sums.state_count + 1) * sizeof(double));
  const bool room = sums.pixels && sums.ram && sums.state && at;
  if (status == VCS_OK && !room) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for a product");
  for (int h = 0; room && status == VCS_OK && h < rows->horizons; h++) {
    clear_sums(&sums);
    for (size_t i = 0; i < count; i++) {
      const list_t *list = &gather.lists[i];
      const double scale = vcs_place_bit(run, &places[i]) ? -(double)tangents[i] : (double)tangents[i];
      for (; at[i] < list->count && list->entries[at[i]].horizon == h; at[i]++) {
        add_entry(options, &list->entries[at[i]], scale, &sums);
      }
    }
    add_floats(sums.pixels, rows->pixels, h, sums.pixel_count);
    add_floats(sums.ram, rows->ram, h, RAM_BITS);
    add_floats(sums.state, rows->state, h, sums.state_count);
    if (rows->score) rows->score[h] += (float)sums.score;
    if (rows->lives) rows->lives[h] += (float)sums.lives;
  }
  free(sums.pixels);
  free(sums.ram);
  free(sums.state);
  free(at);
  free_gather(&gather, count);
  return status;
}

/* Makes rows of the caller's outputs, which are contiguous arrays. The caller frees *pointers. */
static vcs_status_t make_rows(const vcs_run_t *run, const vcs_jacobian_options_t *options,
                              const vcs_jacobian_outputs_t *outputs, float ***pointers, vcs_jacobian_rows_t *rows,
                              vcs_error_t *error) {
  *pointers = NULL;
  if (error) error->message[0] = 0;
  if (!options || !outputs) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a product needs options, outputs and a number for each place");
  }
  if (!run || !run->cart) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a run needs a cartridge");
  const size_t horizons = !options->horizons ? 1 : options->horizon_count > 0 ? (size_t)options->horizon_count : 0;
  const size_t pixels = (size_t)run->cart->frame_height * VCS_WIDTH * (size_t)options->channels;
  float **made = calloc(3 * horizons + 1, sizeof *made); /* NOLINT(bugprone-sizeof-expression): pointers */
  if (!made) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for a product");
  for (size_t h = 0; h < horizons; h++) {
    if (outputs->pixels) made[h] = outputs->pixels + h * pixels;
    if (outputs->ram) made[horizons + h] = outputs->ram + h * RAM_BITS;
    if (outputs->state) made[2 * horizons + h] = outputs->state + h * 8 * vcs_state_size(run->cart);
  }
  *pointers = made;
  *rows = (vcs_jacobian_rows_t){.horizons = (int32_t)horizons,
                                .pixels = outputs->pixels ? made : NULL,
                                .ram = outputs->ram ? made + horizons : NULL,
                                .state = outputs->state ? made + 2 * horizons : NULL,
                                .score = outputs->score,
                                .lives = outputs->lives};
  return VCS_OK;
}

vcs_status_t vcs_jacobian_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                              size_t count, const float *tangents, const vcs_jacobian_outputs_t *outputs,
                              vcs_error_t *error) {
  vcs_jacobian_rows_t rows = {0};
  float **pointers;
  if (!tangents) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a product needs a tangent for each place");
  vcs_status_t status = make_rows(run, options, outputs, &pointers, &rows, error);
  if (status == VCS_OK) status = vcs_jacobian_rows_jvp(run, options, places, count, tangents, &rows, NULL, error);
  free(pointers);
  return status;
}

vcs_status_t vcs_jacobian_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places,
                              size_t count, const vcs_jacobian_outputs_t *outputs, float *adjoints,
                              vcs_error_t *error) {
  vcs_jacobian_rows_t rows = {0};
  float **pointers;
  if (!adjoints) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a product needs an adjoint for each place");
  vcs_status_t status = make_rows(run, options, outputs, &pointers, &rows, error);
  if (status == VCS_OK) status = vcs_jacobian_rows_vjp(run, options, places, count, &rows, adjoints, NULL, error);
  free(pointers);
  return status;
}
