/* batch.c: many environments on a pool of threads, with small pictures.
 *
 * A job is a place (an environment of the batch) and a command; a free thread takes the next job. The results of a
 * place depend only on itself, so they are the same for any number of threads. In a synchronous call the caller's
 * thread works too, and results are written directly to the caller's arrays; otherwise a receive copies them.
 *
 * Observations contain the last two frames of a step, so only those are drawn (draw_history.h).
 *
 * The end of an episode reproduces a peculiarity of the reference: a step that ends before its last frame repeats the
 * previous picture; one that ends with its last frame pools the frame before it with the whole previous picture. That
 * picture is no longer available then, so it is redrawn from the machines it was made from (`shown`).
 *
 * A seeded reset is a load and a reset, whose result is the same for all environments of a cartridge, mode and
 * difficulty: it is computed once and copied. A reset at the end of an episode is copied where that is exact
 * (restart.h), with most of the FIRE and no-ops that follow: otherwise it takes as long as twenty steps, and in a small
 * batch all threads wait for it.
 */
#include "host/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/files.h"
#include "host/os.h"
#include "host/parallel.h"
#include "options.h"

/* ---- Frames ------------------------------------------------------------------------------------------------- */

enum { NOW = 0, BEFORE = 1, SHOWN = BEFORE + VCS_DRAW_HISTORY_BEFORE };

static uint8_t *machine_at(const vcs_batch_place_t *place, int which) {
  return place->machines + (size_t)which * vcs_state_size(place->cart->cart);
}

static size_t frame_size(const vcs_batch_place_t *place) { return vcs_draw_history_size(place->cart->cart); }

/* Move a place's draw history to the worker's frames, and back to its own. Rows that are never drawn are black. */
static void load_draw_history(vcs_batch_place_t *place, vcs_worker_t *worker) {
  const vcs_cart_t *cart = place->cart->cart;
  place->worker = worker;
  place->env.draw_history.spare = worker->m;
  vcs_draw_history_move(&place->env.draw_history, cart, worker->frames);
  if (!place->env.draw_history.exact) vcs_draw_history_blacken(cart, worker->frames, cart->height);
  vcs_draw_history_blacken(cart, worker->again, cart->height);
}

static void store_draw_history(vcs_batch_place_t *place) {
  vcs_draw_history_move(&place->env.draw_history, place->cart->cart, place->own);
  place->worker = NULL;
}

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

/* Return the addresses of the next small picture, and of the previous one. */
static uint8_t *next_picture(const vcs_batch_t *batch, vcs_batch_place_t *place) {
  const size_t size = batch->picture_size;
  const int32_t stack = batch->options.stack;
  if (batch->options.stack_in_place) {
    memmove(place->stack, place->stack + size, (size_t)(stack - 1) * size);
    return place->stack + (size_t)(stack - 1) * size;
  }
  uint8_t *picture = place->stack + (size_t)place->stack_next * size;
  place->stack_next = (place->stack_next + 1) % stack;
  return picture;
}

static void show_again(const vcs_batch_t *batch, vcs_batch_place_t *place) {
  const size_t size = batch->picture_size;
  const int32_t stack = batch->options.stack;
  if (stack <= 1) return;
  uint8_t *to = next_picture(batch, place);
  if (batch->options.stack_in_place) {
    memcpy(to, to - size, size);
  } else {
    memcpy(to, place->stack + (size_t)((place->stack_next + 2 * stack - 2) % stack) * size, size);
  }
}

static void show(const vcs_batch_t *batch, vcs_batch_place_t *place, const uint8_t *const *rows) {
  vcs_resize_rows(place->cart->resize, rows, place->worker->scratch, next_picture(batch, place));
}

static uint8_t *kept_picture(const vcs_batch_place_t *place) { return place->own + 2 * VCS_FRAME_BYTES; }

static void keep_picture(const vcs_batch_t *batch, vcs_batch_place_t *place, const uint8_t *const *rows) {
  const size_t length = (size_t)(VCS_WIDTH * batch->channels);
  for (int y = 0; y < place->cart->cart->frame_height; y++)
    memcpy(kept_picture(place) + (size_t)y * length, rows[y], length);
  place->shown_kept = true;
}

static bool has_pictures(const vcs_batch_t *batch) { return batch->picture_size > 0; }

/* Whether frames are drawn: for observations, or to list their objects. */
static bool draws(const vcs_batch_t *batch, const vcs_batch_place_t *place) {
  return has_pictures(batch) || place->env.objects;
}

/* Shows the last frame, or the last two; `second` may be NULL. */
static void show_frames(const vcs_batch_t *batch, vcs_batch_place_t *place, const uint8_t *first,
                        const uint8_t *second) {
  vcs_worker_t *worker = place->worker;
  const uint8_t **rows = worker->rows[0];
  place->shown = second ? 2 : 1;
  place->shown_kept = false;
  if (!has_pictures(batch)) return;
  vcs_tint_pool(&place->cart->tint, first, second, place->cart->cart->frame_height, worker->picture[0], rows);
  show(batch, place, rows);
  if (place->env.draw_history.covered < place->shown) {
    keep_picture(batch, place, rows);
  } else {
    const vcs_cart_t *cart = place->cart->cart;
    for (int back = 0; back < place->shown; back++) {
      memcpy(machine_at(place, SHOWN + back), vcs_draw_history_before(&place->env.draw_history, cart, back),
             vcs_state_size(cart));
    }
  }
}

/* Redraws one of the frames of the last observation. */
static const uint8_t *draw_shown(vcs_batch_place_t *place, int back) {
  return vcs_draw_history_again(&place->env.draw_history, place->cart->cart, machine_at(place, SHOWN + back),
                                place->worker->again);
}

/* Shows a frame, pooled with the previous picture. */
static void show_onto(const vcs_batch_t *batch, vcs_batch_place_t *place, const uint8_t *frame) {
  vcs_worker_t *worker = place->worker;
  const int height = place->cart->cart->frame_height;
  const uint8_t **rows = worker->rows[0];
  if (place->shown_kept) {
    for (int y = 0; y < height; y++) rows[y] = kept_picture(place) + (size_t)y * (size_t)(VCS_WIDTH * batch->channels);
  } else {
    const uint8_t *second = place->shown == 2 ? draw_shown(place, 1) : NULL, *first = draw_shown(place, 0);
    vcs_tint_pool(&place->cart->tint, first, second, height, worker->picture[0], rows);
  }
  vcs_tint_pool_onto(&place->cart->tint, frame, rows, height, worker->picture[1], worker->rows[1]);
  show(batch, place, worker->rows[1]);
  if (batch->options.autoreset == VCS_AUTORESET_DISABLED) keep_picture(batch, place, worker->rows[1]);
}

