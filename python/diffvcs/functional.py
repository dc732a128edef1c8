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

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _arrays, _c
from . import device as devices
from ._bind import whole
from ._c import lib
from .cartridge import Cartridge
from .machine import ACTION_NAMES, INPUT_NAMES, Machine, action_number, inputs_of
from .relaxed import relax_options

METHODS = {"bit": 0, "ste": 1, "naive": 2, "exact": 3}
EXACT = "exact"  # differences of real runs: no estimate, and no options
RELAXED = "relaxed"  # another machine's derivative, with options of its own (relaxed.py)
SIDES = {"mean": 0, "more": 1, "less": 2, "tangent": 3}
FORK_WINDOW, FORK_WINDOW_MAX = 256, 25000
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
    before: np.ndarray = field(repr=False)  # the state and the actions that were given
    actions: np.ndarray = field(repr=False)

    @property
    def inputs(self) -> np.ndarray:
        """What was held in each frame, frames x 12."""
        held = np.stack([self.controls["held"][:, p] >> i & 1 for p in (0, 1) for i in range(5)], axis=1)
        console = np.stack([self.controls["console"] >> i & 1 for i in range(2)], axis=1)
        return np.concatenate([held, console], axis=1).astype(np.float32)

    def _c_run(self) -> Any:
        """The run as the library has it. Nothing may have changed in it that a machine could not have done."""
        if not lib.vcs_bits_is_possible(self.cart.handle, self.start):
            raise ValueError("this run's `start` was changed to a state that no machine can have")
        return _c.Run(
            cart=self.cart.handle,
            start=self.start,
            picture=self.picture,
            controls=self.controls,
            frames=len(self.controls),
        )


IDLE = 4  # machines that a cartridge keeps to be used again


@contextlib.contextmanager
def _machine(cart: Cartridge) -> Iterator[Machine]:
    """A machine to run on that no other call has: functions are pure, and threads do not meet."""
    try:
        machine = cart.idle_machines.pop()
    except IndexError:
        machine = Machine(cart)
    try:
        yield machine
    finally:
        if len(cart.idle_machines) < IDLE:
            cart.idle_machines.append(machine)


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
    before = _arrays.state_bytes(state).copy()
    with _machine(cart) as machine:
        machine.restore(before)
        return _run_on(machine, before, numbers)


def _run_on(machine: Machine, before: np.ndarray, numbers: list[int]) -> Run:
    cart, count = machine.cart, len(numbers)
    controls, picture = _hold(machine, numbers), np.empty(2 * _c.FRAME_BYTES, np.uint8)
    lib.vcs_env_frames(machine.handle, picture)
    result = Run(
        cart,
        frames=np.empty((count, *machine.shape), np.uint8),
        ram=np.empty((count, _c.RAM_BYTES), np.uint8),
        reward=np.empty(count, np.int32),
        lives=np.empty(count, np.int32),
        over=np.empty(count, bool),
        state=before,
        bits=np.empty(0),
        start=machine._state.copy(),
        picture=picture,
        controls=controls,
        before=before,
        actions=np.array(numbers, np.int32),
    )
    for i, action in enumerate(numbers):
        result.reward[i] = machine.act_on(action)
        machine.screen(out=result.frames[i])
        result.ram[i] = machine.ram
        result.lives[i], result.over[i] = machine.lives, machine.over
        lib.vcs_bits_paddles(cart.handle, machine._state, controls["paddle"][i])
    result.state, result.bits = machine.save(), machine.bits
    for array in (result.start, picture, controls, before, result.actions):
        array.flags.writeable = False
    return result


def _played(cart: Cartridge, state: np.ndarray, actions: Sequence[int | str], played: Run | None) -> Run:
    """The run that a derivative is of: the one that was given, if it is what these arguments give, or a new one."""
    if played is None:
        return run(cart, state, actions)
    if not isinstance(played, Run):
        raise TypeError(f"`played` must be what diffvcs.run gave, not {type(played).__name__}")
    if not played.cart.is_like(cart):
        raise ValueError(f"`played` is a run of {played.cart}, and not of {cart}")
    if not np.array_equal(played.actions, [action_number(a) for a in actions]):
        raise ValueError("`played` is a run with other actions")
    if not np.array_equal(played.before, _arrays.state_bytes(state)):
        raise ValueError("`played` is a run from another state")
    return played


# ---- derivatives -----------------------------------------------------------------------------------------------------


