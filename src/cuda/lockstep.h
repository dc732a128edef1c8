/* lockstep.h: the instruction loop for 32 machines in one warp.
 *
 * The 32 lanes of a warp have one program counter. In a loop with a row of code for every opcode (core/run.h), lanes at
 * different opcodes execute one after the other, each with its own loads and its own instruction cache misses. So this
 * loop divides an instruction into steps that all instructions have:
 *
 *   fetch -> find the operand -> load it -> operate (a few machine instructions each) -> store, advance
 *
 * so lanes at different instructions differ only in the small switch in the middle. An instruction that does not fit
 * this scheme is not plain: its lane leaves the inner loop and waits until all lanes have such an instruction. Then all
 * lanes execute theirs: WSYNC, an access to a chip, or, for every rare instruction, one step of core/cpu.h over the
 * bus.
 *
 * Lanes that play different episodes are at different instructions, but at the same place of their frames: a program
 * waits for the beam in every line and for the timer in every frame. So lanes run in epochs of one scan line: a lane at
 * the end of its line waits there for all lanes, and most lanes then continue with the same instruction.
 *
 * With VCS_LANES_RECORD defined, lanes can record a tape (record.h); otherwise this costs nothing.
 *
 * core/cpu.h defines the operations, core/decode.h the facts that are known before execution. A single lane,
 * as on the host, is a plain interpreter, which the tests compare with core/run.h.
 */
#ifndef VCS_CUDA_LOCKSTEP_H
#define VCS_CUDA_LOCKSTEP_H

#include "../core/console.h"

#if defined(VCS_LANES_RECORD)
#include "../grad/tape.h"
#define VCS_RECORDING(...) __VA_ARGS__
#else
#define VCS_RECORDING(...)
#endif

#if defined(__CUDA_ARCH__)
#define VCS_ANY_LANE(lanes, condition) __any_sync(lanes, condition)
#define VCS_JOIN_LANES(lanes) __syncwarp(lanes)
#define VCS_THIS_LANE (1u << (threadIdx.x & 31))
#else
#define VCS_ANY_LANE(lanes, condition) ((void)(lanes), (condition))
#define VCS_JOIN_LANES(lanes) ((void)(lanes))
#define VCS_THIS_LANE 1u
#endif

/* ---- Coding ------------------------------------------------------------------------------------------------------ */

/* Location of an operand: memory in the upper two bits, index register in the lower two (from 4 on: 1 is X, 2 or 3 is
 * Y). RAM, ROM and operands without memory are plain; indexed zero page and pointers only if they lead to RAM and ROM.
 */
enum {
  VCS_AT_NONE, /* also branches within their page */
  VCS_AT_WSYNC,
  VCS_AT_STEP,      /* an instruction for core/cpu.h */
  VCS_AT_IMMEDIATE, /* also branches to another page */
  VCS_AT_RAM,
  VCS_AT_RAM_X,
  VCS_AT_RAM_Y,
  VCS_AT_ROM = 8,
  VCS_AT_ROM_X,
  VCS_AT_ROM_Y,
  VCS_AT_POINTER, /* (pointer),Y in the bank */
  VCS_AT_BUS,     /* any address, also of a chip */
  VCS_AT_BUS_X,
  VCS_AT_BUS_Y,
  VCS_AT_BUS_POINTER,

  VCS_NOT_PLAIN = 1 << VCS_AT_WSYNC | 1 << VCS_AT_STEP | 1 << VCS_AT_BUS | 1 << VCS_AT_BUS_X | 1 << VCS_AT_BUS_Y |
                  1 << VCS_AT_BUS_POINTER
};

/* Operations, in lists by the signature of their functions in core/cpu.h. */
#define VCS_READS(X) X(NOP) X(LDA) X(LDX) X(LDY) X(AND) X(ORA) X(EOR) X(ADC) X(SBC) X(CMP) X(CPX) X(CPY) X(BIT)
#define VCS_STORES(X) X(STA) X(STX) X(STY)
#define VCS_PUSHES(X) X(PHA) X(PHP)
#define VCS_PULLS(X) X(PLA) X(PLP)
#define VCS_MODIFIES(X) X(ASL) X(LSR) X(ROL) X(ROR) X(INC) X(DEC)
#define VCS_IMPLIEDS(X) \
  X(ASLA)               \
  X(LSRA)               \
  X(ROLA) X(RORA) X(CLC) X(SEC) X(CLD) X(SED) X(INX) X(INY) X(DEX) X(DEY) X(TAX) X(TXA) X(TAY) X(TYA) X(TSX) X(TXS)
