/* native_accesses.h: reads, writes and stores to the TIA as host code.
 *
 * When an instruction is compiled, its bytes tell what its address can be. A byte of ROM becomes a constant, a byte of
 * RAM one load or store. The code tests an indexed address for RAM or plain ROM; all other accesses are calls out of
 * line, which return to the code after the access:
 *
 *     LDA $80,X      lea   eax, [r14 + 0x80]
 *                    movzx eax, al
 *                    test  al, al
 *                    jns   call read        a register of a chip
 *                    movzx r13d, byte [rbx + rax + RAM]
 *
 * A store to a register of the TIA notes its time and compares the register; only a store that changes the register is
 * a call (asleep_run.h).
 */
#ifndef VCS_HOST_NATIVE_ACCESSES_H
#define VCS_HOST_NATIVE_ACCESSES_H

#include "host/native_operations.h"

static int index_register(int mode) {
  return mode == VCS_MODE_ABX || mode == VCS_MODE_ZPX || mode == VCS_MODE_IZX ? X : Y;
}

/* Adds a cycle if base + index is on another page: bit 8 of `r`, which is overwritten. */
static void add_crossing(unit_t *u, int r) {
  x86_do_constant(&u->x, 32, X86_AND, x86_register(r), 0x100);
  x86_shift(&u->x, X86_SHL, r, VCS_CYCLES_SHIFT - 8);
  x86_do(&u->x, 64, X86_ADD, TIME, x86_register(r));
}

/* Whether a read that is a call can stop the CPU, because the address may be a hot spot. */
static bool may_stop(const instruction_t *i) {
  switch (i->fact.mode) {
    case VCS_MODE_IMM:
    case VCS_MODE_ZP:
    case VCS_MODE_ZPX:
    case VCS_MODE_ZPY:
      return false;
    case VCS_MODE_ABS:
      return i->second && i->word & 0x1000;
    case VCS_MODE_ABX:
    case VCS_MODE_ABY:
      return i->second;
    default:
      return true;
  }
}

/* Calls `read` for the address in a register, executes the operation, and leaves the code if the access has stopped the
 * CPU. */
static void read_by_call(unit_t *u, const instruction_t *i, uint32_t at, int reg) {
  x86_t *x = &u->x;
  if (i->fact.mode == VCS_MODE_IZY) {
    x86_load_short(x, 8, RCX, x86_memory(M, RAM + i->word + 1));
  } else if (i->fact.mode == VCS_MODE_IZX) {
    x86_load(x, 32, RCX, x86_register(reg));
    x86_shift(x, X86_SHR, RCX, 8);
  } else {
    x86_load_constant(x, RCX, i->length == 3 ? i->word >> 8 : i->word);
  }
  if (reg != RSI) x86_load(x, 32, RSI, x86_register(reg));
  x86_address(x, 64, RDX, x86_memory(TIME, (int32_t)u->known.pending));
  CALL(u, read);
  x86_load_short(x, 8, RAX, x86_register(RAX));
  u->looks = may_stop(i);
  do_read(u, i->fact.operation, (source_t){.place = x86_register(RAX)}, at + i->length);
  u->looks = false;
  if (may_stop(i)) {
    x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.stop), 0);
    leave_by(u, x86_jump_if(x, X86_NZ), &u->known, pc_of(u, at + i->length), VCS_NATIVE_LEFT);
    clobber(u);
  }
}

