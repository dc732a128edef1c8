/* run.h: the hot loop, which executes decoded instructions (decode.h), each by a row of code.
 *
 * cpu.h defines what an instruction does. A row here does the same, without everything that the decoder already knows.
 * Cases that a row does not handle go to `step`, before anything has changed, and cpu.h executes them. tests/test_run.c
 * compares the two byte for byte.
 *
 * - The program counter is `at`, a pointer into the code of a bank. Only jumps and returns check that they stay in it.
 * - Time takes one addition an instruction (bus.h: cycles and instructions in one number). Only branches taken, jumps
 * and returns check whether the allowance of instructions may be used up. They compare time, since an instruction takes
 * at least two cycles. VCS_RUN_MARGIN is more than can run without such a check: a bank from end to end.
 * - The last byte on the bus matters only to reads of the TIA and at the end of a run, so the loop does not maintain
 * it. Before a read it is the last byte of the instruction or of its pointer. A run ends with a write or a jump, which
 * set it, or with a step, which sets it too.
 * - Wait loops are skipped. The branch that would begin the next turn computes how many whole turns are certain to end
 * in the same branch, advances time by that much, and then begins one more turn, which sets registers and flags.
 *
 * With gcc each row jumps to the next one itself (labels as values): values stay in host registers, and each kind of
 * instruction has an indirect branch of its own for the host to predict. With clang this was slower than a switch, so
 * clang and nvcc compile a switch.
 */
#ifndef VCS_CORE_RUN_H
#define VCS_CORE_RUN_H

#include "cpu.h"
#include "decode.h"

enum { VCS_RUN_MARGIN = 4096 + 1024, VCS_RUN_MOST = VCS_COUNT_MASK };

/* This file is a template. A file that defines VCS_RUN_BESIDE before it includes this one gets a vcs_run of its own,
 * compiled with the hooks that it also defines; all other hooks have the values below, and cost nothing. Three do:
 * grad/concurrent_run.c looks whether a flip meets the base before each instruction, and grad/tape_run.c records each
 * instruction, as grad/concurrent_record.c does. A hook that is a statement brings its own semicolon.
 *
 *   VCS_RUN_WITH           further parameters of vcs_run, with a leading comma
 *   VCS_RUN_LOOK           a statement before each instruction but the first
 *   VCS_RUN_LABELS         further labels and their statements
 *
 * where the loop is:
 *   VCS_RUN_LOCALS         the variables that hold it
 *   VCS_RUN_ENTER          sets them from cpu->pc and bank
 *   VCS_AT                 the decoded instruction
 *   VCS_RUN_PC             its address
 *   VCS_RUN_MOVE(by)       the instruction `by` bytes on
 *   VCS_RUN_JUMP(to, offset)              the instruction at the address `to`, at `offset` in the bank
 *
 * what an instruction does:
 *   VCS_RUN_BEGIN(opcode)  it begins
 *   VCS_RUN_NOTE(f, v)     the field f of its row on a tape (grad/tape.h) is v
 *   VCS_RUN_SET(operation) its operation has set registers
 *   VCS_RUN_DONE           it has ended
 *   VCS_RUN_READ_CHIP(time, addr, last)   declares `value`, which is read from a chip. `time` is what the instruction
 *   VCS_RUN_READ_BUS(time, addr, last)    takes, `last` the last byte on the bus. The same from any address
 *   VCS_RUN_WRITE_CHIP(time, addr)        writes `value` to a register of the TIA in page zero
 *   VCS_RUN_WRITE_BUS(time, addr)         ... to any address
 *   VCS_RUN_STORE_TIA(reg) writes `value` to a register of the TIA that has a row, at cpu->time
 *   VCS_RUN_STORE_WSYNC    the same for WSYNC; may go on by itself, or leave it to the loop
 *   VCS_RUN_EVENT(reg, v)  before v is written to this register of the TIA
 *   VCS_RUN_EVENT_END(reg) after it
 *   VCS_RUN_PULL(cost, opcode, operation) PLA and PLP
 *   VCS_RUN_RETURN(cost)   an RTS whose stack is not in RAM, or that leaves its bank
 *   VCS_RUN_FORK           before a branch
 *   VCS_RUN_WAIT_##branch(least, most)    before a branch that ends a turn of a wait loop
 *   VCS_RUN_DELAY(branch, index)          ... of a delay loop
 *
 * how the loop ends:
 *   VCS_RUN_STOPPED        an access has stopped the CPU, but not ended the frame
 *   VCS_RUN_LEAVE          the registers are about to be stored to m
 */
#ifndef VCS_RUN_WITH
#define VCS_RUN_WITH
#endif
#ifndef VCS_RUN_LOOK
#define VCS_RUN_LOOK
#endif
#ifndef VCS_RUN_LABELS
#define VCS_RUN_LABELS
#endif

