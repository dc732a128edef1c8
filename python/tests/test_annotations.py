"""Objects, annotations, and interventions by meaning, on the demo."""

import os

import numpy as np
import pytest

import diffvcs
import needs
from diffvcs._c import lib

DEVICE = f"cuda:{os.environ['DIFFVCS_DEVICE']}" if "DIFFVCS_DEVICE" in os.environ else "cpu-as-gpu"


def played(frames=120):
    machine = diffvcs.Machine("demo")
    machine.reset()
    for i in range(frames):
        machine.act_on("RIGHT" if i % 3 else "NOOP")
    return machine


def test_objects_are_in_the_picture():
    machine = played()
    objects, picture = machine.objects(), machine.screen()
    assert len(objects) > 3
    for o in objects:
        box = picture[o["seen_y"] : o["seen_y"] + o["seen_h"], o["seen_x"] : o["seen_x"] + o["seen_w"]]
        assert (box == o["colour"]).any()


def test_an_object_keeps_its_id():
    machine = played()
    before = machine.objects(playfield=False, track=True)
    machine.act_on("NOOP")
    after = machine.objects(playfield=False, track=True)
    assert set(before["id"]) & set(after["id"]) and 0 not in after["id"]


def test_a_table_has_every_byte():
    table = diffvcs.annotations("demo")
    assert [entry["byte"] for entry in table["ram"]] == list(range(128))
    for entry in table["ram"]:
        for role in entry["roles"]:
            assert 0 < role["confidence"] <= 1
    with pytest.raises(KeyError, match="no annotations of 'no_game'"):
        diffvcs.annotations("no_game")


def test_a_position_is_set_in_pixels():
    machine = played()
    state = machine.save()
    for name, pixel in {"player 0 x": 79, "player 1 x": 79, "ball x": 79, "player 0 y": 90, "ball y": 100}.items():
        assert machine.intervene(name, pixel), name
        machine.restore(state)
    assert not machine.intervene(
        "missile 0 x", 79
    )  # it is not drawn, though the score has other sprites near that column
    with pytest.raises(KeyError, match="there are"):
        machine.set("tree x", 3)
    with pytest.raises(TypeError, match="needs a value"):
        machine.set("player 0 x")


def test_an_object_that_is_there_without_the_change_is_no_effect():
    """With the y of one object set in a byte that changes nothing, another of its kind stays where it is."""
    machine = played()
    machine.act_on("NOOP")
    thing = machine.objects(playfield=False)[0]
    kind = ("player 0", "player 1", "missile 0", "missile 1", "ball")[thing["kind"]]
    unused = [entry["byte"] for entry in diffvcs.annotations("demo")["ram"] if entry["roles"][:1] and
              entry["roles"][0]["role"] == "unused"]  # fmt: skip
    role = {"role": "x", "object": kind, "slope": 1, "offset": 0, "confidence": 1}
    machine.meanings.roles["there x"] = (unused[0], role)
    x = int(thing["x"])
    machine.set_ram(unused[0], x ^ 1)
    state = machine.hash()
    assert not machine.intervene("there x", x)
    machine.set_ram(unused[0], x ^ 1)
    assert machine.hash() == state  # the frames are taken back
    machine.set_ram(unused[0], x)
    assert machine.intervene("there x", x)  # nothing had to change


def test_no_position_is_outside_the_picture_or_a_value_without_an_object():
    meanings = diffvcs.Meanings("demo", height=210)
    line = {"object": "ball", "slope": 1, "offset": -50, "absent": 197, "confidence": 1}
    table = [None] * 256
    table[7], table[9] = 80, 83
    rows = {
        "line x": {**line, "role": "x"},
        "line y": {**line, "role": "y"},
        "table x": {"role": "x", "object": "ball", "slope": 0, "map": table, "absent": 7, "confidence": 1},
    }
    meanings.roles = {name: (3, role) for name, role in rows.items()}
    assert meanings.value("line x", 159) == (3, 209) and meanings.value("line y", 205) == (3, 255)
    assert meanings.value("table x", 82) == (3, 9)
    for name, pixel, why in (
        ("line x", 160, "the pixels 0 to 159"),
        ("line x", -1, "the pixels 0 to 159"),
        ("line y", 210, "the pixels 0 to 209"),
        ("line x", 147, "there is no object"),
        ("table x", 80, "no value of byte 3"),
    ):
        with pytest.raises(ValueError, match=why):
            meanings.value(name, pixel)


