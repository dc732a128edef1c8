"""python -m diffvcs.benchmark: scores attribution methods against exact effects.

run      scores every method on every task of a suite; what is done is kept, and a later call goes on from there
report   writes one HTML page: ranking, plots, worked examples
list     lists the methods, and the tasks of a suite
freeze   draws the suite again from its seeds, and compares it with the frozen one
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import report, scores, suite
from .methods import METHODS, Method

BUDGET = 64  # runs of the equal-budget column
EXAMPLES = """examples:
  python -m diffvcs.benchmark run --suite quick                 # our own cartridge: no ROM images needed
  python -m diffvcs.benchmark run --suite test                  # the benchmark
  python -m diffvcs.benchmark run --suite test --tracks ram-screen,inputs-screen --methods random,saliency/ste
  python -m diffvcs.benchmark run --suite quick --plugin mine.py # with the methods that mine.py registers by @method
  python -m diffvcs.benchmark report --suite test               # -> out/benchmark/test.html
  python -m diffvcs.benchmark list --suite quick"""


def write(path: Path, text: str) -> None:
    """Writes a file atomically: it is complete, or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def evaluate_method(method: Method, task: suite.Task, effects: np.ndarray) -> dict[str, Any] | None:
    """The scores of a method on a task, its cost, and its average precision within the budget; None where it does not apply."""
    problem = suite.Problem(task)
    found = method.function(problem)
    if found is None:
        return None
    row: dict[str, Any] = {
        "family": method.family,
        "is_truth": method.is_truth,
        "scores": scores.score_task(found, effects),
    }
    row["cost"], row["equal"] = problem.cost, row["scores"]["ap"]
    if problem.cost > BUDGET * task.frames:
        found = method.function(suite.Problem(task, BUDGET))
        row["equal"] = None if found is None else scores.score_task(found, effects)["ap"]
    return row


def truth_of(task: suite.Task) -> dict[str, Any]:
    """Computes the truth of a task. Raises RuntimeError if it has not the checksum of the frozen suite."""
    problem = suite.Problem(task)
    record = suite.truth_record(problem, suite.exact_effects(problem))
    frozen = suite.frozen_checksum(task)
    if frozen not in (None, record["checksum"]):
        raise RuntimeError(
            f"the truth of {task.name} has checksum {record['checksum']}, and the suite has {frozen}: the ROM image or the "
            "machine is another one; `python -m diffvcs roms` lists the images"
        )
    return record


def effects_of(record: dict[str, Any]) -> np.ndarray:
    """The effects of all sources, from the sparse record."""
    effects = np.zeros(record["sources"])
    effects[record["causes"]] = record["effects"]
    return effects


