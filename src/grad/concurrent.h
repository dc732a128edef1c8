/* concurrent.h: many flips of one run in one walk. concurrent.c explains the method; this file declares what its parts
 * share.
 *
 *   concurrent.c         the walk: flips sleep, follow, run, wait and sleep again
 *   concurrent_base.c    records a frame of the base: the state at each row, and what each row reads and overwrites
 *   concurrent_record.c  executes the base's instructions with the loop of run.h, and notes them
 *   concurrent_latch.c   finds which of the collisions that an instruction reads matter to the program
 *   concurrent_follow.c  evaluates a row of the base for flips that read a difference and stay on the base's path
 *   concurrent_run.c     runs a flip that has left the base's path until it meets the base again
 *   concurrent_beam.c    makes the TIA of a flip from its accesses, when it is needed
 *   concurrent_collide.c executes these accesses: registers, collisions and the picture
 *
 * The base is the run without flips. A row is one instruction of a frame of the base. A location is a byte of RAM, or a
 * group of other state, that a row can read or overwrite.
 */
#ifndef VCS_GRAD_CONCURRENT_H
#define VCS_GRAD_CONCURRENT_H

#include "core/cpu_ops.h"
#include "core/tia.h"
#include "grad/rerun.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Returns the set of those of 64 bytes that differ. */
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

/* Returns whether `count` bytes are equal; count is 16 to 32. */
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

enum {
  VCS_CONCURRENT_MOST = 1024,               /* flips in a walk, at most */
  VCS_FLIP_WORDS = VCS_CONCURRENT_MOST / 64 /* words of a set of flips */
};

/* ---- Accesses to the TIA -------------------------------------------------------------------------------------- */

/* While the walk executes instructions, nothing is drawn: accesses to the TIA are noted, and the TIA's state is made
 * from the notes later, if it is needed at all. Bits of a written value that the TIA ignores are noted as 0. */
enum { VCS_BEAM_WRITE, VCS_BEAM_NEXT /* a second or later write of an instruction */, VCS_BEAM_READ };
typedef struct {
  uint32_t cycles; /* CPU cycle of the frame at which the access takes place */
  uint8_t reg;     /* register: 0 to 63 of a write, 0 to 15 of a read */
  uint8_t value;   /* value that is written, with the bits of vcs_note_mask; 0 for a read */
  uint8_t kind;    /* VCS_BEAM_... */
  uint8_t unused;  /* 0, so that accesses can be compared with memcmp */
} vcs_beam_access_t;

/* The notes of accesses. They take the place of the core's vcs_video_t, whose clocks the CPU uses. */
typedef struct {
  vcs_video_t video;           /* first member: the core passes a pointer to it */
  vcs_beam_access_t *accesses; /* capacity */
  uint32_t count, capacity;
  bool full;   /* an access did not fit */
  uint16_t pc; /* address of the instruction whose data is being read; 0: unknown */
  /* Returns the collisions when a collision register is read; the read is the last access noted. */
  uint16_t (*collisions)(void *context, const vcs_t *m);
  void *context; /* of `collisions` */
} vcs_beam_note_t;

/* ---- The TIA -------------------------------------------------------------------------------------------------- */

/* The state of the TIA between two accesses, drawn up to the first of them. */
typedef struct {
  uint8_t
      looks[VCS_LOOKS_SIZE]; /* the registers that decide what is drawn; first member: they are compared as 64 bytes */
  uint16_t collisions;       /* the latches, one bit each */
  int32_t line, line_clock, seen_clock, seen_before, blank_clock, blank_first, hmove_clock; /* as in vcs_t */
} vcs_beam_t;

/* A set of parts of a vcs_beam_t has one bit for each byte of `looks`, and three for everything else but collisions. */
_Static_assert(VCS_LOOKS_SIZE <= 61, "a set of looks is a word");
#define VCS_BEAM_MIRROR (1ull << 61) /* bit 0 of CTRLPF, which mirrors the playfield */
#define VCS_BEAM_HMOVE (1ull << 62)  /* hmove_clock */
#define VCS_BEAM_CLOCKS (1ull << 63) /* the line and the other clocks */

