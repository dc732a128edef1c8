#!/usr/bin/env python3
"""Tasks a second of a sweep by threads and on Ray, on the same number of cores, in one run.

A task is the exact effects of all bits of RAM in a state of Pong, some tenths of a second long. Turns alternate, each into an empty folder. Ray is started, and its
workers have computed a task each, before the first turn; how long that takes is printed. The fastest turn of each counts. Needs Ray; without ROM images it takes our
own cartridge.
"""

import argparse
import os
import tempfile
import time

import diffvcs
from diffvcs.sweep_commands import truth_task


def turn(engine, tasks, workers):
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        found = diffvcs.sweep(truth_task, tasks, out=out, engine=engine, workers=workers, progress=False)
        return len(tasks) / (time.perf_counter() - start), found.digest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--tasks", type=int, default=32)
    parser.add_argument("--horizon", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    import ray

    game = "pong" if diffvcs.roms.get_rom_path("pong") else "demo"
    cart, common = diffvcs.Cartridge.find(game), dict(seed=1, horizons=[options.horizon], wrt="ram")
    tasks = [dict(cart=cart, frame=60 + i, **common) for i in range(options.tasks)]
    start = time.perf_counter()
    ray.init("local", num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
    turn("ray", tasks[: options.workers], options.workers)
    print(f"Ray's start and a first task for each of {options.workers} workers: {time.perf_counter() - start:.1f} s")
    rates, digests = {"threads": [], "ray": []}, set()
    for number in range(options.rounds):
        for engine in list(rates) if number % 2 else list(reversed(rates)):
            rate, digest = turn(engine, tasks, options.workers)
            rates[engine].append(rate)
            digests.add(digest)
            print(f"{engine:8} {rate:7.2f} tasks/s", flush=True)
    ray.shutdown()
    best = {engine: max(found) for engine, found in rates.items()}
    print(
        f"result: threads={best['threads']:.2f} ray={best['ray']:.2f} ratio={best['ray'] / best['threads']:.3f} same={len(digests) == 1}"
    )


if __name__ == "__main__":
    main()
