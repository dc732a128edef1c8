/* map.c: derivatives as pictures (map.h). */
#include "plot/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/palette.h"
#include "host/picture.h"

/* ---- Colours ------------------------------------------------------------------------------------------------ */

enum { DECADES = 4, DIMMED = 3, FAINTEST = 25 }; /* frames are shown at a third; the faintest value at 25 of 100 */

typedef struct {
  uint8_t r, g, b;
} colour_t;

static const colour_t up = {255, 140, 30}, down = {60, 150, 255}, ground = {20, 20, 24}, empty = {44, 44, 50},
                      white = {255, 255, 255};

float vcs_map_largest(const float *values, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; i++) {
    if (fabsf(values[i]) > fabsf(largest)) largest = values[i];
  }
  return largest;
}

/* 0 for nothing, FAINTEST to 100 for something. */
static int strength(float value, float largest) {
  if (value == 0 || largest == 0 || isnan(value)) return 0;
  if (!isfinite(largest)) return isfinite(value) ? FAINTEST : 100;
  double decades = DECADES + log10(fabs((double)value / (double)largest));
  if (decades < 0) decades = 0;
  return FAINTEST + (int)((100 - FAINTEST) * decades / DECADES);
}

static uint8_t mix(int from, int to, int percent) { return (uint8_t)(from + (to - from) * percent / 100); }

static colour_t blend(colour_t under, float value, float largest) {
  const colour_t over = value > 0 ? up : down;
  const int percent = strength(value, largest);
  return (colour_t){mix(under.r, over.r, percent), mix(under.g, over.g, percent), mix(under.b, over.b, percent)};
}

/* ---- A canvas ----------------------------------------------------------------------------------------------- */

typedef struct {
  uint8_t *rgb;
  int width, height;
} canvas_t;

static void fill(canvas_t *canvas, int x, int y, int width, int height, colour_t colour) {
  for (int row = y; row < y + height; row++) {
    for (int column = x; column < x + width; column++) {
      memcpy(canvas->rgb + 3 * ((size_t)row * (size_t)canvas->width + (size_t)column), &colour, 3);
    }
  }
}

static vcs_status_t begin(canvas_t *canvas, int width, int height, vcs_error_t *error) {
  *canvas = (canvas_t){malloc((size_t)3 * (size_t)width * (size_t)height), width, height};
  if (!canvas->rgb) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for a picture");
  fill(canvas, 0, 0, width, height, ground);
  return VCS_OK;
}

static vcs_status_t end(canvas_t *canvas, const char *path, int zoom, vcs_error_t *error) {
  vcs_status_t status = vcs_png_write_rgb(path, canvas->rgb, canvas->width, canvas->height, zoom, error);
  free(canvas->rgb);
  return status;
}

/* ---- The maps ----------------------------------------------------------------------------------------------- */

vcs_status_t vcs_map_heat(const char *path, const uint8_t *picture, int height, vcs_format_t format,
                          const float *values, vcs_error_t *error) {
  canvas_t canvas;
  const uint32_t *palette = vcs_palette(format);
  const float largest = vcs_map_largest(values, (size_t)(VCS_WIDTH * height));
  vcs_status_t status = begin(&canvas, 2 * VCS_WIDTH, height, error);
  if (status) return status;
  for (int i = 0; i < VCS_WIDTH * height; i++) {
    const uint32_t rgb = palette[picture[i]];
    const colour_t dim = {(uint8_t)((rgb >> 16 & 255) / DIMMED), (uint8_t)((rgb >> 8 & 255) / DIMMED),
                          (uint8_t)((rgb & 255) / DIMMED)};
    fill(&canvas, i % VCS_WIDTH * 2, i / VCS_WIDTH, 2, 1, blend(dim, values[i], largest));
  }
  return end(&canvas, path, 2, error);
}

vcs_status_t vcs_map_ram(const char *path, const float bits[1024], vcs_error_t *error) {
  enum { COLUMNS = 16, STRIPE = 4, CELL = 8 * STRIPE, STEP = CELL + 4 };
  canvas_t canvas;
  const float largest = vcs_map_largest(bits, 1024);
  vcs_status_t status = begin(&canvas, COLUMNS * STEP + 4, 128 / COLUMNS * STEP + 4, error);
  if (status) return status;
  for (int i = 0; i < 1024; i++) {
    const int byte = i / 8, stripe = 7 - i % 8;
    fill(&canvas, 4 + byte % COLUMNS * STEP + stripe * STRIPE, 4 + byte / COLUMNS * STEP, STRIPE, CELL,
         blend(empty, bits[i], largest));
  }
  return end(&canvas, path, 1, error);
}

vcs_status_t vcs_map_rom(const char *path, const uint8_t *image, uint32_t size, const float *bits,
                         const uint32_t *patterns, int count, vcs_error_t *error) {
  enum { COLUMNS = 64, SQUARE = 5, BANK = 4096, BANK_STEP = COLUMNS * SQUARE + 8 };
  enum { BIT = 8, STRIP_ROWS = 8, STRIP_STEP = 8 * BIT + 12 };
  canvas_t canvas;
  const uint32_t largest_bank = size < BANK ? size : BANK;
  const int banks = (int)((size + BANK - 1) / BANK), bank_height = (int)(largest_bank + COLUMNS - 1) / COLUMNS * SQUARE;
  const int wide = banks * BANK_STEP + 8;
  const float largest = vcs_map_largest(bits, (size_t)8 * size);
  vcs_status_t status = begin(&canvas, wide, bank_height + STRIP_ROWS * BIT + 24, error);
  if (status) return status;
  for (uint32_t i = 0; i < size; i++) {
    const int bank = (int)(i / BANK), square = (int)(i % BANK);
    fill(&canvas, 8 + bank * BANK_STEP + square % COLUMNS * SQUARE, 8 + square / COLUMNS * SQUARE, SQUARE - 1,
         SQUARE - 1, blend(empty, vcs_map_largest(bits + 8 * (size_t)i, 8), largest));
  }
  for (int i = 0; i < count && i < VCS_MAP_PATTERNS; i++) {
    const float *of = bits + 8 * (size_t)patterns[i];
    for (int bit = 0; bit < 8; bit++) {
      const int x = 8 + i / STRIP_ROWS * STRIP_STEP + (7 - bit) * BIT, y = bank_height + 16 + i % STRIP_ROWS * BIT;
      fill(&canvas, x, y, BIT - 1, BIT - 1, blend(empty, of[bit], largest));
      if (image[patterns[i]] >> bit & 1) fill(&canvas, x + 2, y + 2, BIT - 5, BIT - 5, white);
    }
  }
  return end(&canvas, path, 2, error);
}

vcs_status_t vcs_map_inputs(const char *path, const float *values, int frames, vcs_error_t *error) {
  enum { SQUARE = 16, COLUMNS_MAX = 512 };
  canvas_t canvas;
  const int first = frames > COLUMNS_MAX ? frames - COLUMNS_MAX : 0; /* the last frames, of a very long run */
  const float largest = vcs_map_largest(values, (size_t)VCS_INPUTS * (size_t)frames);
  vcs_status_t status = begin(&canvas, (frames - first) * SQUARE + 8, VCS_INPUTS * SQUARE + 8, error);
  if (status) return status;
  for (int frame = first; frame < frames; frame++) {
    for (int input = 0; input < VCS_INPUTS; input++) {
      fill(&canvas, 4 + (frame - first) * SQUARE, 4 + input * SQUARE, SQUARE - 2, SQUARE - 2,
           blend(empty, values[VCS_INPUTS * frame + input], largest));
    }
  }
  return end(&canvas, path, 2, error);
}
