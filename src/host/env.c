/* env.c: an environment: episodes, actions, rewards, lives, endings.
 *
 * The order of events is the reference's, because RAM survives a reset and so the frames before an episode influence
 * it. An episode of profile `xitari` begins with a reset, 60 NOOP frames, 4 frames with the RESET switch held and the
 * game's starting actions; one of profiles `ale` and `fixed` with a reset, 60 NOOP frames, 4 frames of RESET, the
 * selection of the game's mode, 4 frames of RESET and the starting actions. Optional FIRE and no-ops follow.
 *
 *   step    frame_skip times: draw two random numbers (does each player repeat the previous action?), run a frame
 *   frame   set the controls, run the machine, run the rules
 *
 * Both generators are MT19937 with the same seed, as in ale-py and its vector environment. The first gives two numbers
 * per frame of a step, for any probability, and one for each request of Adventure's mode script; so it influences
 * episodes of games that select their mode by acting. The second gives one number per reset with no-ops.
 *
 * LEFT and RIGHT turn a paddle by one step per frame, or a fraction of it. The first player has the first paddle of the
 * left port, the second player the second one; players 3 and 4 have those of the right port.
 *
 * One player or several (game_rules.h): the generator gives a number for each of them, and never fewer than two; the
 * rules run once for each. Loading follows multi_agent_ale_py then, which has its own modes.
 */
#include "core/splitmix.h"
#include "host/env.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/env_screen.h"
#include "host/files.h"
#include "host/hash.h"
#include "host/os.h"
#include "host/recording.h"
#include "host/sound.h"
#include "options.h"

enum { PADDLE_LOW = 27450, PADDLE_HIGH = 790196, PADDLE_FAR = 1 << 30 };
enum { BOOT_FRAMES = 60, RESET_FRAMES = 4 };

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

/* ---- Controls -------------------------------------------------------------------------------------------------- */

/* What a player keeps: a paddle, the last action, and its strength. */
static int32_t *paddle_of(vcs_env_t *env, int player) {
  return player < 2 ? &env->paddle[player] : &env->far_paddle[player - 2];
}
static int32_t *action_of(vcs_env_t *env, int player) {
  return player < 2 ? &env->action[player] : &env->far_action[player - 2];
}
static float *strength_of(vcs_env_t *env, int player) {
  return player < 2 ? &env->strength[player] : &env->far_strength[player - 2];
}

/* Players that hold something: a machine for one player has two controllers. */
static int hand_count(const vcs_env_t *env) { return env->players > 2 ? env->players : 2; }

static void turn_paddle(vcs_env_t *env, int player, uint8_t held, float strength) {
  const double turn = VCS_PADDLE_STEP * fabs((double)strength);
  const int32_t delta = turn < PADDLE_FAR ? (int32_t)turn : PADDLE_FAR;
  int32_t position = *paddle_of(env, player);
  if (held & VCS_HELD_RIGHT) position -= delta;
  if (held & VCS_HELD_LEFT) position += delta;
  if (position < PADDLE_LOW) position = PADDLE_LOW;
  if (position > env->paddle_high) position = env->paddle_high;
  *paddle_of(env, player) = position;
}

/* A player's action in a frame, or a switch of the console. */
uint8_t vcs_action_held(int action) { return action >= 0 && action < VCS_ACTIONS ? actions[action].held : 0; }

/* The players' actions in a frame, and how far they turn a paddle. */
typedef struct {
  int action[VCS_PLAYERS_MAX];
  float strength[VCS_PLAYERS_MAX];
} joint_action_t;

static joint_action_t joint_action(int player_a, int player_b) {
  return (joint_action_t){{player_a, player_b, 0, 0}, {1, 1, 1, 1}};
}

void vcs_env_hold_switches(vcs_env_t *env) {
  if (env->profile == VCS_PROFILE_XITARI) return;
  env->m->swchb = (uint8_t)((env->m->swchb & 0x3F) | (env->difficulty & 1) << 6 | (env->difficulty & 2) << 6);
}