#ifndef VCS_RUN_LOCALS
#define VCS_RUN_LOCALS const vcs_code_t *at;
#define VCS_RUN_ENTER at = bank.code + (uint16_t)(cpu->pc - bank.start);
#define VCS_AT (*at)
#define VCS_RUN_PC ((uint16_t)(bank.start + (at - bank.code)))
#define VCS_RUN_MOVE(by) at += (by);
#define VCS_RUN_JUMP(to, offset) at = bank.code + (offset);
#endif

#ifndef VCS_RUN_BEGIN
#define VCS_RUN_BEGIN(opcode)
#define VCS_RUN_NOTE(field, value)
#define VCS_RUN_SET(operation)
#define VCS_RUN_DONE
#define VCS_RUN_EVENT(reg, stored)
#define VCS_RUN_EVENT_END(reg)
#define VCS_RUN_PULL(cost, opcode, operation) \
  cpu->time += VCS_COST(cost);                \
  cpu->stop = 0;                              \
  cpu->bus = opcode;                          \
  vcs_do_##operation(VCS_HERE);
#define VCS_RUN_RETURN(cost)   \
  cpu->time += VCS_COST(cost); \
  cpu->stop = 0;               \
  cpu->bus = VCS_RTS;          \
  vcs_do_RTS(VCS_HERE);        \
  m->bus = cpu->bus;           \
  goto elsewhere;
#define VCS_RUN_FORK
#define VCS_RUN_WAIT_BNE VCS_SKIP_WAIT
#define VCS_RUN_WAIT_BPL VCS_SKIP_WAIT
#define VCS_RUN_WAIT_BMI VCS_SKIP_WAIT
#define VCS_RUN_DELAY VCS_SKIP_DELAY
#define VCS_RUN_STOPPED
#define VCS_RUN_LEAVE
#endif

#ifndef VCS_RUN_READ_CHIP
#define VCS_RUN_READ_CHIP(taken, addr, last) \
  cpu->time += (taken);                      \
  cpu->stop = 0;                             \
  cpu->bus = (last);                         \
  const uint8_t value = vcs_bus_read_low(VCS_HERE, addr);
#define VCS_RUN_READ_BUS(taken, addr, last) \
  cpu->time += (taken);                     \
  cpu->stop = 0;                            \
  cpu->bus = (last);                        \
  const uint8_t value = vcs_bus_read(VCS_HERE, addr);
#endif

#ifndef VCS_RUN_WRITE_CHIP
#define VCS_RUN_WRITE_CHIP(taken, addr) \
  cpu->time += (taken);                 \
  m->cycles = vcs_cpu_cycles(cpu);      \
  cpu->stop = (uint8_t)vcs_bus_write_tia(cart, m, video, addr, value);
#define VCS_RUN_WRITE_BUS(taken, addr) \
  cpu->time += (taken);                \
  cpu->stop = 0;                       \
  vcs_bus_write(VCS_HERE, addr, value);
#endif

#ifndef VCS_RUN_STORE_TIA
#define VCS_RUN_STORE_TIA(reg)     \
  m->cycles = vcs_cpu_cycles(cpu); \
  cpu->stop = vcs_tia_write_this(m, video, reg, value) ? VCS_STOP_FRAME : 0;
#define VCS_RUN_STORE_WSYNC
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define VCS_ROWS_JUMP 1
#define VCS_ROW_LABEL(name, number) \
  name:
#define VCS_DISPATCH_NOW goto *rows[VCS_AT.row]
#else
#define VCS_ROWS_JUMP 0
#define VCS_ROW_LABEL(name, number) case number:
#define VCS_DISPATCH_NOW goto next
#endif
#define VCS_DISPATCH VCS_RUN_LOOK VCS_DISPATCH_NOW

/* The next instruction, `length` bytes on. */
#define VCS_RUN_ON(length) \
  VCS_RUN_DONE             \
  VCS_RUN_MOVE(length)     \
  VCS_DISPATCH

/* The same after an access that may have stopped the CPU. */
#define VCS_RUN_ON_UNLESS_STOPPED(length)    \
  VCS_RUN_DONE                               \
  VCS_RUN_MOVE(length)                       \
  if (VCS_UNLIKELY(cpu->stop)) goto stopped; \
  VCS_DISPATCH

/* ... which was a write: its value stays on the bus. */
#define VCS_RUN_ON_AFTER_WRITE(length) \
  VCS_RUN_DONE                         \
  VCS_RUN_MOVE(length)                 \
  if (VCS_UNLIKELY(cpu->stop)) {       \
    m->bus = value;                    \
    goto stopped;                      \
  }                                    \
  VCS_DISPATCH

