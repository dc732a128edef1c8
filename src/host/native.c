/* native.c: the program of a cartridge as code of the host.
 *
 * The hot loop (core/run.h) takes about eight host instructions for one of the 6507, three of them to get to the next
 * row, and more to read an operand that never changes. Here instructions become x86-64 code when the cartridge has run
 * for some frames. A, X, Y and the time are in host registers; everything that the bytes of the program decide is
 * decided once:
 *
 *     loop: LDA table,Y       mov   rdx, ROM + table            the byte is a plain load
 *                             movzx r13d, byte [rdx + r15]
 *           STA GRP0          lea   r12, [r12 + 2 instructions] the time, once for all instructions since the last
 * access cmp   r12, [wake] jae   call GRP0                   out of line
 *                             ...                               nothing changes: it is noted (core/tia_asleep.h)
 *           STA WSYNC         ...
 *           DEY               dec   r15b
 *           BPL loop          js    on                          the flags of the host are those of DEY
 *                             lea   r12, [r12 + 2 instructions]
 *                             cmp   r12, [limit]
 *                             jae   leave
 *                             jmp   loop
 *
 * Units. An instruction that has no code yet is compiled together with everything that can be reached from it by
 * branches, jumps and calls in its bank. A first pass finds where code can be entered (`entered`), a second writes it.
 * All code of a cartridge is in one mapping; a unit gets whole pages, which are written first and executable from then
 * on, never both. Returns, jumps through pointers and the loop in asleep.c find code by a table with an entry for each
 * byte of a bank. A bank that is mapped at another address has another table, because calls push addresses.
 *
 * State. At an entry the time is exact, and the flags are in memory (vcs_cpu_t). In between the translator knows more:
 *   pending   the time of instructions that is not added yet
 *   nz        N and Z are those of A, X or Y, or in memory, or only in the flags of the host, for a branch that follows
 *   c         C is known to be 0 or 1 and not stored, in memory, or only in the flags of the host
 *   binary    D is known to be clear
 * So a flag that is set again before anything looks at it is never computed. What can look at a flag (`needed`) are
 * instructions that read it, and those at which code can be left.
 *
 * Leaving. Code is left before an instruction that it does not have (VCS_ROW_STEP of core/decode.h, decimal arithmetic,
 * a call with a stack outside RAM); core/cpu.h executes it. It is left after an access that ended the frame or may have
 * changed banks, by jumps and returns to another bank, and at a jump back when the allowance of instructions may be
 * used up (run.h). Then all registers and flags are stored. Reads and writes of chips, and stores to the TIA that
 * change something, are calls.
 *
 * Code is never changed. Code in RAM or on pages with hot spots is not decoded, so it is not compiled; a cartridge
 * whose bytes are changed is a copy with another image, and runs without code (vcs_native_ready).
 *
 * tests/test_native.c compares every opcode and programs with core/cpu.h.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define VCS_TIA_ASLEEP
#include "core/tia.h"
#include "host/native.h"

#include <stdlib.h>

#if VCS_NATIVE

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/decode.h"
#include "host/x86.h"

enum { CODE_MOST = 640 << 10, TABLES_MOST = 256 << 10, BANKS_MOST = 64, FRAMES_BEFORE = 30 };

/* A bank at an address. */
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
  atomic_uchar recent[32]; /* by base and start: the place to look at first */
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

/* Where the byte of a read, write or modify instruction is, as far as it is known when it is compiled. */
typedef enum { IN_CODE, IN_RAM, IN_PORT, ELSEWHERE } where_t;

typedef struct {
  const uint8_t *bytes;
  fact_t fact;
  uint16_t row, word; /* of the decoder; the operand as it is in the image */
  uint16_t length;
  bool second; /* the second way of decode.h */
} instruction_t;

/* ---- The translator ------------------------------------------------------------------------------------------- */

typedef enum { FLAGS_STORED, OF_A, OF_X, OF_Y, IN_HOST } nz_t;
typedef enum { CARRY_STORED, CARRY_0, CARRY_1, CARRY_IN_HOST } carry_t;

typedef struct {
  uint32_t pending;
  nz_t nz;
  carry_t c;
  bool binary;
  bool host_n, host_z; /* SF, ZF are N, Z */
  int host_c;          /* the condition of the host that is C, or X86_NONE */
} known_t;