static void do_read_instruction(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  const uint32_t next = at + i->length;
  const known_t before = u->known;
  const int index = index_register(i->fact.mode);
  if ((i->fact.operation == DO_ADC || i->fact.operation == DO_SBC) && !u->known.binary) {
    x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.d), 0);
    leave_by(u, x86_jump_if(x, X86_NZ), &before, pc_of(u, at), VCS_NATIVE_STEP);
    clobber(u);
    u->known.binary = true;
  }
  u->known.pending += (uint32_t)VCS_COST(i->fact.cycles);
  source_t from = {.constant = true, .value = (uint8_t)i->word};
  int reg = RAX, reach;
  size_t jump[JUMPS_MOST] = {0};
  switch (i->fact.mode) {
    case VCS_MODE_IMM:
      break;
    case VCS_MODE_ZP:
    case VCS_MODE_ABS:
      switch (where(u, i)) {
        case IN_CODE:
          from.value = *known_rom(u, i, 0);
          break;
        case IN_RAM:
          from = (source_t){.place = x86_memory(M, RAM + (i->word & 0x7F) + 0x80)};
          break;
        case IN_PORT:
          from = (source_t){.place = i->word & 2 ? IN_M(swchb) : IN_M(swcha)};
          break;
        default:
          x86_load_constant(x, RSI, i->word);
          read_by_call(u, i, at, RSI);
          return;
      }
      break;
    case VCS_MODE_ZPX:
    case VCS_MODE_ZPY:
      x86_address(x, 32, RAX, x86_memory(index, i->word));
      x86_load_short(x, 8, RAX, x86_register(RAX));
      x86_test(x, 8, RAX, RAX);
      clobber(u);
      jump[0] = x86_jump_if(x, X86_NS);
      from = (source_t){.place = x86_indexed(M, RAX, RAM)};
      break;
    case VCS_MODE_ABX:
    case VCS_MODE_ABY:
      if (i->word & 0xFF) {
        x86_address(x, 32, RAX, x86_memory(index, i->word & 0xFF));
        add_crossing(u, RAX);
        clobber(u);
      }
      reach = reach_of_rom(u, i);
      if (reach >= 0 && reach < 255) { /* a larger index finds a hot spot, or another bank */
        reg = RSI;
        x86_address(x, 32, RSI, x86_memory(index, i->word));
        x86_load_short(x, 16, RSI, x86_register(RSI));
        x86_do_constant(x, 32, X86_CMP, x86_register(index), reach);
        clobber(u);
        jump[0] = x86_jump_if(x, X86_A);
      }
      if (reach >= 0 && known_rom(u, i, (uint32_t)reach)) {
        x86_load_constant(x, RDX, (uint64_t)(uintptr_t)known_rom(u, i, (uint32_t)reach));
        from = (source_t){.place = x86_indexed(RDX, index, 0)};
        break;
      }
      if (reach >= 0) { /* of a slice */
        x86_load(x, 32, RAX, x86_memory(M, (int32_t)offsetof(vcs_t, bank) + 4 * (i->word >> 10 & 3)));
        x86_load_constant(x, RDX, (uint64_t)(uintptr_t)(u->cart->rom + (i->word & 0x3FF)));
        x86_do(x, 64, X86_ADD, RAX, x86_register(index));
        clobber(u);
        from = (source_t){.place = x86_indexed(RDX, RAX, 0)};
        break;
      }
      x86_address(x, 32, RAX, x86_memory(index, i->word));
      x86_load_short(x, 16, RAX, x86_register(RAX));
      if (i->word & 0x1000) {
        read_by_call(u, i, at, RAX);
        return;
      }
      x86_load(x, 32, RCX, x86_register(RAX));
      x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0x1280);
      x86_do_constant(x, 32, X86_CMP, x86_register(RCX), 0x80);
      jump[0] = x86_jump_if(x, X86_NZ);
      x86_do_constant(x, 32, X86_AND, x86_register(RAX), 0x7F);
      from = (source_t){.place = x86_indexed(M, RAX, RAM + 0x80)};
      break;
    case VCS_MODE_IZY:
      reg = RDX;
      x86_load_short(x, 16, RAX, x86_memory(M, RAM + i->word));
      x86_address(x, 32, RDX, x86_indexed(RAX, Y, 0));
      x86_do(x, 32, X86_XOR, RAX, x86_register(RDX));
      add_crossing(u, RAX);
      clobber(u);
      x86_load_short(x, 16, RDX, x86_register(RDX));
      x86_test_constant(x, 32, x86_register(RDX), 0x1000);
      jump[0] = x86_jump_if(x, X86_Z);
      if (u->cart->scheme == VCS_SCHEME_FE) { /* A13 chooses the bank (vcs_cart_fe_bank) */
        x86_load(x, 32, RCX, x86_register(RDX));
        x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0x2000);
        x86_shift(x, X86_SHR, RCX, 1);
        x86_do_constant(x, 32, X86_AND, x86_register(RDX), 0x1FFF);
        x86_do(x, 32, X86_SUB, RDX, x86_register(RCX));
        x86_load_constant(x, RAX, (uint64_t)(uintptr_t)u->cart->rom);
        from = (source_t){.place = x86_indexed(RAX, RDX, 0)};
        break;
      }
      if (u->cart->hot_pages) {
        const hot_t hot = hot_of(u->cart);
        x86_address(x, 32, RCX, x86_memory(RDX, -(int32_t)hot.first));
        x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0xFFF);
        x86_do_constant(x, 32, X86_CMP, x86_register(RCX), (int32_t)hot.count);
        jump[1] = x86_jump_if(x, X86_C);
      }
      if (i->second) { /* any bank may be in the slice */
        x86_load(x, 32, RCX, x86_register(RDX));
        x86_shift(x, X86_SHR, RCX, 8);
        x86_do_constant(x, 32, X86_AND, x86_register(RCX), 3 * sizeof(uint32_t));
        x86_do_constant(x, 32, X86_AND, x86_register(RDX), 0x3FF);
        x86_do(x, 32, X86_ADD, RDX, x86_indexed(M, RCX, (int32_t)offsetof(vcs_t, bank)));
        x86_load_constant(x, RAX, (uint64_t)(uintptr_t)u->cart->rom);
      } else {
        x86_do_constant(x, 32, X86_AND, x86_register(RDX), (int32_t)u->size - 1);
        x86_load_constant(x, RAX, (uint64_t)(uintptr_t)(u->cart->rom + u->place->base));
      }
      from = (source_t){.place = x86_indexed(RAX, RDX, 0)};
      break;
    case VCS_MODE_IZX:
      x86_address(x, 32, RAX, x86_memory(X, i->word));
      x86_load_short(x, 8, RAX, x86_register(RAX));
      x86_address(x, 32, RCX, x86_memory(RAX, -0x80));
      x86_do_constant(x, 32, X86_CMP, x86_register(RCX), 0x7F);
      leave_by(u, x86_jump_if(x, X86_NC), &before, pc_of(u, at), VCS_NATIVE_STEP);
      x86_load_short(x, 16, RAX, x86_indexed(M, RAX, RAM));
      clobber(u);
      read_by_call(u, i, at, RAX);
      return;
    default:
      x->full = true;
      return;
  }
  const known_t at_access = u->known;
  u->looks = jump[0] && may_stop(i);
  do_read(u, i->fact.operation, from, next);
  if (u->looks) clobber(u);
  u->looks = false;
  if (jump[0]) call_out_of_line(u, jump, &at_access, at, reg);
}

