/* steer_population.c: searches that evaluate many sequences at a time (steer.c has the others).
 *
 * Evolution. Twenty sequences, drawn at random. A child has the beginning of one parent and the end of another, and one
 * or two random stretches; each parent is the better of two sequences that were drawn. The child replaces the worst
 * sequence unless it is worse.
 *
 * Exact. A fifth of the budget draws sequences at random; the best of them is changed. A step computes the columns of
 * the exact Jacobian for thirty-two changes: in each, one or two stretches of frames, or all frames from one on, hold
 * other actions, so that a change is a set of flipped inputs (vcs_truth_watch). The best change is taken; if several
 * help in different frames, all of them together are run, too. Where no change helps, one that leaves the value equal
 * is taken, so that the search drifts.
 *
 * A step costs the frames that are really emulated, which the library counts: the run once, and each change from
 * its first frame up to the frame in which it has rejoined the run. Changes are run again and not walked: a walk over
 * hundreds of frames, in which few flips die out, costs as much (docs/steer.md).
 */
#include <stdlib.h>
#include <string.h>

#include "grad/watch.h"
#include "study/steer.h"

/* ---- Evolution --------------------------------------------------------------------------------------------------- */

enum { POPULATION = 20 };

static int fitter(vcs_search_t *s, const double *values, int count) {
  const int one = (int)vcs_steer_draw(&s->random, (uint32_t)count),
            other = (int)vcs_steer_draw(&s->random, (uint32_t)count);
  return values[one] >= values[other] ? one : other;
}

void vcs_steer_evolution(vcs_search_t *s) {
  const int frames = s->run.frames;
  double values[POPULATION];
  uint8_t *sequences = malloc((size_t)POPULATION * (size_t)frames);
  int count = 1;
  if (!sequences) {
    s->failed = true;
    return;
  }
  memcpy(sequences, s->held, (size_t)frames);
  values[0] = s->value;
  for (; count < POPULATION && vcs_steer_goes_on(s); count++) {
    vcs_steer_draw_sequence(s);
    values[count] = vcs_steer_evaluate(s);
    memcpy(sequences + (size_t)count * (size_t)frames, s->tried, (size_t)frames);
  }
  while (vcs_steer_goes_on(s)) {
    const int first = fitter(s, values, count), second = fitter(s, values, count);
    const size_t cut = vcs_steer_draw(&s->random, (uint32_t)frames);
    memcpy(s->tried, sequences + (size_t)first * (size_t)frames, cut);
    memcpy(s->tried + cut, sequences + (size_t)second * (size_t)frames + cut, (size_t)frames - cut);
    for (uint32_t i = 0, changes = 1 + vcs_steer_draw(&s->random, 2); i < changes; i++) {
      vcs_steer_draw_stretch(&s->random, s->tried, (int)vcs_steer_draw(&s->random, (uint32_t)frames), frames);
    }
    int worst = 0;
    for (int i = 1; i < count; i++) worst = values[i] < values[worst] ? i : worst;
    const double value = vcs_steer_evaluate(s);
    if (value < values[worst]) continue;
    values[worst] = value;
    memcpy(sequences + (size_t)worst * (size_t)frames, s->tried, (size_t)frames);
  }
  free(sequences);
}

/* ---- Exact ------------------------------------------------------------------------------------------------------- */

enum { CHANGES = 32, CONTROLS = 5, BEGINNING = 5, STRETCHES = 3 };

/* Changes of the present sequence. */
typedef struct {
  const vcs_search_t *s;
  uint8_t *held;                    /* [change][frame] */
  int first[CHANGES], end[CHANGES]; /* the frames that may differ */
  double values[CHANGES];
  vcs_place_t *places;
  size_t ends[CHANGES];
  int count;
} changes_t;

static uint8_t *sequence_of(const changes_t *c, int change) {
  return c->held + (size_t)change * (size_t)c->s->run.frames;
}

/* Returns the highest cost of a step. */
static int64_t most(const changes_t *c) {
  int64_t frames = c->s->run.frames;
  for (int i = 0; i < c->count; i++) frames += c->s->run.frames - c->first[i];
  return frames;
}

