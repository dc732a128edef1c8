"""Runs as functions of floats, for any array library: python/native/bits.h with NumPy arrays.

A batch of runs of one cartridge: `state` is runs x 8 * cart.state_size, `rom` runs x 8 * cart.rom.size, `inputs` runs x
frames x 12; a bit is 1 where its float is more than a half. torch.py is on top of it; JAX calls the same C through XLA.
"""

from __future__ import annotations

import ctypes

import numpy as np

from . import _c
from .cartridge import Cartridge
from .functional import split_options


def shapes(cart: Cartridge, runs: int, frames: int) -> dict[str, tuple[int, ...]]:
    """Of arguments (state, rom, inputs) and results (pixels; state again)."""
    return {
        "state": (runs, 8 * cart.state_size),
        "rom": (runs, 8 * cart.rom.size),
        "inputs": (runs, frames, _c.INPUTS),
        "pixels": (runs, frames, cart.height, _c.WIDTH),
    }


def rom_bits(cart: Cartridge) -> np.ndarray:
    """The cartridge's own image as floats."""
    return np.unpackbits(cart.rom, bitorder="little").astype(np.float32)


def _floats(array: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = np.ascontiguousarray(array, np.float32)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, and {shape} is expected")
    return array


def _call(name: str, cart: Cartridge, given: tuple[np.ndarray, ...], arguments, results, options: dict) -> None:
    settings, scale, relaxed = split_options(cart, options)
    runs, frames = given[2].shape[:2]
    other = ctypes.addressof(relaxed) if relaxed else None
    bits = _c.Bits(cart.handle, runs, frames, 0, settings, other, *[_c.address(a) for a in given])
    pointers = [_c.BitsResults(*[_c.address(a) for a in results])]
    if arguments is not None:
        pointers.insert(0, _c.BitsArguments(*[_c.address(a) for a in arguments]))
    _c.call(name, ctypes.addressof(bits), *[ctypes.addressof(p) for p in pointers])


def _given(cart: Cartridge, state, rom, inputs) -> tuple[tuple[np.ndarray, ...], dict[str, tuple[int, ...]]]:
    if np.ndim(inputs) != 3 or np.shape(inputs)[1] < 1:
        raise ValueError(f"inputs are runs x frames x {_c.INPUTS}, not {np.shape(inputs)}")
    want = shapes(cart, *np.shape(inputs)[:2])
    given = tuple(_floats(a, want[n], n) for a, n in zip((state, rom, inputs), ("state", "rom", "inputs")))
    return given, want


def forward(cart: Cartridge, state, rom, inputs, **options) -> tuple[np.ndarray, np.ndarray]:
    """Pixels after each frame and the state after the last."""
    given, want = _given(cart, state, rom, inputs)
    results = np.empty(want["pixels"], np.float32), np.empty(want["state"], np.float32)
    _call("vcs_bits_run", cart, given, None, results, options)
    return results


def jvp(cart: Cartridge, state, rom, inputs, tangents, **options) -> tuple[np.ndarray, np.ndarray]:
    """How pixels and state move with state, rom and inputs (each may be None: it does not move)."""
    given, want = _given(cart, state, rom, inputs)
    moved = [None if t is None else _floats(t, want[n], n) for t, n in zip(tangents, ("state", "rom", "inputs"))]
    results = np.empty(want["pixels"], np.float32), np.empty(want["state"], np.float32)
    _call("vcs_bits_jvp", cart, given, moved, results, options)
    return results


def vjp(cart: Cartridge, state, rom, inputs, adjoints, **options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What state, rom and inputs are worth when pixels and state (each may be None: nothing) are worth that much."""
    given, want = _given(cart, state, rom, inputs)
    worth = [None if a is None else _floats(a, want[n], n) for a, n in zip(adjoints, ("pixels", "state"))]
    dstate, drom, dinputs = (np.empty(want[n], np.float32) for n in ("state", "rom", "inputs"))
    _call("vcs_bits_vjp", cart, given, (dstate, drom, dinputs), worth, options)
    return dstate, drom, dinputs
