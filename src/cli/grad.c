/* grad.c: `diffvcs grad ROM`: derivatives of a run, as maps, a ranking and JSON.
 *
 * There are two questions. With --output one number is chosen, and one walk backwards tells what every bit of ROM, RAM
 * and registers and every input would do to it (VJP). With --input or --bit one cause is chosen, and one walk forwards
 * tells which pixels and RAM cells it moves (JVP).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/grad_text.h"
#include "plot/map.h"
#include "core/state.h"
#include "host/palette.h"
#include "host/progress.h"

static const char command[] = "diffvcs grad";

enum { RANKING_LINES = 256, SUMMARY_LINES = 10, HORIZON_MAX = 65535 };

#define SCALE_CHOICES "index|luma|red|green|blue"
#define SIDE_CHOICES "auto|mean|more|less|tangent"
enum { SCALE_INDEX, SCALE_LUMA, SCALE_RED };
static const char *const scales[] = {"index", "luma", "red", "green", "blue"};

typedef struct {
  vcs_setup_choice_t setup;
  const char *output, *input, *bit, *wrt, *out;
  int method, scale, side, groups;
  int64_t window;
  double alpha, temperature;
} options_t;

/* The slots of a walk, as vcs_grad_inputs_t and vcs_grad_outputs_t have them, and what else it needs. */
typedef struct {
  const options_t *options;
  vcs_setup_t setup;
  vcs_ending_t ending;
  vcs_target_t target;        /* backwards */
  float *rom, *state, *input; /* of the beginning */
  float *pixels, *end;        /* of the end */
  float **frames;             /* pixels by frame: only the last one is looked at */
  float *rewards;             /* by frame */
  vcs_rom_use_t *uses;
  float scale[256];
  vcs_grad_options_t grad;
  vcs_finding_t finding;
} job_t;

/* ---- The walks ---------------------------------------------------------------------------------------------- */

static void fill_scale(job_t *job) {
  const vcs_format_t format = vcs_cart_info(job->setup.rom.cart)->format;
  const int scale = job->options->scale;
  for (int i = 0; i < 256; i++) {
    const uint32_t rgb = vcs_palette(format)[i];
    job->scale[i] = scale == SCALE_INDEX  ? (float)i
                    : scale == SCALE_LUMA ? (float)vcs_palette_gray(format)[i]
                                          : (float)(rgb >> 8 * (2 - (scale - SCALE_RED)) & 255);
  }
}

static void set_method(job_t *job) {
  static const vcs_side_rule_t sides[] = {VCS_SIDE_MEAN, VCS_SIDE_MEAN, VCS_SIDE_MORE, VCS_SIDE_LESS, VCS_SIDE_TANGENT};
  const options_t *o = job->options;
  vcs_cli_method_options(o->method, o->window, &job->grad);
  job->grad.alpha = (float)o->alpha;
  job->grad.temperature = (float)o->temperature;
  job->grad.side = o->side == 0 && !o->output ? VCS_SIDE_TANGENT : sides[o->side];
  job->grad.scale = job->scale;
}

