/* virtual_pads.c: game pads that exist in software only, for LD_PRELOAD under `diffvcs play`.
 *
 * SDL can have joysticks without hardware. This library attaches them and moves them between two frames of the
 * program, which then sees what it would see of real ones: devices that come and go, buttons and axes. PADS lists what
 * happens, in the order of frames: "10 0 plug; 20 0 button 11 1; 90 0 unplug" (frame, pad, what, number, value).
 * Buttons and axes have SDL's numbers for game controllers (11 to 14: up, down, left, right; axis 0 goes across). */
#define _GNU_SOURCE
#include <SDL.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PADS = 4 };

static SDL_Joystick *pads[PADS];
static SDL_JoystickID ids[PADS];

static void give_up(const char *what) {
  fprintf(stderr, "virtual_pads: %s: %s\n", what, SDL_GetError());
  exit(3);
}

static int index_of(SDL_JoystickID id) {
  for (int i = 0; i < SDL_NumJoysticks(); i++) {
    if (SDL_JoystickGetDeviceInstanceID(i) == id) return i;
  }
  return -1;
}

static void happen(int pad, const char *what, int number, int value) {
  if (strcmp(what, "plug") == 0) {
    const int index = SDL_JoystickAttachVirtual(SDL_JOYSTICK_TYPE_GAMECONTROLLER, SDL_CONTROLLER_AXIS_MAX,
                                                SDL_CONTROLLER_BUTTON_DPAD_RIGHT + 1, 0);
    if (index < 0 || !(pads[pad] = SDL_JoystickOpen(index))) give_up("plug");
    ids[pad] = SDL_JoystickGetDeviceInstanceID(index);
  } else if (strcmp(what, "unplug") == 0) {
    SDL_JoystickClose(pads[pad]);
    if (SDL_JoystickDetachVirtual(index_of(ids[pad]))) give_up("unplug");
  } else if (strcmp(what, "button") == 0) {
    if (SDL_JoystickSetVirtualButton(pads[pad], number, (Uint8)value)) give_up("button");
  } else if (strcmp(what, "axis") == 0) {
    if (SDL_JoystickSetVirtualAxis(pads[pad], number, (Sint16)value)) give_up("axis");
  } else {
    give_up(what);
  }
}

/* The program polls until no event is left, once a frame: what happens in a frame happens before its first poll. */
int SDL_PollEvent(SDL_Event *event) {
  static int (*real)(SDL_Event *);
  static int frame, begun;
  static const char *next;
  if (!real) {
    real = (int (*)(SDL_Event *))dlsym(RTLD_NEXT, "SDL_PollEvent");
    next = getenv("PADS");
  }
  while (!begun && next && *next) {
    int at = 0, pad = 0, number = 0, value = 0, read = 0;
    char what[16] = "";
    if (sscanf(next, "%d %d %15[a-z] %d %d", &at, &pad, what, &number, &value) < 3 || pad < 0 || pad >= PADS) {
      give_up(next);
    }
    if (at > frame) break;
    happen(pad, what, number, value);
    read = (int)strcspn(next, ";");
    next += next[read] ? read + 1 : read;
  }
  begun = real(event);
  frame += !begun;
  return begun;
}
