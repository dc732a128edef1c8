/* objects.h: which objects a frame shows (diffvcs/objects.h), from the lines as they are drawn.
 *
 * The TIA that sleeps adds what it has painted (rows.h) if there is a recorder. For the one that draws there is
 * record_beam.h. There the mask of each object is known, and with it where its copies begin: its stance, the position
 * and NUSIZ.
 *
 *   row y     ....####........####........####....     P0 with three copies: three windows of eight pixels
 *   row y+1   ....#..#........#..#........#..#....     each goes on with the object whose window was near it
 *
 * A recorder keeps the objects that may go on in the next row (vcs_live_t). Whole rows are compared with the row above
 * them, object by object: what is as it was only makes a streak of rows longer (vcs_streak_t), and is added when it
 * changes. The playfield is collected over the pieces of a row, because a piece that ends in the middle of a block does
 * not end the block.
 */
#ifndef VCS_CORE_OBJECTS_H
#define VCS_CORE_OBJECTS_H

#include "diffvcs/objects.h"
#include "tia_video.h"

enum {
  VCS_LIVE_MAX = 64,     /* players, missiles and balls that may go on, at most */
  VCS_OBJECT_GAP = 2,    /* empty rows within an object */
  VCS_OBJECT_SHIFT = 8,  /* an object moves by less than this from row to row, and ... */
  VCS_GAP_SHIFT = 2,     /* ... by less than this over empty rows: otherwise it is used again as another object */
  VCS_FIELD_PIECES = 40, /* pieces of a row in which the playfield has different colours */
};

/* A player, missile or ball that may go on. */
typedef struct {
  int16_t window;                  /* left end of its window in the last row */
  int16_t y;                       /* the last row */
  int16_t fresh;                   /* number of last rows, all equal, that are not yet part of the object */
  uint8_t colour;                  /* of the last row */
  uint8_t group;                   /* NUSIZ, if it stands for all copies, which are equal so far; 0: for one */
  uint64_t bits, shown;            /* its pixels in the last row from the window on: lit, and seen */
  uint64_t columns, shown_columns; /* those of all rows since the window was there that are part of the object */
  vcs_object_t object;
} vcs_live_t;

/* A block of the playfield that may go on. */
typedef struct {
  uint8_t x, w, colour;
  bool covered; /* something has covered a part of it: then the others say what was seen, as in vcs_object_t */
  int16_t y;    /* its first row */
  int16_t seen_x, seen_y, seen_w, seen_h;
  int32_t seen;
} vcs_block_t;

/* Rows of the playfield: equal rows are collected, and become blocks when another row comes. */
typedef struct {
  uint64_t lit[3], shown[3];
  struct {
    uint8_t x, colour;
  } from[VCS_FIELD_PIECES]; /* where its colour changes */
  int32_t pieces;
} vcs_field_row_t;

/* What an object is in each of the rows from `y` on. */
typedef struct {
  uint64_t look;           /* vcs_look_of */
  vcs_pixels_t lit, shown; /* `shown` only if it is partly covered */
  int16_t y;               /* the first row */
} vcs_streak_t;

/* An object was at another place, or had other copies, up to pixel `end` of the row. */
typedef struct {
  uint8_t pos, nusiz, end;
} vcs_stance_t;
enum { VCS_STANCES = 24 }; /* of an object in a row; a program has no time for more */

