/* steer.c: from a goal to controls: nine searches with the same budget (study.h, docs/steer.md).
 *
 * The unknown is the controls of each frame; the goal is bytes of RAM with given values or meanings after the last
 * frame (steer_goal.c), or a high score.
 *
 *   random   draws independent sequences and keeps the best
 *   blind    changes a sequence at random, in one stretch or, every other time, everywhere, and keeps the change unless
 *            it is worse
 *   guided   does the same, and after every success makes one reverse pass (bit+fork), which predicts the inputs whose
 *            flips help; it flips the best of them, as many as are predicted to cover the distance to the goal, then
 *            half as many, and so on, until the result is better
 *   smooth   keeps probabilities of the controls in each stretch of frames and follows the derivative of the expected
 *            value with respect to them, estimated from ten drawn sequences at a time
 *   cem      keeps the same probabilities, and moves them to the frequencies among the best three of ten draws (the
 *            cross-entropy method)
 *
 *   evolution  keeps twenty sequences; two good ones are crossed, changed at random, and replace the worst
 *   exact    does what blind does, with the exact effects of thirty-two changes of the sequence at a time
 *
 *   horizon  learns the exact effect of each action on the goal's bytes in one frame, plans with it, and runs no frame
 *            twice
 *   mixed    keeps probabilities in short windows, and mixes exact effects with draws by inverse variance
 *
 * Evolution and exact are in steer_population.c, horizon and mixed in files of their names. The budget counts emulated
 * frames. A reverse pass is charged with the most that it can run: the run twice (once to reach the end, once for the
 * tapes) and every fork with all instructions of its window; 5,400 instructions count as a frame. All searches begin
 * with the same sequence for a seed, stop at the goal, and start no run that would exceed the budget.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/splitmix.h"
#include "core/state.h"
#include "grad/rerun.h"
#include "host/env.h"
#include "host/parallel.h"
#include "study/steer.h"

enum { INSTRUCTIONS_A_FRAME = 5400, STRETCH_MAX = 16, FRAMES_MAX = 3600, SEEDS_MAX = 1 << 20 };

enum { RANDOM = VCS_STEER_RANDOM, GUIDED = VCS_STEER_GUIDED, SMOOTH = VCS_STEER_SMOOTH };
static const char *const searches[VCS_STEERS] = {"random", "blind", "guided",  "smooth", "evolution",
                                                 "exact",  "cem",   "horizon", "mixed"};

const char *vcs_steer_name(int search) { return search >= 0 && search < VCS_STEERS ? searches[search] : NULL; }

/* The controls of a player. */
static const uint8_t inputs[] = {VCS_INPUT_UP, VCS_INPUT_DOWN, VCS_INPUT_LEFT, VCS_INPUT_RIGHT, VCS_INPUT_FIRE};
enum { INPUTS = sizeof inputs };

enum { DECISIONS = VCS_STEER_DECISIONS, CHOICES_MAX = VCS_STEER_CHOICES };
const vcs_steer_decision_t vcs_steer_decisions[DECISIONS] = {
    {3, {0, VCS_HELD_UP, VCS_HELD_DOWN}}, {3, {0, VCS_HELD_LEFT, VCS_HELD_RIGHT}}, {2, {0, VCS_HELD_FIRE}}};
static const vcs_steer_decision_t *const decisions = vcs_steer_decisions;

typedef vcs_steer_job_t job_t;
typedef vcs_search_t search_t;
typedef vcs_steer_flip_t flip_t;

/* ---- Random numbers -------------------------------------------------------------------------------------------------
 */

uint32_t vcs_steer_draw(uint64_t *state, uint32_t below) { return (uint32_t)(vcs_splitmix64(state) % below); }

/* One of the 18 actions. */
static uint8_t draw_held(uint64_t *random) {
  uint8_t held = 0;
  for (int d = 0; d < DECISIONS; d++) held |= decisions[d].held[vcs_steer_draw(random, decisions[d].choices)];
  return held;
}

int vcs_steer_draw_stretch(uint64_t *random, uint8_t *held, int from, int frames) {
  const uint8_t action = draw_held(random);
  int length = 1 + (int)vcs_steer_draw(random, STRETCH_MAX);
  if (length > frames - from) length = frames - from;
  memset(held + from, action, (size_t)length);
  return from + length;
}

