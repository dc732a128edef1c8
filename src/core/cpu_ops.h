/* cpu_ops.h: facts about the 6507's instructions, as two tables.
 *
 * VCS_OPCODES has a row X(code, operation, mode, access, cycles) for each of the 256 opcodes; VCS_OPERATIONS has a row
 * for each operation (LDA, ADC, ...) with what it reads, what it sets, how it makes its result and what it does to the
 * stack. Every executor takes its facts from here: the interpreter (cpu.h), the decoder (decode.h), the hot loop
 * (run.h), the tape and the derivatives (src/grad), the relaxed machine (src/relax), the disassembler and the tests.
 * SLO, RLA, SAX, LAX and their like are the undocumented operations; JAM are the twelve opcodes that stop the chip.
 *
 * access   READ     fetches its operand; indexed modes take one cycle more when the index crosses a page
 *          WRITE    stores; the cycle for a crossing is always paid
 *          MODIFY   reads, then writes the same address
 *          JUMP     the address is the operand
 *          BRANCH   one cycle more when taken, two when it lands on another page
 *          STACK    pushes or pulls
 *          IMPLIED  registers only
 *
 * Cycles are the reference's. They are charged when the opcode is fetched, before the operand is read or written, so
 * every access of an instruction happens at the time the instruction ends, and there are no dummy accesses. This is how
 * the CPU of xitari and ale-py works (the simpler of Stella's two), and picture and timer depend on it. LAX zero page
 * ($A7) takes 4 cycles there, 3 on the chip.
 */
#ifndef VCS_CORE_CPU_OPS_H
#define VCS_CORE_CPU_OPS_H

#include "base.h"

