#!/usr/bin/env python3
"""Tasks a second of a sweep by threads and on Ray, on the same number of cores, in one run.

A task is the exact effects of all bits of RAM in a state of Pong, some tenths of a second long. Turns alternate, each into an empty folder. Ray is started, and its
workers have computed a task each, before the first turn; how long that takes is printed. The fastest turn of each counts. Ray's workers have niceness 15 unless
RAY_worker_niceness says otherwise; here it is 0, that of the threads, so that other work on the machine slows both equally. Needs Ray; without ROM images it takes
our own cartridge. The processor time of all processes, Ray's included, says the same on a busy machine. --at-least .9 fails if Ray's rate is below nine tenths of the threads'.
"""

import argparse
import os
import sys
import tempfile
import time

import diffvcs
from diffvcs.sweep_commands import truth_task


def processor_seconds():
    """Of this process and its descendants, which those of a local Ray are."""
    import psutil  # which Ray brings

    own = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in [own, *own.children(recursive=True)])


def turn(engine, tasks, workers):
    """Returns tasks a second, tasks for each second of a processor, and the results' digest."""
    with tempfile.TemporaryDirectory() as out:
        start, used = time.perf_counter(), processor_seconds()
        found = diffvcs.sweep(truth_task, tasks, out=out, engine=engine, workers=workers, progress=False)
        seconds, used = time.perf_counter() - start, processor_seconds() - used
        return len(tasks) / seconds, len(tasks) / used, found.digest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--tasks", type=int, default=32)
    parser.add_argument("--horizon", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-least", type=float, default=0, help="the ratio below which the exit status is 1")
    options = parser.parse_args()
    os.environ.setdefault("RAY_worker_niceness", "0")
    import ray

    game = "pong" if diffvcs.roms.get_rom_path("pong") else "demo"
    cart, common = diffvcs.Cartridge.find(game), dict(seed=1, horizons=[options.horizon], wrt="ram")
    tasks = [dict(cart=cart, frame=60 + i, **common) for i in range(options.tasks)]
    start = time.perf_counter()
    ray.init("local", num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
    turn("ray", tasks[: options.workers], options.workers)
    print(f"Ray's start and a first task for each of {options.workers} workers: {time.perf_counter() - start:.1f} s")
    rates, costs, digests = {"threads": [], "ray": []}, {"threads": [], "ray": []}, set()
    for number in range(options.rounds):
        for engine in list(rates) if number % 2 else list(reversed(rates)):
            rate, cost, digest = turn(engine, tasks, options.workers)
            rates[engine].append(rate)
            costs[engine].append(cost)
            digests.add(digest)
            print(f"{engine:8} {rate:7.2f} tasks/s {cost:7.2f} tasks for a second of a processor", flush=True)
    ray.shutdown()
    best = {engine: max(found) for engine, found in rates.items()}
    ratio, same = best["ray"] / best["threads"], len(digests) == 1
    processor = max(costs["ray"]) / max(costs["threads"])
    print(
        f"result: threads={best['threads']:.2f} ray={best['ray']:.2f} ratio={ratio:.3f} processor={processor:.3f} same={same}"
    )
    return 0 if same and ratio >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
