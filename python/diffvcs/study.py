"""Questions about a run: the functions of include/diffvcs/study.h.

A run is what `diffvcs.run` returns. No function here changes it.

    run = diffvcs.run("demo", state, ["NOOP"] * 8)
    diffvcs.explain(run, "pixel:80,100")["lit_by"]
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
    TRUTH,
    Derivatives,
    Run,
    Truth,
    _array,
    _clear_other_groups,
    _groups,
    _places,
    _rewarding,
    _slots,
    _state_slots,
    grad_options,
    need_run,
)
from .machine import ACTION_NAMES

METHODS = ("naive", "ste", "bit", "bit+fork", "exact", "hybrid")
SCORED = ("naive", "ste", "bit", "bit+fork", "hybrid", "exact")  # by default, in this order
SEARCHES = ("random", "blind", "guided", "smooth", "evolution", "exact", "cem", "horizon", "mixed")
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
    """Explains an output after the last frame of a run.

    The result names the objects that draw it, and the register writes, instructions, bytes and controls that it depends on.

    Args:
        run: what diffvcs.run returned.
        target: "pixel:80,100" (column, row), "region:0,0,8,8", "ram:9C" or "score"; or None, with an object.
        object: all pixels of an object: "P0", "P1", "M0", "M1", "BL" or "PF".
        span: bits of RAM and ROM are flipped this many frames before the end.
        window: of bit+fork, in instructions.
        frame: the number of the run's last frame, for the page.
        directory: an existing folder that gets the page as well.

    Returns the contents of explain.json as a dictionary.

    Example:
        >>> diffvcs.explain(run, object="P0")["lit_by"]
        ['player 0']
    """
    need_run(run)
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
    """The instructions of a frame; `slice` marks the instructions from which a result was computed."""

    rows: np.ndarray  # pc, opcode, a, x, y, clock, end_clock, accesses, text, slice
    sources: np.ndarray  # addresses that the slice reads and did not write

    @property
    def instructions(self) -> np.ndarray:
        """The rows that are in the slice."""
        return self.rows[self.rows["slice"] != 0]


def slice(run: Run, instructions: Sequence[int] = ()) -> Slice:
    """Returns the instructions of a run's last frame, and the dynamic slice of some of them.

    The slice of an instruction contains it and all instructions of the frame from which its result was computed.

    Args:
        run: what diffvcs.run returned.
        instructions: numbers of instructions in the frame, from 0 on; without any, the slice is empty.

    Example:
        >>> found = diffvcs.slice(run, [500])
        >>> bool(found.rows["slice"][500]), len(found.rows) > len(found.instructions) > 0
        (True, True)
    """
    need_run(run)
    marks = _arrays.integers(list(instructions), "instructions").reshape(-1)
    rows = _rows("vcs_slice_row_t", _c.FRAME_INSTRUCTIONS)
    count, sources = np.zeros(1, np.int32), np.zeros(65536, np.uint8)
    lib.vcs_call_slice(run._c_run(), marks, len(marks), rows, count, sources)
    return Slice(_readable(rows[: count[0]].copy()), np.flatnonzero(sources))


def rom_uses(run: Run) -> np.ndarray:
    """Returns how a run uses each byte of the image: kind (a number of ROM_KINDS), read, address, pc, text.

    Example:
        >>> uses = diffvcs.rom_uses(run)
        >>> bool((uses["kind"] == diffvcs.study.ROM_KINDS.index("opcode")).any())
        True
    """
    need_run(run)
    uses = _rows("vcs_rom_use_t", run.cart.rom.size)
    lib.vcs_rom_uses(run._c_run(), uses)
    return _readable(uses)


@dataclass
class Attribution(Derivatives):
    """The derivatives of a target, and its value."""

    value: float = 0.0


def attribute(
    run: Run,
    target: str,
    *,
    method: str = "bit+fork",
    wrt: str | Sequence[str] = "rom,ram,cartram,input",
    **options: Any,
) -> Attribution:
    """Returns the derivative of a target with respect to every bit before the run and every input in it.

    Args:
        run: what diffvcs.run returned.
        target: "pixel:X,Y", "region:X,Y,W,H", "screen", "ram:9C", "ram:9C.3" or "score".
        method: "exact", "hybrid", "bit", "bit+fork", "ste" or "naive"; further options are those of vjp.
        wrt: groups of bits, as for vjp; "state" is the whole machine.

    Example:
        >>> found = diffvcs.attribute(run, "ram:80")
        >>> found.value == int(run.ram[-1][0]), found.drom.shape
        (True, (4096, 8))
    """
    need_run(run)
    cart, groups = run.cart, _groups(wrt, method)
    found = Attribution(cart, **_slots(cart, len(run.frames), groups))
    options = {"side": "mean", **options}
    inputs = _c.GradInputs(state=found.dstate, rom=found.drom, input=found.dinput)
    value, report = np.zeros(1), _c.GradReport()
    with _rewarding(cart, run.before, target == "score") as env:
        call = _c.AttributeCall(env=env, target=target)
        lib.vcs_call_attribute(run._c_run(), call, grad_options(cart, method, **options), inputs, value, report)
    _clear_other_groups(run, groups, found.dstate)
    found.value = float(value[0])
    found.report = {key: getattr(report, key) for key, *_ in report._fields_}
    return found


@dataclass
class Effect:
    """The derivative of the last picture and state with respect to one place, and how well it agrees with the truth."""

    dframe: np.ndarray  # height x 160
    dstate: np.ndarray  # slots of the state after the run
    pixels: Comparison
    ram: Comparison
    report: dict[str, int]


def effect(run: Run, place: np.ndarray | str, *, method: str = "bit+fork", **options: Any) -> Effect:
    """Estimates the effect of one bit or input by one forward pass, and compares it with the truth from running again.

    Args:
        run: what diffvcs.run returned.
        place: one place of `places`, or its name: "ram:9C.3", "rom:F123.4", "input:0.right".
        method: "hybrid", "bit", "bit+fork", "ste" or "naive"; further options are those of jvp.

    Example:
        >>> found = diffvcs.effect(run, "input:0.right")
        >>> found.dframe.shape, found.pixels.in_both <= found.pixels.in_truth
        ((210, 160), True)
    """
    need_run(run)
    if isinstance(place, str):
        place = places(run, place)
    chosen = _arrays.records(place, "place", PLACE, "places, ram_places and input_places")
    if chosen.size != 1:
        raise BadArgument(f"effect takes one place, not {chosen.size}")
    found, report = _rows("vcs_agreement_t", 2), _c.GradReport()
    dframe = np.zeros(run.frames.shape[1:], np.float32)
    dstate = np.zeros(8 * run.cart.state_size, np.float32)
    settings = grad_options(run.cart, method, **options)
    lib.vcs_call_effect(run._c_run(), chosen, settings, dframe, dstate, found, report)
    numbers = {key: getattr(report, key) for key, *_ in report._fields_}
    return Effect(dframe, dstate, _comparison(found[0]), _comparison(found[1]), numbers)


def places(run: Run, text: str) -> np.ndarray:
    """Lists bits of a run by name.

    Args:
        run: what diffvcs.run returned.
        text: groups (ram, rom, input, cpu, pc, tia, riot, cartram, state), or single bits and bytes, with commas between them:
            "ram:9C.3" (an address; "9C.3" is the same), "rom:F123.4" (an address), "rom:@1F0.4" (an offset in the image),
            "grp[1].0", "input:0.left". These are the names after --wrt and --bits of the commands.

    Returns an array of places; study.place_labels returns their names.

    Example:
        >>> len(diffvcs.places(run, "ram")), len(diffvcs.places(run, "80.0,input:0.left"))
        (1024, 2)
    """
    return _places(run, text)[0]


def place_labels(run: Run, text: str) -> list[str]:
    r"""Returns the names of the places that `places` lists: the byte and the bit, with a tab between them.

    Example:
        >>> diffvcs.study.place_labels(run, "80.1")
        ['0\t1']
    """
    return [label.decode() for label in _places(run, text)[1]]


# ---- objects of the picture ------------------------------------------------------------------------------------------


def object_boxes(run: Run) -> dict[str, tuple[int, int, int, int]]:
    """Returns the smallest rectangle (x, y, width, height) of the pixels that each object draws in a run's first frame.

    Objects (P0, P1, M0, M1, BL, PF) that draw nothing are left out.

    Example:
        >>> len(diffvcs.object_boxes(run)["P0"])
        4
    """
    need_run(run)
    boxes = _rows("vcs_box_t", len(OBJECTS))
    lib.vcs_object_boxes(run._c_run(), boxes)
    return {
        name: (int(box["x"]), int(box["y"]), int(box["width"]), int(box["height"]))
        for name, box in zip(OBJECTS, boxes)
        if box["width"]
    }


def frame_without(run: Run, object: str) -> np.ndarray:
    """Returns the picture of a run's first frame with one object ("P0", "P1", "M0", "M1", "BL", "PF") removed.

    Example:
        >>> bool((diffvcs.frame_without(run, "P0") != run.frames[0]).any())
        True
    """
    need_run(run)
    machine, frames = np.zeros(run.cart.state_size, np.uint8), np.zeros(2 * _c.FRAME_BYTES, np.uint8)
    picture = np.zeros(run.frames.shape[1:], np.uint8)
    lib.vcs_frame_without(run._c_run(), _index(object, OBJECTS, "object"), machine, frames)
    lib.vcs_picture_copy(run.cart.handle, machine, frames, picture)
    return picture


# ---- methods beside the truth ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """The agreement of a map of estimated effects with the true map. NaN: neither map has a value to compare."""

    cosine: float  # of the two maps as vectors; 0 where one of them is zero
    sign: float  # share of the values that are nonzero in both maps and have the same sign
    precision: float  # share of the estimate's nonzero values that are nonzero in the truth
    recall: float  # share of the truth's nonzero values that are nonzero in the estimate
    in_truth: int  # nonzero values
    in_estimate: int
    in_both: int


def _comparison(sums: Any) -> Comparison:
    """`sums` is a row of vcs_agreement_t."""
    values = {name: sums[name].item() for name in sums.dtype.names}
    found = _c.Agreement(**values)
    return Comparison(
        cosine=lib.vcs_agreement_cosine(found),
        sign=lib.vcs_agreement_sign(found),
        precision=lib.vcs_agreement_precision(found),
        recall=lib.vcs_agreement_recall(found),
        in_truth=values["in_truth"],
        in_estimate=values["in_estimate"],
        in_both=values["in_both"],
    )


def compare(truth: np.ndarray, estimate: np.ndarray) -> Comparison:
    """Compares a map of estimated effects with the true one: cosine, sign, precision, recall.

    Args:
        truth, estimate: numbers of the same shape, for example a row of `truth(...).dframes` and your own attribution.

    Example:
        >>> diffvcs.compare([1, 0, 2], [2, 1, 0]).recall
        0.5
    """
    true, estimated = _arrays.floats(truth, "truth"), _arrays.floats(estimate, "estimate", finite=False)
    if true.shape != estimated.shape:
        raise BadArgument(f"maps have the same shape, not {true.shape} and {estimated.shape}")
    found = _c.Agreement()
    lib.vcs_agreement_add(found, true, estimated, true.size)
    return _comparison(np.frombuffer(found, dtype_of("vcs_agreement_t"))[0])


@dataclass
class Agreement:
    """The agreement of predicted with true effects: the sums of vcs_agreements_t, methods x horizons x views."""

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
        """The share of values that are nonzero in both and have the same sign."""
        return self._share("same_sign", "in_both")

    @property
    def precision(self) -> np.ndarray:
        """The share of the predicted nonzero values that are nonzero in the truth."""
        return self._share("in_both", "in_estimate")

    @property
    def recall(self) -> np.ndarray:
        """The share of the true nonzero values that are predicted nonzero."""
        return self._share("in_both", "in_truth")


def score(
    run: Run,
    places: np.ndarray,
    *,
    methods: Sequence[str] = SCORED,
    horizons: Sequence[int] | None = None,
    window: int = 256,
    threads: int = 0,
    budget: float = 0.0,
) -> Agreement:
    """Measures the agreement of predicted effects with the true ones, on the screen and on RAM (VIEWS).

    Args:
        run: what diffvcs.run returned.
        places: bits of the state and inputs; each is flipped separately.
        methods: some of "naive", "ste", "bit", "bit+fork", "hybrid", "exact".
        horizons: the frames after which effects are compared; None: the last one.
        window: of bit+fork, in instructions; threads: 0: one for each core; budget: of hybrid (grad_options).

    Returns Agreement, whose cosine, sign, precision and recall are arrays of methods x horizons x views.

    Example:
        >>> places = diffvcs.input_places([0], ["left", "right"])
        >>> diffvcs.score(run, places, methods=["bit"]).recall.shape
        (1, 1, 2)
    """
    need_run(run)
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places and input_places")
    looks = _arrays.horizons(horizons, len(run.frames))
    numbers = np.array([_index(m, METHODS, "method") for m in methods], np.int32)
    results = _rows("vcs_agreements_t", len(numbers) * len(looks) * 2).reshape(len(numbers), len(looks), 2)
    options = _c.ScoreOptions(
        horizons=looks,
        horizon_count=len(looks),
        methods=numbers,
        method_count=len(numbers),
        window=window,
        threads=threads,
        budget=budget,
    )
    lib.vcs_score(run._c_run(), options, places, len(places), results)
    return Agreement(results)


def _game_options(
    horizons: Sequence[int], methods: Sequence[str], frame: int, seed: int, states: int, bits: int, rom_bits: int,
    pixels: int, window: int, threads: int, costs: bool,
) -> Any:  # fmt: skip
    looks = _arrays.horizons(horizons)
    numbers = np.array([_index(m, METHODS, "method") for m in methods], np.int32)
    return _c.ScoreGameOptions(
        horizons=looks, horizon_count=len(looks), methods=numbers, method_count=len(numbers), frame=frame, seed=seed,
        states=states, bits=bits, rom_bits=rom_bits, pixels=pixels, window=window, threads=threads, costs=bool(costs),
    )  # fmt: skip


def score_game(
    cart: Cartridge | str,
    *,
    name: str | None = None,
    horizons: Sequence[int] = (1, 2, 4, 8, 15),
    methods: Sequence[str] = SCORED,
    frame: int = 300,
    seed: int = 0,
    states: int = 4,
    bits: int = 128,
    rom_bits: int = 64,
    pixels: int = 4,
    window: int = 256,
    threads: int = 0,
    costs: bool = False,
    stop: np.ndarray | None = None,
) -> str:
    """Scores a game by every method: the rows of `diffvcs score` for it, as text.

    Args:
        cart: a Cartridge or the name of a game; name: its name in the rows, if not the cartridge's own name.
        horizons ... window: the options of the command (docs/commands.md), with its defaults.
        threads: 0: one for each core. The rows do not depend on it.
        costs: whether to measure the cost of each method. False: that column is `-`, and the rows are always the same.
        stop: an array of one int32; another thread that sets it to 1 ends the call.

    Example:
        >>> rows = diffvcs.study.score_game("demo", bits=0, rom_bits=0, states=1, horizons=[1], methods=["bit"])
        >>> rows.split()[:5]
        ['demo', 'bit', 'left/right', '1', 'screen']
    """
    cart = Cartridge.find(cart)
    options = _game_options(horizons, methods, frame, seed, states, bits, rom_bits, pixels, window, threads, costs)
    stop = np.zeros(1, np.int32) if stop is None else stop
    return _text(lib.vcs_call_score_game(cart.handle, name or cart.name, options, stop))


def score_heading(profile: str = "ale", **options: Any) -> str:
    """Returns the two lines above the rows of `score_game`; it takes the same options.

    Example:
        >>> diffvcs.study.score_heading(frame=60)[:44]
        '# diffvcs score: profile ale, frame 60 of st'
    """
    defaults = dict(horizons=(1, 2, 4, 8, 15), methods=SCORED, frame=300, seed=0, states=4, bits=128, rom_bits=64,
                    pixels=4, window=256, threads=0, costs=False)  # fmt: skip
    return _text(
        lib.vcs_call_score_heading(_index(profile, _c.PROFILES, "profile"), _game_options(**{**defaults, **options}))
    )


def annotate(
    cart: Cartridge | str,
    *,
    name: str | None = None,
    seeds: int = 6,
    depths: int = 8,
    threads: int = 0,
    stop: np.ndarray | None = None,
) -> str:
    """Finds the meaning of every byte of RAM. Returns the file of `diffvcs annotate --json` as text.

    Args:
        cart: a Cartridge or the name of a game; name: its name in the file, if not the cartridge's own name.
        seeds, depths: plays, and states of each play.
        threads: 0: one for each core. The text does not depend on it.
        stop: an array of one int32; another thread that sets it to 1 ends the call.

    Example:
        >>> json.loads(diffvcs.study.annotate("demo", seeds=1, depths=1))["game"]
        'demo'
    """
    cart = Cartridge.find(cart)
    for count, what in ((seeds, "seeds"), (depths, "depths")):
        whole(count, what, 1, 2**31 - 1)  # to C, 0 is the default
    stop = np.zeros(1, np.int32) if stop is None else stop
    return _text(lib.vcs_call_annotate(cart.handle, name or cart.name, seeds, depths, threads, stop))


@dataclass
class Joystick:
    """The effects of each direction of the stick."""

    maps: np.ndarray  # ANSWERS x CONTROLS x frames x height x 160: d(luminance) / d(control)
    inverse: np.ndarray  # ANSWERS x CONTROLS: d(sum of luminance * (column - 80) over the rows) / d(control)


def joystick(run: Run, rows: tuple[int, int], *, press: int = 0, held: bool = False, window: int = 256) -> Joystick:
    """Computes the effect of each direction of the stick on every pixel after every frame: the truth, and predictions.

    Args:
        run: a run in which nothing is held.
        rows: (top, bottom) of the inverse question: which direction moves the light in these rows to the right?
        press: the frame in which a direction is pressed; held: whether it stays pressed from then on.
        window: of bit+fork, in instructions.

    Example:
        >>> diffvcs.joystick(run, (20, 180)).maps.shape  # answers x directions x frames x height x 160
        (4, 4, 8, 210, 160)
    """
    need_run(run)
    call = _c.JoystickCall(press=press, held=bool(held), top=rows[0], bottom=rows[1], window=window)
    maps = np.zeros((len(ANSWERS), len(CONTROLS), *run.frames.shape), np.float32)
    inverse = np.zeros((len(ANSWERS), len(CONTROLS)))
    lib.vcs_call_joystick(run._c_run(), call, maps, inverse)
    return Joystick(maps, inverse)


# ---- searches --------------------------------------------------------------------------------------------------------


@dataclass
class Edit:
    """An edited image, and the pictures before and after."""

    image: np.ndarray
    patch: bytes  # IPS, from the cartridge's image to this one
    before: np.ndarray  # last pictures, palette indices
    after: np.ndarray
    wrong_before: int  # pixels of the region that differ from the drawing
    wrong_after: int
    walks: int  # Jacobians or reverse passes, and runs, that were computed
    runs: int
    frames: int  # emulated
    changed: int = 0  # pixels outside the region that changed, in all frames; with keep
    pairs: int = 0  # first values that were tried with all values of all other bytes
    pairs_left: int = -1  # first values that were not tried at the end; 0: no pair helps; -1: not known


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
    keep: float = 0.0,
    pairs: int = 0,
    code: bool = False,
) -> Edit:
    """Flips bits of ROM bytes that the run reads as data until its last picture shows a drawing.

    Args:
        run: what diffvcs.run returned.
        drawing: height x width x 3 bytes, RGB; x, y: the column and the row of its top left corner.
        exact: True: the drawing's colours; False: light pixels mean the region's brightest colour, dark its commonest.
        method: "exact", or an estimate: "bit", "bit+fork", "ste" or "naive"; window: of bit+fork.
        steps: Jacobians or reverse passes at most.
        budget: emulated frames after which no step begins; 0: any number.
        keep: the weight of a pixel outside the drawing that changes, in each frame, in wrong pixels; 0: it may change.
        pairs: where no byte helps: values of a byte that are tried with all values of all others, at most; 0: none.
        code: operands of immediate instructions may change, too.

    Returns Edit: the image, an IPS patch, the pictures, and how many pixels were wrong before and after.

    Example:
        >>> drawing = np.zeros((8, 16, 3), np.uint8)
        >>> drawing[::2] = 255
        >>> found = diffvcs.edit(run, drawing, x=0, y=40, steps=1)
        >>> found.wrong_after <= found.wrong_before
        True
    """
    need_run(run)
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
        keep=keep,
        pairs=pairs,
        code=bool(code),
    )
    image, counts = np.zeros(run.cart.rom.size, np.uint8), np.zeros(8, np.int64)
    before, after = np.zeros(run.frames.shape[1:], np.uint8), np.zeros(run.frames.shape[1:], np.uint8)
    lib.vcs_call_edit(run._c_run(), call, image, before, after, counts)
    return Edit(image, make_patch(run.cart.rom, image), before, after, *(int(n) for n in counts))


@dataclass
class Steered:
    """The best sequence of actions of one search and seed."""

    search: str
    seed: int  # from 1 on
    value: float  # the score, or the distance to the goal
    frames: int  # emulated until it was found
    actions: list[str]


def steer(
    run: Run,
    goal: str,
    *,
    searches: Sequence[str] = ("horizon",),
    seeds: int = 20,
    budget: int = 20000,
    window: int = 16,
    threads: int = 0,
) -> list[Steered]:
    """Searches for actions in the frames of a run that reach a goal.

    Args:
        run: its frames are the ones in which actions are chosen.
        goal: "score"; "ram:9C=60", the value of a byte after the last frame; "object:player 0 x=80", the pixel of an object then,
            as Machine.set names it (docs/annotations.md); or up to eight bytes and objects with commas between them.
        searches: some of "random", "blind", "guided", "smooth", "evolution", "exact", "cem", "horizon", "mixed".
        seeds: how often each search begins anew; budget: emulated frames for each search and seed.
        window: of forks, in instructions; threads: 0: one for each core.

    Returns a list of Steered, seed by seed.

    Example:
        >>> found = diffvcs.steer(run, "ram:80=200", searches=["guided"], budget=100)
        >>> found[0].search, len(found[0].actions)
        ('guided', 8)
    """
    need_run(run)
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
    """Returns an image with an IPS or BPS patch applied.

    Example:
        >>> diffvcs.apply_patch(bytes(4), b"PATCH" + bytes([0, 0, 1, 0, 1, 7]) + b"EOF").tolist()
        [0, 7, 0, 0]
    """
    image, changes = _image(image, "image"), _image(patch, "patch")
    result = np.zeros(image.size, np.uint8)
    lib.vcs_patch_apply(changes, changes.size, image, image.size, result)
    return result


def make_patch(before: Any, after: Any) -> bytes:
    """Returns the IPS patch that turns one image into another of the same size.

    Example:
        >>> patch = diffvcs.make_patch(bytes(4), bytes([0, 7, 0, 0]))
        >>> diffvcs.apply_patch(bytes(4), patch).tolist()
        [0, 7, 0, 0]
    """
    before, after = _image(before, "before"), _image(after, "after")
    if before.size != after.size:
        raise BadArgument("images before and after have the same size")
    room = 8 + 6 * before.size  # the longest patch there is
    patch = np.zeros(room, np.uint8)
    return patch[: lib.vcs_patch_make(before, after, before.size, patch, room)].tobytes()


# ---- traces, records and histories -------------------------------------------------------------------------------------------


def trace(
    cart: Cartridge | str, first: int = 1, last: int = 0, *, seed: int | None = None, limit: int = 0
) -> np.ndarray:
    """Lists every instruction of some frames of a fresh run, as `diffvcs trace` prints them.

    Args:
        cart: a Cartridge or the name of a game.
        first, last: frames, both included; 0 for the last one means `first`, or with `limit` no end.
        seed: None for the run of a CPU record, which begins with a reset; a number for the run of that play record.
        limit: rows at most; 0: no limit.

    Returns an array with a row for each instruction: frame, number, pc_before, pc, opcode, a, x, y, sp, p (after it),
    frame_over, jammed, cycles, state_chain, cycle_chain, text.

    Example:
        >>> diffvcs.trace("demo", limit=2)["text"].tolist()
        [b'SEI', b'CLD']
    """
    handle, limit = Cartridge.find(cart).handle, whole(limit, "limit", 0, 2**63 - 1)
    call = _c.TraceCall(from_frame=first, to_frame=last, limit=limit, play=seed is not None, seed=seed or 0)
    count, room = np.zeros(1, np.uintp), min(limit or _c.FRAME_INSTRUCTIONS, _c.FRAME_INSTRUCTIONS)
    while True:
        rows = _rows("vcs_trace_row_t", room)
        lib.vcs_call_trace(handle, call, rows, room, count)
        if count[0] <= room:
            return _arrays.flat_rows(rows[: count[0]].copy())
        room = int(count[0])


def action_stream(seed: int, frames: int) -> list[str]:
    """Returns the actions of the first `frames` frames of a play record's seed; seed 0 is always NOOP.

    Example:
        >>> diffvcs.action_stream(0, 2)
        ['NOOP', 'NOOP']
    """
    stream = _c.Stream()
    lib.vcs_stream_start(stream, seed)
    return [ACTION_NAMES[lib.vcs_stream_next(stream)] for _ in range(whole(frames, "frames", 0, 2**31 - 1))]


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
    """Makes the record of a run, as text: checksums of RAM, screen and play by frame, or of registers by instruction.

    Args:
        cart: a Cartridge or the name of a game.
        seed: of the action stream; 0: NOOP only.
        frames: of a play record; it has a row for each of the first `dense` frames, then for every `stride`-th.
        cpu: True makes a CPU record of `instructions` instructions.

    Example:
        >>> diffvcs.record("demo", 1, frames=10).splitlines()[0]
        '# height=210 width=160 profile=ale'
    """
    call = _c.RecordCall(
        cpu=bool(cpu),
        seed=seed,
        frames=whole(frames, "frames", 0, 2**63 - 1) or -1,
        dense=dense,
        stride=stride,
        instructions=instructions,
    )
    return _text(lib.vcs_call_record(Cartridge.find(cart).handle, call))


def verify(cart: Cartridge | str, text: str, seed: int = 0) -> dict[str, int]:
    """Repeats the run of a record and compares it with the record.

    Args:
        cart: a Cartridge or the name of a game.
        text: the record; seed: of its action stream.

    Returns the fields of vcs_record_check_t: `differs_at` is the first row that differs, or -1.

    Example:
        >>> diffvcs.verify("demo", diffvcs.record("demo", 1, frames=10), 1)["differs_at"]
        -1
    """
    check = _c.RecordCheck()
    lib.vcs_call_verify(Cartridge.find(cart).handle, text, seed, check)
    return {key: getattr(check, key) for key, *_ in check._fields_}


def verify_file(
    path: str | os.PathLike[str], profile: str = "xitari", roms: str | os.PathLike[str] | None = None
) -> dict[str, int]:
    """Repeats the run of a record in a file and compares it with the record, as `diffvcs verify` does.

    Args:
        path: GAME.SEED.tsv[.gz] is a play record, GAME.tsv[.gz] a CPU record; its name gives the game and the seed.
        profile: of records that do not name theirs.
        roms: a folder that is searched first for the game's image.

    Returns the same as `verify`.

    Example:
        >>> with open("demo.1.tsv", "w") as file:
        ...     length = file.write(diffvcs.record("demo", 1, frames=10))
        >>> diffvcs.verify_file("demo.1.tsv")["differs_at"]
        -1
    """
    check = _c.RecordCheck()
    lib.vcs_call_verify_file(path, _index(profile, _c.PROFILES, "profile"), roms, check)
    return {key: getattr(check, key) for key, *_ in check._fields_}


class History:
    """The past of a run: the machine and its frame buffers before every frame, restored from checkpoints.

    Example:
        >>> past = diffvcs.history(run, first=100)
        >>> past.frames
        range(100, 108)
        >>> machine_before, frame_buffers = past.at(103)
        >>> bool((machine_before["ram"] == run.ram[2]).all())
        True
    """

    def __init__(self, run: Run, first: int = 0, interval: int = 20, room: int = 600):
        need_run(run)
        self.cart = run.cart
        self.handle = lib.vcs_call_history(run.cart.handle, run._c_run(), first, interval, room)

    @property
    def frames(self) -> range:
        """The frames whose machines can be restored."""
        return range(lib.vcs_history_first(self.handle), lib.vcs_history_end(self.handle))

    def at(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the machine before a frame, as a record with all its fields, and both frame buffers (2 x 320 x 160)."""
        if frame not in self.frames:
            raise IndexError(f"frame {frame} is not among {self.frames}")
        machine, frames = np.zeros(self.cart.state_size, np.uint8), np.zeros((2, 320, 160), np.uint8)
        lib.vcs_history_go(self.handle, frame, machine, frames)
        return machine.view(self.cart.state_dtype)[0], frames