typedef struct {
  size_t jump;
  known_t known;
  uint16_t pc;
  uint8_t how; /* VCS_NATIVE_STEP, VCS_NATIVE_LEFT, or RETURN */
} exit_t;
enum { RETURN = 3 }; /* after calling give_back, which sets the program counter */

/* A call out of line: the jumps to it, and where it comes back. */
enum { JUMPS_MOST = 4 };
typedef struct {
  size_t jump[JUMPS_MOST], back;
  known_t known;
  uint16_t at;  /* offset of the instruction in the bank */
  int8_t reg;   /* the register that has the address, or the value, if it is a change */
  bool change;  /* it calls `change` */
  size_t again; /* where it comes back if the TIA only stirs; 0: it does not ask */
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
  bool looks; /* code can be left behind the operation that is being written: it computes all flags */
  int exits, calls, links, entries;
  uint32_t label[SIZE_MOST];
  bool entered[SIZE_MOST], seen[SIZE_MOST]; /* what follows needs no initialisation */
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
  const unsigned operation = i.fact.operation; /* rare ones have no code; VCS_OPERATIONS has them side by side */
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
/* Of JMP and JSR: an offset in the bank, or its size if it leaves the bank. */
static uint32_t jump_target(const unit_t *u, const instruction_t *i) {
  const uint16_t to = (uint16_t)(i->word - u->place->start);
  return to < u->size ? to : u->size;
}

/* Whether reads from the operand on, as far as `reach`, find plain ROM of the bank that the code is in. */
static bool is_own_rom(const unit_t *u, const instruction_t *i, uint32_t reach) {
  const uint32_t offset = (uint32_t)(i->word - u->place->start) & 0x1FFF;
  return !i->second || (i->word & 0x1000 && offset + reach < u->size &&
                        vcs_decode_plain(u->cart, i->word & 0xFFF, (i->word & 0xFFF) + reach));
}

/* Whether they find plain ROM of one slice, whatever its bank. */
static bool is_slice(const unit_t *u, const instruction_t *i, uint32_t reach) {
  return i->word & 0x1000 && (i->word & 0x3FF) + reach < 0x400 &&
         vcs_decode_plain(u->cart, i->word & 0xFFF, (i->word & 0xFFF) + reach);
}

static where_t where(const unit_t *u, const instruction_t *i) {
  switch (i->fact.mode) {
    case VCS_MODE_IMM:
      return IN_CODE;
    case VCS_MODE_ZP:
      return i->word & 0x80 ? IN_RAM : ELSEWHERE;
    case VCS_MODE_ABS:
      if (i->fact.access == VCS_ACCESS_READ && is_own_rom(u, i, 0)) return IN_CODE;
      if ((i->word & 0x1280) == 0x80 && !u->cart->snoops) return IN_RAM;
      if (i->fact.access == VCS_ACCESS_READ && (i->word & 0x1280) == 0x280 && u->cart->passive_ports &&
          !u->cart->snoops && ((i->word & 7) == 0 || (i->word & 7) == 2)) {
        return IN_PORT; /* SWCHA and SWCHB, which read as they are */
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
        return is_own_rom(u, i, 255) || is_slice(u, i, 255);
      }
      return where(u, i) != ELSEWHERE;
    default:
      return false;
  }
}

/* Those of the flags `open` that something can look at before they are set again, from the instruction at `at` on. */
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

static unsigned needed(const unit_t *u, uint32_t at, unsigned flags) {
  int patience = 24;
  return needed_within(u, at, flags, &patience);
}

/* The same behind an operation that leaves `flags` in the flags of the host, where branches that follow it find them.
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

/* Adds the pending time; the flags of the host stay. */
static void settle_time(unit_t *u) {
  if (u->known.pending) x86_address(&u->x, 64, TIME, x86_memory(TIME, (int32_t)u->known.pending));
  u->known.pending = 0;
}

/* Stores those flags that are needed and not stored. */
static void settle_flags(unit_t *u, unsigned flags) {
  known_t *k = &u->known;
  if (flags & VCS_OF_NZ && k->nz != FLAGS_STORED) {
    if (k->nz == IN_HOST) u->x.full = true; /* cannot be: needed_after has looked ahead */
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

/* An exit, to which a jump of the host goes; `known` is as it is there. */
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

/* A jump of 0 is none. */
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

/* ---- Operations ----------------------------------------------------------------------------------------------- */

/* The operand of a read: a constant, or a register or a place in memory. */
typedef struct {
  bool constant;
  uint8_t value;
  x86_operand_t place;
} source_t;

static void load(unit_t *u, int r, source_t from) {
  if (from.constant) {
    x86_load_constant(&u->x, r, from.value);
  } else {
    x86_load_short(&u->x, 8, r, from.place);
  }
}

static void arithmetic(unit_t *u, int what, int r, source_t by) {
  if (by.constant) {
    x86_do_constant(&u->x, 8, what, x86_register(r), (int8_t)by.value);
  } else {
    x86_do(&u->x, 8, what, r, by.place);
  }
}

/* N and Z are those of a register. */
static void set_nz(unit_t *u, nz_t of, bool in_host) {
  u->known.nz = of;
  u->known.host_n = u->known.host_z = in_host;
}

static void store_carry(unit_t *u, int condition, unsigned needs) {
  u->known.host_c = condition;
  u->known.c = CARRY_IN_HOST;
  if (!(needs & VCS_OF_C)) return;
  x86_set(&u->x, condition, IN_RUN(cpu.c));
  u->known.c = CARRY_STORED;
}

/* CF = C, or its opposite for a subtraction. */
static void load_carry(unit_t *u, bool borrow) {
  x86_t *x = &u->x;
  switch (u->known.c) {
    case CARRY_0:
    case CARRY_1:
      x86_byte(x, (u->known.c == CARRY_1) != borrow ? 0xF9 : 0xF8); /* STC, CLC */
      break;
    case CARRY_IN_HOST:
      x->full = true;
      break;
    case CARRY_STORED:
      if (borrow) {
        x86_do_constant(x, 8, X86_CMP, IN_RUN(cpu.c), 1);
      } else {
        x86_bit_0(x, IN_RUN(cpu.c));
      }
      break;
  }
}

static void compare(unit_t *u, int r, source_t by, uint32_t next) {
  const unsigned needs = needed_after(u, next, VCS_OF_NZC);
  if (needs & VCS_OF_NZ) {
    x86_load(&u->x, 32, RCX, x86_register(r));
    arithmetic(u, X86_SUB, RCX, by);
    x86_store(&u->x, 32, IN_RUN(cpu.nz), RCX);
  } else {
    arithmetic(u, X86_CMP, r, by);
  }
  set_nz(u, needs & VCS_OF_NZ ? FLAGS_STORED : IN_HOST, true);
  store_carry(u, X86_NC, needs);
}

/* ADC and SBC, in binary; before it code is left if D is set. */
static void add(unit_t *u, source_t by, uint32_t next, bool subtract) {
  x86_t *x = &u->x;
  const unsigned needs = needed_after(u, next, VCS_OF_C) | (u->looks ? VCS_OF_V : needed(u, next, VCS_OF_V));
  const carry_t plain = subtract ? CARRY_1 : CARRY_0;
  if (u->known.c == plain) {
    arithmetic(u, subtract ? X86_SUB : X86_ADD, A, by);
  } else {
    load_carry(u, subtract);
    arithmetic(u, subtract ? X86_SBB : X86_ADC, A, by);
  }
  if (needs & VCS_OF_V) x86_set(x, X86_O, IN_RUN(cpu.v));
  set_nz(u, OF_A, true);
  store_carry(u, subtract ? X86_NC : X86_C, needs);
}

static void bit(unit_t *u, source_t by, uint32_t next) {
  x86_t *x = &u->x;
  load(u, RAX, by);
  clobber(u);
  if (u->looks || needed(u, next, VCS_OF_V)) {
    x86_test_constant(x, 8, x86_register(RAX), 0x40);
    x86_set(x, X86_NZ, IN_RUN(cpu.v));
  }
  /* a branch that follows finds the one flag that it needs in the host's */
  unsigned tested = 0;
  if (next < u->size && !u->looks) {
    const instruction_t i = instruction_at(u, next);
    if (!u->entered[next] && is_plain_branch(&i)) tested = vcs_branch_flag(i.bytes[0]) & VCS_OF_NZ;
    if (tested) {
      const unsigned needs = needed(u, branch_target(&i, next), VCS_OF_NZ) | needed(u, next + i.length, VCS_OF_NZ);
      if (!needs) {
        u->known.nz = IN_HOST;
        u->known.host_n = tested == VCS_OF_N;
        u->known.host_z = tested == VCS_OF_Z;
        x86_test(x, 8, RAX, tested == VCS_OF_N ? RAX : A);
        return;
      }
    }
  }
  u->known.nz = FLAGS_STORED;
  const unsigned needs = u->looks ? VCS_OF_NZ : needed(u, next, VCS_OF_NZ);
  if (needs == VCS_OF_NZ) {
    x86_load(x, 32, RCX, x86_register(RAX));
    x86_do_constant(x, 32, X86_AND, x86_register(RCX), 0x80);
    x86_shift(x, X86_SHL, RCX, 8);
  }
  if (needs & VCS_OF_Z) x86_do(x, 32, X86_AND, RAX, x86_register(A));
  if (needs == VCS_OF_NZ) x86_do(x, 32, X86_OR, RAX, x86_register(RCX));
  if (needs) x86_store(x, 32, IN_RUN(cpu.nz), RAX);
}

/* A READ with its operand. */
static void do_read(unit_t *u, int operation, source_t by, uint32_t next) {
  switch (operation) {
    case DO_LDA:
      load(u, A, by);
      set_nz(u, OF_A, false);
      break;
    case DO_LDX:
      load(u, X, by);
      set_nz(u, OF_X, false);
      break;
    case DO_LDY:
      load(u, Y, by);
      set_nz(u, OF_Y, false);
      break;
    case DO_LAX:
      load(u, X, by);
      x86_load(&u->x, 32, A, x86_register(X));
      set_nz(u, OF_A, false);
      break;
    case DO_AND:
    case DO_ORA:
    case DO_EOR:
      arithmetic(u, operation == DO_AND ? X86_AND : operation == DO_ORA ? X86_OR : X86_XOR, A, by);
      clobber(u);
      set_nz(u, OF_A, true);
      break;
    case DO_ADC:
    case DO_SBC:
      add(u, by, next, operation == DO_SBC);
      break;
    case DO_CMP:
      compare(u, A, by, next);
      break;
    case DO_CPX:
      compare(u, X, by, next);
      break;
    case DO_CPY:
      compare(u, Y, by, next);
      break;
    case DO_BIT:
      bit(u, by, next);
      break;
    default: /* NOP */
      break;
  }
}

/* A MODIFY of a register or a byte of RAM. */
static void do_modify(unit_t *u, int operation, x86_operand_t to, nz_t of, uint32_t next) {
  x86_t *x = &u->x;
  const unsigned needs = needed_after(u, next, VCS_OF_NZC);
  bool counted = false, rotated = false, left = false;
  switch (operation) {
    case DO_INC:
    case DO_DEC:
      x86_count(x, operation == DO_DEC, to);
      u->known.host_c = X86_NONE;
      counted = true;
      break;
    case DO_ASL:
    case DO_ASLA:
      left = true; /* fall through */
    case DO_LSR:
    case DO_LSRA:
      x86_shift_byte(x, left ? X86_SHL : X86_SHR, to);
      break;
    case DO_ROL:
    case DO_ROLA:
      left = true; /* fall through */
    default:
      load_carry(u, false);
      x86_shift_byte(x, left ? X86_RCL : X86_RCR, to);
      rotated = true;
      break;
  }
  /* a rotation leaves N and Z alone: then branches find the byte itself, or what is stored */
  bool store = of == FLAGS_STORED && (needs & VCS_OF_NZ || rotated) && needed(u, next, VCS_OF_NZ);
  set_nz(u, of != FLAGS_STORED || store ? of : IN_HOST, !rotated);
  if (!counted) store_carry(u, X86_C, rotated ? needed(u, next, VCS_OF_C) : needs);
  if (store) {
    x86_load_short(x, 8, RAX, to);
    x86_store(x, 32, IN_RUN(cpu.nz), RAX);
  }
}

static void move(unit_t *u, int to, int from, nz_t of) {
  x86_load(&u->x, 32, to, x86_register(from));
  set_nz(u, of, false);
}

static void count(unit_t *u, int r, bool down, nz_t of) {
  x86_count(&u->x, down, x86_register(r));
  u->known.host_c = X86_NONE;
  set_nz(u, of, true);
}

static void do_implied(unit_t *u, int operation, uint32_t next) {
  x86_t *x = &u->x;
  switch (operation) {
    case DO_ASLA:
    case DO_LSRA:
    case DO_ROLA:
    case DO_RORA:
      do_modify(u, operation, x86_register(A), OF_A, next);
      break;
    case DO_CLC:
    case DO_SEC:
      u->known.c = operation == DO_SEC ? CARRY_1 : CARRY_0;
      u->known.host_c = X86_NONE;
      break;
    case DO_CLI:
    case DO_SEI:
      x86_store_constant(x, 8, IN_RUN(cpu.i), operation == DO_SEI);
      break;
    case DO_CLV:
      x86_store_constant(x, 8, IN_RUN(cpu.v), 0);
      break;
    case DO_CLD:
    case DO_SED:
      x86_store_constant(x, 8, IN_RUN(cpu.d), operation == DO_SED);
      u->known.binary = operation == DO_CLD;
      break;
    case DO_INX:
      count(u, X, false, OF_X);
      break;
    case DO_INY:
      count(u, Y, false, OF_Y);
      break;
    case DO_DEX:
      count(u, X, true, OF_X);
      break;
    case DO_DEY:
      count(u, Y, true, OF_Y);
      break;
    case DO_TAX:
      move(u, X, A, OF_X);
      break;
    case DO_TXA:
      move(u, A, X, OF_A);
      break;
    case DO_TAY:
      move(u, Y, A, OF_Y);
      break;
    case DO_TYA:
      move(u, A, Y, OF_A);
      break;
    case DO_TSX:
      x86_load_short(x, 8, X, IN_RUN(cpu.sp));
      set_nz(u, OF_X, false);
      break;
    case DO_TXS:
      x86_store(x, 8, IN_RUN(cpu.sp), X);
      break;
    default: /* NOP */
      break;
  }
}

/* ---- Accesses ------------------------------------------------------------------------------------------------- */

static int index_register(int mode) {
  return mode == VCS_MODE_ABX || mode == VCS_MODE_ZPX || mode == VCS_MODE_IZX ? X : Y;
}

/* A cycle more if base + index is on another page: bit 8 of `r`, which it destroys. */
static void add_crossing(unit_t *u, int r) {
  x86_do_constant(&u->x, 32, X86_AND, x86_register(r), 0x100);
  x86_shift(&u->x, X86_SHL, r, VCS_CYCLES_SHIFT - 8);
  x86_do(&u->x, 64, X86_ADD, TIME, x86_register(r));
}

/* Whether a read that is a call can stop the CPU: it may be one of a hot spot. */
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

/* Calls `read` for the address in a register, does the operation, and leaves if the access has stopped the CPU. */
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
  int reg = RAX;
  size_t jump[JUMPS_MOST] = {0};
  switch (i->fact.mode) {
    case VCS_MODE_IMM:
      break;
    case VCS_MODE_ZP:
    case VCS_MODE_ABS:
      switch (where(u, i)) {
        case IN_CODE:
          from.value = u->cart->rom[u->place->base + (i->word & (u->size - 1))];
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
      if (is_own_rom(u, i, 255)) {
        const uint8_t *rom = u->cart->rom + u->place->base + (i->word & (u->size - 1));
        x86_load_constant(x, RDX, (uint64_t)(uintptr_t)rom);
        from = (source_t){.place = x86_indexed(RDX, index, 0)};
        break;
      }
      if (is_slice(u, i, 255)) {
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
      if (u->cart->hot_pages) {
        x86_load(x, 32, RCX, x86_register(RDX));
        x86_shift(x, X86_SHR, RCX, 6);
        x86_load_constant(x, RAX, u->cart->hot_pages);
        x86_bit(x, RAX, RCX);
        jump[1] = x86_jump_if(x, X86_C);
      }
      if (i->second) { /* the slice may be of any bank */
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

/* Notes an access to the TIA if it sleeps; returns the jump that is taken if it does not, and where it comes back if it
 * only stirs. */
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

/* A store to a register of the TIA that asleep.c has a function for: if the register keeps its value, that is noted.
 * The conditions are those of store() there. */
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
    if (r == VCS_GRP0 || r == VCS_GRP1) { /* what it latches */
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

/* ... and WSYNC: the time goes on to the end of the line. */
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

/* The code that a jump went to from out of line. */
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
      call_with(u, M, (uint64_t)(uintptr_t)vcs_native_calls.stirs);
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

/* ---- The stack, jumps and branches ---------------------------------------------------------------------------- */

static int test_flag(unit_t *u, unsigned flag);

/* Jumps to the code of an offset in the bank that is in RCX; leaves if there is none. */
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

/* Goes to an entry: the flags that it needs are stored. */
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

/* The same for the operand of a jump or call, which may be in another bank. */
static void go_to_operand(unit_t *u, const instruction_t *i, uint32_t at) {
  const uint32_t to = jump_target(u, i);
  if (to < u->size) {
    go_to(u, to, to <= at);
  } else { /* perhaps where there is no ROM, and the next fetch shows the last byte on the bus */
    x86_store_constant(&u->x, 8, IN_M(bus), i->word >> 8);
    leave_by(u, x86_jump(&u->x), &u->known, i->word, VCS_NATIVE_LEFT);
  }
}

/* PHP. Programs use it to switch a missile or the ball on and off, by Z: the stack pointer is at ENAM0, ENAM1 or ENABL,
 * and if the register keeps its value, that is noted. */
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
  /* the others find their bytes in RAM, or are left to cpu.h */
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

/* The condition of the host that is the flag of a branch; makes it one. */
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

/* In a wait loop, when it goes on: as many turns as are certain are skipped (run.h). */
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

/* ---- Units ---------------------------------------------------------------------------------------------------- */

static void enter_at(unit_t *u, uint32_t at) {
  if (at >= u->size || u->entered[at]) return;
  u->entered[at] = true;
  if (atomic_load_explicit(&u->place->entry[at], memory_order_relaxed)) {
    u->label[at] = atomic_load_explicit(&u->place->entry[at], memory_order_relaxed);
  } else {
    u->entry[u->entries++] = (uint16_t)at;
  }
}

/* Finds the entries of the instructions from `at` on. */
static void find_entries(unit_t *u, uint32_t at) {
  while (at < u->size && !u->seen[at] && !u->label[at]) {
    const instruction_t i = instruction_at(u, at);
    u->seen[at] = true;
    switch (i.fact.access) {
      case VCS_ACCESS_BRANCH:
        if (!is_step(&i)) enter_at(u, branch_target(&i, at));
        break;
      case VCS_ACCESS_JUMP:
        if (i.fact.mode == VCS_MODE_ABS && !is_step(&i)) enter_at(u, jump_target(u, &i));
        return;
      case VCS_ACCESS_STACK:
        if (i.fact.operation == DO_JSR) {
          if (!is_step(&i)) enter_at(u, jump_target(u, &i));
          enter_at(u, at + 3);
        }
        if (i.fact.operation == DO_JSR || i.fact.operation == DO_RTS || i.fact.operation == DO_RTI ||
            i.fact.operation == DO_BRK) {
          return;
        }
        break;
      default:
        if (i.fact.operation == DO_JAM) return;
        break;
    }
    at += i.length;
    if (is_step(&i)) enter_at(u, at);
  }
}

/* Writes the instructions from an entry on. */
static void write_from(unit_t *u, uint32_t at) {
  x86_t *x = &u->x;
  bool first = true, goes_on = true;
  forget(u);
  while (goes_on) {
    if (at >= u->size) { /* the decoder lets no instruction end here */
      leave_by(u, x86_jump(x), &u->known, pc_of(u, at), VCS_NATIVE_STEP);
      return;
    }
    if (!first && u->entered[at]) {
      if (u->label[at]) {
        go_to(u, at, false);
        return;
      }
      settle_time(u);
      settle_flags(u, needed(u, at, VCS_OF_NZC));
      forget(u);
    }
    if (u->entered[at]) u->label[at] = (uint32_t)x->used;
    first = false;
    const instruction_t i = instruction_at(u, at);
    if (is_step(&i)) {
      leave_by(u, x86_jump(x), &u->known, pc_of(u, at), VCS_NATIVE_STEP);
      return;
    }
    switch (i.fact.access) {
      case VCS_ACCESS_IMPLIED:
        u->known.pending += (uint32_t)VCS_COST(i.fact.cycles);
        do_implied(u, i.fact.operation, at + i.length);
        break;
      case VCS_ACCESS_READ:
        do_read_instruction(u, &i, at);
        break;
      case VCS_ACCESS_WRITE:
        do_write_instruction(u, &i, at);
        break;
      case VCS_ACCESS_MODIFY:
        do_modify_instruction(u, &i, at);
        break;
      case VCS_ACCESS_STACK:
        goes_on = do_stack(u, &i, at);
        break;
      case VCS_ACCESS_JUMP:
        goes_on = do_jump(u, &i, at);
        break;
      default:
        goes_on = do_branch(u, &i, at);
        break;
    }
    at += i.length;
  }
}

static void write_exit(unit_t *u, const exit_t *e) {
  x86_t *x = &u->x;
  x86_land(x, e->jump, x->used);
  u->known = e->known;
  if (e->how == RETURN) u->known.pending += (uint32_t)VCS_COST(facts[VCS_RTS].cycles);
  settle_time(u);
  settle_flags(u, VCS_OF_NZC);
  if (e->how == RETURN) {
    x86_load(x, 64, RSI, x86_register(TIME));
    CALL(u, give_back);
  } else {
    x86_store_constant(x, 16, IN_RUN(cpu.pc), e->pc);
  }
  x86_load_constant(x, RAX, e->how);
  x86_land(x, x86_jump(x), u->native->leave);
}

/* How the host's code is entered, with its address in RSI, and left. */
static void write_frame(unit_t *u) {
  static const int kept[] = {RBX, RBP, R12, R13, R14, R15};
  x86_t *x = &u->x;
  for (int i = 0; i < 6; i++) x86_push(x, kept[i]);
  x86_do_constant(x, 64, X86_SUB, x86_register(RSP), 8);
  x86_load(x, 64, RUN, x86_register(RDI));
  x86_load(x, 64, M, IN_RUN(m));
  x86_load(x, 64, TIME, IN_RUN(cpu.time));
  x86_load_short(x, 8, A, IN_RUN(cpu.a));
  x86_load_short(x, 8, X, IN_RUN(cpu.x));
  x86_load_short(x, 8, Y, IN_RUN(cpu.y));
  x86_jump_register(x, RSI);
  u->native->leave = x->used;
  x86_store(x, 64, IN_RUN(cpu.time), TIME);
  x86_store(x, 8, IN_RUN(cpu.a), A);
  x86_store(x, 8, IN_RUN(cpu.x), X);
  x86_store(x, 8, IN_RUN(cpu.y), Y);
  x86_do_constant(x, 64, X86_ADD, x86_register(RSP), 8);
  for (int i = 5; i >= 0; i--) x86_pop(x, kept[i]);
  x86_return(x);
}

/* Whether an instruction can be found by the table. A return to it reads the byte before it, which must have no effect.
 */
static bool is_entry(const place_t *place, const vcs_code_t *code, uint16_t at) {
  const uint16_t row = code[place->base + at].row;
  return row != VCS_ROW_STEP && row != VCS_ROW_HOT && (at == 0 || code[place->base + at - 1].row != VCS_ROW_HOT);
}

/* Compiles what can be reached from an instruction. Returns false if there is no room. */
static bool compile(vcs_native_t *native, const place_t *place, uint32_t at) {
  unit_t *u = malloc(sizeof *u);
  if (!u) return false;
  memset(u, 0, offsetof(unit_t, entry));
  u->native = native;
  u->cart = native->cart;
  u->place = place;
  u->size = native->bank_size;
  u->x = (x86_t){.begin = native->pages, .used = native->used, .size = CODE_MOST};
  if (native->used == 0) write_frame(u);
  enter_at(u, at);
  for (int i = 0; i < u->entries; i++) find_entries(u, u->entry[i]);
  for (int i = 0; i < u->entries; i++) {
    if (!u->label[u->entry[i]]) write_from(u, u->entry[i]);
  }
  for (int i = 0; i < u->calls; i++) write_call(u, &u->call[i]);
  for (int i = 0; i < u->exits; i++) write_exit(u, &u->exit[i]);
  for (int i = 0; i < u->links; i++) x86_land(&u->x, u->link[i].jump, u->label[u->link[i].to]);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (u->x.used + page - 1) & ~(page - 1);
  const bool done =
      !u->x.full && mprotect(native->pages + native->used, end - native->used, PROT_READ | PROT_EXEC) == 0;
  if (done) {
    native->used = end;
    for (int i = 0; i < u->entries; i++) {
      const uint16_t entry = u->entry[i];
      if (!is_entry(place, native->code, entry)) continue;
      atomic_store_explicit(&place->entry[entry], (uint32_t)u->label[entry], memory_order_release);
    }
  }
  free(u);
  return done;
}

/* ---- Cartridges ----------------------------------------------------------------------------------------------- */

static atomic_int chosen_frames = -2;

void vcs_native_after(int frames) { atomic_store(&chosen_frames, frames < 0 ? -1 : frames); }

static int frames_before(void) {
  const int chosen = atomic_load(&chosen_frames);
  if (chosen > -2) return chosen;
  const char *variable = getenv("DIFFVCS_NATIVE");
  return !variable || !*variable ? FRAMES_BEFORE : atoi(variable);
}

vcs_native_t *vcs_native_create(const vcs_cart_t *cart) {
  const int frames = frames_before();
  if (frames < 0 || cart->snoops || !cart->code) return NULL;
  vcs_native_t *native = calloc(1, sizeof *native);
  if (!native) return NULL;
  if (pthread_mutex_init(&native->lock, NULL) != 0) {
    free(native);
    return NULL;
  }
  native->cart = cart;
  native->rom = cart->rom;
  native->code = cart->code;
  native->bank_size = vcs_scheme_row(cart->scheme)->bank_size;
  native->frames_before = frames;
  return native;
}

void vcs_native_free(vcs_native_t *native) {
  if (!native) return;
  for (int i = 0; i < native->places; i++) free(native->place[i].entry);
  if (native->pages) munmap(native->pages, CODE_MOST);
  pthread_mutex_destroy(&native->lock);
  free(native);
}

size_t vcs_native_size(const vcs_native_t *native) { return native ? native->used + native->tables : 0; }

bool vcs_native_ready(vcs_native_t *native, const vcs_cart_t *cart) {
  if (!native || cart->rom != native->rom || cart->code != native->code) return false;
  if (atomic_load_explicit(&native->frames, memory_order_relaxed) < native->frames_before) {
    atomic_fetch_add_explicit(&native->frames, 1, memory_order_relaxed);
    return false;
  }
  return !atomic_load_explicit(&native->full, memory_order_relaxed);
}

static const place_t *find_place(vcs_native_t *native, uint32_t base, uint16_t start) {
  atomic_uchar *recent = &native->recent[(base >> 10 ^ start >> 8) & 31];
  const int guess = atomic_load_explicit(recent, memory_order_relaxed);
  const int places = atomic_load_explicit(&native->places, memory_order_acquire);
  for (int k = -1; k < places; k++) {
    const int i = k < 0 ? guess : k;
    if (i >= places || native->place[i].base != base || native->place[i].start != start) continue;
    if (i != guess) atomic_store_explicit(recent, (unsigned char)i, memory_order_relaxed);
    return &native->place[i];
  }
  return NULL;
}

static const place_t *make_place(vcs_native_t *native, uint32_t base, uint16_t start) {
  const size_t size = native->bank_size * sizeof(uint32_t);
  const int i = native->places;
  if (!native->pages) {
    void *pages = mmap(NULL, CODE_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    native->pages = pages;
  }
  if (i == BANKS_MOST || native->tables + size > TABLES_MOST) return NULL;
  native->place[i] = (place_t){base, start, calloc(1, size)};
  if (!native->place[i].entry) return NULL;
  native->tables += size;
  atomic_store_explicit(&native->places, i + 1, memory_order_release);
  return &native->place[i];
}

const void *vcs_native_find(vcs_native_t *native, uint32_t base, uint16_t start, uint16_t pc, bool *gave_up) {
  const uint16_t at = (uint16_t)(pc - start);
  const place_t *place = find_place(native, base, start);
  uint32_t entry = place ? atomic_load_explicit(&place->entry[at], memory_order_acquire) : 0;
  if (!entry) {
    if (!is_entry(&(place_t){.base = base}, native->code, at)) return NULL;
    pthread_mutex_lock(&native->lock);
    place = find_place(native, base, start);
    if (!place) place = make_place(native, base, start);
    if (place) {
      entry = atomic_load_explicit(&place->entry[at], memory_order_relaxed);
      if (!entry && compile(native, place, at)) entry = atomic_load_explicit(&place->entry[at], memory_order_relaxed);
    }
    if (!entry) atomic_store_explicit(&native->full, true, memory_order_relaxed);
    pthread_mutex_unlock(&native->lock);
    if (!entry) {
      *gave_up = true;
      return NULL;
    }
  }
  return native->pages + entry;
}

/* A sanitizer would look for the type of the function in front of its code. */
__attribute__((no_sanitize("undefined"))) int vcs_native_enter(vcs_native_t *native, vcs_native_run_t *run,
                                                               const void *code) {
  int (*enter)(vcs_native_run_t *, const void *);
  memcpy(&enter, &native->pages, sizeof enter); /* write_frame comes first */
  return enter(run, code);
}

#else

vcs_native_t *vcs_native_create(const vcs_cart_t *cart) { return (void)cart, NULL; }
void vcs_native_free(vcs_native_t *native) { (void)native; }
void vcs_native_after(int frames) { (void)frames; }
size_t vcs_native_size(const vcs_native_t *native) { return (void)native, 0; }

#endif
