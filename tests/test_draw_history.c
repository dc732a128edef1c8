/* Draw histories: an environment that draws as few frames as possible shows the same pictures as one that draws every
 * frame into both buffers; and environments of one cartridge share its decoded image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/env.h"
#include "host/parallel.h"
#include "ragged.h"

enum { DEMO, RAGGED, CARTS };

static vcs_cart_t *load(int which) {
  const vcs_cart_options_t options = {.profile = VCS_PROFILE_ALE, .format = VCS_FORMAT_NTSC};
  vcs_cart_t *cart = NULL;
  uint8_t ragged[4096];
  size_t size = sizeof ragged;
  ragged_image(ragged);
  const uint8_t *image = which == DEMO ? vcs_demo_image(&size) : ragged;
  assert_int_equal(vcs_cart_load(image, size, &options, &cart, NULL), VCS_OK);
  return cart;
}

typedef struct {
  vcs_cart_t *cart;
  vcs_env_t *env, *twin;
} pair_t;

static vcs_env_t *create(const vcs_cart_t *cart, int frame_skip, uint32_t seed) {
  vcs_env_options_t options;
  vcs_env_t *env;
  vcs_env_defaults(cart, &options);
  options.frame_skip = frame_skip;
  options.seed = seed;
  options.noop_max = 7;
  assert_int_equal(vcs_env_create_with(cart, &options, &env, NULL), VCS_OK);
  return env;
}

static pair_t begin(int which, int frame_skip) {
  pair_t p = {.cart = load(which)};
  p.env = create(p.cart, frame_skip, 5);
  p.twin = create(p.cart, frame_skip, 5);
  p.twin->draw_history.pinned = true;
  vcs_env_reload(p.twin, 5);
  return p;
}

static void end(pair_t *p) {
  vcs_env_free(p->env);
  vcs_env_free(p->twin);
  vcs_cart_free(p->cart);
}

static void assert_same(const pair_t *p, int when) {
  const size_t size = vcs_draw_history_size(p->cart);
  if (memcmp(vcs_env_screen(p->env), vcs_env_screen(p->twin), size) != 0) fail_msg("picture %d", when);
  assert_memory_equal(p->env->m, p->twin->m, vcs_state_size(p->cart));
}

static int action_at(int step) { return step * 7 / 5 % VCS_ACTIONS; }

static void act(const pair_t *p, int step) {
  vcs_env_act(p->env, action_at(step), VCS_NOOP);
  vcs_env_act(p->twin, action_at(step), VCS_NOOP);
}

/* ---- Pictures ----------------------------------------------------------------------------------------------- */

static void test_pictures_are_those_of_two_buffers(void **state) {
  (void)state;
  for (int which = DEMO; which < CARTS; which++) {
    for (int skip = 1; skip <= 4; skip += 3) {
      pair_t p = begin(which, skip);
      assert_true(p.twin->draw_history.exact);
      assert_same(&p, -1);
      for (int i = 0; i < 150; i++) {
        if (i % 61 == 60) {
          vcs_env_reset(p.env);
          vcs_env_reset(p.twin);
        } else {
          act(&p, i);
        }
        assert_same(&p, i);
      }
      end(&p);
    }
  }
}

static void test_whole_frames_need_one_buffer(void **state) {
  (void)state;
  pair_t p = begin(DEMO, 1);
  memset(p.env->draw_history.frames + VCS_FRAME_BYTES, 0xA5, VCS_FRAME_BYTES);
  vcs_env_reset(p.env);
  for (int i = 0; i < 50; i++) act(&p, i);
  for (size_t i = 0; i < VCS_FRAME_BYTES; i++) assert_int_equal(p.env->draw_history.frames[VCS_FRAME_BYTES + i], 0xA5);
  end(&p);
}

