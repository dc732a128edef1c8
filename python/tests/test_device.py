"""Batches on a device: on the GPU whose number is in $DIFFVCS_DEVICE, else on "cpu-as-gpu", which executes the same code."""

import gc
import os
import weakref

import numpy as np
import needs
import pytest

gymnasium = needs.module("gymnasium")

import diffvcs  # noqa: E402
from diffvcs import DiffVCSVectorEnv, device  # noqa: E402
from diffvcs.batch import ALEVectorInterface  # noqa: E402

DEVICE = f"cuda:{os.environ['DIFFVCS_DEVICE']}" if "DIFFVCS_DEVICE" in os.environ else "cpu-as-gpu"
on_the_cpu = pytest.mark.skipif(DEVICE != "cpu-as-gpu", reason="cpu: NumPy reads the host's memory only")


def make(num_envs=3, where=DEVICE, **settings):
    return DiffVCSVectorEnv("demo", num_envs, device=where, **settings)


def actions_of(envs, steps, seed=0):
    random = np.random.default_rng(seed)
    return [random.integers(0, envs.action_space.nvec).astype(np.int32) for _ in range(steps)]


def test_first_episodes_are_those_of_the_cpu():
    there, here = make(noop_max=0, ram=True), make(where="cpu", noop_max=0, ram=True, autoreset_mode="SameStep")
    assert there.action_space == here.action_space and there.observation_space == here.observation_space
    assert there.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    a, b = there.reset(seed=3), here.reset(seed=3)
    assert a[1].keys() == b[1].keys()
    for action in actions_of(here, 40):
        for x, y in zip((a[0], *a[1:-1], *a[-1].values()), (b[0], *b[1:-1], *b[-1].values())):
            assert isinstance(x, device.Array) and x.dtype == y.dtype and np.array_equal(x.numpy(), y)
        a, b = there.step(action), here.step(action)
        assert not b[2].any()


def test_pictures_have_other_sizes_and_colours():
    settings = dict(noop_max=0, autoreset_mode="SameStep", img_height=64, img_width=96, grayscale=False, stack_num=2)
    there, here = make(**settings), make(where="cpu", **settings)
    assert there.observation_space == here.observation_space
    there.reset(seed=3)
    here.reset(seed=3)
    for action in actions_of(here, 10):
        assert np.array_equal(there.step(action)[0].numpy(), here.step(action)[0])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_episodes_end_like_those_of_the_cpu(mode):
    settings = dict(noop_max=0, autoreset_mode=mode, max_num_frames_per_episode=22)  # in the middle of a step
    there, here = make(**settings), make(where="cpu", **settings)
    there.reset(seed=3)
    here.reset(seed=3)
    ends = 0
    for action in actions_of(here, 20):
        a, b = there.step(action), here.step(action)
        for x, y in zip(a[:4], b[:4]):
            assert np.array_equal(x.numpy(), y)
        ended = b[2] | b[3]
        ends += ended.sum()
        if mode == "SameStep" and ended.any():
            assert np.array_equal(a[4]["final_obs"].numpy()[ended], b[4]["final_obs"][ended])
    assert ends >= 6


@on_the_cpu
def test_arrays_are_shared_not_copied():
    envs = make()
    observations, info = envs.reset(seed=0)
    shared = np.from_dlpack(observations)
    assert shared.ctypes.data == observations.memory.pointer.value and shared.shape == (3, 4, 84, 84)
    assert np.from_dlpack(info["lives"]).dtype == np.int32
    before = shared.copy()
    for action in actions_of(envs, 5):
        again, _, terminated, _, _ = envs.step(action)
    assert again is observations and np.array_equal(shared, again.numpy()) and not np.array_equal(shared, before)
    assert np.from_dlpack(terminated).dtype == np.bool_


@on_the_cpu
def test_the_shape_of_an_array_stays_that_of_its_memory():
    """NumPy's arrays may be given another shape in place; a consumer would read what is behind the memory."""
    envs = ALEVectorInterface("demo", 2, noop_max=0, device="cpu-as-gpu")
    observations = envs.reset([0, 1], [1, 2])[0]
    for name, value in (("shape", (10**6, 100)), ("shape", (2, -1)), ("dtype", np.float64)):
        with pytest.raises(AttributeError):
            setattr(observations, name, value)
    assert np.from_dlpack(observations).shape == observations.shape == (2, 4, 84, 84)


