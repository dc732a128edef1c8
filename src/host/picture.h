/* picture.h: PNG, animated GIF, MP4 and WAV files.
 *
 * A VCS pixel is twice as wide as high, so pictures made from palette indices are drawn with every pixel doubled
 * horizontally (160x210 becomes 320x210) and then enlarged by the integer `zoom`. Pictures made from RGB are taken
 * as they are and only enlarged. Every file appears atomically, when it is complete.
 */
#ifndef VCS_HOST_PICTURE_H
#define VCS_HOST_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "diffvcs/diffvcs.h"

enum { VCS_PICTURE_MAX = 16384 }; /* the widest or highest picture, after enlarging */

/* ---- Still pictures ----------------------------------------------------------------------------------------- */

vcs_status_t vcs_png_write(const char *path, const uint8_t *indices, int width, int height, vcs_format_t format,
                           int zoom, vcs_error_t *error);
vcs_status_t vcs_png_write_rgb(const char *path, const uint8_t *rgb, int width, int height, int zoom,
                               vcs_error_t *error);

/* Reads a PNG of at most `limit` pixels a side as RGB, three bytes a pixel, over black; free() it. */
vcs_status_t vcs_png_read_rgb(const char *path, int limit, uint8_t **rgb, int *width, int *height, vcs_error_t *error);

/* ---- Animated GIF ------------------------------------------------------------------------------------------- */

/* Frames of palette indices, repeated for ever. Only the rectangle that changed is stored, and a frame equal to the
 * one before lengthens it. `delay` is in hundredths of a second; 0 means 2, the shortest that browsers honour. */
typedef struct vcs_gif vcs_gif_t;

vcs_status_t vcs_gif_open(vcs_gif_t **gif, const char *path, int width, int height, vcs_format_t format, int zoom,
                          int delay, vcs_error_t *error);
vcs_status_t vcs_gif_frame(vcs_gif_t *gif, const uint8_t *indices, vcs_error_t *error);
vcs_status_t vcs_gif_close(vcs_gif_t *gif, vcs_error_t *error); /* frees gif, whatever it returns */
void vcs_gif_abandon(vcs_gif_t *gif);                           /* no file; NULL is fine */

/* ---- MP4 ---------------------------------------------------------------------------------------------------- */

/* H.264 by the `ffmpeg` program; VCS_NOT_FOUND where it is not installed. All frames have the size given here,
 * either as indices (drawn 2 * width * zoom wide) or as RGB: `pixel_width` is 2 for the one, 1 for the other. A
 * Ctrl-C or a dying ffmpeg ends in a status, not in a signal. Frames per second are rate / 1000: NTSC 59923. */
typedef struct vcs_mp4 vcs_mp4_t;

vcs_status_t vcs_mp4_open(vcs_mp4_t **mp4, const char *path, int width, int height, int pixel_width, int zoom, int rate,
                          vcs_error_t *error);
vcs_status_t vcs_mp4_frame(vcs_mp4_t *mp4, const uint8_t *indices, vcs_format_t format, vcs_error_t *error);
vcs_status_t vcs_mp4_frame_rgb(vcs_mp4_t *mp4, const uint8_t *rgb, vcs_error_t *error);
vcs_status_t vcs_mp4_close(vcs_mp4_t *mp4, vcs_error_t *error); /* frees mp4, whatever it returns */
void vcs_mp4_abandon(vcs_mp4_t *mp4);                           /* no file; NULL is fine */

/* ---- Sound -------------------------------------------------------------------------------------------------- */

/* PCM: bits is 8 (unsigned bytes) or 16 (int16_t); `frames` counts samples per channel. */
vcs_status_t vcs_wav_write(const char *path, const void *samples, size_t frames, int channels, int bits, int rate,
                           vcs_error_t *error);

#endif
