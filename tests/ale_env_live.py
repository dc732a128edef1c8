#!/usr/bin/env python3
"""Our environment beside ale-py's, step by step, with everything an ALE user can set and read.

For every game, in sections: what it offers (actions, modes, difficulties); random episodes; sticky actions, frame skip,
reward limits, truncation, colour averaging and continuous paddles, seeded alike; the end at the loss of a life; every
mode and difficulty; RAM that is written and states that are restored; no-ops, FIRE and episodic life as in ale-py's
vector environment; the differences of profile `fixed`. The first difference of
a section is reported. Exit status 1 if there is any.
"""

import argparse
import ctypes
import multiprocessing
import os
import random
import sys

import numpy as np

from live import CartOptions, every_game, load_library, rom_path

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


# Where each game keeps the score that profile `fixed` counts on, and what is there when it is at its largest: RAM
# addresses=value. STOPS are games whose counter stops there.
LARGEST_SCORES = {
    "air_raid": "AA,A9,A8=99",
    "alien": "83,85,87,89,8B=48",
    "amidar": "D9,DA,DB=99",
    "asterix": "E0,DF,DE=99",
    "atlantis": "A2,A3,A1=99",
    "atlantis2": "A1,A2,A3=99",
    "bank_heist": "DA,D9,D8=99",
    "battle_zone": "9D=90 9E=99",
    "berzerk": "DF,DE,DD=99",
    "carnival": "AE,AD=99",
    "centipede": "F6,F5,F4=99",
    "crazy_climber": "82,83,84,85=09",
    "defender": "9C,9D=00 9E,9F,A0,A1=A9",
    "demon_attack": "85,83,81=99",
    "donkey_kong": "88,87=99",
    "elevator_action": "89,88,87=99",
    "entombed": "E3=FF",
    "frogger": "CE,CC=99",
    "frostbite": "CA,C9,C8=99",
    "gopher": "B2,B1,B0=99",
    "gravitar": "89,88,87=99",
    "hero": "B9,B8,B7=99",
    "jamesbond": "DC,DD,DE=99",
    "kangaroo": "A8,A7=99",
    "keystone_kapers": "9C,9B=99",
    "king_kong": "83,82=99",
    "koolaid": "81,80=99",
    "krull": "9E,9D,9C=99",
    "kung_fu_master": "98,99,9A=99",
    "lost_luggage": "96,95,94=99",
    "mario_bros": "8A,89=99",
    "mr_do": "82,83=99",
    "ms_pacman": "F8,F9,FA=99",
    "name_this_game": "C6,C5,C4=99",
    "pacman": "CC,CE,D0=99",
    "phoenix": "C8,C9=99 C7=90",
    "pooyan": "8A,89,88=99",
    "qbert": "DB,DA,D9=99",
    "riverraid": "CD,CF,D1,D3,D5,D7=48",
    "road_runner": "C9,CA,CB,CC=09",
    "sir_lancelot": "A0,9F,9E=99",
    "solaris": "DC,DD,DE=99",
    "star_gunner": "83,84,85,86=09",
    "time_pilot": "8D,8F=99",
    "trondead": "BF,BE,BD=99",
    "turmoil": "89,8A=99",
    "tutankham": "9C,9A=99",
    "up_n_down": "82,81,80=99",
    "video_pinball": "B0,B2,B4=99",
    "yars_revenge": "E2,E1,E0=99",
    "zaxxon": "E9,E8=99",
}
STOPS = {"hero", "kung_fu_master", "riverraid"}


class Options(ctypes.Structure):
    _fields_ = (
        [("frame_skip", ctypes.c_int32), ("repeat_action_probability", ctypes.c_float), ("seed", ctypes.c_uint32)]
        + [
            (name, ctypes.c_int32)
            for name in ("max_episode_frames", "noop_max", "reward_min", "reward_max", "mode", "difficulty")
        ]
        + [(name, ctypes.c_uint8) for name in ("life_loss", "fire_reset", "colour_averaging")]
        + [("reserved", ctypes.c_uint64 * 8)]
    )


