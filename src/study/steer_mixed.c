/* steer_mixed.c: a search with a receding horizon over the probabilities of controls, whose gradient is estimated in
 * two ways (steer.c has the other searches).
 *
 * Windows. Controls are chosen for 4 to 16 frames at a time. The frames of a window are cut into at most four
 * stretches, and each stretch has probabilities p for its decisions (up or down, left or right, the button). The value
 * v of a sequence is the distance to the goal when the window ends, negated; V(p) is its mean over sequences that are
 * drawn. The probabilities follow the gradient of V for some rounds. Then the first half of the best sequence so far is
 * committed, and the next window begins after it; the last window ends with the run. If a run misses the goal, the
 * search continues from the best run so far, 4, 8, 16, 32 or 64 frames before its end, in turn.
 *
 * The gradient. For choice c of a decision, the natural gradient is n_c = p_c (E[v | c] - E[v]). Both estimates of it
 * are means over samples, without bias:
 *
 *   drawn   s_c = (v_i - b_i) ([i chooses c] - p_c) for a drawn sequence i: the score function, where b_i is the mean
 *           value of the other draws.
 *
 *   exact   e_c = p_c (v_jc - sum over k of p_k v_jk) for a base sequence j, where v_jc is the value of j with choice c
 *           in this decision. One walk over the base computes the exact effects of all choices of all decisions.
 *
 * An exact effect has no noise for its base, but another base has other effects. Because bases are drawn from the
 * probabilities, the mean of e_c over bases is n_c, and what is left to estimate is its variance: the spread over
 * bases. (The effects at one sequence only, such as the likeliest one, would be biased by an unknown amount.) The two
 * means are mixed by inverse variance,
 *
 *   n_c = (e_c / E + s_c / S) / (1 / E + 1 / S),
 *
 * where E and S are the sums of squares about the means, divided by the degrees of freedom and by the number of
 * samples. The spread of few samples is itself uncertain (it is 0 for two bases in which a button has no effect), so
 * each spread is mixed with the mean spread of all choices of the window, which counts as one degree of freedom. Bases
 * and draws are different sequences, so that their errors are independent, which the formula requires. (docs/steer.md
 * has the cost and the spread of the two.)
 *
 * The price. A draw costs its frames. A walk costs the frames of its base twice (once to record the run, once to walk
 * over it), and the frames that its changes execute: whole frames that are run again, and a frame for each 5,400
 * instructions.
 *
 * This search does not support a score, because a score has no distance; vcs_steer_exact does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/watch.h"
#include "study/steer.h"

enum { WINDOW = 16, STRETCHES = 4, ROUNDS = 2, DRAWS = 4, BASES = 2, INSTRUCTIONS_A_FRAME = 5400 };
enum { DECISIONS = VCS_STEER_DECISIONS, CHOICES = VCS_STEER_CHOICES, CONTROLS = 5 };
enum { CHANGES = STRETCHES * CONTROLS }; /* other choices: two, two and one for each stretch */
enum { NUMBERS = STRETCHES * DECISIONS * CHOICES, BACK = 4, BACKS = 5 };

static const double chance_min = 0.02, rate = 2, lean = 0.5;

/* Choices in all decisions of a window. */
typedef struct {
  uint8_t chosen[STRETCHES][DECISIONS];
  double value;
} draw_t;

/* A sample of the gradient: n for each choice (number_of). */
typedef struct {
  double n[NUMBERS];
} sample_t;

typedef struct {
  double mean, variance; /* of the mean */
} estimate_t;

typedef struct {
  vcs_search_t *s;
  int at, frames, stretch, stretches; /* the window */
  double chance[STRETCHES][DECISIONS][CHOICES];
  uint8_t best[WINDOW];
  double best_value;
  uint8_t *kept, *path; /* machines after 0, 1, ... frames, of the best run and of this run */
  size_t size;
  vcs_t *machine;
} mixed_t;

/* A walk: the other choices of a base, and their values. */
typedef struct {
  const mixed_t *w;
  const draw_t *base;
  struct {
    uint8_t stretch, decision, choice;
  } changes[CHANGES];
  size_t count;
  double base_value, values[CHANGES];
} walk_t;

static int number_of(int stretch, int decision, int choice) {
  return (stretch * DECISIONS + decision) * CHOICES + choice;
}

static uint8_t *machine_at(const mixed_t *w, uint8_t *machines, int frame) {
  return machines + (size_t)frame * w->size;
}

/* ---- Sequences of a window ---------------------------------------------------------------------------------- */

