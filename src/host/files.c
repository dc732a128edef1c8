/* files.c: whole files, growing text, paths, and where ROM images are.
 *
 * A draft is `.NAME.N.part` beside the file it will become: renaming is atomic only within one file system. A
 * link is followed, to a file that is not there yet, too, and an existing file keeps its permissions; a device or pipe
 * (/dev/stdout) cannot be replaced and is written in place. A process that is killed leaves its draft behind; the next
 * process that writes the same file removes it.
 *
 * ROM images are not ours to ship. ale-py ships them, so an installed ale-py is the place of last resort. It is found
 * by looking into folders: running python3 to ask would run whatever module the current folder has.
 */
#include "host/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "diffvcs/study.h"
#include "host/os.h"

enum { NAME_SIZE = 256 }; /* of a name in a folder, with the closing zero */

vcs_status_t vcs_error_fill(vcs_error_t *error, vcs_status_t status, const char *format, ...) {
  if (!error) return status;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof error->message) strcpy(error->message + sizeof error->message - 4, "...");
  return status;
}

static vcs_status_t succeed(vcs_error_t *error) {
  if (error) error->message[0] = 0;
  return VCS_OK;
}

/* "doing what, to which file: why", from errno. */
static vcs_status_t fail_errno(vcs_error_t *error, const char *doing, const char *path) {
  vcs_status_t status = errno == ENOENT || errno == ENOTDIR ? VCS_NOT_FOUND : VCS_BAD_FILE;
  return vcs_error_fill(error, status, "cannot %s %s: %s", doing, path,
                        errno == ENXIO ? "it is a pipe or a device, and nothing is at its other end" : strerror(errno));
}

/* ---- Growing text ------------------------------------------------------------------------------------------- */

static bool text_reserve(vcs_text_t *text, size_t more) {
  if (text->failed) return false;
  if (more < text->capacity - text->length) return true; /* one byte stays for the closing zero */
  size_t capacity = text->capacity ? text->capacity : 256;
  while (capacity - text->length <= more) {
    if (capacity > SIZE_MAX / 2) return text->failed = true, false;
    capacity *= 2;
  }
  char *grown = realloc(text->text, capacity);
  if (!grown) return text->failed = true, false;
  text->text = grown;
  text->capacity = capacity;
  return true;
}

void vcs_text_append(vcs_text_t *text, const void *data, size_t size) {
  if (!text_reserve(text, size)) return;
  if (size) memcpy(text->text + text->length, data, size);
  text->length += size;
  text->text[text->length] = 0;
}

void vcs_text_vprintf(vcs_text_t *text, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0) text->failed = true;
  if (length >= 0 && text_reserve(text, (size_t)length)) {
    vsnprintf(text->text + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void vcs_text_printf(vcs_text_t *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vcs_text_vprintf(text, format, arguments);
  va_end(arguments);
}

/* The bytes of the UTF-8 character at c; 0 if there is none. Surrogates and longer forms than needed are none. */
static int utf8_length(const unsigned char *c) {
  if (c[0] < 0x80) return 1;
  const int length = c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
  for (int i = 1; i < length; i++) {
    if ((c[i] & 0xC0) != 0x80) return 0;
  }
  if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F)) return 0;
  if ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F)) return 0;
  return length;
}

void vcs_text_json(vcs_text_t *text, const char *string) {
  vcs_text_printf(text, "\"");
  for (const unsigned char *c = (const unsigned char *)string; *c;) {
    const int length = utf8_length(c);
    if (length == 0) {
      vcs_text_printf(text, "\\ufffd");
    } else if (*c < 0x20) {
      vcs_text_printf(text, "\\u%04x", *c);
    } else {
      vcs_text_printf(text, "%s%.*s", *c == '"' || *c == '\\' ? "\\" : "", length, (const char *)c);
    }
    c += length ? length : 1;
  }
  vcs_text_printf(text, "\"");
}

