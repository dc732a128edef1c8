#!/usr/bin/env python3
"""Our batches beside ale-py's AtariVectorEnv, step by step: observations, rewards, endings, lives, numbers.

Every game is played with AtariVectorEnv's defaults for --steps steps of --envs environments, with resets of all and of
some of them in between, and then, for fewer steps each, with the other settings: sticky actions, episodic
life, same-step resets with their last observations, short episodes, colours, other sizes, continuous and full action
spaces, other frame skips and stacks, and results as they become ready. The first difference of a section is reported.
Exit status 1 if there is any. --bench measures frames a second of both instead.
"""

import argparse
import ctypes
import multiprocessing
import os
import sys
import time

import numpy as np

from live import CartOptions, load_library, rom_path

GAMES = (
    "pong breakout space_invaders seaquest ms_pacman qbert montezuma_revenge asteroids pitfall road_runner beam_rider "
    "enduro freeway adventure double_dunk tennis video_pinball private_eye skiing air_raid"
).split()
BENCH = GAMES[:10]
FEWER_ACTIONS = {
    "skiing"
}  # not all 18 are legal: ale-py's continuous actions go out of range there, and it waits for ever
AUTORESET = {"NextStep": 0, "SameStep": 1, "Disabled": 2}


class BatchOptions(ctypes.Structure):
    _fields_ = (
        [
            (n, ctypes.c_int32)
            for n in ("envs", "batch_size", "threads", "device", "width", "height", "stack", "frame_skip")
        ]
        + [
            ("noop_max", ctypes.c_int32),
            ("max_episode_frames", ctypes.c_int32),
            ("repeat_action_probability", ctypes.c_float),
        ]
        + [
            (n, ctypes.c_uint8)
            for n in ("autoreset", "rgb", "max_pool", "fire_reset", "episodic_life", "life_loss_info")
        ]
        + [(n, ctypes.c_uint8) for n in ("reward_clipping", "full_action_space", "stack_in_place", "sound")]
        + [("reserved", ctypes.c_uint64 * 8)]
    )


class Results(ctypes.Structure):
    NAMES = "observations final_observations env_ids rewards lives frame_numbers episode_frame_numbers terminated truncated".split()
    _fields_ = [(name, ctypes.c_void_p) for name in NAMES + ["ram", "sound"]]


def library(path):
    pointer = ctypes.c_void_p
    functions = (
        ("vcs_batch_defaults", None, [pointer]),
        ("vcs_batch_create", ctypes.c_int, [pointer, ctypes.c_int32, pointer, pointer, pointer, pointer]),
        ("vcs_batch_free", None, [pointer]),
        ("vcs_batch_reset", ctypes.c_int, [pointer, pointer, pointer, ctypes.c_int32, pointer, pointer]),
        ("vcs_batch_step", ctypes.c_int, [pointer, pointer, pointer, pointer, pointer]),
        ("vcs_batch_send", ctypes.c_int, [pointer, pointer, pointer, pointer]),
        ("vcs_batch_receive", ctypes.c_int, [pointer, pointer, pointer]),
        ("vcs_batch_actions", ctypes.c_int, [pointer, ctypes.c_int32, pointer]),
        ("vcs_batch_bytes", ctypes.c_size_t, [pointer, pointer]),
        ("vcs_batch_continuous", None, [pointer, ctypes.c_int32, ctypes.c_float, pointer, pointer]),
    )
    return load_library(path, functions)


