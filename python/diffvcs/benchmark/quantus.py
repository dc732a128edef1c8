"""Attributions and truths as Quantus reads them (Hedstroem et al. 2023, pip install quantus).

A task is one .npz file with the arrays that a metric of Quantus takes, a batch of one. Sources are a picture: a row
for each byte or frame, a column for each bit or input.

    x_batch          1 x 1 x rows x columns   the sources in the run, 0 or 1
    y_batch          1                        0: the output has no class
    s_batch          1 x 1 x rows x columns   true for sources that matter: the truth
    effects          1 x 1 x rows x columns   the exact effects
    a_batch/METHOD   1 x 1 x rows x columns   an attribution, the largest number 1 or -1

The localization metrics (AUC, RelevanceRankAccuracy, TopKIntersection, ...) compare a_batch with s_batch and need no
model. Attributions have signs: give these metrics abs=True, or a cause that lowers the output counts as none.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .. import files
from .methods import METHODS
from .suite import Problem, Task, exact_effects


def arrays(task: Task, methods: Sequence[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of a task. Methods that do not apply are left out, and attributions that are zero everywhere,
    which Quantus refuses."""
    problem = Problem(task)
    effects, columns = exact_effects(problem), 12 if task.sources == "inputs" else 8

    def shape(values: np.ndarray) -> np.ndarray:
        return np.asarray(values).reshape(1, 1, -1, columns)

    found = {
        "x_batch": shape(problem.x.astype(np.float32)),
        "y_batch": np.zeros(1, np.int64),
        "s_batch": shape(effects != 0),
        "effects": shape(effects),
    }
    for name in methods:
        values = METHODS[name].function(Problem(task))
        if values is not None and np.any(values):
            values = np.asarray(values, float)
            found[f"a_batch/{name}"] = shape(values / np.abs(values).max())
    return found


def write(task: Task, methods: Sequence[str], folder: Path) -> Path:
    """Writes the file of a task; returns its path."""
    path, content = folder / f"{task.name}.npz", io.BytesIO()
    np.savez_compressed(content, **arrays(task, methods))  # type: ignore[arg-type]
    files.write(path, content.getvalue())
    return path