static int stored_register(int operation) { return operation == DO_STA ? A : operation == DO_STX ? X : Y; }

/* Calls `write` for an address in a register. */
static void write_by_call(unit_t *u, const instruction_t *i, uint32_t at, int reg) {
  x86_t *x = &u->x;
  settle_time(u);
  if (i->fact.operation == DO_PHA) {
    x86_address(x, 32, RSI, x86_memory(reg, 0x100));
  } else if (reg != RSI) {
    x86_load(x, 32, RSI, x86_register(reg));
  }
  x86_load(x, 64, RDX, x86_register(TIME));
  x86_load(x, 32, RCX, x86_register(i->fact.operation == DO_PHA ? A : stored_register(i->fact.operation)));
  CALL(u, write);
  x86_load(x, 64, TIME, x86_register(RAX));
  if (i->fact.operation == DO_PHA) x86_count(x, true, IN_RUN(cpu.sp));
  x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.stop), 0);
  leave_by(u, x86_jump_if(x, X86_NZ), &u->known, pc_of(u, at + i->length), VCS_NATIVE_LEFT);
}

/* Notes an access to the TIA that comes before `wake`. Returns the jump for other accesses; *again is where these
 * continue if vcs_asleep_after_hmove returns true. */
static size_t note(unit_t *u, unsigned r, size_t *again) {
  x86_t *x = &u->x;
  x86_do(x, 64, X86_CMP, TIME, IN_RUN(asleep.wake));
  clobber(u);
  const size_t jump = x86_jump_if(x, X86_NC);
  *again = x->used;
  x86_store(x, 64, IN_RUN(asleep.last), TIME);
  x86_store_constant(x, 8, IN_RUN(asleep.last_register), r);
  return jump;
}

/* A store to a register of the TIA for which asleep.c has a function. If the register keeps its value, the store is
 * only noted; the conditions are those of store() in asleep.c. */
