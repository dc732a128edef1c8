/* fail_at.c: a library for LD_PRELOAD that makes one call to the system fail, or kills the process there.
 *
 *   FAIL_CALLS   the calls that count, with commas: open, flock, fsync, rename, unlink, mkdir, malloc, calloc, realloc
 *   FAIL_AT      the number of the call that fails, from 1
 *   FAIL_HOW     kill, or the number of the error; the call returns -1 (or NULL) with it
 *   FAIL_ON      1: every later call fails as well
 *   FAIL_NOTE    a file that is made when the call is reached
 *
 * tests/faults.py counts FAIL_AT up until a run ends without reaching it: then every call of the run has failed once.
 * Only calls of the program and of libraries are seen, not those that the C library makes for itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long at = -1;
static bool kills, goes_on;
static int error_number;
static char counted[256]; /* ",open,fsync," */

__attribute__((constructor)) static void begin(void) {
  const char *list = getenv("FAIL_CALLS"), *number = getenv("FAIL_AT"), *how = getenv("FAIL_HOW");
  if (!list || !number || !how || strlen(list) + 3 > sizeof counted) return;
  counted[0] = ',';
  memcpy(counted + 1, list, strlen(list));
  counted[1 + strlen(list)] = ',';
  kills = strcmp(how, "kill") == 0;
  error_number = atoi(how);
  goes_on = getenv("FAIL_ON") != NULL;
  at = atol(number);
}

/* Whether this call fails; `name` has commas around it. */
static bool fails(const char *name) {
  if (at < 0 || !strstr(counted, name)) return false;
  const long number = atomic_fetch_add(&calls, 1) + 1;
  if (number < at || (number > at && !goes_on)) return false;
  const char *note = getenv("FAIL_NOTE");
  if (note) {
    const long file = syscall(SYS_openat, AT_FDCWD, note, O_WRONLY | O_CREAT, 0666);
    if (file >= 0) syscall(SYS_close, file);
  }
  if (kills) syscall(SYS_kill, getpid(), SIGKILL);
  errno = error_number;
  return true;
}

/* The next library's function of the same name. */
#define NEXT(type, name, ...)                           \
  static type (*next)(__VA_ARGS__);                     \
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name); \
  if (fails("," #name ",")) return (type)(kills ? 0 : -1)

static int open_next(const char *path, int flags, mode_t mode) {
  NEXT(int, open, const char *, int, ...);
  return next(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_next(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_next(path, flags, mode);
}

int flock(int file, int operation) {
  NEXT(int, flock, int, int);
  return next(file, operation);
}

int fsync(int file) {
  NEXT(int, fsync, int);
  return next(file);
}

int rename(const char *from, const char *to) {
  NEXT(int, rename, const char *, const char *);
  return next(from, to);
}

int unlink(const char *path) {
  NEXT(int, unlink, const char *);
  return next(path);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(int, mkdir, const char *, mode_t);
  return next(path, mode);
}

extern void *__libc_malloc(size_t size); /* glibc's own: dlsym allocates */
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) { return fails(",malloc,") ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(",calloc,") ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return fails(",realloc,") ? NULL : __libc_realloc(memory, size); }
