/* concurrent_base.c: records a frame of the base: the state at each row, and what each row reads and overwrites.
 *
 * Most instructions are executed by the loop of run.h (concurrent_record.c), and what they read and overwrite follows
 * from their opcode and address. All other instructions, and all instructions if bits of ROM are flipped, are executed
 * one by one by cpu.h, which fetches every byte over the bus; the bus is watched, so that every location on which an
 * instruction depends, except its registers, is listed. The base's TIA is made at the same time (concurrent_beam.c). At
 * the end a pass from the last row to the first finds which registers are live at each row: read by it or by a later
 * row before they are set.
 *
 * Invariant: a row lists every location that it reads. It may list too much, which costs time, never too little.
 */
#include "concurrent_note.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists that grow ------------------------------------------------------------------------------------------- */

/* Returns an array with room for one more item of `size` bytes; sets *lost if there is no memory. */
static void *grow_list(void *items, size_t size, uint32_t count, uint32_t *capacity, bool *lost) {
  if (count < *capacity) return items;
  const uint32_t more = *capacity ? 2 * *capacity : 1024;
  void *grown = realloc(items, size * more);
  if (!grown) {
    *lost = true;
    return items;
  }
  *capacity = more;
  return grown;
}

/* Grows the two arrays of touches together. If one cannot grow, their capacity is that of the smaller one. */
static void grow_touches(vcs_base_frame_t *frame) {
  uint32_t places = frame->touch_capacity, values = frame->touch_capacity;
  frame->touches = grow_list(frame->touches, sizeof *frame->touches, frame->touch_count, &places, &frame->lost);
  frame->touch_values = grow_list(frame->touch_values, 1, frame->touch_count, &values, &frame->lost);
  frame->touch_capacity = places < values ? places : values;
}

static void touch_value(vcs_base_frame_t *frame, unsigned location, uint8_t value) {
  if (VCS_UNLIKELY(frame->touch_count == frame->touch_capacity)) grow_touches(frame);
  if (VCS_UNLIKELY(frame->lost)) return;
  frame->touch_values[frame->touch_count] = value;
  frame->touches[frame->touch_count++] = (uint16_t)location;
}

static void touch_rom(vcs_base_frame_t *frame, uint32_t offset) {
  frame->rom_touches = grow_list(frame->rom_touches, sizeof *frame->rom_touches, frame->rom_touch_count,
                                 &frame->rom_touch_capacity, &frame->lost);
  if (!frame->lost) frame->rom_touches[frame->rom_touch_count++] = offset;
}

/* ---- The watched bus ------------------------------------------------------------------------------------------- */

/* The state of the watched bus in the present instruction. */
typedef struct {
  vcs_base_frame_t *frame;
  bool rom;             /* bytes of the image are listed, too */
  int reads;            /* reads so far */
  vcs_row_data_t *data; /* its row; `opcode` is set by the first read */
} watch_t;

/* Lists that the instruction touches a location other than RAM. */
static void touch(watch_t *watch, unsigned location) {
  watch->data->listed = true;
  touch_value(watch->frame, location, 0);
}

/* Lists that the instruction reads a byte of RAM. */
static void touch_ram(watch_t *watch, unsigned location, uint8_t value) {
  watch->data->listed |= watch->data->ram_read != VCS_NO_BYTE;
  watch->data->ram_read = (uint8_t)location;
  touch_value(watch->frame, VCS_LOCATION_RAM + location, value);
}

/* Lists that the instruction overwrites a byte of RAM. */
static void replace_ram(watch_t *watch, unsigned location) {
  watch->data->listed |= watch->data->ram_written != VCS_NO_BYTE;
  watch->data->ram_written = (uint8_t)location;
  touch_value(watch->frame, (VCS_LOCATION_RAM + location) | VCS_LOCATION_REPLACED, 0);
}

/* Returns the watch of the bus: the core passes the frame's notes as `video`, and their context is the watch. */
static watch_t *watch_of(vcs_video_t *video) { return ((vcs_beam_note_t *)(void *)video)->context; }

/* Whether a read is the dummy read of the stack that JSR and all pulls make first, whose value they do not use. At $1FF
 * it leaves the byte on the bus from which a pull then reads undriven bits of the TIA at $100. */
