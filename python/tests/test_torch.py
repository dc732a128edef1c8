"""The PyTorch operator: PyTorch's own checks, and derivatives beside the truth."""

import numpy as np
import needs
import pytest

torch = needs.module("torch")

import diffvcs  # noqa: E402
import diffvcs.torch as vt  # noqa: E402


@pytest.fixture
def example(machine):
    return machine.cart, vt.machine_bits(machine), vt.held(0, 3)


def test_forward_is_the_run(machine, example):
    cart, bits, inputs = example
    pixels, after = vt.run(cart, bits, inputs)
    played = diffvcs.run(cart, machine.save(), [0, 3])
    assert np.array_equal(pixels.numpy(), played.frames)
    assert np.array_equal(vt.ram(cart, after).numpy().reshape(-1), np.unpackbits(played.ram[-1], bitorder="little"))
    again, _ = vt.run(cart, after, vt.held("UP"))
    assert np.array_equal(again[0].numpy(), diffvcs.run(cart, played.state, ["UP"]).frames[0])


def test_opcheck(example):
    cart, bits, inputs = example
    arguments = [t[None].clone().requires_grad_() for t in (bits, vt.rom_bits(cart), inputs)]
    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(torch.ops.diffvcs.run.default, (*arguments, vt._key(cart, {})), test_utils=tests)


@pytest.mark.parametrize("method", ["bit", "bit+fork", "ste"])
def test_backward_is_the_vjp(machine, example, method):
    cart, bits, inputs = example
    bits.requires_grad_()
    rom = vt.rom_bits(cart).requires_grad_()
    inputs = inputs.clone().requires_grad_()
    weights = torch.linspace(-1, 1, cart.height * 160).reshape(cart.height, 160)
    pixels, after = vt.run(cart, bits, inputs, rom, method=method)
    ((pixels[-1] * weights).sum() + vt.ram(cart, after)[5].sum()).backward()
    dram = np.zeros((128, 8))
    dram[5] = 1
    everything = ["state", "rom", "input"]
    want = diffvcs.vjp(cart, machine.save(), [0, 3], dframes=weights.numpy(), dram=dram, wrt=everything, method=method)
    assert np.array_equal(bits.grad.numpy(), want.dstate)
    assert np.array_equal(rom.grad.numpy(), want.drom.reshape(-1))
    assert np.array_equal(inputs.grad.numpy(), want.dinput)


def test_exact_gradients_are_differences_of_forwards(example, random):
    """Method exact: bits of RAM, of the image and inputs, flipped as floats, and the operator run again."""
    cart, bits, inputs = example
    given = [t.detach().clone().requires_grad_() for t in (bits, vt.rom_bits(cart), inputs)]
    weights = torch.from_numpy(random.normal(size=(cart.height, 160)).astype(np.float32))

    def value(state, rom, held, **options):
        pixels, after = vt.run(cart, state, held, rom, **options)
        return (pixels[-1] * weights).sum() + vt.ram(cart, after)[5].sum()

    value(*given, method="exact").backward()
    at, base, moved = 8 * cart.offset("ram"), [t.detach() for t in given], 0
    for which, slots in (
        (0, at + random.permutation(1024)[:24]),
        (1, random.permutation(8 * cart.rom.size)[:24]),
        (2, range(12)),
    ):
        for slot in slots:
            flipped = [t.clone() for t in base]
            flat = flipped[which].view(-1)
            sign = -1 if flat[slot] > 0.5 else 1
            flat[slot] = 1 - flat[slot]
            change = sign * (value(*flipped) - value(*base)).item()
            assert given[which].grad.view(-1)[slot].item() == pytest.approx(change, rel=1e-3, abs=0.05)
            moved += change != 0
    assert moved > 5


def test_only_what_needs_a_gradient_is_flipped(example, monkeypatch):
    cart, bits, inputs = example
    calls, vjp = [], vt.core.vjp
    monkeypatch.setattr(vt.core, "vjp", lambda *given, **options: calls.append(given[5]) or vjp(*given, **options))
    held = inputs.clone().requires_grad_()
    vt.run(cart, bits.detach(), held, method="exact")[0].sum().backward()
    assert calls == [[False, False, True]] and held.grad.any()


def test_a_difference_of_forwards_is_the_truth(machine, example, random):
    """Bits flipped as floats, and the operator run again: 64 bits of RAM."""
    cart, bits, _ = example
    chosen = random.permutation(1024)[:64]
    flipped = bits.expand(64, -1).clone()
    at = torch.from_numpy(chosen + 8 * cart.offset("ram"))
    flipped[torch.arange(64), at] = 1 - flipped[torch.arange(64), at]
    changed = vt.run(cart, flipped, vt.held(0))[0][:, 0] - vt.run(cart, bits, vt.held(0))[0][0]
    signed = torch.where(bits[at] > 0.5, -1, 1)[:, None, None] * changed
    exact = diffvcs.truth(cart, machine.save(), [0], diffvcs.ram_places(cart)[chosen])
    assert np.array_equal(signed.numpy(), exact.dframes[:, 0]) and signed.any()


