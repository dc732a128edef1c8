"""Pictures as PNG files, with only the standard library."""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np

from . import _arrays, files


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encode(picture: np.ndarray) -> bytes:
    """Returns a height x width (x 3) picture of bytes as the bytes of a PNG file."""
    picture = _arrays.integers(picture, "a picture", np.uint8)
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise ValueError(f"a picture is height x width or height x width x 3, not {picture.shape}")
    height, width = picture.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if picture.ndim == 3 else 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in picture)  # each row unfiltered
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def write(path: str | os.PathLike[str], picture: np.ndarray) -> None:
    """Writes a picture as a PNG file, whole or not at all."""
    files.write(path, encode(picture))
