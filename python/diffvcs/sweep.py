"""Many independent tasks on one machine or on a Ray cluster, each result computed once.

A task is a dictionary of arguments for one pure function that returns bytes. The address of a result is the SHA-256 of
the function's name and source, the task, the library's version and the library's file; images and arrays are
represented by their own SHA-256. A result is a file in the folder `out` whose name is the address; it is written under
another name and renamed when all of it is on disk. So the same call resumes a sweep that was killed, stored results are
not computed again, and results do not depend on the engine, the number of workers or the order in which tasks finish.

    def count(cart, frame):
        ...
        return b"..."

    found = diffvcs.sweep(count, [dict(cart=cart, frame=n) for n in range(0, 6000, 60)], out="counts")
    found[3]                                   # the bytes of the fourth task

The module is callable: `diffvcs.sweep(...)` is `diffvcs.sweep.sweep(...)`. `python -m diffvcs.sweep` runs the sweeps of
sweep_commands.py. docs/scale.md is the guide.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import hashlib
import inspect
import json
import os
import socket
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _c, files
from ._bind import whole
from .cartridge import Cartridge

Task = Mapping[str, Any]
ENGINES = ("threads", "ray")
LARGE = 1024  # bytes; larger arguments (images, lists of images, arrays) are put into Ray's object store, once each


class Stopped(RuntimeError):
    """A sweep ended before all of its tasks were done. Stored results are kept; the same call resumes the sweep."""


# ---- addresses -------------------------------------------------------------------------------------------------------


def _sha256(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def _facts(value: Any) -> Any:
    """Returns a value of a task as JSON: the same text for equal values, in every process."""
    if isinstance(value, Cartridge):
        image, profile, format, name, patch = value._made_from
        return {"cartridge": value.sha256, "image": _sha256(image), "profile": profile, "format": format, "name": name,
                "patch": None if patch is None else _sha256(patch)}  # fmt: skip
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": _sha256(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("a task has no arrays of Python objects: they have no bytes of their own")
        return {
            "array": _sha256(np.ascontiguousarray(value).tobytes()),
            "type": repr(value.dtype),
            "shape": value.shape,
        }
    if isinstance(value, (list, tuple)):
        return [_facts(item) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("the keys of a task's dictionaries are texts: 1 and '1' would be the same")
        return {"dictionary": {key: _facts(item) for key, item in value.items()}}  # distinct from arrays and images
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, (bool, int, float, str)):
        return plain
    raise TypeError(
        f"a task has numbers, texts, bytes, arrays, cartridges, and lists and dictionaries of them, not {type(value).__name__}"
    )


def _size(value: Any) -> int:
    """The bytes of a value's images, arrays and texts."""
    if isinstance(value, Cartridge):
        return len(value._made_from[0])
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (bytes, bytearray, str)):
        return len(value)
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return 0
    return sum(_size(item) for item in value)


def _is_large(value: Any) -> bool:
    return _size(value) > LARGE


def _source(function: Callable[..., Any]) -> str:
    """Returns the source of a function. It is a part of the address of a result, so that two functions with one name have
    different results."""
    if function.__name__ == "<lambda>":  # whose source is a line, which may have several
        raise TypeError("a lambda has neither a name nor a source of its own: write it as `def`")
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        raise TypeError(
            f"{function.__qualname__} has no source that Python can read, so its results could not be told from those of "
            "another function of that name: write it into a file, or into the cell of a notebook"
        ) from None


def address(function: Callable[..., bytes], task: Task) -> str:
    """Returns the name of a task's result: 64 hexadecimal digits.

    Example:
        >>> def double(n):
        ...     return bytes([2 * n])
        >>> diffvcs.sweep.address(double, {"n": 1}) == diffvcs.sweep.address(double, {"n": 2})
        False
    """
    return _addresses(function, [task])[0]


def _addresses(function: Callable[..., bytes], tasks: Sequence[Task]) -> list[str]:
    if not inspect.isfunction(function) or function.__closure__:
        raise TypeError(
            f"{function!r} is no function of a module: what a closure, a method or a partial function holds is not part of a "
            "result's address. Make it an argument"
        )
    for task in tasks:
        if not isinstance(task, Mapping):
            raise TypeError(f"a task is a dictionary of the function's arguments, not {task!r}")
    known: dict[int, tuple[Any, Any]] = {}  # by id; the value is held, so that no other value gets its id

    def facts(value: Any) -> Any:
        if not _is_large(value):
            return _facts(value)
        if id(value) not in known:
            known[id(value)] = value, _facts(value)
        return known[id(value)][1]

    common = [
        f"{function.__module__}.{function.__qualname__}",
        _sha256(_source(function).encode()),
        _c.lib.vcs_version(),
        _sha256(_c.library_path().read_bytes()),  # another build of the library may give other results
    ]
    return [
        _sha256(json.dumps([common, {k: facts(v) for k, v in task.items()}], sort_keys=True).encode()) for task in tasks
    ]


