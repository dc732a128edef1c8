/* recording.h: frames of an environment whose objects are recorded (objects.c). */
#ifndef VCS_HOST_RECORDING_H
#define VCS_HOST_RECORDING_H

#include "core/objects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The objects of the last frame, and what the next one may reuse of them. Freed with free. */
typedef struct vcs_recording {
  vcs_object_t list[VCS_OBJECTS_MAX];
  vcs_recorder_t recorder;
  vcs_memory_t memory;
} vcs_recording_t;

vcs_recording_t *vcs_recording_create(void);

/* vcs_frame_objects, into `list`. */
int32_t vcs_recording_frame(vcs_recording_t *recording, const vcs_cart_t *cart, vcs_t *m, uint8_t *frames);

#ifdef __cplusplus
}
#endif

#endif
