/* annotate_compare.h: one picture beside another, as objects: what moved, changed, came and went. */
#ifndef VCS_STUDY_ANNOTATE_COMPARE_H
#define VCS_STUDY_ANNOTATE_COMPARE_H

#include "diffvcs/objects.h"

enum {
  VCS_SHOWN_SPRITES = 96, /* objects other than blocks of the playfield that are compared */
  VCS_SHOWN_ENDS = 2,     /* objects whose ends are noted */
  VCS_SHOWN_EDGE = 8,     /* rows by which an object may seem to move because an edge covers a part of it */
};

/* The objects of a picture. The two halves of a sprite that passes the right edge and goes on at the left one are one
 * sprite here. */
typedef struct {
  int32_t count, blocks;
  vcs_object_t sprite[VCS_SHOWN_SPRITES];
  uint32_t field; /* digest of the playfield */
} vcs_shown_t;

/* An object whose rows have changed. */
typedef struct {
  int16_t object;       /* index in the picture without the change */
  int16_t upper, lower; /* rows by which its two ends moved */
} vcs_shown_end_t;

/* What a change did to one frame. */
typedef struct {
  int16_t moved_x, moved_y, moved_both, reshaped, recoloured, reflected, resized, came, went; /* numbers of objects */
  int16_t cut;   /* number of objects that became longer or shorter at one end and may have moved up or down */
  int16_t grown; /* number of those that moved, and became longer at one end */
  int16_t ended; /* number of objects that are cut or reshaped and share columns with what they were */
  vcs_shown_end_t end[VCS_SHOWN_ENDS]; /* the first of them */
  int16_t dx, dy;                      /* of the first object that moved */
  int16_t object;      /* index of the first object in the shown without the change that differs, or -1 */
  int16_t moved;       /* the same for one that moved */
  int32_t pixels;      /* that differ */
  int16_t left, right; /* columns and rows of the pixels that differ, inclusive */
  int16_t top, bottom;
  int16_t new_x, new_y; /* of the first object that came */
  uint8_t new_kind;
  uint8_t field;   /* the playfield differs */
  uint8_t shifted; /* all it did was to move everything below some row by one row: a line more or less was drawn */
} vcs_shown_diff_t;

void vcs_shown_take(const vcs_object_t *objects, int32_t count, vcs_shown_t *shown);

/* Compares the objects of two pictures; `d` gets all but what is about pixels. `place_of` (may be NULL) gets the index
 * in `is` of the object `want` of `was`, or -1. */
void vcs_shown_compare(const vcs_shown_t *was, const vcs_shown_t *is, vcs_shown_diff_t *d, int32_t *place_of, int want);

/* Compares two pictures: fills what `d` says about pixels. */
void vcs_shown_pixels(const uint8_t *was, const uint8_t *is, int height, vcs_shown_diff_t *d);

#endif
