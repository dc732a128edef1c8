/* restart.h: begin episodes by copying where an earlier one began.
 *
 * An episode begins with a reset of the console and some sixty frames (vcs_env_begin), the work of about twenty steps
 * of a learner, and is opened with FIRE and up to thirty no-ops (vcs_env_open). The reset leaves RAM as it was, so a
 * beginning may depend on what was played before. But most programs clear RAM first, and after a few frames every
 * beginning is the same. So one episode is recorded at several points. A later episode runs the early frames
 * (VCS_ENV_EARLY_FRAMES), and if it is then in the recorded state, it copies the last recorded point before its first
 * own frame and runs the few frames that are left. Otherwise, and if the recorded part draws random numbers, it runs
 * all frames. With sticky actions an opening depends on random numbers, and only the beginning is copied.
 *
 * The result is the same to the byte, although two beginnings may differ in counters that run on since power-on and in
 * times that the program cannot read: when the timer was read, if it has not been read since it was set, and when the
 * capacitors of paddles began to charge, if there are no paddles. These times stay as they are until they are set. The
 * recording is made twice, with different times: those that differ at a point are the ones that have not been set.
 */
#ifndef VCS_HOST_RESTART_H
#define VCS_HOST_RESTART_H

#include "host/env.h"

/* The points of a recording: after the early frames, at the end of the beginning, and points of the opening, one after
 * each VCS_RESTART_STRIDE frames. */
enum { VCS_RESTART_EARLY, VCS_RESTART_END, VCS_RESTART_POINTS = 9, VCS_RESTART_STRIDE = 4 };
enum { VCS_RESTART_MACHINES = 1 + VCS_DRAW_HISTORY_BEFORE };

/* One point: the machine, those before the last three frames (the newest first), and the rest. */
typedef struct {
  uint8_t *machines;
  vcs_env_live_t live;
  int32_t covered, before_next;
  bool drawn, exact;
  uint8_t kept_times[VCS_RESTART_MACHINES]; /* for each machine a bit for each time that is as after the early frames */
} vcs_restart_point_t;

typedef struct {
  vcs_restart_point_t point[VCS_RESTART_POINTS];
  int32_t count; /* of recorded points; below 2 nothing can be copied */
} vcs_restart_t;

/* The memory that a recording needs, and a recording in that memory; it begins an episode of the environment. */
size_t vcs_restart_bytes(const vcs_cart_t *cart);
void vcs_restart_record(vcs_restart_t *restart, vcs_env_t *env, void *memory);

/* Begins and opens an episode, exactly as vcs_env_begin and vcs_env_open do. The environment has the cartridge, mode
 * and options of the one that was recorded. Returns whether the end of the beginning was copied. */
bool vcs_restart_episode(const vcs_restart_t *restart, vcs_env_t *env);

#endif
