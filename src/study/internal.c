/* internal.c: progress of the studies (internal.h). */
#include "study/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/progress.h"

void vcs_steps_begin(vcs_steps_t *steps, const vcs_report_t *report, const char *name, uint64_t total) {
  *steps = (vcs_steps_t){.report = *report, .name = name, .total = total};
  pthread_mutex_init(&steps->lock, NULL);
  vcs_steps_add(steps, 0);
}

bool vcs_steps_add(vcs_steps_t *steps, uint64_t count) {
  pthread_mutex_lock(&steps->lock);
  steps->done += count;
  if (steps->report.report &&
      steps->report.report(steps->report.context, steps->name, steps->done, steps->total) != 0) {
    steps->stopped = true;
  }
  const bool goes_on = !steps->stopped;
  pthread_mutex_unlock(&steps->lock);
  return goes_on && !vcs_interrupted();
}

bool vcs_steps_stopped(vcs_steps_t *steps) {
  pthread_mutex_lock(&steps->lock);
  const bool stopped = steps->stopped;
  pthread_mutex_unlock(&steps->lock);
  return stopped || vcs_interrupted();
}

void vcs_steps_end(vcs_steps_t *steps) { pthread_mutex_destroy(&steps->lock); }

vcs_status_t vcs_window_check(int64_t window, vcs_error_t *error) {
  if (window >= 0 && window <= VCS_FRAME_INSTRUCTIONS) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the window is %lld, but goes from 0 to %d instructions",
                        (long long)window, (int)VCS_FRAME_INSTRUCTIONS);
}

vcs_status_t vcs_methods_check(const int32_t *methods, int32_t count, vcs_error_t *error) {
  if (count < 1) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is at least one method, not %d", (int)count);
  for (int32_t i = 0; i < count; i++) {
    if (!vcs_study_method_name(methods[i]))
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no method %d", (int)methods[i]);
  }
  return VCS_OK;
}

vcs_status_t vcs_cancelled(vcs_error_t *error) { return vcs_error_fill(error, VCS_CANCELLED, "cancelled"); }

void vcs_text_release(char *text) { free(text); }

enum { COUNT_MAX = 100000 }; /* more than any picture or run has, so that sums of two fit into an int */

bool vcs_parse_counts(const char *text, int *numbers, int count) {
  for (int i = 0; i < count; i++) {
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    const long number = strtol(text, &end, 10);
    if (number > COUNT_MAX || *end != (i + 1 < count ? ',' : 0)) return false;
    numbers[i] = (int)number;
    text = end + 1;
  }
  return true;
}
