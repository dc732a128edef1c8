/* cpu.h: the 6507.
 *
 * An instruction fetches its opcode, charges its cycles, forms its address and does its operation. The cases of the
 * switch are generated from the rows of cpu_ops.h: mode x access x operation. An operation is a small function of the
 * registers and one operand (vcs_op_XXX below); its arithmetic is a pure function of bits.h.
 *
 * The 6507 has no interrupt pins, so of the 6502's interrupts only BRK and RTI remain. B always reads as 1.
 */
#ifndef VCS_CORE_CPU_H
#define VCS_CORE_CPU_H

#include "bus.h"
#include "cpu_ops.h"

/* ---- Status register ---------------------------------------------------------------------------------------- */

/* N and Z follow from the last result (bus.h), unless an operation sets them separately. */
VCS_HOT_FN bool vcs_cpu_is_negative(const vcs_cpu_t *cpu) { return cpu->nz & 0x8080; }
VCS_HOT_FN bool vcs_cpu_is_zero(const vcs_cpu_t *cpu) { return (uint8_t)cpu->nz == 0; }
VCS_HOT_FN void vcs_cpu_set_nz(vcs_cpu_t *cpu, uint8_t n, uint8_t z) { cpu->nz = (n & 0x80u) << 8 | z; }

VCS_HOT_FN uint8_t vcs_cpu_status(const vcs_cpu_t *cpu) {
  return (uint8_t)((vcs_cpu_is_negative(cpu) ? VCS_FLAG_N : 0) | cpu->v << 6 | VCS_FLAG_1 | VCS_FLAG_B | cpu->d << 3 |
                   cpu->i << 2 | vcs_cpu_is_zero(cpu) << 1 | cpu->c);
}

VCS_HOT_FN void vcs_cpu_set_status(vcs_cpu_t *cpu, uint8_t p) {
  vcs_cpu_set_nz(cpu, p, !(p & VCS_FLAG_Z));
  cpu->v = p >> 6 & 1;
  cpu->d = p >> 3 & 1;
  cpu->i = p >> 2 & 1;
  cpu->c = p & 1;
}

VCS_HOT_FN void vcs_cpu_load(vcs_cpu_t *cpu, const vcs_t *m) {
  cpu->time = (uint64_t)m->cycles << VCS_CYCLES_SHIFT;
  cpu->pc = m->pc;
  cpu->a = m->a;
  cpu->x = m->x;
  cpu->y = m->y;
  cpu->sp = m->sp;
  vcs_cpu_set_status(cpu, m->p);
  cpu->bus = m->bus;
  cpu->stop = 0;
}

VCS_HOT_FN void vcs_cpu_store(const vcs_cpu_t *cpu, vcs_t *m) {
  m->cycles = vcs_cpu_cycles(cpu);
  m->pc = cpu->pc;
  m->a = cpu->a;
  m->x = cpu->x;
  m->y = cpu->y;
  m->sp = cpu->sp;
  m->p = vcs_cpu_status(cpu);
}

/* ---- Accesses ----------------------------------------------------------------------------------------------- */

/* The arguments of every function below: the cartridge, the machine, the running CPU, the picture. */
#define VCS_ON const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video
#define VCS_HERE cart, m, cpu, video

VCS_HOT_FN uint8_t vcs_cpu_fetch(VCS_ON) { return vcs_bus_read(VCS_HERE, cpu->pc++); }

VCS_HOT_FN uint16_t vcs_cpu_fetch_word(VCS_ON) {
  uint8_t low = vcs_cpu_fetch(VCS_HERE);
  return (uint16_t)(low | vcs_cpu_fetch(VCS_HERE) << 8);
}

VCS_HOT_FN uint16_t vcs_cpu_read_word(VCS_ON, uint16_t low_addr, uint16_t high_addr) {
  uint8_t low = vcs_bus_read(VCS_HERE, low_addr);
  return (uint16_t)(low | vcs_bus_read(VCS_HERE, high_addr) << 8);
}