static void test_states_carry_what_was_not_drawn(void **state) {
  (void)state;
  for (int which = DEMO; which < CARTS; which++) {
    pair_t p = begin(which, 1);
    vcs_env_t *other = create(p.cart, 1, 9);
    const size_t size = vcs_env_state_size(p.env);
    uint8_t *saved = malloc(size);
    for (int i = 0; i < 100; i++) {
      act(&p, i);
      vcs_env_state_copy(p.env, saved);
      assert_int_equal(vcs_env_state_restore(other, saved, size, NULL), VCS_OK);
      vcs_env_t *next = p.env; /* plays on in the other one */
      p.env = other;
      other = next;
      assert_same(&p, i);
    }
    free(saved);
    vcs_env_free(other);
    end(&p);
  }
}

static void test_averages_and_watching_can_begin_at_any_frame(void **state) {
  (void)state;
  for (int which = DEMO; which < CARTS; which++) {
    for (int start = 20; start < 28; start++) {
      pair_t p = begin(which, 1);
      uint8_t a[VCS_FRAME_BYTES], b[VCS_FRAME_BYTES];
      for (int i = 0; i < start; i++) act(&p, i);
      for (int k = 0; k < 2; k++) {
        vcs_env_t *env = k ? p.twin : p.env;
        vcs_env_options_t options = *vcs_env_options(env);
        options.colour_averaging = 1;
        assert_int_equal(vcs_env_configure(env, &options, NULL), VCS_OK);
      }
      for (int i = 0; i < 40; i++) {
        vcs_env_screen_indices(p.env, a);
        vcs_env_screen_indices(p.twin, b);
        assert_memory_equal(a, b, vcs_draw_history_size(p.cart));
        act(&p, i);
      }
      end(&p);
    }
  }
}

static void test_drawing_that_begins_again_shows_whole_frames(void **state) {
  (void)state;
  pair_t p = begin(DEMO, 1);
  for (int i = 0; i < 60; i++) {
    vcs_env_set_drawing(p.env, i % 10 > 4);
    act(&p, i);
    if (i % 10 > 4) assert_same(&p, i);
  }
  end(&p);
}

/* ---- Loading ------------------------------------------------------------------------------------------------ */

/* The twin boots separately, because it has a watch function. */
static void watch(void *context, const vcs_t *m, const vcs_step_t *step) {
  (void)m;
  (void)step;
  ++*(long *)context;
}

static void test_a_shared_boot_is_a_boot(void **state) {
  (void)state;
  for (int which = DEMO; which < CARTS; which++) {
    pair_t p = begin(which, 1);
    long steps = 0;
    assert_non_null(vcs_cart_boot(p.cart));
    vcs_env_watch(p.twin, watch, &steps);
    vcs_env_reload(p.twin, 31);
    assert_true(steps > 0);
    vcs_env_watch(p.twin, NULL, NULL);
    vcs_env_reload(p.env, 31);
    assert_same(&p, 0);
    assert_memory_equal(&p.env->live, &p.twin->live, sizeof p.env->live);
    for (int i = 0; i < 30; i++) act(&p, i);
    vcs_env_reset(p.env);
    vcs_env_reset(p.twin);
    assert_same(&p, 1);
    assert_memory_equal(&p.env->live, &p.twin->live, sizeof p.env->live);
    end(&p);
  }
}

static bool create_one(void *context, size_t item, int worker) {
  vcs_env_t *env = create(context, 1, (uint32_t)item);
  (void)worker;
  vcs_env_act(env, VCS_FIRE, VCS_NOOP);
  vcs_env_free(env);
  return true;
}

static void test_threads_may_load_one_cartridge(void **state) {
  (void)state;
  vcs_cart_t *cart = load(DEMO);
  assert_int_equal(vcs_parallel(64, 4, create_one, cart), 64);
  vcs_cart_free(cart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pictures_are_those_of_two_buffers),
      cmocka_unit_test(test_whole_frames_need_one_buffer),
      cmocka_unit_test(test_states_carry_what_was_not_drawn),
      cmocka_unit_test(test_averages_and_watching_can_begin_at_any_frame),
      cmocka_unit_test(test_drawing_that_begins_again_shows_whole_frames),
      cmocka_unit_test(test_a_shared_boot_is_a_boot),
      cmocka_unit_test(test_threads_may_load_one_cartridge),
  };
  return cmocka_run_group_tests_name("draw history", tests, NULL, NULL);
}
