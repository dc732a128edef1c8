/* relax.c: when the fully relaxed run with the cast `round` leaves the exact one: N_div, the cast-margin model,
 * delayed divergence, sixty seconds at the corner, and the same on other games (docs/paper.md).
 *
 * The paper's N_div table comes from a reduced machine (VCS_BUS_REDUCED); its delayed divergences and its video from a
 * whole one, with reads over +-4 cells. What the paper calls reads per instruction and per-read exactness are counted
 * here as its program counts them, and as they are.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "paper/paper.h"
#include "core/state.h"
#include "diffvcs/relax.h"
#include "host/parallel.h"

static const char invaders[] = "space_invaders";

/* As sharp as doubles allow: the exact machine, in the same code. */
static vcs_relax_options_t exact_options(void) { return vcs_paper_relaxed(1000, 0.001); }

/* ---- The reduced machine --------------------------------------------------------------------------------------- */

static vcs_status_t reduced(const vcs_cart_t *cart, vcs_relax_options_t options, vcs_relax_t **relax,
                            vcs_error_t *error) {
  options.bus = VCS_BUS_REDUCED;
  options.single = 1;
  vcs_status_t status = vcs_relax_create(cart, &options, relax, error);
  if (status == VCS_OK) vcs_relax_load_reduced(*relax);
  return status;
}

/* The first instruction, counted from 1, after which the counter or RAM differ; 0: none of `steps`. */
static vcs_status_t first_difference(const vcs_cart_t *cart, double alpha, double temperature, int steps, int *first,
                                     vcs_error_t *error) {
  vcs_relax_t *soft = NULL, *hard = NULL;
  vcs_status_t status = reduced(cart, vcs_paper_relaxed(alpha, temperature), &soft, error);
  if (status == VCS_OK) status = reduced(cart, exact_options(), &hard, error);
  *first = 0;
  for (int i = 1; i <= steps && status == VCS_OK && !*first; i++) {
    vcs_relax_step(soft, NULL);
    vcs_relax_step(hard, NULL);
    const vcs_t *a = vcs_relax_machine(soft), *b = vcs_relax_machine(hard);
    if (a->pc != b->pc || memcmp(a->ram, b->ram, sizeof a->ram) != 0) *first = i;
  }
  vcs_relax_free(soft);
  vcs_relax_free(hard);
  return status;
}

/* ---- Margins --------------------------------------------------------------------------------------------------- */

/* What a run's casts look like: offsets of branches, and the cells around everything that was read. */
enum { AROUND = 4, SPAN = 2 * AROUND + 1 };

typedef struct {
  int around[SPAN]; /* cells, the middle one was read */
  bool opcode;
} read_t;

typedef struct {
  int steps, branches, reads;
  int offsets[256]; /* by size */
  read_t *list;
  int capacity;
  bool wrap;
  double length; /* mean bytes of an instruction that is no branch */
} margins_t;

static void note(void *context, const vcs_relax_value_t *value) {
  margins_t *margins = context;
  if (!value->cells) {
    margins->branches++;
    margins->offsets[abs(value->offset)]++;
    return;
  }
  if (margins->reads == margins->capacity) return;
  read_t *read = &margins->list[margins->reads++];
  read->opcode = value->address == value->pc;
  for (int k = -AROUND; k <= AROUND; k++) {
    int cell = value->index + k;
    bool beyond = cell < 0 || cell >= value->size;
    if (beyond && margins->wrap) cell = (cell + value->size) % value->size;
    read->around[k + AROUND] = beyond && !margins->wrap ? -1 : value->cells[cell];
  }
}

static bool start_margins(margins_t *margins, int capacity) {
  memset(margins, 0, sizeof *margins);
  margins->wrap = true;
  margins->capacity = capacity;
  margins->list = malloc(sizeof *margins->list * (size_t)capacity);
  return margins->list != NULL;
}

/* The reduced machine's trace. Lengths are differences of counters, as the paper's program has them. */
static vcs_status_t reduced_margins(const vcs_cart_t *cart, int steps, margins_t *margins, vcs_error_t *error) {
  vcs_relax_t *hard = NULL;
  if (!start_margins(margins, 8 * steps)) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_status_t status = reduced(cart, exact_options(), &hard, error);
  if (status) return status;
  vcs_relax_watch(hard, note, margins);
  int bytes = 0, counted = 0;
  for (int i = 0; i < steps; i++) {
    const uint16_t before = vcs_relax_machine(hard)->pc;
    const int branches = margins->branches;
    vcs_relax_step(hard, NULL);
    const int moved = vcs_relax_machine(hard)->pc - before;
    if (margins->branches == branches && moved >= 1 && moved <= 3 && i + 1 < steps) {
      bytes += moved;
      counted++;
    }
  }
  margins->steps = steps;
  margins->length = counted ? (double)bytes / counted : 0;
  vcs_relax_free(hard);
  return VCS_OK;
}

static double p_branch(const margins_t *margins, double alpha) {
  const double threshold = 0.5 * (1 + exp(alpha));
  int right = 0;
  for (int i = 0; i < 256; i++) right += i < threshold ? margins->offsets[i] : 0;
  return margins->branches ? (double)right / margins->branches : 1;
}