def grad_options(
    cart: Cartridge,
    method: str = "bit",
    fork_window: int | None = None,
    alpha: float = 6.0,
    temperature: float = 0.0,
    side: str = "tangent",
    values: str | np.ndarray = "index",
) -> Any:
    """vcs_grad_options_t. "bit+fork" is "bit" with a window of 256 instructions."""
    name = "bit" if method == "bit+fork" else method
    if name not in METHODS:
        raise ValueError(f"no method {method!r}; there are bit, bit+fork, ste, naive, relaxed, exact")
    if side not in SIDES:
        raise ValueError(f"no side {side!r}; there are {', '.join(SIDES)}")
    if fork_window is None:
        fork_window = FORK_WINDOW if method == "bit+fork" else 0
    if method == EXACT and fork_window:
        raise ValueError("method exact has no forks: leave fork_window out")
    scale = cart.pixel_values(values) if isinstance(values, str) else _arrays.floats(values, "values")
    if scale.shape != (256,):
        raise ValueError("pixels have one value here: index, luminance, or 256 numbers of your own")
    return _c.GradOptions(
        method=METHODS[name],
        fork_window=whole(fork_window, "fork_window", 0, FORK_WINDOW_MAX),
        alpha=alpha,
        temperature=temperature,
        side=SIDES[side],
        scale=scale,
    )


def split_options(cart: Cartridge, options: dict[str, Any]) -> tuple[Any, Any]:
    """Options of a run and its derivative: grad_options, and those of the relaxed machine if that is the method, which
    takes `values` for the pixels of the run itself."""
    if options.get("method") != RELAXED:
        return grad_options(cart, **options), None
    rest = {name: value for name, value in options.items() if name not in ("method", "values")}
    unknown = set(rest) & {"fork_window", "side"}
    if unknown:
        raise ValueError(f"method relaxed has no {' and no '.join(sorted(unknown))}")
    return grad_options(cart, values=options.get("values", "index")), relax_options(**rest)


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


