"""Eight environments step together, with the usual preprocessing of Atari learning.

An observation is four pictures of 84 x 84 gray pixels, a step is four frames.

Output:
    observations (8, 4, 84, 84) uint8
    100 steps: mean pixel 70.34, frames 402 to 429
"""

import numpy as np

from diffvcs import DiffVCSVectorEnv

envs = DiffVCSVectorEnv("demo", num_envs=8)
observations, info = envs.reset(seed=0)
print("observations", observations.shape, observations.dtype)
for step in range(100):
    actions = (step + np.arange(8)) % 3
    observations, rewards, terminated, truncated, info = envs.step(actions)
frames = info["frame_number"]
print(f"100 steps: mean pixel {observations.mean():.2f}, frames {frames.min()} to {frames.max()}")