/* Machines that record run with a vcs_recorder_t. */
typedef struct {
  vcs_object_t *list;
  int32_t capacity, count;
  int32_t live_count, groups;     /* live objects, and those that stand for several copies */
  uint8_t grouped;                /* kinds that may have such a one */
  int16_t recent[VCS_OBJECTS][3]; /* the live object of each copy in the last row: the first guess */
  uint8_t on, partly;             /* objects that have a streak, and those of them that are partly covered in it */
  uint8_t stirred;                /* objects that have stances before the present one */
  bool whole;                     /* the last row was added as a whole: its objects have streaks */
  vcs_streak_t streak[VCS_OBJECTS];
  uint8_t stances[VCS_OBJECTS]; /* number of stances before the present one */
  vcs_stance_t stance[VCS_OBJECTS][VCS_STANCES];
  int16_t row_y;              /* the row of the playfield that is being drawn, -1: none */
  int16_t field_y, field_end; /* the rows that `field` is, empty: none */
  vcs_field_row_t row, field;
  vcs_live_t live[VCS_LIVE_MAX];
  uint64_t starts[3], ends[3];     /* pixels with which blocks begin that go on before row field_y, and after which */
  uint8_t start_of[VCS_WIDTH + 1]; /* by the pixel after it: the one with which a block begins */
  int32_t colour, covered;         /* of all blocks, -1: they have several; number of blocks partly covered so far */
  vcs_block_t block[VCS_WIDTH];    /* by the pixel with which it begins */
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
  r->count = r->live_count = r->groups = r->covered = 0;
  r->colour = -1;
  r->grouped = r->partly = r->stirred = 0;
  r->whole = false;
  for (int w = 0; w < 3; w++) r->starts[w] = r->ends[w] = 0;
  r->row_y = -1;
  r->field_y = r->field_end = 0;
  r->on = 0;
  for (int i = 0; i < VCS_OBJECTS; i++) r->stances[i] = 0;
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

/* Makes the last rows of an object part of it. Rows are shaded into the pattern from the object's left end, so that the
 * digest does not depend on its place. */
VCS_FN void vcs_live_commit(vcs_live_t *live) {
  vcs_object_t *o = &live->object;
  int rows = live->fresh;
  if (!rows) return;
  int ones = vcs_ones(live->bits), first = live->y + 1 - rows;
  live->fresh = 0;
  if (!o->rows) o->y = (int16_t)first;
  o->h = (int16_t)(live->y + 1 - o->y);
  o->rows = (int16_t)(o->rows + rows);
  o->pixels += rows * ones;
  for (int i = 0; i < rows; i++) {
    o->pattern = (o->pattern ^ (uint32_t)(live->bits ^ live->bits >> 32)) * 0x01000193u;
    o->pattern ^= o->pattern >> 15;
  }
  live->columns |= live->bits;
  if (!live->shown) return;
  if (o->seen == 0) {
    o->seen_y = (int16_t)first;
    o->colour = live->colour;
    o->colours = 1;
  } else if (o->colour != live->colour && o->colours < 255) {
    o->colours = (uint8_t)(o->colours + rows < 255 ? o->colours + rows : 255);
  }
  o->seen_h = (int16_t)(live->y + 1 - o->seen_y);
  o->seen += rows * (live->shown == live->bits ? ones : vcs_ones(live->shown));
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

/* Makes a group's object that of a copy that is `by` pixels further right. */
VCS_FN void vcs_object_shift(vcs_object_t *object, int copy, int by) {
  object->copy = (uint8_t)copy;
  if (object->w) object->x = (int16_t)(object->x + by);
  if (object->seen_w) object->seen_x = (int16_t)(object->seen_x + by);
}

VCS_FN void vcs_live_end(vcs_recorder_t *r, vcs_live_t *live) {
  vcs_live_commit(live);
  vcs_live_widen(live);
  vcs_record_object(r, &live->object);
  if (!live->group) return;
  vcs_copies_t copies = vcs_copies(live->group);
  r->groups--;
  vcs_object_shift(&live->object, 1, 16 * copies.second);
  vcs_record_object(r, &live->object);
  if (!copies.third) return;
  vcs_object_shift(&live->object, 2, 16 * (copies.third - copies.second));
  vcs_record_object(r, &live->object);
}

/* Ends the objects that cannot go on in row y. */
VCS_SLOW_FN void vcs_live_expire(vcs_recorder_t *r, int y) {
  int kept = 0;
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

/* A new object in row y; the oldest makes place for it if there are too many. There is always room for the copies of
 * groups. */
VCS_FN vcs_live_t *vcs_live_new(vcs_recorder_t *r, int kind, int size, int y) {
  if (r->live_count + 2 * r->groups > VCS_LIVE_MAX - 3) vcs_live_expire(r, y);
  while (r->live_count + 2 * r->groups > VCS_LIVE_MAX - 3) {
    vcs_live_end(r, &r->live[0]);
    for (int i = 1; i < VCS_LIVE_MAX; i++) r->live[i - 1] = r->live[i];
    r->live_count--;
  }
  vcs_live_t *live = &r->live[r->live_count++];
  vcs_object_clear(&live->object, kind, size);
  live->object.pattern = 0x811C9DC5u;
  live->fresh = live->group = 0;
  live->columns = live->shown_columns = 0;
  return live;
}

/* The groups of a kind that may go on in row y become single objects. */
VCS_SLOW_FN void vcs_live_part(vcs_recorder_t *r, int kind, int y) {
  r->grouped &= (uint8_t) ~(1u << kind);
  for (int i = 0, count = r->live_count; i < count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->object.kind != kind || !live->group || y - live->y > VCS_OBJECT_GAP + 1) continue;
    vcs_copies_t copies = vcs_copies(live->group);
    r->groups--;
    live->group = 0;
    for (int copy = 1; copy <= 1 + (copies.third > 0); copy++) {
      vcs_live_t *other = &r->live[r->live_count];
      int by = 16 * (copy == 1 ? copies.second : copies.third);
      *other = *live;
      other->window = (int16_t)(live->window + by);
      vcs_object_shift(&other->object, copy, by);
      r->recent[kind][copy] = (int16_t)r->live_count++;
    }
  }
}

/* The live object that goes on with a window of row y: the nearest one. NULL: none is near. */
VCS_SLOW_FN vcs_live_t *vcs_live_search(vcs_recorder_t *r, int kind, int copy, int y, int window) {
  vcs_live_t *best = NULL;
  int nearest = VCS_OBJECT_SHIFT;
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->object.kind != kind || y - live->y > VCS_OBJECT_GAP + 1) continue;
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

VCS_FN vcs_live_t *vcs_live_find(vcs_recorder_t *r, int kind, int copy, int y, int window) {
  vcs_live_t *live = &r->live[r->recent[kind][copy]];
  if (r->recent[kind][copy] < r->live_count && live->object.kind == kind && live->window == window && live->y >= y - 1)
    return live;
  return vcs_live_search(r, kind, copy, y, window);
}

/* What a window of a player, missile or ball shows in some rows. */
typedef struct {
  int kind, copy, size, reflected;
  int y, rows;
  uint8_t colour;
} vcs_use_t;

/* Rows follow those that an object has. */
VCS_FN void vcs_live_add(vcs_live_t *live, const vcs_use_t *use, int window, uint64_t bits, uint64_t shown) {
  if (live->window == window && live->bits == bits && live->shown == shown && live->colour == use->colour &&
      live->y == use->y - 1 && live->fresh) {
    live->y = (int16_t)(live->y + use->rows);
    live->fresh = (int16_t)(live->fresh + use->rows);
    return;
  }
  vcs_live_commit(live);
  if (live->window != window) vcs_live_widen(live);
  live->window = (int16_t)window;
  live->y = (int16_t)(use->y + use->rows - 1);
  live->bits = bits;
  live->shown = shown;
  live->colour = use->colour;
  live->fresh = (int16_t)use->rows;
}

VCS_FN vcs_live_t *vcs_live_begin(vcs_recorder_t *r, const vcs_use_t *use) {
  vcs_live_t *live = vcs_live_new(r, use->kind, use->size, use->y);
  r->recent[use->kind][use->copy] = (int16_t)(r->live_count - 1);
  live->object.copy = (uint8_t)use->copy;
  live->object.reflected = (uint8_t)use->reflected;
  return live;
}

/* Adds pixels of a player, missile or ball: those of one window in equal rows, or in a piece of one row. */
VCS_FN void vcs_record_sprite(vcs_recorder_t *r, const vcs_use_t *use, int window, uint64_t bits, uint64_t shown) {
  vcs_live_t *live = vcs_live_find(r, use->kind, use->copy, use->y, window);
  if (live && live->y == use->y) { /* a further piece of the row */
    if (live->fresh > 1) {
      live->fresh--;
      live->y--;
      vcs_live_commit(live);
      live->fresh = 1;
      live->y++;
    }
    if (!live->shown) live->colour = use->colour; /* what the row showed so far was covered */
    live->bits |= bits;
    live->shown |= shown;
    return;
  }
  if (!live) live = vcs_live_begin(r, use);
  vcs_live_add(live, use, window, bits, shown);
}

/* The group that goes on with copies of NUSIZ `group` in row y, whose first window is given, if nothing else of the
 * kind may go on. *none: nothing may. */
VCS_SLOW_FN vcs_live_t *vcs_group_search(vcs_recorder_t *r, int kind, int y, int window, unsigned group, bool *none) {
  vcs_live_t *found = NULL;
  *none = true;
  for (int i = 0; i < r->live_count; i++) {
    vcs_live_t *live = &r->live[i];
    if (live->object.kind != kind || y - live->y > VCS_OBJECT_GAP + 1) continue;
    int distance = window > live->window ? window - live->window : live->window - window;
    *none = false;
    if (found || live->group != group || live->y >= y || distance >= VCS_OBJECT_SHIFT ||
        (live->y < y - 1 && distance >= VCS_GAP_SHIFT))
      return NULL;
    found = live;
    r->recent[kind][0] = (int16_t)i;
  }
  return found;
}

/* Adds the pixels of all copies as those of one group. Returns false if they are not equal, or pass the right edge, or
 * other objects of the kind may go on with them. All lit pixels are seen. */
VCS_FN bool vcs_record_group(vcs_recorder_t *r, const vcs_use_t *use, unsigned group, int window, int width,
                             const uint64_t lit[3]) {
  vcs_copies_t copies = vcs_copies(group);
  int second = window + 16 * copies.second, third = window + 16 * copies.third;
  if ((third > second ? third : second) + width > VCS_WIDTH) return false;
  uint64_t bits = vcs_pixels_at(lit, window, width);
  if (!bits || vcs_pixels_at(lit, second, width) != bits || vcs_pixels_at(lit, third, width) != bits) return false;
  vcs_live_t *live = &r->live[r->recent[use->kind][0]];
  if (r->recent[use->kind][0] >= r->live_count || live->object.kind != use->kind || live->group != group ||
      live->window != window || live->y != use->y - 1) {
    bool none;
    live = vcs_group_search(r, use->kind, use->y, window, group, &none);
    if (!live && !none) return false;
    if (!live) {
      live = vcs_live_begin(r, use);
      live->group = (uint8_t)group;
      r->groups++;
      r->grouped |= (uint8_t)(1u << use->kind);
    }
  }
  vcs_live_add(live, use, window, bits, bits);
  return true;
}

/* Lists a block that ends before row `end`. */
VCS_FN void vcs_block_end(vcs_recorder_t *r, const vcs_block_t *block, int end) {
  vcs_object_t aside, *o = r->count < r->capacity ? &r->list[r->count] : &aside;
  if (block->covered) {
    r->covered--;
    if (!block->seen) return;
  }
  vcs_object_clear(o, VCS_PF, 4);
  o->x = o->seen_x = block->x;
  o->y = o->seen_y = block->y;
  o->w = o->seen_w = block->w;
  o->h = o->seen_h = o->rows = (int16_t)(end - block->y);
  o->pixels = o->seen = o->h * o->w;
  o->colour = block->colour;
  o->colours = 1;
  o->pattern = ((uint32_t)o->w << 16 | (uint32_t)o->h) * 0x9E3779B1u;
  if (block->covered) {
    o->seen_x = block->seen_x;
    o->seen_y = block->seen_y;
    o->seen_w = block->seen_w;
    o->seen_h = block->seen_h;
    o->seen = block->seen;
  }
  r->count++;
}

/* Notes what is seen of a block in rows [y, end): the pixels `shown`. */
VCS_SLOW_FN void vcs_block_see(vcs_recorder_t *r, vcs_block_t *block, int y, int end, const uint64_t shown[3]) {
  int ones = 0, to = block->x + block->w;
  for (int at = block->x; at < to; at += 64) ones += vcs_ones(vcs_pixels_at(shown, at, to - at < 64 ? to - at : 64));
  if (ones == block->w && !block->covered) return;
  if (!block->covered) {
    block->covered = true;
    r->covered++;
    block->seen_x = block->x;
    block->seen_y = block->y;
    block->seen_w = y > block->y ? block->w : 0;
    block->seen_h = (int16_t)(y - block->y);
    block->seen = block->seen_h * block->w;
  }
  if (!ones) return;
  for (int at = block->x; at < to; at += 64) {
    uint64_t bits = vcs_pixels_at(shown, at, to - at < 64 ? to - at : 64);
    if (bits) vcs_box_widen(&block->seen_x, &block->seen_w, at, bits);
  }
  if (!block->seen) block->seen_y = (int16_t)y;
  block->seen_h = (int16_t)(end - block->seen_y);
  block->seen += (end - y) * ones;
}

/* The first pixel after x that is set in a mask that has one, and the last one before x. */
VCS_FN int vcs_next_pixel(const uint64_t mask[3], int x) {
  int w = ++x >> 6;
  uint64_t bits = mask[w] >> (x & 63) << (x & 63);
  while (!bits) bits = mask[++w];
  return 64 * w + VCS_LOWEST_64(bits);
}
VCS_FN int vcs_last_pixel(const uint64_t mask[3], int x) {
  int w = --x >> 6;
  uint64_t bits = mask[w] << (63 - (x & 63)) >> (63 - (x & 63));
  while (!bits) bits = mask[--w];
  return 64 * w + VCS_HIGHEST_64(bits);
}

/* Whether a mask has any of `count` pixels from x on. */
VCS_FN bool vcs_has_pixels(const uint64_t mask[3], int x, int count) {
  for (; count > 64; x += 64, count -= 64) {
    if (vcs_pixels_at(mask, x, 64)) return true;
  }
  return vcs_pixels_at(mask, x, count) != 0;
}

VCS_FN bool vcs_has_pixel(const uint64_t mask[3], int x) { return mask[x >> 6] >> (x & 63) & 1; }

VCS_FN uint8_t vcs_field_colour(const vcs_field_row_t *row, int x) {
  int piece = row->pieces - 1;
  while (piece > 0 && row->from[piece].x > x) piece--;
  return row->from[piece].colour;
}

/* Finds the blocks that rows [y, end) with other colours cannot make longer: those of another colour. */
VCS_SLOW_FN void vcs_blocks_turn(const vcs_recorder_t *r, const vcs_field_row_t *row, uint64_t turned[3]) {
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w]; left; left &= left - 1) {
      int x = 64 * w + VCS_LOWEST_64(left);
      if (r->block[x].colour != vcs_field_colour(row, x)) turned[w] |= left & (0 - left);
    }
  }
}

