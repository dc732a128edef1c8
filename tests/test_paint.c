/* test_paint.c: the painters of paint.h, each against one pixel at a time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/paint.h"
#include "core/splitmix.h"
#include "need.h"

enum { LINES = 4000, GUARD = 32 };

typedef void (*painter_t)(uint64_t colour[VCS_LINE_WORDS][4], const uint64_t piece[VCS_LINE_WORDS],
                          const uint8_t colu[4], uint8_t *row);

static uint64_t random_state = 1;

static uint64_t noise(void) { return vcs_splitmix64(&random_state); }

static bool lit(uint64_t mask, int x) { return mask >> (x & 63) & 1; }

/* Every pixel has one colour; pieces are all of the line, a stretch of it, nothing, or any pixels at all. What lies
 * around the row, and outside the piece, must stay. */
static void check(painter_t paint) {
  for (int line = 0; line < LINES; line++) {
    uint8_t row[VCS_WIDTH + 2 * GUARD], expected[VCS_WIDTH + 2 * GUARD], colu[4];
    uint64_t colour[VCS_LINE_WORDS][4], piece[VCS_LINE_WORDS];
    int kind = (int)(noise() % 4), from = (int)(noise() % VCS_WIDTH), to = from + (int)(noise() % VCS_WIDTH);
    for (int i = 0; i < 4; i++) colu[i] = (uint8_t)noise();
    for (size_t i = 0; i < sizeof row; i++) row[i] = expected[i] = (uint8_t)noise();
    for (int w = 0; w < VCS_LINE_WORDS; w++) {
      uint64_t low = noise(), high = noise();
      colour[w][0] = ~low & ~high;
      colour[w][1] = low & ~high;
      colour[w][2] = ~low & high;
      colour[w][3] = low & high;
      piece[w] = kind == 0 ? ~0ull : kind == 1 ? noise() : 0;
    }
    for (int x = from; kind == 2 && x < to && x < VCS_WIDTH; x++) piece[x >> 6] |= 1ull << (x & 63);
    for (int x = 0; x < VCS_WIDTH; x++) {
      for (int i = 0; i < 4; i++) {
        if (lit(piece[x >> 6], x) && lit(colour[x >> 6][i], x)) expected[GUARD + x] = colu[i];
      }
    }
    paint(colour, piece, colu, row + GUARD);
    assert_memory_equal(row, expected, sizeof row);
  }
}

typedef void (*layer_painter_t)(const vcs_layers_t *layers, int from, int to, uint8_t *row);

/* The same for layers, of which some are empty, and whole rows or stretches of them. */
static void check_layers(layer_painter_t paint) {
  for (int line = 0; line < LINES; line++) {
    uint8_t row[VCS_WIDTH + 2 * GUARD], expected[VCS_WIDTH + 2 * GUARD];
    vcs_layers_t layers = {.background = (uint8_t)noise(), .first_on_top = noise() % 2};
    int from = 0, to = VCS_WIDTH;
    if (noise() % 2) {
      from = (int)(noise() % VCS_WIDTH);
      to = from + (int)(noise() % (uint64_t)(VCS_WIDTH - from + 1));
    }
    for (size_t i = 0; i < sizeof row; i++) row[i] = expected[i] = (uint8_t)noise();
    for (int i = 0; i < VCS_LAYERS; i++) {
      layers.colour[i] = (uint8_t)noise();
      for (int w = 0; w < VCS_LINE_WORDS; w++) layers.word[i][w] = noise() % 3 ? noise() & noise() : 0;
      layers.word[i][VCS_LINE_WORDS - 1] &= 0xFFFFFFFF;
    }
    for (int x = from; x < to; x++) {
      expected[GUARD + x] = layers.background;
      for (int k = 0; k < VCS_LAYERS; k++) {
        const int i = layers.first_on_top ? (k + 1) % VCS_LAYERS : k;
        if (lit(layers.word[i][x >> 6], x)) expected[GUARD + x] = layers.colour[i];
      }
    }
    paint(&layers, from, to, row + GUARD);
    assert_memory_equal(row, expected, sizeof row);
  }
}

static void test_paint_by_eight_is_pixel_by_pixel(void **state) {
  (void)state;
  check(vcs_paint_by_eight);
  check_layers(vcs_paint_layers_by_eight);
}

static void test_paint_by_32_is_pixel_by_pixel(void **state) {
  (void)state;
#if VCS_PAINT_WIDE
  if (__builtin_cpu_supports("avx2")) {
    check(vcs_paint_by_32);
    check_layers(vcs_paint_layers_by_32);
    return;
  }
#endif
  NEED("avx2", "this processor has no AVX2");
}

static void test_paint_by_64_is_pixel_by_pixel(void **state) {
  (void)state;
#if VCS_PAINT_WIDEST
  if (__builtin_cpu_supports("avx512bw")) {
    check_layers(vcs_paint_layers_by_64);
    return;
  }
#endif
  NEED("avx512", "this processor has no AVX-512");
}

static void test_paint_is_pixel_by_pixel(void **state) {
  (void)state;
  check(vcs_paint);
  check_layers(vcs_paint_layers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paint_by_eight_is_pixel_by_pixel),
      cmocka_unit_test(test_paint_by_32_is_pixel_by_pixel),
      cmocka_unit_test(test_paint_by_64_is_pixel_by_pixel),
      cmocka_unit_test(test_paint_is_pixel_by_pixel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
