/* picture.c: four file formats.
 *
 * PNG is libpng's simplified writer, with our palette as its colour map. MP4 is the ffmpeg program: it reads raw
 * frames from its stdin and does the enlarging. The terminal's Ctrl-C does not reach it: the video is then complete up
 * to that moment. WAV is a header of 44 bytes.
 *
 * GIF is written here (GIF89a, and Welch, "A Technique for High-Performance Data Compression", 1984). A frame is a
 * rectangle that covers what changed:
 *
 *   header | 128 colours | loop | { delay | rectangle, colours? | LZW codes }... | trailer
 *
 * Pixels are index >> 1. Frames where a PAL television lost the colour (odd indices) bring their own 256 colours.
 */
#include "host/picture.h"

#include <errno.h>
#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/os.h"
#include "host/palette.h"

/* width x height pixels, each drawn wide * zoom by zoom: do they make a picture of reasonable size? */
static vcs_status_t check_size(int width, int height, int wide, int zoom, vcs_error_t *error) {
  bool good = width > 0 && height > 0 && zoom > 0 && zoom <= VCS_PICTURE_MAX;
  good = good && width <= VCS_PICTURE_MAX / zoom / wide && height <= VCS_PICTURE_MAX / zoom;
  if (good) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%d x %d pixels, zoom %d: the picture must be 1 to %d wide and high",
                        width, height, zoom, VCS_PICTURE_MAX);
}

/* ---- PNG ---------------------------------------------------------------------------------------------------- */

/* Every pixel of `bytes` bytes drawn across * down times. */
static void enlarge(const uint8_t *from, int width, int height, int bytes, int across, int down, uint8_t *to) {
  size_t row = (size_t)width * (size_t)across * (size_t)bytes;
  for (int y = 0; y < height; y++) {
    uint8_t *first = to;
    for (int x = 0; x < width; x++, from += bytes) {
      for (int i = 0; i < across; i++, to += bytes) memcpy(to, from, (size_t)bytes);
    }
    for (int i = 1; i < down; i++, to += row) memcpy(to, first, row);
  }
}

/* colours is NULL for RGB pixels of 3 bytes, else 256 of them for pixels of 1 byte. */
static vcs_status_t write_png(const char *path, const uint8_t *pixels, int width, int height, int wide, int zoom,
                              const uint32_t *colours, vcs_error_t *error) {
  vcs_status_t status = check_size(width, height, wide, zoom, error);
  if (status != VCS_OK) return status;
  int bytes = colours ? 1 : 3, across = wide * zoom;
  uint8_t *large = malloc((size_t)width * (size_t)across * (size_t)height * (size_t)zoom * (size_t)bytes);
  if (!large) return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for a picture of zoom %d", zoom);
  enlarge(pixels, width, height, bytes, across, zoom, large);
  uint8_t map[256 * 3];
  for (int i = 0; colours && i < 256 * 3; i++) map[i] = (uint8_t)(colours[i / 3] >> (16 - 8 * (i % 3)));
  vcs_draft_t draft;
  status = vcs_draft_open(&draft, path, error);
  if (status == VCS_OK) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)(width * across),
                       .height = (png_uint_32)(height * zoom),
                       .format = colours ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_RGB,
                       .flags = colours ? 0 : PNG_IMAGE_FLAG_FAST, /* drawings are large: a third of the time */
                       .colormap_entries = colours ? 256 : 0};
    const bool made = png_image_write_to_stdio(&image, draft.stream, 0, large, 0, colours ? map : NULL);
    if (made || ferror(draft.stream)) { /* the system says better than libpng why a file cannot be written */
      status = vcs_draft_commit(&draft, error);
    } else {
      vcs_draft_abandon(&draft);
      status = vcs_error_fill(error, VCS_BAD_FILE, "cannot write %s: %s", path, image.message);
    }
  }
  free(large);
  return status;
}

