/* setup.c: a game played up to a frame (setup.h). */
#include "study/setup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/env.h"
#include "host/progress.h"

/* Said as a constant, so that it is plain what follows. */
static vcs_status_t no_memory(vcs_error_t *error) {
  vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return VCS_NO_MEMORY;
}

/* ---- Actions ------------------------------------------------------------------------------------------------ */

/* "NOOP*1050,RIGHT*40,FIRE": an action and for how many frames. */
typedef struct {
  int action;
  int64_t frames;
} stretch_t;

enum { STRETCHES_MAX = 256, SCENE_FRAMES_MAX = 100000000 };

/* One stretch at *at, which moves behind it. */
static bool read_stretch(const char **at, stretch_t *stretch) {
  char word[32];
  const size_t length = strcspn(*at, "*,");
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), *at);
  *stretch = (stretch_t){vcs_cli_action(word), 1};
  *at += length;
  if (**at == '*') {
    char *end;
    if (!isdigit((unsigned char)*++*at)) return false;
    stretch->frames = strtoll(*at, &end, 10);
    *at = end;
  }
  return stretch->action >= 0 && stretch->frames <= SCENE_FRAMES_MAX && (!**at || **at == ',');
}

/* Returns how many stretches there are, or -1. */
static int read_actions(const char *text, stretch_t stretches[STRETCHES_MAX], vcs_error_t *error) {
  int count = 0;
  for (const char *at = text;; at++) {
    const char *from = at;
    if (count == STRETCHES_MAX) {
      vcs_error_fill(error, VCS_BAD_ARGUMENT, "--actions: at most %d stretches", STRETCHES_MAX);
      return -1;
    }
    if (!read_stretch(&at, &stretches[count++])) {
      vcs_error_fill(error, VCS_BAD_ARGUMENT,
                     "--actions: '%.40s' is not an action and how often, as in NOOP*60,RIGHT*4,FIRE", from);
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

/* Who presses what. */
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

static vcs_status_t play(const vcs_setup_choice_t *choice, vcs_setup_t *setup, script_t *script, vcs_error_t *error) {
  script->count = choice->actions ? read_actions(choice->actions, script->stretches, error) : 0;
  if (script->count < 0) return VCS_BAD_ARGUMENT;
  setup->frame = choice->frame;
  if (choice->frame < 0) {
    setup->frame = 0;
    for (int i = 0; i < script->count; i++) setup->frame += script->stretches[i].frames;
  }
  if (choice->replay && setup->frame < choice->horizon) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "frame %lld has fewer than %lld frames before it: choose a later one",
                          (long long)setup->frame, (long long)choice->horizon);
  }
  vcs_stream_start(&script->stream, (uint64_t)choice->seed);
  const int64_t frames = setup->frame - (choice->replay ? choice->horizon : 0);
  while (script->frame < frames && !vcs_interrupted()) vcs_env_act_on(setup->env, next_action(script), VCS_NOOP);
  return VCS_OK;
}

/* What was held: the environment goes on once, telling where it turned the paddles to, and is put back. */
static vcs_status_t replay(vcs_setup_t *setup, script_t *script, int32_t frames, vcs_error_t *error) {
  vcs_env_t *env = setup->env;
  const size_t size = vcs_env_state_size(env);
  void *state = malloc(size);
  if (!state) return no_memory(error);
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

/* Nobody does anything, and paddles stay where they are; or what was done is done again. */
static vcs_status_t plan_run(vcs_setup_t *setup, script_t *script, const vcs_setup_choice_t *choice,
                             vcs_error_t *error) {
  const int32_t frames = (int32_t)choice->horizon;
  setup->controls = calloc((size_t)frames, sizeof *setup->controls);
  vcs_controls_t *idle = calloc((size_t)frames, sizeof *idle);
  vcs_status_t status = VCS_OK;
  if (!setup->controls || !idle) status = no_memory(error);
  if (status == VCS_OK && choice->replay) status = replay(setup, script, frames, error);
  if (status == VCS_OK) vcs_run_idle(setup->env, frames, choice->replay ? idle : setup->controls, &setup->run);
  setup->run.controls = setup->controls;
  free(idle);
  return status;
}

int vcs_setup_complete(vcs_setup_choice_t *choice, const char *command) {
  if (choice->actions && choice->seed) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--seed and --actions both say what to press: give one of them");
  }
  if (!choice->actions && choice->frame < 0) choice->frame = 300;
  return VCS_ARGS_GO;
}

vcs_status_t vcs_setup_open(const vcs_setup_choice_t *choice, vcs_setup_t *setup, vcs_error_t *error) {
  script_t script = {.frame = 0};
  *setup = (vcs_setup_t){0};
  vcs_status_t status = vcs_rom_open(choice->rom, &choice->choice, &setup->rom, error);
  if (status) return status;
  status = vcs_env_create(setup->rom.cart, &setup->env, error);
  if (status == VCS_OK) {
    vcs_env_reset(setup->env); /* as records begin, so that frames have the numbers of their rows */
    status = play(choice, setup, &script, error);
  }
  if (status == VCS_OK) status = plan_run(setup, &script, choice, error);
  if (status) vcs_setup_free(setup);
  return status;
}

void vcs_setup_free(vcs_setup_t *setup) {
  vcs_env_free(setup->env);
  free(setup->controls);
  vcs_rom_free(&setup->rom);
  *setup = (vcs_setup_t){0};
}

/* ---- Inputs ------------------------------------------------------------------------------------------------- */

static const char *const inputs[VCS_INPUTS] = {"up",    "down",  "left",   "right", "fire",  "up2",
                                               "down2", "left2", "right2", "fire2", "reset", "select"};

const char *vcs_input_name(int input) { return inputs[input]; }

int vcs_input_by_name(const char *name) {
  for (int i = 0; i < VCS_INPUTS; i++) {
    if (strcasecmp(name, inputs[i]) == 0) return i;
  }
  return -1;
}

void vcs_input_names(char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < VCS_INPUTS && length < size; i++) {
    length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", inputs[i]);
  }
}

/* ---- Methods ------------------------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  vcs_method_t method;
} methods[VCS_CLI_METHODS] = {
    {"naive", VCS_METHOD_NAIVE}, {"ste", VCS_METHOD_STE}, {"bit", VCS_METHOD_BIT}, {"bit+fork", VCS_METHOD_BIT}};

const char *vcs_cli_method_name(int method) { return methods[method].name; }

int vcs_cli_method_by_name(const char *name, size_t length) {
  for (int i = 0; i < VCS_CLI_METHODS; i++) {
    if (strlen(methods[i].name) == length && strncasecmp(methods[i].name, name, length) == 0) return i;
  }
  return -1;
}

void vcs_cli_method_options(int method, int64_t window, vcs_grad_options_t *options) {
  vcs_grad_defaults(options);
  options->method = methods[method].method;
  options->fork_window = method == VCS_CLI_BIT_FORK ? (int32_t)window : 0;
}
