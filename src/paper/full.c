/* full.c: the fully relaxed machine's derivatives beside the truth.
 *
 * The paper calls (6, 0.14) the most informative corner of FULL: the hottest setting at which the rounded run is still
 * exact. Here its derivatives are scored as those of the other methods are (docs/gradients.md): bits of RAM, each with
 * its true effect on the screen and on RAM by running again, and the relaxed machine's by one product forwards. A byte
 * of the relaxed machine is one number; a bit's estimate is 2^b times the derivative along its byte.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "diffvcs/grad.h"
#include "diffvcs/relax.h"
#include "host/arena.h"
#include "host/files.h"
#include "host/parallel.h"
#include "paper/paper.h"
#include "relax/relaxed.h"

static const char *const full_games[] = {"space_invaders", "pong", "breakout", "seaquest"};
static const double full_alphas[] = {2, 4, 6, 20}, full_temperatures[] = {0.02, 0.05, 0.08, 0.11, 0.14, 0.16};
static const int32_t full_horizons[] = {1, 2, 4};
enum {
  FULL_GAMES = sizeof full_games / sizeof *full_games,
  FULL_ALPHAS = sizeof full_alphas / sizeof *full_alphas,
  FULL_TEMPERATURES = sizeof full_temperatures / sizeof *full_temperatures,
  FULL_CASTS = 2,
  FULL_HORIZONS = sizeof full_horizons / sizeof *full_horizons,
  FULL_FRAMES = 4, /* the last horizon */
  CORNER_ALPHA = 2,
  CORNER_TEMPERATURE = 4, /* (6, 0.14) */
  FULL_BITS = 16,
  FULL_FRAME = 300,
};

/* The mean cosine over bits that have a true or an estimated effect, and the largest derivative. */
typedef struct {
  double ram, screen, largest;
  int ram_bits, screen_bits;
  bool diverges; /* the rounded machine is another one by then */
} full_score_t;

typedef struct {
  const vcs_section_t *section;
  vcs_progress_t progress;
  int bits;
  full_score_t scores[FULL_GAMES][FULL_CASTS][FULL_ALPHAS][FULL_TEMPERATURES][FULL_HORIZONS];
} full_job_t;

/* The true effects of the bits, by horizon. */
typedef struct {
  float *pixels, *ram; /* [bit][horizon][...] */
  size_t pixel_count;
  vcs_place_t places[FULL_BITS];
} full_truth_t;

static bool cosine(const double *estimate, const double *truth, size_t count, double *result) {
  double most = 0, dot = 0, ours = 0, theirs = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(estimate[i]));
  for (size_t i = 0; i < count; i++) {
    const double e = most > 0 ? estimate[i] / most : 0; /* squares of 1e200 have no room */
    dot += e * truth[i];
    ours += e * e;
    theirs += truth[i] * truth[i];
  }
  *result = ours > 0 && theirs > 0 ? dot / sqrt(ours * theirs) : 0;
  return (most > 1e-12 || theirs > 0) && isfinite(most);
}

/* Room for one direction a bit. */
typedef struct {
  vcs_arena_t arena;
  double *d_input, *d_state, *d_pixels, *expected;
} full_room_t;

static vcs_status_t make_full_room(full_room_t *room, const vcs_relax_t *relax, size_t bits, size_t pixels,
                                   vcs_error_t *error) {
  room->d_input = vcs_arena_take(&room->arena, bits * vcs_relax_input_slots(relax), sizeof *room->d_input);
  room->d_state = vcs_arena_take(&room->arena, bits * vcs_relax_state_slots(relax), sizeof *room->d_state);
  room->d_pixels = vcs_arena_take(&room->arena, bits * pixels, sizeof *room->d_pixels);
  room->expected = vcs_arena_take(&room->arena, pixels, sizeof *room->expected);
  return vcs_arena_status(&room->arena, error);
}

/* Adds the cosines of one bit at one horizon. */
static void score_bit(const full_truth_t *truth, size_t row, const double *d_ram, const double *d_pixels,
                      double *expected, full_score_t *score) {
  double result;
  for (size_t i = 0; i < 128; i++) {
    expected[i] = 0;
    for (int b = 0; b < 8; b++) expected[i] += (double)truth->ram[1024 * row + 8 * i + (size_t)b] * (1 << b);
    score->largest = fmax(score->largest, fabs(d_ram[i]));
  }
  if (cosine(d_ram, expected, 128, &result)) score->ram += result, score->ram_bits++;
  for (size_t i = 0; i < truth->pixel_count; i++) {
    expected[i] = (double)truth->pixels[truth->pixel_count * row + i];
    score->largest = fmax(score->largest, fabs(d_pixels[i]));
  }
  if (cosine(d_pixels, expected, truth->pixel_count, &result)) score->screen += result, score->screen_bits++;
}

