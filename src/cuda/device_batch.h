/* device_batch.h: one environment of a device batch, and its step.
 *
 * A device batch is many environments on one device. Each environment is one record of bytes:
 *
 *   +------+-----+-----------+------+--------+--------+     before, pooled: only with small pictures
 *   | head | now | before[3] | team | frames | pooled |     team: only with several players
 *   +------+-----+-----------+------+--------+--------+     frames: 2 or 3 buffers, only with pictures
 *
 * A record is everything that a later step depends on, so cloning copies a record. A start, in which episodes begin, is
 * a record, too: a host environment (env.c) computes it once, by a reset, FIRE and some NOOP frames, and the step that
 * ends an episode copies it.
 *
 * The last picture of an episode is that of the reference, as in host/batch.c. If the episode ends before the last
 * frame of a step, the step shows the last picture again. If it ends with the last frame, the step pools the frame
 * before with the whole last picture. So a record keeps the last coloured picture (`pooled`), before it was resized.
 *
 * This file is host and device code: on the CPU each core runs one environment after the other (engine_cpu.c); on a GPU
 * each thread runs one environment (engine.cu). The order of events in a frame is that of env.c, and draw_history.h
 * decides which frames are drawn.
 */
#ifndef VCS_CUDA_DEVICE_BATCH_H
#define VCS_CUDA_DEVICE_BATCH_H

#include "diffvcs/cuda.h"
#include "diffvcs/objects.h"

#include "../core/splitmix.h"
#include "../host/games.h"
#include "lockstep.h"
#include "picture.h"

enum { VCS_DEVICE_ENV_NOW, VCS_DEVICE_ENV_BEFORE, VCS_DEVICE_ENV_MACHINES = VCS_DEVICE_ENV_BEFORE + 3 };
enum {
  VCS_DEVICE_ENV_KEPT = 2
}; /* index of the third frame buffer: a copy of a picture that the next frame overwrites */

/* The head of a record. */
typedef struct {
  vcs_play_t play;
  uint64_t random; /* state of splitmix64: sticky actions, no-op starts, random play */
  int32_t kind;    /* index into the batch's kinds */
  int32_t action;  /* last action, which sticky actions repeat */
  int32_t paddle[2];
  int32_t elapsed; /* frames since the episode began */
  int32_t frame_number, episode_frame_number;
  int32_t start;                       /* index of the start whose picture is shown next, or -1 */
  uint8_t covered, before_next, exact; /* as in draw_history.h */
  uint8_t shown[2];                    /* the two frame buffers that are pooled; equal if only one is shown */
  uint8_t ending;                      /* VCS_ENDING_..., until the picture of the step is made */
  uint8_t ending_frame;                /* frame buffer of VCS_ENDING_ONTO */
  uint8_t ended;                       /* the next step begins an episode (VCS_AUTORESET_NEXT_STEP) */
} vcs_device_env_t;

enum { VCS_DEVICE_ENV_BYTES = 80 };
#if defined(__cplusplus)
static_assert(sizeof(vcs_device_env_t) == VCS_DEVICE_ENV_BYTES, "the machine after the head is aligned");
#else
_Static_assert(sizeof(vcs_device_env_t) == VCS_DEVICE_ENV_BYTES, "the machine after the head is aligned");
#endif

/* The picture of a step in which an episode ended: the last picture again, or the last picture pooled with one more
 * frame. */
enum { VCS_ENDING_NONE, VCS_ENDING_AGAIN, VCS_ENDING_ONTO };

/* The part of a record for players 2 to 4; the first player's data are in the head. */
enum { VCS_DEVICE_OTHERS = VCS_PLAYERS_MAX - 1 };
typedef struct {
  vcs_play_t play[VCS_DEVICE_OTHERS];
  int32_t action[VCS_DEVICE_OTHERS], wish[VCS_DEVICE_OTHERS];  /* last actions, and the actions of the step */
  int32_t reward[VCS_DEVICE_OTHERS], lives[VCS_DEVICE_OTHERS]; /* rewards of the step under way; lives before it */
  int32_t far_paddle[2];                                       /* of players 3 and 4 */
  int32_t room[2];
} vcs_device_team_t;

