/* rerun.c: runs with flips, executed again as little as possible, from their beginning or from a later frame on.
 *
 * What is not run. A run with a flipped input begins at the frame of the flip. A run whose machine is again what the
 * base's was after as many frames, and whose score rules remember the same, has the base's future; the rest is copied.
 * Machines are compared as they begin their next frame, when all times have been rebased to it, and without the
 * fields that no output depends on: counters of frames and instructions, sound, the byte left on the bus. A run
 * with flipped ROM never rejoins: an equal machine reads a different image. But most ROM is not read at all (unread.c).
 *
 * What is not drawn. A picture is needed at horizons only. A frame that began and ended within its call and swept every
 * row depends on nothing drawn before; then its own drawing is the picture. Where the base's frame at some horizon is
 * not like that (rows that no beam reaches show the frame two before; a frame may go on in the next call; a game that
 * stands still shows its last frame) all runs draw every frame (draws_all), and a run has rejoined only when both frame
 * buffers are equal, too. Where the base's frame is whole but the frame of one rerun is not, that run is started again
 * and draws every frame. Either way a picture is that of a run which draws every frame.
 */
#include "grad/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "core/decode.h"
#include "host/files.h"
#include "host/save.h"

enum { RUN_MAX = 65535 }; /* frames, as a place numbers them */

/* ---- Places ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *of;
  const char *what;
} kinds[] = {
    [VCS_PLACE_STATE] = {"the state", "bytes"},
    [VCS_PLACE_ROM] = {"the cartridge", "bytes of ROM"},
    [VCS_PLACE_INPUT] = {"a frame", "inputs"},
};

vcs_status_t vcs_place_check(const vcs_run_t *run, const vcs_place_t *place, vcs_error_t *error) {
  if (place->kind > VCS_PLACE_INPUT)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d is no kind of place", place->kind);
  const size_t limits[] = {vcs_state_size(run->cart), run->cart->rom_size, VCS_INPUTS};
  if (place->index >= limits[place->kind]) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a place is number %u, but %s has %zu %s", (unsigned)place->index,
                          kinds[place->kind].of, limits[place->kind], kinds[place->kind].what);
  }
  if (place->bit > (place->kind == VCS_PLACE_INPUT ? 0 : 7)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a place has no bit %d", place->bit);
  }
  if (place->kind == VCS_PLACE_INPUT && place->frame >= run->frames) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "an input is of frame %d, but the run has %d", place->frame,
                          (int)run->frames);
  }
  return VCS_OK;
}

/* Returns the byte of the controls that an input is in, and sets *mask to its bit. */
static uint8_t *input_byte(vcs_controls_t *controls, uint32_t input, uint8_t *mask) {
  _Static_assert(VCS_HELD_FIRE == 1 << VCS_INPUT_FIRE && VCS_INPUT_SECOND_PLAYER == 5, "inputs are the bits of `held`");
  if (input >= VCS_INPUT_RESET) {
    *mask = (uint8_t)(1u << (input - VCS_INPUT_RESET));
    return &controls->console;
  }
  *mask = (uint8_t)(1u << input % VCS_INPUT_SECOND_PLAYER);
  return &controls->held[input / VCS_INPUT_SECOND_PLAYER];
}

int vcs_place_bit(const vcs_run_t *run, const vcs_place_t *place) {
  if (place->kind == VCS_PLACE_INPUT) {
    vcs_controls_t controls = run->controls[place->frame];
    uint8_t mask;
    const uint8_t *byte = input_byte(&controls, place->index, &mask);
    return (*byte & mask) != 0;
  }
  const uint8_t *bytes = place->kind == VCS_PLACE_ROM ? run->cart->rom : (const uint8_t *)run->start;
  return bytes[place->index] >> place->bit & 1;
}

int vcs_run_bit(const vcs_run_t *run, const vcs_place_t *place) {
  return vcs_place_check(run, place, NULL) ? -1 : vcs_place_bit(run, place);
}

void vcs_place_flip_input(vcs_controls_t *controls, const vcs_place_t *place) {
  uint8_t mask;
  uint8_t *byte = input_byte(controls, place->index, &mask);
  *byte ^= mask;
}

