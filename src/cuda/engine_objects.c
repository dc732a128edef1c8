/* engine_objects.c: objects of environments on the CPU's engine (device_objects.h). */
#include "cuda/device_objects.h"

#include <stdlib.h>

#include "cuda/engine.h"
#include "host/parallel.h"

typedef struct {
  const vcs_device_batch_view_t *batch;
  const vcs_device_batch_objects_t *out;
} work_t;

static bool list(void *context, size_t item, int worker) {
  const work_t *work = context;
  vcs_objects_bench_t *bench = malloc(vcs_objects_bench_bytes(work->batch));
  (void)worker;
  if (bench) vcs_device_env_objects(work->batch, (int32_t)item, bench, work->out, VCS_THIS_LANE);
  free(bench);
  return bench;
}

const vcs_fault_t *vcs_engine_cpu_objects(const vcs_device_batch_view_t *batch, const vcs_device_batch_objects_t *out,
                                          void *stream) {
  const size_t count = (size_t)batch->count;
  (void)stream;
  return vcs_parallel(count, 0, list, &(work_t){batch, out}) == count ? NULL : &vcs_fault_no_memory;
}
