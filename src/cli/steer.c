/* steer.c: `diffvcs steer GAME`: what to press so that something happens: four searches with the same budget.
 *
 * The unknown is what is held in each of some frames; the goal is a cell of RAM with a certain value after the last of
 * them, or a high score. Four searches look for it:
 *
 *   random   sequences that have nothing to do with each other, the best of them
 *   blind    a sequence, of which a stretch, or, every other time, all is replaced by chance; kept where that is not
 *            worse
 *   guided   the same, and after every success one walk backwards (bit+fork) tells which inputs of which frames would
 *            help: as many of them are turned as the goal is far, or half as many, or half of these, until that is
 * better
 *   smooth   probabilities of what is held in each stretch of frames, and the derivative of the expected score with
 *            respect to them, from ten drawn sequences at a time
 *
 * The budget counts emulated frames. A walk backwards costs what it may have run at most: the run twice (once to get to
 * the end, once for the tapes) and every fork with all instructions of its window; 5,400 instructions are a frame. All
 * begin with the same sequence of a seed. All stop at the goal, and no run begins that would go over the budget.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/target.h"
#include "core/state.h"
#include "host/env.h"
#include "host/parallel.h"
#include "host/progress.h"

static const char command[] = "diffvcs steer";

enum { FRAMES_MAX = 3600, SEEDS_MAX = 10000, INSTRUCTIONS_A_FRAME = 5400, STRETCH_MAX = 16 };

enum { RANDOM, BLIND, GUIDED, SMOOTH, SEARCHES };
static const char *const searches[SEARCHES] = {"random", "blind", "guided", "smooth"};

/* What a player can hold. */
static const uint8_t inputs[] = {VCS_INPUT_UP, VCS_INPUT_DOWN, VCS_INPUT_LEFT, VCS_INPUT_RIGHT, VCS_INPUT_FIRE};
enum { INPUTS = sizeof inputs };

/* The same as three decisions: one of the 18 actions is a choice in each. */
enum { DECISIONS = 3, CHOICES_MAX = 3 };
static const struct {
  uint8_t choices, held[CHOICES_MAX];
} decisions[DECISIONS] = {
    {3, {0, VCS_HELD_UP, VCS_HELD_DOWN}}, {3, {0, VCS_HELD_LEFT, VCS_HELD_RIGHT}}, {2, {0, VCS_HELD_FIRE}}};

typedef struct {
  vcs_setup_choice_t setup;
  const char *goal, *out;
  int64_t budget, seeds, window, jobs;
} options_t;

typedef struct {
  double value;   /* the best: the distance, negated, or the score */
  int64_t frames; /* that were emulated until then */
  uint8_t *held;  /* by frame */
} result_t;

typedef struct {
  const options_t *options;
  vcs_setup_t setup;
  vcs_target_t target;
  int wanted; /* the cell's value */
  vcs_progress_t progress;
  result_t *results; /* [seed][search] */
  bool failed;
} job_t;

/* An input of a frame that is to be turned, and by how much that is predicted to help. */
typedef struct {
  int frame, input;
  float gain;
} turn_t;

/* A search under way. `setup` shares all but its controls with the job's. */
typedef struct {
  const job_t *job;
  vcs_setup_t setup;
  vcs_controls_t *controls;
  uint8_t *held, *tried; /* by frame: the present sequence, and the one that is looked at */
  double *to_go;         /* by frame: what the one that was looked at still gained from there on */
  float *input, *state, *rewards;
  turn_t *turns;
  int turn_count;
  uint64_t random;
  int64_t spent;
  double value;    /* of the present sequence */
  result_t result; /* the best */
  bool failed;
} search_t;

/* ---- Chance ------------------------------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state, uint32_t below) { /* splitmix64 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t)((z ^ z >> 31) % below);
}

/* One of the 18 actions. */
static uint8_t draw_held(uint64_t *random) {
  uint8_t held = 0;
  for (int d = 0; d < DECISIONS; d++) held |= decisions[d].held[draw(random, decisions[d].choices)];
  return held;
}

