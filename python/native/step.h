/* step.h: a step of an environment and the queries that follow it in Python, in one call. */
#ifndef DIFFVCS_PYTHON_STEP_H
#define DIFFVCS_PYTHON_STEP_H

#include "diffvcs/diffvcs.h"
#include "diffvcs/objects.h"

enum { VCS_SEE_RGB, VCS_SEE_GRAY, VCS_SEE_RAM, VCS_SEE_NOTHING };

typedef struct {
  int64_t frame_number, episode_frame_number;
  int32_t reward, lives;
  uint8_t over, truncated;
} vcs_seen_t;

/* `frames` times what vcs_env_act_strength does with a frame skip of 1, but only the last frame is drawn; then the
 * observation (VCS_SEE_...) and the numbers. Sound is that of the last frame. */
VCS_API void vcs_play(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation,
                      vcs_seen_t *seen);

/* A step of several players: what they do, then what they get. */
typedef struct {
  int32_t actions[VCS_PLAYERS_MAX];
  int32_t rewards[VCS_PLAYERS_MAX], lives[VCS_PLAYERS_MAX];
  int32_t players;
  uint8_t over, truncated;
} vcs_joint_t;

/* vcs_env_act_players with `count` actions, then the observation and the numbers. If there are not as many players,
 * only their number is set. */
VCS_API void vcs_play_players(vcs_env_t *env, vcs_joint_t *joint, int count, int see, uint8_t *observation);

/* The observation and the numbers alone. */
VCS_API void vcs_see(const vcs_env_t *env, int see, uint8_t *observation, vcs_seen_t *seen);

/* Both frame buffers of an environment as they are now, 2 * VCS_FRAME_BYTES: what vcs_run_t has as `picture`. */
VCS_API void vcs_env_frames(vcs_env_t *env, uint8_t *frames);

/* The picture of the last frame, height * 160 palette indices, from a machine's frame buffers. */
VCS_API void vcs_picture_copy(const vcs_cart_t *cart, const vcs_t *m, const uint8_t *frames, uint8_t *picture);

/* Lists the objects of an environment's last frame, at most VCS_OBJECTS_MAX of them, and their number. With `track`
 * vcs_objects_track gives them their ids; `tracks` are a vcs_tracks_t as VCS_TRACK_BYTES bytes, aligned to four. */
enum { VCS_TRACK_BYTES = sizeof(vcs_tracks_t) };
VCS_API void vcs_list_objects(vcs_env_t *env, int track, uint8_t *tracks, vcs_object_t *objects, int32_t *count);

/* vcs_play, and then vcs_list_objects with `track`. */
VCS_API void vcs_play_objects(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation,
                              vcs_seen_t *seen, uint8_t *tracks, vcs_object_t *objects, int32_t *count);

/* Lists the objects of some environments of a batch on the CPU one after another: those of environment envs[i] are
 * counts[i] objects. Returns the number of all; if it is larger than `capacity`, the list is incomplete. Returns -1 if
 * an environment does not exist or may be under way. */
VCS_API int64_t vcs_batch_gather_objects(vcs_batch_t *batch, const int32_t *envs, int32_t count, int32_t *counts,
                                         vcs_object_t *objects, int32_t capacity);

/* The observation "objects": a row for each of the first objects that are not of the playfield, with kind, x, y, w, h,
 * colour, reflected and id modulo 2^15; the rows behind them are -1. */
enum { VCS_OBJECT_ROWS = 64, VCS_OBJECT_COLUMNS = 8 };
VCS_API void vcs_object_rows(const vcs_object_t *objects, int32_t count, int16_t *rows);

#endif
