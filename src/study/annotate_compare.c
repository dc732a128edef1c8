/* annotate_compare.c: pairs the objects of two pictures, and finds how they changed (annotate_compare.h). */
#include "study/annotate_compare.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Joins the two halves of a sprite that passes the right edge of the picture. The pattern of the joined sprite is 0,
 * because it does not follow from the digests of the halves. */
static void join_halves(vcs_shown_t *shown) {
  for (int32_t i = 0; i < shown->count; i++) {
    vcs_object_t *right = &shown->sprite[i];
    const int most = right->kind <= VCS_OBJECT_PLAYER_1 ? 8 * right->size + 1 : right->size;
    if (right->x + right->w != VCS_WIDTH) continue;
    for (int32_t k = 0; k < shown->count; k++) {
      const vcs_object_t *left = &shown->sprite[k];
      if (k == i || left->kind != right->kind || left->x != 0 || left->w + right->w > most ||
          left->y >= right->y + right->h || right->y >= left->y + left->h)
        continue;
      const int top = left->y < right->y ? left->y : right->y;
      const int left_end = left->y + left->h, right_end = right->y + right->h;
      right->h = (int16_t)((left_end > right_end ? left_end : right_end) - top);
      right->y = (int16_t)top;
      right->w = (int16_t)(right->w + left->w);
      right->pattern = 0;
      shown->count--;
      memmove(&shown->sprite[k], &shown->sprite[k + 1], (size_t)(shown->count - k) * sizeof *left);
      i -= k < i;
      break;
    }
  }
}

void vcs_shown_take(const vcs_object_t *objects, int32_t count, vcs_shown_t *shown) {
  shown->count = shown->blocks = 0;
  shown->field = 0;
  for (int32_t i = 0; i < count; i++) {
    const vcs_object_t *o = &objects[i];
    if (o->kind == VCS_OBJECT_PLAYFIELD) {
      shown->blocks++;
      shown->field =
          (shown->field ^ (uint32_t)(o->x * 3 + o->y * 1009 + o->w * 40503 + o->h * 7919 + o->colour)) * 0x01000193u;
    } else if (shown->count < VCS_SHOWN_SPRITES) {
      shown->sprite[shown->count++] = *o;
    }
  }
  join_halves(shown);
}

static bool is_same_shape(const vcs_object_t *a, const vcs_object_t *b) {
  return a->kind == b->kind && (a->pattern == b->pattern || !a->pattern || !b->pattern) && a->w == b->w &&
         a->h == b->h && a->reflected == b->reflected;
}

static bool is_same_place(const vcs_object_t *a, const vcs_object_t *b) { return a->x == b->x && a->y == b->y; }

/* Whether one of two objects may be the other object with rows cut off at one end: one end is equal, and the shorter
 * object has fewer pixels and lies within the columns of the longer one. */
static bool is_cut(const vcs_object_t *a, const vcs_object_t *b) {
  const vcs_object_t *less = a->h < b->h ? a : b, *more = a->h < b->h ? b : a;
  return (a->y == b->y) != (a->y + a->h == b->y + b->h) && less->pixels < more->pixels && less->x >= more->x &&
         less->x + less->w <= more->x + more->w && a->reflected == b->reflected && a->size == b->size;
}

static void note_move(vcs_shown_diff_t *d, int index, int dx, int dy) {
  if (dx && dy) {
    d->moved_both++;
  } else if (dx) {
    d->moved_x++;
  } else {
    d->moved_y++;
  }
  if (d->moved >= 0) return;
  d->moved = (int16_t)index;
  d->dx = (int16_t)dx;
  d->dy = (int16_t)dy;
}

