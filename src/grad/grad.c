/* grad.c: derivatives of whole runs: frames in order (JVP) or in reverse (VJP), one tape at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "each.h"
#include "ends.h"
#include "host/arena.h"
#include "jacobian.h"
#include "reward.h"
#include "ste.h"
#include "host/options.h"
#include "host/progress.h"

void vcs_grad_defaults(vcs_grad_options_t *options) {
  vcs_grad_options_t defaults = {.method = VCS_METHOD_BIT, .alpha = 6.0F, .side = VCS_SIDE_TANGENT};
  *options = defaults;
}

/* ---- What a walk needs --------------------------------------------------------------------------------------------
 */

/* Buffers stay from call to call if the next one needs the same: a run on the same cartridge, with the same window of
 * forks, of not more frames. */
typedef struct {
  vcs_arena_t arena; /* of the fixed arrays of the sweep and of the walk */
  vcs_sweep_t sweep;
  vcs_tape_t *tape;
  const vcs_run_t *run;
  const vcs_grad_options_t *options;
  const vcs_cart_t *cart;
  int32_t window;  /* of forks */
  int32_t room;    /* frames */
  size_t size;     /* of a machine */
  uint8_t *starts; /* VJP: the machine before every frame */
  vcs_t *machine;  /* that is running */
  vcs_forks_t *forks;
  float *probe; /* slots of the walk that finds what explodes, and which bytes are live */
  uint8_t *probed;
  bool cut[sizeof((vcs_t *)0)->ram];  /* bytes of RAM before the frame that explode in it */
  uint8_t *frames;                    /* drawn into when there are forks, which look at the picture */
  const vcs_grad_inputs_t *direction; /* the direction of a walk backwards, or NULL */
  float *tangents;                    /* along it: the slots before every frame, its controls set */
  uint8_t *moving;                    /* which bytes of them are live */
  vcs_directional_t choices;          /* of one frame */
  vcs_rewards_t rewards;
  vcs_grad_report_t report;
  float scale[256];
} walk_t;

struct vcs_grad_workspace {
  walk_t walk;
};

static void close_walk(walk_t *walk) {
  vcs_tape_free(walk->tape);
  vcs_forks_free(walk->forks);
  vcs_directional_free(&walk->choices);
  vcs_arena_free(&walk->arena);
  free(walk->sweep.latched);
  memset(walk, 0, sizeof *walk);
}

vcs_grad_workspace_t *vcs_grad_workspace_create(void) { return calloc(1, sizeof(vcs_grad_workspace_t)); }

void vcs_grad_workspace_free(vcs_grad_workspace_t *workspace) {
  if (!workspace) return;
  close_walk(&workspace->walk);
  free(workspace);
}

static vcs_status_t check(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                          const vcs_grad_outputs_t *outputs, vcs_error_t *error) {
  if (!options || !inputs || !outputs)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "options, inputs and outputs may be empty, but must be there");
  if (!run || !run->cart || !run->start || !run->controls || run->frames < 1)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a run needs a cartridge, a machine, controls and at least one frame");
  if (options->method < 0 || options->method >= VCS_METHODS)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no method %d", (int)options->method);
  if (options->side < VCS_SIDE_MEAN || options->side > VCS_SIDE_TANGENT)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is no side %d", (int)options->side);
  if (options->fork_window < 0 || options->fork_window > VCS_FRAME_INSTRUCTIONS)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "fork_window is %d, but goes from 0 to %d instructions",
                          (int)options->fork_window, (int)VCS_FRAME_INSTRUCTIONS);
  if (!(options->budget >= 0))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the budget is %g frames, but cannot be negative", options->budget);
  if (outputs->env && outputs->env->cart != run->cart)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the environment has another cartridge than the run");
  const vcs_status_t status = vcs_threads_check(options->threads, error);
  return status ? status : VCS_RESERVED_CHECK(options, "vcs_grad_options_t", error);
}

