/* device_batch_api.c: vcs_batch_* on a device, implemented by a device batch.
 *
 * batch.c checks the arguments that the CPU and devices have in common; this file checks the others. Options that a
 * device does not support are refused with a message that names an alternative. A state is an environment's record
 * followed by its stack from the caller's observations.
 */
#include <stdint.h>
#include <stdlib.h>

#include "cuda/engine.h"
#include "host/batch.h"
#include "host/files.h"
#include "host/os.h"
#include "host/save.h"

/* ---- Options ------------------------------------------------------------------------------------------ */

static bool draws(const vcs_batch_options_t *o) { return o->width > 0 || o->height > 0 || o->stack > 0; }

/* Checks the options that have only one value on a device. */
static vcs_status_t check_options(const vcs_batch_options_t *o, vcs_error_t *error) {
  const struct {
    const char *name;
    int32_t value, needed;
    const char *reason;
  } fixed[] = {
      {"sound", o->sound, 0, "there is no sound there"},
      {"batch_size", o->batch_size ? o->batch_size : o->envs, o->envs, "steps there are of all environments"},
      {"stack_in_place", !draws(o) || o->stack_in_place, 1, "stacks lie in the caller's observations there"},
  };
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    if (fixed[i].value != fixed[i].needed) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "%s is %d, but on a device it is %d: %s. Use VCS_CPU for other values", fixed[i].name,
                            (int)fixed[i].value, (int)fixed[i].needed, fixed[i].reason);
    }
  }
  return VCS_OK;
}

static vcs_device_batch_options_t device_options(const vcs_batch_options_t *o) {
  return (vcs_device_batch_options_t){
      .envs = o->envs,
      .device = o->device,
      .frame_skip = o->frame_skip,
      .noop_max = o->noop_max,
      .max_episode_frames = o->max_episode_frames,
      .repeat_action_probability = o->repeat_action_probability,
      .shows = draws(o) ? VCS_DEVICE_BATCH_SHOWS_SMALL : VCS_DEVICE_BATCH_SHOWS_NOTHING,
      .max_pool = o->max_pool,
      .reward_clipping = o->reward_clipping,
      .fire_reset = o->fire_reset,
      .episodic_life = o->episodic_life,
      .life_loss_info = o->life_loss_info,
      .actions = o->full_action_space ? VCS_DEVICE_BATCH_ACTIONS_LEGAL : VCS_DEVICE_BATCH_ACTIONS_MINIMAL,
      .players = o->players,
      .autoreset = o->autoreset,
      .width = o->width,
      .height = o->height,
      .stack = o->stack,
      .rgb = o->rgb,
  };
}

/* Returns the default environments, the same as on the CPU. */
static vcs_batch_env_t *deal_out(int32_t envs, int32_t cart_count) {
  vcs_batch_env_t *dealt = malloc((size_t)envs * sizeof *dealt);
  for (int32_t i = 0; dealt && i < envs; i++) dealt[i] = (vcs_batch_env_t){i % cart_count, -1, -1, (uint32_t)i};
  return dealt;
}

vcs_status_t vcs_device_batch_api_create(const vcs_cart_t *const *carts, int32_t cart_count,
                                         const vcs_batch_env_t *envs, const vcs_batch_options_t *options,
                                         vcs_batch_t **out, vcs_error_t *error) {
  vcs_status_t status = check_options(options, error);
  if (status) return status;
  vcs_batch_t *batch = calloc(1, sizeof *batch);
  vcs_batch_env_t *dealt = envs ? NULL : deal_out(options->envs, cart_count);
  if (batch && (envs || dealt)) {
    const vcs_device_batch_options_t on_device = device_options(options);
    batch->options = *options;
    batch->options.batch_size = options->envs;
    batch->options.stack_in_place = draws(options);
    batch->picture_size = (size_t)options->width * (size_t)options->height * (options->rgb ? 3 : 1);
    status = vcs_device_batch_create(carts, cart_count, envs ? envs : dealt, &on_device, &batch->device_batch, error);
  } else {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  free(dealt);
  if (status) {
    free(batch);
    return status;
  }
  *out = batch;
  return VCS_OK;
}

void vcs_device_batch_api_free(vcs_batch_t *batch) {
  vcs_batch_wait(batch, NULL); /* queued work uses the memory */
  vcs_device_batch_free(batch->device_batch);
  free(batch);
}

int vcs_device_batch_api_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]) {
  const vcs_device_batch_kind_t *kind = &batch->device_batch->kinds[batch->device_batch->played[env]];
  for (int32_t i = 0; i < kind->meaning_count; i++) actions[i] = kind->meanings[i];
  return kind->meaning_count;
}

