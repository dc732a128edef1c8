#!/usr/bin/env python3
"""Our sound beside ale-py's getAudio, sample for sample.

Both run the same random actions, profile `ale`, no sticky actions; every other game with ale-py's frame skip of 4. After
the end of a game both act three more times before they are reset, because ale-py's sound continues. The first
difference of a game is reported with its act and sample. Exit status 1 if any game differs or if nearly all samples
are silent.
"""

import argparse
import ctypes
import multiprocessing
import os
import random
import sys
import time

import numpy as np

from ale_env_live import Ours, library
from live import Field, declare, every_game, load_ale, rom_path

# Twenty games that between them use most waveforms. berzerk and double_dunk select their mode by acting, which is heard
# before the player's first act and skips frames too.
GAMES = """asteroids atlantis berzerk boxing breakout double_dunk enduro freeway gopher kangaroo krull montezuma_revenge
    ms_pacman phoenix pitfall pong riverraid seaquest space_invaders zaxxon""".split()
SAMPLES = 512


def sound_library(path):
    pointer = ctypes.c_void_p
    functions = (
        ("vcs_env_act", ctypes.c_int32, [pointer, ctypes.c_int, ctypes.c_int]),
        ("vcs_env_set_sound", None, [pointer, ctypes.c_int]),
        ("vcs_env_sound", ctypes.POINTER(ctypes.c_uint8), [pointer]),
        ("vcs_env_machine", pointer, [pointer]),
        ("vcs_field", ctypes.POINTER(Field), [ctypes.c_int]),
    )
    return declare(library(path), functions)


def sound_registers(lib, env):
    """AUDC0, AUDC1, AUDF0, AUDF1, AUDV0, AUDV1, in place."""
    index = 0
    while lib.vcs_field(index).contents.name != b"audio":
        index += 1
    at = lib.vcs_env_machine(env) + lib.vcs_field(index).contents.offset
    return np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_uint8)), (6,))


def compare(job):
    """One game; returns (name, what differs or None, acts, resets, acts in which something was heard, waveforms)."""
    name, rom, library_path, acts, seed, skip = job
    ale = load_ale(rom, frame_skip=skip, sound=True)
    lib = sound_library(library_path)
    ours = Ours(lib, rom, name, frame_skip=skip, repeat_action_probability=0)
    lib.vcs_env_set_sound(ours.env, 1)
    registers = sound_registers(lib, ours.env)
    stream = random.Random(seed)
    action, hold, act, resets, heard, extra = 0, 0, 0, 0, 0, 0
    waves = set()

    def difference():
        theirs, mine = ale.getAudio(), np.ctypeslib.as_array(lib.vcs_env_sound(ours.env), (SAMPLES,))
        if np.array_equal(theirs, mine):
            return None
        at = np.flatnonzero(theirs != mine)
        return f"act {act}, reset {resets}: {len(at)} samples from {at[0]}: {theirs[at[0]]}, ours {mine[at[0]]}"

    wrong = difference()
    while not wrong and act < acts:
        if ale.game_over(with_truncation=False):
            extra += 1
            if extra > 3:
                ale.reset_game()
                lib.vcs_env_reset(ours.env)
                resets += 1
                extra = 0
                wrong = difference()
                if wrong:
                    break
        if hold <= 0:
            action, hold = stream.randrange(18), stream.randrange(12)
        hold -= 1
        act += 1
        ale.act(action)
        lib.vcs_env_act(ours.env, action, 0)
        wrong = difference()
        heard += int(np.ptp(ale.getAudio()) > 0)
        waves.update(int(registers[c] & 15) for c in range(2) if registers[4 + c] & 15)
    ours.close()
    return name, wrong, act, resets, heard, waves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: twenty games")
    parser.add_argument("--all", action="store_true", help="every game ale-py can start")
    parser.add_argument("--library", default="build/libdiffvcs.so")
    parser.add_argument("--frames", type=int, default=1000, help="acts of each game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a quarter of the frames")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    names = every_game() if arguments.all else arguments.games or GAMES
    acts = arguments.frames // 4 if arguments.quick else arguments.frames
    jobs = [(n, rom_path(n), arguments.library, acts, arguments.seed, 1 if i % 2 else 4) for i, n in enumerate(names)]
    for _, rom, *_ in jobs:
        if not os.path.exists(rom):
            parser.error(f"no {rom}")
    wrong = total = heard_total = 0
    waves_total = set()
    start = time.time()
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        for (name, difference, count, resets, heard, waves), job in zip(pool.imap(compare, jobs), jobs):
            wrong += bool(difference)
            total += count
            heard_total += heard
            waves_total |= waves
            what = difference or f"{count} acts of {job[5]}, {resets} resets, {heard} heard, waveforms " + (
                "".join(f"{w:X}" for w in sorted(waves)) or "none"
            )
            print(f"{'not ok' if difference else 'ok'} {name}: {what}", flush=True)
    print(
        f"{len(names) - wrong} of {len(names)} games equal over {total} acts, {total * SAMPLES} samples; heard in "
        f"{heard_total} acts, {len(waves_total)} waveforms; {time.time() - start:.0f} s"
    )
    if heard_total * 20 < total:
        print("not ok: fewer than one act in twenty was heard, so this proves nothing")
        wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
