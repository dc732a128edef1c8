/* local.h: an instruction as a pure function of 48 bits.
 *
 * What the 6507 does between its bus accesses depends on its registers and on one byte from the bus, and changes the
 * same. Packed into one word,
 *
 *      bits 47..40   39..32   31..24   23..16   15..8    7..0
 *           V        P        S        Y        X        A          V: the byte read, or the byte to be written
 *
 * an opcode is a function vcs_local(opcode, addr, word) -> word, made from the operations of cpu.h. Its derivative
 * needs no rules: bit i moves the bits of vcs_local(word ^ 1 << i) ^ vcs_local(word). vcs_uses lists the bits that
 * can have an effect and the bits that can change; no other bit is evaluated (test_linear.c checks both against all
 * flips).
 *
 * Stops: the opcode itself and the program counter (operands of jumps, return addresses) carry no derivative; BRK and
 * RTI, which games do not use, carry none for the status register.
 */
#ifndef VCS_GRAD_LOCAL_H
#define VCS_GRAD_LOCAL_H

#include "core/cpu.h"

enum { VCS_LANE_A, VCS_LANE_X, VCS_LANE_Y, VCS_LANE_S, VCS_LANE_P, VCS_LANE_V, VCS_LANES };

#define VCS_LANE(lane, bits) ((uint64_t)(bits) << 8 * (lane))
#define VCS_A VCS_LANE(VCS_LANE_A, 0xFF)
#define VCS_X VCS_LANE(VCS_LANE_X, 0xFF)
#define VCS_Y VCS_LANE(VCS_LANE_Y, 0xFF)
#define VCS_S VCS_LANE(VCS_LANE_S, 0xFF)
#define VCS_V VCS_LANE(VCS_LANE_V, 0xFF)
#define VCS_P(flags) VCS_LANE(VCS_LANE_P, flags)

/* The bits of a packed word for a set of registers and flags (cpu_ops.h). */
#define VCS_WORD_OF(set)                                                                        \
  (((set)&VCS_OF_A ? VCS_A : 0) | ((set)&VCS_OF_X ? VCS_X : 0) | ((set)&VCS_OF_Y ? VCS_Y : 0) | \
   ((set)&VCS_OF_S ? VCS_S : 0) | ((set)&VCS_OF_B ? VCS_V : 0) | VCS_P((set)&0xFF))

/* The same as a set of lanes, 1 << lane. */
#define VCS_LANES_OF(set)                                                            \
  (((set)&VCS_OF_A ? 1 << VCS_LANE_A : 0) | ((set)&VCS_OF_X ? 1 << VCS_LANE_X : 0) | \
   ((set)&VCS_OF_Y ? 1 << VCS_LANE_Y : 0) | ((set)&VCS_OF_S ? 1 << VCS_LANE_S : 0) | \
   ((set)&0xFF ? 1 << VCS_LANE_P : 0) | ((set)&VCS_OF_B ? 1 << VCS_LANE_V : 0))

/* The lanes between which an operation of kind MOVES moves its byte. Pushes and pulls also count S, and loads also set
 * N and Z, so S comes last among the sources, and P does not count as a target. */
#define VCS_MOVED_FROM(reads)      \
  ((reads)&VCS_OF_A   ? VCS_LANE_A \
   : (reads)&VCS_OF_X ? VCS_LANE_X \
   : (reads)&VCS_OF_Y ? VCS_LANE_Y \
   : (reads)&VCS_OF_B ? VCS_LANE_V \
   : (reads)&0xFF     ? VCS_LANE_P \
                      : VCS_LANE_S)
#define VCS_MOVED_TO(sets) VCS_MOVED_FROM((sets) & ~0xFF)

/* What an opcode reads and sets, as bits of a packed word and as lanes, and its kind. An operation of kind MOVES has
 * from != to; all other rows have from == to. */
typedef struct {
  uint64_t reads, writes;
  uint8_t from, to;
  uint8_t read_lanes, written_lanes;
  uint8_t kind; /* enum vcs_kind */
} vcs_uses_t;

#define VCS_USES_ROW(code, operation, mode, access, cycles)                                    \
  {VCS_WORD_OF(VCS_READS_##operation),                                                         \
   VCS_WORD_OF(VCS_SETS_##operation),                                                          \
   (int)VCS_KIND_OF_##operation == VCS_KIND_MOVES ? VCS_MOVED_FROM(VCS_READS_##operation) : 0, \
   (int)VCS_KIND_OF_##operation == VCS_KIND_MOVES ? VCS_MOVED_TO(VCS_SETS_##operation) : 0,    \
   VCS_LANES_OF(VCS_READS_##operation),                                                        \
   VCS_LANES_OF(VCS_SETS_##operation),                                                         \
   VCS_KIND_OF_##operation},
VCS_TABLE(vcs_uses_t, vcs_uses, 256, {VCS_OPCODES(VCS_USES_ROW)})

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

/* Operations on registers only are those of cpu.h, without a machine. NOP and JAM, which sets no register, are left
 * out. */
#define VCS_LOCAL_IMPLIED(operation) \
  if ((int)VCS_SETS_##operation) vcs_do_##operation(NULL, NULL, cpu, NULL)
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
