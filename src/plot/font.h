/* font.h: a font of 5 x 7 pixels for ASCII, so that pictures and the player's window need no font on the machine. */
#ifndef VCS_PLOT_FONT_H
#define VCS_PLOT_FONT_H

#include <stdint.h>

enum { VCS_GLYPH_WIDTH = 5, VCS_GLYPH_HEIGHT = 7, VCS_GLYPH_ADVANCE = 6 };

/* The five columns of a letter from left to right, the top in bit 0. Letters that the font does not have are '?'. */
const uint8_t *vcs_glyph(char letter);

#endif
