/* os.h: what differs between operating systems.
 *
 * os_posix.c and os_windows.c define the same functions, each for its systems; the rest of diffvcs is C11 with pthreads
 * (winpthreads on Windows) and the names that both C libraries have. Functions that fail set errno. Paths that these
 * functions return have slashes between their parts.
 */
#ifndef VCS_HOST_OS_H
#define VCS_HOST_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(_WIN32)
#define VCS_OS_SEPARATORS "/\\" /* of the parts of a path */
#else
#define VCS_OS_SEPARATORS "/"
#endif

/* ---- Files -------------------------------------------------------------------------------------------------- */

typedef enum { VCS_OS_NOTHING, VCS_OS_FILE, VCS_OS_DIRECTORY, VCS_OS_DEVICE } vcs_os_kind_t;

/* A link counts as what it leads to. The name of a descriptor of this process (/dev/stdout, /dev/fd/3) is a device even
 * if a file is open there: that file is not replaced, but written where the descriptor is. */
vcs_os_kind_t vcs_os_kind(const char *path);
char *vcs_os_real_path(const char *path); /* absolute and without links, free() it; NULL: there is none */

/* The path to which links lead, whether or not something is there: false if it does not fit, or links go in a circle.
 */
bool vcs_os_follow_links(const char *path, char *target, size_t size);
bool vcs_os_executable(char *path, size_t size); /* this program's own file */
int vcs_os_make_directory(const char *path);     /* 0 or -1 */

/* A descriptor to read a file from, or to write to a device; or -1. A pipe whose other end is not open is an error
 * (ENXIO), not a wait for ever, in which Ctrl-C would only set a flag; a writer has two seconds to come, and then any
 * time to write. */
int vcs_os_open_to_read(const char *path);
int vcs_os_open_device(const char *path);
bool vcs_os_may_write(const char *path); /* asks without opening: a pipe's reader would take that for its end */

void vcs_os_copy_permissions(const char *, int file); /* a file has the permissions of a path, where there are any */

/* For the start of a program: stdout receives bytes as they are written, and a standard stream that is closed does not
 * become the next file that is opened. */
void vcs_os_prepare_streams(void);

/* Drafts are files that a process writes before they get their final name (files.c). While its writer lives a draft
 * cannot be swept away. */
int vcs_os_draft_create(const char *path); /* a descriptor, or -1; EEXIST: the name is another writer's */
void vcs_os_draft_sweep(const char *path); /* removes a draft whose writer is gone */
bool vcs_os_draft_publish(FILE *stream, const char *draft, const char *path); /* to disk, final name, closed */

/* A lock between processes, named after a file. The file is made if it is missing, and may be replaced under its lock.
 * A process that ends loses its locks. */
int vcs_os_lock(const char *path); /* waits; a number for unlock, or -1 */
void vcs_os_unlock(int lock);

/* ---- The machine -------------------------------------------------------------------------------------------- */

int vcs_os_processors(void); /* that this process may use, at least 1 */
double vcs_os_memory(void);  /* bytes; infinite if the system does not say */

/* Memory that begins at a cache line of 64 bytes; NULL: there is none. Only free_lines releases it. */
void *vcs_os_allocate_lines(size_t size);
void vcs_os_free_lines(void *memory);

/* Ctrl-C and a polite request to end call the handler, in any thread, unless they were ignored (as nohup does). */
void vcs_os_catch_signals(void (*handler)(int signal));
void vcs_os_release_signals(void);

/* ---- Shared libraries --------------------------------------------------------------------------------------- */

void *vcs_os_library_open(const char *path);
void *vcs_os_library_symbol(void *library, const char *name);
void vcs_os_library_error(char *text, size_t size);                     /* of the last of these calls that failed */
bool vcs_os_library_path(const void *address, char *path, size_t size); /* the library or program with an address */

/* ---- A child process that reads its stdin and complains on its stderr ---------------------------------------- */

typedef struct {
  intptr_t process;         /* -1: none */
  intptr_t input, messages; /* our ends; -1: closed */
} vcs_os_child_t;

extern const vcs_os_child_t vcs_os_no_child;

/* Ctrl-C in the terminal does not reach the child. 0 or an errno; ENOENT: no such program. */
int vcs_os_child_start(vcs_os_child_t *child, char *const arguments[]);
bool vcs_os_child_write(vcs_os_child_t *child, const void *data, size_t size); /* false: it does not read any more */
void vcs_os_child_message(vcs_os_child_t *child, char *text, size_t size); /* what it has printed so far, perhaps "" */
bool vcs_os_child_finish(vcs_os_child_t *child); /* closes its input and waits: whether it ended well */
void vcs_os_child_end(vcs_os_child_t *child);    /* kills it if it still runs, and closes everything */

#endif
