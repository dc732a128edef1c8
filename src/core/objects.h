/* objects.h: finds the objects that a frame shows (diffvcs/objects.h), from its lines while they are drawn.
 *
 * A recorder receives each row from the TIA that sleeps (src/host/record_rows.c) or from the TIA that draws
 * (record_beam.h). A row has a mask of lit pixels for each object, and the object's stance: its position and NUSIZ,
 * from which the window of each copy follows.
 *
 *   row y     ....####........####........####....     P0 with three copies: three windows of eight pixels
 *   row y+1   ....#..#........#..#........#..#....     each extends the object whose window was nearest
 *
 * Rows become objects in three steps, none of which does work for objects that have not changed:
 *   - A row is compared with the row above it, object by object. Consecutive rows in which an object is the same are a
 *     streak (vcs_streak_t). The pieces of a row in which colours change are put together first (vcs_pieces_t).
 *   - When a streak of a player, missile or ball ends, it extends a live object, one that has not ended, or begins a
 *     new one (vcs_live_t).
 *   - When a streak of the playfield ends, each of its runs of lit pixels extends a live block or begins a new one
 *     (vcs_block_t). Only runs whose ends differ from those of the row above cost work.
 *
 * Objects are made from streaks when the caller lists them (vcs_recorder_list), so a frame that is recorded and never
 * listed pays only for its streaks.
 *
 * Blocks begin in the order of the list, from top to bottom and from left to right, so a block gets its place in the
 * list when it begins. Sprites (players, missiles and balls), which are few, are sorted at the end and merged with the
 * blocks.
 */
#ifndef VCS_CORE_OBJECTS_H
#define VCS_CORE_OBJECTS_H

#include "diffvcs/objects.h"
#include "tia_video.h"

enum {
  VCS_LIVE_MAX = 24,    /* live objects of a kind, at most */
  VCS_OBJECT_GAP = 2,   /* empty rows within an object, at most */
  VCS_OBJECT_SHIFT = 8, /* an object moves by less than this from row to row, ... */
  VCS_GAP_SHIFT = 2,    /* ... and by less than this over empty rows; after a larger move it is another object */
  VCS_ROW_PIECES = 40,  /* pieces of a row that have different colours */
};

/* A live player, missile or ball: later rows may extend it. */
typedef struct {
  int16_t window;                  /* left end of its window in the last row */
  int16_t y;                       /* the last row */
  int16_t seen_end;                /* the row after the last one in which it is seen */
  uint8_t group;                   /* NUSIZ of a group, which is all copies, equal so far; 0: it is one copy */
  bool pieces;                     /* the last row comes in pieces and is not yet added to the object: */
  uint8_t colour;                  /* ... its colour */
  uint64_t bits, shown;            /* ... its pixels from the window on: lit, and seen */
  uint64_t columns, shown_columns; /* those of all rows added with this window */
  vcs_object_t object;             /* its heights are set when it ends */
} vcs_live_t;

/* A live block of the playfield: later rows may extend it. */
typedef struct {
  uint8_t x, w, colour;
  bool covered;  /* a part of it was covered: vcs_block_seen_t has the part that was seen */
  int16_t y;     /* its first row */
  int16_t place; /* its number in the list */
} vcs_block_t;

/* The part of a block that was seen: seen_x to seen_h and seen of vcs_object_t. */
typedef struct {
  int16_t x, y, w, h;
  int32_t seen;
} vcs_block_seen_t;

/* Where the colour of the playfield changes in a row. */
typedef struct {
  int32_t count;
  struct {
    uint8_t x, colour;
  } from[VCS_ROW_PIECES + 1];
} vcs_hues_t;

/* A row that is drawn in pieces, as far as it is drawn. */
typedef struct {
  vcs_pixels_t lit[VCS_OBJECTS], hidden[VCS_OBJECTS];
  uint8_t on, covered; /* objects that light a pixel, and objects that are partly covered, ... */
  uint8_t collected;   /* ... in the pixels before this one */
  uint8_t ctrlpf;      /* CTRLPF from that pixel on */
  int32_t count;
  struct {
    uint8_t x;                               /* the first pixel */
    uint8_t player[2], ball, field, field_2; /* colours; the second one of the playfield is that of the right half */
  } piece[VCS_ROW_PIECES];
} vcs_pieces_t;

/* A stance of an object: its position and NUSIZ up to pixel `end` of the row. */
typedef struct {
  uint8_t pos, nusiz, end;
} vcs_stance_t;
enum { VCS_STANCES = 24 }; /* of an object in a row; a program has no time for more */

/* A streak: equal rows of an object. */
typedef struct {
  uint64_t look;           /* vcs_look_of, vcs_field_look */
  uint64_t span;           /* the first row, VCS_PARTLY, and when it has ended the number of rows << 16 */
  vcs_pixels_t lit, shown; /* `shown` only if it is partly covered */
} vcs_streak_t;
#define VCS_PARTLY (1ULL << 32)
#define VCS_SPAN ((1ULL << 40) - 1)
enum {
  VCS_LAST_AT = 40
}; /* from this bit of `span` on: 1 + the number of the same streak in the last frame, 0: not known */

/* A passage: consecutive streaks of a kind, and the objects made from them. No object extends into the next passage. */
typedef struct {
  int16_t entry, entries, object, objects;
  int16_t unseen; /* blocks that no pixel shows */
  int16_t end;    /* of sprites: the row after the last one */
} vcs_passage_t;

/* The streaks of a frame, for each kind of object. */
enum { VCS_ENTRIES = 512, VCS_HUES_KEPT = 128 };
typedef struct {
  int16_t count[VCS_OBJECTS], passages[VCS_OBJECTS];
  int16_t hues_count;
  bool complete;                   /* it has all streaks of its frame */
  int32_t blocks, unseen, sprites; /* as in vcs_recorder_t when the objects were made */
  vcs_streak_t entry[VCS_OBJECTS][VCS_ENTRIES + 1];
  vcs_passage_t passage[VCS_OBJECTS][VCS_ENTRIES];
  vcs_hues_t hues[VCS_HUES_KEPT];
} vcs_log_t;

/* The streaks of two frames: a recorder with a memory reuses objects of the last frame. */
typedef struct {
  vcs_log_t log[2];
} vcs_memory_t;

/* What a machine that records objects writes to. */
typedef struct vcs_recorder {
  vcs_memory_t *memory;            /* or NULL */
  vcs_log_t *log;                  /* the half of `memory` for this frame */
  int32_t turn;                    /* index of that half, and of the half of `sprite` and `field` */
  bool made;                       /* the frame is over, and its objects have been made (vcs_recorder_list) */
  uint8_t logging;                 /* kinds whose rows are only logged until the objects are made */
  int32_t count;                   /* number of objects, once they have been made */
  int32_t blocks, unseen, sprites; /* number of blocks so far, of those that no pixel shows, of sprites that ended */
  uint8_t lit;                     /* objects that light a pixel of the last row, ... */
  uint8_t unknown;                 /* ... except these, for which it is not known */
  uint8_t on, partly;              /* objects that have a streak, and those of them that are partly covered in it */
  uint8_t stirred;                 /* objects that have stances before the present one */
  int32_t blank;                   /* first blank pixel of the last row */
  uint64_t common;                 /* vcs_row_common of the last row */
  bool changing;                   /* an object changes at the end of the present piece */
  bool whole;                      /* the last row was added as a whole: its objects have streaks */
  int16_t row_y;                   /* the number of the row in `row`, -1: none */
  int16_t field_end;               /* the row after the last one that was added to the blocks */
  uint8_t stances[VCS_OBJECTS];    /* number of stances before the present one */
  uint8_t lives[VCS_PF];           /* number of live objects */
  uint8_t recent[VCS_PF][3];       /* index of the live object of each copy in the last row, which is tried first */
  uint8_t grouped;                 /* kinds that may have a live group */
  int32_t colour;                  /* of all live blocks, -1: they have several */
  int32_t covered;                 /* number of blocks partly covered so far */
  int32_t cell;                    /* `starts` and `ends` count cells of 1 << cell pixels */
  bool goes_on;                    /* the last rows have extended a block */
  bool aligned;                    /* all live blocks begin and end at multiples of four pixels */
  uint64_t starts[3], ends[3];     /* first cells of live blocks, and cells after their last ones */
  vcs_streak_t own[VCS_OBJECTS];
  vcs_streak_t *streak[VCS_OBJECTS]; /* of each kind the present one: `own`, or the next entry of the log ... */
  vcs_streak_t *limit[VCS_OBJECTS];  /* ... up to this one; NULL: `own` */
  vcs_hues_t hues, row_hues;         /* of the playfield's streak, and of the row, if they have several pieces */
  vcs_pieces_t row;
  vcs_stance_t stance[VCS_OBJECTS][VCS_STANCES];
  vcs_live_t live[VCS_PF][VCS_LIVE_MAX];
  vcs_block_t block[VCS_WIDTH]; /* by first pixel */
  vcs_block_seen_t seen[VCS_WIDTH];
  uint32_t order[VCS_OBJECTS_MAX];
  vcs_object_t sprite[2][VCS_OBJECTS_MAX]; /* in the order in which they ended, of this and the last frame */
  vcs_object_t field[2][VCS_OBJECTS_MAX]; /* blocks in the order of the list, with those that no pixel shows (seen 0) */
} vcs_recorder_t;

#if defined(__CUDA_ARCH__)

#define VCS_HIGHEST_64(bits) (63 - __clzll((long long)(bits)))
#else

#define VCS_HIGHEST_64(bits) (63 - __builtin_clzll(bits))
#endif

/* The number of bits that are set; most processors that the library is compiled for have no instruction for it. */
#define VCS_ONES_1(b)                                                                                              \
  (((b)&1) + ((b) >> 1 & 1) + ((b) >> 2 & 1) + ((b) >> 3 & 1) + ((b) >> 4 & 1) + ((b) >> 5 & 1) + ((b) >> 6 & 1) + \
   ((b) >> 7))
