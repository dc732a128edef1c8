"""Runs and their derivatives, as pure functions of a cartridge, a state and actions.

A state is what Machine.save gives; actions are numbers or names, one a frame. `run` plays them. `vjp` and `jvp` are the
products of the run's Jacobian with what you care about, `truth` is what flipped bits really do, by running again, and
`smooth` the derivative inside the cube, by drawing. docs/gradients.md has the mathematics, docs/python.md examples.

A derivative is `d` and the name of what it belongs to. Bits have eight slots a byte, lowest bit first:

    dstate   8 * cart.state_size   a bit of the machine before the run (or after it, as a result)
    drom     cart.rom.size x 8     a bit of the image
    dinput   frames x 12           an input held in a frame (INPUT_NAMES)
    dram     128 x 8               the part of dstate that is RAM
    dframes  frames x height x 160 a pixel
    dreward  frames                what the game's rules reward in a frame
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import _c
from . import device as devices
from ._c import lib
from .cartridge import Cartridge
from .machine import ACTION_NAMES, INPUT_NAMES, Machine, action_number, inputs_of
from .relaxed import relax_options

METHODS = {"bit": 0, "ste": 1, "naive": 2}
RELAXED = "relaxed"  # another machine's derivative, with options of its own (relaxed.py)
SIDES = {"mean": 0, "more": 1, "less": 2, "tangent": 3}
FORK_WINDOW = 256
WEIGHTS = 2.0 ** np.arange(8, dtype=np.float32)  # of a byte's bits

CONTROLS = np.dtype(_c.Controls)
PLACE = np.dtype(_c.Place)
TRUTH = np.dtype(_c.Truth)
ESTIMATE = np.dtype(_c.Estimate)
OUTCOMES = ("not run", "ran", "impossible")


# ---- runs ------------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """What was played: pictures in palette indices, RAM and reward after each frame, and the state after the last."""

    cart: Cartridge
    frames: np.ndarray  # frames x height x 160
    ram: np.ndarray  # frames x 128
    reward: np.ndarray  # frames
    lives: np.ndarray  # frames
    over: np.ndarray  # frames
    state: np.ndarray  # bytes, for the next run
    bits: np.ndarray  # the machine after the last frame, as floats
    start: np.ndarray = field(repr=False)  # what derivatives begin with: the machine, both frame buffers, hands
    picture: np.ndarray = field(repr=False)
    controls: np.ndarray = field(repr=False)

    @property
    def inputs(self) -> np.ndarray:
        """What was held in each frame, frames x 12."""
        held = np.stack([self.controls["held"][:, p] >> i & 1 for p in (0, 1) for i in range(5)], axis=1)
        console = np.stack([self.controls["console"] >> i & 1 for i in range(2)], axis=1)
        return np.concatenate([held, console], axis=1).astype(np.float32)

    def _pointer(self) -> ctypes.Structure:
        return _c.Run(
            self.cart.handle,
            _c.address(self.start),
            _c.address(self.picture),
            _c.address(self.controls),
            len(self.controls),
        )


_scratch = threading.local()


def _machine(cart: Cartridge) -> Machine:
    """A machine of this thread's own to run on, so that functions are pure and threads do not meet."""
    machines = _scratch.__dict__.setdefault("machines", {})
    if cart.handle not in machines:
        machines[cart.handle] = Machine(cart)
    return machines[cart.handle]


def _hold(machine: Machine, actions: Sequence[int]) -> np.ndarray:
    """Controls as vcs_env_act_on has them: actions the game does not allow do nothing, and paddles have only buttons."""
    controls, legal = np.zeros(len(actions), CONTROLS), set(machine.legal_actions)
    for hands, action in zip(controls, actions):
        held = inputs_of(action if action in legal else 0)[:5]
        if machine.cart.controllers[0] == "paddles":
            held[:4] = 0
        hands["held"][0] = int(held @ WEIGHTS[:5])
    return controls


