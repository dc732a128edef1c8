"""The attribution methods of the benchmark, and the registry for your own.

A method is a function of a Problem. It returns one number for each source, an estimate of F with the bit set minus F
with the bit clear; or None where it does not apply. Scores of ranking use the numbers' sizes, the signed cosine their
signs.

    @method("coin", family="baseline")
    def coin(problem):
        return problem.random.integers(0, 2, len(problem))

Methods that look at the machine through `problem` pay for it: problem.forward, gradient, watch and donor count
emulated frames. Sources are bits, so the methods of continuous features are read as follows. A random point of a path
or of noise is a corner of the cube: each bit takes one of its two values with the probability that the point has
(integrated gradients, SmoothGrad). Where the literature masks a feature, the bit is flipped; the occlusions name their
own baselines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .suite import Problem

Attribution = Callable[[Problem], "np.ndarray | None"]
GRADIENTS = ("naive", "ste", "bit", "bit+fork", "relaxed", "exact")
STEPS = {"relaxed": 2, "exact": 2}  # gradients that integrated gradients and SmoothGrad average, where they are not 8
NOISE = 0.02  # probability that SmoothGrad flips a bit
SAMPLES = 128  # runs of the methods that sample


@dataclass(frozen=True)
class Method:
    """A method with its name and family."""

    name: str
    family: str
    function: Attribution
    is_truth: bool = False  # whether it computes the truth itself, and is in the table to show that


METHODS: dict[str, Method] = {}


def method(name: str, *, family: str = "yours", is_truth: bool = False) -> Callable[[Attribution], Attribution]:
    """Registers a function as a method of the benchmark; a later one of the same name replaces it.

    Example:
        >>> @method("nothing")
        ... def nothing(problem):
        ...     return np.zeros(len(problem))
    """

    def register(function: Attribution) -> Attribution:
        METHODS[name] = Method(name, family, function, is_truth)
        return function

    return register


def _sign(problem: Problem) -> np.ndarray:
    """1 for a bit that is set and -1 for one that is clear: turns F(run) - F(flipped) to F(set) - F(clear)."""
    return 2 * problem.x - 1


# ---- gradients -------------------------------------------------------------------------------------------------------


def _mean_gradient(problem: Problem, gradient: str, points: np.ndarray) -> np.ndarray | None:
    """The mean of a gradient over points, as many as the budget has; None if it has not one."""
    found = [problem.gradient(gradient, point) for point in points]
    values = [value for value in found if value is not None]
    return np.mean(values, axis=0) if values else None


def _steps(gradient: str) -> int:
    return STEPS.get(gradient, 8)


def _path(problem: Problem, baseline: np.ndarray, steps: int) -> np.ndarray:
    """Points between a baseline and the run, at the middles of equal steps, each rounded at random to a corner."""
    shares = (np.arange(steps)[:, None] + 0.5) / steps
    return np.where(problem.random.random((steps, len(problem))) < shares, problem.x, baseline)


def _add_gradients(gradient: str) -> None:
    """Registers the four gradient methods on one derivative."""

    @method(f"saliency/{gradient}", family="gradient", is_truth=gradient == "exact")
    def saliency(problem: Problem) -> np.ndarray | None:
        """The derivative at the run (Simonyan et al. 2013)."""
        return problem.gradient(gradient)

    @method(f"grad-x-input/{gradient}", family="gradient")
    def grad_x_input(problem: Problem) -> np.ndarray | None:
        """The derivative times the bit, so that a clear bit has none."""
        found = problem.gradient(gradient)
        return None if found is None else found * problem.x

    @method(f"integrated-gradients/{gradient}", family="gradient")
    def integrated_gradients(problem: Problem) -> np.ndarray | None:
        """The mean derivative between all bits clear and the run, times the bit (Sundararajan et al. 2017)."""
        found = _mean_gradient(problem, gradient, _path(problem, np.zeros(len(problem)), _steps(gradient)))
        return None if found is None else found * problem.x

    @method(f"smoothgrad/{gradient}", family="gradient")
    def smoothgrad(problem: Problem) -> np.ndarray | None:
        """The mean derivative over runs with some bits flipped at random (Smilkov et al. 2017)."""
        noise = problem.random.random((_steps(gradient), len(problem))) < NOISE
        return _mean_gradient(problem, gradient, np.abs(problem.x - noise))


for name in GRADIENTS:
    _add_gradients(name)


@method("integrated-gradients-flipped/bit+fork", family="gradient")
def integrated_gradients_flipped(problem: Problem) -> np.ndarray | None:
    """Integrated gradients from the run with every source flipped, as diffvcs.attr has them."""
    return _mean_gradient(problem, "bit+fork", _path(problem, 1 - problem.x, _steps("bit+fork")))


def _add_network_rules(rule: str, gradient: str) -> None:
    """Registers a method that needs layers: those of an agent's network. The machine's derivative carries on from its
    pictures."""

    @method(f"{rule}/{gradient}", family="gradient")
    def through_network(problem: Problem) -> np.ndarray | None:
        """DeepLIFT's rescale rule, or guided backpropagation, through the agent; None where there is no agent."""
        return problem.gradient(gradient, rule=rule) if problem.task.output == "action" else None