#define VCS_ONES_4(b) VCS_ONES_1(b), VCS_ONES_1((b) + 1), VCS_ONES_1((b) + 2), VCS_ONES_1((b) + 3)
#define VCS_ONES_16(b) VCS_ONES_4(b), VCS_ONES_4((b) + 4), VCS_ONES_4((b) + 8), VCS_ONES_4((b) + 12)
#define VCS_ONES_64(b) VCS_ONES_16(b), VCS_ONES_16((b) + 16), VCS_ONES_16((b) + 32), VCS_ONES_16((b) + 48)
VCS_TABLE(uint8_t, vcs_ones_of_byte, 256, {VCS_ONES_64(0), VCS_ONES_64(64), VCS_ONES_64(128), VCS_ONES_64(192)})

VCS_FN int vcs_ones(uint64_t bits) {
  if (bits < 256) return vcs_ones_of_byte((unsigned)bits);
  bits -= bits >> 1 & 0x5555555555555555ULL;
  bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
  return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL >> 56);
}

/* Initializes a recorder. With `memory` it reuses objects of the last frame; NULL: it does not. */
VCS_FN void vcs_recorder_make(vcs_recorder_t *r, vcs_memory_t *memory) {
  r->memory = memory;
  r->turn = 0;
  r->made = false;
  for (int turn = 0; turn < 2 && memory; turn++) {
    vcs_log_t *log = &memory->log[turn];
    for (int i = 0; i < VCS_OBJECTS; i++) log->count[i] = log->passages[i] = 0;
  }
}

/* Starts to record a frame. The last frame whose objects were made becomes the one to reuse. */
VCS_FN void vcs_recorder_start(vcs_recorder_t *r) {
  if (r->memory && r->made) r->turn = !r->turn;
  r->made = false;
  r->log = r->memory ? &r->memory->log[r->turn] : NULL;
  r->logging = r->memory ? VCS_ALL_OBJECTS : 0;
  if (r->log) r->log->hues_count = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) {
    r->streak[i] = r->log ? r->log->entry[i] : &r->own[i];
    r->limit[i] = r->log ? &r->log->entry[i][VCS_ENTRIES] : NULL;
  }
  r->count = r->blocks = r->unseen = r->sprites = r->covered = 0;
  r->colour = -1;
  r->cell = 2;
  r->aligned = true;
  r->lit = r->on = r->partly = r->stirred = r->grouped = 0;
  r->unknown = VCS_ALL_OBJECTS;
  r->whole = false;
  r->common = 0;
  r->blank = -1;
  r->row_y = -1;
  r->field_end = 0;
  for (int w = 0; w < 3; w++) r->starts[w] = r->ends[w] = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) r->stances[i] = 0;
  for (int i = 0; i < VCS_PF; i++) r->lives[i] = r->recent[i][0] = r->recent[i][1] = r->recent[i][2] = 0;
}

/* `count` (at most 64) pixels of a line from pixel x on, the first in bit 0. */
VCS_FN uint64_t vcs_pixels_at(const uint64_t word[3], int x, int count) {
  int w = x >> 6, s = x & 63;
  uint64_t bits = word[w] >> s;
  if (s + count > 64 && w < 2) bits |= word[w + 1] << (64 - s);
  return count < 64 ? bits & ((1ULL << count) - 1) : bits;
}

/* Widens the columns of a box by the pixels `bits` from column `x` on. */
VCS_FN void vcs_box_widen(int16_t *left, int16_t *width, int x, uint64_t bits) {
  int from = x + VCS_LOWEST_64(bits), to = x + VCS_HIGHEST_64(bits) + 1;
  if (*width) {
    if (*left < from) from = *left;
    if (*left + *width > to) to = *left + *width;
  }
  *left = (int16_t)from;
  *width = (int16_t)(to - from);
}

/* ---- Players, missiles and balls -----------------------------------------------------------------------------------
 */

/* Adds `rows` equal rows to an object. The digest of its pattern takes pixels relative to the window, so that it does
 * not depend on the object's place. */
VCS_FN void vcs_live_extend(vcs_live_t *live, int rows, uint8_t colour, uint64_t bits, uint64_t shown) {
  vcs_object_t *o = &live->object;
  const uint32_t shade = (uint32_t)(bits ^ bits >> 32);
  const int ones = vcs_ones(bits);
  uint32_t pattern = o->pattern;
  o->rows = (int16_t)(o->rows + rows);
  o->pixels += rows * ones;
  for (int i = 0; i < rows; i++) {
    pattern = (pattern ^ shade) * 0x01000193u;
    pattern ^= pattern >> 15;
  }
  o->pattern = pattern;
  live->columns |= bits;
  if (!shown) return;
  if (o->seen == 0) {
    o->seen_y = (int16_t)(live->y + 1 - rows);
    o->colour = colour;
    o->colours = 1;
  } else if (o->colour != colour) {
    o->colours = (uint8_t)(o->colours + rows < 255 ? o->colours + rows : 255);
  }
  live->seen_end = (int16_t)(live->y + 1);
  o->seen += rows * (shown == bits ? ones : vcs_ones(shown));
  live->shown_columns |= shown;
}

/* Adds the last row to the object if it came in pieces. */
VCS_FN void vcs_live_commit(vcs_live_t *live) {
  if (live->pieces) vcs_live_extend(live, 1, live->colour, live->bits, live->shown);
  live->pieces = false;
}

/* Adds the columns of the present window to the boxes, when the window moves or the object ends. */
VCS_FN void vcs_live_widen(vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  if (live->columns) vcs_box_widen(&o->x, &o->w, live->window, live->columns);
  if (live->shown_columns) vcs_box_widen(&o->seen_x, &o->seen_w, live->window, live->shown_columns);
  live->columns = live->shown_columns = 0;
}

VCS_FN void vcs_record_object(vcs_recorder_t *r, const vcs_object_t *object) {
  if (r->sprites < VCS_OBJECTS_MAX) r->sprite[r->turn][r->sprites] = *object;
  r->sprites++;
}

/* Changes the object of one copy of a group into that of another copy, `by` pixels further right. */
VCS_FN void vcs_object_shift(vcs_object_t *object, int copy, int by) {
  object->copy = (uint8_t)copy;
  if (object->w) object->x = (int16_t)(object->x + by);
  if (object->seen_w) object->seen_x = (int16_t)(object->seen_x + by);
}

/* Ends an object. If any pixel of it was seen, it is recorded; a group is recorded as one object for each copy. */
VCS_SLOW_FN void vcs_live_end(vcs_recorder_t *r, vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  vcs_live_commit(live);
  if (!o->seen) return;
  vcs_live_widen(live);
  o->h = (int16_t)(live->y + 1 - o->y);
  o->seen_h = (int16_t)(live->seen_end - o->seen_y);
  vcs_record_object(r, o);
  if (!live->group) return;
  vcs_copies_t copies = vcs_copies(live->group);
  vcs_object_shift(o, 1, 16 * copies.second);
  vcs_record_object(r, o);
  if (!copies.third) return;
  vcs_object_shift(o, 2, 16 * (copies.third - copies.second));
  vcs_record_object(r, o);
}

/* Ends the live objects of a kind that row y cannot extend. */
VCS_SLOW_FN void vcs_live_expire(vcs_recorder_t *r, int kind, int y) {
  int kept = 0;
  for (int i = 0; i < r->lives[kind]; i++) {
    vcs_live_t *live = &r->live[kind][i];
    if (y - live->y > VCS_OBJECT_GAP + 1) {
      vcs_live_end(r, live);
    } else {
      if (kept != i) r->live[kind][kept] = *live;
      kept++;
    }
  }
  r->lives[kind] = (uint8_t)kept;
}

VCS_FN void vcs_object_clear(vcs_object_t *object, int kind, int size) {
  vcs_object_t none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0};
  *object = none;
  object->kind = (uint8_t)kind;
  object->size = (uint8_t)size;
}

/* The look of a player, missile or ball is everything but its pixels, as one number: position, NUSIZ (copies, and from
 * VCS_WIDTH_AT on the width of a missile or ball), colour, mirrored, and from VCS_COPY_COLOURS on the colours of the
 * other copies, XOR the first copy's. */
enum { VCS_WIDTH_AT = 12, VCS_COPY_COLOURS = 40 };
VCS_FN uint64_t vcs_look_of(const vcs_t *m, int kind, unsigned pos, unsigned nusiz, unsigned colour) {
  const uint64_t look = pos | (uint64_t)colour << 24;
  if (kind > VCS_P1) return look | (nusiz & 0x37) << 8;
  return look | (nusiz & 7) << 8 | (uint64_t)(m->reflect[kind] != 0) << 32;
}
VCS_FN vcs_copies_t vcs_look_copies(uint64_t look) { return vcs_copies(look >> 8 & 7); }

/* Begins a live object. If the kind has VCS_LIVE_MAX of them, the oldest ends. */
VCS_SLOW_FN vcs_live_t *vcs_live_begin(vcs_recorder_t *r, int kind, uint64_t look, int y, int copy) {
  vcs_live_t *all = r->live[kind];
  vcs_live_expire(r, kind, y);
  if (r->lives[kind] == VCS_LIVE_MAX) {
    vcs_live_end(r, &all[0]);
    for (int i = 1; i < VCS_LIVE_MAX; i++) all[i - 1] = all[i];
    r->lives[kind]--;
  }
  r->recent[kind][copy] = r->lives[kind];
  vcs_live_t *live = &all[r->lives[kind]++];
  vcs_object_clear(&live->object, kind,
                   kind <= VCS_P1 ? vcs_look_copies(look).stretch : 1 << (look >> VCS_WIDTH_AT & 3));
  live->object.y = (int16_t)y;
  live->object.copy = (uint8_t)copy;
  live->object.reflected = (uint8_t)(look >> 32 & 1);
  live->object.pattern = 0x811C9DC5u;
  live->group = 0;
  live->pieces = false;
  live->columns = live->shown_columns = 0;
  return live;
}

/* Splits the live group of a kind into one object for each copy, if row y may extend it. A kind with a live group has
 * no other live object. */
