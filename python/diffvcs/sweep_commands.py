"""python -m diffvcs.sweep: scores, annotations, exact effects and the benchmark, on this machine or on a Ray cluster.

Each command makes a list of tasks for sweep.py, one for each game, or for each game and state, and then writes the results
under the names that a reader looks for: score.tsv, GAME.json, truth.tsv, results/TASK.json. A killed command is resumed by running it
again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from . import roms, study
from ._bind import whole
from ._c import PROFILES, VCSError
from .benchmark import METHODS, __main__ as benchmark, suite
from .cartridge import Cartridge
from .functional import OUTCOMES, run, truth
from .machine import Machine
from .sweep import Results, Stopped, store, sweep

TRUTH_COLUMNS = "game\tseed\tframe\thorizon\tbyte\tbit\tpixels\tram_bytes\tscreen_crc\tram_crc\n"


# ---- tasks: pure functions ---------------------------------------------------------------------------------------------


def score_task(cart: Cartridge, **options: Any) -> bytes:
    """Returns the rows of `diffvcs score --no-costs` for a game."""
    return study.score_game(cart, threads=1, **options).encode()


def annotate_task(cart: Cartridge, **options: Any) -> bytes:
    """Returns the file that `diffvcs annotate` writes for a game."""
    return study.annotate(cart, threads=1, **options).encode()


def truth_task(cart: Cartridge, seed: int, frame: int, horizons: list[int], wrt: str, device: str = "cpu") -> bytes:
    """Returns the rows of `diffvcs truth` for a state: the frames of an action stream, then a run without input."""
    machine = Machine(cart)
    machine.reset()
    for action in study.action_stream(seed, frame):
        machine.act_on(action)
    actions = ["NOOP"] * max(horizons)
    state = machine.save()
    played = run(cart, state, actions)
    found = truth(
        cart, state, actions, study.places(played, wrt), horizons=horizons, maps=False, threads=1, played=played,
        device=device,
    )  # fmt: skip
    lines = []
    for label, rows in zip(["-\t-", *study.place_labels(played, wrt)], [found.base, *found.rows]):
        for horizon, row in zip(horizons, rows):
            counts = (
                f"{row['pixels']}\t{row['ram_bytes']}\t{row['screen_crc']:08x}\t{row['ram_crc']:08x}"
                if row["outcome"] == OUTCOMES.index("ran")
                else "-\t-\t-\t-"  # no machine can have the flipped value
            )
            lines.append(f"{cart.name}\t{seed}\t{frame}\t{horizon}\t{label}\t{counts}\n")
    return "".join(lines).encode()


def _benchmark_task(cart: Cartridge, name: str) -> suite.Task:
    """The task of that name, on the cartridge that came with it."""
    (task,) = [task for task in suite.tasks("test") + suite.tasks("quick") if task.name == name]
    suite.CARTRIDGES[task.game] = cart
    return task


def benchmark_truth(cart: Cartridge, task: str) -> bytes:
    """Returns the file truth/TASK.json of the benchmark."""
    return json.dumps(benchmark.truth_of(_benchmark_task(cart, task))).encode()


def benchmark_scores(cart: Cartridge, task: str, method: str, truth: bytes, plugin: str = "") -> bytes:
    """Returns a method's scores on a task, as JSON. `plugin` is the text of a file that registers methods."""
    if method not in METHODS:
        exec(compile(plugin, "plugin", "exec"), {"__name__": "plugin"})
    effects = benchmark.effects_of(json.loads(truth))
    return json.dumps(benchmark.evaluate_method(METHODS[method], _benchmark_task(cart, task), effects)).encode()


# ---- the commands ------------------------------------------------------------------------------------------------------


