/* drawing.c: a list of boxes, lines and texts, written as SVG and as PNG (drawing.h).
 *
 * The PNG is drawn three times as large and averaged down, which smooths lines at any angle.
 */
#include "plot/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/picture.h"
#include "plot/font.h"

typedef enum { BOX, LINE, TEXT } kind_t;

typedef struct {
  kind_t kind;
  double x, y, x1, y1, width; /* a box: x1, y1 are its size */
  uint32_t colour;
  vcs_text_anchor_t anchor;
  char text[96];
} shape_t;

struct vcs_drawing {
  int width, height;
  shape_t *shapes;
  size_t count, capacity;
  bool failed;
};

enum { SMOOTH = 3 };

vcs_drawing_t *vcs_drawing_create(int width, int height) {
  vcs_drawing_t *drawing = calloc(1, sizeof *drawing);
  if (!drawing) return NULL;
  drawing->width = width;
  drawing->height = height;
  vcs_draw_box(drawing, 0, 0, width, height, 0xFFFFFF);
  return drawing;
}

void vcs_drawing_free(vcs_drawing_t *drawing) {
  if (!drawing) return;
  free(drawing->shapes);
  free(drawing);
}

static shape_t *add(vcs_drawing_t *drawing, kind_t kind, uint32_t colour) {
  if (drawing->count == drawing->capacity) {
    size_t wanted = drawing->capacity ? 2 * drawing->capacity : 256;
    shape_t *larger = realloc(drawing->shapes, wanted * sizeof *larger);
    if (!larger) {
      drawing->failed = true;
      return NULL;
    }
    drawing->shapes = larger;
    drawing->capacity = wanted;
  }
  shape_t *shape = &drawing->shapes[drawing->count++];
  memset(shape, 0, sizeof *shape);
  shape->kind = kind;
  shape->colour = colour;
  return shape;
}

void vcs_draw_box(vcs_drawing_t *drawing, double x, double y, double width, double height, uint32_t colour) {
  shape_t *shape = add(drawing, BOX, colour);
  if (!shape) return;
  shape->x = x;
  shape->y = y;
  shape->x1 = width;
  shape->y1 = height;
}

void vcs_draw_line(vcs_drawing_t *drawing, double x0, double y0, double x1, double y1, double width, uint32_t colour) {
  shape_t *shape = add(drawing, LINE, colour);
  if (!shape) return;
  shape->x = x0;
  shape->y = y0;
  shape->x1 = x1;
  shape->y1 = y1;
  shape->width = width;
}

void vcs_draw_text(vcs_drawing_t *drawing, double x, double y, vcs_text_anchor_t anchor, uint32_t colour,
                   const char *text) {
  shape_t *shape = add(drawing, TEXT, colour);
  if (!shape) return;
  shape->x = x;
  shape->y = y;
  shape->anchor = anchor;
  snprintf(shape->text, sizeof shape->text, "%s", text);
}

static uint32_t colour_at(const uint8_t *rgb) { return (uint32_t)(rgb[0] << 16 | rgb[1] << 8 | rgb[2]); }

/* A box for each stretch of one colour. */
void vcs_draw_pixels(vcs_drawing_t *drawing, double x, double y, const uint8_t *rgb, int width, int height,
                     double pixel_width, double pixel_height) {
  for (int row = 0; row < height; row++) {
    for (int from = 0, to; from < width; from = to) {
      const uint32_t colour = colour_at(rgb + 3 * (width * row + from));
      for (to = from + 1; to < width && colour_at(rgb + 3 * (width * row + to)) == colour; to++) {
      }
      vcs_draw_box(drawing, x + from * pixel_width, y + row * pixel_height, (to - from) * pixel_width, pixel_height,
                   colour);
    }
  }
}

/* ---- SVG ------------------------------------------------------------------------------------------------------- */

static void escape(vcs_text_t *out, const char *text) {
  for (; *text; text++) {
    if (*text == '<' || *text == '>' || *text == '&')
      vcs_text_printf(out, "&#%d;", *text);
    else
      vcs_text_append(out, text, 1);
  }
}