static void hold_actions(vcs_env_t *env, joint_action_t all) {
  vcs_controls_t controls = {
      {0, 0}, {env->paddle[0], env->paddle[1], env->far_paddle[0], env->far_paddle[1]}, {0, 0}, 0};
  for (int player = 0; player < hand_count(env); player++) {
    const uint8_t held = vcs_action_held(all.action[player]);
    if (env->uses_paddles) {
      turn_paddle(env, player, held, all.strength[player]);
      controls.paddle[player] = *paddle_of(env, player);
      if (held & VCS_HELD_FIRE) controls.held[player / 2] |= player % 2 ? VCS_HELD_FIRE_2 : VCS_HELD_FIRE;
    } else if (player < 2) {
      controls.held[player] = held;
    }
  }
  if (all.action[0] == VCS_PRESS_RESET) controls.console = VCS_CONSOLE_RESET;
  if (all.action[0] == VCS_PRESS_SELECT) controls.console = VCS_CONSOLE_SELECT;
  vcs_env_hold_switches(env); /* from the first action on */
  vcs_control(env->cart, env->m, &controls);
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

/* Only the last frame of a step is recorded: objects are those of the last frame. */
static bool records(const vcs_env_t *env) {
  return env->objects && env->draw_history.look == VCS_LOOK_NOW && !env->pooled;
}

static void frame(vcs_env_t *env) {
  uint8_t *frames = vcs_draw_history_begin(&env->draw_history, env->cart, env->m);
  env->recorded = false;
  if (env->watch) {
    watched_frame(env, frames);
  } else if (frames && records(env)) {
    env->recorded = vcs_recording_frame(env->objects, env->cart, env->m, frames);
  } else {
    vcs_frame(env->cart, env->m, frames);
  }
  vcs_draw_history_end(&env->draw_history, env->cart, env->m);
}

static void judge(vcs_env_t *env) {
  for (int player = 0; env->game && player < vcs_env_player_count(env); player++) {
    vcs_game_code_step(env->code, vcs_env_play(env, player), env->m->ram, env->m->cart_ram);
  }
}

/* Runs frames `first` to `end` - 1 of some with the same controls, and the rules after each. */
static void emulate_part(vcs_env_t *env, joint_action_t controls, int first, int end) {
  for (int i = first; i < end; i++) {
    if (i == 0 || env->uses_paddles) hold_actions(env, controls);
    frame(env);
    judge(env);
  }
}

static void emulate(vcs_env_t *env, joint_action_t controls, int count) {
  emulate_part(env, controls, 0, count);
  vcs_read_all_ram(env->m);
}

static void count_frame(vcs_env_t *env) {
  env->frame_number++;
  env->episode_frame_number++;
}

/* ---- Steps -------------------------------------------------------------------------------------------------- */

/* Returns a legal action, or NOOP for an illegal one. */
static int allowed(const vcs_env_t *env, int action) {
  return action >= 0 && action < VCS_ACTIONS && (env->legal >> action & 1) ? action : VCS_NOOP;
}

/* Frames before the last of a step are drawn only if their rows are visible. */
static vcs_look_t glance(const vcs_env_t *env) { return env->look == VCS_LOOK_NOW ? VCS_LOOK_LATER : env->look; }

static bool is_stopped(const vcs_env_t *env) { return vcs_env_over(env) || vcs_env_truncated(env); }

static bool goes_on(vcs_env_t *env) {
  return vcs_mt19937_draw(&env->sticky_random) / 4294967296.0 < (double)env->options.repeat_action_probability;
}

/* The lives of all players, and whether one of them has lost a life since, but not the last one. */
typedef struct {
  int32_t of[VCS_PLAYERS_MAX];
} lives_t;

static lives_t count_lives(vcs_env_t *env) {
  lives_t lives = {{0}};
  for (int i = 0; i < vcs_env_player_count(env); i++) lives.of[i] = vcs_env_play(env, i)->lives;
  return lives;
}

static bool has_lost_life(vcs_env_t *env, lives_t before) {
  for (int i = 0; i < vcs_env_player_count(env); i++) {
    const int32_t lives = vcs_env_play(env, i)->lives;
    if (lives < before.of[i] && lives > 0) return true;
  }
  return false;
}

static int32_t *reward_of(vcs_env_t *env, int player) {
  return player ? &env->other_rewards[player - 1] : &env->reward;
}

static void clear_rewards(vcs_env_t *env) {
  for (int i = 0; i < VCS_PLAYERS_MAX; i++) *reward_of(env, i) = 0;
}

/* Runs the frames of a step; in each of them a sticky action may replace the given one. */
static void act(vcs_env_t *env, joint_action_t wish, int frames, bool stops_at_life_loss) {
  const lives_t lives = count_lives(env);
  const int32_t min = env->options.reward_min, max = env->options.reward_max;
  int64_t sum[VCS_PLAYERS_MAX] = {0};
  env->life_lost = 0;
  for (int i = 0; i < frames; i++) {
    joint_action_t hold = joint_action(VCS_NOOP, VCS_NOOP);
    for (int player = 0; player < hand_count(env); player++) {
      if (!goes_on(env)) {
        *action_of(env, player) = allowed(env, wish.action[player]);
        *strength_of(env, player) = wish.strength[player];
      }
      hold.action[player] = *action_of(env, player);
      hold.strength[player] = *strength_of(env, player);
    }
    if (is_stopped(env)) continue;
    env->draw_history.look = i + 1 < frames ? glance(env) : env->look;
    emulate(env, hold, 1);
    count_frame(env);
    for (int player = 0; player < vcs_env_player_count(env); player++) sum[player] += vcs_env_play(env, player)->reward;
    env->life_lost = has_lost_life(env, lives);
    if (env->life_lost && stops_at_life_loss) break;
  }
  vcs_env_listen(env);
  for (int player = 0; player < vcs_env_player_count(env); player++) {
    *reward_of(env, player) = (int32_t)(sum[player] < min ? min : sum[player] > max ? max : sum[player]);
  }
}

static void act_and_show(vcs_env_t *env, joint_action_t wish) {
  act(env, wish, env->options.frame_skip, env->options.life_loss == VCS_LIFE_LOSS_ENDS);
  if (env->look == VCS_LOOK_NOW) vcs_draw_history_show(&env->draw_history, env->cart);
}

int32_t vcs_env_act_strength(vcs_env_t *env, int player_a, int player_b, float strength_a, float strength_b) {
  joint_action_t wish = joint_action(player_a, player_b);
  wish.strength[0] = strength_a;
  wish.strength[1] = strength_b;
  act_and_show(env, wish);
  return env->reward;
}

int32_t vcs_env_act(vcs_env_t *env, int player_a, int player_b) {
  return vcs_env_act_strength(env, player_a, player_b, 1, 1);
}

void vcs_env_act_players(vcs_env_t *env, const int32_t *actions, const float *strengths, int32_t *rewards) {
  joint_action_t wish = joint_action(VCS_NOOP, VCS_NOOP);
  for (int i = 0; i < vcs_env_player_count(env); i++) {
    wish.action[i] = actions[i];
    if (strengths) wish.strength[i] = strengths[i];
  }
  act_and_show(env, wish);
  for (int i = 0; rewards && i < vcs_env_player_count(env); i++) rewards[i] = *reward_of(env, i);
}

int32_t vcs_env_act_on(vcs_env_t *env, int player_a, int player_b) {
  const lives_t lives = count_lives(env);
  env->draw_history.look = env->look;
  emulate(env, joint_action(allowed(env, player_a), allowed(env, player_b)), 1);
  count_frame(env);
  env->life_lost = has_lost_life(env, lives);
  vcs_env_listen(env);
  for (int i = 0; i < vcs_env_player_count(env); i++) *reward_of(env, i) = vcs_env_play(env, i)->reward;
  return env->reward;
}

int vcs_env_over(const vcs_env_t *env) {
  if (!env->game) return 0;
  bool timed_out = env->profile == VCS_PROFILE_XITARI && env->game->max_frames > 0 &&
                   env->episode_frame_number >= (uint64_t)env->game->max_frames;
  return env->play.over || timed_out;
}

int vcs_env_truncated(const vcs_env_t *env) {
  const int32_t limit = env->options.max_episode_frames;
  if (limit > 0 && env->episode_frame_number >= (uint64_t)limit) return 1;
  if (env->options.life_loss != VCS_LIFE_LOSS_TRUNCATES) return 0;
  if (env->play.lives < env->max_lives) return 1;
  for (int i = 1; i < vcs_env_player_count(env); i++) {
    if (env->others[i - 1].lives < env->max_lives) return 1;
  }
  return 0;
}

int vcs_env_done(const vcs_env_t *env) {
  return is_stopped(env) || (env->options.life_loss == VCS_LIFE_LOSS_ENDS && env->life_lost);
}

/* ---- Episodes ----------------------------------------------------------------------------------------------- */

static void soft_reset(vcs_env_t *env) {
  emulate(env, joint_action(VCS_PRESS_RESET, VCS_NOOP), RESET_FRAMES);
  for (int i = 0; i < VCS_PLAYERS_MAX; i++) *action_of(env, i) = VCS_NOOP;
}

/* Holding SELECT is not an action: the rules run only after the frame that follows. */
static void press_select(vcs_env_t *env, int count) {
  hold_actions(env, joint_action(VCS_PRESS_SELECT, VCS_NOOP));
  for (int i = 0; i < count; i++) frame(env);
  vcs_read_all_ram(env->m);
  emulate(env, joint_action(VCS_NOOP, VCS_NOOP), 1);
  count_frame(env);
}

static void select_mode(vcs_env_t *env) {
  vcs_rule_run_t run;
  vcs_rule_begin(&run, env->mode);
  for (int i = 0; i < VCS_MODE_PATIENCE; i++) {
    switch (vcs_game_mode_next(env->code, &run, &env->play, env->m->ram, env->m->cart_ram)) {
      case VCS_RULE_SELECT: {
        const uint32_t spread = run.arg[1] > 0 ? vcs_mt19937_draw(&env->sticky_random) % (uint32_t)run.arg[1] : 0;
        press_select(env, run.arg[0] + (int)spread);
        break;
      }
      case VCS_RULE_ACT:
        act(env, joint_action(run.arg[0], VCS_NOOP), env->options.frame_skip, false);
        break;
      case VCS_RULE_RESET:
        soft_reset(env);
        break;
      default:
        return;
    }
  }
}

static void reset_rules(vcs_env_t *env) {
  if (vcs_env_player_count(env) == 1) vcs_game_code_reset(env->code, &env->play);
  for (int i = 0; i < vcs_env_player_count(env) && env->players > 1; i++) {
    vcs_game_code_reset_player(env->code, vcs_env_play(env, i), i, env->mode);
  }
}

/* Begins an episode like ale-py. */
void vcs_env_begin(vcs_env_t *env) {
  vcs_env_begin_early(env);
  vcs_env_begin_rest(env);
}

void vcs_env_begin_early(vcs_env_t *env) {
  env->episode_frame_number = 0;
  const int paddles = env->players > 1 ? VCS_PLAYERS_MAX : 2; /* with one player the other paddles are at 0 */
  for (int i = 0; i < paddles; i++) *paddle_of(env, i) = (PADDLE_LOW + env->paddle_high) / 2;
  env->draw_history.look = glance(env);
  vcs_reset(env->cart, env->m, NULL);
  vcs_draw_history_clear(&env->draw_history, env->cart);
  emulate_part(env, joint_action(VCS_NOOP, VCS_NOOP), 0, VCS_ENV_EARLY_FRAMES);
}

void vcs_env_begin_rest(vcs_env_t *env) {
  emulate_part(env, joint_action(VCS_NOOP, VCS_NOOP), VCS_ENV_EARLY_FRAMES, BOOT_FRAMES);
  vcs_read_all_ram(env->m);
  soft_reset(env);
  if (env->game) {
    reset_rules(env);
    if (env->profile != VCS_PROFILE_XITARI) {
      select_mode(env);
      soft_reset(env);
    }
    vcs_press_t presses[VCS_GAME_PRESSES];
    int count = vcs_game_presses(env->game, env->profile, vcs_env_player_count(env), presses);
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < presses[i].frames; k++) emulate(env, joint_action(presses[i].action, presses[i].second), 1);
    }
  }
  clear_rewards(env);
  env->life_lost = 0;
}

