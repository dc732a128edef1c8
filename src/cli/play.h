/* play.h: a game under way, as the player's window needs it: no window here, so that it can be tested without one.
 *
 * The machine is a function of its start and of what was held in each frame (host/history.h), so pausing, stepping,
 * rewinding and loading are all moves to a frame. Sound is made on a copy, because making it moves the machine's
 * waveforms, and the past must come out the same whether or not somebody listened.
 */
#ifndef VCS_CLI_PLAY_H
#define VCS_CLI_PLAY_H

#include "study/explain.h"
#include "host/history.h"

typedef struct {
  vcs_setup_t setup; /* where it began */
  const vcs_cart_t *cart;
  vcs_t *m, *listener;
  uint8_t *frames;
  vcs_history_t *past;
  int64_t frame;               /* the next one */
  uint8_t ram[128], heat[128]; /* RAM a frame ago; how lately a byte has changed, 255: now */
  uint8_t samples[VCS_SOUND_LENGTH_MAX];
  int sample_count; /* of the last frame; 0 after a move */
} vcs_game_run_t;

/* Starts after the setup's frames. On success vcs_game_run_end is due. */
vcs_status_t vcs_game_run_begin(const vcs_setup_choice_t *choice, vcs_game_run_t *run, vcs_error_t *error);
void vcs_game_run_end(vcs_game_run_t *run);

/* One frame. The future that was left behind by going back is forgotten. */
vcs_status_t vcs_game_run_frame(vcs_game_run_t *run, const vcs_controls_t *controls, vcs_error_t *error);

/* To a frame of the past, or the nearest one that is known; returns it. */
int64_t vcs_game_run_go(vcs_game_run_t *run, int64_t frame);

const uint8_t *vcs_game_run_picture(const vcs_game_run_t *run);

/* The last `horizon` frames as a setup of its own, for explain and derivatives; vcs_setup_free is due. Fewer where the
 * past is shorter; VCS_NOT_FOUND where there is none. */
vcs_status_t vcs_game_run_scene(const vcs_game_run_t *run, int32_t horizon, vcs_setup_t *setup, vcs_error_t *error);

/* Where each object is in the last picture: x, y, width, height; width 0: nowhere. */
typedef struct {
  int x, y, width, height;
} vcs_box_t;
vcs_status_t vcs_game_run_boxes(const vcs_game_run_t *run, vcs_box_t boxes[VCS_SHOWN_OBJECTS], vcs_error_t *error);

/* d(screen) / d(an input of the frame `horizon` frames ago), by bit+fork, into [height * 160]. */
vcs_status_t vcs_game_run_gradient(const vcs_game_run_t *run, int input, int32_t horizon, float *pixels,
                                   vcs_error_t *error);

/* The game as a file, and back: every slot is a file of its own. */
vcs_status_t vcs_game_run_save(const vcs_game_run_t *run, const char *path, vcs_error_t *error);
vcs_status_t vcs_game_run_load(vcs_game_run_t *run, const char *path, vcs_error_t *error);

#endif
