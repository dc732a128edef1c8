#!/usr/bin/env python3
"""Our machine beside ale-py's, frame by frame: RAM, screen, reward, lives, game over.

Both run the same random actions; when the game is over in ale-py, both are reset. Profile `ale`, no sticky actions.
The first difference of a game is reported with its frame. Exit status 1 if any game differs.
"""

import argparse
import ctypes
import multiprocessing
import os
import random
import sys

import numpy as np

from live import CartOptions, every_game, load_ale, load_library, rom_path


def library(path):
    pointer = ctypes.c_void_p
    functions = (
        ("vcs_env_create", ctypes.c_int, [pointer, ctypes.POINTER(pointer), pointer]),
        ("vcs_env_free", None, [pointer]),
        ("vcs_env_reset", None, [pointer]),
        ("vcs_env_act", ctypes.c_int32, [pointer, ctypes.c_int, ctypes.c_int]),
        ("vcs_env_over", ctypes.c_int, [pointer]),
        ("vcs_env_lives", ctypes.c_int32, [pointer]),
        ("vcs_env_height", ctypes.c_int, [pointer]),
        ("vcs_env_screen", pointer, [pointer]),
        ("vcs_env_ram", pointer, [pointer]),
    )
    return load_library(path, functions)


class Ours:
    """A vcs_env_t through ctypes."""

    def __init__(self, lib, rom, name):
        self.lib = lib
        image = open(rom, "rb").read()
        message = ctypes.create_string_buffer(256)
        options = CartOptions(0, 0, 0, name.encode())
        self.cart, self.env = ctypes.c_void_p(), ctypes.c_void_p()
        if lib.vcs_cart_load(image, len(image), ctypes.byref(options), ctypes.byref(self.cart), message):
            raise RuntimeError(message.value.decode())
        if lib.vcs_env_create(self.cart, ctypes.byref(self.env), message):
            raise RuntimeError(message.value.decode())
        self.height = lib.vcs_env_height(self.env)

    def ram(self):
        return np.ctypeslib.as_array(
            ctypes.cast(self.lib.vcs_env_ram(self.env), ctypes.POINTER(ctypes.c_uint8)), (128,)
        )

    def screen(self):
        pixels = ctypes.cast(self.lib.vcs_env_screen(self.env), ctypes.POINTER(ctypes.c_uint8))
        return np.ctypeslib.as_array(pixels, (self.height, 160))

    def close(self):
        self.lib.vcs_env_free(self.env)
        self.lib.vcs_cart_free(self.cart)


def compare(job):
    """One game; returns (name, None or what differs, frames, episodes)."""
    name, rom, library_path, frames, episodes, seed = job
    ale = load_ale(rom)
    ours = Ours(library(library_path), rom, name)
    stream = random.Random(seed)
    action, hold, frame, episode = 0, 0, 0, 0
    limit = max(20 * frames, 60000)

    def difference(reward_ale=0, reward=0):
        parts = []
        if not np.array_equal(ale.getRAM(), ours.ram()):
            cells = np.flatnonzero(ale.getRAM() != ours.ram())
            parts.append("RAM " + " ".join(f"${0x80 + c:02X}" for c in cells[:6]))
        screen = ale.getScreen()
        if screen.shape != ours.screen().shape:
            parts.append(f"screen shape {screen.shape} {ours.screen().shape}")
        elif not np.array_equal(screen, ours.screen()):
            y, x = np.argwhere(screen != ours.screen())[0]
            parts.append(f"screen from row {y} column {x}")
        for what, theirs, mine in (
            ("reward", reward_ale, reward),
            ("lives", ale.lives(), ours.lib.vcs_env_lives(ours.env)),
            ("over", int(ale.game_over(with_truncation=False)), ours.lib.vcs_env_over(ours.env)),
        ):
            if theirs != mine:
                parts.append(f"{what} {theirs} {mine}")
        return ", ".join(parts)

    wrong = difference()
    while not wrong and (frame < frames or episode < episodes) and frame < limit:
        if ale.game_over(with_truncation=False):
            ale.reset_game()
            ours.lib.vcs_env_reset(ours.env)
            episode += 1
            wrong = difference()
            if wrong:
                wrong = f"after reset {episode}: {wrong}"
                break
        if hold <= 0:
            action, hold = stream.randrange(18), stream.randrange(12)
        hold -= 1
        frame += 1
        wrong = difference(ale.act(action), ours.lib.vcs_env_act(ours.env, action, 0))
    ours.close()
    return name, wrong and f"frame {frame}: {wrong}", frame, episode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: every game ale-py can start")
    parser.add_argument("--library", default="build/libdiffvcs.so")
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--episodes", type=int, default=3, help="go on until this many episodes have ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    names = arguments.games or every_game()
    jobs = [(n, rom_path(n), arguments.library, arguments.frames, arguments.episodes, arguments.seed) for n in names]
    wrong = 0
    total = 0
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for name, difference, frames, episodes in pool.imap(compare, jobs):
            wrong += bool(difference)
            total += frames
            print(
                f"{'not ok' if difference else 'ok'} {name}: {difference or f'{frames} frames, {episodes} episodes equal'}",
                flush=True,
            )
    print(f"{len(names) - wrong} of {len(names)} games equal over {total} frames")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
