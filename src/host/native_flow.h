/* native_flow.h: the stack, jumps and branches as host code.
 *
 * A branch or jump within its bank becomes a jump of the host to an entry; before it, the time and the flags that are
 * needed at the entry are stored. A jump backwards also compares the time with the limit. Returns and jumps through
 * pointers look their target up in the table of the bank. The code expects the stack in RAM.
 */
#ifndef VCS_HOST_NATIVE_FLOW_H
#define VCS_HOST_NATIVE_FLOW_H

#include "host/native_accesses.h"

static int test_flag(unit_t *u, unsigned flag);

/* Jumps to the code of the offset in the bank that is in RCX; leaves if that offset has no code. */
static void jump_by_table(unit_t *u, const known_t *before, uint32_t at, int32_t further, int how) {
  x86_t *x = &u->x;
  x86_do_constant(x, 32, X86_CMP, x86_register(RCX), (int32_t)u->size - further);
  leave_by(u, x86_jump_if(x, X86_NC), before, pc_of(u, at), how);
  x86_do(x, 64, X86_CMP, TIME, IN_RUN(limit));
  leave_by(u, x86_jump_if(x, X86_NC), before, pc_of(u, at), how);
  x86_load_constant(x, RDX, (uint64_t)(uintptr_t)(u->place->entry + further));
  x86_shift(x, X86_SHL, RCX, 2);
  x86_load(x, 32, RAX, x86_indexed(RDX, RCX, 0));
  x86_test(x, 32, RAX, RAX);
  leave_by(u, x86_jump_if(x, X86_Z), before, pc_of(u, at), how);
  x86_load_constant(x, RDX, (uint64_t)(uintptr_t)u->native->pages);
  x86_do(x, 64, X86_ADD, RAX, x86_register(RDX));
}

/* Jumps to an entry, after storing the flags that are needed there. */
static void go_to(unit_t *u, uint32_t to, bool back) {
  x86_t *x = &u->x;
  settle_time(u);
  settle_flags(u, needed(u, to, VCS_OF_NZC));
  if (back) {
    known_t there = u->known;
    there.nz = FLAGS_STORED;
    there.c = CARRY_STORED;
    x86_do(x, 64, X86_CMP, TIME, IN_RUN(limit));
    leave_by(u, x86_jump_if(x, X86_NC), &there, pc_of(u, to), VCS_NATIVE_LEFT);
  }
  link_to(u, x86_jump(x), to);
}

/* Jumps to the operand of a jump or call, which may be in another bank. */
static void go_to_operand(unit_t *u, const instruction_t *i, uint32_t at) {
  const uint32_t to = jump_target(u, i);
  if (to < u->size) {
    go_to(u, to, to <= at);
  } else { /* there may be no ROM, and the next fetch reads the last byte on the bus */
    x86_store_constant(&u->x, 8, IN_M(bus), i->word >> 8);
    leave_by(u, x86_jump(&u->x), &u->known, i->word, VCS_NATIVE_LEFT);
  }
}

/* PHP. Programs use it to turn a missile or the ball on and off by Z, with the stack pointer at ENAM0, ENAM1 or ENABL.
 * If the register keeps its value, the store is only noted. */
VCS_ASSERT(offsetof(vcs_t, enabl) == offsetof(vcs_t, enam) + 2 && VCS_ENABL == VCS_ENAM0 + 2, "three in a row");
static void push_status(unit_t *u, uint32_t at) {
  x86_t *x = &u->x;
  size_t jump[JUMPS_MOST];
  settle_time(u);
  x86_set(x, test_flag(u, VCS_OF_Z), x86_register(RDX));
  x86_load_short(x, 8, RDX, x86_register(RDX));
  x86_address(x, 32, RDX, x86_indexed(RDX, RDX, 0));
  x86_load_short(x, 8, RAX, IN_RUN(cpu.sp));
  x86_address(x, 32, RCX, x86_memory(RAX, -VCS_ENAM0));
  x86_do_constant(x, 32, X86_CMP, x86_register(RCX), 3);
  jump[0] = x86_jump_if(x, X86_NC);
  x86_do(x, 64, X86_CMP, TIME, IN_RUN(asleep.wake));
  jump[1] = x86_jump_if(x, X86_NC);
  x86_do(x, 8, X86_CMP, RDX, x86_indexed(M, RCX, (int32_t)offsetof(vcs_t, enam)));
  jump[2] = x86_jump_if(x, X86_NZ);
  jump[3] = 0;
  x86_store(x, 64, IN_RUN(asleep.last), TIME);
  x86_store(x, 8, IN_RUN(asleep.last_register), RAX);
  x86_count(x, true, IN_RUN(cpu.sp));
  clobber(u);
  call_out_of_line(u, jump, &u->known, at, X86_NONE);
}

