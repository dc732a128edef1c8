/* fuzz_rom.c: runs images that are not games.
 *
 *   fuzz_rom [FRAMES [SEED [EVERY]]]     run about FRAMES frames in total (default 20000), and
 *                                        differentiate after one in EVERY of them (default 200)
 *   fuzz_rom FRAMES SEED reference       run FRAMES frames twice: as fast as possible, and by the reference, core/cpu.h
 *                                        and a TIA that draws, one instruction after the other
 *   fuzz_rom FRAMES SEED cold            the same, with machines that start without the 60 frames that find the
 *                                        television format, and more frames of each image: half of the time of
 *                                        `reference` goes to frames that it does not compare
 *
 * Meant for builds with -fsanitize=address,undefined: every buffer is allocated exactly as long as the API asks, so
 * that an access outside it stops the program. Images of every bank scheme are made of plain noise, of noise without
 * the bytes that jam the CPU, of noise after a small valid frame loop, and of repeated short loops; controls, profile
 * and television are drawn anew for each. Half of the images run twice: frame by frame and drawing, and not drawing,
 * frame by frame or instruction by instruction. The two machines must stay equal, byte for byte; beside the reference
 * the pictures must, too. Every few images one
 * is handed to the loader that is empty, cut short, too long or of an odd size; it may be refused, with a message, or
 * run. Some machines run with time nearly used up, so that the 32-bit clocks of an endless frame wrap.
 *
 * Derivatives are taken of one or two frames, with noise on everything that can have a tangent or an adjoint: the
 * product of the Jacobian and that of its transpose must agree to 1e-5 of their terms. Where they do not, large
 * terms cancel inside the run, and the rounding error is measured instead: the products are computed again with
 * multiples of the vectors, which round differently, and the two products may differ by eight times that change (24 of
 * 771 products needed it; the worst differed by 1.8 times). A noise program may wait for the next line again and again,
 * so that the derivative of time grows beyond the range of a float; such runs are counted, and only have to end.
 *
 * Prints how much was done and exits 0; a difference between two ways exits 1.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/console.h"
#include "core/splitmix.h"
#include "diffvcs/grad.h"
#include "scheme_sizes.h"

/* ---- Noise -------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t noise(void) { return vcs_splitmix64(&random_state); }

static unsigned below(unsigned n) { return (unsigned)(noise() % n); }

static void fill(uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)noise();
}

/* ---- Images ------------------------------------------------------------------------------------------------- */

static size_t size_for(int scheme) {
  const size_t *s = scheme_sizes[scheme];
  return s[0] + below((unsigned)((s[2] - s[0]) / s[1]) + 1) * s[1];
}

/* $x2 jams for x = 0..7, 9, B, D, F. */
static void drop_jams(uint8_t *image, size_t size) {
  for (size_t i = 0; i < size; i++) {
    int row = image[i] >> 4;
    if ((image[i] & 15) == 2 && (row < 8 || row & 1)) image[i] = 0xEA;
  }
}

/* Every 4 KiB bank starts with three lines of VSYNC, some WSYNCs and a call into the noise; all vectors point there. */
static void put_frame_loop(uint8_t *image, size_t size) {
  static const uint8_t loop[] = {0xA9, 0x02, 0x85, 0x00,              /* LDA #2, STA VSYNC */
                                 0x85, 0x02, 0x85, 0x02, 0x85, 0x02,  /* STA WSYNC three times */
                                 0xA9, 0x00, 0x85, 0x00, 0x85, 0x01,  /* LDA #0, STA VSYNC, STA VBLANK */
                                 0xA2, 0x64,                          /* LDX #100 */
                                 0x85, 0x02, 0xB5, 0x00, 0x95, 0x00,  /* line: STA WSYNC, LDA 0,X, STA 0,X */
                                 0x95, 0x0D, 0x85, 0x2A, 0x85, 0x10,  /* STA PF0,X, STA HMOVE, STA RESP0 */
                                 0xCA, 0xD0, 0xF1,                    /* DEX, BNE line */
                                 0x20, 0x80, 0xF0, 0x4C, 0x00, 0xF0}; /* JSR $F080, JMP $F000 */
  for (size_t bank = 0; bank + 2048 <= size; bank += size < 4096 ? 2048 : 4096) {
    size_t length = size - bank < 4096 ? 2048 : 4096;
    size_t start = below(4) ? 0x100 : 0; /* above the ports of cartridge RAM, or not */
    memcpy(image + bank + start, loop, sizeof loop);
    image[bank + start + sizeof loop - 1] = image[bank + start + sizeof loop - 4] = (uint8_t)(0xF0 + (start >> 8));
    for (size_t i = 6; i > 0; i -= 2) {
      image[bank + length - i] = 0;
      image[bank + length - i + 1] = (uint8_t)(0xF0 + (start >> 8));
    }
  }
}

