"""Arrays that callers pass: converted where nothing is lost, and refused with a message otherwise.

_bind.py accepts an array only if C can use it as it is. The functions here make such arrays of lists, other dtypes, strided
and read-only arrays. They never change a number: 2**32 + 1 does not become 1, nor 0.7 become 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bind import BadArgument


def _given(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as problem:  # rows of different lengths
        raise BadArgument(f"{name} is no array of numbers: {problem}") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, not {array.dtype}")
    return array


def integers(values: Any, name: str, dtype: Any = np.int32, fractions: bool = True) -> np.ndarray:
    """Returns whole numbers, aligned and contiguous; without `fractions`, of an integer type."""
    if values.__class__ is np.ndarray and values.dtype == dtype and values.flags.carray:
        return values
    array = _given(values, name)
    if array.dtype == dtype:
        return np.require(array, requirements=["C", "A"])
    if array.dtype.kind == "f" and not fractions:
        raise TypeError(f"{name} must be whole numbers, of an integer type, not {array.dtype}")
    with np.errstate(invalid="ignore"):
        found = array.astype(dtype, order="C")
    if np.count_nonzero(found != array):
        limits = np.iinfo(dtype)
        raise BadArgument(f"{name} must be whole numbers from {limits.min} to {limits.max}")
    return found


def horizons(values: Any, last: int | None = None) -> np.ndarray:
    """Returns the frames after which outputs are compared, as a list of any kind has them; None: the last one, if it is known."""
    if values is None and last is not None:
        values = [last]
    elif not isinstance(values, (np.ndarray, str, bytes, bytearray, memoryview)):
        try:
            values = list(values)
        except TypeError:
            raise TypeError(f"horizons are a list of frames, such as [1, 4], not {values!r}") from None
    found = integers(values, "horizons")
    if found.ndim != 1:
        raise BadArgument(f"horizons are a list of frames, such as [1, 4], not an array of shape {found.shape}")
    return found.copy()


def floats(values: Any, name: str, dtype: Any = np.float32, finite: bool = True) -> np.ndarray:
    """Returns numbers, aligned and contiguous; the caller's own array where it is so already."""
    array = _given(values, name)
    with np.errstate(over="ignore"):
        found = np.require(array, dtype, ["C", "A"])
    if finite and not np.isfinite(found).all():
        raise BadArgument(f"{name} must be finite numbers")
    return found


def records(values: Any, name: str, dtype: np.dtype, made_by: str) -> np.ndarray:
    """Returns a flat copy of structs of the library: it stays as it was checked, whatever the caller's array becomes."""
    if not isinstance(values, np.ndarray) or values.dtype != dtype:
        raise TypeError(f"{name} must be an array as {made_by} makes it, not {type(values).__name__}")
    return np.array(values.reshape(-1), order="C", subok=False)


def state_bytes(values: Any, name: str = "state") -> np.ndarray:
    """Returns a saved state as an array of bytes."""
    if isinstance(values, (bytes, bytearray, memoryview)):
        return np.frombuffer(values, np.uint8)
    if not isinstance(values, np.ndarray) or values.dtype != np.uint8 or values.ndim != 1:
        raise TypeError(f"{name} must be the bytes that save() gave, not {_kind(values)}")
    return np.ascontiguousarray(values)


def _kind(values: Any) -> str:
    return f"{values.dtype} of shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__


def flat_rows(rows: np.ndarray) -> np.ndarray:
    """Returns the same rows, in which fields of nested structs are fields of the row and texts are strings of bytes."""
    names, formats, offsets = [], [], []

    def add(dtype: np.dtype, start: int) -> None:
        for name, (kind, offset, *_) in (dtype.fields or {}).items():
            if kind.fields:
                add(kind, start + offset)
            else:
                names.append(name)
                formats.append(f"S{kind.itemsize}" if kind.subdtype and kind.base.kind == "S" else kind)
                offsets.append(start + offset)

    add(rows.dtype, 0)
    return rows.view(
        np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": rows.dtype.itemsize})
    )


class Structs:
    """An array of structs that C fills, from which the first ones are copied. NumPy copies structs field by field, and
    takes a microsecond to view bytes as structs."""

    def __init__(self, kind: type, count: int) -> None:
        self.array = np.zeros(count, np.dtype(kind))
        self._dtype, self._size = self.array.dtype, self.array.itemsize
        self._bytes = self.array.view(np.uint8).data

    def first(self, count: int) -> np.ndarray:
        return np.ndarray((count,), self._dtype, bytearray(self._bytes[: count * self._size]))  # a tuple is faster
