/* reward.h: derivatives of the rewards of a run's frames. */
#ifndef VCS_GRAD_REWARD_H
#define VCS_GRAD_REWARD_H

#include "diffvcs/grad.h"
#include "host/env.h"

/* What a run's rewards need while it is walked over. */
typedef struct {
  const vcs_env_t *env; /* NULL: no rewards are wanted */
  uint8_t looks[256];   /* the bytes that the rules look at: RAM, then cartridge RAM */
  vcs_play_t *plays;    /* before every frame */
  vcs_t *beside;        /* the machine after the frame that was walked over before this one */
  float *bits;          /* slots of the state after a frame, as callers have them */
} vcs_rewards_t;

vcs_status_t vcs_rewards_open(vcs_rewards_t *rewards, const vcs_run_t *run, const vcs_grad_outputs_t *outputs,
                              vcs_error_t *error);
void vcs_rewards_close(vcs_rewards_t *rewards);

/* The rules look at the machine after a frame: plays[frame + 1] is what they say. */
void vcs_rewards_play(const vcs_rewards_t *rewards, int32_t frame, const vcs_t *m);

/* Links `bits`, the state after a frame, to the reward of that frame and, if there is a machine after the next, of the
 * next: walking forwards adds to of[0] and of[1], backwards to the bits. `m` is as it was when this returns. */
void vcs_rewards_link(const vcs_rewards_t *rewards, bool reverse, int32_t frame, vcs_t *m, const vcs_t *next,
                      float *of);

#endif
