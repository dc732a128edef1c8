/* annotate_play.h: plays of a game at random, the states of them that are studied, and how bytes change in them. */
#ifndef VCS_STUDY_ANNOTATE_PLAY_H
#define VCS_STUDY_ANNOTATE_PLAY_H

#include "host/env.h"
#include "host/game_rules.h"

enum { VCS_RAM_SIZE = 128, VCS_CHANGES_KEPT = 12 };

/* A moment of a play. */
typedef struct {
  uint8_t *machine; /* vcs_state_size bytes, a vcs_t */
  vcs_play_t play;  /* score and lives so far */
  int16_t set;      /* the byte that was set before it, or -1 */
  bool chosen;
} vcs_moment_t;

/* The value that a byte has in a moment. */
uint8_t vcs_moment_value(const vcs_moment_t *moment, int byte);

/* Some plays, all of the same length; begin with zeros. */
typedef struct {
  const vcs_game_code_t *code; /* rules of score and lives, or NULL */
  int32_t plays, frames;       /* frames of each play */
  uint8_t *ram;                /* RAM after each frame of each play */
  int32_t all, count;          /* moments that were kept, and those of them that are chosen */
  vcs_moment_t *pool, *moments;
  int32_t unusual_count; /* moments after a byte was set to another value (vcs_plays_disturb) */
  vcs_moment_t *unusual;
  struct {
    int32_t count, changes; /* moments after the first changes of a byte, and all its changes */
    vcs_moment_t moment[VCS_CHANGES_KEPT];
  } * changed; /* by byte */
} vcs_plays_t;

/* Plays `plays` times, each time for several thousand frames and in another style, and keeps `count` moments: half of
 * them evenly spaced, and half chosen such that each byte has some moments in which it has just changed, and in which
 * it has an unusual value. */
vcs_status_t vcs_plays_choose(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, int plays, int count,
                              vcs_error_t *error);

/* Plays the records' stream of actions `plays` times and keeps the moments at `depths` times, near each other in the
 * beginning and then further apart. */
vcs_status_t vcs_plays_stop(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, int plays, int depths,
                            vcs_error_t *error);

void vcs_plays_free(vcs_plays_t *p);

/* Goes on from moments of the plays after one byte was set to another value, for each byte, and keeps moments of that:
 * a later level, another room, a counter that has run out. There are objects which random play does not meet. */
vcs_status_t vcs_plays_disturb(vcs_plays_t *p, const vcs_cart_t *cart, uint64_t seed, vcs_error_t *error);

/* Finds up to `count` more moments, for one byte: those in which it does not have its commonest value, and has values
 * that are as different as possible. Those just after the byte changed come first if it seldom does, and those after
 * another byte was set come last. Returns their number. */
int vcs_plays_vary(const vcs_plays_t *p, int byte, int count, const vcs_moment_t **moments);

/* How a byte changes while the game is played. */
typedef struct {
  int frames, changes, values;
  float steady;  /* part of the changes that have the commonest step */
  float regular; /* part of the changes that come after the commonest interval */
  int step, interval;
  float surprise; /* entropy of its steps, in bits */
} vcs_habit_t;
vcs_habit_t vcs_plays_habit(const vcs_plays_t *p, int byte);

#endif
