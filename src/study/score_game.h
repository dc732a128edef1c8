/* score_game.h: the text of the table of vcs_score_game, for the command and for Python.
 *
 * Tab-separated: a line that says how the table was made, a line with the names of the columns, then the rows.
 */
#ifndef VCS_STUDY_SCORE_GAME_H
#define VCS_STUDY_SCORE_GAME_H

#include "diffvcs/study.h"
#include "host/files.h"

enum { VCS_SCORE_STATES = 1000, VCS_SCORE_RAM_BITS = 1024, VCS_SCORE_ROM_BITS = 4096, VCS_SCORE_INPUTS = 5 };
enum { VCS_SCORE_FRAMES = 100000000, VCS_SCORE_PIXELS = 160 * 320 }; /* played first; all of a picture */

extern const char vcs_score_title[];   /* what the first line begins with; the settings follow */
extern const char vcs_score_columns[]; /* the second line */

/* The settings, as the first line of a table states them; and both lines. */
void vcs_score_settings(vcs_text_t *text, vcs_profile_t profile, const vcs_score_game_options_t *options);
void vcs_score_begin(vcs_text_t *table, const char *settings);

/* Adds a row. `frames` is what the method costs for one place, or one reverse pass, in frames of ale-py; NaN: not
 * measured. */
void vcs_score_row(vcs_text_t *table, const char *game, const char *method, const char *source, int horizon, int view,
                   const vcs_agreements_t *agreements, double frames);

#endif
