"""The JAX function: the run itself, its transformations, its derivatives."""

import numpy as np
import needs
import pytest

jax = needs.module("jax")
import jax.numpy as jnp  # noqa: E402

import diffvcs  # noqa: E402
import diffvcs.jax as vj  # noqa: E402


@pytest.fixture
def example(machine):
    return machine.cart, vj.machine_bits(machine), vj.held(0, 3)


def test_forward_is_the_run_also_compiled(machine, example):
    cart, bits, inputs = example
    played = diffvcs.run(cart, machine.save(), [0, 3])
    for function in (lambda b: vj.run(cart, b, inputs), jax.jit(lambda b: vj.run(cart, b, inputs))):
        pixels, after = function(bits)
        assert np.array_equal(pixels, played.frames)
        assert np.array_equal(vj.ram(cart, after).reshape(-1), np.unpackbits(played.ram[-1], bitorder="little"))


@pytest.mark.parametrize("method", ["bit", "bit+fork", "ste"])
def test_grad_is_the_vjp(machine, example, method):
    cart, bits, inputs = example
    weights = np.linspace(-1, 1, cart.height * 160, dtype=np.float32).reshape(cart.height, 160)

    def loss(b, rom, held):
        pixels, after = vj.run(cart, b, held, rom, method=method, wrt="state,rom,input")
        return (pixels[-1] * weights).sum() + vj.ram(cart, after)[5].sum()

    gradients = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(bits, vj.rom_bits(cart), inputs)
    dram = np.zeros((128, 8))
    dram[5] = 1
    everything = ["state", "rom", "input"]
    want = diffvcs.vjp(cart, machine.save(), [0, 3], dframes=weights, dram=dram, wrt=everything, method=method)
    for got, wanted in zip(gradients, (want.dstate, want.drom.reshape(-1), want.dinput)):
        assert np.array_equal(got, wanted)


def test_exact_is_that_of_the_bits(machine, example, random):
    """Method exact is vcs_bits_vjp's and vcs_bits_jvp's, which the tests of PyTorch compare with runs."""
    cart, bits, inputs = example
    weights = random.normal(size=(2, cart.height, 160)).astype(np.float32)
    gradients = jax.jit(jax.grad(lambda b, held: (vj.run(cart, b, held, method="exact")[0] * weights).sum(), (0, 1)))(
        bits, inputs
    )
    given = (np.asarray(bits)[None], diffvcs.bits.rom_bits(cart)[None], np.asarray(inputs)[None])
    want = diffvcs.bits.vjp(cart, *given, (weights[None], None), (True, False, True), method="exact")
    assert np.array_equal(gradients[0], want[0][0]) and np.array_equal(gradients[1], want[2][0]) and gradients[0].any()
    tangent = np.zeros(bits.shape, np.float32)
    tangent[8 * cart.offset("ram") : 8 * cart.offset("ram") + 80] = 1
    _, (moved, _) = jax.jvp(lambda b: vj.run(cart, b, inputs, method="exact", forwards=True), (bits,), (tangent,))
    assert np.array_equal(moved, diffvcs.bits.jvp(cart, *given, (tangent[None], None, None), method="exact")[0][0])


def test_what_is_not_wanted_is_zero(example):
    cart, bits, inputs = example

    def loss(b, rom, held):
        return vj.run(cart, b, held, rom, method="exact", wrt="input")[0].sum()

    state, rom, held = jax.grad(loss, argnums=(0, 1, 2))(bits, vj.rom_bits(cart), inputs)
    assert not state.any() and not rom.any() and held.any()


def test_jvp_is_the_jvp(machine, example, random):
    cart, bits, inputs = example
    tangent = random.standard_normal(bits.shape).astype(np.float32)
    _, (moved, _) = jax.jvp(lambda b: vj.run(cart, b, inputs, method="bit+fork", forwards=True), (bits,), (tangent,))
    want = diffvcs.jvp(cart, machine.save(), [0, 3], dstate=tangent, method="bit+fork")
    assert np.array_equal(moved, want.dframes) and moved.any()


def test_vmap_of_grad_over_64_states_is_a_loop(machine, random):
    """jax.vmap(jax.grad(loss)) over 64 states is [jax.grad(loss)(state) for each], bit for bit, also compiled."""
    cart, states = machine.cart, []
    for _ in range(64):
        machine.act_on(int(random.integers(18)))
        states.append(machine.bits)
    states, inputs = jnp.asarray(np.stack(states)), vj.held(0)
    weights = jnp.asarray(random.standard_normal((cart.height, 160)), jnp.float32)

    def loss(b):
        return (vj.run(cart, b, inputs)[0][0] * weights).sum()

    batch = jax.vmap(jax.grad(loss))(states)
    assert batch.shape == states.shape
    assert np.array_equal(batch, np.stack([jax.grad(loss)(state) for state in states]))
    assert np.array_equal(batch, jax.jit(jax.vmap(jax.grad(loss)))(states))
    assert len({np.asarray(g).tobytes() for g in batch}) > 32


