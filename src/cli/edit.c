/* edit.c: `diffvcs edit ROM --target PNG --region X,Y,W,H`: changes bytes of a game until it shows a drawing. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/common.h"
#include "host/picture.h"

static const char command[] = "diffvcs edit";
static const vcs_usage_t usage = {
    command,
    "Changes bytes of a game until it shows a drawing. Light pixels of the drawing mean the brightest colour of the "
    "region, dark pixels its commonest colour; with --exact, pixels keep the colours of the drawing. Bits are chosen "
    "by their exact effects, or by a method that estimates these, and are kept only if a run then shows fewer wrong "
    "pixels. Only bytes that are read as data are changed; with --code, operands of immediate instructions, too. "
    "Writes before.png, after.png, the list of bytes (bytes.tsv) and an IPS patch (patch.ips), never an image. The "
    "exit status is 0 if no pixel is wrong in the end." VCS_ROMS_NOTE,
    "diffvcs edit space_invaders --frame 200 --region 21,48,16,12 --target heart.png --out heart\n"
    "diffvcs edit pong --frame 200 --region 32,1,20,20 --target digit.png --out digit\n"
    "diffvcs edit demo --frame 100 --region 0,0,8,8 --target colours.png --exact --out demo.edit\n"};

enum { REGION_MAX = 320, HORIZON_MAX = 256 };

typedef struct {
  vcs_cli_setup_t setup;
  const char *target, *region, *pixel, *out;
  int method;
  bool exact, code;
  vcs_edit_options_t edit;
  int wrong;    /* pixels in the end */
  uint8_t *rgb; /* the drawing; allocated */
} options_t;

/* ---- Files -------------------------------------------------------------------------------------------------- */

static void print_byte(vcs_text_t *text, uint8_t byte) {
  for (int bit = 7; bit >= 0; bit--) vcs_text_printf(text, "%c", byte >> bit & 1 ? '1' : '0');
}

static void print_bytes(const uint8_t *image, const vcs_edit_t *result, vcs_text_t *text) {
  vcs_text_printf(text, "offset\taddress\tbefore\tafter\twhat it is\n");
  for (uint32_t i = 0; i < result->image_size; i++) {
    char address[16], what[64];
    if (image[i] == result->image[i]) continue;
    vcs_rom_address(&result->uses[i], i, address, sizeof address);
    vcs_rom_describe(&result->uses[i], what, sizeof what);
    vcs_text_printf(text, "%06X\t%s\t", (unsigned)i, address);
    print_byte(text, image[i]);
    vcs_text_printf(text, "\t");
    print_byte(text, result->image[i]);
    vcs_text_printf(text, "\t%s\n", what);
  }
}

static vcs_status_t print_patch(const uint8_t *image, const vcs_edit_t *result, vcs_text_t *text, vcs_error_t *error) {
  const size_t size = vcs_patch_make(image, result->image, result->image_size, NULL, 0);
  uint8_t *patch = malloc(size);
  if (!patch) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  vcs_patch_make(image, result->image, result->image_size, patch, size);
  vcs_text_append(text, patch, size);
  free(patch);
  return VCS_OK;
}

static vcs_status_t write_picture(const options_t *o, const vcs_cart_t *cart, const uint8_t *picture, const char *name,
                                  vcs_error_t *error) {
  const vcs_cart_info_t *info = vcs_cart_info(cart);
  char path[VCS_PATH_SIZE];
  vcs_status_t status = vcs_output_path(o->out, name, path, error);
  if (status == VCS_OK) status = vcs_png_write(path, picture, VCS_WIDTH, info->height, info->format, 2, error);
  if (status == VCS_OK) printf("wrote     %s\n", path);
  return status;
}

