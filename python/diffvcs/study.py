"""Questions about a run: the functions of include/diffvcs/study.h, which documents them.

A run is what `diffvcs.run` gives. Every function here leaves it as it is.

    run = diffvcs.run("demo", state, ["NOOP"] * 8)
    diffvcs.explain(run, "pixel:100,80")["lit_by"]
    diffvcs.edit(run, drawing, x=0, y=0).patch
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _c
from ._bind import BadArgument, dtype_of, whole
from ._c import lib
from .cartridge import Cartridge
from .functional import (
    PLACE,
    SOURCES,
    TRUTH,
    Derivatives,
    Run,
    Truth,
    _array,
    _rewarding,
    _sources,
    _state_slots,
    grad_options,
)
from .machine import ACTION_NAMES

METHODS = ("naive", "ste", "bit", "bit+fork", "exact")
SEARCHES = ("random", "blind", "guided", "smooth", "evolution", "exact")
OBJECTS = ("P0", "P1", "M0", "M1", "BL", "PF")
ANSWERS = ("truth", "bit+fork", "ste", "naive")
CONTROLS = ("right", "left", "up", "down")
VIEWS = ("screen", "ram")
ROM_KINDS = ("unused", "data", "operand", "opcode")


def _text(answer: Any) -> str:
    text = np.zeros(answer.size, np.uint8)
    lib.vcs_answer_text(answer, text)
    return text.tobytes().decode("utf-8", "replace")


def _rows(kind: str, count: int) -> np.ndarray:
    """An array of structs of the library."""
    return np.zeros(count, dtype_of(kind))


def _readable(rows: np.ndarray) -> np.ndarray:
    """The same rows with their texts as strings of bytes instead of arrays of characters."""
    fields = rows.dtype.fields
    assert fields is not None
    formats = [f"S{f.itemsize}" if f.subdtype and f.base.kind == "S" else f for f, *_ in fields.values()]
    offsets = [offset for _, offset, *_ in fields.values()]
    return rows.view(
        np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": rows.dtype.itemsize})
    )


def _index(name: str, names: Sequence[str], what: str) -> int:
    found = [n.lower() for n in names]
    if not isinstance(name, str) or name.lower() not in found:
        raise ValueError(f"no {what} {name!r}; there are {', '.join(names)}")
    return found.index(name.lower())


# ---- causes of one output --------------------------------------------------------------------------------------------


def explain(
    run: Run,
    target: str | None = None,
    *,
    object: str | None = None,
    span: int = 1,
    window: int = 256,
    frame: int = 0,
    directory: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Explains a target ("pixel:100,80", "region:0,0,8,8", "ram:9C", "score") or an object ("P0") after the last frame of
    a run: the objects that draw it, the register writes, instructions, bytes and controls it depends on, as `diffvcs
    explain` writes them to explain.json. `directory`, which must exist, gets the page as well; `frame` numbers the run's
    last frame in it."""
    if (target is None) == (object is None):
        raise ValueError("give a target or an object")
    with _rewarding(run.cart, run.before, target == "score") as env:
        call = _c.ExplainCall(
            env=env,
            target=target,
            object=0 if object is None else _index(object, OBJECTS, "object"),
            span=span,
            window=window,
            name=run.cart.name,
            frame=frame,
            directory=directory,
        )
        return json.loads(_text(lib.vcs_call_explain(run._c_run(), call)))


@dataclass
class Slice:
    """The instructions of a frame, and which of them a result was computed by."""

    rows: np.ndarray  # pc, opcode, a, x, y, clock, end_clock, accesses, text, slice
    sources: np.ndarray  # addresses that the slice reads and did not write

    @property
    def instructions(self) -> np.ndarray:
        """The rows of the slice."""
        return self.rows[self.rows["slice"] != 0]