#define VCS_BRANCHES(X) X(BPL) X(BMI) X(BVC) X(BVS) X(BCC) X(BCS) X(BNE) X(BEQ)
#define VCS_OTHERS(X) X(JMP) X(JSR) X(RTS)
#define VCS_LOOPS(X) \
  X(WAIT_BNE) X(WAIT_BPL) X(WAIT_BMI) X(DELAY_DEX_BNE) X(DELAY_DEY_BNE) X(DELAY_DEX_BPL) X(DELAY_DEY_BPL)
#define VCS_ACCESSES(X) VCS_READS(X) VCS_STORES(X) VCS_PUSHES(X) VCS_PULLS(X)
#define VCS_NAMED(X) VCS_ACCESSES(X) VCS_MODIFIES(X) VCS_IMPLIEDS(X) VCS_BRANCHES(X) VCS_OTHERS(X)

#define VCS_DOES_NAME(name) VCS_DOES_##name,
enum { VCS_NAMED(VCS_DOES_NAME) VCS_LOOPS(VCS_DOES_NAME) VCS_DOES_COUNT };

/* A coded instruction replaces a row of decode.h with 15 bits: location, operation, cycles, length. */
enum { VCS_WHAT_SHIFT = 4, VCS_CYCLES_AT = 10, VCS_LENGTH_SHIFT = 13 };

VCS_FN uint16_t vcs_code_row(int where, int what, int cycles, int length) {
  return (uint16_t)(where | what << VCS_WHAT_SHIFT | (cycles - 1) << VCS_CYCLES_AT | length << VCS_LENGTH_SHIFT);
}

/* Returns the location of an opcode's operand in one of its two forms (decode.h has the table of forms). */
VCS_FN int vcs_code_where(vcs_opcode_t op, bool second) {
  switch (op.mode) {
    case VCS_MODE_IMP:
    case VCS_MODE_ACC:
      return VCS_AT_NONE;
    case VCS_MODE_REL:
      return second ? VCS_AT_IMMEDIATE : VCS_AT_NONE;
    case VCS_MODE_IMM:
      return VCS_AT_IMMEDIATE;
    case VCS_MODE_ZP:
      return second ? VCS_AT_BUS : VCS_AT_RAM;
    case VCS_MODE_ZPX:
      return VCS_AT_RAM_X;
    case VCS_MODE_ZPY:
      return VCS_AT_RAM_Y;
    case VCS_MODE_ABS:
      if (op.access == VCS_ACCESS_JUMP || op.access == VCS_ACCESS_STACK) return VCS_AT_IMMEDIATE;
      return op.access == VCS_ACCESS_WRITE || second ? VCS_AT_BUS : VCS_AT_ROM;
    case VCS_MODE_ABX:
      return op.access == VCS_ACCESS_WRITE || second ? VCS_AT_BUS_X : VCS_AT_ROM_X;
    case VCS_MODE_ABY:
      return op.access == VCS_ACCESS_WRITE || second ? VCS_AT_BUS_Y : VCS_AT_ROM_Y;
    case VCS_MODE_IZY:
      return op.access == VCS_ACCESS_WRITE || second ? VCS_AT_BUS_POINTER : VCS_AT_POINTER;
    default: /* JMP (pointer), (pointer,X) */
      return VCS_AT_STEP;
  }
}

/* Operation of a VCS_AT_STEP: marks steps on pages with hot spots. */
enum { VCS_STEP_IS_HOT = 1 };

VCS_FN bool vcs_code_is_hot(vcs_code_t code) {
  return (code.row & 15) == VCS_AT_STEP && (code.row >> VCS_WHAT_SHIFT & 63) == VCS_STEP_IS_HOT;
}