/* Returns whether the next instruction follows. */
static bool do_stack(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  const known_t before = u->known;
  const uint32_t cost = (uint32_t)VCS_COST(i->fact.cycles);
  const int operation = i->fact.operation;
  if (operation == DO_PHA) {
    u->known.pending += cost;
    settle_time(u);
    x86_load_short(x, 8, RAX, IN_RUN(cpu.sp));
    x86_test(x, 8, RAX, RAX);
    clobber(u);
    const size_t jump[JUMPS_MOST] = {x86_jump_if(x, X86_NS)};
    x86_store(x, 8, x86_indexed(M, RAX, RAM), A);
    x86_count(x, true, IN_RUN(cpu.sp));
    call_out_of_line(u, jump, &u->known, at, RAX);
    return true;
  }
  if (operation == DO_PHP) {
    u->known.pending += cost;
    push_status(u, at);
    return true;
  }
  /* JSR, RTS, PLA and PLP find their bytes in RAM; otherwise cpu.h executes them, or a call does */
  clobber(u);
  x86_load_short(x, 8, RAX, IN_RUN(cpu.sp));
  if (operation == DO_JSR) {
    x86_do_constant(x, 32, X86_CMP, x86_register(RAX), 0x81);
    leave_by(u, x86_jump_if(x, X86_C), &before, pc_of(u, at), VCS_NATIVE_STEP);
    x86_store_constant(x, 16, x86_indexed(M, RAX, RAM - 1), (uint16_t)(pc_of(u, at) + 2));
    x86_do_constant(x, 8, X86_SUB, IN_RUN(cpu.sp), 2);
    u->known.pending += cost;
    go_to_operand(u, i, at);
    return false;
  }
  x86_address(x, 32, RCX, x86_memory(RAX, -0x80));
  x86_do_constant(x, 32, X86_CMP, x86_register(RCX), operation == DO_RTS ? 0x7E : 0x7F);
  const size_t outside[JUMPS_MOST] = {x86_jump_if(x, X86_NC)};
  if (operation != DO_PLA)
    leave_by(u, outside[0], &before, pc_of(u, at), operation == DO_RTS ? RETURN : VCS_NATIVE_STEP);
  if (operation == DO_RTS) {
    x86_load_short(x, 16, RCX, x86_indexed(M, RAX, RAM + 1));
    x86_do_constant(x, 32, X86_SUB, x86_register(RCX), u->place->start);
    jump_by_table(u, &before, at, 1, RETURN);
    u->known.pending += cost;
    settle_time(u);
    settle_flags(u, VCS_OF_NZC);
    x86_do_constant(x, 8, X86_ADD, IN_RUN(cpu.sp), 2);
    x86_jump_register(x, RAX);
    return false;
  }
  u->known.pending += cost;
  x86_count(x, false, IN_RUN(cpu.sp));
  if (operation == DO_PLA) {
    x86_load_short(x, 8, A, x86_indexed(M, RAX, RAM + 1));
    call_out_of_line(u, outside, &u->known, at, X86_NONE);
    set_nz(u, OF_A, false);
  } else { /* PLP */
    x86_load_short(x, 8, RSI, x86_indexed(M, RAX, RAM + 1));
    CALL(u, set_status);
    u->known.nz = FLAGS_STORED;
    u->known.c = CARRY_STORED;
    u->known.binary = false;
  }
  return true;
}

/* Returns the condition of the host that is equal to the flag of a branch, after testing the flag if necessary. */
static int test_flag(unit_t *u, unsigned flag) {
  x86_t *x = &u->x;
  known_t *k = &u->known;
  switch (flag) {
    case VCS_OF_C:
      if (k->host_c != X86_NONE) return k->host_c;
      if (k->c == CARRY_IN_HOST) x->full = true;
      clobber(u);
      x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.c), 0);
      return X86_NZ;
    case VCS_OF_V:
      clobber(u);
      x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.v), 0);
      return X86_NZ;
    default:
      if (flag == VCS_OF_N ? k->host_n : k->host_z) return flag == VCS_OF_N ? X86_S : X86_Z;
      clobber(u);
      if (k->nz == FLAGS_STORED) {
        if (flag == VCS_OF_Z) {
          x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.nz), 0);
          return X86_Z;
        }
        x86_test_constant(x, 16, IN_RUN(cpu.nz), 0x8080);
        return X86_NZ;
      }
      if (k->nz == IN_HOST) x->full = true;
      x86_test(x, 8, nz_register(k->nz), nz_register(k->nz));
      k->host_n = k->host_z = true;
      return flag == VCS_OF_N ? X86_S : X86_Z;
  }
}

