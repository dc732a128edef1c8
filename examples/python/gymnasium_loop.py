"""An episode through Gymnasium, with random actions.

Observations, rewards, endings and infos are those of ale-py's environments. Demo is the cartridge that is built in; with
ale-py's ROM images installed, DiffVCS/Pong-v5 has the same interface.

Output:
    observation (210, 160, 3) uint8
    346 steps, return 20
"""

import gymnasium

import diffvcs  # noqa: F401  (registers the names)

env = gymnasium.make("DiffVCS/Demo-v5")
observation, info = env.reset(seed=1)
env.action_space.seed(1)
print("observation", observation.shape, observation.dtype)
steps = total = 0
over = False
while not over and steps < 500:
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    steps, total, over = steps + 1, total + reward, terminated or truncated
print(f"{steps} steps, return {total:g}")
env.close()