/* ---- Episodes ----------------------------------------------------------------------------------------------- */

static bool episode_ended(const vcs_batch_t *batch, const vcs_batch_place_t *place) {
  const vcs_batch_options_t *o = &batch->options;
  return place->over || (o->max_episode_frames > 0 && place->elapsed >= o->max_episode_frames) ||
         (o->episodic_life && place->life_lost);
}

/* Lives of all players are kept in the place; a player who has fewer than before, but some, has lost a life. */
static bool has_lost_life(const vcs_batch_t *batch, const vcs_batch_place_t *place) {
  for (int32_t i = 0; i < vcs_batch_players(batch); i++) {
    const int32_t lives = vcs_env_player_lives(&place->env, i);
    if (lives < place->lives[i] && lives > 0) return true;
  }
  return false;
}

static void keep_lives(const vcs_batch_t *batch, vcs_batch_place_t *place) {
  for (int32_t i = 0; i < vcs_batch_players(batch); i++) place->lives[i] = vcs_env_player_lives(&place->env, i);
}

/* A frame with the actions of all players; adds their rewards. */
static void act(const vcs_batch_t *batch, vcs_batch_place_t *place, int64_t *rewards) {
  int32_t each[VCS_PLAYERS_MAX];
  const size_t first = (size_t)(place - batch->places) * (size_t)vcs_batch_players(batch);
  vcs_env_act_players(&place->env, batch->actions + first, batch->strengths + first, each);
  for (int32_t i = 0; i < vcs_batch_players(batch); i++) rewards[i] += each[i];
}

static int32_t reward_of(const vcs_batch_options_t *o, int64_t reward) {
  if (o->reward_clipping) return (int32_t)(reward < -1 ? -1 : reward > 1 ? 1 : reward);
  return (int32_t)(reward < INT32_MIN ? INT32_MIN : reward > INT32_MAX ? INT32_MAX : reward);
}

static void step(const vcs_batch_t *batch, vcs_batch_place_t *place) {
  const vcs_batch_options_t *o = &batch->options;
  const bool drawn = draws(batch, place), pools = has_pictures(batch) && o->max_pool && o->frame_skip > 1;
  const uint8_t *second = NULL;
  int64_t rewards[VCS_PLAYERS_MAX] = {0};
  int left = o->frame_skip;
  for (; left > 0; left--) {
    place->env.look = left <= (pools ? 2 : 1) && drawn ? VCS_LOOK_NOW : VCS_LOOK_LATER;
    place->env.pooled = left > 1;
    act(batch, place, rewards);
    place->over = vcs_env_over(&place->env);
    place->elapsed++;
    place->life_lost = has_lost_life(batch, place);
    if (episode_ended(batch, place)) break;
    if (left == 2 && pools) {
      second = place->env.draw_history.picture;
      if (place->env.draw_history.exact)
        second = memcpy(place->worker->kept, second, frame_size(place)); /* the last frame may continue in it */
    }
  }
  place->env.look = VCS_LOOK_LATER;
  place->env.pooled = false;
  if (left == 0) {
    show_frames(batch, place, place->env.draw_history.picture, second);
  } else if (second) {
    show_onto(batch, place, second);
  } else {
    show_again(batch, place);
  }
  keep_lives(batch, place);
  for (int32_t i = 0; i < vcs_batch_players(batch); i++) place->reward[i] = reward_of(o, rewards[i]);
  place->was_terminated = place->over || ((o->life_loss_info || o->episodic_life) && place->life_lost);
  place->was_truncated = !place->was_terminated && o->max_episode_frames > 0 && place->elapsed >= o->max_episode_frames;
}

/* Sets the state after loading and a first reset: copied, or computed if it depends on the seed. */
static void load(const vcs_kind_t *kind, vcs_batch_place_t *place, uint32_t seed) {
  if (kind->draws_numbers) {
    vcs_env_boot(&place->env, seed);
    vcs_env_begin(&place->env);
    return;
  }
  const vcs_batch_place_t *from = &kind->place;
  place->env.live = from->env.live;
  place->env.recorded = false;
  place->env.options.seed = seed;
  vcs_mt19937_start(&place->env.sticky_random, seed, 0);
  place->env.noop_random = place->env.sticky_random;
  memcpy(place->machines, from->machines, SHOWN * vcs_state_size(place->cart->cart));
  vcs_draw_history_t *history = &place->env.draw_history;
  const vcs_draw_history_t *source = &from->env.draw_history;
  history->exact = source->exact;
  history->drawn = source->exact; /* else `picture` is not of this place, and is drawn again when it is shown */
  history->covered = source->covered;
  history->before_next = source->before_next;
  if (history->exact) {
    memcpy(history->frames, source->frames, 2 * VCS_FRAME_BYTES);
    history->picture = history->frames + (source->picture - source->frames);
  }
}

static void start_episode(const vcs_batch_t *batch, vcs_batch_place_t *place, bool seeds) {
  if (seeds) {
    load(&batch->kinds[place->kind], place, (uint32_t)place->seed);
    vcs_env_open(&place->env);
  } else {
    vcs_restart_episode(batch->kinds[place->kind].restart, &place->env);
  }
  memset(place->stack, 0, (size_t)batch->options.stack * batch->picture_size);
  place->stack_next = 0;
  if (draws(batch, place)) vcs_draw_history_show(&place->env.draw_history, place->cart->cart);
  show_frames(batch, place, place->env.draw_history.picture, NULL);
  place->elapsed = 0;
  memset(place->reward, 0, sizeof place->reward);
  keep_lives(batch, place);
  place->over = place->life_lost = false;
}

/* ---- Results ------------------------------------------------------------------------------------------------ */

void vcs_place_copy_stack(const vcs_batch_t *batch, const vcs_batch_place_t *place, uint8_t *to) {
  const size_t size = batch->picture_size;
  const size_t first = (size_t)(batch->options.stack_in_place ? 0 : place->stack_next) * size;
  const size_t whole = (size_t)batch->options.stack * size;
  memcpy(to, place->stack + first, whole - first);
  memcpy(to + (whole - first), place->stack, first);
}

enum { RAM_BYTES = sizeof(((vcs_t *)0)->ram) };

