#!/usr/bin/env python3
"""Draws figures over objects of ten games with `diffvcs.edit`, and shows for each pixel that stays wrong why it does.

A figure is drawn from a seed: symmetric, as coarse as the object is drawn (one bit wide, two rows high), in the object's colours, row by
row. `edit` changes bytes of data until the frame after frame 200 shows it: bits, then all values of a byte, then pairs of values. If
pixels are still wrong then, every byte that the frame reads as data, or as the operand of an immediate instruction, is set to all 255
other values, one byte at a time, and the frame is run again. A wrong pixel is then

    unreached  if no value of any byte gives it the wanted colour;
    code       if only operands do, which `edit` leaves alone;
    excluded   if each byte of data that does makes one and the same other pixel wrong: no one byte puts both right;
    tied       if each makes some others wrong, at least as many as it puts right;
    left       if a byte would have made the drawing better: the search missed it.

`paired` counts the values of a byte of data that put a wrong pixel right and that `edit` combined with all values of all other bytes that
reach the figure, at most --pairs of them; `unpaired` those that were left in the end. `shown` says what follows: the figure is shown; or
no other value of one byte of data has fewer wrong pixels; or no two bytes have. The last column is what another search leaves that may
change the operands of immediate instructions, too, with at most --code-pairs first values.

    python bench/drawings.py                  # docs/edit.md
    python bench/drawings.py --games pong --drawings 1
"""

import argparse
import random

import diffvcs
import numpy as np
from diffvcs.functional import PLACE

GAMES = "space_invaders pong breakout seaquest qbert ms_pacman asteroids freeway boxing demon_attack".split()
BYTES_AT_ONCE = 8


