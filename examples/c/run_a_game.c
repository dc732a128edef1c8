/* run_a_game: load a cartridge, play 600 frames, print the score and a hash of the whole machine.
 *
 * The hash is the same on every machine, with every compiler: the emulator is exact. With an argument, the program
 * loads that ROM image instead of the built-in cartridge.
 *
 * Output:
 *   600 frames, reward 20, lives 3
 *   state b19ebafc198de5f0
 */
#include <diffvcs/diffvcs.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv) {
  static uint8_t file[1 << 19];
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  if (argc > 1) {
    FILE *rom = fopen(argv[1], "rb");
    if (!rom) return perror(argv[1]), 1;
    size = fread(file, 1, sizeof file, rom);
    image = file;
    fclose(rom);
  }

  vcs_error_t error;
  vcs_cart_t *cart;
  vcs_env_t *env;
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  if (vcs_env_create(cart, &env, &error)) return fprintf(stderr, "%s\n", error.message), 1;

  int32_t reward = 0;
  for (int frame = 0; frame < 600; frame++) {
    reward += vcs_env_act(env, frame / 60 % 2 ? VCS_RIGHTFIRE : VCS_LEFT, VCS_NOOP);
    if (vcs_env_over(env)) vcs_env_reset(env);
  }
  printf("600 frames, reward %d, lives %d\n", (int)reward, (int)vcs_env_lives(env));
  printf("state %016" PRIx64 "\n", vcs_hash(cart, vcs_env_machine(env)));

  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