/* Draws changes, as many as can be paid for: of one stretch, of two, or of everything from a frame on. */
static void draw_changes(vcs_search_t *s, changes_t *c) {
  const int frames = s->run.frames;
  size_t places = 0;
  for (c->count = 0; c->count < CHANGES;) {
    const int i = c->count, from = (int)vcs_steer_draw(&s->random, (uint32_t)frames);
    uint8_t *held = sequence_of(c, i);
    memcpy(held, s->held, (size_t)frames);
    int stretches = 1 + (int)vcs_steer_draw(&s->random, STRETCHES), at = from;
    if (stretches == STRETCHES) stretches = frames; /* all frames from there on */
    for (; stretches && at < frames; stretches--) at = vcs_steer_draw_stretch(&s->random, held, at, frames);
    c->first[i] = frames, c->end[i] = 0;
    for (int f = 0; f < frames; f++) {
      const unsigned changed = held[f] ^ s->held[f];
      if (!changed) continue;
      if (f < c->first[i]) c->first[i] = f;
      c->end[i] = f + 1;
      for (unsigned input = 0; input < CONTROLS; input++) {
        if (changed >> input & 1) c->places[places++] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)f, input};
      }
    }
    if (!c->end[i]) { /* the sequence is unchanged */
      c->first[i] = frames - 1;
      c->end[i] = frames;
      if (vcs_steer_draw(&s->random, 8)) continue;
      c->places[places++] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(frames - 1), VCS_INPUT_FIRE};
      held[frames - 1] ^= VCS_HELD_FIRE;
    }
    c->ends[i] = places;
    c->count++;
    if (s->spent + most(c) > s->job->options->budget) {
      c->count--;
      return;
    }
  }
}

static void see(void *context, size_t item, int horizon, const vcs_sight_t *sight, const vcs_sight_t *base) {
  changes_t *c = context;
  (void)horizon, (void)base;
  c->values[item] = vcs_steer_value(c->s->job, sight->score, sight->ram);
}

/* The exact value of each change. */
static bool differentiate(vcs_search_t *s, changes_t *c) {
  const vcs_truth_options_t options = {.env = s->job->options->env, .threads = 1, .engine = VCS_TRUTH_RERUN};
  vcs_work_t work = {0};
  const vcs_truth_watch_t watch = {.see = see, .context = c, .work = &work};
  vcs_steer_hold(s, s->held);
  if (vcs_truth_watch(&s->run, &options, c->places, c->ends, (size_t)c->count, &watch, NULL)) s->failed = true;
  s->spent += s->run.frames + (int64_t)work.rerun;
  return !s->failed;
}

void vcs_steer_take(vcs_search_t *s, const uint8_t *held, double value) {
  memcpy(s->held, held, (size_t)s->run.frames);
  s->value = value;
  if (s->result.frames && value <= s->result.value) return;
  s->result.value = value;
  s->result.frames = s->spent;
  memcpy(s->result.held, held, (size_t)s->run.frames);
}

/* All changes that help, the best first, as long as they are in different frames. Returns how many there are. */
static int combine(const vcs_search_t *s, const changes_t *c, uint8_t *held) {
  bool used[CHANGES] = {false};
  int taken[CHANGES], count = 0;
  memcpy(held, s->held, (size_t)s->run.frames);
  for (;;) {
    int best = -1;
    for (int i = 0; i < c->count; i++) {
      if (!used[i] && c->values[i] > s->value && (best < 0 || c->values[i] > c->values[best])) best = i;
    }
    if (best < 0) return count;
    used[best] = true;
    bool apart = true;
    for (int k = 0; k < count; k++) apart &= c->first[best] >= c->end[taken[k]] || c->end[best] <= c->first[taken[k]];
    if (!apart) continue;
    taken[count++] = best;
    memcpy(held + c->first[best], sequence_of(c, best) + c->first[best], (size_t)(c->end[best] - c->first[best]));
  }
}

/* One step. */
static void step(vcs_search_t *s, changes_t *c) {
  int best = 0, equal = -1, equals = 0;
  for (int i = 1; i < c->count; i++) best = c->values[i] > c->values[best] ? i : best;
  if (c->values[best] > s->value) {
    const int helpful = combine(s, c, s->tried);
    const double single = c->values[best];
    const double together = helpful > 1 && vcs_steer_goes_on(s) ? vcs_steer_evaluate(s) : single - 1;
    if (together > single) {
      memcpy(s->held, s->tried, (size_t)s->run.frames);
      s->value = together;
    } else {
      vcs_steer_take(s, sequence_of(c, best), single);
    }
    return;
  }
  for (int i = 0; i < c->count; i++) {
    if (c->values[i] == s->value && !vcs_steer_draw(&s->random, (uint32_t)++equals)) equal = i;
  }
  if (equal >= 0) vcs_steer_take(s, sequence_of(c, equal), s->value);
}

void vcs_steer_exact(vcs_search_t *s) {
  const size_t frames = (size_t)s->run.frames;
  changes_t c = {.s = s, .held = malloc(CHANGES * frames)};
  c.places = malloc(CONTROLS * CHANGES * frames * sizeof *c.places);
  if (!c.held || !c.places) s->failed = true;
  while (vcs_steer_goes_on(s) && s->spent < s->job->options->budget / BEGINNING) {
    vcs_steer_draw_sequence(s);
    const double value = vcs_steer_evaluate(s);
    if (value > s->value) vcs_steer_take(s, s->tried, value);
  }
  while (vcs_steer_goes_on(s)) {
    draw_changes(s, &c);
    if (!c.count) { /* what is left pays for runs only */
      vcs_steer_draw_sequence(s);
      vcs_steer_evaluate(s);
      continue;
    }
    if (differentiate(s, &c)) step(s, &c);
  }
  free(c.held);
  free(c.places);
}