VCS_SLOW_FN void vcs_live_part(vcs_recorder_t *r, int kind, int y) {
  vcs_live_t *live = r->live[kind];
  r->grouped &= (uint8_t) ~(1u << kind);
  vcs_live_expire(r, kind, y);
  if (!r->lives[kind] || !live->group) return;
  vcs_copies_t copies = vcs_copies(live->group);
  live->group = 0;
  for (int copy = 1; copy <= 1 + (copies.third > 0); copy++) {
    const int by = 16 * (copy == 1 ? copies.second : copies.third);
    live[copy] = *live;
    live[copy].window = (int16_t)(live->window + by);
    vcs_object_shift(&live[copy].object, copy, by);
    r->recent[kind][copy] = r->lives[kind]++;
  }
}

/* Whether row y may extend an object whose window is at this distance. */
VCS_FN bool vcs_live_reaches(const vcs_live_t *live, int y, int distance) {
  return y - live->y <= VCS_OBJECT_GAP + 1 && distance < (live->y < y - 1 ? VCS_GAP_SHIFT : VCS_OBJECT_SHIFT);
}

/* Returns the live object that a window of row y extends: the nearest one; NULL: none is near enough. */
VCS_SLOW_FN vcs_live_t *vcs_live_search(vcs_recorder_t *r, int kind, int copy, int y, int window) {
  vcs_live_t *best = NULL;
  int nearest = VCS_OBJECT_SHIFT;
  for (int i = 0; i < r->lives[kind]; i++) {
    vcs_live_t *live = &r->live[kind][i];
    const int distance = window > live->window ? window - live->window : live->window - window;
    if (live->y == y && distance) continue; /* another copy in the same row */
    if (distance < nearest && vcs_live_reaches(live, y, distance)) {
      nearest = distance;
      best = live;
      r->recent[kind][copy] = (uint8_t)i;
    }
  }
  return best;
}

/* The same, trying the object that the copy extended last. Two live objects of a kind never have the same window. */
VCS_FN vcs_live_t *vcs_live_find(vcs_recorder_t *r, int kind, int copy, int y, int window) {
  const int guess = r->recent[kind][copy];
  vcs_live_t *live = &r->live[kind][guess];
  if (guess < r->lives[kind] && live->window == window && y - live->y <= VCS_OBJECT_GAP + 1) return live;
  return vcs_live_search(r, kind, copy, y, window);
}

/* Adds `rows` equal rows from y on to a live object. */
VCS_FN void vcs_live_add(vcs_live_t *live, int y, int rows, uint8_t colour, int window, uint64_t bits, uint64_t shown) {
  vcs_live_commit(live);
  if (live->window != window) {
    vcs_live_widen(live);
    live->window = (int16_t)window;
  }
  live->y = (int16_t)(y + rows - 1);
  vcs_live_extend(live, rows, colour, bits, shown);
}

/* The same for a piece of row y. */
VCS_SLOW_FN void vcs_live_add_piece(vcs_live_t *live, int y, uint8_t colour, int window, uint64_t bits,
                                    uint64_t shown) {
  if (!live->pieces || live->y != y) {
    vcs_live_commit(live);
    if (live->window != window) vcs_live_widen(live);
    live->window = (int16_t)window;
    live->y = (int16_t)y;
    live->bits = live->shown = 0;
    live->pieces = true;
  }
  if (!live->shown) live->colour = colour; /* what the row showed so far was covered */
  live->bits |= bits;
  live->shown |= shown;
}

/* Adds the pixels of one window of a player, missile or ball: of equal rows, or of a piece of one row (rows 0). */
VCS_FN void vcs_record_sprite(vcs_recorder_t *r, int kind, uint64_t look, int y, int rows, int copy, uint8_t colour,
                              int window, uint64_t bits, uint64_t shown) {
  vcs_live_t *live = vcs_live_find(r, kind, copy, y, window);
  if (!live) live = vcs_live_begin(r, kind, look, y, copy);
  if (rows) {
    vcs_live_add(live, y, rows, colour, window, bits, shown);
  } else {
    vcs_live_add_piece(live, y, colour, window, bits, shown);
  }
}

/* Returns the live group that the copies of NUSIZ `group` in row y extend; `window` is their first window. NULL: there
 * is none, or row y may extend another object of the kind. Sets *none if row y may extend no object of the kind. */
VCS_SLOW_FN vcs_live_t *vcs_group_search(vcs_recorder_t *r, int kind, int y, int window, unsigned group, bool *none) {
  vcs_live_t *found = NULL;
  *none = true;
  for (int i = 0; i < r->lives[kind]; i++) {
    vcs_live_t *live = &r->live[kind][i];
    if (y - live->y > VCS_OBJECT_GAP + 1) continue;
    const int distance = window > live->window ? window - live->window : live->window - window;
    *none = false;
    if (found || live->group != group || live->y >= y || !vcs_live_reaches(live, y, distance)) return NULL;
    found = live;
    r->recent[kind][0] = (uint8_t)i;
  }
  return found;
}

/* Adds the pixels of all copies as those of one group. Returns false if the copies differ, pass the right edge, or may
 * extend single objects of the kind. All lit pixels are seen. */
VCS_FN bool vcs_record_group(vcs_recorder_t *r, int kind, uint64_t look, int y, int rows, int window, int width,
                             const uint64_t lit[3]) {
  const unsigned group = look >> 8 & 7;
  const vcs_copies_t copies = vcs_copies(group);
  const int second = window + 16 * copies.second, third = window + 16 * copies.third;
  if ((third > second ? third : second) + width > VCS_WIDTH) return false;
  const uint64_t bits = vcs_pixels_at(lit, window, width);
  if (!bits || vcs_pixels_at(lit, second, width) != bits) return false;
  if (copies.third && vcs_pixels_at(lit, third, width) != bits) return false;
  vcs_live_t *live = &r->live[kind][r->recent[kind][0]];
  if (r->recent[kind][0] >= r->lives[kind] || live->group != group || live->window != window || live->y != y - 1) {
    bool none;
    live = vcs_group_search(r, kind, y, window, group, &none);
    if (!live && !none) return false;
    if (!live) {
      live = vcs_live_begin(r, kind, look, y, 0);
      live->group = (uint8_t)group;
      r->grouped |= (uint8_t)(1u << kind);
    }
  }
  vcs_live_add(live, y, rows, (uint8_t)(look >> 24), window, bits, bits);
  return true;
}

/* NUSIZ of a player or missile; the ball's size is at the same place in CTRLPF. */
VCS_FN uint8_t vcs_nusiz_of(const vcs_t *m, int kind) {
  return (uint8_t)(kind == VCS_BL ? m->ctrlpf & 0x30 : m->nusiz[kind & 1]);
}

VCS_FN uint8_t vcs_colour_of(const vcs_t *m, int kind) {
  return m->colu[kind >= VCS_BL ? VCS_COLUPF : kind & 1 ? VCS_COLUP1 : VCS_COLUP0];
}

/* The width of a window. */
VCS_FN int vcs_window_of(int kind, vcs_copies_t copies) {
  return kind <= VCS_P1 ? 8 * copies.stretch + (copies.stretch > 1) : 8;
}

/* Adds the pixels of a player, missile or ball in all its windows, in some equal rows or a piece of one (0). A window
 * that passes the right edge is two. All lit pixels are seen if `shown` is NULL. */
VCS_FN void vcs_record_windows(vcs_recorder_t *r, int kind, uint64_t look, int y, int rows, const uint64_t *lit,
                               const uint64_t *shown) {
  const vcs_copies_t copies = vcs_look_copies(look);
  const int pos = (int)(look & 255), width = vcs_window_of(kind, copies);
  uint8_t colour = (uint8_t)(look >> 24);
  if (copies.second && !shown && !(look >> VCS_COPY_COLOURS) &&
      vcs_record_group(r, kind, look, y, rows, pos, width, lit))
    return;
  if (r->grouped >> kind & 1) vcs_live_part(r, kind, y);
  for (int copy = 0, window = pos;;) {
    if (window >= VCS_WIDTH) window -= VCS_WIDTH;
    const int first = window + width > VCS_WIDTH ? VCS_WIDTH - window : width;
    uint64_t bits = vcs_pixels_at(lit, window, first);
    if (bits)
      vcs_record_sprite(r, kind, look, y, rows, copy, colour, window, bits,
                        shown ? vcs_pixels_at(shown, window, first) : bits);
    if (VCS_UNLIKELY(first < width)) {
      bits = vcs_pixels_at(lit, 0, width - first);
      if (bits)
        vcs_record_sprite(r, kind, look, y, rows, copy, colour, 0, bits,
                          shown ? vcs_pixels_at(shown, 0, width - first) : bits);
    }
    const int next = copy == 0 ? copies.second : copy == 1 ? copies.third : 0;
    if (!next) return;
    colour = (uint8_t)(look >> 24 ^ look >> (VCS_COPY_COLOURS + 8 * copy));
    copy++;
    window = pos + 16 * next;
  }
}

/* ---- The playfield -------------------------------------------------------------------------------------------------
 */

/* Lists a block that ends before row `end`, unless the list is full. A full list must not be replaced by a local object
 * here: nvcc 13.0 then dropped the stores to both (tests/ptx_to_c.py). */
VCS_FN void vcs_block_end(vcs_recorder_t *r, const vcs_block_t *block, int end) {
  const vcs_block_seen_t *seen = &r->seen[block->x];
  const int w = block->w, h = end - block->y;
  if (VCS_UNLIKELY(block->covered)) {
    r->covered--;
    if (!seen->seen) r->unseen++;
  }
  if (VCS_UNLIKELY(block->place >= VCS_OBJECTS_MAX)) return;
  vcs_object_t *o = &r->field[r->turn][block->place];
  vcs_object_clear(o, VCS_PF, 4);
  o->x = o->seen_x = block->x;
  o->y = o->seen_y = block->y;
  o->w = o->seen_w = (int16_t)w;
  o->h = o->seen_h = o->rows = (int16_t)h;
  o->pixels = o->seen = h * w;
  o->colour = block->colour;
  o->colours = 1;
  o->pattern = ((uint32_t)w << 16 | (uint32_t)h) * 0x9E3779B1u;
  if (VCS_UNLIKELY(block->covered)) {
    o->seen_x = seen->x;
    o->seen_y = seen->y;
    o->seen_w = seen->w;
    o->seen_h = seen->h;
    o->seen = seen->seen;
  }
}

