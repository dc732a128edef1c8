/* object_tracks.c: identity of objects over frames (vcs_objects_track, diffvcs/objects.h).
 *
 * Most objects are as they were in the last frame, and in the same order; they are compared with the objects of that
 * frame, one after another. The rest of those that are as they were in one of the last frames, at the same place, are
 * found in a table of places. Each other object takes the nearest track that is left, the nearest pairs first. An
 * object looks for its nearest tracks once, keeps the first few, and looks again only when others have taken all of
 * them. Tracks of a family (a kind; of blocks, a shape) are in a chain; where the chain is long, as in a picture of
 * noise, they are looked up by the cells of a grid, from the object's own cell outwards.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/objects.h"

enum { FAR = 24 }; /* largest distance at which an object of the next frame counts as the same one */

/* The middle of an object, in halves of a pixel. */
static int middle_x(const vcs_object_t *o) { return 2 * o->x + o->w; }
static int middle_y(const vcs_object_t *o) { return 2 * o->y + o->h; }

/* Returns the distance between an object and a track: pixels, and differences in size and shape; above FAR if they
 * cannot be the same. */
static int distance(const vcs_object_t *was, const vcs_object_t *is) {
  if (was->kind != is->kind) return FAR + 1;
  if (was->kind == VCS_OBJECT_PLAYFIELD && was->pattern != is->pattern) return FAR + 1;
  const int dx = abs(middle_x(was) - middle_x(is)) / 2, dy = abs(middle_y(was) - middle_y(is)) / 2;
  if (was->kind == VCS_OBJECT_PLAYFIELD) return dx + dy; /* its pattern is its size */
  const int size = (abs(was->w - is->w) + abs(was->h - is->h)) / 2;
  const int shape = was->pattern == is->pattern ? 0 : 2;
  return dx + dy + size + shape;
}

/* A slot of the tables in which tracks are found by their place. */
enum { SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS };
static uint32_t slot_of(uint32_t place) { return place * 0x9E3779B1u >> (32 - SLOT_BITS); }

/* Kind, place and shape. */
static uint32_t place_of(const vcs_object_t *o) {
  return ((uint32_t)o->x | (uint32_t)o->y << 8 | (uint32_t)o->kind << 16) ^ o->pattern;
}

/* Returns x, y, w and h as one number. */
static uint64_t box_of(const vcs_object_t *o) {
  uint64_t box;
  memcpy(&box, &o->x, sizeof box);
  return box;
}

static bool is_equal(const vcs_object_t *a, const vcs_object_t *b) {
  return !((box_of(a) ^ box_of(b)) | (uint64_t)(a->kind ^ b->kind) | (a->pattern ^ b->pattern));
}

enum { NEAR = 4 }; /* objects of the last frame that one is compared with (follow_order) */

/* Objects of different families are never near each other (distance): kinds, and shapes of blocks. */
enum { SHAPES = 256, FAMILIES = VCS_OBJECT_PLAYFIELD + SHAPES };
static uint32_t family_of(const vcs_object_t *o) {
  return o->kind < VCS_OBJECT_PLAYFIELD ? o->kind : VCS_OBJECT_PLAYFIELD + (o->pattern * 0x9E3779B1u >> 24);
}

/* Cells of CELL pixels. Objects whose cells are n apart, in x or in y, are at least (n - 1) * CELL from each other. */
enum { CELL = 4, RINGS = FAR / CELL + 1, MANY = 24 }; /* MANY: tracks of a family for which there is a grid */
static uint32_t cell_of(const vcs_object_t *o) {
  return (uint32_t)middle_y(o) / (2 * CELL) << 8 | (uint32_t)middle_x(o) / (2 * CELL);
}

/* The nearest tracks of an object when it last looked, ordered by distance and then by number. */
enum { NEAREST = 4 };
typedef struct {
  bool looked;               /* the rest is valid */
  bool more;                 /* there may be other tracks, none of them nearer */
  uint8_t next, count;       /* the first that has not been tried, and how many there are */
  uint8_t distance[NEAREST]; /* count */
  int16_t track[NEAREST];    /* count */
} choice_t;

/* One call of vcs_objects_track. */
typedef struct {
  vcs_tracks_t *tracks;
  int16_t track_of[VCS_OBJECTS_MAX]; /* by object: its track, or -1 */
  int32_t left;                      /* number of objects without a track */
  bool taken[VCS_OBJECTS_MAX];       /* by track: an object of this frame has it */
  int16_t first[FAMILIES];           /* by family: its first track that is left, or -1 */
  int16_t next[VCS_OBJECTS_MAX];     /* by track: the next of its family, or -1 */
  int16_t members[FAMILIES];         /* by family: tracks that are left */
  bool gridded;                      /* the grid of large families is made */
  int16_t corner[SLOTS];             /* by hash of cell and family: a track, or -1 */
  int16_t behind[VCS_OBJECTS_MAX];   /* by track: the next with the same hash, or -1 */
  uint16_t cell[VCS_OBJECTS_MAX];    /* by track */
} search_t;

