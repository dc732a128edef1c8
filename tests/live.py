"""What the comparisons with ale-py (ale_*_live.py) share: our library through ctypes, ale-py, and the list of games.

The benchmarks and the tests of the explorer use its structs, too."""

import ctypes
import os

TWO_PLAYERS = {"combat", "joust", "maze_craze", "warlords"}  # ale-py carries them but cannot start them alone


class CartOptions(ctypes.Structure):
    """vcs_cart_options_t."""

    _fields_ = [
        ("profile", ctypes.c_int),
        ("scheme", ctypes.c_int),
        ("format", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("reserved", ctypes.c_uint64 * 8),
    ]


class Field(ctypes.Structure):
    """vcs_field_t."""

    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "type", "meaning")] + [
        (name, ctypes.c_size_t) for name in ("offset", "size", "count")
    ]


def declare(lib, functions):
    """Gives functions of a library their types: (name, result, arguments)."""
    for name, result, arguments in functions:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def load_library(path, functions):
    """Our library, with the functions that load and free cartridges and those that the caller names."""
    pointer = ctypes.c_void_p
    lib = declare(
        ctypes.CDLL(os.path.abspath(path)),
        (
            ("vcs_cart_load", ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t, pointer, pointer, pointer]),
            ("vcs_cart_free", None, [pointer]),
        ),
    )
    return declare(lib, functions)


def load_ale(rom, frame_skip=1, sound=False):
    """ale-py with a game, without sticky actions."""
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", 123)
    ale.setInt("frame_skip", frame_skip)
    ale.setBool("sound_obs", sound)
    ale.loadROM(rom)
    return ale


def rom_path(name):
    """The file of a game that ale-py carries."""
    import ale_py

    return os.path.join(os.path.dirname(ale_py.__file__), "roms", name + ".bin")


def every_game():
    """The games that ale-py can start."""
    files = os.listdir(os.path.dirname(rom_path("")))
    return sorted(f[:-4] for f in files if f.endswith(".bin") and f[:-4] not in TWO_PLAYERS)
