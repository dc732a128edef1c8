/* Pictures, videos and sounds, read back: PNG by libpng, GIF by the small decoder below, MP4 by ffmpeg, WAV by hand. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp, popen, nftw */
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "folder.h"
#include "host/files.h"
#include "host/palette.h"
#include "host/picture.h"
#include "need.h"

static uint32_t next_random(uint32_t *seed) {
  *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
  return *seed;
}

/* ---- PNG ---------------------------------------------------------------------------------------------------- */

static uint8_t *read_png(const char *path, int *width, int *height) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&image, path));
  image.format = PNG_FORMAT_RGB;
  uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
  assert_non_null(rgb);
  assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
  *width = (int)image.width;
  *height = (int)image.height;
  return rgb;
}

static void test_png_shows_every_index_twice_as_wide_and_zoomed(void **state) {
  (void)state;
  uint8_t indices[32 * 8];
  for (int i = 0; i < 256; i++) indices[i] = (uint8_t)i;
  for (int zoom = 1; zoom <= 3; zoom++) {
    int width, height;
    assert_int_equal(vcs_png_write(in_root("a.png"), indices, 32, 8, VCS_FORMAT_PAL, zoom, NULL), VCS_OK);
    uint8_t *rgb = read_png(in_root("a.png"), &width, &height);
    assert_int_equal(width, 64 * zoom);
    assert_int_equal(height, 8 * zoom);
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        const uint8_t *pixel = rgb + 3 * (y * width + x);
        uint32_t colour = vcs_palette(VCS_FORMAT_PAL)[indices[y / zoom * 32 + x / zoom / 2]];
        assert_int_equal(pixel[0] << 16 | pixel[1] << 8 | pixel[2], colour);
      }
    }
    free(rgb);
  }
}

static void test_png_keeps_rgb(void **state) {
  (void)state;
  uint8_t rgb[5 * 3 * 3];
  uint32_t seed = 1;
  for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)next_random(&seed);
  int width, height;
  assert_int_equal(vcs_png_write_rgb(in_root("b.png"), rgb, 5, 3, 2, NULL), VCS_OK);
  uint8_t *seen = read_png(in_root("b.png"), &width, &height);
  assert_int_equal(width, 10);
  assert_int_equal(height, 6);
  for (int i = 0; i < 10 * 6 * 3; i++) assert_int_equal(seen[i], rgb[i / 30 / 2 * 15 + i % 30 / 3 / 2 * 3 + i % 3]);
  free(seen);
}

static void test_png_refuses_sizes_without_reason(void **state) {
  (void)state;
  uint8_t pixel = 0;
  vcs_error_t error;
  assert_int_equal(vcs_png_write(in_root("c.png"), &pixel, 1, 1, VCS_FORMAT_NTSC, 0, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_png_write(in_root("c.png"), &pixel, 1, 1, VCS_FORMAT_NTSC, 1 << 30, &error), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_png_write(in_root("c.png"), &pixel, 0, 1, VCS_FORMAT_NTSC, 1, &error), VCS_BAD_ARGUMENT);
  assert_false(vcs_path_is_file(in_root("c.png")));
}

static void test_png_into_a_missing_directory_fails(void **state) {
  (void)state;
  uint8_t pixel = 0;
  assert_int_equal(vcs_png_write(in_root("no/c.png"), &pixel, 1, 1, VCS_FORMAT_NTSC, 1, NULL), VCS_NOT_FOUND);
}

static void test_png_on_a_full_disk_says_so(void **state) {
  (void)state;
  enum { SIDE = 200 }; /* more than a stream's buffer, so that libpng notices first */
  static uint8_t rgb[SIDE * SIDE * 3];
  uint32_t seed = 1;
  vcs_error_t error;
  for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)next_random(&seed);
  assert_int_not_equal(vcs_png_write_rgb("/dev/full", rgb, SIDE, SIDE, 1, &error), VCS_OK);
  assert_non_null(strstr(error.message, "cannot write /dev/full: No space left"));
}

/* ---- GIF ---------------------------------------------------------------------------------------------------- */

typedef struct {
  const uint8_t *at, *end;
  int width, height, delay, left, top, frame_width, frame_height;
  uint8_t global[256 * 3];
  uint8_t *screen; /* RGB */
} gif_reader_t;