/* Returns the coded form of a decoded instruction; `what` is the index of its operation, or -1. Waiting loops, WSYNC
 * and steps have their own rows in decode.h; for all other instructions the row of an opcode's first form is its
 * number. */
VCS_FN vcs_code_t vcs_code_of(vcs_code_t decoded, uint8_t opcode, int what) {
  const uint16_t row = decoded.row;
  vcs_code_t code = {vcs_code_row(VCS_AT_STEP, 0, 1, 0), decoded.operand};
  if (row == VCS_ROW_HOT) {
    code.row = vcs_code_row(VCS_AT_STEP, VCS_STEP_IS_HOT, 1, 0);
  } else if (row == VCS_ROW_WSYNC) {
    code.row = vcs_code_row(VCS_AT_WSYNC, VCS_DOES_STA, 3, 2);
  } else if (row >= VCS_ROW_WAIT_BNE && row <= VCS_ROW_DELAY_DEY_BPL) {
    code.row = vcs_code_row(VCS_AT_NONE, VCS_DOES_WAIT_BNE + row - VCS_ROW_WAIT_BNE, 2, 2);
  } else if (row != VCS_ROW_STEP && what >= 0) {
    const vcs_opcode_t op = vcs_opcode(opcode);
    code.row = vcs_code_row(vcs_code_where(op, row != opcode), what, op.cycles, vcs_mode_length(op.mode));
  }
  return code;
}

/* ---- A lane ------------------------------------------------------------------------------------------------------ */

/* A lane stays in registers, because only inlined functions receive its address. */
typedef struct {
  vcs_cpu_t cpu;
  vcs_bank_t bank;
  const vcs_code_t *at; /* current instruction, if the bank is known */
  vcs_code_t code;      /* its value */
  uint32_t cycles, left, until;
  bool known, over, stands; /* stands: jammed, or no instructions left */
#if defined(VCS_LANES_RECORD)
  vcs_tape_t *tape; /* or NULL */
  vcs_row_t *row;   /* next row */
#endif
} vcs_lane_t;

/* Loads an instruction in one access. */
VCS_HOT_FN vcs_code_t vcs_code_at(const vcs_code_t *at) {
#if defined(__CUDA_ARCH__)
  const uint32_t both = *(const uint32_t *)(const void *)at;
  vcs_code_t code;
  code.row = (uint16_t)both;
  code.operand = (uint16_t)(both >> 16);
  return code;
#else
  return *at;
#endif
}

VCS_HOT_FN void vcs_lane_go(vcs_lane_t *lane, const vcs_code_t *at) {
  lane->at = at;
  lane->code = vcs_code_at(at);
}

VCS_HOT_FN uint16_t vcs_lane_pc(const vcs_lane_t *lane) {
  return lane->known ? (uint16_t)(lane->bank.start + (lane->at - lane->bank.code)) : lane->cpu.pc;
}

VCS_HOT_FN void vcs_lane_leave(vcs_lane_t *lane, uint16_t pc) {
  lane->cpu.pc = pc;
  lane->known = false;
}

/* Stores the registers in the machine. */
VCS_HOT_FN void vcs_lane_store(vcs_lane_t *lane, vcs_t *m) {
  lane->cpu.pc = vcs_lane_pc(lane);
  lane->cpu.time = VCS_CYCLES(lane->cycles);
  vcs_cpu_store(&lane->cpu, m);
}

VCS_HOT_FN void vcs_lane_load(vcs_lane_t *lane, const vcs_t *m) {
  vcs_cpu_load(&lane->cpu, m);
  lane->cycles = m->cycles;
  lane->known = false;
}

/* Returns the offset in the image of the bank around pc, with its size in the upper half; or -1. */
VCS_SLOW_FN int64_t vcs_lane_bank(const vcs_cart_t *cart, const vcs_t *m, uint16_t pc) {
  vcs_bank_t bank;
  if (!vcs_find_bank(cart, m, pc, &bank)) return -1;
  return (int64_t)bank.size << 32 | (bank.rom - cart->rom);
}

