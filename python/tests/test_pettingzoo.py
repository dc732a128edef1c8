"""Games for several players: PettingZoo's own tests of every environment, rewards and lives by exact effects, batches."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import needs
import numpy as np
import pytest

pettingzoo = needs.module("pettingzoo")
needs.roms()

import diffvcs
from diffvcs.pettingzoo import ParallelAtariEnv, environments, maze_craze_v3, modes, pong_v3, warlords_v3
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

NAMES = sorted(environments)


def test_there_are_pettingzoos_24_environments():
    assert len(NAMES) == 24
    assert {name.rpartition("_")[0] for name in NAMES} == set(
        "basketball_pong boxing combat_plane combat_tank double_dunk entombed_competitive entombed_cooperative flag_capture "
        "foozpong ice_hockey joust mario_bros maze_craze othello pong quadrapong space_invaders space_war surround tennis "
        "video_checkers volleyball_pong warlords wizard_of_wor".split()
    )


@pytest.mark.parametrize("name", NAMES)
def test_api(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about observations that are bytes, which PettingZoo's own games give too
        api_test(environments[name].env(obs_type="ram"), num_cycles=20)


@pytest.mark.parametrize("name", NAMES)
def test_parallel_api(name):
    parallel_api_test(environments[name].parallel_env(obs_type="ram"), num_cycles=60)


@pytest.mark.parametrize("name", NAMES)
def test_seeds(name):
    seed_test(lambda: environments[name].env(obs_type="ram"), num_cycles=20)
    parallel_seed_test(lambda: environments[name].parallel_env(obs_type="ram"), num_cycles=20)


def test_pictures():
    for obs_type, shape in (("rgb_image", (210, 160, 3)), ("grayscale_image", (210, 160, 1)), ("ram", (128,))):
        env = pong_v3.parallel_env(obs_type=obs_type, render_mode="rgb_array")
        seen = env.reset(seed=1)[0]["first_0"]
        assert seen.shape == shape and seen.dtype == np.uint8
        assert env.observation_space("second_0").contains(seen)
        assert env.render().shape == (210, 160, 3)
    with pytest.raises(ValueError, match="obs_type is one of"):
        pong_v3.parallel_env(obs_type="sound")
    with pytest.raises(ValueError, match="2 or 4 players"):
        pong_v3.parallel_env(num_players=3)


def poke(machine, *cells):
    """Sets bytes of RAM, by address, and runs a frame without actions."""
    for address, value in cells:
        machine.set_ram(address - 0x80, value)
    return machine.act_players([0] * machine.players), machine.player_lives, machine.over


def machine_of(game, players=2, mode=None, frames=60):
    settings = {} if mode is None else {"mode": mode}
    machine = diffvcs.Machine(game, players=players, **settings)
    machine.draw(False)
    machine.reset()
    for _ in range(frames):
        machine.act_players([0] * players)
    return machine


# The bytes of RAM that each game shows as its scores, set to other values: what each player is given for it.
EFFECTS = [
    ("boxing", None, [(0x92, 0x05)], [5, -5]),
    ("boxing", None, [(0x93, 0x12)], [-12, 12]),
    ("combat", 1, [(0xA1, 0x02)], [2, -2]),
    ("combat", 1, [(0xA2, 0x01)], [-1, 1]),
    ("double_dunk", None, [(0xF6, 0x03)], [3, -3]),
    ("flag_capture", None, [(0xEB, 0x21)], [0, 21]),
    ("ice_hockey", None, [(0x8B, 0x02)], [-2, 2]),
    ("joust", None, [(0x85, 0x05)], [500, 0]),
    ("joust", None, [(0x86, 0x20)], [0, 2000]),
    ("mario_bros", None, [(0x8A, 0x08)], [800, 0]),
    ("mario_bros", None, [(0x8C, 0x08)], [0, 800]),
    ("othello", None, [(0xCE, 0x05)], [3, -3]),
    ("pong", 4, [(0x8E, 1)], [1, -1]),
    ("space_invaders", None, [(0xE8, 0x30)], [30, 0]),
    ("space_invaders", None, [(0xE7, 0x02)], [0, 200]),
    ("space_war", None, [(0xA8, 0x01)], [-1, 1]),
    ("surround", None, [(0xF7, 0x02)], [2, -2]),
    ("tennis", None, [(0xC6, 1)], [-1, 1]),
    ("wizard_of_wor", None, [(0x85, 0x10)], [0, 1000]),
]


@pytest.mark.parametrize("game, mode, cells, rewards", EFFECTS)
def test_a_changed_score_is_rewarded_once(game, mode, cells, rewards):
    machine = machine_of(game, 2, mode)
    assert poke(machine, *cells)[0] == rewards
    assert poke(machine)[0] == [0, 0]


def test_double_dunk_takes_a_point_for_stalling():
    """The two high bits of $89 say whom the game waits for, and 0 both: 120 frames in a row cost a point."""
    for waits_for, rewards in ((0x80, [-1, 0]), (0x40, [0, -1]), (0xC0, [0, -1]), (0x00, [-1, -1])):
        machine = machine_of("double_dunk")
        assert poke(machine, (0x89, 1))[0] == [0, 0]
        assert all(poke(machine, (0x89, waits_for))[0] == [0, 0] for _ in range(119))
        assert poke(machine, (0x89, waits_for))[0] == rewards
        assert all(poke(machine, (0x89, waits_for))[0] == [0, 0] for _ in range(120))
        assert poke(machine, (0x89, waits_for))[0] == rewards


def test_maze_craze_by_effects():
    """Who wins and who is captured; random play seldom ends a game."""
    assert poke(machine_of("maze_craze", mode=0), (0xEC, 0xFF)) == ([1, -1], [0, 0], True)
    assert poke(machine_of("maze_craze", mode=0), (0xED, 0xFF)) == ([-1, 1], [0, 0], True)
    machine = machine_of("maze_craze", mode=4)
    assert poke(machine, (0xEA, 0x40)) == ([-1, 0], [-1, 0], False)
    assert poke(machine, (0xEB, 0x40)) == ([0, -1], [-1, -1], True)


def test_warlords_fall_one_by_one():
    machine = machine_of("warlords", 4)
    assert poke(machine, (0xEE, 0x10)) == ([0, 0, 0, -1], [0, 0, 0, -1], False)
    assert poke(machine, (0xEE, 0x50)) == ([0, -1, 0, 0], [0, -1, 0, -1], False)
    two = machine_of("warlords", 2)
    assert poke(two, (0xEE, 0x70)) == ([1, -1], [0, -1], True)
    env = warlords_v3.parallel_env(obs_type="ram")
    env.reset()
    assert env.agents == ["first_0", "second_0", "third_0", "fourth_0"]


SCORE_ROWS, SCORE_COLUMNS = slice(7, 17), (slice(20, 44), slice(100, 124))  # where Flag Capture shows both scores


def test_flag_capture_is_rewarded_as_displayed():
    """multi_agent_ale_py takes the first player's score in Flag Capture from a pointer to a digit's picture ("ale"). The
    display shows $EA and $EB, whose changes profile "fixed" rewards."""
    numbers = [0, 1, 2, 3, 9, 10, 47]
    shown = ([], [])
    for player, address in enumerate((0xEA, 0xEB)):
        machine = diffvcs.Machine("flag_capture", "fixed", players=2)
        machine.reset()
        machine.act_players([0, 0])
        score = 0
        for number in numbers:
            rewards = poke(machine, (address, 16 * (number // 10) + number % 10))[0]
            assert rewards[player] == number - score and rewards[1 - player] == 0
            score = number
            machine.act_players([0, 0])  # shows it
            picture = machine.screen()[SCORE_ROWS, SCORE_COLUMNS[player]]
            shown[player].append((picture != picture[0, 0]).tobytes())
    assert shown[0] == shown[1] and len(set(shown[0])) == len(numbers)
    machine = diffvcs.Machine("flag_capture", "ale", players=2)
    machine.reset()
    machine.act_players([0, 0])
    assert poke(machine, (0xEA, 0x03))[0] == [9, 0]


def test_modes():
    assert modes("tennis", 2) == [2, 4] and modes("tennis", 4) == [] and modes("warlords", 4) == [1, 6, 11, 16, 21]
    with pytest.raises(diffvcs.VCSError, match="no mode for 4 players"):
        diffvcs.Machine("tennis", players=4)
    with pytest.raises(diffvcs.VCSError, match="has no mode 1 for two players"):
        diffvcs.Machine("tennis", players=2, mode=1)
    with pytest.raises(ValueError, match="an action"):
        diffvcs.Machine("tennis", players=2).act_players([0])


def test_actions_and_strengths_are_counted():
    machine, other = machine_of("pong", 2), machine_of("pong", 2)
    for wrong in ([0], [0] * 3, [0] * 5):
        with pytest.raises(ValueError, match="there are 2 players"):
            machine.act_players(wrong)
        with pytest.raises(ValueError, match="there are 2 players"):
            machine.act_players(wrong, [1.0] * len(wrong))
    with pytest.raises(ValueError, match="there are 2 players"):
        machine.act_players([0, 0], [1.0])
    for strengths in ([np.nan, 1.0], [np.inf, 1.0], ["1", "1"], [None, 1.0]):
        with pytest.raises((TypeError, ValueError), match="strengths must be"):
            machine.act_players([0, 0], strengths)
    for _ in range(30):
        assert machine.act_players(["LEFT", 3], [1.0, 1.0]) == other.act_players([4, "RIGHT"])
    assert (machine.ram == other.ram).all()
    machine.act_players([4, 3], [0.5, 1.0])
    other.act_players([4, 3])
    assert machine.save().tobytes() != other.save().tobytes()


def test_odd_actions_are_refused_and_so_are_steps_after_close():
    env, twin = pong_v3.parallel_raw_env(), pong_v3.parallel_raw_env()
    for one in (env, twin):
        one.reset(seed=1)
    for wrong in (-1, 6, 2**32 + 1, 1.5, float("nan"), None, "x", [0], np.zeros(2, int), -(2**63)):
        for agent in env.possible_agents:
            with pytest.raises((TypeError, ValueError), match=f"the action of {agent}"):
                env.step({**dict.fromkeys(env.possible_agents, 0), agent: wrong})
    for action in (3, np.int64(3), np.array(3)):
        env.step(dict.fromkeys(env.possible_agents, action))
        twin.step(dict.fromkeys(env.possible_agents, 3))
    assert np.array_equal(env.clone_state(), twin.clone_state())
    env.close()
    env.close()
    for call in (lambda: env.step({}), env.reset, env.clone_state):
        with pytest.raises(diffvcs.VCSError, match="closed"):
            call()


def test_odd_settings_are_refused():
    for name in ("num_players", "max_cycles"):
        for wrong in (0, -1, 1.5, float("nan"), None, "2", [], 2**64):
            with pytest.raises((TypeError, ValueError), match=name):
                ParallelAtariEnv("pong", **{name: wrong})
    env = ParallelAtariEnv("pong")
    for wrong in (-1, 2**32, 2**32 + 1, 1.5, float("nan"), "1", []):
        for call in (lambda seed: env.reset(seed=seed), lambda seed: ParallelAtariEnv("pong", seed=seed)):
            with pytest.raises((TypeError, ValueError), match="seed"):
                call(wrong)
    env.reset()
    for wrong in (None, 0, [0, 0], "first_0", np.zeros(2, int)):
        with pytest.raises(TypeError, match="a dictionary, by agent"):
            env.step(wrong)
    with pytest.raises(ValueError, match="visibilty_level"):
        maze_craze_v3.parallel_raw_env(visibilty_level="0")


def test_states_keep_all_players():
    machine = machine_of("space_invaders", 2, 33, 400)
    state = machine.save()
    first = [machine.act_players([1, 11]) + machine.player_lives for _ in range(300)]
    other = machine_of("space_invaders", 2, 40, 10)
    other.restore(state)
    assert [other.act_players([1, 11]) + other.player_lives for _ in range(300)] == first
    assert any(row[0] or row[1] for row in first)


def pickled(env):
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize(
    "name, copied",
    [
        *(("parallel_raw_env", copied) for copied in (copy.copy, copy.deepcopy, pickled)),
        *(
            ("parallel_env", copied) for copied in (copy.deepcopy, pickled)
        ),  # a wrapper's shallow copy shares what is inside
    ],
)
def test_copies_continue_the_episode(name, copied, random):
    make = getattr(warlords_v3, name)
    env = make(obs_type="ram", max_cycles=600)
    env.reset(seed=3)

    def step(*envs):
        actions = {agent: int(random.integers(18)) % env.action_space(agent).n for agent in env.agents}
        return [env.step(actions) for env in envs]

    for _ in range(200):
        step(env)
    other = copied(env)
    while env.agents:
        ours, theirs = step(other, env)
        assert all(np.array_equal(ours[0][agent], theirs[0][agent]) for agent in theirs[0]) and ours[1:] == theirs[1:]
        assert other.agents == env.agents
    assert theirs[3] == dict.fromkeys(theirs[3], True)  # both were cut off after the same frame


@pytest.mark.parametrize("name, settings", [("pong_v3", {}), ("pong_v3", {"num_players": 4}), ("joust_v3", {})])
def test_batches_are_environments(name, settings):
    """A batch's rewards and lives, N x players, are those of environments that take the same actions."""
    count, skip = 3, 4
    make = environments[name]
    batch = make.vector_env(
        count, frame_skip=skip, noop_max=0, use_fire_reset=False, reward_clipping=False, ram=True, **settings
    )
    batch.reset(range(count), range(count))
    envs = [make.parallel_raw_env(obs_type="ram", **settings) for _ in range(count)]
    for env in envs:
        env.reset()
    players, random = batch.players, np.random.default_rng(1)
    actions_of = len(envs[0].action_mapping)
    seen = 0
    for _ in range(120):
        actions = random.integers(0, actions_of, (count, players))
        _, rewards, _, _, info = batch.step(actions)
        assert rewards.shape == info["lives"].shape == (count, players)
        for i, env in enumerate(envs):
            sums = np.zeros(players, int)
            for _ in range(skip):
                sums += env.machine.act_players(env.action_mapping[actions[i]].tolist())
            assert rewards[i].tolist() == sums.tolist() and info["lives"][i].tolist() == env.machine.player_lives
            assert (info["ram"][i] == env.machine.ram).all()
            seen += abs(sums).sum()
    assert seen
    with pytest.raises(ValueError, match="actions of shape"):
        batch.step(np.zeros(count, int))