vcs_status_t vcs_run_check(const vcs_run_t *run, const int32_t *horizons, int32_t horizon_count, const vcs_env_t *env,
                           vcs_error_t *error) {
  if (!run || !run->cart || !run->start || !run->controls) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a run needs a cartridge, a machine and controls");
  }
  if (run->frames < 1 || run->frames > RUN_MAX) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a run has 1 to %d frames, not %d", RUN_MAX, (int)run->frames);
  }
  if (env && env->cart != run->cart) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the environment has another cartridge than the run");
  }
  if (horizons && horizon_count < 1) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "there is at least one horizon, not %d", (int)horizon_count);
  }
  for (int32_t i = 0; horizons && i < horizon_count; i++) {
    if (horizons[i] < 1 || horizons[i] > run->frames || (i && horizons[i] <= horizons[i - 1])) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "horizons ascend from 1 to the run's %d frames; %d does not",
                            (int)run->frames, (int)horizons[i]);
    }
  }
  return VCS_OK;
}

/* ---- Frames ------------------------------------------------------------------------------------------------- */

size_t vcs_base_pixels(const vcs_base_t *base) { return (size_t)VCS_WIDTH * (size_t)base->cart.frame_height; }

/* The machine as its next frame begins, without what no output depends on. */
static void begin_next(const vcs_cart_t *cart, const vcs_t *m, vcs_t *begun) {
  memcpy(begun, m, vcs_state_size(cart));
  vcs_frame_begin(cart, begun);
  begun->instructions = begun->frames = 0;
  begun->bus = 0;
  if (!begun->timer_was_read) begun->timer_read_cycle = 0;
  if (!cart->colour_loss) begun->scanlines = 0;
  memset(begun->audio, 0, sizeof begun->audio);
  memset(begun->audio_divider, 0, sizeof begun->audio_divider);
  memset(begun->audio_five, 0, sizeof begun->audio_five);
  memset(begun->audio_four, 0, sizeof begun->audio_four);
}

/* Whether the frame that has just ended, and did not go on with one before it, swept every row. */
static bool covers(const vcs_cart_t *cart, const vcs_t *m) {
  return !m->partial && m->first_line == cart->top_line &&
         m->seen_clock == VCS_LINE_CLOCKS * (cart->top_line + cart->height);
}

/* Executes a frame and applies the game's rules. False, and nothing is done: the game is over and stands still. */
static bool play_frame(const vcs_base_t *base, const vcs_cart_t *cart, vcs_t *m, const vcs_controls_t *controls,
                       vcs_play_t *play, int32_t *score, uint8_t *frames) {
  if (base->view.stop_when_over && play->over) return false;
  vcs_control(cart, m, controls);
  vcs_frame(cart, m, frames);
  vcs_read_all_ram(m);
  if (base->view.env && base->view.env->game) {
    vcs_game_code_step(base->view.env->code, play, m->ram, m->cart_ram);
    *score = (int32_t)((uint32_t)*score + (uint32_t)play->reward);
  }
  return true;
}

/* The frame buffers as they are before the run. */
static void start_frames(const vcs_base_t *base, uint8_t *frames) {
  if (base->run.picture) {
    memcpy(frames, base->run.picture, 2 * VCS_FRAME_BYTES);
  } else {
    memset(frames, 0, 2 * VCS_FRAME_BYTES);
  }
}

/* The picture's part of both buffers, one behind the other. */
static void keep_frames(const vcs_base_t *base, const uint8_t *frames, int32_t after) {
  const size_t size = vcs_base_pixels(base);
  uint8_t *to = base->kept_frames + 2 * size * (size_t)after;
  memcpy(to, frames, size);
  memcpy(to + size, frames + VCS_FRAME_BYTES, size);
}

static void restore_frames(const vcs_base_t *base, uint8_t *frames, int32_t after) {
  const size_t size = vcs_base_pixels(base);
  const uint8_t *from = base->kept_frames + 2 * size * (size_t)after;
  memcpy(frames, from, size);
  memcpy(frames + VCS_FRAME_BYTES, from + size, size);
}

