/* try.c: tries the library of a wheel where no Python for its platform is at hand. It plays as try.py does, and prints
 * the same hash; then the derivatives of a pixel with respect to the image, by two methods, as a number that is the
 * same on every platform. Link it with the library that is in the wheel. */
#include <diffvcs/diffvcs.h>
#include <diffvcs/grad.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const void *data, size_t size) { /* FNV-1a */
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001B3;
  return hash;
}

static uint64_t differentiate(vcs_env_t *env, uint64_t hash, vcs_method_t method) {
  static float rom[8 * 4096], picture[VCS_FRAME_BYTES];
  float *pixels[] = {NULL, NULL, picture};
  vcs_controls_t controls[3];
  vcs_run_t run;
  vcs_grad_options_t options;
  const vcs_grad_inputs_t in = {.rom = rom};
  const vcs_grad_outputs_t out = {.pixels = pixels};
  for (int y = 90; y < 110; y++) picture[VCS_WIDTH * y + 80] = 1;
  memset(rom, 0, sizeof rom);
  vcs_run_idle(env, 3, controls, &run);
  vcs_grad_defaults(&options);
  options.method = method;
  if (vcs_grad_vjp(&run, &options, &in, &out, NULL, NULL)) return 0;
  float sum = 0;
  for (size_t i = 0; i < sizeof rom / sizeof *rom; i++) sum += rom[i] < 0 ? -rom[i] : rom[i];
  return sum > 0 ? mix(hash, rom, sizeof rom) : 0;
}

static uint64_t play(vcs_cart_t *cart, uint64_t *derivatives) {
  vcs_env_options_t options;
  vcs_env_t *env;
  if (vcs_env_defaults_players(cart, 1, &options, NULL)) return 0;
  options.repeat_action_probability = 0;
  if (vcs_env_create_with(cart, &options, &env, NULL)) return 0;
  for (int i = 0; i < 60; i++) vcs_env_act(env, i % 18, 0);
  for (int i = 0; i < 10; i++) vcs_env_act(env, 3, 0); /* RIGHT */
  const uint64_t hash = vcs_hash(cart, vcs_env_machine(env));
  *derivatives = differentiate(env, differentiate(env, 0xCBF29CE484222325, VCS_METHOD_BIT), VCS_METHOD_STE);
  vcs_env_free(env);
  return hash;
}

int main(void) {
  size_t size;
  vcs_cart_t *cart;
  vcs_error_t error = {""};
  const uint8_t *image = vcs_demo_image(&size);
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  uint64_t derivatives = 0;
  const uint64_t hash = play(cart, &derivatives);
  printf("diffvcs %s: hash %016" PRIx64 ", derivatives %016" PRIx64 "\n", vcs_version(), hash, derivatives);
  vcs_cart_free(cart);
  return !hash || !derivatives;
}