size_t vcs_device_batch_api_bytes(const vcs_batch_t *batch) { return vcs_device_batch_env_bytes(batch->device_batch); }

/* ---- Playing ---------------------------------------------------------------------------------------------------- */

void vcs_batch_set_stream(vcs_batch_t *batch, void *stream) { batch->stream = stream; }

vcs_status_t vcs_batch_wait(const vcs_batch_t *batch, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  return batch->device_batch ? vcs_device_batch_wait(batch->device_batch, batch->stream, error) : VCS_OK;
}

enum { ALIGNED = 16 }; /* bytes that a GPU's thread copies at a time */

static vcs_status_t check_aligned(const void *memory, const char *name, vcs_error_t *error) {
  if ((uintptr_t)memory % ALIGNED == 0) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "`%s` must be aligned to %d bytes on a device", name, ALIGNED);
}

/* Checks the results and keeps the address of the stacks. */
static vcs_status_t take_results(vcs_batch_t *batch, const vcs_batch_results_t **results, vcs_error_t *error) {
  static const vcs_batch_results_t nowhere;
  if (!*results) *results = &nowhere;
  vcs_status_t status = vcs_device_batch_check_results(batch->device_batch, *results, error);
  if (!status) status = check_aligned((*results)->observations, "observations", error);
  if (!status) status = check_aligned((*results)->final_observations, "final_observations", error);
  if (!status && batch->options.stack_in_place) batch->observations = (*results)->observations;
  return status;
}

vcs_status_t vcs_device_batch_api_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                        const vcs_batch_results_t *results, vcs_error_t *error) {
  vcs_status_t status = take_results(batch, &results, error);
  if (status) return status;
  const vcs_device_batch_resets_t resets = {.ids = ids, .seeds = seeds, .count = count};
  batch->started = true;
  return vcs_device_status(
      vcs_device_batch_engine(batch->device_batch)->reset(&batch->device_batch->view, &resets, results, batch->stream),
      error);
}

vcs_status_t vcs_device_batch_api_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                       const vcs_batch_results_t *results, vcs_error_t *error) {
  if (!batch->started) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch must be reset before its first step");
  if (!actions) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no actions were given");
  if (strengths) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a device has no strengths of actions: give NULL, or use VCS_CPU");
  }
  vcs_status_t status = take_results(batch, &results, error);
  return status ? status : vcs_device_batch_step(batch->device_batch, actions, results, batch->stream, error);
}

vcs_status_t vcs_device_batch_api_objects(vcs_batch_t *batch, vcs_object_t *objects, int32_t *counts, int32_t capacity,
                                          vcs_error_t *error) {
  const vcs_device_batch_t *device_batch = batch->device_batch;
  const vcs_device_batch_objects_t out = {objects, counts, capacity};
  if (!batch->started) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch must be reset before it has objects");
  if (device_batch->view.shows != VCS_DEVICE_BATCH_SHOWS_SMALL) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a device lists the objects of pictures only: create the batch with width, height and stack");
  }
  return vcs_device_status(vcs_device_batch_engine(device_batch)->objects(&device_batch->view, &out, batch->stream),
                           error);
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

