/* play.c: `diffvcs play GAME`: a window to play in, and to look into the machine while it runs.
 *
 * The game is in play_run.c; this file has the window, the keys and the overlays. One table lists the keys that act
 * once, another the keys that hold controls; the help (F1) is made from both. Below the picture is a panel with a line
 * for messages, the legend of the overlay, and the map of RAM, so that the field stays free. --script feeds the same
 * keys from a file, by frame, for tests.
 *
 * In a program built without SDL2 this command reports that and fails.
 */
#include "cli/play.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "plot/map.h"
#include "core/state.h"
#include "host/palette.h"
#include "host/picture.h"
#include "host/progress.h"
#include "plot/font.h"

static const char command[] = "diffvcs play";
static const vcs_usage_t usage = {
    command,
    "Plays a game in a window. F1 shows all keys. Arrows and space are the left stick, WASD and f the right one; game "
    "pads work too; sticks turn paddles, and so does the mouse; its left button fires, its right button explains the "
    "pixel under it (explain/explain.html). F2 RESET, F9 SELECT, F3 F4 difficulties, F5 colour. p pauses, n steps a "
    "frame, backspace (held) rewinds up to ten minutes, tab (held) is fast forward. F6 saves, F8 loads, F7 takes the "
    "next slot. F12 is a screenshot, F10 one of the window with its overlays, F11 begins and ends a recording. o "
    "shows, in turn, objects, RAM and the gradient of the screen by the stick. Escape quits." VCS_ROMS_NOTE,
    "diffvcs play demo\n"
    "diffvcs play pong --zoom 3\n"
    "diffvcs play space_invaders --patch heart/patch.ips\n"
    "xvfb-run diffvcs play demo --frames 600 --fast\n"};

typedef struct {
  vcs_cli_setup_t setup;
  int64_t zoom, frames;
  const char *out, *script;
  bool silent, fast;
} options_t;

#ifdef DIFFVCS_SDL
#include <SDL.h>

enum {
  REWIND_STEP = 2,      /* frames back for each frame of time while the key is down */
  GRADIENT_HORIZON = 4, /* frames from the stick to the picture */
  GRADIENT_EVERY = 7,   /* frames between two looks at it: odd, for games that read the stick in every second frame */
  EXPLAIN_HORIZON = 8,
  SOUND_AHEAD = 6,      /* frames of sound that may wait to be played */
  PADDLE_LEFT = 790196, /* resistances at the ends of the window */
  PADDLE_RIGHT = 27450,
  AXIS_HELD = 16000, /* a game pad's stick is held from here on, of 32,767 */
  SCRIPT_MAX = 4096, /* lines */
  SCRIPT_BYTES = 1 << 20
};

/* The window in units of its own, which SDL scales: two for a pixel's width, one for its height. */
enum { WIDTH = 2 * VCS_WIDTH, PANEL = 58, LINE = 9, MESSAGE_FRAMES = 180, MARK_FRAMES = 120 };
enum { INK = 0xE8E8EE, QUIET = 0xA0A0AA, PAPER = 0x15151A, MARKED = 0xFF6BB5 };

enum { OVERLAY_NONE, OVERLAY_BOXES, OVERLAY_RAM, OVERLAY_GRADIENT, OVERLAYS };
static const char *const overlay_names[OVERLAYS] = {"", "objects", "RAM", "gradient of RIGHT"};
static const uint32_t object_colours[VCS_OBJECT_COUNT] = {0xFF5050, 0x50A0FF, 0xFFB030, 0x60E0E0, 0xFFFFFF, 0x70D070};

/* A line of the script: before a frame a key is pressed or let go, or a pixel is clicked. */
typedef struct {
  int64_t frame;
  SDL_Keycode key; /* SDLK_UNKNOWN: a click with the right button on the pixel x,y */
  bool down;
  int x, y;
} cue_t;

typedef struct {
  const options_t *options;
  vcs_game_run_t run;
  SDL_Window *window;
  SDL_Renderer *renderer;
  SDL_Texture *texture;
  SDL_AudioDeviceID speaker;
  SDL_GameController *pads[2];
  vcs_controls_t controls;
  uint32_t *pixels;      /* ARGB, as shown */
  float *gradient;       /* [height * 160] */
  vcs_object_t *objects; /* of the last picture, when they are shown */
  int32_t object_count;
  vcs_gif_t *recording;
  cue_t *cues;
  int cue_count, cue_next, slot, shots, recordings, overlay;
  int64_t time; /* frames of time, played or not */
  bool paused, rewinding, turbo, step, quits, dirty, helping;
  bool two_paddles;                 /* the right stick has turned the second one */
  char message[VCS_PATH_SIZE + 64]; /* the last one, shown until `message_end` */
  int64_t message_end;
  int mark_x, mark_y; /* the pixel that was explained, framed until `mark_end` */
  int64_t mark_end;
} player_t;

static void draw(player_t *p);
static void draw_window(player_t *p);

/* Shows a message in the window for some seconds. */
static void show(player_t *p, const char *format, const char *what) {
  snprintf(p->message, sizeof p->message, format, what);
  p->message_end = p->time + MESSAGE_FRAMES;
}

