"""The native library through ctypes: the reference for the explorer's answers."""

import ctypes
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from live import CartOptions, Field  # noqa: E402

WIDTH, FRAME_BYTES = 160, 160 * 320
HELD = {"UP": 1, "DOWN": 2, "LEFT": 4, "RIGHT": 8, "FIRE": 16}


class Controls(ctypes.Structure):
    _fields_ = [
        ("held", ctypes.c_uint8 * 2),
        ("paddle", ctypes.c_int32 * 4),
        ("keys", ctypes.c_uint16 * 2),
        ("console", ctypes.c_uint8),
    ]


class Object(ctypes.Structure):
    _fields_ = [
        ("box", ctypes.c_int16 * 4),
        ("seen", ctypes.c_int16 * 4),
        ("pixels", ctypes.c_int32 * 2),
        ("rows", ctypes.c_int16),
        ("kind", ctypes.c_uint8),
        ("rest", ctypes.c_uint8 * 9),
        ("pattern", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
    ]


class Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 256)]


lib = ctypes.CDLL(str(ROOT / "build" / "libdiffvcs.so"))
for name in ("vcs_env_machine", "vcs_picture", "vcs_demo_image", "vcs_env_screen"):
    getattr(lib, name).restype = ctypes.c_void_p
lib.vcs_field.restype = ctypes.POINTER(Field)
lib.vcs_hash.restype = ctypes.c_uint64
for name in ("vcs_state_size", "vcs_env_save_bound"):
    getattr(lib, name).restype = ctypes.c_size_t


def offset_of(name: str) -> int:
    index = 0
    while (field := lib.vcs_field(index)) and field.contents.name != name.encode():
        index += 1
    return field.contents.offset


class Machine:
    """A game as the explorer begins it: the machine of a new environment, then frames under controls."""

    def __init__(self, image: bytes | None, name: str | None = None, height: int = 210):
        if image is None:
            size = ctypes.c_size_t()
            image = ctypes.string_at(lib.vcs_demo_image(ctypes.byref(size)), size.value)
        self.height = height
        self.cart, self.env = ctypes.c_void_p(), ctypes.c_void_p()
        self.image, self.name = image, name
        options = CartOptions(0, 0, 0, name.encode() if name else None)
        self.check(
            lib.vcs_cart_load, image, ctypes.c_size_t(len(image)), ctypes.byref(options), ctypes.byref(self.cart)
        )
        self.check(lib.vcs_env_create, self.cart, ctypes.byref(self.env))
        self.size = lib.vcs_state_size(self.cart)
        self.state = ctypes.create_string_buffer(65536)
        ctypes.memmove(self.state, lib.vcs_env_machine(self.env), self.size)
        self.frames = ctypes.create_string_buffer(2 * FRAME_BYTES)
        self.ram = offset_of("ram")

    @staticmethod
    def check(function, *arguments):
        error = Error()
        if function(*arguments, ctypes.byref(error)):
            raise RuntimeError(error.message.decode())

    def play(self, action: str, turned: int | None = None) -> None:
        """One frame under an action; `turned` is the number of an input that is held if it was not, or let go if it was."""
        self.hold(action, turned)
        lib.vcs_frame(self.cart, self.state, self.frames)

    def play_for_objects(self, action: str) -> list[list[int]]:
        """One frame, and what it shows: [kind, x, y, width, height] of each object."""
        self.hold(action)
        objects = (Object * 1024)()
        count = lib.vcs_frame_objects(self.cart, self.state, self.frames, objects, 1024)
        return [[o.kind, *o.seen] for o in objects[:count]]

    def hold(self, action: str, turned: int | None = None) -> None:
        controls = Controls()
        controls.held[0] = sum(bit for part, bit in HELD.items() if part in action)
        if turned is not None and turned < 10:
            controls.held[turned // 5] ^= 1 << turned % 5
        elif turned is not None:
            controls.console ^= 1 << turned - 10
        lib.vcs_control(self.cart, self.state, ctypes.byref(controls))

    def hash(self) -> str:
        return f"{lib.vcs_hash(self.cart, self.state):016x}"

    def picture(self) -> bytes:
        return ctypes.string_at(lib.vcs_picture(self.state, self.frames), WIDTH * self.height)

    def saved(self) -> tuple[bytes, bytes]:
        return self.state.raw[: self.size], self.frames.raw

    def restore(self, saved: tuple[bytes, bytes]) -> None:
        ctypes.memmove(self.state, saved[0], self.size)
        ctypes.memmove(self.frames, saved[1], 2 * FRAME_BYTES)

    def flip_ram(self, index: int, bit: int) -> None:
        at = self.ram + index
        self.state[at] = self.state.raw[at] ^ (1 << bit)

    def with_rom_bit(self, index: int, bit: int) -> "Machine":
        """The same console with a cartridge patched (IPS) in one bit, so that it keeps its game's controllers and format."""
        return self.with_patch(
            b"PATCH" + index.to_bytes(3, "big") + b"\0\1" + bytes([self.image[index] ^ 1 << bit]) + b"EOF"
        )

    def with_patch(self, patch: bytes) -> "Machine":
        other = Machine(self.image, self.name, self.height)
        self.check(lib.vcs_cart_patch, other.cart, patch, ctypes.c_size_t(len(patch)))
        return other

    def hash_of_save(self, file: bytes) -> str:
        """The hash of the machine in a save file, read by the native library."""
        self.check(lib.vcs_env_load_from, self.env, file, ctypes.c_size_t(len(file)))
        return f"{lib.vcs_hash(self.cart, ctypes.c_void_p(lib.vcs_env_machine(self.env))):016x}"

    def save(self) -> bytes:
        """A save file of the environment as it was created, before any frame."""
        size = ctypes.c_size_t(lib.vcs_env_save_bound(self.env))
        file = ctypes.create_string_buffer(size.value)
        self.check(lib.vcs_env_save_to, self.env, file, ctypes.byref(size))
        return file.raw[: size.value]
