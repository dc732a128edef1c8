/* edit.c: `diffvcs edit GAME`: from a drawing to the bytes that make the game show it.
 *
 * A game is played up to a frame, and the frames after it are run again and again, on an image that changes. The loss
 * is the number of wrong pixels in a region. One walk backwards from 1/2 sum (shown - wanted)^2 tells what every bit of
 * ROM would do to it; bits whose flip lowers it are flipped, all of them at once, or half of them, or half of these,
 * until the game itself shows fewer wrong pixels than before. That is repeated until none is wrong or nothing helps.
 *
 * Only bytes that the game reads as data are changed; code is left alone. The result is a patch (IPS), never an image.
 */
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "study/rom_use.h"
#include "study/setup.h"
#include "core/state.h"
#include "host/env.h"
#include "host/palette.h"
#include "host/picture.h"
#include "host/progress.h"

static const char command[] = "diffvcs edit";

enum { TARGET_MAX = 320, HORIZON_MAX = 256 };

typedef struct {
  vcs_setup_choice_t setup;
  const char *target, *region, *out;
  int64_t steps, window;
  int method;
  bool exact;
  int x, y, width, height; /* of the region */
} options_t;

/* A bit of the image and by how much its flip is predicted to change the loss. */
typedef struct {
  uint32_t bit; /* 8 * offset + bit */
  float change;
} candidate_t;

typedef struct {
  const options_t *options;
  vcs_setup_t setup;
  vcs_cart_t cart; /* that of the setup, but for its bytes */
  uint8_t *rom;    /* which are these */
  vcs_run_t run;   /* on them */
  vcs_rom_use_t *uses;
  float scale[768];
  uint8_t *wanted; /* [height * width] of the region, palette indices */
  uint8_t *first;  /* the picture as it was */
  uint8_t *frames, *picture;
  vcs_t *machine;
  float *slots, *pixels, **pixels_by_frame;
  candidate_t *candidates;
  uint32_t candidate_count;
  int wrong_before, wrong;
  int walks, runs;
} job_t;

static size_t picture_bytes(const job_t *job) { return (size_t)VCS_WIDTH * (size_t)job->cart.frame_height; }

static size_t pixel_at(const options_t *o, int i) {
  return (size_t)VCS_WIDTH * (size_t)(o->y + i / o->width) + (size_t)(o->x + i % o->width);
}

/* ---- The target --------------------------------------------------------------------------------------------- */

/* As RGB, three bytes a pixel; free() it. */
static vcs_status_t read_png(const options_t *o, uint8_t **rgb, vcs_error_t *error) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  *rgb = NULL;
  if (!png_image_begin_read_from_file(&image, o->target)) {
    vcs_error_fill(error, VCS_BAD_FILE, "cannot read %.200s: %.100s", o->target, image.message);
    return VCS_BAD_FILE;
  }
  if ((int)image.width != o->width || (int)image.height != o->height) {
    vcs_error_fill(error, VCS_BAD_ARGUMENT, "%.200s is %ux%u pixels, but the region is %dx%d", o->target,
                   (unsigned)image.width, (unsigned)image.height, o->width, o->height);
    png_image_free(&image);
    return VCS_BAD_ARGUMENT;
  }
  const png_color black = {0, 0, 0};
  image.format = PNG_FORMAT_RGB;
  *rgb = malloc(PNG_IMAGE_SIZE(image));
  if (*rgb && png_image_finish_read(&image, &black, *rgb, 0, NULL)) return VCS_OK;
  vcs_error_fill(error, *rgb ? VCS_BAD_FILE : VCS_NO_MEMORY, "cannot read %.200s: %.100s", o->target,
                 *rgb ? image.message : "out of memory");
  const vcs_status_t status = *rgb ? VCS_BAD_FILE : VCS_NO_MEMORY;
  png_image_free(&image);
  free(*rgb);
  *rgb = NULL;
  return status;
}

/* The two colours of a drawing: the commonest of the region, and the brightest. */
static vcs_status_t choose_colours(const job_t *job, uint8_t *dark, uint8_t *lit, vcs_error_t *error) {
  const options_t *o = job->options;
  int counts[256] = {0};
  *dark = *lit = job->first[pixel_at(o, 0)];
  for (int i = 0; i < o->width * o->height; i++) {
    const uint8_t colour = job->first[pixel_at(o, i)];
    if (++counts[colour] > counts[*dark]) *dark = colour;
    if (job->scale[colour] > job->scale[*lit]) *lit = colour;
  }
  for (int i = 0; i < 256; i++) {
    if (counts[i] > counts[*dark]) *dark = (uint8_t)i;
  }
  if (*dark != *lit) return VCS_OK;
  return vcs_error_fill(
      error, VCS_BAD_ARGUMENT,
      "the region's commonest colour is also its brightest: take more background into it, or use --exact");
}

