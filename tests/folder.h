/* folder.h: an empty folder for the files of a test program, removed at the end.
 *
 * make_root and remove_root are a group's setup and teardown. Needs _XOPEN_SOURCE 700 (mkdtemp, nftw); include it after
 * cmocka.h. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/files.h"

static char root[VCS_PATH_SIZE];

/* The path of a file in the folder. Eight of them are valid at a time. */
static inline const char *in_root(const char *name) {
  static char paths[8][VCS_PATH_SIZE];
  static int next;
  char *path = paths[next++ % 8];
  assert_true(vcs_path_join(path, VCS_PATH_SIZE, root, name));
  return path;
}

static inline int make_root(void **state) {
  (void)state;
  snprintf(root, sizeof root, "%s/diffvcs-test-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  return mkdtemp(root) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *status, int flag, struct FTW *ftw) {
  (void)status, (void)flag, (void)ftw;
  return remove(path);
}

static inline int remove_root(void **state) {
  (void)state;
  return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
