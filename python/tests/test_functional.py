"""Runs as pure functions, and derivatives beside the truth."""

import zlib

import numpy as np
import pytest

import diffvcs
from diffvcs import Pixels, Ram, input_places, jvp, ram_places, rom_places, run, smooth, truth, vjp


@pytest.fixture
def example(machine):
    return machine.cart, machine.save(), ["NOOP"] * 3


def test_run_is_what_the_machine_does(machine):
    actions = ["RIGHT", "FIRE", 0, 5]
    played = run(machine.cart, machine.save(), actions)
    for i, action in enumerate(actions):
        reward = machine.act_on(action)
        assert np.array_equal(played.frames[i], machine.screen())
        assert np.array_equal(played.ram[i], machine.ram)
        assert played.reward[i] == reward and played.lives[i] == machine.lives
    assert np.array_equal(played.bits, machine.bits)
    machine.restore(played.state)
    assert np.array_equal(machine.ram, played.ram[-1])


def test_run_is_pure(example):
    first, second = run(*example), run(*example)
    assert np.array_equal(first.frames, second.frames) and np.array_equal(first.state, second.state)
    assert np.array_equal(run(example[0], example[1], [3]).inputs[0], diffvcs.inputs_of("RIGHT"))


@pytest.mark.parametrize("method", ["bit", "bit+fork", "ste", "naive"])
def test_products_with_the_jacobian_agree(example, random, method):
    played = run(*example)
    dram, weights = random.standard_normal((128, 8)), random.standard_normal(played.frames.shape)
    drom = random.standard_normal((example[0].rom.size, 8))
    forward = jvp(*example, dram=dram, drom=drom, method=method, side="mean")
    backward = vjp(*example, dframes=weights, method=method, side="mean")
    left = np.sum(forward.dframes.astype(float) * weights)
    right = np.sum(dram * backward.dram) + np.sum(drom * backward.drom)
    assert np.isclose(left, right, rtol=1e-3, atol=1e-3 * np.abs(forward.dframes).sum() / 100)


def test_rewards_have_derivatives(example, random):
    dram, weights = random.standard_normal((128, 8)), random.standard_normal(3)
    forward = jvp(*example, dram=dram, rewards=True, side="mean")
    backward = vjp(*example, dreward=weights, side="mean")
    assert np.abs(forward.dreward).sum() > 0
    assert np.isclose(forward.dreward @ weights, np.sum(dram * backward.dram), rtol=1e-4)
    score = vjp(*example, dreward=1)
    assert np.array_equal(score.dram, vjp(*example, dreward=np.ones(3)).dram)
    for product, given in ((vjp, {"dreward": 1}), (jvp, {"rewards": True, "dram": dram})):
        with pytest.raises(ValueError, match="relaxed knows no rewards"):
            product(*example, method="relaxed", **given)


def test_ram_of_one_frame_agrees_with_the_truth(example):
    """Bits of RAM whose flip changes one pixel or none are where first order is exact most of the time."""
    cart, state, _ = example
    exact = truth(cart, state, [0], ram_places(cart))
    possible = exact.possible[:, 0]
    dframes = np.stack(
        [
            jvp(cart, state, [0], dram=np.eye(1024)[i].reshape(128, 8), method="bit").dframes[0]
            for i in range(0, 1024, 16)
        ]
    )
    wanted = exact.dframes[::16, 0][possible[::16]]
    found = dframes[possible[::16]]
    same = [np.array_equal(a, b) for a, b in zip(found, wanted)]
    assert np.mean(same) > 0.8, f"{sum(same)} of {len(same)}"


def test_vjp_is_the_truth_where_first_order_is_exact(machine, linear):
    for method in ("bit", "bit+fork"):
        found = vjp(machine.cart, machine.save(), [0], dframes=linear.weights, method=method, side="mean")
        assert np.array_equal(found.dram[linear.cells], linear.dram)
        assert np.array_equal(found.drom[linear.offsets], linear.drom)


def test_truth_is_a_flip(machine):
    cart, state = machine.cart, machine.save()
    exact = truth(cart, state, [0, 0], ram_places(cart, [40]))
    for bit in range(8):
        pictures = []
        for value in (0, 1):
            other = diffvcs.Machine(cart)
            other.restore(state)
            other.set_ram(40, int(other.ram[40]) & ~(1 << bit) | value << bit)
            pictures.append(run(cart, other.save(), [0, 0]).frames[-1].astype(int))
        assert np.array_equal(exact.dframes[bit, 0], pictures[1] - pictures[0])


