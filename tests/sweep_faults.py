#!/usr/bin/env python3
"""A sweep on Ray while workers are killed, the driver is killed, and the disk is full: the results are those of a quiet run.

The sweep computes exact effects in --tasks states of our own cartridge, on four worker processes, into a tmpfs that has room for half of the
results. Meanwhile this program sends SIGKILL to a worker at random --kills times, through the whole sweep, and to the driver three times; it starts the driver again
each time, and makes the tmpfs larger when the driver ends because of the full disk. Every task notes in a log when it starts. At the end:

- the results are the same bytes as those of threads in a quiet folder,
- no file of a result changed or disappeared after it was first seen,
- no task was started after its result was stored.

Needs Ray, and the right to mount a tmpfs in a namespace of its own (unshare). Exit status 1 if one of the three is not so.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import diffvcs
from diffvcs.sweep_commands import truth_task

HERE = Path(__file__).resolve()
DRIVER_KILLS = 3


def effects(log, cart, frame):
    """The effects of all RAM bits in a state. A line of the log says which, in which process, and when it starts."""
    with open(log, "a") as file:
        file.write(f"{frame} {os.getpid()} {time.time_ns()}\n")
    return truth_task(cart, 1, frame, [1, 30], "ram")


def tasks(log, count):
    cart = diffvcs.Cartridge("demo")
    return [dict(log=str(log), cart=cart, frame=60 + 7 * i) for i in range(count)]


def drive(log, out, count, engine):
    try:
        found = diffvcs.sweep(effects, tasks(log, count), out=out, engine=engine, workers=4, progress=False)
    except diffvcs.sweep.Stopped as problem:
        print(problem)
        return 3 if "make room" in str(problem) else 1
    return 0 if len(found) == count else 1


def lines(log):
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def files(out):
    """What is stored: the name of each result and (number of the file, size, time when it got its name)."""
    found = {}
    for path in out.glob("results/??/" + "?" * 64):
        facts = path.stat()
        found[path.name] = facts.st_ino, facts.st_size, facts.st_ctime_ns
    return found


def under_fire(folder, options):
    """Runs the sweep with all faults; returns its digest, and whether nothing was lost or computed again."""
    log, out, chance = folder / "log", folder / "out", random.Random(options.seed)
    out.mkdir()
    size = options.room * options.tasks // 2
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(out)], check=True)
    worker_kills = driver_kills = full = 0
    seen, intact = {}, True
    while True:
        driver = subprocess.Popen(
            [sys.executable, str(HERE), "--drive", str(log), str(out), str(options.tasks)],
            stdout=subprocess.PIPE,
            text=True,
        )
        first, kill_at = len(files(out)), time.monotonic() + chance.uniform(0.2, 1)
        while driver.poll() is None:
            time.sleep(0.02)
            now = files(out)
            intact = intact and all(now.get(name) == facts for name, facts in seen.items())
            seen = now
            if driver_kills < DRIVER_KILLS and len(now) >= first + options.tasks // 8:
                driver.send_signal(signal.SIGKILL)
                driver_kills += 1
                break
            alive = {int(pid) for _, pid, _ in lines(log)[-4:] if Path(f"/proc/{pid}").exists()} - {driver.pid}
            due = min(options.kills, options.kills * (len(now) + 8) // (options.tasks - 24))  # through the whole sweep
            if alive and worker_kills < due and time.monotonic() > kill_at:
                os.kill(chance.choice(sorted(alive)), signal.SIGKILL)
                worker_kills += 1
                kill_at = time.monotonic() + chance.uniform(0, 0.5)
        printed = driver.communicate()[0]
        if driver.returncode == 3:
            full += 1
            subprocess.run(["mount", "-o", f"remount,size={4 * size}k", str(out)], check=True)
        elif driver.returncode not in (0, -signal.SIGKILL):
            raise SystemExit(f"the driver ended with {driver.returncode}: {printed}")
        print(f"{len(files(out)):3} of {options.tasks} stored; killed {worker_kills} workers and {driver_kills} drivers; "
              f"{full} times without room", flush=True)  # fmt: skip
        if driver.returncode == 0:
            break
    if (worker_kills, driver_kills, full) != (options.kills, DRIVER_KILLS, 1):
        raise SystemExit("the sweep was over before all faults had happened: take more --tasks")
    stored = {name: facts[2] for name, facts in files(out).items()}
    names = {str(task["frame"]): diffvcs.sweep.address(effects, task) for task in tasks(log, options.tasks)}
    again = [
        frame for frame, _, start in lines(log) if int(start) > stored[names[frame]] + 10_000_000
    ]  # the clock's step
    print(f"{len(lines(log))} starts of {options.tasks} tasks, {len(again)} after the result was stored")
    whole = diffvcs.sweep(effects, tasks(log, options.tasks), out=out, progress=False)
    return whole.digest(), intact and not again and whole.computed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=160)
    parser.add_argument("--kills", type=int, default=20, help="of workers")
    parser.add_argument("--room", type=int, default=92, help="KiB of a result")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drive", nargs=3, metavar=("LOG", "OUT", "TASKS"), help=argparse.SUPPRESS)
    parser.add_argument("--mounting", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        log, out, count = options.drive
        return drive(log, out, int(count), "ray")
    if not options.mounting:
        own = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
        return subprocess.call([*own, sys.executable, str(HERE), *sys.argv[1:], "--mounting"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        digest, good = under_fire(folder, options)
        subprocess.run(["umount", str(folder / "out")], check=True)
        quiet = diffvcs.sweep(effects, tasks(folder / "log", options.tasks), out=folder / "quiet", progress=False)
        same = quiet.digest() == digest
    print("the same bytes as a quiet run by threads" if same else "OTHER bytes than a quiet run by threads")
    print(
        "nothing that was stored was lost or computed again"
        if good
        else "something that was stored was LOST OR COMPUTED AGAIN"
    )
    return 0 if same and good else 1


if __name__ == "__main__":
    from sweep_faults import main  # the worker processes know the tasks by this name

    sys.exit(main())
