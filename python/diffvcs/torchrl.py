"""TorchRL: many games as one EnvBase, on the CPU or on a GPU.

    env = diffvcs.torchrl.DiffVCSEnv("pong", num_envs=64, device="cuda")
    data = env.rollout(100)

It is diffvcs.learn.TorchVectorEnv in TorchRL's terms: "pixels" (or "ram") are uint8, the batch size is the number of
environments. A game that has ended begins again in the same step, so rollouts go on (break_when_any_done=False): "next"
has the last picture of the game that ended, and the reset that follows has the first one of the new game. Of RAM no last
observation is kept: with obs_type="ram" both are the first one of the new game.
"""

from __future__ import annotations

from typing import Any

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as problem:
    raise ImportError("this needs TorchRL: pip install torchrl") from problem

from .cartridge import Cartridge
from .learn import TorchVectorEnv


class DiffVCSEnv(EnvBase):
    """Args: those of TorchVectorEnv. `seed` is that of the first reset of all games; each later one has seeds of its own."""

    def __init__(
        self, game: str | Cartridge, num_envs: int = 1, *, device: str = "cpu", seed: int = 0, **settings: Any
    ) -> None:
        super().__init__(device=torch.device(device), batch_size=torch.Size([num_envs]))
        self.env = TorchVectorEnv(game, num_envs, device=device, **settings)
        self._next_seed = seed
        self._seen: Any = None
        self.key = "pixels" if self.env.obs_type == "image" else "ram"
        n, where = num_envs, self.device
        self.observation_spec = Composite(
            {self.key: Bounded(0, 255, (n, *self.env.observation_shape), dtype=torch.uint8, device=where)}, shape=(n,)
        )
        self.action_spec = Categorical(len(self.env.actions), shape=(n,), dtype=torch.int64, device=where)
        self.reward_spec = Unbounded((n, 1), device=where)
        ends = {
            name: Categorical(2, (n, 1), dtype=torch.bool, device=where) for name in ("done", "terminated", "truncated")
        }
        self.full_done_spec = Composite(ends, shape=(n,))

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDict:
        """Starts all games. A request that names games changes nothing: those that ended have begun again already."""
        if self._seen is None or tensordict is None or "_reset" not in tensordict.keys():
            self._seen = self.env.reset(self._next_seed)
            self._set_seed(self._next_seed + self.env.num_envs)
        return TensorDict({self.key: self._seen.clone()}, self.batch_size, device=self.device)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        self._seen, *results, info = self.env.step(tensordict["action"])
        rewards, terminated, truncated = (result[:, None].clone() for result in results)
        last = self._seen.clone()
        if "final_obs" in info:
            ended = (terminated | truncated).view(-1, *[1] * (last.dim() - 1))
            last = torch.where(ended, info["final_obs"], last)
        found = {
            self.key: last, "reward": rewards, "terminated": terminated, "truncated": truncated,
            "done": terminated | truncated,
        }  # fmt: skip
        return TensorDict(found, self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = (seed or 0) % (2**31 - self.env.num_envs)  # the last environment has the largest seed

    def close(self, *, raise_if_closed: bool = True) -> None:
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)
