/* map.c: derivatives as pictures (map.h). */
#include "plot/map.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/study.h"
#include "host/files.h"
#include "host/palette.h"
#include "host/picture.h"
#include "plot/font.h"

/* ---- Colours ------------------------------------------------------------------------------------------------ */

enum { DECADES = 4, DIMMED = 3, FAINTEST = 25 }; /* frames are shown at a third; the faintest value at 25 of 100 */

typedef struct {
  uint8_t r, g, b;
} colour_t;

static const colour_t up = {255, 140, 30}, down = {60, 150, 255}, ground = {20, 20, 24}, empty = {44, 44, 50},
                      white = {255, 255, 255}, pale = {170, 170, 178};

float vcs_map_largest(const float *values, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; i++) {
    if (fabsf(values[i]) > fabsf(largest)) largest = values[i];
  }
  return largest;
}

/* 0 if the value is 0, otherwise FAINTEST to 100. */
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

/* ---- Labels ------------------------------------------------------------------------------------------------- */

enum { LINE = 10, TITLE = 14, EDGE = 6, KEY_SQUARE = 8, KEY_WIDTH = 250 };

/* Writes a text whose top left corner is at x, y; what lies outside the canvas is left out. */
static void write_text(canvas_t *canvas, int x, int y, colour_t colour, const char *text) {
  for (; *text; text++, x += VCS_GLYPH_ADVANCE) {
    const uint8_t *glyph = vcs_glyph(*text);
    for (int column = 0; column < VCS_GLYPH_WIDTH; column++) {
      for (int row = 0; row < VCS_GLYPH_HEIGHT; row++) {
        const bool inside = x + column >= 0 && x + column < canvas->width && y + row >= 0 && y + row < canvas->height;
        if (inside && glyph[column] >> row & 1) fill(canvas, x + column, y + row, 1, 1, colour);
      }
    }
  }
}

static void write_right(canvas_t *canvas, int right, int y, colour_t colour, const char *text) {
  write_text(canvas, right - VCS_GLYPH_ADVANCE * (int)strlen(text), y, colour, text);
}

static void write_title(canvas_t *canvas, const char *title) { write_text(canvas, EDGE, 4, white, title); }

/* The scale of colours: squares for -1, -1/10, ... , 0, ..., 1/10, 1 of the largest value, which is written beside. */
static void write_key(canvas_t *canvas, int y, float largest) {
  char text[64];
  const float size = largest == 0 ? 1 : fabsf(largest);
  int x = EDGE;
  snprintf(text, sizeof text, "-%.3g", (double)size);
  write_text(canvas, x, y, pale, text);
  x += VCS_GLYPH_ADVANCE * (int)strlen(text) + 2;
  for (int step = -DECADES; step <= DECADES; step++, x += KEY_SQUARE + 1) {
    const float part = (float)pow(10, -(DECADES - abs(step)));
    const float value = step == 0 ? 0 : step < 0 ? -part : part;
    fill(canvas, x, y, KEY_SQUARE, KEY_SQUARE, blend(empty, value * size, size));
  }
  snprintf(text, sizeof text, "+%.3g  a step: x10", (double)size);
  write_text(canvas, x + 2, y, pale, text);
}

static int title_width(const char *title) { return 2 * EDGE + VCS_GLYPH_ADVANCE * (int)strlen(title); }

static int larger(int a, int b) { return a > b ? a : b; }

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

