/* single_lane.h: the instruction loop for one machine per warp.
 *
 * A warp with one machine has no other work while the machine waits for its own results: the speed depends on the
 * number of dependent operations and on jumps, which are expensive. So an instruction is decoded into 16 bytes with all
 * its facts, fetched in one access during the previous instruction, and most instructions are one formula. The
 * registers are one word; a permutation selects and stores its bytes:
 *
 *   registers   A | X | Y | SP         x = one of  A X Y SP operand 0 $FF 1,   y = another, perhaps inverted
 *                                      result = x & y, x ^ y, both, or x + y + carry
 *                                      -> a register, RAM, or nothing;  N and Z, C according to the instruction
 *
 *   LDA  operand + 0         CMP  A + ~operand + 1     INX  X + 0 + 1     ASL  operand + operand
 *   TXA  X + 0               AND  A & operand          DEC  operand + $FF ROL  operand + operand + C
 *   SBC  A + ~operand + C    CLC  0 + 0 -> C only      LSR  operand, with a shift instead of the sum
 *
 * The remaining operations, and all rare instructions, use core/cpu.h. Another lane runs the TIA: a write to it is a
 * word in a log (cpu_tia_pair.h).
 *
 * The decoded image is derived from that of lockstep.h, which classifies operands and plain instructions.
 */
#ifndef VCS_CUDA_SINGLE_LANE_H
#define VCS_CUDA_SINGLE_LANE_H

#include "cpu_tia_pair.h"

/* ---- Coding ------------------------------------------------------------------------------------------------------ */

enum {
  VCS_SINGLE_LANE_PLAIN,   /* operand and operation */
  VCS_SINGLE_LANE_POINTER, /* the same with (pointer),Y */
  VCS_SINGLE_LANE_BRANCH,
  VCS_SINGLE_LANE_TIA, /* a store to a TIA register that does not affect the CPU */
  VCS_SINGLE_LANE_WSYNC,
  VCS_SINGLE_LANE_WAIT, /* a waiting loop */
  VCS_SINGLE_LANE_JUMP,
  VCS_SINGLE_LANE_CALL,
  VCS_SINGLE_LANE_RETURN,
  VCS_SINGLE_LANE_PUSH,
  VCS_SINGLE_LANE_PULL,
  VCS_SINGLE_LANE_ACCESS, /* to any address, also of a chip */
  VCS_SINGLE_LANE_STEP,   /* an instruction for core/cpu.h */
  VCS_SINGLE_LANE_LAST_COMMON = VCS_SINGLE_LANE_WSYNC,
};

/* Fields of the head, from the lowest bits on. */
enum {
  VCS_SINGLE_LANE_KIND = 15,
  VCS_SINGLE_LANE_LENGTH_AT = 4, /* two bits */
  VCS_SINGLE_LANE_ODD = 1 << 6,  /* the formula does not always apply */
  VCS_SINGLE_LANE_SURE = 1 << 7, /* not indexed page zero, which must be RAM: bit 7 of the address */
  VCS_SINGLE_LANE_CYCLES_AT = 8, /* four bits */
  VCS_SINGLE_LANE_WHAT_AT = 12,  /* six bits, VCS_DOES_... */
  VCS_SINGLE_LANE_LOADS = 1 << 18,
  VCS_SINGLE_LANE_STORES = 1 << 19,
  VCS_SINGLE_LANE_SETS_NZ = 1 << 20,
  VCS_SINGLE_LANE_SETS_C = 1 << 21,
  VCS_SINGLE_LANE_CROSSES = 1 << 22, /* one more cycle if the index carries; for a branch, if it is taken */
  VCS_SINGLE_LANE_IN_ROM = 1 << 23,
  VCS_SINGLE_LANE_CARRY_AT = 24, /* constant that is added */
  VCS_SINGLE_LANE_C_AT = 25,     /* whether C is added */
  VCS_SINGLE_LANE_ADDS_C = 1 << VCS_SINGLE_LANE_C_AT,
  VCS_SINGLE_LANE_ZERO_PAGE = 1 << 26,
  VCS_SINGLE_LANE_BY_POINTER = 1 << 27,
  VCS_SINGLE_LANE_INDEX_AT = 28, /* four bits */
};

typedef struct {
  uint32_t head;
  uint32_t operand; /* address, immediate value or branch offset; permutation of the result in the upper half */
  uint32_t select;  /* permutation of x, and of y in the upper half */
  uint32_t masks;   /* byte masks of x & y, x ^ y, the sum, and the inversion of y; for a branch, its number */
} vcs_single_lane_code_t;

/* Selectors of x, y and the index: bytes of the registers, then of (operand, 0, $FF, 1). */
enum { VCS_IS_A, VCS_IS_X, VCS_IS_Y, VCS_IS_SP, VCS_IS_OPERAND, VCS_IS_0, VCS_IS_FF, VCS_IS_1 };
/* A selector for one byte with zeros above it; and a destination of the result, which is byte 4. */
VCS_FN uint32_t vcs_picks(uint32_t which) { return 0x5550 | which; }
enum { VCS_TO_A = 0x3214, VCS_TO_X = 0x3240, VCS_TO_Y = 0x3410, VCS_TO_SP = 0x4210, VCS_TO_NONE = 0x3210 };

/* The formula of an operation. */
typedef struct {
  uint8_t x, y, carry;
  uint16_t to;
  uint32_t masks, does; /* masks, and bits of the head */
} vcs_formula_t;

#define VCS_ANDS 0xFFu
#define VCS_XORS 0xFF00u
#define VCS_ADDS 0xFF0000u
#define VCS_SUBTRACTS 0xFFFF0000u
enum { VCS_SETS_ALL = VCS_SINGLE_LANE_SETS_NZ | VCS_SINGLE_LANE_SETS_C };

