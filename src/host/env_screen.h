/* env_screen.h: the average of two frames. */
#ifndef VCS_HOST_ENV_SCREEN_H
#define VCS_HOST_ENV_SCREEN_H

#include "diffvcs/diffvcs.h"

/* Makes the table that averaging needs; at the first call for a palette, and safe from several threads. */
void vcs_blend_prepare(vcs_format_t format);

/* The palette index whose colour is nearest to the average of two, row by row of 256; prepared before. */
const uint8_t *vcs_blend_table(vcs_format_t format);

#endif