/* A value from 0 to n - 1, each as likely: the high word of a 64-bit product, drawn again in the few cases that would
 * favour some values (D. Lemire, ACM TOMACS 29(1), 2019). C++'s uniform distribution does so too, hence ale-py's. */
static int draw_below(vcs_mt19937_t *random, uint32_t n) {
  uint64_t product = (uint64_t)vcs_mt19937_draw(random) * n;
  if ((uint32_t)product < n) {
    const uint32_t unfair = (0u - n) % n;
    while ((uint32_t)product < unfair) product = (uint64_t)vcs_mt19937_draw(random) * n;
  }
  return (int)(product >> 32);
}

static bool fires(const vcs_env_t *env) {
  const uint32_t offered = env->options.fire_reset == VCS_FIRE_RESET_LEGAL ? env->legal : env->minimal;
  return env->options.fire_reset != VCS_FIRE_RESET_NEVER && (offered >> VCS_FIRE & 1);
}

/* FIRE counts as one of the no-ops. */
int vcs_env_draw_opening(vcs_env_t *env) {
  const int noops = env->options.noop_max > 0 ? draw_below(&env->noop_random, (uint32_t)env->options.noop_max) : 0;
  return noops > fires(env) ? noops : fires(env);
}

void vcs_env_play_opening(vcs_env_t *env, int begin, int end) {
  for (int i = begin; i < end; i++) {
    const bool fire = i == 0 && fires(env);
    act(env, joint_action(fire ? VCS_FIRE : VCS_NOOP, VCS_NOOP), 1, false);
    if (!fire && is_stopped(env)) vcs_env_begin(env);
  }
  clear_rewards(env);
  env->life_lost = 0;
}