/* The accesses of a frame are divided into segments, about one for each line. If a flip makes the same accesses and
 * differs in no part of `reads` and `shows`, the segment has the same effect on it as on the base. */
typedef struct {
  uint32_t access;           /* first access */
  uint64_t reads;            /* parts that its accesses, and the ends of its lines, depend on */
  uint64_t shows;            /* parts that its pixels and collisions depend on */
  uint64_t colours;          /* parts that only its picture depends on */
  uint64_t replaced;         /* parts that it overwrites */
  uint16_t found_collisions; /* collisions that happen in it, after its CXCLR if it has one */
  uint8_t objects_on;        /* objects that are visible in it: bits VCS_P0 ... */
  bool has_cxclr;            /* it writes CXCLR */
  uint16_t cxclr_before;     /* earlier segments of the frame that write CXCLR */
  int16_t motion[5];         /* pixels by which its HMOVEs move each object */
  uint64_t moves;            /* positions of the objects that move */
  uint64_t depends;          /* the union of `reads`, `shows`, `replaced` and `moves` */
  vcs_beam_t before;         /* the base's TIA when it begins */
} vcs_segment_t;

/* ---- The base's frame ----------------------------------------------------------------------------------------- */

/* What rows read and overwrite. Each byte of RAM is a location; everything else is grouped, and of the groups only the
 * timer can be overwritten without being read. */
enum {
  VCS_LOCATION_RAM = 0,
  VCS_LOCATION_TIMER = 128,
  VCS_LOCATION_PORTS,    /* port A, its direction, wheels, keypads */
  VCS_LOCATION_SWITCHES, /* port B */
  VCS_LOCATION_FIRE,
  VCS_LOCATION_PADDLES, /* resistances, and the times at which their capacitors began to charge */
  VCS_LOCATION_VSYNC,
  VCS_LOCATION_CART_RAM, /* 64 groups: the address modulo 64 */
  VCS_LOCATIONS = VCS_LOCATION_CART_RAM + 64,
  VCS_LOCATION_REPLACED = 0x100 /* added in a list of touches: the location is overwritten */
};

/* The state of the CPU when a row begins. One more row follows the last instruction: the end of the frame. */
typedef struct {
  uint64_t key;       /* pc, sp, a, x, y, p: vcs_register_key */
  uint64_t live;      /* bits of the key that this row or a later one reads before they are set */
  uint32_t access;    /* accesses to the TIA before it */
  uint32_t touch;     /* entries of frame->touches before its own */
  uint32_t rom_touch; /* entries of frame->rom_touches before its own */
  uint16_t mapping;   /* index into frame->mappings */
  uint16_t number;    /* instructions of the frame before it; skipped turns of a wait loop count, but have no rows */
} vcs_row_start_t;

/* The accesses of a row to the bus. */
typedef struct {
  uint16_t addr;         /* address of the last one */
  uint8_t opcode;        /* first byte of the instruction */
  uint8_t value_read;    /* last byte that it reads */
  uint8_t value_written; /* last byte that it writes */
  uint8_t ram_read;      /* byte of RAM that it reads, 0 to 127; or VCS_NO_BYTE */
  uint8_t ram_written;   /* byte of RAM that it writes, 0 to 127; or VCS_NO_BYTE */
  bool listed;           /* it touches more than these two: frame->touches lists everything */
} vcs_row_data_t;
enum { VCS_NO_BYTE = 0xFF };

/* An instruction as concurrent_record.c notes it. */
typedef struct {
  uint64_t key;    /* registers before it, without N and Z, which follow from `nz` */
  uint32_t cycles; /* CPU cycle at which it begins */
  uint16_t access; /* accesses to the TIA before it */
  uint16_t number; /* instructions of the frame before it */
  uint16_t nz;     /* as in vcs_cpu_t */
  uint16_t addr;   /* address of its data; its own address if it has none */
  uint8_t opcode;
  uint8_t value; /* byte that it reads or writes */
  uint8_t old;   /* byte that a read-modify-write instruction reads */
} vcs_noted_row_t;

