/* x86.h: an assembler for the few x86-64 instructions that native.c writes.
 *
 * An instruction is [66] [REX] opcode ModRM [SIB] [displacement] [immediate]. x86_encode writes all but the immediate:
 * `opcode` has one byte or, from 0x0F00 on, two; `reg` is a register or the opcode's extension (the /n of the manual);
 * the other operand is a register or a place in memory. Intel's "Software Developer's Manual", volume 2, has the
 * opcodes.
 *
 * Code is written to a buffer. An instruction that does not fit sets `full` and is dropped, so that callers look once,
 * at the end.
 */
#ifndef VCS_HOST_X86_H
#define VCS_HOST_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, X86_NONE = -1 };

/* Conditions, as the low bits of Jcc and SETcc; `condition ^ 1` is the opposite. */
enum { X86_O, X86_NO, X86_C, X86_NC, X86_Z, X86_NZ, X86_BE, X86_A, X86_S, X86_NS };

/* Two-operand arithmetic, as the /n of opcode 80; opcode 8n + 2 has a register and another operand. */
enum { X86_ADD, X86_OR, X86_ADC, X86_SBB, X86_AND, X86_SUB, X86_XOR, X86_CMP };

/* Shifts by one, as the /n of opcode D0. */
enum { X86_ROL, X86_ROR, X86_RCL, X86_RCR, X86_SHL, X86_SHR };

typedef struct {
  uint8_t *begin;
  size_t used, size;
  bool full;
} x86_t;

/* Either a register (`base`, is_register), or memory at base + index + displacement. */
typedef struct {
  bool is_register;
  int base, index;
  int32_t displacement;
} x86_operand_t;

static inline x86_operand_t x86_register(int r) { return (x86_operand_t){true, r, X86_NONE, 0}; }
static inline x86_operand_t x86_memory(int base, int32_t displacement) {
  return (x86_operand_t){false, base, X86_NONE, displacement};
}
static inline x86_operand_t x86_indexed(int base, int index, int32_t displacement) {
  return (x86_operand_t){false, base, index, displacement};
}

static inline void x86_bytes(x86_t *x, const void *bytes, size_t count) {
  if (x->full || x->used + count > x->size) {
    x->full = true;
    return;
  }
  memcpy(x->begin + x->used, bytes, count);
  x->used += count;
}
static inline void x86_byte(x86_t *x, unsigned value) { x86_bytes(x, &(uint8_t){(uint8_t)value}, 1); }
static inline void x86_word(x86_t *x, unsigned value) { x86_bytes(x, &(uint16_t){(uint16_t)value}, 2); }
static inline void x86_long(x86_t *x, int32_t value) { x86_bytes(x, &value, 4); }

/* `width` is 8, 16, 32 or 64 bits. */
static void x86_encode(x86_t *x, int width, unsigned opcode, int reg, x86_operand_t to) {
  const int index = to.index == X86_NONE ? 0 : to.index;
  const unsigned rex = 0x40u | (unsigned)(width == 64) << 3 | (unsigned)reg >> 3 << 2 | (unsigned)index >> 3 << 1 |
                       (unsigned)to.base >> 3;
  if (width == 16) x86_byte(x, 0x66);
  if (rex != 0x40 || width == 8) x86_byte(x, rex); /* for bytes always: SPL and its like, not AH */
  if (opcode > 0xFF) x86_byte(x, opcode >> 8);
  x86_byte(x, opcode & 0xFF);
  const unsigned low = ((unsigned)reg & 7) << 3, base = (unsigned)to.base & 7;
  if (to.is_register) {
    x86_byte(x, 0xC0 | low | base);
    return;
  }
  const bool small = to.displacement >= -128 && to.displacement <= 127;
  const bool sib = to.index != X86_NONE || base == RSP;
  x86_byte(x, (small ? 0x40u : 0x80u) | low | (sib ? (unsigned)RSP : base));
  if (sib) x86_byte(x, ((to.index == X86_NONE ? (unsigned)RSP : (unsigned)index) & 7) << 3 | base);
  if (small) {
    x86_byte(x, (uint8_t)to.displacement);
  } else {
    x86_long(x, to.displacement);
  }
}

/* ---- Moves -------------------------------------------------------------------------------------------------- */