static int gif_byte(gif_reader_t *gif) {
  assert_true(gif->at < gif->end);
  return *gif->at++;
}

static int gif_word(gif_reader_t *gif) {
  int low = gif_byte(gif);
  return low | gif_byte(gif) << 8;
}

static void gif_start(gif_reader_t *gif, const uint8_t *data, size_t size) {
  *gif = (gif_reader_t){.at = data, .end = data + size};
  assert_memory_equal(data, "GIF89a", 6);
  gif->at += 6;
  gif->width = gif_word(gif);
  gif->height = gif_word(gif);
  int flags = gif_byte(gif);
  assert_int_equal(flags & 0x87, 0x86);
  gif->at += 2;
  for (int i = 0; i < 128 * 3; i++) gif->global[i] = (uint8_t)gif_byte(gif);
  gif->screen = calloc(3, (size_t)(gif->width * gif->height));
  assert_non_null(gif->screen);
}

/* Decodes the codes of one image. A code is refused if the dictionary does not hold it. */
static void gif_pixels(gif_reader_t *gif, const uint8_t *colours) {
  static uint16_t prefix[4096];
  static uint8_t last[4096], stack[4097];
  int pixel_bits = gif_byte(gif), clear = 1 << pixel_bits, bits = pixel_bits + 1, next = clear + 2, old = -1, first = 0;
  int block = 0, count = 0, drawn = 0;
  uint32_t buffer = 0;
  for (;;) {
    while (count < bits) {
      if (!block) block = gif_byte(gif);
      assert_true(block > 0);
      buffer |= (uint32_t)gif_byte(gif) << count;
      count += 8;
      block--;
    }
    int code = (int)(buffer & ((1u << bits) - 1)), depth = 0;
    buffer >>= bits;
    count -= bits;
    if (code == clear + 1) break;
    if (code == clear) {
      bits = pixel_bits + 1, next = clear + 2, old = -1;
      continue;
    }
    assert_true(old >= 0 ? code <= next : code < clear);
    int walk = code;
    if (code == next) stack[depth++] = (uint8_t)first, walk = old;
    for (; walk > clear; walk = prefix[walk]) stack[depth++] = last[walk];
    first = walk;
    stack[depth++] = (uint8_t)first;
    if (old >= 0 && next < 4096) {
      prefix[next] = (uint16_t)old;
      last[next++] = (uint8_t)first;
      if (next == 1 << bits && bits < 12) bits++;
    }
    old = code;
    while (depth > 0) {
      int x = gif->left + drawn % gif->frame_width, y = gif->top + drawn / gif->frame_width;
      assert_true(x < gif->width && y < gif->height);
      memcpy(gif->screen + 3 * (y * gif->width + x), colours + 3 * stack[--depth], 3);
      drawn++;
    }
  }
  assert_int_equal(drawn, gif->frame_width * gif->frame_height);
  assert_int_equal(block, 0);
  assert_int_equal(gif_byte(gif), 0);
}

/* The next frame on gif->screen; false at the trailer. */
static bool gif_next(gif_reader_t *gif) {
  for (;;) {
    int kind = gif_byte(gif);
    if (kind == 0x3b) return assert_true(gif->at == gif->end), false;
    if (kind == 0x21) {
      int label = gif_byte(gif);
      const uint8_t *content = gif->at + 1;
      for (int size; (size = gif_byte(gif)) > 0;) gif->at += size;
      if (label == 0xf9) {
        gif->delay = content[1] | content[2] << 8;
        assert_int_equal(content[0], 4); /* stays, nothing transparent */
      }
      continue;
    }
    assert_int_equal(kind, 0x2c);
    gif->left = gif_word(gif);
    gif->top = gif_word(gif);
    gif->frame_width = gif_word(gif);
    gif->frame_height = gif_word(gif);
    int flags = gif_byte(gif);
    uint8_t local[256 * 3];
    int colours = flags & 0x80 ? 2 << (flags & 7) : 0;
    for (int i = 0; i < 3 * colours; i++) local[i] = (uint8_t)gif_byte(gif);
    gif_pixels(gif, colours ? local : gif->global);
    return true;
  }
}