void vcs_text_free(vcs_text_t *text) {
  free(text->text);
  *text = (vcs_text_t){0};
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* Unpacks until the end of the file or one byte beyond the limit. */
static vcs_status_t read_all(gzFile file, const char *path, size_t size_limit, vcs_text_t *bytes, vcs_error_t *error) {
  for (;;) {
    char block[65536];
    int got = gzread(file, block, sizeof block);
    int problem = Z_OK;
    const char *why = gzerror(file, &problem);
    if (got < 0 || problem == Z_BUF_ERROR) {
      if (problem == Z_ERRNO) return fail_errno(error, "read", path);
      return vcs_error_fill(error, VCS_BAD_FILE, "%s is a damaged gzip file: %s", path, why);
    }
    if (got == 0) return VCS_OK;
    if ((size_t)got > size_limit - bytes->length)
      return vcs_error_fill(error, VCS_BAD_FILE, "%s is longer than the %zu bytes allowed", path, size_limit);
    vcs_text_append(bytes, block, (size_t)got);
    if (bytes->failed) return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for %s", path);
  }
}

vcs_status_t vcs_file_read(const char *path, size_t size_limit, uint8_t **data, size_t *size, vcs_error_t *error) {
  if (!path || !data || !size) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "vcs_file_read: a NULL argument");
  *data = NULL;
  *size = 0;
  if (vcs_path_is_directory(path))
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot read %s: it is a directory", path);
  const int descriptor = vcs_os_open_to_read(path);
  if (descriptor < 0) return fail_errno(error, "read", path);
  gzFile file = gzdopen(descriptor, "rb");
  if (!file) {
    close(descriptor);
    return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for %s", path);
  }
  vcs_text_t bytes = {0};
  vcs_text_append(&bytes, "", 0); /* so that an empty file has a buffer too */
  vcs_status_t status = bytes.failed ? vcs_error_fill(error, VCS_NO_MEMORY, "no memory for %s", path)
                                     : read_all(file, path, size_limit, &bytes, error);
  gzclose_r(file);
  if (status != VCS_OK) {
    vcs_text_free(&bytes);
    return status;
  }
  *data = (uint8_t *)bytes.text;
  *size = bytes.length;
  return succeed(error);
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

enum { DRAFTS = 16 }; /* of one file at a time, by as many writers */

static bool name_draft(vcs_draft_t *draft, unsigned number) {
  const char *base = vcs_path_base(draft->path);
  const int length = snprintf(draft->temporary, sizeof draft->temporary, "%.*s.%.200s.%u.part",
                              (int)(base - draft->path), draft->path, base, number);
  return length < (int)sizeof draft->temporary;
}

/* Removes the drafts of processes that are gone, and opens a new one. */
static int open_temporary(vcs_draft_t *draft) {
  for (unsigned number = 0; number < DRAFTS; number++) {
    if (!name_draft(draft, number)) return errno = ENAMETOOLONG, -1;
    vcs_os_draft_sweep(draft->temporary);
  }
  for (unsigned number = 0; number < DRAFTS; number++) {
    name_draft(draft, number);
    const int file = vcs_os_draft_create(draft->temporary);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return errno = EBUSY, -1;
}

vcs_status_t vcs_draft_open(vcs_draft_t *draft, const char *path, vcs_error_t *error) {
  draft->stream = NULL;
  draft->path[0] = draft->temporary[0] = 0;
  if (!path || !*path) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no name for the file to write");
  if (strlen(path) >= sizeof draft->path) return errno = ENAMETOOLONG, fail_errno(error, "write", path);
  const vcs_os_kind_t old = vcs_os_kind(path);
  if (old == VCS_OS_DIRECTORY) return errno = EISDIR, fail_errno(error, "write", path);
  if (!vcs_os_follow_links(path, draft->path, sizeof draft->path)) return fail_errno(error, "write", path);
  if (old == VCS_OS_DEVICE) fflush(stdout); /* which it may be: what was printed comes first */
  const int file = old == VCS_OS_DEVICE ? vcs_os_open_device(path) : open_temporary(draft);
  if (file < 0) return fail_errno(error, "write", path);
  if (old == VCS_OS_FILE) vcs_os_copy_permissions(path, file);
  draft->stream = fdopen(file, "wb");
  if (!draft->stream) {
    close(file);
    vcs_draft_abandon(draft);
    return vcs_error_fill(error, VCS_NO_MEMORY, "no memory to write %s", path);
  }
  return succeed(error);
}

vcs_status_t vcs_draft_commit(vcs_draft_t *draft, vcs_error_t *error) {
  FILE *stream = draft->stream;
  const bool in_place = !draft->temporary[0];
  draft->stream = NULL;
  errno = 0;
  bool written = !ferror(stream) && fflush(stream) == 0;
  if (ferror(stream) && !errno) { /* why an earlier write failed is forgotten: one more fails for the same reason */
    clearerr(stream);
    fputc(0, stream);
    fflush(stream);
  }
  int reason = errno;
  if (written && !in_place) {
    written = vcs_os_draft_publish(stream, draft->temporary, draft->path);
    reason = errno;
  } else if (fclose(stream) != 0 && written) {
    written = false;
    reason = errno;
  }
  if (!written) {
    vcs_draft_abandon(draft);
    errno = reason ? reason : EIO;
    return fail_errno(error, "write", draft->path);
  }
  draft->temporary[0] = 0;
  return succeed(error);
}

void vcs_draft_abandon(vcs_draft_t *draft) {
  if (draft->stream) fclose(draft->stream);
  if (draft->temporary[0]) unlink(draft->temporary);
  draft->stream = NULL;
  draft->temporary[0] = 0;
}

vcs_status_t vcs_file_write(const char *path, const void *data, size_t size, vcs_error_t *error) {
  vcs_draft_t draft;
  vcs_status_t status = vcs_draft_open(&draft, path, error);
  if (status != VCS_OK) return status;
  if (size) fwrite(data, 1, size, draft.stream); /* commit asks ferror */
  return vcs_draft_commit(&draft, error);
}

vcs_status_t vcs_file_write_text(const char *path, const vcs_text_t *text, vcs_error_t *error) {
  if (text->failed) return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for the text of %s", path);
  return vcs_file_write(path, text->text, text->length, error);
}

vcs_status_t vcs_file_lock(const char *path, int *lock, vcs_error_t *error) {
  const vcs_os_kind_t kind = vcs_os_kind(path);
  if (kind == VCS_OS_DIRECTORY || kind == VCS_OS_DEVICE)
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot read and write %s: it is a %s; name a file", path,
                          kind == VCS_OS_DIRECTORY ? "directory" : "pipe or a device");
  *lock = vcs_os_lock(path);
  return *lock < 0 ? fail_errno(error, "write", path) : succeed(error);
}

void vcs_file_unlock(int lock) { vcs_os_unlock(lock); }

/* ---- Paths -------------------------------------------------------------------------------------------------- */

bool vcs_path_is_file(const char *path) {
  const vcs_os_kind_t kind = vcs_os_kind(path);
  return kind == VCS_OS_FILE || kind == VCS_OS_DEVICE;
}

bool vcs_path_is_directory(const char *path) { return vcs_os_kind(path) == VCS_OS_DIRECTORY; }

static bool is_separator(char c) { return c && strchr(VCS_OS_SEPARATORS, c); }

const char *vcs_path_base(const char *path) {
  for (const char *slash; (slash = strpbrk(path, VCS_OS_SEPARATORS));) path = slash + 1;
  return path;
}

bool vcs_path_ends(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

void vcs_path_stem(const char *path, char *stem, size_t size) {
  snprintf(stem, size, "%s", vcs_path_base(path));
  if (vcs_path_ends(stem, ".gz")) stem[strlen(stem) - 3] = 0;
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
}

bool vcs_path_names_directory(const char *path) { return *path && is_separator(path[strlen(path) - 1]); }

bool vcs_path_join(char *path, size_t size, const char *directory, const char *name) {
  size_t length = strlen(directory);
  const char *between = length == 0 || is_separator(directory[length - 1]) ? "" : "/";
  int needed = snprintf(path, size, "%s%s%s", directory, between, name);
  return needed >= 0 && (size_t)needed < size;
}

/* ---- ROM images: the places --------------------------------------------------------------------------------- */

/* The ROM images of the ale_py that is installed under a prefix, in lib/python3.N/site-packages (pip), in dist-packages
 * there or in lib/python3 (Debian), or in Lib/site-packages (Windows); of the last name in the alphabet where there are
 * several. Else leaves `roms`. */
static bool prefix_roms(const char *prefix, char *roms, size_t size) {
  static const char *const packages[] = {"site-packages", "dist-packages"};
  char library[VCS_PATH_SIZE], best[NAME_SIZE] = "";
  if (vcs_path_join(library, sizeof library, prefix, "Lib/site-packages/ale_py/roms") &&
      vcs_path_is_directory(library) && strlen(library) < size)
    return strcpy(roms, library), true;
  if (!vcs_path_join(library, sizeof library, prefix, "lib")) return false;
  DIR *entries = opendir(library);
  if (!entries) return false;
  for (struct dirent *entry; (entry = readdir(entries));) {
    if (strncmp(entry->d_name, "python3", 7) != 0 || strcmp(entry->d_name, best) <= 0) continue;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
      char path[VCS_PATH_SIZE + NAME_SIZE + 40];
      snprintf(path, sizeof path, "%s/%s/%s/ale_py/roms", library, entry->d_name, packages[i]);
      if (strlen(path) >= size || !vcs_path_is_directory(path)) continue;
      snprintf(best, sizeof best, "%s", entry->d_name);
      snprintf(roms, size, "%s", path);
    }
  }
  closedir(entries);
  return best[0] != 0;
}

static bool venv_roms(const char *directory, char *roms, size_t size) {
  char prefix[VCS_PATH_SIZE];
  return vcs_path_join(prefix, sizeof prefix, directory, ".venv") && prefix_roms(prefix, roms, size);
}

/* The same for every Python under PREFIX/versions, where pyenv keeps them. */
static bool versions_roms(const char *prefix, char *roms, size_t size) {
  char versions[VCS_PATH_SIZE];
  bool found = false;
  DIR *entries = vcs_path_join(versions, sizeof versions, prefix, "versions") ? opendir(versions) : NULL;
  if (!entries) return false;
  for (struct dirent *entry; !found && (entry = readdir(entries));) {
    char version[VCS_PATH_SIZE];
    if (entry->d_name[0] == '.' || !vcs_path_join(version, sizeof version, versions, entry->d_name)) continue;
    found = prefix_roms(version, roms, size);
  }
  closedir(entries);
  return found;
}

/* The ROM images of the ale_py that belongs to the python3 in a folder of programs: PREFIX/bin/python3 has its packages
 * in PREFIX/lib. A link is tried by its own name (a virtual environment), then by its target. */
static bool program_roms(const char *programs, char *roms, size_t size) {
  char python[VCS_PATH_SIZE];
  if (!vcs_path_join(python, sizeof python, programs, "python3") || !vcs_path_is_file(python)) return false;
  char *target = vcs_os_real_path(python);
  bool found = false;
  for (int i = 0; i < 2 && !found; i++) {
    char prefix[VCS_PATH_SIZE];
    snprintf(prefix, sizeof prefix, "%s", i == 0 || !target ? python : target);
    for (int up = 0; up < 2; up++) {
      char *slash = strrchr(prefix, '/');
      if (slash) *slash = 0;
    }
    char local[VCS_PATH_SIZE]; /* Debian's pip */
    found = prefix_roms(prefix, roms, size) || versions_roms(prefix, roms, size) ||
            (vcs_path_join(local, sizeof local, prefix, "local") && prefix_roms(local, roms, size));
  }
  free(target);
  return found;
}

/* Where pip has put ale_py: for this user, or beside a python3 of the PATH. Only folders with absolute names count:
 * the current folder is anyone's. */
static bool installed_roms(char *roms, size_t size) {
  const char *home = getenv("HOME"), *rest = getenv("PATH");
  char folder[VCS_PATH_SIZE];
  if (home && home[0] == '/' && vcs_path_join(folder, sizeof folder, home, ".local") && prefix_roms(folder, roms, size))
    return true;
  while (rest && *rest) {
    const size_t length = strcspn(rest, ":");
    if (rest[0] == '/' && length < sizeof folder) {
      snprintf(folder, sizeof folder, "%.*s", (int)length, rest);
      if (program_roms(folder, roms, size)) return true;
    }
    rest += length + (rest[length] == ':');
  }
  return false;
}

/* One place: its directory, empty where there is none, and how to call it in an error. */
typedef struct {
  const char *name;
  char directory[VCS_PATH_SIZE];
} place_t;

static bool set_directory(place_t *place, const char *directory) {
  if (directory && strlen(directory) < sizeof place->directory) strcpy(place->directory, directory);
  return true;
}

/* The place with this number, in order of search; false after the last. */
static bool rom_place(int number, const char *roms_dir, place_t *place) {
  place->directory[0] = 0;
  switch (number) {
    case 0:
      return place->name = "the given directory", set_directory(place, roms_dir);
    case 1:
      return place->name = "$DIFFVCS_ROMS", set_directory(place, getenv("DIFFVCS_ROMS"));
    case 2:
      return place->name = "$ALE_ROMS_DIR", set_directory(place, getenv("ALE_ROMS_DIR"));
    case 3:
      place->name = "./.venv";
      venv_roms(".", place->directory, sizeof place->directory);
      return true;
    case 4: {
      char program[VCS_PATH_SIZE], *slash;
      place->name = "the program's .venv"; /* beside it, or one or two directories up: it may be in build/bin */
      if (!vcs_os_executable(program, sizeof program)) return true;
      for (int up = 0; up < 3 && (slash = strrchr(program, '/')); up++) {
        *slash = 0;
        if (venv_roms(program, place->directory, sizeof place->directory)) return true;
      }
      return true;
    }
    case 5:
      place->name = "python3's ale_py";
      installed_roms(place->directory, sizeof place->directory);
      return true;
    default:
      return false;
  }
}

void vcs_rom_places(const char *roms_dir, vcs_text_t *list) {
  place_t place;
  for (int number = 0; rom_place(number, roms_dir, &place); number++) {
    if (number == 0 && !roms_dir) continue;
    vcs_text_printf(list, "%s: %s\n", place.name,
                    place.directory[0]     ? place.directory
                    : place.name[0] == '$' ? "not set"
                                           : "not there");
  }
}

/* ---- ROM images: the names ---------------------------------------------------------------------------------- */

static const char *const rom_endings[] = {".bin", ".a26", ".rom", ".bin.gz", ".a26.gz", ".rom.gz"};
enum { ROM_ENDINGS = sizeof rom_endings / sizeof *rom_endings };

/* Lower case letters and digits only, without the ending: "Video_Chess.bin" and "videochess" are the same game. */
static bool plain_name(const char *name, char *plain, size_t size) {
  size_t length = strlen(name), used = 0, cut = 0;
  for (int i = 0; i < ROM_ENDINGS; i++) {
    if (vcs_path_ends(name, rom_endings[i])) cut = strlen(rom_endings[i]);
  }
  for (size_t i = 0; i < length - cut; i++) {
    unsigned char letter = (unsigned char)name[i];
    if (isalnum(letter) && used + 1 < size) plain[used++] = (char)tolower(letter);
  }
  plain[used] = 0;
  return cut > 0;
}

/* Looks for the exact name, then for the name with an ending, then for any file of the same game, the first in
 * alphabetical order. */
static bool find_in(const char *directory, const char *name, char *path, size_t size) {
  if (vcs_path_join(path, size, directory, name) && vcs_path_is_file(path)) return true;
  char wanted[NAME_SIZE], found[NAME_SIZE] = "";
  for (int i = 0; i < ROM_ENDINGS; i++) {
    char file[NAME_SIZE + 16];
    snprintf(file, sizeof file, "%s%s", name, rom_endings[i]);
    if (vcs_path_join(path, size, directory, file) && vcs_path_is_file(path)) return true;
  }
  plain_name(name, wanted, sizeof wanted);
  DIR *entries = wanted[0] ? opendir(directory) : NULL;
  if (!entries) return false;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char plain[NAME_SIZE];
    if (!plain_name(entry->d_name, plain, sizeof plain) || strcmp(plain, wanted) != 0) continue;
    if (found[0] && strcmp(entry->d_name, found) >= 0) continue;
    if (vcs_path_join(path, size, directory, entry->d_name) && vcs_path_is_file(path))
      snprintf(found, sizeof found, "%s", entry->d_name);
  }
  closedir(entries);
  return found[0] && vcs_path_join(path, size, directory, found);
}