vcs_status_t vcs_map_ram(const char *path, const char *title, const float bits[1024], vcs_error_t *error) {
  enum { COLUMNS = 16, STRIPE = 2, CELL = 8 * STRIPE, STEP = CELL + 2, LEFT = 28, TOP = TITLE + LINE };
  canvas_t canvas;
  const float largest = vcs_map_largest(bits, 1024);
  const int bottom = TOP + 128 / COLUMNS * STEP;
  const int width = larger(LEFT + COLUMNS * STEP + EDGE, title_width(title));
  vcs_status_t status = begin(&canvas, width, bottom + 3 * LINE + 2, error);
  if (status) return status;
  write_title(&canvas, title);
  for (int i = 0; i < COLUMNS; i++) {
    char text[8];
    snprintf(text, sizeof text, "%X", (unsigned)i);
    write_text(&canvas, LEFT + i * STEP + CELL / 2 - 2, TITLE, pale, text);
  }
  for (int row = 0; row < 128 / COLUMNS; row++) {
    char text[8];
    snprintf(text, sizeof text, "$%02X", 0x80U + 16U * (unsigned)row);
    write_right(&canvas, LEFT - 2, TOP + row * STEP + 4, pale, text);
  }
  for (int i = 0; i < 1024; i++) {
    const int byte = i / 8, stripe = 7 - i % 8;
    fill(&canvas, LEFT + byte % COLUMNS * STEP + stripe * STRIPE, TOP + byte / COLUMNS * STEP, STRIPE, CELL,
         blend(empty, bits[i], largest));
  }
  write_text(&canvas, EDGE, bottom + 2, pale, "a cell is a byte; stripes: bit 7 to bit 0");
  write_key(&canvas, bottom + LINE + 6, largest);
  return end(&canvas, path, 2, error);
}

/* Where the parts of a map of ROM are. */
enum { ROM_COLUMNS = 64, ROM_SQUARE = 5, BANK = 4096, ROM_LEFT = 40, BANK_STEP = ROM_COLUMNS * ROM_SQUARE + 8 };
enum { BANKS_ACROSS = 16, BAND_GAP = 8 + 2 * LINE }; /* more banks continue in another band below */
enum { BIT = 8, STRIP_ROWS = 8, STRIP_LABEL = 34, STRIP_STEP = STRIP_LABEL + 8 * BIT + 8, ROM_TOP = TITLE + 2 * LINE };

static int bank_left(int bank) { return ROM_LEFT + bank % BANKS_ACROSS * BANK_STEP; }

static int bank_top(int bank, int rows) { return ROM_TOP + bank / BANKS_ACROSS * (rows * ROM_SQUARE + BAND_GAP); }

/* Offsets at the left, columns and banks at the top. */
static void write_rom_axes(canvas_t *canvas, int banks, int rows) {
  char text[24];
  for (int bank = 0; bank < banks; bank++) {
    const int left = bank_left(bank), top = bank_top(bank, rows);
    if (banks > 1) {
      snprintf(text, sizeof text, "bank %d", bank);
      write_text(canvas, left, top - 2 * LINE, pale, text);
    }
    for (int column = 0; column < ROM_COLUMNS; column += 16) {
      snprintf(text, sizeof text, "+%02X", (unsigned)column);
      write_text(canvas, left + column * ROM_SQUARE, top - LINE, pale, text);
    }
    for (int row = 0; row < rows && bank % BANKS_ACROSS == 0; row += 8) {
      snprintf(text, sizeof text, "%04X", (unsigned)(row * ROM_COLUMNS));
      write_right(canvas, ROM_LEFT - 4, top + row * ROM_SQUARE - 1, pale, text);
    }
  }
}

/* Bytes as rows of eight squares, each with its offset in the image. */
static void draw_patterns(canvas_t *canvas, int top, const uint8_t *image, const float *bits, float largest,
                          const uint32_t *patterns, int count) {
  for (int i = 0; i < count && i < VCS_MAP_PATTERNS; i++) {
    const float *of = bits + 8 * (size_t)patterns[i];
    const int left = EDGE + i / STRIP_ROWS * STRIP_STEP, y = top + i % STRIP_ROWS * BIT;
    char text[16];
    snprintf(text, sizeof text, "%04X", (unsigned)patterns[i]);
    write_right(canvas, left + STRIP_LABEL - 4, y, pale, text);
    for (int bit = 0; bit < 8; bit++) {
      const int x = left + STRIP_LABEL + (7 - bit) * BIT;
      fill(canvas, x, y, BIT - 1, BIT - 1, blend(empty, of[bit], largest));
      if (image[patterns[i]] >> bit & 1) fill(canvas, x + 2, y + 2, BIT - 5, BIT - 5, white);
    }
  }
}