def gradients(example, weights):
    """Of weighed pixels of one frame, in RAM and in the image."""
    cart, bits, _ = example
    rom = vt.rom_bits(cart)
    given = [t.clone().requires_grad_() for t in (bits, rom)]
    loss = (vt.run(cart, given[0], vt.held(0), given[1], side="mean")[0][0] * torch.from_numpy(weights)).sum()
    dbits, drom = torch.autograd.grad(loss, given)
    return vt.ram(cart, dbits).numpy(), drom.reshape(-1, 8).numpy()


def test_gradients_are_the_truth_where_first_order_is_exact(example, linear):
    """gradcheck for a function of bits."""
    dram, drom = gradients(example, linear.weights)
    assert np.array_equal(dram[linear.cells], linear.dram)
    assert np.array_equal(drom[linear.offsets], linear.drom)


def test_gradients_are_the_truth_for_most_bits(example, every_bit_of_ram, capsys):
    assert every_bit_of_ram.rate(gradients(example, every_bit_of_ram.weights)[0], capsys) > 0.93


def test_batches_are_loops(example):
    cart, bits, inputs = example
    many = bits.expand(3, 2, -1).clone().requires_grad_()
    held = torch.stack([vt.held(a, 0) for a in (0, 3, 4)])[:, None]
    pixels, after = vt.run(cart, many, held)
    assert pixels.shape == (3, 2, 2, cart.height, 160) and after.shape == many.shape
    pixels[..., 40:80, :].sum().backward()
    for i in range(3):
        one = bits.clone().requires_grad_()
        vt.run(cart, one, held[i, 0])[0][:, 40:80].sum().backward()
        assert torch.equal(many.grad[i, 0], one.grad) and torch.equal(many.grad[i, 1], one.grad)


