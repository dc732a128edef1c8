/* play.h: the game behind the player's window. It has no window, so that it can be tested without one.
 *
 * The machine is a function of its start and of the controls of each frame (vcs_history_t), so pausing, stepping,
 * rewinding and loading are all moves to a frame. Sound is computed on a copy of the machine, because that advances its
 * waveforms, and the past must be the same with and without sound.
 */
#ifndef VCS_CLI_PLAY_H
#define VCS_CLI_PLAY_H

#include "cli/common.h"
#include "diffvcs/objects.h"

typedef struct {
  vcs_rom_t rom;
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
vcs_status_t vcs_game_run_begin(const vcs_cli_setup_t *choice, vcs_game_run_t *run, vcs_error_t *error);
void vcs_game_run_end(vcs_game_run_t *run);

/* Runs one frame. Later frames that going back has left are forgotten. */
vcs_status_t vcs_game_run_frame(vcs_game_run_t *run, const vcs_controls_t *controls, vcs_error_t *error);

/* Goes to a frame of the past, or the nearest one that is known; returns it. */
int64_t vcs_game_run_go(vcs_game_run_t *run, int64_t frame);

const uint8_t *vcs_game_run_picture(const vcs_game_run_t *run);

/* Lists the objects of the last picture; returns how many are listed, 0 before the first frame. */
int32_t vcs_game_run_objects(const vcs_game_run_t *run, vcs_object_t objects[VCS_OBJECTS_MAX]);

/* d(screen) / d(an input of the frame `horizon` frames ago), by bit+fork, into [height * 160]. */
vcs_status_t vcs_game_run_gradient(const vcs_game_run_t *run, int input, int32_t horizon, float *pixels,
                                   vcs_error_t *error);

/* Saves and loads the game; every slot is a file of its own. */
vcs_status_t vcs_game_run_save(const vcs_game_run_t *run, const char *path, vcs_error_t *error);
vcs_status_t vcs_game_run_load(vcs_game_run_t *run, const char *path, vcs_error_t *error);

#endif
