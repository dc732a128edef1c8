/* joystick.c: `diffvcs joystick [GAME]`: what the stick does to the screen, by every method, beside the truth.
 *
 * A state of a game is taken, and from there a run in which nobody does anything. Forwards: each direction is pressed,
 * for one frame or from then on, and d(screen)/d(direction) is looked at after every frame: by running again (the
 * truth), and by one walk forwards a method. Backwards, the inverse question: which direction moves light to the right?
 * The output is the sum of luminance * (column - 80) over some rows after the last frame. One walk backwards a method
 * ranks all directions; for `bit+fork` it is one along each of them, which knows of steps that are undone.
 * docs/joystick.md has the study that this was made for.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/agreement.h"
#include "plot/map.h"
#include "study/setup.h"
#include "core/state.h"
#include "host/progress.h"

static const char command[] = "diffvcs joystick";

enum { FRAMES_MAX = 256 };

static const uint8_t controls[] = {VCS_INPUT_RIGHT, VCS_INPUT_LEFT, VCS_INPUT_UP, VCS_INPUT_DOWN};
enum { CONTROLS = sizeof controls };

/* The answers: the truth, then the methods, best first. */
static const struct {
  const char *name, *file;
} answers[] = {{"truth", "truth"}, {"bit+fork", "bit-fork"}, {"ste", "ste"}, {"naive", "naive"}};
enum { ANSWERS = sizeof answers / sizeof *answers, TRUTH = 0, FORKS = 1 };

typedef struct {
  vcs_setup_choice_t setup;
  const char *rows, *out;
  int64_t press, window;
  bool held;
  int top, bottom; /* the rows of the inverse, the last one not included */
} options_t;

typedef struct {
  const options_t *options;
  vcs_setup_t setup;
  size_t pixel_count;
  float scale[768];
  float *weights;                    /* of the inverse's output, by pixel */
  float *maps;                       /* [answer][control][frame][pixel] */
  float **map_by_frame;              /* for one walk */
  float *input, *direction;          /* tangents or adjoints, by frame and input */
  double inverse[ANSWERS][CONTROLS]; /* d(output)/d(control) */
  uint8_t *picture;                  /* after the last frame */
} job_t;

static float *map_of(const job_t *job, int answer, int control, int frame) {
  const size_t row = (size_t)(answer * CONTROLS + control) * (size_t)job->setup.run.frames + (size_t)frame;
  return job->maps + row * job->pixel_count;
}

/* The frames in which a control is down: [first, end). */
static int first_frame(const job_t *job) { return (int)job->options->press; }
static int end_frame(const job_t *job) { return job->options->held ? job->setup.run.frames : first_frame(job) + 1; }

/* ---- The answers -------------------------------------------------------------------------------------------- */

static double weighed(const job_t *job, const float *map) {
  double sum = 0;
  for (size_t i = 0; i < job->pixel_count; i++) sum += (double)job->weights[i] * (double)map[i];
  return sum;
}

static vcs_status_t find_truth(job_t *job, vcs_error_t *error) {
  const int first = first_frame(job), frames = job->setup.run.frames;
  const size_t pressed = (size_t)(end_frame(job) - first);
  int32_t horizons[FRAMES_MAX];
  size_t ends[CONTROLS];
  vcs_place_t *places = calloc(CONTROLS * pressed, sizeof *places);
  if (!places) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int i = 0; i < frames; i++) horizons[i] = i + 1;
  for (size_t c = 0; c < CONTROLS; c++) {
    ends[c] = (c + 1) * pressed;
    for (size_t i = 0; i < pressed; i++) {
      places[c * pressed + i] = (vcs_place_t){VCS_PLACE_INPUT, 0, (uint16_t)(first + (int)i), controls[c]};
    }
  }
  const vcs_truth_options_t options = {
      .horizons = horizons, .horizon_count = frames, .values = job->scale, .channels = 1};
  const vcs_truth_results_t results = {.pixels = map_of(job, TRUTH, 0, 0)};
  vcs_status_t status = vcs_truth_sets(&job->setup.run, &options, places, ends, CONTROLS, &results, error);
  free(places);
  for (int c = 0; c < CONTROLS; c++) job->inverse[TRUTH][c] = weighed(job, map_of(job, TRUTH, c, frames - 1));
  return status;
}