static void store_tia(unit_t *u, uint32_t at, unsigned r, int value) {
  x86_t *x = &u->x;
  size_t offset = 0, kept = 0;
  unsigned mask = 0xFF;
  switch (r) {
    case VCS_COLUP0_W:
    case VCS_COLUP1_W:
    case VCS_COLUPF_W:
    case VCS_COLUBK_W:
      if (!u->cart->colour_loss) offset = offsetof(vcs_t, colu) + vcs_colour_index(r - VCS_COLUP0_W);
      mask = 0xFE;
      break;
    case VCS_PF0:
    case VCS_PF1:
    case VCS_PF2:
      offset = offsetof(vcs_t, pf) + (r - VCS_PF0);
      break;
    case VCS_GRP0:
    case VCS_GRP1:
      offset = offsetof(vcs_t, grp) + (r - VCS_GRP0);
      break;
    case VCS_ENAM0:
    case VCS_ENAM1:
      offset = offsetof(vcs_t, enam) + (r - VCS_ENAM0);
      mask = 2;
      break;
    case VCS_ENABL:
      offset = offsetof(vcs_t, enabl);
      mask = 2;
      break;
    case VCS_REFP0:
    case VCS_REFP1:
      offset = offsetof(vcs_t, reflect) + (r - VCS_REFP0);
      mask = 8;
      break;
    case VCS_VDELP0:
    case VCS_VDELP1:
      offset = offsetof(vcs_t, vdelp) + (r - VCS_VDELP0);
      mask = 1;
      break;
    case VCS_HMP0:
    case VCS_HMP1:
    case VCS_HMM1:
    case VCS_HMBL:
      kept = offsetof(vcs_t, hm) + (r - VCS_HMP0);
      break;
    default:
      break;
  }
  size_t awake[JUMPS_MOST] = {0}, changes[JUMPS_MOST] = {0}, again = 0;
  int reg = value, jumps = 0;
  settle_time(u);
  if (kept) {
    awake[0] = note(u, r, &again);
    x86_load(x, 32, RAX, x86_register(value));
    x86_shift(x, X86_SHR, RAX, 4);
    x86_store(x, 8, tia(kept), RAX);
  } else if (offset) {
    awake[0] = note(u, r, &again);
    if (mask != 0xFF) {
      reg = RAX;
      x86_load(x, 32, RAX, x86_register(value));
      x86_do_constant(x, 32, X86_AND, x86_register(RAX), (int32_t)mask);
    }
    x86_do(x, 8, X86_CMP, reg, tia(offset));
    changes[jumps++] = x86_jump_if(x, X86_NZ);
    if (r == VCS_GRP0 || r == VCS_GRP1) { /* the graphics that it latches */
      const size_t other = r == VCS_GRP0;
      x86_load_short(x, 8, RAX, tia(offsetof(vcs_t, grp) + other));
      x86_do(x, 8, X86_CMP, RAX, tia(offsetof(vcs_t, grp_old) + other));
      changes[jumps++] = x86_jump_if(x, X86_NZ);
    }
    if (r == VCS_GRP1) {
      x86_load_short(x, 8, RAX, IN_M(enabl));
      x86_do(x, 8, X86_CMP, RAX, IN_M(enabl_old));
      changes[jumps++] = x86_jump_if(x, X86_NZ);
    }
  } else if (r == VCS_CTRLPF) { /* it keeps its value, and this line already has its mirror bit */
    awake[0] = note(u, r, &again);
    x86_load(x, 32, RAX, x86_register(value));
    x86_do(x, 8, X86_CMP, RAX, IN_M(ctrlpf));
    changes[jumps++] = x86_jump_if(x, X86_NZ);
    x86_do(x, 8, X86_XOR, RAX, IN_M(pf_mirrored));
    x86_test_constant(x, 8, x86_register(RAX), 1);
    changes[jumps++] = x86_jump_if(x, X86_NZ);
  } else if (r == VCS_HMCLR) {
    _Static_assert(sizeof(((vcs_t *)0)->hm) == 5, "five objects move");
    awake[0] = note(u, r, &again);
    x86_store_constant(x, 32, tia(offsetof(vcs_t, hm)), 0);
    x86_store_constant(x, 8, tia(offsetof(vcs_t, hm) + 4), 0);
  } else if (r == VCS_HMOVE) {
    x86_do(x, 64, X86_CMP, TIME, IN_RUN(asleep.wake));
    awake[0] = x86_jump_if(x, X86_NC);
    again = x->used;
    x86_load(x, 64, RSI, x86_register(RUN));
    x86_load(x, 64, RDX, x86_register(TIME));
    call_with(u, M, (uint64_t)(uintptr_t)vcs_native_calls.hmove);
    x86_test(x, 8, RAX, RAX);
    changes[0] = x86_jump_if(x, X86_Z);
  } else {
    awake[0] = x86_jump(x);
  }
  clobber(u);
  call_out_of_line(u, awake, &u->known, at, X86_NONE)->again = again;
  if (changes[0]) call_out_of_line(u, changes, &u->known, at, reg)->change = vcs_native_calls.change[r] != NULL;
}