static void write_svg(const vcs_drawing_t *drawing, vcs_text_t *out) {
  static const char *const anchors[] = {"start", "middle", "end"};
  vcs_text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"\n",
                  drawing->width, drawing->height, drawing->width, drawing->height);
  vcs_text_printf(out, "     font-family=\"sans-serif\" font-size=\"10\" shape-rendering=\"geometricPrecision\">\n");
  for (size_t i = 0; i < drawing->count; i++) {
    const shape_t *s = &drawing->shapes[i];
    if (s->kind == BOX) {
      vcs_text_printf(out, "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"#%06X\"/>\n", s->x, s->y,
                      s->x1, s->y1, s->colour);
    } else if (s->kind == LINE) {
      vcs_text_printf(out,
                      "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" stroke=\"#%06X\" stroke-width=\"%.3g\" "
                      "stroke-linecap=\"round\"/>\n",
                      s->x, s->y, s->x1, s->y1, s->colour, s->width);
    } else {
      vcs_text_printf(out, "<text x=\"%.6g\" y=\"%.6g\" text-anchor=\"%s\" fill=\"#%06X\">", s->x, s->y,
                      anchors[s->anchor], s->colour);
      escape(out, s->text);
      vcs_text_printf(out, "</text>\n");
    }
  }
  vcs_text_printf(out, "</svg>\n");
}

/* ---- PNG ------------------------------------------------------------------------------------------------------- */

typedef struct {
  uint8_t *rgb;
  int width, height; /* SMOOTH times the drawing's */
} canvas_t;

static void fill(const canvas_t *c, double x0, double y0, double x1, double y1, uint32_t colour) {
  int left = (int)lround(fmax(x0, 0)), top = (int)lround(fmax(y0, 0));
  int right = (int)lround(fmin(x1, c->width)), bottom = (int)lround(fmin(y1, c->height));
  for (int y = top; y < bottom; y++) {
    for (int x = left; x < right; x++) {
      uint8_t *p = c->rgb + 3 * ((size_t)c->width * (size_t)y + (size_t)x);
      p[0] = (uint8_t)(colour >> 16);
      p[1] = (uint8_t)(colour >> 8);
      p[2] = (uint8_t)colour;
    }
  }
}

static void fill_line(const canvas_t *c, const shape_t *s) {
  double dx = s->x1 - s->x, dy = s->y1 - s->y, half = SMOOTH * s->width / 2;
  int steps = (int)ceil(SMOOTH * fmax(fabs(dx), fabs(dy)));
  for (int i = 0; i <= steps; i++) {
    double part = steps ? (double)i / steps : 0, x = SMOOTH * (s->x + part * dx), y = SMOOTH * (s->y + part * dy);
    fill(c, x - half, y - half, x + half, y + half, s->colour);
  }
}

void vcs_text_in_bytes(uint8_t *at, int stride, uint8_t value, const char *text) {
  for (; *text; text++, at += VCS_GLYPH_ADVANCE) {
    const uint8_t *glyph = vcs_glyph(*text);
    for (int i = 0; i < VCS_GLYPH_WIDTH * VCS_GLYPH_HEIGHT; i++) {
      const int column = i % VCS_GLYPH_WIDTH, row = i / VCS_GLYPH_WIDTH;
      if (glyph[column] >> row & 1) at[row * stride + column] = value;
    }
  }
}

static void fill_text(const canvas_t *c, const shape_t *s) {
  double wide = VCS_GLYPH_ADVANCE * (double)strlen(s->text) - 1;
  double x = s->x - (s->anchor == VCS_TEXT_MIDDLE ? wide / 2 : s->anchor == VCS_TEXT_RIGHT ? wide : 0);
  double left = floor(x), top = floor(s->y) - VCS_GLYPH_HEIGHT;
  for (const char *t = s->text; *t; t++, left += VCS_GLYPH_ADVANCE) {
    const uint8_t *glyph = vcs_glyph(*t);
    for (int column = 0; column < VCS_GLYPH_WIDTH; column++) {
      for (int row = 0; row < VCS_GLYPH_HEIGHT; row++) {
        double px = SMOOTH * (left + column), py = SMOOTH * (top + row);
        if (glyph[column] >> row & 1) fill(c, px, py, px + SMOOTH, py + SMOOTH, s->colour);
      }
    }
  }
}

