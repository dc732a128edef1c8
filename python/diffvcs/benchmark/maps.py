"""Saliency maps of agents, as they are published for Atari agents, beside what the machine says.

A map gives each of the 21 x 20 cells of the picture that an agent sees a number: how much it matters to the action.
The truth of a map is found by flipping and running. Every bit of RAM is flipped 15 frames before a decision, one at a
time, and the machine draws what the agent would see. Where a flip changes a cell, that cell alone is replaced by the
changed one, and the network is evaluated again: the truth of a cell is the mean change of the preference for the
action, over all flips. A cell that no flip changes cannot matter, whatever the network's weights are.

The truth of an object is the share of flips of its position's bits (the bytes that docs/annotations.md finds) after
which the agent takes another action; a map gives an object the mean over the cells that the object is in.

    gradient            size of the derivative (Simonyan et al. 2013, Wang et al. 2016)
    gradient x input    times the cell
    guided              guided backpropagation (Springenberg et al. 2014)
    deeplift            rescale rule, from a black picture (Shrikumar et al. 2017)
    perturbation        the picture blurred around the cell; half the squared change of all preferences (Greydanus et al. 2018)
    sarfa               the same blur; specific and relevant changes of the action's probability (Puri et al. 2020)
    occlusion           the cell as it usually is
    object              every object's pixels removed by the machine, and the change given to its cells (Iyer et al. 2018)
    movement, edges, random   what changed since the last decision, edges of the picture, nothing
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import functional, meanings, study
from .._c import WIDTH
from ..cartridge import Cartridge
from ..functional import Run, ram_places
from ..machine import Machine
from . import agents, scores, suite

CELLS = agents.ROWS * agents.COLUMNS
BLUR, MASK = 1.25, 1.25  # deviations in cells: the published 5 pixels of 80
OBJECTS = {"P0": "player 0", "P1": "player 1", "M0": "missile 0", "M1": "missile 1", "BL": "ball"}
CONFIDENT = 0.5  # of an annotation
MAPS = (
    "gradient", "gradient x input", "guided", "deeplift", "perturbation", "sarfa", "occlusion", "object", "movement",
    "edges", "random",
)  # fmt: skip
SCORES = ("where", "how much", "shuffled", "objects")


@dataclass
class Decision:
    """A decision of an agent: the run before it, what it sees, and which action it prefers to which."""

    agent: agents.Agent
    run: Run
    cells: np.ndarray  # 840
    usual: np.ndarray  # 840, the median while the agent plays
    wanted: tuple[int, int]
    random: np.random.Generator

    def margin(self, cells: np.ndarray) -> np.ndarray:
        """Returns the preference for the action minus that for the second, for rows of cells."""
        found = self.agent.preferences(cells)
        return found[..., self.wanted[0]] - found[..., self.wanted[1]]


def decisions(game: str, count: int, seed: int = 1) -> list[Decision]:
    """Returns decisions of a game's agent, drawn from a seed."""
    agent, cart, random = agents.load(game), Cartridge.find(game), np.random.default_rng([seed, *game.encode()])
    actions, _ = agents.play(agent, seed, suite.LATEST + suite.FRAMES, stop=True)
    drawn = set(np.sort(random.choice(np.arange(60, len(actions) - suite.FRAMES), count, replace=False)).tolist())
    machine, runs, pictures = Machine(cart), [], []
    machine.reset()
    for frame, action in enumerate(actions):
        if frame in drawn:
            runs.append(functional.run(cart, machine.save(), actions[frame : frame + suite.FRAMES]))
        if frame % 16 == 0:
            pictures.append(machine.screen())
        machine.act_on(action)
    usual = np.median(agents.see(cart, np.array(pictures), np.array(pictures)), axis=0)
    found = []
    for run in runs:
        cells = agents.see(cart, *run.frames[suite.agent_looks(run)])
        found.append(Decision(agent, run, cells, usual, agent.best_two(cells), random))
    return found


# ---- the truth -------------------------------------------------------------------------------------------------------


