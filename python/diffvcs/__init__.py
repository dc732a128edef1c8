"""diffvcs: an Atari 2600 that is exact, fast and differentiable.

    from diffvcs import ALEInterface               # ale-py's interface, method for method
    gymnasium.make("DiffVCS/Pong-v5")              # its environments; the vector one is DiffVCSVectorEnv
    diffvcs.run, vjp, jvp, truth, smooth           # pure functions of cartridge, state and actions
    diffvcs.explain, slice, attribute, edit, steer # questions about a run (study.py); docs/commands.md lists all
    diffvcs.Debugger                               # by instruction, forwards and backwards
    diffvcs.Relaxed                                # the fully relaxed machine
    diffvcs.sweep                                  # many tasks, on all cores or on a Ray cluster (docs/scale.md)
    diffvcs.torch, diffvcs.jax, diffvcs.attr       # the same for PyTorch, JAX and Captum

docs/python.md has examples of everything.
"""

import importlib
import importlib.util
from typing import Any, TYPE_CHECKING

from . import _c, roms
from ._c import BadArgument, VCSError
from .meanings import Meanings, annotations
from .cartridge import Cartridge
from .debugger import Debugger
from .exact import Jacobian, jacobian
from .functional import (
    INPUT_NAMES,
    Derivatives,
    Pixels,
    Ram,
    Run,
    Score,
    Smooth,
    Truth,
    input_places,
    inputs_of,
    jvp,
    ram_places,
    rom_places,
    run,
    smooth,
    state_places,
    truth,
    vjp,
)
from .flips import Flips, flip, no_effect
from .machine import ACTION_NAMES, Machine
from .relaxed import Relaxed
from .study import (
    History,
    Workspace,
    action_stream,
    apply_patch,
    attribute,
    compare,
    edit,
    effect,
    explain,
    frame_without,
    history,
    joystick,
    make_patch,
    object_boxes,
    places,
    record,
    rom_uses,
    score,
    slice as slice,
    steer,
    trace,
    truth_pairs,
    truth_sets,
    verify,
    verify_file,
    vjp_directional,
)

if TYPE_CHECKING:
    from .ale import Action, ALEInterface, ALEState, LoggerMode
    from .env import AtariEnv
    from .envpool import make
    from .sweep import sweep as sweep
    from .vector import DiffVCSVectorEnv

__version__: str = _c.lib.vcs_version()

_ELSEWHERE = {  # imported at their first use: the package itself needs NumPy only
    "Action": "ale", "ALEInterface": "ale", "ALEState": "ale", "LoggerMode": "ale", "AtariEnv": "env", "make": "envpool",
    "DiffVCSVectorEnv": "vector",
}  # fmt: skip
_MODULES = (
    "ale",
    "attr",
    "compat",
    "env",
    "envpool",
    "jax",
    "plot",
    "registration",
    "sweep",
    "torch",
    "vector",
    "widget",
)

__all__ = [  # slice is left out: `import *` would hide Python's own
    "ACTION_NAMES", "ALEInterface", "ALEState", "Action", "AtariEnv", "BadArgument", "Cartridge", "Debugger", "Derivatives",
    "DiffVCSVectorEnv", "INPUT_NAMES", "LoggerMode", "Machine", "Pixels", "Ram", "Relaxed", "Run", "Score", "Smooth", "Truth",
    "VCSError", "Flips", "History", "Jacobian", "Meanings", "Workspace", "action_stream", "annotations", "apply_patch", "attribute", "compare", "edit", "effect", "explain", "flip", "frame_without", "history", "input_places", "inputs_of",
    "jacobian", "joystick", "jvp", "make", "make_patch", "no_effect", "object_boxes", "places", "ram_places", "record", "rom_places", "rom_uses", "roms", "run", "score",
    "slice", "smooth", "state_places", "steer", "trace", "truth", "truth_pairs", "truth_sets", "verify", "verify_file", "vjp", "vjp_directional",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f".{_ELSEWHERE[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if importlib.util.find_spec("gymnasium"):
    from .registration import register_envs

    register_envs()


def __dir__() -> list[str]:
    return sorted({*globals(), *_ELSEWHERE, *_MODULES})
