/* play_run.c: a game under way (play.h). */
#include <stdlib.h>
#include <string.h>

#include "cli/play.h"
#include "core/state.h"
#include "host/env.h"

/* A checkpoint twice a second; ten minutes of them. */
enum { PAST_INTERVAL = 30, PAST_ROOM = 1200, HEAT_LOSS = 6 };

/* Returns a constant, so that the analyzer knows that pointers are not used after it. */
static vcs_status_t no_memory(vcs_error_t *error) {
  vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return VCS_NO_MEMORY;
}

static size_t picture_bytes(const vcs_game_run_t *run) { return (size_t)VCS_WIDTH * (size_t)run->cart->frame_height; }

/* ---- Beginning and going on ------------------------------------------------------------------------------------ */

static void start_here(vcs_game_run_t *run) {
  memcpy(run->ram, run->m->ram, sizeof run->ram);
  memset(run->heat, 0, sizeof run->heat);
  memcpy(run->listener, run->m, vcs_state_size(run->cart));
  run->sample_count = 0;
}

/* On failure the former history stays. */
static vcs_status_t begin_past(vcs_game_run_t *run, int64_t frame, vcs_error_t *error) {
  vcs_history_t *past;
  const vcs_status_t status = vcs_history_create(run->cart, frame, PAST_INTERVAL, PAST_ROOM, &past, error);
  if (status) return status;
  vcs_history_free(run->past);
  run->past = past;
  run->frame = frame;
  return VCS_OK;
}

vcs_status_t vcs_game_run_begin(const vcs_cli_setup_t *choice, vcs_game_run_t *run, vcs_error_t *error) {
  memset(run, 0, sizeof *run);
  vcs_status_t status = vcs_rom_open(choice->rom, &choice->rom_options, &run->rom, error);
  if (status) return status;
  status = vcs_setup_create(run->rom.cart, &choice->setup, &run->setup, error);
  if (status) {
    vcs_rom_free(&run->rom);
    return status;
  }
  run->cart = run->rom.cart;
  run->setup.env->frame_number = (uint64_t)run->setup.frame;
  run->m = calloc(1, sizeof *run->m);
  run->listener = calloc(1, sizeof *run->listener);
  run->frames = calloc(2, VCS_FRAME_BYTES);
  if (!run->m || !run->listener || !run->frames) {
    status = no_memory(error);
  } else {
    memcpy(run->m, run->setup.run.start, vcs_state_size(run->cart));
    memcpy(run->frames, run->setup.run.picture, (size_t)2 * VCS_FRAME_BYTES);
    start_here(run);
    status = begin_past(run, run->setup.frame, error);
  }
  if (status) vcs_game_run_end(run);
  return status;
}

void vcs_game_run_end(vcs_game_run_t *run) {
  vcs_history_free(run->past);
  free(run->m);
  free(run->listener);
  free(run->frames);
  vcs_setup_free(&run->setup);
  vcs_rom_free(&run->rom);
  memset(run, 0, sizeof *run);
}

static void note_changes(vcs_game_run_t *run) {
  for (int i = 0; i < 128; i++) {
    const bool changed = run->ram[i] != run->m->ram[i];
    run->heat[i] = changed ? 255 : run->heat[i] > HEAT_LOSS ? (uint8_t)(run->heat[i] - HEAT_LOSS) : 0;
    run->ram[i] = run->m->ram[i];
  }
}

vcs_status_t vcs_game_run_frame(vcs_game_run_t *run, const vcs_controls_t *controls, vcs_error_t *error) {
  vcs_history_cut(run->past, run->frame);
  const vcs_status_t status = vcs_history_add(run->past, run->m, run->frames, controls, error);
  if (status) return status;
  vcs_control(run->cart, run->m, controls);
  vcs_frame(run->cart, run->m, run->frames);
  run->frame++;
  run->sample_count = vcs_cli_listen(run->cart, run->m, run->listener, run->samples);
  note_changes(run);
  return VCS_OK;
}

int64_t vcs_game_run_go(vcs_game_run_t *run, int64_t frame) {
  const int64_t first = vcs_history_first(run->past), end = vcs_history_end(run->past);
  if (frame > end - 1) frame = end - 1;
  if (frame < first) frame = first;
  if (end == first) return run->frame; /* nothing has been played */
  vcs_history_go(run->past, frame, run->m, run->frames);
  run->frame = frame;
  start_here(run);
  return frame;
}

const uint8_t *vcs_game_run_picture(const vcs_game_run_t *run) { return vcs_picture(run->m, run->frames); }

