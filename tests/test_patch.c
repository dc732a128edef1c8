/* Patches: IPS and BPS files change the image as their formats define; damaged files are rejected, whatever their
 * bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/state.h"
#include "diffvcs/study.h"

enum { SIZE = 64 };

static uint8_t image[SIZE], result[SIZE];

static void make_image(void) {
  for (int i = 0; i < SIZE; i++) image[i] = (uint8_t)(3 * i + 1);
}

static vcs_status_t apply(const void *patch, size_t size) {
  /* exactly as long as it is, so that a sanitizer sees a read beyond its end */
  uint8_t *copy = malloc(size + !size);
  memcpy(copy, patch, size);
  vcs_error_t error = {""};
  const vcs_status_t status = vcs_patch_apply(copy, size, image, SIZE, result, &error);
  assert_int_equal(status != VCS_OK, error.message[0] != 0);
  free(copy);
  return status;
}

static void test_ips(void **state) {
  (void)state;
  static const char patch[] =
      "PATCH\0\0\5\0\2\x11\x22\0\0\x20\0\0\0\4\x77"
      "EOF";
  make_image();
  assert_int_equal(apply(patch, sizeof patch - 1), VCS_OK);
  for (int i = 0; i < SIZE; i++) {
    const int expected = i == 5 ? 0x11 : i == 6 ? 0x22 : i >= 32 && i < 36 ? 0x77 : image[i];
    assert_int_equal(result[i], expected);
  }
  for (size_t size = 0; size < sizeof patch - 1; size++) assert_int_not_equal(apply(patch, size), VCS_OK);
  assert_int_not_equal(apply("PATCH\0\0\x3F\0\2\x11\x22"
                             "EOF",
                             15),
                       VCS_OK); /* beyond the image */
}

static void put_crc(uint8_t *at, uint32_t crc) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(crc >> 8 * i);
}

static size_t finish_bps(uint8_t *patch, size_t size, const uint8_t *target) {
  put_crc(patch + size, (uint32_t)crc32(0, image, SIZE));
  put_crc(patch + size + 4, (uint32_t)crc32(0, target, SIZE));
  put_crc(patch + size + 8, (uint32_t)crc32(0, patch, (uInt)(size + 8)));
  return size + 12;
}

/* 10 bytes in place, 3 of the patch, 20 from the source's byte 40, back again; then a run of the last byte. */
static size_t make_bps(uint8_t *patch, uint8_t *target) {
  const uint8_t head[] = {'B', 'P', 'S', '1', SIZE | 0x80, SIZE | 0x80, 0x80};
  memcpy(patch, head, sizeof head);
  size_t n = sizeof head;
  patch[n++] = 9 << 2 | 0x80;     /* source, in place: 10 */
  patch[n++] = 2 << 2 | 1 | 0x80; /* of the patch: 3 */
  patch[n++] = 0xAA;
  patch[n++] = 0xBB;
  patch[n++] = 0xCC;
  patch[n++] = 19 << 2 | 2 | 0x80; /* of the source: 20, ... */
  patch[n++] = 40 << 1 | 0x80;     /* ... from 40 on */
  memcpy(target, image, 10);
  memcpy(target + 10, "\xAA\xBB\xCC", 3);
  memcpy(target + 13, image + 40, 20);
  patch[n++] = 30 << 2 | 3 | 0x80; /* of the target: 31, ... */
  patch[n++] = 12 << 1 | 0x80;     /* ... from 12 on, which runs into what it writes */
  for (int i = 0; i < 31; i++) target[33 + i] = target[12 + i];
  return finish_bps(patch, n, target);
}

static void test_bps(void **state) {
  (void)state;
  uint8_t patch[128], target[SIZE];
  make_image();
  const size_t size = make_bps(patch, target);
  assert_int_equal(apply(patch, size), VCS_OK);
  assert_memory_equal(result, target, SIZE);
  for (size_t i = 0; i < size; i++) {
    patch[i] ^= 0x10;
    assert_int_not_equal(apply(patch, size), VCS_OK);
    patch[i] ^= 0x10;
    assert_int_not_equal(apply(patch, i), VCS_OK);
  }
}

/* Noise with right checksums: refused or applied, never out of bounds. */
static void test_noise(void **state) {
  (void)state;
  uint8_t patch[128], target[SIZE];
  uint32_t random = 1;
  make_image();
  for (int round = 0; round < 20000; round++) {
    size_t size = make_bps(patch, target) - 12;
    for (int i = 0; i < 3; i++) {
      random = random * 1664525 + 1013904223;
      patch[4 + (random >> 16) % (size - 4)] = (uint8_t)(random >> 8);
    }
    size = finish_bps(patch, size, target);
    apply(patch, size);
    memcpy(patch, "PATCH", 5);
    apply(patch, size);
  }
}

static void test_a_cartridge_runs_what_the_patch_says(void **state) {
  (void)state;
  size_t size;
  const uint8_t *demo = vcs_demo_image(&size);
  vcs_cart_t *cart, *other;
  uint8_t *changed = malloc(size);
  memcpy(changed, demo, size);
  memcpy(changed + 0xC00, "\x12\x34", 2);
  assert_int_equal(vcs_cart_load(demo, size, NULL, &cart, NULL), VCS_OK);
  assert_int_equal(vcs_cart_load(changed, size, NULL, &other, NULL), VCS_OK);
  assert_int_equal(vcs_cart_patch(cart,
                                  (const uint8_t *)"PATCH\0\x0C\0\0\2\x12\x34"
                                                   "EOF",
                                  15, NULL),
                   VCS_OK);
  vcs_t *m = calloc(1, sizeof *m), *n = calloc(1, sizeof *n);
  assert_memory_equal(cart->rom, other->rom, cart->rom_size);
  vcs_boot(cart, m, NULL);
  vcs_boot(other, n, NULL);
  for (int i = 0; i < 60; i++) {
    vcs_frame(cart, m, NULL);
    vcs_frame(other, n, NULL);
    assert_true(vcs_hash(cart, m) == vcs_hash(other, n));
  }
  free(m);
  free(n);
  free(changed);
  vcs_cart_free(cart);
  vcs_cart_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ips), cmocka_unit_test(test_bps),
                                     cmocka_unit_test(test_noise),
                                     cmocka_unit_test(test_a_cartridge_runs_what_the_patch_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