/* Room for a run. */
static vcs_status_t make_room(walk_t *walk, const vcs_cart_t *cart, int32_t window, int32_t frames,
                              vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  size_t size = vcs_state_size(cart);
  if (walk->cart == cart && walk->size == size && walk->window == window && walk->room >= frames) return VCS_OK;
  close_walk(walk);
  walk->size = size;
  s->m = vcs_arena_take(&walk->arena, 1, size);
  s->scratch = vcs_arena_take(&walk->arena, 1, size);
  s->state = vcs_arena_take(&walk->arena, VCS_SLOTS * size, sizeof(float));
  s->live = vcs_arena_take(&walk->arena, 1, size);
  s->lit = vcs_arena_take(&walk->arena, 1, VCS_ROWS_MAX);
  walk->machine = vcs_arena_take(&walk->arena, 1, size);
  walk->starts = vcs_arena_take(&walk->arena, (size_t)frames, size);
  vcs_status_t status = vcs_tape_create(cart, &walk->tape, error);
  if (!status) walk->tape->brief = !window;
  if (window && !status) {
    walk->tape->forks = true;
    walk->forks = vcs_forks_create(cart, window);
    walk->frames = vcs_arena_take(&walk->arena, 2, VCS_FRAME_BYTES);
    walk->probe = vcs_arena_take(&walk->arena, VCS_SLOTS * size, sizeof(float));
    walk->probed = vcs_arena_take(&walk->arena, 1, size);
    if (!walk->forks) walk->arena.failed = true;
  }
  if (!status) status = vcs_arena_status(&walk->arena, error);
  if (status) {
    close_walk(walk);
    return status;
  }
  walk->cart = cart;
  walk->window = window;
  walk->room = frames;
  return VCS_OK;
}

static vcs_status_t open_walk(walk_t *walk, const vcs_run_t *run, const vcs_grad_options_t *options, bool reverse,
                              vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  bool forks = options->fork_window > 0 && options->method == VCS_METHOD_BIT;
  vcs_status_t status = make_room(walk, run->cart, forks ? options->fork_window : 0, reverse ? run->frames : 1, error);
  if (status) return status;
  const vcs_grad_report_t nothing = {0};
  walk->run = run;
  walk->options = options;
  walk->report = nothing;
  for (int i = 0; i < 256; i++) walk->scale[i] = options->scale ? options->scale[i] : (float)i;
  s->cart = run->cart;
  s->scale = walk->scale;
  s->rule = options->side;
  if (reverse && s->rule == VCS_SIDE_TANGENT) s->rule = VCS_SIDE_MEAN;
  if (walk->direction) s->rule = VCS_SIDE_TANGENT;
  s->reverse = reverse;
  s->directional = NULL;
  memset(s->scratch, 0, walk->size);
  for (size_t i = 0; i < walk->size; i++) memset(vcs_slots(s, i), 0, VCS_SLOTS * sizeof(float));
  if (walk->frames) memset(walk->frames, 0, (size_t)2 * VCS_FRAME_BYTES);
  if (walk->forks) vcs_forks_restart(walk->forks);
  memcpy(walk->machine, run->start, walk->size);
  return VCS_OK;
}

/* ---- Frames -------------------------------------------------------------------------------------------------------
 */

/* Puts the next frame of walk->machine on tape: all of it, or what is needed for the picture's first rows. */
enum { WHOLE_FRAME = -1 };

static vcs_status_t prepare(walk_t *walk, int32_t rows, vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  bool whole = rows == WHOLE_FRAME;
  if (vcs_interrupted()) return vcs_error_fill(error, VCS_CANCELLED, "interrupted");
  if (!(whole ? vcs_tape_record(walk->tape, s->cart, walk->machine, walk->frames)
              : vcs_tape_record_to(walk->tape, s->cart, walk->machine, walk->frames, rows, walk->window)) ||
      (walk->forks && !vcs_forks_begin(walk->forks, walk->tape, walk->frames, s->rule == VCS_SIDE_TANGENT))) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  if (whole) vcs_read_all_ram(walk->machine); /* the next frame begins as after a step of an environment */
  walk->report.instructions += (uint64_t)walk->tape->count;
  uint16_t *latched = realloc(s->latched, (size_t)walk->tape->event_count * sizeof *latched);
  if (!latched) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  s->latched = latched;
  s->have_latched = false;
  s->tape = walk->tape;
  return VCS_OK;
}