/* Continues at an address. `last` is the last byte on the bus, which the next fetch may show where there is no ROM. */
#define VCS_RUN_TO(addr, last)                                        \
  {                                                                   \
    const uint16_t to = (addr), offset = (uint16_t)(to - bank.start); \
    VCS_RUN_DONE                                                      \
    cpu->pc = to;                                                     \
    if (VCS_UNLIKELY(offset >= bank.size || cpu->time >= limit)) {    \
      m->bus = (uint8_t)(last);                                       \
      goto elsewhere;                                                 \
    }                                                                 \
    VCS_RUN_JUMP(to, offset)                                          \
  }                                                                   \
  VCS_DISPATCH

/* Two bytes at any address, in one load where the host is little-endian too. */
VCS_HOT_FN uint16_t vcs_run_pointer(const uint8_t *bytes) {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  uint16_t pointer;
  __builtin_memcpy(&pointer, bytes, 2);
  return pointer;
#else
  return (uint16_t)(bytes[0] | bytes[1] << 8);
#endif
}

/* The register that STY, STA or STX stores. */
VCS_HOT_FN uint8_t vcs_run_stored(const vcs_cpu_t *cpu, unsigned opcode) {
  return opcode == VCS_STY_ZP ? cpu->y : opcode == VCS_STA_ZP ? cpu->a : cpu->x;
}

/* A cycle if the index carries into the high byte. */
#define VCS_PAGE_CROSSED(base, index) ((((uint64_t)(uint8_t)(base) + (index)) & 0x100) << (VCS_CYCLES_SHIFT - 8))

/* ---- The two ways of each access and mode ------------------------------------------------------------------- */

#define VCS_STEP(operation, cost) goto step;

#define VCS_FIRST_IMPLIED_IMP(operation, cost) \
  cpu->time += VCS_COST(cost);                 \
  vcs_do_##operation(VCS_HERE);                \
  VCS_RUN_SET(operation)                       \
  VCS_RUN_ON(1);
#define VCS_FIRST_IMPLIED_ACC VCS_FIRST_IMPLIED_IMP

/* READ */
#define VCS_READ_BYTE(operation, taken, byte, length) \
  cpu->time += (taken);                               \
  const uint8_t value = (byte);                       \
  VCS_RUN_NOTE(value, value)                          \
  vcs_op_##operation(cpu, value);                     \
  VCS_RUN_SET(operation)                              \
  VCS_RUN_ON(length);
#define VCS_FIRST_READ_IMM(operation, cost) VCS_READ_BYTE(operation, VCS_COST(cost), (uint8_t)VCS_AT.operand, 2)
#define VCS_READ_RAM(operation, cost, offset)     \
  VCS_RUN_NOTE(addr, (uint16_t)(0x80 + (offset))) \
  VCS_RUN_NOTE(old, m->ram[offset])               \
  VCS_READ_BYTE(operation, VCS_COST(cost), m->ram[offset], 2)
#define VCS_FIRST_READ_ZP(operation, cost) VCS_READ_RAM(operation, cost, VCS_AT.operand)
#define VCS_READ_ROM(operation, cost, index)                                         \
  VCS_RUN_NOTE(addr, (uint16_t)(VCS_RUN_WORD + (index)))                             \
  VCS_READ_BYTE(operation, VCS_COST(cost) + VCS_PAGE_CROSSED(VCS_AT.operand, index), \
                bank.rom[(uint32_t)VCS_AT.operand + (index)], 3)
#define VCS_FIRST_READ_ABS(operation, cost) VCS_READ_ROM(operation, cost, 0)
#define VCS_FIRST_READ_ABX(operation, cost) VCS_READ_ROM(operation, cost, cpu->x)
#define VCS_FIRST_READ_ABY(operation, cost) VCS_READ_ROM(operation, cost, cpu->y)

#define VCS_READ_CHIP(operation, cost, addr)                       \
  VCS_RUN_READ_CHIP(VCS_COST(cost), addr, (uint8_t)VCS_AT.operand) \
  vcs_op_##operation(cpu, value);                                  \
  VCS_RUN_SET(operation)                                           \
  VCS_RUN_ON_UNLESS_STOPPED(2);
#define VCS_SECOND_READ_ZP(operation, cost) VCS_READ_CHIP(operation, cost, VCS_AT.operand)
#define VCS_READ_INDEXED_ZERO_PAGE(operation, cost, index)   \
  const uint8_t place = (uint8_t)(VCS_AT.operand + (index)); \
  if (VCS_LIKELY(place & 0x80)) {                            \
    VCS_READ_RAM(operation, cost, place & 0x7F)              \
  }                                                          \
  VCS_READ_CHIP(operation, cost, place)
#define VCS_FIRST_READ_ZPX(operation, cost) VCS_READ_INDEXED_ZERO_PAGE(operation, cost, cpu->x)
#define VCS_FIRST_READ_ZPY(operation, cost) VCS_READ_INDEXED_ZERO_PAGE(operation, cost, cpu->y)

