/* objects.h: which objects a frame shows (diffvcs/objects.h), from the lines as they are drawn.
 *
 * tia.h calls VCS_LINE_DRAWN after it has drawn a piece of a line; a file that wants the objects of a frame defines it
 * before it includes console.h (src/host/objects.c). There the mask of each object is known (vcs_video_t), and with it
 * where its copies begin: the position and NUSIZ do not change within a piece that is drawn.
 *
 *   row y     ....####........####........####....     P0 with three copies: three windows of eight pixels
 *   row y+1   ....#..#........#..#........#..#....     each goes on with the object whose window was near it
 *
 * A recorder keeps the objects that may go on in the next row (vcs_live_t). A row that is equal to the row above it
 * only makes them longer. The playfield is collected over the pieces of a row, because a piece that ends in the
 * middle of a block does not end the block.
 */
#ifndef VCS_CORE_OBJECTS_H
#define VCS_CORE_OBJECTS_H

#include "diffvcs/objects.h"
#include "tia_video.h"

enum {
  VCS_LIVE_MAX = 48,     /* players, missiles and balls that may go on, at most */
  VCS_BLOCKS_MAX = 80,   /* blocks of the playfield: no more fit into a line */
  VCS_OBJECT_GAP = 2,    /* empty rows within an object */
  VCS_OBJECT_SHIFT = 8,  /* an object moves by less than this from row to row, and ... */
  VCS_GAP_SHIFT = 2,     /* ... by less than this over empty rows: otherwise it is used again as another object */
  VCS_FIELD_PIECES = 40, /* pieces of a row in which the playfield has different colours */
};

/* A player, missile or ball that may go on. */
typedef struct {
  int16_t window;                  /* left end of its window in the last row */
  int16_t y;                       /* the last row */
  uint8_t colour, fresh;           /* of the last row; fresh: the last row is not yet part of the object */
  uint64_t bits, shown;            /* its pixels in the last row from the window on: lit, and seen */
  uint64_t columns, shown_columns; /* those of all rows since the window was there that are part of the object */
  vcs_object_t object;
} vcs_live_t;

/* Rows of the playfield: equal rows are collected, and become blocks when another row comes. */
typedef struct {
  uint64_t lit[3], shown[3];
  struct {
    uint8_t x, colour;
  } from[VCS_FIELD_PIECES]; /* where its colour changes */
  int32_t pieces;
} vcs_field_row_t;

/* Machines that record run with a vcs_recorder_t, whose first member is the ordinary vcs_video_t. */
typedef struct {
  vcs_video_t video;
  vcs_object_t *list;
  int32_t capacity, count;
  int32_t live_count, block_count;
  int16_t recent[VCS_OBJECTS][3]; /* the live object of each copy in the last row: the first guess */
  int16_t expired_y;              /* the row in which the live objects were looked through last */
  int16_t row_y;                  /* the row of the playfield that is being drawn, -1: none */
  int16_t field_y, field_end;     /* the rows that `field` is, empty: none */
  vcs_field_row_t row, field;
  vcs_live_t live[VCS_LIVE_MAX];
  int32_t blocks_in;                     /* which of the two lists is in use */
  vcs_object_t block[2][VCS_BLOCKS_MAX]; /* blocks that end with row field_y - 1, and space for the next */
} vcs_recorder_t;

#if defined(__CUDA_ARCH__)

#define VCS_HIGHEST_64(bits) (63 - __clzll((long long)(bits)))
#else

#define VCS_HIGHEST_64(bits) (63 - __builtin_clzll(bits))
#endif

/* The number of bits that are set; most processors that the library is compiled for have no instruction for it. */
VCS_FN int vcs_ones(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555ULL;
  bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
  return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL >> 56);
}

VCS_FN void vcs_recorder_start(vcs_recorder_t *r, vcs_object_t *list, int32_t capacity) {
  r->list = list;
  r->capacity = capacity;
  r->count = r->live_count = r->block_count = r->blocks_in = 0;
  r->row_y = r->expired_y = -1;
  r->field_y = r->field_end = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) r->recent[i][0] = r->recent[i][1] = r->recent[i][2] = 0;
}

