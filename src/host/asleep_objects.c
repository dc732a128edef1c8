/* asleep_objects.c: frames on a TIA that sleeps that list their objects (core/objects.h).
 *
 * The core is compiled once more here, with calls after rows and pieces of rows are painted. So the ordinary machine
 * pays nothing. */
#include "core/objects.h"

static void row_painted(const void *rows, const vcs_t *m, const vcs_pixels_t *line, unsigned on, int from, int to);
static void row_cut(const void *rows, const vcs_t *m, int object, int x);
#define VCS_ROW_PAINTED(rows, m, line, on, from, to) row_painted(rows, m, line, on, from, to)
#define VCS_ROW_CUT(rows, m, object, x) row_cut(rows, m, object, x)
#include "host/asleep.h"
#include "host/asleep_run.h"

typedef struct {
  vcs_rows_t rows; /* first: the core has a pointer to it */
  vcs_recorder_t *recorder;
} recorded_rows_t;

static void row_painted(const void *rows, const vcs_t *m, const vcs_pixels_t *line, unsigned on, int from, int to) {
  const recorded_rows_t *recorded = rows;
  const int number = recorded->rows.number;
  vcs_recorder_t *r = recorded->recorder;
  vcs_record_piece(m, r, number, from, to, on, line, recorded->rows.comb[number], VCS_COMB_PIXELS);
  if (to < VCS_WIDTH) return;
  for (int i = 0; i < VCS_OBJECTS; i++) r->stances[i] = 0;
}

static void row_cut(const void *rows, const vcs_t *m, int object, int x) {
  const recorded_rows_t *recorded = rows;
  vcs_record_stance(m, recorded->recorder, object, x);
}

bool vcs_asleep_objects(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder) {
  recorded_rows_t rows;
  vcs_asleep_t asleep;
  rows.recorder = recorder;
  if (!frame_asleep(cart, m, frames, &rows.rows, &asleep)) return false;
  vcs_recorder_finish(recorder, rows.rows.number);
  return true;
}