def test_environments_give_objects_and_variables():
    gymnasium = pytest.importorskip("gymnasium")
    from diffvcs.env import AtariEnv

    env = AtariEnv("demo", objects=True)
    env.reset(seed=1)
    *_, info = env.step(0)
    assert len(info["objects"]) and info["objects"]["id"].all()
    assert env.ram_variables()
    env = AtariEnv("demo", obs_type="objects", objects=True)
    observation, info = env.reset(seed=1)
    for _ in range(30):
        assert observation in env.observation_space
        found = info["objects"][info["objects"]["kind"] != 5]
        names = ("kind", "x", "y", "w", "h", "colour", "reflected", "id")
        assert observation[: len(found)].tolist() == [[int(one[name]) for name in names] for one in found]
        assert len(found) and (observation[len(found) :] == -1).all()
        observation, *_, info = env.step(env.action_space.sample())
    env = AtariEnv("demo", obs_type="variables")
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space and isinstance(env, gymnasium.Env)
    bytes_ = diffvcs.Meanings("demo").variable_bytes()
    assert np.array_equal(observation, env.ale.getRAM()[bytes_])


def test_gymnasiums_checks_pass_with_objects_as_observations():
    needs.module("gymnasium")
    from gymnasium.utils.env_checker import check_env
    from diffvcs.env import AtariEnv

    env = AtariEnv("demo", obs_type="objects")
    check_env(env, skip_render_check=True)
    assert "objects" not in env.reset(seed=1)[1] and "objects" not in env.step(0)[4]


def test_recorded_objects_are_those_of_a_frame_run_again():
    pytest.importorskip("gymnasium")
    from diffvcs.env import AtariEnv

    env, machine = AtariEnv("demo", objects=True, frameskip=1, repeat_action_probability=0), diffvcs.Machine("demo")
    env.reset(seed=1)
    assert env.ale.machine._recording and not machine._recording
    for _ in range(60):
        machine.restore(env.ale.machine.save())
        action = int(env.action_space.sample())
        recorded = env.step(action)[4]["objects"].copy()
        machine.act_on(int(env.ale.getMinimalActionSet()[action]))
        recorded["id"] = 0
        assert np.array_equal(recorded, machine.objects())


def test_vectors_list_objects():
    pytest.importorskip("gymnasium")
    count = 64  # with more objects than the first array has space for
    envs = diffvcs.DiffVCSVectorEnv("demo", num_envs=count, objects=True, num_threads=2)
    assert all(len(found) for found in envs.reset(seed=0)[1]["objects"])
    for _ in range(30):
        *_, info = envs.step(np.arange(count) % 3)
    assert len(info["objects"]) == count and sum(map(len, info["objects"])) > 1024
    lib.vcs_batch_set_objects(envs.ale.handle, 0)  # now the frame is run again
    assert all(np.array_equal(found, envs.objects(i)) for i, found in enumerate(info["objects"]))


def test_a_step_lists_the_objects_that_the_machine_lists_after_it():
    pytest.importorskip("gymnasium")
    from diffvcs.env import AtariEnv

    env = AtariEnv("demo", objects=True)
    env.reset(seed=1)
    for _ in range(30):
        listed = env.step(env.action_space.sample())[4]["objects"]
        assert listed["id"].all() and np.array_equal(listed, env.ale.machine.objects(track=True))


@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_vectors_list_the_objects_of_restored_states(device):
    needs.module("gymnasium")
    envs = diffvcs.DiffVCSVectorEnv("demo", num_envs=2, objects=True, noop_max=0, device=device)

    def listed(info):
        if device == "cpu":
            return [found.tobytes() for found in info["objects"]]
        counts = info["object_counts"].numpy()
        return [row[:count].tobytes() for row, count in zip(info["objects"].numpy(), counts, strict=True)]

    envs.reset(seed=0)
    for _ in range(20):
        *_, info = envs.step(np.zeros(2, np.int64))
    before, states = listed(info), envs.clone_state()
    for _ in range(20):
        *_, info = envs.step(np.ones(2, np.int64))
    assert listed(info) != before
    assert listed(envs.restore_state(states)[1]) == before


def test_vectors_on_a_device_list_the_same_objects():
    pytest.importorskip("gymnasium")
    options = {"num_envs": 3, "objects": True, "noop_max": 0, "repeat_action_probability": 0.0}
    here = diffvcs.DiffVCSVectorEnv("demo", autoreset_mode="SameStep", **options)
    there = diffvcs.DiffVCSVectorEnv("demo", device=DEVICE, **options)
    here.reset(seed=0)
    there.reset(seed=0)
    for step in range(20):
        actions = np.array([step % 3, 1, 0])
        *_, expected = here.step(actions)
        *_, info = there.step(actions)
        found, counts = info["objects"].numpy(), info["object_counts"].numpy()
        for objects, row, count in zip(expected["objects"], found, counts, strict=True):
            assert len(objects) == count and np.array_equal(objects, row[:count])
    if there.ale.device < 0:  # memory that NumPy can read
        numbers = np.from_dlpack(info["objects"])
        assert numbers.dtype == np.int16 and np.array_equal(numbers[..., 1], found["y"])