/* The palette index of a colour, one that the region shows if there are several; -1: there is none. */
static int index_of(const job_t *job, uint32_t rgb) {
  const options_t *o = job->options;
  const uint32_t *palette = vcs_palette(vcs_cart_info(job->setup.rom.cart)->format);
  for (int i = 0; i < o->width * o->height; i++) {
    if (palette[job->first[pixel_at(o, i)]] == rgb) return job->first[pixel_at(o, i)];
  }
  for (int i = 0; i < 256; i++) {
    if (palette[i] == rgb) return i;
  }
  return -1;
}

static vcs_status_t read_target(job_t *job, vcs_error_t *error) {
  const options_t *o = job->options;
  uint8_t *rgb, dark = 0, lit = 0;
  vcs_status_t status = read_png(o, &rgb, error);
  if (status) return status;
  if (!o->exact) status = choose_colours(job, &dark, &lit, error);
  for (int i = 0; i < o->width * o->height && status == VCS_OK; i++) {
    const unsigned red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
    if (!o->exact) {
      job->wanted[i] = 299 * red + 587 * green + 114 * blue > 1000 * 255 / 2 ? lit : dark;
      continue;
    }
    const int index = index_of(job, red << 16 | green << 8 | blue);
    if (index < 0) {
      status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "the palette has no colour %02X%02X%02X (column %d, row %d)",
                              red, green, blue, i % o->width, i / o->width);
    }
    job->wanted[i] = (uint8_t)index;
  }
  free(rgb);
  return status;
}

/* ---- Looking ------------------------------------------------------------------------------------------------ */

static int wrong_pixels(const job_t *job, const uint8_t *picture) {
  int wrong = 0;
  for (int i = 0; i < job->options->width * job->options->height; i++) {
    wrong += picture[pixel_at(job->options, i)] != job->wanted[i];
  }
  return wrong;
}

/* Runs the frames on the image as it is now, and keeps the picture. */
static void look(job_t *job) {
  const vcs_run_t *run = &job->run;
  memcpy(job->machine, run->start, vcs_state_size(run->cart));
  memcpy(job->frames, run->picture, 2 * VCS_FRAME_BYTES);
  for (int f = 0; f < run->frames; f++) {
    vcs_control(run->cart, job->machine, &run->controls[f]);
    vcs_frame(run->cart, job->machine, job->frames);
  }
  memcpy(job->picture, vcs_picture(job->machine, job->frames), picture_bytes(job));
  job->runs++;
}

/* ---- Descending --------------------------------------------------------------------------------------------- */

static int by_change(const void *a, const void *b) {
  const candidate_t *x = a, *y = b;
  if (x->change != y->change) return x->change < y->change ? -1 : 1;
  return (x->bit > y->bit) - (x->bit < y->bit);
}

/* One walk backwards from the picture as it is now: the bits whose flip is predicted to help, the best first. */
static vcs_status_t find_candidates(job_t *job, vcs_error_t *error) {
  const options_t *o = job->options;
  vcs_grad_options_t options;
  vcs_cli_method_options(o->method, o->window, &options);
  options.scale = job->scale;
  memset(job->slots, 0, (size_t)8 * job->cart.rom_size * sizeof(float));
  memset(job->pixels, 0, VCS_FRAME_BYTES * sizeof(float));
  for (int i = 0; i < o->width * o->height; i++) {
    const size_t at = pixel_at(o, i);
    job->pixels[at] = job->scale[job->picture[at]] - job->scale[job->wanted[i]];
  }
  job->pixels_by_frame[job->run.frames - 1] = job->pixels;
  const vcs_grad_inputs_t inputs = {.rom = job->slots};
  const vcs_grad_outputs_t outputs = {.pixels = job->pixels_by_frame};
  vcs_status_t status = vcs_grad_vjp(&job->run, &options, &inputs, &outputs, NULL, error);
  job->walks++;
  job->candidate_count = 0;
  for (uint32_t bit = 0; bit < 8 * job->cart.rom_size; bit++) {
    const bool set = job->rom[bit / 8] >> bit % 8 & 1;
    const float change = set ? -job->slots[bit] : job->slots[bit];
    if (change < 0 && job->uses[bit / 8].kind == VCS_ROM_DATA) {
      job->candidates[job->candidate_count++] = (candidate_t){bit, change};
    }
  }
  qsort(job->candidates, job->candidate_count, sizeof *job->candidates, by_change);
  return status;
}

