"""Sweeps: results are the same for every engine and number of workers, are computed once, and survive kills."""

import concurrent.futures
import functools
import hashlib
import json
import os
import random
import signal
import subprocess
import re
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import diffvcs
import needs
import sweep_tasks

HERE = Path(__file__).parent
PROGRAM = Path(os.environ.get("DIFFVCS") or HERE.parents[1] / "build" / "diffvcs")
SCORE = ["--bits", "6", "--rom-bits", "4", "--horizons", "1,3", "--methods", "bit,exact", "--states", "2"]


def environment():
    paths = [str(HERE), str(Path(diffvcs.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def start(*arguments, **options):
    """Starts Python. It takes SIGINT, also where the tests run in the background of a shell that ignores it."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options,
    )  # fmt: skip


def command(*arguments, status=0):
    process = start("-m", "diffvcs.sweep", *arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == status, err
    return out, err


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def stored(folder):
    return {path.name for path in (Path(folder) / "results").glob("??/" + "?" * 64)}


@pytest.fixture(scope="module")
def cluster():
    """A local Ray cluster of four workers and, as far as Ray knows, two GPUs, which sweeps with engine="ray" use."""
    ray = needs.module("ray")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = environment()["PYTHONPATH"]
    ray.init("local", num_cpus=4, num_gpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


# ---- addresses -------------------------------------------------------------------------------------------------------


def test_addresses_are_those_of_contents():
    cart = diffvcs.Cartridge("demo")
    patched = bytearray(cart.rom.tobytes())
    patched[100] ^= 1
    address = diffvcs.sweep.address
    task = dict(cart=cart, frame=3, table=np.arange(4))
    same = dict(table=np.arange(4), frame=3, cart=diffvcs.Cartridge(cart.rom.tobytes(), name="demo"))
    assert address(diffvcs.sweep.ram_after, task) == address(diffvcs.sweep.ram_after, same)
    different = [
        task,
        {**task, "frame": 4},
        {**task, "table": np.arange(4, dtype=np.int16)},
        {**task, "table": np.arange(4).reshape(2, 2)},
        {**task, "cart": diffvcs.Cartridge(bytes(patched), name="demo")},
        {**task, "cart": diffvcs.Cartridge("demo", profile="xitari")},
    ]
    found = {address(diffvcs.sweep.ram_after, t) for t in different} | {address(sweep_tasks.failing, task)}
    assert len(found) == len(different) + 1


def test_a_task_that_has_no_address_is_refused(tmp_path):
    with pytest.raises(TypeError, match="numbers, texts, bytes, arrays, cartridges"):
        diffvcs.sweep(sweep_tasks.failing, [{"n": object()}], out=tmp_path)


def test_what_an_address_cannot_name_is_refused():
    def outer(n):
        return lambda frame: bytes([n, frame])

    for function in (outer(1), functools.partial(sweep_tasks.failing, n=1), [].append, len, print):
        with pytest.raises(TypeError, match="no function of a module"):
            diffvcs.sweep.address(function, {"frame": 1})
    with pytest.raises(TypeError, match="keys"):
        diffvcs.sweep.address(sweep_tasks.failing, {"n": {1: 2}})


def test_a_function_without_a_source_of_its_own_is_refused(tmp_path):
    """Functions of `exec`, of `python -i` and of one line could be others of the same name."""
    for number in (1, 2):
        names = {"__name__": "typed"}
        exec(f"def typed(n):\n    return bytes([n, {number}])", names)
        with pytest.raises(TypeError, match="typed has no source that Python can read"):
            diffvcs.sweep(names["typed"], [{"n": 1}], out=tmp_path)
    one, other = lambda n: bytes([n, 1]), lambda n: bytes([n, 2])  # noqa: E731
    for function in (one, other):
        with pytest.raises(TypeError, match="write it as `def`"):
            diffvcs.sweep(function, [{"n": 1}], out=tmp_path)
    assert files(tmp_path) == {}


def test_a_dictionary_is_not_taken_for_an_array_or_bytes():
    address = diffvcs.sweep.address
    data = b"some bytes"
    digest = hashlib.sha256(data).hexdigest()
    assert address(sweep_tasks.failing, {"n": data}) != address(sweep_tasks.failing, {"n": {"bytes": digest}})
    assert address(sweep_tasks.failing, {"n": {"a": 1}}) == address(sweep_tasks.failing, {"n": {"a": 1}})


class Made(Mapping):
    """A task that makes its large value anew at every look, so that several have the same address in memory."""

    def __init__(self, number):
        self.number = number

    def __getitem__(self, name):
        return np.full(4096, self.number)

    def __iter__(self):
        return iter(["n"])

    def __len__(self):
        return 1


def test_values_that_are_made_anew_have_addresses_of_their_own():
    found = diffvcs.sweep._addresses(sweep_tasks.failing, [Made(n) for n in range(20)])
    assert len(set(found)) == 20


def test_threads_may_write_one_result_at_once(tmp_path):
    place, problems = diffvcs.sweep.Folder(tmp_path), []
    datas = [bytes([n]) * 200_000 for n in range(4)]

    def write(data):
        try:
            for _ in range(15):
                place.write("results/aa/" + "a" * 64, data)
        except OSError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=write, args=(data,)) for data in datas]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if (tmp_path / "results/aa").is_dir() and place.names():
            assert place.read("results/aa/" + "a" * 64) in datas
    for thread in threads:
        thread.join()
    assert not problems and not list(tmp_path.rglob("*.part"))


# ---- equality --------------------------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    cart = diffvcs.Cartridge("demo")
    tasks = [dict(cart=cart, frame=n) for n in (0, 1, 2, 30, 60, 60)]
    one = diffvcs.sweep(diffvcs.sweep.ram_after, tasks, out=tmp_path / "one", workers=1)
    four = diffvcs.sweep(diffvcs.sweep.ram_after, tasks, out=tmp_path / "four", workers=4)
    assert list(one) == [diffvcs.sweep.ram_after(**task) for task in tasks]
    assert files(tmp_path / "one") == files(tmp_path / "four") and one.digest() == four.digest()
    assert (len(one), one.computed, len(stored(tmp_path / "one"))) == (6, 5, 5)  # two tasks are the same


def test_ray_gives_the_same_files(tmp_path, cluster):
    cart = diffvcs.Cartridge("demo")
    tasks = [dict(cart=cart, frame=n, horizons=[1, 3], wrt="cpu", seed=1) for n in (10, 20, 30)]
    from diffvcs.sweep_commands import truth_task

    here = diffvcs.sweep(truth_task, tasks, out=tmp_path / "here")
    there = diffvcs.sweep(truth_task, tasks, out=tmp_path / "there", engine="ray")
    assert files(tmp_path / "here") == files(tmp_path / "there") and there.computed == 3
    assert diffvcs.sweep(truth_task, tasks, out=tmp_path / "there", engine="threads").computed == 0
    assert here.digest() == there.digest()


def test_commands_reach_a_cluster_by_its_address(tmp_path, cluster):
    address = cluster.get_runtime_context().gcs_address
    for name, options in (("score", SCORE), ("annotate", ["--seeds", "1", "--depths", "1"])):
        here, there = tmp_path / name / "here", tmp_path / name / "there"
        command(name, "demo", *options, "--out", here)
        command(name, "demo", *options, "--out", there, "--ray", address)
        assert files(here) == files(there) and stored(there)
    _, err = command("score", "demo", *SCORE, "--out", tmp_path / "nowhere", "--ray", "127.0.0.1:1", status=1)
    assert "could not be reached" in err and not stored(tmp_path / "nowhere")


def test_a_task_that_asks_for_a_gpu_has_one_to_itself(tmp_path, cluster):
    tasks = [dict(n=n, seconds=1.0) for n in range(4)]
    found = diffvcs.sweep(sweep_tasks.devices, tasks, out=tmp_path, engine="ray", gpus=1)
    assert set(found) == {b"0", b"1"}
    assert set(diffvcs.sweep(sweep_tasks.devices, tasks, out=tmp_path / "both", engine="ray", gpus=2)) == {b"0,1"}
    with pytest.raises(diffvcs.sweep.Stopped, match="each task asks for 3 GPUs"):
        diffvcs.sweep(sweep_tasks.devices, tasks, out=tmp_path / "three", engine="ray", gpus=3)


def test_truths_and_batches_of_tasks_that_ask_for_a_gpu(tmp_path, cluster):
    """The CPU runs the device's code here: Ray gives each task one of two GPUs that it believes to be there."""
    from diffvcs.sweep_commands import truth_task

    cart = diffvcs.Cartridge("demo")
    for function, common in (
        (truth_task, dict(horizons=[1, 3], wrt="ram", frame=20)),
        (sweep_tasks.batch_on, {}),
    ):
        found = [
            list(diffvcs.sweep(
                function, [dict(cart=cart, seed=seed, device=device, **common) for seed in (1, 2, 3)],
                out=tmp_path / function.__name__ / device, **engine,
            ))
            for device, engine in (("cpu", {}), ("cpu-as-gpu", dict(engine="ray", gpus=1)))
        ]  # fmt: skip
        assert found[0] == found[1] and len(set(found[0])) == 3


PLUGIN = "from diffvcs.benchmark import method\n\n@method('held')\ndef held(problem):\n    return problem.x\n"
BENCHMARK = ["--suite", "quick", "--tracks", "inputs-screen,lesions", "--methods", "random,held,saliency/bit"]


def test_the_benchmark_writes_what_its_own_command_writes(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    options = [*BENCHMARK, "--plugin", plugin]
    process = start("-m", "diffvcs.benchmark", "run", *options, "--out", tmp_path / "own")
    assert process.wait(300) == 0, process.stderr.read()
    command("benchmark", *options, "--out", tmp_path / "sweep")
    swept = files(tmp_path / "sweep")
    assert len(stored(tmp_path / "sweep")) == 2 * (1 + 3)
    assert {name: data for name, data in swept.items() if name.endswith(".json")} == files(tmp_path / "own")


def test_the_benchmark_on_ray_gives_the_same_files(tmp_path, cluster):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    options = [*BENCHMARK, "--plugin", plugin]
    command("benchmark", *options, "--out", tmp_path / "here")
    command("benchmark", *options, "--out", tmp_path / "there", "--ray", cluster.get_runtime_context().gcs_address)
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_the_learners_settings_on_ray_give_the_same_files(tmp_path, cluster):
    needs.module("torch")
    tune = HERE.parents[1] / "examples" / "learning" / "tune.py"
    small = [f"--set={word}" for word in ("seed=1,2", "observe=ram", "envs=8", "steps=8", "minibatches=2")]
    tables = []
    for out, engine in (("here", []), ("there", ["--ray", cluster.get_runtime_context().gcs_address])):
        process = start(tune, "demo", *small, "--frames", 2000, "--out", tmp_path / out, *engine)
        printed, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        tables.append(printed)
    assert files(tmp_path / "here") == files(tmp_path / "there") and len(stored(tmp_path / "there")) == 2
    assert tables[1].endswith(tables[0]) and len(tables[0].splitlines()) == 3  # Ray may print before


def test_large_values_go_through_the_object_store_once(tmp_path, cluster, monkeypatch):
    """A cartridge, a set of ROMs and base states: each is pickled once for all tasks, by content and not by identity."""
    pickled, put, kinds = [], cluster.put, []
    reduce = diffvcs.Cartridge.__reduce__
    monkeypatch.setattr(diffvcs.Cartridge, "__reduce__", lambda cart: pickled.append(cart.name) or reduce(cart))
    monkeypatch.setattr(cluster, "put", lambda value: kinds.append(type(value).__name__) or put(value))
    cart = diffvcs.Cartridge("demo")
    tasks = [dict(cart=cart if n % 2 else diffvcs.Cartridge("demo"), frame=n) for n in range(6)]
    diffvcs.sweep(diffvcs.sweep.ram_after, tasks, out=tmp_path / "one", engine="ray")
    assert pickled == ["demo"] and kinds.count("Cartridge") == 1
    pickled.clear(), kinds.clear()
    carts = [diffvcs.Cartridge(cart.rom.tobytes(), name=name) for name in ("one", "two")]
    machine = diffvcs.Machine(cart)
    machine.reset()
    states = []
    for _ in carts:
        for action in diffvcs.action_stream(3, 60):
            machine.act_on(action)
        states.append(machine.save())
    tasks = [dict(carts=carts, states=np.stack(states), which=n % 2, frame=1 + n) for n in range(6)]
    there = diffvcs.sweep(sweep_tasks.ram_from, tasks, out=tmp_path / "set", engine="ray")
    assert pickled == ["one", "two"] and kinds.count("list") == 1 and kinds.count("ndarray") == 1
    assert list(there) == list(diffvcs.sweep(sweep_tasks.ram_from, tasks, out=tmp_path / "here"))
    assert len(set(there)) == 6


@pytest.mark.roms
def test_a_score_of_all_games_on_ray_is_that_of_threads(tmp_path, cluster):
    """With few bits of each game; tests/sweep_score.sh compares whole scores."""
    few = "--bits 2 --rom-bits 1 --horizons 1 --methods bit,exact --states 1 --frame 10".split()
    command("score", "--all", *few, "--out", tmp_path / "here")
    command("score", "--all", *few, "--out", tmp_path / "there", "--ray", cluster.get_runtime_context().gcs_address)
    assert files(tmp_path / "here") == files(tmp_path / "there") and len(stored(tmp_path / "there")) > 60


def test_the_commands_write_what_the_program_writes(tmp_path):
    if not PROGRAM.exists():
        needs.missing("program", f"{PROGRAM} is not built (make build)")

    def program(*arguments):
        subprocess.run([str(PROGRAM), *arguments], cwd=tmp_path, check=True, capture_output=True)

    program("score", "demo", *SCORE, "--no-costs", "--out", "score.tsv")
    command("score", "demo", *SCORE, "--out", tmp_path / "score")
    assert (tmp_path / "score" / "score.tsv").read_bytes() == (tmp_path / "score.tsv").read_bytes()
    program("annotate", "demo", "--seeds", "1", "--depths", "1", "--out", "json")
    command("annotate", "demo", "--seeds", "1", "--depths", "1", "--out", tmp_path / "annotations")
    assert (tmp_path / "annotations" / "demo.json").read_bytes() == (tmp_path / "json" / "demo.json").read_bytes()
    assert json.loads((tmp_path / "annotations" / "demo.json").read_text())["game"] == "demo"
    program("truth", "demo", "--seed", "1", "--frame", "70", "--horizon", "2", "--wrt", "tia", "--out", "t.tsv")
    command("truth", "demo", "--seed", "1", "--frame", "60", "--step", "10", "--states", "2", "--horizon", "2", "--wrt", "tia",
            "--out", tmp_path / "truth")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "truth" / "truth.tsv").read_text().splitlines()[1:]]
    assert ["\t".join(row[4:]) for row in rows if row[2] == "70"] == (tmp_path / "t.tsv").read_text().splitlines()[1:]


def test_results_in_a_place_of_fsspec(tmp_path):
    needs.module("fsspec")
    url = (tmp_path / "there").as_uri()
    tasks = sweep_tasks.tasks(tmp_path / "log", 3)
    assert diffvcs.sweep(sweep_tasks.noted, tasks, out=url).computed == 3
    again = diffvcs.sweep(sweep_tasks.noted, tasks, out=url)
    assert again.computed == 0
    assert list(again) == list(diffvcs.sweep(sweep_tasks.noted, tasks, out=tmp_path / "here"))
    inside = [diffvcs.sweep(sweep_tasks.noted, tasks, out="memory://sweep") for _ in range(2)]  # which has no folders
    assert [found.computed for found in inside] == [3, 0] and list(inside[1]) == list(again)


@pytest.mark.skipif(os.name == "nt", reason="no limit of a file's size on this system")
def test_a_store_of_this_machine_has_no_part_of_a_result(tmp_path):
    """A file may have 4,096 bytes, as if the disk were full then."""
    needs.module("fsspec")
    url = (tmp_path / "url").as_uri()
    text = f"""import resource, diffvcs, sweep_tasks
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    diffvcs.sweep(sweep_tasks.noted, [dict(log={str(tmp_path / "log")!r}, n=1, size=10000)], out={url!r})
except diffvcs.sweep.Stopped as stopped:
    print(stopped)
"""
    out, err = start("-c", text).communicate(timeout=600)
    assert "cannot be written (File too large)" in out, err
    assert files(tmp_path / "url") == {}


def test_a_store_that_fails_keeps_no_part_of_a_result(monkeypatch):
    fsspec = needs.module("fsspec")
    place = diffvcs.sweep.store("memory://fails")

    def fails(path, data):
        with fsspec.filesystem("memory").open(path, "wb") as file:
            file.write(data[:4])
        raise OSError("the connection was closed")

    monkeypatch.setattr(place.files, "pipe_file", fails)
    with pytest.raises(OSError, match="connection"):
        place.write("results/aa/" + "a" * 64, b"123456")
    assert place.names() == set()


def test_a_command_writes_into_a_place_of_fsspec(tmp_path):
    needs.module("fsspec")
    options = ["truth", "demo", "--states", "2", "--wrt", "cpu"]
    printed = {command(*options, "--out", out)[0] for out in (tmp_path / "here", (tmp_path / "there").as_uri())}
    assert files(tmp_path / "here") == files(tmp_path / "there") and len(printed) == 1


def test_annotations_of_two_games_with_one_name_are_refused(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "game.bin").write_bytes(diffvcs.Cartridge("demo").rom.tobytes())
    games = [tmp_path / folder / "game.bin" for folder in ("x", "y")]
    _, err = command("annotate", *games, "--out", tmp_path / "out", status=1)
    assert "two games would have their annotations in game.json: give each another --out" in err
    assert not (tmp_path / "out").exists()


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_task_that_fails_is_named_and_results_stay(tmp_path):
    tasks = [dict(n=n) for n in range(6)]
    with pytest.raises(diffvcs.sweep.Stopped, match=r"task 3 \(n=3\) failed: three is too many") as stopped:
        diffvcs.sweep(sweep_tasks.failing, tasks, out=tmp_path, workers=1)
    # tasks after the one that failed may have ended, too
    stored = re.search(r"([345]) of 6 results are stored and stay", str(stopped.value))
    assert diffvcs.sweep(sweep_tasks.failing, tasks[:3], out=tmp_path).computed == 0
    assert diffvcs.sweep(sweep_tasks.failing, tasks[:3] + tasks[4:], out=tmp_path).computed == 5 - int(stored[1])


def test_results_that_end_beside_a_failure_are_stored(tmp_path, monkeypatch):
    wait = concurrent.futures.wait

    def failures_first(waiting, return_when):
        done, rest = wait(waiting)  # all of them
        return sorted(done, key=lambda one: one.exception() is None), rest

    monkeypatch.setattr(concurrent.futures, "wait", failures_first)
    with pytest.raises(diffvcs.sweep.Stopped, match=r"task 1 \(n=3\) failed: .* 3 of 4 results are stored"):
        diffvcs.sweep(sweep_tasks.failing, [dict(n=n) for n in (0, 3, 1, 2)], out=tmp_path, workers=2)


def test_a_task_that_fails_on_ray_is_named(tmp_path, cluster):
    with pytest.raises(diffvcs.sweep.Stopped, match=r"task 0 \(n=3\) failed: three is too many"):
        diffvcs.sweep(sweep_tasks.failing, [dict(n=3)], out=tmp_path, engine="ray")


def test_without_ray_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match="pip install ray"):
        diffvcs.sweep(sweep_tasks.failing, [dict(n=1)], out=tmp_path, engine="ray")
    assert diffvcs.sweep(sweep_tasks.failing, [dict(n=1)], out=tmp_path).computed == 1


def test_odd_arguments_are_refused_before_anything_is_computed(tmp_path):
    tasks, out = [dict(cart=diffvcs.Cartridge.find("demo"), frame=1)], tmp_path / "out"
    for odd, kind, words in (
        ({"workers": 0}, ValueError, "workers is a number from 1 on"), ({"workers": -5}, ValueError, "not -5"),
        ({"workers": float("nan")}, ValueError, "workers"), ({"workers": True}, ValueError, "workers"),
        ({"gpus": -1}, ValueError, "gpus is a number of GPUs"), ({"gpus": float("nan")}, ValueError, "gpus"),
        ({"gpus": "x"}, ValueError, "gpus"), ({"gpus": None}, ValueError, "gpus"), ({"engine": None}, ValueError, "no engine"),
        ({"tasks": None}, TypeError, "a list of dictionaries"), ({"tasks": 5}, TypeError, "a list of dictionaries"),
        ({"tasks": tasks[0]}, TypeError, "a list of dictionaries"), ({"tasks": "ab"}, TypeError, "a list of dictionaries"),
        ({"tasks": [1]}, TypeError, "a task is a dictionary"),
    ):  # fmt: skip
        with pytest.raises(kind, match=words):
            diffvcs.sweep(diffvcs.sweep.ram_after, **{"tasks": tasks, "out": out, **odd})
    for frame in (-1, 1.5, float("nan"), 2**31):
        with pytest.raises(diffvcs.sweep.Stopped, match="frame (is|must be)"):
            diffvcs.sweep(diffvcs.sweep.ram_after, [dict(tasks[0], frame=frame)], out=out)
    assert not out.exists()


def test_odd_options_of_the_commands_are_refused(tmp_path, capsys):
    from diffvcs.sweep_commands import main

    for options, words in (
        (["--states", "-5"], "--states is -5, but goes from 1"), (["--states", "0"], "--states is 0"),
        (["--workers", "-5"], "workers is a number from 1 on"), (["--horizon", "x"], "'x' is no list of whole numbers"),
        (["--horizon", ""], "no list of whole numbers"), (["--frame", "-5", "--states", "1"], "frames is -5"), (["--gpus", "nan"], "gpus is a number"),
    ):  # fmt: skip
        assert main(["truth", "demo", "--out", str(tmp_path / "out"), "--wrt", "cpu", *options]) == 1
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


WITHOUT_RAY = """
import sys
sys.modules["ray"] = sys.modules["fsspec"] = None
from diffvcs.sweep_commands import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["score", "annotate", "truth", "benchmark"])
def test_commands_work_without_ray_and_say_what_it_needs(tmp_path, name):
    options = {
        "score": ["demo", *SCORE], "annotate": ["demo", "--seeds", "1", "--depths", "1"],
        "truth": ["demo", "--states", "1", "--wrt", "cpu"],
        "benchmark": ["--tracks", "inputs-screen", "--methods", "random"],
    }[name]  # fmt: skip
    for more, status, text in (
        (["--out", tmp_path / "here"], 0, ""),
        (["--out", tmp_path / "there", "--ray"], 1, "pip install ray"),
        (["--out", "s3://bucket/folder"], 1, "pip install fsspec"),
    ):
        process = start("-c", WITHOUT_RAY, name, *options, *more)
        out, err = process.communicate(timeout=300)
        assert process.returncode == status and text in err and "Traceback" not in err, err
        assert bool(out) == (status == 0)
    assert stored(tmp_path / "here") and not (tmp_path / "there").exists()


def lines(log):
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def names(log, count, seconds):
    """The addresses of the tasks, by their numbers."""
    return {
        diffvcs.sweep.address(sweep_tasks.noted, task): str(task["n"])
        for task in sweep_tasks.tasks(log, count, seconds)
    }


@pytest.mark.parametrize("engine", ["threads", "ray"])
def test_a_killed_driver_is_resumed_and_nothing_stored_is_computed_again(tmp_path, engine):
    if engine == "ray":
        needs.module("ray")
    log, out, count, seconds = tmp_path / "log", tmp_path / "out", 24, 0.2
    numbers = names(log, count, seconds)
    for kill in range(4):
        have, before = {numbers[name] for name in stored(out)}, len(lines(log))
        driver = start(HERE / "sweep_tasks.py", log, out, count, seconds, engine, 2, start_new_session=True)
        while kill < 3 and len(stored(out)) < 5 * (kill + 1) and driver.poll() is None:
            time.sleep(0.01)
        if kill < 3:
            driver.send_signal(signal.SIGKILL)
        printed, err = driver.communicate(timeout=300)
        assert driver.returncode == (-signal.SIGKILL if kill < 3 else 0), err
        assert have.isdisjoint(n for n, _ in lines(log)[before:]), "computed again"
    whole = diffvcs.sweep(sweep_tasks.noted, sweep_tasks.tasks(log, count, seconds), out=out)
    assert whole.computed == 0 and whole.digest() == printed.strip()
    assert [bytes((n * n + i) % 251 for i in range(64)) for n in range(count)] == list(whole)
    assert not list(out.rglob("*.part"))


def test_killed_workers_of_ray_change_nothing(tmp_path, cluster):
    log, count, kills, ended = tmp_path / "log", 40, 5, threading.Event()
    done = []

    def kill():
        chance = random.Random(1)
        while not ended.wait(0.3) and len(done) < kills:
            alive = [pid for _, pid in lines(log)[-4:] if Path(f"/proc/{pid}").exists()]
            if alive:
                os.kill(int(chance.choice(alive)), signal.SIGKILL)
                done.append(1)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = diffvcs.sweep(sweep_tasks.noted, sweep_tasks.tasks(log, count, 0.2), out=tmp_path / "out", engine="ray")
    finally:
        ended.set()
        killer.join()
    assert len(done) >= 3
    assert list(found) == [bytes((n * n + i) % 251 for i in range(64)) for n in range(count)]


FULL = """
import resource, sys
import diffvcs, sweep_tasks
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
tasks = [dict(log="/dev/null", n=n, size=100 if n < 3 else 100000) for n in range(6)]
try:
    diffvcs.sweep(sweep_tasks.noted, tasks, out=sys.argv[1], workers=1)
except diffvcs.sweep.Stopped as problem:
    print(problem)
"""


def test_a_disk_without_room_keeps_what_is_stored(tmp_path):
    driver = start("-c", FULL, tmp_path)
    printed, err = driver.communicate(timeout=300)
    message = re.search(
        r"cannot be written \(File too large\)\. (\d) of 6 results are stored and stay: make room", printed
    )
    assert message, err
    kept = int(message[1])  # results are written as they come, so a large one can come before the last small one
    assert kept <= 3 and len(stored(tmp_path)) == kept and not list(tmp_path.rglob("*.part"))
    tasks = [dict(log="/dev/null", n=n, size=100 if n < 3 else 100000) for n in range(6)]
    assert diffvcs.sweep(sweep_tasks.noted, tasks, out=tmp_path).computed == 6 - kept


def test_a_sweep_that_stops_does_not_stop_another(tmp_path):
    tasks = [dict(n=n, seconds=0.3) for n in range(2)]
    found, problems = [], []

    def stopping():  # its first task fails while the second, which takes minutes, runs
        try:
            diffvcs.sweep(sweep_tasks.fails_beside_a_long_one, tasks, out=tmp_path / "stopped", workers=2)
        except diffvcs.sweep.Stopped as problem:
            problems.append(problem)

    other = threading.Thread(
        target=lambda: found.extend(
            diffvcs.sweep(sweep_tasks.scored, [dict(pixels=8)], out=tmp_path / "other", workers=1)
        )
    )
    other.start()
    stopping()
    other.join()
    assert problems and "failed: zero" in str(problems[0])
    assert found == [sweep_tasks.scored(8)]


def test_ctrl_c_ends_a_long_task_at_once(tmp_path):
    driver = start(
        "-m", "diffvcs.sweep", "score", "demo", "--out", tmp_path, "--workers", 1, "--pixels", 4096
    )  # takes minutes
    time.sleep(4)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=300)
    assert driver.returncode == 130 and "run the same command to resume" in err
    assert not stored(tmp_path) and not list(tmp_path.rglob("*.part"))


def test_numpy_scalars_that_json_lacks_are_refused():
    name = diffvcs.sweep.address(sweep_tasks.failing, {"n": 3})
    assert diffvcs.sweep.address(sweep_tasks.failing, {"n": np.int64(3)}) == name
    for value in (np.datetime64(0, "s"), np.complex128(1)):
        with pytest.raises(TypeError, match="a task has numbers"):
            diffvcs.sweep.address(sweep_tasks.failing, {"n": value})
