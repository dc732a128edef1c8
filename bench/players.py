#!/usr/bin/env python3
"""Frames per second of games for two players: our environment and our batches, beside multi_agent_ale_py, in one run.

All play the same games with random actions, on one core, from Python: an environment frame by frame without pictures, as does
multi_agent_ale_py, which always draws; the PettingZoo environment beside multi_agent_ale_py where both return every frame in RGB; batches of 32
environments in steps of four frames, one that observes RAM and draws nothing, and one that draws two of the four frames and makes observations of
84 x 84 pixels. Turns alternate. Seconds are those of the processor, so other programs do not count; the fastest turn counts.
Needs multi_agent_ale_py (pip install multi_agent_ale_py) and ROM images.
"""

import argparse
import time

import multi_agent_ale_py
import numpy as np

import diffvcs
from diffvcs.pettingzoo import environments

KINDS = {"environment": "environment", "rgb": "RGB", "ram": "batch of RAM", "batch": "batch of pictures"}


def rate(step, frames, count):
    start = time.process_time()
    for i in range(count):
        step(i)
    return frames * count / (time.process_time() - start)


def measure(name, rounds, count):
    make = environments[name]
    raw = make.parallel_raw_env(obs_type="ram")
    machine, players = raw.machine, raw.machine.players
    machine.reset()
    seeing = make.parallel_raw_env(obs_type="rgb_image")
    seeing.reset()
    ale = multi_agent_ale_py.ALEInterface()
    ale.setFloat(b"repeat_action_probability", 0.0)
    ale.loadROM(str(diffvcs.roms.get_rom_path(make.game)))
    ale.setMode(machine.options["mode"])
    ale.reset_game()
    batch = make.vector_env(32, num_threads=1)
    bare = make.vector_env(32, num_threads=1, observations=False, ram=True)
    for each in (batch, bare):
        each.reset(range(32), range(32))
    random = np.random.default_rng(0)
    few = random.integers(0, len(raw.action_mapping), (count, players))
    many = random.integers(0, len(raw.action_mapping), (count, 32, players))
    lists, arrays = few.tolist(), raw.action_mapping[few]  # each side gets its actions as it wants them
    dicts = [dict(zip(raw.possible_agents, numbers)) for numbers in lists]

    def ours(i):
        machine.act_players(lists[i])
        if machine.over:
            machine.reset()

    def ours_seen(i):
        seeing.step(dicts[i])
        if not seeing.agents:
            seeing.reset()

    def theirs(i):
        ale.act(arrays[i])
        if ale.game_over():
            ale.reset_game()

    def theirs_seen(i):
        theirs(i)
        ale.getScreenRGB()

    turns = {
        "theirs": (theirs, 1, count),
        "environment": (ours, 1, count),
        "theirs_rgb": (theirs_seen, 1, count),
        "rgb": (ours_seen, 1, count),
        "ram": (lambda i: bare.step(many[i]), 4 * 32, count // 20),
        "batch": (lambda i: batch.step(many[i]), 4 * 32, count // 20),
    }
    rates = [{kind: rate(*turn) for kind, turn in turns.items()} for _ in range(rounds)]
    return {kind: max(found[kind] for found in rates) for kind in turns}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default=",".join(environments))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    multi_agent_ale_py.ALEInterface.setLoggerMode("error")
    ratios = []
    for name in options.games.split(","):
        found = measure(name, options.rounds, options.steps)
        ratios.append({kind: found[kind] / found["theirs_rgb" if kind == "rgb" else "theirs"] for kind in KINDS})
        print(f"{name:20} {found['theirs']:9,.0f} frames/s, {found['theirs_rgb']:,.0f} in RGB; " + "; ".join(
            f"{KINDS[kind]} {found[kind]:9,.0f} ({ratios[-1][kind]:.1f} times)" for kind in KINDS), flush=True)  # fmt: skip
    print("result: " + " ".join(f"{kind}_ratio={min(row[kind] for row in ratios):.1f}" for kind in KINDS))


if __name__ == "__main__":
    main()