/* Registers and flags, as bits of a set; N and Z are always set together. */
enum {
  VCS_REGISTER_A,
  VCS_REGISTER_X,
  VCS_REGISTER_Y,
  VCS_REGISTER_NZ,
  VCS_REGISTER_V,
  VCS_REGISTER_D,
  VCS_REGISTER_I,
  VCS_REGISTER_C,
  VCS_REGISTER_COUNT
};

/* The state of the cartridge that decides what an address finds. In a flip that sleeps it equals the base's. */
typedef struct {
  uint32_t bank[4], cart_clock[4];
  uint16_t cart_word[8];
  uint8_t cart_byte[24];
} vcs_mapping_t;

/* A read of a collision register by the base. */
typedef struct {
  uint32_t row;        /* row that reads it */
  uint32_t segment;    /* segment that consists of this access */
  uint16_t collisions; /* all latches at that time */
  uint8_t bits;        /* which of the register's two latches matter: vcs_latch_bits */
} vcs_collision_read_t;

/* A result of vcs_latch_bits. */
typedef struct {
  uint32_t bank[4];
  uint16_t pc;  /* 0: the entry is empty */
  uint8_t bits; /* the result */
} vcs_latch_bits_t;
enum { VCS_LATCH_BITS = 64 }; /* results that are kept, by program counter */

/* A recorded frame of the base. */
typedef struct {
  vcs_row_start_t *rows;       /* count + 1 */
  uint32_t *cycles;            /* count + 2: when each row begins, then a time that is never reached */
  uint16_t *next_effect;       /* count + 1: the first row from this one on that may change more than registers */
  vcs_row_data_t *data;        /* count */
  uint32_t count;              /* rows */
  uint16_t *touches;           /* touch_count: locations that rows with `listed` touch */
  uint8_t *touch_values;       /* touch_count: bytes that reads of RAM find */
  uint32_t *rom_touches;       /* rom_touch_count: bytes of the image that rows read; only with view.rom */
  vcs_beam_note_t note;        /* accesses to the TIA */
  vcs_segment_t *segments;     /* segment_count + 1: the last is the end of the frame */
  uint16_t *segment_of;        /* note.count + 1: segment of each access; the last entry is the last segment */
  vcs_collision_read_t *reads; /* read_count */
  vcs_mapping_t *mappings;     /* mapping_count */
  uint32_t segment_count, read_count, mapping_count, touch_count, rom_touch_count;
  uint32_t segment_capacity, read_capacity, mapping_capacity, touch_capacity, rom_touch_capacity;
  uint16_t read_collisions; /* collisions that the frame reads and that matter */
  uint16_t live_collisions; /* collisions that this frame or the next reads; no others are computed */
  vcs_latch_bits_t latch_bits[VCS_LATCH_BITS];
  uint32_t hmoves; /* writes to HMOVE */
  bool has_cxclr;  /* it writes CXCLR */
  vcs_t *begun;    /* the machine before the first instruction */

  /* While the frame is being recorded: */
  bool lost;              /* memory ran out */
  uint32_t instructions;  /* instructions so far */
  vcs_noted_row_t *noted; /* noted_count: instructions that are not rows yet; they follow row `count` */
  uint32_t noted_count;
  uint32_t row;      /* the row that is reading a chip */
  uint32_t recorded; /* accesses that have been made in beam_m */
  const vcs_cart_t *cart;
  vcs_t *m, *beam_m;         /* the machine of the CPU, and that of the TIA */
  vcs_video_t video;         /* of beam_m */
  uint64_t segment_replaced; /* parts that the last segment has overwritten so far */
  int32_t segment_line;      /* line of the last segment's first access */
  uint16_t latched;          /* collisions before the last segment */
} vcs_base_frame_t;

/* Allocates a frame for a cartridge. False: there is no memory, and nothing is allocated. */
bool vcs_base_frame_create(vcs_base_frame_t *frame, const vcs_cart_t *cart);
void vcs_base_frame_free(vcs_base_frame_t *frame);

