/* palette.h: what colour an index is on the screen.
 *
 * The TIA writes bytes: hue in bits 7..4, luminance in bits 3..1. Bit 0 is not part of a colour; a PAL television
 * loses the colour of frames with an odd number of lines, and such pixels carry bit 0: entry i|1 is the gray of
 * entry i. PAL60 uses PAL's colours, VCS_FORMAT_AUTO NTSC's. RGB and gray are ale-py's, to the bit.
 */
#ifndef VCS_HOST_PALETTE_H
#define VCS_HOST_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "diffvcs/diffvcs.h"

const uint32_t *vcs_palette(vcs_format_t format);     /* 0xRRGGBB [256] */
const uint8_t *vcs_palette_gray(vcs_format_t format); /* luminance [256] */

void vcs_frame_rgb(vcs_format_t format, const uint8_t *indices, size_t pixels, uint8_t *rgb); /* 3 bytes a pixel */
void vcs_frame_gray(vcs_format_t format, const uint8_t *indices, size_t pixels, uint8_t *gray);

#endif
