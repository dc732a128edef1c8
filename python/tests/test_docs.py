"""Every example of docs/python.md and every notebook runs. Those of packages that are not installed are skipped."""

import json
import re
from pathlib import Path

import needs
import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
OPTIONAL = ("torch", "jax", "gymnasium", "captum", "sklearn", "matplotlib")
GAMES = re.compile(r"breakout|pong|Pong|pacman|Pacman|space_invaders")


def execute(code, tmp_path, monkeypatch):
    if GAMES.search(code):
        needs.roms()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("DIFFVCS_BUDGET", "0.01")  # a hundredth of a notebook's training
    try:
        exec(compile(code, "example", "exec"), {"__name__": "__example__"})
    except ImportError as problem:
        if problem.name not in OPTIONAL and "pip install 'diffvcs[" not in str(problem):
            raise
        name = problem.name or getattr(problem.__cause__, "name", None) or "extras"
        needs.missing(name.partition(".")[0], f"not installed: {problem}")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example(number, tmp_path, monkeypatch):
    execute(BLOCKS[number], tmp_path, monkeypatch)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert sum(bool(c["outputs"]) for c in cells) >= 2, "outputs are stored"
    execute("\n".join("".join(c["source"]) for c in cells), tmp_path, monkeypatch)


def test_there_are_examples():
    assert len(BLOCKS) >= 8 and NOTEBOOKS
