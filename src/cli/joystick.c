/* joystick.c: `diffvcs joystick [GAME]`: what the stick does to the screen, as tables and maps (docs/joystick.md). */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "cli/common.h"
#include "plot/map.h"

static const char command[] = "diffvcs joystick";
static const vcs_usage_t usage = {
    command,
    "Shows what the stick does to the screen. The game is played up to a state; from there it runs for some frames "
    "without input, except that RIGHT, LEFT, UP or DOWN is pressed. d(screen)/d(control) after each frame is computed "
    "by running again (truth) and by forward passes (bit+fork, ste, naive); reverse passes answer the inverse "
    "question: which control moves the light of some rows to the right? Prints the table and writes it (table.md, "
    "table.tsv), with a map for each control and method over the last frame (right-truth.png ...). docs/joystick.md "
    "has results." VCS_ROMS_NOTE,
    "diffvcs joystick\n"
    "diffvcs joystick --actions NOOP*1050,RIGHT*40,NOOP*4 --out middle\n"
    "diffvcs joystick --actions NOOP*1050,RIGHT*40,NOOP*4 --held --out middle.held\n"
    "diffvcs joystick --press 1 --out not.polled\n"
    "diffvcs joystick demo --frame 100 --horizon 3 --rows 20:180 --out demo.joystick\n"};

enum { FRAMES_MAX = 256, CONTROLS = VCS_JOYSTICK_CONTROLS, ANSWERS = VCS_JOYSTICK_ANSWERS, TRUTH = VCS_JOYSTICK_TRUTH };

static const char *const file_names[ANSWERS] = {"truth", "bit-fork", "ste", "naive"};

typedef struct {
  vcs_cli_setup_t setup;
  const char *rows, *out;
  bool held;
  vcs_joystick_options_t joystick;
} options_t;

typedef struct {
  const options_t *options;
  vcs_joystick_t result;
} report_t;

static const float *map_of(const report_t *r, int answer, int control, int frame) {
  const size_t row = (size_t)(answer * CONTROLS + control) * (size_t)r->result.frames + (size_t)frame;
  return r->result.maps + row * r->result.pixels;
}

/* ---- Tables ------------------------------------------------------------------------------------------------- */

/* How many pixels change, the smallest rectangle that holds them, and the largest change. */
typedef struct {
  int count, top, bottom, left, right;
  double largest;
} box_t;

static box_t box_of(const report_t *r, const float *map) {
  box_t box = {0, INT32_MAX, -1, INT32_MAX, -1, 0};
  for (int i = 0; i < (int)r->result.pixels; i++) {
    const int x = i % VCS_WIDTH, y = i / VCS_WIDTH;
    if (map[i] == 0) continue;
    box.count++;
    if (y < box.top) box.top = y;
    if (y > box.bottom) box.bottom = y;
    if (x < box.left) box.left = x;
    if (x > box.right) box.right = x;
    if (fabs((double)map[i]) > box.largest) box.largest = fabs((double)map[i]);
  }
  return box;
}

static void print_share(vcs_text_t *text, const char *before, double share) {
  if (isnan(share)) {
    vcs_text_printf(text, "%s-", before);
  } else {
    vcs_text_printf(text, "%s%.3f", before, share);
  }
}

/* The name of a control in capital letters, as actions have it. */
static const char *name_of(int control, char name[16]) {
  snprintf(name, 16, "%s", vcs_input_name(vcs_joystick_input(control)));
  for (char *at = name; *at; at++) *at = (char)toupper((unsigned char)*at);
  return name;
}

static vcs_agreement_t agreement_of(const report_t *r, int answer, int control, int frame) {
  vcs_agreement_t agreement = {0};
  vcs_agreement_add(&agreement, map_of(r, TRUTH, control, frame), map_of(r, answer, control, frame), r->result.pixels);
  return agreement;
}

static void print_tsv(const report_t *r, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "control\tframes\tmethod\tpixels\trows\tcolumns\tlargest\trecall\tprecision\tsign\tcosine\n");
  for (int c = 0; c < CONTROLS; c++) {
    for (int f = 0; f < r->result.frames; f++) {
      for (int answer = 0; answer < ANSWERS; answer++) {
        const box_t box = box_of(r, map_of(r, answer, c, f));
        const vcs_agreement_t a = agreement_of(r, answer, c, f);
        vcs_text_printf(text, "%s\t%d\t%s\t%d\t", name_of(c, name), f + 1, vcs_joystick_answer(answer), box.count);
        if (box.count) {
          vcs_text_printf(text, "%d:%d\t%d:%d", box.top, box.bottom + 1, box.left, box.right + 1);
        } else {
          vcs_text_printf(text, "-\t-");
        }
        vcs_text_printf(text, "\t%.6g", box.largest);
        print_share(text, "\t", vcs_agreement_recall(&a));
        print_share(text, "\t", vcs_agreement_precision(&a));
        print_share(text, "\t", vcs_agreement_sign(&a));
        print_share(text, "\t", vcs_agreement_cosine(&a));
        vcs_text_printf(text, "\n");
      }
    }
  }
}