static void draw(mixed_t *w, draw_t *draw) {
  for (int i = 0; i < w->stretches * DECISIONS; i++) {
    const int at = i / DECISIONS, d = i % DECISIONS;
    draw->chosen[at][d] = (uint8_t)vcs_steer_choose(&w->s->random, w->chance[at][d], vcs_steer_decisions[d].choices);
  }
}

static void spell(const mixed_t *w, const draw_t *draw, uint8_t held[WINDOW]) {
  for (int f = 0; f < w->frames; f++) {
    held[f] = 0;
    for (int d = 0; d < DECISIONS; d++) held[f] |= vcs_steer_decisions[d].held[draw->chosen[f / w->stretch][d]];
  }
}

/* Keeps the best sequence. */
static void note(mixed_t *w, const draw_t *draw, double value) {
  if (value <= w->best_value) return;
  w->best_value = value;
  spell(w, draw, w->best);
}

/* Runs a frame of the run from the present machine. */
static void run_frame(mixed_t *w, int frame, uint8_t held) {
  vcs_controls_t controls = w->s->controls[frame];
  controls.held[0] = held;
  vcs_control(w->s->run.cart, w->machine, &controls);
  vcs_frame(w->s->run.cart, w->machine, NULL);
  w->s->spent++;
}

static void evaluate(mixed_t *w, draw_t *draw) {
  uint8_t held[WINDOW];
  spell(w, draw, held);
  memcpy(w->machine, machine_at(w, w->path, w->at), w->size);
  for (int f = 0; f < w->frames; f++) run_frame(w, w->at + f, held[f]);
  draw->value = vcs_steer_value(w->s->job, 0, w->machine->ram);
  note(w, draw, draw->value);
}

static bool can_pay(const mixed_t *w, int64_t frames) {
  return w->s->spent + frames <= w->s->job->options->budget && vcs_steer_goes_on(w->s);
}

/* ---- Exact effects ------------------------------------------------------------------------------------------ */

static void see(void *context, size_t item, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base) {
  walk_t *walk = context;
  (void)horizon;
  walk->values[item] = vcs_steer_value(walk->w->s->job, 0, sight->ram);
  walk->base_value = vcs_steer_value(walk->w->s->job, 0, base->ram);
}

/* Lists the inputs that another choice flips in all frames of its stretch. */
static size_t list_places(const mixed_t *w, int stretch, unsigned flipped, vcs_place_t *places) {
  const int first = stretch * w->stretch, behind = first + w->stretch;
  size_t count = 0;
  for (int f = first; f < behind && f < w->frames; f++) {
    for (unsigned input = 0; input < CONTROLS; input++) {
      if (flipped >> input & 1) places[count++] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)f, input};
    }
  }
  return count;
}

/* Walks over a base: computes its value, and its value with each single other choice. */
static void walk_over(mixed_t *w, draw_t *base, walk_t *walk) {
  vcs_place_t places[2 * CONTROLS * WINDOW];
  size_t ends[CHANGES], place_count = 0;
  uint8_t held[WINDOW];
  vcs_controls_t controls[WINDOW];
  vcs_work_t work = {0};
  *walk = (walk_t){.w = w, .base = base};
  spell(w, base, held);
  for (int f = 0; f < w->frames; f++) {
    controls[f] = w->s->controls[w->at + f];
    controls[f].held[0] = held[f];
  }
  for (int i = 0; i < w->stretches * DECISIONS; i++) {
    const int at = i / DECISIONS, d = i % DECISIONS, now = base->chosen[at][d];
    const vcs_steer_decision_t *decision = &vcs_steer_decisions[d];
    for (int c = 0; c < decision->choices; c++) {
      if (c == now) continue;
      place_count += list_places(w, at, decision->held[c] ^ decision->held[now], places + place_count);
      walk->changes[walk->count].stretch = (uint8_t)at;
      walk->changes[walk->count].decision = (uint8_t)d;
      walk->changes[walk->count].choice = (uint8_t)c;
      ends[walk->count++] = place_count;
    }
  }
  memcpy(w->machine, machine_at(w, w->path, w->at), w->size);
  const vcs_run_t run = {.cart = w->s->run.cart, .start = w->machine, .controls = controls, .frames = w->frames};
  const vcs_truth_options_t options = {.threads = 1};
  const vcs_truth_watch_t watch = {.see = see, .context = walk, .work = &work};
  if (vcs_truth_watch(&run, &options, places, ends, walk->count, &watch, NULL)) w->s->failed = true;
  w->s->spent += w->frames + (int64_t)(work.walked + work.rerun) +
                 (int64_t)((work.executed + INSTRUCTIONS_A_FRAME - 1) / INSTRUCTIONS_A_FRAME);
  base->value = walk->base_value;
  note(w, base, base->value);
  for (size_t i = 0; i < walk->count; i++) {
    draw_t changed = *base;
    changed.chosen[walk->changes[i].stretch][walk->changes[i].decision] = walk->changes[i].choice;
    note(w, &changed, walk->values[i]);
  }
}