#define VCS_FORMULA(x, y, carry, masks, to, does) \
  { VCS_IS_##x, VCS_IS_##y, carry, VCS_TO_##to, masks, does }
#define VCS_SUM(x, y, carry, to, does) VCS_FORMULA(x, y, carry, VCS_ADDS, to, does)
#define VCS_LOGIC(masks) VCS_FORMULA(A, OPERAND, 0, masks, A, VCS_SINGLE_LANE_SETS_NZ)
#define VCS_ADD(masks)                 \
  VCS_FORMULA(A, OPERAND, 0, masks, A, \
              VCS_SETS_ALL | VCS_SINGLE_LANE_ADDS_C | VCS_SINGLE_LANE_ODD) /* V, and decimal digits */
#define VCS_COMPARE(x) VCS_FORMULA(x, OPERAND, 1, VCS_SUBTRACTS, NONE, VCS_SETS_ALL)
#define VCS_MOVE(x, to) VCS_SUM(x, 0, 0, to, VCS_SINGLE_LANE_SETS_NZ)
#define VCS_KEEP(x) VCS_SUM(x, 0, 0, NONE, VCS_SINGLE_LANE_STORES)
#define VCS_NO_FORMULA VCS_SUM(0, 0, 0, NONE, VCS_SINGLE_LANE_ODD)

/* By VCS_DOES_..., up to the branches. */
VCS_TABLE(
    vcs_formula_t, vcs_formula, VCS_DOES_BPL,
    {
        VCS_SUM(0, 0, 0, NONE, 0),                                                                           /* NOP */
        VCS_MOVE(OPERAND, A),                                                                                /* LDA */
        VCS_MOVE(OPERAND, X),                                                                                /* LDX */
        VCS_MOVE(OPERAND, Y),                                                                                /* LDY */
        VCS_LOGIC(VCS_ANDS),                                                                                 /* AND */
        VCS_LOGIC(VCS_ANDS | VCS_XORS),                                                                      /* ORA */
        VCS_LOGIC(VCS_XORS),                                                                                 /* EOR */
        VCS_ADD(VCS_ADDS),                                                                                   /* ADC */
        VCS_ADD(VCS_SUBTRACTS),                                                                              /* SBC */
        VCS_COMPARE(A),                                                                                      /* CMP */
        VCS_COMPARE(X),                                                                                      /* CPX */
        VCS_COMPARE(Y),                                                                                      /* CPY */
        VCS_NO_FORMULA,                                                                                      /* BIT */
        VCS_KEEP(A),                                                                                         /* STA */
        VCS_KEEP(X),                                                                                         /* STX */
        VCS_KEEP(Y),                                                                                         /* STY */
        VCS_KEEP(A),                                                                                         /* PHA */
        VCS_SUM(0, 0, 0, NONE, VCS_SINGLE_LANE_ODD | VCS_SINGLE_LANE_STORES),                                /* PHP */
        VCS_MOVE(OPERAND, A),                                                                                /* PLA */
        VCS_NO_FORMULA,                                                                                      /* PLP */
        VCS_SUM(OPERAND, OPERAND, 0, NONE, VCS_SINGLE_LANE_STORES | VCS_SETS_ALL),                           /* ASL */
        VCS_SUM(OPERAND, 0, 0, NONE, VCS_SINGLE_LANE_STORES | VCS_SINGLE_LANE_ODD),                          /* LSR */
        VCS_SUM(OPERAND, OPERAND, 0, NONE, VCS_SINGLE_LANE_STORES | VCS_SETS_ALL | VCS_SINGLE_LANE_ADDS_C),  /* ROL */
        VCS_SUM(OPERAND, 0, 0, NONE, VCS_SINGLE_LANE_STORES | VCS_SINGLE_LANE_ODD | VCS_SINGLE_LANE_ADDS_C), /* ROR */
        VCS_SUM(OPERAND, 0, 1, NONE, VCS_SINGLE_LANE_STORES | VCS_SINGLE_LANE_SETS_NZ),                      /* INC */
        VCS_SUM(OPERAND, FF, 0, NONE, VCS_SINGLE_LANE_STORES | VCS_SINGLE_LANE_SETS_NZ),                     /* DEC */
        VCS_SUM(A, A, 0, A, VCS_SETS_ALL),                                                                   /* ASL A */
        VCS_SUM(A, 0, 0, A, VCS_SINGLE_LANE_ODD),                                                            /* LSR A */
        VCS_SUM(A, A, 0, A, VCS_SETS_ALL | VCS_SINGLE_LANE_ADDS_C),                                          /* ROL A */
        VCS_SUM(A, 0, 0, A, VCS_SINGLE_LANE_ODD | VCS_SINGLE_LANE_ADDS_C),                                   /* ROR A */
        VCS_SUM(0, 0, 0, NONE, VCS_SINGLE_LANE_SETS_C),                                                      /* CLC */
        VCS_SUM(0, FF, 1, NONE, VCS_SINGLE_LANE_SETS_C),                                                     /* SEC */
        VCS_NO_FORMULA,                                                                                      /* CLD */
        VCS_NO_FORMULA,                                                                                      /* SED */
        VCS_SUM(X, 0, 1, X, VCS_SINGLE_LANE_SETS_NZ),                                                        /* INX */
        VCS_SUM(Y, 0, 1, Y, VCS_SINGLE_LANE_SETS_NZ),                                                        /* INY */
        VCS_SUM(X, FF, 0, X, VCS_SINGLE_LANE_SETS_NZ),                                                       /* DEX */
        VCS_SUM(Y, FF, 0, Y, VCS_SINGLE_LANE_SETS_NZ),                                                       /* DEY */
        VCS_MOVE(A, X),                                                                                      /* TAX */
        VCS_MOVE(X, A),                                                                                      /* TXA */
        VCS_MOVE(A, Y),                                                                                      /* TAY */
        VCS_MOVE(Y, A),                                                                                      /* TYA */
        VCS_MOVE(SP, X),                                                                                     /* TSX */
        VCS_SUM(X, 0, 0, SP, 0),                                                                             /* TXS */
    })

/* Returns the class of an instruction. */
VCS_FN unsigned vcs_single_lane_kind(unsigned where, unsigned what, uint16_t operand) {
  const bool stores = what >= VCS_DOES_STA && what <= VCS_DOES_STY;
  if (where == VCS_AT_STEP) return VCS_SINGLE_LANE_STEP;
  if (where == VCS_AT_WSYNC) return VCS_SINGLE_LANE_WSYNC;
  if (where == VCS_AT_BUS && stores && !(operand & 0x1080) && (operand & 63) > VCS_WSYNC) return VCS_SINGLE_LANE_TIA;
  if (where >= VCS_AT_BUS) return what <= VCS_DOES_PLP ? VCS_SINGLE_LANE_ACCESS : VCS_SINGLE_LANE_STEP;
  if (where == VCS_AT_POINTER) return VCS_SINGLE_LANE_POINTER;
  if (what >= VCS_DOES_WAIT_BNE) return VCS_SINGLE_LANE_WAIT;
  switch (what) {
    case VCS_DOES_JMP:
      return VCS_SINGLE_LANE_JUMP;
    case VCS_DOES_JSR:
      return VCS_SINGLE_LANE_CALL;
    case VCS_DOES_RTS:
      return VCS_SINGLE_LANE_RETURN;
    case VCS_DOES_PHA:
    case VCS_DOES_PHP:
      return VCS_SINGLE_LANE_PUSH;
    case VCS_DOES_PLA:
    case VCS_DOES_PLP:
      return VCS_SINGLE_LANE_PULL;
    default:
      return what >= VCS_DOES_BPL ? VCS_SINGLE_LANE_BRANCH : VCS_SINGLE_LANE_PLAIN;
  }
}

/* Returns the number of a branch among the eight, or of the branch of a waiting loop. */
VCS_FN uint32_t vcs_single_lane_branch(unsigned what) {
  switch (what) {
    case VCS_DOES_WAIT_BMI:
      return VCS_DOES_BMI - VCS_DOES_BPL;
    case VCS_DOES_WAIT_BPL:
    case VCS_DOES_DELAY_DEX_BPL:
    case VCS_DOES_DELAY_DEY_BPL:
      return 0;
    case VCS_DOES_WAIT_BNE:
    case VCS_DOES_DELAY_DEX_BNE:
    case VCS_DOES_DELAY_DEY_BNE:
      return VCS_DOES_BNE - VCS_DOES_BPL;
    default:
      return (what - VCS_DOES_BPL) & 7;
  }
}

/* Converts an instruction from lockstep.h's code. */
VCS_FN vcs_single_lane_code_t vcs_single_lane_code_of(vcs_code_t coded) {
  enum { STY = 0x84, STA = 0x85 };
  const unsigned where = coded.row & 15, what = coded.row >> VCS_WHAT_SHIFT & 63;
  const unsigned length = coded.row >> VCS_LENGTH_SHIFT, cycles = (coded.row >> VCS_CYCLES_AT & 7) + 1;
  const bool in_ram = where >> 2 == VCS_AT_RAM >> 2, in_rom = where >> 2 == VCS_AT_ROM >> 2;
  const unsigned kind = vcs_single_lane_kind(where, what, coded.operand);
  const bool stores = what >= VCS_DOES_STA && what <= VCS_DOES_STY;
  unsigned index = VCS_IS_0;
  if (where >= VCS_AT_RAM && where & 3) index = where & 2 ? VCS_IS_Y : VCS_IS_X;
  vcs_formula_t formula = vcs_formula(what < VCS_DOES_BPL ? what : (unsigned)VCS_DOES_NOP);
  if (kind == VCS_SINGLE_LANE_WSYNC) { /* its operand is the opcode, for the byte on the bus */
    formula.x = coded.operand == STY ? VCS_IS_Y : coded.operand == STA ? VCS_IS_A : VCS_IS_X;
  }
  vcs_single_lane_code_t code;
  code.head = kind | length << VCS_SINGLE_LANE_LENGTH_AT | cycles << VCS_SINGLE_LANE_CYCLES_AT |
              what << VCS_SINGLE_LANE_WHAT_AT | (uint32_t)formula.carry << VCS_SINGLE_LANE_CARRY_AT | formula.does |
              index << VCS_SINGLE_LANE_INDEX_AT;
  if (kind != VCS_SINGLE_LANE_PLAIN || !in_ram || index == VCS_IS_0) code.head |= VCS_SINGLE_LANE_SURE;
  if ((in_ram || in_rom || kind == VCS_SINGLE_LANE_ACCESS) && !stores) code.head |= VCS_SINGLE_LANE_LOADS;
  if (in_rom) code.head |= VCS_SINGLE_LANE_IN_ROM;
  if (in_rom || (kind == VCS_SINGLE_LANE_ACCESS && what < VCS_DOES_STA)) code.head |= VCS_SINGLE_LANE_CROSSES;
  if (kind == VCS_SINGLE_LANE_BRANCH && where == VCS_AT_IMMEDIATE) code.head |= VCS_SINGLE_LANE_CROSSES;
  if (in_ram) code.head |= VCS_SINGLE_LANE_ZERO_PAGE;
  if ((where | 4) == VCS_AT_BUS_POINTER) code.head |= VCS_SINGLE_LANE_BY_POINTER;
  code.operand = (uint32_t)formula.to << 16 | (kind == VCS_SINGLE_LANE_TIA ? coded.operand & 63u : coded.operand);
  code.select = vcs_picks(formula.y) << 16 | vcs_picks(formula.x);
  code.masks = what >= VCS_DOES_BPL ? vcs_single_lane_branch(what) : formula.masks;
  return code;
}

/* ---- A lane ------------------------------------------------------------------------------------------------------ */

/* Selects four of the eight bytes of `low` and `high` by the four lower hexadecimal digits of `which`. */
VCS_HOT_FN uint32_t vcs_permute(uint32_t low, uint32_t high, uint32_t which) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(which));
  return result;