static size_t slots_size(const walk_t *walk) { return VCS_SLOTS * walk->size * sizeof(float); }
static float *tangents_of(const walk_t *walk, int32_t frame) {
  return walk->tangents + VCS_SLOTS * walk->size * (size_t)frame;
}

/* Forks that begin or meet at a row, and regions that do; returns the row to go on with. */
static int32_t pass_forks(walk_t *walk, int32_t row) {
  if (!walk->forks) return row;
  for (int32_t from = -1; from != row;) {
    from = row;
    vcs_forks_row(walk->forks, &walk->sweep, row);
    row = vcs_regions_cross(walk->forks, &walk->sweep, row);
  }
  return row;
}

/* False: no memory. */
static bool walk_tape_forwards(walk_t *walk) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_tape_t *tape = walk->tape;
  s->snapshot = s->event = 0;
  if (walk->forks) vcs_forks_walk(walk->forks, s);
  for (int32_t row = 0; row < tape->count; row++) {
    row = pass_forks(walk, row);
    vcs_sweep_row(s, row);
  }
  vcs_directional_at(s, tape->count);
  vcs_sweep_span(s, &tape->events[tape->event_count - 1]);
  return !walk->forks || !vcs_forks_failed(walk->forks);
}

static void walk_tape_backwards(walk_t *walk) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_tape_t *tape = walk->tape;
  s->snapshot = tape->snapshot_count - 1;
  s->event = tape->event_count - 1;
  vcs_directional_at(s, tape->count);
  vcs_sweep_span(s, &tape->events[s->event]);
  for (int32_t row = tape->count - 1; row >= 0; row--) {
    vcs_sweep_row(s, row);
    row = pass_forks(walk, row);
  }
}

/* Whether tapes are probed: if there are forks, and no direction that limits them. */
static bool probes(const walk_t *walk) { return walk->forks && walk->sweep.rule != VCS_SIDE_TANGENT; }

/* A byte of RAM that moves the RAM after a frame by more than this has no meaning: there are 1,024 bits. */
static const float gain_max = 4096;

/* Either sign, so that many small terms do not add up. */
static float seed_of(size_t slot) { return (uint32_t)slot * 2654435761u >> 31 ? 1.0F : -1.0F; }

/* Refuses the forks of the tape that explode (fork.c), and finds the bytes of RAM that do, by a walk backwards from all
 * branches and the RAM after the frame. Its choices depend on the tape only, so that both products make them. */
static void probe(walk_t *walk) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_sweep_t kept = *s;
  s->reverse = true;
  s->rule = VCS_SIDE_MEAN;
  s->state = walk->probe;
  s->live = walk->probed;
  s->rom = NULL;
  s->pixels = NULL;
  memset(s->state, 0, slots_size(walk));
  memset(s->live, 0, walk->size);
  for (size_t i = 0; i < sizeof walk->cut / sizeof *walk->cut; i++) {
    float *slots = vcs_slots(s, VCS_OFFSET(ram) + i);
    for (size_t k = 0; k < VCS_SLOTS; k++) slots[k] = seed_of(VCS_SLOTS * i + k);
    s->live[VCS_OFFSET(ram) + i] = 1;
  }
  vcs_find_lit(s, NULL);
  memcpy(s->m, walk->machine, walk->size);
  vcs_forks_probe(walk->forks, true);
  walk_tape_backwards(walk);
  vcs_forks_probe(walk->forks, false);
  for (size_t i = 0; i < sizeof walk->cut / sizeof *walk->cut; i++) {
    const float *slots = vcs_slots(s, VCS_OFFSET(ram) + i);
    walk->cut[i] = false;
    for (int k = 0; k < VCS_SLOTS; k++) walk->cut[i] |= !(fabsf(slots[k]) <= gain_max);
  }
  const bool have_latched = s->have_latched;
  *s = kept;
  s->have_latched = have_latched;
}