enum { FRAME_W = 80, FRAME_H = 60, FRAMES = 24 };

/* Frames of all kinds: noise (more than the dictionary holds), stripes, small changes, none, odd indices. */
static void make_frame(int number, uint8_t *frame) {
  static uint32_t seed = 77;
  if (number == 0) memset(frame, 0, FRAME_W * FRAME_H);
  switch (number % 6) {
    case 1:
      for (int i = 0; i < FRAME_W * FRAME_H; i++) frame[i] = (uint8_t)(next_random(&seed) & 254);
      break;
    case 2:
      frame[7 * FRAME_W + 11] ^= 16;
      break;
    case 3:
      for (int i = 0; i < FRAME_W * FRAME_H; i++) frame[i] = (uint8_t)(2 * (i / FRAME_W));
      break;
    case 4:
      break;
    case 5:
      for (int y = 5; y < 9; y++) frame[y * FRAME_W + 3 + y] |= 1;
      break;
  }
}

static void check_screen(const gif_reader_t *gif, const uint8_t *frame, int zoom) {
  assert_int_equal(gif->width, 2 * FRAME_W * zoom);
  assert_int_equal(gif->height, FRAME_H * zoom);
  for (int y = 0; y < gif->height; y++) {
    for (int x = 0; x < gif->width; x++) {
      const uint8_t *seen = gif->screen + 3 * (y * gif->width + x);
      uint32_t colour = vcs_palette(VCS_FORMAT_NTSC)[frame[y / zoom * FRAME_W + x / zoom / 2]];
      assert_int_equal(seen[0] << 16 | seen[1] << 8 | seen[2], colour);
    }
  }
}

static void test_gif_decodes_to_the_frames_it_was_given(void **state) {
  (void)state;
  for (int zoom = 1; zoom <= 3; zoom += 2) {
    static uint8_t frames[FRAMES][FRAME_W * FRAME_H];
    vcs_gif_t *gif;
    uint8_t *data;
    size_t size;
    gif_reader_t reader;
    assert_int_equal(vcs_gif_open(&gif, in_root("a.gif"), FRAME_W, FRAME_H, VCS_FORMAT_NTSC, zoom, 0, NULL), VCS_OK);
    for (int i = 0; i < FRAMES; i++) {
      if (i > 0) memcpy(frames[i], frames[i - 1], sizeof frames[i]);
      make_frame(i, frames[i]);
      assert_int_equal(vcs_gif_frame(gif, frames[i], NULL), VCS_OK);
    }
    assert_int_equal(vcs_gif_close(gif, NULL), VCS_OK);
    assert_int_equal(vcs_file_read(in_root("a.gif"), 1 << 24, &data, &size, NULL), VCS_OK);
    gif_start(&reader, data, size);
    int shown = 0;
    while (gif_next(&reader)) {
      for (int time = 0; time < reader.delay; time += 2) check_screen(&reader, frames[shown++], zoom);
    }
    assert_int_equal(shown, FRAMES);
    free(reader.screen);
    free(data);
  }
}

static void test_gif_stores_only_the_rectangle_that_changed(void **state) {
  (void)state;
  uint8_t frame[FRAME_W * FRAME_H] = {0};
  vcs_gif_t *gif;
  uint8_t *data;
  size_t size;
  gif_reader_t reader;
  assert_int_equal(vcs_gif_open(&gif, in_root("b.gif"), FRAME_W, FRAME_H, VCS_FORMAT_NTSC, 1, 3, NULL), VCS_OK);
  vcs_gif_frame(gif, frame, NULL);
  frame[10 * FRAME_W + 20] = frame[12 * FRAME_W + 25] = 30;
  vcs_gif_frame(gif, frame, NULL);
  vcs_gif_frame(gif, frame, NULL);
  assert_int_equal(vcs_gif_close(gif, NULL), VCS_OK);
  assert_int_equal(vcs_file_read(in_root("b.gif"), 1 << 24, &data, &size, NULL), VCS_OK);
  gif_start(&reader, data, size);
  assert_true(gif_next(&reader));
  assert_int_equal(reader.frame_width, 2 * FRAME_W);
  assert_int_equal(reader.delay, 3);
  assert_true(gif_next(&reader));
  assert_int_equal(reader.left, 2 * 20);
  assert_int_equal(reader.top, 10);
  assert_int_equal(reader.frame_width, 2 * 6);
  assert_int_equal(reader.frame_height, 3);
  assert_int_equal(reader.delay, 6); /* twice the same */
  assert_false(gif_next(&reader));
  free(reader.screen);
  free(data);
}