static void paint(const vcs_drawing_t *drawing, const canvas_t *c) {
  for (size_t i = 0; i < drawing->count; i++) {
    const shape_t *s = &drawing->shapes[i];
    if (s->kind == BOX)
      fill(c, SMOOTH * s->x, SMOOTH * s->y, SMOOTH * (s->x + s->x1), SMOOTH * (s->y + s->y1), s->colour);
    else if (s->kind == LINE)
      fill_line(c, s);
    else
      fill_text(c, s);
  }
}

static void shrink(const canvas_t *c, int width, int height, uint8_t *rgb) {
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width * 3; x++) {
      int sum = 0;
      for (int j = 0; j < SMOOTH; j++) {
        for (int i = 0; i < SMOOTH; i++)
          sum += c->rgb[3 * ((size_t)c->width * (size_t)(SMOOTH * y + j) + (size_t)(SMOOTH * (x / 3) + i)) + x % 3];
      }
      rgb[3 * width * y + x] = (uint8_t)(sum / (SMOOTH * SMOOTH));
    }
  }
}

static vcs_status_t write_png(const vcs_drawing_t *drawing, const char *path, vcs_error_t *error) {
  canvas_t canvas = {NULL, SMOOTH * drawing->width, SMOOTH * drawing->height};
  size_t pixels = (size_t)drawing->width * (size_t)drawing->height;
  uint8_t *rgb = malloc(3 * pixels);
  canvas.rgb = calloc(pixels, 3 * SMOOTH * SMOOTH);
  vcs_status_t status = VCS_NO_MEMORY;
  if (rgb && canvas.rgb) {
    paint(drawing, &canvas);
    shrink(&canvas, drawing->width, drawing->height, rgb);
    status = vcs_png_write_rgb(path, rgb, drawing->width, drawing->height, 1, error);
  } else {
    vcs_error_fill(error, status, "out of memory");
  }
  free(rgb);
  free(canvas.rgb);
  return status;
}

vcs_status_t vcs_drawing_write(const vcs_drawing_t *drawing, const char *path, vcs_error_t *error) {
  char name[VCS_PATH_SIZE];
  if (drawing->failed) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (snprintf(name, sizeof name, "%s.svg", path) >= (int)sizeof name)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path '%.60s...' is too long", path);
  vcs_text_t svg = {0};
  write_svg(drawing, &svg);
  vcs_status_t status = vcs_file_write_text(name, &svg, error);
  vcs_text_free(&svg);
  snprintf(name, sizeof name, "%s.png", path);
  return status ? status : write_png(drawing, name, error);
}

/* ---- Charts ---------------------------------------------------------------------------------------------------- */

static double y_unit(const vcs_chart_t *chart, double y) { return chart->y_log ? log10(y) : y; }

double vcs_chart_x(const vcs_chart_t *chart, double x) {
  return chart->left + chart->width * (x - chart->x_from) / (chart->x_to - chart->x_from);
}

double vcs_chart_y(const vcs_chart_t *chart, double y) {
  double from = y_unit(chart, chart->y_from), to = y_unit(chart, chart->y_to);
  return chart->top + chart->height * (1 - (y_unit(chart, y) - from) / (to - from));
}

