"""The vector for RLlib by itself: what it shows after resets and restored states. It needs no Ray (test_rllib.py does)."""

import importlib
import sys
import types

import numpy as np
import pytest

import needs

needs.module("gymnasium")


@pytest.fixture
def vector(monkeypatch):
    """diffvcs.rllib, with Ray's registry in name only."""
    for name in ("ray", "ray.tune", "ray.tune.registry"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["ray.tune.registry"].register_env = lambda name, make: None
    monkeypatch.delitem(sys.modules, "diffvcs.rllib", raising=False)
    yield importlib.import_module("diffvcs.rllib").RLlibVectorEnv
    sys.modules.pop("diffvcs.rllib")


def played(vector, **settings):
    """Three games after ten steps, and the bytes of RAM that they show."""
    env = vector("demo", 3, observe="ram", noop_max=0, **settings)
    env.reset(seed=1)
    for step in range(10):
        seen = env.step(np.full(3, step % 5))[0]
    assert (seen[:, 128:] != 0).any(1).all()
    return env, seen


def test_a_reset_of_some_games_leaves_what_the_others_show(vector):
    env, seen = played(vector)
    after = env.reset(options={"reset_mask": np.array([False, True, False])})[0]
    assert np.array_equal(after[[0, 2]], seen[[0, 2]])
    assert (after[1, 128:] == 0).all() and (after[1] != seen[1]).any()
    ram = after[:, :128]
    later = env.step(np.ones(3, int))[0]
    assert np.allclose(later[:, 128:], np.clip((later[:, :128] - ram) * 127.5 / 16, -1, 1), atol=1e-4)


def test_a_game_that_ended_begins_although_another_one_is_reset(vector):
    env, _ = played(vector, max_num_frames_per_episode=44)
    assert env.step(np.zeros(3, int))[3].all()
    env.reset(options={"reset_mask": np.array([False, True, False])})
    seen = env.step(np.zeros(3, int))[0]
    assert (seen[[0, 2], 128:] == 0).all() and (seen[1, 128:] != 0).any()


def test_a_restored_game_has_not_changed(vector):
    env, seen = played(vector)
    states = env.clone_state()
    for _ in range(20):
        last = env.step(np.ones(3, int))[0]
    after = env.restore_state(states[1:2], [1])[0]
    assert np.array_equal(after[[0, 2]], last[[0, 2]])
    assert np.array_equal(after[1, :128], seen[1, :128]) and (after[1, 128:] == 0).all()


def test_a_refused_reset_changes_nothing(vector):
    env, seen = played(vector)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=np.zeros(2, int))
    later = env.step(np.ones(3, int))[0]
    assert np.allclose(later[:, 128:], np.clip((later[:, :128] - seen[:, :128]) * 127.5 / 16, -1, 1), atol=1e-4)


@pytest.mark.parametrize(
    "setting", [{"batch_size": 2}, {"device": "cuda"}, {"autoreset_mode": "SameStep"}, {"autoreset_mode": "Disabled"}]
)
def test_settings_that_rllib_does_not_take_are_refused(vector, setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        vector("demo", 3, **setting)


def test_results_do_not_come_in_parts(vector):
    env, _ = played(vector)
    for call in (lambda: env.send(np.zeros(3, int)), env.recv):
        with pytest.raises(NotImplementedError, match="call step"):
            call()
