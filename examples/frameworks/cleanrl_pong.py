"""CleanRL's PPO loop for EnvPool (ppo_atari_envpool.py), shortened; the line that changes is the import.

python cleanrl_pong.py [STEPS]
"""

import sys

import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical

import diffvcs as envpool  # was: import envpool

total = int(sys.argv[1]) if len(sys.argv) > 1 else 4_096
num_envs, num_steps = 8, 64
envs = envpool.make("Pong-v5", env_type="gym", num_envs=num_envs, episodic_life=True, reward_clip=True, seed=1)


def layer(module: nn.Module, std: float = 2**0.5) -> nn.Module:
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, 4)), nn.ReLU(), layer(nn.Conv2d(32, 64, 4, 2)), nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3, 1)), nn.ReLU(), nn.Flatten(), layer(nn.Linear(3136, 512)), nn.ReLU(),
        )  # fmt: skip
        self.actor, self.critic = layer(nn.Linear(512, envs.action_space.n), 0.01), layer(nn.Linear(512, 1), 1)

    def forward(self, x: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.network(x.float() / 255)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden)[:, 0]


torch.manual_seed(1)
agent = Agent()
optimizer = optim.Adam(agent.parameters(), 2.5e-4, eps=1e-5)
reset = envs.reset()
seen = torch.from_numpy(np.asarray(reset[0] if isinstance(reset, tuple) else reset))
for update in range(total // (num_envs * num_steps)):
    kept: list[tuple[torch.Tensor, ...]] = []
    for _ in range(num_steps):
        with torch.no_grad():
            choice, value = agent(seen)
            action = choice.sample()
        found = envs.step(action.numpy())
        done = found[2] if len(found) == 4 else found[2] | found[3]
        kept.append((seen, action, choice.log_prob(action), value, torch.tensor(found[1]), torch.tensor(done).float()))
        seen = torch.from_numpy(np.asarray(found[0]))
    observations, actions, likelihoods, values, rewards, dones = (torch.stack(part) for part in zip(*kept))
    with torch.no_grad():
        following, advantage, advantages = agent(seen)[1], torch.zeros(num_envs), []
        for t in reversed(range(num_steps)):
            delta = rewards[t] + 0.99 * (1 - dones[t]) * following - values[t]
            advantage = delta + 0.99 * 0.95 * (1 - dones[t]) * advantage
            advantages.insert(0, advantage)
            following = values[t]
        advantages = torch.stack(advantages)
        targets = advantages + values
    flat = [part.flatten(0, 1) for part in (observations, actions, likelihoods, advantages, targets)]
    for rows in torch.randperm(num_envs * num_steps).split(128):
        o, a, old, gain, target = (part[rows] for part in flat)
        choice, value = agent(o)
        ratio = (choice.log_prob(a) - old).exp()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        loss = -torch.min(ratio * gain, ratio.clamp(0.9, 1.1) * gain).mean() + 0.5 * (value - target).square().mean()
        loss = loss - 0.01 * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    print(f"update {update + 1}: {(update + 1) * num_envs * num_steps} steps, rewards {rewards.sum().item():g}")