/* Records the frame that begins with frame->begun, and writes the machine after it to `after`. `rom`: bits of ROM are
 * flipped; `states`: whole machines are compared. False: there is no memory, or the walk cannot follow the frame,
 * because it does not end or executes code in the chips; then flips are run again. */
bool vcs_base_frame_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, bool rom, bool states, vcs_t *after);

/* Returns which of the two collisions matter to the program in a register that the instruction at pc reads: bit 0 for
 * bit 7 of the register, bit 1 for bit 6. `known` is a table of VCS_LATCH_BITS earlier results. */
unsigned vcs_latch_bits(vcs_latch_bits_t *known, const vcs_cart_t *cart, const uint32_t *banks, uint16_t pc);

/* Executes some instructions of m and notes them in frame->noted. Returns whether more follow (VCS_NOTING_ON), whether
 * the next one is for cpu.h (VCS_NOTING_STEP), or that the frame is over. */
typedef enum { VCS_NOTING_ON, VCS_NOTING_STEP, VCS_NOTING_OVER } vcs_noting_t;
vcs_noting_t vcs_concurrent_record(vcs_base_frame_t *frame, const vcs_cart_t *cart, vcs_t *m);

/* The registers as one word, so that they are compared at once: pc in bits 0 to 15, the others from these bits on. */
enum { VCS_KEY_SP = 16, VCS_KEY_A = 24, VCS_KEY_X = 32, VCS_KEY_Y = 40, VCS_KEY_P = 48 };
VCS_HOT_FN uint64_t vcs_register_key(uint16_t pc, uint8_t sp, uint8_t a, uint8_t x, uint8_t y, uint8_t p) {
  return pc | (uint64_t)sp << VCS_KEY_SP | (uint64_t)a << VCS_KEY_A | (uint64_t)x << VCS_KEY_X |
         (uint64_t)y << VCS_KEY_Y | (uint64_t)p << VCS_KEY_P;
}

/* Returns the mapping of a machine. */
vcs_mapping_t vcs_mapping_of(const vcs_t *m);

/* What an instruction reads and sets, by opcode. */
typedef struct {
  uint64_t reads, sets;   /* bits of a key */
  uint8_t sets_registers; /* 1 << VCS_REGISTER_... */
  uint8_t mode;           /* VCS_MODE_... */
  uint8_t touches;        /* VCS_TOUCHES_... */
} vcs_facts_t;
enum {
  VCS_TOUCHES_READ = 1,  /* it reads a byte of data */
  VCS_TOUCHES_WRITE = 2, /* it writes a byte of data */
  VCS_TOUCHES_MORE = 4   /* it reads a pointer, or reads or writes a return address */
};
extern const vcs_facts_t vcs_facts_of[256];

/* ---- Following ------------------------------------------------------------------------------------------------ */

/* What a row does to a flip on the base's path. */
enum {
  VCS_FOLLOWS, /* it stays on the path */
  VCS_STORES,  /* it stays on the path, and stores another value than the base */
  VCS_LEAVES   /* it leaves the path before this row */
};

/* Flips on the base's path. Each field is an array of its own, so that what was just stored is loaded again in the same
 * size. */
typedef struct {
  uint64_t registers[VCS_CONCURRENT_MOST]; /* its key ^ the base's; unchanged by a row at which it leaves the path */
  uint16_t flip[VCS_CONCURRENT_MOST];      /* its number in the walk */
  uint8_t result[VCS_CONCURRENT_MOST];     /* of a row: VCS_FOLLOWS, ... */
  uint8_t value[VCS_CONCURRENT_MOST];      /* the value that it stores, with VCS_STORES */
  uint32_t count;
} vcs_followers_t;

/* The RAM of flips, by byte: the values of all flips that a row reads are adjacent in memory. */
typedef struct {
  const uint64_t *differing; /* 128 x VCS_FLIP_WORDS: the set of flips that differ in each byte */
  const uint8_t *values;     /* 128 x VCS_CONCURRENT_MOST: the values of these flips */
} vcs_own_ram_t;

