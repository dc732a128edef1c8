"""Sample Factory's own Atari example for EnvPool (sf_examples.envpool.atari) with one line changed: which module is envpool.

python sample_factory_pong.py [STEPS]
"""

import sys
import tempfile

import diffvcs

sys.modules["envpool"] = diffvcs  # the example's line is: import envpool
from sf_examples.envpool.atari.train_envpool_atari import main

if __name__ == "__main__":
    steps = sys.argv[1] if len(sys.argv) > 1 else "100000"
    settings = dict(env="atari_pong", experiment="pong", device="cpu", train_for_env_steps=steps)
    # One process and eight environments, so that the example runs on any computer.
    settings |= dict(serial_mode=True, async_rl=False, num_workers=1, env_agents=8, rollout=32, num_batches_per_epoch=1)
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1:] = [f"--{name}={value}" for name, value in settings.items()] + [f"--train_dir={folder}"]
        status = main()
    print(f"Sample Factory ended with status {status} after {steps} steps")
    sys.exit(status)