def truth(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    """Returns the truth of every cell (420), and whether each bit of RAM changes the action (1,024)."""
    run, agent = decision.run, decision.agent
    places = ram_places(run.cart)
    into, back = (
        agent.hidden(decision.cells),
        agent.second[decision.wanted[0]].astype(float) - agent.second[decision.wanted[1]],
    )
    base, total, acts = np.maximum(into, 0) @ back, np.zeros(CELLS), np.zeros(len(places), bool)
    first = agent.first.astype(float)
    for i, pictures in enumerate(suite.flipped_views(run, [places[i : i + 1] for i in range(len(places))])):
        change = agents.see(run.cart, *pictures) - decision.cells
        at = np.flatnonzero((change != 0).reshape(2, CELLS).any(0))
        if len(at):
            moved = first[:, at] * change[at] + first[:, CELLS + at] * change[CELLS + at]
            total[at] += np.abs(np.maximum(into[:, None] + moved, 0).T @ back - base)
            acts[i] = agent.choice(decision.cells + change) != decision.wanted[0]
    return total / len(places), acts


def object_bits(game: str) -> dict[str, np.ndarray]:
    """Returns the bits of RAM that hold the position of each object ("P0", ...)."""
    found: dict[str, list[int]] = {}
    for entry in meanings.annotations(game)["ram"]:
        for role in entry["roles"]:
            if role["role"] in meanings.POSITIONS and role["object"] and role["confidence"] > CONFIDENT:
                found.setdefault(role["object"], []).append(entry["byte"])
    return {
        short: (8 * np.array(sorted(set(found[name])))[:, None] + np.arange(8)).reshape(-1)
        for short, name in OBJECTS.items()
        if name in found
    }


def objects_seen(decision: Decision) -> dict[str, np.ndarray]:
    """Returns, for each object that is drawn, what the agent sees without it (840)."""
    run, pictures = decision.run, {}
    views: list[dict[str, np.ndarray]] = []
    for look in suite.agent_looks(run):
        state = run.before if look == 0 else functional.run(run.cart, run.before, run.actions[:look].tolist()).state
        frame = functional.run(run.cart, state, run.actions[look : look + 1].tolist())
        views.append({name: study.frame_without(frame, name) for name in study.object_boxes(frame)})
    for name in views[1]:
        before = views[0].get(name, run.frames[suite.agent_looks(run)[0]])
        pictures[name] = agents.see(run.cart, before, views[1][name])
    return pictures


# ---- the maps --------------------------------------------------------------------------------------------------------


def _gaussian(deviation: float) -> np.ndarray:
    """How a picture's cells are blurred, 420 x 420; rows sum to 1."""
    row, column = np.divmod(np.arange(CELLS), agents.COLUMNS)
    apart = (row[:, None] - row) ** 2 + (column[:, None] - column) ** 2
    weights = np.exp(-apart / (2 * deviation**2))
    return weights / weights.sum(1, keepdims=True)


def _both(values: np.ndarray) -> np.ndarray:
    """Numbers of the cells of both pictures as sizes of 420."""
    return np.abs(values).reshape(2, CELLS).sum(0)


def _blurred(decision: Decision) -> np.ndarray:
    """What the agent would see with the picture blurred around each cell, 420 x 840."""
    cells = decision.cells.reshape(2, CELLS).astype(float)
    mask = _gaussian(MASK)
    mask = mask / mask.max(1, keepdims=True)  # 1 at the cell itself
    blurred = cells @ _gaussian(BLUR).T
    return (cells * (1 - mask[:, None]) + blurred * mask[:, None]).reshape(CELLS, -1)


def _probabilities(agent: agents.Agent, preferences: np.ndarray) -> np.ndarray:
    logits = preferences / agent.unit
    logits = logits - logits.max(-1, keepdims=True)
    return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)


def _sarfa(decision: Decision, changed: np.ndarray) -> np.ndarray:
    """Specific and relevant feature attribution: the harmonic mean of the fall of the action's probability and of how
    little the probabilities of all other actions change among themselves."""
    agent, action = decision.agent, decision.wanted[0]
    before, after = (_probabilities(agent, agent.preferences(cells)) for cells in (decision.cells, changed))
    fall = np.maximum(before[action] - after[:, action], 0)
    rest = np.arange(len(before)) != action
    old = np.maximum(before[rest] / max(before[rest].sum(), 1e-300), 1e-300)
    new = np.maximum(after[:, rest] / np.maximum(after[:, rest].sum(1, keepdims=True), 1e-300), 1e-300)
    same = 1 / (1 + (new * np.log(new / old)).sum(1))
    return 2 * same * fall / np.maximum(same + fall, 1e-300)


def maps(decision: Decision) -> dict[str, np.ndarray]:
    """Returns all maps of a decision, 420 numbers each, none below 0."""
    agent, cells, wanted = decision.agent, decision.cells, decision.wanted
    gradient, blurred = agent.gradient(cells, wanted), _blurred(decision)
    found = {
        "gradient": _both(gradient),
        "gradient x input": _both(gradient * cells),
        "guided": _both(agent.gradient(cells, wanted, "guided")),
        "deeplift": _both(agent.gradient(cells, wanted, "deeplift") * cells),
        "perturbation": ((agent.preferences(blurred) - agent.preferences(cells)) ** 2).sum(1) / 2,
        "sarfa": _sarfa(decision, blurred),
    }
    own = np.tile(np.eye(CELLS, dtype=bool), 2)
    base = decision.margin(cells)
    found["occlusion"] = np.abs(decision.margin(np.where(own, decision.usual, cells)) - base)
    found["object"] = np.zeros(CELLS)
    for without in objects_seen(decision).values():
        inside = (without != cells).reshape(2, CELLS).any(0)
        found["object"][inside] = np.maximum(found["object"][inside], abs(decision.margin(without) - base))
    picture = cells.reshape(2, agents.ROWS, agents.COLUMNS)
    padded = np.pad(picture[1], 1, mode="edge")
    found["movement"] = np.abs(picture[0] - picture[1]).reshape(-1)
    found["edges"] = np.hypot(padded[2:, 1:-1] - padded[:-2, 1:-1], padded[1:-1, 2:] - padded[1:-1, :-2]).reshape(-1)
    found["random"] = decision.random.random(CELLS)
    return found


