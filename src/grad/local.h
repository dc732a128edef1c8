/* local.h: an instruction as a pure function of 48 bits.
 *
 * What the 6507 does between its bus accesses depends on its registers and on one byte from the bus, and changes the
 * same. Packed into one word,
 *
 *      bits 47..40   39..32   31..24   23..16   15..8    7..0
 *           V        P        S        Y        X        A          V: the byte read, or the byte to be written
 *
 * an opcode is a function vcs_local(opcode, addr, word) -> word, made from the very operations of cpu.h. Its derivative
 * needs no rules: bit i moves the bits of vcs_local(word ^ 1 << i) ^ vcs_local(word). vcs_uses says which bits are
 * worth flipping and which can move, so that everything else stays where it is (test_linear.c checks both against all
 * flips).
 *
 * Stops: the opcode itself and the program counter (operands of jumps, return addresses) carry no derivative; BRK and
 * RTI, which no game runs on purpose, carry none for the status register.
 */
#ifndef VCS_GRAD_LOCAL_H
#define VCS_GRAD_LOCAL_H

#include "core/console.h"

enum { VCS_LANE_A, VCS_LANE_X, VCS_LANE_Y, VCS_LANE_S, VCS_LANE_P, VCS_LANE_V, VCS_LANES };

#define VCS_LANE(lane, bits) ((uint64_t)(bits) << 8 * (lane))
#define VCS_A VCS_LANE(VCS_LANE_A, 0xFF)
#define VCS_X VCS_LANE(VCS_LANE_X, 0xFF)
#define VCS_Y VCS_LANE(VCS_LANE_Y, 0xFF)
#define VCS_S VCS_LANE(VCS_LANE_S, 0xFF)
#define VCS_V VCS_LANE(VCS_LANE_V, 0xFF)
#define VCS_P(flags) VCS_LANE(VCS_LANE_P, flags)
#define VCS_NZ VCS_P(VCS_FLAG_N | VCS_FLAG_Z)
#define VCS_NZC VCS_P(VCS_FLAG_N | VCS_FLAG_Z | VCS_FLAG_C)
#define VCS_NZCV VCS_P(VCS_FLAG_N | VCS_FLAG_Z | VCS_FLAG_C | VCS_FLAG_V)
#define VCS_CD VCS_P(VCS_FLAG_C | VCS_FLAG_D)
#define VCS_FLAGS VCS_P(VCS_FLAG_N | VCS_FLAG_V | VCS_FLAG_D | VCS_FLAG_I | VCS_FLAG_Z | VCS_FLAG_C)

/* Which bits an operation looks at, and which it sets. One that does nothing but move a byte (and set N and Z by it, or
 * count the stack pointer) says from where to where; for the others from == to. The lanes of these bits are sets of
 * 1 << lane. */
typedef struct {
  uint64_t reads, writes;
  uint8_t from, to;
  uint8_t read_lanes, written_lanes;
} vcs_uses_t;
#define VCS_STAYS 0, 0

