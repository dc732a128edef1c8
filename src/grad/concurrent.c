/* concurrent.c: many flips of one run in one walk.
 *
 * A run with a flipped bit is almost the run itself. So the base is walked through once, row by row (a row is an
 * instruction; most turns of a loop that waits for the timer have none), and of a flip is kept only what differs:
 * concurrent fault simulation, as designers of chips have done it since the 1970s (Ulrich and Baker 1974; Armstrong
 * 1972; Niermann 1992). It is exact.
 *
 *   asleep    program counter, stack pointer, time and the wiring of the cartridge are the base's. What differs is
 *             bytes of RAM, the timer, an input, the TIA, and registers or flags that the base sets before it reads
 *             them. As long as the base reads none of that, the flip does what the base does, and nothing needs to be
 *             done for it. A byte or register that the base overwrites differs no more.
 *   following the base is about to read what differs, and the flip does what the base does, at the same time, with
 *             other values. Only the rows that read what differs are evaluated (concurrent_follow.c), for all flips
 *             that read it at once, up to a row at which the flip can sleep again. Most flips that wake up do that.
 *   awake     it leaves the base's path or time. The flip's machine is the base's with the differences put in, and it
 *             is run for real (concurrent_run.c), at once, until it stands where a later row of the base stands.
 *   waiting   it has met that row, and the walk has not come there yet. When it has, the two machines are compared,
 *             and what differs is what the flip sleeps with.
 *   ended     its frame was over before it met the base. It begins the next frame with a machine of its own.
 *   gone      it is something that the walk does not do: a frame that does not end, one that begins elsewhere in a
 *             line, a jam; or it costs too much in the walk. It is run by itself, as the reference is (rerun.c).
 *
 *   base   row 0 ---- LDA $80 ---- STA $0D ---- LDA $81 ---- CMP ---- BNE ---- LDX #3 ---- ...       rows
 *   flip   asleep     | follows    |            :                                                    $80 differs
 *   of $80 ($80)      +------------+----------->:  A is read no more at LDA $81: asleep ($80, A), and the TIA differs
 *
 * The flips that differ in a place are a set of bits, one a flip, and the walk looks up the sets of the places that a
 * row reads. So a row that concerns no flip costs a few loads.
 *
 * The TIA is not the CPU's business until a collision is read, so it is made only then, at horizons and at the ends of
 * frames, and only where it differs (concurrent_beam.c).
 *
 * A flipped bit of ROM is a difference that stays: a row that reads the byte, as code or as data, wakes the flip, which
 * runs on an image of its own.
 */
#include "concurrent.h"

#include <stdlib.h>
#include <string.h>

#include "host/progress.h"
#include "host/save.h"

enum { UNKNOWN_READS = 4 }; /* a flip that reads more has lost its way */
enum { WORDS = VCS_FLIP_WORDS };

typedef enum { ASLEEP, WAITING, ENDED, GONE } status_t;

typedef struct {
  uint64_t cart_ram; /* groups of bytes of the cartridge's RAM that differ while it sleeps */
  uint32_t groups;   /* of the rest: a bit for each from VCS_WHERE_TIMER on */
  uint8_t status;
  uint8_t awake_first;   /* the frame begins with it awake */
  uint8_t own_rom;       /* its image is not the base's */
  uint8_t unknown_reads; /* collisions that it has read, and nothing in the base reads */
  uint32_t from;         /* while it is awake: the row at which it woke */
  int32_t extra;         /* instructions that it has executed in this frame beyond the base's */
  int32_t left;    /* gone: after so many frames, with its machine in its place; 0: it is run from the beginning */
  uint64_t effort; /* what it has cost in this frame, see "Flips that cost too much" */
  int32_t next;    /* waiting for the same row; -1: none */
  int32_t first_patch, last_patch;
  int shown;                        /* horizons */
  vcs_flip_beam_t beam, beam_begun; /* the second: as the frame began */
  vcs_play_t play;
  int32_t score;
} flip_t;

typedef struct {
  uint32_t flip;
  int32_t next;
} rom_flip_t;

/* A row for each register: 16 bits each, four in a word. */
typedef struct {
  uint64_t half[2];
} register_rows_t;
_Static_assert(VCS_KEPT_COUNT == 8, "four in each half");
_Static_assert((int)VCS_FRAME_INSTRUCTIONS < 0x7FFF, "a row is 15 bits");

struct vcs_concurrent {
  vcs_concurrent_count_t counts;
  vcs_base_frame_t records[2], *frame; /* the frame that is walked, and the one behind it */
  int32_t recorded;                    /* frames; -1: the next cannot be */
  vcs_t *m, *after, *spare;            /* the base's machine in the walk; behind the frame; anything */
  uint32_t at;                         /* the row before which m is */
  uint32_t reads_done;                 /* collision reads that m is behind */
  vcs_beam_note_t base_note, note;
  vcs_beam_work_t work;
  uint64_t effort;    /* what making TIAs of flips has cost, see "Flips that cost too much" */
  vcs_beam_now_t now; /* of the flip that is running */
  vcs_beam_patches_t patches;
  uint64_t who[VCS_WHERES][WORDS]; /* flips that differ in a place, asleep or not; by flip: `ram`, and flip_t */
  uint16_t words[256];             /* a bit for each of its words that is not 0; VCS_NO_BYTE has none */
  uint64_t asleep[WORDS];
  uint64_t following[WORDS];                   /* asleep, but it differs in registers that the base reads */
  uint64_t reading[WORDS];                     /* differs in RAM that the present row reads; else empty */
  uint64_t ram[VCS_CONCURRENT_MOST][2];        /* bytes that differ while a flip sleeps: bits */
  uint8_t own[128][VCS_CONCURRENT_MOST];       /* these bytes, by byte */
  uint64_t astray[VCS_CONCURRENT_MOST];        /* its key ^ the base's where it fell asleep; see vcs_followers_t */
  uint32_t until[VCS_CONCURRENT_MOST];         /* the row where it did */
  register_rows_t behind_set;                  /* the row behind the last that has set a register; 0: none */
  vcs_followers_t followers, readers;          /* all that follow; those that read what differs at the present row */
  uint64_t dirty[WORDS];                       /* asleep, and the TIA may differ */
  int32_t *waiting;                            /* by row: the first flip */
  uint64_t bits_of_names[1 << VCS_KEPT_COUNT]; /* by set of registers: their bits of a key */
  flip_t *flips;
  uint8_t *machines; /* of flips */
  size_t stride;
  int32_t *rom_heads; /* by byte of the image; NULL: no image is changed */
  rom_flip_t *rom_flips;
  uint32_t rom_flip_count, rom_flip_capacity;
  uint8_t *picture;
  uint8_t lines[VCS_FRAME_BYTES / VCS_WIDTH];
  uint64_t bearable; /* the most that a flip may cost in this frame and stay in the walk */
  bool begins;       /* this frame is the first */
  bool lost;         /* a flip that is running needs what is not known */
  uint16_t missed;   /* collisions that flips have read and that were not known: from the next frame on they are */
  /* of the present walk */
  const vcs_base_t *base;
  vcs_runner_t *runner;
  const vcs_flip_t *given;
  size_t count;
  const vcs_concurrent_eyes_t *eyes;
};

