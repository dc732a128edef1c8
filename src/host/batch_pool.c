/* batch_pool.c: threads that step the environments of batches (batch_pool.h). */
#include "host/batch_pool.h"

#include <stdlib.h>
#include <unistd.h>

#include "host/batch.h"
#include "host/parallel.h"

enum { SPINS = 2000 }; /* iterations of polling, some tens of microseconds in total */

static void pause_polling(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

/* ---- Taking work ----------------------------------------------------------------------------------------------- */

/* Takes the next place of the ring, or returns -1. A place is in the ring once, so its entry is not overwritten before
 * it is taken. */
static int32_t take(vcs_batch_t *batch) {
  const uint64_t envs = (uint64_t)batch->options.envs;
  uint64_t at = atomic_load_explicit(&batch->taken, memory_order_relaxed);
  while (at < atomic_load_explicit(&batch->added, memory_order_acquire)) {
    const int32_t id = atomic_load_explicit(&batch->todo[at % envs], memory_order_relaxed);
    if (atomic_compare_exchange_weak_explicit(&batch->taken, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
      return id;
    }
  }
  return -1;
}

/* Takes the next place of a round, of the worker's own share or else of another's; or returns -1, and notes in
 * worker->seen the rounds in which no place is left. Shares count places over all rounds, so a place is taken once in
 * each. */
static int32_t take_in_round(vcs_batch_t *batch, vcs_worker_t *worker, int32_t number) {
  const uint64_t rounds = atomic_load_explicit(&batch->rounds, memory_order_acquire);
  const int32_t count = batch->options.threads;
  for (int32_t i = 0; rounds != worker->seen && i < count; i++) {
    vcs_share_t *share = &batch->shares[(number + i) % count];
    const uint64_t size = (uint64_t)share->count;
    uint64_t at = atomic_load_explicit(&share->taken, memory_order_relaxed);
    while (at < rounds * size) {
      if (atomic_compare_exchange_weak_explicit(&share->taken, &at, at + 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        return share->first + (int32_t)(at % size);
      }
    }
  }
  worker->seen = rounds;
  return -1;
}

/* Whether `count` places have finished, or all. */
static bool has_finished(vcs_batch_t *batch, int32_t count) {
  return atomic_load_explicit(&batch->under_way, memory_order_acquire) == 0 ||
         (!vcs_batch_is_synchronous(batch) && atomic_load_explicit(&batch->done_count, memory_order_acquire) >= count);
}

/* Notes that a worker has finished its part, `count` places, of what all wait for together. */
static void finish_together(vcs_batch_t *batch, int32_t count) {
  if (atomic_fetch_sub_explicit(&batch->under_way, count, memory_order_acq_rel) > count) return;
  pthread_mutex_lock(&batch->lock);
  pthread_cond_broadcast(&batch->work_done);
  pthread_mutex_unlock(&batch->lock);
}

/* Notes that a place has finished, for a receive of some. */
static void finish(vcs_batch_t *batch, int32_t id) {
  pthread_mutex_lock(&batch->lock);
  batch->done[(batch->done_first + batch->done_count) % batch->options.envs] = id;
  const bool enough = ++batch->done_count >= batch->options.batch_size;
  if (--batch->under_way == 0 || enough) pthread_cond_broadcast(&batch->work_done);
  pthread_mutex_unlock(&batch->lock);
}

/* Works on places of a batch while there are any; a thread of the pool stops if *stop. `number` is that of the worker.
 */
static void work(vcs_batch_t *batch, int32_t number, const atomic_bool *stop) {
  vcs_worker_t *worker = &batch->workers[number];
  int32_t finished = 0;
  while (!stop || !atomic_load_explicit(stop, memory_order_relaxed)) {
    int32_t id = take_in_round(batch, worker, number);
    if (id < 0) id = take(batch);
    if (id < 0) break;
    vcs_place_work(batch, id, worker);
    if (vcs_batch_is_synchronous(batch)) {
      finished++;
    } else {
      finish(batch, id);
    }
  }
  if (finished) finish_together(batch, finished);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

static bool has_news(vcs_pool_t *pool, uint64_t known) {
  return atomic_load_explicit(&pool->news, memory_order_acquire) != known ||
         atomic_load_explicit(&pool->stop, memory_order_relaxed);
}

/* Polls for a while, because sleeping and waking up take longer than a small step; then sleeps. */
static void wait_for_news(vcs_pool_t *pool, uint64_t known) {
  for (int i = 0; pool->spins && i < SPINS; i++) {
    if (has_news(pool, known)) return;
    pause_polling();
  }
  pthread_mutex_lock(&pool->lock);
  while (!has_news(pool, known)) pthread_cond_wait(&pool->work_came, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}

typedef struct {
  vcs_pool_t *pool;
  int32_t number;
} thread_t;

static void *run_thread(void *argument) {
  const thread_t thread = *(thread_t *)argument;
  vcs_pool_t *pool = thread.pool;
  free(argument);
  while (!atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
    const uint64_t known = atomic_load_explicit(&pool->news, memory_order_acquire);
    for (vcs_batch_t *batch = pool->first; batch; batch = batch->next_in_pool) work(batch, thread.number, &pool->stop);
    wait_for_news(pool, known);
  }
  return NULL;
}

static void wake_threads(vcs_pool_t *pool) {
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(&pool->work_came);
  pthread_mutex_unlock(&pool->lock);
}

static void start_threads(vcs_pool_t *pool) {
  pool->process = getpid();
  for (int32_t i = 0; i < pool->threads_wanted; i++) {
    thread_t *thread = malloc(sizeof *thread);
    if (!thread) return;
    *thread = (thread_t){pool, i};
    if (vcs_thread_start(&pool->threads[i], run_thread, thread) != 0) {
      free(thread);
      return;
    }
    pool->thread_count++;
  }
}

static void stop_threads(vcs_pool_t *pool) {
  pool->stop = true;
  wake_threads(pool);
  for (int32_t i = 0; i < pool->thread_count; i++) pthread_join(pool->threads[i], NULL);
  pool->thread_count = 0;
  pool->stop = false;
}

/* ---- Pools ----------------------------------------------------------------------------------------------------- */

vcs_pool_t *vcs_pool_create(vcs_batch_t *batch, int32_t threads, bool spins) {
  vcs_pool_t *pool = calloc(1, sizeof *pool);
  if (pool) pool->threads = calloc((size_t)threads + 1, sizeof *pool->threads);
  if (!pool || !pool->threads) {
    free(pool);
    return NULL;
  }
  pthread_mutex_init(&pool->changing, NULL);
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->work_came, NULL);
  pool->first = batch;
  pool->threads_wanted = threads;
  pool->spins = spins;
  start_threads(pool);
  return pool;
}

bool vcs_pool_lost_threads(const vcs_pool_t *pool) { return pool->thread_count && pool->process != getpid(); }

static void take_off_list(vcs_pool_t *pool, vcs_batch_t *batch) {
  vcs_batch_t **at = &pool->first;
  while (*at != batch) at = &(*at)->next_in_pool;
  *at = batch->next_in_pool;
  batch->next_in_pool = NULL;
  batch->pool = NULL;
}

void vcs_pool_leave(vcs_batch_t *batch) {
  vcs_pool_t *pool = batch->pool;
  bool last;
  if (vcs_pool_lost_threads(pool)) { /* a lock may be one that a thread of the parent holds */
    take_off_list(pool, batch);
    last = !pool->first;
  } else {
    pthread_mutex_lock(&pool->changing);
    stop_threads(pool);
    take_off_list(pool, batch);
    last = !pool->first;
    if (!last) start_threads(pool);
    pthread_mutex_unlock(&pool->changing);
    if (last) {
      pthread_mutex_destroy(&pool->changing);
      pthread_mutex_destroy(&pool->lock);
      pthread_cond_destroy(&pool->work_came);
    }
  }
  if (!last) return;
  free(pool->threads);
  free(pool);
}

void vcs_pool_join(vcs_batch_t *batch, vcs_pool_t *pool) {
  pthread_mutex_lock(&pool->changing);
  stop_threads(pool);
  batch->pool = pool;
  batch->next_in_pool = pool->first;
  pool->first = batch;
  start_threads(pool);
  pthread_mutex_unlock(&pool->changing);
}

/* ---- Adding work, and waiting for it --------------------------------------------------------------------------- */

static void announce(vcs_pool_t *pool) {
  atomic_fetch_add_explicit(&pool->news, 1, memory_order_release);
  wake_threads(pool);
}

void vcs_pool_add(vcs_batch_t *batch, const int32_t *ids, int32_t count) {
  const uint64_t envs = (uint64_t)batch->options.envs,
                 added = atomic_load_explicit(&batch->added, memory_order_relaxed);
  for (int32_t i = 0; i < count; i++) {
    atomic_store_explicit(&batch->todo[(added + (uint64_t)i) % envs], ids ? ids[i] : i, memory_order_relaxed);
  }
  atomic_fetch_add_explicit(&batch->under_way, count, memory_order_relaxed);
  atomic_store_explicit(&batch->added, added + (uint64_t)count, memory_order_release);
  announce(batch->pool);
}

void vcs_pool_add_round(vcs_batch_t *batch) {
  atomic_fetch_add_explicit(&batch->under_way, batch->options.envs, memory_order_relaxed);
  atomic_fetch_add_explicit(&batch->rounds, 1, memory_order_release);
  announce(batch->pool);
}

void vcs_pool_wait(vcs_batch_t *batch, int32_t count) {
  const vcs_pool_t *pool = batch->pool;
  if (vcs_batch_is_synchronous(batch) || pool->thread_count == 0) work(batch, pool->threads_wanted, NULL);
  for (int i = 0; pool->spins && i < SPINS; i++) {
    if (has_finished(batch, count)) return;
    pause_polling();
  }
  pthread_mutex_lock(&batch->lock);
  while (!has_finished(batch, count)) pthread_cond_wait(&batch->work_done, &batch->lock);
  pthread_mutex_unlock(&batch->lock);
}