/* Evaluates a row for flips that read a difference there: sets their registers, results and values. Returns the results
 * of all of them, ORed. */
unsigned vcs_concurrent_follow(const vcs_cart_t *cart, const vcs_base_frame_t *frame, uint32_t row,
                               const vcs_own_ram_t *ram, vcs_followers_t *flips);

/* ---- Running -------------------------------------------------------------------------------------------------- */

/* Runs a flip from a row of the base on, for one instruction at least and `most` at most, until it can sleep at a later
 * row. Returns that row, or one of these; `executed` receives the number of instructions. */
enum {
  VCS_RUN_ENDED = -1, /* its frame ended before it met the base */
  VCS_RUN_LOST = -2   /* it jammed, executed `most` instructions, or made more accesses than fit */
};
int32_t vcs_concurrent_run(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                           uint32_t from, uint32_t most, uint32_t *executed);

/* Advances the base's machine from one row to another, all but its TIA. */
void vcs_concurrent_advance(const vcs_cart_t *cart, const vcs_base_frame_t *frame, vcs_t *m, vcs_beam_note_t *note,
                            uint32_t from, uint32_t to);

/* ---- The beam ------------------------------------------------------------------------------------------------- */

/* A flip's own accesses, which replace the base's accesses [from, to). */
typedef struct {
  uint32_t from, to;
  uint32_t first, count; /* the own accesses, in vcs_beam_patches_t */
  int32_t next;          /* next patch of the same flip; -1: none */
} vcs_beam_patch_t;

/* The patches of all flips in a frame. */
typedef struct {
  vcs_beam_patch_t *patches;   /* patch_count */
  vcs_beam_access_t *accesses; /* access_count */
  uint32_t patch_count, patch_capacity, access_count, access_capacity;
} vcs_beam_patches_t;

/* The TIA of a flip before segment `at`. */
typedef struct {
  uint64_t differs; /* parts that differ from the base's */
  uint32_t at;
  int32_t patch;    /* next patch that is not applied yet; -1: none */
  uint16_t unknown; /* collisions that are not known, because they did not matter when they happened */
  vcs_beam_t tia;   /* valid in the parts that differ, and in its collisions */
} vcs_flip_beam_t;

/* Executes accesses to the TIA of a machine (concurrent_collide.c). Between `begin` and `end` the machine's registers
 * are valid, its clocks are not, and its collisions are those at the last read of a collision register. With a picture,
 * what the beam passes between `begin` and `end` is painted. */
typedef struct vcs_collide vcs_collide_t;
vcs_collide_t *vcs_collide_create(void);
void vcs_collide_begin(vcs_collide_t *collide, const vcs_cart_t *cart, const vcs_t *m, uint8_t *picture);
void vcs_collide_end(vcs_collide_t *collide, vcs_t *m);

/* Executes accesses; only the collisions in `live` are computed. Returns whether CXCLR was written. */
bool vcs_collide_apply(vcs_collide_t *collide, vcs_t *m, const vcs_beam_access_t *accesses, uint32_t count,
                       uint16_t live);

/* The data of the functions below. */
typedef struct {
  const vcs_base_frame_t *frame;
  const vcs_beam_patches_t *patches;
  const vcs_cart_t *cart;
  vcs_t *m; /* scratch: TIAs are made in it */
  vcs_collide_t *collide;
  uint8_t *picture;    /* VCS_FRAME_BYTES to draw into, or NULL */
  const uint8_t *base; /* the base's picture */
  uint8_t *lines;      /* frame_height: 1 for a row of the picture that was drawn */
  uint64_t *effort;    /* the cost of making TIAs is added to it, in the unit of concurrent.c */
} vcs_beam_work_t;

/* Copies the TIA's state from a machine, and into one. */
void vcs_beam_take(vcs_beam_t *tia, const vcs_t *m);
void vcs_beam_put(const vcs_beam_t *tia, vcs_t *m);

/* Returns the parts in which two TIAs differ. */
uint64_t vcs_beam_differs(const vcs_beam_t *one, const vcs_beam_t *other);

