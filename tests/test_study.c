/* test_study.c: each command of the program and its C function give the same result, on our own cartridge.
 *
 * docs/commands.md has the table. The program is named by the variable DIFFVCS; it runs in a folder of its own, and its
 * files are compared with what the function gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carts.h"
#include "core/state.h"
#include "diffvcs/annotate.h"
#include "diffvcs/relax.h"
#include "host/picture.h"
#include "study/meanings.h"

static char folder[] = "test_study.XXXXXX";
static const char *program;

/* ---- The program -------------------------------------------------------------------------------------------- */

/* Runs `diffvcs ARGUMENTS` in the folder; its output is in the file `out`. */
static void command(const char *arguments) {
  char line[1024];
  snprintf(line, sizeof line, "cd %s && '%s' %s > out 2> err", folder, program, arguments);
  const int status = system(line);
  if (status) fail_msg("%s: status %d", arguments, status);
}

/* A file of the folder as a text; free() it. */
static char *file(const char *name) {
  char path[256];
  static uint8_t *data; /* static: GCC 12 takes what it points to for the variable itself */
  size_t size;
  vcs_error_t error = {""};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (vcs_file_read(path, 1 << 26, &data, &size, &error)) fail_msg("%s", error.message);
  return (char *)data;
}

/* The column (from 0) of the first line of a table that begins with a text, as a number. */
static double cell(const char *table, const char *start, int column) {
  const size_t length = strlen(start);
  const char *line = table;
  while (line && strncmp(line, start, length) != 0) line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
  if (!line || !*line) fail_msg("no line '%s'", start);
  for (int i = 0; i < column; i++) line = strchr(line, '\t') + 1;
  return strtod(line, NULL);
}

/* The number after `"key": ` in JSON. */
static double number(const char *json, const char *key) {
  char word[64];
  snprintf(word, sizeof word, "\"%s\":", key);
  const char *at = strstr(json, word);
  if (!at) fail_msg("no %s", word);
  return strtod(at + strlen(word), NULL);
}

/* ---- The functions ------------------------------------------------------------------------------------------ */

typedef struct {
  vcs_rom_t rom;
  vcs_setup_t setup;
} demo_t;

static demo_t play(vcs_setup_options_t options) {
  demo_t demo;
  vcs_error_t error = {""};
  if (vcs_rom_open("demo", NULL, &demo.rom, &error)) fail_msg("%s", error.message);
  if (vcs_setup_create(demo.rom.cart, &options, &demo.setup, &error)) fail_msg("%s", error.message);
  return demo;
}

static void leave(demo_t *demo) {
  vcs_setup_free(&demo->setup);
  vcs_rom_free(&demo->rom);
}

#define try(call)                                               \
  do {                                                          \
    vcs_error_t error = {""};                                   \
    if (call) fail_msg("line %d: %s", __LINE__, error.message); \
  } while (0)

/* ---- Commands ----------------------------------------------------------------------------------------------- */

static void test_explain(void **state) {
  (void)state;
  static vcs_explanation_t explanation;
  demo_t demo = play((vcs_setup_options_t){.frame = 100, .horizon = 8, .replay = 1});
  const vcs_explain_options_t options = {.target = "pixel:80,100"};
  command("explain demo --frame 100 --pixel 80,100 --out explain");
  try(vcs_explain(&demo.setup.run, &options, &explanation, &error));
  char *written = file("explain/explain.json"), *json = vcs_explain_json(&explanation, "demo", 100);
  assert_string_equal(written, json);
  char *printed = file("out"), *summary = vcs_explain_summary(&explanation);
  assert_non_null(strstr(printed, summary));
  free(printed);
  free(written);
  vcs_text_release(json);
  vcs_text_release(summary);
  vcs_explanation_free(&explanation);
  leave(&demo);
}

static void test_grad(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 100, .horizon = 2});
  vcs_scalar_t target;
  vcs_attribution_t attribution;
  vcs_grad_options_t method;
  vcs_study_method_options(VCS_STUDY_BIT_FORK, 0, &method);
  method.side = VCS_SIDE_MEAN;
  const vcs_attribution_options_t options = {.grad = &method};
  command("grad demo --frame 100 --horizon 2 --output screen --out grad");
  try(vcs_target_parse("screen", demo.rom.cart, NULL, NULL, &target, &error));
  try(vcs_attribute(&demo.setup.run, &target, &options, &attribution, &error));
  char *json = file("grad/grad.json");
  assert_true(number(json, "value") == attribution.value);
  assert_true(number(json, "offset") == attribution.ranking[0]);
  assert_true(number(json, "forks") == (double)attribution.report.forks);
  free(json);
  vcs_attribution_free(&attribution);
  leave(&demo);
}

static void test_grad_forward(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 100, .horizon = 3});
  vcs_place_t place;
  vcs_effect_t effect;
  char line[128];
  command("grad demo --frame 100 --horizon 3 --input right@1 --out grad");
  try(vcs_place_parse_input("right@1", &demo.setup.run, &place, &error));
  try(vcs_effect(&demo.setup.run, &place, NULL, &effect, &error));
  char *printed = file("out");
  snprintf(line, sizeof line, "exact     %d pixels", (int)effect.pixels_agree.in_truth);
  assert_non_null(strstr(printed, line));
  snprintf(line, sizeof line, "estimate  %d pixels", (int)effect.pixels_agree.in_estimate);
  assert_non_null(strstr(printed, line));
  free(printed);
  vcs_effect_free(&effect);
  leave(&demo);
}

