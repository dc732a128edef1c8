"""Each command of the program and its Python function give the same result, on our own cartridge (docs/commands.md)."""

import inspect
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import diffvcs
import diffvcs.png
from diffvcs._c import lib
from diffvcs.study import SEARCHES
from needs import missing, module

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("DIFFVCS") or ROOT / "build" / "diffvcs")
CART = diffvcs.Cartridge("demo")
program = pytest.mark.usefixtures("built_program")


@pytest.fixture
def built_program():
    if not PROGRAM.exists():
        missing("program", f"{PROGRAM} is not built (make build)")


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


def command_error(folder, *arguments):
    result = subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 2
    return result.stderr


# A command, its Python function, and those options of the command that the function calls otherwise.
DEFAULTS = {
    "smooth": (diffvcs.smooth, {"seed": "draw-seed", "threads": "jobs"}),
    "grad": (diffvcs.attribute, {}),
    "explain": (diffvcs.explain, {}),
    "score": (diffvcs.score, {"threads": "jobs"}),
    "joystick": (diffvcs.joystick, {}),
    "edit": (diffvcs.edit, {}),
    "steer": (diffvcs.steer, {"threads": "jobs"}),
    "record": (diffvcs.record, {}),
    "trace": (diffvcs.trace, {}),
}
# None, or what the run decides.
NO_DEFAULT = {"horizons", "seed", "frame", "directory", "played", "object", "target", "dispatch"}


@program
@pytest.mark.parametrize("name", DEFAULTS)
def test_the_command_and_the_function_have_the_same_defaults(name, tmp_path):
    function, names = DEFAULTS[name]
    printed = dict(re.findall(r"^  --([\w-]+) .*\(default (.*)\)$", command(tmp_path, name, "--help"), re.M))
    same = []
    for parameter in inspect.signature(function).parameters.values():
        option = names.get(parameter.name, parameter.name)
        value = parameter.default
        if (
            value is inspect.Parameter.empty
            or option not in printed
            or (parameter.name in NO_DEFAULT and option == parameter.name)
        ):
            continue
        if isinstance(value, tuple):
            value = ",".join(value)
        elif isinstance(value, float):
            value = f"{value:g}"
        assert ("none" if value is None else str(value)) == printed[option], option
        same.append(option)
    assert same


@program
def test_the_page_about_commands_has_every_command(tmp_path):
    commands = re.findall(r"^  (\w+) +\w", command(tmp_path, "--help").partition("COMMAND [arguments]")[2], re.M)
    page = (ROOT / "docs" / "commands.md").read_text()
    assert len(commands) >= 17
    assert [name for name in commands if name != "diffvcs" and not re.search(rf"^\| `{name}\b", page, re.M)] == []


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
    command(
        tmp_path,
        "grad",
        "demo",
        "--frame",
        100,
        "--horizon",
        2,
        "--output",
        "screen",
        "--method",
        "bit+fork",
        "--out",
        "grad",
    )
    written = json.loads((tmp_path / "grad" / "grad.json").read_text())
    found = diffvcs.attribute(played(100, 2), "screen", method="bit+fork")
    assert found.value == written["value"] and found.report["forks"] == written["forks"]
    assert len(written["rom"]) == (found.drom != 0).any(axis=1).sum()
    for row in written["rom"]:
        np.testing.assert_allclose(found.drom[row["offset"]], row["bits"], rtol=1e-6)


GROUPS = ("ram", "rom", "input", "cpu", "pc", "tia", "riot", "cartram", "state")


@program
def test_groups_of_bits_have_the_same_names_everywhere(tmp_path):
    names = ", ".join(GROUPS)
    for name in ("grad", "truth", "smooth"):
        assert names in re.sub(r"\s+", " ", command(tmp_path, name, "--help")), name
    assert names in " ".join(diffvcs.vjp.__doc__.split())
    assert names in " ".join(diffvcs.jacobian.__doc__.split())
    assert names in " ".join(diffvcs.places.__doc__.split())
    run = played(100, 1)
    with pytest.raises(ValueError, match=f"groups of bits are {names}"):
        diffvcs.vjp("demo", run.before, ["NOOP"], dram=np.ones(128), wrt="inputs")
    with pytest.raises(ValueError, match=f"groups of bits are {names}"):
        diffvcs.jacobian("demo", run.before, ["NOOP"], wrt="inputs")
    with pytest.raises(ValueError, match=f"groups of bits are {names}"):
        diffvcs.attribute(run, "ram:80", wrt=["rom", "sprites"])
    assert f"takes {names}" in command_error(tmp_path, "grad", "demo", "--output", "screen", "--wrt", "inputs")
    assert f"groups of bits are {names}" in command_error(tmp_path, "truth", "demo", "--wrt", "inputs")