static bool is_dummy(const watch_t *watch, uint16_t addr) {
  enum { JSR = 0x20, PLP = 0x28, RTI = 0x40, RTS = 0x60, PLA = 0x68 };
  const uint8_t o = watch->data->opcode;
  const int number = o == JSR ? 2 : 1;
  if (addr >> 8 != 1 || watch->reads != number) return false;
  return o == JSR || ((o == PLP || o == RTI || o == RTS || o == PLA) && addr != 0x1FF);
}

/* Whether an address is in the cartridge's window and finds a byte of the image without a side effect. */
static bool is_plain(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && !(cart->hot_pages >> (addr >> 6 & 63) & 1);
}

static void touch_window(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (!watch->rom && is_plain(cart, addr)) return;
  const int32_t place = vcs_cart_read_place(cart, m, addr);
  if (place >= 0) {
    if (watch->rom) touch_rom(watch->frame, (uint32_t)place);
  } else if (place != VCS_CART_REGISTER) {
    touch(watch, VCS_LOCATION_CART_RAM + (~(uint32_t)place & 63));
  }
}

static void touch_read(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (addr & 0x1000) {
    touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x80)) {
    const int input = (addr & 15) - 8;
    if (input < 0) watch->data->listed = true; /* collisions */
    if (input >= 0 && input < 6) {
      const int port = input < 4 ? input >> 1 : input - 4;
      if (cart->controller[port] == VCS_CONTROLLER_KEYBOARD) touch(watch, VCS_LOCATION_PORTS);
      touch(watch, input < 4 ? VCS_LOCATION_PADDLES : VCS_LOCATION_FIRE);
    }
    if (cart->snoops && (addr & 0x1FFF) <= 0x3F) touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x200)) {
    if (!is_dummy(watch, addr)) touch_ram(watch, addr & 0x7F, m->ram[addr & 0x7F]);
  } else {
    static const uint8_t location[] = {
        VCS_LOCATION_PORTS, VCS_LOCATION_PORTS, VCS_LOCATION_SWITCHES, 0,
        VCS_LOCATION_TIMER, VCS_LOCATION_TIMER, VCS_LOCATION_TIMER,    VCS_LOCATION_TIMER};
    if (location[addr & 7]) touch(watch, location[addr & 7]);
  }
}

/* A read of anything but plain ROM; of plain ROM, too, if bits of it are flipped. */
VCS_SLOW_FN uint8_t watched_read_any(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video,
                                     uint16_t addr) {
  watch_t *watch = watch_of(video);
  const uint8_t value = vcs_bus_read(cart, m, cpu, video, addr);
  if (watch->reads == 0) watch->data->opcode = value;
  touch_read(watch, cart, m, addr);
  watch->reads++;
  watch->data->addr = addr;
  watch->data->value_read = value;
  return value;
}

VCS_HOT_FN uint8_t watched_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  watch_t *watch = watch_of(video);
  if (VCS_UNLIKELY(!is_plain(cart, addr) || watch->rom)) return watched_read_any(cart, m, cpu, video, addr);
  const uint8_t value = cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FFu)]; /* most reads are fetches */
  if (watch->reads++ == 0) watch->data->opcode = value;
  cpu->bus = watch->data->value_read = value;
  watch->data->addr = addr;
  return value;
}

static void touch_write(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  bool tia = !(addr & 0x1080);
  if (addr & 0x1000) {
    const int32_t place = vcs_cart_write_place(cart, m, addr);
    if (place >= 0) touch(watch, VCS_LOCATION_CART_RAM + ((uint32_t)place & 63));
    tia = place < 0 && (cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E);
  } else if ((addr & 0x280) == 0x80) {
    replace_ram(watch, addr & 0x7F);
  } else if (addr & 0x80) {
    if ((addr & 7) < 2) touch(watch, VCS_LOCATION_PORTS);
    if ((addr & 0x14) == 0x14) touch(watch, VCS_LOCATION_TIMER | VCS_LOCATION_REPLACED);
  }
  if (tia && (addr & 63) == VCS_VSYNC) touch(watch, VCS_LOCATION_VSYNC);
  if (tia && (addr & 63) == VCS_VBLANK) touch(watch, VCS_LOCATION_PADDLES);
}

static void watched_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                                uint8_t value, bool stalls) {
  watch_t *watch = watch_of(video);
  watch->data->addr = addr;
  watch->data->value_written = value;
  touch_write(watch, cart, m, addr);
  vcs_bus_write_after(cart, m, cpu, video, addr, value, stalls);
}

static void watched_write(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                          uint8_t value) {
  watched_write_after(cart, m, cpu, video, addr, value, true);
}