static void test_truth_and_smooth(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 2});
  vcs_places_t places;
  vcs_truth_t rows[8];
  vcs_truth_options_t options = {.threads = 1};
  const vcs_truth_results_t results = {.rows = rows};
  command("truth demo --frame 60 --horizon 2 --bits 80 --out truth.tsv");
  try(vcs_places_of_bits(&demo.setup.run, "80", &places, &error));
  assert_int_equal(places.count, 8);
  try(vcs_truth(&demo.setup.run, &options, places.places, places.count, &results, &error));
  char *table = file("truth.tsv");
  for (size_t i = 0; i < places.count; i++) {
    assert_true(cell(table, places.labels[i], 2) == rows[i].pixels);
    assert_true(cell(table, places.labels[i], 3) == rows[i].ram_bytes);
  }
  free(table);
  vcs_smooth_options_t smooth;
  vcs_estimate_t value, gradient[8];
  double chances[8];
  vcs_smooth_defaults(&smooth);
  smooth.samples = 20;
  command("smooth demo --frame 60 --horizon 2 --bits 80 --output ram:81 --samples 20 --out smooth.tsv");
  try(vcs_target_parse("ram:81", demo.rom.cart, NULL, NULL, &smooth.output, &error));
  for (int i = 0; i < 8; i++) chances[i] = vcs_run_bit(&demo.setup.run, &places.places[i]) ? 0.9 : 0.1;
  try(vcs_smooth(&demo.setup.run, &smooth, places.places, chances, 8, &value, gradient, NULL, &error));
  table = file("smooth.tsv");
  assert_true(fabs(cell(table, "-\t-", 2) - value.mean) <= 1e-5 * fabs(value.mean));
  free(table);
  vcs_places_free(&places);
  leave(&demo);
}

static void test_score(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.seed = 1, .frame = 100, .horizon = 3});
  const int32_t method = VCS_STUDY_BIT;
  const uint8_t inputs[] = {VCS_INPUT_LEFT, VCS_INPUT_RIGHT};
  const vcs_score_options_t options = {.methods = &method, .method_count = 1};
  vcs_place_t places[sizeof inputs];
  vcs_agreements_t results[VCS_VIEWS];
  for (size_t i = 0; i < sizeof inputs; i++) places[i] = (vcs_place_t){VCS_PLACE_INPUT, 0, 0, inputs[i]};
  command("score demo --frame 100 --bits 0 --rom-bits 0 --states 1 --horizons 3 --methods bit --fresh --out score.tsv");
  try(vcs_score(&demo.setup.run, &options, places, sizeof inputs, results, &error));
  char *table = file("score.tsv");
  assert_true(cell(table, "demo\tbit\tleft/right\t3\tscreen", 12) == (double)results[VCS_VIEW_SCREEN].pooled.in_truth);
  assert_true(cell(table, "demo\tbit\tleft/right\t3\tscreen", 14) == (double)results[VCS_VIEW_SCREEN].pooled.in_both);
  assert_true(cell(table, "demo\tbit\tleft/right\t3\tram", 13) == (double)results[VCS_VIEW_RAM].pooled.in_estimate);
  free(table);
  leave(&demo);
}

static void test_joystick(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.actions = "NOOP*100", .frame = -1, .horizon = 3});
  const vcs_joystick_options_t options = {.top = 20, .bottom = 180};
  vcs_joystick_t result;
  char inverse[64];
  command("joystick demo --actions NOOP*100 --horizon 3 --rows 20:180 --out joystick");
  try(vcs_joystick(&demo.setup.run, &options, &result, &error));
  char *markdown = file("joystick/table.md");
  snprintf(inverse, sizeof inverse, "| `bit+fork` | %.6g |", result.inverse[VCS_JOYSTICK_FORK][0] + 0.0);
  assert_non_null(strstr(markdown, inverse));
  free(markdown);
  vcs_joystick_free(&result);
  leave(&demo);
}

static void test_edit(void **state) {
  (void)state;
  enum { X = 0, Y = 40, WIDTH = 16, HEIGHT = 8 };
  demo_t demo = play((vcs_setup_options_t){.frame = 100, .horizon = 1});
  uint8_t rgb[3 * WIDTH * HEIGHT];
  char path[128];
  for (int i = 0; i < WIDTH * HEIGHT; i++) memset(rgb + 3 * i, i / WIDTH % 2 ? 255 : 0, 3);
  snprintf(path, sizeof path, "%s/drawing.png", folder);
  try(vcs_png_write_rgb(path, rgb, WIDTH, HEIGHT, 1, &error));
  vcs_edit_t result;
  const vcs_edit_options_t options = {.x = X, .y = Y, .width = WIDTH, .height = HEIGHT, .drawing = rgb, .steps = 3};
  vcs_error_t error = {""};
  const vcs_status_t status = vcs_edit(&demo.setup.run, &options, &result, &error);
  if (status == VCS_OK) { /* the command's exit status tells whether pixels are still wrong */
    char line[256];
    uint8_t patch[1 << 14];
    const size_t size =
        vcs_patch_make(vcs_cart_image(demo.rom.cart), result.image, result.image_size, patch, sizeof patch);
    snprintf(line, sizeof line,
             "cd %s && '%s' edit demo --frame 100 --region %d,%d,%d,%d --target drawing.png --steps 3 "
             "--out edit > out 2> err; test $? = %d",
             folder, program, X, Y, WIDTH, HEIGHT, result.wrong_after > 0);
    assert_int_equal(system(line), 0);
    char *written = file("edit/patch.ips");
    assert_true(size <= sizeof patch);
    assert_memory_equal(written, patch, size);
    free(written);
  } else {
    fail_msg("%s", error.message);
  }
  vcs_edit_free(&result);
  leave(&demo);
}