@program
@pytest.mark.parametrize("group", [name for name in GROUPS if name != "cartram"])
def test_a_group_of_bits_is_the_same_everywhere(group, tmp_path):
    """The flips of `truth --wrt`, the derivatives of `grad --wrt`, and Python's `wrt` of places, jacobian, vjp and attribute."""
    run = played(100, 2)
    command(tmp_path, "truth", "demo", "--frame", 100, "--horizon", 2, "--wrt", group, "--out", "t.tsv")
    rows = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()[2:]]
    assert ["\t".join(row[:2]) for row in rows] == diffvcs.study.place_labels(run, group)
    found = diffvcs.jacobian(CART, run.before, ["NOOP"] * 2, wrt=group)
    assert (found.places == diffvcs.places(run, group)).all()
    for row, changed in zip(rows, np.bincount(found.column[found.output == 0], minlength=len(rows)), strict=True):
        assert row[2] == "-" or int(row[2]) == changed
    assert [row[2] == "-" for row in rows] == (found.outcomes == "impossible").tolist()
    command(tmp_path, "grad", "demo", "--frame", 100, "--horizon", 2, "--output", "screen", "--method", "bit",
            "--wrt", group, "--out", "grad")  # fmt: skip
    written = json.loads((tmp_path / "grad" / "grad.json").read_text())
    keys = {"ram": "ram", "rom": "rom", "input": "input", "state": "state"}
    weights = np.ones(run.frames.shape[1:], np.float32)
    back = diffvcs.vjp(CART, run.before, ["NOOP"] * 2, dframes=weights, wrt=group, method="bit", side="mean")
    ours = diffvcs.attribute(run, "screen", wrt=[group], method="bit")
    for result in (back, ours):
        arrays = [array for array in (result.dstate, result.drom, result.dinput) if array is not None]
        assert len(arrays) == 1
        slots = arrays[0].reshape(-1) if group == "input" else arrays[0].reshape(-1, 8).any(axis=1)
        assert np.count_nonzero(slots) == len(written[keys.get(group, "registers")])
        assert set(written) & {"ram", "rom", "input", "registers", "state"} == {keys.get(group, "registers")}


@program
def test_score(tmp_path):
    command(tmp_path, "score", "demo", "--seed", 0, "--frame", 100, "--bits", 0, "--rom-bits", 0, "--states", 1,
            "--horizons", "1,3", "--methods", "bit,ste", "--out", "score.tsv")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "score.tsv").read_text().splitlines() if line[0] != "#"]
    places = diffvcs.input_places([0], ["left", "right"])
    found = diffvcs.score(played(100, 3), places, methods=("bit", "ste"), horizons=(1, 3))
    presses = [row for row in rows if row[2] == "left/right"]
    for row in presses:
        at = ("bit", "ste").index(row[1]), (1, 3).index(int(row[3])), ("screen", "ram").index(row[4])
        assert [int(n) for n in row[12:15]] == [
            found.sums["pooled"][k][at] for k in ("in_truth", "in_estimate", "in_both")
        ]
        assert row[7] == "-" and np.isnan(found.cosine[at]) or abs(float(row[7]) - found.cosine[at]) < 1e-5
    assert len(presses) == 8