static vcs_status_t write_files(const options_t *o, const vcs_cart_t *cart, const vcs_edit_t *result,
                                vcs_error_t *error) {
  const uint8_t *image = vcs_cart_image(cart);
  vcs_text_t bytes = {0}, patch = {0};
  print_bytes(image, result, &bytes);
  vcs_status_t status = write_picture(o, cart, result->before, "before.png", error);
  if (status == VCS_OK) status = write_picture(o, cart, result->after, "after.png", error);
  if (status == VCS_OK) status = print_patch(image, result, &patch, error);
  if (status == VCS_OK) status = vcs_output_file(o->out, "bytes.tsv", &bytes, error);
  if (status == VCS_OK) status = vcs_output_file(o->out, "patch.ips", &patch, error);
  vcs_text_free(&bytes);
  vcs_text_free(&patch);
  return status;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static void print_result(const options_t *o, const vcs_cart_t *cart, const vcs_edit_t *result) {
  int bytes = 0, bits = 0;
  for (uint32_t i = 0; i < result->image_size; i++) {
    unsigned moved = result->image[i] ^ vcs_cart_image(cart)[i];
    bytes += moved != 0;
    for (; moved; moved &= moved - 1) bits++;
  }
  printf("wrong     %d of %d pixels before, %d after\n", (int)result->wrong_before,
         (int)(o->edit.width * o->edit.height), (int)result->wrong_after);
  const bool exact = o->method == VCS_STUDY_EXACT;
  if (o->edit.keep > 0) printf("outside   %d pixels changed, in all frames together\n", (int)result->changed);
  printf("changed   %d bit%s in %d byte%s of the image\n", bits, bits == 1 ? "" : "s", bytes, bytes == 1 ? "" : "s");
  printf("took      %d %s%s, %d run%s\n", (int)result->walks, exact ? "Jacobian" : "reverse pass",
         result->walks == 1 ? ""
         : exact            ? "s"
                            : "es",
         (int)result->runs, result->runs == 1 ? "" : "s");
  if (!result->pairs) return;
  printf("pairs     %" PRId64 " values with all values of other bytes", result->pairs);
  if (result->pairs_left >= 0) printf(", %" PRId64 " not tried", result->pairs_left);
  putchar('\n');
}

static vcs_status_t edit(const vcs_rom_t *rom, const vcs_setup_t *setup, void *context, vcs_error_t *error) {
  options_t *o = context;
  vcs_edit_t result;
  vcs_bar_t bar = {0};
  o->edit.exact = o->exact;
  o->edit.code = o->code;
  o->edit.method = vcs_study_method_name(o->method);
  o->edit.report = vcs_bar_report(&bar);
  vcs_status_t status = vcs_edit(&setup->run, &o->edit, &result, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) {
    print_result(o, rom->cart, &result);
    o->wrong = result.wrong_after;
    status = write_files(o, rom->cart, &result, error);
  }
  vcs_edit_free(&result);
  return status;
}

/* Reads the region and the drawing, whose sizes must be the same. */
static int read_drawing(void *options) {
  options_t *o = options;
  vcs_edit_options_t *e = &o->edit;
  vcs_error_t error = {""};
  int width, height;
  char rest;
  if (!o->target || !o->region == !o->pixel) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--target (a drawing) and one of --region and --pixel (where) are needed");
  }
  if (o->pixel && sscanf(o->pixel, "%9d,%9d%c", &e->x, &e->y, &rest) != 2) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--pixel takes X,Y, a column and a row, not '%s'", o->pixel);
  }
  if (o->region && (sscanf(o->region, "%9d,%9d,%9d,%9d%c", &e->x, &e->y, &e->width, &e->height, &rest) != 4 ||
                    e->x < 0 || e->y < 0 || e->x > REGION_MAX || e->y > REGION_MAX || e->width < 1 || e->height < 1 ||
                    e->width > REGION_MAX || e->height > REGION_MAX)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--region takes X,Y,WIDTH,HEIGHT in pixels, not '%s'", o->region);
  }
  if (vcs_png_read_rgb(o->target, REGION_MAX, &o->rgb, &width, &height, &error)) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s", error.message);
  }
  e->drawing = o->rgb;
  if (o->pixel) e->width = width, e->height = height;
  if (width == e->width && height == e->height) return VCS_ARGS_GO;
  return vcs_cli_complain(command, VCS_EXIT_USAGE, "%s is %dx%d pixels, but the region is %dx%d", o->target, width,
                          height, (int)e->width, (int)e->height);
}

int vcs_cli_edit(int argc, char **argv) {
  options_t o = {.setup.setup = {.frame = -1, .horizon = 1},
                 .out = "edit",
                 .method = VCS_STUDY_EXACT,
                 .edit = {.steps = 200, .window = VCS_STUDY_WINDOW}};
  const vcs_arg_t args[] = {
      VCS_ARG_ROM(&o.setup),
      VCS_ARG_TEXT("target", &o.target, "PNG", "the drawing; one of its pixels is one pixel of the machine"),
      VCS_ARG_TEXT("region", &o.region, "X,Y,W,H", "where: column and row of the top left corner, width and height"),
      VCS_ARG_TEXT("pixel", &o.pixel, "X,Y", "or: only that corner; the region is as large as the drawing"),
      VCS_ARG_FLAG("exact", &o.exact, "use the drawing's colours instead of light and dark"),
      VCS_ARGS_PLAYED(&o.setup),
      VCS_ARG_INTEGER("horizon", &o.setup.setup.horizon, 1, HORIZON_MAX,
                      "frames of NOOP that run on the changed image"),
      VCS_ARG_CHOICE("method", &o.method, VCS_METHOD_CHOICES, "method of differentiation"),
      VCS_ARG_WINDOW(&o.edit.window),
      VCS_ARG_INTEGER("steps", &o.edit.steps, 1, 100000, "Jacobians or reverse passes at most"),
      VCS_ARG_INTEGER("budget", &o.edit.budget, 0, INT64_C(1000000000000),
                      "emulated frames after which no step begins; 0: any number"),
      VCS_ARG_NUMBER("keep", &o.edit.keep, 0, 1e6,
                     "weight of each pixel outside the region that changes, in each frame; 0: it may change"),
      VCS_ARG_INTEGER("pairs", &o.edit.pairs, 0, INT64_C(1000000000000),
                      "values of a byte to try with all values of the others, where no byte helps"),
      VCS_ARG_FLAG("code", &o.code, "let operands of immediate instructions change, too"),
      VCS_ARG_DIRECTORY(&o.out),
      VCS_ARGS_CART(&o.setup.rom_options),
      VCS_ARG_END};
  const vcs_cli_study_t study = {&o.setup, &o.out, read_drawing, edit, &o};
  const int exit_code = vcs_cli_study(&usage, args, argc, argv, &study);
  free(o.rgb);
  if (exit_code || !o.wrong) return exit_code;
  return vcs_cli_complain(command, VCS_EXIT_FAILED, "%d pixels are still wrong, and no flip helps", o.wrong);
}
