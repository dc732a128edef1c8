"""Gymnasium environments: its own checks, and ale-py's environments beside ours."""

import pickle
import warnings

import numpy as np
import needs
import pytest

gymnasium = needs.module("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import diffvcs  # noqa: E402
from diffvcs.registration import LEGACY  # noqa: E402

pytestmark = pytest.mark.roms

GAMES = (
    "pong breakout space_invaders seaquest ms_pacman qbert montezuma_revenge asteroids pitfall road_runner beam_rider "
    "enduro freeway adventure double_dunk tennis video_pinball private_eye skiing air_raid"
).split()


def make(name, **kwargs):
    return gymnasium.make(f"DiffVCS/{name}", **kwargs)


def assert_same(theirs, ours, where):
    assert type(theirs) is type(ours), where
    if isinstance(theirs, dict):
        assert theirs.keys() == ours.keys(), where
        for key in theirs:
            assert_same(theirs[key], ours[key], f"{where} {key}")
    elif isinstance(theirs, tuple):
        for i, pair in enumerate(zip(theirs, ours, strict=True)):
            assert_same(*pair, f"{where} {i}")
    elif isinstance(theirs, np.ndarray):
        assert theirs.dtype == ours.dtype and np.array_equal(theirs, ours), where
    else:
        assert theirs == ours, where


@pytest.mark.parametrize("game", GAMES)
def test_steps_are_those_of_ale_py(game):
    """1,000 steps: observations, rewards, endings, infos; one game in four is RAM, gray, v4 with random frame skips."""
    ale_py = needs.module("ale_py", "ale-py")
    gymnasium.register_envs(ale_py)
    name, turn = diffvcs.roms.rom_id_to_name(game), GAMES.index(game) % 4
    kwargs = {1: {"obs_type": "ram"}, 2: {"obs_type": "grayscale", "full_action_space": True}, 3: {}}.get(turn, {})
    version = "v4" if turn == 3 and game in LEGACY else "v5"
    theirs = gymnasium.make(f"ALE/{name}-v5" if version == "v5" else f"{name}-v4", **kwargs)
    ours = make(f"{name}-{version}", **kwargs)
    assert theirs.observation_space == ours.observation_space and theirs.action_space == ours.action_space
    assert theirs.unwrapped.get_action_meanings() == ours.unwrapped.get_action_meanings()
    assert_same(theirs.reset(seed=11), ours.reset(seed=11), "reset")
    ours.action_space.seed(5)
    for i in range(1000):
        action = ours.action_space.sample()
        theirs_now, ours_now = theirs.step(action), ours.step(action)
        for part, a, b in zip(("observation", "reward", "terminated", "truncated", "info"), theirs_now, ours_now):
            assert_same(a, b, f"step {i}: {part}")
        if ours_now[2] or ours_now[3]:
            assert_same(theirs.reset(), ours.reset(), f"reset after step {i}")


@pytest.mark.parametrize(
    "kwargs", [{"continuous": True}, {"sound_obs": True, "frameskip": 2}], ids=["continuous", "sound"]
)
def test_continuous_actions_and_sound_are_those_of_ale_py(kwargs):
    gymnasium.register_envs(needs.module("ale_py", "ale-py"))
    theirs, ours = gymnasium.make("ALE/Breakout-v5", **kwargs), make("Breakout-v5", **kwargs)
    theirs.reset(seed=3)
    ours.reset(seed=3)
    ours.action_space.seed(5)
    for i in range(300):
        action = ours.action_space.sample()
        theirs_now, ours_now = theirs.step(action), ours.step(action)
        if kwargs.get("sound_obs"):
            assert np.array_equal(theirs_now[0]["sound"], ours_now[0]["sound"]), i
            theirs_now, ours_now = ((n[0]["image"], *n[1:]) for n in (theirs_now, ours_now))
        for a, b in zip(theirs_now, ours_now):
            assert_same(a, b, f"step {i}")


@pytest.mark.parametrize(
    "name, kwargs",
    [
        ("Pong-v5", {}), ("Pong-ram-v5", {}), ("MsPacman-v4", {}), ("SpaceInvadersDeterministic-v4", {}),
        ("Breakout-ramNoFrameskip-v0", {}), ("Qbert-v5", {"obs_type": "grayscale"}), ("Pong-v5", {"sound_obs": True}),
        ("Breakout-v5", {"continuous": True}), ("Pong-v5", {"mode": 1, "difficulty": 1}),
    ],
)  # fmt: skip
def test_gymnasium_has_nothing_to_say(name, kwargs):
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        check_env(make(name, **kwargs).unwrapped, skip_render_check=True)
    expected = ("symmetric and normalized", "out of date", "has no `spec`")
    assert not [w for w in printed if not any(e in str(w.message) for e in expected)]


def test_names_are_registered():
    names = [n for n in gymnasium.registry if n.startswith("DiffVCS/")]
    for name in ("Pong-v5", "Pong-ram-v5", "Pong-v0", "Pong-v4", "PongDeterministic-v4", "PongNoFrameskip-v4"):
        assert f"DiffVCS/{name}" in names
    assert len(names) == 2 * 105 + 2 * 3 * 2 * 62


def test_wrong_arguments_are_refused():
    for kwargs in (
        {"obs_type": "smell"},
        {"frameskip": 0},
        {"frameskip": (3, 3)},
        {"frameskip": 2.0},
        {"render_mode": "ansi"},
    ):
        with pytest.raises(gymnasium.error.Error):
            diffvcs.AtariEnv("pong", **kwargs)
    with pytest.raises(RuntimeError, match="mode"):
        diffvcs.AtariEnv("pong", mode=99)
    with pytest.raises(FileNotFoundError, match="ale-py"):
        diffvcs.AtariEnv("pongg")


def test_states_come_back_and_environments_travel():
    env = make("MontezumaRevenge-v5").unwrapped
    env.reset(seed=1)
    state = env.clone_state(include_rng=True)
    first = [env.step(i % 18)[0].sum() for i in range(20)]
    other = pickle.loads(pickle.dumps(env))
    other.reset()
    other.restore_state(state)
    assert [other.step(i % 18)[0].sum() for i in range(20)] == first


def test_rendering():
    env = make("Pong-v5", render_mode="rgb_array")
    observation, _ = env.reset(seed=1)
    assert np.array_equal(env.render(), observation)
    with pytest.raises(gymnasium.error.Error):
        diffvcs.AtariEnv("pong").render()


def test_a_window_is_opened_for_humans(monkeypatch):
    needs.module("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    env, plain = make("Pong-v5", render_mode="human"), make("Pong-v5")
    env.reset(seed=1)
    plain.reset(seed=1)
    for action in (0, 2, 3):
        shown, seen = env.step(action), plain.step(action)
        assert np.array_equal(shown[0], seen[0]) and shown[1:] == seen[1:]
    assert env.render() is None and env.unwrapped.ale._window is not None
    env.close()
    assert env.unwrapped.ale._window is None


def test_the_demo_needs_no_rom_image(monkeypatch):
    monkeypatch.setattr("diffvcs.roms.folders", list)
    env = gymnasium.make("DiffVCS/Demo-v5")
    first, _ = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert observation.shape == first.shape == (210, 160, 3) and info["frame_number"] > 0
    vector = gymnasium.make_vec("DiffVCS/Demo-v5", num_envs=2)
    assert vector.reset(seed=1)[0].shape[0] == 2
    vector.close()
    env.close()