/* 1, 2 or 5 times a power of ten, so that about `ticks` of them make the range. */
static double tick_of(double range, int ticks) {
  double rough = range / ticks, power = pow(10, floor(log10(rough))), times = rough / power;
  return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

void vcs_chart_frame(vcs_drawing_t *drawing, const vcs_chart_t *chart) {
  const double right = chart->left + chart->width, bottom = chart->top + chart->height;
  const uint32_t ink = 0x202020, faint = 0xDDDDDD;
  char label[32];
  double step = tick_of(chart->x_to - chart->x_from, chart->x_ticks ? chart->x_ticks : 1);
  for (int i = (int)ceil(chart->x_from / step - 1e-9); chart->x_ticks && i <= chart->x_to / step + 1e-9; i++) {
    double x = i * step, at = vcs_chart_x(chart, x);
    vcs_draw_line(drawing, at, chart->top, at, bottom, 1, faint);
    snprintf(label, sizeof label, "%.4g", x);
    vcs_draw_text(drawing, at, bottom + 13, VCS_TEXT_MIDDLE, ink, label);
  }
  double from = y_unit(chart, chart->y_from), to = y_unit(chart, chart->y_to);
  step = tick_of(to - from, chart->y_ticks);
  if (chart->y_log && step < 1) step = 1;
  for (int i = (int)ceil(from / step - 1e-9); i <= to / step + 1e-9; i++) {
    double value = chart->y_log ? pow(10, i * step) : i * step, at = vcs_chart_y(chart, value);
    vcs_draw_line(drawing, chart->left, at, right, at, 1, faint);
    snprintf(label, sizeof label, "%.4g", value);
    vcs_draw_text(drawing, chart->left - 5, at + 4, VCS_TEXT_RIGHT, ink, label);
  }
  vcs_draw_line(drawing, chart->left, chart->top, chart->left, bottom, 1, ink);
  vcs_draw_line(drawing, chart->left, bottom, right, bottom, 1, ink);
  vcs_draw_text(drawing, (chart->left + right) / 2, chart->top - 8, VCS_TEXT_MIDDLE, ink, chart->title);
  vcs_draw_text(drawing, (chart->left + right) / 2, bottom + 28, VCS_TEXT_MIDDLE, ink, chart->x_label);
  vcs_draw_text(drawing, chart->left - 30, chart->top - 8, VCS_TEXT_LEFT, ink, chart->y_label);
}

static bool inside(const vcs_chart_t *chart, double x, double y) {
  return x >= chart->x_from && x <= chart->x_to && y >= chart->y_from && y <= chart->y_to;
}

void vcs_chart_curve(vcs_drawing_t *drawing, const vcs_chart_t *chart, const double *x, const double *y, int count,
                     uint32_t colour, bool dashed) {
  for (int i = 1; i < count; i++) {
    if (dashed && i % 2 == 0) continue;
    if (!inside(chart, x[i - 1], y[i - 1]) || !inside(chart, x[i], y[i])) continue;
    vcs_draw_line(drawing, vcs_chart_x(chart, x[i - 1]), vcs_chart_y(chart, y[i - 1]), vcs_chart_x(chart, x[i]),
                  vcs_chart_y(chart, y[i]), 1.6, colour);
  }
}

void vcs_chart_dot(vcs_drawing_t *drawing, const vcs_chart_t *chart, double x, double y, uint32_t colour) {
  if (!inside(chart, x, y)) return;
  vcs_draw_box(drawing, vcs_chart_x(chart, x) - 2.5, vcs_chart_y(chart, y) - 2.5, 5, 5, colour);
}

void vcs_chart_key(vcs_drawing_t *drawing, const vcs_chart_t *chart, int line, uint32_t colour, const char *text) {
  double x = chart->left + 10, y = chart->top + 14 + 13 * line;
  vcs_draw_line(drawing, x, y - 3, x + 16, y - 3, 2, colour);
  vcs_draw_text(drawing, x + 21, y, VCS_TEXT_LEFT, 0x202020, text);
}

/* ---- Colours --------------------------------------------------------------------------------------------------- */

static uint32_t between(uint32_t a, uint32_t b, double part) {
  uint32_t colour = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    double from = a >> shift & 255, to = b >> shift & 255;
    colour |= (uint32_t)lround(from + part * (to - from)) << shift;
  }
  return colour;
}

uint32_t vcs_colour_heat(double value) {
  static const uint32_t stops[] = {0x000004, 0x3B0F70, 0x8C2981, 0xDE4968, 0xFE9F6D, 0xFCFDBF};
  double at = 5 * fmin(fmax(value, 0), 1);
  int stop = at >= 5 ? 4 : (int)at;
  return between(stops[stop], stops[stop + 1], at - stop);
}

uint32_t vcs_colour_signed(double value) {
  value = fmin(fmax(value, -1), 1);
  return value < 0 ? between(0x000000, 0x3A7CFF, -value) : between(0x000000, 0xFF5040, value);
}

uint32_t vcs_colour_of(int number) {
  static const uint32_t colours[] = {0x1F77B4, 0xD62728, 0x2CA02C, 0x9467BD, 0xFF7F0E, 0x17BECF, 0x8C564B, 0x7F7F7F};
  return colours[(unsigned)number % 8];
}
