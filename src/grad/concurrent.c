/* concurrent.c: many flips of one run in one walk.
 *
 * A run with a flipped bit is almost the run itself. So the base is walked through once, row by row (a row is an
 * instruction; most turns of a loop that waits for the timer have none), and for each flip only what differs is stored:
 * concurrent fault simulation, as designers of chips have done it since the 1970s (Ulrich and Baker 1974; Armstrong
 * 1972; Niermann 1992). The result is exact. In each frame a flip is in one of these states:
 *
 *   asleep    The program counter, the stack pointer, the time and the mapping of the cartridge are the base's. Bytes
 *             of RAM, the timer, an input, the TIA, and registers or flags that the base sets before it reads them
 *             may differ. While the base reads none of these, the flip does what the base does, and nothing needs to
 *             be done for it. A byte or register that the base overwrites no longer differs.
 *   following The base is about to read a difference, and the flip executes the same instructions at the same time
 *             with other values. Only the rows that read a difference are evaluated (concurrent_follow.c), for all
 *             flips that read it at once, up to a row at which the flip can sleep again. Most flips that wake do this.
 *   awake     The flip leaves the base's path or time. Its machine is built from the base's and the differences, and
 *             is run at once (concurrent_run.c), until it reaches the state in which a later row of the base begins.
 *   waiting   The flip has reached that row and the walk has not. When the walk does, the two machines are compared,
 *             and the flip sleeps with what differs.
 *   ended     The flip's frame was over before it met the base. It begins the next frame with a machine of its own.
 *   left      The flip does what the walk cannot follow: its frame does not end, or begins elsewhere in a line, or it
 *             jams; or it costs too much in the walk. It is run outside the walk (rerun.c).
 *
 *   base   row 0 ---- LDA $80 ---- STA $0D ---- LDA $81 ---- CMP ---- BNE ---- LDX #3 ---- ...       rows
 *   flip   asleep     | follows    |            :                                                    $80 differs
 *   of $80 ($80)      +------------+----------->:  LDA $81 replaces A: asleep ($80), and the TIA differs
 *
 * The flips that differ in a location are a set of bits, one for each flip, and the walk looks up the sets of the
 * locations that a row reads. So a row that reads and overwrites no difference costs a few loads.
 *
 * The TIA affects the CPU only when the CPU reads a collision. So a flip's TIA is computed only at such reads, at
 * horizons and at the ends of frames, and only where it differs (concurrent_beam.c).
 *
 * A flipped bit of ROM differs for the whole run: a row that reads the byte, as code or as data, wakes the flip, which
 * runs on an image of its own.
 */
#include "concurrent.h"

#include <stdlib.h>
#include <string.h>

#include "host/progress.h"
#include "host/save.h"

/* A flip that reads more unknown collisions than this in a frame leaves the walk: each such read computes its TIA
 * again. */
enum { UNKNOWN_READS = 4 };
enum { WORDS = VCS_FLIP_WORDS };

typedef enum { ASLEEP, WAITING, ENDED, LEFT } status_t;

typedef struct {
  uint64_t cart_ram;          /* while it sleeps: groups of cartridge RAM that differ, from VCS_LOCATION_CART_RAM on */
  uint32_t groups;            /* while it sleeps: other locations that differ, from VCS_LOCATION_TIMER on */
  uint8_t status;             /* status_t */
  uint8_t begins_awake;       /* it is run from the first row of the frame on */
  uint8_t own_rom;            /* its image is not the base's */
  uint8_t unknown_reads;      /* collisions that it has read and that were not computed */
  uint32_t from;              /* while it runs: the row at which it woke */
  int32_t extra;              /* instructions that it has executed in this frame beyond the base's */
  int32_t left_after;         /* LEFT: it is run on from its machine after so many frames; 0: from the beginning */
  uint64_t effort;            /* its cost in this frame, see "Flips that cost too much" */
  int32_t next;               /* WAITING: next flip that waits for the same row; -1: none */
  int32_t first_patch;        /* first patch of this frame; -1: none */
  int32_t last_patch;         /* last one */
  int shown;                  /* horizons that were shown */
  vcs_flip_beam_t beam;       /* its TIA; only if it is dirty */
  vcs_flip_beam_t beam_begun; /* its TIA when it became dirty in this frame */
  vcs_play_t play;            /* the memory of the game's rules */
  int32_t score;
} flip_t;

/* A flip of a byte of ROM. */
typedef struct {
  uint32_t flip;
  int32_t next; /* next flip of the same byte; -1: none */
} rom_flip_t;

/* By register: the number of a row, 16 bits, four in a word. */
typedef struct {
  uint64_t half[2];
} register_rows_t;
_Static_assert(VCS_REGISTER_COUNT == 8, "four in each half");
_Static_assert((int)VCS_FRAME_INSTRUCTIONS < 0x7FFF, "a row is 15 bits");

struct vcs_concurrent {
  vcs_concurrent_count_t counts;

  /* The base. */
  vcs_base_frame_t records[2]; /* the present frame and the next */
  vcs_base_frame_t *frame;     /* the present one */
  int32_t recorded;            /* frames that are recorded; -1: the next frame cannot be recorded */
  vcs_t *m;                    /* the base's machine before row `at` */
  uint32_t at;
  uint32_t reads_done; /* reads of collision registers before row `at` */
  vcs_t *after;        /* the base's machine after the last recorded frame */
  vcs_t *spare;        /* scratch */
  vcs_beam_note_t base_note;

  /* Sets of flips, a bit for each flip. */
  uint64_t differing[VCS_LOCATIONS][WORDS]; /* by location: flips that differ there, asleep or not */
  uint16_t differing_words[256]; /* by location: a bit for each word of its set that is not 0; VCS_NO_BYTE has none */
  uint64_t asleep[WORDS];        /* asleep or following */
  uint64_t following[WORDS];     /* asleep, but registers that the base reads differ */
  uint64_t reading[WORDS];       /* differs in RAM that the present row reads; empty between rows */
  uint64_t dirty[WORDS];         /* its TIA may not be the base's */

  /* What differs in flips that sleep or follow; the rest is in flip_t. */
  uint64_t ram[VCS_CONCURRENT_MOST][2];                /* by flip: the set of bytes of RAM */
  uint8_t own_ram[128][VCS_CONCURRENT_MOST];           /* by byte and flip: its value */
  uint64_t sleeping_registers[VCS_CONCURRENT_MOST];    /* by flip: its key ^ the base's where it fell asleep */
  uint32_t asleep_since[VCS_CONCURRENT_MOST];          /* by flip: the row at which it fell asleep */
  register_rows_t row_after_set;                       /* by register: the row after the last that set it; 0: none */
  vcs_followers_t followers;                           /* flips that follow the base */
  vcs_followers_t readers;                             /* flips that read a difference at the present row */
  uint64_t bits_of_registers[1 << VCS_REGISTER_COUNT]; /* by set of registers: their bits of a key */

  /* Flips that run. */
  flip_t *flips;
  uint8_t *machines; /* by flip: `stride` bytes */
  size_t stride;
  int32_t *waiting;   /* by row: the first flip that waits for it; -1: none */
  int32_t *rom_heads; /* by byte of the image: the first of rom_flips, or -1; NULL: no bit of ROM is flipped */
  rom_flip_t *rom_flips;
  uint32_t rom_flip_count, rom_flip_capacity;
  vcs_beam_note_t note; /* accesses of the flip that runs */
  vcs_beam_now_t now;   /* its TIA */
  bool lost;            /* the flip that runs needs collisions that are not known */

  /* TIAs and pictures of flips. */
  vcs_beam_work_t work;
  vcs_beam_patches_t patches;
  uint8_t *picture;
  uint8_t lines[VCS_FRAME_BYTES / VCS_WIDTH];
  uint16_t missed_collisions; /* collisions that flips read and that are computed only from the next frame on */
  uint64_t effort;            /* the cost of computing TIAs, see "Flips that cost too much" */
  uint64_t effort_limit;      /* the most that a flip may cost in this frame and stay in the walk */
  bool first_frame;           /* the present frame is the first */

  /* The present walk, as vcs_concurrent_walk is called. */
  const vcs_base_t *base;
  vcs_runner_t *runner;
  const vcs_flip_t *given;
  size_t count;
  const vcs_concurrent_callbacks_t *callbacks;
};

static const vcs_cart_t *cart_of(const vcs_concurrent_t *walk) { return &walk->base->cart; }
static vcs_t *machine_of(const vcs_concurrent_t *walk, size_t flip) {
  return (vcs_t *)(void *)(walk->machines + flip * walk->stride);
}

const vcs_concurrent_count_t *vcs_concurrent_counts(const vcs_concurrent_t *walk) { return &walk->counts; }

/* ---- Differences ------------------------------------------------------------------------------------------------ */

#define GROUP(name) (1u << (VCS_LOCATION_##name - VCS_LOCATION_TIMER))

/* Returns the groups of state that differ. All other state belongs to the TIA, is equal wherever two machines meet, or
 * affects no output. */
