"""Many environments at once: vcs_batch_t as arrays. Needs no Gymnasium; vector.py is the Gymnasium environment on it.

The names are those of ale-py's ALEVectorInterface, and so are the results, byte for byte (docs/batch.md). What it does
not have: several cartridges, modes and difficulties in one batch, RAM and sound in `info`, states that can be copied.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _c
from . import device as devices
from ._c import lib
from .ale import Action
from .cartridge import Cartridge

AUTORESET = ("NextStep", "SameStep", "Disabled")
POOL = 8  # results that are kept to be used again


def _references(arrays: dict[str, np.ndarray]) -> int:
    """The most references that there are to one of them."""
    return max(sys.getrefcount(array) for array in arrays.values())


UNHELD = _references({"nobody's": np.zeros(1)})


def _each(value, count: int, default: int) -> list[int]:
    """One number for all environments, or one for each; None is the default."""
    values = [value] * count if value is None or isinstance(value, int) else list(value)
    if len(values) != count:
        raise ValueError(f"{len(values)} values for {count} environments")
    return [default if v is None else v for v in values]


class ALEVectorInterface:
    """A batch. `rom_path` may be a list (environment i plays cartridge i modulo their number), as may modes,
    difficulties (None: the game's default) and cart_ids (which cartridge each environment plays). With `ram` and `sound`,
    info has them too. `observations=False` makes none: RAM alone is faster. `copy=False` gives the same arrays again at
    every call, overwritten: faster, for who is done with a result before the next. thread_affinity_offset is accepted, and
    left to the operating system. autoreset_mode is "NextStep" unless told.

    With a `device` ("cuda", "cuda:1"; device.py) everything stays there: results are device.Arrays, the same ones at every
    call, overwritten; actions may be arrays of the device; autoreset_mode is "SameStep". What a device does not have is
    refused, and some things differ (docs/cuda.md)."""

    def __init__(
        self,
        rom_path: str | os.PathLike | Cartridge | Sequence[str | os.PathLike | Cartridge],
        num_envs: int,
        frame_skip: int = 4,
        stack_num: int = 4,
        img_height: int = 84,
        img_width: int = 84,
        grayscale: bool = True,
        maxpool: bool = True,
        noop_max: int = 30,
        use_fire_reset: bool = True,
        episodic_life: bool = False,
        life_loss_info: bool = False,
        reward_clipping: bool = True,
        max_episode_steps: int = 108000,
        repeat_action_probability: float = 0.0,
        full_action_space: bool = False,
        batch_size: int = 0,
        num_threads: int = 0,
        thread_affinity_offset: int = -1,
        autoreset_mode: str | None = None,
        *,
        profile: str = "ale",
        cart_ids: Sequence[int] | None = None,
        mode: int | Sequence[int | None] | None = None,
        difficulty: int | Sequence[int | None] | None = None,
        ram: bool = False,
        sound: bool = False,
        observations: bool = True,
        copy: bool = True,
        device: str = "cpu",
    ):
        self.device = devices.number(device)
        if autoreset_mode is None:
            autoreset_mode = "NextStep" if self.device == devices.CPU else "SameStep"
        if autoreset_mode not in AUTORESET:
            raise ValueError(f"autoreset_mode is one of {', '.join(AUTORESET)}; {autoreset_mode!r} is none of them")
        roms = [rom_path] if isinstance(rom_path, (str, os.PathLike, Cartridge)) else rom_path
        self.carts = [Cartridge.find(rom, profile) for rom in roms]
        options = _c.BatchOptions()
        lib.vcs_batch_defaults(ctypes.addressof(options))
        on_device = self.device != devices.CPU
        if on_device and not observations:  # none are drawn
            img_width = img_height = stack_num = 0
        for name, value in (
            ("device", self.device), ("stack_in_place", on_device and observations),
            ("envs", num_envs), ("batch_size", batch_size), ("threads", num_threads), ("width", img_width),
            ("height", img_height), ("stack", stack_num), ("frame_skip", frame_skip), ("noop_max", noop_max),
            ("max_episode_frames", max_episode_steps), ("repeat_action_probability", repeat_action_probability),
            ("autoreset", AUTORESET.index(autoreset_mode)), ("rgb", not grayscale), ("max_pool", maxpool),
            ("fire_reset", use_fire_reset), ("episodic_life", episodic_life), ("life_loss_info", life_loss_info),
            ("reward_clipping", reward_clipping), ("full_action_space", full_action_space), ("sound", sound),
        ):  # fmt: skip
            setattr(options, name, value)
        if num_envs < 1:
            raise ValueError(f"a batch has at least one environment, not {num_envs}")
        envs = (_c.BatchEnv * num_envs)()
        ids = [i % len(self.carts) for i in range(num_envs)] if cart_ids is None else _each(cart_ids, num_envs, 0)
        modes, difficulties = _each(mode, num_envs, -1), _each(difficulty, num_envs, -1)
        for i, env in enumerate(envs):
            env.cart, env.mode, env.difficulty, env.seed = ids[i], modes[i], difficulties[i], i
        handles = (ctypes.c_void_p * len(self.carts))(*[cart.handle for cart in self.carts])
        self.handle = _c.create(
            "vcs_batch_create", ctypes.addressof(handles), len(self.carts), ctypes.addressof(envs),
            ctypes.addressof(options),
        )  # fmt: skip
        self._owner = _c.Owner(self.handle, "vcs_batch_free", needs=self.carts)
        self.num_envs, self.batch_size = num_envs, batch_size or num_envs
        shape = (stack_num, img_height, img_width) if grayscale else (stack_num, img_height, img_width, 3)
        self.observation_shape: tuple[int, ...] = shape
        self._copy, self._started = copy and not on_device, False
        self._last_count = self.batch_size  # of those that a send without ids is for
        numbers = ("env_ids", "rewards", "lives", "frame_numbers", "episode_frame_numbers")
        rows = [
            (observations, "observations", shape, np.uint8),
            (observations and autoreset_mode == "SameStep" and not on_device, "final_observations", shape, np.uint8),
            *((True, name, (), np.int32) for name in numbers),
            (True, "terminated", (), np.bool_),
            (True, "truncated", (), np.bool_),
            (ram, "ram", (_c.RAM_BYTES,), np.uint8),
            (sound, "sound", (_c.SOUND_SAMPLES,), np.uint8),
        ]
        self._rows = [row[1:] for row in rows if row[0]]
        self._pool: list[tuple[dict[str, np.ndarray], ctypes.Structure]] = []
        self._stream, self._borrowed = 0, None
        if on_device:
            self._chosen = devices.Array(self.device, (num_envs,), np.int32, self.wait)
            arrays = {n: devices.Array(self.device, (num_envs, *s), d, self.wait) for n, s, d in self._rows}
            self._pool.append((arrays, _c.BatchResults(**{n: a.address for n, a in arrays.items()})))

    def _results(self) -> tuple[dict[str, np.ndarray], ctypes.Structure]:
        """Arrays to write into: with `copy`, some that nobody else holds any more (fresh memory has to be mapped by the
        operating system, page by page), or else new ones."""
        for arrays, pointers in self._pool:
            if not self._copy or _references(arrays) <= UNHELD:
                return arrays, pointers
        arrays = {n: np.zeros((self.batch_size, *shape), dtype) for n, shape, dtype in self._rows}
        pointers = _c.BatchResults(**{n: _c.room(array) for n, array in arrays.items()})
        if len(self._pool) < POOL:
            self._pool.append((arrays, pointers))
        return arrays, pointers

    def _call(self, name: str, *arguments) -> None:
        """Calls the library with the addresses of arrays; those of the host have copies on a device, until all is done."""
        if self.device == devices.CPU:
            _c.call(name, self.handle, *[_c.address(a) if isinstance(a, np.ndarray) else a for a in arguments])
            return
        arguments = [devices.put(self.device, a) if isinstance(a, np.ndarray) else a for a in arguments]
        _c.call(name, self.handle, *[getattr(a, "address", a) for a in arguments])
        self.wait()

    def wait(self) -> None:
        """Until everything is done that was queued on a device."""
        _c.call("vcs_batch_wait", self.handle)

    def set_stream(self, stream: int) -> None:
        """The CUDA stream of later calls, as torch.cuda.current_stream().cuda_stream gives it; 0: the default one."""
        self._stream = stream
        lib.vcs_batch_set_stream(self.handle, stream)

    def _info(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        info = {
            "env_id": arrays["env_ids"],
            "lives": arrays["lives"],
            "frame_number": arrays["frame_numbers"],
            "episode_frame_number": arrays["episode_frame_numbers"],
        }
        for name in ("ram", "sound"):
            if name in arrays:
                info[name] = arrays[name]
        return info

    def _resets(self, reset_indices, reset_seeds) -> tuple[np.ndarray, np.ndarray]:
        ids, seeds = np.ascontiguousarray(reset_indices, np.int32), np.ascontiguousarray(reset_seeds, np.int32)
        if ids.shape != seeds.shape or ids.ndim != 1:
            raise ValueError("reset takes one seed for each environment")
        if ids.size and (ids.min() < 0 or ids.max() >= self.num_envs):
            raise IndexError(f"env_id out of range: there are {self.num_envs} environments")
        if len(set(ids.tolist())) != ids.size:
            raise ValueError("duplicate env_id in a reset")
        if ids.size < self.num_envs and not self._started:
            raise RuntimeError("the first reset() must reset every environment")
        return ids, seeds

    def reset(self, reset_indices, reset_seeds) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
        """Starts episodes in these environments; a seed of -1 lets its generators go on."""
        ids, seeds = self._resets(reset_indices, reset_seeds)
        if ids.size < self.num_envs and self.batch_size < self.num_envs:
            raise ValueError("some environments alone cannot be reset with batch_size < num_envs: send_reset does")
        arrays, pointers = self._results()
        self._call("vcs_batch_reset", ids, seeds, ids.size, ctypes.addressof(pointers))
        self._started = True
        return arrays.get("observations"), self._info(arrays)

    def send_reset(self, reset_indices, reset_seeds) -> None:
        """The same, with results that come by recv."""
        ids, seeds = self._resets(reset_indices, reset_seeds)
        _c.call("vcs_batch_send_reset", self.handle, _c.address(ids), _c.address(seeds), ids.size)
        self._started = True

    @staticmethod
    def _actions(action_ids, paddle_strengths, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray | None]:
        actions = np.array(action_ids, np.int32)
        if actions.ndim != 1 or actions.shape != shape:
            raise ValueError(f"actions of shape {shape} are expected, not {actions.shape}")
        if paddle_strengths is None:
            return actions, None
        strengths = np.ascontiguousarray(paddle_strengths, np.float32)
        if strengths.shape != actions.shape:
            raise ValueError("there is one strength for each action")
        return actions, strengths

    def _shown(self, arrays: dict[str, np.ndarray]):
        """What a step returns."""
        info: dict[str, Any] = self._info(arrays)
        if "final_observations" in arrays and (arrays["terminated"].any() or arrays["truncated"].any()):
            info["final_obs"] = arrays["final_observations"]
        return arrays.get("observations"), arrays["rewards"], arrays["terminated"], arrays["truncated"], info

    def send(self, action_ids, paddle_strengths=None, env_ids=None) -> None:
        """Actions, by number in each environment's own set: for the environments of the last results, in their order, or
        for those in env_ids, none of which may be under way."""
        ids = None if env_ids is None else np.ascontiguousarray(env_ids, np.int32)
        shape = (self._last_count,) if ids is None else ids.shape
        actions, strengths = self._actions(action_ids, paddle_strengths, shape)
        if ids is None:
            _c.call("vcs_batch_send", self.handle, _c.room(actions), _c.address(strengths))
        else:
            _c.call(
                "vcs_batch_send_to", self.handle, _c.address(ids), ids.size, _c.room(actions), _c.address(strengths)
            )

    def recv(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Observations, rewards, terminations, truncations and info of the first batch_size environments that are ready;
        of fewer if no more were sent to. With batch_size all, they come in the order in which they were sent to."""
        arrays, pointers = self._results()
        count = lib.vcs_batch_next(self.handle)
        _c.call("vcs_batch_receive", self.handle, ctypes.addressof(pointers))
        if count < self.batch_size:
            arrays = {name: array[:count] for name, array in arrays.items()}
        if self.batch_size < self.num_envs:
            self._last_count = count
        return self._shown(arrays)

    def step(
        self, action_ids, paddle_strengths=None
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """A send and a recv. Of all environments it is one call, whose threads write directly into the results."""
        if self.batch_size < self.num_envs:
            self.send(action_ids, paddle_strengths)
            return self.recv()
        if self.device != devices.CPU:
            return self._step_there(action_ids, paddle_strengths)
        actions, strengths = self._actions(action_ids, paddle_strengths, (self.num_envs,))
        arrays, pointers = self._results()
        _c.call("vcs_batch_step", self.handle, _c.room(actions), _c.address(strengths), ctypes.addressof(pointers))
        return self._shown(arrays)

    def _step_there(self, action_ids, paddle_strengths):
        """A step on a device, which is only queued. Actions of the device are read where they are."""
        if paddle_strengths is not None:
            raise ValueError("a device has no strengths of actions")
        borrowed = devices.borrow(action_ids, self.device, self._stream)
        if borrowed is None:
            self.wait()  # who may still read the actions before
            self._chosen.fill(self._actions(action_ids, None, (self.num_envs,))[0])
        elif borrowed.shape != (self.num_envs,) or borrowed.dtype != np.int32 or not borrowed.dense:
            raise ValueError(f"int32 actions of shape {(self.num_envs,)} are expected on a device, not {borrowed}")
        arrays, pointers = self._results()
        actions = borrowed or self._chosen
        _c.call("vcs_batch_step", self.handle, actions.address, None, ctypes.addressof(pointers))
        self._borrowed = borrowed
        return self._shown(arrays)

    def continuous(self, actions: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Actions and strengths of radius, angle and fire."""
        polar = np.ascontiguousarray(actions, np.float32)
        numbers, strengths = np.empty(len(polar), np.int32), np.empty(len(polar), np.float32)
        lib.vcs_batch_continuous(_c.address(polar), len(polar), threshold, _c.address(numbers), _c.address(strengths))
        return numbers, strengths

    def get_action_set(self, env: int = 0) -> list[Action]:
        numbers = (ctypes.c_int32 * _c.ACTIONS)()
        return [Action(n) for n in numbers[: lib.vcs_batch_actions(self.handle, env, ctypes.addressof(numbers))]]

    def get_num_envs(self) -> int:
        return self.num_envs

    def get_observation_shape(self) -> tuple[int, ...]:
        return self.observation_shape

    # ---- states ----------------------------------------------------------------------------------------------------

    def clone_states(self, env_ids: Sequence[int] | None = None) -> np.ndarray | devices.Array:
        """States of these environments (None: of all), a row each: all that a later step depends on."""
        ids = np.arange(self.num_envs, dtype=np.int32) if env_ids is None else np.ascontiguousarray(env_ids, np.int32)
        shape = (ids.size, lib.vcs_batch_state_size(self.handle))
        if self.device == devices.CPU:
            states = np.zeros(shape, np.uint8)
            self._call("vcs_batch_copy", ids, ids.size, _c.address(states))
        else:
            states = devices.Array(self.device, shape, np.uint8, self.wait)
            self._call("vcs_batch_copy", ids, ids.size, states.address)
        return states

    def restore_states(
        self, states: np.ndarray, env_ids: Sequence[int] | None = None
    ) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
        """Puts states into environments, not necessarily those they come from; returns what reset returns."""
        ids = np.arange(self.num_envs, dtype=np.int32) if env_ids is None else np.ascontiguousarray(env_ids, np.int32)
        if self.device == devices.CPU or not isinstance(states, devices.Array):
            states = np.ascontiguousarray(states, np.uint8)
        if states.shape != (ids.size, lib.vcs_batch_state_size(self.handle)):
            raise ValueError(
                f"{ids.size} states of {lib.vcs_batch_state_size(self.handle)} bytes are expected, not {states.shape}"
            )
        arrays, pointers = self._results()
        self._call("vcs_batch_restore", ids, ids.size, states, ctypes.addressof(pointers))
        return arrays.get("observations"), self._info(arrays)
