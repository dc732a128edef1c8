/* concurrent_base.c: a frame of the base: what stands at each of its rows, what each row reads and overwrites.
 *
 * The frame is executed instruction by instruction, every byte over the bus, and the bus is watched: whatever an
 * instruction reads is what it depends on besides its registers. The TIA is made along the way (concurrent_beam.c).
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

static void touch(vcs_base_frame_t *frame, unsigned where, uint8_t value) {
  frame->touches =
      room(frame->touches, sizeof *frame->touches, frame->touch_count, &frame->touch_capacity, &frame->lost);
  if (!frame->lost) frame->touches[frame->touch_count++] = (vcs_touch_t){(uint16_t)where, value};
}

static void write_cart_ram(vcs_base_frame_t *frame, uint32_t row, uint32_t place, uint8_t value) {
  touch(frame, VCS_WHERE_CART_RAM + (place & 63), 0);
  frame->cart_writes = room(frame->cart_writes, sizeof *frame->cart_writes, frame->cart_write_count,
                            &frame->cart_write_capacity, &frame->lost);
  if (!frame->lost) frame->cart_writes[frame->cart_write_count++] = (vcs_cart_write_t){row, place, value};
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
  uint32_t row;
  int reads;           /* of this instruction so far */
  uint8_t opcode, low; /* of it, from the first read and the second on */
  uint8_t read, stored;
  uint16_t addr;
  bool chip, changes; /* it accesses a chip, and may change what vcs_chips_t has */
} watch_t;

/* The frame's note knows the watch; the core hands the note on. */
static watch_t *watch_of(vcs_video_t *video) { return ((vcs_beam_note_t *)(void *)video)->context; }

/* The byte of the stack that JSR and everything that pulls read first, and do not look at. */
static bool is_dummy(const watch_t *watch, uint16_t addr) {
  enum { JSR = 0x20, PLP = 0x28, RTI = 0x40, RTS = 0x60, PLA = 0x68 };
  const int number = watch->opcode == JSR ? 2 : 1;
  const uint8_t o = watch->opcode;
  return addr >> 8 == 1 && watch->reads == number && (o == JSR || o == PLP || o == RTI || o == RTS || o == PLA);
}

static void touch_window(const watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  if (!watch->rom && addr & 0x1000 && !(cart->hot_pages >> (addr >> 6 & 63) & 1)) return;
  const int32_t place = vcs_cart_read_place(cart, m, addr);
  if (place >= 0) {
    if (watch->rom) touch_rom(watch->frame, (uint32_t)place);
  } else if (place != VCS_CART_REGISTER) {
    touch(watch->frame, VCS_WHERE_CART_RAM + (~(uint32_t)place & 63), 0);
  }
}

static void touch_read(const watch_t *watch, const vcs_cart_t *cart, const vcs_t *m, uint16_t addr) {
  vcs_base_frame_t *frame = watch->frame;
  if (addr & 0x1000) {
    touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x80)) {
    const int input = (addr & 15) - 8;
    if (input >= 0 && input < 6) {
      const int port = input < 4 ? input >> 1 : input - 4;
      if (cart->controller[port] == VCS_CONTROLLER_KEYBOARD) touch(frame, VCS_WHERE_PORTS, 0);
      touch(frame, input < 4 ? VCS_WHERE_PADDLES : VCS_WHERE_FIRE, 0);
    }
    if (cart->snoops && (addr & 0x1FFF) <= 0x3F) touch_window(watch, cart, m, addr);
  } else if (!(addr & 0x200)) {
    if (!is_dummy(watch, addr)) touch(frame, VCS_WHERE_RAM + (addr & 0x7F), 0);
  } else {
    static const uint8_t where[] = {VCS_WHERE_PORTS, VCS_WHERE_PORTS, VCS_WHERE_SWITCHES, 0,
                                    VCS_WHERE_TIMER, VCS_WHERE_TIMER, VCS_WHERE_TIMER,    VCS_WHERE_TIMER};
    if (where[addr & 7]) touch(frame, where[addr & 7], 0);
  }
}

/* Neither the cartridge nor RAM. */
static bool is_chip(uint16_t addr) { return !(addr & 0x1000) && (addr & 0x280) != 0x80; }

