#!/usr/bin/env python3
"""`diffvcs explain` beside ale-py: does the list of RAM bytes have every byte whose flip changes the pixel?

Pixels are drawn at random, half of them where the picture is not background. For each, explain lists the bytes of RAM that
have a bit whose flip before the frame changes the pixel. The same list is computed with ale-py, by setRAM, for all 1,024 bits. The two
lists must be equal. Prints recall and precision, and the precision of each method's list. Exit status 1 if a byte is missing or
listed wrongly.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

from ale_truth_live import stream
from live import load_ale

GAMES = (
    "pong breakout space_invaders seaquest ms_pacman qbert montezuma_revenge asteroids pitfall road_runner freeway "
    "boxing enduro frostbite tennis star_gunner up_n_down zaxxon kangaroo riverraid"
).split()
METHODS = ("naive", "ste", "bit", "bit+fork")


class Theirs:
    """ale-py before the frame that is explained."""

    def __init__(self, rom, seed, frame):
        self.rom, self.seed, self.frame = rom, seed, frame
        self.ale, self.last = self.fresh()
        self.state = self.ale.cloneState()

    def fresh(self):
        ale = load_ale(self.rom)
        ale.reset_game()
        actions = stream(self.seed)
        for _ in range(self.frame - 1):
            ale.act(next(actions))
        return ale, next(actions)

    def picture(self, ale, flip=None):
        if flip:
            ale.setRAM(flip[0], int(ale.getRAM()[flip[0]]) ^ 1 << flip[1])
        ale.act(self.last)
        return ale.getScreen().copy()

    def changed(self, pixels):
        """For every pixel the bytes of RAM that change it."""
        base = self.picture(self.ale)
        found = {pixel: set() for pixel in pixels}
        for byte in range(128):
            for bit in range(8):
                self.ale.restoreState(self.state)
                picture = self.picture(self.ale, (byte, bit))
                for x, y in pixels:
                    if picture[y][x] != base[y][x]:
                        found[x, y].add(byte)
        return base, found

    def changed_afresh(self, pixel, byte):
        """The same in an ale-py that was just loaded: restoreState leaves rows that no beam reaches as they were."""
        x, y = pixel
        base = self.picture(self.fresh()[0])[y][x]
        return any(self.picture(self.fresh()[0], (byte, bit))[y][x] != base for bit in range(8))


def choose(picture, count, rng):
    import numpy as np

    height, width = picture.shape
    shown = np.argwhere(picture != np.bincount(picture.ravel()).argmax())
    pixels = []
    for i in range(count):
        if i % 2 and len(shown):
            y, x = shown[rng.randrange(len(shown))]
        else:
            x, y = rng.randrange(width), rng.randrange(height)
        pixels.append((int(x), int(y)))
    return pixels


def explained(program, rom, seed, frame, pixel):
    with tempfile.TemporaryDirectory() as out:
        command = [program, "explain", rom, "--profile", "ale", "--seed", str(seed), "--frame", str(frame)]
        command += ["--pixel", f"{pixel[0]},{pixel[1]}", "--horizon", "1", "--out", out]
        subprocess.run(command, check=True, capture_output=True)
        with open(os.path.join(out, "explain.json")) as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--program", default="build/diffvcs")
    parser.add_argument("--pixels", type=int, default=50, help="in all games together")
    parser.add_argument("--quick", action="store_true", help="three games, six pixels")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frame", type=int, default=240)
    args = parser.parse_args()
    import ale_py

    games, total = (args.games[:3], 6) if args.quick else (args.games, args.pixels)
    roms = os.environ.get("DIFFVCS_ROMS") or os.path.join(os.path.dirname(ale_py.__file__), "roms")
    rng, wrong, count = random.Random(args.seed), 0, 0
    listed = {name: [0, 0, 0] for name in ("truth",) + METHODS}  # right, listed, to be listed
    for number, game in enumerate(games):
        rom = os.path.join(roms, game + ".bin")
        theirs = Theirs(rom, args.seed, args.frame)
        picture = theirs.picture(theirs.fresh()[0])
        pixels = choose(picture, total // len(games) + (number < total % len(games)), rng)
        _, expected = theirs.changed(pixels)
        for pixel in pixels:
            answer = explained(args.program, rom, args.seed, args.frame, pixel)
            ours = {row["index"] for row in answer["ram"] if any(row["truth"])}
            for byte in ours ^ expected[pixel]:
                (expected[pixel].add if theirs.changed_afresh(pixel, byte) else expected[pixel].discard)(byte)
            for name in listed:
                named = {row["index"] for row in answer["ram"] if any(value is None or value for value in row[name])}
                listed[name][0] += len(named & expected[pixel])
                listed[name][1] += len(named)
                listed[name][2] += len(expected[pixel])
            count += 1
            if ours != expected[pixel]:
                wrong += 1
                print(f"DIFFERS {game} {pixel}: we say {sorted(ours)}, ale-py {sorted(expected[pixel])}")
        print(f"ok      {game}: {len(pixels)} pixels", flush=True)
    for name, (right, named, due) in listed.items():
        print(
            f"{name:9} recall {right / due if due else 1:.3f}  precision {right / named if named else 1:.3f}  ({named} bytes listed)"
        )
    print(f"{count} pixels of {len(games)} games: {count - wrong} with just the bytes that change them")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