/* The same, and to the terminal: what was written where. */
static void say(player_t *p, const char *format, const char *what) {
  show(p, format, what);
  printf("%s\n", p->message);
  fflush(stdout);
}

static void complain(player_t *p, const vcs_error_t *error) {
  show(p, "%s", error->message);
  vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error->message);
}

static const char *file_name(const player_t *p, char path[VCS_PATH_SIZE], const char *what, int number,
                             const char *ending) {
  char name[320];
  snprintf(name, sizeof name, "%.255s-%s%d%s", p->run.rom.name, what, number, ending);
  if (!vcs_path_join(path, VCS_PATH_SIZE, p->options->out, name)) snprintf(path, VCS_PATH_SIZE, "%s", name);
  return path;
}

/* ---- Keys that act once when pressed ------------------------------------------------------------------------------
 */

static void pause_game(player_t *p) {
  p->paused = !p->paused;
  show(p, "%s", p->paused ? "paused: p goes on, n steps a frame" : "goes on");
}
static void toggle_help(player_t *p) { p->helping = !p->helping; }
static void step_frame(player_t *p) { p->paused = p->step = true; }
static void quit(player_t *p) { p->quits = true; }
static void next_overlay(player_t *p) {
  p->overlay = (p->overlay + 1) % OVERLAYS;
  p->dirty = true;
  show(p, p->overlay ? "overlay: %s" : "no overlay%s", overlay_names[p->overlay]);
}

static void next_slot(player_t *p) {
  char text[16];
  p->slot = (p->slot + 1) % 10;
  snprintf(text, sizeof text, "%d", p->slot);
  say(p, "slot %s", text);
}

static void save_slot(player_t *p) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error = {""};
  file_name(p, path, "slot", p->slot, ".sav");
  if (vcs_game_run_save(&p->run, path, &error))
    complain(p, &error);
  else
    say(p, "saved     %s", path);
}

static void load_slot(player_t *p) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error = {""};
  file_name(p, path, "slot", p->slot, ".sav");
  if (vcs_game_run_load(&p->run, path, &error))
    complain(p, &error);
  else
    say(p, "loaded    %s", path);
  p->dirty = true;
}

static void screenshot(player_t *p) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error = {""};
  const vcs_cart_t *cart = p->run.cart;
  file_name(p, path, "shot", p->shots++, ".png");
  const uint8_t *picture = vcs_game_run_picture(&p->run);
  if (vcs_png_write(path, picture, VCS_WIDTH, cart->frame_height, vcs_cart_info(cart)->format, 2, &error))
    complain(p, &error);
  else
    say(p, "wrote     %s", path);
}

/* The window as it is shown. */
static void shoot_window(player_t *p) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error = {""};
  int width = 0, height = 0;
  draw(p);
  SDL_GetRendererOutputSize(p->renderer, &width, &height);
  uint8_t *rgb = malloc((size_t)3 * (size_t)width * (size_t)height);
  file_name(p, path, "window", p->shots++, ".png");
  draw_window(p); /* what is presented may be lost to the reader */
  if (!rgb || SDL_RenderReadPixels(p->renderer, NULL, SDL_PIXELFORMAT_RGB24, rgb, 3 * width)) {
    vcs_error_fill(&error, VCS_BAD_FILE, "the window cannot be read: %s", rgb ? SDL_GetError() : "out of memory");
    complain(p, &error);
  } else if (vcs_png_write_rgb(path, rgb, width, height, 1, &error)) {
    complain(p, &error);
  } else {
    say(p, "wrote     %s", path);
  }
  free(rgb);
}

static void toggle_recording(player_t *p) {
  char path[VCS_PATH_SIZE];
  vcs_error_t error = {""};
  const vcs_cart_t *cart = p->run.cart;
  if (p->recording) {
    if (vcs_gif_close(p->recording, &error))
      complain(p, &error);
    else
      say(p, "recorded  %s", file_name(p, path, "video", p->recordings++, ".gif"));
    p->recording = NULL;
    return;
  }
  file_name(p, path, "video", p->recordings, ".gif");
  if (vcs_gif_open(&p->recording, path, VCS_WIDTH, cart->frame_height, vcs_cart_info(cart)->format, 1, 2, &error)) {
    complain(p, &error);
  } else {
    say(p, "recording %s", path);
  }
}

/* The console's other switches stay where they are put. */
static void flip_switch(player_t *p, uint8_t bit, const char *name) {
  p->run.m->swchb ^= bit;
  show(p, p->run.m->swchb & bit ? "%s switch: A, or colour" : "%s switch: B, or black and white", name);
  vcs_history_changed(p->run.past);
}
static void flip_left(player_t *p) { flip_switch(p, 0x40, "left difficulty"); }
static void flip_right(player_t *p) { flip_switch(p, 0x80, "right difficulty"); }
static void flip_colour(player_t *p) { flip_switch(p, 0x08, "colour"); }

