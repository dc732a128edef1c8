/* edit.c: from a drawing to the bytes of ROM that make a run show it (study.h).
 *
 * The frames of a run are executed again and again on an image that changes. The loss is the number of wrong pixels in
 * a region of the last picture, and, if the caller wants that, a weight for each pixel outside of it that is not as it
 * was, in the pictures of all frames. One walk over the run says by how much flipping each bit of ROM changes the loss;
 * an estimate, if a method is named, is one reverse pass from 1/2 sum (shown - wanted)^2. The bits whose flip lowers it
 * are flipped: all of them, or the better half, or the better half of these, until re-execution shows a smaller loss
 * than before. Where no bit helps, more bits together may:
 *
 *   values   all 255 other values of each byte: the best value of each is a flip like the others
 *   pairs    each value that puts a wrong pixel right, with all other values of each other byte that reaches the region
 *
 * Only bytes that the run reads as data are changed, and, with `code`, operands of immediate instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/rerun.h"
#include "grad/watch.h"
#include "host/env.h"
#include "host/palette.h"
#include "study/internal.h"

enum {
  ESTIMATE = 20, /* frames charged for a reverse pass over one frame; `bit+fork` costs 23 (docs/benchmarks.md) */
  VALUES = 255   /* of a byte, other than its own */
};

/* Bits of a byte of the image, and by how much their flip changes the loss, or is predicted to. */
typedef struct {
  uint32_t offset;
  uint8_t mask;
  bool reaches, mends; /* by the exact effect: changes a pixel of the region, and puts one right */
  double change;
} candidate_t;

typedef struct {
  const vcs_edit_options_t *options;
  const vcs_cart_t *original;
  int method;
  vcs_cart_t cart;         /* the original with an image of its own */
  uint8_t *rom;            /* that image */
  vcs_run_t run;           /* on that cartridge */
  vcs_rom_use_t *uses;     /* of the original image */
  vcs_rom_use_t *uses_now; /* of the image as it is now */
  float scale[768];
  uint8_t *wanted; /* [height * width] of the region, palette indices */
  uint8_t *first;  /* the picture as it was */
  uint8_t *frames, *picture;
  vcs_t *machine;
  float *slots, *pixels, **pixels_by_frame;
  candidate_t *candidates;
  uint32_t candidate_count;
  uint8_t *reaches;                 /* by byte of the image: one of its flips changed a pixel of the region */
  uint8_t *originals;               /* with `keep`: the picture of each frame as it was */
  int wrong_before, wrong, changed; /* pixels: of the region, and outside of it */
  double loss;
  int walks, runs;
  int64_t emulated;          /* frames */
  int64_t pairs, pairs_left; /* values that were tried with all other bytes, and at the end were not; -1: not known */
} job_t;

static size_t picture_bytes(const job_t *job) { return (size_t)VCS_WIDTH * (size_t)job->cart.frame_height; }

static size_t pixel_at(const vcs_edit_options_t *o, int i) {
  return (size_t)VCS_WIDTH * (size_t)(o->y + i / o->width) + (size_t)(o->x + i % o->width);
}

/* ---- The drawing --------------------------------------------------------------------------------------------- */

/* The two colours of a drawing: the commonest of the region, and the brightest. */
static vcs_status_t choose_colours(const job_t *job, uint8_t *dark, uint8_t *lit, vcs_error_t *error) {
  const vcs_edit_options_t *o = job->options;
  int counts[256] = {0};
  *dark = *lit = job->first[pixel_at(o, 0)];
  for (int i = 0; i < o->width * o->height; i++) {
    const uint8_t colour = job->first[pixel_at(o, i)];
    if (++counts[colour] > counts[*dark]) *dark = colour;
    if (job->scale[colour] > job->scale[*lit]) *lit = colour;
  }
  for (int i = 0; i < 256; i++) {
    if (counts[i] > counts[*dark]) *dark = (uint8_t)i;
  }
  if (*dark != *lit) return VCS_OK;
  return vcs_error_fill(
      error, VCS_BAD_ARGUMENT,
      "the region's commonest colour is also its brightest: take more background into it, or ask for exact colours");
}

