"""The machine as a JAX function: pure, from state to state, with nothing behind a handle.

    pixels, after = diffvcs.jax.run("space_invaders", bits, inputs)

`bits` are a machine's bits as floats (Machine.bits), `inputs` the held inputs, frames x 12, and `rom` the image's bits, the
cartridge's own unless given. Results are the pixels after each frame (frames x height x 160) and the bits after the last frame,
which the next run takes. jit, vmap, scan and grad work, and compose (jvp with forwards=True). The forward is exact; derivatives
are estimates by `method`, or exact with method="exact" and `wrt` (below), as docs/gradients.md describes. The cartridge is a constant of the compiled program.

It is an XLA custom call (python/native/xla.c), so a compiled function never returns to Python while it runs, and a vmapped call
uses all cores. Its arrays are on the CPU. Vector environments on a device are custom calls on that device (device_functions).
"""

from __future__ import annotations

import atexit
import functools
import weakref
from typing import Any

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback
except ImportError as problem:
    raise ImportError("this needs JAX: pip install jax") from problem

from . import _arrays
from . import bits as core
from . import device as devices
from ._bind import whole
from ._c import INPUTS, WIDTH, lib
from .cartridge import Cartridge
from .functional import METHODS, SIDES, SOURCES, _groups, split_options
from .machine import Machine, inputs_of

for _name in ("run", "jvp", "vjp", "step", "reset"):
    jax.ffi.register_ffi_target(f"diffvcs_{_name}", jax.ffi.pycapsule(lib.raw(f"vcs_xla_{_name}")), platform="cpu")
for _name in ("step", "reset"):
    _on_gpu = jax.ffi.pycapsule(lib.raw(f"vcs_xla_{_name}_on_gpu"))
    jax.ffi.register_ffi_target(f"diffvcs_{_name}", _on_gpu, platform="CUDA")

_lent: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register  # before JAX, which was imported earlier, destroys the stream that their steps are queued on
def _close_lent() -> None:
    for batch in list(_lent):
        batch.close()


def _attributes(cart: Cartridge, options: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in options.items() if name != "wrt"}
    sources = _groups(options.get("wrt"), options.get("method"), SOURCES)
    settings, relaxed = split_options(cart, rest)
    return {
        "cart": np.int64(lib.for_ever(cart.handle)),
        "method": np.int64(settings.method),
        "fork_window": np.int64(settings.fork_window),
        "side": np.int64(settings.side),
        "wanted": np.int64(sum(1 << SOURCES.index(name) for name in set(sources))),
        "alpha": np.float32(settings.alpha),
        "temperature": np.float32(settings.temperature),
        "budget": np.float64(settings.budget),
        "threads": np.int64(settings.threads),
        "scale": settings.scale,
        "relaxed": np.frombuffer(bytes(relaxed), np.uint8) if relaxed else np.zeros(1, np.uint8),
    }


def _results(cart: Cartridge, inputs: Any) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    frames = inputs.shape[-2]
    pixels = jax.ShapeDtypeStruct((frames, cart.height, WIDTH), jnp.float32)
    return pixels, jax.ShapeDtypeStruct((8 * cart.state_size,), jnp.float32)


def _like(arrays: Any) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(a.shape, jnp.float32) for a in arrays)


def _call(name: str, results: Any, cart: Cartridge, options: dict[str, Any]) -> Any:
    return functools.partial(
        jax.ffi.ffi_call(f"diffvcs_{name}", results, vmap_method="broadcast_all"), **_attributes(cart, options)
    )


@functools.lru_cache(maxsize=None)
def _function(cart: Cartridge, options: tuple[Any, ...], forwards: bool) -> Any:
    """run for one cartridge and one set of options, with the rule for reverse or for forward differentiation."""
    chosen = dict(options)

    def call(state: Any, rom: Any, inputs: Any) -> Any:
        return tuple(_call("run", _results(cart, inputs), cart, chosen)(state, rom, inputs))

    if forwards:
        pushed = jax.custom_jvp(call)

        @pushed.defjvp
        def _(given: Any, tangents: Any) -> Any:
            return call(*given), tuple(_call("jvp", _results(cart, given[2]), cart, chosen)(*given, *tangents))

        return pushed
    pulled = jax.custom_vjp(call)
    pulled.defvjp(
        lambda *given: (call(*given), given),
        lambda given, adjoints: tuple(_call("vjp", _like(given), cart, chosen)(*given, *adjoints)),
    )
    return pulled