def library(path):
    pointer, number, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_float
    functions = (
        ("vcs_env_defaults", None, [pointer, pointer]),
        ("vcs_env_create_with", number, [pointer, pointer, pointer, pointer]),
        ("vcs_env_configure", number, [pointer, pointer, pointer]),
        ("vcs_env_free", None, [pointer]),
        ("vcs_env_reset", None, [pointer]),
        ("vcs_env_reload", None, [pointer, ctypes.c_uint32]),
        ("vcs_env_set_drawing", None, [pointer, number]),
        ("vcs_env_act_strength", ctypes.c_int32, [pointer, number, number, real, real]),
        ("vcs_env_over", number, [pointer]),
        ("vcs_env_truncated", number, [pointer]),
        ("vcs_env_done", number, [pointer]),
        ("vcs_env_life_lost", number, [pointer]),
        ("vcs_env_lives", ctypes.c_int32, [pointer]),
        ("vcs_env_height", number, [pointer]),
        ("vcs_env_frame_number", ctypes.c_uint64, [pointer]),
        ("vcs_env_episode_frame_number", ctypes.c_uint64, [pointer]),
        ("vcs_env_screen_indices", None, [pointer, pointer]),
        ("vcs_env_screen_rgb", None, [pointer, pointer]),
        ("vcs_env_screen_gray", None, [pointer, pointer]),
        ("vcs_env_ram", pointer, [pointer]),
        ("vcs_env_set_ram", number, [pointer, number, ctypes.c_uint8, pointer]),
        ("vcs_env_minimal_actions", number, [pointer, pointer]),
        ("vcs_env_legal_actions", number, [pointer, pointer]),
        ("vcs_env_modes", number, [pointer, pointer]),
        ("vcs_env_difficulties", number, [pointer, pointer]),
        ("vcs_env_state_size", ctypes.c_size_t, [pointer]),
        ("vcs_env_state_copy", None, [pointer, pointer]),
        ("vcs_env_state_restore", number, [pointer, pointer, ctypes.c_size_t, pointer]),
        ("vcs_env_state_restore_play", number, [pointer, pointer, ctypes.c_size_t, pointer]),
    )
    return load_library(path, functions)


class Ours:
    """A vcs_env_t through ctypes, with ale-py's names for its settings."""

    def __init__(self, lib, rom, name, profile=0, **settings):
        self.lib, self.message = lib, ctypes.create_string_buffer(256)
        with open(rom, "rb") as file:
            image = file.read()
        self.cart, self.env, self.options = ctypes.c_void_p(), ctypes.c_void_p(), Options()
        cart_options = CartOptions(profile, 0, 0, name.encode())
        self.require(
            lib.vcs_cart_load(image, len(image), ctypes.byref(cart_options), ctypes.byref(self.cart), self.message)
        )
        lib.vcs_env_defaults(self.cart, ctypes.byref(self.options))
        for key, value in settings.items():
            setattr(self.options, key, value)
        self.require(
            lib.vcs_env_create_with(self.cart, ctypes.byref(self.options), ctypes.byref(self.env), self.message)
        )
        height = lib.vcs_env_height(self.env)
        self.indices, self.gray = np.empty((height, 160), np.uint8), np.empty((height, 160), np.uint8)
        self.rgb = np.empty((height, 160, 3), np.uint8)
        self.ram = np.ctypeslib.as_array(ctypes.cast(lib.vcs_env_ram(self.env), ctypes.POINTER(ctypes.c_uint8)), (128,))

    def require(self, status):
        if status:
            raise RuntimeError(self.message.value.decode())

    def configure(self, **settings):
        for key, value in settings.items():
            setattr(self.options, key, value)
        self.require(self.lib.vcs_env_configure(self.env, ctypes.byref(self.options), self.message))

    def list(self, what, room=256):
        numbers = (ctypes.c_int32 * room)()
        return list(numbers[: getattr(self.lib, "vcs_env_" + what)(self.env, numbers)])

    def picture(self, what):
        buffer = getattr(self, what)
        getattr(self.lib, "vcs_env_screen_" + what)(self.env, buffer.ctypes.data)
        return buffer

    def clone(self):
        state = ctypes.create_string_buffer(self.lib.vcs_env_state_size(self.env))
        self.lib.vcs_env_state_copy(self.env, state)
        return state

    def restore(self, state, with_generators=True):
        restore = self.lib.vcs_env_state_restore if with_generators else self.lib.vcs_env_state_restore_play
        self.require(restore(self.env, state, len(state), self.message))

    def close(self):
        self.lib.vcs_env_free(self.env)
        self.lib.vcs_cart_free(self.cart)


