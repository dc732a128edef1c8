"""The C library as Python sees it: prototypes, structs, and errors as exceptions.

include/diffvcs (diffvcs.h, grad.h, relax.h) documents every call; nothing is documented twice. A prototype is a line of C:
pointers become addresses, numbers become numbers, and the tests have a C compiler compare each line and each struct with
the headers, so that the two cannot drift apart. ctypes lets go of the interpreter's lock during every call.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

import numpy as np

PROTOTYPES = """
const char *vcs_version(void)
const char *vcs_status_name(vcs_status_t)
vcs_status_t vcs_cart_load(const void *, size_t, const vcs_cart_options_t *, vcs_cart_t **, vcs_error_t *)
void vcs_cart_free(vcs_cart_t *)
const vcs_cart_info_t *vcs_cart_info(const vcs_cart_t *)
const char *vcs_format_name(vcs_format_t)
const char *vcs_controller_name(vcs_controller_t)
const uint8_t *vcs_demo_image(size_t *)
size_t vcs_state_size(const vcs_cart_t *)
void vcs_control(const vcs_cart_t *, vcs_t *, const vcs_controls_t *)
void vcs_frame_begin(const vcs_cart_t *, vcs_t *)
void vcs_frame(const vcs_cart_t *, vcs_t *, uint8_t *)
void vcs_step(const vcs_cart_t *, vcs_t *, uint8_t *, vcs_step_t *)
uint8_t vcs_peek(const vcs_cart_t *, const vcs_t *, uint16_t)
uint64_t vcs_hash(const vcs_cart_t *, const vcs_t *)
const vcs_field_t *vcs_field(int)
int vcs_disassemble(const vcs_cart_t *, const vcs_t *, uint16_t, char *, size_t)
const char *vcs_action_name(int)
void vcs_env_defaults(const vcs_cart_t *, vcs_env_options_t *)
vcs_status_t vcs_env_create_with(const vcs_cart_t *, const vcs_env_options_t *, vcs_env_t **, vcs_error_t *)
void vcs_env_free(vcs_env_t *)
void vcs_env_reload(vcs_env_t *, uint32_t)
vcs_status_t vcs_env_configure(vcs_env_t *, const vcs_env_options_t *, vcs_error_t *)
const vcs_env_options_t *vcs_env_options(const vcs_env_t *)
void vcs_env_reset(vcs_env_t *)
int32_t vcs_env_act_strength(vcs_env_t *, int, int, float, float)
int32_t vcs_env_act_on(vcs_env_t *, int, int)
void vcs_env_set_drawing(vcs_env_t *, int)
void vcs_env_set_sound(vcs_env_t *, int)
const uint8_t *vcs_env_sound(const vcs_env_t *)
int32_t vcs_env_lives(const vcs_env_t *)
int vcs_env_over(const vcs_env_t *)
int vcs_env_truncated(const vcs_env_t *)
int vcs_env_done(const vcs_env_t *)
uint64_t vcs_env_frame_number(const vcs_env_t *)
uint64_t vcs_env_episode_frame_number(const vcs_env_t *)
int vcs_env_height(const vcs_env_t *)
void vcs_env_screen_indices(const vcs_env_t *, uint8_t *)
void vcs_env_screen_rgb(const vcs_env_t *, uint8_t *)
void vcs_env_screen_gray(const vcs_env_t *, uint8_t *)
const uint8_t *vcs_env_ram(const vcs_env_t *)
vcs_status_t vcs_env_set_ram(vcs_env_t *, int, uint8_t, vcs_error_t *)
int vcs_env_minimal_actions(const vcs_env_t *, int32_t *)
int vcs_env_legal_actions(const vcs_env_t *, int32_t *)
int vcs_env_modes(const vcs_env_t *, int32_t *)
int vcs_env_difficulties(const vcs_env_t *, int32_t *)
int vcs_env_two_players(const vcs_env_t *)
vcs_t *vcs_env_machine(vcs_env_t *)
size_t vcs_env_state_size(const vcs_env_t *)
void vcs_env_state_copy(const vcs_env_t *, void *)
void vcs_env_state_copy_play(const vcs_env_t *, void *)
vcs_status_t vcs_env_state_restore(vcs_env_t *, const void *, size_t, vcs_error_t *)
vcs_status_t vcs_env_state_restore_play(vcs_env_t *, const void *, size_t, vcs_error_t *)
vcs_status_t vcs_env_save(const vcs_env_t *, const char *, vcs_error_t *)
vcs_status_t vcs_env_load(vcs_env_t *, const char *, vcs_error_t *)
const char *vcs_device_missing(int32_t)
vcs_status_t vcs_device_allocate(int32_t, size_t, void **, vcs_error_t *)
void vcs_device_free(int32_t, void *)
vcs_status_t vcs_device_move(int32_t, void *, const void *, size_t, vcs_error_t *)
void *vcs_device_dlpack(int32_t, void *, int32_t, const int64_t *, int32_t, int32_t)
void vcs_batch_defaults(vcs_batch_options_t *)
vcs_status_t vcs_batch_create(const vcs_cart_t *const *, int32_t, const vcs_batch_env_t *, const vcs_batch_options_t *, vcs_batch_t **, vcs_error_t *)
void vcs_batch_free(vcs_batch_t *)
const vcs_batch_options_t *vcs_batch_options(const vcs_batch_t *)
vcs_status_t vcs_batch_reset(vcs_batch_t *, const int32_t *, const int32_t *, int32_t, const vcs_batch_results_t *, vcs_error_t *)
vcs_status_t vcs_batch_step(vcs_batch_t *, const int32_t *, const float *, const vcs_batch_results_t *, vcs_error_t *)
vcs_status_t vcs_batch_send(vcs_batch_t *, const int32_t *, const float *, vcs_error_t *)
vcs_status_t vcs_batch_send_to(vcs_batch_t *, const int32_t *, int32_t, const int32_t *, const float *, vcs_error_t *)
vcs_status_t vcs_batch_send_reset(vcs_batch_t *, const int32_t *, const int32_t *, int32_t, vcs_error_t *)
void vcs_batch_set_stream(vcs_batch_t *, void *)
vcs_status_t vcs_batch_wait(const vcs_batch_t *, vcs_error_t *)
int32_t vcs_batch_next(const vcs_batch_t *)
vcs_status_t vcs_batch_receive(vcs_batch_t *, const vcs_batch_results_t *, vcs_error_t *)
int vcs_batch_actions(const vcs_batch_t *, int32_t, int32_t *)
size_t vcs_batch_state_size(const vcs_batch_t *)
vcs_status_t vcs_batch_copy(const vcs_batch_t *, const int32_t *, int32_t, void *, vcs_error_t *)
vcs_status_t vcs_batch_restore(vcs_batch_t *, const int32_t *, int32_t, const void *, const vcs_batch_results_t *, vcs_error_t *)
void vcs_batch_continuous(const float *, int32_t, float, int32_t *, float *)
void vcs_run_idle(vcs_env_t *, int32_t, vcs_controls_t *, vcs_run_t *)
int32_t vcs_pixel_values(const vcs_cart_t *, int, float *)
void vcs_grad_defaults(vcs_grad_options_t *)
vcs_status_t vcs_grad_jvp(const vcs_run_t *, const vcs_grad_options_t *, const vcs_grad_inputs_t *, const vcs_grad_outputs_t *, vcs_grad_report_t *, vcs_error_t *)
vcs_status_t vcs_grad_vjp(const vcs_run_t *, const vcs_grad_options_t *, const vcs_grad_inputs_t *, const vcs_grad_outputs_t *, vcs_grad_report_t *, vcs_error_t *)
vcs_status_t vcs_truth(const vcs_run_t *, const vcs_truth_options_t *, const vcs_place_t *, size_t, const vcs_truth_results_t *, vcs_error_t *)
vcs_status_t vcs_truth_sets(const vcs_run_t *, const vcs_truth_options_t *, const vcs_place_t *, const size_t *, size_t, const vcs_truth_results_t *, vcs_error_t *)
void vcs_smooth_defaults(vcs_smooth_options_t *)
vcs_status_t vcs_smooth(const vcs_run_t *, const vcs_smooth_options_t *, const vcs_place_t *, const double *, size_t, vcs_estimate_t *, vcs_estimate_t *, int32_t *, vcs_error_t *)
void vcs_relax_defaults(vcs_relax_options_t *)
vcs_status_t vcs_relax_create(const vcs_cart_t *, const vcs_relax_options_t *, vcs_relax_t **, vcs_error_t *)
void vcs_relax_free(vcs_relax_t *)
void vcs_relax_load(vcs_relax_t *, const vcs_t *)
void vcs_relax_load_reduced(vcs_relax_t *)
const vcs_t *vcs_relax_machine(const vcs_relax_t *)
void vcs_relax_control(vcs_relax_t *, const vcs_controls_t *)
void vcs_relax_step(vcs_relax_t *, uint8_t *)
void vcs_relax_frame(vcs_relax_t *, uint8_t *)
const vcs_relax_report_t *vcs_relax_report(const vcs_relax_t *)
double vcs_relax_read(const vcs_relax_t *, const uint8_t *, int32_t, int32_t)
double vcs_relax_branch(const vcs_relax_t *, uint16_t, int, int)
size_t vcs_relax_state_slots(const vcs_relax_t *)
size_t vcs_relax_input_slots(const vcs_relax_t *)
void vcs_relax_values(vcs_relax_t *, double *)
void vcs_relax_set_values(vcs_relax_t *, const double *)
vcs_status_t vcs_relax_jvp(vcs_relax_t *, int32_t, const double *, double *, vcs_error_t *)
vcs_status_t vcs_relax_vjp(vcs_relax_t *, int32_t, double *, const double *, vcs_error_t *)
vcs_status_t vcs_relaxed_jvp(const vcs_run_t *, const vcs_relax_options_t *, const vcs_grad_inputs_t *, const vcs_grad_outputs_t *, vcs_relaxed_report_t *, vcs_error_t *)
vcs_status_t vcs_relaxed_vjp(const vcs_run_t *, const vcs_relax_options_t *, const vcs_grad_inputs_t *, const vcs_grad_outputs_t *, vcs_relaxed_report_t *, vcs_error_t *)
const uint8_t *vcs_picture(const vcs_t *, const uint8_t *)
void vcs_play(vcs_env_t *, int, float, int, int, uint8_t *, vcs_seen_t *)
void vcs_see(const vcs_env_t *, int, uint8_t *, vcs_seen_t *)
vcs_status_t vcs_bits_run(const vcs_bits_t *, const vcs_bits_results_t *, vcs_error_t *)
vcs_status_t vcs_bits_jvp(const vcs_bits_t *, const vcs_bits_arguments_t *, const vcs_bits_results_t *, vcs_error_t *)
vcs_status_t vcs_bits_vjp(const vcs_bits_t *, const vcs_bits_arguments_t *, const vcs_bits_results_t *, vcs_error_t *)
uint32_t vcs_bits_rom_size(const vcs_cart_t *)
const uint8_t *vcs_bits_rom(const vcs_cart_t *)
void vcs_bits_paddles(const vcs_cart_t *, const vcs_t *, int32_t *)
""".strip().splitlines()

TYPES = {
    "void": None,
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "int16_t": ctypes.c_int16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "vcs_status_t": ctypes.c_int,
    "vcs_profile_t": ctypes.c_int,
    "vcs_scheme_t": ctypes.c_int,
    "vcs_format_t": ctypes.c_int,
    "vcs_controller_t": ctypes.c_int,
    "vcs_method_t": ctypes.c_int,
    "vcs_side_rule_t": ctypes.c_int,
}

ACTIONS, INPUTS, WIDTH, FRAME_BYTES, RAM_BYTES, SOUND_SAMPLES = 18, 12, 160, 160 * 320, 128, 512
BAD_ARGUMENT = 1
PROFILES = ("xitari", "ale", "fixed")


def ctype(text: str) -> type | None:
    """The ctypes type of a C type: strings are strings, other pointers are addresses."""
    if text.replace(" ", "") == "constchar*":
        return ctypes.c_char_p
    text = text.replace("const", "").strip()
    return ctypes.c_void_p if "*" in text else TYPES[text]


def struct(name: str, fields: str) -> type[ctypes.Structure]:
    """A struct of the headers: `type field[count] field; ...`."""
    rows = []
    for line in fields.split(";"):
        kind, names = re.match(r"\s*(.*?[\s*])([\w\[\], ]+)$", line).groups()
        for field in names.split(","):
            field, count = re.match(r"\s*(\w+)(?:\[(\d+)\])?", field).groups()
            known = STRUCTS.get(kind.strip()) or ctype(kind)
            rows.append((field, known * int(count) if count else known))
    STRUCTS[name] = type(name, (ctypes.Structure,), {"_fields_": rows})
    return STRUCTS[name]


STRUCTS: dict[str, type[ctypes.Structure]] = {}
Error = struct("vcs_error_t", "char message[256]")
CartOptions = struct(
    "vcs_cart_options_t", "vcs_profile_t profile; vcs_scheme_t scheme; vcs_format_t format; const char *name"
)
CartInfo = struct(
    "vcs_cart_info_t",
    "vcs_profile_t profile; vcs_scheme_t scheme; vcs_format_t format; vcs_controller_t left, right; "
    "uint32_t image_size, ram_size; int32_t top_line, height; const char *scheme_name; const char *game; char md5[33], sha256[65]",
)
Controls = struct("vcs_controls_t", "uint8_t held[2]; int32_t paddle[4]; uint16_t keys[2]; uint8_t console")
Step = struct(
    "vcs_step_t", "uint16_t pc_before, pc; uint8_t opcode, a, x, y, sp, p; uint8_t frame_over, jammed; uint32_t cycles"
)
Field = struct("vcs_field_t", "const char *name; const char *type; const char *meaning; size_t offset, size, count")
EnvOptions = struct(
    "vcs_env_options_t",
    "int32_t frame_skip; float repeat_action_probability; uint32_t seed; int32_t max_episode_frames; int32_t noop_max; "
    "int32_t reward_min, reward_max; int32_t mode, difficulty; uint8_t life_loss; uint8_t fire_reset; uint8_t colour_averaging",
)
BatchOptions = struct(
    "vcs_batch_options_t",
    "int32_t envs, batch_size, threads, device, width, height, stack, frame_skip, noop_max, max_episode_frames; "
    "float repeat_action_probability; uint8_t autoreset, rgb, max_pool, fire_reset, episodic_life, life_loss_info, "
    "reward_clipping, full_action_space, stack_in_place, sound",
)
BatchEnv = struct("vcs_batch_env_t", "int32_t cart; int32_t mode, difficulty; uint32_t seed")
BatchResults = struct(
    "vcs_batch_results_t",
    "uint8_t *observations; uint8_t *final_observations; int32_t *env_ids; int32_t *rewards; int32_t *lives; "
    "int32_t *frame_numbers; int32_t *episode_frame_numbers; uint8_t *terminated; uint8_t *truncated; uint8_t *ram; uint8_t *sound",
)
Place = struct("vcs_place_t", "uint8_t kind; uint8_t bit; uint16_t frame; uint32_t index")
Run = struct(
    "vcs_run_t",
    "const vcs_cart_t *cart; const vcs_t *start; const uint8_t *picture; const vcs_controls_t *controls; int32_t frames",
)
GradOptions = struct(
    "vcs_grad_options_t",
    "vcs_method_t method; int32_t fork_window; float alpha, temperature; vcs_side_rule_t side; const float *scale",
)
GradInputs = struct("vcs_grad_inputs_t", "float *state; float *rom; float *input")
GradOutputs = struct("vcs_grad_outputs_t", "float *const *pixels; float *state; float *const *states; const vcs_env_t *env; float *rewards")
RelaxOptions = struct(
    "vcs_relax_options_t",
    "double alpha, temperature; int32_t window; uint8_t wrap; uint8_t single; uint8_t cast; uint8_t dispatch; uint8_t bus",
)
RelaxValue = struct(
    "vcs_relax_value_t",
    "const uint8_t *cells; int32_t size, index; uint16_t pc; uint16_t address; int16_t offset; uint8_t taken; "
    "uint16_t exact; double relaxed",
)
RelaxReport = struct(
    "vcs_relax_report_t",
    "uint64_t instructions, reads, branches, wrong_reads, wrong_branches; uint64_t first_wrong_instruction; "
    "vcs_relax_value_t first_wrong",
)
RelaxedReport = struct("vcs_relaxed_report_t", "uint64_t instructions, reads, branches, wrong_reads, wrong_branches")
GradReport = struct("vcs_grad_report_t", "uint64_t instructions, branches; uint64_t forks, rejoined")
TruthOptions = struct(
    "vcs_truth_options_t",
    "const int32_t *horizons; int32_t horizon_count; const vcs_env_t *env; int32_t threads; uint8_t stop_when_over; "
    "const float *values; int32_t channels; void *progress; void *progress_context; int32_t device",
)
Truth = struct("vcs_truth_t", "uint8_t outcome; int32_t pixels, ram_bytes; int32_t score; uint32_t screen_crc, ram_crc")
TruthResults = struct("vcs_truth_results_t", "vcs_truth_t *base; vcs_truth_t *rows; float *pixels; float *ram")
Scalar = struct("vcs_scalar_t", "int32_t kind; int32_t x, y, width, height; const float *values; int32_t index, bit")
SmoothOptions = struct(
    "vcs_smooth_options_t",
    "vcs_scalar_t output; int32_t method; int32_t samples; uint8_t antithetic; uint8_t baseline; uint64_t seed; "
    "double confidence; const vcs_env_t *env; uint8_t stop_when_over; int32_t threads; void *progress; void *progress_context",
)
Estimate = struct("vcs_estimate_t", "double mean, deviation, half_width")
Seen = struct(
    "vcs_seen_t", "int64_t frame_number, episode_frame_number; int32_t reward, lives; uint8_t over, truncated"
)
Bits = struct(
    "vcs_bits_t",
    "const vcs_cart_t *cart; int32_t runs, frames, threads; vcs_grad_options_t options; "
    "const vcs_relax_options_t *relaxed; const float *state; const float *rom; const float *input",
)
BitsArguments = struct("vcs_bits_arguments_t", "float *state; float *rom; float *input")
BitsResults = struct("vcs_bits_results_t", "float *pixels; float *state")


def _open() -> ctypes.CDLL:
    here = Path(__file__).parent
    path = Path(os.environ.get("DIFFVCS_LIBRARY") or here / "libdiffvcs_python.so")
    if not path.exists():
        raise ImportError(
            f"{path} is not there: the package was not built. Run `pip install .` in the repository, "
            "or name a library in $DIFFVCS_LIBRARY."
        )
    library = ctypes.CDLL(str(path))
    for line in PROTOTYPES:
        result, name, arguments = re.match(r"(.*?)(vcs_\w+)\((.*)\)$", line).groups()
        function = getattr(library, name)
        function.restype, function.argtypes = ctype(result), [ctype(a) for a in arguments.split(",") if a != "void"]
    return library


lib = _open()


class VCSError(RuntimeError):
    """What a call of the library refused; the message says what was wrong and what to do."""


class BadArgument(VCSError, ValueError):
    """A value outside its range."""


def call(name: str, *arguments) -> None:
    """Calls what returns a status and fills a message, and raises the message."""
    message = ctypes.create_string_buffer(256)
    status = getattr(lib, name)(*arguments, ctypes.addressof(message))
    if status:
        raise (BadArgument if status == BAD_ARGUMENT else VCSError)(message.value.decode())


def create(name: str, *arguments) -> int:
    """The handle of what a function of the library makes; its place is the last argument."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.addressof(handle))
    assert handle.value is not None
    return handle.value


def address(array: np.ndarray | None) -> int | None:
    """Where an array's numbers are; it must be contiguous, and outlive the call."""
    if array is None:
        return None
    assert array.flags.c_contiguous, "the library reads contiguous arrays"
    return array.ctypes.data


def room(array: np.ndarray) -> int:
    """The same for an array that is written to, in a quarter of the time."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


class Owner:
    """Something of the library's that is freed when nobody holds it any more: neither its Python object nor an array
    that looks into it. `needs` is what must outlive it."""

    def __init__(self, handle: int, free: str, needs: object = None):
        self.handle, self._free, self.needs = handle, getattr(lib, free), needs

    def __del__(self):
        self._free(self.handle)


def view(pointer: int, count: int, dtype=np.uint8, owner: object = None) -> np.ndarray:
    """Memory of the library as an array, which keeps its owner alive."""
    memory = (ctypes.c_uint8 * (count * np.dtype(dtype).itemsize)).from_address(pointer)
    memory.owner = owner
    return np.frombuffer(memory, dtype)