static void set_method(const job_t *job, int answer, vcs_grad_options_t *options) {
  const char *name = answers[answer].name;
  vcs_cli_method_options(vcs_cli_method_by_name(name, strlen(name)), job->options->window, options);
  options->scale = job->scale;
}

/* The direction of a control: it is down in some frames. */
static void press(const job_t *job, int control, float *input) {
  memset(input, 0, (size_t)VCS_INPUTS * (size_t)job->setup.run.frames * sizeof *input);
  for (int f = first_frame(job); f < end_frame(job); f++) input[VCS_INPUTS * f + controls[control]] = 1;
}

static vcs_status_t walk_forwards(job_t *job, int answer, int control, vcs_error_t *error) {
  vcs_grad_options_t options;
  set_method(job, answer, &options);
  press(job, control, job->input);
  for (int f = 0; f < job->setup.run.frames; f++) job->map_by_frame[f] = map_of(job, answer, control, f);
  const vcs_grad_inputs_t inputs = {.input = job->input};
  const vcs_grad_outputs_t outputs = {.pixels = job->map_by_frame};
  return vcs_grad_jvp(&job->setup.run, &options, &inputs, &outputs, NULL, error);
}

/* From the output back to the inputs, for the controls from `first` up to, without it, `behind`: along the only one, or
 * all at once. */
static vcs_status_t walk_backwards(job_t *job, int answer, int first, int behind, vcs_error_t *error) {
  vcs_grad_options_t options;
  const int frames = job->setup.run.frames;
  set_method(job, answer, &options);
  memset(job->input, 0, (size_t)VCS_INPUTS * (size_t)frames * sizeof *job->input);
  for (int f = 0; f < frames; f++) job->map_by_frame[f] = f + 1 < frames ? NULL : job->weights;
  press(job, first, job->direction);
  const vcs_grad_inputs_t inputs = {.input = job->input}, along = {.input = job->direction};
  const vcs_grad_outputs_t outputs = {.pixels = job->map_by_frame};
  vcs_status_t status = behind - first == 1 ? vcs_grad_vjp_directional(NULL, &job->setup.run, &options, &along, &inputs,
                                                                       &outputs, NULL, error)
                                            : vcs_grad_vjp(&job->setup.run, &options, &inputs, &outputs, NULL, error);
  for (int c = first; c < behind; c++) {
    double sum = 0;
    for (int f = first_frame(job); f < end_frame(job); f++) sum += (double)job->input[VCS_INPUTS * f + controls[c]];
    job->inverse[answer][c] = sum;
  }
  return status;
}

/* The picture that the maps are drawn over. */
static vcs_status_t show_last(job_t *job, vcs_error_t *error) {
  const vcs_run_t *run = &job->setup.run;
  vcs_t *machine = calloc(1, sizeof *machine);
  uint8_t *frames = malloc(2 * VCS_FRAME_BYTES);
  job->picture = malloc(job->pixel_count);
  const bool room = machine && frames && job->picture;
  if (room) {
    memcpy(machine, run->start, vcs_state_size(run->cart));
    memcpy(frames, run->picture, 2 * VCS_FRAME_BYTES);
    for (int f = 0; f < run->frames; f++) {
      vcs_control(run->cart, machine, &run->controls[f]);
      vcs_frame(run->cart, machine, frames);
    }
    memcpy(job->picture, vcs_picture(machine, frames), job->pixel_count);
  }
  free(machine);
  free(frames);
  return room ? VCS_OK : vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
}

static vcs_status_t make_room(job_t *job, vcs_error_t *error) {
  const vcs_cart_t *cart = job->setup.rom.cart;
  const options_t *o = job->options;
  const size_t frames = (size_t)job->setup.run.frames;
  if (o->bottom > cart->frame_height) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT, "--rows %s: the picture has the rows 0 to %d", o->rows,
                          (int)cart->frame_height - 1);
  }
  job->pixel_count = (size_t)VCS_WIDTH * (size_t)cart->frame_height;
  job->weights = calloc(VCS_FRAME_BYTES, sizeof(float));
  job->maps = calloc(ANSWERS * CONTROLS * frames * job->pixel_count, sizeof(float));
  job->map_by_frame = calloc(frames, sizeof *job->map_by_frame);
  job->input = calloc(VCS_INPUTS * frames, sizeof(float));
  job->direction = calloc(VCS_INPUTS * frames, sizeof(float));
  if (!job->weights || !job->maps || !job->map_by_frame || !job->input || !job->direction) {
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_pixel_values(cart, VCS_VALUES_LUMINANCE, job->scale);
  const int middle = VCS_WIDTH / 2;
  for (int y = o->top; y < o->bottom; y++) {
    for (int x = 0; x < VCS_WIDTH; x++) job->weights[VCS_WIDTH * y + x] = (float)(x - middle);
  }
  return show_last(job, error);
}