def _hashable(value: Any) -> Any:
    """An option as a key: arrays and lists are tuples."""
    if isinstance(value, (np.ndarray, jax.Array)):
        value = value.tolist()
    return tuple(_hashable(part) for part in value) if isinstance(value, (list, tuple)) else value


def run(
    cart: Cartridge | str, bits: Any, inputs: Any, rom: Any = None, *, forwards: bool = False, **options: Any
) -> tuple[jax.Array, jax.Array]:
    """Returns pixels (frames x height x 160) and the bits after the run.

    Options are those of diffvcs.vjp: method, fork_window, alpha, temperature, side, values ("index", "luminance", or
    256 numbers), budget, threads, or those of method="relaxed"; and `wrt`, which names what grad and vjp differentiate:
    "state" (the bits), "rom", "input", a text with commas or a tuple (by default all; for method="exact", where each
    bit is a flip, state and input), with zeros for the rest. vmap makes batches. A JAX function has one rule: this one
    is for grad, vjp and jacrev, and with `forwards` for jvp and jacfwd.
    """
    cart = Cartridge.find(cart)
    rom = core.rom_bits(cart) if rom is None else rom
    bits, rom, inputs = (jnp.asarray(a, jnp.float32) for a in (bits, rom, inputs))
    for name, array, shape in (("bits", bits, (8 * cart.state_size,)), ("rom", rom, (8 * cart.rom.size,))):
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, and {shape} is expected (vmap makes batches)")
    if inputs.ndim != 2 or inputs.shape[1] != INPUTS or inputs.shape[0] < 1:
        raise ValueError(f"inputs are frames x {INPUTS}, not {inputs.shape} (vmap makes batches)")
    chosen = tuple(sorted((name, _hashable(value)) for name, value in options.items()))
    return _function(cart, chosen, forwards)(bits, rom, inputs)


def rom_bits(cart: Cartridge | str) -> jax.Array:
    """Returns an image's bits as floats."""
    return jnp.asarray(core.rom_bits(Cartridge.find(cart)))


def machine_bits(machine: Machine) -> jax.Array:
    """Returns a machine's bits as floats."""
    return jnp.asarray(machine.bits)


def held(*actions: int | str) -> jax.Array:
    """Returns the inputs of one action for each frame."""
    return jnp.asarray(np.stack([inputs_of(a) for a in actions]))


def ram(cart: Cartridge | str, bits: jax.Array) -> jax.Array:
    """Returns RAM in a machine's bits, ... x 128 x 8."""
    at = 8 * Cartridge.find(cart).offset("ram")
    return bits[..., at : at + 1024].reshape(*bits.shape[:-1], 128, 8)


# ---- the vector environment ------------------------------------------------------------------------------------------


def _int32(values: Any, name: str, shape: tuple[int, ...] | None = None) -> Any:
    """Whole numbers for a call. Those that the caller has now are checked; of arrays of JAX, which may be traced, the types and
    shapes are, and numbers that int32 does not hold become its ends, which are no actions."""
    if not isinstance(values, jax.Array):
        values = _arrays.integers(values, name, fractions=False)
    elif not jnp.issubdtype(values.dtype, jnp.integer):
        raise TypeError(f"{name} must be whole numbers, of an integer type, not {values.dtype}")
    if shape is not None and values.shape != shape:
        raise ValueError(f"{name} of shape {shape} are expected, not {values.shape}")
    values, ends = jnp.asarray(values), jnp.iinfo(jnp.int32)
    if not np.can_cast(values.dtype, np.int32):
        values = jnp.minimum(values, ends.max)
        if jnp.issubdtype(values.dtype, jnp.signedinteger):
            values = jnp.maximum(values, ends.min)
    return values.astype(jnp.int32)


