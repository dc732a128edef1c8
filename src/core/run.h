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

/* Hooks. A file that defines VCS_RUN_BESIDE before it includes this one gets a vcs_run of its own, compiled with the
 * hooks that it also defines; without it they are empty and cost nothing. grad/concurrent_run.c uses them.
 *
 *   VCS_RUN_LOOK   a statement before each instruction but the first; it may go to the label `met`
 *   VCS_RUN_MET    the statement at that label, label included
 *   VCS_RUN_WITH   further parameters of vcs_run, with a leading comma
 *
 * The recorder of tapes (grad/tape.c) has a loop of its own: it keeps the registers packed as a row has them and
 * indexes code by the program counter, which a row needs too. Written with hooks around this loop it would do both
 * twice. */
#ifndef VCS_RUN_BESIDE
#define VCS_RUN_LOOK
#define VCS_RUN_MET
#define VCS_RUN_WITH
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define VCS_ROWS_JUMP 1
#define VCS_ROW_LABEL(name, number) \
  name:
#define VCS_DISPATCH_NOW goto *rows[at->row]
#else
#define VCS_ROWS_JUMP 0
#define VCS_ROW_LABEL(name, number) case number:
#define VCS_DISPATCH_NOW goto next
#endif
#define VCS_DISPATCH VCS_RUN_LOOK VCS_DISPATCH_NOW

/* The next instruction, `length` bytes on. */
#define VCS_RUN_ON(length) \
  at += (length);          \
  VCS_DISPATCH

/* The same after an access that may have stopped the CPU. */
#define VCS_RUN_ON_UNLESS_STOPPED(length)    \
  at += (length);                            \
  if (VCS_UNLIKELY(cpu->stop)) goto stopped; \
  VCS_DISPATCH

/* ... which was a write: its value stays on the bus. */
#define VCS_RUN_ON_AFTER_WRITE(length) \
  at += (length);                      \
  if (VCS_UNLIKELY(cpu->stop)) {       \
    m->bus = value;                    \
    goto stopped;                      \
  }                                    \
  VCS_DISPATCH

/* Continues at an address. `last` is the last byte on the bus, which the next fetch may show where there is no ROM. */
#define VCS_RUN_TO(addr, last)                                     \
  cpu->pc = (addr);                                                \
  {                                                                \
    uint16_t offset = (uint16_t)(cpu->pc - bank.start);            \
    if (VCS_UNLIKELY(offset >= bank.size || cpu->time >= limit)) { \
      m->bus = (uint8_t)(last);                                    \
      goto elsewhere;                                              \
    }                                                              \
    at = bank.code + offset;                                       \
  }                                                                \
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

/* A cycle if the index carries into the high byte. */
#define VCS_PAGE_CROSSED(base, index) ((((uint64_t)(uint8_t)(base) + (index)) & 0x100) << (VCS_CYCLES_SHIFT - 8))

/* ---- The two ways of each access and mode ------------------------------------------------------------------- */

#define VCS_STEP(operation, cost) goto step;

#define VCS_FIRST_IMPLIED_IMP(operation, cost) \
  cpu->time += VCS_COST(cost);                 \
  vcs_do_##operation(VCS_HERE);                \
  VCS_RUN_ON(1);
#define VCS_FIRST_IMPLIED_ACC VCS_FIRST_IMPLIED_IMP

/* READ */
#define VCS_FIRST_READ_IMM(operation, cost)      \
  cpu->time += VCS_COST(cost);                   \
  vcs_op_##operation(cpu, (uint8_t)at->operand); \
  VCS_RUN_ON(2);
#define VCS_FIRST_READ_ZP(operation, cost)      \
  cpu->time += VCS_COST(cost);                  \
  vcs_op_##operation(cpu, m->ram[at->operand]); \
  VCS_RUN_ON(2);
#define VCS_FIRST_READ_ABS(operation, cost)       \
  cpu->time += VCS_COST(cost);                    \
  vcs_op_##operation(cpu, bank.rom[at->operand]); \
  VCS_RUN_ON(3);
#define VCS_READ_INDEXED_ROM(operation, cost, index)                  \
  cpu->time += VCS_COST(cost) + VCS_PAGE_CROSSED(at->operand, index); \
  vcs_op_##operation(cpu, bank.rom[(uint32_t)at->operand + (index)]); \
  VCS_RUN_ON(3);
#define VCS_FIRST_READ_ABX(operation, cost) VCS_READ_INDEXED_ROM(operation, cost, cpu->x)
#define VCS_FIRST_READ_ABY(operation, cost) VCS_READ_INDEXED_ROM(operation, cost, cpu->y)

