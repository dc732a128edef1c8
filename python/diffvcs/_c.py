"""The C library as Python sees it: prototypes, structs, and errors as exceptions.

include/diffvcs (diffvcs.h, grad.h, relax.h, study.h) documents every call; nothing is documented twice. A prototype is a line
of C that names its arguments and states how many elements of each array C touches; _bind.py describes how such a line is
read and what is checked. The tests have a C compiler compare each line and each struct with the headers, so that the two
cannot drift apart. ctypes releases the interpreter's lock during every call.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _bind
from ._bind import BAD_ARGUMENT, STRUCTS, BadArgument, Binding, Closed, Handle, Memory, VCSError

ACTIONS, INPUTS, WIDTH, FRAME_BYTES, RAM_BYTES, SOUND_SAMPLES = 18, 12, 160, 160 * 320, 128, 512
MODES_MAX, DIFFICULTIES_MAX, TEXT_BYTES, FRAME_INSTRUCTIONS, PLAYERS_MAX = 160, 4, 80, 25000, 4
SEE_NOTHING = 3
PLACE_LABEL_SIZE, OBJECTS, OBJECTS_MAX, TRACK_BYTES = 64, 6, 1024, 55312
OBJECT_ROWS, OBJECT_COLUMNS = 64, 8  # of obs_type="objects"
PROFILES = ("ale", "xitari", "fixed")
ENUMS = (
    "vcs_status_t", "vcs_profile_t", "vcs_scheme_t", "vcs_format_t", "vcs_controller_t", "vcs_method_t", "vcs_side_rule_t",
    "vcs_move_t",
)  # fmt: skip
_bind.CONSTANTS.update(
    ACTIONS=ACTIONS, INPUTS=INPUTS, WIDTH=WIDTH, FRAME_BYTES=FRAME_BYTES, RAM_BYTES=RAM_BYTES, SOUND_SAMPLES=SOUND_SAMPLES,
    MODES_MAX=MODES_MAX, DIFFICULTIES_MAX=DIFFICULTIES_MAX, PLAYERS_MAX=PLAYERS_MAX, FRAME_INSTRUCTIONS=FRAME_INSTRUCTIONS,
    PLACE_LABEL_SIZE=PLACE_LABEL_SIZE, OBJECTS=OBJECTS, OBJECTS_MAX=OBJECTS_MAX, TRACK_BYTES=TRACK_BYTES,
    OBJECT_ROWS=OBJECT_ROWS, OBJECT_COLUMNS=OBJECT_COLUMNS,
)  # fmt: skip

PROTOTYPES = """
const char *vcs_version()
const char *vcs_status_name(vcs_status_t status)
vcs_status_t vcs_cart_load(const void *image[size], size_t size, const vcs_cart_options_t *options, vcs_cart_t **cart, vcs_error_t *error)
const vcs_cart_info_t *vcs_cart_info(const vcs_cart_t *cart)
const char *vcs_format_name(vcs_format_t format)
const char *vcs_controller_name(vcs_controller_t controller)
const uint8_t *vcs_demo_image[size[0]](size_t *size[1])
size_t vcs_state_size(const vcs_cart_t *cart)
void vcs_frame_begin(const vcs_cart_t *cart, vcs_t *m[cart.state_size])
uint8_t vcs_peek(const vcs_cart_t *cart, const vcs_t *m[cart.state_size], uint16_t addr)
uint64_t vcs_hash(const vcs_cart_t *cart, const vcs_t *m[cart.state_size])
const vcs_field_t *vcs_field(int index)
int vcs_disassemble(const vcs_cart_t *cart, const vcs_t *m[cart.state_size], uint16_t pc, char *text[text_size], size_t text_size)
const char *vcs_action_name(int action)
void vcs_env_defaults(const vcs_cart_t *cart, vcs_env_options_t *options)
vcs_status_t vcs_env_create_with(const vcs_cart_t *cart, const vcs_env_options_t *options, vcs_env_t **env, vcs_error_t *error)
void vcs_env_reload(vcs_env_t *env, uint32_t seed)
vcs_status_t vcs_env_configure(vcs_env_t *env, const vcs_env_options_t *options, vcs_error_t *error)
const vcs_env_options_t *vcs_env_options(const vcs_env_t *env)
void vcs_env_reset(vcs_env_t *env)
int32_t vcs_env_act_strength(vcs_env_t *env, int player_a, int player_b, float strength_a, float strength_b)
int32_t vcs_env_act_on(vcs_env_t *env, int player_a, int player_b)
void vcs_env_set_drawing(vcs_env_t *env, int drawing)
void vcs_env_set_sound(vcs_env_t *env, int sound)
const uint8_t *vcs_env_sound[SOUND_SAMPLES](const vcs_env_t *env)
int32_t vcs_env_lives(const vcs_env_t *env)
int vcs_env_over(const vcs_env_t *env)
int vcs_env_truncated(const vcs_env_t *env)
int vcs_env_done(const vcs_env_t *env)
vcs_status_t vcs_env_defaults_players(const vcs_cart_t *cart, int players, vcs_env_options_t *options, vcs_error_t *error)
int vcs_cart_modes(const vcs_cart_t *cart, int players, int32_t *modes[MODES_MAX])
void vcs_env_act_players(vcs_env_t *env, const int32_t *actions[PLAYERS_MAX], const float *strengths?[PLAYERS_MAX], int32_t *rewards[PLAYERS_MAX])
int vcs_env_players(const vcs_env_t *env)
int32_t vcs_env_player_reward(const vcs_env_t *env, int player)
int32_t vcs_env_player_lives(const vcs_env_t *env, int player)
uint64_t vcs_env_frame_number(const vcs_env_t *env)
uint64_t vcs_env_episode_frame_number(const vcs_env_t *env)
int vcs_env_height(const vcs_env_t *env)
void vcs_env_screen_indices(const vcs_env_t *env, uint8_t *indices[env.pixels])
void vcs_env_screen_rgb(const vcs_env_t *env, uint8_t *rgb[3 * env.pixels])
void vcs_env_screen_gray(const vcs_env_t *env, uint8_t *gray[env.pixels])
const uint8_t *vcs_env_ram[RAM_BYTES](const vcs_env_t *env)
vcs_status_t vcs_env_set_ram(vcs_env_t *env, int index, uint8_t value, vcs_error_t *error)
void vcs_env_set_objects(vcs_env_t *env, int recording)
void vcs_batch_set_objects(vcs_batch_t *batch, int recording)
int32_t vcs_batch_objects(vcs_batch_t *batch, int32_t env, vcs_object_t *objects[capacity], int32_t capacity)
vcs_status_t vcs_batch_list_objects(vcs_batch_t *batch, vcs_object_t *objects@batch[batch.envs * capacity], int32_t *counts@batch[batch.envs], int32_t capacity, vcs_error_t *error)
void vcs_list_objects(vcs_env_t *env, int track, uint8_t *tracks[TRACK_BYTES], vcs_object_t *objects[OBJECTS_MAX], int32_t *count[1])
void vcs_play_objects(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation[env.seen_bytes[see]], vcs_seen_t *seen, uint8_t *tracks[TRACK_BYTES], vcs_object_t *objects[OBJECTS_MAX], int32_t *count[1])
int64_t vcs_batch_gather_objects(vcs_batch_t *batch, const int32_t *envs[count], int32_t count, int32_t *counts[count], vcs_object_t *objects[capacity], int32_t capacity)
void vcs_object_rows(const vcs_object_t *objects[count], int32_t count, int16_t *rows[OBJECT_ROWS * OBJECT_COLUMNS])
int vcs_env_minimal_actions(const vcs_env_t *env, int32_t *actions[ACTIONS])
int vcs_env_legal_actions(const vcs_env_t *env, int32_t *actions[ACTIONS])
int vcs_env_modes(const vcs_env_t *env, int32_t *modes[MODES_MAX])
int vcs_env_difficulties(const vcs_env_t *env, int32_t *difficulties[DIFFICULTIES_MAX])
int vcs_env_two_players(const vcs_env_t *env)
vcs_t *vcs_env_machine[env.cart.state_size](vcs_env_t *env)
size_t vcs_env_state_size(const vcs_env_t *env)
void vcs_env_state_copy(const vcs_env_t *env, void *state[env.state_size])
void vcs_env_state_copy_play(const vcs_env_t *env, void *state[env.state_size])
vcs_status_t vcs_env_state_restore(vcs_env_t *env, const void *state[size], size_t size, vcs_error_t *error)
vcs_status_t vcs_env_state_restore_play(vcs_env_t *env, const void *state[size], size_t size, vcs_error_t *error)
vcs_status_t vcs_env_save(const vcs_env_t *env, const char *path, vcs_error_t *error)
vcs_status_t vcs_env_load(vcs_env_t *env, const char *path, vcs_error_t *error)
const char *vcs_device_missing(int32_t device)
vcs_status_t vcs_device_move(int32_t device, void *to@any[size], const void *from_@any[size], size_t size, vcs_error_t *error)
void vcs_batch_defaults(vcs_batch_options_t *options)
vcs_status_t vcs_batch_create(const vcs_cart_t *const *carts[cart_count], int32_t cart_count, const vcs_batch_env_t *envs?[options.envs], const vcs_batch_options_t *options, vcs_batch_t **batch, vcs_error_t *error)
const vcs_batch_options_t *vcs_batch_options(const vcs_batch_t *batch)
size_t vcs_batch_observation_size(const vcs_batch_t *batch)
vcs_status_t vcs_batch_reset(vcs_batch_t *batch, const int32_t *ids@batch[count], const int32_t *seeds@batch[count], int32_t count, const vcs_batch_results_t *results, vcs_error_t *error)
vcs_status_t vcs_batch_step(vcs_batch_t *batch, const int32_t *actions@batch[batch.envs * batch.players], const float *strengths?@batch[batch.envs * batch.players], const vcs_batch_results_t *results, vcs_error_t *error)
vcs_status_t vcs_batch_send_to(vcs_batch_t *batch, const int32_t *ids[count], int32_t count, const int32_t *actions[count * batch.players], const float *strengths?[count * batch.players], vcs_error_t *error)
vcs_status_t vcs_batch_send_reset(vcs_batch_t *batch, const int32_t *ids[count], const int32_t *seeds[count], int32_t count, vcs_error_t *error)
void vcs_batch_set_stream(vcs_batch_t *batch, void *stream)
int64_t vcs_xla_lend(vcs_batch_t *batch)
vcs_status_t vcs_batch_wait(const vcs_batch_t *batch, vcs_error_t *error)
vcs_status_t vcs_batch_begin_step(vcs_batch_t *batch, const int32_t *actions@batch[batch.envs * batch.players], const float *strengths?@batch[batch.envs * batch.players], const vcs_batch_results_t *results, vcs_error_t *error)
vcs_status_t vcs_batch_end_step(vcs_batch_t *batch, vcs_error_t *error)
vcs_status_t vcs_batch_share_threads(vcs_batch_t *batch, vcs_batch_t *other, vcs_error_t *error)
int32_t vcs_batch_next(const vcs_batch_t *batch)
vcs_status_t vcs_batch_receive(vcs_batch_t *batch, const vcs_batch_results_t *results, vcs_error_t *error)
int vcs_batch_actions(const vcs_batch_t *batch, int32_t env, int32_t *actions[ACTIONS])
size_t vcs_batch_state_size(const vcs_batch_t *batch)
vcs_status_t vcs_batch_copy(const vcs_batch_t *batch, const int32_t *ids@batch[count], int32_t count, void *states@batch[count * batch.state_size], vcs_error_t *error)
vcs_status_t vcs_batch_restore(vcs_batch_t *batch, const int32_t *ids@batch[count], int32_t count, const void *states@batch[count * batch.state_size], const vcs_batch_results_t *results, vcs_error_t *error)
void vcs_batch_continuous(const float *polar[3 * count], int32_t count, float threshold, int32_t *actions[count], float *strengths[count])
int32_t vcs_pixel_values(const vcs_cart_t *cart, int kind, float *values[768])
vcs_status_t vcs_grad_jvp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_grad_vjp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_truth(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places[count], size_t count, const vcs_truth_results_t *results, vcs_error_t *error)
vcs_status_t vcs_jacobian(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places[(int(ends[set_count - 1]) if set_count else 0)], const size_t *ends[set_count], size_t set_count, vcs_jacobian_entry_t *entries[capacity], size_t capacity, size_t *count[1], uint8_t *outcomes[set_count], vcs_error_t *error)
vcs_status_t vcs_jacobian_jvp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places[count], size_t count, const float *tangents[count], const vcs_jacobian_outputs_t *outputs, vcs_error_t *error)
vcs_status_t vcs_jacobian_vjp(const vcs_run_t *run, const vcs_jacobian_options_t *options, const vcs_place_t *places[count], size_t count, const vcs_jacobian_outputs_t *outputs, float *adjoints[count], vcs_error_t *error)
void vcs_smooth_defaults(vcs_smooth_options_t *options)
vcs_status_t vcs_smooth(const vcs_run_t *run, const vcs_smooth_options_t *options, const vcs_place_t *places[count], const double *probabilities[count], size_t count, vcs_estimate_t *value[1], vcs_estimate_t *gradient[count], int32_t *done[1], vcs_error_t *error)
void vcs_relax_defaults(vcs_relax_options_t *options)
vcs_status_t vcs_relax_create(const vcs_cart_t *cart, const vcs_relax_options_t *options, vcs_relax_t **relax, vcs_error_t *error)
void vcs_relax_load(vcs_relax_t *relax, const vcs_t *m[relax.cart.state_size])
void vcs_relax_load_reduced(vcs_relax_t *relax)
const vcs_t *vcs_relax_machine[relax.cart.state_size](const vcs_relax_t *relax)
void vcs_relax_control(vcs_relax_t *relax, const vcs_controls_t *controls[1])
void vcs_relax_step(vcs_relax_t *relax, uint8_t *frames[2 * FRAME_BYTES])
void vcs_relax_frame(vcs_relax_t *relax, uint8_t *frames[2 * FRAME_BYTES])
const vcs_relax_report_t *vcs_relax_report(const vcs_relax_t *relax)
double vcs_relax_read(const vcs_relax_t *relax, const uint8_t *cells[size], int32_t size, int32_t index)
double vcs_relax_branch(const vcs_relax_t *relax, uint16_t next, int offset, int taken)
size_t vcs_relax_state_slots(const vcs_relax_t *relax)
size_t vcs_relax_input_slots(const vcs_relax_t *relax)
void vcs_relax_values(vcs_relax_t *relax, double *values[relax.input_slots])
void vcs_relax_set_values(vcs_relax_t *relax, const double *values[relax.input_slots])
vcs_status_t vcs_relax_jvp(vcs_relax_t *relax, int32_t steps, const double *d_input[relax.input_slots], double *d_state[relax.state_slots], vcs_error_t *error)
vcs_status_t vcs_relax_vjp(vcs_relax_t *relax, int32_t steps, double *d_input[relax.input_slots], const double *d_state[relax.state_slots], vcs_error_t *error)
vcs_status_t vcs_relaxed_jvp(const vcs_run_t *run, const vcs_relax_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_relaxed_report_t *report, vcs_error_t *error)
vcs_status_t vcs_relaxed_vjp(const vcs_run_t *run, const vcs_relax_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_relaxed_report_t *report, vcs_error_t *error)
void vcs_play(vcs_env_t *env, int action, float strength, int frames, int see, uint8_t *observation[env.seen_bytes[see]], vcs_seen_t *seen)
void vcs_play_players(vcs_env_t *env, vcs_joint_t *joint, int count, int see, uint8_t *observation[env.seen_bytes[see]])
void vcs_see(const vcs_env_t *env, int see, uint8_t *observation[env.seen_bytes[see]], vcs_seen_t *seen)
void vcs_env_frames(vcs_env_t *env, uint8_t *frames[2 * FRAME_BYTES])
void vcs_picture_copy(const vcs_cart_t *cart, const vcs_t *m[cart.state_size], const uint8_t *frames[2 * FRAME_BYTES], uint8_t *picture[cart.height * WIDTH])
vcs_status_t vcs_bits_run(const vcs_bits_t *bits, const vcs_bits_results_t *results, vcs_error_t *error)
vcs_status_t vcs_bits_jvp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments, const vcs_bits_results_t *results, vcs_error_t *error)
vcs_status_t vcs_bits_vjp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments, const vcs_bits_results_t *results, vcs_error_t *error)
uint32_t vcs_bits_rom_size(const vcs_cart_t *cart)
const uint8_t *vcs_bits_rom[cart.rom_size](const vcs_cart_t *cart)
void vcs_bits_paddles(const vcs_cart_t *cart, const vcs_t *m[cart.state_size], int32_t *paddles[4])
int vcs_bits_is_possible(const vcs_cart_t *cart, const vcs_t *m[cart.state_size])
vcs_status_t vcs_bits_check_places(const vcs_run_t *run, const vcs_place_t *places[count], size_t count, vcs_error_t *error)
vcs_status_t vcs_call_workspace(vcs_grad_workspace_t **workspace, vcs_error_t *error)
vcs_status_t vcs_grad_jvp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_grad_vjp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_grad_vjp_directional(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *direction, const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_call_truth_pairs(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places[place_count], size_t place_count, const size_t *pairs[2 * count], size_t count, const vcs_truth_results_t *results, vcs_error_t *error)
size_t vcs_answer_size(const vcs_answer_t *answer)
void vcs_answer_text(const vcs_answer_t *answer, char *text[answer.size])
vcs_status_t vcs_call_explain(const vcs_run_t *run, const vcs_explain_call_t *call, vcs_answer_t **answer, vcs_error_t *error)
vcs_status_t vcs_call_slice(const vcs_run_t *run, const int32_t *marks[count], size_t count, vcs_slice_row_t *rows[FRAME_INSTRUCTIONS], int32_t *row_count[1], uint8_t *sources[65536], vcs_error_t *error)
vcs_status_t vcs_no_effect(const vcs_run_t *run, const vcs_place_t *place[1], char *text[size], size_t size, vcs_error_t *error)
vcs_status_t vcs_rom_uses(const vcs_run_t *run, vcs_rom_use_t *uses[run.cart.rom_size], vcs_error_t *error)
vcs_status_t vcs_score(const vcs_run_t *run, const vcs_score_options_t *options, const vcs_place_t *places[count], size_t count, vcs_agreements_t *results[options.method_count * options.horizon_count * 2], vcs_error_t *error)
vcs_status_t vcs_call_score_game(const vcs_cart_t *cart, const char *game, const vcs_score_game_options_t *options, const int32_t *stop[1], vcs_answer_t **answer, vcs_error_t *error)
vcs_status_t vcs_call_score_heading(vcs_profile_t profile, const vcs_score_game_options_t *options, vcs_answer_t **answer, vcs_error_t *error)
vcs_status_t vcs_call_annotate(const vcs_cart_t *cart, const char *game, int32_t seeds, int32_t depths, int32_t threads, const int32_t *stop[1], vcs_answer_t **answer, vcs_error_t *error)
vcs_status_t vcs_call_attribute(const vcs_run_t *run, const vcs_attribute_call_t *call, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs, double *value[1], vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_call_joystick(const vcs_run_t *run, const vcs_joystick_call_t *call, float *maps[16 * run.frames * run.cart.height * WIDTH], double *inverse[16], vcs_error_t *error)
vcs_status_t vcs_call_edit(const vcs_run_t *run, const vcs_edit_call_t *call, uint8_t *image[run.cart.rom_size], uint8_t *before[run.cart.height * WIDTH], uint8_t *after[run.cart.height * WIDTH], int64_t *counts[8], vcs_error_t *error)
vcs_status_t vcs_call_steer(const vcs_run_t *run, const vcs_steer_call_t *call, double *values[call.seeds * call.search_count], int64_t *frames[call.seeds * call.search_count], uint8_t *held[call.seeds * call.search_count * run.frames], int32_t *scored[1], vcs_error_t *error)
vcs_status_t vcs_call_record(const vcs_cart_t *cart, const vcs_record_call_t *call, vcs_answer_t **answer, vcs_error_t *error)
vcs_status_t vcs_call_verify(const vcs_cart_t *cart, const char *record, uint64_t seed, vcs_record_check_t *check, vcs_error_t *error)
vcs_status_t vcs_patch_apply(const uint8_t *patch[patch_size], size_t patch_size, const uint8_t *image[size], size_t size, uint8_t *result[size], vcs_error_t *error)
size_t vcs_patch_make(const uint8_t *before[size], const uint8_t *after[size], size_t size, uint8_t *patch[room], size_t room)
vcs_status_t vcs_call_history(const vcs_cart_t *cart, const vcs_run_t *run, int64_t first, int32_t interval, int32_t room, vcs_history_t **history, vcs_error_t *error)
int64_t vcs_history_first(const vcs_history_t *history)
int64_t vcs_history_end(const vcs_history_t *history)
void vcs_history_go(const vcs_history_t *history, int64_t frame, vcs_t *m[history.cart.state_size], uint8_t *frames[2 * FRAME_BYTES])
vcs_status_t vcs_call_verify_file(const char *path, vcs_profile_t profile, const char *roms?, vcs_record_check_t *check, vcs_error_t *error)
vcs_status_t vcs_call_trace(const vcs_cart_t *cart, const vcs_trace_call_t *call, vcs_trace_row_t *rows[room], size_t room, size_t *count[1], vcs_error_t *error)
int32_t vcs_call_act_watched(vcs_env_t *env, int player_a, int player_b, vcs_trace_row_t *rows[room], size_t room, size_t *count[1])
void vcs_stream_start(vcs_stream_t *stream, uint64_t seed)
int vcs_stream_next(vcs_stream_t *stream)
vcs_status_t vcs_save_info(const void *file[size], size_t size, vcs_save_info_t *info, vcs_error_t *error)
vcs_status_t vcs_truth_sets(const vcs_run_t *run, const vcs_truth_options_t *options, const vcs_place_t *places[(int(ends[count - 1]) if count else 0)], const size_t *ends[count], size_t count, const vcs_truth_results_t *results, vcs_error_t *error)
vcs_status_t vcs_call_effect(const vcs_run_t *run, const vcs_place_t *place[1], const vcs_grad_options_t *options, float *pixels[run.cart.height * WIDTH], float *state[8 * run.cart.state_size], vcs_agreement_t *agreements[2], vcs_grad_report_t *report, vcs_error_t *error)
vcs_status_t vcs_call_places(const vcs_run_t *run, const char *words, uint8_t groups, vcs_place_t *places[room], char *labels[PLACE_LABEL_SIZE * room], size_t room, size_t *count[1], vcs_error_t *error)
void vcs_agreement_add(vcs_agreement_t *agreement, const float *truth[count], const float *estimate[count], size_t count)
double vcs_agreement_cosine(const vcs_agreement_t *agreement)
double vcs_agreement_sign(const vcs_agreement_t *agreement)
double vcs_agreement_precision(const vcs_agreement_t *agreement)
double vcs_agreement_recall(const vcs_agreement_t *agreement)
vcs_status_t vcs_object_boxes(const vcs_run_t *run, vcs_box_t *boxes[OBJECTS], vcs_error_t *error)
void vcs_frame_without(const vcs_run_t *run, int object, vcs_t *m[run.cart.state_size], uint8_t *frames[2 * FRAME_BYTES])
vcs_status_t vcs_cart_patch(vcs_cart_t *cart, const uint8_t *patch[size], size_t size, vcs_error_t *error)
vcs_status_t vcs_controls_parse(const char *words, vcs_controls_t *controls[1], vcs_error_t *error)
vcs_status_t vcs_debugger_create(const vcs_cart_t *cart, const vcs_t *start[cart.state_size], const uint8_t *picture?[2 * FRAME_BYTES], const vcs_controls_t *controls[1], int64_t frame, vcs_debugger_t **debugger, vcs_error_t *error)
const vcs_t *vcs_debugger_machine[debugger.cart.state_size](const vcs_debugger_t *debugger)
const uint8_t *vcs_debugger_frames[2 * FRAME_BYTES](const vcs_debugger_t *debugger)
void vcs_debugger_position(const vcs_debugger_t *debugger, vcs_position_t *position)
vcs_status_t vcs_debugger_move(vcs_debugger_t *debugger, vcs_move_t how, int64_t count, vcs_stop_t *stop, vcs_error_t *error)
int64_t vcs_debugger_hold(vcs_debugger_t *debugger, const vcs_controls_t *controls[1])
const vcs_controls_t *vcs_debugger_controls[1](const vcs_debugger_t *debugger)
vcs_status_t vcs_debugger_break(vcs_debugger_t *debugger, const char *words, vcs_error_t *error)
const char *vcs_debugger_breakpoint(const vcs_debugger_t *debugger, int32_t number)
vcs_status_t vcs_debugger_delete(vcs_debugger_t *debugger, int32_t number, vcs_error_t *error)
vcs_status_t vcs_debugger_value(const vcs_debugger_t *debugger, const char *words, int64_t *value[1], vcs_error_t *error)
vcs_status_t vcs_debugger_read_symbols(vcs_debugger_t *debugger, const char *path, int32_t *count[1], vcs_error_t *error)
void vcs_debugger_disassemble(const vcs_debugger_t *debugger, uint16_t address, vcs_disassembly_t *rows[count], int32_t count)
void vcs_batch_grad_defaults(vcs_batch_grad_options_t *options)
size_t vcs_batch_grad_bytes(const vcs_batch_t *batch, const vcs_batch_grad_options_t *options)
vcs_status_t vcs_call_batch_jvp(vcs_batch_t *batch, const vcs_controls_t *controls@batch[batch.envs * options.frames], const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs, const vcs_batch_outputs_t *outputs, int64_t *instructions@batch[batch.envs], vcs_error_t *error)
vcs_status_t vcs_call_batch_vjp(vcs_batch_t *batch, const vcs_controls_t *controls@batch[batch.envs * options.frames], const vcs_batch_grad_options_t *options, const vcs_batch_inputs_t *inputs, const vcs_batch_outputs_t *outputs, int64_t *instructions@batch[batch.envs], vcs_error_t *error)
size_t vcs_batch_bytes(const vcs_batch_t *batch, size_t *per_thread[1])
""".strip().splitlines()

# Calls that Ctrl-C ends (_bind.py), where this is true of their arguments: the thread for it costs a tenth of a millisecond.
_GRADIENT, _FLIPS = "run.frames > 15 or options.budget > 0", "count * run.frames > 1000"
LONG = {
    **dict.fromkeys(["vcs_grad_jvp", "vcs_grad_vjp", "vcs_grad_jvp_in", "vcs_grad_vjp_in", "vcs_grad_vjp_directional"], _GRADIENT),
    **dict.fromkeys(["vcs_truth", "vcs_truth_sets", "vcs_call_truth_pairs", "vcs_jacobian_jvp", "vcs_jacobian_vjp"], _FLIPS),
    **dict.fromkeys(
        ["vcs_jacobian", "vcs_smooth", "vcs_relaxed_jvp", "vcs_relaxed_vjp", "vcs_relax_jvp", "vcs_relax_vjp", "vcs_score",
         "vcs_call_score_game", "vcs_call_annotate", "vcs_call_attribute", "vcs_call_explain", "vcs_call_joystick",
         "vcs_call_edit", "vcs_call_steer", "vcs_call_record", "vcs_call_verify", "vcs_call_verify_file", "vcs_call_trace",
         "vcs_call_effect", "vcs_call_history", "vcs_debugger_move"],
        "True",
    ),
}  # fmt: skip

# ---- handles: what lengths depend on ---------------------------------------------------------------------------------


class Cart(Handle):
    what, free, constant = "cartridge", "vcs_cart_free", True

    def __init__(self, binding: Any, pointer: int, needs: Any) -> None:
        super().__init__(binding, pointer, needs)
        self.state_size: int = binding.vcs_state_size(self)
        self.rom_size: int = binding.vcs_bits_rom_size(self)
        self.height: int = binding.vcs_cart_info(self).height


class Env(Handle):
    what, free = "environment", "vcs_env_free"

    def __init__(self, binding: Any, pointer: int, needs: Any) -> None:
        super().__init__(binding, pointer, needs)
        self.cart: Cart = needs[0]
        self.state_size: int = binding.vcs_env_state_size(self)
        self.pixels: int = binding.vcs_env_height(self) * WIDTH
        self.seen_bytes = (3 * self.pixels, self.pixels, RAM_BYTES, 0)  # of VCS_SEE_...


class Batch(Handle):
    what, free = "vector environment", "vcs_xla_batch_free"

    def __init__(self, binding: Any, pointer: int, needs: Any) -> None:
        super().__init__(binding, pointer, needs)
        options = binding.vcs_batch_options(self)
        self.envs, self.batch_size, self.device = options.envs, options.batch_size, options.device
        self.players: int = max(1, options.players)
        self.observation_size: int = binding.vcs_batch_observation_size(self)
        self.state_size: int = binding.vcs_batch_state_size(self)


class Relax(Handle):
    what, free = "relaxed machine", "vcs_relax_free"

    def __init__(self, binding: Any, pointer: int, needs: Any) -> None:
        super().__init__(binding, pointer, needs)
        self.cart: Cart = needs[0]
        self.state_slots: int = binding.vcs_relax_state_slots(self)
        self.input_slots: int = binding.vcs_relax_input_slots(self)


class Workspace(Handle):
    what, free = "workspace", "vcs_grad_workspace_free"


class Answer(Handle):
    what, free = "answer", "vcs_answer_free"

    def __init__(self, binding: Any, pointer: int, needs: Any):
        super().__init__(binding, pointer, needs)
        self.size: int = binding.vcs_answer_size(self)


class History(Handle):
    what, free = "history", "vcs_history_free"

    def __init__(self, binding: Any, pointer: int, needs: Any):
        super().__init__(binding, pointer, needs)
        self.cart: Cart = needs[0]


class Debugger(Handle):
    what, free = "debugger", "vcs_debugger_free"

    def __init__(self, binding: Any, pointer: int, needs: Any):
        super().__init__(binding, pointer, needs)
        self.cart: Cart = needs[0]


HANDLES: dict[str, type[Handle]] = {
    "vcs_cart_t": Cart, "vcs_env_t": Env, "vcs_batch_t": Batch, "vcs_relax_t": Relax,
    "vcs_grad_workspace_t": Workspace, "vcs_answer_t": Answer, "vcs_history_t": History,
    "vcs_debugger_t": Debugger,
}  # fmt: skip


# ---- structs ---------------------------------------------------------------------------------------------------------


def struct(name: str, fields: str) -> Any:
    return _bind.struct(name, fields, HANDLES, ENUMS)


CartOptions = struct(
    "vcs_cart_options_t",
    "vcs_profile_t profile; vcs_scheme_t scheme; vcs_format_t format; const char *name?; uint64_t reserved[8]",
)
CartInfo = struct(
    "vcs_cart_info_t",
    "vcs_profile_t profile; vcs_scheme_t scheme; vcs_format_t format; vcs_controller_t left, right; "
    "uint32_t image_size, ram_size; int32_t top_line, height; const char *scheme_name; const char *game?; "
    "char md5[33], sha256[65]",
)
Controls = struct("vcs_controls_t", "uint8_t held[2]; int32_t paddle[4]; uint16_t keys[2]; uint8_t console")
Field = struct("vcs_field_t", "const char *name; const char *type; const char *meaning; size_t offset, size, count")
EnvOptions = struct(
    "vcs_env_options_t",
    "int32_t frame_skip; float repeat_action_probability; uint32_t seed; int32_t max_episode_frames; int32_t noop_max; "
    "int32_t reward_min, reward_max; int32_t mode, difficulty; uint8_t life_loss; uint8_t fire_reset; uint8_t colour_averaging; uint64_t players; uint64_t reserved[7]",
)
BatchOptions = struct(
    "vcs_batch_options_t",
    "int32_t envs, batch_size, threads, device, width, height, stack, frame_skip, noop_max, max_episode_frames; "
    "float repeat_action_probability; uint8_t autoreset, rgb, max_pool, fire_reset, episodic_life, life_loss_info, "
    "reward_clipping, full_action_space, stack_in_place, sound; uint64_t players; uint64_t reserved[7]",
)
BatchEnv = struct("vcs_batch_env_t", "int32_t cart; int32_t mode, difficulty; uint32_t seed")
BatchResults = struct(
    "vcs_batch_results_t",
    "uint8_t *observations?@batch[batch.batch_size * batch.observation_size]; "
    "uint8_t *final_observations?@batch[batch.batch_size * batch.observation_size]; "
    "int32_t *env_ids?@batch[batch.batch_size]; int32_t *rewards?@batch[batch.batch_size * batch.players]; "
    "int32_t *lives?@batch[batch.batch_size * batch.players]; int32_t *frame_numbers?@batch[batch.batch_size]; "
    "int32_t *episode_frame_numbers?@batch[batch.batch_size]; "
    "uint8_t *terminated?@batch[batch.batch_size]; uint8_t *truncated?@batch[batch.batch_size]; "
    "uint8_t *ram?@batch[batch.batch_size * RAM_BYTES]; uint8_t *sound?@batch[batch.batch_size * SOUND_SAMPLES]",
)
Object = struct(
    "vcs_object_t",
    "int16_t x, y, w, h, seen_x, seen_y, seen_w, seen_h; int32_t pixels, seen; int16_t rows; uint8_t kind, copy, colour, "
    "colours, reflected, size; uint8_t reserved[4]; uint32_t pattern, id",
)
Place = struct("vcs_place_t", "uint8_t kind; uint8_t bit; uint16_t frame; uint32_t index")
Run = struct(
    "vcs_run_t",
    "const vcs_cart_t *cart; const vcs_t *start[cart.state_size]; const uint8_t *picture?[2 * FRAME_BYTES]; "
    "const vcs_controls_t *controls[frames]; int32_t frames",
)
GradOptions = struct(
    "vcs_grad_options_t",
    "vcs_method_t method; int32_t fork_window; float alpha, temperature; vcs_side_rule_t side; const float *scale?[256]; "
    "double budget; int32_t threads; uint64_t reserved[6]",
)
GradInputs = struct(
    "vcs_grad_inputs_t",
    "float *state?[8 * run.cart.state_size]; float *rom?[8 * run.cart.rom_size]; float *input?[INPUTS * run.frames]",
)
GradOutputs = struct(
    "vcs_grad_outputs_t",
    "float *const *pixels?[run.frames][run.cart.height * WIDTH]; float *state?[8 * run.cart.state_size]; "
    "float *const *states?[run.frames][8 * run.cart.state_size]; const vcs_env_t *env?; float *rewards?[run.frames]",
)
GradReport = struct("vcs_grad_report_t", "uint64_t instructions, branches; uint64_t forks, rejoined")
RelaxOptions = struct(
    "vcs_relax_options_t",
    "double alpha, temperature; int32_t window; uint8_t wrap; uint8_t single; uint8_t cast; uint8_t dispatch; uint8_t bus; uint64_t reserved[8]",
)
RelaxValue = struct(
    "vcs_relax_value_t",
    "const uint8_t *cells?[size]; int32_t size, index; uint16_t pc; uint16_t address; int16_t offset; uint8_t taken; "
    "uint16_t exact; double relaxed",
)
RelaxReport = struct(
    "vcs_relax_report_t",
    "uint64_t instructions, reads, branches, wrong_reads, wrong_branches; uint64_t first_wrong_instruction; "
    "vcs_relax_value_t first_wrong",
)
RelaxedReport = struct("vcs_relaxed_report_t", "uint64_t instructions, reads, branches, wrong_reads, wrong_branches")
TruthOptions = struct(
    "vcs_truth_options_t",
    "const int32_t *horizons[horizon_count]; int32_t horizon_count; const vcs_env_t *env?; int32_t threads; "
    "uint8_t stop_when_over; const float *values?[256 * channels]; int32_t channels; void *progress?; "
    "void *progress_context?; int32_t device; int32_t engine; uint64_t reserved[8]",
)
JacobianOptions = struct(
    "vcs_jacobian_options_t",
    "uint32_t of; const int32_t *horizons[horizon_count]; int32_t horizon_count; const vcs_env_t *env?; int32_t threads; "
    "uint8_t stop_when_over; const float *values?[256 * channels]; int32_t channels; void *progress?; "
    "void *progress_context?; int32_t engine; uint64_t reserved[8]",
)
JacobianEntry = struct(
    "vcs_jacobian_entry_t", "uint32_t flip; uint16_t horizon, of; uint32_t index; int32_t base, flipped"
)
JacobianOutputs = struct(
    "vcs_jacobian_outputs_t",
    "float *pixels?[options.horizon_count * run.cart.height * WIDTH * options.channels]; "
    "float *ram?[options.horizon_count * 8 * RAM_BYTES]; float *score?[options.horizon_count]; "
    "float *lives?[options.horizon_count]; float *state?[options.horizon_count * 8 * run.cart.state_size]",
)
Truth = struct("vcs_truth_t", "uint8_t outcome; int32_t pixels, ram_bytes; int32_t score; uint32_t screen_crc, ram_crc")
TruthResults = struct(
    "vcs_truth_results_t",
    "vcs_truth_t *base?[options.horizon_count]; vcs_truth_t *rows?[count * options.horizon_count]; "
    "float *pixels?[count * options.horizon_count * run.cart.height * WIDTH * options.channels]; "
    "float *ram?[count * options.horizon_count * 8 * RAM_BYTES]",
)
Scalar = struct(
    "vcs_scalar_t", "int32_t kind; int32_t x, y, width, height; const float *values?[256]; int32_t index, bit"
)
SmoothOptions = struct(
    "vcs_smooth_options_t",
    "vcs_scalar_t output; int32_t method; int32_t samples; uint8_t antithetic; uint8_t baseline; uint64_t seed; "
    "double confidence; const vcs_env_t *env?; uint8_t stop_when_over; int32_t threads; void *progress?; void *progress_context?; "
    "const double *control?[count]; uint64_t reserved[7]",
)
Estimate = struct("vcs_estimate_t", "double mean, deviation, half_width")
Seen = struct(
    "vcs_seen_t", "int64_t frame_number, episode_frame_number; int32_t reward, lives; uint8_t over, truncated"
)
Joint = struct(
    "vcs_joint_t",
    "int32_t actions[PLAYERS_MAX]; int32_t rewards[PLAYERS_MAX]; int32_t lives[PLAYERS_MAX]; int32_t players; "
    "uint8_t over, truncated",
)
Bits = struct(
    "vcs_bits_t",
    "const vcs_cart_t *cart; int32_t runs, frames, threads; vcs_grad_options_t options; "
    "const vcs_relax_options_t *relaxed?; const float *state[runs * 8 * cart.state_size]; "
    "const float *rom?[runs * 8 * cart.rom_size]; const float *input[runs * frames * INPUTS]",
)
BitsArguments = struct(
    "vcs_bits_arguments_t",
    "float *state?[bits.runs * 8 * bits.cart.state_size]; float *rom?[bits.runs * 8 * bits.cart.rom_size]; "
    "float *input?[bits.runs * bits.frames * INPUTS]",
)
BitsResults = struct(
    "vcs_bits_results_t",
    "float *pixels?[bits.runs * bits.frames * bits.cart.height * WIDTH]; float *state?[bits.runs * 8 * bits.cart.state_size]",
)
Report = struct("vcs_report_t", "void *report?; void *context?")
ScoreOptions = struct(
    "vcs_score_options_t",
    "const int32_t *horizons[horizon_count]; int32_t horizon_count; const int32_t *methods[method_count]; "
    "int32_t method_count; int64_t window; int32_t threads; vcs_report_t report; double *costs?[method_count]; "
    "double budget; int32_t cell[2]; uint64_t reserved[5]",
)
ScoreGameOptions = struct(
    "vcs_score_game_options_t",
    "const int32_t *horizons[horizon_count]; int32_t horizon_count; const int32_t *methods[method_count]; "
    "int32_t method_count; int64_t frame, seed, states, bits, rom_bits, pixels, window; int32_t threads; uint8_t costs; "
    "vcs_report_t report; double budget; uint64_t reserved[7]",
)
Agreement = struct(
    "vcs_agreement_t",
    "double product, truth_square, estimate_square; double largest; int64_t in_truth, in_estimate, in_both; "
    "int64_t same_sign, overflown",
)
Agreements = struct("vcs_agreements_t", "vcs_agreement_t pooled; double cosines; int64_t maps, still")
Accesses = struct("vcs_accesses_t", "uint16_t address[8]; uint16_t full[8]; uint8_t writes[8]; int32_t count")
SliceRow = struct(
    "vcs_slice_row_t",
    "uint16_t pc; uint8_t opcode; uint8_t a, x, y; int32_t clock; int32_t end_clock; vcs_accesses_t accesses; "
    "char text[32]; uint8_t slice",
)
RomUse = struct("vcs_rom_use_t", "uint8_t kind; uint8_t read; uint16_t address; uint16_t pc; char text[24]")
RecordCheck = struct(
    "vcs_record_check_t",
    "int64_t checked; int64_t differs_at; int64_t last_equal; int32_t ram, screen, play; int32_t state, cycles; int32_t cpu",
)
ExplainCall = struct(
    "vcs_explain_call_t",
    "const vcs_env_t *env?; const char *target?; int32_t object; int64_t span, window; const char *name?; int64_t frame; "
    "const char *directory?",
)
AttributeCall = struct("vcs_attribute_call_t", "const vcs_env_t *env?; const char *target")
JoystickCall = struct("vcs_joystick_call_t", "int64_t press; uint8_t held; int32_t top, bottom; int64_t window")
EditCall = struct(
    "vcs_edit_call_t",
    "int32_t x, y, width, height; const uint8_t *drawing[3 * width * height]; uint8_t exact; const char *method?; "
    "int64_t window, steps, budget; double keep; int64_t pairs, code",
)
SteerCall = struct(
    "vcs_steer_call_t",
    "const char *goal; const vcs_env_t *env?; const int32_t *searches[search_count]; int32_t search_count; "
    "int64_t seeds, budget, window; int32_t threads",
)
Stream = struct("vcs_stream_t", "uint64_t state, seed; int32_t hold, action")
SaveInfo = struct("vcs_save_info_t", "uint32_t version; vcs_profile_t profile; char sha256[65]; uint64_t frame_number")
Step = struct(
    "vcs_step_t",
    "uint16_t pc_before, pc; uint8_t opcode, a, x, y, sp, p; uint8_t frame_over, jammed; uint32_t cycles",
)
TraceRow = struct(
    "vcs_trace_row_t",
    "int64_t frame; int64_t number; vcs_step_t step; uint32_t state_chain, cycle_chain; char text[32]",
)
TraceCall = struct("vcs_trace_call_t", "int64_t from_frame, to_frame, limit; uint8_t play; uint64_t seed")
Box = struct("vcs_box_t", "int32_t x, y, width, height")
Position = struct("vcs_position_t", "int64_t frame; int32_t instruction; int32_t scanline, clock")
Stop = struct("vcs_stop_t", "int32_t reason; int32_t breakpoint")
Disassembly = struct("vcs_disassembly_t", "uint16_t address; uint8_t length, bytes[3]; char label[40]; char text[64]")
BatchGradOptions = struct(
    "vcs_batch_grad_options_t",
    "vcs_grad_options_t grad; int32_t frames; uint8_t last_picture; int32_t rows, events, snapshots; int32_t at_once; "
    "uint64_t reserved[8]",
)
BatchInputs = struct(
    "vcs_batch_inputs_t",
    "float *state?@batch[batch.envs * state_stride]; float *rom?@batch[batch.envs * rom_stride]; "
    "float *input?@batch[batch.envs * input_stride]; size_t state_stride, rom_stride, input_stride",
)
BatchOutputs = struct(
    "vcs_batch_outputs_t",
    "float *pixels?@batch[batch.envs * pixels_stride]; float *state?@batch[batch.envs * state_stride]; "
    "size_t pixels_stride, state_stride",
)
RecordCall = struct("vcs_record_call_t", "uint8_t cpu; uint64_t seed; int64_t frames, dense, stride, instructions")


# ---- the library -----------------------------------------------------------------------------------------------------


def library_path() -> Path:
    """The file that the calls go to."""
    return Path(os.environ.get("DIFFVCS_LIBRARY") or Path(__file__).parent / "libdiffvcs_python.so")


def _open() -> Any:
    path = library_path()
    if not path.exists():
        raise ImportError(
            f"{path} is not there: the package was not built. Run `pip install .` in the repository, "
            "or name a library in $DIFFVCS_LIBRARY."
        )
    try:
        return Binding(str(path.resolve()), PROTOTYPES, HANDLES, ENUMS, LONG)
    except (OSError, AttributeError) as problem:  # what is no library; a library without some of the functions
        raise ImportError(f"{path} is not the library of this package: {problem}") from None


lib = _open()

__all__ = [
    "ACTIONS", "BAD_ARGUMENT", "BadArgument", "Closed", "FRAME_BYTES", "INPUTS", "Memory", "RAM_BYTES", "SOUND_SAMPLES",
    "STRUCTS", "VCSError", "WIDTH", "lib",
]  # fmt: skip
