"""Runs as functions of floats, for any array library: python/native/bits.h with NumPy arrays.

A batch of runs of one cartridge: `state` is runs x 8 * cart.state_size, `rom` runs x 8 * cart.rom.size, `inputs` runs x
frames x 12; a bit is 1 where its float is more than a half. torch.py is on top of it; JAX calls the same C through XLA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _c
from ._c import lib
from .cartridge import Cartridge
from .functional import split_options


def shapes(cart: Cartridge, runs: int, frames: int) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of the arguments (state, rom, inputs) and of the results (pixels, state)."""
    return {
        "state": (runs, 8 * cart.state_size),
        "rom": (runs, 8 * cart.rom.size),
        "inputs": (runs, frames, _c.INPUTS),
        "pixels": (runs, frames, cart.height, _c.WIDTH),
    }


def rom_bits(cart: Cartridge) -> np.ndarray:
    """Returns the bits of the cartridge's image as floats."""
    return np.unpackbits(cart.rom, bitorder="little").astype(np.float32)


def _floats(array: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = _arrays.floats(array, name, finite=False)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, and {shape} is expected")
    return array


def _writable(array: np.ndarray) -> np.ndarray:
    """Tangents and adjoints are fields that other calls write to."""
    return array if array.flags.writeable else array.copy()


def _setting(cart: Cartridge, given: tuple[np.ndarray, ...], options: dict[str, Any]) -> Any:
    settings, relaxed = split_options(cart, options)
    runs, frames = given[2].shape[:2]
    return _c.Bits(
        cart=cart.handle, runs=runs, frames=frames, options=settings, relaxed=relaxed, state=given[0], rom=given[1],
        input=given[2],
    )  # fmt: skip


def _given(
    cart: Cartridge, state: Any, rom: Any, inputs: Any
) -> tuple[tuple[np.ndarray, ...], dict[str, tuple[int, ...]]]:
    if np.ndim(inputs) != 3 or np.shape(inputs)[1] < 1:
        raise ValueError(f"inputs are runs x frames x {_c.INPUTS}, not {np.shape(inputs)}")
    want = shapes(cart, *np.shape(inputs)[:2])
    given = tuple(_floats(a, want[n], n) for a, n in zip((state, rom, inputs), ("state", "rom", "inputs")))
    return given, want


def forward(cart: Cartridge, state: Any, rom: Any, inputs: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the pixels after each frame and the state after the last."""
    given, want = _given(cart, state, rom, inputs)
    pixels, after = np.empty(want["pixels"], np.float32), np.empty(want["state"], np.float32)
    lib.vcs_bits_run(_setting(cart, given, options), _c.BitsResults(pixels=pixels, state=after))
    return pixels, after


def jvp(
    cart: Cartridge, state: Any, rom: Any, inputs: Any, tangents: Any, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the derivatives of pixels and state in the direction of state, rom and inputs; None is zero."""
    given, want = _given(cart, state, rom, inputs)
    state, rom, inputs = (
        None if t is None else _writable(_floats(t, want[n], n)) for t, n in zip(tangents, ("state", "rom", "inputs"))
    )
    pixels, after = np.empty(want["pixels"], np.float32), np.empty(want["state"], np.float32)
    moved, results = _c.BitsArguments(state=state, rom=rom, input=inputs), _c.BitsResults(pixels=pixels, state=after)
    lib.vcs_bits_jvp(_setting(cart, given, options), moved, results)
    return pixels, after


def vjp(
    cart: Cartridge,
    state: Any,
    rom: Any,
    inputs: Any,
    adjoints: Any,
    wanted: Sequence[bool] = (True, True, True),
    **options: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the derivatives of weighted pixels and state with respect to state, rom and inputs; None is weight zero.

    Those that are not `wanted` are zero.
    """
    given, want = _given(cart, state, rom, inputs)
    pixels, after = (
        None if a is None else _writable(_floats(a, want[n], n)) for a, n in zip(adjoints, ("pixels", "state"))
    )
    dstate, drom, dinputs = (np.zeros(want[n], np.float32) for n in ("state", "rom", "inputs"))
    selected = (array if ask else None for array, ask in zip((dstate, drom, dinputs), wanted))
    worth, results = (
        _c.BitsResults(pixels=pixels, state=after),
        _c.BitsArguments(**dict(zip(("state", "rom", "input"), selected))),
    )
    lib.vcs_bits_vjp(_setting(cart, given, options), results, worth)
    return dstate, drom, dinputs
