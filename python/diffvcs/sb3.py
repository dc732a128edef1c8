"""Stable-Baselines3: a VecEnv on our batch, in place of make_atari_env.

    from diffvcs.sb3 import make_atari_env

    env = VecFrameStack(make_atari_env("PongNoFrameskip-v4", n_envs=8, seed=0), n_stack=4)

The preprocessing is AtariWrapper's (no-op starts, frame skip 4 with the maximum of the last two frames, FIRE at the start,
84 x 84 gray pixels with the colour last), made by our threads, with ale-py's averaging of areas and its rules for a lost life,
which starts a new game. info["episode"] has what Monitor's has: "r", the points of the episode that ended, before rewards are
clipped; "l", its length, here in steps of frame_skip frames (Monitor is below AtariWrapper and counts frames); "t", seconds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    from gymnasium import spaces
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as problem:
    raise ImportError("this needs Stable-Baselines3: pip install stable-baselines3") from problem

from . import roms
from .batch import ALEVectorInterface
from .cartridge import Cartridge


def game_of(env_id: str | Cartridge) -> str | Cartridge:
    """The game of one of Gymnasium's names: pong for PongNoFrameskip-v4, ALE/Pong-v5 and DiffVCS/Pong-v5."""
    if isinstance(env_id, Cartridge):
        return env_id
    name = env_id.rpartition("/")[2].rpartition("-v")[0] or env_id
    for suffix in ("NoFrameskip", "Deterministic", "-ram"):
        name = name.removesuffix(suffix)
    known = {roms.rom_id_to_name(game): game for game in roms.get_all_rom_ids()}
    return known.get(name, env_id)


REFUSED = {  # settings of the batch that a VecEnv does not have
    "autoreset_mode": "games that begin again in the step in which they end",
    "batch_size": "the results of all environments at once",
    "device": "results in the memory of the CPU",
    "observations": "pictures",
    "players": "games of one player",
}


class DiffVCSVecEnv(VecEnv):
    """Many games as a VecEnv. Arguments other than the first three are those of ALEVectorInterface, but those of REFUSED."""

    def __init__(self, game: str | Cartridge, n_envs: int = 1, seed: int | None = None, **settings: Any) -> None:
        for name in REFUSED:
            if name in settings:
                raise ValueError(f"Stable-Baselines3 takes {REFUSED[name]}: {name} cannot be given")
        settings = {"stack_num": 1, "episodic_life": True, **settings}
        self._clips = settings.pop("reward_clipping", True)
        self.batch = ALEVectorInterface(
            game_of(game), n_envs, autoreset_mode="SameStep", reward_clipping=False, **settings
        )
        stack, height, width, *colours = self.batch.observation_shape
        self.render_mode = None
        super().__init__(
            n_envs,
            spaces.Box(0, 255, (height, width, stack * (3 if colours else 1)), np.uint8),
            spaces.Discrete(len(self.batch.get_action_set())),
        )
        self._began = time.time()
        self._returns, self._lengths = np.zeros(n_envs), np.zeros(n_envs, np.int64)
        self._results: Any = None
        self.seed(seed)  # None: Stable-Baselines3 draws one

    @staticmethod
    def _last(pictures: np.ndarray) -> np.ndarray:
        """Pictures with the stack as the last dimension, together with the three colours, if there are any."""
        last = np.ascontiguousarray(np.moveaxis(pictures, 1, 3))
        return last.reshape(*last.shape[:3], -1)

    def reset(self) -> np.ndarray:
        seeds = [-1 if seed is None else seed % 2**31 for seed in self._seeds]  # they may have 32 bits
        observations, _ = self.batch.reset(np.arange(self.num_envs), np.array(seeds))
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = self._lengths[:] = 0
        assert observations is not None
        return self._last(observations)

    def step_async(self, actions: np.ndarray) -> None:
        self.batch.send(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observations, rewards, terminated, truncated, info = self.batch.recv()
        assert observations is not None
        over = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{"lives": int(lives)} for lives in info["lives"]]
        for i in np.flatnonzero(over):
            infos[i]["terminal_observation"] = self._last(info["final_obs"][i : i + 1])[0]
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            seconds = round(time.time() - self._began, 6)
            infos[i]["episode"] = {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": seconds}
            self._returns[i] = self._lengths[i] = 0
        gained = np.sign(rewards) if self._clips else rewards
        return self._last(observations), gained.astype(np.float32), over.copy(), infos

    def close(self) -> None:
        self.batch.close()

    def get_attr(self, attr_name: str, indices: None | int | Sequence[int] = None) -> list[Any]:
        """An attribute of this object, once for each environment."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Sequence[int] = None) -> None:
        raise AttributeError(f"environments of a batch have no {attr_name} of their own")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise AttributeError(f"environments of a batch have no method {method_name} of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: None | int | Sequence[int] = None) -> list[bool]:
        """Monitor's numbers are there, so that Stable-Baselines3 does not warn that they are missing."""
        return [wrapper_class.__name__ == "Monitor"] * len(list(self._get_indices(indices)))


def make_atari_env(env_id: str, n_envs: int = 1, seed: int | None = None, **settings: Any) -> DiffVCSVecEnv:
    """What Stable-Baselines3's make_atari_env makes, by our batch. `settings` are those of ALEVectorInterface."""
    return DiffVCSVecEnv(env_id, n_envs, seed, **settings)
