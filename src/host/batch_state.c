/* batch_state.c: states of environments in a batch.
 *
 * A state is a header, the fields of the environment (VCS_ENV_FIELDS), its machines (now, before the last frames,
 * before the observed frames) and its stack, oldest picture first; then, only if they may become visible again, both
 * frames and the coloured picture. The state has space for all of them, but unneeded parts are not written.
 *
 *   header | fields | machines | stack | frames and picture, if kept
 */
#include <string.h>

#include "host/batch.h"
#include "host/files.h"
#include "host/hash.h"

enum { STATE_MAGIC = 0x31425356 /* "VSB1" */ };

/* The numbers of a place besides its environment. */
#define VCS_PLACE_FIELDS(X) X(shown) X(shown_kept) X(elapsed) X(over) X(life_lost) X(was_terminated) X(was_truncated)

#define DECLARE(name) int32_t name;
#define COPY(name) header.name = place->name;
#define TAKE(name) place->name = header.name;

typedef struct {
  uint64_t key;
  uint32_t magic;
  vcs_draw_history_mark_t draw_history;
  int32_t second; /* whether the picture of an exact history is in its second buffer */
  VCS_PLACE_FIELDS(DECLARE)
  int32_t lives[VCS_PLAYERS_MAX], reward[VCS_PLAYERS_MAX];
} header_t;

/* Returns a digest of everything that a state must agree with: cartridge, console, game, players, mode, difficulty,
 * observation. */
static uint64_t state_key(const vcs_batch_t *batch, const vcs_batch_place_t *place) {
  const vcs_env_options_t *options = &batch->kinds[place->kind].options;
  const vcs_batch_options_t *o = &batch->options;
  const int32_t players = vcs_batch_players(batch);
  const int32_t shape[] = {players, options->mode, options->difficulty, o->width, o->height, o->stack, o->rgb};
  return vcs_hash64(shape, sizeof shape, place->env.key);
}

/* Offsets of the parts. */
static size_t machines_at(void) { return sizeof(header_t) + sizeof(vcs_env_live_t); }

static size_t stack_at(const vcs_cart_t *cart) { return machines_at() + VCS_PLACE_MACHINES * vcs_state_size(cart); }

static size_t own_at(const vcs_batch_t *batch, const vcs_cart_t *cart, int which) {
  return stack_at(cart) + vcs_batch_observation_size(batch) + (size_t)which * vcs_draw_history_size(cart);
}

/* Of the largest cartridge's. */
size_t vcs_batch_state_size(const vcs_batch_t *batch) {
  size_t most = 0;
  if (batch->device_batch) return vcs_device_batch_api_state_size(batch);
  for (int32_t i = 0; i < batch->cart_count; i++) {
    const size_t size = own_at(batch, batch->carts[i].cart, 2 + batch->channels);
    if (size > most) most = size;
  }
  return (most + 63) & ~(size_t)63;
}

static void copy_place(const vcs_batch_t *batch, const vcs_batch_place_t *place, uint8_t *to) {
  const vcs_cart_t *cart = place->cart->cart;
  const vcs_draw_history_t *history = &place->env.draw_history;
  const size_t picture = vcs_draw_history_size(cart);
  header_t header = {.key = state_key(batch, place),
                     .magic = STATE_MAGIC,
                     .draw_history = {history->covered, history->before_next, history->exact},
                     .second = history->exact && history->picture != history->frames};
  VCS_PLACE_FIELDS(COPY)
  memcpy(header.lives, place->lives, sizeof header.lives);
  memcpy(header.reward, place->reward, sizeof header.reward);
  memcpy(to, &header, sizeof header);
  memcpy(to + sizeof header, &place->env.live, sizeof place->env.live);
  memcpy(to + machines_at(), place->machines, VCS_PLACE_MACHINES * vcs_state_size(cart));
  vcs_place_copy_stack(batch, place, to + stack_at(cart));
  for (int i = 0; history->exact && i < 2; i++) {
    memcpy(to + own_at(batch, cart, i), history->frames + (size_t)i * VCS_FRAME_BYTES, picture);
  }
  if (place->shown_kept) {
    memcpy(to + own_at(batch, cart, 2), history->frames + 2 * VCS_FRAME_BYTES, picture * (size_t)batch->channels);
  }
}

