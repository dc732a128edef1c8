"""The exact Jacobian of a run: every output that changes when a bit is flipped, for thousands of bits in one walk.

    import diffvcs
    machine = diffvcs.Machine("demo")
    machine.reset()
    j = diffvcs.jacobian(machine.cart, machine.save(), ["NOOP"] * 4, wrt="ram", of="screen")
    j.column[0], j.row[0], j.value[0]       # the first entry: bit, output, F(bit set) - F(bit clear)
    j.coo()                                 # a scipy.sparse matrix, outputs x bits, if SciPy is installed

Nothing here is an estimate: an entry is the difference of two runs, and an output without an entry does not change.
docs/truth.md describes the algorithm (src/grad/concurrent.c).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _c
from ._c import lib
from .cartridge import Cartridge
from .functional import OUTCOMES, PLACE, Derivatives, Run, _played, _rewarding, input_places, ram_places, rom_places

OUTPUTS = ("screen", "ram", "score", "lives")  # bits of vcs_jacobian_options_t.of, the lowest first
ENTRY = np.dtype(_c.JacobianEntry)
FIRST_CAPACITY = 1 << 16  # entries; a call that needs more makes room and walks again


@dataclass
class Jacobian:
    """Entries in coordinate form, ordered by column, horizon, output and index."""

    places: np.ndarray  # the bits, one for each column
    horizons: np.ndarray  # frames after which outputs are compared
    of: tuple[str, ...]
    shape: tuple[int, int]  # outputs x bits; outputs are horizons x (pixels, RAM bytes, score, lives: those in `of`)
    row: np.ndarray  # output number of each entry
    column: np.ndarray  # bit number of each entry
    value: np.ndarray  # F(bit set) - F(bit clear)
    base: np.ndarray  # the output in the run itself
    flipped: np.ndarray  # the output with the bit flipped
    horizon: np.ndarray  # number of the entry's horizon
    output: np.ndarray  # number of the entry's output in OUTPUTS
    index: np.ndarray  # pixel (160 * y + x) or RAM byte; 0 for score and lives
    outcomes: np.ndarray  # of each bit: "ran", or why there are no entries

    def coo(self) -> Any:
        """Returns the matrix as a scipy.sparse.coo_array."""
        try:
            from scipy import sparse  # type: ignore[import-untyped]
        except ImportError as error:
            raise ImportError("a sparse matrix needs SciPy: pip install scipy") from error
        return sparse.coo_array((self.value, (self.row, self.column)), shape=self.shape)

    def dense(self) -> np.ndarray:
        """Returns the matrix as an array, outputs x bits."""
        matrix = np.zeros(self.shape, np.float32)
        matrix[self.row, self.column] = self.value
        return matrix


def _source_places(cart: Cartridge, frames: int, wrt: str | Sequence[str] | np.ndarray) -> np.ndarray:
    """Places from names ("ram", "rom", "inputs"), or the caller's own."""
    kinds = {
        "ram": lambda: ram_places(cart),
        "rom": lambda: rom_places(cart),
        "inputs": lambda: input_places(frames),
    }
    if isinstance(wrt, np.ndarray):
        return _arrays.records(wrt, "wrt", PLACE, "ram_places, state_places, rom_places and input_places")
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    unknown = [name for name in names if name not in kinds]
    if unknown or not names:
        raise ValueError(f"wrt has no sources {unknown}; there are {', '.join(kinds)}, or an array of places")
    return np.concatenate([kinds[name]() for name in names])


def _signs(played: Run, places: np.ndarray) -> np.ndarray:
    """1 for a bit that is clear in the run and -1 for one that is set: F(set) - F(clear) = sign (flipped - base)."""
    state, rom, inputs = played.start.view(np.uint8).reshape(-1), played.cart.rom, played.inputs
    kind, index, bit = places["kind"], places["index"], places["bit"]
    held = np.zeros(len(places), bool)
    held[kind == 0] = state[index[kind == 0]] >> bit[kind == 0] & 1
    held[kind == 1] = rom[index[kind == 1]] >> bit[kind == 1] & 1
    held[kind == 2] = inputs[places["frame"][kind == 2], index[kind == 2]] > 0
    return np.where(held, -1, 1)


