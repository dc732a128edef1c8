"""A cartridge in a console: image, bank scheme, television, controllers. It does not change once it is loaded."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _arrays, _c, files, roms
from ._c import lib

VALUES = {"index": 0, "luminance": 1, "rgb": 2}
FORMATS = ("auto", "ntsc", "pal", "pal60", "secam")
SAME = ("sha256", "profile", "scheme", "format", "game", "height")  # what makes two cartridges the same
IMAGE_LIMIT = 4 << 20  # bytes, as in src/host/files.h


class Cartridge:
    """A loaded image. Machines share it.

    Args:
        image: the name of a game whose image is found (roms.py), a path, or the bytes themselves. "demo" is Contour, our own
            cartridge, which is built in.
        profile: whose boot protocol and rules count: "ale", "xitari", or "fixed", which is "ale" with its known errors
            corrected.
        format: the television: "auto", "ntsc", "pal", "pal60" or "secam".
        name: the game's name, if the image is given as bytes.
        patch: an IPS or BPS patch, as bytes. The patched cartridge keeps the picture, controllers and rules of its game.

    Example:
        >>> cart = diffvcs.Cartridge("demo")
        >>> cart.game, cart.scheme, cart.format, cart.rom.size
        ('contour', '4K', 'NTSC', 4096)
    """

    def __init__(
        self,
        image: str | os.PathLike[str] | bytes,
        profile: str = "ale",
        format: str = "auto",
        name: str | None = None,
        patch: bytes | None = None,
    ) -> None:
        if profile not in _c.PROFILES:
            raise ValueError(f"no profile {profile!r}; there are {', '.join(_c.PROFILES)}")
        if format not in FORMATS:
            raise ValueError(f"no television format {format!r}; there are {', '.join(FORMATS)}")
        data, found = self._read(image)
        self.name = name or found
        options = _c.CartOptions(
            profile=_c.PROFILES.index(profile), format=FORMATS.index(format), name=os.fsencode(self.name)
        )
        self.handle = lib.vcs_cart_load(data, len(data), options)
        if patch is not None:
            if not isinstance(patch, (bytes, bytearray, memoryview)):
                raise TypeError(f"a patch is the bytes of an IPS or BPS file, not {type(patch).__name__}")
            patch = bytes(patch)
            lib.vcs_cart_patch(self.handle, patch, len(patch))
        info = lib.vcs_cart_info(self.handle)
        self.profile = profile
        self._made_from = bytes(data), profile, format, self.name, patch  # what pickles hold
        self.game: str | None = info.game
        self.scheme: str = info.scheme_name
        self.format: str = lib.vcs_format_name(info.format)
        self.controllers: tuple[str, str] = tuple(lib.vcs_controller_name(c) for c in (info.left, info.right))
        self.height: int = info.height
        self.md5: str = info.md5.decode()
        self.sha256: str = info.sha256.decode()
        self.state_size: int = self.handle.state_size
        self.idle_machines: list[Any] = []  # for functional.py, which plays on them
        self.rom: np.ndarray = lib.vcs_bits_rom(self.handle)

    @staticmethod
    def _read(image: str | os.PathLike[str] | bytes) -> tuple[bytes, str]:
        if isinstance(image, (bytes, bytearray, memoryview)):
            return bytes(image), ""
        if isinstance(image, np.ndarray):
            return _arrays.integers(image, "an image", np.uint8).tobytes(), ""
        if not isinstance(image, (str, os.PathLike)):
            raise TypeError(f"an image is a name, a path or bytes, not {type(image).__name__}")
        if image == "demo":
            return lib.vcs_demo_image(np.zeros(1, np.uintp)).tobytes(), "demo"
        path = _path(image)
        return files.read(path, IMAGE_LIMIT), path.stem  # the library refuses what is longer

    @classmethod
    def find(cls, image: str | os.PathLike[str] | Cartridge, profile: str | None = None) -> Cartridge:
        """Returns a cartridge by name or path, the same object for the same name and file: it is loaded and booted once.

        A Cartridge is returned itself, if its profile is `profile` or that is None; a name's profile is then "ale".

        Example:
            >>> diffvcs.Cartridge.find("demo") is diffvcs.Cartridge.find("demo")
            True
        """
        if isinstance(image, Cartridge):
            if profile not in (None, image.profile):
                raise ValueError(f"{image} is not of profile {profile!r}: a Cartridge gets its profile when it is made")
            return image
        if not isinstance(image, (str, os.PathLike)):
            raise TypeError(f"a cartridge is a name, a path or a Cartridge, not {type(image).__name__}")
        name = os.fspath(image)
        return _shared(name, "ale" if profile is None else profile, _file(name))

    def is_like(self, other: Cartridge) -> bool:
        """Returns whether both are the same image in the same console: then states can be exchanged."""
        return other is self or all(getattr(self, name) == getattr(other, name) for name in SAME)

    def __reduce__(self) -> Any:
        """Pickles hold the image; a copy within a process is the cartridge itself, which never changes."""
        return _revive, self._made_from

    def __copy__(self) -> Cartridge:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Cartridge:
        return self

    def __repr__(self) -> str:
        return f"Cartridge({self.name or self.md5!r}, {self.scheme}, {self.format}, profile {self.profile!r})"

    @functools.cached_property
    def state_dtype(self) -> np.dtype:
        """The NumPy type of a machine: every field by name. It is generated from src/core/fields.h."""
        names, formats, offsets = [], [], []
        for field in fields():
            count = min(
                field.count, (self.state_size - field.offset) // field.size
            )  # cartridge RAM may be stored short
            if count > 0:
                kind = ("i" if field.type.startswith("int") else "u") + str(field.size)
                names.append(field.name)
                formats.append((kind, (count,)) if field.count > 1 else kind)
                offsets.append(field.offset)
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.state_size})

    def offset(self, field: str) -> int:
        """Returns where a field begins in a machine, in bytes."""
        fields = self.state_dtype.fields
        assert fields is not None  # it is a record
        return fields[field][1]

    def pixel_values(self, kind: str = "index") -> np.ndarray:
        """Returns what each of the 256 palette indices counts: itself ("index"), its "luminance", or its "rgb" (256 x 3)."""
        if kind not in VALUES:
            raise ValueError(f"no pixel values {kind!r}; there are {', '.join(VALUES)}")
        values = np.zeros(768, np.float32)
        channels = lib.vcs_pixel_values(self.handle, VALUES[kind], values)
        return values[: 256 * channels].reshape((256, channels) if channels > 1 else 256)


@functools.lru_cache(maxsize=128)
def _revive(image: bytes, profile: str, format: str, name: str, patch: bytes | None) -> Cartridge:
    return Cartridge(image, profile, format, name or None, patch)


def _path(image: str | os.PathLike[str]) -> Path:
    """The file of an image that is given by name or path."""
    path = Path(image)
    if path.is_file():
        return path
    if path.suffix or len(path.parts) > 1:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a directory, not a ROM image")
        raise FileNotFoundError(f"there is no ROM image {path}")
    return roms.require(str(image))


def _file(name: str) -> tuple[Any, ...]:
    """What tells a file from another one that the same name stood for: after chdir, with another $DIFFVCS_ROMS, replaced."""
    if name == roms.DEMO:
        return ()
    path = os.path.realpath(_path(name))
    found = os.stat(path)
    return path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@functools.lru_cache(maxsize=128)  # games; older ones are loaded again
def _shared(image: str, profile: str, file: tuple[Any, ...]) -> Cartridge:
    return Cartridge(image, profile)


@functools.lru_cache(maxsize=1)
def fields() -> list[Any]:
    """Returns the rows of src/core/fields.h: name, type, meaning, offset, size of an element, number of elements."""
    rows: list[Any] = []
    while row := lib.vcs_field(len(rows)):
        rows.append(row)
    return rows