static void write_numbers(const vcs_batch_t *batch, const vcs_batch_place_t *place, int32_t id,
                          const vcs_batch_results_t *results, int32_t at) {
  const size_t players = (size_t)vcs_batch_players(batch), first = (size_t)at * players;
  if (results->env_ids) results->env_ids[at] = id;
  if (results->rewards) memcpy(results->rewards + first, place->reward, players * sizeof *place->reward);
  if (results->terminated) results->terminated[at] = place->was_terminated;
  if (results->truncated) results->truncated[at] = place->was_truncated;
  if (results->lives) memcpy(results->lives + first, place->lives, players * sizeof *place->lives);
  if (results->frame_numbers) results->frame_numbers[at] = (int32_t)place->env.frame_number;
  if (results->ram) memcpy(results->ram + (size_t)at * RAM_BYTES, place->env.m->ram, RAM_BYTES);
  if (results->sound) memcpy(results->sound + (size_t)at * VCS_SOUND_SAMPLES, place->env.sound, VCS_SOUND_SAMPLES);
  if (results->episode_frame_numbers) results->episode_frame_numbers[at] = (int32_t)place->env.episode_frame_number;
}

void vcs_place_report(const vcs_batch_t *batch, int32_t id, const vcs_batch_results_t *results, int32_t at) {
  const vcs_batch_place_t *place = &batch->places[id];
  const size_t size = vcs_batch_observation_size(batch);
  write_numbers(batch, place, id, results, at);
  if (results->observations && !batch->options.stack_in_place) {
    vcs_place_copy_stack(batch, place, results->observations + (size_t)at * size);
  }
}

void vcs_place_work(vcs_batch_t *batch, int32_t id, vcs_worker_t *worker) {
  vcs_batch_place_t *place = &batch->places[id];
  const vcs_batch_results_t *results = batch->results;
  const size_t size = vcs_batch_observation_size(batch);
  if (batch->options.stack_in_place) place->stack = results->observations + (size_t)id * size;
  load_draw_history(place, worker);
  place->has_final = false;
  bool starts = place->work != VCS_WORK_STEP;
  if (batch->options.autoreset == VCS_AUTORESET_NEXT_STEP && episode_ended(batch, place)) starts = true;
  if (starts) {
    start_episode(batch, place, place->work == VCS_WORK_SEED);
    place->was_terminated = place->was_truncated = false;
  } else {
    step(batch, place);
    if (batch->options.autoreset == VCS_AUTORESET_SAME_STEP && episode_ended(batch, place)) {
      int32_t rewards[VCS_PLAYERS_MAX];
      memcpy(rewards, place->reward, sizeof rewards);
      if (!results) {
        vcs_place_copy_stack(batch, place, place->final);
      } else if (results->final_observations) {
        vcs_place_copy_stack(batch, place, results->final_observations + (size_t)id * size);
      }
      place->has_final = true;
      start_episode(batch, place, false);
      memcpy(place->reward, rewards, sizeof rewards);
    }
  }
  place->work = VCS_WORK_STEP;
  if (place->objects) place->object_count = vcs_env_objects(&place->env, place->objects, VCS_OBJECTS_MAX);
  store_draw_history(place);
  if (results) vcs_place_report(batch, id, results, id);
}

/* Adds work whose results are received later. */
static void send_work(vcs_batch_t *batch, const int32_t *ids, int32_t count) {
  for (int32_t i = 0; i < count; i++) batch->sent_ids[batch->sent + i] = ids ? ids[i] : i;
  batch->sent += count;
  vcs_pool_add(batch, ids, count);
}

/* Takes `count` finished places: in the order of sending if all are waited for, else in the order of finishing. */
static void take_done(vcs_batch_t *batch, int32_t count) {
  const int32_t envs = batch->options.envs;
  pthread_mutex_lock(&batch->lock);
  for (int32_t i = 0; i < count; i++) {
    const int32_t id = vcs_batch_is_synchronous(batch) ? batch->sent_ids[i] : batch->done[batch->done_first];
    batch->last_ids[i] = id;
    batch->places[id].sent = false;
    if (!vcs_batch_is_synchronous(batch)) batch->done_first = (batch->done_first + 1) % envs;
  }
  if (!vcs_batch_is_synchronous(batch)) batch->done_count -= count;
  pthread_mutex_unlock(&batch->lock);
  batch->last_count = count;
  batch->sent -= count;
}

/* Waits for all jobs under way and drops their results. */
static void drop_all(vcs_batch_t *batch) {
  const int32_t envs = batch->options.envs;
  vcs_pool_wait(batch, envs);
  batch->done_first = 0;
  batch->done_count = 0;
  batch->sent = 0;
  for (int32_t i = 0; i < envs; i++) batch->places[i].sent = false;
}

/* ---- Calls -------------------------------------------------------------------------------------------------- */

static const vcs_batch_results_t nowhere;

static bool lost_its_threads(const vcs_batch_t *batch) { return batch->pool && vcs_pool_lost_threads(batch->pool); }

vcs_status_t vcs_batch_check_ready(const vcs_batch_t *batch, vcs_error_t *error) {
  if (batch->begun) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a step was begun and has not ended: call vcs_batch_end_step first");
  }
  if (!lost_its_threads(batch)) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "this batch was made before the process forked, and its threads stayed in the parent: make "
                        "batches in the process that uses them");
}

vcs_status_t vcs_batch_check_results(const vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error) {
  if (batch->options.stack_in_place && (!results || !results->observations)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "stack_in_place needs `observations` at every call");
  }
  return VCS_OK;
}

vcs_status_t vcs_batch_check_ids(const vcs_batch_t *batch, const int32_t *ids, int32_t count, vcs_error_t *error) {
  const int32_t envs = batch->options.envs;
  if (!ids && count != envs) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d environments without ids; there are %d", (int)count, (int)envs);
  }
  if (count < 0 || count > envs) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d environments were named, but there are %d", (int)count,
                          (int)envs);
  }
  if (batch->device_batch) return VCS_OK; /* ids are in the device's memory */
  for (int32_t i = 0; ids && i < count; i++) {
    if (ids[i] < 0 || ids[i] >= envs) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no environment %d, but 0 to %d", (int)ids[i],
                            (int)envs - 1);
    }
  }
  return VCS_OK;
}

static void forget_sent(vcs_batch_t *batch, const int32_t *ids, int32_t count) {
  for (int32_t i = 0; i < count; i++) batch->places[ids ? ids[i] : i].sent = false;
}

/* Checks that each environment has one job at a time. On failure nothing changes. */
static vcs_status_t note_sent(vcs_batch_t *batch, const int32_t *ids, int32_t count, vcs_error_t *error) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t id = ids ? ids[i] : i;
    vcs_batch_place_t *place = &batch->places[id];
    if (place->sent) {
      forget_sent(batch, ids, i);
      return vcs_error_fill(
          error, VCS_BAD_ARGUMENT,
          place->sent ? "environment %d was sent to, and not received yet" : "environment %d was named twice", (int)id);
    }
    place->sent = true;
  }
  return VCS_OK;
}

