/* files.h: reading and writing whole files, growing text, finding ROM images.
 *
 * Reading takes the whole file, plain or gzip, and refuses more than the limit it is given. Writing is atomic: a
 * draft in the same directory receives the bytes and takes the final name only when all of them are on disk, so a
 * reader, a crash or Ctrl-C never meets half a file. Errors say which file and why.
 */
#ifndef VCS_HOST_FILES_H
#define VCS_HOST_FILES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "diffvcs/diffvcs.h"

#if defined(__MINGW_PRINTF_FORMAT)
#define VCS_PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#elif defined(__GNUC__)
#define VCS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define VCS_PRINTF(text, first)
#endif

enum { VCS_PATH_SIZE = 4096 };

/* Fills `error` (which may be NULL) and returns `status`: `return vcs_error_fill(error, VCS_BAD_FILE, "...", ...);` */
vcs_status_t vcs_error_fill(vcs_error_t *error, vcs_status_t status, const char *format, ...) VCS_PRINTF(3, 4);

/* ---- Growing text ------------------------------------------------------------------------------------------- */

/* Starts as {0}; ends with vcs_text_free. `text` is NULL until something is appended, then closed by a zero. When
 * memory runs out `failed` is set, later appends do nothing, and writing the text to a file reports it. */
typedef struct {
  char *text;
  size_t length, capacity;
  bool failed;
} vcs_text_t;

void vcs_text_printf(vcs_text_t *text, const char *format, ...) VCS_PRINTF(2, 3);
void vcs_text_vprintf(vcs_text_t *text, const char *format, va_list arguments) VCS_PRINTF(2, 0);
void vcs_text_append(vcs_text_t *text, const void *data, size_t size);
void vcs_text_free(vcs_text_t *text);

/* A string as JSON has it, with its quotes. A byte that is not UTF-8, as names of files may have, becomes U+FFFD. */
void vcs_text_json(vcs_text_t *text, const char *string);

/* ---- Files -------------------------------------------------------------------------------------------------- */

/* Reads the whole file into *data (free() it), one zero byte beyond the end. gzip is unpacked. */
vcs_status_t vcs_file_read(const char *path, size_t size_limit, uint8_t **data, size_t *size, vcs_error_t *error);

vcs_status_t vcs_file_write(const char *path, const void *data, size_t size, vcs_error_t *error);
vcs_status_t vcs_file_write_text(const char *path, const vcs_text_t *text, vcs_error_t *error);

/* Waits until no other process has the lock of this file, and takes it. For a file that several processes read, change
 * and write: each locks it, reads it, writes it with vcs_file_write, and unlocks it. A file that is not there is made,
 * empty. */
vcs_status_t vcs_file_lock(const char *path, int *lock, vcs_error_t *error);
void vcs_file_unlock(int lock);

/* A file under way, for writers that stream. After a successful open write to `stream` and end with exactly one of
 * commit (which reports every failed write) and abandon. */
typedef struct {
  FILE *stream;
  char path[VCS_PATH_SIZE];
  char temporary[VCS_PATH_SIZE];
} vcs_draft_t;

vcs_status_t vcs_draft_open(vcs_draft_t *draft, const char *path, vcs_error_t *error);
vcs_status_t vcs_draft_commit(vcs_draft_t *draft, vcs_error_t *error);
void vcs_draft_abandon(vcs_draft_t *draft);

/* ---- Paths -------------------------------------------------------------------------------------------------- */

enum { VCS_IMAGE_LIMIT = 4 << 20 }; /* bytes of a ROM image; no scheme holds as many */

bool vcs_path_is_file(const char *path);
bool vcs_path_is_directory(const char *path);
const char *vcs_path_base(const char *path);                   /* "a/b.bin" -> "b.bin" */
bool vcs_path_names_directory(const char *path);               /* "a/" does by its last character */
bool vcs_path_ends(const char *path, const char *ending);      /* "A.BIN" ends with ".bin": case is ignored */
void vcs_path_stem(const char *path, char *stem, size_t size); /* "a/b.bin.gz" -> "b" */
bool vcs_path_join(char *path, size_t size, const char *directory, const char *name); /* false: does not fit */

/* ---- ROM images --------------------------------------------------------------------------------------------- */

/* vcs_rom_find, which searches ROM images, is public: diffvcs/study.h. */

/* The places vcs_rom_find looks at, in order, one line each: the long form of its error. */
void vcs_rom_places(const char *roms_dir, vcs_text_t *list);

#endif
