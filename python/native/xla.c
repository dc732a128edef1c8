/* xla.c: the functions of bits.h, and steps of a batch on a device, as XLA custom calls, which is what JAX compiles to
 * (its "typed FFI").
 *
 * A call frame holds buffers and named attributes. Leading dimensions of a buffer are a batch (JAX's vmap adds them).
 *
 *   vcs_xla_run   state, rom, input                              -> pixels, state
 *   vcs_xla_jvp   state, rom, input, their tangents              -> tangents of pixels, state
 *   vcs_xla_vjp   state, rom, input, adjoints of pixels, state   -> adjoints of state, rom, input
 *
 * Attributes: `cart`, the address of a loaded cartridge (const, and never freed once JAX has seen it), the numbers of
 * vcs_grad_options_t by name, `scale`, what the 256 palette indices are worth, and `relaxed`, the bytes of a
 * vcs_relax_options_t (one byte: none), and `wanted`, a bit for each of state, rom and input that a VJP is with respect
 * to.
 *
 *   vcs_xla_step, vcs_xla_step_on_gpu     actions, results       -> results
 *   vcs_xla_reset, vcs_xla_reset_on_gpu   ids, seeds, results    -> results
 *
 * These step or reset a batch on a device: the first of each pair for XLA's CPU, where the batch is VCS_CPU_AS_GPU, the
 * second for its GPUs. Every result is the memory of the operand of the same place: XLA sees a function of arrays that
 * updates them in place, and because each call takes the results of the one before, calls stay in order in any program.
 * On a GPU the work is queued on XLA's stream, and nothing waits for it. Attributes: `batch`, the number that
 * vcs_xla_lend gave it, and `wanted`, a bit for each row of `result_rows` that is there.
 *
 * xla_ffi_c_api.h is OpenXLA's own header, unchanged, so that building needs no JAX.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "xla_ffi_c_api.h"

static XLA_FFI_Error *fail(const XLA_FFI_CallFrame *frame, const char *message) {
  XLA_FFI_Error_Create_Args args = {.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE,
                                    .message = message,
                                    .errc = XLA_FFI_Error_Code_INVALID_ARGUMENT};
  return frame->api->XLA_FFI_Error_Create(&args);
}

/* XLA asks each handler once which version of the header it was compiled with. */
static int answered_version(const XLA_FFI_CallFrame *frame) {
  const XLA_FFI_Extension_Base *extension = frame->extension_start;
  if (!extension || extension->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata *metadata = ((const XLA_FFI_Metadata_Extension *)(const void *)extension)->metadata;
  metadata->api_version = (XLA_FFI_Api_Version){.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE,
                                                .major_version = XLA_FFI_API_MAJOR,
                                                .minor_version = XLA_FFI_API_MINOR};
  metadata->traits = 0;
  return 1;
}

/* ---- Attributes and buffers --------------------------------------------------------------------------------- */

static const void *attribute(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_AttrType type) {
  const XLA_FFI_Attrs *attrs = &frame->attrs;
  for (int64_t i = 0; i < attrs->size; i++) {
    const XLA_FFI_ByteSpan *span = attrs->names[i];
    if (span->len == strlen(name) && memcmp(span->ptr, name, span->len) == 0) {
      return attrs->types[i] == type ? attrs->attrs[i] : NULL;
    }
  }
  return NULL;
}

/* Reads a number of a type and size; 0: there is none of this name and type. */
static int scalar(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_DataType type, void *value, size_t size) {
  const XLA_FFI_Scalar *found = attribute(frame, name, XLA_FFI_AttrType_SCALAR);
  if (!found || found->dtype != type) return 0;
  memcpy(value, found->value, size);
  return 1;
}

static int number(const XLA_FFI_CallFrame *frame, const char *name, int64_t *value) {
  return scalar(frame, name, XLA_FFI_DataType_S64, value, sizeof *value);
}

static int fraction(const XLA_FFI_CallFrame *frame, const char *name, float *value) {
  return scalar(frame, name, XLA_FFI_DataType_F32, value, sizeof *value);
}

static int read_attributes(const XLA_FFI_CallFrame *frame, vcs_bits_t *bits, vcs_relax_options_t *relaxed,
                           int64_t *wanted) {
  int64_t cart, method, fork_window, side, threads;
  const XLA_FFI_Array *scale = attribute(frame, "scale", XLA_FFI_AttrType_ARRAY);
  const XLA_FFI_Array *bytes = attribute(frame, "relaxed", XLA_FFI_AttrType_ARRAY);
  if (!number(frame, "cart", &cart) || !number(frame, "method", &method) ||
      !number(frame, "fork_window", &fork_window) || !number(frame, "side", &side) ||
      !number(frame, "wanted", wanted) || !number(frame, "threads", &threads) ||
      !scalar(frame, "budget", XLA_FFI_DataType_F64, &bits->options.budget, sizeof(double)) ||
      !fraction(frame, "alpha", &bits->options.alpha) || !fraction(frame, "temperature", &bits->options.temperature) ||
      !scale || scale->dtype != XLA_FFI_DataType_F32 || scale->size != 256 || !bytes ||
      bytes->dtype != XLA_FFI_DataType_U8 || (bytes->size != 1 && bytes->size != sizeof *relaxed)) {
    return 0;
  }
  if (bytes->size == sizeof *relaxed) bits->relaxed = memcpy(relaxed, bytes->data, sizeof *relaxed);
  bits->cart = (const vcs_cart_t *)(uintptr_t)cart; /* NOLINT(performance-no-int-to-ptr): an attribute is a number */
  bits->options.method = (vcs_method_t)method;
  bits->options.fork_window = (int32_t)fork_window;
  bits->options.side = (vcs_side_rule_t)side;
  bits->options.scale = scale->data;
  bits->options.threads = (int32_t)threads;
  return 1;
}

/* A buffer of floats whose last dimensions hold `each` floats a run, for all runs; -1 runs: not known yet. */
static float *floats(const XLA_FFI_Buffer *buffer, size_t each, int64_t *runs) {
  if (buffer->dtype != XLA_FFI_DataType_F32) return NULL;
  int64_t count = 1;
  for (int64_t i = 0; i < buffer->rank; i++) count *= buffer->dims[i];
  if (*runs < 0) *runs = count / (int64_t)each;
  return count == *runs * (int64_t)each ? buffer->data : NULL;
}

/* ---- Calls -------------------------------------------------------------------------------------------------- */

typedef enum { RUN, JVP, VJP } call_t;

static XLA_FFI_Error *call(XLA_FFI_CallFrame *frame, call_t which) {
  if (answered_version(frame)) return NULL;
  static const int argument_counts[] = {3, 6, 5}, result_counts[] = {2, 2, 3};
  vcs_bits_t bits = {0};
  vcs_relax_options_t relaxed;
  int64_t wanted;
  if (frame->args.size != argument_counts[which] || frame->rets.size != result_counts[which] ||
      !read_attributes(frame, &bits, &relaxed, &wanted)) {
    return fail(frame, "diffvcs: this call does not have the arguments that diffvcs.jax gives it");
  }
  XLA_FFI_Buffer **in = (XLA_FFI_Buffer **)frame->args.args, **out = (XLA_FFI_Buffer **)frame->rets.rets;
  const XLA_FFI_Buffer *input = in[2];
  const int64_t frames = input->rank >= 2 ? input->dims[input->rank - 2] : 0;
  const size_t state_size = 8 * vcs_state_size(bits.cart), rom_size = 8 * (size_t)vcs_bits_rom_size(bits.cart),
               input_size = VCS_INPUTS * (size_t)frames,
               pixels_size = (size_t)vcs_cart_info(bits.cart)->height * VCS_WIDTH * (size_t)frames;
  if (frames < 1) return fail(frame, "diffvcs: inputs are frames x 12, with at least one frame");
  int64_t runs = -1;
  bits.frames = (int32_t)frames;
  bits.state = floats(in[0], state_size, &runs);
  bits.rom = floats(in[1], rom_size, &runs);
  bits.input = floats(in[2], input_size, &runs);
  bits.runs = (int32_t)runs;

  vcs_bits_arguments_t arguments = {0};
  vcs_bits_results_t results = {0};
  XLA_FFI_Buffer **arguments_at = which == VJP ? out : in + 3, **results_at = which == VJP ? in + 3 : out;
  if (which != RUN) {
    arguments =
        (vcs_bits_arguments_t){floats(arguments_at[0], state_size, &runs), floats(arguments_at[1], rom_size, &runs),
                               floats(arguments_at[2], input_size, &runs)};
  }
  results = (vcs_bits_results_t){floats(results_at[0], pixels_size, &runs), floats(results_at[1], state_size, &runs)};
  if (!bits.state || !bits.rom || !bits.input || !results.pixels || !results.state ||
      (which != RUN && (!arguments.state || !arguments.rom || !arguments.input))) {
    return fail(frame, "diffvcs: arrays are float32 and have the shapes that Cartridge tells");
  }

  if (which == VJP) { /* what is not wanted is zero */
    float **adjoints[] = {&arguments.state, &arguments.rom, &arguments.input};
    const size_t sizes[] = {state_size, rom_size, input_size};
    for (int i = 0; i < 3; i++) {
      if (wanted >> i & 1) continue;
      memset(*adjoints[i], 0, sizes[i] * (size_t)runs * sizeof(float));
      *adjoints[i] = NULL;
    }
  }
  vcs_error_t error;
  vcs_status_t status = which == RUN   ? vcs_bits_run(&bits, &results, &error)
                        : which == JVP ? vcs_bits_jvp(&bits, &arguments, &results, &error)
                                       : vcs_bits_vjp(&bits, &arguments, &results, &error);
  return status ? fail(frame, error.message) : NULL;
}

VCS_API XLA_FFI_Error *vcs_xla_run(XLA_FFI_CallFrame *frame);
VCS_API XLA_FFI_Error *vcs_xla_jvp(XLA_FFI_CallFrame *frame);
VCS_API XLA_FFI_Error *vcs_xla_vjp(XLA_FFI_CallFrame *frame);

XLA_FFI_Error *vcs_xla_run(XLA_FFI_CallFrame *frame) { return call(frame, RUN); }
XLA_FFI_Error *vcs_xla_jvp(XLA_FFI_CallFrame *frame) { return call(frame, JVP); }
XLA_FFI_Error *vcs_xla_vjp(XLA_FFI_CallFrame *frame) { return call(frame, VJP); }

/* ---- Steps of a batch ------------------------------------------------------------------------------------------- */

/* Compiled programs live as long as JAX wants, so they know a batch by a number that is never used twice: once the
 * batch is freed, their calls fail. Calls share the lock, and freeing a batch waits for those that use it. */
typedef struct loan {
  struct loan *next;
  vcs_batch_t *batch;
  int64_t number;
} loan_t;

static loan_t *loans;
static int64_t last_number;
static pthread_rwlock_t loans_lock = PTHREAD_RWLOCK_INITIALIZER;

VCS_API int64_t vcs_xla_lend(vcs_batch_t *batch); /* returns the batch's number, or 0 without memory */
VCS_API void vcs_xla_batch_free(vcs_batch_t *batch);

int64_t vcs_xla_lend(vcs_batch_t *batch) {
  loan_t *loan = malloc(sizeof *loan);
  if (!loan) return 0;
  pthread_rwlock_wrlock(&loans_lock);
  *loan = (loan_t){loans, batch, ++last_number};
  loans = loan;
  pthread_rwlock_unlock(&loans_lock);
  return loan->number;
}

void vcs_xla_batch_free(vcs_batch_t *batch) {
  pthread_rwlock_wrlock(&loans_lock);
  for (loan_t **at = &loans; *at;) {
    loan_t *loan = *at;
    if (loan->batch == batch) {
      *at = loan->next;
      free(loan);
    } else {
      at = &loan->next;
    }
  }
  pthread_rwlock_unlock(&loans_lock);
  vcs_batch_free(batch);
}

/* Results in the order in which calls have them; bytes of an entry, times the number of players where `per_player`, and
 * 0 for those of an observation. */
static const struct {
  size_t at, bytes;
  int per_player;
} result_rows[] = {
    {offsetof(vcs_batch_results_t, observations), 0, 0},
    {offsetof(vcs_batch_results_t, final_observations), 0, 0},
    {offsetof(vcs_batch_results_t, env_ids), 4, 0},
    {offsetof(vcs_batch_results_t, rewards), 4, 1},
    {offsetof(vcs_batch_results_t, lives), 4, 1},
    {offsetof(vcs_batch_results_t, frame_numbers), 4, 0},
    {offsetof(vcs_batch_results_t, episode_frame_numbers), 4, 0},
    {offsetof(vcs_batch_results_t, terminated), 1, 0},
    {offsetof(vcs_batch_results_t, truncated), 1, 0},
    {offsetof(vcs_batch_results_t, ram), 128, 0},
};
enum { RESULT_ROWS = sizeof result_rows / sizeof *result_rows };

/* Whether a buffer has so many numbers of a type of so many bytes; a Boolean has one byte. */
static int holds(const XLA_FFI_Buffer *buffer, size_t numbers, size_t bytes) {
  size_t count = 1;
  const int type = (int)buffer->dtype;
  const size_t width = type == XLA_FFI_DataType_S32                                   ? 4
                       : type == XLA_FFI_DataType_U8 || type == XLA_FFI_DataType_PRED ? 1
                                                                                      : 0;
  for (int64_t i = 0; i < buffer->rank; i++) count *= (size_t)buffer->dims[i];
  return count == numbers && width == bytes;
}

/* Finds the memory of the results: the operands after the first `first`. */
static const char *take_results(const XLA_FFI_CallFrame *frame, int64_t first, int64_t wanted, const vcs_batch_t *batch,
                                vcs_batch_results_t *results) {
  const vcs_batch_options_t *o = vcs_batch_options(batch);
  const size_t envs = (size_t)o->envs, players = o->players ? (size_t)o->players : 1;
  const int64_t last = frame->rets.size;
  XLA_FFI_Buffer **in = (XLA_FFI_Buffer **)frame->args.args, **out = (XLA_FFI_Buffer **)frame->rets.rets;
  int64_t taken = 0;
  memset(results, 0, sizeof *results);
  for (int i = 0; i < RESULT_ROWS; i++) {
    if (!(wanted >> i & 1)) continue;
    if (taken == last || first + taken >= frame->args.size) return "diffvcs: a result is missing";
    const XLA_FFI_Buffer *before = in[first + taken], *after = out[taken];
    const size_t width = result_rows[i].bytes == 4 ? 4 : 1;
    size_t numbers = (result_rows[i].bytes ? result_rows[i].bytes : vcs_batch_observation_size(batch)) / width * envs;
    if (result_rows[i].per_player) numbers *= players;
    if (!holds(before, numbers, width) || !holds(after, numbers, width)) return "diffvcs: a result has another shape";
    if (before->data != after->data) return "diffvcs: XLA gave a result memory of its own";
    memcpy((char *)results + result_rows[i].at, &after->data, sizeof after->data);
    taken++;
  }
  return taken == last && first + taken == frame->args.size ? NULL : "diffvcs: there are more arrays than results";
}

/* Puts the batch on XLA's stream; returns XLA's error, or NULL. */
static XLA_FFI_Error *follow_stream(const XLA_FFI_CallFrame *frame, vcs_batch_t *batch) {
  XLA_FFI_DeviceOrdinal_Get_Args where = {.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, .ctx = frame->ctx};
  XLA_FFI_Error *error = frame->api->XLA_FFI_DeviceOrdinal_Get(&where);
  if (error) return error;
  if (vcs_batch_options(batch)->device != VCS_GPU + where.device_ordinal) {
    return fail(frame, "diffvcs: the arrays of this call are not on the GPU of the environments");
  }
  XLA_FFI_Stream_Get_Args stream = {.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE, .ctx = frame->ctx};
  error = frame->api->XLA_FFI_Stream_Get(&stream);
  if (!error) vcs_batch_set_stream(batch, stream.stream);
  return error;
}

typedef enum { STEP, RESET } change_t;

/* The call, on a batch that cannot be freed meanwhile. */
static XLA_FFI_Error *change_batch(const XLA_FFI_CallFrame *frame, change_t which, int on_gpu, int64_t wanted,
                                   vcs_batch_t *batch) {
  const vcs_batch_options_t *o = vcs_batch_options(batch);
  const size_t envs = (size_t)o->envs, players = o->players ? (size_t)o->players : 1;
  XLA_FFI_Buffer **in = (XLA_FFI_Buffer **)frame->args.args;
  const int64_t first = which == STEP ? 1 : 2;
  vcs_batch_results_t results;
  vcs_error_t error;
  if (frame->args.size < first || !holds(in[0], which == STEP ? envs * players : envs, 4) ||
      (which == RESET && !holds(in[1], envs, 4))) {
    return fail(frame, "diffvcs: actions, ids and seeds are int32, one for each environment");
  }
  const char *wrong = take_results(frame, first, wanted, batch, &results);
  if (wrong) return fail(frame, wrong);
  if (on_gpu) {
    XLA_FFI_Error *problem = follow_stream(frame, batch);
    if (problem) return problem;
  } else if (o->device != VCS_CPU_AS_GPU) {
    return fail(frame, "diffvcs: the arrays of this call are in the CPU's memory, and the environments on a GPU");
  }
  const vcs_status_t status = which == STEP
                                  ? vcs_batch_step(batch, in[0]->data, NULL, &results, &error)
                                  : vcs_batch_reset(batch, in[0]->data, in[1]->data, o->envs, &results, &error);
  return status ? fail(frame, error.message) : NULL;
}

static XLA_FFI_Error *change(const XLA_FFI_CallFrame *frame, change_t which, int on_gpu) {
  if (answered_version(frame)) return NULL;
  int64_t of, wanted;
  if (!number(frame, "batch", &of) || !number(frame, "wanted", &wanted)) {
    return fail(frame, "diffvcs: this call does not have the attributes that diffvcs.jax gives it");
  }
  pthread_rwlock_rdlock(&loans_lock);
  const loan_t *loan = loans;
  while (loan && loan->number != of) loan = loan->next;
  XLA_FFI_Error *error = loan ? change_batch(frame, which, on_gpu, wanted, loan->batch)
                              : fail(frame, "diffvcs: these environments were closed");
  pthread_rwlock_unlock(&loans_lock);
  return error;
}

VCS_API XLA_FFI_Error *vcs_xla_step(XLA_FFI_CallFrame *frame);
VCS_API XLA_FFI_Error *vcs_xla_step_on_gpu(XLA_FFI_CallFrame *frame);
VCS_API XLA_FFI_Error *vcs_xla_reset(XLA_FFI_CallFrame *frame);
VCS_API XLA_FFI_Error *vcs_xla_reset_on_gpu(XLA_FFI_CallFrame *frame);

XLA_FFI_Error *vcs_xla_step(XLA_FFI_CallFrame *frame) { return change(frame, STEP, 0); }
XLA_FFI_Error *vcs_xla_step_on_gpu(XLA_FFI_CallFrame *frame) { return change(frame, STEP, 1); }
XLA_FFI_Error *vcs_xla_reset(XLA_FFI_CallFrame *frame) { return change(frame, RESET, 0); }
XLA_FFI_Error *vcs_xla_reset_on_gpu(XLA_FFI_CallFrame *frame) { return change(frame, RESET, 1); }
