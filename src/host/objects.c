/* objects.c: frames that list their objects (diffvcs/objects.h), and identity over frames.
 *
 * Most frames run on a TIA that sleeps (asleep.h). For the rest the core is compiled once more here, with a
 * TIA that draws and a call after each piece of a line that is drawn (core/objects.h). */
#include "diffvcs/objects.h"

#include <stdlib.h>
#include <string.h>

#include "core/objects.h"

static void line_drawn(const vcs_t *m, vcs_video_t *video, int first, int to, bool same);
#define VCS_LINE_DRAWN(m, video, first, to, same) line_drawn(m, video, first, to, same)
#include "core/console.h"
#include "host/asleep.h"
#include "host/env.h"

typedef struct {
  vcs_video_t video; /* first: the core has a pointer to it */
  vcs_recorder_t *recorder;
} recorded_video_t;

static void line_drawn(const vcs_t *m, vcs_video_t *video, int first, int to, bool same) {
  if (same) return;
  const int blank = m->hmove_blank ? vcs_tia_blank_from(m, first, to) : (int)VCS_COMB_END;
  vcs_record_piece(m, ((recorded_video_t *)(void *)video)->recorder, m->line - m->first_line, first - VCS_HBLANK_CLOCKS,
                   to - VCS_HBLANK_CLOCKS, m->vblank & 2 ? 0 : video->lit, video->line, blank - VCS_HBLANK_CLOCKS,
                   VCS_COMB_PIXELS);
}

enum { ROWS = VCS_FRAME_BYTES / VCS_WIDTH };

static bool is_before(const vcs_object_t *a, const vcs_object_t *b) {
  return a->x != b->x ? a->x < b->x : a->kind < b->kind;
}

/* Puts objects in order of y, then of x and kind: the objects of each row get their places, then each row is sorted,
 * and last the objects go to their places. */
static void put_in_order(vcs_object_t *objects, int32_t count) {
  int32_t first[ROWS + 1] = {0}, end[ROWS], place[VCS_OBJECTS_MAX];
  for (int32_t i = 0; i < count; i++) first[objects[i].y + 1]++;
  for (int y = 0; y < ROWS; y++) {
    end[y] = first[y];
    first[y + 1] += first[y];
  }
  for (int32_t i = 0; i < count; i++) {
    const int y = objects[i].y;
    int32_t k = end[y]++;
    for (; k > first[y] && is_before(&objects[i], &objects[place[k - 1]]); k--) place[k] = place[k - 1];
    place[k] = i;
  }
  for (int32_t i = 0; i < count; i++) {
    if (place[i] == i) continue;
    const vcs_object_t object = objects[i];
    int32_t to = i, from;
    for (; (from = place[to]) != i; to = from) {
      objects[to] = objects[from];
      place[to] = to;
    }
    objects[to] = object;
    place[to] = to;
  }
}

/* Runs a frame on a TIA that draws. */
static void frame_beam(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder) {
  recorded_video_t video;
  video.recorder = recorder;
  vcs_video_start(&video.video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_cpu_run(cart, m, &video.video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, m, &video.video);
  vcs_recorder_finish(recorder, m->line - m->first_line + (m->line_clock > VCS_HBLANK_CLOCKS));
}

int32_t vcs_frame_objects(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_object_t *objects, int32_t capacity) {
  vcs_recorder_t recorder;
  uint8_t aside[2 * VCS_FRAME_BYTES];
  if (!frames) frames = aside;
  if (capacity > VCS_OBJECTS_MAX) capacity = VCS_OBJECTS_MAX;
  vcs_recorder_start(&recorder, objects, capacity);
  if (!vcs_asleep_frame(cart, m, frames, &recorder)) {
    vcs_recorder_start(&recorder, objects, capacity);
    frame_beam(cart, m, frames, &recorder);
  }
  put_in_order(objects, recorder.count < capacity ? recorder.count : capacity);
  return recorder.count;
}

/* ---- Identity over frames ------------------------------------------------------------------------------------ */

enum { FAR = 24 }; /* an object moves less than this between two frames in which it is drawn */

/* How far an object is from where another one was, or a number above FAR. */
static int distance(const vcs_object_t *was, const vcs_object_t *is) {
  if (was->kind != is->kind) return FAR + 1;
  const int dx = abs(2 * was->x + was->w - 2 * is->x - is->w) / 2,
            dy = abs(2 * was->y + was->h - 2 * is->y - is->h) / 2;
  const int size = (abs(was->w - is->w) + abs(was->h - is->h)) / 2;
  const int shape = was->pattern == is->pattern ? 0 : 2;
  if (was->kind == VCS_OBJECT_PLAYFIELD && was->pattern != is->pattern) return FAR + 1;
  return dx + dy + size + shape;
}

void vcs_objects_track(vcs_tracks_t *tracks, vcs_object_t *objects, int32_t count) {
  tracks->frame++;
  if (count > VCS_OBJECTS_MAX) count = VCS_OBJECTS_MAX;
  bool taken[VCS_OBJECTS_MAX] = {false};
  for (int32_t i = 0; i < count; i++) objects[i].id = 0;
  for (int near = 0; near <= FAR; near += 4) { /* the nearest first */
    for (int32_t i = 0; i < count; i++) {
      if (objects[i].id) continue;
      int32_t best = -1;
      int least = near + 1;
      for (int32_t k = 0; k < tracks->count; k++) {
        if (taken[k]) continue;
        const int d = distance(&tracks->track[k].object, &objects[i]);
        if (d < least) {
          least = d;
          best = k;
        }
      }
      if (best < 0) continue;
      taken[best] = true;
      objects[i].id = tracks->track[best].id;
      tracks->track[best].object = objects[i];
      tracks->track[best].frame = tracks->frame;
    }
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < tracks->count; k++) { /* forget what has not been drawn for some frames */
    if (tracks->frame - tracks->track[k].frame < VCS_TRACK_FRAMES) tracks->track[kept++] = tracks->track[k];
  }
  tracks->count = kept;
  for (int32_t i = 0; i < count; i++) {
    if (objects[i].id) continue;
    objects[i].id = ++tracks->next_id;
    if (tracks->count == VCS_OBJECTS_MAX) continue;
    tracks->track[tracks->count].id = objects[i].id;
    tracks->track[tracks->count].frame = tracks->frame;
    tracks->track[tracks->count++].object = objects[i];
  }
}
