/* native_unit.h: a unit of compiled code while it is written (native.c): facts about its instructions, the known state
 * of time and flags, its exits, and its calls out of line.
 *
 * Time and flags. Between two entries the compiler keeps track of time and flags that are not stored (known_t).
 * `needed` looks ahead: a flag that is set again before it is needed is not computed. settle_time and settle_flags
 * store the time and the flags.
 */
#ifndef VCS_HOST_NATIVE_UNIT_H
#define VCS_HOST_NATIVE_UNIT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/decode.h"
#include "host/native.h"
#include "host/x86.h"

enum { BANKS_MOST = 64 };

/* A bank that is mapped at an address. */
typedef struct {
  uint32_t base;            /* of the bank in the image */
  uint16_t start;           /* where it is mapped */
  _Atomic(uint32_t) *entry; /* by offset in the bank: the code in `pages`; 0: none yet */
} place_t;

struct vcs_native {
  const vcs_cart_t *cart;
  const uint8_t *rom;
  const vcs_code_t *code;
  uint32_t bank_size;
  int frames_before;
  atomic_int frames;
  atomic_bool full;
  pthread_mutex_t lock; /* for everything below */
  uint8_t *pages;
  size_t used, tables, leave;
  place_t place[BANKS_MOST];
  atomic_int places;
  atomic_uchar recent[32]; /* by base and start: the place that is tried first */
};

/* ---- Facts about instructions --------------------------------------------------------------------------------- */

#define OPERATION_NAME(operation, reads, sets, kind, pushed) DO_##operation,
enum { VCS_OPERATIONS(OPERATION_NAME) };