#define vcs_bus_read watched_read
#define vcs_bus_write_after watched_write_after
#define vcs_bus_write watched_write

#include "core/cpu.h"

/* ---- A frame --------------------------------------------------------------------------------------------------- */

enum { ACCESSES_MOST = 32768 }; /* more than a frame of 25,000 instructions makes, unless most instructions make two */

bool vcs_base_frame_create(vcs_base_frame_t *frame, const vcs_cart_t *cart) {
  const size_t size = vcs_machine_size(cart);
  *frame = (vcs_base_frame_t){0};
  frame->rows = malloc((VCS_FRAME_INSTRUCTIONS + 1) * sizeof *frame->rows);
  frame->cycles = malloc((VCS_FRAME_INSTRUCTIONS + 2) * sizeof *frame->cycles);
  frame->next_effect = malloc((VCS_FRAME_INSTRUCTIONS + 1) * sizeof *frame->next_effect);
  frame->data = malloc(VCS_FRAME_INSTRUCTIONS * sizeof *frame->data);
  frame->noted = malloc(VCS_FRAME_INSTRUCTIONS * sizeof *frame->noted);
  frame->note.accesses = malloc(ACCESSES_MOST * sizeof *frame->note.accesses);
  frame->note.capacity = ACCESSES_MOST;
  frame->segment_of = malloc((ACCESSES_MOST + 1) * sizeof *frame->segment_of);
  frame->begun = calloc(1, size);
  frame->m = calloc(1, size);
  frame->beam_m = calloc(1, size);
  if (frame->rows && frame->cycles && frame->next_effect && frame->data && frame->noted && frame->note.accesses &&
      frame->segment_of && frame->begun && frame->m && frame->beam_m) {
    return true;
  }
  vcs_base_frame_free(frame);
  return false;
}

void vcs_base_frame_free(vcs_base_frame_t *frame) {
  free(frame->rows);
  free(frame->cycles);
  free(frame->next_effect);
  free(frame->data);
  free(frame->noted);
  free(frame->touches);
  free(frame->touch_values);
  free(frame->rom_touches);
  free(frame->note.accesses);
  free(frame->segments);
  free(frame->segment_of);
  free(frame->reads);
  free(frame->mappings);
  free(frame->begun);
  free(frame->m);
  free(frame->beam_m);
  *frame = (vcs_base_frame_t){0};
}

/* Executes the noted accesses in the base's TIA. */
static void record_accesses(vcs_base_frame_t *frame) {
  for (; frame->recorded < frame->note.count; frame->recorded++) vcs_beam_record(frame, frame->recorded);
}

/* Returns the collisions for the read of a collision register that was noted last, and records the read. */
static uint16_t read_collisions(void *context, const vcs_t *m) {
  vcs_base_frame_t *frame = ((watch_t *)context)->frame;
  (void)m;
  if (frame->note.full) return 0;
  const uint32_t last = frame->note.count - 1;
  for (; frame->recorded < last; frame->recorded++) vcs_beam_record(frame, frame->recorded);
  const uint16_t collisions = vcs_beam_record(frame, frame->recorded++);
  frame->reads = grow_list(frame->reads, sizeof *frame->reads, frame->read_count, &frame->read_capacity, &frame->lost);
  if (!frame->lost) {
    frame->reads[frame->read_count++] = (vcs_collision_read_t){frame->row, frame->segment_count - 1, collisions, 3};
  }
  return collisions;
}

/* Records the mapping if it has changed. */
static void record_mapping(vcs_base_frame_t *frame, const vcs_t *m) {
  const vcs_mapping_t mapping = vcs_mapping_of(m);
  if (frame->mapping_count && memcmp(&mapping, &frame->mappings[frame->mapping_count - 1], sizeof mapping) == 0) return;
  frame->mappings =
      grow_list(frame->mappings, sizeof *frame->mappings, frame->mapping_count, &frame->mapping_capacity, &frame->lost);
  if (!frame->lost) frame->mappings[frame->mapping_count++] = mapping;
}

/* Records the state before a row. */
VCS_HOT_FN void record_row_start(vcs_base_frame_t *frame, const vcs_cpu_t *cpu, uint32_t row) {
  const uint64_t key = vcs_register_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu));
  frame->cycles[row] = vcs_cpu_cycles(cpu);
  frame->rows[row] = (vcs_row_start_t){key,
                                       UINT64_MAX,
                                       frame->note.count,
                                       frame->touch_count,
                                       frame->rom_touch_count,
                                       (uint16_t)(frame->mapping_count - 1),
                                       (uint16_t)frame->instructions};
}

