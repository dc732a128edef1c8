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
  VCS_LIVE_MAX = 96,     /* objects that may go on, at most */
  VCS_OBJECT_GAP = 2,    /* empty rows within an object */
  VCS_OBJECT_SHIFT = 8,  /* an object moves by less than this from row to row */
  VCS_FIELD_PIECES = 24, /* pieces of a row in which the playfield has different colours */
};

/* An object that may go on. */
typedef struct {
  int16_t window;        /* left end of its window in the last row */
  int16_t y;             /* the last row */
  uint64_t bits, shown;  /* its pixels in the last row from the window on: lit, and seen */
  uint8_t colour, fresh; /* of the last row; fresh: the last row is not yet part of the object */
  vcs_object_t object;
} vcs_live_t;

/* Machines that record run with a vcs_recorder_t, whose first member is the ordinary vcs_video_t. */
typedef struct {
  vcs_video_t video;
  vcs_object_t *list;
  int32_t capacity, count;
  int32_t live_count;
  int16_t field_y, field_pieces; /* the row of the playfield that is being collected, -1: none */
  uint64_t field[3], field_shown[3];
  struct {
    uint8_t x, colour;
  } field_from[VCS_FIELD_PIECES]; /* where the playfield's colour changes */
  vcs_live_t live[VCS_LIVE_MAX];
} vcs_recorder_t;

#if defined(__CUDA_ARCH__)
#define VCS_ONES_64(bits) __popcll(bits)
#define VCS_HIGHEST_64(bits) (63 - __clzll((long long)(bits)))
#else
#define VCS_ONES_64(bits) __builtin_popcountll(bits)
#define VCS_HIGHEST_64(bits) (63 - __builtin_clzll(bits))
#endif

VCS_FN void vcs_recorder_start(vcs_recorder_t *r, vcs_object_t *list, int32_t capacity) {
  r->list = list;
  r->capacity = capacity;
  r->count = r->live_count = 0;
  r->field_y = -1;
  r->field_pieces = 0;
}

/* `count` (at most 64) pixels of a line from pixel x on, the first in bit 0. */
VCS_FN uint64_t vcs_pixels_at(const uint64_t word[3], int x, int count) {
  int w = x >> 6, s = x & 63;
  uint64_t bits = word[w] >> s;
  if (s && w < 2) bits |= word[w + 1] << (64 - s);
  return count < 64 ? bits & ((1ULL << count) - 1) : bits;
}

/* Widens a box by the pixels `bits` from column `x` on of row y. */
VCS_FN void vcs_box_add(int16_t *left, int16_t *top, int16_t *width, int16_t *height, int x, int y, uint64_t bits) {
  int from = x + VCS_LOWEST_64(bits), to = x + VCS_HIGHEST_64(bits) + 1;
  if (*width == 0) {
    *left = (int16_t)from;
    *top = (int16_t)y;
    *width = (int16_t)(to - from);
  } else {
    int end = *left + *width;
    if (from < *left) *left = (int16_t)from;
    if (to > end) end = to;
    *width = (int16_t)(end - *left);
  }
  *height = (int16_t)(y + 1 - *top);
}

/* Makes the last row of an object part of it. Rows are shaded into the pattern from the object's left end, so that the
 * digest does not depend on its place. */
VCS_FN void vcs_live_commit(vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  if (!live->fresh) return;
  live->fresh = 0;
  vcs_box_add(&o->x, &o->y, &o->w, &o->h, live->window, live->y, live->bits);
  o->rows++;
  o->pixels += VCS_ONES_64(live->bits);
  o->pattern = (o->pattern ^ (uint32_t)(live->bits ^ live->bits >> 32)) * 0x01000193u;
  o->pattern ^= o->pattern >> 15;
  if (!live->shown) return;
  if (o->seen == 0) {
    o->colour = live->colour;
    o->colours = 1;
  } else if (o->colour != live->colour && o->colours < 255) {
    o->colours++;
  }
  vcs_box_add(&o->seen_x, &o->seen_y, &o->seen_w, &o->seen_h, live->window, live->y, live->shown);
  o->seen += VCS_ONES_64(live->shown);
}