@program
def test_joystick(tmp_path):
    command(tmp_path, "joystick", "demo", "--actions", "NOOP*100", "--horizon", 3, "--rows", "20:180", "--out", "stick")
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
    command(tmp_path, "steer", "demo", "--actions", "NOOP*100", "--goal", "ram:80=200", "--horizon", 10, "--budget", 300,
            "--seeds", 2, "--searches", "all", "--out", "steer.tsv")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "steer.tsv").read_text().splitlines()[1:]]
    found = diffvcs.steer(played(100, 10), "ram:80=200", searches=SEARCHES, seeds=2, budget=300)
    for row, result in zip(rows, found, strict=True):
        assert row[1] == result.search and int(row[0]) == result.seed and int(row[3]) == result.frames
        assert float(row[2]) == result.value
        spelled = [part.split("*") for part in row[4].split(",")]
        assert [name for name, *times in spelled for _ in range(int(times[0]) if times else 1)] == result.actions


def test_steer_to_objects():
    """The TIA draws the object where the goal says, by a byte that Meanings finds, too."""
    run = played(100, 60)
    found = diffvcs.steer(
        run, "object:player 0 x=90,object:player 0 y=61", searches=["horizon", "mixed"], seeds=2, budget=3000
    )
    assert all(result.value == 0 for result in found)
    for result in found:
        machine = diffvcs.Machine(CART)
        machine.reset()
        for action in ["NOOP"] * 100 + result.actions:
            machine.act_on(action)
        for name, pixel in (("player 0 x", 90), ("player 0 y", 61)):
            byte, value = machine.meanings.value(name, pixel)
            assert machine.ram[byte] == value
        machine.act_on("NOOP")  # which draws what the last frame decided
        things = machine.objects(playfield=False)
        assert ((things["kind"] == 0) & (things["x"] == 90) & (things["y"] == 61)).any()


def test_steer_by_bytes_or_objects():
    """With a slope of 1 a goal is the same by its pixel and by its value."""
    run = played(100, 30)
    names = ["random", "blind", "smooth", "evolution", "exact", "cem", "horizon", "mixed"]
    by_bytes, by_objects = (
        diffvcs.steer(run, goal, searches=names, seeds=2, budget=600) for goal in ("ram:8A=70", "object:player 0 x=70")
    )
    assert by_bytes == by_objects


@program
def test_record_and_verify(tmp_path):
    command(tmp_path, "record", "demo", "--seed", 1, "--frames", 300, "--out", "demo.1.tsv")
    text = diffvcs.record(CART, 1, frames=300)
    assert text == (tmp_path / "demo.1.tsv").read_text()
    assert diffvcs.verify(CART, text, 1)["differs_at"] == -1
    assert diffvcs.verify(CART, text, 2)["differs_at"] >= 0
    assert "exact 300 frames" in command(tmp_path, "verify", "demo.1.tsv")
    assert diffvcs.verify_file(tmp_path / "demo.1.tsv") == diffvcs.verify(CART, text, 1)


@program
def test_info(tmp_path):
    written = json.loads(command(tmp_path, "info", "demo", "--json"))
    assert (written["md5"], written["sha256"]) == (CART.md5, CART.sha256)
    assert (written["game"], written["mapper"], written["format"]) == (CART.game, CART.scheme, CART.format)
    assert written["profile"] == CART.profile and tuple(written["controllers"]) == CART.controllers
    assert written["size"] == CART.rom.size and written["picture"]["height"] == CART.height


@program
def test_run(tmp_path):
    printed = command(tmp_path, "run", "demo", "--seed", 1, "--frames", 300, "--zoom", 1, "--screenshot", "last.png")
    machine, score = diffvcs.Machine(CART), 0
    machine.reset()
    for action in diffvcs.action_stream(1, 300):
        if machine.over:
            machine.reset()
            score = 0
        score += machine.act_on(action)
    assert f"state     {machine.hash():016x}" in printed and f" {score} so far" in printed
    diffvcs.png.write(tmp_path / "ours.png", np.repeat(machine.rgb(), 2, axis=1))
    np.testing.assert_array_equal(pixels(tmp_path / "ours.png"), pixels(tmp_path / "last.png"))


def pixels(path):
    """The pixels of a PNG, by the library that wrote neither."""
    return module("matplotlib.image").imread(path)[..., :3]