def _games(options: argparse.Namespace) -> list[Cartridge]:
    if options.all == bool(options.game):
        raise ValueError("name some games, or take all of them with --all")
    if not options.all:
        return [Cartridge.find(name, options.profile) for name in options.game]
    found = [Cartridge.find(str(roms.require(name)), options.profile) for name in roms.get_all_rom_ids()]
    if not found:
        raise FileNotFoundError(
            "no ROM images: `pip install ale-py` brings 108, $DIFFVCS_ROMS names a folder of your own"
        )
    return [cart for cart in found if cart.game]


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{text!r} is no list of whole numbers, such as 1,4,15") from None


def _sweep(function: Any, tasks: list[dict[str, Any]], options: argparse.Namespace) -> Results:
    return sweep(
        function,
        tasks,
        out=options.out,
        engine="ray" if options.ray is not None else "threads",
        address=options.ray or None,
        workers=options.workers,
        gpus=getattr(options, "gpus", 0),
        title=options.command,
    )


def _score(options: argparse.Namespace) -> dict[str, bytes]:
    settings = dict(
        horizons=_numbers(options.horizons), methods=options.methods.split(","), frame=options.frame, seed=options.seed,
        states=options.states, bits=options.bits, rom_bits=options.rom_bits, pixels=options.pixels, window=options.window,
    )  # fmt: skip
    heading = study.score_heading(options.profile, **settings)
    found = _sweep(score_task, [dict(cart=cart, **settings) for cart in _games(options)], options)
    return {"score.tsv": heading.encode() + b"".join(found)}


def _annotate(options: argparse.Namespace) -> dict[str, bytes]:
    games = _games(options)
    names = [cart.name for cart in games]
    for name in names:
        if names.count(name) > 1:  # two results would have one file
            raise ValueError(f"two games would have their annotations in {name}.json: give each another --out")
    tasks = [dict(cart=cart, seeds=options.seeds, depths=options.depths) for cart in games]
    return {f"{cart.name}.json": text for cart, text in zip(games, _sweep(annotate_task, tasks, options))}


def _truth(options: argparse.Namespace) -> dict[str, bytes]:
    whole(options.states, "--states", 1, 2**31 - 1)
    settings = dict(horizons=_numbers(options.horizon), wrt=options.wrt, device="cuda" if options.gpus else "cpu")
    tasks = [
        dict(cart=cart, seed=options.seed, frame=options.frame + i * options.step, **settings)
        for cart in _games(options)
        for i in range(options.states)
    ]
    return {"truth.tsv": TRUTH_COLUMNS.encode() + b"".join(_sweep(truth_task, tasks, options))}