static uint32_t differing_groups(const vcs_t *one, const vcs_t *other) {
  uint32_t groups = 0;
  enum {
    CLOCKS = offsetof(vcs_t, line) - offsetof(vcs_t, vsync_clock),
    CHIPS = offsetof(vcs_t, nusiz) - offsetof(vcs_t, timer)
  };
  _Static_assert(CLOCKS >= 16 && CLOCKS <= 32 && CHIPS >= 16 && CHIPS <= 32, "vcs_same_bytes compares 16 to 32");
  if (vcs_same_bytes(&one->vsync_clock, &other->vsync_clock, CLOCKS) &&
      vcs_same_bytes(&one->timer, &other->timer, CHIPS) &&
      vcs_same_bytes(one->paddle, other->paddle, sizeof one->paddle) && one->dump == other->dump) {
    return 0;
  }
#define DIFFER(field) (memcmp(&one->field, &other->field, sizeof one->field) != 0)
  if (DIFFER(timer) || DIFFER(timer_shift) || DIFFER(timer_was_read) || DIFFER(timer_cycle) ||
      (one->timer_was_read && DIFFER(timer_read_cycle))) {
    groups |= GROUP(TIMER);
  }
  if (DIFFER(ddra) || DIFFER(port_a_out) || DIFFER(swcha) || DIFFER(keypad) || DIFFER(turn) || DIFFER(wheel)) {
    groups |= GROUP(PORTS);
  }
  if (DIFFER(swchb)) groups |= GROUP(SWITCHES);
  if (DIFFER(fire)) groups |= GROUP(FIRE);
  if (DIFFER(paddle) || DIFFER(dump) || DIFFER(dump_cycle) || (one->vblank ^ other->vblank) & 0x80) {
    groups |= GROUP(PADDLES);
  }
  if (DIFFER(vsync) || DIFFER(vsync_clock)) groups |= GROUP(VSYNC);
#undef DIFFER
  return groups;
}

static void put_groups(uint32_t groups, const vcs_t *from, vcs_t *to) {
#define PUT(field) memcpy(&to->field, &from->field, sizeof to->field)
  if (groups & GROUP(TIMER)) {
    PUT(timer), PUT(timer_shift), PUT(timer_was_read), PUT(timer_cycle), PUT(timer_read_cycle);
  }
  if (groups & GROUP(PORTS)) PUT(ddra), PUT(port_a_out), PUT(swcha), PUT(keypad), PUT(turn), PUT(wheel);
  if (groups & GROUP(SWITCHES)) PUT(swchb);
  if (groups & GROUP(FIRE)) PUT(fire);
  if (groups & GROUP(PADDLES)) PUT(paddle), PUT(dump), PUT(dump_cycle), PUT(vblank);
  if (groups & GROUP(VSYNC)) PUT(vsync), PUT(vsync_clock);
#undef PUT
}

static uint64_t differing_cart_ram(const vcs_cart_t *cart, const vcs_t *one, const vcs_t *other) {
  uint64_t groups = 0;
  if (!cart->ram_size || memcmp(one->cart_ram, other->cart_ram, cart->ram_size) == 0) return 0;
  for (uint32_t i = 0; i < cart->ram_size; i++) {
    if (one->cart_ram[i] != other->cart_ram[i]) groups |= 1ull << (i & 63);
  }
  return groups;
}

/* Puts the bytes of RAM in which a sleeping flip differs into the base's RAM. */
static void put_own_ram(const vcs_concurrent_t *walk, size_t number, uint8_t *ram) {
  for (int half = 0; half < 2; half++) {
    for (uint64_t left = walk->ram[number][half]; left; left &= left - 1) {
      const int i = 64 * half + VCS_LOWEST_64(left);
      ram[i] = walk->own_ram[i][number];
    }
  }
}

/* Changes the base's machine into that of a sleeping flip, but for its TIA and its registers. */
static void put_differences(const vcs_concurrent_t *walk, size_t number, vcs_t *to) {
  const flip_t *flip = &walk->flips[number];
  const vcs_t *from = machine_of(walk, number);
  put_own_ram(walk, number, to->ram);
  if (flip->groups) put_groups(flip->groups, from, to);
  for (uint64_t left = flip->cart_ram; left; left &= left - 1) {
    for (uint32_t i = (uint32_t)VCS_LOWEST_64(left); i < cart_of(walk)->ram_size; i += 64) {
      to->cart_ram[i] = from->cart_ram[i];
    }
  }
}

/* What differs in a flip, but for its TIA and its registers: bits as in flip_t and walk->ram. */
typedef struct {
  uint64_t ram[2], cart_ram;
  uint32_t groups;
} differences_t;

static differences_t find_differences(const vcs_concurrent_t *walk, const vcs_t *m, const vcs_t *base) {
  const uint64_t low = vcs_differing_bytes(m->ram, base->ram), high = vcs_differing_bytes(m->ram + 64, base->ram + 64);
  return (differences_t){{low, high}, differing_cart_ram(cart_of(walk), m, base), differing_groups(m, base)};
}

/* ---- Sets of flips ---------------------------------------------------------------------------------------------- */

/* Changes whether a flip differs in a location. */
static void toggle_difference(vcs_concurrent_t *walk, size_t flip, unsigned location) {
  uint64_t *word = &walk->differing[location][flip >> 6];
  const unsigned bit = 1u << (flip >> 6);
  *word ^= 1ull << (flip & 63);
  walk->differing_words[location] =
      (uint16_t)(*word ? walk->differing_words[location] | bit : walk->differing_words[location] & ~bit);
}

/* Sets the differences of a flip whose machine is m. */
static void set_differences(vcs_concurrent_t *walk, size_t number, differences_t now, const vcs_t *m) {
  flip_t *flip = &walk->flips[number];
  for (unsigned half = 0; half < 2; half++) {
    for (uint64_t left = walk->ram[number][half] ^ now.ram[half]; left; left &= left - 1) {
      toggle_difference(walk, number, 64 * half + (unsigned)VCS_LOWEST_64(left));
    }
    for (uint64_t left = now.ram[half]; left; left &= left - 1) {
      const unsigned i = 64 * half + (unsigned)VCS_LOWEST_64(left);
      walk->own_ram[i][number] = m->ram[i];
    }
    walk->ram[number][half] = now.ram[half];
  }
  for (uint32_t left = flip->groups ^ now.groups; left; left &= left - 1) {
    toggle_difference(walk, number, VCS_LOCATION_TIMER + (unsigned)VCS_LOWEST(left));
  }
  for (uint64_t left = flip->cart_ram ^ now.cart_ram; left; left &= left - 1) {
    toggle_difference(walk, number, VCS_LOCATION_CART_RAM + (unsigned)VCS_LOWEST_64(left));
  }
  flip->groups = now.groups;
  flip->cart_ram = now.cart_ram;
}

/* Sets the status of a flip and takes it out of `following`. */
static void set_status(vcs_concurrent_t *walk, size_t flip, status_t status) {
  const uint64_t bit = 1ull << (flip & 63);
  walk->flips[flip].status = (uint8_t)status;
  walk->asleep[flip >> 6] = status == ASLEEP ? walk->asleep[flip >> 6] | bit : walk->asleep[flip >> 6] & ~bit;
  walk->following[flip >> 6] &= ~bit;
}

static bool is_following(const vcs_concurrent_t *walk, size_t flip) {
  return walk->following[flip >> 6] >> (flip & 63) & 1;
}

static void set_dirty(vcs_concurrent_t *walk, size_t flip, bool dirty) {
  const uint64_t bit = 1ull << (flip & 63);
  walk->dirty[flip >> 6] = dirty ? walk->dirty[flip >> 6] | bit : walk->dirty[flip >> 6] & ~bit;
}

/* Whether a flip's TIA differs from the base's in a part that matters. */
static bool has_own_beam(const vcs_concurrent_t *walk, const flip_t *flip) {
  return flip->beam.differs || flip->beam.patch >= 0 ||
         ((flip->beam.tia.collisions ^ walk->frame->segments[flip->beam.at].before.collisions) &
          walk->frame->live_collisions) ||
         (flip->beam.unknown & walk->frame->live_collisions);
}

/* Whether a flip's TIA may not be the base's. */
static bool is_dirty(const vcs_concurrent_t *walk, size_t flip) { return walk->dirty[flip >> 6] >> (flip & 63) & 1; }

/* ---- Awake ------------------------------------------------------------------------------------------------------ */

/* The collisions that the base reads, as they were recorded. */
static uint16_t base_collisions(void *context, const vcs_t *m) {
  vcs_concurrent_t *walk = context;
  (void)m;
  return walk->frame->reads[walk->reads_done++].collisions;
}

/* Advances the base's machine to a row. */
static void advance_base(vcs_concurrent_t *walk, uint32_t row) {
  if (walk->at == row) return;
  vcs_concurrent_advance(cart_of(walk), walk->frame, walk->m, &walk->base_note, walk->at, row);
  walk->at = row;
}

/* The flip that runs and reads a collision register. */
typedef struct {
  vcs_concurrent_t *walk;
  flip_t *flip;
  size_t number;
} reader_t;

/* Gives a flip a TIA of its own, equal to the base's before the segment of an access. */
static void begin_own_beam(vcs_concurrent_t *walk, size_t number, uint32_t access) {
  flip_t *flip = &walk->flips[number];
  const vcs_base_frame_t *frame = walk->frame;
  const uint32_t low = frame->segment_of[access];
  flip->beam.at = low;
  flip->beam.differs = 0;
  flip->beam.patch = -1;
  flip->beam.tia.collisions = frame->segments[low].before.collisions;
  flip->beam_begun = flip->beam;
  flip->beam.unknown |= (uint16_t)~frame->live_collisions;
  set_dirty(walk, number, true);
}

/* The same, unless the flip has a TIA of its own. */
static void make_own_beam(vcs_concurrent_t *walk, size_t number, uint32_t access) {
  if (!is_dirty(walk, number)) begin_own_beam(walk, number, access);
}