/* All bits at all horizons: the frames are run once, and every frame's Jacobian is applied to what the last one left.
 */
static vcs_status_t score_bits(vcs_relax_t *relax, const vcs_paper_game_t *game, const vcs_t *m,
                               const full_truth_t *truth, int bits, full_score_t *scores, full_room_t *room,
                               vcs_error_t *error) {
  const size_t inputs = vcs_relax_input_slots(relax), states = vcs_relax_state_slots(relax);
  vcs_status_t status = VCS_OK;
  for (size_t k = 0; k < (size_t)bits; k++)
    room->d_input[k * inputs + VCS_SLOT_RAM + truth->places[k].index - offsetof(vcs_t, ram)] = 1
                                                                                               << truth->places[k].bit;
  vcs_relax_load(relax, m);
  for (int f = 1, h = 0; f <= FULL_FRAMES && status == VCS_OK; f++) {
    memset(room->d_state, 0, (size_t)bits * states * sizeof *room->d_state);
    memset(room->d_pixels, 0, (size_t)bits * truth->pixel_count * sizeof *room->d_pixels);
    vcs_relax_control(relax, &game->idle);
    status = vcs_relax_jvp_many(relax, VCS_RELAX_FRAME, bits, room->d_input, room->d_state, room->d_pixels, error);
    memset(room->d_input, 0, (size_t)bits * inputs * sizeof *room->d_input);
    for (size_t k = 0; k < (size_t)bits; k++)
      memcpy(room->d_input + k * inputs, room->d_state + k * states, states * sizeof *room->d_state);
    if (f != full_horizons[h] || status) continue;
    for (size_t k = 0; k < (size_t)bits; k++)
      score_bit(truth, k * FULL_HORIZONS + (size_t)h, room->d_state + k * states + VCS_SLOT_RAM,
                room->d_pixels + k * truth->pixel_count, room->expected, &scores[h]);
    const vcs_relax_report_t *report = vcs_relax_report(relax);
    scores[h++].diverges = report->wrong_reads + report->wrong_branches > 0;
  }
  return status;
}

static vcs_status_t find_truth(const vcs_paper_game_t *game, const vcs_t *m, int bits, full_truth_t *truth,
                               vcs_error_t *error) {
  vcs_controls_t controls[FULL_FRAMES];
  for (int f = 0; f < FULL_FRAMES; f++) controls[f] = game->idle;
  float values[256];
  for (int i = 0; i < 256; i++) values[i] = (float)i;
  const vcs_run_t run = {.cart = game->rom.cart, .start = m, .controls = controls, .frames = FULL_FRAMES};
  vcs_truth_options_t options = {
      .horizons = full_horizons, .horizon_count = FULL_HORIZONS, .threads = 1, .values = values, .channels = 1};
  truth->pixel_count = (size_t)(VCS_WIDTH * game->rom.cart->frame_height);
  truth->pixels = calloc((size_t)bits * FULL_HORIZONS * truth->pixel_count, sizeof *truth->pixels);
  truth->ram = calloc((size_t)bits * FULL_HORIZONS * 1024, sizeof *truth->ram);
  if (!truth->pixels || !truth->ram) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; i < bits; i++) { /* spread over RAM, over all bits */
    const vcs_place_t place = {.kind = VCS_PLACE_STATE,
                               .bit = (uint8_t)(3 * i % 8),
                               .index = (uint32_t)(offsetof(vcs_t, ram) + (size_t)(i * 128 / bits) + (size_t)(i % 5))};
    truth->places[i] = place;
  }
  const vcs_truth_results_t results = {.pixels = truth->pixels, .ram = truth->ram};
  return vcs_truth(&run, &options, truth->places, (size_t)bits, &results, error);
}