static void test_steer(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.actions = "NOOP*100", .frame = -1, .horizon = 10});
  const vcs_steer_options_t options = {.goal = "ram:80=200", .seeds = 2, .budget = 300};
  vcs_steer_t results[2 * VCS_STEERS];
  command(
      "steer demo --actions NOOP*100 --goal ram:80=200 --horizon 10 --budget 300 --seeds 2 --searches all --out "
      "steer.tsv");
  try(vcs_steer(&demo.setup.run, &options, results, NULL, &error));
  char *table = file("steer.tsv");
  for (int i = 0; i < 2 * VCS_STEERS; i++) {
    char row[512], *actions = vcs_held_actions(results[i].held, 10);
    snprintf(row, sizeof row, "%d\t%s\t%g\t%d\t%s\n", i / VCS_STEERS + 1, vcs_steer_name(i % VCS_STEERS),
             0 - results[i].value, (int)results[i].frames, actions);
    assert_non_null(strstr(table, row));
    vcs_text_release(actions);
  }
  free(table);
  vcs_steer_free(results, 2 * VCS_STEERS);
  leave(&demo);
}

static void test_record_and_verify(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  const vcs_record_options_t options = {.seed = 1, .frames = 300, .dense = 120};
  vcs_record_check_t check;
  char *text, path[128];
  command("record demo --seed 1 --frames 300 --out demo.1.tsv");
  try(vcs_record(demo.rom.cart, &options, &text, &error));
  char *written = file("demo.1.tsv");
  assert_string_equal(written, text);
  command("verify demo.1.tsv");
  snprintf(path, sizeof path, "%s/demo.1.tsv", folder);
  try(vcs_verify_file(path, NULL, NULL, &check, &error));
  assert_int_equal(check.differs_at, -1);
  char *printed = file("out");
  assert_non_null(strstr(printed, "demo.1 exact 300 frames"));
  assert_int_equal(check.checked, 300);
  try(vcs_verify(demo.rom.cart, text, 2, NULL, &check, &error)); /* another stream differs */
  assert_true(check.differs_at >= 0);
  free(printed);
  free(written);
  vcs_text_release(text);
  leave(&demo);
}

static void test_debug(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60});
  char line[512];
  vcs_disassembly_t rows[16];
  snprintf(line, sizeof line, "cd %s && printf 'disassemble $F000\\n' | '%s' debug demo --frame 60 > out", folder,
           program);
  assert_int_equal(system(line), 0);
  vcs_disassemble_list(demo.rom.cart, demo.setup.run.start, NULL, 0xF000, rows, 16);
  char *printed = file("out");
  for (int i = 0; i < 16; i++) assert_non_null(strstr(printed, rows[i].text));
  free(printed);
  leave(&demo);
}

static void test_debug_moves(void **state) {
  (void)state;
  static const struct {
    const char *text;
    vcs_move_t how;
    int64_t count;
  } moves[] = {{"step 1000", VCS_MOVE_STEP, 1000},
               {"back 700", VCS_MOVE_BACK_STEP, 700},
               {"line 3", VCS_MOVE_LINE, 3},
               {"frame 2", VCS_MOVE_FRAME, 2},
               {"back line", VCS_MOVE_BACK_LINE, 1},
               {"continue", VCS_MOVE_FRAME, 1000},
               {"back frame 2", VCS_MOVE_BACK_FRAME, 2},
               {"step 3000", VCS_MOVE_STEP, 3000},
               {"reverse", VCS_MOVE_REVERSE, 1},
               {"back 20000", VCS_MOVE_BACK_STEP, 20000}};
  static const char breakpoint[] = "write COLUBK if scanline > 100";
  demo_t demo = play((vcs_setup_options_t){.frame = 60});
  const vcs_run_t *run = &demo.setup.run;
  vcs_debugger_t *debugger;
  char line[2048], path[128];
  snprintf(path, sizeof path, "%s/commands", folder);
  FILE *script = fopen(path, "w");
  assert_non_null(script);
  fprintf(script, "break %s\n", breakpoint);
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) fprintf(script, "%s\nprint [$80] + x\n", moves[i].text);
  assert_int_equal(fclose(script), 0);
  snprintf(line, sizeof line, "cd %s && '%s' debug demo --frame 60 < commands > out", folder, program);
  assert_int_equal(system(line), 0);
  char *printed = file("out"), *at = printed;
  try(vcs_debugger_create(demo.rom.cart, run->start, run->picture, run->controls, 60, &debugger, &error));
  try(vcs_debugger_break(debugger, breakpoint, &error));
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) { /* each of these lines stands behind the one before */
    vcs_stop_t stop;
    vcs_position_t here;
    int64_t value;
    try(vcs_debugger_move(debugger, moves[i].how, moves[i].count, &stop, &error));
    try(vcs_debugger_value(debugger, "[$80] + x", &value, &error));
    vcs_debugger_position(debugger, &here);
    const vcs_t *m = vcs_debugger_machine(debugger);
    snprintf(line, sizeof line, "frame %d.%d  line %d clock %d  A=%02X X=%02X Y=%02X SP=%02X ", (int)here.frame,
             (int)here.instruction, (int)here.scanline, (int)here.clock, m->a, m->x, m->y, m->sp);
    if (!(at = strstr(at, line))) fail_msg("%s: no '%s'", moves[i].text, line);
    snprintf(line, sizeof line, "\n%d $", (int)value);
    if (!(at = strstr(at, line))) fail_msg("%s: no '%s'", moves[i].text, line);
    if (stop.reason == VCS_STOP_BREAKPOINT) assert_int_equal(stop.breakpoint, 1);
    if (moves[i].how == VCS_MOVE_REVERSE) assert_int_equal(stop.reason, VCS_STOP_BREAKPOINT);
  }
  vcs_position_t here;
  vcs_debugger_position(debugger, &here);
  assert_true(here.frame == 60 && here.instruction == 0); /* 20,000 instructions back is further than the beginning */
  assert_int_equal(vcs_debugger_delete(debugger, 2, NULL), VCS_BAD_ARGUMENT);
  try(vcs_debugger_delete(debugger, 1, &error));
  assert_null(vcs_debugger_breakpoint(debugger, 1));
  vcs_debugger_free(debugger);
  free(printed);
  leave(&demo);
}

