"""The vector environment, and EnvPool's way of driving it."""

import time

import numpy as np
import needs
import pytest

gymnasium = needs.module("gymnasium")

import diffvcs  # noqa: E402
from diffvcs import DiffVCSVectorEnv  # noqa: E402
from diffvcs.batch import ALEVectorInterface  # noqa: E402

pytestmark = pytest.mark.roms


def play(envs, steps, seed=0):
    random = np.random.default_rng(seed)
    counts = np.atleast_1d(envs.action_space.nvec)
    return [envs.step(random.integers(0, counts).astype(np.int64)) for _ in range(steps)]


def assert_same(first, second):
    for i, (a, b) in enumerate(zip(first, second)):
        for x, y in zip(a[:4], b[:4]):
            assert np.array_equal(x, y), f"step {i}"
        assert a[4].keys() == b[4].keys()
        for key in a[4]:
            shown = a[2] | a[3] if key == "final_obs" else slice(None)  # ale-py leaves all other rows undefined
            assert np.array_equal(a[4][key][shown], b[4][key][shown]), f"step {i}: {key}"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("game", ["breakout", "seaquest"])
def test_results_are_those_of_ale_py(game, mode):
    vector_env = needs.module("ale_py.vector_env", "ale-py")
    kwargs = dict(num_envs=4, episodic_life=True, autoreset_mode=mode, repeat_action_probability=0.25)
    theirs, ours = vector_env.AtariVectorEnv(game, **kwargs), DiffVCSVectorEnv(game, **kwargs)
    assert theirs.observation_space == ours.observation_space and theirs.action_space == ours.action_space
    a, b = theirs.reset(seed=7), ours.reset(seed=7)
    assert np.array_equal(a[0], b[0]) and all(np.array_equal(a[1][k], b[1][k]) for k in a[1])
    assert_same(play(theirs, 150), play(ours, 150))


def test_disabled_autoreset_waits_for_a_reset():
    """Which ale-py does not have: a game that is over stays so until it is reset by a mask."""
    envs = DiffVCSVectorEnv("breakout", 2, autoreset_mode="Disabled", max_num_frames_per_episode=40, noop_max=0)
    first, _ = envs.reset(seed=1)
    truncated = [envs.step(np.array([2, 3]))[3].tolist() for _ in range(12)]
    assert truncated == [[False, False]] * 9 + [[True, True]] * 3
    again, info = envs.reset(seed=np.array([1]), options={"reset_mask": np.array([True, False])})
    assert np.array_equal(again[0], first[0]) and info["episode_frame_number"][0] == 1 < info["episode_frame_number"][1]
    assert envs.step(np.array([2, 3]))[3].tolist() == [False, True]


def test_make_vec_makes_it():
    envs = gymnasium.make_vec("DiffVCS/Pong-v5", 3, stack_num=2)
    assert isinstance(envs.unwrapped, DiffVCSVectorEnv)
    observations, info = envs.reset(seed=0)
    assert observations.shape == (3, 2, 84, 84) and observations in envs.observation_space
    others = gymnasium.make_vec("DiffVCS/Pong-ram-v5", 2, vectorization_mode="sync")
    assert others.reset(seed=0)[0].shape == (2, 128)


def test_several_games_modes_and_difficulties_in_one_batch():
    games = ["pong", "breakout", "skiing"]
    envs = DiffVCSVectorEnv(games, 6, mode=[None, None, None, 1, 12, 0], difficulty=[0, 0, 0, 1, 1, 0], noop_max=0)
    assert envs.action_space.nvec.tolist() == [18, 18, len(envs.ale.get_action_set(2))] * 2
    envs.reset(seed=np.arange(6))
    mixed = play(envs, 30)
    for i, game in enumerate(games):
        alone = DiffVCSVectorEnv(
            game, 2, mode=[None, (1, 12, 0)[i]], difficulty=[0, (1, 1, 0)[i]], noop_max=0, full_action_space=True
        )
        alone.reset(seed=np.array([i, i + 3]))
        random = np.random.default_rng(0)
        for step in mixed:
            actions = random.integers(0, envs.action_space.nvec)
            assert np.array_equal(alone.step(actions[[i, i + 3]])[0], step[0][[i, i + 3]])


