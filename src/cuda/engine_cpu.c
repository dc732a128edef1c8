/* engine_cpu.c: the engine of the CPU: it runs the code of device_batch.h for one environment after the other, on all
 * cores. An environment's results depend only on itself, so they equal a GPU's for any number of threads. */
#include <stdlib.h>
#include <string.h>

#include "cuda/truth.h"
#include "host/os.h"
#include "host/parallel.h"
#include "host/progress.h"

static const vcs_fault_t *use(int32_t gpu) {
  (void)gpu;
  return NULL;
}

static void turn_to(int32_t gpu) { (void)gpu; }

static const vcs_fault_t *allocate(size_t size, void **memory) {
  *memory = vcs_os_allocate_lines(size);
  return *memory ? NULL : &vcs_fault_no_memory;
}

static const vcs_fault_t *move(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
  return NULL;
}

static bool busy(void) { return false; }

static const vcs_fault_t *wait_for(void *stream) {
  (void)stream;
  return NULL;
}

/* ---- Observations --------------------------------------------------------------------------------------------- */

static void show_frame(const vcs_cart_t *cart, const uint8_t *picture, uint8_t *observation) {
  memcpy(observation, picture, (size_t)(VCS_WIDTH * cart->frame_height));
}

/* Colours frame `a` and pools it with another frame or, without one, with the picture that was shown last. */
static void pool(const vcs_device_batch_kind_t *kind, const uint8_t *a, const uint8_t *b, uint8_t *pooled) {
  const int channels = kind->small.channels;
  for (int i = 0; i < VCS_WIDTH * kind->cart.frame_height * channels; i++) {
    const uint8_t *byte = kind->small.byte[i % channels];
    const uint8_t first = byte[a[i / channels]], second = b ? byte[b[i / channels]] : pooled[i];
    pooled[i] = first > second ? first : second;
  }
}

/* Writes a stack with one more picture, a new one or the last one again; `to` may be the stack itself. */
static void push(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind, const uint8_t *pooled,
                 bool again, const uint8_t *stack, uint8_t *to) {
  const size_t size = batch->picture_bytes, last = batch->observation_bytes - size;
  memmove(to, stack + size, last);
  if (again) {
    memmove(to + last, stack + last, size);
    return;
  }
  for (size_t i = 0; i < size; i++) to[last + i] = vcs_small_byte(&kind->small, pooled, (int)i);
}

/* The picture of a step in which an episode ended: the last of the old episode. */
static void show_ending(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                        const vcs_device_env_t *env, const uint8_t *frames, uint8_t *pooled, const uint8_t *stack,
                        uint8_t *to) {
  const bool again = env->ending == VCS_ENDING_AGAIN;
  if (!again) pool(kind, frames + env->ending_frame * VCS_FRAME_BYTES, NULL, pooled);
  if (stack && to) push(batch, kind, pooled, again, stack, to);
}

static void show_small(const vcs_device_batch_view_t *batch, const vcs_device_batch_kind_t *kind,
                       const vcs_device_env_t *env, const uint8_t *frames, uint8_t *pooled, uint8_t *stack) {
  pool(kind, frames + env->shown[0] * VCS_FRAME_BYTES, frames + env->shown[1] * VCS_FRAME_BYTES, pooled);
  if (!stack) return;
  if (env->start >= 0) memset(stack, 0, batch->observation_bytes);
  push(batch, kind, pooled, false, stack, stack);
}

static void observe(const vcs_device_batch_view_t *batch, vcs_device_env_t *env, uint8_t *record, uint8_t *observation,
                    uint8_t *final) {
  const vcs_device_batch_kind_t *kind = &batch->kinds[env->kind];
  if (!batch->frames_at) return;
  uint8_t *frames = record + batch->frames_at, *pooled = record + batch->pooled_at;
  const bool begins = env->start >= 0, ends = env->ending != VCS_ENDING_NONE;
  if (ends) show_ending(batch, kind, env, frames, pooled, observation, begins ? final : observation);
  if (begins) {
    memcpy(frames, kind->starts + (size_t)env->start * batch->record_bytes + batch->frames_at,
           batch->record_bytes - batch->frames_at);
  }
  if (batch->shows == VCS_DEVICE_BATCH_SHOWS_FRAMES) {
    if (observation) show_frame(&kind->cart, frames + env->shown[0] * VCS_FRAME_BYTES, observation);
  } else if (begins || !ends) {
    show_small(batch, kind, env, frames, pooled, observation);
  }
  env->start = -1;
  env->ending = VCS_ENDING_NONE;
}

