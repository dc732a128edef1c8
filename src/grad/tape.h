/* tape.h: the record of a frame from which it can be differentiated.
 *
 * A tape holds one frame: the machine at its start, a row for every instruction, an event for every write to the TIA
 * and every reading of a collision, and a snapshot before everything that reaches further than registers, RAM and TIA
 * (the RIOT's ports and timer, bank switches, cartridge RAM). A walk goes over it in either direction: it applies or
 * undoes the rows to follow RAM, and takes the rest from the next event or snapshot.
 *
 *   rows        16 bytes an instruction: registers before it, address, byte read or written, byte overwritten, time
 *   events      the TIA before an access, and the span of clocks it had drawn since the event before
 *   snapshots   the whole machine before a row
 *
 * Long runs keep the machine at the start of every frame (a few hundred bytes) and one tape at a time, so that memory
 * does not grow with the tapes of an episode.
 */
#ifndef VCS_GRAD_TAPE_H
#define VCS_GRAD_TAPE_H

#include <string.h>

#include "core/decode.h"
#include "local.h"

/* A device loads and stores a row in one access. */
#if defined(__CUDACC__)
#define VCS_ONE_ACCESS __align__(16)
#else
#define VCS_ONE_ACCESS
#endif

/* An instruction. It stores to `addr`, where `old` was before. JSR stores two bytes, at addr and below; the old
 * contents of the second are in `value`. For an instruction that modifies a register of a chip, `old` is the byte that
 * it reads. An instruction without a byte of data has zeros in `addr`, `value` and `old`. Registers, flags and time are
 * those before the instruction.
 *
 * The recorder stores values in the form in which it has them: N and Z as in vcs_cpu_t (bus.h), and the registers next
 * to the rarely changing `flags`, so that one word holds them all and one access stores them. `cycles` and the upper
 * half of `flags` are the lower 20 bits of the machine's time. vcs_row_status and vcs_row_cycles compute the status
 * register and the time from them. */
typedef struct VCS_ONE_ACCESS {
  uint16_t pc, addr;
  uint16_t cycles;
  uint8_t value, old;
  uint8_t a, x, y, sp;
  uint16_t nz;
  uint8_t flags, opcode;
} vcs_row_t;

enum { VCS_ROW_C = 1, VCS_ROW_V = 2, VCS_ROW_D = 4, VCS_ROW_I = 8, VCS_ROW_HIGH_SHIFT = 4, VCS_ROW_HIGH = 15 };

/* The flags but N and Z, and the upper bits of a time. */
VCS_HOT_FN uint8_t vcs_row_flags(const vcs_cpu_t *cpu, uint32_t cycles) {
  return (uint8_t)(cpu->c * VCS_ROW_C | cpu->v * VCS_ROW_V | cpu->d * VCS_ROW_D | cpu->i * VCS_ROW_I |
                   (cycles >> 16 & VCS_ROW_HIGH) << VCS_ROW_HIGH_SHIFT);
}

/* The row of an instruction without data. */
VCS_HOT_FN void vcs_row_begin(vcs_row_t *row, const vcs_cpu_t *cpu, uint32_t pc, uint32_t cycles, uint8_t opcode) {
  row->pc = (uint16_t)pc;
  row->addr = 0;
  row->cycles = (uint16_t)cycles;
  row->value = row->old = 0;
  row->a = cpu->a;
  row->x = cpu->x;
  row->y = cpu->y;
  row->sp = cpu->sp;
  row->nz = (uint16_t)cpu->nz;
  row->flags = vcs_row_flags(cpu, cycles);
  row->opcode = opcode;
}

/* Rows that a walk is at: the tape's, or, on a device, copies in registers. */
#if defined(__CUDACC__)
#define VCS_ROW_HERE(name) \
  vcs_row_t name##_here;   \
  const vcs_row_t *const name = &name##_here
#define VCS_ROW_LOAD(name, place) name##_here = *(place)
#define VCS_ROW_MOVE(to, from) to##_here = from##_here
#else
#define VCS_ROW_HERE(name) const vcs_row_t *name
#define VCS_ROW_LOAD(name, place) name = (place)
#define VCS_ROW_MOVE(to, from) to = from
#endif

