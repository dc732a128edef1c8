/* target.c: what is differentiated, by name (target.h). */
#include "study/target.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cart.h"
#include "host/env.h"

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* Whole numbers with commas between them; whether there are just so many, none of them negative. */
static bool read_numbers(const char *text, int *numbers, int count) {
  for (int i = 0; i < count; i++) {
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    const long number = strtol(text, &end, 10);
    if (number > 100000 || *end != (i + 1 < count ? ',' : 0)) return false;
    numbers[i] = (int)number;
    text = end + 1;
  }
  return true;
}

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

static bool read_pixels(const char *text, int height, vcs_target_t *target) {
  int n[4];
  const char *rest;
  *target = (vcs_target_t){VCS_TARGET_PIXELS, 0, 0, VCS_WIDTH, height, 0, -1};
  if (strcmp(text, "screen") == 0) return true;
  if ((rest = after(text, "pixel:")) && read_numbers(rest, n, 2)) {
    *target = (vcs_target_t){VCS_TARGET_PIXELS, n[1], n[0], 1, 1, 0, -1};
    return true;
  }
  if ((rest = after(text, "region:")) && read_numbers(rest, n, 4)) {
    *target = (vcs_target_t){VCS_TARGET_PIXELS, n[0], n[1], n[2], n[3], 0, -1};
    return true;
  }
  return false;
}

vcs_status_t vcs_target_read(const char *text, const vcs_rom_t *rom, const vcs_env_t *env, vcs_target_t *target,
                             vcs_error_t *error) {
  const int height = rom->cart->frame_height;
  const char *rest = after(text, "ram:");
  long address;
  int bit;
  if (read_pixels(text, height, target)) {
    const bool inside = target->width > 0 && target->height > 0 && target->x + target->width <= VCS_WIDTH &&
                        target->y + target->height <= height;
    if (inside) return VCS_OK;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "--output %.60s is outside the picture: rows 0 to %d, columns 0 to %d (pixel:ROW,COLUMN)",
                          text, height - 1, VCS_WIDTH - 1);
  }
  if (rest && read_byte(rest, &address, &bit) && address >= 0x80 && address <= 0xFF) {
    *target = (vcs_target_t){VCS_TARGET_RAM, 0, 0, 0, 0, (int)address - 0x80, bit};
    return VCS_OK;
  }
  if (strcmp(text, "score") == 0) {
    *target = (vcs_target_t){.kind = VCS_TARGET_SCORE, .bit = -1};
    if (env->game) return VCS_OK;
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--output score: no rules are known for %.100s", rom->name);
  }
  return vcs_error_fill(
      error, VCS_BAD_ARGUMENT,
      "--output takes pixel:ROW,COLUMN, region:X,Y,WIDTH,HEIGHT, screen, ram:9C, ram:9C.3 or score, not '%.60s'", text);
}

vcs_status_t vcs_place_read_bit(const char *text, const vcs_setup_t *setup, vcs_place_t *place, vcs_error_t *error) {
  const vcs_cart_t *cart = setup->rom.cart;
  const char *ram = after(text, "ram:"), *rom = after(text, "rom:");
  const bool offset = rom && *rom == '@';
  long number;
  int bit;
  if (ram && read_byte(ram, &number, &bit) && bit >= 0 && number >= 0x80 && number <= 0xFF) {
    *place = (vcs_place_t){VCS_PLACE_STATE, (uint8_t)bit, 0, (uint32_t)(offsetof(vcs_t, ram) + (size_t)number - 0x80)};
    return VCS_OK;
  }
  if (rom && read_byte(rom + offset, &number, &bit) && bit >= 0) {
    if (!offset) {
      number = number & 0x1000 && number <= 0xFFFF ? vcs_cart_read_place(cart, setup->run.start, (uint16_t)number) : -1;
    }
    if (number >= 0 && number < (long)cart->rom_size) {
      *place = (vcs_place_t){VCS_PLACE_ROM, (uint8_t)bit, 0, (uint32_t)number};
      return VCS_OK;
    }
  }
  return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                        "--bit takes ram:9C.3, rom:F123.4 or rom:@1F0.4 (an offset in the image), not '%.60s'", text);
}

vcs_status_t vcs_place_read_input(const char *text, const vcs_setup_t *setup, vcs_place_t *place, vcs_error_t *error) {
  char name[32], names[128];
  const size_t length = strcspn(text, "@");
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), text);
  const int input = vcs_input_by_name(name);
  int frame = 0;
  if (input < 0 || (text[length] && !read_numbers(text + length + 1, &frame, 1))) {
    vcs_input_names(names, sizeof names);
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--input takes one of %s, as right or right@2, not '%.40s'", names,
                          text);
  }
  if (frame >= setup->run.frames) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--input %.40s: the run has the frames 0 to %d", text,
                          (int)setup->run.frames - 1);
  }
  *place = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)frame, (uint32_t)input};
  return VCS_OK;
}

/* ---- The end of a run --------------------------------------------------------------------------------------- */

bool vcs_place_set(const vcs_setup_t *setup, const vcs_place_t *place) {
  if (place->kind == VCS_PLACE_INPUT) return false; /* nobody does anything */
  const uint8_t *bytes = place->kind == VCS_PLACE_ROM ? setup->rom.cart->rom : (const uint8_t *)setup->run.start;
  return bytes[place->index] >> place->bit & 1;
}

