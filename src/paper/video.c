/* video.c: sixty seconds of Space Invaders, played, in four panels, each computed by its own mode:
 *
 *   HARD              vcs_frame
 *   SOFT-STE          the run that its derivatives are taken along (vcs_tape_record)
 *   FULL (6, 0.14)    the relaxed machine, inside the bit-exact corner
 *   FULL (5.5, 0.145) the relaxed machine, just outside of it
 *
 * All of them get the same input: a player who moves and fires at random, and whose game lasts for all of the sixty
 * seconds (an environment checks it). Without input the game is over after 34 seconds, and its attract mode follows.
 * Labels above the panels name the mode and state whether the picture equals HARD's.
 */
#include <stdlib.h>
#include <string.h>

#include "plot/font.h"
#include "paper/paper.h"
#include "diffvcs/relax.h"
#include "grad/tape.h"
#include "host/arena.h"
#include "host/palette.h"
#include "host/picture.h"

enum {
  PANELS = 4,
  GIF_EVERY = 4,
  NTSC_RATE = 59923,
  GAP = 2,
  BAND = 22,
  WIDE = PANELS * VCS_WIDTH + (PANELS - 1) * GAP
};
enum { LABEL_COLOUR = 0x0E, EQUAL_COLOUR = 0xC8, DIFFERENT_COLOUR = 0x46 }; /* palette indices */
enum { SHOWN_FRAME = 1200 };                                                /* of the figure */
static const char *const panel_names[PANELS] = {"HARD", "SOFT-STE", "FULL (6, 0.14)", "FULL (5.5, 0.145)"};
static const double settings[PANELS][2] = {{0, 0}, {0, 0}, {6, 0.14}, {5.5, 0.145}};

typedef struct {
  vcs_arena_t arena; /* of the arrays */
  const vcs_cart_t *cart;
  vcs_t *hard, *soft;
  vcs_tape_t *tape;
  vcs_relax_t *relaxed[PANELS];
  uint8_t *buffers; /* two frames a panel */
  uint8_t *wide;    /* the panels side by side, below their labels */
  int height;
  uint32_t player; /* of the random input */
  int hold;        /* frames for which the present input goes on */
  vcs_controls_t controls;
  int differs[PANELS];      /* the first frame that does; 0: none */
  long long pixels[PANELS]; /* that differ from HARD, over all frames */
  long long shown_pixels;   /* of the last panel in the frame of the figure */
} video_t;

static const uint8_t *panel(const video_t *video, int number) {
  uint8_t *frames = video->buffers + (size_t)number * 2 * VCS_FRAME_BYTES;
  return vcs_picture(number == 0   ? video->hard
                     : number == 1 ? video->soft
                                   : vcs_relax_machine(video->relaxed[number]),
                     frames);
}

/* What the player does next: left, right or nothing, for a while, always firing. */
static void play(video_t *video) {
  static const uint8_t held[] = {VCS_HELD_LEFT, VCS_HELD_RIGHT, 0};
  if (video->hold-- > 0) return;
  video->player = video->player * 1664525u + 1013904223u;
  video->controls.held[0] = (uint8_t)(held[(video->player >> 24) % 3] | VCS_HELD_FIRE);
  video->hold = (int)((video->player >> 16) % 24) + 4;
}

static void write_label(const video_t *video, int p, int line, int colour, const char *text) {
  uint8_t *at = video->wide + (size_t)WIDE * (size_t)(2 + 10 * line) + (size_t)(p * (VCS_WIDTH + GAP) + 4);
  for (int row = 0; row < VCS_GLYPH_HEIGHT; row++) memset(at + (size_t)WIDE * (size_t)row, 0, VCS_WIDTH - 4);
  vcs_text_in_bytes(at, WIDE, (uint8_t)colour, text);
}