static const struct {
  SDL_Keycode key;
  const char *name, *help;
  void (*act)(player_t *p);
} actions[] = {
    {SDLK_F1, "f1", "this help", toggle_help},
    {SDLK_p, "p", "pause", pause_game},
    {SDLK_n, "n", "one frame", step_frame},
    {SDLK_o, "o", "overlay: objects, RAM, gradient", next_overlay},
    {SDLK_F3, "f3", "left difficulty", flip_left},
    {SDLK_F4, "f4", "right difficulty", flip_right},
    {SDLK_F5, "f5", "colour or black and white", flip_colour},
    {SDLK_F6, "f6", "save", save_slot},
    {SDLK_F7, "f7", "the next slot", next_slot},
    {SDLK_F8, "f8", "load", load_slot},
    {SDLK_F11, "f11", "recording (GIF): start and end", toggle_recording},
    {SDLK_F10, "f10", "screenshot of the whole window", shoot_window},
    {SDLK_F12, "f12", "screenshot", screenshot},
    {SDLK_ESCAPE, "escape", "quit", quit},
};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* ---- Keys that are held ----------------------------------------------------------------------------------------- */

static const struct {
  SDL_Keycode key;
  const char *name;
  uint8_t player, bit; /* player 2: the console */
} holds[] = {
    {SDLK_UP, "up", 0, VCS_HELD_UP},         {SDLK_DOWN, "down", 0, VCS_HELD_DOWN},
    {SDLK_LEFT, "left", 0, VCS_HELD_LEFT},   {SDLK_RIGHT, "right", 0, VCS_HELD_RIGHT},
    {SDLK_SPACE, "space", 0, VCS_HELD_FIRE}, {SDLK_w, "w", 1, VCS_HELD_UP},
    {SDLK_s, "s", 1, VCS_HELD_DOWN},         {SDLK_a, "a", 1, VCS_HELD_LEFT},
    {SDLK_d, "d", 1, VCS_HELD_RIGHT},        {SDLK_f, "f", 1, VCS_HELD_FIRE},
    {SDLK_F9, "f9", 2, VCS_CONSOLE_SELECT},  {SDLK_F2, "f2", 2, VCS_CONSOLE_RESET},
};
enum { HOLDS = sizeof holds / sizeof *holds };

static void set_bit(uint8_t *byte, uint8_t bit, bool on) { *byte = (uint8_t)(on ? *byte | bit : *byte & ~bit); }

static void handle_key(player_t *p, SDL_Keycode key, bool down, bool repeated) {
  if (key == SDLK_BACKSPACE) p->rewinding = down;
  if (key == SDLK_TAB) p->turbo = down;
  for (int i = 0; i < HOLDS; i++) {
    uint8_t *byte = holds[i].player == 2 ? &p->controls.console : &p->controls.held[holds[i].player];
    if (holds[i].key == key) set_bit(byte, holds[i].bit, down);
  }
  for (int i = 0; i < ACTIONS && down && !repeated; i++) {
    if (actions[i].key == key) actions[i].act(p);
  }
}

/* What the player with this game pad holds: the first pad is the left stick, the second one the right stick. */
static uint8_t *held_by(player_t *p, SDL_JoystickID which) {
  return &p->controls.held[SDL_GameControllerFromInstanceID(which) == p->pads[1]];
}

/* A pad takes the first stick that has none; further pads are left alone. */
static void add_pad(player_t *p, int index) {
  for (int i = 0; i < 2; i++) {
    if (p->pads[i]) continue;
    p->pads[i] = SDL_GameControllerOpen(index);
    if (p->pads[i]) show(p, "game pad: %s stick", i ? "right" : "left");
    return;
  }
}

/* A pad that is taken out releases what it held. */
static void remove_pad(player_t *p, SDL_JoystickID which) {
  SDL_GameController *pad = SDL_GameControllerFromInstanceID(which);
  for (int i = 0; i < 2; i++) {
    if (!pad || p->pads[i] != pad) continue;
    p->controls.held[i] = 0;
    SDL_GameControllerClose(pad);
    p->pads[i] = NULL;
    show(p, "game pad of the %s stick removed", i ? "right" : "left");
  }
}

static void handle_button(player_t *p, const SDL_ControllerButtonEvent *event, bool down) {
  static const struct {
    uint8_t button, bit;
  } buttons[] = {{SDL_CONTROLLER_BUTTON_DPAD_UP, VCS_HELD_UP},     {SDL_CONTROLLER_BUTTON_DPAD_DOWN, VCS_HELD_DOWN},
                 {SDL_CONTROLLER_BUTTON_DPAD_LEFT, VCS_HELD_LEFT}, {SDL_CONTROLLER_BUTTON_DPAD_RIGHT, VCS_HELD_RIGHT},
                 {SDL_CONTROLLER_BUTTON_A, VCS_HELD_FIRE},         {SDL_CONTROLLER_BUTTON_B, VCS_HELD_FIRE_2}};
  for (size_t i = 0; i < sizeof buttons / sizeof *buttons; i++) {
    if (buttons[i].button == event->button) set_bit(held_by(p, event->which), buttons[i].bit, down);
  }
}

