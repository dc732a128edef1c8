/* concurrent_base.c: a frame of the base: what stands at each of its rows, what each row reads and overwrites.
 *
 * Most instructions are executed by the loop of run.h (concurrent_record.c), and what they read and overwrite follows
 * from their opcode and address. All others, and all if bits of ROM are flipped, are executed one by one, every byte
 * over the bus, and the bus is watched: whatever an instruction reads is what it depends on besides its registers. The
 * TIA is made along the way (concurrent_beam.c). When the frame is over, a pass from its last row to its first finds
 * which registers are live at each row: read by it or by a later row before they are set.
 */
#include "concurrent_note.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists that grow ------------------------------------------------------------------------------------------- */

static void *room(void *items, size_t size, uint32_t count, uint32_t *capacity, bool *lost) {
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

/* The capacity is that of both arrays: it stays if one of them cannot grow. */
static void grow_touches(vcs_base_frame_t *frame) {
  uint32_t places = frame->touch_capacity, values = frame->touch_capacity;
  frame->touches = room(frame->touches, sizeof *frame->touches, frame->touch_count, &places, &frame->lost);
  frame->touch_values = room(frame->touch_values, 1, frame->touch_count, &values, &frame->lost);
  frame->touch_capacity = places < values ? places : values;
}

static void touch_value(vcs_base_frame_t *frame, unsigned where, uint8_t value) {
  if (VCS_UNLIKELY(frame->touch_count == frame->touch_capacity)) grow_touches(frame);
  if (VCS_UNLIKELY(frame->lost)) return;
  frame->touch_values[frame->touch_count] = value;
  frame->touches[frame->touch_count++] = (uint16_t)where;
}

static void touch_rom(vcs_base_frame_t *frame, uint32_t offset) {
  frame->rom_touches = room(frame->rom_touches, sizeof *frame->rom_touches, frame->rom_touch_count,
                            &frame->rom_touch_capacity, &frame->lost);
  if (!frame->lost) frame->rom_touches[frame->rom_touch_count++] = offset;
}

/* ---- The watched bus ------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_base_frame_t *frame;
  bool rom;
  int reads;        /* of this instruction so far */
  vcs_deed_t *deed; /* of it; the opcode, from the first read on */
} watch_t;

/* An instruction touches a group of places. */
static void touch(watch_t *watch, unsigned where) {
  watch->deed->many = true;
  touch_value(watch->frame, where, 0);
}

static void touch_ram(watch_t *watch, unsigned where, uint8_t value) {
  watch->deed->many |= watch->deed->in != VCS_NO_BYTE;
  watch->deed->in = (uint8_t)where;
  touch_value(watch->frame, VCS_WHERE_RAM + where, value);
}

static void replace_ram(watch_t *watch, unsigned where) {
  watch->deed->many |= watch->deed->out != VCS_NO_BYTE;
  watch->deed->out = (uint8_t)where;
  touch_value(watch->frame, (VCS_WHERE_RAM + where) | VCS_WHERE_REPLACED, 0);
}

/* The frame's note knows the watch; the core hands the note on. */
static watch_t *watch_of(vcs_video_t *video) { return ((vcs_beam_note_t *)(void *)video)->context; }

/* The byte of the stack that JSR and everything that pulls read first, and do not look at. */
static bool is_dummy(const watch_t *watch, uint16_t addr) {
  enum { JSR = 0x20, PLP = 0x28, RTI = 0x40, RTS = 0x60, PLA = 0x68 };
  const uint8_t o = watch->deed->opcode;
  const int number = o == JSR ? 2 : 1;
  return addr >> 8 == 1 && watch->reads == number && (o == JSR || o == PLP || o == RTI || o == RTS || o == PLA);
}

/* Whether an address of the window is one of the image, and nothing else happens there. */
static bool is_plain(const vcs_cart_t *cart, uint16_t addr) {
  return addr & 0x1000 && !(cart->hot_pages >> (addr >> 6 & 63) & 1);
}

static void touch_window(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (!watch->rom && is_plain(cart, addr)) return;
  const int32_t place = vcs_cart_read_place(cart, m, addr);
  if (place >= 0) {
    if (watch->rom) touch_rom(watch->frame, (uint32_t)place);
  } else if (place != VCS_CART_REGISTER) {
    touch(watch, VCS_WHERE_CART_RAM + (~(uint32_t)place & 63));
  }
}

