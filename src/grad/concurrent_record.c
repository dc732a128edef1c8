/* concurrent_record.c: records the base's instructions with the loop of run.h.
 *
 * For each instruction the loop notes values that it computes in any case: the registers before the instruction, the
 * address of its data, and the byte that it reads or writes there. concurrent_base.c derives from these what the row
 * reads and overwrites. Instructions that the loop leaves to cpu.h, and all that may switch banks, are executed by
 * concurrent_base.c with the bus watched. Turns of a loop that waits for the timer are skipped and have no rows. They
 * have the same effect on a flip as on the base, because the row before them reads the timer: a flip whose timer
 * differs wakes there.
 */
#include "concurrent_note.h"

/* Returns the registers as a key without pc, N and Z. The loop keeps this word up to date, as tape_run.c does. */
VCS_HOT_FN uint64_t pack(const vcs_cpu_t *cpu) {
  const unsigned p = VCS_FLAG_1 | VCS_FLAG_B | (unsigned)cpu->v << 6 | (unsigned)cpu->d << 3 | (unsigned)cpu->i << 2;
  return vcs_register_key(0, cpu->sp, cpu->a, cpu->x, cpu->y, (uint8_t)(p | cpu->c));
}

VCS_HOT_FN void unpack(vcs_cpu_t *cpu, uint64_t word) {
  cpu->sp = (uint8_t)(word >> VCS_KEY_SP);
  cpu->a = (uint8_t)(word >> VCS_KEY_A);
  cpu->x = (uint8_t)(word >> VCS_KEY_X);
  cpu->y = (uint8_t)(word >> VCS_KEY_Y);
  cpu->v = word >> VCS_KEY_P & VCS_FLAG_V ? 1 : 0;
  cpu->d = word >> VCS_KEY_P & VCS_FLAG_D ? 1 : 0;
  cpu->i = word >> VCS_KEY_P & VCS_FLAG_I ? 1 : 0;
  cpu->c = word >> VCS_KEY_P & VCS_FLAG_C;
}

/* Return the word with a register, or a flag, set. */
VCS_HOT_FN uint64_t with_register(uint64_t word, int shift, uint8_t byte) {
  return (word & ~(0xFFull << shift)) | (uint64_t)byte << shift;
}
VCS_HOT_FN uint64_t with_flag(uint64_t word, uint64_t flag, uint8_t set) {
  return (word & ~(flag << VCS_KEY_P)) | set * (flag << VCS_KEY_P);
}

VCS_HOT_FN void begin_row(vcs_noted_row_t *row, const vcs_cpu_t *cpu, const vcs_video_t *video, uint64_t word,
                          uint32_t number, uint16_t pc, uint8_t opcode) {
  row->key = word | pc;
  row->cycles = vcs_cpu_cycles(cpu);
  row->access = (uint16_t)((const vcs_beam_note_t *)(const void *)video)->count;
  row->number = (uint16_t)(number + (cpu->time & VCS_COUNT_MASK));
  row->nz = (uint16_t)cpu->nz;
  row->addr = pc; /* replaced if the instruction has data */
  row->opcode = opcode;
}

#define VCS_RUN_LOCALS                 \
  const vcs_code_t *at;                \
  vcs_noted_row_t *row = frame->noted; \
  uint64_t word = pack(cpu);
#define VCS_RUN_ENTER at = bank.code + (uint16_t)(cpu->pc - bank.start);
#define VCS_AT (*at)
#define VCS_RUN_PC ((uint16_t)(bank.start + (at - bank.code)))
#define VCS_RUN_WORD vcs_run_pointer(bank.rom + (at - bank.code) + 1) /* the operand's two bytes */
#define VCS_RUN_MOVE(by) at += (by);
#define VCS_RUN_JUMP(to, offset) at = bank.code + (offset);

#define VCS_RUN_BEGIN(code) \
  unpack(cpu, word);        \
  begin_row(row, cpu, video, word, frame->instructions, VCS_RUN_PC, (code));