def test_memory_without_a_consumer_is_taken_back():
    observations, _ = make(1).reset(seed=0)
    lent = len(device._lent)
    observations.__dlpack__()
    assert len(device._lent) == lent


class Elsewhere:
    """The memory of an array as a GPU's, which NumPy refuses."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return device.ON_CUDA, 0

    def __dlpack__(self, **settings):
        capsule = self.array.__dlpack__(**settings)
        tensor = device._Tensor.from_address(device._pointer(id(capsule), device._NAME))
        tensor.device[0] = device.ON_CUDA
        return capsule


def test_the_error_of_a_consumer_that_refuses_is_kept_and_the_memory_taken_back():
    """The capsule ends while the error is raised. This was a SystemError, and the memory was never freed."""
    observations, _ = make(1).reset(seed=0)
    lent = len(device._lent)
    with pytest.raises((BufferError, RuntimeError), match="[Uu]nsupported device"):  # NumPy 1: RuntimeError
        np.from_dlpack(Elsewhere(observations))
    assert len(device._lent) == lent


@on_the_cpu
def test_memory_is_freed_with_its_last_array():
    envs = make(1)
    observations, info = envs.reset(seed=0)
    memory, lent = weakref.ref(observations.memory), len(device._lent)
    shared = np.from_dlpack(observations)
    kept = shared.copy()
    del envs, observations, info
    gc.collect()
    assert memory() is not None and np.array_equal(shared, kept)
    del shared
    gc.collect()
    assert memory() is None and len(device._lent) == lent


def test_results_outlive_their_environments(monkeypatch):
    """Also with Gymnasium 1.2, whose vector environments have such a finalizer."""
    base = DiffVCSVectorEnv.__mro__[1]
    monkeypatch.setattr(base, "__del__", lambda self: self.close(), raising=False)
    observations, info = make(2).reset(seed=0)
    gc.collect()
    assert observations.numpy().any() and info["lives"].numpy().shape == (2,)


def test_jax_takes_observations_and_gives_actions():
    jax = needs.module("jax")
    place = jax.devices("cuda" if DEVICE != "cpu-as-gpu" else "cpu")[0]  # JAX's default is a GPU if there is one
    envs, others = make(), make()
    observations, _ = envs.reset(seed=1)
    others.reset(seed=1)
    taken = jax.dlpack.from_dlpack(observations)
    assert taken.shape == (3, 4, 84, 84) and np.array_equal(taken, observations.numpy())
    for action in actions_of(envs, 5):
        given = jax.device_put(action, place)
        assert device.borrow(given, envs.ale.device, 0).memory.pointer
        a, b = envs.step(given), others.step(action)
        assert np.array_equal(a[0].numpy(), b[0].numpy())
    assert envs.step(jax.device_put(np.zeros(3, "uint8"), place))[0].shape == (3, 4, 84, 84)
    with pytest.raises((TypeError, ValueError), match="action"):
        envs.step(jax.numpy.zeros(3, "float32"))
    with pytest.raises(ValueError, match="actions"):
        envs.step(jax.numpy.zeros(2, "int32"))


def jax_here():
    """JAX, if it has the device of these tests."""
    jax = needs.module("jax")
    if DEVICE != "cpu-as-gpu":
        try:
            jax.devices("cuda")
        except RuntimeError as problem:
            needs.missing("gpu", f"JAX finds no GPU ({problem})")
    return jax


def assert_same(found, wanted):
    """Results of JAX's step are those of a step; final observations where an episode ended."""
    ended = wanted[2].numpy() | wanted[3].numpy()
    for x, y in zip(found[:4], wanted[:4]):
        assert x.dtype == y.dtype and np.array_equal(x, y.numpy())
    assert found[4].keys() == wanted[4].keys()
    for name, y in wanted[4].items():
        rows = ended if name == "final_obs" else slice(None)
        assert np.array_equal(found[4][name][rows], y.numpy()[rows]), name