static void hold(vcs_controls_t *controls, uint32_t input) {
  if (input >= VCS_INPUT_RESET) {
    controls->console |= (uint8_t)(1 << (input - VCS_INPUT_RESET));
  } else {
    controls->held[input / VCS_INPUT_SECOND_PLAYER] |= (uint8_t)(1 << input % VCS_INPUT_SECOND_PLAYER);
  }
}

/* All frames, on `cart`: the cartridge of the setup, or one with another ROM. */
static void run_to_end(const vcs_setup_t *setup, const vcs_cart_t *cart, const vcs_place_t *flipped,
                       vcs_ending_t *ending) {
  const vcs_run_t *run = &setup->run;
  const vcs_env_t *env = setup->env;
  for (int32_t f = 0; f < run->frames; f++) {
    vcs_controls_t controls = run->controls[f];
    if (flipped && flipped->kind == VCS_PLACE_INPUT && flipped->frame == f) hold(&controls, flipped->index);
    vcs_control(cart, ending->machine, &controls);
    vcs_frame(cart, ending->machine, ending->frames);
    if (env->game) vcs_game_code_step(env->code, &ending->play, ending->machine->ram, ending->machine->cart_ram);
    ending->reward[f] = ending->play.reward;
    ending->rewards += ending->play.reward;
  }
  ending->picture = vcs_picture(ending->machine, ending->frames);
}

vcs_status_t vcs_ending_make(const vcs_setup_t *setup, const vcs_place_t *flipped, vcs_ending_t *ending,
                             vcs_error_t *error) {
  const vcs_run_t *run = &setup->run;
  vcs_cart_t cart = *run->cart;
  const uint8_t bit = flipped ? (uint8_t)(1 << flipped->bit) : 0;
  const bool in_rom = flipped && flipped->kind == VCS_PLACE_ROM;
  uint8_t *rom = in_rom ? malloc(cart.rom_size) : NULL;
  *ending = (vcs_ending_t){.frames = malloc(2 * VCS_FRAME_BYTES),
                           .machine = calloc(1, sizeof(vcs_t)),
                           .play = setup->env->play,
                           .reward = calloc((size_t)run->frames, sizeof *ending->reward)};
  if (!ending->frames || !ending->machine || !ending->reward || (in_rom && !rom)) {
    free(rom);
    vcs_ending_free(ending);
    vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
    return VCS_NO_MEMORY;
  }
  memcpy(ending->frames, run->picture, 2 * VCS_FRAME_BYTES);
  memcpy(ending->machine, run->start, vcs_state_size(run->cart));
  if (flipped && flipped->kind == VCS_PLACE_STATE) ((uint8_t *)ending->machine)[flipped->index] ^= bit;
  if (rom) {
    memcpy(rom, cart.rom, cart.rom_size);
    rom[flipped->index] ^= bit;
    cart.rom = rom;
    cart.code = NULL; /* a byte changes: nothing is decoded ahead */
  }
  run_to_end(setup, &cart, flipped, ending);
  free(rom);
  return VCS_OK;
}

void vcs_ending_free(vcs_ending_t *ending) {
  free(ending->frames);
  free(ending->machine);
  free(ending->reward);
  *ending = (vcs_ending_t){0};
}

/* ---- Outputs ------------------------------------------------------------------------------------------------ */

double vcs_target_value(const vcs_target_t *target, const vcs_ending_t *ending, const float scale[256]) {
  double sum = 0;
  if (target->kind == VCS_TARGET_SCORE) return (double)ending->rewards;
  if (target->kind == VCS_TARGET_RAM) {
    const uint8_t byte = ending->machine->ram[target->index];
    return target->bit < 0 ? byte : byte >> target->bit & 1;
  }
  for (int y = target->y; y < target->y + target->height; y++) {
    for (int x = target->x; x < target->x + target->width; x++)
      sum += (double)scale[ending->picture[VCS_WIDTH * y + x]];
  }
  return sum;
}

void vcs_target_adjoint(const vcs_target_t *target, int32_t frames, float *pixels, float *state, float *rewards) {
  switch (target->kind) {
    case VCS_TARGET_PIXELS:
      for (int y = target->y; y < target->y + target->height; y++) {
        for (int x = target->x; x < target->x + target->width; x++) pixels[VCS_WIDTH * y + x] = 1;
      }
      break;
    case VCS_TARGET_RAM:
      for (int bit = 0; bit < 8; bit++) {
        if (target->bit >= 0 && target->bit != bit) continue;
        state[8 * (offsetof(vcs_t, ram) + (size_t)target->index) + (size_t)bit] =
            target->bit < 0 ? (float)(1 << bit) : 1;
      }
      break;
    case VCS_TARGET_SCORE:
      for (int32_t f = 0; f < frames; f++) rewards[f] = 1;
      break;
  }
}

double vcs_target_truth(const vcs_target_t *target, const vcs_setup_t *setup, const vcs_place_t *place,
                        const float scale[256], double value) {
  vcs_ending_t ending;
  if (vcs_ending_make(setup, place, &ending, NULL)) return NAN;
  const double moved = vcs_target_value(target, &ending, scale) - value;
  vcs_ending_free(&ending);
  return (vcs_place_set(setup, place) ? -moved : moved) + 0.0; /* no minus zero */
}
