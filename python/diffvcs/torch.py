"""The machine as a PyTorch operator.

    pixels, after = diffvcs.torch.run("space_invaders", bits, inputs)

`bits` are a machine's bits as floats (Machine.bits), `inputs` the held inputs, frames x 12, and `rom` the image's bits, the
cartridge's own unless given. Each may have leading batch dimensions. Results are the pixels after each frame (frames x height
x 160) and the bits of the machine after the last frame, which the next run takes; a recurrent policy is a loop. The forward is
exact; backward is our VJP by `method`: an estimate ("bit", "bit+fork", "ste", "naive", "relaxed") or "exact" (docs/gradients.md).
Only what requires a gradient is differentiated, which is what `exact` costs: each bit of it is a flip.

Backward and forward mode work (backward(), jvp, dual tensors), and so do the transforms of torch.func: grad, vmap,
jacrev, jacfwd, linearize. There are no second derivatives. `torch.ops.diffvcs.run` is the operator below it, with a
fake, a rule for vmap and a backward: torch.compile and export trace it, and opcheck passes; where a gradient is wanted,
torch.compile leaves the call to PyTorch as it is. Arrays are shared with NumPy, not copied.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np

try:
    import torch
except ImportError as problem:
    raise ImportError("this needs PyTorch: pip install torch") from problem

from . import bits as core
from ._c import INPUTS, WIDTH
from .cartridge import Cartridge
from .machine import Machine, inputs_of

_cartridges: dict[str, Cartridge] = {}


@torch.compiler.assume_constant_result  # torch.compile cannot trace json
def _key(cart: Cartridge, options: dict[str, Any]) -> str:
    """The key of a cartridge: an operator takes strings only. Cartridges that have a key are kept for ever."""
    name = f"{cart.sha256}/{cart.profile}/{cart.format}/{cart.name}"
    _cartridges.setdefault(name, cart)
    return json.dumps(
        [name, sorted(options.items())], default=lambda value: value.tolist()
    )  # arrays and NumPy's numbers


@functools.lru_cache(maxsize=None)
def _parse(key: str) -> tuple[Cartridge, dict[str, Any]]:
    name, options = json.loads(key)
    return _cartridges[name], dict(options)


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


def _results(state: Any, inputs: Any, key: Any) -> Any:
    """Tensors with the shapes of a run's results, for tracing."""
    cart, _ = _parse(key)
    runs, frames = inputs.shape[:2]
    return state.new_empty((runs, frames, cart.height, WIDTH)), state.new_empty((runs, 8 * cart.state_size))


@torch.library.custom_op("diffvcs::run", mutates_args=(), device_types="cpu")
def _run(state: torch.Tensor, rom: torch.Tensor, inputs: torch.Tensor, key: str) -> tuple[torch.Tensor, torch.Tensor]:
    cart, options = _parse(key)
    pixels, after = core.forward(cart, _numpy(state), _numpy(rom), _numpy(inputs), **options)
    return torch.from_numpy(pixels), torch.from_numpy(after)


@_run.register_fake
def _(state: Any, rom: Any, inputs: Any, key: Any) -> Any:
    return _results(state, inputs, key)


