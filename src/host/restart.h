/* restart.h: begin episodes by copying where an earlier one began.
 *
 * An episode begins with a reset of the console and some sixty frames (vcs_env_begin), the work of about twenty steps
 * of a learner. The reset leaves RAM as it was, so a beginning may depend on what was played before. But most programs
 * clear RAM first, and after a few frames every beginning is the same. So one beginning is recorded: the machine after
 * VCS_ENV_EARLY_FRAMES frames, and at the end. A later beginning runs those early frames, and if it is then in the
 * recorded state, it copies the end. Otherwise, and if the recorded part draws random numbers, it runs all frames. The
 * result is the same to the byte, including counters that run on since power-on.
 */
#ifndef VCS_HOST_RESTART_H
#define VCS_HOST_RESTART_H

#include "host/env.h"

/* One point of a beginning: the machine, those before the last three frames (the newest first), and the rest. */
typedef struct {
  uint8_t *machines;
  vcs_env_live_t live;
  int32_t covered, before_next;
  bool drawn, exact;
} vcs_restart_point_t;

typedef struct {
  vcs_restart_point_t early, end;
  bool usable;
} vcs_restart_t;

/* The memory that a recording needs, and a recording in that memory; it begins an episode of the environment. */
size_t vcs_restart_bytes(const vcs_cart_t *cart);
void vcs_restart_record(vcs_restart_t *restart, vcs_env_t *env, void *memory);

/* Begins an episode, exactly as vcs_env_begin does. The environment has the cartridge, mode and options of the one that
 * was recorded. Returns whether the end was copied. */
bool vcs_restart_begin(const vcs_restart_t *restart, vcs_env_t *env);

#endif
