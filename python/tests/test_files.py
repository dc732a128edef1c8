"""Files of the Python package: whole or not at all, whatever kills the process, and whatever the name stands for."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import diffvcs
from diffvcs import files, png
from diffvcs.benchmark import __main__ as benchmark
from diffvcs.benchmark import agents, suite

WRITERS = {
    "a picture": ("png.write(PATH, np.zeros((210, 160), np.uint8))", "x.png"),
    "an agent": ("agents.save(agents.load('demo'), PATH)", "x.npz"),
    "results": ("benchmark._write(PATH, '{}')", "x.json"),
    "the files of Quantus": ("quantus.write(suite.tasks('quick')[0], ['random'], PATH.parent)", ""),
    "results of a sweep": ("sweep.Folder(PATH.parent).write(PATH.name, b'x')", "x"),
}
KILLED = """
import os, pathlib, signal, sys
import numpy as np
from diffvcs import png, sweep
from diffvcs.benchmark import __main__ as benchmark, agents, quantus, suite
PATH = pathlib.Path(sys.argv[1])
os.fsync = os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
CALL
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on this system")
@pytest.mark.parametrize("what", WRITERS)
def test_a_killed_writer_leaves_the_old_file_and_no_draft_for_long(what, tmp_path):
    call, name = WRITERS[what]
    path = tmp_path / (name or f"{suite.tasks('quick')[0].name}.npz")
    path.write_bytes(b"old")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED.replace("CALL", call), path], capture_output=True, text=True
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 2  # one draft, not two
    files.write(path, b"new")
    assert path.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 1


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    def no_room(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    path = tmp_path / "[a]*.png"  # not a pattern
    path.write_bytes(b"old")
    for call in (lambda: png.write(path, np.zeros((2, 2))), lambda: agents.save(agents.load("demo"), path)):
        with pytest.raises(OSError, match="No space left"):
            call()
        assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_links_and_devices_are_written_and_not_replaced(tmp_path):
    (tmp_path / "link").symlink_to("file")
    files.write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    (tmp_path / "null").symlink_to(os.devnull)
    files.write(tmp_path / "null", b"new")
    assert os.path.realpath(tmp_path / "null") == os.devnull and not os.path.isfile(os.devnull)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError):  # it has no reader
        files.write(tmp_path / "pipe", b"new")
    with pytest.raises(OSError):
        files.write(tmp_path, b"new")
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_only_files_of_a_possible_length_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(1 << 40)
    for read in (diffvcs.Machine.save_info, diffvcs.ALEInterface.isSupportedROM, diffvcs.Cartridge):
        for name in ("pipe", "/dev/zero"):
            with pytest.raises((OSError, RuntimeError), match="not a file|no ROM image"):
                read(tmp_path / name)
    with pytest.raises(diffvcs.VCSError, match="no save file|not a save file|longer|larger"):
        diffvcs.Machine.save_info(tmp_path / "huge")
    assert diffvcs.ALEInterface.isSupportedROM(tmp_path / "huge") is None


def test_broken_files_of_the_benchmark_are_named(tmp_path, monkeypatch, capsys):
    task = suite.tasks("quick")[0]
    for content in (b"", b"{", b"\xff\xfe", b"[]", b"7"):
        for folder in ("results", "truth"):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{task.name}.json").write_bytes(content)
        assert benchmark.main(["report", "--suite", "quick", "--out", str(tmp_path)]) == 1
        assert f"{task.name}.json" in capsys.readouterr().err
    monkeypatch.setattr(agents, "FOLDER", tmp_path)
    for content in (b"", b"PK", b"PK\3\4" + bytes(100), b"text", benchmark.__doc__.encode()):
        (tmp_path / "demo.npz").write_bytes(content)
        agents.load.cache_clear()
        with pytest.raises(ValueError, match="demo.npz is broken"):
            agents.load("demo")
    agents.load.cache_clear()


def test_files_are_read_alike_in_every_locale():
    """Annotations and frozen tasks have letters beyond ASCII at most in UTF-8."""
    code = "from diffvcs import annotations; from diffvcs.benchmark import suite; print(len(annotations('demo')['ram']), len(suite.tasks('quick')))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **more}, check=True
        ).stdout
        for more in ({}, {"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "nonsense"}, {"LC_ALL": "tr_TR.ISO8859-9"})
    }
    assert len(found) == 1


def test_what_is_no_library_or_no_program_is_named(tmp_path):
    (tmp_path / "junk").write_bytes(b"no library")
    (tmp_path / "folder").mkdir()

    def ask(*arguments, **environment):
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )
        return done.returncode, done.stderr.strip().splitlines()[-1]

    for library in ("junk", "folder", str(tmp_path / "junk")):
        status, words = ask("-c", "import diffvcs", DIFFVCS_LIBRARY=library)
        assert status == 1 and words.startswith(f"ImportError: {library} is not the library of this package: "), words
        assert os.path.realpath(tmp_path / library) in words  # it, and not one of the system's
    for program in ("nothing.py", "folder"):
        assert ask("-m", "diffvcs.compat", program) == (1, f"diffvcs.compat: there is no program {program}")
    for nothing in ((), ("-m",)):
        status, words = ask("-m", "diffvcs.compat", *nothing)
        assert status == 1 and words.startswith("usage: python -m diffvcs.compat")