VCS_FN uint8_t vcs_row_status(const vcs_row_t *row) {
  const unsigned flags = row->flags;
  return (uint8_t)((row->nz & 0x8080 ? VCS_FLAG_N : 0) | (flags & VCS_ROW_V ? VCS_FLAG_V : 0) | VCS_FLAG_1 |
                   VCS_FLAG_B | (flags & VCS_ROW_D ? VCS_FLAG_D : 0) | (flags & VCS_ROW_I ? VCS_FLAG_I : 0) |
                   (row->nz & 0xFF ? 0 : VCS_FLAG_Z) | (flags & VCS_ROW_C ? VCS_FLAG_C : 0));
}

/* The registers before a row. */
VCS_FN vcs_cpu_t vcs_registers_of(const vcs_row_t *row) {
  vcs_cpu_t cpu = {0};
  cpu.a = row->a, cpu.x = row->x, cpu.y = row->y, cpu.sp = row->sp;
  cpu.nz = row->nz;
  cpu.c = row->flags / VCS_ROW_C & 1, cpu.v = row->flags / VCS_ROW_V & 1;
  cpu.d = row->flags / VCS_ROW_D & 1, cpu.i = row->flags / VCS_ROW_I & 1;
  return cpu;
}

/* The opcode of an opaque row. A row is opaque if a byte of its instruction is in the TIA or the RIOT, which happens to
 * programs that run astray, or if fetching the instruction switches banks. This opcode does nothing, so the row carries
 * no derivative. There is a snapshot before it and one after it. Snapshots do not contain cartridge RAM; if the row
 * stores there, `addr` is the place in cart_ram plus one. */
enum { VCS_OPAQUE = 0x02 };

VCS_FN bool vcs_same_bytes(const void *one, const void *other, size_t size) {
#if defined(__CUDA_ARCH__)
  size_t i = 0;
  while (i < size && ((const uint8_t *)one)[i] == ((const uint8_t *)other)[i]) i++;
  return i == size;
#else
  return !memcmp(one, other, size);
#endif
}

VCS_FN bool vcs_same_tia(const uint8_t *one, const uint8_t *other) { return vcs_same_bytes(one, other, VCS_TIA_BYTES); }

/* A write to the TIA (reg below 64) or the reading of a collision register (64 + reg), or the end of the frame
 * (VCS_EVENT_END). With the registers as they are in `tia` the clocks [from, to) of the frame have been drawn. */
enum { VCS_EVENT_READ = 64, VCS_EVENT_END = 255 };
typedef struct {
  int32_t row;      /* the instruction */
  int32_t clock;    /* of the bus access, in clocks of the frame */
  int32_t from, to; /* clocks of the frame */
  int32_t line;     /* the line for which the line-dependent registers in `tia` hold */
  uint16_t collisions;
  uint8_t reg, value;
  uint8_t tia[VCS_TIA_BYTES];
} vcs_event_t;

/* The registers between a machine and an event. A device moves words: those of an event are aligned, those of a machine
 * begin in the last byte of one. */
VCS_FN void vcs_event_take_tia(vcs_event_t *event, const vcs_t *m) {
#if defined(__CUDA_ARCH__)
  static_assert(offsetof(vcs_t, vsync) % 4 == 3 && VCS_TIA_BYTES % 4 == 0, "words are put together otherwise");
  const uint32_t *from = (const uint32_t *)(const void *)(&m->vsync - 3);
  uint32_t *to = (uint32_t *)(void *)event->tia, word = from[0];
  for (int i = 0; i < VCS_TIA_BYTES / 4; i++) {
    const uint32_t next = from[i + 1];
    to[i] = word >> 24 | next << 8;
    word = next;
  }
#else
  memcpy(event->tia, &m->vsync, VCS_TIA_BYTES);
#endif
}
VCS_FN void vcs_event_put_tia(const vcs_event_t *event, vcs_t *m) {
#if defined(__CUDA_ARCH__)
  const uint32_t *from = (const uint32_t *)(const void *)event->tia;
  uint32_t *to = (uint32_t *)(void *)(&m->vsync - 3), word = to[0] << 8;
  for (int i = 0; i < VCS_TIA_BYTES / 4; i++) {
    const uint32_t next = from[i];
    to[i] = word >> 8 | next << 24;
    word = next;
  }
  to[VCS_TIA_BYTES / 4] = (to[VCS_TIA_BYTES / 4] & 0xFF000000) | word >> 8;
#else
  memcpy(&m->vsync, event->tia, VCS_TIA_BYTES);
#endif
}

