/* target.c: outputs by name, and what a run ends with (study.h). */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cart.h"
#include "grad/rerun.h"
#include "host/env.h"
#include "study/internal.h"

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* "9C" or "9C.3": a number and perhaps a bit (else -1). */
static bool read_byte(const char *text, long *number, int *bit) {
  char *end;
  *bit = -1;
  if (!isxdigit((unsigned char)*text)) return false;
  *number = strtol(text, &end, 16);
  if (!*end) return true;
  if (*end != '.' || end[1] < '0' || end[1] > '7' || end[2]) return false;
  *bit = end[1] - '0';
  return true;
}

static const char *after(const char *text, const char *start) {
  const size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : NULL;
}

static bool read_pixels(const char *text, int height, vcs_scalar_t *target) {
  int n[4];
  const char *rest;
  *target = (vcs_scalar_t){.kind = VCS_SCALAR_PIXELS, .width = VCS_WIDTH, .height = height, .bit = -1};
  if (strcmp(text, "screen") == 0) return true;
  if ((rest = after(text, "pixel:")) && vcs_parse_counts(rest, n, 2)) {
    *target = (vcs_scalar_t){VCS_SCALAR_PIXELS, n[0], n[1], 1, 1, NULL, 0, -1};
    return true;
  }
  if ((rest = after(text, "region:")) && vcs_parse_counts(rest, n, 4)) {
    *target = (vcs_scalar_t){VCS_SCALAR_PIXELS, n[0], n[1], n[2], n[3], NULL, 0, -1};
    return true;
  }
  return false;
}

vcs_status_t vcs_target_parse(const char *text, const vcs_cart_t *cart, const vcs_env_t *env, const float *values,
                              vcs_scalar_t *target, vcs_error_t *error) {
  const int height = cart->frame_height;
  const char *rest = after(text, "ram:");
  long address;
  int bit;
  if (read_pixels(text, height, target)) {
    target->values = values;
    const bool inside = target->width > 0 && target->height > 0 && target->x + target->width <= VCS_WIDTH &&
                        target->y + target->height <= height;
    if (inside) return VCS_OK;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "the output %.60s is outside the picture: X (the column) is 0 to %d, Y (the row) 0 to %d",
                          text, VCS_WIDTH - 1, height - 1);
  }
  if (rest && read_byte(rest, &address, &bit) && address >= 0x80 && address <= 0xFF) {
    *target = (vcs_scalar_t){.kind = VCS_SCALAR_RAM, .index = (int32_t)address - 0x80, .bit = bit};
    return VCS_OK;
  }
  if (strcmp(text, "score") == 0) {
    *target = (vcs_scalar_t){.kind = VCS_SCALAR_SCORE, .bit = -1};
    if (env && env->game) return VCS_OK;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the output score needs a game whose rules are known");
  }
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "an output is pixel:X,Y, region:X,Y,WIDTH,HEIGHT, screen, ram:9C, ram:9C.3 or score, "
                        "not '%.60s'",
                        text);
}

/* ---- The end of a run --------------------------------------------------------------------------------------- */

void vcs_controls_flip(vcs_controls_t *controls, uint32_t input) {
  if (input >= VCS_INPUT_RESET) {
    controls->console ^= (uint8_t)(1 << (input - VCS_INPUT_RESET));
  } else {
    controls->held[input / VCS_INPUT_SECOND_PLAYER] ^= (uint8_t)(1 << input % VCS_INPUT_SECOND_PLAYER);
  }
}

/* Runs all frames on `cart`: the cartridge of the run, or one with a changed image. */
static void run_to_end(const vcs_run_t *run, const vcs_env_t *env, const vcs_cart_t *cart, const vcs_place_t *flipped,
                       vcs_ending_t *ending) {
  vcs_play_t play = {0};
  if (env) play = env->play;
  for (int32_t f = 0; f < run->frames; f++) {
    vcs_controls_t controls = run->controls[f];
    if (flipped && flipped->kind == VCS_PLACE_INPUT && flipped->frame == f)
      vcs_controls_flip(&controls, flipped->index);
    vcs_control(cart, ending->machine, &controls);
    vcs_frame(cart, ending->machine, ending->frames);
    if (!env || !env->game) continue;
    vcs_game_code_step(env->code, &play, ending->machine->ram, ending->machine->cart_ram);
    ending->rewards[f] = play.reward;
    ending->score += play.reward;
  }
  ending->picture = vcs_picture(ending->machine, ending->frames);
}

