/* explain_a_pixel: which bits of RAM change one pixel of the next frame, found by flipping each of the 1,024.
 *
 * A map of the truth has one value for each pixel and adds up over all flips. Here each bit is flipped in a call of its
 * own, so that the map belongs to it alone. `diffvcs explain` asks the same question of everything else the machine
 * reads.
 *
 * Output:
 *   pixel 80,100 has palette index 150
 *   RAM $85, bit 0: +92
 *   RAM $85, bit 3: +92
 *   RAM $85, bit 4: +92
 */
#include <diffvcs/grad.h>
#include <stdio.h>
#include <string.h>

enum { X = 80, Y = 100 };

/* The offset of the 128 bytes of RAM in a machine. */
static uint32_t ram_offset(void) {
  for (int i = 0; vcs_field(i); i++) {
    if (strcmp(vcs_field(i)->name, "ram") == 0) return (uint32_t)vcs_field(i)->offset;
  }
  return 0;
}

int main(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_error_t error;
  vcs_cart_t *cart;
  vcs_env_t *env;
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  if (vcs_env_create(cart, &env, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  for (int frame = 0; frame < 300; frame++) vcs_env_act_on(env, VCS_NOOP, VCS_NOOP);
  printf("pixel %d,%d has palette index %d\n", X, Y, vcs_env_screen(env)[Y * VCS_WIDTH + X]);

  vcs_controls_t controls;
  vcs_run_t run;
  vcs_run_idle(env, 1, &controls, &run);
  float values[768];
  const int32_t channels = vcs_pixel_values(cart, VCS_VALUES_INDEX, values);
  const vcs_truth_options_t options = {.values = values, .channels = channels, .threads = 1};
  static float map[320 * VCS_WIDTH];
  for (uint32_t byte = 0; byte < 128; byte++) {
    for (uint8_t bit = 0; bit < 8; bit++) {
      const vcs_place_t place = {.kind = VCS_PLACE_STATE, .bit = bit, .index = ram_offset() + byte};
      const vcs_truth_results_t results = {.pixels = map};
      memset(map, 0, sizeof map);
      if (vcs_truth(&run, &options, &place, 1, &results, &error)) return fprintf(stderr, "%s\n", error.message), 1;
      const float change = map[Y * VCS_WIDTH + X];
      if (change != 0) printf("RAM $%02X, bit %d: %+g\n", (unsigned)(0x80 + byte), bit, (double)change);
    }
  }
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
