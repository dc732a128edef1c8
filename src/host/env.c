/* env.c: a machine as a game: episodes, actions, rewards, lives, endings.
 *
 * The order of events is the reference's, because RAM survives a reset and so the frames before an episode are part of
 * it. An episode of profile `xitari` begins with a reset, 60 frames of nothing, 4 with the RESET switch held and the
 * game's starting actions; one of profile `ale` with a reset, 60 frames of nothing, 4 of RESET, the selection of the
 * game's mode, 4 of RESET and the starting actions.
 *
 * Paddles are turned by LEFT and RIGHT, a step a frame. The first player has the first paddle of the left port, the
 * second player the second one.
 */
#include "host/env.h"

#include <stdlib.h>
#include <string.h>

#include "host/files.h"

enum { PADDLE_STEP = 23000, PADDLE_LOW = 27450, PADDLE_HIGH = 790196, BOOT_FRAMES = 60, RESET_FRAMES = 4 };

static const struct {
  const char *name;
  uint8_t held;
} actions[VCS_ACTIONS] = {
    {"NOOP", 0},
    {"FIRE", VCS_HELD_FIRE},
    {"UP", VCS_HELD_UP},
    {"RIGHT", VCS_HELD_RIGHT},
    {"LEFT", VCS_HELD_LEFT},
    {"DOWN", VCS_HELD_DOWN},
    {"UPRIGHT", VCS_HELD_UP | VCS_HELD_RIGHT},
    {"UPLEFT", VCS_HELD_UP | VCS_HELD_LEFT},
    {"DOWNRIGHT", VCS_HELD_DOWN | VCS_HELD_RIGHT},
    {"DOWNLEFT", VCS_HELD_DOWN | VCS_HELD_LEFT},
    {"UPFIRE", VCS_HELD_UP | VCS_HELD_FIRE},
    {"RIGHTFIRE", VCS_HELD_RIGHT | VCS_HELD_FIRE},
    {"LEFTFIRE", VCS_HELD_LEFT | VCS_HELD_FIRE},
    {"DOWNFIRE", VCS_HELD_DOWN | VCS_HELD_FIRE},
    {"UPRIGHTFIRE", VCS_HELD_UP | VCS_HELD_RIGHT | VCS_HELD_FIRE},
    {"UPLEFTFIRE", VCS_HELD_UP | VCS_HELD_LEFT | VCS_HELD_FIRE},
    {"DOWNRIGHTFIRE", VCS_HELD_DOWN | VCS_HELD_RIGHT | VCS_HELD_FIRE},
    {"DOWNLEFTFIRE", VCS_HELD_DOWN | VCS_HELD_LEFT | VCS_HELD_FIRE},
};

const char *vcs_action_name(int action) { return action >= 0 && action < VCS_ACTIONS ? actions[action].name : NULL; }

/* ---- Hands -------------------------------------------------------------------------------------------------- */

static void turn_paddle(vcs_env_t *env, int paddle, uint8_t held) {
  int32_t position = env->paddle[paddle];
  if (held & VCS_HELD_RIGHT) position -= PADDLE_STEP;
  if (held & VCS_HELD_LEFT) position += PADDLE_STEP;
  if (position < PADDLE_LOW) position = PADDLE_LOW;
  if (position > env->paddle_high) position = env->paddle_high;
  env->paddle[paddle] = position;
}

/* What a player does in a frame: an action, or a switch of the console. */
static uint8_t held_by(int press) { return press >= 0 && press < VCS_ACTIONS ? actions[press].held : 0; }

static void take_hands(vcs_env_t *env, int player_a, int player_b) {
  uint8_t a = held_by(player_a), b = held_by(player_b);
  vcs_controls_t hands = {{a, b}, {env->paddle[0], env->paddle[1], 0, 0}, {0, 0}, 0};
  if (env->uses_paddles) {
    turn_paddle(env, 0, a);
    turn_paddle(env, 1, b);
    hands.held[0] = (uint8_t)((a & VCS_HELD_FIRE) | (b & VCS_HELD_FIRE ? VCS_HELD_FIRE_2 : 0));
    hands.held[1] = 0;
    hands.paddle[0] = env->paddle[0];
    hands.paddle[1] = env->paddle[1];
  }
  if (player_a == VCS_PRESS_RESET) hands.console = VCS_CONSOLE_RESET;
  if (player_a == VCS_PRESS_SELECT) hands.console = VCS_CONSOLE_SELECT;
  if (env->profile == VCS_PROFILE_ALE) { /* the difficulty switches are held in place from the first action on */
    env->m->swchb = (uint8_t)((env->m->swchb & 0x3F) | (env->difficulty & 1) << 6 | (env->difficulty & 2) << 6);
  }
  vcs_control(env->cart, env->m, &hands);
}

