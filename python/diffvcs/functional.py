"""Runs and their derivatives, as pure functions of a cartridge, a state and actions.

A state is what Machine.save returns; actions are numbers or names, one for each frame. `run` plays them. `vjp` and `jvp` are
products of the run's Jacobian with your weights or directions, `truth` returns the exact effects of flipped bits, by running
again, and `smooth` the derivative of an expected output when bits are random. docs/gradients.md has the mathematics,
docs/python.md examples.

The name of a derivative is `d` and the name of the quantity. Bits have eight slots for each byte, lowest bit first:

    dstate   8 * cart.state_size   a bit of the machine before the run (or after it, as a result)
    drom     cart.rom.size x 8     a bit of the image
    dinput   frames x 12           an input held in a frame (INPUT_NAMES)
    dram     128 x 8               the part of dstate that is RAM
    dframes  frames x height x 160 a pixel
    dreward  frames                the reward of a frame, by the game's rules
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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

METHODS = {"bit": 0, "ste": 1, "naive": 2, "exact": 3, "hybrid": 4}
EXACT = "exact"  # differences of real runs: no estimate, and no options
HYBRID = "hybrid"  # the same for some bits, within a budget, and estimates for the rest
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
    """A run that was played: pictures in palette indices, RAM and reward after each frame, and the state after the last."""

    cart: Cartridge
    frames: np.ndarray  # frames x height x 160
    ram: np.ndarray  # frames x 128
    reward: np.ndarray  # frames
    lives: np.ndarray  # frames
    over: np.ndarray  # frames
    state: np.ndarray  # bytes, for the next run
    bits: np.ndarray  # the machine after the last frame, as floats
    start: np.ndarray = field(repr=False)  # what derivatives begin with: the machine, both frame buffers, controls
    picture: np.ndarray = field(repr=False)
    controls: np.ndarray = field(repr=False)
    before: np.ndarray = field(repr=False)  # the state and the actions that were given
    actions: np.ndarray = field(repr=False)

    @property
    def inputs(self) -> np.ndarray:
        """The inputs held in each frame, frames x 12."""
        held = np.stack([self.controls["held"][:, p] >> i & 1 for p in (0, 1) for i in range(5)], axis=1)
        console = np.stack([self.controls["console"] >> i & 1 for i in range(2)], axis=1)
        return np.concatenate([held, console], axis=1).astype(np.float32)

    def _c_run(self) -> Any:
        """Returns the library's struct of the run. Raises an error if `start` was changed to an impossible state."""
        cart, start, controls = self.cart.handle, np.array(self.start), self.controls  # checked and run from one copy
        if not lib.vcs_bits_is_possible(cart, start):
            raise ValueError("this run's `start` was changed to a state that no machine can have")
        if len(controls) == 0:
            raise ValueError("this run's `controls` were taken away: a run has at least one frame")
        return _c.Run(cart=cart, start=start, picture=self.picture, controls=controls, frames=len(controls))


IDLE = 4  # machines that a cartridge keeps for reuse


@contextlib.contextmanager
def _machine(cart: Cartridge) -> Iterator[Machine]:
    """A machine that no other call uses meanwhile, so that functions are pure and threads do not disturb each other."""
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
    """Returns the controls of vcs_env_act_on: actions that the game does not have do nothing; paddles have only buttons."""
    controls, legal = np.zeros(len(actions), CONTROLS), set(machine.legal_actions)
    for frame, action in zip(controls, actions):
        held = inputs_of(action if action in legal else 0)[:5]
        if machine.cart.controllers[0] == "paddles":
            held[:4] = 0
        frame["held"][0] = int(held @ WEIGHTS[:5])
    return controls


def run(cart: Cartridge | str, state: np.ndarray, actions: Sequence[int | str]) -> Run:
    """Plays one frame for each action, from a state on. The same arguments always give the same result.

    Args:
        cart: a Cartridge or the name of a game.
        state: the bytes of Machine.save.
        actions: numbers or names, one for each frame.

    Returns a Run: frames (frames x height x 160), ram, reward, lives, over, and `state` for the next run.

    Example:
        >>> played = diffvcs.run("demo", machine.save(), ["NOOP", "RIGHT"])
        >>> played.frames.shape, played.ram.shape
        ((2, 210, 160), (2, 128))
    """
    cart = Cartridge.find(cart)
    numbers = _action_numbers(actions)
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


def need_run(run: Any) -> None:
    """Raises TypeError if an argument is not a Run but, for example, a Machine."""
    if not isinstance(run, Run):
        raise TypeError(
            f"this takes a Run, not {type(run).__name__}: run(machine.cart, machine.save(), ['NOOP'] * 8) plays one"
        )