#define VCS_RUN_NOTE(field, is) row->field = (is);
#define VCS_RUN_SET(operation)                                                          \
  if (VCS_SETS_##operation & VCS_OF_A) word = with_register(word, VCS_KEY_A, cpu->a);   \
  if (VCS_SETS_##operation & VCS_OF_X) word = with_register(word, VCS_KEY_X, cpu->x);   \
  if (VCS_SETS_##operation & VCS_OF_Y) word = with_register(word, VCS_KEY_Y, cpu->y);   \
  if (VCS_SETS_##operation & VCS_OF_S) word = with_register(word, VCS_KEY_SP, cpu->sp); \
  if (VCS_SETS_##operation & VCS_OF_C) word = with_flag(word, VCS_FLAG_C, cpu->c);      \
  if (VCS_SETS_##operation & VCS_OF_V) word = with_flag(word, VCS_FLAG_V, cpu->v);      \
  if (VCS_SETS_##operation & VCS_OF_D) word = with_flag(word, VCS_FLAG_D, cpu->d);      \
  if (VCS_SETS_##operation & VCS_OF_I) word = with_flag(word, VCS_FLAG_I, cpu->i);
#define VCS_RUN_DONE row++;

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

/* A read of a collision register needs the number of its row. */
#define READ_NOTED(taken, from, last, read)                   \
  frame->row = frame->count + (uint32_t)(row - frame->noted); \
  row->addr = (from);                                         \
  cpu->time += (taken);                                       \
  cpu->stop = 0;                                              \
  cpu->bus = (last);                                          \
  const uint8_t value = read(VCS_HERE, row->addr);            \
  row->value = value;
#define VCS_RUN_READ_CHIP(taken, from, last) READ_NOTED(taken, from, last, vcs_bus_read_low)
#define VCS_RUN_READ_BUS(taken, from, last)                                        \
  const uint16_t found_at = (from);                                                \
  if (found_at & 0x1000 && cart->hot_pages >> (found_at >> 6 & 63) & 1) goto step; \
  READ_NOTED(taken, found_at, last, vcs_bus_read)

#define VCS_RUN_WRITE_CHIP(taken, to) \
  row->addr = (to);                   \
  row->value = value;                 \
  cpu->time += (taken);               \
  m->cycles = vcs_cpu_cycles(cpu);    \
  cpu->stop = (uint8_t)vcs_bus_write_tia(cart, m, video, row->addr, value);
#define VCS_RUN_WRITE_BUS(taken, to)           \
  if ((to)&0x1000) goto step;                  \
  row->addr = (to);                            \
  row->value = value;                          \
  cpu->time += (taken);                        \
  cpu->stop = 0;                               \
  if ((row->addr & 0x280) == 0x80) {           \
    m->ram[row->addr & 0x7F] = value;          \
  } else {                                     \
    vcs_bus_write(VCS_HERE, row->addr, value); \
  }
#define VCS_RUN_EVENT(reg, stored) \
  row->addr = (reg);               \
  row->value = (stored);
#define VCS_RUN_EVENT_END(reg)

/* A pull reads the byte before, too, which must be in RAM. */
#define VCS_RUN_PULL(cost, opcode, operation)                     \
  if (VCS_UNLIKELY(cpu->sp < 0x80 || cpu->sp == 0xFF)) goto step; \
  cpu->sp++;                                                      \
  row->addr = (uint16_t)(0x100 + cpu->sp);                        \
  row->value = m->ram[cpu->sp & 0x7F];                            \
  cpu->time += VCS_COST(cost);                                    \
  cpu->stop = 0;                                                  \
  PULLED_BY_##operation(cpu, row->value);
#define PULLED_BY_PLA vcs_op_LDA
#define PULLED_BY_PLP vcs_cpu_set_status
#define VCS_RUN_RETURN(cost) goto step;

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

#define VCS_RUN_FORK
#define VCS_RUN_WAIT_BNE VCS_SKIP_WAIT
#define VCS_RUN_WAIT_BPL VCS_SKIP_WAIT
#define VCS_RUN_WAIT_BMI VCS_SKIP_WAIT
#define VCS_RUN_DELAY(branch, index) /* delay loops are not skipped: a flip may have another index */
#define VCS_RUN_STOPPED
#define VCS_RUN_LEAVE \
  unpack(cpu, word);  \
  frame->noted_count = (uint32_t)(row - frame->noted);

#define VCS_RUN_BESIDE
#define VCS_RUN_WITH , vcs_base_frame_t *frame

#include "core/run.h"

vcs_noting_t vcs_concurrent_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, vcs_t *m) {
  frame->noted_count = 0;
  if (cart->snoops || frame->instructions + VCS_RUN_MARGIN >= VCS_FRAME_INSTRUCTIONS) return VCS_NOTING_STEP;
  const uint32_t end =
      vcs_run(cart, m, &frame->note.video, VCS_FRAME_INSTRUCTIONS - VCS_RUN_MARGIN - frame->instructions, frame);
  frame->instructions += end & VCS_COUNT_MASK;
  return end & VCS_RUN_OVER ? VCS_NOTING_OVER : end & VCS_RUN_STEP ? VCS_NOTING_STEP : VCS_NOTING_ON;
}