/* Copies the parts in which a flip's TIA differs, and its collisions, into the base's TIA. */
void vcs_beam_compose(vcs_beam_t *tia, const vcs_flip_beam_t *beam);

/* Returns the clock of the frame up to which a flip's picture is drawn. */
int32_t vcs_beam_seen(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam);

/* Records the accesses of the base one after the other, between `begin` and `end`, which return false if there is no
 * memory. vcs_beam_record returns the collisions after the access. */
bool vcs_beam_record_begin(vcs_base_frame_t *frame, const vcs_cart_t *cart);
uint16_t vcs_beam_record(vcs_base_frame_t *frame, uint32_t number);
bool vcs_beam_record_end(vcs_base_frame_t *frame);

/* Advances a flip's TIA to a segment. */
void vcs_beam_advance(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t segment);

/* Returns the collisions of a flip at the end of a segment. The flip's TIA is before it, and stays there. */
uint16_t vcs_beam_collisions_after(const vcs_beam_work_t *work, const vcs_flip_beam_t *beam, uint32_t segment);

/* Returns the collisions of a flip that is running, after the base's accesses up to `from` and `count` of its own. Its
 * TIA stays in work->m for the next call for the same flip, if nothing else uses the work in between. */
typedef struct {
  uint32_t made; /* own accesses that the TIA in work->m has made, plus one; 0: it is not this flip's */
} vcs_beam_now_t;
uint16_t vcs_beam_collisions_now(const vcs_beam_work_t *work, vcs_flip_beam_t *beam, uint32_t from,
                                 const vcs_beam_access_t *own, uint32_t count, vcs_beam_now_t *now);

/* ---- The walk ------------------------------------------------------------------------------------------------- */

/* Places that are flipped together. */
typedef struct {
  const vcs_place_t *places; /* count */
  size_t count;
} vcs_flip_t;

typedef struct vcs_concurrent vcs_concurrent_t;

/* Receives the outputs of a flip at a horizon. The horizons of a flip come in order, flips in any order. */
typedef void (*vcs_see_flip_t)(void *context, size_t flip, int horizon, const vcs_sight_t *sight);

/* For tests: receives a flip's machine after a frame, and the set of its collisions that are valid. */
typedef void (*vcs_inspect_t)(void *context, size_t flip, int32_t frames, const vcs_t *m, uint16_t collisions);

typedef struct {
  vcs_see_flip_t see;
  void *context;         /* of both functions */
  vcs_inspect_t inspect; /* or NULL */
  bool keeps_all;        /* no flip leaves the walk because of its cost, so that counts of work are reproducible */
} vcs_concurrent_callbacks_t;

/* Counts of the work of all walks so far. */
typedef struct {
  uint64_t flips;     /* flips of all walks */
  uint64_t wakes;     /* times that a flip was run beside the base */
  uint64_t executed;  /* instructions that flips executed there */
  uint64_t settled;   /* times that a flip fell asleep again after that */
  uint64_t fallbacks; /* flips that were run outside the walk */
  uint64_t walks;
  uint64_t refused; /* frames of the base that could not be recorded */
} vcs_concurrent_count_t;

/* Allocates what walks over one base need. NULL: there is no memory. */
vcs_concurrent_t *vcs_concurrent_create(const vcs_base_t *base);
void vcs_concurrent_free(vcs_concurrent_t *walk);

/* Walks over the whole run with `count` flips, at most VCS_CONCURRENT_MOST, and shows each to callbacks->see. Sets
 * possible[i] to whether flip i makes a possible machine. Flips that the walk cannot follow are run by vcs_rerun, one
 * by one.
 */
void vcs_concurrent_walk(vcs_concurrent_t *walk, const vcs_base_t *base, vcs_runner_t *runner, const vcs_flip_t *flips,
                         size_t count, const vcs_concurrent_callbacks_t *callbacks, bool *possible);

const vcs_concurrent_count_t *vcs_concurrent_counts(const vcs_concurrent_t *walk);

#endif