def history(run: Run, first: int = 0, **options: int) -> History:
    """Makes the history of a run whose first frame has the number `first`.

    Options are `interval`, the frames between two checkpoints, and `room`, how many checkpoints are kept.

    Example:
        >>> diffvcs.history(run, first=100, interval=4).frames
        range(100, 108)
    """
    return History(run, first, **options)


# ---- derivatives in one direction, pairs of flips --------------------------------------------------------------------


class Workspace:
    """Buffers that are kept between calls, for many derivatives of short runs on one cartridge.

    Example:
        >>> workspace = diffvcs.Workspace()
        >>> direction = diffvcs.Derivatives(run.cart, dinput=np.ones((8, 12), np.float32))
        >>> diffvcs.vjp_directional(run, direction, dram=np.ones(128), workspace=workspace).dinput.shape
        (8, 12)
    """

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
    """Returns the product with the transpose of the Jacobian that jvp uses along one direction.

    Unlike vjp, it handles moves that cancel along that direction.

    Args:
        run: what diffvcs.run returned.
        direction: Derivatives whose dstate, drom and dinput are the direction; None is zero.
        dframes, dram, dstate: weights of outputs, as for vjp.
        workspace: buffers that are reused.
        options: method ("bit" or "bit+fork"), fork_window, values.

    Example:
        >>> direction = diffvcs.Derivatives(run.cart, dinput=np.ones((8, 12), np.float32))
        >>> diffvcs.vjp_directional(run, direction, dram=np.ones(128)).dinput.shape
        (8, 12)
    """
    need_run(run)
    if not isinstance(direction, Derivatives):
        raise TypeError(
            f"a direction is Derivatives, whose dstate, drom and dinput count, not {type(direction).__name__}"
        )
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