static bool next_frame(video_t *video, int frame) {
  const size_t two = 2 * VCS_FRAME_BYTES;
  play(video);
  vcs_control(video->cart, video->hard, &video->controls);
  vcs_control(video->cart, video->soft, &video->controls);
  for (int p = 2; p < PANELS; p++) vcs_relax_control(video->relaxed[p], &video->controls);
  vcs_frame(video->cart, video->hard, video->buffers);
  if (!vcs_tape_record(video->tape, video->cart, video->soft, video->buffers + two)) return false;
  for (int p = 2; p < PANELS; p++) vcs_relax_frame(video->relaxed[p], video->buffers + (size_t)p * two);
  const uint8_t *exact = panel(video, 0);
  for (int p = 0; p < PANELS; p++) {
    const uint8_t *shown = panel(video, p);
    int different = 0;
    for (int i = 0; i < VCS_WIDTH * video->height; i++) different += shown[i] != exact[i];
    if (different && !video->differs[p]) video->differs[p] = frame;
    video->shown_pixels = different;
    video->pixels[p] += different;
    for (int row = 0; row < video->height; row++)
      memcpy(video->wide + (size_t)WIDE * (size_t)(BAND + row) + (size_t)(p * (VCS_WIDTH + GAP)),
             shown + (size_t)VCS_WIDTH * (size_t)row, VCS_WIDTH);
    char text[32];
    snprintf(text, sizeof text,
             p == 0      ? "frame %d"
             : different ? "%d pixels differ"
                         : "identical",
             p ? different : frame);
    write_label(video, p, 0, LABEL_COLOUR, panel_names[p]);
    write_label(video, p, 1, p == 0 ? LABEL_COLOUR : different ? DIFFERENT_COLOUR : EQUAL_COLOUR, text);
  }
  return true;
}

static vcs_status_t open_video(const vcs_paper_game_t *game, video_t *video, vcs_error_t *error) {
  const size_t size = vcs_state_size(game->rom.cart);
  video->cart = game->rom.cart;
  video->height = game->rom.cart->frame_height;
  video->hard = vcs_arena_take(&video->arena, 1, size);
  video->soft = vcs_arena_take(&video->arena, 1, size);
  video->buffers = vcs_arena_take(&video->arena, (size_t)PANELS * 2, VCS_FRAME_BYTES);
  video->wide = vcs_arena_take(&video->arena, (size_t)(BAND + video->height), WIDE);
  video->player = 1;
  video->controls = game->idle;
  if (video->arena.failed) return vcs_arena_status(&video->arena, error);
  memcpy(video->hard, game->start, size);
  memcpy(video->soft, game->start, size);
  vcs_status_t status = vcs_tape_create(video->cart, &video->tape, error);
  for (int p = 2; p < PANELS && status == VCS_OK; p++) {
    vcs_relax_options_t options = vcs_paper_relaxed(settings[p][0], settings[p][1]);
    options.window = 4;
    options.wrap = 1;
    status = vcs_relax_create(video->cart, &options, &video->relaxed[p], error);
    if (status == VCS_OK) vcs_relax_load(video->relaxed[p], game->start);
  }
  return status;
}

static void free_video(video_t *video) {
  vcs_arena_free(&video->arena);
  vcs_tape_free(video->tape);
  for (int p = 2; p < PANELS; p++) vcs_relax_free(video->relaxed[p]);
}

/* MP4 if ffmpeg is there, else every fourth frame as GIF. */
typedef struct {
  vcs_mp4_t *mp4;
  vcs_gif_t *gif;
  const char *file;
} writer_t;

static vcs_status_t open_writer(const vcs_paper_t *paper, const video_t *video, writer_t *writer, vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  writer->file = "four-panels.mp4";
  if (!vcs_path_join(path, sizeof path, paper->out, writer->file))
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
  vcs_status_t status = vcs_mp4_open(&writer->mp4, path, WIDE, BAND + video->height, 2, 1, NTSC_RATE, error);
  if (status != VCS_NOT_FOUND) return status;
  writer->file = "four-panels.gif";
  vcs_path_join(path, sizeof path, paper->out, writer->file);
  return vcs_gif_open(&writer->gif, path, WIDE, BAND + video->height, (vcs_format_t)video->cart->format, 1, 7, error);
}

static vcs_status_t write_frame(writer_t *writer, const video_t *video, int frame, vcs_error_t *error) {
  if (writer->mp4) return vcs_mp4_frame(writer->mp4, video->wide, (vcs_format_t)video->cart->format, error);
  return frame % GIF_EVERY ? VCS_OK : vcs_gif_frame(writer->gif, video->wide, error);
}

static vcs_status_t close_writer(writer_t *writer, bool complete, vcs_error_t *error) {
  if (complete) return writer->mp4 ? vcs_mp4_close(writer->mp4, error) : vcs_gif_close(writer->gif, error);
  vcs_mp4_abandon(writer->mp4);
  vcs_gif_abandon(writer->gif);
  return VCS_OK;
}