void vcs_env_skip_opening(vcs_env_t *env, int frames) {
  for (int i = 0; i < frames * hand_count(env); i++) vcs_mt19937_draw(&env->sticky_random);
}

void vcs_env_open(vcs_env_t *env) { vcs_env_play_opening(env, 0, vcs_env_draw_opening(env)); }

/* The first frames of an episode seldom cover the picture, so they need both buffers. They are borrowed, so that an
 * environment does not use memory for its second one. */
typedef struct {
  uint8_t *own, *borrowed;
  vcs_look_t look;
} loan_t;

static loan_t borrow_frames(vcs_env_t *env) {
  loan_t loan = {env->draw_history.frames, NULL, env->look};
  if (env->look != VCS_LOOK_NEVER) loan.borrowed = malloc(2 * VCS_FRAME_BYTES);
  if (loan.borrowed) env->draw_history.frames = loan.borrowed;
  env->look = glance(env);
  return loan;
}

static void return_frames(vcs_env_t *env, loan_t loan) {
  if (loan.borrowed) vcs_draw_history_move(&env->draw_history, env->cart, loan.own);
  free(loan.borrowed);
  env->look = loan.look;
  vcs_draw_history_show(&env->draw_history, env->cart);
}

void vcs_env_reset(vcs_env_t *env) {
  const loan_t loan = borrow_frames(env);
  vcs_env_begin(env);
  vcs_env_open(env);
  return_frames(env, loan);
}

