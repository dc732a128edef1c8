/* tape_run.c: the loop of run.h, compiled with hooks that record a row for each instruction.
 *
 * - Instructions that the loop cannot handle go to vcs_tape_step, before anything has changed. test_grad.c compares the
 *   two.
 * - The program counter indexes the code and the bytes of the bank, because a row needs it, too.
 * - A, X, Y, S and the flags except N and Z are in one word, as a row has them. One access stores it, and everything
 *   else fits into host registers. An instruction takes its registers out of the word, and puts back those that its
 *   operation sets. The upper bits of the time, which are also in that word, are corrected at the end (carry_time).
 * - Wait loops are recorded turn by turn, except those turns that a tape leaves out (vcs_tape_turns).
 * - The last byte on the bus is computed from the last row when the loop ends (last_byte).
 */
#include "recorder.h"

/* ---- Where the loop is ------------------------------------------------------------------------------------------- */

/* Arrays of a bank, indexed by the program counter itself. Where element 0 would be may lie outside any object, so that
 * place is an integer; only the address of an element of the bank becomes a pointer. (To subtract the bank's start from
 * the program counter at every instruction takes four per cent more host instructions.) */
typedef uintptr_t bank_array_t;

static bank_array_t bank_array(const void *array, size_t size, uint16_t first) {
  return (uintptr_t)array - size * first;
}
VCS_HOT_FN const vcs_code_t *code_at(bank_array_t codes, size_t pc) {
  return (const vcs_code_t *)(codes + sizeof(vcs_code_t) * pc); /* NOLINT(performance-no-int-to-ptr) */
}
VCS_HOT_FN const uint8_t *bytes_at(bank_array_t bytes, size_t pc) {
  return (const uint8_t *)(bytes + pc); /* NOLINT(performance-no-int-to-ptr) */
}

#define VCS_RUN_LOCALS                         \
  vcs_row_t *row = tape->rows + tape->count;   \
  uint64_t word = pack(cpu);                   \
  bank_array_t codes, bytes; /* of the bank */ \
  size_t pc;
#define VCS_RUN_ENTER                                           \
  codes = bank_array(bank.code, sizeof *bank.code, bank.start); \
  bytes = bank_array(bank.rom, 1, bank.start);                  \
  pc = cpu->pc;
#define VCS_AT (*code_at(codes, pc))
#define VCS_RUN_PC ((uint16_t)pc)
#define VCS_RUN_WORD vcs_run_pointer(bytes_at(bytes, pc) + 1) /* the operand's two bytes */
#define VCS_RUN_MOVE(by) pc += (size_t)(by);
#define VCS_RUN_JUMP(to, offset) pc = (to);

/* ---- Registers and rows ------------------------------------------------------------------------------------------ */

/* What a row has from its registers on, N, Z and the opcode left out, in a word. */
enum { WORD_FLAGS = 8 * (offsetof(vcs_row_t, flags) - offsetof(vcs_row_t, a)) };

VCS_HOT_FN uint64_t pack(const vcs_cpu_t *cpu) {
  return VCS_LANE(VCS_LANE_A, cpu->a) | VCS_LANE(VCS_LANE_X, cpu->x) | VCS_LANE(VCS_LANE_Y, cpu->y) |
         VCS_LANE(VCS_LANE_S, cpu->sp) | (uint64_t)vcs_row_flags(cpu, vcs_cpu_cycles(cpu)) << WORD_FLAGS;
}

VCS_HOT_FN void unpack(vcs_cpu_t *cpu, uint64_t word) {
  cpu->a = (uint8_t)(word >> 8 * VCS_LANE_A);
  cpu->x = (uint8_t)(word >> 8 * VCS_LANE_X);
  cpu->y = (uint8_t)(word >> 8 * VCS_LANE_Y);
  cpu->sp = (uint8_t)(word >> 8 * VCS_LANE_S);
  cpu->c = word >> WORD_FLAGS & VCS_ROW_C ? 1 : 0;
  cpu->v = word >> WORD_FLAGS & VCS_ROW_V ? 1 : 0;
  cpu->d = word >> WORD_FLAGS & VCS_ROW_D ? 1 : 0;
  cpu->i = word >> WORD_FLAGS & VCS_ROW_I ? 1 : 0;
}

