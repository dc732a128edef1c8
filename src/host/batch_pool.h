/* batch_pool.h: the threads that step the environments of batches.
 *
 * A batch has a pool of its own until vcs_batch_share_threads lets it share that of another one. A round is work on all
 * environments of a batch. Each thread has a share of the environments, which it takes first, so that their memory
 * stays in the caches of its core; then it helps the others. Work on some environments is in a ring. Both are counted
 * by atomic counters, without a lock. A thread that finds no work in any batch of its pool polls for a while and then
 * sleeps.
 *
 *   two batches, A and B, that share three threads; the caller's thread is the fourth
 *
 *   thread 1   AAAA BBBBB AAAA BBBB ...      A thread whose share of A is done helps the others with A, and then goes
 *   thread 2   AAAA BBBB AAAAA BBBB ...      on with B, instead of waiting for the slowest environment of A or for
 *   thread 3   AAAAA BBBB AAAA BBBB ...      the caller.
 *   caller     AAA. (A's results) BB (B's results) AA ...
 */
#ifndef VCS_HOST_BATCH_POOL_H
#define VCS_HOST_BATCH_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "diffvcs/diffvcs.h"

typedef struct {
  vcs_batch_t *first; /* of the batches, a list (next_in_pool) that changes only while no thread runs */
  pthread_t *threads; /* thread_count of them run; with the caller's thread there is one more worker */
  int32_t threads_wanted;
  _Atomic int32_t thread_count;
  pid_t process;            /* process of these threads, which do not survive a fork */
  pthread_mutex_t changing; /* held while batches join or leave */
  pthread_mutex_t lock;     /* for sleeping */
  pthread_cond_t work_came;
  bool spins; /* there is a core for every thread, so waiting threads poll before sleeping */
  atomic_bool stop;
  char apart_1[64];
  _Atomic uint64_t news; /* how often work was added to any of the batches */
  char apart_2[64];
} vcs_pool_t;

/* Makes a pool with one batch, and starts its threads; NULL: out of memory. If no thread can be started, the caller's
 * thread does all the work. */
vcs_pool_t *vcs_pool_create(vcs_batch_t *batch, int32_t threads, bool spins);

/* Lets a batch leave its pool, which ends with its last batch. The batch may have work that is not done. */
void vcs_pool_leave(vcs_batch_t *batch);

/* Lets a batch that has no pool, and has a worker for each thread and for the caller, join one. */
void vcs_pool_join(vcs_batch_t *batch, vcs_pool_t *pool);

/* Whether the process has forked, and the threads stayed in the parent. */
bool vcs_pool_lost_threads(const vcs_pool_t *pool);

/* Add work: on all environments, and on those named, with results that go to batch->results or are received later. */
void vcs_pool_add_round(vcs_batch_t *batch);
void vcs_pool_add(vcs_batch_t *batch, const int32_t *ids, int32_t count);

/* Waits until `count` environments are done, or all; the caller's thread works, too, in a synchronous call, and if
 * there are no threads. */
void vcs_pool_wait(vcs_batch_t *batch, int32_t count);

#endif