def slice(run: Run, instructions: Sequence[int] = ()) -> Slice:
    """The dynamic slice of some instructions of a run's last frame, by their number in it: all instructions of the frame
    that they were computed from. Without any, the rows of the frame with an empty slice."""
    marks = _arrays.integers(list(instructions), "instructions").reshape(-1)
    rows = _rows("vcs_slice_row_t", _c.FRAME_INSTRUCTIONS)
    count, sources = np.zeros(1, np.int32), np.zeros(65536, np.uint8)
    lib.vcs_call_slice(run._c_run(), marks, len(marks), rows, count, sources)
    return Slice(_readable(rows[: count[0]].copy()), np.flatnonzero(sources))


def rom_uses(run: Run) -> np.ndarray:
    """What the run does with each byte of the image: kind (ROM_KINDS), read, address, pc, text."""
    uses = _rows("vcs_rom_use_t", run.cart.rom.size)
    lib.vcs_rom_uses(run._c_run(), uses)
    return _readable(uses)


@dataclass
class Attribution(Derivatives):
    """The derivatives of a target, and its value."""

    value: float = 0.0


def attribute(
    run: Run, target: str, *, method: str = "exact", wrt: str | Sequence[str] = SOURCES, **options: Any
) -> Attribution:
    """The derivative of a target ("pixel:ROW,COLUMN", "region:X,Y,W,H", "screen", "ram:9C", "ram:9C.3", "score") with
    respect to every bit before the run and every input in it, or only those that `wrt` names ("state", "rom", "inputs").
    Options are those of vjp."""
    cart, count, sources = run.cart, len(run.frames), _sources(wrt, method)
    found = Attribution(
        cart,
        dstate=np.zeros(8 * cart.state_size, np.float32) if "state" in sources else None,
        drom=np.zeros((cart.rom.size, 8), np.float32) if "rom" in sources else None,
        dinput=np.zeros((count, _c.INPUTS), np.float32) if "inputs" in sources else None,
    )
    options = {"side": "mean", **options}
    inputs = _c.GradInputs(state=found.dstate, rom=found.drom, input=found.dinput)
    value, report = np.zeros(1), _c.GradReport()
    with _rewarding(cart, run.before, target == "score") as env:
        call = _c.AttributeCall(env=env, target=target)
        lib.vcs_call_attribute(run._c_run(), call, grad_options(cart, method, **options), inputs, value, report)
    found.value = float(value[0])
    found.report = {key: getattr(report, key) for key, *_ in report._fields_}
    return found


# ---- methods beside the truth ----------------------------------------------------------------------------------------


@dataclass
class Agreement:
    """How well predicted effects agree with true ones, as vcs_agreements_t counts them."""

    sums: np.ndarray  # methods x horizons x views

    def _share(self, part: str, whole: str) -> np.ndarray:
        pooled = self.sums["pooled"]
        with np.errstate(invalid="ignore", divide="ignore"):
            return pooled[part] / pooled[whole].astype(float)

    @property
    def cosine(self) -> np.ndarray:
        """The mean of the maps' cosines, over maps that are not zero in both."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums["cosines"] / (self.sums["maps"] - self.sums["still"])

    @property
    def sign(self) -> np.ndarray:
        return self._share("same_sign", "in_both")

    @property
    def precision(self) -> np.ndarray:
        return self._share("in_both", "in_estimate")

    @property
    def recall(self) -> np.ndarray:
        return self._share("in_both", "in_truth")


def score(
    run: Run,
    places: np.ndarray,
    *,
    methods: Sequence[str] = METHODS,
    horizons: Sequence[int] | None = None,
    window: int = 256,
    threads: int = 0,
) -> Agreement:
    """Compares, for each place of the state and each input, the effect that each method predicts with the true one, on the
    screen and on RAM (VIEWS), after each horizon."""
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places and input_places")
    looks = _arrays.integers([len(run.frames)] if horizons is None else list(horizons), "horizons")
    numbers = np.array([_index(m, METHODS, "method") for m in methods], np.int32)
    results = _rows("vcs_agreements_t", len(numbers) * len(looks) * 2).reshape(len(numbers), len(looks), 2)
    options = _c.ScoreOptions(
        horizons=looks,
        horizon_count=len(looks),
        methods=numbers,
        method_count=len(numbers),
        window=window,
        threads=threads,
    )
    lib.vcs_score(run._c_run(), options, places, len(places), results)
    return Agreement(results)


@dataclass
class Joystick:
    """What each direction of the stick does."""

    maps: np.ndarray  # ANSWERS x CONTROLS x frames x height x 160: d(luminance) / d(control)
    inverse: np.ndarray  # ANSWERS x CONTROLS: d(sum of luminance * (column - 80) over the rows) / d(control)


def joystick(run: Run, rows: tuple[int, int], *, press: int = 0, held: bool = False, window: int = 256) -> Joystick:
    """What each direction, pressed in frame `press` of a run without input (and held from then on), does to every pixel
    after every frame: the truth, and the methods' predictions."""
    call = _c.JoystickCall(press=press, held=bool(held), top=rows[0], bottom=rows[1], window=window)
    maps = np.zeros((len(ANSWERS), len(CONTROLS), *run.frames.shape), np.float32)
    inverse = np.zeros((len(ANSWERS), len(CONTROLS)))
    lib.vcs_call_joystick(run._c_run(), call, maps, inverse)
    return Joystick(maps, inverse)


