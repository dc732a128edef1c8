/* cpu_model.c: what __builtin_cpu_supports reads on x86-64. gcc and clang bring it in their runtime libraries; zig's
 * has none. The names, the layout and the numbers of the bits are those of the two libraries, in which they cannot
 * change. Only the features that diffvcs asks for are filled in. */
#include <cpuid.h>
#include <stdint.h>

enum { AVX2 = 10, AVX512VL = 20, AVX512BW = 21, AVX512VBMI = 26 };

struct {
  unsigned vendor, type, subtype, features;
} __cpu_model __attribute__((visibility("hidden")));

/* Which registers the operating system keeps for each thread. */
static uint32_t kept(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

__attribute__((constructor(101))) static void ask(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return;
  const uint32_t registers = kept();
  if ((registers & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return; /* XMM and YMM */
  if (b & bit_AVX2) __cpu_model.features |= 1U << AVX2;
  if ((registers & 0xE6) != 0xE6) return; /* masks and ZMM */
  if (b & bit_AVX512VL) __cpu_model.features |= 1U << AVX512VL;
  if (b & bit_AVX512BW) __cpu_model.features |= 1U << AVX512BW;
  if (c & bit_AVX512VBMI) __cpu_model.features |= 1U << AVX512VBMI;
}

int __cpu_indicator_init(void) __attribute__((visibility("hidden")));
int __cpu_indicator_init(void) { return ask(), 0; }
