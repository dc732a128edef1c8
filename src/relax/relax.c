/* relax.c: the calls of relax.h: making a relaxed machine, loading it, running it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "relaxed.h"

void vcs_relax_defaults(vcs_relax_options_t *options) {
  const vcs_relax_options_t defaults = {.alpha = 6, .temperature = 0.14};
  *options = defaults;
}

static vcs_status_t check_options(const vcs_relax_options_t *o, vcs_error_t *error) {
  if (!(o->alpha > 0) || !isfinite(o->alpha))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "alpha is %g; a positive number is needed", o->alpha);
  if (!(o->temperature > 0) || !isfinite(o->temperature))
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
  if (r) r->m = calloc(1, vcs_state_size(cart));
  if (!r || !r->m || !vcs_soften_start(&r->soften, options, largest < 128 ? 128 : largest)) {
    vcs_relax_free(r);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  r->cart = cart;
  r->options = *options;
  vcs_boot(cart, r->m, NULL);
  *relax = r;
  return VCS_OK;
}

void vcs_relax_free(vcs_relax_t *relax) {
  if (!relax) return;
  vcs_soften_free(&relax->soften);
  free(relax->m);
  free(relax);
}

void vcs_relax_load(vcs_relax_t *relax, const vcs_t *m) {
  const vcs_relax_report_t nothing = {0};
  memmove(relax->m, m, vcs_state_size(relax->cart));
  relax->report = nothing;
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

void vcs_relax_control(vcs_relax_t *relax, const vcs_controls_t *hands) { vcs_control(relax->cart, relax->m, hands); }

void vcs_relax_step(vcs_relax_t *relax, uint8_t *frames) { vcs_rounded_step(relax, frames); }

void vcs_relax_frame(vcs_relax_t *relax, uint8_t *frames) {
  if (relax->options.bus == VCS_BUS_REAL) vcs_rounded_frame(relax, frames);
}

double vcs_relax_read(const vcs_relax_t *relax, const uint8_t *cells, int32_t size, int32_t index) {
  return vcs_soften_read(&relax->soften, cells, size, index);
}

double vcs_relax_branch(const vcs_relax_t *relax, uint16_t next, int offset, int taken) {
  return vcs_soften_branch(&relax->soften, next, offset, taken);
}
