/* Small pictures: tinted, pooled, resized as OpenCV resizes. The digests are of what cv2.resize(INTER_AREA) makes of
 * the same pictures, which come from a linear congruential generator; equality on games is tests/ale_vector_live.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/hash.h"
#include "host/palette.h"
#include "host/preprocess.h"

enum { NOISE, FEW_COLOURS, REPEATED_ROWS };

/* A picture: noise, four colours only (so that many sums are halves), or rows that are repeated four times. */
static uint8_t *make_picture(int height, int width, int channels, int kind) {
  const size_t length = (size_t)(width * channels);
  uint8_t *picture = malloc((size_t)height * length);
  uint32_t random = 12345;
  for (size_t i = 0; i < (size_t)height * length; i++) {
    random = random * 1664525u + 1013904223u;
    picture[i] = (uint8_t)(kind == FEW_COLOURS ? 40 * (random >> 30) : random >> 24);
  }
  for (int y = 0; kind == REPEATED_ROWS && y < height; y++) {
    if (y % 4) memcpy(picture + (size_t)y * length, picture + (size_t)(y - 1) * length, length);
  }
  return picture;
}

static uint8_t *resize(const uint8_t *picture, int from_height, int from_width, int height, int width, int channels) {
  vcs_resize_t *plan = vcs_resize_create(from_height, from_width, height, width, channels);
  const size_t length = (size_t)(from_width * channels);
  const uint8_t **rows = malloc((size_t)from_height * sizeof *rows);
  uint8_t *out = malloc((size_t)(height * width * channels));
  void *scratch = aligned_alloc(64, (vcs_resize_scratch(plan) + 63) & ~(size_t)63);
  for (int y = 0; y < from_height; y++) {
    rows[y] = picture + (size_t)y * length;
    if (y > 0 && memcmp(rows[y], rows[y] - length, length) == 0) rows[y] = rows[y - 1];
  }
  vcs_resize_rows(plan, rows, scratch, out);
  free(scratch);
  free(rows);
  vcs_resize_free(plan);
  return out;
}