/* The data of one kind: a combination of cartridge, mode and difficulty. Pointers are device pointers. */
typedef struct {
  vcs_cart_t cart;
  vcs_game_code_t code;
  const uint8_t *starts; /* start_count records */
  int32_t start_count;
  int32_t loaded;                /* frame number after loading, before the first episode */
  uint8_t meanings[VCS_ACTIONS]; /* action of each action number; NOOP from meaning_count on */
  int32_t meaning_count;
  int32_t actions[VCS_ACTIONS], action_count; /* the actions of random play */
  int32_t paddle_high, max_frames;
  uint8_t has_rules, uses_paddles, holds_switches, difficulty;
  uint8_t fires; /* whether starts press FIRE, which counts as one of the no-ops */
  vcs_small_t small;
} vcs_device_batch_kind_t;

/* The data of a device batch that kernels need. */
typedef struct {
  const vcs_device_batch_kind_t *kinds;
  uint8_t *records;
  size_t record_bytes, machine_bytes, frames_at; /* frames_at: offset of the frame buffers, 0 without pictures */
  size_t team_at;                                /* offset of the team, if there are several players */
  size_t pooled_at;                              /* offset of the last coloured picture, with small pictures */
  size_t picture_bytes, observation_bytes;       /* of a small picture, of all pictures of an observation */
  int32_t small_width, small_height, stack, channels;
  int32_t count, height; /* number of environments; rows of the highest frame */
  int32_t players;       /* at least 1 */
  int32_t frame_skip, noop_max, max_episode_frames;
  float repeat_action_probability;
  uint8_t shows; /* VCS_DEVICE_BATCH_SHOWS_... */
  uint8_t max_pool, reward_clipping, episodic_life, life_loss_info, endless;
  uint8_t autoreset; /* VCS_AUTORESET_... */
} vcs_device_batch_view_t;

/* Environments that begin an episode, and their seeds. Pointers are device pointers. */
typedef struct {
  const int32_t *ids;   /* indices; NULL: the first `count`; indices out of range are skipped */
  const int32_t *seeds; /* one seed each; a negative seed, or NULL, keeps the generator and the frame number */
  int32_t count;
  bool seeds_all; /* `seed` and the environment's index seed every generator instead */
  uint64_t seed;
} vcs_device_batch_resets_t;

/* Records, each followed by its observation, that are copied or restored. Pointers are device pointers. */
typedef struct {
  const int32_t *ids; /* as above */
  int32_t count;
  uint8_t *states;
  size_t state_bytes;          /* distance between states */
  uint8_t *observations;       /* observations of all environments; NULL: a state is only a record */
  vcs_batch_results_t results; /* results of restored environments */
  bool restores;
} vcs_device_batch_copies_t;

/* The arrays for the objects of all environments (device_objects.h). Pointers are device pointers. */
typedef struct {
  vcs_object_t *objects; /* `capacity` for each environment */
  int32_t *counts;       /* number of objects of each environment, which may be larger */
  int32_t capacity;
} vcs_device_batch_objects_t;

VCS_FN uint8_t *vcs_device_batch_record(const vcs_device_batch_view_t *batch, int32_t env) {
  return batch->records + (size_t)env * batch->record_bytes;
}

VCS_FN vcs_t *vcs_record_machine(const vcs_device_batch_view_t *batch, uint8_t *record, int which) {
  return (vcs_t *)(void *)(record + VCS_DEVICE_ENV_BYTES + (size_t)which * batch->machine_bytes);
}

VCS_FN vcs_device_team_t *vcs_record_team(const vcs_device_batch_view_t *batch, uint8_t *record) {
  return (vcs_device_team_t *)(void *)(record + batch->team_at);
}

