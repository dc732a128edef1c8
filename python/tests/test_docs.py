"""Every Python block of README.md and docs/*.md runs and prints what is shown after it, and every notebook runs. Those of
packages that are not installed are skipped."""

import json
import re
from pathlib import Path

import needs
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# A block, and the output that is shown: a block without a language after a line that ends with "prints:"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n?[^\n`]*prints:\n\n?```\n(.*?)```)?", re.S)
BLOCKS = [(page.name, *found) for page in PAGES for found in BLOCK.findall(page.read_text())]
# What a page's blocks need beside the package.
FRAGMENTS = {
    "web.md": """import os
open("index.html", "w").write("<html><body></body></html>")  # in the place of the page that `make web` builds
os.environ["DIFFVCS_WEB"] = "."
""",
}
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
        script = tmp_path / "example.py"  # a file, because a sweep's function has a source
        script.write_text(code)
        exec(compile(code, script, "exec"), {"__name__": "__example__"})
    except ImportError as problem:
        if problem.name not in OPTIONAL and "pip install " not in str(problem):
            raise
        name = problem.name or getattr(problem.__cause__, "name", None) or "extras"
        needs.missing(name.partition(".")[0], f"not installed: {problem}")


@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=lambda number: f"{BLOCKS[number][0]}-{number}")
def test_example(number, tmp_path, monkeypatch, capsys):
    page, code, shown = BLOCKS[number]
    execute(FRAGMENTS.get(page, "") + code, tmp_path, monkeypatch)
    if shown:
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert sum(bool(c["outputs"]) for c in cells) >= 2, "outputs are stored"
    execute("\n".join("".join(c["source"]) for c in cells), tmp_path, monkeypatch)


def test_there_are_examples():
    assert len(BLOCKS) >= 8 and NOTEBOOKS
