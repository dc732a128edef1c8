/* device_batch.c: the host's part of device batches: kinds, starts, the choice of the engine, exact effects.
 *
 * Everything that needs a game's rules, an environment or a file is done here, when a device batch is created; the
 * engine receives plain data. A host environment (env.c) that draws both of its frame buffers computes the starts,
 * which are stored as records of the device batch (device_batch.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/truth.h"
#include "grad/rerun.h"
#include "host/arena.h"
#include "host/env.h"
#include "host/files.h"
#include "host/palette.h"
#include "host/save.h"
#include "host/options.h"

/* ---- Cartridges on a device -------------------------------------------------------------------------------------- */

/* Returns the index of an opcode's operation in lockstep.h's list, or -1. */
static int coded_name(uint8_t opcode) {
#define NAME(name) #name,
  static const char *const names[] = {VCS_NAMED(NAME)};
  const char *wanted = vcs_opcode(opcode).name;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i], wanted) == 0) return (int)i;
  }
  return -1;
}

/* Returns the instructions of a cartridge coded for lockstep.h, or NULL when out of memory. */
static vcs_code_t *code_image(const vcs_cart_t *cart) {
  vcs_code_t *code = malloc(cart->rom_size * sizeof *code);
  int names[256];
  for (int i = 0; i < 256; i++) names[i] = coded_name((uint8_t)i);
  for (uint32_t i = 0; code && i < cart->rom_size; i++) {
    const vcs_code_t decoded = i < vcs_decode_size(cart) ? cart->code[i] : (vcs_code_t){VCS_ROW_STEP, 0};
    code[i] = vcs_code_of(decoded, cart->rom[i], names[cart->rom[i]]);
  }
  return code;
}

/* Copies host memory to new device memory. */
static const vcs_fault_t *upload(const vcs_engine_t *engine, const void *from, size_t size, void **to) {
  const vcs_fault_t *fault = engine->allocate(size, to);
  return fault ? fault : engine->move(*to, from, size);
}