DEVICE = f"cuda:{os.environ['DIFFVCS_DEVICE']}" if os.environ.get("DIFFVCS_DEVICE") else "cpu-as-gpu"
DEVICE_STEPS = 150 if "DIFFVCS_DEVICE" in os.environ else 40
TWO_SIZES = {"pong_v3", "basketball_pong_v3", "volleyball_pong_v3", "foozpong_v3"}


@pytest.mark.parametrize(
    "name, settings", [(name, {}) for name in NAMES] + [(name, {"num_players": 4}) for name in sorted(TWO_SIZES)]
)
def test_a_device_gives_the_same(name, settings):
    """A GPU (DIFFVCS_DEVICE=0), or its code on the CPU: rewards, endings, lives and RAM of all players."""
    common = dict(noop_max=0, use_fire_reset=False, reward_clipping=False, ram=True, observations=False, **settings)
    there = environments[name].vector_env(4, device=DEVICE, **common)
    here = environments[name].vector_env(4, autoreset_mode="SameStep", **common)
    for batch in (there, here):
        batch.reset(range(4), range(4))
    random = np.random.default_rng(2)
    for _ in range(DEVICE_STEPS):
        actions = random.integers(0, len(here.get_action_set()), (4, here.players))
        a, b = there.step(actions), here.step(actions)
        there.wait()
        for x, y in ((a[1], b[1]), (a[2], b[2]), (a[4]["lives"], b[4]["lives"]), (a[4]["ram"], b[4]["ram"])):
            assert (np.asarray(x) == np.asarray(y)).all()


def test_rewards_lives_and_endings_are_multi_agent_ale_pys():
    """One mode of each game for 600 frames; every mode for 5,000 in the nightly tests."""
    needs.module("multi_agent_ale_py")
    script = Path(__file__).resolve().parents[2] / "tests" / "multi_agent_live.py"
    result = subprocess.run([sys.executable, script, "--quick"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