def run(cart: Cartridge | str, state: np.ndarray, actions: Sequence[int | str]) -> Run:
    """Plays a frame for each action, from a state on: the same arguments give the same result, always."""
    cart = Cartridge.find(cart)
    numbers = [action_number(a) for a in actions]
    if not numbers:
        raise ValueError("a run has at least one action")
    machine, count = _machine(cart), len(numbers)
    machine.restore(state)
    controls, pointer = _hold(machine, numbers), _c.Run()
    lib.vcs_run_idle(machine.handle, count, _c.address(controls.copy()), ctypes.addressof(pointer))
    result = Run(
        cart,
        frames=np.empty((count, *machine.shape), np.uint8),
        ram=np.empty((count, _c.RAM_BYTES), np.uint8),
        reward=np.empty(count, np.int32),
        lives=np.empty(count, np.int32),
        over=np.empty(count, bool),
        state=state,
        bits=np.empty(0),
        start=machine._state.copy(),
        picture=_c.view(pointer.picture, 2 * _c.FRAME_BYTES).copy(),
        controls=controls,
    )
    for i, action in enumerate(actions):
        result.reward[i] = machine.act_on(action)
        machine.screen(out=result.frames[i])
        result.ram[i] = machine.ram
        result.lives[i], result.over[i] = machine.lives, machine.over
        lib.vcs_bits_paddles(cart.handle, _c.address(machine._state), _c.address(controls["paddle"][i]))
    result.state, result.bits = machine.save(), machine.bits
    return result


# ---- derivatives -----------------------------------------------------------------------------------------------------


def grad_options(
    cart: Cartridge,
    method: str = "bit",
    fork_window: int | None = None,
    alpha: float = 6.0,
    temperature: float = 0.0,
    side: str = "tangent",
    values: str | np.ndarray = "index",
) -> tuple[ctypes.Structure, np.ndarray]:
    """vcs_grad_options_t, and the array it points to. "bit+fork" is "bit" with a window of 256 instructions."""
    name = "bit" if method == "bit+fork" else method
    if name not in METHODS:
        raise ValueError(f"no method {method!r}; there are bit, bit+fork, ste, naive, relaxed")
    if side not in SIDES:
        raise ValueError(f"no side {side!r}; there are {', '.join(SIDES)}")
    if fork_window is None:
        fork_window = FORK_WINDOW if method == "bit+fork" else 0
    scale = cart.pixel_values(values) if isinstance(values, str) else np.ascontiguousarray(values, np.float32)
    if scale.shape != (256,):
        raise ValueError("pixels have one value here: index, luminance, or 256 numbers of your own")
    return _c.GradOptions(METHODS[name], fork_window, alpha, temperature, SIDES[side], _c.address(scale)), scale


def split_options(cart: Cartridge, options: dict) -> tuple[ctypes.Structure, np.ndarray, ctypes.Structure | None]:
    """Options of a run and its derivative: grad_options, and those of the relaxed machine if that is the method, which
    takes `values` for the pixels of the run itself."""
    if options.get("method") != RELAXED:
        return *grad_options(cart, **options), None
    rest = {name: value for name, value in options.items() if name not in ("method", "values")}
    unknown = set(rest) & {"fork_window", "side"}
    if unknown:
        raise ValueError(f"method relaxed has no {' and no '.join(sorted(unknown))}")
    return *grad_options(cart, values=options.get("values", "index")), relax_options(**rest)


@dataclass
class Derivatives:
    """What vjp and jvp give; fields that do not belong to the product are None."""

    cart: Cartridge
    dstate: np.ndarray | None = None
    drom: np.ndarray | None = None
    dinput: np.ndarray | None = None
    dframes: np.ndarray | None = None
    dreward: np.ndarray | None = None
    report: dict[str, int] = field(default_factory=dict)  # what was walked over: vcs_grad_report_t

    def field(self, name: str) -> np.ndarray:
        """The slots of a field of the machine: elements x bits of an element."""
        if self.dstate is None:
            raise ValueError("this product has no dstate")
        dtype, offset = self.cart.state_dtype[name], self.cart.offset(name)
        count = dtype.shape[0] if dtype.shape else 1
        return self.dstate[8 * offset : 8 * (offset + dtype.itemsize)].reshape(count, -1)

    @property
    def dram(self) -> np.ndarray:
        return self.field("ram")


def _array(value, shape: tuple[int, ...], name: str) -> np.ndarray:
    """A copy of the caller's floats in this shape."""
    array = np.array(value, np.float32, order="C")
    if array.size != int(np.prod(shape)):
        raise ValueError(f"{name} has {array.shape}, and this run needs {shape}")
    return array.reshape(shape)


