"""Which attribution methods are right? A benchmark whose truth is exact.

    python -m diffvcs.benchmark run --suite quick      # score every method; `--suite test` is the whole benchmark
    python -m diffvcs.benchmark report --suite quick   # one HTML page: ranking, plots, worked examples

A task asks which bits of the machine a number depends on. The machine answers exactly, by flipping each bit and
running again, so a method's answer is right or wrong without any judgement. docs/attribution.md describes tracks,
methods, scores and results.

    suite.py         tasks, the problem that a method sees, the truth
    methods.py       the methods, and `@method` for your own
    scores.py        how well an attribution agrees with the truth
    report.py        the page
    agents.py        small agents that play from pictures, and their training
    maps.py          saliency maps of agents, beside what flipping and running says
    neuroscience.py  Jonas and Kording's experiments, with the exact answers
    figures.py       the pages of the last two
    quantus.py       the export for Quantus
"""

from .methods import METHODS, Method, method
from .suite import SUITES, TRACKS, Problem, Task, exact_effects, tasks
from .scores import score_task, table

__all__ = [
    "METHODS", "Method", "Problem", "SUITES", "TRACKS", "Task", "exact_effects", "method", "score_task", "table", "tasks",
]  # fmt: skip
