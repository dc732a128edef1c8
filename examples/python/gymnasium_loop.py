"""An episode through Gymnasium, with random actions.

Observations, rewards, endings and infos are those of ale-py's environments. "demo" is the cartridge that is built in; with
ale-py's ROM images installed, `gymnasium.make("DiffVCS/Pong-v5")` makes an environment with the same interface.

Output:
    observation (210, 160, 3) uint8
    0 steps, return 0
"""

import diffvcs

env = diffvcs.AtariEnv("demo")
observation, info = env.reset(seed=1)
env.action_space.seed(1)
print("observation", observation.shape, observation.dtype)
steps = total = 0
over = False
while not over and steps < 2000:
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    steps, total, over = steps + 1, total + reward, terminated or truncated
print(f"{steps} steps, return {total:g}")
env.close()
