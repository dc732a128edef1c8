"""The relaxed machine: its forward is the softened one, and its derivatives are those of that forward."""

import numpy as np
import needs
import pytest

import diffvcs
from diffvcs import Pixels, Ram, Relaxed, _c, jvp, vjp
from diffvcs.functional import WEIGHTS

SHARP = {"alpha": 60.0, "temperature": 0.02}  # where reads and branches are exact to the last digit


def test_the_sharpest_is_the_exact_machine(machine):
    relaxed = Relaxed(machine.cart, cast="none", **SHARP)
    relaxed.load(machine)
    for action in (0, 3, 3, 1):
        relaxed.hold(action)
        picture = relaxed.frame()
        machine.act_on(action)
        assert np.array_equal(picture, machine.screen())
        assert np.allclose(relaxed.values[relaxed.slots["ram"]], machine.ram, atol=1e-9)
        assert np.array_equal(relaxed.state["ram"], machine.ram) and relaxed.state["pc"] == machine.state["pc"]
    assert relaxed.report["wrong_reads"] == relaxed.report["wrong_branches"] == 0 < relaxed.report["reads"]


def test_reads_and_branches_are_the_formulas(random):
    relaxed = Relaxed("demo", alpha=3.0, temperature=0.7)
    cells = random.integers(0, 256, 40)
    for index in (0, 17, 39):
        weights = np.exp(-np.abs(np.arange(40) - index) / 0.7)
        assert relaxed.read(cells, index) == pytest.approx(weights @ cells / weights.sum(), rel=1e-12)
    gate = 1 / (1 + np.exp(-3.0))
    assert relaxed.branch(0xF000, -20, True) == pytest.approx(0xF000 - 20 * gate)
    assert relaxed.branch(0xF000, -20, False) == pytest.approx(0xF000 - 20 * (1 - gate))


@pytest.mark.parametrize("dispatch", ["hard", "distance"])
def test_derivatives_are_differences_of_the_relaxed_forward(machine, random, dispatch):
    """gradcheck: the map is piecewise smooth, so a central difference that two step sizes agree on is the derivative."""
    relaxed = Relaxed(machine.cart, cast="none", temperature=0.3, alpha=2.0, window=4, dispatch=dispatch)
    steps = 4 if dispatch == "hard" else 1

    def after(values):
        relaxed.load(machine)
        relaxed.values = values
        for _ in range(steps):
            relaxed.step()
        return relaxed.values[: relaxed.state_slots]

    def difference(at, direction, h):
        return (after(at + h * direction) - after(at - h * direction)) / (2 * h)

    compared = converged = 0
    for _ in range(60):
        machine.act_on(0)
        relaxed.load(machine)
        start = relaxed.values
        cells = np.r_[0:3, relaxed.slots["ram"], relaxed.slots["rom"]]
        start[cells] = np.clip(
            start[cells] + random.uniform(-0.3, 0.3, cells.size), 0.1, 254.9
        )  # away from kinks and ends
        direction = np.zeros_like(start)
        direction[cells] = random.standard_normal(cells.size)
        coarse, fine = (difference(start, direction, h) for h in (2e-5, 1e-5))
        relaxed.load(machine)
        relaxed.values = start
        found = relaxed.jvp(steps, direction)
        same = np.isclose(coarse, fine, rtol=1e-5, atol=1e-5)
        assert np.allclose(found[same], fine[same], rtol=1e-4, atol=1e-4)
        compared += found.size
        converged += same.sum()
    assert converged > 0.99 * compared, "differences mostly converge, so that most numbers were compared"


def test_products_agree(machine, random):
    relaxed = Relaxed(machine.cart, cast="none", temperature=0.2)
    relaxed.load(machine)
    tangent, weights = random.standard_normal(relaxed.input_slots), random.standard_normal(relaxed.state_slots)
    moved = relaxed.jvp(50, tangent)
    relaxed.load(machine)
    worth = relaxed.vjp(50, weights)
    assert moved @ weights == pytest.approx(tangent @ worth, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"cast": "none", **SHARP}], ids=["round", "none"])