#define VCS_READ_CHIP(operation, cost, addr)                 \
  cpu->time += VCS_COST(cost);                               \
  cpu->stop = 0;                                             \
  cpu->bus = (uint8_t)at->operand;                           \
  vcs_op_##operation(cpu, vcs_bus_read_low(VCS_HERE, addr)); \
  VCS_RUN_ON_UNLESS_STOPPED(2);
#define VCS_SECOND_READ_ZP(operation, cost) VCS_READ_CHIP(operation, cost, at->operand)
#define VCS_READ_INDEXED_ZERO_PAGE(operation, cost, index) \
  uint8_t addr = (uint8_t)(at->operand + (index));         \
  if (VCS_LIKELY(addr & 0x80)) {                           \
    cpu->time += VCS_COST(cost);                           \
    vcs_op_##operation(cpu, m->ram[addr & 0x7F]);          \
    VCS_RUN_ON(2);                                         \
  }                                                        \
  VCS_READ_CHIP(operation, cost, addr)
#define VCS_FIRST_READ_ZPX(operation, cost) VCS_READ_INDEXED_ZERO_PAGE(operation, cost, cpu->x)
#define VCS_FIRST_READ_ZPY(operation, cost) VCS_READ_INDEXED_ZERO_PAGE(operation, cost, cpu->y)

#define VCS_READ_ANYTHING(operation, cost, base, index, length)                  \
  cpu->time += VCS_COST(cost) + VCS_PAGE_CROSSED(base, index);                   \
  cpu->stop = 0;                                                                 \
  cpu->bus = (uint8_t)((base) >> 8);                                             \
  vcs_op_##operation(cpu, vcs_bus_read(VCS_HERE, (uint16_t)((base) + (index)))); \
  VCS_RUN_ON_UNLESS_STOPPED(length);
#define VCS_SECOND_READ_ABS(operation, cost) VCS_READ_ANYTHING(operation, cost, at->operand, 0, 3)
#define VCS_SECOND_READ_ABX(operation, cost) VCS_READ_ANYTHING(operation, cost, at->operand, cpu->x, 3)
#define VCS_SECOND_READ_ABY(operation, cost) VCS_READ_ANYTHING(operation, cost, at->operand, cpu->y, 3)
#define VCS_RAM_POINTER(offset) vcs_run_pointer(&m->ram[offset])
#define VCS_FIRST_READ_IZY(operation, cost)                                      \
  uint16_t pointer = VCS_RAM_POINTER(at->operand);                               \
  uint32_t addr = (uint32_t)pointer + cpu->y;                                    \
  if (VCS_LIKELY(addr & 0x1000 && !(cart->hot_pages >> (addr >> 6 & 63) & 1))) { \
    cpu->time += VCS_COST(cost) + VCS_PAGE_CROSSED(pointer, cpu->y);             \
    vcs_op_##operation(cpu, bank.rom[addr & (bank.size - 1u)]);                  \
    VCS_RUN_ON(2);                                                               \
  }                                                                              \
  VCS_READ_ANYTHING(operation, cost, pointer, cpu->y, 2)
#define VCS_SECOND_READ_IZY(operation, cost)       \
  uint16_t pointer = VCS_RAM_POINTER(at->operand); \
  VCS_READ_ANYTHING(operation, cost, pointer, cpu->y, 2)
#define VCS_FIRST_READ_IZX(operation, cost)                   \
  uint8_t place = (uint8_t)(at->operand + cpu->x);            \
  if (VCS_UNLIKELY(place < 0x80 || place == 0xFF)) goto step; \
  uint16_t pointer = VCS_RAM_POINTER(place & 0x7F);           \
  VCS_READ_ANYTHING(operation, cost, pointer, 0, 2)

/* WRITE */
#define VCS_FIRST_WRITE_ZP(operation, cost)                   \
  cpu->time += VCS_COST(cost);                                \
  m->ram[at->operand] = vcs_op_##operation(cpu, at->operand); \
  VCS_RUN_ON(2);
#define VCS_SECOND_WRITE_ZP(operation, cost)                                  \
  cpu->time += VCS_COST(cost);                                                \
  uint8_t value = vcs_op_##operation(cpu, at->operand);                       \
  m->cycles = vcs_cpu_cycles(cpu);                                            \
  cpu->stop = (uint8_t)vcs_bus_write_tia(cart, m, video, at->operand, value); \
  VCS_RUN_ON_AFTER_WRITE(2);