vcs_status_t vcs_map_rom(const char *path, const char *title, const uint8_t *image, uint32_t size, const float *bits,
                         const uint32_t *patterns, int count, vcs_error_t *error) {
  canvas_t canvas;
  const uint32_t largest_bank = size < BANK ? size : BANK;
  const int banks = (int)((size + BANK - 1) / BANK), rows = (int)(largest_bank + ROM_COLUMNS - 1) / ROM_COLUMNS;
  const int across = banks < BANKS_ACROSS ? banks : BANKS_ACROSS;
  const int bottom = bank_top(banks - 1, rows) + rows * ROM_SQUARE, patterns_top = bottom + LINE + 8;
  const int strips = (count + STRIP_ROWS - 1) / STRIP_ROWS;
  const int width = larger(larger(ROM_LEFT + across * BANK_STEP, EDGE + strips * STRIP_STEP), title_width(title));
  const float largest = vcs_map_largest(bits, (size_t)8 * size);
  vcs_status_t status = begin(&canvas, width, patterns_top + STRIP_ROWS * BIT + LINE + 8, error);
  if (status) return status;
  write_title(&canvas, title);
  write_rom_axes(&canvas, banks, rows);
  for (uint32_t i = 0; i < size; i++) {
    const int bank = (int)(i / BANK), square = (int)(i % BANK);
    fill(&canvas, bank_left(bank) + square % ROM_COLUMNS * ROM_SQUARE,
         bank_top(bank, rows) + square / ROM_COLUMNS * ROM_SQUARE, ROM_SQUARE - 1, ROM_SQUARE - 1,
         blend(empty, vcs_map_largest(bits + 8 * (size_t)i, 8), largest));
  }
  write_text(&canvas, EDGE, bottom + 5, pale,
             count ? "below: bytes of tables, bits 7 to 0; white: set" : "no byte of a table matters");
  draw_patterns(&canvas, patterns_top, image, bits, largest, patterns, count);
  write_key(&canvas, patterns_top + STRIP_ROWS * BIT + 4, largest);
  return end(&canvas, path, 2, error);
}

vcs_status_t vcs_map_inputs(const char *path, const char *title, const float *values, int frames, vcs_error_t *error) {
  enum { SQUARE = 10, COLUMNS_MAX = 512, LEFT = 46, TOP = TITLE + LINE, LABEL_EVERY = 4 };
  canvas_t canvas;
  const int first = frames > COLUMNS_MAX ? frames - COLUMNS_MAX : 0; /* the last frames, of a very long run */
  const int bottom = TOP + VCS_INPUTS * SQUARE;
  const float largest = vcs_map_largest(values, (size_t)VCS_INPUTS * (size_t)frames);
  const int width = larger(larger(LEFT + (frames - first) * SQUARE + EDGE, title_width(title)), KEY_WIDTH);
  vcs_status_t status = begin(&canvas, width, bottom + 3 * LINE + 2, error);
  if (status) return status;
  write_title(&canvas, title);
  for (int input = 0; input < VCS_INPUTS; input++) {
    write_right(&canvas, LEFT - 2, TOP + input * SQUARE + 1, pale, vcs_input_name(input));
  }
  for (int frame = first; frame < frames; frame++) {
    char text[16];
    snprintf(text, sizeof text, "%d", frame);
    if (frame % LABEL_EVERY == 0) write_text(&canvas, LEFT + (frame - first) * SQUARE + 1, TITLE, pale, text);
    for (int input = 0; input < VCS_INPUTS; input++) {
      fill(&canvas, LEFT + (frame - first) * SQUARE, TOP + input * SQUARE, SQUARE - 1, SQUARE - 1,
           blend(empty, values[VCS_INPUTS * frame + input], largest));
    }
  }
  write_text(&canvas, EDGE, bottom + 2, pale, "across: frames of the run");
  write_key(&canvas, bottom + LINE + 6, largest);
  return end(&canvas, path, 2, error);
}