/* Codes grow by a bit at 256, 512, ... entries; a frame may end just there. */
static void test_gif_frames_may_end_at_any_length(void **state) {
  (void)state;
  enum { WIDTH = 1200 };
  static uint8_t frame[WIDTH];
  uint32_t seed = 5;
  vcs_gif_t *gif;
  uint8_t *data;
  size_t size;
  gif_reader_t reader;
  assert_int_equal(vcs_gif_open(&gif, in_root("e.gif"), WIDTH, 1, VCS_FORMAT_NTSC, 1, 0, NULL), VCS_OK);
  assert_int_equal(vcs_gif_frame(gif, frame, NULL), VCS_OK);
  for (int length = 1; length <= WIDTH; length++) {
    for (int i = 0; i < length; i++) frame[i] ^= (uint8_t)((next_random(&seed) & 126) + 2) & 254;
    assert_int_equal(vcs_gif_frame(gif, frame, NULL), VCS_OK);
  }
  assert_int_equal(vcs_gif_close(gif, NULL), VCS_OK);
  assert_int_equal(vcs_file_read(in_root("e.gif"), 1 << 24, &data, &size, NULL), VCS_OK);
  gif_start(&reader, data, size);
  assert_true(gif_next(&reader));
  for (int length = 1; length <= WIDTH; length++) {
    assert_true(gif_next(&reader)); /* which checks every code */
    assert_int_equal(reader.frame_width, 2 * length);
  }
  assert_false(gif_next(&reader));
  free(reader.screen);
  free(data);
}

static void test_gif_survives_a_delay_beyond_16_bits(void **state) {
  (void)state;
  uint8_t pixel = 0, *data;
  vcs_gif_t *gif;
  size_t size;
  gif_reader_t reader;
  assert_int_equal(vcs_gif_open(&gif, in_root("c.gif"), 1, 1, VCS_FORMAT_NTSC, 1, 30000, NULL), VCS_OK);
  for (int i = 0; i < 5; i++) vcs_gif_frame(gif, &pixel, NULL);
  assert_int_equal(vcs_gif_close(gif, NULL), VCS_OK);
  assert_int_equal(vcs_file_read(in_root("c.gif"), 1 << 24, &data, &size, NULL), VCS_OK);
  gif_start(&reader, data, size);
  int total = 0;
  while (gif_next(&reader)) total += reader.delay;
  assert_int_equal(total, 150000);
  free(reader.screen);
  free(data);
}

static void test_gif_abandoned_or_empty_leaves_no_file(void **state) {
  (void)state;
  uint8_t pixel = 0;
  vcs_gif_t *gif;
  assert_int_equal(vcs_gif_open(&gif, in_root("d.gif"), 1, 1, VCS_FORMAT_NTSC, 1, 0, NULL), VCS_OK);
  assert_int_equal(vcs_gif_close(gif, NULL), VCS_BAD_ARGUMENT);
  assert_int_equal(vcs_gif_open(&gif, in_root("d.gif"), 1, 1, VCS_FORMAT_NTSC, 1, 0, NULL), VCS_OK);
  vcs_gif_frame(gif, &pixel, NULL);
  vcs_gif_abandon(gif);
  assert_false(vcs_path_is_file(in_root("d.gif")));
}

/* ---- MP4 ---------------------------------------------------------------------------------------------------- */

static bool has_ffmpeg(void) { return system("ffmpeg -version >/dev/null 2>&1") == 0; }

/* What a program says on its stdout. */
static void ask(char *answer, size_t size, const char *format, const char *path) {
  char command[VCS_PATH_SIZE + 256];
  snprintf(command, sizeof command, format, path);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  answer[fread(answer, 1, size - 1, program)] = 0;
  pclose(program);
}