static void test_info(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  const vcs_cart_info_t *info = vcs_cart_info(demo.rom.cart);
  command("info demo --json");
  char *json = file("out");
  assert_true(number(json, "size") == info->image_size && number(json, "ram") == info->ram_size);
  assert_true(number(json, "height") == info->height && number(json, "top_line") == info->top_line);
  const char *const texts[] = {info->md5, info->sha256, info->game, info->scheme_name, vcs_format_name(info->format)};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_non_null(strstr(json, texts[i]));
  free(json);
  leave(&demo);
}

/* Actions of stream 1 (the program's --seed 1), as records play them. */
static void test_run(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  vcs_env_t *env;
  vcs_stream_t stream;
  int64_t score = 0;
  char line[64], path[128];
  command("run demo --seed 1 --frames 300 --zoom 1 --screenshot last.png");
  try(vcs_env_create(demo.rom.cart, &env, &error));
  vcs_env_reset(env);
  vcs_stream_start(&stream, 1);
  for (int i = 0; i < 300; i++) {
    if (vcs_env_over(env)) vcs_env_reset(env), score = 0;
    score += vcs_env_act(env, vcs_stream_next(&stream), VCS_NOOP);
  }
  char *printed = file("out");
  snprintf(line, sizeof line, "state     %016llx\n", (unsigned long long)vcs_hash(demo.rom.cart, vcs_env_machine(env)));
  assert_non_null(strstr(printed, line));
  snprintf(line, sizeof line, " %lld so far", (long long)score);
  assert_non_null(strstr(printed, line));
  const int height = vcs_env_height(env);
  uint8_t *expected = malloc((size_t)3 * VCS_WIDTH * (size_t)height), *rgb;
  int width, rows;
  snprintf(path, sizeof path, "%s/last.png", folder);
  try(vcs_png_read_rgb(path, 320, &rgb, &width, &rows, &error));
  vcs_env_screen_rgb(env, expected);
  assert_true(width == 2 * VCS_WIDTH && rows == height); /* pixels are twice as wide as high */
  for (int i = 0; i < VCS_WIDTH * height; i++) assert_memory_equal(rgb + (size_t)6 * i, expected + (size_t)3 * i, 3);
  free(rgb);
  free(expected);
  free(printed);
  vcs_env_free(env);
  leave(&demo);
}

/* Rows of a trace, in the words of the program. */
static int print_row(void *context, const vcs_trace_row_t *row) {
  const vcs_step_t *s = &row->step;
  FILE *stream = context;
  fprintf(stream, "%lld\t%02x\t%04x\t%02x\t%02x\t%02x\t%02x\t%02x\t%u\t%08x\t%08x\t%04x\t%s\n", (long long)row->number,
          s->opcode, s->pc, s->a, s->x, s->y, s->sp, s->p, s->cycles, row->state_chain, row->cycle_chain, s->pc_before,
          row->text);
  return 0;
}

static void test_trace(void **state) {
  (void)state;
  static const struct {
    const char *arguments;
    vcs_trace_options_t options;
  } runs[] = {{"trace demo --limit 300", {.limit = 300}},
              {"trace demo --frame 66 --frames 2", {.from = 66, .to = 67}},
              {"trace demo --seed 1 --frame 20", {.from = 20, .play = 1, .seed = 1}}};
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    vcs_trace_options_t options = runs[i].options;
    char *expected = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&expected, &size);
    command(runs[i].arguments);
    options.row = print_row;
    options.context = stream;
    try(vcs_trace(demo.rom.cart, &options, &error));
    fclose(stream);
    char *printed = file("out"), *row = printed, *want = expected;
    while (*row) { /* line by line, without the headings */
      const size_t length = strcspn(row, "\n") + 1;
      if (*row != '#') {
        assert_memory_equal(row, want, length);
        want += length;
      }
      row += length;
    }
    assert_true(size > 0 && !*want);
    free(printed);
    free(expected);
  }
  leave(&demo);
}

