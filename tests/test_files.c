/* Reading, atomic writing, growing text, paths, and the search for ROM images, in a directory of their own. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw, symlink */
#endif
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "diffvcs/study.h"
#include "folder.h"
#include "host/files.h"
#include "host/os.h"
#include "need.h"

/* ---- Files for the tests ------------------------------------------------------------------------------------ */

static int make_files_root(void **state) {
  unsetenv("DIFFVCS_ROMS");
  unsetenv("ALE_ROMS_DIR");
  return make_root(state);
}

static void put(const char *path, const char *content) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(content, file);
  assert_int_equal(fclose(file), 0);
}

static int entries_of(const char *directory) {
  DIR *entries = opendir(directory);
  int count = 0;
  assert_non_null(entries);
  while (readdir(entries)) count++;
  closedir(entries);
  return count - 2;
}

static void assert_content(const char *path, const char *content) {
  uint8_t *data;
  size_t size;
  assert_int_equal(vcs_file_read(path, 1 << 20, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, strlen(content));
  assert_memory_equal(data, content, size + 1);
  free(data);
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

static void test_read_gives_every_byte_and_a_closing_zero(void **state) {
  (void)state;
  put(in_root("plain"), "pixels");
  assert_content(in_root("plain"), "pixels");
}

static void test_read_of_an_empty_file_gives_no_bytes(void **state) {
  (void)state;
  uint8_t *data;
  size_t size = 1;
  put(in_root("empty"), "");
  assert_int_equal(vcs_file_read(in_root("empty"), 0, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, 0);
  assert_int_equal(data[0], 0);
  free(data);
}

static void write_gzip(const char *path, size_t size) {
  gzFile file = gzopen(path, "wb");
  for (size_t i = 0; i < size; i++) gzputc(file, (int)(i * i >> 3 & 255));
  assert_int_equal(gzclose(file), Z_OK);
}

static void test_read_unpacks_gzip(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  write_gzip(in_root("packed.gz"), 200000);
  assert_int_equal(vcs_file_read(in_root("packed.gz"), 200000, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, 200000);
  for (size_t i = 0; i < size; i++) assert_int_equal(data[i], i * i >> 3 & 255);
  free(data);
}

static void test_read_refuses_truncated_gzip(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  vcs_error_t error;
  struct stat status;
  write_gzip(in_root("cut.gz"), 200000);
  assert_int_equal(stat(in_root("cut.gz"), &status), 0);
  for (off_t less = 1; less < status.st_size - 10; less += status.st_size / 5) {
    assert_int_equal(truncate(in_root("cut.gz"), status.st_size - less), 0);
    assert_int_equal(vcs_file_read(in_root("cut.gz"), 1 << 20, &data, &size, &error), VCS_BAD_FILE);
    assert_null(data);
    assert_non_null(strstr(error.message, "gzip"));
  }
}

static void test_read_refuses_corrupt_gzip(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  write_gzip(in_root("bad.gz"), 5000);
  FILE *file = fopen(in_root("bad.gz"), "r+b");
  assert_non_null(file);
  fseek(file, -6, SEEK_END); /* in the checksum */
  int byte = fgetc(file);
  fseek(file, -6, SEEK_END);
  fputc(byte ^ 1, file);
  fclose(file);
  assert_int_equal(vcs_file_read(in_root("bad.gz"), 1 << 20, &data, &size, NULL), VCS_BAD_FILE);
}

static void test_read_refuses_one_byte_beyond_the_limit(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  vcs_error_t error;
  put(in_root("seven"), "1234567");
  assert_int_equal(vcs_file_read(in_root("seven"), 7, &data, &size, &error), VCS_OK);
  assert_string_equal(error.message, "");
  free(data);
  assert_int_equal(vcs_file_read(in_root("seven"), 6, &data, &size, &error), VCS_BAD_FILE);
  assert_non_null(strstr(error.message, "6 bytes"));
  assert_null(data);
}

static void test_read_of_a_missing_file_says_which(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  vcs_error_t error;
  assert_int_equal(vcs_file_read(in_root("nothing"), 10, &data, &size, &error), VCS_NOT_FOUND);
  assert_non_null(strstr(error.message, "/nothing: No such file"));
}

static void test_read_refuses_a_directory(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  vcs_error_t error;
  assert_int_equal(vcs_file_read(root, 10, &data, &size, &error), VCS_BAD_FILE);
  assert_non_null(strstr(error.message, "directory"));
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

static void test_write_replaces_a_file(void **state) {
  (void)state;
  put(in_root("old"), "something longer");
  assert_int_equal(vcs_file_write(in_root("old"), "new", 3, NULL), VCS_OK);
  assert_content(in_root("old"), "new");
}

static void test_draft_shows_nothing_before_commit(void **state) {
  (void)state;
  vcs_draft_t draft;
  put(in_root("kept"), "old");
  assert_int_equal(vcs_draft_open(&draft, in_root("kept"), NULL), VCS_OK);
  fputs("new", draft.stream);
  fflush(draft.stream);
  assert_content(in_root("kept"), "old");
  assert_int_equal(vcs_draft_commit(&draft, NULL), VCS_OK);
  assert_content(in_root("kept"), "new");
}

static void test_draft_abandoned_leaves_nothing(void **state) {
  (void)state;
  vcs_draft_t draft;
  mkdir(in_root("bare"), 0777);
  assert_int_equal(vcs_draft_open(&draft, in_root("bare/file"), NULL), VCS_OK);
  fputs("new", draft.stream);
  assert_int_equal(entries_of(in_root("bare")), 1);
  vcs_draft_abandon(&draft);
  assert_int_equal(entries_of(in_root("bare")), 0);
}

static void test_two_drafts_of_one_file_do_not_meet(void **state) {
  (void)state;
  vcs_draft_t one, two;
  assert_int_equal(vcs_draft_open(&one, in_root("both"), NULL), VCS_OK);
  assert_int_equal(vcs_draft_open(&two, in_root("both"), NULL), VCS_OK);
  fputs("one", one.stream);
  fputs("two", two.stream);
  assert_int_equal(vcs_draft_commit(&two, NULL), VCS_OK);
  assert_content(in_root("both"), "two");
  assert_int_equal(vcs_draft_commit(&one, NULL), VCS_OK);
  assert_content(in_root("both"), "one");
}

static void test_write_into_a_missing_directory_is_not_found(void **state) {
  (void)state;
  vcs_error_t error;
  assert_int_equal(vcs_file_write(in_root("no/where"), "x", 1, &error), VCS_NOT_FOUND);
  assert_non_null(strstr(error.message, "no/where"));
}

static void test_write_follows_a_link(void **state) {
  (void)state;
  struct stat status;
  put(in_root("target"), "old");
  assert_int_equal(symlink("target", in_root("link")), 0);
  assert_int_equal(vcs_file_write(in_root("link"), "new", 3, NULL), VCS_OK);
  assert_content(in_root("target"), "new");
  assert_int_equal(lstat(in_root("link"), &status), 0);
  assert_true(S_ISLNK(status.st_mode));
}

static void test_write_keeps_the_permissions(void **state) {
  (void)state;
  struct stat status;
  put(in_root("private"), "old");
  chmod(in_root("private"), 0600);
  assert_int_equal(vcs_file_write(in_root("private"), "new", 3, NULL), VCS_OK);
  assert_int_equal(stat(in_root("private"), &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_write_to_a_device_leaves_it_a_device(void **state) {
  (void)state;
  struct stat status;
  assert_int_equal(vcs_file_write("/dev/null", "gone", 4, NULL), VCS_OK);
  assert_int_equal(stat("/dev/null", &status), 0);
  assert_true(S_ISCHR(status.st_mode));
}

static void test_write_to_a_full_disk_fails(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) NEED("linux", "/dev/full");
  vcs_error_t error;
  assert_int_equal(vcs_file_write("/dev/full", "much", 4, &error), VCS_BAD_FILE);
  assert_non_null(strstr(error.message, "/dev/full"));
}

static int drafts_in(const char *folder) {
  int count = 0;
  DIR *entries = opendir(folder);
  assert_non_null(entries);
  for (struct dirent *entry; (entry = readdir(entries));) count += vcs_path_ends(entry->d_name, ".part");
  closedir(entries);
  return count;
}

static void test_a_draft_of_a_killed_process_is_removed_by_the_next(void **state) {
  (void)state;
  mkdir(in_root("killed"), 0777);
  for (int i = 0; i < 3; i++) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      vcs_draft_t draft;
      vcs_draft_open(&draft, in_root("killed/file"), NULL);
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(drafts_in(in_root("killed")), 1);
  }
  assert_int_equal(vcs_file_write(in_root("killed/file"), "new", 3, NULL), VCS_OK);
  assert_content(in_root("killed/file"), "new");
  assert_int_equal(drafts_in(in_root("killed")), 0);
}

static void test_a_draft_in_the_way_is_left_alone(void **state) {
  (void)state;
  mkdir(in_root("way"), 0777);
  put(in_root("way/precious"), "kept");
  char draft[64];
  snprintf(draft, sizeof draft, "%s", in_root("way/.file.0.part"));
  assert_int_equal(symlink("precious", draft), 0);
  assert_int_equal(vcs_file_write(in_root("way/file"), "new", 3, NULL), VCS_OK);
  assert_content(in_root("way/file"), "new");
  assert_content(in_root("way/precious"), "kept");
}

/* Two processes add a line each, 50 times. */
static void test_processes_that_lock_a_file_lose_nothing(void **state) {
  (void)state;
  pid_t children[2];
  for (int c = 0; c < 2; c++) {
    children[c] = fork();
    assert_true(children[c] >= 0);
    if (children[c]) continue;
    for (int i = 0; i < 50; i++) {
      int lock;
      uint8_t *data;
      size_t size;
      vcs_text_t text = {0};
      if (vcs_file_lock(in_root("shared"), &lock, NULL)) _exit(1);
      if (vcs_file_read(in_root("shared"), 1000, &data, &size, NULL)) _exit(2);
      vcs_text_append(&text, data, size);
      vcs_text_printf(&text, "%c", 'a' + c);
      if (vcs_file_write_text(in_root("shared"), &text, NULL)) _exit(3);
      vcs_file_unlock(lock);
      free(data);
      vcs_text_free(&text);
    }
    _exit(0);
  }
  for (int c = 0; c < 2; c++) {
    int status = -1;
    assert_int_equal(waitpid(children[c], &status, 0), children[c]);
    assert_int_equal(status, 0);
  }
  uint8_t *data;
  size_t size;
  assert_int_equal(vcs_file_read(in_root("shared"), 1000, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, 100);
  free(data);
}

/* ---- Text --------------------------------------------------------------------------------------------------- */

static void test_text_grows_as_needed(void **state) {
  (void)state;
  vcs_text_t text = {0};
  for (int i = 0; i < 10000; i++) vcs_text_printf(&text, "%d,", i % 10);
  assert_int_equal(text.length, 20000);
  assert_int_equal(strlen(text.text), 20000);
  for (int i = 0; i < 10000; i++) assert_int_equal(text.text[2 * i], '0' + i % 10);
  vcs_text_free(&text);
  assert_null(text.text);
}

static void test_text_holds_any_byte(void **state) {
  (void)state;
  vcs_text_t text = {0};
  vcs_text_append(&text, "a\0b", 3);
  vcs_text_printf(&text, "%s", "c");
  assert_int_equal(text.length, 4);
  assert_memory_equal(text.text, "a\0bc", 5);
  vcs_text_free(&text);
}

static void test_json_is_utf_8_whatever_the_name(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"a\"\\\n", "\"a\\\"\\\\\\u000a\""},
      {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
      {"\xFF\xFEz", "\"\\ufffd\\ufffdz\""},
      {"\xC3", "\"\\ufffd\""},
      {"\xE2\x82", "\"\\ufffd\\ufffd\""},
      {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    vcs_text_t text = {0};
    vcs_text_json(&text, names[i][0]);
    assert_string_equal(text.text, names[i][1]);
    vcs_text_free(&text);
  }
}

static void test_text_that_failed_is_not_written(void **state) {
  (void)state;
  vcs_text_t text = {.failed = true};
  assert_int_equal(vcs_file_write_text(in_root("failed"), &text, NULL), VCS_NO_MEMORY);
  assert_false(vcs_path_is_file(in_root("failed")));
}

static void test_text_goes_to_a_file(void **state) {
  (void)state;
  vcs_text_t text = {0};
  vcs_text_printf(&text, "%s %d\n", "frames", 600);
  assert_int_equal(vcs_file_write_text(in_root("text"), &text, NULL), VCS_OK);
  assert_content(in_root("text"), "frames 600\n");
  vcs_text_free(&text);
}

static void test_error_too_long_ends_in_dots(void **state) {
  (void)state;
  vcs_error_t error;
  assert_int_equal(vcs_error_fill(&error, VCS_BAD_FILE, "%0500d", 1), VCS_BAD_FILE);
  assert_int_equal(strlen(error.message), sizeof error.message - 1);
  assert_string_equal(error.message + sizeof error.message - 5, "0...");
}

/* ---- Paths -------------------------------------------------------------------------------------------------- */

static void test_path_parts(void **state) {
  (void)state;
  char text[16];
  assert_string_equal(vcs_path_base("a/b.bin"), "b.bin");
  assert_string_equal(vcs_path_base("b.bin"), "b.bin");
  vcs_path_stem("a/pong.bin.gz", text, sizeof text);
  assert_string_equal(text, "pong");
  vcs_path_stem("a.d/pong", text, sizeof text);
  assert_string_equal(text, "pong");
  assert_true(vcs_path_ends("PONG.BIN", ".bin"));
  assert_false(vcs_path_ends("bin", ".bin"));
  assert_true(vcs_path_join(text, sizeof text, "a", "b"));
  assert_string_equal(text, "a/b");
  assert_true(vcs_path_join(text, sizeof text, "a/", "b"));
  assert_string_equal(text, "a/b");
  assert_false(vcs_path_join(text, sizeof text, "aaaaaaaa", "bbbbbbb"));
}

static void test_path_executable_is_this_test(void **state) {
  (void)state;
  char path[VCS_PATH_SIZE];
  assert_true(vcs_os_executable(path, sizeof path));
  assert_true(vcs_path_is_file(path));
  assert_non_null(strstr(vcs_path_base(path), "test_files"));
}

/* ---- ROM images --------------------------------------------------------------------------------------------- */

static int make_roms(void **state) {
  (void)state;
  mkdir(in_root("roms"), 0777);
  mkdir(in_root("other"), 0777);
  put(in_root("roms/pong.bin"), "p");
  put(in_root("roms/video_chess.bin"), "v");
  put(in_root("roms/readme.txt"), "r");
  put(in_root("other/pong.a26"), "q");
  put(in_root("other/tennis.bin"), "t");
  mkdir(in_root("roms/tennis.bin"), 0777);
  return 0;
}

static void assert_finds(const char *name, const char *directory, const char *file) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error;
  vcs_status_t status = vcs_rom_find(name, directory, path, sizeof path, &error);
  if (status != VCS_OK) fail_msg("%s: %s", name, error.message);
  assert_string_equal(path, in_root(file));
}

static void test_rom_path_that_exists_is_taken_as_it_is(void **state) {
  (void)state;
  char path[VCS_PATH_SIZE];
  assert_int_equal(vcs_rom_find(in_root("roms/readme.txt"), NULL, path, sizeof path, NULL), VCS_OK);
  assert_string_equal(path, in_root("roms/readme.txt"));
}

static void test_rom_is_found_with_or_without_its_ending(void **state) {
  (void)state;
  assert_finds("pong", in_root("roms"), "roms/pong.bin");
  assert_finds("pong.bin", in_root("roms"), "roms/pong.bin");
  assert_finds("pong", in_root("other"), "other/pong.a26");
  assert_finds("pong.bin", in_root("other"), "other/pong.a26");
}

static void test_rom_spelling_may_differ(void **state) {
  (void)state;
  assert_finds("videochess", in_root("roms"), "roms/video_chess.bin");
  assert_finds("VideoChess", in_root("roms"), "roms/video_chess.bin");
  assert_finds("Video Chess.a26", in_root("roms"), "roms/video_chess.bin");
}

static void test_rom_directory_goes_before_environment(void **state) {
  (void)state;
  setenv("DIFFVCS_ROMS", in_root("other"), 1);
  assert_finds("pong", in_root("roms"), "roms/pong.bin");
  assert_finds("pong", NULL, "other/pong.a26");
  assert_finds("tennis", in_root("roms"), "other/tennis.bin"); /* and roms/tennis.bin is a directory */
  unsetenv("DIFFVCS_ROMS");
}

static void test_rom_environment_goes_ours_then_ale(void **state) {
  (void)state;
  setenv("ALE_ROMS_DIR", in_root("other"), 1);
  assert_finds("pong", NULL, "other/pong.a26");
  setenv("DIFFVCS_ROMS", in_root("roms"), 1);
  assert_finds("pong", NULL, "roms/pong.bin");
  unsetenv("DIFFVCS_ROMS");
  unsetenv("ALE_ROMS_DIR");
}

static void test_rom_is_found_in_a_local_venv(void **state) {
  (void)state;
  static const char *const parts[] = {"/.venv", "/lib", "/python3.11", "/site-packages", "/ale_py", "/roms"};
  char directory[VCS_PATH_SIZE], before[VCS_PATH_SIZE], path[VCS_PATH_SIZE];
  snprintf(directory, sizeof directory, "%s", root);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    strcat(directory, parts[i]);
    assert_int_equal(mkdir(directory, 0777), 0);
  }
  assert_true(vcs_path_join(path, sizeof path, directory, "only_in_venv.bin"));
  put(path, "z");
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(root), 0);
  vcs_status_t status = vcs_rom_find("onlyinvenv", NULL, path, sizeof path, NULL);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(status, VCS_OK);
  assert_string_equal(path, "./.venv/lib/python3.11/site-packages/ale_py/roms/only_in_venv.bin");
}

/* A Python under a prefix, with an ale_py that has one image, and a python3 that leaves a file if it is ever run. */
static void make_python(const char *prefix, const char *library, const char *image) {
  char path[4 * VCS_PATH_SIZE], script[VCS_PATH_SIZE + 32];
  snprintf(path, sizeof path, "mkdir -p '%s/%s/bin' '%s/%s/%s/ale_py/roms'", root, prefix, root, prefix, library);
  assert_int_equal(system(path), 0);
  snprintf(path, sizeof path, "%s/%s/%s/ale_py/roms/%s", root, prefix, library, image);
  put(path, "p");
  snprintf(script, sizeof script, "#!/bin/sh\ntouch '%s'\n", in_root("python_ran"));
  snprintf(path, sizeof path, "%s/%s/bin/python3", root, prefix);
  put(path, script);
  assert_int_equal(chmod(path, 0755), 0);
}

static vcs_status_t find_with_path(const char *search, const char *name, char *path) {
  char old[4 * VCS_PATH_SIZE];
  snprintf(old, sizeof old, "%s", getenv("PATH") ? getenv("PATH") : "");
  setenv("PATH", search, 1);
  const vcs_status_t status = vcs_rom_find(name, NULL, path, VCS_PATH_SIZE, NULL);
  setenv("PATH", old, 1);
  return status;
}

static void test_rom_is_found_beside_a_python_of_the_path_which_is_not_run(void **state) {
  (void)state;
  static const struct {
    const char *prefix, *library, *image;
  } pythons[] = {{"pip", "lib/python3.12/site-packages", "only_in_pip.bin"},
                 {"debian", "local/lib/python3.11/dist-packages", "only_in_debian.bin"},
                 {"pyenv", "versions/3.13.1/lib/python3.13/site-packages", "only_in_pyenv.bin"}};
  for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++) {
    char path[VCS_PATH_SIZE], search[2 * VCS_PATH_SIZE], wanted[2 * VCS_PATH_SIZE];
    make_python(pythons[i].prefix, pythons[i].library, pythons[i].image);
    snprintf(search, sizeof search, "/nowhere::%s/%s/bin", root, pythons[i].prefix);
    snprintf(wanted, sizeof wanted, "%s/%s/%s/ale_py/roms/%s", root, pythons[i].prefix, pythons[i].library,
             pythons[i].image);
    assert_int_equal(find_with_path(search, pythons[i].image, path), VCS_OK);
    assert_string_equal(path, wanted);
  }
  assert_false(vcs_path_is_file(in_root("python_ran")));
}

static void test_rom_search_passes_over_folders_of_the_path_without_an_absolute_name(void **state) {
  (void)state;
  char path[VCS_PATH_SIZE], before[VCS_PATH_SIZE];
  make_python("here", "lib/python3.12/site-packages", "only_here.bin");
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(in_root("here")), 0);
  const vcs_status_t status = find_with_path("bin:.:", "only_here", path);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(status, VCS_NOT_FOUND);
}

static void test_rom_not_found_says_where_and_what_to_do(void **state) {
  (void)state;
  char path[VCS_PATH_SIZE];
  vcs_error_t error;
  assert_int_equal(vcs_rom_find("no_such_game", in_root("roms"), path, sizeof path, &error), VCS_NOT_FOUND);
  static const char *const facts[] = {"'no_such_game'",       "pip install ale-py", "/roms, ",
                                      "$DIFFVCS_ROMS (none)", "$ALE_ROMS_DIR",      ".venv",
                                      "python3's ale_py"};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) assert_non_null(strstr(error.message, facts[i]));
}

static void test_rom_places_are_listed_in_full(void **state) {
  (void)state;
  vcs_text_t list = {0};
  vcs_rom_places(in_root("roms"), &list);
  assert_non_null(strstr(list.text, in_root("roms")));
  assert_non_null(strstr(list.text, "$DIFFVCS_ROMS: not set\n"));
  vcs_text_free(&list);
}

static void test_rom_missing_path_is_not_searched(void **state) {
  (void)state;
  char path[VCS_PATH_SIZE];
  vcs_error_t error;
  assert_int_equal(vcs_rom_find("other/pong", in_root("roms"), path, sizeof path, &error), VCS_NOT_FOUND);
  assert_string_equal(error.message, "no such ROM image: other/pong");
}

static void test_rom_path_that_does_not_fit_is_refused(void **state) {
  (void)state;
  char path[8];
  assert_int_equal(vcs_rom_find("pong", in_root("roms"), path, sizeof path, NULL), VCS_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read_gives_every_byte_and_a_closing_zero),
      cmocka_unit_test(test_read_of_an_empty_file_gives_no_bytes),
      cmocka_unit_test(test_read_unpacks_gzip),
      cmocka_unit_test(test_read_refuses_truncated_gzip),
      cmocka_unit_test(test_read_refuses_corrupt_gzip),
      cmocka_unit_test(test_read_refuses_one_byte_beyond_the_limit),
      cmocka_unit_test(test_read_of_a_missing_file_says_which),
      cmocka_unit_test(test_read_refuses_a_directory),
      cmocka_unit_test(test_write_replaces_a_file),
      cmocka_unit_test(test_draft_shows_nothing_before_commit),
      cmocka_unit_test(test_draft_abandoned_leaves_nothing),
      cmocka_unit_test(test_two_drafts_of_one_file_do_not_meet),
      cmocka_unit_test(test_write_into_a_missing_directory_is_not_found),
      cmocka_unit_test(test_write_follows_a_link),
      cmocka_unit_test(test_write_keeps_the_permissions),
      cmocka_unit_test(test_write_to_a_device_leaves_it_a_device),
      cmocka_unit_test(test_write_to_a_full_disk_fails),
      cmocka_unit_test(test_a_draft_of_a_killed_process_is_removed_by_the_next),
      cmocka_unit_test(test_a_draft_in_the_way_is_left_alone),
      cmocka_unit_test(test_processes_that_lock_a_file_lose_nothing),
      cmocka_unit_test(test_text_grows_as_needed),
      cmocka_unit_test(test_json_is_utf_8_whatever_the_name),
      cmocka_unit_test(test_text_holds_any_byte),
      cmocka_unit_test(test_text_that_failed_is_not_written),
      cmocka_unit_test(test_text_goes_to_a_file),
      cmocka_unit_test(test_error_too_long_ends_in_dots),
      cmocka_unit_test(test_path_parts),
      cmocka_unit_test(test_path_executable_is_this_test),
      cmocka_unit_test_setup(test_rom_path_that_exists_is_taken_as_it_is, make_roms),
      cmocka_unit_test(test_rom_is_found_beside_a_python_of_the_path_which_is_not_run),
      cmocka_unit_test(test_rom_search_passes_over_folders_of_the_path_without_an_absolute_name),
      cmocka_unit_test(test_rom_is_found_with_or_without_its_ending),
      cmocka_unit_test(test_rom_spelling_may_differ),
      cmocka_unit_test(test_rom_directory_goes_before_environment),
      cmocka_unit_test(test_rom_environment_goes_ours_then_ale),
      cmocka_unit_test(test_rom_is_found_in_a_local_venv),
      cmocka_unit_test(test_rom_not_found_says_where_and_what_to_do),
      cmocka_unit_test(test_rom_places_are_listed_in_full),
      cmocka_unit_test(test_rom_missing_path_is_not_searched),
      cmocka_unit_test(test_rom_path_that_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, make_files_root, remove_root);
}
