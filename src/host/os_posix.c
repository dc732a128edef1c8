/* os_posix.c: os.h on Linux, macOS and other POSIX systems.
 *
 * The writer of a draft holds a lock on it until it has its final name, so a draft that can be locked has no writer.
 * Locks are those of flock(): they belong to the open file, and end with the process.
 *
 * A child reads from a socket, not a pipe, so that its death is an error to send() and no SIGPIPE. It is in a process
 * group of its own, where the terminal's Ctrl-C does not reach it.
 */
#if !defined(_WIN32)
#define _GNU_SOURCE      /* dladdr, flock, realpath, sched_getaffinity */
#define _DARWIN_C_SOURCE /* the same on macOS */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#if defined(__linux__)
#include <sched.h>
#endif
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/files.h"
#include "host/os.h"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
extern char **environ; /* unistd.h declares it elsewhere */
#endif

/* ---- Files -------------------------------------------------------------------------------------------------- */

/* The descriptor of this process that a path names, or -1. */
static int descriptor_named(const char *path) {
  static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(path, streams[i]) == 0) return i;
  }
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(folders[i]);
    const char *number = path + length;
    if (strncmp(path, folders[i], length) != 0 || !*number || number[strspn(number, "0123456789")]) continue;
    const long value = strtol(number, NULL, 10);
    return value <= INT_MAX ? (int)value : -1;
  }
  return -1;
}

/* The links of folders are left to the system. */
bool vcs_os_follow_links(const char *path, char *target, size_t size) {
  enum { LINKS_MAX = 40 }; /* as many as Linux follows */
  if (snprintf(target, size, "%s", path) >= (int)size) return errno = ENAMETOOLONG, false;
  for (int i = 0; i < LINKS_MAX; i++) {
    char link[VCS_PATH_SIZE], next[2 * VCS_PATH_SIZE];
    const ssize_t length = descriptor_named(target) < 0 ? readlink(target, link, sizeof link - 1) : -1;
    if (length < 0) return true;
    link[length] = 0;
    const int folder = link[0] == '/' ? 0 : (int)(vcs_path_base(target) - target);
    snprintf(next, sizeof next, "%.*s%s", folder, target, link);
    if (snprintf(target, size, "%s", next) >= (int)size) return errno = ENAMETOOLONG, false;
  }
  return errno = ELOOP, false;
}

vcs_os_kind_t vcs_os_kind(const char *path) {
  struct stat status;
  char target[VCS_PATH_SIZE];
  if (stat(path, &status) != 0) return VCS_OS_NOTHING;
  if (S_ISDIR(status.st_mode)) return VCS_OS_DIRECTORY;
  if (!S_ISREG(status.st_mode)) return VCS_OS_DEVICE;
  const bool is_open = vcs_os_follow_links(path, target, sizeof target) && descriptor_named(target) >= 0;
  return is_open ? VCS_OS_DEVICE : VCS_OS_FILE;
}

char *vcs_os_real_path(const char *path) { return realpath(path, NULL); }

bool vcs_os_executable(char *path, size_t size) {
#if defined(__APPLE__)
  uint32_t room = (uint32_t)size;
  return _NSGetExecutablePath(path, &room) == 0;
#else
  ssize_t length = readlink("/proc/self/exe", path, size);
  if (length < 0 || (size_t)length >= size) return false;
  path[length] = 0;
  return true;
#endif
}

int vcs_os_make_directory(const char *path) { return mkdir(path, 0777); }

enum { WRITER_MILLISECONDS = 2000 };

static int wait_as_usual(int file) {
  if (fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) == 0) return file;
  close(file);
  return -1;
}

/* Whether a pipe that is open for reading has a writer that has written nothing yet. A pipe reports that its writers
 * are gone (POLLHUP) only if one has come and gone since it was opened: this process is that one. */
static bool has_silent_writer(int file, const char *path) {
  struct pollfd data = {.fd = file, .events = POLLIN};
  const int writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (writer < 0) return false;
  close(writer);
  return poll(&data, 1, 0) == 0 || data.revents & POLLIN;
}

