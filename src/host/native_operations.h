/* native_operations.h: the operations of the 6507 as host code.
 *
 * A, X and Y are bytes in host registers. An operation leaves N and Z where they are cheapest: in the register that has
 * the result, in the flags of the host if a branch follows, or in memory if they are needed elsewhere. C of an addition
 * is the host's carry, C of a subtraction or a comparison its opposite. Each function does what its namesake in
 * core/cpu.h does.
 */
#ifndef VCS_HOST_NATIVE_OPERATIONS_H
#define VCS_HOST_NATIVE_OPERATIONS_H

#include "host/native_unit.h"

/* The operand of a read: a constant, or a register or a place in memory. */
typedef struct {
  bool constant;
  uint8_t value;
  x86_operand_t place;
} source_t;

static void load(unit_t *u, int r, source_t from) {
  if (from.constant) {
    x86_load_constant(&u->x, r, from.value);
  } else {
    x86_load_short(&u->x, 8, r, from.place);
  }
}

static void arithmetic(unit_t *u, int what, int r, source_t by) {
  if (by.constant) {
    x86_do_constant(&u->x, 8, what, x86_register(r), (int8_t)by.value);
  } else {
    x86_do(&u->x, 8, what, r, by.place);
  }
}

/* Notes that N and Z are those of a register. */
static void set_nz(unit_t *u, nz_t of, bool in_host) {
  u->known.nz = of;
  u->known.host_n = u->known.host_z = in_host;
}

static void store_carry(unit_t *u, int condition, unsigned needs) {
  u->known.host_c = condition;
  u->known.c = CARRY_IN_HOST;
  if (!(needs & VCS_OF_C)) return;
  x86_set(&u->x, condition, IN_RUN(cpu.c));
  u->known.c = CARRY_STORED;
}

/* Sets CF to C, or to its opposite for a subtraction. */
static void load_carry(unit_t *u, bool borrow) {
  x86_t *x = &u->x;
  switch (u->known.c) {
    case CARRY_0:
    case CARRY_1:
      x86_byte(x, (u->known.c == CARRY_1) != borrow ? 0xF9 : 0xF8); /* STC, CLC */
      break;
    case CARRY_IN_HOST:
      x->full = true;
      break;
    case CARRY_STORED:
      if (borrow) {
        x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.c), 1);
      } else {
        x86_bit_0(x, IN_RUN(cpu.c));
      }
      break;
  }
}

static void compare(unit_t *u, int r, source_t by, uint32_t next) {
  const unsigned needs = needed_after(u, next, VCS_OF_NZC);
  if (needs & VCS_OF_NZ) {
    x86_load(&u->x, 32, RCX, x86_register(r));
    arithmetic(u, X86_SUB, RCX, by);
    x86_store(&u->x, 32, IN_RUN(cpu.nz), RCX);
  } else {
    arithmetic(u, X86_CMP, r, by);
  }
  set_nz(u, needs & VCS_OF_NZ ? FLAGS_STORED : IN_HOST, true);
  store_carry(u, X86_NC, needs);
}

/* ADC and SBC in binary; the code is left before them if D is set. */
static void add(unit_t *u, source_t by, uint32_t next, bool subtract) {
  x86_t *x = &u->x;
  const unsigned needs = needed_after(u, next, VCS_OF_C) | (u->looks ? VCS_OF_V : needed(u, next, VCS_OF_V));
  const carry_t plain = subtract ? CARRY_1 : CARRY_0;
  if (u->known.c == plain) {
    arithmetic(u, subtract ? X86_SUB : X86_ADD, A, by);
  } else {
    load_carry(u, subtract);
    arithmetic(u, subtract ? X86_SBB : X86_ADC, A, by);
  }
  if (needs & VCS_OF_V) x86_set(x, X86_O, IN_RUN(cpu.v));
  set_nz(u, OF_A, true);
  store_carry(u, subtract ? X86_NC : X86_C, needs);
}

static void bit(unit_t *u, source_t by, uint32_t next) {
  x86_t *x = &u->x;
  load(u, RAX, by);
  clobber(u);
  if (u->looks || needed(u, next, VCS_OF_V)) {
    x86_test_constant(x, 8, x86_register(RAX), 0x40);
    x86_set(x, X86_NZ, IN_RUN(cpu.v));
  }
  /* a branch that follows finds the flag that it needs in the flags of the host */
  unsigned tested = 0;
  if (next < u->size && !u->looks) {
    const instruction_t i = instruction_at(u, next);
    if (!u->entered[next] && is_plain_branch(&i)) tested = vcs_branch_flag(i.bytes[0]) & VCS_OF_NZ;
    if (tested) {
      const unsigned needs = needed(u, branch_target(&i, next), VCS_OF_NZ) | needed(u, next + i.length, VCS_OF_NZ);
      if (!needs) {
        u->known.nz = IN_HOST;
        u->known.host_n = tested == VCS_OF_N;
        u->known.host_z = tested == VCS_OF_Z;
        x86_test(x, 8, RAX, tested == VCS_OF_N ? RAX : A);
        return;
      }
    }
  }
  u->known.nz = FLAGS_STORED;
  const unsigned needs = u->looks ? VCS_OF_NZ : needed(u, next, VCS_OF_NZ);
  if (needs == VCS_OF_NZ) {
    x86_load(x, 32, RCX, x86_register(RAX));
    x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0x80);
    x86_shift(x, X86_SHL, RCX, 8);
  }
  if (needs & VCS_OF_Z) x86_do(x, 32, X86_AND, RAX, x86_register(A));
  if (needs == VCS_OF_NZ) x86_do(x, 32, X86_OR, RAX, x86_register(RCX));
  if (needs) x86_store(x, 32, IN_RUN(cpu.nz), RAX);
}

