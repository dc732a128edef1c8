/* steer.h: a search for controls under way, and what the searches share (steer.c, steer_population.c, steer_horizon.c,
 * steer_mixed.c). */
#ifndef VCS_STUDY_STEER_H
#define VCS_STUDY_STEER_H

#include <stdatomic.h>

#include "study/internal.h"

enum { VCS_STEER_CELLS = 8 };

/* A byte of RAM that a goal is about. */
typedef struct {
  int index;
  bool plain;          /* the goal is a value of it, not what it means */
  float distance[256]; /* of each value from the goal; 0: there */
} vcs_steer_cell_t;

typedef struct {
  const vcs_steer_options_t *options;
  const vcs_run_t *run;
  vcs_scalar_t target; /* its kind */
  vcs_steer_cell_t cells[VCS_STEER_CELLS];
  int cell_count;
  vcs_steps_t steps;
  vcs_steer_t *results; /* [seed][search] */
  atomic_bool failed;   /* a search ran out of memory; set by any thread */
} vcs_steer_job_t;

/* An input of a frame that may be flipped, and by how much that is predicted to help. */
typedef struct {
  int frame, input;
  float merit;
} vcs_steer_flip_t;

/* A search under way. `run` differs from the job's in its controls only. */
typedef struct {
  vcs_steer_job_t *job;
  vcs_run_t run;
  vcs_controls_t *controls;
  uint8_t *held, *tried; /* by frame: the current sequence, and the one under test */
  double *to_go;         /* by frame: what the sequence under test gained from there on */
  float *input, *state, *rewards;
  vcs_steer_flip_t *flips;
  int flip_count;
  uint64_t random;
  int64_t spent;
  double value;       /* of the current sequence */
  vcs_steer_t result; /* the best */
  bool failed;
} vcs_search_t;

/* The controls of a player as three decisions; each of the 18 actions is a choice in all of them. */
enum { VCS_STEER_DECISIONS = 3, VCS_STEER_CHOICES = 3 };
typedef struct {
  uint8_t choices, held[VCS_STEER_CHOICES];
} vcs_steer_decision_t;
extern const vcs_steer_decision_t vcs_steer_decisions[VCS_STEER_DECISIONS];

/* steer_goal.c: fills target and cells from the options' goal. */
vcs_status_t vcs_steer_read_goal(vcs_steer_job_t *job, vcs_error_t *error);

/* A random number below a limit; a choice with these probabilities. */
uint32_t vcs_steer_draw(uint64_t *state, uint32_t below);
int vcs_steer_choose(uint64_t *random, const double *chance, int choices);

/* Writes a random action into some frames from `from` on; returns the frame behind them. Draws a whole sequence into
 * s->tried. */
int vcs_steer_draw_stretch(uint64_t *random, uint8_t *held, int from, int frames);
void vcs_steer_draw_sequence(vcs_search_t *s);

/* Whether another run can be paid for and the goal is not reached. */
bool vcs_steer_goes_on(const vcs_search_t *s);

/* Runs s->tried, charges it, remembers it if it is the best, and returns its value. */
double vcs_steer_evaluate(vcs_search_t *s);

/* The value of an end of the run: the score, or the distance to the goal, negated. */
double vcs_steer_value(const vcs_steer_job_t *job, double score, const uint8_t *ram);

/* The controls of the run that is searched become these. */
void vcs_steer_hold(vcs_search_t *s, const uint8_t *held);

/* The searches of steer_population.c; they begin with the sequence in s->held, whose value is s->value. */
void vcs_steer_evolution(vcs_search_t *s);
void vcs_steer_take(vcs_search_t *s, const uint8_t *held, double value); /* a sequence whose value is known */
void vcs_steer_exact(vcs_search_t *s);

/* The searches of steer_horizon.c and steer_mixed.c. */
void vcs_steer_horizon(vcs_search_t *s);
void vcs_steer_mixed(vcs_search_t *s);

#endif