size_t vcs_device_batch_api_state_size(const vcs_batch_t *batch) {
  const size_t size = batch->device_batch->view.record_bytes + batch->device_batch->view.observation_bytes;
  return (size + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static vcs_device_batch_copies_t copies(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states) {
  return (vcs_device_batch_copies_t){.ids = ids,
                                     .count = count,
                                     .states = states,
                                     .state_bytes = vcs_device_batch_api_state_size(batch),
                                     .observations = batch->observations};
}

vcs_status_t vcs_device_batch_api_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                       vcs_error_t *error) {
  const vcs_status_t status = check_aligned(states, "states", error);
  const vcs_device_batch_copies_t what = copies(batch, ids, count, states);
  return status
             ? status
             : vcs_device_status(
                   vcs_device_batch_engine(batch->device_batch)->copy(&batch->device_batch->view, &what, batch->stream),
                   error);
}

static bool is_below(int64_t value, int64_t limit) { return value >= 0 && value < limit; }

enum { PADDLE_LIMIT = 1 << 24, FRAMES_LIMIT = INT32_MAX - (1 << 20) }; /* far beyond those of a game */

/* Whether a step can continue from the head of a record: its numbers of frames, buffers, starts and actions exist. */
static bool head_is_possible(const vcs_device_env_t *head, const vcs_device_batch_kind_t *kind) {
  return is_below(head->action, VCS_ACTIONS) && is_below(head->paddle[0], PADDLE_LIMIT) &&
         is_below(head->paddle[1], PADDLE_LIMIT) && is_below(head->elapsed, FRAMES_LIMIT) &&
         is_below(head->frame_number, FRAMES_LIMIT) && is_below(head->episode_frame_number, FRAMES_LIMIT) &&
         head->start >= -1 && head->start < kind->start_count && head->covered <= VCS_COVERED_ENOUGH &&
         head->before_next < VCS_DRAW_HISTORY_BEFORE && head->exact <= 1 && head->shown[0] <= VCS_DEVICE_ENV_KEPT &&
         head->shown[1] <= VCS_DEVICE_ENV_KEPT && head->ending <= VCS_ENDING_ONTO &&
         head->ending_frame <= VCS_DEVICE_ENV_KEPT && head->ended <= 1;
}

static bool team_is_possible(const vcs_device_team_t *team) {
  for (int i = 0; i < VCS_DEVICE_OTHERS; i++) {
    if (!is_below(team->action[i], VCS_ACTIONS) || !is_below(team->wish[i], VCS_ACTIONS)) return false;
  }
  return is_below(team->far_paddle[0], PADDLE_LIMIT) && is_below(team->far_paddle[1], PADDLE_LIMIT);
}

/* Checks a record in the host's memory for an environment. */
static vcs_status_t check_record(const vcs_device_batch_t *batch, int32_t env, uint8_t *record, vcs_error_t *error) {
  const vcs_device_batch_view_t *view = &batch->view;
  const vcs_device_env_t *head = (const vcs_device_env_t *)(const void *)record;
  const int32_t kind = batch->played[env];
  if (head->kind != kind) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this is a state of another cartridge, mode or difficulty");
  }
  const int machines = view->shows == VCS_DEVICE_BATCH_SHOWS_SMALL ? VCS_DEVICE_ENV_MACHINES : 1;
  bool possible = head_is_possible(head, &batch->kinds[kind]);
  for (int i = 0; possible && i < machines; i++) {
    possible = vcs_machine_is_possible(batch->carts[kind], vcs_record_machine(view, record, i));
  }
  if (possible && view->players > 1) possible = team_is_possible(vcs_record_team(view, record));
  return possible ? VCS_OK : vcs_error_fill(error, VCS_BAD_ARGUMENT, "this state has values that no machine can have");
}

/* Checks states. The part of each state before its pictures is copied to the host for this. Ids out of range are
 * skipped, as in the copy itself. */
static vcs_status_t check_states(const vcs_batch_t *batch, const int32_t *ids, int32_t count, const uint8_t *states,
                                 vcs_error_t *error) {
  const vcs_device_batch_view_t *view = &batch->device_batch->view;
  const size_t size = vcs_device_batch_api_state_size(batch);
  const size_t checked = view->frames_at ? view->frames_at : view->record_bytes;
  const int32_t device = batch->options.device;
  int32_t *numbers = malloc((size_t)count * sizeof *numbers + 1);
  uint8_t *record = vcs_os_allocate_lines(checked);
  if (!numbers || !record) {
    free(numbers);
    vcs_os_free_lines(record);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_status_t status = vcs_batch_wait(batch, error);
  if (!status && ids) status = vcs_device_move(device, numbers, ids, (size_t)count * sizeof *numbers, error);
  for (int32_t i = 0; !status && i < count; i++) {
    const int32_t env = ids ? numbers[i] : i;
    if (!is_below(env, batch->options.envs)) continue;
    status = vcs_device_move(device, record, states + (size_t)i * size, checked, error);
    if (!status) status = check_record(batch->device_batch, env, record, error);
  }
  free(numbers);
  vcs_os_free_lines(record);
  return status;
}

vcs_status_t vcs_device_batch_api_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                          const vcs_batch_results_t *results, vcs_error_t *error) {
  vcs_status_t status = check_aligned(states, "states", error);
  if (!status) status = check_states(batch, ids, count, states, error);
  if (!status) status = take_results(batch, &results, error);
  if (status) return status;
  vcs_device_batch_copies_t what = copies(batch, ids, count, (void *)states); /* only read */
  what.restores = true;
  what.results = *results;
  return vcs_device_status(
      vcs_device_batch_engine(batch->device_batch)->copy(&batch->device_batch->view, &what, batch->stream), error);
}