static int draw_stretch(uint64_t *random, uint8_t *held, int from, int frames) {
  const uint8_t action = draw_held(random);
  int length = 1 + (int)draw(random, STRETCH_MAX);
  if (length > frames - from) length = frames - from;
  memset(held + from, action, (size_t)length);
  return from + length;
}

static void draw_sequence(search_t *s) {
  const int frames = s->setup.run.frames;
  for (int f = 0; f < frames;) f = draw_stretch(&s->random, s->tried, f, frames);
}

/* ---- Looking ------------------------------------------------------------------------------------------------ */

static bool reached(const search_t *s) { return s->job->target.kind == VCS_TARGET_RAM && s->result.value == 0; }
static bool affordable(const search_t *s) { return s->spent + s->setup.run.frames <= s->job->options->budget; }
static bool goes_on(const search_t *s) { return affordable(s) && !reached(s) && !s->failed && !vcs_interrupted(); }

static double value_of(const job_t *job, const vcs_ending_t *ending) {
  if (job->target.kind == VCS_TARGET_SCORE) return (double)ending->rewards;
  return -(double)abs((int)ending->machine->ram[job->target.index] - job->wanted);
}

/* A cell counts once, at the end. */
static void sum_to_go(search_t *s, const vcs_ending_t *ending, double value) {
  const bool score = s->job->target.kind == VCS_TARGET_SCORE;
  double sum = score ? 0 : value;
  for (int f = s->setup.run.frames - 1; f >= 0; f--) s->to_go[f] = sum += score ? ending->reward[f] : 0;
}

static void hold(search_t *s, const uint8_t *held) {
  for (int f = 0; f < s->setup.run.frames; f++) s->controls[f].held[0] = held[f];
}

/* Runs the sequence in `tried`. */
static double look(search_t *s) {
  vcs_ending_t ending;
  hold(s, s->tried);
  /* the analyzer forgets what the search has allocated when its setup is handed on; close_search frees it */
  if (vcs_ending_make(&s->setup, NULL, &ending, NULL)) { /* NOLINT(clang-analyzer-unix.Malloc) */
    s->failed = true;
    return 0;
  }
  const double value = value_of(s->job, &ending);
  sum_to_go(s, &ending, value);
  vcs_ending_free(&ending);
  s->spent += s->setup.run.frames;
  if (!s->result.frames || value > s->result.value) {
    s->result.value = value;
    s->result.frames = s->spent;
    memcpy(s->result.held, s->tried, (size_t)s->setup.run.frames);
  }
  return value;
}

/* Makes `tried` the present sequence if it is better, or, for a drift, not worse. Whether it is better. */
static bool take_if_better(search_t *s, bool drift) {
  const double value = look(s), before = s->value;
  if (value > before || (drift && value == before)) {
    memcpy(s->held, s->tried, (size_t)s->setup.run.frames);
    s->value = value;
  }
  return value > before;
}

/* ---- Turning what the derivative says ----------------------------------------------------------------------- */

static int by_gain(const void *a, const void *b) {
  const turn_t *x = a, *y = b;
  if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
  if (x->frame != y->frame) return x->frame - y->frame;
  return x->input - y->input;
}

static int opposite(int input) {
  static const uint8_t of[] = {VCS_INPUT_DOWN, VCS_INPUT_UP, VCS_INPUT_RIGHT, VCS_INPUT_LEFT};
  return input < VCS_INPUT_FIRE ? of[input] : -1;
}

static bool holds(const uint8_t *held, int frame, int input) { return input >= 0 && held[frame] >> input & 1; }

/* A stick is never pressed both ways: turning one on turns the other off. */
static void turn(uint8_t *held, const turn_t *t) {
  held[t->frame] ^= (uint8_t)(1 << t->input);
  if (holds(held, t->frame, t->input) && holds(held, t->frame, opposite(t->input))) {
    held[t->frame] ^= (uint8_t)(1 << opposite(t->input));
  }
}