/* A block ends before row y because its end is another one; then one that begins at the same pixel is new. */
VCS_FN void vcs_block_replace(vcs_recorder_t *r, const uint64_t starts[3], uint64_t turned[3], int x, int y) {
  if (!vcs_has_pixel(r->starts, x) || !vcs_has_pixel(starts, x) || vcs_has_pixel(turned, x)) return;
  turned[x >> 6] |= 1ULL << (x & 63);
  vcs_block_end(r, &r->block[x], y);
}

/* Rows [y, end) of the playfield are equal: each run of lit pixels of one colour makes the block above it longer, or is
 * a new one. Blocks that do not go on are listed. Only where runs begin or end elsewhere than above is there anything
 * to do. */
VCS_SLOW_FN void vcs_blocks_add(vcs_recorder_t *r, const vcs_field_row_t *row, int y, int end) {
  uint64_t starts[3], ends[3], breaks[3] = {0, 0, 0}, turned[3] = {0, 0, 0}, hidden[3], before = 0;
  int colour = row->pieces == 1 ? row->from[0].colour : -1;
  for (int i = 1; i < row->pieces; i++) breaks[row->from[i].x >> 6] |= 1ULL << (row->from[i].x & 63);
  for (int w = 0; w < 3; w++) {
    uint64_t lit = row->lit[w], left = lit << 1 | before;
    starts[w] = lit & (~left | breaks[w]);
    ends[w] = left & (~lit | breaks[w]);
    hidden[w] = lit ^ row->shown[w];
    before = lit >> 63;
  }
  if (colour < 0 || colour != r->colour) vcs_blocks_turn(r, row, turned);
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w] & (~starts[w] | turned[w]); left; left &= left - 1)
      vcs_block_end(r, &r->block[64 * w + VCS_LOWEST_64(left)], y);
  }
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->ends[w] & ~ends[w]; left; left &= left - 1)
      vcs_block_replace(r, starts, turned, r->start_of[64 * w + VCS_LOWEST_64(left)], y);
    for (uint64_t left = ends[w] & ~r->ends[w]; left; left &= left - 1)
      vcs_block_replace(r, starts, turned, vcs_last_pixel(starts, 64 * w + VCS_LOWEST_64(left)), y);
  }
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = starts[w] & (~r->starts[w] | turned[w]); left; left &= left - 1) {
      int x = 64 * w + VCS_LOWEST_64(left), to = vcs_next_pixel(ends, x);
      vcs_block_t *block = &r->block[x];
      block->x = (uint8_t)x;
      block->w = (uint8_t)(to - x);
      block->colour = colour < 0 ? vcs_field_colour(row, x) : (uint8_t)colour;
      block->covered = false;
      block->y = (int16_t)y;
      r->start_of[to] = (uint8_t)x;
    }
  }
  for (int w = 0; w < 3; w++) {
    r->starts[w] = starts[w];
    r->ends[w] = ends[w];
  }
  r->colour = colour;
  if (!(hidden[0] | hidden[1] | hidden[2]) && !r->covered) return;
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = starts[w]; left; left &= left - 1) {
      vcs_block_t *block = &r->block[64 * w + VCS_LOWEST_64(left)];
      if (block->covered || vcs_has_pixels(hidden, block->x, block->w)) vcs_block_see(r, block, y, end, row->shown);
    }
  }
}