/* Notes what is seen of a block in rows [y, end): the pixels `shown`. */
VCS_SLOW_FN void vcs_block_see(vcs_recorder_t *r, vcs_block_t *block, int y, int end, const uint64_t shown[3]) {
  vcs_block_seen_t *seen = &r->seen[block->x];
  int ones = 0, to = block->x + block->w;
  for (int at = block->x; at < to; at += 64) ones += vcs_ones(vcs_pixels_at(shown, at, to - at < 64 ? to - at : 64));
  if (ones == block->w && !block->covered) return;
  if (!block->covered) {
    block->covered = true;
    r->covered++;
    seen->x = block->x;
    seen->y = block->y;
    seen->w = y > block->y ? block->w : 0;
    seen->h = (int16_t)(y - block->y);
    seen->seen = seen->h * block->w;
  }
  if (!ones) return;
  for (int at = block->x; at < to; at += 64) {
    uint64_t bits = vcs_pixels_at(shown, at, to - at < 64 ? to - at : 64);
    if (bits) vcs_box_widen(&seen->x, &seen->w, at, bits);
  }
  if (!seen->seen) seen->y = (int16_t)y;
  seen->h = (int16_t)(end - seen->y);
  seen->seen += (end - y) * ones;
}

/* Return the first cell of a set after `at`, and the last one before `at`. There must be one. */
VCS_HOT_FN int vcs_next_cell(const uint64_t set[3], int words, int at) {
  int w = ++at >> 6;
  uint64_t bits = set[w] >> (at & 63) << (at & 63);
  while (words > 1 && !bits) bits = set[++w];
  return 64 * w + VCS_LOWEST_64(bits);
}
VCS_HOT_FN int vcs_last_cell(const uint64_t set[3], int words, int at) {
  int w = --at >> 6;
  uint64_t bits = set[w] << (63 - (at & 63)) >> (63 - (at & 63));
  while (words > 1 && !bits) bits = set[--w];
  return 64 * w + VCS_HIGHEST_64(bits);
}

/* Whether a mask has any of `count` pixels from x on. */
VCS_FN bool vcs_has_pixels(const uint64_t mask[3], int x, int count) {
  for (; count > 64; x += 64, count -= 64) {
    if (vcs_pixels_at(mask, x, 64)) return true;
  }
  return vcs_pixels_at(mask, x, count) != 0;
}

VCS_FN uint8_t vcs_hue_at(const vcs_hues_t *hues, int x) {
  int i = hues->count - 1;
  while (i > 0 && hues->from[i].x > x) i--;
  return hues->from[i].colour;
}

/* Ends and begins blocks before row y. `lit` has the cells of 1 << cell pixels that are lit from row y on, in `words`
 * words; `breaks` has the cells at which another colour begins. A run of lit cells extends a block that has the same
 * ends and colour.
 */
VCS_HOT_FN void vcs_blocks_turn(vcs_recorder_t *r, int y, const uint64_t *lit, const uint64_t *breaks,
                                const vcs_hues_t *hues, int words, int cell) {
  uint64_t starts[3], ends[3], other[3] = {0, 0, 0}, before = 0, common = 0, differ = 0;
  const int colour = hues->count == 1 ? hues->from[0].colour : -1;
  for (int w = 0; w < words; w++) {
    const uint64_t left = lit[w] << 1 | before;
    starts[w] = lit[w] & (~left | breaks[w]);
    ends[w] = left & (~lit[w] | breaks[w]);
    before = lit[w] >> 63;
    common |= starts[w] & r->starts[w];
    differ |= ends[w] ^ r->ends[w];
  }
  if (common && VCS_UNLIKELY(colour < 0 || colour != r->colour)) { /* blocks of another colour than the run */
    for (int w = 0; w < words; w++) {
      for (uint64_t left = starts[w] & r->starts[w]; left; left &= left - 1) {
        const int x = (64 * w + VCS_LOWEST_64(left)) << cell;
        if (r->block[x].colour != vcs_hue_at(hues, x)) other[w] |= left & (0 - left);
      }
    }
  }
  if (common && differ) { /* blocks that have another end than the run */
    for (int w = 0; w < words; w++) {
      for (uint64_t left = ends[w] ^ r->ends[w]; left; left &= left - 1) {
        const int end = 64 * w + VCS_LOWEST_64(left);
        const int start = vcs_last_cell(left & (0 - left) & ends[w] ? starts : r->starts, words, end);
        other[start >> 6] |= 1ULL << (start & 63);
      }
    }
  }
  r->goes_on = false;
  for (int w = 0; w < words; w++) {
    r->goes_on |= (r->starts[w] & starts[w] & ~other[w]) != 0;
    for (uint64_t left = r->starts[w] & (~starts[w] | other[w]); left; left &= left - 1)
      vcs_block_end(r, &r->block[(64 * w + VCS_LOWEST_64(left)) << cell], r->field_end);
  }
  for (int w = 0; w < words; w++) {
    for (uint64_t left = starts[w] & (~r->starts[w] | other[w]); left; left &= left - 1) {
      const int start = 64 * w + VCS_LOWEST_64(left), x = start << cell;
      vcs_block_t *block = &r->block[x];
      block->x = (uint8_t)x;
      block->w = (uint8_t)((vcs_next_cell(ends, words, start) - start) << cell);
      block->colour = colour < 0 ? vcs_hue_at(hues, x) : (uint8_t)colour;
      block->covered = false;
      block->y = (int16_t)y;
      block->place = (int16_t)r->blocks++;
    }
    r->starts[w] = starts[w];
    r->ends[w] = ends[w];
  }
  r->colour = colour;
}

/* Ends all live blocks. */
VCS_SLOW_FN void vcs_blocks_end(vcs_recorder_t *r) {
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w]; left; left &= left - 1)
      vcs_block_end(r, &r->block[(64 * w + VCS_LOWEST_64(left)) << r->cell], r->field_end);
    r->starts[w] = r->ends[w] = 0;
  }
}

/* Converts `starts` and `ends` to cells of another size. */
VCS_SLOW_FN void vcs_blocks_resize(vcs_recorder_t *r, int cell) {
  uint64_t starts[3] = {0, 0, 0}, ends[3] = {0, 0, 0};
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w]; left; left &= left - 1) {
      const vcs_block_t *block = &r->block[(64 * w + VCS_LOWEST_64(left)) << r->cell];
      const int start = block->x >> cell, end = (block->x + block->w) >> cell;
      starts[start >> 6] |= 1ULL << (start & 63);
      ends[end >> 6] |= 1ULL << (end & 63);
    }
  }
  for (int w = 0; w < 3; w++) {
    r->starts[w] = starts[w];
    r->ends[w] = ends[w];
  }
  r->cell = cell;
}

/* Returns the lowest bit of each of the sixteen groups of four bits. */
VCS_FN uint64_t vcs_fourths(uint64_t bits) {
  bits &= 0x1111111111111111ULL;
  bits = (bits | bits >> 3) & 0x0303030303030303ULL;
  bits = (bits | bits >> 6) & 0x000F000F000F000FULL;
  return (bits * 0x0001001001001000ULL) >> 48;
}

/* Adds rows [y, end) of the playfield, which are equal: each run of lit pixels of one colour extends the block above it
 * or begins a new one. Blocks that are not extended end. Nearly always all runs begin and end at multiples of four
 * pixels, and then a row is one word of 40 cells. All lit pixels are seen if `shown` is NULL. */
VCS_SLOW_FN void vcs_blocks_add(vcs_recorder_t *r, const vcs_hues_t *hues, int y, int end, const uint64_t lit[3],
                                const uint64_t *shown) {
  uint64_t breaks[3] = {0, 0, 0}, edges = (lit[0] ^ lit[0] >> 1) | (lit[1] ^ lit[1] >> 1) | (lit[2] ^ lit[2] >> 1);
  if (r->field_end != y) vcs_blocks_end(r);
  r->field_end = (int16_t)y;
  for (int i = 1; i < hues->count; i++) {
    const int x = hues->from[i].x;
    if (vcs_pixels_at(lit, x - 1, 2) != 3) continue;
    breaks[x >> 6] |= 1ULL << (x & 63);
    if (x & 3) edges = ~0ULL;
  }
  const bool aligned = !(edges & 0x7777777777777777ULL);
  const int cell = aligned && r->aligned ? 2 : 0;
  if (VCS_UNLIKELY(cell != r->cell)) vcs_blocks_resize(r, cell);
  r->aligned = aligned;
  if (cell) {
    const uint64_t cells = vcs_fourths(lit[0]) | vcs_fourths(lit[1]) << 16 | vcs_fourths(lit[2]) << 32;
    uint64_t broken = 0;
    if (hues->count > 1) broken = vcs_fourths(breaks[0]) | vcs_fourths(breaks[1]) << 16 | vcs_fourths(breaks[2]) << 32;
    vcs_blocks_turn(r, y, &cells, &broken, hues, 1, 2);
  } else {
    vcs_blocks_turn(r, y, lit, breaks, hues, 3, 0);
  }
  r->field_end = (int16_t)end;
  if (!shown && !r->covered) return;
  uint64_t hidden[3] = {0, 0, 0};
  if (!shown) shown = lit;
  for (int w = 0; w < 3; w++) hidden[w] = lit[w] ^ shown[w];
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w]; left; left &= left - 1) {
      vcs_block_t *block = &r->block[(64 * w + VCS_LOWEST_64(left)) << cell];
      if (block->covered || vcs_has_pixels(hidden, block->x, block->w)) vcs_block_see(r, block, y, end, shown);
    }
  }
}

/* The look of the playfield is everything but its pixels: the colours of its halves, or VCS_HUES if it has more
 * colours. */
#define VCS_HUES (1ULL << 63)
VCS_FN uint64_t vcs_field_look(unsigned left, unsigned right) { return (uint64_t)left << 24 | (uint64_t)right << 32; }

/* Whether the playfield has the colours of the players. */
VCS_FN bool vcs_is_scored(const vcs_t *m, unsigned ctrlpf) {
  return (ctrlpf & 2) && (!(ctrlpf & 4) || vcs_objects_on(m) == 1u << VCS_PF);
}