static void take_place(const vcs_batch_t *batch, vcs_batch_place_t *place, const uint8_t *from) {
  const vcs_cart_t *cart = place->cart->cart;
  vcs_draw_history_t *history = &place->env.draw_history;
  const size_t picture = vcs_draw_history_size(cart);
  header_t header;
  memcpy(&header, from, sizeof header);
  VCS_PLACE_FIELDS(TAKE)
  memcpy(place->lives, header.lives, sizeof header.lives);
  memcpy(place->reward, header.reward, sizeof header.reward);
  memcpy(&place->env.live, from + sizeof header, sizeof place->env.live);
  place->env.recorded = false;
  place->object_count = -1;
  memcpy(place->machines, from + machines_at(), VCS_PLACE_MACHINES * vcs_state_size(cart));
  memcpy(place->stack, from + stack_at(cart), vcs_batch_observation_size(batch));
  place->stack_next = 0;
  place->has_final = false;
  history->covered = header.draw_history.covered;
  history->before_next = header.draw_history.before_next;
  history->exact = header.draw_history.exact;
  history->drawn = true;
  history->picture = history->frames + (header.second ? VCS_FRAME_BYTES : 0);
  for (int i = 0; history->exact && i < 2; i++) {
    memcpy(history->frames + (size_t)i * VCS_FRAME_BYTES, from + own_at(batch, cart, i), picture);
  }
  if (place->shown_kept) {
    memcpy(history->frames + 2 * VCS_FRAME_BYTES, from + own_at(batch, cart, 2), picture * (size_t)batch->channels);
  }
}

enum { ELAPSED_LIMIT = INT32_MAX - (1 << 20) }; /* frames of an episode, far beyond those of a game */

static vcs_status_t check_state(const vcs_batch_t *batch, const vcs_batch_place_t *place, const uint8_t *from,
                                vcs_error_t *error) {
  header_t header;
  vcs_env_live_t live;
  memcpy(&header, from, sizeof header);
  memcpy(&live, from + sizeof header, sizeof live);
  if (header.magic != STATE_MAGIC) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this is no state of a batch");
  if (header.key != state_key(batch, place)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "this is a state of another cartridge, mode, difficulty or shape of observations");
  }
  const bool counts = header.elapsed >= 0 && header.elapsed < ELAPSED_LIMIT;
  if (!counts || !vcs_draw_history_is_possible(&header.draw_history) || header.shown < 1 ||
      header.shown > VCS_PLACE_SHOWN ||
      !vcs_env_is_possible(&place->env, &live, from + machines_at(), VCS_PLACE_MACHINES, batch->workers[0].m)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "this state has values that no machine can have");
  }
  return VCS_OK;
}

static vcs_status_t check_call(const vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                               vcs_error_t *error) {
  if (error) error->message[0] = 0;
  const vcs_status_t status = vcs_batch_check_ready(batch, error);
  if (status) return status;
  if (!states) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no states were given");
  if (!batch->started) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a batch has states after its first reset");
  if (batch->options.batch_size < batch->options.envs) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "states need batch_size to be all environments");
  }
  if (batch->sent > 0)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the results of the last send were not received yet");
  return vcs_batch_check_ids(batch, ids, count, error);
}

vcs_status_t vcs_batch_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                            vcs_error_t *error) {
  const vcs_status_t status = check_call(batch, ids, count, states, error);
  if (!status && batch->device_batch) return vcs_device_batch_api_copy(batch, ids, count, states, error);
  const size_t size = vcs_batch_state_size(batch);
  for (int32_t i = 0; !status && i < count; i++) {
    copy_place(batch, &batch->places[ids ? ids[i] : i], (uint8_t *)states + (size_t)i * size);
  }
  return status;
}

vcs_status_t vcs_batch_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                               const vcs_batch_results_t *results, vcs_error_t *error) {
  const size_t size = vcs_batch_state_size(batch), seen = vcs_batch_observation_size(batch);
  vcs_status_t status = check_call(batch, ids, count, states, error);
  if (!status) status = vcs_batch_check_results(batch, results, error);
  if (!status && batch->device_batch) return vcs_device_batch_api_restore(batch, ids, count, states, results, error);
  for (int32_t i = 0; !status && i < count; i++) {
    const uint8_t *from = (const uint8_t *)states + (size_t)i * size;
    status = check_state(batch, &batch->places[ids ? ids[i] : i], from, error);
  }
  if (status) return status;
  for (int32_t i = 0; i < count; i++) {
    const int32_t id = ids ? ids[i] : i;
    vcs_batch_place_t *place = &batch->places[id];
    if (batch->options.stack_in_place) place->stack = results->observations + (size_t)id * seen;
    take_place(batch, place, (const uint8_t *)states + (size_t)i * size);
  }
  for (int32_t i = 0; results && i < batch->options.envs; i++) vcs_place_report(batch, i, results, i);
  return VCS_OK;
}
