/* asleep.h: frames on a TIA that sleeps (core/tia_asleep.h). */
#ifndef VCS_HOST_ASLEEP_H
#define VCS_HOST_ASLEEP_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

/* vcs_frame without a picture. */
void vcs_asleep_undrawn(const vcs_cart_t *cart, vcs_t *m);

/* vcs_frame with one. Returns false, and leaves m as it was, if the frame stops in the picture or probably would; what
 * it has painted is then painted again by a TIA that draws. */
bool vcs_asleep_drawn(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

#endif