/* The word with a register, or a flag, set anew. */
VCS_HOT_FN uint64_t with_register(uint64_t word, int lane, uint8_t byte) {
  return (word & ~VCS_LANE(lane, 0xFF)) | VCS_LANE(lane, byte);
}
VCS_HOT_FN uint64_t with_flag(uint64_t word, uint64_t flag, uint8_t set) {
  return (word & ~(flag << WORD_FLAGS)) | set * (flag << WORD_FLAGS);
}

/* Begins the row of an instruction. Neighbouring fields go in one store: the host is little-endian, as the 6507 is. */
VCS_HOT_FN void begin_row(vcs_row_t *row, const vcs_cpu_t *cpu, uint32_t pc, uint64_t word, uint8_t opcode) {
  memcpy((uint8_t *)row + offsetof(vcs_row_t, pc), &pc, 4); /* and no address */
  row->cycles = (uint16_t)vcs_cpu_cycles(cpu);
  row->value = row->old = 0;
  memcpy((uint8_t *)row + offsetof(vcs_row_t, a), &word, 8);
  row->nz = (uint16_t)cpu->nz;
  row->opcode = opcode;
}

#define VCS_RUN_BEGIN(code) \
  unpack(cpu, word);        \
  begin_row(row, cpu, (uint32_t)pc, word, (code));
