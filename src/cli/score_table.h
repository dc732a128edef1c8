/* score_table.h: the table that `diffvcs score` fills.
 *
 * The text of study/score_game.h: two lines, then a row for every game, method, source of bits, horizon and view
 * (screen or RAM). `-` is a missing value, such as the precision of an
 * estimate that is zero everywhere. All rows of a game and a method are added at once, so a table never has half of
 * them.
 */
#ifndef VCS_CLI_SCORE_TABLE_H
#define VCS_CLI_SCORE_TABLE_H

#include "cli/common.h"
#include "study/score_game.h"

/* Reads a table. `made` NULL: with any settings. VCS_BAD_FILE: it is not a table, or has other settings. */
vcs_status_t vcs_score_read(const char *path, const char *made, vcs_text_t *table, vcs_error_t *error);

/* Adds the rows of games and methods that the table's file does not have to it, and reads the file into `table`.
 * Another process may be adding rows to the same file: each locks it, reads it and writes it. A file that is missing or
 * empty becomes a table. */
vcs_status_t vcs_score_merge(const char *path, const char *made, const vcs_text_t *rows, vcs_text_t *table,
                             vcs_error_t *error);

bool vcs_score_has(const vcs_text_t *table, const char *game, const char *method);

/* Means over games by source, horizon and method, as Markdown. */
void vcs_score_summary(const vcs_text_t *table, vcs_text_t *out);

#endif