/* Copies the image and the code of a cartridge to the device; *there is the cartridge with device pointers. */
static const vcs_fault_t *upload_cart(const vcs_engine_t *engine, const vcs_cart_t *cart, vcs_cart_t *there) {
  *there = *cart;
  there->rom = NULL;
  there->code = NULL;
  const vcs_fault_t *fault = upload(engine, cart->rom, cart->rom_size, (void **)&there->rom);
  if (fault || !cart->code) return fault;
  vcs_code_t *code = code_image(cart);
  if (!code) return &vcs_fault_no_memory;
  fault = upload(engine, code, cart->rom_size * sizeof *code, (void **)&there->code);
  free(code);
  return fault;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------ */

/* Copies the tables of a direction to `to`, and sets *cells to the addresses that they will have in memory at `there`.
 * Returns their end. */
static int32_t *copy_axis(const vcs_axis_t *axis, int32_t *to, const int32_t *from, const int32_t *there,
                          vcs_cells_t *cells) {
  const size_t count = (size_t)axis->to, taps = count * (size_t)axis->most;
  const struct {
    const void *numbers;
    size_t count;
  } arrays[] = {{axis->first, count}, {axis->taps, count}, {axis->units, taps}, {axis->weight, taps}};
  const int32_t *at[4];
  for (int i = 0; i < 4; to += arrays[i++].count) {
    memcpy(to, arrays[i].numbers, arrays[i].count * sizeof *to);
    at[i] = there + (to - from);
  }
  *cells = (vcs_cells_t){axis->to, axis->most, axis->cell, at[0], at[1], at[2], (const float *)(const void *)at[3]};
  return to;
}

/* Copies the host's plan of pictures to the device. */
static const vcs_fault_t *make_small(const vcs_engine_t *engine, const vcs_device_batch_view_t *view,
                                     const vcs_cart_t *cart, vcs_small_t *small) {
  vcs_resize_t *plan =
      vcs_resize_create(cart->frame_height, VCS_WIDTH, view->small_height, view->small_width, view->channels);
  if (!plan) return &vcs_fault_no_memory;
  const vcs_axis_t *across = vcs_resize_across(plan), *down = vcs_resize_down(plan);
  const size_t count =
      (size_t)across->to * (size_t)(2 + 2 * across->most) + (size_t)down->to * (size_t)(2 + 2 * down->most);
  int32_t *here = malloc(count * sizeof *here);
  const vcs_fault_t *fault = here ? engine->allocate(count * sizeof *here, &small->tables) : &vcs_fault_no_memory;
  if (!fault) {
    vcs_tint_t tint;
    int32_t *end = copy_axis(across, here, here, small->tables, &small->across);
    copy_axis(down, end, here, small->tables, &small->down);
    fault = engine->move(small->tables, here, count * sizeof *here);
    vcs_tint_make(&tint, (vcs_format_t)cart->format, view->channels == 3);
    memcpy(small->byte, tint.byte, sizeof small->byte);
    small->kind = vcs_resize_kind(plan);
    small->channels = view->channels;
    small->part = small->kind == VCS_RESIZE_MEAN ? 1.0f / (float)(across->cell * down->cell) : 0;
  }
  free(here);
  vcs_resize_free(plan);
  return fault;
}

/* Fills in the action of each action number; numbers outside the set are NOOP. */
static void number_actions(const vcs_env_t *env, uint8_t set, vcs_device_batch_kind_t *kind) {
  int32_t list[VCS_ACTIONS];
  memset(kind->meanings, VCS_NOOP, sizeof kind->meanings);
  const int count =
      set == VCS_DEVICE_BATCH_ACTIONS_MINIMAL ? vcs_env_minimal_actions(env, list) : vcs_env_legal_actions(env, list);
  for (int i = 0; i < count; i++) kind->meanings[set == VCS_DEVICE_BATCH_ACTIONS_ALL ? list[i] : i] = (uint8_t)list[i];
  kind->meaning_count = set == VCS_DEVICE_BATCH_ACTIONS_ALL ? VCS_ACTIONS : count;
}

static void describe(const vcs_env_t *env, uint8_t actions, vcs_device_batch_kind_t *kind) {
  kind->has_rules = env->game != NULL;
  if (env->game) kind->code = *env->code;
  if (env->game && env->profile == VCS_PROFILE_XITARI) kind->max_frames = env->game->max_frames;
  kind->action_count = vcs_env_minimal_actions(env, kind->actions);
  number_actions(env, actions, kind);
  kind->paddle_high = env->paddle_high;
  kind->uses_paddles = env->uses_paddles;
  kind->holds_switches = env->profile != VCS_PROFILE_XITARI;
  kind->difficulty = (uint8_t)env->difficulty;
  const uint32_t pressed = env->options.fire_reset == VCS_FIRE_RESET_LEGAL ? env->legal : env->minimal;
  kind->fires = env->options.fire_reset && (pressed >> VCS_FIRE & 1);
}

/* Writes the record of a device environment with the state of a host environment. */
static void write_start(const vcs_device_batch_view_t *view, vcs_env_t *env, int32_t kind, uint8_t *record) {
  const vcs_draw_history_t *history = &env->draw_history;
  const size_t size = vcs_state_size(env->cart);
  vcs_device_env_t start = {.play = env->play, .kind = kind, .action = env->action[0], .start = -1};
  memcpy(start.paddle, env->paddle, sizeof start.paddle);
  start.episode_frame_number = (int32_t)env->episode_frame_number;
  start.covered = 0;
  start.exact = 1;
  start.shown[0] = start.shown[1] = env->m->front;
  memcpy(record, &start, sizeof start);
  if (view->players > 1) {
    vcs_device_team_t *team = vcs_record_team(view, record);
    for (int i = 0; i < VCS_DEVICE_OTHERS; i++) {
      team->play[i] = env->others[i];
      team->play[i].reward = 0;
      team->action[i] = i == 0 ? env->action[1] : env->far_action[i - 1];
    }
    memcpy(team->far_paddle, env->far_paddle, sizeof team->far_paddle);
  }
  memcpy(vcs_record_machine(view, record, VCS_DEVICE_ENV_NOW), env->m, size);
  if (view->shows == VCS_DEVICE_BATCH_SHOWS_SMALL) {
    for (int i = 0; i < VCS_DRAW_HISTORY_BEFORE; i++) { /* the oldest first: before_next is 0 */
      memcpy(vcs_record_machine(view, record, VCS_DEVICE_ENV_BEFORE + i),
             vcs_draw_history_before(history, env->cart, VCS_DRAW_HISTORY_BEFORE - 1 - i), size);
    }
  }
  if (view->frames_at) memcpy(record + view->frames_at, history->frames, 2 * VCS_FRAME_BYTES);
}

static const vcs_fault_t *make_kind(vcs_device_batch_t *batch, vcs_env_t *env, int32_t number) {
  vcs_device_batch_kind_t *kind = &batch->kinds[number];
  const vcs_engine_t *engine = batch->engine;
  const vcs_cart_t *cart = env->cart;
  describe(env, batch->options.actions, kind);
  const int32_t waits = (batch->options.noop_max > 0 ? batch->options.noop_max - 1 : 0) - kind->fires;
  kind->start_count = 1 + (waits > 0 ? waits : 0);
  batch->carts[number] = cart;

  const size_t size = (size_t)kind->start_count * batch->view.record_bytes;
  uint8_t *starts = calloc(1, size);
  if (!starts) return &vcs_fault_no_memory;
  env->draw_history.pinned = true; /* draws every frame */
  vcs_env_reset(env);
  kind->loaded = (int32_t)(env->frame_number - env->episode_frame_number);
  for (int32_t i = 0; i < kind->start_count; i++) {
    if (i > 0) vcs_env_act(env, VCS_NOOP, VCS_NOOP);
    if (vcs_env_over(env)) vcs_env_reset(env);
    env->play.reward = 0;
    write_start(&batch->view, env, number, starts + (size_t)i * batch->view.record_bytes);
  }
  const vcs_fault_t *fault = upload(engine, starts, size, (void **)&kind->starts);
  free(starts);
  if (!fault && batch->view.pooled_at) fault = make_small(engine, &batch->view, cart, &kind->small);
  return fault ? fault : upload_cart(engine, cart, &kind->cart);
}

/* ---- Creating --------------------------------------------------------------------------------------------------- */

void vcs_device_batch_defaults(vcs_device_batch_options_t *options) {
  *options = (vcs_device_batch_options_t){.envs = 1,
                                          .device = VCS_GPU,
                                          .frame_skip = 4,
                                          .noop_max = 30,
                                          .max_episode_frames = 108000,
                                          .shows = VCS_DEVICE_BATCH_SHOWS_SMALL,
                                          .max_pool = 1,
                                          .reward_clipping = 1,
                                          .fire_reset = 1,
                                          .autoreset = VCS_AUTORESET_SAME_STEP};
}

static vcs_status_t check_options(const vcs_device_batch_options_t *o, int32_t cart_count, vcs_error_t *error) {
  vcs_status_t known = vcs_reserved_words_check(o->reserved, 4, "vcs_device_batch_options_t", error);
  if (known) return known;
  const vcs_range_t ranges[] = {
      {"envs", o->envs, 1, INT32_MAX},
      {"the number of cartridges", cart_count, 1, INT32_MAX},
      {"frame_skip", o->frame_skip, 1, 1000},
      {"noop_max", o->noop_max, 0, 1000},
      {"max_episode_frames", o->max_episode_frames, 0, INT32_MAX},
      {"shows", o->shows, VCS_DEVICE_BATCH_SHOWS_NOTHING, VCS_DEVICE_BATCH_SHOWS_SMALL},
      {"actions", o->actions, VCS_DEVICE_BATCH_ACTIONS_ALL, VCS_DEVICE_BATCH_ACTIONS_LEGAL},
      {"players", o->players > INT32_MAX ? INT32_MAX : (int64_t)o->players, 0, VCS_PLAYERS_MAX},
      {"autoreset", o->autoreset > INT32_MAX ? INT32_MAX : (int64_t)o->autoreset, VCS_AUTORESET_NEXT_STEP,
       VCS_AUTORESET_DISABLED},
      {"width", o->width, 0, 4096},
      {"height", o->height, 0, 4096},
      {"stack", o->stack, 0, 1024},
  };
  vcs_status_t status = vcs_ranges_check(ranges, sizeof ranges / sizeof *ranges, error);
  if (status == VCS_OK) status = vcs_repeat_check(o->repeat_action_probability, error);
  return status;
}

enum { SMALL = 84, STACK = 4 }; /* the usual pictures */

/* Computes the layout of records and fills in the engine's view. */
static void plan_view(vcs_device_batch_t *batch, const vcs_cart_t *const *carts, int32_t cart_count) {
  const vcs_device_batch_options_t *o = &batch->options;
  size_t machine = 0, height = 0;
  for (int32_t i = 0; i < cart_count; i++) {
    if (vcs_state_size(carts[i]) > machine) machine = vcs_state_size(carts[i]);
    if ((size_t)carts[i]->frame_height > height) height = (size_t)carts[i]->frame_height;
  }
  const bool small = o->shows == VCS_DEVICE_BATCH_SHOWS_SMALL, draws = o->shows != VCS_DEVICE_BATCH_SHOWS_NOTHING;
  vcs_device_batch_view_t *view = &batch->view;
  view->machine_bytes = (machine + 15) & ~(size_t)15;
  view->record_bytes = VCS_DEVICE_ENV_BYTES + (small ? (size_t)VCS_DEVICE_ENV_MACHINES : 1) * view->machine_bytes;
  view->players = o->players > 1 ? (int32_t)o->players : 1;
  if (view->players > 1) {
    view->team_at = view->record_bytes;
    view->record_bytes += (sizeof(vcs_device_team_t) + 15) & ~(size_t)15;
  }
  if (draws) {
    view->frames_at = view->record_bytes;
    view->record_bytes += (small ? 3 : 2) * (size_t)VCS_FRAME_BYTES;
  }
  if (small) {
    view->pooled_at = view->record_bytes;
    view->small_width = o->width ? o->width : SMALL;
    view->small_height = o->height ? o->height : SMALL;
    view->stack = o->stack ? o->stack : STACK;
    view->channels = o->rgb ? 3 : 1;
    view->record_bytes += VCS_WIDTH * height * (size_t)view->channels; /* a multiple of 16, like all parts */
  }
  view->picture_bytes = (size_t)view->small_width * (size_t)view->small_height * (size_t)view->channels;
  view->observation_bytes = small ? (size_t)view->stack * view->picture_bytes : draws ? VCS_WIDTH * height : 0;
  view->count = o->envs;
  view->height = (int32_t)height;
  view->frame_skip = o->frame_skip;
  view->noop_max = o->noop_max;
  view->max_episode_frames = o->max_episode_frames;
  view->repeat_action_probability = o->repeat_action_probability;
  view->shows = o->shows;
  view->max_pool = o->max_pool;
  view->reward_clipping = o->reward_clipping;
  view->episodic_life = o->episodic_life;
  view->life_loss_info = o->life_loss_info;
  view->endless = o->endless;
  view->autoreset = (uint8_t)o->autoreset;
}

/* The kinds of a batch: its different combinations of cartridge, mode and difficulty, in order of first use, and a hash
 * table that finds them. */
enum { KINDS_MAX = 4096, KIND_SLOTS = 4 * KINDS_MAX };
typedef struct {
  vcs_batch_env_t list[KINDS_MAX];
  int32_t count;
  int32_t slots[KIND_SLOTS]; /* index into `list` plus 1, or 0 for a free slot; collisions go to the next slot */
} kinds_t;

static bool same_kind(vcs_batch_env_t a, vcs_batch_env_t b) {
  return a.cart == b.cart && a.mode == b.mode && a.difficulty == b.difficulty;
}

/* The index of an environment's kind, which is added if it is new; -1 if there are already KINDS_MAX. */
static int32_t kind_of(kinds_t *kinds, vcs_batch_env_t env) {
  uint64_t state = (uint64_t)(uint32_t)env.cart << 32 | (uint32_t)env.mode;
  state = vcs_splitmix64(&state) ^ (uint32_t)env.difficulty;
  uint32_t slot = (uint32_t)(vcs_splitmix64(&state) % KIND_SLOTS);
  while (kinds->slots[slot] && !same_kind(kinds->list[kinds->slots[slot] - 1], env)) slot = (slot + 1) % KIND_SLOTS;
  if (!kinds->slots[slot]) {
    if (kinds->count == KINDS_MAX) return -1;
    kinds->list[kinds->count++] = env;
    kinds->slots[slot] = kinds->count;
  }
  return kinds->slots[slot] - 1;
}

static vcs_batch_env_t env_of(const vcs_batch_env_t *envs, int32_t cart_count, int32_t count, int32_t i) {
  if (envs) return envs[i];
  return (vcs_batch_env_t){(int32_t)((int64_t)i * cart_count / count), -1, -1, 0};
}

static vcs_status_t create_env(const vcs_device_batch_options_t *o, const vcs_cart_t *cart, vcs_batch_env_t wanted,
                               vcs_env_t **env, vcs_error_t *error) {
  vcs_env_options_t options;
  vcs_status_t status = vcs_env_defaults_players(cart, o->players > 1 ? (int)o->players : 1, &options, error);
  if (status) return status;
  options.repeat_action_probability = 0;
  options.fire_reset = !o->fire_reset                                 ? VCS_FIRE_RESET_NEVER
                       : o->actions == VCS_DEVICE_BATCH_ACTIONS_LEGAL ? VCS_FIRE_RESET_LEGAL
                                                                      : VCS_FIRE_RESET_MINIMAL;
  if (wanted.mode >= 0) options.mode = wanted.mode;
  if (wanted.difficulty >= 0) options.difficulty = wanted.difficulty;
  return vcs_env_create_with(cart, &options, env, error);
}

static vcs_status_t fill_batch(vcs_device_batch_t *batch, const vcs_cart_t *const *carts, int32_t cart_count,
                               const vcs_batch_env_t *envs, kinds_t *kinds, vcs_error_t *error) {
  const vcs_device_batch_options_t *o = &batch->options;
  vcs_device_batch_view_t *view = &batch->view;
  const vcs_engine_t *engine = batch->engine;
  for (int32_t i = 0; i < o->envs; i++) {
    const vcs_batch_env_t env = env_of(envs, cart_count, o->envs, i);
    if (env.cart < 0 || env.cart >= cart_count) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "environment %d plays cartridge %d, but there are 0 to %d", (int)i,
                            (int)env.cart, (int)cart_count - 1);
    }
    if (kind_of(kinds, env) < 0) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                            "environments 0 to %d have more than %d combinations of cartridge, mode and difficulty: "
                            "make several batches of fewer",
                            (int)i, KINDS_MAX);
    }
  }
  batch->kind_count = kinds->count;
  plan_view(batch, carts, cart_count);
  const vcs_fault_t *fault = NULL;
  for (int32_t i = 0; !fault && i < batch->kind_count; i++) {
    vcs_env_t *env;
    vcs_status_t status = create_env(o, carts[kinds->list[i].cart], kinds->list[i], &env, error);
    if (status) return status;
    fault = make_kind(batch, env, i);
    vcs_env_free(env);
  }
  if (!fault)
    fault = upload(engine, batch->kinds, (size_t)batch->kind_count * sizeof *batch->kinds, (void **)&view->kinds);
  if (!fault) fault = engine->allocate((size_t)o->envs * view->record_bytes, (void **)&view->records);

  /* The heads get their kind and generator here; the first reset writes everything else. */
  batch->played = calloc((size_t)o->envs, sizeof *batch->played);
  uint32_t *seeds = calloc((size_t)o->envs, sizeof *seeds);
  if (!fault && (!batch->played || !seeds)) fault = &vcs_fault_no_memory;
  for (int32_t i = 0; !fault && i < o->envs; i++) {
    const vcs_batch_env_t env = env_of(envs, cart_count, o->envs, i);
    batch->played[i] = kind_of(kinds, env);
    seeds[i] = env.seed;
  }
  if (!fault) fault = engine->deal(view, batch->played, seeds);
  free(seeds);
  return vcs_device_status(fault, error);
}

