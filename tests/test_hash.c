/* The hashes against published vectors, at the lengths where their padding changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/hash.h"

static const char *md5(const char *text, char hex[VCS_MD5_HEX]) {
  vcs_md5(text, strlen(text), hex);
  return hex;
}

static const char *sha256(const char *text, char hex[VCS_SHA256_HEX]) {
  vcs_sha256(text, strlen(text), hex);
  return hex;
}

static void test_md5_matches_rfc1321(void **state) {
  (void)state;
  char hex[VCS_MD5_HEX];
  assert_string_equal(md5("", hex), "d41d8cd98f00b204e9800998ecf8427e");
  assert_string_equal(md5("abc", hex), "900150983cd24fb0d6963f7d28e17f72");
  assert_string_equal(md5("abcdefghijklmnopqrstuvwxyz", hex), "c3fcd3d76192e4007dfb496cca67e13b");
  assert_string_equal(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890", hex),
                      "57edf4a22be3c955ac49da2e2107b67a");
}

static void test_sha256_matches_fips180(void **state) {
  (void)state;
  char hex[VCS_SHA256_HEX];
  assert_string_equal(sha256("", hex), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_string_equal(sha256("abc", hex), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", hex),
                      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* Every length from 0 to 130, the digests of all of them digested: a wrong pad anywhere changes it. */
static void test_md5_and_sha256_pad_at_block_edges(void **state) {
  (void)state;
  static char md5s[131 * 32 + 1], sha256s[131 * 64 + 1];
  char hex[VCS_SHA256_HEX];
  uint8_t bytes[130];
  for (int i = 0; i < 130; i++) bytes[i] = (uint8_t)i;
  for (size_t size = 0; size <= 130; size++) {
    vcs_md5(bytes, size, md5s + 32 * size);
    vcs_sha256(bytes, size, sha256s + 64 * size);
  }
  assert_string_equal(sha256(md5s, hex), "159922578efd4d1cfff42d604618176850d34c9b2aab64951a397710c2407d84");
  assert_string_equal(sha256(sha256s, hex), "287ec38b0ef48cad9a69255fec0a3dd90bd752a394316d26a81b6c9b71e29a55");
}

static void test_crc32_check_value_is_cbf43926(void **state) {
  (void)state;
  assert_int_equal(vcs_crc32("123456789", 9), 0xcbf43926);
}

static void test_hash64_is_xxh64(void **state) {
  (void)state;
  uint8_t bytes[100];
  for (int i = 0; i < 100; i++) bytes[i] = (uint8_t)i;
  assert_true(vcs_hash64(bytes, 0, 0x0) == 0xef46db3751d8e999);
  assert_true(vcs_hash64(bytes, 1, 0x0) == 0xe934a84adb052768);
  assert_true(vcs_hash64(bytes, 4, 0x0) == 0xffced8604453cc1e);
  assert_true(vcs_hash64(bytes, 14, 0x0) == 0x5cda8b69bbfc1d45);
  assert_true(vcs_hash64(bytes, 31, 0x0) == 0xc346d2b59b4d8ee1);
  assert_true(vcs_hash64(bytes, 32, 0x0) == 0xcbf59c5116ff32b4);
  assert_true(vcs_hash64(bytes, 33, 0x9e3779b1) == 0x57bd8ad0a0390e6d);
  assert_true(vcs_hash64(bytes, 63, 0x0) == 0xe26aa9e2a95f8e4f);
  assert_true(vcs_hash64(bytes, 100, 0x0) == 0x6ac1e58032166597);
  assert_true(vcs_hash64(bytes, 100, 0x9e3779b1) == 0x8832442a88284f11);
}

static void test_hash64_changes_with_every_bit(void **state) {
  (void)state;
  uint8_t bytes[77] = {0};
  uint64_t before = vcs_hash64(bytes, sizeof bytes, 1);
  for (int bit = 0; bit < 77 * 8; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_true(vcs_hash64(bytes, sizeof bytes, 1) != before);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

static void test_hash64_does_not_depend_on_alignment(void **state) {
  (void)state;
  uint8_t bytes[80] = {0};
  uint64_t first = 0;
  for (int at = 0; at < 8; at++) {
    for (int i = 0; i < 64; i++) bytes[at + i] = (uint8_t)(3 * i);
    uint64_t hash = vcs_hash64(bytes + at, 64, 7);
    if (at == 0) first = hash;
    assert_true(hash == first);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_md5_matches_rfc1321),
      cmocka_unit_test(test_sha256_matches_fips180),
      cmocka_unit_test(test_md5_and_sha256_pad_at_block_edges),
      cmocka_unit_test(test_crc32_check_value_is_cbf43926),
      cmocka_unit_test(test_hash64_is_xxh64),
      cmocka_unit_test(test_hash64_changes_with_every_bit),
      cmocka_unit_test(test_hash64_does_not_depend_on_alignment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