def _action_numbers(actions: Sequence[int | str]) -> list[int]:
    """The numbers of actions, one for each frame."""
    if isinstance(actions, (str, int, np.integer)):
        raise TypeError(f"actions are a list, one for each frame, as in ['NOOP'] * 8; not {actions!r}")
    return [action_number(a) for a in actions]


def _played(cart: Cartridge, state: np.ndarray, actions: Sequence[int | str], played: Run | None) -> Run:
    """Returns the run that is differentiated: `played` if it is the run of these arguments, otherwise a new run."""
    if played is None:
        return run(cart, state, actions)
    if not isinstance(played, Run):
        raise TypeError(f"`played` must be what diffvcs.run gave, not {type(played).__name__}")
    if not (played.cart.is_like(cart) and np.array_equal(played.cart.rom, cart.rom)):  # a patch leaves the hash
        raise ValueError(f"`played` is a run of {played.cart}, and not of {cart}")
    if not np.array_equal(played.actions, _action_numbers(actions)):
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
    budget: float = 0.0,
    threads: int = 0,
) -> Any:
    """Makes a vcs_grad_options_t. "bit+fork" is "bit" with a window of 256 instructions.

    Args:
        budget: of method "hybrid": the limit of exact effects' cost, in frames of ale-py; 0: 20 for each frame of the run.
        threads: of methods "exact" and "hybrid"; 0: one for each core.
    """
    name = "bit" if method == "bit+fork" else method
    if name not in METHODS:
        raise ValueError(f"no method {method!r}; there are bit, bit+fork, ste, naive, relaxed, exact, hybrid")
    if side not in SIDES:
        raise ValueError(f"no side {side!r}; there are {', '.join(SIDES)}")
    if fork_window is None:
        fork_window = FORK_WINDOW if method == "bit+fork" else 0
    if method == EXACT and fork_window:
        raise ValueError("method exact has no forks: leave fork_window out")
    if budget and method != HYBRID:
        raise ValueError(f"method {method} has no budget: only hybrid has one")
    if not 0 <= budget < float("inf"):
        raise ValueError(f"budget is {budget}; it is a number of frames, 0 or more")
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
        budget=budget,
        threads=whole(threads, "threads", 0, 4096),
    )


def split_options(cart: Cartridge, options: dict[str, Any]) -> tuple[Any, Any]:
    """Splits the options of a run and its derivative: those of grad_options, and with method="relaxed" those of the relaxed
    machine; `values` then counts for the pixels of the run itself.
    """
    if options.get("method") != RELAXED:
        return grad_options(cart, **options), None
    rest = {name: value for name, value in options.items() if name not in ("method", "values")}
    unknown = set(rest) & {"fork_window", "side"}
    if unknown:
        raise ValueError(f"method relaxed has no {' and no '.join(sorted(unknown))}")
    return grad_options(cart, values=options.get("values", "index")), relax_options(**rest)


@dataclass
class Derivatives:
    """Results of vjp and jvp; fields that are not results of the product are None."""

    cart: Cartridge
    dstate: np.ndarray | None = None
    drom: np.ndarray | None = None
    dinput: np.ndarray | None = None
    dframes: np.ndarray | None = None
    dreward: np.ndarray | None = None
    report: dict[str, int] = field(default_factory=dict)  # counts of the pass: vcs_grad_report_t

    def field(self, name: str) -> np.ndarray:
        """Returns the slots of a field of the machine: elements x bits of an element.

        Example:
            >>> diffvcs.vjp("demo", state, ["NOOP"], dram=np.ones(128)).field("ram").shape
            (128, 8)
        """
        if self.dstate is None:
            raise ValueError("this product has no dstate")
        dtype, offset = self.cart.state_dtype[name], self.cart.offset(name)
        count = dtype.shape[0] if dtype.shape else 1
        return self.dstate[8 * offset : 8 * (offset + dtype.itemsize)].reshape(count, -1)

    @property
    def dram(self) -> np.ndarray:
        """The slots of RAM, 128 x 8."""
        return self.field("ram")