VCS_HOT_FN void vcs_lane_find(const vcs_cart_t *cart, const vcs_t *m, vcs_lane_t *lane) {
  const int64_t found = vcs_lane_bank(cart, m, lane->cpu.pc);
  lane->known = found >= 0;
  if (!lane->known) return;
  lane->bank.size = (uint16_t)(found >> 32);
  lane->bank.start = (uint16_t)(lane->cpu.pc & ~(lane->bank.size - 1u));
  lane->bank.code = cart->code + (uint32_t)found;
  lane->bank.rom = cart->rom + (uint32_t)found;
  vcs_lane_go(lane, lane->bank.code + (uint16_t)(lane->cpu.pc - lane->bank.start));
}

VCS_HOT_FN bool vcs_lane_goes(const vcs_lane_t *lane) { return !lane->over && !lane->stands; }

VCS_HOT_FN void vcs_lane_read(vcs_cpu_t *cpu, unsigned what, uint8_t b) {
  switch (what) {
#define VCS_READ_CASE(name) \
  case VCS_DOES_##name:     \
    vcs_op_##name(cpu, b);  \
    break;
    VCS_READS(VCS_READ_CASE)
    default:
      break;
  }
}

VCS_HOT_FN uint8_t vcs_lane_stored(vcs_cpu_t *cpu, unsigned what) {
  if (what == VCS_DOES_PHP) return vcs_cpu_status(cpu);
  return what == VCS_DOES_STX ? cpu->x : what == VCS_DOES_STY ? cpu->y : cpu->a;
}

VCS_HOT_FN void vcs_lane_pulled(vcs_cpu_t *cpu, unsigned what, uint8_t b) {
  if (what == VCS_DOES_PLP) {
    vcs_cpu_set_status(cpu, b);
  } else {
    vcs_op_LDA(cpu, b);
  }
}

/* Whether a branch is taken. Branches come in pairs, for a clear and a set flag. */
VCS_HOT_FN bool vcs_lane_branches(const vcs_cpu_t *cpu, unsigned what) {
  const unsigned number = what - VCS_DOES_BPL;
  const bool flag = number < 2   ? vcs_cpu_is_negative(cpu)
                    : number < 4 ? cpu->v
                    : number < 6 ? cpu->c
                                 : vcs_cpu_is_zero(cpu);
  return flag == (number & 1);
}

/* Skips iterations of a waiting loop (run.h): its branch is taken now, and at least one more iteration follows, which
 * sets registers and flags. */
VCS_HOT_FN void vcs_lane_wait(vcs_lane_t *lane, const vcs_t *m, unsigned what) {
  vcs_cpu_t *cpu = &lane->cpu;
  const uint32_t allowed = (lane->left - 2) / 2;
  uint32_t turns, period = 5;
  if (what < VCS_DOES_DELAY_DEX_BNE) { /* waits for the timer, while it is in a range of values */
    const uint32_t least = what == VCS_DOES_WAIT_BNE ? 1 : what == VCS_DOES_WAIT_BPL ? 0 : 128;
    const uint32_t most = what == VCS_DOES_WAIT_BPL ? 127 : 255;
    period = 7;
    turns = vcs_turns_of_timer(m, lane->cycles, period, least, most);
    if (turns > allowed) turns = allowed;
  } else { /* counts a register down */
    const bool is_y = what == VCS_DOES_DELAY_DEY_BNE || what == VCS_DOES_DELAY_DEY_BPL;
    const uint8_t index = is_y ? cpu->y : cpu->x;
    turns = (uint8_t)(what < VCS_DOES_DELAY_DEX_BPL ? VCS_TURNS_BNE(index) : VCS_TURNS_BPL(index));
    if (turns > allowed) turns = allowed;
    if (is_y) {
      cpu->y = (uint8_t)(index - turns);
    } else {
      cpu->x = (uint8_t)(index - turns);
    }
  }
  lane->cycles += period * turns;
  lane->left -= 2 * turns;
}

VCS_HOT_FN bool vcs_lane_wait_is_taken(const vcs_cpu_t *cpu, unsigned what) {
  if (what == VCS_DOES_WAIT_BMI) return vcs_op_BMI(cpu);
  const bool by_sign = what == VCS_DOES_WAIT_BPL || what == VCS_DOES_DELAY_DEX_BPL || what == VCS_DOES_DELAY_DEY_BPL;
  return by_sign ? vcs_op_BPL(cpu) : vcs_op_BNE(cpu);
}

