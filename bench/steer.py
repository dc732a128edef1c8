#!/usr/bin/env python3
"""Searches for controls on ten games, with the same budget of emulated frames: `diffvcs steer` on each, and medians over
seeds in one table. First it measures what a walk costs: the processor time of 64 changes of a sequence followed in one
walk, as a fraction of that of their frames run one by one; steer charges an eighth (src/study/steer_population.c).

    python bench/steer.py --seeds 20                 # docs/steer.md
    python bench/steer.py --games pong --seeds 2 --budget 3000
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np

import diffvcs

# game, goal, frames played first
GAMES = {
    "space_invaders": "NOOP*300",
    "seaquest": "NOOP*300",
    "asteroids": "NOOP*300",
    "breakout": "NOOP*60,FIRE*4,NOOP*20",
    "ms_pacman": "NOOP*400",
    "qbert": "NOOP*300",
    "river_raid": "NOOP*300",
    "beam_rider": "NOOP*300",
    "assault": "NOOP*300",
    "freeway": "NOOP*300",
}
SEARCHES = ("random", "blind", "evolution", "guided", "smooth", "exact")


def cost_of_following(game: str, frames: int) -> float:
    """The processor time of a frame that is followed in a walk, by that of a frame that is run."""
    machine = diffvcs.Machine(game)
    for _ in range(300):
        machine.act_on("NOOP")
    state, rng = machine.save(), np.random.default_rng(1)
    sets, followed = [], 0
    for _ in range(64):
        first, held = int(rng.integers(frames - 4)), int(rng.integers(5))
        places = diffvcs.input_places(frames)
        sets.append(places[(places["index"] == held) & (places["frame"] >= first) & (places["frame"] < first + 4)])
        followed += frames - first
    actions = ["NOOP"] * frames
    played = diffvcs.run(machine.cart, state, actions)

    def took(call) -> float:
        begin = time.thread_time()
        call()
        return time.thread_time() - begin

    def walk(changes):
        diffvcs.jacobian(machine.cart, state, actions, wrt=changes, of="ram", threads=1, played=played)

    def run():
        machine.restore(state)
        machine.drawing = False
        for _ in range(frames):
            machine.act_on("NOOP")

    alone = min(took(lambda: walk(sets[:1])) for _ in range(3))
    whole = min(took(lambda: walk(sets)) for _ in range(3))
    return (whole - alone) / followed / (min(took(run) for _ in range(5)) / frames)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/diffvcs")
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--budget", type=int, default=30000)
    options = parser.parse_args()
    searches = ",".join(SEARCHES)
    print("| game | " + " | ".join(SEARCHES) + " | a followed frame costs |\n|---|" + "---:|" * (len(SEARCHES) + 1))
    for game in options.games:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "steer.tsv")
            command = [options.program, "steer", game, "--actions", GAMES.get(game, "NOOP*300"), "--goal", "score"]
            command += ["--frames", str(options.frames), "--budget", str(options.budget), "--seeds", str(options.seeds)]
            subprocess.run([*command, "--searches", searches, "--out", out], check=True, stdout=subprocess.DEVNULL)
            with open(out, encoding="utf-8") as file:
                rows = [line.split("\t") for line in file.read().splitlines()[1:]]
        medians = {s: statistics.median(float(row[2]) for row in rows if row[1] == s) for s in SEARCHES}
        best = max(medians.values())
        shown = [f"**{medians[s]:g}**" if medians[s] == best else f"{medians[s]:g}" for s in SEARCHES]
        print(f"| {game} | " + " | ".join(shown) + f" | 1/{1 / cost_of_following(game, 60):.0f} frame |", flush=True)


if __name__ == "__main__":
    main()
