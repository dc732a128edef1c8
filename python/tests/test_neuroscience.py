"""Jonas and Kording's experiments: lesions are those of the benchmark, and each method finds what is planted for it."""

from types import SimpleNamespace

import numpy as np
import pytest

import diffvcs
from diffvcs import functional, study
from diffvcs.benchmark import __main__ as command, neuroscience, scores, suite


@pytest.fixture(scope="module")
def lesioned():
    """A healthy run of our own cartridge, and bits of code, RAM and registers."""
    cart, state = neuroscience.start("demo")
    actions = study.action_stream(1, neuroscience.START + neuroscience.FRAMES)[neuroscience.START :]
    played = functional.run(cart, state, actions)
    parts = neuroscience.parts(cart)
    executed = np.flatnonzero(study.rom_uses(played)["kind"] >= study.ROM_KINDS.index("operand"))
    code = diffvcs.rom_places(cart, executed.tolist())[::97]
    return SimpleNamespace(played=played, parts=parts, places=np.concatenate([code, parts["RAM"][::41], parts["CPU"]]))


def test_a_game_stops_where_the_benchmark_says_that_it_stops(lesioned):
    fates = neuroscience.fates(lesioned.played, lesioned.places)
    sets = [lesioned.places[i : i + 1] for i in range(len(lesioned.places)) if fates[i] >= 0]
    stops = suite._stops(lesioned.played, sets, "rerun")
    np.testing.assert_array_equal(fates[fates >= 0] == 2, stops == -1)
    assert {0, 1, 2} <= set(fates.tolist())


def test_every_bit_is_lesioned_once(lesioned):
    assert {kind: len(places) for kind, places in lesioned.parts.items()} == {
        "RAM": 1024, "CPU": 56, "RIOT": 32, "TIA": 8 * 37 + 16, "ROM": 8 * lesioned.played.cart.rom.size,
    }  # fmt: skip
    for places in lesioned.parts.values():
        assert len(np.unique(places)) == len(places)


def test_bytes_of_rom_that_are_never_read_do_nothing(lesioned):
    unread = np.flatnonzero(study.rom_uses(lesioned.played)["kind"] == 0)
    assert len(unread) > 8
    places = diffvcs.rom_places(lesioned.played.cart, unread[:: max(1, len(unread) // 16)].tolist())
    assert not neuroscience.fates(lesioned.played, places).any()


def test_granger_causality_finds_a_byte_that_another_follows():
    random = np.random.default_rng(2)
    ram = random.integers(0, 256, (400, 128)).astype(np.uint8)
    ram[1:, 7] = ram[:-1, 3]
    found = neuroscience.granger(SimpleNamespace(ram=ram))
    assert np.unravel_index(found.argmax(), found.shape) == (3, 7) and found[3, 7] > 10 * np.sort(found.ravel())[-2]


def test_factors_multiply_to_the_activity():
    random = np.random.default_rng(3)
    activity = random.random((60, 2)) @ random.random((2, 40))
    times, loads = neuroscience.nmf(activity, 2, rounds=400)
    assert (times >= 0).all() and np.abs(times @ loads - activity).max() < 0.02 * activity.max()


def test_overlap_counts_bits_by_the_games_that_they_stop():
    def game(name, *stopped):
        fates = {kind: [0] * 4 for kind in ("RAM", *neuroscience.REGISTERS)}
        for bit in stopped:
            fates["RAM"][bit] = 2
        return {"game": name, "lesions": fates}

    assert neuroscience.overlap([game("a", 0, 1), game("b", 1, 2), game("c", 2)]) == {"a": 1, "a + b": 1, "b + c": 1}


def test_exact_effects_are_those_of_one_flipped_bit():
    cart, state = neuroscience.start("demo")
    found = neuroscience.effects("demo")
    action = study.action_stream(1, neuroscience.START + 1)[neuroscience.START :]
    truth = diffvcs.truth(cart, state, action, diffvcs.ram_places(cart, [4, 9]))
    for i, cell in enumerate((4, 9)):
        changed = np.flatnonzero((truth.dram[8 * i : 8 * i + 8, 0] != 0).any((0, 2)))
        assert found["bytes"][cell, changed[changed != cell]].all()
    assert (found["brightness"] > 0).any() and not found["bytes"].diagonal().any()


def test_the_command_repeats_its_numbers(tmp_path, capsys):
    arguments = ["neuroscience", "--games", "demo", "--out", str(tmp_path)]
    assert command.main(arguments) == 0
    first = capsys.readouterr().out
    assert "lesions that stop the game" in first and "granger" in first
    kept = (tmp_path / "neuroscience" / "demo.json").read_bytes()
    assert command.main(arguments) == 0 and capsys.readouterr().out == first
    assert (tmp_path / "neuroscience" / "demo.json").read_bytes() == kept
    page = (tmp_path / "neuroscience.html").read_text()
    assert page.count("<svg") == 3 and "not transistors" in page and "data:image/png" in page


def test_a_tuned_bit_is_scored_by_what_it_does():
    row = neuroscience._score(np.array([0.9, 0.1, 0.5]), np.array([True, False, False]))
    assert row == {"auroc": 1.0, "ap": 1.0, "chance": pytest.approx(1 / 3), "causes": 1, "of": 3}
    assert scores.auroc(np.array([0.9, 0.1]), np.array([False, True])) == 0