/* clang-format off */
#define VCS_OPCODES(X) \
  X(0x00, BRK,  IMP, STACK,   7) \
  X(0x01, ORA,  IZX, READ,    6) \
  X(0x02, JAM,  IMP, IMPLIED, 2) \
  X(0x03, SLO,  IZX, MODIFY,  8) \
  X(0x04, NOP,  ZP,  READ,    3) \
  X(0x05, ORA,  ZP,  READ,    3) \
  X(0x06, ASL,  ZP,  MODIFY,  5) \
  X(0x07, SLO,  ZP,  MODIFY,  5) \
  X(0x08, PHP,  IMP, STACK,   3) \
  X(0x09, ORA,  IMM, READ,    2) \
  X(0x0A, ASLA, ACC, IMPLIED, 2) \
  X(0x0B, ANC,  IMM, READ,    2) \
  X(0x0C, NOP,  ABS, READ,    4) \
  X(0x0D, ORA,  ABS, READ,    4) \
  X(0x0E, ASL,  ABS, MODIFY,  6) \
  X(0x0F, SLO,  ABS, MODIFY,  6) \
  X(0x10, BPL,  REL, BRANCH,  2) \
  X(0x11, ORA,  IZY, READ,    5) \
  X(0x12, JAM,  IMP, IMPLIED, 2) \
  X(0x13, SLO,  IZY, MODIFY,  8) \
  X(0x14, NOP,  ZPX, READ,    4) \
  X(0x15, ORA,  ZPX, READ,    4) \
  X(0x16, ASL,  ZPX, MODIFY,  6) \
  X(0x17, SLO,  ZPX, MODIFY,  6) \
  X(0x18, CLC,  IMP, IMPLIED, 2) \
  X(0x19, ORA,  ABY, READ,    4) \
  X(0x1A, NOP,  IMP, IMPLIED, 2) \
  X(0x1B, SLO,  ABY, MODIFY,  7) \
  X(0x1C, NOP,  ABX, READ,    4) \
  X(0x1D, ORA,  ABX, READ,    4) \
  X(0x1E, ASL,  ABX, MODIFY,  7) \
  X(0x1F, SLO,  ABX, MODIFY,  7) \
  X(0x20, JSR,  ABS, STACK,   6) \
  X(0x21, AND,  IZX, READ,    6) \
  X(0x22, JAM,  IMP, IMPLIED, 2) \
  X(0x23, RLA,  IZX, MODIFY,  8) \
  X(0x24, BIT,  ZP,  READ,    3) \
  X(0x25, AND,  ZP,  READ,    3) \
  X(0x26, ROL,  ZP,  MODIFY,  5) \
  X(0x27, RLA,  ZP,  MODIFY,  5) \
  X(0x28, PLP,  IMP, STACK,   4) \
  X(0x29, AND,  IMM, READ,    2) \
  X(0x2A, ROLA, ACC, IMPLIED, 2) \
  X(0x2B, ANC,  IMM, READ,    2) \
  X(0x2C, BIT,  ABS, READ,    4) \
  X(0x2D, AND,  ABS, READ,    4) \
  X(0x2E, ROL,  ABS, MODIFY,  6) \
  X(0x2F, RLA,  ABS, MODIFY,  6) \
  X(0x30, BMI,  REL, BRANCH,  2) \
  X(0x31, AND,  IZY, READ,    5) \
  X(0x32, JAM,  IMP, IMPLIED, 2) \
  X(0x33, RLA,  IZY, MODIFY,  8) \
  X(0x34, NOP,  ZPX, READ,    4) \
  X(0x35, AND,  ZPX, READ,    4) \
  X(0x36, ROL,  ZPX, MODIFY,  6) \
  X(0x37, RLA,  ZPX, MODIFY,  6) \
  X(0x38, SEC,  IMP, IMPLIED, 2) \
  X(0x39, AND,  ABY, READ,    4) \
  X(0x3A, NOP,  IMP, IMPLIED, 2) \
  X(0x3B, RLA,  ABY, MODIFY,  7) \
  X(0x3C, NOP,  ABX, READ,    4) \
  X(0x3D, AND,  ABX, READ,    4) \
  X(0x3E, ROL,  ABX, MODIFY,  7) \
  X(0x3F, RLA,  ABX, MODIFY,  7) \
  X(0x40, RTI,  IMP, STACK,   6) \
  X(0x41, EOR,  IZX, READ,    6) \
  X(0x42, JAM,  IMP, IMPLIED, 2) \
  X(0x43, SRE,  IZX, MODIFY,  8) \
  X(0x44, NOP,  ZP,  READ,    3) \
  X(0x45, EOR,  ZP,  READ,    3) \
  X(0x46, LSR,  ZP,  MODIFY,  5) \
  X(0x47, SRE,  ZP,  MODIFY,  5) \
  X(0x48, PHA,  IMP, STACK,   3) \
  X(0x49, EOR,  IMM, READ,    2) \
  X(0x4A, LSRA, ACC, IMPLIED, 2) \
  X(0x4B, ASR,  IMM, READ,    2) \
  X(0x4C, JMP,  ABS, JUMP,    3) \
  X(0x4D, EOR,  ABS, READ,    4) \
  X(0x4E, LSR,  ABS, MODIFY,  6) \
  X(0x4F, SRE,  ABS, MODIFY,  6) \
  X(0x50, BVC,  REL, BRANCH,  2) \
  X(0x51, EOR,  IZY, READ,    5) \
  X(0x52, JAM,  IMP, IMPLIED, 2) \
  X(0x53, SRE,  IZY, MODIFY,  8) \
  X(0x54, NOP,  ZPX, READ,    4) \
  X(0x55, EOR,  ZPX, READ,    4) \
  X(0x56, LSR,  ZPX, MODIFY,  6) \
  X(0x57, SRE,  ZPX, MODIFY,  6) \
  X(0x58, CLI,  IMP, IMPLIED, 2) \
  X(0x59, EOR,  ABY, READ,    4) \
  X(0x5A, NOP,  IMP, IMPLIED, 2) \
  X(0x5B, SRE,  ABY, MODIFY,  7) \
  X(0x5C, NOP,  ABX, READ,    4) \
  X(0x5D, EOR,  ABX, READ,    4) \
  X(0x5E, LSR,  ABX, MODIFY,  7) \
  X(0x5F, SRE,  ABX, MODIFY,  7) \
  X(0x60, RTS,  IMP, STACK,   6) \
  X(0x61, ADC,  IZX, READ,    6) \
  X(0x62, JAM,  IMP, IMPLIED, 2) \
  X(0x63, RRA,  IZX, MODIFY,  8) \
  X(0x64, NOP,  ZP,  READ,    3) \
  X(0x65, ADC,  ZP,  READ,    3) \
  X(0x66, ROR,  ZP,  MODIFY,  5) \
  X(0x67, RRA,  ZP,  MODIFY,  5) \
  X(0x68, PLA,  IMP, STACK,   4) \
  X(0x69, ADC,  IMM, READ,    2) \
  X(0x6A, RORA, ACC, IMPLIED, 2) \
  X(0x6B, ARR,  IMM, READ,    2) \
  X(0x6C, JMP,  IND, JUMP,    5) \
  X(0x6D, ADC,  ABS, READ,    4) \
  X(0x6E, ROR,  ABS, MODIFY,  6) \
  X(0x6F, RRA,  ABS, MODIFY,  6) \
  X(0x70, BVS,  REL, BRANCH,  2) \
  X(0x71, ADC,  IZY, READ,    5) \
  X(0x72, JAM,  IMP, IMPLIED, 2) \
  X(0x73, RRA,  IZY, MODIFY,  8) \
  X(0x74, NOP,  ZPX, READ,    4) \
  X(0x75, ADC,  ZPX, READ,    4) \
  X(0x76, ROR,  ZPX, MODIFY,  6) \
  X(0x77, RRA,  ZPX, MODIFY,  6) \
  X(0x78, SEI,  IMP, IMPLIED, 2) \
  X(0x79, ADC,  ABY, READ,    4) \
  X(0x7A, NOP,  IMP, IMPLIED, 2) \
  X(0x7B, RRA,  ABY, MODIFY,  7) \
  X(0x7C, NOP,  ABX, READ,    4) \
  X(0x7D, ADC,  ABX, READ,    4) \
  X(0x7E, ROR,  ABX, MODIFY,  7) \
  X(0x7F, RRA,  ABX, MODIFY,  7) \
  X(0x80, NOP,  IMM, READ,    2) \
  X(0x81, STA,  IZX, WRITE,   6) \
  X(0x82, NOP,  IMM, READ,    2) \
  X(0x83, SAX,  IZX, WRITE,   6) \
  X(0x84, STY,  ZP,  WRITE,   3) \
  X(0x85, STA,  ZP,  WRITE,   3) \
  X(0x86, STX,  ZP,  WRITE,   3) \
  X(0x87, SAX,  ZP,  WRITE,   3) \
  X(0x88, DEY,  IMP, IMPLIED, 2) \
  X(0x89, NOP,  IMM, READ,    2) \
  X(0x8A, TXA,  IMP, IMPLIED, 2) \
  X(0x8B, ANE,  IMM, READ,    2) \
  X(0x8C, STY,  ABS, WRITE,   4) \
  X(0x8D, STA,  ABS, WRITE,   4) \
  X(0x8E, STX,  ABS, WRITE,   4) \
  X(0x8F, SAX,  ABS, WRITE,   4) \
  X(0x90, BCC,  REL, BRANCH,  2) \
  X(0x91, STA,  IZY, WRITE,   6) \
  X(0x92, JAM,  IMP, IMPLIED, 2) \
  X(0x93, SHA,  IZY, WRITE,   6) \
  X(0x94, STY,  ZPX, WRITE,   4) \
  X(0x95, STA,  ZPX, WRITE,   4) \
  X(0x96, STX,  ZPY, WRITE,   4) \
  X(0x97, SAX,  ZPY, WRITE,   4) \
  X(0x98, TYA,  IMP, IMPLIED, 2) \
  X(0x99, STA,  ABY, WRITE,   5) \
  X(0x9A, TXS,  IMP, IMPLIED, 2) \
  X(0x9B, SHS,  ABY, WRITE,   5) \
  X(0x9C, SHY,  ABX, WRITE,   5) \
  X(0x9D, STA,  ABX, WRITE,   5) \
  X(0x9E, SHX,  ABY, WRITE,   5) \
  X(0x9F, SHA,  ABY, WRITE,   5) \
  X(0xA0, LDY,  IMM, READ,    2) \
  X(0xA1, LDA,  IZX, READ,    6) \
  X(0xA2, LDX,  IMM, READ,    2) \
  X(0xA3, LAX,  IZX, READ,    6) \
  X(0xA4, LDY,  ZP,  READ,    3) \
  X(0xA5, LDA,  ZP,  READ,    3) \
  X(0xA6, LDX,  ZP,  READ,    3) \
  X(0xA7, LAX,  ZP,  READ,    4) \
  X(0xA8, TAY,  IMP, IMPLIED, 2) \
  X(0xA9, LDA,  IMM, READ,    2) \
  X(0xAA, TAX,  IMP, IMPLIED, 2) \
  X(0xAB, LXA,  IMM, READ,    2) \
  X(0xAC, LDY,  ABS, READ,    4) \
  X(0xAD, LDA,  ABS, READ,    4) \
  X(0xAE, LDX,  ABS, READ,    4) \
  X(0xAF, LAX,  ABS, READ,    4) \
  X(0xB0, BCS,  REL, BRANCH,  2) \
  X(0xB1, LDA,  IZY, READ,    5) \
  X(0xB2, JAM,  IMP, IMPLIED, 2) \
  X(0xB3, LAX,  IZY, READ,    5) \
  X(0xB4, LDY,  ZPX, READ,    4) \
  X(0xB5, LDA,  ZPX, READ,    4) \
  X(0xB6, LDX,  ZPY, READ,    4) \
  X(0xB7, LAX,  ZPY, READ,    4) \
  X(0xB8, CLV,  IMP, IMPLIED, 2) \
  X(0xB9, LDA,  ABY, READ,    4) \
  X(0xBA, TSX,  IMP, IMPLIED, 2) \
  X(0xBB, LAS,  ABY, READ,    4) \
  X(0xBC, LDY,  ABX, READ,    4) \
  X(0xBD, LDA,  ABX, READ,    4) \
  X(0xBE, LDX,  ABY, READ,    4) \
  X(0xBF, LAX,  ABY, READ,    4) \
  X(0xC0, CPY,  IMM, READ,    2) \
  X(0xC1, CMP,  IZX, READ,    6) \
  X(0xC2, NOP,  IMM, READ,    2) \
  X(0xC3, DCP,  IZX, MODIFY,  8) \
  X(0xC4, CPY,  ZP,  READ,    3) \
  X(0xC5, CMP,  ZP,  READ,    3) \
  X(0xC6, DEC,  ZP,  MODIFY,  5) \
  X(0xC7, DCP,  ZP,  MODIFY,  5) \
  X(0xC8, INY,  IMP, IMPLIED, 2) \
  X(0xC9, CMP,  IMM, READ,    2) \
  X(0xCA, DEX,  IMP, IMPLIED, 2) \
  X(0xCB, SBX,  IMM, READ,    2) \
  X(0xCC, CPY,  ABS, READ,    4) \
  X(0xCD, CMP,  ABS, READ,    4) \
  X(0xCE, DEC,  ABS, MODIFY,  6) \
  X(0xCF, DCP,  ABS, MODIFY,  6) \
  X(0xD0, BNE,  REL, BRANCH,  2) \
  X(0xD1, CMP,  IZY, READ,    5) \
  X(0xD2, JAM,  IMP, IMPLIED, 2) \
  X(0xD3, DCP,  IZY, MODIFY,  8) \
  X(0xD4, NOP,  ZPX, READ,    4) \
  X(0xD5, CMP,  ZPX, READ,    4) \
  X(0xD6, DEC,  ZPX, MODIFY,  6) \
  X(0xD7, DCP,  ZPX, MODIFY,  6) \
  X(0xD8, CLD,  IMP, IMPLIED, 2) \
  X(0xD9, CMP,  ABY, READ,    4) \
  X(0xDA, NOP,  IMP, IMPLIED, 2) \
  X(0xDB, DCP,  ABY, MODIFY,  7) \
  X(0xDC, NOP,  ABX, READ,    4) \
  X(0xDD, CMP,  ABX, READ,    4) \
  X(0xDE, DEC,  ABX, MODIFY,  7) \
  X(0xDF, DCP,  ABX, MODIFY,  7) \
  X(0xE0, CPX,  IMM, READ,    2) \
  X(0xE1, SBC,  IZX, READ,    6) \
  X(0xE2, NOP,  IMM, READ,    2) \
  X(0xE3, ISB,  IZX, MODIFY,  8) \
  X(0xE4, CPX,  ZP,  READ,    3) \
  X(0xE5, SBC,  ZP,  READ,    3) \
  X(0xE6, INC,  ZP,  MODIFY,  5) \
  X(0xE7, ISB,  ZP,  MODIFY,  5) \
  X(0xE8, INX,  IMP, IMPLIED, 2) \
  X(0xE9, SBC,  IMM, READ,    2) \
  X(0xEA, NOP,  IMP, IMPLIED, 2) \
  X(0xEB, SBC,  IMM, READ,    2) \
  X(0xEC, CPX,  ABS, READ,    4) \
  X(0xED, SBC,  ABS, READ,    4) \
  X(0xEE, INC,  ABS, MODIFY,  6) \
  X(0xEF, ISB,  ABS, MODIFY,  6) \
  X(0xF0, BEQ,  REL, BRANCH,  2) \
  X(0xF1, SBC,  IZY, READ,    5) \
  X(0xF2, JAM,  IMP, IMPLIED, 2) \
  X(0xF3, ISB,  IZY, MODIFY,  8) \
  X(0xF4, NOP,  ZPX, READ,    4) \
  X(0xF5, SBC,  ZPX, READ,    4) \
  X(0xF6, INC,  ZPX, MODIFY,  6) \
  X(0xF7, ISB,  ZPX, MODIFY,  6) \
  X(0xF8, SED,  IMP, IMPLIED, 2) \
  X(0xF9, SBC,  ABY, READ,    4) \
  X(0xFA, NOP,  IMP, IMPLIED, 2) \
  X(0xFB, ISB,  ABY, MODIFY,  7) \
  X(0xFC, NOP,  ABX, READ,    4) \
  X(0xFD, SBC,  ABX, READ,    4) \
  X(0xFE, INC,  ABX, MODIFY,  7) \
  X(0xFF, ISB,  ABX, MODIFY,  7)
