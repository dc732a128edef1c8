/* explain.c: `diffvcs explain ROM --frame N --pixel X,Y`: explains an output, as a page. */
#include "cli/common.h"

static const char command[] = "diffvcs explain";
static const vcs_usage_t usage = {
    command,
    "Explains a pixel, a region, an object, a byte of RAM or the score: the objects that draw it, the register writes "
    "on which it depends, with their beam positions, the instructions that computed the written values, and the bytes "
    "of RAM and ROM and the controls of earlier frames that change it. Each of these has its truth (the bit is flipped "
    "and the frames run again) and its derivative by every method. Writes a self-contained page (explain.html), the "
    "same as explain.json, and frame.png, ram.png, rom.png." VCS_ROMS_NOTE,
    "diffvcs explain space_invaders --frame 1050 --pixel 38,190 --out why\n"
    "diffvcs explain demo --frame 100 --pixel 80,100\n"
    "diffvcs explain pong --seed 1 --frame 400 --object P0 --horizon 16\n"
    "diffvcs explain breakout --seed 1 --frame 600 --ram 9C\n"};

enum { HORIZON_MAX = 1000 };

typedef struct {
  vcs_cli_setup_t setup;
  vcs_cli_output_t output; /* or `object` */
  const char *object;
  int64_t span, window;
  const char *out;
  int object_number;
} options_t;

static vcs_status_t explain(const vcs_rom_t *rom, const vcs_setup_t *setup, void *context, vcs_error_t *error) {
  static const char *const files[] = {"frame.png", "ram.png", "rom.png", "explain.html", "explain.json"};
  const options_t *o = context;
  static vcs_explanation_t explanation; /* too large for a stack */
  vcs_bar_t bar = {0};
  const vcs_explain_options_t options = {.target = o->object ? NULL : o->output.text,
                                         .object = o->object_number,
                                         .span = o->span,
                                         .window = o->window,
                                         .env = setup->env,
                                         .report = vcs_bar_report(&bar)};
  vcs_status_t status = vcs_explain(&setup->run, &options, &explanation, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) {
    char *summary = vcs_explain_summary(&explanation);
    printf("%s\n", summary ? summary : "");
    vcs_text_release(summary);
    status = vcs_explain_page(&explanation, rom->name, setup->frame, o->out, error);
  }
  for (int i = 0; i < 5 && status == VCS_OK; i++) {
    char path[VCS_PATH_SIZE];
    if (vcs_path_join(path, sizeof path, o->out, files[i])) printf("wrote     %s\n", path);
  }
  vcs_explanation_free(&explanation);
  return status;
}

/* Reads the one output that was chosen. */
static int read_output(void *options) {
  options_t *o = options;
  if (vcs_cli_output_count(&o->output) + !!o->object != 1) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "choose one output: --object P0, " VCS_OUTPUT_CHOICES);
  }
  vcs_cli_output_read(&o->output);
  if (!o->object) return VCS_ARGS_GO;
  o->object_number = vcs_object_by_name(o->object);
  if (o->object_number >= 0) return VCS_ARGS_GO;
  return vcs_cli_complain(command, VCS_EXIT_USAGE, "--object takes P0, P1, M0, M1, BL or PF, not '%.20s'", o->object);
}

int vcs_cli_explain(int argc, char **argv) {
  options_t o = {
      .setup.setup = {.frame = -1, .horizon = 8, .replay = 1}, .span = 1, .window = VCS_STUDY_WINDOW, .out = "explain"};
  const vcs_arg_t args[] = {
      VCS_ARG_ROM(&o.setup),
      VCS_ARGS_PLAYED(&o.setup),
      VCS_ARGS_OUTPUT(&o.output),
      VCS_ARG_TEXT("object", &o.object, "NAME", "or all pixels that this object draws: P0, P1, M0, M1, BL, PF"),
      VCS_ARG_INTEGER("span", &o.span, 1, HORIZON_MAX, "bits of RAM and ROM are flipped this many frames before"),
      VCS_ARG_INTEGER("horizon", &o.setup.setup.horizon, 1, HORIZON_MAX, "controls are tried this many frames back"),
      VCS_ARG_WINDOW(&o.window),
      VCS_ARG_DIRECTORY(&o.out),
      VCS_ARGS_CART(&o.setup.rom_options),
      VCS_ARG_END};
  return vcs_cli_study(&usage, args, argc, argv, &(vcs_cli_study_t){&o.setup, &o.out, read_output, explain, &o});
}