class Difference(Exception):
    pass


class Pair:
    """ale-py and ours under the same settings."""

    def __init__(
        self, game, seed, probability=0.0, frame_skip=1, max_frames=0, clamp=None, life=False, averaging=False
    ):
        import ale_py

        name, rom, lib = game
        self.frames, self.name = 0, name
        low, high = clamp or (INT_MIN, INT_MAX)
        self.ale = ale_py.ALEInterface()
        for key, value in (
            ("random_seed", seed),
            ("frame_skip", frame_skip),
            ("max_num_frames_per_episode", max_frames),
        ):
            self.ale.setInt(key, value)
        self.ale.setInt("reward_min", low)
        self.ale.setInt("reward_max", high)
        self.ale.setFloat("repeat_action_probability", probability)
        self.ale.setBool("truncate_on_loss_of_life", life)
        self.ale.setBool("color_averaging", averaging)
        self.ale.loadROM(rom)
        self.ours = Ours(
            lib,
            rom,
            name,
            seed=seed,
            repeat_action_probability=probability,
            frame_skip=frame_skip,
            max_episode_frames=max_frames,
            reward_min=low,
            reward_max=high,
            life_loss=int(life),
            colour_averaging=int(averaging),
        )
        self.compare("after loading")

    def compare(self, where, rewards=(0, 0), screens=True):
        ale, lib, env = self.ale, self.ours.lib, self.ours.env
        for what, theirs, mine in (
            ("reward", *rewards),
            ("lives", ale.lives(), lib.vcs_env_lives(env)),
            ("over", ale.game_over(with_truncation=False), bool(lib.vcs_env_over(env))),
            ("truncated", ale.game_truncated(), bool(lib.vcs_env_truncated(env))),
            ("done", ale.game_over(), bool(lib.vcs_env_done(env))),
            ("frame number", ale.getFrameNumber(), lib.vcs_env_frame_number(env)),
            ("episode frame number", ale.getEpisodeFrameNumber(), lib.vcs_env_episode_frame_number(env)),
        ):
            if theirs != mine:
                raise Difference(f"{where}: {what} is {mine}, not {theirs}")
        ram = ale.getRAM()
        if not np.array_equal(ram, self.ours.ram):
            raise Difference(f"{where}: RAM ${0x80 + np.flatnonzero(ram != self.ours.ram)[0]:02X}")
        if screens:
            for what, theirs in (
                ("indices", ale.getScreen),
                ("rgb", ale.getScreenRGB),
                ("gray", ale.getScreenGrayscale),
            ):
                if not np.array_equal(theirs(), self.ours.picture(what)):
                    raise Difference(f"{where}: screen, {what}")

    def reset(self, where="after a reset"):
        self.ale.reset_game()
        self.ours.lib.vcs_env_reset(self.ours.env)
        self.compare(where)

    def act(self, action, strength=1.0, screens=True):
        rewards = (
            self.ale.act(action, strength),
            self.ours.lib.vcs_env_act_strength(self.ours.env, action, 0, strength, 0.0),
        )
        self.frames += 1
        self.compare(f"step {self.frames}", rewards, screens)

    def play(self, steps, episodes, limit, stream, continuous=False, every=1, screens=True):
        """At least so many steps, on until that many episodes have ended, but no more than limit steps."""
        action, hold, ended, start = 0, 0, 0, self.frames
        while self.frames - start < limit and (self.frames - start < steps or ended < episodes):
            if self.ale.game_over():
                self.reset(f"after episode {ended + 1}, step {self.frames}")
                ended += 1
            if hold <= 0:
                action, hold = stream.randrange(18), stream.randrange(12)
            hold -= 1
            strength = float(np.float32(stream.uniform(-1.2, 1.2))) if continuous else 1.0
            self.act(action, strength, screens and self.frames % every == 0)
        return ended

    def close(self):
        self.ours.close()