vcs_status_t vcs_png_write(const char *path, const uint8_t *indices, int width, int height, vcs_format_t format,
                           int zoom, vcs_error_t *error) {
  return write_png(path, indices, width, height, 2, zoom, vcs_palette(format), error);
}

vcs_status_t vcs_png_write_rgb(const char *path, const uint8_t *rgb, int width, int height, int zoom,
                               vcs_error_t *error) {
  return write_png(path, rgb, width, height, 1, zoom, NULL, error);
}

enum { PNG_LIMIT = 64 << 20 }; /* bytes of a picture that is read */

vcs_status_t vcs_png_read_rgb(const char *path, int limit, uint8_t **rgb, int *width, int *height, vcs_error_t *error) {
  const png_color black = {0, 0, 0};
  png_image image = {.version = PNG_IMAGE_VERSION};
  uint8_t *file;
  size_t size;
  *rgb = NULL;
  vcs_status_t status = vcs_file_read(path, PNG_LIMIT, &file, &size, error);
  if (status) return status;
  if (!png_image_begin_read_from_memory(&image, file, size)) {
    free(file);
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot read %.200s: %.100s", path, image.message);
  }
  *width = (int)image.width;
  *height = (int)image.height;
  if (image.width > (png_uint_32)limit || image.height > (png_uint_32)limit) {
    png_image_free(&image);
    free(file);
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%.200s is %dx%d pixels, more than %d a side", path, *width, *height,
                          limit);
  }
  image.format = PNG_FORMAT_RGB;
  *rgb = malloc(PNG_IMAGE_SIZE(image));
  const bool is_read = *rgb && png_image_finish_read(&image, &black, *rgb, 0, NULL);
  free(file);
  if (is_read) return VCS_OK;
  vcs_error_fill(error, VCS_BAD_FILE, "cannot read %.200s: %.100s", path, *rgb ? image.message : "out of memory");
  status = *rgb ? VCS_BAD_FILE : VCS_NO_MEMORY;
  png_image_free(&image);
  free(*rgb);
  *rgb = NULL;
  return status;
}

/* ---- LZW ---------------------------------------------------------------------------------------------------- */

enum { LZW_CODES = 4096, LZW_SLOTS = 8192 /* a power of two, twice the codes */ };

/* Variable-length codes, low bits first, in blocks of up to 255 bytes. The dictionary is a hash table from
 * (code so far, next pixel) to code. */
typedef struct {
  FILE *stream;
  int pixel_bits, code_bits, next_code;
  int prefix; /* the code so far, -1 before the first pixel */
  uint32_t bits;
  int bit_count;
  uint8_t block[255];
  int block_size;
  int32_t keys[LZW_SLOTS]; /* prefix << 8 | pixel, -1 where free */
  int16_t codes[LZW_SLOTS];
} lzw_t;

static void lzw_flush_block(lzw_t *lzw) {
  if (!lzw->block_size) return;
  putc(lzw->block_size, lzw->stream);
  fwrite(lzw->block, 1, (size_t)lzw->block_size, lzw->stream);
  lzw->block_size = 0;
}

static void lzw_put_byte(lzw_t *lzw, uint8_t byte) {
  lzw->block[lzw->block_size++] = byte;
  if (lzw->block_size == sizeof lzw->block) lzw_flush_block(lzw);
}

static void lzw_put_code(lzw_t *lzw, int code) {
  lzw->bits |= (uint32_t)code << lzw->bit_count;
  for (lzw->bit_count += lzw->code_bits; lzw->bit_count >= 8; lzw->bit_count -= 8, lzw->bits >>= 8)
    lzw_put_byte(lzw, (uint8_t)lzw->bits);
}

/* Forgets the dictionary, and tells the reader to. */
static void lzw_clear(lzw_t *lzw) {
  lzw_put_code(lzw, 1 << lzw->pixel_bits);
  lzw->code_bits = lzw->pixel_bits + 1;
  lzw->next_code = (1 << lzw->pixel_bits) + 2;
  memset(lzw->keys, 0xff, sizeof lzw->keys);
}

