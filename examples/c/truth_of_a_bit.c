/* truth_of_a_bit: what one input does, exactly: the run is executed with it and without it, and compared.
 *
 * This is the definition that every derivative is scored against. A horizon is a number of frames after which the two
 * runs are compared.
 *
 * Output:
 *   after 1 frame: 0 pixels and 2 bytes of RAM differ
 *   after 2 frames: 52 pixels and 2 bytes of RAM differ
 *   after 8 frames: 52 pixels and 2 bytes of RAM differ
 */
#include <diffvcs/grad.h>
#include <stdio.h>

enum { FRAMES = 8, HORIZONS = 3 };

int main(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_error_t error;
  vcs_cart_t *cart;
  vcs_env_t *env;
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  if (vcs_env_create(cart, &env, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  for (int frame = 0; frame < 300; frame++) vcs_env_act_on(env, VCS_NOOP, VCS_NOOP);

  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  vcs_run_idle(env, FRAMES, controls, &run);

  const vcs_place_t right = {.kind = VCS_PLACE_INPUT, .index = VCS_INPUT_RIGHT, .frame = 0};
  const int32_t horizons[HORIZONS] = {1, 2, 8};
  const vcs_truth_options_t options = {.horizons = horizons, .horizon_count = HORIZONS};
  vcs_truth_t rows[HORIZONS];
  const vcs_truth_results_t results = {.rows = rows};
  if (vcs_truth(&run, &options, &right, 1, &results, &error)) return fprintf(stderr, "%s\n", error.message), 1;

  for (int i = 0; i < HORIZONS; i++) {
    printf("after %d frame%s: %d pixels and %d bytes of RAM differ\n", (int)horizons[i], horizons[i] == 1 ? "" : "s",
           (int)rows[i].pixels, (int)rows[i].ram_bytes);
  }
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
