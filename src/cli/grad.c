/* grad.c: `diffvcs grad ROM`: derivatives of a run, as maps, a ranking and JSON.
 *
 * With --output, one reverse pass computes the derivative of one number with respect to every bit of ROM, RAM and
 * registers and every input (vcs_attribute). With --input or --bit, one forward pass computes the derivative of every
 * pixel and bit of RAM with respect to one cause (vcs_effect).
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/grad_text.h"
#include "core/state.h"
#include "plot/map.h"

static const char command[] = "diffvcs grad";
static const vcs_usage_t usage = {
    command,
    "Computes derivatives of a run. With an output, a reverse pass from one number writes maps of the bits of ROM "
    "(rom.png) and RAM (ram.png) and of the inputs by frame (inputs.png) that change it. With --input or --bit, a "
    "forward pass from one cause draws what it changes over the picture (heat.png, ram.png). Both write the ranking "
    "(ranking.txt, with disassembly) and grad.json. Orange is up, blue is down.\n\nOutputs: pixel:X,Y (its column and "
    "its row), region:X,Y,WIDTH,HEIGHT (a sum of pixels), screen (the sum of all), ram:9C (a byte), ram:9C.3 (a bit), "
    "score (the sum of rewards). The derivative with respect to a bit is the output with the bit set minus the output "
    "with the bit clear; docs/gradients.md has the methods." VCS_ROMS_NOTE,
    "diffvcs grad demo --frame 100 --output screen --out demo.grad\n"
    "diffvcs grad space_invaders --frame 1050 --pixel 38,190 --wrt rom,ram,input --horizon 8 --out maps\n"
    "diffvcs grad space_invaders --frame 1050 --input right --horizon 8 --out maps\n"
    "diffvcs grad breakout --seed 1 --frame 400 --output score --horizon 30 --method bit --out maps\n"
    "diffvcs grad pong --actions NOOP*60,RIGHT*4 --bit ram:B6.0 --horizon 1 --scale luma --out maps\n"};

enum { RANKING_LINES = 256, SUMMARY_LINES = 10, HORIZON_MAX = 65535 };

#define SCALE_CHOICES "index|luma|red|green|blue"
#define SIDE_CHOICES "auto|mean|more|less|tangent"
enum { SCALE_INDEX, SCALE_LUMA, SCALE_RED };
static const char *const scales[] = {"index", "luma", "red", "green", "blue"};

typedef struct {
  vcs_cli_setup_t setup;
  vcs_cli_output_t output;
  const char *input, *bit, *wrt, *out;
  bool forward; /* --input or --bit is given, and not an output */
  int method, scale, side, groups;
  int64_t window;
  double alpha, temperature, budget;
} options_t;

/* ---- Derivatives -------------------------------------------------------------------------------------------- */

static void fill_scale(const options_t *o, const vcs_cart_t *cart, float scale[256]) {
  float values[768];
  const int kind = o->scale == SCALE_INDEX  ? VCS_VALUES_INDEX
                   : o->scale == SCALE_LUMA ? VCS_VALUES_LUMINANCE
                                            : VCS_VALUES_RGB;
  const int channels = vcs_pixel_values(cart, kind, values);
  for (int i = 0; i < 256; i++) scale[i] = values[channels * i + (channels == 3 ? o->scale - SCALE_RED : 0)];
}

static void set_method(const options_t *o, const float *scale, vcs_grad_options_t *grad) {
  static const vcs_side_rule_t sides[] = {VCS_SIDE_MEAN, VCS_SIDE_MEAN, VCS_SIDE_MORE, VCS_SIDE_LESS, VCS_SIDE_TANGENT};
  vcs_study_method_options(o->method, (int32_t)o->window, grad);
  grad->alpha = (float)o->alpha;
  grad->temperature = (float)o->temperature;
  grad->budget = o->budget;
  grad->side = o->side == 0 && o->forward ? VCS_SIDE_TANGENT : sides[o->side];
  grad->scale = scale;
}

