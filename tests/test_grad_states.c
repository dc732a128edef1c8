/* States after every frame of a run: the same as those of shorter runs, and their adjoints go back the same way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/state.h"
#include "diffvcs/grad.h"

enum { FRAMES = 4, WARM_UP = 100 };

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env;
  vcs_controls_t controls[FRAMES];
  vcs_run_t run;
  vcs_grad_options_t options;
  size_t slots;
} fixture_t;

static int set_up(void **state) {
  static fixture_t fixture;
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  const vcs_cart_options_t options = {0};
  if (vcs_cart_load(image, size, &options, &fixture.cart, NULL)) return -1;
  if (vcs_env_create(fixture.cart, &fixture.env, NULL)) return -1;
  for (int i = 0; i < WARM_UP; i++) vcs_env_act_on(fixture.env, VCS_NOOP, VCS_NOOP);
  fixture.run = (vcs_run_t){fixture.cart, vcs_env_machine(fixture.env), NULL, fixture.controls, FRAMES};
  fixture.slots = 8 * vcs_state_size(fixture.cart);
  vcs_grad_defaults(&fixture.options);
  fixture.options.side = VCS_SIDE_MEAN;
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  vcs_env_free(fixture->env);
  vcs_cart_free(fixture->cart);
  return 0;
}

static float *make(size_t slots) {
  float *values = calloc(slots, sizeof *values);
  assert_non_null(values);
  return values;
}

/* Small whole numbers on RAM: sums of products stay exact for a while. */
static void fill_ram(float *slots, unsigned seed) {
  for (unsigned i = 0; i < 1024; i++) slots[8 * offsetof(vcs_t, ram) + i] = (float)((int)((i * 31 + seed * 7) % 5) - 2);
}

static void test_states_are_those_of_shorter_runs(void **state) {
  const fixture_t *fixture = *state;
  float *in = make(fixture->slots), *states[FRAMES];
  fill_ram(in, 1);
  for (int f = 0; f < FRAMES; f++) states[f] = make(fixture->slots);
  const vcs_grad_inputs_t inputs = {in, NULL, NULL};
  const vcs_grad_outputs_t all = {.states = states};
  assert_int_equal(vcs_grad_jvp(&fixture->run, &fixture->options, &inputs, &all, NULL, NULL), VCS_OK);
  for (int f = 0; f < FRAMES; f++) {
    vcs_run_t shorter = fixture->run;
    float *last = make(fixture->slots);
    const vcs_grad_outputs_t one = {.state = last};
    shorter.frames = f + 1;
    assert_int_equal(vcs_grad_jvp(&shorter, &fixture->options, &inputs, &one, NULL, NULL), VCS_OK);
    assert_memory_equal(states[f], last, fixture->slots * sizeof *last);
    free(last);
    free(states[f]);
  }
  free(in);
}

static void test_adjoints_of_states_are_the_transpose(void **state) {
  const fixture_t *fixture = *state;
  float *tangent = make(fixture->slots), *adjoint = make(fixture->slots), *out[FRAMES], *weights[FRAMES];
  double forwards = 0, backwards = 0, size = 0;
  fill_ram(tangent, 2);
  for (int f = 0; f < FRAMES; f++) {
    out[f] = f == 1 ? NULL : make(fixture->slots); /* one of them is not requested */
    weights[f] = f == 1 ? NULL : make(fixture->slots);
    if (weights[f]) fill_ram(weights[f], (unsigned)f + 3);
  }
  const vcs_grad_inputs_t from = {tangent, NULL, NULL}, to = {adjoint, NULL, NULL};
  const vcs_grad_outputs_t seen = {.states = out}, weighed = {.states = weights};
  assert_int_equal(vcs_grad_jvp(&fixture->run, &fixture->options, &from, &seen, NULL, NULL), VCS_OK);
  assert_int_equal(vcs_grad_vjp(&fixture->run, &fixture->options, &to, &weighed, NULL, NULL), VCS_OK);
  for (size_t i = 0; i < fixture->slots; i++) {
    for (int f = 0; f < FRAMES; f++) {
      if (!out[f]) continue;
      forwards += (double)out[f][i] * (double)weights[f][i];
      size += fabs((double)out[f][i] * (double)weights[f][i]);
    }
    backwards += (double)tangent[i] * (double)adjoint[i];
  }
  assert_true(size > 0);
  assert_true(fabs(forwards - backwards) <= 1e-4 * size);
  for (int f = 0; f < FRAMES; f++) {
    free(out[f]);
    free(weights[f]);
  }
  free(tangent);
  free(adjoint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_states_are_those_of_shorter_runs),
      cmocka_unit_test(test_adjoints_of_states_are_the_transpose),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