/* The machine before a row. cart_ram is not in it. */
typedef struct {
  int32_t row;
  uint8_t machine[offsetof(vcs_t, cart_ram)];
} vcs_snapshot_t;

/* A conditional branch, with the whole machine before it (vcs_state_size bytes, in vcs_tape_t.branch_machines). Kept
 * only for forks. */
typedef struct {
  int32_t row;
} vcs_branch_t;

/* A picture has at most this many rows; for each, the first pixel of the blank after HMOVE and the one behind it. */
enum { VCS_ROWS_MAX = VCS_FRAME_BYTES / VCS_WIDTH };
typedef struct {
  uint8_t from, to;
} vcs_comb_t;

typedef struct {
  vcs_row_t *rows;
  vcs_event_t *events;
  vcs_snapshot_t *snapshots;
  vcs_branch_t *branches; /* if `forks` */
  uint8_t *branch_machines;
  int32_t count, event_count, snapshot_count, branch_count;
  int32_t capacity, event_capacity, snapshot_capacity, branch_capacity, machine_capacity;
  bool forks;   /* keep the machine before every conditional branch */
  bool brief;   /* leave out turns of a loop that waits for the timer where it cannot end */
  bool opaque;  /* while recording: the last row is opaque */
  bool full;    /* a tape that does not grow (src/cuda) has ended before the frame */
  vcs_t *copy;  /* a machine to try a read on */
  vcs_t *start; /* the machine when the frame's first instruction is about to run; vcs_state_size bytes */
  vcs_comb_t comb[VCS_ROWS_MAX];
  vcs_event_t *next_event, *events_end; /* while recording; event_count is what there is in the end */
  int32_t drawn, comb_end; /* while recording: clocks the picture is drawn up to, and where the last comb ends */
  int32_t picture_from;    /* clock of the picture's first pixel */
  int32_t until;           /* recording ends when the picture is drawn up to this clock */
} vcs_tape_t;

vcs_status_t vcs_tape_create(const vcs_cart_t *cart, vcs_tape_t **tape, vcs_error_t *error);
void vcs_tape_free(vcs_tape_t *tape);

/* Runs a frame as vcs_frame does, machine and picture alike, and records it. False: no memory. */
bool vcs_tape_record(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* The same for callers that need only the first rows of the picture: it runs until they are drawn, and `further`
 * instructions more. The machine is left there. */
bool vcs_tape_record_to(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, int32_t rows,
                        int32_t further);

/* The same in parts, for a frame that has begun: start, instruction by instruction, end. */
VCS_EXTERN void vcs_tape_begin(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m);
VCS_EXTERN bool vcs_tape_step(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video, bool *frame_over);
VCS_EXTERN bool vcs_tape_end(vcs_tape_t *tape, const vcs_cart_t *cart, const vcs_t *m);

/* For callers with their own instruction loop, which write a row (vcs_row_begin) for each instruction. The registers
 * are in m. vcs_tape_read_chip returns the byte that the row reads from a chip, vcs_tape_write_chip a set of
 * VCS_STOP_... Both return -1, before anything has changed, if vcs_tape_step must execute the instruction. */
VCS_SLOW_EXTERN int vcs_tape_read_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                       const vcs_row_t *row, uint16_t addr, uint32_t cycles, uint8_t bus);
VCS_SLOW_EXTERN int vcs_tape_write_chip(vcs_tape_t *tape, const vcs_cart_t *cart, vcs_t *m, vcs_video_t *video,
                                        const vcs_row_t *row, uint16_t addr, uint8_t value, uint32_t cycles);