#if defined(VCS_LANES_RECORD)
/* Writes the tape row of the current instruction, which has read byte `b` at `place` or in its operand; a stored byte
 * is filled in later. */
VCS_HOT_FN void vcs_lane_note(const vcs_lane_t *lane, vcs_row_t *row, unsigned where, unsigned what, uint32_t base,
                              uint32_t place, uint8_t b) {
  const uint32_t offset = (uint32_t)(lane->at - lane->bank.code);
  const uint8_t *bytes = lane->bank.rom + offset;
  vcs_row_begin(row, &lane->cpu, lane->bank.start + offset, lane->cycles, *bytes);
  if (where == VCS_AT_NONE || what >= VCS_DOES_ASLA) return; /* no data, or the operation records it */
  row->value = b;
  if (where == VCS_AT_IMMEDIATE) return;
  if (where < VCS_AT_ROM) {
    row->addr = (uint16_t)(0x80 | place);
    row->old = b;
  } else if (where == VCS_AT_POINTER) {
    row->addr = (uint16_t)(base + lane->cpu.y);
  } else {
    row->addr = (uint16_t)(vcs_run_pointer(bytes + 1) + place - base);
  }
}
#endif

/* ---- Plain instructions ------------------------------------------------------------------------------------------ */

/* Executes the current instruction if it is plain; otherwise returns false without any change. */
VCS_HOT_FN bool vcs_lane_plain(const vcs_cart_t *cart, vcs_t *m, vcs_lane_t *lane, vcs_video_t *video) {
  vcs_cpu_t *cpu = &lane->cpu;
  const vcs_bank_t *bank = &lane->bank;
  const vcs_code_t code = lane->code;
  const unsigned where = code.row & 15, what = code.row >> VCS_WHAT_SHIFT & 63;
  if (VCS_NOT_PLAIN >> where & 1 || lane->left < 2) return false; /* the last instruction changes the bus */
  const vcs_code_t *next = lane->at + (code.row >> VCS_LENGTH_SHIFT);
  const vcs_code_t following = vcs_code_at(next); /* prefetched during this instruction */
  const uint32_t index = where & 2 ? cpu->y : where & 1 ? cpu->x : 0;
  uint32_t base = code.operand, place = base + index, more = 0;
  uint8_t b = (uint8_t)base;
  if (where >= VCS_AT_ROM) {
    if (where == VCS_AT_POINTER) {
      base = vcs_run_pointer(&m->ram[base]);
      place = base + index;
      if (!(place & 0x1000) || cart->hot_pages >> (place >> 6 & 63) & 1) return false;
      place &= bank->size - 1u;
    }
    b = bank->rom[place];
    more = ((base & 0xFF) + index) >> 8;
  } else if (where >= VCS_AT_RAM) {
    if (where != VCS_AT_RAM && !(place & 0x80)) return false;
    place &= 0x7F;
    b = m->ram[place];
  }

  bool taken = false, jumps = false;
  uint8_t value = 0;
  VCS_RECORDING(vcs_row_t row; if (lane->tape) vcs_lane_note(lane, &row, where, what, base, place, b);)
  switch (what) {
    VCS_READS(VCS_READ_CASE)
#define VCS_STORE_CASE(name) case VCS_DOES_##name:
    VCS_STORES(VCS_STORE_CASE)
    value = vcs_lane_stored(cpu, what);
    m->ram[place] = value;
    VCS_RECORDING(row.value = value;)
    break;
#define VCS_MODIFY_CASE(name)         \
  case VCS_DOES_##name:               \
    value = vcs_op_##name(cpu, b);    \
    m->ram[place] = value;            \
    VCS_RECORDING(row.value = value;) \
    break;
    VCS_MODIFIES(VCS_MODIFY_CASE)
#define VCS_IMPLIED_CASE(name)          \
  case VCS_DOES_##name:                 \
    vcs_do_##name(cart, m, cpu, video); \
    break;
    VCS_IMPLIEDS(VCS_IMPLIED_CASE)
#define VCS_BRANCH_CASE(name) case VCS_DOES_##name:
    VCS_BRANCHES(VCS_BRANCH_CASE)
    taken = vcs_lane_branches(cpu, what);
    break;
    case VCS_DOES_JMP: {
      const uint16_t offset = (uint16_t)(code.operand - bank->start);
      if (offset >= bank->size) return false;
      next = bank->code + offset;
      jumps = true;
      break;
    }
    case VCS_DOES_JSR: { /* while the stack is in RAM */
      const uint16_t offset = (uint16_t)(code.operand - bank->start);
      const uint16_t back = (uint16_t)(bank->start + (lane->at - bank->code) + 2);
      if (offset >= bank->size || cpu->sp < 0x81) return false;
      VCS_RECORDING(row.addr = (uint16_t)(0x100 + cpu->sp); row.old = m->ram[cpu->sp & 0x7F];
                    row.value = m->ram[(uint8_t)(cpu->sp - 1) & 0x7F];)
      m->ram[cpu->sp-- & 0x7F] = (uint8_t)(back >> 8);
      m->ram[cpu->sp-- & 0x7F] = (uint8_t)back;
      next = bank->code + offset;
      jumps = true;
      break;
    }
    case VCS_DOES_RTS: { /* also reads the byte before the return address */
      if (cpu->sp < 0x80 || cpu->sp > 0xFD) return false;
      const uint16_t back = vcs_run_pointer(&m->ram[(cpu->sp + 1) & 0x7F]), offset = (uint16_t)(back - bank->start);
      if (offset + 1u >= bank->size || vcs_code_is_hot(bank->code[offset])) return false;
      cpu->sp += 2;
      next = bank->code + offset + 1;
      jumps = true;
      break;
    }
#define VCS_STACK_CASE(name) case VCS_DOES_##name:
      VCS_PUSHES(VCS_STACK_CASE)
      if (cpu->sp < 0x80) return false;
      value = vcs_lane_stored(cpu, what);
      VCS_RECORDING(row.addr = (uint16_t)(0x100 + cpu->sp); row.old = m->ram[cpu->sp & 0x7F]; row.value = value;)
      m->ram[cpu->sp-- & 0x7F] = value;
      break;
      VCS_PULLS(VCS_STACK_CASE)
      if (cpu->sp < 0x80 || cpu->sp > 0xFE) return false;
      value = m->ram[++cpu->sp & 0x7F];
      VCS_RECORDING(row.addr = (uint16_t)(0x100 + cpu->sp); row.old = row.value = value;)
      vcs_lane_pulled(cpu, what, value);
      break;
    default: /* waiting loops */
      taken = vcs_lane_wait_is_taken(cpu, what);
      VCS_RECORDING(if (lane->tape) {
        if (taken && what == VCS_DOES_WAIT_BNE) {
          const uint32_t turns = vcs_tape_turns(lane->tape, m, lane->cycles, (lane->left - 2) / 2);
          lane->cycles += 7 * turns;
          lane->left -= 2 * turns;
          vcs_lane_note(lane, &row, where, what, base, place, b);
        }
        break;
      })
      if (taken) vcs_lane_wait(lane, m, what);
      break;
  }
  if (taken) {
    next = lane->at + (int16_t)code.operand;
    more = where == VCS_AT_IMMEDIATE ? 2 : 1;
    jumps = true;
  }
  lane->cycles += (code.row >> VCS_CYCLES_AT & 7) + 1 + more;
  lane->left--;
  lane->at = next;
  lane->code = following;
  if (jumps) lane->code = vcs_code_at(next);
  VCS_RECORDING(if (lane->tape) *lane->row++ = row;)
  return true;
}