VCS_HOT_FN void vcs_cpu_push(VCS_ON, uint8_t value, bool stalls) {
  vcs_bus_write_after(VCS_HERE, (uint16_t)(0x100 + cpu->sp--), value, stalls);
}

VCS_HOT_FN uint8_t vcs_cpu_pull(VCS_ON) { return vcs_bus_read(VCS_HERE, (uint16_t)(0x100 + ++cpu->sp)); }

/* The bus cycle that a pull spends on the old top of the stack. */
VCS_HOT_FN void vcs_cpu_touch_stack(VCS_ON) { vcs_bus_read(VCS_HERE, (uint16_t)(0x100 + cpu->sp)); }

/* ---- Addressing modes: the effective address. `reads`: a page crossing costs a cycle. ------------------------- */

VCS_HOT_FN uint16_t vcs_cpu_index(vcs_cpu_t *cpu, uint16_t base, uint8_t index, bool reads) {
  uint16_t addr = (uint16_t)(base + index);
  if (reads && (base ^ addr) & 0xFF00) cpu->time += VCS_CYCLES(1);
  return addr;
}

VCS_HOT_FN uint16_t vcs_addr_ZP(VCS_ON, bool reads) {
  (void)reads;
  return vcs_cpu_fetch(VCS_HERE);
}
VCS_HOT_FN uint16_t vcs_addr_ZPX(VCS_ON, bool reads) {
  (void)reads;
  return (uint8_t)(vcs_cpu_fetch(VCS_HERE) + cpu->x);
}
VCS_HOT_FN uint16_t vcs_addr_ZPY(VCS_ON, bool reads) {
  (void)reads;
  return (uint8_t)(vcs_cpu_fetch(VCS_HERE) + cpu->y);
}
VCS_HOT_FN uint16_t vcs_addr_ABS(VCS_ON, bool reads) {
  (void)reads;
  return vcs_cpu_fetch_word(VCS_HERE);
}
VCS_HOT_FN uint16_t vcs_addr_ABX(VCS_ON, bool reads) {
  uint16_t base = vcs_cpu_fetch_word(VCS_HERE);
  return vcs_cpu_index(cpu, base, cpu->x, reads);
}
VCS_HOT_FN uint16_t vcs_addr_ABY(VCS_ON, bool reads) {
  uint16_t base = vcs_cpu_fetch_word(VCS_HERE);
  return vcs_cpu_index(cpu, base, cpu->y, reads);
}
/* JMP ($xxFF) takes its high byte from $xx00. */
VCS_HOT_FN uint16_t vcs_addr_IND(VCS_ON, bool reads) {
  (void)reads;
  uint16_t pointer = vcs_cpu_fetch_word(VCS_HERE);
  return vcs_cpu_read_word(VCS_HERE, pointer, (uint16_t)((pointer & 0xFF00) | (uint8_t)(pointer + 1)));
}
/* The pointer's second byte is not wrapped to page zero in the reference; $0100 is the same TIA register as $0000. */
VCS_HOT_FN uint16_t vcs_addr_IZX(VCS_ON, bool reads) {
  (void)reads;
  uint8_t pointer = (uint8_t)(vcs_cpu_fetch(VCS_HERE) + cpu->x);
  return vcs_cpu_read_word(VCS_HERE, pointer, (uint16_t)(pointer + 1));
}
VCS_HOT_FN uint16_t vcs_addr_IZY(VCS_ON, bool reads) {
  uint8_t pointer = vcs_cpu_fetch(VCS_HERE);
  uint16_t base = vcs_cpu_read_word(VCS_HERE, pointer, (uint16_t)(pointer + 1));
  return vcs_cpu_index(cpu, base, cpu->y, reads);
}