/* ---- Frames ------------------------------------------------------------------------------------------------- */

static void watched_frame(vcs_env_t *env, uint8_t *frames) {
  vcs_step_t step = {0};
  vcs_frame_begin(env->cart, env->m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !env->m->jammed; i++) {
    vcs_step(env->cart, env->m, frames, &step);
    env->watch(env->watch_context, env->m, &step);
    if (step.frame_over) break;
  }
  vcs_frame_end(env->cart, env->m, frames);
}

static void frame(vcs_env_t *env) {
  uint8_t *frames = env->drawing ? env->frames : NULL;
  if (env->watch) {
    watched_frame(env, frames);
  } else {
    vcs_frame(env->cart, env->m, frames);
  }
}

static void judge(vcs_env_t *env) {
  if (env->game) vcs_game_code_step(env->code, &env->play, env->m->ram, env->m->cart_ram);
}

/* Frames under the same hands; the rules look at each. The environment then reads all of RAM over the bus. */
static void emulate(vcs_env_t *env, int player_a, int player_b, int count) {
  for (int i = 0; i < count; i++) {
    if (i == 0 || env->uses_paddles) take_hands(env, player_a, player_b);
    frame(env);
    judge(env);
  }
  env->m->bus = env->m->ram[127];
}

/* ---- Episodes ----------------------------------------------------------------------------------------------- */

static void soft_reset(vcs_env_t *env) { emulate(env, VCS_PRESS_RESET, VCS_NOOP, RESET_FRAMES); }

/* Holding SELECT is not an action: the rules do not look at those frames, only at the one after them. */
static void press_select(vcs_env_t *env, int count) {
  take_hands(env, VCS_PRESS_SELECT, VCS_NOOP);
  for (int i = 0; i < count; i++) frame(env);
  env->m->bus = env->m->ram[127];
  emulate(env, VCS_NOOP, VCS_NOOP, 1);
  env->frame_number++;
  env->episode_frame_number++;
}

static void select_mode(vcs_env_t *env) {
  vcs_rule_run_t run;
  vcs_rule_begin(&run, env->mode);
  for (int i = 0; i < VCS_MODE_PATIENCE; i++) {
    switch (vcs_game_mode_next(env->game, &run, &env->play, env->m->ram, env->m->cart_ram)) {
      case VCS_RULE_SELECT:
        press_select(env, run.arg[0]);
        break;
      case VCS_RULE_ACT:
        vcs_env_act(env, run.arg[0], VCS_NOOP);
        break;
      case VCS_RULE_RESET:
        soft_reset(env);
        break;
      default:
        return;
    }
  }
}

void vcs_env_reset(vcs_env_t *env) {
  env->episode_frame_number = 0;
  env->paddle[0] = env->paddle[1] = (PADDLE_LOW + env->paddle_high) / 2;
  vcs_reset(env->cart, env->m, env->frames);
  emulate(env, VCS_NOOP, VCS_NOOP, BOOT_FRAMES);
  soft_reset(env);
  if (!env->game) return;
  vcs_game_code_reset(env->code, &env->play);
  if (env->profile == VCS_PROFILE_ALE) {
    select_mode(env);
    soft_reset(env);
  }
  vcs_press_t presses[VCS_GAME_PRESSES];
  int count = vcs_game_presses(env->game, env->profile, presses);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < presses[i].frames; k++) emulate(env, presses[i].action, VCS_NOOP, 1);
  }
}