/* Turns the collected rows of the playfield into blocks. */
VCS_FN void vcs_field_end(vcs_recorder_t *r) {
  if (r->field_end == r->field_y) return;
  vcs_blocks_add(r, &r->field, r->field_y, r->field_end);
  r->field_y = r->field_end;
}

/* The playfield is dark from the end of the collected rows up to row y: all blocks end. */
VCS_SLOW_FN void vcs_field_gap(vcs_recorder_t *r, int y) {
  vcs_field_end(r);
  for (int w = 0; w < 3; w++) {
    for (uint64_t left = r->starts[w]; left; left &= left - 1)
      vcs_block_end(r, &r->block[64 * w + VCS_LOWEST_64(left)], r->field_y);
    r->starts[w] = r->ends[w] = 0;
  }
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

/* Adds the pixels of an object in one of its windows; a window that passes the right edge is two. All lit pixels are
 * seen if `shown` is NULL. */
VCS_FN void vcs_record_window(vcs_recorder_t *r, const vcs_use_t *use, int from, int width, const uint64_t lit[3],
                              const uint64_t shown[3]) {
  if (from >= VCS_WIDTH) from -= VCS_WIDTH;
  int first = from + width > VCS_WIDTH ? VCS_WIDTH - from : width;
  uint64_t bits = vcs_pixels_at(lit, from, first);
  if (bits) vcs_record_sprite(r, use, from, bits, shown ? vcs_pixels_at(shown, from, first) : bits);
  if (first == width) return;
  bits = vcs_pixels_at(lit, 0, width - first);
  if (bits) vcs_record_sprite(r, use, 0, bits, shown ? vcs_pixels_at(shown, 0, width - first) : bits);
}

/* NUSIZ of a player or missile; the ball's size is at the same place in CTRLPF. */
VCS_FN uint8_t vcs_nusiz_of(const vcs_t *m, int kind) {
  return (uint8_t)(kind == VCS_BL ? m->ctrlpf & 0x30 : m->nusiz[kind & 1]);
}

/* What else there is to an object than its pixels, in one number: position, NUSIZ, colour, size, mirrored. The
 * playfield has its colours only; it has two with the score's colours. */
VCS_FN uint64_t vcs_look_of(const vcs_t *m, int kind, unsigned pos, unsigned nusiz) {
  unsigned colour = m->colu[kind >= VCS_BL ? VCS_COLUPF : kind & 1 ? VCS_COLUP1 : VCS_COLUP0], size = 0, reflected = 0;
  if (kind == VCS_PF) {
    bool scored = (m->ctrlpf & 2) && (!(m->ctrlpf & 4) || vcs_objects_on(m) == 1u << VCS_PF);
    return scored ? 1u << 16 | (uint64_t)m->colu[VCS_COLUP0] << 24 | (uint64_t)m->colu[VCS_COLUP1] << 32
                  : (uint64_t)colour << 24 | (uint64_t)colour << 32;
  }
  if (kind == VCS_BL) {
    size = nusiz >> 4 & 3, nusiz = 0;
  } else if (kind <= VCS_P1) {
    reflected = m->reflect[kind] != 0, nusiz &= 7;
  } else {
    size = nusiz >> 4 & 3, nusiz &= 7;
  }
  return pos | (uint64_t)nusiz << 8 | (uint64_t)size << 16 | (uint64_t)colour << 24 | (uint64_t)reflected << 32;
}

/* Adds the pixels of a player, missile or ball in all its windows, in some equal rows or a piece of one. */
VCS_FN void vcs_record_windows(vcs_recorder_t *r, int kind, uint64_t look, int y, int rows, const uint64_t *lit,
                               const uint64_t *shown) {
  vcs_copies_t copies = vcs_copies(look >> 8 & 7);
  int pos = (int)(look & 255), width = 8;
  vcs_use_t use = {kind, 0, 1 << (look >> 16 & 3), (int)(look >> 32 & 1), y, rows, (uint8_t)(look >> 24)};
  if (kind <= VCS_P1) {
    use.size = copies.stretch;
    width = 8 * copies.stretch + (copies.stretch > 1);
  }
  if (copies.second && !shown && vcs_record_group(r, &use, look >> 8 & 7, pos, width, lit)) return;
  if (r->grouped >> kind & 1) vcs_live_part(r, kind, y);
  vcs_record_window(r, &use, pos, width, lit, shown);
  if (copies.second) {
    use.copy = 1;
    vcs_record_window(r, &use, pos + 16 * copies.second, width, lit, shown);
  }
  if (copies.third) {
    use.copy = 2;
    vcs_record_window(r, &use, pos + 16 * copies.third, width, lit, shown);
  }
}

/* Adds a piece [x0, x1) of the playfield in row y. */
VCS_FN void vcs_record_field(vcs_recorder_t *r, uint64_t look, int y, int x0, int x1, const uint64_t *lit,
                             const uint64_t *shown) {
  if (x0 < 80 || !(look >> 16 & 1)) vcs_field_add(r, y, x0, (uint8_t)(look >> 24), lit, shown);
  if (x1 > 80 && look >> 16 & 1) vcs_field_add(r, y, x0 < 80 ? 80 : x0, (uint8_t)(look >> 32), lit, shown);
}

/* Adds equal rows [y, end) of the whole playfield. */
VCS_FN void vcs_record_field_rows(vcs_recorder_t *r, uint64_t look, int y, int end, const uint64_t *lit,
                                  const uint64_t *shown) {
  vcs_field_row_t *row = &r->row;
  vcs_field_row_end(r);
  if (r->field_end == y) {
    vcs_field_end(r);
  } else {
    vcs_field_gap(r, y);
  }
  for (int w = 0; w < 3; w++) {
    row->lit[w] = lit[w];
    row->shown[w] = shown[w];
  }
  row->from[0].x = 0;
  row->from[0].colour = (uint8_t)(look >> 24);
  row->from[1].x = 80;
  row->from[1].colour = (uint8_t)(look >> 32);
  row->pieces = row->from[0].colour == row->from[1].colour ? 1 : 2;
  vcs_blocks_add(r, row, y, end);
  r->field_y = r->field_end = (int16_t)end;
}

/* The streak of an object ends before row y: it is added. */
VCS_FN void vcs_streak_end(vcs_recorder_t *r, int kind, int y) {
  const vcs_streak_t *streak = &r->streak[kind];
  const uint64_t *shown = r->partly >> kind & 1 ? streak->shown.word : NULL;
  r->on &= (uint8_t) ~(1u << kind);
  r->partly &= (uint8_t) ~(1u << kind);
  if (kind != VCS_PF) {
    vcs_record_windows(r, kind, streak->look, streak->y, y - streak->y, streak->lit.word, shown);
  } else {
    vcs_record_field_rows(r, streak->look, streak->y, y, streak->lit.word, shown ? shown : streak->lit.word);
  }
}

VCS_FN bool vcs_is_same(const uint64_t a[3], const uint64_t b[3]) {
  return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]));
}