def test_ram_and_sound():
    envs = DiffVCSVectorEnv("pong", 2, ram=True, sound_obs=True)
    envs.reset(seed=1)
    results = play(envs, 60)
    alone = DiffVCSVectorEnv("pong", 2, obs_type="ram")
    assert alone.reset(seed=1)[0].shape == (2, 128)
    for got, step in zip(play(alone, 60), results):
        assert np.array_equal(got[0], step[4]["ram"])
    assert results[-1][4]["sound"].shape == (2, 512)
    assert max(np.ptp(step[4]["sound"]) for step in results) > 0, "a ball that bounces is heard"


def test_states_can_be_copied_to_others():
    envs = DiffVCSVectorEnv("breakout", 3, repeat_action_probability=0.25)
    envs.reset(seed=5)
    play(envs, 20)
    states = envs.clone_state()
    first = play(envs, 20, seed=1)
    envs.restore_state(states)
    assert_same(first, play(envs, 20, seed=1))
    observations, _ = envs.restore_state(states[[0, 0, 0]])
    assert np.array_equal(observations[0], observations[2])
    results = [envs.step(np.full(3, 2)) for _ in range(20)]
    assert all(np.array_equal(r[0][0], r[0][1]) for r in results)
    with pytest.raises(ValueError):
        envs.restore_state(states[:, :-1])


def test_without_copies_the_arrays_are_the_same_ones():
    envs, copies = DiffVCSVectorEnv("pong", 2, copy=False), DiffVCSVectorEnv("pong", 2)
    envs.reset(seed=0)
    copies.reset(seed=0)
    first, second = envs.step(np.array([2, 3])), copies.step(np.array([2, 3]))
    assert np.array_equal(first[0], second[0])
    assert envs.step(np.array([2, 3]))[0] is first[0]
    assert np.array_equal(first[0], copies.step(np.array([2, 3]))[0])