def test_truth_has_horizons_maps_and_scores(example):
    cart, state, actions = example
    seen = []
    exact = truth(
        *example, rom_places(cart, range(100)), horizons=[1, 3], score=True, progress=lambda *a: seen.append(a)
    )
    assert exact.rows.shape == (800, 2) and exact.dram.shape == (800, 2, 128, 8)
    assert seen == [(512, 800), (800, 800)]
    assert np.array_equal((exact.dframes != 0).sum((2, 3)), exact.rows["pixels"])
    with pytest.raises(diffvcs.BadArgument):
        truth(*example, ram_places(cart), horizons=[4])


def test_smooth_is_the_truth_at_a_vertex(example):
    cart, state, actions = example
    places = input_places([0], ["left", "right"])
    exact = truth(*example, places, values="luminance")
    value = Pixels(0, 0, 160, example[0].height)
    estimate = smooth(*example, places, 0.0, value, samples=8)
    assert np.allclose(estimate.gradient["mean"], exact.dframes[:, 0].sum((1, 2)))
    assert np.all(estimate.gradient["half_width"] < 1e-6)
    ram = smooth(*example, places, 0.5, Ram(0), samples=20, method="score")
    assert ram.draws == 20 and ram.gradient.shape == (2,)


def test_weights_have_shapes(example):
    with pytest.raises(ValueError, match="dframes"):
        vjp(*example, dframes=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="method"):
        vjp(*example, dram=np.zeros(128), method="magic")
    with pytest.raises(ValueError, match="side"):
        vjp(*example, dram=np.zeros(128), side="left")
    with pytest.raises(ValueError):
        run(example[0], example[1], [])
    by_byte, by_bit = vjp(*example, dram=np.ones(128)), vjp(*example, dram=np.tile(2.0 ** np.arange(8), (128, 1)))
    assert np.array_equal(by_byte.dstate, by_bit.dstate)


def test_weights_of_another_shape_are_refused_and_flat_ones_are_the_same(example, random):
    cart, count = example[0], len(example[2])
    with pytest.raises(ValueError, match=r"dframes has shape \(160, 210\)"):
        vjp(*example, dframes=np.zeros((160, cart.height)))
    with pytest.raises(ValueError, match="dframes has shape"):
        vjp(*example, dframes=np.zeros((cart.height, 160, count)))
    with pytest.raises(ValueError, match=r"dram has shape \(8, 128\); this run needs \(128, 8\)"):
        vjp(*example, dram=np.zeros((8, 128)))
    for name, wrong in (("drom", (8, cart.rom.size)), ("dinput", (12, count)), ("dstate", (8, cart.state_size))):
        with pytest.raises(ValueError, match=f"{name} has shape"):
            jvp(*example, **{name: np.zeros(wrong)})
    dram, dinput = random.standard_normal((128, 8)), random.standard_normal((count, 12))
    found, flat = jvp(*example, dram=dram, dinput=dinput), jvp(*example, dram=dram.ravel(), dinput=dinput.ravel())
    assert np.array_equal(found.dframes, flat.dframes) and found.dframes.any()
    dstate = random.standard_normal((cart.state_size, 8))
    found, flat = jvp(*example, dstate=dstate), jvp(*example, dstate=dstate.ravel())
    assert np.array_equal(found.dstate, flat.dstate) and found.dstate.any()


def test_a_run_of_the_cartridge_without_a_patch_is_refused(example):
    cart, state, actions = example
    patch = b"PATCH" + (0x700).to_bytes(3, "big") + b"\0\1" + bytes([int(cart.rom[0x700]) ^ 0xFF]) + b"EOF"
    played = run(*example)
    other = diffvcs.Cartridge("demo", patch=patch)
    assert other.is_like(cart) and not np.array_equal(other.rom, cart.rom)
    for call in (
        lambda: vjp(other, state, actions, dram=np.ones(128), played=played),
        lambda: truth(other, state, actions, ram_places(cart, [0]), played=played),
    ):
        with pytest.raises(ValueError, match="`played` is a run of"):
            call()