/* Between two frames nothing passes through the bytes of RAM that explode in the second. */
static void cut_between(const walk_t *walk, int32_t frame) {
  for (size_t i = 0; frame > 0 && probes(walk) && i < sizeof walk->cut / sizeof *walk->cut; i++) {
    if (walk->cut[i]) memset(vcs_slots(&walk->sweep, VCS_OFFSET(ram) + i), 0, VCS_SLOTS * sizeof(float));
  }
}

/* One frame forwards: walk->machine goes on by it. */
static vcs_status_t frame_forwards(walk_t *walk, int32_t frame, float *inputs, float *pixels, vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_controls_t *controls = &walk->run->controls[frame];
  vcs_link_controls(s, walk->machine, controls, inputs);
  if (walk->tangents) memcpy(tangents_of(walk, frame), s->state, slots_size(walk));
  vcs_console_control(s->cart, walk->machine, controls);
  vcs_status_t status = prepare(walk, WHOLE_FRAME, error);
  if (status) return status;
  if (probes(walk)) probe(walk);
  cut_between(walk, frame);
  s->pixels = pixels;
  memcpy(s->m, walk->tape->start, walk->size);
  if (walk->options->method != VCS_METHOD_BIT) {
    vcs_ste_frame(s, walk->options);
    return VCS_OK;
  }
  return walk_tape_forwards(walk) ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

/* Backwards along a direction: walks forwards over the tape from the tangents before the frame, for the choices that
 * are made on the way. */
static vcs_status_t choose(walk_t *walk, int32_t frame, vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_sweep_t backwards = *s;
  if (!vcs_directional_begin(&walk->choices, walk->tape->count))
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  s->reverse = false;
  s->directional = &walk->choices;
  s->state = tangents_of(walk, frame);
  s->live = walk->moving;
  s->rom = walk->direction->rom;
  s->pixels = NULL;
  vcs_mark_live(s, walk->size);
  memcpy(s->m, walk->tape->start, walk->size);
  const bool walked = walk_tape_forwards(walk);
  if (walk->forks) vcs_forks_turn(walk->forks);
  const bool have_latched = s->have_latched;
  *s = backwards;
  s->have_latched = have_latched;
  s->directional = &walk->choices;
  return !walked || walk->choices.failed ? vcs_error_fill(error, VCS_NO_MEMORY, "out of memory") : VCS_OK;
}

/* One frame backwards, from the machine before it. */
static vcs_status_t frame_backwards(walk_t *walk, int32_t frame, float *inputs, float *pixels, bool only_pixels,
                                    vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  const vcs_controls_t *controls = &walk->run->controls[frame];
  const vcs_t *before = (const vcs_t *)(walk->starts + walk->size * (size_t)frame);
  memcpy(walk->machine, before, walk->size);
  vcs_console_control(s->cart, walk->machine, controls);
  vcs_lit_rows_t lit = vcs_find_lit(s, pixels);
  vcs_status_t status = prepare(walk, only_pixels && !walk->forks ? lit.behind : WHOLE_FRAME, error);
  if (status) return status;
  s->lit_from = VCS_LINE_CLOCKS * (walk->tape->start->first_line + lit.first);
  s->pixels = pixels;
  if (walk->direction) {
    status = choose(walk, frame, error);
  } else if (probes(walk)) {
    probe(walk);
    vcs_find_lit(s, pixels);
  }
  if (status) return status;
  memcpy(s->m, walk->machine, walk->size);
  if (walk->options->method != VCS_METHOD_BIT) {
    vcs_ste_frame(s, walk->options);
    vcs_link_controls(s, before, controls, inputs);
    return VCS_OK;
  }
  walk_tape_backwards(walk);
  if (walk->forks && vcs_forks_failed(walk->forks)) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  cut_between(walk, frame);
  vcs_link_controls(s, before, controls, inputs);
  return VCS_OK;
}

static float *state_after(const vcs_grad_outputs_t *outputs, int32_t frame) {
  return outputs->states ? outputs->states[frame] : NULL;
}

/* Links the state in the middle of a run to the caller's bits, if there are any. */
static void look_at_state(walk_t *walk, const vcs_t *m, float *bits) {
  vcs_sweep_t *s = &walk->sweep;
  if (!bits) return;
  if (walk->options->method != VCS_METHOD_BIT) vcs_ste_unfold(s, walk->size);
  vcs_link_bits_of_state(&walk->sweep, walk->size, m, bits);
  if (walk->options->method != VCS_METHOD_BIT) vcs_ste_fold(s, walk->size);
  if (s->reverse) vcs_mark_live(s, walk->size);
}

/* Forwards: the state before this frame has a part in its reward, too, which is known now. */
static void look_at_rewards(walk_t *walk, int32_t frame, float *of) {
  const vcs_rewards_t *rewards = &walk->rewards;
  if (!rewards->env || !of) return;
  vcs_rewards_play(rewards, frame, walk->machine);
  if (frame > 0) {
    float both[2] = {0, 0};
    vcs_rewards_link(rewards, false, frame - 1, rewards->beside, walk->machine, both);
    of[frame] += both[1];
  }
  memset(rewards->bits, 0, 8 * walk->size * sizeof *rewards->bits);
  look_at_state(walk, walk->machine, rewards->bits);
  vcs_rewards_link(rewards, false, frame, walk->machine, NULL, &of[frame]);
  memcpy(rewards->beside, walk->machine, walk->size);
}

/* Backwards: the machine after a frame; that after the last one is still where it ran. */
static vcs_t *machine_after(const walk_t *walk, int32_t frame) {
  if (frame + 1 == walk->run->frames) return walk->machine;
  return (vcs_t *)(walk->starts + walk->size * (size_t)(frame + 1));
}

static void look_back_at_rewards(walk_t *walk, int32_t frame, float *of) {
  const vcs_rewards_t *rewards = &walk->rewards;
  const bool last = frame + 1 == walk->run->frames;
  if (!rewards->env || !of) return;
  if (of[frame] != 0 || (!last && of[frame + 1] != 0)) {
    memset(rewards->bits, 0, 8 * walk->size * sizeof *rewards->bits);
    vcs_rewards_link(rewards, true, frame, machine_after(walk, frame), last ? NULL : rewards->beside, &of[frame]);
    look_at_state(walk, machine_after(walk, frame), rewards->bits);
  }
  memcpy(rewards->beside, machine_after(walk, frame), walk->size);
}

static vcs_status_t jvp(walk_t *walk, const vcs_run_t *run, const vcs_grad_options_t *options,
                        const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report,
                        vcs_error_t *error) {
  vcs_status_t status = open_walk(walk, run, options, false, error);
  if (!status) status = vcs_rewards_open(&walk->rewards, run, outputs, error);
  if (status) return status;
  vcs_sweep_t *s = &walk->sweep;
  for (size_t i = 0; inputs->state && i < 8 * walk->size; i++) vcs_slots(s, i / 8)[i % 8] = inputs->state[i];
  if (options->method != VCS_METHOD_BIT) vcs_ste_fold(s, walk->size);
  vcs_mark_live(s, walk->size);
  s->rom = inputs->rom;
  for (int32_t f = 0; !status && f < run->frames; f++) {
    float *controls = inputs->input ? inputs->input + (size_t)VCS_INPUTS * (size_t)f : NULL;
    status = frame_forwards(walk, f, controls, outputs->pixels ? outputs->pixels[f] : NULL, error);
    if (status) break;
    look_at_state(walk, walk->machine, state_after(outputs, f));
    look_at_rewards(walk, f, outputs->rewards);
  }
  vcs_rewards_close(&walk->rewards);
  if (options->method != VCS_METHOD_BIT) vcs_ste_unfold(s, walk->size);
  if (!status && outputs->state) vcs_link_bits_of_state(&walk->sweep, walk->size, walk->machine, outputs->state);
  if (walk->forks) vcs_forks_report(walk->forks, &walk->report);
  if (report) *report = walk->report;
  return status;
}

static void add_bits(const float *restrict slots, float *restrict bits) {
  for (int bit = 0; bit < 8; bit++) bits[bit] += slots[bit];
}

static vcs_status_t vjp(walk_t *walk, const vcs_run_t *run, const vcs_grad_options_t *options,
                        const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report,
                        vcs_error_t *error) {
  vcs_status_t status = open_walk(walk, run, options, true, error);
  if (!status) status = vcs_rewards_open(&walk->rewards, run, outputs, error);
  if (status) return status;
  vcs_sweep_t *s = &walk->sweep;
  const bool after_last = outputs->state || outputs->states || outputs->rewards;
  for (int32_t f = 0; f < run->frames; f++) {
    memcpy(walk->starts + walk->size * (size_t)f, walk->machine, walk->size);
    vcs_console_control(run->cart, walk->machine, &run->controls[f]);
    if (f + 1 < run->frames || after_last) vcs_frame(run->cart, walk->machine, NULL);
    vcs_read_all_ram(walk->machine);
    vcs_rewards_play(&walk->rewards, f, walk->machine);
  }
  memset(s->live, 0, walk->size);
  if (outputs->state) {
    vcs_link_bits_of_state(&walk->sweep, walk->size, walk->machine, outputs->state);
    if (options->method != VCS_METHOD_BIT) vcs_ste_fold(s, walk->size);
    vcs_mark_live(s, walk->size);
  }
  s->rom = inputs->rom;
  for (int32_t f = run->frames - 1; !status && f >= 0; f--) {
    bool only_pixels = f + 1 == run->frames && !outputs->state && !state_after(outputs, f) && !outputs->rewards;
    look_at_state(walk, machine_after(walk, f), state_after(outputs, f));
    look_back_at_rewards(walk, f, outputs->rewards);
    float *controls = inputs->input ? inputs->input + (size_t)VCS_INPUTS * (size_t)f : NULL;
    status = frame_backwards(walk, f, controls, outputs->pixels ? outputs->pixels[f] : NULL, only_pixels, error);
  }
  vcs_rewards_close(&walk->rewards);
  if (!status && inputs->state) {
    if (options->method != VCS_METHOD_BIT) vcs_ste_unfold(s, walk->size);
    for (size_t i = 0; i < walk->size; i++) add_bits(vcs_slots(s, i), inputs->state + 8 * i);
  }
  if (walk->forks) vcs_forks_report(walk->forks, &walk->report);
  if (report) *report = walk->report;
  return status;
}

/* The tangents before every frame. */
static vcs_status_t follow(walk_t *walk, const vcs_run_t *run, const vcs_grad_options_t *options,
                           const vcs_grad_inputs_t *direction, vcs_error_t *error) {
  vcs_sweep_t *s = &walk->sweep;
  vcs_status_t status = open_walk(walk, run, options, true, error);
  if (status) return status;
  walk->direction = direction;
  walk->tangents = malloc(slots_size(walk) * (size_t)run->frames);
  walk->moving = malloc(walk->size);
  if (!walk->tangents || !walk->moving) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  s->reverse = false;
  s->rule = VCS_SIDE_TANGENT;
  s->rom = direction->rom;
  for (size_t i = 0; direction->state && i < 8 * walk->size; i++) vcs_slots(s, i / 8)[i % 8] = direction->state[i];
  vcs_mark_live(s, walk->size);
  for (int32_t f = 0; !status && f < run->frames; f++) {
    float *controls = direction->input ? direction->input + (size_t)VCS_INPUTS * (size_t)f : NULL;
    status = frame_forwards(walk, f, controls, NULL, error);
  }
  return status;
}

vcs_status_t vcs_grad_vjp_directional(vcs_grad_workspace_t *workspace, const vcs_run_t *run,
                                      const vcs_grad_options_t *options, const vcs_grad_inputs_t *direction,
                                      const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                                      vcs_grad_report_t *report, vcs_error_t *error) {
  walk_t own, *walk = workspace ? &workspace->walk : &own;
  vcs_status_t status = check(run, options, inputs, outputs, error);
  if (status) return status;
  if (!direction) return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a walk along a direction needs one");
  if (options->method != VCS_METHOD_BIT)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "only `bit`, with or without forks, walks along a direction");
  if (!workspace) memset(&own, 0, sizeof own);
  status = follow(walk, run, options, direction, error);
  if (!status) status = vjp(walk, run, options, inputs, outputs, report, error);
  free(walk->tangents);
  free(walk->moving);
  walk->tangents = NULL;
  walk->moving = NULL;
  walk->direction = NULL;
  if (!workspace) close_walk(&own);
  return status;
}

