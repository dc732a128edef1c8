/* concurrent_carry.c: what a row does to flips that differ in what it reads.
 *
 * A flip that follows the base executes the same instructions; only bytes, registers, flags or the time differ. A row
 * that reads none of them does to the flip what it does to the base, and what it overwrites differs no more. For the
 * flips that differ in what a row reads, and only for them, the row's operation is applied to their own values; results
 * that are the base's drop out of the lists. A flip may have another index or pointer: then it reads and writes at its
 * own address.
 *
 *   row          A                        $90
 *   LDA $80      {3: 07, 9: 05}           {}           flips 3 and 9 differ in $80
 *   AND #$05     {}                       {}           05 in both, and in the base
 *
 * Time is a register like any other. It matters where a chip is accessed: a read of the timer is computed for the
 * flip's own time, WSYNC makes most flips punctual again, any other access is noted for the flip's TIA.
 *
 * A flip leaves where its next instruction is another one (a branch, a return), and wherever this file does not know
 * what the row does to it.
 */
#include "concurrent_note.h"

#include "core/cpu.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LANES = 64 }; /* flips in a word */

/* ---- Facts ------------------------------------------------------------------------------------------------------ */

/* Sets of registers: a byte each, in the order of VCS_WHERE_A and so on, as vcs_lists_t.any has them. */
#define ONE(name) (1ull << 8 * (VCS_WHERE_##name - VCS_WHERE_A))
#define SET(of)                                                                                   \
  (((of)&VCS_OF_A ? ONE(A) : 0) | ((of)&VCS_OF_X ? ONE(X) : 0) | ((of)&VCS_OF_Y ? ONE(Y) : 0) |   \
   ((of)&VCS_OF_NZ ? ONE(NZ) : 0) | ((of)&VCS_OF_C ? ONE(C) : 0) | ((of)&VCS_OF_V ? ONE(V) : 0) | \
   ((of) & (VCS_OF_D | VCS_OF_I) ? ONE(DI) : 0))
_Static_assert(VCS_REGISTERS == 8, "a set of registers is a word");

#define INDEX_IMP 0
#define INDEX_ACC 0
#define INDEX_IMM 0
#define INDEX_ZP 0
#define INDEX_ZPX ONE(X)
#define INDEX_ZPY ONE(Y)
#define INDEX_ABS 0
#define INDEX_ABX ONE(X)
#define INDEX_ABY ONE(Y)
#define INDEX_IND 0
#define INDEX_IZX ONE(X)
#define INDEX_IZY ONE(Y)
#define INDEX_REL 0

/* Branches read a flag that VCS_OPERATIONS does not name: N or Z, V, C. */
#define FLAG(code) ((code) >> 6 == 1 ? ONE(V) : (code) >> 6 == 2 ? ONE(C) : ONE(NZ))