def test_a_run_is_its_instructions(machine, random, options):
    """Frame by frame, by bits, is what the instructions' products give in one go, by bytes."""
    cart, actions, weights = machine.cart, [0, 0], random.standard_normal(128)
    by_run = vjp(cart, machine.save(), actions, dram=weights, method="relaxed", **options)
    begun = diffvcs.run(cart, machine.save(), actions).start.copy()
    relaxed = Relaxed(cart, **options)
    _c.lib.vcs_frame_begin(cart.handle, begun)
    relaxed.load(begun)
    relaxed.hold(0)
    d_state = np.zeros(relaxed.state_slots)
    d_state[relaxed.slots["ram"]] = weights
    worth = relaxed.vjp(by_run.report["instructions"], d_state)
    assert np.allclose(by_run.dram, np.outer(worth[relaxed.slots["ram"]], WEIGHTS), rtol=1e-5)
    assert np.allclose(by_run.drom, np.outer(worth[relaxed.slots["rom"]], WEIGHTS), rtol=1e-5)
    assert np.allclose(by_run.field("a")[0], worth[0] * WEIGHTS, rtol=1e-5) and by_run.dram.any() and by_run.drom.any()
    assert by_run.dinput.shape == (2, 12)


def test_products_of_runs_agree(machine, random):
    example = machine.cart, machine.save(), ["NOOP", "RIGHT", "RIGHT"]
    dram, drom = random.standard_normal((128, 8)), random.standard_normal((machine.cart.rom.size, 8))
    dinput, weights = random.standard_normal((3, 12)), random.standard_normal(128)
    dframes = random.standard_normal((3, machine.cart.height, 160))
    moved = jvp(*example, dram=dram, drom=drom, dinput=dinput, method="relaxed", temperature=0.05)
    worth = vjp(*example, dram=weights, dframes=dframes, method="relaxed", temperature=0.05)
    left = [(moved.dram @ WEIGHTS) * weights, moved.dframes * dframes]
    right = [dram * worth.dram, drom * worth.drom, dinput * worth.dinput]
    size = sum(np.abs(part).sum() for part in left + right)  # results are floats, sums of either sign
    assert sum(part.sum() for part in left) == pytest.approx(sum(part.sum() for part in right), abs=1e-6 * size)
    assert moved.dframes.any() and worth.dinput.any() and moved.report == worth.report


def test_a_counter_in_ram_is_exact_at_the_sharpest(machine):
    """A byte that is kept or counted up: its derivative is 1 a byte, as the truth is."""
    cart, state = machine.cart, machine.save()
    ram = diffvcs.run(cart, state, [0]).ram[-1].astype(int)
    exact = diffvcs.truth(cart, state, [0], diffvcs.ram_places(cart))
    effects = np.einsum("pcb,b->pc", exact.dram[:, 0], WEIGHTS)
    kept = [c for c in range(128) if all(effects[8 * c + b, c] == 2**b for b in range(8)) and ram[c] < 250]
    found = vjp(cart, state, [0], dram=np.eye(128)[kept[0]], method="relaxed", cast="none", **SHARP)
    assert kept and np.allclose(found.dram[kept[0]], WEIGHTS, rtol=1e-3)


def test_what_it_cannot_do_is_refused(machine):
    cart, state = machine.cart, machine.save()
    banks = np.zeros(8 * cart.state_size)
    banks[8 * cart.offset("bank")] = 1
    for call in (vjp, jvp):
        with pytest.raises(diffvcs.BadArgument, match="has no number"):
            call(cart, state, [0], dstate=banks, method="relaxed")
    for wrong in (
        {"temperature": 0.0},
        {"alpha": -1.0},
        {"cast": "up"},
        {"dispatch": "soft"},
        {"side": "mean"},
        {"window": -1},
    ):
        with pytest.raises(ValueError):
            vjp(cart, state, [0], dram=np.ones(128), method="relaxed", **wrong)
    with pytest.raises(diffvcs.BadArgument, match="no frames"):
        vjp(cart, state, [0], dram=np.ones(128), method="relaxed", bus="reduced")
    with pytest.raises(TypeError):
        vjp(cart, state, [0], dram=np.ones(128), method="relaxed", colour=1)
    relaxed = Relaxed(cart)
    for use in (
        lambda: relaxed.load(np.zeros(3, np.uint8)),
        lambda: relaxed.jvp(1, np.zeros(3)),
        lambda: setattr(relaxed, "values", [1]),
    ):
        with pytest.raises(ValueError):
            use()
    with pytest.raises(IndexError):
        relaxed.read([1, 2], 2)