/* The palette index of a colour, one that the region shows if there are several; -1: there is none. */
static int index_of(const job_t *job, uint32_t rgb) {
  const vcs_edit_options_t *o = job->options;
  const uint32_t *palette = vcs_palette(vcs_cart_info(job->original)->format);
  for (int i = 0; i < o->width * o->height; i++) {
    if (palette[job->first[pixel_at(o, i)]] == rgb) return job->first[pixel_at(o, i)];
  }
  for (int i = 0; i < 256; i++) {
    if (palette[i] == rgb) return i;
  }
  return -1;
}

/* Turns the drawing into palette indices. */
static vcs_status_t read_drawing(job_t *job, vcs_error_t *error) {
  const vcs_edit_options_t *o = job->options;
  const uint8_t *rgb = o->drawing;
  uint8_t dark = 0, lit = 0;
  vcs_status_t status = VCS_OK;
  if (!o->exact) status = choose_colours(job, &dark, &lit, error);
  for (int i = 0; i < o->width * o->height && status == VCS_OK; i++) {
    const unsigned red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
    if (!o->exact) {
      job->wanted[i] = 299 * red + 587 * green + 114 * blue > 1000 * 255 / 2 ? lit : dark;
      continue;
    }
    const int index = index_of(job, red << 16 | green << 8 | blue);
    if (index < 0) {
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "the palette has no colour %02X%02X%02X (column %d, row %d)",
                              red, green, blue, i % o->width, i / o->width);
    }
    job->wanted[i] = (uint8_t)index;
  }
  return status;
}

/* ---- Re-execution ------------------------------------------------------------------------------------------------ */

static int wrong_pixels(const job_t *job, const uint8_t *picture) {
  int wrong = 0;
  for (int i = 0; i < job->options->width * job->options->height; i++) {
    wrong += picture[pixel_at(job->options, i)] != job->wanted[i];
  }
  return wrong;
}

static bool is_inside(const vcs_edit_options_t *o, size_t pixel) {
  const int x = (int)(pixel % VCS_WIDTH) - o->x, y = (int)(pixel / VCS_WIDTH) - o->y;
  return x >= 0 && y >= 0 && x < o->width && y < o->height;
}

/* Pixels outside the region that a frame does not show as it did. */
static int changed_pixels(const job_t *job, int frame, const uint8_t *picture) {
  const uint8_t *original = job->originals + (size_t)frame * picture_bytes(job);
  int changed = 0;
  if (memcmp(original, picture, picture_bytes(job)) == 0) return 0;
  for (size_t i = 0; i < picture_bytes(job); i++) changed += picture[i] != original[i] && !is_inside(job->options, i);
  return changed;
}

/* Runs the frames on the image as it is now, and keeps the last picture. The first time the originals are kept. */
static void look(job_t *job) {
  const vcs_run_t *run = &job->run;
  memcpy(job->machine, run->start, vcs_state_size(run->cart));
  if (run->picture) {
    memcpy(job->frames, run->picture, 2 * VCS_FRAME_BYTES);
  } else { /* rows that the beam does not reach are not those of the image tried before */
    memset(job->frames, 0, 2 * VCS_FRAME_BYTES);
  }
  job->changed = 0;
  for (int f = 0; f < run->frames; f++) {
    vcs_control(run->cart, job->machine, &run->controls[f]);
    vcs_frame(run->cart, job->machine, job->frames);
    if (!job->originals) continue;
    const uint8_t *picture = vcs_picture(job->machine, job->frames);
    if (!job->runs) memcpy(job->originals + (size_t)f * picture_bytes(job), picture, picture_bytes(job));
    job->changed += changed_pixels(job, f, picture);
  }
  memcpy(job->picture, vcs_picture(job->machine, job->frames), picture_bytes(job));
  job->runs++;
  job->emulated += run->frames;
}

/* ---- Descending --------------------------------------------------------------------------------------------- */

static int by_change(const void *a, const void *b) {
  const candidate_t *x = a, *y = b;
  if (x->change != y->change) return x->change < y->change ? -1 : 1;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  return (x->mask > y->mask) - (x->mask < y->mask);
}

/* What the walk over some flips sees. */
typedef struct {
  const job_t *job;
  candidate_t *flips;
  int last; /* the last horizon */
} seen_t;