/* Waits until a pipe has bytes or has ended. Returns false and sets errno if the pipe has no writer, or at Ctrl-C. */
static bool wait_for_data(int file, const char *path) {
  struct pollfd data = {.fd = file, .events = POLLIN};
  int ready = poll(&data, 1, WRITER_MILLISECONDS);
  if (ready == 0 && !has_silent_writer(file, path)) return errno = ENXIO, false;
  if (ready == 0) ready = poll(&data, 1, -1);
  return ready > 0;
}

int vcs_os_open_to_read(const char *path) {
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat facts;
  if (file < 0) return -1;
  if (fstat(file, &facts) == 0 && S_ISFIFO(facts.st_mode) && !wait_for_data(file, path)) {
    const int reason = errno;
    close(file);
    return errno = reason, -1;
  }
  return wait_as_usual(file);
}

/* A descriptor is copied, not opened again: what is written follows what others have written there. */
int vcs_os_open_device(const char *path) {
  char target[VCS_PATH_SIZE];
  const int named = vcs_os_follow_links(path, target, sizeof target) ? descriptor_named(target) : -1;
  if (named >= 0) {
    const int flags = fcntl(named, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) return errno = EBADF, -1;
    return fcntl(named, F_DUPFD_CLOEXEC, 0);
  }
  const int file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  return file < 0 ? -1 : wait_as_usual(file);
}

bool vcs_os_may_write(const char *path) { return access(path, W_OK) == 0; }

/* Permissions are a courtesy: on a file system that has none the file is written all the same. */
void vcs_os_copy_permissions(const char *path, int file) {
  struct stat old;
  if (stat(path, &old) != 0 || fchmod(file, old.st_mode & 07777) != 0) errno = 0;
}

/* A closed stream becomes a descriptor that can only be used the other way, so that its use still fails. */
void vcs_os_prepare_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    const bool is_closed = fcntl(stream, F_GETFD) < 0 && errno == EBADF;
    if (is_closed && open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

/* Whether a name still belongs to an open file, and not to one that has replaced it. */
static bool has_name(int file, const char *path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

/* A process that takes a new draft for a leftover has removed it by the time that the lock is ours: then the draft has
 * no name, and is another's. Without locks, no draft is ever taken for a leftover. */
int vcs_os_draft_create(const char *path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 || flock(file, LOCK_EX) != 0 || has_name(file, path)) return file;
  close(file);
  return errno = EEXIST, -1;
}

/* The name is removed while the lock is held, so that it cannot be another's. */
void vcs_os_draft_sweep(const char *path) {
  const int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && has_name(file, path)) unlink(path);
  close(file);
}

bool vcs_os_draft_publish(FILE *stream, const char *draft, const char *path) {
  const bool named = fsync(fileno(stream)) == 0 && rename(draft, path) == 0; /* before the lock ends */
  const int reason = errno;
  fclose(stream);
  errno = reason;
  if (!named) return false;
  /* The new name itself should survive a power cut; not every file system can promise it. */
  const size_t length = (size_t)(vcs_path_base(path) - path);
  char directory[VCS_PATH_SIZE];
  snprintf(directory, sizeof directory, "%.*s", length ? (int)length : 1, length ? path : ".");
  const int file = open(directory, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    fsync(file);
    close(file);
  }
  return true;
}

