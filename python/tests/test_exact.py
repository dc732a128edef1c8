"""The exact Jacobian against diffvcs.truth, which runs each flip again."""

import numpy as np
import pytest

import diffvcs
import diffvcs.bits
import needs


@pytest.fixture(scope="module")
def example():
    machine = diffvcs.Machine("demo")
    for _ in range(100):
        machine.act_on("NOOP")
    return machine.cart, machine.save(), ["NOOP"] * 3


def truth_maps(example, places):
    cart, state, actions = example
    return diffvcs.truth(cart, state, actions, places, horizons=[1, 2, 3])


def test_entries_are_the_differences_of_the_truth(example):
    cart, state, actions = example
    places = np.concatenate([diffvcs.ram_places(cart), diffvcs.input_places(3), diffvcs.rom_places(cart, range(64))])
    j = diffvcs.jacobian(cart, state, actions, wrt=places, of="screen", horizons=[1, 2, 3])
    truth = truth_maps(example, places)
    assert (j.outcomes == "ran").all() and len(j.value) > 1000
    dense = j.dense().T.reshape(len(places), 3, cart.height, 160)
    np.testing.assert_array_equal(dense, truth.dframes)


def test_ram_entries_are_bytes(example):
    cart, state, actions = example
    j = diffvcs.jacobian(cart, state, actions, wrt="ram", of="ram")
    truth = diffvcs.truth(cart, state, actions, diffvcs.ram_places(cart))
    bits = truth.dram[:, 0] @ (2.0 ** np.arange(8))
    np.testing.assert_array_equal(j.dense().T, bits)


def test_room_for_entries_grows(example, monkeypatch):
    cart, state, actions = example
    whole = diffvcs.jacobian(cart, state, actions)
    monkeypatch.setattr("diffvcs.exact.FIRST_CAPACITY", 5)
    again = diffvcs.jacobian(cart, state, actions)
    np.testing.assert_array_equal(whole.row, again.row)
    np.testing.assert_array_equal(whole.value, again.value)


def test_scipy_has_the_same_matrix(example):
    needs.module("scipy")
    from scipy import sparse

    j = diffvcs.jacobian(*example)
    assert isinstance(j.coo(), sparse.coo_array)
    np.testing.assert_array_equal(j.coo().toarray(), j.dense())


def test_exact_products_are_those_of_the_matrix(example):
    cart, state, actions = example
    random = np.random.default_rng(1)
    weights, tangent = random.normal(size=(3, cart.height, 160)), np.zeros((128, 8))
    tangent[10], held = random.normal(size=8), np.zeros((3, 12))
    held[0, 3] = 1.5
    back = diffvcs.vjp(cart, state, actions, dframes=weights, method="exact")
    forth = diffvcs.jvp(cart, state, actions, dram=tangent, dinput=held, method="exact")
    left, right = (weights * forth.dframes).sum(), (back.dram * tangent).sum() + (back.dinput * held).sum()
    assert left == pytest.approx(right, rel=1e-4) and left != 0
    truth = truth_maps(example, diffvcs.ram_places(cart))
    np.testing.assert_allclose(back.dram.reshape(-1), (truth.dframes * weights).sum((1, 2, 3)), rtol=1e-4, atol=1e-2)


def test_hybrid_spends_its_budget_on_exact_effects(example):
    cart, state, actions = example
    weights = np.random.default_rng(2).normal(size=(3, cart.height, 160))
    exact = diffvcs.vjp(cart, state, actions, dframes=weights, method="exact")
    forked = diffvcs.vjp(cart, state, actions, dframes=weights, method="bit+fork", wrt=["state", "input"])
    rich = diffvcs.vjp(cart, state, actions, dframes=weights, method="hybrid", budget=1e9, wrt=["state", "input"])
    poor = diffvcs.vjp(cart, state, actions, dframes=weights, method="hybrid", budget=1e-3, wrt=["state", "input"])
    np.testing.assert_array_equal(rich.dram, exact.dram)
    np.testing.assert_array_equal(rich.dinput, exact.dinput)
    np.testing.assert_array_equal(poor.dstate, forked.dstate)
    assert rich.report["branches"] > 1024 and poor.report["branches"] == 0
    for wrong in ({"method": "bit", "budget": 5.0}, {"method": "hybrid", "budget": -1.0}):
        with pytest.raises(ValueError, match="budget"):
            diffvcs.vjp(cart, state, actions, dframes=weights, **wrong)