/* A turn that goes beyond the goal by as much as it is away does not help, if the prediction is right. */
static bool overshoots(const search_t *s, float gain) {
  return s->job->target.kind == VCS_TARGET_RAM && (double)gain >= -2 * s->value;
}

static void list_turns(search_t *s) {
  s->turn_count = 0;
  for (int f = 0; f < s->setup.run.frames; f++) {
    const float *slots = s->input + (size_t)VCS_INPUTS * (size_t)f;
    for (int i = 0; i < INPUTS; i++) {
      const int input = inputs[i], other = opposite(input);
      float gain = holds(s->held, f, input) ? -slots[input] : slots[input];
      if (!holds(s->held, f, input) && holds(s->held, f, other)) gain -= slots[other];
      if (gain > 0 && !overshoots(s, gain)) s->turns[s->turn_count++] = (turn_t){f, input, gain};
    }
  }
  qsort(s->turns, (size_t)s->turn_count, sizeof *s->turns, by_gain);
}

/* The goal's derivative at the end: of the distance, its sign tells which way. */
static void set_adjoint(search_t *s, const vcs_ending_t *ending) {
  const size_t slots = 8 * vcs_state_size(s->setup.run.cart);
  memset(s->state, 0, slots * sizeof(float));
  vcs_target_adjoint(&s->job->target, s->setup.run.frames, NULL, s->state, s->rewards);
  if (s->job->target.kind != VCS_TARGET_RAM || ending->machine->ram[s->job->target.index] < s->job->wanted) return;
  for (size_t i = 0; i < slots; i++) s->state[i] = -s->state[i];
}

/* One walk backwards over the present sequence. */
static void walk(search_t *s) {
  const vcs_run_t *run = &s->setup.run;
  vcs_ending_t ending;
  vcs_grad_options_t options;
  vcs_grad_report_t report = {0};
  vcs_cli_method_options(VCS_CLI_BIT_FORK, s->job->options->window, &options);
  s->turn_count = 0;
  hold(s, s->held);
  if (vcs_ending_make(&s->setup, NULL, &ending, NULL)) {
    s->failed = true;
    return;
  }
  set_adjoint(s, &ending);
  vcs_ending_free(&ending);
  memset(s->input, 0, (size_t)VCS_INPUTS * (size_t)run->frames * sizeof(float));
  const vcs_grad_inputs_t in = {.input = s->input};
  vcs_grad_outputs_t out = {.state = s->state};
  if (s->job->target.kind == VCS_TARGET_SCORE) out = (vcs_grad_outputs_t){.env = s->setup.env, .rewards = s->rewards};
  if (vcs_grad_vjp(run, &options, &in, &out, &report, NULL)) s->failed = true;
  const uint64_t instructions = 2 * report.instructions + report.forks * (uint64_t)options.fork_window;
  s->spent += run->frames + (int64_t)((instructions + INSTRUCTIONS_A_FRAME - 1) / INSTRUCTIONS_A_FRAME);
  list_turns(s);
}

/* How many turns, the best first, do not go beyond the goal by their sum, but at least one; a score has no end. */
static int turns_to_goal(const search_t *s) {
  double sum = 0;
  int count = 0;
  if (s->job->target.kind == VCS_TARGET_SCORE) return s->turn_count;
  while (count < s->turn_count && (sum += (double)s->turns[count].gain) <= -s->value) count++;
  return count || !s->turn_count ? count : 1;
}

/* As many turns as it takes, the better half of them, the better half of these ...: whether one of these was better. */
static bool follow(search_t *s) {
  for (int count = turns_to_goal(s); count && goes_on(s); count /= 2) {
    memcpy(s->tried, s->held, (size_t)s->setup.run.frames);
    for (int i = 0; i < count; i++) {
      const bool held = holds(s->held, s->turns[i].frame, s->turns[i].input);
      if (holds(s->tried, s->turns[i].frame, s->turns[i].input) == held) turn(s->tried, &s->turns[i]);
    }
    if (take_if_better(s, false)) return true;
  }
  return false;
}