# ---- searches --------------------------------------------------------------------------------------------------------


@dataclass
class Edit:
    """An edited image."""

    image: np.ndarray
    patch: bytes  # IPS, from the cartridge's image to this one
    before: np.ndarray  # last pictures, palette indices
    after: np.ndarray
    wrong_before: int  # pixels of the region that are not as drawn
    wrong_after: int
    walks: int  # Jacobians or reverse passes, and runs, that it took
    runs: int
    frames: int  # emulated


def edit(
    run: Run,
    drawing: np.ndarray,
    x: int,
    y: int,
    *,
    exact: bool = False,
    method: str = "exact",
    window: int = 256,
    steps: int = 200,
    budget: int = 0,
) -> Edit:
    """Flips bits of ROM bytes that the run reads as data until its last picture shows `drawing` (height x width x 3, RGB)
    at column x and row y. Light and dark pixels become the region's brightest and commonest colour, or, with `exact`, the
    colours they are. Bits are chosen by their exact effects, or by a method that estimates them; no step begins after
    `budget` emulated frames (0: any number)."""
    drawing = _arrays.integers(drawing, "drawing", np.uint8)
    if drawing.ndim != 3 or drawing.shape[2] != 3:
        raise BadArgument(f"a drawing is height x width x 3 bytes, not {drawing.shape}")
    _index(method, METHODS, "method")
    call = _c.EditCall(
        x=x,
        y=y,
        width=drawing.shape[1],
        height=drawing.shape[0],
        drawing=drawing,
        exact=bool(exact),
        method=method,
        window=window,
        steps=steps,
        budget=budget,
    )
    image, counts = np.zeros(run.cart.rom.size, np.uint8), np.zeros(5, np.int64)
    before, after = np.zeros(run.frames.shape[1:], np.uint8), np.zeros(run.frames.shape[1:], np.uint8)
    lib.vcs_call_edit(run._c_run(), call, image, before, after, counts)
    return Edit(image, make_patch(run.cart.rom, image), before, after, *(int(n) for n in counts))


@dataclass
class Steered:
    """The best sequence of one search and seed."""

    search: str
    seed: int  # from 1 on
    value: float  # the score, or the distance to the goal
    frames: int  # emulated until it was found
    actions: list[str]