static void lzw_begin(lzw_t *lzw, FILE *stream, int pixel_bits) {
  lzw->stream = stream;
  lzw->pixel_bits = pixel_bits;
  lzw->code_bits = pixel_bits + 1;
  lzw->prefix = -1;
  lzw->bits = 0;
  lzw->bit_count = lzw->block_size = 0;
  putc(pixel_bits, stream);
  lzw_clear(lzw);
}

static void lzw_put_pixel(lzw_t *lzw, uint8_t pixel) {
  if (lzw->prefix < 0) {
    lzw->prefix = pixel;
    return;
  }
  int32_t key = lzw->prefix << 8 | pixel;
  uint32_t slot = ((uint32_t)key * 2654435761u) >> 19; /* the upper 13 bits */
  while (lzw->keys[slot] >= 0 && lzw->keys[slot] != key) slot = (slot + 1) % LZW_SLOTS;
  if (lzw->keys[slot] == key) {
    lzw->prefix = lzw->codes[slot];
    return;
  }
  lzw_put_code(lzw, lzw->prefix);
  lzw->prefix = pixel;
  if (lzw->next_code == LZW_CODES) {
    lzw_clear(lzw);
    return;
  }
  lzw->keys[slot] = key;
  lzw->codes[slot] = (int16_t)lzw->next_code;
  if (lzw->next_code == 1 << lzw->code_bits) lzw->code_bits++; /* the reader is one code behind */
  lzw->next_code++;
}

static void lzw_end(lzw_t *lzw) {
  lzw_put_code(lzw, lzw->prefix);
  /* The reader enters a code for this one too, and may now expect longer codes. */
  if (lzw->next_code == 1 << lzw->code_bits && lzw->code_bits < 12) lzw->code_bits++;
  lzw_put_code(lzw, (1 << lzw->pixel_bits) + 1);
  if (lzw->bit_count > 0) lzw_put_byte(lzw, (uint8_t)lzw->bits);
  lzw_flush_block(lzw);
  putc(0, lzw->stream);
}

/* ---- GIF ---------------------------------------------------------------------------------------------------- */

struct vcs_gif {
  vcs_draft_t draft;
  int width, height, zoom, delay;
  const uint32_t *colours;
  int frames;            /* given so far */
  bool pending_is_first; /* and so drawn whole */
  int pending_delay;     /* of `shown`, which is not written before it is known how long it stays */
  uint8_t *before;       /* the frame that is written */
  uint8_t *shown;        /* the frame that is not */
  lzw_t lzw;
};

static void put16(FILE *stream, int value) {
  putc(value & 255, stream);
  putc(value >> 8 & 255, stream);
}

static void put_colours(FILE *stream, const uint32_t *colours, int step) {
  for (int i = 0; i < 256; i += step) {
    putc((int)(colours[i] >> 16), stream);
    putc((int)(colours[i] >> 8 & 255), stream);
    putc((int)(colours[i] & 255), stream);
  }
}