static void handle_axis(player_t *p, const SDL_ControllerAxisEvent *event) {
  const bool across = event->axis == SDL_CONTROLLER_AXIS_LEFTX;
  if (!across && event->axis != SDL_CONTROLLER_AXIS_LEFTY) return;
  uint8_t *held = held_by(p, event->which);
  set_bit(held, across ? VCS_HELD_LEFT : VCS_HELD_UP, event->value < -AXIS_HELD);
  set_bit(held, across ? VCS_HELD_RIGHT : VCS_HELD_DOWN, event->value > AXIS_HELD);
}

/* ---- Paddles ------------------------------------------------------------------------------------------------------
 *
 * Two players of a game with paddles hold the two paddles of the left port. The mouse and the left stick turn the first
 * one, and the second one with it, until the right stick is used: games for one player read either of them. */

static int32_t in_window(int32_t resistance) {
  return resistance > PADDLE_LEFT ? PADDLE_LEFT : resistance < PADDLE_RIGHT ? PADDLE_RIGHT : resistance;
}

static void turn_first(player_t *p, int32_t resistance) {
  p->controls.paddle[0] = in_window(resistance);
  if (!p->two_paddles) p->controls.paddle[1] = p->controls.paddle[0];
}

/* x is in the window's units. */
static void turn_by_mouse(player_t *p, int x) {
  const int64_t span = PADDLE_LEFT - PADDLE_RIGHT;
  turn_first(p, (int32_t)(PADDLE_LEFT - span * x / WIDTH));
}

static int32_t turn_of(uint8_t held) {
  return VCS_PADDLE_STEP * (((held & VCS_HELD_LEFT) != 0) - ((held & VCS_HELD_RIGHT) != 0));
}

/* The controls of the next frame: on a port with paddles, sticks turn them and fire presses their buttons. */
static vcs_controls_t next_controls(player_t *p) {
  if (vcs_cart_info(p->run.cart)->left != VCS_CONTROLLER_PADDLES) return p->controls;
  const uint8_t *held = p->controls.held;
  const int32_t first = turn_of(held[0]), second = turn_of(held[1]);
  p->two_paddles = p->two_paddles || second;
  if (first) turn_first(p, p->controls.paddle[0] + first);
  if (second) p->controls.paddle[1] = in_window(p->controls.paddle[1] + second);
  vcs_controls_t controls = p->controls;
  controls.held[0] = (uint8_t)(held[0] & (VCS_HELD_FIRE | VCS_HELD_FIRE_2));
  if (held[1] & VCS_HELD_FIRE) controls.held[0] |= VCS_HELD_FIRE_2;
  controls.held[1] = 0;
  return controls;
}

/* ---- The mouse: why ---------------------------------------------------------------------------------------------- */

static void explain_click(player_t *p, int x, int y) {
  static vcs_explanation_t explanation;
  char target[32], path[VCS_PATH_SIZE];
  vcs_setup_t setup;
  vcs_error_t error = {""};
  if (x < 0 || x >= WIDTH || y < 0 || y >= p->run.cart->frame_height) return;
  p->mark_x = x / 2;
  p->mark_y = y;
  p->mark_end = p->time + MARK_FRAMES;
  snprintf(target, sizeof target, "pixel:%d,%d", p->mark_x, p->mark_y);
  const vcs_explain_options_t options = {.target = target};
  vcs_status_t status = vcs_history_setup(p->run.past, p->run.cart, p->run.frame, EXPLAIN_HORIZON, &setup, &error);
  if (status) return complain(p, &error);
  say(p, "explaining %s ...", target);
  draw(p); /* the message appears before the work */
  status = vcs_explain(&setup.run, &options, &explanation, &error);
  if (status == VCS_OK && vcs_path_join(path, sizeof path, p->options->out, "explain")) {
    status = vcs_output_directory(command, path, NULL) == VCS_ARGS_GO
                 ? vcs_explain_page(&explanation, p->run.rom.name, setup.frame, path, &error)
                 : vcs_error_fill(&error, VCS_BAD_FILE, "cannot make the directory %.200s", path);
    if (status == VCS_OK && vcs_path_join(path, sizeof path, p->options->out, "explain/explain.html")) {
      say(p, "explained: open %s", path);
    }
  }
  if (status) complain(p, &error);
  vcs_explanation_free(&explanation);
  vcs_setup_free(&setup);
}

static void handle_event(player_t *p, const SDL_Event *event) {
  switch (event->type) {
    case SDL_QUIT:
      p->quits = true;
      break;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
      handle_key(p, event->key.keysym.sym, event->type == SDL_KEYDOWN, event->key.repeat);
      break;
    case SDL_CONTROLLERDEVICEADDED: /* also for each pad that is there at the start */
      add_pad(p, event->cdevice.which);
      break;
    case SDL_CONTROLLERDEVICEREMOVED:
      remove_pad(p, event->cdevice.which);
      break;
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP:
      handle_button(p, &event->cbutton, event->type == SDL_CONTROLLERBUTTONDOWN);
      break;
    case SDL_CONTROLLERAXISMOTION:
      handle_axis(p, &event->caxis);
      break;
    case SDL_MOUSEMOTION:
      turn_by_mouse(p, event->motion.x);
      break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
      if (event->button.button == SDL_BUTTON_LEFT) {
        set_bit(&p->controls.held[0], VCS_HELD_FIRE, event->type == SDL_MOUSEBUTTONDOWN);
      } else if (event->type == SDL_MOUSEBUTTONDOWN) {
        explain_click(p, event->button.x, event->button.y);
      }
      break;
    default:
      break;
  }
}

