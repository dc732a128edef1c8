/* bits.c: runs as functions of floats (bits.h): floats become a machine, an image and controls, the core and the
 * gradients do the work, and results are written where they belong in the batch. */
#include "bits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "grad/rerun.h"
#include "host/arena.h"
#include "host/files.h"
#include "host/options.h"
#include "host/parallel.h"
#include "host/save.h"

typedef enum { FORWARD, JVP, VJP } product_t;

/* A batch under way. */
typedef struct {
  const vcs_bits_t *bits;
  const vcs_bits_arguments_t *arguments;
  const vcs_bits_results_t *results;
  product_t product;
  pthread_mutex_t lock; /* of what follows: the first failure */
  vcs_status_t status;
  vcs_error_t error;
} job_t;

/* One run of it, unpacked. */
typedef struct {
  vcs_arena_t arena; /* of the arrays */
  vcs_cart_t cart;
  vcs_t *m;
  uint8_t *rom, *frames;
  vcs_controls_t *controls;
} unpacked_t;

static size_t state_floats(const vcs_bits_t *bits) { return 8 * vcs_state_size(bits->cart); }
static size_t rom_floats(const vcs_bits_t *bits) { return 8 * (size_t)bits->cart->rom_size; }
static size_t input_floats(const vcs_bits_t *bits) { return (size_t)VCS_INPUTS * (size_t)bits->frames; }
static size_t picture_floats(const vcs_bits_t *bits) { return (size_t)bits->cart->frame_height * VCS_WIDTH; }
static size_t pixel_floats(const vcs_bits_t *bits) { return picture_floats(bits) * (size_t)bits->frames; }

uint32_t vcs_bits_rom_size(const vcs_cart_t *cart) { return cart->rom_size; }
const uint8_t *vcs_bits_rom(const vcs_cart_t *cart) { return cart->rom; }

int vcs_bits_is_possible(const vcs_cart_t *cart, const vcs_t *m) { return vcs_machine_is_possible(cart, m); }

vcs_status_t vcs_bits_check_places(const vcs_run_t *run, const vcs_place_t *places, size_t count, vcs_error_t *error) {
  vcs_status_t status = VCS_OK;
  for (size_t i = 0; !status && i < count; i++) status = vcs_place_check(run, &places[i], error);
  return status;
}

/* ---- Floats to bytes and back ------------------------------------------------------------------------------- */

static void pack(const float *floats, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    unsigned byte = 0;
    for (unsigned b = 0; b < 8; b++) byte |= (unsigned)(floats[8 * i + b] > 0.5F) << b;
    bytes[i] = (uint8_t)byte;
  }
}

static void unpack(const uint8_t *bytes, float *floats, size_t count) {
  for (size_t i = 0; i < 8 * count; i++) floats[i] = (float)(bytes[i / 8] >> i % 8 & 1);
}

/* The inverse of what vcs_console_control does with them. */
void vcs_bits_paddles(const vcs_cart_t *cart, const vcs_t *m, int32_t paddles[4]) {
  for (int player = 0; player < 2; player++) {
    const int port = player ^ cart->swap_ports;
    paddles[2 * player + cart->swap_paddles] = m->paddle[2 * port];
    paddles[2 * player + !cart->swap_paddles] = m->paddle[2 * port + 1];
  }
}

/* The controls of a frame whose inputs are floats: an input above 0.5 is held. */
static vcs_controls_t controls_of(const vcs_cart_t *cart, const vcs_t *m, const float *input) {
  vcs_controls_t controls = {0};
  vcs_bits_paddles(cart, m, controls.paddle);
  for (int i = 0; i < VCS_INPUTS; i++) {
    if (input[i] <= 0.5F) continue;
    if (i < VCS_INPUT_RESET) {
      controls.held[i / VCS_INPUT_SECOND_PLAYER] |= (uint8_t)(1u << i % VCS_INPUT_SECOND_PLAYER);
    } else {
      controls.console |= (uint8_t)(1u << (i - VCS_INPUT_RESET));
    }
  }
  return controls;
}

static vcs_status_t unpack_run(const vcs_bits_t *bits, size_t item, unpacked_t *u, vcs_error_t *error) {
  const size_t size = vcs_state_size(bits->cart);
  *u = (unpacked_t){.cart = *bits->cart};
  u->m = vcs_arena_take(&u->arena, 1, size);
  u->controls = vcs_arena_take(&u->arena, (size_t)bits->frames, sizeof *u->controls);
  u->frames = vcs_arena_take(&u->arena, 2, VCS_FRAME_BYTES);
  if (bits->rom) u->rom = vcs_arena_take(&u->arena, 1, bits->cart->rom_size);
  if (u->arena.failed) return vcs_arena_status(&u->arena, error);
  pack(bits->state + item * state_floats(bits), (uint8_t *)u->m, size);
  if (!vcs_machine_is_possible(bits->cart, u->m)) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "the state of run %zu is none that a machine can have; begin with one from Machine.bits",
                          item);
  }
  if (bits->rom) {
    pack(bits->rom + item * rom_floats(bits), u->rom, bits->cart->rom_size);
    if (memcmp(u->rom, bits->cart->rom, bits->cart->rom_size) !=
        0) { /* another game: what was decoded is not its own */
      u->cart.rom = u->rom;
      u->cart.code = NULL;
    }
  }
  const float *input = bits->input + item * input_floats(bits);
  for (int32_t f = 0; f < bits->frames; f++) {
    u->controls[f] = controls_of(bits->cart, u->m, input + (size_t)VCS_INPUTS * (size_t)f);
  }
  return VCS_OK;
}

/* ---- One run ------------------------------------------------------------------------------------------------ */

