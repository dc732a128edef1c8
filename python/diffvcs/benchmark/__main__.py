"""python -m diffvcs.benchmark: scores attribution methods against exact effects.

run           scores every method on every task of a suite; what is done is kept, and a later call goes on from there
report        writes one HTML page: ranking, plots, worked examples
list          lists the methods, and the tasks of a suite
freeze        draws the suite again from its seeds, and compares it with the frozen one
export        writes attributions and truths as Quantus reads them
agents        scores saliency maps of trained agents against flipping and running
train         trains an agent from a seed
neuroscience  does Jonas and Kording's experiments (lesions, tuning, Granger causality, NMF), with the exact answers
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from .. import files
from .._bind import whole
from . import agents, figures, maps, neuroscience, quantus, report, scores, suite
from .methods import METHODS, Method

BUDGET = 64  # runs of the equal-budget column
EXAMPLES = """examples:
  python -m diffvcs.benchmark run --suite quick                 # our own cartridge: no ROM images needed
  python -m diffvcs.benchmark run --suite test --jobs 2         # the benchmark, on two cores
  python -m diffvcs.benchmark run --suite test --tracks ram-screen,inputs-screen --methods random,saliency/ste
  python -m diffvcs.benchmark run --suite quick --plugin mine.py # with the methods that mine.py registers by @method
  python -m diffvcs.benchmark report --suite test               # -> out/benchmark/test.html
  python -m diffvcs.benchmark list --suite quick
  python -m diffvcs.benchmark export --quantus --suite quick --methods random,saliency/bit
  python -m diffvcs.benchmark agents --games demo               # -> out/benchmark/agents.html
  python -m diffvcs.benchmark train --game breakout --seed 1    # -> out/benchmark/agents/breakout.npz
  python -m diffvcs.benchmark neuroscience                      # -> out/benchmark/neuroscience.html"""


def _write(path: Path, text: str) -> None:
    files.write(path, text.encode())


def _read(path: Path, kind: type = dict) -> Any:
    """Returns what a file of results has, or raises an error that names a file that is broken."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as problem:
        raise ValueError(f"{path} is broken ({problem}): remove it, and it is made again") from None
    if not isinstance(found, kind):
        raise ValueError(f"{path} has no results: remove it, and it is made again")
    return found


def evaluate_method(method: Method, task: suite.Task, effects: np.ndarray) -> dict[str, Any] | None:
    """Returns a method's scores on a task, its cost, and its average precision within the budget; None if it does not
    apply."""
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
    """Scores methods on a task, and keeps the truth and the scores in `folder`. Methods that are there already are not
    run again."""
    path = folder / "results" / f"{task.name}.json"
    result = _read(path) if path.is_file() else None
    if result is None or result.get("version") != suite.VERSION:
        tell("truth")
        record = truth_of(task)
        _write(folder / "truth" / f"{task.name}.json", json.dumps(record))
        result = result_of(task, record)
    effects = effects_of(_read(folder / "truth" / f"{task.name}.json"))
    for name in [name for name in methods if name not in result["methods"]]:
        tell(name)
        result["methods"][name] = evaluate_method(METHODS[name], task, effects)
        _write(path, json.dumps(result))
    return result


def load(folder: Path, suite_name: str) -> list[dict[str, Any]]:
    """Returns the results that a folder has of a suite's tasks."""
    paths = [folder / "results" / f"{task.name}.json" for task in suite.tasks(suite_name)]
    return [_read(path) for path in paths if path.is_file()]


def method_names(text: str | None) -> list[str]:
    if text is None:
        return list(METHODS)
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise ValueError(f"no method {unknown[0]!r}; `python -m diffvcs.benchmark list` lists them")
    return names


