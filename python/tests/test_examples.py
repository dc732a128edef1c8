"""Every Python example runs and prints what its docstring says it prints."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import needs
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "python").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    for package in ("torch", "gymnasium"):
        if f"{package}_" in path.stem:
            needs.module(package)
    expected = textwrap.dedent(ast.get_docstring(ast.parse(path.read_text())).partition("Output:\n")[2]) + "\n"
    result = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == expected
