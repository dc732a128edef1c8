/* Threads over items, Ctrl-C, and the progress bar they share. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/os.h"
#include "host/parallel.h"
#include "host/progress.h"

/* ---- Items -------------------------------------------------------------------------------------------------- */

enum { ITEMS = 10000, WORKERS = 7 };

typedef struct {
  atomic_int times[ITEMS];
  atomic_int by_worker[WORKERS];
  atomic_int at_once, most_at_once;
  size_t stop_at;
  pthread_t caller;
  atomic_bool caller_worked;
} record_t;

static bool note(void *context, size_t item, int worker) {
  record_t *record = context;
  record->times[item]++;
  record->by_worker[worker]++;
  return record->stop_at == 0 || item != record->stop_at;
}

static void test_every_item_is_done_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= WORKERS; threads++) {
    static record_t record;
    memset(&record, 0, sizeof record);
    assert_int_equal(vcs_parallel(ITEMS, threads, note, &record), ITEMS);
    for (int i = 0; i < ITEMS; i++) assert_int_equal(record.times[i], 1);
    int sum = 0;
    for (int i = 0; i < threads; i++) sum += record.by_worker[i];
    assert_int_equal(sum, ITEMS);
  }
}

static void test_no_items_is_no_work(void **state) {
  (void)state;
  assert_int_equal(vcs_parallel(0, 4, note, NULL), 0);
}

