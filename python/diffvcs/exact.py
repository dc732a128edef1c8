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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _c
from ._c import lib
from .cartridge import Cartridge
from .functional import GROUPS, OUTCOMES, PLACE, Run, _places, _played, _rewarding, state_places

OUTPUTS = ("screen", "ram", "score", "lives", "state", "cpu")  # bits of vcs_jacobian_options_t.of, the lowest first
ENTRY = np.dtype(_c.JacobianEntry)
ENGINES = ("walk", "rerun")  # vcs_truth_engine_t
FIRST_CAPACITY = 1 << 16  # entries; a call that needs more makes room and walks again


@dataclass
class Jacobian:
    """Entries in coordinate form, ordered by column, horizon, output and index."""

    places: np.ndarray  # the bits; those of column i are places[ends[i - 1] : ends[i]]
    ends: np.ndarray
    horizons: np.ndarray  # frames after which outputs are compared
    of: tuple[str, ...]
    shape: tuple[int, int]  # outputs x bits; outputs are horizons x (those in `of`, in the order of OUTPUTS)
    row: np.ndarray  # output number of each entry
    column: np.ndarray  # number of the bit, or set of bits, of each entry
    value: np.ndarray  # F(bit set) - F(bit clear); for several bits, F(flipped) - F
    base: np.ndarray  # the output in the run itself
    flipped: np.ndarray  # the output with the bit flipped
    horizon: np.ndarray  # number of the entry's horizon
    output: np.ndarray  # number of the entry's output in OUTPUTS
    index: (
        np.ndarray
    )  # pixel (160 * y + x), RAM byte, or offset in the machine (Cartridge.offset); 0 for score and lives
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


def _source_places(
    played: Run, wrt: str | Sequence[str] | Sequence[np.ndarray] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places and the ends of sets, from names, the caller's places, or a list of arrays of places: sets."""
    cart, fields = played.cart, played.cart.state_dtype.names or ()
    wanted = "places, ram_places, state_places, rom_places and input_places"
    if isinstance(wrt, np.ndarray):
        places = _arrays.records(wrt, "wrt", PLACE, wanted)
        return places, np.arange(1, len(places) + 1, dtype=np.uintp)
    names = wrt.split(",") if isinstance(wrt, str) else list(wrt) if isinstance(wrt, Iterable) else []
    if names and all(isinstance(name, np.ndarray) for name in names):
        sets = [_arrays.records(places, "a set of wrt", PLACE, wanted).reshape(-1) for places in names]
        return np.concatenate(sets), np.cumsum([len(places) for places in sets]).astype(np.uintp)
    if not names or any(name not in GROUPS and name not in fields for name in names):
        raise ValueError(
            f"wrt is {wrt!r}; groups of bits are {', '.join(GROUPS)}, or several of them; fields of the machine, an array of "
            "places and a list of arrays of places are accepted, too"
        )
    places = np.concatenate(
        [_places(played, name)[0] if name in GROUPS else state_places(cart, str(name)) for name in names]
    )
    return places, np.arange(1, len(places) + 1, dtype=np.uintp)


def _signs(played: Run, places: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """1 for a bit that is clear in the run and -1 for one that is set: F(set) - F(clear) = sign (flipped - base). 1 for
    several bits."""
    state, rom, inputs = played.start.view(np.uint8).reshape(-1), played.cart.rom, played.inputs
    kind, index, bit = places["kind"], places["index"], places["bit"]
    held = np.zeros(len(places), bool)
    held[kind == 0] = state[index[kind == 0]] >> bit[kind == 0] & 1
    held[kind == 1] = rom[index[kind == 1]] >> bit[kind == 1] & 1
    held[kind == 2] = inputs[places["frame"][kind == 2], index[kind == 2]] > 0
    sizes = np.diff(ends.astype(np.int64), prepend=0)
    last = np.maximum(ends.astype(np.int64) - 1, 0)
    return np.where((sizes == 1) & held[last] if len(places) else sizes < 0, -1, 1)


def jacobian(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    *,
    wrt: str | Sequence[str] | Sequence[np.ndarray] | np.ndarray = "ram",
    of: str | Sequence[str] = ("screen", "ram"),
    horizons: Sequence[int] | None = None,
    threads: int = 0,
    played: Run | None = None,
    engine: str = "walk",
) -> Jacobian:
    """Returns the exact change of every output when each source bit is flipped, one bit at a time.

    Args:
        cart, state, actions: the run, as for diffvcs.run.
        wrt: groups of bits, as after --wrt: ram, rom, input, cpu, pc, tia, riot, cartram, state (the whole machine), or fields of the
            machine ("grp", "a"); a list, or a text with commas. Or an array of places; or a list of such arrays: the places of
            one array are flipped together.
        of: the outputs: "screen" (palette indices), "ram" (bytes), "score", "lives", "state" (bytes of the machine, without
            counters, sound and the bus), "cpu" (bytes of its registers).
        horizons: the frames after which outputs are compared; None: the last one.
        threads: 0: one for each core. The result does not depend on their number.
        engine: "walk" follows all flips in one pass over the run, "rerun" runs every flip again; the result is the same.

    Returns a Jacobian: entries in coordinate form; an output without an entry does not change.

    Example:
        >>> found = diffvcs.jacobian("demo", state, ["NOOP"], wrt="input", of="ram")
        >>> found.shape
        (128, 12)
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    if not isinstance(of, Iterable):
        raise TypeError(f"of is one of {', '.join(OUTPUTS)} or a list of them, not {of!r}")
    names = (of,) if isinstance(of, str) else tuple(of)
    if not names or any(name not in OUTPUTS for name in names):
        raise ValueError(f"of is {names}; there are {', '.join(OUTPUTS)}")
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there are {', '.join(ENGINES)}")
    looks = _arrays.horizons(horizons, len(played.frames))
    if not looks.size:
        raise ValueError("a Jacobian has at least one horizon: the number of a frame after which outputs are compared")
    places, ends = _source_places(played, wrt)
    count, needed = len(ends), np.zeros(1, np.uintp)
    outcomes = np.zeros(count, np.uint8)
    options = _c.JacobianOptions(
        of=sum(1 << OUTPUTS.index(name) for name in set(names)),
        horizons=looks,
        horizon_count=len(looks),
        threads=threads,
        engine=ENGINES.index(engine),
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
    sizes = {
        "screen": cart.height * _c.WIDTH, "ram": _c.RAM_BYTES, "score": 1, "lives": 1,
        "state": cart.state_size, "cpu": cart.state_size,
    }  # fmt: skip
    starts, outputs = np.zeros(len(OUTPUTS), np.int64), 0
    for number, name in enumerate(OUTPUTS):
        if name in names:
            starts[number] = outputs
            outputs += sizes[name]
    output = np.log2(np.maximum(entries["of"], 1)).astype(np.int64)
    column, horizon = entries["flip"].astype(np.int64), entries["horizon"].astype(np.int64)
    value = _signs(played, places, ends)[column] * (entries["flipped"].astype(np.int64) - entries["base"])
    return Jacobian(
        places, ends, looks, names, (len(looks) * outputs, count),
        row=horizon * outputs + starts[output] + entries["index"], column=column, value=value.astype(np.float32),
        base=entries["base"], flipped=entries["flipped"], horizon=horizon, output=output, index=entries["index"],
        outcomes=np.array(OUTCOMES)[outcomes],
    )  # fmt: skip


__all__ = ["Jacobian", "jacobian"]