static void mark_resets(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    vcs_batch_place_t *place = &batch->places[ids ? ids[i] : i];
    const bool seeded = seeds && seeds[i] >= 0;
    if (seeded) place->seed = seeds[i];
    place->work = seeded || !place->started ? VCS_WORK_SEED : VCS_WORK_RESET;
    place->started = true;
  }
  batch->started = true;
}

static vcs_status_t check_send(const vcs_batch_t *batch, const int32_t *ids, int32_t count, vcs_error_t *error) {
  if (batch->options.stack_in_place || batch->device_batch) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "with stack_in_place, and on a device, there are vcs_batch_reset and vcs_batch_step only");
  }
  return vcs_batch_check_ids(batch, ids, count, error);
}

static vcs_status_t check_reset(const vcs_batch_t *batch, int32_t count, vcs_error_t *error) {
  const int32_t envs = batch->options.envs;
  if (count == envs || batch->started) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the first reset must be of all %d environments", (int)envs);
}

vcs_status_t vcs_batch_send_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                  vcs_error_t *error) {
  if (error) error->message[0] = 0;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (!status) status = check_send(batch, ids, count, error);
  if (!status) status = check_reset(batch, count, error);
  if (status) return status;
  if (count == batch->options.envs) drop_all(batch);
  status = note_sent(batch, ids, count, error);
  if (status) return status;
  mark_resets(batch, ids, seeds, count);
  send_work(batch, ids, count);
  return VCS_OK;
}

vcs_status_t vcs_batch_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                             const vcs_batch_results_t *results, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  const int32_t envs = batch->options.envs;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (!status) status = vcs_batch_check_results(batch, results, error);
  if (!status) status = vcs_batch_check_ids(batch, ids, count, error);
  if (!status) status = check_reset(batch, count, error);
  if (!status && count < envs && !vcs_batch_is_synchronous(batch)) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "with batch_size %d of %d, a reset must be of all environments",
                            (int)batch->options.batch_size, (int)envs);
  }
  if (status) return status;
  if (batch->device_batch) return vcs_device_batch_api_reset(batch, ids, seeds, count, results, error);
  drop_all(batch);
  status = note_sent(batch, ids, count, error);
  if (status) return status;
  mark_resets(batch, ids, seeds, count);
  if (!vcs_batch_is_synchronous(batch)) {
    send_work(batch, ids, count);
    return vcs_batch_receive(batch, results, error);
  }
  if (!results) results = &nowhere;
  for (int32_t i = 0; i < envs; i++) {
    if (batch->places[i].work == VCS_WORK_STEP) vcs_place_report(batch, i, results, i);
  }
  batch->results = results;
  if (count == envs) {
    vcs_pool_add_round(batch);
  } else {
    vcs_pool_add(batch, ids, count);
  }
  drop_all(batch); /* workers have written the results */
  batch->results = NULL;
  return VCS_OK;
}

/* Gives environments their actions. */
static vcs_status_t set_actions(vcs_batch_t *batch, const int32_t *ids, int32_t count, const int32_t *actions,
                                const float *strengths, vcs_error_t *error) {
  if (!batch->started) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch must be reset before its first step");
  if (!actions) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no actions were given");
  const int32_t players = vcs_batch_players(batch);
  for (int pass = 0; pass < 2; pass++) { /* nothing changes unless all are right */
    for (int64_t i = 0; i < (int64_t)count * players; i++) {
      const int32_t row = (int32_t)(i / players), player = (int32_t)(i % players), id = ids ? ids[row] : row;
      const vcs_kind_t *kind = &batch->kinds[batch->played[id]];
      const size_t at = (size_t)id * (size_t)players + (size_t)player;
      if (pass == 1) {
        batch->actions[at] = kind->actions[actions[i]];
        batch->strengths[at] = strengths ? strengths[i] : 1;
      } else if (actions[i] < 0 || actions[i] >= kind->action_count) {
        return vcs_error_fill(error, VCS_BAD_ARGUMENT, "environment %d has actions 0 to %d, not %d", (int)id,
                              (int)kind->action_count - 1, (int)actions[i]);
      }
    }
  }
  return VCS_OK;
}

vcs_status_t vcs_batch_send_to(vcs_batch_t *batch, const int32_t *ids, int32_t count, const int32_t *actions,
                               const float *strengths, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (!status) status = check_send(batch, ids, count, error);
  if (!status) status = note_sent(batch, ids, count, error);
  if (status) return status;
  status = set_actions(batch, ids, count, actions, strengths, error);
  if (status) {
    forget_sent(batch, ids, count);
    return status;
  }
  send_work(batch, ids, count);
  return VCS_OK;
}

vcs_status_t vcs_batch_send(vcs_batch_t *batch, const int32_t *actions, const float *strengths, vcs_error_t *error) {
  if (vcs_batch_is_synchronous(batch))
    return vcs_batch_send_to(batch, NULL, batch->options.envs, actions, strengths, error);
  return vcs_batch_send_to(batch, batch->last_ids, batch->last_count, actions, strengths, error);
}

int32_t vcs_batch_next(const vcs_batch_t *batch) {
  return batch->sent < batch->options.batch_size ? batch->sent : batch->options.batch_size;
}

vcs_status_t vcs_batch_receive(vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  const int32_t count = vcs_batch_next(batch);
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (status) return status;
  if (count == 0) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "nothing was sent, so there is nothing to receive");
  if (!results) results = &nowhere;
  vcs_pool_wait(batch, count);
  take_done(batch, count);
  for (int32_t i = 0; i < count; i++) {
    const vcs_batch_place_t *place = &batch->places[batch->last_ids[i]];
    const size_t size = vcs_batch_observation_size(batch);
    vcs_place_report(batch, batch->last_ids[i], results, i);
    if (place->has_final && results->final_observations) {
      memcpy(results->final_observations + (size_t)i * size, place->final, size);
    }
  }
  return VCS_OK;
}

vcs_status_t vcs_batch_begin_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                  const vcs_batch_results_t *results, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  const int32_t envs = batch->options.envs;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (!status) status = vcs_batch_check_results(batch, results, error);
  if (!status && !vcs_batch_is_synchronous(batch)) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "a step is of all environments: with batch_size %d of %d there are vcs_batch_send and "
                            "vcs_batch_receive",
                            (int)batch->options.batch_size, (int)envs);
  }
  if (status) return status;
  if (batch->device_batch) return vcs_device_batch_api_step(batch, actions, strengths, results, error);
  if (batch->sent > 0) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the results of the last send were not received yet");
  }
  status = set_actions(batch, NULL, envs, actions, strengths, error);
  if (status) return status;
  batch->begun_results = results ? *results : nowhere;
  batch->results = &batch->begun_results;
  batch->begun = true;
  vcs_pool_add_round(batch);
  return VCS_OK;
}

