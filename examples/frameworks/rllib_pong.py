"""RLlib's PPO learns Pong from four bytes of RAM on two cores: two environment runners, each with a vector of games.

The agent sees where the ball and the paddles are, and how they moved since the last step (four frames). Prints the mean score of the
games that ended in the last ten iterations. It starts a Ray cluster of its own on this machine.

python rllib_pong.py [STEPS] [AT_LEAST]     (fails if the mean score at the end is not AT_LEAST or more)
"""

import collections
import math
import statistics
import sys
import time

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

import diffvcs.rllib

BALL_X, BALL_Y, OWN, OTHER = 49, 54, 51, 50  # bytes of Pong's RAM
RUNNERS, GAMES, BATCH = 2, 16, 4096

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600_000
at_least = float(sys.argv[2]) if len(sys.argv) > 2 else None
torch.set_num_threads(1)  # the networks are small
ray.init(address="local", num_cpus=RUNNERS + 1, include_dashboard=False, log_to_driver=False)
diffvcs.rllib.register()
config = (
    PPOConfig()
    .environment(
        diffvcs.rllib.NAME, env_config={"game": "pong", "observe": "ram", "cells": [BALL_X, BALL_Y, OWN, OTHER]}
    )
    .env_runners(
        num_env_runners=RUNNERS, num_envs_per_env_runner=GAMES, rollout_fragment_length="auto", **diffvcs.rllib.VECTOR
    )
    .training(
        train_batch_size_per_learner=min(BATCH, steps), minibatch_size=min(512, steps), num_epochs=6, lr=1e-3, gamma=0.98,
        lambda_=0.95, clip_param=0.2, vf_clip_param=10.0, entropy_coeff=0.01, use_kl_loss=False, grad_clip=0.5,
    )
    .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], fcnet_activation="tanh", vf_share_layers=False))
    .debugging(seed=1)
)  # fmt: skip
algorithm, sampled, score, start = config.build_algo(), 0, math.nan, time.perf_counter()
recent = collections.deque(maxlen=10)  # mean scores of iterations in which games ended
try:
    while sampled < steps:
        found = algorithm.train()["env_runners"]
        sampled, mean = int(found["num_env_steps_sampled_lifetime"]), found.get("episode_return_mean", math.nan)
        recent.extend([] if math.isnan(mean) else [mean])
        score = statistics.fmean(recent) if recent else math.nan
        print(f"{sampled:8,} steps, {time.perf_counter() - start:5.0f} s: mean score {score:6.2f}", flush=True)
finally:
    algorithm.stop()
    ray.shutdown()
sys.exit(at_least is not None and not score >= at_least)
