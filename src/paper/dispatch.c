/* dispatch.c: the derivatives of FULL with softmax dispatch over all 256 opcodes, beside those with hard dispatch.
 *
 * The paper defines the softmax over opcodes (its equation 2) and does not run it. Here one frame's instructions are
 * run with either dispatch, rounded and not rounded, and the derivative of RAM with respect to bits of RAM is scored
 * against the truth: the bit is flipped, and the exact machine executes as many instructions. Alpha is that of the
 * corner, 6, for rounded runs; without rounding a run with alpha = 6 does not last, so there it is 20. A run that
 * leaves the exact one, so that the counter rounds to another address, is given by the instruction at which it does;
 * its derivative would be that of another program.
 *
 * An instruction has some ten thousand links with softmax dispatch, so that the frame is differentiated in pieces: the
 * derivative of the state before a piece is the input of the piece. What a piece forgets is the beam's present line,
 * which RAM sees only through collisions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper/paper.h"
#include "core/state.h"
#include "diffvcs/relax.h"
#include "host/parallel.h"
#include "relax/relaxed.h"

static const char *const dispatch_games[] = {"space_invaders", "pong", "breakout", "seaquest"};
static const double dispatch_alphas[] = {6, 20}; /* by cast */
static const double dispatch_temperatures[] = {0.02, 0.05, 0.06, 0.08, 0.14};
enum {
  DISPATCH_GAMES = sizeof dispatch_games / sizeof *dispatch_games,
  DISPATCH_TEMPERATURES = sizeof dispatch_temperatures / sizeof *dispatch_temperatures,
  DISPATCH_KINDS = 4, /* rounded or not, hard or softmax */
  DISPATCH_BITS = 16,
  DISPATCH_FRAME = 300,
  DISPATCH_PIECE = 100, /* instructions that are differentiated at once */
};

typedef struct {
  double cosine;
  int departs; /* the instruction after which the counter is another one; 0: none */
} dispatch_score_t;

typedef struct {
  const vcs_section_t *section;
  vcs_progress_t progress;
  int bits, steps; /* instructions at most */
  dispatch_score_t scores[DISPATCH_GAMES][DISPATCH_KINDS][DISPATCH_TEMPERATURES];
  int instructions[DISPATCH_GAMES]; /* that were run */
} dispatch_job_t;

/* A game in its frame, just begun, and the true effects of the bits on RAM. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_t *start, *m;
  int steps; /* to the frame's end */
  int cells[DISPATCH_BITS], bits[DISPATCH_BITS];
  double effects[DISPATCH_BITS][128];
} dispatch_game_t;

/* Executes some instructions of the exact machine; returns how many there are before the frame's end. */
static int run_exact(const vcs_cart_t *cart, vcs_t *m, int steps) {
  vcs_step_t step = {0};
  int done = 0;
  while (done < steps && !step.frame_over && !step.jammed) {
    vcs_step(cart, m, NULL, &step);
    done++;
  }
  return done;
}

static void find_effects(dispatch_game_t *game, int bits) {
  const size_t size = vcs_state_size(game->cart);
  uint8_t ram[128];
  memcpy(game->m, game->start, size);
  run_exact(game->cart, game->m, game->steps);
  memcpy(ram, game->m->ram, sizeof ram);
  for (int k = 0; k < bits; k++) {
    game->cells[k] = k * 128 / bits + k % 5;
    game->bits[k] = 3 * k % 8;
    memcpy(game->m, game->start, size);
    const int mask = 1 << game->bits[k], sign = game->m->ram[game->cells[k]] & mask ? -1 : 1;
    game->m->ram[game->cells[k]] ^= (uint8_t)mask;
    run_exact(game->cart, game->m, game->steps);
    for (int i = 0; i < 128; i++) game->effects[k][i] = sign * ((int)game->m->ram[i] - (int)ram[i]);
  }
}

/* The instruction after which the relaxed machine's counter is another one than the exact machine's; 0: none. */
static int find_departure(vcs_relax_t *relax, const dispatch_game_t *game) {
  vcs_step_t step = {0};
  memcpy(game->m, game->start, vcs_state_size(game->cart));
  vcs_relax_load(relax, game->start);
  for (int n = 1; n <= game->steps && !vcs_interrupted(); n++) {
    vcs_step(game->cart, game->m, NULL, &step);
    vcs_relax_step(relax, NULL);
    if (vcs_relax_machine(relax)->pc != game->m->pc) return n;
  }
  return 0;
}

