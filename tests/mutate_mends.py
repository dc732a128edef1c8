#!/usr/bin/env python3
"""Do the tests notice when a mended defect comes back?

    tests/mutate_mends.py [--build build] [--python .venv/bin/python] [WORD...]

Each row of MENDS puts one defect of the past back into a copy of one file, and runs the test that was written for it. The
test must fail. Nothing in the source tree is changed: a C file is compiled alone and linked before the library of the build
folder, a Python file replaces its like in a copy of the package. With words, only rows whose names contain one of them run.
Exit status 1 if a defect is not noticed, or if a row's old text is no longer in its file. Needs a build with tests, and a Python
with NumPy, pytest and Gymnasium. Three minutes of processor time.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    "-std=c11",
    "-D_POSIX_C_SOURCE=200809L",
    "-O1",
    "-g1",
    "-w",
    "-fPIC",
    "-Iinclude",
    "-Isrc",
    "-Ipython/native",
    "-Itests",
]
LIBRARIES = ["-lz", "-lpng", "-lpthread", "-lm", "-ldl"]
CARELESS = "python/tests/test_careless.py"
NO_LOCK = """type("NoLock", (), {"__enter__": lambda s: s, "__exit__": lambda s, *a: None,
            "acquire": lambda s, blocking=True: True, "release": lambda s: None})()"""
ASK_PYTHON = """  if (system("python3 -c 'import importlib.util' > /dev/null 2>&1")) {}
"""

# name; file; text of the mend; text of the defect; kind of test, and which:
#   pytest FILE -k WORDS          the package with the changed Python file, or the library with the changed C file
#   test NAME                     the C test NAME
#   program COMMAND...            a script that gets the changed program as PROGRAM; TEST is the changed test_device
#   parser NAME                   the replay of fuzz/corpus/NAME under the address sanitizer
MENDS = [
    ("a run reads freed arrays", "python/diffvcs/_bind.py",
     "            struct.counts[item.name] = size\n        struct.held[item.name] = held\n",
     "            struct.counts[item.name] = size\n            held = (value.copy(), None)\n        struct.held[item.name] = held\n",
     f"pytest {CARELESS} -k struct_holds"),
    ("arrays of any size", "python/diffvcs/_bind.py",
     "value.dtype == dtype and value.size == count and count and", "value.dtype == dtype and value.size and",
     f"pytest {CARELESS} -k lengths_are_those"),
    ("a played run of another cartridge", "python/diffvcs/functional.py",
     "    if not isinstance(played, Run):\n", "    return played\n    if not isinstance(played, Run):\n", f"pytest {CARELESS} -k states_and_runs_of_another"),
    ("Python modules of the current folder", "src/host/files.c",
     '  const char *home = getenv("HOME"), *rest = getenv("PATH");\n', '  const char *home = getenv("HOME"), *rest = getenv("PATH");\n' + ASK_PYTHON,
     "program bash tests/test_current_folder.sh PROGRAM TEST PLANTED"),
    ("a GPU library of the current folder", "src/host/os_posix.c",
     "!here.dli_fname || here.dli_fname[0] != '/'", "!here.dli_fname", "program bash tests/test_current_folder.sh PROGRAM TEST PLANTED"),
    ("carriage returns in symbol files", "src/study/symbols.c", "data[i] == '\\n' || data[i] == '\\r'", "data[i] == '\\n'", "parser symbols"),
    ("threads that share an environment", "python/diffvcs/_bind.py",
     "        self.lock: Any = threading.RLock()\n", f"        self.lock: Any = {NO_LOCK}\n", f"pytest {CARELESS} -k take_turns"),
    ("a fork without its threads", "src/host/batch.c",
     "return batch->thread_count && batch->process != getpid();", "return false;", "test batch"),
    ("a fork while a thread holds a lock", "python/diffvcs/_bind.py",
     "    os.register_at_fork(after_in_child=_after_fork)", "    pass", f"pytest {CARELESS} -k child_process"),
    ("two scores with one table: no lock", "src/cli/score_table.c",
     "vcs_status_t status = vcs_file_lock(path, &lock, error);", "vcs_status_t status = VCS_OK;\n  lock = -1;",
     "program python3 tests/faults.py --program PROGRAM --saver SAVER --kills 4 --only two"),
    ("two scores with one table: no merge", "src/cli/score_table.c",
     "if (size) status = vcs_score_read(path, made, table, error);", "size = 0;", "program python3 tests/faults.py --program PROGRAM --saver SAVER --kills 4 --only two"),
    ("cartridges that stay", "python/diffvcs/functional.py",
     "@contextlib.contextmanager\ndef _machine(cart: Cartridge) -> Iterator[Machine]:\n",
     "_stay = []\n\n\n@contextlib.contextmanager\ndef _machine(cart: Cartridge) -> Iterator[Machine]:\n    _stay.append(cart)\n",
     f"pytest {CARELESS} -k cartridge_that_was_run"),
    ("a fork window of 2^31 - 1", "src/grad/grad.c", "options->fork_window > VCS_FRAME_INSTRUCTIONS", "0", "test grad"),
    ("a state with 2^32 draws", "src/host/save.c", " || spare->rng_draws > DRAWS_MAX", "", f"pytest {CARELESS} -k draws_by_the_billion"),
    ("break scanline 16777216", "src/study/breakpoint.c", "in_time ? (1 << 24) / clocks : UINT16_MAX", "in_time ? 1 << 24 : UINT16_MAX", "program env DIFFVCS=PROGRAM bash tests/test_debug.sh"),
    ("numbers of 2^32 and more wrap", "python/diffvcs/_bind.py",
     "    if not low <= number <= high:\n", "    number = low + (number - low) % (1 << 32)\n    if not low <= number <= high:\n",
     f"pytest {CARELESS} -k odd_options or odd_numbers"),
    ("a path that is no UTF-8", "python/diffvcs/_bind.py",
     '(message.value.decode("utf-8", "replace"))', "(message.value.decode())", f"pytest {CARELESS} -k utf_8"),
    ("drafts of killed processes", "src/host/files.c", "    vcs_os_draft_sweep(draft->temporary);\n", "",
     "program python3 tests/faults.py --program PROGRAM --saver SAVER --preload FAIL --kills 1 --only record"),
    ("steps after close", "python/diffvcs/_bind.py",
     "            self.pointer, self.owner, self.why = ctypes.c_void_p(), None, why\n", "            self.why = why\n", f"pytest {CARELESS} -k after_close"),
    ("a step that is begun twice", "python/diffvcs/batch.py",
     "            if self._begun is not None:\n", "            if False:\n", f"pytest {CARELESS} -k is_begun"),
    ("objects of an environment under way", "src/host/batch.c",
     "  if (batch->begun || batch->places[env].sent) return -1; /* a thread may be running it */\n", "", "test batch"),
    ("a drawing at column 2^31 - 1", "src/study/edit.c", "o->width > VCS_WIDTH - o->x", "o->x + o->width > VCS_WIDTH", f"pytest {CARELESS} -k would_overflow"),
    ("a run without controls", "python/diffvcs/functional.py", "        if len(controls) == 0:\n", "        if False:\n", f"pytest {CARELESS} -k without_frames"),
    ("fields that take another number", "python/diffvcs/machine.py",
     '_arrays.integers(value, "a value", kind[name].base)', "value", f"pytest {CARELESS} -k another_number"),
    ("results in an array that was moved", "python/diffvcs/_bind.py",
     "return weakref.ref(value) if isinstance(value, np.ndarray) else None", "return None", f"pytest {CARELESS} -k used_again"),
    ("a signal handler in a call", "python/diffvcs/_bind.py", "            put(busy)\n", "            put(locks)\n", f"pytest {CARELESS} -k signal_handler"),
    ("another shape for a device's memory", "python/diffvcs/device.py", "        return self._shape\n",
     "        return self._shape\n\n    @shape.setter\n    def shape(self, shape):\n        self._shape = shape\n",
     "pytest python/tests/test_device.py -k stays_that"),
    ("the error of a consumer of DLPack", "python/native/capsule.c", "  python.restore(type, value, trace);\n", "",
     "pytest python/tests/test_device.py -k refuses"),
    ("Ctrl-C in derivatives of a relaxed machine", "src/relax/relax.c", "    if (vcs_interrupted()) return false;\n", "",
     f"pytest {CARELESS} -k Relaxed.jvp"),
    ("Ctrl-C in a draw of smooth", "src/grad/smooth.c", "vcs_interrupted() || !vcs_rerun(", "!vcs_rerun(", f"pytest {CARELESS} -k smooth"),
    ("a draft of each killed write", "python/diffvcs/files.py", "        if not _is_running(", "        if not path and not _is_running(",
     "pytest python/tests/test_files.py -k killed_writer"),
    ("the explorer of the current folder", "python/diffvcs/widget.py", 'HERE.parents[2] / "out"', 'pathlib.Path("out")',
     "pytest python/tests/test_widget.py -k current_folder"),
    ("states of a device that no machine can have", "src/cuda/device_batch_api.c",
     "  if (!status) status = check_states(batch, ids, count, states, error);\n", "", "pytest python/tests/test_device.py -k no_machine_can_have"),
    ("a value that runs the machine while fields are written", "python/diffvcs/machine.py",
     'chosen[name] = _arrays.integers(value, "a value", kind[name].base)\n',
     'self._state.view(kind).reshape(())[name] = chosen[name] = _arrays.integers(value, "a value", kind[name].base)\n',
     f"pytest {CARELESS} -k converted_before_a_field"),
    ("a run that a callback changes", "python/diffvcs/functional.py", "np.array(self.start)", "self.start", f"pytest {CARELESS} -k what_was_checked"),
    ("places that a callback changes", "python/diffvcs/_arrays.py", 'np.array(values.reshape(-1), order="C", subok=False)',
     'np.require(values.reshape(-1), requirements=["C", "A"])', f"pytest {CARELESS} -k what_was_checked"),
    ("an address of 17 bits", "python/diffvcs/machine.py", "lib.vcs_peek(self.cart.handle, self._state, addr)",
     "lib.vcs_peek(self.cart.handle, self._state, addr & 0xFFFF)", f"pytest {CARELESS} -k 16_bits"),
    ("a picture of other numbers", "python/diffvcs/png.py", '_arrays.integers(picture, "a picture", np.uint8)',
     "np.ascontiguousarray(picture).astype(np.uint8)", f"pytest {CARELESS} -k other_numbers"),
    ("a cartridge of another folder", "python/diffvcs/cartridge.py",
     "    return path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns\n", "    return (found.st_mtime_ns,)\n", f"pytest {CARELESS} -k stands_for_now"),
    ("the time of a relaxed machine", "src/relax/real.c", "return (1 << 29) - 1;", "return INT32_MAX;", "pytest python/tests/test_relaxed.py -k beyond"),
    ("a debugger that no signal ends", "src/cli/debug.c", "    if (!d->asks) vcs_interrupt_release();", "", "program env DIFFVCS=PROGRAM bash tests/test_debug.sh"),
]  # fmt: skip


class Stale(Exception):
    """The text of a mend is not in its file, or the changed file does not build."""


def build(command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Stale(done.stderr.strip()[-300:])


def change(file, old, new):
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        raise Stale(f"{file} has its mend {text.count(old)} times")
    return text.replace(old, new)


def link(options, work, changed, objects, output, *more):
    build(
        [
            "cc",
            *more,
            changed,
            *objects,
            options.build / "libdiffvcs.a",
            *LIBRARIES,
            "-Wl,--allow-multiple-definition",
            "-o",
            output,
        ]
    )


def prepare(options, work, file, text, test):
    """Builds what a row changes; returns the command of its test and its environment."""
    kind, *words = test.split()
    environment = dict(os.environ, DIFFVCS_BRIEF="1")
    objects = options.build / "CMakeFiles"
    changed = work / "changed.o"
    if kind == "pytest":
        library = options.build / "libdiffvcs_python.so"
        shutil.copytree(ROOT / "python/diffvcs", work / "diffvcs", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        if file.endswith(".py"):
            (work / Path(file).relative_to("python")).write_text(text)
        else:
            library = work / "libdiffvcs_python.so"
            compile_c(work, file, text, changed)
            natives = (objects / "diffvcs_python.dir/python/native").glob("*.o")
            whole = ["-Wl,--whole-archive", options.build / "libdiffvcs.a", "-Wl,--no-whole-archive"]
            link(options, work, changed, [*natives, *whole], library, "-shared")
        environment |= {"PYTHONPATH": str(work), "DIFFVCS_LIBRARY": str(library)}
        name, _, words = test.removeprefix("pytest ").partition(" -k ")
        return [options.python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", name, "-k", words], environment
    if kind == "parser":
        sanitize = ["-fsanitize=address", "-fno-sanitize-recover=all"]
        compile_c(work, file, text, changed, *sanitize)
        link(
            options,
            work,
            changed,
            ["fuzz/replay.c", f"fuzz/{words[0]}.c"],
            work / "replay",
            *FLAGS,
            "-Ifuzz",
            *sanitize,
        )
        return [work / "replay", f"fuzz/corpus/{words[0]}"], environment
    compile_c(work, file, text, changed)
    if kind == "test":
        test_object = options.build / f"tests/CMakeFiles/test_{words[0]}.dir/test_{words[0]}.c.o"
        link(options, work, changed, [test_object, "-lcmocka"], work / "test")
        return [work / "test"], environment
    programs = {
        "FAIL": options.build / "tests/libfail_at.so",
        "SAVER": options.build / "tests/keep_saving",
        "PROGRAM": work / "diffvcs",
        "PLANTED": options.build / "tests/libplanted.so",
        "TEST": work / "test_device",
    }
    sdl = subprocess.run(["pkg-config", "--libs", "sdl2"], capture_output=True, text=True).stdout.split()
    link(options, work, changed, [*(objects / "diffvcs.dir/src").rglob("*.o"), *sdl], programs["PROGRAM"])
    if "TEST" in words:
        device = options.build / "tests/CMakeFiles/test_device.dir/test_device.c.o"
        link(options, work, changed, [device, "-lcmocka"], programs["TEST"])
    for name, path in programs.items():
        words = [word.replace(name, str(path)) for word in words]
    return words, environment


def compile_c(work, file, text, output, *more):
    (work / "changed.c").write_text(text)
    build(["cc", *FLAGS, *more, f"-I{Path(file).parent}", "-c", work / "changed.c", "-o", output])


def is_noticed(options, row, original):
    """Whether the row's test fails; with `original`, the same test with the file as it is."""
    _, file, old, new, test = row
    text = change(file, old, old if original else new)
    with tempfile.TemporaryDirectory() as folder:
        command, environment = prepare(options, Path(folder), file, text, test)
        try:
            done = subprocess.run(
                list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=options.seconds, errors="replace"
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"does not end in {options.seconds} s"
        if test.startswith("pytest") and done.returncode in (
            2,
            3,
            4,
            5,
        ):  # interrupted, internal, usage, nothing collected
            raise Stale((done.stdout + done.stderr)[-300:])
        return "fails" if done.returncode > 0 else f"ends by signal {-done.returncode}" if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--python", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--seconds", type=int, default=90, help="a test that runs longer counts as failed")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    options.build = options.build.resolve()
    failed = 0
    for row in MENDS:
        if options.words and not any(word in row[0] for word in options.words):
            continue
        try:
            wrong = is_noticed(options, row, original=True)
            if wrong:
                raise Stale(f"without the defect, {row[4]} {wrong}")
            how = is_noticed(options, row, original=False)
        except Stale as problem:
            print(f"not ok {row[0]}: {problem}", flush=True)
            failed = 1
            continue
        print(
            f"ok {row[0]}: {row[4]}: {how}" if how else f"not ok {row[0]}: {row[4]} passes with the defect", flush=True
        )
        failed |= not how
    return failed


if __name__ == "__main__":
    sys.exit(main())
