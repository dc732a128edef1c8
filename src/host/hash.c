/* hash.c: MD5 (RFC 1321), SHA-256 (FIPS 180-4), XXH64 (the xxHash specification), CRC-32 by zlib.
 *
 * MD5 and SHA-256 share their frame: blocks of 64 bytes, the last one padded with 0x80, zeros and the length in
 * bits; they differ in the round and in the order of bytes. Data is hashed where it lies; only the tail is copied.
 */
#include "host/hash.h"

#include <string.h>
#include <zlib.h>

static uint32_t rotate_left32(uint32_t x, int n) { return x << n | x >> (32 - n); }
static uint32_t rotate_right32(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint64_t rotate_left64(uint64_t x, int n) { return x << n | x >> (64 - n); }

static uint32_t little32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t little64(const uint8_t *p) { return little32(p) | (uint64_t)little32(p + 4) << 32; }

static uint32_t big32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static void put_hex(char *hex, uint8_t byte) {
  hex[0] = "0123456789abcdef"[byte >> 4];
  hex[1] = "0123456789abcdef"[byte & 15];
}

/* Feeds every 64-byte block of data, padding included, to `block`; `swap` puts the bit length big end first. */
static void for_each_block(const uint8_t *data, size_t size, int swap, uint32_t *state,
                           void (*block)(uint32_t *state, const uint8_t *bytes)) {
  size_t whole = size / 64 * 64, left = size - whole;
  for (size_t at = 0; at < whole; at += 64) block(state, data + at);
  uint8_t tail[128] = {0};
  if (left) memcpy(tail, data + whole, left);
  tail[left] = 0x80;
  size_t tail_size = left < 56 ? 64 : 128;
  uint64_t bits = (uint64_t)size * 8;
  for (int i = 0; i < 8; i++) tail[tail_size - 8 + i] = (uint8_t)(bits >> 8 * (swap ? 7 - i : i));
  for (size_t at = 0; at < tail_size; at += 64) block(state, tail + at);
}

/* ---- MD5 ---------------------------------------------------------------------------------------------------- */

/* floor(2^32 |sin(i + 1)|) */
static const uint32_t md5_sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static void md5_block(uint32_t *state, const uint8_t *bytes) {
  static const uint8_t shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  static const uint8_t step[4] = {1, 5, 3, 7}, first[4] = {0, 1, 5, 0};
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (int i = 0; i < 64; i++) {
    int round = i / 16;
    uint32_t mixed;
    if (round == 0)
      mixed = (b & c) | (~b & d);
    else if (round == 1)
      mixed = (d & b) | (~d & c);
    else if (round == 2)
      mixed = b ^ c ^ d;
    else
      mixed = c ^ (b | ~d);
    uint32_t word = little32(bytes + 4 * ((first[round] + step[round] * i) & 15));
    uint32_t sum = rotate_left32(a + mixed + md5_sines[i] + word, shifts[round][i & 3]);
    a = d, d = c, c = b, b += sum;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void vcs_md5(const void *data, size_t size, char hex[VCS_MD5_HEX]) {
  uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for_each_block(data, size, 0, state, md5_block);
  for (int i = 0; i < 16; i++) put_hex(hex + 2 * i, (uint8_t)(state[i / 4] >> 8 * (i & 3)));
  hex[32] = 0;
}

/* ---- SHA-256 ------------------------------------------------------------------------------------------------ */

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t sha256_roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha256_block(uint32_t *state, const uint8_t *bytes) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = big32(bytes + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + (rotate_right32(x, 7) ^ rotate_right32(x, 18) ^ x >> 3) + w[i - 7] +
           (rotate_right32(y, 17) ^ rotate_right32(y, 19) ^ y >> 10);
  }
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t a = s[0], e = s[4];
    uint32_t t1 = s[7] + (rotate_right32(e, 6) ^ rotate_right32(e, 11) ^ rotate_right32(e, 25)) +
                  ((e & s[5]) ^ (~e & s[6])) + sha256_roots[i] + w[i];
    uint32_t t2 = (rotate_right32(a, 2) ^ rotate_right32(a, 13) ^ rotate_right32(a, 22)) +
                  ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

void vcs_sha256(const void *data, size_t size, char hex[VCS_SHA256_HEX]) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for_each_block(data, size, 1, state, sha256_block);
  for (int i = 0; i < 32; i++) put_hex(hex + 2 * i, (uint8_t)(state[i / 4] >> (24 - 8 * (i & 3))));
  hex[64] = 0;
}

/* ---- CRC-32 ------------------------------------------------------------------------------------------------- */

uint32_t vcs_crc32(const void *data, size_t size) { return vcs_crc32_on(0, data, size); }

uint32_t vcs_crc32_on(uint32_t before, const void *data, size_t size) {
  const uint8_t *bytes = data;
  uLong crc = before;
  while (size > 0) { /* zlib counts in unsigned int */
    uInt piece = size < 1u << 30 ? (uInt)size : 1u << 30;
    crc = crc32(crc, bytes, piece);
    bytes += piece;
    size -= piece;
  }
  return (uint32_t)crc;
}

/* ---- XXH64 -------------------------------------------------------------------------------------------------- */

static const uint64_t P1 = 0x9e3779b185ebca87, P2 = 0xc2b2ae3d27d4eb4f, P3 = 0x165667b19e3779f9,
                      P4 = 0x85ebca77c2b2ae63, P5 = 0x27d4eb2f165667c5;

static uint64_t xxh_round(uint64_t lane, uint64_t word) { return rotate_left64(lane + word * P2, 31) * P1; }

uint64_t vcs_hash64(const void *data, size_t size, uint64_t seed) {
  const uint8_t *p = data;
  size_t left = size;
  uint64_t hash = seed + P5;
  if (size >= 32) { /* four independent lanes keep the multipliers busy */
    uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
    for (; left >= 32; left -= 32, p += 32) {
      a = xxh_round(a, little64(p));
      b = xxh_round(b, little64(p + 8));
      c = xxh_round(c, little64(p + 16));
      d = xxh_round(d, little64(p + 24));
    }
    hash = rotate_left64(a, 1) + rotate_left64(b, 7) + rotate_left64(c, 12) + rotate_left64(d, 18);
    hash = (hash ^ xxh_round(0, a)) * P1 + P4;
    hash = (hash ^ xxh_round(0, b)) * P1 + P4;
    hash = (hash ^ xxh_round(0, c)) * P1 + P4;
    hash = (hash ^ xxh_round(0, d)) * P1 + P4;
  }
  hash += size;
  for (; left >= 8; left -= 8, p += 8) hash = rotate_left64(hash ^ xxh_round(0, little64(p)), 27) * P1 + P4;
  for (; left >= 4; left -= 4, p += 4) hash = rotate_left64(hash ^ little32(p) * P1, 23) * P2 + P3;
  for (; left > 0; left--, p++) hash = rotate_left64(hash ^ *p * P5, 11) * P1;
  hash = (hash ^ hash >> 33) * P2;
  hash = (hash ^ hash >> 29) * P3;
  return hash ^ hash >> 32;
}