def _array(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """A copy of the caller's floats in this shape."""
    array = _arrays.floats(value, name).copy()
    if array.size != int(np.prod(shape)):
        raise ValueError(f"{name} has {array.shape}, and this run needs {shape}")
    return array.reshape(shape)


def _state_slots(cart: Cartridge, dstate: Any, dram: Any, name: str) -> np.ndarray:
    """Slots of a state from the caller's; RAM may be given alone, by bit (128 x 8) or by byte (128)."""
    slots = (
        np.zeros(8 * cart.state_size, np.float32) if dstate is None else _array(dstate, (8 * cart.state_size,), name)
    )
    if dram is not None:
        dram = _arrays.floats(dram, "dram")
        if dram.shape == (_c.RAM_BYTES,):
            dram = dram[:, None] * WEIGHTS
        at = 8 * cart.offset("ram")
        slots[at : at + 1024] += _array(dram, (1024,), "dram")
    return slots


@contextlib.contextmanager
def _rewarding(cart: Cartridge, state: np.ndarray, wanted: bool) -> Iterator[Any]:
    """An environment whose rules count rewards from this state on, if that is wanted."""
    if not wanted:
        yield None
        return
    with _machine(cart) as machine:
        machine.restore(state)
        yield machine.handle


SOURCES = ("state", "rom", "inputs")


def _sources(wrt: str | Sequence[str] | None, method: str | None) -> tuple[str, ...]:
    """What a VJP is with respect to."""
    if wrt is None:
        return ("state", "inputs") if method == EXACT else SOURCES
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    if not names or any(name not in SOURCES for name in names):
        raise ValueError(f"wrt is {names}; there are {', '.join(SOURCES)}")
    return names


def _product(name: str, played: Run, inputs: Any, outputs: Any, options: dict[str, Any]) -> dict[str, int]:
    settings, relaxed = split_options(played.cart, options)
    if relaxed:
        report, call = _c.RelaxedReport(), getattr(lib, f"vcs_relaxed_{name}")
    else:
        report, call = _c.GradReport(), getattr(lib, f"vcs_grad_{name}")
    call(played._c_run(), relaxed or settings, inputs, outputs, report)
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
    wrt: str | Sequence[str] | None = None,
    played: Run | None = None,
    **options: Any,
) -> Derivatives:
    """How much every bit before the run matters for what you weigh after it.

    dframes are weights of pixels (frames x height x 160, or height x 160 for the last frame alone), dram of RAM after the
    run (128 x 8 bits, or 128 bytes), dstate of the whole machine, dreward of the rewards (one for each frame, or one for
    all: 1 is the score). `wrt` names what is differentiated: "state", "rom", "inputs", or several of them (default: all;
    for method "exact", whose price grows with the number of bits, state and inputs). Options: method ("bit", "bit+fork",
    "ste", "naive", "exact"), fork_window, alpha, temperature, side, values. `played` spares running again what `run` gave for
    these arguments. With method "exact" every slot is a bit, those of positions and times too.

    method="relaxed" is the derivative of the fully relaxed machine from the same state on (relaxed.py), whose options are
    alpha, temperature, window, wrap, single, cast and dispatch. Its pixels are palette indices, and it knows no rewards:
    dreward is refused.
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    count, shape = len(played.frames), played.frames.shape[1:]
    pixels = None
    if dframes is not None:
        if np.ndim(dframes) == 2:
            pixels = np.zeros((count, *shape), np.float32)
            pixels[-1] = _array(dframes, shape, "dframes")
        else:
            pixels = _array(dframes, (count, *shape), "dframes")
    weights = None if dstate is None and dram is None else _state_slots(cart, dstate, dram, "dstate")
    sources = _sources(wrt, options.get("method"))
    result = Derivatives(
        cart,
        dstate=np.zeros(8 * cart.state_size, np.float32) if "state" in sources else None,
        drom=np.zeros((cart.rom.size, 8), np.float32) if "rom" in sources else None,
        dinput=np.zeros((count, _c.INPUTS), np.float32) if "inputs" in sources else None,
    )
    inputs = _c.GradInputs(state=result.dstate, rom=result.drom, input=result.dinput)
    outputs = _c.GradOutputs(pixels=pixels, state=weights)
    if dreward is not None:
        if options.get("method") == RELAXED:
            raise ValueError("method relaxed knows no rewards: weigh dram instead")
        dreward = np.broadcast_to(dreward, (count,)) if np.ndim(dreward) == 0 else dreward
        outputs.rewards = _array(dreward, (count,), "dreward")
    with _rewarding(cart, state, dreward is not None) as outputs.env:
        result.report = _product("vjp", played, inputs, outputs, options)
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
    **options: Any,
) -> Derivatives:
    """What moves, to first order, when bits before and inputs during the run move that much: dframes, dstate and, if
    asked for, the rewards. With method="relaxed" there are no rewards (see vjp)."""
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    count, shape = len(played.frames), played.frames.shape[1:]
    given = [
        None if dstate is None and dram is None else _state_slots(cart, dstate, dram, "dstate"),
        None if drom is None else _array(drom, (cart.rom.size, 8), "drom"),
        None if dinput is None else _array(dinput, (count, _c.INPUTS), "dinput"),
    ]
    dframes = np.zeros((count, *shape), np.float32)
    result = Derivatives(cart, dstate=np.zeros(8 * cart.state_size, np.float32), dframes=dframes)
    inputs = _c.GradInputs(state=given[0], rom=given[1], input=given[2])
    outputs = _c.GradOutputs(pixels=dframes, state=result.dstate)
    if rewards:
        if options.get("method") == RELAXED:
            raise ValueError("method relaxed knows no rewards: look at dram instead")
        outputs.rewards = result.dreward = np.zeros(count, np.float32)
    with _rewarding(cart, state, rewards) as outputs.env:
        result.report = _product("jvp", played, inputs, outputs, options)
    return result


# ---- places ----------------------------------------------------------------------------------------------------------


def _grid(kind: int, index: np.ndarray, frame: np.ndarray, bits: Sequence[int]) -> np.ndarray:
    places = np.zeros((len(index), len(bits)), PLACE)
    places["kind"], places["index"], places["frame"] = kind, index[:, None], frame[:, None]
    places["bit"] = bits
    return places.reshape(-1)


def _numbers(values: Sequence[int] | None, name: str, count: int) -> np.ndarray:
    """Numbers from 0 to count - 1; None: all of them."""
    if values is None:
        return np.arange(count)
    numbers = _arrays.integers(list(values), name, np.int64).reshape(-1)
    if numbers.size and not (0 <= numbers.min() and numbers.max() < count):
        raise _c.BadArgument(f"{name} go from 0 to {count - 1}")
    return numbers


def state_places(cart: Cartridge, name: str, elements: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of a field of the machine, or of some of its elements."""
    if name not in (cart.state_dtype.names or ()):
        raise KeyError(f"no field {name!r}; there are {', '.join(cart.state_dtype.names or ())}")
    dtype, offset = cart.state_dtype[name], cart.offset(name)
    base = dtype.base.itemsize
    chosen = _numbers(elements, f"elements of {name}", dtype.itemsize // base)
    index = np.array([offset + base * e + b for e in chosen for b in range(base)], np.uint32)
    return _grid(0, index, np.zeros(len(index), np.uint16), range(8))


def ram_places(cart: Cartridge, cells: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of RAM, or of some of its 128 cells."""
    return state_places(cart, "ram", cells)


def rom_places(cart: Cartridge, offsets: Sequence[int] | None = None) -> np.ndarray:
    """Every bit of the image, or of the bytes at some offsets."""
    index = _numbers(offsets, "offsets in the image", cart.rom.size)
    return _grid(1, index, np.zeros(len(index), np.uint16), range(8))


def input_places(frames: int | Sequence[int], inputs: Sequence[int | str] | None = None) -> np.ndarray:
    """Inputs (INPUT_NAMES, or their numbers) in the frames of a run, frame by frame."""
    chosen = _numbers(range(frames) if isinstance(frames, int) else frames, "frames", 1 << 16)
    names = INPUT_NAMES if inputs is None else inputs
    unknown = [name for name in names if isinstance(name, str) and name not in INPUT_NAMES]
    if unknown:
        raise ValueError(f"no input {unknown[0]!r}; there are {', '.join(INPUT_NAMES)}")
    numbers = _numbers([INPUT_NAMES.index(i) if isinstance(i, str) else i for i in names], "inputs", _c.INPUTS)
    index = np.array([i for _ in chosen for i in numbers], np.uint32)
    return _grid(2, index, np.array([f for f in chosen for _ in numbers], np.uint16), (0,))


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
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    looks = _arrays.integers([len(played.frames)] if horizons is None else list(horizons), "horizons")
    if looks.ndim != 1 or not looks.size:
        raise ValueError("there is at least one horizon: the number of a frame after which is looked")
    count, horizon_count = len(places), len(looks)
    scale, shape = cart.pixel_values(values), played.frames.shape[1:]
    channels = 3 if scale.ndim == 2 else 1
    rows, base = np.zeros((count, horizon_count), TRUTH), np.zeros(horizon_count, TRUTH)
    pixels = ram = None
    if maps:
        pixels = np.zeros((count, horizon_count, *shape) + ((3,) if channels == 3 else ()), np.float32)
        ram = np.zeros((count, horizon_count, _c.RAM_BYTES, 8), np.float32)
    options = _c.TruthOptions(
        horizons=looks,
        horizon_count=horizon_count,
        threads=threads,
        values=scale,
        channels=channels,
        device=devices.number(device),
    )
    c_run = played._c_run()
    with _rewarding(cart, state, score) as options.env:
        for first in range(0, max(count, 1), CHUNK):
            part = slice(first, min(first + CHUNK, count))
            results = _c.TruthResults(
                base=base,
                rows=rows[part],
                pixels=None if pixels is None else pixels[part],
                ram=None if ram is None else ram[part],
            )
            lib.vcs_truth(c_run, options, places[part], part.stop - first, results)
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
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    chances = np.broadcast_to(_arrays.floats(probabilities, "probabilities", np.float64), places.shape)
    if method not in ("difference", "score"):
        raise ValueError(f"no method {method!r}; there are difference, score")
    options = _c.SmoothOptions()
    lib.vcs_smooth_defaults(options)
    if isinstance(output, Pixels):
        options.output = _c.Scalar(
            kind=0, x=output.x, y=output.y, width=output.width, height=output.height,
            values=cart.pixel_values(output.values),
        )  # fmt: skip
    elif isinstance(output, Ram):
        options.output = _c.Scalar(kind=1, index=output.index, bit=-1 if output.bit is None else output.bit)
    elif isinstance(output, Score):
        options.output = _c.Scalar(kind=2)
    else:
        raise TypeError(f"the output must be Pixels, Ram or Score, not {output!r}")
    options.method, options.samples = ("difference", "score").index(method), samples
    options.antithetic, options.baseline, options.seed = antithetic, baseline, seed
    options.confidence, options.threads = confidence, threads
    value, gradient, done = np.zeros(1, ESTIMATE), np.zeros(len(places), ESTIMATE), np.zeros(1, np.int32)
    with _rewarding(cart, state, isinstance(output, Score)) as options.env:
        chances = np.ascontiguousarray(chances)
        lib.vcs_smooth(played._c_run(), options, places, chances, len(places), value, gradient, done)
    return Smooth(value.reshape(()), gradient, int(done[0]))


__all__ = [
    "ACTION_NAMES", "INPUT_NAMES", "Derivatives", "Pixels", "Ram", "Run", "Score", "Smooth", "Truth", "input_places",
    "inputs_of", "jvp", "ram_places", "rom_places", "run", "smooth", "state_places", "truth", "vjp",
]  # fmt: skip