/* A whole row of an object: its streak goes on, or ends and another one begins. All lit pixels are seen if `shown` is
 * NULL.
 */
VCS_FN void vcs_streak_row(vcs_recorder_t *r, int kind, uint64_t look, int y, const uint64_t *lit,
                           const uint64_t *shown) {
  vcs_streak_t *streak = &r->streak[kind];
  bool partly = shown && !vcs_is_same(shown, lit);
  if (r->on >> kind & 1) {
    if (streak->look == look && vcs_is_same(streak->lit.word, lit) && (r->partly >> kind & 1) == partly &&
        (!partly || vcs_is_same(streak->shown.word, shown)))
      return;
    vcs_streak_end(r, kind, y);
  }
  streak->look = look;
  streak->y = (int16_t)y;
  for (int w = 0; w < 3; w++) streak->lit.word[w] = lit[w];
  for (int w = 0; w < 3 && partly; w++) streak->shown.word[w] = shown[w];
  r->on |= (uint8_t)(1u << kind);
  r->partly |= (uint8_t)(partly << kind);
}

/* A piece [x0, x1) of row y of an object, which may have been at other places in it. */
VCS_SLOW_FN void vcs_record_stances(const vcs_t *m, vcs_recorder_t *r, int kind, int y, int x0, int x1,
                                    const uint64_t *lit, const uint64_t *shown) {
  for (int i = 0; i <= r->stances[kind]; i++) {
    bool last = i == r->stances[kind];
    const vcs_stance_t *stance = &r->stance[kind][i];
    int to = last ? x1 : stance->end;
    uint64_t look = last ? vcs_look_of(m, kind, m->pos[kind], vcs_nusiz_of(m, kind))
                         : vcs_look_of(m, kind, stance->pos, stance->nusiz);
    uint64_t part[3], seen[3];
    if (to <= x0) continue;
    for (int w = 0; w < 3; w++) {
      part[w] = lit[w] & vcs_from(x0, w) & ~vcs_from(to, w);
      seen[w] = part[w] & (shown ? shown[w] : part[w]);
    }
    vcs_record_windows(r, kind, look, y, 1, part, seen);
    x0 = to;
  }
}

