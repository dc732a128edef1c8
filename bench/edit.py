#!/usr/bin/env python3
"""Searches for the bytes of ROM that make a picture, on ten games, with the same budget of emulated frames.

A hidden patch flips some bits of bytes that the next frame reads as data; the picture that it makes is the drawing. Each search
begins with the unpatched image and sees only the picture. Wrong pixels in the end, medians over seeds:

    exact      diffvcs.edit: the exact Jacobian of the picture with respect to every bit
    bit        diffvcs.edit with the estimate `bit`
    random     patches of as many random bits as the hidden one has; the best is kept
    blind      one or two random bits are flipped, and kept unless that is worse
    evolution  twenty patches; children of two good ones, changed in one or two bits, replace the worst

    python bench/edit.py --seeds 20                  # docs/edit.md
"""

import argparse
import statistics

import diffvcs
import numpy as np
from diffvcs import bits

GAMES = "space_invaders pong breakout seaquest qbert ms_pacman asteroids freeway boxing demon_attack".split()
SEARCHES = ("random", "blind", "evolution", "bit", "exact")


class Problem:
    def __init__(self, game: str, flips: int, budget: int, rng: np.random.Generator) -> None:
        machine = diffvcs.Machine(game)
        for _ in range(200):
            machine.act_on("NOOP")
        self.run = diffvcs.run(machine.cart, machine.save(), ["NOOP"])
        self.cart, self.flips, self.budget, self.rng = machine.cart, flips, budget, rng
        uses = diffvcs.study.rom_uses(self.run)
        data = np.flatnonzero(uses["kind"] == 1)
        self.slots = (8 * data[:, None] + np.arange(8)).reshape(-1)
        self.image = bits.rom_bits(self.cart)
        self.state = np.unpackbits(self.run.start, bitorder="little").astype(np.float32)
        for _ in range(100):  # a patch that can be seen
            self.wanted = self.picture(self.random_patch())
            if (self.wanted != self.run.frames[-1]).any():
                break
        self.left = budget

    def random_patch(self) -> np.ndarray:
        patch = np.zeros(len(self.slots), bool)
        patch[self.rng.choice(len(patch), self.flips, replace=False)] = True
        return patch

    def picture(self, patch: np.ndarray) -> np.ndarray:
        rom = self.image.copy()
        rom[self.slots[patch]] = 1 - rom[self.slots[patch]]
        pixels, _ = bits.forward(self.cart, self.state[None], rom[None], self.run.inputs[None])
        return pixels[0, 0].astype(np.uint8)

    def wrong(self, patch: np.ndarray) -> int:
        self.left -= 1
        return int((self.picture(patch) != self.wanted).sum())

    def change(self, patch: np.ndarray) -> np.ndarray:
        changed = patch.copy()
        chosen = self.rng.integers(len(patch), size=1 + self.rng.integers(2))
        changed[chosen] = ~changed[chosen]
        return changed


def random(p: Problem) -> int:
    return min(p.wrong(p.random_patch()) for _ in range(p.budget))


def blind(p: Problem) -> int:
    patch = np.zeros(len(p.slots), bool)
    best = p.wrong(patch)
    while p.left and best:
        changed = p.change(patch)
        value = p.wrong(changed)
        if value <= best:
            patch, best = changed, value
    return best


def evolution(p: Problem) -> int:
    patches = [p.change(np.zeros(len(p.slots), bool)) for _ in range(20)]
    values = [p.wrong(patch) for patch in patches]
    while p.left and min(values):
        one, other = (min(p.rng.integers(20, size=2), key=lambda i: values[i]) for _ in range(2))
        child = p.change(np.where(p.rng.random(len(p.slots)) < 0.5, patches[one], patches[other]))
        value, worst = p.wrong(child), int(np.argmax(values))
        if value <= values[worst]:
            patches[worst], values[worst] = child, value
    return min(values)


def edit(p: Problem, method: str) -> int:
    palette = np.array(p.cart.palette, np.uint8) if hasattr(p.cart, "palette") else None
    drawing = (p.cart.pixel_values("rgb")[p.wanted] if palette is None else palette[p.wanted]).astype(np.uint8)
    found = diffvcs.edit(p.run, drawing, 0, 0, exact=True, method=method, budget=p.budget)
    return int((found.after != p.wanted).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--flips", type=int, default=8, help="bits of the hidden patch")
    parser.add_argument("--budget", type=int, default=4000, help="emulated frames")
    options = parser.parse_args()
    print("| game | bits | wrong at first | " + " | ".join(SEARCHES) + " |\n|---|---:|---:|" + "---:|" * len(SEARCHES))
    for game in options.games:
        ends: dict[str, list[int]] = {search: [] for search in SEARCHES}
        first = []
        for seed in range(options.seeds):
            for search in SEARCHES:
                p = Problem(game, options.flips, options.budget, np.random.default_rng(seed))
                function = {"random": random, "blind": blind, "evolution": evolution}.get(search)
                ends[search].append(function(p) if function else edit(p, search))
            first.append(int((p.wanted != p.run.frames[-1]).sum()))
        medians = {search: statistics.median(values) for search, values in ends.items()}
        best = min(medians.values())
        shown = [f"**{medians[s]:g}**" if medians[s] == best else f"{medians[s]:g}" for s in SEARCHES]
        print(f"| {game} | {len(p.slots)} | {statistics.median(first):g} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