vcs_status_t vcs_device_batch_create(const vcs_cart_t *const *carts, int32_t cart_count, const vcs_batch_env_t *envs,
                                     const vcs_device_batch_options_t *options, vcs_device_batch_t **out,
                                     vcs_error_t *error) {
  vcs_device_batch_options_t defaults;
  if (error) error->message[0] = 0;
  if (!carts || !out) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no cartridges, or no place for the batch");
  *out = NULL;
  vcs_device_batch_defaults(&defaults);
  if (!options) options = &defaults;
  vcs_status_t status = check_options(options, cart_count, error);
  if (status) return status;
  for (int32_t i = 0; i < cart_count; i++) {
    if (!carts[i]) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "cartridge %d is missing", (int)i);
  }
  const vcs_engine_t *engine;
  status = vcs_engine_find(options->device, &engine, error);
  if (status) return status;
  vcs_device_batch_t *batch = calloc(1, sizeof *batch);
  kinds_t *kinds = calloc(1, sizeof *kinds);
  if (batch) {
    batch->kinds = calloc(KINDS_MAX, sizeof *batch->kinds);
    batch->carts = calloc(KINDS_MAX, sizeof *batch->carts); /* NOLINT(bugprone-sizeof-expression): pointers they are */
    batch->engine = engine;
    batch->options = *options;
  }
  if (!batch || !kinds || !batch->kinds || !batch->carts) {
    status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  } else {
    status = fill_batch(batch, carts, cart_count, envs, kinds, error);
  }
  free(kinds);
  if (status) {
    vcs_device_batch_free(batch);
    return status;
  }
  *out = batch;
  return VCS_OK;
}