static const vcs_cart_t *cart_of(const vcs_concurrent_t *walk) { return &walk->base->cart; }
static vcs_t *machine_of(const vcs_concurrent_t *walk, size_t flip) {
  return (vcs_t *)(void *)(walk->machines + flip * walk->stride);
}

const vcs_concurrent_count_t *vcs_concurrent_counts(const vcs_concurrent_t *walk) { return &walk->counts; }

/* ---- Differences ------------------------------------------------------------------------------------------------ */

#define GROUP(name) (1u << (VCS_WHERE_##name - VCS_WHERE_TIMER))

/* The groups that differ; everything else in a machine is the beam's, must be the same where two machines meet, or is
 * nothing that an output is computed from. */
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

/* The bytes of RAM that a flip sleeps with, put into the base's. */
static void put_own_ram(const vcs_concurrent_t *walk, size_t number, uint8_t *ram) {
  for (int half = 0; half < 2; half++) {
    for (uint64_t left = walk->ram[number][half]; left; left &= left - 1) {
      const int i = 64 * half + VCS_LOWEST_64(left);
      ram[i] = walk->own[i][number];
    }
  }
}

/* What a flip sleeps with, put into a machine that is the base's now. */
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

/* What differs in a flip, besides its TIA and its registers. */
typedef struct {
  uint64_t ram[2], cart_ram;
  uint32_t groups;
} differences_t;

static differences_t find_differences(const vcs_concurrent_t *walk, const vcs_t *m, const vcs_t *base) {
  const uint64_t low = vcs_differing_bytes(m->ram, base->ram), high = vcs_differing_bytes(m->ram + 64, base->ram + 64);
  return (differences_t){{low, high}, differing_cart_ram(cart_of(walk), m, base), differing_groups(m, base)};
}

/* ---- Sets of flips ---------------------------------------------------------------------------------------------- */

static void toggle(vcs_concurrent_t *walk, size_t flip, unsigned where) {
  uint64_t *word = &walk->who[where][flip >> 6];
  const unsigned bit = 1u << (flip >> 6);
  *word ^= 1ull << (flip & 63);
  walk->words[where] = (uint16_t)(*word ? walk->words[where] | bit : walk->words[where] & ~bit);
}

/* From now on a flip has these differences: its machine is m. */
static void set_differences(vcs_concurrent_t *walk, size_t number, differences_t now, const vcs_t *m) {
  flip_t *flip = &walk->flips[number];
  for (unsigned half = 0; half < 2; half++) {
    for (uint64_t left = walk->ram[number][half] ^ now.ram[half]; left; left &= left - 1) {
      toggle(walk, number, 64 * half + (unsigned)VCS_LOWEST_64(left));
    }
    for (uint64_t left = now.ram[half]; left; left &= left - 1) {
      const unsigned i = 64 * half + (unsigned)VCS_LOWEST_64(left);
      walk->own[i][number] = m->ram[i];
    }
    walk->ram[number][half] = now.ram[half];
  }
  for (uint32_t left = flip->groups ^ now.groups; left; left &= left - 1) {
    toggle(walk, number, VCS_WHERE_TIMER + (unsigned)VCS_LOWEST(left));
  }
  for (uint64_t left = flip->cart_ram ^ now.cart_ram; left; left &= left - 1) {
    toggle(walk, number, VCS_WHERE_CART_RAM + (unsigned)VCS_LOWEST_64(left));
  }
  flip->groups = now.groups;
  flip->cart_ram = now.cart_ram;
}

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

/* Whether a flip's TIA is not simply the base's. */
static bool has_own_beam(const vcs_concurrent_t *walk, const flip_t *flip) {
  return flip->beam.differs || flip->beam.patch >= 0 ||
         ((flip->beam.tia.collisions ^ walk->frame->segments[flip->beam.at].before.collisions) & walk->frame->live) ||
         (flip->beam.unknown & walk->frame->live);
}

static bool is_dirty(const vcs_concurrent_t *walk, size_t flip) { return walk->dirty[flip >> 6] >> (flip & 63) & 1; }

/* ---- Awake ------------------------------------------------------------------------------------------------------ */

static uint16_t base_collisions(void *context, const vcs_t *m) {
  vcs_concurrent_t *walk = context;
  (void)m;
  return walk->frame->reads[walk->reads_done++].collisions;
}

static void advance_base(vcs_concurrent_t *walk, uint32_t row) {
  if (walk->at == row) return;
  vcs_concurrent_advance(cart_of(walk), walk->frame, walk->m, &walk->base_note, walk->at, row);
  walk->at = row;
}

