/* map.h: derivatives as pictures.
 *
 * Orange is up, blue is down. Strength is logarithmic, over four decades below the largest value of the picture, and
 * every value that is not zero is visible: derivatives have very different sizes, and small ones are often
 * the true ones.
 *
 *   heat     the frame, dimmed, and the pixels that change
 *   RAM      16 cells by 8, $80 at the top left; eight stripes in each, bit 7 on the left
 *   ROM      one square for each byte, 64 in a row; banks of 4 KiB side by side, 16 in a band. Below, some bytes as bit
 * patterns, a row of eight squares each with its offset in the image: bits that are set have a white middle inputs one
 * row for each input, one column for each frame of the run
 *
 * RAM, ROM and inputs have a title, addresses or names at their axes, and the scale of their colours.
 */
#ifndef VCS_PLOT_MAP_H
#define VCS_PLOT_MAP_H

#include "diffvcs/grad.h"

enum { VCS_MAP_PATTERNS = 32 }; /* bit patterns that fit below the smallest ROM */

vcs_status_t vcs_map_heat(const char *path, const uint8_t *picture, int height, vcs_format_t format,
                          const float *values, vcs_error_t *error);
vcs_status_t vcs_map_ram(const char *path, const char *title, const float bits[1024], vcs_error_t *error);
vcs_status_t vcs_map_rom(const char *path, const char *title, const uint8_t *image, uint32_t size, const float *bits,
                         const uint32_t *patterns, int count, vcs_error_t *error);
vcs_status_t vcs_map_inputs(const char *path, const char *title, const float *values, int frames, vcs_error_t *error);

/* The value of largest size among `count`; values that are not numbers do not count. */
float vcs_map_largest(const float *values, size_t count);

#endif
