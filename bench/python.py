#!/usr/bin/env python3
"""What Python costs on top of C: a step of an environment, and a vector environment's throughput.

A step through Gymnasium is compared with the one C call it makes (act, picture, numbers), which writes into a reused
buffer; both are CPU time, measured in many short repetitions, and the fastest count. A step of the vector environment is one
C call, on one thread, plus Python's work around it; the fastest tenth of each counts. The throughput on all cores follows,
because C's part is divided among them and Python's is not. The last line is for scripts.
"""

import argparse
import ctypes
import os
import time

import numpy as np

from diffvcs import DiffVCSVectorEnv, _c
from diffvcs.env import AtariEnv


def per_call(function, count, clock):
    start = clock()
    for _ in range(count):
        function()
    return (clock() - start) / count * 1e6


def step_overhead(game, obs_type, frameskip, rounds):
    env = AtariEnv(game, obs_type=obs_type, frameskip=frameskip, repeat_action_probability=0.0)
    env.reset(seed=0)
    state = env.clone_state(include_rng=True)
    buffer, seen = np.empty(env._shape, np.uint8), _c.Seen()
    handle, see, at, to = env.ale._env.pointer, env._see, buffer.ctypes.data, ctypes.addressof(seen)
    action, play = env._action_set[2], _c.lib.raw("vcs_play")  # without the checks, which are part of Python's share

    def through_c():
        play(handle, action, 1.0, frameskip, see, at, to)

    def through_python():
        env.step(2)

    pairs = []
    for _ in range(rounds):
        times = []
        for function in (through_c, through_python):
            env.restore_state(state)
            times.append(per_call(function, 50, time.process_time))
        pairs.append(times)
    c, python = (min(times) for times in zip(*pairs))
    overhead = python - c
    print(f"  {game:16} {obs_type:10} frameskip {frameskip}: C {c:7.1f} us, Python {overhead:+5.1f} us a step")
    return overhead


def vector_ratio(game, envs, steps, copy):
    vector = DiffVCSVectorEnv(game, envs, copy=copy, num_threads=1)
    vector.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, vector.single_action_space.n, (steps, envs)).astype(np.int32)
    checked, clock = (
        _c.lib.vcs_batch_step.__globals__,
        time.perf_counter,
    )  # the function that checks arrays, and calls C
    in_c = checked["raw"]
    inside, whole = [], []

    def timed(*arguments):
        start = clock()
        status = in_c(*arguments)
        inside.append(clock() - start)
        return status

    checked["raw"] = timed
    for row in actions:
        start = clock()
        vector.step(row)
        whole.append(clock() - start)
    checked["raw"] = in_c
    c, python = (np.percentile(times, 10) * 1e6 for times in (inside, np.subtract(whole, inside)))
    cores = len(os.sched_getaffinity(0))
    ratio = c / cores / (c / cores + python)
    print(
        f"  {game:16} {envs} environments, copy={copy!s:5}: C {c:7.1f} us, Python {python:+5.1f} us a step: "
        f"{100 * ratio:5.1f} % of C on {cores} cores"
    )
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default="pong,breakout,seaquest,ms_pacman")
    parser.add_argument("--rounds", type=int, default=41, help="turns of each; more on a busy machine")
    options = parser.parse_args()
    games = options.games.split(",")
    print("a step of an environment:")
    overheads = [
        step_overhead(game, obs_type, frameskip, options.rounds)
        for game in games
        for obs_type, frameskip in (("rgb", 4), ("ram", 1))
    ]
    print("a vector environment, 84 x 84 x 4:")
    ratios = [vector_ratio(game, 32, 5 * options.rounds, copy) for game in games for copy in (True, False)]
    print(f"result: overhead_us={max(overheads):.2f} vector_percent={100 * min(ratios):.1f}")


if __name__ == "__main__":
    main()