static vcs_status_t make_room(job_t *job, vcs_error_t *error) {
  const vcs_run_t *run = &job->setup.run;
  const size_t size = vcs_state_size(run->cart);
  job->rom = calloc((size_t)8 * run->cart->rom_size, sizeof(float));
  job->uses = calloc(run->cart->rom_size, sizeof *job->uses);
  job->input = calloc((size_t)VCS_INPUTS * (size_t)run->frames, sizeof(float));
  job->frames = calloc((size_t)run->frames, sizeof *job->frames);
  job->state = calloc(8 * size, sizeof(float));
  job->end = calloc(8 * size, sizeof(float));
  job->pixels = calloc(VCS_FRAME_BYTES, sizeof(float));
  job->rewards = calloc((size_t)run->frames, sizeof(float));
  if (job->rom && job->uses && job->input && job->frames && job->state && job->end && job->pixels && job->rewards) {
    job->frames[run->frames - 1] = job->pixels;
    return VCS_OK;
  }
  return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

static vcs_status_t walk_backwards(job_t *job, vcs_error_t *error) {
  const int groups = job->options->groups;
  vcs_finding_t *f = &job->finding;
  vcs_target_t *target = &job->target;
  vcs_status_t status = vcs_target_read(job->options->output, &job->setup.rom, job->setup.env, target, error);
  if (status) return status;
  f->target = target;
  f->value = vcs_target_value(target, &job->ending, job->scale);
  vcs_target_adjoint(target, job->setup.run.frames, job->pixels, job->end, job->rewards);
  f->wrt = groups;
  f->rom = groups & VCS_WRT_ROM ? job->rom : NULL;
  f->input = groups & VCS_WRT_INPUT ? job->input : NULL;
  f->state = job->state;
  const vcs_grad_inputs_t inputs = {job->state, f->rom ? job->rom : NULL, f->input ? job->input : NULL};
  vcs_grad_outputs_t outputs = {.pixels = job->frames, .state = job->end};
  if (target->kind == VCS_TARGET_SCORE) outputs = (vcs_grad_outputs_t){.env = job->setup.env, .rewards = job->rewards};
  status = vcs_grad_vjp(&job->setup.run, &job->grad, &inputs, &outputs, &f->report, error);
  if (status || !f->rom) return status;
  f->uses = job->uses;
  status = vcs_rom_uses(&job->setup.run, job->uses, error);
  if (status == VCS_OK && !vcs_finding_rank(f)) status = vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  return status;
}

/* What the place moves, beside what it truly moves. */
static vcs_status_t compare(job_t *job, const vcs_place_t *place, vcs_error_t *error) {
  const vcs_ending_t *base = &job->ending;
  const float sign = vcs_place_set(&job->setup, place) ? -1.0F : 1.0F;
  vcs_ending_t moved;
  vcs_status_t status = vcs_ending_make(&job->setup, place, &moved, error);
  if (status) return status;
  for (int i = 0; i < VCS_WIDTH * job->setup.rom.cart->frame_height; i++) {
    const float truth = sign * (job->scale[moved.picture[i]] - job->scale[base->picture[i]]);
    vcs_agreement_add(&job->finding.pixels_agree, &truth, &job->pixels[i], 1);
  }
  for (int i = 0; i < 1024; i++) {
    const int now = moved.machine->ram[i / 8] >> i % 8 & 1, was = base->machine->ram[i / 8] >> i % 8 & 1;
    const float truth = sign * (float)(now - was);
    vcs_agreement_add(&job->finding.ram_agree, &truth, &job->end[8 * offsetof(vcs_t, ram) + (size_t)i], 1);
  }
  vcs_ending_free(&moved);
  return VCS_OK;
}

static vcs_status_t walk_forwards(job_t *job, vcs_error_t *error) {
  const options_t *o = job->options;
  vcs_finding_t *f = &job->finding;
  vcs_place_t place;
  vcs_status_t status = o->input ? vcs_place_read_input(o->input, &job->setup, &place, error)
                                 : vcs_place_read_bit(o->bit, &job->setup, &place, error);
  if (status) return status;
  if (place.kind == VCS_PLACE_INPUT) job->input[VCS_INPUTS * place.frame + place.index] = 1;
  if (place.kind == VCS_PLACE_ROM) job->rom[8 * (size_t)place.index + place.bit] = 1;
  if (place.kind == VCS_PLACE_STATE) job->state[8 * (size_t)place.index + place.bit] = 1;
  f->forward = true;
  f->pixels = job->pixels;
  f->end = job->end;
  const vcs_grad_inputs_t inputs = {job->state, place.kind == VCS_PLACE_ROM ? job->rom : NULL, job->input};
  const vcs_grad_outputs_t outputs = {.pixels = job->frames, .state = job->end};
  status = vcs_grad_jvp(&job->setup.run, &job->grad, &inputs, &outputs, &f->report, error);
  return status ? status : compare(job, &place, error);
}

static vcs_status_t find(job_t *job, vcs_error_t *error) {
  const options_t *o = job->options;
  vcs_status_t status = make_room(job, error);
  if (status == VCS_OK) status = vcs_ending_make(&job->setup, NULL, &job->ending, error);
  if (status) return status;
  fill_scale(job);
  set_method(job);
  job->finding = (vcs_finding_t){.setup = &job->setup,
                                 .ending = &job->ending,
                                 .what = o->output  ? o->output
                                         : o->input ? o->input
                                                    : o->bit,
                                 .method = vcs_cli_method_name(o->method),
                                 .scale = scales[o->scale],
                                 .scale_values = job->scale,
                                 .window = job->grad.fork_window};
  return o->output ? walk_backwards(job, error) : walk_forwards(job, error);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

/* The path of a file in the directory, which the next call forgets; NULL: too long. */
static const char *path_of(const job_t *job, const char *name, char path[VCS_PATH_SIZE], vcs_status_t *status,
                           vcs_error_t *error) {
  if (vcs_path_join(path, VCS_PATH_SIZE, job->options->out, name)) return path;
  *status = vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
  return NULL;
}

typedef vcs_status_t (*writer_t)(const job_t *job, const char *path, vcs_error_t *error);

static vcs_status_t write_heat(const job_t *job, const char *path, vcs_error_t *error) {
  const vcs_cart_t *cart = job->setup.rom.cart;
  return vcs_map_heat(path, job->ending.picture, cart->frame_height, vcs_cart_info(cart)->format, job->pixels, error);
}

static int by_offset(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* With the most important bytes of tables as bit patterns, in the order of the image: sprites look like sprites. */
static vcs_status_t write_rom(const job_t *job, const char *path, vcs_error_t *error) {
  const vcs_cart_t *cart = job->setup.rom.cart;
  const vcs_finding_t *f = &job->finding;
  uint32_t shown[VCS_MAP_PATTERNS];
  int count = 0;
  for (uint32_t i = 0; i < f->ranked && count < VCS_MAP_PATTERNS; i++) {
    if (job->uses[f->ranking[i]].kind == VCS_ROM_DATA) shown[count++] = f->ranking[i];
  }
  qsort(shown, (size_t)count, sizeof *shown, by_offset);
  return vcs_map_rom(path, cart->rom, cart->rom_size, job->rom, shown, count, error);
}

static vcs_status_t write_ram(const job_t *job, const char *path, vcs_error_t *error) {
  const float *slots = job->finding.forward ? job->end : job->state;
  return vcs_map_ram(path, slots + 8 * offsetof(vcs_t, ram), error);
}

static vcs_status_t write_inputs(const job_t *job, const char *path, vcs_error_t *error) {
  return vcs_map_inputs(path, job->input, job->setup.run.frames, error);
}

static vcs_status_t write_text(void (*print)(const job_t *job, vcs_text_t *text), const job_t *job, const char *path,
                               vcs_error_t *error) {
  vcs_text_t text = {0};
  print(job, &text);
  vcs_status_t status = vcs_file_write_text(path, &text, error);
  vcs_text_free(&text);
  return status;
}

static void print_ranking(const job_t *job, vcs_text_t *text) { vcs_finding_print(&job->finding, RANKING_LINES, text); }
static void print_json(const job_t *job, vcs_text_t *text) { vcs_finding_json(&job->finding, text); }

static vcs_status_t write_ranking(const job_t *job, const char *path, vcs_error_t *error) {
  return write_text(print_ranking, job, path, error);
}
static vcs_status_t write_json(const job_t *job, const char *path, vcs_error_t *error) {
  return write_text(print_json, job, path, error);
}

static const struct {
  const char *name;
  writer_t write;
  bool forward; /* for this direction ... */
  bool always;  /* ... or for both */
  int groups;   /* walking backwards: if one of these is asked for; 0: in any case */
} files[] = {
    {"heat.png", write_heat, true, false, 0},        {"rom.png", write_rom, false, false, VCS_WRT_ROM},
    {"ram.png", write_ram, true, true, VCS_WRT_RAM}, {"inputs.png", write_inputs, false, false, VCS_WRT_INPUT},
    {"ranking.txt", write_ranking, true, true, 0},   {"grad.json", write_json, true, true, 0},
};

static bool applies(const job_t *job, size_t file) {
  const vcs_finding_t *f = &job->finding;
  if (!files[file].always && files[file].forward != f->forward) return false;
  return f->forward || !files[file].groups || files[file].groups & f->wrt;
}

static vcs_status_t write_files(const job_t *job, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files && status == VCS_OK; i++) {
    char buffer[VCS_PATH_SIZE];
    if (!applies(job, i)) continue;
    const char *path = path_of(job, files[i].name, buffer, &status, error);
    if (path) status = files[i].write(job, path, error);
    if (status == VCS_OK) printf("wrote     %s\n", path);
  }
  return status;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static int grad(const options_t *options) {
  job_t job = {.options = options};
  vcs_error_t error = {""};
  vcs_text_t text = {0};
  vcs_rom_t rom;
  int exit_code = vcs_rom_open_or_complain(command, options->setup.rom, &options->setup.choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  vcs_status_t status = vcs_setup_open(&options->setup, &job.setup, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = find(&job, &error);
  if (status == VCS_OK && !vcs_interrupted()) {
    vcs_finding_print(&job.finding, SUMMARY_LINES, &text);
    if (text.text) printf("%s\n", text.text);
    status = write_files(&job, &error);
  }
  vcs_text_free(&text);
  vcs_ending_free(&job.ending);
  free(job.rom);
  free(job.uses);
  free(job.input);
  free(job.frames);
  free(job.state);
  free(job.end);
  free(job.pixels);
  free(job.rewards);
  free(job.finding.ranking);
  vcs_setup_free(&job.setup);
  return vcs_cli_end(command, status, &error);
}

/* What can be known to be wrong before anything runs. */
static int check_options(options_t *o) {
  if (!!o->output + !!o->input + !!o->bit != 1) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "give one of --output (what moves it?) and --input or --bit (what does it move?)");
  }
  o->groups = vcs_wrt_read(o->wrt);
  if (!o->groups) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--wrt takes " VCS_WRT_CHOICES ", or several of them with commas, not '%s'", o->wrt);
  }
  const int exit_code = vcs_setup_complete(&o->setup, command);
  return exit_code == VCS_ARGS_GO ? vcs_output_directory(command, o->out) : exit_code;
}

int vcs_cli_grad(int argc, char **argv) {
  vcs_grad_options_t defaults;
  vcs_grad_defaults(&defaults);
  options_t o = {.setup = {.frame = -1, .horizon = 8},
                 .wrt = "rom,ram,input",
                 .out = "grad",
                 .method = VCS_CLI_BIT_FORK,
                 .window = VCS_CLI_WINDOW,
                 .alpha = (double)defaults.alpha,
                 .temperature = (double)defaults.temperature};
  const vcs_arg_t args[] = {
      VCS_ARG_POSITIONAL("ROM", &o.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_INTEGER("frame", &o.setup.frame, -1, 100000000, "frames to play before; -1: all --actions, or 300"),
      VCS_ARG_INTEGER("seed", &o.setup.seed, 0, INT64_MAX, "whose actions: the records' stream; 0: NOOP only"),
      VCS_ARG_TEXT("actions", &o.setup.actions, "LIST", "or these actions, then NOOP: NOOP*60,RIGHT*4"),
      VCS_ARG_INTEGER("horizon", &o.setup.horizon, 1, HORIZON_MAX, "frames of NOOP that are differentiated"),
      VCS_ARG_TEXT("output", &o.output, "WHAT", "what moves this, after the last frame? See above"),
      VCS_ARG_TEXT("wrt", &o.wrt, "GROUPS", "with --output, the bits of " VCS_WRT_CHOICES),
      VCS_ARG_TEXT("input", &o.input, "NAME", "what does this move? right, or right@2: held in frame 2 of the run"),
      VCS_ARG_TEXT("bit", &o.bit, "BIT", "what does this move? ram:9C.0, rom:F123.4, rom:@1F0.4 (an offset)"),
      VCS_ARG_CHOICE("method", &o.method, VCS_METHOD_CHOICES, "how"),
      VCS_ARG_INTEGER("window", &o.window, 1, 1000000, "bit+fork: instructions within which a branch's sides meet"),
      VCS_ARG_NUMBER("alpha", &o.alpha, 0, 1e6, "ste: sharpness of the gate at a branch"),
      VCS_ARG_NUMBER("temperature", &o.temperature, 0, 1e6, "ste: softness of reads; 0: one-hot"),
      VCS_ARG_CHOICE("scale", &o.scale, SCALE_CHOICES, "what a pixel is worth"),
      VCS_ARG_CHOICE("side", &o.side, SIDE_CHOICES, "one-sided differences; auto: mean, forwards tangent"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "where to write"),
      VCS_ARGS_CART(&o.setup.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "Derivatives of a run. With --output it walks backwards from one number and writes maps of all bits of ROM\n"
      "(rom.png), RAM (ram.png) and of all inputs by frame (inputs.png) that move it. With --input or --bit it walks\n"
      "forwards from one cause and draws what it moves over the picture (heat.png, ram.png). Both write the ranking\n"
      "(ranking.txt, with disassembly) and grad.json. Orange is up, blue is down.\n"
      "\n"
      "Outputs: pixel:ROW,COLUMN (the row first), region:X,Y,WIDTH,HEIGHT (a sum of pixels), screen (the sum of all),\n"
      "ram:9C (a byte), ram:9C.3 (a bit), score (the sum of rewards). The derivative with respect to a bit is the\n"
      "output with the bit set minus the output with the bit clear; docs/gradients.md has the methods." VCS_ROMS_NOTE,
      "diffvcs grad demo --frame 100 --output screen --out demo.grad\n"
      "diffvcs grad space_invaders --frame 1050 --output pixel:190,38 --wrt rom,ram,input --horizon 8 --out maps\n"
      "diffvcs grad space_invaders --frame 1050 --input right --horizon 8 --out maps\n"
      "diffvcs grad breakout --seed 1 --frame 400 --output score --horizon 30 --method bit --out maps\n"
      "diffvcs grad pong --actions NOOP*60,RIGHT*4 --bit ram:B6.0 --horizon 1 --scale luma --out maps\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  return grad(&o);
}