static void test_resize_equals_opencv(void **state) {
  (void)state;
  static const struct {
    int from_height, height, width, channels, kind;
    uint64_t digest;
  } cases[] = {
      {210, 84, 84, 1, NOISE, 0xB0940CD672AF60E8u},
      {210, 84, 84, 1, FEW_COLOURS, 0x4651DDB9490A6DE1u},
      {210, 84, 84, 1, REPEATED_ROWS, 0x36DBF60C555FEDDDu},
      {210, 84, 84, 3, NOISE, 0x9A286C2F27B1D91Du},
      {210, 84, 84, 3, REPEATED_ROWS, 0xEDEF45D977A64EC4u},
      {250, 84, 84, 1, NOISE, 0xE8CDE702C243DF38u},
      {250, 84, 84, 1, FEW_COLOURS, 0xCA5E0C95FD0526AEu},
      {250, 84, 84, 1, REPEATED_ROWS, 0xD2A9F49EC6050177u},
      {250, 84, 84, 3, NOISE, 0x942BE12297DEC20Eu},
      {250, 84, 84, 3, REPEATED_ROWS, 0xF964558EB864260Cu},
      {200, 84, 84, 1, NOISE, 0x753250AF34F66026u},
      {200, 84, 84, 1, FEW_COLOURS, 0x97FA981209403C31u},
      {200, 84, 84, 1, REPEATED_ROWS, 0xCC2C6EC2D8D95DA0u},
      {200, 84, 84, 3, NOISE, 0x7F79FA00D87FE212u},
      {200, 84, 84, 3, REPEATED_ROWS, 0x1852950F9F3EC80Bu},
      {210, 105, 80, 1, NOISE, 0x35D29043336C8B72u},
      {210, 105, 80, 1, FEW_COLOURS, 0xBA85E21F59F9C222u},
      {210, 105, 80, 1, REPEATED_ROWS, 0x2DEF74D9F2B4CEF5u},
      {210, 105, 80, 3, NOISE, 0x16297CA35E37FE62u},
      {210, 105, 80, 3, REPEATED_ROWS, 0x17C78F0FC115BB14u},
      {210, 70, 40, 1, NOISE, 0xE3D042092C539282u},
      {210, 70, 40, 1, FEW_COLOURS, 0xFBDC65540BA2DF7Fu},
      {210, 70, 40, 1, REPEATED_ROWS, 0xAC10276E24490F85u},
      {210, 70, 40, 3, NOISE, 0xCE71BD293D1BFAD2u},
      {210, 70, 40, 3, REPEATED_ROWS, 0xD1B8D9A96A94EE06u},
      {210, 42, 42, 1, NOISE, 0x7EB3B72E05FE2207u},
      {210, 42, 42, 1, FEW_COLOURS, 0x1FC97D3954157CA8u},
      {210, 42, 42, 1, REPEATED_ROWS, 0x12ACD856C7BB15E9u},
      {210, 42, 42, 3, NOISE, 0x9F33ADFE2E2E49E3u},
      {210, 42, 42, 3, REPEATED_ROWS, 0xE8235CC441E70CC2u},
      {250, 125, 80, 1, NOISE, 0x6E501075A61F9502u},
      {250, 125, 80, 1, FEW_COLOURS, 0x7F81E500EE714368u},
      {250, 125, 80, 1, REPEATED_ROWS, 0x1895658EBE12639Du},
      {250, 125, 80, 3, NOISE, 0xD38E89AE81CB2BFEu},
      {250, 125, 80, 3, REPEATED_ROWS, 0xC56E1B9EB10D4B71u},
      {210, 110, 84, 1, NOISE, 0x9C479017838F7E3Au},
      {210, 110, 84, 1, FEW_COLOURS, 0xE5F81B70C110A372u},
      {210, 110, 84, 1, REPEATED_ROWS, 0xE42B10B4CA12BC3Cu},
      {210, 110, 84, 3, NOISE, 0xC7F97008B2C29B9Fu},
      {210, 110, 84, 3, REPEATED_ROWS, 0x039A4A7A5457A7B9u},
      {210, 64, 64, 1, NOISE, 0xC53DACB9233F17E6u},
      {210, 64, 64, 1, FEW_COLOURS, 0x12A9914914FB3FC3u},
      {210, 64, 64, 1, REPEATED_ROWS, 0xF1DC9920C65A943Eu},
      {210, 64, 64, 3, NOISE, 0x155B732CCFEA17C9u},
      {210, 64, 64, 3, REPEATED_ROWS, 0x866E6446631AC4F6u},
      {210, 96, 96, 1, NOISE, 0xE771D9020B5D38EFu},
      {210, 96, 96, 1, FEW_COLOURS, 0xB71A936CA562F0A6u},
      {210, 96, 96, 1, REPEATED_ROWS, 0x70AD4C565EF809C7u},
      {210, 96, 96, 3, NOISE, 0xFE570741CA859708u},
      {210, 96, 96, 3, REPEATED_ROWS, 0x8F8F464476E427D8u},
      {210, 209, 159, 1, NOISE, 0x4B8D25069858FD80u},
      {210, 209, 159, 1, FEW_COLOURS, 0xB32CD5FC3AF170DBu},
      {210, 209, 159, 1, REPEATED_ROWS, 0xE021C93D061E90BBu},
      {210, 209, 159, 3, NOISE, 0x6E1C6629536DF48Fu},
      {210, 209, 159, 3, REPEATED_ROWS, 0x841C8DC2D5D8EDC2u},
      {210, 1, 1, 1, NOISE, 0x49D1C4F1C492EF50u},
      {210, 1, 1, 1, FEW_COLOURS, 0x022545933F06BF0Du},
      {210, 1, 1, 1, REPEATED_ROWS, 0x49D1C4F1C492EF50u},
      {210, 1, 1, 3, NOISE, 0xB99BF23CAB6B716Bu},
      {210, 1, 1, 3, REPEATED_ROWS, 0xB99BF23CAB6B716Bu},
      {210, 210, 84, 1, NOISE, 0xCD8A22F2AF33CAD9u},
      {210, 210, 84, 1, FEW_COLOURS, 0x6A3F49D52407CCC7u},
      {210, 210, 84, 1, REPEATED_ROWS, 0x336BF6A40C485503u},
      {210, 210, 84, 3, NOISE, 0x3AC57F36D75FB136u},
      {210, 210, 84, 3, REPEATED_ROWS, 0x20E933C26390FF6Fu},
      {210, 84, 160, 1, NOISE, 0x51F2D20504F0855Cu},
      {210, 84, 160, 1, FEW_COLOURS, 0x8B7F023A0F533DC5u},
      {210, 84, 160, 1, REPEATED_ROWS, 0x3F023DFE472A6122u},
      {210, 84, 160, 3, NOISE, 0x422291F21031A12Bu},
      {210, 84, 160, 3, REPEATED_ROWS, 0x6CB5EF26467AF3B8u},
      {210, 256, 256, 1, NOISE, 0x5FE8BB2F0CF9C5EDu},
      {210, 256, 256, 1, FEW_COLOURS, 0x7FA8F1B26A8B3BCCu},
      {210, 256, 256, 1, REPEATED_ROWS, 0xC9F88E2DAD03B430u},
      {210, 256, 256, 3, NOISE, 0x7B3221A95C00D429u},
      {210, 256, 256, 3, REPEATED_ROWS, 0x614B2F21667E7C19u},
      {210, 84, 200, 1, NOISE, 0x9AE8A519D6B0F016u},
      {210, 84, 200, 1, FEW_COLOURS, 0xDDE73C5C3953025Fu},
      {210, 84, 200, 1, REPEATED_ROWS, 0xDB370972D40824A2u},
      {210, 84, 200, 3, NOISE, 0xF47048D874DC0A6Au},
      {210, 84, 200, 3, REPEATED_ROWS, 0xCD7E68336486A8ECu},
      {250, 300, 100, 1, NOISE, 0x8D31789EFACA6986u},
      {250, 300, 100, 1, FEW_COLOURS, 0x63217C141EBE3AB1u},
      {250, 300, 100, 1, REPEATED_ROWS, 0x25E42B349882C48Cu},
      {250, 300, 100, 3, NOISE, 0xBBA249B6D2BB7396u},
      {250, 300, 100, 3, REPEATED_ROWS, 0x54564E3825F6B6A8u},
      {210, 100, 100, 1, NOISE, 0x1EB61580C03F0B8Cu},
      {210, 100, 100, 1, FEW_COLOURS, 0x326D4EB575361C02u},
      {210, 100, 100, 1, REPEATED_ROWS, 0xD2F0D9B367A8CF07u},
      {210, 100, 100, 3, NOISE, 0xEEDA7D33A75A22D2u},
      {210, 100, 100, 3, REPEATED_ROWS, 0x63DCA2134FC3D7A7u},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t *picture = make_picture(cases[i].from_height, 160, cases[i].channels, cases[i].kind);
    uint8_t *out = resize(picture, cases[i].from_height, 160, cases[i].height, cases[i].width, cases[i].channels);
    const uint64_t digest = vcs_hash64(out, (size_t)(cases[i].height * cases[i].width * cases[i].channels), 0);
    if (digest != cases[i].digest) {
      fail_msg("%d x 160 to %d x %d, %d channels, kind %d", cases[i].from_height, cases[i].height, cases[i].width,
               cases[i].channels, cases[i].kind);
    }
    free(out);
    free(picture);
  }
}

