"""The attribution benchmark: its truth is re-execution's and ale-py's, its scores are right at both ends, its numbers repeat."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import diffvcs
import needs
from diffvcs.benchmark import METHODS, Problem, __main__ as command, agents, exact_effects, method
from diffvcs.benchmark import report, scores, suite, tasks

QUICK = {task.track: task for task in tasks("quick")}


def knows(effects):
    return lambda problem: effects


@pytest.mark.parametrize("track", QUICK)
def test_truth_is_that_of_the_frozen_suite_and_of_running_again(track):
    problem = Problem(QUICK[track])
    effects = exact_effects(problem)
    assert suite.checksum(problem, effects) == suite.frozen_checksum(problem.task)
    causes, rest = np.flatnonzero(effects), np.flatnonzero(effects == 0)
    assert len(causes) >= suite.LEAST and len(rest) >= suite.LEAST
    some = np.concatenate([causes[:12], rest[:12]])
    again = suite._changes(problem.task, problem.played, [problem.places[i : i + 1] for i in some], engine="rerun")
    np.testing.assert_array_equal(again * (1 - 2 * problem.x[some]), effects[some])


def test_both_engines_have_the_same_entries():
    problem = Problem(QUICK["ram-screen"])
    arguments = (problem.cart, problem.played.before, problem.played.actions[:2].tolist())
    places = diffvcs.ram_places(problem.cart, range(16))
    walked, again = (diffvcs.jacobian(*arguments, wrt=places, engine=engine) for engine in ("walk", "rerun"))
    assert len(walked.value) > 100
    for name in ("row", "column", "value", "base", "flipped"):
        np.testing.assert_array_equal(getattr(walked, name), getattr(again, name))
    with pytest.raises(ValueError, match="no engine 'fast'; there are walk, rerun"):
        diffvcs.jacobian(*arguments, engine="fast")


def sampled(tracks):
    """A task of each track, of another test game each time where there is one."""
    for number, track in enumerate(tracks):
        found = [task for task in tasks("test", (track,)) if task.game in suite.TEST]
        if found:
            yield found[number % len(found)]


@pytest.mark.roms
@pytest.mark.parametrize("task", list(sampled(suite.TRACKS)), ids=lambda task: task.name)
def test_truth_of_test_games_is_that_of_running_again(task):
    problem = Problem(task)
    effects = exact_effects(problem)
    assert suite.checksum(problem, effects) == suite.frozen_checksum(task)
    random = np.random.default_rng(5)
    some = np.concatenate([random.permutation(np.flatnonzero(part))[:6] for part in (effects, effects == 0)])
    again = suite._changes(task, problem.played, [problem.places[i : i + 1] for i in some], engine="rerun")
    np.testing.assert_array_equal(again * (1 - 2 * problem.x[some]), effects[some])


@pytest.mark.roms
@pytest.mark.parametrize("track", sorted({task.track for task in sampled(("ram-screen", "ram-score", "ram-action"))}))
def test_truth_of_ram_is_that_of_ale_py(track):
    """Plays the same actions with ale-py, sets a byte of RAM, and compares the sum of the box's pixels, the rewards, or the action."""
    ale_py = needs.module("ale_py")
    problems = (Problem(task) for task in tasks("test", (track,)) if task.game in suite.TEST)
    problem = next(p for p in problems if not p.played.over.any())  # ale-py stops when a game is over
    task = problem.task
    effects = exact_effects(problem)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", 123)
    ale.setInt("frame_skip", 1)
    ale.loadROM(str(diffvcs.roms.require(task.game)))
    ale.reset_game()
    legal = {action.value for action in ale.getLegalActionSet()}
    stream = [diffvcs.ACTION_NAMES.index(action) for action in suite._actions(task, 0, task.frame + task.frames)]
    for action in stream[: task.frame]:
        ale.act(action if action in legal else 0)
    kept = ale.cloneState()
    x, y, width, height = task.box

    def output(cell=None, byte=0):
        ale.restoreState(kept)
        if cell is not None:
            ale.setRAM(cell, byte)
        rewards, pictures = 0, []
        for action in stream[task.frame :]:
            rewards += ale.act(action if action in legal else 0)
            pictures.append(ale.getScreen())
        if task.output == "score":
            return rewards
        if task.output == "action":
            looks = suite.agent_looks(problem.played)
            return int(problem._agent.choice(agents.see(problem.cart, *(pictures[look] for look in looks))))
        return int(pictures[-1][y : y + height, x : x + width].sum(dtype=np.int64))

    base = output()
    ale.restoreState(kept)
    ram = ale.getRAM().copy()
    if task.output != "action":
        assert base == problem.base
    causes = np.flatnonzero(effects)
    for i in [*causes[:: max(1, len(causes) // 8)], *np.flatnonzero(effects == 0)[::128]]:
        cell, bit = divmod(int(i), 8)
        found = output(cell, int(ram[cell]) ^ (1 << bit))
        change = -float(found != base) if task.output == "action" else found - base
        assert change * (1 - 2 * problem.x[i]) == effects[i]


def test_a_method_that_knows_the_truth_scores_one():
    effects = exact_effects(Problem(QUICK["inputs-screen"]))
    found = scores.score_task(effects, effects)
    assert [found[name] for name in ("auroc", "ap", "precision")] == [1, 1, 1]
    assert found["cosine"] == pytest.approx(1) and found["pearson"] == pytest.approx(1)
    assert max(found["f"]) == 1
    reversed_signs = scores.score_task(-effects, effects)
    assert reversed_signs["ap"] == 1 and reversed_signs["cosine"] == pytest.approx(-1)


def test_flipping_each_source_is_the_truth():
    problem = Problem(QUICK["inputs-screen"])
    effects = exact_effects(problem)
    for name in ("occlusion/flip", "saliency/exact"):
        np.testing.assert_array_equal(METHODS[name].function(problem), effects)
        assert METHODS[name].is_truth
    assert problem.cost == 2 * len(problem) * problem.frames


def test_a_random_method_is_at_chance():
    random, causes = np.random.default_rng(3), np.arange(1000) < 100
    drawn = [scores.score_task(random.standard_normal(1000), causes) for _ in range(200)]
    assert np.mean([found["auroc"] for found in drawn]) == pytest.approx(0.5, abs=0.01)
    assert np.mean([found["ap"] for found in drawn]) == pytest.approx(0.1, abs=0.02)
    assert np.mean([found["precision"] for found in drawn]) == pytest.approx(0.1, abs=0.01)


def test_the_order_of_sources_gains_nothing_where_all_tie():
    causes = np.arange(50) < 10
    for effects in (causes, causes[::-1]):
        found = scores.score_task(np.zeros(50), effects)
        assert (found["auroc"], found["ap"], found["precision"]) == (0.5, 0.2, 0.2)


def result(split, curve):
    row = {"family": "yours", "is_truth": False, "cost": 1, "equal": 0.5}
    row["scores"] = {"auroc": 0.5, "ap": 0.5, "precision": 0.5, "cosine": 0, "pearson": 0, "f": curve}
    return {"split": split, "track": "ram-screen", "game": split, "methods": {"mine": row}}


def test_thresholds_come_from_development_tasks_only():
    best = np.zeros((2, len(scores.THRESHOLDS)))
    best[0, 5] = best[1, 9] = 1
    development, test = result("dev", best[0].tolist()), result("test", best[1].tolist())
    assert scores.fit_thresholds([development, test]) == {("mine", "ram-screen"): 5}
    assert scores.table([development, test])[0]["f"][0] == 0  # the test task's own best threshold is not used
    assert scores.table([test])[0]["f"] is None
    assert scores.table([development])[0]["f"] is None
    games = [set(suite.DEVELOPMENT), set(suite.TEST)]
    assert not games[0] & games[1] and {task.split for task in tasks("dev")} == {"dev"}


def test_there_are_many_methods_of_every_family():
    assert len(METHODS) >= 25
    assert {m.family for m in METHODS.values()} >= {"gradient", "occlusion", "sampling", "watching", "baseline"}


def test_the_same_numbers_twice(tmp_path):
    names = ["random", "saliency/bit", "smoothgrad/ste", "kernel-shap", "nmf", "activation-patching", "edge-detection"]
    first, second = (command.evaluate(QUICK["inputs-screen"], names, tmp_path / run) for run in "ab")
    assert first == second and set(first["methods"]) == set(names)


def test_two_tasks_at_once_have_the_same_files(tmp_path, capsys, monkeypatch):
    plugin = tmp_path / "mine.py"
    plugin.write_text("from diffvcs.benchmark import method\nmethod('held')(lambda problem: problem.x)\n")
    arguments = [
        "--tracks",
        "inputs-screen,inputs-score",
        "--methods",
        "random,saliency/bit,held",
        "--plugin",
        str(plugin),
    ]
    monkeypatch.setenv("PYTHONPATH", str(Path(diffvcs.__file__).parents[1]))
    printed = []
    try:
        for jobs in "12":
            (tmp_path / jobs).mkdir()
            monkeypatch.chdir(tmp_path / jobs)
            assert command.main(["run", *arguments, "--jobs", jobs]) == 0
            printed.append(capsys.readouterr().out)
    finally:
        METHODS.pop("held", None)
    files = [
        {p.relative_to(tmp_path / jobs): p.read_bytes() for p in (tmp_path / jobs).rglob("*.json")} for jobs in "12"
    ]
    assert files[0] == files[1] and len(files[0]) == 4 and printed[0] == printed[1]


def test_a_budget_limits_the_runs():
    for name in ("occlusion/zero", "lime", "group-flips", "saliency/bit", "smoothgrad/exact"):
        problem = Problem(QUICK["inputs-screen"], budget=16)
        METHODS[name].function(problem)
        assert problem.cost <= 16 * problem.frames


def test_another_truth_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "frozen_checksum", lambda task: "0123456789abcdef")
    with pytest.raises(RuntimeError, match="has checksum .* and the suite has 0123456789abcdef"):
        command.evaluate(QUICK["inputs-screen"], ["random"], tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_run_resumes_and_report_is_one_page(tmp_path, capsys, monkeypatch):
    arguments = ["--suite", "quick", "--out", str(tmp_path)]
    run = ["run", *arguments, "--tracks", "inputs-screen", "--methods", "random,saliency/bit"]
    assert command.main(run) == 0
    first = capsys.readouterr().out
    path = tmp_path / "results" / "inputs-screen-demo-0.json"
    kept = path.read_bytes()
    monkeypatch.setattr(command, "evaluate_method", lambda *_: pytest.fail("a method was run again"))
    assert command.main(run) == 0 and capsys.readouterr().out == first
    assert path.read_bytes() == kept
    monkeypatch.setattr(report, "EXAMPLE_METHODS", ("saliency/bit",))
    assert command.main(["report", *arguments]) == 0
    page = (tmp_path / "quick.html").read_text()
    assert page.count("<svg") == 2 and "data:image/png" in page and "http" not in page
    assert command.main(["run", "--methods", "none"]) == 1 and "no method 'none'" in capsys.readouterr().err
    assert command.main(["report", "--suite", "dev", "--out", str(tmp_path)]) == 1
    for jobs in ("-5", "0", "5000"):
        assert command.main(["run", "--jobs", jobs]) == 1
        assert f"--jobs is {jobs}, but goes from 1 to 4096" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    def interrupted(method, task, effects):
        if method.name == "random":
            return real(method, task, effects)
        raise KeyboardInterrupt

    real = command.evaluate_method
    monkeypatch.setattr(command, "evaluate_method", interrupted)
    arguments = ["run", "--out", str(tmp_path), "--tracks", "inputs-screen", "--methods", "random,nmf"]
    assert command.main(arguments) == 130
    assert "goes on from here" in capsys.readouterr().err
    kept = json.loads((tmp_path / "results" / "inputs-screen-demo-0.json").read_text())
    assert set(kept["methods"]) == {"random"}


def test_a_process_stops_before_its_next_method(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_stop", SimpleNamespace(is_set=lambda: True))
    with pytest.raises(KeyboardInterrupt):
        command._evaluate_task(QUICK["inputs-screen"], ["random"], tmp_path)
    assert not list(tmp_path.rglob("*.json"))


def test_a_plugin_adds_a_method(tmp_path, capsys):
    plugin = Path(tmp_path / "mine.py")
    plugin.write_text(
        "from diffvcs.benchmark import method\n\n@method('held')\ndef held(problem):\n    return problem.x\n"
    )
    try:
        arguments = ["--out", str(tmp_path), "--plugin", str(plugin)]
        assert command.main(["run", *arguments, "--tracks", "inputs-screen", "--methods", "held,random"]) == 0
        assert "held" in capsys.readouterr().out
    finally:
        METHODS.pop("held", None)


def test_quantus_reads_what_is_exported(tmp_path):
    assert (
        command.main(
            [
                "export",
                "--quantus",
                "--out",
                str(tmp_path),
                "--tracks",
                "inputs-screen",
                "--methods",
                "random,occlusion/flip",
            ]
        )
        == 0
    )
    path = tmp_path / "quantus" / "inputs-screen-demo-0.npz"
    with np.load(path) as file:
        found = dict(file)
    problem = Problem(QUICK["inputs-screen"])
    effects = exact_effects(problem)
    assert found["x_batch"].shape == found["s_batch"].shape == (1, 1, 15, 12)
    np.testing.assert_array_equal(found["s_batch"].reshape(-1), effects != 0)
    np.testing.assert_array_equal(found["effects"].reshape(-1), effects)
    np.testing.assert_array_equal(found["a_batch/occlusion/flip"].reshape(-1) * np.abs(effects).max(), effects)
    quantus = needs.module("quantus")
    for metric in (quantus.AUC, quantus.RelevanceRankAccuracy, quantus.PointingGame):
        arguments = {name: found[name] for name in ("x_batch", "y_batch", "s_batch")}
        score = metric(abs=True, disable_warnings=True)(
            model=None, a_batch=found["a_batch/occlusion/flip"], **arguments
        )
        assert score == [1]


def test_wrong_attributions_are_refused():
    with pytest.raises(ValueError, match="finite numbers, one for each source"):
        scores.score_task(np.array([1, np.nan]), np.array([1, 0]))
    with pytest.raises(ValueError, match="no suite"):
        tasks("all")
    assert method("unused")(knows(np.zeros(3)))(None).shape == (3,)
    METHODS.pop("unused")
