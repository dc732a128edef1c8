/* keep_saving.c: a program for tests/faults.py: runs our own cartridge and saves it after every frame into one file.
 *
 *   keep_saving FILE FRAMES    continues from the file if it is there; the status is 0 once frame FRAMES is saved
 *
 * Prints the number of the frame that it starts from, and of each frame when its save is done. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "diffvcs/diffvcs.h"

static int complain(const vcs_error_t *error) {
  fprintf(stderr, "keep_saving: %s\n", error->message);
  return 1;
}

int main(int argc, char **argv) {
  vcs_error_t error = {""};
  vcs_cart_t *cart = NULL;
  vcs_env_t *env = NULL;
  size_t size;
  if (argc != 3) return 2;
  const uint8_t *image = vcs_demo_image(&size);
  if (vcs_cart_load(image, size, NULL, &cart, &error) || vcs_env_create(cart, &env, &error)) return complain(&error);
  if (access(argv[1], F_OK) == 0) {
    if (vcs_env_load(env, argv[1], &error)) return complain(&error);
  } else {
    vcs_env_reset(env);
  }
  const uint64_t end = strtoull(argv[2], NULL, 10);
  printf("%" PRIu64 "\n", vcs_env_frame_number(env));
  while (vcs_env_frame_number(env) < end) {
    vcs_env_act(env, (int)(vcs_env_frame_number(env) % 18), VCS_NOOP);
    if (vcs_env_save(env, argv[1], &error)) return complain(&error);
    printf("%" PRIu64 "\n", vcs_env_frame_number(env));
    fflush(stdout);
  }
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