static void touch_read(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (addr & 0x1000) {
    touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x80)) {
    const int input = (addr & 15) - 8;
    if (input < 0) watch->deed->many = true; /* collisions */
    if (input >= 0 && input < 6) {
      const int port = input < 4 ? input >> 1 : input - 4;
      if (cart->controller[port] == VCS_CONTROLLER_KEYBOARD) touch(watch, VCS_WHERE_PORTS);
      touch(watch, input < 4 ? VCS_WHERE_PADDLES : VCS_WHERE_FIRE);
    }
    if (cart->snoops && (addr & 0x1FFF) <= 0x3F) touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x200)) {
    if (!is_dummy(watch, addr)) touch_ram(watch, addr & 0x7F, m->ram[addr & 0x7F]);
  } else {
    static const uint8_t where[] = {VCS_WHERE_PORTS, VCS_WHERE_PORTS, VCS_WHERE_SWITCHES, 0,
                                    VCS_WHERE_TIMER, VCS_WHERE_TIMER, VCS_WHERE_TIMER,    VCS_WHERE_TIMER};
    if (where[addr & 7]) touch(watch, where[addr & 7]);
  }
}

/* A read of anything but plain ROM, or of that if it is watched. */
VCS_SLOW_FN uint8_t watched_read_any(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video,
                                     uint16_t addr) {
  watch_t *watch = watch_of(video);
  const uint8_t value = vcs_bus_read(cart, m, cpu, video, addr);
  if (watch->reads == 0) watch->deed->opcode = value;
  touch_read(watch, cart, m, addr);
  watch->reads++;
  watch->deed->addr = addr;
  watch->deed->read = value;
  return value;
}

VCS_HOT_FN uint8_t watched_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  watch_t *watch = watch_of(video);
  if (VCS_UNLIKELY(!is_plain(cart, addr) || watch->rom)) return watched_read_any(cart, m, cpu, video, addr);
  const uint8_t value = cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FFu)]; /* most reads are fetches */
  if (watch->reads++ == 0) watch->deed->opcode = value;
  cpu->bus = watch->deed->read = value;
  watch->deed->addr = addr;
  return value;
}

static void touch_write(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  bool tia = !(addr & 0x1080);
  if (addr & 0x1000) {
    const int32_t place = vcs_cart_write_place(cart, m, addr);
    if (place >= 0) touch(watch, VCS_WHERE_CART_RAM + ((uint32_t)place & 63));
    tia = place < 0 && (cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E);
  } else if ((addr & 0x280) == 0x80) {
    replace_ram(watch, addr & 0x7F);
  } else if (addr & 0x80) {
    if ((addr & 7) < 2) touch(watch, VCS_WHERE_PORTS);
    if ((addr & 0x14) == 0x14) touch(watch, VCS_WHERE_TIMER | VCS_WHERE_REPLACED);
  }
  if (tia && (addr & 63) == VCS_VSYNC) touch(watch, VCS_WHERE_VSYNC);
  if (tia && (addr & 63) == VCS_VBLANK) touch(watch, VCS_WHERE_PADDLES);
}