@program
@pytest.mark.parametrize(
    "arguments, options",
    [
        (("--limit", 300), {"limit": 300}),
        (("--frame", 66, "--frames", 2), {"first": 66, "last": 67}),
        (("--frame", 20, "--seed", 1), {"first": 20, "seed": 1}),
    ],
)
def test_trace(tmp_path, arguments, options):
    printed = command(tmp_path, "trace", "demo", *arguments)
    rows = [line.split("\t") for line in printed.splitlines() if not line.startswith("#")]
    found = diffvcs.trace(CART, **options)
    assert len(rows) == len(found) > 0
    for row, ours in zip(rows, found):
        text = (
            f"{ours['number']} {ours['opcode']:02x} {ours['pc']:04x} {ours['a']:02x} {ours['x']:02x} {ours['y']:02x} "
        )
        text += (
            f"{ours['sp']:02x} {ours['p']:02x} {ours['cycles']} {ours['state_chain']:08x} {ours['cycle_chain']:08x} "
        )
        assert " ".join(row) == text + f"{ours['pc_before']:04x} {ours['text'].decode()}"


def test_a_traced_frame_is_the_frame_and_its_instructions():
    one, two = diffvcs.Machine(CART), diffvcs.Machine(CART)
    for action in ("NOOP", "RIGHT", "FIRE"):
        reward, rows = one.act_on_traced(action)
        assert reward == two.act_on(action) and one.hash() == two.hash()
        assert 1000 < len(rows) < 25000 and rows["frame_over"][-1] and not rows["frame_over"][:-1].any()
        np.testing.assert_array_equal(rows["pc"][:-1], rows["pc_before"][1:])
        assert {text[:3] for text in rows["text"]} >= {b"LDA", b"STA"}


MOVES = [
    ("step 1000", lambda d: d.step(1000)),
    ("back 700", lambda d: d.back(700)),
    ("line 3", lambda d: d.next_line(3)),
    ("frame 2", lambda d: d.next_frame(2)),
    ("back line", lambda d: d.back(1, "line")),
    ("continue", lambda d: d.resume()),
    ("back frame 2", lambda d: d.back(2, "frame")),
    ("step 3000", lambda d: d.step(3000)),
    ("reverse", lambda d: d.reverse()),
    ("back 20000", lambda d: d.back(20000)),
]


