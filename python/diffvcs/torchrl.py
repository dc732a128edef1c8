"""TorchRL: many games as one EnvBase, on the CPU or on a GPU.

    env = diffvcs.torchrl.DiffVCSEnv("pong", num_envs=64, device="cuda")
    data = env.rollout(100)

It is diffvcs.learn.TorchVectorEnv in TorchRL's terms: "pixels" (or "ram") are uint8, the batch size is the number of
environments. A game that has ended begins again in the same step, so rollouts go on (break_when_any_done=False).
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
    """Args: those of TorchVectorEnv."""

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
        """Starts all games. A request for some of them changes nothing: games that ended have begun again already."""
        if tensordict is not None and "_reset" in tensordict.keys() and not tensordict["_reset"].all():
            return TensorDict({self.key: self._seen.clone()}, self.batch_size, device=self.device)
        self._seen = self.env.reset(self._next_seed)
        return TensorDict({self.key: self._seen.clone()}, self.batch_size, device=self.device)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        self._seen, *results, _info = self.env.step(tensordict["action"])
        rewards, terminated, truncated = (result[:, None].clone() for result in results)
        found = {
            self.key: self._seen.clone(), "reward": rewards, "terminated": terminated, "truncated": truncated,
            "done": terminated | truncated,
        }  # fmt: skip
        return TensorDict(found, self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = seed or 0

    def close(self, *, raise_if_closed: bool = True) -> None:
        self.env.close()
        super().close(raise_if_closed=raise_if_closed)