static uint8_t watched_read(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr) {
  watch_t *watch = watch_of(video);
  const uint8_t value = vcs_bus_read(cart, m, cpu, video, addr);
  if (watch->reads == 0) watch->opcode = value;
  if (watch->reads == 1) watch->low = value;
  touch_read(watch, cart, m, addr);
  watch->reads++;
  watch->read = value;
  watch->addr = addr;
  watch->changes |= is_chip(addr) && addr & 0x80;
  watch->chip |= is_chip(addr) || (cart->scheme == VCS_SCHEME_DPC && cpu->stop & VCS_STOP_BANKS);
  return value;
}

static void watched_write_after(const vcs_cart_t *cart, vcs_t *m, vcs_cpu_t *cpu, vcs_video_t *video, uint16_t addr,
                                uint8_t value, bool stalls) {
  watch_t *watch = watch_of(video);
  vcs_base_frame_t *frame = watch->frame;
  bool tia = !(addr & 0x1080);
  watch->stored = value;
  watch->addr = addr;
  watch->chip |= is_chip(addr);
  if (addr & 0x1000) {
    const int32_t place = vcs_cart_write_place(cart, m, addr);
    if (place >= 0) write_cart_ram(frame, watch->row, (uint32_t)place, value);
    tia = place < 0 && (cart->scheme == VCS_SCHEME_3F || cart->scheme == VCS_SCHEME_3E);
    watch->chip |= tia;
  } else if ((addr & 0x280) == 0x80) {
    touch(frame, (VCS_WHERE_RAM + (addr & 0x7F)) | VCS_WHERE_REPLACED, value);
  } else if (addr & 0x80) {
    if ((addr & 7) < 2) touch(frame, VCS_WHERE_PORTS, 0);
    if ((addr & 0x14) == 0x14) touch(frame, VCS_WHERE_TIMER | VCS_WHERE_REPLACED, value);
  }
  watch->changes |= tia ? (addr & 63) <= VCS_VBLANK : is_chip(addr);
  if (tia && (addr & 63) == VCS_VSYNC) touch(frame, VCS_WHERE_VSYNC, 0);
  if (tia && (addr & 63) == VCS_VBLANK) touch(frame, VCS_WHERE_PADDLES, 0);
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
  frame->rows = malloc((VCS_FRAME_INSTRUCTIONS + 2) * sizeof *frame->rows);
  frame->note.accesses = malloc(ACCESSES_MOST * sizeof *frame->note.accesses);
  frame->note.capacity = ACCESSES_MOST;
  frame->begun = calloc(1, size);
  frame->m = calloc(1, size);
  frame->beam_m = calloc(1, size);
  frame->blanks = malloc(ACCESSES_MOST);
  if (frame->rows && frame->note.accesses && frame->blanks && frame->begun && frame->m && frame->beam_m) return true;
  vcs_base_frame_free(frame);
  return false;
}

void vcs_base_frame_free(vcs_base_frame_t *frame) {
  free(frame->rows);
  free(frame->touches);
  free(frame->rom_touches);
  free(frame->note.accesses);
  free(frame->segments);
  free(frame->reads);
  free(frame->wirings);
  free(frame->chips);
  free(frame->cart_writes);
  free(frame->blanks);
  free(frame->begun);
  free(frame->m);
  free(frame->beam_m);
  *frame = (vcs_base_frame_t){0};
}

/* The last access noted is the reading of a collision register. */
static uint16_t read_collisions(void *context, const vcs_t *m) {
  const watch_t *watch = context;
  vcs_base_frame_t *frame = watch->frame;
  (void)m;
  if (frame->note.full) return 0;
  const uint16_t collisions = vcs_beam_record(frame, &frame->note.accesses[frame->note.count - 1], watch->row);
  frame->reads = room(frame->reads, sizeof *frame->reads, frame->read_count, &frame->read_capacity, &frame->lost);
  frame->reads_of |= (uint16_t)(3u << 2 * frame->note.accesses[frame->note.count - 1].reg);
  if (!frame->lost) {
    frame->reads[frame->read_count++] = (vcs_collision_read_t){watch->row, frame->segment_count - 1, collisions};
  }
  return collisions;
}

/* Lists of what seldom changes: the last of them is what holds now. */
static void keep_wiring(vcs_base_frame_t *frame, const vcs_t *m) {
  const vcs_wiring_t wiring = vcs_wiring_of(m);
  if (frame->wiring_count && memcmp(&wiring, &frame->wirings[frame->wiring_count - 1], sizeof wiring) == 0) return;
  frame->wirings =
      room(frame->wirings, sizeof *frame->wirings, frame->wiring_count, &frame->wiring_capacity, &frame->lost);
  if (!frame->lost) frame->wirings[frame->wiring_count++] = wiring;
}