static bool rounds_right(const read_t *read, double temperature) {
  double pull = 0, total = 0;
  for (int k = -AROUND; k <= AROUND; k++) {
    if (read->around[k + AROUND] < 0) continue;
    double weight = exp(-abs(k) / temperature);
    pull += weight * (read->around[k + AROUND] - read->around[AROUND]);
    total += weight;
  }
  return fabs(pull / total) < 0.5;
}

/* The share of reads that round correctly: of all reads, or of opcodes only, as the paper counts. */
static double p_read(const margins_t *margins, double temperature, bool opcodes_only) {
  int right = 0, all = 0;
  for (int i = 0; i < margins->reads; i++) {
    if (opcodes_only && !margins->list[i].opcode) continue;
    all++;
    right += rounds_right(&margins->list[i], temperature);
  }
  return all ? (double)right / all : 1;
}

static int largest_offset(const margins_t *margins) {
  int largest = 255;
  while (largest > 0 && !margins->offsets[largest]) largest--;
  return largest;
}

static double branch_share(const margins_t *margins) { return (double)margins->branches / margins->steps; }

static double p_step(const margins_t *margins, double alpha, double temperature) {
  return pow(p_read(margins, temperature, true), margins->length) *
         pow(p_branch(margins, alpha), branch_share(margins));
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* A relaxed run beside the exact one, from the same machine, without input. Frames are counted from 1. */
typedef struct {
  const vcs_paper_game_t *game;
  double alpha, temperature;
  int frames;      /* to run */
  bool whole;      /* reads are over the whole array instead of +-4 */
  int ram, screen; /* the first frame after which they differ; 0: none */
  int first_wrong; /* the frame of the first wrong value; 0: none */
  int over;        /* the frame after which the game is over; 0: not computed */
  uint64_t wrong_before_over;
  vcs_relax_report_t report;
} race_t;

static vcs_status_t run_race(race_t *race, bool to_the_end, vcs_error_t *error) {
  const vcs_cart_t *cart = race->game->rom.cart;
  const size_t size = vcs_state_size(cart);
  vcs_relax_options_t options = vcs_paper_relaxed(race->alpha, race->temperature);
  vcs_relax_t *relax = NULL;
  options.window = race->whole ? 0 : AROUND;
  options.wrap = !race->whole;
  vcs_status_t status = vcs_relax_create(cart, &options, &relax, error);
  if (status) return status;
  vcs_t *m = malloc(size);
  uint8_t *frames = calloc(2, VCS_FRAME_BYTES), *exact = calloc(2, VCS_FRAME_BYTES);
  const bool room = m && frames && exact;
  if (room) {
    memcpy(m, race->game->start, size);
    vcs_relax_load(relax, m);
  }
  for (int f = 1; f <= race->frames && room && !vcs_interrupted(); f++) {
    vcs_relax_frame(relax, frames);
    vcs_frame(cart, m, exact);
    const vcs_t *soft = vcs_relax_machine(relax);
    const vcs_relax_report_t *report = vcs_relax_report(relax);
    const bool same = memcmp(vcs_picture(soft, frames), vcs_picture(m, exact), VCS_FRAME_BYTES) == 0;
    if (!race->first_wrong && report->wrong_reads + report->wrong_branches) race->first_wrong = f;
    if (!race->ram && memcmp(soft->ram, m->ram, sizeof m->ram) != 0) race->ram = f;
    if (!race->screen && !same) race->screen = f;
    if (f == race->over) race->wrong_before_over = report->wrong_reads;
    if (race->ram && race->screen && !to_the_end) break;
  }
  race->report = *vcs_relax_report(relax);
  vcs_relax_free(relax);
  free(m);
  free(frames);
  free(exact);
  return room ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

/* Many races, on all cores. */
typedef struct {
  race_t *races;
  bool to_the_end;
  vcs_progress_t progress;
  pthread_mutex_t lock; /* of the first failure */
  vcs_status_t status;
  vcs_error_t error;
} races_t;

static bool run_one(void *context, size_t item, int worker) {
  races_t *all = context;
  vcs_error_t error = {""};
  (void)worker;
  vcs_status_t status = run_race(&all->races[item], all->to_the_end, &error);
  vcs_progress_add(&all->progress, 1);
  if (status == VCS_OK) return true;
  pthread_mutex_lock(&all->lock);
  all->status = status;
  all->error = error;
  pthread_mutex_unlock(&all->lock);
  return false;
}

static vcs_status_t run_races(const vcs_section_t *section, race_t *races, int count, bool to_the_end,
                              vcs_error_t *error) {
  races_t all = {.races = races, .to_the_end = to_the_end};
  pthread_mutex_init(&all.lock, NULL);
  vcs_progress_start(&all.progress, section->name, (uint64_t)count, VCS_PROGRESS_AUTO);
  vcs_parallel((size_t)count, (int)section->paper->threads, run_one, &all);
  vcs_progress_finish(&all.progress);
  pthread_mutex_destroy(&all.lock);
  if (all.status && error) *error = all.error;
  return all.status;
}

static const char *frame_text(int frame, char text[16]) {
  snprintf(text, 16, frame ? "%d" : "exact", frame);
  return text;
}

/* ---- N_div ----------------------------------------------------------------------------------------------------- */

typedef struct {
  double alpha, temperature;
  int first; /* as printed; 0: exact */
  double p_branch, p_read, p_step;
} ndiv_row_t;

static const ndiv_row_t ndiv_rows[] = {
    {2, 0.14, 7, 0.039, 1.000, 0.298},    {3, 0.14, 879, 0.953, 1.000, 0.982}, {4, 0.14, 1121, 0.988, 1.000, 0.996},
    {5, 0.14, 1216, 0.996, 1.000, 0.999}, {6, 0.14, 0, 1.000, 1.000, 1.000},   {6, 0.08, 0, 1.000, 1.000, 1.000},
    {6, 0.10, 0, 1.000, 1.000, 1.000},    {6, 0.12, 0, 1.000, 1.000, 1.000},   {6, 0.14, 0, 1.000, 1.000, 1.000},
    {6, 0.15, 803, 1.000, 0.981, 0.959},  {6, 0.18, 2, 1.000, 0.223, 0.039},   {6, 0.20, 2, 1.000, 0.144, 0.015}};
enum { NDIV_ROWS = sizeof ndiv_rows / sizeof *ndiv_rows, NDIV_STEPS = 3000, NDIV_FRAMES = 60 };

static bool same_digits(double a, double b) { return fabs(a - b) < 0.0005 + 1e-9; }

static void write_ndiv(vcs_section_t *section, const margins_t *margins, const int *first, const race_t *real) {
  vcs_table_begin(section,
                  "alpha|T|paper|reduced bus|verdict|real machine: first wrong value, instruction|RAM differs, frame");
  for (int i = 0; i < NDIV_ROWS; i++) {
    const ndiv_row_t *row = &ndiv_rows[i];
    char paper[16], ours[16], wrong[24] = "none", frame[16];
    if (real[i].first_wrong) snprintf(wrong, sizeof wrong, "%d", (int)real[i].report.first_wrong_instruction + 1);
    vcs_table_row(section, "%g|%.2f|%s|%s|%s|%s|%s", row->alpha, row->temperature, frame_text(row->first, paper),
                  frame_text(first[i], ours), vcs_verdict(section, first[i] == row->first), wrong,
                  frame_text(real[i].ram, frame));
  }
  vcs_table_end(section);
  vcs_table_begin(section, "alpha|T|p_branch|paper|p_read|paper|P_step|paper|verdict");
  for (int i = 0; i < NDIV_ROWS; i++) {
    const ndiv_row_t *row = &ndiv_rows[i];
    const double branch = p_branch(margins, row->alpha), read = p_read(margins, row->temperature, true);
    const double step = p_step(margins, row->alpha, row->temperature);
    const bool same =
        same_digits(branch, row->p_branch) && same_digits(read, row->p_read) && same_digits(step, row->p_step);
    vcs_table_row(section, "%g|%.2f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%s", row->alpha, row->temperature, branch,
                  row->p_branch, read, row->p_read, step, row->p_step, vcs_verdict(section, same));
  }
  vcs_table_end(section);
  vcs_table_begin(section, "what|paper|reduced bus|verdict");
  vcs_table_row(section, "rho|2.16|%.4f|%s", margins->length,
                vcs_verdict(section, fabs(margins->length - 2.16) < 0.005));
  vcs_table_row(section, "f_b|0.374|%.4f|%s", branch_share(margins),
                vcs_verdict(section, same_digits(branch_share(margins), 0.374)));
  vcs_table_row(section, "largest offset|122|%d|%s", largest_offset(margins),
                vcs_verdict(section, largest_offset(margins) == 122));
  vcs_table_row(section, "reads per instruction, counted|-|%.4f|", (double)margins->reads / margins->steps);
  vcs_table_row(section, "p_read(0.15) over all reads|-|%.3f|", p_read(margins, 0.15, false));
  vcs_table_end(section);
}

/* The same with softmax dispatch over all 256 opcodes, as Theorem 2 has it: the first instruction after which the
 * counter, RAM or a register is another one. The paper does not run it. */
static vcs_status_t write_softmax(vcs_section_t *section, const vcs_paper_game_t *game, vcs_error_t *error) {
  static const double hot[] = {0.14, 0.12, 0.10, 0.08, 0.07, 0.06, 0.05, 0.02};
  const int rows = section->paper->quick ? 2 : sizeof hot / sizeof *hot, steps = section->paper->quick ? 20 : 1000;
  const size_t size = vcs_state_size(game->rom.cart);
  vcs_t *m = malloc(size);
  vcs_status_t status = m ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_section_say(section,
                  "With softmax dispatch, the whole machine from power-on, alpha = 6, every value rounded, %d "
                  "instructions. The blend adds %g e^(-1/T) of other opcodes' counters, whose range is 65536, so that "
                  "the rounded counter is wrong unless T is below 0.06:",
                  steps, 255.0);
  vcs_table_begin(section, "T|first instruction after which something differs|weight of the named opcode");
  for (int i = 0; i < rows && m && status == VCS_OK; i++) {
    vcs_relax_options_t options = vcs_paper_relaxed(6, hot[i]);
    vcs_relax_t *relax = NULL;
    int first = 0;
    options.dispatch = VCS_DISPATCH_ONE_HOT;
    options.window = AROUND;
    status = vcs_relax_create(game->rom.cart, &options, &relax, error);
    if (status) break;
    vcs_step_t step = {0};
    memcpy(m, game->start, size);
    vcs_frame_begin(game->rom.cart, m);
    vcs_relax_load(relax, m);
    for (int n = 1; n <= steps && !first && !step.frame_over && !vcs_interrupted(); n++) {
      vcs_step(game->rom.cart, m, NULL, &step);
      vcs_relax_step(relax, NULL);
      const vcs_t *soft = vcs_relax_machine(relax);
      if (soft->pc != m->pc || soft->a != m->a || soft->x != m->x || soft->y != m->y || soft->p != m->p ||
          memcmp(soft->ram, m->ram, sizeof m->ram) != 0)
        first = n;
    }
    char text[16];
    vcs_table_row(section, "%.2f|%s|%.9f", hot[i], frame_text(first, text), 1 / (1 + 255 * exp(-1 / hot[i])));
    vcs_relax_free(relax);
  }
  vcs_table_end(section);
  free(m);
  return status;
}

/* "Just outside the bounds the forward fails on a game-dependent subset": 6,000 instructions of three games. */
static vcs_status_t write_outside(vcs_section_t *section, vcs_error_t *error) {
  static const struct {
    const char *game;
    double alpha, temperature;
    bool diverges; /* in the paper */
  } rows[] = {{"pong", 6, 0.14, false}, {"breakout", 6, 0.14, false}, {"space_invaders", 6, 0.14, false},
              {"pong", 5, 0.14, false}, {"breakout", 5, 0.14, false}, {"space_invaders", 5, 0.14, true},
              {"pong", 6, 0.15, true},  {"breakout", 6, 0.15, false}, {"space_invaders", 6, 0.15, true}};
  enum { ROWS = sizeof rows / sizeof *rows, STEPS = 6000 };
  vcs_section_say(section,
                  "Just outside the bounds, %d instructions on the reduced bus, hard dispatch, rounded:", STEPS);
  vcs_table_begin(section, "game|alpha|T|paper|ours: first difference|verdict");
  for (int i = 0; i < ROWS; i++) {
    vcs_paper_game_t game;
    int first = 0;
    vcs_status_t status = vcs_paper_game_open(section->paper, rows[i].game, VCS_PROFILE_XITARI, &game, error);
    if (status) return status;
    status = first_difference(game.rom.cart, rows[i].alpha, rows[i].temperature, STEPS, &first, error);
    vcs_paper_game_free(&game);
    if (status) return status;
    char text[24] = "none";
    if (first) snprintf(text, sizeof text, "instruction %d", first);
    vcs_table_row(section, "%s|%g|%g|%s|%s|%s", rows[i].game, rows[i].alpha, rows[i].temperature,
                  rows[i].diverges ? "diverges" : "exact", text,
                  vcs_verdict(section, (first != 0) == rows[i].diverges));
  }
  vcs_table_end(section);
  return VCS_OK;
}

vcs_status_t vcs_paper_ndiv(vcs_section_t *section, vcs_error_t *error) {
  vcs_paper_game_t game;
  margins_t margins = {0};
  int first[NDIV_ROWS];
  race_t real[NDIV_ROWS];
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  status = reduced_margins(game.rom.cart, NDIV_STEPS, &margins, error);
  for (int i = 0; i < NDIV_ROWS && status == VCS_OK; i++) {
    const race_t race = {.game = &game,
                         .alpha = ndiv_rows[i].alpha,
                         .temperature = ndiv_rows[i].temperature,
                         .frames = NDIV_FRAMES,
                         .whole = true};
    real[i] = race;
    status =
        first_difference(game.rom.cart, ndiv_rows[i].alpha, ndiv_rows[i].temperature, NDIV_STEPS, &first[i], error);
  }
  vcs_boot(game.rom.cart, game.start, NULL); /* the real machine's rows begin at power-on, too */
  vcs_control(game.rom.cart, game.start, &game.idle);
  if (status == VCS_OK) status = run_races(section, real, NDIV_ROWS, false, error);
  if (status == VCS_OK) {
    vcs_section_say(
        section,
        "Space Invaders, 3,000 instructions. The paper ran a reduced machine: a CPU whose bus below $1000 is "
        "128 cells, with no TIA, a timer that never ticks and 189 opcodes; `reduced bus` is that machine in our "
        "code (float, whole array). Nearly half of its 3,000 steps are one endless wait. `real machine` is the "
        "whole console from power-on, 60 frames.");
    vcs_section_assume(section,
                       "hard dispatch, every value rounded; reads in float over the whole array, its ends cut off "
                       "(the probabilities: +-4 cells, wrapping ends).");
    write_ndiv(section, &margins, first, real);
    status = write_softmax(section, &game, error);
    vcs_section_say(
        section,
        "The paper's rho is the mean length of the instructions that are no branches, and its p_read is over "
        "fetched opcodes only, +-4 cells; both are reproduced so. Counted reads are in the last rows.");
  }
  free(margins.list);
  vcs_paper_game_free(&game);
  return status == VCS_OK && !section->paper->quick ? write_outside(section, error) : status;
}

/* ---- P_step ---------------------------------------------------------------------------------------------------- */

enum { MAP_SIZE = 56 };

typedef struct {
  vcs_chart_t chart;
  double at[MAP_SIZE][MAP_SIZE]; /* row by T, column by alpha */
} map_t;

static void fill_map(const margins_t *margins, map_t *map) {
  const vcs_chart_t *c = &map->chart;
  for (int y = 0; y < MAP_SIZE; y++) {
    for (int x = 0; x < MAP_SIZE; x++) {
      map->at[y][x] = p_step(margins, c->x_from + (c->x_to - c->x_from) * (x + 0.5) / MAP_SIZE,
                             c->y_from + (c->y_to - c->y_from) * (y + 0.5) / MAP_SIZE);
    }
  }
}

/* The sides of cells between which the map passes a level. */
static void draw_contour(vcs_drawing_t *drawing, const map_t *map, double level, uint32_t colour) {
  const double wide = map->chart.width / MAP_SIZE, high = map->chart.height / MAP_SIZE;
  for (int y = 0; y < MAP_SIZE; y++) {
    for (int x = 0; x < MAP_SIZE; x++) {
      const double left = map->chart.left + x * wide, top = map->chart.top + (MAP_SIZE - 1 - y) * high;
      const bool here = map->at[y][x] >= level;
      if (x + 1 < MAP_SIZE && here != (map->at[y][x + 1] >= level))
        vcs_draw_line(drawing, left + wide, top, left + wide, top + high, 2, colour);
      if (y + 1 < MAP_SIZE && here != (map->at[y + 1][x] >= level))
        vcs_draw_line(drawing, left, top, left + wide, top, 2, colour);
    }
  }
}

static vcs_status_t draw_likelihood(vcs_section_t *section, const margins_t *margins, vcs_error_t *error) {
  map_t map = {
      .chart = {"P_step = p_read^rho p_branch^f_b", "alpha", "T", 50, 30, 430, 350, 1, 9, 0.06, 0.22, false, 8, 8}};
  const double wide = map.chart.width / MAP_SIZE, high = map.chart.height / MAP_SIZE;
  vcs_drawing_t *drawing = vcs_drawing_create(520, 430);
  if (!drawing) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  fill_map(margins, &map);
  vcs_chart_frame(drawing, &map.chart);
  for (int i = 0; i < MAP_SIZE * MAP_SIZE; i++) {
    const int x = i % MAP_SIZE, y = i / MAP_SIZE;
    vcs_draw_box(drawing, map.chart.left + x * wide, map.chart.top + (MAP_SIZE - 1 - y) * high, wide + 0.2, high + 0.2,
                 vcs_colour_heat(map.at[y][x]));
  }
  draw_contour(drawing, &map, 1 - 1e-12, 0x30C050);
  draw_contour(drawing, &map, 0.5, 0xFFFFFF);
  vcs_chart_dot(drawing, &map.chart, 6, 0.14, 0x00FFFF);
  return vcs_section_figure(section, drawing, "pstep",
                            "P_step of Space Invaders' reduced trace. Green: 1. White: 1/2. The dot: (6, 0.14).",
                            error);
}

/* Where the margins say that nothing goes wrong: from which alpha, in thousandths, and up to which T, in ten
 * thousandths. */
static int exact_alpha(const margins_t *margins) {
  int alpha = 1000;
  while (alpha < 9000 && p_branch(margins, alpha / 1000.0) < 1) alpha++;
  return alpha;
}

static int exact_temperature(const margins_t *margins) {
  int temperature = 2200;
  while (temperature > 1 && p_read(margins, temperature / 10000.0, true) < 1) temperature--;
  return temperature;
}

vcs_status_t vcs_paper_pstep(vcs_section_t *section, vcs_error_t *error) {
  vcs_paper_game_t game;
  margins_t margins = {0};
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  status = reduced_margins(game.rom.cart, NDIV_STEPS, &margins, error);
  if (status == VCS_OK) status = draw_likelihood(section, &margins, error);
  if (status == VCS_OK) {
    const double alpha = exact_alpha(&margins) / 1000.0, temperature = exact_temperature(&margins) / 10000.0;
    const double corner = p_step(&margins, 6, 0.14);
    vcs_section_assume(
        section, "the reduced bus, hard dispatch, rounding; reads of opcodes only, +-4 cells; independent casts.");
    vcs_table_begin(section, "edge|paper|ours|verdict");
    vcs_table_row(section, "p_branch = 1 from alpha|6 (of 2, 3, 4, 5, 6)|%.3f|%s", alpha,
                  vcs_verdict(section, alpha > 5 && alpha <= 6));
    vcs_table_row(section, "p_read = 1 up to T|0.14 (of 0.14, 0.15)|%.4f|%s", temperature,
                  vcs_verdict(section, temperature >= 0.14 && temperature < 0.15));
    vcs_table_row(section, "(6, 0.14): P_step|1.000|%.3f|%s", corner, vcs_verdict(section, corner == 1));
    vcs_table_end(section);
  }
  free(margins.list);
  vcs_paper_game_free(&game);
  return status;
}

/* ---- Thresholds ------------------------------------------------------------------------------------------------ */

/* The temperature from which a read of ROM rounds wrongly does not change while a game runs. By what is read: */
enum { OPCODE, OPERAND, DATA, KINDS };

typedef struct {
  uint32_t rom_size;
  uint8_t *seen; /* which kinds have read a byte of the image: a bit each */
  double lowest[KINDS];
} thresholds_t;

static void note_threshold(void *context, const vcs_relax_value_t *value) {
  thresholds_t *thresholds = context;
  if (!value->cells || (uint32_t)value->size != thresholds->rom_size) return;
  const int behind = (uint16_t)(value->address - value->pc), kind = behind == 0 ? OPCODE : behind <= 2 ? OPERAND : DATA;
  if (thresholds->seen[value->index] >> kind & 1) return;
  thresholds->seen[value->index] |= (uint8_t)(1 << kind);
  read_t read;
  for (int k = -AROUND; k <= AROUND; k++)
    read.around[k + AROUND] = value->cells[(value->index + k + value->size) % value->size];
  double *lowest = &thresholds->lowest[kind];
  if (rounds_right(&read, *lowest)) return;
  double right = 0.1;
  while (*lowest - right > 1e-6) {
    const double half = (right + *lowest) / 2;
    if (rounds_right(&read, half))
      right = half;
    else
      *lowest = half;
  }
}

static vcs_status_t find_thresholds(const vcs_paper_game_t *game, int frames, double lowest[KINDS],
                                    vcs_error_t *error) {
  const vcs_cart_t *cart = game->rom.cart;
  const vcs_relax_options_t options = exact_options();
  thresholds_t thresholds = {cart->rom_size, calloc(cart->rom_size, 1), {1, 1, 1}};
  vcs_relax_t *relax = NULL;
  vcs_status_t status = vcs_relax_create(cart, &options, &relax, error);
  if (status == VCS_OK && thresholds.seen) {
    vcs_relax_load(relax, game->start);
    vcs_relax_watch(relax, note_threshold, &thresholds);
    for (int f = 0; f < frames; f++) vcs_relax_frame(relax, NULL);
    memcpy(lowest, thresholds.lowest, sizeof thresholds.lowest);
  } else if (status == VCS_OK) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_relax_free(relax);
  free(thresholds.seen);
  return status;
}

/* ---- Delayed divergence ---------------------------------------------------------------------------------------- */

static void write_thresholds(vcs_section_t *section, const double lowest[KINDS]) {
  vcs_table_begin(section, "the lowest T at which a read of ROM rounds wrongly|paper|ours|verdict");
  vcs_table_row(section, "operands|0.1465|%.4f|%s", lowest[OPERAND],
                vcs_verdict(section, fabs(lowest[OPERAND] - 0.1465) < 0.00005));
  vcs_table_row(section, "opcodes|0.1465|%.4f|%s", lowest[OPCODE],
                vcs_verdict(section, fabs(lowest[OPCODE] - 0.1465) < 0.00005));
  vcs_table_row(section, "data|-|%.4f|", lowest[DATA]);
  vcs_table_end(section);
}

vcs_status_t vcs_paper_delayed(vcs_section_t *section, vcs_error_t *error) {
  static const struct {
    double temperature;
    const char *paper;
    int expected; /* the paper's frame, or 0 */
  } rows[] = {{0.1448, "1", 1}, {0.1446, "194", 194}, {0.1444, "2365", 2365}, {0.1442, "2365", 2365}};
  enum { ROWS = 4, RACES = 2 * ROWS };
  const int frames = section->paper->quick ? 200 : 3000;
  vcs_paper_game_t game[2];
  race_t races[RACES];
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game[0], error);
  if (status) return status;
  status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_ALE, &game[1], error);
  double lowest[KINDS] = {0};
  if (status == VCS_OK) status = find_thresholds(&game[0], 600, lowest, error);
  if (status == VCS_OK) {
    int over[2];
    for (int i = 0; i < 2; i++) over[i] = vcs_paper_game_over(&game[i], frames);
    for (int i = 0; i < RACES; i++) {
      const race_t race = {.game = &game[i / ROWS],
                           .alpha = 20,
                           .temperature = rows[i % ROWS].temperature,
                           .frames = frames,
                           .over = over[i / ROWS]};
      races[i] = race;
    }
    status = run_races(section, races, RACES, true, error);
    vcs_paper_game_free(&game[1]);
  }
  vcs_paper_game_free(&game[0]);
  if (status) return status;
  vcs_section_say(
      section,
      "Space Invaders, alpha = 20, from an exact boot, %d frames. The frame after which the screen or RAM differs from "
      "the exact run.",
      frames);
  vcs_section_assume(section,
                     "the whole machine, hard dispatch, every value rounded, reads over +-4 cells with wrapping ends, "
                     "NOOP.");
  vcs_table_begin(
      section,
      "profile|T|paper: screen differs, frame|screen differs|RAM differs|verdict|wrong reads|game over, frame|"
      "wrong reads until then");
  for (int i = 0; i < RACES; i++) {
    const race_t *race = &races[i];
    char screen[16], ram[16], end[32] = "-|-";
    const int expected = rows[i % ROWS].expected <= frames ? rows[i % ROWS].expected : 0;
    if (race->over) snprintf(end, sizeof end, "%d|%d", race->over, (int)race->wrong_before_over);
    vcs_table_row(section, "%s|%.4f|%s|%s|%s|%s|%d|%s", i / ROWS ? "ale" : "xitari", race->temperature,
                  rows[i % ROWS].paper, frame_text(race->screen, screen), frame_text(race->ram, ram),
                  vcs_verdict(section, race->screen == expected), (int)race->report.wrong_reads, end);
  }
  vcs_table_end(section);
  vcs_section_say(section, "The first wrong read:");
  vcs_table_begin(section, "profile|T|frame|counter|address|exact|relaxed");
  for (int i = 0; i < RACES; i++) {
    const vcs_relax_value_t *wrong = &races[i].report.first_wrong;
    if (!races[i].first_wrong) continue;
    vcs_table_row(section, "%s|%.4f|%d|$%04X|$%02X|%d|%.6f", i / ROWS ? "ale" : "xitari", races[i].temperature,
                  races[i].first_wrong, wrong->pc, wrong->address, wrong->exact, wrong->relaxed);
  }
  vcs_table_end(section);
  write_thresholds(section, lowest);
  vcs_section_say(
      section,
      "The largest pull of a read is 510 q / (1 + q), q = exp(-1/T): a byte of 0 among bytes of 255, or the reverse. "
      "It "
      "reaches one half at T = %.5f, so that at 0.1442 and below no read can round wrongly, and the paper's 2365 at `T "
      "&lt;= 0.1444` cannot hold for all of them. A read that is wrong need not show: at 0.1444 hundreds are wrong and "
      "all "
      "of them masked until the game is over, where an environment stops; the machine itself goes on, into the attract "
      "mode.",
      1 / log(1019.0));
  return VCS_OK;
}