def check_offers(game, plan):
    pair = Pair(game, 1)
    ale, ours = pair.ale, pair.ours
    for what, theirs in (
        ("minimal_actions", [a.value for a in ale.getMinimalActionSet()]),
        ("legal_actions", [a.value for a in ale.getLegalActionSet()]),
        ("modes", list(ale.getAvailableModes())),
        ("difficulties", list(ale.getAvailableDifficulties())),
    ):
        if theirs != ours.list(what):
            raise Difference(f"{what}: {ours.list(what)}, not {theirs}")
    pair.close()
    return 1


def check_episodes(game, plan):
    pair = Pair(game, 2)
    pair.play(plan.frames, plan.episodes, plan.limit, random.Random(plan.seed), every=plan.every)
    pair.close()
    return pair.frames


def check_sticky(game, plan):
    pair = Pair(game, plan.seed, probability=0.25)
    pair.play(plan.frames, plan.episodes, plan.limit // 2, random.Random(plan.seed + 1), every=plan.every)
    pair.close()
    return pair.frames


def check_settings(game, plan):
    """Everything at once, among it paddles turned by parts of a step, and pictures of two frames. Episodes must not be
    truncated while Double Dunk's mode is selected: ale-py would wait for ever."""
    max_frames = max(plan.frames // 2, 300)
    pair = Pair(game, 77, probability=0.4, frame_skip=4, max_frames=max_frames, clamp=(-1, 1), averaging=True)
    pair.play(max_frames // 4 + 10, 1, plan.frames, random.Random(plan.seed + 2), continuous=True, every=plan.every)
    pair.close()
    return pair.frames


def check_life(game, plan):
    pair = Pair(game, 5, probability=0.1, life=True, frame_skip=2)
    pair.play(plan.frames // 2, 3, plan.frames, random.Random(plan.seed + 3), every=plan.every)
    pair.close()
    return pair.frames


def check_variations(game, plan):
    pair = Pair(game, 9, probability=0.25)
    stream = random.Random(plan.seed + 4)
    modes, difficulties = pair.ours.list("modes"), pair.ours.list("difficulties")
    pairs = [(m, d) for m in modes for d in difficulties]
    if plan.some_variations and len(pairs) > plan.some_variations:
        pairs = stream.sample(pairs, plan.some_variations)
    for mode, difficulty in pairs:
        pair.ale.setMode(mode)
        pair.ale.setDifficulty(difficulty)
        pair.ours.configure(mode=mode, difficulty=difficulty)
        try:
            pair.reset()
            pair.play(plan.variation_frames, 0, plan.variation_frames, stream, every=plan.every)
        except Difference as difference:
            raise Difference(f"mode {mode}, difficulty {difficulty}: {difference}") from None
    pair.close()
    return pair.frames


def check_states(game, plan):
    """RAM is written and states come back. ale-py restores neither pictures, so those are not compared, nor the action
    that a sticky one repeats, so that one is NOOP whenever a state is taken or restored."""
    pair = Pair(game, 3, probability=0.25)
    stream = random.Random(plan.seed + 5)

    def rest():
        for _ in range(20):
            pair.act(0, screens=False)

    pair.play(50, 0, 50, stream, screens=False)
    for i in range(4):
        rest()
        saved = pair.ale.cloneState(include_rng=i % 2 == 0), pair.ours.clone()
        index, value = stream.randrange(128), stream.randrange(256)
        pair.ale.setRAM(index, value)
        pair.ours.require(pair.ours.lib.vcs_env_set_ram(pair.ours.env, index, value, pair.ours.message))
        pair.play(plan.frames // 20, 0, plan.frames // 20, stream, screens=False)
        rest()
        pair.ale.restoreState(saved[0])
        pair.ours.restore(saved[1], with_generators=i % 2 == 0)
        if pair.name != "atlantis2":  # whose lives ale-py does not restore before the next frame
            pair.compare("after restoring", screens=False)
        pair.play(plan.frames // 20, 0, plan.frames // 20, stream, screens=False)
    pair.close()
    return pair.frames


def check_vector(game, plan):
    """No-ops, FIRE, episodic life, reloading: one environment of ale-py's vector interface."""
    import ale_py._ale_py as native

    name, rom, lib = game
    steps = 0
    for seed, episodic in ((4, False), (1234567, True)):
        ours = Ours(
            lib,
            rom,
            name,
            seed=11,
            repeat_action_probability=0.25,
            frame_skip=1,
            noop_max=30,
            fire_reset=1,
            life_loss=2 * episodic,
        )
        minimal = ours.list("minimal_actions")
        vector = native.ALEVectorInterface(
            rom,
            1,
            frame_skip=1,
            stack_num=1,
            img_height=ours.gray.shape[0],
            img_width=160,
            maxpool=False,
            noop_max=30,
            use_fire_reset=True,
            episodic_life=episodic,
            reward_clipping=False,
            repeat_action_probability=0.25,
        )
        stream = random.Random(plan.seed + 6)

        def compare(observation, info, where, ours=ours):
            if not np.array_equal(np.asarray(observation).reshape(ours.gray.shape), ours.picture("gray")):
                raise Difference(f"{where}: screen")
            for what, key in (
                ("lives", "lives"),
                ("frame_number", "frame_number"),
                ("episode_frame_number", "episode_frame_number"),
            ):
                theirs, mine = int(np.asarray(info[key])[0]), getattr(lib, "vcs_env_" + what)(ours.env)
                if theirs != mine:
                    raise Difference(f"{where}: {what} is {mine}, not {theirs}")

        observation, info = vector.reset([0], [seed])
        lib.vcs_env_reload(ours.env, seed)
        lib.vcs_env_reset(ours.env)
        compare(observation, info, "reset")
        for step in range(plan.frames):
            index = stream.randrange(len(minimal))
            vector.send([index], [1.0])
            observation, reward, terminated, truncated, info = vector.recv()
            if lib.vcs_env_done(ours.env):
                lib.vcs_env_reset(ours.env)
                mine = 0
            else:
                mine = lib.vcs_env_act_strength(ours.env, minimal[index], 0, 1.0, 0.0)
            if int(np.asarray(reward)[0]) != mine:
                raise Difference(f"step {step}: reward {mine}, not {np.asarray(reward)[0]}")
            done = bool(np.asarray(terminated)[0] or np.asarray(truncated)[0])
            if done != bool(lib.vcs_env_done(ours.env)):
                raise Difference(f"step {step}: done is {not done}")
            if not done:
                compare(observation, info, f"step {step}")
            steps += 1
        ours.close()
    return steps


def check_fixed(game, plan):
    """Profile `fixed`: a reward found in random play is the same when the score before it is the largest there is, which
    in profile `ale` it is not; and Pitfall ends with its time."""
    name, rom, lib = game
    steps = 0
    if name == "pitfall" and not plan.quick:
        for profile, last in ((0, 73000), (2, 72100)):
            ours = Ours(lib, rom, name, profile, repeat_action_probability=0)
            lib.vcs_env_set_drawing(ours.env, 0)
            for frame in range(last):
                lib.vcs_env_act_strength(ours.env, 3 if frame < 5 else 0, 0, 1.0, 1.0)
            if bool(lib.vcs_env_over(ours.env)) != (profile == 2):
                raise Difference(f"profile {profile}: pitfall over is {lib.vcs_env_over(ours.env)}")
            ours.close()
            steps += last
    if name not in LARGEST_SCORES:
        return steps
    for profile in (0, 2):
        ours = Ours(lib, rom, name, profile, repeat_action_probability=0)
        lib.vcs_env_set_drawing(ours.env, 0)
        stream, minimal, saved, action, gain = random.Random(5), ours.list("minimal_actions"), [], 0, 0

        def run(actions, ours=ours):
            return [lib.vcs_env_act_strength(ours.env, a, 0, 1.0, 1.0) for a in actions]

        for frame in range(plan.limit):
            if lib.vcs_env_done(ours.env):
                lib.vcs_env_reset(ours.env)
                saved = []
            if frame % 20 == 0:
                saved = saved[-1:] + [(ours.clone(), [])]
            if frame % 7 == 0:
                action = stream.choice(minimal)
            for _, actions in saved:
                actions.append(action)
            steps += 1
            gain = run([action])[0]
            if gain > 0 and len(saved) == 2 and not lib.vcs_env_done(ours.env):
                break
        if gain <= 0 or len(saved) < 2 or lib.vcs_env_done(ours.env):
            ours.close()
            continue
        state, actions = saved[0]
        actions += [0] * 4
        ours.restore(state)
        plain = run(actions)[1:]
        ours.restore(state)
        for part in LARGEST_SCORES[name].split():
            cells, value = part.split("=")
            for cell in cells.split(","):
                ours.require(lib.vcs_env_set_ram(ours.env, int(cell, 16) - 0x80, int(value, 16), ours.message))
        counted = run(actions)[1:]
        right = sum(counted) == (1 if name in STOPS else sum(plain))
        if name == "defender":  # which loses tens when it wraps
            right = 0 < sum(counted) <= sum(plain)
        if right != (profile == 2):
            raise Difference(
                f"profile {profile}: rewards {[r for r in counted if r]}, without the largest score {[r for r in plain if r]}"
            )
        if profile == 2 and name in ("hero", "kung_fu_master") and not lib.vcs_env_over(ours.env):
            raise Difference("the game has stopped, but is not over")
        ours.close()
    return steps


SECTIONS = {
    "offers": check_offers,
    "episodes": check_episodes,
    "sticky": check_sticky,
    "settings": check_settings,
    "life": check_life,
    "variations": check_variations,
    "states": check_states,
    "vector": check_vector,
    "fixed": check_fixed,
}


def check(job):
    """One game; returns (name, what differs by section, steps compared)."""
    name, rom, library_path, plan = job
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    game, wrong, steps = (name, rom, library(library_path)), [], 0
    sections = plan.sections
    if plan.quick:  # each game three of them, in turn
        turn = sum(map(ord, name))
        sections = [plan.sections[(turn + i) % len(plan.sections)] for i in range(min(3, len(plan.sections)))]
    for section in sections:
        try:
            steps += SECTIONS[section](game, plan)
        except Difference as difference:
            wrong.append(f"{section}: {difference}")
    return name, "; ".join(wrong), steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: every game ale-py can start")
    parser.add_argument("--library", default="build/libdiffvcs.so")
    parser.add_argument("--quick", action="store_true", help="a minute on two cores: few steps, some of the sections")
    parser.add_argument("--frames", type=int, default=2000, help="steps of a section, or thereabouts")
    parser.add_argument("--episodes", type=int, default=10, help="go on until this many episodes have ended")
    parser.add_argument("--limit", type=int, default=20000, help="but no further than this")
    parser.add_argument("--variation-frames", type=int, default=1000)
    parser.add_argument(
        "--some-variations", type=int, default=0, help="at most this many modes and difficulties; 0: all"
    )
    parser.add_argument("--every", type=int, default=1, help="compare pictures at every so many steps")
    parser.add_argument("--sections", nargs="*", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    plan = parser.parse_args()
    if plan.quick:
        plan.frames, plan.episodes, plan.limit, plan.variation_frames, plan.some_variations, plan.every = (
            60,
            0,
            60,
            20,
            1,
            8,
        )
    names = plan.games or every_game()
    jobs = [(n, rom_path(n), plan.library, plan) for n in names]
    wrong = total = 0
    with multiprocessing.get_context("spawn").Pool(plan.jobs, maxtasksperchild=8) as pool:
        for name, difference, steps in pool.imap(check, jobs):
            wrong += bool(difference)
            total += steps
            print(f"{'not ok' if difference else 'ok'} {name}: {difference or f'{steps} steps equal'}", flush=True)
    print(f"{len(names) - wrong} of {len(names)} games equal over {total} steps")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