@pytest.mark.parametrize("settings", [dict(), dict(obs_type="ram"), dict(ram=True, max_num_frames_per_episode=60)])
def test_a_step_is_a_custom_call_of_jax(settings):
    """One by one, compiled, with a handle that is donated, and in a scan: the same as steps from Python."""
    jax = jax_here()
    envs, others = make(repeat_action_probability=0.25, **settings), make(repeat_action_probability=0.25, **settings)
    handle, reset, step = envs.xla()
    handle, (seen, info) = reset(handle, seed=5)
    expected, their_info = others.reset(seed=5)
    assert np.array_equal(seen, expected.numpy()) and np.array_equal(info["lives"], their_info["lives"].numpy())
    actions = actions_of(envs, 60)
    for action in actions[:4]:
        handle, found = step(handle, action)
        assert_same(found, others.step(action))
    fast = jax.jit(step, donate_argnums=0)
    for action in actions[4:10]:
        handle, found = fast(handle, action)
        assert_same(found, others.step(action))
    handle, found = jax.jit(lambda h, a: jax.lax.scan(step, h, a))(handle, np.stack(actions[10:]))
    for i, action in enumerate(actions[10:]):
        one = (*(part[i] for part in found[:4]), {name: values[i] for name, values in found[4].items()})
        assert_same(one, others.step(action))
    if "max_num_frames_per_episode" in settings:
        assert np.asarray(found[3]).sum() >= 6