/* Gives object i the identity of track k, to which it is equal, ... */
static void follow_equal(search_t *s, int32_t k, vcs_object_t *objects, int32_t i) {
  s->taken[k] = true;
  s->track_of[i] = (int16_t)k;
  s->left--;
  objects[i].id = s->tracks->track[k].id;
  s->tracks->track[k].frame = s->tracks->frame;
}

/* ... or which becomes what the object is. */
static void follow(search_t *s, int32_t k, vcs_object_t *objects, int32_t i) {
  follow_equal(s, k, objects, i);
  s->tracks->track[k].object = objects[i];
}

/* Gives objects that are as in the last frame, which most are, their tracks. Both lists are in the same order, from top
 * to bottom, so objects of one list that are missing in the other are passed over. */
static void follow_order(search_t *s, vcs_object_t *objects, int32_t count) {
  const vcs_tracks_t *tracks = s->tracks;
  int32_t k = 0;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t near = k; near < tracks->last_count && near < k + NEAR; near++) {
      const int16_t track = tracks->last[near];
      if (track < 0 || track >= tracks->count || !is_equal(&tracks->track[track].object, &objects[i])) continue;
      follow_equal(s, track, objects, i);
      k = near + 1;
      break;
    }
  }
}

/* Gives objects that are equal to a track the identity of the track. */
static void follow_equals(search_t *s, vcs_object_t *objects, int32_t count) {
  int16_t first[SLOTS], next[VCS_OBJECTS_MAX];
  memset(first, -1, sizeof first);
  for (int32_t k = s->tracks->count - 1; k >= 0; k--) {
    if (s->taken[k]) continue;
    const uint32_t slot = slot_of(place_of(&s->tracks->track[k].object));
    next[k] = first[slot];
    first[slot] = (int16_t)k;
  }
  for (int32_t i = 0; i < count; i++) {
    if (s->track_of[i] >= 0) continue;
    int32_t k = first[slot_of(place_of(&objects[i]))];
    while (k >= 0 && (s->taken[k] || !is_equal(&s->tracks->track[k].object, &objects[i]))) k = next[k];
    if (k >= 0) follow_equal(s, k, objects, i);
  }
}

/* Puts the tracks that are left into the chains of their families. */
static void chain_families(search_t *s) {
  memset(s->first, -1, sizeof s->first);
  memset(s->members, 0, sizeof s->members);
  s->gridded = false;
  for (int32_t k = s->tracks->count - 1; k >= 0; k--) {
    if (s->taken[k]) continue;
    const uint32_t family = family_of(&s->tracks->track[k].object);
    s->next[k] = s->first[family];
    s->first[family] = (int16_t)k;
    s->members[family]++;
  }
}

/* Puts the tracks of large families into the cells of the grid. */
static void make_grid(search_t *s) {
  memset(s->corner, -1, sizeof s->corner);
  for (int32_t k = 0; k < s->tracks->count; k++) {
    const vcs_object_t *o = &s->tracks->track[k].object;
    if (s->taken[k] || s->members[family_of(o)] < MANY) continue;
    s->cell[k] = (uint16_t)cell_of(o);
    const uint32_t slot = slot_of((uint32_t)s->cell[k] ^ family_of(o) << 16);
    s->behind[k] = s->corner[slot];
    s->corner[slot] = (int16_t)k;
  }
  s->gridded = true;
}

/* Inserts a track into the nearest tracks of an object, if it is one of them. */
static void offer(const search_t *s, const vcs_object_t *object, int32_t k, choice_t *choice) {
  const int d = distance(&s->tracks->track[k].object, object);
  if (d > FAR) return;
  int at = choice->count;
  if (at == NEAREST) choice->more = true;
  if (at == NEAREST && d > choice->distance[at - 1]) return;
  while (at > 0 && (d < choice->distance[at - 1] || (d == choice->distance[at - 1] && k < choice->track[at - 1]))) at--;
  if (at == NEAREST) return;
  if (choice->count < NEAREST) choice->count++;
  for (int i = choice->count - 1; i > at; i--) {
    choice->distance[i] = choice->distance[i - 1];
    choice->track[i] = choice->track[i - 1];
  }
  choice->distance[at] = (uint8_t)d;
  choice->track[at] = (int16_t)k;
}

/* Offers the tracks of a family in a cell. */
static void offer_cell(const search_t *s, const vcs_object_t *object, uint32_t family, int x, int y, choice_t *choice) {
  if (x < 0 || y < 0) return;
  const uint32_t cell = (uint32_t)y << 8 | (uint32_t)x;
  for (int32_t k = s->corner[slot_of(cell ^ family << 16)]; k >= 0; k = s->behind[k]) {
    if (s->cell[k] == cell && !s->taken[k]) offer(s, object, k, choice);
  }
}