/* Adds up by how much the pixels that a flip changes change the loss. */
static void see(void *context, size_t item, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base) {
  const seen_t *seen = context;
  const job_t *job = seen->job;
  const vcs_edit_options_t *o = job->options;
  candidate_t *flip = &seen->flips[item];
  const bool everywhere = o->keep > 0;
  if (sight->picture == base->picture) return;
  for (int row = everywhere ? 0 : o->y; row < (everywhere ? job->cart.frame_height : o->y + o->height); row++) {
    if (sight->lines && !sight->lines[row]) continue;
    const size_t first = (size_t)row * VCS_WIDTH;
    for (int x = everywhere ? 0 : o->x; x < (everywhere ? VCS_WIDTH : o->x + o->width); x++) {
      const size_t pixel = first + (size_t)x;
      const uint8_t before = base->picture[pixel], after = sight->picture[pixel];
      const bool inside = is_inside(o, pixel);
      if (before == after || (inside && horizon != seen->last)) continue;
      const uint8_t wanted = inside ? job->wanted[(row - o->y) * o->width + x - o->x]
                                    : job->originals[(size_t)horizon * picture_bytes(job) + pixel];
      flip->change += (inside ? 1 : o->keep) * ((after != wanted) - (before != wanted));
      flip->reaches |= inside;
      flip->mends |= inside && after == wanted;
    }
  }
}

/* The exact change of the loss for each of some flips. */
static vcs_status_t measure(job_t *job, candidate_t *flips, size_t count, vcs_error_t *error) {
  if (!count) return VCS_OK;
  const int32_t last = job->options->keep > 0 ? job->run.frames - 1 : 0; /* every frame counts, or the last */
  int32_t *horizons = malloc((size_t)job->run.frames * sizeof *horizons);
  const vcs_truth_options_t options = {.horizons = horizons, .horizon_count = last + 1};
  seen_t seen = {job, flips, last};
  const vcs_truth_watch_t watch = {.see = see, .context = &seen, .pictures = true};
  vcs_place_t *places = malloc(8 * count * sizeof *places);
  size_t *ends = malloc(count * sizeof *ends), place_count = 0;
  vcs_status_t status = places && ends && horizons ? VCS_OK : vcs_no_memory(error);
  for (int32_t h = 0; horizons && h <= last; h++) horizons[h] = job->run.frames - last + h;
  for (size_t i = 0; status == VCS_OK && i < count; i++) {
    for (uint8_t bit = 0; bit < 8; bit++) {
      if (flips[i].mask >> bit & 1) places[place_count++] = (vcs_place_t){VCS_PLACE_ROM, bit, 0, flips[i].offset};
    }
    ends[i] = place_count;
  }
  if (status == VCS_OK) status = vcs_truth_watch(&job->run, &options, places, ends, count, &watch, error);
  for (size_t i = 0; status == VCS_OK && i < count; i++) job->reaches[flips[i].offset] |= flips[i].reaches;
  job->emulated += (int64_t)count * job->run.frames;
  free(horizons);
  free(places);
  free(ends);
  return status;
}

/* Whether a byte may be changed: the run reads it as data, or, with `code`, as the operand of an immediate instruction.
 */
static bool is_open(const job_t *job, uint32_t offset) {
  const vcs_rom_use_t *use = &job->uses_now[offset];
  return use->kind == VCS_ROM_DATA ||
         (job->options->code && use->kind == VCS_ROM_OPERAND && strchr(use->text, '#') != NULL);
}

/* Every bit of the bytes that may be changed. */
static vcs_status_t list_bits(job_t *job, vcs_error_t *error) {
  const vcs_status_t status = vcs_rom_uses(&job->run, job->uses_now, error);
  for (uint32_t bit = 0; status == VCS_OK && bit < 8 * job->cart.rom_size; bit++) {
    if (!is_open(job, bit / 8)) continue;
    job->candidates[job->candidate_count++] = (candidate_t){.offset = bit / 8, .mask = (uint8_t)(1 << bit % 8)};
  }
  return status;
}

/* ... by its exact effect. */
static vcs_status_t find_bits(job_t *job, vcs_error_t *error) {
  const vcs_status_t status = list_bits(job, error);
  return status ? status : measure(job, job->candidates, job->candidate_count, error);
}

/* All other values of each byte that may be changed, or only of those that have reached the region, by their exact
 * effects: 255 after another. To be freed. */