vcs_status_t vcs_batch_end_step(vcs_batch_t *batch, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (batch->device_batch) return VCS_OK;
  if (!batch->begun) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no step was begun (vcs_batch_begin_step)");
  vcs_pool_wait(batch, batch->options.envs);
  batch->results = NULL;
  batch->begun = false;
  return VCS_OK;
}

vcs_status_t vcs_batch_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                            const vcs_batch_results_t *results, vcs_error_t *error) {
  const bool whole = vcs_batch_is_synchronous(batch);
  vcs_status_t status = whole ? vcs_batch_begin_step(batch, actions, strengths, results, error)
                              : vcs_batch_send(batch, actions, strengths, error);
  if (status) return status;
  return whole ? vcs_batch_end_step(batch, error) : vcs_batch_receive(batch, results, error);
}

int vcs_batch_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]) {
  if (env < 0 || env >= batch->options.envs) return 0;
  if (batch->device_batch) return vcs_device_batch_api_actions(batch, env, actions);
  const vcs_kind_t *kind = &batch->kinds[batch->played[env]];
  memcpy(actions, kind->actions, (size_t)kind->action_count * sizeof *actions);
  return kind->action_count;
}

const uint8_t *vcs_batch_ram(const vcs_batch_t *batch, int32_t env) {
  if (batch->device_batch) return NULL;
  return env >= 0 && env < batch->options.envs ? vcs_env_ram(&batch->places[env].env) : NULL;
}

void vcs_batch_set_objects(vcs_batch_t *batch, int recording) {
  if (batch->device_batch) return;
  for (int32_t i = 0; i < batch->options.envs; i++) {
    vcs_batch_place_t *place = &batch->places[i];
    vcs_env_set_objects(&place->env, recording);
    free(place->objects);
    place->objects = recording ? malloc(VCS_OBJECTS_MAX * sizeof *place->objects) : NULL;
    place->object_count = -1;
  }
}

/* Copies the objects of the last frame, which a worker has listed or which are listed now, and returns their number. */
static int32_t copy_objects(vcs_batch_place_t *place, vcs_object_t *objects, int32_t capacity) {
  vcs_object_t now[VCS_OBJECTS_MAX];
  const vcs_object_t *from = place->objects;
  int32_t count = place->object_count;
  if (!from || count < 0) {
    from = now;
    count = vcs_env_objects(&place->env, now, VCS_OBJECTS_MAX);
  }
  const int32_t copied = count < capacity ? count : capacity;
  if (copied > 0) memcpy(objects, from, (size_t)copied * sizeof *objects);
  return count;
}

int32_t vcs_batch_objects(vcs_batch_t *batch, int32_t env, vcs_object_t *objects, int32_t capacity) {
  if (batch->device_batch || env < 0 || env >= batch->options.envs) return -1;
  if (batch->begun || batch->places[env].sent) return -1; /* a thread may be running it */
  return copy_objects(&batch->places[env], objects, capacity);
}

vcs_status_t vcs_batch_list_objects(vcs_batch_t *batch, vcs_object_t *objects, int32_t *counts, int32_t capacity,
                                    vcs_error_t *error) {
  if (error) error->message[0] = 0;
  vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (status) return status;
  if (capacity < 0 || capacity > VCS_OBJECTS_MAX) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "capacity is %d: give 0 to %d objects for each environment",
                          (int)capacity, (int)VCS_OBJECTS_MAX);
  }
  if (batch->device_batch) return vcs_device_batch_api_objects(batch, objects, counts, capacity, error);
  if (batch->sent > 0) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the results of the last send were not received yet");
  }
  for (int32_t i = 0; i < batch->options.envs; i++) {
    counts[i] = copy_objects(&batch->places[i], objects + (size_t)i * (size_t)capacity, capacity);
  }
  return VCS_OK;
}

const vcs_batch_options_t *vcs_batch_options(const vcs_batch_t *batch) { return &batch->options; }

size_t vcs_batch_observation_size(const vcs_batch_t *batch) {
  return (size_t)batch->options.stack * batch->picture_size;
}

void vcs_batch_continuous(const float *polar, int32_t count, float threshold, int32_t *actions, float *strengths) {
  static const uint8_t by_direction[3][3] = {/* left, centre, right; down, centre, up */
                                             {VCS_DOWNLEFT, VCS_LEFT, VCS_UPLEFT},
                                             {VCS_DOWN, VCS_NOOP, VCS_UP},
                                             {VCS_DOWNRIGHT, VCS_RIGHT, VCS_UPRIGHT}};
  static const uint8_t with_fire[3][3] = {{VCS_DOWNLEFTFIRE, VCS_LEFTFIRE, VCS_UPLEFTFIRE},
                                          {VCS_DOWNFIRE, VCS_FIRE, VCS_UPFIRE},
                                          {VCS_DOWNRIGHTFIRE, VCS_RIGHTFIRE, VCS_UPRIGHTFIRE}};
  for (int32_t i = 0; i < count; i++, polar += 3) {
    const float x = polar[0] * cosf(polar[1]), y = polar[0] * sinf(polar[1]);
    const int h = 1 + (x > threshold) - (x < -threshold), v = 1 + (y > threshold) - (y < -threshold);
    actions[i] = polar[2] > threshold ? with_fire[h][v] : by_direction[h][v];
    strengths[i] = polar[0];
  }
}

/* ---- Creation --------------------------------------------------------------------------------------------------- */

void vcs_batch_defaults(vcs_batch_options_t *options) {
  memset(options, 0, sizeof *options);
  options->envs = 1;
  options->width = options->height = 84;
  options->stack = options->frame_skip = 4;
  options->noop_max = 30;
  options->max_episode_frames = 108000;
  options->max_pool = options->fire_reset = options->reward_clipping = 1;
}

static vcs_status_t check_options(const vcs_batch_options_t *o, vcs_error_t *error) {
  vcs_status_t known = vcs_reserved_words_check(o->reserved, 7, "vcs_batch_options_t", error);
  if (known) return known;
  const int32_t least = o->width || o->height || o->stack; /* or a batch without pictures, where all three are 0 */
  const vcs_range_t ranges[] = {
      {"envs", o->envs, 1, INT32_MAX},
      {"batch_size", o->batch_size, 0, o->envs},
      {"threads", o->threads, 0, VCS_THREADS_MAX},
      {"device", o->device, VCS_CPU_AS_GPU, INT32_MAX},
      {"width", o->width, least, 4096},
      {"height", o->height, least, 4096},
      {"stack", o->stack, least, 1024},
      {"frame_skip", o->frame_skip, 1, 1000},
      {"noop_max", o->noop_max, 0, 1000},
      {"max_episode_frames", o->max_episode_frames, 0, INT32_MAX},
      {"autoreset", o->autoreset, VCS_AUTORESET_NEXT_STEP, VCS_AUTORESET_DISABLED},
      {"players", o->players > INT32_MAX ? INT32_MAX : (int64_t)o->players, 0, VCS_PLAYERS_MAX},
  };
  const vcs_status_t status = vcs_ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
  if (status) return status;
  if (o->stack_in_place && o->batch_size && o->batch_size < o->envs) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "stack_in_place needs batch_size to be all environments");
  }
  return VCS_OK;
}