def _state_slots(cart: Cartridge, dstate, dram, name: str) -> np.ndarray:
    """Slots of a state from the caller's; RAM may be given alone, by bit (128 x 8) or by byte (128)."""
    slots = (
        np.zeros(8 * cart.state_size, np.float32) if dstate is None else _array(dstate, (8 * cart.state_size,), name)
    )
    if dram is not None:
        dram = np.asarray(dram, np.float32)
        if dram.shape == (_c.RAM_BYTES,):
            dram = dram[:, None] * WEIGHTS
        at = 8 * cart.offset("ram")
        slots[at : at + 1024] += _array(dram, (1024,), "dram")
    return slots


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(*[_c.address(a) for a in arrays])


def _at(cart: Cartridge, state: np.ndarray) -> int:
    """The environment whose rules count rewards from this state on; until this thread asks for another."""
    machine = _machine(cart)
    machine.restore(state)
    return machine.handle


def _product(name: str, played: Run, inputs, outputs, options) -> dict[str, int]:
    settings, scale, relaxed = split_options(played.cart, options)
    report, call = (_c.RelaxedReport(), "vcs_relaxed_") if relaxed else (_c.GradReport(), "vcs_grad_")
    pointers = (played._pointer(), relaxed or settings, inputs, outputs, report)
    _c.call(call + name, *[ctypes.addressof(p) for p in pointers])
    return {key: getattr(report, key) for key, *_ in report._fields_}


def vjp(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    *,
    dframes: np.ndarray | None = None,
    dram: np.ndarray | None = None,
    dstate: np.ndarray | None = None,
    dreward: np.ndarray | float | None = None,
    played: Run | None = None,
    **options,
) -> Derivatives:
    """How much every bit before the run matters for what you weigh after it.

    dframes are weights of pixels (frames x height x 160, or height x 160 for the last frame alone), dram of RAM after the
    run (128 x 8 bits, or 128 bytes), dstate of the whole machine, dreward of the rewards (one for each frame, or one for
    all: 1 is the score). Options: method ("bit", "bit+fork", "ste", "naive"),
    fork_window, alpha, temperature, side, values. `played` spares running again what `run` gave for these arguments.

    method="relaxed" is the derivative of the fully relaxed machine from the same state on (relaxed.py), whose options are
    alpha, temperature, window, wrap, single, cast and dispatch. Its chips carry no derivative: dframes and dreward are
    refused, and there is no dinput.
    """
    cart = Cartridge.find(cart)
    played = played or run(cart, state, actions)
    count, shape = len(played.frames), played.frames.shape[1:]
    pixels = None
    if dframes is not None:
        if np.ndim(dframes) == 2:
            pixels = np.zeros((count, *shape), np.float32)
            pixels[-1] = _array(dframes, shape, "dframes")
        else:
            pixels = _array(dframes, (count, *shape), "dframes")
    weights = None if dstate is None and dram is None else _state_slots(cart, dstate, dram, "dstate")
    result = Derivatives(
        cart,
        dstate=np.zeros(8 * cart.state_size, np.float32),
        drom=np.zeros((cart.rom.size, 8), np.float32),
        dinput=np.zeros((count, _c.INPUTS), np.float32),
    )
    pictures = None if pixels is None else _pointers(list(pixels))
    inputs = _c.GradInputs(*[_c.address(a) for a in (result.dstate, result.drom, result.dinput)])
    outputs = _c.GradOutputs(ctypes.addressof(pictures) if pictures else None, _c.address(weights), None)
    if dreward is not None:
        if options.get("method") == RELAXED:
            raise ValueError("method relaxed knows no rewards: weigh dram instead")
        rewards = _array(np.broadcast_to(dreward, (count,)) if np.ndim(dreward) == 0 else dreward, (count,), "dreward")
        outputs.env, outputs.rewards = _at(cart, state), _c.address(rewards)
    result.report = _product("vjp", played, inputs, outputs, options)
    if options.get("method") == RELAXED:
        result.dinput = None
    return result


