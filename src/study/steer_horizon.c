/* steer_horizon.c: a search that decides some frames at a time (steer.c has the others).
 *
 * The search keeps the machine at some frames of its best sequence, so that no frame before a change is run again. A
 * trial goes back to one of them and writes the rest of the sequence anew, in one of two ways:
 *
 * - Greedy: each decision is about the next 2 to 16 frames, its window. An action that comes closer to the goal is held
 *   as long as it does, at the price of one window; only where it stops helping are all actions run for a window, which
 *   gives their exact effects, and the best is taken.
 * - Drawn: one stretch is a random action, and the sequence goes on as it was.
 *
 * A trial that is not worse is taken. Windows, the order of actions and the frame to go back to are drawn, so that a
 * trial that steps over the goal is followed by others with shorter steps. The first trial is greedy, from the first
 * frame on. A score is not close before it is made, and is left to vcs_steer_exact.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "host/env.h"
#include "host/games.h"
#include "study/steer.h"

enum { ACTIONS = 10, STEP = 4 /* frames between two points, at most */ };
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

/* A sequence under way: points in the order of their frames, the first at frame 0. */
typedef struct {
  point_t *points;
  int count;
} line_t;

/* Runs an action from the last point of a line on, and adds the point behind it. False: the budget is spent. */
static bool add_held(vcs_search_t *s, line_t *line, uint8_t action, int frames) {
  if (s->spent + frames > s->job->options->budget) return false;
  hold(s, &line->points[line->count - 1], action, frames, &line->points[line->count]);
  line->count++;
  return true;
}

/* The rest of the sequence by greedy decisions. */
static bool go_greedily(vcs_search_t *s, line_t *line, point_t *tried) {
  const int count = (int)(sizeof windows / sizeof *windows), end = s->run.frames;
  const int window = windows[vcs_steer_draw(&s->random, (uint32_t)count)];
  int present = (int)vcs_steer_draw(&s->random, ACTIONS);
  for (const point_t *at; (at = &line->points[line->count - 1])->frame < end; line->count++) {
    const int frames = end - at->frame < window ? end - at->frame : window;
    if (s->spent + frames > s->job->options->budget) return false;
    present = decide(s, at, present, frames, tried, &line->points[line->count]);
    memset(s->tried + at->frame, actions[present], (size_t)frames);
  }
  return true;
}

/* The rest of the sequence with one stretch drawn. */
static bool go_drawn(vcs_search_t *s, line_t *line) {
  const int end = s->run.frames, from = line->points[line->count - 1].frame;
  vcs_steer_draw_stretch(&s->random, s->tried, from, end);
  for (int f = from, next; f < end; f = next) {
    for (next = f + 1; next < end && next < f + STEP && s->tried[next] == s->tried[f]; next++) {
    }
    if (!add_held(s, line, s->tried[f], next - f)) return false;
  }
  return true;
}

/* One trial, from a point of the line on. `fresh` is room for another line. */
static void try_rest(vcs_search_t *s, line_t *line, line_t *fresh, int from, bool greedy, point_t *tried) {
  fresh->points[0] = line->points[from];
  fresh->count = 1;
  memcpy(s->tried, s->held, (size_t)s->run.frames);
  if (!(greedy ? go_greedily(s, fresh, tried) : go_drawn(s, fresh))) return;
  const double value = fresh->points[fresh->count - 1].value;
  if (value < s->value && line->count > 1) return;
  memcpy(line->points + from, fresh->points, (size_t)fresh->count * sizeof *line->points);
  line->count = from + fresh->count;
  vcs_steer_take(s, s->tried, value);
}

void vcs_steer_horizon(vcs_search_t *s) {
  if (s->job->target.kind == VCS_SCALAR_SCORE) {
    vcs_steer_exact(s);
    return;
  }
  const size_t room = (size_t)s->run.frames + 1;
  point_t *tried = malloc(sizeof *tried);
  line_t line = {malloc(room * sizeof(point_t)), 1}, fresh = {malloc(room * sizeof(point_t)), 0};
  if (!tried || !line.points || !fresh.points) s->failed = true;
  if (!s->failed) {
    point_t *start = line.points;
    memset(start, 0, sizeof *start);
    memcpy(&start->machine, s->run.start, vcs_state_size(s->run.cart));
    if (s->job->options->env) start->rules = s->job->options->env->play;
    start->value = vcs_steer_value(s->job, 0, start->machine.ram);
    try_rest(s, &line, &fresh, 0, true, tried);
  }
  while (vcs_steer_goes_on(s) && line.count > 1) {
    const int from = (int)vcs_steer_draw(&s->random, (uint32_t)line.count - 1);
    try_rest(s, &line, &fresh, from, vcs_steer_draw(&s->random, 2), tried);
  }
  free(tried);
  free(line.points);
  free(fresh.points);
}