def steer(
    run: Run,
    goal: str,
    *,
    searches: Sequence[str] = SEARCHES,
    seeds: int = 1,
    budget: int = 20000,
    window: int = 16,
    threads: int = 0,
) -> list[Steered]:
    """Searches for actions in the frames of a run that reach a goal: "score", or "ram:9C=60" after the last frame. Every
    search and seed has the same budget of emulated frames."""
    numbers = np.array([_index(s, SEARCHES, "search") for s in searches], np.int32)
    count, length = whole(seeds, "seeds", 1, 10000) * len(numbers), len(run.frames)
    values, frames = np.zeros(count), np.zeros(count, np.int64)
    held, scored = np.zeros((count, length), np.uint8), np.zeros(1, np.int32)
    with _rewarding(run.cart, run.before, goal == "score") as env:
        call = _c.SteerCall(
            goal=goal,
            env=env,
            searches=numbers,
            search_count=len(numbers),
            seeds=seeds,
            budget=budget,
            window=window,
            threads=threads,
        )
        lib.vcs_call_steer(run._c_run(), call, values, frames, held, scored)
    sign = 1 if scored[0] else -1
    return [
        Steered(
            SEARCHES[numbers[i % len(numbers)]],
            i // len(numbers) + 1,
            sign * float(values[i]) + 0.0,
            int(frames[i]),
            [_action(h) for h in held[i]],
        )
        for i in range(count)
    ]


def _action(held: int) -> str:
    """The action that holds these controls."""
    vertical = "UP" if held & 1 else "DOWN" if held & 2 else ""
    horizontal = "LEFT" if held & 4 else "RIGHT" if held & 8 else ""
    name = vertical + horizontal + ("FIRE" if held & 16 else "") or "NOOP"
    assert name in ACTION_NAMES
    return name


# ---- patches ---------------------------------------------------------------------------------------------------------


def _image(image: Any, name: str) -> np.ndarray:
    return _arrays.integers(np.frombuffer(image, np.uint8) if isinstance(image, bytes) else image, name, np.uint8)


def apply_patch(image: Any, patch: bytes) -> np.ndarray:
    """An image with an IPS or BPS patch applied."""
    image, changes = _image(image, "image"), _image(patch, "patch")
    result = np.zeros(image.size, np.uint8)
    lib.vcs_patch_apply(changes, changes.size, image, image.size, result)
    return result


def make_patch(before: Any, after: Any) -> bytes:
    """The IPS patch that turns one image into another of the same size."""
    before, after = _image(before, "before"), _image(after, "after")
    if before.size != after.size:
        raise BadArgument("images before and after have the same size")
    room = 8 + 6 * before.size  # the longest patch there is
    patch = np.zeros(room, np.uint8)
    return patch[: lib.vcs_patch_make(before, after, before.size, patch, room)].tobytes()


# ---- records and histories -------------------------------------------------------------------------------------------


def record(
    cart: Cartridge | str,
    seed: int = 0,
    *,
    frames: int = 6000,
    dense: int = 120,
    stride: int = 100,
    cpu: bool = False,
    instructions: int = 1000000,
) -> str:
    """The record of a run: checksums of RAM, screen and play by frame, or (cpu) registers by instruction."""
    call = _c.RecordCall(
        cpu=bool(cpu), seed=seed, frames=frames or -1, dense=dense, stride=stride, instructions=instructions
    )
    return _text(lib.vcs_call_record(Cartridge.find(cart).handle, call))


def verify(cart: Cartridge | str, text: str, seed: int = 0) -> dict[str, int]:
    """Runs what a record describes and compares: `differs_at` is the first row that differs, or -1."""
    check = _c.RecordCheck()
    lib.vcs_call_verify(Cartridge.find(cart).handle, text, seed, check)
    return {key: getattr(check, key) for key, *_ in check._fields_}


