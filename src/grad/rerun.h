/* rerun.h: a run that is remembered frame by frame, and runs like it with bits flipped.
 *
 * vcs_base_t is the run without flips: the machine after every frame, the score so far, the pictures at the horizons.
 * vcs_rerun runs again from the first frame that a flip can change, and shows what there is to see at each horizon. Any
 * number of threads may rerun one base, each with its own vcs_runner_t, which allocates nothing.
 */
#ifndef VCS_GRAD_RERUN_H
#define VCS_GRAD_RERUN_H

#include "diffvcs/grad.h"
#include "host/env.h"

/* ---- Places ------------------------------------------------------------------------------------------------- */

/* Checks that a place exists in a run. */
vcs_status_t vcs_place_check(const vcs_run_t *run, const vcs_place_t *place, vcs_error_t *error);

/* Flips an input in the controls of its frame. */
void vcs_place_flip_input(vcs_controls_t *controls, const vcs_place_t *place);

/* Returns the bit of a place in the run, 0 or 1. */
int vcs_place_bit(const vcs_run_t *run, const vcs_place_t *place);

/* ---- The run ------------------------------------------------------------------------------------------------ */

/* Checks a run and its horizons, which ascend from 1 to run->frames; NULL and 0: the last frame. */
vcs_status_t vcs_run_check(const vcs_run_t *run, const int32_t *horizons, int32_t horizon_count, const vcs_env_t *env,
                           vcs_error_t *error);

/* What is observed of a run. */
typedef struct {
  const int32_t *horizons;
  int32_t horizon_count;
  const vcs_env_t *env;
  bool stop_when_over;
  bool pictures; /* sights have pictures */
  bool rom;      /* bits of ROM are flipped: images are copied */
  bool states;   /* sights have whole machines */
} vcs_view_t;

/* What is seen at a horizon. Where a rerun has the same as its base, its pointers are the base's. */
typedef struct {
  const uint8_t *picture, *ram; /* the picture has no meaning unless it is looked at */
  int32_t score, lives;
  const uint8_t *lines; /* a byte for each row of the picture: 0 where it is the base's, else 1; NULL: not computed */
  const vcs_t *state;   /* only with view.states; bytes that affect no output may differ (mark_outputs of jacobian.c) */
} vcs_sight_t;

typedef struct {
  vcs_view_t view;
  vcs_run_t run;            /* `start`, `controls` and, with view.rom, the cartridge are the base's own */
  vcs_cart_t cart;          /* the core's part of it */
  vcs_controls_t *controls; /* one a frame */
  uint8_t *rom;             /* with view.rom: its own image ... */
  vcs_code_t *code;         /* ... and what is decoded from it; NULL if the run's cartridge has nothing decoded */
  uint8_t *states;          /* after 0, 1, ... frames */
  uint8_t *begun;           /* the same as the next frame begins, to compare (rerun.c) */
  vcs_play_t *plays;
  int32_t *scores;
  uint8_t *pictures;    /* at the horizons */
  bool draws_all;       /* some picture cannot be drawn from its own frame alone */
  uint8_t *kept_frames; /* draws_all: both frame buffers after 0, 1, ... frames */
  uint8_t *frames;      /* what is drawn into */
  uint8_t *unread;      /* bytes of ROM, 1: the run does not read it; NULL: not known */
} vcs_base_t;

vcs_status_t vcs_base_create(vcs_base_t *base, const vcs_run_t *run, const vcs_view_t *view, vcs_error_t *error);
void vcs_base_free(vcs_base_t *base);

/* vcs_base_restore sets the run back to `run`, as it was given; vcs_base_flip flips a place in it; vcs_base_record
 * executes it and keeps what it shows. *possible becomes false, and nothing is recorded, if its machine is impossible.
 */
void vcs_base_restore(vcs_base_t *base, const vcs_run_t *run);
void vcs_base_flip(vcs_base_t *base, const vcs_place_t *place);
vcs_status_t vcs_base_record(vcs_base_t *base, bool *possible, vcs_error_t *error);

/* Finds bytes of ROM that the recorded run does not read: their flips need no run. Leaves base->unread NULL where this
 * is uncertain. */
void vcs_base_find_unread(vcs_base_t *base);

/* Return the machine after some frames, what is seen at a horizon, and the bytes of a picture. */
const vcs_t *vcs_base_state(const vcs_base_t *base, int32_t frames);
vcs_sight_t vcs_base_sight(const vcs_base_t *base, int horizon);
size_t vcs_base_pixels(const vcs_base_t *base);

/* ---- Running again ------------------------------------------------------------------------------------------ */

typedef struct {
  vcs_cart_t cart;
  uint8_t *rom;     /* its own image, or NULL */
  vcs_code_t *code; /* decoded from it, or NULL */
  vcs_t *m, *begun;
  uint8_t *frames;
  uint64_t frames_run;
} vcs_runner_t;

vcs_status_t vcs_runner_create(vcs_runner_t *runner, const vcs_base_t *base, vcs_error_t *error);
void vcs_runner_free(vcs_runner_t *runner);

/* Flips a bit of the runner's image; the instructions around it are decoded again. */
void vcs_runner_flip_rom(vcs_runner_t *runner, const vcs_place_t *place);

/* Copies the image of a base whose ROM was flipped to the runner. */
void vcs_runner_follow(vcs_runner_t *runner, const vcs_base_t *base);

typedef void (*vcs_see_t)(void *context, int horizon, const vcs_sight_t *sight);

/* Shows each horizon once, in order. False: a machine with these flips is impossible; nothing was run or shown. */
bool vcs_rerun(const vcs_base_t *base, vcs_runner_t *runner, const vcs_place_t *flips, size_t count, vcs_see_t see,
               void *context);

/* The state of a run with flips after some frames. */
typedef struct {
  int32_t frames;  /* frames that were run */
  const vcs_t *m;  /* the machine */
  vcs_play_t play; /* what the game's rules remember */
  int32_t score;
} vcs_rerun_part_t;

/* The same from there on; horizons up to there are not shown. */
void vcs_rerun_on(const vcs_base_t *base, vcs_runner_t *runner, const vcs_place_t *flips, size_t count,
                  const vcs_rerun_part_t *part, vcs_see_t see, void *context);

#endif
