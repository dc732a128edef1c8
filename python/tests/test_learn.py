"""Environments for learners: stacks kept beside the learner are those of the batch, and each framework accepts its adapter."""

import pathlib
import subprocess
import sys

import numpy as np
import needs
import pytest

torch = needs.module("torch")

from diffvcs import BadArgument, VCSError  # noqa: E402
from diffvcs.batch import ALEVectorInterface  # noqa: E402
from diffvcs.learn import AsyncTorchVectorEnv, TorchVectorEnv  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]


def steps(random, env, count):
    return torch.from_numpy(random.integers(0, len(env.actions), (count, env.num_envs)))


@pytest.mark.parametrize(
    "places",
    [
        {"emulation": "host"},
        {"emulation": "host", "host_parts": 3},
        {"emulation": "device"},
        {"emulation": "both"},
        {"emulation": "both", "on_host": 3, "host_parts": 2},
    ],
    ids=str,
)
def test_results_are_those_of_a_batch(random, places):
    settings = dict(max_episode_steps=160, noop_max=0)
    env = TorchVectorEnv("demo", 4, device="cpu", **places, **settings)
    batch = ALEVectorInterface("demo", 4, autoreset_mode="SameStep", reward_clipping=False, **settings)
    assert torch.equal(env.reset(5), torch.from_numpy(batch.reset(np.arange(4), np.arange(5, 9))[0]))
    score, length, ends = np.zeros(4), np.zeros(4), 0
    for actions in steps(random, env, 120):
        seen, rewards, terminated, truncated, info = env.step(actions)
        expected, gained, over, cut, their_info = batch.step(actions.numpy())
        assert np.array_equal(seen.numpy(), expected)
        assert np.array_equal(rewards.numpy(), gained)
        assert np.array_equal(terminated.numpy(), over) and np.array_equal(truncated.numpy(), cut)
        assert np.array_equal(info["lives"].numpy(), their_info["lives"])
        score += gained
        assert np.array_equal(info["score"].numpy(), score)
        ended = over | cut
        assert np.array_equal(info["began"].numpy(), ended)
        length += 1
        assert np.array_equal(info["length"].numpy(), length)
        if ended.any():
            assert np.array_equal(info["final_obs"].numpy()[ended], their_info["final_obs"][ended])
        score[ended] = length[ended] = 0
        ends += ended.sum()
    assert ends >= 8  # several episodes
    env.close()


def test_a_graph_of_a_step_is_a_step(random):
    """A CUDA graph of a step, with results that go on from replay to replay."""
    if not torch.cuda.is_available():
        needs.missing("gpu", "PyTorch finds no GPU")
    settings = dict(device="cuda", emulation="device", noop_max=0, max_episode_steps=160)
    captured, plain = (TorchVectorEnv("demo", 40, **settings) for _ in range(2))
    stream, chosen = torch.cuda.Stream(), torch.zeros(40, dtype=torch.int64, device="cuda")
    with torch.cuda.stream(stream):
        for env in (captured, plain):
            env.reset(1)
            env.step(chosen)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        seen, rewards, terminated, truncated, info = captured.step(chosen)
    ends = 0
    with torch.cuda.stream(stream):
        for actions in steps(random, plain, 90):
            chosen.copy_(actions)
            graph.replay()
            expected = plain.step(chosen)
            for one, other in zip((seen, rewards, terminated, truncated), expected):
                assert torch.equal(one, other)
            for name in ("score", "length", "began", "lives", "episode_frame_number"):
                assert torch.equal(info[name], expected[4][name])
            ended = terminated | truncated
            assert torch.equal(info["final_obs"][ended], expected[4]["final_obs"][ended])
            ends += int(ended.sum())
    assert ends >= 40


