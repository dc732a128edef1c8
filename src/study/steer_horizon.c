/* steer_horizon.c: a search that learns the effects of each action on the goal's bytes, and plans with them (steer.c
 * has the other searches).
 *
 * The tree. Every frame that is run is a node, with its machine, and a child for each action that was held in the next
 * frame. No frame is run twice: a trial costs only the frames of its new nodes.
 *
 * The effects. The step from a node to its child is the exact effect of an action on each byte of the goal within one
 * frame. It is counted for the byte's state: its value, and its pace, which is whether it fell or rose in the last
 * three frames (needed for an object that moves in every other frame, or jumps). The expected effect of an action in a
 * state is the mean of its observations there, where its mean effect in other states counts as half an observation; for
 * an action without observations it is the effect of actions with the same direction or button.
 *
 * The plan. With these probabilities, going back from the last frame, the promise of each state of a byte is computed
 * for each number of remaining frames: the probability of ending at the wanted value, minus a small cost for the
 * distance and for each frame at another value. A byte that packs two numbers, such as the nibbles of a position, has
 * no useful distance, but it has steps and therefore a promise. The promise of a node is the sum over the bytes.
 *
 * A planned trial goes down the tree to the untried action with the largest promise. From there it takes the action
 * with the largest promise in each frame, to the last frame, or until the promise has fallen by half a byte. An action
 * with few observations in a state has a slightly larger promise. Some planned trials decide in every frame, others
 * hold an action for up to 16, because an effect may come late (a skier turns before he moves). A drawn trial is a
 * random sequence, or the best one with a random change, or a sequence that was at the goal too early, with a pause in
 * it. While the plan has a way to the goal, three quarters of the frames go to planned trials, otherwise one quarter:
 * if no action is known to affect the bytes, only drawing can find one. The next plan uses the observations of all
 * trials.
 *
 * This search does not support a score, because a score has no distance; vcs_steer_exact does.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "study/steer.h"

enum {
  ACTIONS = 18,
  STILL = 3,             /* the pace of a byte that has not changed for three frames */
  PACES = 2 * STILL + 1, /* pace_behind */
  STATES = 256 * PACES   /* states of a byte: PACES * value + pace */
};
enum { PLANNED = 128 /* frames; promises of more are equal */, NODES_MAX = 1 << 15, EARLY = 32 };

/* ---- Effects ------------------------------------------------------------------------------------------------ */

enum { SEEN = 4, LIKELY = 4 }; /* effects that are kept, and effects that plans use */

/* The effects that were seen: the byte increased by by[i] (modulo 256) times[i] times. */
typedef struct {
  uint8_t by[SEEN];
  uint16_t times[SEEN];
} seen_t;

/* The effects that are expected. */
typedef struct {
  uint16_t what[LIKELY]; /* changes of the byte; after `expect`, its next states */
  float chance[LIKELY];  /* their probabilities */
  float bonus;           /* added to the promise of an action with few observations */
  int count;
} likely_t;

/* The observations and the plan for a byte of the goal. */
typedef struct {
  seen_t in_state[STATES][ACTIONS];   /* in each state */
  seen_t anywhere[PACES][ACTIONS];    /* in all states with a pace */
  seen_t parts[PACES][8];             /* up, down, neither; left, right, neither; the button, none */
  likely_t behind[STATES][ACTIONS];   /* the next state after each action */
  float promise[PLANNED + 1][STATES]; /* by remaining frames and state */
} cell_t;

static const float other_weight = 0.5f; /* weight of the mean of other states, in observations */
static const float curiosity = 0.05f;   /* bonus of an action without observations in a state */

static uint8_t held_of(int action) {
  static const uint8_t vertical[] = {0, VCS_HELD_UP, VCS_HELD_DOWN}, horizontal[] = {0, VCS_HELD_LEFT, VCS_HELD_RIGHT};
  return (uint8_t)(vertical[action % 3] | horizontal[action / 3 % 3] | (action / 9 ? VCS_HELD_FIRE : 0));
}

static int action_of(uint8_t held) {
  const int vertical = held & VCS_HELD_UP ? 1 : held & VCS_HELD_DOWN ? 2 : 0;
  return vertical + 3 * (held & VCS_HELD_LEFT ? 1 : held & VCS_HELD_RIGHT ? 2 : 0) + 9 * !!(held & VCS_HELD_FIRE);
}

