/* concurrent.h: many flips of one run in one walk (concurrent.c has the idea), and what its parts share.
 *
 *   concurrent.c         the walk: flips sleep, wake, run, wait and sleep again
 *   concurrent_base.c    a frame of the base: what stands at each of its rows, what each row reads and overwrites
 *   concurrent_record.c  its instructions, executed by the loop of run.h
 *   concurrent_latch.c   which of the collisions that it reads it looks at
 *   concurrent_follow.c  a row of the base for flips that read what differs, and stay on its path
 *   concurrent_run.c     a flip that leaves it: the CPU, run beside the base until the two meet
 *   concurrent_beam.c    the TIA of a flip, made from its accesses when it is needed
 *   concurrent_collide.c its accesses: registers, collisions and the picture
 */
#ifndef VCS_GRAD_CONCURRENT_H
#define VCS_GRAD_CONCURRENT_H

#include "core/cpu_ops.h"
#include "core/tia.h"
#include "grad/rerun.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The bytes that differ, of 64. */
VCS_FN uint64_t vcs_differing_bytes(const void *one, const void *other) {
  const uint8_t *first = (const uint8_t *)one, *second = (const uint8_t *)other;
  uint64_t differs = 0;
#if defined(__SSE2__)
  for (int i = 0; i < 64; i += 16) {
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(first + i));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(second + i));
    differs |= (uint64_t)(uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << i;
  }
#else
  for (int i = 0; i < 64; i++) differs |= (uint64_t)(first[i] != second[i]) << i;
#endif
  return differs;
}

/* Whether bytes are equal, 16 to 32 of them. */
VCS_HOT_FN bool vcs_same_bytes(const void *one, const void *other, size_t count) {
#if defined(__SSE2__)
  const uint8_t *first = (const uint8_t *)one, *second = (const uint8_t *)other;
  const size_t rest = count - 16;
  const __m128i low = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)first),
                                     _mm_loadu_si128((const __m128i *)(const void *)second));
  const __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(first + rest)),
                                      _mm_loadu_si128((const __m128i *)(const void *)(second + rest)));
  return _mm_movemask_epi8(_mm_and_si128(low, high)) == 0xFFFF;
#else
  return __builtin_memcmp(one, other, count) == 0;
#endif
}

enum { VCS_CONCURRENT_MOST = 1024, VCS_FLIP_WORDS = VCS_CONCURRENT_MOST / 64 }; /* flips in a walk, words in a set */

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
  bool full;   /* there was no room for an access */
  uint16_t pc; /* of the instruction that loads what it reads now; 0: not known */
  uint16_t (*collisions)(void *context, const vcs_t *m);
  void *context;
} vcs_beam_note_t;

/* ---- The TIA -------------------------------------------------------------------------------------------------- */

/* All that the TIA is between two accesses, drawn up to the last. */
typedef struct {
  uint8_t looks[VCS_LOOKS_SIZE]; /* first */
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
  uint16_t clears_before; /* segments of the frame before this one that have a CXCLR */
  int16_t motion[5];      /* by HMOVE, of objects wherever they are */
  uint64_t moves;         /* the positions of those that move */
  uint64_t cares;         /* everything that is in one of these sets, but for `colours` */
  vcs_beam_t before;
} vcs_segment_t;

/* ---- The base's frame ----------------------------------------------------------------------------------------- */

/* What rows read and overwrite. Each byte of RAM is a place; everything else is in groups, and of these only the timer
 * can be overwritten without being read. */
enum {
  VCS_WHERE_RAM = 0,
  VCS_WHERE_TIMER = 128,
  VCS_WHERE_PORTS,    /* port A, its direction, wheels, keypads */
  VCS_WHERE_SWITCHES, /* port B */
  VCS_WHERE_FIRE,
  VCS_WHERE_PADDLES, /* resistances, and when their capacitors began to charge */
  VCS_WHERE_VSYNC,
  VCS_WHERE_CART_RAM, /* in 64 groups, by address */
  VCS_WHERES = VCS_WHERE_CART_RAM + 64,
  VCS_WHERE_REPLACED = 0x100 /* added: it is overwritten */
};