for rule in ("deeplift", "guided"):
    for name in ("bit", "bit+fork"):
        _add_network_rules(rule, name)


# ---- occlusion -------------------------------------------------------------------------------------------------------


def _replace_each(problem: Problem, baseline: np.ndarray) -> np.ndarray:
    """F(run) - F(with one source replaced by its baseline), for sources that the baseline changes; the rest have 0."""
    changed = np.flatnonzero(problem.x != baseline)
    rows = np.repeat(problem.x[None], len(changed), 0)
    rows[np.arange(len(changed)), changed] = baseline[changed]
    found = np.zeros(len(problem))
    found[changed] = problem.occlude(rows)
    return found * _sign(problem)


def _replace_groups(problem: Problem, baseline: np.ndarray, width: int = 1) -> np.ndarray:
    """The same with whole groups of sources (bytes, frames), `width` neighbours at a time. A source shares the mean of
    its windows."""
    groups = problem.groups
    starts = np.arange(max(1, groups.max() + 2 - width))
    inside = (groups >= starts[:, None]) & (groups < starts[:, None] + width)
    change = problem.occlude(np.where(inside, baseline, problem.x))
    mean = (change[:, None] * inside).sum(0) / np.maximum(inside.sum(0), 1)
    return mean * _sign(problem) * (problem.x != baseline)


@method("occlusion/flip", family="occlusion", is_truth=True)
def occlusion_flip(problem: Problem) -> np.ndarray:
    """Flips each bit: this is the truth itself."""
    return _replace_each(problem, 1 - problem.x)


@method("occlusion/zero", family="occlusion")
def occlusion_zero(problem: Problem) -> np.ndarray:
    """Clears each bit (Zeiler and Fergus 2014); a bit that is clear has no effect."""
    return _replace_each(problem, np.zeros(len(problem)))


@method("occlusion/one", family="occlusion")
def occlusion_one(problem: Problem) -> np.ndarray:
    """Sets each bit."""
    return _replace_each(problem, np.ones(len(problem)))


@method("occlusion/usual", family="occlusion")
def occlusion_usual(problem: Problem) -> np.ndarray | None:
    """Gives each bit the value that it has most often while the game is played."""
    watched = problem.watch()
    return None if watched is None else _replace_each(problem, (watched[0].mean(0) > 0.5).astype(float))


@method("occlusion/byte-zero", family="occlusion")
def occlusion_byte(problem: Problem) -> np.ndarray:
    """Clears each byte, or releases all inputs of a frame; the effect goes to the bits that were set."""
    return _replace_groups(problem, np.zeros(len(problem)))


@method("occlusion/byte-flip", family="occlusion")
def occlusion_byte_flip(problem: Problem) -> np.ndarray:
    """Inverts each byte, or the inputs of each frame."""
    return _replace_groups(problem, 1 - problem.x)


@method("occlusion/window", family="occlusion")
def occlusion_window(problem: Problem) -> np.ndarray:
    """Clears windows of four neighbouring bytes or frames, as patches of a picture are."""
    return _replace_groups(problem, np.zeros(len(problem)), 4)


@method("activation-patching", family="occlusion")
def activation_patching(problem: Problem) -> np.ndarray | None:
    """Takes each source from another state of the game, 97 frames later (Vig et al. 2020)."""
    donor = problem.donor()
    return None if donor is None else _replace_each(problem, donor)


