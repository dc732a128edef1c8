"""The tasks of the benchmark, and what a method may do to solve one.

A task is a run of a game (a state, and an action for each frame), an output F of the run, and sources: the bits that F
may depend on. Its truth is one number for each source, F with the bit set minus F with the bit clear, by running the
machine with the bit flipped. Nothing about a task is chosen by hand: `freeze` draws states from seeds until the truth
has causes and non-causes, and suite.json keeps what it drew with a checksum of each truth. A truth that is computed
again must have that checksum.

    track           sources                                        output F
    ram-screen      all 1,024 bits of RAM before the run           sum of the palette indices in the box of an object, last picture
    ram-score       the same                                       sum of the rewards
    rom-screen      bits of ROM bytes that the run reads as data   as ram-screen
    rom-score       the same                                       sum of the rewards
    inputs-screen   twelve inputs in each of the 15 frames         as ram-screen
    inputs-score    the same                                       sum of the rewards
    lesions         bits of ROM bytes that the run executes        1 if the game still runs 30 frames later, else 0
    ram-action      all 1,024 bits of RAM before the run           1 if a trained agent still takes the same action, else 0
    inputs-action   twelve inputs in each of the 15 frames         the same

The output is a sum of palette indices, because these are whole numbers (a sum is zero or it is not) and because the
relaxed machine has no other pixels. In the last two tracks the agent of agents.py plays: the actions of the run are
its own and stay as they are, and the output is what it would do next, from the last picture and the one four frames
before. That output has no derivative; the network's preference for the action it takes, minus that for the second
best, stands in for it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import functional, study
from .._c import WIDTH
from ..cartridge import Cartridge
from ..exact import OUTPUTS, Jacobian, jacobian
from ..functional import PLACE, Run, input_places, ram_places, rom_places
from ..machine import Machine
from . import agents

VERSION = 1
FROZEN = Path(__file__).with_name("suite.json")
FRAMES, LESION_FRAMES = 15, 30  # frames of a run
ROM_BYTES, LESION_BITS = 32, 192  # sources of the ROM tracks
LEAST = 3  # causes, and non-causes, that a task has
DRAWS = 12  # states that are drawn for a task; a task without a good one is left out
CHUNK = 32  # runs of one call
THREADS = 0  # of one call; 0: one for each core. No result depends on them
WATCHED = 512  # frames that methods which only watch may see
LATEST = 1800  # frames before a run, at most
LONGEST = LATEST + WATCHED + LESION_FRAMES  # frames of a game that any task or method sees

TRACKS = (
    "ram-screen", "ram-score", "rom-screen", "rom-score", "inputs-screen", "inputs-score", "lesions", "ram-action", "inputs-action",
)  # fmt: skip
# Games are split, not states: a threshold that was fitted on one game is used on another.
DEVELOPMENT = ("breakout", "ms_pacman")
TEST = ("donkey_kong", "pitfall", "space_invaders", "seaquest")
SUITES = {"quick": ("demo",), "dev": DEVELOPMENT, "test": (*DEVELOPMENT, *TEST)}
STATES = 1  # tasks of each game and track

# What one reverse pass costs, in frames for each frame of its run: `make bench-grad` on five games, a VJP of one pixel
# beside a frame (docs/benchmarks.md). The relaxed pass is from its CPU time beside that of a run, Space Invaders, 15
# frames.
PASS_COST = {"naive": 2, "ste": 2, "bit": 4, "bit+fork": 19, "relaxed": 190}
LARGEST = 1e15  # of a derivative: those of forks are limited to it, those of the relaxed machine overflow
RELAXED = {"window": 4, "wrap": True}


@dataclass(frozen=True)
class Task:
    """A question: which sources does the output depend on?"""

    track: str
    game: str
    number: int  # of the task among those of its track and game; it is the seed of the actions
    frame: int  # frames that are played before the run
    box: tuple[int, int, int, int]  # x, y, width, height of the output; zeros for other outputs than pixels

    @property
    def name(self) -> str:
        return f"{self.track}-{self.game}-{self.number}"

    @property
    def split(self) -> str:
        return "test" if self.game in TEST else "dev"

    @property
    def frames(self) -> int:
        return LESION_FRAMES if self.track == "lesions" else FRAMES

    @property
    def sources(self) -> str:
        return self.track.split("-")[0]

    @property
    def output(self) -> str:
        return self.track.split("-")[-1]

    @property
    def seed(self) -> int:
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little")


CARTRIDGES: dict[str, Cartridge] = {}  # by game: those that another machine sent; all other games are found by name


def _cartridge(game: str) -> Cartridge:
    return CARTRIDGES.get(game) or Cartridge.find(game)


@functools.lru_cache(maxsize=8)
def _stream(game: str, seed: int, agent: bool) -> tuple[str, ...]:
    """The actions of a game from its start: an agent's, or those of an action stream."""
    if agent:
        return tuple(agents.play(agents.load(game), seed, LONGEST, cart=_cartridge(game))[0])
    return tuple(study.action_stream(seed, LONGEST))