/* The flip that is running reads a collision register; the reading itself is the last access noted. */
typedef struct {
  vcs_concurrent_t *walk;
  flip_t *flip;
  size_t number;
} reader_t;

/* A flip whose TIA was the base's all along begins to have one of its own. */
static void begin_own_beam(vcs_concurrent_t *walk, size_t number, uint32_t access) {
  flip_t *flip = &walk->flips[number];
  const vcs_base_frame_t *frame = walk->frame;
  const uint32_t low = frame->segment_of[access];
  flip->beam.at = low;
  flip->beam.differs = 0;
  flip->beam.patch = -1;
  flip->beam.tia.collisions = frame->segments[low].before.collisions;
  flip->beam_begun = flip->beam;
  flip->beam.unknown |= (uint16_t)~frame->live;
  set_dirty(walk, number, true);
}

static void own_beam(vcs_concurrent_t *walk, size_t number, uint32_t access) {
  if (!is_dirty(walk, number)) begin_own_beam(walk, number, access);
}

/* The bits of a collision register that matter to a flip that is running. */
static unsigned bits_of_read(const vcs_concurrent_t *walk, const vcs_t *m) {
  if (!walk->note.pc || walk->rom_heads || walk->base->view.states) return 3;
  return vcs_latch_bits(walk->frame->latch_bits, cart_of(walk), m->bank, walk->note.pc);
}

/* The collisions of a flip that reads what nothing in the base reads: its TIA is made again from where it began to be
 * its own, and all collisions are looked for. It has made `count` accesses since `access`. */
static uint16_t find_unknown(vcs_concurrent_t *walk, flip_t *flip, uint32_t access, uint32_t count, unsigned latches) {
  vcs_flip_beam_t beam = flip->beam_begun;
  vcs_beam_now_t now = {0};
  const uint16_t live = walk->frame->live;
  beam.patch = flip->first_patch;
  walk->frame->live = 0xFFFF;
  const uint16_t collisions = vcs_beam_collisions_now(&walk->work, &beam, access, walk->note.accesses, count, &now);
  walk->frame->live = live;
  walk->now.made = 0;
  walk->missed |= (uint16_t)latches;
  if (latches & beam.unknown || ++flip->unknown_reads > UNKNOWN_READS) {
    walk->lost = walk->note.full = true; /* which stops it */
  }
  return collisions;
}

static uint16_t flip_collisions(void *context, const vcs_t *m) {
  const reader_t *reader = context;
  vcs_concurrent_t *walk = reader->walk;
  const vcs_base_frame_t *frame = walk->frame;
  const uint32_t access = frame->rows[reader->flip->from].access, count = walk->note.count;
  const unsigned latches = bits_of_read(walk, m) << 2 * walk->note.accesses[count - 1].reg;
  if (!latches) return 0;
  if (access + count <= frame->note.count &&
      memcmp(walk->note.accesses, frame->note.accesses + access, count * sizeof *walk->note.accesses) == 0) {
    const vcs_collision_read_t *read = frame->reads; /* the base's, too */
    while (frame->segments[read->segment].access != access + count - 1) read++;
    if (!is_dirty(walk, reader->number)) return read->collisions;
    walk->work.picture = NULL;
    if (latches & reader->flip->beam.unknown) return find_unknown(walk, reader->flip, access, count, latches);
    return vcs_beam_collisions_after(&walk->work, &reader->flip->beam, read->segment);
  }
  own_beam(walk, reader->number, access);
  walk->work.picture = NULL;
  if (latches & reader->flip->beam.unknown) return find_unknown(walk, reader->flip, access, count, latches);
  return vcs_beam_collisions_now(&walk->work, &reader->flip->beam, access, walk->note.accesses, count, &walk->now);
}

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

/* Room for more patches and accesses. */
static bool reserve(vcs_beam_patches_t *patches, uint32_t more_patches, uint32_t more_accesses) {
  return grow((void **)&patches->patches, sizeof *patches->patches, patches->patch_count + more_patches,
              &patches->patch_capacity) &&
         grow((void **)&patches->accesses, sizeof *patches->accesses, patches->access_count + more_accesses,
              &patches->access_capacity);
}

/* The next `count` of the patches' accesses are a flip's, instead of the base's. There is room. */
static void add_own_accesses(vcs_concurrent_t *walk, size_t number, uint32_t from, uint32_t to, uint32_t count) {
  flip_t *flip = &walk->flips[number];
  vcs_beam_patches_t *patches = &walk->patches;
  const int32_t patch = (int32_t)patches->patch_count++;
  patches->patches[patch] = (vcs_beam_patch_t){from, to, patches->access_count, count, -1};
  patches->access_count += count;
  own_beam(walk, number, from);
  if (flip->last_patch >= 0) {
    patches->patches[flip->last_patch].next = patch;
  } else {
    flip->first_patch = patch;
  }
  if (flip->beam.patch < 0) flip->beam.patch = patch;
  flip->last_patch = patch;
}

/* Those that it has noted, if they are not the same. */
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

static void go(vcs_concurrent_t *walk, size_t number) { set_status(walk, number, GONE); }

/* ---- Flips that cost too much ------------------------------------------------------------------------------------
 *
 * A few flips cost a large part of the time: three of a hundred take half of all that flips cost one by one, because
 * they are off the base's path for most of every frame, or show other objects in most lines. Compiled code
 * (host/native.h) executes a whole frame of such a flip, collisions included, in less time than the walk takes for what
 * differs. So what a flip costs is counted, roughly, in instructions that it runs beside the base: these instructions,
 * accesses to its TIA that are made, and what both take to begin. The next frame probably costs what this one has. If
 * that is more than a frame by itself, the flip leaves the walk for good behind the frame, and is run on with the
 * machine that it has there. In the first frame it leaves at once, and is run from the beginning. Nothing but time
 * depends on these numbers. */