/* ---- Live registers --------------------------------------------------------------------------------------------- */

#define INDEX_IMP 0
#define INDEX_ACC 0
#define INDEX_IMM 0
#define INDEX_ZP 0
#define INDEX_ZPX VCS_OF_X
#define INDEX_ZPY VCS_OF_Y
#define INDEX_ABS 0
#define INDEX_ABX VCS_OF_X
#define INDEX_ABY VCS_OF_Y
#define INDEX_IND 0
#define INDEX_IZX VCS_OF_X
#define INDEX_IZY VCS_OF_Y
#define INDEX_REL 0

#define OF_KEY(of)                                                                       \
  ((uint64_t)((of)&VCS_OF_P) << VCS_KEY_P | ((of)&VCS_OF_A ? 0xFFull << VCS_KEY_A : 0) | \
   ((of)&VCS_OF_X ? 0xFFull << VCS_KEY_X : 0) | ((of)&VCS_OF_Y ? 0xFFull << VCS_KEY_Y : 0))
#define REGISTER_IN(of, name) (((of)&VCS_OF_##name) != 0) << VCS_REGISTER_##name
#define REGISTERS(of)                                                                                                 \
  (uint8_t)(REGISTER_IN(of, A) | REGISTER_IN(of, X) | REGISTER_IN(of, Y) | REGISTER_IN(of, NZ) | REGISTER_IN(of, V) | \
            REGISTER_IN(of, D) | REGISTER_IN(of, I) | REGISTER_IN(of, C))
#define BRANCH_FLAG(code) \
  ((code) >> 6 == 0 ? VCS_OF_N : (code) >> 6 == 1 ? VCS_OF_V : (code) >> 6 == 2 ? VCS_OF_C : VCS_OF_Z)
#define READS(code, operation, mode, access)                                                                        \
  (VCS_READS_##operation | INDEX_##mode | (VCS_ACCESS_##access == VCS_ACCESS_BRANCH ? (int)BRANCH_FLAG(code) : 0) | \
   ((code) == VCS_BRK ? (int)VCS_OF_P : 0))
#define TOUCHES(code, mode, access)                                                                     \
  (uint8_t)((VCS_ACCESS_##access == VCS_ACCESS_READ || VCS_ACCESS_##access == VCS_ACCESS_MODIFY ||      \
                     (code) == VCS_PLA || (code) == VCS_PLP                                             \
                 ? VCS_TOUCHES_READ                                                                     \
                 : 0) |                                                                                 \
            (VCS_ACCESS_##access == VCS_ACCESS_WRITE || VCS_ACCESS_##access == VCS_ACCESS_MODIFY ||     \
                     (code) == VCS_PHA || (code) == VCS_PHP                                             \
                 ? VCS_TOUCHES_WRITE                                                                    \
                 : 0) |                                                                                 \
            (VCS_MODE_##mode == VCS_MODE_IZX || VCS_MODE_##mode == VCS_MODE_IZY || (code) == VCS_JSR || \
                     (code) == VCS_RTS || (code) == VCS_JMP_INDIRECT                                    \
                 ? VCS_TOUCHES_MORE                                                                     \
                 : 0))
#define FACTS(code, operation, mode, access, cycles)                                                            \
  {OF_KEY(READS(code, operation, mode, access)), OF_KEY(VCS_SETS_##operation), REGISTERS(VCS_SETS_##operation), \
   VCS_MODE_##mode, TOUCHES(code, mode, access)},
const vcs_facts_t vcs_facts_of[256] = {VCS_OPCODES(FACTS)};

/* Finds live registers and next_effect, from the last row to the first. After the frame all registers count as read. */
static void find_live_registers(vcs_base_frame_t *frame) {
  uint64_t live = UINT64_MAX;
  uint32_t effect = frame->count;
  frame->next_effect[effect] = (uint16_t)effect;
  for (uint32_t row = frame->count; row-- > 0;) {
    const vcs_row_data_t *data = &frame->data[row];
    const vcs_facts_t *facts = &vcs_facts_of[data->opcode];
    vcs_row_start_t *start = &frame->rows[row];
    live = (live & ~facts->sets) | facts->reads;
    start->live = live;
    if (data->listed || data->ram_written != VCS_NO_BYTE || !(data->addr & 0x1080) ||
        start[1].mapping != start->mapping) {
      effect = row;
    }
    frame->next_effect[row] = (uint16_t)effect;
  }
}

/* ---- Rows that were noted ---------------------------------------------------------------------------------------- */

/* Lists two consecutive bytes of RAM that a row reads as a word. */
static void touch_word(watch_t *watch, unsigned first, uint16_t word) {
  watch->data->listed = true;
  touch_ram(watch, first, (uint8_t)word);
  touch_ram(watch, (first + 1) & 0x7F, (uint8_t)(word >> 8));
}

static uint8_t byte_at(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  return cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FFu)];
}