/* Rounds a size up to 64 bytes. */
static size_t padded(size_t size) { return (size + 63) & ~(size_t)63; }

enum { ENVS_MAX = 1 << 24 };

/* Returns the bytes that all environments use; address space reserved for frames is not counted. */
static double bytes_needed(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                           const vcs_batch_options_t *o) {
  const int32_t channels = o->rgb ? 3 : 1, finals = o->autoreset == VCS_AUTORESET_SAME_STEP;
  const double observation = (double)o->width * (double)o->height * (double)o->stack * (double)channels;
  const double each = (double)(sizeof(vcs_batch_place_t) + sizeof(vcs_kind_t) + 4 * sizeof(int32_t)) +
                      observation * (double)(!o->stack_in_place + finals);
  double machines = 0; /* with envs of their own cartridges, or as many of each */
  const int32_t rows = envs ? o->envs : cart_count;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t cart = envs ? envs[i].cart : i;
    if (cart >= 0 && cart < cart_count && carts[cart]) machines += (double)padded(vcs_state_size(carts[cart]));
  }
  return (double)o->envs * (each + VCS_PLACE_MACHINES * machines / (double)rows);
}

/* Refuses more environments than fit the memory before allocating. */
static vcs_status_t check_memory(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                                 const vcs_batch_options_t *o, vcs_error_t *error) {
  const double needed = bytes_needed(carts, cart_count, o->envs > ENVS_MAX ? NULL : envs, o), there = vcs_os_memory();
  if (needed > there) {
    return vcs_error_fill(
        error, VCS_NO_MEMORY,
        "%d environments need %.0f bytes of memory (%.0f each), and this machine has %.0f: take fewer, "
        "or smaller observations",
        (int)o->envs, needed, needed / (double)o->envs, there);
  }
  if (o->envs <= ENVS_MAX) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "envs is %d, but goes from 1 to %d", (int)o->envs, (int)ENVS_MAX);
}

static bool make_worker(const vcs_batch_t *batch, vcs_worker_t *worker) {
  size_t height = 0, scratch = 0;
  for (int32_t i = 0; i < batch->cart_count; i++) {
    const size_t rows = (size_t)batch->carts[i].cart->frame_height;
    const size_t needs = has_pictures(batch) ? vcs_resize_scratch(batch->carts[i].resize) : 0;
    if (rows > height) height = rows;
    if (needs > scratch) scratch = needs;
  }
  const size_t picture = padded(height * VCS_WIDTH * (size_t)batch->channels), rows = padded(height * sizeof(void *));
  const size_t sizes[] = {2 * VCS_FRAME_BYTES, 2 * VCS_FRAME_BYTES,  VCS_FRAME_BYTES, picture, picture, rows, rows,
                          padded(scratch),     padded(sizeof(vcs_t))};
  uint8_t *parts[sizeof sizes / sizeof *sizes];
  size_t total = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) total += sizes[i];
  uint8_t *at = worker->memory = vcs_os_allocate_lines(total);
  if (!at) return false;
  memset(at, 0, total);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++]) parts[i] = at;
  worker->frames = parts[0];
  worker->again = parts[1];
  worker->kept = parts[2];
  worker->picture[0] = parts[3];
  worker->picture[1] = parts[4];
  worker->rows[0] = (const uint8_t **)(void *)parts[5];
  worker->rows[1] = (const uint8_t **)(void *)parts[6];
  worker->scratch = parts[7];
  worker->m = (vcs_t *)(void *)parts[8];
  return true;
}

static size_t restart_size(void) { return padded(sizeof(vcs_restart_t)); }

/* The machines of an environment. A kind also has the recording of its reset behind them. */
static size_t place_bytes(const vcs_cart_t *cart) { return VCS_PLACE_MACHINES * padded(vcs_state_size(cart)); }
static size_t restart_bytes(const vcs_cart_t *cart) { return restart_size() + padded(vcs_restart_bytes(cart)); }

static size_t own_bytes(const vcs_batch_t *batch, const vcs_cart_t *cart) {
  return 2 * VCS_FRAME_BYTES + vcs_draw_history_size(cart) * (size_t)batch->channels;
}

static vcs_status_t make_place(vcs_batch_t *batch, vcs_batch_place_t *place, int32_t cart,
                               const vcs_env_options_t *options, uint8_t *machines, uint8_t *own, vcs_error_t *error) {
  place->cart = &batch->carts[cart];
  place->machines = machines;
  place->own = own;
  place->env.m = (vcs_t *)(void *)machines;
  place->env.draw_history.before = machine_at(place, BEFORE);
  place->env.draw_history.frames = own;
  place->env.look = place->env.draw_history.look = VCS_LOOK_LATER;
  place->env.listening = batch->options.sound;
  place->seed = (int32_t)options->seed;
  return vcs_env_setup(&place->env, place->cart->cart, options, error);
}

/* The options of a batch's environments: like ale-py's vector environment, the batch skips frames itself. */
static vcs_status_t env_options(const vcs_batch_t *batch, const vcs_batch_env_t *env, vcs_env_options_t *out,
                                vcs_error_t *error) {
  const vcs_batch_options_t *o = &batch->options;
  vcs_env_options_t options;
  vcs_status_t status =
      vcs_env_defaults_players(batch->carts[env->cart].cart, vcs_batch_players(batch), &options, error);
  if (status) return status;
  options.repeat_action_probability = o->repeat_action_probability;
  options.noop_max = o->noop_max;
  if (o->fire_reset) options.fire_reset = o->full_action_space ? VCS_FIRE_RESET_LEGAL : VCS_FIRE_RESET_MINIMAL;
  if (env->mode >= 0) options.mode = env->mode;
  if (env->difficulty >= 0) options.difficulty = env->difficulty;
  options.seed = env->seed;
  *out = options;
  return VCS_OK;
}

static bool same_kind(const vcs_kind_t *kind, int32_t cart, const vcs_env_options_t *options) {
  return kind->cart == cart && kind->options.mode == options->mode && kind->options.difficulty == options->difficulty;
}

