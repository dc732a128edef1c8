/* drawing.h: figures, as SVG and as PNG.
 *
 * A drawing is a list of shapes in pixels, the origin at the top left; colours are 0xRRGGBB. vcs_drawing_write makes
 * both files from the one list: SVG for print, PNG for the page. The PNG's letters are a 5 x 7 font, which is all that
 * labels need, and needs no font on the machine.
 *
 * A chart is a frame with axes in a drawing; curves, points and cells are placed in its units.
 */
#ifndef VCS_PLOT_DRAWING_H
#define VCS_PLOT_DRAWING_H

#include <stdbool.h>

#include "diffvcs/diffvcs.h"

typedef struct vcs_drawing vcs_drawing_t;

/* NULL: no memory. Shapes that find no memory are left out, and writing reports it. */
vcs_drawing_t *vcs_drawing_create(int width, int height);
void vcs_drawing_free(vcs_drawing_t *drawing);

typedef enum { VCS_TEXT_LEFT, VCS_TEXT_MIDDLE, VCS_TEXT_RIGHT } vcs_text_anchor_t;

void vcs_draw_box(vcs_drawing_t *drawing, double x, double y, double width, double height, uint32_t colour);
void vcs_draw_line(vcs_drawing_t *drawing, double x0, double y0, double x1, double y1, double width, uint32_t colour);
void vcs_draw_text(vcs_drawing_t *drawing, double x, double y, vcs_text_anchor_t anchor, uint32_t colour,
                   const char *text); /* 7 pixels high; y is the bottom of the letters */

/* RGB pixels, each drawn pixel_width x pixel_height. */
void vcs_draw_pixels(vcs_drawing_t *drawing, double x, double y, const uint8_t *rgb, int width, int height,
                     double pixel_width, double pixel_height);

/* Text in the same 5 x 7 letters, in a picture of bytes with `stride` bytes a row: sets the letters' bytes, from the
 * byte that `at` points to (the top left) on. A letter takes VCS_GLYPH_ADVANCE columns. */
void vcs_text_in_bytes(uint8_t *at, int stride, uint8_t value, const char *text);

/* path.svg and path.png. */
vcs_status_t vcs_drawing_write(const vcs_drawing_t *drawing, const char *path, vcs_error_t *error);

/* ---- Charts ---------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *title, *x_label, *y_label;
  double left, top, width, height;   /* of the frame, in the drawing */
  double x_from, x_to, y_from, y_to; /* its units; y_from is at the bottom */
  bool y_log;                        /* y is drawn as its decimal logarithm */
  int x_ticks, y_ticks;              /* about how many; x_ticks 0: none */
} vcs_chart_t;

double vcs_chart_x(const vcs_chart_t *chart, double x);
double vcs_chart_y(const vcs_chart_t *chart, double y);
void vcs_chart_frame(vcs_drawing_t *drawing, const vcs_chart_t *chart);
void vcs_chart_curve(vcs_drawing_t *drawing, const vcs_chart_t *chart, const double *x, const double *y, int count,
                     uint32_t colour, bool dashed);
void vcs_chart_dot(vcs_drawing_t *drawing, const vcs_chart_t *chart, double x, double y, uint32_t colour);
void vcs_chart_key(vcs_drawing_t *drawing, const vcs_chart_t *chart, int line, uint32_t colour, const char *text);

/* From dark to light, 0 to 1; and blue, black, red for -1, 0, 1. */
uint32_t vcs_colour_heat(double value);
uint32_t vcs_colour_signed(double value);

/* Distinguishable colours, by number. */
uint32_t vcs_colour_of(int number);

#endif