static void print_effects(const report_t *r, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "| control | frames later | truth: pixels | rows, columns |");
  for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
    vcs_text_printf(text, " `%s`: pixels | recall | precision | sign | cosine |", vcs_joystick_answer(answer));
  }
  vcs_text_printf(text, "\n|---|---|---|---|");
  for (int i = 0; i < 5 * (ANSWERS - 1); i++) vcs_text_printf(text, "---|");
  vcs_text_printf(text, "\n");
  for (int c = 0; c < CONTROLS; c++) {
    for (int f = 0; f < r->result.frames; f++) {
      const box_t truth = box_of(r, map_of(r, TRUTH, c, f));
      vcs_text_printf(text, "| %s | %d | %d | ", name_of(c, name), f + 1, truth.count);
      if (truth.count) {
        vcs_text_printf(text, "%d to %d, %d to %d |", truth.top, truth.bottom, truth.left, truth.right);
      } else {
        vcs_text_printf(text, "- |");
      }
      for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
        const vcs_agreement_t a = agreement_of(r, answer, c, f);
        vcs_text_printf(text, " %d", box_of(r, map_of(r, answer, c, f)).count);
        print_share(text, " | ", vcs_agreement_recall(&a));
        print_share(text, " | ", vcs_agreement_precision(&a));
        print_share(text, " | ", vcs_agreement_sign(&a));
        print_share(text, " | ", vcs_agreement_cosine(&a));
        vcs_text_printf(text, " |");
      }
      vcs_text_printf(text, "\n");
    }
  }
}

