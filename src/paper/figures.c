/* figures.c: the paper's figures about gradients: the gate, alpha, temperature, and the joystick. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper/paper.h"
#include "diffvcs/study.h"
#include "core/splitmix.h"
#include "core/state.h"
#include "host/palette.h"

static const double alphas[] = {2, 6, 20};
enum { ALPHAS = 3, CURVE = 201 };
static const double operating_point = 0.25;

static void put_colour(uint8_t rgb[3], uint32_t colour) {
  rgb[0] = (uint8_t)(colour >> 16);
  rgb[1] = (uint8_t)(colour >> 8);
  rgb[2] = (uint8_t)colour;
}

static double gate(double alpha, double z) { return 1 / (1 + exp(-alpha * z)); }
static double gate_slope(double alpha, double z) { return alpha * gate(alpha, z) * (1 - gate(alpha, z)); }

/* ---- The gate -------------------------------------------------------------------------------------------------- */

vcs_status_t vcs_paper_gate(vcs_section_t *section, vcs_error_t *error) {
  vcs_drawing_t *drawing = vcs_drawing_create(760, 300);
  if (!drawing) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  const vcs_chart_t left = {"g = sigma(alpha z)", "z", "g", 45, 30, 310, 220, -1, 1, 0, 1, false, 8, 5};
  const vcs_chart_t right = {"dg/dz", "z", "", 425, 30, 310, 220, -1, 1, 0, 5.2, false, 8, 5};
  vcs_chart_frame(drawing, &left);
  vcs_chart_frame(drawing, &right);
  for (int a = 0; a < ALPHAS; a++) {
    double z[CURVE], g[CURVE], slope[CURVE];
    char label[32];
    for (int i = 0; i < CURVE; i++) {
      z[i] = -1 + 2.0 * i / (CURVE - 1);
      g[i] = gate(alphas[a], z[i]);
      slope[i] = gate_slope(alphas[a], z[i]);
    }
    vcs_chart_curve(drawing, &left, z, g, CURVE, vcs_colour_of(a), false);
    vcs_chart_curve(drawing, &right, z, slope, CURVE, vcs_colour_of(a), false);
    vcs_chart_dot(drawing, &left, operating_point, gate(alphas[a], operating_point), vcs_colour_of(a));
    vcs_chart_dot(drawing, &right, operating_point, gate_slope(alphas[a], operating_point), vcs_colour_of(a));
    snprintf(label, sizeof label, "alpha %g", alphas[a]);
    vcs_chart_key(drawing, &left, a, vcs_colour_of(a), label);
  }
  vcs_section_assume(section, "a formula; no machine is run.");
  return vcs_section_figure(section, drawing, "gate", "The soft branch's gate and its gradient; dots: z = 0.25.",
                            error);
}

/* ---- Alpha ----------------------------------------------------------------------------------------------------- */

enum { CANNON = 0x1C, CANNON_LEFT = 45, CANNON_RIGHT = 95, CANNON_TOP = 178, CANNON_ROWS = 24, MOVED_FRAMES = 4 };

/* The luminance of the picture some frames after the cannon was moved to a position. */
static bool picture_with(const vcs_paper_game_t *game, int position, float *light) {
  const vcs_cart_t *cart = game->rom.cart;
  const uint8_t *gray = vcs_palette_gray((vcs_format_t)cart->format);
  vcs_t *m = malloc(vcs_state_size(cart));
  uint8_t *frames = calloc(2, VCS_FRAME_BYTES);
  if (m && frames) {
    memcpy(m, game->start, vcs_state_size(cart));
    for (int f = 0; f < 400; f++) vcs_frame(cart, m, NULL);
    for (int f = 0; f < MOVED_FRAMES; f++) {
      m->ram[CANNON] = (uint8_t)position;
      vcs_frame(cart, m, frames);
    }
    for (int i = 0; i < VCS_WIDTH * CANNON_ROWS; i++)
      light[i] = gray[vcs_picture(m, frames)[VCS_WIDTH * CANNON_TOP + i]];
  }
  bool done = m && frames;
  free(m);
  free(frames);
  return done;
}