static bool meet(void *context, size_t item, int worker) {
  (void)item, (void)worker;
  record_t *record = context;
  int here = ++record->at_once;
  for (int most = record->most_at_once; here > most;) {
    if (atomic_compare_exchange_weak(&record->most_at_once, &most, here)) break;
  }
  for (int i = 0; i < 2000 && record->at_once < 3 && record->most_at_once < 3; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  record->at_once--;
  return true;
}

static void test_threads_run_at_the_same_time(void **state) {
  (void)state;
  static record_t record;
  assert_int_equal(vcs_parallel(3, 3, meet, &record), 3);
  assert_int_equal(record.most_at_once, 3);
}

static void test_a_job_that_returns_false_stops_the_rest(void **state) {
  (void)state;
  static record_t record;
  record.stop_at = 50;
  assert_int_equal(vcs_parallel(ITEMS, 1, note, &record), 51);
  assert_int_equal(record.times[51], 0);
}

static bool where(void *context, size_t item, int worker) {
  (void)item;
  record_t *record = context;
  if (worker == 0) record->caller_worked = pthread_equal(pthread_self(), record->caller) != 0;
  return true;
}

static void test_worker_0_is_the_caller(void **state) {
  (void)state;
  static record_t record;
  record.caller = pthread_self();
  vcs_parallel(1, 1, where, &record);
  assert_true(record.caller_worked);
}

static void test_thread_count_is_bounded_by_items_and_defaults_to_cpus(void **state) {
  (void)state;
  assert_true(vcs_os_processors() >= 1);
  assert_int_equal(vcs_thread_count(0, 1 << 20), vcs_os_processors());
  assert_int_equal(vcs_thread_count(-1, 1 << 20), vcs_os_processors());
  assert_int_equal(vcs_thread_count(8, 3), 3);
  assert_int_equal(vcs_thread_count(8, 0), 1);
  assert_int_equal(vcs_thread_count(INT32_MAX, 1 << 20), 1024);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------- */

static bool interrupt_at_20(void *context, size_t item, int worker) {
  (void)context, (void)worker;
  if (item == 20) raise(SIGINT);
  return true;
}

static void test_ctrl_c_ends_after_the_item_under_way(void **state) {
  (void)state;
  vcs_interrupt_catch();
  size_t done = vcs_parallel(ITEMS, 1, interrupt_at_20, NULL);
  bool interrupted = vcs_interrupted();
  vcs_interrupt_clear();
  vcs_interrupt_release();
  assert_int_equal(done, 21);
  assert_true(interrupted);
  assert_false(vcs_interrupted());
}

static void test_second_ctrl_c_ends_the_process(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    vcs_interrupt_catch();
    raise(SIGINT);
    if (!vcs_interrupted()) _exit(1);
    raise(SIGINT);
    _exit(2);
  }
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  assert_int_equal(WEXITSTATUS(result), 128 + SIGINT);
}

static void former_handler(int number) { (void)number; }

static void test_release_gives_the_former_handler_back(void **state) {
  (void)state;
  struct sigaction former = {.sa_handler = former_handler}, now;
  sigaction(SIGINT, &former, NULL);
  vcs_interrupt_catch();
  vcs_interrupt_catch(); /* twice is once */
  vcs_interrupt_release();
  sigaction(SIGINT, NULL, &now);
  signal(SIGINT, SIG_DFL);
  assert_ptr_equal(now.sa_handler, former_handler);
}

static void test_an_ignored_ctrl_c_stays_ignored(void **state) {
  (void)state;
  signal(SIGINT, SIG_IGN);
  vcs_interrupt_catch();
  raise(SIGINT);
  const bool interrupted = vcs_interrupted();
  vcs_interrupt_clear();
  vcs_interrupt_release();
  assert_ptr_equal(signal(SIGINT, SIG_DFL), SIG_IGN);
  assert_false(interrupted);
}

/* ---- Progress ----------------------------------------------------------------------------------------------- */

static void test_bar_shows_share_rate_and_time_left(void **state) {
  (void)state;
  char line[256];
  vcs_progress_format(line, sizeof line, "pong", 410, 1000, 5.0, 79);
  assert_string_equal(line, "pong  [===============                       ]   41%  410/1000  82/s  0:07 left");
  vcs_progress_format(line, sizeof line, "pong", 1000, 1000, 12.3, 41);
  assert_string_equal(line, "pong  [====]  100%  1000/1000  81/s  0:12");
}

static void test_bar_gives_way_to_facts_on_a_narrow_terminal(void **state) {
  (void)state;
  char line[256];
  vcs_progress_format(line, sizeof line, "pong", 1, 4, 3600, 20);
  assert_string_equal(line, "pong   25%  1/4  0.0/s  3:00:00 left");
}

static void test_bar_at_the_start_knows_no_time_left(void **state) {
  (void)state;
  char line[256];
  vcs_progress_format(line, sizeof line, "", 0, 10, 0.0, 10);
  assert_string_equal(line, "    0%  0/10  0/s  -:-- left");
}

static bool advance(void *context, size_t item, int worker) {
  (void)item, (void)worker;
  vcs_progress_add(context, 1);
  return true;
}

/* What a run of ITEMS items writes to a stderr that is a pipe. */
static void captured(vcs_progress_mode_t mode, char *text, size_t size) {
  int ends[2], old = dup(2);
  vcs_progress_t progress;
  assert_int_equal(pipe(ends), 0);
  dup2(ends[1], 2);
  vcs_progress_start(&progress, "run", ITEMS, mode);
  vcs_parallel(ITEMS, 4, advance, &progress);
  vcs_progress_finish(&progress);
  dup2(old, 2);
  close(old);
  close(ends[1]);
  ssize_t got = read(ends[0], text, size - 1);
  text[got > 0 ? got : 0] = 0;
  close(ends[0]);
}

static void test_progress_is_silent_without_a_terminal(void **state) {
  (void)state;
  char text[4096];
  captured(VCS_PROGRESS_AUTO, text, sizeof text);
  assert_string_equal(text, "");
  captured(VCS_PROGRESS_QUIET, text, sizeof text);
  assert_string_equal(text, "");
}

static void test_progress_line_tells_the_end_once(void **state) {
  (void)state;
  char text[4096];
  captured(VCS_PROGRESS_LINE, text, sizeof text);
  assert_non_null(strstr(text, "100%  10000/10000"));
  assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
  assert_null(strchr(text, '\r'));
}

static void test_progress_forced_draws_anywhere(void **state) {
  (void)state;
  char text[4096];
  captured(VCS_PROGRESS_FORCE, text, sizeof text);
  assert_int_equal(text[0], '\r');
  assert_non_null(strstr(text, "10000/10000"));
}

/* ---- A flag for the calls of one thread --------------------------------------------------------------------- */

typedef struct {
  vcs_stop_flag_t flag;
  atomic_int done;
} watcher_t;

/* The tenth item of a call sets its own flag, if it has one. */
static bool count_and_stop(void *context, size_t item, int worker) {
  watcher_t *watcher = context;
  (void)worker;
  watcher->done++;
  if (item == 10) watcher->flag = 1;
  return true;
}

static void *call_unwatched(void *context) {
  vcs_parallel(ITEMS, 2, count_and_stop, context);
  return NULL;
}

static void test_a_flag_stops_the_calls_of_its_thread_only(void **state) {
  (void)state;
  watcher_t mine = {0}, other = {0};
  pthread_t thread;
  assert_null(vcs_interrupt_watch(&mine.flag));
  assert_int_equal(pthread_create(&thread, NULL, call_unwatched, &other), 0);
  assert_true(vcs_parallel(ITEMS, 3, count_and_stop, &mine) < ITEMS);
  assert_true(vcs_interrupted());
  pthread_join(thread, NULL);
  assert_int_equal(other.done, ITEMS);
  assert_ptr_equal(vcs_interrupt_watch(NULL), &mine.flag); /* vcs_parallel gives it back */
  assert_false(vcs_interrupted());
}

/* As a run does, with more stack than musl and macOS give to a thread. */
static bool fill_stack(void *context, size_t item, int worker) {
  volatile uint8_t bytes[VCS_THREAD_STACK / 2];
  (void)worker;
  for (size_t i = 0; i < sizeof bytes; i += 1024) bytes[i] = (uint8_t)item;
  atomic_fetch_add((atomic_int *)context, bytes[0] == (uint8_t)item);
  return true;
}

static void test_threads_have_room_for_a_run_on_their_stacks(void **state) {
  (void)state;
  atomic_int filled = 0;
#ifdef __GLIBC__
  pthread_attr_t small, usual;
  assert_int_equal(pthread_getattr_default_np(&usual), 0);
  assert_int_equal(pthread_attr_init(&small), 0);
  assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0); /* musl's default */
  assert_int_equal(pthread_setattr_default_np(&small), 0);
#endif
  assert_int_equal(vcs_parallel(64, 4, fill_stack, &filled), 64);
  assert_int_equal(filled, 64);
#ifdef __GLIBC__
  assert_int_equal(pthread_setattr_default_np(&usual), 0);
#endif
}