def test_scan_carries_the_state(machine, example):
    cart, bits, _ = example
    actions = [0, 3, 3, 1, 4]

    def step(carry, inputs):
        pixels, after = vj.run(cart, carry, inputs[None])
        return after, pixels[0]

    after, frames = jax.jit(lambda b: jax.lax.scan(step, b, vj.held(*actions)))(bits)
    played = diffvcs.run(cart, machine.save(), actions)
    assert np.array_equal(frames, played.frames)
    whole = jax.grad(lambda i: vj.run(cart, bits, i)[0][-1].sum())(vj.held(*actions))
    chained = jax.grad(lambda i: jax.lax.scan(step, bits, i)[1][-1].sum())(vj.held(*actions))
    assert np.allclose(whole, chained, rtol=1e-4, atol=1e-2)


def gradients(example, weights):
    """Of weighed pixels of one frame, in RAM and in the image."""
    cart, bits, _ = example

    def loss(b, rom):
        return (vj.run(cart, b, vj.held(0), rom, side="mean")[0][0] * weights).sum()

    dbits, drom = jax.grad(loss, argnums=(0, 1))(bits, vj.rom_bits(cart))
    return np.asarray(vj.ram(cart, dbits)), np.asarray(drom).reshape(-1, 8)


def test_gradients_are_the_truth_where_first_order_is_exact(example, linear):
    dram, drom = gradients(example, linear.weights)
    assert np.array_equal(dram[linear.cells], linear.dram)
    assert np.array_equal(drom[linear.offsets], linear.drom)


def test_gradients_are_the_truth_for_most_bits(example, every_bit_of_ram, capsys):
    assert every_bit_of_ram.rate(gradients(example, every_bit_of_ram.weights)[0], capsys) > 0.93


def test_hybrid_has_its_budget(machine, example, random):
    cart, bits, inputs = example
    tangent, found = np.zeros(bits.shape, np.float32), []
    at = 8 * cart.offset("ram")
    tangent[at : at + 1024] = random.standard_normal(1024)
    for budget in (0.5, 200.0):
        options = {"method": "hybrid", "budget": budget, "threads": 1}
        _, (moved, _) = jax.jvp(
            lambda b, given=options: vj.run(cart, b, inputs, forwards=True, **given), (bits,), (tangent,)
        )
        assert np.array_equal(moved, diffvcs.jvp(cart, machine.save(), [0, 3], dstate=tangent, **options).dframes)
        found.append(np.asarray(moved))
    assert not np.array_equal(*found)


def test_values_may_be_an_array(example):
    cart, bits, inputs = example
    values = np.linspace(0, 1, 256, dtype=np.float32)
    indices = np.asarray(vj.run(cart, bits, inputs)[0]).astype(int)
    for given in (values, jnp.asarray(values), values.tolist()):
        assert np.array_equal(vj.run(cart, bits, inputs, values=given)[0], values[indices])


def test_wrong_shapes_and_states_are_refused(example):
    cart, bits, inputs = example
    with pytest.raises(ValueError):
        vj.run(cart, bits[:-1], inputs)
    with pytest.raises(ValueError):
        vj.run(cart, bits, inputs[0])
    with pytest.raises(Exception, match="none that a machine can have"):
        jax.block_until_ready(vj.run(cart, jnp.ones_like(bits), inputs))


@pytest.mark.roms
def test_the_vector_environment_in_a_scan():
    needs.module("gymnasium")
    first, second = (diffvcs.DiffVCSVectorEnv("pong", 3) for _ in range(2))
    handle, reset, step = second.xla()
    observations, _ = first.reset(seed=4)
    handle, (seen, info) = reset(handle, seed=4)
    assert np.array_equal(observations, seen) and info["env_id"].tolist() == [0, 1, 2]
    actions = np.random.default_rng(1).integers(0, 6, (20, 3)).astype(np.int32)
    _, results = jax.lax.scan(jax.jit(step), handle, jnp.asarray(actions))
    for i, action in enumerate(actions):
        want = first.step(action)
        for part, wanted in zip(results[:4], want[:4]):
            assert np.array_equal(part[i], wanted), i