static void parts_of(int action, int parts[3]) {
  parts[0] = action % 3, parts[1] = 3 + action / 3 % 3, parts[2] = 6 + action / 9;
}

/* Returns the pace of a byte: it fell 0, 1 or 2 frames ago, it is still, or it rose 2, 1 or 0 frames ago. */
static int pace_behind(int pace, uint8_t by) {
  if (by) return by < 128 ? PACES - 1 : 0;
  return pace < STILL ? pace + 1 : pace > STILL ? pace - 1 : STILL;
}

static int state_behind(int state, uint8_t by) {
  return PACES * (uint8_t)(state / PACES + by) + pace_behind(state % PACES, by);
}

/* Counts an effect. If SEEN other effects are kept, it replaces the last of them. */
static void note(seen_t *seen, uint8_t by) {
  int at = 0;
  while (at < SEEN - 1 && seen->times[at] && seen->by[at] != by) at++;
  if (seen->by[at] != by) seen->times[at] = 0; /* it replaces the last one */
  seen->by[at] = by;
  if (seen->times[at] < UINT16_MAX) seen->times[at]++;
}

/* Counts an effect of an action on a byte in a state. */
static void learn(cell_t *cell, int state, int action, uint8_t by) {
  int parts[3];
  parts_of(action, parts);
  note(&cell->in_state[state][action], by);
  note(&cell->anywhere[state % PACES][action], by);
  for (int i = 0; i < 3; i++) note(&cell->parts[state % PACES][parts[i]], by);
}

static void add_likely(likely_t *likely, int what, float chance) {
  int at = 0, least = 0;
  while (at < likely->count && likely->what[at] != what) at++;
  if (at == LIKELY) {
    for (int i = 1; i < LIKELY; i++) least = likely->chance[i] < likely->chance[least] ? i : least;
    if (likely->chance[least] >= chance) return;
    at = least;
    likely->chance[at] = 0;
  }
  if (at == likely->count) likely->chance[likely->count++] = 0;
  likely->what[at] = (uint16_t)what;
  likely->chance[at] += chance;
}

static int times_of(const seen_t *seen) {
  int times = 0;
  for (int i = 0; i < SEEN; i++) times += seen->times[i];
  return times;
}

static void add_seen(likely_t *likely, const seen_t *seen, float weight) {
  const int times = times_of(seen);
  for (int i = 0; i < SEEN; i++) {
    if (seen->times[i]) add_likely(likely, seen->by[i], weight * (float)seen->times[i] / (float)times);
  }
}

/* Scales the probabilities to a sum of 1. */
static void normalize(likely_t *likely) {
  float sum = 0;
  for (int i = 0; i < likely->count; i++) sum += likely->chance[i];
  for (int i = 0; i < likely->count; i++) likely->chance[i] /= sum;
  if (!likely->count) *likely = (likely_t){.chance = {1}, .count = 1}; /* without observations: the byte stays */
}

/* Returns the expected effects of an action in states in which it was not observed. */
static likely_t expect_elsewhere(const cell_t *cell, int pace, int action) {
  const seen_t *seen = &cell->anywhere[pace][action];
  likely_t likely = {.count = 0};
  int parts[3];
  parts_of(action, parts);
  add_seen(&likely, seen, (float)times_of(seen));
  for (int i = 0; i < 3; i++) add_seen(&likely, &cell->parts[pace][parts[i]], other_weight / 3);
  normalize(&likely);
  return likely;
}

/* Computes the expected effects of each action in each state. */
static void expect(cell_t *cell) {
  for (int pace = 0; pace < PACES; pace++) {
    for (int a = 0; a < ACTIONS; a++) {
      const likely_t elsewhere = expect_elsewhere(cell, pace, a);
      for (int s = pace; s < STATES; s += PACES) {
        likely_t *likely = &cell->behind[s][a];
        const seen_t *seen = &cell->in_state[s][a];
        *likely = elsewhere;
        if (seen->times[0]) {
          for (int i = 0; i < likely->count; i++) likely->chance[i] *= other_weight;
          add_seen(likely, seen, (float)times_of(seen));
          normalize(likely);
        }
        likely->bonus = curiosity / (float)(1 + times_of(seen));
        for (int i = 0; i < likely->count; i++) likely->what[i] = (uint16_t)state_behind(s, (uint8_t)likely->what[i]);
      }
    }
  }
}