/* The operand of a READ; an immediate one is fetched like the opcode. */
#define VCS_OPERAND_MODE(mode) \
  VCS_HOT_FN uint8_t vcs_operand_##mode(VCS_ON) { return vcs_bus_read(VCS_HERE, vcs_addr_##mode(VCS_HERE, true)); }
VCS_HOT_FN uint8_t vcs_operand_IMM(VCS_ON) { return vcs_cpu_fetch(VCS_HERE); }
VCS_OPERAND_MODE(ZP)
VCS_OPERAND_MODE(ZPX)
VCS_OPERAND_MODE(ZPY)
VCS_OPERAND_MODE(ABS)
VCS_OPERAND_MODE(ABX)
VCS_OPERAND_MODE(ABY)
VCS_OPERAND_MODE(IZX)
VCS_OPERAND_MODE(IZY)

/* ---- Operations on an operand ------------------------------------------------------------------------------- */

VCS_HOT_FN void vcs_cpu_nz(vcs_cpu_t *cpu, uint8_t value) { cpu->nz = value; }

/* Takes N, Z and C from a result, whose N and Z come from one byte, and returns its value. */
VCS_HOT_FN uint8_t vcs_cpu_nzc(vcs_cpu_t *cpu, vcs_alu_t r) {
  vcs_cpu_nz(cpu, r.z);
  cpu->c = r.c;
  return r.value;
}

VCS_HOT_FN uint8_t vcs_cpu_nzcv(vcs_cpu_t *cpu, vcs_alu_t r) {
  cpu->v = r.v;
  return vcs_cpu_nzc(cpu, r);
}

/* READ: operation(cpu, operand) */
VCS_HOT_FN void vcs_op_LDA(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a = b); }
VCS_HOT_FN void vcs_op_LDX(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->x = b); }
VCS_HOT_FN void vcs_op_LDY(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->y = b); }
VCS_HOT_FN void vcs_op_LAX(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a = cpu->x = b); }
VCS_HOT_FN void vcs_op_AND(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a &= b); }
VCS_HOT_FN void vcs_op_ORA(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a |= b); }
VCS_HOT_FN void vcs_op_EOR(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a ^= b); }
/* Binary and decimal are separate calls: each result then stays in host registers. */
VCS_HOT_FN void vcs_op_ADC(vcs_cpu_t *cpu, uint8_t b) {
  if (VCS_UNLIKELY(cpu->d)) {
    cpu->a = vcs_cpu_nzcv(cpu, vcs_alu_adc(cpu->a, b, cpu->c, 1));
  } else {
    cpu->a = vcs_cpu_nzcv(cpu, vcs_alu_adc(cpu->a, b, cpu->c, 0));
  }
}
VCS_HOT_FN void vcs_op_SBC(vcs_cpu_t *cpu, uint8_t b) {
  if (VCS_UNLIKELY(cpu->d)) {
    cpu->a = vcs_cpu_nzcv(cpu, vcs_alu_sbc(cpu->a, b, cpu->c, 1));
  } else {
    cpu->a = vcs_cpu_nzcv(cpu, vcs_alu_sbc(cpu->a, b, cpu->c, 0));
  }
}
VCS_HOT_FN void vcs_op_CMP(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nzc(cpu, vcs_alu_cmp(cpu->a, b)); }
VCS_HOT_FN void vcs_op_CPX(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nzc(cpu, vcs_alu_cmp(cpu->x, b)); }
VCS_HOT_FN void vcs_op_CPY(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nzc(cpu, vcs_alu_cmp(cpu->y, b)); }
VCS_HOT_FN void vcs_op_BIT(vcs_cpu_t *cpu, uint8_t b) {
  vcs_cpu_set_nz(cpu, b, cpu->a & b);
  cpu->v = b >> 6 & 1;
}
VCS_HOT_FN void vcs_op_ANC(vcs_cpu_t *cpu, uint8_t b) {
  vcs_op_AND(cpu, b);
  cpu->c = cpu->a >> 7;
}
VCS_HOT_FN void vcs_op_ASR(vcs_cpu_t *cpu, uint8_t b) { cpu->a = vcs_cpu_nzc(cpu, vcs_alu_lsr(cpu->a & b)); }
/* In decimal mode N is the old carry and Z comes from the byte before its digits are corrected. */
VCS_HOT_FN void vcs_op_ARR(vcs_cpu_t *cpu, uint8_t b) {
  cpu->a = vcs_cpu_nzcv(cpu, vcs_alu_arr(cpu->a, b, cpu->c, cpu->d));
}
VCS_HOT_FN void vcs_op_SBX(vcs_cpu_t *cpu, uint8_t b) { cpu->x = vcs_cpu_nzc(cpu, vcs_alu_cmp(cpu->a & cpu->x, b)); }
VCS_HOT_FN void vcs_op_LAS(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a = cpu->x = cpu->sp &= b); }
VCS_HOT_FN void vcs_op_LXA(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a = cpu->x = (cpu->a | 0xEE) & b); }
VCS_HOT_FN void vcs_op_ANE(vcs_cpu_t *cpu, uint8_t b) { vcs_cpu_nz(cpu, cpu->a = (cpu->a | 0xEE) & cpu->x & b); }
VCS_HOT_FN void vcs_op_NOP(vcs_cpu_t *cpu, uint8_t b) { (void)cpu, (void)b; }