static bool equals_kept_frames(const vcs_base_t *base, const uint8_t *frames, int32_t after) {
  const size_t size = vcs_base_pixels(base);
  const uint8_t *kept = base->kept_frames + 2 * size * (size_t)after;
  return memcmp(frames, kept, size) == 0 && memcmp(frames + VCS_FRAME_BYTES, kept + size, size) == 0;
}

/* ---- The base ----------------------------------------------------------------------------------------------- */

/* Returns the distance of machines in an array, in bytes. */
static size_t stride(const vcs_cart_t *cart) { return (vcs_state_size(cart) + 7) & ~(size_t)7; }

static vcs_t *state_after(const vcs_base_t *base, int32_t frames) {
  return (vcs_t *)(base->states + (size_t)frames * stride(&base->cart));
}

static vcs_t *begun_after(const vcs_base_t *base, int32_t frames) {
  return (vcs_t *)(base->begun + (size_t)frames * stride(&base->cart));
}

static uint8_t *copy_rom(const vcs_cart_t *cart) {
  uint8_t *rom = calloc(1, cart->rom_size);
  if (rom) memcpy(rom, cart->rom, cart->rom_size);
  return rom;
}

static size_t code_size(const vcs_cart_t *cart) { return vcs_decode_size(cart) * sizeof *cart->code; }

static vcs_code_t *copy_code(const vcs_cart_t *cart) {
  vcs_code_t *code = malloc(code_size(cart));
  if (code) memcpy(code, cart->code, code_size(cart));
  return code;
}

/* Flips a bit of an image, and decodes again what depends on it: what is decoded for a byte depends on the two bytes
 * after it, and for the branch of a wait loop on the three before it (decode.h). */
static void flip_image(const vcs_cart_t *cart, uint8_t *rom, vcs_code_t *code, const vcs_place_t *place) {
  rom[place->index] ^= (uint8_t)(1u << place->bit);
  const uint32_t size = code ? vcs_decode_size(cart) : 0, first = place->index < 2 ? 0 : place->index - 2;
  for (uint32_t at = first; at < size && at <= place->index + 3; at++) code[at] = vcs_decode(cart, at);
}

vcs_status_t vcs_base_create(vcs_base_t *base, const vcs_run_t *run, const vcs_view_t *view, vcs_error_t *error) {
  const size_t times = (size_t)run->frames + 1, state = stride(run->cart);
  *base = (vcs_base_t){.view = *view, .run = *run, .cart = *run->cart};
  const size_t pictures = view->pictures ? (size_t)view->horizon_count * vcs_base_pixels(base) : 1;
  base->controls = malloc(times * sizeof *base->controls);
  base->states = malloc(times * state);
  base->begun = malloc(times * state);
  base->plays = calloc(times, sizeof *base->plays);
  base->scores = calloc(times, sizeof *base->scores);
  base->pictures = malloc(pictures);
  base->frames = malloc(2 * VCS_FRAME_BYTES);
  base->rom = view->rom ? copy_rom(run->cart) : NULL;
  base->code = view->rom && run->cart->code ? copy_code(run->cart) : NULL;
  if (!base->controls || !base->states || !base->begun || !base->plays || !base->scores || !base->pictures ||
      !base->frames || (view->rom && (!base->rom || (run->cart->code && !base->code)))) {
    vcs_base_free(base);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for a run of %d frames", (int)run->frames);
  }
  if (base->rom) {
    base->cart.rom = base->rom;
    base->cart.code = base->code;
  }
  base->run.cart = &base->cart;
  base->run.controls = base->controls;
  base->run.start = state_after(base, 0);
  vcs_base_restore(base, run);
  return VCS_OK;
}

void vcs_base_free(vcs_base_t *base) {
  free(base->controls);
  free(base->states);
  free(base->begun);
  free(base->plays);
  free(base->scores);
  free(base->pictures);
  free(base->rom);
  free(base->code);
  free(base->kept_frames);
  free(base->frames);
  free(base->unread);
  *base = (vcs_base_t){0};
}

void vcs_base_restore(vcs_base_t *base, const vcs_run_t *run) {
  free(base->unread);
  base->unread = NULL;
  memcpy(base->controls, run->controls, (size_t)run->frames * sizeof *base->controls);
  memcpy(base->states, run->start, vcs_state_size(run->cart));
  if (base->rom) memcpy(base->rom, run->cart->rom, run->cart->rom_size);
  if (base->code) memcpy(base->code, run->cart->code, code_size(run->cart));
}

