/* test_map.c: maps of derivatives (plot/map.h): they are drawn for images of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/picture.h"
#include "plot/map.h"

enum { BANK = 4096, BANKS_MAX = 128, SIDE_MAX = 16384 };

/* Draws the map of an image whose last bit alone is not zero. */
static void draw(int banks, uint8_t **rgb, int *width, int *height) {
  const char path[] = "test_map.png";
  const uint32_t size = (uint32_t)banks * BANK;
  vcs_error_t error = {""};
  uint8_t *image = calloc(size, 1);
  float *bits = calloc((size_t)8 * size, sizeof *bits);
  assert_non_null(image);
  assert_non_null(bits);
  bits[8 * (size_t)size - 1] = 1;
  assert_int_equal(vcs_map_rom(path, "d(screen)/d(ROM)", image, size, bits, NULL, 0, &error), VCS_OK);
  assert_int_equal(vcs_png_read_rgb(path, SIDE_MAX, rgb, width, height, &error), VCS_OK);
  unlink(path);
  free(image);
  free(bits);
}

static void test_rom_of_more_than_16_banks_goes_on_below(void **state) {
  (void)state;
  static const int banks[] = {16, 17, 25, 32, BANKS_MAX};
  int first_width = 0, first_height = 0;
  for (int i = 0; i < 5; i++) {
    uint8_t *rgb;
    int width, height;
    draw(banks[i], &rgb, &width, &height);
    if (i == 0) first_width = width, first_height = height;
    assert_int_equal(width, first_width);
    assert_true(height < first_height * ((banks[i] + 15) / 16) + 1);
    assert_true(banks[i] == 16 || height > first_height);
    free(rgb);
  }
}

static void test_the_last_byte_of_rom_is_the_last_square_of_its_bank(void **state) {
  (void)state;
  uint8_t *rgb;
  int width, height, right = 0, bottom = 0;
  draw(17, &rgb, &width, &height);
  for (int y = 0; y < height - 48; y++) { /* the scale of the colours is below */
    for (int x = 0; x < width; x++) {
      const uint8_t *at = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
      if (at[0] == 255 && at[1] == 140) right = x, bottom = y;
    }
  }
  assert_int_equal(right, 2 * (40 + 63 * 5 + 4) - 1);
  assert_true(bottom > 2 * 2 * 64 * 5);
  free(rgb);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rom_of_more_than_16_banks_goes_on_below),
      cmocka_unit_test(test_the_last_byte_of_rom_is_the_last_square_of_its_bank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