/* ---- Other instructions ------------------------------------------------------------------------------------------ */

/* Executes one instruction over the bus on the registers in m; returns whether it ends the frame. */
VCS_SLOW_FN bool vcs_lane_step_cpu(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video) {
  bool over;
  vcs_cpu_step(cart, m, video, &over);
  return over;
}

VCS_HOT_FN void vcs_lane_step(const vcs_cart_t *cart, vcs_t *m, vcs_lane_t *lane, vcs_video_t *video) {
  vcs_lane_store(lane, m);
  lane->over = vcs_lane_step_cpu(cart, m, video);
  vcs_lane_load(lane, m);
  lane->left--;
  lane->stands = m->jammed || !lane->left;
}

VCS_HOT_FN void vcs_lane_wsync(vcs_t *m, vcs_lane_t *lane, vcs_video_t *video) {
  const uint16_t opcode = lane->code.operand;
  lane->left--;
  vcs_lane_go(lane, lane->at + 2);
  m->cycles = lane->cycles + 3;
  lane->over = vcs_bus_write_wsync(m, video) != 0;
  lane->cycles = m->cycles;
  if (lane->over) m->bus = opcode == VCS_STY_ZP ? lane->cpu.y : opcode == VCS_STA_ZP ? lane->cpu.a : lane->cpu.x;
}

