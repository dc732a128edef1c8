"""Environments for PyTorch learners: actions in and observations out are tensors on the learner's device.

    env = diffvcs.learn.TorchVectorEnv("pong", 256, device="cuda")
    observations = env.reset(seed=1)
    observations, rewards, terminated, truncated, info = env.step(actions)

`emulation` chooses where machines run. With "host" they run on the host's threads: only the newest picture of each
environment, 7 kB, is copied to the GPU, from memory that the GPU reads directly, and stacks are kept on the GPU. With
"device" they run on the GPU itself: a step is only queued, and Python does not wait for it. With "both" threads emulate
some environments while the GPU emulates the rest. "auto", the default, is "host" for fewer than CROSSOVER environments,
where that is faster, and else "device" (docs/learning.md has the exceptions and the measurements). With several devices
each device has a share of the environments, and results are gathered on the first device.

If the environments are in several places, `parts` is a list with one TorchVectorEnv for each place. With
`host_parts=2` the host's environments are two parts: the host's threads emulate one part while Python and the GPU work
on the results of the other. AsyncTorchVectorEnv steps parts on their own: host and GPU do not wait for each other, and
results stay on their devices.

Later steps overwrite observations and final_obs; with emulation on the device, and with several parts, they overwrite
all other results, too: clone the results that you keep. An environment whose episode ends starts the next episode in
the same step. With emulation on the device a step can be captured in a CUDA graph, after one step on the same stream.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    import torch
except ImportError as problem:
    raise ImportError("this needs PyTorch: pip install torch") from problem

from . import _c
from ._bind import whole
from .batch import ALEVectorInterface
from .cartridge import Cartridge
from .ale import Action

CROSSOVER = 4096  # environments from which the GPU emulates faster than 16 threads of its host
ASYNC_CROSSOVER = 2048  # environments from which AsyncTorchVectorEnv emulates on both, ...
ASYNC_ON_HOST = 1024  # ... and those of them that threads emulate: with more of them they are no faster
# Observations, rewards, terminations, truncations and info of a step.
Results = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]
HOST_SHARE = 0.6  # share of the environments that threads emulate with "both" and 4,096 environments or fewer


def host_share(num_envs: int) -> int:
    """Returns how many environments threads emulate with emulation="both" and on_host=None, so that threads and GPU
    finish together. The shares follow from the speeds of threads alone and of the GPU alone, measured on one H200 and
    16 threads. A step of the GPU takes nearly as long for few environments as for many, so the GPU's share grows with
    their number."""
    return round(HOST_SHARE * min(num_envs, 4096) + HOST_SHARE / 3 * max(num_envs - 4096, 0))


def shares(count: int, parts: int) -> list[int]:
    """Returns how many each of `parts` has if they share `count` evenly."""
    cuts = [count * i // parts for i in range(parts + 1)]
    return [end - begin for begin, end in zip(cuts, cuts[1:])]


def check_actions(actions: Any, count: int) -> None:
    """Raises an error unless the actions are `count` integers."""
    if not isinstance(actions, torch.Tensor):
        raise TypeError(f"actions are a tensor, not {type(actions).__name__}: pass torch.as_tensor(actions)")
    if actions.is_floating_point() or actions.is_complex() or actions.shape != (count,):
        shape = tuple(actions.shape)
        raise ValueError(f"{count} integer actions are expected, not {actions.dtype} of shape {shape}")


class _Numbers:
    """The numeric results of a step that was emulated on the host: an array for each name, with a value for each
    environment.

    They are computed in memory that the GPU reads directly, and copied to the device in one piece: ten small copies
    and the same arithmetic on the GPU take longer than the emulation of some environments.
    """

    TYPES: dict[str, Any] = {
        "length": np.int64,
        "rewards": np.float32,
        "score": np.float32,
        "lives": np.int32,
        "episode_frame_number": np.int32,
        "terminated": np.bool_,
        "truncated": np.bool_,
        "began": np.bool_,
    }  # the largest first, so that all are aligned

    def __init__(self, num_envs: int, device: torch.device) -> None:
        size = num_envs * sum(np.dtype(kind).itemsize for kind in self.TYPES.values())
        self._device = device
        self._bytes = torch.zeros(size, dtype=torch.uint8, pin_memory=device.type == "cuda")
        self._places: list[tuple[str, int, int, torch.dtype]] = []
        self.arrays: dict[str, np.ndarray] = {}
        begin = 0
        for name, kind in self.TYPES.items():
            end = begin + num_envs * np.dtype(kind).itemsize
            self._places.append((name, begin, end, torch.from_numpy(np.zeros(1, kind)).dtype))
            self.arrays[name] = self._bytes[begin:end].numpy().view(kind)
            begin = end
        self._ended = np.ones(num_envs, np.bool_)  # the game of an environment ended with the last step

    def begin(self, rows: np.ndarray, frames: np.ndarray) -> None:
        """Notes that games begin in environments `rows`; `frames` are the frame numbers of all environments."""
        self.arrays["score"][rows] = 0
        self._ended[rows] = True
        np.copyto(self.arrays["episode_frame_number"], frames)

    def count(
        self, rewards: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, info: dict[str, Any], skip: int
    ) -> None:
        """Stores the results of a step, and counts scores and lengths of games."""
        arrays, frames = self.arrays, info["episode_frame_number"]
        np.copyto(arrays["rewards"], rewards)
        np.copyto(arrays["terminated"], terminated)
        np.copyto(arrays["truncated"], truncated)
        np.copyto(arrays["lives"], info["lives"])
        # The loss of a life alone does not start a game.
        np.logical_and(terminated, frames != arrays["episode_frame_number"] + skip, out=arrays["began"])
        arrays["began"] |= truncated
        arrays["score"][self._ended] = 0
        arrays["score"] += arrays["rewards"]
        arrays["length"][self._ended] = 0
        arrays["length"] += 1
        np.copyto(self._ended, arrays["began"])
        np.copyto(arrays["episode_frame_number"], frames)

    def copy(self) -> dict[str, torch.Tensor]:
        """Returns the numbers on the device, in tensors that later steps do not overwrite."""
        copied = self._bytes.to(self._device, non_blocking=True, copy=True)
        return {name: copied[begin:end].view(kind) for name, begin, end, kind in self._places}


class TorchVectorEnv:
    """Many games whose results are tensors on one device.

    Args:
        game: a name, a path or a Cartridge, or a list of them: environment i plays the i-th, modulo their number.
        num_envs: the number of environments.
        device: where the tensors are: "cuda", "cuda:1" or "cpu"; or a list of devices, which share the environments
            evenly, the first environments on the first device, where the results of all are gathered.
        emulation: "host", "device", "both" or "auto": where machines run.
        on_host: with "both", the number of environments that the host emulates, the first ones (None: about as many as
            it finishes while the GPU emulates the rest).
        host_parts: with "host" and "both", the number of parts into which the host's environments are divided evenly.
            All parts use the same threads.
        threads_of: another TorchVectorEnv, whose threads on the host emulate these environments, too. It is ignored if
            one of the two has no environments on the host.
        obs_type: "image" (stack x height x width, or x 3 in colour) or "ram" (128 bytes).
        stack_num: pictures of an observation; pictures before the beginning of the episode are 0.
        settings: those of ALEVectorInterface: frame_skip, noop_max, life_loss_info, repeat_action_probability,
            num_threads, ... Rewards are clipped to -1 .. 1 if reward_clipping is given; scores in info never are.

    info has, as tensors: lives, episode_frame_number, `began` (this step started a game), `score` (of the game under
    way, or of the one that has ended with this step), length (its steps), and final_obs: the last observations of the
    episodes that ended with this step; all other rows are undefined. With emulation on the host final_obs is there only
    if an episode ended.
    """

    def __init__(
        self,
        game: str | Cartridge | list[str | Cartridge],
        num_envs: int,
        *,
        device: str | torch.device | Sequence[str | torch.device] = "cuda",
        emulation: str = "auto",
        obs_type: str = "image",
        stack_num: int = 4,
        reward_clipping: bool = False,
        on_host: int | None = None,
        host_parts: int = 1,
        threads_of: TorchVectorEnv | None = None,
        **settings: Any,
    ) -> None:
        if emulation not in ("auto", "host", "device", "both"):
            raise ValueError(f"emulation is auto, host, device or both; {emulation!r} is none of them")
        if obs_type not in ("image", "ram"):
            raise ValueError(f"obs_type is image or ram; {obs_type!r} is neither")
        if not isinstance(device, (str, torch.device, Sequence)) or not device:
            raise ValueError(f"device is a device of PyTorch or a list of them, at least one; {device!r} is neither")
        several = [] if isinstance(device, (str, torch.device)) else [torch.device(one) for one in device]
        num_envs = whole(num_envs, "num_envs", 1, 2**31 - 1)
        host_parts = whole(host_parts, "host_parts", 1, num_envs)
        self.device = several[0] if several else torch.device(device)
        on_gpu = self.device.type == "cuda"
        if on_gpu and not torch.cuda.is_available():
            raise RuntimeError('PyTorch finds no GPU here: device="cpu" keeps tensors in the host\'s memory')
        if on_gpu and self.device.index is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        if emulation == "auto":
            emulation = "device" if on_gpu and (several or num_envs >= CROSSOVER) else "host"
        self.emulation, self.num_envs, self.obs_type, self._clips = emulation, num_envs, obs_type, reward_clipping
        if threads_of is not None and not isinstance(threads_of, TorchVectorEnv):
            raise TypeError(f"threads_of is another TorchVectorEnv, not {type(threads_of).__name__}")
        self.parts: list[TorchVectorEnv] = []
        places = self._places(several, on_host, host_parts)
        if several or len(places) > 1:
            shared = dict(obs_type=obs_type, stack_num=stack_num, reward_clipping=reward_clipping, **settings)
            self._make_parts(game, places, shared, threads_of)
            return
        ram = obs_type == "ram"
        by_device = emulation == "device"
        where = f"cuda:{self.device.index}" if on_gpu else "cpu-as-gpu"
        self.batch = ALEVectorInterface(
            game, num_envs, stack_num=stack_num if by_device and not ram else 1, autoreset_mode="SameStep", copy=False,
            reward_clipping=False, ram=ram, observations=not ram, device=where if by_device else "cpu",
            zeros=self._pinned if on_gpu else np.zeros,
            threads_of=None if by_device or threads_of is None else threads_of._on_threads(), **settings,
        )  # fmt: skip
        self._skip = settings.get("frame_skip", 4)
        self.actions: list[Action] = self.batch.get_action_set()
        picture = self.batch.observation_shape[1:]
        self.observation_shape = (128,) if ram else (stack_num, *picture)
        self._stream = 0  # CUDA's default one
        self._shared: dict[int, torch.Tensor] = {}  # the arrays of a batch on a device, which are always the same
        if by_device:
            self._score = torch.zeros(num_envs, device=self.device)
            self._frame = torch.zeros(num_envs, dtype=torch.int32, device=self.device)
            self._length = torch.zeros(num_envs, dtype=torch.int64, device=self.device)
            self._ended = torch.zeros(num_envs, dtype=torch.bool, device=self.device)
        else:
            self._numbers = _Numbers(num_envs, self.device)
            self._host_actions = torch.zeros(num_envs, dtype=torch.int64, pin_memory=on_gpu)  # all bits are kept
            self._copied = torch.cuda.Event() if on_gpu else None  # the GPU has read the last results in pinned memory
            self._stacks = [
                torch.zeros((num_envs, *self.observation_shape), dtype=torch.uint8, device=self.device)
                for _ in range(1 if ram else 2)
            ]
            # Once an episode has ended: the last observations of episodes, and their pictures and rows as they cross to
            # the GPU.
            self._final: torch.Tensor | None = None
            self._last_pictures = self._last_rows = torch.empty(0)

    def _places(
        self, several: list[torch.device], on_host: int | None, host_parts: int
    ) -> list[tuple[int, torch.device, str]]:
        """Returns for each part the number of its environments, their device, and where they are emulated."""
        if several and self.emulation == "both":
            raise ValueError('emulation="both" is for one device: with several it is "host" or "device"')
        if several and host_parts > 1:
            raise ValueError("host_parts is for one device: with several each has a part of its own")
        if several:
            if self.num_envs < len(several):
                raise ValueError(f"{self.num_envs} environments are too few for {len(several)} devices")
            return [(n, where, self.emulation) for n, where in zip(shares(self.num_envs, len(several)), several)]
        by_host = self.num_envs if self.emulation == "host" else 0
        if self.emulation == "both":
            by_host = host_share(self.num_envs) if on_host is None else whole(on_host, "on_host", 0, self.num_envs)
            if not 0 < by_host < self.num_envs:
                raise ValueError(f"on_host is {by_host}: 1 to {self.num_envs - 1} of {self.num_envs} environments")
        if host_parts > max(by_host, 1):
            raise ValueError(f"host_parts is {host_parts}: the host emulates {by_host} environments")
        places = [(n, self.device, "host") for n in shares(by_host, host_parts) if n]
        if by_host < self.num_envs:
            places.append((self.num_envs - by_host, self.device, "device"))
        return places

    def _make_parts(
        self,
        game: Any,
        places: list[tuple[int, torch.device, str]],
        settings: dict[str, Any],
        threads_of: TorchVectorEnv | None,
    ) -> None:
        """Makes an object for each place: the number of its environments, their device, and where they are emulated."""
        games = game if isinstance(game, list) else [game]
        if not games:
            raise ValueError("a batch needs a cartridge")
        dealt = [games[i % len(games)] for i in range(self.num_envs)]
        for count, device, emulation in places:
            own, dealt = dealt[:count], dealt[count:]
            played = list({id(one): one for one in own}.values())
            numbers = {id(one): i for i, one in enumerate(played)}
            ids = [numbers[id(one)] for one in own]
            part = TorchVectorEnv(
                played, count, device=device, emulation=emulation, cart_ids=ids, threads_of=threads_of, **settings
            )
            self.parts.append(part)
            threads_of = threads_of or part
        self.actions, self.observation_shape = self.parts[0].actions, self.parts[0].observation_shape
        self._whole: dict[str, torch.Tensor] = {}

    def _on_threads(self) -> ALEVectorInterface | None:
        """The batch of the first environments on the host's threads, or None."""
        if self.parts:
            return next((batch for part in self.parts if (batch := part._on_threads())), None)
        return self.batch if self.emulation == "host" else None

    def _join(self, name: str, parts: list[torch.Tensor]) -> torch.Tensor:
        """Returns the results of all parts in one tensor, the same tensor at every step."""
        moved = [part.to(self.device, non_blocking=True) for part in parts]
        if name not in self._whole:
            self._whole[name] = torch.cat(moved)
        return torch.cat(moved, out=self._whole[name])

    @staticmethod
    def _pinned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Zeros in memory that a GPU copies from directly."""
        kind = torch.from_numpy(np.zeros(1, dtype)).dtype
        return torch.zeros(shape, dtype=kind, pin_memory=True).numpy()

    def _on_device(self, array: Any) -> torch.Tensor:
        """A result of the batch as a tensor on the device."""
        if self.emulation == "device":
            if id(array) not in self._shared:
                self._shared[id(array)] = torch.from_dlpack(array)  # waits for the device
            return self._shared[id(array)]
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def _follow_stream(self) -> None:
        """Queues later steps on a device on PyTorch's current stream."""
        if self.emulation == "device" and self.device.type == "cuda":
            stream = torch.cuda.current_stream(self.device).cuda_stream
            if stream != self._stream:
                self.batch.wait()  # for what was queued on the stream before
                self.batch.set_stream(stream)
                self._stream = stream

    def _note_copies(self) -> None:
        """Notes that work that is queued on the current stream reads results in pinned memory."""
        if self._copied:
            self._copied.record(torch.cuda.current_stream(self.device))

    def _wait_for_copies(self) -> None:
        """Waits until no stream reads results in pinned memory any more, so that they may be overwritten."""
        if self._copied:
            self._copied.synchronize()

    def reset(self, seed: int = 0, stagger: int = 0) -> torch.Tensor:
        """Starts a game in every environment, seeded with seed, seed + 1, ...; returns observations.

        With `stagger`, random actions are played first, so that games begin at ages of 0 to `stagger` steps, evenly
        spread, and do not end together.
        """
        whole(seed, "seed", 0, 2**31 - self.num_envs)
        whole(stagger, "stagger", 0, 2**31 - 1)
        if self.parts:
            seen = []
            for part in self.parts:
                seen.append(part.reset(seed, stagger))
                seed += part.num_envs
            return self._join("observations", seen)
        self._follow_stream()
        everyone = np.arange(self.num_envs)
        shown = self._begin(everyone, seed)
        generator = torch.Generator().manual_seed(seed)
        for t in range(stagger):
            actions = torch.randint(len(self.actions), (self.num_envs,), generator=generator)
            shown = self.step(actions.to(self.device))[0]
            young = everyone[everyone * stagger // self.num_envs == t]
            if young.size:
                shown = self._begin(young, seed)
        return shown

    def _begin(self, ids: np.ndarray, seed: int) -> torch.Tensor:
        """Starts a game in these environments; returns the observations of all."""
        if self.emulation == "host":
            self._wait_for_copies()
        observations, info = self.batch.reset(ids, seed + ids)
        rows = torch.from_numpy(ids).to(self.device)
        if self.emulation == "device":
            self._score[rows] = 0
            self._ended[rows] = True
            self._frame.copy_(self._on_device(info["episode_frame_number"]))
            return self._on_device(info["ram"] if self.obs_type == "ram" else observations)
        self._numbers.begin(ids, info["episode_frame_number"])
        if self.obs_type == "ram":
            seen = self._on_device(info["ram"])
        else:
            seen = self._stacks[0]
            seen[rows] = 0
            seen[rows, -1:] = self._on_device(observations)[rows]
        self._note_copies()
        return seen

    def _stack(self, pictures: np.ndarray, began: torch.Tensor) -> torch.Tensor:
        """Returns the stacks after a step on the host: each game's newest picture is appended to its earlier ones."""
        old, new = self._stacks
        lead = (-1,) + (1,) * (new.dim() - 1)
        new[:, -1:].copy_(torch.from_numpy(pictures), non_blocking=True)
        torch.mul(old[:, 1:], ~began.view(lead), out=new[:, :-1])
        self._stacks.reverse()
        return new

    def _last(self, pictures: np.ndarray, ended: np.ndarray) -> torch.Tensor:
        """Returns the last observations of the episodes that ended with a step on the host. Only their pictures are
        copied to the device."""
        if self._final is None:
            on_gpu = self.device.type == "cuda"
            self._final = torch.zeros_like(self._stacks[0])
            self._last_pictures = torch.zeros(pictures.shape, dtype=torch.uint8, pin_memory=on_gpu)
            self._last_rows = torch.zeros(self.num_envs, dtype=torch.int64, pin_memory=on_gpu)
        numbers = np.flatnonzero(ended)
        # Copies from pinned memory do not wait. `send` waits for them before threads write there again.
        waiting, shown = self._last_rows[: numbers.size], self._last_pictures[: numbers.size]
        np.copyto(waiting.numpy(), numbers)
        np.take(pictures, numbers, axis=0, out=shown.numpy(), mode="clip")
        rows = waiting.to(self.device, non_blocking=True)
        self._final[rows, :-1] = self._stacks[0][rows, 1:]
        self._final[rows, -1:] = shown.to(self.device, non_blocking=True)
        return self._final

    def send(self, actions: torch.Tensor) -> None:
        """Starts a step of every environment and returns; recv returns its results. `actions` are integers of any type,
        numbers in the list `self.actions`.

        With two environment objects that are stepped in turn, the host's threads emulate one while the GPU chooses
        actions for the other.
        """
        check_actions(actions, self.num_envs)
        if self.parts:  # the host first: it waits for actions, but not for the device
            for part, own in zip(self.parts, actions.split([part.num_envs for part in self.parts])):
                part._take(own.to(part.device, non_blocking=True))
            for part in self.parts:  # if a part refuses its actions, no part makes the step
                part._check_actions()
            for part in self.parts:
                part._begin_step()
            return
        self._take(actions)
        self._begin_step()

    def _take(self, actions: torch.Tensor) -> None:
        """Stores the actions of the next step; actions for the host's threads in memory that the threads read."""
        if self.emulation == "device":
            self._actions = actions
            return
        self._host_actions.copy_(actions, non_blocking=True)
        if self.device.type == "cuda":
            torch.cuda.current_stream(self.device).synchronize()
        self._wait_for_copies()
        self._actions = self._host_actions.numpy()

    def _check_actions(self) -> None:
        """Raises an error if an action is refused; on a device it is NOOP instead."""
        if self.emulation == "host":
            self.batch.check_actions(self._actions)

    def _begin_step(self) -> None:
        self._follow_stream()
        self.batch.begin_step(self._actions)

    def recv(self) -> Results:
        """Returns observations, rewards, terminations, truncations and info of the step that was sent."""
        if self.parts:
            found = [part.recv() for part in self.parts]
            names = ("observations", "rewards", "terminated", "truncated")
            joined = [self._join(name, [result[i] for result in found]) for i, name in enumerate(names)]
            infos = [result[4] for result in found]
            if any("final_obs" in info for info in infos):
                for result in found:  # no episode of this part ended: its rows of final_obs mean nothing
                    result[4].setdefault("final_obs", result[0])
            info = {name: self._join(name, [one[name] for one in infos]) for name in infos[0]}
            return joined[0], joined[1], joined[2], joined[3], info
        return self._recv_from_device() if self.emulation == "device" else self._recv_from_host()

    def _recv_from_host(self) -> Results:
        pictures, rewards, terminated, truncated, info = self.batch.end_step()
        self._numbers.count(rewards, terminated, truncated, info, self._skip)
        numbers = self._numbers.copy()
        if self.obs_type == "ram":
            observations = self._on_device(info["ram"])
        else:
            assert pictures is not None  # only obs_type "ram" leaves them out
            if "final_obs" in info:
                numbers["final_obs"] = self._last(info["final_obs"], terminated | truncated)
            observations = self._stack(pictures, numbers["began"])
        self._note_copies()
        gained = numbers.pop("rewards")
        if self._clips:
            gained = gained.clamp(-1, 1)
        return observations, gained, numbers.pop("terminated"), numbers.pop("truncated"), numbers

    def _recv_from_device(self) -> Results:
        shown, gained, terminated, truncated, info = self.batch.end_step()
        rewards = self._on_device(gained).float()
        frame = self._on_device(info["episode_frame_number"])
        ended = self._on_device(terminated).bool(), self._on_device(truncated).bool()
        began = ended[1] | (ended[0] & (frame != self._frame + self._skip))  # a lost life alone does not start a game
        # In place, so that each replay of a CUDA graph of a step continues from the last replay.
        self._score.copy_(torch.where(self._ended, rewards, self._score + rewards))
        self._length.copy_(torch.where(self._ended, 1, self._length + 1))
        self._ended.copy_(began)
        self._frame.copy_(frame)
        found = {
            "lives": self._on_device(info["lives"]),
            "episode_frame_number": frame,
            "began": began,
            "score": self._score,
            "length": self._length,
        }
        if "final_obs" in info and self.obs_type == "image":
            found["final_obs"] = self._on_device(info["final_obs"])
        observations = self._on_device(info["ram"] if self.obs_type == "ram" else shown)
        if self._clips:
            rewards = rewards.clamp(-1, 1)
        return observations, rewards, *ended, found

    def step(self, actions: torch.Tensor) -> Results:
        """Steps every environment: send and recv."""
        self.send(actions)
        return self.recv()

    def close(self) -> None:
        """Ends the threads and frees the machines."""
        for part in self.parts:
            part.close()
        if not self.parts:
            self.batch.close()


class _Part:
    """A part of an AsyncTorchVectorEnv: a stream of its own and the numbers of its environments."""

    def __init__(self, env: TorchVectorEnv, first: int) -> None:
        self.env = env
        self.ids = torch.arange(first, first + env.num_envs, device=env.device)
        on_host = env.emulation == "host"  # its copies and stacks overtake steps on the GPU
        self.stream = torch.cuda.Stream(env.device, -1 if on_host else 0) if env.device.type == "cuda" else None
        self._complete = torch.cuda.Event() if self.stream and not on_host else None  # the last step on the GPU

    def on_stream(self) -> contextlib.AbstractContextManager[Any]:
        return torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext()

    def after_caller(self) -> contextlib.AbstractContextManager[Any]:
        """Queues work on the part's stream, behind all work that the caller has queued so far."""
        if self.stream:
            self.stream.wait_stream(torch.cuda.current_stream(self.env.device))
        return self.on_stream()

    def hand_over(self, tensors: list[torch.Tensor]) -> None:
        """Lets the caller's later work wait for these tensors, which are made on the part's stream."""
        if self.stream:
            current = torch.cuda.current_stream(self.env.device)
            current.wait_stream(self.stream)
            for tensor in tensors:
                tensor.record_stream(current)

    def take(self, actions: torch.Tensor) -> None:
        with self.after_caller():
            here = actions.to(self.env.device, non_blocking=True)
            if self.stream and actions.device == self.env.device:
                actions.record_stream(self.stream)
            self.env._take(here)

    def begin_step(self) -> None:
        with self.on_stream():
            self.env._begin_step()
            if self._complete:
                self._complete.record(self.stream)

    def is_next(self) -> bool:
        """Whether recv may return this part: a step on the GPU must be complete. A step on the host need not be: recv
        waits for it, because the caller's thread is one of those that emulate it."""
        return self._complete is None or self._complete.query()

    def recv(self) -> Results:
        with self.on_stream():
            *results, info = self.env.recv()
        self.hand_over([*results, *info.values()])
        observations, rewards, terminated, truncated = results
        return observations, rewards, terminated, truncated, info | {"env_id": self.ids}


class AsyncTorchVectorEnv:
    """Games in several parts that are stepped on their own: `recv` returns the results of the part that is ready first.

        env = diffvcs.learn.AsyncTorchVectorEnv("pong", 4096, device="cuda")
        env.send(choose(env.reset(seed=1)))
        while True:
            observations, rewards, terminated, truncated, info = env.recv()
            env.send(choose(observations))  # for the same environments

    `send` takes actions for the environments of all results since the last `send`: all environments after a reset, then
    those that `recv` returned, whose numbers are `info["env_id"]`. Results are on the device of their part, and later
    steps of the part overwrite them: clone the results that you keep. Each part has a stream of its own. It waits for
    what the caller has queued on the current stream before `send`, and work that the caller queues there after `recv`
    waits for the results.

    `emulation` is as in TorchVectorEnv. "auto" with one GPU is "both" from ASYNC_CROSSOVER environments on, with
    ASYNC_ON_HOST of them on the host's threads, which make several steps while the GPU makes one. Otherwise it is
    "device" with a list of GPUs, and "host". The host's environments are two parts unless `host_parts` is another
    number: threads emulate one while the caller works on the results of the other.

    All arguments but these are those of TorchVectorEnv.
    """

    def __init__(
        self,
        game: str | Cartridge | list[str | Cartridge],
        num_envs: int,
        *,
        device: str | torch.device | Sequence[str | torch.device] = "cuda",
        emulation: str = "auto",
        on_host: int | None = None,
        host_parts: int | None = None,
        **settings: Any,
    ) -> None:
        num_envs = whole(num_envs, "num_envs", 1, 2**31 - 1)
        on_one = isinstance(device, (str, torch.device))
        if emulation == "auto" and on_one:
            on_gpu = torch.device(device).type == "cuda"
            emulation = "both" if on_gpu and num_envs >= ASYNC_CROSSOVER else "host"
        by_host = num_envs if emulation == "host" else 0
        if emulation == "both":
            by_host = on_host = (
                min(ASYNC_ON_HOST, num_envs // 2) if on_host is None else whole(on_host, "on_host", 0, num_envs)
            )
        if host_parts is None:
            host_parts = 2 if on_one and by_host > 1 else 1
        self._envs = TorchVectorEnv(
            game, num_envs, device=device, emulation=emulation, on_host=on_host, host_parts=host_parts, **settings
        )
        self.num_envs, self.device, self.emulation = num_envs, self._envs.device, self._envs.emulation
        self.actions, self.observation_shape = self._envs.actions, self._envs.observation_shape
        self._parts: list[_Part] = []
        for env in self._envs.parts or [self._envs]:
            self._parts.append(_Part(env, sum(part.env.num_envs for part in self._parts)))
        self._waiting: list[_Part] = []  # parts that wait for actions
        self._sent: list[_Part] = []  # parts with a step under way, in the order of sending

    def reset(self, seed: int = 0, stagger: int = 0) -> torch.Tensor:
        """Starts a game in every environment, as TorchVectorEnv does, and returns all observations on the first device.
        Results of steps that were sent are dropped."""
        whole(seed, "seed", 0, 2**31 - self.num_envs)
        while self._sent:
            self.recv()
        seen: list[torch.Tensor] = []
        for part in self._parts:
            with part.after_caller():
                observations = part.env.reset(seed + int(part.ids[0]), stagger)
            part.hand_over([observations])
            seen.append(observations.to(self.device))
        self._waiting = list(self._parts)
        return torch.cat(seen)

    def send(self, actions: torch.Tensor) -> None:
        """Starts a step of the environments of all results since the last send, in the order of these results, and
        returns. `actions` are integers of any type, numbers in the list `self.actions`."""
        counts = [part.env.num_envs for part in self._waiting]
        if not counts:
            raise _c.BadArgument(
                "no environment waits for an action: reset comes first, and recv before each further send"
            )
        check_actions(actions, sum(counts))
        for part, own in zip(self._waiting, actions.split(counts)):
            part.take(own)
        for part in self._waiting:  # if a part refuses its actions, no part makes the step
            part.env._check_actions()
        for part in self._waiting:
            part.begin_step()
        self._sent += self._waiting
        self._waiting = []

    def recv(self) -> Results:
        """Returns observations, rewards, terminations, truncations and info of one part. Of the parts whose steps a GPU
        is not still computing, it is the part that was sent first. info is that of TorchVectorEnv, with `env_id`."""
        if not self._sent:
            raise _c.BadArgument("no step was begun: send comes before recv")
        part = next((part for part in self._sent if part.is_next()), self._sent[0])
        results = part.recv()
        self._sent.remove(part)
        self._waiting.append(part)
        return results

    def step(self, actions: torch.Tensor) -> Results:
        """Sends actions and receives the results of the part that is ready first."""
        self.send(actions)
        return self.recv()

    def close(self) -> None:
        """Ends the threads and frees the machines."""
        self._envs.close()