/* With the caller's workspace, or one of the call's own. */
typedef vcs_status_t product_t(walk_t *walk, const vcs_run_t *run, const vcs_grad_options_t *options,
                               const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                               vcs_grad_report_t *report, vcs_error_t *error);

static vcs_status_t work_in(vcs_grad_workspace_t *workspace, product_t *product, const vcs_run_t *run,
                            const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                            const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error) {
  vcs_status_t status = check(run, options, inputs, outputs, error);
  if (status) return status;
  if (options->method == VCS_METHOD_EXACT) {
    return (product == jvp ? vcs_exact_jvp : vcs_exact_vjp)(run, options, inputs, outputs, report, error);
  }
  if (options->method == VCS_METHOD_HYBRID) {
    return (product == jvp ? vcs_hybrid_jvp : vcs_hybrid_vjp)(workspace, run, options, inputs, outputs, report, error);
  }
  if (workspace) return product(&workspace->walk, run, options, inputs, outputs, report, error);
  walk_t own;
  memset(&own, 0, sizeof own);
  status = product(&own, run, options, inputs, outputs, report, error);
  close_walk(&own);
  return status;
}

vcs_status_t vcs_grad_jvp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                             const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                             vcs_grad_report_t *report, vcs_error_t *error) {
  return work_in(workspace, jvp, run, options, inputs, outputs, report, error);
}

