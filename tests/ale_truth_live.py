#!/usr/bin/env python3
"""`diffvcs truth --wrt ram` beside ale-py, bit by bit: setRAM, act, getScreen and getRAM must give the same table.

ale-py plays the frames of the same action stream, keeps the state, and for every RAM bit restores it, flips the bit and
acts on with NOOP. ale-py does not advance a game that is over, so the table is made with --stop-when-over. ale-py's
restoreState does not restore the frame buffers, where rows that the beam does not reach keep old content: a bit that
differs is compared again in a freshly loaded ale-py that has played the same frames. Then every row must be equal. Exit status
1 if any differs. --time prints how long each of the two took.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
import zlib

from live import every_game, load_ale, rom_path

MASK = (1 << 64) - 1


def clocks():
    """Seconds now, and of processors: of this process and of its children."""
    times = os.times()
    return time.monotonic(), times.user + times.system + times.children_user + times.children_system


def since(start):
    now = clocks()
    return now[0] - start[0], now[1] - start[1]


def stream(seed):
    """The actions of the records."""
    state, hold, action = seed, 0, 0
    while True:
        if seed == 0:
            yield 0
            continue
        if hold > 0:
            hold -= 1
        else:
            state = (state + 0x9E3779B97F4A7C15) & MASK
            z = state
            z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
            z ^= z >> 31
            action, hold = z % 18, (z >> 32) % 12
        yield action


class Theirs:
    """ale-py at the frame of the flips. None in `state` if the game was over before."""

    def __init__(self, rom, seed, frames, horizons):
        self.rom, self.seed, self.frames, self.horizons = rom, seed, frames, horizons
        self.ale = self.fresh()
        self.state = self.ale.cloneState() if self.ale else None
        self.base = {}

    def fresh(self):
        ale = load_ale(self.rom)
        ale.reset_game()
        actions = stream(self.seed)
        for _ in range(self.frames):
            ale.act(next(actions))
            if ale.game_over(with_truncation=False):
                return None
        return ale

    def look(self, ale, byte, bit):
        """Rows (horizon, byte, bit, pixels, RAM bytes, screen CRC, RAM CRC) of the frames to come."""
        import numpy as np

        rows = []
        for frame in range(1, self.horizons[-1] + 1):
            ale.act(0)
            if frame not in self.horizons:
                continue
            screen, ram = ale.getScreen(), ale.getRAM()
            if byte == "-":
                self.base[frame] = screen.copy(), ram.copy()
            pixels = int(np.count_nonzero(screen != self.base[frame][0]))
            changed = int(np.count_nonzero(ram != self.base[frame][1]))
            crcs = zlib.crc32(screen.tobytes()), zlib.crc32(ram.tobytes())
            rows.append((frame, str(byte), str(bit), pixels, changed, *crcs))
        return rows

    def flip(self, ale, byte, bit):
        ale.setRAM(byte, int(ale.getRAM()[byte]) ^ 1 << bit)
        return self.look(ale, byte, bit)

    def rows(self):
        rows = self.look(self.ale, "-", "-")
        for byte in range(128):
            for bit in range(8):
                self.ale.restoreState(self.state)
                rows += self.flip(self.ale, byte, bit)
        return rows


def our_rows(program, rom, seed, frames, horizons):
    start = clocks()
    command = [program, "truth", rom, "--profile", "ale", "--seed", str(seed), "--frame", str(frames), "--wrt", "ram"]
    command += ["--horizon", ",".join(map(str, horizons)), "--stop-when-over"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    spent = since(start)
    rows = []
    for line in text.splitlines()[1:]:  # after the heading
        cells = line.split("\t")
        if len(horizons) == 1:
            cells.insert(0, str(horizons[0]))
        rows.append(
            (int(cells[0]), cells[1], cells[2], int(cells[3]), int(cells[4]), int(cells[5], 16), int(cells[6], 16))
        )
    return rows, spent


def compare(job):
    """One game; returns (name, what differs or None, rows, how many have an effect, made afresh, seconds of both)."""
    name, rom, program, seed, frames, horizons = job
    theirs = Theirs(rom, seed, frames, horizons)
    if not theirs.state:
        return name, None, 0, 0, 0, 0, 0
    start = clocks()
    expected = theirs.rows()
    their_time = since(start)
    ours, our_time = our_rows(program, rom, seed, frames, horizons)
    if len(ours) != len(expected):
        return name, f"{len(ours)} rows, not {len(expected)}", 0, 0, 0, 0, 0
    wrong, afresh, count = None, 0, len(horizons)
    for i in range(0, len(ours), count):
        bit_ours, bit_theirs = ours[i : i + count], expected[i : i + count]
        if bit_ours != bit_theirs and i:
            # restoreState leaves the frame buffers as the flip before left them
            bit_theirs = theirs.flip(theirs.fresh(), int(bit_theirs[0][1]), int(bit_theirs[0][2]))
            afresh += 1
        if bit_ours != bit_theirs and not wrong:
            mine, other = next(pair for pair in zip(bit_ours, bit_theirs) if pair[0] != pair[1])
            wrong = f"horizon, byte, bit, pixels, bytes, CRCs are {mine}, in ale-py {other}"
    return name, wrong, len(expected), sum(row[3] > 0 or row[4] > 0 for row in ours), afresh, their_time, our_time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: every game ale-py can start")
    parser.add_argument("--program", default="build/diffvcs")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--horizons", default="1,2,4,8,15")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="eight games, two horizons")
    parser.add_argument("--time", action="store_true", help="print the seconds of both; say --jobs 1")
    arguments = parser.parse_args()
    some = ["asterix", "breakout", "montezuma_revenge", "pitfall2", "pong", "robotank", "space_invaders", "star_gunner"]
    names = arguments.games or (some if arguments.quick else every_game())
    horizons = [1, 5] if arguments.quick else [int(h) for h in arguments.horizons.split(",")]
    program = os.path.abspath(arguments.program)
    jobs = [(n, rom_path(n), program, arguments.seed, arguments.frames, horizons) for n in names]
    wrong = total = 0
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for name, difference, rows, changed, afresh, their_time, our_time in pool.imap(compare, jobs):
            wrong += bool(difference)
            total += rows
            times = ""
            if arguments.time and rows:
                times = ", ale-py {:.3f} s (of processors {:.3f}), diffvcs {:.3f} s ({:.3f})".format(
                    *their_time, *our_time
                )
            equal = f"{rows} rows equal, {changed} with an effect, {afresh} bits from a fresh load{times}"
            note = difference or (equal if rows else "over before the flip, nothing compared")
            print(f"{'not ok' if difference else 'ok'} {name}: {note}", flush=True)
    print(f"{len(names) - wrong} of {len(names)} games equal over {total} rows")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
