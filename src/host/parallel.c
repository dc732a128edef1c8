/* parallel.c: a counter that threads draw items from.
 *
 * One atomic counter is all the scheduling there is; items here are episodes, games or bit flips, thousands of times
 * longer than the addition. `done` counts finished items; once `stop` is set, no thread takes another item.
 */
#include "host/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "host/os.h"
#include "host/progress.h"

typedef struct {
  size_t items;
  vcs_job_t job;
  void *context;
  atomic_size_t next, done;
  atomic_bool stop;
  const vcs_stop_flag_t *watched; /* the caller's, which every worker watches */
} work_t;

typedef struct {
  work_t *work;
  int worker;
  pthread_t thread;
} worker_t;

static void *run_worker(void *argument) {
  worker_t *self = argument;
  work_t *work = self->work;
  vcs_interrupt_watch(work->watched);
  while (!atomic_load_explicit(&work->stop, memory_order_relaxed) && !vcs_interrupted()) {
    size_t item = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
    if (item >= work->items) break;
    if (!work->job(work->context, item, self->worker)) work->stop = true;
    atomic_fetch_add_explicit(&work->done, 1, memory_order_relaxed);
  }
  return NULL;
}

enum { THREADS_MOST = 1024 }; /* more, each with memory of its own, would serve no processor */

int vcs_thread_count(int threads, size_t items) {
  if (threads <= 0) threads = vcs_os_processors();
  if (threads > THREADS_MOST) threads = THREADS_MOST;
  if ((size_t)threads > items) threads = items > 0 ? (int)items : 1;
  return threads;
}

int vcs_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
  pthread_attr_t attributes;
  int failed = pthread_attr_init(&attributes);
  if (failed) return failed;
  failed = pthread_attr_setstacksize(&attributes, VCS_THREAD_STACK);
  if (!failed) failed = pthread_create(thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return failed;
}

size_t vcs_parallel(size_t items, int threads, vcs_job_t job, void *context) {
  work_t work = {.items = items, .job = job, .context = context, .watched = vcs_interrupt_watch(NULL)};
  worker_t self = {.work = &work, .worker = 0};
  int count = vcs_thread_count(threads, items), started = 1;
  worker_t *workers = count > 1 ? calloc((size_t)count, sizeof *workers) : NULL;
  for (; workers && started < count; started++) {
    workers[started].work = &work;
    workers[started].worker = started;
    if (vcs_thread_start(&workers[started].thread, run_worker, &workers[started]) != 0) break;
  }
  run_worker(&self);
  for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
  free(workers);
  return work.done;
}