vcs_status_t vcs_paper_alpha(vcs_section_t *section, vcs_error_t *error) {
  static const double paper[] = {0.53, 1.00, 0.15};
  enum { PIXELS = VCS_WIDTH * CANNON_ROWS };
  float left[PIXELS], right[PIXELS];
  uint8_t rgb[3 * PIXELS];
  vcs_paper_game_t game;
  double largest = 0, peak = gate_slope(6, operating_point);
  vcs_status_t status = vcs_paper_game_open(section->paper, "space_invaders", VCS_PROFILE_XITARI, &game, error);
  if (status) return status;
  vcs_drawing_t *drawing = vcs_drawing_create(520, 340);
  bool done = drawing && picture_with(&game, CANNON_LEFT, left) && picture_with(&game, CANNON_RIGHT, right);
  vcs_paper_game_free(&game);
  if (!done) {
    vcs_drawing_free(drawing);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  for (int i = 0; i < PIXELS; i++) largest = fmax(largest, fabs((double)(right[i] - left[i])));
  vcs_section_say(
      section,
      "Two pictures of the real machine, the cannon of Space Invaders on the left and on the right, blended by the "
      "gate: d(screen)/dz = alpha g (1 - g) (right - left). Numbers are relative to alpha = 6.");
  vcs_section_assume(section, "the two pictures are the exact machine's; only the blend of the two is soft.");
  vcs_table_begin(section, "alpha|paper|ours|verdict|absolute (paper's colour bar: 0.90)");
  for (int a = 0; a < ALPHAS; a++) {
    char label[64];
    const double slope = gate_slope(alphas[a], operating_point), ratio = slope / peak;
    for (int i = 0; i < PIXELS; i++) {
      put_colour(rgb + 3 * i, vcs_colour_signed(slope / peak * (double)(right[i] - left[i]) / fmax(largest, 1)));
    }
    snprintf(label, sizeof label, "alpha %g: %.2f", alphas[a], ratio);
    vcs_draw_text(drawing, 20, 24 + 105 * a, VCS_TEXT_LEFT, 0x202020, label);
    vcs_draw_pixels(drawing, 20, 30 + 105 * a, rgb, VCS_WIDTH, CANNON_ROWS, 3, 3);
    vcs_table_row(section, "%g|%.2f|%.2f|%s|%.4f", alphas[a], paper[a], ratio,
                  vcs_verdict(section, fabs(ratio - paper[a]) < 0.005), slope);
  }
  vcs_table_end(section);
  return vcs_section_figure(section, drawing, "alpha",
                            "d(screen)/dz at z = 0.25. Red: a pixel brightens; blue: it darkens.", error);
}

/* ---- Temperature ----------------------------------------------------------------------------------------------- */

enum { FIRST_COLUMN = 30, COLUMNS = 81, TARGET = 70, SAMPLES = 100, FIGURE_ROWS = 8, FIELD = 140 };

/* w = softmax(-((x - 70) / 6)^2 / T); returns its standard deviation. */
static double columns_at(double temperature, double weights[COLUMNS]) {
  double total = 0, spread = 0;
  for (int i = 0; i < COLUMNS; i++) {
    double away = (FIRST_COLUMN + i - TARGET) / 6.0;
    total += weights[i] = exp(-away * away / temperature);
  }
  for (int i = 0; i < COLUMNS; i++) {
    weights[i] /= total;
    spread += weights[i] * (FIRST_COLUMN + i - TARGET) * (FIRST_COLUMN + i - TARGET);
  }
  return sqrt(spread);
}

static int sample(const double weights[COLUMNS], uint64_t *seed) {
  double left = (double)(vcs_splitmix64(seed) >> 11) / 9007199254740992.0;
  int i = 0;
  while (i + 1 < COLUMNS && (left -= weights[i]) > 0) i++;
  return FIRST_COLUMN + i;
}

vcs_status_t vcs_paper_temperature(vcs_section_t *section, vcs_error_t *error) {
  static const uint8_t figure[FIGURE_ROWS] = {0x3C, 0x7E, 0xDB, 0xFF, 0x7E, 0x24, 0x42, 0x81};
  static const double temperatures[] = {0.1, 0.5, 2}, paper[] = {1.3, 3, 6};
  vcs_drawing_t *drawing = vcs_drawing_create(FIELD * 5 + 40, 280);
  if (!drawing) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  uint64_t seed = 0;
  vcs_section_say(
      section,
      "A figure of eight columns, its place drawn from w = softmax(l / T), l = -((x - 70) / 6)^2, 100 draws: the mean "
      "picture.");
  vcs_section_assume(section, "a formula and a drawn figure; no machine is run, in the paper either.");
  vcs_table_begin(section, "T|paper: sigma, px|ours|verdict|of the 100 draws");
  for (int t = 0; t < 3; t++) {
    double weights[COLUMNS], mean[FIGURE_ROWS][FIELD] = {{0}}, sum = 0, squares = 0;
    uint8_t rgb[3 * FIGURE_ROWS * FIELD];
    char label[64];
    const double sigma = columns_at(temperatures[t], weights);
    for (int i = 0; i < SAMPLES; i++) {
      int x = sample(weights, &seed);
      sum += x;
      squares += (double)x * x;
      for (int row = 0; row < FIGURE_ROWS; row++) {
        for (int bit = 0; bit < 8; bit++) mean[row][x + bit] += (figure[row] >> (7 - bit) & 1) / (double)SAMPLES;
      }
    }
    for (int i = 0; i < FIGURE_ROWS * FIELD; i++) {
      put_colour(rgb + 3 * i, vcs_colour_heat(mean[i / FIELD][i % FIELD]));
    }
    snprintf(label, sizeof label, "T = %g, sigma = %.2f px", temperatures[t], sigma);
    vcs_draw_text(drawing, 20, 22 + 85 * t, VCS_TEXT_LEFT, 0x202020, label);
    vcs_draw_pixels(drawing, 20, 28 + 85 * t, rgb, FIELD, FIGURE_ROWS, 5, 7);
    vcs_table_row(section, "%g|%.2g|%.2f|%s|%.2f", temperatures[t], paper[t], sigma,
                  vcs_verdict(section, fabs(sigma - paper[t]) < 0.05),
                  sqrt(squares / SAMPLES - sum * sum / SAMPLES / SAMPLES));
  }
  vcs_table_end(section);
  return vcs_section_figure(section, drawing, "temperature", "Expected occupancy; bright: always lit.", error);
}

/* ---- The joystick ---------------------------------------------------------------------------------------------- */

static const char *const control_names[] = {"RIGHT", "LEFT", "UP", "DOWN"};
enum {
  CONTROLS = VCS_JOYSTICK_CONTROLS,
  METHODS = VCS_JOYSTICK_ANSWERS,
  HORIZON = 8,
  CANNON_FIRST_ROW = 185,
  CANNON_END_ROW = 195
};

typedef struct {
  const vcs_cart_t *cart;
  const uint8_t *screen; /* before the run */
  vcs_joystick_t joystick;
} study_t;

/* The map of a method and a control after the last frame. */
static const float *map_of(const study_t *s, int method, int control) {
  return s->joystick.maps + ((size_t)(method * CONTROLS + control) * HORIZON + HORIZON - 1) * s->joystick.pixels;
}

static int count_moved(const study_t *s, const float *map, int *on_cannon) {
  int moved = 0;
  *on_cannon = 0;
  for (size_t i = 0; i < s->joystick.pixels; i++) {
    if (map[i] == 0) continue;
    int row = (int)(i / VCS_WIDTH);
    moved++;
    *on_cannon += row >= CANNON_FIRST_ROW && row < CANNON_END_ROW;
  }
  return moved;
}

static void draw_map(vcs_drawing_t *drawing, double x, double y, const study_t *s, const float *map) {
  const int height = (int)(s->joystick.pixels / VCS_WIDTH);
  uint8_t *rgb = malloc(3 * s->joystick.pixels);
  float largest = 0;
  if (!rgb) return;
  for (size_t i = 0; i < s->joystick.pixels; i++) largest = fmaxf(largest, fabsf(map[i]));
  for (size_t i = 0; i < s->joystick.pixels; i++) {
    uint32_t colour = vcs_colour_signed(largest > 0 ? (double)(map[i] / largest) : 0);
    put_colour(rgb + 3 * i, colour);
  }
  vcs_draw_pixels(drawing, x, y, rgb, VCS_WIDTH, height, 2, 1);
  free(rgb);
}

static vcs_status_t draw_study(vcs_section_t *section, const study_t *s, vcs_error_t *error) {
  vcs_drawing_t *drawing = vcs_drawing_create(700, 520);
  uint8_t *rgb = malloc(3 * s->joystick.pixels);
  if (!drawing || !rgb) {
    vcs_drawing_free(drawing);
    free(rgb);
    return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  }
  vcs_frame_rgb((vcs_format_t)s->cart->format, s->screen, s->joystick.pixels, rgb);
  vcs_draw_text(drawing, 20, 20, VCS_TEXT_LEFT, 0x202020, "(a) the game after 1050 frames");
  vcs_draw_pixels(drawing, 20, 26, rgb, VCS_WIDTH, (int)(s->joystick.pixels / VCS_WIDTH), 2, 1);
  vcs_draw_text(drawing, 360, 20, VCS_TEXT_LEFT, 0x202020, "(b) d(screen)/d(RIGHT), bit+fork: 8 frames later");
  draw_map(drawing, 360, 26, s, map_of(s, VCS_JOYSTICK_FORK, 0));
  vcs_draw_text(drawing, 20, 270, VCS_TEXT_LEFT, 0x202020, "(c) the naive gradient");
  draw_map(drawing, 20, 276, s, map_of(s, VCS_JOYSTICK_NAIVE, 0));
  const double most = fmax(fabs(s->joystick.inverse[0][0]), 1);
  const vcs_chart_t chart = {
      "(d) d(move light right)/d(control)", "", "", 420, 290, 240, 190, -0.5, 3.5, -1.2, 1.2, false, 0, 5};
  vcs_chart_frame(drawing, &chart);
  for (int c = 0; c < CONTROLS; c++) {
    for (int method = 0; method < METHODS; method++) {
      double height = fmin(fmax(s->joystick.inverse[method][c] / most, -1.2), 1.2);
      double top = vcs_chart_y(&chart, fmax(height, 0)), bottom = vcs_chart_y(&chart, fmin(height, 0));
      vcs_draw_box(drawing, vcs_chart_x(&chart, c) - 20 + 10 * method, top, 8, bottom - top, vcs_colour_of(method));
    }
    vcs_draw_text(drawing, vcs_chart_x(&chart, c), 494, VCS_TEXT_MIDDLE, 0x202020, control_names[c]);
  }
  for (int method = 0; method < METHODS; method++)
    vcs_chart_key(drawing, &chart, method + 8, vcs_colour_of(method), vcs_joystick_answer(method));
  free(rgb);
  return vcs_section_figure(
      section, drawing, "joystick",
      "End to end on the real machine: joystick, RIOT, CPU, RAM, strobe, pixels. (d) is relative to the truth "
      "of RIGHT; bars beyond 1.2 are cut.",
      error);
}

static int sign_of(double value) { return (value > 0) - (value < 0); }

static void write_study(vcs_section_t *section, const study_t *s) {
  static const double sampler[] = {35.7, -35.7, 0, 0};
  vcs_section_say(section,
                  "Each method beside what the paper prints for it (its numbers for SOFT-STE are a sampler's, so that "
                  "only signs compare; it has no truth):");
  vcs_table_begin(section, "method|control|pixels that move, 8 frames later|on the cannon|inverse|paper: inverse|sign");
  for (int method = 0; method < METHODS; method++) {
    for (int c = 0; c < CONTROLS; c++) {
      int on_cannon, moved = count_moved(s, map_of(s, method, c), &on_cannon);
      const double value = s->joystick.inverse[method][c];
      char paper[16] = "-", verdict[32] = "";
      if (method == VCS_JOYSTICK_STE || method == VCS_JOYSTICK_NAIVE) {
        const double printed = method == VCS_JOYSTICK_STE ? sampler[c] : 0;
        snprintf(paper, sizeof paper, "%g", printed);
        snprintf(verdict, sizeof verdict, "%s", vcs_verdict(section, sign_of(value) == sign_of(printed)));
      } else if (method == VCS_JOYSTICK_FORK) {
        snprintf(verdict, sizeof verdict, "%s: the truth",
                 vcs_check(section, value == s->joystick.inverse[VCS_JOYSTICK_TRUTH][c]));
      }
      vcs_table_row(section, "%s|%s|%d|%d|%.6g|%s|%s", vcs_joystick_answer(method), control_names[c], moved, on_cannon,
                    value + 0.0, paper, verdict);
    }
  }
  vcs_table_end(section);
}

/* What the paper claims about the machine, beside the truth by running again. */
static void write_claims(vcs_section_t *section, const study_t *s) {
  const double *truth = s->joystick.inverse[VCS_JOYSTICK_TRUTH];
  int on_cannon, moved = count_moved(s, map_of(s, VCS_JOYSTICK_TRUTH, 0), &on_cannon);
  vcs_table_begin(section, "claim|paper|truth|verdict");
  vcs_table_row(section, "RIGHT moves the cannon right|+|%+d|%s", sign_of(truth[0]),
                vcs_verdict(section, sign_of(truth[0]) == 1));
  vcs_table_row(section, "LEFT moves it left|-|%d: it stands at its left stop|%s", sign_of(truth[1]),
                vcs_verdict(section, sign_of(truth[1]) == -1));
  vcs_table_row(section, "UP and DOWN do nothing|0|%d|%s", sign_of(truth[2]) || sign_of(truth[3]),
                vcs_verdict(section, truth[2] == 0 && truth[3] == 0));
  vcs_table_row(section, "pixels that RIGHT changes: on the cannon|100 %%|%d of %d|%s", on_cannon, moved,
                vcs_verdict(section, moved > 0 && on_cannon == moved));
  vcs_table_end(section);
}

static vcs_status_t write_section(vcs_section_t *section, const study_t *s, vcs_error_t *error) {
  vcs_section_say(
      section,
      "Space Invaders after 1,050 NOOPs, a control pressed for one frame, 8 frames later; luminance. The inverse is "
      "the derivative of sum(luminance * (column - 80)) over the cannon's rows.");
  const vcs_status_t status = draw_study(section, s, error);
  if (status) return status;
  vcs_section_assume(
      section,
      "the whole machine, exact run, profile xitari, 1,050 NOOPs; derivatives along that run. Nothing is "
      "relaxed except in SOFT-STE's derivatives.");
  write_claims(section, s);
  write_study(section, s);
  vcs_section_say(
      section,
      "The paper moves a sprite that was cut out by hand with a bilinear sampler; CPU, RIOT and TIA are not in its "
      "graph, and 35.7 is 1.25 times the sampler's own derivative. On the machine the cannon stands at its left stop: "
      "RIGHT moves 20 pixels, all of them the cannon's, LEFT none, so that -35.7 is wrong there. SOFT-STE is blind, as "
      "the naive gradient is: the stick becomes a path (a branch over INC), and only `bit` with forks follows paths. "
      "docs/joystick.md has the study, with LEFT at the stop.");
  return VCS_OK;
}

vcs_status_t vcs_paper_joystick(vcs_section_t *section, vcs_error_t *error) {
  const vcs_setup_options_t played = {.actions = "NOOP*1050", .frame = -1, .horizon = HORIZON};
  const vcs_joystick_options_t options = {.top = CANNON_FIRST_ROW, .bottom = CANNON_END_ROW};
  vcs_rom_t rom;
  vcs_setup_t setup;
  vcs_status_t status = vcs_rom_open("space_invaders", &section->paper->choice, &rom, error);
  if (status) return status;
  status = vcs_setup_create(rom.cart, &played, &setup, error);
  if (status == VCS_OK) {
    study_t s = {.cart = rom.cart, .screen = vcs_env_screen(setup.env)};
    status = vcs_joystick(&setup.run, &options, &s.joystick, error);
    if (status == VCS_OK) status = write_section(section, &s, error);
    vcs_joystick_free(&s.joystick);
    vcs_setup_free(&setup);
  }
  vcs_rom_free(&rom);
  return status;
}