@pytest.mark.parametrize("emulation", ["host", "device", "both"])
def test_staggered_games_have_different_ages(random, emulation):
    env, again = (TorchVectorEnv("demo", 6, device="cpu", emulation=emulation, noop_max=0, on_host=2) for _ in range(2))
    assert torch.equal(env.reset(3, stagger=12), again.reset(3, stagger=12))
    first = TorchVectorEnv("demo", 6, device="cpu", emulation=emulation, noop_max=0, on_host=2)
    first.reset(3)
    ages = env.step(torch.zeros(6, dtype=torch.int64))[4]["episode_frame_number"]
    young = first.step(torch.zeros(6, dtype=torch.int64))[4]["episode_frame_number"]
    spread = [11, 5, 11, 8, 5, 2] if emulation == "both" else [11, 9, 7, 5, 3, 1]  # each part is spread by itself
    assert (ages - young).tolist() == [4 * steps for steps in spread]


def test_lives_do_not_begin_games(random):
    env = TorchVectorEnv("demo", 8, device="cpu", life_loss_info=True, max_episode_steps=2000)
    env.reset()
    lost, began = 0, 0
    for actions in steps(random, env, 400):
        _, _, terminated, truncated, info = env.step(actions)
        lost += int(terminated.sum())
        began += int(info["began"].sum())
        assert not (info["began"] & ~(terminated | truncated)).any()
    assert began < lost
    env.close()


def test_two_that_take_turns(random):
    """send and recv of two objects in turn give what steps give."""
    pair = [TorchVectorEnv("demo", 3, device="cpu") for _ in range(2)]
    alone = TorchVectorEnv("demo", 3, device="cpu")
    for env in (*pair, alone):
        env.reset(1)
    for actions in steps(random, alone, 30):
        for env in pair:
            env.send(actions)
        found = [env.recv()[0].clone() for env in pair]
        expected = alone.step(actions)[0]
        assert all(torch.equal(one, expected) for one in found)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_numbers_of_a_step_on_the_host_stay(random, device):
    """A learner may keep what a step returns, except for its observations."""
    if device == "cuda" and not torch.cuda.is_available():
        needs.missing("gpu", "PyTorch finds no GPU")
    env = TorchVectorEnv("demo", 8, device=device, emulation="host", life_loss_info=True)
    env.reset(1)
    kept, copied = [], []
    for actions in steps(random, env, 200):
        _, rewards, terminated, truncated, info = env.step(actions)
        info.pop("final_obs", None)
        kept.append([rewards, terminated, truncated, *info.values()])
        copied.append([one.clone() for one in kept[-1]])
    assert any(bool(step[1].any()) for step in copied)
    assert all(torch.equal(a, b) for one, other in zip(kept, copied) for a, b in zip(one, other))
    env.close()


@pytest.mark.parametrize("emulation", ["host", "device"])
def test_a_game_that_is_cut_off_begins_again(random, emulation):
    """Also if the next one, after its no-ops, is at the frame that the game would have had."""
    env = TorchVectorEnv("demo", 32, device="cpu", emulation=emulation, noop_max=30, max_episode_steps=5)
    env.reset(1)
    cut, last = 0, None
    for actions in steps(random, env, 100):
        *_, truncated, info = env.step(actions)
        frame = info["episode_frame_number"].clone()
        if last is not None:
            cut += int((truncated & (frame == last + 4)).sum())
        last = frame
        assert bool(info["began"][truncated].all())
    assert cut > 0
    env.close()


def test_ram_and_errors(random):
    env = TorchVectorEnv("demo", 2, device="cpu", obs_type="ram", reward_clipping=True)
    assert env.reset(0).shape == (2, 128)
    assert env.step(torch.zeros(2, dtype=torch.uint8))[0].dtype == torch.uint8
    with pytest.raises(ValueError, match="2 integer actions are expected"):
        env.step(torch.zeros(2))
    with pytest.raises(ValueError, match="of shape \\(3,\\)"):
        env.step(torch.zeros(3, dtype=torch.int64))
    with pytest.raises(ValueError, match="auto, host, device or both"):
        TorchVectorEnv("demo", 2, device="cpu", emulation="moon")
    with pytest.raises(ValueError, match="1 to 1 of 2"):
        TorchVectorEnv("demo", 2, device="cpu", emulation="both", on_host=2)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="no GPU"):
            TorchVectorEnv("demo", 2, device="cuda")