def draw_figure(screen: np.ndarray, shape: np.void, rng: random.Random) -> np.ndarray:
    """A figure over an object, as palette indices; where the object and what is around it have one colour, so has the figure."""
    x, y, size = int(shape["x"]), int(shape["y"]), int(shape["size"])
    columns, rows = int(shape["w"]) // size, int(shape["h"]) // 2
    bits = [[rng.random() < 0.5 for _ in range((columns + 1) // 2)] for _ in range(rows)]
    figure = np.zeros((2 * rows, columns * size), np.uint8)
    for row in range(2 * rows):
        shown = screen[y + row, x : x + columns * size]
        around = screen[y + row, [max(x - 1, 0), min(x + columns * size, 159)]]
        colours = np.bincount(shown[~np.isin(shown, around)], minlength=256)
        lit = int(colours.argmax()) if colours.any() else int(shape["colour"])
        for column in range(columns):
            bit = bits[row // 2][min(column, columns - 1 - column)]
            figure[row, column * size : (column + 1) * size] = lit if bit else around[0]
    return figure


def place_figure(machine: diffvcs.Machine, rng: random.Random) -> tuple[np.ndarray, int, int]:
    """A figure of at least two colours over a player that is seen, and its corner."""
    machine.act_on("NOOP")
    objects, screen = machine.objects(playfield=False), machine.screen()
    players = [o for o in objects if o["kind"] < 2 and o["h"] >= 4 and o["w"] >= 4 and o["seen"] == o["pixels"]]
    for _ in range(100):
        shape = rng.choice(players)
        x, y = int(shape["x"]), int(shape["y"])
        figure = draw_figure(screen, shape, rng)
        height, width = figure.shape
        if len(np.unique(figure)) > 1 and (figure != screen[y : y + height, x : x + width]).mean() > 0.1:
            return figure, x, y
    raise SystemExit(f"{machine.cart.game} shows no object to draw over")


def flips_of(offset: int) -> list[np.ndarray]:
    """The places to flip for each other value of a byte of ROM: those of mask 1, 2, ... 255."""
    sets = []
    for mask in range(1, 256):
        places = np.zeros(mask.bit_count(), PLACE)
        places["kind"], places["index"] = 1, offset
        places["bit"] = [bit for bit in range(8) if mask >> bit & 1]
        sets.append(places)
    return sets


def explain(start: np.ndarray, cart: diffvcs.Cartridge, figure: np.ndarray, x: int, y: int) -> dict[str, int]:
    """Why the pixels that a cartridge shows differ from the figure."""
    played = diffvcs.run(cart, start, ["NOOP"])
    height, width = figure.shape
    wrong = played.frames[-1][y : y + height, x : x + width] != figure
    uses = diffvcs.rom_uses(played)
    immediate = (uses["kind"] == 2) & np.array(["#" in str(text) for text in uses["text"]])
    tried = np.flatnonzero((uses["kind"] == 1) | immediate)
    reached, by_data, helped = np.zeros_like(wrong), np.zeros_like(wrong), np.zeros_like(wrong)
    against = np.ones((wrong.size, wrong.size), bool)  # of each pixel, those that every byte breaks that puts it right
    for first in range(0, len(tried), BYTES_AT_ONCE):
        sets = [flip for offset in tried[first : first + BYTES_AT_ONCE] for flip in flips_of(int(offset))]
        found = diffvcs.jacobian(cart, start, ["NOOP"], wrt=sets, of="screen", played=played)
        row, column = found.index // 160 - y, found.index % 160 - x
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        row, column, number, shown = row[inside], column[inside], found.column[inside], found.flipped[inside]
        right = shown == figure[row, column]
        change = np.zeros(len(sets), int)
        np.add.at(change, number, (~right).astype(int) - wrong[row, column].astype(int))
        reached[row[right], column[right]] = True
        is_data = np.repeat(~immediate[tried[first : first + BYTES_AT_ONCE]], 255)[number]
        by_data[row[right & is_data], column[right & is_data]] = True
        pixel, breaks = row * width + column, ~right & ~wrong[row, column]
        for flip in np.unique(number[right & is_data & wrong[row, column]]):
            own = number == flip
            broken = np.zeros(wrong.size, bool)
            broken[pixel[own & breaks]] = True
            against[pixel[own & right & wrong[row, column]]] &= broken
        better = right & is_data & (change[number] < 0)
        helped[row[better], column[better]] = True
    excluded = against.any(axis=1).reshape(wrong.shape)
    return {
        "unreached": int((wrong & ~reached).sum()),
        "code": int((wrong & reached & ~by_data).sum()),
        "excluded": int((wrong & by_data & excluded).sum()),
        "tied": int((wrong & by_data & ~excluded & ~helped).sum()),
        "left": int((wrong & helped & ~excluded).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--drawings", type=int, default=2, help="of each game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--pairs", type=int, default=1000000, help="values that are combined with those of other bytes, at most"
    )
    parser.add_argument("--code-pairs", type=int, default=30, help="the same where operands may change, too")
    options = parser.parse_args()
    print(
        "| game | drawing | pixels | wrong before | after | unreached | code | excluded | tied | left | Jacobians | runs "
        "| paired | unpaired | shown | with operands |"
    )
    print("|---|---|" + "---:|" * 12 + "---|---:|")
    for game in options.games:
        for number in range(options.drawings):
            machine = diffvcs.Machine(game)
            for _ in range(200):
                machine.act_on("NOOP")
            start = machine.save()
            played = diffvcs.run(machine.cart, start, ["NOOP"])
            figure, x, y = place_figure(machine, random.Random(f"{options.seed} {game} {number}"))
            colours = machine.cart.pixel_values("rgb")[figure].astype(np.uint8)
            found = diffvcs.edit(played, colours, x, y, exact=True, pairs=options.pairs)
            why = dict.fromkeys(("unreached", "code", "excluded", "tied", "left"), 0)
            shown, with_operands = "the figure", 0
            if found.wrong_after:
                why = explain(start, diffvcs.Cartridge(game, patch=found.patch), figure, x, y)
                shown = {-1: "not known", 0: "impossible for two bytes"}.get(
                    found.pairs_left, "impossible for one byte"
                )
                with_operands = diffvcs.edit(
                    played, colours, x, y, exact=True, pairs=options.code_pairs, code=True
                ).wrong_after
            print(
                f"| {game} | {figure.shape[1]}x{figure.shape[0]} at {x},{y} | {figure.size} | {found.wrong_before} | "
                f"{found.wrong_after} | {' | '.join(str(count) for count in why.values())} | {found.walks} | {found.runs} | "
                f"{found.pairs} | {found.pairs_left if found.pairs_left >= 0 else '-'} | {shown} | {with_operands} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
