/* meanings.h: bytes of RAM by what they mean ("player 0 x"), from the table of docs/annotations.md, which
 * cmake/meanings.cmake makes a part of the library. */
#ifndef VCS_STUDY_MEANINGS_H
#define VCS_STUDY_MEANINGS_H

#include "diffvcs/diffvcs.h"

typedef struct {
  char name[24];
  uint8_t byte;
  int16_t map;         /* of a position without a slope: which of vcs_meaning_maps; -1: none */
  int16_t absent;      /* of a position: the value with which there is no object; -1: none is known */
  float slope, offset; /* of a position: pixel = offset + slope * value; slope 0 otherwise */
} vcs_meaning_t;

/* Rows of a game. */
typedef struct {
  char game[24];
  int first, count;
} vcs_meaning_game_t;

extern const int vcs_meaning_game_count;
extern const vcs_meaning_game_t vcs_meaning_games[];
extern const vcs_meaning_t vcs_meaning_rows[];
extern const int16_t vcs_meaning_maps[][256]; /* the pixel of each value, -1: not drawn */

/* The byte with a meaning. On failure the message lists what there is. */
vcs_status_t vcs_meaning_find(const vcs_cart_t *cart, const char *name, const vcs_meaning_t **meaning,
                              vcs_error_t *error);

/* How far each value of the byte is from what is wanted: for a position in pixels, by its slope or its map, for
 * anything else in values. The nearest values have 0: those that vcs_meaning_t gives for that pixel, or, where none
 * does exactly, that are as near as any. Values with which nothing is drawn are further away than all others. Refuses
 * what no value gives: more than half a step outside of the values, or more than two pixels from all pixels of the map.
 */
vcs_status_t vcs_meaning_distances(const vcs_meaning_t *meaning, int wanted, float distances[256], vcs_error_t *error);

#endif