/* ---- Drawing ---------------------------------------------------------------------------------------------------- */

static uint32_t mixed(uint32_t under, uint32_t over, int percent) {
  uint32_t result = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int from = (int)(under >> shift & 255), to = (int)(over >> shift & 255);
    result |= (uint32_t)(from + (to - from) * percent / 100) << shift;
  }
  return result;
}

/* A frame around each object, outside it, so that it hides nothing of it; the playfield first, players last. */
static void draw_boxes(player_t *p) {
  for (int kind = VCS_OBJECT_COUNT - 1; kind >= 0; kind--) {
    const uint32_t colour = object_colours[kind];
    SDL_SetRenderDrawColor(p->renderer, (Uint8)(colour >> 16), (Uint8)(colour >> 8), (Uint8)colour, 255);
    for (int32_t i = 0; i < p->object_count; i++) {
      const vcs_object_t *o = &p->objects[i];
      const SDL_Rect box = {2 * o->seen_x - 1, o->seen_y - 1, 2 * o->seen_w + 2, o->seen_h + 2};
      if (o->kind == kind) SDL_RenderDrawRect(p->renderer, &box);
    }
  }
}

static bool is_zero(const player_t *p) {
  const size_t count = (size_t)VCS_WIDTH * (size_t)p->run.cart->frame_height;
  size_t i = 0;
  while (i < count && p->gradient[i] == 0) i++;
  return i == count;
}

static void draw_gradient(player_t *p) {
  const size_t count = (size_t)VCS_WIDTH * (size_t)p->run.cart->frame_height;
  for (size_t i = 0; i < count; i++) {
    p->pixels[i] = mixed(p->pixels[i], 0, 60);
    if (p->gradient[i] != 0) p->pixels[i] = p->gradient[i] > 0 ? 0xFF8C1E : 0x3C96FF;
  }
}

/* Overlays that need the machine's past are made when the picture has changed. */
static void update_overlay(player_t *p) {
  vcs_error_t error = {""};
  if (p->overlay == OVERLAY_BOXES) p->object_count = vcs_game_run_objects(&p->run, p->objects);
  if (p->overlay != OVERLAY_GRADIENT || (!p->paused && p->run.frame % GRADIENT_EVERY)) return;
  const size_t size = (size_t)VCS_WIDTH * (size_t)p->run.cart->frame_height * sizeof *p->gradient;
  if (vcs_game_run_gradient(&p->run, VCS_INPUT_RIGHT, GRADIENT_HORIZON, p->gradient, &error))
    memset(p->gradient, 0, size);
}

static void fill(player_t *p, int x, int y, int width, int height, uint32_t colour) {
  const SDL_Rect rect = {x, y, width, height};
  SDL_SetRenderDrawColor(p->renderer, (Uint8)(colour >> 16), (Uint8)(colour >> 8), (Uint8)colour, 255);
  SDL_RenderFillRect(p->renderer, &rect);
}

/* Writes a text, all of its squares in one call; returns where the next one may begin. */
static int write_text(player_t *p, int x, int y, uint32_t colour, const char *text) {
  enum { LETTERS_MAX = 64 };
  SDL_Rect squares[LETTERS_MAX * VCS_GLYPH_WIDTH * VCS_GLYPH_HEIGHT];
  int count = 0;
  for (int letter = 0; *text && letter < LETTERS_MAX; text++, letter++, x += VCS_GLYPH_ADVANCE) {
    const uint8_t *glyph = vcs_glyph(*text);
    for (int i = 0; i < VCS_GLYPH_WIDTH * VCS_GLYPH_HEIGHT; i++) {
      const int column = i / VCS_GLYPH_HEIGHT, row = i % VCS_GLYPH_HEIGHT;
      if (glyph[column] >> row & 1) squares[count++] = (SDL_Rect){x + column, y + row, 1, 1};
    }
  }
  SDL_SetRenderDrawColor(p->renderer, (Uint8)(colour >> 16), (Uint8)(colour >> 8), (Uint8)colour, 255);
  SDL_RenderFillRects(p->renderer, squares, count);
  return x + VCS_GLYPH_ADVANCE;
}

/* RAM in the panel, 16 cells by 8: gray by value, red where a byte has just changed. */
static void draw_ram(player_t *p, int top) {
  enum { CELL_WIDTH = 8, CELL_HEIGHT = 4, LEFT = WIDTH - 16 * CELL_WIDTH - 4 };
  write_text(p, LEFT - 26, top + 1, QUIET, "$80");
  write_text(p, LEFT - 26, top + 7 * CELL_HEIGHT + 1, QUIET, "$F0");
  for (int i = 0; i < 128; i++) {
    const uint32_t value = (uint32_t)p->run.ram[i] / 3 + 24;
    fill(p, LEFT + i % 16 * CELL_WIDTH, top + i / 16 * CELL_HEIGHT, CELL_WIDTH - 1, CELL_HEIGHT - 1,
         mixed(value << 16 | value << 8 | value, 0xFF3010, 100 * p->run.heat[i] / 255));
  }
}