def truth_sets(
    run: Run, sets: Sequence[np.ndarray], *, values: str = "index", maps: bool = True, threads: int = 0
) -> Truth:
    """Returns the exact effect of flipping several places together: one row for each set of places.

    Args:
        run: what diffvcs.run returned; effects are those after its last frame.
        sets: arrays of places, as `places`, `ram_places` and `input_places` make them.
        values: what a pixel counts: "index", "luminance" or "rgb".
        maps: whether to compute signed pictures and RAM bits too.
        threads: 0: one for each core.

    Example:
        >>> diffvcs.truth_sets(run, [diffvcs.places(run, "80"), diffvcs.places(run, "80.0")]).rows.shape
        (2, 1)
    """
    need_run(run)
    chosen = [_arrays.records(s, "places", PLACE, "places, ram_places, rom_places and input_places") for s in sets]
    ends = np.cumsum([len(s) for s in chosen], dtype=np.uintp)
    flat = np.concatenate([np.zeros(0, PLACE), *chosen])
    results, options = _truth_arrays(run, len(chosen), values, maps, threads)
    lib.vcs_truth_sets(run._c_run(), options, flat, ends, len(chosen), _c.TruthResults(**results))
    return Truth(results["rows"], results["base"], results["pixels"], results["ram"])


def _truth_arrays(run: Run, count: int, values: str, maps: bool, threads: int) -> tuple[dict[str, Any], Any]:
    """Arrays for `count` exact effects after the last frame, and their options."""
    shape, scale = run.frames.shape[1:], run.cart.pixel_values(values)
    channels = 3 if scale.ndim == 2 else 1
    results: dict[str, Any] = {
        "rows": np.zeros((count, 1), TRUTH),
        "base": np.zeros(1, TRUTH),
        "pixels": None,
        "ram": None,
    }
    if maps:
        results["pixels"] = np.zeros((count, 1, *shape) + ((3,) if channels == 3 else ()), np.float32)
        results["ram"] = np.zeros((count, 1, _c.RAM_BYTES, 8), np.float32)
    horizons = np.array([len(run.frames)], np.int32)
    options = _c.TruthOptions(horizons=horizons, horizon_count=1, threads=threads, values=scale, channels=channels)
    return results, options


def truth_pairs(
    run: Run, places: np.ndarray, pairs: np.ndarray, *, values: str = "index", maps: bool = True, threads: int = 0
) -> Truth:
    """Returns the interactions of pairs of places beyond their single effects: F(11) - F(10) - F(01) + F(00).

    Args:
        run: what diffvcs.run returned; effects are those after its last frame.
        places: an array of places; pairs: count x 2 numbers of them.
        values, maps, threads: as for `truth_sets`.

    Example:
        >>> diffvcs.truth_pairs(run, diffvcs.places(run, "80"), [(0, 1), (2, 7)]).rows.shape
        (2, 1)
    """
    need_run(run)
    places = _arrays.records(places, "places", PLACE, "ram_places, state_places, rom_places and input_places")
    pairs = _arrays.integers(pairs, "pairs", np.uintp).copy()
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and pairs.max() >= len(places)):
        raise BadArgument(f"pairs are count x 2 numbers from 0 to {len(places) - 1}")
    results, options = _truth_arrays(run, len(pairs), values, maps, threads)
    lib.vcs_call_truth_pairs(run._c_run(), options, places, len(places), pairs, len(pairs), _c.TruthResults(**results))
    return Truth(results["rows"], results["base"], results["pixels"], results["ram"])
