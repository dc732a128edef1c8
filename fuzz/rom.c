/* rom.c: a ROM image, a run, and its derivatives.
 *
 * The input is a bank scheme, the options of the cartridge, what is done, controls, and an image, which is repeated up
 * to a size that the scheme takes; or, if the scheme is 0, the image as it is, for the loader to detect. Some inputs
 * name a profile that does not exist, or a scheme with an image of any size. Drawing, not drawing and single
 * instructions lead to the same machine. Derivatives end, with numbers or with infinities. */
#include "../tests/scheme_sizes.h"
#include "core/state.h"
#include "diffvcs/grad.h"
#include "diffvcs/study.h"
#include "fuzz.h"

enum { FRAMES = 3 };

static void by_steps(const vcs_cart_t *cart, vcs_t *m) {
  vcs_step_t step;
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !m->jammed; i++) {
    vcs_step(cart, m, NULL, &step);
    if (step.frame_over) break;
  }
  vcs_frame_end(cart, m, NULL);
}

/* One frame three ways. */
static void run_frame(const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls, uint8_t *frames) {
  const size_t size = vcs_state_size(cart);
  vcs_t *blind = malloc(size), *stepped = malloc(size);
  check(blind && stepped);
  vcs_control(cart, m, controls);
  memcpy(blind, m, size);
  memcpy(stepped, m, size);
  vcs_frame(cart, m, frames);
  vcs_frame(cart, blind, NULL);
  by_steps(cart, stepped);
  check(memcmp(m, blind, size) == 0);
  check(memcmp(m, stepped, size) == 0);
  free(blind);
  free(stepped);
}

static void differentiate(const vcs_cart_t *cart, const vcs_t *m, vcs_controls_t *controls, unsigned what) {
  vcs_grad_options_t options;
  /* by all methods but the exact one, which runs the machine again for each bit */
  vcs_study_method_options((int)(what % (VCS_STUDY_BIT_FORK + 1)), 64, &options);
  const vcs_run_t run = {cart, m, NULL, controls, 1};
  const size_t state = 8 * vcs_state_size(cart), rom = 8 * (size_t)cart->rom_size;
  float *picture = calloc((size_t)(VCS_WIDTH * cart->height), sizeof(float));
  vcs_grad_inputs_t in = {calloc(state, sizeof(float)), calloc(rom, sizeof(float)), calloc(VCS_INPUTS, sizeof(float))};
  vcs_grad_outputs_t out = {.pixels = &picture, .state = calloc(state, sizeof(float))};
  vcs_error_t error = {""};
  check(picture && in.state && in.rom && in.input && out.state);
  if (what & 8) {
    for (size_t i = 0; i < state; i += 7) in.state[i] = 1;
    accepted(vcs_grad_jvp(&run, &options, &in, &out, NULL, &error), &error);
  } else {
    for (size_t i = 0; i < (size_t)(VCS_WIDTH * cart->height); i += 5) picture[i] = 1;
    accepted(vcs_grad_vjp(&run, &options, &in, &out, NULL, &error), &error);
  }
  free(picture);
  free(in.state);
  free(in.rom);
  free(in.input);
  free(out.state);
}

static uint8_t *make_image(const input_t *input, int scheme, bool repeats, size_t *size) {
  const size_t *sizes = scheme_sizes[scheme], last = scheme ? sizes[2] : 262144;
  *size = input->size;
  if (repeats && input->size) *size = sizes[0] + input->data[0] % ((last - sizes[0]) / sizes[1] + 1) * sizes[1];
  uint8_t *image = malloc(*size ? *size : 1);
  check(image);
  for (size_t i = 0; i < *size; i++) image[i] = input->data[i % input->size];
  return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t input = {data, size};
  const int scheme = (int)(take(&input, 1) % VCS_SCHEME_COUNT);
  const unsigned how = (unsigned)take(&input, 1), what = (unsigned)take(&input, 1);
  vcs_controls_t controls = {.console = (uint8_t)take(&input, 1) & 3};
  for (int i = 0; i < 2; i++) controls.held[i] = (uint8_t)take(&input, 1);
  for (int i = 0; i < 2; i++) controls.keys[i] = (uint16_t)take(&input, 2) & 0xFFF;
  controls.paddle[0] = (int32_t)take(&input, 4) & 0x7FFFFFFF;
  const vcs_cart_options_t options = {.profile = (vcs_profile_t)(how & 128 ? how : how % 3),
                                      .scheme = (vcs_scheme_t)scheme,
                                      .format = (vcs_format_t)(how / 3 % 5)};
  size_t image_size;
  uint8_t *image = make_image(&input, scheme, !(what & 64) && (scheme || what & 32), &image_size);
  vcs_cart_t *cart = NULL;
  vcs_error_t error = {""};
  if (accepted(vcs_cart_load(image, image_size, &options, &cart, &error), &error)) {
    vcs_t *m = malloc(vcs_state_size(cart));
    uint8_t *frames = calloc(2, VCS_FRAME_BYTES);
    check(m && frames);
    vcs_boot(cart, m, frames);
    for (int i = 0; i < FRAMES; i++) run_frame(cart, m, &controls, frames);
    if (what & 16) differentiate(cart, m, &controls, what);
    free(m);
    free(frames);
    vcs_cart_free(cart);
  } else {
    check(!cart);
  }
  free(image);
  return 0;
}