/* ---- The corner ------------------------------------------------------------------------------------------------ */

vcs_status_t vcs_paper_corner(vcs_section_t *section, vcs_error_t *error) {
  static const double settings[][2] = {{6, 0.14}, {5.5, 0.145}};
  const int frames = section->paper->quick ? 300 : 3600;
  vcs_paper_game_t game;
  race_t races[4];
  vcs_status_t status = vcs_paper_game_open(section->paper, invaders, VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  for (int i = 0; i < 4; i++) {
    const race_t race = {.game = &game,
                         .alpha = settings[i / 2][0],
                         .temperature = settings[i / 2][1],
                         .frames = frames,
                         .whole = i & 1};
    races[i] = race;
  }
  status = run_races(section, races, 4, true, error);
  vcs_paper_game_free(&game);
  if (status) return status;
  vcs_section_say(section, "Space Invaders, %d frames, relaxed from the first frame after an exact boot.", frames);
  vcs_section_assume(section,
                     "the whole machine, profile xitari, hard dispatch, every value rounded, NOOP (the game is over at "
                     "frame 2039, and the attract mode follows). With softmax dispatch (6, 0.14) differs at "
                     "instruction 1 (<a href=\"#ndiv\">N_div</a>).");
  vcs_table_begin(section,
                  "alpha|T|reads over|paper|screen differs, frame|RAM differs|verdict|wrong reads|wrong branches");
  for (int i = 0; i < 4; i++) {
    char screen[16], ram[16];
    const race_t *race = &races[i];
    vcs_table_row(section, "%g|%g|%s|%s|%s|%s|%s|%d|%d", race->alpha, race->temperature,
                  race->whole ? "whole array" : "+-4", i < 2 ? "exact" : "diverges", frame_text(race->screen, screen),
                  frame_text(race->ram, ram), vcs_verdict(section, (race->screen == 0) == (i < 2)),
                  (int)race->report.wrong_reads, (int)race->report.wrong_branches);
  }
  vcs_table_end(section);
  return VCS_OK;
}

/* ---- Other games ----------------------------------------------------------------------------------------------- */

static const double other_settings[][2] = {{6, 0.14},    {5.5, 0.145}, {5, 0.14},   {6, 0.15},
                                           {20, 0.1448}, {20, 0.1446}, {20, 0.1444}};
enum { GAMES_MAX = 64, SETTINGS = sizeof other_settings / sizeof *other_settings, TRACE_FRAMES = 4 };

/* Margins of the real machine, over some frames of the exact run. */
static vcs_status_t real_margins(const vcs_paper_game_t *game, margins_t *margins, vcs_error_t *error) {
  const vcs_relax_options_t options = exact_options();
  vcs_relax_t *relax = NULL;
  if (!start_margins(margins, TRACE_FRAMES * 8 * VCS_FRAME_INSTRUCTIONS))
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_status_t status = vcs_relax_create(game->rom.cart, &options, &relax, error);
  if (status) return status;
  vcs_relax_load(relax, game->start);
  for (int f = 0; f < 60; f++) vcs_relax_frame(relax, NULL);
  const int before = (int)vcs_relax_report(relax)->instructions;
  vcs_relax_watch(relax, note, margins);
  for (int f = 0; f < TRACE_FRAMES; f++) vcs_relax_frame(relax, NULL);
  margins->steps = (int)vcs_relax_report(relax)->instructions - before;
  vcs_relax_free(relax);
  return VCS_OK;
}

static vcs_status_t write_margins(vcs_section_t *section, const vcs_paper_game_t *games, int count,
                                  vcs_error_t *error) {
  vcs_table_begin(section,
                  "game|reads per instruction|f_b|largest offset|exact from alpha|p_branch(3)|p_branch(4)|p_branch(5)|"
                  "p_read(0.14)|p_read(0.15)|p_read(0.18)|p_read(0.20)|P_step(6, 0.15)");
  for (int i = 0; i < count; i++) {
    margins_t m = {0};
    vcs_status_t status = real_margins(&games[i], &m, error);
    if (status == VCS_OK) {
      const double rho = (double)m.reads / m.steps;
      vcs_table_row(section, "%s|%.3f|%.3f|%d|%.2f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f", games[i].rom.name, rho,
                    branch_share(&m), largest_offset(&m), log(2.0 * largest_offset(&m) - 1), p_branch(&m, 3),
                    p_branch(&m, 4), p_branch(&m, 5), p_read(&m, 0.14, false), p_read(&m, 0.15, false),
                    p_read(&m, 0.18, false), p_read(&m, 0.20, false), pow(p_read(&m, 0.15, false), rho));
    }
    free(m.list);
    if (status) return status;
  }
  vcs_table_end(section);
  return VCS_OK;
}

static void write_races(vcs_section_t *section, const vcs_paper_game_t *games, const race_t *races, int count) {
  vcs_text_t head = {0};
  vcs_text_printf(&head, "game");
  for (int s = 0; s < SETTINGS; s++) vcs_text_printf(&head, "|(%g, %g)", other_settings[s][0], other_settings[s][1]);
  vcs_table_begin(section, head.text ? head.text : "game");
  vcs_text_free(&head);
  for (int i = 0; i < count; i++) {
    char row[512];
    int length = snprintf(row, sizeof row, "%s", games[i].rom.name);
    for (int s = 0; s < SETTINGS; s++) {
      const race_t *race = &races[i * SETTINGS + s];
      const int wrong = (int)(race->report.wrong_reads + race->report.wrong_branches);
      if (race->ram)
        length += snprintf(row + length, sizeof row - (size_t)length, "|%d", race->ram);
      else
        length += snprintf(row + length, sizeof row - (size_t)length, wrong ? "|exact, %d masked" : "|exact", wrong);
    }
    vcs_table_row(section, "%s", row);
  }
  vcs_table_end(section);
}

static const char usual_games[] =
    "space_invaders,pong,breakout,ms_pacman,seaquest,qbert,beam_rider,asterix,freeway,riverraid,montezuma_revenge,"
    "elevator_action";

/* Opens the games that the list names; returns how many. */
static int open_games(const vcs_paper_t *paper, vcs_paper_game_t games[GAMES_MAX], vcs_status_t *status,
                      vcs_error_t *error) {
  const int most = paper->quick ? 2 : GAMES_MAX;
  int count = 0;
  *status = VCS_OK;
  for (const char *at = paper->games ? paper->games : usual_games; *at && count < most;) {
    char name[64];
    const size_t length = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    *status = vcs_paper_game_open(paper, name, VCS_PROFILE_XITARI, &games[count], error);
    if (*status) break;
    count++;
    at += length + (at[length] == ',');
  }
  return count;
}

vcs_status_t vcs_paper_games_table(vcs_section_t *section, vcs_error_t *error) {
  const int frames = section->paper->quick ? 60 : 3600;
  vcs_paper_game_t games[GAMES_MAX];
  vcs_status_t status;
  const int count = open_games(section->paper, games, &status, error);
  race_t *races = calloc((size_t)count * SETTINGS + 1, sizeof *races);
  if (status == VCS_OK && !races) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; i < count * SETTINGS && races; i++) {
    races[i].game = &games[i / SETTINGS];
    races[i].alpha = other_settings[i % SETTINGS][0];
    races[i].temperature = other_settings[i % SETTINGS][1];
    races[i].frames = frames;
  }
  if (status == VCS_OK) status = run_races(section, races, count * SETTINGS, false, error);
  if (status == VCS_OK && races && !vcs_interrupted()) {
    vcs_section_say(section,
                    "%d frames after an exact boot: the first frame after which RAM differs. `masked`: wrong values "
                    "that changed nothing. (6, 0.14) is exact by its margins: an offset of at most "
                    "128 needs alpha &gt;= ln 255 = 5.54, and no read can be pulled by 1/2 below T = 0.14437.",
                    frames);
    vcs_section_assume(section,
                       "the whole machine, profile xitari, hard dispatch, every value rounded, reads over +-4 cells "
                       "with wrapping ends, NOOP.");
    write_races(section, games, races, count);
    vcs_section_say(section,
                    "Cast margins of the same games, counted over %d frames (all reads, +-4 cells):", TRACE_FRAMES);
    status = write_margins(section, games, count, error);
    int exact = 0;
    for (int i = 0; i < count; i++) exact += !races[i * SETTINGS].ram;
    vcs_table_begin(section, "what|paper|ours|verdict");
    vcs_table_row(section, "games that are exact at (6, 0.14)|3 of 3|%d of %d|%s", exact, count,
                  vcs_verdict(section, exact == count));
    vcs_table_end(section);
  }
  for (int i = 0; i < count; i++) vcs_paper_game_free(&games[i]);
  free(races);
  return status;
}