def _actions(task: Task, first: int, count: int) -> list[str]:
    """The actions of frames `first` to `first + count` after the start of a task's game."""
    return list(_stream(task.game, task.number + 1, task.output == "action")[first : first + count])


@functools.lru_cache(maxsize=8)
def _state(task: Task, frame: int) -> tuple[Cartridge, np.ndarray]:
    """A task's game after `frame` frames."""
    machine = Machine(_cartridge(task.game))
    machine.reset()
    for action in _actions(task, 0, frame):
        machine.act_on(action)
    return machine.cart, machine.save()


def _run(task: Task) -> Run:
    cart, state = _state(task, task.frame)
    return functional.run(cart, state, _actions(task, task.frame, task.frames))


def _places(task: Task, played: Run) -> np.ndarray:
    """The sources of a task. Those of ROM are drawn, because there are thousands."""
    if task.sources == "ram":
        return ram_places(played.cart)
    if task.sources == "inputs":
        return input_places(task.frames)
    uses, random = study.rom_uses(played)["kind"], np.random.default_rng(task.seed)
    if task.sources == "rom":
        read = np.flatnonzero(uses == study.ROM_KINDS.index("data"))
        return rom_places(played.cart, np.sort(random.permutation(read)[:ROM_BYTES]).tolist())
    executed = np.flatnonzero(uses >= study.ROM_KINDS.index("operand"))
    places = rom_places(played.cart, executed.tolist())
    return places[np.sort(random.permutation(len(places))[:LESION_BITS])]