int vcs_os_lock(const char *path) {
  for (;;) {
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    int locked;
    do {
      locked = flock(file, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    const int reason = errno;
    const bool current = has_name(file, path);
    if (locked == 0 && current) return file;
    close(file); /* while this process waited, the file was replaced */
    if (locked != 0) return errno = reason, -1;
  }
}

void vcs_os_unlock(int lock) { close(lock); }

/* ---- The machine -------------------------------------------------------------------------------------------- */

int vcs_os_processors(void) {
#if defined(__linux__)
  cpu_set_t allowed; /* fewer than there are under taskset, and in many containers */
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) return CPU_COUNT(&allowed);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > 4096 ? 4096 : (int)online;
}

double vcs_os_memory(void) {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return (double)pages * (double)size;
#endif
  return HUGE_VAL;
}

void *vcs_os_allocate_lines(size_t size) { return aligned_alloc(64, (size + 63) & ~(size_t)63); }

void vcs_os_free_lines(void *memory) { free(memory); }

static struct sigaction former_int, former_term;

static void catch_signal(int number, const struct sigaction *action, struct sigaction *former) {
  sigaction(number, NULL, former);
  if (former->sa_handler != SIG_IGN) sigaction(number, action, NULL);
}

void vcs_os_catch_signals(void (*handler)(int signal)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  catch_signal(SIGINT, &action, &former_int);
  catch_signal(SIGTERM, &action, &former_term);
}

void vcs_os_release_signals(void) {
  sigaction(SIGINT, &former_int, NULL);
  sigaction(SIGTERM, &former_term, NULL);
}

/* ---- Shared libraries --------------------------------------------------------------------------------------- */

void *vcs_os_library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

void *vcs_os_library_symbol(void *library, const char *name) { return dlsym(library, name); }

void vcs_os_library_error(char *text, size_t size) {
  const char *why = dlerror();
  snprintf(text, size, "%s", why ? why : "");
}

/* A program may have been called by any name, `./x` for one: its own folder is what the system says it is. In a program
 * that is linked statically dladdr finds nothing. */
bool vcs_os_library_path(const void *address, char *path, size_t size) {
  Dl_info here;
  if (!dladdr(address, &here) || !here.dli_fname || here.dli_fname[0] != '/') return vcs_os_executable(path, size);
  return snprintf(path, size, "%s", here.dli_fname) < (int)size;
}

/* ---- A child process ---------------------------------------------------------------------------------------- */

const vcs_os_child_t vcs_os_no_child = {-1, -1, -1};

static bool open_pair(bool is_socket, int ends[2]) {
  if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) return ends[0] = ends[1] = -1, false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return true;
}

static void close_end(intptr_t *end) {
  if (*end >= 0) close((int)*end);
  *end = -1;
}

static int spawn(pid_t *process, int input, int complaints, char *const arguments[]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, complaints, 2);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int problem = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

int vcs_os_child_start(vcs_os_child_t *child, char *const arguments[]) {
  int to[2], from[2];
  pid_t process = -1;
  bool opened = open_pair(true, to);
  opened = open_pair(false, from) && opened;
  const int problem = opened ? spawn(&process, to[0], from[1], arguments) : errno;
  if (to[0] >= 0) close(to[0]);
  if (from[1] >= 0) close(from[1]);
  *child = (vcs_os_child_t){problem ? -1 : process, to[1], from[0]};
  if (problem) vcs_os_child_end(child);
#if defined(SO_NOSIGPIPE)
  if (!problem) setsockopt(to[1], SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  return problem;
}

bool vcs_os_child_write(vcs_os_child_t *child, const void *data, size_t size) {
#if !defined(MSG_NOSIGNAL)
  enum { MSG_NOSIGNAL = 0 };
#endif
  for (const uint8_t *bytes = data; size > 0;) {
    const ssize_t sent = send((int)child->input, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes += sent;
    size -= (size_t)sent;
  }
  return true;
}

void vcs_os_child_message(vcs_os_child_t *child, char *text, size_t size) {
  struct pollfd ready = {.fd = (int)child->messages, .events = POLLIN};
  const ssize_t got = poll(&ready, 1, 200) > 0 ? read((int)child->messages, text, size - 1) : 0;
  text[got > 0 ? got : 0] = 0;
}

bool vcs_os_child_finish(vcs_os_child_t *child) {
  close_end(&child->input);
  if (child->process < 0) return false;
  int result = -1;
  pid_t ended;
  do {
    ended = waitpid((pid_t)child->process, &result, 0);
  } while (ended < 0 && errno == EINTR);
  child->process = -1;
  return ended > 0 && WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

void vcs_os_child_end(vcs_os_child_t *child) {
  if (child->process > 0) kill((pid_t)child->process, SIGKILL);
  vcs_os_child_finish(child);
  close_end(&child->messages);
}
#endif