vcs_status_t vcs_ending_make(const vcs_run_t *run, const vcs_env_t *env, const vcs_place_t *flipped,
                             vcs_ending_t *ending, vcs_error_t *error) {
  *ending = (vcs_ending_t){0};
  vcs_status_t status = vcs_run_check(run, NULL, 0, env, error);
  if (status == VCS_OK && flipped) status = vcs_place_check(run, flipped, error);
  if (status) return status;
  vcs_cart_t cart = *run->cart;
  const uint8_t bit = flipped ? (uint8_t)(1 << flipped->bit) : 0;
  const bool in_rom = flipped && flipped->kind == VCS_PLACE_ROM;
  uint8_t *rom = in_rom ? malloc(cart.rom_size) : NULL;
  *ending = (vcs_ending_t){.frames = calloc(2, VCS_FRAME_BYTES),
                           .machine = calloc(1, sizeof(vcs_t)),
                           .rewards = calloc((size_t)run->frames, sizeof *ending->rewards)};
  if (!ending->frames || !ending->machine || !ending->rewards || (in_rom && !rom)) {
    free(rom);
    vcs_ending_free(ending);
    return vcs_no_memory(error);
  }
  if (run->picture) memcpy(ending->frames, run->picture, 2 * VCS_FRAME_BYTES);
  memcpy(ending->machine, run->start, vcs_state_size(run->cart));
  if (flipped && flipped->kind == VCS_PLACE_STATE) ((uint8_t *)ending->machine)[flipped->index] ^= bit;
  if (rom) {
    memcpy(rom, cart.rom, cart.rom_size);
    rom[flipped->index] ^= bit;
    cart.rom = rom;
    cart.code = NULL; /* the decoded program belongs to the unchanged image */
  }
  run_to_end(run, env, &cart, flipped, ending);
  free(rom);
  return VCS_OK;
}

void vcs_ending_free(vcs_ending_t *ending) {
  free(ending->frames);
  free(ending->machine);
  free(ending->rewards);
  *ending = (vcs_ending_t){0};
}

/* ---- Targets ------------------------------------------------------------------------------------------------ */

double vcs_target_value(const vcs_scalar_t *target, const vcs_ending_t *ending) {
  double sum = 0;
  if (target->kind == VCS_SCALAR_SCORE) return (double)ending->score;
  if (target->kind == VCS_SCALAR_RAM) {
    const uint8_t byte = ending->machine->ram[target->index];
    return target->bit < 0 ? byte : byte >> target->bit & 1;
  }
  for (int y = target->y; y < target->y + target->height; y++) {
    for (int x = target->x; x < target->x + target->width; x++) {
      const uint8_t index = ending->picture[VCS_WIDTH * y + x];
      sum += target->values ? (double)target->values[index] : index;
    }
  }
  return sum;
}

void vcs_target_adjoint(const vcs_scalar_t *target, int32_t frames, float *pixels, float *state, float *rewards) {
  switch (target->kind) {
    case VCS_SCALAR_PIXELS:
      for (int y = target->y; y < target->y + target->height; y++) {
        for (int x = target->x; x < target->x + target->width; x++) pixels[VCS_WIDTH * y + x] += 1;
      }
      break;
    case VCS_SCALAR_RAM:
      for (int bit = 0; bit < 8; bit++) {
        if (target->bit >= 0 && target->bit != bit) continue;
        state[8 * (offsetof(vcs_t, ram) + (size_t)target->index) + (size_t)bit] +=
            target->bit < 0 ? (float)(1 << bit) : 1;
      }
      break;
    default:
      for (int32_t f = 0; f < frames; f++) rewards[f] += 1;
      break;
  }
}

double vcs_target_truth(const vcs_scalar_t *target, const vcs_run_t *run, const vcs_env_t *env,
                        const vcs_place_t *place, double value) {
  vcs_ending_t ending;
  if (vcs_ending_make(run, env, place, &ending, NULL)) return NAN;
  const double moved = vcs_target_value(target, &ending) - value;
  vcs_ending_free(&ending);
  return (vcs_run_bit(run, place) == 1 ? -moved : moved) + 0.0; /* no minus zero */
}