static inline void x86_load_constant(x86_t *x, int r, uint64_t value) {
  if (value <= 0xFFFFFFFFu) {
    if (r > 7) x86_byte(x, 0x41);
    x86_byte(x, 0xB8u + ((unsigned)r & 7));
    x86_long(x, (int32_t)(uint32_t)value);
  } else {
    x86_byte(x, r > 7 ? 0x49 : 0x48);
    x86_byte(x, 0xB8u + ((unsigned)r & 7));
    x86_bytes(x, &value, 8);
  }
}
/* A register of 32 or 64 bits from one, or from memory. */
static inline void x86_load(x86_t *x, int width, int r, x86_operand_t from) { x86_encode(x, width, 0x8B, r, from); }
/* The same from 8 or 16 bits, filled up with zeros. */
static inline void x86_load_short(x86_t *x, int width, int r, x86_operand_t from) {
  if (from.is_register && width == 8) {
    x86_encode(x, 8, 0x0FB6, r, from);
  } else {
    x86_encode(x, 32, width == 8 ? 0x0FB6 : 0x0FB7, r, from);
  }
}
static inline void x86_store(x86_t *x, int width, x86_operand_t to, int r) {
  x86_encode(x, width, width == 8 ? 0x88 : 0x89, r, to);
}
static inline void x86_store_constant(x86_t *x, int width, x86_operand_t to, unsigned value) {
  x86_encode(x, width, width == 8 ? 0xC6 : 0xC7, 0, to);
  if (width == 8) {
    x86_byte(x, value);
  } else if (width == 16) {
    x86_word(x, value);
  } else {
    x86_long(x, (int32_t)value);
  }
}
/* Base + index + displacement, which leaves the flags alone. */
static inline void x86_address(x86_t *x, int width, int r, x86_operand_t of) { x86_encode(x, width, 0x8D, r, of); }

/* ---- Arithmetic --------------------------------------------------------------------------------------------- */

static inline void x86_do(x86_t *x, int width, int what, int r, x86_operand_t by) {
  x86_encode(x, width, 8u * (unsigned)what + (width == 8 ? 2 : 3), r, by);
}
static inline void x86_do_constant(x86_t *x, int width, int what, x86_operand_t to, int32_t by) {
  const bool small = width == 8 || (by >= -128 && by <= 127);
  x86_encode(x, width, width == 8 ? 0x80 : small ? 0x83 : 0x81, what, to);
  if (small) {
    x86_byte(x, (uint8_t)by);
  } else {
    x86_long(x, by);
  }
}
static inline void x86_test(x86_t *x, int width, int r, int by) {
  x86_encode(x, width, width == 8 ? 0x84 : 0x85, r, x86_register(by));
}
static inline void x86_test_constant(x86_t *x, int width, x86_operand_t of, unsigned bits) {
  x86_encode(x, width, width == 8 ? 0xF6 : 0xF7, 0, of);
  if (width == 8) {
    x86_byte(x, bits);
  } else if (width == 16) {
    x86_word(x, bits);
  } else {
    x86_long(x, (int32_t)bits);
  }
}
static inline void x86_shift_byte(x86_t *x, int what, x86_operand_t to) { x86_encode(x, 8, 0xD0, what, to); }
static inline void x86_shift(x86_t *x, int what, int r, unsigned count) {
  x86_encode(x, 32, 0xC1, what, x86_register(r));
  x86_byte(x, count);
}
static inline void x86_count(x86_t *x, bool down, x86_operand_t to) { x86_encode(x, 8, 0xFE, down, to); }
static inline void x86_multiply(x86_t *x, int r, int by, int32_t constant) {
  x86_encode(x, 64, 0x69, r, x86_register(by));
  x86_long(x, constant);
}
static inline void x86_set(x86_t *x, int condition, x86_operand_t to) {
  x86_encode(x, 8, 0x0F90u + (unsigned)condition, 0, to);
}
/* CF = bit 0 of memory. */
static inline void x86_bit_0(x86_t *x, x86_operand_t of) {
  x86_encode(x, 32, 0x0FBA, 4, of);
  x86_byte(x, 0);
}

/* ---- Jumps -------------------------------------------------------------------------------------------------- */

/* Each returns where its distance is, for x86_land. */
static inline size_t x86_jump_if(x86_t *x, int condition) {
  x86_word(x, 0x800Fu + ((unsigned)condition << 8));
  x86_long(x, 0);
  return x->used - 4;
}
static inline size_t x86_jump(x86_t *x) {
  x86_byte(x, 0xE9);
  x86_long(x, 0);
  return x->used - 4;
}
/* Makes a jump go to an offset in the buffer. */
static inline void x86_land(x86_t *x, size_t jump, size_t to) {
  const int32_t distance = (int32_t)((ptrdiff_t)to - (ptrdiff_t)jump - 4);
  if (!x->full) memcpy(x->begin + jump, &distance, 4);
}
static inline void x86_jump_register(x86_t *x, int r) { x86_encode(x, 32, 0xFF, 4, x86_register(r)); }
static inline void x86_call_register(x86_t *x, int r) { x86_encode(x, 32, 0xFF, 2, x86_register(r)); }
static inline void x86_push(x86_t *x, int r) {
  if (r > 7) x86_byte(x, 0x41);
  x86_byte(x, 0x50u + ((unsigned)r & 7));
}
static inline void x86_pop(x86_t *x, int r) {
  if (r > 7) x86_byte(x, 0x41);
  x86_byte(x, 0x58u + ((unsigned)r & 7));
}
static inline void x86_return(x86_t *x) { x86_byte(x, 0xC3); }

#endif
