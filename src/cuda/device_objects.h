/* device_objects.h: the objects of the last frame of environments on a device (diffvcs/objects.h).
 *
 * A record with small pictures has the machines before its last three frames (device_batch.h). Objects are found by
 * running the last frame a second time, with a recorder; steps do no work for them. This is host and device code:
 * engine_objects.c runs it on the CPU, objects.cu on a GPU. Both are separate files, because in them the core is
 * compiled with a call after each piece of a line.
 */
#ifndef VCS_CUDA_DEVICE_OBJECTS_H
#define VCS_CUDA_DEVICE_OBJECTS_H

#include <assert.h>
#include <stdalign.h>

#include "../core/record_beam.h"
#include "device_batch.h"

/* The memory for one frame; the machine follows it. A device copies machines and paints rows in units of 16 bytes,
 * which must be aligned. */
typedef struct {
  alignas(16) uint64_t frames[2 * VCS_FRAME_BYTES / 8];
  vcs_recorder_t recorder;
  vcs_object_t list[VCS_OBJECTS_MAX];
} vcs_objects_bench_t;

/* The layouts for which gcc and nvcc must agree. */
static_assert(sizeof(vcs_object_t) == 44, "an object has no padding");
static_assert(offsetof(vcs_objects_bench_t, recorder) == 2 * VCS_FRAME_BYTES, "the recorder follows the picture");
static_assert(sizeof(vcs_objects_bench_t) % 16 == 0, "the machine behind a bench is aligned");

/* Returns the distance between two benches in bytes. */
VCS_FN size_t vcs_objects_bench_bytes(const vcs_device_batch_view_t *batch) {
  return (sizeof(vcs_objects_bench_t) + batch->machine_bytes + 15) / 16 * 16;
}

/* Lists the objects of one environment: up to `capacity` of them from top to bottom, and their number. */
VCS_FN void vcs_device_env_objects(const vcs_device_batch_view_t *batch, int32_t number, vcs_objects_bench_t *bench,
                                   const vcs_device_batch_objects_t *out, unsigned lanes) {
  uint8_t *record = vcs_device_batch_record(batch, number);
  const vcs_device_env_t *env = (const vcs_device_env_t *)(const void *)record;
  const vcs_cart_t *cart = &batch->kinds[env->kind].cart;
  const int last = VCS_DEVICE_ENV_BEFORE + (env->before_next + 2) % 3;
  vcs_t *m = (vcs_t *)(void *)(bench + 1);
  vcs_recorded_video_t video;
  video.recorder = &bench->recorder;
  vcs_copy_machine(m, vcs_record_machine(batch, record, last), vcs_machine_size(cart));
  vcs_recorder_make(&bench->recorder, NULL);
  vcs_recorder_start(&bench->recorder);
  vcs_frame_together(cart, m, &video.video, (uint8_t *)bench->frames, true, lanes);
  vcs_record_beam_finish(m, &bench->recorder);
  const int32_t count = vcs_recorder_list(&bench->recorder, bench->list, VCS_OBJECTS_MAX);
  for (int32_t i = 0; i < count && i < out->capacity && i < VCS_OBJECTS_MAX; i++) {
    out->objects[(size_t)number * (size_t)out->capacity + (size_t)i] = bench->list[i];
  }
  out->counts[number] = count;
}

#endif