/* ---- Environments ------------------------------------------------------------------------------------------------ */

typedef struct {
  const vcs_device_batch_view_t *batch;
  const int32_t *actions;
  const vcs_batch_results_t *results;
  const vcs_device_batch_resets_t *resets; /* NULL: a step */
} work_t;

static bool work_on(void *context, size_t item, int worker) {
  const work_t *work = context;
  const int32_t number = work->resets && work->resets->ids ? work->resets->ids[item] : (int32_t)item;
  (void)worker;
  if (number < 0 || number >= work->batch->count) return true;
  uint8_t *record = vcs_device_batch_record(work->batch, number);
  vcs_device_env_t *env = (vcs_device_env_t *)(void *)record;
  vcs_t *m = vcs_record_machine(work->batch, record, VCS_DEVICE_ENV_NOW);
  if (work->resets) {
    vcs_device_env_reset(work->batch, work->resets, (int32_t)item, number, env, m, work->results);
  } else {
    vcs_device_env_step(work->batch, number, env, m, work->actions, work->results, VCS_THIS_LANE);
  }
  vcs_device_env_report(work->batch, number, env, m, work->results);
  uint8_t *observations = work->results->observations, *finals = work->results->final_observations;
  const size_t at = (size_t)number * work->batch->observation_bytes;
  observe(work->batch, env, record, observations ? observations + at : NULL, finals ? finals + at : NULL);
  return true;
}

/* Returns the reason why a parallel loop did not process all items. */
static const vcs_fault_t *stopped(void) {
  static const vcs_fault_t interrupted = {VCS_CANCELLED, "interrupted"};
  return vcs_interrupted() ? &interrupted : &vcs_fault_no_memory;
}

static const vcs_fault_t *work_on_all(const work_t *work) {
  const size_t count = (size_t)(work->resets ? work->resets->count : work->batch->count);
  return vcs_parallel(count, 0, work_on, (void *)work) == count ? NULL : stopped();
}

static const vcs_fault_t *deal(const vcs_device_batch_view_t *batch, const int32_t *kinds, const uint32_t *seeds) {
  for (int32_t i = 0; i < batch->count; i++) {
    memset(vcs_device_batch_record(batch, i), 0, batch->record_bytes);
    vcs_device_env_t *env = (vcs_device_env_t *)(void *)vcs_device_batch_record(batch, i);
    env->kind = kinds[i];
    env->random = vcs_device_env_random(seeds[i]);
    env->frame_number = batch->kinds[kinds[i]].loaded;
  }
  return NULL;
}

static const vcs_fault_t *reset(const vcs_device_batch_view_t *batch, const vcs_device_batch_resets_t *resets,
                                const vcs_batch_results_t *results, void *stream) {
  (void)stream;
  return work_on_all(&(work_t){batch, NULL, results, resets});
}

static const vcs_fault_t *step(const vcs_device_batch_view_t *batch, const int32_t *actions,
                               const vcs_batch_results_t *results, void *stream) {
  (void)stream;
  return work_on_all(&(work_t){batch, actions, results, NULL});
}

static const vcs_fault_t *copy(const vcs_device_batch_view_t *batch, const vcs_device_batch_copies_t *what,
                               void *stream) {
  const size_t seen = batch->observation_bytes;
  uint8_t *state = what->states;
  (void)stream;
  for (int32_t i = 0; i < what->count; i++, state += what->state_bytes) {
    const int32_t env = what->ids ? what->ids[i] : i;
    if (env < 0 || env >= batch->count) continue;
    uint8_t *record = vcs_device_batch_record(batch, env);
    uint8_t *stack = what->observations ? what->observations + (size_t)env * seen : NULL;
    memcpy(what->restores ? record : state, what->restores ? state : record, batch->record_bytes);
    if (stack) {
      uint8_t *kept = state + batch->record_bytes;
      memcpy(what->restores ? stack : kept, what->restores ? kept : stack, seen);
    }
    if (what->restores) {
      vcs_device_env_report(batch, env, (const vcs_device_env_t *)(const void *)record,
                            vcs_record_machine(batch, record, VCS_DEVICE_ENV_NOW), &what->results);
    }
  }
  return NULL;
}

