"""Tasks for test_sweep.py, in a module of their own: other processes import it."""

import os
import sys
import time

import numpy as np

import diffvcs
from diffvcs import sweep_commands


def noted(log, n, seconds=0.0, size=64):
    """Bytes that depend on n only. A line of the log says which process computes it."""
    with open(log, "a") as file:
        file.write(f"{n} {os.getpid()}\n")
    time.sleep(seconds)
    return bytes((n * n + i) % 251 for i in range(size))


def devices(n, seconds):
    """The GPUs that a task finds, after a while."""
    time.sleep(seconds)
    return os.environ.get("CUDA_VISIBLE_DEVICES", "").encode()


def ram_from(carts, states, which, frame):
    """RAM some frames after one of the base states, of one of a set of games."""
    return diffvcs.run(carts[which], states[which], ["NOOP"] * frame).ram[-1].tobytes()


def batch_on(cart, device, seed):
    """What a batch of three games on a device shows and earns in 20 steps."""
    envs = diffvcs.DiffVCSVectorEnv(cart, 3, device=device, obs_type="ram", noop_max=0, autoreset_mode="SameStep")
    shown, random = bytearray(), np.random.default_rng(seed)
    parts = [envs.reset(seed=seed)[0]]
    for _ in range(20):
        for part in parts:  # now: the next step writes into the device's arrays
            shown += (part if device == "cpu" else part.numpy()).tobytes()
        parts = envs.step(random.integers(0, envs.single_action_space.n, 3).astype(np.int32))[:2]
    return bytes(shown)


def failing(n):
    if n == 3:
        raise ValueError("three is too many")
    return bytes([n])


def fails_beside_a_long_one(n, seconds):
    """Task 0 fails after a while; task 1 takes minutes, unless its sweep stops."""
    if n == 0:
        time.sleep(seconds)
        raise ValueError("zero")
    return scored(4096)


def scored(pixels):
    """The rows of the demo: a call of the library that takes a second or more."""
    return sweep_commands.score_task(
        diffvcs.Cartridge.find("demo"), pixels=pixels, rom_bits=8, methods=["bit", "exact"]
    )


def tasks(log, count, seconds=0.0):
    return [dict(log=str(log), n=n, seconds=seconds) for n in range(count)]


if __name__ == "__main__":  # LOG OUT COUNT SECONDS ENGINE WORKERS
    log, out, count, seconds, engine, workers = sys.argv[1:]
    from sweep_tasks import noted, tasks  # by the name that the other processes know

    found = diffvcs.sweep(
        noted, tasks(log, int(count), float(seconds)), out=out, engine=engine, workers=int(workers), progress=False
    )
    print(found.digest())
