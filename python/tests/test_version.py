"""The library, the package and the command line name the version of the header."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import diffvcs

HEADER = Path(__file__).resolve().parents[2] / "include" / "diffvcs" / "diffvcs.h"


def test_one_version():
    parts = dict(re.findall(r"^#define VCS_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", HEADER.read_text(), re.MULTILINE))
    version = f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCH']}"
    assert diffvcs.__version__ == version
    assert importlib.metadata.version("diffvcs") == version
    printed = subprocess.run([sys.executable, "-m", "diffvcs", "--version"], capture_output=True, text=True, check=True)
    assert printed.stdout == f"diffvcs {version}\n"
