/* record_rows.c: the functions of core/rows.h that paint, with a recorder of objects (core/objects.h).
 *
 * A frame whose objects are recorded runs on the same TIA that sleeps as any other (asleep.c); only what ends its rows
 * and what cuts them comes from here.
 *
 * A row is painted in pieces where colours change. An object that changes in it has one mask for the whole row when it
 * is complete, so that what is lit is collected only then. Only an object that changes together with the look (CTRLPF)
 * has another one for each piece.
 */
#include "core/objects.h"

struct vcs_rows;
VCS_HOT_FN void painted(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line,
                        const vcs_layers_t *layers, int from, int x);
VCS_SLOW_FN void darkened(const struct vcs_rows *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int from,
                          int x);
VCS_HOT_FN void copied(const struct vcs_rows *rows, const vcs_t *m, const vcs_pixels_t *line);
#define VCS_ROW_PAINTED(rows, m, line, layers, from, x) painted(rows, m, line, layers, from, x)
#define VCS_ROW_DARK(rows, m, video, on, from, x) darkened(rows, m, video, on, from, x)
#define VCS_ROW_COPIED(rows, m, line) copied(rows, m, line)
#define VCS_ROW_LOOK(rows, m, changed) \
  (rows)->recorder->changing = ((changed)&VCS_ALL_OBJECTS) != 0 || ((m)->ctrlpf & 6) == 6
#define VCS_ROW_CUT(rows, m, object, x) vcs_record_stance(m, (rows)->recorder, object, x)
#include "core/rows.h"

#include "host/asleep.h"

/* Pixels [from, x) of the row are painted. */
VCS_HOT_FN void painted(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line, const vcs_layers_t *layers,
                        int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  const int y = rows->number, blank = rows->comb[y];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, VCS_ALL_OBJECTS, rows->dirty | rows->split, line, layers, blank);
  } else {
    vcs_record_piece(m, r, y, from, VCS_ALL_OBJECTS, line, blank);
    if (x == VCS_WIDTH || r->changing) vcs_row_collect(m, r, r->row.collected, x, VCS_ALL_OBJECTS, line, layers, blank);
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

/* They are blank. */
VCS_SLOW_FN void darkened(const vcs_rows_t *rows, const vcs_t *m, vcs_video_t *video, unsigned on, int from, int x) {
  vcs_recorder_t *r = rows->recorder;
  const int y = rows->number, blank = rows->comb[y];
  if (x - from == VCS_WIDTH) {
    vcs_record_row(m, r, y, 0, VCS_ALL_OBJECTS, video->line, NULL, blank);
  } else {
    if (vcs_row_waits(r, from)) {
      vcs_pixels_t now[VCS_OBJECTS];
      vcs_rows_gather(rows, m, video, on, now);
      vcs_row_collect(m, r, r->row.collected, from, VCS_ALL_OBJECTS, video->line, NULL, blank);
      vcs_rows_let_go(rows, video, now);
    }
    vcs_record_piece(m, r, y, from, 0, video->line, blank);
    r->row.collected = (uint8_t)x;
  }
  if (x == VCS_WIDTH) vcs_record_row_end(m, r);
}

/* The row is a copy of the row above it. */
VCS_HOT_FN void copied(const vcs_rows_t *rows, const vcs_t *m, const vcs_pixels_t *line) {
  const int y = rows->number;
  if (rows->comb[y] == rows->comb[y - 1] || m->vblank & 2) return;
  vcs_record_row(m, rows->recorder, y, VCS_ALL_OBJECTS, 0, line, NULL, rows->comb[y]);
}

void vcs_record_rows(vcs_rows_t *rows, vcs_recorder_t *recorder) {
  rows->recorder = recorder;
  rows->always = VCS_ALL_OBJECTS | VCS_LOOK;
  vcs_rows_choose(rows);
}