vcs_status_t vcs_gif_open(vcs_gif_t **gif, const char *path, int width, int height, vcs_format_t format, int zoom,
                          int delay, vcs_error_t *error) {
  *gif = NULL;
  vcs_status_t status = check_size(width, height, 2, zoom, error);
  if (status != VCS_OK) return status;
  if (delay < 0 || delay > 65535)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a delay of %d: must be 0 to 65535 hundredths", delay);
  vcs_gif_t *g = calloc(1, sizeof *g);
  size_t pixels = (size_t)width * (size_t)height;
  if (g) g->before = calloc(2, pixels);
  if (!g || !g->before) {
    free(g);
    return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for %s", path);
  }
  g->shown = g->before + pixels;
  g->width = width;
  g->height = height;
  g->zoom = zoom;
  g->delay = delay ? delay : 2;
  g->colours = vcs_palette(format);
  status = vcs_draft_open(&g->draft, path, error);
  if (status != VCS_OK) {
    free(g->before);
    free(g);
    return status;
  }
  FILE *stream = g->draft.stream;
  fputs("GIF89a", stream);
  put16(stream, 2 * width * zoom);
  put16(stream, height * zoom);
  fwrite("\xf6\0\0", 1, 3, stream); /* 2^(6+1) colours follow, 8 bits each; background 0; square pixels */
  put_colours(stream, g->colours, 2);
  fwrite("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 1, 19, stream); /* for ever */
  *gif = g;
  return VCS_OK;
}

typedef struct {
  int left, top, right, bottom; /* right and bottom not included */
} rectangle_t;

/* What differs between two frames; one pixel where nothing does, for a frame cannot be empty. */
static rectangle_t changed(const uint8_t *a, const uint8_t *b, int width, int height) {
  rectangle_t r = {width, height, 0, 0};
  for (int y = 0; y < height; y++, a += width, b += width) {
    if (memcmp(a, b, (size_t)width) == 0) continue;
    int first = 0, last = width - 1;
    while (a[first] == b[first]) first++;
    while (a[last] == b[last]) last--;
    if (y < r.top) r.top = y;
    if (first < r.left) r.left = first;
    if (last + 1 > r.right) r.right = last + 1;
    r.bottom = y + 1;
  }
  return r.right ? r : (rectangle_t){0, 0, 1, 1};
}

static void write_pending(vcs_gif_t *gif, bool whole) {
  FILE *stream = gif->draft.stream;
  rectangle_t r = {0, 0, gif->width, gif->height};
  if (!whole) r = changed(gif->before, gif->shown, gif->width, gif->height);
  int odd = 0;
  for (int y = r.top; y < r.bottom; y++) {
    for (int x = r.left; x < r.right; x++) odd |= gif->shown[y * gif->width + x] & 1;
  }
  fwrite("\x21\xf9\x04\x04", 1, 4, stream); /* leave it there for the next frame to draw upon */
  put16(stream, gif->pending_delay);
  fwrite("\0\0\x2c", 1, 3, stream);
  put16(stream, 2 * r.left * gif->zoom);
  put16(stream, r.top * gif->zoom);
  put16(stream, 2 * (r.right - r.left) * gif->zoom);
  put16(stream, (r.bottom - r.top) * gif->zoom);
  putc(odd ? 0x87 : 0, stream);
  if (odd) put_colours(stream, gif->colours, 1);
  lzw_begin(&gif->lzw, stream, odd ? 8 : 7);
  for (int y = r.top * gif->zoom; y < r.bottom * gif->zoom; y++) {
    const uint8_t *row = gif->shown + (size_t)(y / gif->zoom) * (size_t)gif->width;
    for (int x = r.left; x < r.right; x++) {
      for (int i = 0; i < 2 * gif->zoom; i++) lzw_put_pixel(&gif->lzw, odd ? row[x] : row[x] >> 1);
    }
  }
  lzw_end(&gif->lzw);
}

vcs_status_t vcs_gif_frame(vcs_gif_t *gif, const uint8_t *indices, vcs_error_t *error) {
  size_t pixels = (size_t)gif->width * (size_t)gif->height;
  bool same = gif->frames > 0 && memcmp(gif->shown, indices, pixels) == 0;
  if (same && gif->pending_delay + gif->delay <= 65535) {
    gif->pending_delay += gif->delay;
  } else {
    if (gif->frames > 0) {
      write_pending(gif, gif->pending_is_first);
      memcpy(gif->before, gif->shown, pixels);
    }
    gif->pending_is_first = gif->frames == 0;
    memcpy(gif->shown, indices, pixels);
    gif->pending_delay = gif->delay;
  }
  gif->frames++;
  if (ferror(gif->draft.stream))
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot write %s: %s", gif->draft.path, strerror(errno));
  return VCS_OK;
}

vcs_status_t vcs_gif_close(vcs_gif_t *gif, vcs_error_t *error) {
  vcs_status_t status;
  if (gif->frames == 0) {
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "no frame to write to %s", gif->draft.path);
  } else {
    write_pending(gif, gif->pending_is_first);
    putc(0x3b, gif->draft.stream);
    status = vcs_draft_commit(&gif->draft, error);
  }
  vcs_gif_abandon(gif); /* a committed draft has nothing left to abandon */
  return status;
}

