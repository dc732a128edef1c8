"""Stable-Baselines3's Atari example with one line changed: where make_atari_env comes from.

python sb3_pong.py [STEPS]
"""

import sys

from stable_baselines3 import A2C
from stable_baselines3.common.vec_env import VecFrameStack

from diffvcs.sb3 import make_atari_env  # was: from stable_baselines3.common.env_util import make_atari_env

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 25_000
vec_env = make_atari_env("PongNoFrameskip-v4", n_envs=4, seed=0)
vec_env = VecFrameStack(vec_env, n_stack=4)

model = A2C("CnnPolicy", vec_env, verbose=1)
model.learn(total_timesteps=steps)
print(f"learned for {model.num_timesteps} steps")
