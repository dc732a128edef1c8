/* jvp_and_vjp: one derivative, computed in both directions through two frames of the whole machine.
 *
 * The output is a number that grows when light moves to the right: the sum over all pixels of palette index times
 * column. Forwards (JVP): how does every pixel change if RIGHT is held in the first frame, and so the sum? Backwards
 * (VJP): how does the sum depend on every input at once? Both contain d(sum)/d(RIGHT), and it is the same number.
 *
 * Output:
 *   forwards: 52 pixels change, the sum by -6300
 *   backwards: the sum by -6300
 */
#include <diffvcs/grad.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 2 };

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
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.fork_window = 256; /* both sides of a branch are followed until they meet again */

  const size_t count = (size_t)vcs_env_height(env) * VCS_WIDTH;
  float *last = calloc(count, sizeof *last);
  float *pixels[FRAMES] = {NULL, last}; /* only the last picture is wanted */
  float input[FRAMES * VCS_INPUTS] = {0};
  const vcs_grad_inputs_t inputs = {.input = input};
  const vcs_grad_outputs_t outputs = {.pixels = pixels};

  input[VCS_INPUT_RIGHT] = 1;
  if (vcs_grad_jvp(&run, &options, &inputs, &outputs, NULL, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  int changed = 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    changed += last[i] != 0;
    sum += last[i] * (float)(i % VCS_WIDTH);
  }
  printf("forwards: %d pixels change, the sum by %g\n", changed, sum);

  input[VCS_INPUT_RIGHT] = 0; /* results are added to what is there */
  for (size_t i = 0; i < count; i++) last[i] = (float)(i % VCS_WIDTH);
  if (vcs_grad_vjp(&run, &options, &inputs, &outputs, NULL, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  printf("backwards: the sum by %g\n", (double)input[VCS_INPUT_RIGHT]);

  free(last);
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