class Ours:
    """A vcs_batch_t through ctypes, with AtariVectorEnv's arguments."""

    NAMES = {
        "num_envs": "envs",
        "num_threads": "threads",
        "img_width": "width",
        "img_height": "height",
        "stack_num": "stack",
        "frameskip": "frame_skip",
        "max_num_frames_per_episode": "max_episode_frames",
        "maxpool": "max_pool",
        "use_fire_reset": "fire_reset",
    }

    def __init__(self, lib, rom, name, in_place=False, **settings):
        self.lib, self.message, self.continuous = (
            lib,
            ctypes.create_string_buffer(256),
            settings.pop("continuous", False),
        )
        with open(rom, "rb") as file:
            image = file.read()
        self.cart, self.batch, self.options = ctypes.c_void_p(), ctypes.c_void_p(), BatchOptions()
        cart_options = CartOptions(0, 0, 0, name.encode())
        self.require(
            lib.vcs_cart_load(image, len(image), ctypes.byref(cart_options), ctypes.byref(self.cart), self.message)
        )
        lib.vcs_batch_defaults(ctypes.byref(self.options))
        self.options.rgb = not settings.pop("grayscale", True)
        self.options.autoreset = AUTORESET[settings.pop("autoreset_mode", "NextStep")]
        for key, value in settings.items():
            setattr(self.options, self.NAMES.get(key, key), value)
        self.options.full_action_space |= self.continuous
        self.options.stack_in_place = in_place
        carts = (ctypes.c_void_p * 1)(self.cart)
        self.require(
            lib.vcs_batch_create(carts, 1, None, ctypes.byref(self.options), ctypes.byref(self.batch), self.message)
        )
        self.count = self.options.batch_size or self.options.envs
        o, count = self.options, self.count
        shape = (count, o.stack, o.height, o.width) + ((3,) if o.rgb else ())
        self.arrays = {
            n: np.zeros(
                shape if "obs" in n else count,
                np.uint8 if n in ("observations", "final_observations", "terminated", "truncated") else np.int32,
            )
            for n in Results.NAMES
        }
        self.results = Results(**{n: a.ctypes.data for n, a in self.arrays.items()})
        actions = (ctypes.c_int32 * 18)()
        self.action_count = lib.vcs_batch_actions(self.batch, 0, actions)

    def require(self, status):
        if status:
            raise RuntimeError(self.message.value.decode())

    def reset(self, ids, seeds):
        ids, seeds = np.asarray(ids, np.int32), np.asarray(seeds, np.int32)
        self.require(
            self.lib.vcs_batch_reset(
                self.batch, ids.ctypes.data, seeds.ctypes.data, len(ids), ctypes.byref(self.results), self.message
            )
        )
        return self.arrays

    def prepare(self, actions):
        if not self.continuous:
            return np.ascontiguousarray(actions, np.int32), None
        numbers, strengths = np.empty(len(actions), np.int32), np.empty(len(actions), np.float32)
        self.lib.vcs_batch_continuous(
            actions.ctypes.data, len(actions), 0.5, numbers.ctypes.data, strengths.ctypes.data
        )
        return numbers, strengths

    def step(self, actions):
        numbers, strengths = self.prepare(actions)
        where = strengths.ctypes.data if strengths is not None else None
        self.require(
            self.lib.vcs_batch_step(self.batch, numbers.ctypes.data, where, ctypes.byref(self.results), self.message)
        )
        return self.arrays

    def send(self, actions):
        numbers, _ = self.prepare(actions)
        self.require(self.lib.vcs_batch_send(self.batch, numbers.ctypes.data, None, self.message))

    def receive(self):
        self.require(self.lib.vcs_batch_receive(self.batch, ctypes.byref(self.results), self.message))
        return self.arrays

    def close(self):
        self.lib.vcs_batch_free(self.batch)
        self.lib.vcs_cart_free(self.cart)


class Difference(Exception):
    pass


def compare(where, theirs, ours, final=None):
    """theirs: (observations, rewards, terminated, truncated, info)."""
    observations, rewards, terminated, truncated, info = theirs
    pairs = [("observations", observations), ("lives", info["lives"]), ("env_ids", info["env_id"])]
    pairs += [("frame_numbers", info["frame_number"]), ("episode_frame_numbers", info["episode_frame_number"])]
    if rewards is not None:
        pairs += [("rewards", rewards), ("terminated", terminated), ("truncated", truncated)]
    for what, expected in pairs:
        expected = np.asarray(expected)
        if not np.array_equal(expected, ours[what].astype(expected.dtype)):
            envs = np.flatnonzero((expected != ours[what]).reshape(len(expected), -1).any(axis=1))
            count = int((expected != ours[what]).sum())
            raise Difference(f"{where}: {what} of environments {envs.tolist()} ({count} values)")
    if rewards is not None and "final_obs" in info:
        for i in np.flatnonzero(np.asarray(terminated) | np.asarray(truncated)):
            if (
                not np.array_equal(info["final_obs"][i], ours["final_observations"][i])
                and final is not None
                and final[i]
            ):
                raise Difference(f"{where}: final observation of environment {i}")