enum { WAKE_EFFORT = 40 };                          /* of waking, in these instructions */
enum { COMPILED_EFFORT = 22, DECODED_EFFORT = 44 }; /* of a frame by itself, for 100 rows of the base */
enum { HMOVE_EFFORT = 6 };                          /* and for each HMOVE, which mostly moves objects */
enum { LEAVING_EFFORT = 1500 };                     /* to find all collisions, and the lines of a picture */

/* `frames`: how many there are behind this one. Tests want to see all flips in the walk, and what is counted may not
 * depend on whether there is compiled code. */
static uint64_t find_bearable(const vcs_concurrent_t *walk, int32_t frames) {
  const bool compiled = !walk->runner->rom && cart_of(walk)->native;
  if (frames <= 0 || walk->eyes->inspect || walk->eyes->counted) return UINT64_MAX;
  return (uint64_t)walk->frame->count * (compiled ? COMPILED_EFFORT : DECODED_EFFORT) / 100 +
         (uint64_t)HMOVE_EFFORT * walk->frame->hmoves + LEAVING_EFFORT / (uint64_t)frames;
}

static bool is_expensive(const vcs_concurrent_t *walk, const flip_t *flip) { return flip->effort > walk->bearable; }

/* ---- Running ---------------------------------------------------------------------------------------------------- */

/* Runs a flip from a row on; its machine is in its place. */
static void launch(vcs_concurrent_t *walk, size_t number, uint32_t row) {
  flip_t *flip = &walk->flips[number];
  vcs_t *m = machine_of(walk, number);
  const vcs_stand_t *stand = &walk->frame->rows[row];
  const int64_t allowed = (int64_t)VCS_FRAME_INSTRUCTIONS - stand->number - flip->extra;
  if (walk->begins && is_expensive(walk, flip)) {
    go(walk, number);
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
  const int32_t beside = met < 0 ? 0 : walk->frame->rows[met].number - stand->number;
  const int32_t skipped = met < 0 ? 0 : beside - (met - (int32_t)row);
  flip->effort +=
      walk->effort - effort + (executed > (uint32_t)skipped ? executed - (uint32_t)skipped : 0) + WAKE_EFFORT;
  if (walk->lost) {
    go(walk, number);
    return;
  }
  if (met == VCS_RUN_ENDED && add_patch(walk, number, stand->access, walk->frame->note.count)) {
    set_status(walk, number, ENDED);
    return;
  }
  if (met < 0) {
    go(walk, number);
    return;
  }
  flip->extra += (int32_t)executed - beside;
  if (!add_patch(walk, number, stand->access, walk->frame->rows[met].access)) {
    go(walk, number);
    return;
  }
  set_status(walk, number, WAITING);
  flip->next = walk->waiting[met];
  walk->waiting[met] = (int32_t)number;
}

/* The registers whose row comes before another one. */
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

/* A row is written to those that are named; on x86 in one store, because all are loaded at once. */
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

/* How a flip's registers differ from the base's now: as they did when it fell asleep, but for those that the base has
 * set since. */
static uint64_t find_astray(const vcs_concurrent_t *walk, size_t number) {
  return walk->astray[number] & walk->bits_of_names[rows_before(&walk->behind_set, walk->until[number] + 1)];
}

static void find_bits_of_names(uint64_t *bits_of_names) {
#define FLAGS(flags) ((uint64_t)(flags) << VCS_KEY_P)
  static const uint64_t bits[VCS_KEPT_COUNT] = {
      [VCS_KEPT_A] = 0xFFull << VCS_KEY_A, [VCS_KEPT_X] = 0xFFull << VCS_KEY_X,
      [VCS_KEPT_Y] = 0xFFull << VCS_KEY_Y, [VCS_KEPT_NZ] = FLAGS(VCS_FLAG_N | VCS_FLAG_Z),
      [VCS_KEPT_V] = FLAGS(VCS_FLAG_V),    [VCS_KEPT_D] = FLAGS(VCS_FLAG_D),
      [VCS_KEPT_I] = FLAGS(VCS_FLAG_I),    [VCS_KEPT_C] = FLAGS(VCS_FLAG_C)};
#undef FLAGS
  for (unsigned names = 0; names < 1u << VCS_KEPT_COUNT; names++) {
    for (unsigned left = names; left; left &= left - 1) bits_of_names[names] |= bits[VCS_LOWEST(left)];
  }
}

/* The machine of a flip that sleeps or follows, at a row: the base's, with what differs. */
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
  if (walk->astray[number]) {
    const uint64_t key = walk->frame->rows[row].key ^ find_astray(walk, number);
    m->a = (uint8_t)(key >> VCS_KEY_A);
    m->x = (uint8_t)(key >> VCS_KEY_X);
    m->y = (uint8_t)(key >> VCS_KEY_Y);
    m->p = (uint8_t)(key >> VCS_KEY_P);
  }
}

/* A flip sleeps from a row on, with these registers. */
static void fall_asleep(vcs_concurrent_t *walk, size_t number, uint64_t registers, uint32_t row) {
  walk->astray[number] = registers;
  walk->until[number] = row;
  walk->following[number >> 6] &= ~(1ull << (number & 63));
}

/* A flip leaves the base's path at a row. */
static void wake(vcs_concurrent_t *walk, size_t number, uint32_t row) {
  vcs_followers_t *followers = &walk->followers;
  for (uint32_t i = 0; i < followers->count && is_following(walk, number); i++) {
    if (followers->flip[i] != number) continue;
    fall_asleep(walk, number, followers->registers[i], row);
    followers->count--;
    followers->flip[i] = followers->flip[followers->count];
    followers->registers[i] = followers->registers[followers->count];
  }
  restore(walk, number, row);
  launch(walk, number, row);
}