/* Adds equal rows [y, end) of the playfield. `hues` are its colours if its look is VCS_HUES. */
VCS_FN void vcs_field_add(vcs_recorder_t *r, uint64_t look, const vcs_hues_t *hues, int y, int end, const uint64_t *lit,
                          const uint64_t *shown) {
  vcs_hues_t halves;
  if (!(look & VCS_HUES)) {
    halves.from[0].x = 0;
    halves.from[0].colour = (uint8_t)(look >> 24);
    halves.from[1].x = VCS_WIDTH / 2;
    halves.from[1].colour = (uint8_t)(look >> 32);
    halves.count = halves.from[0].colour == halves.from[1].colour ? 1 : 2;
    hues = &halves;
  }
  vcs_blocks_add(r, hues, y, end, lit, shown);
}

/* ---- The log -------------------------------------------------------------------------------------------------------
 */

VCS_FN int vcs_streak_y(const vcs_streak_t *streak) { return (int16_t)streak->span; }
VCS_FN int vcs_streak_rows(const vcs_streak_t *streak) { return (int)(streak->span >> 16 & 0xFFFF); }

/* Adds streaks of a kind that have ended to its objects; a streak of 0 rows is a piece of a row. */
VCS_SLOW_FN void vcs_streaks_add(vcs_recorder_t *r, int kind, const vcs_streak_t *streak, int count) {
  for (int i = 0; i < count; i++, streak++) {
    const int y = vcs_streak_y(streak), rows = vcs_streak_rows(streak);
    const uint64_t *shown = streak->span & VCS_PARTLY ? streak->shown.word : NULL;
    if (kind == VCS_PF) {
      const int kept = (int)(streak->look & 0xFF);
      const vcs_hues_t *hues = kept ? &r->log->hues[kept - 1] : &r->hues;
      vcs_field_add(r, streak->look, hues, y, y + rows, streak->lit.word, shown);
    } else {
      vcs_record_windows(r, kind, streak->look, y, rows, streak->lit.word, shown);
    }
  }
}

/* Stops logging a kind whose streaks no longer fit in the log: all are added to its objects, those to come as soon as
 * they end. */
VCS_SLOW_FN void vcs_log_stop(vcs_recorder_t *r, int kind) {
  const vcs_streak_t *entry = r->log->entry[kind];
  r->logging &= (uint8_t) ~(1u << kind);
  vcs_streaks_add(r, kind, entry, (int)(r->streak[kind] - entry));
  r->streak[kind] = &r->own[kind];
  r->limit[kind] = NULL;
}

VCS_FN bool vcs_are_same_hues(const vcs_hues_t *a, const vcs_hues_t *b) {
  bool same = a->count == b->count;
  for (int i = 0; i < a->count && same; i++)
    same = a->from[i].x == b->from[i].x && a->from[i].colour == b->from[i].colour;
  return same;
}

VCS_FN void vcs_hues_copy(vcs_hues_t *to, const vcs_hues_t *from) {
  to->count = from->count;
  for (int i = 0; i < from->count; i++) to->from[i] = from->from[i];
}

/* Keeps the colours of a streak of the playfield; they are often those of the streak before it. */
VCS_SLOW_FN void vcs_log_hues(vcs_recorder_t *r, vcs_streak_t *streak) {
  vcs_log_t *log = r->log;
  if (!log->hues_count || !vcs_are_same_hues(&log->hues[log->hues_count - 1], &r->hues))
    vcs_hues_copy(&log->hues[log->hues_count++], &r->hues);
  streak->look |= (unsigned)log->hues_count;
}

/* vcs_streak_done for a streak that has several colours, is the last for which the log has room, or is not logged. */
VCS_SLOW_FN void vcs_streak_done_slowly(vcs_recorder_t *r, int kind) {
  vcs_streak_t *streak = r->streak[kind];
  if (!r->limit[kind]) {
    vcs_streaks_add(r, kind, streak, 1);
    return;
  }
  if (streak->look & VCS_HUES) vcs_log_hues(r, streak);
  r->streak[kind]++;
  if (r->streak[kind] == r->limit[kind] || (kind == VCS_PF && r->log->hues_count == VCS_HUES_KEPT))
    vcs_log_stop(r, kind);
}

/* Ends the present streak of an object after `rows` rows: logs it, or adds it to the objects. Returns the next
 * streak. */
VCS_FN vcs_streak_t *vcs_streak_done(vcs_recorder_t *r, int kind, int rows) {
  vcs_streak_t *streak = r->streak[kind];
  streak->span |= (uint64_t)(unsigned)rows << 16;
  if (VCS_LIKELY(streak + 1 < r->limit[kind]) && VCS_LIKELY(!(streak->look & VCS_HUES))) {
    r->streak[kind] = ++streak;
    return streak;
  }
  vcs_streak_done_slowly(r, kind);
  return r->streak[kind];
}

VCS_FN bool vcs_is_same(const uint64_t a[3], const uint64_t b[3]) {
  return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]));
}

/* Whether `count` streaks are equal to those of the last frame from number `first` on. */
VCS_FN bool vcs_are_equal(const vcs_streak_t *a, const vcs_streak_t *last, int first, int count) {
  const vcs_streak_t *b = &last[first];
  for (int i = 0; i < count; i++) {
    if (a[i].span >> VCS_LAST_AT == (unsigned)(first + i + 1)) continue;
    if ((a[i].look ^ b[i].look) | ((a[i].span ^ b[i].span) & VCS_SPAN)) return false;
    if (!vcs_is_same(a[i].lit.word, b[i].lit.word)) return false;
    if (a[i].span & VCS_PARTLY && !vcs_is_same(a[i].shown.word, b[i].shown.word)) return false;
  }
  return true;
}

/* Returns the end of the passage that begins with streak `from`: no object can extend from it into later streaks. Sets
 * *end to the row after its last one. */
VCS_FN int vcs_passage_end(const vcs_streak_t *entry, int from, int count, int *end) {
  *end = 0;
  for (; from < count; from++) {
    const int y = vcs_streak_y(&entry[from]), rows = vcs_streak_rows(&entry[from]);
    if (*end && y > *end + VCS_OBJECT_GAP) break;
    if (y + (rows ? rows : 1) > *end) *end = y + (rows ? rows : 1);
  }
  return from;
}

/* Ends all live objects of a kind. */
VCS_FN void vcs_live_end_all(vcs_recorder_t *r, int kind) {
  for (int i = 0; i < r->lives[kind]; i++) vcs_live_end(r, &r->live[kind][i]);
  r->lives[kind] = 0;
}

/* Notes that streaks [from, to) are a passage and became objects [first, end). */
VCS_FN void vcs_passage_add(vcs_log_t *log, int kind, int from, int to, int32_t first, int32_t end, int32_t unseen,
                            int row) {
  const vcs_passage_t passage = {(int16_t)from,          (int16_t)(to - from), (int16_t)first,
                                 (int16_t)(end - first), (int16_t)unseen,      (int16_t)row};
  if (to > from && end <= VCS_OBJECTS_MAX) log->passage[kind][log->passages[kind]++] = passage;
}

/* The first passage of a kind from number `old` on that does not begin above row y. */
VCS_FN int vcs_passage_next(const vcs_log_t *last, int kind, int old, int y) {
  while (old < last->passages[kind] && vcs_streak_y(&last->entry[kind][last->passage[kind][old].entry]) < y) old++;
  return old;
}

/* Copies objects between arrays that do not overlap. */
VCS_FN void vcs_objects_copy(vcs_object_t *to, const vcs_object_t *from, int32_t count) {
#if defined(__CUDA_ARCH__)
  for (int32_t i = 0; i < count; i++) to[i] = from[i];
#else /* the bytes of four objects in eleven words of 16 bytes */
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) __builtin_memcpy(&to[i], &from[i], 4 * sizeof *to);
  for (; i < count; i++) to[i] = from[i];
#endif
}

/* Whether the streaks of a player, missile or ball from number `from` on are equal to passage `was` of the last
 * frame. */
VCS_FN bool vcs_passage_repeats(const vcs_log_t *now, const vcs_log_t *last, int kind, int from,
                                const vcs_passage_t *was) {
  const vcs_streak_t *entry = &now->entry[kind][from];
  const int more = now->count[kind] - from - was->entries;
  return more >= 0 && vcs_are_equal(entry, last->entry[kind], was->entry, was->entries) &&
         (more == 0 || vcs_streak_y(&entry[was->entries]) > was->end + VCS_OBJECT_GAP);
}

/* Makes objects from the streaks of a player, missile or ball, passage by passage. If a passage is equal to one of the
 * last frame, its objects are copied. */
VCS_SLOW_FN void vcs_log_sprites(vcs_recorder_t *r, int kind) {
  vcs_log_t *now = r->log;
  const vcs_log_t *last = &r->memory->log[!r->turn];
  const vcs_streak_t *entry = now->entry[kind];
  for (int from = 0, to, old = 0, end; from < now->count[kind]; from = to) {
    const int32_t first = r->sprites;
    old = vcs_passage_next(last, kind, old, vcs_streak_y(&entry[from]));
    const vcs_passage_t *was = &last->passage[kind][old];
    if (old < last->passages[kind] && first + was->objects <= VCS_OBJECTS_MAX &&
        vcs_passage_repeats(now, last, kind, from, was)) {
      to = from + was->entries;
      end = was->end;
      vcs_objects_copy(&r->sprite[r->turn][first], &r->sprite[!r->turn][was->object], was->objects);
      r->sprites += was->objects;
    } else {
      to = vcs_passage_end(entry, from, now->count[kind], &end);
      vcs_streaks_add(r, kind, &entry[from], to - from);
      vcs_live_end_all(r, kind);
    }
    vcs_passage_add(now, kind, from, to, first, r->sprites, 0, end);
  }
}