/* An object is about to change at pixel x of the row: what it is so far is where it is now. */
VCS_FN void vcs_record_stance(const vcs_t *m, vcs_recorder_t *r, int kind, int x) {
  vcs_stance_t now = {0, vcs_nusiz_of(m, kind), (uint8_t)x};
  int n = r->stances[kind];
  if (kind == VCS_PF) return;
  now.pos = m->pos[kind];
  if (n == VCS_STANCES || (n && r->stance[kind][n - 1].pos == now.pos && r->stance[kind][n - 1].nusiz == now.nusiz))
    n--;
  r->stance[kind][n] = now;
  r->stances[kind] = (uint8_t)(n + 1);
  r->stirred |= (uint8_t)(1u << kind);
}

/* A row has ended. */
VCS_FN void vcs_record_row_end(vcs_recorder_t *r) {
  for (; r->stirred; r->stirred &= (uint8_t)(r->stirred - 1)) r->stances[VCS_LOWEST((unsigned)r->stirred)] = 0;
}

/* Whether all stances of a row are the present one. */
VCS_FN bool vcs_stands_still(const vcs_t *m, const vcs_recorder_t *r, int kind) {
  return r->stances[kind] == 0 || (r->stances[kind] == 1 && r->stance[kind][0].pos == m->pos[kind] &&
                                   r->stance[kind][0].nusiz == vcs_nusiz_of(m, kind));
}