def test_stable_baselines_accepts_ours():
    needs.module("stable_baselines3")
    from stable_baselines3.common.env_checker import check_env  # noqa: F401
    from diffvcs.sb3 import DiffVCSVecEnv, game_of

    assert game_of("demo") == "demo"
    env = DiffVCSVecEnv("demo", 3, seed=1, max_episode_steps=80)
    first = env.reset()
    assert first.shape == (3, 84, 84, 1) and env.observation_space.contains(first[0])
    endings = 0
    for _ in range(60):
        seen, rewards, dones, infos = env.step(np.zeros(3, np.int64))
        for i in np.flatnonzero(dones):
            endings += 1
            assert infos[i]["terminal_observation"].shape == (84, 84, 1) and infos[i]["episode"]["l"] <= 20
    assert endings >= 3
    env.seed(1)
    assert np.array_equal(env.reset(), first)
    env.close()


def test_stable_baselines_gets_the_points_of_an_episode_and_clipped_rewards(random):
    needs.module("stable_baselines3")
    from diffvcs.sb3 import DiffVCSVecEnv

    made = [DiffVCSVecEnv("demo", 4, seed=0, max_episode_steps=1200, reward_clipping=clips) for clips in (True, False)]
    totals, episodes, steps = np.zeros(4), [], 0
    for env in made:
        env.reset()
    for _ in range(310):
        actions = random.integers(0, made[0].action_space.n, 4)
        (_, clipped, dones, infos), (_, raw, _, others) = (env.step(actions) for env in made)
        assert np.array_equal(clipped, np.sign(raw))
        totals, steps = totals + raw, steps + 1
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == others[i]["episode"]["r"] == totals[i]
            episodes.append(totals[i])
            totals[i] = 0
    assert max(episodes) > 5  # a star is 5 points
    for env in made:
        env.close()


def test_stable_baselines_seeds_of_32_bits_and_none_are_seeds():
    """Algorithms give the first ones; without a seed each environment is another game, as with make_vec_env."""
    needs.module("stable_baselines3")
    from diffvcs.sb3 import make_atari_env

    np.random.seed(0)
    env = make_atari_env("demo", 2)
    assert all(seed is not None for seed in env._seeds)
    assert env.reset().shape == (2, 84, 84, 1)
    env.seed(2**32 - 2)
    assert env.reset().shape == (2, 84, 84, 1)
    env.close()


@pytest.mark.parametrize("stack", [1, 2])
def test_stable_baselines_gets_colours_after_each_other(stack):
    needs.module("stable_baselines3")
    from diffvcs.sb3 import DiffVCSVecEnv

    env = DiffVCSVecEnv("demo", 2, seed=1, grayscale=False, stack_num=stack, max_episode_steps=40)
    assert env.observation_space.shape == (84, 84, 3 * stack)
    seen, ends = env.reset(), 0
    for _ in range(25):
        before = seen
        seen, _, dones, infos = env.step(np.zeros(2, np.int64))
        assert env.observation_space.contains(seen[0])
        ends += dones.sum()
        for i in np.flatnonzero(dones):
            assert env.observation_space.contains(infos[i]["terminal_observation"])
        if stack == 2 and not dones[0]:
            assert np.array_equal(seen[0, ..., :3], before[0, ..., 3:])  # the older picture first
    assert ends
    env.close()


@pytest.mark.parametrize(
    "setting",
    [{"batch_size": 1}, {"players": 2}, {"device": "cuda"}, {"observations": False}, {"autoreset_mode": "NextStep"}],
)
def test_stable_baselines_refuses_what_a_vecenv_has_not(setting):
    needs.module("stable_baselines3")
    from diffvcs.sb3 import DiffVCSVecEnv

    with pytest.raises(ValueError, match=f"{next(iter(setting))} cannot be given"):
        DiffVCSVecEnv("demo", 2, **setting)