static vcs_status_t measure_values(job_t *job, bool reaching, candidate_t **values, size_t *count, vcs_error_t *error) {
  size_t bytes = 0;
  *count = 0;
  for (uint32_t i = 0; i < job->cart.rom_size; i++) bytes += is_open(job, i) && (!reaching || job->reaches[i]);
  *values = malloc((bytes * VALUES + 1) * sizeof **values);
  if (!*values) return vcs_no_memory(error);
  for (uint32_t i = 0; i < job->cart.rom_size; i++) {
    if (!is_open(job, i) || (reaching && !job->reaches[i])) continue;
    for (int mask = 1; mask <= VALUES; mask++) {
      (*values)[(*count)++] = (candidate_t){.offset = i, .mask = (uint8_t)mask};
    }
  }
  return measure(job, *values, *count, error);
}

/* The best other value of each byte. */
static vcs_status_t find_values(job_t *job, vcs_error_t *error) {
  candidate_t *values = NULL;
  size_t count;
  const vcs_status_t status = measure_values(job, false, &values, &count, error);
  for (size_t i = 0; status == VCS_OK && i < count; i += VALUES) {
    const candidate_t *best = &values[i];
    for (size_t k = i + 1; k < i + VALUES; k++) best = values[k].change < best->change ? &values[k] : best;
    job->candidates[job->candidate_count++] = *best;
  }
  free(values);
  return status;
}

/* Every bit, by an estimate. */
static vcs_status_t find_estimates(job_t *job, vcs_error_t *error) {
  const vcs_edit_options_t *o = job->options;
  vcs_grad_options_t options;
  vcs_study_method_options(job->method, (int32_t)o->window, &options);
  options.scale = job->scale;
  memset(job->slots, 0, (size_t)8 * job->cart.rom_size * sizeof(float));
  memset(job->pixels, 0, VCS_FRAME_BYTES * sizeof(float));
  for (int i = 0; i < o->width * o->height; i++) {
    const size_t at = pixel_at(o, i);
    job->pixels[at] = job->scale[job->picture[at]] - job->scale[job->wanted[i]];
  }
  job->pixels_by_frame[job->run.frames - 1] = job->pixels;
  const vcs_grad_inputs_t inputs = {.rom = job->slots};
  const vcs_grad_outputs_t outputs = {.pixels = job->pixels_by_frame};
  job->emulated += ESTIMATE * job->run.frames;
  vcs_status_t status = list_bits(job, error);
  if (status == VCS_OK) status = vcs_grad_vjp(&job->run, &options, &inputs, &outputs, NULL, error);
  for (uint32_t i = 0; i < job->candidate_count; i++) {
    candidate_t *c = &job->candidates[i];
    const float slope = job->slots[8 * c->offset + (uint32_t)VCS_LOWEST(c->mask)];
    c->change = job->rom[c->offset] & c->mask ? -slope : slope;
  }
  return status;
}

/* Lists the flips that help, or are predicted to, the best first. */
typedef vcs_status_t find_t(job_t *job, vcs_error_t *error);
static vcs_status_t find_candidates(job_t *job, find_t *find, vcs_error_t *error) {
  job->candidate_count = 0;
  const vcs_status_t status = find(job, error);
  const uint32_t count = job->candidate_count;
  job->candidate_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (job->candidates[i].change < 0) job->candidates[job->candidate_count++] = job->candidates[i];
  }
  qsort(job->candidates, job->candidate_count, sizeof *job->candidates, by_change);
  job->walks++;
  return status;
}

static void flip(job_t *job, uint32_t from, uint32_t count) {
  for (uint32_t i = from; i < from + count; i++) job->rom[job->candidates[i].offset] ^= job->candidates[i].mask;
}

/* Flips candidates, and flips them back unless fewer pixels are wrong then. */
static bool try_flips(job_t *job, uint32_t from, uint32_t count) {
  flip(job, from, count);
  look(job);
  const int wrong = wrong_pixels(job, job->picture);
  const double loss = wrong + job->options->keep * job->changed;
  if (loss < job->loss) {
    job->wrong = wrong;
    job->loss = loss;
    return true;
  }
  flip(job, from, count);
  return false;
}

/* Whether the budget is not spent. */
static bool affordable(const job_t *job) { return !job->options->budget || job->emulated < job->options->budget; }