/* Finds the nearest tracks of an object. */
static void look(search_t *s, const vcs_object_t *object, choice_t *choice) {
  const uint32_t family = family_of(object), cell = cell_of(object);
  const int x = (int)(cell & 0xFF), y = (int)(cell >> 8);
  *choice = (choice_t){.looked = true};
  if (s->members[family] < MANY) {
    for (int32_t k = s->first[family]; k >= 0; k = s->next[k]) {
      if (!s->taken[k]) offer(s, object, k, choice);
    }
    return;
  }
  if (!s->gridded) make_grid(s);
  for (int ring = 0; ring <= RINGS; ring++) {
    for (int i = x - ring; i <= x + ring; i++) {
      offer_cell(s, object, family, i, y - ring, choice);
      if (ring) offer_cell(s, object, family, i, y + ring, choice);
    }
    for (int i = y - ring + 1; i < y + ring; i++) {
      offer_cell(s, object, family, x - ring, i, choice);
      offer_cell(s, object, family, x + ring, i, choice);
    }
    if (!choice->count || choice->distance[0] >= ring * CELL) continue;
    while (choice->distance[choice->count - 1] >= ring * CELL) choice->count--; /* others may be nearer than these */
    choice->more = true;
    return;
  }
}

/* Returns the nearest track that is left; NULL: none is near. */
static const int16_t *nearest_left(search_t *s, const vcs_object_t *object, choice_t *choice) {
  if (!choice->looked) look(s, object, choice);
  for (;;) {
    for (; choice->next < choice->count; choice->next++) {
      if (!s->taken[choice->track[choice->next]]) return &choice->track[choice->next];
    }
    if (!choice->more) return NULL;
    look(s, object, choice);
  }
}

/* Gives objects without an identity the nearest tracks, the nearest pairs first. */
static void follow_nearest(search_t *s, vcs_object_t *objects, int32_t count) {
  static const choice_t none;
  choice_t choice[VCS_OBJECTS_MAX];
  int16_t left[VCS_OBJECTS_MAX];
  int32_t moved = 0;
  for (int32_t i = 0; i < count; i++) {
    if (s->track_of[i] >= 0) continue;
    choice[moved] = none;
    left[moved++] = (int16_t)i;
  }
  if (!moved) return;
  chain_families(s);
  for (int near = 0; near <= FAR && moved; near += 4) { /* the nearest first */
    int32_t kept = 0;
    for (int32_t i = 0; i < moved; i++) {
      const int16_t *track = nearest_left(s, &objects[left[i]], &choice[i]);
      if (!track) continue;
      if (choice[i].distance[choice[i].next] <= near) {
        follow(s, *track, objects, left[i]);
        continue;
      }
      left[kept] = left[i];
      choice[kept++] = choice[i];
    }
    moved = kept;
  }
}

/* Forgets tracks that have not been drawn for some frames. */
static void forget(search_t *s, int32_t count) {
  vcs_tracks_t *tracks = s->tracks;
  int16_t moved_to[VCS_OBJECTS_MAX];
  int32_t kept = 0;
  if (!s->left && count == tracks->count) return; /* each track has an object of this frame */
  for (int32_t k = 0; k < tracks->count; k++) {
    if (tracks->frame - tracks->track[k].frame >= VCS_TRACK_FRAMES) continue;
    moved_to[k] = (int16_t)kept;
    if (kept != k) tracks->track[kept] = tracks->track[k];
    kept++;
  }
  if (kept == tracks->count) return;
  for (int32_t i = 0; i < count; i++) {
    if (s->track_of[i] >= 0) s->track_of[i] = moved_to[s->track_of[i]];
  }
  tracks->count = kept;
}

void vcs_objects_track(vcs_tracks_t *tracks, vcs_object_t *objects, int32_t count) {
  search_t s;
  if (count > VCS_OBJECTS_MAX) count = VCS_OBJECTS_MAX;
  tracks->frame++;
  s.tracks = tracks;
  s.left = count;
  memset(s.taken, 0, sizeof s.taken);
  memset(s.track_of, -1, sizeof s.track_of);
  follow_order(&s, objects, count);
  if (s.left) follow_equals(&s, objects, count);
  if (s.left) follow_nearest(&s, objects, count);
  forget(&s, count);
  for (int32_t i = 0; i < count && s.left; i++) {
    if (s.track_of[i] >= 0) continue;
    objects[i].id = ++tracks->next_id;
    s.left--;
    if (tracks->count == VCS_OBJECTS_MAX) continue;
    s.track_of[i] = (int16_t)tracks->count;
    tracks->track[tracks->count].id = objects[i].id;
    tracks->track[tracks->count].frame = tracks->frame;
    tracks->track[tracks->count++].object = objects[i];
  }
  tracks->last_count = count;
  memcpy(tracks->last, s.track_of, sizeof tracks->last);
}