static void test_mp4_has_every_frame_at_its_size_and_rate(void **state) {
  (void)state;
  if (!has_ffmpeg()) NEED("ffmpeg", "no ffmpeg program");
  uint8_t frame[FRAME_W * FRAME_H] = {0};
  vcs_mp4_t *mp4;
  vcs_error_t error = {""};
  char answer[256];
  assert_int_equal(vcs_mp4_open(&mp4, in_root("a.mp4"), FRAME_W, FRAME_H, 2, 1, 59923, &error), VCS_OK);
  for (int i = 0; i < FRAMES; i++) {
    make_frame(i, frame);
    assert_int_equal(vcs_mp4_frame(mp4, frame, VCS_FORMAT_NTSC, &error), VCS_OK);
  }
  if (vcs_mp4_close(mp4, &error) != VCS_OK) fail_msg("%s", error.message);
  ask(answer, sizeof answer,
      "ffprobe -v error -count_frames -show_entries "
      "stream=codec_name,width,height,avg_frame_rate,nb_read_frames -of csv=p=0 '%s'",
      in_root("a.mp4"));
  assert_string_equal(answer, "h264,160,60,59923/1000,24\n");
}

static void test_mp4_of_odd_size_is_padded(void **state) {
  (void)state;
  if (!has_ffmpeg()) NEED("ffmpeg", "no ffmpeg program");
  uint8_t rgb[17 * 15 * 3] = {0};
  vcs_mp4_t *mp4;
  char answer[256];
  assert_int_equal(vcs_mp4_open(&mp4, in_root("b.mp4"), 17, 15, 1, 1, 60000, NULL), VCS_OK);
  assert_int_equal(vcs_mp4_frame_rgb(mp4, rgb, NULL), VCS_OK);
  assert_int_equal(vcs_mp4_close(mp4, NULL), VCS_OK);
  ask(answer, sizeof answer, "ffprobe -v error -show_entries stream=width,height -of csv=p=0 '%s'", in_root("b.mp4"));
  assert_string_equal(answer, "18,16\n");
}

/* A stand-in for ffmpeg, or none, found through PATH. */
static vcs_status_t video_with(const char *script, vcs_error_t *error) {
  char old[VCS_PATH_SIZE];
  const char *search = getenv("PATH");
  uint8_t rgb[64 * 64 * 3] = {0};
  vcs_mp4_t *mp4;
  snprintf(old, sizeof old, "%s", search ? search : "");
  mkdir(in_root("bin"), 0777);
  if (script) {
    assert_int_equal(vcs_file_write(in_root("bin/ffmpeg"), script, strlen(script), NULL), VCS_OK);
    chmod(in_root("bin/ffmpeg"), 0755);
  } else {
    unlink(in_root("bin/ffmpeg"));
  }
  setenv("PATH", in_root("bin"), 1);
  signal(SIGPIPE, SIG_DFL); /* it would end us */
  vcs_status_t status = vcs_mp4_open(&mp4, in_root("video.mp4"), 64, 64, 1, 1, 60000, error);
  if (status == VCS_OK) {
    for (int i = 0; i < 100 && status == VCS_OK; i++) status = vcs_mp4_frame_rgb(mp4, rgb, error);
    if (status == VCS_OK) {
      status = vcs_mp4_close(mp4, error);
    } else { /* once more: a socket reset is followed by a broken pipe */
      assert_int_equal(vcs_mp4_frame_rgb(mp4, rgb, NULL), VCS_BAD_FILE);
      vcs_mp4_abandon(mp4);
    }
  }
  setenv("PATH", old, 1);
  return status;
}

static void test_mp4_without_ffmpeg_names_the_package(void **state) {
  (void)state;
  vcs_error_t error;
  assert_int_equal(video_with(NULL, &error), VCS_NOT_FOUND);
  assert_non_null(strstr(error.message, "install the package ffmpeg"));
  assert_false(vcs_path_is_file(in_root("video.mp4")));
}

static void test_mp4_with_a_dying_ffmpeg_is_an_error_and_no_signal(void **state) {
  (void)state;
  vcs_error_t error;
  assert_int_equal(video_with("#!/bin/sh\necho 'no such codec' >&2\nexit 1\n", &error), VCS_BAD_FILE);
  assert_non_null(strstr(error.message, "no such codec"));
  assert_false(vcs_path_is_file(in_root("video.mp4")));
}