void vcs_device_batch_free(vcs_device_batch_t *batch) {
  if (!batch) return;
  const vcs_engine_t *engine = vcs_device_batch_engine(batch);
  vcs_device_batch_free_workspace(batch);
  for (int32_t i = 0; batch->kinds && i < batch->kind_count; i++) {
    engine->release((void *)batch->kinds[i].starts);
    engine->release((void *)batch->kinds[i].cart.rom);
    engine->release((void *)batch->kinds[i].cart.code);
    engine->release(batch->kinds[i].small.tables);
  }
  engine->release((void *)batch->view.kinds);
  engine->release(batch->view.records);
  free(batch->kinds);
  free(batch->carts);
  free(batch->played);
  free(batch);
}

const vcs_device_batch_options_t *vcs_device_batch_options(const vcs_device_batch_t *batch) { return &batch->options; }
size_t vcs_device_batch_observation_size(const vcs_device_batch_t *batch) { return batch->view.observation_bytes; }
size_t vcs_device_batch_env_bytes(const vcs_device_batch_t *batch) { return batch->view.record_bytes; }

/* ---- Playing ---------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_device_batch_check_results(const vcs_device_batch_t *batch, const vcs_batch_results_t *results,
                                            vcs_error_t *error) {
  if (!results) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no results were given");
  if (results->sound) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a device has no sound: give NULL");
  if (results->final_observations && batch->options.shows != VCS_DEVICE_BATCH_SHOWS_SMALL) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "final_observations are small pictures: give NULL without them");
  }
  if (results->final_observations && !results->observations) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "final_observations need `observations`, which hold the stacks");
  }
  return VCS_OK;
}

vcs_status_t vcs_device_batch_reset(vcs_device_batch_t *batch, uint64_t seed, const vcs_batch_results_t *results,
                                    void *stream, vcs_error_t *error) {
  vcs_status_t status = vcs_device_batch_check_results(batch, results, error);
  const vcs_device_batch_resets_t all = {.count = batch->view.count, .seeds_all = true, .seed = seed};
  return status ? status
                : vcs_device_status(vcs_device_batch_engine(batch)->reset(&batch->view, &all, results, stream), error);
}

vcs_status_t vcs_device_batch_step(vcs_device_batch_t *batch, const int32_t *actions,
                                   const vcs_batch_results_t *results, void *stream, vcs_error_t *error) {
  vcs_status_t status = vcs_device_batch_check_results(batch, results, error);
  return status
             ? status
             : vcs_device_status(vcs_device_batch_engine(batch)->step(&batch->view, actions, results, stream), error);
}

vcs_status_t vcs_device_batch_wait(vcs_device_batch_t *batch, void *stream, vcs_error_t *error) {
  return vcs_device_status(vcs_device_batch_engine(batch)->wait(stream), error);
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

/* Copies or restores records without observations. */
static vcs_status_t copy(const vcs_device_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                         bool restores, void *stream, vcs_error_t *error) {
  if (!ids && count > batch->view.count) count = batch->view.count;
  const vcs_device_batch_copies_t what = {
      .ids = ids, .count = count, .states = states, .state_bytes = batch->view.record_bytes, .restores = restores};
  return vcs_device_status(vcs_device_batch_engine(batch)->copy(&batch->view, &what, stream), error);
}

