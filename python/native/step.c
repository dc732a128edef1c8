/* step.c: steps for Python (step.h). */
#include "step.h"

#include <string.h>

#include "diffvcs/grad.h"
#include "host/env.h"

/* Sound is made once for each call, so frames that are listened to are calls of their own. */
static int64_t act(vcs_env_t *env, int action, float strength, int frames) {
  if (env->listening) {
    int64_t sum = 0;
    for (int i = 0; i < frames; i++) sum += vcs_env_act_strength(env, action, VCS_NOOP, strength, 1);
    return sum;
  }
  const int32_t frame_skip = env->options.frame_skip;
  env->options.frame_skip = frames;
  const int32_t reward = vcs_env_act_strength(env, action, VCS_NOOP, strength, 1);
  env->options.frame_skip = frame_skip;
  return reward;
}

static void observe(const vcs_env_t *env, int see, uint8_t *observation) {
  if (see == VCS_SEE_RGB) vcs_env_screen_rgb(env, observation);
  if (see == VCS_SEE_GRAY) vcs_env_screen_gray(env, observation);
  if (see == VCS_SEE_RAM) memcpy(observation, vcs_env_ram(env), 128);
}

void vcs_see(const vcs_env_t *env, int see, uint8_t *observation, vcs_seen_t *seen) {
  observe(env, see, observation);
  *seen = (vcs_seen_t){(int64_t)vcs_env_frame_number(env),
                       (int64_t)vcs_env_episode_frame_number(env),
                       0,
                       vcs_env_lives(env),
                       (uint8_t)vcs_env_over(env),
                       (uint8_t)vcs_env_truncated(env)};
}

void vcs_play(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation, vcs_seen_t *seen) {
  const int64_t reward = act(env, action, strength, frames);
  vcs_see(env, see, observation, seen);
  seen->reward = (int32_t)reward;
}

void vcs_play_players(vcs_env_t *env, vcs_joint_t *joint, int count, int see, uint8_t *observation) {
  joint->players = vcs_env_players(env);
  if (joint->players != count) return;
  vcs_env_act_players(env, joint->actions, NULL, joint->rewards);
  for (int i = 0; i < count; i++) joint->lives[i] = vcs_env_player_lives(env, i);
  joint->over = (uint8_t)vcs_env_over(env);
  joint->truncated = (uint8_t)vcs_env_truncated(env);
  observe(env, see, observation);
}

void vcs_env_frames(vcs_env_t *env, uint8_t *frames) {
  vcs_controls_t controls;
  vcs_run_t run;
  vcs_run_idle(env, 1, &controls, &run);
  memcpy(frames, run.picture, 2 * VCS_FRAME_BYTES);
}

void vcs_picture_copy(const vcs_cart_t *cart, const vcs_t *m, const uint8_t *frames, uint8_t *picture) {
  memcpy(picture, vcs_picture(m, frames), (size_t)vcs_cart_info(cart)->height * VCS_WIDTH);
}

void vcs_list_objects(vcs_env_t *env, int track, uint8_t *tracks, vcs_object_t *objects, int32_t *count) {
  *count = vcs_env_objects(env, objects, VCS_OBJECTS_MAX);
  if (track) vcs_objects_track((vcs_tracks_t *)(void *)tracks, objects, *count);
}

void vcs_play_objects(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation,
                      vcs_seen_t *seen, uint8_t *tracks, vcs_object_t *objects, int32_t *count) {
  vcs_play(env, action, strength, frames, see, observation, seen);
  vcs_list_objects(env, 1, tracks, objects, count);
}

int64_t vcs_batch_gather_objects(vcs_batch_t *batch, const int32_t *envs, int32_t count, int32_t *counts,
                                 vcs_object_t *objects, int32_t capacity) {
  int64_t all = 0;
  for (int32_t i = 0; i < count; i++) {
    const int32_t space = all < capacity ? capacity - (int32_t)all : 0;
    counts[i] = vcs_batch_objects(batch, envs[i], objects + (capacity - space), space);
    if (counts[i] < 0) return -1;
    all += counts[i];
  }
  return all;
}

void vcs_object_rows(const vcs_object_t *objects, int32_t count, int16_t *rows) {
  memset(rows, -1, VCS_OBJECT_ROWS * VCS_OBJECT_COLUMNS * sizeof *rows);
  const int16_t *end = rows + VCS_OBJECT_ROWS * VCS_OBJECT_COLUMNS;
  for (const vcs_object_t *o = objects; o < objects + count && rows < end; o++) {
    if (o->kind == VCS_OBJECT_PLAYFIELD) continue;
    const int16_t row[VCS_OBJECT_COLUMNS] = {o->kind, o->x,      o->y,         o->w,
                                             o->h,    o->colour, o->reflected, (int16_t)(o->id & INT16_MAX)};
    memcpy(rows, row, sizeof row);
    rows += VCS_OBJECT_COLUMNS;
  }
}