/* What the overlay's colours mean. */
static void draw_legend(player_t *p, int top) {
  int x = 4;
  switch (p->overlay) {
    case OVERLAY_BOXES:
      for (int i = 0; i < VCS_OBJECT_COUNT; i++) {
        if (i == 3) x = 4, top += LINE;
        x = write_text(p, x, top, object_colours[i], vcs_object_name(i));
      }
      break;
    case OVERLAY_RAM:
      write_text(p, x, top, QUIET, "RAM: light is large,");
      write_text(p, x, top + LINE, 0xFF6040, "red has just changed");
      draw_ram(p, top - LINE);
      break;
    case OVERLAY_GRADIENT:
      write_text(p, x, top, QUIET, "if RIGHT had been held 4 frames ago:");
      if (is_zero(p)) {
        write_text(p, x, top + LINE, QUIET, "no pixel would change (it may not be read then)");
        break;
      }
      x = write_text(p, x, top + LINE, 0xFF8C1E, "orange: a larger colour");
      write_text(p, x, top + LINE, 0x3C96FF, "blue: a smaller one");
      break;
    default:
      write_text(p, x, top, QUIET, "F1 help   o overlays   right click: why this pixel?");
      break;
  }
}

static void draw_panel(player_t *p) {
  char text[128];
  const int top = p->run.cart->frame_height;
  fill(p, 0, top, WIDTH, PANEL, PAPER);
  snprintf(text, sizeof text, "%.20s  frame %" PRId64 "%s%s%s", p->run.rom.name, p->run.frame,
           p->paused ? "  paused" : "", p->rewinding ? "  rewinding" : "", p->recording ? "  recording" : "");
  write_text(p, 4, top + 4, INK, text);
  draw_legend(p, top + 4 + 2 * LINE);
  if (p->time < p->message_end) {
    text[0] = 0;
    snprintf(text, sizeof text, "%.52s", p->message);
    write_text(p, 4, top + 4 + 4 * LINE + 4, MARKED, text);
  }
}

/* All keys, over the dimmed picture. */
static void draw_help(player_t *p) {
  static const char *const more[] = {"arrows, space", "left stick, fire",
                                     "w a s d, f",    "right stick, fire",
                                     "mouse",         "paddle, fire; right: why this pixel?",
                                     "backspace",     "rewind while held",
                                     "tab",           "fast while held",
                                     "f2, f9",        "RESET, SELECT"};
  int y = 8;
  SDL_SetRenderDrawBlendMode(p->renderer, SDL_BLENDMODE_BLEND);
  SDL_SetRenderDrawColor(p->renderer, 0, 0, 0, 215);
  SDL_RenderFillRect(p->renderer, &(SDL_Rect){0, 0, WIDTH, p->run.cart->frame_height});
  for (size_t i = 0; i < sizeof more / sizeof *more; i += 2, y += LINE + 1) {
    write_text(p, 8, y, INK, more[i]);
    write_text(p, 96, y, QUIET, more[i + 1]);
  }
  for (int i = 0; i < ACTIONS; i++, y += LINE + 1) {
    write_text(p, 8, y, INK, actions[i].name);
    write_text(p, 96, y, QUIET, actions[i].help);
  }
}

static void draw_window(player_t *p) {
  const int height = p->run.cart->frame_height;
  SDL_SetRenderDrawColor(p->renderer, 0, 0, 0, 255);
  SDL_RenderClear(p->renderer);
  SDL_RenderCopy(p->renderer, p->texture, NULL, &(SDL_Rect){0, 0, WIDTH, height});
  if (p->overlay == OVERLAY_BOXES) draw_boxes(p);
  if (p->time < p->mark_end) {
    SDL_SetRenderDrawColor(p->renderer, 0xFF, 0x6B, 0xB5, 255);
    SDL_RenderDrawRect(p->renderer, &(SDL_Rect){2 * p->mark_x - 4, p->mark_y - 4, 10, 9});
  }
  draw_panel(p);
  if (p->helping) draw_help(p);
}

static void draw(player_t *p) {
  const vcs_cart_t *cart = p->run.cart;
  const uint32_t *palette = vcs_palette(vcs_cart_info(cart)->format);
  const uint8_t *picture = vcs_game_run_picture(&p->run);
  char title[320];
  if (p->dirty) update_overlay(p);
  p->dirty = false;
  for (int i = 0; i < VCS_WIDTH * cart->frame_height; i++) p->pixels[i] = palette[picture[i]];
  if (p->overlay == OVERLAY_GRADIENT) draw_gradient(p);
  snprintf(title, sizeof title, "%.200s - diffvcs (F1: help)", p->run.rom.name);
  SDL_SetWindowTitle(p->window, title);
  SDL_UpdateTexture(p->texture, NULL, p->pixels, VCS_WIDTH * (int)sizeof *p->pixels);
  draw_window(p);
  SDL_RenderPresent(p->renderer);
}