/* Whether a streak of the playfield is equal to number j of the last frame. */
VCS_FN bool vcs_is_same_field(const vcs_log_t *now, const vcs_log_t *last, const vcs_streak_t *a, int j) {
  const vcs_streak_t *b = &last->entry[VCS_PF][j];
  if (a->span >> VCS_LAST_AT) return a->span >> VCS_LAST_AT == (unsigned)(j + 1);
  if (!(a->look & b->look & VCS_HUES)) return vcs_are_equal(a, last->entry[VCS_PF], j, 1);
  vcs_streak_t alike = *a;
  alike.look = b->look; /* the numbers of their colours may differ */
  return vcs_are_same_hues(&now->hues[(a->look & 0xFF) - 1], &last->hues[(b->look & 0xFF) - 1]) &&
         vcs_are_equal(&alike, last->entry[VCS_PF], j, 1);
}

/* Finds for each streak of the playfield the number of the equal one in the last frame, or -1. */
VCS_SLOW_FN void vcs_field_match(const vcs_log_t *now, const vcs_log_t *last, int16_t match[VCS_ENTRIES + 1]) {
  const vcs_streak_t *a = now->entry[VCS_PF], *b = last->entry[VCS_PF];
  for (int i = 0, j = 0; i < now->count[VCS_PF]; i++) {
    while (j < last->count[VCS_PF] && vcs_streak_y(&b[j]) < vcs_streak_y(&a[i])) j++;
    const bool same = j < last->count[VCS_PF] && vcs_is_same_field(now, last, &a[i], j);
    match[i] = (int16_t)(same ? j : -1);
  }
}

/* Whether no block extends from streak i - 1 into streak i, given that none did from j - 1 into j in the last frame.
 */
VCS_FN bool vcs_field_parts(const vcs_log_t *now, const int16_t *match, int i, int j) {
  const vcs_streak_t *a = now->entry[VCS_PF];
  if (i == 0 || i == now->count[VCS_PF] || (match[i - 1] == j - 1 && match[i] == j)) return true;
  return vcs_streak_y(&a[i]) != vcs_streak_y(&a[i - 1]) + vcs_streak_rows(&a[i - 1]);
}

/* Whether the streaks of the playfield from number i on are equal to passage `was` of the last frame. */
VCS_FN bool vcs_field_repeats(const vcs_log_t *now, const int16_t *match, int i, const vcs_passage_t *was) {
  if (match[i] != was->entry || was->entries > now->count[VCS_PF] - i) return false;
  for (int k = 1; k < was->entries; k++) {
    if (match[i + k] != was->entry + k) return false;
  }
  return vcs_field_parts(now, match, i, was->entry) &&
         vcs_field_parts(now, match, i + was->entries, was->entry + was->entries);
}