def test_torchrl_accepts_ours():
    needs.module("torchrl")
    from torchrl.envs.utils import check_env_specs
    from diffvcs.torchrl import DiffVCSEnv

    env = DiffVCSEnv("demo", 3)
    check_env_specs(env)
    assert env.rollout(20, break_when_any_done=False)["pixels"].shape == (3, 20, 4, 84, 84)
    env.close()


@pytest.mark.parametrize("settings", [{"emulation": "host"}, {"emulation": "device"}, {"host_parts": 2}])
def test_torchrl_keeps_every_step_of_a_rollout(settings):
    """TorchRL stacks the steps of a rollout at its end, so that no step may overwrite those before it."""
    needs.module("torchrl")
    from tensordict import TensorDict
    from diffvcs.torchrl import DiffVCSEnv

    env = DiffVCSEnv("demo", 4, device="cpu", noop_max=0, max_episode_steps=12, **settings)
    env.reset()
    kept, copied = [], []
    for _ in range(7):
        kept.append(env.step(TensorDict({"action": torch.zeros(4, dtype=torch.int64)}, [4]))["next"])
        copied.append(kept[-1].clone())
    assert [bool(step["truncated"].any()) for step in copied].count(True) == 2
    for one, other in zip(kept, copied):
        for name in ("pixels", "reward", "terminated", "truncated", "done"):
            assert torch.equal(one[name], other[name])
    env.close()


@pytest.mark.parametrize("emulation", ["host", "device"])
def test_torchrl_shows_the_end_of_a_game_and_goes_on_with_the_next_one(emulation):
    """Beside the same games of TorchVectorEnv. A single game, because a reset of all is then one of a game that ended."""
    needs.module("torchrl")
    from diffvcs.torchrl import DiffVCSEnv

    settings = dict(device="cpu", emulation=emulation, noop_max=30, max_episode_steps=48)
    ours, plain = DiffVCSEnv("demo", 1, seed=5, **settings), TorchVectorEnv("demo", 1, **settings)
    shown, seen = ours.reset(), plain.reset(5).clone()
    games, game = [], []
    for _ in range(60):
        assert torch.equal(shown["pixels"], seen)
        step, shown = ours.step_and_maybe_reset(shown.set("action", torch.zeros(1, dtype=torch.int64)))
        seen, _, _, truncated, info = plain.step(torch.zeros(1, dtype=torch.int64))
        seen = seen.clone()
        game.append(step["next", "pixels"])
        assert torch.equal(game[-1], info["final_obs"] if truncated else seen)
        if truncated:
            games, game = [*games, torch.cat(game)], []
    lengths = {len(game) for game in games}
    assert len(games) >= 4 and (len(lengths) > 1 or not torch.equal(games[0], games[1]))
    ours.close(), plain.close()


def test_torchrl_starts_other_games_at_every_reset():
    needs.module("torchrl")
    from diffvcs.torchrl import DiffVCSEnv

    env = DiffVCSEnv("demo", 2, seed=3, device="cpu", noop_max=30)
    first, second = env.rollout(5)["pixels"], env.rollout(5)["pixels"]
    assert not torch.equal(first, second)
    env.set_seed(3, static_seed=True)
    assert torch.equal(env.rollout(5)["pixels"][:, 0], first[:, 0])
    env.set_seed(2**32 - 1)  # as large as TorchRL makes them
    env.reset()
    env.close()


@pytest.mark.roms
@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "examples/frameworks").glob("*.py")))
def test_framework_scripts_run(script):
    needs.module(
        {"sb3": "stable_baselines3", "rllib": "ray", "cleanrl": "torch", "sample": "sample_factory"}.get(
            script.split("_")[0], script.split("_")[0]
        )
    )
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples/frameworks" / script), "600"], capture_output=True, text=True, timeout=600
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.strip()