/* ---- Overlays ----------------------------------------------------------------------------------------------- */

int32_t vcs_game_run_objects(const vcs_game_run_t *run, vcs_object_t objects[VCS_OBJECTS_MAX]) {
  vcs_setup_t setup;
  if (vcs_history_setup(run->past, run->cart, run->frame, 1, &setup, NULL)) return 0;
  vcs_t *m = malloc(vcs_state_size(run->cart));
  int32_t count = 0;
  if (m) {
    memcpy(m, setup.run.start, vcs_state_size(run->cart));
    vcs_control(run->cart, m, setup.run.controls);
    count = vcs_frame_objects(run->cart, m, NULL, objects, VCS_OBJECTS_MAX);
  }
  free(m);
  vcs_setup_free(&setup);
  return count < VCS_OBJECTS_MAX ? count : VCS_OBJECTS_MAX;
}

vcs_status_t vcs_game_run_gradient(const vcs_game_run_t *run, int input, int32_t horizon, float *pixels,
                                   vcs_error_t *error) {
  vcs_setup_t setup;
  vcs_status_t status = vcs_history_setup(run->past, run->cart, run->frame, horizon, &setup, error);
  if (status) return status;
  float *tangent = calloc((size_t)VCS_INPUTS * (size_t)setup.run.frames + 1, sizeof *tangent);
  float **by_frame = calloc((size_t)setup.run.frames + 1, sizeof *by_frame);
  if (tangent && by_frame) {
    vcs_grad_options_t options;
    vcs_study_method_options(VCS_STUDY_BIT_FORK, VCS_STUDY_WINDOW, &options);
    tangent[input] = 1;
    by_frame[setup.run.frames - 1] = pixels;
    memset(pixels, 0, picture_bytes(run) * sizeof *pixels);
    const vcs_grad_inputs_t inputs = {.input = tangent};
    const vcs_grad_outputs_t outputs = {.pixels = by_frame};
    status = vcs_grad_jvp(&setup.run, &options, &inputs, &outputs, NULL, error);
  } else {
    status = no_memory(error);
  }
  free(tangent);
  free(by_frame);
  vcs_setup_free(&setup);
  return status;
}

/* ---- Slots -------------------------------------------------------------------------------------------------- */

/* Gives the environment of the slots the score, lives and ending that the rules read from its machine. What the last
 * frame brought is not known. */
static void judge(vcs_env_t *env) {
  for (int player = 0; env->game && player < vcs_env_player_count(env); player++) {
    vcs_play_t *play = vcs_env_play(env, player);
    vcs_game_code_step(env->code, play, env->m->ram, env->m->cart_ram);
    play->reward = 0;
  }
  env->reward = env->life_lost = 0;
  memset(env->other_rewards, 0, sizeof env->other_rewards);
}

vcs_status_t vcs_game_run_save(const vcs_game_run_t *run, const char *path, vcs_error_t *error) {
  vcs_env_t *env = run->setup.env;
  memcpy(env->m, run->m, vcs_state_size(run->cart));
  memcpy(env->draw_history.frames, run->frames, (size_t)2 * VCS_FRAME_BYTES);
  env->draw_history.picture = env->draw_history.frames + (vcs_game_run_picture(run) - run->frames);
  env->draw_history.exact = true;
  env->episode_frame_number += (uint64_t)run->frame - env->frame_number;
  env->frame_number = (uint64_t)run->frame;
  judge(env);
  return vcs_env_save(env, path, error);
}

vcs_status_t vcs_game_run_load(vcs_game_run_t *run, const char *path, vcs_error_t *error) {
  vcs_env_t *env = run->setup.env;
  const vcs_env_live_t former = env->live;
  vcs_status_t status = vcs_env_load(env, path, error);
  if (status) return status;
  if (env->frame_number > INT64_MAX / 2) {
    status = vcs_error_fill(error, VCS_BAD_FILE, "%s is refused: no game reaches frame %llu", path,
                            (unsigned long long)env->frame_number);
  } else {
    status = begin_past(run, (int64_t)env->frame_number, error);
  }
  if (status) {
    env->live = former;
    vcs_env_use_rules(env);
    return status;
  }
  if (!env->draw_history.exact) vcs_draw_history_redraw(&env->draw_history, env->cart);
  memcpy(run->m, env->m, vcs_state_size(run->cart));
  memcpy(run->frames, env->draw_history.frames, (size_t)2 * VCS_FRAME_BYTES);
  start_here(run);
  return VCS_OK;
}