#define VCS_RUN_NOTE(field, is) row->field = (is);
#define VCS_RUN_SET(operation)                                                          \
  if (VCS_SETS_##operation & VCS_OF_A) word = with_register(word, VCS_LANE_A, cpu->a);  \
  if (VCS_SETS_##operation & VCS_OF_X) word = with_register(word, VCS_LANE_X, cpu->x);  \
  if (VCS_SETS_##operation & VCS_OF_Y) word = with_register(word, VCS_LANE_Y, cpu->y);  \
  if (VCS_SETS_##operation & VCS_OF_S) word = with_register(word, VCS_LANE_S, cpu->sp); \
  if (VCS_SETS_##operation & VCS_OF_C) word = with_flag(word, VCS_ROW_C, cpu->c);       \
  if (VCS_SETS_##operation & VCS_OF_V) word = with_flag(word, VCS_ROW_V, cpu->v);       \
  if (VCS_SETS_##operation & VCS_OF_D) word = with_flag(word, VCS_ROW_D, cpu->d);       \
  if (VCS_SETS_##operation & VCS_OF_I) word = with_flag(word, VCS_ROW_I, cpu->i);
#define VCS_RUN_DONE row++;

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

#define VCS_RUN_READ_CHIP(taken, from, last)                                                           \
  const int found = vcs_tape_read_chip(tape, cart, m, video, row, (from),                              \
                                       (uint32_t)((cpu->time + (taken)) >> VCS_CYCLES_SHIFT), (last)); \
  if (found < 0) goto step;                                                                            \
  const uint8_t value = (uint8_t)found;                                                                \
  row->addr = (from);                                                                                  \
  row->value = value;                                                                                  \
  cpu->time += (taken);                                                                                \
  cpu->stop = 0;
#define VCS_RUN_READ_BUS(taken, from, last)                                                                    \
  const uint64_t time = cpu->time + (taken);                                                                   \
  const uint16_t found_at = (from);                                                                            \
  uint8_t value;                                                                                               \
  if ((found_at & 0x1280) == 0x80) {                                                                           \
    value = row->old = m->ram[found_at & 0x7F];                                                                \
  } else if (found_at & 0x1000) {                                                                              \
    if (vcs_is_hot(cart, found_at)) goto step;                                                                 \
    value = cart->rom[m->bank[found_at >> 10 & 3] + (found_at & 0x3FF)];                                       \
  } else {                                                                                                     \
    const int found =                                                                                          \
        vcs_tape_read_chip(tape, cart, m, video, row, found_at, (uint32_t)(time >> VCS_CYCLES_SHIFT), (last)); \
    if (found < 0) goto step;                                                                                  \
    value = (uint8_t)found;                                                                                    \
  }                                                                                                            \
  row->addr = found_at;                                                                                        \
  row->value = value;                                                                                          \
  cpu->time = time;                                                                                            \
  cpu->stop = 0;

enum { STOP_LATE = 8 }; /* beside VCS_STOP_...: time has reached its limit */

#define VCS_RUN_WRITE_CHIP(taken, to)                                                    \
  {                                                                                      \
    const uint64_t time = cpu->time + (taken);                                           \
    const uint32_t cycles = (uint32_t)(time >> VCS_CYCLES_SHIFT);                        \
    row->addr = (to);                                                                    \
    row->value = value;                                                                  \
    const int stop = write_chip(tape, cart, m, video, row, vcs_cpu_cycles(cpu), cycles); \
    if (VCS_UNLIKELY(stop < 0)) goto step;                                               \
    cpu->time = time + VCS_CYCLES((uint32_t)(m->cycles - cycles));                       \
    cpu->stop = (uint8_t)(stop | (cpu->time >= limit ? STOP_LATE : 0));                  \
  }
#define VCS_RUN_WRITE_BUS(taken, to) \
  if ((to)&0x1000) goto step;        \
  if (((to)&0x280) == 0x80) {        \
    row->addr = (to);                \
    row->value = value;              \
    row->old = m->ram[(to)&0x7F];    \
    m->ram[(to)&0x7F] = value;       \
    cpu->time += (taken);            \
    cpu->stop = 0;                   \
  } else                             \
    VCS_RUN_WRITE_CHIP(taken, to)

/* A write to a register of the TIA that the row of code knows. */
#define VCS_RUN_EVENT(reg, stored)                                          \
  if (VCS_UNLIKELY(tape->next_event >= tape->events_end)) goto step;        \
  row->addr = bytes_at(bytes, pc)[1];                                       \
  row->value = (stored);                                                    \
  vcs_record_event(tape, m, (int32_t)(row - tape->rows), (reg), row->value, \
                   (uint32_t)((cpu->time + VCS_COST(3)) >> VCS_CYCLES_SHIFT));
#define VCS_RUN_EVENT_END(reg)                                               \
  vcs_record_event_end(tape, m);                                             \
  if ((reg) == VCS_HMOVE) vcs_record_hmove(tape, cart, m);                   \
  if (VCS_UNLIKELY(tape->drawn >= tape->until)) cpu->stop |= VCS_STOP_DRAWN; \
  if ((reg) == VCS_WSYNC && VCS_UNLIKELY(cpu->time >= limit)) cpu->stop |= STOP_LATE;

/* A pull reads the byte before, too. Programs that keep other things in S pull from the TIA, to pass time: that is all
 * it does there above the collisions. */
#define VCS_RUN_PULL(cost, opcode, operation)                                           \
  const uint8_t before = cpu->sp++;                                                     \
  const bool chip = before < 0x7F && (before & 15) >= 8 && (cpu->sp & 15) >= 8;         \
  if (VCS_UNLIKELY(before < 0x80 ? !chip : before > 0xFE)) goto step;                   \
  row->addr = (uint16_t)(0x100 + cpu->sp);                                              \
  cpu->time += VCS_COST(cost);                                                          \
  cpu->stop = 0;                                                                        \
  if (VCS_UNLIKELY(chip)) {                                                             \
    m->cycles = vcs_cpu_cycles(cpu);                                                    \
    row->value = vcs_bus_read_chip(cart, m, video, (uint16_t)(0x100 + before), opcode); \
    row->value = vcs_bus_read_chip(cart, m, video, row->addr, row->value);              \
  } else {                                                                              \
    row->value = row->old = m->ram[cpu->sp & 0x7F];                                     \
  }                                                                                     \
  PULLED_BY_##operation(cpu, row->value);
#define PULLED_BY_PLA vcs_op_LDA
#define PULLED_BY_PLP vcs_cpu_set_status

#define VCS_RUN_RETURN(cost) goto step;

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

#define VCS_RUN_FORK \
  if (VCS_UNLIKELY(tape->forks) && !fork_at(tape, cart, m, row, vcs_cpu_cycles(cpu))) goto step;
#define VCS_RUN_WAIT_BNE(least, most)                                                               \
  if (cpu->time < limit) {                                                                          \
    const uint32_t turns = (uint32_t)((limit - cpu->time) / VCS_CYCLES(7));                         \
    cpu->time += vcs_tape_turns(tape, m, vcs_cpu_cycles(cpu), turns) * (VCS_COST(3) + VCS_COST(4)); \
  }
#define VCS_RUN_WAIT_BPL(least, most)
#define VCS_RUN_WAIT_BMI(least, most)
#define VCS_RUN_DELAY(branch, index)

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

#define VCS_RUN_STOPPED             \
  if (cpu->stop & VCS_STOP_DRAWN) { \
    end = 0;                        \
    goto out;                       \
  }
#define VCS_RUN_LEAVE \
  unpack(cpu, word);  \
  tape->count = (int32_t)(row - tape->rows);

#define VCS_RUN_BESIDE
#define VCS_RUN_WITH , vcs_tape_t *tape

static int write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, const vcs_row_t *row,
                      uint32_t before, uint32_t cycles);
static bool fork_at(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, const vcs_row_t *row, uint32_t cycles);

#include "core/run.h"

/* Stores the registers before a row to m. */
static void store_registers(const vcs_row_t *row, vcs_t *m, uint32_t cycles) {
  vcs_cpu_t cpu = vcs_registers_of(row);
  cpu.time = VCS_CYCLES(cycles);
  cpu.pc = row->pc;
  vcs_cpu_store(&cpu, m);
}

/* The byte on the bus after a row, from which the program went on to pc. */
static uint8_t last_byte(const vcs_cart_t *cart, const vcs_t *m, const vcs_row_t *row) {
  if (row->opcode == VCS_JSR || row->opcode == VCS_JMP_INDIRECT) return (uint8_t)(m->pc >> 8);
  if (row->opcode == VCS_RTS) return vcs_code_byte(cart, m, (uint16_t)(m->pc - 1));
  if (vcs_has_data(row->opcode)) return row->value;
  return vcs_code_byte(cart, m, (uint16_t)(row->pc + vcs_mode_length(vcs_opcode(row->opcode).mode) - 1));
}

/* A write to any register of a chip: the row has the address and the value. `before` is the time before the row,
 * `cycles` that of the write. Returns a set of VCS_STOP_..., or -1: this is for vcs_tape_step. */
VCS_SLOW_FN int write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, const vcs_row_t *row,
                           uint32_t before, uint32_t cycles) {
  if (row->addr & 0x80 || (row->addr & 63) == VCS_VBLANK) store_registers(row, m, before); /* for the snapshot */
  return vcs_tape_write_chip(tape, cart, m, video, row, row->addr, row->value, cycles);
}

/* Records the machine before the branch on a row. */
VCS_SLOW_FN bool fork_at(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, const vcs_row_t *row, uint32_t cycles) {
  store_registers(row, m, cycles);
  tape->count = (int32_t)(row - tape->rows);
  if (row > tape->rows) m->bus = last_byte(cart, m, row - 1);
  return vcs_record_branch(tape, cart, m);
}

/* Rows from `first` to `end` in which the lower bits of the time have passed zero still have the upper bits from
 * before. Those at the end are `flags`. */
static void carry_time(vcs_row_t *first, vcs_row_t *end, uint8_t flags) {
  enum { UPPER = VCS_ROW_HIGH << VCS_ROW_HIGH_SHIFT };
  for (vcs_row_t *row = end - 1; row > first && row->cycles < first->cycles; row--)
    row->flags = (uint8_t)((row->flags & ~UPPER) | (flags & UPPER));
}

uint32_t vcs_tape_run(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, int32_t allowed) {
  enum { QUARTER_WAY_ROUND = 1 << 14 }; /* so that the lower bits of the time do not come round twice */
  const int32_t first = tape->count, room = tape->capacity - first - VCS_RUN_MARGIN;
  if (allowed > room) allowed = room;
  if (allowed > QUARTER_WAY_ROUND) allowed = QUARTER_WAY_ROUND;
  if (allowed <= 0 || cart->snoops || tape->opaque) return VCS_RUN_STEP;
  const uint32_t end = vcs_run(cart, m, video, (uint32_t)allowed, tape);
  if (tape->count > first) {
    const vcs_cpu_t none = {0};
    m->bus = last_byte(cart, m, &tape->rows[tape->count - 1]);
    carry_time(tape->rows + first, tape->rows + tape->count, vcs_row_flags(&none, m->cycles));
  }
  return end;
}