/* The window, without a screen: what is comparable is the machine after a script of keys. */
static void test_play(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  vcs_t *m = calloc(1, sizeof *m);
  char line[512];
  memcpy(m, demo.setup.run.start, vcs_state_size(demo.rom.cart));
  for (int frame = 0; frame < 100; frame++) {
    vcs_controls_t controls = demo.setup.run.controls[0];
    try(vcs_controls_parse(frame >= 20 && frame < 60 ? "right" : "", &controls, &error));
    vcs_control(demo.rom.cart, m, &controls);
    vcs_frame(demo.rom.cart, m, NULL);
  }
  snprintf(
      line, sizeof line,
      "cd %s && printf '20 right\\n60 -right\\n' > keys && SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy '%s' play demo "
      "--fast --script keys --frames 100 --out play > out 2> err || grep -q 'without SDL2' err",
      folder, program);
  assert_int_equal(system(line), 0);
  char *printed = file("out");
  if (!*printed) {
    free(printed);
    free(m);
    leave(&demo);
    NEED("sdl", "built without SDL2");
  }
  snprintf(line, sizeof line, "frame 100, state %016llx\n", (unsigned long long)vcs_hash(demo.rom.cart, m));
  assert_non_null(strstr(printed, line));
  free(printed);
  free(m);
  leave(&demo);
}

/* The paper's tables need Space Invaders, except `games`, which can be made of our own cartridge: the frame after which
 * RAM of the relaxed machine differs from that of the exact one. */
static void test_paper(void **state) {
  (void)state;
  static const double settings[][2] = {{6, 0.14},    {5.5, 0.145}, {5, 0.14},   {6, 0.15},
                                       {20, 0.1448}, {20, 0.1446}, {20, 0.1444}};
  demo_t demo = play((vcs_setup_options_t){.frame = 0});
  vcs_env_t *env;
  char row[256] = "demo";
  command("paper --only games --games demo --quick --out paper");
  try(vcs_env_create(demo.rom.cart, &env, &error));
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    vcs_relax_options_t options;
    vcs_relax_t *relax;
    vcs_run_t run;
    vcs_controls_t idle;
    vcs_t *m = calloc(1, sizeof *m);
    int frame = 1;
    vcs_relax_defaults(&options);
    options.alpha = settings[i][0];
    options.temperature = settings[i][1];
    options.window = 4;
    options.wrap = 1;
    try(vcs_relax_create(demo.rom.cart, &options, &relax, &error));
    vcs_run_idle(env, 1, &idle, &run);
    memcpy(m, run.start, vcs_state_size(demo.rom.cart));
    vcs_control(demo.rom.cart, m, &idle);
    vcs_relax_load(relax, m);
    for (; frame <= 60; frame++) {
      vcs_relax_frame(relax, NULL);
      vcs_frame(demo.rom.cart, m, NULL);
      if (memcmp(vcs_relax_machine(relax)->ram, m->ram, sizeof m->ram) != 0) break;
    }
    const vcs_relax_report_t *report = vcs_relax_report(relax);
    char cell_text[32] = "exact";
    if (frame <= 60)
      snprintf(cell_text, sizeof cell_text, "%d", frame);
    else
      assert_int_equal(report->wrong_reads + report->wrong_branches, 0);
    strcat(strcat(row, "\t"), cell_text);
    vcs_relax_free(relax);
    free(m);
  }
  char *table = file("paper/sections/games.tsv");
  if (!strstr(table, strcat(row, "\n"))) fail_msg("no row '%s' in\n%s", row, table);
  free(table);
  vcs_env_free(env);
  leave(&demo);
}

/* ---- What has no command ------------------------------------------------------------------------------------ */

/* The report function is called, and stops the work. */
static int stop_at_once(void *context, const char *step, uint64_t done, uint64_t total) {
  (void)step, (void)done, (void)total;
  ++*(int *)context;
  return 1;
}

static void test_cancellation(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 4});
  int calls = 0;
  const vcs_joystick_options_t options = {.top = 20, .bottom = 180, .report = {stop_at_once, &calls}};
  vcs_joystick_t result;
  assert_int_equal(vcs_joystick(&demo.setup.run, &options, &result, NULL), VCS_CANCELLED);
  assert_true(calls > 0);
  vcs_joystick_free(&result);
  leave(&demo);
}

/* A patch that was made turns one image into the other. */
static void test_patches(void **state) {
  (void)state;
  uint8_t before[300], after[300], patch[1000], result[300];
  for (int i = 0; i < 300; i++) before[i] = after[i] = (uint8_t)i;
  after[0] ^= 1;
  after[100] = after[101] = 9;
  after[299] ^= 0x80;
  const size_t size = vcs_patch_make(before, after, 300, patch, sizeof patch);
  assert_true(size == vcs_patch_make(before, after, 300, NULL, 0));
  try(vcs_patch_apply(patch, size, before, 300, result, &error));
  assert_memory_equal(result, after, 300);
}