/* Returns which latches of the collision register that is being read matter to the flip that runs. */
static unsigned bits_of_read(const vcs_concurrent_t *walk, const vcs_t *m) {
  if (!walk->note.pc || walk->rom_heads || walk->base->view.states) return 3;
  return vcs_latch_bits(walk->frame->latch_bits, cart_of(walk), m->bank, walk->note.pc);
}

/* Returns the collisions of the flip that runs, after it has read a collision that the base does not read. The flip's
 * TIA is computed again with all collisions, from the state in which it became the flip's own. The flip has made
 * `count` accesses after the base's access `access`. */
static uint16_t find_unknown(vcs_concurrent_t *walk, flip_t *flip, uint32_t access, uint32_t count, unsigned latches) {
  vcs_flip_beam_t beam = flip->beam_begun;
  vcs_beam_now_t now = {0};
  const uint16_t live = walk->frame->live_collisions;
  beam.patch = flip->first_patch;
  walk->frame->live_collisions = 0xFFFF;
  const uint16_t collisions = vcs_beam_collisions_now(&walk->work, &beam, access, walk->note.accesses, count, &now);
  walk->frame->live_collisions = live;
  walk->now.made = 0;
  walk->missed_collisions |= (uint16_t)latches;
  if (latches & beam.unknown || ++flip->unknown_reads > UNKNOWN_READS) {
    walk->lost = walk->note.full = true; /* `full` stops the run */
  }
  return collisions;
}

/* The collisions that the flip that runs reads. */
static uint16_t flip_collisions(void *context, const vcs_t *m) {
  const reader_t *reader = context;
  vcs_concurrent_t *walk = reader->walk;
  const vcs_base_frame_t *frame = walk->frame;
  const uint32_t access = frame->rows[reader->flip->from].access, count = walk->note.count;
  const unsigned latches = bits_of_read(walk, m) << 2 * walk->note.accesses[count - 1].reg;
  if (!latches) return 0;
  if (access + count <= frame->note.count &&
      memcmp(walk->note.accesses, frame->note.accesses + access, count * sizeof *walk->note.accesses) == 0) {
    const vcs_collision_read_t *read = frame->reads; /* the base reads here, too */
    while (frame->segments[read->segment].access != access + count - 1) read++;
    if (!is_dirty(walk, reader->number)) return read->collisions;
    walk->work.picture = NULL;
    if (latches & reader->flip->beam.unknown) return find_unknown(walk, reader->flip, access, count, latches);
    return vcs_beam_collisions_after(&walk->work, &reader->flip->beam, read->segment);
  }
  make_own_beam(walk, reader->number, access);
  walk->work.picture = NULL;
  if (latches & reader->flip->beam.unknown) return find_unknown(walk, reader->flip, access, count, latches);
  return vcs_beam_collisions_now(&walk->work, &reader->flip->beam, access, walk->note.accesses, count, &walk->now);
}

/* Flips a flip's bits of ROM in the runner's image; a second call flips them back. */
static void flip_rom(const vcs_concurrent_t *walk, size_t number) {
  const vcs_flip_t *given = &walk->given[number];
  for (size_t i = 0; i < given->count; i++) {
    const vcs_place_t *place = &given->places[i];
    if (place->kind == VCS_PLACE_ROM) vcs_runner_flip_rom(walk->runner, place);
  }
}

static bool same_access(const vcs_beam_access_t *one, const vcs_beam_access_t *other) {
  return memcmp(one, other, sizeof *one) == 0;
}

/* Makes room for `needed` items of `size` bytes. False: there is no memory, and the array has not changed. */
static bool grow(void **items, size_t size, uint32_t needed, uint32_t *capacity) {
  if (needed <= *capacity) return true;
  uint32_t more = *capacity ? *capacity : 256;
  while (more < needed) more *= 2;
  void *grown = realloc(*items, size * more);
  if (!grown) return false;
  *items = grown;
  *capacity = more;
  return true;
}

/* Makes room for more patches and accesses. False: there is no memory. */
static bool reserve(vcs_beam_patches_t *patches, uint32_t more_patches, uint32_t more_accesses) {
  return grow((void **)&patches->patches, sizeof *patches->patches, patches->patch_count + more_patches,
              &patches->patch_capacity) &&
         grow((void **)&patches->accesses, sizeof *patches->accesses, patches->access_count + more_accesses,
              &patches->access_capacity);
}

/* Makes the next `count` of the patches' accesses a patch of a flip for the base's accesses [from, to). There is room.
 */
static void add_own_accesses(vcs_concurrent_t *walk, size_t number, uint32_t from, uint32_t to, uint32_t count) {
  flip_t *flip = &walk->flips[number];
  vcs_beam_patches_t *patches = &walk->patches;
  const int32_t patch = (int32_t)patches->patch_count++;
  patches->patches[patch] = (vcs_beam_patch_t){from, to, patches->access_count, count, -1};
  patches->access_count += count;
  make_own_beam(walk, number, from);
  if (flip->last_patch >= 0) {
    patches->patches[flip->last_patch].next = patch;
  } else {
    flip->first_patch = patch;
  }
  if (flip->beam.patch < 0) flip->beam.patch = patch;
  flip->last_patch = patch;
}

/* Makes the accesses that the flip that runs has noted a patch, as far as they differ from the base's [from, to).
 * False: there is no memory. */
static bool add_patch(vcs_concurrent_t *walk, size_t number, uint32_t from, uint32_t to) {
  const vcs_beam_access_t *base = walk->frame->note.accesses, *own = walk->note.accesses;
  uint32_t count = walk->note.count;
  while (from < to && count && same_access(&base[from], own)) from++, own++, count--;
  while (from < to && count && same_access(&base[to - 1], &own[count - 1])) to--, count--;
  if (from == to && !count) return true;
  if (!reserve(&walk->patches, 1, count)) return false;
  if (count) memcpy(walk->patches.accesses + walk->patches.access_count, own, count * sizeof *own);
  add_own_accesses(walk, number, from, to, count);
  return true;
}

/* Removes a flip from the followers, and sets *registers to its key ^ the base's. False: it is not one of them. */
static bool remove_follower(vcs_concurrent_t *walk, size_t number, uint64_t *registers) {
  vcs_followers_t *followers = &walk->followers;
  for (uint32_t i = 0; i < followers->count; i++) {
    if (followers->flip[i] != number) continue;
    *registers = followers->registers[i];
    followers->count--;
    followers->flip[i] = followers->flip[followers->count];
    followers->registers[i] = followers->registers[followers->count];
    return true;
  }
  return false;
}

/* Lets a flip leave the walk at once: it is run outside the walk, from the beginning. */
static void leave_walk(vcs_concurrent_t *walk, size_t number) {
  uint64_t registers;
  if (is_following(walk, number)) remove_follower(walk, number, &registers);
  set_status(walk, number, LEFT);
}

/* ---- Flips that cost too much ------------------------------------------------------------------------------------
 *
 * A few flips take a large part of the time: three of a hundred take half of the time of all flips, because they are
 * off the base's path for most of every frame, or show other objects in most lines. Compiled code (host/native.h)
 * executes a whole frame of such a flip, collisions included, in less time than the walk takes for its differences. So
 * the cost of a flip is counted, roughly, in the unit of one instruction that it runs beside the base: it consists of
 * these instructions, the accesses to its TIA, and the start of both. The next frame probably costs as much as this
 * one. If that is more than the cost of a frame outside the walk, the flip leaves the walk for good after the frame,
 * and is run on from its machine at that time. In the first frame it leaves at once, and is run from the beginning. The
 * numbers below were measured; nothing but time depends on them. */
enum { WAKE_EFFORT = 40 };      /* waking */
enum { COMPILED_EFFORT = 22 };  /* a frame outside the walk, for 100 rows of the base, with compiled code */
enum { DECODED_EFFORT = 44 };   /* the same without compiled code */
enum { HMOVE_EFFORT = 6 };      /* added for each HMOVE, because most of them move objects */
enum { LEAVING_EFFORT = 1500 }; /* finding all collisions and the rows of a picture that differ */

/* Returns the most that a flip may cost in this frame, which `frames` frames follow, to stay in the walk. For tests,
 * which inspect all flips, and for counts of work, which must not depend on compiled code, there is no limit. */
static uint64_t find_effort_limit(const vcs_concurrent_t *walk, int32_t frames) {
  const bool compiled = !walk->runner->rom && cart_of(walk)->native;
  if (frames <= 0 || walk->callbacks->inspect || walk->callbacks->keeps_all) return UINT64_MAX;
  return (uint64_t)walk->frame->count * (compiled ? COMPILED_EFFORT : DECODED_EFFORT) / 100 +
         (uint64_t)HMOVE_EFFORT * walk->frame->hmoves + LEAVING_EFFORT / (uint64_t)frames;
}

static bool is_expensive(const vcs_concurrent_t *walk, const flip_t *flip) { return flip->effort > walk->effort_limit; }

/* ---- Running ---------------------------------------------------------------------------------------------------- */

/* Runs a flip, whose machine is machine_of, from a row on, until it waits for a later row, ends its frame, or leaves.
 */