vcs_status_t vcs_device_batch_copy(const vcs_device_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                   void *stream, vcs_error_t *error) {
  return copy(batch, ids, count, states, false, stream, error);
}

vcs_status_t vcs_device_batch_restore(vcs_device_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                      void *stream, vcs_error_t *error) {
  return copy(batch, ids, count, (void *)states, true, stream, error);
}

/* Finds the address and the size of an environment's machine on the device. */
static vcs_status_t find_machine(const vcs_device_batch_t *batch, int32_t env, vcs_t **machine, size_t *size,
                                 vcs_error_t *error) {
  if (env < 0 || env >= batch->view.count) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no env %d, but 0 to %d", (int)env,
                          (int)batch->view.count - 1);
  }
  uint8_t *record = vcs_device_batch_record(&batch->view, env);
  vcs_device_env_t head;
  const vcs_fault_t *fault = vcs_device_batch_engine(batch)->wait(NULL);
  if (!fault) fault = batch->engine->move(&head, record, sizeof head);
  if (fault) return vcs_device_status(fault, error);
  *machine = vcs_record_machine(&batch->view, record, VCS_DEVICE_ENV_NOW);
  *size = vcs_state_size(batch->carts[head.kind]);
  return VCS_OK;
}

vcs_status_t vcs_device_batch_machine(const vcs_device_batch_t *batch, int32_t env, vcs_t *machine,
                                      vcs_error_t *error) {
  vcs_t *there = NULL;
  size_t size = 0;
  vcs_status_t status = find_machine(batch, env, &there, &size, error);
  return status ? status : vcs_device_status(batch->engine->move(machine, there, size), error);
}

vcs_status_t vcs_device_batch_set_machine(vcs_device_batch_t *batch, int32_t env, const vcs_t *machine,
                                          vcs_error_t *error) {
  vcs_t *there = NULL;
  size_t size = 0;
  vcs_status_t status = find_machine(batch, env, &there, &size, error);
  return status ? status : vcs_device_status(batch->engine->move(there, machine, size), error);
}

/* ---- Exact effects ----------------------------------------------------------------------------------------------- */

/* A request: flip each of `count` places in each of `bases` runs, which have one cartridge and one length. */
typedef struct {
  const vcs_run_t *runs;
  size_t bases;
  const vcs_place_t *places;
  size_t count, horizons, machine_bytes;
  const vcs_truth_options_t *options;
  const vcs_truth_results_t *results;
} question_t;

static size_t runs_of(const question_t *q) { return q->bases * (q->count + 1); }

/* Host copies of the engine's arrays, by run unless noted. */
typedef struct {
  vcs_arena_t arena; /* of the arrays */
  uint8_t *machines, *pictures, *inputs, *possible;
  uint16_t *input_frames;
  vcs_truth_t *rows;
  int8_t *signs;          /* signs of maps, by base and place */
  uint8_t *lost, *here;   /* whether the device abandoned the run; whether the host has rerun it */
  vcs_truth_t *rows_here; /* the host's rows */
} flips_t;