/* Finds the kind of an environment, or adds it to the list. */
static int32_t find_kind(vcs_batch_t *batch, int32_t cart, const vcs_env_options_t *options) {
  for (int32_t i = batch->kind_count - 1; i >= 0; i--) {
    if (same_kind(&batch->kinds[i], cart, options)) return i;
  }
  vcs_kind_t *kind = &batch->kinds[batch->kind_count];
  kind->cart = cart;
  kind->options = *options;
  return batch->kind_count++;
}

/* Loads and resets, once for all environments of a kind. */
static bool boot_kind(void *context, size_t item, int number) {
  vcs_batch_t *batch = context;
  vcs_kind_t *kind = &batch->kinds[item];
  vcs_mt19937_t fresh;
  if (kind->place.started) return true;
  load_draw_history(&kind->place, &batch->workers[number]);
  vcs_mt19937_start(&fresh, 0, 0);
  vcs_env_boot(&kind->place.env, 0);
  vcs_restart_record(kind->restart, &kind->place.env, (uint8_t *)kind->restart + restart_size());
  kind->draws_numbers = memcmp(&fresh, &kind->place.env.sticky_random, sizeof fresh) != 0;
  kind->place.started = true;
  store_draw_history(&kind->place);
  return true;
}

static vcs_status_t make_carts(vcs_batch_t *batch, const vcs_cart_t *const *carts, vcs_error_t *error) {
  const vcs_batch_options_t *o = &batch->options;
  for (int32_t i = 0; i < batch->cart_count; i++) {
    vcs_batch_cart_t *cart = &batch->carts[i];
    if (!carts[i]) {
      vcs_error_fill(error, VCS_BAD_ARGUMENT, "cartridge %d is missing", (int)i);
      return VCS_BAD_ARGUMENT;
    }
    cart->cart = carts[i];
    if (!has_pictures(batch)) continue;
    vcs_tint_make(&cart->tint, (vcs_format_t)carts[i]->format, o->rgb);
    cart->resize = vcs_resize_create(carts[i]->frame_height, VCS_WIDTH, o->height, o->width, batch->channels);
    if (!cart->resize) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  return VCS_OK;
}

/* Creates the environments and their kinds. Each sort of memory is one block, so untouched parts cost nothing. */
static vcs_status_t make_places(vcs_batch_t *batch, const vcs_batch_env_t *envs, vcs_error_t *error) {
  const vcs_batch_options_t *o = &batch->options;
  const size_t count = (size_t)o->envs;
  vcs_env_options_t *options = calloc(count, sizeof *options);
  size_t machines = 0, own = 0, kind_machines = 0, kind_own = 0;
  vcs_status_t status = VCS_OK;
  if (!options) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int32_t i = 0; i < o->envs; i++) {
    const vcs_batch_env_t env = envs ? envs[i] : (vcs_batch_env_t){i % batch->cart_count, -1, -1, (uint32_t)i};
    if (env.cart < 0 || env.cart >= batch->cart_count) {
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "environment %d plays cartridge %d, but there are 0 to %d",
                              (int)i, (int)env.cart, (int)batch->cart_count - 1);
      break;
    }
    const vcs_cart_t *cart = batch->carts[env.cart].cart;
    const int32_t kinds = batch->kind_count;
    status = env_options(batch, &env, &options[i], error);
    if (status) break;
    batch->places[i].kind = batch->played[i] = find_kind(batch, env.cart, &options[i]);
    machines += place_bytes(cart);
    own += own_bytes(batch, cart);
    if (batch->kind_count > kinds) {
      kind_machines += place_bytes(cart) + restart_bytes(cart);
      kind_own += own_bytes(batch, cart);
    }
  }
  batch->machine_bytes = machines;
  if (!status) {
    batch->machines = calloc(1, machines + kind_machines);
    batch->own = calloc(1, own + kind_own);
    const size_t seen = has_pictures(batch) ? vcs_batch_observation_size(batch) : 1; /* calloc may return NULL for 0 */
    if (!o->stack_in_place) batch->stacks = calloc(count, seen);
    if (o->autoreset == VCS_AUTORESET_SAME_STEP) batch->finals = calloc(count, seen);
    if (!batch->machines || !batch->own || (!o->stack_in_place && !batch->stacks) ||
        (o->autoreset == VCS_AUTORESET_SAME_STEP && !batch->finals)) {
      status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
    }
  }
  uint8_t *machine = batch->machines, *frames = batch->own;
  for (int32_t i = 0; !status && i < o->envs + batch->kind_count; i++) {
    const bool is_kind = i >= o->envs;
    vcs_kind_t *kind = &batch->kinds[is_kind ? i - o->envs : batch->places[i].kind];
    vcs_batch_place_t *place = is_kind ? &kind->place : &batch->places[i];
    status = make_place(batch, place, kind->cart, is_kind ? &kind->options : &options[i], machine, frames, error);
    machine += place_bytes(batch->carts[kind->cart].cart);
    frames += own_bytes(batch, batch->carts[kind->cart].cart);
    if (is_kind) {
      if (status) break;
      kind->action_count = o->full_action_space ? vcs_env_legal_actions(&place->env, kind->actions)
                                                : vcs_env_minimal_actions(&place->env, kind->actions);
      kind->restart = (vcs_restart_t *)(void *)machine;
      machine += restart_bytes(batch->carts[kind->cart].cart);
      continue;
    }
    if (batch->stacks) place->stack = batch->stacks + (size_t)i * vcs_batch_observation_size(batch);
    if (batch->finals) place->final = batch->finals + (size_t)i * vcs_batch_observation_size(batch);
  }
  free(options);
  return status;
}

/* Makes workers with numbers from `first` to `count` - 1. If there is not enough memory, none is left. */
static bool make_workers(const vcs_batch_t *batch, vcs_worker_t *workers, int32_t first, int32_t count) {
  for (int32_t i = first; i < count; i++) {
    if (make_worker(batch, &workers[i])) continue;
    while (i-- > first) vcs_os_free_lines(workers[i].memory);
    return false;
  }
  return true;
}

