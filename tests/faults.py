#!/usr/bin/env python3
"""Faults: what is on disk after a process was killed, or the disk, the memory or the file descriptors ran out.

    tests/faults.py --program build/diffvcs --saver build/tests/keep_saving --preload build/tests/libfail_at.so
                    [--kills N] [--only WORD] [--seed N] [--list]

Kills. Each job runs once without a fault; its files are the reference. Then it is started and killed (SIGKILL) at random
moments, until N runs were killed, in one folder: each run goes on from what the one before has left. After each kill a file is
missing, or is as it was before, or is what the job writes; results that were there stay. A run that ends has made what the
reference has; then the job begins anew. After the last run no draft (`.NAME.N.part`) is left. The programs are copied first, so
that a build meanwhile changes nothing.

Calls. A library (fail_at.c) counts the calls that a run makes to open, flock, fsync, rename, unlink and mkdir. The run is
killed at each of them in turn, and each of them fails in turn.

Resources. The disk is full (RLIMIT_FSIZE, and a small tmpfs where one can be mounted), the folder is read-only, there is
no memory (RLIMIT_AS, and each allocation in turn), there are no file descriptors (RLIMIT_NOFILE). A run that fails says why
in one sentence, has a status of its own (no signal), and leaves the old files as they were.
"""

import argparse
import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FILE_CALLS = "open,flock,fsync,rename,unlink,mkdir"
ENOSPC, EIO, EROFS, ENOMEM, EMFILE = 28, 5, 30, 12, 24


class Failure(Exception):
    pass


def need(true, *words):
    if not true:
        raise Failure(" ".join(str(word) for word in words))


# ---- files -----------------------------------------------------------------------------------------------------------


