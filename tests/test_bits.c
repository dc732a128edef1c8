/* test_bits.c: the arithmetic of bits.h for all its inputs, against the oracle's (oracle_6502.h), which adds with a
 * ripple of carries, one decimal digit after the other, and has a function for each shift.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/bits.h"
#include "oracle/oracle_6502.h"

static oracle_t o;

/* A result of bits.h against the oracle's accumulator (or another byte) and flags. */
static void check(vcs_alu_t r, uint8_t value, bool with_v, const char *what, int a, int b, int c, int d) {
  if (r.value != value || r.n >> 7 != o.n || (r.z == 0) != o.z || (r.c != 0) != o.c || (with_v && (r.v != 0) != o.v)) {
    fail_msg("%s: a=%02X b=%02X carry=%d decimal=%d gives %02X n=%d z=%d v=%d c=%d, not %02X n=%d z=%d v=%d c=%d", what,
             a, b, c, d, r.value, r.n >> 7, r.z == 0, r.v, r.c, value, o.n, o.z, o.v, o.c);
  }
  if (r.v > 1 || r.c > 1) fail_msg("%s: V and C are to be 0 or 1", what);
}

static void start(int a, int c, int d) {
  o.a = (uint8_t)a;
  o.c = c;
  o.d = d;
  o.n = o.z = o.v = false;
}

typedef vcs_alu_t (*adder_t)(uint8_t, uint8_t, uint8_t, uint8_t);

static void check_adder(adder_t ours, void (*theirs)(oracle_t *, unsigned), const char *what) {
  for (int d = 0; d < 2; d++) {
    for (int a = 0; a < 256; a++) {
      for (int b = 0; b < 256; b++) {
        for (int c = 0; c < 2; c++) {
          start(a, c, d);
          theirs(&o, (unsigned)b);
          check(ours((uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d), o.a, true, what, a, b, c, d);
        }
      }
    }
  }
}

static void test_bits_adc_agrees_on_all_262144_cases(void **state) {
  (void)state;
  check_adder(vcs_alu_adc, oracle_adc, "adc");
}

static void test_bits_sbc_agrees_on_all_262144_cases(void **state) {
  (void)state;
  check_adder(vcs_alu_sbc, oracle_sbc, "sbc");
}

static void test_bits_arr_agrees_on_all_262144_cases(void **state) {
  (void)state;
  check_adder(vcs_alu_arr, oracle_arr, "arr");
}

static void test_bits_cmp_agrees_on_all_pairs(void **state) {
  (void)state;
  for (int a = 0; a < 256; a++) {
    for (int b = 0; b < 256; b++) {
      start(a, 0, 0);
      oracle_compare(&o, (unsigned)a, (unsigned)b);
      check(vcs_alu_cmp((uint8_t)a, (uint8_t)b), (uint8_t)(a - b), false, "cmp", a, b, 0, 0);
    }
  }
}

static void test_bits_shifts_agree_on_all_bytes(void **state) {
  (void)state;
  for (int b = 0; b < 256; b++) {
    for (int c = 0; c < 2; c++) {
      uint8_t byte = (uint8_t)b, carry = (uint8_t)c, value;
      start(0, c, 0);
      value = oracle_shift(&o, "ASL", byte);
      check(vcs_alu_asl(byte), value, false, "asl", 0, b, c, 0);
      start(0, c, 0);
      value = oracle_shift(&o, "LSR", byte);
      check(vcs_alu_lsr(byte), value, false, "lsr", 0, b, c, 0);
      start(0, c, 0);
      value = oracle_shift(&o, "ROL", byte);
      check(vcs_alu_rol(byte, carry), value, false, "rol", 0, b, c, 0);
      start(0, c, 0);
      value = oracle_shift(&o, "ROR", byte);
      check(vcs_alu_ror(byte, carry), value, false, "ror", 0, b, c, 0);
    }
  }
}

static void test_bits_bcd_of_two_digits_is_its_own_inverse(void **state) {
  (void)state;
  for (int number = 0; number < 100; number++) {
    uint8_t bcd = vcs_to_bcd(number);
    assert_int_equal(bcd, number / 10 * 16 + number % 10);
    assert_int_equal(vcs_from_bcd(bcd), number);
  }
  assert_int_equal(vcs_from_bcd(0xFF), 165);
  assert_int_equal(vcs_to_bcd(255), 0x55);
}

static void test_bits_reverse_turns_all_bytes_round(void **state) {
  (void)state;
  for (int b = 0; b < 256; b++) {
    int expected = 0;
    for (int bit = 0; bit < 8; bit++) {
      if (b >> bit & 1) expected += 128 >> bit;
    }
    assert_int_equal(vcs_reverse((uint8_t)b), expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits_adc_agrees_on_all_262144_cases),
      cmocka_unit_test(test_bits_sbc_agrees_on_all_262144_cases),
      cmocka_unit_test(test_bits_arr_agrees_on_all_262144_cases),
      cmocka_unit_test(test_bits_cmp_agrees_on_all_pairs),
      cmocka_unit_test(test_bits_shifts_agree_on_all_bytes),
      cmocka_unit_test(test_bits_bcd_of_two_digits_is_its_own_inverse),
      cmocka_unit_test(test_bits_reverse_turns_all_bytes_round),
  };
  return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