/* The number of turns of a loop that waits for the timer which need no rows, at most `most`. */
VCS_EXTERN uint32_t vcs_tape_turns(const vcs_tape_t *tape, const vcs_t *m, uint32_t cycles, uint32_t most);

/* The machine's time before a row, and that at which its data access happens. */
VCS_FN uint32_t vcs_row_cycles(const vcs_tape_t *tape, const vcs_row_t *row) {
  const uint32_t start = tape->start->cycles, low = (uint32_t)(row->flags >> VCS_ROW_HIGH_SHIFT) << 16 | row->cycles;
  return start + ((low - start) & 0xFFFFF);
}
VCS_FN uint32_t vcs_row_time(const vcs_tape_t *tape, const vcs_row_t *row, bool crosses) {
  return vcs_row_cycles(tape, row) + vcs_opcode(row->opcode).cycles + crosses;
}

/* ---- Where a data access goes ------------------------------------------------------------------------------- */

typedef enum { VCS_TO_RAM, VCS_TO_TIA, VCS_TO_RIOT, VCS_TO_CART } vcs_chip_t;

VCS_FN vcs_chip_t vcs_chip_at(uint16_t addr) {
  if (addr & 0x1000) return VCS_TO_CART;
  if (!(addr & 0x80)) return VCS_TO_TIA;
  return addr & 0x200 ? VCS_TO_RIOT : VCS_TO_RAM;
}

/* The offset in vcs_t of the byte of RAM or cartridge RAM that a write reaches, or -1. `banks` has the present banks.
 */
VCS_FN int32_t vcs_written_at(const vcs_cart_t *cart, const vcs_t *banks, uint16_t addr) {
  const vcs_chip_t chip = vcs_chip_at(addr);
  if (chip == VCS_TO_RAM) return (int32_t)offsetof(vcs_t, ram) + (addr & 0x7F);
  if (chip != VCS_TO_CART || !cart->ram_size) return -1;
  const int32_t place = vcs_cart_write_place(cart, banks, addr);
  return place < 0 ? -1 : (int32_t)offsetof(vcs_t, cart_ram) + place;
}

/* ---- Applying a row to memory, and undoing it ------------------------------------------------------------------ */

/* A row and what it takes to know its stores: `banks` is a machine with the banks before it, `snapshot` the tape's
 * number of the first snapshot at or after it. */
typedef struct {
  const vcs_tape_t *tape;
  const vcs_cart_t *cart;
  const vcs_t *banks;
  const vcs_row_t *row;
  int32_t snapshot;
} vcs_applied_t;

/* RAM before or after a row that has a snapshot on either side (VCS_OPAQUE), or before it (BRK). */
VCS_FN void vcs_row_contents(const vcs_applied_t *at, bool after, vcs_t *m) {
  const vcs_row_t *row = at->row;
  memcpy(m->ram, at->tape->snapshots[at->snapshot + after].machine + offsetof(vcs_t, ram), sizeof m->ram);
  if (row->opcode == VCS_OPAQUE && row->addr) m->cart_ram[row->addr - 1] = after ? row->value : row->old;
}

/* Writes what the row stored into the memory of m, which is as it was before the row. */
VCS_FN void vcs_row_apply(const vcs_applied_t *at, vcs_t *m) {
  const vcs_row_t *row = at->row;
  const int stored = vcs_stored(row->opcode);
  if (stored == 1) {
    const int32_t place = vcs_written_at(at->cart, at->banks, row->addr);
    if (place >= 0) ((uint8_t *)m)[place] = row->value;
  } else if (stored) { /* JSR and BRK push the address of their third byte */
    const uint16_t pc = (uint16_t)(row->pc + 2);
    const uint8_t pushed[3] = {(uint8_t)(pc >> 8), (uint8_t)pc, vcs_row_status(row)};
    for (int i = 0; i < stored && i < 3; i++) { /* never more than 3; the static analyzer cannot know it */
      const uint16_t addr = (uint16_t)(0x100 + (uint8_t)(row->sp - i));
      if (vcs_chip_at(addr) == VCS_TO_RAM) m->ram[addr & 0x7F] = pushed[i];
    }
  } else if (row->opcode == VCS_OPAQUE) {
    vcs_row_contents(at, true, m);
  }
}