@program
def test_debug(tmp_path):
    breakpoint = "write COLUBK if scanline > 100"
    commands = [f"break {breakpoint}"] + [f"{text}\nprint [$80] + x" for text, _ in MOVES] + ["disassemble $F000"]
    printed = subprocess.run(
        [str(PROGRAM), "debug", "demo", "--frame", "60"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
    ).stdout
    debugger = diffvcs.Debugger(played(60, 1), 60)
    assert debugger.add_breakpoint(breakpoint) == 1 and debugger.breakpoints == [breakpoint]
    for text, move in MOVES:
        stop, state = move(debugger), debugger.state
        at, registers = stop.position, tuple(int(state[name]) for name in ("a", "x", "y", "sp"))
        line = f"frame {at.frame}.{at.instruction}  line {at.scanline} clock {at.clock}  "
        line += "A={:02X} X={:02X} Y={:02X} SP={:02X} ".format(*registers)
        assert line in printed, text
        printed = printed[printed.index(line) :]
        value = debugger.value("[$80] + x")
        assert f"\n{value} $" in printed and value == state["ram"][0] + state["x"]
        if text in ("continue", "reverse"):
            assert stop.reason == "breakpoint" and stop.breakpoint == 1
    assert stop.reason == "beginning" and (at.frame, at.instruction) == (60, 0)
    for address, instruction in debugger.disassemble(0xF000):
        assert f"{address:04X}" in printed and instruction in printed


def test_a_debugger_plays_what_a_run_plays():
    run = played(60, 5)
    debugger = diffvcs.Debugger(run, 60)
    debugger.next_frame(5)
    np.testing.assert_array_equal(debugger.state["ram"], run.ram[-1])
    assert debugger.hold("right,fire") == 66
    assert debugger.next_frame(2).position.frame == 67
    assert debugger.back(7, "frame").position.frame == 60
    for wrong in ("sideways", "right,,,up3"):
        with pytest.raises(diffvcs.BadArgument, match="there are up, down"):
            debugger.hold(wrong)
    for wrong in ("pc", "nonsense 3", "pixel 200,3"):
        with pytest.raises(diffvcs.BadArgument):
            debugger.add_breakpoint(wrong)
    with pytest.raises(diffvcs.BadArgument, match="no breakpoint 1"):
        debugger.delete_breakpoint(1)
    with pytest.raises(diffvcs.BadArgument, match="no unit"):
        debugger.back(1, "hour")


@program
def test_play(tmp_path):
    (tmp_path / "keys").write_text("20 right\n60 -right\n")
    result = subprocess.run(
        [str(PROGRAM), "play", "demo", "--fast", "--script", "keys", "--frames", "100", "--out", "play"], cwd=tmp_path,
        env={**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}, capture_output=True, text=True,
    )  # fmt: skip
    if "without SDL2" in result.stderr:
        missing("sdl", "built without SDL2")
    assert result.returncode == 0, result.stderr
    run = diffvcs.run(CART, played(0, 1).before, ["RIGHT" if 20 <= frame < 60 else "NOOP" for frame in range(101)])
    machine, _ = diffvcs.history(run).at(100)  # without what an environment does between frames
    state = np.frombuffer(machine.tobytes(), np.uint8)
    assert result.stdout.splitlines()[-1] == f"frame 100, state {lib.vcs_hash(CART.handle, state):016x}"


@program
def test_paper(tmp_path):
    command(tmp_path, "paper", "--only", "games", "--games", "demo", "--quick", "--out", "paper")
    cells = (tmp_path / "paper" / "sections" / "games.tsv").read_text().splitlines()[1].split("\t")[1:]
    settings = ((6, 0.14), (5.5, 0.145), (5, 0.14), (6, 0.15), (20, 0.1448), (20, 0.1446), (20, 0.1444))
    run = diffvcs.run(CART, diffvcs.Machine(CART).save(), ["NOOP"] * 60)
    for (alpha, temperature), cell in zip(settings, cells, strict=True):
        relaxed = diffvcs.Relaxed(CART, alpha=alpha, temperature=temperature, window=4, wrap=True)
        relaxed.load(run.start)
        relaxed.hold("NOOP")
        differs = next(
            (
                i + 1
                for i, ram in enumerate(run.ram)
                if (relaxed.frame(), relaxed.state)[1]["ram"].tobytes() != ram.tobytes()
            ),
            None,
        )
        assert cell == (str(differs) if differs else "exact")


@program
def test_truth(tmp_path):
    command(tmp_path, "truth", "demo", "--frame", 60, "--horizon", 2, "--bits", "80,rom:@1F0.4", "--out", "t.tsv")
    rows = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()[2:]]
    run = played(60, 2)
    places = diffvcs.places(run, "80,rom:@1F0.4")
    found = diffvcs.truth(CART, run.before, ["NOOP"] * 2, places)
    assert [row[:2] for row in rows] == [
        label.split("\t") for label in diffvcs.study.place_labels(run, "80,rom:@1F0.4")
    ]
    for row, ours in zip(rows, found.rows[:, 0], strict=True):
        assert [int(row[2]), int(row[3])] == [ours["pixels"], ours["ram_bytes"]]
        assert row[4:6] == [f"{ours['screen_crc']:08x}", f"{ours['ram_crc']:08x}"]
    command(tmp_path, "truth", "demo", "--frame", 60, "--horizon", 2, "--bits", "80", "--together", "--out", "all.tsv")
    row = (tmp_path / "all.tsv").read_text().splitlines()[2].split("\t")
    together = diffvcs.truth_sets(run, [places[:8], places[:1]])
    assert int(row[2]) == together.rows["pixels"][0, 0]
    assert together.rows["pixels"][1, 0] == found.rows["pixels"][0, 0]


