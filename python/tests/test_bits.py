"""Runs as functions of floats: batches, products, and floats that are no machine."""

import numpy as np
import pytest

import diffvcs
from diffvcs import bits


@pytest.fixture
def batch(machine, random):
    state = np.repeat(machine.bits[None], 3, 0)
    rom = np.repeat(bits.rom_bits(machine.cart)[None], 3, 0)
    inputs = random.random((3, 2, 12)).astype(np.float32)
    rom[1, random.integers(rom.shape[1], size=20)] = 1  # another game
    rom[2] = random.integers(0, 2, rom.shape[1])  # and none at all
    return machine.cart, state, rom, inputs


@pytest.mark.parametrize("method", ["bit", "ste"])
def test_products_agree_for_every_run_of_a_batch(batch, random, method):
    cart, state, rom, inputs = batch
    tangents = [random.standard_normal(a.shape).astype(np.float32) for a in (state, rom, inputs)]
    moved = bits.jvp(cart, state, rom, inputs, tangents, method=method, side="mean")
    weights = [random.standard_normal(a.shape).astype(np.float32) for a in moved]
    worth = bits.vjp(cart, state, rom, inputs, weights, method=method, side="mean")
    for run in range(3):
        left = sum(np.sum(m[run].astype(float) * w[run]) for m, w in zip(moved, weights))
        right = sum(np.sum(t[run].astype(float) * g[run]) for t, g in zip(tangents, worth))
        size = sum(np.linalg.norm(m[run]) * np.linalg.norm(w[run]) for m, w in zip(moved, weights))
        assert abs(left - right) <= 1e-4 * size, run


def test_a_batch_is_its_runs(batch):
    cart, *given = batch
    whole = bits.forward(cart, *given)
    for run in range(3):
        alone = bits.forward(cart, *[a[run : run + 1] for a in given])
        assert all(np.array_equal(w[run], a[0]) for w, a in zip(whole, alone))


def test_the_state_after_a_run_is_that_of_the_machine(machine):
    """Every byte of it, the last one on the bus too."""
    cart, actions = machine.cart, [0, 3, 5]
    held = np.stack([diffvcs.inputs_of(a) for a in actions])
    _, after = bits.forward(cart, machine.bits[None], bits.rom_bits(cart)[None], held[None])
    assert np.array_equal(after[0], diffvcs.run(cart, machine.save(), actions).bits)


def test_random_states_run_or_are_refused(batch, random):
    cart, state, rom, inputs = batch
    outcomes = set()
    for _ in range(100):
        other = state[:1].copy()
        other[0, random.integers(other.shape[1], size=20)] = random.integers(0, 2, 20)
        try:
            pixels, after = bits.forward(cart, other, rom[:1], inputs[:1])
            bits.vjp(cart, other, rom[:1], inputs[:1], (pixels, after))
            outcomes.add("ran")
        except diffvcs.BadArgument:
            outcomes.add("refused")
    assert outcomes == {"ran", "refused"}


def test_shapes_are_checked(batch):
    cart, state, rom, inputs = batch
    for wrong in (
        (state[:2], rom, inputs),
        (state, rom[:, :-1], inputs),
        (state, rom, inputs[0]),
        (state, rom, inputs[:, :0]),
    ):
        with pytest.raises(ValueError):
            bits.forward(cart, *wrong)
