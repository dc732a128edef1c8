"""Links to a moment of a game: web/src/link.js, without a browser."""

import pathlib
import shutil
import subprocess

import pytest


def test_links_are_read_back_and_wrong_ones_are_refused():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node: there is no Node.js")
    done = subprocess.run(
        [node, pathlib.Path(__file__).with_name("link.mjs")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
