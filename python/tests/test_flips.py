"""flip: every result is the run with the flip minus the run without it; no_effect: why nothing changes."""

import numpy as np
import pytest

import diffvcs
from diffvcs import flip, input_places, no_effect, ram_places, rom_places

ACTIONS = ["NOOP"] * 3


@pytest.fixture(scope="module")
def played():
    machine = diffvcs.Machine("demo")
    machine.reset()
    for _ in range(300):
        machine.act_on("NOOP")
    return diffvcs.run(machine.cart, machine.save(), ACTIONS)


def flipped_run(played, place):
    """The same with nothing but `run`: a machine whose bit is flipped, or other actions."""
    cart, state = played.cart, played.before.copy()
    if place["kind"] == 2:
        name = diffvcs.INPUT_NAMES[place["index"]].upper()
        actions = list(ACTIONS)
        actions[place["frame"]] = name
        return diffvcs.run(cart, state, actions)
    machine = diffvcs.Machine(cart)
    machine.restore(state)
    cell = int(place["index"]) - cart.offset("ram")
    machine.set_ram(cell, int(machine.ram[cell]) ^ 1 << int(place["bit"]))
    return diffvcs.run(cart, machine.save(), ACTIONS)


def test_exact_flips_are_the_difference_of_two_runs(played):
    places = np.concatenate(
        [ram_places(played.cart, range(0, 24)), input_places([0, 1], ["up", "left", "right", "fire"])]
    )
    found = flip(played.cart, played.before, ACTIONS, places, played=played)
    seen = {1: 0, -1: 0}
    for i, place in enumerate(places):
        other = flipped_run(played, place)
        assert np.array_equal(found.dframe[i], other.frames[-1].astype(float) - played.frames[-1]), place
        bits = np.unpackbits(other.ram[-1][:, None], axis=1, bitorder="little").astype(float)
        was = np.unpackbits(played.ram[-1][:, None], axis=1, bitorder="little")
        assert np.array_equal(found.dram[i], bits - was), place
        seen[int(found.direction[i])] += found.pixels[i] > 0
    assert seen[1] and seen[-1], "bits that are set and bits that are clear both show"


def test_an_estimate_has_the_sign_of_the_change_whether_a_bit_is_set_or_clear(played):
    places = np.concatenate([ram_places(played.cart, range(0, 24))[::2], input_places([0])])
    exact = flip(played.cart, played.before, ACTIONS, places, played=played)
    guess = flip(played.cart, played.before, ACTIONS, places, method="bit+fork", played=played)
    cosines = np.array([a["cosine"] for a in guess.agreement(exact)])
    for direction in (1, -1):
        mine = cosines[(exact.direction == direction) & ~np.isnan(cosines)]
        assert len(mine) >= 3 and np.median(mine) > 0.9, (direction, mine)


def test_agreement_counts(played):
    places = input_places([0], ["right"])
    exact = flip(played.cart, played.before, ACTIONS, places, played=played)
    assert exact.agreement(exact)[0] == {"right": 52, "missed": 0, "too_many": 0, "cosine": pytest.approx(1)}


def test_flip_refuses_options_that_exact_has_not(played):
    with pytest.raises(ValueError, match="method exact has no fork_window"):
        flip(played.cart, played.before, ACTIONS, input_places([0]), fork_window=3)


@pytest.mark.parametrize("method", ["exact", "bit"])
def test_flip_refuses_places_that_truth_refuses(played, method):
    cart, given = played.cart, (played.cart, played.before, ACTIONS)
    for wrong in (
        {"index": 99999}, {"bit": 8}, {"kind": 1, "index": cart.rom.size}, {"kind": 2, "index": 3, "frame": len(ACTIONS)},
        {"kind": 2, "index": 12}, {"kind": 3},
    ):  # fmt: skip
        place = ram_places(cart, [0])[:1]
        for name, value in wrong.items():
            place[name] = value
        with pytest.raises(diffvcs.BadArgument) as theirs:
            diffvcs.truth(*given, place, played=played)
        with pytest.raises(diffvcs.BadArgument) as ours:
            flip(*given, place, method=method, played=played)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("method", ["exact", "bit"])
def test_flips_of_no_places_are_none(played, method):
    found = flip(played.cart, played.before, ACTIONS, ram_places(played.cart, []), method=method, played=played)
    assert found.dframe.shape == (0, *played.frames.shape[1:]) and found.dram.shape == (0, 128, 8)


def test_no_effect_says_why(played):
    cart = played.cart
    reasons = {}
    places = np.concatenate([ram_places(cart)[::16], rom_places(cart, [0x3F0]), input_places([0, 1])])
    for place, pixels in zip(places, flip(cart, played.before, ACTIONS, places, played=played).pixels, strict=True):
        if pixels == 0:
            reasons.setdefault(no_effect(played, place).split(" (")[0].split(":")[0][:40], []).append(place)
    text = "\n".join(reasons)
    for part in (
        "does not read the byte",
        "overwrites the byte before",
        "does not read this control",
        "effect has passed",
    ):
        assert part in text, (part, text)


def test_no_effect_takes_one_place(played):
    with pytest.raises(ValueError, match="one place, not 2"):
        no_effect(played, input_places([0, 1], ["up"]))