#else
  const uint64_t both = (uint64_t)high << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) result |= (uint32_t)(both >> 8 * (which >> 4 * i & 7) & 0xFF) << 8 * i;
  return result;
#endif
}

enum { VCS_CONSTANTS = 0x01FF0000 }; /* bytes after the operand */

/* A lane stays in registers, because only inlined functions receive its address. */
typedef struct {
  uint32_t registers, nz, c, v, d, i;
  const vcs_single_lane_code_t *codes; /* of the bank */
  const uint8_t *rom;
  uint32_t at, start, size; /* index of the instruction in the bank; address and size of the bank */
  vcs_single_lane_code_t code;
  uint32_t cycles, left;
  uint32_t floor; /* number of remaining instructions at which the frame is abandoned; 0: never */
  bool known;
  vcs_log_t log;
} vcs_single_lane_t;

/* Whether the instruction is on a page with hot spots (lockstep.h). */
VCS_HOT_FN bool vcs_single_lane_is_hot(vcs_single_lane_code_t code) {
  return (code.head & VCS_SINGLE_LANE_KIND) == VCS_SINGLE_LANE_STEP &&
         (code.head >> VCS_SINGLE_LANE_WHAT_AT & 63) == VCS_STEP_IS_HOT;
}

/* Loads an instruction in one access. */
VCS_HOT_FN vcs_single_lane_code_t vcs_single_lane_at(const vcs_single_lane_t *lane, uint32_t at) {
#if defined(__CUDA_ARCH__)
  union {
    uint4 words;
    vcs_single_lane_code_t code;
  } both;
  both.words = *(const uint4 *)(const void *)&lane->codes[at];
  return both.code;
#else
  return lane->codes[at];
#endif
}