static double cosine_of(const double *estimate, const double *truth) {
  double most = 0, dot = 0, ours = 0, theirs = 0;
  for (int i = 0; i < 128; i++) most = fmax(most, fabs(estimate[i]));
  for (int i = 0; i < 128; i++) {
    const double e = most > 0 ? estimate[i] / most : 0; /* squares of 1e200 have no room */
    dot += e * truth[i], ours += e * e, theirs += truth[i] * truth[i];
  }
  return ours > 0 && theirs > 0 ? dot / sqrt(ours * theirs) : 0;
}

/* The mean cosine over the bits, the frame differentiated piece by piece; *left: the run has left the exact one, and
 * there is none. */
static vcs_status_t score(vcs_relax_t *relax, const dispatch_game_t *game, int bits, double *mean, bool *left,
                          vcs_error_t *error) {
  const size_t inputs = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax), count = (size_t)bits;
  double *d_input = calloc(count * inputs, sizeof *d_input), *d_state = calloc(count * states, sizeof *d_state);
  vcs_status_t status = VCS_OK;
  *mean = 0;
  *left = false;
  if (!d_input || !d_state) {
    free(d_input);
    free(d_state);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  memcpy(game->m, game->start, vcs_state_size(game->cart));
  vcs_relax_load(relax, game->start);
  for (int k = 0; k < bits; k++)
    d_input[(size_t)k * inputs + VCS_SLOT_RAM + (size_t)game->cells[k]] = 1 << game->bits[k];
  for (int done = 0; done < game->steps && !status && !*left && !vcs_interrupted(); done += DISPATCH_PIECE) {
    const int piece = game->steps - done < DISPATCH_PIECE ? game->steps - done : DISPATCH_PIECE;
    memset(d_state, 0, count * states * sizeof *d_state);
    status = vcs_relax_jvp_many(relax, piece, bits, d_input, d_state, NULL, error);
    for (size_t k = 0; k < count; k++) memcpy(d_input + k * inputs, d_state + k * states, states * sizeof *d_state);
    run_exact(game->cart, game->m, piece);
    *left = vcs_relax_machine(relax)->pc != game->m->pc;
  }
  for (int k = 0; k < bits && !status; k++)
    *mean += cosine_of(d_state + (size_t)k * states + VCS_SLOT_RAM, game->effects[k]) / bits;
  free(d_input);
  free(d_state);
  return status;
}

static vcs_status_t score_setting(const dispatch_job_t *job, const dispatch_game_t *game, int kind, int t,
                                  dispatch_score_t *result, vcs_error_t *error) {
  vcs_relax_options_t options = vcs_paper_relaxed(dispatch_alphas[kind / 2], dispatch_temperatures[t]);
  vcs_relax_t *relax;
  bool left;
  options.window = 4;
  options.cast = kind / 2 ? VCS_CAST_NONE : VCS_CAST_ROUND;
  options.dispatch = kind % 2 ? VCS_DISPATCH_ONE_HOT : VCS_DISPATCH_HARD;
  vcs_status_t status = vcs_relax_create(game->cart, &options, &relax, error);
  if (status) return status;
  status = score(relax, game, job->bits, &result->cosine, &left, error);
  if (left) result->departs = find_departure(relax, game);
  vcs_relax_free(relax);
  return status;
}

static vcs_status_t score_game(void *context, size_t g, vcs_error_t *error) {
  dispatch_job_t *job = context;
  vcs_paper_game_t opened;
  vcs_status_t status = vcs_paper_game_open(job->section->paper, dispatch_games[g], VCS_PROFILE_XITARI, &opened, error);
  if (status) return status;
  const size_t size = vcs_state_size(opened.rom.cart);
  dispatch_game_t game = {.cart = opened.rom.cart, .start = opened.start, .m = malloc(size)};
  if (!game.m) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  if (status == VCS_OK) {
    for (int i = 0; i < DISPATCH_FRAME; i++) vcs_frame(game.cart, game.start, NULL);
    vcs_frame_begin(game.cart, game.start);
    memcpy(game.m, game.start, size);
    game.steps = run_exact(game.cart, game.m, job->steps) - 1; /* the last one would end the frame */
    job->instructions[g] = game.steps;
    find_effects(&game, job->bits);
  }
  for (int i = 0; i < DISPATCH_KINDS * DISPATCH_TEMPERATURES && !status && !vcs_interrupted(); i++) {
    const int kind = i / DISPATCH_TEMPERATURES, t = i % DISPATCH_TEMPERATURES;
    status = score_setting(job, &game, kind, t, &job->scores[g][kind][t], error);
    vcs_progress_add(&job->progress, 1);
  }
  free(game.m);
  vcs_paper_game_free(&opened);
  return status;
}