def test_reference_learner_learns_resumes_and_refuses(tmp_path):
    script = [sys.executable, str(ROOT / "examples/learning/ppo.py"), "demo", "--device", "cpu", "--observe", "ram"]
    small = ["--envs", "8", "--steps", "8", "--minibatches", "2", "--no-video", "--out", str(tmp_path)]

    def run(*more):
        return subprocess.run([*script, *small, *more], capture_output=True, text=True, timeout=300)

    assert "must be a multiple" in run("--minibatches", "7").stderr
    assert "there is no" in run("--resume").stderr
    assert "0 to 127" in run("--cells", "3,128").stderr
    first = run("--minutes", "0.02")
    assert first.returncode == 0, first.stderr
    assert {path.name for path in tmp_path.iterdir()} >= {"agent.pt", "curve.csv", "result.json"}
    assert run("--minutes", "0.05", "--resume").returncode == 0
    assert run("--minutes", "0.02", "--cells", "3,4").returncode == 0


@pytest.mark.parametrize("emulation", ["host", "device", "both"])
def test_calls_out_of_order_are_refused(emulation):
    with pytest.raises(ValueError, match="a batch needs a cartridge"):
        TorchVectorEnv([], 4, device="cpu", emulation=emulation)
    env = TorchVectorEnv("demo", 4, device="cpu", emulation=emulation, num_threads=1)
    env.reset(seed=1)
    with pytest.raises(BadArgument, match="no step was begun"):
        env.recv()
    env.send(torch.zeros(4, dtype=torch.int64))
    env.recv()
    with pytest.raises(BadArgument, match="no step was begun"):
        env.recv()
    env.close()
    with pytest.raises(VCSError, match="closed"):
        env.step(torch.zeros(4, dtype=torch.int64))


def devices_of(emulation):
    """Two devices of these tests: two GPUs, one of them twice, or the CPU twice."""
    if emulation == "gpu" and not torch.cuda.is_available():
        needs.missing("gpu", "PyTorch finds no GPU")
    if emulation == "gpu":
        return ["cuda:0", f"cuda:{torch.cuda.device_count() - 1}"]
    return ["cpu", "cpu"]


@pytest.mark.parametrize("emulation", ["host", "host parts", "device", "gpu"])
def test_parts_are_one_batch(random, emulation):
    """Five environments on two devices, or in two parts of the host, are those in one place; parts that are stepped on
    their own are, too."""
    where = {"gpu": "device", "host parts": "host"}.get(emulation, emulation)
    devices = ["cpu"] if emulation == "host parts" else devices_of(emulation)
    places = {"device": "cpu", "host_parts": 2} if emulation == "host parts" else {"device": devices}
    settings = dict(emulation=where, max_episode_steps=160, repeat_action_probability=0.25)
    whole = TorchVectorEnv("demo", 5, device=devices[0], **settings)
    split, apart = (TorchVectorEnv("demo", 5, **places, **settings) for _ in range(2))
    assert [part.num_envs for part in split.parts] == [2, 3]
    expected = whole.reset(7)
    assert torch.equal(split.reset(7), expected)
    apart.reset(7)
    ends = 0
    for actions in steps(random, whole, 90):
        actions = actions.to(whole.device)
        expected, found = whole.step(actions), split.step(actions)
        for part, own in zip(apart.parts, actions.split([2, 3])):
            part.send(own.to(part.device))
        lists = [part.recv() for part in apart.parts]
        ended = expected[2] | expected[3]
        for i in range(4):
            assert torch.equal(found[i], expected[i]) and found[i].device == whole.device
            assert torch.equal(torch.cat([one[i].to(whole.device) for one in lists]), expected[i])
        for name in ("lives", "score", "length", "began", "episode_frame_number"):
            assert torch.equal(found[4][name], expected[4][name])
        if ended.any():
            assert torch.equal(found[4]["final_obs"][ended], expected[4]["final_obs"][ended])
        ends += int(ended.sum())
    assert ends >= 5
    for env in (whole, split, apart):
        env.close()