def test_jax_acts_on_what_it_sees_and_resets_some():
    """Actions that depend on the picture before, in one compiled loop; then a reset of one environment of three."""
    jax = jax_here()
    envs, others = make(), make()
    handle, reset, step = envs.xla()

    def act(seen):
        return jax.numpy.sum(seen, axis=(1, 2, 3), dtype=jax.numpy.int32) % 5

    @jax.jit
    def play(handle, seen):
        def body(carry, _):
            handle, seen = carry
            actions = act(seen)
            handle, (seen, *_) = step(handle, actions)
            return (handle, seen), actions

        return jax.lax.scan(body, (handle, seen), None, 20)

    handle, (seen, _) = jax.jit(reset)(handle, jax.numpy.arange(3))
    expected = others.reset(seed=0)[0]
    (handle, seen), chosen = play(handle, seen)
    for actions in np.asarray(chosen):
        assert np.array_equal(actions, expected.numpy().sum((1, 2, 3)) % 5)
        expected = others.step(actions)[0]
    assert np.array_equal(seen, expected.numpy()) and len(set(np.asarray(chosen).ravel())) > 2
    handle, (seen, info) = jax.jit(reset)(handle, np.full(3, 9), np.array([False, True, False]))
    expected, their_info = others.reset(seed=np.array([9]), options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(seen, expected.numpy())
    for name in ("lives", "frame_number", "episode_frame_number"):
        assert np.array_equal(info[name], their_info[name].numpy())


@pytest.mark.parametrize("where", ["cpu", DEVICE])
def test_a_reset_of_some_by_jax_has_their_seeds(where):
    """One seed is that of the first environment that is reset; an array has one for each environment, reset or not."""
    jax = jax_here()
    envs, others = (make(4, where, noop_max=30, repeat_action_probability=0.25) for _ in range(2))
    handle, reset, step = envs.xla()
    handle, _ = reset(handle, seed=0)
    others.reset(seed=0)
    mask, seeds = np.array([False, True, False, True]), np.array([7, 8, 9, 10], np.int32)
    for ours, theirs in ((5, 5), (seeds, seeds[mask])):
        handle, (_, info) = jax.jit(lambda h, m, seed=ours: reset(h, seed, m))(handle, mask)
        _, their_info = others.reset(seed=theirs, options={"reset_mask": mask})
        expected = np.asarray(their_info["episode_frame_number"])
        assert np.array_equal(np.asarray(info["episode_frame_number"])[mask], expected[mask])
        assert len(set(expected[mask].tolist())) == 2  # the seeds choose the number of first frames
        for action in actions_of(envs, 8):
            handle, found = step(handle, action)
            assert np.array_equal(np.asarray(found[0])[mask], np.asarray(others.step(action)[0])[mask])


def test_environments_that_jax_has_are_not_used_elsewhere():
    jax = jax_here()
    envs = make()
    handle, reset, step = envs.xla()
    with pytest.raises(Exception, match="reset before its first step"):
        jax.block_until_ready(step(handle, np.zeros(3, np.int32)))
    handle, _ = reset(handle, seed=1)
    for call in (lambda: envs.step(np.zeros(3, np.int32)), lambda: envs.reset(seed=0), envs.clone_state, envs.xla):
        with pytest.raises(diffvcs.BadArgument, match="JAX has these environments"):
            call()
    for wrong in ({}, None, dict(handle, ram=None), dict(handle, env_ids=None)):
        with pytest.raises(ValueError, match="the handle is what"):
            step(wrong, np.zeros(3, np.int32))
    compiled = jax.jit(step)
    jax.block_until_ready(compiled(handle, np.zeros(3, np.int32)))
    envs.close()
    with pytest.raises(Exception, match="were closed"):
        jax.block_until_ready(compiled(handle, np.zeros(3, np.int32)))


@pytest.mark.parametrize("device", ["cpu-as-gpu", "cpu"])
def test_jax_never_takes_another_number(device):
    """2^32 + 1 is no 1, 1.5 is no 1, and seeds do not go on after the last one."""
    jax = jax_here()
    envs = diffvcs.DiffVCSVectorEnv("demo", num_envs=3, noop_max=0, device=device)
    handle, reset, step = envs.xla()
    handle, _ = reset(handle, 1)
    for actions in (
        np.full(3, 2**32 + 1), [2**32 + 1] * 3, np.full(3, 2.5), np.full(3, np.nan), np.full(3, "1"), np.zeros((3, 1), int),
        np.zeros(2, int), 1, None, jax.numpy.zeros(3), jax.numpy.zeros(4, int),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="actions"):
            step(handle, actions)
    for seed in (
        np.full(3, 2**32 + 1), 2**32 + 1, 2**31 - 2, 2**64, -1, 1.5, np.nan, "1", [1.5] * 3, np.zeros(2, int), [[1, 2, 3]],
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="seed"):
            reset(handle, seed)
    for mask in (np.ones(3, int), np.ones(4, bool), np.ones((3, 1), bool), True, np.full(3, np.nan)):
        with pytest.raises(ValueError, match="reset_mask is 3 booleans"):
            reset(handle, 1, mask)
    handle, (_, info) = reset(handle, np.int64(2**31 - 3))  # the last seed of all
    _, results = step(handle, jax.numpy.zeros(3, jax.numpy.uint8))
    assert (np.asarray(results[4]["episode_frame_number"]) == np.asarray(info["episode_frame_number"]) + 4).all()
    envs.close()


def test_torch_takes_observations_and_gives_actions():
    torch = needs.module("torch")
    envs, others = make(), make()
    observations, _ = envs.reset(seed=1)
    others.reset(seed=1)
    taken = torch.from_dlpack(observations)
    assert taken.data_ptr() == observations.memory.pointer.value
    for action in actions_of(envs, 5):
        envs.step(torch.from_numpy(action).to(taken.device))
        a, b = taken.cpu().numpy(), others.step(action)[0].numpy()
        assert np.array_equal(a, b)
    assert envs.step(torch.zeros(3, dtype=torch.int64, device=taken.device))[0].shape == (3, 4, 84, 84)
    with pytest.raises(TypeError, match="integer type"):
        envs.step(torch.zeros(3, device=taken.device))


def test_seeds_masks_and_states():
    envs = make(repeat_action_probability=0.25, ram=True, max_num_frames_per_episode=60)
    envs.reset(seed=np.array([5, 6, 5]))
    actions = [np.full(3, a[0]) for a in actions_of(envs, 40)]
    for action in actions:
        ram = envs.step(action)[4]["ram"].numpy()
        assert np.array_equal(ram[0], ram[2])
    states, shown = envs.clone_state([0, 1]), envs.step(actions[0])[0].numpy()
    assert isinstance(states, device.Array)
    then = [envs.step(action)[0].numpy() for action in actions]
    _, info = envs.restore_state(states, [0, 1])
    assert info["ram"].shape == (3, 128)
    assert np.array_equal(envs.step(actions[0])[0].numpy()[:2], shown[:2])
    for action, was in zip(actions, then):
        assert np.array_equal(envs.step(action)[0].numpy()[:2], was[:2])
    before = envs.step(actions[0])[4]["ram"].numpy()
    _, info = envs.reset(seed=np.array([9]), options={"reset_mask": np.array([False, True, False])})
    after = info["ram"].numpy()
    assert np.array_equal(before[[0, 2]], after[[0, 2]]) and not np.array_equal(before[1], after[1])
    envs.set_stream(0)
    envs.step(actions[0])


HEAD = 80  # bytes of an environment's own numbers, before its machine (src/cuda/device_batch.h)


@pytest.mark.parametrize("obs_type", ["image", "ram"])
def test_states_that_no_machine_can_have_are_refused(obs_type):
    envs, twin = make(2, obs_type=obs_type, noop_max=3), make(2, obs_type=obs_type, noop_max=3)
    for batch in (envs, twin):
        batch.reset(seed=1)
    states = np.asarray(envs.clone_state())
    cart = envs.ale.carts[0]
    fields = {name: HEAD + cart.offset(name) for name in ("bank", "line", "line_clock", "seen_clock", "pos")}
    fields |= {"action": 44, "paddle": 48, "start": 68, "covered": 72}  # of vcs_device_env_t
    for name, at in fields.items():
        wrong = states.copy()
        wrong[1, at : at + 4] = 127 if name == "start" else 255  # start -1: its picture was shown
        with pytest.raises(diffvcs.BadArgument, match="no machine can have"):
            envs.restore_state(wrong)
    wrong = states.copy()
    wrong[0, :HEAD] = 255
    with pytest.raises(diffvcs.BadArgument, match="another cartridge"):
        envs.restore_state(wrong)
    random = np.random.default_rng(0)
    for _ in range(50):  # refused, or a machine that runs
        wrong = states.copy()
        at = int(random.integers(0, min(states.shape[1], 1500) - 4))
        wrong[:, at : at + 4] = random.integers(0, 256, 4, np.uint8)
        try:
            envs.restore_state(wrong)
        except diffvcs.BadArgument:
            continue
        for _ in range(3):
            envs.step(np.zeros(2, np.int32))
    envs.restore_state(states)
    for action in actions_of(twin, 5):
        assert np.array_equal(envs.step(action)[0].numpy(), twin.step(action)[0].numpy())


def test_ram_alone_draws_nothing():
    envs, seen = make(obs_type="ram"), make(ram=True)
    ram, _ = envs.reset(seed=2)
    seen.reset(seed=2)
    assert ram.shape == (3, 128) and envs.ale.observation_shape == (0, 0, 0)
    for action in actions_of(envs, 10):
        assert np.array_equal(envs.step(action)[0].numpy(), seen.step(action)[4]["ram"].numpy())


@pytest.mark.parametrize(
    "settings, word",
    [
        (dict(img_width=5000), "width"), (dict(sound_obs=True), "sound"), (dict(batch_size=2), "batch_size"),
    ],
)  # fmt: skip
def test_what_a_device_has_not_is_refused(settings, word):
    with pytest.raises(diffvcs.BadArgument, match=word):
        make(**settings)


def test_calls_that_a_device_has_not_are_refused():
    envs = make()
    envs.reset(seed=0)
    with pytest.raises(diffvcs.BadArgument, match="on a device"):
        envs.send(np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="strengths"):
        envs.ale.step(np.zeros(3, np.int32), np.ones(3, np.float32))
    with pytest.raises(ValueError, match="cuda:1"):
        make(where="tpu")


def test_without_a_gpu_it_says_what_is_missing():
    if device.lib.vcs_device_missing(device.GPU) is None:
        needs.missing("no-gpu", "there is a GPU")
    for ask in (lambda: make(where="cuda"), lambda: make(where="cuda:3")):
        with pytest.raises(diffvcs.VCSError, match="make cuda|no GPU"):
            ask()


def test_truth_has_a_device(machine):
    cart, state, places = machine.cart, machine.save(), diffvcs.ram_places(machine.cart, range(4))
    here = diffvcs.truth(cart, state, ["NOOP"] * 2, places)
    there = diffvcs.truth(cart, state, ["NOOP"] * 2, places, device=DEVICE)
    assert np.array_equal(here.dframes, there.dframes) and np.array_equal(here.dram, there.dram)
    assert np.array_equal(here.rows, there.rows) and np.array_equal(here.base, there.base)
    assert here.rows["pixels"].any()
    with pytest.raises(diffvcs.BadArgument, match="ROM"):
        diffvcs.truth(cart, state, ["NOOP"], diffvcs.rom_places(cart, [0]), maps=False, device=DEVICE)