@torch.library.custom_op("diffvcs::run_vjp", mutates_args=(), device_types="cpu")
def _run_vjp(
    state: torch.Tensor,
    rom: torch.Tensor,
    inputs: torch.Tensor,
    dpixels: torch.Tensor,
    dafter: torch.Tensor,
    wanted: list[bool],
    key: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    cart, options = _parse(key)
    adjoints = _numpy(dpixels), _numpy(dafter)
    results = core.vjp(cart, _numpy(state), _numpy(rom), _numpy(inputs), adjoints, wanted, **options)
    return tuple(torch.from_numpy(r) for r in results)


@_run_vjp.register_fake
def _(state: Any, rom: Any, inputs: Any, dpixels: Any, dafter: Any, wanted: Any, key: Any) -> Any:
    return tuple(given.new_empty(given.shape) for given in (state, rom, inputs))  # contiguous, whatever was given


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    *given, ctx.key = inputs
    ctx.save_for_backward(*given)
    ctx.save_for_forward(*given)


def _backward(ctx: Any, dpixels: Any, dafter: Any) -> Any:
    wanted = list(ctx.needs_input_grad[:3])
    return (*_Vjp.apply(*ctx.saved_tensors, dpixels, dafter, wanted, ctx.key), None)


_run.register_autograd(_backward, setup_context=_save)


@torch.library.custom_op("diffvcs::run_jvp", mutates_args=(), device_types="cpu")
def _run_jvp(
    state: torch.Tensor,
    rom: torch.Tensor,
    inputs: torch.Tensor,
    dstate: torch.Tensor,
    drom: torch.Tensor,
    dinputs: torch.Tensor,
    key: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    cart, options = _parse(key)
    tangents = _numpy(dstate), _numpy(drom), _numpy(dinputs)
    pixels, after = core.jvp(cart, _numpy(state), _numpy(rom), _numpy(inputs), tangents, **options)
    return torch.from_numpy(pixels), torch.from_numpy(after)


@_run_jvp.register_fake
def _(state: Any, rom: Any, inputs: Any, dstate: Any, drom: Any, dinputs: Any, key: Any) -> Any:
    return _results(state, inputs, key)


def _register_vmap(operator: Any) -> None:
    """A mapped dimension joins the batch that each operator has: one call does all runs, on all cores."""

    @operator.register_vmap
    def _(info: Any, in_dims: Any, *given: Any) -> Any:
        count, joined = info.batch_size, []
        for value, dim in zip(given, in_dims):
            if isinstance(value, torch.Tensor):
                value = value.expand(count, *value.shape) if dim is None else value.movedim(dim, 0)
                value = value.flatten(0, 1)
            joined.append(value)
        results = tuple(result.unflatten(0, (count, -1)) for result in operator(*joined))
        return results, (0,) * len(results)


for _operator in (_run, _run_vjp, _run_jvp):
    if hasattr(_operator, "register_vmap"):  # PyTorch 2.4 has none, and calls the operator for one run after another
        _register_vmap(_operator)


class _Vjp(torch.autograd.Function):
    """run_vjp for functional transforms, which differentiate what they find in a backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*given: Any) -> Any:
        return torch.ops.diffvcs.run_vjp(*given)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *adjoints: Any) -> Any:
        raise NotImplementedError("diffvcs.torch has no second derivatives")


class _Run(torch.autograd.Function):
    """run with the rules for reverse and for forward differentiation; an operator of its own has only the first."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*given: Any) -> Any:
        return torch.ops.diffvcs.run(*given)

    setup_context = staticmethod(_save)
    backward = staticmethod(_backward)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        given = ctx.saved_tensors
        moved = (torch.zeros_like(g) if t is None else t for g, t in zip(given, tangents))
        return torch.ops.diffvcs.run_jvp(*given, *moved, ctx.key)


def _flat(tensor: torch.Tensor, batch: torch.Size, shape: tuple[int, ...]) -> torch.Tensor:
    """float32, with the batch as one dimension; an argument without a batch is repeated for all runs."""
    tensor = tensor.to(torch.float32)
    tail = tensor.shape[tensor.ndim - len(shape) :]
    if tuple(tail) != shape:
        raise ValueError(f"a tensor ends with {tuple(tail)}, and {shape} is expected")
    return tensor.expand(*batch, *shape).reshape(-1, *shape)


def run(
    cart: Cartridge | str,
    bits: torch.Tensor,
    inputs: torch.Tensor,
    rom: torch.Tensor | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns pixels (... x frames x height x 160) and the bits after the run.

    Options are those of diffvcs.vjp: method, fork_window, alpha, temperature, side, values ("index" or "luminance"), or those of
    method="relaxed".
    """
    cart = Cartridge.find(cart)
    rom = rom_bits(cart) if rom is None else rom
    for name, tensor in (("bits", bits), ("rom", rom)):
        if tensor.ndim < 1:
            raise ValueError(f"{name} end with the bits of a run; a single number is no such tensor")
    if inputs.ndim < 2 or inputs.shape[-1] != INPUTS:
        raise ValueError(f"inputs end with frames x {INPUTS}, not {tuple(inputs.shape)}")
    batch = torch.broadcast_shapes(bits.shape[:-1], rom.shape[:-1], inputs.shape[:-2])
    pixels, after = _Run.apply(
        _flat(bits, batch, (8 * cart.state_size,)),
        _flat(rom, batch, (rom.shape[-1],)),
        _flat(inputs, batch, tuple(inputs.shape[-2:])),
        _key(cart, options),
    )
    return pixels.reshape(*batch, *pixels.shape[1:]), after.reshape(*batch, *after.shape[1:])


@torch.compiler.assume_constant_result  # torch.compile cannot trace an array that is memory of the library
def rom_bits(cart: Cartridge | str) -> torch.Tensor:
    """Returns an image's bits as floats."""
    return torch.from_numpy(core.rom_bits(Cartridge.find(cart)))


def machine_bits(machine: Machine) -> torch.Tensor:
    """Returns a machine's bits as floats."""
    return torch.from_numpy(machine.bits)


def held(*actions: int | str) -> torch.Tensor:
    """Returns the inputs of one action for each frame."""
    return torch.from_numpy(np.stack([inputs_of(a) for a in actions]))


def ram(cart: Cartridge | str, bits: torch.Tensor) -> torch.Tensor:
    """Returns RAM in a machine's bits, ... x 128 x 8: a view, so that derivatives pass through."""
    at = 8 * Cartridge.find(cart).offset("ram")
    return bits[..., at : at + 1024].unflatten(-1, (128, 8))