@pytest.mark.parametrize(
    "places",
    [
        {"device": "cpu"},
        {"device": "cpu", "emulation": "both", "on_host": 3, "host_parts": 2},
        {"device": "cpu", "emulation": "device"},
        {"device": ["cpu", "cpu"], "emulation": "device"},
        {"device": "gpu", "emulation": "both", "on_host": 2},
        {"device": "gpu"},
    ],
    ids=str,
)
def test_asynchronous_parts_are_one_batch(random, places):
    """Each environment goes the way that it goes in a synchronous batch with the same actions."""
    if places["device"] == "gpu":
        places = places | {"device": devices_of("gpu")[0]}
    settings = dict(max_episode_steps=160, noop_max=0)
    whole, env = (
        TorchVectorEnv("demo", 5, device="cpu", **settings),
        AsyncTorchVectorEnv("demo", 5, **places, **settings),
    )
    count = 90
    plan = steps(random, whole, count + 1)
    expected = [(whole.reset(7).clone(),)]
    for actions in plan[:-1]:
        expected.append(tuple(result.clone() if i < 4 else result for i, result in enumerate(whole.step(actions))))
    for _ in range(2):  # the second reset drops the steps that are under way
        first = env.reset(7)
        assert torch.equal(first.cpu(), expected[0][0]) and first.device == env.device
        taken, turns, ends = np.zeros(5, np.int64), set(), 0
        env.send(plan[0].to(env.device))
        while taken.min() < count:
            results = env.recv()
            ids = results[4]["env_id"].cpu().numpy()
            turns.add(tuple(ids))
            taken[ids] += 1
            at = taken[ids[0]]
            if at <= count:
                for i in range(4):
                    assert torch.equal(results[i].cpu(), expected[at][i][ids])
                ended = (results[2] | results[3]).cpu()
                for name in ("score", "length", "lives", "began", "episode_frame_number"):
                    assert torch.equal(results[4][name].cpu(), expected[at][4][name][ids])
                ends += int(ended.sum())
            env.send(plan[min(at, count)][ids].to(results[0].device))
        assert sorted(i for turn in turns for i in turn) == list(range(5)) and ends >= 5
    env.close()


def test_asynchronous_calls_out_of_order_are_refused():
    env = AsyncTorchVectorEnv("demo", 4, device="cpu", noop_max=0)
    good = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(BadArgument, match="no environment waits"):
        env.send(good)
    with pytest.raises(BadArgument, match="no step was begun"):
        env.recv()
    env.reset(1)
    with pytest.raises(ValueError, match="4 integer actions"):
        env.send(good)
    with pytest.raises(VCSError, match="actions"):
        env.send(torch.tensor([0, 1, 2, 99]))
    env.send(torch.zeros(4, dtype=torch.int64))
    with pytest.raises(BadArgument, match="no environment waits"):
        env.send(good)
    ids = torch.cat([env.recv()[4]["env_id"] for _ in range(2)])
    assert sorted(ids.tolist()) == [0, 1, 2, 3]
    with pytest.raises(BadArgument, match="no step was begun"):
        env.recv()
    env.send(torch.zeros(4, dtype=torch.int64))  # for both parts
    assert len(env.recv()[0]) == 2 and env.step(good)[0].shape == (2, *env.observation_shape)
    for name, values in {
        "num_envs": (0, 1.5, "4", None),
        "on_host": (0, 4, 1.5, "1"),
        "host_parts": (0, 4, 1.5, "1"),
        "threads_of": (1, "pong"),
    }.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                AsyncTorchVectorEnv("demo", **{"num_envs": 4, "device": "cpu", "emulation": "both", name: value})
    env.close()
    with pytest.raises(VCSError, match="closed"):
        env.reset(1)