int32_t vcs_env_act_on(vcs_env_t *env, int player_a, int player_b) {
  uint32_t illegal = env->game ? env->game->illegal : 0;
  if (player_a < 0 || player_a >= VCS_ACTIONS || illegal >> player_a & 1) player_a = VCS_NOOP;
  if (player_b < 0 || player_b >= VCS_ACTIONS || illegal >> player_b & 1) player_b = VCS_NOOP;
  emulate(env, player_a, player_b, 1);
  env->frame_number++;
  env->episode_frame_number++;
  return env->play.reward;
}

int32_t vcs_env_act(vcs_env_t *env, int player_a, int player_b) {
  return vcs_env_over(env) ? 0 : vcs_env_act_on(env, player_a, player_b);
}

int vcs_env_over(const vcs_env_t *env) {
  if (!env->game) return 0;
  bool timed_out = env->profile == VCS_PROFILE_XITARI && env->game->max_frames > 0 &&
                   env->episode_frame_number >= (uint64_t)env->game->max_frames;
  return env->play.over || timed_out;
}

/* ---- Life ----------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_env_create(const vcs_cart_t *cart, vcs_env_t **out, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!cart || !out) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no cartridge, or no place for the environment");
  *out = NULL;
  vcs_env_t *env = calloc(1, sizeof *env);
  if (env) env->m = calloc(1, vcs_state_size(cart));
  if (env) env->frames = calloc(2, VCS_FRAME_BYTES);
  if (!env || !env->m || !env->frames) {
    vcs_env_free(env);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  const vcs_cartridge_t *cartridge = vcs_cartridge(cart);
  env->cart = cart;
  env->profile = cartridge->info.profile;
  env->game = cartridge->game;
  env->code = env->game ? vcs_game_code(env->game, env->profile) : NULL;
  env->drawing = 1;
  env->uses_paddles = cartridge->info.left == VCS_CONTROLLER_PADDLES || cartridge->info.right == VCS_CONTROLLER_PADDLES;
  env->paddle_high = PADDLE_HIGH;
  if (env->game && env->profile == VCS_PROFILE_ALE) {
    uint16_t modes[VCS_GAME_MODES];
    if (env->game->paddle_max) env->paddle_high = env->game->paddle_max;
    env->mode = vcs_game_modes(env->game, modes) ? modes[0] : 0;
  }
  vcs_boot(cart, env->m, env->frames);
  vcs_env_reset(env);
  *out = env;
  return VCS_OK;
}

void vcs_env_free(vcs_env_t *env) {
  if (!env) return;
  free(env->m);
  free(env->frames);
  free(env);
}

void vcs_env_set_drawing(vcs_env_t *env, int drawing) { env->drawing = drawing != 0; }

void vcs_env_watch(vcs_env_t *env, vcs_watch_t watch, void *context) {
  env->watch = watch;
  env->watch_context = context;
}

int32_t vcs_env_lives(const vcs_env_t *env) { return env->play.lives; }
uint64_t vcs_env_frame_number(const vcs_env_t *env) { return env->frame_number; }
uint64_t vcs_env_episode_frame_number(const vcs_env_t *env) { return env->episode_frame_number; }
const uint8_t *vcs_env_screen(const vcs_env_t *env) { return vcs_picture(env->m, env->frames); }
int vcs_env_height(const vcs_env_t *env) { return env->cart->frame_height; }
const uint8_t *vcs_env_ram(const vcs_env_t *env) { return env->m->ram; }
vcs_t *vcs_env_machine(vcs_env_t *env) { return env->m; }
uint8_t *vcs_env_frames(vcs_env_t *env) { return env->frames; }
const vcs_cart_t *vcs_env_cart(const vcs_env_t *env) { return env->cart; }

/* ---- The action stream of the records --------------------------------------------------------------------------- */

void vcs_stream_start(vcs_stream_t *stream, uint64_t seed) {
  stream->state = stream->seed = seed;
  stream->hold = 0;
  stream->action = VCS_NOOP;
}

int vcs_stream_next(vcs_stream_t *stream) {
  if (stream->seed == 0) return VCS_NOOP;
  if (stream->hold > 0) {
    stream->hold--;
    return stream->action;
  }
  uint64_t z = stream->state += 0x9E3779B97F4A7C15ULL;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  stream->action = (int32_t)(z % VCS_ACTIONS);
  stream->hold = (int32_t)((z >> 32) % 12);
  return stream->action;
}
