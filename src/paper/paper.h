/* paper.h: the sections of `diffvcs paper`, and what they are written with.
 *
 * A section makes one table or figure of the paper, with our number beside each of the paper's and a verdict,
 * equal or different. What the paper does not claim gets no verdict: a check of our own holds or fails. It writes HTML
 * into its text, figures into the folder, and nothing else; paper.c keeps what it made under a key made of everything
 * it depends on, and puts the page together.
 */
#ifndef VCS_PAPER_H
#define VCS_PAPER_H

#include "cli/common.h"
#include "diffvcs/relax.h"
#include "plot/drawing.h"
#include "host/progress.h"

typedef struct {
  vcs_rom_options_t choice;
  const char *out, *records;
  const char *games; /* of the table `games`, with commas between them; NULL: twelve */
  bool quick;        /* the reduced version that tests run */
  int64_t threads;
} vcs_paper_t;

typedef struct {
  const vcs_paper_t *paper;
  const char *name;
  vcs_text_t html, tsv;
  int equal, different, fails; /* verdicts so far, and checks of our own that fail */
} vcs_section_t;

typedef vcs_status_t (*vcs_section_make_t)(vcs_section_t *section, vcs_error_t *error);

/* ---- Writing --------------------------------------------------------------------------------------------------- */

void vcs_section_say(vcs_section_t *section, const char *format, ...) VCS_PRINTF(2, 3); /* a paragraph */

/* What the section's numbers take for granted: which machine, which reads, which casts, which input. */
void vcs_section_assume(vcs_section_t *section, const char *format, ...) VCS_PRINTF(2, 3);

/* Tables: cells are separated by '|'. Rows go into the section's .tsv as well. A cell that begins with "equal",
 * "different", "holds" or "fails" is a verdict. */
void vcs_table_begin(vcs_section_t *section, const char *headings);
void vcs_table_row(vcs_section_t *section, const char *format, ...) VCS_PRINTF(2, 3);
void vcs_table_end(vcs_section_t *section);

/* "equal" or "different", counted: our number beside one that the paper prints. */
const char *vcs_verdict(vcs_section_t *section, bool equal);

/* "holds" or "fails": a claim of ours. */
const char *vcs_check(vcs_section_t *section, bool holds);

/* Writes figures/NAME.svg and .png, shows the latter, and frees the drawing, which may be NULL: out of memory. */
vcs_status_t vcs_section_figure(vcs_section_t *section, vcs_drawing_t *drawing, const char *name, const char *caption,
                                vcs_error_t *error);

/* ---- Games ----------------------------------------------------------------------------------------------------- */

/* A cartridge and the machine after its boot, with nothing held: where runs begin. */
typedef struct {
  vcs_rom_t rom;
  vcs_t *start;
  vcs_controls_t idle;
} vcs_paper_game_t;

/* The frame after which the game is over without input, among the next `most`; 0: none. An environment stops there; a
 * machine runs on. */
int vcs_paper_game_over(const vcs_paper_game_t *game, int most);

vcs_status_t vcs_paper_game_open(const vcs_paper_t *paper, const char *name, vcs_profile_t profile,
                                 vcs_paper_game_t *game, vcs_error_t *error);
void vcs_paper_game_free(vcs_paper_game_t *game);

/* Calls `work` for each of `count` items, on the threads of the paper. Returns the status of the first item that
 * failed, with its error. */
typedef vcs_status_t (*vcs_paper_work_t)(void *job, size_t item, vcs_error_t *error);
vcs_status_t vcs_paper_parallel(const vcs_section_t *section, size_t count, vcs_paper_work_t work, void *job,
                                vcs_error_t *error);

/* The defaults of the relaxed machine at these two settings. */
vcs_relax_options_t vcs_paper_relaxed(double alpha, double temperature);

enum { VCS_PAPER_GAMES = 64 };
extern const char *const vcs_paper_games[VCS_PAPER_GAMES]; /* the paper's, by their names here */

/* ---- Sections -------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_paper_conformance(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_throughput(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_gate(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_alpha(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_temperature(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_joystick(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_ndiv(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_pstep(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_delayed(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_corner(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_games_table(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_theorem1(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_theorem2(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_full(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_dispatch(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_video(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_settings(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_superchip(vcs_section_t *section, vcs_error_t *error);
vcs_status_t vcs_paper_counter(vcs_section_t *section, vcs_error_t *error);

#endif