/* A directory that the user names must exist: a misspelled one would be skipped, and another place would answer. */
static vcs_status_t check_rom_directories(const char *roms_dir, vcs_error_t *error) {
  const char *variable = getenv("DIFFVCS_ROMS");
  if (roms_dir && !vcs_path_is_directory(roms_dir)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the directory of ROM images '%.200s' does not exist", roms_dir);
  }
  if (variable && *variable && !vcs_path_is_directory(variable)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "$DIFFVCS_ROMS names the directory '%.150s', which does not exist: correct it or unset it",
                          variable);
  }
  return succeed(error);
}

vcs_status_t vcs_rom_find(const char *name_or_path, const char *roms_dir, char *path, size_t path_size,
                          vcs_error_t *error) {
  if (!name_or_path || !*name_or_path || !path || !path_size)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "no name for the ROM image");
  if (vcs_path_is_file(name_or_path)) {
    if (strlen(name_or_path) >= path_size)
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path is longer than %zu bytes: %s", path_size, name_or_path);
    strcpy(path, name_or_path);
    return succeed(error);
  }
  if (strpbrk(name_or_path, VCS_OS_SEPARATORS) || strlen(name_or_path) >= NAME_SIZE)
    return vcs_error_fill(error, VCS_NOT_FOUND, "no such ROM image: %s", name_or_path);
  const vcs_status_t status = check_rom_directories(roms_dir, error);
  if (status) return status;
  char found[VCS_PATH_SIZE];
  vcs_text_t places = {0};
  place_t place;
  for (int number = 0; rom_place(number, roms_dir, &place); number++) {
    if (place.directory[0] && find_in(place.directory, name_or_path, found, sizeof found)) {
      vcs_text_free(&places);
      if (strlen(found) >= path_size)
        return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path is longer than %zu bytes: %s", path_size, found);
      strcpy(path, found);
      return succeed(error);
    }
    if (number == 0 && !roms_dir) continue;
    size_t length = strlen(place.directory);
    vcs_text_printf(&places, "%s%s", places.length ? ", " : "", place.name);
    if (!length)
      vcs_text_printf(&places, " (none)");
    else if (number < 3)
      vcs_text_printf(&places, " %s%s", length > 24 ? "..." : "", place.directory + (length > 24 ? length - 24 : 0));
  }
  vcs_error_fill(error, VCS_NOT_FOUND, "no ROM image '%.40s'. Get ROMs: pip install ale-py. Looked in: %s",
                 name_or_path, places.text ? places.text : "");
  vcs_text_free(&places);
  return VCS_NOT_FOUND;
}
