"""Each command of the program and its Python function give the same result, on our own cartridge (docs/commands.md)."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import diffvcs

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("DIFFVCS") or ROOT / "build" / "diffvcs")
CART = diffvcs.Cartridge("demo")
program = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def played(frames, horizon):
    machine = diffvcs.Machine(CART)
    machine.reset()
    for _ in range(frames):
        machine.act_on("NOOP")
    return diffvcs.run(CART, machine.save(), ["NOOP"] * horizon)


def command(folder, *arguments, status=0):
    result = subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert result.returncode == status, result.stderr
    return result.stdout


@program
def test_explain(tmp_path):
    command(tmp_path, "explain", "demo", "--frame", 100, "--pixel", "80,100", "--out", "explain")
    found = diffvcs.explain(played(92, 8), "pixel:80,100", frame=100, directory=tmp_path)
    assert found == json.loads((tmp_path / "explain" / "explain.json").read_text())
    assert (tmp_path / "explain.html").read_text() == (tmp_path / "explain" / "explain.html").read_text()


def test_explain_an_object_and_the_score():
    run = played(92, 2)
    assert diffvcs.explain(run, object="P0")["lit_by"] == ["player 0"]
    assert diffvcs.explain(run, "score")["value"] == run.reward.sum()


@program
def test_attribute(tmp_path):
    command(tmp_path, "grad", "demo", "--frame", 100, "--horizon", 2, "--output", "screen", "--out", "grad")
    written = json.loads((tmp_path / "grad" / "grad.json").read_text())
    found = diffvcs.attribute(played(100, 2), "screen")
    assert found.value == written["value"] and found.report["forks"] == written["forks"]
    assert len(written["rom"]) == (found.drom != 0).any(axis=1).sum()
    for row in written["rom"]:
        np.testing.assert_allclose(found.drom[row["offset"]], row["bits"], rtol=1e-6)


@program
def test_score(tmp_path):
    command(tmp_path, "score", "demo", "--seed", 0, "--frame", 100, "--bits", 0, "--horizons", "1,3", "--methods", "bit,ste",
            "--out", "score.tsv")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "score.tsv").read_text().splitlines() if line[0] != "#"]
    places = diffvcs.input_places([0], ["up", "down", "left", "right", "fire", "reset", "select"])
    found = diffvcs.score(played(100, 3), places, methods=("bit", "ste"), horizons=(1, 3))
    for row in rows:
        at = ("bit", "ste").index(row[1]), (1, 3).index(int(row[2])), ("screen", "ram").index(row[3])
        assert [int(n) for n in row[11:14]] == [
            found.sums["pooled"][k][at] for k in ("in_truth", "in_estimate", "in_both")
        ]
        assert row[6] == "-" and np.isnan(found.cosine[at]) or abs(float(row[6]) - found.cosine[at]) < 1e-5
    assert len(rows) == 8


@program
def test_joystick(tmp_path):
    command(tmp_path, "joystick", "demo", "--actions", "NOOP*100", "--frames", 3, "--rows", "20:180", "--out", "stick")
    found = diffvcs.joystick(played(100, 3), (20, 180))
    table = (tmp_path / "stick" / "table.tsv").read_text().splitlines()[1:]
    for row in (line.split("\t") for line in table):
        at = diffvcs.study.ANSWERS.index(row[2]), diffvcs.study.CONTROLS.index(row[0].lower()), int(row[1]) - 1
        assert np.count_nonzero(found.maps[at]) == int(row[3])


@program
def test_edit(tmp_path):
    from diffvcs import png

    drawing = np.zeros((8, 16, 3), np.uint8)
    drawing[1::2] = 255
    png.write(tmp_path / "drawing.png", drawing)
    found = diffvcs.edit(played(100, 1), drawing, 0, 40, steps=3)
    command(tmp_path, "edit", "demo", "--frame", 100, "--region", "0,40,16,8", "--target", "drawing.png", "--steps", 3,
            "--out", "edit", status=int(found.wrong_after > 0))  # fmt: skip
    assert (tmp_path / "edit" / "patch.ips").read_bytes() == found.patch
    np.testing.assert_array_equal(diffvcs.apply_patch(CART.rom, found.patch), found.image)


@program
def test_steer(tmp_path):
    command(tmp_path, "steer", "demo", "--actions", "NOOP*100", "--goal", "ram:80=200", "--frames", 10, "--budget", 300,
            "--seeds", 2, "--out", "steer.tsv")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "steer.tsv").read_text().splitlines()[1:]]
    found = diffvcs.steer(played(100, 10), "ram:80=200", seeds=2, budget=300)
    for row, result in zip(rows, found, strict=True):
        assert row[1] == result.search and int(row[0]) == result.seed and int(row[3]) == result.frames
        assert float(row[2]) == result.value
        spelled = [part.split("*") for part in row[4].split(",")]
        assert [name for name, *times in spelled for _ in range(int(times[0]) if times else 1)] == result.actions


@program
def test_record_and_verify(tmp_path):
    command(tmp_path, "record", "demo", "--seed", 1, "--frames", 300, "--out", "demo.1.tsv")
    text = diffvcs.record(CART, 1, frames=300)
    assert text == (tmp_path / "demo.1.tsv").read_text()
    assert diffvcs.verify(CART, text, 1)["differs_at"] == -1
    assert diffvcs.verify(CART, text, 2)["differs_at"] >= 0
    assert "exact 300 frames" in command(tmp_path, "verify", "demo.1.tsv")


@program
def test_truth_pairs(tmp_path):
    command(
        tmp_path,
        "truth",
        "demo",
        "--frame",
        60,
        "--horizon",
        2,
        "--bits",
        "80.0,80.1,81.0",
        "--pairs",
        "--out",
        "t.tsv",
    )
    rows = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()[2:]]
    places = diffvcs.ram_places(CART, [0, 1])[[0, 1, 8]]
    found = diffvcs.truth_pairs(played(60, 2), places, [(0, 1), (0, 2), (1, 2)])
    assert [int(row[4]) for row in rows] == found.rows["pixels"][:, 0].tolist()


def test_slice_ends_in_what_was_loaded():
    frame = diffvcs.slice(played(60, 2))
    texts = [text.decode() for text in frame.rows["text"]]
    store = next(i for i in range(1, len(texts)) if texts[i - 1].startswith("LDA") and texts[i].startswith("STA"))
    found = diffvcs.slice(played(60, 2), [store])
    assert found.rows["slice"][store - 1] and not found.rows["slice"][store + 1 :].any()
    with pytest.raises(diffvcs.BadArgument, match="last frame"):
        diffvcs.slice(played(60, 2), [25000])


def test_history_returns_to_every_frame():
    run = played(60, 30)
    past = diffvcs.history(run, first=60, interval=7)
    assert past.frames == range(60, 90)
    for frame in (60, 61, 75, 89):
        machine, _ = past.at(frame)
        expected = run.start if frame == 60 else None
        if expected is not None:
            assert machine.tobytes() == expected.tobytes()
        else:
            np.testing.assert_array_equal(machine["ram"], run.ram[frame - 61])
    with pytest.raises(IndexError):
        past.at(90)


def test_rom_uses_name_the_first_instruction():
    uses = diffvcs.rom_uses(played(60, 2))
    assert {diffvcs.study.ROM_KINDS[k] for k in np.unique(uses["kind"])} >= {"data", "operand", "opcode"}


def test_directional_vjp_is_the_transpose_of_the_jvp():
    run = played(100, 3)
    dinput = np.zeros((3, 12), np.float32)
    dinput[0, 3] = 1
    weights = np.random.default_rng(1).normal(size=run.frames.shape[1:]).astype(np.float32)
    forward = diffvcs.jvp(CART, run.before, ["NOOP"] * 3, dinput=dinput, method="bit+fork")
    direction = diffvcs.Derivatives(CART, dinput=dinput)
    workspace = diffvcs.Workspace()
    for _ in range(2):  # a workspace that has been used makes no difference
        back = diffvcs.vjp_directional(run, direction, dframes=weights, method="bit+fork", workspace=workspace)
        assert abs((back.dinput * dinput).sum() - (forward.dframes[-1] * weights).sum()) < 1e-2