#define VCS_READ_ANYTHING(operation, cost, base, index, length)                                  \
  VCS_RUN_READ_BUS(VCS_COST(cost) + VCS_PAGE_CROSSED(base, index), (uint16_t)((base) + (index)), \
                   (uint8_t)((base) >> 8))                                                       \
  vcs_op_##operation(cpu, value);                                                                \
  VCS_RUN_SET(operation)                                                                         \
  VCS_RUN_ON_UNLESS_STOPPED(length);
#define VCS_SECOND_READ_ABS(operation, cost) VCS_READ_ANYTHING(operation, cost, VCS_AT.operand, 0, 3)
#define VCS_SECOND_READ_ABX(operation, cost) VCS_READ_ANYTHING(operation, cost, VCS_AT.operand, cpu->x, 3)
#define VCS_SECOND_READ_ABY(operation, cost) VCS_READ_ANYTHING(operation, cost, VCS_AT.operand, cpu->y, 3)
#define VCS_RAM_POINTER(offset) vcs_run_pointer(&m->ram[offset])
#define VCS_FIRST_READ_IZY(operation, cost)                                                                          \
  uint16_t pointer = VCS_RAM_POINTER(VCS_AT.operand);                                                                \
  uint32_t place = (uint32_t)pointer + cpu->y;                                                                       \
  if (VCS_LIKELY(place & 0x1000 && !(cart->hot_pages >> (place >> 6 & 63) & 1))) {                                   \
    VCS_RUN_NOTE(addr, (uint16_t)place)                                                                              \
    VCS_READ_BYTE(operation, VCS_COST(cost) + VCS_PAGE_CROSSED(pointer, cpu->y), bank.rom[place & (bank.size - 1u)], \
                  2)                                                                                                 \
  }                                                                                                                  \
  VCS_READ_ANYTHING(operation, cost, pointer, cpu->y, 2)
#define VCS_SECOND_READ_IZY(operation, cost)          \
  uint16_t pointer = VCS_RAM_POINTER(VCS_AT.operand); \
  VCS_READ_ANYTHING(operation, cost, pointer, cpu->y, 2)
#define VCS_FIRST_READ_IZX(operation, cost)                   \
  uint8_t place = (uint8_t)(VCS_AT.operand + cpu->x);         \
  if (VCS_UNLIKELY(place < 0x80 || place == 0xFF)) goto step; \
  uint16_t pointer = VCS_RAM_POINTER(place & 0x7F);           \
  VCS_READ_ANYTHING(operation, cost, pointer, 0, 2)

/* WRITE */
#define VCS_FIRST_WRITE_ZP(operation, cost)                      \
  const uint8_t value = vcs_op_##operation(cpu, VCS_AT.operand); \
  VCS_RUN_NOTE(addr, (uint16_t)(0x80 + VCS_AT.operand))          \
  VCS_RUN_NOTE(value, value)                                     \
  VCS_RUN_NOTE(old, m->ram[VCS_AT.operand])                      \
  cpu->time += VCS_COST(cost);                                   \
  m->ram[VCS_AT.operand] = value;                                \
  VCS_RUN_ON(2);
#define VCS_SECOND_WRITE_ZP(operation, cost)                     \
  const uint8_t value = vcs_op_##operation(cpu, VCS_AT.operand); \
  VCS_RUN_WRITE_CHIP(VCS_COST(cost), VCS_AT.operand)             \
  VCS_RUN_ON_AFTER_WRITE(2);
