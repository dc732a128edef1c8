/* replay.c: runs a harness without libFuzzer.
 *
 *   harness_NAME [-n CHANGES] FILE|FOLDER...     each input, and CHANGES changed copies of each (default 0)
 *
 * A change is a few bytes flipped, set, inserted, removed or copied from another place, the same ones in every run. */
#include <dirent.h>

#include "core/splitmix.h"
#include "fuzz.h"

static uint64_t random_state = 1, inputs;
static int changes;

static size_t below(size_t n) {
  const uint64_t drawn = vcs_splitmix64(&random_state);
  return n ? (size_t)(drawn % n) : 0;
}

/* Changes bytes[size], which has room for eight more; returns the new size. */
static size_t change(uint8_t *bytes, size_t size) {
  for (size_t times = 1 + below(4); times > 0 && size; times--) {
    const size_t at = below(size), length = 1 + below(size - at < 8 ? size - at : 8), from = below(size - length + 1);
    switch (below(6)) {
      case 0:
        bytes[at] ^= (uint8_t)(1 << below(8));
        break;
      case 1:
        bytes[at] = (uint8_t)below(256);
        break;
      case 2:
        bytes[at] = below(2) ? 0xFF : 0;
        break;
      case 3:
        memmove(bytes + at, bytes + from, length);
        break;
      case 4:
        memmove(bytes + at, bytes + at + length, size - at - length);
        size -= length;
        break;
      default:
        size = below(8) ? size : at;
    }
  }
  return size;
}

static void run(const uint8_t *data, size_t size) {
  uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read beyond the end */
  check(exact);
  if (size) memcpy(exact, data, size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  inputs++;
}

static void replay(const char *path) {
  enum { LARGEST = 1 << 20 };
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(LARGEST), *changed = malloc(LARGEST + 8);
  check(data && changed);
  if (!file) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(2);
  }
  const size_t size = fread(data, 1, LARGEST, file);
  fclose(file);
  run(data, size);
  for (int i = 0; i < changes; i++) {
    memcpy(changed, data, size);
    run(changed, change(changed, size));
  }
  free(data);
  free(changed);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
      changes = atoi(argv[++i]);
      continue;
    }
    struct dirent **names;
    const int count = scandir(argv[i], &names, NULL, by_name);
    if (count < 0) replay(argv[i]);
    for (int j = 0; j < count; j++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], names[j]->d_name);
      if (names[j]->d_name[0] != '.') replay(path);
      free(names[j]);
    }
    if (count >= 0) free(names);
  }
  printf("%lu inputs\n", (unsigned long)inputs);
  return inputs ? 0 : 2;
}