static void keep_chips(vcs_base_frame_t *frame, const vcs_t *m) {
  const vcs_chips_t chips = vcs_chips_of(m);
  if (frame->chips_count && memcmp(&chips, &frame->chips[frame->chips_count - 1], sizeof chips) == 0) return;
  frame->chips = room(frame->chips, sizeof *frame->chips, frame->chips_count, &frame->chips_capacity, &frame->lost);
  if (!frame->lost) frame->chips[frame->chips_count++] = chips;
}

static void stand(vcs_base_frame_t *frame, const vcs_cpu_t *cpu, uint32_t row) {
  frame->rows[row] = (vcs_stand_t){
      .key = vcs_stand_key(cpu->pc, cpu->sp, cpu->a, cpu->x, cpu->y, vcs_cpu_status(cpu)),
      .cycles = vcs_cpu_cycles(cpu),
      .access = frame->note.count,
      .touch = frame->touch_count,
      .rom_touch = frame->rom_touch_count,
      .wiring = (uint16_t)(frame->wiring_count - 1),
      .chips = (uint16_t)(frame->chips_count - 1),
  };
}

/* Rows by their program counter: counted, then put behind each other from the last on. */
static void index_rows(vcs_base_frame_t *frame) {
  uint16_t *first = frame->first_same;
  memset(first, 0, sizeof frame->first_same);
  for (uint32_t row = 0; row < frame->count; row++) first[frame->rows[row].key & (VCS_SAME - 1)]++;
  for (uint32_t i = 1; i <= VCS_SAME; i++) first[i] = (uint16_t)(first[i] + first[i - 1]);
  for (uint32_t row = frame->count; row-- > 0;)
    frame->same[--first[frame->rows[row].key & (VCS_SAME - 1)]] = (uint16_t)row;
}

bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, vcs_t *after) {
  watch_t watch = {.frame = frame, .rom = rom};
  vcs_cpu_t registers, *cpu = &registers;
  vcs_t *m = frame->m;
  vcs_video_t *video = &frame->note.video;
  bool over = false;
  frame->count = frame->touch_count = frame->rom_touch_count = frame->read_count = frame->wiring_count = 0;
  frame->chips_count = frame->cart_write_count = 0;
  frame->note.count = 0;
  frame->reads_of = 0;
  frame->note.full = frame->lost = frame->clears = false;
  frame->note.collisions = read_collisions;
  frame->note.context = &watch;
  vcs_video_start(video, cart, NULL);
  memcpy(m, frame->begun, vcs_machine_size(cart));
  if (m->jammed || !vcs_beam_record_begin(frame, cart)) return false;
  vcs_cpu_load(cpu, m);
  keep_wiring(frame, m);
  keep_chips(frame, m);
  uint32_t recorded = 0;
  for (uint32_t row = 0; row < VCS_FRAME_INSTRUCTIONS && !over; row++) {
    watch.row = row;
    watch.reads = 0;
    watch.chip = watch.changes = false;
    stand(frame, cpu, row);
    if (!(cpu->pc & 0x1000) && (cpu->pc & 0x280) != 0x80) frame->lost = true; /* what it fetches depends on more */
    if (frame->lost) return false;
    vcs_cpu_instruction(VCS_HERE);
    frame->count++;
    over = cpu->stop & VCS_STOP_FRAME;
    if (cpu->stop & VCS_STOP_BANKS) keep_wiring(frame, m);
    if (watch.changes) keep_chips(frame, m);
    cpu->stop = 0;
    if (m->jammed || frame->note.full || frame->lost) return false;
    vcs_stand_t *here = &frame->rows[row];
    here->opcode = watch.opcode;
    here->low = watch.low;
    here->addr = watch.addr;
    here->read = watch.read;
    here->stored = watch.stored;
    here->chip = watch.chip;
    for (; recorded < frame->note.count; recorded++) {
      const vcs_beam_access_t *access = &frame->note.accesses[recorded];
      if (access->kind != VCS_BEAM_READ || access->reg >= 8) vcs_beam_record(frame, access, row);
    }
  }
  if (!over) return false;
  stand(frame, cpu, frame->count);
  index_rows(frame);
  frame->rows[frame->count + 1] = (vcs_stand_t){.cycles = UINT32_MAX};
  if (frame->lost || !vcs_beam_record_end(frame)) return false;
  vcs_cpu_store(cpu, m);
  m->bus = cpu->bus;
  m->partial = 0;
  memcpy(after, m, vcs_machine_size(cart));
  vcs_beam_put(&frame->segments[frame->segment_count].before, after);
  return true;
}