/* ---- Options ------------------------------------------------------------------------------------------------ */

static int default_mode(const vcs_game_t *game, vcs_profile_t profile) {
  uint16_t modes[VCS_GAME_MODES];
  return game && profile != VCS_PROFILE_XITARI && vcs_game_modes(game, 1, modes) ? modes[0] : 0;
}

int vcs_cart_modes(const vcs_cart_t *cart, int players, int32_t modes[VCS_MODES_MAX]) {
  _Static_assert((int)VCS_MODES_MAX >= (int)VCS_GAME_MODES, "room for every game's modes");
  const vcs_cartridge_t *cartridge = vcs_cartridge(cart);
  const bool has_list = cartridge->game && cartridge->info.profile != VCS_PROFILE_XITARI;
  uint16_t all[VCS_GAME_MODES] = {0};
  const int count = has_list ? vcs_game_modes(cartridge->game, players, all) : players == 1;
  for (int i = 0; i < count; i++) modes[i] = all[i];
  return count;
}

void vcs_env_defaults(const vcs_cart_t *cart, vcs_env_options_t *options) {
  const vcs_cartridge_t *cartridge = vcs_cartridge(cart);
  const vcs_profile_t profile = cartridge->info.profile;
  memset(options, 0, sizeof *options);
  options->frame_skip = 1;
  options->repeat_action_probability = profile == VCS_PROFILE_XITARI ? 0 : 0.25f;
  options->reward_min = INT32_MIN;
  options->reward_max = INT32_MAX;
  options->mode = default_mode(cartridge->game, profile);
}

vcs_status_t vcs_env_defaults_players(const vcs_cart_t *cart, int players, vcs_env_options_t *options,
                                      vcs_error_t *error) {
  if (error) error->message[0] = 0;
  int32_t modes[VCS_MODES_MAX];
  const char *game = vcs_cart_info(cart)->game;
  if (vcs_cart_modes(cart, players, modes) == 0) {
    return vcs_error_fill(error, VCS_NOT_FOUND, "%s has no mode for %d players in profile %s",
                          game ? game : "an unknown cartridge", players,
                          vcs_profile_name(vcs_cart_info(cart)->profile));
  }
  vcs_env_defaults(cart, options);
  options->players = players > 1 ? (uint64_t)players : 0;
  options->mode = modes[0];
  return VCS_OK;
}

/* "0, 1, 2" into text, as far as it fits. */
static void list_numbers(const int32_t *numbers, int count, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < count && used + 12 < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%d", i ? ", " : "", (int)numbers[i]);
    if (i + 1 < count && used + 24 >= size) {
      snprintf(text + used, size - used, " ... %d", (int)numbers[count - 1]);
      return;
    }
  }
}

static bool contains(const int32_t *numbers, int count, int32_t number) {
  for (int i = 0; i < count; i++) {
    if (numbers[i] == number) return true;
  }
  return false;
}

