/* The CRC-32 of what differs, by table and by multiplication, beside the CRC-32 of both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"
#include "grad/difference_crc.h"
#include "host/hash.h"
#include "noise.h"

enum { ROWS = 210, SIZE = ROWS * VCS_WIDTH, RAM = 128 };

typedef struct {
  vcs_difference_crc_t crc;
  uint8_t one[SIZE], other[SIZE], lines[ROWS];
} pictures_t;

/* Two pictures that differ in some bytes of some rows; returns how many bytes these are. */
static int32_t draw(pictures_t *p, int rows) {
  int32_t count = 0;
  for (int i = 0; i < SIZE; i++) p->one[i] = p->other[i] = noise_byte();
  memset(p->lines, 0, sizeof p->lines);
  for (int i = 0; i < rows; i++) {
    const uint32_t row = below(ROWS);
    p->lines[row] = 1; /* also where nothing differs in it */
    for (uint32_t left = below(40); left > 0; left--) p->one[row * VCS_WIDTH + below(VCS_WIDTH)] ^= noise_byte();
  }
  for (int i = 0; i < SIZE; i++) count += p->one[i] != p->other[i];
  return count;
}

static void check(pictures_t *p, int rows) {
  const int32_t wanted = draw(p, rows);
  int32_t count = 0, ram = 0, ram_wanted = 0;
  const uint32_t crc = vcs_difference_crc_of_rows(&p->crc, p->one, p->other, p->lines, ROWS, &count);
  assert_int_equal(crc, vcs_crc32(p->one, SIZE) ^ vcs_crc32(p->other, SIZE));
  assert_int_equal(count, wanted);
  for (int i = 0; i < RAM; i++) ram_wanted += p->one[i] != p->other[i];
  assert_int_equal(vcs_difference_crc(&p->crc, p->one, p->other, RAM, &ram),
                   vcs_crc32(p->one, RAM) ^ vcs_crc32(p->other, RAM));
  assert_int_equal(ram, ram_wanted);
}

static void test_differences_have_the_crc_of_both_sides(void **state) {
  (void)state;
  pictures_t *p = calloc(1, sizeof *p);
  assert_non_null(p);
  vcs_difference_crc_prepare(&p->crc);
  for (int i = 0; i < 60; i++) {
    check(p, i);
    p->crc.folds = false; /* by table, as on a processor without the instruction */
    check(p, i);
    vcs_difference_crc_prepare(&p->crc);
  }
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences_have_the_crc_of_both_sides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
