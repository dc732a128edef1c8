"""The fully relaxed machine: reads, branches and dispatch are softened, and no exact value is put back.

    relaxed = Relaxed("demo", alpha=8, temperature=0.1, cast="none")
    relaxed.load(machine)               # from the present state of a Machine
    picture = relaxed.frame()           # or step(), one instruction
    relaxed.values[relaxed.slots["ram"]]
    d_input = relaxed.vjp(100, d_state) # over the next 100 instructions

include/diffvcs/relax.h and docs/relaxed.md describe it. With cast="none" its forward is a smooth machine of real numbers; with
cast="round" it is a machine of integers that may differ from the exact one from some read on. diffvcs.vjp and jvp with
method="relaxed" are its derivatives over a run's frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _c
from ._bind import NotCopied, whole
from ._c import lib
from .cartridge import Cartridge
from .machine import Machine, inputs_of

CASTS = ("round", "none")
DISPATCHES = ("hard", "one_hot", "distance")
BUSES = ("real", "reduced")
REGISTERS = ("a", "x", "y", "sp", "n", "v", "d", "i", "z", "c", "pc", "time")
CHIPS = {  # names and counts, in the order of VCS_SLOT_...
    "bus": 1, "swcha": 8, "swchb": 8, "fire": 2, "ddra": 1, "timer": 1, "timer_cycle": 1, "dump_cycle": 1, "vsync": 1,
    "vblank": 1, "nusiz": 2, "colu": 4, "ctrlpf": 1, "reflect": 2, "pf": 3, "grp": 2, "grp_old": 2, "enam": 2, "enabl": 1,
    "enabl_old": 1, "hm": 5, "vdelp": 2, "vdelbl": 1, "resmp": 2, "pos": 5, "mirrored": 1, "collisions": 16, "audio": 6,
}  # fmt: skip
RAM_SLOT = len(REGISTERS) + sum(CHIPS.values())


def relax_options(
    alpha: float | None = None,
    temperature: float | None = None,
    window: int = 0,
    wrap: bool = False,
    single: bool = False,
    cast: str = "round",
    dispatch: str = "hard",
    bus: str = "real",
) -> Any:
    """Makes a vcs_relax_options_t.

    Args:
        alpha: the sharpness of branches (6 unless given); temperature: of reads and dispatch (0.14 unless given).
        window: cells on each side of an address that a read blends; 0: the whole array.
        wrap: whether the ends of an array are neighbours; single: float instead of double.
        cast: "round" or "none"; dispatch: "hard", "one_hot" or "distance"; bus: "real" or "reduced".
    """
    options = _c.RelaxOptions()
    lib.vcs_relax_defaults(options)
    if alpha is not None:
        options.alpha = alpha
    if temperature is not None:
        options.temperature = temperature
    options.window, options.wrap, options.single = window, wrap, single
    for field, name, names in (("cast", cast, CASTS), ("dispatch", dispatch, DISPATCHES), ("bus", bus, BUSES)):
        if name not in names:
            raise ValueError(f"no {field} {name!r}; there are {', '.join(names)}")
        setattr(options, field, names.index(name))
    return options


class Relaxed(NotCopied):
    """A relaxed machine with a cartridge.

    `values` are its numbers: REGISTERS, CHIPS, RAM and cartridge RAM (these are the state), then the image; `slots` gives the
    position of each. Options are those of relax_options.

    Example:
        >>> relaxed = diffvcs.Relaxed("demo", alpha=6, temperature=0.14, window=4, wrap=True)
        >>> relaxed.load(machine)
        >>> relaxed.frame().shape, relaxed.report["wrong_reads"]
        ((210, 160), 0)
    """

    def __init__(self, cart: Cartridge | str, profile: str | None = None, **options: Any) -> None:
        self.cart = Cartridge.find(cart, profile)
        settings = relax_options(**options)
        self.handle = lib.vcs_relax_create(self.cart.handle, settings)
        self._frames = np.zeros(2 * _c.FRAME_BYTES, np.uint8)
        self.state_slots: int = self.handle.state_slots
        self.input_slots: int = self.handle.input_slots
        ram, begins = RAM_SLOT, np.cumsum([len(REGISTERS), *CHIPS.values()])
        self.slots: dict[str, int | slice] = {
            **{name: i for i, name in enumerate(REGISTERS)},
            **{name: slice(int(at), int(at) + CHIPS[name]) for name, at in zip(CHIPS, begins)},
            "ram": slice(ram, ram + _c.RAM_BYTES),
            "cart_ram": slice(ram + _c.RAM_BYTES, self.state_slots),
            "rom": slice(self.state_slots, self.input_slots),
        }

    # ---- running -----------------------------------------------------------------------------------------------------

    def load(self, machine: Machine | np.ndarray) -> None:
        """Continues from a Machine, or from the bytes of one (Run.start). Counts of the report start again."""
        if isinstance(machine, Machine):
            if not machine.cart.is_like(self.cart):
                raise ValueError(f"this machine plays {machine.cart}, and not {self.cart}")
            with machine.handle.lock:
                state = machine._state.copy()
        else:
            state = _arrays.state_bytes(machine, "a machine").copy()
        if state.size != self.cart.state_size:
            raise ValueError(f"a machine of this cartridge has {self.cart.state_size} bytes, not {state.size}")
        if not lib.vcs_bits_is_possible(self.cart.handle, state):
            raise ValueError("these bytes are no state that a machine can have")
        lib.vcs_relax_load(self.handle, state)

    def load_reduced(self) -> None:
        """Goes to the state in which the paper's tables begin; for bus="reduced"."""
        lib.vcs_relax_load_reduced(self.handle)

    def hold(self, action: int | str) -> None:
        """Sets the action that the first player holds from now on."""
        controls = np.zeros(1, np.dtype(_c.Controls))
        controls["held"][0, 0] = int(inputs_of(action)[:5] @ 2 ** np.arange(5))
        with self.handle.lock:
            lib.vcs_bits_paddles(self.cart.handle, lib.vcs_relax_machine(self.handle), controls["paddle"][0])
            lib.vcs_relax_control(self.handle, controls)

    def step(self) -> None:
        """Executes one instruction."""
        lib.vcs_relax_step(self.handle, self._frames)

    def frame(self) -> np.ndarray:
        """Runs one frame and returns its picture in palette indices."""
        picture = np.empty((self.cart.height, _c.WIDTH), np.uint8)
        with self.handle.lock:
            lib.vcs_relax_frame(self.handle, self._frames)
            lib.vcs_picture_copy(self.cart.handle, lib.vcs_relax_machine(self.handle), self._frames, picture)
        return picture

    @property
    def state(self) -> np.ndarray:
        """A copy of the machine as integers, with every number rounded."""
        with self.handle.lock:
            bytes_now = lib.vcs_relax_machine(self.handle).copy()
        return bytes_now.view(self.cart.state_dtype).reshape(())

    @property
    def report(self) -> dict[str, int]:
        """The numbers of instructions, reads and branches since the load, and of those that rounded wrongly."""
        report = lib.vcs_relax_report(self.handle)
        return {name: getattr(report, name) for name, *_ in _c.RelaxedReport._fields_}

    def read(self, cells: Sequence[int] | np.ndarray, index: int) -> float:
        """Returns one softened read of `cells` at `index`, before the cast."""
        array = _arrays.integers(cells, "cells", np.uint8)
        if not 0 <= whole(index, "index", -(2**63), 2**63) < array.size:
            raise IndexError(f"there is no cell {index} in an array of {array.size}")
        return lib.vcs_relax_read(self.handle, array, array.size, index)

    def branch(self, after: int, offset: int, taken: bool) -> float:
        """Returns the program counter after a softened branch, before the cast; `after` is the address of the next instruction."""
        return lib.vcs_relax_branch(self.handle, after, offset, taken)

    # ---- numbers and derivatives -------------------------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        """All numbers of the machine, by `slots`."""
        values = np.zeros(self.input_slots)
        lib.vcs_relax_values(self.handle, values)
        return values

    @values.setter
    def values(self, values: np.ndarray) -> None:
        lib.vcs_relax_set_values(self.handle, self._numbers(values, self.input_slots))

    @staticmethod
    def _numbers(values: Any, count: int) -> np.ndarray:
        array = _arrays.floats(values, "the numbers", np.float64)
        if array.shape != (count,):
            raise ValueError(f"{count} numbers are expected, not {array.shape}")
        return array

    def jvp(self, steps: int, d_input: np.ndarray) -> np.ndarray:
        """Returns the derivatives of the state after the next `steps` instructions in the direction d_input, and executes them."""
        d_state = np.zeros(self.state_slots)
        given = self._numbers(d_input, self.input_slots)
        lib.vcs_relax_jvp(self.handle, whole(steps, "steps", 0, 2**31 - 1), given, d_state)
        return d_state

    def vjp(self, steps: int, d_state: np.ndarray) -> np.ndarray:
        """Returns the derivatives of the weighted state after the next `steps` instructions, and executes them."""
        d_input = np.zeros(self.input_slots)
        given = self._numbers(d_state, self.state_slots)
        lib.vcs_relax_vjp(self.handle, whole(steps, "steps", 0, 2**31 - 1), d_input, given)
        return d_input