typedef struct {
  uint8_t operation, mode, access, cycles;
  uint16_t reads, sets;
} fact_t;
#define FACT(code, operation, mode, access, cycles) \
  {DO_##operation, VCS_MODE_##mode, VCS_ACCESS_##access, cycles, VCS_READS_##operation, VCS_SETS_##operation},
static const fact_t facts[256] = {VCS_OPCODES(FACT)};

/* Where the byte of a read, write or modify instruction is, if that is known when the instruction is compiled. */
typedef enum { IN_CODE, IN_RAM, IN_PORT, ELSEWHERE } where_t;

typedef struct {
  const uint8_t *bytes;
  fact_t fact;
  uint16_t row, word; /* the decoder's row; the operand as it is in the image */
  uint16_t length;
  bool second; /* the row is the second variant of decode.h */
} instruction_t;

/* ---- A unit --------------------------------------------------------------------------------------------------- */

typedef enum { FLAGS_STORED, OF_A, OF_X, OF_Y, IN_HOST } nz_t;
typedef enum { CARRY_STORED, CARRY_0, CARRY_1, CARRY_IN_HOST } carry_t;

typedef struct {
  uint32_t pending;
  nz_t nz;
  carry_t c;
  bool binary;
  bool host_n, host_z; /* SF, ZF are N, Z */
  int host_c;          /* the condition of the host that is equal to C, or X86_NONE */
} known_t;

typedef struct {
  size_t jump;
  known_t known;
  uint16_t pc;
  uint8_t how; /* VCS_NATIVE_STEP, VCS_NATIVE_LEFT, or RETURN */
} exit_t;
enum { RETURN = 3 }; /* after calling return_elsewhere, which sets the program counter */

/* A call out of line: the jumps to it, and where it returns to. */
enum { JUMPS_MOST = 4 };
typedef struct {
  size_t jump[JUMPS_MOST], back;
  known_t known;
  uint16_t at;  /* offset of the instruction in the bank */
  int8_t reg;   /* the register that has the address, or with `change` the value */
  bool change;  /* it calls `change` */
  size_t again; /* where the code continues if vcs_asleep_after_hmove returns true; 0: it is not called */
} call_t;

typedef struct {
  size_t jump;
  uint16_t to;
} link_t;

enum { SIZE_MOST = 4096, EXITS_MOST = 6 * SIZE_MOST };

typedef struct {
  x86_t x;
  vcs_native_t *native;
  const vcs_cart_t *cart;
  const place_t *place;
  uint32_t size;
  known_t known;
  bool looks; /* code can be left after the present operation, which then computes all flags */
  int exits, calls, links, entries;
  uint32_t label[SIZE_MOST];
  bool entered[SIZE_MOST], seen[SIZE_MOST]; /* arrays from here on need no initialization */
  uint16_t entry[SIZE_MOST];                /* in the order in which they were found */
  exit_t exit[EXITS_MOST];
  call_t call[SIZE_MOST];
  link_t link[2 * SIZE_MOST];
} unit_t;

enum { M = RBX, RUN = RBP, TIME = R12, A = R13, X = R14, Y = R15 };

#define IN_M(field) x86_memory(M, (int32_t)offsetof(vcs_t, field))
#define IN_RUN(field) x86_memory(RUN, (int32_t)offsetof(vcs_native_run_t, field))
static x86_operand_t tia(size_t offset) { return x86_memory(M, (int32_t)offset); }
enum { RAM = offsetof(vcs_t, ram) - 0x80 }; /* so that an address in RAM is an index */

/* ---- Instructions --------------------------------------------------------------------------------------------- */

static instruction_t instruction_at(const unit_t *u, uint32_t at) {
  const uint32_t image = u->place->base + at;
  const uint8_t *bytes = u->cart->rom + image;
  const vcs_code_t code = u->cart->code[image];
  instruction_t i = {.bytes = bytes, .fact = facts[bytes[0]], .row = code.row};
  i.length = vcs_mode_length(i.fact.mode);
  i.second = code.row >= VCS_ROW_SECOND && code.row < VCS_ROW_STEP;
  if (i.row != VCS_ROW_STEP && i.row != VCS_ROW_HOT) {
    i.word = i.length == 2 ? bytes[1] : i.length == 3 ? (uint16_t)(bytes[1] | bytes[2] << 8) : 0;
  }
  const unsigned operation = i.fact.operation; /* rare ones, which have no code, are consecutive */
  if ((operation >= DO_ANC && operation <= DO_ANE) || (operation >= DO_SAX && operation <= DO_SHS) ||
      (operation >= DO_SLO && operation <= DO_ISB) || (operation >= DO_RTI && operation <= DO_JAM)) {
    i.row = VCS_ROW_STEP;
  }
  return i;
}

static bool is_step(const instruction_t *i) { return i->row == VCS_ROW_STEP || i->row == VCS_ROW_HOT; }
static bool is_wait(const instruction_t *i) { return i->row >= VCS_ROW_WAIT_BNE && i->row <= VCS_ROW_DELAY_DEY_BPL; }
static bool is_plain_branch(const instruction_t *i) {
  return i->fact.access == VCS_ACCESS_BRANCH && !is_step(i) && !is_wait(i);
}
static uint16_t pc_of(const unit_t *u, uint32_t at) { return (uint16_t)(u->place->start + at); }
static uint32_t branch_target(const instruction_t *i, uint32_t at) {
  return (uint32_t)((int32_t)at + 2 + (int8_t)i->bytes[1]);
}
/* Returns the target of JMP or JSR as an offset in the bank; the size of the bank if the target is outside it. */
static uint32_t jump_target(const unit_t *u, const instruction_t *i) {
  const uint16_t to = (uint16_t)(i->word - u->place->start);
  return to < u->size ? to : u->size;
}

/* Returns the bytes of ROM that reads from the operand on, up to `reach` bytes further, are certain to find; or
 * NULL. */
static const uint8_t *known_rom(const unit_t *u, const instruction_t *i, uint32_t reach) {
  const uint32_t window = i->word & 0xFFFu, offset = (uint32_t)(i->word - u->place->start) & 0x1FFF;
  const uint8_t *own = u->cart->rom + u->place->base + (i->word & (u->size - 1));
  if (!i->second) return own;
  if (!(i->word & 0x1000) || !vcs_cart_is_rom(u->cart, window, window + reach)) return NULL;
  if (u->cart->scheme == VCS_SCHEME_FE) return u->cart->rom + vcs_cart_fe_bank(i->word) + window;
  return offset + reach < u->size ? own : NULL;
}

/* Whether these reads find plain ROM of one slice, whatever bank is in it. */
static bool is_slice(const unit_t *u, const instruction_t *i, uint32_t reach) {
  const uint32_t window = i->word & 0xFFFu;
  return i->word & 0x1000 && (window & 0x3FF) + reach < 0x400 && vcs_cart_is_rom(u->cart, window, window + reach) &&
         u->cart->scheme != VCS_SCHEME_FE;
}

/* Returns how many bytes behind the operand reads find ROM in one of these two ways: 0 to 255; -1: not even at the
 * operand. */
static int reach_of_rom(const unit_t *u, const instruction_t *i) {
  int reach = 255;
  while (reach >= 0 && !known_rom(u, i, (uint32_t)reach) && !is_slice(u, i, (uint32_t)reach)) reach--;
  return reach;
}

/* A range of addresses of the window, modulo its size, that may be something else than ROM. */
typedef struct {
  uint32_t first, count;
} hot_t;

static hot_t hot_of(const vcs_cart_t *cart) {
  const vcs_scheme_row_t *row = vcs_scheme_row(cart->scheme);
  const uint32_t first = row->kind == VCS_CART_DPC ? row->first_spot & ~63u : row->first_spot;
  if (!first) return (hot_t){0, row->hot_below};
  return (hot_t){first, row->hot_below ? 4096 - first + row->hot_below : row->hot_spots};
}

static where_t where(const unit_t *u, const instruction_t *i) {
  switch (i->fact.mode) {
    case VCS_MODE_IMM:
      return IN_CODE;
    case VCS_MODE_ZP:
      return i->word & 0x80 ? IN_RAM : ELSEWHERE;
    case VCS_MODE_ABS:
      if (i->fact.access == VCS_ACCESS_READ && known_rom(u, i, 0)) return IN_CODE;
      if ((i->word & 0x1280) == 0x80 && !u->cart->snoops) return IN_RAM;
      if (i->fact.access == VCS_ACCESS_READ && (i->word & 0x1280) == 0x280 && u->cart->passive_ports &&
          !u->cart->snoops && ((i->word & 7) == 0 || (i->word & 7) == 2)) {
        return IN_PORT; /* SWCHA and SWCHB, which are read as stored */
      }
      return ELSEWHERE;
    default:
      return ELSEWHERE;
  }
}

/* Whether code can never be left before, in or after it. */
static bool is_quiet(const unit_t *u, const instruction_t *i) {
  if (is_step(i)) return false;
  if (i->fact.operation == DO_ADC || i->fact.operation == DO_SBC) return false;
  switch (i->fact.access) {
    case VCS_ACCESS_IMPLIED:
      return true;
    case VCS_ACCESS_READ:
    case VCS_ACCESS_WRITE:
    case VCS_ACCESS_MODIFY:
      if ((i->fact.mode == VCS_MODE_ABX || i->fact.mode == VCS_MODE_ABY) && i->fact.access == VCS_ACCESS_READ) {
        return known_rom(u, i, 255) || is_slice(u, i, 255);
      }
      return where(u, i) != ELSEWHERE;
    default:
      return false;
  }
}

/* ---- Looking ahead -------------------------------------------------------------------------------------------- */

/* Returns those of the flags `open` that are needed before they are set again, from the instruction at `at` on. */
static unsigned needed_within(const unit_t *u, uint32_t at, unsigned open, int *patience) {
  unsigned looked = 0;
  while (open) {
    if (at >= u->size || --*patience < 0) return looked | open;
    const instruction_t i = instruction_at(u, at);
    if (is_plain_branch(&i)) {
      looked |= open & vcs_branch_flag(i.bytes[0]);
      open &= ~looked;
      const unsigned there = open ? needed_within(u, branch_target(&i, at), open, patience) : 0;
      looked |= there;
      open &= ~there;
    } else if (i.fact.access == VCS_ACCESS_JUMP && i.fact.mode == VCS_MODE_ABS && !is_step(&i)) {
      if (jump_target(u, &i) == u->size) return looked | open;
      at = jump_target(u, &i);
      continue;
    } else if (!is_quiet(u, &i)) {
      return looked | open;
    }
    looked |= open & i.fact.reads;
    open &= ~(i.fact.sets | looked);
    at += i.length;
  }
  return looked;
}

/* Asks for N and Z, for C, and for V separately, so that the answer for one does not depend on the others. */
static unsigned needed(const unit_t *u, uint32_t at, unsigned flags) {
  static const unsigned groups[] = {VCS_OF_NZ, VCS_OF_C, VCS_OF_V};
  unsigned looked = 0;
  for (int i = 0; i < 3; i++) {
    int patience = 24;
    looked |= needed_within(u, at, flags & groups[i], &patience);
  }
  return looked;
}

/* The same after an operation that leaves `flags` in the flags of the host, where the branches that follow it test
 * them.
 */
static unsigned needed_after(const unit_t *u, uint32_t at, unsigned flags) {
  unsigned looked = 0;
  if (u->looks) return flags;
  for (;;) {
    if (at >= u->size) return flags;
    const instruction_t i = instruction_at(u, at);
    if (u->entered[at] || !is_plain_branch(&i) || !(flags & vcs_branch_flag(i.bytes[0]))) {
      return looked | needed(u, at, flags);
    }
    looked |= needed(u, branch_target(&i, at), flags);
    at += i.length;
  }
}

/* ---- Knowing and forgetting ----------------------------------------------------------------------------------- */

static void clobber(unit_t *u) {
  u->known.host_n = u->known.host_z = false;
  u->known.host_c = X86_NONE;
}

static int nz_register(nz_t nz) { return nz == OF_A ? A : nz == OF_X ? X : Y; }

/* Adds the pending cycles to the time; the flags of the host stay. */
static void settle_time(unit_t *u) {
  if (u->known.pending) x86_address(&u->x, 64, TIME, x86_memory(TIME, (int32_t)u->known.pending));
  u->known.pending = 0;
}

/* Stores those of the needed flags that are not stored yet; afterwards all flags count as stored. */
static void settle_flags(unit_t *u, unsigned flags) {
  known_t *k = &u->known;
  if (flags & VCS_OF_NZ && k->nz != FLAGS_STORED) {
    if (k->nz == IN_HOST) u->x.full = true; /* cannot happen: needed_after has looked ahead */
    x86_store(&u->x, 32, IN_RUN(cpu.nz), nz_register(k->nz));
  }
  if (flags & VCS_OF_C && k->c != CARRY_STORED) {
    if (k->c == CARRY_IN_HOST) u->x.full = true;
    x86_store_constant(&u->x, 8, IN_RUN(cpu.c), k->c == CARRY_1);
  }
  k->nz = FLAGS_STORED;
  k->c = CARRY_STORED;
}

static void forget(unit_t *u) { u->known = (known_t){.host_c = X86_NONE}; }

/* Adds an exit and makes a jump of the host go to it; `known` is the state at the exit. */
static void leave_by(unit_t *u, size_t jump, const known_t *known, uint16_t pc, int how) {
  if (u->exits == EXITS_MOST) {
    u->x.full = true;
    return;
  }
  u->exit[u->exits++] = (exit_t){jump, *known, pc, (uint8_t)how};
}

static void link_to(unit_t *u, size_t jump, uint32_t to) {
  if (u->links == 2 * SIZE_MOST) {
    u->x.full = true;
    return;
  }
  u->link[u->links++] = (link_t){jump, (uint16_t)to};
}

/* Adds a call out of line; entries of `jump` that are 0 are unused. */
static call_t *call_out_of_line(unit_t *u, const size_t jump[JUMPS_MOST], const known_t *known, uint32_t at, int reg) {
  if (u->calls == SIZE_MOST) {
    u->x.full = true;
    u->calls--;
  }
  call_t *c = &u->call[u->calls++];
  *c = (call_t){.back = u->x.used, .known = *known, .at = (uint16_t)at, .reg = (int8_t)reg};
  memcpy(c->jump, jump, sizeof c->jump);
  return c;
}

static void call_with(unit_t *u, int first, uint64_t function) {
  x86_load(&u->x, 64, RDI, x86_register(first));
  x86_load_constant(&u->x, RAX, function);
  x86_call_register(&u->x, RAX);
  clobber(u);
}
#define CALL(u, function) call_with(u, RUN, (uint64_t)(uintptr_t)(vcs_native_calls.function))

#endif