/* Wakes all sleeping flips that differ in a place. */
static void wake_all(vcs_concurrent_t *walk, unsigned where, uint32_t row) {
  for (unsigned words = walk->words[where]; words; words &= words - 1) {
    const size_t i = (size_t)VCS_LOWEST(words);
    for (uint64_t left = walk->who[where][i] & walk->asleep[i]; left; left &= left - 1) {
      wake(walk, 64 * i + (size_t)VCS_LOWEST_64(left), row);
    }
  }
}

/* ---- Following ------------------------------------------------------------------------------------------------- */

/* A touch that is the reading of a byte of RAM. */
static bool reads_ram(unsigned touch) { return touch < VCS_WHERE_TIMER; }

/* Those that differ in a byte. */
static unsigned add_readers(vcs_concurrent_t *walk, unsigned where) {
  const unsigned words = walk->words[where];
  for (unsigned left = words; left; left &= left - 1) {
    walk->reading[VCS_LOWEST(left)] |= walk->who[where][VCS_LOWEST(left)];
  }
  return words;
}

/* The flips that differ in a byte of RAM that a row reads; their words of the set are returned. */
static unsigned find_readers(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_stand_t *stand = &walk->frame->rows[row];
  const vcs_deed_t *deed = &walk->frame->deeds[row];
  if (!deed->many) return add_readers(walk, deed->in);
  unsigned words = 0;
  for (uint32_t i = stand->touch; i < stand[1].touch; i++) {
    if (reads_ram(walk->frame->touches[i])) words |= add_readers(walk, walk->frame->touches[i]);
  }
  return words;
}

/* The followers that read what differs at a row. The rest does what the base does. */
static void pass_followers(vcs_concurrent_t *walk, uint32_t row) {
  const uint64_t live = walk->frame->rows[row + 1].live;
  const vcs_facts_t facts = vcs_facts_of[walk->frame->deeds[row].opcode];
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

/* The sleepers that do. A flip with an image of its own, and all where a value that is stored may switch banks, leave
 * the path at once. */
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
      readers->registers[count++] = find_astray(walk, number);
    }
    readers->count = count;
    walk->following[word] |= sleepers; /* unless they fall asleep again behind the row */
    walk->reading[word] = 0;
  }
}

/* Evaluates a row for all flips that read what differs. Those that leave the path are run. Returns their results. */
static unsigned follow(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_followers_t *readers = &walk->readers;
  const vcs_own_ram_t ram = {walk->who[VCS_WHERE_RAM], walk->own[0]};
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

/* Flips store other values than the base in a byte of RAM, in which all were equal to it. */
static void store_ram(vcs_concurrent_t *walk, unsigned byte) {
  const vcs_followers_t *readers = &walk->readers;
  uint64_t *who = walk->who[VCS_WHERE_RAM + byte];
  unsigned words = walk->words[VCS_WHERE_RAM + byte];
  for (uint32_t i = 0; i < readers->count; i++) {
    const size_t number = readers->flip[i];
    if (readers->result[i] != VCS_STORES) continue;
    walk->own[byte][number] = readers->value[i];
    walk->ram[number][byte >> 6] |= 1ull << (byte & 63);
    who[number >> 6] |= 1ull << (number & 63);
    words |= 1u << (number >> 6);
  }
  walk->words[VCS_WHERE_RAM + byte] = (uint16_t)words;
}

/* ... in a register of the TIA. Without memory they are gone. */
static void store_register(vcs_concurrent_t *walk, uint32_t access) {
  vcs_followers_t *readers = &walk->readers;
  const bool fits = reserve(&walk->patches, readers->count, readers->count);
  vcs_beam_access_t own = walk->frame->note.accesses[access];
  for (uint32_t i = 0; i < readers->count; i++) {
    if (readers->result[i] != VCS_STORES) continue;
    if (!fits) {
      readers->result[i] = VCS_LEAVES;
      go(walk, readers->flip[i]);
      continue;
    }
    own.value = readers->value[i];
    walk->patches.accesses[walk->patches.access_count] = own;
    add_own_accesses(walk, readers->flip[i], access, access + 1, 1);
  }
}

/* What the readers have done, when the base has overwritten what it overwrites. */
static void finish_row(vcs_concurrent_t *walk, uint32_t row, unsigned results) {
  const uint64_t live = walk->frame->rows[row + 1].live;
  const vcs_followers_t *readers = &walk->readers;
  vcs_followers_t *followers = &walk->followers;
  if (results & VCS_STORES) {
    const uint16_t addr = walk->frame->deeds[row].addr;
    if ((addr & 0x1280) == 0x80) {
      store_ram(walk, addr & 0x7F);
    } else {
      store_register(walk, walk->frame->rows[row].access);
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

/* A flip that follows the base up to the end of the frame ends it with other registers. */
static void end_followers(vcs_concurrent_t *walk) {
  const vcs_followers_t *followers = &walk->followers;
  for (uint32_t i = 0; i < followers->count; i++) {
    fall_asleep(walk, followers->flip[i], followers->registers[i], walk->frame->count);
    restore(walk, followers->flip[i], walk->frame->count);
    set_status(walk, followers->flip[i], ENDED);
  }
  walk->followers.count = 0;
}

/* ---- Places ---------------------------------------------------------------------------------------------------- */

/* A place is overwritten: a sleeping flip has the base's byte there. Flips that run or follow find theirs when they
 * settle. */
static void replace(vcs_concurrent_t *walk, unsigned where) {
  for (unsigned words = walk->words[where]; words; words &= words - 1) {
    const size_t i = (size_t)VCS_LOWEST(words);
    for (uint64_t left = walk->who[where][i]; left; left &= left - 1) {
      const size_t number = 64 * i + (size_t)VCS_LOWEST_64(left);
      if (where < VCS_WHERE_TIMER) {
        walk->ram[number][where >> 6] &= ~(1ull << (where & 63));
      } else {
        walk->flips[number].groups &= ~(1u << (where - VCS_WHERE_TIMER));
      }
    }
    walk->who[where][i] = 0;
  }
  walk->words[where] = 0;
}

/* The walk has come to the row that flips have met. */
static void settle(vcs_concurrent_t *walk, uint32_t row) {
  for (int32_t number = walk->waiting[row]; number >= 0; number = walk->flips[number].next) {
    const vcs_t *m = machine_of(walk, (size_t)number);
    advance_base(walk, row);
    set_differences(walk, (size_t)number, find_differences(walk, m, walk->m), m);
    set_status(walk, (size_t)number, ASLEEP);
    const uint64_t key = vcs_stand_key(m->pc, m->sp, m->a, m->x, m->y, m->p);
    fall_asleep(walk, (size_t)number, key ^ walk->frame->rows[row].key, row);
    walk->counts.settled++;
  }
}

/* A collision register is read: those whose reading would be another one wake up. */
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
        go(walk, number);
        continue;
      }
      const uint16_t collisions = vcs_beam_collisions_after(&walk->work, &flip->beam, read->segment);
      flip->effort += walk->effort - effort;
      if (walk->begins && is_expensive(walk, flip)) {
        go(walk, number);
        continue;
      }
      if ((collisions ^ read->collisions) >> shift & read->bits) wake(walk, number, read->row);
    }
  }
}