/* clang-format off */
#define VCS_USES_LDA VCS_V, VCS_A | VCS_NZ, VCS_LANE_V, VCS_LANE_A
#define VCS_USES_LDX VCS_V, VCS_X | VCS_NZ, VCS_LANE_V, VCS_LANE_X
#define VCS_USES_LDY VCS_V, VCS_Y | VCS_NZ, VCS_LANE_V, VCS_LANE_Y
#define VCS_USES_LAX VCS_V, VCS_A | VCS_X | VCS_NZ, VCS_STAYS
#define VCS_USES_AND VCS_A | VCS_V, VCS_A | VCS_NZ, VCS_STAYS
#define VCS_USES_ORA VCS_A | VCS_V, VCS_A | VCS_NZ, VCS_STAYS
#define VCS_USES_EOR VCS_A | VCS_V, VCS_A | VCS_NZ, VCS_STAYS
#define VCS_USES_ADC VCS_A | VCS_V | VCS_CD, VCS_A | VCS_NZCV, VCS_STAYS
#define VCS_USES_SBC VCS_A | VCS_V | VCS_CD, VCS_A | VCS_NZCV, VCS_STAYS
#define VCS_USES_CMP VCS_A | VCS_V, VCS_NZC, VCS_STAYS
#define VCS_USES_CPX VCS_X | VCS_V, VCS_NZC, VCS_STAYS
#define VCS_USES_CPY VCS_Y | VCS_V, VCS_NZC, VCS_STAYS
#define VCS_USES_BIT VCS_A | VCS_V, VCS_P(VCS_FLAG_N | VCS_FLAG_V | VCS_FLAG_Z), VCS_STAYS
#define VCS_USES_ANC VCS_A | VCS_V, VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_ASR VCS_A | VCS_V, VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_ARR VCS_A | VCS_V | VCS_CD, VCS_A | VCS_NZCV, VCS_STAYS
#define VCS_USES_SBX VCS_A | VCS_X | VCS_V, VCS_X | VCS_NZC, VCS_STAYS
#define VCS_USES_LAS VCS_S | VCS_V, VCS_A | VCS_X | VCS_S | VCS_NZ, VCS_STAYS
#define VCS_USES_LXA VCS_A | VCS_V, VCS_A | VCS_X | VCS_NZ, VCS_STAYS
#define VCS_USES_ANE VCS_A | VCS_X | VCS_V, VCS_A | VCS_NZ, VCS_STAYS
#define VCS_USES_NOP 0, 0, VCS_STAYS
#define VCS_USES_STA VCS_A, VCS_V, VCS_LANE_A, VCS_LANE_V
#define VCS_USES_STX VCS_X, VCS_V, VCS_LANE_X, VCS_LANE_V
#define VCS_USES_STY VCS_Y, VCS_V, VCS_LANE_Y, VCS_LANE_V
#define VCS_USES_SAX VCS_A | VCS_X, VCS_V, VCS_STAYS
#define VCS_USES_SHA VCS_A | VCS_X, VCS_V, VCS_STAYS
#define VCS_USES_SHX VCS_X, VCS_V, VCS_STAYS
#define VCS_USES_SHY VCS_Y, VCS_V, VCS_STAYS
#define VCS_USES_SHS VCS_A | VCS_X, VCS_S | VCS_V, VCS_STAYS
#define VCS_USES_ASL VCS_V, VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_LSR VCS_V, VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_ROL VCS_V | VCS_P(VCS_FLAG_C), VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_ROR VCS_V | VCS_P(VCS_FLAG_C), VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_INC VCS_V, VCS_V | VCS_NZ, VCS_STAYS
#define VCS_USES_DEC VCS_V, VCS_V | VCS_NZ, VCS_STAYS
#define VCS_USES_SLO VCS_A | VCS_V, VCS_A | VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_RLA VCS_A | VCS_V | VCS_P(VCS_FLAG_C), VCS_A | VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_SRE VCS_A | VCS_V, VCS_A | VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_RRA VCS_A | VCS_V | VCS_CD, VCS_A | VCS_V | VCS_NZCV, VCS_STAYS
#define VCS_USES_DCP VCS_A | VCS_V, VCS_V | VCS_NZC, VCS_STAYS
#define VCS_USES_ISB VCS_A | VCS_V | VCS_CD, VCS_A | VCS_V | VCS_NZCV, VCS_STAYS
#define VCS_USES_ASLA VCS_A, VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_LSRA VCS_A, VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_ROLA VCS_A | VCS_P(VCS_FLAG_C), VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_RORA VCS_A | VCS_P(VCS_FLAG_C), VCS_A | VCS_NZC, VCS_STAYS
#define VCS_USES_CLC 0, VCS_P(VCS_FLAG_C), VCS_STAYS
#define VCS_USES_SEC 0, VCS_P(VCS_FLAG_C), VCS_STAYS
#define VCS_USES_CLI 0, VCS_P(VCS_FLAG_I), VCS_STAYS
#define VCS_USES_SEI 0, VCS_P(VCS_FLAG_I), VCS_STAYS
#define VCS_USES_CLV 0, VCS_P(VCS_FLAG_V), VCS_STAYS
#define VCS_USES_CLD 0, VCS_P(VCS_FLAG_D), VCS_STAYS
#define VCS_USES_SED 0, VCS_P(VCS_FLAG_D), VCS_STAYS
#define VCS_USES_INX VCS_X, VCS_X | VCS_NZ, VCS_STAYS
#define VCS_USES_INY VCS_Y, VCS_Y | VCS_NZ, VCS_STAYS
#define VCS_USES_DEX VCS_X, VCS_X | VCS_NZ, VCS_STAYS
#define VCS_USES_DEY VCS_Y, VCS_Y | VCS_NZ, VCS_STAYS
#define VCS_USES_TAX VCS_A, VCS_X | VCS_NZ, VCS_LANE_A, VCS_LANE_X
#define VCS_USES_TXA VCS_X, VCS_A | VCS_NZ, VCS_LANE_X, VCS_LANE_A
#define VCS_USES_TAY VCS_A, VCS_Y | VCS_NZ, VCS_LANE_A, VCS_LANE_Y
#define VCS_USES_TYA VCS_Y, VCS_A | VCS_NZ, VCS_LANE_Y, VCS_LANE_A
#define VCS_USES_TSX VCS_S, VCS_X | VCS_NZ, VCS_LANE_S, VCS_LANE_X
#define VCS_USES_TXS VCS_X, VCS_S, VCS_LANE_X, VCS_LANE_S
#define VCS_USES_PHA VCS_A | VCS_S, VCS_V | VCS_S, VCS_LANE_A, VCS_LANE_V
#define VCS_USES_PHP VCS_FLAGS | VCS_S, VCS_V | VCS_S, VCS_LANE_P, VCS_LANE_V
#define VCS_USES_PLA VCS_V | VCS_S, VCS_A | VCS_S | VCS_NZ, VCS_LANE_V, VCS_LANE_A
#define VCS_USES_PLP VCS_V | VCS_S, VCS_S | VCS_FLAGS, VCS_STAYS
#define VCS_USES_JSR VCS_S, VCS_S, VCS_STAYS
#define VCS_USES_RTS VCS_S, VCS_S, VCS_STAYS
#define VCS_USES_RTI VCS_S, VCS_S | VCS_FLAGS, VCS_STAYS
#define VCS_USES_BRK VCS_S, VCS_S | VCS_P(VCS_FLAG_I), VCS_STAYS
#define VCS_USES_JAM 0, 0, VCS_STAYS
#define VCS_USES_JMP 0, 0, VCS_STAYS
#define VCS_USES_BPL 0, 0, VCS_STAYS
#define VCS_USES_BMI 0, 0, VCS_STAYS
#define VCS_USES_BVC 0, 0, VCS_STAYS
#define VCS_USES_BVS 0, 0, VCS_STAYS
#define VCS_USES_BCC 0, 0, VCS_STAYS
#define VCS_USES_BCS 0, 0, VCS_STAYS
#define VCS_USES_BNE 0, 0, VCS_STAYS
#define VCS_USES_BEQ 0, 0, VCS_STAYS
/* clang-format on */