def test_estimates_execute_what_the_machine_executes_where_a_program_runs_into_the_tia():
    """Between frames the last byte of RAM is on the bus, and the TIA leaves it in what the processor executes: CLC. With
    the byte of the last instruction it would be BRK, which jumps elsewhere."""
    program = bytes.fromhex(
        "a2ff9a a209bd22f09580ca10f8 a91885ff e690 a9028500850285028502 a9004cfeff 4c00f0eaea c6904c00f0"
    )
    cart = diffvcs.Cartridge(program.ljust(4092, b"\0") + b"\x00\xf0\x85\x00")
    machine = diffvcs.Machine(cart)
    state, before, actions = machine.save(), int(machine.state["instructions"]), ["NOOP"] * 6
    for action in actions:
        machine.act_on(action)
    executed = int(machine.state["instructions"]) - before
    cell = ram_places(cart, [0x10])
    exact = truth(cart, state, actions, cell).dram[:, 0, 0x10]
    for found in (jvp(cart, state, actions, dram=np.ones(128)), vjp(cart, state, actions, dram=np.ones(128))):
        assert found.report["instructions"] == executed
    assert exact.any()


def test_smooth_refuses_a_place_that_is_listed_twice(example):
    places = input_places([0, 0], ["left"])
    with pytest.raises(ValueError, match="smooth takes different places"):
        smooth(*example, places, 0.5, Ram(0), samples=4)


def test_smooth_takes_a_probability_for_each_place(example):
    places = input_places([0], ["left", "right"])
    for wrong in (np.full(3, 0.5), np.full((1, 2), 0.5), np.full(1, 0.5)):
        with pytest.raises(ValueError, match="probabilities are one number, or one for each of the 2 places"):
            smooth(*example, places, wrong, Ram(0), samples=4)


@pytest.mark.roms
@pytest.mark.parametrize("profile", ["ale", "xitari"])
def test_the_first_action_of_a_difficulty_is_that_of_the_derivatives(profile):
    """Before the first action the difficulty switches are not where it puts them; breakout's paddle depends on them."""
    cart = diffvcs.Cartridge("breakout", profile)
    machine = diffvcs.Machine(cart, difficulty=1 if profile == "ale" else 0)
    state, actions = machine.save(), ["NOOP"] * 4
    played = run(cart, state, actions)
    base = truth(cart, state, actions, ram_places(cart, [0]), played=played).base
    assert base["ram_crc"][0] == zlib.crc32(played.ram[-1]) and base["screen_crc"][0] == zlib.crc32(played.frames[-1])
    switch = truth(cart, state, actions, diffvcs.state_places(cart, "swchb")[6:7], played=played)
    assert switch.rows["pixels"].any()  # the game reads it


@pytest.mark.roms
def test_the_cannon_of_space_invaders_moves():
    """docs/joystick.md: RIGHT for a frame moves 20 pixels two frames later, and the derivative is the same 20."""
    machine = diffvcs.Machine("space_invaders")
    machine.reset()
    for _ in range(1050):
        machine.act_on(0)
    state, held = machine.save(), np.zeros((2, 12))
    held[0, diffvcs.INPUT_NAMES.index("right")] = 1
    moved = jvp(machine.cart, state, [0, 0], dinput=held, method="bit+fork")
    exact = truth(machine.cart, state, [0, 0], input_places([0], ["right"]))
    assert exact.rows["pixels"][0, 0] == 20
    assert np.array_equal(moved.dframes[-1], exact.dframes[0, 0])
    assert not jvp(machine.cart, state, [0, 0], dinput=held, method="bit").dframes.any()


@pytest.mark.roms
def test_paddles_are_where_the_game_has_them():
    machine = diffvcs.Machine("pong")
    machine.reset()
    for _ in range(60):
        machine.act_on("RIGHT")
    played = run(machine.cart, machine.save(), ["LEFT"] * 4)
    assert len(set(played.controls["paddle"][:, 0])) == 4
    again = truth(machine.cart, machine.save(), ["LEFT"] * 4, input_places([0], ["fire"]), played=played)
    assert again.base["ram_crc"][0] == zlib.crc32(played.ram[-1].tobytes())


@pytest.mark.roms
def test_a_knob_held_to_the_left_moves_the_paddle():
    machine = diffvcs.Machine("pong")
    machine.reset()
    for _ in range(60):
        machine.act_on("NOOP")
    example = machine.cart, machine.save(), ["NOOP"] * 3
    exact = truth(*example, input_places([0], ["left"]), values="index")
    held = np.zeros((3, len(diffvcs.INPUT_NAMES)))
    held[0, diffvcs.INPUT_NAMES.index("left")] = 1
    found = jvp(*example, dinput=held, method="bit+fork").dframes[-1]
    assert exact.dframes[0, 0].any()
    assert np.array_equal(found != 0, exact.dframes[0, 0] != 0)