/* The machine as an instruction begins; the last row is the end of the frame. */
typedef struct {
  uint64_t key;  /* pc, sp, a, x, y, p */
  uint64_t live; /* of the key: what this row or a later one reads before it is set. The rest may differ in a sleeper */
  uint32_t access, touch, rom_touch; /* the first of each that is not before the row */
  uint16_t wiring, number; /* instructions before it: the turns of a wait loop that are skipped have no rows */
} vcs_stand_t;

/* What the row's instruction has done. */
typedef struct {
  uint16_t addr;                 /* of its last access to the bus */
  uint8_t opcode, read, written; /* the last byte that it has read, and written */
  uint8_t in, out;               /* bytes of RAM that it has read, and written; VCS_NO_BYTE: none */
  bool many;                     /* more than these two: frame->touches has all of it */
} vcs_deed_t;
enum { VCS_NO_BYTE = 0xFF };

/* An instruction as concurrent_record.c notes it. */
typedef struct {
  uint64_t key;    /* without N and Z, which follow from `nz` */
  uint32_t cycles; /* as it begins */
  uint16_t access, number;
  uint16_t nz;
  uint16_t addr; /* of its data; without them its own */
  uint8_t opcode;
  uint8_t value, old; /* of a byte that it reads or writes; before, if it does both */
} vcs_noted_row_t;

/* Registers and flags by name; N and Z are always set together. */
enum {
  VCS_KEPT_A,
  VCS_KEPT_X,
  VCS_KEPT_Y,
  VCS_KEPT_NZ,
  VCS_KEPT_V,
  VCS_KEPT_D,
  VCS_KEPT_I,
  VCS_KEPT_C,
  VCS_KEPT_COUNT
};

/* What an address of the window finds: a flip that sleeps has the same. */
typedef struct {
  uint32_t bank[4], cart_clock[4];
  uint16_t cart_word[8];
  uint8_t cart_byte[24];
} vcs_wiring_t;

typedef struct {
  uint32_t row, segment; /* reads a collision register; the access is a segment of its own */
  uint16_t collisions;   /* all of them then */
  uint8_t bits;          /* of the two in the register: those that matter */
} vcs_collision_read_t;

/* What vcs_latch_bits has found, by program counter. */
typedef struct {
  uint32_t bank[4];
  uint16_t pc; /* 0: nothing */
  uint8_t bits;
} vcs_latch_bits_t;
enum { VCS_LATCH_BITS = 64 };

typedef struct {
  vcs_stand_t *rows; /* count + 1 */
  uint32_t *cycles;  /* ... when they begin, and a time that is never reached */
  uint16_t *effects; /* the first row from each on that may change more than registers */
  vcs_deed_t *deeds; /* by row */
  uint32_t count;
  uint32_t instructions;  /* while recording: so far */
  vcs_noted_row_t *noted; /* ... rows behind `count` */
  uint32_t noted_count;
  uint32_t row;          /* ... the one that reads a chip */
  uint32_t recorded;     /* accesses that its TIA has made */
  uint16_t *touches;     /* of rows with `many` */
  uint8_t *touch_values; /* what a read of RAM has found */
  uint32_t *rom_touches; /* bytes of the image; only with view.rom */
  vcs_beam_note_t note;  /* the accesses */
  vcs_segment_t *segments;
  uint16_t *segment_of;   /* by access; the last also behind them */
  uint32_t segment_count; /* and one more: the end */
  vcs_collision_read_t *reads;
  uint32_t read_count;
  vcs_wiring_t *wirings;
  uint32_t wiring_count, touch_count, rom_touch_count;
  uint32_t touch_capacity, rom_touch_capacity, segment_capacity, read_capacity, wiring_capacity;
  uint16_t reads_of,
      live; /* collisions that it looks at, and that it or the next frame does; others are not followed */
  vcs_latch_bits_t latch_bits[VCS_LATCH_BITS];
  uint32_t hmoves; /* stores to HMOVE */
  bool clears;     /* it has a CXCLR */
  bool lost;       /* while recording: something the walk does not do */
  vcs_t *begun;    /* the machine when the first instruction is about to run */
  const vcs_cart_t *cart;
  vcs_t *m, *beam_m; /* while recording */
  vcs_video_t video;
  uint64_t here_replaced; /* while recording: of this segment so far */
  int32_t here_line;      /* ... of its first access */
  uint16_t latched;       /* while recording: collisions before this segment */
} vcs_base_frame_t;