VCS_HOT_FN void vcs_single_lane_go(vcs_single_lane_t *lane, uint32_t at) {
  lane->at = at;
  lane->code = vcs_single_lane_at(lane, at);
}

/* Converts the registers to those of core/cpu.h. */
VCS_HOT_FN vcs_cpu_t vcs_single_lane_cpu(const vcs_single_lane_t *lane) {
  vcs_cpu_t cpu;
  cpu.time = VCS_CYCLES(lane->cycles);
  cpu.nz = lane->nz;
  cpu.pc = (uint16_t)(lane->start + lane->at);
  cpu.a = (uint8_t)lane->registers;
  cpu.x = (uint8_t)(lane->registers >> 8);
  cpu.y = (uint8_t)(lane->registers >> 16);
  cpu.sp = (uint8_t)(lane->registers >> 24);
  cpu.v = (uint8_t)lane->v;
  cpu.d = (uint8_t)lane->d;
  cpu.i = (uint8_t)lane->i;
  cpu.c = (uint8_t)lane->c;
  cpu.bus = cpu.stop = 0;
  return cpu;
}

VCS_HOT_FN void vcs_single_lane_take(vcs_single_lane_t *lane, const vcs_cpu_t *cpu) {
  lane->registers = cpu->a | (uint32_t)cpu->x << 8 | (uint32_t)cpu->y << 16 | (uint32_t)cpu->sp << 24;
  lane->nz = cpu->nz;
  lane->v = cpu->v;
  lane->d = cpu->d;
  lane->i = cpu->i;
  lane->c = cpu->c;
}

VCS_HOT_FN void vcs_single_lane_store(const vcs_single_lane_t *lane, vcs_t *m) {
  const vcs_cpu_t cpu = vcs_single_lane_cpu(lane);
  vcs_cpu_store(&cpu, m);
}

/* Finds the bank around pc; if it is unknown, `start` is the program counter and `at` zero. */
VCS_HOT_FN void vcs_single_lane_leave(vcs_single_lane_t *lane, uint32_t pc) {
  lane->start = pc & 0xFFFF;
  lane->at = 0;
  lane->known = false;
}

VCS_HOT_FN void vcs_single_lane_load(vcs_single_lane_t *lane, const vcs_t *m) {
  vcs_cpu_t cpu;
  vcs_cpu_load(&cpu, m);
  vcs_single_lane_take(lane, &cpu);
  lane->cycles = m->cycles;
  vcs_single_lane_leave(lane, m->pc);
}

