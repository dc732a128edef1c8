/* score_table.h: the table that `diffvcs score` fills.
 *
 * Tab-separated text: a line that says how it was made, a line with the names of the columns, then a row for every
 * game, method, horizon and view (screen or RAM). `-` is a value that there is none of, such as the precision of an
 * estimate that is zero everywhere. A game is added with all its rows at once, so a table never has half of one.
 */
#ifndef VCS_CLI_SCORE_TABLE_H
#define VCS_CLI_SCORE_TABLE_H

#include "study/agreement.h"
#include "cli/common.h"

enum { VCS_VIEW_SCREEN, VCS_VIEW_RAM, VCS_VIEWS };

/* The beginning of a table; `made` tells the settings, and two tables with the same are one. */
void vcs_score_begin(vcs_text_t *table, const char *made);

/* Reads one. `made` NULL: any. VCS_BAD_FILE: it is no table, or one with other settings. */
vcs_status_t vcs_score_read(const char *path, const char *made, vcs_text_t *table, vcs_error_t *error);

bool vcs_score_has(const vcs_text_t *table, const char *game, const char *method);
void vcs_score_row(vcs_text_t *table, const char *game, const char *method, int horizon, int view,
                   const vcs_agreements_t *agreements);

/* Means over games by method and horizon, as Markdown. */
void vcs_score_summary(const vcs_text_t *table, vcs_text_t *out);

#endif