/* `count` (at most 64) pixels of a line from pixel x on, the first in bit 0. */
VCS_FN uint64_t vcs_pixels_at(const uint64_t word[3], int x, int count) {
  int w = x >> 6, s = x & 63;
  uint64_t bits = word[w] >> s;
  if (s && w < 2) bits |= word[w + 1] << (64 - s);
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

/* Makes the last row of an object part of it. Rows are shaded into the pattern from the object's left end, so that the
 * digest does not depend on its place. */
VCS_FN void vcs_live_commit(vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  if (!live->fresh) return;
  int ones = vcs_ones(live->bits);
  live->fresh = 0;
  if (!o->rows) o->y = live->y;
  o->h = (int16_t)(live->y + 1 - o->y);
  o->rows++;
  o->pixels += ones;
  o->pattern = (o->pattern ^ (uint32_t)(live->bits ^ live->bits >> 32)) * 0x01000193u;
  o->pattern ^= o->pattern >> 15;
  live->columns |= live->bits;
  if (!live->shown) return;
  if (o->seen == 0) {
    o->seen_y = live->y;
    o->colour = live->colour;
    o->colours = 1;
  } else if (o->colour != live->colour && o->colours < 255) {
    o->colours++;
  }
  o->seen_h = (int16_t)(live->y + 1 - o->seen_y);
  o->seen += live->shown == live->bits ? ones : vcs_ones(live->shown);
  live->shown_columns |= live->shown;
}

/* The window moves, or the object ends: its columns become part of the boxes. */
VCS_FN void vcs_live_widen(vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  if (live->columns) vcs_box_widen(&o->x, &o->w, live->window, live->columns);
  if (live->shown_columns) vcs_box_widen(&o->seen_x, &o->seen_w, live->window, live->shown_columns);
  live->columns = live->shown_columns = 0;
}

/* Lists an object if a pixel showed it. Where there is no space left, a block of the playfield gives way to anything
 * else. */
VCS_FN void vcs_record_object(vcs_recorder_t *r, const vcs_object_t *object) {
  if (object->seen == 0) return;
  if (r->count < r->capacity) {
    r->list[r->count] = *object;
  } else if (object->kind != VCS_PF) {
    for (int32_t i = r->capacity - 1; i >= 0; i--) {
      if (r->list[i].kind != VCS_PF) continue;
      r->list[i] = *object;
      break;
    }
  }
  r->count++;
}

VCS_FN void vcs_live_end(vcs_recorder_t *r, vcs_live_t *live) {
  vcs_live_commit(live);
  vcs_live_widen(live);
  vcs_record_object(r, &live->object);
}

/* Ends the objects that cannot go on in row y. */
VCS_FN void vcs_live_expire(vcs_recorder_t *r, int y) {
  int kept = 0;
  if (y == r->expired_y) return;
  r->expired_y = (int16_t)y;
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (y - live->y > VCS_OBJECT_GAP + 1) {
      vcs_live_end(r, live);
    } else {
      if (kept != i) r->live[kept] = *live;
      kept++;
    }
  }
  r->live_count = kept;
}

VCS_FN void vcs_object_clear(vcs_object_t *object, int kind, int size) {
  vcs_object_t none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0};
  *object = none;
  object->kind = (uint8_t)kind;
  object->size = (uint8_t)size;
}

/* A new object; the oldest makes place for it if there are too many. */
VCS_FN vcs_live_t *vcs_live_new(vcs_recorder_t *r, int kind, int size) {
  if (r->live_count == VCS_LIVE_MAX) {
    vcs_live_end(r, &r->live[0]);
    for (int i = 1; i < VCS_LIVE_MAX; i++) r->live[i - 1] = r->live[i];
    r->live_count--;
  }
  vcs_live_t *live = &r->live[r->live_count++];
  vcs_object_clear(&live->object, kind, size);
  live->object.pattern = 0x811C9DC5u;
  live->fresh = 0;
  live->columns = live->shown_columns = 0;
  return live;
}

/* The live object that goes on with a window of row y: the nearest one. NULL: none is near. */
VCS_FN vcs_live_t *vcs_live_find(vcs_recorder_t *r, int kind, int copy, int y, int window) {
  vcs_live_t *best = NULL;
  int guess = r->recent[kind][copy], nearest = VCS_OBJECT_SHIFT;
  if (guess < r->live_count) {
    vcs_live_t *live = &r->live[guess];
    if (live->object.kind == kind && live->window == window && live->y >= y - 1) return live;
  }
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->object.kind != kind) continue;
    int distance = window > live->window ? window - live->window : live->window - window;
    if (live->y == y && distance) continue; /* another copy in the same row */
    if (live->y < y - 1 && distance >= VCS_GAP_SHIFT) continue;
    if (distance < nearest) {
      nearest = distance;
      best = live;
      r->recent[kind][copy] = (int16_t)i;
    }
  }
  return best;
}