/* Lists what a noted row touches if that is more than one byte of RAM; `next` is the program counter after it. */
VCS_SLOW_FN void list_touches(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, const vcs_noted_row_t *noted,
                              uint16_t next) {
  const vcs_facts_t *facts = &vcs_facts_of[noted->opcode];
  const uint16_t pc = (uint16_t)noted->key;
  const uint8_t sp = (uint8_t)(noted->key >> VCS_KEY_SP), operand = byte_at(cart, m, (uint16_t)(pc + 1));
  if (noted->opcode == VCS_JSR) {
    watch->data->listed = true;
    replace_ram(watch, sp & 0x7F);
    replace_ram(watch, (sp - 1u) & 0x7F);
    return;
  }
  if (noted->opcode == VCS_RTS) {
    touch_word(watch, (sp + 1u) & 0x7F, (uint16_t)(next - 1));
    return;
  }
  if (noted->opcode == VCS_JMP_INDIRECT) {
    touch_word(watch, operand & 0x7F, next);
    return;
  }
  if (facts->mode == VCS_MODE_IZY) {
    touch_word(watch, operand & 0x7F, (uint16_t)(noted->addr - (uint8_t)(noted->key >> VCS_KEY_Y)));
  }
  if (facts->mode == VCS_MODE_IZX) {
    touch_word(watch, (operand + (unsigned)(noted->key >> VCS_KEY_X)) & 0x7F, noted->addr);
  }
  if (facts->touches & VCS_TOUCHES_WRITE) {
    touch_write(watch, cart, m, noted->addr);
  } else if ((noted->addr & 0x1280) == 0x80) {
    touch_ram(watch, noted->addr & 0x7F, noted->value);
  } else {
    touch_read(watch, cart, m, noted->addr);
  }
}

/* Makes rows of the noted instructions. The program counter after the last one is that of m. */
static void make_rows(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m) {
  vcs_base_frame_t *frame = watch->frame;
  const vcs_noted_row_t *noted = frame->noted, *end = noted + frame->noted_count;
  const uint16_t mapping = (uint16_t)(frame->mapping_count - 1);
  const uint32_t rom_touch = frame->rom_touch_count;
  vcs_row_start_t *starts = frame->rows + frame->count;
  vcs_row_data_t *data = frame->data + frame->count;
  uint32_t *cycles = frame->cycles + frame->count;
  for (; noted < end; noted++, data++) {
    const unsigned touches = vcs_facts_of[noted->opcode].touches;
    const vcs_cpu_t cpu = {.nz = noted->nz};
    const unsigned p = vcs_cpu_is_negative(&cpu) * (unsigned)VCS_FLAG_N | vcs_cpu_is_zero(&cpu) * (unsigned)VCS_FLAG_Z;
    const uint64_t key = noted->key | (uint64_t)p << VCS_KEY_P;
    *cycles++ = noted->cycles;
    *starts++ = (vcs_row_start_t){key, 0, noted->access, frame->touch_count, rom_touch, mapping, noted->number};
    const bool modifies = touches == (VCS_TOUCHES_READ | VCS_TOUCHES_WRITE);
    *data = (vcs_row_data_t){.addr = noted->addr,
                             .opcode = noted->opcode,
                             .value_read = modifies ? noted->old : noted->value,
                             .value_written = noted->value,
                             .ram_read = VCS_NO_BYTE,
                             .ram_written = VCS_NO_BYTE};
    if (!(touches & VCS_TOUCHES_MORE)) {
      if (noted->addr & 0x1000) continue;
      if ((noted->addr & 0x280) == 0x80) {
        if (touches & VCS_TOUCHES_READ) data->ram_read = noted->addr & 0x7F;
        if (touches & VCS_TOUCHES_WRITE) data->ram_written = noted->addr & 0x7F;
        continue;
      }
      const bool of_beam = touches == VCS_TOUCHES_WRITE && !(noted->addr & 0x80) && (noted->addr & 63) > VCS_VBLANK;
      if (of_beam) continue; /* a register that affects only the TIA, whose accesses are noted */
    }
    watch->data = data;
    list_touches(watch, cart, m, noted, noted + 1 < end ? (uint16_t)noted[1].key : m->pc);
  }
  frame->count += frame->noted_count;
  frame->noted_count = 0;
}