static void read_rom(vcs_concurrent_t *walk, uint32_t byte, uint32_t row) {
  for (int32_t i = walk->rom_heads[byte]; i >= 0; i = walk->rom_flips[i].next) {
    const flip_t *flip = &walk->flips[walk->rom_flips[i].flip];
    if (flip->status == ASLEEP) wake(walk, walk->rom_flips[i].flip, row);
  }
}

/* ---- A frame ---------------------------------------------------------------------------------------------------- */

/* What a row with many of them touches. */
static void touch_places(vcs_concurrent_t *walk, uint32_t row, bool *follows, bool *replaces) {
  const vcs_base_frame_t *frame = walk->frame;
  for (uint32_t i = frame->rows[row].touch; i < frame->rows[row + 1].touch; i++) {
    const unsigned touch = frame->touches[i], where = touch & 0xFF;
    if (!walk->words[where]) continue;
    if (touch & VCS_WHERE_REPLACED) {
      *replaces = true;
    } else if (reads_ram(touch)) {
      *follows = true;
    } else {
      wake_all(walk, where, row);
    }
  }
}

/* A row overwrites what it overwrites. */
static void replace_all(vcs_concurrent_t *walk, uint32_t row) {
  const vcs_base_frame_t *frame = walk->frame;
  if (!frame->deeds[row].many) {
    replace(walk, frame->deeds[row].out);
    return;
  }
  for (uint32_t i = frame->rows[row].touch; i < frame->rows[row + 1].touch; i++) {
    if (frame->touches[i] & VCS_WHERE_REPLACED) replace(walk, frame->touches[i] & 0xFF);
  }
}

static void walk_rows(vcs_concurrent_t *walk) {
  const vcs_base_frame_t *frame = walk->frame;
  uint32_t reads = 0, next_read = frame->read_count ? frame->reads[0].row : frame->count;
  for (uint32_t row = 0; row < frame->count; row++) {
    const vcs_stand_t *stand = &frame->rows[row];
    if (walk->waiting[row] >= 0) settle(walk, row);
    if (walk->rom_heads) {
      for (uint32_t i = stand->rom_touch; i < stand[1].rom_touch; i++) read_rom(walk, frame->rom_touches[i], row);
    }
    bool follows = walk->followers.count, replaces = false;
    const vcs_deed_t *deed = &frame->deeds[row];
    if (VCS_LIKELY(!deed->many)) {
      follows |= walk->words[deed->in] != 0;
      replaces = walk->words[deed->out];
    } else {
      touch_places(walk, row, &follows, &replaces);
    }
    while (next_read == row) {
      read_collision(walk, &frame->reads[reads++]);
      next_read = reads < frame->read_count ? frame->reads[reads].row : frame->count;
    }
    const unsigned results = follows ? follow(walk, row) : 0;
    if (replaces) replace_all(walk, row);
    if (follows) finish_row(walk, row, results);
    const unsigned sets = vcs_facts_of[deed->opcode].named_sets;
    if (sets) set_rows(&walk->behind_set, sets, row + 1);
  }
  settle(walk, frame->count);
  end_followers(walk);
}

static bool is_input_of(const vcs_place_t *place, int32_t frame) {
  return place->kind == VCS_PLACE_INPUT && place->frame == frame;
}

/* Whether a flip holds something else in a frame than the base. */
static bool has_own_controls(const vcs_concurrent_t *walk, size_t number, int32_t frame) {
  const vcs_flip_t *given = &walk->given[number];
  for (size_t i = 0; i < given->count; i++) {
    if (is_input_of(&given->places[i], frame)) return true;
  }
  return false;
}

/* What is held in a frame with the flips of inputs. */
static vcs_controls_t controls_of(const vcs_concurrent_t *walk, size_t number, int32_t frame) {
  const vcs_flip_t *given = &walk->given[number];
  vcs_controls_t controls = walk->base->controls[frame];
  for (size_t i = 0; i < given->count; i++) {
    if (is_input_of(&given->places[i], frame)) vcs_place_flip_input(&controls, &given->places[i]);
  }
  return controls;
}

/* A flip's whole machine, behind the frames so far. */
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