def shuffled(decision: Decision) -> Decision:
    """Returns the same decision of a network whose weights are shuffled in each layer (Adebayo et al. 2018). A map
    that looks the same without what was learned does not explain it."""
    agent, random = decision.agent, np.random.default_rng(decision.cells.sum())
    first, second = (random.permutation(w.reshape(-1)).reshape(w.shape) for w in (agent.first, agent.second))
    other = replace(agent, first=first, second=second)
    return replace(decision, agent=other, wanted=other.best_two(decision.cells))


# ---- scores ----------------------------------------------------------------------------------------------------------


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0; equal values share the mean of theirs."""
    _, block, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes + 1) / 2)[block]


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Returns the correlation of ranks; 0 where one of both is constant."""
    a, b = _ranks(np.asarray(a, float)), _ranks(np.asarray(b, float))
    a, b = a - a.mean(), b - b.mean()
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm else 0.0


def explain(decision: Decision) -> dict[str, Any]:
    """Returns the truth and the scores of one decision's maps.

    "where" is the AUROC between cells that can matter and those that cannot, "how much" the rank correlation among
    those that can, "shuffled" their rank correlation with the same map of a network with shuffled weights, "objects"
    pairs of a map's number and the truth of each object that is drawn.
    """
    effects, acts = truth(decision)
    bits, without = object_bits(decision.agent.game), objects_seen(decision)
    inside = {name: (view != decision.cells).reshape(2, CELLS).any(0) for name, view in without.items() if name in bits}
    inside = {name: cells for name, cells in inside.items() if cells.any()}
    found: dict[str, Any] = {
        "matter": int(np.count_nonzero(effects)), "bits": int(acts.sum()), "objects": {n: float(acts[bits[n]].mean()) for n in inside},
        "maps": {},
    }  # fmt: skip
    without_learning = maps(shuffled(decision))
    for name, values in maps(decision).items():
        found["maps"][name] = {
            "where": scores.auroc(values, effects > 0),
            "how much": spearman(values[effects > 0], effects[effects > 0]),
            "shuffled": spearman(values[effects > 0], without_learning[name][effects > 0]),
            "objects": {n: float(values[cells].mean()) for n, cells in inside.items()},
        }
    return found


def summarize(explained: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a row for each map, the best first: means over decisions with 95 % intervals.

    "objects" is the share of pairs of objects of one decision, with different truths, that a map puts in the right
    order (ties count one half; chance is 0.5), None without such pairs. "where" is None if all cells can matter in
    every decision.
    """
    rows = []
    for name in MAPS:
        row: dict[str, Any] = {"map": name}
        for score in ("where", "how much", "shuffled"):
            values = [found["maps"][name][score] for found in explained]
            known = [value for value in values if np.isfinite(value)]
            row[score] = scores.interval(known) if known else None
        right: list[float] = []
        for found in explained:
            said, true = found["maps"][name]["objects"], found["objects"]
            for a in true:
                for b in true:
                    if true[a] > true[b]:
                        right.append(float(said[a] > said[b]) + 0.5 * (said[a] == said[b]))
        row["objects"], row["pairs"] = (scores.interval(right) if right else None), len(right)
        rows.append(row)
    return sorted(rows, key=lambda row: -row["how much"][0])


def text_table(rows: list[dict[str, Any]]) -> str:
    """Returns the rows of `summarize` as lines of text."""
    lines = [f"{'map':18}" + "".join(f"{score:24}" for score in SCORES).rstrip()]
    for row in rows:
        cells = [f"{row[s][0]:.2f} ({row[s][1]:.2f} to {row[s][2]:.2f})" if row[s] else "-" for s in SCORES]
        lines.append(f"{row['map']:18}" + "".join(f"{cell:24}" for cell in cells).rstrip())
    return "\n".join(lines)


def overlay(decision: Decision, values: np.ndarray) -> np.ndarray:
    """Returns the picture in grey with a map over it in red, height x 160 x 3."""
    picture = decision.run.cart.pixel_values("luminance")[decision.run.frames[-1]]
    strength = values / max(values.max(), 1e-300)
    red = agents.on_pixels(np.concatenate([strength, strength]), decision.run.cart.height)[0]
    shown = np.repeat(picture[..., None], 3, axis=2) * 0.6
    shown[..., 0] += (255 - shown[..., 0]) * red
    assert shown.shape[1] == WIDTH
    return shown.astype(np.uint8)


__all__ = [
    "Decision",
    "MAPS",
    "SCORES",
    "decisions",
    "explain",
    "maps",
    "overlay",
    "shuffled",
    "spearman",
    "summarize",
    "text_table",
    "truth",
]