static void test_resize_to_the_same_size_copies(void **state) {
  (void)state;
  uint8_t *picture = make_picture(210, 160, 3, NOISE), *out = resize(picture, 210, 160, 210, 160, 3);
  assert_memory_equal(picture, out, 210 * 160 * 3);
  free(out);
  free(picture);
}

static void test_resize_keeps_one_colour(void **state) {
  (void)state;
  static const int sizes[][2] = {{84, 84}, {105, 80}, {64, 96}, {1, 1}, {300, 200}, {84, 200}, {209, 159}};
  uint8_t picture[210 * 160];
  for (int colour = 0; colour < 256; colour += 51) {
    memset(picture, colour, sizeof picture);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      uint8_t *out = resize(picture, 210, 160, sizes[i][0], sizes[i][1], 1);
      for (int k = 0; k < sizes[i][0] * sizes[i][1]; k++) assert_int_equal(out[k], colour);
      free(out);
    }
  }
}

/* ---- Tints -------------------------------------------------------------------------------------------------- */

enum { HEIGHT = 12 };

static void make_frames(uint8_t *a, uint8_t *b) {
  uint8_t *noise = make_picture(2 * HEIGHT, 160, 1, NOISE);
  memcpy(a, noise, HEIGHT * 160);
  memcpy(b, noise + HEIGHT * 160, HEIGHT * 160);
  for (int i = 0; i < 9 * 160; i++) { /* rows 0 to 8 have kept their colour */
    a[i] &= 0xFE;
    b[i] &= 0xFE;
  }
  memcpy(b + 3 * 160, a + 3 * 160, 160); /* row 3 is the same in both */
  memcpy(a + 6 * 160, a + 5 * 160, 160); /* row 6 repeats row 5 in both */
  memcpy(b + 6 * 160, b + 5 * 160, 160);
  memcpy(a + 8 * 160, a + 7 * 160, 160); /* row 8 repeats row 7 in one */
  free(noise);
}