/* WRITE: value = operation(cpu, addr). The SHx family ANDs its value with the high byte of the address plus one. */
VCS_HOT_FN uint8_t vcs_op_STA(vcs_cpu_t *cpu, uint16_t addr) { return (void)addr, cpu->a; }
VCS_HOT_FN uint8_t vcs_op_STX(vcs_cpu_t *cpu, uint16_t addr) { return (void)addr, cpu->x; }
VCS_HOT_FN uint8_t vcs_op_STY(vcs_cpu_t *cpu, uint16_t addr) { return (void)addr, cpu->y; }
VCS_HOT_FN uint8_t vcs_op_SAX(vcs_cpu_t *cpu, uint16_t addr) { return (void)addr, cpu->a & cpu->x; }
VCS_HOT_FN uint8_t vcs_op_SHA(vcs_cpu_t *cpu, uint16_t addr) { return cpu->a & cpu->x & (uint8_t)((addr >> 8) + 1); }
VCS_HOT_FN uint8_t vcs_op_SHX(vcs_cpu_t *cpu, uint16_t addr) { return cpu->x & (uint8_t)((addr >> 8) + 1); }
VCS_HOT_FN uint8_t vcs_op_SHY(vcs_cpu_t *cpu, uint16_t addr) { return cpu->y & (uint8_t)((addr >> 8) + 1); }
VCS_HOT_FN uint8_t vcs_op_SHS(vcs_cpu_t *cpu, uint16_t addr) {
  cpu->sp = cpu->a & cpu->x;
  return vcs_op_SHA(cpu, addr);
}

