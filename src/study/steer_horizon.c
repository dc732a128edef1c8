/* steer_horizon.c: a search that decides some frames at a time (steer.c has the others).
 *
 * A pass goes through the run from its first frame to its last. At each decision it knows the exact effect of an action
 * that is held for the next frames, its window, because it runs them from the machine as it is there: no frame before
 * the window is run again. An action that comes closer to the goal is kept as long as it does, at the price of one
 * window; only where it stops helping are the other actions tried, and the best of them is taken. A pass is a whole
 * sequence, and its value is known without running it again.
 *
 * A window has 2 to 16 frames, drawn for each pass, and actions are tried in random order, so that passes differ: one
 * that steps over the goal is followed by another with shorter steps. Each pass is followed by blind changes of the best
 * sequence at the same price, for goals that no greedy decision reaches: the search is then at worst twice as dear as
 * the blind one. A score is not close before it is made; for scores there is one pass, and then exact changes
 * (vcs_steer_exact).
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/env.h"
#include "host/games.h"
#include "study/steer.h"

enum { ACTIONS = 10 };
static const uint8_t actions[ACTIONS] = {0,
                                         VCS_HELD_UP,
                                         VCS_HELD_DOWN,
                                         VCS_HELD_LEFT,
                                         VCS_HELD_RIGHT,
                                         VCS_HELD_UP | VCS_HELD_LEFT,
                                         VCS_HELD_UP | VCS_HELD_RIGHT,
                                         VCS_HELD_DOWN | VCS_HELD_LEFT,
                                         VCS_HELD_DOWN | VCS_HELD_RIGHT,
                                         VCS_HELD_FIRE};
static const int windows[] = {2, 3, 4, 6, 8, 12, 16};

/* A point of a pass. */
typedef struct {
  vcs_t machine;
  vcs_play_t rules;
  double score, value;
  int frame;
} point_t;

/* Runs an action for some frames. */
static void hold(vcs_search_t *s, const point_t *from, uint8_t action, int frames, point_t *to) {
  const vcs_env_t *env = s->job->options->env;
  *to = *from;
  for (int f = 0; f < frames; f++, to->frame++) {
    vcs_controls_t controls = s->controls[to->frame];
    controls.held[0] = action;
    vcs_control(s->run.cart, &to->machine, &controls);
    vcs_frame(s->run.cart, &to->machine, NULL);
    if (!env || !env->game) continue;
    vcs_game_code_step(env->code, &to->rules, to->machine.ram, to->machine.cart_ram);
    to->score += to->rules.reward;
  }
  to->value = vcs_steer_value(s->job, to->score, to->machine.ram);
  s->spent += frames;
}

static void shuffle(vcs_search_t *s, int order[ACTIONS]) {
  for (int i = 0; i < ACTIONS; i++) order[i] = i;
  for (int i = ACTIONS - 1; i > 0; i--) {
    const int other = (int)vcs_steer_draw(&s->random, (uint32_t)i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

/* Decides the next frames: the best of the actions, or the present one if it comes closer, or stays at the goal. */
static int decide(vcs_search_t *s, const point_t *at, int present, int frames, point_t *tried, point_t *best) {
  const bool arrived = s->job->target.kind == VCS_SCALAR_RAM && at->value == 0;
  int order[ACTIONS], taken = present;
  hold(s, at, actions[present], frames, best);
  if (best->value > at->value || (arrived && best->value == 0)) return present;
  shuffle(s, order);
  for (int i = 0; i < ACTIONS && s->spent + frames <= s->job->options->budget; i++) {
    if (order[i] == present) continue;
    hold(s, at, actions[order[i]], frames, tried);
    if (tried->value <= best->value) continue;
    *best = *tried;
    taken = order[i];
  }
  return taken;
}

/* One pass; false if the budget ends before the run. */
static bool pass(vcs_search_t *s, point_t points[3]) {
  const int count = (int)(sizeof windows / sizeof *windows), end = s->run.frames;
  const int window = windows[vcs_steer_draw(&s->random, (uint32_t)count)];
  int present = (int)vcs_steer_draw(&s->random, ACTIONS);
  point_t *at = &points[0], *tried = &points[1], *best = &points[2];
  memset(at, 0, sizeof *at);
  memcpy(&at->machine, s->run.start, vcs_state_size(s->run.cart));
  if (s->job->options->env) at->rules = s->job->options->env->play;
  at->value = vcs_steer_value(s->job, 0, at->machine.ram);
  while (at->frame < end) {
    const int frames = end - at->frame < window ? end - at->frame : window;
    if (s->spent + frames > s->job->options->budget) return false;
    present = decide(s, at, present, frames, tried, best);
    memset(s->tried + at->frame, actions[present], (size_t)frames);
    point_t *next = best;
    best = at;
    at = next;
  }
  if (at->value > s->value) vcs_steer_take(s, s->tried, at->value);
  return true;
}

void vcs_steer_horizon(vcs_search_t *s) {
  point_t *points = malloc(3 * sizeof *points);
  if (!points) {
    s->failed = true;
    return;
  }
  while (vcs_steer_goes_on(s)) {
    const int64_t before = s->spent;
    if (!pass(s, points) || s->job->target.kind == VCS_SCALAR_SCORE) break;
    for (const int64_t after = s->spent; vcs_steer_goes_on(s) && s->spent < 2 * after - before;) vcs_steer_mutate(s);
  }
  free(points);
  if (s->job->target.kind == VCS_SCALAR_SCORE) vcs_steer_exact(s);
}