/* Writes an operation of the kind READ. */
static void do_read(unit_t *u, int operation, source_t by, uint32_t next) {
  switch (operation) {
    case DO_LDA:
      load(u, A, by);
      set_nz(u, OF_A, false);
      break;
    case DO_LDX:
      load(u, X, by);
      set_nz(u, OF_X, false);
      break;
    case DO_LDY:
      load(u, Y, by);
      set_nz(u, OF_Y, false);
      break;
    case DO_LAX:
      load(u, X, by);
      x86_load(&u->x, 32, A, x86_register(X));
      set_nz(u, OF_A, false);
      break;
    case DO_AND:
    case DO_ORA:
    case DO_EOR:
      arithmetic(u, operation == DO_AND ? X86_AND : operation == DO_ORA ? X86_OR : X86_XOR, A, by);
      clobber(u);
      set_nz(u, OF_A, true);
      break;
    case DO_ADC:
    case DO_SBC:
      add(u, by, next, operation == DO_SBC);
      break;
    case DO_CMP:
      compare(u, A, by, next);
      break;
    case DO_CPX:
      compare(u, X, by, next);
      break;
    case DO_CPY:
      compare(u, Y, by, next);
      break;
    case DO_BIT:
      bit(u, by, next);
      break;
    default: /* NOP */
      break;
  }
}

/* Writes an operation of the kind MODIFY on a register or a byte of RAM. */
static void do_modify(unit_t *u, int operation, x86_operand_t to, nz_t of, uint32_t next) {
  x86_t *x = &u->x;
  const unsigned needs = needed_after(u, next, VCS_OF_NZC);
  bool counted = false, rotated = false, left = false;
  switch (operation) {
    case DO_INC:
    case DO_DEC:
      x86_count(x, operation == DO_DEC, to);
      u->known.host_c = X86_NONE;
      counted = true;
      break;
    case DO_ASL:
    case DO_ASLA:
      left = true; /* fall through */
    case DO_LSR:
    case DO_LSRA:
      x86_shift_byte(x, left ? X86_SHL : X86_SHR, to);
      break;
    case DO_ROL:
    case DO_ROLA:
      left = true; /* fall through */
    default:
      load_carry(u, false);
      x86_shift_byte(x, left ? X86_RCL : X86_RCR, to);
      rotated = true;
      break;
  }
  /* host rotations do not set the host's N and Z: branches test the byte itself, or the stored flags */
  bool store = of == FLAGS_STORED && (needs & VCS_OF_NZ || rotated) && needed(u, next, VCS_OF_NZ);
  set_nz(u, of != FLAGS_STORED || store ? of : IN_HOST, !rotated);
  if (!counted) store_carry(u, X86_C, rotated ? needed(u, next, VCS_OF_C) : needs);
  if (store) {
    x86_load_short(x, 8, RAX, to);
    x86_store(x, 32, IN_RUN(cpu.nz), RAX);
  }
}

static void move(unit_t *u, int to, int from, nz_t of) {
  x86_load(&u->x, 32, to, x86_register(from));
  set_nz(u, of, false);
}

static void count(unit_t *u, int r, bool down, nz_t of) {
  x86_count(&u->x, down, x86_register(r));
  u->known.host_c = X86_NONE;
  set_nz(u, of, true);
}

static void do_implied(unit_t *u, int operation, uint32_t next) {
  x86_t *x = &u->x;
  switch (operation) {
    case DO_ASLA:
    case DO_LSRA:
    case DO_ROLA:
    case DO_RORA:
      do_modify(u, operation, x86_register(A), OF_A, next);
      break;
    case DO_CLC:
    case DO_SEC:
      u->known.c = operation == DO_SEC ? CARRY_1 : CARRY_0;
      u->known.host_c = X86_NONE;
      break;
    case DO_CLI:
    case DO_SEI:
      x86_store_constant(x, 8, IN_RUN(cpu.i), operation == DO_SEI);
      break;
    case DO_CLV:
      x86_store_constant(x, 8, IN_RUN(cpu.v), 0);
      break;
    case DO_CLD:
    case DO_SED:
      x86_store_constant(x, 8, IN_RUN(cpu.d), operation == DO_SED);
      u->known.binary = operation == DO_CLD;
      break;
    case DO_INX:
      count(u, X, false, OF_X);
      break;
    case DO_INY:
      count(u, Y, false, OF_Y);
      break;
    case DO_DEX:
      count(u, X, true, OF_X);
      break;
    case DO_DEY:
      count(u, Y, true, OF_Y);
      break;
    case DO_TAX:
      move(u, X, A, OF_X);
      break;
    case DO_TXA:
      move(u, A, X, OF_A);
      break;
    case DO_TAY:
      move(u, Y, A, OF_Y);
      break;
    case DO_TYA:
      move(u, A, Y, OF_A);
      break;
    case DO_TSX:
      x86_load_short(x, 8, X, IN_RUN(cpu.sp));
      set_nz(u, OF_X, false);
      break;
    case DO_TXS:
      x86_store(x, 8, IN_RUN(cpu.sp), X);
      break;
    default: /* NOP */
      break;
  }
}

#endif