/* ---- Time ------------------------------------------------------------------------------------------------------- */

static void play_cues(player_t *p) {
  while (p->cue_next < p->cue_count && p->cues[p->cue_next].frame <= p->time) {
    const cue_t *cue = &p->cues[p->cue_next++];
    if (cue->key == SDLK_UNKNOWN)
      explain_click(p, 2 * cue->x, cue->y);
    else
      handle_key(p, cue->key, cue->down, false);
  }
}

static vcs_status_t advance(player_t *p, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  if (p->rewinding) {
    vcs_game_run_go(&p->run, p->run.frame - REWIND_STEP);
    p->dirty = true;
  } else if ((!p->paused && !p->helping) || p->step) {
    const vcs_controls_t controls = next_controls(p);
    status = vcs_game_run_frame(&p->run, &controls, error);
    p->step = false;
    p->dirty = true;
    if (p->speaker && SDL_GetQueuedAudioSize(p->speaker) < SOUND_AHEAD * (unsigned)p->run.sample_count) {
      SDL_QueueAudio(p->speaker, p->run.samples, (Uint32)p->run.sample_count);
    }
    if (status == VCS_OK && p->recording) status = vcs_gif_frame(p->recording, vcs_game_run_picture(&p->run), error);
  }
  p->time++;
  return status;
}

static vcs_status_t loop(player_t *p, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  const double period = vcs_cart_info(p->run.cart)->format == VCS_FORMAT_NTSC ? 1 / 59.92 : 1 / 50.0;
  double due = vcs_seconds();
  while (!p->quits && status == VCS_OK && !vcs_interrupted()) {
    SDL_Event event;
    play_cues(p);
    while (SDL_PollEvent(&event)) handle_event(p, &event);
    if (p->quits || (p->options->frames && p->time >= p->options->frames)) break;
    status = advance(p, error);
    const bool hurries = p->turbo || p->options->fast;
    if (!hurries || p->time % 16 == 0) draw(p);
    due = hurries ? vcs_seconds() : due + period;
    const double early = due - vcs_seconds();
    if (early > 0)
      SDL_Delay((Uint32)(1000 * early));
    else if (early < -0.25)
      due = vcs_seconds(); /* it was slow; it does not run after lost time */
  }
  draw(p);
  if (p->recording) toggle_recording(p);
  return status;
}

/* ---- The window ------------------------------------------------------------------------------------------------- */

/* "FRAME KEY" presses, "FRAME -KEY" lets go, "FRAME explain:X,Y" clicks a pixel: a line each, in order of time. */
static vcs_status_t read_script(player_t *p, vcs_error_t *error) {
  const char *path = p->options->script;
  char name[32];
  uint8_t *script;
  size_t size;
  if (!path) return VCS_OK;
  vcs_status_t status = vcs_file_read(path, SCRIPT_BYTES, &script, &size, error);
  if (status) return status;
  p->cues = calloc(SCRIPT_MAX, sizeof *p->cues);
  if (!p->cues) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (char *line = (char *)script, *end; status == VCS_OK && *line; line = end) {
    long long frame;
    SDL_Keycode key = SDLK_UNKNOWN;
    end = line + strcspn(line, "\n");
    if (*end) *end++ = 0;
    line[strcspn(line, "\r")] = 0;
    if (line[strspn(line, " \t")] == 0) continue;
    const bool read = sscanf(line, "%lld %31s", &frame, name) == 2;
    const char *word = read && name[0] == '-' ? name + 1 : name;
    for (int i = 0; read && i < HOLDS; i++) key = strcasecmp(word, holds[i].name) == 0 ? holds[i].key : key;
    for (int i = 0; read && i < ACTIONS; i++) key = strcasecmp(word, actions[i].name) == 0 ? actions[i].key : key;
    if (read && strcasecmp(word, "backspace") == 0) key = SDLK_BACKSPACE;
    if (read && strcasecmp(word, "tab") == 0) key = SDLK_TAB;
    int x = 0, y = 0;
    const bool click = read && sscanf(name, "explain:%d,%d", &x, &y) == 2;
    if ((key == SDLK_UNKNOWN && !click) || p->cue_count == SCRIPT_MAX) {
      status = vcs_error_fill(error, VCS_BAD_FILE, "%s: '%.40s' is not a frame and a key, as in: 60 right", path, line);
    } else {
      p->cues[p->cue_count++] = (cue_t){frame, key, word == name, x, y};
    }
  }
  free(script);
  return status;
}

