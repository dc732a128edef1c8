/* batch.h: the data of a batch.
 *
 * A place is one environment: vcs_env_t, the machine, a few copies of it, and its observation. It has no frame buffers.
 * Each thread has a worker with frame buffers and lends them to the environment that it steps:
 *
 *   place (some 10 KiB)                                 worker (under 1 MiB)
 *     game, generators        lives, score, MT19937       frames   two frame buffers, for the current environment
 *     now                     the machine                 again    two more, for frames that are redrawn
 *     before[3]               ... before the last frames  picture  coloured, before resizing
 *     shown[2]                ... before the observed frames
 *     stack                   small pictures
 *
 * draw_history.h explains why that is exact. A place whose draw history is exact keeps its frames in memory that is
 * reserved for it and costs nothing until then.
 */
#ifndef VCS_HOST_BATCH_H
#define VCS_HOST_BATCH_H

#include "host/env.h"
#include "host/batch_pool.h"
#include "host/preprocess.h"
#include "host/restart.h"

enum { VCS_PLACE_SHOWN = 2, VCS_PLACE_MACHINES = 1 + VCS_DRAW_HISTORY_BEFORE + VCS_PLACE_SHOWN };

typedef struct {
  uint8_t *frames, *again; /* 2 * VCS_FRAME_BYTES each */
  uint8_t *kept;           /* VCS_FRAME_BYTES */
  uint8_t *picture[2];
  const uint8_t **rows[2];
  void *scratch; /* for resizing */
  vcs_t *m;
  void *memory;
  uint64_t seen; /* the rounds of the batch in which it found no place left (batch_pool.c) */
} vcs_worker_t;

/* Data of all environments of one cartridge. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_tint_t tint;
  vcs_resize_t *resize;
} vcs_batch_cart_t;

/* Commands: a step, a reset, a seeded reset. */
typedef enum { VCS_WORK_STEP, VCS_WORK_RESET, VCS_WORK_SEED } vcs_work_t;

typedef struct {
  vcs_env_t env;
  const vcs_batch_cart_t *cart;
  int32_t kind;
  vcs_worker_t *worker; /* while one works on it */

  uint8_t *machines; /* VCS_PLACE_MACHINES: now, before[] (of the history), shown[] */
  uint8_t *own;      /* two frames and a coloured picture; touched only if needed */
  int32_t shown;     /* frames of the last picture: 1 or 2 */
  bool shown_kept;   /* the picture is in `own` and cannot be redrawn from shown[] */

  uint8_t *stack, *final;
  int32_t stack_next;

  vcs_work_t work;
  int32_t seed;
  int32_t elapsed, lives[VCS_PLAYERS_MAX], reward[VCS_PLAYERS_MAX];
  bool over, life_lost, started;
  vcs_object_t *objects; /* of the last frame, VCS_OBJECTS_MAX; NULL: not listed after each step */
  int32_t object_count;  /* -1: `objects` is not of the last frame */
  bool sent;             /* a job was sent whose result is not received yet */
  bool was_terminated, was_truncated, has_final; /* what the last step reported */
} vcs_batch_place_t;

/* A cartridge, mode and difficulty, with the state after loading and a first reset, and that reset. */
typedef struct {
  vcs_batch_place_t place;
  vcs_restart_t *restart;
  int32_t cart;
  vcs_env_options_t options;
  bool draws_numbers; /* its mode script draws random numbers, so the state depends on the seed */
  int32_t actions[VCS_ACTIONS], action_count; /* what the numbers of actions mean */
} vcs_kind_t;

/* The environments that one worker steps if it can, on a cache line of its own. */
typedef struct {
  _Atomic uint64_t taken; /* how many of them found a worker, in all rounds so far */
  int32_t first, count;
  char apart[48];
} vcs_share_t;

struct vcs_batch {
  vcs_batch_options_t options;
  struct vcs_device_batch
      *device_batch; /* does the work on a device (cuda/device_batch_api.c), with the next two; else NULL */
  void *stream;
  uint8_t *observations; /* the observations of the last call, which hold the stacks */
  int32_t channels;
  size_t picture_size;
  vcs_batch_cart_t *carts;
  vcs_kind_t *kinds;
  vcs_batch_place_t *places;
  vcs_worker_t *workers; /* one for each thread of the pool, and one for the caller's */
  int32_t cart_count, kind_count, worker_count;
  uint8_t *machines, *stacks, *finals, *own; /* of all places */
  size_t machine_bytes;