@method("activation-patching/byte", family="occlusion")
def activation_patching_byte(problem: Problem) -> np.ndarray | None:
    """The same with whole bytes, or all inputs of a frame."""
    donor = problem.donor()
    return None if donor is None else _replace_groups(problem, donor)


# ---- samples of many flips -------------------------------------------------------------------------------------------


def _ridge(masks: np.ndarray, values: np.ndarray, weights: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """Coefficients of a weighted linear model with an intercept; solved for the samples, which are fewer than the
    features."""
    total = weights.sum()
    root = np.sqrt(weights)
    rows = (masks - weights @ masks / total) * root[:, None]
    targets = (values - weights @ values / total) * root
    return rows.T @ np.linalg.solve(rows @ rows.T + penalty * np.eye(len(rows)), targets)


def _masked(problem: Problem, kept: np.ndarray) -> np.ndarray:
    """The outputs with all sources flipped that are not kept."""
    return problem.forward(np.where(kept, problem.x, 1 - problem.x))


@method("lime", family="sampling")
def lime(problem: Problem) -> np.ndarray:
    """A ridge regression of runs in which each source is kept or flipped, near ones weighing more (Ribeiro et al.
    2016)."""
    kept = problem.random.random((problem.samples(SAMPLES), len(problem))) < 0.5
    distance = 1 - np.sqrt(kept.mean(1))  # the cosine distance to the row that keeps all
    return _ridge(kept, _masked(problem, kept), np.exp(-(distance**2) / 0.25**2)) * _sign(problem)


@method("lime/near", family="sampling")
def lime_near(problem: Problem) -> np.ndarray:
    """The same with few sources flipped at a time, so that the game goes on."""
    kept = problem.random.random((problem.samples(SAMPLES), len(problem))) >= 8 / len(problem)
    return _ridge(kept, _masked(problem, kept), np.ones(len(kept))) * _sign(problem)


@method("kernel-shap", family="sampling")
def kernel_shap(problem: Problem) -> np.ndarray:
    """An estimate of Shapley values: coalitions by the Shapley kernel, then a regression (Lundberg and Lee 2017)."""
    count, sources = problem.samples(SAMPLES), len(problem)
    sizes = np.arange(1, sources)
    chance = 1 / (sizes * (sources - sizes))
    drawn = problem.random.choice(sizes, count, p=chance / chance.sum())
    order = problem.random.random((count, sources)).argsort(1).argsort(1)
    kept = order < drawn[:, None]
    return _ridge(kept, _masked(problem, kept), np.ones(count), 1e-3) * _sign(problem)


@method("rise", family="sampling")
def rise(problem: Problem) -> np.ndarray:
    """The mean output of the runs that keep a source, beside the mean of all (Petsiuk et al. 2018)."""
    kept = problem.random.random((problem.samples(SAMPLES), len(problem))) < 0.5
    values = _masked(problem, kept)
    return (values - values.mean()) @ kept / np.maximum(kept.sum(0), 1) * _sign(problem)


def _groups(problem: Problem) -> np.ndarray:
    """Random groups of eight sources, a row each."""
    count, sources = problem.samples(SAMPLES), len(problem)
    chosen = np.zeros((count, sources), bool)
    for row in chosen:
        row[problem.random.choice(sources, min(8, sources), replace=False)] = True
    return chosen


@method("group-flips", family="sampling")
def group_flips(problem: Problem) -> np.ndarray:
    """Flips random groups of eight sources, and shares out the size of what changes."""
    flipped = _groups(problem)
    change = problem.base - _masked(problem, ~flipped)
    return np.abs(change) @ flipped / np.maximum(flipped.sum(0), 1)


@method("group-testing", family="sampling")
def group_testing(problem: Problem) -> np.ndarray:
    """Flips random groups of eight; a source is cleared by the first group of its own that changes nothing."""
    flipped = _groups(problem)
    changes = _masked(problem, ~flipped) != problem.base
    hits, misses = changes @ flipped, ~changes @ flipped
    return np.where(misses > 0, 0.0, 1.0 + hits)


# ---- watching without touching ---------------------------------------------------------------------------------------


def _standard(values: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and deviation 1; constant columns are 0."""
    centred = values - values.mean(0)
    deviation = centred.std(0)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)


@method("correlation", family="watching")
def correlation(problem: Problem) -> np.ndarray | None:
    """The correlation of a bit with the later output: a tuning curve of two points."""
    watched = problem.watch()
    return None if watched is None else _standard(watched[0]).T @ _standard(watched[1]) / len(watched[1])


@method("mutual-information", family="watching")
def mutual_information(problem: Problem) -> np.ndarray | None:
    """The information, in bits, between a bit and the later output in four ranges."""
    watched = problem.watch()
    if watched is None:
        return None
    bits, output = watched
    levels = np.searchsorted(np.unique(np.quantile(output, [0.25, 0.5, 0.75])), output, "left")
    found = np.zeros(bits.shape[1])
    for value in (0, 1):
        for level in np.unique(levels):
            joint = ((bits == value) & (levels == level)[:, None]).mean(0)
            apart = (bits == value).mean(0) * (levels == level).mean()
            found += joint * np.log2(np.divide(joint, apart, out=np.ones_like(joint), where=(joint > 0) & (apart > 0)))
    return found


@method("granger", family="watching")
def granger(problem: Problem) -> np.ndarray | None:
    """How much a bit adds to what the present output already predicts of the later one (Granger 1969)."""
    watched = problem.watch()
    if watched is None:
        return None
    bits, output = watched
    lag = problem.frames
    now, later, causes = _standard(output[:-lag]), _standard(output[lag:]), _standard(bits[lag:])
    if len(now) < 2:
        return np.zeros(len(problem))
    rest = later - now * (now @ later) / max(now @ now, 1e-12)
    causes = causes - np.outer(now, now @ causes) / max(now @ now, 1e-12)
    return causes.T @ rest / np.maximum(np.linalg.norm(causes, axis=0) * np.linalg.norm(rest), 1e-12)


def _of_components(loadings: np.ndarray, activity: np.ndarray, output: np.ndarray) -> np.ndarray:
    """Each source by its loadings, components weighing as they correlate with the output."""
    share = np.abs(_standard(activity).T @ _standard(output)) / len(output)
    return np.abs(loadings).T @ share


@method("pca", family="watching")
def pca(problem: Problem) -> np.ndarray | None:
    """Eight principal components of the sources, weighted by their correlation with the output."""
    watched = problem.watch()
    if watched is None:
        return None
    bits = _standard(watched[0])
    _, directions = np.linalg.eigh(bits @ bits.T)  # over times, which are fewer than sources
    activity = directions[:, -8:]
    return _of_components(activity.T @ bits, activity, watched[1])


@method("nmf", family="watching")
def nmf(problem: Problem) -> np.ndarray | None:
    """Eight parts of a non-negative factorization (Lee and Seung 1999), weighted in the same way."""
    watched = problem.watch()
    if watched is None:
        return None
    bits = watched[0]
    activity, parts = problem.random.random((len(bits), 8)) + 0.1, problem.random.random((8, bits.shape[1])) + 0.1
    for _ in range(60):
        parts *= activity.T @ bits / (activity.T @ activity @ parts + 1e-9)
        activity *= bits @ parts.T / (activity @ (parts @ parts.T) + 1e-9)
    varying = bits.std(0) > 0
    return _of_components(parts * varying, activity, watched[1])


# ---- baselines -------------------------------------------------------------------------------------------------------


@method("random", family="baseline")
def random(problem: Problem) -> np.ndarray:
    """Random numbers: chance."""
    return problem.random.standard_normal(len(problem))


@method("edge-detection", family="baseline")
def edge_detection(problem: Problem) -> np.ndarray:
    """Differences between neighbouring bits of the sources as a picture, a row for each byte or frame (Adebayo et al.
    2018)."""
    width = 12 if problem.task.sources == "inputs" else 8
    if problem.task.sources == "lesions":
        width = 1
    picture = np.pad(problem.x.reshape(-1, width), 1, mode="edge")
    down, across = picture[2:, 1:-1] - picture[:-2, 1:-1], picture[1:-1, 2:] - picture[1:-1, :-2]
    return np.hypot(down, across).reshape(-1)