/* An object ends: it is listed if a pixel showed it. */
VCS_FN void vcs_live_end(vcs_recorder_t *r, vcs_live_t *live) {
  vcs_live_commit(live);
  if (live->object.seen == 0) return;
  if (r->count < r->capacity) r->list[r->count] = live->object;
  r->count++;
}

/* Ends the objects that cannot go on in row y. */
VCS_FN void vcs_live_expire(vcs_recorder_t *r, int y) {
  int kept = 0;
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    int gap = live->object.kind == VCS_PF ? 0 : VCS_OBJECT_GAP;
    if (y - live->y > gap + 1) {
      vcs_live_end(r, live);
    } else {
      if (kept != i) r->live[kept] = *live;
      kept++;
    }
  }
  r->live_count = kept;
}

/* A new object; the oldest makes place for it if there are too many. */
VCS_FN vcs_live_t *vcs_live_new(vcs_recorder_t *r, int kind) {
  if (r->live_count == VCS_LIVE_MAX) {
    vcs_live_end(r, &r->live[0]);
    for (int i = 1; i < VCS_LIVE_MAX; i++) r->live[i - 1] = r->live[i];
    r->live_count--;
  }
  vcs_live_t *live = &r->live[r->live_count++];
  vcs_object_t none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0, 0};
  live->object = none;
  live->object.kind = (uint8_t)kind;
  live->object.pattern = 0x811C9DC5u;
  live->fresh = 0;
  return live;
}

/* Adds pixels of a player, missile or ball: those of one window in a piece of row y. */
VCS_FN void vcs_record_sprite(const vcs_t *m, vcs_recorder_t *r, int kind, int copy, int size, int y, int window,
                              uint64_t bits, uint64_t shown, uint8_t colour) {
  vcs_live_t *best = NULL;
  int nearest = VCS_OBJECT_SHIFT;
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->object.kind != kind) continue;
    int distance = window > live->window ? window - live->window : live->window - window;
    if (live->y == y && distance) continue; /* another copy in the same row */
    if (distance < nearest) {
      nearest = distance;
      best = live;
    }
  }
  if (best && best->y == y) {
    best->bits |= bits;
    best->shown |= shown;
    return;
  }
  if (!best) {
    best = vcs_live_new(r, kind);
    best->object.copy = (uint8_t)copy;
    best->object.size = (uint8_t)size;
    best->object.reflected = kind <= VCS_P1 && m->reflect[kind];
  }
  vcs_live_commit(best);
  best->window = (int16_t)window;
  best->y = (int16_t)y;
  best->bits = bits;
  best->shown = shown;
  best->colour = colour;
  best->fresh = 1;
}

