/* concurrent.h: many flips of one run in one walk (concurrent.c has the idea), and what its parts share.
 *
 *   concurrent.c         the walk: flips are carried along, leave, run, wait and come back
 *   concurrent_base.c    a frame of the base: what stands at each of its rows, what each row reads and overwrites
 *   concurrent_carry.c   what a row does to flips that differ in what it reads
 *   concurrent_run.c     a flip that has left: the CPU, run beside the base until the two meet
 *   concurrent_beam.c    the TIA of a flip, made from its accesses when it is needed
 */
#ifndef VCS_GRAD_CONCURRENT_H
#define VCS_GRAD_CONCURRENT_H

#include "core/cpu_ops.h"
#include "core/tia.h"
#include "grad/rerun.h"

/* ---- Accesses to the TIA -------------------------------------------------------------------------------------- */

/* While the walk executes instructions nothing is drawn: accesses to the TIA are noted, and the TIA is made from them
 * later, if at all. A write whose value is not looked at, or not in all bits, is noted without them. */
enum { VCS_BEAM_WRITE, VCS_BEAM_NEXT /* a second or later write of an instruction */, VCS_BEAM_READ };
typedef struct {
  uint32_t cycles;
  uint8_t reg, value, kind, unused;
} vcs_beam_access_t;

/* The CPU's view of the TIA. It stands where the core has a vcs_video_t, whose clocks it uses. */
typedef struct {
  vcs_video_t video; /* first: the core is handed a pointer to it */
  vcs_beam_access_t *accesses;
  uint32_t count, capacity;
  bool full; /* there was no room for an access */
  uint16_t (*collisions)(void *context, const vcs_t *m);
  void *context;
} vcs_beam_note_t;

/* ---- The TIA -------------------------------------------------------------------------------------------------- */

/* All that the TIA is between two accesses, drawn up to the last. */
typedef struct {
  uint8_t looks[VCS_LOOKS_SIZE];
  uint16_t collisions;
  int32_t line, line_clock, seen_clock, seen_before, blank_clock, blank_first, hmove_clock;
} vcs_beam_t;

/* A set of what can differ in it: a bit a byte of `looks`, and three for the rest without the collisions. */
_Static_assert(VCS_LOOKS_SIZE <= 61, "a set of looks is a word");
#define VCS_BEAM_MIRROR (1ull << 61) /* that of the playfield, in CTRLPF */
#define VCS_BEAM_HMOVE (1ull << 62)
#define VCS_BEAM_CLOCKS (1ull << 63)

/* The accesses of a frame are cut into segments, about one a line. If a flip makes the same accesses, and differs in
 * nothing of `reads` and `shows`, the segment does to it what it does to the base. */
typedef struct {
  uint32_t access;        /* its first */
  uint64_t reads;         /* what its accesses, and the ends of its lines, depend on */
  uint64_t shows;         /* what its pixels and collisions depend on */
  uint64_t colours;       /* what the picture depends on beyond that */
  uint64_t replaced;      /* what is overwritten */
  uint16_t caught;        /* collisions in it, from CXCLR on where there is one */
  uint8_t on;             /* objects that show in it */
  bool clears;            /* there is */
  uint16_t clears_before; /* segments with one, so far */
  int16_t motion[5];      /* by HMOVE, of objects wherever they are */
  uint64_t moves;         /* the positions of those that move */
  vcs_beam_t before;
} vcs_segment_t;

/* ---- The base's frame ----------------------------------------------------------------------------------------- */

/* Where flips can differ while they follow the base. Bytes of RAM are places by themselves, and so are registers; the
 * others are groups, of which only the timer can be overwritten without being read. */
enum {
  VCS_WHERE_RAM = 0,
  VCS_WHERE_TIMER = 128,
  VCS_WHERE_PORTS,    /* port A, its direction, wheels, keypads */
  VCS_WHERE_SWITCHES, /* port B */
  VCS_WHERE_FIRE,
  VCS_WHERE_PADDLES, /* resistances, and when their capacitors began to charge */
  VCS_WHERE_VSYNC,
  VCS_WHERE_CART_RAM, /* in 64 groups, by address */
  VCS_WHERE_A = VCS_WHERE_CART_RAM + 64,
  VCS_WHERE_X,
  VCS_WHERE_Y,
  VCS_WHERE_NZ, /* these four are bits of the status register */
  VCS_WHERE_C,
  VCS_WHERE_V,
  VCS_WHERE_DI,
  VCS_WHERE_TIME,  /* a flip is early or late by some cycles */
  VCS_WHERE_LATCH, /* for one row: a collision register that reads differently */
  VCS_WHERES,
  VCS_REGISTERS = VCS_WHERE_LATCH - VCS_WHERE_A,
  VCS_WHERE_REPLACED = 0x100 /* added: it is overwritten */
};