/* MODIFY: value = operation(cpu, operand). SLO and its like are two operations; their flags come from the second. */
VCS_HOT_FN uint8_t vcs_op_ASL(vcs_cpu_t *cpu, uint8_t b) { return vcs_cpu_nzc(cpu, vcs_alu_asl(b)); }
VCS_HOT_FN uint8_t vcs_op_LSR(vcs_cpu_t *cpu, uint8_t b) { return vcs_cpu_nzc(cpu, vcs_alu_lsr(b)); }
VCS_HOT_FN uint8_t vcs_op_ROL(vcs_cpu_t *cpu, uint8_t b) { return vcs_cpu_nzc(cpu, vcs_alu_rol(b, cpu->c)); }
VCS_HOT_FN uint8_t vcs_op_ROR(vcs_cpu_t *cpu, uint8_t b) { return vcs_cpu_nzc(cpu, vcs_alu_ror(b, cpu->c)); }
VCS_HOT_FN uint8_t vcs_op_INC(vcs_cpu_t *cpu, uint8_t b) {
  vcs_cpu_nz(cpu, ++b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_DEC(vcs_cpu_t *cpu, uint8_t b) {
  vcs_cpu_nz(cpu, --b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_SLO(vcs_cpu_t *cpu, uint8_t b) {
  b = vcs_op_ASL(cpu, b);
  vcs_op_ORA(cpu, b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_RLA(vcs_cpu_t *cpu, uint8_t b) {
  b = vcs_op_ROL(cpu, b);
  vcs_op_AND(cpu, b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_SRE(vcs_cpu_t *cpu, uint8_t b) {
  b = vcs_op_LSR(cpu, b);
  vcs_op_EOR(cpu, b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_RRA(vcs_cpu_t *cpu, uint8_t b) {
  b = vcs_op_ROR(cpu, b);
  vcs_op_ADC(cpu, b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_DCP(vcs_cpu_t *cpu, uint8_t b) {
  vcs_op_CMP(cpu, --b);
  return b;
}
VCS_HOT_FN uint8_t vcs_op_ISB(vcs_cpu_t *cpu, uint8_t b) {
  vcs_op_SBC(cpu, ++b);
  return b;
}

/* BRANCH: taken = operation(cpu) */
VCS_HOT_FN bool vcs_op_BPL(const vcs_cpu_t *cpu) { return !vcs_cpu_is_negative(cpu); }
VCS_HOT_FN bool vcs_op_BMI(const vcs_cpu_t *cpu) { return vcs_cpu_is_negative(cpu); }
VCS_HOT_FN bool vcs_op_BVC(const vcs_cpu_t *cpu) { return !cpu->v; }
VCS_HOT_FN bool vcs_op_BVS(const vcs_cpu_t *cpu) { return cpu->v; }
VCS_HOT_FN bool vcs_op_BCC(const vcs_cpu_t *cpu) { return !cpu->c; }
VCS_HOT_FN bool vcs_op_BCS(const vcs_cpu_t *cpu) { return cpu->c; }
VCS_HOT_FN bool vcs_op_BNE(const vcs_cpu_t *cpu) { return !vcs_cpu_is_zero(cpu); }
VCS_HOT_FN bool vcs_op_BEQ(const vcs_cpu_t *cpu) { return vcs_cpu_is_zero(cpu); }

/* ---- Operations that do their own accesses -------------------------------------------------------------------- */

#define VCS_QUIETLY (void)cart, (void)m, (void)video
VCS_HOT_FN void vcs_do_NOP(VCS_ON) { VCS_QUIETLY, (void)cpu; }
VCS_HOT_FN void vcs_do_ASLA(VCS_ON) { VCS_QUIETLY, cpu->a = vcs_op_ASL(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_LSRA(VCS_ON) { VCS_QUIETLY, cpu->a = vcs_op_LSR(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_ROLA(VCS_ON) { VCS_QUIETLY, cpu->a = vcs_op_ROL(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_RORA(VCS_ON) { VCS_QUIETLY, cpu->a = vcs_op_ROR(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_CLC(VCS_ON) { VCS_QUIETLY, cpu->c = 0; }
VCS_HOT_FN void vcs_do_SEC(VCS_ON) { VCS_QUIETLY, cpu->c = 1; }
VCS_HOT_FN void vcs_do_CLI(VCS_ON) { VCS_QUIETLY, cpu->i = 0; }
VCS_HOT_FN void vcs_do_SEI(VCS_ON) { VCS_QUIETLY, cpu->i = 1; }
VCS_HOT_FN void vcs_do_CLV(VCS_ON) { VCS_QUIETLY, cpu->v = 0; }
VCS_HOT_FN void vcs_do_CLD(VCS_ON) { VCS_QUIETLY, cpu->d = 0; }
VCS_HOT_FN void vcs_do_SED(VCS_ON) { VCS_QUIETLY, cpu->d = 1; }
VCS_HOT_FN void vcs_do_INX(VCS_ON) { VCS_QUIETLY, vcs_cpu_nz(cpu, ++cpu->x); }
VCS_HOT_FN void vcs_do_INY(VCS_ON) { VCS_QUIETLY, vcs_cpu_nz(cpu, ++cpu->y); }
VCS_HOT_FN void vcs_do_DEX(VCS_ON) { VCS_QUIETLY, vcs_cpu_nz(cpu, --cpu->x); }
VCS_HOT_FN void vcs_do_DEY(VCS_ON) { VCS_QUIETLY, vcs_cpu_nz(cpu, --cpu->y); }
VCS_HOT_FN void vcs_do_TAX(VCS_ON) { VCS_QUIETLY, vcs_op_LDX(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_TXA(VCS_ON) { VCS_QUIETLY, vcs_op_LDA(cpu, cpu->x); }
VCS_HOT_FN void vcs_do_TAY(VCS_ON) { VCS_QUIETLY, vcs_op_LDY(cpu, cpu->a); }
VCS_HOT_FN void vcs_do_TYA(VCS_ON) { VCS_QUIETLY, vcs_op_LDA(cpu, cpu->y); }
VCS_HOT_FN void vcs_do_TSX(VCS_ON) { VCS_QUIETLY, vcs_op_LDX(cpu, cpu->sp); }
VCS_HOT_FN void vcs_do_TXS(VCS_ON) { VCS_QUIETLY, cpu->sp = cpu->x; }
VCS_HOT_FN void vcs_do_PHA(VCS_ON) { vcs_cpu_push(VCS_HERE, cpu->a, true); }
VCS_HOT_FN void vcs_do_PHP(VCS_ON) { vcs_cpu_push(VCS_HERE, vcs_cpu_status(cpu), true); }
VCS_HOT_FN void vcs_do_PLA(VCS_ON) {
  vcs_cpu_touch_stack(VCS_HERE);
  vcs_op_LDA(cpu, vcs_cpu_pull(VCS_HERE));
}
VCS_HOT_FN void vcs_do_PLP(VCS_ON) {
  vcs_cpu_touch_stack(VCS_HERE);
  vcs_cpu_set_status(cpu, vcs_cpu_pull(VCS_HERE));
}
/* Pushes the address of its own last byte. Only the first of the two writes can be halted by WSYNC. */
VCS_HOT_FN void vcs_do_JSR(VCS_ON) {
  uint8_t low = vcs_cpu_fetch(VCS_HERE);
  vcs_cpu_touch_stack(VCS_HERE);
  vcs_cpu_push(VCS_HERE, (uint8_t)(cpu->pc >> 8), true);
  vcs_cpu_push(VCS_HERE, (uint8_t)cpu->pc, false);
  cpu->pc = (uint16_t)(low | vcs_cpu_fetch(VCS_HERE) << 8);
}
VCS_HOT_FN void vcs_do_RTS(VCS_ON) {
  vcs_cpu_touch_stack(VCS_HERE);
  uint8_t low = vcs_cpu_pull(VCS_HERE);
  cpu->pc = (uint16_t)(low | vcs_cpu_pull(VCS_HERE) << 8);
  vcs_bus_read(VCS_HERE, cpu->pc++);
}
VCS_HOT_FN void vcs_do_RTI(VCS_ON) {
  vcs_cpu_touch_stack(VCS_HERE);
  vcs_cpu_set_status(cpu, vcs_cpu_pull(VCS_HERE));
  uint8_t low = vcs_cpu_pull(VCS_HERE);
  cpu->pc = (uint16_t)(low | vcs_cpu_pull(VCS_HERE) << 8);
}
VCS_HOT_FN void vcs_do_BRK(VCS_ON) {
  vcs_cpu_fetch(VCS_HERE);
  vcs_cpu_push(VCS_HERE, (uint8_t)(cpu->pc >> 8), true);
  vcs_cpu_push(VCS_HERE, (uint8_t)cpu->pc, false);
  vcs_cpu_push(VCS_HERE, vcs_cpu_status(cpu), false);
  cpu->i = 1;
  cpu->pc = vcs_cpu_read_word(VCS_HERE, 0xFFFE, 0xFFFF);
}
/* The CPU halts until reset. */
VCS_HOT_FN void vcs_do_JAM(VCS_ON) { (void)cart, (void)video, (void)cpu, m->jammed = 1; }

/* ---- One instruction ---------------------------------------------------------------------------------------- */

#define VCS_CASE(code, operation, mode, access, cost) \
  case code:                                          \
    cpu->time += VCS_COST(cost);                      \
    VCS_CASE_##access(operation, mode) break;

#define VCS_CASE_IMPLIED(operation, mode) vcs_do_##operation(VCS_HERE);
#define VCS_CASE_STACK(operation, mode) vcs_do_##operation(VCS_HERE);
#define VCS_CASE_READ(operation, mode) vcs_op_##operation(cpu, vcs_operand_##mode(VCS_HERE));
#define VCS_CASE_WRITE(operation, mode)                           \
  {                                                               \
    uint16_t addr = vcs_addr_##mode(VCS_HERE, false);             \
    vcs_bus_write(VCS_HERE, addr, vcs_op_##operation(cpu, addr)); \
  }
#define VCS_CASE_MODIFY(operation, mode)                                   \
  {                                                                        \
    uint16_t addr = vcs_addr_##mode(VCS_HERE, false);                      \
    uint8_t value = vcs_op_##operation(cpu, vcs_bus_read(VCS_HERE, addr)); \
    vcs_bus_write(VCS_HERE, addr, value);                                  \
  }
#define VCS_CASE_JUMP(operation, mode) cpu->pc = vcs_addr_##mode(VCS_HERE, false);
#define VCS_CASE_BRANCH(operation, mode)                            \
  {                                                                 \
    int8_t offset = (int8_t)vcs_cpu_fetch(VCS_HERE);                \
    if (vcs_op_##operation(cpu)) {                                  \
      uint16_t target = (uint16_t)(cpu->pc + offset);               \
      cpu->time += VCS_CYCLES((cpu->pc ^ target) & 0xFF00 ? 2 : 1); \
      cpu->pc = target;                                             \
    }                                                               \
  }

/* Executes one instruction, fetching all its bytes over the bus, and returns its opcode. */
VCS_HOT_FN uint8_t vcs_cpu_instruction(VCS_ON) {
  uint8_t opcode = vcs_cpu_fetch(VCS_HERE);
  switch (opcode) { VCS_OPCODES(VCS_CASE) }
  return opcode;
}

/* The same with the registers in m. Sets *frame_over to whether it ends a frame. */
VCS_SLOW_FN uint8_t vcs_cpu_step(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, bool *frame_over) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_cpu_load(cpu, m);
  uint8_t opcode = vcs_cpu_instruction(VCS_HERE);
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  *frame_over = cpu->stop & VCS_STOP_FRAME;
  return opcode;
}

VCS_FN void vcs_cpu_reset(const vcs_cart_t *cart, vcs_t *m) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t undrawn, *video = &undrawn;
  vcs_video_start(video, cart, NULL);
  vcs_cpu_load(cpu, m);
  cpu->a = cpu->x = cpu->y = 0;
  cpu->sp = 0xFF;
  vcs_cpu_set_status(cpu, 0);
  cpu->pc = vcs_cpu_read_word(VCS_HERE, 0xFFFC, 0xFFFD);
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  m->jammed = 0;
}

#endif