/* ---- The plan ----------------------------------------------------------------------------------------------- */

static float promise_behind(const cell_t *cell, int to_go, int state, int action) {
  const likely_t *likely = &cell->behind[state][action];
  float sum = 0;
  for (int i = 0; i < likely->count; i++) sum += likely->chance[i] * cell->promise[to_go][likely->what[i]];
  return sum;
}

/* Computes the promises of all states, from the last frame back. */
static void plan(cell_t *cell, const float distance[256], int first, int frames) {
  const int planned = frames < PLANNED ? frames : PLANNED;
  const float delay = 0.25f / (float)planned, far = 0.5f / (distance[first] + 8);
  expect(cell);
  for (int s = 0; s < STATES; s++) {
    cell->promise[0][s] = distance[s / PACES] > 0 ? -fminf(far * distance[s / PACES], 1) : 1;
  }
  for (int k = 1; k <= planned; k++) {
    for (int s = 0; s < STATES; s++) {
      float most = -FLT_MAX;
      for (int a = 0; a < ACTIONS; a++) {
        const float promise = promise_behind(cell, k - 1, s, a);
        most = promise > most ? promise : most;
      }
      cell->promise[k][s] = most - (distance[s / PACES] > 0 ? delay : 0);
    }
  }
}

/* ---- The tree ----------------------------------------------------------------------------------------------- */

/* A frame that was run. */
typedef struct {
  int frame;                      /* frames before it */
  int parent, action;             /* the node before it, and the action from there */
  int child[ACTIONS];             /* by action; 0: not tried */
  int16_t state[VCS_STEER_CELLS]; /* of each byte of the goal */
  float promise;                  /* promise of the best untried action below */
  int best;                       /* the action that leads to it */
} node_t;

typedef struct {
  vcs_search_t *s;
  cell_t *cells;
  node_t *nodes;
  uint8_t *machines;
  size_t size;
  int count, room;
  vcs_t *machine;
  int64_t planned;               /* frames spent at the last plan */
  int early[EARLY], early_count; /* the latest nodes that are at the goal before the last frame */
  float blur;
} tree_t;

/* Returns the promise of an action in a node's next frame. */
static float promise_of(const tree_t *t, const node_t *node, int action) {
  const int left = t->s->run.frames - node->frame - 1, to_go = left < PLANNED ? left : PLANNED;
  float sum = 0;
  for (int c = 0; c < t->s->job->cell_count; c++) {
    sum += promise_behind(&t->cells[c], to_go, node->state[c], action);
    sum += t->cells[c].behind[node->state[c]][action].bonus;
  }
  return sum;
}

static float noise(vcs_search_t *s, float size) { return size * (float)vcs_steer_draw(&s->random, 1024) / 1024; }

/* Finds the best untried action below a node whose children are up to date. Among promises that differ by less than the
 * blur, one is chosen at random. */
static void rate(tree_t *t, node_t *node) {
  node->promise = -FLT_MAX;
  for (int a = 0; a < ACTIONS && node->frame < t->s->run.frames; a++) {
    const int child = node->child[a];
    const float promise = child ? t->nodes[child].promise : promise_of(t, node, a) + noise(t->s, t->blur);
    if (promise > node->promise) node->promise = promise, node->best = a;
  }
}

/* The same for all nodes from one on, and for the nodes that lead to them. */
static void rate_from(tree_t *t, int first) {
  for (int n = t->count - 1; n >= first; n--) rate(t, &t->nodes[n]);
  for (int n = first ? first : t->count; n < t->count; n++) {
    if (t->nodes[n].parent >= first) continue;
    for (int above = n; above; above = t->nodes[above].parent) rate(t, &t->nodes[t->nodes[above].parent]);
  }
}