/* STY, STA and STX to one register of the TIA: the compiler keeps only the code for that register. */
#define VCS_WRITE_TIA(name, stored)                                                 \
  const uint8_t value = stored;                                                     \
  cpu->time += VCS_COST(3);                                                         \
  m->cycles = vcs_cpu_cycles(cpu);                                                  \
  cpu->stop = vcs_tia_write_this(m, video, VCS_##name, value) ? VCS_STOP_FRAME : 0; \
  VCS_RUN_ON_AFTER_WRITE(2);
#define VCS_TIA_ROW(name)                                                                                          \
  VCS_ROW_LABEL(sty_##name, VCS_ROW_STY_##name){VCS_WRITE_TIA(name, cpu->y)} VCS_ROW_LABEL(                        \
      sta_##name, VCS_ROW_STA_##name){VCS_WRITE_TIA(name, cpu->a)} VCS_ROW_LABEL(stx_##name, VCS_ROW_STX_##name) { \
    VCS_WRITE_TIA(name, cpu->x)                                                                                    \
  }
#define VCS_WRITE_ANYTHING(operation, cost, addr_of, length) \
  uint16_t addr = (uint16_t)(addr_of);                       \
  uint8_t value = vcs_op_##operation(cpu, addr);             \
  cpu->time += VCS_COST(cost);                               \
  cpu->stop = 0;                                             \
  vcs_bus_write(VCS_HERE, addr, value);                      \
  VCS_RUN_ON_AFTER_WRITE(length);
#define VCS_FIRST_WRITE_ZPX(operation, cost) VCS_WRITE_ANYTHING(operation, cost, (uint8_t)(at->operand + cpu->x), 2)
#define VCS_FIRST_WRITE_ZPY(operation, cost) VCS_WRITE_ANYTHING(operation, cost, (uint8_t)(at->operand + cpu->y), 2)
#define VCS_FIRST_WRITE_ABS(operation, cost) VCS_WRITE_ANYTHING(operation, cost, at->operand, 3)
#define VCS_FIRST_WRITE_ABX(operation, cost) VCS_WRITE_ANYTHING(operation, cost, at->operand + cpu->x, 3)
#define VCS_FIRST_WRITE_ABY(operation, cost) VCS_WRITE_ANYTHING(operation, cost, at->operand + cpu->y, 3)
#define VCS_FIRST_WRITE_IZY(operation, cost) \
  VCS_WRITE_ANYTHING(operation, cost, VCS_RAM_POINTER(at->operand) + cpu->y, 2)

/* MODIFY */
#define VCS_MODIFY_RAM(operation, cost, offset)             \
  cpu->time += VCS_COST(cost);                              \
  m->ram[offset] = vcs_op_##operation(cpu, m->ram[offset]); \
  VCS_RUN_ON(2);
#define VCS_FIRST_MODIFY_ZP(operation, cost) VCS_MODIFY_RAM(operation, cost, at->operand)
#define VCS_FIRST_MODIFY_ZPX(operation, cost)     \
  uint8_t addr = (uint8_t)(at->operand + cpu->x); \
  if (VCS_UNLIKELY(!(addr & 0x80))) goto step;    \
  VCS_MODIFY_RAM(operation, cost, addr & 0x7F)

/* JUMP, BRANCH */
#define VCS_FIRST_JUMP_ABS(operation, cost) \
  cpu->time += VCS_COST(cost);              \
  VCS_RUN_TO(at->operand, cpu->pc >> 8);
#define VCS_FIRST_JUMP_IND(operation, cost) \
  cpu->time += VCS_COST(cost);              \
  VCS_RUN_TO(VCS_RAM_POINTER(at->operand), cpu->pc >> 8);
#define VCS_TAKE_BRANCH(cost)                         \
  cpu->time += VCS_COST(cost);                        \
  at += (int16_t)at->operand;                         \
  if (VCS_UNLIKELY(cpu->time >= limit)) goto look_up; \
  VCS_DISPATCH
#define VCS_BRANCH(operation, cost, more) \
  if (vcs_op_##operation(cpu)) {          \
    VCS_TAKE_BRANCH((cost) + (more));     \
  }                                       \
  cpu->time += VCS_COST(cost);            \
  VCS_RUN_ON(2);
#define VCS_FIRST_BRANCH_REL(operation, cost) VCS_BRANCH(operation, cost, 1)
#define VCS_SECOND_BRANCH_REL(operation, cost) VCS_BRANCH(operation, cost, 2)

/* STACK */
#define VCS_FIRST_STACK_IMP(operation, cost) VCS_RUN_##operation(cost)
#define VCS_FIRST_STACK_ABS VCS_FIRST_STACK_IMP
/* Programs also push into the TIA: PHP stores a status register to ENAxx in one short instruction. */
#define VCS_RUN_PUSH(cost, pushed)                               \
  const uint8_t value = pushed;                                  \
  cpu->time += VCS_COST(cost);                                   \
  cpu->stop = 0;                                                 \
  vcs_bus_write(VCS_HERE, (uint16_t)(0x100 + cpu->sp--), value); \
  VCS_RUN_ON_AFTER_WRITE(1);
#define VCS_RUN_PHA(cost) VCS_RUN_PUSH(cost, cpu->a)
#define VCS_RUN_PHP(cost) VCS_RUN_PUSH(cost, vcs_cpu_status(cpu))
#define VCS_RUN_PULL(cost, opcode, operation) \
  cpu->time += VCS_COST(cost);                \
  cpu->stop = 0;                              \
  cpu->bus = opcode;                          \
  vcs_do_##operation(VCS_HERE);               \
  VCS_RUN_ON_UNLESS_STOPPED(1);
#define VCS_RUN_PLA(cost) VCS_RUN_PULL(cost, VCS_PLA, PLA)
#define VCS_RUN_PLP(cost) VCS_RUN_PULL(cost, VCS_PLP, PLP)
/* Calls and returns, if the stack is in RAM, including the byte that a return reads first. */
#define VCS_RUN_JSR(cost)                                        \
  if (VCS_UNLIKELY(cpu->sp < 0x81)) goto step;                   \
  uint16_t back = (uint16_t)(bank.start + (at - bank.code) + 2); \
  cpu->time += VCS_COST(cost);                                   \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);               \
  m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;                      \
  VCS_RUN_TO(at->operand, cpu->pc >> 8);