/* Difficulty 0 is where the switches stand at first, so it is allowed even where ale-py does not list it. */
static vcs_status_t check_options(const vcs_env_t *env, const vcs_env_options_t *o, vcs_error_t *error) {
  vcs_status_t known = vcs_reserved_words_check(o->reserved, 7, "vcs_env_options_t", error);
  if (known) return known;
  if (o->players > VCS_PLAYERS_MAX) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "players is %llu, but goes from 0 to %d",
                          (unsigned long long)o->players, VCS_PLAYERS_MAX);
  }
  const vcs_range_t ranges[] = {
      {"frame_skip", o->frame_skip, 1, 1000},
      {"max_episode_frames", o->max_episode_frames, 0, INT32_MAX},
      {"noop_max", o->noop_max, 0, 1000},
      {"reward_min", o->reward_min, INT32_MIN, o->reward_max},
      {"life_loss", o->life_loss, VCS_LIFE_LOSS_IGNORED, VCS_LIFE_LOSS_ENDS},
      {"fire_reset", o->fire_reset, VCS_FIRE_RESET_NEVER, VCS_FIRE_RESET_LEGAL},
      {"colour_averaging", o->colour_averaging, 0, 1},
  };
  vcs_status_t status = vcs_ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
  if (status == VCS_OK) status = vcs_repeat_check(o->repeat_action_probability, error);
  if (status) return status;
  const char *name = env->game ? env->game->name : "an unknown cartridge", *profile = vcs_profile_name(env->profile);
  int32_t numbers[VCS_MODES_MAX];
  char list[120];
  const int players = o->players > 1 ? (int)o->players : 1;
  int count = vcs_cart_modes(env->cart, players, numbers);
  if (count == 0) {
    return vcs_error_fill(error, VCS_NOT_FOUND, "%s has no mode for %d players in profile %s", name, players, profile);
  }
  if (!contains(numbers, count, o->mode)) {
    list_numbers(numbers, count, list, sizeof list);
    return vcs_error_fill(error, VCS_NOT_FOUND, "%s has no mode %d%s in profile %s; it has %s", name, (int)o->mode,
                          players == 1   ? ""
                          : players == 2 ? " for two players"
                                         : " for four players",
                          profile, list);
  }
  count = vcs_env_difficulties(env, numbers);
  if (o->difficulty && !contains(numbers, count, o->difficulty)) {
    list_numbers(numbers, count, list, sizeof list);
    return vcs_error_fill(error, VCS_NOT_FOUND, "%s has no difficulty %d in profile %s; it has %s", name,
                          (int)o->difficulty, profile, list);
  }
  return VCS_OK;
}

/* Averaging needs the previous frame, and a watch function sees the real machine: both need both buffers. */
static void pin_draw_history(vcs_env_t *env) {
  env->draw_history.pinned = env->watch || env->options.colour_averaging;
  if (env->draw_history.pinned && !env->draw_history.exact) vcs_draw_history_redraw(&env->draw_history, env->cart);
}

void vcs_env_use_rules(vcs_env_t *env) {
  if (!env->game) return;
  const bool several = env->players > 1;
  const vcs_players_t *players = &env->game->players;
  env->code = several ? vcs_game_players_code(env->game, env->profile) : vcs_game_code(env->game, env->profile);
  env->minimal = several && players->minimal ? players->minimal : vcs_game_minimal(env->game, env->profile);
  vcs_play_t fresh = {0};
  if (several) {
    vcs_game_code_reset_player(env->code, &fresh, 0, env->mode);
  } else {
    vcs_game_code_reset(env->code, &fresh);
  }
  env->max_lives = fresh.lives;
}

/* The options that are part of a state. */
static void take_options(vcs_env_t *env) {
  env->mode = env->options.mode;
  env->difficulty = env->options.difficulty;
  env->players = (int32_t)env->options.players;
  vcs_env_use_rules(env);
}

vcs_status_t vcs_env_configure(vcs_env_t *env, const vcs_env_options_t *options, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!options) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no options were given");
  vcs_status_t status = check_options(env, options, error);
  if (status) return status;
  env->options = *options;
  take_options(env);
  if (options->colour_averaging) vcs_blend_prepare((vcs_format_t)env->cart->format);
  pin_draw_history(env);
  return VCS_OK;
}

const vcs_env_options_t *vcs_env_options(const vcs_env_t *env) { return &env->options; }

/* ---- Actions, modes, difficulties -------------------------------------------------------------------------------- */

static int list_actions(uint32_t mask, int32_t list[VCS_ACTIONS]) {
  int count = 0;
  for (int i = 0; i < VCS_ACTIONS; i++) {
    if (mask >> i & 1) list[count++] = i;
  }
  return count;
}

int vcs_env_minimal_actions(const vcs_env_t *env, int32_t list[VCS_ACTIONS]) {
  return list_actions(env->minimal, list);
}

int vcs_env_legal_actions(const vcs_env_t *env, int32_t list[VCS_ACTIONS]) { return list_actions(env->legal, list); }

int vcs_env_modes(const vcs_env_t *env, int32_t modes[VCS_MODES_MAX]) {
  return vcs_cart_modes(env->cart, vcs_env_player_count(env), modes);
}

