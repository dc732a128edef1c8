/* relax.c: the functions of relax.h: creating, loading and running a relaxed machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/options.h"
#include "host/progress.h"
#include "real.h"

void vcs_relax_defaults(vcs_relax_options_t *options) {
  const vcs_relax_options_t defaults = {.alpha = 6, .temperature = 0.14};
  *options = defaults;
}

/* Whether the machine runs on real numbers. */
static bool is_real(const vcs_relax_t *relax) {
  return relax->options.cast == VCS_CAST_NONE || relax->options.dispatch != VCS_DISPATCH_HARD;
}

static vcs_status_t check_options(const vcs_relax_options_t *o, vcs_error_t *error) {
  vcs_status_t known = vcs_reserved_check(o->reserved, "vcs_relax_options_t", error);
  if (known) return known;
  if (!(o->alpha > 0) || !isfinite((float)o->alpha))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "alpha is %g; a positive number below 3.4e38 is needed", o->alpha);
  if (!((float)o->temperature > 0) || !isfinite((float)o->temperature))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the temperature is %g; a positive number is needed",
                          o->temperature);
  if (o->window < 0)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the window is %d; 0 (the whole array) or more is needed",
                          o->window);
  if (o->cast > VCS_CAST_NONE || o->dispatch > VCS_DISPATCH_DISTANCE || o->bus > VCS_BUS_REDUCED)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no such cast, dispatch or bus");
  return VCS_OK;
}

