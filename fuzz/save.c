/* save.c: save files and states.
 *
 * The first byte chooses: the file as it is; the file with its checksum made right; or a header, a table and fields,
 * which are packed and summed here, so that changes of the fields reach the loader. The fourth way is a state of a
 * machine for vcs_env_state_restore. What is accepted plays on, and is saved and loaded again to the same file. */
#include <zlib.h>

#include "host/hash.h"
#include "host/save.h"
#include "fuzz.h"

static void put(uint8_t *to, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(number >> 8 * i);
}

/* A file whose size, packed fields and checksum are right: the input is its header, its table and its fields unpacked.
 */
static uint8_t *pack(const uint8_t *data, size_t size, size_t *file_size) {
  size_t at = VCS_SAVE_HEADER;
  uint32_t rows = size >= VCS_SAVE_HEADER ? (uint32_t)data[12] | (uint32_t)data[13] << 8 : 0;
  while (rows-- > 0 && size >= at + 8 && size >= at + 8 + data[at + 1]) at += 8u + data[at + 1];
  if (size < at) at = size;
  uLongf packed = compressBound((uLong)(size - at));
  uint8_t *file = calloc(1, at + packed + VCS_SAVE_HEADER + 8);
  check(file);
  memcpy(file, data, at);
  check(compress2(file + at, &packed, data + at, (uLong)(size - at), 1) == Z_OK);
  put(file + 16, size - at, 4);
  put(file + 20, packed, 4);
  put(file + at + packed, vcs_hash64(file, at + packed, 0), 8);
  *file_size = at + packed + 8;
  return file;
}

static void play_on(vcs_env_t *env) {
  const size_t bound = vcs_env_save_bound(env);
  uint8_t *first = malloc(bound), *again = malloc(bound);
  size_t sizes[2];
  vcs_error_t error = {""};
  check(first && again);
  for (int i = 0; i < 3; i++) vcs_env_act(env, i, VCS_NOOP);
  check(vcs_env_save_to(env, first, &sizes[0], &error) == VCS_OK);
  check(vcs_env_load_from(env, first, sizes[0], &error) == VCS_OK);
  check(vcs_env_save_to(env, again, &sizes[1], &error) == VCS_OK);
  check(sizes[0] == sizes[1] && memcmp(first, again, sizes[0]) == 0);
  free(first);
  free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const unsigned way = (unsigned)take(&input, 1) % 4;
  vcs_env_t *env = demo_env();
  vcs_error_t error = {""};
  vcs_save_info_t info;
  size_t file_size = input.size;
  uint8_t *file;
  if (way == 3) {
    if (accepted(vcs_env_state_restore(env, input.data, input.size, &error), &error)) play_on(env);
    return 0;
  }
  if (way == 2) {
    file = pack(input.data, input.size, &file_size);
  } else {
    file = malloc(file_size ? file_size : 1);
    check(file);
    if (file_size) memcpy(file, input.data, file_size);
    if (way == 1 && file_size >= 8) put(file + file_size - 8, vcs_hash64(file, file_size - 8, 0), 8);
  }
  accepted(vcs_save_info(file, file_size, &info, &error), &error);
  if (accepted(vcs_env_load_from(env, file, file_size, &error), &error)) play_on(env);
  free(file);
  return 0;
}