void vcs_gif_abandon(vcs_gif_t *gif) {
  if (!gif) return;
  vcs_draft_abandon(&gif->draft);
  free(gif->before);
  free(gif);
}

/* ---- MP4 ---------------------------------------------------------------------------------------------------- */

struct vcs_mp4 {
  vcs_draft_t draft; /* ffmpeg writes the temporary file; we give it its name */
  size_t pixels;
  bool empty;
  uint8_t *rgb;
  vcs_os_child_t ffmpeg;
};

vcs_status_t vcs_mp4_open(vcs_mp4_t **mp4, const char *path, int width, int height, int pixel_width, int zoom, int rate,
                          vcs_error_t *error) {
  *mp4 = NULL;
  if (pixel_width < 1 || pixel_width > 2 || rate < 1)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "a video of pixel width %d and rate %d", pixel_width, rate);
  vcs_status_t status = check_size(width, height, pixel_width, zoom, error);
  if (status != VCS_OK) return status;
  vcs_mp4_t *m = calloc(1, sizeof *m);
  if (m) m->pixels = (size_t)width * (size_t)height;
  if (m) m->rgb = malloc(3 * m->pixels);
  if (!m || !m->rgb) {
    free(m);
    return vcs_error_fill(error, VCS_NO_MEMORY, "no memory for %s", path);
  }
  m->empty = true;
  m->ffmpeg = vcs_os_no_child;
  status = vcs_draft_open(&m->draft, path, error);
  if (status == VCS_OK && !m->draft.temporary[0])
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "cannot write a video to %s: it is not a file", path);
  if (status != VCS_OK) {
    vcs_mp4_abandon(m);
    return status;
  }
  char size[32], pace[32], filter[160], output[VCS_PATH_SIZE + 8];
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(pace, sizeof pace, "%d/1000", rate);
  snprintf(filter, sizeof filter, "scale=%d:%d:flags=neighbor,pad=ceil(iw/2)*2:ceil(ih/2)*2",
           width * pixel_width * zoom, height * zoom); /* H.264 halves the colour: both sides must be even */
  snprintf(output, sizeof output, "file:%s", m->draft.temporary);
  char *arguments[] = {
      "ffmpeg",        "-hide_banner", "-loglevel",   "error",   "-nostdin",   "-y", "-f",       "rawvideo",
      "-pixel_format", "rgb24",        "-video_size", size,      "-framerate", pace, "-i",       "pipe:0",
      "-vf",           filter,         "-c:v",        "libx264", "-crf",       "18", "-pix_fmt", "yuv420p",
      "-movflags",     "+faststart",   "-f",          "mp4",     output,       NULL};
  const int problem = vcs_os_child_start(&m->ffmpeg, arguments);
  if (problem) {
    vcs_mp4_abandon(m);
    if (problem == ENOENT)
      return vcs_error_fill(error, VCS_NOT_FOUND,
                            "a video needs the program ffmpeg: install the package ffmpeg "
                            "(apt, dnf or brew install ffmpeg), or write a .gif");
    return vcs_error_fill(error, VCS_BAD_FILE, "cannot start ffmpeg: %s", strerror(problem));
  }
  *mp4 = m;
  return VCS_OK;
}