/* ---- Probabilities -------------------------------------------------------------------------------------------
 *
 * With probabilities p for the choices of every stretch, v(p) is the expected value of a drawn sequence: the
 * multilinear extension of docs/truth.md. Its derivative is estimated as there, from draws of which each one's gain is
 * taken relative to the mean of all; what a stretch is credited with is only what was gained from its first frame on.
 * The step is along the natural gradient, which for probabilities is the mean of gain * (chosen - p). The best draw so
 * far counts in every step.
 */
enum { STRETCH = 8, DRAWS = 10, COUNTED = DRAWS + 1 };
static const double chance_min = 0.02;

typedef struct {
  double chance[DECISIONS][CHOICES_MAX];
  struct {
    uint8_t chosen[DECISIONS];
    double to_go;
  } draws[COUNTED]; /* the last one is the best */
} stretch_t;

static int draw_choice(uint64_t *random, const double *chance, int choices) {
  const uint32_t fine = 1u << 30;
  double u = draw(random, fine) / (double)fine;
  int choice = 0;
  while (choice < choices - 1 && u >= chance[choice]) u -= chance[choice++];
  return choice;
}

/* Draws a sequence and looks at it. */
static double look_at_draw(search_t *s, stretch_t *stretches, int number) {
  const int frames = s->setup.run.frames;
  for (int f = 0; f < frames; f++) {
    stretch_t *stretch = &stretches[f / STRETCH];
    uint8_t *chosen = stretch->draws[number].chosen;
    s->tried[f] = 0;
    for (int d = 0; d < DECISIONS; d++) {
      if (f % STRETCH == 0) chosen[d] = (uint8_t)draw_choice(&s->random, stretch->chance[d], decisions[d].choices);
      s->tried[f] |= decisions[d].held[chosen[d]];
    }
  }
  const double value = look(s);
  for (int f = 0; f < frames; f += STRETCH) stretches[f / STRETCH].draws[number].to_go = s->to_go[f];
  return value;
}

static void climb(stretch_t *stretch) {
  double mean = 0, variance = 0;
  for (int i = 0; i < COUNTED; i++) mean += stretch->draws[i].to_go / COUNTED;
  for (int i = 0; i < COUNTED; i++) variance += pow(stretch->draws[i].to_go - mean, 2) / COUNTED;
  if (variance == 0) return;
  for (int d = 0; d < DECISIONS; d++) {
    double *chance = stretch->chance[d], step[CHOICES_MAX] = {0}, sum = 0;
    for (int i = 0; i < COUNTED; i++) {
      const double gain = (stretch->draws[i].to_go - mean) / sqrt(variance) / COUNTED;
      for (int c = 0; c < decisions[d].choices; c++)
        step[c] += gain * ((stretch->draws[i].chosen[d] == c ? 1 : 0) - chance[c]);
    }
    for (int c = 0; c < decisions[d].choices; c++) sum += chance[c] = fmax(chance[c] + step[c], chance_min);
    for (int c = 0; c < decisions[d].choices; c++) chance[c] /= sum;
  }
}

static void search_probabilities(search_t *s) {
  const int count = (s->setup.run.frames + STRETCH - 1) / STRETCH;
  stretch_t *stretches = calloc((size_t)count, sizeof *stretches);
  double best = -INFINITY;
  if (!stretches) {
    s->failed = true;
    return;
  }
  for (int i = 0; i < count * DECISIONS; i++) {
    const int d = i % DECISIONS;
    for (int c = 0; c < decisions[d].choices; c++) stretches[i / DECISIONS].chance[d][c] = 1.0 / decisions[d].choices;
  }
  while (goes_on(s)) {
    for (int number = 0; number < DRAWS && goes_on(s); number++) {
      const double value = look_at_draw(s, stretches, number);
      for (int i = 0; value > best && i < count; i++) stretches[i].draws[DRAWS] = stretches[i].draws[number];
      best = fmax(best, value);
    }
    for (int i = 0; i < count; i++) climb(&stretches[i]);
  }
  free(stretches);
}