/* A stretch of a patch holds at most 65,535 bytes; the byte after it begins the next one. */
static void test_a_patch_has_every_byte_of_a_long_change(void **state) {
  (void)state;
  enum { LONG = 3 * 0xFFFF + 10 };
  uint8_t *before = calloc(LONG, 1), *after = malloc(LONG), *result = malloc(LONG), *patch = malloc(LONG + 100);
  assert_true(before && after && result && patch);
  memset(after, 1, LONG);
  const size_t size = vcs_patch_make(before, after, LONG, patch, LONG + 100);
  try(vcs_patch_apply(patch, size, before, LONG, result, &error));
  assert_memory_equal(result, after, LONG);
  free(before);
  free(after);
  free(result);
  free(patch);
}

/* LDA $028C (a mirror of INTIM), STA $029E (of TIM64T), LDA $0281 (SWACNT), JMP $F000. */
static const uint8_t mirrors[] = {0xAD, 0x8C, 0x02, 0x8D, 0x9E, 0x02, 0xAD, 0x81, 0x02, 0x4C, 0x00, 0xF0};

static void test_breakpoints_stop_at_mirrors_of_registers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t reason;
  } breaks[] = {{"read INTIM", VCS_STOP_BREAKPOINT},  {"read $284", VCS_STOP_BREAKPOINT},
                {"read $286", VCS_STOP_BREAKPOINT},   {"write TIM64T", VCS_STOP_BREAKPOINT},
                {"read SWACNT", VCS_STOP_BREAKPOINT}, {"read INSTAT", VCS_STOP_ARRIVED},
                {"write INTIM", VCS_STOP_ARRIVED},    {"write TIM8T", VCS_STOP_ARRIVED}};
  static uint8_t image[4096];
  memcpy(image, mirrors, sizeof mirrors);
  image[0xFFD] = 0xF0; /* the reset vector */
  vcs_cart_t *cart = load_as(image, sizeof image, VCS_PROFILE_ALE, NULL);
  vcs_env_t *env;
  vcs_controls_t controls;
  vcs_run_t run;
  try(vcs_env_create(cart, &env, &error));
  vcs_env_reset(env);
  vcs_run_idle(env, 1, &controls, &run);
  for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
    vcs_debugger_t *debugger;
    vcs_stop_t stop;
    try(vcs_debugger_create(cart, run.start, run.picture, &controls, 0, &debugger, &error));
    try(vcs_debugger_break(debugger, breaks[i].text, &error));
    try(vcs_debugger_move(debugger, VCS_MOVE_FRAME, 1, &stop, &error));
    if (stop.reason != breaks[i].reason) fail_msg("%s: stopped for reason %d", breaks[i].text, (int)stop.reason);
    vcs_debugger_free(debugger);
  }
  vcs_env_free(env);
  vcs_cart_free(cart);
}

/* The control of a frame that is not looked at may have any effect. */
static void test_no_effect_does_not_judge_frames_that_it_does_not_look_at(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 10, .horizon = 300});
  const vcs_place_t seen = {VCS_PLACE_INPUT, 0, 255, VCS_INPUT_RIGHT},
                    unseen = {VCS_PLACE_INPUT, 0, 256, VCS_INPUT_RIGHT};
  char text[200];
  try(vcs_no_effect(&demo.setup.run, &seen, text, sizeof text, &error));
  assert_null(strstr(text, "not among"));
  try(vcs_no_effect(&demo.setup.run, &unseen, text, sizeof text, &error));
  assert_string_equal(text, "frame 256 of the run is not among the first 256, and only these are looked at");
  leave(&demo);
}

/* A budget of one frame is spent before any pair is tried. */
static void test_an_edit_without_pairs_does_not_say_that_no_pair_helps(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 100, .horizon = 1});
  uint8_t rgb[3 * 16 * 8];
  for (int i = 0; i < 16 * 8; i++) memset(rgb + 3 * i, i / 16 % 2 ? 255 : 0, 3);
  vcs_edit_options_t options = {.y = 40, .width = 16, .height = 8, .drawing = rgb, .budget = 1};
  for (int pairs = 0; pairs < 2; pairs++) {
    vcs_edit_t result;
    options.pairs = pairs;
    try(vcs_edit(&demo.setup.run, &options, &result, &error));
    assert_true(result.wrong_after > 0);
    assert_int_equal(result.pairs, 0);
    assert_int_equal(result.pairs_left, -1);
    vcs_edit_free(&result);
  }
  leave(&demo);
}

/* A value with which there is no object puts it nowhere, and is further away than every place. */
static void test_no_goal_is_a_value_without_an_object(void **state) {
  (void)state;
  const vcs_meaning_t byte = {.name = "player 0 x", .byte = 3, .map = -1, .absent = 197, .slope = 1, .offset = -100};
  const vcs_meaning_t steep = {.name = "ball x", .byte = 4, .map = -1, .absent = 0, .slope = 8, .offset = 0};
  float distances[256];
  assert_int_equal(vcs_meaning_distances(&byte, 97, distances, NULL), VCS_BAD_ARGUMENT);
  try(vcs_meaning_distances(&byte, 96, distances, &error));
  assert_true(distances[196] == 0 && distances[198] == 2);
  for (int value = 0; value < 256; value++) assert_true(value == 197 || distances[value] < distances[197]);
  try(vcs_meaning_distances(&steep, 8, distances, &error));
  for (int value = 1; value < 256; value++) assert_true(distances[value] < distances[0]);
  int known = 0;
  for (int game = 0; game < vcs_meaning_game_count; game++) {
    for (int i = 0; i < vcs_meaning_games[game].count; i++)
      known += vcs_meaning_rows[vcs_meaning_games[game].first + i].absent >= 0;
  }
  assert_true(known > 0);
}

