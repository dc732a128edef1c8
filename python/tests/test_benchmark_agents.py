"""Agents of the benchmark: a network of whole numbers, its derivatives, its training, and the truth of its saliency maps."""

import json

import numpy as np
import pytest

import diffvcs
from diffvcs.benchmark import __main__ as command, agents, maps, scores, suite


@pytest.fixture(scope="module")
def agent():
    return agents.load("demo")


@pytest.fixture(scope="module")
def decision():
    return maps.decisions("demo", 1)[0]


def test_cells_are_sums_of_grey_pixels(random):
    cart = diffvcs.Cartridge.find("demo")
    pictures = random.integers(0, 256, (2, 210, 160)).astype(np.uint8)
    seen, grey = agents.see(cart, *pictures), agents.grey(cart)
    assert seen.shape == (840,) and seen.dtype == np.int64
    assert seen[420 + 20 * 3 + 7] == grey[pictures[1, 30:40, 56:64]].sum()
    both = agents.see(cart, np.array([pictures[0]] * 3), np.array([pictures[1]] * 3))
    np.testing.assert_array_equal(both, [seen] * 3)
    spread = agents.on_pixels(np.arange(840), 210)
    assert spread[1, 39, 63] == 420 + 20 * 3 + 7 and spread.shape == (2, 210, 160)


def test_preferences_are_whole_numbers_in_every_order_of_addition(agent, random):
    cells = random.integers(0, agents.GREY, (50, 840))
    found, order = agent.preferences(cells), random.permutation(840)
    into = cells[:, order].astype(object) @ agent.first[:, order].T.astype(object) + agent.bias.astype(object)
    exact = np.maximum(into, 0) @ agent.second.T.astype(object) + agent.last_bias.astype(object)
    assert (found == exact).all() and (found == np.rint(found)).all()
    assert np.abs(exact).max() < 2**53


def test_the_derivative_is_that_of_small_steps(agent, decision):
    cells = decision.cells.astype(float)
    gradient = agent.gradient(cells, decision.wanted)
    for cell in np.argsort(-np.abs(gradient))[:5]:
        moved = cells.copy()
        moved[cell] += 1e-3
        slope = (decision.margin(moved) - decision.margin(cells)) / 1e-3
        assert slope == pytest.approx(gradient[cell], rel=1e-3)


def test_deeplift_adds_up_to_the_change_from_a_black_picture(agent, decision):
    found = agent.gradient(decision.cells, decision.wanted, "deeplift") @ decision.cells
    assert found == pytest.approx(decision.margin(decision.cells) - decision.margin(np.zeros(840)), rel=1e-9)


def test_an_unknown_rule_and_game_are_refused(agent, decision):
    with pytest.raises(ValueError, match="no rule 'lrp'; there are derivative, guided, deeplift"):
        agent.gradient(decision.cells, decision.wanted, "lrp")
    with pytest.raises(FileNotFoundError, match="no agent that plays chess; there are .*demo"):
        agents.load("chess")


def test_play_repeats_and_begins_the_same_however_long_it_goes_on(agent):
    actions, score = agents.play(agent, 3, 200)
    assert agents.play(agent, 3, 200) == (actions, score)
    assert agents.play(agent, 3, 80)[0] == actions[:80]
    assert agents.play(agent, 4, 200)[0] != actions


def test_the_agent_plays_better_than_chance(agent):
    played, random = (
        sum(agents.play(agent, seed, 1500, policy, True)[1] for seed in range(3)) for policy in ("sample", "random")
    )
    assert played > 1.5 * random


def test_training_repeats_from_its_seed(tmp_path):
    first, second = (agents.train("demo", 5, 4096) for _ in range(2))
    for name in agents.NAMES:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    agents.save(first, tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as kept:
        np.testing.assert_array_equal(kept["first"], first.first)
    assert first.first.dtype == np.int8 and (tmp_path / "agent.npz").stat().st_size < 40_000


def test_policy_gradient_is_that_of_small_steps(random):
    """The objective of one part of a round, differentiated by small steps of some weights."""
    w, x = agents._start(3, random), random.standard_normal((40, 840)).astype(np.float32)
    action, gain, returns = random.integers(0, 3, 40), random.standard_normal(40), random.standard_normal(40)
    old = np.log(random.uniform(0.2, 0.5, 40))

    def objective():
        _, logs, value = agents._forward(w, x.astype(float))
        ratio, norm = np.exp(logs[np.arange(40), action] - old), (gain - gain.mean()) / (gain.std() + 1e-8)
        clipped = np.clip(ratio, 1 - agents.CLIP, 1 + agents.CLIP)
        entropy = -(np.exp(logs) * logs).sum(1)
        gained = np.minimum(ratio * norm, clipped * norm)
        return (-gained - agents.ENTROPY * entropy + 0.25 * (value - returns) ** 2).mean()

    gradient = agents._gradient(w, x, action, old, gain, returns)
    for name, at in (("second", (1, 4)), ("last_bias", (2,)), ("value", (3,)), ("first", (5, 100)), ("bias", (7,))):
        kept = w[name][at]
        values = []
        for step in (1e-5, -1e-5):
            w[name][at] = kept + step
            values.append(objective())
        w[name][at] = kept
        assert gradient[name][at] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-3, abs=1e-7)


