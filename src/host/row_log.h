/* row_log.h: a log of the rows of a frame. record_rows.c writes it while it paints, and replay_rows.c reads it when the
 * caller lists the objects of the frame.
 *
 * A row that is painted costs little more than a comparison: each row of the picture has its place in the log, and a
 * row that is as it was in the frame before leaves it as it is. What has changed since the last frame that was listed
 * is known by row, so that a list begins with what that frame had (replay_rows.c):
 *
 *   row       painted   as listed
 *   0..9         .                  copies of the row above: nothing is noted
 *   10           x          x       \
 *   12           x          x       / what begins and ends here is as it was
 *   14           x          .       it is worked out again, and so is what follows in row 16
 *   16           x          x
 */
#ifndef VCS_HOST_ROW_LOG_H
#define VCS_HOST_ROW_LOG_H

#include "core/objects.h"
#include "core/rows.h"

/* The registers that are a part of what objects look like, in two words: NUSIZ, colours, CTRLPF and REFP0; positions
 * and REFP1. */
typedef struct {
  uint64_t looks, places;
} vcs_registers_t;
VCS_ASSERT(offsetof(vcs_t, reflect) - offsetof(vcs_t, nusiz) == 7, "the first registers that count are one word");
#define VCS_REGISTER_AT(field, index) (8 * (offsetof(vcs_t, field) + (index)-offsetof(vcs_t, nusiz)))
#define VCS_REGISTER(field, index) (0xFFULL << VCS_REGISTER_AT(field, index))
#define VCS_REGISTER_POS(kind) (0xFFULL << 8 * (kind))
enum { VCS_REFLECT_1_AT = 8 * VCS_PF }; /* REFP1 is behind the positions */
VCS_FN unsigned vcs_registers_ctrlpf(const vcs_registers_t *registers) {
  return (unsigned)(registers->looks >> VCS_REGISTER_AT(ctrlpf, 0)) & 0xFF;
}

/* Those on which an object depends. Of CTRLPF these are the ball's size, priorities and the score, whose colours are
 * those of the players. */
#define VCS_FIELD_LOOKS (VCS_REGISTER(colu, VCS_COLUPF) | 0x36ULL << VCS_REGISTER_AT(ctrlpf, 0))
#define VCS_SCORE_LOOKS (VCS_REGISTER(colu, VCS_COLUP0) | VCS_REGISTER(colu, VCS_COLUP1))
VCS_TABLE(
    vcs_registers_t, vcs_registers_of, VCS_OBJECTS,
    {{VCS_REGISTER(nusiz, 0) | VCS_REGISTER(colu, VCS_COLUP0) | VCS_REGISTER(reflect, 0), VCS_REGISTER_POS(VCS_P0)},
     {VCS_REGISTER(nusiz, 1) | VCS_REGISTER(colu, VCS_COLUP1), VCS_REGISTER_POS(VCS_P1) | 0xFFULL << VCS_REFLECT_1_AT},
     {VCS_REGISTER(nusiz, 0) | VCS_REGISTER(colu, VCS_COLUP0), VCS_REGISTER_POS(VCS_M0)},
     {VCS_REGISTER(nusiz, 1) | VCS_REGISTER(colu, VCS_COLUP1), VCS_REGISTER_POS(VCS_M1)},
     {VCS_FIELD_LOOKS, VCS_REGISTER_POS(VCS_BL)},
     {VCS_FIELD_LOOKS, 0}})

/* A row, or a piece of a row, when it was painted: all that its objects depend on. Registers of objects that are off,
 * and how a program came to light its pixels, do not count: rows that look alike are equal. */
typedef struct {
  uint64_t head; /* vcs_event_head */
  uint64_t on;   /* objects: no other one lights a pixel */
  vcs_registers_t registers;
  vcs_pixels_t line[VCS_OBJECTS]; /* what each object lights */
} vcs_event_t;

/* The first pixel that is blank, whether an object moves in the row, and the number of its pieces (0: it is painted at
 * once); of a piece the number of the row, because another row may have had the event before. */
#define VCS_EVENT_MOVES (1ULL << 8)
enum { VCS_EVENT_PIECES = 16 };
VCS_FN uint64_t vcs_event_head(int blank, bool moves, int pieces) {
  return (uint64_t)(unsigned)blank | (moves ? VCS_EVENT_MOVES : 0) | (uint64_t)(unsigned)pieces << VCS_EVENT_PIECES;
}
VCS_FN int vcs_event_blank(const vcs_event_t *event) { return (int)(event->head & 0xFF); }
VCS_FN int vcs_event_pieces(const vcs_event_t *event) { return (int)(event->head >> VCS_EVENT_PIECES); }