def test_the_machine_is_an_output(example):
    """A flip of any field changes what running the flipped state changes."""
    cart, state, actions = example
    run, places = diffvcs.run(cart, state, actions), diffvcs.state_places(cart, "grp")
    j = diffvcs.jacobian(cart, state, actions, wrt=["grp", "swchb", "ram"], of=["state", "cpu"])
    assert j.shape == (2 * cart.state_size, 8 * (2 + 1 + 128)) and (j.places[: len(places)] == places).all()
    assert {j.of[n - 4] for n in set(j.output)} <= {"state", "cpu"} and len(j.value)
    end, start = run.bits.reshape(-1, 8), np.unpackbits(run.start, bitorder="little")
    for number in np.unique(j.column)[::7]:
        place = j.places[number]
        slot = 8 * int(place["index"]) + int(place["bit"])
        flipped = start.astype(np.float32)
        flipped[slot] = 1 - flipped[slot]
        _, after = diffvcs.bits.forward(cart, flipped[None], diffvcs.bits.rom_bits(cart)[None], run.inputs[None])
        changed = np.flatnonzero((after[0].reshape(-1, 8) != end).any(1))
        mine = (j.column == number) & (j.output == 4)
        hidden = set(changed) - set(j.index[mine])
        names = {
            name
            for name in cart.state_dtype.names
            for b in hidden
            if 0 <= b - cart.offset(name) < cart.state_dtype[name].itemsize
        }
        assert set(j.index[mine]) <= set(changed)
        assert names <= {
            "bus",
            "instructions",
            "frames",
            "scanlines",
            "rng_draws",
            "timer_read_cycle",
            "blank_clock",
            "blank_first",
        } | {n for n in names if n.startswith("audio")}
        weights = 2.0 ** np.arange(8)
        np.testing.assert_array_equal(j.flipped[mine], after[0].reshape(-1, 8)[j.index[mine]] @ weights)


def test_sets_are_flipped_together(example):
    cart, state, actions = example
    ram = diffvcs.ram_places(cart)
    both = diffvcs.jacobian(cart, state, actions, wrt=[ram[80:82], ram[82:83]], of="ram")
    single = diffvcs.jacobian(cart, state, actions, wrt=ram[82:83], of="ram")
    assert both.shape[1] == 2 and list(both.ends) == [2, 3]
    np.testing.assert_array_equal(both.dense()[:, 1], single.dense()[:, 0])
    assert (both.value[both.column == 0] == (both.flipped - both.base)[both.column == 0]).all()


def test_a_vjp_weighs_any_field_and_rewards(example):
    cart, state, actions = example
    weights = np.zeros(8 * cart.state_size, np.float32)
    at = 8 * cart.offset("grp")
    weights[at : at + 16] = np.arange(16)
    back = diffvcs.vjp(cart, state, actions, dstate=weights, dreward=1.0, method="exact", wrt=["state", "input"])
    assert back.drom is None and back.dstate.any()
    held = np.zeros((3, 12))
    held[0] = 1
    forth = diffvcs.jvp(cart, state, actions, dinput=held, rewards=True, method="exact")
    left = weights @ forth.dstate + forth.dreward.sum()
    assert left == pytest.approx((back.dinput * held).sum(), rel=1e-5, abs=1e-5)


def test_careless_arguments_are_refused(example):
    cart, state, actions = example
    for wrong in ({"wrt": "rams"}, {"wrt": []}, {"of": "pixels"}, {"of": ()}, {"horizons": []}, {"horizons": [9]}):
        with pytest.raises(ValueError):
            diffvcs.jacobian(cart, state, actions, **wrong)
    for wrong in ({"wrt": "inputs"}, {"wrt": ()}, {"fork_window": 16}):
        with pytest.raises(ValueError):
            diffvcs.vjp(cart, state, actions, dram=np.ones(128), method="exact", **wrong)