static void test_numbers_of_a_goal_are_decimal_unless_they_begin_with_0x(void **state) {
  (void)state;
  static const char *const goals[] = {"ram:8A=10", "ram:8A=010", "ram:8A=0x0A", "ram:8A=0X0a"};
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 4});
  const int32_t search = VCS_STEER_RANDOM;
  double value = 0;
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    vcs_steer_t result;
    const vcs_steer_options_t options = {.goal = goals[i], .searches = &search, .search_count = 1, .budget = 4};
    try(vcs_steer(&demo.setup.run, &options, &result, NULL, &error));
    if (i == 0) value = result.value;
    assert_true(result.value == value);
    vcs_steer_free(&result, 1);
  }
  leave(&demo);
}

/* A call is refused with a sentence. */
#define refuse(call)                                \
  do {                                              \
    vcs_error_t error = {""};                       \
    assert_int_equal((call), VCS_BAD_ARGUMENT);     \
    assert_int_not_equal(strlen(error.message), 0); \
  } while (0)

static void test_runs_without_frames_are_refused(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 2});
  vcs_run_t run = demo.setup.run;
  const vcs_place_t place = {VCS_PLACE_STATE, 0, 0, 0};
  const vcs_scalar_t target = {.kind = VCS_SCALAR_RAM, .bit = -1};
  static const uint8_t rgb[3];
  const vcs_edit_options_t edit = {.width = 1, .height = 1, .drawing = rgb};
  const vcs_explain_options_t explain = {.target = "pixel:80,100"};
  const vcs_steer_options_t steer = {.goal = "ram:80=1"};
  vcs_attribution_t attribution;
  vcs_effect_t effect;
  static vcs_explanation_t explanation;
  vcs_edit_t edited;
  vcs_steer_t steered[VCS_STEERS];
  vcs_ending_t ending;
  run.frames = 0;
  refuse(vcs_attribute(&run, &target, NULL, &attribution, &error));
  refuse(vcs_effect(&run, &place, NULL, &effect, &error));
  refuse(vcs_explain(&run, &explain, &explanation, &error));
  refuse(vcs_edit(&run, &edit, &edited, &error));
  refuse(vcs_steer(&run, &steer, steered, NULL, &error));
  refuse(vcs_ending_make(&run, NULL, NULL, &ending, &error));
  vcs_attribution_free(&attribution);
  vcs_effect_free(&effect);
  vcs_explanation_free(&explanation);
  vcs_edit_free(&edited);
  vcs_steer_free(steered, VCS_STEERS);
  vcs_ending_free(&ending);
  leave(&demo);
}

static void test_numbers_that_no_study_takes_are_refused(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 2});
  const vcs_run_t *run = &demo.setup.run;
  const int32_t unknown = 99, random = VCS_STEER_RANDOM, last = 2;
  vcs_steer_t steered[VCS_STEERS];
  vcs_agreements_t agreements[8];
  const vcs_place_t place = {VCS_PLACE_STATE, 0, 0, 0}, nowhere = {VCS_PLACE_ROM, 0, 0, 1 << 30};
  const vcs_steer_options_t steers[] = {{.goal = "ram:80=1", .seeds = -1},
                                        {.goal = "ram:80=1", .searches = &random, .search_count = -1},
                                        {.goal = "ram:80=1", .searches = &unknown, .search_count = 1}};
  for (int i = 0; i < 3; i++) refuse(vcs_steer(run, &steers[i], steered, NULL, &error));
  const vcs_score_options_t score = {
      .horizons = &last, .horizon_count = 1, .methods = &unknown, .method_count = 1, .threads = 1};
  refuse(vcs_score_vjp(run, &score, &place, 1, 1, 1, agreements, &error));
  vcs_ending_t ending;
  const vcs_scalar_t target = {.kind = VCS_SCALAR_RAM, .bit = -1};
  refuse(vcs_ending_make(run, NULL, &nowhere, &ending, &error));
  vcs_ending_free(&ending);
  assert_true(isnan(vcs_target_truth(&target, run, NULL, &nowhere, 0)));
  vcs_history_t *history;
  vcs_setup_t setup;
  try(vcs_history_create(demo.rom.cart, 0, 10, 2, &history, &error));
  try(vcs_history_add(history, run->start, run->picture, run->controls, &error));
  refuse(vcs_history_setup(history, demo.rom.cart, 2, 1, &setup, &error));
  vcs_setup_free(&setup);
  try(vcs_history_setup(history, demo.rom.cart, 1, 1, &setup, &error));
  vcs_setup_free(&setup);
  vcs_history_free(history);
  static vcs_annotation_t annotation;
  const vcs_annotate_options_t audits[] = {{.seeds = -1}, {.depths = -1}, {.seeds = 1 << 30}, {.depths = 1 << 30}};
  vcs_audit_t audit;
  int32_t count;
  for (int i = 0; i < 4; i++)
    refuse(vcs_annotation_audit(demo.rom.cart, &annotation, &audits[i], &audit, 1, &count, &error));
  leave(&demo);
}

