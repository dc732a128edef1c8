"""Environments for PyTorch learners: actions in and observations out are tensors on the learner's device.

    env = diffvcs.learn.TorchVectorEnv("pong", 256, device="cuda")
    observations = env.reset(seed=1)
    observations, rewards, terminated, truncated, info = env.step(actions)

Machines run where they are faster. Few of them run on the host's threads ("host"): then only the newest picture of each
environment, 7 kB, crosses to the GPU, from memory that the GPU reads directly, and stacks are kept on the GPU. Many run on
the GPU itself ("device"), where a step is only queued: Python does not wait for it. `emulation="auto"` takes the GPU from
CROSSOVER environments on (docs/learning.md has the measurements).

Results are the same tensors at every step, overwritten by the next one. An environment whose episode ends starts the next
one in the same step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import torch
except ImportError as problem:
    raise ImportError("this needs PyTorch: pip install torch") from problem

from .batch import ALEVectorInterface
from .cartridge import Cartridge
from .ale import Action

CROSSOVER = 4096  # environments from which the GPU emulates faster than 16 threads of its host


class TorchVectorEnv:
    """Many games whose results are tensors on one device.

    Args:
        game: a name, a path or a Cartridge, or a list of them: environment i plays the i-th, modulo their number.
        num_envs: the number of environments.
        device: of the tensors: "cuda", "cuda:1" or "cpu".
        emulation: "host", "device" or "auto": where machines run.
        obs_type: "image" (stack x height x width, or x 3 in colour) or "ram" (128 bytes).
        stack_num: pictures of an observation; those from before the episode are 0.
        settings: those of ALEVectorInterface: frame_skip, noop_max, life_loss_info, repeat_action_probability,
            num_threads, ... Rewards are clipped to -1 .. 1 if reward_clipping is given; scores in info never are.

    info has, as tensors: lives, episode_frame_number, `began` (this step started a game), `score` (of the game under way, or
    of the one that has ended with this step), and final_obs, where emulation is on the host.
    """

    def __init__(
        self,
        game: str | Cartridge | list[str | Cartridge],
        num_envs: int,
        *,
        device: str | torch.device = "cuda",
        emulation: str = "auto",
        obs_type: str = "image",
        stack_num: int = 4,
        reward_clipping: bool = False,
        **settings: Any,
    ) -> None:
        if emulation not in ("auto", "host", "device"):
            raise ValueError(f"emulation is auto, host or device; {emulation!r} is none of them")
        if obs_type not in ("image", "ram"):
            raise ValueError(f"obs_type is image or ram; {obs_type!r} is neither")
        self.device = torch.device(device)
        on_gpu = self.device.type == "cuda"
        if on_gpu and not torch.cuda.is_available():
            raise RuntimeError('PyTorch finds no GPU here: device="cpu" keeps tensors in the host\'s memory')
        if emulation == "auto":
            emulation = "device" if on_gpu and num_envs >= CROSSOVER else "host"
        self.emulation, self.num_envs, self.obs_type, self._clips = emulation, num_envs, obs_type, reward_clipping
        ram = obs_type == "ram"
        there = emulation == "device"
        where = f"cuda:{self.device.index or 0}" if on_gpu else "cpu-as-gpu"
        self.batch = ALEVectorInterface(
            game, num_envs, stack_num=stack_num if there and not ram else 1, autoreset_mode="SameStep", copy=False,
            reward_clipping=False, ram=ram, observations=not ram, device=where if there else "cpu",
            zeros=self._pinned if on_gpu else np.zeros, **settings,
        )  # fmt: skip
        self._skip = settings.get("frame_skip", 4)
        self.actions: list[Action] = self.batch.get_action_set()
        picture = self.batch.observation_shape[1:]
        self.observation_shape = (128,) if ram else (stack_num, *picture)
        self._score = torch.zeros(num_envs, device=self.device)
        self._frame = torch.zeros(num_envs, dtype=torch.int32, device=self.device)
        self._ended = torch.zeros(num_envs, dtype=torch.bool, device=self.device)
        if not there:
            self._host_actions = torch.zeros(num_envs, dtype=torch.int64, pin_memory=on_gpu)  # 2^32 + 1 is no 1
            self._stacks = [
                torch.zeros((num_envs, *self.observation_shape), dtype=torch.uint8, device=self.device)
                for _ in range(1 if ram else 2)
            ]

    @staticmethod
    def _pinned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Zeros in memory that a GPU copies from directly."""
        kind = torch.from_numpy(np.zeros(1, dtype)).dtype
        return torch.zeros(shape, dtype=kind, pin_memory=True).numpy()

    def _there(self, array: Any) -> torch.Tensor:
        """A result of the batch as a tensor on the device."""
        if self.emulation == "device":
            return torch.from_dlpack(array)
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def reset(self, seed: int = 0) -> torch.Tensor:
        """Starts a game in every environment, seeded with seed, seed + 1, ...; returns observations."""
        if self.emulation == "device" and self.device.type == "cuda":
            self.batch.set_stream(torch.cuda.current_stream(self.device).cuda_stream)
        observations, info = self.batch.reset(np.arange(self.num_envs), np.arange(seed, seed + self.num_envs))
        self._score.zero_()
        self._frame = self._there(info["episode_frame_number"]).clone()
        self._ended.fill_(True)
        return self._observe(observations, info, self._ended)

    def _observe(self, observations: Any, info: dict[str, Any], began: torch.Tensor) -> torch.Tensor:
        """The observations as a tensor: the newest pictures are put behind the earlier ones of their games."""
        if self.obs_type == "ram":
            return self._there(info["ram"])
        if self.emulation == "device":
            return self._there(observations)
        old, new = self._stacks
        lead = (-1,) + (1,) * (new.dim() - 1)
        torch.mul(old[:, 1:], ~began.view(lead), out=new[:, :-1])
        new[:, -1:].copy_(torch.from_numpy(observations), non_blocking=True)
        self._stacks.reverse()
        return new

    def send(self, actions: torch.Tensor) -> None:
        """Starts a step of every environment and returns; recv returns its results. `actions` are integers of any type,
        numbers in the list `self.actions`.

        Two of these objects that are sent to in turn keep the host's threads busy while the GPU chooses actions.
        """
        if not isinstance(actions, torch.Tensor):
            raise TypeError(f"actions are a tensor, not {type(actions).__name__}: pass torch.as_tensor(actions)")
        if actions.is_floating_point() or actions.is_complex() or actions.shape != (self.num_envs,):
            shape = tuple(actions.shape)
            raise ValueError(f"{self.num_envs} integer actions are expected, not {actions.dtype} of shape {shape}")
        if self.emulation == "device":
            self._results = self.batch.step(actions)
            return
        self._host_actions.copy_(actions, non_blocking=True)
        if self.device.type == "cuda":  # waits for the actions, and for copies of the results before
            torch.cuda.current_stream(self.device).synchronize()
        self.batch.send(self._host_actions.numpy())

    def recv(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Returns observations, rewards, terminations, truncations and info of the step that was sent."""
        raw = self._results if self.emulation == "device" else self.batch.recv()
        found, gained, terminated, truncated, info = raw
        rewards = self._there(gained).float()
        frame = self._there(info["episode_frame_number"])
        ended = self._there(terminated).bool(), self._there(truncated).bool()
        began = (ended[0] | ended[1]) & (frame != self._frame + self._skip)  # a lost life alone does not start a game
        self._score = torch.where(self._ended, rewards, self._score + rewards)
        self._ended, self._frame = began, frame.clone()
        shown = {
            "lives": self._there(info["lives"]),
            "episode_frame_number": frame,
            "began": began,
            "score": self._score,
        }
        if "final_obs" in info and self.obs_type == "image":
            last = self._there(info["final_obs"])
            shown["final_obs"] = torch.cat([self._stacks[0][:, 1:], last], 1)
        observations = self._observe(found, info, began)
        if self._clips:
            rewards = rewards.clamp(-1, 1)
        return observations, rewards, *ended, shown

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Steps every environment: send and recv."""
        self.send(actions)
        return self.recv()

    def close(self) -> None:
        """Ends the threads and frees the machines."""
        self.batch.close()