/* A piece of a row in a word. Most only have another colour than the piece before them: what they light is known when
 * the row ends. Some need masks of their own, because priorities change or the piece is blank: the number of an event
 * more one. Such a piece has its end, too.
 *
 *   63      52 51   48 47    40 39    32 31    24 23    16 15     8 7      0
 *   | event   |  how  | CTRLPF | COLUP1 | COLUP0 | COLUPF |  end   | first  |
 */
enum { VCS_PIECE_TO = 8, VCS_PIECE_COLOURS = 16, VCS_PIECE_CTRLPF = 40, VCS_PIECE_HOW = 48, VCS_PIECE_EVENT = 52 };
enum { VCS_PIECE_FIRST = 0xFF };
#define VCS_PIECE_DARK (1ULL << VCS_PIECE_HOW)
#define VCS_PIECE_COLLECT (2ULL << VCS_PIECE_HOW) /* what is lit up to its end is known */
#define VCS_PIECE_LOOKS 0xFFFFFFFF0000ULL         /* colours and CTRLPF */

/* An object was about to change at pixel x of a row, before its piece of this number. */
typedef struct {
  uint8_t kind, pos, nusiz, x;
  int32_t piece;
} vcs_cut_t;

/* The cuts of a row in which an object moves. */
enum { VCS_EVENT_CUTS = 12 };
typedef struct {
  int16_t first, count;         /* number of the first one, and of all */
  uint32_t cut[VCS_EVENT_CUTS]; /* kind, pos, nusiz and x of the first ones */
} vcs_row_cuts_t;

/* A set of rows. */
enum { VCS_ROW_WORDS = (VCS_ROWS_MOST + 63) / 64 };
typedef struct {
  uint64_t word[VCS_ROW_WORDS];
} vcs_row_set_t;
VCS_FN void vcs_row_set_add(vcs_row_set_t *set, int y) { set->word[y >> 6] |= 1ULL << (y & 63); }
VCS_FN bool vcs_row_set_has(const vcs_row_set_t *set, int y) { return set->word[y >> 6] >> (y & 63) & 1; }

enum { VCS_LOG_EVENTS = 1024, VCS_LOG_CUTS = 1024 };
typedef struct vcs_row_log {
  vcs_row_set_t painted;     /* rows that are painted in the present frame, and ... */
  vcs_row_set_t listed;      /* ... in the last one that was listed */
  vcs_row_set_t changed;     /* rows that have been painted otherwise since then, ... */
  vcs_row_set_t other;       /* ... and those of them whose pieces or cuts are not as they were */
  bool valid;                /* that frame was listed from this log */
  bool lost;                 /* the present frame has more pieces or cuts than the log takes */
  bool collects;             /* objects are about to change together with the look */
  int32_t pieces;            /* number of pieces of the present row so far, and ... */
  uint64_t unlike;           /* ... 0 if they are as before */
  int32_t events;            /* number of events of pieces so far */
  int32_t cuts, cuts_before; /* number of cuts so far, and of those before the present row */
  vcs_registers_t counting[VCS_ALL_OBJECTS + 1][2]; /* by the objects that are on, and with the score: what counts */
  vcs_event_t row[VCS_ROWS_MOST];
  vcs_event_t listed_row[VCS_ROWS_MOST]; /* as it was when a frame was listed with it, ... */
  bool meets[VCS_ROWS_MOST];             /* ... and whether objects of different colours met in it */
  vcs_row_cuts_t row_cuts[VCS_ROWS_MOST];
  uint64_t piece[VCS_ROWS_MOST][VCS_ROW_PIECES];
  vcs_event_t event[VCS_LOG_EVENTS];
  vcs_cut_t cut[VCS_LOG_CUTS];
  vcs_t m; /* a machine with the registers of an event */
} vcs_row_log_t;

/* Makes a log of zeros one that has no frame (record_rows.c). */
void vcs_row_log_make(vcs_row_log_t *log);

/* A frame begins. */
VCS_FN void vcs_row_log_start(vcs_row_log_t *log) {
  for (int w = 0; w < VCS_ROW_WORDS; w++) log->painted.word[w] = 0;
  log->lost = log->collects = false;
  log->pieces = log->events = log->cuts = log->cuts_before = 0;
  log->unlike = 0;
}

/* Adds pixels [from, x) of row y, which are blank and not the whole row. What is lit before them may not have been
 * collected. */
VCS_FN void vcs_record_dark_piece(const vcs_t *m, vcs_recorder_t *r, int y, int from, int x, const vcs_pixels_t *line,
                                  int blank) {
  if (vcs_row_waits(r, from)) vcs_row_collect(m, r, r->row.collected, from, VCS_ALL_OBJECTS, line, NULL, blank);
  vcs_record_piece(m, r, y, from, 0, line, blank);
  r->row.collected = (uint8_t)x;
}

#endif