def jacobian(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    *,
    wrt: str | Sequence[str] | np.ndarray = "ram",
    of: str | Sequence[str] = ("screen", "ram"),
    horizons: Sequence[int] | None = None,
    threads: int = 0,
    played: Run | None = None,
) -> Jacobian:
    """Returns the exact change of every output when each source bit is flipped, one bit at a time.

    Args:
        cart, state, actions: the run, as for diffvcs.run.
        wrt: the sources: "ram", "rom", "inputs", several of them, or an array of places.
        of: the outputs: "screen" (palette indices), "ram" (bytes), "score", "lives".
        horizons: the frames after which outputs are compared; None: the last one.
        threads: 0: one for each core. The result does not depend on their number.

    Returns a Jacobian: entries in coordinate form; an output without an entry does not change.

    Example:
        >>> found = diffvcs.jacobian("demo", state, ["NOOP"], wrt="inputs", of="ram")
        >>> found.shape
        (128, 12)
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    names = (of,) if isinstance(of, str) else tuple(of)
    if not names or any(name not in OUTPUTS for name in names):
        raise ValueError(f"of is {names}; there are {', '.join(OUTPUTS)}")
    looks = _arrays.integers([len(played.frames)] if horizons is None else list(horizons), "horizons")
    if looks.ndim != 1 or not looks.size:
        raise ValueError("a Jacobian has at least one horizon: the number of a frame after which outputs are compared")
    places = _source_places(cart, len(played.frames), wrt)
    count, needed = len(places), np.zeros(1, np.uintp)
    ends, outcomes = np.arange(1, count + 1, dtype=np.uintp), np.zeros(count, np.uint8)
    options = _c.JacobianOptions(
        of=sum(1 << OUTPUTS.index(name) for name in set(names)),
        horizons=looks,
        horizon_count=len(looks),
        threads=threads,
    )
    entries = np.zeros(FIRST_CAPACITY, ENTRY)
    with _rewarding(cart, state, "score" in names or "lives" in names) as options.env:
        while True:
            try:
                lib.vcs_jacobian(played._c_run(), options, places, ends, count, entries, len(entries), needed, outcomes)
                break
            except _c.BadArgument:
                if needed[0] <= len(entries):
                    raise
                entries = np.zeros(int(needed[0]), ENTRY)
    entries = entries[: int(needed[0])]
    sizes = {"screen": cart.height * _c.WIDTH, "ram": _c.RAM_BYTES, "score": 1, "lives": 1}
    starts, outputs = np.zeros(len(OUTPUTS), np.int64), 0
    for number, name in enumerate(OUTPUTS):
        if name in names:
            starts[number] = outputs
            outputs += sizes[name]
    output = np.log2(np.maximum(entries["of"], 1)).astype(np.int64)
    column, horizon = entries["flip"].astype(np.int64), entries["horizon"].astype(np.int64)
    value = _signs(played, places)[column] * (entries["flipped"].astype(np.int64) - entries["base"])
    return Jacobian(
        places, looks, names, (len(looks) * outputs, count),
        row=horizon * outputs + starts[output] + entries["index"], column=column, value=value.astype(np.float32),
        base=entries["base"], flipped=entries["flipped"], horizon=horizon, output=output, index=entries["index"],
        outcomes=np.array(OUTCOMES)[outcomes],
    )  # fmt: skip


# ---- products: method="exact" of diffvcs.jvp and diffvcs.vjp ---------------------------------------------------------


def _product_options(played: Run, values: str | np.ndarray, threads: int) -> Any:
    """Every frame is a horizon."""
    scale = played.cart.pixel_values(values) if isinstance(values, str) else np.ascontiguousarray(values, np.float32)
    if scale.shape != (256,):
        raise ValueError("method exact takes one value for each of the 256 palette indices")
    frames = len(played.frames)
    looks = np.arange(1, frames + 1, dtype=np.int32)
    return _c.JacobianOptions(horizons=looks, horizon_count=frames, threads=threads, values=scale, channels=1)


def _ram_slots(cart: Cartridge) -> slice:
    at = 8 * cart.offset("ram")
    return slice(at, at + 8 * _c.RAM_BYTES)


def exact_vjp(
    played: Run,
    state: np.ndarray,
    pixels: np.ndarray | None,
    weights: np.ndarray | None,
    dreward: np.ndarray | None,
    *,
    wrt: str | Sequence[str] = ("ram", "inputs"),
    values: str | np.ndarray = "index",
    threads: int = 0,
) -> Derivatives:
    """The transposed exact Jacobian times adjoints of pixels, of RAM after the run, and of the rewards of frames."""
    cart, frames = played.cart, len(played.frames)
    ram = score = None
    if weights is not None:
        ram, rest = np.zeros((frames, 8 * _c.RAM_BYTES), np.float32), weights.copy()
        ram[-1], rest[_ram_slots(cart)] = weights[_ram_slots(cart)], 0
        if rest.any():
            raise ValueError("method exact weighs pixels, RAM and rewards; dstate has weights of other fields")
    if dreward is not None:  # a horizon's score is the sum of the rewards so far
        score = (dreward - np.append(dreward[1:], 0)).astype(np.float32)
    places = _source_places(cart, frames, wrt)
    adjoints = np.zeros(len(places), np.float32)
    options = _product_options(played, values, threads)
    outputs = _c.JacobianOutputs(pixels=pixels, ram=ram, score=score)
    with _rewarding(cart, state, dreward is not None) as options.env:
        lib.vcs_jacobian_vjp(played._c_run(), options, places, len(places), outputs, adjoints)
    slots_of_state = np.zeros(8 * cart.state_size, np.float32)
    result = Derivatives(cart, dstate=slots_of_state)
    kind, slots = places["kind"], 8 * places["index"].astype(np.int64) + places["bit"]
    slots_of_state[slots[kind == 0]] = adjoints[kind == 0]
    if (kind == 1).any():
        result.drom = np.zeros((cart.rom.size, 8), np.float32)
        result.drom.reshape(-1)[slots[kind == 1]] = adjoints[kind == 1]
    if (kind == 2).any():
        result.dinput = np.zeros((frames, _c.INPUTS), np.float32)
        result.dinput[places["frame"][kind == 2], places["index"][kind == 2]] = adjoints[kind == 2]
    return result


def exact_jvp(
    played: Run,
    state: np.ndarray,
    dstate: np.ndarray | None,
    drom: np.ndarray | None,
    dinput: np.ndarray | None,
    rewards: bool,
    *,
    values: str | np.ndarray = "index",
    threads: int = 0,
) -> Derivatives:
    """The exact Jacobian times the tangents that are not zero: each costs a flip, whatever its size."""
    cart, frames = played.cart, len(played.frames)
    chosen: list[np.ndarray] = []
    tangents: list[np.ndarray] = []
    for kind, given in ((0, dstate), (1, drom)):
        slots = np.flatnonzero(given) if given is not None else np.zeros(0, np.int64)
        places = np.zeros(len(slots), PLACE)
        places["kind"], places["index"], places["bit"] = kind, slots // 8, slots % 8
        chosen.append(places)
        tangents.append(given.reshape(-1)[slots] if given is not None else np.zeros(0))
    if dinput is not None:
        frame, index = np.nonzero(dinput)
        places = np.zeros(len(frame), PLACE)
        places["kind"], places["index"], places["frame"] = 2, index, frame
        chosen.append(places)
        tangents.append(dinput[frame, index])
    places, amounts = np.concatenate(chosen), np.concatenate(tangents).astype(np.float32)
    pixels, ram = np.zeros(played.frames.shape, np.float32), np.zeros((frames, 8 * _c.RAM_BYTES), np.float32)
    score = np.zeros(frames, np.float32) if rewards else None
    options = _product_options(played, values, threads)
    outputs = _c.JacobianOutputs(pixels=pixels, ram=ram, score=score)
    with _rewarding(cart, state, rewards) as options.env:
        lib.vcs_jacobian_jvp(played._c_run(), options, places, len(places), amounts, outputs)
    slots_of_state = np.zeros(8 * cart.state_size, np.float32)
    slots_of_state[_ram_slots(cart)] = ram[-1]
    result = Derivatives(cart, dstate=slots_of_state, dframes=pixels)
    if score is not None:
        result.dreward = np.diff(score, prepend=np.float32(0))
    return result


__all__ = ["Jacobian", "jacobian"]
