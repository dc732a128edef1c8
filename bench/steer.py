#!/usr/bin/env python3
"""Searches for controls on ten games, with the same budget of emulated frames: `diffvcs steer` on each, and medians over
seeds in one table.

    python bench/steer.py --seeds 20                 # docs/steer.md
    python bench/steer.py --games pong --seeds 2 --budget 3000
"""

import argparse
import os
import statistics
import subprocess
import tempfile

# how each game is played first
GAMES = {
    "space_invaders": "NOOP*300",
    "seaquest": "NOOP*300",
    "asteroids": "NOOP*300",
    "demon_attack": "NOOP*300",
    "ms_pacman": "NOOP*300",
    "qbert": "NOOP*300",
    "riverraid": "NOOP*300",
    "phoenix": "NOOP*300",
    "assault": "NOOP*300",
    "freeway": "NOOP*300",
}
SEARCHES = ("random", "blind", "evolution", "smooth", "exact")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/diffvcs")
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=200)
    parser.add_argument("--budget", type=int, default=20000)
    options = parser.parse_args()
    searches = ",".join(SEARCHES)
    print("| game | " + " | ".join(SEARCHES) + " |\n|---|" + "---:|" * len(SEARCHES))
    for game in options.games:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "steer.tsv")
            command = [options.program, "steer", game, "--actions", GAMES.get(game, "NOOP*300"), "--goal", "score"]
            command += [
                "--horizon",
                str(options.horizon),
                "--budget",
                str(options.budget),
                "--seeds",
                str(options.seeds),
            ]
            subprocess.run([*command, "--searches", searches, "--out", out], check=True, stdout=subprocess.DEVNULL)
            with open(out, encoding="utf-8") as file:
                rows = [line.split("\t") for line in file.read().splitlines()[1:]]
        medians = {s: statistics.median(float(row[2]) for row in rows if row[1] == s) for s in SEARCHES}
        best = max(medians.values())
        shown = [f"**{medians[s]:g}**" if medians[s] == best else f"{medians[s]:g}" for s in SEARCHES]
        print(f"| {game} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
