#!/usr/bin/env python3
"""Searches for controls on ten games, with the same budget of emulated frames: `diffvcs steer` on each, and medians over
seeds in one table.

    python bench/steer.py --seeds 20                 # the score: docs/steer.md
    python bench/steer.py --cells --seeds 20         # goals in RAM: docs/steer.md
    python bench/steer.py --cells --draw 8           # other goals
    python bench/steer.py --objects --draw 27        # goals by objects, with bytes where the table has no object
    python bench/steer.py --games pong --seeds 2 --budget 3000
"""

import argparse
import os
import random
import re
import statistics
import subprocess
import tempfile
from typing import Any

# The games whose score is to be high after 200 frames.
GAMES = (
    "space_invaders", "seaquest", "asteroids", "demon_attack", "ms_pacman", "qbert", "riverraid", "phoenix", "assault",
    "freeway",
)  # fmt: skip
SEARCHES = ("random", "blind", "evolution", "smooth", "exact")

# Where the player is: its column, or column and row.
PLAYERS = {
    "seaquest": ("C6", "E1"), "riverraid": ("B3",), "demon_attack": ("96",), "boxing": ("A0", "A2"),
    "hero": ("9B", "9F"), "tennis": ("9A", "98"), "frostbite": ("E6", "E4"), "skiing": ("99",),
    "private_eye": ("BF", "D6"), "venture": ("D5", "9A"),
}  # fmt: skip
# Where it is to be after 60 frames, as `--draw 28` and `--objects --draw 29` draw it. The searches were not developed with these goals.
CELLS = {
    "seaquest": "ram:C6=60,ram:E1=24",
    "riverraid": "ram:B3=62",
    "demon_attack": "ram:96=197",
    "boxing": "ram:A0=30,ram:A2=12",
    "hero": "ram:9B=52,ram:9F=78",
    "tennis": "ram:9A=58,ram:98=140",
    "frostbite": "ram:E6=69,ram:E4=27",
    "skiing": "ram:99=79",
    "private_eye": "ram:BF=115,ram:D6=25",
    "venture": "ram:D5=67,ram:9A=78",
}
OBJECTS = {
    "seaquest": "object:player 0 x=59,object:player 0 y=83",
    "riverraid": "object:player 0 x=63",
    "demon_attack": "object:ball x=86",
    "boxing": "object:player 0 x=37,object:player 0 y=43",
    "hero": "object:player 1 x=50,object:player 1 y=75",
    "tennis": "object:player 0 x=72,object:player 0 y=24",
    "frostbite": "object:player 0 x=57,object:player 0 y=67",
    "skiing": "object:player 0 x=64",
    "private_eye": "object:player 0 x=114,ram:D6=20",
    "venture": "object:ball x=71,object:ball y=173",
}
CELL_SEARCHES = ("random", "blind", "cem", "evolution", "horizon", "mixed")
BASELINES = ("random", "blind", "cem", "evolution")