def result_of(task: suite.Task, record: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a task, before any method is run."""
    return {
        "version": suite.VERSION, "task": task.name, "track": task.track, "game": task.game, "split": task.split,
        "sources": record["sources"], "causes": len(record["causes"]), "truth": record["checksum"], "methods": {},
    }  # fmt: skip


def evaluate(task: suite.Task, methods: Sequence[str], folder: Path, tell: Any = lambda text: None) -> dict[str, Any]:
    """Scores methods on a task, and keeps the truth and the scores in `folder`. Methods that are there already are not run again."""
    path = folder / "results" / f"{task.name}.json"
    result = json.loads(path.read_text()) if path.is_file() else None
    if result is None or result["version"] != suite.VERSION:
        tell("truth")
        record = truth_of(task)
        write(folder / "truth" / f"{task.name}.json", json.dumps(record))
        result = result_of(task, record)
    effects = effects_of(json.loads((folder / "truth" / f"{task.name}.json").read_text()))
    for name in [name for name in methods if name not in result["methods"]]:
        tell(name)
        result["methods"][name] = evaluate_method(METHODS[name], task, effects)
        write(path, json.dumps(result))
    return result


def load(folder: Path, suite_name: str) -> list[dict[str, Any]]:
    """Returns the results that a folder has of a suite's tasks."""
    paths = [folder / "results" / f"{task.name}.json" for task in suite.tasks(suite_name)]
    return [json.loads(path.read_text()) for path in paths if path.is_file()]


def method_names(text: str | None) -> list[str]:
    if text is None:
        return list(METHODS)
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise ValueError(f"no method {unknown[0]!r}; `python -m diffvcs.benchmark list` lists them")
    return names


def load_plugin(path: Path | None) -> None:
    """Runs a file that registers methods."""
    if path is None:
        return
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no Python file {path}")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def run(options: argparse.Namespace) -> None:
    """Scores the methods on every task, and prints the ranking."""
    tracks = tuple(options.tracks.split(",")) if options.tracks else suite.TRACKS
    chosen, methods, start = suite.tasks(options.suite, tracks), method_names(options.methods), time.monotonic()
    chosen.sort(key=lambda task: suite.TRACKS.index(task.track))
    shown = sys.stderr.isatty()
    results = []
    for number, task in enumerate(chosen):

        def tell(text: str, number: int = number, task: suite.Task = task) -> None:
            if shown:
                line = f"{number}/{len(chosen)} tasks, {time.monotonic() - start:.0f} s: {task.name} {text}"
                print(f"\r{line:<110.110}", end="", file=sys.stderr, flush=True)

        results.append(evaluate(task, methods, options.out, tell))
    if shown:
        print(f"\r{'':<110}\r", end="", file=sys.stderr)
    print(
        f"{report.count_tasks(len(results))} of the suite {options.suite}, {len(methods)} methods; results in {options.out}"
    )
    for track in tracks:
        print(report.text_table(results, track, set(methods)))


def freeze(options: argparse.Namespace) -> None:
    """Draws the suite again; with --write, replaces the frozen one."""
    rows = list(suite.freeze(suite.SUITES[options.suite], lambda line: print(line, flush=True)))
    old = json.loads(suite.FROZEN.read_text())["tasks"] if suite.FROZEN.is_file() else []
    kept = [row for row in old if row["game"] not in suite.SUITES[options.suite]]
    same = rows == [row for row in old if row["game"] in suite.SUITES[options.suite]]
    print("equal to the frozen suite" if same else "different from the frozen suite")
    if options.write:
        lines = ",\n".join(json.dumps(row) for row in [*kept, *rows])
        write(suite.FROZEN, f'{{"version": {suite.VERSION}, "tasks": [\n{lines}\n]}}\n')
    elif not same:
        raise RuntimeError("the seeds draw another suite than the frozen one; --write replaces it")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m diffvcs.benchmark",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "score methods"),
        ("report", "write the page"),
        ("list", "list methods and tasks"),
        ("freeze", "draw the suite again from its seeds"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--suite", choices=sorted(suite.SUITES), default="quick", help="default quick")
        command.add_argument("--out", type=Path, default=Path("out/benchmark"), help="folder; default out/benchmark")
        if name in ("run", "list", "report"):
            command.add_argument("--plugin", type=Path, help="a Python file that registers methods of your own")
        if name == "run":
            command.add_argument("--tracks", help=f"some of {','.join(suite.TRACKS)}; default all")
            command.add_argument("--methods", help="names with commas between them; default all")
        if name == "freeze":
            command.add_argument("--write", action="store_true", help="replace the frozen suite")
    options = parser.parse_args(argv)
    try:
        load_plugin(getattr(options, "plugin", None))
        if options.command == "run":
            run(options)
        elif options.command == "freeze":
            freeze(options)
        elif options.command == "report":
            path = options.out / f"{options.suite}.html"
            write(path, report.page(load(options.out, options.suite), options.suite))
            print(f"wrote {path}")
        else:
            print("\n".join(f"{m.name:40} {m.family}" for m in METHODS.values()))
            print("\n".join(task.name for task in suite.tasks(options.suite)))
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"diffvcs: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
