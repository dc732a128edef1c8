#!/usr/bin/env python3
"""The two products of one Jacobian, <w, Jv> and <J'w, v>, with forks over several frames, for every image that is found.

Both vectors are random, over all bits of the machine, of ROM and of the inputs, and over all pixels and the machine at the end. The
products may differ by 1e-5 of their terms, which are floats and are rounded along thousands of links. Exit status 1 if those of a game
differ by more; nightly.sh runs it.

    python tests/products.py
    python tests/products.py --games enduro skiing --frames 8
"""

import argparse
import itertools
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import diffvcs
import numpy as np

LIMIT = 1e-5


def terms(*pairs: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """The sum of the products of numbers, and of their magnitudes."""
    products = [a.astype(np.float64).reshape(-1) * b.reshape(-1) for a, b in pairs]
    return sum(float(p.sum()) for p in products), sum(float(np.abs(p).sum()) for p in products)


def differ(game: str, frames: int, seed: int) -> float:
    """By how much the products of a game differ, relative to their terms."""
    rng = np.random.default_rng(seed)
    machine = diffvcs.Machine(game)
    for action in np.repeat(rng.integers(0, 18, 75), 4):
        machine.act_on(int(action))
    cart, start, actions = machine.cart, machine.save(), [int(action) for action in rng.integers(0, 18, frames)]
    played = diffvcs.run(cart, start, actions)

    def noise(*shape: int) -> np.ndarray:
        return rng.uniform(-1, 1, shape).astype(np.float32)

    state, rom, inputs = noise(cart.state_size, 8), noise(cart.rom.size, 8), noise(frames, len(diffvcs.INPUT_NAMES))
    pixels, end = noise(*played.frames.shape), noise(cart.state_size, 8)
    options = {"method": "bit+fork", "fork_window": 256, "side": "mean", "played": played}
    forwards = diffvcs.jvp(cart, start, actions, dstate=state, drom=rom, dinput=inputs, **options)
    backwards = diffvcs.vjp(cart, start, actions, dframes=pixels, dstate=end, **options)
    left, size = terms((forwards.dframes, pixels), (forwards.dstate, end))
    right, other_size = terms((state, backwards.dstate), (rom, backwards.drom), (inputs, backwards.dinput))
    return abs(left - right) / max(size, other_size, 1e-30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", help="all that are found, unless given")
    parser.add_argument("--frames", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="each plays the games to another state")
    options = parser.parse_args()
    games = options.games or sorted(
        name[:-4] for name in os.listdir(os.environ["DIFFVCS_ROMS"]) if name.endswith(".bin")
    )
    wrong = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for frames, seed in itertools.product(options.frames, options.seeds):
            found = list(pool.map(lambda game, frames=frames, seed=seed: differ(game, frames, seed), games))
            worst = sorted(zip(found, games, strict=True), key=lambda pair: (not math.isnan(pair[0]), -pair[0]))[:5]
            over = sum(not by <= LIMIT for by in found)
            wrong += over
            most = ", ".join(f"{game} {by:.1e}" for by, game in worst)
            print(f"{frames} frames, seed {seed}, {len(games)} games: {over} differ by more than {LIMIT:g}; ", end="")
            print(f"the most: {most}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