static void flip(job_t *job, uint32_t from, uint32_t count) {
  for (uint32_t i = from; i < from + count; i++) {
    const uint32_t bit = job->candidates[i].bit;
    job->rom[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

/* Flips candidates for good if the game then shows less that is wrong. */
static bool try_flips(job_t *job, uint32_t from, uint32_t count) {
  flip(job, from, count);
  look(job);
  const int wrong = wrong_pixels(job, job->picture);
  if (wrong < job->wrong) {
    job->wrong = wrong;
    return true;
  }
  flip(job, from, count);
  return false;
}

/* All candidates, the better half of them, the better half of these; then each of the others by itself. */
static bool step(job_t *job) {
  for (uint32_t count = job->candidate_count; count; count /= 2) {
    if (try_flips(job, 0, count)) return true;
  }
  for (uint32_t i = 1; i < job->candidate_count && !vcs_interrupted(); i++) {
    if (try_flips(job, i, 1)) return true;
  }
  return false;
}

static vcs_status_t descend(job_t *job, vcs_error_t *error) {
  vcs_progress_t progress;
  vcs_status_t status = VCS_OK;
  bool moved = true;
  vcs_progress_start(&progress, "pixels put right", (uint64_t)job->wrong, VCS_PROGRESS_AUTO);
  for (int i = 0; i < job->options->steps && job->wrong && moved && !vcs_interrupted(); i++) {
    const int wrong = job->wrong;
    status = find_candidates(job, error);
    if (status) break;
    moved = step(job);
    vcs_progress_add(&progress, (uint64_t)(wrong - job->wrong));
  }
  vcs_progress_finish(&progress);
  look(job); /* the last try may have failed */
  return status;
}

/* ---- Room --------------------------------------------------------------------------------------------------- */

static vcs_status_t prepare(job_t *job, vcs_error_t *error) {
  const options_t *o = job->options;
  const vcs_cart_t *cart = job->setup.rom.cart;
  if (o->x + o->width > VCS_WIDTH || o->y + o->height > cart->frame_height) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--region %.60s is not inside the picture, %d by %d", o->region,
                          VCS_WIDTH, (int)cart->frame_height);
  }
  job->cart = *cart;
  job->rom = malloc(cart->rom_size);
  job->uses = calloc(cart->rom_size, sizeof *job->uses);
  job->wanted = malloc((size_t)o->width * (size_t)o->height);
  job->first = malloc(VCS_FRAME_BYTES);
  job->frames = malloc(2 * VCS_FRAME_BYTES);
  job->picture = malloc(VCS_FRAME_BYTES);
  job->machine = calloc(1, sizeof(vcs_t));
  job->slots = malloc((size_t)8 * cart->rom_size * sizeof(float));
  job->pixels = malloc(VCS_FRAME_BYTES * sizeof(float));
  job->pixels_by_frame = calloc((size_t)job->setup.run.frames, sizeof *job->pixels_by_frame);
  job->candidates = malloc((size_t)8 * cart->rom_size * sizeof *job->candidates);
  if (!job->rom || !job->uses || !job->wanted || !job->first || !job->frames || !job->picture || !job->machine ||
      !job->slots || !job->pixels || !job->pixels_by_frame || !job->candidates) {
    vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
    return VCS_NO_MEMORY;
  }
  memcpy(job->rom, cart->rom, cart->rom_size);
  job->cart.rom = job->rom;
  job->cart.code = NULL; /* bytes change: nothing is decoded ahead */
  job->run = job->setup.run;
  job->run.cart = &job->cart;
  vcs_pixel_values(cart, VCS_VALUES_LUMINANCE, job->scale);
  look(job);
  memcpy(job->first, job->picture, picture_bytes(job));
  vcs_status_t status = vcs_rom_uses(&job->setup.run, job->uses, error);
  if (status == VCS_OK) status = read_target(job, error);
  if (status == VCS_OK) job->wrong_before = job->wrong = wrong_pixels(job, job->picture);
  return status;
}

static void release(job_t *job) {
  free(job->rom);
  free(job->uses);
  free(job->wanted);
  free(job->first);
  free(job->frames);
  free(job->picture);
  free(job->machine);
  free(job->slots);
  free(job->pixels);
  free(job->pixels_by_frame);
  free(job->candidates);
  vcs_setup_free(&job->setup);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

static bool changed(const job_t *job, uint32_t offset) {
  return offset < job->cart.rom_size && job->rom[offset] != job->setup.rom.cart->rom[offset];
}

/* IPS: "PATCH"; offset (3 bytes), size (2), bytes, for each stretch; "EOF". Big-endian. */
static void print_patch(const job_t *job, vcs_text_t *text) {
  vcs_text_append(text, "PATCH", 5);
  for (uint32_t from = 0, to; from < job->cart.rom_size; from = to + 1) {
    for (to = from; changed(job, to) && to - from < 0xFFFF; to++) {
    }
    if (to == from) continue;
    const uint8_t head[] = {(uint8_t)(from >> 16), (uint8_t)(from >> 8), (uint8_t)from, (uint8_t)((to - from) >> 8),
                            (uint8_t)(to - from)};
    vcs_text_append(text, head, sizeof head);
    vcs_text_append(text, job->rom + from, to - from);
  }
  vcs_text_append(text, "EOF", 3);
}

static void print_byte(vcs_text_t *text, uint8_t byte) {
  for (int bit = 7; bit >= 0; bit--) vcs_text_printf(text, "%c", byte >> bit & 1 ? '1' : '0');
}

static void print_bytes(const job_t *job, vcs_text_t *text) {
  vcs_text_printf(text, "offset\taddress\tbefore\tafter\twhat it is\n");
  for (uint32_t i = 0; i < job->cart.rom_size; i++) {
    char address[16], what[64];
    if (!changed(job, i)) continue;
    vcs_rom_address(&job->uses[i], i, address, sizeof address);
    vcs_rom_describe(&job->uses[i], what, sizeof what);
    vcs_text_printf(text, "%06X\t%s\t", (unsigned)i, address);
    print_byte(text, job->setup.rom.cart->rom[i]);
    vcs_text_printf(text, "\t");
    print_byte(text, job->rom[i]);
    vcs_text_printf(text, "\t%s\n", what);
  }
}

typedef vcs_status_t (*writer_t)(const job_t *job, const char *path, vcs_error_t *error);

static vcs_status_t write_text(void (*print)(const job_t *job, vcs_text_t *text), const job_t *job, const char *path,
                               vcs_error_t *error) {
  vcs_text_t text = {0};
  print(job, &text);
  vcs_status_t status = vcs_file_write_text(path, &text, error);
  vcs_text_free(&text);
  return status;
}

static vcs_status_t write_patch(const job_t *job, const char *path, vcs_error_t *error) {
  return write_text(print_patch, job, path, error);
}
static vcs_status_t write_bytes(const job_t *job, const char *path, vcs_error_t *error) {
  return write_text(print_bytes, job, path, error);
}

static vcs_status_t write_picture(const job_t *job, const uint8_t *picture, const char *path, vcs_error_t *error) {
  const vcs_cart_t *cart = job->setup.rom.cart;
  return vcs_png_write(path, picture, VCS_WIDTH, cart->frame_height, vcs_cart_info(cart)->format, 2, error);
}
static vcs_status_t write_before(const job_t *job, const char *path, vcs_error_t *error) {
  return write_picture(job, job->first, path, error);
}
static vcs_status_t write_after(const job_t *job, const char *path, vcs_error_t *error) {
  return write_picture(job, job->picture, path, error);
}

static vcs_status_t write_files(const job_t *job, vcs_error_t *error) {
  static const struct {
    const char *name;
    writer_t write;
  } files[] = {
      {"before.png", write_before}, {"after.png", write_after}, {"bytes.tsv", write_bytes}, {"patch.ips", write_patch}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[VCS_PATH_SIZE];
    if (!vcs_path_join(path, sizeof path, job->options->out, files[i].name)) {
      return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
    }
    vcs_status_t status = files[i].write(job, path, error);
    if (status) return status;
    printf("wrote     %s\n", path);
  }
  return VCS_OK;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static void print_result(const job_t *job) {
  int bytes = 0, bits = 0;
  for (uint32_t i = 0; i < job->cart.rom_size; i++) {
    bytes += changed(job, i);
    for (unsigned moved = job->rom[i] ^ job->setup.rom.cart->rom[i]; moved; moved &= moved - 1) bits++;
  }
  printf("wrong     %d of %d pixels before, %d after\n", job->wrong_before, job->options->width * job->options->height,
         job->wrong);
  printf("changed   %d bits in %d bytes of the image\n", bits, bytes);
  printf("took      %d walks backwards, %d runs\n", job->walks, job->runs);
}

static int edit(const options_t *options) {
  job_t job = {.options = options};
  vcs_error_t error = {""};
  vcs_rom_t rom;
  int exit_code = vcs_rom_open_or_complain(command, options->setup.rom, &options->setup.choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  vcs_status_t status = vcs_setup_open(&options->setup, &job.setup, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = prepare(&job, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = descend(&job, &error);
  if (status == VCS_OK && !vcs_interrupted()) {
    print_result(&job);
    status = write_files(&job, &error);
  }
  const int wrong = job.wrong;
  release(&job);
  if (status) {
    const bool asked_wrongly = status == VCS_BAD_ARGUMENT || status == VCS_BAD_FILE;
    return vcs_cli_complain(command, asked_wrongly ? VCS_EXIT_USAGE : VCS_EXIT_FAILED, "%s", error.message);
  }
  if (vcs_interrupted()) return vcs_cli_complain(command, VCS_EXIT_FAILED, "interrupted: nothing was written");
  return wrong ? vcs_cli_complain(command, VCS_EXIT_FAILED, "%d pixels are still wrong, and no flip helps", wrong)
               : VCS_EXIT_OK;
}

static int check_options(options_t *o) {
  char rest;
  if (!o->target || !o->region) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--target (a drawing) and --region (where) are both needed");
  }
  if (sscanf(o->region, "%d,%d,%d,%d%c", &o->x, &o->y, &o->width, &o->height, &rest) != 4 || o->x < 0 || o->y < 0 ||
      o->x > TARGET_MAX || o->y > TARGET_MAX || o->width < 1 || o->height < 1 || o->width > TARGET_MAX ||
      o->height > TARGET_MAX) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--region takes X,Y,WIDTH,HEIGHT in pixels, not '%s'", o->region);
  }
  const int exit_code = vcs_setup_complete(&o->setup, command);
  return exit_code == VCS_ARGS_GO ? vcs_output_directory(command, o->out) : exit_code;
}

int vcs_cli_edit(int argc, char **argv) {
  options_t o = {.setup = {.frame = -1, .horizon = 1},
                 .out = "edit",
                 .method = VCS_CLI_BIT,
                 .steps = 200,
                 .window = VCS_CLI_WINDOW};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &o.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_TEXT("target", &o.target, "PNG", "what the region is to show; a pixel of it is a pixel of the machine"),
      VCS_ARG_TEXT("region", &o.region, "X,Y,W,H", "where: the column and row of its top left, its size"),
      VCS_ARG_FLAG("exact", &o.exact, "the target's colours are meant, instead of light and dark"),
      VCS_ARG_INTEGER("frame", &o.setup.frame, -1, 100000000, "frames to play before; -1: all --actions, or 300"),
      VCS_ARG_INTEGER("seed", &o.setup.seed, 0, INT64_MAX, "whose actions: the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &o.setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4"),
      VCS_ARG_INTEGER("horizon", &o.setup.horizon, 1, HORIZON_MAX, "frames of NOOP that run on the changed image"),
      VCS_ARG_CHOICE("method", &o.method, VCS_METHOD_CHOICES, "how derivatives are found"),
      VCS_ARG_INTEGER("window", &o.window, 1, 1000000, "bit+fork: instructions within which a branch's sides meet"),
      VCS_ARG_INTEGER("steps", &o.steps, 1, 100000, "at most so many walks backwards"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "where to write"),
      VCS_ARGS_CART(&o.setup.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Changes bytes of a game until it shows a drawing. Light pixels of the target are to show as the brightest "
      "colour\n"
      "that the region has, dark ones as its commonest; with --exact, as the colours they are. Bits are found by "
      "their\n"
      "derivatives and kept only if the game itself then shows fewer wrong pixels. Only bytes that are read as data "
      "are\n"
      "changed. Writes before.png, after.png, the list of bytes (bytes.tsv) and an IPS patch (patch.ips), never an\n"
      "image. The exit status is 0 if no pixel is wrong any more." VCS_ROMS_NOTE,
      "diffvcs edit space_invaders --frame 200 --region 21,48,16,12 --target heart.png --out heart\n"
      "diffvcs edit pong --frame 200 --region 32,1,20,20 --target digit.png --out digit\n"
      "diffvcs edit demo --frame 100 --region 0,0,8,8 --target colours.png --exact --out demo.edit\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  return edit(&o);
}
