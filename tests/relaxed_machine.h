/* A relaxed machine without rounding, for tests. */
#ifndef VCS_TESTS_RELAXED_MACHINE_H
#define VCS_TESTS_RELAXED_MACHINE_H

#include "diffvcs/relax.h"

static vcs_relax_t *relaxed(const vcs_cart_t *cart, double alpha, double temperature, uint8_t dispatch) {
  vcs_relax_options_t options;
  vcs_relax_t *relax;
  vcs_relax_defaults(&options);
  options.alpha = alpha;
  options.temperature = temperature;
  options.cast = VCS_CAST_NONE;
  options.dispatch = dispatch;
  assert_int_equal(vcs_relax_create(cart, &options, &relax, NULL), VCS_OK);
  return relax;
}

#endif