/* Sorts the controls by their effect, the largest first; equal ones keep their order. */
static void rank(const double values[CONTROLS], int order[CONTROLS]) {
  for (int i = 0; i < CONTROLS; i++) {
    int at = i;
    for (; at > 0 && values[order[at - 1]] < values[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

static void print_inverse(const report_t *r, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "| method |");
  for (int c = 0; c < CONTROLS; c++) vcs_text_printf(text, " %s |", name_of(c, name));
  vcs_text_printf(text, " ranking |\n|---|");
  for (int c = 0; c <= CONTROLS; c++) vcs_text_printf(text, "---|");
  vcs_text_printf(text, "\n");
  for (int answer = 0; answer < ANSWERS; answer++) {
    const double *values = r->result.inverse[answer];
    int order[CONTROLS];
    vcs_text_printf(text, "| `%s` |", vcs_joystick_answer(answer));
    for (int c = 0; c < CONTROLS; c++) vcs_text_printf(text, " %.6g |", values[c] + 0.0);
    rank(values, order);
    for (int i = 0; i < CONTROLS; i++) {
      const bool tie = i && values[order[i]] == values[order[i - 1]];
      vcs_text_printf(text, "%s%s", i == 0 ? " " : tie ? " = " : " > ", name_of(order[i], name));
    }
    vcs_text_printf(text, " |\n");
  }
}

/* How the game was played up to the run. */
static void print_played(const vcs_setup_options_t *played, vcs_text_t *text) {
  if (played->frame >= 0) vcs_text_printf(text, "after %" PRId64 " frames of ", played->frame);
  if (played->frame < 0) vcs_text_printf(text, "after ");
  if (played->seed) vcs_text_printf(text, "stream %" PRId64, played->seed);
  if (!played->seed) vcs_text_printf(text, "%s", played->actions ? played->actions : "NOOP");
}

static void print_markdown(const report_t *r, const char *name, vcs_text_t *text) {
  const options_t *o = r->options;
  vcs_text_printf(text, "%s, profile %s, ", name, vcs_profile_name((vcs_profile_t)o->setup.rom_options.profile));
  print_played(&o->setup.setup, text);
  vcs_text_printf(text, "; each control %s frame %d of the run.\n\n", o->held ? "held from" : "pressed in",
                  (int)o->joystick.press);
  vcs_text_printf(text, "d(luminance of the screen)/d(control):\n\n");
  print_effects(r, text);
  vcs_text_printf(text,
                  "\nThe inverse: d(sum of luminance * (column - %d), rows %d to %d, %d frames later)/d(control):\n\n",
                  VCS_WIDTH / 2, (int)o->joystick.top, (int)o->joystick.bottom - 1, (int)r->result.frames);
  print_inverse(r, text);
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static vcs_status_t write_heat(const report_t *r, const vcs_cart_t *cart, int answer, int control, vcs_error_t *error) {
  const vcs_cart_info_t *info = vcs_cart_info(cart);
  char name[64], path[VCS_PATH_SIZE];
  snprintf(name, sizeof name, "%s-%s.png", vcs_input_name(vcs_joystick_input(control)), file_names[answer]);
  const vcs_status_t status = vcs_output_path(r->options->out, name, path, error);
  if (status) return status;
  return vcs_map_heat(path, r->result.picture, info->height, info->format,
                      map_of(r, answer, control, r->result.frames - 1), error);
}

static vcs_status_t write_files(const report_t *r, const vcs_rom_t *rom, vcs_error_t *error) {
  vcs_text_t markdown = {0}, table = {0};
  char path[VCS_PATH_SIZE];
  print_markdown(r, rom->name, &markdown);
  print_tsv(r, &table);
  vcs_status_t status = vcs_output_path(r->options->out, "table.md", path, error);
  if (status == VCS_OK) status = vcs_file_write_text(path, &markdown, error);
  if (status == VCS_OK) status = vcs_output_path(r->options->out, "table.tsv", path, error);
  if (status == VCS_OK) status = vcs_file_write_text(path, &table, error);
  for (int i = 0; i < ANSWERS * CONTROLS && status == VCS_OK; i++) {
    status = write_heat(r, rom->cart, i / CONTROLS, i % CONTROLS, error);
  }
  if (status == VCS_OK) {
    printf("%s\nwrote     table.md, table.tsv and %d maps (of the last frame) into %s\n", markdown.text,
           ANSWERS * CONTROLS, r->options->out);
  }
  vcs_text_free(&markdown);
  vcs_text_free(&table);
  return status;
}

static vcs_status_t joystick(const vcs_rom_t *rom, const vcs_setup_t *setup, void *context, vcs_error_t *error) {
  options_t *o = context;
  report_t r = {.options = o};
  vcs_bar_t bar = {0};
  o->joystick.held = o->held;
  o->joystick.report = vcs_bar_report(&bar);
  vcs_status_t status = vcs_joystick(&setup->run, &o->joystick, &r.result, error);
  vcs_bar_finish(&bar);
  if (status == VCS_OK) status = write_files(&r, rom, error);
  vcs_joystick_free(&r.result);
  return status;
}

static int check_options(void *options) {
  options_t *o = options;
  vcs_joystick_options_t *j = &o->joystick;
  char rest;
  if (sscanf(o->rows, "%9d:%9d%c", &j->top, &j->bottom, &rest) != 2 || j->top < 0 || j->top >= j->bottom) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--rows takes the first row and the one after the last, as in 185:195; not '%s'", o->rows);
  }
  if (j->press >= o->setup.setup.horizon) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--press %d: the run has the frames 0 to %d", (int)j->press,
                            (int)o->setup.setup.horizon - 1);
  }
  return VCS_ARGS_GO;
}

int vcs_cli_joystick(int argc, char **argv) {
  options_t o = {.setup = {.rom = "space_invaders", .setup = {.frame = -1, .horizon = 8}, .frame = 1050},
                 .rows = "185:195",
                 .out = "joystick",
                 .joystick = {.window = VCS_STUDY_WINDOW}};
  const vcs_arg_t args[] = {VCS_ARG_OPTIONAL("GAME", &o.setup.rom, "a ROM image, the name of a game, or demo"),
                            VCS_ARGS_PLAYED_TO(&o.setup, "1050"),
                            VCS_ARG_INTEGER("horizon", &o.setup.setup.horizon, 1, FRAMES_MAX,
                                            "frames of the run; effects are shown after each"),
                            VCS_ARG_INTEGER("press", &o.joystick.press, 0, FRAMES_MAX - 1,
                                            "the frame of the run in which a control is pressed"),
                            VCS_ARG_FLAG("held", &o.held, "keep it pressed from then on, instead of for one frame"),
                            VCS_ARG_TEXT("rows", &o.rows, "A:B", "rows [A, B) of the inverse question"),
                            VCS_ARG_WINDOW(&o.joystick.window),
                            VCS_ARG_DIRECTORY(&o.out),
                            VCS_ARGS_CART(&o.setup.rom_options),
                            VCS_ARG_END};
  return vcs_cli_study(&usage, args, argc, argv, &(vcs_cli_study_t){&o.setup, &o.out, check_options, joystick, &o});
}