static vcs_status_t flips_allocate(const question_t *q, flips_t *flips, vcs_error_t *error) {
  const size_t runs = runs_of(q), rows = runs * q->horizons;
  vcs_arena_t *arena = &flips->arena;
  flips->machines = vcs_arena_take(arena, runs, q->machine_bytes);
  flips->pictures = vcs_arena_take(arena, q->bases, (size_t)2 * VCS_FRAME_BYTES);
  flips->inputs = vcs_arena_take(arena, q->count + 1, 1);
  flips->input_frames = vcs_arena_take(arena, q->count + 1, sizeof *flips->input_frames);
  flips->rows = vcs_arena_take(arena, rows, sizeof *flips->rows);
  flips->rows_here = vcs_arena_take(arena, rows, sizeof *flips->rows_here);
  flips->possible = vcs_arena_take(arena, runs, 1);
  flips->lost = vcs_arena_take(arena, runs, 1);
  flips->here = vcs_arena_take(arena, runs, 1);
  flips->signs = vcs_arena_take(arena, runs, 1);
  return vcs_arena_status(arena, error);
}

/* Prepares the machines of a base: one with each flip, and the last without. */
static vcs_status_t flip_all(const question_t *q, size_t base, flips_t *flips, vcs_error_t *error) {
  const vcs_run_t *run = &q->runs[base];
  const size_t size = vcs_state_size(run->cart);
  for (size_t i = 0, at = base * (q->count + 1); i <= q->count; i++, at++) {
    uint8_t *machine = flips->machines + at * q->machine_bytes;
    memcpy(machine, run->start, size);
    if (i == q->count) break;
    const vcs_place_t *place = &q->places[i];
    vcs_status_t status = vcs_place_check(run, place, error);
    if (status) return status;
    if (place->kind == VCS_PLACE_ROM) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "bits of ROM are flipped on the CPU: set device to VCS_CPU");
    }
    if (place->kind == VCS_PLACE_INPUT) {
      flips->inputs[i] = (uint8_t)place->index;
      flips->input_frames[i] = place->frame;
    } else {
      machine[place->index] ^= (uint8_t)(1u << place->bit);
    }
    flips->possible[at] = vcs_machine_is_possible(run->cart, (const vcs_t *)(const void *)machine);
    if (!flips->possible[at]) memcpy(machine, run->start, size);
    if (flips->possible[at]) flips->signs[base * q->count + i] = vcs_place_bit(run, place) ? -1 : 1;
  }
  if (run->picture) {
    memcpy(flips->pictures + base * 2 * VCS_FRAME_BYTES, run->picture, (size_t)2 * VCS_FRAME_BYTES);
  }
  return VCS_OK;
}

/* Device memory of a request; unused pointers are NULL. */
typedef struct {
  void *rom, *code, *cart, *machines, *frames, *controls, *inputs, *input_frames, *rows, *lost, *image, *logs, *signs,
      *values;
} loan_t;

static void give_back(const vcs_engine_t *engine, const loan_t *loan) {
  void *const all[] = {loan->rom,      loan->code,   loan->cart,         loan->machines, loan->frames,
                       loan->controls, loan->inputs, loan->input_frames, loan->rows,     loan->lost,
                       loan->image,    loan->logs,   loan->signs,        loan->values};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) engine->release(all[i]);
}

static const vcs_fault_t *lend(const vcs_engine_t *engine, const question_t *q, const flips_t *flips, loan_t *loan) {
  const size_t runs = runs_of(q), held = (size_t)q->runs->frames * sizeof *q->runs->controls;
  vcs_cart_t cart;
  const vcs_fault_t *fault = upload_cart(engine, q->runs->cart, &cart);
  loan->rom = (void *)cart.rom;
  loan->code = (void *)cart.code;
  if (!fault) fault = upload(engine, &cart, sizeof cart, &loan->cart);
  if (!fault) fault = upload(engine, flips->machines, runs * q->machine_bytes, &loan->machines);
  if (!fault) fault = engine->allocate(q->bases * held, &loan->controls);
  for (size_t i = 0; !fault && i < q->bases; i++) {
    fault = engine->move((uint8_t *)loan->controls + i * held, q->runs[i].controls, held);
  }
  if (!fault) fault = upload(engine, flips->inputs, q->count + 1, &loan->inputs);
  if (!fault)
    fault = upload(engine, flips->input_frames, (q->count + 1) * sizeof *flips->input_frames, &loan->input_frames);
  if (!fault) fault = upload(engine, flips->lost, runs, &loan->lost);
  if (!fault) fault = engine->allocate(runs * q->horizons * sizeof *flips->rows, &loan->rows);
  if (!fault) fault = engine->allocate(runs * 2 * VCS_FRAME_BYTES, &loan->frames);
  if (!fault) fault = engine->allocate(runs * VCS_LOG_SIZE * sizeof(uint64_t), &loan->logs);
  if (!fault) fault = engine->allocate(cart.rom_size * sizeof(vcs_single_lane_code_t), &loan->image);
  if (!fault) fault = upload(engine, flips->signs, runs, &loan->signs);
  if (!fault && q->results->pixels) {
    fault = upload(engine, q->options->values, 256 * (size_t)q->options->channels * sizeof(float), &loan->values);
  }
  return fault;
}

static bool wants_maps(const question_t *q) { return q->results->pixels || q->results->ram; }

/* Returns the results from an item on. */
static vcs_truth_results_t results_from(const question_t *q, size_t item) {
  const size_t pixels = (size_t)(VCS_WIDTH * q->runs->cart->frame_height * q->options->channels);
  vcs_truth_results_t part = {0};
  if (q->results->rows) part.rows = q->results->rows + item * q->horizons;
  if (q->results->pixels) part.pixels = q->results->pixels + item * q->horizons * pixels;
  if (q->results->ram) part.ram = q->results->ram + item * q->horizons * 8 * 128;
  return part;
}

