/* test_drawing.c: figures: every shape of the list is in the SVG and in the PNG, at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plot/drawing.h"
#include "host/files.h"

enum { WIDTH = 120, HEIGHT = 60 };

static char folder[] = "test_drawing.XXXXXX";

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

/* Writes the drawing, frees it, and reads both files back. */
static void write_and_read(vcs_drawing_t *drawing, char **svg, uint8_t *rgb) {
  char path[VCS_PATH_SIZE], name[VCS_PATH_SIZE + 8];
  size_t size;
  snprintf(path, sizeof path, "%s/figure", folder);
  assert_int_equal(vcs_drawing_write(drawing, path, NULL), VCS_OK);
  vcs_drawing_free(drawing);
  snprintf(name, sizeof name, "%s.svg", path);
  assert_int_equal(vcs_file_read(name, 1 << 20, (uint8_t **)svg, &size, NULL), VCS_OK);
  unlink(name);
  snprintf(name, sizeof name, "%s.png", path);
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&image, name));
  assert_int_equal(image.width, WIDTH);
  assert_int_equal(image.height, HEIGHT);
  image.format = PNG_FORMAT_RGB;
  assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
  unlink(name);
}

static uint32_t at(const uint8_t *rgb, int x, int y) {
  const uint8_t *p = rgb + 3 * (WIDTH * y + x);
  return (uint32_t)(p[0] << 16 | p[1] << 8 | p[2]);
}

static void test_shapes_are_where_they_were_put(void **state) {
  (void)state;
  char *svg;
  static uint8_t rgb[3 * WIDTH * HEIGHT];
  const uint8_t two[] = {255, 0, 0, 0, 0, 255};
  vcs_drawing_t *drawing = vcs_drawing_create(WIDTH, HEIGHT);
  vcs_draw_box(drawing, 10, 10, 20, 5, 0x123456);
  vcs_draw_line(drawing, 50, 30, 90, 30, 3, 0x00FF00);
  vcs_draw_pixels(drawing, 100, 40, two, 2, 1, 4, 4);
  vcs_draw_text(drawing, 5, 58, VCS_TEXT_LEFT, 0x000000, "a < b & c");
  vcs_draw_box(drawing, -50, -50, 55, 52, 0xFF00FF); /* what sticks out is cut */
  write_and_read(drawing, &svg, rgb);
  assert_int_equal(at(rgb, 15, 12), 0x123456);
  assert_int_equal(at(rgb, 15, 17), 0xFFFFFF);
  assert_int_equal(at(rgb, 70, 30), 0x00FF00);
  assert_int_equal(at(rgb, 101, 42), 0xFF0000);
  assert_int_equal(at(rgb, 105, 42), 0x0000FF);
  assert_int_equal(at(rgb, 2, 1), 0xFF00FF);
  int ink = 0;
  for (int y = 50; y < HEIGHT; y++) {
    for (int x = 0; x < 70; x++) ink += at(rgb, x, y) == 0;
  }
  assert_in_range(ink, 60, 140); /* nine letters, two of them spaces */
  assert_non_null(strstr(svg, "<rect x=\"10\" y=\"10\" width=\"20\" height=\"5\" fill=\"#123456\"/>"));
  assert_non_null(strstr(svg, "a &#60; b &#38; c</text>"));
  assert_non_null(strstr(svg, "</svg>"));
  free(svg);
}

static void test_charts_have_units(void **state) {
  (void)state;
  const vcs_chart_t linear = {"t", "x", "y", 20, 10, 80, 30, 0, 10, -1, 1, false, 5, 4};
  vcs_chart_t decades = linear;
  decades.y_log = true;
  decades.y_from = 0.01;
  decades.y_to = 100;
  assert_true(vcs_chart_x(&linear, 0) == 20 && vcs_chart_x(&linear, 10) == 100);
  assert_true(vcs_chart_y(&linear, -1) == 40 && vcs_chart_y(&linear, 1) == 10 && vcs_chart_y(&linear, 0) == 25);
  assert_true(vcs_chart_y(&decades, 1) == 25);
  char *svg;
  static uint8_t rgb[3 * WIDTH * HEIGHT];
  const double x[] = {0, 5, 10, 15}, y[] = {0, 0.5, 0, 0};
  vcs_drawing_t *drawing = vcs_drawing_create(WIDTH, HEIGHT);
  vcs_chart_frame(drawing, &linear);
  vcs_chart_curve(drawing, &linear, x, y, 4, 0xFF0000, false);
  vcs_chart_dot(drawing, &linear, 20, 0, 0x0000FF); /* outside */
  write_and_read(drawing, &svg, rgb);
  assert_int_equal(at(rgb, 60, 17), 0xFF0000);
  assert_non_null(strstr(svg, ">10</text>"));
  assert_non_null(strstr(svg, ">-0.5</text>"));
  assert_null(strstr(svg, "#0000FF"));
  free(svg);
}

static void test_a_file_that_cannot_be_written_is_said(void **state) {
  (void)state;
  vcs_error_t error = {""};
  vcs_drawing_t *drawing = vcs_drawing_create(WIDTH, HEIGHT);
  assert_int_not_equal(vcs_drawing_write(drawing, "/nowhere/figure", &error), VCS_OK);
  assert_non_null(strstr(error.message, "/nowhere"));
  vcs_drawing_free(drawing);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes_are_where_they_were_put),
                                     cmocka_unit_test(test_charts_have_units),
                                     cmocka_unit_test(test_a_file_that_cannot_be_written_is_said)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