bool vcs_base_frame_create(vcs_base_frame_t *frame, const vcs_cart_t *cart);
void vcs_base_frame_free(vcs_base_frame_t *frame);

/* Records the frame that begins with frame->begun. `rom`: bits of ROM are flipped; `states`: whole machines are looked
 * at. False: memory, or something that only running again gets right: a
 * frame that does not end, a program counter in the chips. `after` is the machine behind it. */
bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, bool states, vcs_t *after);

/* Of the two collisions in a register that the instruction at pc loads: those that matter to what the program does.
 * Bit 0 is bit 7 of the byte, bit 1 is bit 6. */
unsigned vcs_latch_bits(vcs_latch_bits_t *known, const vcs_cart_t *cart, const uint32_t *banks, uint16_t pc);

/* Notes instructions from m on in frame->noted. VCS_NOTING_STEP: the next is one for cpu.h. */
typedef enum { VCS_NOTING_ON, VCS_NOTING_STEP, VCS_NOTING_OVER } vcs_noting_t;
vcs_noting_t vcs_concurrent_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, vcs_t *m);

enum { VCS_KEY_SP = 16, VCS_KEY_A = 24, VCS_KEY_X = 32, VCS_KEY_Y = 40, VCS_KEY_P = 48 };
VCS_HOT_FN uint64_t vcs_stand_key(uint16_t pc, uint8_t sp, uint8_t a, uint8_t x, uint8_t y, uint8_t p) {
  return pc | (uint64_t)sp << VCS_KEY_SP | (uint64_t)a << VCS_KEY_A | (uint64_t)x << VCS_KEY_X |
         (uint64_t)y << VCS_KEY_Y | (uint64_t)p << VCS_KEY_P;
}

vcs_wiring_t vcs_wiring_of(const vcs_t *m);

/* What an instruction reads and sets, by opcode: bits of a key, and names. */
typedef struct {
  uint64_t reads, sets;
  uint8_t named_sets;
  uint8_t mode;
  uint8_t touches; /* VCS_TOUCHES_... */
} vcs_facts_t;
enum {
  VCS_TOUCHES_READ = 1,  /* a byte of data at its address */
  VCS_TOUCHES_WRITE = 2, /* ... which it writes */
  VCS_TOUCHES_MORE = 4   /* a pointer, or a return address */
};
extern const vcs_facts_t vcs_facts_of[256];

/* ---- Following ------------------------------------------------------------------------------------------------ */

/* Flips on the base's path. An array for each field: what was just stored is loaded again in the same size. */
enum { VCS_FOLLOWS, VCS_STORES = 1 /* and stores another value than the base */, VCS_LEAVES = 2 };
typedef struct {
  uint64_t registers[VCS_CONCURRENT_MOST]; /* its key ^ the base's; they stay if it leaves the path */
  uint16_t flip[VCS_CONCURRENT_MOST];
  uint8_t result[VCS_CONCURRENT_MOST]; /* of a row */
  uint8_t value[VCS_CONCURRENT_MOST];  /* that it stores */
  uint32_t count;
} vcs_followers_t;

/* The RAM of flips, by byte, so that what a row reads lies together. */
typedef struct {
  const uint64_t *who; /* VCS_FLIP_WORDS for each byte: the flips that differ in it */
  const uint8_t *own;  /* VCS_CONCURRENT_MOST for each byte: what they have there */
} vcs_own_ram_t;

/* A row that these flips read something in that differs. Returns all their results in one. */
unsigned vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                               const vcs_own_ram_t *ram, vcs_followers_t *flips);

/* ---- Running -------------------------------------------------------------------------------------------------- */

/* Runs a flip from a row of the base on, one instruction at least, until it stands where a later row stands, which is
 * returned; or until its frame is over in another way; or it has jammed, or executed `most` instructions. */
enum { VCS_RUN_ENDED = -1, VCS_RUN_LOST = -2 };
int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed);

