"""The exact Jacobian against diffvcs.truth, which runs each flip again."""

import numpy as np
import pytest

import diffvcs
import needs


@pytest.fixture(scope="module")
def scene():
    machine = diffvcs.Machine("demo")
    for _ in range(100):
        machine.act_on("NOOP")
    return machine.cart, machine.save(), ["NOOP"] * 3


def truth_maps(scene, places):
    cart, state, actions = scene
    return diffvcs.truth(cart, state, actions, places, horizons=[1, 2, 3])


def test_entries_are_the_differences_of_the_truth(scene):
    cart, state, actions = scene
    places = np.concatenate([diffvcs.ram_places(cart), diffvcs.input_places(3), diffvcs.rom_places(cart, range(64))])
    j = diffvcs.jacobian(cart, state, actions, wrt=places, of="screen", horizons=[1, 2, 3])
    truth = truth_maps(scene, places)
    assert (j.outcomes == "ran").all() and len(j.value) > 1000
    dense = j.dense().T.reshape(len(places), 3, cart.height, 160)
    np.testing.assert_array_equal(dense, truth.dframes)


def test_ram_entries_are_bytes(scene):
    cart, state, actions = scene
    j = diffvcs.jacobian(cart, state, actions, wrt="ram", of="ram")
    truth = diffvcs.truth(cart, state, actions, diffvcs.ram_places(cart))
    bits = truth.dram[:, 0] @ (2.0 ** np.arange(8))
    np.testing.assert_array_equal(j.dense().T, bits)


def test_room_for_entries_grows(scene, monkeypatch):
    cart, state, actions = scene
    whole = diffvcs.jacobian(cart, state, actions)
    monkeypatch.setattr("diffvcs.exact.FIRST_CAPACITY", 5)
    again = diffvcs.jacobian(cart, state, actions)
    np.testing.assert_array_equal(whole.row, again.row)
    np.testing.assert_array_equal(whole.value, again.value)


def test_scipy_has_the_same_matrix(scene):
    needs.module("scipy")
    from scipy import sparse

    j = diffvcs.jacobian(*scene)
    assert isinstance(j.coo(), sparse.coo_array)
    np.testing.assert_array_equal(j.coo().toarray(), j.dense())


def test_exact_products_are_those_of_the_matrix(scene):
    cart, state, actions = scene
    random = np.random.default_rng(1)
    weights, tangent = random.normal(size=(3, cart.height, 160)), np.zeros((128, 8))
    tangent[10], held = random.normal(size=8), np.zeros((3, 12))
    held[0, 3] = 1.5
    back = diffvcs.vjp(cart, state, actions, dframes=weights, method="exact")
    forth = diffvcs.jvp(cart, state, actions, dram=tangent, dinput=held, method="exact")
    left, right = (weights * forth.dframes).sum(), (back.dram * tangent).sum() + (back.dinput * held).sum()
    assert left == pytest.approx(right, rel=1e-4) and left != 0
    truth = truth_maps(scene, diffvcs.ram_places(cart))
    np.testing.assert_allclose(back.dram.reshape(-1), (truth.dframes * weights).sum((1, 2, 3)), rtol=1e-4, atol=1e-2)


def test_careless_arguments_are_refused(scene):
    cart, state, actions = scene
    for wrong in ({"wrt": "rams"}, {"wrt": []}, {"of": "pixels"}, {"of": ()}, {"horizons": []}, {"horizons": [9]}):
        with pytest.raises(ValueError):
            diffvcs.jacobian(cart, state, actions, **wrong)
    with pytest.raises(ValueError, match="other fields"):
        diffvcs.vjp(cart, state, actions, dstate=np.ones(8 * cart.state_size), method="exact")