# ---- results ---------------------------------------------------------------------------------------------------------


class Folder:
    """Files in a folder of this machine, written whole or not at all."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    def names(self) -> set[str]:
        """The results that are stored."""
        return {file.name for file in (self.path / "results").glob("??/" + "?" * 64)}

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        files.write(self.path / name, data)


class Remote:
    """Files in a store that fsspec supports, such as s3://bucket/folder. Object stores write whole objects; where another
    store fails in the middle of a file, what it holds of it is removed, but a process that is killed leaves it."""

    def __init__(self, url: str):
        try:
            import fsspec
        except ImportError as problem:
            raise ImportError(f"{url} needs fsspec (`pip install fsspec`) and the package of its protocol") from problem
        self.url = url.rstrip("/")
        self.files, self.root = fsspec.core.url_to_fs(self.url)

    def __str__(self) -> str:
        return self.url

    def names(self) -> set[str]:
        self.files.invalidate_cache()
        found = self.files.find(f"{self.root}/results") if self.files.exists(f"{self.root}/results") else []
        return {name for name in (path.rpartition("/")[2] for path in found) if len(name) == 64}

    def read(self, name: str) -> bytes:
        return self.files.cat_file(f"{self.root}/{name}")

    def write(self, name: str, data: bytes) -> None:
        path = f"{self.root}/{name}"
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
        try:
            self.files.pipe_file(path, data)
        except BaseException:
            with contextlib.suppress(Exception):  # a store that is no object store may hold a part of it
                self.files.rm_file(path)
            raise


def store(out: str | os.PathLike[str]) -> Folder | Remote:
    """The place of results: a folder, also as a URL (file://), or a URL of another store of fsspec."""
    if not isinstance(out, str) or "://" not in out:
        return Folder(out)
    remote = Remote(out)
    from fsspec.implementations.local import LocalFileSystem

    return Folder(remote.root) if isinstance(remote.files, LocalFileSystem) else remote


class Results(Sequence[bytes]):
    """The results of a sweep in the order of its tasks. Each is read when it is indexed."""

    def __init__(self, place: Folder | Remote, addresses: Sequence[str], computed: int):
        self.place, self.addresses = place, list(addresses)
        self.computed = computed  # how many this call computed; the rest were stored before

    def __len__(self) -> int:
        return len(self.addresses)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.place.read(_path(self.addresses[index]))

    def __iter__(self) -> Iterator[bytes]:
        return (self[i] for i in range(len(self)))

    def digest(self) -> str:
        """Returns the SHA-256 of all results, one after the other."""
        digest = hashlib.sha256()
        for result in self:
            digest.update(result)
        return digest.hexdigest()


def _path(name: str) -> str:
    return f"results/{name[:2]}/{name}"


# ---- progress --------------------------------------------------------------------------------------------------------


class Bar:
    """A line on stderr, if that is a terminal: tasks done, all tasks, and the time left at the speed so far."""

    def __init__(self, title: str, done: int, total: int, shown: bool | None):
        self.title, self.first, self.done, self.total = title, done, done, total
        self.begin, self.drawn = time.monotonic(), 0.0
        self.shown = sys.stderr.isatty() if shown is None else shown

    def add(self) -> None:
        self.done += 1
        now = time.monotonic()
        if self.shown and (now - self.drawn > 0.1 or self.done == self.total):
            self.drawn = now
            left = int((now - self.begin) / (self.done - self.first) * (self.total - self.done))
            filled = "=" * (30 * self.done // self.total)
            sys.stderr.write(
                f"\r\033[K{self.title}  [{filled:30}]  {100 * self.done // self.total:3}%  {self.done}/{self.total}  "
                f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
            )
            sys.stderr.flush()

    def close(self) -> None:
        if self.shown and self.drawn:
            sys.stderr.write("\n")


# ---- engines ---------------------------------------------------------------------------------------------------------

Work = Iterator[tuple[int, bytes]]  # numbers of tasks and their results, as they finish


def _checked(function: Callable[..., bytes], arguments: Task) -> bytes:
    result = function(**arguments)
    if not isinstance(result, bytes):
        raise TypeError(f"{function.__qualname__} returned {type(result).__name__}; a task returns bytes")
    return result


def _on_threads(function: Callable[..., bytes], tasks: Sequence[Task], todo: list[int], workers: int) -> Work:
    stop = ctypes.c_int32()  # if not 0, long calls of the library in this sweep's threads end now
    pool = concurrent.futures.ThreadPoolExecutor(workers, "sweep", _c.lib.watch, (stop,))
    waiting, queue = {}, iter(todo)
    try:
        while True:
            for i in queue:
                waiting[pool.submit(_checked, function, tasks[i])] = i
                if len(waiting) >= 2 * workers:
                    break
            if not waiting:
                return
            done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            # Results first: they are stored before a task that failed ends the sweep.
            for future in sorted(done, key=lambda one: (one.exception() is not None, waiting[one])):
                number = waiting.pop(future)
                try:
                    result = future.result()
                except Exception as problem:
                    raise _failed(number, problem) from problem
                yield number, result
    finally:
        stop.value = bool(waiting)
        pool.shutdown(wait=True, cancel_futures=True)


def _ray() -> Any:
    try:
        import ray
    except ImportError as problem:
        raise ImportError("engine='ray' needs Ray (`pip install ray`); engine='threads' needs nothing") from problem
    return ray


def _check_reachable(address: str) -> None:
    """Raises OSError if nothing listens at "host:port" or "ray://host:port": Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=30).close()


def _remote_task(function: Callable[..., bytes], version: str, arguments: Task, *large: Any) -> bytes:
    """Runs one task on a worker of Ray. `large` are the values from the object store, in the order of their
    arguments."""
    if _c.lib.vcs_version() != version:
        raise RuntimeError(f"this worker has diffvcs {_c.lib.vcs_version()}, the sweep was started with {version}")
    names = [key for key, value in arguments.items() if isinstance(value, _Stored)]
    return _checked(function, {**arguments, **dict(zip(names, large))})


class _Stored:
    """Takes the place of an argument that is in the object store."""


def _on_ray(
    function: Callable[..., bytes], tasks: Sequence[Task], todo: list[int], workers: int | None, address: str | None,
    gpus: float, options: Mapping[str, Any],
) -> Work:  # fmt: skip
    ray = _ray()
    started = not ray.is_initialized()
    if started:
        settings: dict[str, Any] = {"log_to_driver": False}
        if address is None and "RAY_ADDRESS" not in os.environ:  # a cluster of this call's own
            address = "local"
            settings.update(include_dashboard=False, **({"num_cpus": workers} if workers else {}))
        try:
            _check_reachable(address or os.environ["RAY_ADDRESS"])
            ray.init(address=address, **{**settings, **options})
        except Exception as problem:  # Ray raises plain exceptions here
            raise Stopped(f"Ray did not start or could not be reached: {problem}. What is stored stays") from problem
    stored: dict[str, Any] = {}  # by content
    by_id: dict[int, tuple[Any, Any]] = {}  # the value is held, so that no other value gets its id

    def put(value: Any) -> Any:
        if id(value) not in by_id:
            content = json.dumps(_facts(value), sort_keys=True)
            if content not in stored:
                stored[content] = ray.put(value)
            by_id[id(value)] = value, stored[content]
        return by_id[id(value)][1]

    # Ray replaces a worker that dies, and runs its task again, as often as necessary.
    remote = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=-1, retry_exceptions=False)(_remote_task)
    remote_function, version = ray.put(function), _c.lib.vcs_version()
    room = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting: dict[Any, int] = {}
    queue = iter(todo)
    try:
        if gpus > ray.cluster_resources().get("GPU", 0):  # Ray would wait for ever for a computer with so many GPUs
            raise Stopped(f"each task asks for {gpus:g} GPUs, and the cluster has none so large. What is stored stays")
        while True:
            for i in queue if len(waiting) < room else ():
                large = [put(value) for value in tasks[i].values() if _is_large(value)]
                small = {key: _Stored() if _is_large(value) else value for key, value in tasks[i].items()}
                waiting[remote.remote(remote_function, version, small, *large)] = i
                if len(waiting) >= room:
                    break
            if not waiting:
                return
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                number = waiting.pop(reference)
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayError as problem:
                    raise _failed(number, getattr(problem, "cause", None) or problem) from problem
                yield number, result
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        if started:
            ray.shutdown()


class _TaskFailed(Exception):
    def __init__(self, number: int, problem: BaseException):
        super().__init__(number, problem)
        self.number, self.problem = number, problem


def _failed(number: int, problem: BaseException) -> _TaskFailed:
    return _TaskFailed(number, problem)


# ---- the sweep -------------------------------------------------------------------------------------------------------


def sweep(
    function: Callable[..., bytes],
    tasks: Sequence[Task],
    *,
    out: str | os.PathLike[str],
    engine: str = "threads",
    workers: int | None = None,
    address: str | None = None,
    gpus: float = 0,
    ray_options: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    title: str | None = None,
) -> Results:
    """Computes function(**task) for every task that has no result in `out` yet.

    Args:
        function: a function of a module, which returns bytes and depends on its arguments only.
        tasks: dictionaries of arguments: numbers, texts, bytes, arrays, cartridges, and lists and dictionaries of them.
        out: the folder of the results, or a URL that fsspec supports, such as "s3://bucket/folder".
        engine: "threads" in this process, or "ray".
        workers: how many tasks run at a time; None: one for each core. With Ray, the size of a cluster that it starts
            here.
        address: of a running Ray cluster ("auto", "ray://host:10001"); None: that of $RAY_ADDRESS, or Ray starts one
            here for this call.
        gpus: with Ray, the number of GPUs that each task has to itself; in the task its GPU is device "cuda".
        ray_options: further arguments of ray.init, such as runtime_env.
        progress: whether to draw a progress bar; None: if stderr is a terminal.
        title: the text before the bar; None: the function's name.

    Returns Results: a sequence of bytes in the order of the tasks.

    Raises Stopped if a task fails or the disk is full, and KeyboardInterrupt after Ctrl-C. Results stored so far are
    kept, and the same call resumes the sweep.

    Example:
        >>> found = diffvcs.sweep(diffvcs.sweep.ram_after, [{"cart": machine.cart, "frame": n} for n in (1, 60)], out="ram")
        >>> len(found), len(found[1]), found.computed
        (2, 128, 2)
    """
    if engine not in ENGINES:
        raise ValueError(f"no engine {engine!r}; there are {', '.join(ENGINES)}")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers is a number from 1 on, or None, not {workers!r}")
    if isinstance(gpus, bool) or not isinstance(gpus, (int, float)) or not 0 <= gpus < float("inf"):
        raise ValueError(f"gpus is a number of GPUs, 0 or more, not {gpus!r}")
    if isinstance(tasks, (str, bytes, Mapping)) or not isinstance(tasks, Iterable):
        raise TypeError(f"tasks are a list of dictionaries, not {tasks!r}")
    if engine == "ray":
        _ray()
    tasks, place = list(tasks), store(out)
    names = _addresses(function, tasks)
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    have = place.names()
    todo = sorted(i for name, i in first.items() if name not in have)
    bar = Bar(title or function.__name__, len(first) - len(todo), len(first), progress)
    if not todo:
        return Results(place, names, 0)
    if engine == "ray":
        work = _on_ray(function, tasks, todo, workers, address, gpus, ray_options or {})
    else:
        work = _on_threads(function, tasks, todo, min(workers or os.cpu_count() or 1, len(todo)))
    computed, problem = 0, ""
    try:
        for number, result in work:
            try:
                place.write(_path(names[number]), result)
            except OSError as error:
                raise Stopped(
                    f"{place} cannot be written ({error.strerror or error}). {_kept(bar)}: make room, then run the same "
                    "call to resume"
                ) from error
            computed += 1
            bar.add()
    except _TaskFailed as failed:
        problem = f"task {failed.number} ({_words(tasks[failed.number])}) failed: {failed.problem}. {_kept(bar)}"
        raise Stopped(problem) from failed.problem
    finally:
        work.close()  # type: ignore[attr-defined]
        bar.close()
    return Results(place, names, computed)


def _kept(bar: Bar) -> str:
    return f"{bar.done} of {bar.total} results are stored and stay"


def _words(task: Task) -> str:
    """A task in few words, for messages."""
    return ", ".join(f"{k}={v.name if isinstance(v, Cartridge) else v!r}"[:60] for k, v in task.items())


def ram_after(cart: Cartridge, frame: int) -> bytes:
    """Returns RAM after some frames without input: a small task, for examples.

    Example:
        >>> len(diffvcs.sweep.ram_after(machine.cart, 60))
        128
    """
    from .machine import Machine

    machine = Machine(cart)
    machine.reset()
    for _ in range(whole(frame, "frame", 0, 2**31 - 1)):
        machine.act_on("NOOP")
    return machine.ram.tobytes()


class _Callable(types.ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Results:
        return sweep(*arguments, **options)


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    from diffvcs.sweep_commands import main

    sys.exit(main())