VCS_HOT_FN void vcs_single_lane_find(const vcs_cart_t *cart, const vcs_single_lane_code_t *image, const vcs_t *m,
                                     vcs_single_lane_t *lane) {
  const uint32_t pc = lane->start;
  const int64_t found = vcs_lane_bank(cart, m, (uint16_t)pc);
  lane->known = found >= 0;
  lane->code.head = VCS_SINGLE_LANE_STEP;
  if (!lane->known) return;
  lane->size = (uint32_t)(found >> 32);
  lane->start = pc & ~(lane->size - 1u);
  lane->codes = image + (uint32_t)found;
  lane->rom = cart->rom + (uint32_t)found;
  vcs_single_lane_go(lane, pc - lane->start);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* Adds in decimal mode; returns the result with V and C above it. */
VCS_SLOW_FN uint32_t vcs_single_lane_decimal(bool adds, uint8_t a, uint8_t b, uint8_t c) {
  const vcs_alu_t r = adds ? vcs_alu_adc(a, b, c, 1) : vcs_alu_sbc(a, b, c, 1);
  return r.value | (uint32_t)r.v << 8 | (uint32_t)r.c << 9;
}

/* Executes an operation without formula; returns the result. `common`: binary mode, no stack. */
VCS_HOT_FN uint32_t vcs_single_lane_odd(vcs_single_lane_t *lane, uint32_t head, uint32_t x, uint32_t y, uint32_t b,
                                        uint32_t sum, bool common) {
  const unsigned what = head >> VCS_SINGLE_LANE_WHAT_AT & 63;
  uint32_t result = sum & 0xFF;
  if (what == VCS_DOES_ADC || what == VCS_DOES_SBC) {
    lane->v = ((x ^ sum) & (y ^ sum)) >> 7 & 1;
    if (!common && lane->d) {
      const uint32_t decimal = vcs_single_lane_decimal(what == VCS_DOES_ADC, (uint8_t)x, (uint8_t)b, (uint8_t)lane->c);
      result = decimal & 0xFF;
      lane->v = decimal >> 8 & 1;
      sum = decimal >> 1;
    }
    lane->c = sum >> 8;
    lane->nz = result;
  } else if (what == VCS_DOES_BIT) {
    lane->nz = (b & 0x80) << 8 | (b & lane->registers & 0xFF);
    lane->v = b >> 6 & 1;
  } else if (what == VCS_DOES_CLD || what == VCS_DOES_SED) {
    lane->d = what == VCS_DOES_SED;
  } else if (!common && (what == VCS_DOES_PHP || what == VCS_DOES_PLP)) {
    vcs_cpu_t cpu = vcs_single_lane_cpu(lane);
    result = vcs_cpu_status(&cpu);
    if (what == VCS_DOES_PLP) {
      vcs_cpu_set_status(&cpu, (uint8_t)b);
      vcs_single_lane_take(lane, &cpu);
    }
  } else { /* shift right */
    result = x >> 1 | (lane->c & head >> VCS_SINGLE_LANE_C_AT) << 7;
    lane->nz = result;
    lane->c = x & 1;
  }
  return result;
}

/* Executes the operation of an instruction; returns the result. */
VCS_HOT_FN uint32_t vcs_single_lane_operate(vcs_single_lane_t *lane, vcs_single_lane_code_t code, uint32_t b,
                                            bool common) {
  const uint32_t head = code.head, others = b | VCS_CONSTANTS;
  const uint32_t x = vcs_permute(lane->registers, others, code.select);
  const uint32_t y = vcs_permute(lane->registers, others, code.select >> 16) ^ code.masks >> 24;
  const uint32_t sum = x + y + ((head >> VCS_SINGLE_LANE_CARRY_AT & 1) | (lane->c & head >> VCS_SINGLE_LANE_C_AT));
  uint32_t result = (x & y & code.masks) | ((x ^ y) & code.masks >> 8) | (sum & code.masks >> 16);
  result &= 0xFF;
  if (VCS_UNLIKELY(head & VCS_SINGLE_LANE_ODD)) {
    result = vcs_single_lane_odd(lane, head, x, y, b, sum, common);
  } else {
    if (head & VCS_SINGLE_LANE_SETS_NZ) lane->nz = result;
    if (head & VCS_SINGLE_LANE_SETS_C) lane->c = sum >> 8;
  }
  lane->registers = vcs_permute(lane->registers, result, code.operand >> 16);
  return result;
}

VCS_HOT_FN uint32_t vcs_single_lane_operand(vcs_single_lane_code_t code) { return code.operand & 0xFFFF; }

VCS_HOT_FN uint32_t vcs_single_lane_index(const vcs_single_lane_t *lane, uint32_t head) {
  return vcs_permute(lane->registers, 0, 0x5550 | head >> VCS_SINGLE_LANE_INDEX_AT);
}

/* Advances after an instruction. */
VCS_HOT_FN void vcs_single_lane_next(vcs_single_lane_t *lane, uint32_t cycles, uint32_t next,
                                     vcs_single_lane_code_t following) {
  lane->cycles += cycles;
  lane->left--;
  lane->at = next;
  lane->code = following;
}

/* Whether a branch is taken. Branches come in pairs, for a clear and a set flag. */
VCS_HOT_FN bool vcs_single_lane_branches(const vcs_single_lane_t *lane, unsigned number) {
  const unsigned negative = (lane->nz & 0x8080) != 0, zero = (lane->nz & 0xFF) == 0;
  return ((negative | lane->v << 1 | lane->c << 2 | zero << 3) >> (number >> 1) & 1) == (number & 1);
}

/* Skips iterations of a waiting loop, like vcs_lane_wait. */
VCS_HOT_FN void vcs_single_lane_wait(vcs_single_lane_t *lane, const vcs_t *m, unsigned what) {
  const uint32_t allowed = (lane->left - 2) / 2;
  uint32_t turns, period = 5;
  if (what < VCS_DOES_DELAY_DEX_BNE) {
    const uint32_t least = what == VCS_DOES_WAIT_BNE ? 1 : what == VCS_DOES_WAIT_BPL ? 0 : 128;
    const uint32_t most = what == VCS_DOES_WAIT_BPL ? 127 : 255;
    period = 7;
    turns = vcs_turns_of_timer(m, lane->cycles, period, least, most);
    if (turns > allowed) turns = allowed;
  } else {
    const unsigned at = what == VCS_DOES_DELAY_DEY_BNE || what == VCS_DOES_DELAY_DEY_BPL ? 16 : 8;
    const uint8_t index = (uint8_t)(lane->registers >> at);
    turns = (uint8_t)(what < VCS_DOES_DELAY_DEX_BPL ? VCS_TURNS_BNE(index) : VCS_TURNS_BPL(index));
    if (turns > allowed) turns = allowed;
    lane->registers = (lane->registers & ~(0xFFu << at)) | (uint32_t)(uint8_t)(index - turns) << at;
  }
  lane->cycles += period * turns;
  lane->left -= 2 * turns;
}

/* ---- Chips ------------------------------------------------------------------------------------------------------- */

/* Reads an address outside RAM; of the TIA only the inputs. */
VCS_SLOW_FN uint8_t vcs_single_lane_read_chip(const vcs_cart_t *cart, vcs_t *m, uint16_t addr, uint8_t bus) {
  if (addr & 0x1000) return vcs_cart_read(cart, m, addr);
  if (addr & 0x80) return vcs_riot_read(cart, m, addr);
  const unsigned r = addr & 15;
  return (uint8_t)((r < 14 ? vcs_tia_input(cart, m, (int)r - 8) << 7 : 0) | (bus & 0x3F));
}

/* Reads a collision after the TIA lane has drawn up to it and stopped. */
VCS_SLOW_FN uint8_t vcs_single_lane_read_collision(const vcs_cart_t *cart, const vcs_cpu_tia_pair_t *pair,
                                                   uint32_t cycles, uint16_t addr, uint8_t bus) {
  pair->tia->cycles = cycles;
  return vcs_tia_read(cart, pair->tia, pair->video, addr, bus);
}

VCS_HOT_FN uint8_t vcs_single_lane_get(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                       vcs_single_lane_t *lane, uint16_t addr, uint8_t bus, unsigned *stop) {
  if ((addr & 0x1280) == 0x80) return m->ram[addr & 0x7F];
  if (addr & 0x1000 && cart->hot_pages >> (addr >> 6 & 63) & 1) *stop = VCS_STOP_BANKS;
  if (addr & 0x1080) return vcs_single_lane_read_chip(cart, m, addr, bus);
  if ((addr & 15) >= 8) {
    vcs_cpu_tia_pair_tell(pair, &lane->log, lane->cycles, VCS_LOG_SEEN, 0);
    return vcs_single_lane_read_chip(cart, m, addr, bus);
  }
  vcs_cpu_tia_pair_stop(pair, &lane->log);
  const uint8_t value = vcs_single_lane_read_collision(cart, pair, lane->cycles, addr, bus);
  vcs_cpu_tia_pair_go(pair);
  return value;
}

/* Executes the CPU's part of a write to the TIA; returns a set of VCS_STOP_..., and whether the TIA lane gets it. */
enum { VCS_SINGLE_LANE_SEEN_BY_TIA = 1 << 7 };
VCS_SLOW_FN unsigned vcs_single_lane_write_chip(const vcs_cart_t *cart, vcs_t *m, const vcs_video_t *video,
                                                uint16_t addr, uint8_t value) {
  unsigned stop = VCS_SINGLE_LANE_SEEN_BY_TIA;
  if (addr & 0x1000) {
    stop |= VCS_STOP_BANKS;
    if (!vcs_cart_write(cart, m, addr, value)) return VCS_STOP_BANKS;
  } else if (addr & 0x80) {
    vcs_riot_write(m, addr, value);
    return 0;
  }
  if (vcs_tia_since_frame(m) >= video->limit) stop |= VCS_STOP_FRAME;
  switch (addr & 63) {
    case VCS_WSYNC:
      vcs_tia_wsync(m);
      break;
    case VCS_VBLANK:
      vcs_tia_dump(m, value);
      break;
    case VCS_VSYNC:
      if (vcs_tia_vsync(m, value)) stop |= VCS_STOP_FRAME;
      break;
    default:
      break;
  }
  return stop;
}

/* Writes to an address; returns a set of VCS_STOP_... */
VCS_HOT_FN unsigned vcs_single_lane_put(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                        vcs_single_lane_t *lane, uint16_t addr, uint8_t value) {
  if ((addr & 0x1280) == 0x80) {
    m->ram[addr & 0x7F] = value;
    return 0;
  }
  const unsigned r = addr & 63, stop = vcs_single_lane_write_chip(cart, m, pair->video, addr, value);
  if (stop & VCS_SINGLE_LANE_SEEN_BY_TIA) {
    vcs_cpu_tia_pair_tell(pair, &lane->log, lane->cycles, r == VCS_WSYNC ? (unsigned)VCS_LOG_SEEN : r, value);
  }
  lane->cycles = m->cycles;
  return stop & (VCS_STOP_FRAME | VCS_STOP_BANKS);
}

/* Pulls a byte; a pull spends a bus cycle on the old top of the stack. */
VCS_HOT_FN uint8_t vcs_single_lane_pull(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                        vcs_single_lane_t *lane, unsigned what, unsigned *stop) {
  const uint32_t sp = lane->registers >> 24;
  const uint8_t bus =
      vcs_single_lane_get(cart, m, pair, lane, (uint16_t)(0x100 + sp), what == VCS_DOES_PLA ? VCS_PLA : VCS_PLP, stop);
  return vcs_single_lane_get(cart, m, pair, lane, (uint16_t)(0x100 + (uint8_t)(sp + 1)), bus, stop);
}

enum { VCS_SINGLE_LANE_STEP_COSTS = 16 }; /* cost in common instructions */

/* Executes an instruction of core/cpu.h over the bus, on CPU and TIA together. Returns whether the frame is over. */
VCS_HOT_FN bool vcs_single_lane_step(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                     vcs_single_lane_t *lane) {
  vcs_cpu_tia_pair_stop(pair, &lane->log);
  vcs_tia_copy(m, pair->tia);
  vcs_single_lane_store(lane, m);
  const bool over = vcs_lane_step_cpu(cart, m, pair->video);
  vcs_tia_copy(pair->tia, m);
  vcs_cpu_tia_pair_go(pair);
  vcs_single_lane_load(lane, m);
  lane->left--;
  return over;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

/* Executes PLAIN and POINTER in RAM and ROM; otherwise returns false without any change. */
VCS_HOT_FN bool vcs_single_lane_plain(const vcs_cart_t *cart, vcs_t *m, vcs_single_lane_t *lane, uint32_t next,
                                      vcs_single_lane_code_t following) {
  const vcs_single_lane_code_t code = lane->code;
  const uint32_t head = code.head, index = vcs_single_lane_index(lane, head);
  uint32_t base = vcs_single_lane_operand(code), place = base + index, b = base & 0xFF;
  if (VCS_UNLIKELY(head & VCS_SINGLE_LANE_ODD && lane->d)) return false;
  if (VCS_UNLIKELY(head & VCS_SINGLE_LANE_BY_POINTER)) {
    base = vcs_run_pointer(&m->ram[base]);
    place = base + index;
    if (!(place & 0x1000) || cart->hot_pages >> (place >> 6 & 63) & 1) return false;
    b = lane->rom[place & (lane->size - 1)];
  } else if (head & VCS_SINGLE_LANE_IN_ROM) {
    b = lane->rom[place];
  } else {
    if (!((place | head) & VCS_SINGLE_LANE_SURE)) return false;
    place &= 0x7F;
    if (head & VCS_SINGLE_LANE_LOADS) b = m->ram[place];
  }
  const uint32_t crosses = head & VCS_SINGLE_LANE_CROSSES ? ((base & 0xFF) + index) >> 8 : 0;
  const uint32_t value = vcs_single_lane_operate(lane, code, b, true);
  if (head & VCS_SINGLE_LANE_STORES) m->ram[place] = (uint8_t)value;
  vcs_single_lane_next(lane, (head >> VCS_SINGLE_LANE_CYCLES_AT & 15) + crosses, next, following);
  return true;
}

/* Executes an instruction with an operand, an operation and a result at any address; false without any change if it
 * cannot.
 */
VCS_HOT_FN bool vcs_single_lane_access(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                       vcs_single_lane_t *lane, uint32_t next, vcs_single_lane_code_t following,
                                       unsigned *stop) {
  const vcs_single_lane_code_t code = lane->code;
  const uint32_t head = code.head, index = vcs_single_lane_index(lane, head), sp = lane->registers >> 24;
  const unsigned kind = head & VCS_SINGLE_LANE_KIND, what = head >> VCS_SINGLE_LANE_WHAT_AT & 63;
  const bool by_pointer = head & VCS_SINGLE_LANE_BY_POINTER;
  if (what > VCS_DOES_PLP && !(head & VCS_SINGLE_LANE_ODD && head & VCS_SINGLE_LANE_SURE)) return false;
  uint32_t base = vcs_single_lane_operand(code), b = base & 0xFF;
  if (by_pointer) base = vcs_run_pointer(&m->ram[base]);
  uint32_t addr = kind == VCS_SINGLE_LANE_PUSH ? 0x100 + sp : base + index;
  if (head & VCS_SINGLE_LANE_ZERO_PAGE) addr = (addr & 0xFF) | (head & VCS_SINGLE_LANE_SURE);
  const uint32_t crosses = head & VCS_SINGLE_LANE_CROSSES ? ((base & 0xFF) + index) >> 8 : 0;
  vcs_single_lane_next(lane, (head >> VCS_SINGLE_LANE_CYCLES_AT & 15) + crosses, next, following);
  m->cycles = lane->cycles;
  if (kind == VCS_SINGLE_LANE_PULL) {
    b = vcs_single_lane_pull(cart, m, pair, lane, what, stop);
  } else if (head & VCS_SINGLE_LANE_IN_ROM && !by_pointer) {
    b = lane->rom[base + index];
  } else if (head &
             VCS_SINGLE_LANE_LOADS) { /* undriven bits are those of the last byte of the instruction or its pointer */
    const bool low = (head >> VCS_SINGLE_LANE_LENGTH_AT & 3) == 2 && !by_pointer;
    b = vcs_single_lane_get(cart, m, pair, lane, (uint16_t)addr, (uint8_t)(low ? base : base >> 8), stop);
  }
  const uint8_t value = (uint8_t)vcs_single_lane_operate(lane, code, b, false);
  if (head & VCS_SINGLE_LANE_STORES) {
    *stop = vcs_single_lane_put(cart, m, pair, lane, (uint16_t)addr, value);
    if (*stop) m->bus = value;
  }
  if (kind == VCS_SINGLE_LANE_PUSH) lane->registers -= 1u << 24;
  if (kind == VCS_SINGLE_LANE_PULL) lane->registers += 1u << 24;
  return true;
}

/* Executes a branch; `turns`: of a waiting loop. */
VCS_HOT_FN void vcs_single_lane_branch_on(const vcs_t *m, vcs_single_lane_t *lane, uint32_t next,
                                          vcs_single_lane_code_t following, bool turns) {
  const vcs_single_lane_code_t code = lane->code;
  const bool taken = vcs_single_lane_branches(lane, code.masks);
  if (turns && taken) vcs_single_lane_wait(lane, m, code.head >> VCS_SINGLE_LANE_WHAT_AT & 63);
  vcs_single_lane_next(lane, 2, next, following);
  if (taken) {
    lane->cycles += code.head & VCS_SINGLE_LANE_CROSSES ? 2 : 1;
    vcs_single_lane_go(lane, next - 2 + (uint32_t)(int16_t)code.operand);
  }
}

/* Executes JMP, JSR and RTS within the bank with the stack in RAM; otherwise returns false without any change. */
VCS_HOT_FN bool vcs_single_lane_jumps(vcs_t *m, vcs_single_lane_t *lane) {
  const vcs_single_lane_code_t code = lane->code;
  const unsigned kind = code.head & VCS_SINGLE_LANE_KIND;
  const uint32_t sp = lane->registers >> 24, back = lane->start + lane->at + 2;
  uint32_t to = (code.operand - lane->start) & 0xFFFF;
  if (kind == VCS_SINGLE_LANE_RETURN) { /* also reads the byte before the return address */
    if (sp < 0x80 || sp > 0xFD) return false;
    to = (vcs_run_pointer(&m->ram[(sp + 1) & 0x7F]) - lane->start) & 0xFFFF;
    if (to + 1 >= lane->size || vcs_single_lane_is_hot(vcs_single_lane_at(lane, to))) return false;
    to++;
    lane->registers += 2u << 24;
  }
  if (to >= lane->size) return false;
  if (kind == VCS_SINGLE_LANE_CALL) {
    if (sp < 0x81) return false;
    m->ram[sp & 0x7F] = (uint8_t)(back >> 8);
    m->ram[(sp - 1) & 0x7F] = (uint8_t)back;
    lane->registers -= 2u << 24;
  }
  lane->cycles += code.head >> VCS_SINGLE_LANE_CYCLES_AT & 15;
  lane->left--;
  vcs_single_lane_go(lane, to);
  return true;
}

/* Executes consecutive common instructions in a small loop, which stays in the instruction cache. Returns whether the
 * frame is over. */
VCS_HOT_FN bool vcs_single_lane_run(const vcs_cart_t *cart, vcs_t *m, vcs_single_lane_t *lane, int32_t frame_clock,
                                    int32_t limit) {
  const uint32_t last = lane->floor > 1 ? lane->floor : 1; /* the last instruction changes the bus */
  while (lane->left > last) {
    const vcs_single_lane_code_t code = lane->code;
    const uint32_t head = code.head, next = lane->at + (head >> VCS_SINGLE_LANE_LENGTH_AT & 3);
    const vcs_single_lane_code_t following = vcs_single_lane_at(lane, next); /* prefetched during this instruction */
    const unsigned kind = head & VCS_SINGLE_LANE_KIND;
    if (kind <= VCS_SINGLE_LANE_POINTER) {
      if (!vcs_single_lane_plain(cart, m, lane, next, following)) return false;
    } else if (kind == VCS_SINGLE_LANE_BRANCH) {
      vcs_single_lane_branch_on(m, lane, next, following, false);
    } else {
      if (kind > VCS_SINGLE_LANE_LAST_COMMON || vcs_log_is_full(&lane->log)) return false;
      const uint8_t value = (uint8_t)vcs_permute(lane->registers, 0, code.select);
      vcs_single_lane_next(lane, head >> VCS_SINGLE_LANE_CYCLES_AT & 15, next, following);
      const bool over = vcs_wrap_minus((int32_t)(lane->cycles * 3), frame_clock) >= limit;
      vcs_log_write(&lane->log, lane->cycles,
                    kind == VCS_SINGLE_LANE_TIA ? vcs_single_lane_operand(code) : (unsigned)VCS_LOG_SEEN, value);
      if (kind == VCS_SINGLE_LANE_WSYNC) {
        lane->cycles = vcs_wsync_end(lane->cycles, frame_clock);
      }
      if (over) {
        m->bus = value;
        return true;
      }
    }
  }
  return false;
}

/* Executes an instruction that is not common; returns whether the frame is over. */
VCS_HOT_FN bool vcs_single_lane_other(const vcs_cart_t *cart, vcs_t *m, const vcs_cpu_tia_pair_t *pair,
                                      vcs_single_lane_t *lane) {
  const uint32_t head = lane->code.head, next = lane->at + (head >> VCS_SINGLE_LANE_LENGTH_AT & 3);
  const vcs_single_lane_code_t following = vcs_single_lane_at(lane, next);
  const unsigned kind = lane->known && lane->left > 1 ? head & VCS_SINGLE_LANE_KIND : (unsigned)VCS_SINGLE_LANE_STEP;
  unsigned stop = 0;
  if (kind == VCS_SINGLE_LANE_WAIT) {
    vcs_single_lane_branch_on(m, lane, next, following, true);
    return false;
  }
  if (kind >= VCS_SINGLE_LANE_JUMP && kind <= VCS_SINGLE_LANE_RETURN && vcs_single_lane_jumps(m, lane)) return false;
  if ((kind <= VCS_SINGLE_LANE_POINTER || (kind >= VCS_SINGLE_LANE_PUSH && kind <= VCS_SINGLE_LANE_ACCESS)) &&
      vcs_single_lane_access(cart, m, pair, lane, next, following, &stop)) {
    if (stop) vcs_single_lane_leave(lane, lane->start + lane->at);
    return stop & VCS_STOP_FRAME;
  }
  if (lane->floor) lane->floor += VCS_SINGLE_LANE_STEP_COSTS;
  return vcs_single_lane_step(cart, m, pair, lane);
}

/* Runs the instructions of a frame, like vcs_cpu_run, for a cartridge that does not watch the whole bus (cart->snoops).
 * If `patience` is not 0, abandons the frame after that many instructions and returns true. */
VCS_HOT_FN bool vcs_run_single_lane(const vcs_cart_t *cart, const vcs_single_lane_code_t *image, vcs_t *m,
                                    const vcs_cpu_tia_pair_t *pair, vcs_log_t *log, uint32_t patience) {
  const int32_t frame_clock = m->frame_clock, limit = pair->video->limit;
  bool over = false;
  vcs_single_lane_t lane;
  lane.codes = image;
  lane.rom = cart->rom;
  lane.size = 0;
  lane.code = image[0];
  lane.left = VCS_FRAME_INSTRUCTIONS;
  lane.floor = patience ? VCS_FRAME_INSTRUCTIONS - patience : 0;
  lane.log = *log;
  vcs_single_lane_load(&lane, m);
  while (!over && !m->jammed && lane.left > lane.floor) {
    if (!lane.known) vcs_single_lane_find(cart, image, m, &lane);
    over = vcs_single_lane_run(cart, m, &lane, frame_clock, limit);
    if (over || lane.left <= lane.floor) break;
    if (vcs_log_is_full(&lane.log)) {
      vcs_cpu_tia_pair_stop(pair, &lane.log);
      vcs_cpu_tia_pair_go(pair);
    }
    over = vcs_single_lane_other(cart, m, pair, &lane);
  }
  vcs_single_lane_store(&lane, m);
  m->instructions += VCS_FRAME_INSTRUCTIONS - lane.left;
  if (over) m->partial = 0;
  *log = lane.log;
  return !over && lane.floor && lane.left <= lane.floor;
}

/* Runs a frame. Returns whether it was abandoned; the machine is then invalid. */
VCS_FN bool vcs_frame_single_lane(const vcs_cart_t *cart, const vcs_single_lane_code_t *image, vcs_t *m,
                                  const vcs_cpu_tia_pair_t *pair, vcs_log_t *log, uint8_t *frames, uint32_t patience) {
  vcs_video_start(pair->video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_tia_copy(pair->tia, m);
  vcs_cpu_tia_pair_go(pair);
  const bool given_up = vcs_run_single_lane(cart, image, m, pair, log, patience);
  vcs_cpu_tia_pair_stop(pair, log);
  vcs_tia_copy(m, pair->tia);
  vcs_console_finish_frame(cart, m, pair->video);
  return given_up;
}

#endif
