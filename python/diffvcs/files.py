"""Files that are read and written as a whole.

`read` refuses what is no file, and what is longer than the file can be. `write` writes under another name, and renames
when all of it is on disk: after a kill or on a full disk the old file or the new one is there. The draft of a killed
process (`.NAME.THREAD.PROCESS.part`) is removed by the next process that writes that file. A symbolic link stays one,
and a device is written in place, as the library does (src/host/files.c).
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import threading
from pathlib import Path


def read(path: str | os.PathLike[str], limit: int) -> bytes:
    """Returns the bytes of a file of at most `limit` bytes; of a longer one, `limit` + 1 of them."""
    path = os.fspath(path)  # not a number, which would be a descriptor
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for ever, and /dev/zero never ends
        raise OSError(f"{os.fsdecode(path)} is not a file")
    with open(path, "rb") as file:
        return file.read(limit + 1)


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file, and the folders that it is in."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        with open(os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)), "wb") as device:  # a pipe needs its reader
            device.write(data)
        return
    for old in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if not _is_running(old.name.split(".")[-2]):
            with contextlib.suppress(OSError):  # another process has removed it, or on Windows is writing it
                old.unlink()
    draft = path.parent / f".{path.name}.{threading.get_ident()}.{os.getpid()}.part"
    try:
        with open(draft, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _is_running(process: str) -> bool:
    if os.name == "nt":  # which does not delete an open file; there os.kill(process, 0) would be Ctrl-C
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