@program
def test_smooth(tmp_path):
    command(tmp_path, "smooth", "demo", "--frame", 60, "--horizon", 2, "--bits", "80", "--output", "ram:80",
            "--samples", 20, "--out", "s.tsv")  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "s.tsv").read_text().splitlines()[1:]]
    run = played(60, 2)
    places = diffvcs.places(run, "80")
    chances = np.where(run.start.view(CART.state_dtype)[0]["ram"][0] >> np.arange(8) & 1, 0.9, 0.1)
    found = diffvcs.smooth(CART, run.before, ["NOOP"] * 2, places, chances, diffvcs.Ram(0), samples=20)
    assert abs(float(rows[0][2]) - found.value["mean"]) <= 1e-5 * abs(found.value["mean"])
    assert any(float(row[2]) for row in rows[1:])
    for row in rows[1:]:
        assert abs(float(row[2]) - found.gradient["mean"][int(row[1])]) <= 1e-5 * abs(float(row[2]))


@program
def test_effect(tmp_path):
    printed = command(tmp_path, "grad", "demo", "--frame", 100, "--horizon", 3, "--input", "right@1", "--out", "grad")
    found = diffvcs.effect(played(100, 3), "input:1.right")
    assert f"exact     {found.pixels.in_truth} pixels" in printed
    assert f"estimate  {found.pixels.in_estimate} pixels" in printed
    forward = diffvcs.jvp(
        CART, played(100, 3).before, ["NOOP"] * 3, dinput=np.eye(36)[15].reshape(3, 12), method="bit+fork"
    )
    np.testing.assert_array_equal(found.dframe, forward.dframes[-1])
    with pytest.raises(diffvcs.BadArgument, match="one place"):
        diffvcs.effect(played(60, 2), "80")


@program
def test_truth_pairs(tmp_path):
    command(tmp_path, "truth", "demo", "--frame", 60, "--horizon", 2, "--bits", "80.0,80.1,81.0", "--pairs",
            "--out", "t.tsv")  # fmt: skip
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


def test_objects_draw_what_is_missing_without_them():
    run = played(100, 1)
    boxes = diffvcs.object_boxes(run)
    assert "P0" in boxes
    for name, (x, y, width, height) in boxes.items():
        rows, columns = np.nonzero(diffvcs.frame_without(run, name) != run.frames[0])
        assert (columns.min(), rows.min()) == (x, y)
        assert (columns.max() + 1 - x, rows.max() + 1 - y) == (width, height)
    with pytest.raises(ValueError, match="P0, P1"):
        diffvcs.frame_without(run, "P9")


def test_places_by_name_are_those_by_number():
    run = played(60, 2)
    np.testing.assert_array_equal(diffvcs.places(run, "ram"), diffvcs.ram_places(CART))
    np.testing.assert_array_equal(diffvcs.places(run, "rom"), diffvcs.rom_places(CART))
    assert len(diffvcs.places(run, "ram,input")) == 1024 + 2 * 12
    with pytest.raises(diffvcs.BadArgument):
        diffvcs.places(run, "9C.8")


def test_comparison_of_maps():
    found = diffvcs.compare([[1, 0], [2, -1]], [[2, 1], [0, 1]])
    assert (found.in_truth, found.in_estimate, found.in_both) == (3, 3, 2)
    assert found.recall == found.precision == 2 / 3 and found.sign == 0.5
    assert abs(found.cosine - 1 / 6) < 1e-12
    with pytest.raises(diffvcs.BadArgument, match="same shape"):
        diffvcs.compare([1], [1, 2])


def test_a_patched_cartridge_keeps_the_games_rules():
    image = CART.rom.copy()
    image[0x10] ^= 1
    patched = diffvcs.Cartridge("demo", patch=diffvcs.make_patch(CART.rom, image))
    np.testing.assert_array_equal(patched.rom, image)
    assert patched.game == CART.game and diffvcs.Cartridge(image).game is None
    with pytest.raises(diffvcs.VCSError):
        diffvcs.Cartridge("demo", patch=b"no patch")


def test_save_files_describe_themselves(tmp_path):
    machine = diffvcs.Machine(CART)
    machine.act_on("NOOP")
    machine.save_file(tmp_path / "one.sav")
    found = diffvcs.Machine.save_info(tmp_path / "one.sav")
    assert found["profile"] == "ale" and found["sha256"] == CART.sha256
    assert found["frame_number"] == machine.frame_number
    with pytest.raises(diffvcs.VCSError):
        diffvcs.Machine.save_info(__file__)


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
