/* record_beam.h: the core on a TIA that draws, with a recorder of objects (objects.h).
 *
 * A file that includes this before any other header of the core gets frames that record their objects if they run with
 * a vcs_recorded_video_t. */
#ifndef VCS_CORE_RECORD_BEAM_H
#define VCS_CORE_RECORD_BEAM_H

#include "state.h"

VCS_FN void vcs_record_cut(const vcs_t *m, void *video, int object, int x);
#define VCS_LINE_CUT(m, video, object, x) vcs_record_cut(m, video, object, x)
#include "objects.h"

typedef struct {
  vcs_video_t video; /* first: the core has a pointer to it */
  vcs_recorder_t *recorder;
} vcs_recorded_video_t;

VCS_FN void vcs_record_line(const vcs_t *m, vcs_video_t *video, int first, int to, bool same);
#ifndef VCS_LINE_DRAWN /* a file may have its own, which calls vcs_record_line, too */
#define VCS_LINE_DRAWN(m, video, first, to, same) vcs_record_line(m, video, first, to, same)
#endif
#include "console.h"

/* An object is about to change at pixel x of the line. */
VCS_FN void vcs_record_cut(const vcs_t *m, void *video, int object, int x) {
  vcs_record_stance(m, ((vcs_recorded_video_t *)video)->recorder, object, x);
}

/* Clocks [first, to) of a line have been drawn; `same`: it is a copy of the one above it, before HMOVE blanks a part.
 */
VCS_FN void vcs_record_line(const vcs_t *m, vcs_video_t *video, int first, int to, bool same) {
  vcs_recorder_t *recorder = ((vcs_recorded_video_t *)(void *)video)->recorder;
  const int y = m->line - m->first_line;
  const unsigned on = m->vblank & 2 ? 0 : video->lit;
  const int blank = m->hmove_blank ? vcs_tia_blank_from(m, first, to) : (int)VCS_COMB_END;
  if (same && recorder->whole && blank == VCS_COMB_END) return;
  if (to - first == VCS_WIDTH) {
    vcs_record_row(m, recorder, y, on, VCS_ALL_OBJECTS | VCS_LOOK, video->line, NULL, blank - VCS_HBLANK_CLOCKS);
  } else {
    const int x0 = first - VCS_HBLANK_CLOCKS, x1 = to - VCS_HBLANK_CLOCKS;
    vcs_record_piece(m, recorder, y, x0, on, video->line, blank - VCS_HBLANK_CLOCKS);
    vcs_row_collect(m, recorder, x0, x1, on, video->line, NULL, blank - VCS_HBLANK_CLOCKS);
  }
  if (to == VCS_LINE_CLOCKS) vcs_record_row_end(m, recorder);
}

/* The frame is over. */
VCS_FN void vcs_record_beam_finish(const vcs_t *m, vcs_recorder_t *recorder) {
  vcs_recorder_finish(m, recorder, m->line - m->first_line + (m->line_clock > VCS_HBLANK_CLOCKS));
}

#endif