/* Notes the changes of an object from `was` to `is`. */
static void note_pair(const vcs_object_t *was, const vcs_object_t *is, int index, vcs_shown_diff_t *d) {
  const int dx = is->x - was->x, dy = is->y - was->y, bottom = is->y + is->h - was->y - was->h;
  if (d->object < 0) d->object = (int16_t)index;
  if (was->reflected != is->reflected) d->reflected++;
  if (is->size != was->size) d->resized++;
  if (is_same_shape(was, is)) {
    if (dx || dy) {
      note_move(d, index, dx, dy);
    } else if (was->colour != is->colour || was->colours != is->colours) {
      d->recoloured++;
    }
  } else if (dx == 0 && was->w == is->w && (dy || bottom) && (!dy || !bottom || (dy > 0) == (bottom > 0)) &&
             abs(dy) <= VCS_SHOWN_EDGE && abs(bottom) <= VCS_SHOWN_EDGE) {
    /* partly behind the edge of its zone: its displacement is that of the free end */
    note_move(d, index, 0, abs(bottom) > abs(dy) ? bottom : dy);
    d->grown += is->h > was->h;
  } else {
    if (was->x < is->x + is->w && is->x < was->x + was->w && (dy || bottom)) {
      if (d->ended < VCS_SHOWN_ENDS) d->end[d->ended] = (vcs_shown_end_t){(int16_t)index, (int16_t)dy, (int16_t)bottom};
      d->ended++;
    }
    if (is_cut(was, is)) {
      d->cut++;
    } else {
      d->reshaped++;
    }
  }
}

/* The pairing of the objects of two pictures while it is made. */
typedef struct {
  const vcs_shown_t *was, *is;
  bool used_was[VCS_SHOWN_SPRITES], used_is[VCS_SHOWN_SPRITES];
  int16_t moved[VCS_SHOWN_SPRITES]; /* rows by which each object of `was` moved, ... */
  int16_t aside[VCS_SHOWN_SPRITES]; /* ... and columns */
  vcs_shown_diff_t *d;
  int32_t *place_of;
  int want;
} pairing_t;

static void pair(pairing_t *p, int i, int k) {
  p->used_was[i] = p->used_is[k] = true;
  p->moved[i] = (int16_t)(p->is->sprite[k].y - p->was->sprite[i].y);
  p->aside[i] = (int16_t)(p->is->sprite[k].x - p->was->sprite[i].x);
  if (p->place_of && i == p->want) *p->place_of = k;
}

static int distance(const vcs_object_t *a, const vcs_object_t *b) { return abs(a->x - b->x) + abs(a->y - b->y); }

/* Pairs objects that are equal in both pictures. */
static void pair_equals(pairing_t *p) {
  for (int i = 0; i < p->was->count; i++) {
    const vcs_object_t *a = &p->was->sprite[i];
    for (int k = 0; k < p->is->count; k++) {
      const vcs_object_t *b = &p->is->sprite[k];
      if (p->used_is[k] || !is_same_place(a, b) || !is_same_shape(a, b) || a->colour != b->colour ||
          a->colours != b->colours)
        continue;
      pair(p, i, k);
      break;
    }
  }
}

/* Pairs objects of the same kind, the nearest ones first, up to a distance. */
static void pair_nearest(pairing_t *p, bool same_shape, int most) {
  for (;;) {
    int best_i = -1, best_k = -1, least = most + 1;
    for (int i = 0; i < p->was->count; i++) {
      if (p->used_was[i]) continue;
      for (int k = 0; k < p->is->count; k++) {
        const vcs_object_t *a = &p->was->sprite[i], *b = &p->is->sprite[k];
        if (p->used_is[k] || a->kind != b->kind || (same_shape && !is_same_shape(a, b))) continue;
        if (distance(a, b) >= least) continue;
        least = distance(a, b);
        best_i = i;
        best_k = k;
      }
    }
    if (best_i < 0) return;
    note_pair(&p->was->sprite[best_i], &p->is->sprite[best_k], best_i, p->d);
    pair(p, best_i, best_k);
  }
}

/* Pairs objects of equal shape in their order, top to bottom and left to right, if both pictures have the same number
 * of them left: a row of equal sprites moves as a whole. */
static void pair_in_order(pairing_t *p) {
  for (int i = 0; i < p->was->count; i++) {
    int surplus = 0, first = -1;
    if (p->used_was[i]) continue;
    for (int k = 0; k < p->was->count; k++)
      surplus += !p->used_was[k] && is_same_shape(&p->was->sprite[i], &p->was->sprite[k]);
    for (int k = 0; k < p->is->count; k++) {
      if (p->used_is[k] || !is_same_shape(&p->was->sprite[i], &p->is->sprite[k])) continue;
      if (first < 0) first = k;
      surplus--;
    }
    if (surplus || first < 0) continue;
    note_pair(&p->was->sprite[i], &p->is->sprite[first], i, p->d);
    pair(p, i, first);
  }
}