def test_with_copies_what_is_held_does_not_change():
    """Arrays are used again, but only those that no caller holds, neither themselves nor a view of them."""
    envs, whole, parts, copies = DiffVCSVectorEnv("pong", 2, noop_max=0), [], [], []
    envs.reset(seed=0)
    for i in range(30):
        results = envs.step(np.array([2, 3]))
        copies.append([results[0].copy(), results[4]["lives"].copy()])
        (whole if i % 2 else parts).append(results[0] if i % 2 else results[0][1, 3])
        del results
    for i, (observations, _) in enumerate(copies):
        assert (
            np.array_equal(whole[i // 2], observations) if i % 2 else np.array_equal(parts[i // 2], observations[1, 3])
        )
    whole.clear()
    parts.clear()
    seen = {id(envs.step(np.array([2, 3]))[0]) for _ in range(40)}
    assert len(seen) < 10


def test_presets():
    envs = DiffVCSVectorEnv("pong", 1, preset="machado18")
    assert envs.single_action_space.n == 18
    assert DiffVCSVectorEnv("pong", 1, preset="dqn", full_action_space=True).single_action_space.n == 18
    with pytest.raises(ValueError, match="preset"):
        DiffVCSVectorEnv("pong", 1, preset="alphago")


def test_wrong_arguments_are_refused():
    envs = DiffVCSVectorEnv("pong", 2)
    with pytest.raises(RuntimeError, match="first reset"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset()
    with pytest.raises(ValueError):
        envs.step(np.zeros(3, int))
    with pytest.raises(ValueError):
        envs.step(np.full(2, 6))
    with pytest.raises(FileNotFoundError):
        DiffVCSVectorEnv("pongg", 2)
    with pytest.raises(TypeError):
        DiffVCSVectorEnv("pong", 2, colour=True)
    with pytest.raises(ValueError):
        DiffVCSVectorEnv("pong", 2, mode=[0, 0, 0])


def test_envpool_in_step():
    """All environments at every step; results come in the order of env_id."""
    pool = diffvcs.make("Breakout-v5", num_envs=4, seed=3, reward_clip=True, noop_max=1)
    envs = DiffVCSVectorEnv("breakout", 4, reward_clipping=False, noop_max=1)
    observations, info = pool.reset()
    assert np.array_equal(observations, envs.reset(seed=3)[0]) and info["elapsed_step"].tolist() == [0] * 4
    for i in range(60):
        actions, order = np.array([1, 2, 3, 0]), np.array([2, 0, 3, 1])
        got, want = pool.step(actions[order], order), envs.step(actions)
        assert np.array_equal(got[0], want[0][order]) and np.array_equal(got[4]["reward"], want[1][order])
        assert np.array_equal(got[1], np.sign(want[1][order])) and got[1].dtype == np.float32
        assert np.array_equal(got[4]["ram"].shape, (4, 128)) and got[4]["elapsed_step"].tolist() == [i + 1] * 4
        assert np.array_equal(got[4]["env_id"], order)
    for wrong in (np.array([0, 0, 1, 2]), np.array([0, 1, 2, 4]), np.array([0, 1])):
        with pytest.raises(ValueError):
            pool.send(actions, wrong)
    with pytest.raises(ValueError, match="nothing was sent"):
        pool.recv()


@pytest.mark.parametrize("env_type", ["gymnasium", "dm"])
@pytest.mark.parametrize("gray_scale", [True, False])
def test_envpool_resets_none(env_type, gray_scale):
    """Learners reset the environments that have ended, which may be none; the others go on."""
    pool = diffvcs.make("Demo-v5", env_type, num_envs=2, gray_scale=gray_scale)
    whole = pool.reset()
    none = pool.reset(np.array([], np.int64))
    if env_type == "dm":
        assert none.step_type.size == none.observation.ram.size == 0
        none, whole = none.observation.obs, whole.observation.obs
    else:
        assert none[1]["env_id"].size == 0 and none[1].keys() == whole[1].keys()
        none, whole = none[0], whole[0]
    assert none.shape == (0, *whole.shape[1:]) and none.dtype == whole.dtype
    pool.step(np.zeros(2, int))
    assert pool.unwrapped is pool
    pool.close()


def test_envpool_steps_and_resets_some():
    """Environments that are not named stay where they are; several sends may come before one recv."""
    pool = diffvcs.make("Breakout-v5", num_envs=4, seed=3, noop_max=0)
    alone = [DiffVCSVectorEnv("breakout", 1, reward_clipping=False, noop_max=0) for _ in range(4)]
    pool.reset()
    for i, env in enumerate(alone):
        env.reset(seed=3 + i)
    for i in range(20):
        ids = np.array([3, 1])
        pool.send(np.array([2, 3]), ids)
        if i % 2:
            pool.send(np.array([1]), np.array([0]))
            ids = np.array([3, 1, 0])
            with pytest.raises(ValueError, match="environment 3 .* not received"):
                pool.send(np.array([0]), np.array([3]))
        got = pool.recv()
        assert np.array_equal(got[4]["env_id"], ids) and len(got[0]) == len(got[1]) == len(ids)
        for row, (env, action) in enumerate(zip(ids, (2, 3, 1))):
            want = alone[env].step(np.array([action]))
            assert np.array_equal(got[0][row], want[0][0]) and got[1][row] == want[1][0]
    observations, info = pool.reset(np.array([1]))
    assert info["env_id"].tolist() == [1] and info["elapsed_step"].tolist() == [0]
    assert np.array_equal(observations[0], alone[1].reset()[0][0])
    info = pool.step(np.zeros(4, int))[4]
    assert info["elapsed_step"].tolist() == [11, 1, 1, 21]


def test_envpool_asynchronously():
    """recv gives the first two that are ready, and each environment's story is that of the same actions alone."""
    pool = diffvcs.make("Breakout-v5", num_envs=6, batch_size=2, num_threads=2, seed=5, noop_max=0)
    assert pool.is_async
    alone = [DiffVCSVectorEnv("breakout", 1, reward_clipping=False, noop_max=0) for _ in range(6)]
    pool.async_reset()
    steps = [0] * 6
    for _ in range(90):
        observations, reward, terminated, truncated, info = pool.recv()
        assert observations.shape == (2, 4, 84, 84) and info["elapsed_step"].tolist() == [
            steps[e] for e in info["env_id"]
        ]
        for row, env in enumerate(info["env_id"]):
            if steps[env] == 0:
                want = alone[env].reset(seed=5 + int(env))[0]
            else:
                want = alone[env].step(np.array([(env + steps[env]) % 4]))[0]
            assert np.array_equal(observations[row], want[0]), (env, steps[env])
            steps[env] += 1
        turned = info["env_id"][::-1]
        pool.send(np.array([(env + steps[env]) % 4 for env in turned]), turned)
    assert min(steps) > 5
    pool.async_reset()  # drops what is under way
    assert pool.recv()[4]["elapsed_step"].tolist() == [0, 0]


def test_actions_without_ids_go_to_all_environments_by_number():
    """Also after results in another order, with batch_size equal to num_envs."""
    pool = diffvcs.make("Demo-v5", num_envs=3, num_threads=2)
    pool.reset()
    pool.send(np.zeros(3, int), np.array([2, 0, 1]))
    assert pool.recv()[4]["env_id"].tolist() == [2, 0, 1]
    pool.send(np.zeros(3, int))
    assert pool.recv()[4]["env_id"].tolist() == [0, 1, 2]


def test_envpool_does_not_wait_for_all():
    """With one thread and long steps, the first result is there after a third of the work. (In one of five tries, because
    this thread may be woken up late.)"""
    pool = diffvcs.make("Breakout-v5", num_envs=3, batch_size=1, num_threads=1, frame_skip=1000, seed=1)
    pool.async_reset()
    shares = []
    for _ in range(5):
        ids = [int(pool.recv()[4]["env_id"][0]) for _ in range(3)]
        start, spent = time.process_time(), []
        pool.send(np.zeros(3, int), np.array(ids[::-1]))
        for env in ids[::-1]:
            assert pool.recv()[4]["env_id"].tolist() == [env], "one thread does them in the order of sending"
            spent.append(time.process_time() - start)
        shares.append(spent[0] / spent[2])
        pool.async_reset()
    assert min(shares) < 0.6, shares


def test_envpool_in_the_way_of_dm():
    pool = diffvcs.make("Breakout-v5", env_type="dm", num_envs=2, episodic_life=True)
    step = pool.reset()
    assert step.first().all() and step.observation.obs.shape == (2, 4, 84, 84)
    ended = 0
    for _ in range(200):
        before, step = step, pool.step(np.ones(2, int))
        assert np.array_equal(step.first(), before.last())
        assert np.array_equal(step.discount == 0, step.last())
        ended += step.last().sum()
    assert ended
    with pytest.raises(TypeError):
        diffvcs.make("Pong-v5", colour=1)
    with pytest.raises(ValueError):
        diffvcs.make("Pong-v5", env_type="tf")


def test_envpool_in_colour():
    """Planes in front, as EnvPool has them."""
    pool = diffvcs.make("Breakout-v5", num_envs=2, gray_scale=False, seed=1, stack_num=2)
    envs = DiffVCSVectorEnv("breakout", 2, grayscale=False, stack_num=2)
    observations, _ = pool.reset()
    want, _ = envs.reset(seed=1)
    assert observations.shape == (2, 6, 84, 84) == (2, *pool.observation_space.shape)
    for frame in range(2):
        for colour in range(3):
            assert np.array_equal(observations[:, 3 * frame + colour], want[:, frame, :, :, colour])
    assert pool.spec.config.stack_num == 2 and pool.spec.state_array_spec["info:ram"].shape == [128]


def test_envpool_in_a_compiled_loop():
    jax = needs.module("jax")
    first, second = (diffvcs.make("Pong-v5", num_envs=3, seed=2) for _ in range(2))
    handle, recv, send, step = second.xla()
    first.reset()
    second.async_reset()
    handle, _ = recv(handle)
    actions = np.random.default_rng(1).integers(0, 6, (20, 3)).astype(np.int32)
    _, results = jax.lax.scan(jax.jit(step), handle, jax.numpy.asarray(actions))
    for i, action in enumerate(actions):
        want = first.step(action)
        assert np.array_equal(results[0][i], want[0]) and np.array_equal(results[4]["ram"][i], want[4]["ram"])


@pytest.mark.parametrize("autoreset", ["NextStep", "SameStep", "Disabled"])
def test_a_batch_without_pictures_plays_the_same(random, autoreset):
    """Nothing is drawn, and RAM, rewards, endings, lives, objects and copied states are those of a batch with pictures."""
    settings = dict(obs_type="ram", objects=True, autoreset_mode=autoreset, max_num_frames_per_episode=200)
    bare, seen = (
        DiffVCSVectorEnv("demo", 3, **settings),
        DiffVCSVectorEnv("demo", 3, **{**settings, "obs_type": "image", "ram": True}),
    )
    assert np.array_equal(bare.reset(seed=1)[0], seen.reset(seed=1)[1]["ram"])
    kept = bare.clone_state()
    history = []
    for _ in range(40):
        actions = random.integers(0, bare.single_action_space.n, 3)
        found, expected = bare.step(actions), seen.step(actions)
        assert np.array_equal(found[0], expected[4]["ram"])
        for x, y in zip(found[1:4], expected[1:4]):
            assert np.array_equal(x, y)
        assert np.array_equal(found[4]["lives"], expected[4]["lives"])
        for x, y in zip(found[4]["objects"], expected[4]["objects"]):
            assert np.array_equal(x, y)
        history.append((actions, found[0]))
    bare.restore_state(kept)
    assert all(np.array_equal(bare.step(actions)[0], ram) for actions, ram in history)
    with pytest.raises(Exception, match="states of|another"):
        seen.restore_state(kept)


def test_a_seeded_reset_shows_the_new_episode(tmp_path):
    """Also if the last frame before it is the first that covers the picture: here the second one of RESET is short."""
    code = bytes.fromhex(
        "A2FF9AA90085808581"  # SP = $FF, $80 = $81 = 0
        "A9028500850285028502A9008500E680A5800A8509A2FF"  # VSYNC, COLUBK = 2 * frame number
        "AD82022901F006A9008581F00AE681A581C902D002A240"  # 255 lines, 64 in the second frame of RESET
        "8502CAD0FB8502850285024C09F0"
    )
    image = code + bytes(0xFFC - len(code)) + bytes([0, 0xF0, 0, 0xF0])
    path = tmp_path / "short.a26"
    path.write_bytes(image)
    settings = dict(
        noop_max=0, use_fire_reset=False, num_threads=1, img_height=210, img_width=160, stack_num=1, maxpool=False, frameskip=1
    )  # fmt: skip
    envs = DiffVCSVectorEnv(path, 2, **settings)  # a path is a game, too
    expected, _ = DiffVCSVectorEnv(str(path), 2, device="cpu-as-gpu", **settings).reset(seed=5)
    for _ in range(2):
        assert np.array_equal(envs.reset(seed=5)[0], np.asarray(expected))
        play(envs, 8)


def test_a_seeded_reset_lists_the_objects_of_the_new_episode():
    envs = DiffVCSVectorEnv("demo", 1, objects=True, noop_max=0, use_fire_reset=False)
    first = envs.reset(seed=5)[1]["objects"][0]
    play(envs, 60)
    assert not np.array_equal(envs.objects(0), first)
    assert np.array_equal(envs.reset(seed=5)[1]["objects"][0], first)


def test_a_batch_without_pictures_has_a_size():
    assert 0 < ALEVectorInterface("demo", 1, observations=False).env_bytes < ALEVectorInterface("demo", 1).env_bytes


def test_derivatives_are_refused_while_a_step_is_under_way():
    batch = ALEVectorInterface("demo", 4)
    batch.reset(np.arange(4), np.arange(4))
    batch.begin_step(np.zeros(4, np.int32))
    with pytest.raises(diffvcs.BadArgument, match="step"):
        batch.jvp([["NOOP"]] * 4)
    batch.end_step()
    assert (batch.jvp([["NOOP"]] * 4).instructions > 0).all()


def test_states_with_impossible_numbers_of_frames_are_refused():
    batch = ALEVectorInterface("demo", 1)
    batch.reset([0], [1])
    batch.step(np.zeros(1, np.int32))
    good = batch.clone_states()
    at = 4 * 9  # header_t.elapsed
    assert good[0, at : at + 4].view(np.int32)[0] == 4
    for frames in (-1, 2**31 - 2):
        bad = good.copy()
        bad[0, at : at + 4] = np.array([frames], np.int32).view(np.uint8)
        with pytest.raises(diffvcs.BadArgument, match="no machine can have"):
            batch.restore_states(bad)
    batch.restore_states(good)