void vcs_steer_draw_sequence(search_t *s) {
  const int frames = s->run.frames;
  for (int f = 0; f < frames;) f = vcs_steer_draw_stretch(&s->random, s->tried, f, frames);
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------ */

static bool reached(const search_t *s) { return s->job->target.kind == VCS_SCALAR_RAM && s->result.value == 0; }
static bool affordable(const search_t *s) { return s->spent + s->run.frames <= s->job->options->budget; }
bool vcs_steer_goes_on(const search_t *s) {
  return affordable(s) && !reached(s) && !s->failed && !vcs_steps_stopped(&s->job->steps);
}

double vcs_steer_value(const job_t *job, double score, const uint8_t *ram) {
  double distance = 0;
  if (job->target.kind == VCS_SCALAR_SCORE) return score;
  for (int i = 0; i < job->cell_count; i++) distance += (double)job->cells[i].distance[ram[job->cells[i].index]];
  return -distance;
}

/* Sums the score gained from each frame on. A goal of RAM counts once, at the end. */
static void sum_to_go(search_t *s, const vcs_ending_t *ending, double value) {
  const bool score = s->job->target.kind == VCS_SCALAR_SCORE;
  double sum = score ? 0 : value;
  for (int f = s->run.frames - 1; f >= 0; f--) s->to_go[f] = sum += score ? ending->rewards[f] : 0;
}

void vcs_steer_hold(search_t *s, const uint8_t *held) {
  for (int f = 0; f < s->run.frames; f++) s->controls[f].held[0] = held[f];
}

/* Runs the sequence in `tried` and returns its value. */
double vcs_steer_evaluate(search_t *s) {
  vcs_ending_t ending;
  vcs_steer_hold(s, s->tried);
  if (vcs_ending_make(&s->run, s->job->options->env, NULL, &ending, NULL)) {
    s->failed = true;
    return 0;
  }
  const double value = vcs_steer_value(s->job, (double)ending.score, ending.machine->ram);
  sum_to_go(s, &ending, value);
  vcs_ending_free(&ending);
  s->spent += s->run.frames;
  if (!s->result.frames || value > s->result.value) {
    s->result.value = value;
    s->result.frames = s->spent;
    memcpy(s->result.held, s->tried, (size_t)s->run.frames);
  }
  return value;
}

/* Makes `tried` the current sequence if it is better, or, with `drift`, not worse. Returns whether it is better. */
static bool take_if_better(search_t *s, bool drift) {
  const double value = vcs_steer_evaluate(s), before = s->value;
  if (value > before || (drift && value == before)) {
    memcpy(s->held, s->tried, (size_t)s->run.frames);
    s->value = value;
  }
  return value > before;
}

/* ---- Flips that the derivative predicts to help
 * ----------------------------------------------------------------------- */

static int by_merit(const void *a, const void *b) {
  const flip_t *x = a, *y = b;
  if (x->merit != y->merit) return x->merit > y->merit ? -1 : 1;
  if (x->frame != y->frame) return x->frame - y->frame;
  return x->input - y->input;
}

static int opposite(int input) {
  static const uint8_t of[] = {VCS_INPUT_DOWN, VCS_INPUT_UP, VCS_INPUT_RIGHT, VCS_INPUT_LEFT};
  return input < VCS_INPUT_FIRE ? of[input] : -1;
}

static bool holds(const uint8_t *held, int frame, int input) { return input >= 0 && held[frame] >> input & 1; }

/* Flips an input. Pressing one direction of the stick releases the opposite one. */
static void flip(uint8_t *held, const flip_t *t) {
  held[t->frame] ^= (uint8_t)(1 << t->input);
  if (holds(held, t->frame, t->input) && holds(held, t->frame, opposite(t->input))) {
    held[t->frame] ^= (uint8_t)(1 << opposite(t->input));
  }
}

/* Whether a flip is predicted to pass the goal by at least the present distance, and so does not help. */
static bool overshoots(const search_t *s, float merit) {
  return s->job->target.kind == VCS_SCALAR_RAM && (double)merit >= -2 * s->value;
}

/* Lists the flips of s->held that the adjoints in s->input predict to help, the best first. */
static void list_flips(search_t *s) {
  s->flip_count = 0;
  for (int f = 0; f < s->run.frames; f++) {
    const float *slots = s->input + (size_t)VCS_INPUTS * (size_t)f;
    for (int i = 0; i < INPUTS; i++) {
      const int input = inputs[i], other = opposite(input);
      float merit = holds(s->held, f, input) ? -slots[input] : slots[input];
      if (!holds(s->held, f, input) && holds(s->held, f, other)) merit -= slots[other];
      if (merit > 0 && !overshoots(s, merit)) s->flips[s->flip_count++] = (flip_t){f, input, merit};
    }
  }
  qsort(s->flips, (size_t)s->flip_count, sizeof *s->flips, by_merit);
}

/* Returns by how much a bit brings a byte closer to its goal. For a goal that is a value, this is the bit's weight with
 * the sign of the distance; for a goal that is a meaning of the byte, it is the difference of the distance between the
 * bit set and clear. */
static float adjoint_of(const vcs_steer_cell_t *cell, int value, int bit) {
  const float *distance = cell->distance;
  const int mask = 1 << bit;
  if (!cell->plain) return distance[value & ~mask] - distance[value | mask];
  const bool below = value < 255 && distance[value + 1] < distance[value];
  const float sign = distance[value] == 0 ? 0 : below ? 1 : -1;
  return sign * (float)mask;
}

/* Sets the adjoint of the goal: of the score, or of the distance of each byte. */
static void set_adjoint(search_t *s, const vcs_ending_t *ending) {
  const job_t *job = s->job;
  memset(s->state, 0, 8 * vcs_state_size(s->run.cart) * sizeof(float));
  for (int f = 0; f < s->run.frames; f++) s->rewards[f] = 1;
  for (int i = 0; i < 8 * job->cell_count; i++) {
    const vcs_steer_cell_t *cell = &job->cells[i / 8];
    s->state[8 * (offsetof(vcs_t, ram) + (size_t)cell->index) + (size_t)(i % 8)] +=
        adjoint_of(cell, ending->machine->ram[cell->index], i % 8);
  }
}

/* One reverse pass over the current sequence; lists the flips that help. */
static void run_reverse(search_t *s) {
  const vcs_run_t *run = &s->run;
  vcs_ending_t ending;
  vcs_grad_options_t options;
  vcs_grad_report_t report = {0};
  vcs_study_method_options(VCS_STUDY_BIT_FORK, (int32_t)s->job->options->window, &options);
  s->flip_count = 0;
  vcs_steer_hold(s, s->held);
  if (vcs_ending_make(&s->run, s->job->options->env, NULL, &ending, NULL)) {
    s->failed = true;
    return;
  }
  set_adjoint(s, &ending);
  vcs_ending_free(&ending);
  memset(s->input, 0, (size_t)VCS_INPUTS * (size_t)run->frames * sizeof(float));
  const vcs_grad_inputs_t in = {.input = s->input};
  vcs_grad_outputs_t out = {.state = s->state};
  if (s->job->target.kind == VCS_SCALAR_SCORE)
    out = (vcs_grad_outputs_t){.env = s->job->options->env, .rewards = s->rewards};
  if (vcs_grad_vjp(run, &options, &in, &out, &report, NULL)) s->failed = true;
  const uint64_t instructions = 2 * report.instructions + report.forks * (uint64_t)options.fork_window;
  s->spent += run->frames + (int64_t)((instructions + INSTRUCTIONS_A_FRAME - 1) / INSTRUCTIONS_A_FRAME);
  list_flips(s);
}

/* Returns how many of the best flips together do not pass the goal, but at least one; for a score, all. */
static int flips_to_goal(const search_t *s) {
  double sum = 0;
  int count = 0;
  if (s->job->target.kind == VCS_SCALAR_SCORE) return s->flip_count;
  while (count < s->flip_count && (sum += (double)s->flips[count].merit) <= -s->value) count++;
  return count || !s->flip_count ? count : 1;
}

/* Tries as many flips as cover the distance to the goal, then the better half of them, and so on, until the result is
 * better. Returns whether a result was better. */
static bool follow(search_t *s) {
  for (int count = flips_to_goal(s); count && vcs_steer_goes_on(s); count /= 2) {
    memcpy(s->tried, s->held, (size_t)s->run.frames);
    for (int i = 0; i < count; i++) {
      const bool held = holds(s->held, s->flips[i].frame, s->flips[i].input);
      if (holds(s->tried, s->flips[i].frame, s->flips[i].input) == held) flip(s->tried, &s->flips[i]);
    }
    if (take_if_better(s, false)) return true;
  }
  return false;
}

/* ---- Probabilities -------------------------------------------------------------------------------------------
 *
 * With probabilities p for the choices of every stretch, v(p) is the expected value of a drawn sequence: the
 * multilinear extension of docs/truth.md. Its derivative is estimated as there, from draws; the advantage of a draw is
 * relative to their mean, and a stretch is credited only with the score gained from its first frame on. The step is
 * along the natural gradient, which for probabilities is the mean of advantage * (chosen - p). Every step includes the
 * best draw so far.
 */
enum {
  STRETCH = 8,        /* frames with one choice */
  DRAWS = 10,         /* draws of a step */
  COUNTED = DRAWS + 1 /* including the best draw so far */
};
static const double chance_min = 0.02; /* so that every choice stays possible */

typedef struct {
  double chance[DECISIONS][CHOICES_MAX];
  struct {
    uint8_t chosen[DECISIONS];
    double to_go;
  } draws[COUNTED]; /* the last one is the best */
} stretch_t;

int vcs_steer_choose(uint64_t *random, const double *chance, int choices) {
  const uint32_t fine = 1u << 30;
  double u = vcs_steer_draw(random, fine) / (double)fine;
  int choice = 0;
  while (choice < choices - 1 && u >= chance[choice]) u -= chance[choice++];
  return choice;
}

/* Draws a sequence and evaluates it. */
static double evaluate_draw(search_t *s, stretch_t *stretches, int number) {
  const int frames = s->run.frames;
  for (int f = 0; f < frames; f++) {
    stretch_t *stretch = &stretches[f / STRETCH];
    uint8_t *chosen = stretch->draws[number].chosen;
    s->tried[f] = 0;
    for (int d = 0; d < DECISIONS; d++) {
      if (f % STRETCH == 0) chosen[d] = (uint8_t)vcs_steer_choose(&s->random, stretch->chance[d], decisions[d].choices);
      s->tried[f] |= decisions[d].held[chosen[d]];
    }
  }
  const double value = vcs_steer_evaluate(s);
  for (int f = 0; f < frames; f += STRETCH) stretches[f / STRETCH].draws[number].to_go = s->to_go[f];
  return value;
}

/* Moves the probabilities of a stretch one step along the natural gradient. */
static void climb(stretch_t *stretch) {
  double mean = 0, variance = 0;
  for (int i = 0; i < COUNTED; i++) mean += stretch->draws[i].to_go / COUNTED;
  for (int i = 0; i < COUNTED; i++) variance += pow(stretch->draws[i].to_go - mean, 2) / COUNTED;
  if (variance == 0) return;
  for (int d = 0; d < DECISIONS; d++) {
    double *chance = stretch->chance[d], step[CHOICES_MAX] = {0}, sum = 0;
    for (int i = 0; i < COUNTED; i++) {
      const double advantage = (stretch->draws[i].to_go - mean) / sqrt(variance) / COUNTED;
      for (int c = 0; c < decisions[d].choices; c++)
        step[c] += advantage * ((stretch->draws[i].chosen[d] == c ? 1 : 0) - chance[c]);
    }
    for (int c = 0; c < decisions[d].choices; c++) sum += chance[c] = fmax(chance[c] + step[c], chance_min);
    for (int c = 0; c < decisions[d].choices; c++) chance[c] /= sum;
  }
}

/* Moves the probabilities towards the frequencies of choices among the best draws. */
enum { ELITE = 3 };
static const double elite_weight = 0.7;

static void follow_elite(stretch_t *stretches, int count, const double values[DRAWS]) {
  bool elite[DRAWS] = {false};
  for (int k = 0; k < ELITE; k++) {
    int best = -1;
    for (int i = 0; i < DRAWS; i++) best = !elite[i] && (best < 0 || values[i] > values[best]) ? i : best;
    elite[best] = true;
  }
  for (int i = 0; i < count * DECISIONS; i++) {
    stretch_t *stretch = &stretches[i / DECISIONS];
    const int d = i % DECISIONS;
    double *chance = stretch->chance[d], sum = 0;
    for (int c = 0; c < decisions[d].choices; c++) {
      double frequency = 0;
      for (int k = 0; k < DRAWS; k++) frequency += elite[k] && stretch->draws[k].chosen[d] == c ? 1.0 / ELITE : 0;
      sum += chance[c] = fmax((1 - elite_weight) * chance[c] + elite_weight * frequency, chance_min);
    }
    for (int c = 0; c < decisions[d].choices; c++) chance[c] /= sum;
  }
}

static void search_probabilities(search_t *s, bool by_elite) {
  const int count = (s->run.frames + STRETCH - 1) / STRETCH;
  stretch_t *stretches = calloc((size_t)count, sizeof *stretches);
  double best = -INFINITY, values[DRAWS];
  if (!stretches) {
    s->failed = true;
    return;
  }
  for (int i = 0; i < count * DECISIONS; i++) {
    const int d = i % DECISIONS;
    for (int c = 0; c < decisions[d].choices; c++) stretches[i / DECISIONS].chance[d][c] = 1.0 / decisions[d].choices;
  }
  while (vcs_steer_goes_on(s)) {
    for (int number = 0; number < DRAWS; number++) values[number] = -INFINITY;
    for (int number = 0; number < DRAWS && vcs_steer_goes_on(s); number++) {
      const double value = values[number] = evaluate_draw(s, stretches, number);
      for (int i = 0; value > best && i < count; i++) stretches[i].draws[DRAWS] = stretches[i].draws[number];
      best = fmax(best, value);
    }
    if (by_elite) follow_elite(stretches, count, values);
    for (int i = 0; i < count && !by_elite; i++) climb(&stretches[i]);
  }
  free(stretches);
}

/* ---- The searches ------------------------------------------------------------------------------------------- */

/* Changes the current sequence at random and takes the change unless it is worse. Returns whether it is better. */
static bool mutate(search_t *s) {
  const int frames = s->run.frames;
  if (vcs_steer_draw(&s->random, 2)) {
    vcs_steer_draw_sequence(s);
  } else {
    memcpy(s->tried, s->held, (size_t)frames);
    vcs_steer_draw_stretch(&s->random, s->tried, (int)vcs_steer_draw(&s->random, (uint32_t)frames), frames);
  }
  return take_if_better(s, true);
}

static void search(search_t *s, int kind) {
  bool fresh = true; /* the sequence got better since the last reverse pass */
  vcs_steer_draw_sequence(s);
  memcpy(s->held, s->tried, (size_t)s->run.frames);
  if (kind == VCS_STEER_HORIZON && s->job->target.kind == VCS_SCALAR_RAM) {
    s->value = -INFINITY; /* the search runs the first sequence itself */
  } else {
    s->value = vcs_steer_evaluate(s);
  }
  if (kind == SMOOTH || kind == VCS_STEER_CEM) search_probabilities(s, kind == VCS_STEER_CEM);
  if (kind == VCS_STEER_EVOLUTION) vcs_steer_evolution(s);
  if (kind == VCS_STEER_EXACT) vcs_steer_exact(s);
  if (kind == VCS_STEER_HORIZON) vcs_steer_horizon(s);
  if (kind == VCS_STEER_MIXED) vcs_steer_mixed(s);
  while (vcs_steer_goes_on(s)) {
    if (kind == RANDOM) {
      vcs_steer_draw_sequence(s);
      vcs_steer_evaluate(s);
    } else if (kind == GUIDED && fresh) {
      run_reverse(s);
      fresh = vcs_steer_goes_on(s) && follow(s);
    } else {
      fresh = mutate(s);
    }
  }
}

static bool open_search(job_t *job, search_t *s) {
  const size_t frames = (size_t)job->run->frames;
  s->job = job;
  s->run = *job->run;
  s->controls = malloc(frames * sizeof *s->controls);
  s->held = calloc(frames, 1);
  s->tried = calloc(frames, 1);
  s->result.held = calloc(frames, 1);
  s->input = malloc(VCS_INPUTS * frames * sizeof(float));
  s->state = malloc(8 * vcs_state_size(job->run->cart) * sizeof(float));
  s->rewards = malloc(frames * sizeof(float));
  s->to_go = malloc(frames * sizeof *s->to_go);
  s->flips = malloc(INPUTS * frames * sizeof *s->flips);
  if (!s->controls || !s->held || !s->tried || !s->result.held || !s->to_go || !s->input || !s->state || !s->rewards ||
      !s->flips) {
    return false;
  }
  memcpy(s->controls, job->run->controls, frames * sizeof *s->controls);
  s->run.controls = s->controls;
  return true;
}

static void close_search(search_t *s) { /* the result stays */
  free(s->controls);
  free(s->held);
  free(s->tried);
  free(s->to_go);
  free(s->input);
  free(s->state);
  free(s->rewards);
  free(s->flips);
}

static bool search_item(void *context, size_t item, int worker) {
  job_t *job = context;
  const size_t count = (size_t)job->options->search_count;
  search_t s = {.random = item / count + 1};
  (void)worker;
  if (open_search(job, &s)) {
    search(&s, job->options->searches[item % count]);
  } else {
    s.failed = true;
  }
  close_search(&s);
  job->results[item] = s.result;
  if (s.failed) job->failed = true;
  return vcs_steps_add(&job->steps, 1) && !s.failed;
}

/* ---- All of them ---------------------------------------------------------------------------------------------- */

vcs_status_t vcs_steer(const vcs_run_t *run, const vcs_steer_options_t *given, vcs_steer_t *results, int *scored,
                       vcs_error_t *error) {
  static const int32_t all[VCS_STEERS] = {VCS_STEER_RANDOM, VCS_STEER_BLIND,     VCS_STEER_GUIDED,
                                          VCS_STEER_SMOOTH, VCS_STEER_EVOLUTION, VCS_STEER_EXACT,
                                          VCS_STEER_CEM,    VCS_STEER_HORIZON,   VCS_STEER_MIXED};
  vcs_steer_options_t o;
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_steer_options_t, &o, given, error);
  if (!o.searches) o.searches = all, o.search_count = VCS_STEERS;
  if (!o.seeds) o.seeds = 1;
  if (!o.budget) o.budget = 20000;
  if (!o.window) o.window = 16;
  if (o.search_count < 1 || o.seeds < 1 || o.seeds > SEEDS_MAX)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "there are %d searches from %lld beginnings: at least one is needed, "
                          "and %d beginnings are the most",
                          (int)o.search_count, (long long)o.seeds, SEEDS_MAX);
  job_t job = {.options = &o, .run = run, .results = results};
  const size_t items = (size_t)o.search_count * (size_t)o.seeds;
  memset(results, 0, items * sizeof *results);
  for (int32_t i = 0; i < o.search_count && status == VCS_OK; i++) {
    if (!vcs_steer_name(o.searches[i]))
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no search %d", (int)o.searches[i]);
  }
  if (status == VCS_OK) status = vcs_threads_check(o.threads, error);
  if (status == VCS_OK) status = vcs_run_check(run, NULL, 0, o.env, error);
  if (status == VCS_OK) status = vcs_window_check(o.window, error);
  if (status) return status;
  if (run->frames > FRAMES_MAX || o.budget < run->frames) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a run of %d frames needs at most %d frames and a budget for one run", (int)run->frames,
                          FRAMES_MAX);
  }
  status = vcs_steer_read_goal(&job, error);
  if (status) return status;
  if (scored) *scored = job.target.kind == VCS_SCALAR_SCORE;
  vcs_steps_begin(&job.steps, &o.report, "searches", items);
  vcs_parallel(items, (int)o.threads, search_item, &job);
  if (job.failed) {
    status = vcs_no_memory(error);
  } else if (vcs_steps_stopped(&job.steps)) {
    status = vcs_cancelled(error);
  }
  vcs_steps_end(&job.steps);
  return status;
}

void vcs_steer_free(vcs_steer_t *results, size_t count) {
  for (size_t i = 0; i < count; i++) free(results[i].held);
  memset(results, 0, count * sizeof *results);
}

char *vcs_held_actions(const uint8_t *held, int32_t frames) {
  vcs_text_t text = {0};
  for (int f = 0, length; f < frames; f += length) {
    const uint8_t h = held[f];
    for (length = 1; f + length < frames && held[f + length] == h; length++) {
    }
    const char *vertical = h & VCS_HELD_UP ? "UP" : h & VCS_HELD_DOWN ? "DOWN" : "";
    const char *horizontal = h & VCS_HELD_LEFT ? "LEFT" : h & VCS_HELD_RIGHT ? "RIGHT" : "";
    vcs_text_printf(&text, "%s%s%s%s%s", f ? "," : "", vertical, horizontal, h & VCS_HELD_FIRE ? "FIRE" : "",
                    h ? "" : "NOOP");
    if (length > 1) vcs_text_printf(&text, "*%d", length);
  }
  if (!text.failed) return text.text;
  vcs_text_free(&text);
  return NULL;
}