typedef struct {
  uint16_t where;
  uint8_t value; /* that replaces it */
} vcs_touch_t;

/* The machine as an instruction begins, and what that instruction is; the last row is the end of the frame. */
typedef struct {
  uint64_t key; /* pc, sp, a, x, y, p */
  uint32_t cycles;
  uint32_t access, touch, rom_touch; /* the first of each that is not before the row */
  uint16_t wiring, chips;            /* of the lists of those */
  uint16_t addr;                     /* of the instruction's last access */
  uint8_t opcode, low;               /* its first two bytes */
  uint8_t read, stored;              /* the byte of the last read, and of the last write */
  uint8_t chip;                      /* it reads or writes a chip */
} vcs_stand_t;

/* What an address of the window finds: a flip that sleeps has the same. */
typedef struct {
  uint32_t bank[4], cart_clock[4];
  uint16_t cart_word[8];
  uint8_t cart_byte[24];
} vcs_wiring_t;

/* What a program can change of the RIOT, and of the TIA without its picture. */
typedef struct {
  int32_t vsync_clock, dump_cycle;
  uint32_t timer_cycle, timer_read_cycle;
  uint8_t riot[offsetof(vcs_t, vsync) - offsetof(vcs_t, timer)];
  uint8_t vsync, vblank, dump;
} vcs_chips_t;

typedef struct {
  uint32_t row, place; /* a byte of the cartridge's RAM is written */
  uint8_t value;
} vcs_cart_write_t;

typedef struct {
  uint32_t row, segment; /* reads a collision register; the access is a segment of its own */
  uint16_t collisions;   /* all of them then */
} vcs_collision_read_t;

enum { VCS_SAME = 8192 };

typedef struct {
  vcs_stand_t *rows; /* count + 1, and one that is never reached */
  uint32_t count;
  uint16_t same[VCS_FRAME_INSTRUCTIONS]; /* rows in the order of their program counters */
  uint16_t first_same[VCS_SAME + 1];     /* by program counter: the first of its rows there */
  vcs_touch_t *touches;
  uint32_t *rom_touches; /* bytes of the image; only with view.rom */
  vcs_beam_note_t note;  /* the accesses */
  vcs_segment_t *segments;
  uint32_t segment_count; /* and one more: the end */
  vcs_collision_read_t *reads;
  uint32_t read_count;
  vcs_wiring_t *wirings;
  vcs_chips_t *chips;
  vcs_cart_write_t *cart_writes;
  uint8_t *blanks; /* by access, 1: HMOVE's blank is due */
  uint32_t wiring_count, chips_count, touch_count, rom_touch_count, cart_write_count;
  uint32_t touch_capacity, rom_touch_capacity, segment_capacity, read_capacity, wiring_capacity, chips_capacity,
      cart_write_capacity;
  uint16_t reads_of,
      live;     /* collisions that it reads, and that it or the next frame reads: nothing is known of others */
  bool clears;  /* it has a CXCLR */
  bool lost;    /* while recording: something the walk does not do */
  vcs_t *begun; /* the machine when the first instruction is about to run */
  const vcs_cart_t *cart;
  vcs_t *m, *beam_m; /* while recording */
  vcs_video_t video;
  uint64_t here_replaced; /* while recording: of this segment so far */
  int32_t here_line;      /* ... of its first access */
  uint16_t latched;       /* while recording: collisions before this segment */
} vcs_base_frame_t;

bool vcs_base_frame_create(vcs_base_frame_t *frame, const vcs_cart_t *cart);
void vcs_base_frame_free(vcs_base_frame_t *frame);

/* Records the frame that begins with frame->begun. False: memory, or something that only running again gets right: a
 * frame that does not end, a program counter in the chips. `after` is the machine behind it. */
bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, vcs_t *after);

VCS_FN uint64_t vcs_stand_key(uint16_t pc, uint8_t sp, uint8_t a, uint8_t x, uint8_t y, uint8_t p) {
  return pc | (uint64_t)sp << 16 | (uint64_t)a << 24 | (uint64_t)x << 32 | (uint64_t)y << 40 | (uint64_t)p << 48;
}
/* Cycles by which a flip that follows the base may be early or late, in the picture and outside. */
enum { VCS_NEAR = 40, VCS_FAR = 1000 };
VCS_FN bool vcs_in_picture(const vcs_base_frame_t *frame, const vcs_t *m, uint32_t cycles) {
  const int32_t clock = (int32_t)(cycles * 3 - (uint32_t)m->frame_clock);
  return clock >= frame->note.video.start && clock < frame->note.video.stop;
}

