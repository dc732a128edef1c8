#!/usr/bin/env python3
"""Other projects' own tests on our machine.

    python peer_suites.py ale CHECKOUT [arguments of pytest]       the Arcade Learning Environment: tests/python
    python peer_suites.py envpool CHECKOUT [arguments of pytest]   EnvPool: envpool/atari/atari_envpool_test.py

Nothing of a checkout is kept: its tests are copied into a temporary folder, beside a conftest.py that puts us in the place
of `ale_py` or `envpool`. ale-py's tests need opencv-python-headless, jax and chex, EnvPool's also absl-py. One of EnvPool's
twelve fails, and is expected to: test_raw_envpool is about its C++ classes, which we do not have.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def copy_ale(checkout: Path, folder: Path) -> Path:
    shutil.copytree(checkout / "tests", folder / "tests")
    return folder / "tests/python"


def copy_envpool(checkout: Path, folder: Path) -> Path:
    lines = (checkout / "envpool/atari/atari_envpool_test.py").read_text().splitlines(keepends=True)
    (folder / "test_atari_envpool.py").write_text("".join(line for line in lines if "_AtariEnvSpec\n" not in line))
    return folder


SUITES = {"ale": (copy_ale, "install"), "envpool": (copy_envpool, "install_envpool")}


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in SUITES:
        print(__doc__, file=sys.stderr)
        return 2
    copy, install = SUITES[sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        try:
            tests = copy(Path(sys.argv[2]), Path(folder))
        except OSError as problem:
            print(f"this is no checkout of {sys.argv[1]}: {problem}", file=sys.stderr)
            return 2
        (tests / "conftest.py").write_text(f"import diffvcs.compat\n\ndiffvcs.compat.{install}()\n")
        return subprocess.call([sys.executable, "-m", "pytest", "-q", *sys.argv[3:]], cwd=tests)


if __name__ == "__main__":
    sys.exit(main())