/* What changes the stack pointer otherwise than by a push or a pull is not carried, nor is what jumps. */
#define IS_CARRIED(operation, access)                                      \
  ((VCS_ACCESS_##access == VCS_ACCESS_STACK)                               \
       ? VCS_PUSHED_BY_##operation == 1 || VCS_PUSHED_BY_##operation == -1 \
       : VCS_ACCESS_##access != VCS_ACCESS_JUMP && !((VCS_SETS_##operation) & VCS_OF_S))

#define NAME(operation, reads, sets, kind, pushed) OP_##operation,
enum { VCS_OPERATIONS(NAME) };

typedef struct {
  uint64_t reads, sets;
  uint8_t operation, mode, access;
  bool carried;
} facts_t;

#define FACTS(code, operation, mode, access, cycles)                                                         \
  {SET(VCS_READS_##operation) | INDEX_##mode | (VCS_ACCESS_##access == VCS_ACCESS_BRANCH ? FLAG(code) : 0) | \
       ((code) == VCS_BRK ? SET(VCS_OF_P) : 0),                                                              \
   SET(VCS_SETS_##operation),                                                                                \
   OP_##operation,                                                                                           \
   VCS_MODE_##mode,                                                                                          \
   VCS_ACCESS_##access,                                                                                      \
   IS_CARRIED(operation, access)},
static const facts_t facts_of[256] = {VCS_OPCODES(FACTS)};

/* ---- One operation ---------------------------------------------------------------------------------------------- */

#define vcs_do_JAM(...) (void)0
#define DO_IMPLIED(operation) vcs_do_##operation(NULL, NULL, cpu, NULL);
#define DO_STACK(operation) break;
#define DO_READ(operation) vcs_op_##operation(cpu, *byte);
#define DO_WRITE(operation) *byte = vcs_op_##operation(cpu, addr);
#define DO_MODIFY(operation) *byte = vcs_op_##operation(cpu, *byte);
#define DO_JUMP(operation) break;
#define DO_BRANCH(operation) return vcs_op_##operation(cpu);
#define DO(code, operation, mode, access, cycles) \
  case code:                                      \
    DO_##access(operation) break;

/* Whether a branch is taken. `byte` is what is read, and then what is stored. */
static bool operate(uint8_t opcode, vcs_cpu_t *cpu, uint16_t addr, uint8_t *byte) {
  switch (opcode) {
    case VCS_PHA:
      *byte = cpu->a;
      return false;
    case VCS_PHP:
      *byte = vcs_cpu_status(cpu);
      return false;
    case VCS_PLA:
      vcs_op_LDA(cpu, *byte);
      return false;
    case VCS_PLP:
      vcs_cpu_set_status(cpu, *byte);
      return false;
    default:
      break;
  }
  switch (opcode) { VCS_OPCODES(DO) }
  return false;
}

/* ---- A row ------------------------------------------------------------------------------------------------------ */

static void load_key(vcs_cpu_t *cpu, uint64_t key) {
  memset(cpu, 0, sizeof *cpu);
  cpu->pc = (uint16_t)key;
  cpu->sp = (uint8_t)(key >> 16);
  cpu->a = (uint8_t)(key >> 24);
  cpu->x = (uint8_t)(key >> 32);
  cpu->y = (uint8_t)(key >> 40);
  vcs_cpu_set_status(cpu, (uint8_t)(key >> 48));
}

typedef struct {
  vcs_carry_t *carry;
  vcs_lists_t *lists;
  const vcs_stand_t *stand;
  const facts_t *facts;
  uint32_t row;
  uint64_t reads; /* registers that it reads and that may differ */
  vcs_cpu_t base, after;
  bool taken;
  bool in_ram, in_tia; /* its last access */
  bool timer;          /* reads the timer, and nothing else that differs */
} row_t;

/* A flip in a row. */
typedef struct {
  size_t flip;
  vcs_cpu_t cpu;
  uint16_t addr;
  uint8_t byte;
  int32_t late;
} own_t;

static bool is_ram(uint16_t addr) { return (addr & 0x1280) == 0x80; }

/* A read that does nothing but read the image. */
static bool is_plain_rom(const vcs_carry_t *carry, uint16_t addr) {
  return addr & 0x1000 && !(carry->cart->hot_pages >> (addr >> 6 & 63) & 1);
}

static uint8_t own_ram(const row_t *r, size_t flip, uint16_t addr) {
  const unsigned where = addr & 0x7F;
  return vcs_lists_has(r->lists, where, flip) ? r->lists->value[where][flip] : r->carry->base->ram[where];
}

static void load_own(const row_t *r, own_t *own) {
  const vcs_lists_t *lists = r->lists;
  const size_t flip = own->flip;
  own->cpu = r->base;
#define DIFFERS(name) (r->reads & ONE(name) && vcs_lists_has(lists, VCS_WHERE_##name, flip))
#define VALUE(name) lists->value[VCS_WHERE_##name][flip]
  if (DIFFERS(A)) own->cpu.a = VALUE(A);
  if (DIFFERS(X)) own->cpu.x = VALUE(X);
  if (DIFFERS(Y)) own->cpu.y = VALUE(Y);
  if (DIFFERS(NZ)) vcs_cpu_set_nz(&own->cpu, VALUE(NZ), !(VALUE(NZ) & VCS_FLAG_Z));
  if (DIFFERS(C)) own->cpu.c = VALUE(C);
  if (DIFFERS(V)) own->cpu.v = VALUE(V) >> 6;
  if (DIFFERS(DI)) own->cpu.d = VALUE(DI) >> 3 & 1, own->cpu.i = VALUE(DI) >> 2 & 1;
#undef DIFFERS
#undef VALUE
  own->late = vcs_lists_has(lists, VCS_WHERE_TIME, flip) ? lists->late[flip] : 0;
}

/* The flip's own address, and a cycle more or less where an index carries. False: not known. */
static bool find_address(const row_t *r, own_t *own) {
  const uint16_t addr = r->stand->addr;
  uint16_t from = addr, own_from;
  own->addr = addr;
  switch (r->facts->mode) {
    case VCS_MODE_ZPX:
      own->addr = (uint8_t)(addr - r->base.x + own->cpu.x);
      return true;
    case VCS_MODE_ZPY:
      own->addr = (uint8_t)(addr - r->base.y + own->cpu.y);
      return true;
    case VCS_MODE_ABX:
      own_from = from = (uint16_t)(addr - r->base.x);
      own->addr = (uint16_t)(own_from + own->cpu.x);
      break;
    case VCS_MODE_ABY:
      own_from = from = (uint16_t)(addr - r->base.y);
      own->addr = (uint16_t)(own_from + own->cpu.y);
      break;
    case VCS_MODE_IZY:
      if (r->stand->low < 0x80 || r->stand->low == 0xFF) return false;
      from = (uint16_t)(addr - r->base.y);
      own_from = (uint16_t)(own_ram(r, own->flip, r->stand->low) | own_ram(r, own->flip, r->stand->low + 1u) << 8);
      own->addr = (uint16_t)(own_from + own->cpu.y);
      if (r->stand->chip) return own_from == from && own->addr == addr; /* the pointer stays on the bus */
      break;
    case VCS_MODE_IZX:
      return false;
    default:
      return true;
  }
  if (r->facts->access == VCS_ACCESS_READ) {
    own->late += ((own_from ^ own->addr) & 0xFF00 ? 1 : 0) - ((from ^ addr) & 0xFF00 ? 1 : 0);
  }
  return true;
}

/* The timer at a flip's own time, as long as it runs. */
static bool read_timer(const row_t *r, own_t *own) {
  const vcs_t *base = r->carry->base;
  const vcs_t *m = vcs_lists_has(r->lists, VCS_WHERE_TIMER, own->flip)
                       ? (const vcs_t *)(const void *)(r->lists->machines + own->flip * r->lists->stride)
                       : base;
  const uint32_t now = r->stand[1].cycles, elapsed = now + (uint32_t)own->late - 1 - m->timer_cycle;
  if (r->stand->addr & 1 || base->timer_was_read || m->timer_was_read) return false;
  if (vcs_riot_intervals(base, now - 1 - base->timer_cycle) < 0 || vcs_riot_intervals(m, elapsed) < 0) return false;
  own->byte = (uint8_t)(m->timer - (elapsed >> m->timer_shift) - 1);
  return true;
}

static bool make_access(const row_t *r, const own_t *own, uint8_t value);

/* A chip is read. */
static bool read_chip(const row_t *r, own_t *own) {
  const uint16_t addr = r->stand->addr;
  const vcs_lists_t *lists = r->lists;
  own->byte = r->stand->read;
  if (r->carry->cart->snoops) return false;
  if (addr & 0x80) {
    if (addr & 4) return read_timer(r, own);
    return !vcs_lists_has(lists, VCS_WHERE_PORTS, own->flip) && !vcs_lists_has(lists, VCS_WHERE_SWITCHES, own->flip);
  }
  const unsigned reg = addr & 15;
  if (reg < 8) {
    if (own->late) return false;
    if (vcs_lists_has(lists, VCS_WHERE_LATCH, own->flip)) own->byte = lists->value[VCS_WHERE_LATCH][own->flip];
    return true;
  }
  if (vcs_lists_has(lists, VCS_WHERE_PORTS, own->flip) || vcs_lists_has(lists, VCS_WHERE_FIRE, own->flip) ||
      vcs_lists_has(lists, VCS_WHERE_PADDLES, own->flip) || (own->late && reg < 12)) {
    return false;
  }
  return make_access(r, own, 0);
}

static bool read_own(const row_t *r, own_t *own) {
  const vcs_carry_t *carry = r->carry;
  const uint16_t addr = r->stand->addr;
  own->byte = r->stand->read;
  if (own->addr != addr) {
    if (!r->in_ram && !is_plain_rom(carry, addr)) return false;
    if (is_ram(own->addr)) {
      own->byte = own_ram(r, own->flip, own->addr);
      return true;
    }
    if (!is_plain_rom(carry, own->addr) || carry->rom) return false;
    own->byte = carry->cart->rom[carry->base->bank[own->addr >> 10 & 3] + (own->addr & 0x3FFu)];
    return true;
  }
  if (r->in_ram) {
    own->byte = own_ram(r, own->flip, addr);
    return true;
  }
  return addr & 0x1000 ? is_plain_rom(carry, addr) : read_chip(r, own);
}

/* ---- Accesses to the TIA ---------------------------------------------------------------------------------------- */

/* Registers for which it does not matter when they are written, as long as nothing is drawn. */
static bool is_timeless(unsigned reg) {
  return reg != VCS_VSYNC && reg != VCS_CTRLPF && (reg < VCS_RESP0 || reg > VCS_RESBL) && reg != VCS_HMM0 &&
         reg != VCS_HMOVE;
}

static int32_t clock_of(const row_t *r, uint32_t cycles) {
  return vcs_wrap_minus((int32_t)(cycles * 3), r->carry->base->frame_clock);
}

static int32_t target_of(const row_t *r, const vcs_beam_access_t *access) {
  const int32_t now = clock_of(r, access->cycles);
  return access->kind == VCS_BEAM_READ ? now : vcs_wrap_minus(now, -vcs_tia_delay(access->reg, now));
}

/* Whether the same access at another time does the same: above and below the picture. *if_clean: or a WSYNC that ends
 * when the base's does, where two later accesses leave nothing of it, if the flip's TIA is the base's. */
static bool does_the_same(const row_t *r, const vcs_beam_access_t *base, const vcs_beam_access_t *own, uint32_t number,
                          bool *if_clean) {
  const vcs_base_frame_t *frame = r->carry->frame;
  const vcs_video_t *video = &frame->note.video;
  const int32_t one = target_of(r, base), other = target_of(r, own);
  const bool timeless = base->kind == VCS_BEAM_READ ? base->reg >= 8 : is_timeless(base->reg);
  *if_clean = false;
  if (base->value != own->value) return false;
  if (timeless && ((one < video->start && other < video->start) || (one >= video->stop && other >= video->stop))) {
    return true;
  }
  if (base->kind == VCS_BEAM_READ || base->reg != VCS_WSYNC || frame->blanks[number] || number + 2 >= frame->note.count)
    return false;
  *if_clean =
      own->cycles < base[1].cycles && clock_of(r, base[2].cycles) < video->late && base[1].cycles < base[2].cycles;
  return false;
}

/* The flip's only access in this row, of the TIA. False: the flip leaves. */
static bool make_access(const row_t *r, const own_t *own, uint8_t value) {
  const vcs_carry_t *carry = r->carry;
  const vcs_base_frame_t *frame = carry->frame;
  const uint32_t number = r->stand->access;
  const vcs_beam_access_t *base = &frame->note.accesses[number];
  vcs_beam_access_t mine = *base;
  bool if_clean;
  if (r->stand[1].access != number + 1 || base->kind == VCS_BEAM_NEXT) return false;
  mine.cycles += (uint32_t)own->late;
  if ((own->late > VCS_NEAR || own->late < -VCS_NEAR) &&
      (vcs_in_picture(frame, carry->base, mine.cycles) || vcs_in_picture(frame, carry->base, base->cycles))) {
    return false;
  }
  if (base->kind == VCS_BEAM_WRITE) mine.value = value & vcs_note_mask(base->reg);
  if (own->late &&
      (clock_of(r, mine.cycles) >= frame->note.video.limit || clock_of(r, base->cycles) >= frame->note.video.limit)) {
    return false;
  }
  if (memcmp(&mine, base, sizeof mine) == 0) return true;
  if (does_the_same(r, base, &mine, number, &if_clean)) return true;
  return carry->access(carry->context, own->flip, number, &mine, if_clean);
}

static bool write_tia(const row_t *r, own_t *own) {
  const vcs_t *base = r->carry->base;
  const unsigned reg = r->stand->addr & 63;
  const uint8_t stored = r->stand->stored;
  if (r->carry->cart->snoops) return false;
  if (reg == VCS_VSYNC && (own->late || own->byte != stored || vcs_lists_has(r->lists, VCS_WHERE_VSYNC, own->flip))) {
    return false;
  }
  if (reg == VCS_VBLANK && ((own->byte ^ stored) & 0x80 || (own->late && (base->vblank ^ stored) & 0x80) ||
                            vcs_lists_has(r->lists, VCS_WHERE_PADDLES, own->flip))) {
    return false;
  }
  if (!make_access(r, own, own->byte)) return false;
  if (reg == VCS_WSYNC) {
    const uint32_t at = r->carry->frame->note.accesses[r->stand->access].cycles + (uint32_t)own->late;
    own->late = (int32_t)(vcs_wsync_end(at, base->frame_clock) - r->stand[1].cycles);
  }
  return true;
}

/* ---- Who, and what becomes of them ------------------------------------------------------------------------------ */

/* Applies the row to a flip. False: it leaves, and nothing has changed. */
static bool apply(const row_t *r, own_t *own) {
  const unsigned access = r->facts->access;
  const uint8_t opcode = r->stand->opcode;
  const bool pulls = opcode == VCS_PLA || opcode == VCS_PLP, pushes = opcode == VCS_PHA || opcode == VCS_PHP;
  load_own(r, own);
  if (own->late && r->carry->cart->scheme == VCS_SCHEME_DPC) return false; /* which has clocks of its own */
  own->byte = r->stand->low;
  own->addr = r->stand->addr;
  if (access == VCS_ACCESS_READ && r->facts->mode != VCS_MODE_IMM) {
    if (!find_address(r, own) || !read_own(r, own)) return false;
  } else if (access == VCS_ACCESS_WRITE) {
    if (!find_address(r, own)) return false;
  } else if (access == VCS_ACCESS_MODIFY) {
    if (!r->in_ram || !find_address(r, own) || !is_ram(own->addr)) return false;
    own->byte = own_ram(r, own->flip, own->addr);
  } else if (pulls) {
    if (!r->in_ram) return false;
    own->byte = own_ram(r, own->flip, own->addr);
  }
  if (r->in_ram && is_ram(own->addr) && !((own->addr ^ r->stand->addr) & 0x7F)) own->addr = r->stand->addr;
  if (operate(opcode, &own->cpu, own->addr, &own->byte) != r->taken) return false;
  if (access == VCS_ACCESS_WRITE || pushes) {
    if (own->addr != r->stand->addr) return r->in_ram && is_ram(own->addr);
    if (!r->in_ram) return r->in_tia && write_tia(r, own);
  }
  return true;
}

static bool stores(const row_t *r) {
  const unsigned access = r->facts->access;
  return access == VCS_ACCESS_WRITE || access == VCS_ACCESS_MODIFY || r->stand->opcode == VCS_PHA ||
         r->stand->opcode == VCS_PHP;
}

static uint8_t register_of(const vcs_cpu_t *cpu, unsigned where) {
  switch (where) {
    case VCS_WHERE_A:
      return cpu->a;
    case VCS_WHERE_X:
      return cpu->x;
    case VCS_WHERE_Y:
      return cpu->y;
    case VCS_WHERE_NZ:
      return (vcs_cpu_is_negative(cpu) ? VCS_FLAG_N : 0) | (vcs_cpu_is_zero(cpu) ? VCS_FLAG_Z : 0);
    case VCS_WHERE_C:
      return cpu->c;
    case VCS_WHERE_V:
      return (uint8_t)(cpu->v << 6);
    default:
      return (uint8_t)(cpu->d << 3 | cpu->i << 2);
  }
}

/* The places that a row overwrites, and what becomes of a word of flips there. */
typedef struct {
  unsigned where[8];
  uint8_t base[8];
  uint64_t differ[8];
  uint8_t bytes[8][LANES];
  unsigned count;
} results_t;

static void keep_byte(const row_t *r, results_t *results, unsigned i, size_t flip, uint8_t value) {
  const unsigned where = results->where[i];
  if (value == results->base[i]) return;
  if (!results->differ[i]) memset(results->bytes[i], results->base[i], LANES);
  results->bytes[i][flip % LANES] = value;
  results->differ[i] |= 1ull << flip % LANES;
  if (where < VCS_WHERE_TIMER) r->lists->ram[flip][where >> 6] |= 1ull << (where & 63);
}

/* A flip is as many cycles later than it was. */
static void add_time(vcs_lists_t *lists, size_t flip, int32_t cycles) {
  const int32_t late = (vcs_lists_has(lists, VCS_WHERE_TIME, flip) ? lists->late[flip] : 0) + cycles;
  lists->late[flip] = late;
  vcs_lists_set(lists, VCS_WHERE_TIME, flip, late != 0);
}

static void keep(const row_t *r, const own_t *own, results_t *results) {
  vcs_lists_t *lists = r->lists;
  const size_t flip = own->flip;
  for (unsigned i = 0; i < results->count; i++) {
    const unsigned where = results->where[i];
    keep_byte(r, results, i, flip,
              where >= VCS_WHERE_A          ? register_of(&own->cpu, where)
              : own->addr == r->stand->addr ? own->byte
                                            : own_ram(r, flip, r->stand->addr));
  }
  if (stores(r) && own->addr != r->stand->addr) {
    vcs_lists_set_byte(lists, own->addr & 0x7F, flip, own->byte, r->carry->base->ram[own->addr & 0x7F]);
  }
  if (own->late || lists->any[VCS_WHERE_TIME]) {
    lists->late[flip] = own->late;
    vcs_lists_set(lists, VCS_WHERE_TIME, flip, own->late != 0);
  }
}

/* ---- A word of flips at once ------------------------------------------------------------------------------------ */

/* The bytes of a place, of all flips of a word. */
static const uint8_t *lanes_of(const row_t *r, unsigned where, size_t word, uint8_t base, uint8_t fill[LANES]) {
  if (r->lists->who[where][word]) return &r->lists->value[where][LANES * word];
  memset(fill, base, LANES);
  return fill;
}

static uint64_t differing(const uint8_t bytes[LANES], uint8_t base) {
  uint64_t differs = 0;
#if defined(__SSE2__)
  const __m128i same = _mm_set1_epi8((char)base);
  for (int i = 0; i < LANES; i += 16) {
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
    differs |= (uint64_t)(uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(b, same)) << i;
  }
#else
  for (int i = 0; i < LANES; i++) differs |= (uint64_t)(bytes[i] != base) << i;
#endif
  return differs;
}

/* What an operation makes of a word: a byte, of which N and Z are those of `nz`, and the flags C and V. */
typedef struct {
  uint8_t byte[LANES], nz[LANES], c[LANES], v[LANES];
} made_t;

#define EACH(...)                   \
  for (int i = 0; i < LANES; i++) { \
    __VA_ARGS__                     \
  }

static void flags_of_bytes(const uint8_t *bytes, uint8_t *nz) {
  EACH(nz[i] = (uint8_t)((bytes[i] & VCS_FLAG_N) | (bytes[i] ? 0 : VCS_FLAG_Z));)
}

/* False: not an operation for words. */
static bool make_word(unsigned operation, const uint8_t *a, const uint8_t *b, const uint8_t *c, made_t *m) {
  uint8_t *r = m->byte;
  switch (operation) {
    case OP_LDA:
    case OP_LDX:
    case OP_LDY:
    case OP_STA:
    case OP_STX:
    case OP_STY:
    case OP_PHA:
    case OP_PLA:
    case OP_TAX:
    case OP_TAY:
    case OP_TXA:
    case OP_TYA:
      memcpy(r, b, LANES);
      break;
    case OP_AND:
      EACH(r[i] = a[i] & b[i];)
      break;
    case OP_ORA:
      EACH(r[i] = a[i] | b[i];)
      break;
    case OP_EOR:
      EACH(r[i] = a[i] ^ b[i];)
      break;
    case OP_INC:
    case OP_INX:
    case OP_INY:
      EACH(r[i] = (uint8_t)(b[i] + 1);)
      break;
    case OP_DEC:
    case OP_DEX:
    case OP_DEY:
      EACH(r[i] = (uint8_t)(b[i] - 1);)
      break;
    case OP_ASL:
    case OP_ASLA:
      EACH(r[i] = (uint8_t)(b[i] + b[i]); m->c[i] = b[i] >> 7;)
      break;
    case OP_LSR:
    case OP_LSRA:
      EACH(r[i] = b[i] >> 1; m->c[i] = b[i] & 1;)
      break;
    case OP_ROL:
    case OP_ROLA:
      EACH(r[i] = (uint8_t)(b[i] + b[i] + c[i]); m->c[i] = b[i] >> 7;)
      break;
    case OP_ROR:
    case OP_RORA:
      EACH(r[i] = (uint8_t)(b[i] >> 1 | c[i] << 7); m->c[i] = b[i] & 1;)
      break;
    case OP_CMP:
    case OP_CPX:
    case OP_CPY:
      EACH(r[i] = (uint8_t)(a[i] - b[i]); m->c[i] = a[i] >= b[i];)
      break;
    case OP_ADC:
      EACH(const uint8_t sum = (uint8_t)(a[i] + b[i] + c[i]); r[i] = sum;
           m->c[i] = (uint8_t)((a[i] & b[i]) | ((a[i] | b[i]) & ~sum)) >> 7;
           m->v[i] = ((a[i] ^ sum) & (b[i] ^ sum)) >> 1 & VCS_FLAG_V;)
      break;
    case OP_SBC:
      EACH(const uint8_t n = (uint8_t)~b[i], sum = (uint8_t)(a[i] + n + c[i]); r[i] = sum;
           m->c[i] = (uint8_t)((a[i] & n) | ((a[i] | n) & ~sum)) >> 7;
           m->v[i] = ((a[i] ^ sum) & (n ^ sum)) >> 1 & VCS_FLAG_V;)
      break;
    case OP_BIT:
      EACH(m->nz[i] = (uint8_t)((b[i] & VCS_FLAG_N) | (a[i] & b[i] ? 0 : VCS_FLAG_Z)); m->v[i] = b[i] & VCS_FLAG_V;)
      return true;
    default:
      return false;
  }
  flags_of_bytes(r, m->nz);
  return true;
}

/* The register that an operation takes instead of an operand, or that it compares. */
static unsigned register_read(unsigned operation, bool *only) {
  *only = true;
  switch (operation) {
    case OP_STA:
    case OP_PHA:
    case OP_TAX:
    case OP_TAY:
    case OP_ASLA:
    case OP_LSRA:
    case OP_ROLA:
    case OP_RORA:
      return VCS_WHERE_A;
    case OP_STX:
    case OP_TXA:
    case OP_INX:
    case OP_DEX:
      return VCS_WHERE_X;
    case OP_STY:
    case OP_TYA:
    case OP_INY:
    case OP_DEY:
      return VCS_WHERE_Y;
    default:
      *only = false;
      return operation == OP_CPX ? VCS_WHERE_X : operation == OP_CPY ? VCS_WHERE_Y : VCS_WHERE_A;
  }
}

/* The timer is read by an absolute address. */
static bool reads_timer(const row_t *r) {
  return r->facts->access == VCS_ACCESS_READ && r->facts->mode == VCS_MODE_ABS && (r->stand->addr & 0x1285) == 0x284 &&
         !r->carry->cart->snoops && r->carry->cart->scheme != VCS_SCHEME_DPC;
}

/* Whether a word can be done at once: no number is decimal, only the timer or a collision is read from a chip, and
 * otherwise no flip's time matters. */
static bool is_uniform(const row_t *r, size_t word) {
  const vcs_lists_t *lists = r->lists;
  const facts_t *facts = r->facts;
  if (r->stand->chip && lists->who[VCS_WHERE_TIME][word] && !r->timer) return false;
  if ((facts->operation == OP_ADC || facts->operation == OP_SBC) && (r->base.d || lists->who[VCS_WHERE_DI][word])) {
    return false;
  }
  switch (facts->access) {
    case VCS_ACCESS_READ:
      return facts->mode == VCS_MODE_IMM || r->in_ram || is_plain_rom(r->carry, r->stand->addr) ||
             lists->who[VCS_WHERE_LATCH][word] || r->timer;
    case VCS_ACCESS_MODIFY:
      return r->in_ram;
    case VCS_ACCESS_WRITE: /* VSYNC and VBLANK concern more than the picture */
      return r->in_ram || (r->in_tia && (r->stand->addr & 63) > VCS_VBLANK);
    case VCS_ACCESS_STACK:
      return r->in_ram || (r->in_tia && (r->stand->addr & 63) > VCS_VBLANK && facts->operation == OP_PHA);
    default:
      return true;
  }
}

/* Flips of a word whose address may be another one. */
static uint64_t astray(const row_t *r, size_t word) {
  const vcs_lists_t *lists = r->lists;
  const unsigned low = r->stand->low;
  if (r->timer) return lists->who[VCS_WHERE_TIME][word] | lists->who[VCS_WHERE_TIMER][word];
  switch (r->facts->mode) {
    case VCS_MODE_ZPX:
    case VCS_MODE_ABX:
      return lists->who[VCS_WHERE_X][word];
    case VCS_MODE_ZPY:
    case VCS_MODE_ABY:
      return lists->who[VCS_WHERE_Y][word];
    case VCS_MODE_IZY:
      return low < 0x80 || low == 0xFF
                 ? ~0ull
                 : lists->who[VCS_WHERE_Y][word] | lists->who[low & 0x7F][word] | lists->who[(low + 1) & 0x7F][word];
    case VCS_MODE_IZX:
      return ~0ull;
    default:
      return 0;
  }
}

/* The operands of flips that read at addresses of their own, or the timer at times of their own. Those that read
 * anything else than memory, or a timer that has run out, leave. */
static void read_astray(const row_t *r, size_t word, uint64_t flips, uint8_t bytes[LANES]) {
  const vcs_lists_t *lists = r->lists;
  own_t own;
  for (uint64_t left = flips; left; left &= left - 1) {
    const size_t lane = (size_t)VCS_LOWEST_64(left), flip = LANES * word + lane;
    own.flip = flip;
    own.late = 0;
    if (r->timer) {
      const int32_t late = vcs_lists_has(lists, VCS_WHERE_TIME, flip) ? lists->late[flip] : 0;
      own.late = late;
      if (!read_timer(r, &own)) {
        r->carry->leave(r->carry->context, flip, r->row);
        own.byte = r->stand->read;
      }
      bytes[lane] = own.byte;
      continue;
    }
    own.cpu.x = lists->who[VCS_WHERE_X][word] ? lists->value[VCS_WHERE_X][flip] : r->base.x;
    own.cpu.y = lists->who[VCS_WHERE_Y][word] ? lists->value[VCS_WHERE_Y][flip] : r->base.y;
    if (!find_address(r, &own) || !read_own(r, &own)) {
      r->carry->leave(r->carry->context, flip, r->row);
      own.byte = r->stand->read; /* as if it did not differ */
      own.late = 0;
    }
    bytes[lane] = own.byte;
    if (own.late) add_time(r->lists, flip, own.late);
  }
}

static void keep_word(const row_t *r, results_t *results, unsigned i, size_t word, const uint8_t *bytes) {
  const unsigned where = results->where[i];
  results->differ[i] = differing(bytes, results->base[i]);
  if (!results->differ[i]) return;
  memcpy(results->bytes[i], bytes, LANES);
  if (where >= VCS_WHERE_TIMER) return;
  for (uint64_t left = results->differ[i]; left; left &= left - 1) {
    r->lists->ram[LANES * word + (size_t)VCS_LOWEST_64(left)][where >> 6] |= 1ull << (where & 63);
  }
}

/* Flips that write another value to the TIA. */
static void write_word_to_tia(const row_t *r, size_t word, const uint8_t *bytes) {
  for (uint64_t left = differing(bytes, r->stand->stored); left; left &= left - 1) {
    own_t own = {.flip = LANES * word + (size_t)VCS_LOWEST_64(left)};
    own.byte = bytes[own.flip % LANES];
    if (!write_tia(r, &own)) r->carry->leave(r->carry->context, own.flip, r->row);
  }
}

/* False: nothing is done; the flips are to be taken one by one. */
static bool apply_word(const row_t *r, size_t word, uint64_t readers, results_t *results) {
  uint8_t fill[3][LANES];
  made_t made;
  bool only;
  const facts_t *facts = r->facts;
  if (!is_uniform(r, word)) return false;
  const uint64_t others = astray(r, word) & readers;
  if (others && facts->access != VCS_ACCESS_READ) return false;
  const unsigned reg = register_read(facts->operation, &only);
  const uint8_t *a = lanes_of(r, reg, word, register_of(&r->base, reg), fill[0]), *b = a, *c = NULL;
  if (!only) {
    const bool in_ram = r->in_ram && facts->mode != VCS_MODE_IMM;
    const unsigned where = in_ram ? r->stand->addr & 0x7F : VCS_WHERE_LATCH;
    const uint8_t base = facts->mode == VCS_MODE_IMM ? r->stand->low : r->stand->read;
    if (others) {
      memcpy(fill[1], lanes_of(r, where, word, base, made.byte), LANES);
      read_astray(r, word, others, fill[1]);
      b = fill[1];
    } else {
      b = lanes_of(r, where, word, base, fill[1]);
    }
  }
  if (facts->reads & ONE(C)) c = lanes_of(r, VCS_WHERE_C, word, r->base.c, fill[2]);
  if (!make_word(facts->operation, a, b, c, &made)) return false;
  for (unsigned i = 0; i < results->count; i++) {
    const unsigned where = results->where[i];
    keep_word(r, results, i, word,
              where == VCS_WHERE_NZ  ? made.nz
              : where == VCS_WHERE_C ? made.c
              : where == VCS_WHERE_V ? made.v
                                     : made.byte);
  }
  if (stores(r) && r->in_tia) write_word_to_tia(r, word, made.byte);
  return true;
}

/* A branch: those leave whose flag is another one. */
static void branch_word(const row_t *r, size_t word) {
  static const uint8_t flags[] = {VCS_FLAG_N, VCS_FLAG_V, VCS_FLAG_C, VCS_FLAG_Z};
  static const uint8_t where[] = {VCS_WHERE_NZ, VCS_WHERE_V, VCS_WHERE_C, VCS_WHERE_NZ};
  const unsigned kind = r->stand->opcode >> 6;
  const uint64_t who = r->lists->who[where[kind]][word];
  const uint8_t *bytes = &r->lists->value[where[kind]][LANES * word], base = register_of(&r->base, where[kind]);
  for (uint64_t left = who; left; left &= left - 1) {
    const size_t lane = (size_t)VCS_LOWEST_64(left);
    if ((bytes[lane] ^ base) & flags[kind]) r->carry->leave(r->carry->context, LANES * word + lane, r->row);
  }
}

static void replace_touched(const row_t *r) {
  const vcs_base_frame_t *frame = r->carry->frame;
  for (uint32_t i = r->stand->touch; i < r->stand[1].touch; i++) {
    const unsigned touch = frame->touches[i].where, where = touch & 0xFF;
    if (touch & VCS_WHERE_REPLACED && r->lists->any[where]) vcs_lists_clear(r->lists, where);
  }
}

static void add_results(row_t *r, results_t *results) {
  for (unsigned i = 0; i < VCS_REGISTERS - 1; i++) {
    if (!(r->facts->sets >> 8 * i & 1)) continue;
    results->where[results->count] = VCS_WHERE_A + i;
    results->base[results->count++] = register_of(&r->after, VCS_WHERE_A + i);
  }
  if (stores(r) && r->in_ram) {
    results->where[results->count] = r->stand->addr & 0x7F;
    results->base[results->count++] = r->stand->stored;
  }
}

static void add_readers(vcs_lists_t *lists, unsigned where, uint64_t readers[VCS_FLIP_WORDS]) {
  uint64_t any = 0;
  for (size_t w = 0; w < VCS_FLIP_WORDS; w++) {
    readers[w] |= lists->who[where][w];
    any |= lists->who[where][w];
  }
  lists->any[where] = any != 0;
}

/* Flips that differ in what the row reads. */
static uint64_t find_readers(const row_t *r, uint64_t readers[VCS_FLIP_WORDS]) {
  const vcs_base_frame_t *frame = r->carry->frame;
  uint64_t any = 0;
  for (size_t w = 0; w < VCS_FLIP_WORDS; w++) readers[w] = 0;
  for (uint64_t left = r->reads; left; left &= left - 1) {
    add_readers(r->lists, VCS_WHERE_A + (unsigned)VCS_LOWEST_64(left) / 8, readers);
  }
  if (r->lists->any[VCS_WHERE_LATCH]) add_readers(r->lists, VCS_WHERE_LATCH, readers);
  for (uint32_t i = r->stand->touch; i < r->stand[1].touch; i++) {
    const unsigned where = frame->touches[i].where;
    if (!(where & VCS_WHERE_REPLACED) && r->lists->any[where]) add_readers(r->lists, where, readers);
  }
  for (size_t w = 0; w < VCS_FLIP_WORDS; w++) any |= readers[w];
  return any;
}

static void clear_sets(const row_t *r, uint64_t any) {
  for (uint64_t left = r->facts->sets & any; left; left &= left - 1) {
    vcs_lists_clear(r->lists, VCS_WHERE_A + (unsigned)VCS_LOWEST_64(left) / 8);
  }
}

bool vcs_carry_reads_one(const vcs_base_frame_t *frame, uint32_t row) {
  const vcs_stand_t *stand = &frame->rows[row];
  const facts_t *facts = &facts_of[stand->opcode];
  return facts->access == VCS_ACCESS_READ && facts->mode != VCS_MODE_IZX && facts->mode != VCS_MODE_IZY &&
         stand[1].access == stand->access + 1;
}

static void apply_to_word(const row_t *r, size_t word, uint64_t readers, results_t *results) {
  vcs_carry_t *carry = r->carry;
  carry->carried++;
  if (r->facts->access == VCS_ACCESS_BRANCH) {
    branch_word(r, word);
  } else if (!r->facts->carried || !apply_word(r, word, readers, results)) {
    for (uint64_t left = readers; left; left &= left - 1) {
      own_t own;
      own.flip = LANES * word + (size_t)VCS_LOWEST_64(left);
      if (r->facts->carried && apply(r, &own)) {
        keep(r, &own, results);
      } else {
        carry->leave(carry->context, own.flip, r->row);
      }
    }
  }
}

void vcs_carry_row(vcs_carry_t *carry, uint32_t row) {
  const vcs_stand_t *stand = &carry->frame->rows[row];
  vcs_lists_t *lists = carry->lists;
  const facts_t *facts = &facts_of[stand->opcode];
  uint64_t any, readers[VCS_FLIP_WORDS];
  memcpy(&any, &lists->any[VCS_WHERE_A], sizeof any);
  bool concerns = (facts->reads | facts->sets | (stand->chip ? ONE(TIME) : 0)) & any || lists->any[VCS_WHERE_LATCH];
  for (uint32_t i = stand->touch; i < stand[1].touch; i++)
    concerns |= lists->any[carry->frame->touches[i].where & 0xFF];
  if (!concerns) return;
  row_t r;
  results_t results;
  r.carry = carry;
  r.lists = lists;
  r.stand = stand;
  r.facts = facts;
  r.row = row;
  r.reads = (facts->reads | (stand->chip ? ONE(TIME) : 0)) & any;
  if (!find_readers(&r, readers)) {
    clear_sets(&r, any);
    replace_touched(&r);
    return;
  }
  load_key(&r.base, stand->key);
  load_key(&r.after, stand[1].key);
  r.in_ram = is_ram(stand->addr);
  r.in_tia = !(stand->addr & 0x1080);
  r.taken = false;
  r.timer = reads_timer(&r);
  results.count = 0;
  if (facts->carried) {
    vcs_cpu_t same = r.base;
    uint8_t byte = 0;
    if (facts->access == VCS_ACCESS_BRANCH) r.taken = operate(stand->opcode, &same, 0, &byte);
    add_results(&r, &results);
  }
  uint8_t differ[8] = {0};
  for (unsigned i = 0; i < results.count; i++) {
    uint64_t *who = lists->who[results.where[i]];
    for (size_t w = 0; w < VCS_FLIP_WORDS; w++) who[w] = readers[w] ? who[w] : 0;
  }
  for (size_t w = 0; w < VCS_FLIP_WORDS; w++) {
    if (!readers[w]) continue;
    for (unsigned i = 0; i < results.count; i++) results.differ[i] = 0;
    apply_to_word(&r, w, readers[w], &results);
    for (unsigned i = 0; i < results.count; i++) {
      lists->who[results.where[i]][w] = results.differ[i];
      if (!results.differ[i]) continue;
      memcpy(&lists->value[results.where[i]][LANES * w], results.bytes[i], LANES);
      differ[i] = 1;
    }
  }
  for (unsigned i = 0; i < results.count; i++) lists->any[results.where[i]] = differ[i];
  if (!facts->carried) clear_sets(&r, any);
  if (!facts->carried || !stores(&r) || !r.in_ram) replace_touched(&r);
}
