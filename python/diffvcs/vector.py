"""The vector environment: ale-py's AtariVectorEnv with the same arguments, and further ones."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    from gymnasium import error
    from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as problem:
    raise ImportError("environments need Gymnasium: pip install gymnasium") from problem

from . import _arrays, _c
from . import device as devices
from ._c import lib
from .batch import ALEVectorInterface
from .cartridge import Cartridge
from .env import continuous_space

# Settings of papers, by name; arguments that are given with a preset override it.
PRESETS: dict[str, dict[str, Any]] = {
    # Mnih et al., Nature 518 (2015): no-op starts, a lost life ends an episode, rewards of -1, 0, 1
    "dqn": dict(noop_max=30, episodic_life=True, reward_clipping=True, use_fire_reset=True, repeat_action_probability=0.0),
    # Hessel et al., AAAI 2018: the same environment, episodes of half an hour
    "rainbow": dict(
        noop_max=30, episodic_life=True, reward_clipping=True, use_fire_reset=True, repeat_action_probability=0.0,
        max_num_frames_per_episode=108_000,
    ),
    # Machado et al., JAIR 61 (2018): sticky actions, all actions, episodes end with the game, no other randomness
    "machado18": dict(
        noop_max=0, episodic_life=False, reward_clipping=False, use_fire_reset=False, repeat_action_probability=0.25,
        full_action_space=True, max_num_frames_per_episode=108_000,
    ),
}  # fmt: skip

OBJECTS_LISTED = 256  # for each environment on a device


class DiffVCSVectorEnv(VectorEnv):
    """Many games, stepped on all cores, with the usual preprocessing.

    Arguments and results are those of AtariVectorEnv. Further arguments:

    Args:
        game: a name, a path or a Cartridge, or a list of them: environment i plays the i-th, modulo their number.
        mode, difficulty: for all environments, or a list with one for each; None: the game's default.
        obs_type: "image", or "ram": observations are 128 bytes, and nothing is drawn.
        ram, sound_obs: info["ram"] (128 bytes each) and info["sound"] (512 samples each).
        objects: info["objects"] is a list with an array for each result: the objects of its last frame
            (Machine.objects). On a device it is one array of 256 objects for each environment, from top to bottom, and
            info["object_counts"] says how many of the 256 are filled; torch.from_dlpack gives 22 16-bit numbers for
            each: x, y, w, h, ...
        preset: "dqn", "rainbow" or "machado18"; other arguments override it.
        profile: "ale" (that of names and paths, unless given), "xitari" or "fixed"; a Cartridge has its own.
        copy: False returns the same arrays at every step and overwrites them.
        device: "cuda", "cuda:1", ...: games and results stay on the GPU. Results are arrays for torch.from_dlpack and
            the like, which every step overwrites. By default a step that ends an episode begins the next one, and info
            always has final_obs, whose rows are defined only where an episode ended. Options that a device does not
            support are refused (docs/cuda.md).

    thread_affinity_offset is accepted and ignored: the operating system places threads.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: str | os.PathLike[str] | Cartridge | Sequence[str | os.PathLike[str] | Cartridge],
        num_envs: int = 1,
        *,
        preset: str | None = None,
        **settings: Any,
    ) -> None:
        if preset is not None:
            if preset not in PRESETS:
                raise ValueError(f"no preset {preset!r}; there are {', '.join(PRESETS)}")
            settings = {**PRESETS[preset], **settings}
        known = list(inspect.signature(self._open).parameters)[2:]
        for name in settings:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
                raise TypeError(f"DiffVCSVectorEnv has no argument {name!r}; {hint}")
        self._made_with = game, num_envs, settings
        self._open(game, num_envs, **settings)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled and copied vector environments continue their episodes; refused while a step is under way."""
        states = None
        if self.ale._started:
            states = np.asarray(self.ale.clone_states())
        return {"made_with": self._made_with, "states": states, "generator": self._np_random}

    def __setstate__(self, state: dict[str, Any]) -> None:
        game, num_envs, settings = state["made_with"]
        self.__init__(game, num_envs, **settings)  # type: ignore[misc]
        self._np_random = state["generator"]
        if state["states"] is not None:
            self.ale.reset(np.arange(num_envs), np.zeros(num_envs, np.int32))
            self.ale.restore_states(state["states"])

    def _open(
        self,
        game: Any,
        num_envs: int,
        *,
        batch_size: int = 0,
        num_threads: int = 0,
        thread_affinity_offset: int = -1,
        max_num_frames_per_episode: int = 108000,
        repeat_action_probability: float = 0.0,
        full_action_space: bool = False,
        continuous: bool = False,
        continuous_action_threshold: float = 0.5,
        autoreset_mode: AutoresetMode | str | None = None,
        img_height: int = 84,
        img_width: int = 84,
        grayscale: bool = True,
        stack_num: int = 4,
        frameskip: int = 4,
        maxpool: bool = True,
        noop_max: int = 30,
        episodic_life: bool = False,
        life_loss_info: bool = False,
        reward_clipping: bool = True,
        use_fire_reset: bool = True,
        mode: int | Sequence[int | None] | None = None,
        difficulty: int | Sequence[int | None] | None = None,
        obs_type: str = "image",
        ram: bool = False,
        sound_obs: bool = False,
        objects: bool = False,
        profile: str | None = None,
        copy: bool = True,
        device: str = "cpu",
    ) -> None:
        if type(frameskip) is not int or frameskip < 1:
            raise error.Error(f"frameskip is a positive number of frames; {frameskip!r} is none")
        if obs_type not in ("image", "ram"):
            raise error.Error(f"obs_type is image or ram; {obs_type!r} is neither")
        if autoreset_mode is None:
            autoreset_mode = AutoresetMode.NEXT_STEP if device == "cpu" else AutoresetMode.SAME_STEP
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        games = [game] if isinstance(game, (str, os.PathLike, Cartridge)) else list(game)
        self.ale = ALEVectorInterface(
            games,
            num_envs, frame_skip=frameskip, stack_num=stack_num, img_height=img_height, img_width=img_width,
            grayscale=grayscale, maxpool=maxpool, noop_max=noop_max, use_fire_reset=use_fire_reset,
            episodic_life=episodic_life, life_loss_info=life_loss_info, reward_clipping=reward_clipping,
            max_episode_steps=max_num_frames_per_episode, repeat_action_probability=repeat_action_probability,
            full_action_space=full_action_space or continuous or len(games) > 1, batch_size=batch_size,
            num_threads=num_threads, thread_affinity_offset=thread_affinity_offset,
            autoreset_mode=self.autoreset_mode.value, profile=profile, mode=mode, difficulty=difficulty,
            ram=ram or obs_type == "ram", sound=sound_obs, observations=obs_type == "image", copy=copy,
            device=device,
        )  # fmt: skip
        self._objects = objects
        self._found = _arrays.Structs(_c.Object, _c.OBJECTS_MAX)  # what `objects` copies its result from
        self._listed: tuple[devices.Array, devices.Array] | None = None
        if objects and device == "cpu":
            lib.vcs_batch_set_objects(self.ale.handle, 1)
        elif objects:
            self._listed = (
                devices.Array(self.ale.device, (num_envs, OBJECTS_LISTED), np.dtype(_c.Object), self.ale.wait),
                devices.Array(self.ale.device, (num_envs,), np.int32, self.ale.wait),
            )
        self.num_envs, self.batch_size = num_envs, self.ale.batch_size
        self.continuous, self.continuous_action_threshold = continuous, continuous_action_threshold
        self.grayscale, self.obs_type = grayscale, obs_type
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        shape = self.ale.observation_shape if obs_type == "image" else (_c.RAM_BYTES,)
        self.single_observation_space = Box(0, 255, shape, np.uint8)
        self.observation_space = batch_space(self.single_observation_space, self.batch_size)
        self.single_action_space, self.action_space = self._action_spaces()

    def _action_spaces(self) -> tuple[Space[Any], Space[Any]]:
        if self.continuous:
            direct = continuous_space()
            return direct, batch_space(direct, self.batch_size)
        counts = [len(self.ale.get_action_set(i)) for i in range(self.num_envs)]
        single = Discrete(max(counts))
        if min(counts) < max(counts) and self.batch_size == self.num_envs:
            return single, MultiDiscrete(counts)
        return single, batch_space(Discrete(min(counts)), self.batch_size)

    def _shown(self, observations: Any, info: Any) -> Any:
        return observations if self.obs_type == "image" else info["ram"]

    def reset(
        self, *, seed: int | np.ndarray | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts episodes. An int seeds environments with seed, seed + 1, ..., an array seeds each with its own.

        options["reset_mask"] chooses environments; the observations of all other environments stay as they are.
        """
        ids = np.arange(self.num_envs)
        if options and "reset_mask" in options:
            mask = options["reset_mask"]
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
                raise TypeError("`reset_mask` must be a boolean numpy array")
            if mask.shape != (self.num_envs,):
                raise ValueError(f"`reset_mask` must have shape {(self.num_envs,)}, got {mask.shape}")
            (ids,) = np.nonzero(mask)
        if seed is None:
            seeds = np.full(len(ids), -1)
        elif isinstance(seed, (int, np.integer)):
            seeds = np.arange(seed, seed + len(ids))
        elif isinstance(seed, (np.ndarray, list, tuple)):
            seeds = np.asarray(seed)
            if seeds.shape != (len(ids),):
                raise ValueError(
                    f"`seed` needs one entry per sub-environment being reset: {len(ids)}, got {seeds.shape}"
                )
        else:
            raise TypeError("a seed is a number, or an array of numbers")
        observations, info = self.ale.reset(ids, seeds)
        return self._shown(observations, info), self._with_objects(info)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        return self._results(self.ale.step(*self._arguments(actions)))

    def send(self, actions: np.ndarray) -> None:
        """Sends actions to all environments by ascending number; with batch_size less than num_envs, to those of the
        last results, in their order."""
        self.ale.send(*self._arguments(actions))

    def recv(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Returns the first batch_size results that are ready; info["env_id"] names their environments."""
        return self._results(self.ale.recv())

    def _arguments(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.ale.continuous(actions, self.continuous_action_threshold) if self.continuous else (actions,)

    def _results(self, results: Any) -> Any:
        self._with_objects(results[4])
        return results if self.obs_type == "image" else (results[4]["ram"], *results[1:])

    def _with_objects(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._listed:
            lib.vcs_batch_list_objects(self.ale.handle, *self._listed, OBJECTS_LISTED)
            info["objects"], info["object_counts"] = self._listed
        elif self._objects:
            info["objects"] = self._objects_of(info.get("env_id", np.arange(self.num_envs)).astype(np.int32))
        return info

    def _objects_of(self, envs: np.ndarray) -> list[np.ndarray]:
        """The objects of environments, which the threads of the batch have listed at the end of their steps: parts of one
        array, with the objects of one environment after another."""
        counts = np.empty(len(envs), np.int32)
        with self.ale.handle.lock:
            count = lib.vcs_batch_gather_objects(self.ale.handle, envs, len(envs), counts, self._found.array[:0], 0)
            if count < 0:
                raise RuntimeError("an environment was sent to: receive its results before you list its objects")
            found = np.empty(count, self._found.array.dtype)
            lib.vcs_batch_gather_objects(self.ale.handle, envs, len(envs), counts, found, count)
        ends = np.cumsum(counts).tolist()
        return [found[first:end] for first, end in zip([0, *ends], ends)]

    def objects(self, env: int) -> np.ndarray:
        """What the TIA drew in the last frame of an environment on the CPU (Machine.objects)."""
        with self.ale.handle.lock:  # one thread at a time uses the array
            count = lib.vcs_batch_objects(self.ale.handle, env, self._found.array, _c.OBJECTS_MAX)
            found = self._found.first(max(count, 0))
        if count < 0:
            if self.ale.device:
                raise ValueError("environments on a device list their objects in info: make them with objects=True")
            if not 0 <= env < self.num_envs:
                raise IndexError(f"there is no environment {env}, but 0 to {self.num_envs - 1}")
            raise RuntimeError(f"environment {env} was sent to: receive its results before you list its objects")
        return found

    def set_stream(self, stream: int) -> None:
        """Sets the CUDA stream of later steps: torch.cuda.current_stream().cuda_stream."""
        self.ale.set_stream(stream)

    # ---- states ----------------------------------------------------------------------------------------------------

    def clone_state(self, env_ids: Sequence[int] | None = None) -> Any:
        """Returns the states of environments, a row of bytes each."""
        return self.ale.clone_states(env_ids)

    def restore_state(
        self, states: np.ndarray, env_ids: Sequence[int] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Puts states into environments of the same game, mode and difficulty; returns what reset returns."""
        observations, info = self.ale.restore_states(states, env_ids)
        return self._shown(observations, info), self._with_objects(info)

    def get_action_meanings(self, env: int = 0) -> list[str]:
        return [action.name for action in self.ale.get_action_set(env)]

    def __del__(self) -> None:
        """Does nothing. In older versions of Gymnasium the inherited function closes the environments, and then the
        results that a caller still holds could not be read."""

    def close_extras(self, **_: Any) -> None:
        if "ale" in self.__dict__:  # after refused arguments the object has no machines
            self.ale.close()

    # ---- JAX -------------------------------------------------------------------------------------------------------

    def xla(self) -> Any:
        """Returns (handle, reset, step) for jit and scan, like AtariVectorEnv.xla. The environments stay in this
        object; the handle only orders the calls. diffvcs.jax has the machine as a pure function.

        On a device a step is an XLA custom call that is queued on XLA's stream, without Python and without waiting. The
        handle is the arrays of the results, which a call updates in place: pass to each call the handle that the last
        call returned. From then on JAX owns these environments: begin with reset(handle, seed), and call no other
        method except close.
        """
        from .jax import device_functions, vector_functions

        return device_functions(self) if self.ale.device else vector_functions(self)
