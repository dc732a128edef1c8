"""Derivatives of all environments of a batch at once: those of single runs, on the CPU and as a GPU computes them."""

import numpy as np
import pytest

import diffvcs
from diffvcs.batch import ALEVectorInterface
from diffvcs.functional import CONTROLS

ENVS, FRAMES = 3, 2
CART = diffvcs.Cartridge("demo")
ACTIONS = [["NOOP", "RIGHT"], ["FIRE", "NOOP"], ["UPLEFT", "DOWN"]]


def batch(device="cpu"):
    """Environments that have played different actions; and the machine of each, as a Machine."""
    mode = {} if device == "cpu" else {"autoreset_mode": "SameStep"}
    envs = ALEVectorInterface(CART, ENVS, noop_max=0, use_fire_reset=False, ram=True, device=device, **mode)
    envs.reset(np.arange(ENVS), np.arange(ENVS))
    for _ in range(5):
        results = envs.step(np.arange(ENVS, dtype=np.int32))
    return envs, np.asarray(results[4]["ram"])


def alone(ram):
    """The same by single machines, which play the same frames."""
    machines = []
    for i in range(ENVS):
        machine = diffvcs.Machine(CART)
        machine.reset()
        for _ in range(20):
            machine.act_on(machine.minimal_actions[i])
        np.testing.assert_array_equal(machine.ram, ram[i])
        machines.append(machine)
    return machines


@pytest.mark.parametrize("method", ["bit", "ste", "bit+fork"])
def test_products_are_those_of_single_runs(method):
    envs, ram = batch()
    random = np.random.default_rng(3)
    weights = random.normal(size=(ENVS, FRAMES, CART.height, 160)).astype(np.float32)
    direction = random.normal(size=(ENVS, FRAMES, 12)).astype(np.float32)
    back = envs.vjp(ACTIONS, dframes=weights, method=method)
    forward = envs.jvp(ACTIONS, dinput=direction, method=method)
    assert back.drom.shape == (ENVS, CART.rom.size, 8) and (back.instructions > 0).all()
    for i, machine in enumerate(alone(ram)):
        single = diffvcs.vjp(CART, machine.save(), ACTIONS[i], dframes=weights[i], method=method)
        for name in ("dstate", "drom", "dinput"):
            np.testing.assert_allclose(getattr(back, name)[i], getattr(single, name), rtol=1e-4, atol=1e-4)
        single = diffvcs.jvp(CART, machine.save(), ACTIONS[i], dinput=direction[i], method=method)
        np.testing.assert_allclose(forward.dframes[i], single.dframes, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(forward.dstate_after[i], single.dstate, rtol=1e-4, atol=1e-4)


def test_a_device_computes_the_same():
    envs, _ = batch()
    there, _ = batch("cpu-as-gpu")
    weights = np.random.default_rng(3).normal(size=(ENVS, FRAMES, CART.height, 160)).astype(np.float32)
    here, back = envs.vjp(ACTIONS, dframes=weights), there.vjp(ACTIONS, dframes=weights)
    np.testing.assert_allclose(back.dinput.numpy(), here.dinput, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(back.drom.numpy(), here.drom, rtol=1e-4, atol=1e-4)
    direction = np.ones((ENVS, FRAMES, 12), np.float32)
    forward = there.jvp(ACTIONS, dinput=direction)
    np.testing.assert_allclose(
        forward.dframes.numpy(), envs.jvp(ACTIONS, dinput=direction).dframes, rtol=1e-4, atol=1e-4
    )


def test_controls_are_actions_by_bits():
    envs, _ = batch()
    controls = np.zeros((ENVS, FRAMES), CONTROLS)
    for i, row in enumerate(ACTIONS):
        for f, action in enumerate(row):
            controls["held"][i, f, 0] = int(diffvcs.inputs_of(action)[:5] @ [1, 2, 4, 8, 16])
    weights = np.ones((ENVS, FRAMES, CART.height, 160), np.float32)
    by_name, by_bits = envs.vjp(ACTIONS, dframes=weights), envs.vjp(controls=controls, dframes=weights)
    np.testing.assert_array_equal(by_name.drom, by_bits.drom)


def test_wrong_arguments_are_refused_in_words():
    envs, _ = batch()
    for problem, arguments in (
        ("actions or controls", {}),
        ("3 lists", {"actions": ACTIONS[:2]}),
        ("3 lists", {"actions": [["NOOP"], ["NOOP", "NOOP"], ["NOOP"]]}),
        ("dframes of shape", {"actions": ACTIONS, "dframes": np.zeros((ENVS, 1, CART.height, 160))}),
        ("no method", {"actions": ACTIONS, "method": "guess"}),
        ("CONTROLS", {"controls": np.zeros((ENVS, FRAMES))}),
    ):
        with pytest.raises(ValueError, match=problem):
            envs.vjp(**arguments)
    fresh = ALEVectorInterface(CART, ENVS)
    with pytest.raises(diffvcs.BadArgument, match="first reset"):
        fresh.vjp(ACTIONS)
    assert envs.env_bytes > 0