/* The objects of a colour, with their pixels: P0 and M0, P1 and M1, PF and BL. Those of one colour do not cover each
 * other. */
VCS_FN void vcs_join_pair(unsigned on, const uint64_t *lit[VCS_OBJECTS], int a, int b, uint64_t both[3]) {
  for (int w = 0; w < 3; w++) both[w] = 0;
  for (int w = 0; w < 3 && on >> a & 1; w++) both[w] = lit[a][w];
  for (int w = 0; w < 3 && on >> b & 1; w++) both[w] |= lit[b][w];
}

/* Finds the pixels of each object that are `seen` and not covered by another one; `pair` are those of vcs_join_pair. */
VCS_SLOW_FN void vcs_find_shown(const vcs_t *m, unsigned on, const uint64_t seen[3], const uint64_t *lit[VCS_OBJECTS],
                                uint64_t pair[3][3], uint64_t shown[VCS_OBJECTS][3]) {
  bool front = m->ctrlpf & 4, scored = (m->ctrlpf & 2) && (!front || vcs_objects_on(m) == 1u << VCS_PF);
  for (unsigned left = on; left; left &= left - 1) {
    int i = VCS_LOWEST(left), side = i & 1;
    for (int w = 0; w < 3; w++) {
      uint64_t half = ~vcs_from(80, w), pf = scored && on >> VCS_PF & 1 ? lit[VCS_PF][w] : 0, cover;
      if (i == VCS_PF &&
          scored) { /* it has the left player's colour on the left half, and is in front of the right one */
        cover = pair[0][w] | (pair[1][w] & ~half);
      } else if (i >= VCS_BL) {
        cover = front && !scored ? 0 : pair[0][w] | pair[1][w] | pf;
      } else {
        cover = (side ? pair[0][w] | (pf & half) : 0) | (front && !scored ? pair[2][w] : 0);
      }
      shown[i][w] = lit[i][w] & seen[w] & ~cover;
    }
  }
}

/* Adds what is drawn in pixels [x0, x1) of row y; `on` are the objects that may be lit, with their pixels, and
 * [x0, x1) without [blank, blank_end) is seen. */
VCS_SLOW_FN void vcs_record_piece(const vcs_t *m, vcs_recorder_t *r, int y, int x0, int x1, unsigned on,
                                  const vcs_pixels_t *const line[VCS_OBJECTS], int blank, int blank_end) {
  uint64_t shown[VCS_OBJECTS][3], piece[VCS_OBJECTS][3], pair[3][3], covers = 0;
  const uint64_t *lit[VCS_OBJECTS] = {0, 0, 0, 0, 0, 0};
  bool whole = x1 - x0 == VCS_WIDTH;
  r->whole = whole;
  for (unsigned left = on; left; left &= left - 1) {
    int i = VCS_LOWEST(left);
    lit[i] = line[i]->word;
    if (!whole) {
      for (int w = 0; w < 3; w++) piece[i][w] = line[i]->word[w] & vcs_from(x0, w) & ~vcs_from(x1, w);
      lit[i] = piece[i];
    }
    if (!(lit[i][0] | lit[i][1] | lit[i][2])) on &= ~(1u << i);
  }
  for (unsigned ends = r->on & (whole ? ~on : ~0u); ends; ends &= ends - 1) vcs_streak_end(r, VCS_LOWEST(ends), y);
  if (!on) return;
  bool all_shown = blank >= blank_end;
  if (on & (on - 1) || !all_shown) {
    vcs_join_pair(on, lit, VCS_P0, VCS_M0, pair[0]);
    vcs_join_pair(on, lit, VCS_P1, VCS_M1, pair[1]);
    vcs_join_pair(on, lit, VCS_PF, VCS_BL, pair[2]);
    for (int w = 0; w < 3; w++) covers |= (pair[0][w] & pair[1][w]) | ((pair[0][w] | pair[1][w]) & pair[2][w]);
    if (m->ctrlpf & 2) covers = 1; /* PF and BL may have different colours */
    if (covers || !all_shown) {
      uint64_t seen[3];
      for (int w = 0; w < 3; w++) seen[w] = ~(vcs_from(blank, w) & ~vcs_from(blank_end, w));
      all_shown = !covers && !((pair[0][0] | pair[1][0] | pair[2][0]) & ~seen[0]);
      if (!all_shown) vcs_find_shown(m, on, seen, lit, pair, shown);
    }
  }
  for (; on; on &= on - 1) {
    int i = VCS_LOWEST(on);
    const uint64_t *seen = all_shown ? NULL : shown[i];
    if (i == VCS_PF) {
      uint64_t look = vcs_look_of(m, i, 0, 0);
      if (whole) {
        vcs_streak_row(r, i, look, y, lit[i], seen);
      } else {
        vcs_record_field(r, look, y, x0, x1, lit[i], seen ? seen : lit[i]);
      }
      continue;
    }
    uint64_t look = vcs_look_of(m, i, m->pos[i], vcs_nusiz_of(m, i));
    if (!vcs_stands_still(m, r, i)) {
      if (r->on >> i & 1) vcs_streak_end(r, i, y);
      vcs_record_stances(m, r, i, y, x0, x1, lit[i], seen);
    } else if (whole) {
      vcs_streak_row(r, i, look, y, lit[i], seen);
    } else {
      vcs_record_windows(r, i, look, y, 1, lit[i], seen);
    }
  }
}

