"""What every byte of RAM means: the table that `diffvcs annotate --all` made, and how to use it.

`annotations("pong")` is the table of a game, as a dict (docs/annotations.md). `Meanings` finds a byte by what it means, such as
"player 0 x", and turns pixels into values and back.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from ._bind import whole

FOLDER = Path(__file__).parent / "annotations_data"
NAMES = {"contour": "demo"}  # the name of the cartridge that is built in
POSITIONS = ("x", "y")
WIDTH, HEIGHT_MAX = 160, 320  # of a picture
VARIABLES = ("x", "y", "direction", "score", "lives", "timer")  # of obs_type="variables"


@functools.cache
def annotations(game: str) -> dict[str, Any]:
    """The roles of every byte of a game's RAM: {"game": ..., "ram": [{"byte": 0, "roles": [...]}, ...]}."""
    name = Path(str(game)).stem
    path = FOLDER / f"{NAMES.get(name, name)}.json"
    if not path.is_file():
        have = ", ".join(sorted(file.stem for file in FOLDER.glob("*.json"))) or "none"
        raise KeyError(f"no annotations of {game!r}; there are: {have}. `diffvcs annotate GAME --out DIR` makes them")
    return json.loads(path.read_bytes())


class Meanings:
    """The bytes of a game by meaning. Of several bytes with the same meaning the most certain one counts. `height`: rows of
    the picture."""

    def __init__(self, game: str, height: int = HEIGHT_MAX) -> None:
        self.game = game
        self.sizes = {"x": WIDTH, "y": height}
        self.roles: dict[str, tuple[int, dict[str, Any]]] = {}
        for entry in annotations(game)["ram"]:
            for role in entry["roles"]:
                name = f"{role['object']} {role['role']}" if role["object"] else role["role"]
                known = self.roles.get(name)
                if known is None or known[1]["confidence"] < role["confidence"]:
                    self.roles[name] = (entry["byte"], role)

    def find(self, name: str) -> tuple[int, dict[str, Any]]:
        """The byte with this meaning, and its role."""
        if not isinstance(name, str) or name not in self.roles:
            raise KeyError(f"{self.game} has no {name!r}; there are: {', '.join(sorted(self.roles))}")
        return self.roles[name]

    def value(self, name: str, target: int) -> tuple[int, int]:
        """The byte and the value that put an object at a pixel; for what is no position, the value itself."""
        byte, role = self.find(name)
        whole(target, name, -(2**31), 2**31 - 1)
        if role["role"] not in POSITIONS:
            return byte, target
        size, absent = self.sizes[role["role"]], role.get("absent")
        if not 0 <= target < size:
            raise ValueError(f"{name} cannot be {target}: the picture has the pixels 0 to {size - 1}")
        if role["slope"]:
            value = round((target - role["offset"]) / role["slope"])
            if not 0 <= value <= 255:
                raise ValueError(f"{name} cannot be {target}: byte {byte} would be {value}")
            if value == absent:
                raise ValueError(f"{name} cannot be {target}: with {value} in byte {byte} there is no object")
            return byte, value
        known = [
            (abs(pixel - target), value)
            for value, pixel in enumerate(role["map"])
            if pixel is not None and value != absent
        ]
        if not known or min(known)[0] > 2:
            raise ValueError(f"{name} cannot be {target}: no value of byte {byte} puts it there")
        return byte, min(known)[1]

    def variables(self, ram: np.ndarray) -> dict[str, int]:
        """The values of all bytes that have a meaning, by name."""
        return {name: int(ram[byte]) for name, (byte, _) in self.roles.items()}

    def variable_bytes(self) -> np.ndarray:
        """The bytes of positions, directions and counters, ascending."""
        return np.array(sorted({byte for byte, role in self.roles.values() if role["role"] in VARIABLES}), np.intp)