/* A short piece, over and over: tight loops, the same instruction for ever. */
static void repeat_piece(uint8_t *image, size_t size) {
  size_t period = 1 + below(31);
  for (size_t i = period; i < size; i++) image[i] = image[i - period];
}

static uint8_t *make_image(size_t size, unsigned kind) {
  uint8_t *image = malloc(size ? size : 1);
  if (!image) exit(2);
  fill(image, size);
  if (kind == 2 && size) repeat_piece(image, size);
  if (kind != 0) drop_jams(image, size);
  if (kind == 3) put_frame_loop(image, size);
  return image;
}

/* ---- Running ------------------------------------------------------------------------------------------------ */

static struct {
  uint64_t frames, drawn, jams, images, refused, instructions, environments, derivatives, too_large, rounded, compared;
  uint64_t of_scheme[VCS_SCHEME_COUNT]; /* compared frames */
} done;
static unsigned derive_every = 200;
static bool by_reference, cold;

static vcs_controls_t random_controls(void) {
  vcs_controls_t controls;
  for (int i = 0; i < 2; i++) {
    controls.held[i] = (uint8_t)noise();
    controls.keys[i] = (uint16_t)(noise() & 0xFFF);
  }
  for (int i = 0; i < 4; i++) controls.paddle[i] = (int32_t)(noise() >> below(33) & 0x7FFFFFFF);
  controls.console = (uint8_t)below(4);
  return controls;
}

/* Everything that looks at a machine without moving it. */
static void look(const vcs_cart_t *cart, vcs_t *m, const uint8_t *frames) {
  char text[32];
  vcs_disassemble(cart, m, (uint16_t)noise(), text, 1 + below(sizeof text));
  vcs_peek(cart, m, (uint16_t)noise());
  volatile uint8_t pixel = vcs_picture(m, frames)[below(VCS_WIDTH * (unsigned)vcs_cart_info(cart)->height)];
  (void)pixel;
}

static void step_some(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_step_t step;
  vcs_frame_begin(cart, m);
  for (unsigned i = below(2000); i > 0; i--) {
    vcs_step(cart, m, frames, &step);
    if (step.frame_over || step.jammed) break;
  }
  vcs_frame_end(cart, m, frames);
}

static void frame_by_steps(const vcs_cart_t *cart, vcs_t *m) {
  vcs_step_t step;
  vcs_frame_begin(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !m->jammed; i++) {
    vcs_step(cart, m, NULL, &step);
    if (step.frame_over) break;
  }
  vcs_frame_end(cart, m, NULL);
}

static void reference_frame(const vcs_cart_t *cart, vcs_t *m, uint8_t *frames) {
  vcs_video_t video;
  bool over = false;
  vcs_video_start(&video, cart, frames);
  vcs_console_start_frame(cart, m);
  for (int i = 0; i < VCS_FRAME_INSTRUCTIONS && !m->jammed && !over; i++) {
    vcs_cpu_step(cart, m, &video, &over);
    m->instructions++;
  }
  if (over) m->partial = 0;
  vcs_console_finish_frame(cart, m, &video);
}

/* ---- Derivatives ---------------------------------------------------------------------------------------------- */

/* Slots of a run: of the state, the image, the inputs, or of the state and the pictures; on one side or the other. */
enum { STATE, ROM, INPUT, PIXELS, PARTS = PIXELS + 2 };
typedef struct {
  float *slots[PARTS];
  size_t count[PARTS];
} vector_t;

static void give_up(const vcs_error_t *error) {
  fprintf(stderr, "fuzz_rom: %s\n", error->message);
  exit(2);
}

