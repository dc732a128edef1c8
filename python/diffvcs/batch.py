"""Many environments at once: vcs_batch_t as arrays. Needs no Gymnasium; vector.py is the Gymnasium environment on it.

The names are those of ale-py's ALEVectorInterface, and so are the results, byte for byte (docs/batch.md). What it does
not have: several cartridges, modes and difficulties in one batch, RAM and sound in `info`, states that can be copied.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _c
from . import device as devices
from ._bind import whole
from ._c import lib
from .ale import Action
from .cartridge import Cartridge

AUTORESET = ("NextStep", "SameStep", "Disabled")
POOL = 8  # results that are kept to be used again
ENVS_MAX = 1 << 24
BATCH_ENV = np.dtype(_c.BatchEnv)


def _references(arrays: dict[str, np.ndarray]) -> int:
    """The most references that there are to one of them."""
    return max(sys.getrefcount(array) for array in arrays.values())


def _result_struct(arrays: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return arrays, _c.BatchResults(**arrays)


_sample = _result_struct({"rewards": np.zeros(1, np.int32)})
UNHELD = _references(_sample[0])  # of arrays that only the pool holds


def _each(value: Any, count: int, default: int, name: str) -> np.ndarray:
    """One number for all environments, or one for each; None is the default."""
    if value is None or isinstance(value, (int, np.integer)):
        return _arrays.integers(default if value is None else value, name)
    values = list(value)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values for {count} environments")
    return _arrays.integers([default if v is None else v for v in values], name)


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
        rom_path: str | os.PathLike[str] | Cartridge | Sequence[str | os.PathLike[str] | Cartridge],
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
    ) -> None:
        self.device = devices.number(device)
        if autoreset_mode is None:
            autoreset_mode = "NextStep" if self.device == devices.CPU else "SameStep"
        if autoreset_mode not in AUTORESET:
            raise ValueError(f"autoreset_mode is one of {', '.join(AUTORESET)}; {autoreset_mode!r} is none of them")
        roms = [rom_path] if isinstance(rom_path, (str, os.PathLike, Cartridge)) else rom_path
        self.carts = [Cartridge.find(rom, profile) for rom in roms]
        options = _c.BatchOptions()
        lib.vcs_batch_defaults(options)
        on_device = self.device != devices.CPU
        num_envs = whole(num_envs, "num_envs", 1, 2**31 - 1)
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
        envs = None
        if num_envs <= ENVS_MAX:  # the library refuses more, and says what they would need
            envs = np.zeros(num_envs, BATCH_ENV)
            numbers = np.arange(num_envs)
            envs["cart"] = numbers % len(self.carts) if cart_ids is None else _each(cart_ids, num_envs, 0, "cart_ids")
            envs["mode"] = _each(mode, num_envs, -1, "mode")
            envs["difficulty"] = _each(difficulty, num_envs, -1, "difficulty")
            envs["seed"] = numbers
        self.handle = lib.vcs_batch_create([cart.handle for cart in self.carts], len(self.carts), envs, options)
        self.num_envs, self.batch_size = num_envs, batch_size or num_envs
        shape = (stack_num, img_height, img_width) if grayscale else (stack_num, img_height, img_width, 3)
        self.observation_shape: tuple[int, ...] = shape
        self._copy, self._started = copy and not on_device, False
        self._last_ids = np.arange(num_envs, dtype=np.int32)  # the environments that a send without ids is for
        names = ("env_ids", "rewards", "lives", "frame_numbers", "episode_frame_numbers")
        rows: list[tuple[Any, ...]] = [
            (observations, "observations", shape, np.uint8),
            (observations and autoreset_mode == "SameStep" and not on_device, "final_observations", shape, np.uint8),
            *((True, name, (), np.int32) for name in names),
            (True, "terminated", (), np.bool_),
            (True, "truncated", (), np.bool_),
            (ram, "ram", (_c.RAM_BYTES,), np.uint8),
            (sound, "sound", (_c.SOUND_SAMPLES,), np.uint8),
        ]
        self._rows = [row[1:] for row in rows if row[0]]
        self._pool: list[tuple[dict[str, Any], Any]] = []
        self._stream = 0
        self._borrowed: Any = None
        if on_device:
            self._chosen = devices.Array(self.device, (num_envs,), np.int32, self.wait)
            arrays = {n: devices.Array(self.device, (num_envs, *s), d, self.wait) for n, s, d in self._rows}
            self._pool.append(_result_struct(arrays))

    def _results(self) -> tuple[dict[str, Any], Any]:
        """Arrays to write into: with `copy`, some that nobody else holds any more (fresh memory has to be mapped by the
        operating system, page by page), or else new ones."""
        for arrays, results in self._pool:
            if not self._copy or _references(arrays) <= UNHELD:
                return arrays, results
        made = _result_struct({n: np.zeros((self.batch_size, *shape), dtype) for n, shape, dtype in self._rows})
        if len(self._pool) < POOL:
            self._pool.append(made)
        return made

    def _there(self, array: np.ndarray) -> Any:
        """An array of the host in the memory of the device."""
        return array if self.device == devices.CPU else devices.put(self.device, array)

    def wait(self) -> None:
        """Until everything is done that was queued on a device."""
        lib.vcs_batch_wait(self.handle)

    def set_stream(self, stream: int) -> None:
        """The CUDA stream of later calls, as torch.cuda.current_stream().cuda_stream gives it; 0: the default one."""
        lib.vcs_batch_set_stream(self.handle, stream)
        self._stream = stream

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

    def _ids(self, env_ids: Any) -> np.ndarray:
        """Numbers of environments, checked; None: of all."""
        if env_ids is None:
            return np.arange(self.num_envs, dtype=np.int32)
        ids = _arrays.integers(env_ids, "env_ids")
        if ids.ndim != 1:
            raise ValueError(f"env_ids is a list of numbers, not an array of shape {ids.shape}")
        if ids.size and (ids.min() < 0 or ids.max() >= self.num_envs):
            raise IndexError(f"env_id out of range: there are {self.num_envs} environments")
        return ids

    def _resets(self, reset_indices: Any, reset_seeds: Any) -> tuple[np.ndarray, np.ndarray]:
        ids, seeds = self._ids(reset_indices), _arrays.integers(reset_seeds, "seeds")
        if ids.shape != seeds.shape or ids.ndim != 1:
            raise ValueError("reset takes one seed for each environment")
        if len(set(ids.tolist())) != ids.size:
            raise ValueError("duplicate env_id in a reset")
        if ids.size < self.num_envs and not self._started:
            raise RuntimeError("the first reset() must reset every environment")
        return ids, seeds

    def reset(self, reset_indices: Any, reset_seeds: Any) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
        """Starts episodes in these environments; a seed of -1 lets its generators go on."""
        ids, seeds = self._resets(reset_indices, reset_seeds)
        if ids.size < self.num_envs and self.batch_size < self.num_envs:
            raise ValueError("some environments alone cannot be reset with batch_size < num_envs: send_reset does")
        with self.handle.lock:
            arrays, results = self._results()
            on_device = self._there(ids), self._there(seeds)
            lib.vcs_batch_reset(self.handle, *on_device, ids.size, results)
            self.wait()  # the arrays above are read until then
            self._started = True
            if self.batch_size < self.num_envs:
                self._last_ids = arrays["env_ids"].copy()
            return arrays.get("observations"), self._info(arrays)

    def send_reset(self, reset_indices: Any, reset_seeds: Any) -> None:
        """The same, with results that come by recv."""
        ids, seeds = self._resets(reset_indices, reset_seeds)
        with self.handle.lock:
            lib.vcs_batch_send_reset(self.handle, ids, seeds, ids.size)
            self._started = True

    @staticmethod
    def _actions(
        action_ids: Any, paddle_strengths: Any, shape: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        actions = _arrays.integers(action_ids, "actions", fractions=False)
        if actions.shape != shape:
            raise ValueError(f"actions of shape {shape} are expected, not {actions.shape}")
        if paddle_strengths is None:
            return actions, None
        strengths = _arrays.floats(paddle_strengths, "strengths")
        if strengths.shape != actions.shape:
            raise ValueError("there is one strength for each action")
        return actions, strengths

    def _shown(self, arrays: dict[str, np.ndarray]) -> Any:
        """What a step returns."""
        info: dict[str, Any] = self._info(arrays)
        if "final_observations" in arrays and (arrays["terminated"].any() or arrays["truncated"].any()):
            info["final_obs"] = arrays["final_observations"]
        return arrays.get("observations"), arrays["rewards"], arrays["terminated"], arrays["truncated"], info

    def send(self, action_ids: Any, paddle_strengths: Any = None, env_ids: Any = None) -> None:
        """Actions, by number in each environment's own set: for the environments of the last results, in their order, or
        for those in env_ids, none of which may be under way."""
        with self.handle.lock:
            ids = self._last_ids if env_ids is None else _arrays.integers(env_ids, "env_ids")
            if ids.ndim != 1:
                raise ValueError(f"env_ids is a list of numbers, not an array of shape {ids.shape}")
            actions, strengths = self._actions(action_ids, paddle_strengths, ids.shape)
            lib.vcs_batch_send_to(self.handle, ids, ids.size, actions, strengths)

    def recv(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Observations, rewards, terminations, truncations and info of the first batch_size environments that are ready;
        of fewer if no more were sent to. With batch_size all, they come in the order in which they were sent to."""
        with self.handle.lock:
            arrays, results = self._results()
            count = lib.vcs_batch_next(self.handle)
            lib.vcs_batch_receive(self.handle, results)
            if count < self.batch_size:
                arrays = {name: array[:count] for name, array in arrays.items()}
            if self.batch_size < self.num_envs:
                self._last_ids = arrays["env_ids"].copy()
            return self._shown(arrays)

    def step(
        self, action_ids: Any, paddle_strengths: Any = None
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """A send and a recv. Of all environments it is one call, whose threads write directly into the results."""
        if self.batch_size < self.num_envs:
            with self.handle.lock:
                self.send(action_ids, paddle_strengths)
                return self.recv()
        if self.device != devices.CPU:
            return self._step_there(action_ids, paddle_strengths)
        actions, strengths = self._actions(action_ids, paddle_strengths, (self.num_envs,))
        with self.handle.lock:
            arrays, results = self._results()
            lib.vcs_batch_step(self.handle, actions, strengths, results)
            return self._shown(arrays)

    def _step_there(self, action_ids: Any, paddle_strengths: Any) -> Any:
        """A step on a device, which is only queued. Actions of the device are read where they are."""
        if paddle_strengths is not None:
            raise ValueError("a device has no strengths of actions")
        borrowed = devices.borrow(devices.as_int32(action_ids, "actions"), self.device, self._stream)
        with self.handle.lock:
            if borrowed is None:
                actions = self._actions(action_ids, None, (self.num_envs,))[0]
                self._check_range(actions)
                self.wait()  # who may still read the actions before
                self._chosen.fill(actions)
            elif borrowed.shape != (self.num_envs,) or not borrowed.dense:
                raise ValueError(f"actions of shape {(self.num_envs,)} are expected on a device, not {borrowed}")
            arrays, results = self._results()
            lib.vcs_batch_step(self.handle, borrowed or self._chosen, None, results)
            self._borrowed = borrowed
            return self._shown(arrays)

    def _check_range(self, actions: np.ndarray) -> None:
        """Actions that go to a device; those that lie on one are not looked at, and do nothing if they are out of range."""
        wrong = np.flatnonzero((actions < 0) | (actions >= self._action_counts))
        if wrong.size:
            env = int(wrong[0])
            most = self._action_counts[env] - 1
            raise _c.BadArgument(f"environment {env} has actions 0 to {most}, not {actions[env]}")

    @functools.cached_property
    def _action_counts(self) -> np.ndarray:
        """How many actions each environment has."""
        return np.array([len(self.get_action_set(i)) for i in range(self.num_envs)])

    def continuous(self, actions: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Actions and strengths of radius, angle and fire."""
        polar = _arrays.floats(actions, "actions")
        if polar.ndim != 2 or polar.shape[1] != 3:
            raise ValueError(
                f"continuous actions are environments x 3 (radius, angle, fire), not an array of shape {polar.shape}"
            )
        numbers, strengths = np.empty(len(polar), np.int32), np.empty(len(polar), np.float32)
        lib.vcs_batch_continuous(polar, len(polar), threshold, numbers, strengths)
        return numbers, strengths

    def get_action_set(self, env: int = 0) -> list[Action]:
        numbers = np.zeros(_c.ACTIONS, np.int32)
        return [Action(n) for n in numbers[: lib.vcs_batch_actions(self.handle, env, numbers)]]

    def get_num_envs(self) -> int:
        return self.num_envs

    def get_observation_shape(self) -> tuple[int, ...]:
        return self.observation_shape

    # ---- states ----------------------------------------------------------------------------------------------------

    def clone_states(self, env_ids: Sequence[int] | None = None) -> np.ndarray | devices.Array:
        """States of these environments (None: of all), a row each: all that a later step depends on."""
        ids = self._ids(env_ids)
        shape = (ids.size, self.handle.state_size)
        with self.handle.lock:
            on_device = self._there(ids)
            if self.device == devices.CPU:
                states: Any = np.zeros(shape, np.uint8)
            else:
                states = devices.Array(self.device, shape, np.uint8, self.wait)
            lib.vcs_batch_copy(self.handle, on_device, ids.size, states)
            self.wait()
        return states

    def restore_states(
        self, states: np.ndarray, env_ids: Sequence[int] | None = None
    ) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
        """Puts states into environments, not necessarily those they come from; returns what reset returns."""
        ids = self._ids(env_ids)
        if isinstance(states, (bytes, bytearray, memoryview, str)) or states is None:
            raise TypeError(f"states must be what clone_state() gave, not {type(states).__name__}")
        if not isinstance(states, devices.Array):
            states = _arrays.integers(states, "states", np.uint8)
        if states.shape != (ids.size, self.handle.state_size):
            raise ValueError(
                f"{ids.size} states of {self.handle.state_size} bytes are expected, not an array of shape {states.shape}"
            )
        with self.handle.lock:
            arrays, results = self._results()
            on_device = self._there(ids), states if isinstance(states, devices.Array) else self._there(states)
            lib.vcs_batch_restore(self.handle, on_device[0], ids.size, on_device[1], results)
            self.wait()
            return arrays.get("observations"), self._info(arrays)

    def close(self) -> None:
        """Every later call is refused. Its threads end, and its memory is freed."""
        self.handle.close()
        self._pool = []
