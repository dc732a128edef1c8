"""Pickled and copied cartridges, machines and environments continue where the original is."""

import copy
import pickle

import needs
import numpy as np
import pytest

import diffvcs


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


COPIES = pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled], ids=["copy", "deepcopy", "pickle"])


@COPIES
def test_a_cartridge_stays_what_it_is(copied):
    cart = diffvcs.Cartridge("demo", "xitari", "pal", "other")
    other = copied(cart)
    assert other.is_like(cart) and other.name == "other" and other.format == cart.format == "PAL"
    assert np.array_equal(other.rom, cart.rom)


@COPIES
def test_a_machine_goes_on(copied):
    machine = diffvcs.Machine("demo", repeat_action_probability=0.25, seed=3, frame_skip=2)
    machine.listen()
    for action in range(50):
        machine.act(action % 18)
    other = copied(machine)
    assert np.array_equal(other.screen(), machine.screen()) and other.options == machine.options
    for step in range(200):
        assert other.act(step % 18) == machine.act(step % 18)
        if machine.done:
            other.reset(), machine.reset()
    assert other.hash() == machine.hash() and np.array_equal(other.sound, machine.sound)
    machine.act("RIGHT")
    assert other.frame_number != machine.frame_number, "they are two machines"


@COPIES
def test_a_machine_keeps_the_ids_of_objects(copied):
    machine = diffvcs.Machine("demo")
    for _ in range(60):
        machine.act_on("RIGHT")
        machine.objects(track=True)
    other = copied(machine)
    for _ in range(10):
        for one in (machine, other):
            one.act_on("LEFT")
        found = machine.objects(track=True)
        assert found["id"].max() > len(found) and np.array_equal(other.objects(track=True), found)


@COPIES
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_environment_continues_its_episode(copied, wrapped):
    gymnasium = needs.module("gymnasium")
    env = gymnasium.make("DiffVCS/Demo-v5", frameskip=(2, 5))
    env = env if wrapped else env.unwrapped
    env.reset(seed=5)
    for step in range(40):
        env.step(step % 18)
    if wrapped and copied is copy.copy:
        return  # Gymnasium's shallow copy of a wrapper shares the environment inside
    other = copied(env)
    for step in range(300):
        ours, theirs = other.step(step * 7 % 18), env.step(step * 7 % 18)
        assert np.array_equal(ours[0], theirs[0]) and ours[1:] == theirs[1:], step
        if theirs[2] or theirs[3]:
            assert np.array_equal(other.reset()[0], env.reset()[0])


def test_an_environment_that_was_not_reset_still_needs_it():
    gymnasium = needs.module("gymnasium")
    env = pickled(gymnasium.make("DiffVCS/Demo-v5").unwrapped)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call env.reset"):
        env.step(0)


@COPIES
@pytest.mark.parametrize("device", ["cpu", "cpu-as-gpu"])
def test_a_vector_environment_continues_its_episodes(copied, device):
    needs.module("gymnasium")
    envs = diffvcs.DiffVCSVectorEnv("demo", num_envs=3, preset="dqn", ram=True, num_threads=1, device=device)
    envs.reset(seed=2)
    for step in range(30):
        envs.step(np.full(3, step % 18))
    other = copied(envs)
    for step in range(200):
        ours, theirs = other.step(np.full(3, step % 18)), envs.step(np.full(3, step % 18))
        for mine, real in zip(ours[:4], theirs[:4], strict=True):
            assert np.array_equal(np.asarray(mine), np.asarray(real)), step
        assert np.array_equal(np.asarray(ours[4]["ram"]), np.asarray(theirs[4]["ram"]))


def test_a_vector_environment_is_not_copied_while_results_are_under_way():
    needs.module("gymnasium")
    envs = diffvcs.DiffVCSVectorEnv("demo", num_envs=2)
    envs.reset(seed=0)
    envs.send([0, 0])
    with pytest.raises(diffvcs.VCSError):
        pickled(envs)
    envs.recv()
    pickled(envs)


@COPIES
def test_other_objects_refuse_plainly_and_quietly(copied, capsys):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(diffvcs.Relaxed("demo").handle)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(diffvcs.Workspace().handle)
    assert capsys.readouterr().err == ""