/* Adds pixels of a player, missile or ball: those of one window in a piece of row y. */
VCS_FN void vcs_record_sprite(const vcs_t *m, vcs_recorder_t *r, int kind, int copy, int size, int y, int window,
                              uint64_t bits, uint64_t shown, uint8_t colour) {
  vcs_live_t *live = vcs_live_find(r, kind, copy, y, window);
  if (live && live->y == y) {
    if (!live->shown) live->colour = colour; /* what the row showed so far was covered */
    live->bits |= bits;
    live->shown |= shown;
    return;
  }
  if (!live) {
    live = vcs_live_new(r, kind, size);
    r->recent[kind][copy] = (int16_t)(r->live_count - 1);
    live->object.copy = (uint8_t)copy;
    live->object.reflected = kind <= VCS_P1 && m->reflect[kind];
  }
  vcs_live_commit(live);
  if (live->window != window) vcs_live_widen(live);
  live->window = (int16_t)window;
  live->y = (int16_t)y;
  live->bits = bits;
  live->shown = shown;
  live->colour = colour;
  live->fresh = 1;
}

/* The end of the run of lit pixels that begins at x, at most `end`. */
VCS_FN int vcs_run_end(const uint64_t lit[3], int x, int end) {
  while (x < end) {
    int most = end - x < 64 ? end - x : 64;
    uint64_t unlit = ~vcs_pixels_at(lit, x, most);
    if (most < 64) unlit &= (1ULL << most) - 1;
    if (unlit) return x + VCS_LOWEST_64(unlit);
    x += most;
  }
  return end;
}

/* Turns the collected rows of the playfield into blocks: each run of lit pixels of one colour makes the block above it
 * longer, or is a new one. Blocks that do not go on are listed. Both lists are in order of x, so one pass compares
 * them. */
VCS_SLOW_FN void vcs_field_end(vcs_recorder_t *r) {
  const vcs_field_row_t *row = &r->field;
  int rows = r->field_end - r->field_y, old = 0, made = 0, piece = 0;
  const vcs_object_t *before = r->block[r->blocks_in];
  vcs_object_t *block = r->block[r->blocks_in ^ 1];
  if (rows == 0) return;
  for (int x = 0; x < VCS_WIDTH && made < VCS_BLOCKS_MAX;) {
    uint64_t bits = vcs_pixels_at(row->lit, x, VCS_WIDTH - x < 64 ? VCS_WIDTH - x : 64);
    if (!bits) {
      x += 64;
      continue;
    }
    x += VCS_LOWEST_64(bits);
    while (piece + 1 < row->pieces && row->from[piece + 1].x <= x) piece++;
    int to = vcs_run_end(row->lit, x, piece + 1 < row->pieces ? row->from[piece + 1].x : VCS_WIDTH);
    uint8_t colour = row->from[piece].colour;
    vcs_object_t *o = &block[made++];
    while (old < r->block_count && before[old].x < x) vcs_record_object(r, &before[old++]);
    if (old < r->block_count && before[old].x == x && before[old].w == to - x && before[old].colour == colour) {
      *o = before[old++];
    } else {
      vcs_object_clear(o, VCS_PF, 4);
      o->x = (int16_t)x;
      o->y = r->field_y;
      o->w = (int16_t)(to - x);
      o->colour = colour;
      o->colours = 1;
    }
    o->h = (int16_t)(o->h + rows);
    o->rows = o->h;
    o->pixels += rows * o->w;
    o->pattern = ((uint32_t)o->w << 16 | (uint32_t)o->h) * 0x9E3779B1u;
    for (int at = x; at < to; at += 64) {
      uint64_t shown = vcs_pixels_at(row->shown, at, to - at < 64 ? to - at : 64);
      if (!shown) continue;
      vcs_box_widen(&o->seen_x, &o->seen_w, at, shown);
      if (!o->seen) o->seen_y = r->field_y;
      o->seen_h = (int16_t)(r->field_end - o->seen_y);
      o->seen += rows * vcs_ones(shown);
    }
    x = to;
  }
  while (old < r->block_count) vcs_record_object(r, &before[old++]);
  r->blocks_in ^= 1;
  r->block_count = made;
  r->field_y = r->field_end;
}

/* The playfield is not lit from the end of the collected rows up to row y: all blocks end. */
VCS_FN void vcs_field_gap(vcs_recorder_t *r, int y) {
  vcs_field_end(r);
  for (int i = 0; i < r->block_count; i++) vcs_record_object(r, &r->block[r->blocks_in][i]);
  r->block_count = 0;
  r->field_y = r->field_end = (int16_t)y;
}