/* Makes blocks from the streaks of the playfield. Where a passage ends is known only after its blocks are made. */
VCS_SLOW_FN void vcs_log_field(vcs_recorder_t *r) {
  vcs_log_t *now = r->log;
  const vcs_log_t *last = &r->memory->log[!r->turn];
  const vcs_streak_t *entry = now->entry[VCS_PF];
  const int count = now->count[VCS_PF];
  int16_t match[VCS_ENTRIES + 1];
  int32_t first = 0, unseen = 0;
  int from = 0, old = 0;
  vcs_field_match(now, last, match);
  for (int i = 0; i < count;) {
    const vcs_passage_t *was = &last->passage[VCS_PF][old];
    while (match[i] >= 0 && old < last->passages[VCS_PF] && was->entry < match[i]) was = &last->passage[VCS_PF][++old];
    if (old < last->passages[VCS_PF] && vcs_field_repeats(now, match, i, was) &&
        r->blocks + was->objects <= VCS_OBJECTS_MAX) {
      if (from < i) {
        vcs_blocks_end(r);
        vcs_passage_add(now, VCS_PF, from, i, first, r->blocks, r->unseen - unseen, 0);
      }
      first = r->blocks;
      vcs_objects_copy(&r->field[r->turn][first], &r->field[!r->turn][was->object], was->objects);
      r->blocks += was->objects;
      r->unseen += was->unseen;
      vcs_passage_add(now, VCS_PF, i, i + was->entries, first, r->blocks, was->unseen, 0);
      i += was->entries;
      from = i;
      first = r->blocks;
      unseen = r->unseen;
    } else {
      const int32_t before = r->blocks;
      vcs_streaks_add(r, VCS_PF, &entry[i], 1);
      if (!r->goes_on) {
        vcs_passage_add(now, VCS_PF, from, i, first, before, r->unseen - unseen, 0);
        from = i;
        first = before;
        unseen = r->unseen;
      }
      i++;
    }
  }
  vcs_blocks_end(r);
  vcs_passage_add(now, VCS_PF, from, count, first, r->blocks, r->unseen - unseen, 0);
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------
 */

/* Ends the streak of an object before row y. */
VCS_FN void vcs_streak_end(vcs_recorder_t *r, int kind, int y) {
  r->on &= (uint8_t) ~(1u << kind);
  r->partly &= (uint8_t) ~(1u << kind);
  vcs_streak_done(r, kind, y - vcs_streak_y(r->streak[kind]));
}

/* Adds a whole row of an object that is not covered: the row extends its streak, or ends the streak and begins
 * another. */
VCS_FN void vcs_streak_row(vcs_recorder_t *r, int kind, uint64_t look, int y, const uint64_t *lit) {
  const unsigned bit = 1u << kind;
  vcs_streak_t *streak = r->streak[kind];
  if (r->on & bit) {
    if (streak->look == look && vcs_is_same(streak->lit.word, lit) && !(r->partly & bit)) return;
    r->partly &= (uint8_t)~bit;
    streak = vcs_streak_done(r, kind, y - vcs_streak_y(streak));
  }
  r->on |= (uint8_t)bit;
  streak->look = look;
  streak->span = (unsigned)y;
  for (int w = 0; w < 3; w++) streak->lit.word[w] = lit[w];
}

/* The same for an object of which the pixels `hidden` are covered; NULL: none are. */
VCS_SLOW_FN void vcs_streak_row_covered(vcs_recorder_t *r, int kind, uint64_t look, int y, const uint64_t *lit,
                                        const uint64_t *hidden) {
  const uint64_t none[3] = {0, 0, 0}, *out = hidden ? hidden : none;
  const uint64_t shown[3] = {lit[0] & ~out[0], lit[1] & ~out[1], lit[2] & ~out[2]};
  if (vcs_is_same(shown, lit)) {
    vcs_streak_row(r, kind, look, y, lit);
    return;
  }
  vcs_streak_t *streak = r->streak[kind];
  if (r->on >> kind & 1) {
    if (r->partly >> kind & 1 && streak->look == look && vcs_is_same(streak->lit.word, lit) &&
        vcs_is_same(streak->shown.word, shown))
      return;
    streak = vcs_streak_done(r, kind, y - vcs_streak_y(streak));
  }
  streak->look = look;
  streak->span = (unsigned)y | VCS_PARTLY;
  for (int w = 0; w < 3; w++) streak->lit.word[w] = lit[w];
  for (int w = 0; w < 3; w++) streak->shown.word[w] = shown[w];
  r->on |= (uint8_t)(1u << kind);
  r->partly |= (uint8_t)(1u << kind);
}

/* Notes the stance of an object before it changes at pixel x of the row. */
VCS_FN void vcs_record_stance(const vcs_t *m, vcs_recorder_t *r, int kind, int x) {
  if (kind == VCS_PF) return;
  const vcs_stance_t now = {m->pos[kind], vcs_nusiz_of(m, kind), (uint8_t)x};
  int n = r->stances[kind];
  if (n == VCS_STANCES || (n && r->stance[kind][n - 1].pos == now.pos && r->stance[kind][n - 1].nusiz == now.nusiz))
    n--;
  r->stance[kind][n] = now;
  r->stances[kind] = (uint8_t)(n + 1);
  r->stirred |= (uint8_t)(1u << kind);
}

/* Whether an object has its present stance in the whole row. */
VCS_FN bool vcs_stands_still(const vcs_t *m, const vcs_recorder_t *r, int kind) {
  return r->stances[kind] == 0 || (r->stances[kind] == 1 && r->stance[kind][0].pos == m->pos[kind] &&
                                   r->stance[kind][0].nusiz == vcs_nusiz_of(m, kind));
}

/* Adds pixels [x0, x1) of row y, which have one colour, of an object with several stances in the row. */
VCS_SLOW_FN void vcs_record_stances(const vcs_t *m, vcs_recorder_t *r, int kind, int y, int x0, int x1, unsigned colour,
                                    const uint64_t *lit, const uint64_t *hidden) {
  if (r->on >> kind & 1) vcs_streak_end(r, kind, y);
  for (int i = 0; i <= r->stances[kind]; i++) {
    const vcs_stance_t last = {m->pos[kind], vcs_nusiz_of(m, kind), (uint8_t)x1};
    const vcs_stance_t stance = i == r->stances[kind] ? last : r->stance[kind][i];
    const int to = stance.end < x1 ? stance.end : x1;
    vcs_streak_t *streak = r->streak[kind];
    if (to <= x0) continue;
    streak->look = vcs_look_of(m, kind, stance.pos, stance.nusiz, colour);
    streak->span = (unsigned)y | VCS_PARTLY;
    for (int w = 0; w < 3; w++) {
      streak->lit.word[w] = lit[w] & vcs_from(x0, w) & ~vcs_from(to, w);
      streak->shown.word[w] = streak->lit.word[w] & ~(hidden ? hidden[w] : 0);
    }
    vcs_streak_done(r, kind, 0);
    x0 = to;
  }
}

/* The pixels that cover P0 and M0, P1 and M1, the ball, and the playfield. Objects of one colour do not cover each
 * other.
 */
typedef struct {
  uint64_t word[4][3];
} vcs_cover_t;
VCS_FN const uint64_t *vcs_cover_of(const vcs_cover_t *cover, int kind) {
  return cover->word[kind >= VCS_BL ? kind - 2 : kind & 1];
}

/* Joins the pixels of the objects of each colour (vcs_layers_t): PF and BL, P1 and M1, P0 and M0. */
VCS_FN void vcs_join_layers(unsigned lit, const vcs_pixels_t line[VCS_OBJECTS], vcs_layers_t *layers) {
  for (int i = 0; i < VCS_LAYERS; i++) layers->word[i][0] = layers->word[i][1] = layers->word[i][2] = 0;
  for (; lit; lit &= lit - 1) {
    const int i = VCS_LOWEST(lit);
    uint64_t *both = layers->word[i >= VCS_BL ? 0 : 2 - (i & 1)];
    for (int w = 0; w < 3; w++) both[w] |= line[i].word[w];
  }
}

/* Finds the pixels that cover the objects `lit`; pixels [blank, VCS_COMB_PIXELS), which HMOVE blanks, cover all of
 * them. `layers` is NULL, or the layers as painted. Returns false if no lit pixel is covered. */
VCS_FN bool vcs_find_cover(const vcs_t *m, unsigned ctrlpf, unsigned lit, const vcs_pixels_t line[VCS_OBJECTS],
                           const vcs_layers_t *layers, int blank, vcs_cover_t *cover) {
  const bool scored = vcs_is_scored(m, ctrlpf), front = (ctrlpf & 4) && !scored;
  const int levels = ((lit & 5) != 0) + ((lit & 10) != 0) + ((lit & 0x30) != 0);
  vcs_layers_t both;
  uint64_t covered = 0;
  if (levels < 2 && blank >= VCS_COMB_PIXELS && (!scored || (lit & 0x30) != 0x30)) return false;
  const uint64_t comb = vcs_from(blank, 0) & ~vcs_from(VCS_COMB_PIXELS, 0);
  if (!layers || scored) {
    vcs_join_layers(lit, line, &both);
    layers = &both;
  }
  for (int w = 0; w < 3; w++) {
    covered |=
        (layers->word[2][w] & layers->word[1][w]) | ((layers->word[2][w] | layers->word[1][w]) & layers->word[0][w]);
    if (scored && (lit & 0x30) == 0x30) covered |= line[VCS_BL].word[w] & line[VCS_PF].word[w];
  }
  if (!(covered | ((layers->word[0][0] | layers->word[1][0] | layers->word[2][0]) & comb))) return false;
  for (int w = 0; w < 3; w++) {
    const uint64_t p0 = layers->word[2][w], p1 = layers->word[1][w], both_fields = layers->word[0][w],
                   blanked = w ? 0 : comb;
    const uint64_t field = scored && lit >> VCS_PF & 1 ? line[VCS_PF].word[w] : 0, right = vcs_from(VCS_WIDTH / 2, w);
    cover->word[0][w] = (front ? both_fields : 0) | blanked;
    cover->word[1][w] = p0 | (front ? both_fields : field & ~right) | blanked;
    cover->word[2][w] = (front ? 0 : p0 | p1 | field) | blanked;
    /* in score mode its left half has the colour of P0, and is in front of P1 */
    cover->word[3][w] = (front ? 0 : p0 | (scored ? p1 & right : p1)) | blanked;
  }
  return true;
}

/* Returns the colours and CTRLPF of a row, which concern all of its objects, as one number. */
VCS_FN uint64_t vcs_row_common(const vcs_t *m) {
  return m->colu[VCS_COLUPF] | m->colu[VCS_COLUP0] << 8 | m->colu[VCS_COLUP1] << 16 | (uint64_t)m->ctrlpf << 32;
}

/* Adds a whole row y, in which objects of the set `on` may be lit; `changed` are the objects, or VCS_LOOK, that differ
 * from the row above. `layers` is NULL, or the layers as painted. HMOVE blanks pixels [blank, VCS_COMB_PIXELS). Only
 * objects that have changed, or are or were partly covered, are compared with their streaks. */
VCS_FN void vcs_record_row(const vcs_t *m, vcs_recorder_t *r, int y, unsigned on, unsigned changed,
                           const vcs_pixels_t line[VCS_OBJECTS], const vcs_layers_t *layers, int blank) {
  const uint64_t common = vcs_row_common(m); /* a colour that changes while its objects are off is in no `changed` */
  const bool same = common == r->common && blank == r->blank && (m->ctrlpf & 6) != 6; /* 6: `on` matters, too */
  vcs_cover_t cover;
  changed |= r->unknown;
  r->common = common;
  r->blank = blank;
  changed &= VCS_ALL_OBJECTS;
  if (same && !changed && on) return;
  unsigned lit = r->lit & on & ~changed;
  for (unsigned left = changed & on; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const uint64_t *word = line[i].word;
    lit |= (unsigned)((word[0] | word[1] | word[2]) != 0) << i;
  }
  r->lit = (uint8_t)lit;
  r->unknown = (uint8_t)(VCS_ALL_OBJECTS & ~on);
  r->whole = true;
  for (unsigned left = r->on & ~lit; left; left &= left - 1) vcs_streak_end(r, VCS_LOWEST(left), y);
  if (!lit) return;
  const bool covers = vcs_find_cover(m, m->ctrlpf, lit, line, layers, blank, &cover);
  changed = same ? changed | r->partly | ~(unsigned)r->on : (unsigned)VCS_ALL_OBJECTS;
  for (unsigned left = covers ? lit : lit & changed; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const uint64_t *word = line[i].word, *hidden = NULL;
    if (covers) {
      hidden = vcs_cover_of(&cover, i);
      if (!((word[0] & hidden[0]) | (word[1] & hidden[1]) | (word[2] & hidden[2]))) {
        if (!(changed >> i & 1)) continue;
        hidden = NULL;
      }
    }
    const unsigned colour = vcs_colour_of(m, i);
    uint64_t look;
    if (i == VCS_PF) {
      look = vcs_is_scored(m, m->ctrlpf) ? vcs_field_look(m->colu[VCS_COLUP0], m->colu[VCS_COLUP1])
                                         : vcs_field_look(colour, colour);
    } else if (VCS_UNLIKELY(r->stirred >> i & 1) && !vcs_stands_still(m, r, i)) {
      vcs_record_stances(m, r, i, y, 0, VCS_WIDTH, colour, word, hidden);
      continue;
    } else {
      look = vcs_look_of(m, i, m->pos[i], vcs_nusiz_of(m, i), colour);
    }
    if (hidden) {
      vcs_streak_row_covered(r, i, look, y, word, hidden);
    } else {
      vcs_streak_row(r, i, look, y, word);
    }
  }
}

/* Collects the lit and the covered pixels of each object in [x0, x1) of the row. */
VCS_SLOW_FN void vcs_row_collect(const vcs_t *m, vcs_recorder_t *r, int x0, int x1, unsigned on,
                                 const vcs_pixels_t line[VCS_OBJECTS], const vcs_layers_t *layers, int blank) {
  vcs_pieces_t *row = &r->row;
  vcs_pixels_t part[VCS_OBJECTS] = {{{0, 0, 0}}};
  vcs_cover_t cover;
  uint64_t within[3];
  unsigned lit = 0;
  const bool whole = x0 == 0 && x1 == VCS_WIDTH;
  for (int w = 0; w < 3 && !whole; w++) within[w] = vcs_from(x0, w) & ~vcs_from(x1, w);
  for (unsigned left = on; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const uint64_t *word = line[i].word;
    if (!(word[0] | word[1] | word[2])) continue;
    for (int w = 0; w < 3; w++) part[i].word[w] = whole ? word[w] : word[w] & within[w];
    if (part[i].word[0] | part[i].word[1] | part[i].word[2]) lit |= 1u << i;
  }
  const bool covers = vcs_find_cover(m, row->ctrlpf, lit, part, whole ? layers : NULL, blank, &cover);
  for (unsigned left = lit; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const bool more = row->on >> i & 1;
    if (x1 < VCS_WIDTH) vcs_record_stance(m, r, i, x1); /* registers may change behind the piece */
    for (int w = 0; w < 3; w++) row->lit[i].word[w] = (more ? row->lit[i].word[w] : 0) | part[i].word[w];
    if (!covers) continue;
    const bool further = row->covered >> i & 1;
    const uint64_t *hidden = vcs_cover_of(&cover, i);
    for (int w = 0; w < 3; w++)
      row->hidden[i].word[w] = (further ? row->hidden[i].word[w] : 0) | (part[i].word[w] & hidden[w]);
    const uint64_t *out = row->hidden[i].word;
    if (out[0] | out[1] | out[2]) row->covered |= (uint8_t)(1u << i);
  }
  row->on |= (uint8_t)lit;
  row->collected = (uint8_t)x1;
}

/* Notes the colours of row y from pixel x on. Lit pixels may be collected later, as long as CTRLPF stays and the masks
 * of a later piece are right for this piece, too. */
VCS_FN void vcs_record_piece(const vcs_t *m, vcs_recorder_t *r, int y, int x, unsigned on,
                             const vcs_pixels_t line[VCS_OBJECTS], int blank) {
  vcs_pieces_t *row = &r->row;
  if (r->row_y != y) {
    r->row_y = (int16_t)y;
    row->on = row->covered = 0;
    row->count = 0;
    row->collected = (uint8_t)x;
    row->ctrlpf = m->ctrlpf;
  } else if (row->ctrlpf != m->ctrlpf) {
    if (row->collected < x) vcs_row_collect(m, r, row->collected, x, on, line, NULL, blank);
    row->ctrlpf = m->ctrlpf;
  }
  const int n = row->count < VCS_ROW_PIECES ? row->count++ : VCS_ROW_PIECES - 1;
  const bool scored = vcs_is_scored(m, m->ctrlpf);
  row->piece[n].x = (uint8_t)x;
  row->piece[n].player[0] = m->colu[VCS_COLUP0];
  row->piece[n].player[1] = m->colu[VCS_COLUP1];
  row->piece[n].ball = m->colu[VCS_COLUPF];
  row->piece[n].field = m->colu[scored ? VCS_COLUP0 : VCS_COLUPF];
  row->piece[n].field_2 = m->colu[scored ? VCS_COLUP1 : VCS_COLUPF];
}

/* Whether pixels of the row before x have not been collected yet. */
VCS_FN bool vcs_row_waits(const vcs_recorder_t *r, int x) { return r->row_y >= 0 && r->row.collected < x; }

VCS_FN int vcs_piece_end(const vcs_pieces_t *row, int i) {
  return i + 1 < row->count ? row->piece[i + 1].x : (int)VCS_WIDTH;
}
VCS_FN uint8_t vcs_piece_colour(const vcs_pieces_t *row, int i, int kind) {
  return kind == VCS_BL ? row->piece[i].ball : row->piece[i].player[kind & 1];
}

/* Finds the look of an object that has one stance in a row of pieces. Each copy has the colour of the first piece that
 * shows it. Returns false if a copy passes the right edge and so may have two colours. */
VCS_SLOW_FN bool vcs_pieces_look(const vcs_t *m, const vcs_pieces_t *row, int kind, const uint64_t *lit,
                                 const uint64_t *hidden, uint64_t *look) {
  const unsigned nusiz = vcs_nusiz_of(m, kind), first = vcs_piece_colour(row, 0, kind);
  const vcs_copies_t copies = vcs_copies(kind == VCS_BL ? 0 : nusiz & 7);
  const int width = vcs_window_of(kind, copies);
  uint8_t colour[3] = {0, 0, 0};
  int count = 1;
  while (count < row->count && vcs_piece_colour(row, count, kind) == first) count++;
  *look = vcs_look_of(m, kind, m->pos[kind], nusiz, first);
  if (count == row->count) return true;
  for (int copy = 0; copy < 3; copy++) {
    const int by = copy == 0 ? 0 : copy == 1 ? copies.second : copies.third;
    const int at = m->pos[kind] + 16 * by, window = at >= VCS_WIDTH ? at - VCS_WIDTH : at, end = window + width;
    if (copy && !by) break;
    if (end > VCS_WIDTH) return false;
    uint64_t seen = vcs_pixels_at(lit, window, width);
    if (hidden) seen &= ~vcs_pixels_at(hidden, window, width);
    int i = 0; /* a bit of `seen` that the piece has */
    while (i < row->count - 1) {
      const int next = vcs_piece_end(row, i) - window;
      if (next > 0 && seen << (64 - (next < 64 ? next : 64))) break;
      i++;
    }
    colour[copy] = vcs_piece_colour(row, i, kind);
  }
  *look = vcs_look_of(m, kind, m->pos[kind], nusiz, colour[0]);
  if (copies.second) *look |= (uint64_t)(colour[0] ^ colour[1]) << VCS_COPY_COLOURS;
  if (copies.third) *look |= (uint64_t)(colour[0] ^ colour[2]) << (VCS_COPY_COLOURS + 8);
  return true;
}

/* vcs_pieces_field finds the playfield's colours in a row of pieces and returns its look. If that is VCS_HUES, the
 * colours are in r->hues, which belongs to the present streak; a streak with other colours ends first. */
VCS_FN void vcs_hues_add(vcs_hues_t *hues, int x, uint8_t colour) {
  if (hues->count && hues->from[hues->count - 1].colour == colour) return;
  if (hues->count > VCS_ROW_PIECES) return;
  hues->from[hues->count].x = (uint8_t)x;
  hues->from[hues->count++].colour = colour;
}
VCS_SLOW_FN uint64_t vcs_pieces_field(vcs_recorder_t *r, int y) {
  const vcs_pieces_t *row = &r->row;
  vcs_hues_t *hues = &r->row_hues;
  hues->count = 0;
  for (int i = 0; i < row->count; i++) {
    const int x = i ? row->piece[i].x : 0;
    if (x < VCS_WIDTH / 2) vcs_hues_add(hues, x, row->piece[i].field);
    if (vcs_piece_end(row, i) > VCS_WIDTH / 2)
      vcs_hues_add(hues, x < VCS_WIDTH / 2 ? VCS_WIDTH / 2 : x, row->piece[i].field_2);
  }
  const uint8_t first = hues->from[0].colour;
  if (hues->count == 1) return vcs_field_look(first, first);
  if (hues->count == 2 && hues->from[1].x == VCS_WIDTH / 2) return vcs_field_look(first, hues->from[1].colour);
  if (r->on >> VCS_PF & 1) {
    if (r->streak[VCS_PF]->look == VCS_HUES && vcs_are_same_hues(&r->hues, hues)) return VCS_HUES;
    vcs_streak_end(r, VCS_PF, y);
  }
  vcs_hues_copy(&r->hues, hues);
  return VCS_HUES;
}

/* Adds a complete row of pieces. */
VCS_SLOW_FN void vcs_record_pieces(const vcs_t *m, vcs_recorder_t *r) {
  const vcs_pieces_t *row = &r->row;
  const int y = r->row_y;
  r->row_y = -1;
  r->unknown = VCS_ALL_OBJECTS;
  r->whole = false;
  for (unsigned left = r->on & ~(unsigned)row->on; left; left &= left - 1) vcs_streak_end(r, VCS_LOWEST(left), y);
  for (unsigned left = row->on; left; left &= left - 1) {
    const int i = VCS_LOWEST(left);
    const uint64_t *lit = row->lit[i].word, *hidden = row->covered >> i & 1 ? row->hidden[i].word : NULL;
    if (i == VCS_PF) {
      vcs_streak_row_covered(r, i, vcs_pieces_field(r, y), y, lit, hidden);
      continue;
    }
    uint64_t look;
    const bool moves = r->stirred >> i & 1 && !vcs_stands_still(m, r, i);
    if (!moves && vcs_pieces_look(m, row, i, lit, hidden, &look)) {
      if (hidden) {
        vcs_streak_row_covered(r, i, look, y, lit, hidden);
      } else {
        vcs_streak_row(r, i, look, y, lit);
      }
      continue;
    }
    for (int k = 0; k < row->count; k++) {
      const unsigned colour = vcs_piece_colour(row, k, i);
      vcs_record_stances(m, r, i, y, row->piece[k].x, vcs_piece_end(row, k), colour, lit, hidden);
    }
  }
}

/* Ends a row. */
VCS_FN void vcs_record_row_end(const vcs_t *m, vcs_recorder_t *r) {
  if (r->row_y >= 0) vcs_record_pieces(m, r);
  for (; r->stirred; r->stirred &= (uint8_t)(r->stirred - 1)) r->stances[VCS_LOWEST((unsigned)r->stirred)] = 0;
}

/* Ends the last row and all streaks of a frame that is over, before row y. */
VCS_SLOW_FN void vcs_recorder_finish(const vcs_t *m, vcs_recorder_t *r, int y) {
  vcs_record_row_end(m, r);
  for (unsigned on = r->on; on; on &= on - 1) vcs_streak_end(r, VCS_LOWEST(on), y);
}

/* ---- The list ------------------------------------------------------------------------------------------------------
 */

/* Returns a number that sorts objects in the order of the list: y, then x and kind. */
VCS_FN uint32_t vcs_order_of(const vcs_object_t *o) {
  return (uint32_t)o->y << 11 | (uint32_t)o->x << 3 | (uint32_t)o->kind;
}
enum { VCS_ORDER_SHIFT = 10 };

/* Makes the objects of a frame that is over. */
VCS_SLOW_FN void vcs_recorder_make_objects(vcs_recorder_t *r) {
  if (r->log) r->log->complete = r->logging == VCS_ALL_OBJECTS;
  for (int kind = 0; kind < VCS_OBJECTS && r->log; kind++) {
    const bool logged = r->logging >> kind & 1;
    r->log->count[kind] = (int16_t)(logged ? r->streak[kind] - r->log->entry[kind] : 0);
    r->log->passages[kind] = 0;
  }
  for (int kind = 0; kind < VCS_PF; kind++) {
    if (r->logging >> kind & 1) vcs_log_sprites(r, kind);
    vcs_live_end_all(r, kind);
  }
  if (r->logging >> VCS_PF & 1) {
    vcs_log_field(r);
  } else {
    vcs_blocks_end(r);
  }
  r->count = r->blocks - r->unseen + r->sprites;
  r->made = true;
  if (!r->log) return;
  r->log->blocks = r->blocks;
  r->log->unseen = r->unseen;
  r->log->sprites = r->sprites;
}

/* Takes the objects of the last frame, because the present frame is equal to it. */
VCS_FN void vcs_recorder_take_last(vcs_recorder_t *r) {
  r->turn = !r->turn;
  r->log = &r->memory->log[r->turn];
  r->blocks = r->log->blocks;
  r->unseen = r->log->unseen;
  r->sprites = r->log->sprites;
  r->count = r->blocks - r->unseen + r->sprites;
  r->made = true;
}

/* Lists the objects of a frame that is over, from top to bottom, and returns their number. If they do not fit, the last
 * blocks are left out. */
VCS_SLOW_FN int32_t vcs_recorder_list(vcs_recorder_t *r, vcs_object_t *list, int32_t capacity) {
  if (!r->made) vcs_recorder_make_objects(r);
  const int32_t sprites = r->sprites < capacity ? r->sprites : capacity;
  const vcs_object_t *sprite = r->sprite[r->turn], *block = r->field[r->turn];
  const vcs_object_t *end = block + (r->blocks < VCS_OBJECTS_MAX ? r->blocks : (int32_t)VCS_OBJECTS_MAX);
  vcs_object_t *to = list;
  int32_t space = capacity - sprites;
  for (int32_t i = 0; i < sprites; i++) {
    const uint32_t order = vcs_order_of(&sprite[i]) << VCS_ORDER_SHIFT | (uint32_t)i;
    int32_t k = i;
    for (; k > 0 && r->order[k - 1] > order; k--) r->order[k] = r->order[k - 1];
    r->order[k] = order;
  }
  for (int32_t i = 0; i <= sprites; i++) {
    const uint32_t order = i < sprites ? r->order[i] >> VCS_ORDER_SHIFT : ~0u;
    const vcs_object_t *from = block;
    const int y = (int)(order >> 11 < 0x7FFF ? order >> 11 : 0x7FFF);
    while (block < end && (block->y < y || (block->y == y && vcs_order_of(block) < order))) block++;
    while (from < block) { /* blocks that are seen, up to one that is not */
      const vcs_object_t *run = r->unseen ? from : block;
      while (run < block && run->seen) run++;
      const int32_t count = (int32_t)(run - from) < space ? (int32_t)(run - from) : space;
      vcs_objects_copy(to, from, count);
      to += count;
      space -= count;
      from = run + (run < block);
    }
    if (i < sprites) *to++ = sprite[r->order[i] & ((1u << VCS_ORDER_SHIFT) - 1)];
  }
  return r->count;
}

#endif
