/* progress.c: a bar that costs an addition, and Ctrl-C as a flag.
 *
 * Adding is one atomic addition and one look at the clock's turn: the thread that finds a tenth of a second gone and
 * gets the lock draws, all other threads continue. The time left assumes that the rest goes as fast as what is done:
 *
 *   pong  [============                  ]  41%  410/1000  82/s  0:07 left
 */
#include "host/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/os.h"

/* ---- The bar ------------------------------------------------------------------------------------------------ */

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double vcs_seconds(void) { return 1e-9 * (double)nanoseconds(); }

/* "7", "1.5", "82", "15k", "230M" */
static void format_count(char *text, size_t size, double count) {
  static const char units[] = {0, 'k', 'M', 'G', 'T'};
  size_t unit = 0;
  while (count >= 9999.5 && unit + 1 < sizeof units) count /= 1000, unit++;
  bool whole = count >= 9.95 || count == (int)count;
  int length = snprintf(text, size, "%.*f", whole ? 0 : 1, count);
  if (units[unit] && length > 0 && (size_t)length + 1 < size) text[length] = units[unit], text[length + 1] = 0;
}

/* "0:07", "12:30", "3:05:00" */
static void format_time(char *text, size_t size, double seconds) {
  if (!(seconds < 360000)) {
    snprintf(text, size, "-:--");
    return;
  }
  int whole = (int)(seconds + 0.5), hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours)
    snprintf(text, size, "%d:%02d:%02d", hours, minutes, whole % 60);
  else
    snprintf(text, size, "%d:%02d", minutes, whole % 60);
}

void vcs_progress_format(char *line, size_t size, const char *title, uint64_t done, uint64_t total, double seconds,
                         int columns) {
  char rate[16], left[16], facts[96];
  double speed = seconds > 0 ? (double)done / seconds : 0;
  bool complete = done >= total;
  double share = complete ? 1 : (double)done / (double)total;
  format_count(rate, sizeof rate, speed);
  format_time(left, sizeof left, complete ? seconds : speed > 0 ? (double)(total - done) / speed : 1e9);
  snprintf(facts, sizeof facts, "%3d%%  %" PRIu64 "/%" PRIu64 "  %s/s  %s%s", (int)(100 * share), done, total, rate,
           left, complete ? "" : " left");
  int room = columns - (int)strlen(title) - (int)strlen(facts) - 6; /* "title  [bar]  facts" */
  if (room > 40) room = 40;
  if (room < 4) {
    snprintf(line, size, "%s  %s", title, facts);
    return;
  }
  static const char full[] = "========================================";
  int filled = (int)(share * room);
  snprintf(line, size, "%s  [%.*s%*s]  %s", title, filled, full, room - filled, "", facts);
}

static void draw(vcs_progress_t *progress, const char *before, const char *after) {
  char line[256];
  double seconds = 1e-9 * (double)(nanoseconds() - progress->start);
  vcs_progress_format(line, sizeof line, progress->title, progress->done, progress->total, seconds, 79);
  fprintf(stderr, "%s%s%s", before, line, after);
  fflush(stderr);
}

static const char erase_line[] = "\r\033[K";

void vcs_progress_start(vcs_progress_t *progress, const char *title, uint64_t total, vcs_progress_mode_t mode) {
  bool terminal = isatty(STDERR_FILENO);
  progress->title = title;
  progress->total = total;
  progress->done = 0;
  progress->start = nanoseconds();
  progress->next_draw = progress->start + 100000000;
  progress->draws = mode == VCS_PROGRESS_FORCE || (terminal && mode != VCS_PROGRESS_QUIET);
  progress->line = mode == VCS_PROGRESS_LINE;
  pthread_mutex_init(&progress->drawing, NULL);
}

void vcs_progress_add(vcs_progress_t *progress, uint64_t count) {
  atomic_fetch_add_explicit(&progress->done, count, memory_order_relaxed);
  if (!progress->draws) return;
  int64_t now = nanoseconds();
  if (now < progress->next_draw || pthread_mutex_trylock(&progress->drawing) != 0) return;
  if (now >= progress->next_draw) {
    progress->next_draw = now + 100000000;
    draw(progress, erase_line, "");
  }
  pthread_mutex_unlock(&progress->drawing);
}

int vcs_progress_report(void *context, const char *step, uint64_t done, uint64_t total) {
  vcs_progress_part_t *part = context;
  (void)step, (void)total;
  if (done > part->done) vcs_progress_add(part->progress, done - part->done);
  part->done = done;
  return vcs_interrupted();
}

void vcs_progress_finish(vcs_progress_t *progress) {
  if (progress->draws)
    draw(progress, erase_line, "\n");
  else if (progress->line)
    draw(progress, "", "\n");
  pthread_mutex_destroy(&progress->drawing);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t catching;
static _Thread_local const vcs_stop_flag_t *watched;

static void on_signal(int signal_number) {
  if (interrupts++ > 0) _exit(128 + signal_number);
}

void vcs_interrupt_catch(void) {
  if (catching) return;
  vcs_os_catch_signals(on_signal);
  catching = 1;
}

bool vcs_interrupted(void) {
  return interrupts > 0 || (watched && atomic_load_explicit(watched, memory_order_relaxed) != 0);
}

const vcs_stop_flag_t *vcs_interrupt_watch(const vcs_stop_flag_t *flag) {
  const vcs_stop_flag_t *before = watched;
  watched = flag;
  return before;
}

void vcs_interrupt_clear(void) { interrupts = 0; }

void vcs_interrupt_release(void) {
  if (!catching) return;
  vcs_os_release_signals();
  catching = 0;
}