def jvp(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    *,
    dstate: np.ndarray | None = None,
    dram: np.ndarray | None = None,
    drom: np.ndarray | None = None,
    dinput: np.ndarray | None = None,
    rewards: bool = False,
    played: Run | None = None,
    **options,
) -> Derivatives:
    """What moves, to first order, when bits before and inputs during the run move that much: dframes, dstate and, if
    asked for, the rewards. With method="relaxed", dstate alone, and dinput is refused (see vjp)."""
    cart = Cartridge.find(cart)
    played = played or run(cart, state, actions)
    count, shape = len(played.frames), played.frames.shape[1:]
    given = [
        None if dstate is None and dram is None else _state_slots(cart, dstate, dram, "dstate"),
        None if drom is None else _array(drom, (cart.rom.size, 8), "drom"),
        None if dinput is None else _array(dinput, (count, _c.INPUTS), "dinput"),
    ]
    dframes = np.zeros((count, *shape), np.float32)
    result = Derivatives(cart, dstate=np.zeros(8 * cart.state_size, np.float32), dframes=dframes)
    pictures = _pointers(list(dframes))
    inputs = _c.GradInputs(*[_c.address(a) for a in given])
    outputs = _c.GradOutputs(ctypes.addressof(pictures), _c.address(result.dstate), None)
    if rewards:
        if options.get("method") == RELAXED:
            raise ValueError("method relaxed knows no rewards: look at dram instead")
        result.dreward = np.zeros(count, np.float32)
        outputs.env, outputs.rewards = _at(cart, state), _c.address(result.dreward)
    result.report = _product("jvp", played, inputs, outputs, options)
    if options.get("method") == RELAXED:
        result.dframes = None
    return result


# ---- places ----------------------------------------------------------------------------------------------------------


def _grid(kind: int, index: np.ndarray, frame: np.ndarray, bits: Sequence[int]) -> np.ndarray:
    places = np.zeros((len(index), len(bits)), PLACE)
    places["kind"], places["index"], places["frame"] = kind, index[:, None], frame[:, None]
    places["bit"] = bits
    return places.reshape(-1)