void vcs_base_flip(vcs_base_t *base, const vcs_place_t *place) {
  if (place->kind == VCS_PLACE_INPUT) {
    vcs_place_flip_input(&base->controls[place->frame], place);
  } else if (place->kind == VCS_PLACE_ROM) {
    flip_image(&base->cart, base->rom, base->code, place);
  } else {
    base->states[place->index] ^= (uint8_t)(1u << place->bit);
  }
}

/* One pass over the run. Unless it draws everything it stops, and returns false, at a horizon whose picture its frame
 * alone does not make. */
static bool record_pass(vcs_base_t *base, uint8_t *frames) {
  const vcs_view_t *view = &base->view;
  vcs_t *m;
  int horizon = 0;
  base->plays[0] = view->env ? view->env->play : (vcs_play_t){0};
  begin_next(&base->cart, state_after(base, 0), begun_after(base, 0));
  if (base->draws_all) keep_frames(base, frames, 0);
  for (int32_t i = 0; i < base->run.frames; i++) {
    const bool looks = horizon < view->horizon_count && view->horizons[horizon] == i + 1;
    const bool draws = view->pictures && (base->draws_all || looks), partial = state_after(base, i)->partial;
    m = state_after(base, i + 1);
    memcpy(m, state_after(base, i), vcs_state_size(&base->cart));
    base->plays[i + 1] = base->plays[i];
    base->scores[i + 1] = base->scores[i];
    const bool moved = play_frame(base, &base->cart, m, &base->controls[i], &base->plays[i + 1], &base->scores[i + 1],
                                  draws ? frames : NULL);
    begin_next(&base->cart, m, begun_after(base, i + 1));
    if (base->draws_all) keep_frames(base, frames, i + 1);
    if (!looks) continue;
    if (view->pictures) {
      if (!base->draws_all && (!moved || partial || !covers(&base->cart, m))) return false;
      memcpy(base->pictures + (size_t)horizon * vcs_base_pixels(base), vcs_picture(m, frames), vcs_base_pixels(base));
    }
    horizon++;
  }
  return true;
}

vcs_status_t vcs_base_record(vcs_base_t *base, bool *possible, vcs_error_t *error) {
  *possible = vcs_machine_is_possible(&base->cart, state_after(base, 0));
  if (!*possible) return VCS_OK;
  base->draws_all = false;
  start_frames(base, base->frames);
  if (!record_pass(base, base->frames)) {
    if (!base->kept_frames) base->kept_frames = calloc((size_t)base->run.frames + 1, 2 * vcs_base_pixels(base));
    if (!base->kept_frames) {
      return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory for the pictures of %d frames", (int)base->run.frames);
    }
    base->draws_all = true;
    start_frames(base, base->frames);
    record_pass(base, base->frames);
  }
  return VCS_OK;
}

const vcs_t *vcs_base_state(const vcs_base_t *base, int32_t frames) { return state_after(base, frames); }

vcs_sight_t vcs_base_sight(const vcs_base_t *base, int horizon) {
  const int32_t after = base->view.horizons[horizon];
  const size_t picture = base->view.pictures ? (size_t)horizon * vcs_base_pixels(base) : 0;
  return (vcs_sight_t){
      base->pictures + picture, state_after(base, after)->ram, base->scores[after], base->plays[after].lives, NULL,
      state_after(base, after)};
}

/* ---- Runners ------------------------------------------------------------------------------------------------ */