/* When a wait loop continues: skips the turns that are certain to come (run.h). */
static void skip_turns(unit_t *u, const instruction_t *i) {
  x86_t *x = &u->x;
  const int turn = (int)(VCS_COST(3) + VCS_COST(2));
  settle_time(u);
  settle_flags(u, VCS_OF_NZC);
  switch (i->row) {
    case VCS_ROW_DELAY_DEX_BNE:
    case VCS_ROW_DELAY_DEY_BNE: {
      const int r = i->row == VCS_ROW_DELAY_DEX_BNE ? X : Y;
      x86_address(x, 32, RAX, x86_memory(r, -1));
      x86_load_short(x, 8, RAX, x86_register(RAX));
      x86_multiply(x, RAX, RAX, turn);
      x86_do(x, 64, X86_ADD, TIME, x86_register(RAX));
      x86_load_constant(x, r, 1);
      break;
    }
    case VCS_ROW_DELAY_DEX_BPL:
    case VCS_ROW_DELAY_DEY_BPL: {
      const int r = i->row == VCS_ROW_DELAY_DEX_BPL ? X : Y;
      x86_do_constant(x, 32, X86_CMP, x86_register(r), 0x80);
      const size_t none = x86_jump_if(x, X86_A);
      x86_multiply(x, RAX, r, turn);
      x86_do(x, 64, X86_ADD, TIME, x86_register(RAX));
      x86_load_constant(x, r, 0);
      x86_land(x, none, x->used);
      break;
    }
    default:
      x86_load(x, 64, RSI, x86_register(TIME));
      x86_load_constant(x, RDX, i->row == VCS_ROW_WAIT_BNE ? 1 : i->row == VCS_ROW_WAIT_BPL ? 0 : 128);
      x86_load_constant(x, RCX, i->row == VCS_ROW_WAIT_BPL ? 127 : 255);
      CALL(u, wait);
      x86_load(x, 64, TIME, x86_register(RAX));
      break;
  }
}

static bool do_branch(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  const uint32_t to = branch_target(i, at), cost = (uint32_t)VCS_COST(i->fact.cycles);
  const uint32_t more = (uint32_t)VCS_CYCLES((to ^ (at + 2)) & 0xFF00 ? 2 : 1);
  const unsigned flag = vcs_branch_flag(i->bytes[0]);
  const bool if_set = vcs_branch_if_set(i->bytes[0]);
  if (flag == VCS_OF_C && (u->known.c == CARRY_0 || u->known.c == CARRY_1)) {
    if ((u->known.c == CARRY_1) != if_set) {
      u->known.pending += cost;
      return true;
    }
    u->known.pending += cost + more;
    go_to(u, to, to <= at);
    return false;
  }
  const int condition = test_flag(u, flag);
  const size_t on = x86_jump_if(x, if_set ? condition ^ 1 : condition);
  const known_t before = u->known;
  if (is_wait(i)) skip_turns(u, i);
  u->known.pending += cost + more;
  go_to(u, to, to <= at);
  x86_land(x, on, x->used);
  u->known = before;
  u->known.pending += cost;
  return true;
}

static bool do_jump(unit_t *u, const instruction_t *i, uint32_t at) {
  x86_t *x = &u->x;
  const known_t before = u->known;
  const uint32_t cost = (uint32_t)VCS_COST(i->fact.cycles);
  if (i->fact.mode == VCS_MODE_ABS) {
    u->known.pending += cost;
    go_to_operand(u, i, at);
    return false;
  }
  clobber(u);
  x86_load_short(x, 16, RCX, x86_memory(M, RAM + i->word));
  x86_do_constant(x, 32, X86_SUB, x86_register(RCX), u->place->start);
  jump_by_table(u, &before, at, 0, VCS_NATIVE_STEP);
  u->known.pending += cost;
  settle_time(u);
  settle_flags(u, VCS_OF_NZC);
  x86_jump_register(x, RAX);
  return false;
}

#endif
