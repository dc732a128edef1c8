/* env_screen.c: an environment's picture in a caller's buffer.
 *
 * Many games draw an object in every other frame only, and the eye blends the two frames. Colour averaging does the
 * same: a pixel is 77 % of the brighter and 23 % of the darker of the last two frames, in each of red, green
 * and blue, replaced by the palette's nearest colour (by the sum of differences), so that an averaged picture consists
 * of palette indices, too. The rule and its arithmetic (whole numbers, and the average without its two lowest bits) are
 * ale-py's. The table of all pairs is made once for each palette. A pixel that has lost its colour (an odd index)
 * averages to black: ale-py leaves those entries of its table as they are, and fresh memory is zero.
 */
#include "host/env_screen.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host/env.h"
#include "host/palette.h"

enum { NTSC_TABLE, PAL_TABLE, SECAM_TABLE, TABLES, BRIGHTER_PERCENT = 77 };
enum { RAW, MAKING, READY };

static uint8_t tables[TABLES][256 * 256];
static atomic_int table_state[TABLES];

static int table_of(vcs_format_t format) {
  if (format == VCS_FORMAT_SECAM) return SECAM_TABLE;
  return format == VCS_FORMAT_PAL || format == VCS_FORMAT_PAL60 ? PAL_TABLE : NTSC_TABLE;
}

static int part(uint32_t rgb, int shift) { return (int)(rgb >> shift & 255); }

/* One of red, green and blue, without its two lowest bits. */
static int average(uint32_t one, uint32_t other, int shift) {
  const int a = part(one, shift), b = part(other, shift), low = a < b ? a : b, high = a < b ? b : a;
  return (low + (high - low) * BRIGHTER_PERCENT / 100) & ~3;
}

/* The first of the nearest colours. */
static uint8_t nearest(const uint32_t *palette, int red, int green, int blue) {
  int best = 0, least = 3 * 256;
  for (int i = 0; i < 256; i += 2) {
    const int distance =
        abs(part(palette[i], 16) - red) + abs(part(palette[i], 8) - green) + abs(part(palette[i], 0) - blue);
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return (uint8_t)best;
}

static void make_table(const uint32_t *palette, uint8_t *table) {
  for (int a = 0; a < 256; a += 2) {
    for (int b = 0; b <= a; b += 2) {
      const uint32_t x = palette[a], y = palette[b];
      table[256 * a + b] = table[256 * b + a] = nearest(palette, average(x, y, 16), average(x, y, 8), average(x, y, 0));
    }
  }
}

void vcs_blend_prepare(vcs_format_t format) {
  const int i = table_of(format);
  int expected = RAW;
  if (atomic_load_explicit(&table_state[i], memory_order_acquire) == READY) return;
  if (atomic_compare_exchange_strong(&table_state[i], &expected, MAKING)) {
    make_table(vcs_palette(format), tables[i]);
    atomic_store_explicit(&table_state[i], READY, memory_order_release);
  } else {
    while (atomic_load_explicit(&table_state[i], memory_order_acquire) != READY) {
    }
  }
}

const uint8_t *vcs_blend_table(vcs_format_t format) { return tables[table_of(format)]; }

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

int vcs_env_height(const vcs_env_t *env) { return env->cart->frame_height; }

const uint8_t *vcs_env_screen(const vcs_env_t *env) { return env->draw_history.picture; }

static size_t pixels(const vcs_env_t *env) { return (size_t)VCS_WIDTH * (size_t)env->cart->frame_height; }

static void blend(const vcs_env_t *env, size_t first, size_t count, uint8_t *out) {
  const uint8_t *now = vcs_env_screen(env) + first, *table = vcs_blend_table((vcs_format_t)env->cart->format);
  const uint8_t *before = env->draw_history.frames + (env->m->front ? 0 : VCS_FRAME_BYTES) + first;
  for (size_t i = 0; i < count; i++) out[i] = table[256 * now[i] + before[i]];
}

void vcs_env_screen_indices(const vcs_env_t *env, uint8_t *indices) {
  if (env->options.colour_averaging) {
    blend(env, 0, pixels(env), indices);
  } else {
    memcpy(indices, vcs_env_screen(env), pixels(env));
  }
}

/* Averaged pictures are converted a row at a time, so that no second picture is needed. */
void vcs_env_screen_rgb(const vcs_env_t *env, uint8_t *rgb) {
  const vcs_format_t format = (vcs_format_t)env->cart->format;
  if (!env->options.colour_averaging) {
    vcs_frame_rgb(format, vcs_env_screen(env), pixels(env), rgb);
    return;
  }
  uint8_t row[VCS_WIDTH];
  for (size_t i = 0; i < pixels(env); i += VCS_WIDTH) {
    blend(env, i, VCS_WIDTH, row);
    vcs_frame_rgb(format, row, VCS_WIDTH, rgb + 3 * i);
  }
}

void vcs_env_screen_gray(const vcs_env_t *env, uint8_t *gray) {
  const vcs_format_t format = (vcs_format_t)env->cart->format;
  if (!env->options.colour_averaging) {
    vcs_frame_gray(format, vcs_env_screen(env), pixels(env), gray);
    return;
  }
  uint8_t row[VCS_WIDTH];
  for (size_t i = 0; i < pixels(env); i += VCS_WIDTH) {
    blend(env, i, VCS_WIDTH, row);
    vcs_frame_gray(format, row, VCS_WIDTH, gray + i);
  }
}