/* Makes a new plan if enough frames were run since the last plan. */
static void plan_all(tree_t *t) {
  static const float blurs[] = {0.003f, 0.01f, 0.03f};
  const vcs_search_t *s = t->s;
  const int64_t least = t->planned / 20 < 16 ? 16 : t->planned / 20;
  if (t->planned && s->spent < t->planned + least) return;
  t->planned = s->spent;
  t->blur = blurs[vcs_steer_draw(&t->s->random, sizeof blurs / sizeof *blurs)];
  for (int c = 0; c < s->job->cell_count; c++) {
    plan(&t->cells[c], s->job->cells[c].distance, t->nodes[0].state[c] / PACES, s->run.frames);
  }
  rate_from(t, 0);
}

static double value_of(const tree_t *t, int node) {
  return vcs_steer_value(t->s->job, 0, t->machines + (size_t)node * t->size + offsetof(vcs_t, ram));
}

/* Returns the child of a node by an action; a new child is run. -1: the budget or the room for nodes is used up. */
static int go(tree_t *t, int from, int action) {
  vcs_search_t *s = t->s;
  node_t *node = &t->nodes[from], *next = &t->nodes[t->count];
  if (node->child[action]) return node->child[action];
  if (t->count == t->room || s->spent >= s->job->options->budget) return -1;
  vcs_controls_t controls = s->controls[node->frame];
  controls.held[0] = held_of(action);
  memcpy(t->machine, t->machines + (size_t)from * t->size, t->size);
  vcs_control(s->run.cart, t->machine, &controls);
  vcs_frame(s->run.cart, t->machine, NULL);
  memcpy(t->machines + (size_t)t->count * t->size, t->machine, t->size);
  s->spent++;
  *next = (node_t){.frame = node->frame + 1, .parent = from, .action = action};
  for (int c = 0; c < s->job->cell_count; c++) {
    const int state = node->state[c];
    const uint8_t by = (uint8_t)(t->machine->ram[s->job->cells[c].index] - state / PACES);
    next->state[c] = (int16_t)state_behind(state, by);
    learn(&t->cells[c], state, action, by);
  }
  if (value_of(t, t->count) == 0) t->early[t->early_count++ % EARLY] = t->count;
  return node->child[action] = t->count++;
}

/* Takes the sequence that leads to a last frame, unless it is worse than the best one. */
static void finish(tree_t *t, int last) {
  vcs_search_t *s = t->s;
  const double value = value_of(t, last);
  if (value < s->value) return;
  for (int n = last; n; n = t->nodes[n].parent) s->tried[t->nodes[n].frame - 1] = held_of(t->nodes[n].action);
  vcs_steer_take(s, s->tried, value);
}

/* ---- Trials ------------------------------------------------------------------------------------------------- */

/* Returns the action with the largest promise in a new node; among equal actions, the present one. */
static int choose(const tree_t *t, const node_t *node, int present, float *most) {
  int best = present;
  *most = -FLT_MAX;
  for (int a = 0; a < ACTIONS; a++) {
    const float promise = promise_of(t, node, a) + (a == present ? 0.001f : noise(t->s, 0.001f));
    if (promise > *most) *most = promise, best = a;
  }
  return best;
}

/* Makes a planned trial: down the tree to the best untried action, and on from there by promises, with a decision every
 * `step` frames. */
static void try_planned(tree_t *t) {
  const int frames = t->s->run.frames, step = 1 << vcs_steer_draw(&t->s->random, 5);
  const float promised = t->nodes[0].promise;
  bool fresh = false; /* the node is new, and so are all nodes after it */
  int at = 0, action = 0, since = 0;
  while (at >= 0 && t->nodes[at].frame < frames) {
    const node_t *node = &t->nodes[at];
    if (!fresh) {
      action = node->best;
      fresh = !node->child[action];
    } else if (since++ % step == 0 || frames - node->frame <= step) {
      float most;
      action = choose(t, node, action, &most);
      if (most < promised - 0.5f) return;
    }
    at = go(t, at, action);
  }
  if (at >= 0) finish(t, at);
}

/* Makes a trial of the sequence in s->tried. */
static void try_sequence(tree_t *t) {
  int at = 0;
  for (int f = 0; f < t->s->run.frames && at >= 0; f++) at = go(t, at, action_of(t->s->tried[f]));
  if (at >= 0) finish(t, at);
}