def state_places(cart: Cartridge, name: str, elements: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of a field of the machine, or of some of its elements."""
    dtype, offset = cart.state_dtype[name], cart.offset(name)
    base = dtype.base.itemsize
    elements = range(dtype.itemsize // base) if elements is None else elements
    index = np.array([offset + base * e + b for e in elements for b in range(base)], np.uint32)
    return _grid(0, index, np.zeros(len(index), np.uint16), range(8))


def ram_places(cart: Cartridge, cells: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of RAM, or of some of its 128 cells."""
    return state_places(cart, "ram", cells)


def rom_places(cart: Cartridge, offsets: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of the image, or of the bytes at some offsets."""
    index = np.arange(cart.rom.size) if offsets is None else np.asarray(offsets)
    return _grid(1, index, np.zeros(len(index), np.uint16), range(8))


def input_places(frames: int | Sequence[int], inputs: Sequence[int | str] | None = None) -> np.ndarray:
    """Inputs (INPUT_NAMES, or their numbers) in the frames of a run, frame by frame."""
    frames = range(frames) if isinstance(frames, int) else frames
    names = INPUT_NAMES if inputs is None else inputs
    numbers = [INPUT_NAMES.index(i) if isinstance(i, str) else i for i in names]
    index = np.array([i for _ in frames for i in numbers], np.uint32)
    return _grid(2, index, np.array([f for f in frames for _ in numbers], np.uint16), (0,))


# ---- the truth -------------------------------------------------------------------------------------------------------


@dataclass
class Truth:
    """What each place does: F with the bit set minus F with it clear, a row a place and horizon."""

    rows: np.ndarray  # places x horizons: outcome, pixels, ram_bytes, score, screen_crc, ram_crc
    base: np.ndarray  # horizons: the run itself
    dframes: np.ndarray | None  # places x horizons x height x 160 (x 3)
    dram: np.ndarray | None  # places x horizons x 128 x 8

    @property
    def possible(self) -> np.ndarray:
        """Places x horizons where the flipped machine can exist, and was run."""
        return self.rows["outcome"] == OUTCOMES.index("ran")


CHUNK = 512  # places between two looks at Ctrl-C


def truth(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    places: np.ndarray,
    *,
    horizons: Sequence[int] | None = None,
    values: str = "index",
    maps: bool = True,
    score: bool = False,
    threads: int = 0,
    played: Run | None = None,
    progress: Callable[[int, int], None] | None = None,
    device: str = "cpu",
) -> Truth:
    """What flipping each place does, exactly. Horizons are the frames after which is looked (default: the last); maps are
    signed pictures and RAM bits for each place; `score` counts rewards by the game's rules; `progress` is called with the
    places done and all. A `device` ("cuda") has places in the state and inputs, without score."""
    cart = Cartridge.find(cart)
    played = played or run(cart, state, actions)
    places = np.ascontiguousarray(places, PLACE).reshape(-1)
    count, looks = len(places), [len(played.frames)] if horizons is None else list(horizons)
    scale, shape = cart.pixel_values(values), played.frames.shape[1:]
    channels = 3 if scale.ndim == 2 else 1
    rows, base = np.zeros((count, len(looks)), TRUTH), np.zeros(len(looks), TRUTH)
    pixels = np.zeros((count, len(looks), *shape) + ((3,) if channels == 3 else ()), np.float32) if maps else None
    ram = np.zeros((count, len(looks), _c.RAM_BYTES, 8), np.float32) if maps else None
    at = np.asarray(looks, np.int32)
    options = _c.TruthOptions(
        _c.address(at), len(looks), _at(cart, state) if score else None, threads, 0, _c.address(scale), channels, None, None
    )
    run_pointer = played._pointer()
    options.device = devices.number(device)
    for first in range(0, max(count, 1), CHUNK):
        part = slice(first, min(first + CHUNK, count))
        results = _c.TruthResults(
            _c.address(base), *[None if a is None else _c.address(a[part]) for a in (rows, pixels, ram)]
        )
        _c.call(
            "vcs_truth", ctypes.addressof(run_pointer), ctypes.addressof(options), _c.address(places[part]),
            part.stop - first, ctypes.addressof(results),
        )  # fmt: skip
        if progress:
            progress(part.stop, count)
    return Truth(rows, base, pixels, ram)


# ---- inside the cube -------------------------------------------------------------------------------------------------


@dataclass
class Pixels:
    """The sum of pixel values over a rectangle of the last picture."""

    x: int
    y: int
    width: int = 1
    height: int = 1
    values: str = "luminance"


@dataclass
class Ram:
    """A byte of RAM after the run, or one of its bits."""

    index: int
    bit: int | None = None


@dataclass
class Score:
    """The sum of rewards."""


@dataclass
class Smooth:
    """v(p) = E[F(b)] and its derivatives, each with mean, deviation (standard error) and half_width of the interval."""

    value: np.ndarray
    gradient: np.ndarray
    draws: int


def smooth(
    cart: Cartridge | str,
    state: np.ndarray,
    actions: Sequence[int | str],
    places: np.ndarray,
    probabilities: np.ndarray | float,
    output: Pixels | Ram | Score,
    *,
    method: str = "difference",
    samples: int = 1000,
    antithetic: bool = True,
    baseline: bool = True,
    seed: int = 0,
    confidence: float = 0.95,
    threads: int = 0,
    played: Run | None = None,
) -> Smooth:
    """The expectation of a number when places are set with these probabilities, and its derivatives, by drawing.
    "difference" runs once for each place and draw, "score" once a draw."""
    cart = Cartridge.find(cart)
    played = played or run(cart, state, actions)
    places = np.ascontiguousarray(places, PLACE).reshape(-1)
    chances = np.ascontiguousarray(np.broadcast_to(np.asarray(probabilities, np.float64), places.shape))
    if method not in ("difference", "score"):
        raise ValueError(f"no method {method!r}; there are difference, score")
    options, scale = _c.SmoothOptions(), None
    lib.vcs_smooth_defaults(ctypes.addressof(options))
    if isinstance(output, Pixels):
        scale = cart.pixel_values(output.values)
        options.output = _c.Scalar(0, output.x, output.y, output.width, output.height, _c.address(scale), 0, 0)
    elif isinstance(output, Ram):
        options.output = _c.Scalar(1, 0, 0, 0, 0, None, output.index, -1 if output.bit is None else output.bit)
    else:
        options.output = _c.Scalar(2, 0, 0, 0, 0, None, 0, 0)
        options.env = _at(cart, state)
    options.method, options.samples = ("difference", "score").index(method), samples
    options.antithetic, options.baseline, options.seed = antithetic, baseline, seed
    options.confidence, options.threads = confidence, threads
    value, gradient, done = np.zeros((), ESTIMATE), np.zeros(len(places), ESTIMATE), ctypes.c_int32()
    run_pointer = played._pointer()
    _c.call(
        "vcs_smooth", ctypes.addressof(run_pointer), ctypes.addressof(options), _c.address(places), _c.address(chances),
        len(places), _c.address(value), _c.address(gradient), ctypes.addressof(done),
    )  # fmt: skip
    return Smooth(value, gradient, done.value)


__all__ = [
    "ACTION_NAMES", "INPUT_NAMES", "Derivatives", "Pixels", "Ram", "Run", "Score", "Smooth", "Truth", "input_places",
    "inputs_of", "jvp", "ram_places", "rom_places", "run", "smooth", "state_places", "truth", "vjp",
]  # fmt: skip
