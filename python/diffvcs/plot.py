"""Pictures of derivatives and attributions, with matplotlib: on the screen, in RAM, in ROM, over inputs."""

from __future__ import annotations

import numpy as np
from typing import Any

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
except ImportError as problem:
    raise ImportError("plots need matplotlib: pip install matplotlib") from problem

from .cartridge import Cartridge
from .machine import INPUT_NAMES

COLOURS = "RdBu_r"  # more is red, less is blue


def _axes(ax: Any) -> Any:
    return plt.subplots(figsize=(7, 4.5))[1] if ax is None else ax


def _limit(values: np.ndarray) -> float:
    return float(np.abs(values).max()) or 1.0


def by_byte(values: np.ndarray) -> np.ndarray:
    """Returns one number for each byte from values of bits (... x 8): the largest one, with its sign."""
    values = np.asarray(values, float)
    at = np.abs(values).argmax(-1)
    return np.take_along_axis(values, at[..., None], -1)[..., 0]


def frame(
    cart: Cartridge, indices: np.ndarray, values: np.ndarray | None = None, ax: Any = None, title: str = ""
) -> Any:
    """Draws a picture (palette indices), dimmed, with values of its pixels in colour on top."""
    ax, rgb = _axes(ax), cart.pixel_values("rgb")[indices] / 255
    if values is not None:
        rgb = 0.6 + 0.4 * rgb.mean(-1, keepdims=True) * np.ones(3)
    ax.imshow(rgb, aspect=0.5, interpolation="nearest")
    if values is not None:
        values, limit = np.asarray(values, float), _limit(values)
        shown = ax.imshow(
            np.ma.masked_equal(values, 0), COLOURS, vmin=-limit, vmax=limit, aspect=0.5, interpolation="nearest"
        )
        ax.figure.colorbar(shown, ax=ax, shrink=0.8)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title)
    return ax


def ram(values: np.ndarray, ax: Any = None, title: str = "") -> Any:
    """Draws RAM as 8 rows of 16 cells, $80 to $FF; values by cell (128) or by bit (128 x 8)."""
    ax, values = _axes(ax), np.asarray(values, float)
    cells = (by_byte(values) if values.ndim == 2 else values).reshape(8, 16)
    limit = _limit(cells)
    ax.figure.colorbar(ax.imshow(cells, COLOURS, vmin=-limit, vmax=limit), ax=ax, shrink=0.8)
    ax.set_xticks(range(16), [f"{i:X}" for i in range(16)])
    ax.set_yticks(range(8), [f"${0x80 + 16 * i:02X}" for i in range(8)])
    ax.set_title(title)
    return ax


def rom(values: np.ndarray, ax: Any = None, title: str = "") -> Any:
    """Draws an image as rows of 64 bytes, by offset; values by byte or by bit (bytes x 8). Colours show the square root of a value,
    because few bytes have large ones.
    """
    ax, values = _axes(ax), np.asarray(values, float)
    cells = by_byte(values) if values.ndim == 2 else values
    cells = np.sign(cells) * np.sqrt(np.abs(cells))
    limit = _limit(cells)
    shown = ax.imshow(cells.reshape(-1, 64), COLOURS, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, shrink=0.8)
    rows = len(cells) // 64
    ax.set_yticks(range(0, rows, max(rows // 8, 1)), [f"${64 * i:04X}" for i in range(0, rows, max(rows // 8, 1))])
    ax.set_xlabel("offset")
    ax.set_title(title)
    return ax


def inputs(values: np.ndarray, ax: Any = None, title: str = "") -> Any:
    """Draws values of inputs over the frames of a run, frames x 12."""
    ax, values = _axes(ax), np.asarray(values, float)
    limit = _limit(values)
    shown = ax.imshow(values.T, COLOURS, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, shrink=0.8)
    ax.set_yticks(range(len(INPUT_NAMES)), INPUT_NAMES)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("frame")
    ax.set_title(title)
    return ax