/* Delays a sequence that was at the goal too early: inserts a pause, at its beginning or at some frame, as long as it
 * was early. */
static void delay(tree_t *t) {
  vcs_search_t *s = t->s;
  const int count = t->early_count < EARLY ? t->early_count : EARLY;
  int n = t->early[vcs_steer_draw(&s->random, (uint32_t)count)];
  const int by = s->run.frames - t->nodes[n].frame;
  const int at = vcs_steer_draw(&s->random, 2) ? (int)vcs_steer_draw(&s->random, (uint32_t)t->nodes[n].frame) : 0;
  for (; n; n = t->nodes[n].parent) {
    const int frame = t->nodes[n].frame - 1;
    s->tried[frame < at ? frame : frame + by] = held_of(t->nodes[n].action);
  }
  memset(s->tried + at, 0, (size_t)by);
}

/* Makes a drawn trial: a random sequence; the best sequence with a random end, a random stretch, or one action to its
 * end; or a delayed sequence that was at the goal too early. */
static void try_drawn(tree_t *t) {
  enum { WHOLE, REST, STRETCH, HOLD, DELAY, WAYS };
  vcs_search_t *s = t->s;
  const int frames = s->run.frames, way = (int)vcs_steer_draw(&s->random, t->early_count ? WAYS : DELAY);
  const bool whole = way == WHOLE || (way == HOLD && vcs_steer_draw(&s->random, 2));
  int from = whole ? 0 : (int)vcs_steer_draw(&s->random, (uint32_t)frames);
  memcpy(s->tried, s->held, (size_t)frames);
  if (way == DELAY) {
    delay(t);
    from = frames;
  }
  while (from < frames) {
    const int behind = vcs_steer_draw_stretch(&s->random, s->tried, from, frames);
    if (way == HOLD) memset(s->tried + from, s->tried[from], (size_t)(frames - from));
    from = way == WHOLE || way == REST ? behind : frames;
  }
  try_sequence(t);
}

/* Makes a tree that has only the start of the run. */
static void plant(tree_t *t) {
  memcpy(t->machines, t->s->run.start, t->size);
  t->nodes[0] = (node_t){0};
  t->count = 1;
  t->planned = t->early_count = 0;
  for (int c = 0; c < t->s->job->cell_count; c++) {
    t->nodes[0].state[c] = (int16_t)(PACES * t->s->run.start->ram[t->s->job->cells[c].index] + STILL);
  }
}

static void search(tree_t *t) {
  int64_t drawn = 0, planned = 0; /* frames */
  plant(t);
  try_sequence(t);
  while (vcs_steer_goes_on(t->s)) {
    if (t->count + t->s->run.frames > t->room) plant(t);
    plan_all(t);
    if (t->nodes[0].promise == -FLT_MAX) return; /* all actions were tried */
    const bool hopeful = t->nodes[0].promise > 0;
    const int64_t before = t->s->spent;
    const int first = t->count;
    if (drawn * (hopeful ? 3 : 1) <= planned * (hopeful ? 1 : 3)) {
      try_drawn(t);
      drawn += t->s->spent - before;
    } else {
      try_planned(t);
      planned += t->s->spent - before;
    }
    rate_from(t, first);
  }
}

void vcs_steer_horizon(vcs_search_t *s) {
  if (s->job->target.kind == VCS_SCALAR_SCORE) {
    vcs_steer_exact(s);
    return;
  }
  const int64_t most = s->job->options->budget + 1;
  tree_t t = {.s = s, .size = vcs_state_size(s->run.cart), .room = most < NODES_MAX ? (int)most : NODES_MAX};
  t.cells = calloc((size_t)s->job->cell_count, sizeof *t.cells);
  t.nodes = malloc((size_t)t.room * sizeof *t.nodes);
  t.machines = malloc((size_t)t.room * t.size);
  t.machine = calloc(1, sizeof *t.machine);
  if (!t.cells || !t.nodes || !t.machines || !t.machine) s->failed = true;
  if (!s->failed) search(&t);
  free(t.cells);
  free(t.nodes);
  free(t.machines);
  free(t.machine);
}
