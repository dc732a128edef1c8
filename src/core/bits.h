/* bits.h: the arithmetic of the 6507, as pure functions of bytes and flags.
 *
 * No function here depends on the machine. An operation takes its operands and returns a vcs_alu_t: the result byte and
 * the flags, N as bit 7 of `n`, Z as `z == 0`, V and C as 0 or 1. The CPU (cpu.h) applies them. A Boolean difference,
 * which is the change of a result when one input bit flips, is two calls of the same function (src/grad/local.h).
 *
 * Decimal mode follows the reference, not the NMOS chip. Both operands are read as two decimal digits (a digit may be
 * above 9), added or subtracted as numbers, and written back modulo 100. N and Z come from the decimal result. The
 * carry of a subtraction comes from comparing the bytes as binary numbers. test_bits.c checks all 2 x 2 x 65,536 cases
 * against an independent table of these rules.
 */
#ifndef VCS_CORE_BITS_H
#define VCS_CORE_BITS_H

#include "base.h"

typedef struct {
  uint8_t value, n, z, v, c;
} vcs_alu_t;

/* Returns a result whose N and Z are those of its value, with the given overflow and carry. */
VCS_FN vcs_alu_t vcs_alu_result(uint8_t value, uint8_t v, uint8_t c) {
  vcs_alu_t r;
  r.value = value;
  r.n = value;
  r.z = value;
  r.v = v;
  r.c = c;
  return r;
}

VCS_FN int vcs_from_bcd(uint8_t b) { return (b >> 4) * 10 + (b & 15); }

VCS_FN uint8_t vcs_to_bcd(int number) { return (uint8_t)((number % 100 / 10) << 4 | number % 10); }

/* a + b + carry. */
VCS_FN vcs_alu_t vcs_alu_adc(uint8_t a, uint8_t b, uint8_t carry, uint8_t decimal) {
  if (VCS_UNLIKELY(decimal)) {
    int sum = vcs_from_bcd(a) + vcs_from_bcd(b) + carry;
    uint8_t r = vcs_to_bcd(sum & 0xFF);
    return vcs_alu_result(r, ((a ^ r) & (r ^ b)) >> 7, sum > 99);
  }
  unsigned sum = (unsigned)a + b + carry;
  return vcs_alu_result((uint8_t)sum, (uint8_t)(((a ^ sum) & (b ^ sum)) >> 7 & 1), (uint8_t)(sum >> 8));
}

/* a - b - (1 - carry). A decimal difference below -100, which needs operands with digits above 9, wraps around in eight
 * bits, and the reference then converts it from decimal digits to a number instead of from a number to digits. */
VCS_FN vcs_alu_t vcs_alu_sbc(uint8_t a, uint8_t b, uint8_t carry, uint8_t decimal) {
  if (VCS_UNLIKELY(decimal)) {
    int difference = vcs_from_bcd(a) - vcs_from_bcd(b) - (1 - carry);
    if (difference < 0) difference += 100;
    uint8_t r = difference < 0 ? (uint8_t)vcs_from_bcd((uint8_t)(256 + difference)) : vcs_to_bcd(difference);
    return vcs_alu_result(r, ((a ^ r) & (r ^ b)) >> 7, a >= b + (1 - carry));
  }
  return vcs_alu_adc(a, (uint8_t)~b, carry, 0);
}

/* a - b for its flags N, Z and C. The caller keeps its own V. */
VCS_FN vcs_alu_t vcs_alu_cmp(uint8_t a, uint8_t b) { return vcs_alu_result((uint8_t)(a - b), 0, a >= b); }

VCS_FN vcs_alu_t vcs_alu_asl(uint8_t b) { return vcs_alu_result((uint8_t)(b << 1), 0, b >> 7); }
VCS_FN vcs_alu_t vcs_alu_lsr(uint8_t b) { return vcs_alu_result(b >> 1, 0, b & 1); }
VCS_FN vcs_alu_t vcs_alu_rol(uint8_t b, uint8_t carry) { return vcs_alu_result((uint8_t)(b << 1 | carry), 0, b >> 7); }
VCS_FN vcs_alu_t vcs_alu_ror(uint8_t b, uint8_t carry) {
  return vcs_alu_result((uint8_t)(b >> 1 | carry << 7), 0, b & 1);
}

/* ARR ($6B), an undocumented opcode: AND, then rotate right, with the flags of the adder that both pass through. C is
 * bit 6 of the rotated byte, V is set when the rotation changes bit 6. In decimal mode each digit of the AND that is
 * five or more adds six to the same digit of the result, without a carry between the digits; C then tells whether the
 * upper digit was corrected, and N and Z are those of the byte before the correction. (A. Vardy, "Extra Instructions of
 * the 65XX Series CPU"; "NMOS 6510 Unintended Opcodes", section ARR.) */
VCS_FN vcs_alu_t vcs_alu_arr(uint8_t a, uint8_t b, uint8_t carry, uint8_t decimal) {
  uint8_t both = a & b, rotated = (uint8_t)(both >> 1 | carry << 7);
  vcs_alu_t result = vcs_alu_result(rotated, (both ^ rotated) >> 6 & 1, rotated >> 6 & 1);
  if (decimal) {
    uint8_t low = (both & 0x0F) >= 0x05 ? 0x06 : 0x00, high = both >= 0x50 ? 0x60 : 0x00;
    result.value = (uint8_t)(((rotated + high) & 0xF0) | ((rotated + low) & 0x0F));
    result.c = high != 0;
  }
  return result;
}

/* A byte with its bits in reverse order. The TIA draws bit 7 of GRPx leftmost; a line mask has its leftmost pixel in
 * bit 0. */
#define VCS_REVERSED_1(b)                                                                                     \
  ((b)&1) << 7 | ((b)&2) << 5 | ((b)&4) << 3 | ((b)&8) << 1 | ((b)&16) >> 1 | ((b)&32) >> 3 | ((b)&64) >> 5 | \
      ((b)&128) >> 7
#define VCS_REVERSED_4(b) VCS_REVERSED_1(b), VCS_REVERSED_1((b) + 1), VCS_REVERSED_1((b) + 2), VCS_REVERSED_1((b) + 3)
#define VCS_REVERSED_16(b) VCS_REVERSED_4(b), VCS_REVERSED_4((b) + 4), VCS_REVERSED_4((b) + 8), VCS_REVERSED_4((b) + 12)
#define VCS_REVERSED_64(b) \
  VCS_REVERSED_16(b), VCS_REVERSED_16((b) + 16), VCS_REVERSED_16((b) + 32), VCS_REVERSED_16((b) + 48)
VCS_TABLE(uint8_t, vcs_reverse, 256,
          {VCS_REVERSED_64(0), VCS_REVERSED_64(64), VCS_REVERSED_64(128), VCS_REVERSED_64(192)})

#endif
