"""EnvPool's interface for making and driving environments, on our batches.

    env = diffvcs.make("Pong-v5", env_type="gymnasium", num_envs=64, batch_size=16)
    env.async_reset()
    while True:
        observation, reward, terminated, truncated, info = env.recv()
        env.send(policy(observation), info["env_id"])

Names and defaults are EnvPool's: by default rewards are not clipped, episodes are limited in steps, info["reward"] is the reward
before clipping, info["terminated"] is whether the game is over and not only a life, and colours are planes in front
(3 * stack_num x height x width). Pictures are those of ale-py's preprocessing, which averages areas; EnvPool's differ in the
last digit, and its emulator is an older one. A lost life starts a new game in the way of ale-py's vector environment.

Threads step environments from `send` on. `recv` waits for the first batch_size environments that are ready (or fewer, if
actions were sent to fewer) and names them in info["env_id"]; `send` and `reset` take any that are idle.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, roms
from ._bind import whole
from .batch import ALEVectorInterface

DEFAULTS: dict[str, Any] = {
    "num_envs": 1, "batch_size": 0, "num_threads": 0, "thread_affinity_offset": -1, "seed": 42, "max_episode_steps": 27000,
    "stack_num": 4, "frame_skip": 4, "noop_max": 30, "zero_discount_on_life_loss": False, "episodic_life": False,
    "reward_clip": False, "use_fire_reset": True, "img_height": 84, "img_width": 84, "mode": -1, "difficulty": -1,
    "full_action_space": False, "repeat_action_probability": 0.0, "use_inter_area_resize": True, "gray_scale": True,
}  # fmt: skip
TYPES = ("gymnasium", "gym", "dm")


class Observation(NamedTuple):
    """The observation of env_type="dm"."""

    env_id: np.ndarray
    obs: np.ndarray
    lives: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    ram: np.ndarray


class TimeStep(NamedTuple):
    """dm_env's TimeStep for many environments; step_type is 0 for a first step, 2 for a last one, 1 between them."""

    step_type: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    observation: Observation

    def first(self) -> np.ndarray:
        return self.step_type == 0

    def last(self) -> np.ndarray:
        return self.step_type == 2


def _ids(env_id: Any) -> np.ndarray:
    """Numbers of environments, as a list of any kind or a single one."""
    return np.atleast_1d(_arrays.integers(env_id, "env_id"))