class Problem:
    """A task as a method sees it: it may run the machine with other bits, differentiate it, or watch it play.

    Every call adds to `cost`, in emulated frames. `budget` is how many runs a method may take; a method with a choice
    of how many takes `samples(n)`.
    """

    def __init__(self, task: Task, budget: int | None = None) -> None:
        self.task, self.budget, self.cost = task, budget, 0
        self.played = _run(task)
        self.cart, self.frames = self.played.cart, task.frames
        self.places = _places(task, self.played)
        self.x = _values(self.played, self.places)  # the sources in the run, 0 or 1
        self.random = np.random.default_rng(task.seed + 1)

    def __len__(self) -> int:
        return len(self.places)

    def samples(self, wanted: int) -> int:
        """Returns how many runs of `wanted` the budget has."""
        return wanted if self.budget is None else min(wanted, self.budget)

    @functools.cached_property
    def groups(self) -> np.ndarray:
        """The number of the group of each source: bits of one byte, or the inputs of one frame."""
        key = self.places["frame"] if self.task.sources == "inputs" else self.places["index"]
        return np.unique(key, return_inverse=True)[1]

    @property
    def _agent(self) -> agents.Agent:
        return agents.load(self.task.game)

    @functools.cached_property
    def base(self) -> float:
        """The output of the run itself."""
        if self.task.output == "score":
            return float(self.played.reward.sum())
        if self.task.output in ("lesions", "action"):
            return 1.0
        x, y, width, height = self.task.box
        return float(self.played.frames[-1, y : y + height, x : x + width].sum(dtype=np.int64))

    def forward(self, rows: np.ndarray) -> np.ndarray:
        """Returns the output for each row of sources (runs x sources, 0 or 1), by running the machine with these
        bits."""
        rows = np.atleast_2d(np.asarray(rows) > 0.5)
        self.cost += len(rows) * self.frames
        flipped = rows != (self.x > 0.5)
        values = np.full(len(rows), self.base)
        busy = np.flatnonzero(flipped.any(1))
        for part in np.split(busy, range(CHUNK, len(busy), CHUNK)) if len(busy) else ():
            values[part] += _changes(self.task, self.played, [self.places[flipped[i]] for i in part])
        return values

    def occlude(self, rows: np.ndarray) -> np.ndarray:
        """Returns F(run) - F(row) for each row, and runs no more rows than the budget allows (the rest get 0)."""
        chosen = np.sort(self.random.permutation(len(rows))[: self.samples(len(rows))])
        found = np.zeros(len(rows))
        found[chosen] = self.base - self.forward(rows[chosen])
        return found

    def gradient(self, method: str, x: np.ndarray | None = None, rule: str = "derivative") -> np.ndarray | None:
        """Returns the derivative of the output with respect to each source, at the run or at other bits.

        None where a method cannot, because the relaxed machine knows neither rewards nor grey values, or because the
        budget has too few runs left. The outputs of lesions and of actions have no derivative; the sum of the last
        picture, and an agent's preference for its action, stand in for them. `rule` is how an agent's network passes a
        derivative on (agents.py).
        """
        price = self.frames * (len(self) if method == "exact" else PASS_COST[method])
        poor = self.budget is not None and self.cost + price > self.budget * self.frames
        if poor or (method == "relaxed" and self.task.output in ("score", "action")):
            return None
        self.cost += price
        played = self.played if x is None else _with(self.played, self.places, np.asarray(x) > 0.5)
        pictures = self._pictures(x) if self.task.output == "action" else None
        if method == "exact":
            sets = [self.places[i : i + 1] for i in range(len(self))]
            if pictures is None:
                changes = _sums(played, sets, *self._weighed())
            else:
                changes = _choices(self._agent, self.played, played, sets, pictures)
            return changes * (1 - 2 * _values(played, self.places))
        options: dict[str, Any] = {"dreward": 1.0} if self.task.output == "score" else {"dframes": self._weighed()[0]}
        if pictures is not None:
            options = {"dframes": self._preference(pictures, rule), "values": agents.grey(self.cart).astype(np.float32)}
        source = {"ram": "ram", "inputs": "input"}.get(self.task.sources, "rom")
        options.update(RELAXED if method == "relaxed" else {})
        found = functional.vjp(
            played.cart, played.before, played.actions.tolist(), played=played, method=method, wrt=source, **options
        )
        at, bit = self.places["index"].astype(np.int64), self.places["bit"]
        if source == "input":
            assert found.dinput is not None
            values = found.dinput[self.places["frame"], at]
        else:
            slots = found.dstate if source == "ram" else found.drom
            assert slots is not None
            values = slots.reshape(-1, 8)[at, bit]
        return np.clip(np.nan_to_num(values.astype(float)), -LARGEST, LARGEST)

    def _weighed(self) -> tuple[np.ndarray, bool]:
        """Weights of the last picture's pixels, and whether the output is the score."""
        weights = np.zeros((self.cart.height, WIDTH), np.float32)
        x, y, width, height = self.task.box if self.task.output == "screen" else (0, 0, WIDTH, self.cart.height)
        weights[y : y + height, x : x + width] = 1
        return weights, self.task.output == "score"

    def _pictures(self, x: np.ndarray | None) -> np.ndarray:
        """The two pictures that the agent decides by, at the run or at other bits."""
        pictures = self.played.frames[agent_looks(self.played)]
        flipped = self.places[:0] if x is None else self.places[(np.asarray(x) > 0.5) != (self.x > 0.5)]
        if len(flipped):
            self.cost += self.frames
            pictures = next(_flipped_pictures(_jacobian(self.played, [flipped], agent_looks(self.played)), pictures))
        return pictures

    def _preference(self, pictures: np.ndarray, rule: str) -> np.ndarray:
        """The derivative of the agent's preference for its action with respect to each grey pixel of the run."""
        agent, looks = self._agent, agent_looks(self.played)
        wanted = agent.best_two(agents.see(self.cart, *self.played.frames[looks]))
        weights = np.zeros((self.frames, self.cart.height, WIDTH), np.float32)
        weights[looks] = agents.on_pixels(
            agent.gradient(agents.see(self.cart, *pictures), wanted, rule), self.cart.height
        )
        return weights

    def watch(self, frames: int = WATCHED) -> tuple[np.ndarray, np.ndarray] | None:
        """Plays on without touching anything; returns the sources (times x sources) and the output that follows each.

        None for sources that never change, which are those of ROM.
        """
        if self.task.sources not in ("ram", "inputs"):
            return None
        frames = max(2 * self.frames, self.samples(frames // self.frames) * self.frames)
        self.cost += frames
        run = functional.run(self.cart, self.played.before, _actions(self.task, self.task.frame, frames))
        last = frames - self.frames + 1
        if self.task.output == "score":
            after = np.convolve(run.reward, np.ones(self.frames), "valid")
        elif self.task.output == "action":
            now, before = run.frames[self.frames - 1 :], run.frames[self.frames - 1 - agents.SKIP : -agents.SKIP]
            choices = self._agent.choice(agents.see(self.cart, before, now))
            after = choices == choices[0]
        else:
            x, y, width, height = self.task.box
            after = run.frames[self.frames - 1 :, y : y + height, x : x + width].sum((1, 2), dtype=np.int64)
        if self.task.sources == "inputs":
            held = run.inputs
            values = np.stack([held[p["frame"] : p["frame"] + last, p["index"]] for p in self.places], axis=1)
        else:
            start = self.played.start[self.cart.offset("ram") :][:128]
            ram = np.concatenate([start[None], run.ram])[:last]
            values = np.unpackbits(ram, axis=1, bitorder="little")
        return values.astype(float), after.astype(float)

    def donor(self) -> np.ndarray | None:
        """Returns the sources in another run of the game: 97 frames later. None for those of ROM."""
        if self.task.sources not in ("ram", "inputs"):
            return None
        self.cost += 97
        later = functional.run(self.cart, self.played.before, _actions(self.task, self.task.frame, 97 + self.frames))
        if self.task.sources == "inputs":
            return later.inputs[97:].reshape(-1)
        return np.unpackbits(later.ram[96], bitorder="little").astype(float)


# ---- running with other bits -----------------------------------------------------------------------------------------


def _values(played: Run, places: np.ndarray) -> np.ndarray:
    """The bits at places, 0 or 1."""
    kind, index, bit = places["kind"], places["index"], places["bit"]
    values = np.zeros(len(places))
    start, inputs = played.start.view(np.uint8).reshape(-1), played.inputs
    values[kind == 0] = start[index[kind == 0]] >> bit[kind == 0] & 1
    values[kind == 1] = played.cart.rom[index[kind == 1]] >> bit[kind == 1] & 1
    values[kind == 2] = inputs[places["frame"][kind == 2], index[kind == 2]]
    return values


def _with(played: Run, places: np.ndarray, bits: np.ndarray) -> Run:
    """The same run with these bits at places. Only what derivatives begin with is replaced: they run it again."""
    flipped = places[bits != (_values(played, places) > 0.5)]
    kind, masks = flipped["kind"], (1 << flipped["bit"]).astype(np.uint8)
    start, rom, controls, cart = played.start.copy(), played.cart.rom.copy(), played.controls.copy(), played.cart
    np.bitwise_xor.at(start.view(np.uint8).reshape(-1), flipped["index"][kind == 0], masks[kind == 0])
    np.bitwise_xor.at(rom, flipped["index"][kind == 1], masks[kind == 1])
    for place in flipped[kind == 2]:
        frame, index = int(place["frame"]), int(place["index"])
        if index < 10:
            controls["held"][frame, index // 5] ^= 1 << index % 5
        else:
            controls["console"][frame] ^= 1 << (index - 10)
    if (kind == 1).any():
        cart = Cartridge(played.cart.rom.tobytes(), name=played.cart.name, patch=study.make_patch(played.cart.rom, rom))
    return dataclasses.replace(played, cart=cart, start=start, controls=controls)


def _sums(played: Run, sets: list[np.ndarray], weights: np.ndarray, score: bool, engine: str = "walk") -> np.ndarray:
    """F(flipped) - F for sets of places: the weighed sum of the last picture's pixels, or the score."""
    found = jacobian(
        played.cart, played.before, played.actions.tolist(), wrt=sets, of="score" if score else "screen",
        played=played, engine=engine, threads=THREADS,
    )  # fmt: skip
    change = (found.flipped.astype(np.int64) - found.base).astype(float)
    if not score:
        change *= weights.reshape(-1)[found.index]
    return np.bincount(found.column, change, len(sets))


def _changes(task: Task, played: Run, sets: list[np.ndarray], engine: str = "walk") -> np.ndarray:
    """F(flipped) - F of a task's output."""
    if task.output == "lesions":
        return _stops(played, sets, engine)
    if task.output == "action":
        return _choices(agents.load(task.game), played, played, sets, played.frames[agent_looks(played)], engine)
    weights = np.zeros((played.cart.height, WIDTH))
    x, y, width, height = task.box
    weights[y : y + height, x : x + width] = 1
    return _sums(played, sets, weights, task.output == "score", engine)


def _jacobian(
    played: Run, sets: list[np.ndarray], looks: list[int], engine: str = "walk", of: tuple[str, ...] = ("screen",)
) -> Jacobian:
    """What changes in the pictures with these numbers; the first number is 0."""
    return jacobian(
        played.cart, played.before, played.actions.tolist(), wrt=sets, of=of, horizons=[look + 1 for look in looks],
        played=played, engine=engine, threads=THREADS,
    )  # fmt: skip


def _flipped_pictures(found: Jacobian, healthy: np.ndarray) -> Iterator[np.ndarray]:
    """The pictures with each set of places flipped, from those of the run itself."""
    drawn = found.output == OUTPUTS.index("screen")
    bounds = np.searchsorted(found.column, np.arange(found.shape[1] + 1))
    for first, last in zip(bounds[:-1], bounds[1:]):
        part = slice(first, last)
        mine = drawn[part]
        pictures = healthy.copy()
        pictures.reshape(len(healthy), -1)[found.horizon[part][mine], found.index[part][mine]] = found.flipped[part][
            mine
        ]
        yield pictures


def agent_looks(played: Run) -> list[int]:
    """Returns the numbers of the pictures that an agent decides by: that of the decision before, and the last one."""
    return [len(played.frames) - 1 - agents.SKIP, len(played.frames) - 1]


def flipped_views(played: Run, sets: list[np.ndarray], engine: str = "walk") -> Iterator[np.ndarray]:
    """Yields what an agent would see (2 x height x 160: the picture of the decision before, and the last) with each
    set of places flipped."""
    looks = agent_looks(played)
    for first in range(0, len(sets), 1024):
        yield from _flipped_pictures(_jacobian(played, sets[first : first + 1024], looks, engine), played.frames[looks])


def _choices(
    agent: agents.Agent, first: Run, played: Run, sets: list[np.ndarray], pictures: np.ndarray, engine: str = "walk"
) -> np.ndarray:
    """How much the output "the agent takes the action that it takes in the first run" changes, for sets of places of
    another run; `pictures` are its pictures that the agent sees. The two runs differ in bits where a derivative is
    elsewhere."""
    cart, found = played.cart, _jacobian(played, sets, agent_looks(played), engine)
    seen = [agents.see(cart, *changed) for changed in _flipped_pictures(found, pictures)]
    usual = agent.choice(agents.see(cart, *first.frames[agent_looks(first)]))
    here = agent.choice(agents.see(cart, *pictures)) == usual
    return (agent.choice(np.array(seen)) == usual).astype(float) - float(here)


def _stops(played: Run, sets: list[np.ndarray], engine: str) -> np.ndarray:
    """-1 for lesions after which the game does not run any more, else 0.

    A game does not run if a halt opcode was executed, if its pictures 10, 5 and 0 frames before the end are all the
    same although the healthy ones are not, or if more than half of the last picture's pixels differ from the healthy
    picture.
    """
    count = len(played.frames)
    looks = [count - 11, count - 6, count - 1]
    found = _jacobian(played, sets, looks, engine, ("screen", "state"))
    healthy = played.frames[looks]
    moves = (healthy != healthy[0]).any()
    halted = (found.output == OUTPUTS.index("state")) & (found.index == played.cart.offset("jammed"))
    stops = np.zeros(len(sets))
    stops[found.column[halted]] = -1
    for i, pictures in enumerate(_flipped_pictures(found, healthy)):
        frozen = moves and (pictures == pictures[0]).all()
        if frozen or (pictures[2] != healthy[2]).mean() > 0.5:
            stops[i] = -1
    return stops


# ---- the truth -------------------------------------------------------------------------------------------------------


def exact_effects(problem: Problem, engine: str = "walk") -> np.ndarray:
    """Returns the truth of a task: for each source, F with the bit set minus F with the bit clear.

    Example:
        >>> problem = Problem(tasks("quick")[0])
        >>> exact_effects(problem).shape == problem.x.shape
        True
    """
    sets = [problem.places[i : i + 1] for i in range(len(problem))]
    changes = np.zeros(len(sets))
    for first in range(0, len(sets), 1024):
        part = slice(first, first + 1024)
        changes[part] = _changes(problem.task, problem.played, sets[part], engine)
    return changes * (1 - 2 * problem.x)


def checksum(problem: Problem, effects: np.ndarray) -> str:
    """Returns a checksum of a truth: of the image, the state, the actions, the places and the effects."""
    digest = hashlib.sha256(f"diffvcs benchmark {VERSION} {problem.task} {problem.cart.sha256}".encode())
    played = problem.played
    for array in (played.start, played.inputs, problem.places, np.asarray(effects, np.float64) + 0.0):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def truth_record(problem: Problem, effects: np.ndarray) -> dict[str, Any]:
    """Returns the contents of a truth file: sparse, with its version and checksum."""
    causes = np.flatnonzero(effects)
    return {
        "version": VERSION,
        "task": problem.task.name,
        "rom": problem.cart.sha256,
        "sources": len(problem),
        "causes": causes.tolist(),
        "effects": effects[causes].tolist(),
        "checksum": checksum(problem, effects),
    }


# ---- the frozen suite ------------------------------------------------------------------------------------------------


def _rows() -> list[dict[str, Any]]:
    return json.loads(FROZEN.read_bytes())["tasks"]


def _task(row: dict[str, Any]) -> Task:
    return Task(row["track"], row["game"], row["number"], row["frame"], tuple(row["box"]))


def tasks(suite: str, tracks: tuple[str, ...] = TRACKS) -> list[Task]:
    """Returns the tasks of a suite ("quick", "dev" or "test"), in a fixed order.

    Example:
        >>> {task.game for task in tasks("quick")}
        {'demo'}
    """
    if suite not in SUITES:
        raise ValueError(f"no suite {suite!r}; there are {', '.join(SUITES)}")
    unknown = [track for track in tracks if track not in TRACKS]
    if unknown:
        raise ValueError(f"no track {unknown[0]!r}; there are {', '.join(TRACKS)}")
    return [_task(row) for row in _rows() if row["game"] in SUITES[suite] and row["track"] in tracks]


@functools.lru_cache(maxsize=1)
def _checksums() -> dict[str, str]:
    return {_task(row).name: row["truth"] for row in _rows()}


def frozen_checksum(task: Task) -> str | None:
    """Returns the checksum of a task's truth in suite.json; None for a task that is not in it."""
    return _checksums().get(task.name)


def _draw(track: str, game: str, number: int) -> tuple[Task, str] | None:
    """Draws states of a game until one makes a task with enough causes and non-causes."""
    if track.endswith("action") and not agents.path(game).is_file():
        return None
    random = np.random.default_rng([VERSION, TRACKS.index(track), number, *game.encode()])
    for _ in range(DRAWS):
        task = Task(track, game, number, int(random.integers(120, LATEST)), (0, 0, 0, 0))
        if task.output == "screen":
            cart, state = _state(task, task.frame + task.frames - 1)
            boxes = study.object_boxes(functional.run(cart, state, _run(task).actions[-1:].tolist()))
            objects = sorted(name for name, box in boxes.items() if name != "PF" and box[2] * box[3] <= 4096)
            if not objects:
                continue
            task = dataclasses.replace(task, box=boxes[objects[int(random.integers(len(objects)))]])
        problem = Problem(task)
        if len(problem) < 2 * LEAST:
            continue
        effects = exact_effects(problem)
        causes = np.count_nonzero(effects)
        if LEAST <= causes <= len(problem) - LEAST:
            return task, checksum(problem, effects)
    return None


def freeze(games: tuple[str, ...], progress: Callable[[str], None] = lambda line: None) -> Iterator[dict[str, Any]]:
    """Draws the tasks of games and computes their truths: the rows of suite.json."""
    for game in games:
        for track in TRACKS:
            for number in range(STATES):
                drawn = _draw(track, game, number)
                progress(f"{game} {track} {number}: {drawn[0].frame if drawn else 'left out'}")
                if drawn:
                    task, truth = drawn
                    yield {
                        "track": track, "game": game, "number": number, "frame": task.frame, "box": list(task.box),
                        "truth": truth,
                    }  # fmt: skip


__all__ = ["PLACE", "Problem", "SUITES", "TRACKS", "Task", "exact_effects", "freeze", "tasks", "truth_record"]
