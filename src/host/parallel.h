/* parallel.h: one function over many items on all cores.
 *
 * Threads take the next item when they are free, so uneven items balance. The calling thread is worker 0 and works
 * too: with one thread nothing is started, and if a thread cannot be started the remaining threads do its share, so
 * this cannot fail. It ends early, with the items under way finished, on Ctrl-C (vcs_interrupted) or when a job
 * returns false.
 */
#ifndef VCS_HOST_PARALLEL_H
#define VCS_HOST_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Does item 0..items-1 as worker 0..threads-1 (for per-thread scratch). Returns false to stop everyone. */
typedef bool (*vcs_job_t)(void *context, size_t item, int worker);

/* The workers that vcs_parallel uses, at most 1024: 0 or less means all CPUs. */
int vcs_thread_count(int threads, size_t items);

/* How many items were done: `items`, unless stopped. */
size_t vcs_parallel(size_t items, int threads, vcs_job_t job, void *context);

/* Starts a thread with VCS_THREAD_STACK bytes of stack. A run keeps machines, pictures and lists of objects on its
 * stack, more than the default of musl (128 KiB) and of macOS (512 KiB). Returns what pthread_create returns. */
enum { VCS_THREAD_STACK = 8 << 20 };
int vcs_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
