/* count.c: a program for callgrind: `count ROM NAME FRAMES DRAWING` plays a stream of actions inside bench_loop, the
 * one function whose host instructions callgrind.sh collects, and prints how many instructions the 6507 executed there.
 */
#include <diffvcs/diffvcs.h>

#include <stdio.h>
#include <stdlib.h>

int64_t bench_loop(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen);
uint64_t bench_count(vcs_env_t *env, const uint8_t *actions, int64_t count, uint8_t *screen);

enum { IMAGE_MAX = 1 << 20 };

static uint8_t image[IMAGE_MAX], screen[VCS_FRAME_BYTES];

static vcs_env_t *create(const vcs_cart_t *cart, int drawing) {
  vcs_env_t *env = NULL;
  if (vcs_env_create(cart, &env, NULL) == VCS_OK) vcs_env_set_drawing(env, drawing);
  return env;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: count ROM NAME FRAMES DRAWING\n");
    return 2;
  }
  FILE *file = fopen(argv[1], "rb");
  const size_t size = file ? fread(image, 1, sizeof image, file) : 0;
  const int64_t frames = atoll(argv[3]);
  const int drawing = atoi(argv[4]);
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .name = argv[2]};
  uint8_t *actions = frames > 0 ? malloc((size_t)frames) : NULL;
  uint8_t *picture = drawing ? screen : NULL;
  vcs_cart_t *cart = NULL;
  vcs_error_t error = {"out of memory"};
  int failed = 1;
  if (file) fclose(file);
  if (actions && vcs_cart_load(image, size, &options, &cart, &error) == VCS_OK) {
    vcs_env_t *timed = create(cart, drawing), *counted = create(cart, drawing);
    vcs_stream_t stream;
    vcs_stream_start(&stream, 1);
    for (int64_t i = 0; i < frames; i++) actions[i] = (uint8_t)vcs_stream_next(&stream);
    if (timed && counted) {
      bench_loop(timed, actions, frames, picture);
      printf("%llu\n", (unsigned long long)bench_count(counted, actions, frames, picture));
      failed = 0;
    }
    vcs_env_free(timed);
    vcs_env_free(counted);
  }
  if (failed) fprintf(stderr, "count: %s: %s\n", argv[1], error.message);
  vcs_cart_free(cart);
  free(actions);
  return failed;
}