def test_the_truth_of_a_cell_is_that_of_running_again(decision):
    """Sums by hand over all flips of some bytes, each run again, one cell replaced at a time."""
    run, places = decision.run, diffvcs.ram_places(decision.run.cart)
    base, total = decision.margin(decision.cells), np.zeros(420)
    some = np.arange(0, 1024, 37)
    for pictures in suite.flipped_views(run, [places[i : i + 1] for i in some], engine="rerun"):
        seen = agents.see(run.cart, *pictures)
        for cell in np.flatnonzero((seen != decision.cells).reshape(2, 420).any(0)):
            changed = decision.cells.copy()
            changed[[cell, 420 + cell]] = seen[[cell, 420 + cell]]
            total[cell] += abs(decision.margin(changed) - base)
    kept = maps.ram_places
    maps.ram_places = lambda cart: kept(cart)[some]
    try:
        effects, _ = maps.truth(decision)
    finally:
        maps.ram_places = kept
    assert np.count_nonzero(total) > 3
    np.testing.assert_allclose(effects * len(some), total, rtol=1e-12)


def test_a_map_that_is_the_truth_scores_one_and_random_ones_are_at_chance(decision, random):
    effects, _ = maps.truth(decision)
    assert scores.auroc(effects, effects > 0) == 1
    assert maps.spearman(effects[effects > 0], effects[effects > 0] * 7) == pytest.approx(1)
    drawn = [random.random(420) for _ in range(200)]
    assert np.mean([scores.auroc(d, effects > 0) for d in drawn]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([maps.spearman(d[effects > 0], effects[effects > 0]) for d in drawn]) == pytest.approx(0, abs=0.03)


def test_all_maps_are_there_and_removing_an_object_is_what_the_machine_draws(decision):
    found = maps.maps(decision)
    assert tuple(found) == maps.MAPS
    assert all(
        values.shape == (420,) and (values >= 0).all() and np.isfinite(values).all() for values in found.values()
    )
    assert maps.objects_seen(decision) and maps.overlay(decision, found["gradient"]).shape == (210, 160, 3)


def test_shuffled_weights_change_maps_of_the_network_and_no_others(decision):
    other, found = maps.shuffled(decision), maps.explain(decision)["maps"]
    assert sorted(other.agent.first.ravel()) == sorted(decision.agent.first.ravel())
    assert (other.agent.first != decision.agent.first).any() and (other.agent.second != decision.agent.second).any()
    assert found["edges"]["shuffled"] == pytest.approx(1) and found["movement"]["shuffled"] == pytest.approx(1)
    assert abs(found["gradient"]["shuffled"]) < 0.5


def test_ranks_share_places():
    assert maps.spearman([1, 2, 2, 3], [1, 2, 2, 3]) == pytest.approx(1)
    assert maps.spearman([1, 1], [1, 2]) == 0


def test_the_commands(tmp_path, capsys):
    arguments = ["agents", "--games", "demo", "--decisions", "2", "--out", str(tmp_path)]
    assert command.main(arguments) == 0
    first = capsys.readouterr().out
    assert "perturbation" in first and "demo, 2 decisions" in first
    assert len(json.loads((tmp_path / "agents" / "demo.json").read_text())) == 2
    page = (tmp_path / "agents.html").read_text()
    assert page.count("data:image/png") == 1 + len(maps.MAPS)
    assert command.main(arguments) == 0 and capsys.readouterr().out == first
    train = ["train", "--game", "demo", "--decisions", "2048", "--out", str(tmp_path)]
    assert command.main(train) == 0 and "sampled" in capsys.readouterr().out
    assert (tmp_path / "agents" / "demo.npz").is_file()
    assert command.main(["agents", "--games", "chess", "--out", str(tmp_path)]) == 1
