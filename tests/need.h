/* need.h: how a C test reports that something it needs is missing.
 *
 * A test that cannot run, or a part of one, prints one line `SKIP: NEED: test: reason`. NEED is a word of the list in
 * CONTRIBUTING.md (roms, gpu, ffmpeg, ...). tests/run_all.sh counts these lines. Where the environment variable
 * DIFFVCS_REQUIRE names the need (a list with commas, or `all`), the skip is a failure instead. tests/need.sh does the
 * same for shell scripts, python/tests/needs.py for Python. */
#ifndef TESTS_NEED_H
#define TESTS_NEED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool need_is_required(const char *need) {
  const char *list = getenv("DIFFVCS_REQUIRE");
  const size_t length = strlen(need);
  while (list && *list) {
    const size_t word = strcspn(list, ",");
    if ((word == length && strncmp(list, need, length) == 0) || (word == 3 && strncmp(list, "all", 3) == 0))
      return true;
    list += word + (list[word] == ',');
  }
  return false;
}

/* Prints the line; `where` names the test. True if the need is required, so that the caller has to fail. */
static inline bool need_missing(const char *where, const char *need, const char *reason) {
  const bool required = need_is_required(need);
  printf("%s: %s: %s: %s\n", required ? "REQUIRED BUT MISSING" : "SKIP", need, where, reason);
  fflush(stdout);
  return required;
}

/* For a main function: the exit status of a program that cannot test anything. */
static inline int need_exit(const char *where, const char *need, const char *reason) {
  return need_missing(where, need, reason) ? 1 : 77;
}

/* Inside a cmocka test. NEED_PART: a part of the test is left out, the rest goes on. NEED: the test ends here. */
#define NEED_PART(need, reason)                       \
  do {                                                \
    if (need_missing(__func__, need, reason)) fail(); \
  } while (0)
#define NEED(need, reason)   \
  do {                       \
    NEED_PART(need, reason); \
    skip();                  \
  } while (0)

/* The folder of ROM images, or NULL. An empty variable counts as none. */
static inline const char *rom_folder(void) {
  const char *folder = getenv("DIFFVCS_ROMS");
  return folder && *folder ? folder : NULL;
}

#endif
