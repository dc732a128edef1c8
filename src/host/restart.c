/* restart.c: recorded beginnings of episodes; restart.h explains them. */
#include "host/restart.h"

#include <string.h>

enum { MACHINES = VCS_RESTART_MACHINES, EARLY = VCS_RESTART_EARLY, END = VCS_RESTART_END };

/* Times that a program may be unable to read, a bit each. */
enum { TIMER_READ, DUMP, TIMES };

static bool same_bytes(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

static size_t point_bytes(const vcs_cart_t *cart) { return (size_t)MACHINES * vcs_state_size(cart); }

size_t vcs_restart_bytes(const vcs_cart_t *cart) { return VCS_RESTART_POINTS * point_bytes(cart); }

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

/* What two equal beginnings may differ by: counters that run on since power-on, and times. */
typedef struct {
  uint32_t frames, instructions, rng_draws, time[TIMES];
  uint8_t front;
} counters_t;

static counters_t counters(const uint8_t *machine) {
  const vcs_t *m = (const vcs_t *)(const void *)machine;
  return (counters_t){.frames = m->frames,
                      .instructions = m->instructions,
                      .rng_draws = m->rng_draws,
                      .time = {m->timer_read_cycle, (uint32_t)m->dump_cycle},
                      .front = m->front};
}

/* Returns the times, as bits, that the program of a machine cannot read before they are set. */
static unsigned unread_times(const vcs_cart_t *cart, const uint8_t *machine) {
  const bool was_read = ((const vcs_t *)(const void *)machine)->timer_was_read;
  const bool turns = cart->controller[0] == VCS_CONTROLLER_PADDLES || cart->controller[1] == VCS_CONTROLLER_PADDLES;
  return !was_read << TIMER_READ | !turns << DUMP;
}

/* Copies a machine and moves its counters, and those of its times that are in the set `times`, as far as `to` is from
 * `from`. */
static void copy_shifted(vcs_t *to_machine, const uint8_t *machine, size_t size, const counters_t *from,
                         const counters_t *to, unsigned times) {
  memcpy(to_machine, machine, size);
  to_machine->frames += to->frames - from->frames;
  to_machine->instructions += to->instructions - from->instructions;
  to_machine->rng_draws += to->rng_draws - from->rng_draws;
  to_machine->front ^= to->front ^ from->front;
  if (times >> TIMER_READ & 1) to_machine->timer_read_cycle += to->time[TIMER_READ] - from->time[TIMER_READ];
  if (times >> DUMP & 1) {
    to_machine->dump_cycle = (int32_t)((uint32_t)to_machine->dump_cycle + to->time[DUMP] - from->time[DUMP]);
  }
}

/* Puts an environment at a recorded point, with its counters and kept times moved as far as `to` is from `from`. */
static void put(vcs_env_t *env, const vcs_restart_point_t *point, int32_t before_next, const counters_t *from,
                const counters_t *to) {
  vcs_draw_history_t *history = &env->draw_history;
  history->before_next = before_next;
  history->covered = point->covered;
  history->exact = point->exact;
  history->drawn = point->drawn;
  for (int i = 0; i < MACHINES; i++) {
    copy_shifted((vcs_t *)(void *)machine_of(env, i), machine_at(point, env->cart, i), vcs_state_size(env->cart), from,
                 to, point->kept_times[i]);
  }
  env->live = point->live;
  env->recorded = false;
}

/* Puts the recorded environment at a point of the recording. */
static void put_back(vcs_env_t *env, const vcs_restart_point_t *point) {
  const counters_t same = counters(point->machines);
  put(env, point, point->before_next, &same, &same);
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

/* Whether the environment is where the recorded one was after the early frames. The machines before the last frames do
 * not matter: they, too, are copied. */
static bool is_same(const vcs_restart_point_t *early, const vcs_env_t *env) {
  const vcs_draw_history_t *history = &env->draw_history;
  const counters_t here = counters((const uint8_t *)env->m), there = counters(early->machines);
  if (history->exact || history->covered != early->covered) return false;
  vcs_env_live_t live = early->live;
  keep(&live, &env->live);
  ignore(&live, &env->live);
  if (!same_bytes(&live, &env->live, sizeof live)) return false;
  const size_t size = vcs_state_size(env->cart);
  copy_shifted(history->spare, (const uint8_t *)env->m, size, &here, &there, unread_times(env->cart, early->machines));
  return same_bytes(history->spare, early->machines, size);
}

/* Plays from the recorded point before this one to this one. */
static void play_to(vcs_env_t *env, int point) {
  if (point == END) {
    vcs_env_begin_rest(env);
  } else {
    vcs_env_play_opening(env, VCS_RESTART_STRIDE * (point - END - 1), VCS_RESTART_STRIDE * (point - END));
  }
}

/* Whether the recording can have one more point: openings are recorded up to their greatest length, unless sticky
 * actions make them differ. */
static bool goes_on(const vcs_restart_t *restart, const vcs_env_t *env) {
  if (restart->count <= END) return true;
  return restart->count < VCS_RESTART_POINTS && env->options.repeat_action_probability <= 0 &&
         VCS_RESTART_STRIDE * (restart->count - END) < env->options.noop_max;
}

/* Whether an environment that is where the recorded one was after the early frames always comes to this point. */
static bool is_certain(const vcs_restart_t *restart, int point) {
  const vcs_restart_point_t *early = &restart->point[EARLY], *end = &restart->point[END], *at = &restart->point[point];
  if (early->exact || at->exact || at->drawn) return false;
  if (point > END) { /* unless another episode began meanwhile */
    const uint64_t frames = (uint64_t)(VCS_RESTART_STRIDE * (point - END));
    return at->live.episode_frame_number == end->live.episode_frame_number + frames;
  }
  vcs_env_live_t live = end->live;
  keep(&live, &early->live);
  live.frame_number = end->live.frame_number;
  const bool acts = !same_bytes(&live, &end->live, sizeof live); /* its mode script does: it draws sticky actions */
  const bool resets_again = counters(early->machines).rng_draws != counters(end->machines).rng_draws;
  return !acts && !resets_again;
}

/* Notes which times of a point are kept, if the recorded environment, which has come there again with other times since
 * the early frames, differs from it in nothing else. */
static bool find_kept_times(const vcs_restart_t *restart, vcs_restart_point_t *point, const vcs_env_t *env,
                            const counters_t *other) {
  const counters_t early = counters(restart->point[EARLY].machines);
  const size_t size = vcs_state_size(env->cart);
  for (int i = 0; i < MACHINES; i++) {
    const uint8_t *machine = machine_of(env, i), *recorded = machine_at(point, env->cart, i);
    const counters_t here = counters(machine), there = counters(recorded);
    point->kept_times[i] = 0;
    for (int time = 0; time < TIMES; time++) point->kept_times[i] |= (here.time[time] != there.time[time]) << time;
    copy_shifted(env->draw_history.spare, recorded, size, &early, other, point->kept_times[i]);
    if (!same_bytes(env->draw_history.spare, machine, size)) return false;
  }
  return true;
}

void vcs_restart_record(vcs_restart_t *restart, vcs_env_t *env, void *memory) {
  for (int i = 0; i < VCS_RESTART_POINTS; i++) {
    restart->point[i].machines = (uint8_t *)memory + (size_t)i * point_bytes(env->cart);
    memset(restart->point[i].kept_times, 0, sizeof restart->point[i].kept_times);
  }
  vcs_env_begin_early(env);
  note(&restart->point[EARLY], env);
  for (restart->count = 1; goes_on(restart, env); restart->count++) {
    play_to(env, restart->count);
    note(&restart->point[restart->count], env);
    if (!is_certain(restart, restart->count)) break;
  }
  if (restart->count <= END) return; /* the environment is at the end of the beginning */
  put_back(env, &restart->point[EARLY]);
  counters_t other = counters((const uint8_t *)env->m);
  const counters_t early = other;
  for (int time = 0; time < TIMES; time++) other.time[time] -= 1;
  copy_shifted(env->draw_history.spare, (const uint8_t *)env->m, vcs_state_size(env->cart), &early, &other,
               unread_times(env->cart, (const uint8_t *)env->m));
  memcpy(env->m, env->draw_history.spare, vcs_state_size(env->cart));
  for (int i = END; i < restart->count; i++) {
    play_to(env, i);
    if (!find_kept_times(restart, &restart->point[i], env, &other)) restart->count = i;
  }
  put_back(env, &restart->point[END]);
}

/* Moves an environment that is where the recorded one was after the early frames to a later point. */
static void move_to(vcs_env_t *env, const vcs_restart_t *restart, int point) {
  const vcs_restart_point_t *from = &restart->point[EARLY], *to = &restart->point[point];
  const vcs_env_live_t kept = env->live;
  const counters_t here = counters((const uint8_t *)env->m), there = counters(from->machines);
  const int32_t turned = to->before_next + VCS_DRAW_HISTORY_BEFORE - from->before_next;
  put(env, to, (env->draw_history.before_next + turned) % VCS_DRAW_HISTORY_BEFORE, &there, &here);
  keep(&env->live, &kept);
  env->frame_number += to->live.frame_number - from->live.frame_number;
}

bool vcs_restart_episode(const vcs_restart_t *restart, vcs_env_t *env) {
  vcs_env_begin_early(env);
  if (restart->count <= END || env->watch || env->listening || env->draw_history.pinned ||
      !is_same(&restart->point[EARLY], env)) {
    vcs_env_begin_rest(env);
    vcs_env_open(env);
    return false;
  }
  /* The last frame of an opening is played, and sets what an environment keeps: the strength of actions. */
  const int frames = vcs_env_draw_opening(env);
  int copied = frames > 0 ? (frames - 1) / VCS_RESTART_STRIDE : 0;
  if (copied > restart->count - 1 - END) copied = restart->count - 1 - END;
  move_to(env, restart, END + copied);
  vcs_env_skip_opening(env, VCS_RESTART_STRIDE * copied);
  vcs_env_play_opening(env, VCS_RESTART_STRIDE * copied, frames);
  return true;
}