int vcs_env_difficulties(const vcs_env_t *env, int32_t difficulties[VCS_DIFFICULTIES_MAX]) {
  int count = 0;
  for (int i = 0; i < VCS_DIFFICULTIES_MAX; i++) {
    bool offered = env->profile == VCS_PROFILE_XITARI ? i == 0 : !env->game || vcs_game_has_difficulty(env->game, i);
    if (offered) difficulties[count++] = i;
  }
  return count;
}

int vcs_env_two_players(const vcs_env_t *env) { return env->game && vcs_game_is_two_player(env->game); }

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

/* Computes the sound of the mode selection, so that sound that is turned on next equals ale-py's. */
void vcs_env_boot(vcs_env_t *env, uint32_t seed) {
  const bool listening = env->listening;
  memset(&env->live, 0, sizeof env->live);
  vcs_mt19937_start(&env->sticky_random, seed, 0);
  env->noop_random = env->sticky_random;
  env->players = (int32_t)env->options.players;
  env->mode = env->players > 1 ? env->game->players.load : default_mode(env->game, env->profile);
  vcs_env_use_rules(env);
  env->listening = true;
  vcs_boot(env->cart, env->m, NULL);
  vcs_env_begin(env);
  env->listening = listening;
  env->options.seed = seed;
  take_options(env);
}

/* Loading gives the same state for all options of one player, unless it draws random numbers. The cartridge keeps the
 * state for later environments, unless the drawing was unusual. */
static void keep_boot(const vcs_env_t *env) {
  if (env->players > 1) return;
  if (env->watch || env->draw_history.pinned || env->look == VCS_LOOK_NEVER) return;
  if (memcmp(&env->sticky_random, &env->noop_random, sizeof env->sticky_random) != 0) return;
  void *state = malloc(vcs_env_state_size(env));
  if (!state) return;
  vcs_env_state_copy(env, state);
  vcs_cart_keep_boot(env->cart, state);
}

static void take_boot(vcs_env_t *env, const void *boot, uint32_t seed) {
  const vcs_env_options_t options = env->options;
  vcs_env_state_share(env, boot);
  vcs_mt19937_start(&env->sticky_random, seed, 0);
  env->noop_random = env->sticky_random;
  env->options = options;
  env->options.seed = seed;
  take_options(env);
}

void vcs_env_reload(vcs_env_t *env, uint32_t seed) {
  const void *boot = env->watch || env->options.players > 1 ? NULL : vcs_cart_boot(env->cart);
  if (boot) {
    take_boot(env, boot, seed);
    return;
  }
  const loan_t loan = borrow_frames(env);
  vcs_env_boot(env, seed);
  return_frames(env, loan);
  keep_boot(env);
}

/* Returns a digest of everything that a state must agree with. */
static uint64_t state_key(const vcs_cartridge_t *cartridge) {
  const vcs_cart_info_t *info = &cartridge->info;
  const int32_t console[] = {(int32_t)info->profile, (int32_t)info->scheme, (int32_t)info->format, info->top_line,
                             info->height};
  const char *game = cartridge->game ? cartridge->game->name : "";
  uint64_t key = vcs_hash64(info->sha256, strlen(info->sha256), sizeof(vcs_env_live_t));
  key = vcs_hash64(console, sizeof console, key);
  return vcs_hash64(game, strlen(game), key);
}

vcs_status_t vcs_env_setup(vcs_env_t *env, const vcs_cart_t *cart, const vcs_env_options_t *options,
                           vcs_error_t *error) {
  const vcs_cartridge_t *cartridge = vcs_cartridge(cart);
  env->cart = cart;
  env->profile = cartridge->info.profile;
  env->game = cartridge->game;
  env->key = state_key(cartridge);
  env->draw_history.exact = true;
  env->draw_history.picture = env->draw_history.frames;
  env->uses_paddles = cartridge->info.left == VCS_CONTROLLER_PADDLES || cartridge->info.right == VCS_CONTROLLER_PADDLES;
  env->paddle_high = PADDLE_HIGH;
  env->minimal = env->legal = VCS_ALL_ACTIONS;
  if (env->game) {
    env->legal = VCS_ALL_ACTIONS & ~env->game->illegal;
    if (env->game->paddle_max && env->profile != VCS_PROFILE_XITARI) env->paddle_high = env->game->paddle_max;
  }
  vcs_env_options_t defaults;
  vcs_env_defaults(cart, &defaults);
  defaults.repeat_action_probability = 0;
  return vcs_env_configure(env, options ? options : &defaults, error);
}