  int32_t *played;  /* the kind of each environment */
  int32_t *actions; /* the actions of the next step, envs x players, and their strengths */
  float *strengths;

  /* The pool, and the work that its threads take: `rounds` are the rounds that began so far. In the ring `todo`,
   * `added` places were put so far, and `taken` of these have found a worker. The lock is for sleeping and, if receives
   * return some environments, for the ring `done` of those that are ready. What threads write is on cache lines apart.
   */
  vcs_pool_t *pool;
  vcs_batch_t *next_in_pool;
  pthread_mutex_t lock;
  pthread_cond_t work_done;
  vcs_share_t *shares; /* options.threads */
  _Atomic int32_t *todo;
  int32_t *done, done_first;
  const vcs_batch_results_t *results; /* the caller's results in a synchronous call; else NULL */
  vcs_batch_results_t begun_results;  /* the same, between vcs_batch_begin_step and vcs_batch_end_step */
  bool begun;
  char apart_1[64];
  _Atomic uint64_t added, rounds;
  char apart_2[64];
  _Atomic uint64_t taken;
  char apart_3[64];
  _Atomic int32_t under_way, done_count;
  char apart_4[64];

  int32_t *last_ids, last_count; /* of the last results */
  int32_t *sent_ids, sent;       /* places not received yet, in the order of sending */
  bool started;
};

/* The number of players of each environment. */
static inline int32_t vcs_batch_players(const vcs_batch_t *batch) {
  return batch->options.players > 1 ? (int32_t)batch->options.players : 1;
}

/* Whether a call steps all environments and waits for all. */
static inline bool vcs_batch_is_synchronous(const vcs_batch_t *batch) {
  return batch->options.batch_size == batch->options.envs;
}

/* Does the work that was added for a place. */
void vcs_place_work(vcs_batch_t *batch, int32_t id, vcs_worker_t *worker);

/* Copies the stack of a place, oldest picture first; writes the results of a place at an index. */
void vcs_place_copy_stack(const vcs_batch_t *batch, const vcs_batch_place_t *place, uint8_t *to);
void vcs_place_report(const vcs_batch_t *batch, int32_t id, const vcs_batch_results_t *results, int32_t at);

/* Refuses a batch whose threads stayed in the process that forked this one, and one with a step that has not ended. */
vcs_status_t vcs_batch_check_ready(const vcs_batch_t *batch, vcs_error_t *error);

/* Refuses ids out of range (NULL: all), and results without a place for the stacks. */
vcs_status_t vcs_batch_check_ids(const vcs_batch_t *batch, const int32_t *ids, int32_t count, vcs_error_t *error);
vcs_status_t vcs_batch_check_results(const vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error);

/* The functions of a batch on a device, called after the checks that it shares with the CPU. */
vcs_status_t vcs_device_batch_api_create(const vcs_cart_t *const *carts, int32_t cart_count,
                                         const vcs_batch_env_t *envs, const vcs_batch_options_t *options,
                                         vcs_batch_t **out, vcs_error_t *error);
void vcs_device_batch_api_free(vcs_batch_t *batch);
vcs_status_t vcs_device_batch_api_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                        const vcs_batch_results_t *results, vcs_error_t *error);
vcs_status_t vcs_device_batch_api_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                       const vcs_batch_results_t *results, vcs_error_t *error);
vcs_status_t vcs_device_batch_api_objects(vcs_batch_t *batch, vcs_object_t *objects, int32_t *counts, int32_t capacity,
                                          vcs_error_t *error);
int vcs_device_batch_api_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]);
size_t vcs_device_batch_api_state_size(const vcs_batch_t *batch);
vcs_status_t vcs_device_batch_api_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                       vcs_error_t *error);
vcs_status_t vcs_device_batch_api_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                          const vcs_batch_results_t *results, vcs_error_t *error);
size_t vcs_device_batch_api_bytes(const vcs_batch_t *batch);

#endif