vcs_status_t vcs_relax_create(const vcs_cart_t *cart, const vcs_relax_options_t *options, vcs_relax_t **relax,
                              vcs_error_t *error) {
  *relax = NULL;
  vcs_status_t status = check_options(options, error);
  if (status) return status;
  int32_t largest = (int32_t)(cart->rom_size > cart->ram_size ? cart->rom_size : cart->ram_size);
  vcs_relax_t *r = calloc(1, sizeof *r);
  if (r) {
    r->cart = cart;
    r->options = *options;
    r->m = calloc(1, vcs_state_size(cart));
  }
  if (!r || !r->m || !vcs_reals_start(r) || !vcs_soften_start(&r->soften, options, largest < 128 ? 128 : largest)) {
    vcs_relax_free(r);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_boot(cart, r->m, NULL);
  vcs_relax_load(r, r->m);
  *relax = r;
  return VCS_OK;
}

void vcs_relax_free(vcs_relax_t *relax) {
  if (!relax) return;
  vcs_soften_free(&relax->soften);
  vcs_reals_free(relax);
  free(relax->m);
  free(relax);
}

void vcs_relax_load(vcs_relax_t *relax, const vcs_t *m) {
  const vcs_relax_report_t nothing = {0};
  memmove(relax->m, m, vcs_state_size(relax->cart));
  relax->report = nothing;
  vcs_reals_load(relax);
  vcs_reals_load_image(relax);
  vcs_beam_forget_pictures(relax->reals);
  memset(relax->reals->frames, 0, 2 * VCS_FRAME_BYTES);
}

void vcs_relax_load_reduced(vcs_relax_t *relax) {
  vcs_boot(relax->cart, relax->m, NULL);
  memset(relax->m->ram, 0, sizeof relax->m->ram);
  relax->m->a = relax->m->x = relax->m->y = 0;
  relax->m->sp = 0xFD;
  relax->m->p = 0x34;
  vcs_relax_load(relax, relax->m);
}

const vcs_t *vcs_relax_machine(const vcs_relax_t *relax) { return relax->m; }

const vcs_relax_report_t *vcs_relax_report(const vcs_relax_t *relax) { return &relax->report; }

void vcs_relax_watch(vcs_relax_t *relax, vcs_relax_watch_t watch, void *context) {
  relax->watch = watch;
  relax->watch_context = context;
}

void vcs_relax_control(vcs_relax_t *relax, const vcs_controls_t *controls) {
  vcs_control(relax->cart, relax->m, controls);
  vcs_reals_load_pins(relax);
}

void vcs_relax_step(vcs_relax_t *relax, uint8_t *frames) {
  if (is_real(relax))
    vcs_real_step(relax, NULL, frames);
  else
    vcs_rounded_step(relax, frames);
}

void vcs_relax_frame(vcs_relax_t *relax, uint8_t *frames) {
  if (relax->options.bus == VCS_BUS_REDUCED) return;
  if (is_real(relax))
    vcs_real_frame(relax, NULL, frames);
  else
    vcs_rounded_frame(relax, frames);
}

double vcs_relax_read(const vcs_relax_t *relax, const uint8_t *cells, int32_t size, int32_t index) {
  return vcs_soften_read(&relax->soften, cells, size, index);
}

double vcs_relax_branch(const vcs_relax_t *relax, uint16_t next, int offset, int taken) {
  return vcs_soften_branch(&relax->soften, next, offset, taken);
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

size_t vcs_relax_state_slots(const vcs_relax_t *relax) { return VCS_SLOT_RAM + relax->reals->state_cells; }

size_t vcs_relax_input_slots(const vcs_relax_t *relax) { return VCS_SLOT_RAM + relax->reals->cell_count; }

static vcs_real_t *number_at(const vcs_relax_t *relax, size_t slot) {
  return slot < VCS_SLOT_RAM ? &relax->reals->reg[slot] : &relax->reals->cells[slot - VCS_SLOT_RAM];
}

/* A machine of integers keeps no numbers, and has the cartridge's image. */
static void load_integers(vcs_relax_t *relax) {
  if (is_real(relax)) return;
  vcs_reals_load(relax);
  vcs_reals_load_image(relax);
}

void vcs_relax_values(vcs_relax_t *relax, double *values) {
  load_integers(relax);
  for (size_t i = 0; i < vcs_relax_input_slots(relax); i++) values[i] = number_at(relax, i)->value;
}

/* The timer and the capacitors may have been set in an earlier frame. */
static double least_of(size_t slot) {
  return slot == VCS_SLOT_TIMER_CYCLE || slot == VCS_SLOT_DUMP_CYCLE ? INT32_MIN : 0;
}

void vcs_relax_set_values(vcs_relax_t *relax, const double *values) {
  const bool rounds = relax->options.cast == VCS_CAST_ROUND;
  for (size_t i = 0; i < vcs_relax_input_slots(relax); i++) {
    const double least = least_of(i), most = vcs_real_most(i);
    const double value = fmin(fmax(values[i], least), most);
    *number_at(relax, i) = vcs_real_constant(rounds ? fmin(nearbyint(value), floor(most)) : value);
  }
  vcs_reals_adopt(relax);
}

/* ---- Derivatives ----------------------------------------------------------------------------------------------- */

/* Makes the inputs the variables 1, 2, ... */
static void start_links(vcs_relax_t *relax, vcs_links_t *links) {
  const size_t inputs = vcs_relax_input_slots(relax);
  load_integers(relax);
  for (size_t i = 0; i < inputs; i++) number_at(relax, i)->variable = (int32_t)i + 1;
  links->variables = (int32_t)inputs;
  vcs_beam_load(relax, links);
}

/* Returns whether it ran them all: it stops when Ctrl-C is pressed. */
static bool run_steps(vcs_relax_t *relax, int32_t steps, vcs_links_t *links) {
  for (int32_t i = 0; i < steps && !links->failed; i++) {
    if (vcs_interrupted()) return false;
    vcs_real_step(relax, links, relax->reals->frames);
  }
  return true;
}

static vcs_real_t *pixels_of(const vcs_relax_t *relax) { return relax->reals->beam.pictures[relax->m->front & 1]; }

/* Numbers stay, and become constants. */
static void forget(vcs_relax_t *relax) {
  vcs_beam_t *beam = &relax->reals->beam;
  for (size_t i = 0; i < vcs_relax_input_slots(relax); i++) number_at(relax, i)->variable = 0;
  for (int i = 0; i < 2 * VCS_FRAME_BYTES; i++) beam->pictures[0][i].variable = 0;
  vcs_beam_load(relax, NULL);
}

/* Runs some steps or a frame, and makes room for a derivative of every variable; (*d)[0] is that of all constants. */
static vcs_status_t start_product(vcs_relax_t *relax, int32_t steps, vcs_links_t *links, double **d,
                                  vcs_error_t *error) {
  start_links(relax, links);
  if (steps == VCS_RELAX_FRAME)
    vcs_real_frame(relax, links, NULL);
  else if (!run_steps(relax, steps, links))
    return vcs_error_fill(error, VCS_CANCELLED, "interrupted");
  const bool failed = links->failed || relax->reals->beam.failed;
  *d = failed ? NULL : calloc((size_t)links->variables + 1, sizeof **d);
  return *d ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory: these are too many instructions at once");
}

static void end_product(vcs_relax_t *relax, vcs_links_t *links, double *d) {
  forget(relax);
  vcs_links_free(links);
  free(d);
}

static vcs_status_t check_steps(const vcs_relax_t *relax, int32_t steps, vcs_error_t *error) {
  if (steps < VCS_RELAX_FRAME)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d steps: 0 or more, or VCS_RELAX_FRAME, are needed", steps);
  if (steps == VCS_RELAX_FRAME && relax->options.bus == VCS_BUS_REDUCED)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the reduced bus has no frames: count instructions instead");
  return VCS_OK;
}

vcs_status_t vcs_relax_jvp_many(vcs_relax_t *relax, int32_t steps, int32_t count, const double *d_input,
                                double *d_state, double *d_pixels, vcs_error_t *error) {
  vcs_status_t status = check_steps(relax, steps, error);
  if (status) return status;
  const size_t inputs = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax);
  const size_t pixels = d_pixels ? (size_t)(VCS_WIDTH * relax->cart->frame_height) : 0;
  vcs_links_t links = {0};
  double *d = NULL;
  status = start_product(relax, steps, &links, &d, error);
  for (size_t k = 0; d && k < (size_t)count; k++) {
    memset(d, 0, ((size_t)links.variables + 1) * sizeof *d);
    memcpy(d + 1, d_input + k * inputs, inputs * sizeof *d);
    vcs_links_forward(&links, d);
    for (size_t i = 0; i < states; i++) d_state[k * states + i] += d[number_at(relax, i)->variable];
    for (size_t i = 0; i < pixels; i++) d_pixels[k * pixels + i] += d[pixels_of(relax)[i].variable];
  }
  end_product(relax, &links, d);
  return status;
}

vcs_status_t vcs_relax_jvp_picture(vcs_relax_t *relax, int32_t steps, const double *d_input, double *d_state,
                                   double *d_pixels, vcs_error_t *error) {
  return vcs_relax_jvp_many(relax, steps, 1, d_input, d_state, d_pixels, error);
}

vcs_status_t vcs_relax_vjp_picture(vcs_relax_t *relax, int32_t steps, double *d_input, const double *d_state,
                                   const double *d_pixels, vcs_error_t *error) {
  vcs_status_t status = check_steps(relax, steps, error);
  if (status) return status;
  vcs_links_t links = {0};
  double *d = NULL;
  status = start_product(relax, steps, &links, &d, error);
  if (d) {
    for (size_t i = 0; i < vcs_relax_state_slots(relax); i++) d[number_at(relax, i)->variable] += d_state[i];
    for (int32_t i = 0; d_pixels && i < VCS_WIDTH * relax->cart->frame_height; i++)
      d[pixels_of(relax)[i].variable] += d_pixels[i];
    vcs_links_backward(&links, d);
    for (size_t i = 0; i < vcs_relax_input_slots(relax); i++) d_input[i] += d[i + 1];
  }
  end_product(relax, &links, d);
  return status;
}

vcs_status_t vcs_relax_jvp(vcs_relax_t *relax, int32_t steps, const double *d_input, double *d_state,
                           vcs_error_t *error) {
  return vcs_relax_jvp_picture(relax, steps, d_input, d_state, NULL, error);
}

vcs_status_t vcs_relax_vjp(vcs_relax_t *relax, int32_t steps, double *d_input, const double *d_state,
                           vcs_error_t *error) {
  return vcs_relax_vjp_picture(relax, steps, d_input, d_state, NULL, error);
}