vcs_wiring_t vcs_wiring_of(const vcs_t *m);
void vcs_wiring_put(const vcs_wiring_t *wiring, vcs_t *m);
vcs_chips_t vcs_chips_of(const vcs_t *m);
void vcs_chips_put(const vcs_chips_t *chips, vcs_t *m);

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

enum { VCS_CONCURRENT_MOST = 1024, VCS_FLIP_WORDS = VCS_CONCURRENT_MOST / 64 }; /* flips in a walk */

/* Who differs where, and in what: a bit a flip, 64 of them a word, and bytes. Where a word is not 0 the bytes of all
 * its flips are there, those of flips that do not differ being the base's, so that a row can be applied to a word at
 * once. The values of groups are in the flips' machines. */
typedef struct {
  uint64_t who[VCS_WHERES][VCS_FLIP_WORDS];
  uint8_t any[VCS_WHERES]; /* 0: certainly nobody */
  uint8_t value[VCS_WHERES][VCS_CONCURRENT_MOST];
  int32_t late[VCS_CONCURRENT_MOST];    /* cycles; negative: early */
  uint64_t ram[VCS_CONCURRENT_MOST][2]; /* by flip, bytes of RAM in which it may differ: bits */
  uint8_t *machines;                    /* by flip */
  size_t stride;
} vcs_lists_t;

VCS_FN bool vcs_lists_has(const vcs_lists_t *lists, unsigned where, size_t flip) {
  return lists->who[where][flip >> 6] >> (flip & 63) & 1;
}
VCS_FN void vcs_lists_set(vcs_lists_t *lists, unsigned where, size_t flip, bool in) {
  const uint64_t bit = 1ull << (flip & 63);
  uint64_t *word = &lists->who[where][flip >> 6];
  *word = in ? *word | bit : *word & ~bit;
  lists->any[where] |= in;
}
VCS_FN void vcs_lists_set_byte(vcs_lists_t *lists, unsigned where, size_t flip, uint8_t value, uint8_t base) {
  uint8_t *bytes = &lists->value[where][flip & ~(size_t)63];
  if (value != base && !lists->who[where][flip >> 6]) {
    for (size_t i = 0; i < 64; i++) bytes[i] = base;
  }
  bytes[flip & 63] = value;
  vcs_lists_set(lists, where, flip, value != base);
  if (value != base && where < VCS_WHERE_TIMER) lists->ram[flip][where >> 6] |= 1ull << (where & 63);
}
VCS_FN void vcs_lists_clear(vcs_lists_t *lists, unsigned where) {
  for (size_t i = 0; i < VCS_FLIP_WORDS; i++) lists->who[where][i] = 0;
  lists->any[where] = 0;
}

/* ---- Carrying --------------------------------------------------------------------------------------------------- */

/* Called by vcs_carry_row: a flip leaves at this row; a flip makes another access than the base does, which makes no
 * difference `if_clean`, if its TIA is the base's. */
typedef struct {
  void (*leave)(void *context, size_t flip, uint32_t row);
  bool (*access)(void *context, size_t flip, uint32_t access, const vcs_beam_access_t *own, bool if_clean);
  void *context;
  vcs_lists_t *lists;
  const vcs_cart_t *cart;
  const vcs_base_frame_t *frame;
  const vcs_t *base; /* before the row, without its registers */
  bool rom;          /* bits of ROM are flipped */
  uint64_t carried;  /* flips times rows, counted */
} vcs_carry_t;

void vcs_carry_row(vcs_carry_t *carry, uint32_t row);

/* Whether all that a row reads is one operand, which can be another one for a flip. */
bool vcs_carry_reads_one(const vcs_base_frame_t *frame, uint32_t row);

/* ---- Running -------------------------------------------------------------------------------------------------- */

/* Runs a flip from a row of the base on, one instruction at least, until it stands where a later row stands, though
 * perhaps earlier or later and with other registers; that row is returned. Or until its frame is over in another way;
 * or it has jammed, or executed `most` instructions. */
enum { VCS_RUN_ENDED = -1, VCS_RUN_LOST = -2 };
int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed);

/* ---- The beam ------------------------------------------------------------------------------------------------- */

/* Own accesses instead of the base's from `from` up to, without it, `to`. */
typedef struct {
  uint32_t from, to;
  uint32_t first, count; /* of the own ones */
  int32_t next;          /* of the same flip; -1: none */
} vcs_beam_patch_t;

