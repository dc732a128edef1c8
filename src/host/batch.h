/* batch.h: what a batch holds.
 *
 * A place is one environment: the game (vcs_env_t), the machine, a few copies of it, and the pictures its agent sees.
 * It has no frame buffers. A worker, one a thread, has them, and lends them to the environment it steps:
 *
 *   place (some 10 KiB)                                 worker (under 1 MiB)
 *     game, generators        lives, score, MT19937       frames   two frame buffers, for the environment at hand
 *     now                     the machine                 again    two more, for frames that are drawn once more
 *     before[3]               ... before the last frames  picture  coloured, before it is made small
 *     shown[2]                ... before what was shown
 *     stack                   small pictures
 *
 * draw_history.h tells why that is exact. A place whose film needs its frames keeps them in memory that is reserved for
 * it but that costs nothing as long as it is not touched.
 */
#ifndef VCS_HOST_BATCH_H
#define VCS_HOST_BATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "host/env.h"
#include "host/preprocess.h"

enum { VCS_PLACE_SHOWN = 2, VCS_PLACE_MACHINES = 1 + VCS_DRAW_HISTORY_BEFORE + VCS_PLACE_SHOWN };

typedef struct {
  uint8_t *frames, *again; /* 2 * VCS_FRAME_BYTES each */
  uint8_t *kept;           /* VCS_FRAME_BYTES */
  uint8_t *picture[2];
  const uint8_t **rows[2];
  void *scratch; /* for resizing */
  vcs_t *m;
  void *memory;
} vcs_worker_t;

/* What environments of one cartridge have in common. */
typedef struct {
  const vcs_cart_t *cart;
  vcs_tint_t tint;
  vcs_resize_t *resize;
} vcs_batch_cart_t;

/* What a worker does with a place: a step, an episode that goes on from here, one from a seed. */
typedef enum { VCS_WORK_STEP, VCS_WORK_RESET, VCS_WORK_SEED } vcs_work_t;

typedef struct {
  vcs_env_t env;
  const vcs_batch_cart_t *cart;
  int32_t kind;
  vcs_worker_t *worker; /* while one works on it */

  uint8_t *machines; /* VCS_PLACE_MACHINES of them: now, before[] (of the history), shown[] */
  uint8_t *own;      /* two frames and a coloured picture; touched only if needed */
  int32_t shown;     /* frames of the last picture: 1 or 2 */
  bool shown_kept;   /* it is in `own`, not to be had from shown[] */

  uint8_t *stack, *final;
  int32_t stack_next;

  vcs_work_t work;
  int32_t action, seed;
  float strength;
  int32_t elapsed, lives, reward;
  bool over, life_lost, started;
  bool sent;                                     /* something to do was sent, and its result not received yet */
  bool was_terminated, was_truncated, has_final; /* what the last step reported */
} vcs_batch_place_t;

/* One cartridge, mode and difficulty, as it is after loading and a first reset. */
typedef struct {
  vcs_batch_place_t place;
  int32_t cart;
  vcs_env_options_t options;
  bool draws_numbers; /* its mode script draws from the generator: every seed has to go through it */
} vcs_kind_t;

/* Something that threads wait for: a number that goes up when it happens, and a bed. */
typedef struct {
  atomic_uint number;
  pthread_cond_t bed;
} vcs_news_t;

struct vcs_batch {
  vcs_batch_options_t options;
  struct vcs_device_batch
      *device_batch; /* does the work on a device (cuda/device_batch_api.c), with the next two; else NULL */
  void *stream;
  uint8_t *observations; /* where stacks were left by the last call */
  int32_t channels;
  size_t picture_size;
  vcs_batch_cart_t *carts;
  vcs_kind_t *kinds;
  vcs_batch_place_t *places;
  vcs_worker_t *workers; /* one a thread of the pool, and the last one is the caller's */
  int32_t cart_count, kind_count, worker_count;
  uint8_t *machines, *stacks, *finals, *own; /* of all places */
  size_t machine_bytes;

  /* The pool: places to be worked on, places that are done, both in rings of `envs` entries. */
  pthread_t *threads;
  int32_t thread_count;
  pid_t process; /* in which these threads are: a fork does not take them along */
  pthread_mutex_t lock;
  vcs_news_t work_came, work_done;
  int32_t *todo, *done;
  int32_t todo_first, todo_count, done_first, done_count, under_way;
  bool spins; /* there is a core for every thread: who waits may look for a while before sleeping */
  bool stop;
  const vcs_batch_results_t *results; /* where workers write, in a synchronous call; else NULL */

  int32_t *last_ids, last_count; /* of the last results */
  int32_t *sent_ids, sent;       /* what was not received yet; in this order if results come in the order of sending */
  bool started;
};

/* The stack of a place, oldest picture first; what a place reports, at this place of the results. */
void vcs_place_copy_stack(const vcs_batch_t *batch, const vcs_batch_place_t *place, uint8_t *to);
void vcs_place_report(const vcs_batch_t *batch, int32_t id, const vcs_batch_results_t *results, int32_t at);

/* Refuses a batch whose threads stayed in the process that forked this one. */
vcs_status_t vcs_batch_check_process(const vcs_batch_t *batch, vcs_error_t *error);

/* Refuses ids out of range (NULL: all of them), and results that stacks cannot be left in. */
vcs_status_t vcs_batch_check_ids(const vcs_batch_t *batch, const int32_t *ids, int32_t count, vcs_error_t *error);
vcs_status_t vcs_batch_check_results(const vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error);

/* The calls of the same names where there is a batch, once arguments were looked at as on the CPU. */
vcs_status_t vcs_device_batch_api_create(const vcs_cart_t *const *carts, int32_t cart_count,
                                         const vcs_batch_env_t *envs, const vcs_batch_options_t *options,
                                         vcs_batch_t **out, vcs_error_t *error);
void vcs_device_batch_api_free(vcs_batch_t *batch);
vcs_status_t vcs_device_batch_api_reset(vcs_batch_t *batch, const int32_t *ids, const int32_t *seeds, int32_t count,
                                        const vcs_batch_results_t *results, vcs_error_t *error);
vcs_status_t vcs_device_batch_api_step(vcs_batch_t *batch, const int32_t *actions, const float *strengths,
                                       const vcs_batch_results_t *results, vcs_error_t *error);
int vcs_device_batch_api_actions(const vcs_batch_t *batch, int32_t env, int32_t actions[VCS_ACTIONS]);
size_t vcs_device_batch_api_state_size(const vcs_batch_t *batch);
vcs_status_t vcs_device_batch_api_copy(const vcs_batch_t *batch, const int32_t *ids, int32_t count, void *states,
                                       vcs_error_t *error);
vcs_status_t vcs_device_batch_api_restore(vcs_batch_t *batch, const int32_t *ids, int32_t count, const void *states,
                                          const vcs_batch_results_t *results, vcs_error_t *error);
size_t vcs_device_batch_api_bytes(const vcs_batch_t *batch);

#endif