class History:
    """The past of a run: the machine and its frame buffers before every frame, from checkpoints."""

    def __init__(self, run: Run, first: int = 0, interval: int = 20, room: int = 600):
        self.cart = run.cart
        self.handle = lib.vcs_call_history(run.cart.handle, run._c_run(), first, interval, room)

    @property
    def frames(self) -> range:
        """The frames that can be returned to."""
        return range(lib.vcs_history_first(self.handle), lib.vcs_history_end(self.handle))

    def at(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """The machine before a frame, as a record with all its fields, and both frame buffers (2 x 320 x 160)."""
        if frame not in self.frames:
            raise IndexError(f"frame {frame} is not among {self.frames}")
        machine, frames = np.zeros(self.cart.state_size, np.uint8), np.zeros((2, 320, 160), np.uint8)
        lib.vcs_history_go(self.handle, frame, machine, frames)
        return machine.view(self.cart.state_dtype)[0], frames


def history(run: Run, first: int = 0, **options: int) -> History:
    """The history of a run whose first frame has the number `first`."""
    return History(run, first, **options)


# ---- derivatives in one direction, pairs of flips --------------------------------------------------------------------


class Workspace:
    """Buffers that stay from call to call, for many derivatives of short runs on one cartridge."""

    def __init__(self) -> None:
        self.handle = lib.vcs_call_workspace()


def vjp_directional(
    run: Run,
    direction: Derivatives,
    *,
    dframes: np.ndarray | None = None,
    dram: np.ndarray | None = None,
    dstate: np.ndarray | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Derivatives:
    """The transpose of what jvp does in a direction (dstate, drom, dinput of `direction`; None is zero): takes account of
    moves that cancel, which vjp cannot. Methods bit and bit+fork."""
    cart, count, shape = run.cart, len(run.frames), run.frames.shape[1:]
    pixels = None
    if dframes is not None:
        pixels = np.zeros((count, *shape), np.float32)
        pixels[-1 if np.ndim(dframes) == 2 else np.s_[:]] = _array(
            dframes, shape if np.ndim(dframes) == 2 else (count, *shape), "dframes"
        )
    weights = None if dstate is None and dram is None else _state_slots(cart, dstate, dram, "dstate")
    result = Derivatives(
        cart,
        dstate=np.zeros(8 * cart.state_size, np.float32),
        drom=np.zeros((cart.rom.size, 8), np.float32),
        dinput=np.zeros((count, _c.INPUTS), np.float32),
    )
    given = _c.GradInputs(state=direction.dstate, rom=direction.drom, input=direction.dinput)
    inputs = _c.GradInputs(state=result.dstate, rom=result.drom, input=result.dinput)
    outputs, report = _c.GradOutputs(pixels=pixels, state=weights), _c.GradReport()
    lib.vcs_grad_vjp_directional(
        (workspace or Workspace()).handle, run._c_run(), grad_options(cart, **options), given, inputs, outputs, report
    )
    result.report = {key: getattr(report, key) for key, *_ in report._fields_}
    return result


def truth_pairs(
    run: Run, places: np.ndarray, pairs: np.ndarray, *, values: str = "index", maps: bool = True, threads: int = 0
) -> Truth:
    """The interactions of two places beyond what each does alone: F(11) - F(10) - F(01) + F(00), after the last frame, for
    pairs (count x 2) of numbers of places."""
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    pairs = _arrays.integers(pairs, "pairs", np.uintp)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.max() >= len(places)):
        raise BadArgument(f"pairs are count x 2 numbers from 0 to {len(places) - 1}")
    count, shape, scale = len(pairs), run.frames.shape[1:], run.cart.pixel_values(values)
    channels = 3 if scale.ndim == 2 else 1
    rows, base = np.zeros((count, 1), TRUTH), np.zeros(1, TRUTH)
    pixels = ram = None
    if maps:
        pixels = np.zeros((count, 1, *shape) + ((3,) if channels == 3 else ()), np.float32)
        ram = np.zeros((count, 1, _c.RAM_BYTES, 8), np.float32)
    options = _c.TruthOptions(
        horizons=np.array([len(run.frames)], np.int32),
        horizon_count=1,
        threads=threads,
        values=scale,
        channels=channels,
    )
    results = _c.TruthResults(base=base, rows=rows, pixels=pixels, ram=ram)
    lib.vcs_call_truth_pairs(run._c_run(), options, places, len(places), pairs, count, results)
    return Truth(rows, base, pixels, ram)