/* The first line of the messages that ffmpeg has printed so far; it may be empty. */
static void read_complaint(vcs_mp4_t *mp4, char *line, size_t size) {
  vcs_os_child_message(&mp4->ffmpeg, line, size);
  line[strcspn(line, "\r\n")] = 0;
  if (!line[0]) snprintf(line, size, "it ended without a word");
}

static vcs_status_t fail_ffmpeg(vcs_mp4_t *mp4, vcs_error_t *error) {
  char line[160];
  read_complaint(mp4, line, sizeof line);
  return vcs_error_fill(error, VCS_BAD_FILE, "ffmpeg could not make %s: %s", vcs_path_base(mp4->draft.path), line);
}

vcs_status_t vcs_mp4_frame_rgb(vcs_mp4_t *mp4, const uint8_t *rgb, vcs_error_t *error) {
  if (!vcs_os_child_write(&mp4->ffmpeg, rgb, 3 * mp4->pixels)) return fail_ffmpeg(mp4, error);
  mp4->empty = false;
  return VCS_OK;
}

vcs_status_t vcs_mp4_frame(vcs_mp4_t *mp4, const uint8_t *indices, vcs_format_t format, vcs_error_t *error) {
  vcs_frame_rgb(format, indices, mp4->pixels, mp4->rgb);
  return vcs_mp4_frame_rgb(mp4, mp4->rgb, error);
}

vcs_status_t vcs_mp4_close(vcs_mp4_t *mp4, vcs_error_t *error) {
  vcs_status_t status;
  if (mp4->empty)
    status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "no frame to write to %s", mp4->draft.path);
  else
    status = vcs_os_child_finish(&mp4->ffmpeg) ? vcs_draft_commit(&mp4->draft, error) : fail_ffmpeg(mp4, error);
  vcs_mp4_abandon(mp4); /* a committed draft has nothing left to abandon */
  return status;
}

void vcs_mp4_abandon(vcs_mp4_t *mp4) {
  if (!mp4) return;
  vcs_os_child_end(&mp4->ffmpeg);
  vcs_draft_abandon(&mp4->draft);
  free(mp4->rgb);
  free(mp4);
}

/* ---- WAV ---------------------------------------------------------------------------------------------------- */

static void append_little(vcs_text_t *bytes, uint32_t value, int size) {
  uint8_t little[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  vcs_text_append(bytes, little, (size_t)size);
}

vcs_status_t vcs_wav_write(const char *path, const void *samples, size_t frames, int channels, int bits, int rate,
                           vcs_error_t *error) {
  if (channels < 1 || channels > 8 || (bits != 8 && bits != 16) || rate < 1 || rate > 1000000)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "sound of %d channels, %d bits, %d Hz", channels, bits, rate);
  uint32_t frame_size = (uint32_t)(channels * bits / 8);
  if (frames > (UINT32_MAX - 64) / frame_size)
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "%zu samples are more than a WAV file holds", frames);
  uint32_t size = (uint32_t)frames * frame_size;
  vcs_text_t file = {0};
  vcs_text_append(&file, "RIFF", 4);
  append_little(&file, 36 + size + (size & 1), 4);
  vcs_text_append(&file, "WAVEfmt ", 8);
  append_little(&file, 16, 4);
  append_little(&file, 1, 2); /* PCM */
  append_little(&file, (uint32_t)channels, 2);
  append_little(&file, (uint32_t)rate, 4);
  append_little(&file, (uint32_t)rate * frame_size, 4);
  append_little(&file, frame_size, 2);
  append_little(&file, (uint32_t)bits, 2);
  vcs_text_append(&file, "data", 4);
  append_little(&file, size, 4);
  if (bits == 8) vcs_text_append(&file, samples, size);
  for (size_t i = 0; bits == 16 && i < size / 2; i++) append_little(&file, (uint16_t)((const int16_t *)samples)[i], 2);
  if (size & 1) append_little(&file, 0, 1);
  vcs_status_t status = vcs_file_write_text(path, &file, error);
  vcs_text_free(&file);
  return status;
}