/* Returns 1 or -1 if all objects below some row moved by this one row, because a line more or less is drawn; otherwise
 * 0. At least two objects must have moved, and at most two may have appeared or disappeared. */
static int shift_of(const pairing_t *p) {
  int top = INT16_MAX, shift = 0, count = 0;
  if (p->d->came + p->d->went > 2) return 0;
  for (int i = 0; i < p->was->count; i++) {
    if (!p->used_was[i] || !p->moved[i]) continue;
    if (abs(p->moved[i]) != 1 || (shift && p->moved[i] != shift)) return 0;
    shift = p->moved[i];
    count++;
    if (p->was->sprite[i].y < top) top = p->was->sprite[i].y;
  }
  for (int i = 0; i < p->was->count && shift; i++) {
    if (p->used_was[i] && !p->moved[i] && p->was->sprite[i].y >= top) return 0;
  }
  return count < 2 ? 0 : shift;
}

/* Leaves this shift out: objects that also moved sideways count as moved sideways only; all others count as not
 * moved. */
static void leave_out_shift(const pairing_t *p) {
  vcs_shown_diff_t *d = p->d;
  if (d->reshaped || !shift_of(p)) return;
  if (!d->moved_both) {
    d->shifted = d->moved_x == 0;
    return;
  }
  d->moved_x = (int16_t)(d->moved_x + d->moved_both);
  d->moved_y = d->moved_both = 0;
  for (int i = 0; i < p->was->count; i++) {
    if (!p->used_was[i] || !p->aside[i]) continue;
    d->moved = (int16_t)i;
    d->dx = p->aside[i];
    d->dy = 0;
    return;
  }
}

void vcs_shown_compare(const vcs_shown_t *was, const vcs_shown_t *is, vcs_shown_diff_t *d, int32_t *place_of,
                       int want) {
  pairing_t p = {.was = was, .is = is, .d = d, .place_of = place_of, .want = want};
  memset(d, 0, sizeof *d);
  d->object = d->moved = -1;
  d->field = was->field != is->field;
  if (place_of) *place_of = -1;
  pair_equals(&p);
  pair_nearest(&p, false, 0); /* same place, other shape */
  pair_in_order(&p);
  pair_nearest(&p, true, INT16_MAX);
  pair_nearest(&p, false, 60);
  for (int32_t i = 0; i < was->count; i++) {
    if (p.used_was[i]) continue;
    d->went++;
    if (d->object < 0) d->object = (int16_t)i;
  }
  if (d->went) { /* an object that became longer may now be two objects */
    d->moved_y = (int16_t)(d->moved_y - d->grown);
    d->cut = (int16_t)(d->cut + d->grown);
  }
  for (int32_t k = 0; k < is->count; k++) {
    if (p.used_is[k]) continue;
    if (d->came++) continue;
    d->new_x = is->sprite[k].x;
    d->new_y = is->sprite[k].y;
    d->new_kind = is->sprite[k].kind;
  }
  leave_out_shift(&p);
}

void vcs_shown_pixels(const uint8_t *was, const uint8_t *is, int height, vcs_shown_diff_t *d) {
  d->left = d->top = INT16_MAX;
  d->right = d->bottom = -1;
  for (int y = 0; y < height; y++) {
    const uint8_t *a = was + VCS_WIDTH * y, *b = is + VCS_WIDTH * y;
    if (memcmp(a, b, VCS_WIDTH) == 0) continue;
    if (d->bottom < 0) d->top = (int16_t)y;
    d->bottom = (int16_t)y;
    for (int x = 0; x < VCS_WIDTH; x++) {
      if (a[x] == b[x]) continue;
      d->pixels++;
      if (x < d->left) d->left = (int16_t)x;
      if (x > d->right) d->right = (int16_t)x;
    }
  }
}