def files(folder):
    """The files of a folder, by name, without drafts."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(".part"):
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def drafts(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*.part"))


def rows(table):
    """The rows of a score table without their last column, the measured cost."""
    return {line.rpartition("\t")[0] for line in table.decode().splitlines() if not line.startswith("#")}


# ---- jobs ------------------------------------------------------------------------------------------------------------


class Job:
    """Commands that run at the same time, and write into the current folder."""

    def __init__(self, name, *commands, grows=(), volatile=(), measured=()):
        self.name, self.commands = name, commands
        self.grows = grows  # tables that are written again and again, with more rows
        self.volatile = volatile  # patterns of what differs from run to run
        self.measured = measured  # tables of measurements: they need only be there

    def start(self, folder, **options):
        return [
            subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
            )
            for command in self.commands
        ]

    def run(self, folder, **options):
        """Runs to the end: (the worst status, what they printed, their messages)."""
        processes = self.start(folder, **options)
        texts = [process.communicate() for process in processes]
        out, err = (b"".join(text[i] for text in texts).decode(errors="replace") for i in (0, 1))
        return max((process.returncode for process in processes), key=abs), out, err

    def alike(self, data):
        for pattern in self.volatile:
            data = re.sub(pattern, b"", data)
        return data

    def check(self, now, before, reference, complete=False):
        """Whether files may be as they are now, if they were as they were before."""
        for name in before:
            need(name in now, name, "is gone")
        for name, data in now.items():
            need(name in reference, name, "is not a file of the job")
            if name in self.measured:
                need(data, name, "is empty")
            elif name in self.grows:
                need(rows(data) <= rows(reference[name]), name, "has rows that are wrong")
                need(rows(before.get(name, b"")) <= rows(data), name, "has lost rows")
                if complete:
                    need(rows(data) == rows(reference[name]), name, "lacks rows")
            else:
                need(self.alike(data) == self.alike(reference[name]) or data == before.get(name), name, "is corrupt")
        if complete:
            need(now.keys() == reference.keys(), "missing:", *(reference.keys() - now.keys()))


class SaveJob(Job):
    """Its file is a save of any frame; what it has reported as saved stays saved."""

    def check(self, now, before, reference, complete=False):
        if complete:
            need(now == reference, "the resumed save is another")


def make_jobs(options, images):
    program, saver = str(options.program), str(options.saver)
    score = [
        program,
        "score",
        "--bits",
        "2",
        "--horizons",
        "1,2",
        "--methods",
        "ste,bit",
        "--jobs",
        "1",
        "--out",
        "score.tsv",
    ]
    record = [program, "record", "--jobs", "2", "--out", "records", "--frames"]
    names = [str(image) for image in images]
    jobs = [
        Job("score", [*score, *names], grows=("score.tsv",)),
        Job("two scores with one table", [*score, *names[:2]], [*score, *names[2:]], grows=("score.tsv",)),
        Job("record", [*record, "300", *names]),
        SaveJob("save", [saver, "demo.save", "75"]),
        Job(
            "pictures",
            [program, "run", "demo", "--frames", "60", "--screenshot", "a.png", "--video", "a.gif", "--wav", "a.wav"],
        ),
    ]
    annotate = [
        program,
        "annotate",
        "--seeds",
        "1",
        "--depths",
        "1",
        "--jobs",
        "1",
        "--out",
        "roles",
        "--html",
        "pages",
    ]
    joystick = [program, "joystick", "demo", "--frame", "60", "--horizon", "1", "--out", "maps"]
    explain = [program, "explain", "demo", "--frame", "20", "--pixel", "80,100", "--out", "why"]
    if options.every_call or options.only or options.list:
        jobs += [Job("annotate", [*annotate, *names]), Job("joystick", joystick), Job("explain", explain)]
    if options.paper:
        paper = [program, "paper", "--quick", "--records", str(REPOSITORY / "tests/golden"), "--out", "paper"]
        seconds = (rb"[0-9.]+ (s|ms|us|ns)\b", rb"[0-9.]+ (million|thousand)[^<\t\n]*")
        jobs.append(Job("paper, one table", [*paper, "--only", "gate"], volatile=seconds))
        if options.every_call or options.only or options.list:
            seconds += (rb'(?s)<h2 id="throughput">.*',)  # the last section
            jobs.append(Job("paper, every table", paper, volatile=seconds, measured=("paper/sections/throughput.tsv",)))
    return jobs


# ---- kills -----------------------------------------------------------------------------------------------------------


KILLING = 600  # seconds that all kills of a job may take, about


def wait(processes, seconds):
    """Waits until all processes have ended, but not longer than so many seconds."""
    last = time.monotonic() + seconds
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0, last - time.monotonic()))


def kill_at_random(job, reference, seconds, kills, folder, random_numbers):
    """Kills so many runs of a job that takes some seconds; returns how many others ended by themselves.

    Moments are spread evenly over a run and a fifth more. If so many of them would take longer than KILLING, earlier ones are
    more frequent: finished parts stay, so that later runs are killed in later parts.
    """
    killed, ended, start = 0, 0, {}
    while killed < kills:
        before = files(folder)
        processes = job.start(folder)
        early = max(1, 1.2 * seconds * kills / KILLING - 1)
        began = time.monotonic()
        wait(processes, 1.2 * seconds * random_numbers.random() ** early)
        took = time.monotonic() - began
        for process in processes:
            process.send_signal(signal.SIGKILL)
        texts = [process.communicate() for process in processes]
        statuses = [process.returncode for process in processes]
        need(all(status in (0, -signal.SIGKILL) for status in statuses), "status", statuses, texts)
        job.check(files(folder), before, reference)
        if isinstance(job, SaveJob):
            frames = [int(line) for line in texts[0][0].split()]
            need(not frames or frames[0] >= start.get("saved", 0), "a save was lost:", frames[:1], start)
            start["saved"] = max([start.get("saved", 0), *frames])
        need(len(drafts(folder)) <= 2 * len(reference), "drafts gather:", drafts(folder))
        if all(status == 0 for status in statuses):
            ended += 1
            if not before:  # the machine is less busy than it was
                seconds = min(seconds, took)
            job.check(files(folder), {}, reference, complete=True)
            shutil.rmtree(folder)
            folder.mkdir()
            start.clear()
        else:
            killed += 1
    return ended


def finish(job, reference, folder):
    before = files(folder)
    status, _, err = job.run(folder)
    need(status == 0, "the last run failed:", status, err)
    job.check(files(folder), before, reference, complete=True)
    need(not drafts(folder), "left behind:", drafts(folder))


def each_call(options, job, reference, folder, how, calls=FILE_CALLS, most=None, **more):
    """Lets each of the calls of a run fail in turn, in a folder that has results; returns how many there were."""
    old = files(folder)
    note = options.scratch / "note"
    for number in range(1, 100000):
        if most and number > most:
            return most
        note.unlink(missing_ok=True)
        if isinstance(job, SaveJob):  # from the beginning: a run whose save is complete writes nothing
            shutil.rmtree(folder)
            folder.mkdir()
        environment = dict(
            os.environ,
            LD_PRELOAD=str(options.preload),
            FAIL_CALLS=calls,
            FAIL_AT=str(number),
            FAIL_HOW=str(how),
            FAIL_NOTE=str(note),
            **more,
        )
        status, out, err = job.run(folder, env=environment)
        if not note.exists():
            need(status == 0, "a run without a fault failed:", err)
            return number - 1
        need(how == "kill" or status >= 0, f"call {number} of {calls}: signal {-status}")
        need(
            how == "kill" or status == 0 or err.strip(), f"call {number} of {calls}: status {status} without a message"
        )
        job.check(files(folder), old if how != "kill" else {}, reference)
        if how != "kill":
            need(status == 0 or len(drafts(folder)) <= 1, "left behind:", drafts(folder))
    raise Failure("more calls than there can be")


# ---- resources -------------------------------------------------------------------------------------------------------


def limits(**wanted):
    """For preexec_fn: sets limits of the process; RLIMIT_FSIZE without its signal."""

    def apply():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for name, value in wanted.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    return apply


def as_nobody():
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def fails_and_keeps(job, folder, words, must_fail=True, **options):
    old = files(folder)
    status, _, err = job.run(folder, **options)
    need(status >= 0, "signal", -status, err)
    if must_fail:
        need(status != 0, "the fault was not noticed")
    if status:
        last = err.strip().splitlines()[-1] if err.strip() else ""
        need(re.search(words, err), f"says '{last}', not {words}")
    now = files(folder)
    need(all(now.get(name) == data for name, data in old.items()) or status == 0, "old results were changed")
    need(not drafts(folder), "left behind:", drafts(folder))


def small_disk(folder):
    """Mounts a tmpfs of a mebibyte; False where that is not allowed."""
    folder.mkdir()
    if os.geteuid() != 0:
        return False
    return (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode == 0
    )


def resources(options, job, old, folder):
    """Every fault of the machine, in a folder with old results."""

    def restore():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old, folder)

    done = 0
    restore()
    for size in (0, 100):
        fails_and_keeps(job, folder, "write", preexec_fn=limits(FSIZE=size))
        done += 1
    folder.chmod(0o555)
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    fails_and_keeps(job, folder, "[Pp]ermission|write|directory", preexec_fn=as_nobody)
    done += 1
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    for count in range(3, 9):
        fails_and_keeps(job, folder, r"\w", must_fail=count == 3, preexec_fn=limits(NOFILE=count))
        done += 1
        restore()
    for mebibytes in (8, 16, 32, 64):
        fails_and_keeps(job, folder, r"\w", must_fail=False, preexec_fn=limits(AS=mebibytes << 20))
        done += 1
        restore()
    return done


# ---- the tests -------------------------------------------------------------------------------------------------------


def test_job(options, job, scratch):
    random_numbers = random.Random(f"{options.seed} {job.name}")
    clean, folder = scratch / "reference", scratch / "work"
    clean.mkdir(), folder.mkdir()
    start = time.monotonic()
    status, _, err = job.run(clean)
    seconds = time.monotonic() - start
    need(status == 0, "without a fault:", err)
    need(not drafts(clean), "left behind:", drafts(clean))
    reference = files(clean)
    for number, command in enumerate(
        job.commands if len(job.commands) > 1 else ()
    ):  # together they make what each makes alone
        alone = scratch / f"alone{number}"
        alone.mkdir()
        need(Job(job.name, command).run(alone)[0] == 0, "alone:", command)
        for name in job.grows:
            need(rows(files(alone)[name]) <= rows(reference[name]), name, "lacks rows of", command)
    facts = []
    ended = kill_at_random(job, reference, seconds, options.kills, folder, random_numbers)
    finish(job, reference, folder)
    facts.append(f"{options.kills} kills, {ended + 1} runs to the end")
    if len(job.commands) == 1 and options.preload and not job.name.startswith("paper"):
        most = None if options.every_call else 12
        shutil.rmtree(folder)
        folder.mkdir()
        facts.append(f"killed at {each_call(options, job, reference, folder, 'kill', most=most)} calls")
        finish(job, reference, folder)
        for how in (ENOSPC, EIO) if options.every_call else (ENOSPC,):
            facts.append(f"{each_call(options, job, reference, folder, how, most=most)} calls fail")
        finish(job, reference, folder)
    return ", ".join(facts)


def test_resources(options, scratch):
    """Old results, then a run that would change them and cannot."""
    program, saver = str(options.program), str(options.saver)
    old, folder = scratch / "old", scratch / "work"
    old.mkdir()
    image = scratch / "a.bin"
    shutil.copy(REPOSITORY / "demo/demo.bin", image)
    score = [program, "score", "--bits", "2", "--horizons", "1", "--methods", "bit", "--out", "score.tsv"]
    first = [
        [*score, "demo"],
        [program, "record", "demo", "--frames", "100", "--out", "demo.tsv"],
        [saver, "demo.save", "70"],
        [program, "run", "demo", "--frames", "60", "--screenshot", "a.png", "--video", "a.gif", "--wav", "a.wav"],
    ]
    second = [
        Job("score", [*score, str(image)]),
        Job("record", [program, "record", "demo", "--frames", "90", "--out", "demo.tsv"]),
        Job("save", [saver, "demo.save", "75"]),
        Job("pictures", [program, "run", "demo", "--frames", "61", "--screenshot", "a.png"]),
        Job("video", [program, "run", "demo", "--frames", "61", "--video", "a.gif"]),
        Job("sound", [program, "run", "demo", "--frames", "61", "--wav", "a.wav"]),
    ]
    if (
        options.every_call or options.only
    ):  # directories of results: the same ones again, so that half of them is no change
        many = {
            "annotate": [program, "annotate", "demo", "--seeds", "1", "--depths", "1", "--fresh", "--out", "roles"],
            "joystick": [program, "joystick", "demo", "--frame", "60", "--horizon", "1", "--out", "maps"],
            "explain": [program, "explain", "demo", "--frame", "20", "--pixel", "80,100", "--out", "why"],
            "grad": [
                program,
                "grad",
                "demo",
                "--frame",
                "20",
                "--output",
                "pixel:100,80",
                "--horizon",
                "1",
                "--out",
                "d",
            ],
        }
        first += many.values()
        second += [Job(name, command) for name, command in many.items()]
    for command in first:
        subprocess.run(command, cwd=old, check=True, capture_output=True)
    faults = 0
    for job in second:
        try:
            faults += resources(options, job, old, folder)
        except Failure as why:
            raise Failure(f"{job.name}:", why) from None
    disk = scratch / "disk"
    if small_disk(disk):
        try:
            shutil.copytree(old, disk, dirs_exist_ok=True)
            (disk / "filler").write_bytes(b"")
            with open(disk / "filler", "ab", buffering=0) as filler:
                try:
                    while True:
                        filler.write(bytes(4096))
                except OSError:
                    pass
            for job in second:
                fails_and_keeps(job, disk, "write.*No space left|No space left")
                faults += 1
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        print("SKIP: mount: faults: a tmpfs cannot be mounted here; RLIMIT_FSIZE stands for the full disk")
    return f"{faults} faults in {len(second)} commands"


def test_allocations(options, scratch):
    """Each allocation of a command in turn, in the program and in zlib and libpng."""
    program = str(options.program)
    most = None if options.every_call else 40
    counts = []
    commands = {
        "record": [program, "record", "demo", "--frames", "5", "--out", "demo.tsv.gz"],
        "score": [
            program,
            "score",
            "demo",
            "--bits",
            "1",
            "--horizons",
            "1",
            "--methods",
            "bit",
            "--out",
            "score.tsv",
            "--jobs",
            "1",
        ],
        "pictures": [program, "run", "demo", "--frames", "5", "--screenshot", "a.png"],
        "save": [str(options.saver), "demo.save", "65"],
    }
    for name, command in commands.items():
        job = (SaveJob if name == "save" else Job)(name, command, grows=("score.tsv",))
        folder = scratch / name
        folder.mkdir()
        status, _, err = job.run(folder)
        need(status == 0, err)
        reference = files(folder)
        for more in ({}, {"FAIL_ON": "1"}):
            try:
                count = each_call(options, job, reference, folder, ENOMEM, "malloc,calloc,realloc", most, **more)
            except Failure as why:
                raise Failure(f"{name}{' (all later ones, too)' if more else ''}:", why) from None
            counts.append(count)
    return f"{sum(counts)} failed allocations in {len(commands)} commands"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--saver", type=Path, required=True)
    parser.add_argument("--preload", type=Path)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--every-call", action="store_true", help="the long version: every call of a run, more jobs")
    parser.add_argument("--only", default="", help="tests whose name has this word, those of the long version too")
    parser.add_argument("--list", action="store_true", help="print the names of all tests and end")
    parser.add_argument("--seed", default=str(random.randrange(10**6)))
    options = parser.parse_args()
    options.paper = (
        subprocess.run([options.program.resolve(), "info", "space_invaders"], capture_output=True).returncode == 0
    )
    failed = 0
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where fsync costs nothing
    with tempfile.TemporaryDirectory(dir=memory) as folder, tempfile.TemporaryDirectory() as programs:
        root = Path(folder)
        root.chmod(0o777)
        Path(programs).chmod(0o755)
        for name in ("program", "saver", "preload"):
            if getattr(options, name):
                setattr(options, name, Path(shutil.copy(getattr(options, name), programs)))
        images = []
        for name in ("one", "two", "three"):
            images.append(root / f"{name}.bin")
            shutil.copy(REPOSITORY / "demo/demo.bin", images[-1])
        tests = [
            (job.name, lambda scratch, job=job: test_job(options, job, scratch)) for job in make_jobs(options, images)
        ]
        tests.append(("resources", lambda scratch: test_resources(options, scratch)))
        if options.preload:
            tests.append(("allocations", lambda scratch: test_allocations(options, scratch)))
        if not options.paper:
            print("SKIP: roms: faults: `diffvcs paper` needs the image of Space Invaders")
        if options.list:
            print(*(name for name, _ in tests), sep="\n")
            return 0
        for number, (name, test) in enumerate(tests):
            if options.only not in name:
                continue
            options.scratch = root / str(number)
            options.scratch.mkdir(mode=0o777)
            options.scratch.chmod(0o777)
            start = time.monotonic()
            try:
                print(f"ok {name}: {test(options.scratch)} ({time.monotonic() - start:.1f} s)", flush=True)
            except Failure as why:
                failed += 1
                print(f"not ok {name}: {why} (--seed {options.seed})", flush=True)
            shutil.rmtree(options.scratch, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
