/* undrawn.h: one frame without a picture. */
#ifndef VCS_HOST_UNDRAWN_H
#define VCS_HOST_UNDRAWN_H

#include "diffvcs/diffvcs.h"

/* vcs_frame for frames that are not drawn. The machine after it is the same. */
void vcs_undrawn_frame(const vcs_cart_t *cart, vcs_t *m);

#endif
