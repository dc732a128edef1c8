"""How well an attribution agrees with the truth of a task, and tables over tasks.

    auroc      probability that a cause is ranked above a non-cause; ties count one half; chance is 0.5
    ap         average precision: the area under the curve of precision and recall; chance is the share of causes
    precision  share of causes among the k strongest sources, k being the number of causes
    f          F of the sources above a threshold; the threshold is fixed on the development games
    cosine     cosine between the attribution and the effects, with their signs
    pearson    correlation of the sizes of both

Sources that tie are in every order at once: a method cannot gain by the order in which sources are listed. The
threshold belongs to a method and a track, is relative to the strongest source of a task, and maximizes the mean F over
development tasks. Tasks of test games never take part in choosing it. Intervals are percentiles of the mean over tasks
that are drawn again with replacement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

SCORES = ("auroc", "ap", "precision", "f", "cosine", "pearson")
THRESHOLDS = np.concatenate([[0.0], np.logspace(-4, 0, 33)[:-1]])  # of |attribution| / its largest
RESAMPLES = 2000


def _blocks(strength: np.ndarray, causes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the sets of tied sources, strongest first, and the causes in each."""
    values, block = np.unique(-strength, return_inverse=True)
    return np.bincount(block, minlength=len(values)), np.bincount(block, causes, len(values))


def auroc(strength: np.ndarray, causes: np.ndarray) -> float:
    """Returns the area under the ROC curve. NaN without causes or without non-causes."""
    sizes, hits = _blocks(strength, causes)
    misses = sizes - hits
    if not hits.sum() or not misses.sum():
        return float("nan")
    weaker = misses.sum() - np.cumsum(misses)
    return float((hits * (weaker + misses / 2)).sum() / (hits.sum() * misses.sum()))


def average_precision(strength: np.ndarray, causes: np.ndarray) -> float:
    """Returns the average precision, a set of ties being one step. NaN without causes."""
    sizes, hits = _blocks(strength, causes)
    if not hits.sum():
        return float("nan")
    return float((hits / hits.sum() * np.cumsum(hits) / np.cumsum(sizes)).sum())


def precision_at(strength: np.ndarray, causes: np.ndarray, k: int) -> float:
    """Returns the share of causes among the k strongest; a set of ties that is cut counts by its share of causes."""
    sizes, hits = _blocks(strength, causes)
    taken = np.clip(k - (np.cumsum(sizes) - sizes), 0, sizes)
    return float((taken * hits / sizes).sum() / k) if k else float("nan")


def f_curve(strength: np.ndarray, causes: np.ndarray) -> np.ndarray:
    """Returns F (harmonic mean of precision and recall) at each of THRESHOLDS."""
    largest = strength.max(initial=0)
    relative = strength / largest if largest > 0 else strength
    chosen = relative > THRESHOLDS[:, None]
    both = (chosen & causes).sum(1)
    return 2 * both / np.maximum(chosen.sum(1) + causes.sum(), 1)


def score_task(attribution: np.ndarray, effects: np.ndarray) -> dict[str, Any]:
    """Returns the scores of one attribution; "f" is the curve, from which a threshold takes its value.

    Example:
        >>> score_task(np.array([0, 2, -1]), np.array([0, 1, -1]))["auroc"]
        1.0
    """
    found, effects = np.asarray(attribution, float), np.asarray(effects, float)
    if found.shape != effects.shape or not np.isfinite(found).all():
        raise ValueError(f"an attribution is {effects.shape} finite numbers, one for each source, not {found.shape}")
    found = found / max(np.abs(found).max(initial=0), 1e-300)  # estimates of forks can be as large as 1e15
    strength, size, causes = np.abs(found), np.abs(effects), effects != 0
    norm = np.linalg.norm(found) * np.linalg.norm(effects)
    varied = np.ptp(strength) > 0 and np.ptp(size) > 0
    return {
        "auroc": auroc(strength, causes),
        "ap": average_precision(strength, causes),
        "precision": precision_at(strength, causes, int(causes.sum())),
        "f": f_curve(strength, causes).tolist(),
        "cosine": float(found @ effects / norm) if norm else 0.0,
        "pearson": float(np.corrcoef(strength, size)[0, 1]) if varied else 0.0,
    }


def fit_thresholds(results: Iterable[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """Returns the number of the threshold of each method and track, from development tasks alone."""
    curves: dict[tuple[str, str], list[list[float]]] = {}
    for result in results:
        if result["split"] == "dev":
            for name, row in result["methods"].items():
                if row is not None:
                    curves.setdefault((name, result["track"]), []).append(row["scores"]["f"])
    return {key: int(np.mean(curve, axis=0).argmax()) for key, curve in curves.items()}


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """Returns the mean, and the 95 % bootstrap interval of the mean."""
    numbers = np.asarray(values, float)
    draws = np.random.default_rng(seed).integers(0, len(numbers), (RESAMPLES, len(numbers)))
    low, high = np.percentile(numbers[draws].mean(1), [2.5, 97.5])
    return float(numbers.mean()), float(low), float(high)


def table(results: Sequence[dict[str, Any]], track: str | None = None) -> list[dict[str, Any]]:
    """Returns a row for each method, best average precision first.

    Tasks are those of test games; if there are none, all, and then no F is given. Each score is (mean, low, high).
    `equal` is the average precision with the budget that all methods share, None for a method that cannot do with it;
    `cost` is the mean in emulated frames.
    """
    thresholds = fit_thresholds(results)
    chosen = [r for r in results if track in (None, r["track"])]
    tested = [r for r in chosen if r["split"] == "test"]
    rows = []
    for name in {name: None for r in tested or chosen for name in r["methods"]}:
        scored = [(r, r["methods"][name]) for r in tested or chosen if r["methods"].get(name)]
        if not scored:
            continue
        row: dict[str, Any] = {"method": name, "tasks": len(scored), "of": len(tested or chosen)}
        row["family"] = scored[0][1]["family"]
        # The exact gradient is the truth only where the output itself is differentiated, and not where another stands
        # in for it.
        row["is_truth"] = all(found["is_truth"] and found["scores"]["cosine"] > 1 - 1e-9 for _, found in scored)
        for score in SCORES:
            if score != "f":
                row[score] = interval([found["scores"][score] for _, found in scored])
        fixed = [
            found["scores"]["f"][thresholds[name, r["track"]]]
            for r, found in scored
            if (name, r["track"]) in thresholds
        ]
        row["f"] = interval(fixed) if tested and fixed else None
        equal = [found["equal"] for _, found in scored if found["equal"] is not None]
        row["equal"] = interval(equal) if equal else None
        row["cost"] = float(np.mean([found["cost"] for _, found in scored]))
        rows.append(row)
    return sorted(rows, key=lambda row: (-row["ap"][0], row["method"]))