def _array(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    """A copy of the caller's floats, which have this shape or are flat."""
    array = _arrays.floats(value, name)
    if array.shape not in (shape, (math.prod(shape),)):
        raise ValueError(f"{name} has shape {array.shape}; this run needs {shape}, or the same numbers in one row")
    return array.reshape(shape).copy()


def _state_slots(cart: Cartridge, dstate: Any, dram: Any, name: str) -> np.ndarray:
    """Slots of a state, by byte and bit; RAM may be given alone, by bit (128 x 8) or by byte (128)."""
    shape = (cart.state_size, 8)
    slots = (np.zeros(shape, np.float32) if dstate is None else _array(dstate, shape, name)).reshape(-1)
    if dram is not None:
        dram = _arrays.floats(dram, "dram")
        if dram.shape == (_c.RAM_BYTES,):
            dram = dram[:, None] * WEIGHTS
        at = 8 * cart.offset("ram")
        slots[at : at + 1024] += _array(dram, (_c.RAM_BYTES, 8), "dram").reshape(-1)
    return slots


@contextlib.contextmanager
def _rewarding(cart: Cartridge, state: np.ndarray, wanted: bool) -> Iterator[Any]:
    """An environment whose rules count rewards from this state on, or None if they are not wanted."""
    if not wanted:
        yield None
        return
    with _machine(cart) as machine:
        machine.restore(state)
        yield machine.handle


GROUPS = ("ram", "rom", "input", "cpu", "pc", "tia", "riot", "cartram", "state")  # VCS_WRT_NAMES of study.h
SOURCES = ("state", "rom", "input")  # groups that are an array of Derivatives, or an argument of a function of floats


def _groups(wrt: str | Sequence[str] | None, method: str | None, known: Sequence[str] = GROUPS) -> tuple[str, ...]:
    """The groups that a VJP is with respect to: a list of names, or a text with commas between them as after --wrt."""
    if wrt is None:
        return ("state", "input") if method == EXACT else SOURCES
    names = tuple(wrt.split(",")) if isinstance(wrt, str) else tuple(wrt)
    if not names or any(name not in known for name in names):
        raise ValueError(f"wrt is {wrt!r}; groups of bits are {', '.join(known)}, or several of them")
    return names


def _slots(cart: Cartridge, frames: int, groups: Sequence[str]) -> dict[str, Any]:
    """Makes zeros for the derivatives with respect to state, image and inputs; None where no group needs them."""
    return {
        "dstate": np.zeros(8 * cart.state_size, np.float32) if set(groups) - {"rom", "input"} else None,
        "drom": np.zeros((cart.rom.size, 8), np.float32) if "rom" in groups else None,
        "dinput": np.zeros((frames, _c.INPUTS), np.float32) if "input" in groups else None,
    }


def _clear_other_groups(run: Run, groups: Sequence[str], dstate: np.ndarray | None) -> None:
    """Sets all slots of the state that belong to none of the groups to zero."""
    if dstate is None or "state" in groups:
        return
    bits = _places(run, ",".join(name for name in groups if name not in ("rom", "input")))[0]
    slots = 8 * bits["index"].astype(np.int64) + bits["bit"]
    kept = dstate[slots]
    dstate[:] = 0
    dstate[slots] = kept


def _places(run: Run, text: str) -> tuple[np.ndarray, np.ndarray]:
    """The places of groups or of single bits (vcs_places_of_groups, vcs_places_of_bits), and their labels."""
    need_run(run)
    groups = all(part in GROUPS for part in text.split(",")) if isinstance(text, str) else False
    count, room, c_run = np.zeros(1, np.uintp), 1024, run._c_run()
    while True:
        found, labels = np.zeros(room, PLACE), np.zeros(room * _c.PLACE_LABEL_SIZE, np.uint8)
        lib.vcs_call_places(c_run, text, groups, found, labels, room, count)
        if count[0] <= room:
            return found[: count[0]], labels.view(f"S{_c.PLACE_LABEL_SIZE}")[: count[0]]
        room = int(count[0])


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
    """Returns the derivatives of a weighted sum of outputs with respect to every bit before the run and every input in it.

    It is the vector-Jacobian product, by one reverse pass.

    Args:
        cart, state, actions: the run, as for `run`.
        dframes: weights of pixels (frames x height x 160, or height x 160 for the last frame alone).
        dram: weights of RAM after the run (128 x 8 bits, or 128 bytes).
        dstate: weights of the whole machine after the run.
        dreward: weights of the rewards (one for each frame, or one number for all: 1 is the score).
        played: what `run` returned for the same arguments, which is then not run again.
        wrt: groups of bits, as after --wrt: ram, rom, input, cpu, pc, tia, riot, cartram, state; a list, or a text with commas.
            Groups of the machine share dstate, which is 0 outside of them. By default state, rom and input; for method "exact",
            whose cost grows with the number of bits, state and input.
        options: method ("bit", "bit+fork", "ste", "naive", "relaxed", "exact", "hybrid"), fork_window, alpha, temperature, side,
            values, budget, threads (grad_options).

    Returns Derivatives with dstate, drom and dinput. With method "exact" every slot is a bit, those of positions and times too.

    method="relaxed" differentiates the fully relaxed machine from the same state on (relaxed.py); its options are alpha,
    temperature, window, wrap, single, cast and dispatch, its pixels are palette indices, and dreward is refused.

    Example:
        >>> found = diffvcs.vjp("demo", state, ["NOOP"] * 2, dframes=np.ones((210, 160)))
        >>> found.drom.shape, found.dinput.shape
        ((4096, 8), (2, 12))
    """
    if all(given is None for given in (dframes, dstate, dram, dreward)):
        raise ValueError("vjp takes weights of what is differentiated: give dframes, dram, dstate or dreward")
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
    groups = _groups(wrt, options.get("method"))
    result = Derivatives(cart, **_slots(cart, count, groups))
    inputs = _c.GradInputs(state=result.dstate, rom=result.drom, input=result.dinput)
    outputs = _c.GradOutputs(pixels=pixels, state=weights)
    if dreward is not None:
        if options.get("method") == RELAXED:
            raise ValueError("method relaxed knows no rewards: weigh dram instead")
        dreward = np.broadcast_to(dreward, (count,)) if np.ndim(dreward) == 0 else dreward
        outputs.rewards = _array(dreward, (count,), "dreward")
    with _rewarding(cart, state, dreward is not None) as outputs.env:
        result.report = _product("vjp", played, inputs, outputs, options)
    _clear_other_groups(played, groups, result.dstate)
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
    """Returns the derivatives of all pixels and of the state after the run in one direction of bits and inputs.

    It is the Jacobian-vector product, by one forward pass.

    Args:
        cart, state, actions, played, options: as for `vjp`.
        dstate, dram, drom, dinput: the direction; None is zero.
        rewards: whether to return the derivatives of the rewards too (not with method="relaxed").

    Returns Derivatives with dframes, dstate and, if wanted, dreward.

    Example:
        >>> right = np.zeros((2, 12))
        >>> right[0, diffvcs.INPUT_NAMES.index("right")] = 1
        >>> diffvcs.jvp("demo", state, ["NOOP"] * 2, dinput=right).dframes.shape
        (2, 210, 160)
    """
    if all(given is None for given in (dstate, dram, drom, dinput)):
        raise ValueError("jvp takes a direction: give dinput, dram, dstate or drom")
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


def state_places(cart: Cartridge | str, name: str, elements: Sequence[int] | None = None) -> np.ndarray:
    """Lists every bit of a field of the machine, or of some of its elements.

    Example:
        >>> len(diffvcs.state_places(machine.cart, "grp", [1]))
        8
    """
    cart = Cartridge.find(cart)
    if name not in (cart.state_dtype.names or ()):
        raise KeyError(f"no field {name!r}; there are {', '.join(cart.state_dtype.names or ())}")
    dtype, offset = cart.state_dtype[name], cart.offset(name)
    base = dtype.base.itemsize
    chosen = _numbers(elements, f"elements of {name}", dtype.itemsize // base)
    index = np.array([offset + base * e + b for e in chosen for b in range(base)], np.uint32)
    return _grid(0, index, np.zeros(len(index), np.uint16), range(8))


def ram_places(cart: Cartridge | str, cells: Sequence[int] | None = None) -> np.ndarray:
    """Lists every bit of RAM, or of some of its 128 bytes, which count from 0 ($80).

    Example:
        >>> len(diffvcs.ram_places(machine.cart, [0, 1]))
        16
    """
    return state_places(cart, "ram", cells)


def rom_places(cart: Cartridge | str, offsets: Sequence[int] | None = None) -> np.ndarray:
    """Lists every bit of the image, or of the bytes at some offsets.

    Example:
        >>> len(diffvcs.rom_places(machine.cart))
        32768
    """
    index = _numbers(offsets, "offsets in the image", Cartridge.find(cart).rom.size)
    return _grid(1, index, np.zeros(len(index), np.uint16), range(8))


def input_places(frames: int | Sequence[int], inputs: Sequence[int | str] | None = None) -> np.ndarray:
    """Lists inputs (INPUT_NAMES, or their numbers) in the frames of a run, frame by frame.

    Args:
        frames: a number of frames, or a list of frames.
        inputs: which inputs; None: all twelve.

    Example:
        >>> len(diffvcs.input_places(3, ["left", "right"]))
        6
    """
    if not isinstance(frames, Iterable):
        frames = range(whole(frames, "frames", 0, 1 << 16))
    chosen = _numbers(frames, "frames", 1 << 16)
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
    """Exact effects: F with the bit set minus F with the bit clear, a row for each place and horizon."""

    rows: np.ndarray  # places x horizons: outcome, pixels, ram_bytes, score, screen_crc, ram_crc
    base: np.ndarray  # horizons: the run itself
    dframes: np.ndarray | None  # places x horizons x height x 160 (x 3)
    dram: np.ndarray | None  # places x horizons x 128 x 8

    @property
    def possible(self) -> np.ndarray:
        """Places x horizons where the flipped machine can exist and was run."""
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
    """Returns the exact effect of flipping each place, one at a time.

    Args:
        cart, state, actions, played: the run, as for `vjp`.
        places: as ram_places, rom_places, state_places, input_places and diffvcs.places list them.
        horizons: the frames after which outputs are compared; None: the last one.
        values: what a pixel counts: "index", "luminance" or "rgb".
        maps: whether to return signed pictures and bits of RAM for each place too.
        score: whether to count rewards by the game's rules.
        threads: 0: one for each core.
        progress: called with the number of finished places and of all places.
        device: "cpu" or "cuda"; a GPU flips bits of the state and inputs, and counts no score.

    Returns Truth: `rows` counts pixels and bytes that differ, `dframes` and `dram` are maps of signed effects.

    Example:
        >>> found = diffvcs.truth("demo", state, ["NOOP"] * 2, diffvcs.ram_places(machine.cart, [0]))
        >>> found.rows["pixels"].shape, found.dframes.shape
        ((8, 1), (8, 1, 210, 160))
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    looks = _arrays.horizons(horizons, len(played.frames))
    if not looks.size:
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
    """An output: the sum of pixel values over a rectangle of the last picture."""

    x: int
    y: int
    width: int = 1
    height: int = 1
    values: str = "luminance"


@dataclass
class Ram:
    """An output: a byte of RAM after the run, or one of its bits."""

    index: int
    bit: int | None = None


@dataclass
class Score:
    """An output: the sum of rewards."""


@dataclass
class Smooth:
    """v(p) = E[F(b)] and its derivatives, each with its mean, deviation (standard error) and the half_width of its interval."""

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
    samples: int = 100,
    antithetic: bool = True,
    baseline: bool = True,
    seed: int = 0,
    confidence: float = 0.95,
    threads: int = 0,
    control: np.ndarray | None = None,
    played: Run | None = None,
) -> Smooth:
    """Estimates the expectation of an output when places are set at random, and its derivatives, by sampling.

    Args:
        cart, state, actions, played: the run, as for `vjp`.
        places: as for `truth`; probabilities: that each of them is 1 (one number, or one for each place).
        output: Pixels, Ram or Score.
        method: "difference" runs once for each place and draw, "score" once for each draw.
        samples: draws; antithetic, baseline: whether to reduce the variance by these methods; seed: of the draws.
        confidence: of the intervals; threads: 0: one for each core.
        control: an estimate of each place's derivative, such as a VJP; "score" then samples only what it does not explain.

    Example:
        >>> places = diffvcs.ram_places(machine.cart, [0])
        >>> found = diffvcs.smooth("demo", state, ["NOOP"], places, 0.5, diffvcs.Ram(0), samples=10)
        >>> found.gradient["mean"].shape, found.draws
        ((8,), 10)
    """
    played = _played(Cartridge.find(cart), state, actions, played)
    cart = played.cart
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    if len(np.unique(places)) < len(places):
        raise ValueError("smooth takes different places, and one is listed twice")
    chances = _arrays.floats(probabilities, "probabilities", np.float64)
    if chances.shape not in ((), places.shape):
        raise ValueError(
            f"probabilities are one number, or one for each of the {len(places)} places, not of shape {chances.shape}"
        )
    chances = np.broadcast_to(chances, places.shape)
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
    if control is not None:
        options.control = np.ascontiguousarray(_array(control, places.shape, "control"), np.float64)
    value, gradient, done = np.zeros(1, ESTIMATE), np.zeros(len(places), ESTIMATE), np.zeros(1, np.int32)
    with _rewarding(cart, state, isinstance(output, Score)) as options.env:
        chances = np.ascontiguousarray(chances)
        lib.vcs_smooth(played._c_run(), options, places, chances, len(places), value, gradient, done)
    return Smooth(value.reshape(()), gradient, int(done[0]))


__all__ = [
    "ACTION_NAMES", "INPUT_NAMES", "Derivatives", "Pixels", "Ram", "Run", "Score", "Smooth", "Truth", "input_places",
    "inputs_of", "jvp", "ram_places", "rom_places", "run", "smooth", "state_places", "truth", "vjp",
]  # fmt: skip
