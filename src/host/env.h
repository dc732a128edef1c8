/* env.h: what an environment holds. */
#ifndef VCS_HOST_ENV_H
#define VCS_HOST_ENV_H

#include "host/cartridge.h"

struct vcs_env {
  const vcs_cart_t *cart;
  const vcs_game_t *game;      /* NULL: unknown cartridge, no rewards, never over */
  const vcs_game_code_t *code; /* its rules */
  vcs_profile_t profile;
  vcs_t *m;
  uint8_t *frames;
  vcs_play_t play;
  int32_t paddle[2]; /* positions, as resistances */
  int32_t paddle_high;
  int mode, difficulty;
  uint64_t frame_number, episode_frame_number;
  bool drawing, uses_paddles;
  vcs_watch_t watch;
  void *watch_context;
};

#endif