static void run_flip(vcs_concurrent_t *walk, size_t number, uint32_t row) {
  flip_t *flip = &walk->flips[number];
  vcs_t *m = machine_of(walk, number);
  const vcs_row_start_t *start = &walk->frame->rows[row];
  const int64_t allowed = (int64_t)VCS_FRAME_INSTRUCTIONS - start->number - flip->extra;
  if (walk->first_frame && is_expensive(walk, flip)) {
    leave_walk(walk, number);
    return;
  }
  reader_t reader = {walk, flip, number};
  uint32_t executed = 0;
  flip->from = row;
  walk->note.count = 0;
  walk->note.full = walk->lost = false;
  walk->now.made = 0;
  walk->note.context = &reader;
  if (walk->runner->rom) flip_rom(walk, number);
  const uint64_t effort = walk->effort;
  const int32_t met = allowed > 0 ? vcs_concurrent_run(&walk->runner->cart, walk->frame, m, &walk->note, row,
                                                       (uint32_t)allowed, &executed)
                                  : VCS_RUN_LOST;
  if (walk->runner->rom) flip_rom(walk, number);
  walk->counts.wakes++;
  walk->counts.executed += executed;
  const int32_t beside = met < 0 ? 0 : walk->frame->rows[met].number - start->number;
  const int32_t skipped = met < 0 ? 0 : beside - (met - (int32_t)row);
  flip->effort +=
      walk->effort - effort + (executed > (uint32_t)skipped ? executed - (uint32_t)skipped : 0) + WAKE_EFFORT;
  if (walk->lost) {
    leave_walk(walk, number);
    return;
  }
  if (met == VCS_RUN_ENDED && add_patch(walk, number, start->access, walk->frame->note.count)) {
    set_status(walk, number, ENDED);
    return;
  }
  if (met < 0) {
    leave_walk(walk, number);
    return;
  }
  flip->extra += (int32_t)executed - beside;
  if (!add_patch(walk, number, start->access, walk->frame->rows[met].access)) {
    leave_walk(walk, number);
    return;
  }
  set_status(walk, number, WAITING);
  flip->next = walk->waiting[met];
  walk->waiting[met] = (int32_t)number;
}

/* Returns the set of registers whose row is before `row`. */
VCS_HOT_FN unsigned rows_before(const register_rows_t *rows, uint32_t row) {
#if defined(__SSE2__)
  const __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)rows);
  const __m128i before = _mm_cmplt_epi16(eight, _mm_set1_epi16((short)row));
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(before, _mm_setzero_si128()));
#else
  const uint64_t top = 0x8000800080008000ull, four = row * 0x0001000100010001ull;
  const uint64_t gather = 0x0000200040008001ull; /* brings the four top bits together */
  const uint64_t low = ~((rows->half[0] | top) - four) & top, high = ~((rows->half[1] | top) - four) & top;
  return (unsigned)((low >> 15) * gather >> 45 & 15) | (unsigned)((high >> 15) * gather >> 45 & 15) << 4;
#endif
}

/* Sets the row of the registers in a set; on x86 with one store, because rows_before loads all of them at once. */
VCS_HOT_FN void set_rows(register_rows_t *rows, unsigned names, uint32_t row) {
#define SPREAD(n)                                                                            \
  (((n)&1 ? 0xFFFFull : 0) | ((n)&2 ? 0xFFFFull << 16 : 0) | ((n)&4 ? 0xFFFFull << 32 : 0) | \
   ((n)&8 ? 0xFFFFull << 48 : 0))
  static const uint64_t spread[16] = {SPREAD(0),  SPREAD(1),  SPREAD(2),  SPREAD(3), SPREAD(4),  SPREAD(5),
                                      SPREAD(6),  SPREAD(7),  SPREAD(8),  SPREAD(9), SPREAD(10), SPREAD(11),
                                      SPREAD(12), SPREAD(13), SPREAD(14), SPREAD(15)};
#undef SPREAD
  const uint64_t low = spread[names & 15], high = spread[names >> 4];
#if defined(__SSE2__)
  const __m128i mask = _mm_set_epi64x((long long)high, (long long)low), eight = _mm_set1_epi16((short)row);
  const __m128i old = _mm_loadu_si128((const __m128i *)(const void *)rows);
  _mm_storeu_si128((__m128i *)(void *)rows, _mm_or_si128(_mm_andnot_si128(mask, old), _mm_and_si128(mask, eight)));
#else
  const uint64_t four = row * 0x0001000100010001ull;
  rows->half[0] = (rows->half[0] & ~low) | (four & low);
  rows->half[1] = (rows->half[1] & ~high) | (four & high);
#endif
}

/* Returns the key of a sleeping flip ^ the base's: its value when the flip fell asleep, without the registers that the
 * base has set since. */
static uint64_t find_registers(const vcs_concurrent_t *walk, size_t number) {
  return walk->sleeping_registers[number] &
         walk->bits_of_registers[rows_before(&walk->row_after_set, walk->asleep_since[number] + 1)];
}

/* Fills in the bits of a key for each set of registers. */
static void find_bits_of_registers(uint64_t *bits_of_registers) {
#define FLAGS(flags) ((uint64_t)(flags) << VCS_KEY_P)
  static const uint64_t bits[VCS_REGISTER_COUNT] = {
      [VCS_REGISTER_A] = 0xFFull << VCS_KEY_A, [VCS_REGISTER_X] = 0xFFull << VCS_KEY_X,
      [VCS_REGISTER_Y] = 0xFFull << VCS_KEY_Y, [VCS_REGISTER_NZ] = FLAGS(VCS_FLAG_N | VCS_FLAG_Z),
      [VCS_REGISTER_V] = FLAGS(VCS_FLAG_V),    [VCS_REGISTER_D] = FLAGS(VCS_FLAG_D),
      [VCS_REGISTER_I] = FLAGS(VCS_FLAG_I),    [VCS_REGISTER_C] = FLAGS(VCS_FLAG_C)};
#undef FLAGS
  for (unsigned names = 0; names < 1u << VCS_REGISTER_COUNT; names++) {
    for (unsigned left = names; left; left &= left - 1) bits_of_registers[names] |= bits[VCS_LOWEST(left)];
  }
}

/* Builds the machine of a flip that sleeps or follows, before a row: the base's machine with the flip's differences.
 * The TIA is not built. */
static void restore(vcs_concurrent_t *walk, size_t number, uint32_t row) {
  const flip_t *flip = &walk->flips[number];
  vcs_t *m = machine_of(walk, number);
  advance_base(walk, row);
  if (flip->groups | flip->cart_ram) {
    memcpy(walk->spare, walk->m, vcs_machine_size(cart_of(walk)));
    put_differences(walk, number, walk->spare);
    memcpy(m, walk->spare, vcs_machine_size(cart_of(walk)));
  } else {
    memcpy(m, walk->m, vcs_machine_size(cart_of(walk)));
    put_own_ram(walk, number, m->ram);
  }
  if (walk->sleeping_registers[number]) {
    const uint64_t key = walk->frame->rows[row].key ^ find_registers(walk, number);
    m->a = (uint8_t)(key >> VCS_KEY_A);
    m->x = (uint8_t)(key >> VCS_KEY_X);
    m->y = (uint8_t)(key >> VCS_KEY_Y);
    m->p = (uint8_t)(key >> VCS_KEY_P);
  }
}

/* Lets a flip sleep from a row on. `registers` is its key ^ the base's. */
static void fall_asleep(vcs_concurrent_t *walk, size_t number, uint64_t registers, uint32_t row) {
  walk->sleeping_registers[number] = registers;
  walk->asleep_since[number] = row;
  walk->following[number >> 6] &= ~(1ull << (number & 63));
}

/* Runs a flip that sleeps or follows from a row on. */
static void wake(vcs_concurrent_t *walk, size_t number, uint32_t row) {
  uint64_t registers;
  if (is_following(walk, number) && remove_follower(walk, number, &registers))
    fall_asleep(walk, number, registers, row);
  restore(walk, number, row);
  run_flip(walk, number, row);
}

/* Wakes all sleeping flips that differ in a location. */
static void wake_all(vcs_concurrent_t *walk, unsigned location, uint32_t row) {
  for (unsigned words = walk->differing_words[location]; words; words &= words - 1) {
    const size_t i = (size_t)VCS_LOWEST(words);
    for (uint64_t left = walk->differing[location][i] & walk->asleep[i]; left; left &= left - 1) {
      wake(walk, 64 * i + (size_t)VCS_LOWEST_64(left), row);
    }
  }
}

/* ---- Following ------------------------------------------------------------------------------------------------- */

/* Returns whether a touch is a read of a byte of RAM. */
static bool reads_ram(unsigned touch) { return touch < VCS_LOCATION_TIMER; }

/* Adds the flips that differ in a byte of RAM to walk->reading. Returns the words of the set that are not 0. */
static unsigned add_readers(vcs_concurrent_t *walk, unsigned location) {
  const unsigned words = walk->differing_words[location];
  for (unsigned left = words; left; left &= left - 1) {
    walk->reading[VCS_LOWEST(left)] |= walk->differing[location][VCS_LOWEST(left)];
  }
  return words;
}

/* Adds the flips that differ in any byte of RAM that a row reads. Returns the words of the set that are not 0. */
static unsigned find_readers(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_row_start_t *start = &walk->frame->rows[row];
  const vcs_row_data_t *data = &walk->frame->data[row];
  if (!data->listed) return add_readers(walk, data->ram_read);
  unsigned words = 0;
  for (uint32_t i = start->touch; i < start[1].touch; i++) {
    if (reads_ram(walk->frame->touches[i])) words |= add_readers(walk, walk->frame->touches[i]);
  }
  return words;
}

/* Moves the followers that read a difference at a row to the readers. On all other followers the row has the same
 * effect as on the base: they continue to follow, or fall asleep after it. */