static vcs_status_t score_game(void *context, size_t g, vcs_error_t *error) {
  full_job_t *job = context;
  vcs_paper_game_t game;
  full_truth_t truth = {0};
  vcs_status_t status = vcs_paper_game_open(job->section->paper, full_games[g], VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  vcs_t *m = malloc(vcs_state_size(game.rom.cart));
  if (m) memcpy(m, game.start, vcs_state_size(game.rom.cart));
  for (int i = 0; m && i < FULL_FRAME; i++) vcs_frame(game.rom.cart, m, NULL);
  status = m ? find_truth(&game, m, job->bits, &truth, error) : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; status == VCS_OK && !vcs_interrupted() && i < FULL_CASTS * FULL_ALPHAS * FULL_TEMPERATURES; i++) {
    const int cast = i / (FULL_ALPHAS * FULL_TEMPERATURES), a = i / FULL_TEMPERATURES % FULL_ALPHAS,
              t = i % FULL_TEMPERATURES;
    vcs_relax_options_t options = vcs_paper_relaxed(full_alphas[a], full_temperatures[t]);
    vcs_relax_t *relax;
    options.window = 4;
    options.cast = cast ? VCS_CAST_NONE : VCS_CAST_ROUND;
    status = vcs_relax_create(game.rom.cart, &options, &relax, error);
    if (status) break;
    full_room_t room = {0};
    status = make_full_room(&room, relax, (size_t)job->bits, truth.pixel_count, error);
    if (!status) status = score_bits(relax, &game, m, &truth, job->bits, job->scores[g][cast][a][t], &room, error);
    vcs_arena_free(&room.arena);
    vcs_relax_free(relax);
    vcs_progress_add(&job->progress, 1);
  }
  free(truth.pixels);
  free(truth.ram);
  free(m);
  vcs_paper_game_free(&game);
  return status;
}

static double mean_of(double sum, int count) { return count ? sum / count : 0; }

/* The mean cosine of a setting on RAM or on the screen. */
static double score_of(const full_job_t *job, int g, int cast, int a, int t, int h, bool screen) {
  const full_score_t *s = &job->scores[g][cast][a][t][h];
  return screen ? mean_of(s->screen, s->screen_bits) : mean_of(s->ram, s->ram_bits);
}

/* One table for RAM and one for the screen: a row for each game, cast and alpha, a column for each temperature. */
static void write_scores(vcs_section_t *section, const full_job_t *job, int games, bool screen) {
  vcs_section_say(section, "%s after one frame / two / four; * where a read or a branch rounds wrongly on the way:",
                  screen ? "Screen" : "RAM");
  vcs_table_begin(section, "game|cast|alpha|T = 0.02|0.05|0.08|0.11|0.14|0.16|largest derivative at 0.14");
  for (int i = 0; i < games * FULL_CASTS * FULL_ALPHAS; i++) {
    const int g = i / (FULL_CASTS * FULL_ALPHAS), cast = i / FULL_ALPHAS % FULL_CASTS, a = i % FULL_ALPHAS;
    char cells[FULL_TEMPERATURES][32];
    double largest = 0;
    for (int t = 0; t < FULL_TEMPERATURES; t++)
      snprintf(cells[t], sizeof cells[t], "%.2f / %.2f / %.2f%s", score_of(job, g, cast, a, t, 0, screen),
               score_of(job, g, cast, a, t, 1, screen), score_of(job, g, cast, a, t, 2, screen),
               job->scores[g][cast][a][t][FULL_HORIZONS - 1].diverges ? " *" : "");
    for (int h = 0; h < FULL_HORIZONS; h++)
      largest = fmax(largest, job->scores[g][cast][a][CORNER_TEMPERATURE][h].largest);
    vcs_table_row(section, "%s|%s|%g|%s|%s|%s|%s|%s|%s|%.0e", full_games[g], cast ? "none" : "round", full_alphas[a],
                  cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], largest);
  }
  vcs_table_end(section);
}

/* A map over alpha and T whose cells show a number. */
static void draw_cells(vcs_drawing_t *drawing, double left, const char *title, double values[][FULL_TEMPERATURES]) {
  const double top = 50, wide = 46, high = 34;
  char text[32];
  vcs_draw_text(drawing, left, 20, VCS_TEXT_LEFT, 0x202020, title);
  for (int a = 0; a < FULL_ALPHAS; a++) {
    snprintf(text, sizeof text, "%s%g", a ? "" : "alpha ", full_alphas[a]);
    vcs_draw_text(drawing, left + wide * (a + 0.5), top - 8, VCS_TEXT_MIDDLE, 0x202020, text);
    for (int t = 0; t < FULL_TEMPERATURES; t++) {
      const double y = top + high * (FULL_TEMPERATURES - 1 - t), value = values[a][t];
      vcs_draw_box(drawing, left + wide * a, y, wide - 1, high - 1, vcs_colour_heat(fmax(value, 0)));
      snprintf(text, sizeof text, "%.2f", value);
      vcs_draw_text(drawing, left + wide * (a + 0.5), y + high / 2 + 3, VCS_TEXT_MIDDLE,
                    value > 0.6 ? 0x101010 : 0xF0F0F0, text);
    }
  }
}