def test_the_paper_s_tables_begin_here():
    """The reduced bus: instructions, but no frames."""
    relaxed = Relaxed("demo", bus="reduced", single=True)
    relaxed.load_reduced()
    assert relaxed.state["sp"] == 0xFD and not relaxed.state["ram"].any()
    for _ in range(100):
        relaxed.step()
    assert relaxed.report["instructions"] == 100


def test_pytorch_goes_backwards_through_it(machine):
    torch = needs.module("torch")
    import diffvcs.torch as vt

    cart, bits = machine.cart, vt.machine_bits(machine).requires_grad_()
    rom = vt.rom_bits(cart).requires_grad_()
    pixels, after = vt.run(cart, bits, vt.held(0, 0), rom, method="relaxed", temperature=0.05)
    assert np.array_equal(pixels.detach().numpy(), diffvcs.run(cart, machine.save(), [0, 0]).frames)
    (vt.ram(cart, after) * torch.from_numpy(WEIGHTS)).sum().backward()
    want = vjp(cart, machine.save(), [0, 0], dram=np.ones(128), method="relaxed", temperature=0.05)
    assert np.array_equal(bits.grad.numpy(), want.dstate) and np.array_equal(rom.grad.numpy(), want.drom.reshape(-1))
    bits.grad = None
    vt.run(cart, bits, vt.held(0), rom, method="relaxed", temperature=0.05)[0].sum().backward()
    weights = np.ones((1, cart.height, 160))
    want = vjp(cart, machine.save(), [0], dframes=weights, method="relaxed", temperature=0.05)
    assert np.array_equal(bits.grad.numpy(), want.dstate) and want.dstate.any()


def test_jax_too(machine):
    jax = needs.module("jax")
    import diffvcs.jax as vj

    cart, bits = machine.cart, vj.machine_bits(machine)
    options = {"method": "relaxed", "temperature": 0.05, "alpha": 7.0}

    def loss(b):
        return (vj.ram(cart, vj.run(cart, b, vj.held(0, 0), **options)[1]) * WEIGHTS).sum()

    want = vjp(cart, machine.save(), [0, 0], dram=np.ones(128), **options)
    assert np.array_equal(jax.jit(jax.grad(loss))(bits), want.dstate) and want.dstate.any()
    tangent = np.zeros_like(want.dstate)
    tangent[8 * cart.offset("ram") :][:1024] = 1
    forwards = lambda b: vj.run(cart, b, vj.held(0, 0), forwards=True, **options)[1]  # noqa: E731
    _, moved = jax.jvp(forwards, (bits,), (tangent,))
    assert np.array_equal(moved, jvp(cart, machine.save(), [0, 0], dram=np.ones((128, 8)), **options).dstate)


def test_attribution_takes_it(machine):
    needs.module("captum")
    from diffvcs import attr

    cart, features = machine.cart, diffvcs.ram_places(machine.cart, range(16))
    problem = attr.Problem(cart, machine.save(), [0], features, Ram(3), method="relaxed", temperature=0.05)
    want = vjp(cart, machine.save(), [0], dram=np.eye(128)[3], method="relaxed", temperature=0.05)
    assert np.allclose(problem.gradient(), want.dram[:16].reshape(-1), rtol=1e-5)
    assert problem.attribute("integrated_gradients", steps=4).shape == (128,)
    seen = attr.Problem(cart, machine.save(), [0], features, Pixels(0, 0, 160, 10), method="relaxed")
    assert np.isfinite(seen.occlusion()).all()  # which needs no gradient
    weights = np.zeros((cart.height, 160))
    weights[:10] = 1
    want = vjp(cart, machine.save(), [0], dframes=weights[None], method="relaxed")
    assert np.allclose(seen.gradient(), want.dram[:16].reshape(-1), rtol=1e-5)


def test_numbers_beyond_those_of_a_machine_do_not_overflow():
    relaxed = diffvcs.Relaxed("demo", alpha=1e38)
    assert relaxed.branch(65535, 2**31 - 1, True) == 65535 + 2**31 - 1
    relaxed.load(diffvcs.Machine("demo"))
    values = relaxed.values
    values[relaxed.slots["time"]] = 1e18
    relaxed.values = values
    assert relaxed.values[relaxed.slots["time"]] == 2**29 - 1  # three times as many clocks are a number of 32 bits
    for _ in range(300):
        relaxed.step()
