"""Careless calls: whatever is passed as an array, a state or a number, the call returns a result or raises a message.

SAME and OTHER list arguments that people pass by mistake: sizes of zero, one and a million, other dtypes, NaN, numbers out of
range, objects that are not arrays. CROSSED has each of ten dtypes with its least and its most number, 0, 1 and NaN, in eight layouts.
`targets` lists every public function that takes an array, and every pair is tried; of CROSSED one in twelve, unless
DIFFVCS_ODD_CALLS=all (`make test-nightly`). A call may raise an exception of REFUSALS. If it does not, and its argument has the
right numbers in another form, its result must be the right one. After every row the function must still return its earlier result.

A fault in C ends the process, and this test with it; `make test-python-asan` runs it on a library that notices every byte
that is read or written out of place.
"""

import contextlib
import copy
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import zlib

import numpy as np
import needs
import pytest

import diffvcs
from diffvcs import ALEInterface, Cartridge, Machine, Pixels, Ram, Relaxed, Score, bits, png
from diffvcs.batch import ALEVectorInterface

REFUSALS = (TypeError, ValueError, LookupError, OverflowError, RuntimeError, MemoryError, OSError)
FRAMES = 3


# ---- what is given ---------------------------------------------------------------------------------------------------


def strided(array):
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    found = memory[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def filled(array, value):
    return np.full(array.shape, value)


def flat(array):
    return array.reshape(-1)


def liar(array):
    """One element that says it is the whole array."""

    class Liar(np.ndarray):
        size, shape, nbytes = array.size, array.shape, array.nbytes

    return flat(array)[:1].copy().view(Liar)


SAME = {  # the right numbers in another form
    "strided": strided,
    "backwards twice": lambda a: flat(a)[::-1].copy()[::-1].reshape(a.shape),
    "read-only": read_only,
    "unaligned": unaligned,
    "Fortran order": np.asfortranarray,
    "a list": lambda a: a.tolist(),
    "a tuple": lambda a: tuple(a.tolist()),
    "a subclass": lambda a: a.view(np.ma.MaskedArray),
    "float64": lambda a: a.astype(np.float64),
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "objects": lambda a: a.astype(object),
    "a memoryview": lambda a: memoryview(a.copy()),
    "broadcast": lambda a: np.broadcast_to(a, (1, *a.shape))[0],
}
OTHER = {
    "nothing": lambda a: None,
    "an empty array": lambda a: a[:0],
    "an empty list": lambda a: [],
    "an empty array of floats": lambda a: np.zeros(0),
    "no rows": lambda a: np.zeros((0, *a.shape), a.dtype),
    "no columns": lambda a: np.zeros((*a.shape, 0), a.dtype),
    "one element": lambda a: flat(a)[:1],
    "a scalar": lambda a: flat(a)[0],
    "0 dimensions": lambda a: np.zeros((), a.dtype),
    "half": lambda a: a[: len(a) // 2],
    "one too few": lambda a: a[:-1],
    "one too many": lambda a: np.concatenate([a, a[:1]]),
    "twice": lambda a: np.concatenate([a, a]),
    "a million": lambda a: np.full(10**6, 99, a.dtype),
    "one more dimension": lambda a: a[None],
    "five dimensions": lambda a: a.reshape(1, 1, 1, 1, -1),
    "transposed": lambda a: np.zeros((7, 5), a.dtype).T,
    "every other": lambda a: a[::2],
    "overlapping rows": lambda a: np.lib.stride_tricks.as_strided(a, (len(a), 2), (a.strides[0], 0)),
    "int8": lambda a: np.zeros(a.shape, np.int8),
    "int64": lambda a: np.zeros(a.shape, np.int64),
    "uint64 at its end": lambda a: filled(a, np.uint64(2**64 - 1)),
    "float16": lambda a: np.zeros(a.shape, np.float16),
    "complex": lambda a: np.zeros(a.shape, complex),
    "booleans": lambda a: np.ones(a.shape, bool),
    "text": lambda a: np.full(a.shape, "x"),
    "times": lambda a: np.zeros(a.shape, "datetime64[s]"),
    "records": lambda a: np.zeros(a.shape, [("x", "i4"), ("y", "f8")]),
    "pairs": lambda a: np.zeros(a.shape, (np.int32, 2)),
    "objects that are no numbers": lambda a: filled(a, object()),
    "NaN": lambda a: filled(a, np.nan),
    "infinity": lambda a: filled(a, np.inf),
    "minus infinity": lambda a: filled(a, -np.inf),
    "NaN of float32": lambda a: filled(a, np.float32(np.nan)),
    "a tiny number": lambda a: filled(a, 5e-324),
    "a huge number": lambda a: filled(a, 1e308),
    "a half": lambda a: filled(a, 0.5),
    "minus one": lambda a: filled(a, -1),
    "255": lambda a: filled(a, 255),
    "256": lambda a: filled(a, 256),
    "255 in bytes": lambda a: np.full(a.shape, 255, np.uint8),
    "2^31 - 1": lambda a: filled(a, 2**31 - 1),
    "2^31": lambda a: filled(a, 2**31),
    "-2^31": lambda a: filled(a, -(2**31)),
    "2^32 + 1": lambda a: filled(a, 2**32 + 1),
    "2^63 - 1": lambda a: filled(a, 2**63 - 1),
    "2^64": lambda a: [2**64] * 3,
    "random bytes": lambda a: np.random.default_rng(0).integers(0, 256, a.shape, np.uint8),
    "random bytes of its dtype": lambda a: np.random.default_rng(0).bytes(a.nbytes) and np.frombuffer(
        np.random.default_rng(0).bytes(a.nbytes), a.dtype).reshape(a.shape),
    "a number": lambda a: 7,
    "a negative number": lambda a: -7,
    "an address": lambda a: 0xDEAD0000,
    "a fraction": lambda a: 1.5,
    "a word": lambda a: "word",
    "a path": lambda a: "../../etc/passwd",
    "bytes": lambda a: b"bytes",
    "its own bytes": lambda a: a.tobytes(),
    "a bytearray": lambda a: bytearray(a.tobytes()),
    "a dictionary": lambda a: {"a": 1},
    "a set": lambda a: {1, 2},
    "a generator": lambda a: (i for i in range(3)),
    "a ragged list": lambda a: [[1, 2], [3]],
    "a list of None": lambda a: [None] * len(a),
    "a list of words": lambda a: ["x"] * len(a),
    "a type": lambda a: np.ndarray,
    "an object": lambda a: object(),
    "a machine": lambda a: Machine("demo"),
    "a liar": liar,
}  # fmt: skip

DTYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
LAYOUTS = {
    "whole": lambda a: a,
    "strided": strided,
    "backwards": lambda a: a[..., ::-1],
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "unaligned": unaligned,
    "one element": lambda a: flat(a)[:1],
    "one too many": lambda a: np.concatenate([flat(a), flat(a)[:1]]),
}


def numbers(kind):
    """A dtype's own numbers: the two that are fine almost everywhere, and its ends."""
    if np.issubdtype(kind, np.integer):
        ends = np.iinfo(kind)
        return [0, 1, ends.min or ends.max // 2 + 1, ends.max]
    return [0, 1, np.finfo(kind).min, np.finfo(kind).max, np.nan]


def laid_out(array, kind, number, layout):
    return LAYOUTS[layout](np.full(array.shape, number, kind))


CROSSED = {
    f"{number} of {kind}, {layout}": functools.partial(laid_out, kind=kind, number=number, layout=layout)
    for kind in DTYPES
    for number in numbers(kind)
    for layout in LAYOUTS
}
SHARE = 1 if os.environ.get("DIFFVCS_ODD_CALLS") == "all" else 12


def odd_arguments(name):
    """Those that a row is called with; with a SHARE of 12, other rows have other twelfths of CROSSED. A relaxed frame costs
    as much as fifty others, so its row never has more than half of them."""
    share = max(SHARE, 2) if "relaxed" in name else SHARE
    first = zlib.crc32(name.encode()) % share
    return {**SAME, **OTHER, **dict(list(CROSSED.items())[first::share])}


# ---- what it is given to ---------------------------------------------------------------------------------------------


class World:
    """Something of everything, made once."""

    def __init__(self):
        self.machine = Machine("demo")
        self.machine.reset()
        for i in range(60):
            self.machine.act_on(i // 9 % 18)
        self.cart, self.state = self.machine.cart, self.machine.save()
        self.actions = np.array([0, 3, 1])
        self.played = diffvcs.run(self.cart, self.state, self.actions)
        self.places = diffvcs.ram_places(self.cart, [3, 4])
        self.relaxed = Relaxed(self.cart)
        self.vector = ALEVectorInterface("demo", 3, num_threads=2, noop_max=0)
        self.vector.reset([0, 1, 2], [1, 2, 3])
        self.states = self.vector.clone_states()
        self.pool = ALEVectorInterface("demo", 4, batch_size=2, num_threads=1, noop_max=0)
        self.there = ALEVectorInterface("demo", 3, noop_max=0, device="cpu-as-gpu")
        self.there.reset([0, 1, 2], [1, 2, 3])
        self.bits = [self.machine.bits[None], bits.rom_bits(self.cart)[None], self.played.inputs[None]]
        self.gray = np.zeros(self.machine.shape, np.uint8)

    # each gives a result that can be compared, and leaves things as they were

    def restored(self, value):
        try:
            self.machine.restore(value)
            return self.machine.hash()
        finally:
            self.machine.restore(self.state)

    def set(self, value):
        try:
            self.machine.set(ram=value)
            return self.machine.ram.copy()
        finally:
            self.machine.restore(self.state)

    def step(self, actions, strengths=None, envs=None):
        envs = envs or self.vector
        envs.reset([0, 1, 2], [1, 2, 3])
        return np.asarray(envs.step(actions, strengths)[0])

    def sent(self, actions, ids=(0, 1), strengths=None):
        self.pool.reset(range(4), range(4))
        self.pool.recv()
        self.pool.send(actions, strengths, ids)
        return self.pool.recv()[1]

    def loaded(self, value):
        self.relaxed.load(value)
        return int(self.relaxed.state["pc"])

    def values(self, value):
        try:
            self.relaxed.values = value
            return self.relaxed.values
        finally:
            self.relaxed.load(self.machine)


def product(found):
    return [a for a in (found.dstate, found.drom, found.dinput, found.dframes, found.dreward) if a is not None]


def targets(w):
    run = w.cart, w.state, w.actions
    one = w.cart, w.state, w.actions[:1]  # frame, for relaxed derivatives
    weights, slots = np.zeros((w.cart.height, 160), np.float32), 8 * w.cart.state_size
    weights[90:110, 70:90] = 1
    three, polar = np.array([0, 1, 2], np.int32), np.zeros((3, 3), np.float32)
    dram = np.eye(128, dtype=np.float32)[3]
    state, rom, inputs = w.bits
    ale = ALEInterface()
    pixels = np.zeros((1, FRAMES, w.cart.height, 160), np.float32)
    good_state = np.frombuffer(b"ALES" + bytes(40), np.uint8)
    wide = DiffVCSVectorEnv_("demo", 3, noop_max=0)
    wide.reset(seed=1)
    played = diffvcs.run(*one)
    rows = {
        "run: state": (w.state, lambda v: diffvcs.run(w.cart, v, [0]).state),
        "run: actions": (w.actions, lambda v: diffvcs.run(w.cart, w.state, v).state),
        "vjp: state": (w.state, lambda v: product(diffvcs.vjp(w.cart, v, [0], dram=dram))),
        "vjp: actions": (w.actions, lambda v: product(diffvcs.vjp(w.cart, w.state, v, dram=dram))),
        "vjp: dframes of the last frame": (weights, lambda v: product(diffvcs.vjp(*run, dframes=v, played=w.played))),
        "vjp: dframes": (pixels[0], lambda v: product(diffvcs.vjp(*run, dframes=v, played=w.played))),
        "vjp: dram": (dram, lambda v: product(diffvcs.vjp(*run, dram=v, played=w.played))),
        "vjp: dstate": (np.zeros(slots, np.float32), lambda v: product(diffvcs.vjp(*run, dstate=v, played=w.played))),
        "vjp: dreward": (np.ones(FRAMES), lambda v: product(diffvcs.vjp(*run, dreward=v, played=w.played))),
        "vjp: played": (w.actions, lambda v: diffvcs.vjp(*run, dram=dram, played=v) if v is not None else None),
        "vjp: values": (np.arange(256.0), lambda v: product(diffvcs.vjp(*run, dframes=weights, values=v))),
        "vjp relaxed: dram": (dram, lambda v: product(diffvcs.vjp(*one, dram=v, method="relaxed", played=played))),
        "jvp: dstate": (np.zeros(slots, np.float32), lambda v: product(diffvcs.jvp(*run, dstate=v, played=w.played))),
        "jvp: dram": (dram, lambda v: product(diffvcs.jvp(*run, dram=v, rewards=True, played=w.played))),
        "jvp: drom": (np.zeros((w.cart.rom.size, 8)), lambda v: product(diffvcs.jvp(*run, drom=v, played=w.played))),
        "jvp: dinput": (np.zeros((FRAMES, 12)), lambda v: product(diffvcs.jvp(*run, dinput=v, played=w.played))),
        "truth: places": (w.places, lambda v: diffvcs.truth(*run, v, played=w.played).rows.tobytes()),
        "truth: horizons": (np.array([1, 3]), lambda v: diffvcs.truth(*run, w.places, horizons=v, maps=False).rows.tobytes()),
        "smooth: places": (w.places, lambda v: diffvcs.smooth(*run, v, 0.5, Ram(3), samples=2).gradient.tobytes()),
        "smooth: probabilities": (
            np.full(16, 0.5), lambda v: diffvcs.smooth(*run, w.places, v, Ram(3), samples=2).gradient.tobytes()),
        "state_places": (three, lambda v: diffvcs.state_places(w.cart, "ram", v).tobytes()),
        "ram_places": (three, lambda v: diffvcs.ram_places(w.cart, v).tobytes()),
        "rom_places": (three, lambda v: diffvcs.rom_places(w.cart, v).tobytes()),
        "input_places: frames": (three, lambda v: diffvcs.input_places(v).tobytes() if not isinstance(v, int) else None),
        "input_places: inputs": (three, lambda v: diffvcs.input_places([0], v).tobytes()),
        "Machine.restore": (w.state, w.restored),
        "Machine.set": (w.machine.ram.copy(), w.set),
        "Machine.screen": (w.gray, lambda v: w.machine.screen(out=v).copy()),
        "Machine.rgb": (np.zeros((*w.gray.shape, 3), np.uint8), lambda v: w.machine.rgb(out=v).copy()),
        "Machine.gray": (w.gray, lambda v: w.machine.gray(out=v).copy()),
        "Cartridge": (w.cart.rom.copy(), lambda v: Cartridge(v).md5),
        "Relaxed.load": (w.played.start.copy(), w.loaded),
        "Relaxed.read": (np.arange(16, dtype=np.uint8), lambda v: w.relaxed.read(v, 3)),
        "Relaxed.values": (w.relaxed.values, w.values),
        "Relaxed.jvp": (np.zeros(w.relaxed.input_slots), lambda v: w.relaxed.jvp(3, v)),
        "Relaxed.vjp": (np.zeros(w.relaxed.state_slots), lambda v: w.relaxed.vjp(3, v)),
        "vector: step": (three, w.step),
        "vector: strengths": (np.ones(3, np.float32), lambda v: w.step(three, v)),
        "vector: reset ids": (three, lambda v: w.vector.reset(v, [1, 2, 3])[0].copy()),
        "vector: reset seeds": (three, lambda v: w.vector.reset(three, v)[0].copy()),
        "vector: clone ids": (three, lambda v: w.vector.clone_states(v).shape),
        "vector: restore states": (w.states, lambda v: w.vector.restore_states(v)[0].copy()),
        "vector: restore ids": (three, lambda v: w.vector.restore_states(w.states, v)[0].copy()),
        "vector: continuous": (polar, lambda v: w.vector.continuous(v, 0.5)),
        "vector: cart_ids": (three % 1, lambda v: ALEVectorInterface(["demo"], 3, cart_ids=v, num_threads=1).num_envs),
        "vector: mode": (three * 0, lambda v: ALEVectorInterface(["demo"], 3, mode=v, num_threads=1).num_envs),
        "vector: difficulty": (three * 0, lambda v: ALEVectorInterface(["demo"], 3, difficulty=v, num_threads=1).num_envs),
        "vector env: step": (three, lambda v: (wide.reset(seed=1), wide.step(v)[0].copy())[1]),
        "vector env: seed": (three, lambda v: wide.reset(seed=v)[0].shape),
        "vector env: reset_mask": (np.ones(3, bool), lambda v: wide.reset(seed=1, options={"reset_mask": v})[0].shape),
        "pool: actions": (np.array([0, 1]), w.sent),
        "pool: ids": (np.array([0, 1]), lambda v: w.sent([0, 1], v)),
        "pool: strengths": (np.ones(2), lambda v: w.sent([0, 1], strengths=v)),
        "device: step": (three, lambda v: w.step(v, envs=w.there)),
        "device: reset ids": (three, lambda v: np.asarray(w.there.reset(v, [1, 2, 3])[0])),
        "device: restore states": (w.there.clone_states().numpy(), lambda v: len(w.there.restore_states(v)[0])),
        "bits.forward: state": (state, lambda v: bits.forward(w.cart, v, rom, inputs)[1]),
        "bits.forward: rom": (rom, lambda v: bits.forward(w.cart, state, v, inputs)[1]),
        "bits.forward: inputs": (inputs, lambda v: bits.forward(w.cart, state, rom, v)[1]),
        "bits.jvp: tangents": (inputs, lambda v: bits.jvp(w.cart, state, rom, inputs, (None, None, v))[1]),
        "bits.vjp: adjoints": (pixels, lambda v: bits.vjp(w.cart, state, rom, inputs, (v, None))[0]),
        "ALEState": (
            good_state, lambda v: diffvcs.ALEState(v.tobytes() if v is good_state else v)),
        "ALEInterface._fill": (w.gray, lambda v: ale._fill(v, w.machine.gray())),
        "png": (w.gray, png.encode),
    }  # fmt: skip
    return rows


def DiffVCSVectorEnv_(*arguments, **options):
    return needs.module("diffvcs.vector", "gymnasium").DiffVCSVectorEnv(*arguments, **options)


@pytest.fixture(scope="module")
def world():
    return World()


@pytest.fixture(scope="module")
def rows(world):
    return targets(world)


NAMES = [
    "run: state", "run: actions", "vjp: state", "vjp: actions", "vjp: dframes of the last frame", "vjp: dframes", "vjp: dram",
    "vjp: dstate", "vjp: dreward", "vjp: played", "vjp: values", "vjp relaxed: dram", "jvp: dstate", "jvp: dram", "jvp: drom",
    "jvp: dinput", "truth: places", "truth: horizons", "smooth: places", "smooth: probabilities", "state_places",
    "ram_places", "rom_places", "input_places: frames", "input_places: inputs", "Machine.restore", "Machine.set",
    "Machine.screen", "Machine.rgb", "Machine.gray", "Cartridge", "Relaxed.load", "Relaxed.read", "Relaxed.values",
    "Relaxed.jvp", "Relaxed.vjp", "vector: step", "vector: strengths", "vector: reset ids", "vector: reset seeds",
    "vector: clone ids", "vector: restore states", "vector: restore ids", "vector: continuous", "vector: cart_ids",
    "vector: mode", "vector: difficulty", "vector env: step", "vector env: seed", "vector env: reset_mask", "pool: actions",
    "pool: ids", "pool: strengths", "device: step", "device: reset ids", "device: restore states", "bits.forward: state",
    "bits.forward: rom", "bits.forward: inputs", "bits.jvp: tangents", "bits.vjp: adjoints", "ALEState",
    "ALEInterface._fill", "png",
]  # fmt: skip


def equal(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_odd_arrays_are_refused_or_taken_rightly(rows, name, capsys):
    good, call = rows[name]
    carried = name not in ("vjp: played", "Relaxed.jvp", "Relaxed.vjp")  # these have no result of their own
    expected = call(good) if carried else None
    refused = 0
    for what, make in odd_arguments(name).items():
        try:
            value = make(good)
        except (TypeError, ValueError, OverflowError):
            continue  # there is no such form of this array
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = call(value)
        except REFUSALS as refusal:
            assert str(refusal), f"{name}, {what}: refused without a word"
            refused += 1
            continue
        except Exception as problem:
            raise AssertionError(f"{name}, {what}: {type(problem).__name__}: {problem}") from problem
        if what in SAME and carried:
            assert equal(found, expected), f"{name}, {what}: another result"
    assert refused > 20
    if carried:
        assert equal(call(good), expected), f"{name} gives another result than before"


def test_every_row_is_tested(rows):
    assert list(rows) == NAMES and len(SAME) + len(OTHER) + len(CROSSED) >= 400


# ---- numbers ---------------------------------------------------------------------------------------------------------

MOST = 2**31 - 1
ODD_NUMBERS = (
    -1, 2**31, MOST, -(2**31) - 1, 2**32 + 1, 2**63, 2**64, 10**30, float("nan"), float("inf"), 1.5, "x", None, [], b"1",
    np.int64(2**40), np.float32("nan"), np.array([1, 2]), object(),
)  # fmt: skip


@pytest.mark.parametrize(
    "option",
    ["frame_skip", "seed", "max_episode_frames", "noop_max", "reward_min", "mode", "difficulty", "life_loss", "fire_reset",
     "colour_averaging", "repeat_action_probability"],
)  # fmt: skip
def test_odd_options_of_a_machine_are_refused(option):
    for value in ODD_NUMBERS:
        try:
            found = Machine("demo", **{option: value}).options[option]
        except REFUSALS as refusal:
            assert option in str(refusal) or "no " + option in str(refusal)
        else:
            assert found == value, "a number became another one"


@pytest.mark.parametrize(
    "option", ["num_envs", "batch_size", "num_threads", "img_width", "img_height", "stack_num", "frame_skip", "noop_max",
               "max_episode_steps", "repeat_action_probability"],
)  # fmt: skip
def test_odd_options_of_a_batch_are_refused(option):
    for value in ODD_NUMBERS:
        if option == "max_episode_steps" and value is MOST:
            continue  # which it may be
        with pytest.raises(REFUSALS):
            ALEVectorInterface("demo", **{"num_envs": 2, option: value})


def test_odd_numbers_elsewhere_are_refused(world):
    w = world
    run = w.cart, w.state, w.actions
    calls = [
        lambda v: w.machine.act(v), lambda v: w.machine.act_on(v), lambda v: w.machine.act(0, v),
        lambda v: w.machine.set_ram(v, 0), lambda v: w.machine.set_ram(0, v), lambda v: w.relaxed.hold(v),
        lambda v: w.relaxed.read([1, 2], v), lambda v: w.relaxed.jvp(v, np.zeros(w.relaxed.input_slots)),
        lambda v: diffvcs.vjp(*run, dram=np.ones(128), fork_window=v),
        lambda v: diffvcs.smooth(*run, w.places, 0.5, Ram(v)), lambda v: diffvcs.smooth(*run, w.places, 0.5, Ram(3), samples=v),
        lambda v: diffvcs.smooth(*run, w.places, 0.5, Pixels(v, 0)), lambda v: diffvcs.smooth(*run, w.places, 0.5, Pixels(0, 0, v, v)),
    ]  # fmt: skip
    strength, steps, window = 2, 7, 8
    fine = {(strength, str(v)) for v in ODD_NUMBERS if isinstance(v, (int, float)) and abs(v) < 1e38}  # any is clamped
    fine |= {(strength, str(np.int64(2**40))), (steps, str(MOST)), (window, "None")}  # long, and the default
    for number, call in enumerate(calls):
        for value in ODD_NUMBERS:
            if (number, str(value)) in fine:
                continue
            try:
                call(value)
            except REFUSALS as refusal:
                assert str(refusal)
            else:
                raise AssertionError(f"call {number} took {value!r}")
    w.machine.restore(w.state)


def test_numbers_that_would_overflow_are_refused(world):
    drawing, ends = np.zeros((8, 16, 3), np.uint8), (-1, -(2**31), -(2**63), 2**63 - 1)
    for value in (MOST, *ends):
        for x, y in ((value, 0), (0, value), (value, value)):
            with pytest.raises(diffvcs.BadArgument):
                diffvcs.edit(world.played, drawing, x, y, steps=1)
    for value in ends:
        with pytest.raises(diffvcs.BadArgument, match="the first frame is"):
            diffvcs.history(world.played, first=value)
        with pytest.raises(diffvcs.BadArgument, match="the first frame is"):
            diffvcs.Debugger(world.played, frame=value)
    with pytest.raises(diffvcs.BadArgument, match="press 4294967297: the run has"):
        diffvcs.joystick(diffvcs.run(world.cart, world.state, [0]), (0, 100), press=2**32 + 1)
    for room in (MOST, 1, 0, -1):
        with pytest.raises(diffvcs.BadArgument, match="room for 2 to"):
            diffvcs.history(world.played, room=room)
    first = 2**62 - 1
    assert diffvcs.history(world.played, first=first).frames == range(first, first + FRAMES)


def test_more_environments_than_memory_are_refused_with_their_bytes():
    for count in (10**9, 2**31 - 1, 1 << 24):
        with pytest.raises(diffvcs.VCSError, match=rf"{count} environments need \d+ bytes"):
            ALEVectorInterface("demo", count)


def test_a_fork_window_of_any_size_ends(world):
    with pytest.raises(diffvcs.BadArgument, match="fork_window is 2147483647, but goes from 0 to 25000"):
        diffvcs.vjp(world.cart, world.state, [0], dram=np.ones(128), fork_window=MOST)


def test_threads_that_cannot_be_are_refused(world):
    run, played, places = (world.cart, world.state, world.actions), world.played, world.places
    for threads in (-1, -5, -(2**31), 4097, MOST):
        for call in (
            lambda t: diffvcs.vjp(*run, dram=np.ones(128), threads=t), lambda t: diffvcs.jvp(*run, dram=np.ones(128), threads=t),
            lambda t: diffvcs.vjp(*run, dram=np.ones(128), method="hybrid", threads=t),
            lambda t: diffvcs.truth(*run, places, threads=t), lambda t: diffvcs.truth(*run, places[:0], threads=t),
            lambda t: diffvcs.truth_sets(played, [places], threads=t), lambda t: diffvcs.jacobian(*run, threads=t),
            lambda t: diffvcs.truth_pairs(played, places, np.array([[0, 1]], np.uint32), threads=t),
            lambda t: diffvcs.smooth(*run, places, 0.5, Ram(3), samples=2, threads=t),
            lambda t: diffvcs.score(played, places, methods=["bit"], threads=t),
            lambda t: diffvcs.study.score_game("demo", threads=t), lambda t: diffvcs.study.annotate("demo", threads=t),
            lambda t: diffvcs.steer(played, "ram:80=200", threads=t),
            lambda t: ALEVectorInterface("demo", 2, num_threads=t),
        ):  # fmt: skip
            with pytest.raises(diffvcs.BadArgument, match=f"threads is {threads}, but goes from 0 to 4096"):
                call(threads)


def test_horizons_are_a_list_of_frames(world):
    run, places = (world.cart, world.state, world.actions), world.places
    for horizons in (2, 1.5, b"12", "12", [[1, 2]], np.array(2), [1.5], [np.nan], [2**32 + 1], object(), {"a": 1}):
        for call in (
            lambda h: diffvcs.truth(*run, places, horizons=h, maps=False), lambda h: diffvcs.jacobian(*run, horizons=h),
            lambda h: diffvcs.score(world.played, places, methods=["bit"], horizons=h),
            lambda h: diffvcs.study.score_game("demo", horizons=h),
        ):  # fmt: skip
            with pytest.raises((TypeError, ValueError), match="horizons"):
                call(horizons)
    for wrt in (5, None, 1.5, b"ram", [], ["ram", 5], [[]], np.zeros(3), object()):
        with pytest.raises((TypeError, ValueError), match="wrt"):
            diffvcs.jacobian(*run, wrt=wrt)
    for of in (5, None, 1.5, b"ram", [], ["ram", 5], "ram,screen", object()):
        with pytest.raises((TypeError, ValueError), match="of is"):
            diffvcs.jacobian(*run, of=of)


def test_an_intervention_that_is_refused_changes_nothing():
    machine = Machine("demo")
    for _ in range(60):
        machine.act_on(0)
    state = machine.hash()
    for value in (np.nan, np.inf, 80.5, "80", [80], -1, 256, 2**32 + 80, 2**64, np.array([1, 2]), object()):
        for meaning in ("player 0 x", "score"):
            with pytest.raises((TypeError, ValueError), match=f"{meaning}|a byte"):
                machine.intervene(meaning, value)
    for frames in (0, -1, 1.5, np.nan, "3", None, [], 2**31):
        with pytest.raises((TypeError, ValueError), match="frames"):
            machine.intervene("player 0 x", 80, frames=frames)
    for meaning in (None, 5, b"score", [], ["score"], np.array("score"), "nothing"):
        with pytest.raises(KeyError, match="there are"):
            machine.intervene(meaning, 80)
    assert machine.hash() == state and machine.intervene("player 0 x", np.int64(80))


def test_no_thread_steps_during_an_intervention(monkeypatch):
    """It runs a few frames and takes them back: a step in between would be taken back, too."""
    machine, others = Machine("demo"), []
    for _ in range(60):
        machine.act_on(0)
    act_on = machine.act_on

    def act_beside_another(action):
        others.append(threading.Thread(target=act_on, args=(0,)))
        others[-1].start()
        others[-1].join(0.2)
        assert others[-1].is_alive()  # it waits for its turn
        return act_on(action)

    monkeypatch.setattr(machine, "act_on", act_beside_another)
    machine.intervene("score", 7)
    for other in others:
        other.join()
    assert len(others) == 1 and machine.frame_number == 61


def test_draws_by_the_billion_are_refused(world):
    with pytest.raises(diffvcs.BadArgument):
        world.machine.set(rng_draws=2**32 - 16)
    assert world.restored(world.state) == world.machine.hash()


def test_a_path_that_is_no_utf_8_is_named_in_the_message(world, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe/state"
    for call in (world.machine.save_file, world.machine.load_file):
        with pytest.raises(diffvcs.VCSError, match="No such file"):
            call(os.fsdecode(path))
        with pytest.raises(diffvcs.VCSError, match="No such file"):
            call(path)
    with pytest.raises(ValueError, match="zero byte"):
        world.machine.load_file("a\0b")


# ---- wrong cartridges and runs ---------------------------------------------------------------------------------------


def other_cartridge():
    image = bytearray(Cartridge("demo").rom.tobytes())
    image[0x700] ^= 1
    return Cartridge(bytes(image), name="other")


def test_states_and_runs_of_another_cartridge_are_refused(world):
    w, other = world, Machine(other_cartridge())
    state, played = other.save(), diffvcs.run(other.cart, other.save(), w.actions)
    for call in (
        lambda: w.machine.restore(state),
        lambda: diffvcs.run(w.cart, state, [0]),
        lambda: diffvcs.vjp(w.cart, w.state, w.actions, dram=np.ones(128), played=played),
        lambda: diffvcs.jvp(w.cart, w.state, w.actions, dram=np.ones(128), played=played),
        lambda: diffvcs.truth(w.cart, w.state, w.actions, w.places, played=played),
        lambda: diffvcs.smooth(w.cart, w.state, w.actions, w.places, 0.5, Score(), played=played),
        lambda: diffvcs.vjp(w.cart, w.state, [0], dram=np.ones(128), played=w.played),
        lambda: diffvcs.vjp(w.cart, other.save(), w.actions, dram=np.ones(128), played=w.played),
        lambda: w.relaxed.load(other),
    ):
        with pytest.raises(ValueError):
            call()


def test_a_run_that_was_changed_by_hand_is_refused(world):
    played = diffvcs.run(world.cart, world.state, world.actions)
    for array in (played.start, played.picture, played.controls):
        with pytest.raises(ValueError):
            array[:] = 0
    played.start = np.full(played.start.shape, 255, np.uint8)
    with pytest.raises(ValueError, match="no machine can have"):
        diffvcs.vjp(world.cart, world.state, world.actions, dram=np.ones(128), played=played)
    played.start, played.controls = world.played.start, np.zeros(1, played.controls.dtype)
    with pytest.raises(ValueError):
        diffvcs.vjp(
            world.cart, world.state, world.actions, dframes=np.ones((FRAMES, world.cart.height, 160)), played=played
        )


def test_a_run_without_frames_is_refused(world):
    played, places = diffvcs.run(world.cart, world.state, world.actions), world.places
    played.controls = played.controls[:0]
    for call in (
        lambda r: diffvcs.explain(r, "ram:80"), lambda r: diffvcs.explain(r, "pixel:80,100"), lambda r: diffvcs.explain(r, object="P0"),
        lambda r: diffvcs.effect(r, "80.0"), lambda r: diffvcs.attribute(r, "screen"), lambda r: diffvcs.slice(r, [0]),
        diffvcs.rom_uses, diffvcs.object_boxes, lambda r: diffvcs.frame_without(r, "P0"), diffvcs.history,
        lambda r: diffvcs.score(r, places, methods=["bit"]), lambda r: diffvcs.truth_sets(r, [places]),
        lambda r: diffvcs.jacobian(world.cart, world.state, world.actions, played=r),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="at least one frame"):
            call(played)
    with pytest.raises(TypeError, match="a direction is Derivatives"):
        diffvcs.vjp_directional(world.played, world.played, dram=np.ones(128))


@pytest.mark.roms
def test_games_of_other_sizes_do_not_meet(world):
    big = Machine("pitfall2")
    played = diffvcs.run(world.cart, world.state, [0])
    with pytest.raises(ValueError, match="another|not of"):
        diffvcs.vjp(big.cart, big.save(), [0], dram=np.ones(128), played=played)
    with pytest.raises(diffvcs.BadArgument):
        big.restore(world.state)


# ---- after the end ---------------------------------------------------------------------------------------------------


def test_everything_after_close_is_refused():
    machine = Machine("demo")
    ram, state, saved = machine.ram, machine.state, machine.save()
    machine.close()
    for call in (
        machine.reset, machine.save, machine.screen, machine.rgb, machine.gray, lambda: machine.act(0),
        lambda: machine.act_on(0), lambda: machine.restore(saved), lambda: machine.reload(1), lambda: machine.lives,
        lambda: machine.configure(mode=0), lambda: machine.set(a=1), lambda: machine.sound, lambda: machine.minimal_actions,
        machine.hash, lambda: machine.peek(0x80), lambda: machine.disassemble(0xF000), lambda: machine.bits, machine.objects,
    ):  # fmt: skip
        with pytest.raises(diffvcs.VCSError, match="closed"):
            call()
    machine.close()
    assert ram.sum() >= 0 and int(state["pc"]) >= 0  # arrays keep the memory that they look into


def test_vector_environments_after_close_are_refused():
    vector = ALEVectorInterface("demo", 2, num_threads=2)
    observations, info = vector.reset([0, 1], [0, 1])
    states = vector.clone_states()
    vector.close()
    for call in (
        lambda: vector.step([0, 0]), lambda: vector.reset([0, 1], [0, 1]), lambda: vector.send([0, 0]), vector.recv,
        vector.clone_states, lambda: vector.restore_states(states), vector.get_action_set, vector.wait,
        lambda: vector.send_reset([0, 1], [0, 1]), lambda: vector.set_stream(0),
    ):  # fmt: skip
        with pytest.raises(diffvcs.VCSError, match="closed"):
            call()
    vector.close()
    assert observations.shape == (2, 4, 84, 84)


@pytest.mark.roms
def test_gymnasium_environments_after_close_are_refused():
    gymnasium = needs.module("gymnasium")
    env = gymnasium.make("DiffVCS/Pong-v5").unwrapped
    env.reset(seed=0)
    env.close()
    envs = DiffVCSVectorEnv_("pong", 2)
    envs.reset(seed=0)
    envs.close()
    for call in (lambda: env.step(0), env.reset, env.clone_state, lambda: envs.step([0, 0]), envs.reset):
        with pytest.raises(diffvcs.VCSError, match="closed"):
            call()
    env.close()
    envs.close()


# ---- threads and forks -----------------------------------------------------------------------------------------------


def in_threads(count, function):
    problems = []

    def go():
        try:
            function()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=go) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems


def test_threads_take_turns_on_a_machine():
    def played(threads):
        machine = Machine("demo")
        in_threads(threads, lambda: [machine.act_on(0) for _ in range(1000 // threads)])
        return machine.frame_number, machine.hash()

    assert played(4) == played(1)


@pytest.mark.parametrize("batch_size", [0, 3])
def test_threads_take_turns_on_a_vector_environment(batch_size):
    def played(threads):
        envs = ALEVectorInterface("demo", 6, num_threads=2, batch_size=batch_size, noop_max=0)
        envs.reset(range(6), range(6))
        in_threads(threads, lambda: [envs.step([0] * envs.batch_size) for _ in range(200 // threads)])
        return envs.step([0] * envs.batch_size)[4]["frame_number"].sum() if not batch_size else None

    assert played(4) == played(1)


def test_functions_are_pure_in_threads(world):
    expected = product(diffvcs.vjp(world.cart, world.state, world.actions, dram=np.ones(128), dreward=1))

    def go():
        for _ in range(5):
            found = product(diffvcs.vjp(world.cart, world.state, world.actions, dram=np.ones(128), dreward=1))
            assert equal(found, expected)

    in_threads(4, go)


def test_closing_waits_for_another_thread():
    envs = ALEVectorInterface("demo", 4, num_threads=2, noop_max=0)
    envs.reset(range(4), range(4))

    def go():
        with contextlib.suppress(diffvcs.VCSError):
            while True:
                envs.step([0] * 4)

    thread = threading.Thread(target=go)
    thread.start()
    envs.step([0] * 4)
    envs.close()
    thread.join(20)
    assert not thread.is_alive()


FORKS = """
import os, sys, threading, time
import numpy as np
import diffvcs
from diffvcs.batch import ALEVectorInterface

machine, alone = diffvcs.Machine("demo"), ALEVectorInterface("demo", 4, num_threads=1)
envs = ALEVectorInterface("demo", 8, num_threads=3, frame_skip=50)
sent = ALEVectorInterface("demo", 8, num_threads=3, batch_size=4, frame_skip=50)
for e in (alone, envs, sent):
    e.reset(range(e.num_envs), range(e.num_envs))
sent.send([0] * 4)
busy = threading.Thread(target=lambda: [envs.step([0] * 8) for _ in range(40)])
busy.start()
time.sleep(0.02)
child = os.fork()
if child == 0:
    raised = []
    for e in (envs, sent):
        for call in (lambda: e.step([0] * e.batch_size), lambda: e.reset(range(8), range(8)), e.clone_states, e.recv):
            try:
                call()
            except diffvcs.VCSError as problem:
                raised.append("fork" in str(problem))
    alone.step([0] * 4)
    machine.act_on(0)
    new = ALEVectorInterface("demo", 4, num_threads=2)
    new.reset(range(4), range(4))
    new.step([0] * 4)
    del envs, sent, new, e
    os._exit(0 if raised == [True] * 8 else 1)
busy.join()
envs.step([0] * 8)
deadline = time.time() + 60
while time.time() < deadline:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.02)
os.kill(child, 9)
sys.exit("the child hangs")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_child_process_is_told_and_ends():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


INTERRUPTED = """
import signal, sys
import numpy as np
import diffvcs
from diffvcs import study
signal.signal(signal.SIGINT, signal.default_int_handler)
machine = diffvcs.Machine("demo")
state = machine.save()
played = diffvcs.run(machine.cart, state, [0] * 400)
before = diffvcs.vjp(machine.cart, state, [0] * 20, dram=np.ones(128)).drom
print("ready", flush=True)
try:
    CALL
except KeyboardInterrupt:
    after = diffvcs.vjp(machine.cart, state, [0] * 20, dram=np.ones(128)).drom
    machine.act_on(0)
    print("interrupted", np.array_equal(before, after), machine.frame_number)
"""
LONG_CALLS = {  # each would take minutes
    "truth": "diffvcs.truth(machine.cart, state, [0] * 400, study.places(played, 'ram,rom'), maps=False, threads=1, played=played)",
    "smooth": "diffvcs.smooth(machine.cart, state, [0] * 4000, study.places(played, 'ram,rom'), 0.5, diffvcs.Ram(3), samples=2, threads=1)",
    "score": "diffvcs.score(played, study.places(played, 'ram,rom'), methods=['exact', 'bit'], horizons=[400])",
    "score_game": "study.score_game('demo', pixels=4096)",
    "annotate": "study.annotate('demo', seeds=60, depths=16)",
    "vjp": "diffvcs.vjp(machine.cart, state, [0] * 400, dram=np.ones(128), method='hybrid', budget=1e9, played=played)",
    "relaxed": "diffvcs.vjp(machine.cart, state, [0] * 400, dram=np.ones(128), method='relaxed', played=played)",
    "Relaxed.jvp": "r = diffvcs.Relaxed('demo'); r.load(machine); r.jvp(10**7, np.ones(r.input_slots))",
    "explain": "diffvcs.explain(played, 'pixel:80,100', span=400)",
    "steer": "study.steer(played, 'ram:83=60', seeds=1000, budget=10**9)",
    "record": "study.record('demo', frames=10**9)",
}


@pytest.mark.skipif(os.name == "nt", reason="a test cannot press Ctrl-C there")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_ends_a_long_call_and_leaves_things_usable(name):
    script = INTERRUPTED.replace("CALL", LONG_CALLS[name])
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        assert process.poll() is None, "the call is not long"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)  # on a busy machine; the calls themselves take much longer
    finally:
        process.kill()
    assert out.split()[:2] == ["interrupted", "True"], err


HANDLER = """
import signal, threading
import numpy as np
import diffvcs
machine = diffvcs.Machine("demo")
for _ in range(60):
    machine.act_on(0)
relaxed, refused, others, sizes = diffvcs.Relaxed("demo"), [], [], []
direction = np.zeros(relaxed.input_slots)
direction[relaxed.slots["ram"]] = 1

def handler(*_):
    for call in (relaxed.step, lambda: relaxed.load(machine), relaxed.handle.close, lambda: relaxed.values):
        try:
            call()
        except diffvcs.VCSError as problem:
            refused.append("signal handler" in str(problem))
    if len(refused) == 4:  # another thread takes its turn afterwards
        others.append(threading.Thread(target=lambda: sizes.append(relaxed.values.size)))
        others[0].start()
    else:
        raise TimeoutError  # which ends the call

signal.signal(signal.SIGALRM, handler)
relaxed.load(machine)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
try:
    relaxed.jvp(10**7, direction)  # minutes
except TimeoutError:
    signal.setitimer(signal.ITIMER_REAL, 0)
    others[0].join()
    relaxed.load(machine)
    print(refused, sizes == [relaxed.input_slots], np.isfinite(relaxed.jvp(10, direction)).all())
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no SIGALRM on this system")
def test_a_signal_handler_cannot_use_what_the_call_it_interrupts_uses():
    done = subprocess.run([sys.executable, "-c", HANDLER], capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{[True] * 8} True True\n", done.stdout + done.stderr


def test_files_that_are_no_images_are_refused_at_once(tmp_path):
    with open(tmp_path / "huge.bin", "wb") as file:
        file.truncate(512 << 20)
    (tmp_path / "folder.bin").mkdir()
    (tmp_path / "one.bin").write_bytes(b"x")
    (tmp_path / "empty.bin").touch()
    for name, kind, words in (
        ("huge", diffvcs.VCSError, "longer than the 4194304 bytes"), ("folder", IsADirectoryError, "is a directory"),
        ("one", diffvcs.VCSError, "an image of 1 bytes"), ("empty", diffvcs.VCSError, "is empty"),
        ("nothing", FileNotFoundError, "no ROM image"),
    ):  # fmt: skip
        begin = time.process_time()
        with pytest.raises(kind, match=words):
            Machine(tmp_path / f"{name}.bin")
        assert time.process_time() - begin < 1
    with pytest.raises(diffvcs.VCSError, match="longer than"):
        Cartridge(np.zeros(64 << 20, np.uint8))


def test_no_shallow_copy_moves_the_machine_of_another(world):
    for thing in (Relaxed(world.cart), diffvcs.Debugger(world.played)):
        for way in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be copied"):
                way(thing)


def test_the_number_of_states_has_a_limit():
    for options in ({"states": 2**31}, {"states": 0}, {"frame": 2**62}, {"seed": 2**63 - 1}, {"pixels": 2**31 - 1}):
        with pytest.raises(diffvcs.BadArgument, match=f"{next(iter(options))} is .* but goes from"):
            diffvcs.study.score_game("demo", **options)
    for call in (
        lambda: diffvcs.study.annotate("demo", seeds=0), lambda: diffvcs.study.annotate("demo", depths=0),
        lambda: diffvcs.study.record("demo", frames=-1),
    ):  # fmt: skip
        with pytest.raises(diffvcs.BadArgument, match="goes from"):
            call()
    with pytest.raises(TypeError, match="a task is a dictionary"):
        diffvcs.sweep(diffvcs.sweep.ram_after, [1], out="nowhere")


def test_a_step_that_is_begun_keeps_its_arrays():
    envs = ALEVectorInterface("demo", 4, num_threads=2, noop_max=0, frame_skip=50)
    twin = ALEVectorInterface("demo", 4, num_threads=2, noop_max=0, frame_skip=50)
    for batch in (envs, twin):
        batch.reset(range(4), range(4))
    with pytest.raises(diffvcs.BadArgument, match="no step was begun"):
        envs.end_step()
    with pytest.raises(diffvcs.BadArgument, match="actions 0 to"):
        envs.begin_step([99] * 4)
    held = [(envs.step([0] * 4), twin.step([0] * 4)) for _ in range(10)]  # more than are kept to be used again
    envs.begin_step([0] * 4)
    begun = {id(array) for array in envs._begun[0].values()}
    for _ in range(3):  # threads write into the arrays of the first one
        for wrong in ([0] * 4, [99] * 4, [0]):
            with pytest.raises(ValueError):
                envs.begin_step(wrong)
    found, expected = envs.end_step(), twin.step([0] * 4)
    assert {id(array) for array in found[:4]} <= begun and equal(found[:4], expected[:4])
    assert all(equal(one[:4], two[:4]) for one, two in held)
    with pytest.raises(diffvcs.BadArgument, match="no step was begun"):
        envs.end_step()
    envs.begin_step([0] * 4)
    envs.close()  # waits for the threads
    with pytest.raises(diffvcs.VCSError, match="closed"):
        envs.end_step()


def test_objects_of_no_environment_or_of_one_under_way_are_refused():
    envs = DiffVCSVectorEnv_("demo", 3, batch_size=2, num_threads=1, noop_max=0)
    envs.reset(seed=1)
    ready = DiffVCSVectorEnv_("demo", 3, num_threads=1, noop_max=0, objects=True)
    assert [len(one) for one in ready.reset(seed=1)[1]["objects"]] == [len(ready.objects(i)) for i in range(3)]
    for number in (-1, 3, MOST):
        with pytest.raises(IndexError, match="0 to 2"):
            ready.objects(number)
    ready.send(np.zeros(3, int))
    with pytest.raises(RuntimeError, match="receive its results"):
        ready.objects(0)
    ready.recv()
    assert len(ready.objects(0))
    there = DiffVCSVectorEnv_("demo", 2, noop_max=0, objects=True, device="cpu-as-gpu")
    with pytest.raises(ValueError, match="in info"):
        there.objects(0)


def test_fields_never_take_another_number(world):
    w = world
    for fields in (
        {"ram": np.full(128, 300)}, {"ram": np.full(128, -1)}, {"ram": np.full(128, 1.5)}, {"ram": np.full(128, np.nan)},
        {"ram": np.full(128, 2**32 + 1)}, {"pc": np.int64(70000)}, {"pc": np.array(70000)}, {"a": np.int64(-1)}, {"a": 1.5},
    ):  # fmt: skip
        with pytest.raises(diffvcs.BadArgument, match="cannot hold"):
            w.machine.set(**fields)
        assert w.machine.hash() == w.restored(w.state)
    with pytest.raises(KeyError, match="no field 'nonsense'"):  # what was set before is as it was
        w.machine.set("score", 255 - w.machine.ram[w.machine.meanings.find("score")[0]], nonsense=1)
    assert w.machine.hash() == w.restored(w.state)


# ---- the binding itself ----------------------------------------------------------------------------------------------


def test_no_module_can_pass_an_address(world):
    """What used to be: an integer, or something that is not held, where C expects a pointer."""
    from diffvcs import _c

    lib, handle = _c.lib, world.machine.handle
    address = world.gray.ctypes.data
    with pytest.raises(TypeError, match="NumPy array"):
        lib.vcs_env_screen_gray(handle, address)
    with pytest.raises(TypeError, match="Env"):
        lib.vcs_env_screen_gray(handle.pointer, world.gray)
    with pytest.raises(TypeError, match="Env"):
        lib.vcs_env_screen_gray(handle.pointer.value, world.gray)
    with pytest.raises(TypeError, match="Env"):
        lib.vcs_env_reset(world.cart.handle)
    with pytest.raises(TypeError):
        _c.Run(cart=world.cart.handle, start=address)
    with pytest.raises(AttributeError):
        _c.Run(_start=address)
    with pytest.raises(TypeError):
        _c.BatchResults(observations=address)
    assert not hasattr(_c, "address") and not hasattr(_c, "room")


def test_a_struct_holds_what_it_points_to(world):
    from diffvcs import _c

    played = diffvcs.run(world.cart, world.state, [0] * 60)
    expected = diffvcs.vjp(world.cart, world.state, [0] * 60, dram=np.ones(128), played=played).drom
    c_run = _c.Run(
        cart=world.cart.handle, start=played.start.copy(), picture=played.picture.copy(), controls=played.controls.copy(),
        frames=60,
    )  # fmt: skip
    np.full(10**6, 255, np.uint8)  # would take the memory of the copies
    results = np.zeros((world.cart.rom.size, 8), np.float32)
    options = diffvcs.functional.grad_options(world.cart)
    outputs = _c.GradOutputs(state=diffvcs.functional._state_slots(world.cart, None, np.ones(128), "dram"))
    _c.lib.vcs_grad_vjp(c_run, options, _c.GradInputs(rom=results), outputs, _c.GradReport())
    assert np.array_equal(results, expected)


@pytest.mark.parametrize("kept", [True, False])
def test_results_that_are_used_again_stay_where_they_are(kept):
    """numpy.resize with refcheck=False moves an array's memory, whoever else has its address."""
    envs, twin = (ALEVectorInterface("demo", 2, num_threads=1, noop_max=0, copy=kept) for _ in range(2))
    expected = [twin.reset([0, 1], [1, 2])[0].copy(), *(twin.step([0, 1])[0].copy() for _ in range(20))]
    found = [envs.reset([0, 1], [1, 2])[0]]
    for step in range(20):
        with pytest.raises(ValueError, match="cannot resize"):
            found[-1].resize(10**8, refcheck=False)
        assert np.array_equal(found.pop(), expected[step])
        found.append(envs.step([0, 1])[0])
    assert np.array_equal(found[0], expected[20])


def test_numbers_are_converted_before_arrays_are_looked_at(world):
    """Converting a number may run the caller's Python, which may move the array beside it."""
    from diffvcs import _c

    cells = np.full(1000, 7, np.uint8)

    class Mover:
        def __index__(self):
            cells.resize(10**7, refcheck=False)
            return 999

    with pytest.raises(diffvcs.BadArgument, match="cells has 10000000 elements"):
        _c.lib.vcs_relax_read(world.relaxed.handle, cells, 1000, Mover())


def test_lengths_may_be_integers_of_numpy_1(world):
    """There np.uint64(3) * 1 is a float."""
    from diffvcs import _bind

    class OfNumPy1(int):
        def __mul__(self, other):
            return float(int(self) * other)

    rom = world.cart.rom
    assert np.array_equal(_bind.view(rom.ctypes.data, OfNumPy1(3), rom.dtype, False, rom), rom[:3])


def test_lengths_are_those_of_the_call(world):
    from diffvcs import _c

    c_run = world.played._c_run()
    options = diffvcs.functional.grad_options(world.cart)
    for inputs, outputs in (
        (_c.GradInputs(state=np.zeros(8, np.float32)), _c.GradOutputs()),
        (_c.GradInputs(rom=np.zeros(world.cart.rom.size, np.float32)), _c.GradOutputs()),
        (_c.GradInputs(), _c.GradOutputs(pixels=np.zeros((FRAMES - 1, world.cart.height, 160), np.float32))),
        (_c.GradInputs(), _c.GradOutputs(rewards=np.zeros(1, np.float32))),
    ):
        with pytest.raises(diffvcs.BadArgument, match="elements"):
            _c.lib.vcs_grad_jvp(c_run, options, inputs, outputs, _c.GradReport())
    with pytest.raises(TypeError, match="writable"):
        _c.GradInputs(state=read_only(np.zeros(8, np.float32)))
    for array in (np.zeros(0, np.uint8), np.zeros(3, np.uint8), world.gray[:-1]):
        with pytest.raises(diffvcs.BadArgument, match="elements"):
            _c.lib.vcs_env_screen_gray(world.machine.handle, array)


# ---- what changes while it is used ------------------------------------------------------------------------------------


def test_values_are_converted_before_a_field_changes(world):
    """Converting one may run the caller's Python, which may run the machine: not with the fields half written."""
    machine = Machine(world.cart)
    machine.restore(world.state)
    before, seen = machine.state["bank"].copy(), []

    class Runs:
        def __array__(self, dtype=None, copy=None):
            seen.append(machine.state["bank"].copy())
            machine.act_on(0)
            return np.array(3)

    with pytest.raises(diffvcs.BadArgument, match="no machine can have"):
        machine.set(bank=np.full(4, 2**24), a=Runs())
    assert np.array_equal(seen, [before]) and np.array_equal(machine.state["bank"], before)
    machine.set(x=5, a=Runs())
    assert machine.state["a"] == 3 and machine.state["x"] == 5 and machine.frame_number == 62


def test_what_was_checked_is_what_runs(world):
    """A callback, as another thread, may change the arrays of a call that is under way."""
    w, run = world, (world.cart, world.state, world.actions)
    played = diffvcs.run(*run)
    places = np.concatenate([w.places] * 40)  # more than are flipped between two callbacks
    horizons = np.array([3], np.int32)
    expected = diffvcs.truth(*run, places, horizons=[3], maps=False, played=played).rows

    def spoil(done, total):
        played.start.flags.writeable = True
        played.start[:], places["index"], places["kind"], horizons[:] = 255, 2**32 - 1, 0, 2**31 - 1

    found = diffvcs.truth(*run, places, horizons=horizons, maps=False, played=played, progress=spoil)
    assert np.array_equal(found.rows, expected)

    class Changes(diffvcs.Run):
        start = property(lambda self: starts.pop(), lambda self, value: None)

    starts = [np.full(w.played.start.shape, 255, np.uint8), w.played.start]  # the second one is never looked at
    changing = Changes(**{**vars(w.played), "start": None})
    assert diffvcs.rom_uses(changing).tobytes() == diffvcs.rom_uses(w.played).tobytes() and len(starts) == 1


def test_a_state_is_copied_before_it_is_checked(world):
    machine, state, threads = Machine(world.cart), world.state.copy(), []
    at = machine.cart.offset("bank")
    base = world.state.tobytes().find(diffvcs.run(world.cart, world.state, [0]).start.tobytes()) + at
    ends = threading.Event()

    def spoil():
        while not ends.is_set():
            state[base : base + 16] = 255
            state[base : base + 16] = world.state[base : base + 16]

    threads.append(threading.Thread(target=spoil))
    threads[0].start()
    try:
        for _ in range(3000):
            with contextlib.suppress(diffvcs.BadArgument):
                machine.restore(state)
            assert (machine.state["bank"] < world.cart.rom.size).all()
    finally:
        ends.set()
        threads[0].join()


def test_one_thread_at_a_time_follows_objects(world, monkeypatch):
    machine, alone = Machine(world.cart), []
    machine.objects()
    track, lock = machine._list_objects, machine.handle.lock

    def watched(*arguments):
        other = threading.Thread(target=lambda: alone.append(not lock.acquire(blocking=False)))
        other.start()
        other.join()
        track(*arguments)

    monkeypatch.setattr(machine, "_list_objects", watched)
    machine.objects(track=True)
    assert alone == [True]


# ---- values that would become others ----------------------------------------------------------------------------------


def test_an_address_has_16_bits(world):
    debugger = diffvcs.Debugger(world.played)
    for address in (-1, 1 << 16, 2**32 + 0x80, 2**64, 1.5, "F000", None, [1]):
        calls = [lambda a: world.machine.peek(a), lambda a: world.relaxed.branch(a, 4, True)]
        if address is not None:  # which is the program counter
            calls += [lambda a: world.machine.disassemble(a), lambda a: debugger.disassemble(a)]
        for call in calls:
            with pytest.raises((TypeError, ValueError), match="addr|next"):
                call(address)
    with pytest.raises(diffvcs.BadArgument, match="count"):
        world.machine.disassemble(0xF000, 10**9)
    assert world.machine.peek(0xFFFF) == world.machine.peek(0x1FFF)


def test_a_picture_never_gets_other_numbers():
    for picture in ([[300]], [[-1]], [[1.5]], [[np.nan]], [[2**32 + 1]], [["1"]], [[None]]):
        with pytest.raises((TypeError, ValueError), match="picture"):
            png.encode(picture)
    assert png.encode([[1.0, True]]) == png.encode(np.ones((1, 2), np.uint8))


def test_environments_of_a_pool_are_never_others():
    pool = diffvcs.make("Demo-v5", num_envs=3, num_threads=1)
    pool.reset()
    for ids in ([2**32 + 1], np.array([2**32 + 1]), [1.5], np.array([np.nan]), ["1"], [None]):
        for call in (lambda i: pool.reset(i), lambda i: pool.send(np.zeros(1, int), i)):
            with pytest.raises((TypeError, ValueError), match="env_id"):
                call(ids)
    for seed in (2**31 - 1, 2**31, 2**32 + 1, 1.5, None):
        with pytest.raises((TypeError, ValueError), match="seed"):
            diffvcs.make("Demo-v5", num_envs=3, seed=seed)
    with pytest.raises(TypeError, match="a task is a name"):
        diffvcs.make(7)


def test_places_are_counted_before_they_are_listed(world):
    for frames in (2**31, 10**12, -1, 1.5, None):
        begin = time.process_time()
        with pytest.raises((TypeError, ValueError), match="frames"):
            diffvcs.input_places(frames)
        assert time.process_time() - begin < 1
    assert len(diffvcs.input_places(np.int64(3))) == 36 and len(diffvcs.input_places(0)) == 0
    assert np.array_equal(diffvcs.ram_places("demo", [3, 4]), world.places)
    for player in (-1, 2, 2**32, None):
        with pytest.raises((TypeError, ValueError), match="player"):
            diffvcs.inputs_of("FIRE", player)
    with pytest.raises(diffvcs.BadArgument, match="limit"):
        diffvcs.trace("demo", limit=-1)


def test_a_name_is_the_file_that_it_stands_for_now(tmp_path, monkeypatch):
    """Two files with one name and one time, as archives unpack them."""
    image = bytearray(Cartridge("demo").rom.tobytes())
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        image[0x700] ^= 1
        (tmp_path / folder / "homebrew.bin").write_bytes(image)
        os.utime(tmp_path / folder / "homebrew.bin", (10**9, 10**9))
    sums = [zlib.crc32((tmp_path / folder / "homebrew.bin").read_bytes()) for folder in ("one", "two")]
    found = []
    for folder in ("one", "two"):
        monkeypatch.chdir(tmp_path / folder)
        found.append(zlib.crc32(Machine("homebrew.bin").cart.rom))
    assert found == sums and sums[0] != sums[1]
    found.clear()
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        monkeypatch.setenv("DIFFVCS_ROMS", str(tmp_path / folder))
        found.append(zlib.crc32(Machine("homebrew").cart.rom))
    assert found == sums


# ----------------------------------------------------------------------------------------------------------------------


def test_a_cartridge_that_was_run_is_freed():
    import gc
    import weakref

    def use():
        cart = other_cartridge()
        state = Machine(cart).save()
        diffvcs.vjp(cart, state, [0], dram=np.ones(128))
        return weakref.ref(cart)

    found = [use() for _ in range(3)]
    gc.collect()
    assert not any(cart() for cart in found)