/* Ends the collection of a row of the playfield: each run of lit pixels of one colour is a block, or a row of one. */
VCS_FN void vcs_record_field(vcs_recorder_t *r) {
  int y = r->field_y;
  if (y < 0) return;
  r->field_y = -1;
  int x = 0;
  for (int piece = 0; x < VCS_WIDTH;) {
    uint64_t bits = vcs_pixels_at(r->field, x, VCS_WIDTH - x < 64 ? VCS_WIDTH - x : 64);
    if (!bits) {
      x += 64;
      continue;
    }
    x += VCS_LOWEST_64(bits);
    while (piece + 1 < r->field_pieces && r->field_from[piece + 1].x <= x) piece++;
    int end = piece + 1 < r->field_pieces ? r->field_from[piece + 1].x : VCS_WIDTH, to = x;
    while (to < end) { /* the end of the run, a word at a time */
      int most = end - to < 64 ? end - to : 64;
      uint64_t dark = ~vcs_pixels_at(r->field, to, most);
      if (most < 64) dark &= (1ULL << most) - 1;
      if (dark) {
        to += VCS_LOWEST_64(dark);
        break;
      }
      to += most;
    }
    uint8_t colour = r->field_from[piece].colour;
    vcs_live_t *block = NULL;
    for (int i = 0; i < r->live_count && !block; i++) {
      vcs_live_t *live = &r->live[i];
      if (live->object.kind == VCS_PF && live->y == y - 1 && live->object.x == x && live->object.w == to - x &&
          live->colour == colour) {
        block = live;
      }
    }
    if (!block) {
      block = vcs_live_new(r, VCS_PF);
      block->object.x = (int16_t)x;
      block->object.y = (int16_t)y;
      block->object.w = (int16_t)(to - x);
      block->object.size = 4;
      block->object.colour = block->colour = colour;
      block->object.colours = 1;
    }
    vcs_object_t *o = &block->object;
    block->y = (int16_t)y;
    o->h = o->rows = (int16_t)(y + 1 - o->y);
    o->pixels += o->w;
    o->pattern = ((uint32_t)o->w << 16 | (uint32_t)o->h) * 0x9E3779B1u;
    block->bits = 0; /* number of pixels of the row that are seen: a row equal to this one adds as many */
    for (int at = x; at < to; at += 64) {
      uint64_t shown = vcs_pixels_at(r->field_shown, at, to - at < 64 ? to - at : 64);
      if (!shown) continue;
      vcs_box_add(&o->seen_x, &o->seen_y, &o->seen_w, &o->seen_h, at, y, shown);
      block->bits += (uint64_t)VCS_ONES_64(shown);
    }
    o->seen += (int32_t)block->bits;
    x = to;
  }
}

/* Adds a piece of the playfield, [x0, x1) of row y, in one colour. */
VCS_FN void vcs_field_add(vcs_recorder_t *r, int y, int x0, uint8_t colour, const uint64_t lit[3],
                          const uint64_t shown[3]) {
  if (r->field_y != y) {
    vcs_record_field(r);
    r->field_y = (int16_t)y;
    r->field_pieces = 0;
    for (int w = 0; w < 3; w++) r->field[w] = r->field_shown[w] = 0;
  }
  for (int w = 0; w < 3; w++) {
    r->field[w] |= lit[w];
    r->field_shown[w] |= shown[w];
  }
  if (r->field_pieces && r->field_from[r->field_pieces - 1].colour == colour) return;
  if (r->field_pieces == VCS_FIELD_PIECES) return;
  r->field_from[r->field_pieces].x = (uint8_t)x0;
  r->field_from[r->field_pieces].colour = colour;
  r->field_pieces++;
}

/* A row that is equal to the one above it. */
VCS_SLOW_FN void vcs_record_same(vcs_recorder_t *r, int y) {
  vcs_record_field(r);
  vcs_live_expire(r, y);
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    vcs_object_t *o = &live->object;
    if (live->y != y - 1) continue;
    if (o->kind == VCS_PF) {
      live->y = (int16_t)y;
      o->h = o->rows = (int16_t)(y + 1 - o->y);
      o->pixels += o->w;
      o->pattern = ((uint32_t)o->w << 16 | (uint32_t)o->h) * 0x9E3779B1u;
      if (!live->bits) continue;
      o->seen += (int32_t)live->bits;
      o->seen_h = (int16_t)(y + 1 - o->seen_y);
    } else {
      vcs_live_commit(live);
      live->y = (int16_t)y;
      live->fresh = 1;
    }
  }
}