static vector_t make_vector(const size_t count[PARTS], int noisy) {
  vector_t vector;
  for (int part = 0; part < PARTS; part++) {
    vector.count[part] = count[part];
    vector.slots[part] = calloc(count[part] ? count[part] : 1, sizeof(float));
    if (!vector.slots[part]) exit(2);
    for (size_t i = 0; noisy && i < count[part]; i++)
      vector.slots[part][i] = 0x1p-80F * ((float)below(2001) / 1000.0F - 1);
  }
  return vector;
}

static void free_vector(vector_t *vector) {
  for (int part = 0; part < PARTS; part++) free(vector->slots[part]);
}

/* The sum of the products, and of their magnitudes. */
static double dot(const vector_t *a, const vector_t *b, double *magnitude) {
  double sum = 0;
  *magnitude = 0;
  for (int part = 0; part < PARTS; part++) {
    for (size_t i = 0; i < a->count[part]; i++) {
      double product = 0x1p80 * (double)a->slots[part][i] * (0x1p80 * (double)b->slots[part][i]);
      sum += product;
      *magnitude += fabs(product);
    }
  }
  return sum;
}

typedef struct {
  vector_t v, jv, w, jw; /* tangents and their product, adjoints and theirs */
  double left, right;    /* <Jv, w> and <v, J'w> */
  double size;           /* the terms of the larger one, without their signs */
} products_t;

static void scale(vector_t *a, float by) {
  for (int part = 0; part < PARTS; part++) {
    for (size_t i = 0; i < a->count[part]; i++) a->slots[part][i] *= by;
  }
}

static void clear(vector_t *a) { scale(a, 0); }

static void multiply(const vcs_run_t *run, const vcs_grad_options_t *options, products_t *p) {
  clear(&p->jv);
  clear(&p->jw);
  vcs_error_t error;
  vcs_grad_inputs_t tangents = {p->v.slots[STATE], p->v.slots[ROM], p->v.slots[INPUT]};
  vcs_grad_outputs_t effects = {.pixels = &p->jv.slots[PIXELS], .state = p->jv.slots[STATE]};
  vcs_grad_inputs_t causes = {p->jw.slots[STATE], p->jw.slots[ROM], p->jw.slots[INPUT]};
  vcs_grad_outputs_t adjoints = {.pixels = &p->w.slots[PIXELS], .state = p->w.slots[STATE]};
  if (vcs_grad_jvp(run, options, &tangents, &effects, NULL, &error) != VCS_OK) give_up(&error);
  if (vcs_grad_vjp(run, options, &causes, &adjoints, NULL, &error) != VCS_OK) give_up(&error);
  double forwards, backwards;
  p->left = dot(&p->jv, &p->w, &forwards);
  p->right = dot(&p->v, &p->jw, &backwards);
  p->size = isfinite(forwards) && isfinite(backwards) ? fmax(forwards, backwards) : INFINITY;
}

/* How far rounding alone moves the two products: a multiple of the tangents and of the adjoints has the same multiple
 * as its product, but for rounding. Terms that cancel on the way are not seen at its ends; this sees them. */
static double rounding(const vcs_run_t *run, const vcs_grad_options_t *options, products_t *p) {
  static const float factors[] = {3, 5, 7};
  const double left = p->left, right = p->right;
  double moved = 0;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    const float by = i ? factors[i] / factors[i - 1] : factors[i];
    const double both = (double)factors[i] * (double)factors[i];
    scale(&p->v, by);
    scale(&p->w, by);
    multiply(run, options, p);
    moved = fmax(moved, fabs(p->left / both - left) + fabs(p->right / both - right));
  }
  return moved;
}

static void differentiate(const vcs_cart_t *cart, const vcs_t *m) {
  vcs_controls_t controls[2] = {random_controls(), random_controls()};
  int frames = 1 + (int)below(2);
  vcs_run_t run = {cart, m, NULL, controls, frames};
  vcs_grad_options_t options;
  vcs_grad_defaults(&options);
  options.side = (vcs_side_rule_t)below(3);
  size_t picture = (size_t)(VCS_WIDTH * cart->height), state = 8 * vcs_state_size(cart);
  const size_t in[PARTS] = {state, 8 * (size_t)cart->rom_size, (size_t)(VCS_INPUTS * frames), 0, 0};
  const size_t out[PARTS] = {state, 0, 0, picture, frames > 1 ? picture : 0};
  products_t p = {.v = make_vector(in, 1), .w = make_vector(out, 1)};
  p.jv = make_vector(out, 0);
  p.jw = make_vector(in, 0);
  multiply(&run, &options, &p);
  const double left = p.left, right = p.right, size = p.size;
  done.derivatives++;
  if (!isfinite(size)) {
    done.too_large++;
  } else if (fabs(left - right) > 1e-5 * size) {
    done.rounded++;
    if (fabs(left - right) > 8 * rounding(&run, &options, &p)) {
      fprintf(stderr, "two products: image %" PRIu64 ", scheme %s, side %d, %d frames: %g and %g of %g\n", done.images,
              vcs_cart_info(cart)->scheme_name, (int)options.side, frames, left, right, size);
      exit(1);
    }
  }
  free_vector(&p.v);
  free_vector(&p.jv);
  free_vector(&p.w);
  free_vector(&p.jw);
}