def _seeds(seed: Any, mask: Any) -> Any:
    """A seed for each environment; -1: none. One number is that of the first that is reset; the others follow."""
    (count,) = mask.shape
    if seed is None:
        return jnp.full(count, -1, jnp.int32)
    if not isinstance(seed, jax.Array) and np.ndim(seed) == 0:
        order = jnp.maximum(jnp.cumsum(mask, dtype=jnp.int32) - 1, 0)
        return whole(seed, "seed", 0, 2**31 - count) + order
    return _int32(seed, "seeds", (count,))


def _mask(mask: Any, count: int) -> Any:
    """Which environments are reset."""
    mask = jnp.ones(count, bool) if mask is None else jnp.asarray(mask)
    if mask.shape != (count,) or mask.dtype != jnp.bool_:
        raise ValueError(f"reset_mask is {count} booleans, not {mask.dtype} of shape {mask.shape}")
    return mask


def vector_functions(envs: Any) -> Any:
    """Returns (handle, reset, step) of a vector environment for jit and scan; see DiffVCSVectorEnv.xla."""
    count, each, observation = envs.batch_size, envs.ale.actions_shape[1:], envs.observation_space.shape
    numbers = {
        k: jax.ShapeDtypeStruct((count,), jnp.int32)
        for k in ("env_id", "lives", "frame_number", "episode_frame_number")
    }
    handle_shape = jax.ShapeDtypeStruct((8,), jnp.uint8)
    shown = jax.ShapeDtypeStruct(observation, jnp.uint8)
    flags = jax.ShapeDtypeStruct((count,), jnp.bool_)

    def only_numbers(info: Any) -> Any:
        return {key: np.asarray(info[key]) for key in numbers}

    def host_reset(handle: Any, seeds: Any, mask: Any) -> Any:
        (ids,) = np.nonzero(np.asarray(mask))
        observations, info = envs.ale.reset(ids, np.asarray(seeds)[ids])
        return np.asarray(handle), envs._shown(observations, info), only_numbers(info)

    def host_step(handle: Any, actions: Any) -> Any:
        observations, rewards, terminated, truncated, info = envs.step(np.asarray(actions))
        return np.asarray(handle), observations, rewards, terminated, truncated, only_numbers(info)

    def reset(handle: Any, seed: Any = None, reset_mask: Any = None) -> Any:
        mask = _mask(reset_mask, envs.num_envs)
        seeds = _seeds(seed, mask)
        handle, observations, info = io_callback(
            host_reset, (handle_shape, shown, numbers), handle, seeds, mask, ordered=True
        )
        return handle, (observations, info)

    def step(handle: Any, actions: Any) -> Any:
        actions = jnp.asarray(actions, jnp.float32) if envs.continuous else _int32(actions, "actions", (count, *each))
        results = (handle_shape, shown, jax.ShapeDtypeStruct((count,), jnp.int32), flags, flags, numbers)
        handle, *rest = io_callback(host_step, results, handle, actions, ordered=True)
        return handle, tuple(rest)

    return jnp.zeros(8, jnp.uint8), reset, step


RESULTS = (
    "observations", "final_observations", "env_ids", "rewards", "lives", "frame_numbers", "episode_frame_numbers",
    "terminated", "truncated", "ram",
)  # fmt: skip


