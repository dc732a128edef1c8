/* tia_beam.h: a TIA that draws: what happens to the picture and the collisions when a register is about to change.
 *
 * tia.h includes either this file or tia_asleep.h, which defines the same functions, and calls them for each register.
 * The TIA that draws is for tapes, steps and GPUs, and on the host for frames that stop in the picture.
 */
#ifndef VCS_CORE_TIA_BEAM_H
#define VCS_CORE_TIA_BEAM_H

#include "tia_video.h"

/* Ends a line. */
VCS_FN void vcs_tia_end_line(vcs_t *m, vcs_video_t *video) {
  unsigned objects = vcs_tia_ending(m);
  m->line++;
  m->line_clock = 0;
  if (video->split) vcs_line_next(video);
  if (objects) {
    vcs_tia_renew(m);
    vcs_video_touch(video, objects);
  }
}

/* The first clock of [first, to) that a blank after HMOVE covers, or VCS_COMB_END: it covers the first eight pixels of
 * the line that it finds drawn up to `blank_clock`, or of the next one. */
VCS_FN int vcs_tia_blank_from(const vcs_t *m, int first, int to) {
  int since = m->blank_clock - VCS_LINE_CLOCKS * m->line;
  if (since > first) first = since;
  return first >= VCS_COMB_END || since >= to ? VCS_COMB_END : first;
}

/* Draws clocks [from, to) of the current line. A file that needs to know what is drawn defines VCS_LINE_DRAWN
 * (objects.h), which is called after each piece; `same` is true for a whole line that is a copy of the one above it. */
VCS_FN void vcs_tia_draw(vcs_t *m, vcs_video_t *video, int from, int to, uint8_t *row) {
  int first = from < VCS_HBLANK_CLOCKS ? VCS_HBLANK_CLOCKS : from;
  if (to > first) {
#ifdef VCS_LINE_DRAWN
    bool same = !video->changed && to - first == VCS_WIDTH && !(m->vblank & 2);
#endif
    vcs_line_draw(m, video, first - VCS_HBLANK_CLOCKS, to - VCS_HBLANK_CLOCKS, row);
#ifdef VCS_LINE_DRAWN
    VCS_LINE_DRAWN(m, video, first, to, same);
#endif
  }
  if (VCS_UNLIKELY(m->hmove_blank) && to > VCS_HBLANK_CLOCKS) {
    int blank = vcs_tia_blank_from(m, first, to);
    if (blank == VCS_COMB_END) return;
    if (row) {
      vcs_fill(row + blank - VCS_HBLANK_CLOCKS, 0, VCS_COMB_END - blank);
      video->changed |= VCS_LOOK;
    }
    if (to >= VCS_COMB_END) {
      m->hmove_blank = 0;
      if (m->blank_first >= VCS_LINE_CLOCKS * (m->line + 1)) m->blank_first = 0;
    }
  }
}

/* Where the beam's row is in the picture. */
VCS_FN uint8_t *vcs_tia_row(const vcs_t *m, const vcs_video_t *video) {
  return video->frames ? video->frames + m->front * VCS_FRAME_BYTES + VCS_WIDTH * (m->line - m->first_line) : NULL;
}

/* Draws all lines that end before `target`, a clock of the frame. A line drawn exactly to its end is closed only when
 * the beam goes on: a write at that clock still belongs to it. */
VCS_SLOW_FN void vcs_tia_draw_lines(vcs_t *m, vcs_video_t *video, int32_t target) {
  uint8_t *row = vcs_tia_row(m, video);
  for (int32_t left = target - VCS_LINE_CLOCKS * m->line; left > VCS_LINE_CLOCKS; left -= VCS_LINE_CLOCKS) {
    vcs_tia_draw(m, video, m->line_clock, VCS_LINE_CLOCKS, row);
    vcs_tia_end_line(m, video);
    if (row) row += VCS_WIDTH;
  }
}

VCS_FN void vcs_tia_close_lines(vcs_t *m, vcs_video_t *video, int32_t target) {
  if (target > VCS_LINE_CLOCKS * m->line + VCS_LINE_CLOCKS) vcs_tia_draw_lines(m, video, target);
}

/* Computes free_clock: a change up to this clock of the frame only marks its object, because the line shows nothing up
 * to there, or is already drawn. */
VCS_FN void vcs_tia_set_free(const vcs_t *m, vcs_video_t *video) {
  int32_t clock = m->vblank & 2                       ? VCS_LINE_CLOCKS
                  : m->line_clock > VCS_HBLANK_CLOCKS ? m->line_clock
                                                      : VCS_HBLANK_CLOCKS;
  video->free_clock = VCS_LINE_CLOCKS * m->line + clock;
}

/* Brings picture and collisions from the beam up to `target`, in clocks since the frame's first line, which is at least
 * a clock on. */
VCS_SLOW_FN void vcs_tia_advance(vcs_t *m, vcs_video_t *video, int32_t target) {
  vcs_tia_close_lines(m, video, target);
  int32_t to = target - VCS_LINE_CLOCKS * m->line;
  vcs_tia_draw(m, video, m->line_clock, (int)to, vcs_tia_row(m, video));
  m->line_clock = to;
  vcs_tia_set_free(m, video);
}

/* Keeps the registers with which the reference has drawn its last piece, before one of them changes. */
VCS_FN void vcs_tia_remember(const vcs_t *m, vcs_video_t *video) {
  if (video->before_clock == m->seen_clock) return;
  __builtin_memcpy(video->before, (const uint8_t *)m + VCS_LOOKS_FROM, VCS_LOOKS_SIZE);
  video->before_clock = m->seen_clock;
}

