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

enum { VCS_EVENT_LOOKS = (VCS_LOOKS_SIZE + 15) / 16 * 16, VCS_EVENT_CUTS = 12 };

/* A row, or a piece of a row, when it was painted: all that its objects depend on. */
typedef struct {
  uint64_t head;                  /* vcs_event_head */
  uint64_t field, kept;           /* as in vcs_rows_t */
  uint8_t looks[VCS_EVENT_LOOKS]; /* the registers that make the picture */
  vcs_pixels_t line[VCS_OBJECTS]; /* what each object lights */
  uint8_t changed;                /* objects, or VCS_LOOK, that are not as in the row above */
  uint8_t cuts;                   /* number of cuts of a row in which an object moves, ... */
  uint32_t cut[VCS_EVENT_CUTS];   /* ... and the first ones: kind, pos, nusiz and x */
} vcs_event_t;

/* How it was painted. VCS_EVENT_IN_PIECES: the row itself is in pieces, and its event has only a head. */
enum { VCS_EVENT_DARK = 1, VCS_EVENT_COLLECT = 2, VCS_EVENT_MOVES = 4, VCS_EVENT_IN_PIECES = 8 };
#define VCS_EVENT_BYTE(head, at) ((int)((head) >> (at)&0xFF))
enum { VCS_EVENT_FROM = 16, VCS_EVENT_TO = 24, VCS_EVENT_BLANK = 32, VCS_EVENT_HOW = 40, VCS_EVENT_SPLIT = 48 };
VCS_FN uint64_t vcs_event_head(int y, int from, int to, int blank, unsigned how, unsigned split) {
  return (uint64_t)(unsigned)y | (uint64_t)(unsigned)from << VCS_EVENT_FROM | (uint64_t)(unsigned)to << VCS_EVENT_TO |
         (uint64_t)(unsigned)blank << VCS_EVENT_BLANK | (uint64_t)how << VCS_EVENT_HOW |
         (uint64_t)split << VCS_EVENT_SPLIT;
}
/* Of a row in pieces: the numbers of the first one and of the one after its last. */
enum { VCS_EVENT_FIRST = 16, VCS_EVENT_END = 48 };
VCS_FN uint64_t vcs_event_pieces(int y, int first, int end, bool moves) {
  return (uint64_t)(unsigned)y | (uint64_t)(unsigned)first << VCS_EVENT_FIRST |
         (uint64_t)(VCS_EVENT_IN_PIECES | (moves ? VCS_EVENT_MOVES : 0)) << VCS_EVENT_HOW |
         (uint64_t)(unsigned)end << VCS_EVENT_END;
}

/* An object was about to change at pixel x of a row, before its piece of this number. */
typedef struct {
  uint8_t kind, pos, nusiz, x;
  int16_t y, piece;
} vcs_cut_t;

/* A set of rows. */
enum { VCS_ROW_WORDS = (VCS_ROWS_MOST + 63) / 64 };
typedef struct {
  uint64_t word[VCS_ROW_WORDS];
} vcs_row_set_t;
VCS_FN void vcs_row_set_add(vcs_row_set_t *set, int y) { set->word[y >> 6] |= 1ULL << (y & 63); }
VCS_FN bool vcs_row_set_has(const vcs_row_set_t *set, int y) { return set->word[y >> 6] >> (y & 63) & 1; }

enum { VCS_LOG_PIECES = 2048, VCS_LOG_CUTS = 1024 };
typedef struct vcs_row_log {
  vcs_row_set_t painted; /* rows that are painted in the present frame, and ... */
  vcs_row_set_t listed;  /* ... in the last one that was listed */
  vcs_row_set_t changed; /* rows that have been painted otherwise since then */
  bool valid;            /* that frame was listed from this log */
  bool lost;             /* the present frame has more pieces or cuts than the log takes */
  bool collects;         /* objects are about to change together with the look */
  int32_t pieces, first; /* number of pieces so far, and of those before the present row */
  int32_t cuts, stirred; /* number of cuts so far, and of those before the present row */
  uint8_t counting[VCS_ALL_OBJECTS + 1][VCS_EVENT_LOOKS]; /* by the objects that are on: the registers that count */
  vcs_event_t row[VCS_ROWS_MOST], piece[VCS_LOG_PIECES];
  vcs_cut_t cut[VCS_LOG_CUTS];
  vcs_t m; /* a machine with the registers of an event */
} vcs_row_log_t;

/* Makes a log of zeros one that has no frame (record_rows.c). */
void vcs_row_log_make(vcs_row_log_t *log);

/* A frame begins. */
VCS_FN void vcs_row_log_start(vcs_row_log_t *log) {
  for (int w = 0; w < VCS_ROW_WORDS; w++) log->painted.word[w] = 0;
  log->lost = log->collects = false;
  log->pieces = log->first = log->cuts = log->stirred = 0;
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
