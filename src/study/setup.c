/* setup.c: a game played up to a frame, and the run that is studied from there (study.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/env.h"
#include "host/progress.h"
#include "study/internal.h"

/* ---- Actions ------------------------------------------------------------------------------------------------ */

/* One part of "NOOP*1050,RIGHT*40,FIRE": an action and for how many frames it is held. */
typedef struct {
  int action;
  int64_t frames;
} stretch_t;

enum { STRETCHES_MAX = 256, FRAMES_MAX = 100000000, HORIZON_MAX = 65535 };

/* Reads one stretch at *at and advances *at to its end. */
static bool read_stretch(const char **at, stretch_t *stretch) {
  char word[32];
  const size_t length = strcspn(*at, "*,");
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), *at);
  *stretch = (stretch_t){vcs_action_by_name(word), 1};
  *at += length;
  if (**at == '*') {
    char *end;
    if (!isdigit((unsigned char)*++*at)) return false;
    stretch->frames = strtoll(*at, &end, 10);
    *at = end;
  }
  return stretch->action >= 0 && stretch->frames <= FRAMES_MAX && (!**at || **at == ',');
}

/* Returns how many stretches there are, or -1. */
static int read_actions(const char *text, stretch_t stretches[STRETCHES_MAX], vcs_error_t *error) {
  int count = 0;
  for (const char *at = text;; at++) {
    const char *from = at;
    if (count == STRETCHES_MAX) {
      vcs_error_fill(error, VCS_BAD_ARGUMENT, "actions: at most %d stretches", STRETCHES_MAX);
      return -1;
    }
    if (!read_stretch(&at, &stretches[count++])) {
      vcs_error_fill(error, VCS_BAD_ARGUMENT,
                     "actions: '%.40s' is not an action and how often, as in NOOP*60,RIGHT*4,FIRE", from);
      return -1;
    }
    if (!*at) return count;
  }
}

static int action_at(const stretch_t *stretches, int count, int64_t frame) {
  for (int i = 0; i < count; i++) {
    if (frame < stretches[i].frames) return stretches[i].action;
    frame -= stretches[i].frames;
  }
  return VCS_NOOP;
}

/* ---- The setup ---------------------------------------------------------------------------------------------- */

/* Where the actions come from. */
typedef struct {
  stretch_t stretches[STRETCHES_MAX];
  int count; /* of them; 0: the stream decides */
  vcs_stream_t stream;
  int64_t frame; /* the next one */
} script_t;

static int next_action(script_t *script) {
  const int drawn = vcs_stream_next(&script->stream);
  const int64_t frame = script->frame++;
  return script->count ? action_at(script->stretches, script->count, frame) : drawn;
}

static vcs_status_t play(const vcs_setup_options_t *options, vcs_setup_t *setup, script_t *script, vcs_error_t *error) {
  script->count = options->actions ? read_actions(options->actions, script->stretches, error) : 0;
  if (script->count < 0) return VCS_BAD_ARGUMENT;
  setup->frame = options->frame;
  if (options->frame < 0) {
    setup->frame = 0;
    for (int i = 0; i < script->count; i++) setup->frame += script->stretches[i].frames;
  }
  if (options->replay && setup->frame < options->horizon) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "frame %lld has fewer than %lld frames before it: choose a later one",
                          (long long)setup->frame, (long long)options->horizon);
  }
  vcs_stream_start(&script->stream, (uint64_t)options->seed);
  const int64_t frames = setup->frame - (options->replay ? options->horizon : 0);
  while (script->frame < frames && !vcs_interrupted()) vcs_env_act_on(setup->env, next_action(script), VCS_NOOP);
  return script->frame < frames ? vcs_cancelled(error) : VCS_OK;
}

/* Finds the controls that were held: runs the environment over the frames once, notes the paddles' positions,
 * and restores it. */
static vcs_status_t replay(vcs_setup_t *setup, script_t *script, int32_t frames, vcs_error_t *error) {
  vcs_env_t *env = setup->env;
  const size_t size = vcs_env_state_size(env);
  void *state = malloc(size);
  if (!state) return vcs_no_memory(error);
  vcs_env_state_copy(env, state);
  for (int32_t i = 0; i < frames; i++) {
    const int action = next_action(script);
    const uint8_t held = vcs_action_held(action);
    vcs_env_act_on(env, action, VCS_NOOP);
    setup->controls[i].held[0] = env->uses_paddles ? held & VCS_HELD_FIRE : held;
    memcpy(setup->controls[i].paddle, env->paddle, sizeof env->paddle);
  }
  const vcs_status_t status = vcs_env_state_restore(env, state, size, error);
  free(state);
  return status;
}

/* In the run no control is held and paddles stay where they are; or the played controls are held again. */
static vcs_status_t plan_run(vcs_setup_t *setup, script_t *script, const vcs_setup_options_t *options,
                             vcs_error_t *error) {
  const int32_t frames = (int32_t)options->horizon;
  setup->controls = calloc((size_t)frames, sizeof *setup->controls);
  vcs_controls_t *idle = calloc((size_t)frames, sizeof *idle);
  vcs_status_t status = VCS_OK;
  if (!setup->controls || !idle) status = vcs_no_memory(error);
  if (status == VCS_OK && options->replay) status = replay(setup, script, frames, error);
  if (status == VCS_OK) vcs_run_idle(setup->env, frames, options->replay ? idle : setup->controls, &setup->run);
  setup->run.controls = setup->controls;
  free(idle);
  return status;
}

vcs_status_t vcs_setup_create(const vcs_cart_t *cart, const vcs_setup_options_t *given, vcs_setup_t *setup,
                              vcs_error_t *error) {
  vcs_setup_options_t options;
  script_t script = {.frame = 0};
  vcs_status_t status = VCS_OPTIONS_TAKE(vcs_setup_options_t, &options, given, error);
  if (!options.horizon) options.horizon = 1;
  *setup = (vcs_setup_t){.cart = cart};
  if (status) return status;
  if (options.horizon < 0 || options.horizon > HORIZON_MAX) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the horizon must be 1 to %d frames", HORIZON_MAX);
  }
  status = vcs_env_create(cart, &setup->env, error);
  if (status == VCS_OK) {
    vcs_env_reset(setup->env); /* as records begin, so that frames have the numbers of their rows */
    status = play(&options, setup, &script, error);
  }
  if (status == VCS_OK) status = plan_run(setup, &script, &options, error);
  if (status) vcs_setup_free(setup);
  return status;
}

void vcs_setup_free(vcs_setup_t *setup) {
  vcs_env_free(setup->env);
  free(setup->controls);
  *setup = (vcs_setup_t){0};
}
