/* hashes.c: runs cartridges and prints the hash of the machine's state, for comparing builds (builds.sh, PXC2).
 * Arguments: image files, or "demo". Each is run with both profiles, drawn, 300 frames of the stream of seed 7. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffvcs/diffvcs.h"
#include "host/files.h"
#include "host/hash.h"

static int run(const char *path, const uint8_t *image, size_t size, vcs_profile_t profile) {
  char name[64];
  vcs_error_t error;
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_stream_t stream;
  vcs_path_stem(path, name, sizeof name);
  vcs_cart_options_t options = {.profile = profile, .name = name};
  if (vcs_cart_load(image, size, &options, &cart, &error) || vcs_env_create(cart, &env, &error)) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    return 1;
  }
  vcs_stream_start(&stream, 7);
  for (int i = 0; i < 300; i++) vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
  printf("%s %s %016" PRIx64 " %016" PRIx64 "\n", name, vcs_profile_name(profile), vcs_hash(cart, vcs_env_machine(env)),
         vcs_hash64(vcs_env_screen(env), (size_t)VCS_WIDTH * (size_t)vcs_env_height(env), 0));
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}

int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++) {
    vcs_error_t error;
    uint8_t *read = NULL;
    size_t size;
    const uint8_t *image = vcs_demo_image(&size);
    if (strcmp(argv[i], "demo") != 0) {
      if (vcs_file_read(argv[i], 1 << 20, &read, &size, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
      }
      image = read;
    }
    for (int p = 0; p < VCS_PROFILE_COUNT; p++) failed |= run(argv[i], image, size, (vcs_profile_t)p);
    free(read);
  }
  return failed;
}