vcs_status_t vcs_runner_create(vcs_runner_t *runner, const vcs_base_t *base, vcs_error_t *error) {
  *runner = (vcs_runner_t){.cart = base->cart};
  runner->m = malloc(vcs_state_size(&base->cart));
  runner->begun = malloc(vcs_state_size(&base->cart));
  runner->frames = malloc(2 * VCS_FRAME_BYTES);
  runner->rom = base->view.rom ? copy_rom(&base->cart) : NULL;
  runner->code = base->code ? copy_code(&base->cart) : NULL;
  if (!runner->m || !runner->begun || !runner->frames || (base->view.rom && !runner->rom) ||
      (base->code && !runner->code)) {
    vcs_runner_free(runner);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  if (runner->rom) {
    runner->cart.rom = runner->rom;
    runner->cart.code = runner->code;
  }
  start_frames(base, runner->frames); /* rows below the last that is ever drawn stay so */
  return VCS_OK;
}

void vcs_runner_free(vcs_runner_t *runner) {
  free(runner->m);
  free(runner->begun);
  free(runner->frames);
  free(runner->rom);
  free(runner->code);
  *runner = (vcs_runner_t){0};
}

void vcs_runner_follow(vcs_runner_t *runner, const vcs_base_t *base) {
  if (runner->rom) memcpy(runner->rom, base->cart.rom, base->cart.rom_size);
  if (runner->code) memcpy(runner->code, base->code, code_size(&base->cart));
}

void vcs_runner_flip_rom(vcs_runner_t *runner, const vcs_place_t *place) {
  flip_image(&runner->cart, runner->rom, runner->code, place);
}

/* ---- Running again ------------------------------------------------------------------------------------------ */

/* A rerun under way. */
typedef struct {
  const vcs_base_t *base;
  vcs_runner_t *runner;
  const vcs_place_t *flips;
  size_t count;
  vcs_see_t see;
  void *context;
  int32_t first;     /* the first frame that a flip changes */
  int32_t same_from; /* the frame from which on no flip changes the run directly; -1: never, for flips of ROM */
  int horizon;       /* the next to be shown */
} rerun_t;

static void find_flips(rerun_t *r) {
  r->first = r->base->run.frames;
  r->same_from = 0;
  for (size_t i = 0; i < r->count; i++) {
    const vcs_place_t *flip = &r->flips[i];
    const int32_t frame = flip->kind == VCS_PLACE_INPUT ? flip->frame : 0;
    if (frame < r->first) r->first = frame;
    if (flip->kind == VCS_PLACE_ROM) r->same_from = -1;
    if (flip->kind == VCS_PLACE_INPUT && r->same_from >= 0 && frame + 1 > r->same_from) r->same_from = frame + 1;
  }
}

/* Whether only bytes of ROM are flipped that the run does not read. */
static bool is_unread(const rerun_t *r) {
  for (size_t i = 0; i < r->count; i++) {
    if (r->flips[i].kind != VCS_PLACE_ROM || !r->base->unread || !r->base->unread[r->flips[i].index]) return false;
  }
  return true;
}

static void flip_rom(const rerun_t *r) {
  for (size_t i = 0; i < r->count; i++) {
    const vcs_place_t *flip = &r->flips[i];
    if (flip->kind == VCS_PLACE_ROM) vcs_runner_flip_rom(r->runner, flip);
  }
}

static void flip_state(const rerun_t *r) {
  uint8_t *bytes = (uint8_t *)r->runner->m;
  for (size_t i = 0; i < r->count; i++) {
    const vcs_place_t *flip = &r->flips[i];
    if (flip->kind == VCS_PLACE_STATE) bytes[flip->index] ^= (uint8_t)(1u << flip->bit);
  }
}

static vcs_controls_t flipped_controls(const rerun_t *r, int32_t frame) {
  vcs_controls_t controls = r->base->controls[frame];
  for (size_t i = 0; i < r->count; i++) {
    const vcs_place_t *flip = &r->flips[i];
    if (flip->kind == VCS_PLACE_INPUT && flip->frame == frame) vcs_place_flip_input(&controls, flip);
  }
  return controls;
}

/* Horizons up to `frames` show what the base shows, but for the score that was gained before the two met. */
static void show_base(rerun_t *r, int32_t frames, int32_t gained) {
  const vcs_view_t *view = &r->base->view;
  for (; r->horizon < view->horizon_count && view->horizons[r->horizon] <= frames; r->horizon++) {
    vcs_sight_t sight = vcs_base_sight(r->base, r->horizon);
    sight.score = (int32_t)((uint32_t)sight.score + (uint32_t)gained);
    r->see(r->context, r->horizon, &sight);
  }
}

static bool has_rejoined(const rerun_t *r, int32_t after, const vcs_play_t *play, bool draws_all) {
  const vcs_base_t *base = r->base;
  if (r->same_from < 0 || after < r->same_from) return false;
  if (memcmp(play, &base->plays[after], sizeof *play) != 0) return false;
  begin_next(&r->runner->cart, r->runner->m, r->runner->begun);
  if (memcmp(r->runner->begun, begun_after(base, after), vcs_state_size(&base->cart)) != 0) return false;
  return !base->draws_all || !draws_all || equals_kept_frames(base, r->runner->frames, after);
}

/* Runs from some frame on, with the runner's machine. False: a picture needs what was not drawn. */
static bool run_on(rerun_t *r, int32_t first, vcs_play_t play, int32_t score, bool draws_all) {
  const vcs_base_t *base = r->base;
  const vcs_view_t *view = &base->view;
  vcs_runner_t *runner = r->runner;
  for (int32_t i = first; i < base->run.frames && r->horizon < view->horizon_count; i++) {
    const bool looks = view->horizons[r->horizon] == i + 1, partial = runner->m->partial;
    const bool draws = view->pictures && (draws_all || looks);
    const vcs_controls_t controls = flipped_controls(r, i);
    const bool moved =
        play_frame(base, &runner->cart, runner->m, &controls, &play, &score, draws ? runner->frames : NULL);
    runner->frames_run++;
    if (view->pictures && !draws_all && runner->m->partial) return false; /* it probably stays so */
    if (looks) { /* a frame that ends like the base's may have drawn something else */
      if (view->pictures && !draws_all && (!moved || partial || !covers(&runner->cart, runner->m))) return false;
      const vcs_sight_t sight = {
          vcs_picture(runner->m, runner->frames), runner->m->ram, score, play.lives, NULL, runner->m};
      r->see(r->context, r->horizon++, &sight);
    }
    if (has_rejoined(r, i + 1, &play, draws_all)) {
      show_base(r, base->run.frames, (int32_t)((uint32_t)score - (uint32_t)base->scores[i + 1]));
      return true;
    }
  }
  return true;
}

/* The same from the first flip on. */
static bool rerun_pass(rerun_t *r, bool draws_all) {
  const vcs_base_t *base = r->base;
  vcs_runner_t *runner = r->runner;
  int32_t first = r->first;
  if (draws_all) { /* buffers as they were before the first flip, or from the beginning on */
    if (!base->draws_all) first = 0;
    if (base->draws_all) {
      restore_frames(base, runner->frames, first);
    } else {
      start_frames(base, runner->frames);
    }
  }
  memcpy(runner->m, state_after(base, first), vcs_state_size(&base->cart));
  flip_state(r);
  return run_on(r, first, base->plays[first], base->scores[first], draws_all);
}

bool vcs_rerun(const vcs_base_t *base, vcs_runner_t *runner, const vcs_place_t *flips, size_t count, vcs_see_t see,
               void *context) {
  rerun_t r = {.base = base, .runner = runner, .flips = flips, .count = count, .see = see, .context = context};
  find_flips(&r);
  if (is_unread(&r)) {
    show_base(&r, base->run.frames, 0);
    return true;
  }
  memcpy(runner->m, base->states, vcs_state_size(&base->cart));
  flip_state(&r);
  if (!vcs_machine_is_possible(&base->cart, runner->m)) return false;
  show_base(&r, r.first, 0);
  flip_rom(&r);
  if (!rerun_pass(&r, base->draws_all)) rerun_pass(&r, true);
  flip_rom(&r);
  return true;
}

void vcs_rerun_on(const vcs_base_t *base, vcs_runner_t *runner, const vcs_place_t *flips, size_t count,
                  const vcs_rerun_part_t *part, vcs_see_t see, void *context) {
  const vcs_view_t *view = &base->view;
  rerun_t r = {.base = base, .runner = runner, .flips = flips, .count = count, .see = see, .context = context};
  find_flips(&r);
  while (r.horizon < view->horizon_count && view->horizons[r.horizon] <= part->frames) r.horizon++;
  memcpy(runner->m, part->m, vcs_state_size(&base->cart));
  flip_rom(&r);
  if (!run_on(&r, part->frames, part->play, part->score, false)) rerun_pass(&r, true);
  flip_rom(&r);
}