def vector(name, **settings):
    from ale_py.vector_env import AtariVectorEnv

    return AtariVectorEnv(name, **settings)


def draw(stream, env, ours, count):
    if ours.continuous:
        action = np.stack(
            [stream.uniform(0, 1, count), stream.uniform(-np.pi, np.pi, count), stream.uniform(0, 1, count)], axis=1
        )
        return action.astype(np.float32)
    return stream.integers(0, ours.action_count, count)


def play(game, plan, steps, hold=3, resets=(), **settings):
    name, rom, lib = game
    count = plan.envs
    theirs, ours = (
        vector(name, num_envs=count, **settings),
        Ours(lib, rom, name, num_envs=count, threads=plan.threads, **settings),
    )
    stream = np.random.default_rng(plan.seed)
    episodic = settings.get("autoreset_mode") == "SameStep"
    endings = 0
    observations, info = theirs.reset(seed=plan.seed * 100)
    compare(
        "reset",
        (observations, None, None, None, info),
        ours.reset(range(count), range(plan.seed * 100, plan.seed * 100 + count)),
    )
    for step in range(steps):
        if step in resets:  # of all without seeds, of some with seeds, of some without
            which = resets.index(step) % 3
            ids = np.arange(count) if which == 0 else np.flatnonzero(stream.integers(0, 2, count))
            seeds = np.arange(step, step + len(ids)) if which == 1 else np.full(len(ids), -1)
            mask = np.isin(np.arange(count), ids)
            observations, info = theirs.reset(seed=seeds if which == 1 else None, options={"reset_mask": mask})
            compare(f"reset at step {step}", (observations, None, None, None, info), ours.reset(ids, seeds))
        if step % hold == 0:
            actions = draw(stream, theirs, ours, count)
        result, mine = theirs.step(actions), ours.step(actions)
        ended = np.asarray(result[2]) | np.asarray(result[3])
        endings += int(ended.sum())
        compare(f"step {step}", result, mine, ended if episodic and not settings.get("life_loss_info") else None)
    theirs.close()
    ours.close()
    return steps * count, endings


def some(plan, cases):
    """All of them, or one if it must be quick."""
    return [cases[plan.number % len(cases)]] if plan.quick else cases