/* Copies between addresses that are aligned to eight bytes; `bytes` is rounded up to a multiple of eight. */
VCS_FN void vcs_copy_words(void *to, const void *from, size_t bytes) {
#if defined(__CUDA_ARCH__)
  for (size_t i = 0; i < (bytes + 7) / 8; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
#else
  memcpy(to, from, (bytes + 7) & ~(size_t)7);
#endif
}

VCS_FN void vcs_copy_machine(vcs_t *to, const vcs_t *from, size_t bytes) { vcs_copy_words(to, from, bytes); }

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* Returns 0 to n - 1, with a bias of at most n in 2^32. */
VCS_FN int32_t vcs_device_env_draw(vcs_device_env_t *env, int32_t n) {
  return (int32_t)((vcs_splitmix64(&env->random) >> 32) * (uint64_t)n >> 32);
}

/* ---- Controls (as in env.c) ------------------------------------------------------------------------------------- */

enum { VCS_PADDLE_LOW = 27450 };

VCS_TABLE(uint8_t, vcs_held_by, VCS_ACTIONS,
          {0, VCS_HELD_FIRE, VCS_HELD_UP, VCS_HELD_RIGHT, VCS_HELD_LEFT, VCS_HELD_DOWN, VCS_HELD_UP | VCS_HELD_RIGHT,
           VCS_HELD_UP | VCS_HELD_LEFT, VCS_HELD_DOWN | VCS_HELD_RIGHT, VCS_HELD_DOWN | VCS_HELD_LEFT,
           VCS_HELD_UP | VCS_HELD_FIRE, VCS_HELD_RIGHT | VCS_HELD_FIRE, VCS_HELD_LEFT | VCS_HELD_FIRE,
           VCS_HELD_DOWN | VCS_HELD_FIRE, VCS_HELD_UP | VCS_HELD_RIGHT | VCS_HELD_FIRE,
           VCS_HELD_UP | VCS_HELD_LEFT | VCS_HELD_FIRE, VCS_HELD_DOWN | VCS_HELD_RIGHT | VCS_HELD_FIRE,
           VCS_HELD_DOWN | VCS_HELD_LEFT | VCS_HELD_FIRE})

VCS_FN int32_t vcs_turned_paddle(const vcs_device_batch_kind_t *kind, int32_t position, uint8_t held) {
  if (held & VCS_HELD_RIGHT) position -= VCS_PADDLE_STEP;
  if (held & VCS_HELD_LEFT) position += VCS_PADDLE_STEP;
  if (position < VCS_PADDLE_LOW) position = VCS_PADDLE_LOW;
  if (position > kind->paddle_high) position = kind->paddle_high;
  return position;
}

/* Adds the controls of players 2 to 4. */
VCS_SLOW_FN void vcs_device_team_controls(const vcs_device_batch_kind_t *kind, int32_t players, vcs_device_env_t *env,
                                          vcs_device_team_t *team, vcs_controls_t *controls) {
  controls->paddle[2] = team->far_paddle[0]; /* also where players 3 and 4 do not exist */
  controls->paddle[3] = team->far_paddle[1];
  for (int i = 1; i < players; i++) {
    const uint8_t held = vcs_held_by((unsigned)team->action[i - 1]);
    if (kind->uses_paddles) {
      int32_t *paddle = i == 1 ? &env->paddle[1] : &team->far_paddle[i - 2];
      controls->paddle[i] = *paddle = vcs_turned_paddle(kind, *paddle, held);
      if (held & VCS_HELD_FIRE) {
        controls->held[i / 2] = (uint8_t)(controls->held[i / 2] | (i % 2 ? VCS_HELD_FIRE_2 : VCS_HELD_FIRE));
      }
    } else if (i == 1) {
      controls->held[1] = held;
    }
  }
}

/* `team` is NULL for one player. */
VCS_FN void vcs_device_env_controls(const vcs_device_batch_kind_t *kind, int32_t players, vcs_device_env_t *env,
                                    vcs_device_team_t *team, vcs_t *m) {
  const uint8_t held = vcs_held_by((unsigned)env->action);
  vcs_controls_t controls = {{held, 0}, {env->paddle[0], env->paddle[1], 0, 0}, {0, 0}, 0};
  if (kind->uses_paddles) {
    controls.held[0] = held & VCS_HELD_FIRE;
    controls.paddle[0] = env->paddle[0] = vcs_turned_paddle(kind, env->paddle[0], held);
  }
  if (players > 1) vcs_device_team_controls(kind, players, env, team, &controls);
  if (kind->holds_switches) {
    m->swchb = (uint8_t)((m->swchb & 0x3F) | (kind->difficulty & 1) << 6 | (kind->difficulty & 2) << 6);
  }
  vcs_console_control(&kind->cart, m, &controls);
}

/* ---- Draw history: only visible frames are drawn (draw_history.h) ---------------------------------------------- */

enum { VCS_COVERED_ENOUGH = 2 };

VCS_FN bool vcs_frame_covers(const vcs_cart_t *cart, const vcs_t *m) {
  return !m->partial && m->first_line == cart->top_line &&
         m->seen_clock == VCS_LINE_CLOCKS * (cart->top_line + cart->height);
}

/* Runs the last three frames again with drawing, the oldest first, so that both buffers are right. */
VCS_SLOW_FN void vcs_device_env_redraw(const vcs_device_batch_view_t *batch, const vcs_cart_t *cart,
                                       vcs_device_env_t *env, uint8_t *record, vcs_t *m) {
  const size_t size = vcs_machine_size(cart);
  vcs_video_t video;
  for (int i = 0; i < 3; i++) {
    vcs_copy_machine(m, vcs_record_machine(batch, record, VCS_DEVICE_ENV_BEFORE + (env->before_next + i) % 3), size);
    vcs_frame_together(cart, m, &video, record + batch->frames_at, true, VCS_THIS_LANE);
  }
  env->exact = 1;
}

/* Called before a frame; returns the buffers that it draws into, or NULL. */
VCS_FN uint8_t *vcs_draw_history_start(const vcs_device_batch_view_t *batch, const vcs_cart_t *cart,
                                       vcs_device_env_t *env, uint8_t *record, const vcs_t *m, bool looks) {
  vcs_copy_machine(vcs_record_machine(batch, record, VCS_DEVICE_ENV_BEFORE + env->before_next), m,
                   vcs_machine_size(cart));
  env->before_next = (uint8_t)((env->before_next + 1) % 3);
  return env->exact || looks ? record + batch->frames_at : NULL;
}

/* Called after a frame. If a frame without drawing did not cover the picture, runs it again with drawing; the machine
 * ends in the same state. */
VCS_FN void vcs_draw_history_finish(const vcs_device_batch_view_t *batch, const vcs_cart_t *cart, vcs_device_env_t *env,
                                    uint8_t *record, vcs_t *m) {
  if (!vcs_frame_covers(cart, m)) {
    env->covered = 0;
    if (!env->exact) vcs_device_env_redraw(batch, cart, env, record, m);
    return;
  }
  if (env->covered < VCS_COVERED_ENOUGH) env->covered++;
  if (env->covered == VCS_COVERED_ENOUGH) env->exact = 0;
}

/* ---- Episodes ----------------------------------------------------------------------------------------------- */

/* Begins an episode: copies a start except its generator, frame number and picture, which is copied when it is shown.
 * `m` is the running machine. */
VCS_FN void vcs_device_env_begin(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                                 vcs_device_env_t *env, uint8_t *record, vcs_t *m) {
  const int32_t waits = (batch->noop_max > 0 ? vcs_device_env_draw(env, batch->noop_max) : 0) - kind->fires;
  const int32_t number = waits < 0 ? 0 : waits;
  uint8_t *start = (uint8_t *)kind->starts + (size_t)number * batch->record_bytes; /* only read */
  const vcs_device_env_t kept = *env;
  const size_t size = vcs_machine_size(&kind->cart);
  *env = *(const vcs_device_env_t *)(const void *)start;
  env->random = kept.random;
  env->kind = kept.kind;
  env->frame_number = kept.frame_number + env->episode_frame_number;
  env->start = batch->frames_at ? number : -1;
  vcs_copy_machine(m, vcs_record_machine(batch, start, VCS_DEVICE_ENV_NOW), size);
  if (batch->players > 1) {
    int32_t reward[VCS_DEVICE_OTHERS]; /* of the step that ends the old episode */
    for (int i = 0; i < VCS_DEVICE_OTHERS; i++) reward[i] = vcs_record_team(batch, record)->reward[i];
    vcs_copy_words(vcs_record_team(batch, record), vcs_record_team(batch, start), sizeof(vcs_device_team_t));
    for (int i = 0; i < VCS_DEVICE_OTHERS; i++) vcs_record_team(batch, record)->reward[i] = reward[i];
  }
  if (batch->shows != VCS_DEVICE_BATCH_SHOWS_SMALL) return;
  for (int i = VCS_DEVICE_ENV_BEFORE; i < VCS_DEVICE_ENV_MACHINES; i++) {
    vcs_copy_machine(vcs_record_machine(batch, record, i), vcs_record_machine(batch, start, i), size);
  }
}

VCS_FN bool vcs_device_env_over(const vcs_device_batch_kind_t *kind, const vcs_device_env_t *env) {
  return kind->has_rules && (env->play.over || (kind->max_frames > 0 && env->episode_frame_number >= kind->max_frames));
}

/* Copies a picture that the next frame would overwrite, because a partial frame continues in the same buffer. */
VCS_SLOW_FN void vcs_device_env_keep(const vcs_cart_t *cart, uint8_t *frames, int front) {
  vcs_copy_words(frames + VCS_DEVICE_ENV_KEPT * VCS_FRAME_BYTES, frames + front * VCS_FRAME_BYTES,
                 (size_t)(VCS_WIDTH * cart->frame_height));
}

/* ---- Players 2 to 4 ---------------------------------------------------------------------------------------------- */

/* The action that a number means; a random one without actions. */
VCS_FN int32_t vcs_device_wish(const vcs_device_batch_kind_t *kind, vcs_device_env_t *env, const int32_t *action) {
  if (!action) return kind->actions[vcs_device_env_draw(env, kind->action_count)];
  return *action >= 0 && *action < VCS_ACTIONS ? kind->meanings[*action] : (int32_t)VCS_NOOP;
}

/* Stores the actions of a step (NULL: random ones), and before each frame applies those that do not stick. */
VCS_SLOW_FN void vcs_device_team_begin(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                                       vcs_device_env_t *env, vcs_device_team_t *team, const int32_t *actions) {
  for (int i = 0; i < batch->players - 1; i++) {
    team->wish[i] = vcs_device_wish(kind, env, actions ? actions + 1 + i : NULL);
    team->reward[i] = 0;
    team->lives[i] = team->play[i].lives;
  }
}

VCS_SLOW_FN void vcs_device_team_act(const vcs_device_batch_view_t *batch, vcs_device_env_t *env,
                                     vcs_device_team_t *team) {
  for (int i = 0; i < batch->players - 1; i++) {
    const float chance = (float)(vcs_splitmix64(&env->random) >> 40) * (1 / 16777216.0f);
    if (chance >= batch->repeat_action_probability) team->action[i] = team->wish[i];
  }
}

/* Runs the rules after a frame. */
VCS_SLOW_FN void vcs_device_team_judge(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                                       vcs_device_team_t *team, const vcs_t *m) {
  for (int i = 0; i < batch->players - 1; i++) {
    vcs_game_code_step(&kind->code, &team->play[i], m->ram, m->cart_ram);
    team->reward[i] = (int32_t)((uint32_t)team->reward[i] + (uint32_t)team->play[i].reward);
  }
}

VCS_SLOW_FN bool vcs_device_team_lost(const vcs_device_batch_view_t *batch, const vcs_device_team_t *team) {
  for (int i = 0; i < batch->players - 1; i++) {
    if (team->play[i].lives < team->lives[i] && team->play[i].lives > 0) return true;
  }
  return false;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Runs one frame of a step in all `lanes` together; `left` frames remain including this one. Lanes that are not
 * `playing` only take part in the synchronization. */
VCS_FN void vcs_device_env_frame(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                                 vcs_device_env_t *env, uint8_t *record, vcs_t *m, int wish, int left, bool playing,
                                 unsigned lanes) {
  vcs_video_t video;
  uint8_t *frames = batch->frames_at ? record + batch->frames_at : NULL;
  const bool small = batch->shows == VCS_DEVICE_BATCH_SHOWS_SMALL, pools = batch->max_pool && batch->frame_skip > 1;
  if (playing) {
    const float chance = (float)(vcs_splitmix64(&env->random) >> 40) * (1 / 16777216.0f);
    if (chance >= batch->repeat_action_probability) env->action = wish;
    vcs_device_team_t *team = batch->players > 1 ? vcs_record_team(batch, record) : NULL;
    if (team) vcs_device_team_act(batch, env, team);
    vcs_device_env_controls(kind, batch->players, env, team, m);
    if (small) {
      if (left == 1 && pools && m->partial) {
        vcs_device_env_keep(&kind->cart, frames, m->front);
        env->shown[1] = VCS_DEVICE_ENV_KEPT;
      }
      frames = vcs_draw_history_start(batch, &kind->cart, env, record, m, left <= (pools ? 2 : 1));
    }
  }
  vcs_frame_together(&kind->cart, m, &video, frames, playing, lanes);
  if (!playing) return;
  if (small) vcs_draw_history_finish(batch, &kind->cart, env, record, m);
  if (left == 1) env->shown[0] = m->front;
  if (left == 2 || !pools) env->shown[1] = m->front;
  if (kind->has_rules) vcs_game_code_step(&kind->code, &env->play, m->ram, m->cart_ram);
  if (batch->players > 1) vcs_device_team_judge(batch, kind, vcs_record_team(batch, record), m);
  vcs_read_all_ram(m);
  env->elapsed++;
  env->frame_number++;
  env->episode_frame_number++;
}

/* Notes which picture a step shows in which an episode ended with `left` frames remaining, including the last frame
 * that ran. `second` is the frame buffer of the frame before. */
VCS_FN void vcs_device_env_end(const vcs_device_batch_view_t *batch, vcs_device_env_t *env, int left, uint8_t second) {
  const bool pools = batch->max_pool && batch->frame_skip > 1;
  if (batch->shows != VCS_DEVICE_BATCH_SHOWS_SMALL) return;
  env->ending = left == 1 && pools ? VCS_ENDING_ONTO : VCS_ENDING_AGAIN;
  env->ending_frame = second;
}

/* Runs a step of an environment: frame_skip frames, or up to the end of the episode. The next episode begins in the
 * same step, in the next step (which does nothing else), or when the caller resets the environment; until then a game
 * that is over does not run. */
VCS_FN void vcs_device_env_step(const vcs_device_batch_view_t *batch, int32_t number, vcs_device_env_t *env, vcs_t *m,
                                const int32_t *actions, const vcs_batch_results_t *results, unsigned lanes) {
  const vcs_device_batch_kind_t *kind = &batch->kinds[env->kind];
  uint8_t *record = vcs_device_batch_record(batch, number);
  const int32_t lives = env->play.lives;
  const int32_t *row = actions ? actions + (size_t)number * (size_t)batch->players : NULL;
  int64_t reward = 0;
  const bool waits = batch->autoreset == VCS_AUTORESET_NEXT_STEP && env->ended;
  bool over = batch->autoreset == VCS_AUTORESET_DISABLED && !batch->endless && vcs_device_env_over(kind, env);
  bool truncated = false, lost = false, playing = !over && !waits;
  int left_at_end = playing ? 0 : batch->frame_skip + 1;
  const int32_t wish = vcs_device_wish(kind, env, row);
  if (batch->players > 1) vcs_device_team_begin(batch, kind, env, vcs_record_team(batch, record), row);
  for (int left = batch->frame_skip; left > 0; left--) {
    vcs_device_env_frame(batch, kind, env, record, m, wish, left, playing, lanes);
    if (!playing) continue;
    reward += env->play.reward;
    over = vcs_device_env_over(kind, env);
    lost = env->play.lives < lives && env->play.lives > 0;
    if (batch->players > 1) lost = lost || vcs_device_team_lost(batch, vcs_record_team(batch, record));
    truncated = batch->max_episode_frames > 0 && env->elapsed >= batch->max_episode_frames;
    playing = batch->endless || !(over || truncated || (batch->episodic_life && lost));
    if (!playing) left_at_end = left;
  }
  const bool terminated = over || ((batch->episodic_life || batch->life_loss_info) && lost);
  const uint8_t second = env->shown[1];
  if (waits || (!playing && batch->autoreset == VCS_AUTORESET_SAME_STEP)) {
    vcs_device_env_begin(batch, kind, env, record, m);
  }
  if (!playing && !waits) {
    vcs_device_env_end(batch, env, left_at_end, second);
    env->ended = batch->autoreset == VCS_AUTORESET_NEXT_STEP;
  }
  if (batch->reward_clipping) reward = reward < -1 ? -1 : reward > 1 ? 1 : reward;
  if (results->rewards) {
    int32_t *rewards = results->rewards + (size_t)number * (size_t)batch->players;
    rewards[0] = (int32_t)(reward < INT32_MIN ? INT32_MIN : reward > INT32_MAX ? INT32_MAX : reward);
    for (int i = 1; i < batch->players; i++) {
      const int32_t other = vcs_record_team(batch, record)->reward[i - 1];
      rewards[i] = !batch->reward_clipping ? other : other < -1 ? -1 : other > 1 ? 1 : other;
    }
  }
  if (results->terminated) results->terminated[number] = terminated;
  if (results->truncated) results->truncated[number] = truncated && !terminated;
}

/* Writes the results of an environment after a step or a reset. */
VCS_FN void vcs_device_env_report(const vcs_device_batch_view_t *batch, int32_t number, const vcs_device_env_t *env,
                                  const vcs_t *m, const vcs_batch_results_t *results) {
  if (results->env_ids) results->env_ids[number] = number;
  if (results->lives) {
    int32_t *lives = results->lives + (size_t)number * (size_t)batch->players;
    lives[0] = env->play.lives;
    for (int i = 1; i < batch->players; i++) {
      lives[i] = vcs_record_team(batch, vcs_device_batch_record(batch, number))->play[i - 1].lives;
    }
  }
  if (results->frame_numbers) results->frame_numbers[number] = env->frame_number;
  if (results->episode_frame_numbers) results->episode_frame_numbers[number] = env->episode_frame_number;
  for (int i = 0; results->ram && i < 128; i++) results->ram[(size_t)number * 128 + (size_t)i] = m->ram[i];
}

/* Returns the initial state of a seed's generator. */
VCS_FN uint64_t vcs_device_env_random(uint64_t seed) { return vcs_splitmix64(&seed); }

/* Begins an episode in an environment, with a new generator if there is a seed for it. */
VCS_FN void vcs_device_env_reset(const vcs_device_batch_view_t *batch, const vcs_device_batch_resets_t *resets,
                                 int32_t entry, int32_t number, vcs_device_env_t *env, vcs_t *m,
                                 const vcs_batch_results_t *results) {
  const bool has_own = resets->seeds && resets->seeds[entry] >= 0;
  if (resets->seeds_all) env->random = vcs_device_env_random(resets->seed) ^ (uint64_t)(uint32_t)number << 32;
  if (has_own) env->random = vcs_device_env_random((uint32_t)resets->seeds[entry]);
  if (has_own || resets->seeds_all) env->frame_number = batch->kinds[env->kind].loaded;
  vcs_device_env_begin(batch, &batch->kinds[env->kind], env, vcs_device_batch_record(batch, number), m);
  for (int i = 0; results->rewards && i < batch->players; i++) {
    results->rewards[(size_t)number * (size_t)batch->players + (size_t)i] = 0;
  }
  if (results->terminated) results->terminated[number] = 0;
  if (results->truncated) results->truncated[number] = 0;
}

#endif