/* ---- Playing -------------------------------------------------------------------------------------------------- */

/* A frame that has lasted for days: the clocks are about to wrap. */
static void age(vcs_t *m) { m->cycles += 0x2AAAAAAAu - below(4000) + below(4) * 0x15555555u; }

/* Gives both machines the same random controls, and sometimes the same old age. */
static void control_both(const vcs_cart_t *cart, vcs_t *m, vcs_t *twin) {
  const vcs_controls_t controls = random_controls();
  vcs_control(cart, m, &controls);
  vcs_control(cart, twin, &controls);
  if (below(200) != 0) return;
  age(m);
  twin->cycles = m->cycles;
}

static void play(const vcs_cart_t *cart, uint64_t frames_left) {
  size_t size = vcs_state_size(cart);
  vcs_t *m = malloc(size), *twin = malloc(size);
  uint8_t *frames = malloc(2 * VCS_FRAME_BYTES);
  if (!m || !twin || !frames) exit(2);
  vcs_boot(cart, m, frames);
  memcpy(twin, m, size);
  uint32_t first = m->instructions;
  int twins = (int)below(2), stepwise = (int)below(2), calls = 1 + (int)below(60);
  for (int i = 0; i < calls && frames_left > 0; i++, frames_left--) {
    control_both(cart, m, twin);
    if (!twins && below(8) == 0) {
      step_some(cart, m, below(2) ? frames : NULL);
    } else {
      vcs_frame(cart, m, frames);
    }
    done.frames++;
    done.drawn++;
    if (twins) {
      if (stepwise) {
        frame_by_steps(cart, twin);
      } else {
        vcs_frame(cart, twin, NULL);
      }
      done.frames++;
      if (memcmp(m, twin, size) != 0) {
        fprintf(stderr, "two ways, two machines: image %" PRIu64 ", scheme %s, frame %d, %s\n", done.images,
                vcs_cart_info(cart)->scheme_name, i, stepwise ? "stepwise" : "not drawing");
        exit(1);
      }
    }
    look(cart, m, frames);
    if (below(derive_every) == 0) differentiate(cart, m);
    if (m->jammed) {
      done.jams++;
      if (below(2)) break;
      vcs_reset(cart, m, frames);
      vcs_reset(cart, twin, NULL);
    }
  }
  done.instructions += m->instructions - first;
  free(m);
  free(twin);
  free(frames);
}

/* Runs every frame twice, the second time by the reference. */
static void play_with_reference(const vcs_cart_t *cart, uint64_t frames_left) {
  size_t size = vcs_state_size(cart);
  vcs_t *m = malloc(size), *twin = malloc(size);
  uint8_t *frames = malloc(2 * VCS_FRAME_BYTES), *twin_frames = malloc(2 * VCS_FRAME_BYTES);
  if (!m || !twin || !frames || !twin_frames) exit(2);
  if (cold) {
    vcs_console_power_on(cart, m);
    vcs_reset(cart, m, frames);
  } else {
    vcs_boot(cart, m, frames);
  }
  memcpy(twin, m, size);
  memcpy(twin_frames, frames, 2 * VCS_FRAME_BYTES);
  const bool draws = below(2);
  for (int i = 0, calls = 1 + (int)below(cold ? 240 : 60); i < calls && frames_left > 0; i++, frames_left--) {
    control_both(cart, m, twin);
    vcs_frame(cart, m, draws ? frames : NULL);
    reference_frame(cart, twin, draws ? twin_frames : NULL);
    done.frames++;
    done.compared++;
    done.of_scheme[cart->scheme]++;
    done.drawn += draws;
    if (memcmp(m, twin, size) != 0 || memcmp(frames, twin_frames, 2 * VCS_FRAME_BYTES) != 0) {
      fprintf(stderr, "not as the reference: image %" PRIu64 ", scheme %s, frame %d, %s, %s\n", done.images,
              vcs_cart_info(cart)->scheme_name, i, draws ? "drawn" : "not drawn",
              memcmp(m, twin, size) != 0 ? "the machine" : "the picture");
      for (size_t at = 0; at < size; at++) {
        const uint8_t ours = ((const uint8_t *)m)[at], theirs = ((const uint8_t *)twin)[at];
        if (ours != theirs)
          fprintf(stderr, "  byte %zu of the machine: %02X, %02X by the reference\n", at, ours, theirs);
      }
      exit(1);
    }
    if (m->jammed) {
      done.jams++;
      if (below(2)) break;
      vcs_reset(cart, m, frames);
      vcs_reset(cart, twin, twin_frames);
    }
  }
  free(m);
  free(twin);
  free(frames);
  free(twin_frames);
}