static vcs_status_t draw_frame(vcs_section_t *section, const video_t *video, int frame, vcs_error_t *error) {
  const double each = 2.0 * VCS_WIDTH + 10;
  vcs_drawing_t *drawing = vcs_drawing_create((int)(PANELS * each) + 10, video->height + 40);
  uint8_t *rgb = malloc((size_t)3 * VCS_WIDTH * (size_t)video->height);
  if (drawing && rgb) {
    for (int p = 0; p < PANELS; p++) {
      vcs_frame_rgb((vcs_format_t)video->cart->format, panel(video, p), (size_t)VCS_WIDTH * (size_t)video->height, rgb);
      vcs_draw_text(drawing, 10 + p * each, 20, VCS_TEXT_LEFT, 0x202020, panel_names[p]);
      vcs_draw_pixels(drawing, 10 + p * each, 28, rgb, VCS_WIDTH, video->height, 2, 1);
    }
  }
  char caption[160];
  snprintf(
      caption, sizeof caption,
      "Frame %d of the video, in play: HARD, SOFT-STE and FULL (6, 0.14) are one picture; FULL (5.5, 0.145) differs "
      "in %lld pixels.",
      frame, video->shown_pixels);
  free(rgb);
  return vcs_section_figure(section, drawing, "four-panels", caption, error);
}

/* Whether the game is over for an environment with the same input; 0: never. */
static int played_until(const vcs_paper_game_t *game, int frames) {
  static const uint8_t actions[] = {VCS_FIRE, VCS_LEFTFIRE, VCS_RIGHTFIRE};
  video_t player = {.player = 1, .controls = game->idle};
  vcs_env_t *env;
  int over = -1;
  if (vcs_env_create(game->rom.cart, &env, NULL)) return over;
  over = 0;
  for (int f = 1; f <= frames && !over; f++) {
    play(&player);
    const uint8_t held = player.controls.held[0];
    vcs_env_act_on(env, actions[held & VCS_HELD_LEFT ? 1 : held & VCS_HELD_RIGHT ? 2 : 0], VCS_NOOP);
    if (vcs_env_over(env)) over = f;
  }
  vcs_env_free(env);
  return over;
}

static void write_table(vcs_section_t *section, const video_t *video, const writer_t *writer, int over) {
  static const char *const paper[] = {"-", "identical (the HARD array drawn twice)", "identical", "diverges mildly"};
  vcs_section_say(section,
                  vcs_path_ends(writer->file, ".mp4") ? "<video controls src=\"%s\"></video>"
                                                      : "<img src=\"%s\" alt=\"four panels\">",
                  writer->file);
  vcs_table_begin(section,
                  "panel|paper|first frame that differs from HARD|pixels that differ, over all frames|verdict");
  for (int p = 1; p < PANELS; p++) {
    char first[16];
    snprintf(first, sizeof first, video->differs[p] ? "%d" : "none", video->differs[p]);
    vcs_table_row(section, "%s|%s|%s|%lld|%s", panel_names[p], paper[p], first, video->pixels[p],
                  vcs_verdict(section, (video->differs[p] == 0) == (p < 3)));
  }
  char until[16] = "never";
  if (over) snprintf(until, sizeof until, "%d", over);
  vcs_table_row(section, "HARD: the game is over, frame|-|%s||%s", until, vcs_check(section, over == 0));
  vcs_table_end(section);
}

vcs_status_t vcs_paper_video(vcs_section_t *section, vcs_error_t *error) {
  const int frames = section->paper->quick ? 60 : 3600;
  vcs_paper_game_t game;
  video_t video = {0};
  writer_t writer = {0};
  vcs_progress_t progress;
  vcs_status_t status = vcs_paper_game_open(section->paper, "space_invaders", VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  status = open_video(&game, &video, error);
  if (status == VCS_OK) status = open_writer(section->paper, &video, &writer, error);
  vcs_progress_start(&progress, section->name, (uint64_t)frames, VCS_PROGRESS_AUTO);
  vcs_section_say(section,
                  "%d frames of Space Invaders, relaxed from the first frame after an exact boot. The player moves and "
                  "fires at random.",
                  frames);
  vcs_section_assume(section,
                     "the whole machine, profile xitari; FULL with hard dispatch, every value rounded, reads over +-4 "
                     "cells with wrapping ends. Each panel is computed by its own mode.");
  for (int f = 1; f <= frames && status == VCS_OK && !vcs_interrupted(); f++) {
    status = next_frame(&video, f) ? write_frame(&writer, &video, f, error)
                                   : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
    if (f == (SHOWN_FRAME < frames ? SHOWN_FRAME : frames) && status == VCS_OK)
      status = draw_frame(section, &video, f, error);
    vcs_progress_add(&progress, 1);
  }
  vcs_progress_finish(&progress);
  const bool complete = status == VCS_OK && !vcs_interrupted();
  if (writer.mp4 || writer.gif) {
    vcs_status_t closed = close_writer(&writer, complete, error);
    if (status == VCS_OK) status = closed;
  }
  if (complete && status == VCS_OK) write_table(section, &video, &writer, played_until(&game, frames));
  free_video(&video);
  vcs_paper_game_free(&game);
  return status;
}
