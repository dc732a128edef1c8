/* The palettes against ale-py's: the checksums are of getScreenRGB and getScreenGrayscale of indices 0..255 in order,
 * checked over frames of every game ale-py has (all 128 NTSC colours, 112 of PAL, and Air Raid's lost colours). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "host/palette.h"

static uint32_t checksum(vcs_format_t format, int bytes) {
  uint8_t indices[256], seen[256 * 3];
  for (int i = 0; i < 256; i++) indices[i] = (uint8_t)i;
  if (bytes == 3)
    vcs_frame_rgb(format, indices, 256, seen);
  else
    vcs_frame_gray(format, indices, 256, seen);
  return (uint32_t)crc32(0, seen, (uInt)(256 * bytes));
}

static void test_ntsc_is_ale_pys(void **state) {
  (void)state;
  assert_int_equal(checksum(VCS_FORMAT_NTSC, 3), 0x3ed3a897);
  assert_int_equal(checksum(VCS_FORMAT_NTSC, 1), 0x6dcf3c57);
}

static void test_pal_is_ale_pys(void **state) {
  (void)state;
  assert_int_equal(checksum(VCS_FORMAT_PAL, 3), 0xac0c80bc);
  assert_int_equal(checksum(VCS_FORMAT_PAL, 1), 0x1d9e7fa0);
}

static void test_secam_is_ale_pys(void **state) {
  (void)state;
  assert_int_equal(checksum(VCS_FORMAT_SECAM, 3), 0x04b71338);
  assert_int_equal(checksum(VCS_FORMAT_SECAM, 1), 0x7fe7bde9);
}

/* Rows that repeat the one above, and an incomplete last row, are pixels like all others; so are rows without odd
 * indices, and pixels of one colour next to each other. Nothing is written behind the last pixel. */
static void test_rows_are_converted_pixel_by_pixel(void **state) {
  (void)state;
  enum { ROWS = 6, PIXELS = ROWS * VCS_WIDTH + 50, WIDTHS = 3, FORMATS = 4 };
  uint8_t indices[PIXELS], rgb[3 * PIXELS + 1], gray[PIXELS + 1];
  for (int kind = 0; kind < 2 * WIDTHS * FORMATS; kind++) {
    const vcs_format_t format = (vcs_format_t)(VCS_FORMAT_NTSC + kind % FORMATS);
    const int width = 1 << 2 * (kind / FORMATS % WIDTHS), mask = kind / (FORMATS * WIDTHS) ? 0xFE : 0xFF;
    for (int i = 0; i < PIXELS; i++) {
      indices[i] = (uint8_t)((i / VCS_WIDTH / 2 * 40 + i % VCS_WIDTH / width * 77) & mask);
    }
    indices[VCS_WIDTH + 7] ^= 2;
    rgb[3 * PIXELS] = gray[PIXELS] = 0x5A;
    vcs_frame_rgb(format, indices, PIXELS, rgb);
    vcs_frame_gray(format, indices, PIXELS, gray);
    assert_int_equal(rgb[3 * PIXELS] + gray[PIXELS], 2 * 0x5A);
    for (int i = 0; i < PIXELS; i++) {
      const uint32_t colour = vcs_palette(format)[indices[i]];
      assert_int_equal(rgb[3 * i] << 16 | rgb[3 * i + 1] << 8 | rgb[3 * i + 2], colour);
      assert_int_equal(gray[i], vcs_palette_gray(format)[indices[i]]);
    }
  }
}

static void test_auto_is_ntsc_and_pal60_is_pal(void **state) {
  (void)state;
  assert_ptr_equal(vcs_palette(VCS_FORMAT_AUTO), vcs_palette(VCS_FORMAT_NTSC));
  assert_ptr_equal(vcs_palette(VCS_FORMAT_PAL60), vcs_palette(VCS_FORMAT_PAL));
  assert_ptr_equal(vcs_palette_gray(VCS_FORMAT_PAL60), vcs_palette_gray(VCS_FORMAT_PAL));
}

static void test_pong_brown_is_0x904811(void **state) {
  (void)state;
  assert_int_equal(vcs_palette(VCS_FORMAT_NTSC)[0x22], 0x904811);
  assert_int_equal(vcs_palette_gray(VCS_FORMAT_NTSC)[0x22], 0x57);
}

static void test_odd_entry_is_the_gray_of_the_even_one(void **state) {
  (void)state;
  for (int format = VCS_FORMAT_NTSC; format <= VCS_FORMAT_SECAM; format++) {
    const uint32_t *colours = vcs_palette((vcs_format_t)format);
    const uint8_t *grays = vcs_palette_gray((vcs_format_t)format);
    for (int i = 0; i < 256; i += 2) assert_int_equal(colours[i + 1], grays[i] * 0x010101u);
  }
}

static void test_gray_of_an_odd_entry_is_the_blue_of_the_next(void **state) {
  (void)state;
  const uint32_t *colours = vcs_palette(VCS_FORMAT_PAL);
  const uint8_t *grays = vcs_palette_gray(VCS_FORMAT_PAL);
  for (int i = 1; i < 255; i += 2) assert_int_equal(grays[i], colours[i + 1] & 255);
  assert_int_equal(grays[255], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ntsc_is_ale_pys),
      cmocka_unit_test(test_pal_is_ale_pys),
      cmocka_unit_test(test_secam_is_ale_pys),
      cmocka_unit_test(test_rows_are_converted_pixel_by_pixel),
      cmocka_unit_test(test_auto_is_ntsc_and_pal60_is_pal),
      cmocka_unit_test(test_pong_brown_is_0x904811),
      cmocka_unit_test(test_odd_entry_is_the_gray_of_the_even_one),
      cmocka_unit_test(test_gray_of_an_odd_entry_is_the_blue_of_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