def test_too_few_environments_for_the_devices():
    with pytest.raises(ValueError, match="too few for 2 devices"):
        TorchVectorEnv("demo", 1, device=["cpu", "cpu"])
    with pytest.raises(ValueError, match="for one device"):
        TorchVectorEnv("demo", 4, device=["cpu", "cpu"], emulation="both")
    with pytest.raises(ValueError, match="host_parts is for one device"):
        TorchVectorEnv("demo", 4, device=["cpu", "cpu"], emulation="host", host_parts=2)
    with pytest.raises(ValueError, match="host_parts is 2: the host emulates 0"):
        TorchVectorEnv("demo", 4, device="cpu", emulation="device", host_parts=2)


def test_odd_settings_are_refused():
    for device in ([], (), None, 5, {}, b"cpu"):
        with pytest.raises((TypeError, ValueError, RuntimeError), match="device"):
            TorchVectorEnv("demo", 4, device=device)
    for name, values in {
        "num_envs": (0, -1, 1.5, float("nan"), "4", None, 2**31), "on_host": (0, 4, 5, -1, 1.5, float("nan"), "1", 2**32 + 1),
        "host_parts": (0, 3, 5, -1, 1.5, float("nan"), "1", None, 2**32 + 1),
        "threads_of": (0, "demo", object()),
    }.items():  # fmt: skip
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                TorchVectorEnv("demo", **{"num_envs": 4, "device": "cpu", "emulation": "both", name: value})
    env = TorchVectorEnv("demo", 4, device=["cpu", "cpu"], noop_max=0)
    for name, values in {
        "seed": (-1, 2**31 - 3, 2**32, 1.5, "1", None),
        "stagger": (-1, 1.5, "1", None, 2**31),
    }.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                env.reset(**{name: value})
    env.close()


def test_a_device_takes_no_number_for_another():
    """What is no action is NOOP there; int32, which the device reads, has another number for 2^32 + 1."""
    env = TorchVectorEnv("demo", 3, device="cpu", emulation="device", noop_max=0)
    actions, found = torch.tensor([3, 4, 5]), []
    for wrong in (torch.zeros(3), *(actions + far for far in (99, 2**31, 2**32, -(2**32), 2**40, -(2**63)))):
        env.reset(1)
        for _ in range(8):
            last = env.step(wrong.long())[0]
        found.append(last.clone())
    env.reset(1)
    for _ in range(8):
        last = env.step(actions)[0]
    assert all(torch.equal(one, found[0]) for one in found) and not torch.equal(last, found[0])


def test_refused_actions_of_one_part_step_no_part():
    env, alone = (TorchVectorEnv("demo", 4, device="cpu", noop_max=0, host_parts=n) for n in (2, 1))
    good = torch.tensor([0, 1, 2, 3])
    assert torch.equal(env.reset(1), alone.reset(1))
    for bad in (99, -1, 2**32):
        with pytest.raises(VCSError, match="actions"):
            env.step(torch.tensor([0, 1, 2, bad]))
        assert torch.equal(env.step(good)[0], alone.step(good)[0])
    env.close()


@pytest.mark.parametrize("emulation", ["host", "device"])
def test_odd_actions_are_refused(emulation):
    env = TorchVectorEnv("demo", 3, device="cpu", emulation=emulation, noop_max=0)
    env.reset(1)
    good = torch.tensor([0, 1, 2])
    odd = [
        None, 1, [0, 1, 2], (0, 1, 2), "word", np.array([0, 1, 2]), good[:0], good[:2], good[None], torch.cat([good, good]),
        good.double(), good.half(), good * 1j,
    ]  # fmt: skip
    if emulation == "host":  # a device cannot answer at once: numbers outside the set are NOOP there
        odd += [good - 1, good + 99, good + 2**31, good + 2**32, good - 2**63]
    for actions in odd:
        with pytest.raises((TypeError, ValueError, VCSError)) as refusal:
            env.step(actions)
        assert str(refusal.value)
    expected = env.step(good)[0].clone()
    kinds = (torch.int32, torch.uint8, torch.int16, torch.uint16, torch.uint32, torch.uint64)
    for same in (*map(good.to, kinds), torch.stack([good, good], 1)[:, 0], good.flip(0).flip(0)):
        env.reset(1)
        assert torch.equal(env.step(same)[0], expected)