static vcs_status_t open_window(player_t *p, vcs_error_t *error) {
  const vcs_cart_info_t *info = vcs_cart_info(p->run.cart);
  const int zoom = (int)p->options->zoom;
  const bool ready = SDL_Init(SDL_INIT_VIDEO) == 0;
  const char *driver = ready ? SDL_GetCurrentVideoDriver() : NULL;
  /* SDL falls back to drivers that show nothing; that is welcome only where it was chosen. */
  const bool hidden = driver && (strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0);
  if (!ready || (hidden && !getenv("SDL_VIDEODRIVER"))) {
    return vcs_error_fill(error, VCS_NOT_FOUND,
                          "no display%s%s; run it where there is a desktop, or under xvfb-run to test",
                          ready ? "" : ": ", ready ? "" : SDL_GetError());
  }
  SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "nearest");
  p->window = SDL_CreateWindow(p->run.rom.name, SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, WIDTH * zoom,
                               (info->height + PANEL) * zoom, SDL_WINDOW_RESIZABLE);
  p->renderer = p->window ? SDL_CreateRenderer(p->window, -1, 0) : NULL;
  p->texture = p->renderer ? SDL_CreateTexture(p->renderer, SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING,
                                               VCS_WIDTH, info->height)
                           : NULL;
  if (!p->texture) return vcs_error_fill(error, VCS_NOT_FOUND, "no window: %s", SDL_GetError());
  SDL_RenderSetLogicalSize(p->renderer, WIDTH, info->height + PANEL);
  show(p, "%s: F1 shows the keys", p->run.rom.name);
  /* Sound and game pads are welcome, not needed. */
  if (!p->options->silent && SDL_InitSubSystem(SDL_INIT_AUDIO) == 0) {
    const SDL_AudioSpec wanted = {
        .freq = vcs_sound_rate(info->format), .format = AUDIO_U8, .channels = 1, .samples = 1024};
    p->speaker = SDL_OpenAudioDevice(NULL, 0, &wanted, NULL, 0);
    if (p->speaker) SDL_PauseAudioDevice(p->speaker, 0);
  }
  SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER);
  return VCS_OK;
}

static void close_window(player_t *p) {
  for (int i = 0; i < 2; i++) {
    if (p->pads[i]) SDL_GameControllerClose(p->pads[i]);
  }
  if (p->speaker) SDL_CloseAudioDevice(p->speaker);
  if (p->texture) SDL_DestroyTexture(p->texture);
  if (p->renderer) SDL_DestroyRenderer(p->renderer);
  if (p->window) SDL_DestroyWindow(p->window);
  SDL_Quit();
}

static int play(const options_t *options) {
  player_t p = {.options = options};
  vcs_error_t error = {""};
  vcs_status_t status = vcs_game_run_begin(&options->setup, &p.run, &error);
  if (status) return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  p.controls = p.run.setup.controls[0];
  p.pixels = calloc(VCS_FRAME_BYTES, sizeof *p.pixels);
  p.gradient = calloc(VCS_FRAME_BYTES, sizeof *p.gradient);
  p.objects = calloc(VCS_OBJECTS_MAX, sizeof *p.objects);
  if (!p.pixels || !p.gradient || !p.objects) status = vcs_error_fill(&error, VCS_NO_MEMORY, "out of memory");
  if (status == VCS_OK) status = read_script(&p, &error);
  if (status == VCS_OK) status = open_window(&p, &error);
  if (status == VCS_OK) status = loop(&p, &error);
  if (status == VCS_OK) {
    printf("frame %" PRId64 ", state %016" PRIx64 "\n", p.run.frame, vcs_hash(p.run.cart, p.run.m));
  }
  close_window(&p);
  free(p.pixels);
  free(p.gradient);
  free(p.objects);
  free(p.cues);
  vcs_game_run_end(&p.run);
  return status ? vcs_cli_complain(command, VCS_EXIT_FAILED, "%s", error.message) : VCS_EXIT_OK;
}
#else
static int play(const options_t *options) {
  (void)options;
  return vcs_cli_complain(command, VCS_EXIT_FAILED,
                          "this program was built without SDL2: install libsdl2-dev and build again");
}
#endif

int vcs_cli_play(int argc, char **argv) {
  options_t o = {.setup.setup = {.frame = -1, .horizon = 1}, .zoom = 2, .out = "."};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &o.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("zoom", &o.zoom, 1, 16, "size of the window"),
      VCS_ARG_INTEGER("frame", &o.setup.setup.frame, -1, 100000000, "frames to play first; -1: all --actions, or none"),
      VCS_ARG_INTEGER("seed", &o.setup.setup.seed, 0, INT64_MAX, "actions from the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &o.setup.setup.actions, "LIST", "or these actions: NOOP*60,RIGHT*4"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "where saves, screenshots, recordings and explanations go"),
      VCS_ARG_FLAG("silent", &o.silent, "no sound"),
      VCS_ARG_INTEGER("frames", &o.frames, 0, INT64_MAX, "quit after this many frames; 0: never"),
      VCS_ARG_FLAG("fast", &o.fast, "as fast as possible"),
      VCS_ARG_TEXT("script", &o.script, "FILE",
                   "keys by frame: lines of '60 right' (down), '70 -right' (up), '80 explain:38,190' (right click)"),
      VCS_ARGS_CART(&o.setup.rom_options),
      VCS_ARG_END};
  int exit_code = vcs_args_read(&usage, args, argc, argv);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_t rom;
  exit_code = vcs_rom_open_or_complain(command, o.setup.rom, &o.setup.rom_options, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  bool made;
  exit_code = vcs_output_directory(command, o.out, &made);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  exit_code = play(&o);
  if (exit_code && made) rmdir(o.out); /* which does nothing if it has results */
  return exit_code;
}
