/* test_os.c: what os.h and files.h promise, on every system: tests/platforms.sh runs this program under emulators too,
 * where cmocka is not at hand. Works in the current folder; with the argument `child` it is its own child process, with
 * `alone` it starts none (qemu-user does not run children of the emulated processor). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/files.h"
#include "host/os.h"

static int failures;

static void check(bool good, const char *fact) {
  printf("%s %s\n", good ? "ok" : "not ok", fact);
  failures += !good;
}

static bool contains(const char *path, const char *text) {
  uint8_t *data;
  size_t size;
  if (vcs_file_read(path, 100, &data, &size, NULL)) return false;
  const bool same = size == strlen(text) && memcmp(data, text, size) == 0;
  free(data);
  return same;
}

static bool writes(const char *path, const char *text) {
  return vcs_file_write(path, text, strlen(text), NULL) == VCS_OK && contains(path, text);
}

static void test_files(void) {
  vcs_error_t error = {""};
  int lock = -1;
  check(writes("os_a.txt", "one\ntwo\n"), "a file has the bytes that were written");
  check(writes("os_a.txt", "three\n"), "a file is replaced");
  check(vcs_file_lock("os_a.txt", &lock, &error) == VCS_OK && writes("os_a.txt", "four\n"), "and under its lock");
  vcs_file_unlock(lock);
  check(vcs_file_lock("os_a.txt", &lock, &error) == VCS_OK, "a lock can be taken again");
  vcs_file_unlock(lock);
  check(vcs_file_write("os_none/a.txt", "x", 1, &error) == VCS_NOT_FOUND && strstr(error.message, "os_none"),
        "a missing folder is named");
  remove("os_a.txt");
}

static void test_folders(void) {
  vcs_error_t error = {""};
  const bool made = vcs_os_make_directory("os_folder") == 0;
  check(made && vcs_os_kind("os_folder") == VCS_OS_DIRECTORY, "a folder is made");
  check(vcs_os_kind("os_folder/") == VCS_OS_DIRECTORY, "and found with a slash at its end");
  check(vcs_os_make_directory("os_folder") != 0 && errno == EEXIST, "and not made twice");
  check(vcs_file_write("os_folder", "x", 1, &error) != VCS_OK && strstr(error.message, "directory"),
        "and not replaced by a file");
  check(vcs_os_kind("os_none") == VCS_OS_NOTHING, "what is not there is nothing");
  rmdir("os_folder");
}

static void test_drafts(void) {
  vcs_draft_t draft, other;
  vcs_error_t error = {""};
  char temporary[VCS_PATH_SIZE];
  check(vcs_draft_open(&draft, "os_b.txt", &error) == VCS_OK, "a draft is opened");
  strcpy(temporary, draft.temporary);
  vcs_os_draft_sweep(temporary);
  check(vcs_os_kind(temporary) == VCS_OS_FILE, "and not swept away while it is written");
  check(vcs_draft_open(&other, "os_b.txt", &error) == VCS_OK && strcmp(other.temporary, temporary) != 0,
        "a second writer has another draft");
  vcs_draft_abandon(&other);
  fputs("draft", draft.stream);
  check(vcs_draft_commit(&draft, &error) == VCS_OK && contains("os_b.txt", "draft"), "a draft gets its final name");
  check(vcs_os_kind(temporary) == VCS_OS_NOTHING, "and leaves nothing behind");
  FILE *leftover = fopen(temporary, "wb");
  if (leftover) fclose(leftover);
  check(writes("os_b.txt", "again") && vcs_os_kind(temporary) == VCS_OS_NOTHING, "a leftover is removed");
  remove("os_b.txt");
}

static void test_machine(void) {
  char path[VCS_PATH_SIZE] = "";
  check(vcs_os_executable(path, sizeof path) && strstr(vcs_path_base(path), "test_os"), "the program knows its file");
  check(vcs_os_library_path((const void *)&failures, path, sizeof path) && strstr(vcs_path_base(path), "test_os"),
        "and the file that has an address");
  check(vcs_os_processors() >= 1 && vcs_os_memory() > 1e6, "there are processors and memory");
  void *memory = vcs_os_allocate_lines(100);
  check(memory && ((uintptr_t)memory & 63) == 0, "memory begins at a cache line");
  vcs_os_free_lines(memory);
  check(!vcs_os_library_open("os_none.so"), "a missing library is not opened");
  vcs_os_library_error(path, sizeof path);
  check(path[0], "and the reason is known");
}

static void test_children(char *program) {
  vcs_os_child_t child;
  char *missing[] = {"os_no_such_program", NULL}, *self[] = {program, "child", NULL}, text[64];
  check(vcs_os_child_start(&child, missing) == ENOENT, "a missing program is not started");
  check(vcs_os_child_start(&child, self) == 0 && vcs_os_child_write(&child, "hello", 5), "a child is written to");
  check(vcs_os_child_finish(&child), "and ends well");
  vcs_os_child_message(&child, text, sizeof text);
  check(strcmp(text, "5 bytes") == 0, "and its message is read");
  vcs_os_child_end(&child);
  check(vcs_os_child_start(&child, self) == 0, "a child is started again");
  vcs_os_child_end(&child);
  check(child.process == -1 && child.input == -1 && child.messages == -1, "and killed");
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) {
    char bytes[64];
    fprintf(stderr, "%d bytes", (int)fread(bytes, 1, sizeof bytes, stdin));
    return 0;
  }
  test_files();
  test_folders();
  test_drafts();
  test_machine();
  if (argc < 2 || strcmp(argv[1], "alone") != 0) test_children(argv[0]);
  return failures > 0;
}
