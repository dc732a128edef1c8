#!/usr/bin/env python3
"""Boxes of OCAtari beside the boxes of diffvcs, on the same frames.

OCAtari computes boxes from RAM by code that people wrote for each game; diffvcs lists what the TIA drew. Both play the same actions from
the same seed, and a frame counts only if the two pictures are equal. Each box of OCAtari is compared with the sprite, the union of sprites
or the block of playfield that overlaps it best:

  same     intersection over union of at least 0.5
  other    something is drawn there, but the box is another one: too large, too small or shifted
  empty    no object is drawn within the box in the last four frames: OCAtari names a thing that is not on the screen

The last column counts sprites of diffvcs that no box of OCAtari touches. They are on the screen: tests/test_objects.c checks that every box
is drawn.

    pip install ocatari ale-py
    python bench/ocatari_boxes.py [--frames N] [GAME ...]
"""

import argparse
import sys
from collections import Counter

import numpy as np

import diffvcs

GAMES = {
    "Alien": "alien",
    "Asterix": "asterix",
    "Asteroids": "asteroids",
    "Atlantis": "atlantis",
    "Berzerk": "berzerk",
    "Bowling": "bowling",
    "Boxing": "boxing",
    "Breakout": "breakout",
    "Carnival": "carnival",
    "DemonAttack": "demon_attack",
    "FishingDerby": "fishing_derby",
    "Freeway": "freeway",
    "Frostbite": "frostbite",
    "Kangaroo": "kangaroo",
    "MsPacman": "ms_pacman",
    "Pong": "pong",
    "Riverraid": "riverraid",
    "Seaquest": "seaquest",
    "SpaceInvaders": "space_invaders",
    "Tennis": "tennis",
}
SAME = 0.5
FLICKER = 4  # frames: many games draw an object only in every second to fourth frame


def overlap(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Intersection over union of two boxes x, y, w, h."""
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (a[2] * a[3] + b[2] * b[3] - w * h)


def union(boxes: list[tuple[int, ...]]) -> tuple[int, ...]:
    left, top = min(b[0] for b in boxes), min(b[1] for b in boxes)
    return left, top, max(b[0] + b[2] for b in boxes) - left, max(b[1] + b[3] for b in boxes) - top


def judge(box: tuple[int, ...], sprites: list[tuple[int, ...]], blocks: list[tuple[int, ...]]) -> str:
    """Compares a box of OCAtari with what is drawn."""
    for things in (sprites, blocks):
        near = [b for b in things if overlap(box, b) > 0]
        inside = [b for b in near if box[0] - 2 <= b[0] + b[2] / 2 <= box[0] + box[2] + 2]
        if any(overlap(box, b) >= SAME for b in near) or (inside and overlap(box, union(inside)) >= SAME):
            return "same"
    return "other" if any(overlap(box, b) > 0 for b in sprites + blocks) else "empty"


def compare(name: str, game: str, frames: int) -> tuple[dict[str, int], Counter[str]]:
    from ocatari.core import OCAtari

    env = OCAtari(f"ALE/{name}-v5", mode="ram", hud=True, obs_mode="ori", frameskip=1, repeat_action_probability=0.0)
    env.reset(seed=0)
    ale = env._ale
    machine = diffvcs.Machine(game)
    machine.reset()
    actions = [a.value for a in ale.getMinimalActionSet()]
    random = np.random.default_rng(1)
    count = dict.fromkeys(("frames", "unequal", "boxes", "same", "other", "empty", "missing"), 0)
    differ: Counter[str] = Counter()  # what OCAtari calls the boxes that are not the same
    action = 0
    recent: list[tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = []  # sprites and blocks, the last frame first
    for i in range(frames):
        if i % 8 == 0:
            action = int(random.integers(len(actions)))
        _, _, terminated, truncated, _ = env.step(action)
        machine.act_on(actions[action])
        if terminated or truncated:
            break
        if i % 10 < 10 - FLICKER:
            recent.clear()
            continue
        boxes = [(int(o["x"]), int(o["y"]), int(o["w"]), int(o["h"]), int(o["kind"])) for o in machine.objects()]
        recent.insert(0, ([b[:4] for b in boxes if b[4] < 5], [b[:4] for b in boxes if b[4] == 5]))
        if i % 10 != 9:
            continue
        if not np.array_equal(ale.getScreen(), machine.screen()):
            count["unequal"] += 1
            continue
        count["frames"] += 1
        things = [o for o in env.objects if o and o.category != "NoObject" and o.visible and o.w > 0 and o.h > 0]
        theirs = [tuple(int(v) for v in o.xywh) for o in things]
        for thing, box in zip(things, theirs, strict=True):
            count["boxes"] += 1
            verdicts = [judge(box, *drawn) for drawn in recent]
            verdict = next((v for v in ("same", "other") if v in verdicts), "empty")
            count[verdict] += 1
            if verdict != "same":
                differ[f"{thing.category} {verdict}"] += 1
        count["missing"] += sum(not any(overlap(b, t) > 0 for t in theirs) for b in recent[0][0])
    env.close()
    return count, differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="*", help="OCAtari's names, such as Pong")
    parser.add_argument("--frames", type=int, default=600)
    args = parser.parse_args()
    print(f"{'game':16} {'frames':>6} {'boxes':>6} {'same':>6} {'other':>6} {'empty':>6} {'not in OCAtari':>15}")
    for name in args.games or GAMES:
        count, differ = compare(name, GAMES[name], args.frames)
        note = "  " + ", ".join(f"{what} {n}" for what, n in differ.most_common(3))
        if count["unequal"]:
            note += f"; {count['unequal']} frames with another picture are left out"
        print(
            f"{GAMES[name]:16} {count['frames']:6} {count['boxes']:6} {count['same']:6} {count['other']:6} {count['empty']:6} "
            f"{count['missing']:15}{note}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
