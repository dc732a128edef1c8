/* objects.c: frames that list their objects (diffvcs/objects.h), and identity over frames.
 *
 * Most frames run on a TIA that sleeps (asleep.h). For the rest the core is compiled once more here, with a
 * TIA that draws and a call after each piece of a line that is drawn (core/record_beam.h). */
#include "core/record_beam.h"

#include <stdlib.h>
#include <string.h>

#include "host/asleep.h"
#include "host/env.h"
#include "host/recording.h"

/* Runs a frame on a TIA that draws. */
static void frame_beam(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder) {
  vcs_recorded_video_t video;
  video.recorder = recorder;
  vcs_video_start(&video.video, cart, frames);
  vcs_console_start_frame(cart, m);
  vcs_cpu_run(cart, m, &video.video, VCS_FRAME_INSTRUCTIONS);
  vcs_console_finish_frame(cart, m, &video.video);
  vcs_record_beam_finish(m, recorder);
}

/* Runs a frame with a recorder. */
static int32_t frame_recorded(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_recorder_t *recorder,
                              vcs_object_t *objects, int32_t capacity) {
  vcs_recorder_start(recorder, objects, capacity);
  if (vcs_asleep_frame(cart, m, frames, recorder)) {
    vcs_recorder_finish(m, recorder, cart->height);
  } else {
    vcs_recorder_start(recorder, objects, capacity);
    frame_beam(cart, m, frames, recorder);
  }
  return recorder->count;
}

int32_t vcs_frame_objects(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_object_t *objects, int32_t capacity) {
  vcs_recorder_t recorder;
  uint8_t aside[2 * VCS_FRAME_BYTES];
  if (!frames) frames = aside;
  if (capacity > VCS_OBJECTS_MAX) capacity = VCS_OBJECTS_MAX;
  vcs_recorder_make(&recorder, NULL);
  return frame_recorded(cart, m, frames, &recorder, objects, capacity);
}

vcs_recording_t *vcs_recording_create(void) {
  vcs_recording_t *recording = malloc(sizeof *recording);
  if (recording) vcs_recorder_make(&recording->recorder, &recording->memory);
  return recording;
}

int32_t vcs_recording_frame(vcs_recording_t *recording, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  return frame_recorded(cart, m, frames, &recording->recorder, recording->list, VCS_OBJECTS_MAX);
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

/* A slot of the table in which tracks are found that have the kind, box and shape of an object. */
enum { SLOTS = 2 * VCS_OBJECTS_MAX };
static uint32_t slot_of(const vcs_object_t *o) {
  const uint32_t place = (uint32_t)o->x | (uint32_t)o->y << 8 | (uint32_t)o->kind << 16;
  return ((place ^ o->pattern) * 0x9E3779B1u) >> 21;
}
_Static_assert(SLOTS == 1 << (32 - 21), "slot_of gives eleven bits");

static bool is_equal(const vcs_object_t *a, const vcs_object_t *b) {
  return a->x == b->x && a->y == b->y && a->w == b->w && a->h == b->h && a->kind == b->kind && a->pattern == b->pattern;
}

static void follow(vcs_tracks_t *tracks, int32_t k, vcs_object_t *object) {
  object->id = tracks->track[k].id;
  tracks->track[k].object = *object;
  tracks->track[k].frame = tracks->frame;
}

/* Objects that are as in one of the last frames, at the same place: most are. */
static void follow_equals(vcs_tracks_t *tracks, vcs_object_t *objects, int32_t count, bool *taken) {
  int16_t first[SLOTS], next[VCS_OBJECTS_MAX];
  memset(first, -1, sizeof first);
  for (int32_t k = tracks->count - 1; k >= 0; k--) {
    const uint32_t slot = slot_of(&tracks->track[k].object);
    next[k] = first[slot];
    first[slot] = (int16_t)k;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t k = first[slot_of(&objects[i])];
    while (k >= 0 && (taken[k] || !is_equal(&tracks->track[k].object, &objects[i]))) k = next[k];
    if (k < 0) continue;
    taken[k] = true;
    follow(tracks, k, &objects[i]);
  }
}

/* The numbers of what is left: of `count` things those that are not `done`. */
static int32_t list_left(const bool *done, int32_t count, int16_t *left) {
  int32_t n = 0;
  for (int32_t i = 0; i < count; i++) {
    if (!done[i]) left[n++] = (int16_t)i;
  }
  return n;
}

void vcs_objects_track(vcs_tracks_t *tracks, vcs_object_t *objects, int32_t count) {
  tracks->frame++;
  if (count > VCS_OBJECTS_MAX) count = VCS_OBJECTS_MAX;
  bool taken[VCS_OBJECTS_MAX] = {false}, found[VCS_OBJECTS_MAX];
  int16_t was[VCS_OBJECTS_MAX], is[VCS_OBJECTS_MAX];
  for (int32_t i = 0; i < count; i++) objects[i].id = 0;
  follow_equals(tracks, objects, count, taken);
  for (int32_t i = 0; i < count; i++) found[i] = objects[i].id != 0;
  const int32_t left = list_left(taken, tracks->count, was), moved = list_left(found, count, is);
  for (int near = 0; near <= FAR; near += 4) { /* the nearest first */
    for (int32_t i = 0; i < moved; i++) {
      vcs_object_t *object = &objects[is[i]];
      if (object->id) continue;
      int32_t best = -1;
      int least = near + 1;
      for (int32_t k = 0; k < left; k++) {
        if (taken[was[k]]) continue;
        const int d = distance(&tracks->track[was[k]].object, object);
        if (d < least) {
          least = d;
          best = was[k];
        }
      }
      if (best < 0) continue;
      taken[best] = true;
      follow(tracks, best, object);
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
