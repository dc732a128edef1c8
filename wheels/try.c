/* try.c: tries the library of a wheel where no Python for its platform is at hand. It plays as try.py does, and prints
 * the same hash. Link it with the library that is in the wheel. */
#include <diffvcs/diffvcs.h>
#include <inttypes.h>
#include <stdio.h>

static uint64_t play(vcs_cart_t *cart) {
  vcs_env_options_t options;
  vcs_env_t *env;
  if (vcs_env_defaults_players(cart, 1, &options, NULL)) return 0;
  options.repeat_action_probability = 0;
  if (vcs_env_create_with(cart, &options, &env, NULL)) return 0;
  for (int i = 0; i < 60; i++) vcs_env_act(env, i % 18, 0);
  for (int i = 0; i < 10; i++) vcs_env_act(env, 3, 0); /* RIGHT */
  const uint64_t hash = vcs_hash(cart, vcs_env_machine(env));
  vcs_env_free(env);
  return hash;
}

int main(void) {
  size_t size;
  vcs_cart_t *cart;
  vcs_error_t error = {""};
  const uint8_t *image = vcs_demo_image(&size);
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  printf("diffvcs %s: hash %016" PRIx64 "\n", vcs_version(), play(cart));
  vcs_cart_free(cart);
  return 0;
}