/* Adds the pixels of an object in one of its windows; a window that passes the right edge is two. */
VCS_FN void vcs_record_window(const vcs_t *m, vcs_recorder_t *r, int kind, int copy, int size, int y, int from,
                              int width, const uint64_t lit[3], const uint64_t shown[3], uint8_t colour) {
  if (from >= VCS_WIDTH) from -= VCS_WIDTH;
  int first = from + width > VCS_WIDTH ? VCS_WIDTH - from : width;
  uint64_t bits = vcs_pixels_at(lit, from, first);
  if (bits) vcs_record_sprite(m, r, kind, copy, size, y, from, bits, vcs_pixels_at(shown, from, first), colour);
  if (first == width) return;
  bits = vcs_pixels_at(lit, 0, width - first);
  if (bits) vcs_record_sprite(m, r, kind, copy, size, y, 0, bits, vcs_pixels_at(shown, 0, width - first), colour);
}

/* Adds what is drawn in pixels [x0, x1) of row y; [x0, x1) without [blank, blank_end) is seen. */
VCS_SLOW_FN void vcs_record_piece(const vcs_t *m, vcs_recorder_t *r, int y, int x0, int x1, int blank, int blank_end) {
  const vcs_video_t *video = &r->video;
  uint64_t piece[3], shown[VCS_OBJECTS][3], lit[VCS_OBJECTS][3];
  unsigned on = video->lit;
  if (r->field_y >= 0 && r->field_y != y) vcs_record_field(r);
  vcs_live_expire(r, y);
  if (!on) return;
  bool score = m->ctrlpf & 2;
  for (int w = 0; w < 3; w++) {
    uint64_t colour[4];
    piece[w] = vcs_from(x0, w) & ~vcs_from(x1, w);
    uint64_t seen = piece[w] & ~(vcs_from(blank, w) & ~vcs_from(blank_end, w));
    vcs_line_colours(m, w, video->line, colour);
    for (int i = 0; i < VCS_OBJECTS; i++) {
      uint64_t shows = i == VCS_P0 || i == VCS_M0   ? colour[VCS_COLUP0]
                       : i == VCS_P1 || i == VCS_M1 ? colour[VCS_COLUP1]
                                                    : colour[VCS_COLUPF];
      if (i == VCS_PF && score) { /* the playfield may have a player's colour on its half */
        uint64_t left = ~vcs_from(80, w);
        shows |= (colour[VCS_COLUP0] & left & ~video->line[VCS_M0].word[w] & ~video->line[VCS_P0].word[w]) |
                 (colour[VCS_COLUP1] & ~left & ~video->line[VCS_M1].word[w] & ~video->line[VCS_P1].word[w]);
      }
      lit[i][w] = video->line[i].word[w] & piece[w];
      shown[i][w] = lit[i][w] & shows & seen;
    }
  }
  for (; on; on &= on - 1) {
    int i = VCS_LOWEST(on), side = i & 1;
    if (!(lit[i][0] | lit[i][1] | lit[i][2])) continue;
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
      vcs_record_window(m, r, i, 0, width, y, m->pos[i], 8, lit[i], shown[i], m->colu[VCS_COLUPF]);
    } else {
      vcs_copies_t copies = vcs_copies(m->nusiz[side] & 7);
      int player = i == VCS_P0 || i == VCS_P1;
      int size = player ? copies.stretch : 1 << (m->nusiz[side] >> 4 & 3);
      int width = player ? 8 * copies.stretch + (copies.stretch > 1) : 8;
      uint8_t colour = m->colu[side ? VCS_COLUP1 : VCS_COLUP0];
      vcs_record_window(m, r, i, 0, size, y, m->pos[i], width, lit[i], shown[i], colour);
      if (copies.second) {
        vcs_record_window(m, r, i, 1, size, y, m->pos[i] + 16 * copies.second, width, lit[i], shown[i], colour);
      }
      if (copies.third) {
        vcs_record_window(m, r, i, 2, size, y, m->pos[i] + 16 * copies.third, width, lit[i], shown[i], colour);
      }
    }
  }
}

/* The frame is over: all objects end. */
VCS_SLOW_FN void vcs_recorder_finish(vcs_recorder_t *r) {
  vcs_record_field(r);
  for (int i = 0; i < r->live_count; i++) vcs_live_end(r, &r->live[i]);
  r->live_count = 0;
}

#endif