/* Tries all candidates, the better half of them, the better half of these; then each one by itself. */
static bool step(job_t *job, vcs_steps_t *steps) {
  for (uint32_t count = job->candidate_count; count; count /= 2) {
    if (try_flips(job, 0, count)) return true;
  }
  for (uint32_t i = 1; i < job->candidate_count && !vcs_steps_stopped(steps) && affordable(job); i++) {
    if (try_flips(job, i, 1)) return true;
  }
  return false;
}

/* The best second value for a first one that is flipped already: the pair is accepted if both together help. */
static vcs_status_t find_second(job_t *job, const candidate_t *first, bool *found, vcs_error_t *error) {
  candidate_t *values = NULL;
  const candidate_t *best = NULL;
  size_t count = 0;
  job->candidate_count = 0;
  vcs_status_t status = find_bits(job, error); /* which bytes reach the region now */
  if (status == VCS_OK) status = measure_values(job, true, &values, &count, error);
  for (size_t i = 0; status == VCS_OK && i < count; i++) {
    if (values[i].offset != first->offset && (!best || values[i].change < best->change)) best = &values[i];
  }
  *found = best && first->change + best->change < 0;
  if (*found) job->candidates[0] = *first, job->candidates[1] = *best;
  free(values);
  return status;
}

/* Two bytes at a time: each value that puts a wrong pixel right, the least harmful first, with all values of all other
 * bytes that reach the region. Takes the first pair that helps. */
static vcs_status_t step_pairs(job_t *job, vcs_steps_t *steps, bool *moved, vcs_error_t *error) {
  candidate_t *values = NULL;
  size_t count = 0, firsts = 0;
  vcs_status_t status = measure_values(job, false, &values, &count, error);
  for (size_t i = 0; i < count; i++) {
    if (values[i].mends) values[firsts++] = values[i];
  }
  qsort(values, firsts, sizeof *values, by_change);
  job->pairs_left = (int64_t)firsts;
  for (size_t i = 0; status == VCS_OK && i < firsts && !*moved && job->pairs < job->options->pairs; i++) {
    if (!affordable(job) || vcs_steps_stopped(steps)) break;
    bool found = false;
    job->rom[values[i].offset] ^= values[i].mask;
    status = find_second(job, &values[i], &found, error);
    job->rom[values[i].offset] ^= values[i].mask;
    job->pairs++;
    job->pairs_left--;
    *moved = found && try_flips(job, 0, 2);
  }
  free(values);
  return status;
}

static vcs_status_t descend(job_t *job, vcs_error_t *error) {
  vcs_steps_t steps;
  vcs_status_t status = VCS_OK;
  bool moved = true;
  vcs_steps_begin(&steps, &job->options->report, "pixels put right", (uint64_t)job->wrong);
  for (int64_t i = 0;
       i < job->options->steps && job->loss > 0 && moved && affordable(job) && !vcs_steps_stopped(&steps); i++) {
    const int wrong = job->wrong;
    const bool exact = job->method == VCS_STUDY_EXACT;
    status = find_candidates(job, exact ? find_bits : find_estimates, error);
    moved = status == VCS_OK && step(job, &steps);
    if (status == VCS_OK && !moved && exact && affordable(job) && !vcs_steps_stopped(&steps)) {
      status = find_candidates(job, find_values, error);
      moved = status == VCS_OK && step(job, &steps);
      if (status == VCS_OK && !moved && job->options->pairs > 0) status = step_pairs(job, &steps, &moved, error);
    }
    if (status) break;
    if (moved) job->pairs_left = -1; /* what was tried was tried on another image */
    if (job->wrong < wrong) vcs_steps_add(&steps, (uint64_t)(wrong - job->wrong));
  }
  if (status == VCS_OK && job->wrong && vcs_steps_stopped(&steps)) status = vcs_cancelled(error);
  vcs_steps_end(&steps);
  look(job); /* the last try may have failed */
  return status;
}

/* ---- Room --------------------------------------------------------------------------------------------------- */