def search(
    options: argparse.Namespace, game: str, goal: str, searches: tuple[str, ...], horizon: int
) -> list[list[str]]:
    """The rows of `diffvcs steer`: seed, search, value, frames, actions."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "steer.tsv")
        settings = {"jobs": options.jobs, "actions": "NOOP*300", "goal": goal, "horizon": horizon, "budget": options.budget,
                    "seeds": options.seeds, "searches": ",".join(searches), "out": out}  # fmt: skip
        command = [options.program, "steer", game, *(f"--{name}={value}" for name, value in settings.items())]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file:
            return [line.split("\t") for line in file.read().splitlines()[1:]]


def spell_goal(options: argparse.Namespace, machine: Any, cells: tuple[str, ...]) -> str:
    """Where the player is now: by bytes, or, with --objects, by the pixels that they mean."""
    goals = []
    for cell in cells:
        byte = int(cell, 16) - 0x80
        value, goal = int(machine.ram[byte]), f"ram:{cell}={machine.ram[byte]}"
        for name, (known, role) in machine.meanings.roles.items() if options.objects else ():
            if known == byte and role["role"] in ("x", "y"):
                pixel = round(role["offset"] + role["slope"] * value) if role["slope"] else role["map"][value]
                goal = f"object:{name}={pixel}" if pixel is not None else goal
        goals.append(goal)
    return ",".join(goals)


def is_drawn(game: str, goal: str, actions: str) -> bool:
    """Whether the TIA draws each object of the goal there, within two pixels, after the actions or in the two frames behind
    them (games draw some objects in every other frame)."""
    import diffvcs

    machine = diffvcs.Machine(game)
    machine.reset()
    for part in ["NOOP*300", *actions.split(",")]:
        action, _, times = part.partition("*")
        for _ in range(int(times or 1)):
            machine.act_on(action)
    left = [re.fullmatch(r"object:(.*?)(?: #\d+)? ([xy])=(\d+)", cell) for cell in goal.split(",")]
    wanted = {(cell[1], cell[2], int(cell[3])) for cell in left if cell}
    for _ in range(3):
        for thing in machine.objects():
            name = diffvcs.machine.OBJECTS[thing["kind"]]
            wanted -= {w for w in wanted if w[0] == name and abs(int(thing[w[1]]) - w[2]) <= 2}
        machine.act_on("NOOP")
    return not wanted


def draw_goal(options: argparse.Namespace, game: str, rng: random.Random) -> str:
    """A place that is not the start, where one random sequence of actions leads, but not the first fifty of `random`."""
    import diffvcs

    actions = [v + h + f or "NOOP" for v in ("", "UP", "DOWN") for h in ("", "LEFT", "RIGHT") for f in ("", "FIRE")]
    while True:
        machine = diffvcs.Machine(game)
        machine.reset()
        held: list[str] = []
        while len(held) < 60:
            held += [rng.choice(actions)] * rng.randint(1, 16)
        goals = []
        for actions_held in (["NOOP"] * 300, held[:60]):
            for action in actions_held:
                machine.act_on(action)
            goals.append(spell_goal(options, machine, PLAYERS[game]))
        start, goal = goals
        few = argparse.Namespace(program=options.program, jobs=1, budget=3000, seeds=1)
        if goal != start and float(search(few, game, goal, ("random",), 60)[0][2]) > 0:
            return goal


def goals_of(options: argparse.Namespace) -> dict[str, str]:
    """The goals of this file, or others."""
    games = options.games or list(PLAYERS)
    if options.draw is None:
        return {game: (OBJECTS if options.objects else CELLS)[game] for game in games}
    return {game: draw_goal(options, game, random.Random(f"{options.draw} {game}")) for game in games}


def compare_scores(options: argparse.Namespace) -> None:
    print("| game | " + " | ".join(SEARCHES) + " |\n|---|" + "---:|" * len(SEARCHES))
    for game in options.games or GAMES:
        rows = search(options, game, "score", SEARCHES, options.horizon or 200)
        medians = {s: statistics.median(float(row[2]) for row in rows if row[1] == s) for s in SEARCHES}
        best = max(medians.values())
        shown = [f"**{medians[s]:g}**" if medians[s] == best else f"{medians[s]:g}" for s in SEARCHES]
        print(f"| {game} | " + " | ".join(shown) + " |", flush=True)


def compare_cells(options: argparse.Namespace) -> None:
    """Median frames to the goal; a seed that does not reach it counts as the whole budget. In brackets how many reach it."""
    searches = tuple(options.searches)
    ratios = [name for name in ("horizon", "mixed") if name in searches]
    heads = [*searches, *(f"{name} / best baseline" for name in ratios), *(["drawn"] if options.objects else [])]
    print("| game | goal | " + " | ".join(heads) + " |\n|---|---|" + "---:|" * len(heads))
    for game, goal in goals_of(options).items():
        rows = search(options, game, goal, searches, options.horizon or 60)
        medians, cells = {}, []
        for name in searches:
            mine = [row for row in rows if row[1] == name]
            frames = [int(row[3]) if float(row[2]) == 0 else options.budget for row in mine]
            medians[name] = statistics.median(frames)
            cells.append(f"{medians[name]:g} ({sum(float(row[2]) == 0 for row in mine)})")
        best = min((medians[name] for name in BASELINES if name in medians), default=float("nan"))
        cells += [f"{medians[name] / best:.2f}" for name in ratios]
        if options.objects:
            there = [row[4] for row in rows if row[1] in ratios and float(row[2]) == 0]
            cells.append(f"{sum(is_drawn(game, goal, actions) for actions in there)} of {len(there)}")
        print(f"| {game} | `{goal}` | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/diffvcs")
    parser.add_argument("--games", nargs="+")
    parser.add_argument("--cells", action="store_true", help="goals in RAM instead of the score")
    parser.add_argument("--searches", nargs="+", default=CELL_SEARCHES, help="with --cells or --objects: which")
    parser.add_argument(
        "--objects", action="store_true", help="the same by objects and their pixels, where they have names"
    )
    parser.add_argument(
        "--draw", type=int, metavar="SEED", help="with --cells or --objects: other goals, drawn from a seed"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--horizon", type=int, help="frames; 200 for the score, 60 for goals in RAM")
    parser.add_argument("--jobs", type=int, default=0, help="threads; 0: one for each core")
    parser.add_argument("--budget", type=int, default=20000)
    options = parser.parse_args()
    (compare_cells if options.cells or options.objects else compare_scores)(options)


if __name__ == "__main__":
    main()