static void test_pool_is_the_brighter_of_two_frames(void **state) {
  (void)state;
  uint8_t a[HEIGHT * 160], b[HEIGHT * 160], picture[HEIGHT * 160 * 3];
  const uint8_t *rows[HEIGHT];
  make_frames(a, b);
  for (int rgb = 0; rgb < 2; rgb++) {
    for (int two = 0; two < 2; two++) {
      vcs_tint_t tint;
      vcs_tint_make(&tint, VCS_FORMAT_PAL, rgb);
      vcs_tint_pool(&tint, a, two ? b : NULL, HEIGHT, picture, rows);
      for (int i = 0; i < HEIGHT * 160 * tint.channels; i++) {
        const int pixel = i / tint.channels, shift = 16 - 8 * (i % tint.channels);
        const uint8_t of_a = rgb ? (uint8_t)(vcs_palette(VCS_FORMAT_PAL)[a[pixel]] >> shift)
                                 : vcs_palette_gray(VCS_FORMAT_PAL)[a[pixel]];
        const uint8_t of_b = rgb ? (uint8_t)(vcs_palette(VCS_FORMAT_PAL)[b[pixel]] >> shift)
                                 : vcs_palette_gray(VCS_FORMAT_PAL)[b[pixel]];
        const uint8_t expected = two && of_b > of_a ? of_b : of_a;
        assert_int_equal(rows[pixel / 160][i % (160 * tint.channels)], expected);
      }
    }
  }
}

static void test_pool_points_to_a_repeated_row_once(void **state) {
  (void)state;
  uint8_t a[HEIGHT * 160], b[HEIGHT * 160], picture[HEIGHT * 160];
  const uint8_t *rows[HEIGHT];
  vcs_tint_t tint;
  make_frames(a, b);
  vcs_tint_make(&tint, VCS_FORMAT_NTSC, 0);
  vcs_tint_pool(&tint, a, b, HEIGHT, picture, rows);
  for (int y = 1; y < HEIGHT; y++) assert_int_equal(rows[y] == rows[y - 1], y == 6);
}

static void test_pool_onto_a_picture_is_the_brighter(void **state) {
  (void)state;
  uint8_t a[HEIGHT * 160], b[HEIGHT * 160], one[HEIGHT * 160], two[HEIGHT * 160], both[HEIGHT * 160];
  const uint8_t *rows[HEIGHT], *onto[HEIGHT], *expected[HEIGHT];
  vcs_tint_t tint;
  make_frames(a, b);
  vcs_tint_make(&tint, VCS_FORMAT_NTSC, 0);
  vcs_tint_pool(&tint, a, NULL, HEIGHT, one, rows);
  vcs_tint_pool_onto(&tint, b, rows, HEIGHT, two, onto);
  vcs_tint_pool(&tint, a, b, HEIGHT, both, expected);
  for (int y = 0; y < HEIGHT; y++) assert_memory_equal(onto[y], expected[y], 160);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resize_equals_opencv),
      cmocka_unit_test(test_resize_to_the_same_size_copies),
      cmocka_unit_test(test_resize_keeps_one_colour),
      cmocka_unit_test(test_pool_is_the_brighter_of_two_frames),
      cmocka_unit_test(test_pool_points_to_a_repeated_row_once),
      cmocka_unit_test(test_pool_onto_a_picture_is_the_brighter),
  };
  return cmocka_run_group_tests_name("preprocess", tests, NULL, NULL);
}