/* 2^32 + 16 is no window of 16 instructions. */
static void test_windows_that_are_no_instructions_of_a_frame_are_refused(void **state) {
  (void)state;
  static const int64_t windows[] = {-3, VCS_FRAME_INSTRUCTIONS + 1, (INT64_C(1) << 32) + 16};
  static const uint8_t rgb[3];
  demo_t demo = play((vcs_setup_options_t){.frame = 60, .horizon = 2});
  const vcs_run_t *run = &demo.setup.run;
  const int32_t fork = VCS_STUDY_BIT_FORK, last = 2, guided = VCS_STEER_GUIDED;
  const vcs_place_t place = {VCS_PLACE_STATE, 0, 0, 0};
  for (int i = 0; i < 3; i++) {
    const vcs_steer_options_t steer = {
        .goal = "ram:80=1", .searches = &guided, .search_count = 1, .budget = 100, .window = windows[i]};
    const vcs_score_options_t score = {
        .horizons = &last, .horizon_count = 1, .methods = &fork, .method_count = 1, .window = windows[i], .threads = 1};
    const vcs_explain_options_t explain = {.target = "pixel:80,100", .window = windows[i]};
    const vcs_edit_options_t edit = {
        .width = 1, .height = 1, .drawing = rgb, .method = "bit+fork", .window = windows[i], .exact = 1};
    const vcs_joystick_options_t joystick = {.top = 20, .bottom = 180, .window = windows[i]};
    vcs_steer_t steered;
    vcs_agreements_t agreements[8];
    static vcs_explanation_t explanation;
    vcs_edit_t edited;
    vcs_joystick_t maps;
    refuse(vcs_steer(run, &steer, &steered, NULL, &error));
    refuse(vcs_score(run, &score, &place, 1, agreements, &error));
    refuse(vcs_score_vjp(run, &score, &place, 1, 1, 1, agreements, &error));
    refuse(vcs_explain(run, &explain, &explanation, &error));
    refuse(vcs_edit(run, &edit, &edited, &error));
    refuse(vcs_joystick(run, &joystick, &maps, &error));
    vcs_steer_free(&steered, 1);
    vcs_explanation_free(&explanation);
    vcs_edit_free(&edited);
    vcs_joystick_free(&maps);
  }
  leave(&demo);
}

/* The slice of a store holds the instruction that loaded the register. */
static void test_slice(void **state) {
  (void)state;
  demo_t demo = play((vcs_setup_options_t){.frame = 60});
  static vcs_slice_t slice;
  vcs_t *m = calloc(1, sizeof(uint8_t) * vcs_state_size(demo.rom.cart) + 65536);
  memcpy(m, demo.setup.run.start, vcs_state_size(demo.rom.cart));
  try(vcs_slice_record(demo.rom.cart, m, demo.setup.run.controls, &slice, &error));
  int store = -1;
  for (int i = 1; i < slice.count && store < 0; i++) {
    const bool loads = strncmp(slice.rows[i - 1].text, "LDA", 3) == 0,
               stores = strncmp(slice.rows[i].text, "STA", 3) == 0;
    if (loads && stores) store = i;
  }
  assert_true(store > 0);
  slice.rows[store].slice = 1;
  vcs_slice_close(&slice);
  assert_true(slice.rows[store - 1].slice);
  assert_false(slice.rows[store + 1].slice);
  vcs_slice_free(&slice);
  free(m);
  leave(&demo);
}

static int make_folder(void **state) {
  (void)state;
  program = getenv("DIFFVCS");
  return program && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  char line[64];
  (void)state;
  snprintf(line, sizeof line, "rm -rf %s", folder);
  return system(line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_explain),
      cmocka_unit_test(test_grad),
      cmocka_unit_test(test_grad_forward),
      cmocka_unit_test(test_truth_and_smooth),
      cmocka_unit_test(test_score),
      cmocka_unit_test(test_joystick),
      cmocka_unit_test(test_edit),
      cmocka_unit_test(test_steer),
      cmocka_unit_test(test_record_and_verify),
      cmocka_unit_test(test_debug),
      cmocka_unit_test(test_debug_moves),
      cmocka_unit_test(test_info),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_trace),
      cmocka_unit_test(test_play),
      cmocka_unit_test(test_paper),
      cmocka_unit_test(test_cancellation),
      cmocka_unit_test(test_patches),
      cmocka_unit_test(test_a_patch_has_every_byte_of_a_long_change),
      cmocka_unit_test(test_breakpoints_stop_at_mirrors_of_registers),
      cmocka_unit_test(test_no_effect_does_not_judge_frames_that_it_does_not_look_at),
      cmocka_unit_test(test_an_edit_without_pairs_does_not_say_that_no_pair_helps),
      cmocka_unit_test(test_no_goal_is_a_value_without_an_object),
      cmocka_unit_test(test_numbers_of_a_goal_are_decimal_unless_they_begin_with_0x),
      cmocka_unit_test(test_runs_without_frames_are_refused),
      cmocka_unit_test(test_numbers_that_no_study_takes_are_refused),
      cmocka_unit_test(test_windows_that_are_no_instructions_of_a_frame_are_refused),
      cmocka_unit_test(test_slice),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
