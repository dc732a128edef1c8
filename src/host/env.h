/* env.h: the data of an environment.
 *
 * VCS_ENV_FIELDS lists, once, everything outside the machine that changes while a game is played: a row is
 * X(declared type, element type, name, dimension). States and save files are generated from the list (save.c), so a new
 * field is saved everywhere. Fields are in order of size so that the struct has no padding.
 */
#ifndef VCS_HOST_ENV_H
#define VCS_HOST_ENV_H

#include "core/riot_random.h"
#include "diffvcs/objects.h"
#include "host/cartridge.h"
#include "host/draw_history.h"

/* clang-format off */
#define VCS_ENV_FIELDS(X)                                                                        \
  X(uint64_t, uint64_t, frame_number, )         /* since the cartridge was loaded */             \
  X(uint64_t, uint64_t, episode_frame_number, ) /* since the last reset */                       \
  X(vcs_play_t, int32_t, play, )                /* score, reward, lives, over and rule memory */ \
  X(int32_t, int32_t, paddle, [2])              /* positions, as resistances */                  \
  X(int32_t, int32_t, action, [2])              /* last actions, by player */                   \
  X(float, float, strength, [2])                /* the same for paddles */                       \
  X(int32_t, int32_t, reward, )                 /* of the last step */                           \
  X(int32_t, int32_t, players, )                /* of the next reset; 0 is 1 */                  \
  X(vcs_play_t, int32_t, others, [3])           /* play of players 2 to 4 */                     \
  X(int32_t, int32_t, other_rewards, [3])       /* of the last step */                           \
  X(int32_t, int32_t, far_paddle, [2])          /* of players 3 and 4, in the right port */      \
  X(int32_t, int32_t, far_action, [2])          /* their last actions */                         \
  X(float, float, far_strength, [2])            /* the same for paddles */                       \
  X(int32_t, int32_t, life_lost, )              /* in the last step */                           \
  X(int32_t, int32_t, mode, )                   /* of the next reset */                          \
  X(int32_t, int32_t, difficulty, )             /* of the next frame */                          \
  X(vcs_mt19937_t, uint32_t, sticky_random, )   /* draws sticky actions */                       \
  X(vcs_mt19937_t, uint32_t, noop_random, )     /* draws no-op starts */                         \
  X(uint8_t, uint8_t, sound, [VCS_SOUND_SAMPLES]) /* of the last act that was listened to */
/* clang-format on */

#define VCS_ENV_DECLARE(type, element, name, dimension) type name dimension;
#define VCS_ENV_SIZE(type, element, name, dimension) +sizeof(((vcs_env_live_t *)0)->name)

typedef struct {
  VCS_ENV_FIELDS(VCS_ENV_DECLARE)
} vcs_env_live_t;

_Static_assert(sizeof(vcs_env_live_t) == 0 VCS_ENV_FIELDS(VCS_ENV_SIZE), "padding: reorder VCS_ENV_FIELDS");

struct vcs_env {
  const vcs_cart_t *cart;
  const vcs_game_t *game;      /* NULL: unknown cartridge, no rewards, never over */
  const vcs_game_code_t *code; /* its rules, for the number of players */
  vcs_profile_t profile;
  vcs_env_options_t options;
  uint64_t key;      /* which states fit: a digest of cartridge, console, game and profile */
  int32_t max_lives; /* before the first frame */
  int32_t paddle_high;
  uint32_t minimal, legal; /* actions, a bit each */
  bool uses_paddles, listening;
  vcs_watch_t watch;
  void *watch_context;
  vcs_t *m;
  vcs_draw_history_t draw_history; /* which frames are drawn, and where */
  vcs_look_t look;                 /* whether the last frame of a step is shown */
  struct vcs_recording *objects;   /* of the last frame (recording.h); NULL: not recorded */
  bool recorded;                   /* `objects` has the last frame */
  bool pooled;                     /* the next frame is drawn to be pooled with the one after it; it is not recorded */
  union {                          /* the same fields, separately and as a struct */
    vcs_env_live_t live;
    struct {
      VCS_ENV_FIELDS(VCS_ENV_DECLARE)
    };
  };
};

/* The number of players, at least 1; one of them, who must exist; what depends on their number: rules and actions. */
static inline int vcs_env_player_count(const vcs_env_t *env) { return env->players > 1 ? env->players : 1; }
static inline vcs_play_t *vcs_env_play(vcs_env_t *env, int player) {
  return player ? &env->others[player - 1] : &env->play;
}
void vcs_env_use_rules(vcs_env_t *env);

/* Returns the VCS_HELD_... bits of an action; 0 for an invalid action. */
uint8_t vcs_action_held(int action);

/* Puts the difficulty switches where every action holds them; profile xitari leaves them alone. */
void vcs_env_hold_switches(vcs_env_t *env);

/* The parts of creation and reset, for batches. vcs_env_setup needs `m` and the memory of `draw_history`, and does not
 * boot; vcs_env_boot is the rest of creation and vcs_env_reload; vcs_env_begin and vcs_env_open are vcs_env_reset;
 * vcs_env_begin_early, the reset of the console and VCS_ENV_EARLY_FRAMES frames, and vcs_env_begin_rest are
 * vcs_env_begin (restart.h). None of them draws the last frame, and all draw other frames into draw_history.frames as
 * needed. */
enum { VCS_ENV_EARLY_FRAMES = 4 };
vcs_status_t vcs_env_setup(vcs_env_t *env, const vcs_cart_t *cart, const vcs_env_options_t *options,
                           vcs_error_t *error);
void vcs_env_boot(vcs_env_t *env, uint32_t seed);
void vcs_env_begin(vcs_env_t *env);
void vcs_env_begin_early(vcs_env_t *env);
void vcs_env_begin_rest(vcs_env_t *env);
void vcs_env_open(vcs_env_t *env);

/* The parts of vcs_env_open. Draws the number of frames of an opening: FIRE, if the options ask for it, and no-ops.
 * Plays the frames from `begin` to before `end`. Draws the random numbers that playing `frames` frames draws, which say
 * whether an action sticks. */
int vcs_env_draw_opening(vcs_env_t *env);
void vcs_env_play_opening(vcs_env_t *env, int begin, int end);
void vcs_env_skip_opening(vcs_env_t *env, int frames);

/* Restores a state (save.c) that is known to fit this cartridge. The environment may refer to the state's picture, so
 * the state must be valid until after the next frame. */
void vcs_env_state_share(vcs_env_t *env, const void *state);

/* Whether these fields, consecutive machines and draw history are possible (save.c). */
bool vcs_env_is_possible(const vcs_env_t *env, const vcs_env_live_t *live, const uint8_t *machines, size_t count,
                         vcs_t *spare);
bool vcs_draw_history_is_possible(const vcs_draw_history_mark_t *history);

#endif
