/* recording.h: frames of an environment whose objects are recorded (objects.c). */
#ifndef VCS_HOST_RECORDING_H
#define VCS_HOST_RECORDING_H

#include "host/row_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The last frame, and what may be reused of the last one that was listed. Freed with free. */
typedef struct vcs_recording {
  vcs_recorder_t recorder;
  vcs_memory_t memory;
  bool logged;    /* the last frame is in `rows`; otherwise a TIA that draws has recorded it */
  int32_t height; /* rows of the picture */
  vcs_row_log_t rows;
} vcs_recording_t;

vcs_recording_t *vcs_recording_create(void);

/* Runs a frame and records it. Returns false if it has more changes than are recorded. */
bool vcs_recording_frame(vcs_recording_t *recording, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

/* Lists the objects of that frame, as vcs_frame_objects does, and returns their number. */
int32_t vcs_recording_list(vcs_recording_t *recording, vcs_object_t *objects, int32_t capacity);

/* Passes the rows of the last frame to the recorder (replay_rows.c). */
void vcs_recording_replay(vcs_recording_t *recording);

#ifdef __cplusplus
}
#endif

#endif