vcs_status_t vcs_batch_create(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                              const vcs_batch_options_t *options, vcs_batch_t **out, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!out) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no place for the batch was given");
  *out = NULL;
  if (!carts || cart_count < 1) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch needs a cartridge");
  vcs_batch_options_t defaults;
  vcs_batch_defaults(&defaults);
  if (!options) options = &defaults;
  vcs_status_t status = check_options(options, error);
  if (!status) status = check_memory(carts, cart_count, envs, options, error);
  if (status) return status;
  if (options->device != VCS_CPU) return vcs_device_batch_api_create(carts, cart_count, envs, options, out, error);

  const size_t count = (size_t)options->envs;
  vcs_batch_t *batch = calloc(1, sizeof *batch);
  if (!batch) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  pthread_mutex_init(&batch->lock, NULL);
  pthread_cond_init(&batch->work_done, NULL);
  batch->options = *options;
  if (batch->options.batch_size == 0) batch->options.batch_size = options->envs;
  batch->options.threads = vcs_thread_count(options->threads, (size_t)batch->options.batch_size);
  batch->channels = options->rgb ? 3 : 1;
  batch->picture_size = (size_t)options->width * (size_t)options->height * (size_t)batch->channels;
  batch->cart_count = cart_count;
  batch->carts = calloc((size_t)cart_count, sizeof *batch->carts);
  batch->places = calloc(count, sizeof *batch->places);
  batch->kinds = calloc(count, sizeof *batch->kinds);
  batch->played = calloc(count, sizeof *batch->played);
  batch->actions = calloc(count * VCS_PLAYERS_MAX, sizeof *batch->actions);
  batch->strengths = calloc(count * VCS_PLAYERS_MAX, sizeof *batch->strengths);
  batch->shares = calloc((size_t)batch->options.threads, sizeof *batch->shares);
  batch->todo = calloc(count, sizeof *batch->todo);
  batch->done = calloc(count, sizeof *batch->done);
  batch->last_ids = calloc(count, sizeof *batch->last_ids);
  batch->sent_ids = calloc(count, sizeof *batch->sent_ids);
  if (!batch->carts || !batch->places || !batch->kinds || !batch->played || !batch->actions || !batch->strengths ||
      !batch->shares || !batch->todo || !batch->done || !batch->last_ids || !batch->sent_ids) {
    batch->cart_count = batch->carts ? cart_count : 0;
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  if (!status) status = make_carts(batch, carts, error);
  if (!status) status = make_places(batch, envs, error);
  const int32_t threads = batch->options.threads - vcs_batch_is_synchronous(batch); /* besides the caller's */
  batch->workers = calloc((size_t)threads + 1, sizeof *batch->workers);
  if (!status && batch->workers && make_workers(batch, batch->workers, 0, threads + 1)) {
    batch->worker_count = threads + 1;
  } else if (!status) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  for (int32_t i = 0; !status && i < batch->options.threads; i++) {
    vcs_share_t *share = &batch->shares[i];
    share->first = (int32_t)((int64_t)i * options->envs / batch->options.threads);
    share->count = (int32_t)((int64_t)(i + 1) * options->envs / batch->options.threads) - share->first;
  }
  if (status) {
    vcs_batch_free(batch);
    return status;
  }
  const size_t kinds = (size_t)batch->kind_count;
  if (vcs_parallel(kinds, batch->options.threads, boot_kind, batch) < kinds) { /* interrupted by Ctrl-C */
    for (size_t i = 0; i < kinds; i++) boot_kind(batch, i, 0);
  }
  batch->pool = vcs_pool_create(batch, threads, batch->options.threads <= vcs_os_processors());
  if (!batch->pool) {
    vcs_batch_free(batch);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  *out = batch;
  return VCS_OK;
}

void vcs_batch_free(vcs_batch_t *batch) {
  if (!batch) return;
  if (batch->device_batch) {
    vcs_device_batch_api_free(batch);
    return;
  }
  const bool has_threads = !lost_its_threads(batch); /* the lock may be one that a thread of the parent holds */
  if (batch->pool) vcs_pool_leave(batch);
  for (int32_t i = 0; i < batch->cart_count; i++) vcs_resize_free(batch->carts[i].resize);
  for (int32_t i = 0; i < batch->worker_count; i++) vcs_os_free_lines(batch->workers[i].memory);
  if (has_threads) {
    pthread_mutex_destroy(&batch->lock);
    pthread_cond_destroy(&batch->work_done);
  }
  free(batch->carts);
  free(batch->kinds);
  for (int32_t i = 0; i < batch->options.envs && batch->places; i++) {
    free(batch->places[i].env.objects);
    free(batch->places[i].objects);
  }
  free(batch->places);
  free(batch->workers);
  free(batch->machines);
  free(batch->stacks);
  free(batch->finals);
  free(batch->own);
  free(batch->played);
  free(batch->actions);
  free(batch->strengths);
  free(batch->shares);
  free(batch->todo);
  free(batch->done);
  free(batch->last_ids);
  free(batch->sent_ids);
  free(batch);
}

/* Refuses a batch that has no threads of its own to share, or that does not let the caller's thread work. */
static vcs_status_t check_sharing(const vcs_batch_t *batch, vcs_error_t *error) {
  if (!batch->pool || !vcs_batch_is_synchronous(batch)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "batches share threads if both are on the CPU and step all environments at once");
  }
  return vcs_batch_check_ready(batch, error);
}

vcs_status_t vcs_batch_share_threads(vcs_batch_t *batch, vcs_batch_t *other, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!batch || !other) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "two batches share threads, but one is NULL");
  vcs_status_t status = check_sharing(batch, error);
  if (!status) status = check_sharing(other, error);
  if (!status && batch->sent > 0) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "the results of the last send were not received yet");
  }
  if (status || batch->pool == other->pool) return status;
  const int32_t had = batch->worker_count, needed = other->pool->threads_wanted + 1;
  vcs_worker_t *workers = calloc((size_t)(needed > had ? needed : had), sizeof *workers);
  if (!workers || !make_workers(batch, workers, had, needed)) {
    free(workers);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_pool_leave(batch); /* its threads use the workers */
  memcpy(workers, batch->workers, (size_t)had * sizeof *workers);
  free(batch->workers);
  batch->workers = workers;
  if (needed > had) batch->worker_count = needed;
  vcs_pool_join(batch, other->pool);
  return VCS_OK;
}

size_t vcs_batch_bytes(const vcs_batch_t *batch, size_t *per_thread) {
  const size_t envs = (size_t)batch->options.envs;
  if (batch->device_batch) {
    if (per_thread) *per_thread = 0;
    return vcs_device_batch_api_bytes(batch);
  }
  if (per_thread) {
    *per_thread = 5 * VCS_FRAME_BYTES + padded(sizeof(vcs_t)) +
                  2 * (size_t)(VCS_WIDTH * batch->channels) * (size_t)batch->carts[0].cart->frame_height +
                  (has_pictures(batch) ? vcs_resize_scratch(batch->carts[0].resize) : 0);
  }
  return sizeof *batch->places + batch->machine_bytes / envs + 4 * sizeof(int32_t) +
         (batch->stacks ? vcs_batch_observation_size(batch) : 0);
}
