"""Gymnasium's loop with its Atari wrappers; the line that changes is the name of the environment.

python gymnasium_pong.py [STEPS]
"""

import sys

import gymnasium
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

import diffvcs  # registers DiffVCS/...

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
env = gymnasium.make("DiffVCS/Pong-v5", frameskip=1)  # was: ALE/Pong-v5
env = FrameStackObservation(AtariPreprocessing(env), 4)
env.action_space.seed(0)
observation, info = env.reset(seed=0)
total = 0.0
for _ in range(steps):
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    total += float(reward)
    if terminated or truncated:
        observation, info = env.reset()
print(f"{steps} steps of {observation.shape} {observation.dtype}: reward {total:g} (diffvcs {diffvcs.__version__})")