/* Adds to the maps of all items, as many at a time as fit the buffer. */
static const vcs_fault_t *add_maps(const vcs_engine_t *engine, const question_t *q, const vcs_truth_view_t *view) {
  enum { BYTES = 64 << 20 };
  const size_t items = q->bases * q->count;
  for (int ram = 0; ram < 2; ram++) {
    if (!(ram ? q->results->ram : q->results->pixels)) continue;
    const size_t bytes = vcs_truth_map_size(view, ram) * q->horizons * sizeof(float);
    const size_t at_once = bytes < BYTES ? BYTES / bytes : 1; /* NOLINT(clang-analyzer-core.DivideZero): never 0 */
    void *buffer = NULL;
    const vcs_fault_t *fault = engine->allocate((at_once < items ? at_once : items) * bytes, &buffer);
    for (size_t i = 0; !fault && i < items; i += at_once) {
      const size_t count = items - i < at_once ? items - i : at_once;
      float *there = ram ? results_from(q, i).ram : results_from(q, i).pixels;
      fault = engine->move(buffer, there, count * bytes);
      if (!fault) fault = engine->map(view, ram, buffer, (int32_t)i, (int32_t)count);
      if (!fault) fault = engine->move(there, buffer, count * bytes);
    }
    engine->release(buffer);
    if (fault) return fault;
  }
  return NULL;
}

/* If the device abandons few runs, the host reruns them, in a hundredth of the time. */
enum { FEW_LOST = 256 };

static bool is_left(const flips_t *flips, size_t run) { return flips->lost[run] && !flips->here[run]; }

static size_t count_lost(const flips_t *flips, size_t from, size_t runs) {
  size_t count = 0;
  for (size_t i = from; i < from + runs; i++) count += is_left(flips, i);
  return count;
}

/* Reruns abandoned places of a base on the host, from `first` on: all of them, or only one if there are maps. Returns
 * the next place. */
static size_t run_some_here(const question_t *q, size_t base, size_t first, flips_t *flips, vcs_place_t *places,
                            vcs_truth_t *rows, vcs_status_t *status, vcs_error_t *error) {
  const size_t from = base * (q->count + 1), at_once = wants_maps(q) ? 1 : q->count;
  size_t count = 0, end = first;
  vcs_truth_results_t results = {0};
  for (; end < q->count && count < at_once; end++) {
    if (!is_left(flips, from + end)) continue;
    if (wants_maps(q)) results = results_from(q, base * q->count + end);
    places[count++] = q->places[end];
  }
  results.rows = rows;
  if (count) *status = vcs_truth(&q->runs[base], q->options, places, count, &results, error);
  for (size_t i = first, k = 0; !*status && i < end; i++) {
    if (!is_left(flips, from + i)) continue;
    flips->here[from + i] = 1;
    memcpy(flips->rows_here + (from + i) * q->horizons, rows + k++ * q->horizons, q->horizons * sizeof *rows);
  }
  return end;
}

static vcs_status_t run_lost_here(const question_t *q, size_t base, flips_t *flips, vcs_error_t *error) {
  const size_t count = count_lost(flips, base * (q->count + 1), q->count);
  if (count == 0) return VCS_OK;
  vcs_place_t *places = malloc(count * sizeof *places);
  vcs_truth_t *rows = calloc(count * q->horizons, sizeof *rows);
  vcs_status_t status = VCS_OK;
  if (!places || !rows) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (size_t i = 0; places && rows && !status && i < q->count;) {
    i = run_some_here(q, base, i, flips, places, rows, &status, error);
  }
  free(places);
  free(rows);
  return status;
}

/* Reruns on the host the runs that the device has abandoned so far. */
static vcs_status_t help(const vcs_engine_t *engine, const question_t *q, const vcs_truth_view_t *view, flips_t *flips,
                         vcs_error_t *error) {
  if (!view->lost) return VCS_OK;
  vcs_status_t status = vcs_device_status(engine->glance(flips->lost, view->lost, runs_of(q)), error);
  if (count_lost(flips, 0, runs_of(q)) > FEW_LOST) return status;
  for (size_t i = 0; !status && i < q->bases; i++) status = run_lost_here(q, i, flips, error);
  return status;
}

/* Runs all flips from horizon to horizon on the device; meanwhile the host reruns the runs that the device abandons. */
static vcs_status_t run_flips(const vcs_engine_t *engine, const question_t *q, flips_t *flips, vcs_truth_view_t view,
                              vcs_error_t *error) {
  static const struct timespec a_moment = {.tv_nsec = 100000};
  const vcs_fault_t *fault = engine->begin_truth(&view, flips->pictures);
  for (; !fault && view.horizon < view.horizon_count; view.horizon++) {
    view.to = q->options->horizons ? q->options->horizons[view.horizon] : view.frame_count;
    fault = engine->truth(&view);
    if (!fault && wants_maps(q) && !view.lost) fault = add_maps(engine, q, &view);
    view.from = view.to;
  }
  vcs_status_t status = vcs_device_status(fault, error);
  while (!status && engine->busy()) {
    if (!wants_maps(q))
      status = help(engine, q, &view, flips, error); /* maps are added once, after it is known which side ran */
    if (engine->busy()) nanosleep(&a_moment, NULL);
  }
  fault = engine->wait(NULL); /* also after an error: memory in use cannot be released */
  if (!status) status = vcs_device_status(fault, error);
  if (!status) status = help(engine, q, &view, flips, error);
  if (status) return status;
  return vcs_device_status(engine->move(flips->rows, view.rows, runs_of(q) * q->horizons * sizeof *flips->rows), error);
}

