#!/usr/bin/env python3
"""ale-py's own Python tests on our machine: python ale_suite.py CHECKOUT [arguments of pytest].

CHECKOUT is a checkout of the Arcade Learning Environment; nothing of it is kept. Its tests/ folder is copied into a
temporary one beside a conftest.py that puts us in the place of `ale_py`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "tests/python").is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"
        shutil.copytree(Path(sys.argv[1]) / "tests", tests)
        (tests / "python/conftest.py").write_text("import diffvcs.compat\n\ndiffvcs.compat.install()\n")
        return subprocess.call([sys.executable, "-m", "pytest", "-q", *sys.argv[2:]], cwd=tests / "python")


if __name__ == "__main__":
    sys.exit(main())