static void test_mp4_leaves_ctrl_c_to_us(void **state) {
  (void)state;
  if (access("/proc/self/stat", R_OK) != 0) NEED("linux", "/proc");
  vcs_error_t error;
  /* The stand-in reads the process group of its parent, which Ctrl-C goes to, and fails if it is its own. */
  assert_int_equal(video_with("#!/bin/sh\nread -r _ _ _ _ mine _ < /proc/self/stat\n"
                              "read -r _ _ _ _ parents _ < /proc/$PPID/stat\n"
                              "[ \"$mine\" != \"$parents\" ] || exit 1\n"
                              "while read -r _; do :; done\nexit 0\n",
                              &error),
                   VCS_OK);
}

/* ---- WAV ---------------------------------------------------------------------------------------------------- */

static void test_wav_holds_the_samples_behind_44_bytes(void **state) {
  (void)state;
  const int16_t samples[4] = {1, -2, 300, -32768};
  static const uint8_t expected[52] = {'R', 'I', 'F',  'F',  44, 0, 0, 0,    'W',  'A',  'V', 'E',  'f',
                                       'm', 't', ' ',  16,   0,  0, 0, 1,    0,    2,    0,   0xa8, 0x7a,
                                       0,   0,   0xa0, 0xea, 1,  0, 4, 0,    16,   0,    'd', 'a',  't',
                                       'a', 8,   0,    0,    0,  1, 0, 0xfe, 0xff, 0x2c, 1,   0,    0x80};
  uint8_t *data;
  size_t size;
  assert_int_equal(vcs_wav_write(in_root("a.wav"), samples, 2, 2, 16, 31400, NULL), VCS_OK);
  assert_int_equal(vcs_file_read(in_root("a.wav"), 1000, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, sizeof expected);
  assert_memory_equal(data, expected, size);
  free(data);
}

static void test_wav_of_bytes_ends_on_an_even_byte(void **state) {
  (void)state;
  uint8_t *data;
  size_t size;
  assert_int_equal(vcs_wav_write(in_root("b.wav"), "\x80\x90\xa0", 3, 1, 8, 31400, NULL), VCS_OK);
  assert_int_equal(vcs_file_read(in_root("b.wav"), 1000, &data, &size, NULL), VCS_OK);
  assert_int_equal(size, 48);
  assert_int_equal(data[40], 3);
  assert_int_equal(data[4], 40);
  free(data);
}

static void test_wav_refuses_12_bits(void **state) {
  (void)state;
  assert_int_equal(vcs_wav_write(in_root("c.wav"), "", 0, 1, 12, 31400, NULL), VCS_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_png_shows_every_index_twice_as_wide_and_zoomed),
      cmocka_unit_test(test_png_keeps_rgb),
      cmocka_unit_test(test_png_refuses_sizes_without_reason),
      cmocka_unit_test(test_png_into_a_missing_directory_fails),
      cmocka_unit_test(test_png_on_a_full_disk_says_so),
      cmocka_unit_test(test_gif_decodes_to_the_frames_it_was_given),
      cmocka_unit_test(test_gif_stores_only_the_rectangle_that_changed),
      cmocka_unit_test(test_gif_frames_may_end_at_any_length),
      cmocka_unit_test(test_gif_survives_a_delay_beyond_16_bits),
      cmocka_unit_test(test_gif_abandoned_or_empty_leaves_no_file),
      cmocka_unit_test(test_mp4_has_every_frame_at_its_size_and_rate),
      cmocka_unit_test(test_mp4_of_odd_size_is_padded),
      cmocka_unit_test(test_mp4_without_ffmpeg_names_the_package),
      cmocka_unit_test(test_mp4_with_a_dying_ffmpeg_is_an_error_and_no_signal),
      cmocka_unit_test(test_mp4_leaves_ctrl_c_to_us),
      cmocka_unit_test(test_wav_holds_the_samples_behind_44_bytes),
      cmocka_unit_test(test_wav_of_bytes_ends_on_an_even_byte),
      cmocka_unit_test(test_wav_refuses_12_bits),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