def device_functions(envs: Any) -> Any:
    """Returns (handle, reset, step) of a vector environment on a device for jit and scan; see DiffVCSVectorEnv.xla.

    The handle is the results of the last call, which the next one updates in place: observations hold the stacks.
    """
    batch = envs.ale
    number, shapes = batch.lend()
    names = [name for name in RESULTS if name in shapes]
    attributes = {"batch": np.int64(number), "wanted": np.int64(sum(1 << RESULTS.index(name) for name in names))}
    kinds = {name: jax.ShapeDtypeStruct(*shapes[name]) for name in names}
    _lent.add(batch)
    on_gpu = batch.device >= devices.GPU
    where = jax.devices("cuda" if on_gpu else "cpu")[batch.device - devices.GPU if on_gpu else 0]
    everyone = np.arange(envs.num_envs, dtype=np.int32)

    def call(what: str, handle: Any, *given: Any) -> Any:
        if not isinstance(handle, dict) or {
            n: (getattr(a, "shape", None), getattr(a, "dtype", None)) for n, a in handle.items()
        } != {n: (k.shape, k.dtype) for n, k in kinds.items()}:
            raise ValueError("the handle is what xla(), reset or step gave last")
        changed = jax.ffi.ffi_call(
            f"diffvcs_{what}",
            [kinds[name] for name in names],
            has_side_effect=True,
            input_output_aliases={len(given) + i: i for i in range(len(names))},
        )(*given, *(handle[name] for name in names), **attributes)
        handle = dict(zip(names, changed))
        info = {
            "env_id": handle["env_ids"],
            "lives": handle["lives"],
            "frame_number": handle["frame_numbers"],
            "episode_frame_number": handle["episode_frame_numbers"],
        }
        if "ram" in handle:
            info["ram"] = handle["ram"]
        return handle, handle["observations" if envs.obs_type == "image" else "ram"], info

    def reset(handle: Any, seed: Any = None, reset_mask: Any = None) -> Any:
        mask = _mask(reset_mask, envs.num_envs)
        ids = jnp.where(mask, everyone, -1)
        handle, shown, info = call("reset", handle, ids, _seeds(seed, mask))
        return handle, (shown, info)

    def step(handle: Any, actions: Any) -> Any:
        handle, shown, info = call("step", handle, _int32(actions, "actions", batch.actions_shape))
        if "final_observations" in handle:
            info["final_obs"] = handle["final_observations"]
        return handle, (shown, handle["rewards"], handle["terminated"], handle["truncated"], info)

    return {name: jax.device_put(jnp.zeros(k.shape, k.dtype), where) for name, k in kinds.items()}, reset, step


def pool_functions(pool: Any) -> Any:
    """Returns (handle, recv, send, step) of diffvcs.make's environments (envpool.py) for jit and loops."""
    count = pool.batch_size

    def of(dtype: Any, *shape: Any) -> Any:
        return jax.ShapeDtypeStruct((count, *shape), dtype)

    info = {
        "env_id": of(jnp.int32),
        "players": {"env_id": of(jnp.int32)},
        "lives": of(jnp.int32),
        "reward": of(jnp.float32),
        "terminated": of(jnp.int32),
        "ram": of(jnp.uint8, 128),
        "elapsed_step": of(jnp.int32),
    }
    results = (of(jnp.uint8, *pool.observation_space.shape), of(jnp.float32), of(jnp.bool_), of(jnp.bool_), info)
    handle_shape = jax.ShapeDtypeStruct((8,), jnp.uint8)

    def host_send(handle: Any, action: Any, env_id: Any) -> Any:
        pool.send(np.asarray(action), None if env_id is None else np.asarray(env_id))
        return np.asarray(handle)

    def recv(handle: Any) -> Any:
        return io_callback(lambda h: (np.asarray(h), pool.recv()), (handle_shape, results), handle, ordered=True)

    def send(handle: Any, action: Any, env_id: Any = None) -> Any:
        ids = None if env_id is None else _int32(env_id, "env_id")
        return io_callback(host_send, handle_shape, handle, _int32(action, "action"), ids, ordered=True)

    def step(handle: Any, action: Any, env_id: Any = None) -> Any:
        return recv(send(handle, action, env_id))

    return jnp.zeros(8, jnp.uint8), recv, send, step


__all__ = [
    "METHODS",
    "SIDES",
    "held",
    "machine_bits",
    "ram",
    "rom_bits",
    "run",
    "device_functions",
    "pool_functions",
    "vector_functions",
]
