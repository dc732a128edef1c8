/* os_windows.c: os.h on Windows (7 and later), with the C library that MinGW and zig use.
 *
 * A draft is opened so that no other process may delete it: a draft that can be deleted has no writer. Windows does not
 * rename an open file over another, so a draft is closed first. A lock is a named mutex of the system: a file that is
 * locked by its handle could not be replaced.
 *
 * Paths are in the system's code page, as the arguments of a program are.
 */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <ctype.h>
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/files.h"
#include "host/os.h"

/* Sets errno from the last error, and returns -1. */
static int failed(void) {
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
      return errno = ENOENT, -1;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return errno = EEXIST, -1;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT:
      return errno = EACCES, -1;
    case ERROR_TOO_MANY_OPEN_FILES:
      return errno = EMFILE, -1;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return errno = ENOSPC, -1;
    case ERROR_NOT_ENOUGH_MEMORY:
      return errno = ENOMEM, -1;
    default:
      return errno = EIO, -1;
  }
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

vcs_os_kind_t vcs_os_kind(const char *path) {
  const DWORD attributes = GetFileAttributesA(path); /* which stat does not find if a slash ends the path */
  if (attributes == INVALID_FILE_ATTRIBUTES) return VCS_OS_NOTHING;
  if (attributes & FILE_ATTRIBUTE_DIRECTORY) return VCS_OS_DIRECTORY;
  const DWORD others_may = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE file = CreateFileA(path, 0, others_may, NULL, OPEN_EXISTING, 0, NULL);
  const bool is_device = file != INVALID_HANDLE_VALUE && GetFileType(file) != FILE_TYPE_DISK;
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  return is_device ? VCS_OS_DEVICE : VCS_OS_FILE;
}

static char *with_slashes(char *path) {
  for (char *c = path; c && *c; c++) {
    if (*c == '\\') *c = '/';
  }
  return path;
}

char *vcs_os_real_path(const char *path) { return with_slashes(_fullpath(NULL, path, 0)); }

/* Windows follows links itself, and has no names of descriptors. */
bool vcs_os_follow_links(const char *path, char *target, size_t size) {
  return snprintf(target, size, "%s", path) < (int)size;
}

static bool module_path(HMODULE module, char *path, size_t size) {
  const DWORD length = GetModuleFileNameA(module, path, (DWORD)size);
  return length > 0 && length < size && with_slashes(path);
}

bool vcs_os_executable(char *path, size_t size) { return module_path(NULL, path, size); }

int vcs_os_make_directory(const char *path) { return _mkdir(path); }

int vcs_os_open_to_read(const char *path) { return _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT); }

int vcs_os_open_device(const char *path) { return _open(path, _O_WRONLY | _O_BINARY | _O_NOINHERIT); }

bool vcs_os_may_write(const char *path) {
  enum { WRITE = 2 };
  return _access(path, WRITE) == 0;
}

void vcs_os_copy_permissions(const char *path, int file) { (void)path, (void)file; }

/* Windows gives a file no number of a standard stream. */
void vcs_os_prepare_streams(void) { _setmode(_fileno(stdout), _O_BINARY); }

int vcs_os_draft_create(const char *path) {
  const HANDLE file = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, CREATE_NEW,
                                  FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE) return failed();
  const int number = _open_osfhandle((intptr_t)file, _O_WRONLY | _O_BINARY | _O_NOINHERIT);
  if (number < 0) CloseHandle(file);
  return number;
}

void vcs_os_draft_sweep(const char *path) { DeleteFileA(path); }

