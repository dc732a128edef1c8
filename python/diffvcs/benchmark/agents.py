"""Small agents that play from pictures: what they see, how they decide, and how they are trained.

An agent sees the picture as 21 x 20 cells, each the sum of the grey values of 10 x 8 pixels, four frames ago and now.
One hidden layer of 32 rectified units follows, then a number for each action; the agent prefers the action with the
largest, and holds an action for four frames. Weights are whole numbers, so that every number of the network is one,
and small enough to be exact in a double: a decision is the same on every computer, and a change of the picture changes
a number or it does not.

    cells (840) -> hidden (32) = max(0, first @ cells + bias) -> preferences (actions) = second @ hidden + last_bias

`train` is proximal policy optimization (Schulman et al. 2017) in NumPy, from a seed; weights are rounded afterwards.
Rounded weights are files beside this module, 20 to 30 kB each: floating-point sums differ between computers, so that
training again on another one makes a similar agent, not the same.
"""

from __future__ import annotations

import functools
import io
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import files
from .._c import WIDTH
from ..batch import ALEVectorInterface
from ..cartridge import Cartridge
from ..machine import ACTION_NAMES, Machine

FOLDER = Path(__file__).with_name("agent_weights")
ROWS, COLUMNS, CELL_HEIGHT, CELL_WIDTH = 21, 20, 10, 8
SKIP = 4  # frames between two decisions
HIDDEN = 32
GREY = 255 * CELL_HEIGHT * CELL_WIDTH  # the largest cell
NAMES = ("actions", "first", "bias", "second", "last_bias", "unit")  # of the arrays in a file


@dataclass(frozen=True)
class Agent:
    """A trained network. `actions` are the numbers of the actions that it chooses from."""

    game: str
    actions: np.ndarray
    first: np.ndarray  # hidden x 840, -127 to 127
    bias: np.ndarray  # hidden
    second: np.ndarray  # actions x hidden
    last_bias: np.ndarray  # actions
    unit: (
        np.ndarray
    )  # a difference of preferences that makes one action e times as probable as the other while training

    def hidden(self, cells: np.ndarray) -> np.ndarray:
        """Returns what goes into the hidden units (... x hidden), before it is rectified."""
        return np.asarray(cells, float) @ self.first.T.astype(float) + self.bias

    def preferences(self, cells: np.ndarray) -> np.ndarray:
        """Returns a number for each action (... x actions); the agent prefers the action with the largest.

        Example:
            >>> agent = load("demo")
            >>> agent.preferences(np.zeros(840)).shape == agent.actions.shape
            True
        """
        return np.maximum(self.hidden(cells), 0) @ self.second.T.astype(float) + self.last_bias

    def choice(self, cells: np.ndarray) -> np.ndarray:
        """Returns the number of the preferred action in `actions`; the first of equals."""
        return self.preferences(cells).argmax(-1)

    def best_two(self, cells: np.ndarray) -> tuple[int, int]:
        """Returns the numbers of the preferred action and of the second."""
        order = np.argsort(-self.preferences(cells), kind="stable")
        return int(order[0]), int(order[1])

    def gradient(self, cells: np.ndarray, wanted: tuple[int, int], rule: str = "derivative") -> np.ndarray:
        """Returns the derivative of one action's preference minus another's with respect to each cell.

        Args:
            cells: what the agent sees.
            wanted: the numbers of both actions.
            rule: how a hidden unit passes a derivative on. "derivative": if it is active. "guided": if it is active
                and the derivative is positive (Springenberg et al. 2014). "deeplift": by the share that it has passed
                on of its change from a black picture, the rescale rule (Shrikumar et al. 2017).
        """
        into = self.hidden(cells)
        back = self.second[wanted[0]].astype(float) - self.second[wanted[1]]
        if rule == "deeplift":
            change = into - self.bias
            passed = np.maximum(into, 0) - np.maximum(self.bias, 0)
            gate = np.divide(passed, change, out=(into > 0).astype(float), where=change != 0)
        elif rule == "guided":
            gate = (into > 0) & (back > 0)
        elif rule == "derivative":
            gate = into > 0
        else:
            raise ValueError(f"no rule {rule!r}; there are derivative, guided, deeplift")
        return (back * gate) @ self.first.astype(float)


