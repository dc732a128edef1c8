/* xla.c: the functions of bits.h as XLA custom calls, which is what JAX compiles to (its "typed FFI").
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
 * to. xla_ffi_c_api.h is OpenXLA's own header, unchanged, so that building needs no
 * JAX.
 */
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

static int number(const XLA_FFI_CallFrame *frame, const char *name, int64_t *value) {
  const XLA_FFI_Scalar *scalar = attribute(frame, name, XLA_FFI_AttrType_SCALAR);
  if (!scalar || scalar->dtype != XLA_FFI_DataType_S64) return 0;
  memcpy(value, scalar->value, sizeof *value);
  return 1;
}

static int fraction(const XLA_FFI_CallFrame *frame, const char *name, float *value) {
  const XLA_FFI_Scalar *scalar = attribute(frame, name, XLA_FFI_AttrType_SCALAR);
  if (!scalar || scalar->dtype != XLA_FFI_DataType_F32) return 0;
  memcpy(value, scalar->value, sizeof *value);
  return 1;
}

static int read_attributes(const XLA_FFI_CallFrame *frame, vcs_bits_t *bits, vcs_relax_options_t *relaxed,
                           int64_t *wanted) {
  int64_t cart, method, fork_window, side;
  const XLA_FFI_Array *scale = attribute(frame, "scale", XLA_FFI_AttrType_ARRAY);
  const XLA_FFI_Array *bytes = attribute(frame, "relaxed", XLA_FFI_AttrType_ARRAY);
  if (!number(frame, "cart", &cart) || !number(frame, "method", &method) ||
      !number(frame, "fork_window", &fork_window) || !number(frame, "side", &side) ||
      !number(frame, "wanted", wanted) || !fraction(frame, "alpha", &bits->options.alpha) ||
      !fraction(frame, "temperature", &bits->options.temperature) || !scale || scale->dtype != XLA_FFI_DataType_F32 ||
      scale->size != 256 || !bytes || bytes->dtype != XLA_FFI_DataType_U8 ||
      (bytes->size != 1 && bytes->size != sizeof *relaxed)) {
    return 0;
  }
  if (bytes->size == sizeof *relaxed) bits->relaxed = memcpy(relaxed, bytes->data, sizeof *relaxed);
  bits->cart = (const vcs_cart_t *)(uintptr_t)cart; /* NOLINT(performance-no-int-to-ptr): an attribute is a number */
  bits->options.method = (vcs_method_t)method;
  bits->options.fork_window = (int32_t)fork_window;
  bits->options.side = (vcs_side_rule_t)side;
  bits->options.scale = scale->data;
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