vcs_status_t vcs_grad_vjp_in(vcs_grad_workspace_t *workspace, const vcs_run_t *run, const vcs_grad_options_t *options,
                             const vcs_grad_inputs_t *inputs, const vcs_grad_outputs_t *outputs,
                             vcs_grad_report_t *report, vcs_error_t *error) {
  return work_in(workspace, vjp, run, options, inputs, outputs, report, error);
}

vcs_status_t vcs_grad_jvp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                          const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error) {
  return work_in(NULL, jvp, run, options, inputs, outputs, report, error);
}

vcs_status_t vcs_grad_vjp(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_grad_inputs_t *inputs,
                          const vcs_grad_outputs_t *outputs, vcs_grad_report_t *report, vcs_error_t *error) {
  return work_in(NULL, vjp, run, options, inputs, outputs, report, error);
}

/* ---- Many places --------------------------------------------------------------------------------------------------
 */

/* The tangents of each place, and where they are looked at. */
typedef struct {
  walk_t walk;
  vcs_arena_t arena; /* of the arrays below */
  float *slots;      /* by place */
  uint8_t *live;     /* by place */
  float *rom, *pixels, *bits;
  vcs_t *before; /* the machine as a frame begins */
} each_t;

static vcs_status_t open_each(each_t *each, const vcs_run_t *run, const vcs_grad_options_t *options, size_t count,
                              vcs_error_t *error) {
  vcs_status_t status = open_walk(&each->walk, run, options, false, error);
  if (status) return status;
  const size_t size = each->walk.size;
  each->slots = vcs_arena_take(&each->arena, count * VCS_SLOTS * size, sizeof(float));
  each->live = vcs_arena_take(&each->arena, count, size);
  each->rom = vcs_arena_take(&each->arena, (size_t)8 * run->cart->rom_size, sizeof(float));
  each->pixels = vcs_arena_take(&each->arena, VCS_FRAME_BYTES, sizeof(float));
  each->bits = vcs_arena_take(&each->arena, 8 * size, sizeof(float));
  each->before = vcs_arena_take(&each->arena, 1, size);
  return vcs_arena_status(&each->arena, error);
}

