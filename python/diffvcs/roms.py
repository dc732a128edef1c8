"""Where ROM images are: in an installed ale-py, or in the folders of $DIFFVCS_ROMS and $ALE_ROMS_DIR."""

from __future__ import annotations

import difflib
import importlib.machinery
import os
from pathlib import Path

DEMO = "demo"  # our own cartridge, which is part of the library
TWO_PLAYERS = frozenset({"combat", "joust", "maze_craze", "warlords"})  # games that cannot be played alone


def folders() -> list[Path]:
    """Returns the folders that may hold images, in the order in which they are searched."""
    found = [Path(os.environ[name]) for name in ("DIFFVCS_ROMS", "ALE_ROMS_DIR") if os.environ.get(name)]
    spec = importlib.machinery.PathFinder.find_spec("ale_py")  # on disk, whatever has that name in memory (compat.py)
    if spec and spec.submodule_search_locations:
        found += [Path(place) / "roms" for place in spec.submodule_search_locations]
    return found


def get_all_rom_ids() -> list[str]:
    """Returns the names of the games whose images are found, such as "pong" and "ms_pacman"."""
    names = {path.stem for folder in folders() if folder.is_dir() for path in folder.glob("*.bin")}
    return sorted(names)


def _check() -> None:
    """$DIFFVCS_ROMS must name a folder: a misspelled one would be skipped, and another place would answer."""
    named = os.environ.get("DIFFVCS_ROMS")
    if named and not Path(named).is_dir():
        raise NotADirectoryError(
            f"$DIFFVCS_ROMS names the folder {named!r}, which does not exist: correct it or unset it"
        )


def get_rom_path(name: str) -> Path | None:
    """Returns the path of a game's image, or None."""
    _check()
    for folder in folders():
        path = folder / f"{name}.bin"
        if path.is_file():
            return path
    return None


def require(name: str) -> Path:
    """Returns the path of a game's image, or raises an error that says how to get it. "demo" needs no image."""
    path = get_rom_path(name)
    if path is None and name == DEMO:
        return Path(DEMO)
    if path is None:
        where = ", ".join(dict.fromkeys(map(str, folders()))) or "no folder"
        near = difflib.get_close_matches(name, [*get_all_rom_ids(), DEMO], 1)
        meant = f"; did you mean {near[0]!r}?" if near else "."
        raise FileNotFoundError(
            f"no ROM image of {name!r} (looked in {where}){meant} Names are snake_case, as in ms_pacman; `pip install ale-py` "
            "brings 108 images, and $DIFFVCS_ROMS names a folder of your own."
        )
    return path


def rom_id_to_name(rom: str) -> str:
    """ "ms_pacman" -> "MsPacman"."""
    return rom.title().replace("_", "")


def name_to_rom_id(name: str) -> str:
    """ "MsPacman" -> "ms_pacman"."""
    known = {rom_id_to_name(rom): rom for rom in get_all_rom_ids()}
    return known.get(name, "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_"))
