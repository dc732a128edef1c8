/* record_rows.c: the functions of core/rows.h that paint, with a recorder of objects (core/objects.h).
 *
 * A frame whose objects are recorded runs on the same TIA that sleeps as any other (asleep.c); only what ends its rows
 * and what cuts them comes from here. */
#include "core/objects.h"

struct vcs_rows;
VCS_HOT_FN void painted(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line,
                        const vcs_layers_t *layers, int from, int x);
static void copied(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line);
#define VCS_ROW_PAINTED(rows, m, line, layers, from, x) painted(rows, m, line, layers, from, x)
#define VCS_ROW_COPIED(rows, m, line) copied(rows, m, line)
#define VCS_ROW_CUT(rows, m, object, x) vcs_record_stance(m, (rows)->recorder, object, x)
#include "core/rows.h"

#include "host/asleep.h"

/* Pixels [from, x) of the row are painted; nothing is lit in them if `line` is NULL. */
VCS_HOT_FN void painted(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, const vcs_layers_t *layers,
                        int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  const unsigned on = line ? VCS_ALL_OBJECTS : 0;
  const int y = rows->number, blank = rows->comb[y];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, on, rows->dirty | rows->split, line, layers ? layers->word : NULL, blank);
  } else {
    vcs_record_piece(m, r, y, from, x, on, line, blank);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

/* The row is a copy of the row above it. */
static void copied(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line) {
  const int y = rows->number;
  if (rows->comb[y] == rows->comb[y - 1] || m->vblank & 2) return;
  vcs_record_row(m, rows->recorder, y, VCS_ALL_OBJECTS, 0, line, NULL, rows->comb[y]);
}

void vcs_record_rows(vcs_rows_t *rows, vcs_recorder_t *recorder) {
  rows->recorder = recorder;
  rows->end_rows = vcs_rows_end;
  rows->cut_row = vcs_rows_cut;
}
