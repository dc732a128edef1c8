"""TorchRL: collect transitions of Pong in a collector; the line that changes is the environment.

python torchrl_pong.py [STEPS]
"""

import sys

from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.modules import ConvNet, ProbabilisticActor
import torch

from diffvcs.torchrl import DiffVCSEnv

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_024
env = DiffVCSEnv("pong", num_envs=16)  # was: ParallelEnv(16, lambda: GymEnv("ALE/Pong-v5"))


class Logits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(ConvNet(in_features=4, num_cells=[16, 32], kernel_sizes=[8, 4], strides=[4, 2]))
        self.head = nn.LazyLinear(env.action_spec.n)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(pixels.float() / 255))


policy = ProbabilisticActor(
    TensorDictModule(Logits(), in_keys=["pixels"], out_keys=["logits"]),
    in_keys=["logits"],
    spec=env.action_spec,
    distribution_class=torch.distributions.Categorical,
)
policy(env.reset())  # gives the lazy layer its shape
collector = Collector(env, policy, frames_per_batch=512, total_frames=steps)
seen = 0
for data in collector:
    seen += data.numel()
    print(f"{seen} transitions, reward {data['next', 'reward'].sum().item():g}")
collector.shutdown()