/* STY, STA and STX to one register of the TIA: the compiler keeps only the code for that register. */
#define VCS_WRITE_TIA(opcode, name, stored) \
  VCS_RUN_BEGIN(opcode)                     \
  const uint8_t value = stored;             \
  VCS_RUN_EVENT(VCS_##name, value)          \
  cpu->time += VCS_COST(3);                 \
  VCS_RUN_STORE_TIA(VCS_##name)             \
  VCS_RUN_EVENT_END(VCS_##name)             \
  VCS_RUN_ON_AFTER_WRITE(2);
/* clang-format off */
#define VCS_TIA_ROW(name)                                                                   \
  VCS_ROW_LABEL(sty_##name, VCS_ROW_STY_##name) { VCS_WRITE_TIA(VCS_STY_ZP, name, cpu->y) } \
  VCS_ROW_LABEL(sta_##name, VCS_ROW_STA_##name) { VCS_WRITE_TIA(VCS_STA_ZP, name, cpu->a) } \
  VCS_ROW_LABEL(stx_##name, VCS_ROW_STX_##name) { VCS_WRITE_TIA(VCS_STX_ZP, name, cpu->x) }
/* clang-format on */
#define VCS_WRITE_ANYTHING(operation, cost, addr_of, length) \
  const uint16_t place = (uint16_t)(addr_of);                \
  const uint8_t value = vcs_op_##operation(cpu, place);      \
  VCS_RUN_WRITE_BUS(VCS_COST(cost), place)                   \
  VCS_RUN_SET(operation)                                     \
  VCS_RUN_ON_AFTER_WRITE(length);
#define VCS_FIRST_WRITE_ZPX(operation, cost) VCS_WRITE_ANYTHING(operation, cost, (uint8_t)(VCS_AT.operand + cpu->x), 2)
#define VCS_FIRST_WRITE_ZPY(operation, cost) VCS_WRITE_ANYTHING(operation, cost, (uint8_t)(VCS_AT.operand + cpu->y), 2)
#define VCS_FIRST_WRITE_ABS(operation, cost) VCS_WRITE_ANYTHING(operation, cost, VCS_AT.operand, 3)
#define VCS_FIRST_WRITE_ABX(operation, cost) VCS_WRITE_ANYTHING(operation, cost, VCS_AT.operand + cpu->x, 3)
#define VCS_FIRST_WRITE_ABY(operation, cost) VCS_WRITE_ANYTHING(operation, cost, VCS_AT.operand + cpu->y, 3)
#define VCS_FIRST_WRITE_IZY(operation, cost) \
  VCS_WRITE_ANYTHING(operation, cost, VCS_RAM_POINTER(VCS_AT.operand) + cpu->y, 2)

/* MODIFY */
#define VCS_MODIFY_RAM(operation, cost, offset)       \
  const uint8_t old = m->ram[offset];                 \
  cpu->time += VCS_COST(cost);                        \
  const uint8_t value = vcs_op_##operation(cpu, old); \
  VCS_RUN_NOTE(addr, (uint16_t)(0x80 + (offset)))     \
  VCS_RUN_NOTE(old, old)                              \
  VCS_RUN_NOTE(value, value)                          \
  m->ram[offset] = value;                             \
  VCS_RUN_SET(operation)                              \
  VCS_RUN_ON(2);
#define VCS_FIRST_MODIFY_ZP(operation, cost) VCS_MODIFY_RAM(operation, cost, VCS_AT.operand)
#define VCS_FIRST_MODIFY_ZPX(operation, cost)               \
  const uint8_t place = (uint8_t)(VCS_AT.operand + cpu->x); \
  if (VCS_UNLIKELY(!(place & 0x80))) goto step;             \
  VCS_MODIFY_RAM(operation, cost, place & 0x7F)

/* JUMP, BRANCH */
#define VCS_FIRST_JUMP_ABS(operation, cost) \
  cpu->time += VCS_COST(cost);              \
  VCS_RUN_TO(VCS_AT.operand, to >> 8);
#define VCS_FIRST_JUMP_IND(operation, cost) \
  cpu->time += VCS_COST(cost);              \
  VCS_RUN_TO(VCS_RAM_POINTER(VCS_AT.operand), to >> 8);
#define VCS_BRANCH(operation, cost, more)               \
  VCS_RUN_FORK                                          \
  if (vcs_op_##operation(cpu)) {                        \
    cpu->time += VCS_COST((cost) + (more));             \
    VCS_RUN_DONE                                        \
    VCS_RUN_MOVE((int16_t)VCS_AT.operand)               \
    if (VCS_UNLIKELY(cpu->time >= limit)) goto look_up; \
    VCS_DISPATCH;                                       \
  }                                                     \
  cpu->time += VCS_COST(cost);                          \
  VCS_RUN_ON(2);
#define VCS_FIRST_BRANCH_REL(operation, cost) VCS_BRANCH(operation, cost, 1)
#define VCS_SECOND_BRANCH_REL(operation, cost) VCS_BRANCH(operation, cost, 2)

/* STACK */
#define VCS_FIRST_STACK_IMP(operation, cost) VCS_STACK_##operation(cost)
#define VCS_FIRST_STACK_ABS VCS_FIRST_STACK_IMP
/* Programs also push into the TIA: PHP stores a status register to ENAxx in one short instruction. */
#define VCS_PUSH(cost, operation, pushed)                        \
  const uint8_t value = pushed;                                  \
  VCS_RUN_WRITE_BUS(VCS_COST(cost), (uint16_t)(0x100 + cpu->sp)) \
  cpu->sp--;                                                     \
  VCS_RUN_SET(operation)                                         \
  VCS_RUN_ON_AFTER_WRITE(1);
#define VCS_STACK_PHA(cost) VCS_PUSH(cost, PHA, cpu->a)
#define VCS_STACK_PHP(cost) VCS_PUSH(cost, PHP, vcs_cpu_status(cpu))
#define VCS_PULL(cost, opcode, operation) \
  VCS_RUN_PULL(cost, opcode, operation)   \
  VCS_RUN_SET(operation)                  \
  VCS_RUN_ON_UNLESS_STOPPED(1);
#define VCS_STACK_PLA(cost) VCS_PULL(cost, VCS_PLA, PLA)
#define VCS_STACK_PLP(cost) VCS_PULL(cost, VCS_PLP, PLP)
/* Calls and returns, if the stack is in RAM, including the byte that a return reads first. A row of a call keeps both
 * bytes that it overwrites. */
#define VCS_STACK_JSR(cost)                                  \
  if (VCS_UNLIKELY(cpu->sp < 0x81)) goto step;               \
  const uint16_t back = (uint16_t)(VCS_RUN_PC + 2);          \
  cpu->time += VCS_COST(cost);                               \
  VCS_RUN_NOTE(addr, (uint16_t)(0x100 + cpu->sp))            \
  VCS_RUN_NOTE(old, m->ram[cpu->sp & 0x7F])                  \
  VCS_RUN_NOTE(value, m->ram[(uint8_t)(cpu->sp - 1) & 0x7F]) \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);           \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;                  \
  VCS_RUN_SET(JSR)                                           \
  VCS_RUN_TO(VCS_AT.operand, to >> 8);
/* RTS also reads the byte before the one at which it continues, which may be a hot spot or in another bank. */
#define VCS_STACK_RTS(cost)                                                       \
  if (VCS_LIKELY(cpu->sp >= 0x80 && cpu->sp <= 0xFD)) {                           \
    uint16_t back = VCS_RAM_POINTER((cpu->sp + 1) & 0x7F);                        \
    uint16_t target = (uint16_t)(back - bank.start);                              \
    if (VCS_LIKELY(target < bank.size && bank.code[target].row != VCS_ROW_HOT)) { \
      cpu->time += VCS_COST(cost);                                                \
      cpu->sp += 2;                                                               \
      VCS_RUN_SET(RTS)                                                            \
      VCS_RUN_TO((uint16_t)(back + 1), bank.rom[target]);                         \
    }                                                                             \
  }                                                                               \
  VCS_RUN_RETURN(cost)
#define VCS_STACK_RTI(cost) goto step;
#define VCS_STACK_BRK(cost) goto step;

/* Combinations without a row, or with only one. */
#define VCS_FIRST_WRITE_IZX VCS_STEP
#define VCS_FIRST_MODIFY_ABS VCS_STEP
#define VCS_FIRST_MODIFY_ABX VCS_STEP
#define VCS_FIRST_MODIFY_ABY VCS_STEP
#define VCS_FIRST_MODIFY_IZX VCS_STEP
#define VCS_FIRST_MODIFY_IZY VCS_STEP
#define VCS_SECOND_IMPLIED_IMP VCS_STEP
#define VCS_SECOND_IMPLIED_ACC VCS_STEP
#define VCS_SECOND_READ_IMM VCS_STEP
#define VCS_SECOND_READ_ZPX VCS_STEP
#define VCS_SECOND_READ_ZPY VCS_STEP
#define VCS_SECOND_READ_IZX VCS_STEP
#define VCS_SECOND_WRITE_ZPX VCS_STEP
#define VCS_SECOND_WRITE_ZPY VCS_STEP
#define VCS_SECOND_WRITE_ABS VCS_STEP
#define VCS_SECOND_WRITE_ABX VCS_STEP
#define VCS_SECOND_WRITE_ABY VCS_STEP
#define VCS_SECOND_WRITE_IZX VCS_STEP
#define VCS_SECOND_WRITE_IZY VCS_STEP
#define VCS_SECOND_MODIFY_ZP VCS_STEP
#define VCS_SECOND_MODIFY_ZPX VCS_STEP
#define VCS_SECOND_MODIFY_ABS VCS_STEP
#define VCS_SECOND_MODIFY_ABX VCS_STEP
#define VCS_SECOND_MODIFY_ABY VCS_STEP
#define VCS_SECOND_MODIFY_IZX VCS_STEP
#define VCS_SECOND_MODIFY_IZY VCS_STEP
#define VCS_SECOND_JUMP_ABS VCS_STEP
#define VCS_SECOND_JUMP_IND VCS_STEP
#define VCS_SECOND_STACK_IMP VCS_STEP
#define VCS_SECOND_STACK_ABS VCS_STEP

/* ---- Wait loops ------------------------------------------------------------------------------------------------- */

/* The number of turns of a loop that reads the timer every `period` cycles, for which all readings are certain to be
 * between `least` and `most`. The last reading is at `now`. Returns 0 for a timer that has run out. */
VCS_FN uint32_t vcs_turns_of_timer(const vcs_t *m, uint32_t now, uint32_t period, uint32_t least, uint32_t most) {
  uint32_t elapsed = now + period - 1 - m->timer_cycle; /* at the next reading (riot.h) */
  if (m->timer <= least) return 0;
  uint32_t end = (m->timer - least) << m->timer_shift;
  if (elapsed >= end || m->timer - 1 - (elapsed >> m->timer_shift) > most) return 0;
  return (end - 1 - elapsed) / period + 1;
}

/* A turn is two instructions, the branch and the read, and 7 cycles. */
#define VCS_SKIP_WAIT(least, most)                                                              \
  {                                                                                             \
    uint32_t turns = vcs_turns_of_timer(m, vcs_cpu_cycles(cpu), 7, least, most);                \
    uint32_t count = (uint32_t)(cpu->time & VCS_COUNT_MASK), allowed = (allowance - count) / 2; \
    if (count > allowance) allowed = 0;                                                         \
    cpu->time += (turns < allowed ? turns : allowed) * (VCS_COST(3) + VCS_COST(4));             \
  }
#define VCS_WAIT(opcode, operation, least, most) \
  if (vcs_op_##operation(cpu)) {                 \
    VCS_RUN_WAIT_##operation(least, most)        \
  }                                              \
  VCS_RUN_BEGIN(opcode)                          \
  VCS_BRANCH(operation, 2, 1)

/* A register counts down; `turns` turns of the loop end in the branch again. A turn is two instructions and 5 cycles.
 */
#define VCS_SKIP_DELAY(operation, index)                   \
  {                                                        \
    uint8_t turns = (uint8_t)VCS_TURNS_##operation(index); \
    (index) = (uint8_t)((index)-turns);                    \
    cpu->time += turns * (VCS_COST(3) + VCS_COST(2));      \
  }
#define VCS_TURNS_BNE(index) ((index)-1)
#define VCS_TURNS_BPL(index) ((index) <= 0x80 ? (index) : 0)
#define VCS_DELAY(opcode, operation, index) \
  if (vcs_op_##operation(cpu)) {            \
    VCS_RUN_DELAY(operation, index)         \
  }                                         \
  VCS_RUN_BEGIN(opcode)                     \
  VCS_BRANCH(operation, 2, 1)

/* ---- The loop ----------------------------------------------------------------------------------------------- */

#define VCS_ROW_PAIR(code, operation, mode, access, cost)                                                            \
  VCS_ROW_LABEL(first_##code, code){VCS_RUN_BEGIN(code) VCS_FIRST_##access##_##mode(operation, cost)} VCS_ROW_LABEL( \
      second_##code, code + VCS_ROW_SECOND) {                                                                        \
    VCS_RUN_BEGIN(code)                                                                                              \
    VCS_SECOND_##access##_##mode(operation, cost)                                                                    \
  }

/* Runs decoded instructions until the frame is over, at most about `allowance` of them (fewer than VCS_RUN_MARGIN
 * more), and possibly none. Returns their number, with VCS_RUN_STEP set if the next instruction is one for
 * vcs_cpu_step, and VCS_RUN_OVER if the frame is over. */
enum { VCS_RUN_STEP = 1 << 16, VCS_RUN_OVER = 1 << 17 };
VCS_SLOW_FN uint32_t vcs_run(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint32_t allowance VCS_RUN_WITH) {
  vcs_cpu_t registers, *cpu = &registers;
  vcs_bank_t bank;
  if (!vcs_find_bank(cart, m, m->pc, &bank)) return VCS_RUN_STEP;
  vcs_cpu_load(cpu, m);
  const uint64_t limit = cpu->time + VCS_CYCLES(2 * allowance);
  uint32_t end;
  VCS_RUN_LOCALS
  VCS_RUN_ENTER

#if VCS_ROWS_JUMP
#define VCS_FIRST_ADDRESS(code, operation, mode, access, cost) &&first_##code,
#define VCS_SECOND_ADDRESS(code, operation, mode, access, cost) &&second_##code,
  static const void *const addresses[VCS_ROWS] = {
      VCS_OPCODES(VCS_FIRST_ADDRESS) VCS_OPCODES(VCS_SECOND_ADDRESS) && step,
      &&step,
      &&wsync,
      &&wait_bne,
      &&wait_bpl,
      &&wait_bmi,
      &&delay_dex_bne,
      &&delay_dey_bne,
      &&delay_dex_bpl,
      &&delay_dey_bpl,
#define VCS_TIA_ROW_ADDRESSES(name) &&sty_##name, &&sta_##name, &&stx_##name,
      VCS_TIA_ROWS(VCS_TIA_ROW_ADDRESSES)};
  const void *const *rows = addresses;
  __asm__("" : "+r"(rows)); /* so that gcc does not know where it points, and keeps it in a register */
  VCS_DISPATCH_NOW;
  {
#else
next:
  switch (VCS_AT.row) {
#endif
    VCS_OPCODES(VCS_ROW_PAIR) /* NOLINT(bugprone-branch-clone): rows that only step are alike */
    VCS_ROW_LABEL(wsync, VCS_ROW_WSYNC) {
      VCS_RUN_BEGIN((uint8_t)VCS_AT.operand)
      VCS_RUN_EVENT(VCS_WSYNC, vcs_run_stored(cpu, VCS_AT.operand))
      cpu->time += VCS_COST(3);
      VCS_RUN_STORE_WSYNC
      uint32_t cycles = vcs_cpu_cycles(cpu);
      m->cycles = cycles;
      cpu->stop = (uint8_t)vcs_bus_write_wsync(m, video);
      cpu->time += VCS_CYCLES((uint32_t)(m->cycles - cycles));
      VCS_RUN_EVENT_END(VCS_WSYNC)
      if (VCS_UNLIKELY(cpu->stop)) m->bus = vcs_run_stored(cpu, VCS_AT.operand);
      VCS_RUN_ON_UNLESS_STOPPED(2);
    }
    /* NOLINTBEGIN(bugprone-branch-clone): rows of loops that a hook does not skip are alike */
    /* clang-format off */
    VCS_ROW_LABEL(wait_bne, VCS_ROW_WAIT_BNE) { VCS_WAIT(0xD0, BNE, 1, 255) }
    VCS_ROW_LABEL(wait_bpl, VCS_ROW_WAIT_BPL) { VCS_WAIT(0x10, BPL, 0, 127) }
    VCS_ROW_LABEL(wait_bmi, VCS_ROW_WAIT_BMI) { VCS_WAIT(0x30, BMI, 128, 255) }
    VCS_ROW_LABEL(delay_dex_bne, VCS_ROW_DELAY_DEX_BNE) { VCS_DELAY(0xD0, BNE, cpu->x) }
    VCS_ROW_LABEL(delay_dey_bne, VCS_ROW_DELAY_DEY_BNE) { VCS_DELAY(0xD0, BNE, cpu->y) }
    VCS_ROW_LABEL(delay_dex_bpl, VCS_ROW_DELAY_DEX_BPL) { VCS_DELAY(0x10, BPL, cpu->x) }
    VCS_ROW_LABEL(delay_dey_bpl, VCS_ROW_DELAY_DEY_BPL) { VCS_DELAY(0x10, BPL, cpu->y) }
    VCS_TIA_ROWS(VCS_TIA_ROW)
    /* clang-format on */
    /* NOLINTEND(bugprone-branch-clone) */
#if !VCS_ROWS_JUMP
        default : goto step; /* what is behind the rows may be another label: VCS_RUN_LABELS */
#endif
  }
  VCS_RUN_LABELS
step:
  cpu->pc = VCS_RUN_PC;
  end = VCS_RUN_STEP;
  goto out;
look_up:
  cpu->stop = 0;
stopped:
  cpu->pc = VCS_RUN_PC;
  end = VCS_RUN_OVER;
  if (cpu->stop & VCS_STOP_FRAME) goto out;
  VCS_RUN_STOPPED
elsewhere:
  end = 0;
  if (cpu->time >= limit) goto out;
  if (vcs_find_bank(cart, m, cpu->pc, &bank)) {
    VCS_RUN_ENTER
    VCS_DISPATCH;
  }
  end = VCS_RUN_STEP;
out:
  VCS_RUN_LEAVE
  vcs_cpu_store(cpu, m);
  return end | (uint32_t)(cpu->time & VCS_COUNT_MASK);
}

#ifndef VCS_RUN_BESIDE  /* a file that defines it has its own loop around vcs_run */
#ifndef VCS_RUN_DECODED /* what this loop calls: vcs_run, or a function that does the same by other means (asleep.c) \
                         */
#define VCS_RUN_DECODED vcs_run
#endif

/* Executes up to `count` instructions. Stops when a frame is over or the CPU has jammed. Returns their number. */
VCS_SLOW_FN uint32_t vcs_cpu_run(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint32_t count) {
  uint32_t left = count;
  bool frame_over = false;
  while (left && !frame_over && !m->jammed) {
    uint32_t end = VCS_RUN_STEP;
    if (VCS_LIKELY(left > VCS_RUN_MARGIN)) {
      end = VCS_RUN_DECODED(cart, m, video, (left < VCS_RUN_MOST ? left : (uint32_t)VCS_RUN_MOST) - VCS_RUN_MARGIN);
      left -= end & VCS_COUNT_MASK;
      frame_over = end & VCS_RUN_OVER;
    }
    if (end & VCS_RUN_STEP) {
      vcs_tia_recall(m, video);
      vcs_cpu_step(cart, m, video, &frame_over);
      left--;
    }
  }
  m->instructions += count - left;
  if (frame_over) m->partial = 0;
  return count - left;
}

#endif

#endif
