"""RLlib: the games under one name, "diffvcs", as single environments and as one vector for each environment runner.

    import diffvcs.rllib

    diffvcs.rllib.register()
    config = PPOConfig().environment("diffvcs", env_config={"game": "pong"})
    config.env_runners(num_env_runners=2, num_envs_per_env_runner=16, **diffvcs.rllib.VECTOR)

Without VECTOR, RLlib makes that many single environments and steps one after the other; with it, one batch steps all of them in C. Both
give the same observations: float32 from -1 to 1, because RLlib's networks take no bytes. `env_config` has the arguments of
DiffVCSVectorEnv, but batch_size and device, and:

    game     a name, a path or a Cartridge; default "pong"
    observe  "image": 84 x 84 x 4, the newest picture last; "ram": bytes of RAM and how they changed since the last step
    cells    "ram": which of the 128 bytes; default all

A runner has one thread unless num_threads says otherwise: runners are what RLlib has several of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
    from ray.tune.registry import register_env
except ImportError as problem:
    raise ImportError("diffvcs.rllib needs RLlib: pip install 'ray[rllib]'") from problem

from . import _arrays, _c
from .cartridge import Cartridge
from .vector import DiffVCSVectorEnv

NAME = "diffvcs"
VECTOR = {"gym_env_vectorize_mode": "vector_entry_point"}
OBSERVED = ("image", "ram")
CHANGE = 16  # the change of a byte in one step that counts as 1; larger ones do too


class RLlibVectorEnv(DiffVCSVectorEnv):
    """Many games with observations for RLlib's networks. Infos are empty: RLlib would keep them all."""

    def __init__(
        self,
        game: str | Cartridge | Sequence[str | Cartridge],
        num_envs: int = 1,
        *,
        observe: str = "image",
        cells: Sequence[int] | None = None,
        **settings: Any,
    ) -> None:
        if observe not in OBSERVED:
            raise ValueError(f"observe is one of {', '.join(OBSERVED)}; {observe!r} is neither")
        if cells is not None and observe != "ram":
            raise ValueError("cells are bytes of RAM: they need observe='ram'")
        for name in ("batch_size", "device"):
            if name in settings:
                raise ValueError(f"RLlib steps all environments together, on the CPU: {name} cannot be given")
        if settings.get("autoreset_mode") not in (None, AutoresetMode.NEXT_STEP, AutoresetMode.NEXT_STEP.value):
            raise ValueError(
                "RLlib takes autoreset_mode NextStep only: a game that has ended begins with the next step"
            )
        self._cells = np.arange(_c.RAM_BYTES) if cells is None else _arrays.integers(cells, "cells", np.int64)
        if self._cells.ndim != 1 or not ((self._cells >= 0) & (self._cells < _c.RAM_BYTES)).all():
            raise ValueError(f"cells are numbers from 0 to {_c.RAM_BYTES - 1}")
        super().__init__(game, num_envs, obs_type=observe, **{"num_threads": 1, **settings})
        self._made_with = game, num_envs, {"observe": observe, "cells": cells, **settings}
        if observe == "ram":
            shape: tuple[int, ...] = (2 * len(self._cells),)
        else:
            pictures, height, width, *colours = self.ale.observation_shape
            if colours:
                raise ValueError("RLlib's networks take gray pictures: grayscale=True")
            shape = (height, width, pictures)
        self.single_observation_space = Box(-1, 1, shape, np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.batch_size)
        self._ram = np.zeros((num_envs, len(self._cells)), np.float32)  # of the last observations
        self._change = np.zeros_like(self._ram)
        self._began = np.ones(num_envs, bool)  # environments whose next observation is the first one of a game

    def __getstate__(self) -> dict[str, Any]:
        own = {"ram": self._ram, "change": self._change.copy(), "began": self._began.copy()}
        return {**super().__getstate__(), **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._ram, self._change, self._began = state["ram"], state["change"], state["began"]

    def _shown(self, observations: Any, info: Any) -> Any:
        """What RLlib sees, with the changes of RAM as they are noted."""
        if self.obs_type == "image":
            return np.moveaxis(observations, 1, -1) / np.float32(127.5) - np.float32(1)
        self._ram = info["ram"][:, self._cells].astype(np.float32)
        return self._rows()

    def _rows(self) -> np.ndarray:
        change = np.clip(self._change / CHANGE, -1, 1)
        return np.concatenate([self._ram / np.float32(127.5) - 1, change], 1, dtype=np.float32)

    def _anew(self, ids: Any, observations: np.ndarray) -> np.ndarray:
        """The observations after these environments were put where no step led: their bytes have not changed."""
        self._change[ids] = 0
        self._began[ids] = False
        return observations if self.obs_type == "image" else self._rows()

    def reset(
        self, *, seed: int | np.ndarray | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        observations, _ = super().reset(seed=seed, options=options)
        return self._anew((options or {}).get("reset_mask", slice(None)), observations), {}

    def restore_state(
        self, states: np.ndarray, env_ids: Sequence[int] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        observations, _ = super().restore_state(states, env_ids)
        return self._anew(slice(None) if env_ids is None else env_ids, observations), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        before = self._ram
        observations, rewards, terminated, truncated, info = self.ale.step(*self._arguments(actions))
        seen = self._shown(observations, info)
        if self.obs_type == "ram":
            self._change = np.where(self._began[:, None], 0, self._ram - before)
            seen = self._rows()
        self._began = terminated | truncated  # the next step starts a game there
        return seen, rewards, terminated, truncated, {}

    def send(self, actions: np.ndarray) -> None:
        raise NotImplementedError("RLlib steps all environments together: call step")

    def recv(self) -> Any:
        raise NotImplementedError("RLlib steps all environments together: call step")


class RLlibEnv(gymnasium.Env[np.ndarray, Any]):
    """One game, as a vector of one."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, game: str | Cartridge, **settings: Any) -> None:
        self.vector = RLlibVectorEnv(game, 1, **settings)
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return self.vector.reset(seed=seed)[0][0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observations, rewards, terminated, truncated, _ = self.vector.step(np.asarray([action]))
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}

    def close(self) -> None:
        self.vector.close()


def make(config: Mapping[str, Any]) -> RLlibEnv | RLlibVectorEnv:
    """Makes what RLlib asks for: with `num_envs` in the config a vector, else one game."""
    settings = dict(config)
    game, count = settings.pop("game", "pong"), settings.pop("num_envs", None)
    return RLlibEnv(game, **settings) if count is None else RLlibVectorEnv(game, count, **settings)


def register(name: str = NAME) -> None:
    """Registers the environment in RLlib, here and in its workers."""
    register_env(name, make)