static vcs_status_t find(const options_t *o, const vcs_attribution_options_t *options, vcs_finding_t *f,
                         vcs_error_t *error) {
  const vcs_run_t *run = &f->setup->run;
  vcs_status_t status;
  if (!o->forward) {
    status = vcs_target_parse(o->output.text, run->cart, options->env, options->grad->scale, &f->target, error);
    return status ? status : vcs_attribute(run, &f->target, options, &f->attribution, error);
  }
  status = o->input ? vcs_place_parse_input(o->input, run, &f->place, error)
                    : vcs_place_parse_bit(o->bit, run, &f->place, error);
  return status ? status : vcs_effect(run, &f->place, options, &f->effect, error);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

/* "d(pixel:38,190)/d(RAM) by bit+fork", "d(RAM)/d(right) by bit+fork" */
static const char *title_of(const vcs_finding_t *f, const char *group, char title[128]) {
  const char *of = f->forward ? group : f->what, *by = f->forward ? f->what : group;
  snprintf(title, 128, "d(%.30s)/d(%.30s) by %s", of, by, f->method);
  return title;
}

static vcs_status_t write_heat(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  const vcs_cart_info_t *info = vcs_cart_info(f->setup->cart);
  return vcs_map_heat(path, f->effect.ending.picture, info->height, info->format, f->effect.pixels, error);
}

static int by_offset(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Draws the map of ROM, with the most important bytes of tables as bit patterns in the order of the image, so that
 * sprites can be recognised. */
static vcs_status_t write_rom(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  const vcs_attribution_t *a = &f->attribution;
  const vcs_cart_t *cart = f->setup->cart;
  uint32_t shown[VCS_MAP_PATTERNS];
  int count = 0;
  for (uint32_t i = 0; i < a->ranked && count < VCS_MAP_PATTERNS; i++) {
    if (a->uses[a->ranking[i]].kind == VCS_ROM_DATA) shown[count++] = a->ranking[i];
  }
  qsort(shown, (size_t)count, sizeof *shown, by_offset);
  char title[128];
  return vcs_map_rom(path, title_of(f, "ROM", title), cart->rom, cart->rom_size, a->rom, shown, count, error);
}

static vcs_status_t write_ram(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  const float *slots = f->forward ? f->effect.state : f->attribution.state;
  char title[128];
  return vcs_map_ram(path, title_of(f, "RAM", title), slots + 8 * offsetof(vcs_t, ram), error);
}

static vcs_status_t write_inputs(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  char title[128];
  return vcs_map_inputs(path, title_of(f, "inputs", title), f->attribution.input, f->setup->run.frames, error);
}

static vcs_status_t write_ranking(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  vcs_text_t text = {0};
  vcs_finding_print(f, RANKING_LINES, &text);
  const vcs_status_t status = vcs_file_write_text(path, &text, error);
  vcs_text_free(&text);
  return status;
}

static vcs_status_t write_json(const vcs_finding_t *f, const char *path, vcs_error_t *error) {
  vcs_text_t text = {0};
  vcs_finding_json(f, &text);
  const vcs_status_t status = vcs_file_write_text(path, &text, error);
  vcs_text_free(&text);
  return status;
}

static const struct {
  const char *name;
  vcs_status_t (*write)(const vcs_finding_t *f, const char *path, vcs_error_t *error);
  bool forward; /* written after a forward pass, else after a reverse pass ... */
  bool always;  /* ... or after both */
  int groups;   /* after a reverse pass: only if one of these groups is selected; 0: always */
} files[] = {
    {"heat.png", write_heat, true, false, 0},
    {"rom.png", write_rom, false, false, VCS_WRT_ROM},
    {"ram.png", write_ram, true, true, VCS_WRT_RAM | VCS_WRT_STATE},
    {"inputs.png", write_inputs, false, false, VCS_WRT_INPUT},
    {"ranking.txt", write_ranking, true, true, 0},
    {"grad.json", write_json, true, true, 0},
};

static bool applies(const vcs_finding_t *f, size_t file) {
  if (!files[file].always && files[file].forward != f->forward) return false;
  return f->forward || !files[file].groups || files[file].groups & f->wrt;
}

static vcs_status_t write_files(const vcs_finding_t *f, const char *directory, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VCS_OK; i++) {
    char path[VCS_PATH_SIZE];
    status = vcs_output_path(directory, files[i].name, path, error);
    if (!applies(f, i)) {
      if (status == VCS_OK) unlink(path); /* of an earlier run in this directory: it would be taken for this one's */
      continue;
    }
    if (status == VCS_OK) status = files[i].write(f, path, error);
    if (status == VCS_OK) printf("wrote     %s\n", path);
  }
  return status;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static vcs_status_t grad(const vcs_rom_t *rom, const vcs_setup_t *setup, void *context, vcs_error_t *error) {
  const options_t *o = context;
  float scale[256];
  vcs_grad_options_t method;
  fill_scale(o, rom->cart, scale);
  set_method(o, scale, &method);
  vcs_finding_t f = {.name = rom->name,
                     .setup = setup,
                     .what = !o->forward ? o->output.text
                             : o->input  ? o->input
                                         : o->bit,
                     .forward = o->forward,
                     .wrt = o->groups,
                     .method = vcs_study_method_name(o->method),
                     .scale = scales[o->scale],
                     .window = method.fork_window};
  const vcs_attribution_options_t options = {.env = setup->env, .grad = &method, .wrt = o->groups};
  vcs_status_t status = find(o, &options, &f, error);
  if (status == VCS_OK && vcs_interrupted()) status = VCS_CANCELLED;
  if (status == VCS_OK) {
    vcs_text_t text = {0};
    vcs_finding_print(&f, SUMMARY_LINES, &text);
    if (text.text) printf("%s\n", text.text);
    vcs_text_free(&text);
    status = write_files(&f, o->out, error);
  }
  vcs_attribution_free(&f.attribution);
  vcs_effect_free(&f.effect);
  return status;
}

/* Checks the options before the run. */
static int check_options(void *options) {
  options_t *o = options;
  if (vcs_cli_output_count(&o->output) + !!o->input + !!o->bit != 1) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "give one cause, --input or --bit (what does it change?), or one output (what changes "
                            "it?): " VCS_OUTPUT_CHOICES);
  }
  o->forward = o->input || o->bit;
  vcs_cli_output_read(&o->output);
  o->groups = vcs_wrt_parse(o->wrt);
  if (o->groups) return VCS_ARGS_GO;
  return vcs_cli_complain(command, VCS_EXIT_USAGE,
                          "--wrt takes " VCS_WRT_NAMES ", or several of them with commas, not '%s'", o->wrt);
}