/* ---- The two estimates -------------------------------------------------------------------------------------- */

static void sample_walk(const mixed_t *w, const walk_t *walk, sample_t *sample) {
  double values[NUMBERS];
  for (int i = 0; i < NUMBERS; i++) values[i] = walk->base_value;
  for (size_t i = 0; i < walk->count; i++) {
    values[number_of(walk->changes[i].stretch, walk->changes[i].decision, walk->changes[i].choice)] = walk->values[i];
  }
  for (int i = 0; i < w->stretches * DECISIONS; i++) {
    const int at = i / DECISIONS, d = i % DECISIONS;
    const double *chance = w->chance[at][d], *value = &values[number_of(at, d, 0)];
    double mean = 0;
    for (int c = 0; c < CHOICES; c++) mean += chance[c] * value[c];
    for (int c = 0; c < CHOICES; c++) sample->n[number_of(at, d, c)] = chance[c] * (value[c] - mean);
  }
}

static void sample_draws(const mixed_t *w, const draw_t draws[DRAWS], sample_t samples[DRAWS]) {
  double sum = 0;
  for (int k = 0; k < DRAWS; k++) sum += draws[k].value;
  for (int k = 0; k < DRAWS; k++) {
    const double advantage = draws[k].value - (sum - draws[k].value) / (DRAWS - 1);
    for (int i = 0; i < w->stretches * DECISIONS; i++) {
      const int at = i / DECISIONS, d = i % DECISIONS;
      for (int c = 0; c < CHOICES; c++) {
        samples[k].n[number_of(at, d, c)] = advantage * ((draws[k].chosen[at][d] == c) - w->chance[at][d][c]);
      }
    }
  }
}

/* Computes the mean of the samples and the variance of this mean, for each choice. */
static void estimate(const mixed_t *w, const sample_t *samples, int count, estimate_t *estimates) {
  const int numbers = w->stretches * DECISIONS * CHOICES;
  double all = 0;
  for (int i = 0; i < numbers; i++) {
    estimate_t *e = &estimates[i];
    *e = (estimate_t){0, 0};
    for (int k = 0; k < count; k++) e->mean += samples[k].n[i] / count;
    for (int k = 0; k < count; k++) e->variance += pow(samples[k].n[i] - e->mean, 2);
    all += e->variance / (count - 1) / numbers;
  }
  for (int i = 0; i < numbers; i++) estimates[i].variance = (estimates[i].variance + all) / count / count;
}

static double mix(const estimate_t *exact, const estimate_t *drawn) {
  const double sum = exact->variance + drawn->variance;
  return sum > 0 ? (exact->mean * drawn->variance + drawn->mean * exact->variance) / sum
                 : (exact->mean + drawn->mean) / 2;
}

/* ---- A window ----------------------------------------------------------------------------------------------- */

/* Makes one step along the gradient. */
static void climb(mixed_t *w, const estimate_t *exact, const estimate_t *drawn, double spread) {
  for (int i = 0; i < w->stretches * DECISIONS; i++) {
    const int at = i / DECISIONS, d = i % DECISIONS, choices = vcs_steer_decisions[d].choices;
    double *chance = w->chance[at][d], sum = 0;
    for (int c = 0; c < choices; c++) {
      const int number = number_of(at, d, c);
      sum += chance[c] = fmax(chance[c] + rate * mix(&exact[number], &drawn[number]) / spread, chance_min);
    }
    for (int c = 0; c < choices; c++) chance[c] /= sum;
  }
}

/* Makes one round: draws, walks and a step. False: the budget does not pay for it, or the goal is reached. */
static bool go_round(mixed_t *w) {
  draw_t draws[DRAWS], base;
  sample_t drawn[DRAWS], exact[BASES];
  estimate_t by_draws[NUMBERS], by_walks[NUMBERS];
  walk_t walk;
  double sum = 0, squares = 0, count = 0;
  const int64_t dearest = (2 + w->stretches * CONTROLS) * (int64_t)w->frames;
  for (int k = 0; k < BASES; k++) {
    if (!can_pay(w, dearest) || w->best_value == 0) return false;
    draw(w, &base);
    walk_over(w, &base, &walk);
    if (w->s->failed) return false;
    sample_walk(w, &walk, &exact[k]);
    sum += base.value, squares += base.value * base.value, count++;
    for (size_t i = 0; i < walk.count; i++) sum += walk.values[i], squares += pow(walk.values[i], 2), count++;
  }
  for (int k = 0; k < DRAWS; k++) {
    if (!can_pay(w, w->frames) || w->best_value == 0) return false;
    draw(w, &draws[k]);
    evaluate(w, &draws[k]);
    sum += draws[k].value, squares += pow(draws[k].value, 2), count++;
  }
  const double variance = squares / count - pow(sum / count, 2);
  if (variance <= 0) return true;
  sample_draws(w, draws, drawn);
  estimate(w, drawn, DRAWS, by_draws);
  estimate(w, exact, BASES, by_walks);
  climb(w, by_walks, by_draws, sqrt(variance));
  return true;
}

