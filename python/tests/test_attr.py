"""Attribution methods: each runs, and the exact ones equal the truth."""

import numpy as np
import needs
import pytest

needs.module("captum")
needs.module("sklearn", "scikit-learn")

import diffvcs  # noqa: E402
from diffvcs import Pixels, Ram, attr  # noqa: E402


@pytest.fixture
def problem(machine):
    cart, state = machine.cart, machine.save()
    exact = diffvcs.truth(cart, state, [0, 0], diffvcs.ram_places(cart))
    cells = np.unique(np.flatnonzero(exact.rows["pixels"][:, 0]) // 8)[:4]  # cells that show, and some beside them
    features = np.concatenate(
        [diffvcs.ram_places(cart, sorted({*cells.tolist(), 1, 2})), diffvcs.input_places([0], ["left", "fire"])]
    )
    return attr.Problem(cart, state, [0, 0], features, Pixels(0, 0, 160, cart.height))


def test_the_number_is_that_of_the_run(problem):
    value = problem.forward(problem.bits[None])
    luminance = problem.cart.pixel_values("luminance")[problem.played.frames[-1]]
    assert np.isclose(value.item(), luminance.sum())


def test_occlusion_by_flips_is_the_truth(problem):
    signs = np.where(problem.bits.numpy() > 0.5, 1, -1)  # flipping a set bit clears it
    assert np.allclose(problem.occlusion() * signs, problem.truth(), atol=1e-2)
    assert problem.truth().any()


def test_a_gradient_is_the_vjp(problem):
    weights = np.ones((problem.cart.height, 160))
    want = diffvcs.vjp(problem.cart, problem.state, [0, 0], dframes=weights, values="luminance", method="exact")
    ram = problem.features["kind"] == 0
    cells = problem.features["index"][ram] - problem.cart.offset("ram")
    assert np.allclose(problem.gradient()[ram], want.dram[cells, problem.features["bit"][ram]])
    assert np.array_equal(problem.saliency(), np.abs(problem.gradient()))
    assert np.allclose(problem.gradient(), problem.truth(), atol=1e-2)  # exact is the default


@pytest.mark.parametrize("method", attr.METHODS)
def test_every_method_gives_a_number_for_each_place(problem, method):
    found = problem.attribute(method)
    assert found.shape == (len(problem.features),) and np.isfinite(found).all()
    assert problem.scores(np.abs(problem.truth()))["pearson"] == pytest.approx(1)


def test_other_numbers_can_be_explained(machine):
    cart, state = machine.cart, machine.save()
    cell = diffvcs.ram_places(cart, [3])
    byte = attr.Problem(cart, state, [0], cell, Ram(3))
    assert np.isclose(byte.forward(byte.bits[None]).item(), byte.played.ram[-1][3])
    rom = attr.Problem(cart, state, [0], diffvcs.rom_places(cart, [4092, 4093]), np.eye(cart.height, 160))
    assert rom.saliency().shape == (16,)
    for wrong in (
        Pixels(500, 0), Pixels(-1, 0, 4), Pixels(0, -3, 1, 5), Pixels(158, 0, 4), Pixels(0, 0, 0), Ram(-1), Ram(128), Ram(0, 8),
        Ram(0, -1), np.zeros((3, 3)),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            attr.Problem(cart, state, [0], cell, wrong)
    with pytest.raises(ValueError, match="method"):
        byte.attribute("astrology")


@pytest.mark.roms
def test_runs_that_turn_paddles_are_refused():
    machine = diffvcs.Machine("breakout")
    machine.act_on("FIRE")
    cart, state = machine.cart, machine.save()
    places, weights = diffvcs.ram_places(cart, [70]), np.ones((cart.height, 160), np.float32)
    with pytest.raises(ValueError, match="paddles turn in this run"):
        attr.Problem(cart, state, ["LEFT"] * 4, places, weights)
    still = attr.Problem(cart, state, ["NOOP", "FIRE"], places, weights)
    assert still.forward(still.bits[None]).item() == pytest.approx(still.played.frames[-1].sum(), rel=1e-6)