def check_defaults(game, plan):
    return play(game, plan, plan.steps, resets=(plan.steps // 4, plan.steps // 2, plan.steps * 3 // 4))


def check_sticky(game, plan):
    return play(game, plan, plan.few, repeat_action_probability=0.25, episodic_life=True, reward_clipping=False)


def check_same_step(game, plan):
    return play(game, plan, plan.few, autoreset_mode="SameStep", max_num_frames_per_episode=45, resets=(plan.few // 2,))


def check_same_step_life(game, plan):
    return play(game, plan, plan.few, autoreset_mode="SameStep", episodic_life=True, repeat_action_probability=0.1)


def check_short(game, plan):
    """Every ending at the last, or the first, or another frame of a step."""
    steps = ends = 0
    for frames, skip in some(plan, ((40, 4), (41, 4), (43, 4), (4, 4), (30, 3), (7, 1), (16, 2))):
        a, b = play(game, plan, plan.few // 8, max_num_frames_per_episode=frames, frameskip=skip, noop_max=7)
        steps, ends = steps + a, ends + b
    return steps, ends


def check_colours(game, plan):
    return play(
        game, plan, plan.few // 4, grayscale=False, life_loss_info=True, stack_num=2, max_num_frames_per_episode=200
    )


def check_sizes(game, plan):
    steps = 0
    sizes = (210, 160, True), (105, 80, True), (96, 64, False), (42, 42, True), (250, 160, True), (84, 200, True)
    for height, width, gray in some(plan, sizes):
        steps += play(game, plan, plan.few // 16 + 4, img_height=height, img_width=width, grayscale=gray)[0]
    return steps, 0


def check_actions(game, plan):
    a = play(game, plan, plan.few // 2, full_action_space=True, use_fire_reset=False, noop_max=0, maxpool=False)
    if game[0] in FEWER_ACTIONS:
        return a
    b = play(game, plan, plan.few // 2, hold=1, continuous=True, frameskip=5, stack_num=3)
    return a[0] + b[0], a[1] + b[1]


def check_in_place(game, plan):
    name, rom, lib = game
    stream = np.random.default_rng(plan.seed)
    both = [
        Ours(lib, rom, name, in_place=p, num_envs=plan.envs, max_num_frames_per_episode=101, autoreset_mode="SameStep")
        for p in (False, True)
    ]
    a, b = (x.reset(range(plan.envs), range(plan.envs)) for x in both)
    for step in range(plan.few // 2):
        for what in Results.NAMES:
            if not np.array_equal(a[what], b[what]):
                raise Difference(f"in place, step {step}: {what}")
        actions = draw(stream, None, both[0], plan.envs)
        a, b = (x.step(actions) for x in both)
    for x in both:
        x.close()
    return plan.few // 2 * plan.envs, 0


def check_ready(game, plan):
    """The first results that are ready: whatever their order, each environment has the same story."""
    name, rom, lib = game
    envs, count = plan.envs, max(1, plan.envs // 4)
    theirs, ours = (
        vector(name, num_envs=envs, batch_size=count),
        Ours(lib, rom, name, num_envs=envs, batch_size=count, threads=plan.threads),
    )
    script = np.random.default_rng(plan.seed).integers(0, ours.action_count, (envs, plan.few * 2))
    stories = []
    for side in (theirs, ours):
        story, moves = [[] for _ in range(envs)], np.zeros(envs, np.int64)
        if side is theirs:
            observations, info = side.reset(seed=9)
            ids, got = np.asarray(info["env_id"]), observations
        else:
            arrays = side.reset(range(envs), range(9, 9 + envs))
            ids, got = arrays["env_ids"].copy(), arrays["observations"]
        for env in ids:  # as every other environment, whose reset recv reports with a reward of 0
            story[env].append(0)
        for _ in range(plan.few):
            for i, env in enumerate(ids):
                story[env].append(hash(got[i].tobytes()))
            actions = script[ids, moves[ids]]
            moves[ids] += 1
            side.send(actions)
            if side is theirs:
                got, rewards, terminated, truncated, info = side.recv()
                ids = np.asarray(info["env_id"])
            else:
                arrays = side.receive()
                got, rewards, ids = arrays["observations"], arrays["rewards"], arrays["env_ids"].copy()
            for i, env in enumerate(ids):
                story[env].append(int(rewards[i]))
        stories.append(story)
    for env, (a, b) in enumerate(zip(*stories)):
        length = min(len(a), len(b))
        if a[:length] != b[:length]:
            raise Difference(f"environment {env} after {next(i for i in range(length) if a[i] != b[i]) // 2} steps")
    ours.close()
    theirs.close()
    return plan.few * count, 0


SECTIONS = {
    "defaults": check_defaults,
    "sticky": check_sticky,
    "same_step": check_same_step,
    "same_step_life": check_same_step_life,
    "short": check_short,
    "colours": check_colours,
    "sizes": check_sizes,
    "actions": check_actions,
    "in_place": check_in_place,
    "ready": check_ready,
}


def check(job):
    number, name, rom, library_path, plan = job
    plan.number = number
    game, wrong, steps, endings = (name, rom, library(library_path)), [], 0, 0
    sections = plan.sections
    if plan.quick and len(sections) == len(SECTIONS):  # the first and another one
        sections = [sections[0], sections[1 + number % (len(sections) - 1)]]
    for section in sections:
        try:
            some, ended = SECTIONS[section](game, plan)
            steps, endings = steps + some, endings + ended
        except Difference as difference:
            wrong.append(f"{section}: {difference}")
    return name, "; ".join(wrong), steps, endings


def measure(side, ours, count, seconds):
    """Frames a second of a frame skip of 4."""
    stream, steps = np.random.default_rng(1), 0
    actions = stream.integers(0, ours.action_count, (64, count)).astype(np.int32)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for row in actions[:8]:
            side.step(row)
            steps += 1
    return 4 * steps * count / (time.perf_counter() - start)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bench(plan, lib):
    ratios = []
    print(f"{'game':20} {'AtariVectorEnv':>15} {'ours':>12} {'ratio':>6}   frames/s, {plan.envs} environments, 84x84x4")
    for name in plan.games or BENCH:
        theirs, ours = (
            vector(name, num_envs=plan.envs),
            Ours(lib, rom_path(name), name, num_envs=plan.envs),
        )
        theirs.reset(seed=1)
        ours.reset(range(plan.envs), range(1, 1 + plan.envs))
        rates = [[], []]
        for _ in range(plan.rounds):
            for which, side in enumerate((theirs, ours)):
                rates[which].append(measure(side, ours, plan.envs, plan.seconds))
        a, b = np.median(rates[0]), np.median(rates[1])
        ratios.append(b / a)
        print(f"{name:20} {a:15,.0f} {b:12,.0f} {b / a:6.2f}", flush=True)
        theirs.close()
        ours.close()
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}")
    before, start = resident(), time.perf_counter()
    ours = Ours(lib, rom_path("pong"), "pong", num_envs=1000)
    made = time.perf_counter() - start
    ours.reset(range(1000), range(1000))
    ready = time.perf_counter() - start
    for _ in range(20):
        ours.step(np.zeros(1000, np.int32))
    shared = sum(a.nbytes for n, a in ours.arrays.items() if n != "final_observations")
    per_thread = ctypes.c_size_t()
    per_env = lib.vcs_batch_bytes(ours.batch, ctypes.byref(per_thread))
    used = resident() - before - shared
    print(
        f"1000 environments of pong: made in {made:.3f} s, reset in {ready:.3f} s; {used / 1000 / 1024:.1f} KiB of memory each "
        f"(threads included), {per_env / 1024:.1f} KiB by count and {per_thread.value / 1024:.0f} KiB a thread"
    )
    ours.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: twenty")
    parser.add_argument("--library", default="build/libdiffvcs.so")
    parser.add_argument("--quick", action="store_true", help="under a minute on two cores")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--few", type=int, default=400, help="steps of the other sections, or thereabouts")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sections", nargs="*", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round of the bench")
    parser.add_argument("--rounds", type=int, default=3)
    plan = parser.parse_args()
    if plan.quick:
        plan.steps, plan.few, plan.envs = 80, 32, 4
    if plan.bench:
        plan.envs = 64 if plan.envs == 8 else plan.envs
        return bench(plan, library(plan.library))
    names = plan.games or GAMES
    jobs = [(i, n, rom_path(n), plan.library, plan) for i, n in enumerate(names)]
    wrong = total = endings = 0
    with multiprocessing.get_context("spawn").Pool(plan.jobs, maxtasksperchild=4) as pool:
        for name, difference, steps, ended in pool.imap(check, jobs):
            wrong, total, endings = wrong + bool(difference), total + steps, endings + ended
            print(
                f"{'not ok' if difference else 'ok'} {name}: {difference or f'{steps} steps equal, {ended} episodes ended'}",
                flush=True,
            )
    print(f"{len(names) - wrong} of {len(names)} games equal over {total} steps with {endings} endings")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
