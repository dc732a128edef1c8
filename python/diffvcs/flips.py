"""What flipping a bit, or pressing a control for one frame, changes: exactly, or as a derivative predicts it.

    machine = diffvcs.Machine("demo")
    places = diffvcs.input_places([0], ["right"])
    change = diffvcs.flip(machine.cart, machine.save(), ["NOOP"] * 4, places)
    change.dframe[0]     # the last picture with RIGHT held in the first frame, minus the last picture without it

`jvp` moves bits by the amounts it is given; a bit that is set can only move down, so its tangent must be -1. `flip` gives
every bit the one direction it can move in, and every result has one meaning: with the flip minus without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _c
from ._c import lib
from .cartridge import Cartridge
from .exact import OUTPUTS, _signs, jacobian
from .functional import PLACE, Run, _played, jvp, need_run


@dataclass
class Flips:
    """The change that each flip makes at the end of the run: with the flip minus without it."""

    places: np.ndarray  # what was flipped, one at a time
    direction: np.ndarray  # of each: 1: it was clear and is set; -1: it was set and is cleared
    dframe: np.ndarray  # places x height x 160: the last picture
    dram: np.ndarray  # places x 128 x 8: the bits of RAM, lowest first

    @property
    def pixels(self) -> np.ndarray:
        """How many pixels each flip changes."""
        return np.count_nonzero(self.dframe, axis=(1, 2))

    def agreement(self, truth: Flips) -> list[dict[str, float]]:
        """How well predicted changes of the picture agree with the exact ones, for each flip: pixels that are right,
        missed and too many, and the cosine (NaN where one of the two is zero)."""
        found: list[dict[str, float]] = []
        for mine, real in zip(self.dframe, truth.dframe, strict=True):
            norm = float(np.linalg.norm(mine) * np.linalg.norm(real))
            found.append(
                {
                    "right": int(np.count_nonzero((mine != 0) & (real != 0))),
                    "missed": int(np.count_nonzero((mine == 0) & (real != 0))),
                    "too_many": int(np.count_nonzero((mine != 0) & (real == 0))),
                    "cosine": float((mine * real).sum()) / norm if norm else float("nan"),
                }
            )
        return found


def flip(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    places: np.ndarray,
    *,
    method: str = "exact",
    played: Run | None = None,
    **options: Any,
) -> Flips:
    """Returns what each flip changes in the last picture and in RAM after the run.

    Args:
        cart, state, actions, played: the run, as for diffvcs.vjp.
        places: as ram_places, rom_places, state_places and input_places list them; an input of a frame is pressed where it is
            released, and released where it is pressed.
        method: "exact" runs with each flip, all in one walk; every other method is one jvp for each place, in the direction in
            which it can move. Options are those of jvp.

    Example:
        >>> change = diffvcs.flip("demo", state, ["NOOP"] * 2, diffvcs.input_places([0], ["right"]))
        >>> change.dframe.shape, change.direction.tolist()
        ((1, 210, 160), [1])
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart, places = played.cart, _arrays.records(places, "places", PLACE, "ram_places and the like").reshape(-1)
    count, (height, width) = len(places), played.frames.shape[1:]
    lib.vcs_bits_check_places(played._c_run(), places, count)
    result = Flips(
        places,
        _signs(played, places, np.arange(1, count + 1)),
        np.zeros((count, height, width), np.float32),
        np.zeros((count, 128, 8), np.float32),
    )
    if method == "exact":
        if options:
            raise ValueError(f"method exact has no {' and no '.join(sorted(options))}")
        found = jacobian(cart, state, actions, wrt=places, of=("screen", "ram"), played=played)
        change = found.flipped - found.base
        drawn, kept = found.output == OUTPUTS.index("screen"), found.output == OUTPUTS.index("ram")
        pictures = result.dframe.reshape(count, height * width)
        pictures[found.column[drawn], found.index[drawn]] = change[drawn]
        bits = np.arange(8)
        before, after = found.base[kept, None] >> bits & 1, found.flipped[kept, None] >> bits & 1
        result.dram[found.column[kept], found.index[kept]] = after - before
        return result
    for i, place in enumerate(places):
        slots: dict[str, Any] = {}
        kind, at, bit = int(place["kind"]), int(place["index"]), int(place["bit"])
        if kind == 2:
            slots["dinput"] = np.zeros((len(played.frames), _c.INPUTS), np.float32)
            slots["dinput"][int(place["frame"]), at] = result.direction[i]
        else:
            name = "drom" if kind == 1 else "dstate"
            shape = (cart.rom.size, 8) if kind == 1 else (8 * cart.state_size,)
            slots[name] = np.zeros(shape, np.float32)
            slots[name].reshape(-1)[8 * at + bit] = result.direction[i]
        moved = jvp(cart, state, actions, played=played, method=method, **slots, **options)
        assert moved.dframes is not None and moved.dram is not None
        result.dframe[i], result.dram[i] = moved.dframes[-1], moved.dram
    return result


def no_effect(run: Run, place: np.ndarray | np.void) -> str:
    """Returns why flipping a bit or an input does not change the last picture of a run.

    Example:
        >>> diffvcs.no_effect(run, diffvcs.ram_places(run.cart, [0x60])[0])
        'the program does not read the byte in these frames'
    """
    need_run(run)
    place = np.array([place], PLACE) if isinstance(place, np.void) else place
    place = _arrays.records(place, "place", PLACE, "ram_places and the like").reshape(-1)
    if len(place) != 1:
        raise ValueError(f"no_effect takes one place, not {len(place)}")
    text = np.zeros(256, np.uint8)
    lib.vcs_no_effect(run._c_run(), place, text, text.size)
    return bytes(text).split(b"\0")[0].decode()