/* Stores to the TIA in one call instead of three over the bus. */
VCS_SLOW_FN bool vcs_lane_write_tia(vcs_t *m, vcs_video_t *video, unsigned r, uint8_t value) {
  return vcs_tia_write_this(m, video, r, value);
}

/* Reads an address; `bus` is the previous byte on the bus. */
VCS_HOT_FN uint8_t vcs_lane_get(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t bus,
                                unsigned *stop) {
  if (addr & 0x1000) {
    if (cart->hot_pages >> (addr >> 6 & 63) & 1) *stop = VCS_STOP_BANKS;
    return vcs_cart_read(cart, m, addr);
  }
  if ((addr & 0x280) == 0x80) return m->ram[addr & 0x7F];
  if (cart->snoops) *stop = VCS_STOP_BANKS;
  return vcs_bus_read_chip(cart, m, video, addr, bus);
}

/* Writes to an address; returns a set of VCS_STOP_... */
VCS_HOT_FN unsigned vcs_lane_put(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint16_t addr, uint8_t value,
                                 bool snoops) {
  if ((addr & 0x1280) == 0x80) {
    m->ram[addr & 0x7F] = value;
    return 0;
  }
  if (addr & 0x1080 || snoops) return vcs_bus_write_chip(cart, m, video, addr, value, true);
  return vcs_lane_write_tia(m, video, addr & 63, value) ? VCS_STOP_FRAME : 0;
}

/* Executes an access to any address. Undriven bits of a read are those of the last byte of the instruction, or of its
 * pointer. Programs also push to the TIA and pull from it; a pull spends a bus cycle on the old top of the stack. */