/* Exchanges the registers with those before the last change. */
VCS_FN void vcs_tia_swap_looks(vcs_t *m, vcs_video_t *video) {
  uint8_t *looks = (uint8_t *)m + VCS_LOOKS_FROM;
  for (int i = 0; i < VCS_LOOKS_SIZE; i++) {
    uint8_t kept = looks[i];
    looks[i] = video->before[i];
    video->before[i] = kept;
  }
}

/* An access at clock `target` of the frame. */
VCS_FN void vcs_tia_see(vcs_t *m, vcs_video_t *video, int32_t target) { vcs_tia_record(m, video, target); }

/* A read. */
VCS_FN void vcs_tia_glance(vcs_t *m, vcs_video_t *video) { vcs_tia_see(m, video, vcs_tia_since_frame(m)); }

/* Draws what the reference has drawn by now. */
VCS_SLOW_FN void vcs_tia_draw_seen(vcs_t *m, vcs_video_t *video) {
  if (m->seen_clock <= VCS_LINE_CLOCKS * m->line + m->line_clock) return;
  vcs_tia_advance(m, video, m->seen_clock);
  if (video->frames) vcs_tia_remember(m, video);
}

/* What the reference has done ahead of the beam: it has cut the blank after HMOVE, at the first access after it, if
 * that was before the line's first pixel, as many pixels as there are clocks to the eighth. And it has painted ahead
 * (tia_video.h) in its last piece, which began at the access before. */
VCS_SLOW_FN void vcs_tia_draw_ahead(vcs_t *m, const vcs_video_t *video) {
  int line_start = VCS_LINE_CLOCKS * m->line;
  int x = m->line_clock < VCS_HBLANK_CLOCKS ? 0 : m->line_clock - VCS_HBLANK_CLOCKS;
  if (m->blank_first > line_start) {
    int blanked = VCS_COMB_END - (m->blank_first - line_start);
    if (blanked >= VCS_COMB_PIXELS && x < blanked) vcs_fill(vcs_tia_row(m, video) + x, 0, blanked - x);
  }
  if (x & 3 && !(m->vblank & 2)) {
    int began = m->seen_before - line_start - VCS_HBLANK_CLOCKS;
    vcs_line_paint_ahead(m, vcs_objects_on(m), began < 0 ? 0 : began, x, vcs_tia_row(m, video));
  }
}

/* Draws everything that the reference shows by now, because the beam stops here. The registers may already have changed
 * at this very clock. */
VCS_SLOW_FN void vcs_tia_catch_up(vcs_t *m, vcs_video_t *video) {
  bool news = m->seen_clock > VCS_LINE_CLOCKS * m->line + m->line_clock;
  bool changed = video->before_clock == m->seen_clock;
  if (news) vcs_tia_advance(m, video, m->seen_clock);
  if (!video->frames || !(news || changed)) return;
  if (changed) vcs_tia_swap_looks(m, video);
  vcs_tia_draw_ahead(m, video);
  if (changed) vcs_tia_swap_looks(m, video);
}

/* Prepares a change of objects in the visible part of a line. The objects so far are kept, not drawn: the whole line is
 * drawn at once, later. */
VCS_SLOW_FN void vcs_tia_change_shown(vcs_t *m, vcs_video_t *video, unsigned objects) {
  vcs_tia_close_lines(m, video, m->seen_clock);
  vcs_tia_set_free(m, video);
  if (m->seen_clock <= video->free_clock) return;
  if (video->frames) {
    if (VCS_UNLIKELY((m->ctrlpf & 6) == 6)) { /* whether the score's colours show depends on which objects are on */
      vcs_tia_draw_seen(m, video);
      return;
    }
    vcs_tia_remember(m, video);
  }
  vcs_line_cut(m, video, objects, m->seen_clock - VCS_LINE_CLOCKS * m->line - VCS_HBLANK_CLOCKS);
}

/* Prepares a change of objects by a strobe, or by anything else that shows where a frame stops in the next few clocks.
 * With a picture, everything is drawn first. */
VCS_FN void vcs_tia_strobe(vcs_t *m, vcs_video_t *video, unsigned objects) {
  if (m->seen_clock > video->free_clock) {
    if (video->frames) {
      vcs_tia_catch_up(m, video);
    } else {
      vcs_tia_change_shown(m, video, objects);
    }
  }
  vcs_video_touch(video, objects);
}

/* Prepares a change of a colour or a priority, which are not objects. */
VCS_FN void vcs_tia_change_look(vcs_t *m, vcs_video_t *video) {
  if (!video->frames) return;
  if (m->seen_clock > video->free_clock) vcs_tia_draw_seen(m, video);
  video->changed |= VCS_LOOK;
}

/* Before an instruction that may make several accesses, and after an access. */
VCS_FN void vcs_tia_recall(vcs_t *m, vcs_video_t *video) { (void)m, (void)video; }
VCS_FN void vcs_tia_settle(const vcs_t *m, vcs_video_t *video) { (void)m, (void)video; }

/* CXCLR is about to clear the collisions. */
VCS_FN void vcs_tia_forget(vcs_t *m, vcs_video_t *video) {
  vcs_tia_draw_seen(m, video);
  video->changed |= VCS_ALL_OBJECTS;
}

#endif