/* A store to WSYNC: the time becomes that of the end of the line. */
static void store_wsync(unit_t *u, uint32_t at) {
  x86_t *x = &u->x;
  size_t jump[JUMPS_MOST] = {0}, again;
  settle_time(u);
  jump[0] = note(u, VCS_WSYNC, &again);
  x86_do(x, 64, X86_CMP, TIME, IN_RUN(asleep.line_end));
  jump[1] = x86_jump_if(x, X86_A);
  x86_do_constant(x, 64, X86_OR, x86_register(TIME), -(VCS_COUNT_MASK + 1)); /* the count stays */
  x86_do(x, 64, X86_AND, TIME, IN_RUN(asleep.line_end));
  x86_do_constant(x, 64, X86_ADD, IN_RUN(asleep.line_end), (int32_t)VCS_CYCLES(VCS_LINE_CYCLES));
  clobber(u);
  call_out_of_line(u, jump, &u->known, at, X86_NONE);
}

static unsigned tia_register(const instruction_t *i) {
  return (i->row == VCS_ROW_WSYNC || i->row > VCS_ROW_DELAY_DEY_BPL) ? i->word & 63u : 64u;
}

static void do_write_instruction(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  const int value = stored_register(i->fact.operation), index = index_register(i->fact.mode);
  size_t jump[JUMPS_MOST] = {0};
  u->known.pending += (uint32_t)VCS_COST(i->fact.cycles);
  if (i->row == VCS_ROW_WSYNC) {
    store_wsync(u, at);
    return;
  }
  if (tia_register(i) < 64) {
    store_tia(u, at, tia_register(i), value);
    return;
  }
  switch (i->fact.mode) {
    case VCS_MODE_ZP:
    case VCS_MODE_ABS:
      if (where(u, i) == IN_RAM) {
        x86_store(x, 8, x86_memory(M, RAM + (i->word & 0x7F) + 0x80), value);
        return;
      }
      x86_load_constant(x, RSI, i->word);
      write_by_call(u, i, at, RSI);
      return;
    case VCS_MODE_ZPX:
    case VCS_MODE_ZPY:
      settle_time(u);
      x86_address(x, 32, RAX, x86_memory(index, i->word));
      x86_load_short(x, 8, RAX, x86_register(RAX));
      x86_test(x, 8, RAX, RAX);
      clobber(u);
      jump[0] = x86_jump_if(x, X86_NS);
      x86_store(x, 8, x86_indexed(M, RAX, RAM), value);
      break;
    case VCS_MODE_ABX:
    case VCS_MODE_ABY:
    case VCS_MODE_IZY:
      settle_time(u);
      if (i->fact.mode == VCS_MODE_IZY) {
        x86_load_short(x, 16, RAX, x86_memory(M, RAM + i->word));
        x86_address(x, 32, RAX, x86_indexed(RAX, Y, 0));
      } else {
        x86_address(x, 32, RAX, x86_memory(index, i->word));
      }
      x86_load_short(x, 16, RAX, x86_register(RAX));
      x86_load(x, 32, RCX, x86_register(RAX));
      x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0x1280);
      x86_do_constant(x, 32, X86_CMP, x86_register(RCX), 0x80);
      clobber(u);
      jump[0] = x86_jump_if(x, X86_NZ);
      x86_do_constant(x, 32, X86_AND, x86_register(RAX), 0x7F);
      x86_store(x, 8, x86_indexed(M, RAX, RAM + 0x80), value);
      break;
    default:
      x->full = true;
      return;
  }
  call_out_of_line(u, jump, &u->known, at, RAX);
}