vcs_status_t vcs_env_create_with(const vcs_cart_t *cart, const vcs_env_options_t *options, vcs_env_t **out,
                                 vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!cart || !out) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no cartridge, or no place for the environment");
  *out = NULL;
  enum { NOW, SPARE, BEFORE, MACHINES = BEFORE + VCS_DRAW_HISTORY_BEFORE };
  const size_t machine = (vcs_state_size(cart) + 7) & ~(size_t)7;
  vcs_env_t *env = calloc(1, sizeof *env);
  uint8_t *machines = calloc(MACHINES, machine);
  uint8_t *frames = vcs_os_allocate_lines(2 * VCS_FRAME_BYTES); /* uses no memory until it is written */
  if (!env || !machines || !frames) {
    free(env);
    free(machines);
    vcs_os_free_lines(frames);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  env->m = (vcs_t *)(void *)machines;
  env->draw_history.spare = (vcs_t *)(void *)(machines + SPARE * machine);
  env->draw_history.before = machines + BEFORE * machine;
  env->draw_history.frames = frames;
  env->draw_history.single = true;
  env->look = env->draw_history.look = VCS_LOOK_NOW;
  vcs_draw_history_blacken(cart, frames, cart->height);
  vcs_status_t status = vcs_env_setup(env, cart, options, error);
  if (status) {
    vcs_env_free(env);
    return status;
  }
  vcs_env_reload(env, env->options.seed);
  *out = env;
  return VCS_OK;
}

vcs_status_t vcs_env_create(const vcs_cart_t *cart, vcs_env_t **out, vcs_error_t *error) {
  return vcs_env_create_with(cart, NULL, out, error);
}

void vcs_env_free(vcs_env_t *env) {
  if (!env) return;
  free(env->m);
  vcs_os_free_lines(env->draw_history.frames);
  free(env->objects);
  free(env);
}

void vcs_env_set_drawing(vcs_env_t *env, int drawing) { env->look = drawing ? VCS_LOOK_NOW : VCS_LOOK_NEVER; }

void vcs_env_set_objects(vcs_env_t *env, int recording) {
  env->recorded = false;
  if (!recording) {
    free(env->objects);
    env->objects = NULL;
  } else if (!env->objects) {
    env->objects = vcs_recording_create(); /* without memory, vcs_env_objects runs frames again */
  }
}

int32_t vcs_env_objects(vcs_env_t *env, vcs_object_t *objects, int32_t capacity) {
  int32_t count;
  if (env->objects && env->recorded) {
    count = vcs_recording_list(env->objects, objects, capacity);
  } else {
    vcs_t m;
    memcpy(&m, vcs_draw_history_before(&env->draw_history, env->cart, 0), vcs_state_size(env->cart));
    count = vcs_frame_objects(env->cart, &m, NULL, objects, capacity);
  }
  return count < VCS_OBJECTS_MAX ? count : VCS_OBJECTS_MAX;
}

void vcs_env_watch(vcs_env_t *env, vcs_watch_t watch, void *context) {
  env->watch = watch;
  env->watch_context = context;
  pin_draw_history(env);
}

/* The write goes over the bus. */
vcs_status_t vcs_env_set_ram(vcs_env_t *env, int index, uint8_t value, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (index < 0 || index > 127)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "RAM has no byte %d, but 0 to 127", index);
  env->m->ram[index] = env->m->bus = value;
  return VCS_OK;
}

int32_t vcs_env_reward(const vcs_env_t *env) { return env->reward; }
int32_t vcs_env_lives(const vcs_env_t *env) { return env->play.lives; }
int vcs_env_players(const vcs_env_t *env) { return vcs_env_player_count(env); }
int32_t vcs_env_player_reward(const vcs_env_t *env, int player) {
  if (player < 0 || player >= vcs_env_player_count(env)) return 0;
  return player ? env->other_rewards[player - 1] : env->reward;
}
int32_t vcs_env_player_lives(const vcs_env_t *env, int player) {
  if (player < 0 || player >= vcs_env_player_count(env)) return 0;
  return player ? env->others[player - 1].lives : env->play.lives;
}
int vcs_env_life_lost(const vcs_env_t *env) { return env->life_lost; }
uint64_t vcs_env_frame_number(const vcs_env_t *env) { return env->frame_number; }
uint64_t vcs_env_episode_frame_number(const vcs_env_t *env) { return env->episode_frame_number; }
const uint8_t *vcs_env_ram(const vcs_env_t *env) { return env->m->ram; }
vcs_t *vcs_env_machine(vcs_env_t *env) { return env->m; }
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
  const uint64_t z = vcs_splitmix64(&stream->state);
  stream->action = (int32_t)(z % VCS_ACTIONS);
  stream->hold = (int32_t)((z >> 32) % 12);
  return stream->action;
}
