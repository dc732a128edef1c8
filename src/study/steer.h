/* steer.h: the state of a search for controls, and what the searches share (steer.c, steer_population.c,
 * steer_horizon.c, steer_mixed.c). */
#ifndef VCS_STUDY_STEER_H
#define VCS_STUDY_STEER_H

#include <stdatomic.h>

#include "study/internal.h"

enum { VCS_STEER_CELLS = 8 }; /* bytes of a goal at most */

/* A byte of RAM with a wanted value or meaning. */
typedef struct {
  int index;           /* 0 to 127 */
  bool plain;          /* the goal is a value of the byte, not what it means */
  float distance[256]; /* by value: its distance from the goal; 0: the goal is reached */
} vcs_steer_cell_t;

typedef struct {
  const vcs_steer_options_t *options;
  const vcs_run_t *run;
  vcs_scalar_t target; /* its kind: VCS_SCALAR_SCORE, or VCS_SCALAR_RAM for the cells */
  vcs_steer_cell_t cells[VCS_STEER_CELLS];
  int cell_count;
  vcs_steps_t steps;
  vcs_steer_t *results; /* [seed][search] */
  atomic_bool failed;   /* a search ran out of memory; set by any thread */
} vcs_steer_job_t;

/* An input of a frame that may be flipped. */
typedef struct {
  int frame, input;
  float merit; /* by how much the flip is predicted to improve the value */
} vcs_steer_flip_t;

/* One search. */
typedef struct {
  vcs_steer_job_t *job;
  vcs_run_t run;            /* the job's, with these controls */
  vcs_controls_t *controls; /* by frame */
  uint8_t *held;            /* by frame: the current sequence of actions */
  uint8_t *tried;           /* by frame: the sequence under test */
  double *to_go;            /* by frame: what the sequence under test gained from there on */
  float *input;             /* frames x VCS_INPUTS: adjoints */
  float *state;             /* 8 * vcs_state_size: adjoints after the last frame */
  float *rewards;           /* by frame: adjoints */
  vcs_steer_flip_t *flips;  /* flip_count, the best first */
  int flip_count;
  uint64_t random;    /* state of the generator */
  int64_t spent;      /* frames of the budget that are used */
  double value;       /* value of the current sequence */
  vcs_steer_t result; /* the best sequence so far */
  bool failed;        /* memory ran out */
} vcs_search_t;

/* The controls of a player as three decisions; each of the 18 actions is a choice in all of them. */
enum { VCS_STEER_DECISIONS = 3, VCS_STEER_CHOICES = 3 };
typedef struct {
  uint8_t choices, held[VCS_STEER_CHOICES];
} vcs_steer_decision_t;
extern const vcs_steer_decision_t vcs_steer_decisions[VCS_STEER_DECISIONS];

/* steer_goal.c: fills target and cells from the options' goal. */
vcs_status_t vcs_steer_read_goal(vcs_steer_job_t *job, vcs_error_t *error);

/* Returns a random number below a limit; a choice drawn with these probabilities. */
uint32_t vcs_steer_draw(uint64_t *state, uint32_t below);
int vcs_steer_choose(uint64_t *random, const double *chance, int choices);

/* vcs_steer_draw_stretch writes a random action into 1 to 16 frames from `from` on and returns the frame after them;
 * vcs_steer_draw_sequence fills s->tried with such stretches. */
int vcs_steer_draw_stretch(uint64_t *random, uint8_t *held, int from, int frames);
void vcs_steer_draw_sequence(vcs_search_t *s);

/* Returns whether the search continues: the budget has room for another run, and the goal is not reached. */
bool vcs_steer_goes_on(const vcs_search_t *s);

/* Runs s->tried, charges it, remembers it if it is the best, and returns its value. */
double vcs_steer_evaluate(vcs_search_t *s);

/* Returns the value of a run that ends with this score and RAM: the score, or minus the distance from the goal. */
double vcs_steer_value(const vcs_steer_job_t *job, double score, const uint8_t *ram);

/* Sets the controls of s->run to a sequence of actions. */
void vcs_steer_hold(vcs_search_t *s, const uint8_t *held);

/* The searches of steer_population.c; they begin with the sequence in s->held, whose value is s->value. */
void vcs_steer_evolution(vcs_search_t *s);
void vcs_steer_take(vcs_search_t *s, const uint8_t *held, double value); /* a sequence whose value is known */
void vcs_steer_exact(vcs_search_t *s);

/* The searches of steer_horizon.c and steer_mixed.c. */
void vcs_steer_horizon(vcs_search_t *s);
void vcs_steer_mixed(vcs_search_t *s);

#endif