/* The row that was being drawn is complete: it is one more of the collected rows, or ends them. */
VCS_FN void vcs_field_row_end(vcs_recorder_t *r) {
  int y = r->row_y;
  if (y < 0) return;
  r->row_y = -1;
  if (r->field_end != y) vcs_field_gap(r, y);
  bool same = r->field_end > r->field_y && r->row.pieces == r->field.pieces;
  for (int w = 0; w < 3 && same; w++) {
    same = r->row.lit[w] == r->field.lit[w] && r->row.shown[w] == r->field.shown[w];
  }
  for (int i = 0; i < r->row.pieces && same; i++) {
    same = r->row.from[i].x == r->field.from[i].x && r->row.from[i].colour == r->field.from[i].colour;
  }
  if (!same) {
    vcs_field_end(r);
    for (int w = 0; w < 3; w++) {
      r->field.lit[w] = r->row.lit[w];
      r->field.shown[w] = r->row.shown[w];
    }
    for (int i = 0; i < r->row.pieces; i++) r->field.from[i] = r->row.from[i];
    r->field.pieces = r->row.pieces;
  }
  r->field_end = (int16_t)(y + 1);
}

/* Adds a piece of the playfield in row y, from x0 on, in one colour. */
VCS_FN void vcs_field_add(vcs_recorder_t *r, int y, int x0, uint8_t colour, const uint64_t lit[3],
                          const uint64_t shown[3]) {
  vcs_field_row_t *row = &r->row;
  if (r->row_y != y) {
    vcs_field_row_end(r);
    r->row_y = (int16_t)y;
    row->pieces = 0;
    for (int w = 0; w < 3; w++) row->lit[w] = row->shown[w] = 0;
  }
  for (int w = 0; w < 3; w++) {
    row->lit[w] |= lit[w];
    row->shown[w] |= shown[w];
  }
  if (row->pieces && row->from[row->pieces - 1].colour == colour) return;
  if (row->pieces == VCS_FIELD_PIECES) return;
  row->from[row->pieces].x = row->pieces ? (uint8_t)x0 : 0;
  row->from[row->pieces].colour = colour;
  row->pieces++;
}

/* A row that is equal to the one above it. */
VCS_SLOW_FN void vcs_record_same(vcs_recorder_t *r, int y) {
  vcs_field_row_end(r);
  if (r->field_end == y && r->field_y < y) r->field_end++;
  vcs_live_expire(r, y);
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->y != y - 1) continue;
    vcs_live_commit(live);
    live->y = (int16_t)y;
    live->fresh = 1;
  }
}

/* Adds the pixels of an object in one of its windows; a window that passes the right edge is two. All lit pixels are
 * seen if `shown` is NULL. */
VCS_FN void vcs_record_window(const vcs_t *m, vcs_recorder_t *r, int kind, int copy, int size, int y, int from,
                              int width, const uint64_t lit[3], const uint64_t shown[3], uint8_t colour) {
  if (from >= VCS_WIDTH) from -= VCS_WIDTH;
  int first = from + width > VCS_WIDTH ? VCS_WIDTH - from : width;
  uint64_t bits = vcs_pixels_at(lit, from, first);
  if (bits) {
    uint64_t seen = shown ? vcs_pixels_at(shown, from, first) : bits;
    vcs_record_sprite(m, r, kind, copy, size, y, from, bits, seen, colour);
  }
  if (first == width) return;
  bits = vcs_pixels_at(lit, 0, width - first);
  if (bits) {
    uint64_t seen = shown ? vcs_pixels_at(shown, 0, width - first) : bits;
    vcs_record_sprite(m, r, kind, copy, size, y, 0, bits, seen, colour);
  }
}

/* Finds the pixels of each object that are not covered by another one. */
VCS_SLOW_FN void vcs_find_shown(const vcs_t *m, const vcs_video_t *video, unsigned on, const uint64_t seen[3],
                                uint64_t lit[VCS_OBJECTS][3], uint64_t shown[VCS_OBJECTS][3]) {
  for (int w = 0; w < 3; w++) {
    uint64_t colour[4];
    vcs_line_colours(m, w, video->line, colour);
    for (unsigned left = on; left; left &= left - 1) {
      int i = VCS_LOWEST(left);
      uint64_t shows = i == VCS_P0 || i == VCS_M0   ? colour[VCS_COLUP0]
                       : i == VCS_P1 || i == VCS_M1 ? colour[VCS_COLUP1]
                                                    : colour[VCS_COLUPF];
      if (i == VCS_PF && (m->ctrlpf & 2)) { /* the playfield may have a player's colour on its half */
        uint64_t half = ~vcs_from(80, w);
        shows |= (colour[VCS_COLUP0] & half & ~video->line[VCS_M0].word[w] & ~video->line[VCS_P0].word[w]) |
                 (colour[VCS_COLUP1] & ~half & ~video->line[VCS_M1].word[w] & ~video->line[VCS_P1].word[w]);
      }
      shown[i][w] = lit[i][w] & seen[w] & shows;
    }
  }
}