def _benchmark(options: argparse.Namespace) -> dict[str, bytes]:
    tracks = tuple(options.tracks.split(",")) if options.tracks else suite.TRACKS
    benchmark.load_plugin(options.plugin)
    chosen, methods = suite.tasks(options.suite, tracks), benchmark.method_names(options.methods)
    plugin = options.plugin.read_text() if options.plugin else ""
    games = {task.game: Cartridge.find(task.game) for task in chosen}
    truths = list(_sweep(benchmark_truth, [dict(cart=games[task.game], task=task.name) for task in chosen], options))
    pairs = [
        dict(cart=games[task.game], task=task.name, method=method, truth=record, plugin=plugin)
        for task, record in zip(chosen, truths)
        for method in methods
    ]
    found, written = iter(_sweep(benchmark_scores, pairs, options)), {}
    for task, record in zip(chosen, truths):
        result = benchmark.result_of(task, json.loads(record))
        result["methods"] = {method: json.loads(next(found)) for method in methods}
        written[f"truth/{task.name}.json"] = record
        written[f"results/{task.name}.json"] = json.dumps(result).encode()
    return written


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m diffvcs.sweep",
        description="Computes many games or states, on all cores or on a Ray cluster; a killed command is resumed by "
        "running it again. docs/scale.md is the guide.",
        epilog="examples:\n  python -m diffvcs.sweep score --all --out scores\n"
        "  python -m diffvcs.sweep score --all --out scores --ray\n"
        "  python -m diffvcs.sweep truth pong breakout --states 100 --horizon 1,8 --out effects --ray auto",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text, function in (
        (
            "score",
            "agreement of the methods with the truth: score.tsv, as `diffvcs score --no-costs` writes it",
            _score,
        ),
        ("annotate", "what every byte of RAM means: GAME.json, as `diffvcs annotate --out` writes it", _annotate),
        ("truth", "exact effects in many states of each game: truth.tsv", _truth),
        ("benchmark", "attribution methods against the truth: the files of `diffvcs.benchmark run`", _benchmark),
    ):
        part = commands.add_parser(
            name, help=text, description=text, formatter_class=argparse.ArgumentDefaultsHelpFormatter
        )
        part.set_defaults(function=function)
        part.add_argument("--out", required=True, help="folder of the results, or a URL of fsspec: s3://bucket/folder")
        part.add_argument("--ray", nargs="?", const="", metavar="ADDRESS",
                          help="run on Ray: on the cluster at ADDRESS (auto: the one of this machine), or on one made here")  # fmt: skip
        part.add_argument("--workers", type=int, help="tasks at a time; one for each core if not given")
        if name == "benchmark":
            part.add_argument("--suite", choices=sorted(suite.SUITES), default="quick", help="which tasks")
            part.add_argument("--tracks", help=f"some of {','.join(suite.TRACKS)}; all if not given")
            part.add_argument("--methods", help="names with commas between them; all if not given")
            part.add_argument("--plugin", type=Path, help="a Python file that registers methods of your own")
            continue
        part.add_argument("game", nargs="*", help="games, ROM images, or demo")
        part.add_argument("--all", action="store_true", help="all games of the profile whose images are found")
        part.add_argument("--profile", choices=PROFILES, default="ale", help="boot and settings")
        if name == "annotate":
            part.add_argument("--seeds", type=int, default=6, help="plays")
            part.add_argument("--depths", type=int, default=8, help="states for each play")
            continue
        part.add_argument("--frame", type=int, default=300, help="frames to play first")
        part.add_argument("--seed", type=int, default=0, help="the action stream of the records; 0: NOOP only")
        if name == "score":
            part.add_argument("--methods", default=",".join(study.METHODS), help="which methods")
            part.add_argument("--horizons", default="1,2,4,8,15", help="frames after which effects are compared")
            part.add_argument("--bits", type=int, default=128, help="how many bits of RAM, drawn with the seed")
            part.add_argument("--states", type=int, default=4, help="states in which presses are tried")
            part.add_argument("--rom-bits", type=int, default=64, help="how many bits of ROM that is read")
            part.add_argument("--pixels", type=int, default=4, help="reverse passes at each horizon")
            part.add_argument("--window", type=int, default=256, help="of bit+fork, in instructions")
        else:
            part.add_argument("--states", type=int, default=10, help="states of each game")
            part.add_argument("--step", type=int, default=60, help="frames between two states")
            part.add_argument("--horizon", default="1", help="frames to run after the flip, or several: 1,4,15")
            part.add_argument(
                "--wrt",
                default="ram",
                help="groups of bits, with commas: ram, rom, input, cpu, pc, tia, riot, cartram, state",
            )
            part.add_argument("--gpus", type=float, default=0, help="GPUs for each task, with --ray; effects are then computed there")  # fmt: skip
    return parser


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        written, place = options.function(options), store(options.out)
        for name, data in written.items():
            try:
                place.write(name, data)
            except OSError as problem:
                raise Stopped(
                    f"{name} cannot be written into {place} ({problem.strerror or problem}). All results are stored and "
                    "stay: make room, then run the same command"
                ) from problem
            print(f"{name}  {len(data)} bytes  sha256 {hashlib.sha256(data).hexdigest()}")
    except KeyboardInterrupt:
        print(
            "diffvcs.sweep: interrupted; results that are stored stay: run the same command to resume", file=sys.stderr
        )
        return 130
    except (ImportError, OSError, RuntimeError, ValueError, VCSError) as problem:
        print(f"diffvcs.sweep: {problem}", file=sys.stderr)
        return 1
    return 0