/* RTS also reads the byte before the one at which it continues, which may be a hot spot or in another bank. */
#define VCS_RUN_RTS(cost)                                                         \
  cpu->time += VCS_COST(cost);                                                    \
  if (VCS_LIKELY(cpu->sp >= 0x80 && cpu->sp <= 0xFD)) {                           \
    uint16_t back = VCS_RAM_POINTER((cpu->sp + 1) & 0x7F);                        \
    uint16_t target = (uint16_t)(back - bank.start);                              \
    if (VCS_LIKELY(target < bank.size && bank.code[target].row != VCS_ROW_HOT)) { \
      cpu->sp += 2;                                                               \
      VCS_RUN_TO((uint16_t)(back + 1), bank.rom[target]);                         \
    }                                                                             \
  }                                                                               \
  cpu->stop = 0;                                                                  \
  cpu->bus = VCS_RTS;                                                             \
  vcs_do_RTS(VCS_HERE);                                                           \
  m->bus = cpu->bus;                                                              \
  goto elsewhere;
#define VCS_RUN_RTI(cost) goto step;
#define VCS_RUN_BRK(cost) goto step;

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
#define VCS_WAIT(operation, least, most)                                                        \
  if (vcs_op_##operation(cpu)) {                                                                \
    uint32_t turns = vcs_turns_of_timer(m, vcs_cpu_cycles(cpu), 7, least, most);                \
    uint32_t count = (uint32_t)(cpu->time & VCS_COUNT_MASK), allowed = (allowance - count) / 2; \
    if (count > allowance) allowed = 0;                                                         \
    cpu->time += (turns < allowed ? turns : allowed) * (VCS_COST(3) + VCS_COST(4));             \
    VCS_TAKE_BRANCH(3);                                                                         \
  }                                                                                             \
  cpu->time += VCS_COST(2);                                                                     \
  VCS_RUN_ON(2);

/* A register counts down; `turns` turns of the loop end in the branch again. A turn is two instructions and 5 cycles.
 */
#define VCS_DELAY(operation, index, turns_of)         \
  if (vcs_op_##operation(cpu)) {                      \
    uint8_t turns = (uint8_t)(turns_of);              \
    (index) = (uint8_t)((index)-turns);               \
    cpu->time += turns * (VCS_COST(3) + VCS_COST(2)); \
    VCS_TAKE_BRANCH(3);                               \
  }                                                   \
  cpu->time += VCS_COST(2);                           \
  VCS_RUN_ON(2);
#define VCS_TURNS_BNE(index) ((index)-1)
#define VCS_TURNS_BPL(index) ((index) <= 0x80 ? (index) : 0)

/* ---- The loop ----------------------------------------------------------------------------------------------- */