/* Adds a whole row y; `changed` are the objects, or VCS_LOOK, that are not as in the row above. Only those are compared
 * with their streaks, and those that are, or were, partly covered. */
VCS_SLOW_FN void vcs_record_row(const vcs_t *m, vcs_recorder_t *r, int y, unsigned on, unsigned changed,
                                const vcs_pixels_t *const line[VCS_OBJECTS], int blank, int blank_end) {
  uint64_t both[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, comb = vcs_from(blank, 0) & ~vcs_from(blank_end, 0);
  const bool front = m->ctrlpf & 4;
  bool moves = m->ctrlpf & 2; /* or the score's colours */
  unsigned lit = 0;
  for (unsigned left = r->stirred; left; left &= left - 1) moves |= !vcs_stands_still(m, r, VCS_LOWEST(left));
  if (moves) {
    vcs_record_piece(m, r, y, 0, VCS_WIDTH, on, line, blank, blank_end);
    return;
  }
  for (unsigned left = on; left; left &= left - 1) {
    int i = VCS_LOWEST(left);
    const uint64_t *word = line[i]->word;
    uint64_t *pair = both[i >= VCS_BL ? 2 : i & 1];
    if (word[0] | word[1] | word[2]) lit |= 1u << i;
    for (int w = 0; w < 3; w++) pair[w] |= word[w];
  }
  for (int w = 0; w < 3; w++) { /* from here on: what covers the objects of a colour */
    uint64_t p0 = both[0][w], p1 = both[1][w], pf = front ? both[2][w] : 0, blanked = w ? 0 : comb;
    both[0][w] = pf | blanked;
    both[1][w] = p0 | pf | blanked;
    both[2][w] = (front ? 0 : p0 | p1) | blanked;
  }
  for (unsigned left = r->on & ~lit; left; left &= left - 1) vcs_streak_end(r, VCS_LOWEST(left), y);
  if (changed & VCS_LOOK) changed = VCS_ALL_OBJECTS;
  changed |= r->partly | ~(unsigned)r->on;
  for (unsigned left = lit; left; left &= left - 1) {
    int i = VCS_LOWEST(left);
    const uint64_t *word = line[i]->word, *cover = both[i >= VCS_BL ? 2 : i & 1];
    uint64_t covered = (word[0] & cover[0]) | (word[1] & cover[1]) | (word[2] & cover[2]);
    if (!covered && !(changed >> i & 1)) continue;
    uint64_t look = i == VCS_PF ? vcs_look_of(m, i, 0, 0) : vcs_look_of(m, i, m->pos[i], vcs_nusiz_of(m, i));
    uint64_t shown[3] = {word[0] & ~cover[0], word[1] & ~cover[1], word[2] & ~cover[2]};
    vcs_streak_row(r, i, look, y, word, covered ? shown : NULL);
  }
}

/* The frame is over, before row y: all objects end. */
VCS_SLOW_FN void vcs_recorder_finish(vcs_recorder_t *r, int y) {
  for (unsigned on = r->on; on; on &= on - 1) vcs_streak_end(r, VCS_LOWEST(on), y);
  vcs_field_row_end(r);
  vcs_field_gap(r, 0);
  for (int i = 0; i < r->live_count; i++) vcs_live_end(r, &r->live[i]);
  r->live_count = 0;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

enum { VCS_ORDER_ROWS = VCS_FRAME_BYTES / VCS_WIDTH };

/* What putting objects in order needs. */
typedef struct {
  int32_t first[VCS_ORDER_ROWS + 1], end[VCS_ORDER_ROWS];
  int16_t place[VCS_OBJECTS_MAX], key[VCS_OBJECTS_MAX];
  vcs_object_t aside[VCS_OBJECTS_MAX];
} vcs_objects_order_t;

/* Puts objects in order of y, then of x and kind: the objects of each row get their places, in order, and then they go
 * there. */
VCS_FN void vcs_objects_order(vcs_object_t *objects, int32_t count, vcs_objects_order_t *work) {
  for (int y = 0; y <= VCS_ORDER_ROWS; y++) work->first[y] = 0;
  for (int32_t i = 0; i < count; i++) {
    work->aside[i] = objects[i];
    work->first[objects[i].y + 1]++;
    work->key[i] = (int16_t)(objects[i].x << 3 | objects[i].kind);
  }
  for (int y = 0; y < VCS_ORDER_ROWS; y++) {
    work->end[y] = work->first[y];
    work->first[y + 1] += work->first[y];
  }
  for (int32_t i = 0; i < count; i++) {
    int y = objects[i].y;
    int32_t k = work->end[y]++;
    for (; k > work->first[y] && work->key[i] < work->key[work->place[k - 1]]; k--) {
      work->place[k] = work->place[k - 1];
    }
    work->place[k] = (int16_t)i;
  }
  for (int32_t i = 0; i < count; i++) objects[i] = work->aside[work->place[i]];
}

#endif