/* The base's machine, from a row to another; but for its TIA. */
void vcs_concurrent_advance(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                            uint32_t from, uint32_t to);

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
  uint16_t unknown; /* collisions that are not known: they did not matter when they happened */
  vcs_beam_t tia;
} vcs_flip_beam_t;

/* A TIA that accesses are made to (concurrent_collide.c), in a machine. Between `begin` and `end` its registers are
 * right, but for clocks, and its collisions are those at the last reading of a collision register. With a picture, the
 * rows are painted that the beam passes, up to where it is at the end. */
typedef struct vcs_collide vcs_collide_t;
vcs_collide_t *vcs_collide_create(void);
void vcs_collide_begin(vcs_collide_t *collide, const vcs_cart_t *cart, const vcs_t *m, uint8_t *picture);
void vcs_collide_end(vcs_collide_t *collide, vcs_t *m);

/* Makes accesses. Collisions that are not in `live` are not looked for. Returns whether there was a CXCLR. */
bool vcs_collide_apply(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *accesses, uint32_t count,
                       uint16_t live);

/* What a worker makes beams with. */
typedef struct {
  const vcs_base_frame_t *frame;
  const vcs_beam_patches_t *patches;
  const vcs_cart_t *cart;
  vcs_t *m; /* its TIA is worked on */
  vcs_collide_t *collide;
  uint8_t *picture;    /* VCS_FRAME_BYTES to draw into, or NULL */
  const uint8_t *base; /* the base's picture */
  uint8_t *lines;      /* a byte a row of the picture, 1: drawn */
  uint64_t *effort;    /* what this has cost so far, in instructions of a flip that runs, is added up here */
} vcs_beam_work_t;

void vcs_beam_take(vcs_beam_t *tia, const vcs_t *m);
void vcs_beam_put(const vcs_beam_t *tia, vcs_t *m);
uint64_t vcs_beam_differs(const vcs_beam_t *one, const vcs_beam_t *other);

/* A flip's TIA, put into the base's. */
void vcs_beam_compose(vcs_beam_t *tia, const vcs_flip_beam_t *beam);

/* The clock of the frame up to which a flip's picture is drawn. */
int32_t vcs_beam_seen(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam);

/* An access of the base as it is recorded; what a collision register would show is returned. */
uint16_t vcs_beam_record(vcs_base_frame_t *frame, uint32_t number);
bool vcs_beam_record_begin(vcs_base_frame_t *frame, const vcs_cart_t *cart);
bool vcs_beam_record_end(vcs_base_frame_t *frame);

/* Brings a flip's TIA up to a segment. */
void vcs_beam_advance(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment);

/* The collisions of a flip at the end of a segment; the flip's TIA is before it, and stays there. */
uint16_t vcs_beam_collisions_after(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, uint32_t segment);

/* The collisions of a flip that is awake: its TIA, the base's accesses up to `from`, and its own. What is made stays in
 * the work's machine for the next question of the same flip, as long as nothing else is made: `made` begins as 0. */
typedef struct {
  uint32_t made; /* own accesses, plus one; 0: nothing */
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
  bool counted;          /* a budget depends on what flips cost: none leaves the walk because of that (concurrent.c) */
} vcs_concurrent_eyes_t;

typedef struct {
  uint64_t flips, wakes, executed, settled, beams, segments, fallbacks, walks, refused;
} vcs_concurrent_count_t;

/* Memory for walks over one base; NULL: there is none. */
vcs_concurrent_t *vcs_concurrent_create(const vcs_base_t *base);
void vcs_concurrent_free(vcs_concurrent_t *walk);

/* Flips, up to VCS_CONCURRENT_MOST, through the whole run. possible[i] is false for a flip that makes a machine that
 * cannot be. What this does not do is handed to vcs_rerun, flip by flip. */
void vcs_concurrent_walk(vcs_concurrent_t *walk, const vcs_base_t *base, vcs_runner_t *runner, const vcs_flip_t *flips,
                         size_t count, const vcs_concurrent_eyes_t *eyes, bool *possible);

const vcs_concurrent_count_t *vcs_concurrent_counts(const vcs_concurrent_t *walk);

#endif