int vcs_cli_grad(int argc, char **argv) {
  vcs_grad_options_t defaults;
  vcs_grad_defaults(&defaults);
  options_t o = {.setup.setup = {.frame = -1, .horizon = 8},
                 .wrt = "rom,ram,cartram,input",
                 .out = "grad",
                 .method = VCS_STUDY_BIT_FORK,
                 .window = VCS_STUDY_WINDOW,
                 .alpha = (double)defaults.alpha,
                 .temperature = (double)defaults.temperature};
  const vcs_arg_t args[] = {
      VCS_ARG_ROM(&o.setup),
      VCS_ARGS_PLAYED(&o.setup),
      VCS_ARG_INTEGER("horizon", &o.setup.setup.horizon, 1, HORIZON_MAX, "frames of NOOP that are differentiated"),
      VCS_ARGS_OUTPUT(&o.output),
      VCS_ARG_TEXT("wrt", &o.wrt, "GROUPS", "groups of bits that an output depends on, with commas: " VCS_WRT_NAMES),
      VCS_ARG_TEXT("input", &o.input, "NAME", "with respect to this input: right, or right@2: in frame 2 of the run"),
      VCS_ARG_TEXT("bit", &o.bit, "BIT",
                   "with respect to this bit: ram:9C.0, rom:F123.4, rom:@1F0.4 (an offset), grp[1].0"),
      VCS_ARG_CHOICE("method", &o.method, VCS_METHOD_CHOICES, "method of differentiation"),
      VCS_ARG_WINDOW(&o.window),
      VCS_ARG_NUMBER("budget", &o.budget, 0, 1e12, VCS_BUDGET_HELP),
      VCS_ARG_NUMBER("alpha", &o.alpha, 0, 1e6, "ste: sharpness of the gate at a branch"),
      VCS_ARG_NUMBER("temperature", &o.temperature, 0, 1e6, "ste: softness of reads; 0: one-hot"),
      VCS_ARG_CHOICE("scale", &o.scale, SCALE_CHOICES, "the number a pixel stands for"),
      VCS_ARG_CHOICE("side", &o.side, SIDE_CHOICES, "one-sided differences; auto: mean, in forward passes tangent"),
      VCS_ARG_DIRECTORY(&o.out),
      VCS_ARGS_CART(&o.setup.rom_options),
      VCS_ARG_END};
  return vcs_cli_study(&usage, args, argc, argv, &(vcs_cli_study_t){&o.setup, &o.out, check_options, grad, &o});
}