bool vcs_os_draft_publish(FILE *stream, const char *draft, const char *path) {
  const bool synced = _commit(_fileno(stream)) == 0;
  const int reason = errno;
  if (fclose(stream) != 0) return false;
  if (!synced) return errno = reason, false;
  if (MoveFileExA(draft, path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
  return failed(), false;
}

/* The mutex is named after a hash (FNV-1a) of the file's whole path, in lower case. */
int vcs_os_lock(const char *path) {
  const int file = _open(path, _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  if (file < 0) return -1;
  _close(file);
  char *whole = vcs_os_real_path(path), name[64];
  if (!whole) return -1;
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *c = whole; *c; c++) hash = (hash ^ (uint64_t)tolower((unsigned char)*c)) * 0x100000001b3u;
  free(whole);
  snprintf(name, sizeof name, "diffvcs-lock-%08x%08x", (unsigned)(hash >> 32), (unsigned)hash);
  const HANDLE mutex = CreateMutexA(NULL, FALSE, name);
  if (!mutex) return failed();
  const DWORD got = WaitForSingleObject(mutex, INFINITE);
  if (got == WAIT_OBJECT_0 || got == WAIT_ABANDONED) return (int)(intptr_t)mutex; /* handles have 32 bits */
  failed();
  CloseHandle(mutex);
  return -1;
}

void vcs_os_unlock(int lock) {
  ReleaseMutex((HANDLE)(intptr_t)lock);
  CloseHandle((HANDLE)(intptr_t)lock);
}

/* ---- The machine -------------------------------------------------------------------------------------------- */

int vcs_os_processors(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwNumberOfProcessors < 1 ? 1 : (int)info.dwNumberOfProcessors;
}

double vcs_os_memory(void) {
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : HUGE_VAL;
}

void *vcs_os_allocate_lines(size_t size) { return _aligned_malloc(size, 64); }

void vcs_os_free_lines(void *memory) { _aligned_free(memory); }

static void (*signal_handler)(int signal);

static BOOL WINAPI on_console(DWORD event) {
  signal_handler(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
  return TRUE;
}

void vcs_os_catch_signals(void (*handler)(int signal)) {
  signal_handler = handler;
  SetConsoleCtrlHandler(on_console, TRUE);
}

void vcs_os_release_signals(void) { SetConsoleCtrlHandler(on_console, FALSE); }

/* ---- Shared libraries --------------------------------------------------------------------------------------- */

void *vcs_os_library_open(const char *path) { return (void *)LoadLibraryA(path); }

void *vcs_os_library_symbol(void *library, const char *name) {
  return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

void vcs_os_library_error(char *text, size_t size) { snprintf(text, size, "error %lu", GetLastError()); }

bool vcs_os_library_path(const void *address, char *path, size_t size) {
  HMODULE module;
  if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                          (LPCSTR)address, &module))
    return false;
  return module_path(module, path, size);
}

/* ---- A child process ---------------------------------------------------------------------------------------- */

const vcs_os_child_t vcs_os_no_child = {-1, -1, -1};

static void close_end(intptr_t *end) {
  if (*end != -1) CloseHandle((HANDLE)*end);
  *end = -1;
}

/* Quoted arguments; those of ffmpeg, the only child, have neither quotes nor a backslash at their end. */
static void quote(vcs_text_t *line, char *const arguments[]) {
  for (int i = 0; arguments[i]; i++) vcs_text_printf(line, "%s\"%s\"", i ? " " : "", arguments[i]);
}

int vcs_os_child_start(vcs_os_child_t *child, char *const arguments[]) {
  SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
  HANDLE theirs_in, ours_out, ours_in, theirs_out;
  *child = vcs_os_no_child;
  vcs_text_t line = {0};
  quote(&line, arguments);
  if (line.failed) return ENOMEM;
  if (!CreatePipe(&theirs_in, &ours_out, &inherited, 0)) return vcs_text_free(&line), failed(), errno;
  if (!CreatePipe(&ours_in, &theirs_out, &inherited, 0)) {
    failed();
    CloseHandle(theirs_in);
    CloseHandle(ours_out);
    vcs_text_free(&line);
    return errno;
  }
  SetHandleInformation(ours_out, HANDLE_FLAG_INHERIT, 0);
  SetHandleInformation(ours_in, HANDLE_FLAG_INHERIT, 0);
  STARTUPINFOA start = {.cb = sizeof start,
                        .dwFlags = STARTF_USESTDHANDLES,
                        .hStdInput = theirs_in,
                        .hStdOutput = INVALID_HANDLE_VALUE,
                        .hStdError = theirs_out};
  PROCESS_INFORMATION made;
  const bool started =
      CreateProcessA(NULL, line.text, NULL, NULL, TRUE, CREATE_NEW_PROCESS_GROUP, NULL, NULL, &start, &made);
  if (!started) failed();
  const int problem = started ? 0 : errno;
  vcs_text_free(&line);
  CloseHandle(theirs_in);
  CloseHandle(theirs_out);
  child->input = (intptr_t)ours_out;
  child->messages = (intptr_t)ours_in;
  if (started) {
    child->process = (intptr_t)made.hProcess;
    CloseHandle(made.hThread);
  } else {
    vcs_os_child_end(child);
  }
  return problem;
}

bool vcs_os_child_write(vcs_os_child_t *child, const void *data, size_t size) {
  for (const uint8_t *bytes = data; size > 0;) {
    DWORD written, block = size < 1 << 20 ? (DWORD)size : 1 << 20;
    if (!WriteFile((HANDLE)child->input, bytes, block, &written, NULL)) return false;
    bytes += written;
    size -= written;
  }
  return true;
}

void vcs_os_child_message(vcs_os_child_t *child, char *text, size_t size) {
  DWORD waiting = 0, got = 0;
  for (int i = 0; i < 20 && PeekNamedPipe((HANDLE)child->messages, NULL, 0, NULL, &waiting, NULL) && !waiting; i++) {
    Sleep(10);
  }
  if (waiting && !ReadFile((HANDLE)child->messages, text, (DWORD)size - 1, &got, NULL)) got = 0;
  text[got] = 0;
}

bool vcs_os_child_finish(vcs_os_child_t *child) {
  close_end(&child->input);
  if (child->process == -1) return false;
  DWORD result = 1;
  WaitForSingleObject((HANDLE)child->process, INFINITE);
  const bool known = GetExitCodeProcess((HANDLE)child->process, &result);
  close_end(&child->process);
  return known && result == 0;
}

void vcs_os_child_end(vcs_os_child_t *child) {
  if (child->process != -1) TerminateProcess((HANDLE)child->process, 1);
  vcs_os_child_finish(child);
  close_end(&child->messages);
}
#endif