def track_names(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else suite.TRACKS


def load_plugin(path: Path | None) -> None:
    """Runs a file that registers methods."""
    if path is None:
        return
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no Python file {path}")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


# ---- several tasks at once -------------------------------------------------------------------------------------------

_stop: Any = None  # of a process that evaluates tasks: an event that the first process sets when it is interrupted


def _begin(stop: Any, plugin: Path | None) -> None:
    """The start of a process that evaluates tasks. Ctrl-C is for the first process, which sets the event."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    suite.THREADS = 1
    load_plugin(plugin)


def _continue(text: str) -> None:
    if _stop.is_set():
        raise KeyboardInterrupt


def _evaluate_task(task: suite.Task, methods: Sequence[str], folder: Path) -> dict[str, Any]:
    return evaluate(task, methods, folder, _continue)


def _evaluate_all(
    chosen: Sequence[suite.Task], methods: Sequence[str], options: argparse.Namespace, show: Callable[[int, str], None]
) -> list[dict[str, Any]]:
    """Evaluates tasks in several processes with a thread each. An interrupt stops them between two methods."""
    context = multiprocessing.get_context("spawn")
    stop, module = context.Event(), importlib.import_module("diffvcs.benchmark.__main__")  # a process finds its name
    with ProcessPoolExecutor(options.jobs, context, module._begin, (stop, options.plugin)) as pool:
        try:
            found = [pool.submit(module._evaluate_task, task, methods, options.out) for task in chosen]
            show(0, "")
            for number, done in enumerate(as_completed(found), 1):
                show(number, done.result()["task"])
            return [one.result() for one in found]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def run(options: argparse.Namespace) -> None:
    """Scores the methods on every task, and prints the ranking."""
    whole(options.jobs, "--jobs", 1, 4096)
    tracks = track_names(options.tracks)
    chosen, methods, start = suite.tasks(options.suite, tracks), method_names(options.methods), time.monotonic()
    chosen.sort(key=lambda task: suite.TRACKS.index(task.track))
    shown = sys.stderr.isatty()

    def show(number: int, text: str) -> None:
        if shown:
            line = f"{number}/{len(chosen)} tasks, {time.monotonic() - start:.0f} s: {text}"
            print(f"\r{line:<110.110}", end="", file=sys.stderr, flush=True)

    if options.jobs > 1:
        results = _evaluate_all(chosen, methods, options, show)
    else:
        results = []
        for number, task in enumerate(chosen):

            def tell(text: str, number: int = number, task: suite.Task = task) -> None:
                show(number, f"{task.name} {text}")

            results.append(evaluate(task, methods, options.out, tell))
    if shown:
        print(f"\r{'':<110}\r", end="", file=sys.stderr)
    print(
        f"{report.count_tasks(len(results))} of the suite {options.suite}, {len(methods)} methods; results in {options.out}"
    )
    for track in tracks:
        print(report.text_table(results, track, set(methods)))


def _progress(words: str) -> Any:
    """A function that shows how much is done on one line of a terminal; called without numbers it clears the line."""

    def show(done: int = 0, total: int = 0) -> None:
        if sys.stderr.isatty():
            line = f"{words}: {done:,} of {total:,}" if total else ""
            print(f"\r{line:<80}" + ("" if total else "\r"), end="", file=sys.stderr, flush=True)

    return show


def _games(text: str | None, usual: Sequence[str]) -> list[str]:
    return list(usual) if text is None else [name.strip() for name in text.split(",")]


def export(options: argparse.Namespace) -> None:
    """Writes a file for each task."""
    chosen = suite.tasks(options.suite, track_names(options.tracks))
    for number, task in enumerate(chosen):
        _progress("tasks")(number, len(chosen))
        quantus.write(task, method_names(options.methods), options.out / "quantus")
    _progress("")()
    print(f"wrote {report.count_tasks(len(chosen))} to {options.out / 'quantus'}")


def train(options: argparse.Namespace) -> None:
    """Trains an agent and prints how well it plays, beside random play."""
    show = _progress(f"decisions of {options.game}")
    agent = agents.train(
        options.game, options.seed, options.decisions, lambda done, reward: show(done, options.decisions)
    )
    show()
    path = options.out / "agents" / f"{options.game}.npz"
    agents.save(agent, path)
    print(f"wrote {path}")
    print(agents.text_table([agent]))


def explain_agents(options: argparse.Namespace) -> None:
    """Scores the maps of agents, game by game; what is done is kept."""
    games, results = _games(options.games, agents.games()), {}
    for game in games:
        path = options.out / "agents" / f"{game}.json"
        show = _progress(f"decisions of {game}")
        found = _read(path, list) if path.is_file() else None
        if found is None or len(found) != options.decisions:
            found = []
            for number, decision in enumerate(maps.decisions(game, options.decisions)):
                show(number, options.decisions)
                found.append(maps.explain(decision))
            show()
            _write(path, json.dumps(found))
        results[game] = found
        print(f"\n{game}, {len(found)} decisions")
        print(maps.text_table(maps.summarize(found)))
    if len(games) > 1:
        everything = [one for found in results.values() for one in found]
        print(f"\nall games, {len(everything)} decisions")
        print(maps.text_table(maps.summarize(everything)))
    path = options.out / "agents.html"
    _write(path, figures.agents_page(results))
    print(f"\nwrote {path}")


def examine(options: argparse.Namespace) -> None:
    """Does the experiments, game by game; what is done is kept."""
    results = []
    for game in _games(options.games, neuroscience.GAMES):
        path = options.out / "neuroscience" / f"{game}.json"
        if not path.is_file():
            show = _progress(f"lesions of {game}")
            _write(path, json.dumps(neuroscience.examine(game, show)))
            show()
        results.append(_read(path))
    print(neuroscience.text_table(results))
    path = options.out / "neuroscience.html"
    _write(path, figures.neuroscience_page(results))
    print(f"\nwrote {path}")


def freeze(options: argparse.Namespace) -> None:
    """Draws the suite again; with --write, replaces the frozen one."""
    rows = list(suite.freeze(suite.SUITES[options.suite], lambda line: print(line, flush=True)))
    old = json.loads(suite.FROZEN.read_bytes())["tasks"] if suite.FROZEN.is_file() else []
    kept = [row for row in old if row["game"] not in suite.SUITES[options.suite]]
    same = rows == [row for row in old if row["game"] in suite.SUITES[options.suite]]
    print("equal to the frozen suite" if same else "different from the frozen suite")
    if options.write:
        lines = ",\n".join(json.dumps(row) for row in [*kept, *rows])
        _write(suite.FROZEN, f'{{"version": {suite.VERSION}, "tasks": [\n{lines}\n]}}\n')
    elif not same:
        raise RuntimeError("the seeds draw another suite than the frozen one; --write replaces it")


def write_report(options: argparse.Namespace) -> None:
    """Writes the page."""
    path = options.out / f"{options.suite}.html"
    results = load(options.out, options.suite)
    _write(path, report.page(results, options.suite))
    if options.markdown:
        print(report.markdown(results))
    print(f"wrote {path}")


def list_all(options: argparse.Namespace) -> None:
    """Lists methods and tasks."""
    print("\n".join(f"{m.name:40} {m.family}" for m in METHODS.values()))
    print("\n".join(task.name for task in suite.tasks(options.suite)))


COMMANDS: dict[str, tuple[str, Callable[[argparse.Namespace], None]]] = {
    "run": ("score methods", run),
    "report": ("write the page", write_report),
    "list": ("list methods and tasks", list_all),
    "freeze": ("draw the suite again from its seeds", freeze),
    "export": ("write attributions and truths for other tools", export),
    "agents": ("score saliency maps of trained agents", explain_agents),
    "train": ("train an agent", train),
    "neuroscience": ("lesions, tuning, Granger causality, NMF", examine),
}


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m diffvcs.benchmark",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, _) in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("--out", type=Path, default=Path("out/benchmark"), help="folder; default out/benchmark")
        if name in ("run", "report", "list", "freeze", "export"):
            command.add_argument("--suite", choices=sorted(suite.SUITES), default="quick", help="default quick")
        if name in ("run", "report", "list", "export"):
            command.add_argument("--plugin", type=Path, help="a Python file that registers methods of your own")
        if name in ("run", "export"):
            command.add_argument("--tracks", help=f"some of {','.join(suite.TRACKS)}; default all")
            command.add_argument("--methods", help="names with commas between them; default all")
        if name == "run":
            command.add_argument("--jobs", type=int, default=1, help="tasks at once, each in a process; default 1")
        if name == "export":
            command.add_argument("--quantus", action="store_true", required=True, help="the format of Quantus")
        if name == "report":
            command.add_argument(
                "--markdown", action="store_true", help="print the table of all methods and tracks, too"
            )
        if name == "freeze":
            command.add_argument("--write", action="store_true", help="replace the frozen suite")
        if name in ("agents", "neuroscience"):
            command.add_argument("--games", help="names with commas between them; default all")
        if name == "agents":
            command.add_argument("--decisions", type=int, default=24, help="for each game; default 24")
        if name == "train":
            command.add_argument("--game", required=True)
            command.add_argument("--seed", type=int, default=1)
            command.add_argument(
                "--decisions", type=int, default=agents.DECISIONS, help=f"default {agents.DECISIONS:,}"
            )
    options = parser.parse_args(argv)
    try:
        load_plugin(getattr(options, "plugin", None))
        COMMANDS[options.command][1](options)
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"diffvcs: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