/* Undoes the row: the memory of m is then as it was before it. */
VCS_FN void vcs_row_undo(const vcs_applied_t *at, vcs_t *m) {
  const vcs_row_t *row = at->row;
  if (vcs_stored(row->opcode) == 1) {
    const int32_t place = vcs_written_at(at->cart, at->banks, row->addr);
    if (place >= 0) ((uint8_t *)m)[place] = row->old;
  } else if (row->opcode == VCS_BRK || row->opcode == VCS_OPAQUE) {
    vcs_row_contents(at, false, m);
  } else if (row->opcode == VCS_JSR) {
    const uint16_t second = (uint16_t)(0x100 + (uint8_t)(row->sp - 1));
    if (vcs_chip_at(second) == VCS_TO_RAM) m->ram[second & 0x7F] = row->value;
    if (vcs_chip_at(row->addr) == VCS_TO_RAM) m->ram[row->addr & 0x7F] = row->old;
  }
}

/* ---- How an address is formed ------------------------------------------------------------------------------------ */

/* A byte of code or of a table; fast for ROM. */
VCS_HOT_FN uint8_t vcs_code_byte(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (VCS_LIKELY(addr & 0x1000) && VCS_LIKELY(!(cart->hot_pages >> (addr >> 6 & 63) & 1)))
    return cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FF)];
  return vcs_bus_peek(cart, m, addr);
}

/* How an instruction forms its address: base (from the operand or the pointer) plus index. */
typedef struct {
  uint16_t addr, base;
  uint16_t pointer;  /* indirect modes: where the base was read */
  uint8_t low, high; /* the operand's bytes */
  bool crosses;      /* a page, and pays a cycle for it */
} vcs_address_t;

VCS_HOT_FN uint16_t vcs_pointer_at(const vcs_cart_t *cart, const vcs_t *m, uint16_t pointer) {
  return (uint16_t)(vcs_code_byte(cart, m, pointer) | vcs_code_byte(cart, m, (uint16_t)(pointer + 1)) << 8);
}

/* Whether both bytes of a pointer are in RAM. The rest of page zero, and $0100 behind it, is the TIA. */
VCS_FN bool vcs_pointer_in_ram(uint16_t pointer) { return pointer >= 0x80 && pointer < 0xFF; }

/* Computes the address from the operand's bytes and the registers, which need not be those that were executed. */
VCS_HOT_FN vcs_address_t vcs_form_address(const vcs_cart_t *cart, const vcs_t *m, vcs_opcode_t op, uint8_t low,
                                          uint8_t high, uint8_t x, uint8_t y) {
  vcs_address_t at = {0, 0, 0, low, high, false};
  uint16_t word = (uint16_t)(low | high << 8);
  uint8_t index = 0;
  switch (op.mode) {
    case VCS_MODE_ZP:
      at.base = low;
      break;
    case VCS_MODE_ZPX:
      at.base = (uint8_t)(low + x);
      break;
    case VCS_MODE_ZPY:
      at.base = (uint8_t)(low + y);
      break;
    case VCS_MODE_ABS:
      at.base = word;
      break;
    case VCS_MODE_ABX:
      at.base = word, index = x;
      break;
    case VCS_MODE_ABY:
      at.base = word, index = y;
      break;
    case VCS_MODE_IZX:
      at.pointer = (uint8_t)(low + x);
      at.base = vcs_pointer_at(cart, m, at.pointer);
      break;
    case VCS_MODE_IZY:
      at.pointer = low;
      at.base = vcs_pointer_at(cart, m, low), index = y;
      break;
    default:
      break;
  }
  at.addr = (uint16_t)(at.base + index);
  at.crosses = op.access == VCS_ACCESS_READ && (at.base ^ at.addr) & 0xFF00;
  return at;
}

#endif