/* Opens the window at a frame. Its probabilities favour the present sequence, s->tried. */
static void open_window(mixed_t *w, int at) {
  const int left = w->s->run.frames - at;
  w->at = at;
  w->frames = left < WINDOW ? left : WINDOW;
  w->stretch = (w->frames + STRETCHES - 1) / STRETCHES;
  w->stretches = (w->frames + w->stretch - 1) / w->stretch;
  w->best_value = -INFINITY;
  for (int i = 0; i < w->stretches * DECISIONS; i++) {
    const int stretch = i / DECISIONS, d = i % DECISIONS, choices = vcs_steer_decisions[d].choices;
    const uint8_t held = w->s->tried[at + stretch * w->stretch];
    int now = 0;
    for (int c = 1; c < choices; c++) now = held & vcs_steer_decisions[d].held[c] ? c : now;
    for (int c = 0; c < CHOICES; c++) {
      w->chance[stretch][d][c] = c < choices ? (1 - lean) / choices + (c == now ? lean : 0) : 0;
    }
  }
}

/* Commits some frames of the best sequence; the frames after them are expected to hold its last action. */
static void commit(mixed_t *w, int frames) {
  memcpy(w->machine, machine_at(w, w->path, w->at), w->size);
  for (int f = 0; f < frames; f++) {
    run_frame(w, w->at + f, w->best[f]);
    memcpy(machine_at(w, w->path, w->at + f + 1), w->machine, w->size);
  }
  memcpy(w->s->tried + w->at, w->best, (size_t)w->frames);
  const int behind = w->at + w->frames;
  memset(w->s->tried + behind, w->best[w->frames - 1], (size_t)(w->s->run.frames - behind));
}

/* Searches window by window from a frame on to the end of the run. */
static void run_from(mixed_t *w, int at) {
  vcs_search_t *s = w->s;
  const int frames = s->run.frames;
  while (at < frames) {
    open_window(w, at);
    for (int round = 0; round < ROUNDS && go_round(w); round++) {
    }
    if (w->best_value == -INFINITY || !can_pay(w, w->frames)) break;
    const int whole = at + w->frames == frames || w->best_value == 0 ? w->frames : w->frames / 2;
    commit(w, whole);
    at += whole;
  }
  if (at < frames) return;
  const double value = vcs_steer_value(s->job, 0, w->machine->ram);
  if (value < s->value) return;
  vcs_steer_take(s, s->tried, value);
  memcpy(w->kept, w->path, ((size_t)frames + 1) * w->size);
}

static void search(mixed_t *w) {
  vcs_search_t *s = w->s;
  const int frames = s->run.frames;
  s->value = -INFINITY;
  memcpy(w->kept, s->run.start, w->size);
  for (int run = 0; vcs_steer_goes_on(s); run++) {
    const int64_t before = s->spent;
    const int back = run ? BACK << (run - 1) % BACKS : frames;
    const int at = back < frames && s->value > -INFINITY ? frames - back : 0;
    memcpy(w->path, w->kept, ((size_t)at + 1) * w->size);
    memcpy(s->tried, s->held, (size_t)frames);
    run_from(w, at);
    if (s->spent == before) return; /* the rest of the budget pays for nothing */
  }
}

void vcs_steer_mixed(vcs_search_t *s) {
  if (s->job->target.kind == VCS_SCALAR_SCORE) {
    vcs_steer_exact(s);
    return;
  }
  mixed_t w = {.s = s, .size = vcs_state_size(s->run.cart)};
  const size_t machines = ((size_t)s->run.frames + 1) * w.size;
  w.kept = malloc(machines);
  w.path = malloc(machines);
  w.machine = calloc(1, sizeof *w.machine);
  if (!w.kept || !w.path || !w.machine) s->failed = true;
  if (!s->failed) search(&w);
  free(w.kept);
  free(w.path);
  free(w.machine);
}