/* Adds what is drawn in pixels [x0, x1) of row y; [x0, x1) without [blank, blank_end) is seen. */
VCS_SLOW_FN void vcs_record_piece(const vcs_t *m, vcs_recorder_t *r, int y, int x0, int x1, int blank, int blank_end) {
  const vcs_video_t *video = &r->video;
  uint64_t shown_pixels[VCS_OBJECTS][3], lit[VCS_OBJECTS][3], any[3] = {0, 0, 0}, covers = 0;
  uint64_t(*shown)[3] = lit;
  unsigned on = video->lit;
  vcs_live_expire(r, y);
  if (!on) return;
  bool score = m->ctrlpf & 2;
  uint64_t piece[3] = {vcs_from(x0, 0) & ~vcs_from(x1, 0), vcs_from(x0, 1) & ~vcs_from(x1, 1),
                       vcs_from(x0, 2) & ~vcs_from(x1, 2)};
  for (unsigned left = on; left; left &= left - 1) {
    int i = VCS_LOWEST(left);
    for (int w = 0; w < 3; w++) {
      lit[i][w] = video->line[i].word[w] & piece[w];
      covers |= any[w] & lit[i][w];
      any[w] |= lit[i][w];
    }
  }
  if (covers || blank < blank_end) {
    uint64_t seen[3];
    for (int w = 0; w < 3; w++) seen[w] = piece[w] & ~(vcs_from(blank, w) & ~vcs_from(blank_end, w));
    shown = shown_pixels;
    if (covers) {
      vcs_find_shown(m, video, on, seen, lit, shown);
    } else {
      for (unsigned left = on; left; left &= left - 1) {
        int i = VCS_LOWEST(left);
        for (int w = 0; w < 3; w++) shown[i][w] = lit[i][w] & seen[w];
      }
    }
  }
  for (; on; on &= on - 1) {
    int i = VCS_LOWEST(on), side = i & 1;
    if (!(lit[i][0] | lit[i][1] | lit[i][2])) continue;
    const uint64_t *seen = shown == lit ? NULL : shown[i];
    if (i == VCS_PF) {
      bool score_colours = score && (!(m->ctrlpf & 4) || vcs_objects_on(m) == 1u << VCS_PF);
      if (!score_colours) {
        vcs_field_add(r, y, x0, m->colu[VCS_COLUPF], lit[i], shown[i]);
      } else {
        if (x0 < 80) vcs_field_add(r, y, x0, m->colu[VCS_COLUP0], lit[i], shown[i]);
        if (x1 > 80) vcs_field_add(r, y, x0 < 80 ? 80 : x0, m->colu[VCS_COLUP1], lit[i], shown[i]);
      }
    } else if (i == VCS_BL) {
      int width = 1 << (m->ctrlpf >> 4 & 3);
      vcs_record_window(m, r, i, 0, width, y, m->pos[i], 8, lit[i], seen, m->colu[VCS_COLUPF]);
    } else {
      vcs_copies_t copies = vcs_copies(m->nusiz[side] & 7);
      int player = i == VCS_P0 || i == VCS_P1;
      int size = player ? copies.stretch : 1 << (m->nusiz[side] >> 4 & 3);
      int width = player ? 8 * copies.stretch + (copies.stretch > 1) : 8;
      uint8_t colour = m->colu[side ? VCS_COLUP1 : VCS_COLUP0];
      vcs_record_window(m, r, i, 0, size, y, m->pos[i], width, lit[i], seen, colour);
      if (copies.second) {
        vcs_record_window(m, r, i, 1, size, y, m->pos[i] + 16 * copies.second, width, lit[i], seen, colour);
      }
      if (copies.third) {
        vcs_record_window(m, r, i, 2, size, y, m->pos[i] + 16 * copies.third, width, lit[i], seen, colour);
      }
    }
  }
}

/* The frame is over: all objects end. */
VCS_SLOW_FN void vcs_recorder_finish(vcs_recorder_t *r) {
  vcs_field_row_end(r);
  vcs_field_gap(r, 0);
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_end(r, &r->live[i]);
  }
  r->live_count = 0;
}

#endif