/* ---- The searches ------------------------------------------------------------------------------------------- */

static bool mutate(search_t *s) {
  const int frames = s->setup.run.frames;
  if (draw(&s->random, 2)) {
    draw_sequence(s);
  } else {
    memcpy(s->tried, s->held, (size_t)frames);
    draw_stretch(&s->random, s->tried, (int)draw(&s->random, (uint32_t)frames), frames);
  }
  return take_if_better(s, true);
}

static void search(search_t *s, int kind) {
  bool fresh = true; /* the sequence got better since the last walk */
  draw_sequence(s);
  s->value = look(s);
  memcpy(s->held, s->tried, (size_t)s->setup.run.frames);
  if (kind == SMOOTH) search_probabilities(s);
  while (goes_on(s)) {
    if (kind == RANDOM) {
      draw_sequence(s);
      look(s);
    } else if (kind == GUIDED && fresh) {
      walk(s);
      fresh = goes_on(s) && follow(s);
    } else {
      fresh = mutate(s);
    }
  }
}

static bool open_search(const job_t *job, search_t *s) {
  const size_t frames = (size_t)job->setup.run.frames;
  s->job = job;
  s->setup = job->setup;
  s->controls = malloc(frames * sizeof *s->controls);
  s->held = calloc(frames, 1);
  s->tried = calloc(frames, 1);
  s->result.held = calloc(frames, 1);
  s->input = malloc(VCS_INPUTS * frames * sizeof(float));
  s->state = malloc(8 * vcs_state_size(job->setup.run.cart) * sizeof(float));
  s->rewards = malloc(frames * sizeof(float));
  s->to_go = malloc(frames * sizeof *s->to_go);
  s->turns = malloc(INPUTS * frames * sizeof *s->turns);
  if (!s->controls || !s->held || !s->tried || !s->result.held || !s->to_go || !s->input || !s->state || !s->rewards ||
      !s->turns) {
    return false;
  }
  memcpy(s->controls, job->setup.controls, frames * sizeof *s->controls);
  s->setup.controls = s->controls;
  s->setup.run.controls = s->controls;
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
  free(s->turns);
}

static bool search_item(void *context, size_t item, int worker) {
  job_t *job = context;
  search_t s = {.random = item / SEARCHES + 1};
  (void)worker;
  if (open_search(job, &s)) {
    search(&s, (int)(item % SEARCHES));
  } else {
    s.failed = true;
  }
  close_search(&s);
  job->results[item] = s.result;
  if (s.failed) job->failed = true;
  vcs_progress_add(&job->progress, 1);
  return !s.failed;
}

/* ---- Results ------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* What is shown: the score, or the distance. */
static double shown(const job_t *job, double value) { return job->target.kind == VCS_TARGET_SCORE ? value : 0 - value; }

static void print_actions(const uint8_t *held, int frames, vcs_text_t *text) {
  for (int f = 0, length; f < frames; f += length) {
    const uint8_t h = held[f];
    for (length = 1; f + length < frames && held[f + length] == h; length++) {
    }
    vcs_text_printf(text, "%s%s%s%s%s", f ? "," : "",
                    h & VCS_HELD_UP     ? "UP"
                    : h & VCS_HELD_DOWN ? "DOWN"
                                        : "",
                    h & VCS_HELD_LEFT    ? "LEFT"
                    : h & VCS_HELD_RIGHT ? "RIGHT"
                                         : "",
                    h & VCS_HELD_FIRE ? "FIRE" : "", h ? "" : "NOOP");
    if (length > 1) vcs_text_printf(text, "*%d", length);
  }
}