class EnvPool:
    """Environments of one task; `make` creates it."""

    metadata: dict[str, Any] = {
        "render_modes": []
    }  # this, render_mode and unwrapped are what Gymnasium's wrappers read
    render_mode = None

    def __init__(self, task_id: str, env_type: str, config: dict[str, Any]) -> None:
        unknown = set(config) - set(DEFAULTS)
        if unknown:
            raise TypeError(f"no option {', '.join(sorted(unknown))}; there are {', '.join(DEFAULTS)}")
        if env_type not in TYPES:
            raise ValueError(f"env_type is one of {', '.join(TYPES)}; {env_type!r} is none of them")
        if not isinstance(task_id, str):
            raise TypeError(f"a task is a name such as 'Pong-v5', not {task_id!r}")
        self.config = {**DEFAULTS, **config, "task": roms.name_to_rom_id(task_id.split("/")[-1].rsplit("-", 1)[0])}
        self.env_type, c = env_type, self.config
        if not c["use_inter_area_resize"]:
            raise ValueError("pictures are made small by area only: use_inter_area_resize=True")
        self.num_envs = c["num_envs"]
        self._batch = ALEVectorInterface(
            roms.require(c["task"]), self.num_envs, frame_skip=c["frame_skip"], stack_num=c["stack_num"],
            img_height=c["img_height"], img_width=c["img_width"], grayscale=c["gray_scale"], noop_max=c["noop_max"],
            use_fire_reset=c["use_fire_reset"], episodic_life=c["episodic_life"], reward_clipping=False,
            max_episode_steps=c["max_episode_steps"] * c["frame_skip"], full_action_space=c["full_action_space"],
            repeat_action_probability=c["repeat_action_probability"], batch_size=c["batch_size"],
            num_threads=c["num_threads"], mode=None if c["mode"] < 0 else c["mode"],
            difficulty=None if c["difficulty"] < 0 else c["difficulty"], ram=True,
        )  # fmt: skip
        whole(c["seed"], "seed", -(2**31), 2**31 - self.num_envs)  # the last environment has seed + num_envs - 1
        self.batch_size = self._batch.batch_size
        self.all_env_ids = np.arange(self.num_envs, dtype=np.int32)
        self._elapsed, self._lives = np.zeros(self.num_envs, np.int32), np.zeros(self.num_envs, np.int32)
        self._ended = np.zeros(self.num_envs, bool)
        self._seeded = False

    def __len__(self) -> int:
        return self.num_envs

    @property
    def unwrapped(self) -> EnvPool:
        """The environments themselves: below every wrapper."""
        return self

    @property
    def is_async(self) -> bool:
        """Whether recv returns fewer environments than there are."""
        return self.batch_size < self.num_envs

    @property
    def _shape(self) -> tuple[int, ...]:
        stack, *size = self._batch.observation_shape[:3]
        return (stack if self.config["gray_scale"] else 3 * stack, *size)

    def _planes(self, observations: np.ndarray) -> np.ndarray:
        if self.config["gray_scale"]:
            return observations
        return np.moveaxis(observations, -1, 2).reshape(len(observations), *self._shape)

    @property
    def spec(self) -> SimpleNamespace:
        """The configuration, and the fields of a result."""
        rows = {
            "obs": (np.uint8, self._shape),
            "reward": (np.float32, ()),
            "info:env_id": (np.int32, ()),
            "info:lives": (np.int32, ()),
            "info:ram": (np.uint8, (128,)),
        }
        arrays = {
            name: SimpleNamespace(dtype=np.dtype(dtype), shape=list(shape)) for name, (dtype, shape) in rows.items()
        }
        return SimpleNamespace(config=SimpleNamespace(**self.config), state_array_spec=arrays)

    @property
    def observation_space(self) -> Any:
        from gymnasium.spaces import Box

        return Box(0, 255, self._shape, np.uint8)

    @property
    def action_space(self) -> Any:
        from gymnasium.spaces import Discrete

        return Discrete(len(self._batch.get_action_set()))

    single_observation_space, single_action_space = observation_space, action_space

    # ---- driving ---------------------------------------------------------------------------------------------------

    def async_reset(self, env_id: np.ndarray | None = None) -> None:
        """Starts episodes in all environments, or in these; recv returns the results."""
        ids = self.all_env_ids if env_id is None else _ids(env_id)
        seed = -1 if self._seeded else self.config["seed"]
        self._batch.send_reset(ids, np.full(ids.size, -1) if seed < 0 else seed + ids)
        self._seeded = True
        self._ended[ids] = True  # so that recv counts the next result of each as a beginning

    def send(self, action: np.ndarray, env_id: np.ndarray | None = None) -> None:
        """Sends actions to these environments. Without env_id they are for all of them by ascending number, as EnvPool's are;
        with batch_size less than num_envs, for those of the last recv, in their order."""
        self._batch.send(action, env_ids=None if env_id is None else _ids(env_id))

    def recv(self) -> Any:
        """Returns the results that are ready first; with batch_size equal to num_envs, all of them in the order of the last send.

        It is a TimeStep with env_type "dm", else (observations, rewards, terminated, truncated, info).
        """
        pictures, raw, terminated, truncated, info = self._batch.recv()
        assert pictures is not None  # the batch of an EnvPool always has them
        return self._results(pictures, raw, terminated, truncated, info)

    def _results(
        self, pictures: np.ndarray, raw: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, info: dict[str, Any]
    ) -> Any:
        """What recv returns, from the results of the batch."""
        observations = self._planes(pictures)
        ids = info["env_id"]
        begun = self._ended[ids]
        self._elapsed[ids] = np.where(begun, 0, self._elapsed[ids] + 1)
        life_lost = ~begun & (info["lives"] < self._lives[ids]) & (info["lives"] > 0)
        self._lives[ids] = info["lives"]
        self._ended[ids] = terminated | truncated
        over = (terminated & ~life_lost).astype(np.int32)
        reward = (np.sign(raw) if self.config["reward_clip"] else raw).astype(np.float32)
        if self.env_type == "dm":
            dead = terminated | (life_lost if self.config["zero_discount_on_life_loss"] else False)
            seen = Observation(ids, observations, info["lives"], raw.astype(np.float32), over, info["ram"])
            kind = np.where(begun, 0, np.where(terminated | truncated, 2, 1)).astype(np.int32)
            return TimeStep(kind, reward, np.where(dead, 0, 1).astype(np.float32), seen)
        info = {
            "env_id": ids,
            "players": {"env_id": ids},
            "lives": info["lives"],
            "reward": raw.astype(np.float32),
            "terminated": over,
            "ram": info["ram"],
            "elapsed_step": self._elapsed[ids],
        }
        return observations, reward, terminated, truncated, info

    def step(self, action: np.ndarray, env_id: np.ndarray | None = None) -> Any:
        """Sends actions and receives results."""
        self.send(action, env_id)
        return self.recv()

    def reset(self, env_id: np.ndarray | None = None) -> Any:
        """Starts episodes in all environments, or in these (of none, the results are empty), and returns the first results."""
        if env_id is not None and not np.size(env_id):
            pictures, flags = np.zeros((0, *self._batch.observation_shape), np.uint8), np.zeros(0, bool)
            info = {
                "env_id": np.zeros(0, np.int32),
                "lives": np.zeros(0, np.int32),
                "ram": np.zeros((0, 128), np.uint8),
            }
            results = self._results(pictures, np.zeros(0, np.int32), flags, flags, info)
        else:
            self.async_reset(env_id)
            results = self.recv()
        return results if self.env_type == "dm" else (results[0], results[4])

    def xla(self) -> Any:
        """Returns (handle, recv, send, step) for jit and loops; the handle keeps calls in order."""
        from .jax import pool_functions

        return pool_functions(self)

    def close(self) -> None:
        """Closes the environments: later calls raise an error."""
        self._batch.close()


def make(task_id: str, env_type: str = "gymnasium", **config: Any) -> EnvPool:
    """Creates environments like envpool.make, for Atari tasks such as "Pong-v5" or "MsPacman-v5".

    Example:
        >>> env = diffvcs.make("Demo-v5", env_type="gymnasium", num_envs=2)
        >>> observation, info = env.reset()
        >>> observation.shape
        (2, 4, 84, 84)
    """
    return EnvPool(task_id, env_type, config)


def make_gymnasium(task_id: str, **config: Any) -> EnvPool:
    """Creates environments with Gymnasium's interface."""
    return make(task_id, "gymnasium", **config)


def make_gym(task_id: str, **config: Any) -> EnvPool:
    """Creates environments with the interface of the older Gym."""
    return make(task_id, "gym", **config)


def make_dm(task_id: str, **config: Any) -> EnvPool:
    """Creates environments with dm_env's interface."""
    return make(task_id, "dm", **config)