/* The walk goes on with the tangents of a place. */
static void take_place(each_t *each, size_t number) {
  vcs_sweep_t *s = &each->walk.sweep;
  s->state = each->slots + number * VCS_SLOTS * each->walk.size;
  s->live = each->live + number * each->walk.size;
}

static float change_of(const vcs_run_t *run, const vcs_place_t *place) { return vcs_place_bit(run, place) ? -1 : 1; }

static void begin_place(each_t *each, size_t number, const vcs_place_t *place) {
  vcs_sweep_t *s = &each->walk.sweep;
  take_place(each, number);
  if (place->kind == VCS_PLACE_STATE) vcs_slots(s, place->index)[place->bit] = change_of(each->walk.run, place);
  if (each->walk.options->method != VCS_METHOD_BIT) vcs_ste_fold(s, each->walk.size);
  vcs_mark_live(s, each->walk.size);
}

/* One frame of one place, which is on tape. False: nothing of it moves. */
static bool place_forwards(each_t *each, size_t number, const vcs_place_t *place, int32_t frame, float *pixels) {
  walk_t *walk = &each->walk;
  vcs_sweep_t *s = &walk->sweep;
  const bool rom = place->kind == VCS_PLACE_ROM, input = place->kind == VCS_PLACE_INPUT && place->frame == frame;
  float inputs[VCS_INPUTS] = {0};
  take_place(each, number);
  if (!rom && !input && !vcs_any(s->state, (int)(VCS_SLOTS * walk->size))) return false;
  if (input) inputs[place->index] = change_of(walk->run, place);
  if (rom) each->rom[8 * (size_t)place->index + place->bit] = change_of(walk->run, place);
  s->rom = rom ? each->rom : NULL;
  s->pixels = pixels;
  vcs_link_controls(s, each->before, &walk->run->controls[frame], inputs);
  cut_between(walk, frame);
  memcpy(s->m, walk->tape->start, walk->size);
  if (walk->options->method != VCS_METHOD_BIT) {
    vcs_ste_frame(s, walk->options);
  } else {
    walk_tape_forwards(walk);
  }
  if (rom) each->rom[8 * (size_t)place->index + place->bit] = 0;
  return true;
}

