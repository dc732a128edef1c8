/* step_a_batch: eight environments step together, with the usual preprocessing of Atari learning.
 *
 * An observation is four pictures of 84 x 84 gray pixels, a step is four frames. The caller owns all arrays; a result
 * whose pointer is NULL is not computed.
 *
 * Output:
 *   8 environments, 28224 bytes an observation
 *   100 steps: mean pixel 70.34, frames 402 to 429
 */
#include <diffvcs/diffvcs.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENVS = 8, STEPS = 100 };

int main(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_error_t error;
  vcs_cart_t *cart;
  if (vcs_cart_load(image, size, NULL, &cart, &error)) return fprintf(stderr, "%s\n", error.message), 1;

  vcs_batch_options_t options;
  vcs_batch_defaults(&options);
  options.envs = ENVS;
  vcs_batch_t *batch;
  const vcs_cart_t *carts[] = {cart};
  if (vcs_batch_create(carts, 1, NULL, &options, &batch, &error)) return fprintf(stderr, "%s\n", error.message), 1;

  const size_t bytes = vcs_batch_observation_size(batch);
  uint8_t *observations = malloc(ENVS * bytes);
  int32_t rewards[ENVS], frames[ENVS], actions[ENVS];
  const vcs_batch_results_t results = {.observations = observations, .rewards = rewards, .frame_numbers = frames};
  printf("%d environments, %zu bytes an observation\n", ENVS, bytes);

  if (vcs_batch_reset(batch, NULL, NULL, ENVS, &results, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  for (int step = 0; step < STEPS; step++) {
    for (int env = 0; env < ENVS; env++) actions[env] = (step + env) % 3;
    if (vcs_batch_step(batch, actions, NULL, &results, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  }

  double sum = 0;
  for (size_t i = 0; i < ENVS * bytes; i++) sum += observations[i];
  int32_t fewest = frames[0], most = frames[0];
  for (int env = 1; env < ENVS; env++) {
    if (frames[env] < fewest) fewest = frames[env];
    if (frames[env] > most) most = frames[env];
  }
  printf("%d steps: mean pixel %.2f, frames %d to %d\n", STEPS, sum / (double)(ENVS * bytes), (int)fewest, (int)most);

  free(observations);
  vcs_batch_free(batch);
  vcs_cart_free(cart);
  return 0;
}
