"""Many environments at once: vcs_batch_t with arrays. This file does not need Gymnasium; vector.py makes a Gymnasium
environment of it.

The names are those of ale-py's ALEVectorInterface, and so are the results, byte for byte (docs/batch.md). ale-py does not
have: several cartridges, modes and difficulties in one batch, RAM and sound in `info`, copies of states, derivatives.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays, _c
from . import device as devices
from ._bind import whole
from ._c import lib
from .ale import Action
from .cartridge import Cartridge
from .functional import CONTROLS, WEIGHTS, grad_options
from .machine import action_number, inputs_of

AUTORESET = ("NextStep", "SameStep", "Disabled")
POOL = 8  # sets of result arrays that are kept for reuse
ENVS_MAX = 1 << 24
BATCH_ENV = np.dtype(_c.BatchEnv)


def _references(arrays: dict[str, np.ndarray]) -> int:
    """The largest number of references to one of the arrays."""
    return max(sys.getrefcount(array) for array in arrays.values())


def _result_struct(arrays: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return arrays, _c.BatchResults(**arrays)


_sample = _result_struct({"rewards": np.zeros(1, np.int32)})
UNHELD = _references(_sample[0])  # references to an array that only the pool holds


@dataclass
class BatchDerivatives:
    """The results of jvp and vjp of a batch; arrays that are not results of the product are None.

    Rows of cartridges with a shorter machine or image end with zeros. On a device the arrays are device.Arrays.
    """

    dstate: Any = None  # environments x slots, eight for each byte of the largest machine
    drom: Any = None  # environments x bytes of the largest image x 8
    dinput: Any = None  # environments x frames x 12
    dframes: Any = None  # environments x frames x height x 160
    dstate_after: Any = None  # environments x slots
    instructions: Any = None  # of each environment; -1: a frame did not fit a GPU's tape, and its results are invalid


def _each(value: Any, count: int, default: int, name: str) -> np.ndarray:
    """One number for all environments, or one for each; None is the default."""
    if value is None or isinstance(value, (int, np.integer)):
        return _arrays.integers(default if value is None else value, name)
    values = list(value)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values for {count} environments")
    return _arrays.integers([default if v is None else v for v in values], name)


class ALEVectorInterface:
    """A batch of environments.

    Args:
        rom_path: a game, or a list of games: environment i plays the i-th, modulo their number.
        num_envs, frame_skip, stack_num, ...: those of ale-py's ALEVectorInterface. thread_affinity_offset is accepted and
            ignored: the operating system places threads.
        autoreset_mode: "NextStep" (the default on the CPU), "SameStep" (the default on a device) or "Disabled".
        profile: "ale" (that of names and paths, unless given), "xitari" or "fixed"; a Cartridge has its own.
        cart_ids: which cartridge each environment plays.
        mode, difficulty: for all environments, or a list with one for each; None: the game's default.
        players: the number of players, 1, 2 or 4 (docs/players.md). With several, actions, rewards and info["lives"] have the
            shape num_envs x players.
        ram, sound: whether info contains them.
        observations: False makes no observations, which is faster for learners that use only RAM.
        copy: False returns the same arrays at every call and overwrites them, which is faster.
        threads_of: another batch on the CPU, whose threads step these environments, too. If steps of the two are begun in
            turn, a thread that finds nothing left to do in one goes on with the other.
        zeros: makes the host's arrays of results, as np.zeros does: for example in memory that a GPU copies from directly.
        device: "cuda", "cuda:1" (device.py): machines and results are in its memory. Results are device.Arrays, which
            every call overwrites; actions may be arrays of the device. docs/cuda.md lists what a device does not have.
    """

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
        profile: str | None = None,
        cart_ids: Sequence[int] | None = None,
        mode: int | Sequence[int | None] | None = None,
        difficulty: int | Sequence[int | None] | None = None,
        players: int = 1,
        ram: bool = False,
        sound: bool = False,
        observations: bool = True,
        copy: bool = True,
        threads_of: ALEVectorInterface | None = None,
        zeros: Callable[[tuple[int, ...], Any], np.ndarray] = np.zeros,
        device: str = "cpu",
    ) -> None:
        self.device = devices.number(device)
        if autoreset_mode is None:
            autoreset_mode = "NextStep" if self.device == devices.CPU else "SameStep"
        if autoreset_mode not in AUTORESET:
            raise ValueError(f"autoreset_mode is one of {', '.join(AUTORESET)}; {autoreset_mode!r} is none of them")
        if threads_of is not None and not isinstance(threads_of, ALEVectorInterface):
            raise TypeError(f"threads_of is another batch, not {type(threads_of).__name__}")
        roms = [rom_path] if isinstance(rom_path, (str, os.PathLike, Cartridge)) else rom_path
        self.carts = [Cartridge.find(rom, profile) for rom in roms]
        if not self.carts:
            raise _c.BadArgument("a batch needs a cartridge")
        options = _c.BatchOptions()
        lib.vcs_batch_defaults(options)
        on_device = self.device != devices.CPU
        num_envs = whole(num_envs, "num_envs", 1, 2**31 - 1)
        if not observations:  # no picture is drawn
            img_width = img_height = stack_num = 0
        for name, value in (
            ("device", self.device), ("stack_in_place", on_device and observations),
            ("envs", num_envs), ("batch_size", batch_size), ("threads", num_threads), ("width", img_width),
            ("height", img_height), ("stack", stack_num), ("frame_skip", frame_skip), ("noop_max", noop_max),
            ("max_episode_frames", max_episode_steps), ("repeat_action_probability", repeat_action_probability),
            ("autoreset", AUTORESET.index(autoreset_mode)), ("rgb", not grayscale), ("max_pool", maxpool),
            ("fire_reset", use_fire_reset), ("episodic_life", episodic_life), ("life_loss_info", life_loss_info),
            ("reward_clipping", reward_clipping), ("full_action_space", full_action_space), ("sound", sound), ("players", players),
        ):  # fmt: skip
            setattr(options, name, value)
        envs = None
        if num_envs <= ENVS_MAX:  # for more, the library's error states the memory that they need
            envs = np.zeros(num_envs, BATCH_ENV)
            numbers = np.arange(num_envs)
            envs["cart"] = numbers % len(self.carts) if cart_ids is None else _each(cart_ids, num_envs, 0, "cart_ids")
            envs["mode"] = _each(mode, num_envs, -1, "mode")
            envs["difficulty"] = _each(difficulty, num_envs, -1, "difficulty")
            envs["seed"] = numbers
        self.handle = lib.vcs_batch_create([cart.handle for cart in self.carts], len(self.carts), envs, options)
        if threads_of is not None:
            lib.vcs_batch_share_threads(self.handle, threads_of.handle)
        self.num_envs, self.batch_size = num_envs, batch_size or num_envs
        self.players: int = self.handle.players
        each: tuple[int, ...] = (self.players,) if self.players > 1 else ()  # of an environment
        self._each = each
        shape = (stack_num, img_height, img_width) if grayscale else (stack_num, img_height, img_width, 3)
        self.observation_shape: tuple[int, ...] = shape
        self._copy, self._started, self._new = copy and not on_device, False, zeros
        self._last_ids = np.arange(num_envs, dtype=np.int32)  # the environments of a send without ids
        names = ("env_ids", "rewards", "lives", "frame_numbers", "episode_frame_numbers")
        rows: list[tuple[Any, ...]] = [
            (observations, "observations", shape, np.uint8),
            (observations and autoreset_mode == "SameStep", "final_observations", shape, np.uint8),
            *((True, name, each if name in ("rewards", "lives") else (), np.int32) for name in names),
            (True, "terminated", (), np.bool_),
            (True, "truncated", (), np.bool_),
            (ram, "ram", (_c.RAM_BYTES,), np.uint8),
            (sound, "sound", (_c.SOUND_SAMPLES,), np.uint8),
        ]
        self._rows = [row[1:] for row in rows if row[0]]
        self._pool: list[tuple[dict[str, Any], Any]] = []
        self._stream = 0
        self._borrowed: Any = None
        self._lent = False  # whether JAX owns the results (lend)
        self._begun: Any = None  # the arrays of a step that begin_step started; on a device, its results
        if on_device:
            self._chosen = devices.Array(self.device, (num_envs, *each), np.int32, self.wait)
            arrays = {n: devices.Array(self.device, (num_envs, *s), d, self.wait) for n, s, d in self._rows}
            self._pool.append(_result_struct(arrays))

    def _results(self) -> tuple[dict[str, Any], Any]:
        """Returns arrays to write results into: with `copy`, arrays of the pool that no caller holds any more,
        otherwise new ones. New arrays are slower, because the operating system maps their memory page by page.
        """
        self._refuse_if_lent()
        for arrays, results in self._pool:
            if not self._copy or _references(arrays) <= UNHELD:
                return arrays, results
        if self.device != devices.CPU:  # its arrays were made with the batch, and closing it released them
            raise _c.Closed("this vector environment was closed; make a new one")
        made = _result_struct({n: self._new((self.batch_size, *shape), dtype) for n, shape, dtype in self._rows})
        if len(self._pool) < POOL:
            self._pool.append(made)
        return made

    @property
    def actions_shape(self) -> tuple[int, ...]:
        """The shape of the actions of a step."""
        return (self.num_envs, *self._each)

    def lend(self) -> tuple[int, dict[str, tuple[tuple[int, ...], Any]]]:
        """Hands environments on a device over to JAX: returns their number in python/native/xla.c, and shapes and types
        of results. From then on JAX's arrays have the results and the stacks, so other calls are refused."""
        self._refuse_if_lent()
        number = lib.vcs_xla_lend(self.handle)
        if not number:
            raise MemoryError("out of memory")
        self._lent = True
        return number, {name: ((self.num_envs, *shape), np.dtype(dtype)) for name, shape, dtype in self._rows}

    def _refuse_if_lent(self) -> None:
        if self._lent:
            raise _c.BadArgument("JAX has these environments since xla(): use its reset and step, or make new ones")

    def _there(self, array: np.ndarray) -> Any:
        """A copy of an array of the host in the memory of the device."""
        return array if self.device == devices.CPU else devices.put(self.device, array)

    def wait(self) -> None:
        """Waits until all work that was queued on a device is done."""
        lib.vcs_batch_wait(self.handle)

    def set_stream(self, stream: int) -> None:
        """Sets the CUDA stream of later calls, as torch.cuda.current_stream().cuda_stream gives it; 0: the default one."""
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
        """Numbers of environments, checked; None: all of them."""
        if env_ids is None:
            return np.arange(self.num_envs, dtype=np.int32)
        ids = _arrays.integers(env_ids, "env_ids")
        if ids.ndim != 1:
            raise ValueError(f"env_ids is a list of numbers, not an array of shape {ids.shape}")
        if ids.size and (ids.min() < 0 or ids.max() >= self.num_envs):
            raise IndexError(f"env_id out of range: there are {self.num_envs} environments")
        return ids.copy()  # another thread may change the caller's array after this check

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
        """Starts episodes in these environments; returns observations and info. A seed of -1 keeps an environment's generators."""
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
        """Starts episodes in these environments; recv returns the results."""
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
        """Returns the results of a step."""
        info: dict[str, Any] = self._info(arrays)
        if "final_observations" in arrays and (
            self.device != devices.CPU or arrays["terminated"].any() or arrays["truncated"].any()
        ):  # on a device always, because a test would have to wait for the device
            info["final_obs"] = arrays["final_observations"]
        return arrays.get("observations"), arrays["rewards"], arrays["terminated"], arrays["truncated"], info

    def send(self, action_ids: Any, paddle_strengths: Any = None, env_ids: Any = None) -> None:
        """Sends actions, by number in each environment's own set.

        The actions are for the environments in env_ids, which must be idle. Without env_ids they are for all environments
        by ascending number; with batch_size less than num_envs, for those of the last results, in their order.
        """
        with self.handle.lock:
            ids = self._last_ids if env_ids is None else _arrays.integers(env_ids, "env_ids")
            if ids.ndim != 1:
                raise ValueError(f"env_ids is a list of numbers, not an array of shape {ids.shape}")
            actions, strengths = self._actions(action_ids, paddle_strengths, (*ids.shape, *self._each))
            lib.vcs_batch_send_to(self.handle, ids, ids.size, actions, strengths)

    def recv(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Returns observations, rewards, terminations, truncations and info of the first batch_size environments that are ready.

        There are fewer results if actions were sent to fewer environments. With batch_size equal to num_envs results come in
        the order in which actions were sent.
        """
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
        """Sends actions and receives results; for all environments in one call."""
        if self.batch_size < self.num_envs:
            with self.handle.lock:
                self.send(action_ids, paddle_strengths)
                return self.recv()
        if self.device != devices.CPU:
            return self._step_there(action_ids, paddle_strengths)
        actions, strengths = self._actions(action_ids, paddle_strengths, (self.num_envs, *self._each))
        with self.handle.lock:
            arrays, results = self._results()
            lib.vcs_batch_step(self.handle, actions, strengths, results)
            return self._shown(arrays)

    def begin_step(self, action_ids: Any, paddle_strengths: Any = None) -> None:
        """Starts a step of all environments and returns while threads work on it; end_step returns its results.

        Threads write results into their arrays themselves, which is faster than send and recv. No other call is allowed
        in between. On a device this is a step, which is only queued.
        """
        with self.handle.lock:
            if self.device != devices.CPU:
                self._begun = self._step_there(action_ids, paddle_strengths)
                return
            if self._begun is not None:
                raise _c.BadArgument("a step was begun and has not ended: call end_step first")
            actions, strengths = self._actions(action_ids, paddle_strengths, (self.num_envs, *self._each))
            self._begun = arrays, results = self._results()  # held before threads begin to write to them
            try:
                lib.vcs_batch_begin_step(self.handle, actions, strengths, results)
            except _c.VCSError:
                self._begun = None
                raise

    def end_step(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Waits for the step that begin_step started; returns what step returns."""
        with self.handle.lock:
            begun, self._begun = self._begun, None
            if begun is None:
                raise _c.BadArgument("no step was begun: begin_step comes before end_step")
            if self.device != devices.CPU:
                return begun
            lib.vcs_batch_end_step(self.handle)
            return self._shown(begun[0])

    def _step_there(self, action_ids: Any, paddle_strengths: Any) -> Any:
        """A step on a device, which is only queued. Actions of the device are read where they are."""
        if paddle_strengths is not None:
            raise ValueError("a device has no strengths of actions")
        borrowed = devices.borrow(devices.as_int32(action_ids, "actions"), self.device, self._stream)
        with self.handle.lock:
            if borrowed is None:
                actions = self.check_actions(action_ids)
                self.wait()  # the device may still be reading the last actions
                self._chosen.fill(actions)
            elif borrowed.shape != (self.num_envs, *self._each) or not borrowed.dense:
                raise ValueError(
                    f"actions of shape {(self.num_envs, *self._each)} are expected on a device, not {borrowed}"
                )
            arrays, results = self._results()
            lib.vcs_batch_step(self.handle, borrowed or self._chosen, None, results)
            self._borrowed = borrowed
            return self._shown(arrays)

    def check_actions(self, action_ids: Any) -> np.ndarray:
        """Returns the actions of a step as an array, and raises an error if one of them is no action of its
        environment. A step on a device does not check actions that are on the device: an action out of range is
        NOOP."""
        actions = self._actions(action_ids, None, (self.num_envs, *self._each))[0]
        flat = actions.ravel()
        counts = np.repeat(self._action_counts, self.players)
        wrong = np.flatnonzero((flat < 0) | (flat >= counts))
        if wrong.size:
            first = int(wrong[0])
            env, most = first // self.players, counts[first] - 1
            raise _c.BadArgument(f"environment {env} has actions 0 to {most}, not {flat[first]}")
        return actions

    @functools.cached_property
    def _action_counts(self) -> np.ndarray:
        """How many actions each environment has."""
        return np.array([len(self.get_action_set(i)) for i in range(self.num_envs)])

    def continuous(self, actions: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Returns actions and strengths for radius, angle and fire (environments x 3)."""
        polar = _arrays.floats(actions, "actions")
        if polar.ndim != 2 or polar.shape[1] != 3:
            raise ValueError(
                f"continuous actions are environments x 3 (radius, angle, fire), not an array of shape {polar.shape}"
            )
        numbers, strengths = np.empty(len(polar), np.int32), np.empty(len(polar), np.float32)
        lib.vcs_batch_continuous(polar, len(polar), threshold, numbers, strengths)
        return numbers, strengths

    def get_action_set(self, env: int = 0) -> list[Action]:
        """The actions that an environment's numbers stand for."""
        numbers = np.zeros(_c.ACTIONS, np.int32)
        return [Action(n) for n in numbers[: lib.vcs_batch_actions(self.handle, env, numbers)]]

    def get_num_envs(self) -> int:
        """The number of environments."""
        return self.num_envs

    def get_observation_shape(self) -> tuple[int, ...]:
        """The shape of one environment's observation."""
        return self.observation_shape

    # ---- states ----------------------------------------------------------------------------------------------------

    def clone_states(self, env_ids: Sequence[int] | None = None) -> np.ndarray | devices.Array:
        """Returns the states of these environments (None: of all), a row of bytes each."""
        self._refuse_if_lent()
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
        """Puts states into environments, also into others than they were cloned from; returns what reset returns."""
        ids = self._ids(env_ids)
        if isinstance(states, (bytes, bytearray, memoryview, str)) or states is None:
            raise TypeError(f"states must be what clone_state() gave, not {type(states).__name__}")
        if not isinstance(states, devices.Array):
            states = np.array(_arrays.integers(states, "states", np.uint8))  # checked and restored from one copy
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

    # ---- derivatives -----------------------------------------------------------------------------------------------

    @property
    def env_bytes(self) -> int:
        """Bytes of memory for each environment; on a device, of the device's memory."""
        return lib.vcs_batch_bytes(self.handle, np.zeros(1, np.uintp))

    def _controls(self, actions: Any) -> np.ndarray:
        """Returns the controls of the left players, environments x frames, from actions by number or name."""
        if any(cart.controllers[0] == "paddles" for cart in self.carts):
            raise ValueError("actions move no paddles here: give `controls`, an array of functional.CONTROLS")
        rows = [[action_number(action) for action in row] for row in actions]
        controls = np.zeros((len(rows), len(rows[0]) if rows else 0), CONTROLS)
        if len({len(row) for row in rows}) > 1 or controls.shape[0] != self.num_envs or not controls.shape[1]:
            raise ValueError(f"actions are {self.num_envs} lists of equally many frames")
        for held, row in zip(controls["held"], rows):
            held[:, 0] = [int(inputs_of(action)[:5] @ WEIGHTS[:5]) for action in row]
        return controls

    def _floats(self, values: Any, shape: tuple[int, ...], name: str) -> Any:
        """Returns floats in the memory of the device, in this shape; None stays None."""
        if values is None:
            return None
        borrowed = devices.borrow(values, self.device, self._stream)
        if borrowed is None:
            values = _arrays.floats(values, name)
        if (borrowed or values).shape != shape:
            raise ValueError(f"{name} of shape {shape} is expected, not {(borrowed or values).shape}")
        if borrowed is None:
            return self._there(values)
        if borrowed.dtype != np.float32 or not borrowed.dense:
            raise ValueError(f"{name} must be dense float32 numbers on the device, not {borrowed}")
        return borrowed

    def _zeros(self, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        if self.device == devices.CPU:
            return np.zeros(shape, dtype)
        made = devices.Array(self.device, shape, dtype, self.wait)
        made.fill(np.zeros(shape, dtype))
        return made

    def _product(
        self, call: Any, actions: Any, controls: Any, given: dict[str, Any], names: set[str], options: Any
    ) -> BatchDerivatives:
        """Computes a JVP or VJP: `given` are the caller's arrays, `names` the results."""
        if (actions is None) == (controls is None):
            raise ValueError("give actions or controls")
        held = self._controls(actions) if controls is None else np.asarray(controls)
        if held.dtype != CONTROLS or held.ndim != 2 or held.shape[0] != self.num_envs or not held.shape[1]:
            raise ValueError(f"controls are {self.num_envs} x frames of functional.CONTROLS")
        heights = {cart.height for cart in self.carts}
        if len(heights) > 1:
            raise ValueError(f"derivatives need pictures of one height, and these cartridges have {sorted(heights)}")
        height, envs, frames = heights.pop(), self.num_envs, held.shape[1]
        slots, rom = 8 * max(cart.state_size for cart in self.carts), max(cart.rom.size for cart in self.carts)
        shapes = {
            "dstate": (envs, slots),
            "drom": (envs, rom, 8),
            "dinput": (envs, frames, _c.INPUTS),
            "dframes": (envs, frames, height, _c.WIDTH),
            "dstate_after": (envs, slots),
        }
        settings = _c.BatchGradOptions()
        lib.vcs_batch_grad_defaults(settings)
        settings.grad, settings.frames = grad_options(self.carts[0], **{"method": "ste", **options}), frames
        with self.handle.lock:
            arrays = {name: self._floats(given.get(name), shape, name) for name, shape in shapes.items()}
            arrays.update({name: self._zeros(shapes[name]) for name in names})
            instructions = self._zeros((envs,), np.int64)
            inputs = _c.BatchInputs(
                state=arrays["dstate"],
                rom=arrays["drom"],
                input=arrays["dinput"],
                state_stride=slots,
                rom_stride=8 * rom,
                input_stride=_c.INPUTS * frames,
            )
            outputs = _c.BatchOutputs(
                pixels=arrays["dframes"],
                state=arrays["dstate_after"],
                pixels_stride=frames * height * _c.WIDTH,
                state_stride=slots,
            )
            call(self.handle, self._there(np.ascontiguousarray(held)), settings, inputs, outputs, instructions)
            self.wait()  # the arrays above are read until then
        return BatchDerivatives(**{name: arrays[name] for name in names}, instructions=instructions)

    def jvp(
        self,
        actions: Any = None,
        *,
        controls: Any = None,
        dstate: Any = None,
        drom: Any = None,
        dinput: Any = None,
        **options: Any,
    ) -> BatchDerivatives:
        """The derivatives of all later pictures and states of every environment in one direction (forward mode).

        Every environment runs from its present machine, which does not change, for some frames.

        Args:
            actions: environments x frames, numbers or names of the 18 actions; or `controls`, an array of CONTROLS.
            dstate, drom, dinput: the direction (environments x slots, x image bytes x 8, x frames x 12); None is zero.
            options: method ("ste" unless given, "bit", "naive"; "bit+fork" on the CPU), alpha, temperature, side, values.

        Returns dframes (environments x frames x height x 160) and dstate_after (environments x slots).

        Example:
            >>> found = batch.jvp([["NOOP"] * 2] * batch.num_envs, dinput=direction, method="bit")
            >>> found.dframes.shape
        """
        given = {"dstate": dstate, "drom": drom, "dinput": dinput}
        return self._product(lib.vcs_call_batch_jvp, actions, controls, given, {"dframes", "dstate_after"}, options)

    def vjp(
        self,
        actions: Any = None,
        *,
        controls: Any = None,
        dframes: Any = None,
        dstate_after: Any = None,
        **options: Any,
    ) -> BatchDerivatives:
        """The derivatives of one weighted sum of each environment's later pixels and state (reverse mode).

        Args:
            actions, controls, options: as for jvp.
            dframes: weights of pixels, environments x frames x height x 160; None is zero.
            dstate_after: weights of the state after the last frame, environments x slots; None is zero.

        Returns dstate, drom and dinput: derivatives with respect to every bit of each environment's present machine, of
        its image, and every input.

        Example:
            >>> found = batch.vjp([["NOOP"]] * batch.num_envs, dframes=weights, method="bit")
            >>> found.dinput[:, 0, 3]  # of the stick to the right
        """
        given = {"dframes": dframes, "dstate_after": dstate_after}
        return self._product(lib.vcs_call_batch_vjp, actions, controls, given, {"dstate", "drom", "dinput"}, options)

    def close(self) -> None:
        """Closes the batch: its threads end, its memory is freed, and later calls raise an error."""
        self.handle.close()
        self._pool = []