#define VCS_HAS_LANE(bits, lane) ((bits) >> 8 * (lane)&0xFF ? 1 << (lane) : 0)
#define VCS_LANES_OF(bits)                                                                            \
  (VCS_HAS_LANE(bits, VCS_LANE_A) | VCS_HAS_LANE(bits, VCS_LANE_X) | VCS_HAS_LANE(bits, VCS_LANE_Y) | \
   VCS_HAS_LANE(bits, VCS_LANE_S) | VCS_HAS_LANE(bits, VCS_LANE_P) | VCS_HAS_LANE(bits, VCS_LANE_V))
#define VCS_WITH_LANES(...) VCS_WITH_THEIR_LANES(__VA_ARGS__)
#define VCS_WITH_THEIR_LANES(reads, writes, ...) \
  {reads, writes, __VA_ARGS__, VCS_LANES_OF((uint64_t)(reads)), VCS_LANES_OF((uint64_t)(writes))},
#define VCS_USES_ROW(code, operation, mode, access, cycles) VCS_WITH_LANES(VCS_USES_##operation)
VCS_TABLE(vcs_uses_t, vcs_uses, 256, {VCS_OPCODES(VCS_USES_ROW)})

/* The flag a branch looks at, and whether it is taken when the flag is set: BPL BMI BVC BVS BCC BCS BNE BEQ. */
VCS_FN uint8_t vcs_branch_flag(uint8_t opcode) {
  static const uint8_t flags[4] = {VCS_FLAG_N, VCS_FLAG_V, VCS_FLAG_C, VCS_FLAG_Z};
  return flags[opcode >> 6];
}
VCS_FN bool vcs_branch_if_set(uint8_t opcode) { return opcode & 0x20; }

/* ---- The function ------------------------------------------------------------------------------------------- */

/* Operations of the stack as functions of V: what PHA stores, what PLA finds. */
VCS_FN void vcs_local_PHA(vcs_cpu_t *cpu, uint8_t *v) { *v = cpu->a, cpu->sp--; }
VCS_FN void vcs_local_PHP(vcs_cpu_t *cpu, uint8_t *v) { *v = vcs_cpu_status(cpu), cpu->sp--; }
VCS_FN void vcs_local_PLA(vcs_cpu_t *cpu, uint8_t *v) { vcs_op_LDA(cpu, *v), cpu->sp++; }
VCS_FN void vcs_local_PLP(vcs_cpu_t *cpu, uint8_t *v) { vcs_cpu_set_status(cpu, *v), cpu->sp++; }
VCS_FN void vcs_local_JSR(vcs_cpu_t *cpu, uint8_t *v) { (void)v, cpu->sp = (uint8_t)(cpu->sp - 2); }
VCS_FN void vcs_local_RTS(vcs_cpu_t *cpu, uint8_t *v) { (void)v, cpu->sp = (uint8_t)(cpu->sp + 2); }
VCS_FN void vcs_local_RTI(vcs_cpu_t *cpu, uint8_t *v) { (void)v, cpu->sp = (uint8_t)(cpu->sp + 3); }
VCS_FN void vcs_local_BRK(vcs_cpu_t *cpu, uint8_t *v) { (void)v, cpu->sp = (uint8_t)(cpu->sp - 3), cpu->i = 1; }
/* The others do not touch the bus: cpu.h has them. */
#define VCS_LOCAL_DO(operation) \
  VCS_FN void vcs_local_##operation(vcs_cpu_t *cpu, uint8_t *v) { (void)v, vcs_do_##operation(NULL, NULL, cpu, NULL); }