static vcs_status_t truth_with(const vcs_engine_t *engine, const question_t *q, flips_t *flips, vcs_error_t *error) {
  loan_t loan = {0};
  vcs_status_t status = vcs_device_status(lend(engine, q, flips, &loan), error);
  vcs_truth_view_t view = {.cart = loan.cart,
                           .machines = loan.machines,
                           .frames = loan.frames,
                           .controls = loan.controls,
                           .inputs = loan.inputs,
                           .input_frames = loan.input_frames,
                           .rows = loan.rows,
                           .lost = loan.lost,
                           .image = loan.image,
                           .logs = loan.logs,
                           .signs = loan.signs,
                           .values = loan.values,
                           .channels = q->options->channels,
                           .height = q->runs->cart->frame_height,
                           .machine_bytes = q->machine_bytes,
                           .bases = (int32_t)q->bases,
                           .count = (int32_t)q->count,
                           .frame_count = q->runs->frames,
                           .horizon_count = (int32_t)q->horizons};
  if (wants_maps(q) && q->horizons > 1) view.lost = NULL; /* one side computes all maps of a run */
  if (!status) status = run_flips(engine, q, flips, view, error);
  if (!status && count_lost(flips, 0, runs_of(q)) == 0 && view.lost && wants_maps(q)) {
    status = vcs_device_status(add_maps(engine, q, &view), error);
  } else if (!status && count_lost(flips, 0, runs_of(q)) > 0) { /* too many for the host */
    view.lost = NULL;
    status = vcs_device_status(engine->move(loan.machines, flips->machines, runs_of(q) * q->machine_bytes), error);
    if (!status) status = run_flips(engine, q, flips, view, error);
  }
  give_back(engine, &loan);
  for (size_t i = 0; i < runs_of(q); i++) {
    if (!flips->here[i]) continue;
    memcpy(flips->rows + i * q->horizons, flips->rows_here + i * q->horizons, q->horizons * sizeof *flips->rows);
  }
  return status;
}

static void answer(const question_t *q, const flips_t *flips, const vcs_truth_results_t *results) {
  static const vcs_truth_t impossible = {.outcome = VCS_TRUTH_IMPOSSIBLE};
  for (size_t base = 0; base < q->bases; base++) {
    for (size_t k = 0; k < (q->count + 1) * q->horizons; k++) {
      const size_t flip = k / q->horizons, h = k % q->horizons, run = base * (q->count + 1) + flip;
      const vcs_truth_t row = flips->rows[run * q->horizons + h];
      if (flip < q->count && results->rows) {
        results->rows[(base * q->count + flip) * q->horizons + h] = flips->possible[run] ? row : impossible;
      }
      if (flip == q->count && results->base) results->base[base * q->horizons + h] = row;
    }
  }
}

/* Runs all flips on the host: for cartridges that watch the whole bus, which need CPU and TIA in one place
 * (cpu_tia_pair.h), and for those with hot spots on every page, which have no decoded instructions. */
static vcs_status_t truths_here(const question_t *q, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (size_t i = 0; !status && i < q->bases; i++) {
    vcs_truth_results_t part = results_from(q, i * q->count);
    if (q->results->base) part.base = q->results->base + i * q->horizons;
    status = vcs_truth(&q->runs[i], q->options, q->places, q->count, &part, error);
  }
  return status;
}

vcs_status_t vcs_device_batch_truths(int32_t device, const vcs_run_t *runs, size_t run_count,
                                     const vcs_truth_options_t *options, const vcs_place_t *places, size_t count,
                                     const vcs_truth_results_t *results, vcs_error_t *error) {
  const vcs_engine_t *engine;
  vcs_truth_options_t here = {0}; /* for runs on the host */
  if (options) here = *options;
  here.device = VCS_CPU;
  options = &here;
  vcs_status_t status = vcs_reserved_check(here.reserved, "vcs_truth_options_t", error);
  if (status == VCS_OK) status = vcs_engine_find(device, &engine, error);
  if (status) return status;
  if (!runs || !run_count || !places || !results || count >= INT32_MAX / 2 || run_count > INT32_MAX / (count + 1)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no runs, no places, no results, or too many of them");
  }
  if (options->env) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "scores are made on the CPU: use vcs_truth");
  if (results->pixels && (!options->values || options->channels < 1)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "maps of pixels need what a pixel is worth: options.values");
  }
  for (size_t i = 0; i < run_count; i++) {
    status = vcs_run_check(&runs[i], options->horizons, options->horizon_count, options->env, error);
    if (status) return status;
    if (runs[i].cart != runs->cart || runs[i].frames != runs->frames) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "runs of one call have one cartridge and equally many frames");
    }
  }
  const question_t q = {runs,
                        run_count,
                        places,
                        count,
                        options->horizons ? (size_t)options->horizon_count : 1,
                        (vcs_state_size(runs->cart) + 15) & ~(size_t)15,
                        options,
                        results};
  if (runs->cart->snoops || !runs->cart->code || !~runs->cart->hot_pages) return truths_here(&q, error);
  flips_t flips = {0};
  status = flips_allocate(&q, &flips, error);
  if (!status) memset(flips.inputs, VCS_INPUTS, count + 1);
  for (size_t i = 0; !status && i < run_count; i++) status = flip_all(&q, i, &flips, error);
  if (!status) status = truth_with(engine, &q, &flips, error);
  if (!status) answer(&q, &flips, results);
  vcs_arena_free(&flips.arena);
  return status;
}

vcs_status_t vcs_device_batch_truth(int32_t device, const vcs_run_t *run, const vcs_truth_options_t *options,
                                    const vcs_place_t *places, size_t count, const vcs_truth_results_t *results,
                                    vcs_error_t *error) {
  return vcs_device_batch_truths(device, run, 1, options, places, count, results, error);
}
