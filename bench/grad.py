#!/usr/bin/env python3
"""The cost of derivatives in units of one ale-py frame: both timed in one run, interleaved; callgrind counts if installed.

The yardstick is a frame of ale-py's ALEInterface with its screen, on the same game. Every round times it and each of
the workloads of bench/grad.c, one after the other; a ratio is our time divided by ale-py's in that round, a game's ratio the
median over its rounds. `truth` and `jacobian` are 1,024 bits of RAM, each flipped for eight frames, in one thread: run again
one by one, and in one walk.
"""

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import time

import numpy as np

GAMES = "space_invaders pong breakout seaquest qbert".split()
WORKS = "frame run tape ste-dense ste-sparse bit-dense bit-sparse fork-dense fork-sparse truth jacobian".split()
TIMES = {"frame": 100, "run": 100, "tape": 100, "truth": 1, "jacobian": 1}  # calls per round; 10 for the rest
FRAMES_BEFORE, FRAMES = 300, 40


class Yardstick:
    def __init__(self, rom: str):
        import ale_py

        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.setInt("frame_skip", 1)
        self.ale.setInt("random_seed", 0)
        self.ale.loadROM(rom)
        self.screen = np.empty(self.ale.getScreenDims(), np.uint8)
        self.frames(FRAMES_BEFORE)

    def frames(self, count: int) -> None:
        for _ in range(count):
            self.ale.act(1)
            self.ale.getScreen(self.screen)
            if self.ale.game_over():
                self.ale.reset_game()


def library(build: str) -> ctypes.CDLL:
    lib = ctypes.CDLL(os.path.abspath(os.path.join(build, "bench", "grad.so")))
    lib.grad_open.restype = ctypes.c_void_p
    lib.grad_open.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
    lib.grad_do.restype = ctypes.c_bool
    lib.grad_do.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
    return lib


def ratios(lib: ctypes.CDLL, rom: str, game: str, rounds: int) -> tuple[dict, float]:
    yardstick, handle = Yardstick(rom), lib.grad_open(rom.encode(), game.encode())
    if not handle:
        raise RuntimeError(f"{game} cannot be opened")
    found, frames = {work: [] for work in WORKS}, []

    def timed(call) -> float:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    for number in range(rounds):
        frame = timed(lambda: yardstick.frames(FRAMES)) / FRAMES
        frames.append(frame)
        for work in WORKS:
            if work in ("truth", "jacobian") and number % 5:
                continue
            times = TIMES.get(work, 10)
            took = timed(lambda work=work, times=times: lib.grad_do(handle, work.encode(), times)) / times
            found[work].append(took / frame)
    return {work: statistics.median(values) for work, values in found.items()}, 1e6 * statistics.median(frames)


def counts(build: str, rom: str, game: str) -> dict:
    """Host instructions of each work, in millions."""
    found, rounds = {}, 4
    for work in WORKS[:-2]:
        out = os.path.join(build, "bench", "grad.callgrind")
        command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no"]
        command += ["--toggle-collect=grad_do", os.path.join(build, "bench", "grad"), rom, game, work, str(rounds)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file:
            total = next(line for line in file if line.startswith(("summary:", "totals:")))
        found[work] = int(total.split()[1]) / rounds / 1e6
    return found


def table(title: str, rows: dict, works: list[str], places: int) -> None:
    print(f"| {title} | " + " | ".join(works) + " |")
    print("|---|" + "---:|" * len(works))
    for game, row in rows.items():
        print(f"| {game} | " + " | ".join(f"{row[work]:.{places}f}" for work in works) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--roms", default=os.environ.get("DIFFVCS_ROMS"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--count", action="store_true", help="host instructions by callgrind, too")
    options = parser.parse_args()
    if not options.roms:
        import ale_py

        options.roms = os.path.join(os.path.dirname(ale_py.__file__), "roms")

    lib, rows, counted = library(options.build), {}, {}
    for game in options.games:
        rom = os.path.join(options.roms, f"{game}.bin")
        rows[game], frame = ratios(lib, rom, game, options.rounds)
        rows[game]["ale-py, us"] = frame
        if options.count and shutil.which("valgrind"):
            counted[game] = counts(options.build, rom, game)
    table("frames of ale-py", rows, [*WORKS, "ale-py, us"], 2)
    if counted:
        table("million host instructions", counted, WORKS[:-2], 2)
    means = {work: statistics.geometric_mean(row[work] for row in rows.values()) for work in WORKS}
    print("geometric means: " + " ".join(f"{work}={mean:.3f}" for work, mean in means.items()))
    plain = {work: statistics.mean(row[work] for row in rows.values()) for work in ("truth", "jacobian")}
    line = {
        "tape": means["tape"],
        "ste": means["ste-dense"],
        "bit": means["bit-dense"],
        "fork": means["fork-dense"],
        **plain,
    }
    print("grad: " + " ".join(f"{name}={value:.2f}" for name, value in line.items()))


if __name__ == "__main__":
    main()
