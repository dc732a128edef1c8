"""Typical mistakes: each raises an exception that names the mistake and the correction; none ends the process.

Under the sanitizers too: tests/python_asan.sh python/tests/test_mistakes.py."""

import threading

import needs
import numpy as np
import pytest

import diffvcs
from diffvcs import Cartridge, Machine, VCSError

WRONG = (TypeError, ValueError, VCSError, OSError, IndexError, KeyError)


def machine():
    return Machine("demo")


def played(frames=2):
    m = machine()
    return diffvcs.run(m.cart, m.save(), ["NOOP"] * frames)


def vector(**arguments):
    envs = diffvcs.DiffVCSVectorEnv(**{"game": "demo", "num_envs": 2, "num_threads": 1, **arguments})
    envs.reset(seed=0)
    return envs


def env(name="Demo-v5", **arguments):
    import gymnasium

    made = gymnasium.make(f"DiffVCS/{name}", **arguments).unwrapped
    made.reset(seed=0)
    return made


def closed(thing):
    thing.close()
    return thing


def saved(m):
    return m.cart, m.save(), ["NOOP"]


# What is done, and the words of the answer.
MISTAKES = {
    "a game that is not there": (lambda: Machine("ponk"), r"no ROM image of 'ponk'.*pip install ale-py"),
    "a game with a letter too many": (lambda: Machine("demoo"), "did you mean 'demo'"),
    "a machine in place of a run": (lambda: diffvcs.explain(machine(), "pixel:1,1"), "takes a Run, not Machine: run"),
    "a number of frames in place of actions": (lambda: diffvcs.run("demo", machine().save(), 8), "actions are a list"),
    "one action in place of a list": (lambda: diffvcs.run("demo", machine().save(), "NOOP"), "actions are a list"),
    "a vjp of nothing": (lambda: diffvcs.vjp("demo", machine().save(), ["NOOP"]), "give dframes, dram, dstate or dreward"),
    "a jvp of nothing": (lambda: diffvcs.jvp("demo", machine().save(), ["NOOP"]), "give dinput, dram, dstate or drom"),
    "a path that is not there": (lambda: Machine("roms/pong.bin"), "no ROM image roms/pong.bin"),
    "an unknown profile": (lambda: Machine("demo", profile="stella"), "no profile 'stella'; there are ale, xitari, fixed"),
    "another profile than the cartridge's": (
        lambda: Machine(Cartridge("demo"), profile="fixed"),
        "is not of profile 'fixed': a Cartridge gets its profile when it is made",
    ),
    "another profile than a cartridge's in a batch": (
        lambda: vector(game=Cartridge("demo"), profile="xitari"),
        "is not of profile 'xitari'",
    ),
    "an unknown television": (lambda: Cartridge("demo", format="hdmi"), "no television format 'hdmi'; there are auto"),
    "an empty image": (lambda: Cartridge(b""), "empty"),
    "a number as a cartridge": (lambda: Machine(5), "a name, a path or a Cartridge, not int"),
    "an unknown option": (lambda: Machine("demo", frameskip=4), "no option 'frameskip'; there are frame_skip"),
    "no frames at all": (lambda: Machine("demo", frame_skip=0), "frame_skip is 0, but goes from 1"),
    "a probability of 2": (lambda: Machine("demo", repeat_action_probability=2), "repeat_action_probability"),
    "a mode that the game has not": (lambda: Machine("demo", mode=7), "no mode 7.*it has 0"),
    "an action by a wrong name": (lambda: machine().act("JUMP"), "no action 'JUMP'; there are NOOP, FIRE"),
    "action -1": (lambda: machine().act(-1), "an action is -1, but goes from 0 to 17"),
    "action 99": (lambda: machine().act(99), "an action is 99, but goes from 0 to 17"),
    "action 1.0": (lambda: machine().act(1.0), "an action must be a whole number, not 1.0"),
    "action None": (lambda: machine().act(None), "an action must be a whole number, not None"),
    "a machine that was closed": (lambda: closed(machine()).act(0), "was closed; make a new one"),
    "restoring junk": (lambda: machine().restore(b"junk"), "no state of .*4 bytes, and a state has .*what save\\(\\) gave"),
    "restoring nothing": (lambda: machine().restore(None), "the bytes that save\\(\\) gave, not NoneType"),
    "a field that there is not": (lambda: machine().set(flags=1), "no field 'flags'"),
    "a value that does not fit": (lambda: machine().set(a=300), "300"),
    "RAM that there is not": (lambda: machine().set_ram(128, 0), "128"),
    "a save file that is none": (lambda: machine().load_file(__file__), "save"),
    "an unknown method": (lambda: diffvcs.vjp(*saved(machine()), dram=np.zeros(128), method="bits"), "no method 'bits'; there are bit, "),
    "a gradient of a wrong shape": (lambda: diffvcs.vjp(*saved(machine()), dframes=np.zeros((10, 10))), r"\(10, 10\)"),
    "no actions": (lambda: diffvcs.run("demo", machine().save(), []), "action"),
    "an input by a wrong name": (lambda: diffvcs.input_places([0], ["rigth"]), "rigth"),
    "a place that is none": (lambda: diffvcs.truth(*saved(machine()), [0]), "places must be an array as ram_places"),
    "a frame beyond the run": (lambda: diffvcs.truth(*saved(machine()), diffvcs.input_places([5])), "no such bit|frame"),
    "a pixel outside": (lambda: diffvcs.explain(played(), "pixel:200,3"), r"outside the picture: X \(the column\) is 0 to 159"),
    "an output that is none": (lambda: diffvcs.explain(played(), "pixel 3"), "an output is pixel:X,Y"),
    "an object that is none": (lambda: diffvcs.explain(played(), object="P7"), "no object 'P7'; there are P0"),
    "a goal that is none": (lambda: diffvcs.steer(played(), "win"), "a goal is score or ram:9C=60"),
    "a goal of an object that there is not": (lambda: diffvcs.steer(played(), "object:player 7 x=80"), "demo has no 'player 7 x'; there are: player 0 x"),
    "a patch that is none": (lambda: diffvcs.apply_patch(np.zeros(8, np.uint8), b"nothing"), "patch"),
    "an unknown Gymnasium argument": (lambda: env(frameskp=3), "frameskp"),
    "an unknown observation": (lambda: env(obs_type="rgba"), "obs_type is one of rgb, grayscale, ram"),
    "a step with -1": (lambda: env().step(-1), "an action is -1, but this environment has 0 to 17"),
    "a step with 99": (lambda: env().step(99), "an action is 99, but this environment has 0 to 17"),
    "a step with 0.0": (lambda: env().step(0.0), "an action is a whole number, not 0.0"),
    "a step after close": (lambda: closed(env()).step(0), "was closed; make a new one"),
    "a reset after close": (lambda: closed(env()).reset(), "was closed; make a new one"),
    "a step before reset": (lambda: diffvcs.AtariEnv("demo").step(0), "call env.reset"),
    "an unknown preset": (lambda: vector(preset="dqm"), "no preset 'dqm'; there are dqn, rainbow, machado18"),
    "an unknown argument of many": (lambda: vector(frame_skip=3), "has no argument 'frame_skip'; did you mean frameskip"),
    "too many environments": (lambda: vector(num_envs=10**9), "bytes"),
    "no environments": (lambda: vector(num_envs=0), "num_envs is 0, but goes from 1"),
    "an action too few": (lambda: vector().step([0]), r"actions of shape \(2,\) are expected, not \(1,\)"),
    "actions as floats": (lambda: vector().step(np.zeros(2)), "whole numbers, of an integer type, not float64"),
    "action -1 of many": (lambda: vector().step([0, -1]), "environment 1 has actions 0 to 17, not -1"),
    "action 99 of many": (lambda: vector().step([0, 99]), "environment 1 has actions 0 to 17, not 99"),
    "actions by name": (lambda: vector().step(["UP", "UP"]), "actions must be numbers"),
    "a vector step before reset": (lambda: diffvcs.DiffVCSVectorEnv("demo", 2).step([0, 0]), "reset before its first step"),
    "a vector step after close": (lambda: closed(vector()).step([0, 0]), "was closed; make a new one"),
    "vector states that are none": (lambda: vector().restore_state(b"junk"), "what clone_state\\(\\) gave, not bytes"),
    "a device that is none": (lambda: vector(device="gpu0"), "a device is cpu, cuda, cuda:1"),
    "floats on a device": (lambda: vector(device="cpu-as-gpu").step(np.zeros(2)), "of an integer type"),
    "action 99 on a device": (lambda: vector(device="cpu-as-gpu").step([0, 99]), "environment 1 has actions 0 to 17, not 99"),
}  # fmt: skip