static void play_environment(const vcs_cart_t *cart) {
  vcs_env_t *env;
  vcs_error_t error;
  if (vcs_env_create(cart, &env, &error) != VCS_OK) give_up(&error);
  vcs_env_set_drawing(env, (int)below(2));
  for (int i = 0; i < 10; i++) vcs_env_act(env, (int)below(30) - 5, (int)below(30) - 5);
  done.environments++;
  done.frames += vcs_env_frame_number(env) + 64;
  vcs_env_free(env);
}

static void one_image(uint64_t frames_left) {
  vcs_cart_options_t options = {.profile = (vcs_profile_t)below(VCS_PROFILE_COUNT),
                                .scheme = (vcs_scheme_t)below(VCS_SCHEME_COUNT),
                                .format = (vcs_format_t)(cold ? 1 + below(4) : below(5))};
  size_t size = size_for((int)options.scheme);
  switch (below(16)) {
    case 0: /* cut short */
      size = below((unsigned)size);
      break;
    case 1: /* too long */
      size += 1 + below(5000);
      break;
    case 2:
      size = below(3); /* hardly anything */
      break;
    default:
      break;
  }
  uint8_t *image = make_image(size, below(4));
  vcs_cart_t *cart;
  vcs_error_t error;
  done.images++;
  if (vcs_cart_load(image, size, &options, &cart, &error) == VCS_OK) {
    free(image);
    if (by_reference) {
      play_with_reference(cart, frames_left);
    } else {
      play(cart, frames_left);
      if (below(50) == 0) play_environment(cart);
    }
    vcs_cart_free(cart);
  } else {
    free(image);
    done.refused++;
    if (cart || !error.message[0]) {
      fprintf(stderr, "an image was refused without a message\n");
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  uint64_t frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000, reported = 0;
  random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  cold = argc > 3 && strcmp(argv[3], "cold") == 0;
  by_reference = cold || (argc > 3 && strcmp(argv[3], "reference") == 0);
  if (argc > 3) derive_every = (unsigned)strtoul(argv[3], NULL, 10);
  if (derive_every == 0) derive_every = 1;
  while (done.frames < frames) {
    one_image(frames - done.frames);
    if (done.frames - reported >= 100000) {
      reported = done.frames;
      fprintf(stderr, "%" PRIu64 " frames\n", reported);
    }
  }
  printf("%" PRIu64 " images (%" PRIu64 " refused), %" PRIu64 " frames (%" PRIu64 " drawn), %" PRIu64
         " instructions or more, %" PRIu64 " jams, %" PRIu64 " environments, %" PRIu64 " derivatives (%" PRIu64
         " too large, %" PRIu64 " rounded), %" PRIu64 " frames as the reference: no crash\n",
         done.images, done.refused, done.frames, done.drawn, done.instructions, done.jams, done.environments,
         done.derivatives, done.too_large, done.rounded, done.compared);
  for (int scheme = 0; by_reference && scheme < VCS_SCHEME_COUNT; scheme++) {
    if (done.of_scheme[scheme]) printf("%s: %" PRIu64 "\n", vcs_scheme_row(scheme)->name, done.of_scheme[scheme]);
  }
  return 0;
}