/* Executes the next instruction with the bus watched, as a row. False: the walk cannot follow it. */
static bool record_step(watch_t *watch, const vcs_cart_t *cart, vcs_t *m, bool *over) {
  vcs_base_frame_t *frame = watch->frame;
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &frame->note.video;
  vcs_cpu_load(cpu, m);
  frame->row = frame->count;
  watch->reads = 0;
  watch->data = &frame->data[frame->row];
  *watch->data = (vcs_row_data_t){.ram_read = VCS_NO_BYTE, .ram_written = VCS_NO_BYTE};
  record_row_start(frame, cpu, frame->row);
  if (!(cpu->pc & 0x1000) && (cpu->pc & 0x280) != 0x80) return false; /* its bytes may depend on a chip */
  vcs_cpu_instruction(VCS_HERE);
  frame->count++;
  frame->instructions++;
  *over = cpu->stop & VCS_STOP_FRAME;
  if (cpu->stop & VCS_STOP_BANKS) record_mapping(frame, m);
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  return !m->jammed;
}

/* Finds which of the collisions that the frame reads matter to the program. If an instruction reads several collision
 * registers, or reads one as code or as a pointer, or if `all` is set, both latches of each register matter. */
static void find_bits(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool all) {
  for (uint32_t i = 0; i < frame->read_count; i++) {
    vcs_collision_read_t *read = &frame->reads[i];
    const vcs_row_start_t *start = &frame->rows[read->row];
    const bool alone =
        (i == 0 || read[-1].row != read->row) && (i + 1 == frame->read_count || read[1].row != read->row);
    const uint16_t addr = frame->data[read->row].addr;
    const bool loads = !(addr & 0x1080) && (addr & 15) < 8; /* it is data, and not a pointer or code */
    if (!all && alone && loads) {
      const uint32_t *banks = frame->mappings[start->mapping].bank;
      read->bits = (uint8_t)vcs_latch_bits(frame->latch_bits, cart, banks, (uint16_t)start->key);
    }
    frame->read_collisions |=
        (uint16_t)(read->bits << 2 * frame->note.accesses[frame->segments[read->segment].access].reg);
  }
}

bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, bool states, vcs_t *after) {
  watch_t watch = {.frame = frame, .rom = rom};
  vcs_t *m = frame->m;
  bool over = false;
  frame->count = frame->touch_count = frame->rom_touch_count = frame->read_count = frame->mapping_count = 0;
  frame->instructions = frame->note.count = frame->recorded = 0;
  frame->read_collisions = 0;
  frame->note.full = frame->lost = frame->has_cxclr = false;
  frame->note.collisions = read_collisions;
  frame->note.context = &watch;
  vcs_video_start(&frame->note.video, cart, NULL);
  memcpy(m, frame->begun, vcs_machine_size(cart));
  if (m->jammed || !vcs_beam_record_begin(frame, cart)) return false;
  record_mapping(frame, m);
  while (!over && frame->instructions < VCS_FRAME_INSTRUCTIONS) {
    const vcs_noting_t end = rom ? VCS_NOTING_STEP : vcs_concurrent_record(frame, cart, m);
    if (frame->noted_count) make_rows(&watch, cart, m);
    over = end == VCS_NOTING_OVER;
    if (end == VCS_NOTING_STEP && !record_step(&watch, cart, m, &over)) return false;
    if (frame->note.full || frame->lost) return false;
  }
  if (!over) return false;
  record_accesses(frame);
  vcs_cpu_t registers;
  vcs_cpu_load(&registers, m);
  record_row_start(frame, &registers, frame->count);
  frame->cycles[frame->count + 1] = UINT32_MAX;
  find_live_registers(frame);
  find_bits(frame, cart, rom || states);
  if (frame->lost || !vcs_beam_record_end(frame)) return false;
  m->partial = 0;
  memcpy(after, m, vcs_machine_size(cart));
  vcs_beam_put(&frame->segments[frame->segment_count].before, after);
  return true;
}