typedef struct {
  vcs_beam_patch_t *patches;
  vcs_beam_access_t *accesses;
  uint32_t patch_count, patch_capacity, access_count, access_capacity;
} vcs_beam_patches_t;

/* The TIA of a flip: as it is before segment `at`; of `tia` only what differs means anything, and the collisions. */
typedef struct {
  uint64_t differs;
  uint32_t at;
  int32_t patch;    /* the next that is not applied yet; -1: none */
  uint16_t unknown; /* collisions of which nothing is known: they did not matter when they happened */
  vcs_beam_t tia;
} vcs_flip_beam_t;

/* What a worker makes beams with. */
typedef struct {
  const vcs_base_frame_t *frame;
  const vcs_beam_patches_t *patches;
  const vcs_cart_t *cart;
  vcs_t *m;            /* its TIA is worked on */
  uint8_t *picture;    /* VCS_FRAME_BYTES to draw into, or NULL */
  const uint8_t *base; /* the base's picture */
  uint8_t *lines;      /* a byte a row of the picture, 1: drawn */
} vcs_beam_work_t;

void vcs_beam_take(vcs_beam_t *tia, const vcs_t *m);
void vcs_beam_put(const vcs_beam_t *tia, vcs_t *m);
uint64_t vcs_beam_differs(const vcs_beam_t *one, const vcs_beam_t *other);

/* A flip's TIA, put into the base's. */
void vcs_beam_compose(vcs_beam_t *tia, const vcs_flip_beam_t *beam);

/* The clock of the frame up to which a flip's picture is drawn. */
int32_t vcs_beam_seen(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam);

/* An access of the base as it is recorded; what a collision register would show is returned. */
uint16_t vcs_beam_record(vcs_base_frame_t *frame, const vcs_beam_access_t *access, uint32_t row);
bool vcs_beam_record_begin(vcs_base_frame_t *frame, const vcs_cart_t *cart);
bool vcs_beam_record_end(vcs_base_frame_t *frame);

/* The last segment that does not begin behind an access. */
uint32_t vcs_segment_of(const vcs_base_frame_t *frame, uint32_t access);

/* Brings a flip's TIA up to a segment. */
void vcs_beam_advance(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment);

/* The collisions of a flip at the end of a segment; the flip's TIA is before it, and stays there. */
uint16_t vcs_beam_collisions_after(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, uint32_t segment);

/* The collisions of a flip that is awake: its TIA, the base's accesses up to `from`, and its own. What is made stays in
 * the work's machine for the next question of the same flip, as long as nothing else is made: `made` begins as 0. */
typedef struct {
  uint32_t made; /* own accesses, plus one; 0: nothing */
  vcs_video_t video;
} vcs_beam_now_t;
uint16_t vcs_beam_collisions_now(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t from,
                                 const vcs_beam_access_t *own, uint32_t count, vcs_beam_now_t *now);

/* ---- The walk ------------------------------------------------------------------------------------------------- */

typedef struct {
  const vcs_place_t *places; /* flipped together */
  size_t count;
} vcs_flip_t;

typedef struct vcs_concurrent vcs_concurrent_t;

/* Shows each horizon of a flip once, in order; any flip at any time. */
typedef void (*vcs_see_flip_t)(void *context, size_t flip, int horizon, const vcs_sight_t *sight);

/* For tests: a flip's machine after a frame, before the next is begun, and which of its collisions are meant. */
typedef void (*vcs_inspect_t)(void *context, size_t flip, int32_t frames, const vcs_t *m, uint16_t collisions);

typedef struct {
  vcs_see_flip_t see;
  void *context;
  vcs_inspect_t inspect; /* or NULL */
} vcs_concurrent_eyes_t;

typedef struct {
  uint64_t flips, wakes, executed, carried, settled, beams, segments, fallbacks, walks, refused;
} vcs_concurrent_count_t;

/* Memory for walks over one base; NULL: there is none. */
vcs_concurrent_t *vcs_concurrent_create(const vcs_base_t *base);
void vcs_concurrent_free(vcs_concurrent_t *walk);

/* Flips, up to VCS_CONCURRENT_MOST, through the whole run. possible[i] is false for a flip that makes a machine that
 * cannot be. What this does not do is handed to vcs_rerun, flip by flip. */
void vcs_concurrent_walk(vcs_concurrent_t *walk, const vcs_base_t *base, vcs_runner_t *runner, const vcs_flip_t *flips,
                         size_t count, const vcs_concurrent_eyes_t *eyes, bool *possible);

const vcs_concurrent_count_t *vcs_concurrent_counts(vcs_concurrent_t *walk);

#endif
