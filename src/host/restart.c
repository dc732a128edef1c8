/* restart.c: recorded beginnings of episodes; restart.h explains them. */
#include "host/restart.h"

#include <string.h>

enum { MACHINES = 1 + VCS_DRAW_HISTORY_BEFORE };

static bool same_bytes(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

size_t vcs_restart_bytes(const vcs_cart_t *cart) { return 2 * (size_t)MACHINES * vcs_state_size(cart); }

/* The machine now (0), or before one of the last three frames (1: the last). */
static uint8_t *machine_of(const vcs_env_t *env, int which) {
  const vcs_draw_history_t *history = &env->draw_history;
  const int at = (history->before_next + VCS_DRAW_HISTORY_BEFORE - which) % VCS_DRAW_HISTORY_BEFORE;
  return which == 0 ? (uint8_t *)env->m : history->before + (size_t)at * vcs_state_size(env->cart);
}

static uint8_t *machine_at(const vcs_restart_point_t *point, const vcs_cart_t *cart, int which) {
  return point->machines + (size_t)which * vcs_state_size(cart);
}

static void note(vcs_restart_point_t *point, const vcs_env_t *env) {
  const vcs_draw_history_t *history = &env->draw_history;
  for (int i = 0; i < MACHINES; i++) {
    memcpy(machine_at(point, env->cart, i), machine_of(env, i), vcs_state_size(env->cart));
  }
  point->live = env->live;
  point->covered = history->covered;
  point->before_next = history->before_next;
  point->drawn = history->drawn;
  point->exact = history->exact;
}

/* Counters that run on since power-on, by which two equal beginnings differ. */
typedef struct {
  uint32_t frames, instructions, rng_draws;
  uint8_t front;
} counters_t;

static counters_t counters(const uint8_t *machine) {
  const vcs_t *m = (const vcs_t *)(const void *)machine;
  return (counters_t){m->frames, m->instructions, m->rng_draws, m->front};
}

/* Copies a machine and moves its counters as far as `to` is from `from`. */
static void copy_shifted(vcs_t *to_machine, const uint8_t *machine, size_t size, counters_t from, counters_t to) {
  memcpy(to_machine, machine, size);
  to_machine->frames += to.frames - from.frames;
  to_machine->instructions += to.instructions - from.instructions;
  to_machine->rng_draws += to.rng_draws - from.rng_draws;
  to_machine->front ^= to.front ^ from.front;
}

/* What a beginning neither looks at nor changes, except for counting frames: an environment keeps it. */
static void keep(vcs_env_live_t *live, const vcs_env_live_t *kept) {
  live->frame_number = kept->frame_number;
  memcpy(live->strength, kept->strength, sizeof live->strength);
  memcpy(live->far_strength, kept->far_strength, sizeof live->far_strength);
  live->sticky_random = kept->sticky_random;
  live->noop_random = kept->noop_random;
  memcpy(live->sound, kept->sound, sizeof live->sound);
}

/* What the rest of a beginning sets without looking at it: the last actions, their rewards and lost lives. */
static void ignore(vcs_env_live_t *live, const vcs_env_live_t *ignored) {
  memcpy(live->action, ignored->action, sizeof live->action);
  memcpy(live->far_action, ignored->far_action, sizeof live->far_action);
  memcpy(live->other_rewards, ignored->other_rewards, sizeof live->other_rewards);
  live->reward = ignored->reward;
  live->life_lost = ignored->life_lost;
}

/* Whether the environment is where the recorded one was after the early frames. */
static bool is_same(const vcs_restart_point_t *early, const vcs_env_t *env) {
  const vcs_draw_history_t *history = &env->draw_history;
  const size_t size = vcs_state_size(env->cart);
  const counters_t here = counters((const uint8_t *)env->m), there = counters(early->machines);
  if (history->exact || history->covered != early->covered) return false;
  vcs_env_live_t live = early->live;
  keep(&live, &env->live);
  ignore(&live, &env->live);
  if (!same_bytes(&live, &env->live, sizeof live)) return false;
  for (int i = 0; i < MACHINES; i++) {
    copy_shifted(history->spare, machine_of(env, i), size, here, there);
    if (!same_bytes(history->spare, machine_at(early, env->cart, i), size)) return false;
  }
  return true;
}

void vcs_restart_record(vcs_restart_t *restart, vcs_env_t *env, void *memory) {
  vcs_restart_point_t *early = &restart->early, *end = &restart->end;
  early->machines = memory;
  end->machines = early->machines + (size_t)MACHINES * vcs_state_size(env->cart);
  vcs_env_begin_early(env);
  note(early, env);
  vcs_env_begin_rest(env);
  note(end, env);
  vcs_env_live_t live = end->live;
  keep(&live, &early->live);
  live.frame_number = end->live.frame_number;
  const bool acts = !same_bytes(&live, &end->live, sizeof live); /* its mode script does: it draws sticky actions */
  const bool resets_again = counters(early->machines).rng_draws != counters(end->machines).rng_draws;
  restart->usable = !early->exact && !end->exact && !end->drawn && !acts && !resets_again;
}

bool vcs_restart_begin(const vcs_restart_t *restart, vcs_env_t *env) {
  const vcs_restart_point_t *early = &restart->early, *end = &restart->end;
  vcs_draw_history_t *history = &env->draw_history;
  vcs_env_begin_early(env);
  if (!restart->usable || env->watch || env->listening || history->pinned || !is_same(early, env)) {
    vcs_env_begin_rest(env);
    return false;
  }
  const counters_t here = counters((const uint8_t *)env->m), there = counters(early->machines);
  const int32_t turned = end->before_next + VCS_DRAW_HISTORY_BEFORE - early->before_next;
  history->before_next = (history->before_next + turned) % VCS_DRAW_HISTORY_BEFORE;
  history->covered = end->covered;
  history->exact = end->exact;
  history->drawn = end->drawn;
  for (int i = 0; i < MACHINES; i++) {
    copy_shifted((vcs_t *)(void *)machine_of(env, i), machine_at(end, env->cart, i), vcs_state_size(env->cart), there,
                 here);
  }
  const vcs_env_live_t kept = env->live;
  env->live = end->live;
  keep(&env->live, &kept);
  env->frame_number += end->live.frame_number - early->live.frame_number;
  env->recorded = false;
  return true;
}
