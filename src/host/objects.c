/* objects.c: frames that list their objects (diffvcs/objects.h).
 *
 * Most frames run on a TIA that sleeps (asleep.h). For the rest the core is compiled once more here, with a
 * TIA that draws and a call after each piece of a line that is drawn (core/record_beam.h). */
#include "core/record_beam.h"

#include <stdlib.h>

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

int32_t vcs_frame_objects(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames, vcs_object_t *objects, int32_t capacity) {
  vcs_recorder_t recorder;
  uint8_t aside[2 * VCS_FRAME_BYTES];
  if (!frames) frames = aside;
  vcs_recorder_make(&recorder, NULL);
  vcs_recorder_start(&recorder);
  if (vcs_asleep_frame(cart, m, frames, &recorder, NULL)) {
    vcs_recorder_finish(m, &recorder, cart->height);
  } else {
    vcs_recorder_start(&recorder);
    frame_beam(cart, m, frames, &recorder);
  }
  return vcs_recorder_list(&recorder, objects, capacity < VCS_OBJECTS_MAX ? capacity : VCS_OBJECTS_MAX);
}

vcs_recording_t *vcs_recording_create(void) {
  vcs_recording_t *recording = calloc(1, sizeof *recording);
  if (!recording) return NULL;
  vcs_recorder_make(&recording->recorder, &recording->memory);
  vcs_row_log_make(&recording->rows);
  return recording;
}

bool vcs_recording_frame(vcs_recording_t *recording, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_recorder_start(&recording->recorder);
  vcs_row_log_start(&recording->rows);
  recording->height = cart->height;
  recording->logged = vcs_asleep_frame(cart, m, frames, NULL, &recording->rows);
  if (!recording->logged || recording->rows.lost) recording->rows.valid = false; /* a row of the log may be in part */
  if (recording->logged) return !recording->rows.lost;
  frame_beam(cart, m, frames, &recording->recorder);
  return true;
}

int32_t vcs_recording_list(vcs_recording_t *recording, vcs_object_t *objects, int32_t capacity) {
  if (!recording->recorder.made) {
    if (recording->logged) vcs_recording_replay(recording);
    recording->rows.valid = recording->logged;
  }
  return vcs_recorder_list(&recording->recorder, objects, capacity < VCS_OBJECTS_MAX ? capacity : VCS_OBJECTS_MAX);
}