vcs_status_t vcs_grad_jvp_each(const vcs_run_t *run, const vcs_grad_options_t *options, const vcs_place_t *places,
                               size_t count, const uint8_t *looks, vcs_see_product_t see, void *context,
                               vcs_error_t *error) {
  each_t each = {.slots = NULL};
  walk_t *walk = &each.walk;
  const vcs_grad_inputs_t inputs = {0};
  const vcs_grad_outputs_t outputs = {0};
  vcs_status_t status = check(run, options, &inputs, &outputs, error);
  if (!status) status = open_each(&each, run, options, count, error);
  for (size_t i = 0; !status && i < count; i++) begin_place(&each, i, &places[i]);
  for (int32_t f = 0; !status && f < run->frames; f++) {
    memcpy(each.before, walk->machine, walk->size);
    vcs_console_control(run->cart, walk->machine, &run->controls[f]);
    status = prepare(walk, WHOLE_FRAME, error);
    if (!status && probes(walk)) probe(walk);
    for (size_t i = 0; !status && i < count; i++) {
      const bool moves = place_forwards(&each, i, &places[i], f, looks[f] ? each.pixels : NULL);
      if (walk->forks && vcs_forks_failed(walk->forks)) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
      if (!looks[f]) continue;
      if (!moves) {
        see(context, i, f, NULL, NULL);
        continue;
      }
      look_at_state(walk, walk->machine, each.bits);
      see(context, i, f, each.pixels, each.bits);
      memset(each.pixels, 0, VCS_FRAME_BYTES * sizeof(float));
      memset(each.bits, 0, 8 * walk->size * sizeof(float));
    }
  }
  vcs_arena_free(&each.arena);
  close_walk(walk);
  return status;
}