/* A flip's machine as a frame begins, when it may differ from the base's in more than RAM. */
static void begin_flip(vcs_concurrent_t *walk, size_t number, int32_t frame) {
  flip_t *flip = &walk->flips[number];
  const vcs_cart_t *cart = cart_of(walk);
  const vcs_t *begun = walk->frame->begun;
  vcs_t *m = walk->spare;
  flip->extra = 0;
  flip->effort = 0;
  flip->first_patch = flip->last_patch = -1;
  flip->awake_first = 0;
  walk->astray[number] = walk->until[number] = 0;
  if (frame && !flip->groups && !is_dirty(walk, number) && flip->status == ASLEEP &&
      !(flip->beam.unknown & walk->frame->live) && !has_own_controls(walk, number, frame)) {
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
  if (is_dirty(walk, number)) flip->beam.unknown |= (uint16_t)~walk->frame->live;
  set_dirty(walk, number, false);
  vcs_beam_take(&flip->beam.tia, m);
  flip->beam.differs = vcs_beam_differs(&flip->beam.tia, &walk->frame->segments[0].before);
  flip->beam.at = 0;
  flip->beam.patch = -1;
  if (has_own_beam(walk, flip)) {
    flip->beam.unknown |= (uint16_t)~walk->frame->live;
    set_dirty(walk, number, true);
  }
  flip->beam_begun = flip->beam;
  flip->beam_begun.unknown = unknown;
  if (m->frame_clock != begun->frame_clock || m->first_line != begun->first_line || m->partial != begun->partial ||
      m->greyed != begun->greyed || m->front != begun->front || m->jammed ||
      (cart->colour_loss && m->scanlines != begun->scanlines) || flip->beam.differs & VCS_BEAM_CLOCKS) {
    go(walk, number);
    return;
  }
  vcs_beam_t frozen;
  vcs_beam_take(&frozen, begun);
  const uint8_t vblank = flip->beam.tia.looks[offsetof(vcs_t, vblank) - VCS_LOOKS_FROM];
  vcs_beam_put(&frozen, m);
  m->vblank = (uint8_t)((m->vblank & 0x7F) | (vblank & 0x80));
  set_differences(walk, number, find_differences(walk, m, begun), m);
  const vcs_wiring_t wiring = vcs_wiring_of(m), base_wiring = vcs_wiring_of(begun);
  flip->awake_first =
      m->cycles != begun->cycles || !same_registers(m, begun) || memcmp(&wiring, &base_wiring, sizeof wiring) != 0;
  memcpy(machine_of(walk, number), m, vcs_machine_size(cart));
}

/* Records a frame of the base. False: only running again gets it right. */
static bool record(vcs_concurrent_t *walk, int32_t number) {
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

/* The next frame of the base, and the one behind it, which says what of the TIA will matter. */
static bool begin_frame(vcs_concurrent_t *walk, int32_t frame) {
  const vcs_cart_t *cart = cart_of(walk);
  const size_t size = vcs_machine_size(cart);
  const int32_t frames = walk->base->view.horizons[walk->base->view.horizon_count - 1];
  if (frame == 0) walk->recorded = record(walk, 0) ? 1 : -1;
  if (walk->recorded < frame + 1) return false;
  walk->frame = &walk->records[frame & 1];
  walk->work.frame = walk->frame;
  walk->frame->live = walk->base->view.states ? 0xFFFF : walk->frame->reads_of;
  if (frame + 1 < frames) {
    walk->recorded = record(walk, frame + 1) ? frame + 2 : -1;
    walk->frame->live |= walk->recorded > 0 ? walk->records[(frame + 1) & 1].reads_of : 0xFFFF;
  }
  walk->frame->live |= walk->missed;
  memcpy(walk->m, walk->frame->begun, size);
  memcpy(walk->work.m, walk->frame->begun, size);
  walk->work.m->front = 0;
  walk->at = walk->reads_done = walk->followers.count = 0;
  walk->patches.patch_count = walk->patches.access_count = 0;
  vcs_video_start(&walk->base_note.video, cart, NULL);
  vcs_video_start(&walk->note.video, cart, NULL);
  walk->behind_set = (register_rows_t){{0, 0}};
  memset(walk->waiting, 0xFF, (walk->frame->count + 1) * sizeof *walk->waiting); /* -1 */
  return true;
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

/* False: the picture has rows that no beam has reached. */
static bool show(vcs_concurrent_t *walk, size_t number, int horizon) {
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
    flip->beam.unknown |= (uint16_t)~walk->frame->live;
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
    walk->eyes->see(walk->eyes->context, number, horizon, &sight);
    flip->shown = horizon + 1;
  }
  for (const uint8_t *line = walk->lines; drawn && (line = memchr(line, 1, (size_t)(walk->lines + rows - line)));) {
    const size_t i = (size_t)(line - walk->lines);
    memcpy(walk->picture + VCS_WIDTH * i, picture + VCS_WIDTH * i, VCS_WIDTH);
    walk->lines[i] = 0;
  }
  return covers;
}

static void play(vcs_concurrent_t *walk, size_t number, int32_t frames) {
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

/* All collisions of a flip at the end of the frame, also those that nothing in the base looks at. False: some are not
 * known. */
static bool find_collisions(vcs_concurrent_t *walk, size_t number) {
  flip_t *flip = &walk->flips[number];
  if (!flip->beam.unknown) return true;
  if (!is_dirty(walk, number)) return false;
  const uint16_t live = walk->frame->live;
  flip->beam = flip->beam_begun;
  flip->beam.patch = flip->first_patch;
  walk->frame->live = 0xFFFF;
  walk->work.picture = NULL;
  vcs_beam_advance(&walk->work, &flip->beam, walk->frame->segment_count);
  walk->frame->live = live;
  return !flip->beam.unknown;
}

/* A flip leaves the walk for good behind a frame: it is run by itself from there on. */
static bool leave(vcs_concurrent_t *walk, size_t number, int32_t frames) {
  flip_t *flip = &walk->flips[number];
  if (!find_collisions(walk, number)) return false;
  rebuild(walk, number, frames, walk->spare);
  vcs_read_all_ram(walk->spare);
  memcpy(machine_of(walk, number), walk->spare, vcs_machine_size(cart_of(walk)));
  flip->left = frames;
  go(walk, number);
  set_dirty(walk, number, false);
  return true;
}

/* The frame is over for a flip that is asleep, or has ended it. */
static void end_flip(vcs_concurrent_t *walk, size_t number, int32_t frames, int horizon) {
  flip_t *flip = &walk->flips[number];
  const uint64_t effort = walk->effort;
  if (flip->status == GONE) {
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
  play(walk, number, frames);
  if (horizon >= 0 && !show(walk, number, horizon)) {
    go(walk, number);
    set_dirty(walk, number, false);
    return;
  }
  flip->effort += walk->effort - effort;
  if (is_expensive(walk, flip) && leave(walk, number, frames)) return;
  if (is_dirty(walk, number)) {
    set_dirty(walk, number, has_own_beam(walk, flip));
  } else if (walk->frame->clears) {
    flip->beam.unknown = 0;
  }
  if (walk->base->view.stop_when_over && flip->play.over) go(walk, number);
  if (walk->eyes->inspect && flip->status != GONE) {
    rebuild(walk, number, frames, walk->spare);
    walk->eyes->inspect(walk->eyes->context, number, frames, walk->spare,
                        walk->frame->live & (uint16_t)~flip->beam.unknown);
  }
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

typedef struct {
  vcs_concurrent_t *walk;
  size_t number;
} rest_t;

/* Marks the rows of a picture that are not the base's. */
static void find_lines(vcs_concurrent_t *walk, const uint8_t *picture, const uint8_t *base) {
  for (int i = 0; i < cart_of(walk)->frame_height; i++, picture += VCS_WIDTH, base += VCS_WIDTH) {
    walk->lines[i] = memcmp(picture, base, VCS_WIDTH) != 0;
  }
}

static void show_rest(void *context, int horizon, const vcs_sight_t *sight) {
  const rest_t *rest = context;
  vcs_concurrent_t *walk = rest->walk;
  const uint8_t *base = vcs_base_sight(walk->base, horizon).picture;
  vcs_sight_t seen = *sight;
  if (horizon < walk->flips[rest->number].shown) return;
  if (walk->base->view.pictures && sight->picture != base) {
    find_lines(walk, sight->picture, base);
    seen.lines = walk->lines;
  }
  walk->eyes->see(walk->eyes->context, rest->number, horizon, &seen);
}

static void run_again(vcs_concurrent_t *walk, size_t number) {
  rest_t rest = {walk, number};
  const vcs_flip_t *given = &walk->given[number];
  const flip_t *flip = &walk->flips[number];
  walk->counts.fallbacks++;
  if (flip->left) {
    const vcs_rerun_part_t part = {flip->left, machine_of(walk, number), flip->play, flip->score};
    vcs_rerun_on(walk->base, walk->runner, given->places, given->count, &part, show_rest, &rest);
  } else {
    vcs_rerun(walk->base, walk->runner, given->places, given->count, show_rest, &rest);
  }
}

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

/* A flip of ROM is found by the byte that is read. */
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

static void unindex_rom(vcs_concurrent_t *walk) {
  for (size_t number = 0; number < walk->count && walk->rom_heads; number++) {
    const vcs_flip_t *given = &walk->given[number];
    for (size_t i = 0; i < given->count; i++) {
      if (given->places[i].kind == VCS_PLACE_ROM) walk->rom_heads[given->places[i].index] = -1;
    }
  }
  walk->rom_flip_count = 0;
}

static void walk_frames(vcs_concurrent_t *walk) {
  const vcs_view_t *view = &walk->base->view;
  int horizon = 0;
  for (size_t i = 0; i < walk->count; i++) {
    walk->flips[i].play = walk->base->plays[0];
    walk->flips[i].score = walk->base->scores[0];
  }
  for (int32_t frame = 0; frame < walk->base->run.frames && horizon < view->horizon_count && !vcs_interrupted();
       frame++) {
    const bool looks = view->horizons[horizon] == frame + 1;
    const bool fits = begin_frame(walk, frame);
    if (!fits) walk->counts.refused++;
    for (size_t i = 0; i < walk->count; i++) {
      if (!fits) go(walk, i);
      if (walk->flips[i].status == GONE) continue;
      begin_flip(walk, i, frame);
    }
    if (!fits) return;
    walk->begins = frame == 0;
    walk->bearable = find_bearable(walk, view->horizons[view->horizon_count - 1] - (frame + 1));
    for (size_t i = 0; i < walk->count; i++) {
      if (walk->flips[i].status == GONE) continue;
      if (walk->flips[i].awake_first) launch(walk, i, 0);
    }
    walk_rows(walk);
    if (looks && view->pictures)
      memcpy(walk->picture, vcs_base_sight(walk->base, horizon).picture, vcs_base_pixels(walk->base));
    for (size_t i = 0; i < walk->count; i++) end_flip(walk, i, frame + 1, looks ? horizon : -1);
    horizon += looks;
  }
}

void vcs_concurrent_walk(vcs_concurrent_t *walk, const vcs_base_t *base, vcs_runner_t *runner, const vcs_flip_t *flips,
                         size_t count, const vcs_concurrent_eyes_t *eyes, bool *possible) {
  walk->base = base;
  walk->runner = runner;
  walk->given = flips;
  walk->count = count;
  walk->eyes = eyes;
  walk->work.cart = cart_of(walk);
  walk->counts.walks++;
  walk->counts.flips += count;
  memset(walk->dirty, 0, sizeof walk->dirty);
  memset(walk->who, 0, sizeof walk->who);
  memset(walk->words, 0, sizeof walk->words);
  memset(walk->asleep, 0, sizeof walk->asleep);
  memset(walk->following, 0, sizeof walk->following);
  memset(walk->ram, 0, sizeof walk->ram);
  walk->missed = 0;
  memset(walk->lines, 0, sizeof walk->lines);
  for (size_t i = 0; i < count; i++) {
    possible[i] = is_possible(walk, i);
    walk->flips[i] = (flip_t){0};
    set_status(walk, i, ASLEEP);
    if (!possible[i] || base->draws_all || (walk->rom_heads && !index_rom(walk, i))) go(walk, i);
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
  find_bits_of_names(walk->bits_of_names);
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