/* Cosines beside divergences: rounded, and not rounded. */
static vcs_status_t draw_maps(vcs_section_t *section, const full_job_t *job, int games, vcs_error_t *error) {
  vcs_drawing_t *drawing = vcs_drawing_create(900, 290);
  if (!drawing) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int t = 0; t < FULL_TEMPERATURES; t++) {
    char text[16];
    snprintf(text, sizeof text, "T %.2f", full_temperatures[t]);
    vcs_draw_text(drawing, 48, 50 + 34 * (FULL_TEMPERATURES - 1 - t) + 20, VCS_TEXT_RIGHT, 0x202020, text);
  }
  for (int map = 0; map < 4; map++) {
    static const char *const titles[] = {"cosine, rounded", "exact for 4 frames, rounded", "cosine, not rounded",
                                         "exact for 4 frames, not rounded"};
    double values[FULL_ALPHAS][FULL_TEMPERATURES] = {{0}};
    for (int a = 0; a < FULL_ALPHAS; a++) {
      for (int t = 0; t < FULL_TEMPERATURES; t++) {
        for (int g = 0; g < games; g++)
          values[a][t] += (map % 2 ? !job->scores[g][map / 2][a][t][FULL_HORIZONS - 1].diverges
                                   : score_of(job, g, map / 2, a, t, 0, false)) /
                          games;
      }
    }
    draw_cells(drawing, 60 + 210 * map, titles[map], values);
  }
  return vcs_section_figure(section, drawing, "full",
                            "Over alpha and T, hard dispatch: the mean cosine of the derivative with the truth (RAM to "
                            "RAM, one frame), and beside it the share of the games whose run makes no wrong value in "
                            "four frames.",
                            error);
}

/* Of the settings whose rounded run is exact: whether the corner (6, 0.14) has the best mean cosine on RAM. */
static void write_verdict(vcs_section_t *section, const full_job_t *job, int games) {
  double corner = 0, best = -1;
  int best_a = 0, best_t = 0;
  for (int a = 0; a < FULL_ALPHAS; a++) {
    for (int t = 0; t < FULL_TEMPERATURES; t++) {
      double sum = 0;
      bool exact = true;
      for (int g = 0; g < games; g++) {
        sum += score_of(job, g, 0, a, t, 0, false);
        exact = exact && !job->scores[g][0][a][t][FULL_HORIZONS - 1].diverges;
      }
      if (exact && sum / games > best) best = sum / games, best_a = a, best_t = t;
      if (a == CORNER_ALPHA && t == CORNER_TEMPERATURE) corner = sum / games;
    }
  }
  vcs_table_begin(section, "what|paper|ours|verdict");
  vcs_table_row(section,
                "the most informative setting, RAM after one frame|(6, 0.14)|(%g, %g): %.2f; (6, 0.14): %.2f|%s",
                full_alphas[best_a], full_temperatures[best_t], best, corner, vcs_verdict(section, corner >= best));
  vcs_table_end(section);
}

vcs_status_t vcs_paper_full(vcs_section_t *section, vcs_error_t *error) {
  full_job_t *job = calloc(1, sizeof *job);
  if (!job) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  job->section = section;
  job->bits = section->paper->quick ? 2 : FULL_BITS;
  const size_t games = section->paper->quick ? 1 : FULL_GAMES;
  vcs_progress_start(&job->progress, section->name, games * FULL_CASTS * FULL_ALPHAS * FULL_TEMPERATURES,
                     VCS_PROGRESS_AUTO);
  vcs_status_t status = vcs_paper_parallel(section, games, score_game, job, error);
  vcs_progress_finish(&job->progress);
  if (!status && !vcs_interrupted()) {
    vcs_section_say(
        section,
        "Derivatives of FULL beside the truth: %d bits of RAM at frame %d of four games, each flipped and run "
        "again; cosines are means over bits with an effect.",
        job->bits, FULL_FRAME);
    vcs_section_assume(section,
                       "the whole machine, profile xitari, NOOP, hard dispatch, reads over +-4 cells. With "
                       "the cast <i>round</i> the run is one of integers and its derivative that of the relaxation "
                       "there.");
    write_verdict(section, job, (int)games);
    status = draw_maps(section, job, (int)games, error);
    write_scores(section, job, (int)games, false);
    write_scores(section, job, (int)games, true);
  }
  free(job);
  return status;
}