static void watched_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                                uint8_t value, bool stalls) {
  watch_t *watch = watch_of(video);
  watch->deed->addr = addr;
  watch->deed->written = value;
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

enum { ACCESSES_MOST = 32768 };

bool vcs_base_frame_create(vcs_base_frame_t *frame, const vcs_cart_t *cart) {
  const size_t size = vcs_machine_size(cart);
  *frame = (vcs_base_frame_t){0};
  frame->rows = malloc((VCS_FRAME_INSTRUCTIONS + 1) * sizeof *frame->rows);
  frame->cycles = malloc((VCS_FRAME_INSTRUCTIONS + 2) * sizeof *frame->cycles);
  frame->effects = malloc((VCS_FRAME_INSTRUCTIONS + 1) * sizeof *frame->effects);
  frame->deeds = malloc(VCS_FRAME_INSTRUCTIONS * sizeof *frame->deeds);
  frame->noted = malloc(VCS_FRAME_INSTRUCTIONS * sizeof *frame->noted);
  frame->note.accesses = malloc(ACCESSES_MOST * sizeof *frame->note.accesses);
  frame->note.capacity = ACCESSES_MOST;
  frame->segment_of = malloc((ACCESSES_MOST + 1) * sizeof *frame->segment_of);
  frame->begun = calloc(1, size);
  frame->m = calloc(1, size);
  frame->beam_m = calloc(1, size);
  if (frame->rows && frame->cycles && frame->effects && frame->deeds && frame->noted && frame->note.accesses &&
      frame->segment_of && frame->begun && frame->m && frame->beam_m) {
    return true;
  }
  vcs_base_frame_free(frame);
  return false;
}

void vcs_base_frame_free(vcs_base_frame_t *frame) {
  free(frame->rows);
  free(frame->cycles);
  free(frame->effects);
  free(frame->deeds);
  free(frame->noted);
  free(frame->touches);
  free(frame->touch_values);
  free(frame->rom_touches);
  free(frame->note.accesses);
  free(frame->segments);
  free(frame->segment_of);
  free(frame->reads);
  free(frame->wirings);
  free(frame->begun);
  free(frame->m);
  free(frame->beam_m);
  *frame = (vcs_base_frame_t){0};
}

/* The accesses that have been noted are made by the base's TIA. */
static void record_accesses(vcs_base_frame_t *frame) {
  for (; frame->recorded < frame->note.count; frame->recorded++) vcs_beam_record(frame, frame->recorded);
}

/* The last access noted is the reading of a collision register. */
static uint16_t read_collisions(void *context, const vcs_t *m) {
  vcs_base_frame_t *frame = ((watch_t *)context)->frame;
  (void)m;
  if (frame->note.full) return 0;
  const uint32_t last = frame->note.count - 1;
  for (; frame->recorded < last; frame->recorded++) vcs_beam_record(frame, frame->recorded);
  const uint16_t collisions = vcs_beam_record(frame, frame->recorded++);
  frame->reads = room(frame->reads, sizeof *frame->reads, frame->read_count, &frame->read_capacity, &frame->lost);
  if (!frame->lost) {
    frame->reads[frame->read_count++] = (vcs_collision_read_t){frame->row, frame->segment_count - 1, collisions, 3};
  }
  return collisions;
}

/* The cartridge may be wired otherwise than before. */
static void keep_wiring(vcs_base_frame_t *frame, const vcs_t *m) {
  const vcs_wiring_t wiring = vcs_wiring_of(m);
  if (frame->wiring_count && memcmp(&wiring, &frame->wirings[frame->wiring_count - 1], sizeof wiring) == 0) return;
  frame->wirings =
      room(frame->wirings, sizeof *frame->wirings, frame->wiring_count, &frame->wiring_capacity, &frame->lost);
  if (!frame->lost) frame->wirings[frame->wiring_count++] = wiring;
}

VCS_HOT_FN void stand(vcs_base_frame_t *frame, const vcs_cpu_t *cpu, uint32_t row) {
  const uint64_t key = vcs_stand_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu));
  frame->cycles[row] = vcs_cpu_cycles(cpu);
  frame->rows[row] = (vcs_stand_t){key,
                                   UINT64_MAX,
                                   frame->note.count,
                                   frame->touch_count,
                                   frame->rom_touch_count,
                                   (uint16_t)(frame->wiring_count - 1),
                                   (uint16_t)frame->instructions};
}

