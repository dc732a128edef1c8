"""RLlib: one game and a vector of games give the same, RLlib's own Atari example runs with one line changed."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import needs

needs.module("ray")
needs.module("ray.rllib", "rllib")

import diffvcs.rllib
from diffvcs.rllib import RLlibEnv, RLlibVectorEnv, make


@pytest.mark.parametrize("settings", [{"observe": "image"}, {"observe": "ram"}, {"observe": "ram", "cells": [3, 1]}])
def test_a_vector_gives_what_single_games_give(random, settings):
    """With RLlib's order of resets: a game that has ended is reset by the next step."""
    settings = {"game": "demo", "max_num_frames_per_episode": 120, "noop_max": 0, **settings}
    vector, singles = make({**settings, "num_envs": 3}), [make(settings) for _ in range(3)]
    assert isinstance(vector, RLlibVectorEnv) and isinstance(singles[0], RLlibEnv)
    seen, info = vector.reset(seed=4)
    assert info == {} and vector.observation_space.contains(seen)
    for i, env in enumerate(singles):
        assert np.array_equal(env.reset(seed=4 + i)[0], seen[i]) and env.observation_space.contains(seen[i])
    over, ends = np.zeros(3, bool), 0
    for _ in range(80):
        actions = random.integers(0, vector.single_action_space.n, 3)
        seen, rewards, terminated, truncated, info = vector.step(actions)
        for i, env in enumerate(singles):
            found = (env.reset()[0], 0.0, False, False) if over[i] else env.step(actions[i])[:4]
            assert np.array_equal(found[0], seen[i]) and found[1:] == (rewards[i], terminated[i], truncated[i])
        over = terminated | truncated
        ends += over.sum()
    assert ends >= 3 and info == {}


def test_ram_is_bytes_and_their_changes():
    plain = diffvcs.DiffVCSVectorEnv("demo", 2, obs_type="ram", noop_max=0)
    ours = RLlibVectorEnv("demo", 2, observe="ram", cells=[5, 6, 7], noop_max=0)
    before = plain.reset(seed=1)[0][:, 5:8].astype(float)
    seen = ours.reset(seed=1)[0]
    assert (seen[:, 3:] == 0).all() and np.allclose(seen[:, :3] * 127.5 + 127.5, before)
    for _ in range(30):
        ram = plain.step(np.zeros(2, int))[0][:, 5:8].astype(float)
        seen = ours.step(np.zeros(2, int))[0]
        assert np.allclose(seen[:, :3] * 127.5 + 127.5, ram, atol=1e-4)
        assert np.allclose(seen[:, 3:], np.clip((ram - before) / 16, -1, 1))
        before = ram
    copy = pickle.loads(pickle.dumps(ours))
    for _ in range(5):
        assert np.array_equal(copy.step(np.ones(2, int))[0], ours.step(np.ones(2, int))[0])


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="observe is one of image, ram"):
        make({"game": "demo", "observe": "sound"})
    with pytest.raises(ValueError, match="numbers from 0 to 127"):
        make({"game": "demo", "observe": "ram", "cells": [128]})
    for cells in ([1.5], [float("nan")], [2**64], ["x"], [[1, 2]], [-1]):
        with pytest.raises((TypeError, ValueError), match="cells"):
            make({"game": "demo", "observe": "ram", "cells": cells})
    with pytest.raises(ValueError, match="need observe='ram'"):
        make({"game": "demo", "cells": [1]})
    with pytest.raises(TypeError, match="did you mean noop_max"):
        make({"game": "demo", "noopmax": 1})


def test_without_rllib_the_message_says_what_to_install():
    text = "import sys; sys.modules['ray'] = None\nimport diffvcs\nimport diffvcs.rllib"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert ran.returncode == 1 and "pip install 'ray[rllib]'" in ran.stderr


@pytest.mark.roms
def test_rllibs_own_atari_example_runs_with_one_line_changed(tmp_path):
    needs.module("torch")
    needs.module("cv2")
    needs.module("PIL")  # RLlib imports it for every algorithm, and does not require it
    needs.roms()
    import ray.rllib

    stock = Path(ray.rllib.__file__).parent / "examples" / "connectors" / "frame_stacking.py"
    before, after = 'env="ale_py:ALE/Pong-v5",', 'env="diffvcs:DiffVCS/Pong-v5",'
    text = stock.read_text()
    assert text.count(before) == 1
    script = tmp_path / "frame_stacking.py"
    script.write_text(text.replace(before, after))
    options = "--no-tune --num-env-runners 0 --stop-iters 1 --stop-timesteps 100 --num-cpus 2".split()
    # a cluster of its own, and no threads of PyTorch that wait for each other beside other work
    alone = {**os.environ, "RAY_ADDRESS": "local", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, str(script), *options], cwd=tmp_path, env=alone, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


@pytest.mark.parametrize("mode", [{}, diffvcs.rllib.VECTOR], ids=["single", "vector"])
def test_ppo_trains_with_two_runners(mode):
    """Two environment runners with two games each, as processes of Ray's; test_learn.py runs the example for Pong."""
    needs.module("torch")
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig

    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        diffvcs.rllib.register()
        config = PPOConfig().environment(
            diffvcs.rllib.NAME, env_config={"game": "demo", "observe": "ram", "max_num_frames_per_episode": 200}
        )
        config.env_runners(num_env_runners=2, num_envs_per_env_runner=2, **mode)
        config.training(train_batch_size_per_learner=400, minibatch_size=200, num_epochs=1)
        algorithm = config.build_algo()
        found = algorithm.train()["env_runners"]
        algorithm.stop()
    finally:
        ray.shutdown()
    assert found["num_env_steps_sampled_lifetime"] >= 400
    assert found["episode_len_mean"] == 50 and np.isfinite(found["episode_return_mean"])