VCS_LOCAL_DO(NOP)
VCS_LOCAL_DO(ASLA)
VCS_LOCAL_DO(LSRA)
VCS_LOCAL_DO(ROLA)
VCS_LOCAL_DO(RORA)
VCS_LOCAL_DO(CLC)
VCS_LOCAL_DO(SEC)
VCS_LOCAL_DO(CLI)
VCS_LOCAL_DO(SEI)
VCS_LOCAL_DO(CLV)
VCS_LOCAL_DO(CLD)
VCS_LOCAL_DO(SED)
VCS_LOCAL_DO(INX)
VCS_LOCAL_DO(INY)
VCS_LOCAL_DO(DEX)
VCS_LOCAL_DO(DEY)
VCS_LOCAL_DO(TAX)
VCS_LOCAL_DO(TXA)
VCS_LOCAL_DO(TAY)
VCS_LOCAL_DO(TYA)
VCS_LOCAL_DO(TSX)
VCS_LOCAL_DO(TXS)
VCS_FN void vcs_local_JAM(vcs_cpu_t *cpu, uint8_t *v) { (void)cpu, (void)v; }

#define VCS_LOCAL_IMPLIED(operation) vcs_local_##operation(cpu, &v)
#define VCS_LOCAL_STACK(operation) vcs_local_##operation(cpu, &v)
#define VCS_LOCAL_READ(operation) vcs_op_##operation(cpu, v)
#define VCS_LOCAL_WRITE(operation) v = vcs_op_##operation(cpu, addr)
#define VCS_LOCAL_MODIFY(operation) v = vcs_op_##operation(cpu, v)
#define VCS_LOCAL_JUMP(operation) (void)0
#define VCS_LOCAL_BRANCH(operation) (void)0
#define VCS_LOCAL_CASE(code, operation, mode, access, cycles) \
  case code:                                                  \
    VCS_LOCAL_##access(operation);                            \
    break;

VCS_FN uint64_t vcs_local_pack(uint8_t a, uint8_t x, uint8_t y, uint8_t sp, uint8_t p, uint8_t v) {
  return VCS_LANE(VCS_LANE_A, a) | VCS_LANE(VCS_LANE_X, x) | VCS_LANE(VCS_LANE_Y, y) | VCS_LANE(VCS_LANE_S, sp) |
         VCS_LANE(VCS_LANE_P, p) | VCS_LANE(VCS_LANE_V, v);
}

/* On registers that are not packed; V is in and out. */
VCS_HOT_FN void vcs_local_run(uint8_t opcode, uint16_t addr, vcs_cpu_t *cpu, uint8_t *byte) {
  uint8_t v = *byte;
  switch (opcode) { VCS_OPCODES(VCS_LOCAL_CASE) }
  *byte = v;
}

VCS_FN void vcs_local_unpack(uint64_t word, vcs_cpu_t *cpu, uint8_t *v) {
  cpu->a = (uint8_t)(word >> 8 * VCS_LANE_A);
  cpu->x = (uint8_t)(word >> 8 * VCS_LANE_X);
  cpu->y = (uint8_t)(word >> 8 * VCS_LANE_Y);
  cpu->sp = (uint8_t)(word >> 8 * VCS_LANE_S);
  vcs_cpu_set_status(cpu, (uint8_t)(word >> 8 * VCS_LANE_P));
  *v = (uint8_t)(word >> 8 * VCS_LANE_V);
}

VCS_FN uint64_t vcs_local(uint8_t opcode, uint16_t addr, uint64_t word) {
  vcs_cpu_t cpu;
  uint8_t v;
  vcs_local_unpack(word, &cpu, &v);
  vcs_local_run(opcode, addr, &cpu, &v);
  return vcs_local_pack(cpu.a, cpu.x, cpu.y, cpu.sp, vcs_cpu_status(&cpu), v);
}

#endif