static void do_modify_instruction(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  if (i->fact.mode == VCS_MODE_ZP) {
    u->known.pending += (uint32_t)VCS_COST(i->fact.cycles);
    do_modify(u, i->fact.operation, x86_memory(M, RAM + i->word), FLAGS_STORED, at + i->length);
    return;
  }
  x86_address(x, 32, RDX, x86_memory(X, i->word));
  x86_load_short(x, 8, RDX, x86_register(RDX));
  x86_test(x, 8, RDX, RDX);
  leave_by(u, x86_jump_if(x, X86_NS), &u->known, pc_of(u, at), VCS_NATIVE_STEP);
  clobber(u);
  u->known.pending += (uint32_t)VCS_COST(i->fact.cycles);
  do_modify(u, i->fact.operation, x86_indexed(M, RDX, RAM), FLAGS_STORED, at + i->length);
}

/* Writes the code of a call out of line. */
static void write_call(unit_t *u, const call_t *c) {
  x86_t *x = &u->x;
  const instruction_t i = instruction_at(u, c->at);
  const unsigned r = tia_register(&i);
  u->known = c->known;
  for (int k = 0; k < JUMPS_MOST && c->jump[k]; k++) x86_land(x, c->jump[k], x->used);
  if (i.fact.access == VCS_ACCESS_READ) {
    read_by_call(u, &i, c->at, c->reg);
  } else if (i.fact.operation == DO_PHP) {
    settle_flags(u, VCS_OF_NZC);
    x86_load(x, 64, RSI, x86_register(TIME));
    CALL(u, push_status);
    x86_load(x, 64, TIME, x86_register(RAX));
    x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.stop), 0);
    leave_by(u, x86_jump_if(x, X86_NZ), &u->known, pc_of(u, c->at + 1u), VCS_NATIVE_LEFT);
  } else if (i.fact.operation == DO_PLA) {
    x86_address(x, 64, RSI, x86_memory(TIME, (int32_t)u->known.pending));
    CALL(u, pull);
    x86_load(x, 32, A, x86_register(RAX));
  } else if (r == VCS_WSYNC) {
    x86_load(x, 64, RSI, x86_register(TIME));
    x86_load(x, 32, RDX, x86_register(stored_register(i.fact.operation)));
    CALL(u, wait_line);
    x86_load(x, 64, TIME, x86_register(RAX));
    x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.stop), 0);
    leave_by(u, x86_jump_if(x, X86_NZ), &u->known, pc_of(u, c->at + 2u), VCS_NATIVE_LEFT);
  } else if (c->change) {
    const unsigned place = r >= VCS_PF0 && r <= VCS_PF2             ? r - VCS_PF0
                           : r == VCS_ENAM0 || r == VCS_ENAM1       ? r - VCS_ENAM0
                           : r == VCS_REFP0 || r == VCS_REFP1       ? r - VCS_REFP0
                           : r == VCS_VDELP0 || r == VCS_VDELP1     ? r - VCS_VDELP0
                           : r >= VCS_COLUP0_W && r <= VCS_COLUBK_W ? vcs_colour_index(r - VCS_COLUP0_W)
                                                                    : 0;
    x86_load(x, 64, RSI, x86_register(RUN));
    x86_load(x, 32, RDX, x86_register(c->reg));
    x86_load_constant(x, RCX, place);
    call_with(u, M, (uint64_t)(uintptr_t)vcs_native_calls.change[r]);
  } else if (r < 64) {
    if (c->again) {
      x86_load(x, 64, RSI, x86_register(RUN));
      x86_load(x, 64, RDX, x86_register(TIME));
      x86_load_constant(x, RCX, r);
      call_with(u, M, (uint64_t)(uintptr_t)vcs_native_calls.after_hmove);
      x86_test(x, 8, RAX, RAX);
      x86_land(x, x86_jump_if(x, X86_NZ), c->again);
    }
    x86_load(x, 32, RSI, x86_register(stored_register(i.fact.operation)));
    x86_load(x, 64, RDX, x86_register(TIME));
    CALL(u, store[r]);
    x86_test(x, 32, RAX, RAX);
    leave_by(u, x86_jump_if(x, X86_NZ), &u->known, pc_of(u, c->at + 2u), VCS_NATIVE_LEFT);
  } else {
    write_by_call(u, &i, c->at, c->reg);
  }
  x86_land(x, x86_jump(x), c->back);
}

#endif