static void pass_followers(vcs_concurrent_t *walk, uint32_t row) {
  const uint64_t live = walk->frame->rows[row + 1].live;
  const vcs_facts_t facts = vcs_facts_of[walk->frame->data[row].opcode];
  vcs_followers_t *followers = &walk->followers;
  const uint32_t count = followers->count;
  uint32_t left = 0, reading = 0;
  for (uint32_t i = 0; i < count; i++) {
    const size_t number = followers->flip[i];
    const uint64_t registers = followers->registers[i], kept = registers & ~facts.sets;
    if (registers & facts.reads || walk->reading[number >> 6] >> (number & 63) & 1) {
      walk->readers.flip[reading] = (uint16_t)number;
      walk->readers.registers[reading++] = registers;
    } else if (kept & live) {
      followers->flip[left] = (uint16_t)number;
      followers->registers[left++] = kept;
    } else {
      fall_asleep(walk, number, kept, row + 1);
    }
  }
  followers->count = left;
  walk->readers.count = reading;
}

/* Adds the sleeping flips that read a difference at a row to the readers. Flips with an image of their own leave the
 * path at once; so do all flips if the cartridge sees stores of RAM, which may switch banks. */
static void find_sleepers(vcs_concurrent_t *walk, uint32_t row, unsigned words) {
  vcs_followers_t *readers = &walk->readers;
  const bool all_leave = cart_of(walk)->snoops, some_leave = all_leave || walk->rom_heads;
  for (; words; words &= words - 1) {
    const size_t word = (size_t)VCS_LOWEST(words);
    uint64_t sleepers = walk->reading[word] & walk->asleep[word] & ~walk->following[word];
    for (uint64_t left = some_leave ? sleepers : 0; left; left &= left - 1) {
      const size_t number = 64 * word + (size_t)VCS_LOWEST_64(left);
      if (!all_leave && !walk->flips[number].own_rom) continue;
      wake(walk, number, row);
      sleepers &= ~(left & -left);
    }
    uint32_t count = readers->count;
    for (uint64_t left = sleepers; left; left &= left - 1) {
      const size_t number = 64 * word + (size_t)VCS_LOWEST_64(left);
      readers->flip[count] = (uint16_t)number;
      readers->registers[count++] = find_registers(walk, number);
    }
    readers->count = count;
    walk->following[word] |= sleepers; /* finish_row lets some of them sleep again */
    walk->reading[word] = 0;
  }
}

/* Evaluates a row for all flips that read a difference there, and runs those that leave the path. Returns the results
 * of all of them, ORed. */
static unsigned follow(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_followers_t *readers = &walk->readers;
  const vcs_own_ram_t ram = {walk->differing[VCS_LOCATION_RAM], walk->own_ram[0]};
  const unsigned words = find_readers(walk, row);
  pass_followers(walk, row);
  find_sleepers(walk, row, words);
  if (!readers->count) return 0;
  const unsigned results = vcs_concurrent_follow(cart_of(walk), walk->frame, row, &ram, &walk->readers);
  for (uint32_t i = 0; results & VCS_LEAVES && i < readers->count; i++) {
    if (readers->result[i] != VCS_LEAVES) continue;
    fall_asleep(walk, readers->flip[i], readers->registers[i], row);
    wake(walk, readers->flip[i], row);
  }
  return results;
}

/* Enters the values that readers store in a byte of RAM and that differ from the base's. No flip differs there before.
 */
static void store_in_ram(vcs_concurrent_t *walk, unsigned byte) {
  const vcs_followers_t *readers = &walk->readers;
  uint64_t *differing = walk->differing[VCS_LOCATION_RAM + byte];
  unsigned words = walk->differing_words[VCS_LOCATION_RAM + byte];
  for (uint32_t i = 0; i < readers->count; i++) {
    const size_t number = readers->flip[i];
    if (readers->result[i] != VCS_STORES) continue;
    walk->own_ram[byte][number] = readers->value[i];
    walk->ram[number][byte >> 6] |= 1ull << (byte & 63);
    differing[number >> 6] |= 1ull << (number & 63);
    words |= 1u << (number >> 6);
  }
  walk->differing_words[VCS_LOCATION_RAM + byte] = (uint16_t)words;
}

/* The same for a register of the TIA. Without memory the flips leave the walk. */
static void store_in_register(vcs_concurrent_t *walk, uint32_t access) {
  vcs_followers_t *readers = &walk->readers;
  const bool has_room = reserve(&walk->patches, readers->count, readers->count);
  vcs_beam_access_t own = walk->frame->note.accesses[access];
  for (uint32_t i = 0; i < readers->count; i++) {
    if (readers->result[i] != VCS_STORES) continue;
    if (!has_room) {
      readers->result[i] = VCS_LEAVES;
      leave_walk(walk, readers->flip[i]);
      continue;
    }
    own.value = readers->value[i];
    walk->patches.accesses[walk->patches.access_count] = own;
    add_own_accesses(walk, readers->flip[i], access, access + 1, 1);
  }
}

/* Ends a row for the readers, after overwrite_locations: enters the values that they store, and lets them follow or
 * sleep. */
static void finish_row(vcs_concurrent_t *walk, uint32_t row, unsigned results) {
  const uint64_t live = walk->frame->rows[row + 1].live;
  const vcs_followers_t *readers = &walk->readers;
  vcs_followers_t *followers = &walk->followers;
  if (results & VCS_STORES) {
    const uint16_t addr = walk->frame->data[row].addr;
    if ((addr & 0x1280) == 0x80) {
      store_in_ram(walk, addr & 0x7F);
    } else {
      store_in_register(walk, walk->frame->rows[row].access);
    }
  }
  uint32_t count = followers->count;
  for (uint32_t i = 0; i < readers->count; i++) {
    const size_t number = readers->flip[i];
    const uint64_t registers = readers->registers[i];
    if (readers->result[i] == VCS_LEAVES) continue;
    if (registers & live) {
      followers->flip[count] = (uint16_t)number;
      followers->registers[count++] = registers;
    } else {
      fall_asleep(walk, number, registers, row + 1);
    }
  }
  followers->count = count;
}

/* Ends the frame for the flips that follow the base at its end; they end it with registers that differ. */
static void end_followers(vcs_concurrent_t *walk) {
  const vcs_followers_t *followers = &walk->followers;
  for (uint32_t i = 0; i < followers->count; i++) {
    fall_asleep(walk, followers->flip[i], followers->registers[i], walk->frame->count);
    restore(walk, followers->flip[i], walk->frame->count);
    set_status(walk, followers->flip[i], ENDED);
  }
  walk->followers.count = 0;
}

/* ---- Locations -------------------------------------------------------------------------------------------------- */

/* Removes the differences in a location that the base overwrites. The differences of a flip that runs are found again
 * when it settles; finish_row enters those of flips that follow. */
static void overwrite_location(vcs_concurrent_t *walk, unsigned location) {
  for (unsigned words = walk->differing_words[location]; words; words &= words - 1) {
    const size_t i = (size_t)VCS_LOWEST(words);
    for (uint64_t left = walk->differing[location][i]; left; left &= left - 1) {
      const size_t number = 64 * i + (size_t)VCS_LOWEST_64(left);
      if (location < VCS_LOCATION_TIMER) {
        walk->ram[number][location >> 6] &= ~(1ull << (location & 63));
      } else {
        walk->flips[number].groups &= ~(1u << (location - VCS_LOCATION_TIMER));
      }
    }
    walk->differing[location][i] = 0;
  }
  walk->differing_words[location] = 0;
}

/* Lets the flips that wait for a row sleep there, with the differences of their machines. */
static void settle(vcs_concurrent_t *walk, uint32_t row) {
  for (int32_t number = walk->waiting[row]; number >= 0; number = walk->flips[number].next) {
    const vcs_t *m = machine_of(walk, (size_t)number);
    advance_base(walk, row);
    set_differences(walk, (size_t)number, find_differences(walk, m, walk->m), m);
    set_status(walk, (size_t)number, ASLEEP);
    const uint64_t key = vcs_register_key(m->pc, m->sp, m->a, m->x, m->y, m->p);
    fall_asleep(walk, (size_t)number, key ^ walk->frame->rows[row].key, row);
    walk->counts.settled++;
  }
}

/* Wakes the sleeping flips that read another value in a collision register than the base. */
static void read_collision(vcs_concurrent_t *walk, const vcs_collision_read_t *read) {
  const vcs_segment_t *segments = walk->frame->segments;
  if (!read->bits) return;
  const unsigned shift = 2u * walk->frame->note.accesses[segments[read->segment].access].reg;
  uint32_t first = read->segment; /* the instruction may have made other accesses before */
  while (segments[first].access > walk->frame->rows[read->row].access) first--;
  walk->work.picture = NULL;
  for (size_t i = 0; i < WORDS; i++) {
    for (uint64_t left = walk->dirty[i]; left; left &= left - 1) {
      const size_t number = 64 * i + (size_t)VCS_LOWEST_64(left);
      flip_t *flip = &walk->flips[number];
      if (flip->status != ASLEEP) continue;
      if (!has_own_beam(walk, flip)) {
        flip->beam.at = first;
        flip->beam.tia.collisions = segments[first].before.collisions;
        continue;
      }
      const uint64_t effort = walk->effort;
      vcs_beam_advance(&walk->work, &flip->beam, first);
      if (flip->beam.unknown >> shift & read->bits) {
        leave_walk(walk, number);
        continue;
      }
      const uint16_t collisions = vcs_beam_collisions_after(&walk->work, &flip->beam, read->segment);
      flip->effort += walk->effort - effort;
      if (walk->first_frame && is_expensive(walk, flip)) {
        leave_walk(walk, number);
        continue;
      }
      if ((collisions ^ read->collisions) >> shift & read->bits) wake(walk, number, read->row);
    }
  }
}

