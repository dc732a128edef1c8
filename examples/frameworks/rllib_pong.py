"""RLlib's Atari example for PPO with one line changed: the name of the environment.

python rllib_pong.py [STEPS] [ENV_RUNNERS]

The settings are those of RLlib's tuned example for Atari, with a small network and short batches for a machine with few
cores. Each env runner is a process with several environments. It prints the mean return of the episodes, and the mean
reward of a step, which needs no finished episode.
"""

import sys

import gymnasium
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module.frame_stacking import FrameStackingEnvToModule
from ray.rllib.connectors.learner.frame_stacking import FrameStackingLearner
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.env.wrappers.atari_wrappers import wrap_atari_for_new_api_stack
import ray

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
runners = int(sys.argv[2]) if len(sys.argv) > 2 else 2


def create(settings):
    # "module:name" imports the module first, in every process. was: gymnasium.make("ale_py:ALE/Pong-v5", ...)
    env = gymnasium.make("diffvcs:DiffVCS/Pong-v5", frameskip=1, repeat_action_probability=0.0, **settings)
    return wrap_atari_for_new_api_stack(env, dim=64, frameskip=4, framestack=None)


ray.init(include_dashboard=False, log_to_driver=False)
tune.register_env("pong", create)
config = (
    PPOConfig()
    .environment("pong", clip_rewards=True)
    .env_runners(
        num_env_runners=runners,
        num_envs_per_env_runner=4,
        rollout_fragment_length=64,
        env_to_module_connector=lambda env, spaces, device: FrameStackingEnvToModule(num_frames=4),
    )
    .learners(num_learners=0)
    .training(
        learner_connector=lambda spaces, device: FrameStackingLearner(num_frames=4),
        train_batch_size_per_learner=64 * 4 * max(runners, 1),
        minibatch_size=128,
        num_epochs=4,
        lr=0.0005,
        lambda_=0.95,
        gamma=0.99,
        kl_coeff=0.5,
        clip_param=0.1,
        vf_clip_param=10.0,
        entropy_coeff=0.01,
        grad_clip=100.0,
        grad_clip_by="global_norm",
    )
    .rl_module(
        model_config=DefaultModelConfig(
            conv_filters=[[16, 4, 2], [32, 4, 2], [64, 4, 2], [128, 4, 2]],
            conv_activation="relu",
            head_fcnet_hiddens=[256],
            vf_share_layers=True,
        )
    )
)
learner = config.build_algo()
sampled = 0
while sampled < steps:
    found = learner.train()["env_runners"]
    sampled = int(found["num_env_steps_sampled_lifetime"])
    print(f"{sampled} steps, return {found.get('episode_return_mean', float('nan')):.2f}", flush=True)
learner.stop()
ray.shutdown()