VCS_HOT_FN void vcs_lane_access(const vcs_cart_t *cart, vcs_t *m, vcs_lane_t *lane, vcs_video_t *video, bool snoops) {
  vcs_cpu_t *cpu = &lane->cpu;
  const vcs_code_t code = lane->code;
  const unsigned where = code.row & 15, what = code.row >> VCS_WHAT_SHIFT & 63, length = code.row >> VCS_LENGTH_SHIFT;
  const bool pointer = (where | 4) == VCS_AT_BUS_POINTER, zero_page = where >> 2 == VCS_AT_RAM >> 2;
  const uint32_t index = where & 2 ? cpu->y : where & 1 ? cpu->x : 0;
  const uint16_t base = pointer ? vcs_run_pointer(&m->ram[code.operand]) : code.operand;
  uint16_t addr = (uint16_t)(zero_page ? (uint8_t)(base + index) : base + index);
  const bool reads = what < VCS_DOES_STA, pushes = what == VCS_DOES_PHA || what == VCS_DOES_PHP;
  const bool pulls = what == VCS_DOES_PLA || what == VCS_DOES_PLP;
  unsigned stop = 0;
  lane->cycles += (code.row >> VCS_CYCLES_AT & 7) + 1;
  if (reads && !zero_page) lane->cycles += ((base & 0xFF) + index) >> 8;
  lane->left--;
  vcs_lane_go(lane, lane->at + length);
  m->cycles = lane->cycles;
  if (reads || pulls) {
    uint8_t bus = (uint8_t)(zero_page || (length == 2 && !pointer) ? base : base >> 8);
    if (pulls) {
      bus = vcs_lane_get(cart, m, video, 0x100 + cpu->sp, what == VCS_DOES_PLA ? VCS_PLA : VCS_PLP, &stop);
      addr = 0x100 + ++cpu->sp;
    }
    const uint8_t b = vcs_lane_get(cart, m, video, addr, bus, &stop);
    if (pulls) {
      vcs_lane_pulled(cpu, what, b);
    } else {
      vcs_lane_read(cpu, what, b);
    }
  } else {
    const uint8_t value = vcs_lane_stored(cpu, what);
    if (pushes) addr = 0x100 + cpu->sp--;
    stop = vcs_lane_put(cart, m, video, addr, value, snoops);
    lane->cycles = m->cycles;
    if (stop) m->bus = value;
  }
  lane->over = stop & VCS_STOP_FRAME;
  if (stop) vcs_lane_leave(lane, vcs_lane_pc(lane));
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

/* Prepares a lane for the first instruction of a frame. A lane that is not `playing` executes nothing in the frame. */
VCS_FN void vcs_lane_begin(vcs_lane_t *lane, bool playing) {
  memset(&lane->cpu, 0, sizeof lane->cpu);
  lane->cycles = 0;
  lane->bank.code = lane->at = NULL;
  lane->bank.rom = NULL;
  lane->bank.start = lane->bank.size = 0;
  lane->code.row = lane->code.operand = 0;
  lane->left = VCS_FRAME_INSTRUCTIONS;
  lane->over = lane->stands = !playing;
  lane->until = 0;
}

/* Runs the instructions of a frame, like vcs_cpu_run, for those of the `lanes` that are `playing`; all lanes call it
 * together. A single lane does not wait and has one epoch. Returns the number of instructions that core/cpu.h executed:
 * few, unless the program has crashed. */
VCS_SLOW_FN uint32_t vcs_run_together(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, bool playing,
                                      unsigned lanes) {
  const uint32_t epoch = lanes == VCS_THIS_LANE ? 1u << 30 : (uint32_t)VCS_LINE_CYCLES;
  const bool snoops = cart->snoops;
  uint32_t steps = 0;
  vcs_lane_t lane;
  vcs_lane_begin(&lane, playing);
  VCS_RECORDING(lane.tape = NULL;)
  if (playing) {
    vcs_lane_load(&lane, m);
    lane.stands = m->jammed;
    lane.until = lane.cycles - lane.cycles % VCS_LINE_CYCLES;
  }
  while (VCS_ANY_LANE(lanes, vcs_lane_goes(&lane))) {
    lane.until += epoch;
    while (vcs_lane_goes(&lane) && (int32_t)(lane.until - lane.cycles) > 0) {
      if (!lane.known) vcs_lane_find(cart, m, &lane);
      bool plain = lane.known;
      while (plain && (int32_t)(lane.until - lane.cycles) > 0) plain = vcs_lane_plain(cart, m, &lane, video);
      if (plain) break;
      const unsigned row = lane.known && lane.left > 1 ? lane.code.row : (unsigned)VCS_AT_STEP;
      const unsigned where = row & 15, what = row >> VCS_WHAT_SHIFT & 63;
      if (where == VCS_AT_WSYNC) {
        vcs_lane_wsync(m, &lane, video);
      } else if (where != VCS_AT_STEP && what <= VCS_DOES_PLP) {
        vcs_lane_access(cart, m, &lane, video, snoops);
      } else {
        vcs_lane_step(cart, m, &lane, video);
        steps++;
      }
    }
    VCS_JOIN_LANES(lanes);
  }
  if (!playing) return 0;
  vcs_lane_store(&lane, m);
  m->instructions += VCS_FRAME_INSTRUCTIONS - lane.left;
  if (lane.over) m->partial = 0;
  return steps;
}

/* Runs a frame. The caller provides `video`, so that it can choose its memory: it is accessed as often as the machine.
 * Returns the result of vcs_run_together. */
VCS_FN uint32_t vcs_frame_together(const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, uint8_t *frames, bool playing,
                                   unsigned lanes) {
  if (playing) {
    vcs_video_start(video, cart, frames);
    vcs_console_start_frame(cart, m);
  }
  const uint32_t steps = vcs_run_together(cart, m, video, playing, lanes);
  if (playing) vcs_console_finish_frame(cart, m, video);
  return steps;
}

#endif