/* ---- Exact effects ----------------------------------------------------------------------------------------------- */

static const vcs_fault_t *begin_truth(const vcs_truth_view_t *truth, const uint8_t *pictures) {
  static const size_t size = 2 * (size_t)VCS_FRAME_BYTES;
  for (int32_t i = 0; i < vcs_truth_runs(truth); i++) {
    memcpy(truth->frames + size * (size_t)i, pictures + size * (size_t)vcs_truth_base(truth, i), size);
  }
  for (uint32_t i = 0; i < truth->cart->rom_size; i++) {
    truth->image[i] = vcs_single_lane_code_of(truth->cart->code[i]);
  }
  return NULL;
}

static bool run_again(void *context, size_t item, int worker) {
  const vcs_truth_view_t *truth = context;
  const int32_t run = (int32_t)item;
  vcs_t *m = vcs_truth_machine(truth, run), *before = malloc(truth->machine_bytes), *tia = malloc(sizeof *tia);
  vcs_video_t video;
  const vcs_cpu_tia_pair_t pair = {tia, &video, truth->logs + item * VCS_LOG_SIZE, NULL, NULL};
  (void)worker;
  if (before && tia) {
    memcpy(before, m, truth->machine_bytes);
    vcs_truth_run(truth, run, m, &pair, before);
  }
  free(before);
  free(tia);
  return before && tia;
}

static bool compare(void *context, size_t item, int worker) {
  const vcs_truth_view_t *truth = context;
  const int32_t run = (int32_t)item, plain = vcs_truth_plain(truth, run);
  const int32_t pixels = VCS_WIDTH * truth->cart->frame_height;
  const vcs_t *m = vcs_truth_machine(truth, run), *base = vcs_truth_machine(truth, plain);
  const uint8_t *picture = vcs_truth_picture(truth, run), *of_base = vcs_truth_picture(truth, plain);
  (void)worker;
  truth->rows[item * (size_t)truth->horizon_count + (size_t)truth->horizon] =
      (vcs_truth_t){VCS_TRUTH_RAN,
                    vcs_count_different(picture, of_base, pixels, 0, 1),
                    vcs_count_different(m->ram, base->ram, 128, 0, 1),
                    0,
                    vcs_crc_of(picture, pixels),
                    vcs_crc_of(m->ram, 128)};
  return true;
}

static const vcs_fault_t *truth_of(const vcs_truth_view_t *truth) {
  const size_t runs = (size_t)vcs_truth_runs(truth);
  const bool done =
      vcs_parallel(runs, 0, run_again, (void *)truth) == runs && vcs_parallel(runs, 0, compare, (void *)truth) == runs;
  return done ? NULL : stopped();
}

static const vcs_fault_t *map(const vcs_truth_view_t *truth, bool ram, float *maps, int32_t first, int32_t count) {
  const size_t size = vcs_truth_map_size(truth, ram) * (size_t)truth->horizon_count;
  for (int32_t i = 0; i < count; i++) {
    float *here = maps + (size_t)i * size + (size_t)truth->horizon * vcs_truth_map_size(truth, ram);
    if (ram) {
      vcs_truth_map_ram(truth, first + i, here, 0, 1);
    } else {
      vcs_truth_map_pixels(truth, first + i, here, 0, 1);
    }
  }
  return NULL;
}

const vcs_engine_t vcs_engine_cpu = {
    use,  turn_to,  allocate, vcs_os_free_lines,     move, deal, reset, step, copy, begin_truth, truth_of, map, busy,
    move, wait_for, NULL,     vcs_engine_cpu_objects};