static vcs_status_t find(job_t *job, vcs_error_t *error) {
  vcs_progress_t progress;
  vcs_status_t status = make_room(job, error);
  if (status) return status;
  vcs_progress_start(&progress, "walking", ANSWERS - 1 + ANSWERS * CONTROLS, VCS_PROGRESS_AUTO);
  status = find_truth(job, error);
  vcs_progress_add(&progress, 1);
  for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
    for (int c = 0; c < CONTROLS && status == VCS_OK && !vcs_interrupted(); c++) {
      status = walk_forwards(job, answer, c, error);
      vcs_progress_add(&progress, 1);
    }
    const int walks = answer == FORKS ? CONTROLS : 1;
    for (int i = 0; i < walks && status == VCS_OK && !vcs_interrupted(); i++) {
      status = walk_backwards(job, answer, i, walks == 1 ? CONTROLS : i + 1, error);
      vcs_progress_add(&progress, 1);
    }
  }
  vcs_progress_finish(&progress);
  return status;
}

/* ---- Tables ------------------------------------------------------------------------------------------------- */

/* The smallest rectangle that holds everything that moves; count 0: nothing does. */
typedef struct {
  int count, top, bottom, left, right;
  double largest;
} box_t;

static box_t box_of(const job_t *job, const float *map) {
  box_t box = {0, INT32_MAX, -1, INT32_MAX, -1, 0};
  for (int i = 0; i < (int)job->pixel_count; i++) {
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

/* Capital letters, as the actions have them. */
static const char *name_of(int control, char name[16]) {
  snprintf(name, 16, "%s", vcs_input_name(controls[control]));
  for (char *at = name; *at; at++) *at = (char)toupper((unsigned char)*at);
  return name;
}

static vcs_agreement_t agreement_of(const job_t *job, int answer, int control, int frame) {
  vcs_agreement_t agreement = {0};
  vcs_agreement_add(&agreement, map_of(job, TRUTH, control, frame), map_of(job, answer, control, frame),
                    job->pixel_count);
  return agreement;
}

static void print_tsv(const job_t *job, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "control\tframes\tmethod\tpixels\trows\tcolumns\tlargest\trecall\tprecision\tsign\tcosine\n");
  for (int c = 0; c < CONTROLS; c++) {
    for (int f = 0; f < job->setup.run.frames; f++) {
      for (int answer = 0; answer < ANSWERS; answer++) {
        const box_t box = box_of(job, map_of(job, answer, c, f));
        const vcs_agreement_t a = agreement_of(job, answer, c, f);
        vcs_text_printf(text, "%s\t%d\t%s\t%d\t", name_of(c, name), f + 1, answers[answer].name, box.count);
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

static void print_effects(const job_t *job, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "| control | frames later | truth: pixels | rows, columns |");
  for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
    vcs_text_printf(text, " `%s`: pixels | recall | precision | sign | cosine |", answers[answer].name);
  }
  vcs_text_printf(text, "\n|---|---|---|---|");
  for (int i = 0; i < 5 * (ANSWERS - 1); i++) vcs_text_printf(text, "---|");
  vcs_text_printf(text, "\n");
  for (int c = 0; c < CONTROLS; c++) {
    for (int f = 0; f < job->setup.run.frames; f++) {
      const box_t truth = box_of(job, map_of(job, TRUTH, c, f));
      vcs_text_printf(text, "| %s | %d | %d | ", name_of(c, name), f + 1, truth.count);
      if (truth.count) {
        vcs_text_printf(text, "%d to %d, %d to %d |", truth.top, truth.bottom, truth.left, truth.right);
      } else {
        vcs_text_printf(text, "- |");
      }
      for (int answer = TRUTH + 1; answer < ANSWERS; answer++) {
        const vcs_agreement_t a = agreement_of(job, answer, c, f);
        vcs_text_printf(text, " %d", box_of(job, map_of(job, answer, c, f)).count);
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

/* The controls by what they do, the best first; equal ones as they come. */
static void rank(const double values[CONTROLS], int order[CONTROLS]) {
  for (int i = 0; i < CONTROLS; i++) {
    int at = i;
    for (; at > 0 && values[order[at - 1]] < values[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

static void print_inverse(const job_t *job, vcs_text_t *text) {
  char name[16];
  vcs_text_printf(text, "| method |");
  for (int c = 0; c < CONTROLS; c++) vcs_text_printf(text, " %s |", name_of(c, name));
  vcs_text_printf(text, " ranking |\n|---|");
  for (int c = 0; c <= CONTROLS; c++) vcs_text_printf(text, "---|");
  vcs_text_printf(text, "\n");
  for (int answer = 0; answer < ANSWERS; answer++) {
    const double *values = job->inverse[answer];
    int order[CONTROLS];
    vcs_text_printf(text, "| `%s` |", answers[answer].name);
    for (int c = 0; c < CONTROLS; c++) vcs_text_printf(text, " %.6g |", values[c] + 0.0);
    rank(values, order);
    for (int i = 0; i < CONTROLS; i++) {
      const bool tie = i && values[order[i]] == values[order[i - 1]];
      vcs_text_printf(text, "%s%s", i == 0 ? " " : tie ? " = " : " > ", name_of(order[i], name));
    }
    vcs_text_printf(text, " |\n");
  }
}

static void print_markdown(const job_t *job, vcs_text_t *text) {
  const options_t *o = job->options;
  vcs_text_printf(text, "%s, profile %s, after %s; each control %s frame %d of the run.\n\n", job->setup.rom.name,
                  vcs_profile_name((vcs_profile_t)o->setup.choice.profile), o->setup.actions,
                  o->held ? "held from" : "pressed in", first_frame(job));
  vcs_text_printf(text, "d(luminance of the screen)/d(control):\n\n");
  print_effects(job, text);
  vcs_text_printf(text,
                  "\nThe inverse: d(sum of luminance * (column - %d), rows %d to %d, %d frames later)/d(control):\n\n",
                  VCS_WIDTH / 2, o->top, o->bottom - 1, (int)job->setup.run.frames);
  print_inverse(job, text);
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

static vcs_status_t path_of(const job_t *job, const char *name, char path[VCS_PATH_SIZE], vcs_error_t *error) {
  if (vcs_path_join(path, VCS_PATH_SIZE, job->options->out, name)) return VCS_OK;
  return vcs_error_fill(error, VCS_BAD_ARGUMENT, "the path of --out is too long");
}

static vcs_status_t write_text(const job_t *job, const char *name, const vcs_text_t *text, vcs_error_t *error) {
  char path[VCS_PATH_SIZE];
  vcs_status_t status = path_of(job, name, path, error);
  return status ? status : vcs_file_write_text(path, text, error);
}

static vcs_status_t write_heat(const job_t *job, int answer, int control, vcs_error_t *error) {
  const vcs_cart_t *cart = job->setup.rom.cart;
  char name[64], path[VCS_PATH_SIZE];
  snprintf(name, sizeof name, "%s-%s.png", vcs_input_name(controls[control]), answers[answer].file);
  vcs_status_t status = path_of(job, name, path, error);
  if (status) return status;
  return vcs_map_heat(path, job->picture, cart->frame_height, vcs_cart_info(cart)->format,
                      map_of(job, answer, control, job->setup.run.frames - 1), error);
}

static vcs_status_t write_files(const job_t *job, vcs_error_t *error) {
  vcs_text_t markdown = {0}, table = {0};
  print_markdown(job, &markdown);
  print_tsv(job, &table);
  vcs_status_t status = write_text(job, "table.md", &markdown, error);
  if (status == VCS_OK) status = write_text(job, "table.tsv", &table, error);
  for (int i = 0; i < ANSWERS * CONTROLS && status == VCS_OK; i++) {
    status = write_heat(job, i / CONTROLS, i % CONTROLS, error);
  }
  if (status == VCS_OK) {
    printf("%s\nwrote     table.md, table.tsv and %d maps (of the last frame) into %s\n", markdown.text,
           ANSWERS * CONTROLS, job->options->out);
  }
  vcs_text_free(&markdown);
  vcs_text_free(&table);
  return status;
}

/* ---- The command -------------------------------------------------------------------------------------------- */

static int joystick(const options_t *options) {
  job_t job = {.options = options};
  vcs_error_t error = {""};
  vcs_rom_t rom;
  int exit_code = vcs_rom_open_or_complain(command, options->setup.rom, &options->setup.choice, &rom);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_rom_free(&rom);
  vcs_status_t status = vcs_setup_open(&options->setup, &job.setup, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = find(&job, &error);
  if (status == VCS_OK && !vcs_interrupted()) status = write_files(&job, &error);
  free(job.weights);
  free(job.maps);
  free(job.map_by_frame);
  free(job.input);
  free(job.direction);
  free(job.picture);
  vcs_setup_free(&job.setup);
  return vcs_cli_end(command, status, &error);
}

static int check_options(options_t *o) {
  char rest;
  if (sscanf(o->rows, "%d:%d%c", &o->top, &o->bottom, &rest) != 2 || o->top < 0 || o->top >= o->bottom) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE,
                            "--rows takes the first row and the one after the last, as in 185:195; not '%s'", o->rows);
  }
  if (o->press >= o->setup.horizon) {
    return vcs_cli_complain(command, VCS_EXIT_USAGE, "--press %d: the run has the frames 0 to %d", (int)o->press,
                            (int)o->setup.horizon - 1);
  }
  return vcs_output_directory(command, o->out);
}

int vcs_cli_joystick(int argc, char **argv) {
  options_t o = {.setup = {.rom = "space_invaders", .actions = "NOOP*1050", .frame = -1, .horizon = 8},
                 .rows = "185:195",
                 .out = "joystick",
                 .window = VCS_CLI_WINDOW};
  const vcs_arg_t args[] = {
      VCS_ARG_OPTIONAL("GAME", &o.setup.rom, "a ROM image, the name of a game, or demo"),
      VCS_ARG_TEXT("actions", &o.setup.actions, "LIST", "how the game is played before"),
      VCS_ARG_INTEGER("frames", &o.setup.horizon, 1, FRAMES_MAX, "frames of the run; each is looked at"),
      VCS_ARG_INTEGER("press", &o.press, 0, FRAMES_MAX - 1, "the frame of the run in which a control is pressed"),
      VCS_ARG_FLAG("held", &o.held, "it stays down from then on, instead of for one frame"),
      VCS_ARG_TEXT("rows", &o.rows, "A:B", "the inverse looks at rows A up to, without it, B"),
      VCS_ARG_INTEGER("window", &o.window, 1, 1000000, "bit+fork: instructions within which a branch's sides meet"),
      VCS_ARG_TEXT("out", &o.out, "DIR", "where to write"),
      VCS_ARGS_CART(&o.setup.choice),
      VCS_ARG_END};
  const vcs_usage_t usage = {
      command,
      "What the stick does to the screen. A game is played up to a state; from there, for some frames, nobody does\n"
      "anything, but RIGHT, LEFT, UP or DOWN is pressed. d(screen)/d(control) after each frame is found by running\n"
      "again (truth) and by walking forwards (bit+fork, ste, naive); and by walking backwards, which control moves\n"
      "the light of some rows to the right. Prints the table and writes it (table.md, table.tsv), with a map for\n"
      "each control and method over the last frame (right-truth.png ...). docs/joystick.md has the "
      "study." VCS_ROMS_NOTE,
      "diffvcs joystick\n"
      "diffvcs joystick --actions NOOP*1050,RIGHT*40,NOOP*4 --out middle\n"
      "diffvcs joystick --actions NOOP*1050,RIGHT*40,NOOP*4 --held --profile ale --out middle.held\n"
      "diffvcs joystick --press 1 --out not.polled\n"
      "diffvcs joystick demo --actions NOOP*100 --frames 3 --rows 20:180 --out demo.joystick\n",
      args};
  int exit_code = vcs_args_read(&usage, argc, argv);
  if (exit_code == VCS_ARGS_GO) exit_code = check_options(&o);
  if (exit_code != VCS_ARGS_GO) return exit_code;
  vcs_interrupt_catch();
  return joystick(&o);
}