/* ---- Registers that will not be read ---------------------------------------------------------------------------- */

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
#define NAME_OF(of, name) (((of)&VCS_OF_##name) != 0) << VCS_KEPT_##name
#define NAMES(of)                                                                                                  \
  (uint8_t)(NAME_OF(of, A) | NAME_OF(of, X) | NAME_OF(of, Y) | NAME_OF(of, NZ) | NAME_OF(of, V) | NAME_OF(of, D) | \
            NAME_OF(of, I) | NAME_OF(of, C))
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
#define FACTS(code, operation, mode, access, cycles)                                                        \
  {OF_KEY(READS(code, operation, mode, access)), OF_KEY(VCS_SETS_##operation), NAMES(VCS_SETS_##operation), \
   VCS_MODE_##mode, TOUCHES(code, mode, access)},
const vcs_facts_t vcs_facts_of[256] = {VCS_OPCODES(FACTS)};

/* Goes back over the rows. Behind the frame everything counts as read. */
static void look_back(vcs_base_frame_t *frame) {
  uint64_t live = UINT64_MAX;
  uint32_t effect = frame->count;
  frame->effects[effect] = (uint16_t)effect;
  for (uint32_t row = frame->count; row-- > 0;) {
    const vcs_deed_t *deed = &frame->deeds[row];
    const vcs_facts_t *facts = &vcs_facts_of[deed->opcode];
    vcs_stand_t *stand = &frame->rows[row];
    live = (live & ~facts->sets) | facts->reads;
    stand->live = live;
    if (deed->many || deed->out != VCS_NO_BYTE || !(deed->addr & 0x1080) || stand[1].wiring != stand->wiring) {
      effect = row;
    }
    frame->effects[row] = (uint16_t)effect;
  }
}

/* ---- Rows that were noted ---------------------------------------------------------------------------------------- */

/* Two bytes of RAM, one behind the other, that a row reads. */
static void touch_word(watch_t *watch, unsigned first, uint16_t word) {
  watch->deed->many = true;
  touch_ram(watch, first, (uint8_t)word);
  touch_ram(watch, (first + 1) & 0x7F, (uint8_t)(word >> 8));
}

static uint8_t byte_at(const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  return cart->rom[m->bank[addr >> 10 & 3] + (addr & 0x3FFu)];
}

/* A row that touches more than a byte of RAM; `next` is the program counter behind it. */
VCS_SLOW_FN void take_touches(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, const vcs_noted_row_t *noted,
                              uint16_t next) {
  const vcs_facts_t *facts = &vcs_facts_of[noted->opcode];
  const uint16_t pc = (uint16_t)noted->key;
  const uint8_t sp = (uint8_t)(noted->key >> VCS_KEY_SP), operand = byte_at(cart, m, (uint16_t)(pc + 1));
  if (noted->opcode == VCS_JSR) {
    watch->deed->many = true;
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

/* Makes rows of what was noted; behind the last one the program counter is that of m. */
static void take_rows(watch_t *watch, const vcs_cart_t *cart, const vcs_t *m) {
  vcs_base_frame_t *frame = watch->frame;
  const vcs_noted_row_t *noted = frame->noted, *end = noted + frame->noted_count;
  const uint16_t wiring = (uint16_t)(frame->wiring_count - 1);
  const uint32_t rom_touch = frame->rom_touch_count;
  vcs_stand_t *stands = frame->rows + frame->count;
  vcs_deed_t *deed = frame->deeds + frame->count;
  uint32_t *cycles = frame->cycles + frame->count;
  for (; noted < end; noted++, deed++) {
    const unsigned touches = vcs_facts_of[noted->opcode].touches;
    const vcs_cpu_t cpu = {.nz = noted->nz};
    const unsigned p = vcs_cpu_is_negative(&cpu) * (unsigned)VCS_FLAG_N | vcs_cpu_is_zero(&cpu) * (unsigned)VCS_FLAG_Z;
    const uint64_t key = noted->key | (uint64_t)p << VCS_KEY_P;
    *cycles++ = noted->cycles;
    *stands++ = (vcs_stand_t){key, 0, noted->access, frame->touch_count, rom_touch, wiring, noted->number};
    const bool modifies = touches == (VCS_TOUCHES_READ | VCS_TOUCHES_WRITE);
    *deed = (vcs_deed_t){.addr = noted->addr,
                         .opcode = noted->opcode,
                         .read = modifies ? noted->old : noted->value,
                         .written = noted->value,
                         .in = VCS_NO_BYTE,
                         .out = VCS_NO_BYTE};
    if (!(touches & VCS_TOUCHES_MORE)) {
      if (noted->addr & 0x1000) continue;
      if ((noted->addr & 0x280) == 0x80) {
        if (touches & VCS_TOUCHES_READ) deed->in = noted->addr & 0x7F;
        if (touches & VCS_TOUCHES_WRITE) deed->out = noted->addr & 0x7F;
        continue;
      }
      const bool looks = touches == VCS_TOUCHES_WRITE && !(noted->addr & 0x80) && (noted->addr & 63) > VCS_VBLANK;
      if (looks) continue; /* a register that only the beam looks at */
    }
    watch->deed = deed;
    take_touches(watch, cart, m, noted, noted + 1 < end ? (uint16_t)noted[1].key : m->pc);
  }
  frame->count += frame->noted_count;
  frame->noted_count = 0;
}

/* The next instruction, watched. False: something that the walk does not do. */
static bool record_step(watch_t *watch, const vcs_cart_t *cart, vcs_t *m, bool *over) {
  vcs_base_frame_t *frame = watch->frame;
  vcs_cpu_t registers, *cpu = &registers;
  vcs_video_t *video = &frame->note.video;
  vcs_cpu_load(cpu, m);
  frame->row = frame->count;
  watch->reads = 0;
  watch->deed = &frame->deeds[frame->row];
  *watch->deed = (vcs_deed_t){.in = VCS_NO_BYTE, .out = VCS_NO_BYTE};
  stand(frame, cpu, frame->row);
  if (!(cpu->pc & 0x1000) && (cpu->pc & 0x280) != 0x80) return false; /* what it fetches depends on more */
  vcs_cpu_instruction(VCS_HERE);
  frame->count++;
  frame->instructions++;
  *over = cpu->stop & VCS_STOP_FRAME;
  if (cpu->stop & VCS_STOP_BANKS) keep_wiring(frame, m);
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  return !m->jammed;
}

/* Finds out which collisions matter that are read. An instruction that reads more than one of the registers may make
 * anything of them. */
static void find_bits(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool all) {
  for (uint32_t i = 0; i < frame->read_count; i++) {
    vcs_collision_read_t *read = &frame->reads[i];
    const vcs_stand_t *stand = &frame->rows[read->row];
    const bool alone =
        (i == 0 || read[-1].row != read->row) && (i + 1 == frame->read_count || read[1].row != read->row);
    const uint16_t addr = frame->deeds[read->row].addr;
    const bool loads = !(addr & 0x1080) && (addr & 15) < 8; /* it is data, and not a pointer or code */
    if (!all && alone && loads) {
      const uint32_t *banks = frame->wirings[stand->wiring].bank;
      read->bits = (uint8_t)vcs_latch_bits(frame->latch_bits, cart, banks, (uint16_t)stand->key);
    }
    frame->reads_of |= (uint16_t)(read->bits << 2 * frame->note.accesses[frame->segments[read->segment].access].reg);
  }
}

bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, bool states, vcs_t *after) {
  watch_t watch = {.frame = frame, .rom = rom};
  vcs_t *m = frame->m;
  bool over = false;
  frame->count = frame->touch_count = frame->rom_touch_count = frame->read_count = frame->wiring_count = 0;
  frame->instructions = frame->note.count = frame->recorded = 0;
  frame->reads_of = 0;
  frame->note.full = frame->lost = frame->clears = false;
  frame->note.collisions = read_collisions;
  frame->note.context = &watch;
  vcs_video_start(&frame->note.video, cart, NULL);
  memcpy(m, frame->begun, vcs_machine_size(cart));
  if (m->jammed || !vcs_beam_record_begin(frame, cart)) return false;
  keep_wiring(frame, m);
  while (!over && frame->instructions < VCS_FRAME_INSTRUCTIONS) {
    const vcs_noting_t end = rom ? VCS_NOTING_STEP : vcs_concurrent_record(frame, cart, m);
    if (frame->noted_count) take_rows(&watch, cart, m);
    over = end == VCS_NOTING_OVER;
    if (end == VCS_NOTING_STEP && !record_step(&watch, cart, m, &over)) return false;
    if (frame->note.full || frame->lost) return false;
  }
  if (!over) return false;
  record_accesses(frame);
  vcs_cpu_t registers;
  vcs_cpu_load(&registers, m);
  stand(frame, &registers, frame->count);
  frame->cycles[frame->count + 1] = UINT32_MAX;
  look_back(frame);
  find_bits(frame, cart, rom || states);
  if (frame->lost || !vcs_beam_record_end(frame)) return false;
  m->partial = 0;
  memcpy(after, m, vcs_machine_size(cart));
  vcs_beam_put(&frame->segments[frame->segment_count].before, after);
  return true;
}
