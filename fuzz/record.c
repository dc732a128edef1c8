/* record.c: records of runs, as `diffvcs verify` reads them. A record may name any frame, so the run is cancelled after
 * some steps. */
#include "diffvcs/study.h"
#include "fuzz.h"

static int stop(void *context, const char *step, uint64_t done, uint64_t total) {
  (void)step, (void)done, (void)total;
  return ++*(int *)context > 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const uint64_t seed = take(&input, 1);
  char *text = take_text(&input);
  int reports = 0;
  const vcs_report_t report = {stop, &reports};
  vcs_record_check_t result;
  vcs_error_t error = {""};
  if (accepted(vcs_verify(demo_cart(), text, seed, &report, &result, &error), &error)) {
    check(result.checked >= 0 && result.differs_at >= -1);
  }
  free(text);
  return 0;
}
