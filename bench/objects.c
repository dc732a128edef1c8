/* objects.c: a program for callgrind: `objects ROM RECORDING FRAMES` plays a stream of actions, and counts the last
 * FRAMES frames after 300 of them. RECORDING 0: they are drawn; 1: their objects are recorded, too; 2: and listed after
 * each frame; 3: and tracked. Prints the number of objects of the last frame. */
#include <diffvcs/objects.h>
#include <diffvcs/study.h>

#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

enum { BEFORE = 300 };
static vcs_object_t objects[VCS_OBJECTS_MAX];
static vcs_tracks_t tracks;

int main(int argc, char **argv) {
  vcs_rom_t rom;
  const vcs_rom_options_t options = {0};
  vcs_error_t error;
  vcs_env_t *env;
  vcs_stream_t stream;
  int32_t count = 0;
  if (argc != 4) {
    fprintf(stderr, "usage: objects ROM RECORDING FRAMES\n");
    return 2;
  }
  if (vcs_rom_open(argv[1], &options, &rom, &error) || vcs_env_create(rom.cart, &env, &error)) {
    fprintf(stderr, "objects: %s: %s\n", argv[1], error.message);
    return 1;
  }
  const int recording = atoi(argv[2]), frames = atoi(argv[3]);
  vcs_env_set_objects(env, recording > 0);
  vcs_stream_start(&stream, 1);
  for (int i = 0; i < BEFORE + frames; i++) {
    const int action = vcs_stream_next(&stream);
    if (vcs_env_over(env)) vcs_env_reset(env);
    if (i == BEFORE) CALLGRIND_START_INSTRUMENTATION;
    if (i >= BEFORE) CALLGRIND_TOGGLE_COLLECT;
    vcs_env_act_on(env, action, VCS_NOOP);
    if (recording > 1) count = vcs_env_objects(env, objects, VCS_OBJECTS_MAX);
    if (recording > 2) vcs_objects_track(&tracks, objects, count);
    if (i >= BEFORE) CALLGRIND_TOGGLE_COLLECT;
  }
  printf("%d\n", (int)count);
  vcs_env_free(env);
  vcs_cart_free(rom.cart);
  return 0;
}