static void print_summary(const job_t *job, vcs_text_t *text) {
  const size_t seeds = (size_t)job->options->seeds;
  const bool score = job->target.kind == VCS_TARGET_SCORE;
  double *values = malloc(seeds * sizeof *values);
  vcs_text_printf(text, "| search | %s: median | best | worst | goal reached | frames until then: median |\n",
                  score ? "score" : "distance");
  vcs_text_printf(text, "|---|---|---|---|---|---|\n");
  for (int kind = 0; kind < SEARCHES && values; kind++) {
    size_t there = 0;
    for (size_t i = 0; i < seeds; i++) values[i] = job->results[SEARCHES * i + (size_t)kind].value;
    for (size_t i = 0; i < seeds; i++) there += !score && values[i] == 0;
    qsort(values, seeds, sizeof *values, by_value);
    const double median = (values[(seeds - 1) / 2] + values[seeds / 2]) / 2;
    vcs_text_printf(text, "| %s | %g | %g | %g | ", searches[kind], shown(job, median), shown(job, values[seeds - 1]),
                    shown(job, values[0]));
    if (score) {
      vcs_text_printf(text, "- |");
    } else {
      vcs_text_printf(text, "%zu of %zu |", there, seeds);
    }
    for (size_t i = 0; i < seeds; i++) values[i] = (double)job->results[SEARCHES * i + (size_t)kind].frames;
    qsort(values, seeds, sizeof *values, by_value);
    vcs_text_printf(text, " %g |\n", (values[(seeds - 1) / 2] + values[seeds / 2]) / 2);
  }
  if (!values) text->failed = true;
  free(values);
}

static void print_table(const job_t *job, vcs_text_t *text) {
  vcs_text_printf(text, "seed\tsearch\t%s\tframes\tactions\n",
                  job->target.kind == VCS_TARGET_SCORE ? "score" : "distance");
  for (size_t i = 0; i < SEARCHES * (size_t)job->options->seeds; i++) {
    const result_t *r = &job->results[i];
    vcs_text_printf(text, "%zu\t%s\t%g\t%" PRId64 "\t", i / SEARCHES + 1, searches[i % SEARCHES], shown(job, r->value),
                    r->frames);
    print_actions(r->held, job->setup.run.frames, text);
    vcs_text_printf(text, "\n");
  }
}

static vcs_status_t write_results(const job_t *job, vcs_error_t *error) {
  vcs_text_t table = {0}, summary = {0};
  print_table(job, &table);
  print_summary(job, &summary);
  vcs_status_t status = vcs_file_write_text(job->options->out, &table, error);
  if (status == VCS_OK && summary.text) printf("%swrote     %s\n", summary.text, job->options->out);
  vcs_text_free(&table);
  vcs_text_free(&summary);
  return status;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

/* "score", or "ram:9C=60". */
static vcs_status_t read_goal(job_t *job, vcs_error_t *error) {
  const char *goal = job->options->goal, *value = strchr(goal, '=');
  const bool score = strcmp(goal, "score") == 0;
  char cell[32], *end = NULL;
  snprintf(cell, sizeof cell, "%.*s", value ? (int)(value - goal) : (int)strlen(goal), goal);
  if (value && isdigit((unsigned char)value[1])) {
    const long wanted = strtol(value + 1, &end, 0);
    job->wanted = wanted <= 255 ? (int)wanted : -1;
  }
  const bool well_formed = score || (end && !*end && job->wanted >= 0);
  if (!well_formed || vcs_target_read(cell, &job->setup.rom, job->setup.env, &job->target, error) ||
      !(score || (job->target.kind == VCS_TARGET_RAM && job->target.bit < 0))) {
    if (score) return VCS_BAD_ARGUMENT; /* the complaint is there */
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--goal takes score or ram:9C=60 (0 to 255, or 0x3C), not '%.60s'",
                          goal);
  }
  return VCS_OK;
}