/* Wakes the sleeping flips of a byte of ROM that a row reads. */
static void read_rom(vcs_concurrent_t *walk, uint32_t byte, uint32_t row) {
  for (int32_t i = walk->rom_heads[byte]; i >= 0; i = walk->rom_flips[i].next) {
    const flip_t *flip = &walk->flips[walk->rom_flips[i].flip];
    if (flip->status == ASLEEP) wake(walk, walk->rom_flips[i].flip, row);
  }
}

/* ---- A frame ---------------------------------------------------------------------------------------------------- */

/* For a row whose touches are listed: wakes the flips that differ in state other than RAM that the row reads. Sets
 * *follows if flips differ in RAM that it reads, and *replaces if flips differ in a location that it overwrites. */
static void read_locations(vcs_concurrent_t *walk, uint32_t row, bool *follows, bool *replaces) {
  const vcs_base_frame_t *frame = walk->frame;
  for (uint32_t i = frame->rows[row].touch; i < frame->rows[row + 1].touch; i++) {
    const unsigned touch = frame->touches[i], location = touch & 0xFF;
    if (!walk->differing_words[location]) continue;
    if (touch & VCS_LOCATION_REPLACED) {
      *replaces = true;
    } else if (reads_ram(touch)) {
      *follows = true;
    } else {
      wake_all(walk, location, row);
    }
  }
}

/* Removes the differences in all locations that a row overwrites. */
static void overwrite_locations(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_base_frame_t *frame = walk->frame;
  if (!frame->data[row].listed) {
    overwrite_location(walk, frame->data[row].ram_written);
    return;
  }
  for (uint32_t i = frame->rows[row].touch; i < frame->rows[row + 1].touch; i++) {
    if (frame->touches[i] & VCS_LOCATION_REPLACED) overwrite_location(walk, frame->touches[i] & 0xFF);
  }
}

/* Walks over the rows of the present frame. */
static void walk_rows(vcs_concurrent_t *walk) {
  const vcs_base_frame_t *frame = walk->frame;
  uint32_t reads = 0, next_read = frame->read_count ? frame->reads[0].row : frame->count;
  for (uint32_t row = 0; row < frame->count; row++) {
    const vcs_row_start_t *start = &frame->rows[row];
    if (walk->waiting[row] >= 0) settle(walk, row);
    if (walk->rom_heads) {
      for (uint32_t i = start->rom_touch; i < start[1].rom_touch; i++) read_rom(walk, frame->rom_touches[i], row);
    }
    bool follows = walk->followers.count, replaces = false;
    const vcs_row_data_t *data = &frame->data[row];
    if (VCS_LIKELY(!data->listed)) {
      follows |= walk->differing_words[data->ram_read] != 0;
      replaces = walk->differing_words[data->ram_written];
    } else {
      read_locations(walk, row, &follows, &replaces);
    }
    while (next_read == row) {
      read_collision(walk, &frame->reads[reads++]);
      next_read = reads < frame->read_count ? frame->reads[reads].row : frame->count;
    }
    const unsigned results = follows ? follow(walk, row) : 0;
    if (replaces) overwrite_locations(walk, row);
    if (follows) finish_row(walk, row, results);
    const unsigned sets = vcs_facts_of[data->opcode].sets_registers;
    if (sets) set_rows(&walk->row_after_set, sets, row + 1);
  }
  settle(walk, frame->count);
  end_followers(walk);
}

static bool is_input_of(const vcs_place_t *place, int32_t frame) {
  return place->kind == VCS_PLACE_INPUT && place->frame == frame;
}

/* Whether a flip changes the controls of a frame. */
static bool has_own_controls(const vcs_concurrent_t *walk, size_t number, int32_t frame) {
  const vcs_flip_t *given = &walk->given[number];
  for (size_t i = 0; i < given->count; i++) {
    if (is_input_of(&given->places[i], frame)) return true;
  }
  return false;
}

/* Returns the controls of a frame with a flip's changes. */
static vcs_controls_t controls_of(const vcs_concurrent_t *walk, size_t number, int32_t frame) {
  const vcs_flip_t *given = &walk->given[number];
  vcs_controls_t controls = walk->base->controls[frame];
  for (size_t i = 0; i < given->count; i++) {
    if (is_input_of(&given->places[i], frame)) vcs_place_flip_input(&controls, &given->places[i]);
  }
  return controls;
}

/* Builds the whole machine of a flip after `frames` frames. */
static void rebuild(const vcs_concurrent_t *walk, size_t number, int32_t frames, vcs_t *m) {
  const flip_t *flip = &walk->flips[number];
  const vcs_t *base = vcs_base_state(walk->base, frames);
  const size_t size = vcs_machine_size(cart_of(walk));
  vcs_beam_t tia;
  if (flip->status == ENDED) {
    memcpy(m, machine_of(walk, number), size);
    m->partial = 0;
    m->scanlines = (int32_t)((m->cycles * 3 - (uint32_t)m->frame_clock) / VCS_LINE_CLOCKS);
  } else {
    memcpy(m, base, size);
    if (frames) put_differences(walk, number, m);
  }
  vcs_beam_take(&tia, base);
  if (frames && is_dirty(walk, number)) vcs_beam_compose(&tia, &flip->beam);
  vcs_beam_put(&tia, m);
}

static bool same_registers(const vcs_t *one, const vcs_t *other) {
  return one->pc == other->pc && one->sp == other->sp && one->a == other->a && one->x == other->x &&
         one->y == other->y && one->p == other->p;
}

/* Begins a frame for a flip. Its machine is built only if it may differ from the base's in more than RAM. */
static void begin_flip(vcs_concurrent_t *walk, size_t number, int32_t frame) {
  flip_t *flip = &walk->flips[number];
  const vcs_cart_t *cart = cart_of(walk);
  const vcs_t *begun = walk->frame->begun;
  vcs_t *m = walk->spare;
  flip->extra = 0;
  flip->effort = 0;
  flip->first_patch = flip->last_patch = -1;
  flip->begins_awake = 0;
  walk->sleeping_registers[number] = walk->asleep_since[number] = 0;
  if (frame && !flip->groups && !is_dirty(walk, number) && flip->status == ASLEEP &&
      !(flip->beam.unknown & walk->frame->live_collisions) && !has_own_controls(walk, number, frame)) {
    flip->beam.patch = -1;
    return;
  }
  rebuild(walk, number, frame, m);
  set_status(walk, number, ASLEEP);
  if (frame == 0) {
    const vcs_flip_t *given = &walk->given[number];
    for (size_t i = 0; i < given->count; i++) {
      const vcs_place_t *place = &given->places[i];
      if (place->kind == VCS_PLACE_STATE) ((uint8_t *)m)[place->index] ^= (uint8_t)(1u << place->bit);
    }
  } else {
    vcs_read_all_ram(m);
  }
  const vcs_controls_t controls = controls_of(walk, number, frame);
  vcs_control(cart, m, &controls);
  vcs_frame_begin(cart, m);
  const uint16_t unknown = flip->beam.unknown;
  if (is_dirty(walk, number)) flip->beam.unknown |= (uint16_t)~walk->frame->live_collisions;
  set_dirty(walk, number, false);
  vcs_beam_take(&flip->beam.tia, m);
  flip->beam.differs = vcs_beam_differs(&flip->beam.tia, &walk->frame->segments[0].before);
  flip->beam.at = 0;
  flip->beam.patch = -1;
  if (has_own_beam(walk, flip)) {
    flip->beam.unknown |= (uint16_t)~walk->frame->live_collisions;
    set_dirty(walk, number, true);
  }
  if (frame == 0) { /* a latch that differs and that no frame reads so far: its value is not kept */
    const uint16_t flipped = flip->beam.tia.collisions ^ walk->frame->segments[0].before.collisions;
    flip->beam.unknown |= (uint16_t)(flipped & ~walk->frame->live_collisions);
  }
  flip->beam_begun = flip->beam;
  flip->beam_begun.unknown = unknown;
  if (m->frame_clock != begun->frame_clock || m->first_line != begun->first_line || m->partial != begun->partial ||
      m->greyed != begun->greyed || m->front != begun->front || m->jammed ||
      (cart->colour_loss && m->scanlines != begun->scanlines) || flip->beam.differs & VCS_BEAM_CLOCKS) {
    leave_walk(walk, number);
    return;
  }
  vcs_beam_t frozen;
  vcs_beam_take(&frozen, begun);
  const uint8_t vblank = flip->beam.tia.looks[offsetof(vcs_t, vblank) - VCS_LOOKS_FROM];
  vcs_beam_put(&frozen, m);
  m->vblank = (uint8_t)((m->vblank & 0x7F) | (vblank & 0x80));
  set_differences(walk, number, find_differences(walk, m, begun), m);
  const vcs_mapping_t mapping = vcs_mapping_of(m), base_mapping = vcs_mapping_of(begun);
  flip->begins_awake =
      m->cycles != begun->cycles || !same_registers(m, begun) || memcmp(&mapping, &base_mapping, sizeof mapping) != 0;
  memcpy(machine_of(walk, number), m, vcs_machine_size(cart));
}

/* Records a frame of the base, and checks that the recording ends as the base does. False: only running again gets the
 * frame right. */
