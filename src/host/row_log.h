/* row_log.h: a log of the rows of a frame. record_rows.c writes the log while it paints the frame, and replay_rows.c
 * reads it when the caller lists the objects of the frame.
 *
 * Each row of the picture has an entry in the log. A row that is painted is compared with its entry, and the entry is
 * written only if they differ. The log also keeps the set of rows whose entries have changed since the last frame that
 * was listed. So the next list copies the objects of that frame, and works out only the rows that have changed and the
 * row that is painted after each of them (replay_rows.c):
 *
 *   row       painted   as listed
 *   0..9         .                  copies of the row above: not logged
 *   10           x          x       \
 *   12           x          x       / objects that begin or end here are copied
 *   14           x          .       worked out again, and so is row 16, which is painted next
 *   16           x          x
 */
#ifndef VCS_HOST_ROW_LOG_H
#define VCS_HOST_ROW_LOG_H

#include "core/objects.h"
#include "core/rows.h"

/* The registers on which the look of objects depends, in two words. `looks`: NUSIZ, colours, CTRLPF and REFP0.
 * `places`: positions and REFP1. */
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

/* By object: the bits of these registers on which it depends. Playfield and ball depend on three parts of CTRLPF: the
 * ball's size, the priority, and score mode, in which the playfield has the colours of the players. */
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

/* Everything on which the objects of a row, or of a piece of a row, depend when it is painted. Registers of objects
 * that are off are stored as 0, so that rows that look alike are equal. */
typedef struct {
  uint64_t head; /* vcs_event_head */
  uint64_t on;   /* set of objects; all others light no pixel */
  vcs_registers_t registers;
  vcs_pixels_t line[VCS_OBJECTS]; /* what each object lights */
} vcs_event_t;

/* The head of an event: the first pixel that HMOVE blanks, whether an object moves in the row, and the number of pieces
 * of the row (0: it is painted at once). The event of a piece has the number of its row instead, because in another
 * frame another row may use the same event. */
#define VCS_EVENT_MOVES (1ULL << 8)
enum { VCS_EVENT_PIECES = 16 };
VCS_FN uint64_t vcs_event_head(int blank, bool moves, int pieces) {
  return (uint64_t)(unsigned)blank | (moves ? VCS_EVENT_MOVES : 0) | (uint64_t)(unsigned)pieces << VCS_EVENT_PIECES;
}
VCS_FN int vcs_event_blank(const vcs_event_t *event) { return (int)(event->head & 0xFF); }
VCS_FN int vcs_event_pieces(const vcs_event_t *event) { return (int)(event->head >> VCS_EVENT_PIECES); }

/* A piece of a row in a word. Most pieces differ from the piece before them only in colours; their pixels are collected
 * when the row ends. A piece has masks of its own if it is blank, if CTRLPF changes in front of it, or if its pixels
 * are collected at its end: its word has the end of the piece and the number of an event plus 1.
 *
 *   63      52 51   48 47    40 39    32 31    24 23    16 15     8 7      0
 *   | event   |  how  | CTRLPF | COLUP1 | COLUP0 | COLUPF |  end   | first  |
 */
enum { VCS_PIECE_TO = 8, VCS_PIECE_COLOURS = 16, VCS_PIECE_CTRLPF = 40, VCS_PIECE_HOW = 48, VCS_PIECE_EVENT = 52 };
enum { VCS_PIECE_FIRST = 0xFF };
#define VCS_PIECE_DARK (1ULL << VCS_PIECE_HOW)
#define VCS_PIECE_COLLECT (2ULL << VCS_PIECE_HOW) /* its pixels are collected at its end */
#define VCS_PIECE_LOOKS 0xFFFFFFFF0000ULL         /* colours and CTRLPF */

/* A change of an object at pixel x of a row: position and NUSIZ before the change, and the number of pieces of the row
 * that end before it. */
typedef struct {
  uint8_t kind, pos, nusiz, x;
  int32_t piece;
} vcs_cut_t;

/* The cuts of a row in which an object moves. */
enum { VCS_EVENT_CUTS = 12 };
typedef struct {
  int16_t first, count;         /* index of the first one in the log, and their number */
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
  vcs_row_set_t painted;     /* rows that are painted in the present frame */
  vcs_row_set_t listed;      /* rows that were painted in the last frame that was listed */
  vcs_row_set_t changed;     /* rows whose entries have changed since then, ... */
  vcs_row_set_t other;       /* ... and those of them whose pieces or cuts have changed */
  bool valid;                /* the last list was made from this log */
  bool lost;                 /* the present frame has more pieces or cuts than fit */
  bool collects;             /* an object changes at the end of the piece that is being painted */
  int32_t pieces;            /* number of pieces of the present row so far, and ... */
  uint64_t unlike;           /* ... 0 if they are equal to those of the entry */
  int32_t events;            /* number of events of pieces in the present frame */
  int32_t cuts, cuts_before; /* number of cuts so far, and of those before the present row */
  vcs_registers_t counting[VCS_ALL_OBJECTS + 1][2]; /* masks of registers, by objects that are on and score mode */
  vcs_event_t row[VCS_ROWS_MOST];
  vcs_event_t listed_row[VCS_ROWS_MOST]; /* the entries when their rows were last listed, ... */
  bool meets[VCS_ROWS_MOST];             /* ... and whether objects of different colours met there */
  vcs_row_cuts_t row_cuts[VCS_ROWS_MOST];
  uint64_t piece[VCS_ROWS_MOST][VCS_ROW_PIECES];
  vcs_event_t event[VCS_LOG_EVENTS];
  vcs_cut_t cut[VCS_LOG_CUTS];
  vcs_t m; /* scratch: a machine with the registers of an event */
} vcs_row_log_t;

/* Initializes a log whose bytes are all 0 (record_rows.c). */
void vcs_row_log_make(vcs_row_log_t *log);

/* Begins a frame. */
VCS_FN void vcs_row_log_start(vcs_row_log_t *log) {
  for (int w = 0; w < VCS_ROW_WORDS; w++) log->painted.word[w] = 0;
  log->lost = log->collects = false;
  log->pieces = log->events = log->cuts = log->cuts_before = 0;
  log->unlike = 0;
}

/* Adds a blank piece of row y, pixels [from, x), to a recorder. The lit pixels before it are collected first. */
VCS_FN void vcs_record_dark_piece(const vcs_t *m, vcs_recorder_t *r, int y, int from, int x, const vcs_pixels_t *line,
                                  int blank) {
  if (vcs_row_waits(r, from)) vcs_row_collect(m, r, r->row.collected, from, VCS_ALL_OBJECTS, line, NULL, blank);
  vcs_record_piece(m, r, y, from, 0, line, blank);
  r->row.collected = (uint8_t)x;
}

#endif