static vcs_status_t find(job_t *job, vcs_error_t *error) {
  const size_t items = SEARCHES * (size_t)job->options->seeds;
  vcs_status_t status = read_goal(job, error);
  if (status) return status;
  job->results = calloc(items, sizeof *job->results);
  if (!job->results) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_progress_start(&job->progress, "searching", items, VCS_PROGRESS_AUTO);
  vcs_parallel(items, (int)job->options->jobs, search_item, job);
  vcs_progress_finish(&job->progress);
  if (job->failed) return vcs_error_fill(error, VCS_NO_MEMORY, "a search failed: out of memory?");
  return vcs_interrupted() ? VCS_OK : write_results(job, error);
}

static int steer(const options_t *options) {
  job_t job = {.options = options};
  vcs_error_t error = {""};
  vcs_rom_t rom;
  int exit_code = vcs_rom_open_or_complain(command, options->setup.rom, &options->setup.choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  vcs_status_t status = vcs_setup_open(&options->setup, &job.setup, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = find(&job, &error);
  for (size_t i = 0; job.results && i < SEARCHES * (size_t)options->seeds; i++) free(job.results[i].held);
  free(job.results);
  vcs_setup_free(&job.setup);
  return vcs_cli_end(command, status, &error);
}

static int check_options(options_t *o) {
  vcs_error_t error = {""};
  if (!o->goal) return vcs_cli_complain(command, VCS_EXIT_USAGE, "--goal is needed: score, or ram:9C=60");
  if (o->budget < o->setup.horizon) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--budget must be enough for one run of %d frames",
                            (int)o->setup.horizon);
  }
  if (vcs_output_try(o->out, &error)) return vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message);
  return VCS_ARGS_GO;
}

int vcs_cli_steer(int argc, char **argv) {
  options_t o = {.setup = {.actions = "NOOP*300", .frame = -1, .horizon = 60},
                 .out = "steer.tsv",
                 .budget = 20000,
                 .seeds = 20,
                 .window = 16};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &o.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_TEXT("goal", &o.goal, "WHAT", "score, or ram:9C=60: a cell and its value after the last frame"),
      VCS_ARG_TEXT("actions", &o.setup.actions, "LIST", "how the game is played before"),
      VCS_ARG_INTEGER("frames", &o.setup.horizon, 1, FRAMES_MAX, "frames in which something may be held"),
      VCS_ARG_INTEGER("budget", &o.budget, 1, INT64_C(1000000000000), "emulated frames for each search"),
      VCS_ARG_INTEGER("seeds", &o.seeds, 1, SEEDS_MAX, "so many beginnings"),
      VCS_ARG_INTEGER("window", &o.window, 1, 1000000, "instructions within which a branch's sides meet"),
      VCS_ARG_INTEGER("jobs", &o.jobs, 0, 4096, "threads; 0: one for each CPU"),
      VCS_ARG_TEXT("out", &o.out, "FILE", "the table, with the sequences"),
      VCS_ARGS_CART(&o.setup.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Looks for what to press in some frames so that a cell of RAM has a value after the last of them, or that the\n"
      "score is high; for each seed by four searches with the same budget: random sequences, a local search that is\n"
      "blind, one that is guided by derivatives with respect to the inputs (good for cells), and one that climbs "
      "along\n"
      "the derivative with respect to their probabilities (good for scores). Prints medians; the table has the best\n"
      "sequence of each. A walk backwards is charged as the frames it may have run, forks included. The stick is\n"
      "searched, not paddles. docs/steer.md has results." VCS_ROMS_NOTE,
      "diffvcs steer space_invaders --actions NOOP*1050,RIGHT*40,NOOP*4 --goal ram:9C=100 --frames 100 --budget 8000\n"
      "diffvcs steer space_invaders --actions NOOP*300 --goal score --frames 120 --budget 12000\n"
      "diffvcs steer demo --actions NOOP*100 --goal ram:80=200 --frames 10 --budget 500 --seeds 3\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  return steer(&o);
}