int main(void) {
  signal(SIGINT, SIG_DFL); /* which a shell makes what it runs in the background ignore */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_flag_stops_the_calls_of_its_thread_only),
      cmocka_unit_test(test_every_item_is_done_once),
      cmocka_unit_test(test_no_items_is_no_work),
      cmocka_unit_test(test_threads_run_at_the_same_time),
      cmocka_unit_test(test_a_job_that_returns_false_stops_the_rest),
      cmocka_unit_test(test_worker_0_is_the_caller),
      cmocka_unit_test(test_threads_have_room_for_a_run_on_their_stacks),
      cmocka_unit_test(test_thread_count_is_bounded_by_items_and_defaults_to_cpus),
      cmocka_unit_test(test_ctrl_c_ends_after_the_item_under_way),
      cmocka_unit_test(test_second_ctrl_c_ends_the_process),
      cmocka_unit_test(test_release_gives_the_former_handler_back),
      cmocka_unit_test(test_an_ignored_ctrl_c_stays_ignored),
      cmocka_unit_test(test_bar_shows_share_rate_and_time_left),
      cmocka_unit_test(test_bar_gives_way_to_facts_on_a_narrow_terminal),
      cmocka_unit_test(test_bar_at_the_start_knows_no_time_left),
      cmocka_unit_test(test_progress_is_silent_without_a_terminal),
      cmocka_unit_test(test_progress_line_tells_the_end_once),
      cmocka_unit_test(test_progress_forced_draws_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