def grey(cart: Cartridge) -> np.ndarray:
    """Returns the grey value of each palette index, whole numbers from 0 to 255."""
    return np.rint(cart.pixel_values("luminance")).astype(np.int64)


def see(cart: Cartridge, before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Returns what an agent sees (... x 840) of pictures in palette indices (... x height x 160), four frames ago and
    now."""
    both = np.stack([before, now], axis=-3)[..., : ROWS * CELL_HEIGHT, :]
    parts = grey(cart)[both].reshape(*both.shape[:-2], ROWS, CELL_HEIGHT, COLUMNS, CELL_WIDTH)
    return parts.sum((-1, -3)).reshape(*both.shape[:-3], -1)


def on_pixels(values: np.ndarray, height: int) -> np.ndarray:
    """Returns numbers of cells (840) as two pictures (2 x height x 160), every pixel with the number of its cell."""
    parts = np.asarray(values).reshape(2, ROWS, COLUMNS)
    pictures = np.zeros((2, height, WIDTH))
    pictures[:, : ROWS * CELL_HEIGHT] = np.repeat(np.repeat(parts, CELL_HEIGHT, 1), CELL_WIDTH, 2)
    return pictures


def path(game: str) -> Path:
    """Returns where the weights of a game's agent are."""
    return FOLDER / f"{game}.npz"


@functools.lru_cache(maxsize=8)
def load(game: str) -> Agent:
    """Returns the agent of a game. Raises FileNotFoundError if it has none."""
    if not path(game).is_file():
        raise FileNotFoundError(f"there is no agent that plays {game}; there are {', '.join(games())}")
    try:
        with np.load(path(game)) as file:
            return Agent(game, *(file[name] for name in NAMES))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        raise ValueError(f"{path(game)} is broken: {problem}") from None


def save(agent: Agent, file: Path) -> None:
    """Writes an agent's weights."""
    content = io.BytesIO()
    np.savez_compressed(content, **{name: getattr(agent, name) for name in NAMES})
    files.write(file, content.getvalue())


def play(
    agent: Agent,
    seed: int,
    frames: int,
    policy: str = "sample",
    stop: bool = False,
    cart: Cartridge | None = None,
) -> tuple[list[str], int]:
    """Plays a game from its start; returns an action for each frame, and the score.

    A decision is drawn from the network's probabilities ("sample", as in training), is the preferred action ("best"),
    or any action ("random"). The seed draws decisions, and how many frames pass without input at the start, up to 30.
    Frames go on after the game is over, unless `stop`. The cartridge is found by the agent's game, unless it is given.
    """
    random, machine = np.random.default_rng([seed, SKIP]), Machine(cart or Cartridge.find(agent.game))
    machine.reset()
    wait, action, score = int(random.integers(30)), 0, 0
    before = now = machine.screen()
    actions: list[str] = []
    for frame in range(frames):
        if frame >= wait and (frame - wait) % SKIP == 0:
            before, now = now, machine.screen()
            scores = np.zeros(len(agent.actions)) if policy == "best" else random.gumbel(size=len(agent.actions))
            if policy != "random":
                scores += agent.preferences(see(machine.cart, before, now)) / agent.unit
            action = int(agent.actions[scores.argmax()])
        score += machine.act_on(action)
        actions.append(ACTION_NAMES[action])
        if stop and machine.over:
            break
    return actions, score


def games() -> list[str]:
    """Returns the games that have an agent."""
    return sorted(file.stem for file in FOLDER.glob("*.npz"))


def text_table(found: list[Agent], seeds: int = 5, frames: int = 6000) -> str:
    """Returns the mean scores of agents and of random actions, over games of at most `frames` frames, as lines of
    text."""
    lines = [f"{'game':18} {'sampled':>9} {'best':>9} {'random':>9}"]
    for agent in found:
        means = [
            np.mean([play(agent, seed, frames, policy, True)[1] for seed in range(seeds)])
            for policy in ("sample", "best", "random")
        ]
        lines.append(f"{agent.game:18} {means[0]:9.1f} {means[1]:9.1f} {means[2]:9.1f}")
    return "\n".join(lines)


# ---- training --------------------------------------------------------------------------------------------------------


ENVIRONMENTS, STEPS, EPOCHS, PARTS = 64, 32, 4, 4
RATE, DISCOUNT, TRACE, CLIP, ENTROPY = 1e-3, 0.99, 0.95, 0.2, 0.01
DECISIONS = 100_000
FAINT = 0.04  # the smallest deviation of a cell

Weights = dict[str, np.ndarray]


def _start(actions: int, random: np.random.Generator) -> Weights:
    inputs = 2 * ROWS * COLUMNS
    return {
        "first": random.standard_normal((HIDDEN, inputs)) * np.sqrt(2 / inputs), "bias": np.zeros(HIDDEN),
        "second": random.standard_normal((actions, HIDDEN)) * 0.01, "last_bias": np.zeros(actions),
        "value": random.standard_normal(HIDDEN) * 0.1, "value_bias": np.zeros(1),
    }  # fmt: skip


def _forward(w: Weights, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hidden layer, the logarithms of the actions' probabilities, and the expected return."""
    hidden = np.maximum(x @ w["first"].T + w["bias"], 0)
    logits = hidden @ w["second"].T + w["last_bias"]
    logits -= logits.max(1, keepdims=True)
    return (
        hidden,
        logits - np.log(np.exp(logits).sum(1, keepdims=True)),
        hidden @ w["value"] + w["value_bias"],
    )


def _gradient(
    w: Weights, x: np.ndarray, action: np.ndarray, old: np.ndarray, gain: np.ndarray, returns: np.ndarray
) -> Weights:
    """The gradient of the clipped objective, of half the squared error of the value, and of the entropy."""
    hidden, logs, value = _forward(w, x)
    rows, chances = np.arange(len(x)), np.exp(logs)
    ratio = np.exp(logs[rows, action] - old)
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    open_ = np.where(gain > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
    pull = -gain * ratio * open_ / len(x)  # d objective / d log probability of the action
    dlogits = -pull[:, None] * chances
    dlogits[rows, action] += pull
    entropy = -(chances * logs).sum(1, keepdims=True)
    dlogits += ENTROPY * chances * (logs + entropy) / len(x)
    dvalue = 0.5 * (value - returns) / len(x)
    dhidden = (dlogits @ w["second"] + dvalue[:, None] * w["value"]) * (hidden > 0)
    return {
        "first": dhidden.T @ x, "bias": dhidden.sum(0), "second": dlogits.T @ hidden, "last_bias": dlogits.sum(0),
        "value": hidden.T @ dvalue, "value_bias": dvalue.sum(keepdims=True),
    }  # fmt: skip


class _Adam:
    """Adam (Kingma and Ba 2014), with gradients that are no longer than a half."""

    def __init__(self, w: Weights) -> None:
        self.mean = {name: np.zeros_like(value) for name, value in w.items()}
        self.square = {name: np.zeros_like(value) for name, value in w.items()}
        self.count = 0

    def step(self, w: Weights, gradient: Weights, rate: float) -> None:
        self.count += 1
        norm = np.sqrt(sum((g**2).sum() for g in gradient.values()))
        for name, g in gradient.items():
            g = g * min(1.0, 0.5 / (norm + 1e-12))
            self.mean[name] = 0.9 * self.mean[name] + 0.1 * g
            self.square[name] = 0.999 * self.square[name] + 0.001 * g**2
            mean = self.mean[name] / (1 - 0.9**self.count)
            w[name] -= rate * mean / (np.sqrt(self.square[name] / (1 - 0.999**self.count)) + 1e-5)


def train(
    game: str,
    seed: int = 1,
    decisions: int = DECISIONS,
    progress: Callable[[int, float], None] = lambda done, score: None,
) -> Agent:
    """Trains an agent by playing; returns it with rounded weights.

    Args:
        game: the name of a game.
        seed: of the first weights, the decisions and the environments.
        decisions: how many the agent takes, in all environments together.
        progress: called with the decisions taken and the mean clipped reward of 1,000 of them.
    """
    random = np.random.default_rng(seed)
    env = ALEVectorInterface(
        game, ENVIRONMENTS, frame_skip=SKIP, stack_num=2, img_height=ROWS, img_width=COLUMNS, maxpool=False,
        use_fire_reset=False, episodic_life=True, autoreset_mode="SameStep",
    )  # fmt: skip
    numbers = np.array([int(action) for action in env.get_action_set()])
    w = _start(len(numbers), random)
    adam, rounds = _Adam(w), max(1, decisions // (ENVIRONMENTS * STEPS))
    seen, _ = env.reset(np.arange(ENVIRONMENTS), seed * 1000 + np.arange(ENVIRONMENTS))
    inputs = 2 * ROWS * COLUMNS
    x = np.zeros((STEPS, ENVIRONMENTS, inputs), np.float32)
    action, old, value, reward, ended = (np.zeros((STEPS, ENVIRONMENTS)) for _ in range(5))
    rows = np.arange(ENVIRONMENTS)
    usual = _usual(env, random, len(numbers))
    for number in range(rounds):
        for t in range(STEPS):
            x[t] = _standard(seen, usual)
            _, logs, value[t] = _forward(w, x[t])
            chosen = (logs + random.gumbel(size=logs.shape)).argmax(1)
            action[t], old[t] = chosen, logs[rows, chosen]
            seen, reward[t], over, cut, _ = env.step(chosen)
            ended[t] = over | cut
        following = _forward(w, _standard(seen, usual))[2]
        gain, last = np.zeros_like(value), np.zeros(ENVIRONMENTS)
        for t in reversed(range(STEPS)):
            surprise = reward[t] + DISCOUNT * following * (1 - ended[t]) - value[t]
            last = surprise + DISCOUNT * TRACE * (1 - ended[t]) * last
            gain[t], following = last, value[t]
        flat = [array.reshape(-1) for array in (action.astype(int), old, gain, gain + value)]
        for _ in range(EPOCHS):
            for part in np.array_split(random.permutation(STEPS * ENVIRONMENTS), PARTS):
                step = _gradient(w, x.reshape(-1, inputs)[part], *(array[part] for array in flat))
                adam.step(w, step, RATE * (1 - number / rounds))
        progress((number + 1) * STEPS * ENVIRONMENTS, 1000 * float(reward.mean()))
    env.close()
    # The network of standardized cells as one of cells: their means and deviations become part of the first layer.
    w["first"] = w["first"] / usual[1]
    w["bias"] = w["bias"] - w["first"] @ usual[0]
    return _round(game, numbers, w)


def _usual(env: ALEVectorInterface, random: np.random.Generator, actions: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the deviation of each cell while random actions play. A cell that hardly changes has that of a
    faint object."""
    seen = np.array([env.step(random.integers(0, actions, ENVIRONMENTS))[0] for _ in range(8 * STEPS)]) / 255
    return seen.mean((0, 1)).reshape(-1), np.maximum(seen.std((0, 1)).reshape(-1), FAINT)


def _standard(seen: np.ndarray | None, usual: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """What the environments show, as numbers around 0 with a deviation of about 1."""
    assert seen is not None
    return ((seen.reshape(ENVIRONMENTS, -1) / 255 - usual[0]) / usual[1]).astype(np.float32)


def _round(game: str, numbers: np.ndarray, w: Weights) -> Agent:
    """Weights as whole numbers. A hidden unit's scale moves to its weights of the second layer, which is the same
    network."""
    scale = 127 / np.maximum(np.abs(w["first"]).max(1), 1e-12)
    second = w["second"] / scale
    fine = 32767 / np.abs(second).max()
    return Agent(
        game,
        numbers,
        first=np.rint(w["first"] * scale[:, None]).astype(np.int8),
        bias=np.rint(w["bias"] * scale * GREY).astype(np.int64),
        second=np.rint(second * fine).astype(np.int16),
        last_bias=np.rint(w["last_bias"] * fine * GREY).astype(np.int64),
        unit=np.array(fine * GREY),
    )


__all__ = ["Agent", "grey", "load", "on_pixels", "play", "save", "see", "train"]