/* clang-format on */

enum vcs_mode {
  VCS_MODE_IMP,
  VCS_MODE_ACC,
  VCS_MODE_IMM,
  VCS_MODE_ZP,
  VCS_MODE_ZPX,
  VCS_MODE_ZPY,
  VCS_MODE_ABS,
  VCS_MODE_ABX,
  VCS_MODE_ABY,
  VCS_MODE_IND,
  VCS_MODE_IZX,
  VCS_MODE_IZY,
  VCS_MODE_REL
};

enum vcs_access {
  VCS_ACCESS_IMPLIED,
  VCS_ACCESS_STACK,
  VCS_ACCESS_READ,
  VCS_ACCESS_WRITE,
  VCS_ACCESS_MODIFY,
  VCS_ACCESS_JUMP,
  VCS_ACCESS_BRANCH
};

typedef struct {
  char name[5];
  uint8_t mode, access, cycles;
} vcs_opcode_t;

#define VCS_OPCODE_ROW(code, operation, mode, access, cycles) \
  {#operation, VCS_MODE_##mode, VCS_ACCESS_##access, cycles},

VCS_TABLE(vcs_opcode_t, vcs_opcode, 256, {VCS_OPCODES(VCS_OPCODE_ROW)})

/* ---- Operations ------------------------------------------------------------------------------------------------ */

enum {
  VCS_FLAG_C = 1,
  VCS_FLAG_Z = 2,
  VCS_FLAG_I = 4,
  VCS_FLAG_D = 8,
  VCS_FLAG_B = 16,
  VCS_FLAG_1 = 32,
  VCS_FLAG_V = 64,
  VCS_FLAG_N = 128
};

/* Sets of registers and flags. Flags are bits of the status register; above them are A, X, Y, S and the byte that the
 * operation finds on the bus, or puts there. */
enum {
  VCS_OF_C = VCS_FLAG_C,
  VCS_OF_Z = VCS_FLAG_Z,
  VCS_OF_I = VCS_FLAG_I,
  VCS_OF_D = VCS_FLAG_D,
  VCS_OF_V = VCS_FLAG_V,
  VCS_OF_N = VCS_FLAG_N,
  VCS_OF_A = 0x100,
  VCS_OF_X = 0x200,
  VCS_OF_Y = 0x400,
  VCS_OF_S = 0x800,
  VCS_OF_B = 0x1000,
  VCS_OF_NZ = VCS_OF_N | VCS_OF_Z,
  VCS_OF_NZC = VCS_OF_NZ | VCS_OF_C,
  VCS_OF_NZCV = VCS_OF_NZC | VCS_OF_V,
  VCS_OF_CD = VCS_OF_C | VCS_OF_D,
  VCS_OF_P = VCS_OF_NZCV | VCS_OF_D | VCS_OF_I
};

/* How the one byte that an operation makes follows from its inputs. */
enum vcs_kind {
  VCS_KIND_MOVES,     /* it is one of them: loads, stores, transfers, pushes, pulls */
  VCS_KIND_ADDS,      /* their sum, or one of them plus a constant; not in decimal mode */
  VCS_KIND_SUBTRACTS, /* their difference; not in decimal mode */
  VCS_KIND_ANDS,      /* bit by bit */
  VCS_KIND_ORS,
  VCS_KIND_XORS,
  VCS_KIND_SHIFTS_LEFT, /* by one bit */
  VCS_KIND_SHIFTS_RIGHT,
  VCS_KIND_COMPUTES /* another function, or more than one byte, or none */
};

/* A row is X(operation, reads, sets, kind, pushed): what the operation reads and sets, how it makes its byte, and how
 * many bytes it pushes (or, if negative, pulls). Program counter and opcode are not among them; branches, which only
 * choose the next instruction, read nothing here (vcs_branch_flag has their flag). test_linear.c checks reads and sets
 * for all opcodes by changing every input. */
/* clang-format off */
#define VCS_OPERATIONS(X) \
  X(LDA,  VCS_OF_B,                        VCS_OF_A | VCS_OF_NZ,                       MOVES,         0) \
  X(LDX,  VCS_OF_B,                        VCS_OF_X | VCS_OF_NZ,                       MOVES,         0) \
  X(LDY,  VCS_OF_B,                        VCS_OF_Y | VCS_OF_NZ,                       MOVES,         0) \
  X(LAX,  VCS_OF_B,                        VCS_OF_A | VCS_OF_X | VCS_OF_NZ,            COMPUTES,      0) \
  X(AND,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_NZ,                       ANDS,          0) \
  X(ORA,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_NZ,                       ORS,           0) \
  X(EOR,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_NZ,                       XORS,          0) \
  X(ADC,  VCS_OF_A | VCS_OF_B | VCS_OF_CD, VCS_OF_A | VCS_OF_NZCV,                     ADDS,          0) \
  X(SBC,  VCS_OF_A | VCS_OF_B | VCS_OF_CD, VCS_OF_A | VCS_OF_NZCV,                     SUBTRACTS,     0) \
  X(CMP,  VCS_OF_A | VCS_OF_B,             VCS_OF_NZC,                                 COMPUTES,      0) \
  X(CPX,  VCS_OF_X | VCS_OF_B,             VCS_OF_NZC,                                 COMPUTES,      0) \
  X(CPY,  VCS_OF_Y | VCS_OF_B,             VCS_OF_NZC,                                 COMPUTES,      0) \
  X(BIT,  VCS_OF_A | VCS_OF_B,             VCS_OF_N | VCS_OF_V | VCS_OF_Z,             COMPUTES,      0) \
  X(ANC,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_NZC,                      COMPUTES,      0) \
  X(ASR,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_NZC,                      COMPUTES,      0) \
  X(ARR,  VCS_OF_A | VCS_OF_B | VCS_OF_CD, VCS_OF_A | VCS_OF_NZCV,                     COMPUTES,      0) \
  X(SBX,  VCS_OF_A | VCS_OF_X | VCS_OF_B,  VCS_OF_X | VCS_OF_NZC,                      COMPUTES,      0) \
  X(LAS,  VCS_OF_S | VCS_OF_B,             VCS_OF_A | VCS_OF_X | VCS_OF_S | VCS_OF_NZ, COMPUTES,      0) \
  X(LXA,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_X | VCS_OF_NZ,            COMPUTES,      0) \
  X(ANE,  VCS_OF_A | VCS_OF_X | VCS_OF_B,  VCS_OF_A | VCS_OF_NZ,                       COMPUTES,      0) \
  X(NOP,  0,                               0,                                          COMPUTES,      0) \
  X(STA,  VCS_OF_A,                        VCS_OF_B,                                   MOVES,         0) \
  X(STX,  VCS_OF_X,                        VCS_OF_B,                                   MOVES,         0) \
  X(STY,  VCS_OF_Y,                        VCS_OF_B,                                   MOVES,         0) \
  X(SAX,  VCS_OF_A | VCS_OF_X,             VCS_OF_B,                                   COMPUTES,      0) \
  X(SHA,  VCS_OF_A | VCS_OF_X,             VCS_OF_B,                                   COMPUTES,      0) \
  X(SHX,  VCS_OF_X,                        VCS_OF_B,                                   COMPUTES,      0) \
  X(SHY,  VCS_OF_Y,                        VCS_OF_B,                                   COMPUTES,      0) \
  X(SHS,  VCS_OF_A | VCS_OF_X,             VCS_OF_S | VCS_OF_B,                        COMPUTES,      0) \
  X(ASL,  VCS_OF_B,                        VCS_OF_B | VCS_OF_NZC,                      SHIFTS_LEFT,   0) \
  X(LSR,  VCS_OF_B,                        VCS_OF_B | VCS_OF_NZC,                      SHIFTS_RIGHT,  0) \
  X(ROL,  VCS_OF_B | VCS_OF_C,             VCS_OF_B | VCS_OF_NZC,                      SHIFTS_LEFT,   0) \
  X(ROR,  VCS_OF_B | VCS_OF_C,             VCS_OF_B | VCS_OF_NZC,                      SHIFTS_RIGHT,  0) \
  X(INC,  VCS_OF_B,                        VCS_OF_B | VCS_OF_NZ,                       ADDS,          0) \
  X(DEC,  VCS_OF_B,                        VCS_OF_B | VCS_OF_NZ,                       ADDS,          0) \
  X(SLO,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_B | VCS_OF_NZC,           COMPUTES,      0) \
  X(RLA,  VCS_OF_A | VCS_OF_B | VCS_OF_C,  VCS_OF_A | VCS_OF_B | VCS_OF_NZC,           COMPUTES,      0) \
  X(SRE,  VCS_OF_A | VCS_OF_B,             VCS_OF_A | VCS_OF_B | VCS_OF_NZC,           COMPUTES,      0) \
  X(RRA,  VCS_OF_A | VCS_OF_B | VCS_OF_CD, VCS_OF_A | VCS_OF_B | VCS_OF_NZCV,          COMPUTES,      0) \
  X(DCP,  VCS_OF_A | VCS_OF_B,             VCS_OF_B | VCS_OF_NZC,                      COMPUTES,      0) \
  X(ISB,  VCS_OF_A | VCS_OF_B | VCS_OF_CD, VCS_OF_A | VCS_OF_B | VCS_OF_NZCV,          COMPUTES,      0) \
  X(ASLA, VCS_OF_A,                        VCS_OF_A | VCS_OF_NZC,                      SHIFTS_LEFT,   0) \
  X(LSRA, VCS_OF_A,                        VCS_OF_A | VCS_OF_NZC,                      SHIFTS_RIGHT,  0) \
  X(ROLA, VCS_OF_A | VCS_OF_C,             VCS_OF_A | VCS_OF_NZC,                      SHIFTS_LEFT,   0) \
  X(RORA, VCS_OF_A | VCS_OF_C,             VCS_OF_A | VCS_OF_NZC,                      SHIFTS_RIGHT,  0) \
  X(CLC,  0,                               VCS_OF_C,                                   COMPUTES,      0) \
  X(SEC,  0,                               VCS_OF_C,                                   COMPUTES,      0) \
  X(CLI,  0,                               VCS_OF_I,                                   COMPUTES,      0) \
  X(SEI,  0,                               VCS_OF_I,                                   COMPUTES,      0) \
  X(CLV,  0,                               VCS_OF_V,                                   COMPUTES,      0) \
  X(CLD,  0,                               VCS_OF_D,                                   COMPUTES,      0) \
  X(SED,  0,                               VCS_OF_D,                                   COMPUTES,      0) \
  X(INX,  VCS_OF_X,                        VCS_OF_X | VCS_OF_NZ,                       ADDS,          0) \
  X(INY,  VCS_OF_Y,                        VCS_OF_Y | VCS_OF_NZ,                       ADDS,          0) \
  X(DEX,  VCS_OF_X,                        VCS_OF_X | VCS_OF_NZ,                       ADDS,          0) \
  X(DEY,  VCS_OF_Y,                        VCS_OF_Y | VCS_OF_NZ,                       ADDS,          0) \
  X(TAX,  VCS_OF_A,                        VCS_OF_X | VCS_OF_NZ,                       MOVES,         0) \
  X(TXA,  VCS_OF_X,                        VCS_OF_A | VCS_OF_NZ,                       MOVES,         0) \
  X(TAY,  VCS_OF_A,                        VCS_OF_Y | VCS_OF_NZ,                       MOVES,         0) \
  X(TYA,  VCS_OF_Y,                        VCS_OF_A | VCS_OF_NZ,                       MOVES,         0) \
  X(TSX,  VCS_OF_S,                        VCS_OF_X | VCS_OF_NZ,                       MOVES,         0) \
  X(TXS,  VCS_OF_X,                        VCS_OF_S,                                   MOVES,         0) \
  X(PHA,  VCS_OF_A | VCS_OF_S,             VCS_OF_B | VCS_OF_S,                        MOVES,         1) \
  X(PHP,  VCS_OF_P | VCS_OF_S,             VCS_OF_B | VCS_OF_S,                        MOVES,         1) \
  X(PLA,  VCS_OF_B | VCS_OF_S,             VCS_OF_A | VCS_OF_S | VCS_OF_NZ,            MOVES,        -1) \
  X(PLP,  VCS_OF_B | VCS_OF_S,             VCS_OF_S | VCS_OF_P,                        COMPUTES,     -1) \
  X(JSR,  VCS_OF_S,                        VCS_OF_S,                                   ADDS,          2) \
  X(RTS,  VCS_OF_S,                        VCS_OF_S,                                   ADDS,         -2) \
  X(RTI,  VCS_OF_S,                        VCS_OF_S | VCS_OF_P,                        COMPUTES,     -3) \
  X(BRK,  VCS_OF_S,                        VCS_OF_S | VCS_OF_I,                        COMPUTES,      3) \
  X(JAM,  0,                               0,                                          COMPUTES,      0) \
  X(JMP,  0,                               0,                                          COMPUTES,      0) \
  X(BPL,  0,                               0,                                          COMPUTES,      0) \
  X(BMI,  0,                               0,                                          COMPUTES,      0) \
  X(BVC,  0,                               0,                                          COMPUTES,      0) \
  X(BVS,  0,                               0,                                          COMPUTES,      0) \
  X(BCC,  0,                               0,                                          COMPUTES,      0) \
  X(BCS,  0,                               0,                                          COMPUTES,      0) \
  X(BNE,  0,                               0,                                          COMPUTES,      0) \
  X(BEQ,  0,                               0,                                          COMPUTES,      0)
/* clang-format on */

/* The same as constants: VCS_READS_LDA, VCS_SETS_LDA, VCS_KIND_OF_LDA, VCS_PUSHED_BY_LDA. */
#define VCS_OPERATION_FACTS(operation, reads, sets, kind, pushed)                                            \
  VCS_READS_##operation = (reads), VCS_SETS_##operation = (sets), VCS_KIND_OF_##operation = VCS_KIND_##kind, \
  VCS_PUSHED_BY_##operation = (pushed),
enum { VCS_OPERATIONS(VCS_OPERATION_FACTS) };

#define VCS_PUSHED_ROW(code, operation, mode, access, cycles) VCS_PUSHED_BY_##operation,
VCS_TABLE(int8_t, vcs_pushed, 256, {VCS_OPCODES(VCS_PUSHED_ROW)}) /* by opcode */

/* How many bytes an instruction stores, by opcode. */
#define VCS_STORED_ROW(code, operation, mode, access, cycles)                                                      \
  (VCS_ACCESS_##access == VCS_ACCESS_WRITE || VCS_ACCESS_##access == VCS_ACCESS_MODIFY ? 1                         \
   : VCS_PUSHED_BY_##operation > 0                                                     ? VCS_PUSHED_BY_##operation \
                                                                                       : 0),
VCS_TABLE(uint8_t, vcs_stored, 256, {VCS_OPCODES(VCS_STORED_ROW)})

/* Opcodes that executors treat one by one. */
enum {
  VCS_BRK = 0x00,
  VCS_PHP = 0x08,
  VCS_JSR = 0x20,
  VCS_PLP = 0x28,
  VCS_RTI = 0x40,
  VCS_PHA = 0x48,
  VCS_RTS = 0x60,
  VCS_PLA = 0x68,
  VCS_JMP_INDIRECT = 0x6C,
  VCS_STY_ZP = 0x84,
  VCS_STA_ZP = 0x85,
  VCS_STX_ZP = 0x86,
  VCS_LDA_IMM = 0xA9
};

/* The flag that a branch tests, and whether it is taken when the flag is set: BPL BMI BVC BVS BCC BCS BNE BEQ. */
VCS_FN uint8_t vcs_branch_flag(uint8_t opcode) {
  static const uint8_t flags[4] = {VCS_FLAG_N, VCS_FLAG_V, VCS_FLAG_C, VCS_FLAG_Z};
  return flags[opcode >> 6];
}
VCS_FN bool vcs_branch_if_set(uint8_t opcode) { return opcode & 0x20; }

/* ---- Addressing modes ------------------------------------------------------------------------------------------ */

/* The length of an instruction by enum vcs_mode. BRK, which skips a byte, has 1. */
VCS_TABLE(uint8_t, vcs_mode_length, 13, {1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 2})

#endif
