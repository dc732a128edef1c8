"""The fully relaxed machine: softened reads, branches and dispatch, and nothing that puts the exact value back.

    relaxed = Relaxed("demo", alpha=8, temperature=0.1, cast="none")
    relaxed.load(machine)               # from where this Machine is
    picture = relaxed.frame()           # or step(), an instruction
    relaxed.values[relaxed.slots["ram"]]
    d_input = relaxed.vjp(100, d_state) # of the next 100 instructions

include/diffvcs/relax.h and docs/relaxed.md say what it is. Its forward is another machine's: a smooth one with cast="none",
one of integers that goes wrong from some read on with cast="round". diffvcs.vjp and jvp with method="relaxed" are its
derivatives over a run's frames.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from . import _c
from ._c import lib
from .cartridge import Cartridge
from .machine import Machine, inputs_of

CASTS = ("round", "none")
DISPATCHES = ("hard", "one_hot", "distance")
BUSES = ("real", "reduced")
REGISTERS = ("a", "x", "y", "sp", "n", "v", "d", "i", "z", "c", "pc", "time")


def relax_options(
    alpha: float | None = None,
    temperature: float | None = None,
    window: int = 0,
    wrap: bool = False,
    single: bool = False,
    cast: str = "round",
    dispatch: str = "hard",
    bus: str = "real",
) -> ctypes.Structure:
    """vcs_relax_options_t: the branch's sharpness (6 unless given), the temperature of reads and dispatch (0.14), cells on
    each side of an address (0: the whole array), whether its ends are neighbours, float instead of double, and names."""
    options = _c.RelaxOptions()
    lib.vcs_relax_defaults(ctypes.addressof(options))
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


class Relaxed:
    """A relaxed machine with a cartridge. `values` are its numbers: REGISTERS, RAM, cartridge RAM (these are the state),
    then the image; `slots` says where each begins."""

    def __init__(self, cart: Cartridge | str, profile: str = "ale", **options):
        self.cart = Cartridge.find(cart, profile)
        settings = relax_options(**options)
        self.handle = _c.create("vcs_relax_create", self.cart.handle, ctypes.addressof(settings))
        self._owner = _c.Owner(self.handle, "vcs_relax_free", needs=self.cart)
        self._frames = np.zeros(2 * _c.FRAME_BYTES, np.uint8)
        self.state_slots, self.input_slots = (
            lib.vcs_relax_state_slots(self.handle),
            lib.vcs_relax_input_slots(self.handle),
        )
        ram = len(REGISTERS)
        self.slots: dict[str, int | slice] = {
            **{name: i for i, name in enumerate(REGISTERS)},
            "ram": slice(ram, ram + _c.RAM_BYTES),
            "cart_ram": slice(ram + _c.RAM_BYTES, self.state_slots),
            "rom": slice(self.state_slots, self.input_slots),
        }

    # ---- running -----------------------------------------------------------------------------------------------------

    def load(self, machine: Machine | np.ndarray) -> None:
        """Goes on from a machine, or from the bytes of one (Run.start). Counts start again."""
        state = machine._state if isinstance(machine, Machine) else np.ascontiguousarray(machine, np.uint8)
        if state.size != self.cart.state_size:
            raise ValueError(f"a machine of this cartridge has {self.cart.state_size} bytes, not {state.size}")
        lib.vcs_relax_load(self.handle, _c.address(state))

    def load_reduced(self) -> None:
        """Where the paper's tables begin; for bus="reduced"."""
        lib.vcs_relax_load_reduced(self.handle)

    def hold(self, action: int | str) -> None:
        """What the first player does from now on."""
        controls = _c.Controls()
        lib.vcs_bits_paddles(self.cart.handle, lib.vcs_relax_machine(self.handle), ctypes.addressof(controls.paddle))
        controls.held[0] = int(inputs_of(action)[:5] @ 2 ** np.arange(5))
        lib.vcs_relax_control(self.handle, ctypes.addressof(controls))

    def step(self) -> None:
        """An instruction."""
        lib.vcs_relax_step(self.handle, _c.room(self._frames))

    def frame(self) -> np.ndarray:
        """A frame, and its picture in palette indices."""
        lib.vcs_relax_frame(self.handle, _c.room(self._frames))
        at = lib.vcs_picture(lib.vcs_relax_machine(self.handle), _c.room(self._frames)) - _c.room(self._frames)
        return self._frames[at : at + self.cart.height * _c.WIDTH].reshape(self.cart.height, _c.WIDTH).copy()

    @property
    def state(self) -> np.ndarray:
        """The machine as integers, every number rounded; a copy."""
        bytes_now = _c.view(lib.vcs_relax_machine(self.handle), self.cart.state_size, owner=self._owner).copy()
        return bytes_now.view(self.cart.state_dtype).reshape(())

    @property
    def report(self) -> dict[str, int]:
        """Instructions, reads and branches since the load, and those that rounded wrongly."""
        report = _c.RelaxReport.from_address(lib.vcs_relax_report(self.handle))
        return {name: getattr(report, name) for name, *_ in _c.RelaxedReport._fields_}

    def read(self, cells: Sequence[int] | np.ndarray, index: int) -> float:
        """One softened read by itself, before the cast."""
        array = np.ascontiguousarray(cells, np.uint8)
        if not 0 <= index < array.size:
            raise IndexError(f"there is no cell {index} in an array of {array.size}")
        return lib.vcs_relax_read(self.handle, _c.address(array), array.size, index)

    def branch(self, after: int, offset: int, taken: bool) -> float:
        """The counter after a softened branch, before the cast; `after` is that of the instruction behind it."""
        return lib.vcs_relax_branch(self.handle, after & 0xFFFF, offset, taken)

    # ---- numbers and derivatives -------------------------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        values = np.zeros(self.input_slots)
        lib.vcs_relax_values(self.handle, _c.address(values))
        return values

    @values.setter
    def values(self, values: np.ndarray) -> None:
        lib.vcs_relax_set_values(self.handle, _c.address(self._numbers(values, self.input_slots)))

    @staticmethod
    def _numbers(values, count: int) -> np.ndarray:
        array = np.ascontiguousarray(values, np.float64)
        if array.shape != (count,):
            raise ValueError(f"{count} numbers are expected, not {array.shape}")
        return array

    def jvp(self, steps: int, d_input: np.ndarray) -> np.ndarray:
        """How the state after the next instructions moves with the numbers now; the machine goes on by these."""
        d_state = np.zeros(self.state_slots)
        given = self._numbers(d_input, self.input_slots)
        _c.call("vcs_relax_jvp", self.handle, steps, _c.address(given), _c.address(d_state))
        return d_state

    def vjp(self, steps: int, d_state: np.ndarray) -> np.ndarray:
        """What the numbers now are worth when the state after the next instructions is worth that much."""
        d_input = np.zeros(self.input_slots)
        given = self._numbers(d_state, self.state_slots)
        _c.call("vcs_relax_vjp", self.handle, steps, _c.address(d_input), _c.address(given))
        return d_input