static bool record_frame(vcs_concurrent_t *walk, int32_t number) {
  const vcs_base_t *base = walk->base;
  const vcs_cart_t *cart = cart_of(walk);
  const size_t size = vcs_machine_size(cart);
  vcs_base_frame_t *frame = &walk->records[number & 1];
  if (base->view.stop_when_over && base->plays[number].over) return false;
  memcpy(frame->begun, vcs_base_state(base, number), size);
  if (frame->begun->partial) return false;
  vcs_control(cart, frame->begun, &base->controls[number]);
  vcs_frame_begin(cart, frame->begun);
  if (!vcs_base_frame_record(frame, cart, walk->rom_heads != NULL, base->view.states, walk->after)) return false;
  const vcs_t *recorded = vcs_base_state(base, number + 1);
  walk->after->frames = recorded->frames;
  walk->after->instructions = recorded->instructions;
  walk->after->scanlines = recorded->scanlines;
  vcs_read_all_ram(walk->after);
  return memcmp(walk->after, recorded, size) == 0;
}

/* Begins the walk over a frame. The next frame is recorded, too: it decides which collisions matter. False: the frame
 * could not be recorded. */
static bool begin_frame(vcs_concurrent_t *walk, int32_t frame) {
  const vcs_cart_t *cart = cart_of(walk);
  const size_t size = vcs_machine_size(cart);
  const int32_t frames = walk->base->view.horizons[walk->base->view.horizon_count - 1];
  if (frame == 0) walk->recorded = record_frame(walk, 0) ? 1 : -1;
  if (walk->recorded < frame + 1) return false;
  walk->frame = &walk->records[frame & 1];
  walk->work.frame = walk->frame;
  walk->frame->live_collisions = walk->base->view.states ? 0xFFFF : walk->frame->read_collisions;
  if (frame + 1 < frames) {
    walk->recorded = record_frame(walk, frame + 1) ? frame + 2 : -1;
    walk->frame->live_collisions |= walk->recorded > 0 ? walk->records[(frame + 1) & 1].read_collisions : 0xFFFF;
  }
  /* Which flips share a walk depends on the number of threads, and so does what they have missed. */
  if (!walk->callbacks->keeps_all) walk->frame->live_collisions |= walk->missed_collisions;
  memcpy(walk->m, walk->frame->begun, size);
  memcpy(walk->work.m, walk->frame->begun, size);
  walk->work.m->front = 0;
  walk->at = walk->reads_done = walk->followers.count = 0;
  walk->patches.patch_count = walk->patches.access_count = 0;
  vcs_video_start(&walk->base_note.video, cart, NULL);
  vcs_video_start(&walk->note.video, cart, NULL);
  walk->row_after_set = (register_rows_t){{0, 0}};
  memset(walk->waiting, 0xFF, (walk->frame->count + 1) * sizeof *walk->waiting); /* -1 */
  return true;
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

/* Shows a horizon of a flip. False: its picture has rows that the beam has not reached, and nothing was shown. */
static bool show_horizon(vcs_concurrent_t *walk, size_t number, int horizon) {
  flip_t *flip = &walk->flips[number];
  const vcs_base_t *base = walk->base;
  vcs_sight_t sight = vcs_base_sight(base, horizon);
  uint8_t ram[128];
  if (walk->ram[number][0] | walk->ram[number][1]) {
    memcpy(ram, sight.ram, sizeof ram);
    put_own_ram(walk, number, ram);
    sight.ram = ram;
  }
  const uint8_t *picture = sight.picture;
  const vcs_cart_t *cart = cart_of(walk);
  const int rows = cart->frame_height;
  bool drawn = false, covers = true;
  if (is_dirty(walk, number) && base->view.pictures) {
    walk->work.base = picture;
    walk->work.picture = walk->picture;
    flip->beam = flip->beam_begun;
    flip->beam.unknown |= (uint16_t)~walk->frame->live_collisions;
    flip->beam.patch = flip->first_patch;
    vcs_beam_advance(&walk->work, &flip->beam, walk->frame->segment_count);
    walk->work.picture = NULL;
    drawn = memchr(walk->lines, 1, (size_t)rows) != NULL;
    covers = vcs_beam_seen(&walk->work, &flip->beam) == VCS_LINE_CLOCKS * (cart->top_line + cart->height);
    if (drawn) sight.picture = walk->picture, sight.lines = walk->lines;
  }
  sight.score = flip->score;
  sight.lives = flip->play.lives;
  if (base->view.states) {
    rebuild(walk, number, base->view.horizons[horizon], walk->spare);
    sight.state = walk->spare;
  }
  if (covers && horizon >= flip->shown) {
    walk->callbacks->see(walk->callbacks->context, number, horizon, &sight);
    flip->shown = horizon + 1;
  }
  for (const uint8_t *line = walk->lines; drawn && (line = memchr(line, 1, (size_t)(walk->lines + rows - line)));) {
    const size_t i = (size_t)(line - walk->lines);
    memcpy(walk->picture + VCS_WIDTH * i, picture + VCS_WIDTH * i, VCS_WIDTH);
    walk->lines[i] = 0;
  }
  return covers;
}

/* Applies the game's rules to a flip's RAM after `frames` frames. */
static void apply_rules(vcs_concurrent_t *walk, size_t number, int32_t frames) {
  const vcs_env_t *env = walk->base->view.env;
  flip_t *flip = &walk->flips[number];
  if (!env || !env->game) return;
  if (!(walk->ram[number][0] | walk->ram[number][1] | flip->cart_ram) &&
      memcmp(&flip->play, &walk->base->plays[frames - 1], sizeof flip->play) == 0) {
    flip->play = walk->base->plays[frames];
  } else {
    memcpy(walk->spare, vcs_base_state(walk->base, frames), vcs_machine_size(cart_of(walk)));
    put_differences(walk, number, walk->spare);
    vcs_game_code_step(env->code, &flip->play, walk->spare->ram, walk->spare->cart_ram);
  }
  flip->score = (int32_t)((uint32_t)flip->score + (uint32_t)flip->play.reward);
}

/* Finds all collisions of a flip at the end of the frame, also those that the base does not read. False: some are not
 * known. */
static bool find_collisions(vcs_concurrent_t *walk, size_t number) {
  flip_t *flip = &walk->flips[number];
  if (!flip->beam.unknown) return true;
  if (!is_dirty(walk, number)) return false;
  const uint16_t live = walk->frame->live_collisions;
  flip->beam = flip->beam_begun;
  flip->beam.patch = flip->first_patch;
  walk->frame->live_collisions = 0xFFFF;
  walk->work.picture = NULL;
  vcs_beam_advance(&walk->work, &flip->beam, walk->frame->segment_count);
  walk->frame->live_collisions = live;
  return !flip->beam.unknown;
}

/* Lets a flip leave the walk after a frame: it is run outside the walk from there on. False: its machine is not fully
 * known.
 */
static bool leave_after_frame(vcs_concurrent_t *walk, size_t number, int32_t frames) {
  flip_t *flip = &walk->flips[number];
  if (!find_collisions(walk, number)) return false;
  rebuild(walk, number, frames, walk->spare);
  vcs_read_all_ram(walk->spare);
  memcpy(machine_of(walk, number), walk->spare, vcs_machine_size(cart_of(walk)));
  flip->left_after = frames;
  leave_walk(walk, number);
  set_dirty(walk, number, false);
  return true;
}

/* Ends a frame for a flip that sleeps or has ended the frame: computes its TIA and its score, and shows a horizon (-1:
 * none). */
static void end_flip(vcs_concurrent_t *walk, size_t number, int32_t frames, int horizon) {
  flip_t *flip = &walk->flips[number];
  const uint64_t effort = walk->effort;
  const int64_t instructions = (int64_t)walk->frame->rows[walk->frame->count].number + flip->extra;
  if (flip->status == ASLEEP && instructions > VCS_FRAME_INSTRUCTIONS) leave_walk(walk, number); /* it does not end */
  if (flip->status == LEFT) {
    set_dirty(walk, number, false);
    return;
  }
  if (flip->status == ENDED) {
    const vcs_t *base = vcs_base_state(walk->base, frames), *m = machine_of(walk, number);
    set_differences(walk, number, find_differences(walk, m, base), m);
  }
  if (is_dirty(walk, number) && (horizon < 0 || !walk->base->view.pictures)) {
    walk->work.picture = NULL;
    vcs_beam_advance(&walk->work, &flip->beam, walk->frame->segment_count);
  }
  apply_rules(walk, number, frames);
  if (horizon >= 0 && !show_horizon(walk, number, horizon)) {
    leave_walk(walk, number);
    set_dirty(walk, number, false);
    return;
  }
  flip->effort += walk->effort - effort;
  if (is_expensive(walk, flip) && leave_after_frame(walk, number, frames)) return;
  if (is_dirty(walk, number)) {
    set_dirty(walk, number, has_own_beam(walk, flip));
  } else if (walk->frame->has_cxclr) {
    flip->beam.unknown = 0;
  }
  if (walk->base->view.stop_when_over && flip->play.over) leave_walk(walk, number);
  if (walk->callbacks->inspect && flip->status != LEFT) {
    rebuild(walk, number, frames, walk->spare);
    walk->callbacks->inspect(walk->callbacks->context, number, frames, walk->spare,
                             walk->frame->live_collisions & (uint16_t)~flip->beam.unknown);
  }
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_concurrent_t *walk;
  size_t number;
} rerun_context_t;

/* Marks the rows of a picture that are not the base's. */
static void find_lines(vcs_concurrent_t *walk, const uint8_t *picture, const uint8_t *base) {
  for (int i = 0; i < cart_of(walk)->frame_height; i++, picture += VCS_WIDTH, base += VCS_WIDTH) {
    walk->lines[i] = memcmp(picture, base, VCS_WIDTH) != 0;
  }
}

/* Shows a horizon of a flip that is run outside the walk, unless the walk has shown it. */
static void show_rerun(void *context, int horizon, const vcs_sight_t *sight) {
  const rerun_context_t *rerun = context;
  vcs_concurrent_t *walk = rerun->walk;
  const uint8_t *base = vcs_base_sight(walk->base, horizon).picture;
  vcs_sight_t seen = *sight;
  if (horizon < walk->flips[rerun->number].shown) return;
  if (walk->base->view.pictures && sight->picture != base) {
    find_lines(walk, sight->picture, base);
    seen.lines = walk->lines;
  }
  walk->callbacks->see(walk->callbacks->context, rerun->number, horizon, &seen);
}

/* Runs a flip that has left the walk, from the beginning or from the frame after which it left. */
static void run_again(vcs_concurrent_t *walk, size_t number) {
  rerun_context_t context = {walk, number};
  const vcs_flip_t *given = &walk->given[number];
  const flip_t *flip = &walk->flips[number];
  walk->counts.fallbacks++;
  if (flip->left_after) {
    const vcs_rerun_part_t part = {flip->left_after, machine_of(walk, number), flip->play, flip->score};
    vcs_rerun_on(walk->base, walk->runner, given->places, given->count, &part, show_rerun, &context);
  } else {
    vcs_rerun(walk->base, walk->runner, given->places, given->count, show_rerun, &context);
  }
}

/* Whether a flip makes a machine that is possible (host/save.h). */
static bool is_possible(const vcs_concurrent_t *walk, size_t number) {
  const vcs_flip_t *given = &walk->given[number];
  vcs_t *m = walk->spare;
  memcpy(m, vcs_base_state(walk->base, 0), vcs_machine_size(cart_of(walk)));
  for (size_t i = 0; i < given->count; i++) {
    const vcs_place_t *place = &given->places[i];
    if (place->kind == VCS_PLACE_STATE) ((uint8_t *)m)[place->index] ^= (uint8_t)(1u << place->bit);
  }
  return vcs_machine_is_possible(cart_of(walk), m);
}

/* Enters a flip's bits of ROM in rom_heads. False: there is no memory, or the cartridge reads ROM by itself. */
static bool index_rom(vcs_concurrent_t *walk, size_t number) {
  const vcs_flip_t *given = &walk->given[number];
  const vcs_cart_t *cart = cart_of(walk);
  for (size_t i = 0; i < given->count; i++) {
    const vcs_place_t *place = &given->places[i];
    if (place->kind != VCS_PLACE_ROM) continue;
    walk->flips[number].own_rom = 1;
    if (cart->snoops || cart->scheme == VCS_SCHEME_DPC) return false;
    if (!grow((void **)&walk->rom_flips, sizeof *walk->rom_flips, walk->rom_flip_count + 1, &walk->rom_flip_capacity)) {
      return false;
    }
    walk->rom_flips[walk->rom_flip_count] = (rom_flip_t){(uint32_t)number, walk->rom_heads[place->index]};
    walk->rom_heads[place->index] = (int32_t)walk->rom_flip_count++;
  }
  return true;
}

/* Removes all flips from rom_heads. */
static void unindex_rom(vcs_concurrent_t *walk) {
  for (size_t number = 0; number < walk->count && walk->rom_heads; number++) {
    const vcs_flip_t *given = &walk->given[number];
    for (size_t i = 0; i < given->count; i++) {
      if (given->places[i].kind == VCS_PLACE_ROM) walk->rom_heads[given->places[i].index] = -1;
    }
  }
  walk->rom_flip_count = 0;
}

/* Walks over the frames up to the last horizon, or up to the first frame that cannot be recorded. */
static void walk_frames(vcs_concurrent_t *walk) {
  const vcs_view_t *view = &walk->base->view;
  int horizon = 0;
  for (size_t i = 0; i < walk->count; i++) {
    walk->flips[i].play = walk->base->plays[0];
    walk->flips[i].score = walk->base->scores[0];
  }
  for (int32_t frame = 0; frame < walk->base->run.frames && horizon < view->horizon_count && !vcs_interrupted();
       frame++) {
    const bool is_horizon = view->horizons[horizon] == frame + 1;
    const bool recorded = begin_frame(walk, frame);
    if (!recorded) walk->counts.refused++;
    for (size_t i = 0; i < walk->count; i++) {
      if (!recorded) leave_walk(walk, i);
      if (walk->flips[i].status == LEFT) continue;
      begin_flip(walk, i, frame);
    }
    if (!recorded) return;
    walk->first_frame = frame == 0;
    walk->effort_limit = find_effort_limit(walk, view->horizons[view->horizon_count - 1] - (frame + 1));
    for (size_t i = 0; i < walk->count; i++) {
      if (walk->flips[i].status == LEFT) continue;
      if (walk->flips[i].begins_awake) run_flip(walk, i, 0);
    }
    walk_rows(walk);
    if (is_horizon && view->pictures)
      memcpy(walk->picture, vcs_base_sight(walk->base, horizon).picture, vcs_base_pixels(walk->base));
    for (size_t i = 0; i < walk->count; i++) end_flip(walk, i, frame + 1, is_horizon ? horizon : -1);
    horizon += is_horizon;
  }
}

void vcs_concurrent_walk(vcs_concurrent_t *walk, const vcs_base_t *base, vcs_runner_t *runner, const vcs_flip_t *flips,
                         size_t count, const vcs_concurrent_callbacks_t *callbacks, bool *possible) {
  walk->base = base;
  walk->runner = runner;
  walk->given = flips;
  walk->count = count;
  walk->callbacks = callbacks;
  walk->work.cart = cart_of(walk);
  walk->counts.walks++;
  walk->counts.flips += count;
  memset(walk->dirty, 0, sizeof walk->dirty);
  memset(walk->differing, 0, sizeof walk->differing);
  memset(walk->differing_words, 0, sizeof walk->differing_words);
  memset(walk->asleep, 0, sizeof walk->asleep);
  memset(walk->following, 0, sizeof walk->following);
  memset(walk->ram, 0, sizeof walk->ram);
  walk->missed_collisions = 0;
  memset(walk->lines, 0, sizeof walk->lines);
  for (size_t i = 0; i < count; i++) {
    possible[i] = is_possible(walk, i);
    walk->flips[i] = (flip_t){0};
    set_status(walk, i, ASLEEP);
    if (!possible[i] || base->draws_all || (walk->rom_heads && !index_rom(walk, i))) leave_walk(walk, i);
  }
  if (!base->draws_all) walk_frames(walk);
  unindex_rom(walk);
  for (size_t i = 0; i < count && !vcs_interrupted(); i++) {
    if (possible[i] && walk->flips[i].shown < base->view.horizon_count) run_again(walk, i);
  }
}

vcs_concurrent_t *vcs_concurrent_create(const vcs_base_t *base) {
  const vcs_cart_t *cart = &base->cart;
  const size_t size = vcs_machine_size(cart);
  vcs_concurrent_t *walk = calloc(1, sizeof *walk);
  if (!walk) return NULL;
  walk->stride = (size + 63) & ~(size_t)63;
  const bool framed = vcs_base_frame_create(&walk->records[0], cart) && vcs_base_frame_create(&walk->records[1], cart);
  walk->m = calloc(1, size);
  walk->after = calloc(1, size);
  walk->spare = calloc(1, size);
  walk->work.m = calloc(1, size);
  walk->work.collide = vcs_collide_create();
  walk->base_note.capacity = walk->note.capacity = VCS_FRAME_INSTRUCTIONS;
  walk->base_note.accesses = malloc(walk->base_note.capacity * sizeof *walk->base_note.accesses);
  walk->note.accesses = malloc(walk->note.capacity * sizeof *walk->note.accesses);
  walk->waiting = malloc((VCS_FRAME_INSTRUCTIONS + 2) * sizeof *walk->waiting);
  walk->flips = malloc(VCS_CONCURRENT_MOST * sizeof *walk->flips);
  walk->machines = malloc(VCS_CONCURRENT_MOST * walk->stride);
  walk->picture = calloc(1, VCS_FRAME_BYTES);
  walk->rom_heads = base->view.rom ? malloc(cart->rom_size * sizeof *walk->rom_heads) : NULL;
  if (!framed || !walk->m || !walk->after || !walk->spare || !walk->work.m || !walk->work.collide ||
      !walk->base_note.accesses || !walk->note.accesses || !walk->waiting || !walk->flips || !walk->machines ||
      !walk->picture || (base->view.rom && !walk->rom_heads)) {
    vcs_concurrent_free(walk);
    return NULL;
  }
  for (uint32_t i = 0; walk->rom_heads && i < cart->rom_size; i++) walk->rom_heads[i] = -1;
  find_bits_of_registers(walk->bits_of_registers);
  walk->base_note.collisions = base_collisions;
  walk->base_note.context = walk;
  walk->note.collisions = flip_collisions;
  walk->work.patches = &walk->patches;
  walk->work.lines = walk->lines;
  walk->work.effort = &walk->effort;
  return walk;
}

void vcs_concurrent_free(vcs_concurrent_t *walk) {
  if (!walk) return;
  vcs_base_frame_free(&walk->records[0]);
  vcs_base_frame_free(&walk->records[1]);
  free(walk->m);
  free(walk->after);
  free(walk->spare);
  free(walk->work.m);
  free(walk->work.collide);
  free(walk->base_note.accesses);
  free(walk->note.accesses);
  free(walk->waiting);
  free(walk->flips);
  free(walk->machines);
  free(walk->picture);
  free(walk->rom_heads);
  free(walk->rom_flips);
  free(walk->patches.patches);
  free(walk->patches.accesses);
  free(walk);
}
