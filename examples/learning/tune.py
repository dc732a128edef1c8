"""Run the reference learner with many settings, on all cores or on a Ray cluster, each run once.

    python tune.py pong --set rate=2e-4,4e-4 --set seed=1,2,3 --frames 2e6 --out runs/tune
    python tune.py pong --set entropy=0.003,0.01 --frames 2e6 --out runs/tune --ray --gpus 1

Every --set is an option of ppo.py with its values; all combinations are run. A run is a task of diffvcs.sweep: its result is the curve (frames and
mean score of the last 100 games) and is kept under --out, so a command that was killed goes on, and more values cost only their own runs. The file
tune.tsv there has a line for each run, in the order of the settings.

A run is a program of its own with one thread, and ends by --frames and not by the clock: on the CPU the same settings give the same bytes, whatever
the machine and the number of workers. On a GPU (--gpus) they do not, because sums there have no fixed order.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import diffvcs

PROGRAM = Path(__file__).with_name("ppo.py")
CLOCK = 60 * 24 * 365  # minutes: the budget is in frames


def learn(program: bytes, cart: diffvcs.Cartridge, settings: list[str]) -> bytes:
    """Runs the learner in a temporary folder; returns its curve without the times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ppo.py").write_bytes(program)
        image = folder / f"{cart.name}.bin"
        image.write_bytes(cart.rom.tobytes())
        game = "demo" if cart.name == "demo" else str(image)
        command = [sys.executable, "ppo.py", game, "--no-video", "--out", "run", "--minutes", str(CLOCK), *settings]
        one = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        ran = subprocess.run(command, cwd=folder, env=one, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(ran.stderr[-500:].strip())
        rows = [line.split(",")[1:] for line in (folder / "run" / "curve.csv").read_text().splitlines()]
    return "".join(",".join(row) + "\n" for row in rows).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE,VALUE", help="an option of ppo.py")
    parser.add_argument("--frames", type=float, default=2e6, help="of each run")
    parser.add_argument("--out", default="runs/tune", help="folder of the results, or a URL of fsspec")
    parser.add_argument("--ray", nargs="?", const="", metavar="ADDRESS", help="run on Ray")
    parser.add_argument("--workers", type=int, help="runs at a time; one for each core if not given")
    parser.add_argument("--gpus", type=float, default=0, help="GPUs of each run, with --ray")
    o = parser.parse_args()
    names, values = [], []
    for text in o.set:
        name, _, some = text.partition("=")
        if not some:
            parser.error(f"--set {text}: write an option of ppo.py and its values, such as rate=2e-4,4e-4")
        names.append(name)
        values.append(some.split(","))
    common = ["--frames", str(o.frames), "--device", "cuda" if o.gpus else "cpu"]
    runs = list(itertools.product(*values))
    program, cart = PROGRAM.read_bytes(), diffvcs.Cartridge.find(o.game)
    tasks = [
        dict(program=program, cart=cart, settings=common + [word for pair in zip(names, run) for word in ("--" + pair[0], pair[1])])
        for run in runs
    ]  # fmt: skip
    try:
        found = diffvcs.sweep(
            learn, tasks, out=o.out, engine="threads" if o.ray is None else "ray", address=o.ray or None, workers=o.workers,
            gpus=o.gpus, title="tune",
        )  # fmt: skip
    except (ImportError, OSError, diffvcs.sweep.Stopped) as problem:
        print(f"tune.py: {problem}", file=sys.stderr)
        return 1
    table = "\t".join([*names, "frames", "score"]) + "\n"
    for run, curve in zip(runs, found):
        *_, last = curve.decode().splitlines()
        table += "\t".join([*run, *(last.split(",") if last[0].isdigit() else ("-", "-"))]) + "\n"
    diffvcs.sweep.store(o.out).write("tune.tsv", table.encode())
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from tune import main  # worker processes know the task by this name

    sys.exit(main())