static float *at(float *floats, size_t item, size_t count) { return floats ? floats + item * count : NULL; }

static void clear(float *floats, size_t count) {
  if (floats) memset(floats, 0, count * sizeof *floats);
}

static void forward(const vcs_bits_t *bits, unpacked_t *u, float *pixels, float *state) {
  const size_t size = picture_floats(bits);
  const float *scale = bits->options.scale;
  for (int32_t f = 0; f < bits->frames; f++) {
    vcs_control(&u->cart, u->m, &u->controls[f]);
    vcs_frame(&u->cart, u->m, pixels ? u->frames : NULL);
    vcs_read_all_ram(u->m); /* as after each step of an environment */
    if (!pixels) continue;
    const uint8_t *picture = vcs_picture(u->m, u->frames);
    float *to = pixels + (size_t)f * size;
    for (size_t i = 0; i < size; i++) to[i] = scale ? scale[picture[i]] : (float)picture[i];
  }
  if (state) unpack((const uint8_t *)u->m, state, vcs_state_size(bits->cart));
}

static vcs_status_t derivative(const job_t *job, size_t item, const unpacked_t *u, vcs_error_t *error) {
  const vcs_bits_t *bits = job->bits;
  const vcs_run_t run = {&u->cart, u->m, NULL, u->controls, bits->frames};
  const vcs_grad_inputs_t inputs = {at(job->arguments->state, item, state_floats(bits)),
                                    at(job->arguments->rom, item, rom_floats(bits)),
                                    at(job->arguments->input, item, input_floats(bits))};
  float *pixels = at(job->results->pixels, item, pixel_floats(bits));
  float **pictures = pixels ? calloc((size_t)bits->frames, sizeof *pictures) : NULL;
  if (pixels && !pictures) return vcs_error_fill(error, VCS_NO_MEMORY, "out of memory");
  for (int32_t f = 0; pixels && f < bits->frames; f++) pictures[f] = pixels + (size_t)f * picture_floats(bits);
  const vcs_grad_outputs_t outputs = {.pixels = pictures, .state = at(job->results->state, item, state_floats(bits))};
  vcs_status_t status;
  if (job->product == JVP) {
    clear(pixels, pixel_floats(bits));
    clear(outputs.state, state_floats(bits));
    status = bits->relaxed ? vcs_relaxed_jvp(&run, bits->relaxed, &inputs, &outputs, NULL, error)
                           : vcs_grad_jvp(&run, &bits->options, &inputs, &outputs, NULL, error);
  } else {
    clear(inputs.state, state_floats(bits));
    clear(inputs.rom, rom_floats(bits));
    clear(inputs.input, input_floats(bits));
    status = bits->relaxed ? vcs_relaxed_vjp(&run, bits->relaxed, &inputs, &outputs, NULL, error)
                           : vcs_grad_vjp(&run, &bits->options, &inputs, &outputs, NULL, error);
  }
  free(pictures);
  return status;
}

static bool do_run(void *context, size_t item, int worker) {
  (void)worker;
  job_t *job = context;
  const vcs_bits_t *bits = job->bits;
  unpacked_t u;
  vcs_error_t error = {""};
  vcs_status_t status = unpack_run(bits, item, &u, &error);
  if (!status && job->product == FORWARD) {
    forward(bits, &u, at(job->results->pixels, item, pixel_floats(bits)),
            at(job->results->state, item, state_floats(bits)));
  } else if (!status) {
    status = derivative(job, item, &u, &error);
  }
  vcs_arena_free(&u.arena);
  if (!status) return true;
  pthread_mutex_lock(&job->lock);
  if (!job->status) {
    job->status = status;
    job->error = error;
  }
  pthread_mutex_unlock(&job->lock);
  return false;
}

/* ---- A batch ------------------------------------------------------------------------------------------------ */

static vcs_status_t do_batch(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments,
                             const vcs_bits_results_t *results, product_t product, vcs_error_t *error) {
  if (error) error->message[0] = 0;
  if (!bits || !bits->cart || !bits->state || !bits->input || !results || bits->runs < 0 || bits->frames < 1) {
    return vcs_error_fill(error, VCS_BAD_ARGUMENT,
                          "a run needs a cartridge, a state, and inputs of at least one frame");
  }
  const vcs_status_t known = vcs_threads_check(bits->threads, error);
  if (known) return known;
  job_t job = {bits, arguments, results, product, PTHREAD_MUTEX_INITIALIZER, VCS_OK, {""}};
  const bool walks = product != FORWARD && !bits->relaxed &&
                     (bits->options.method == VCS_METHOD_EXACT || bits->options.method == VCS_METHOD_HYBRID);
  const int threads = walks ? 1 : bits->threads; /* `exact` and `hybrid` use all cores for each run */
  const size_t done = vcs_parallel((size_t)bits->runs, threads, do_run, &job);
  pthread_mutex_destroy(&job.lock);
  if (!job.status && done < (size_t)bits->runs) return vcs_error_fill(error, VCS_CANCELLED, "interrupted");
  if (job.status && error) *error = job.error;
  return job.status;
}

vcs_status_t vcs_bits_run(const vcs_bits_t *bits, const vcs_bits_results_t *results, vcs_error_t *error) {
  return do_batch(bits, NULL, results, FORWARD, error);
}

vcs_status_t vcs_bits_jvp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments,
                          const vcs_bits_results_t *results, vcs_error_t *error) {
  return do_batch(bits, arguments, results, JVP, error);
}

vcs_status_t vcs_bits_vjp(const vcs_bits_t *bits, const vcs_bits_arguments_t *arguments,
                          const vcs_bits_results_t *results, vcs_error_t *error) {
  return do_batch(bits, arguments, results, VJP, error);
}