def test_another_image_is_another_game(example):
    """A bit of the image flipped as a float is the bit flipped in the cartridge."""
    cart, bits, inputs = example
    exact = diffvcs.truth(cart, _save(cart, bits), [0, 3], diffvcs.rom_places(cart, range(0, 4096, 64)))
    place = int(exact.rows["pixels"][:, 0].argmax())
    rom = vt.rom_bits(cart)
    at = 8 * 64 * (place // 8) + place % 8
    sign = 1 if rom[at] < 0.5 else -1
    rom[at] = 1 - rom[at]
    changed = vt.run(cart, bits, inputs, rom)[0][-1] - vt.run(cart, bits, inputs)[0][-1]
    assert np.array_equal(sign * changed.numpy(), exact.dframes[place, 0]) and changed.any()


def _save(cart, bits):
    machine = diffvcs.Machine(cart)
    fields = np.packbits(bits.numpy().astype(np.uint8), bitorder="little").view(cart.state_dtype)[0]
    machine.set(**{name: fields[name] for name in fields.dtype.names})
    return machine.save()


def test_memory_is_shared(machine):
    """A picture drawn into a tensor, and an array seen as one: no byte is copied."""
    picture = torch.zeros(machine.shape, dtype=torch.uint8)
    machine.screen(out=picture.numpy())
    assert np.array_equal(picture.numpy(), machine.screen()) and picture.any()
    array = machine.rgb()
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.ctypes.data
    machine.rgb(out=array)
    assert np.array_equal(tensor.numpy(), machine.rgb())


def test_wrong_shapes_and_states_are_refused(example):
    cart, bits, inputs = example
    with pytest.raises(ValueError):
        vt.run(cart, bits[:-1], inputs)
    with pytest.raises(ValueError):
        vt.run(cart, bits, inputs[:, :5])
    with pytest.raises(Exception, match="none that a machine can have"):
        vt.run(cart, torch.ones_like(bits), inputs)


def test_forward_mode_is_the_jvp(machine, example, random):
    cart, bits, inputs = example
    tangent = random.standard_normal(bits.shape).astype(np.float32)
    want = diffvcs.jvp(cart, machine.save(), [0, 3], dstate=tangent, method="bit+fork")

    def play(b):
        return vt.run(cart, b, inputs, method="bit+fork")

    _, (moved, after) = torch.func.jvp(play, (bits,), (torch.from_numpy(tangent),))
    assert np.array_equal(moved.numpy(), want.dframes) and moved.any()
    assert np.array_equal(after.numpy(), want.dstate)
    _, push = torch.func.linearize(play, bits)
    assert np.array_equal(push(torch.from_numpy(tangent))[0].numpy(), want.dframes)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(bits, torch.from_numpy(tangent))
        assert np.array_equal(torch.autograd.forward_ad.unpack_dual(play(dual)[0]).tangent.numpy(), want.dframes)


def test_functional_transforms_are_backward(example, random):
    """grad, vmap of grad, jacrev and jacfwd, of sums of pixels that many bits move."""
    cart, bits, inputs = example
    weights = torch.from_numpy(random.normal(size=(2, cart.height * 160)).astype(np.float32))

    def sums(b):
        return weights @ vt.run(cart, b, inputs, side="mean")[0][-1].flatten()

    rows = []
    for i in range(2):
        given = bits.clone().requires_grad_()
        sums(given)[i].backward()
        rows.append(given.grad)
    rows = torch.stack(rows)
    assert rows.count_nonzero() > 100
    assert torch.equal(torch.func.grad(lambda b: sums(b)[0])(bits), rows[0])
    assert torch.equal(torch.func.jacrev(sums)(bits), rows)
    other = vt.run(cart, bits, inputs)[1]
    both = torch.func.vmap(torch.func.grad(lambda b: sums(b)[0]))(torch.stack([bits, other]))
    assert torch.equal(both, torch.stack([torch.func.grad(lambda b: sums(b)[0])(b) for b in (bits, other)]))
    at = 8 * cart.offset("ram") + torch.arange(32)
    forward = torch.func.jacfwd(lambda part: sums(bits.index_copy(0, at, part)))(bits[at])
    assert torch.allclose(forward, rows[:, at], rtol=1e-3, atol=1e-2) and forward.any()


def test_vmap_is_one_batch(example, monkeypatch):
    cart, bits, inputs = example
    calls, forward = [], vt.core.forward
    monkeypatch.setattr(
        vt.core, "forward", lambda *given, **rest: calls.append(given[1].shape[0]) or forward(*given, **rest)
    )
    many = torch.stack([inputs, vt.held(4, 5), vt.held(1, 2)], 1)
    pixels, _ = torch.func.vmap(lambda held: vt.run(cart, bits, held), in_dims=1)(many)
    assert calls == [3]
    assert torch.equal(pixels, vt.run(cart, bits, many.movedim(1, 0))[0])


def test_second_derivatives_are_refused(example):
    cart, bits, inputs = example
    given = bits.clone().requires_grad_()
    (first,) = torch.autograd.grad(vt.run(cart, given, inputs)[0].square().sum(), given, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        first.sum().backward()


def test_the_fake_kernel_knows_how_results_lie_in_memory(example):
    """A batch whose first dimension is not the slowest in memory, as a transposed one."""
    cart, bits, inputs = example
    given = torch.stack([bits] * 3, 1).t()
    assert not given.is_contiguous()
    rom, held = vt.rom_bits(cart).expand(3, -1), inputs.expand(3, -1, -1)
    pixels, after = torch.ops.diffvcs.run(given, rom, held, vt._key(cart, {}))
    arguments = (given, rom, held, pixels, after, [True, True, True], vt._key(cart, {}))
    torch.library.opcheck(torch.ops.diffvcs.run_vjp.default, arguments, test_utils=("test_faketensor",))
    assert torch.ops.diffvcs.run_vjp(*arguments)[0].is_contiguous()
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake = [mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments]
        assert all(made.is_contiguous() for made in torch.ops.diffvcs.run_vjp(*fake))


def test_compiled_gradients_are_those_that_are_not(example):
    cart, bits, inputs = example
    given = torch.stack([bits] * 3, 1).t().requires_grad_()
    held = torch.stack([inputs, vt.held(4, 5), vt.held(1, 2)])

    def loss(b):
        return vt.run(cart, b, held)[0].square().sum()

    (want,) = torch.autograd.grad(loss(given), given)
    (found,) = torch.autograd.grad(torch.compile(loss, backend="aot_eager")(given), given)
    assert torch.equal(found, want) and want.any()


def test_options_may_be_numpy_values(example):
    cart, bits, inputs = example
    values = np.linspace(0, 1, 256, dtype=np.float32)
    pixels, _ = vt.run(cart, bits, inputs, values=values, alpha=np.float32(6), fork_window=np.int64(0))
    indices = vt.run(cart, bits, inputs)[0].numpy().astype(int)
    assert np.array_equal(pixels.numpy(), values[indices])


def test_a_single_number_as_an_image_is_refused(example):
    cart, bits, inputs = example
    with pytest.raises(ValueError, match="rom end with the bits"):
        vt.run(cart, bits, inputs, torch.tensor(1.0))


def test_compile_traces_the_run_as_one_graph(example):
    cart, bits, inputs = example
    f = torch.compile(lambda b, r: vt.run(cart, b, inputs, r)[0].sum(), backend="aot_eager", fullgraph=True)
    assert f(bits, vt.rom_bits(cart)) == vt.run(cart, bits, inputs)[0].sum()


def test_compile_traces_through(example):
    cart, bits, inputs = example
    f = torch.compile(lambda b: vt.run(cart, b, inputs)[0].sum(), backend="aot_eager", fullgraph=False)
    assert f(bits) == vt.run(cart, bits, inputs)[0].sum()