#define VCS_ROW_PAIR(code, operation, mode, access, cost)                                        \
  VCS_ROW_LABEL(first_##code, code){VCS_FIRST_##access##_##mode(operation, cost)} VCS_ROW_LABEL( \
      second_##code, code + VCS_ROW_SECOND) {                                                    \
    VCS_SECOND_##access##_##mode(operation, cost)                                                \
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
  const vcs_code_t *at = bank.code + (uint16_t)(cpu->pc - bank.start);
  uint32_t end;

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
  switch (at->row) {
#endif
    VCS_OPCODES(VCS_ROW_PAIR) /* NOLINT(bugprone-branch-clone): rows that only step are alike */
    VCS_ROW_LABEL(wsync, VCS_ROW_WSYNC) {
      cpu->time += VCS_COST(3);
      uint32_t cycles = vcs_cpu_cycles(cpu);
      m->cycles = cycles;
      cpu->stop = (uint8_t)vcs_bus_write_wsync(m, video);
      cpu->time += VCS_CYCLES((uint32_t)(m->cycles - cycles));
      if (VCS_UNLIKELY(cpu->stop))
        m->bus = at->operand == VCS_STY_ZP ? cpu->y : at->operand == VCS_STA_ZP ? cpu->a : cpu->x;
      VCS_RUN_ON_UNLESS_STOPPED(2);
    }
    VCS_ROW_LABEL(wait_bne, VCS_ROW_WAIT_BNE){VCS_WAIT(BNE, 1, 255)} VCS_ROW_LABEL(
        wait_bpl, VCS_ROW_WAIT_BPL){VCS_WAIT(BPL, 0, 127)} VCS_ROW_LABEL(wait_bmi, VCS_ROW_WAIT_BMI){
        VCS_WAIT(BMI, 128, 255)} VCS_ROW_LABEL(delay_dex_bne, VCS_ROW_DELAY_DEX_BNE){
        VCS_DELAY(BNE, cpu->x, VCS_TURNS_BNE(cpu->x))} VCS_ROW_LABEL(delay_dey_bne, VCS_ROW_DELAY_DEY_BNE){
        VCS_DELAY(BNE, cpu->y, VCS_TURNS_BNE(cpu->y))} VCS_ROW_LABEL(delay_dex_bpl, VCS_ROW_DELAY_DEX_BPL){
        VCS_DELAY(BPL, cpu->x, VCS_TURNS_BPL(cpu->x))} VCS_ROW_LABEL(delay_dey_bpl, VCS_ROW_DELAY_DEY_BPL){
        VCS_DELAY(BPL, cpu->y, VCS_TURNS_BPL(cpu->y))} VCS_TIA_ROWS(VCS_TIA_ROW)
#if !VCS_ROWS_JUMP
        default : goto step; /* what is behind the rows may be another label: VCS_RUN_MET */
#endif
  }
  VCS_RUN_MET
step:
  cpu->pc = (uint16_t)(bank.start + (at - bank.code));
  end = VCS_RUN_STEP;
  goto out;
look_up:
  cpu->stop = 0;
stopped:
  cpu->pc = (uint16_t)(bank.start + (at - bank.code));
  end = VCS_RUN_OVER;
  if (cpu->stop & VCS_STOP_FRAME) goto out;
elsewhere:
  end = 0;
  if (cpu->time >= limit) goto out;
  if (vcs_find_bank(cart, m, cpu->pc, &bank)) {
    at = bank.code + (uint16_t)(cpu->pc - bank.start);
    VCS_DISPATCH;
  }
  end = VCS_RUN_STEP;
out:
  vcs_cpu_store(cpu, m);
  return end | (uint32_t)(cpu->time & VCS_COUNT_MASK);
}

#ifndef VCS_RUN_BESIDE /* a file that defines it has its own loop around vcs_run */
/* Executes up to `count` instructions. Stops when a frame is over or the CPU has jammed. Returns their number. */
VCS_SLOW_FN uint32_t vcs_cpu_run(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint32_t count) {
  uint32_t left = count;
  bool frame_over = false;
  while (left && !frame_over && !m->jammed) {
    uint32_t end = VCS_RUN_STEP;
    if (VCS_LIKELY(left > VCS_RUN_MARGIN)) {
      end = vcs_run(cart, m, video, (left < VCS_RUN_MOST ? left : (uint32_t)VCS_RUN_MOST) - VCS_RUN_MARGIN);
      left -= end & VCS_COUNT_MASK;
      frame_over = end & VCS_RUN_OVER;
    }
    if (end & VCS_RUN_STEP) {
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