static vcs_status_t prepare(job_t *job, const vcs_run_t *run, vcs_error_t *error) {
  const vcs_edit_options_t *o = job->options;
  const vcs_cart_t *cart = run->cart;
  if (o->x < 0 || o->y < 0 || o->width < 1 || o->height < 1 || o->width > VCS_WIDTH - o->x ||
      o->height > cart->frame_height - o->y) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the region %d,%d,%d,%d is not inside the picture, %d by %d",
                          (int)o->x, (int)o->y, (int)o->width, (int)o->height, VCS_WIDTH, (int)cart->frame_height);
  }
  if (!(o->keep >= 0)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "the weight of the rest of the picture is %g, but cannot be negative", o->keep);
  }
  if (!o->drawing || job->method < 0) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, job->method < 0 ? "there is no such method" : "no drawing is given");
  }
  job->cart = *cart;
  job->rom = malloc(cart->rom_size);
  job->uses = calloc(cart->rom_size, sizeof *job->uses);
  job->uses_now = calloc(cart->rom_size, sizeof *job->uses_now);
  job->reaches = calloc(cart->rom_size, 1);
  job->wanted = malloc((size_t)o->width * (size_t)o->height);
  job->first = malloc(VCS_FRAME_BYTES);
  job->frames = calloc(2, VCS_FRAME_BYTES);
  job->picture = malloc(VCS_FRAME_BYTES);
  job->machine = calloc(1, sizeof(vcs_t));
  job->slots = malloc((size_t)8 * cart->rom_size * sizeof(float));
  job->pixels = malloc(VCS_FRAME_BYTES * sizeof(float));
  job->pixels_by_frame = calloc((size_t)run->frames, sizeof *job->pixels_by_frame);
  job->candidates = malloc((size_t)8 * cart->rom_size * sizeof *job->candidates);
  const size_t pictures = (size_t)run->frames * (size_t)VCS_WIDTH * (size_t)cart->frame_height;
  if (o->keep > 0) job->originals = malloc(pictures);
  if (!job->rom || !job->uses || !job->uses_now || !job->reaches || !job->wanted || !job->first || !job->frames ||
      !job->picture || !job->machine || !job->slots || !job->pixels || !job->pixels_by_frame || !job->candidates ||
      (o->keep > 0 && !job->originals)) {
    return vcs_no_memory(error);
  }
  memcpy(job->rom, cart->rom, cart->rom_size);
  job->cart.rom = job->rom;
  job->cart.code = NULL; /* the decoded program belongs to the unchanged image */
  job->run = *run;
  job->run.cart = &job->cart;
  vcs_pixel_values(cart, VCS_VALUES_LUMINANCE, job->scale);
  look(job);
  memcpy(job->first, job->picture, picture_bytes(job));
  vcs_status_t status = vcs_rom_uses(run, job->uses, error);
  if (status == VCS_OK) status = read_drawing(job, error);
  if (status == VCS_OK) job->loss = job->wrong_before = job->wrong = wrong_pixels(job, job->picture);
  return status;
}

vcs_status_t vcs_edit(const vcs_run_t *run, const vcs_edit_options_t *given, vcs_edit_t *result, vcs_error_t *error) {
  vcs_edit_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_edit_options_t, &o, given, error);
  if (!o.steps) o.steps = 200;
  job_t job = {.options = &o,
               .original = run->cart,
               .method = o.method ? vcs_study_method_by_name(o.method) : VCS_STUDY_EXACT,
               .pairs_left = -1};
  *result = (vcs_edit_t){.image_size = run->cart->rom_size};
  if (status == VCS_OK) status = vcs_run_check(run, NULL, 0, NULL, error);
  if (status == VCS_OK) status = vcs_window_check(o.window, error);
  if (status == VCS_OK) status = prepare(&job, run, error);
  if (status == VCS_OK) status = descend(&job, error);
  result->image = job.rom;
  result->before = job.first;
  result->after = job.picture;
  result->uses = job.uses;
  result->wrong_before = job.wrong_before;
  result->wrong_after = job.wrong;
  result->walks = job.walks;
  result->runs = job.runs;
  result->frames = job.emulated;
  result->changed = job.changed;
  result->pairs = job.pairs;
  result->pairs_left = job.pairs_left;
  free(job.wanted);
  free(job.uses_now);
  free(job.reaches);
  free(job.frames);
  free(job.machine);
  free(job.slots);
  free(job.pixels);
  free(job.pixels_by_frame);
  free(job.candidates);
  free(job.originals);
  return status;
}

void vcs_edit_free(vcs_edit_t *result) {
  free(result->image);
  free(result->before);
  free(result->after);
  free(result->uses);
  *result = (vcs_edit_t){0};
}