static void write_scores(vcs_section_t *section, const dispatch_job_t *job, int games) {
  vcs_table_begin(section, "game|instructions|cast|dispatch|alpha|T = 0.02|0.05|0.06|0.08|0.14");
  for (int i = 0; i < games * DISPATCH_KINDS; i++) {
    const int g = i / DISPATCH_KINDS, kind = i % DISPATCH_KINDS;
    char cells[DISPATCH_TEMPERATURES][32];
    for (int t = 0; t < DISPATCH_TEMPERATURES; t++) {
      const dispatch_score_t *s = &job->scores[g][kind][t];
      snprintf(cells[t], sizeof cells[t], s->departs ? "leaves at %.0f" : "%.2f",
               s->departs ? (double)s->departs : s->cosine);
    }
    vcs_table_row(section, "%s|%d|%s|%s|%g|%s|%s|%s|%s|%s", dispatch_games[g], job->instructions[g],
                  kind / 2 ? "none" : "round", kind % 2 ? "softmax" : "hard", dispatch_alphas[kind / 2], cells[0],
                  cells[1], cells[2], cells[3], cells[4]);
  }
  vcs_table_end(section);
}

/* With softmax dispatch the corner is not exact, and where the run is exact the derivatives are those of hard dispatch.
 */
static void write_verdicts(vcs_section_t *section, const dispatch_job_t *job, int games) {
  const int corner = DISPATCH_TEMPERATURES - 1;
  int exact = 0;
  double largest = 0;
  for (int g = 0; g < games; g++) {
    exact += !job->scores[g][1][corner].departs;
    for (int i = 0; i < 2 * DISPATCH_TEMPERATURES; i++) {
      const int cast = i % 2, t = i / 2;
      const dispatch_score_t *hard = &job->scores[g][2 * cast][t], *soft = &job->scores[g][2 * cast + 1][t];
      if (!hard->departs && !soft->departs) largest = fmax(largest, fabs(hard->cosine - soft->cosine));
    }
  }
  vcs_table_begin(section, "what|paper|ours|verdict");
  vcs_table_row(section,
                "the fully relaxed run of Theorem 2 (softmax dispatch) is exact at (6, 0.14), rounded|yes, of the run "
                "with hard dispatch|%d of %d games|%s",
                exact, games, vcs_verdict(section, exact == games));
  vcs_table_row(section, "largest difference of cosines, softmax and hard dispatch, where both runs are exact|-|%.3f|",
                largest);
  vcs_table_end(section);
}

vcs_status_t vcs_paper_dispatch(vcs_section_t *section, vcs_error_t *error) {
  dispatch_job_t *job = calloc(1, sizeof *job);
  if (!job) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  job->section = section;
  job->bits = section->paper->quick ? 2 : DISPATCH_BITS;
  job->steps = section->paper->quick ? 40 : VCS_FRAME_INSTRUCTIONS;
  const size_t games = section->paper->quick ? 1 : DISPATCH_GAMES;
  vcs_progress_start(&job->progress, section->name, games * DISPATCH_KINDS * DISPATCH_TEMPERATURES, VCS_PROGRESS_AUTO);
  vcs_status_t status = vcs_paper_parallel(section, games, score_game, job, error);
  vcs_progress_finish(&job->progress);
  if (!status && !vcs_interrupted()) {
    vcs_section_say(section,
                    "The mean cosine with the truth, RAM to RAM, %d bits (one without an effect counts as 0), over the "
                    "instructions of frame %d; or the "
                    "instruction after which the run's counter leaves that of the exact run.",
                    job->bits, DISPATCH_FRAME);
    vcs_section_assume(section,
                       "the whole machine, profile xitari, NOOP, reads over +-4 cells; cast and dispatch as the table "
                       "says; softmax of one-hot logits (Delta = 1).");
    write_verdicts(section, job, (int)games);
    write_scores(section, job, (int)games);
  }
  free(job);
  return status;
}