def test_there_are_enough():
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name):
    needs.module("gymnasium")
    import gymnasium

    action, words = MISTAKES[name]
    with pytest.raises((*WRONG, gymnasium.error.Error), match=words):
        action()


def test_a_bad_rom_folder_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("DIFFVCS_ROMS", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="DIFFVCS_ROMS names the folder .*does not exist"):
        Machine("no_such_game")
    assert Machine("demo").lives >= 0, "which needs no folder"


INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]


@pytest.mark.parametrize("device", ["cpu", "cpu-as-gpu"])
def test_actions_of_any_integer_type(device):
    needs.module("gymnasium")
    envs, want = vector(device=device), None
    for dtype in INTEGERS:
        envs.reset(seed=3)
        rewards = np.asarray(envs.step(np.array([1, 17], dtype))[0])
        want = rewards if want is None else want
        assert np.array_equal(rewards, want), dtype


@pytest.mark.parametrize("device", ["cpu", "cpu-as-gpu"])
def test_actions_of_torch(device):
    torch = needs.module("torch")
    envs = vector(device=device)
    chosen = torch.distributions.Categorical(torch.ones(2, 18)).sample()
    assert chosen.dtype == torch.int64
    envs.step(chosen)
    with pytest.raises(TypeError, match="of an integer type, not float"):
        envs.step(chosen.float())
    env().step(chosen[0])
    machine().act(chosen[0])


@pytest.mark.parametrize("device", ["cpu", "cpu-as-gpu"])
def test_actions_of_jax(device):
    jax = needs.module("jax")
    envs = vector(device=device)
    envs.step(jax.numpy.array([0, 1]))
    envs.step(jax.numpy.array([0, 1], jax.numpy.int8))
    with pytest.raises(TypeError, match="of an integer type, not float"):
        envs.step(jax.numpy.array([0.0, 1.0]))
    env().step(jax.numpy.array(1))


@pytest.mark.parametrize("round", range(100))
def test_threads_that_share_everything_do_no_harm(round):
    """Four threads on one vector environment, one machine and one environment; they take turns."""
    needs.module("gymnasium")
    envs, m, alone = vector(num_envs=3), machine(), env()
    problems = []

    def work(number):
        try:
            for step in range(5):
                envs.step(np.full(3, (step + number) % 18))
                m.act_on((step + number) % 18)
                alone.step((step + number) % 18)
                m.save()
        except Exception as problem:  # whatever it is, the test shows it
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    if round % 2:
        envs.close()  # while they step
    for thread in threads:
        thread.join()
    assert all(isinstance(problem, VCSError) and "closed" in str(problem) for problem in problems), problems
    assert round % 2 or not problems
    assert m.frame_number == 20 or problems
