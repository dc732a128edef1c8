#!/usr/bin/env python3
"""Our machine and its peers in one run, interleaved, on the same games, actions and work: ratios and their spread.

  emulate  a frame without drawing                       against ale-py's ALEInterface
  screen   a frame and its picture in a caller's buffer  against ale-py's ALEInterface
  batch    84x84x4, frame skip 4, on all cores           against ale-py's AtariVectorEnv and against EnvPool

Every round gives each side the same actions, one side after the other; the order rotates from round to round. A ratio is
the peer's time divided by ours in one round. A game's ratio is the median over its rounds, with quartiles; the ratio of a
work is the geometric mean over games. After every round RAM and rewards must be equal on all sides, else the benchmark stops.

The main ratios compare Python with Python: a Python loop with one ctypes call per frame, and ale-py's own interface. Two more
columns are for information: our C API called function by function, and our side as a loop in C.
"""

import argparse
import ctypes
import gc
import math
import os
import random
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
from live import CartOptions  # noqa: E402

TEN = "pong breakout space_invaders seaquest ms_pacman qbert montezuma_revenge asteroids pitfall road_runner".split()
ALE = 0
WAYS = (("step", "screen"), ("calls", "screen"), ("loop", "screen"), ("step", "emulate"), ("loop", "emulate"))
OTHER_NAMES = {"videochess": "video_chess"}  # records' names that are not ale-py's
NAN = float("nan")


# ---- Our library through ctypes --------------------------------------------------------------------------------------


def declare(lib: ctypes.CDLL, functions: dict) -> ctypes.CDLL:
    for name, (result, *arguments) in functions.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def libraries(build: str) -> tuple[ctypes.CDLL, ctypes.CDLL]:
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    lib = declare(
        ctypes.CDLL(os.path.abspath(os.path.join(build, "libdiffvcs.so"))),
        {
            "vcs_cart_load": (number, ctypes.c_char_p, size, pointer, pointer, pointer),
            "vcs_cart_free": (None, pointer),
            "vcs_state_size": (size, pointer),
            "vcs_env_create": (number, pointer, pointer, pointer),
            "vcs_env_free": (None, pointer),
            "vcs_env_reset": (None, pointer),
            "vcs_env_act": (ctypes.c_int32, pointer, number, number),
            "vcs_env_over": (number, pointer),
            "vcs_env_height": (number, pointer),
            "vcs_env_screen_indices": (None, pointer, pointer),
            "vcs_env_set_drawing": (None, pointer, number),
            "vcs_env_ram": (pointer, pointer),
            "vcs_env_state_size": (size, pointer),
        },
    )
    helper = declare(
        ctypes.CDLL(os.path.abspath(os.path.join(build, "bench", "loop.so"))),
        {
            "bench_loop": (ctypes.c_int64, pointer, pointer, ctypes.c_int64, pointer),
            "bench_count": (ctypes.c_uint64, pointer, pointer, ctypes.c_int64, pointer),
        },
    )
    helper.bench_step.restype = ctypes.c_int32  # its arguments are C values already, which costs a third of a call less
    return lib, helper


class Cart:
    def __init__(self, lib: ctypes.CDLL, rom: str, name: str):
        self.lib, self.handle, self.message = lib, ctypes.c_void_p(), ctypes.create_string_buffer(256)
        with open(rom, "rb") as file:
            image = file.read()
        options = CartOptions(ALE, 0, 0, name.encode())
        self.require(
            lib.vcs_cart_load(image, len(image), ctypes.byref(options), ctypes.byref(self.handle), self.message)
        )

    def require(self, status: int) -> None:
        if status:
            raise RuntimeError(self.message.value.decode())

    def environment(self) -> int:
        env = ctypes.c_void_p()
        self.require(self.lib.vcs_env_create(self.handle, ctypes.byref(env), self.message))
        return env.value

    def close(self) -> None:
        self.lib.vcs_cart_free(self.handle)


# ---- One environment: the sides that play ----------------------------------------------------------------------------


class Ale:
    """ale-py as its users drive it."""

    def __init__(self, rom: str, screen: bool):
        import ale_py

        self.ale = ale_py.ALEInterface()
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.setInt("frame_skip", 1)
        self.ale.setInt("random_seed", 0)
        self.ale.loadROM(rom)
        self.screen, self.rewards = np.empty(self.ale.getScreenDims(), np.uint8) if screen else None, 0

    def round(self, actions: list[int], _: np.ndarray) -> None:
        act, over, reset, look = self.ale.act, self.ale.game_over, self.ale.reset_game, self.ale.getScreen
        screen, rewards = self.screen, 0
        if screen is None:
            for action in actions:
                rewards += act(action)
                if over():
                    reset()
        else:
            for action in actions:
                rewards += act(action)
                look(screen)
                if over():
                    reset()
        self.rewards += rewards

    def ram(self) -> bytes:
        return self.ale.getRAM().tobytes()

    def close(self) -> None:
        pass


class Ours:
    """A vcs_env_t: `way` is step (one call a frame), calls (our C API call by call) or loop (a loop in C)."""

    def __init__(self, cart: Cart, helper: ctypes.CDLL, screen: bool, way: str):
        self.lib, self.helper, self.env = cart.lib, helper, cart.environment()
        self.play, self.rewards = getattr(self, way), 0
        self.lib.vcs_env_set_drawing(self.env, int(screen))
        self.screen = np.empty((self.lib.vcs_env_height(self.env), 160), np.uint8) if screen else None
        self.pixels = self.screen.ctypes.data if screen else None

    def round(self, actions: list[int], array: np.ndarray) -> None:
        self.rewards += self.play(actions, array)

    def step(self, actions: list[int], _: np.ndarray) -> int:
        env, pixels, rewards = ctypes.c_void_p(self.env), ctypes.c_void_p(self.pixels), 0
        step = self.helper.bench_step
        for action in actions:
            rewards += step(env, action, pixels)
        return rewards

    def calls(self, actions: list[int], _: np.ndarray) -> int:
        lib, env, pixels, rewards = self.lib, self.env, self.pixels, 0
        act, over, look = lib.vcs_env_act, lib.vcs_env_over, lib.vcs_env_screen_indices
        for action in actions:
            rewards += act(env, action, 0)
            look(env, pixels)
            if over(env):
                lib.vcs_env_reset(env)
        return rewards

    def loop(self, _: list[int], array: np.ndarray) -> int:
        return self.helper.bench_loop(self.env, array.ctypes.data, len(array), self.pixels)

    def ram(self) -> bytes:
        return ctypes.string_at(self.lib.vcs_env_ram(self.env), 128)

    def close(self) -> None:
        self.lib.vcs_env_free(self.env)


def stream(minimal: list[int], seed: int):
    """Actions of the game's own, each held for up to a dozen frames."""
    dice = random.Random(seed)
    while True:
        action = dice.choice(minimal)
        for _ in range(dice.randrange(1, 13)):
            yield action


# ---- Rounds ----------------------------------------------------------------------------------------------------------


def in_turns(sides: dict, rounds: int, prepare, check, clock=time.perf_counter) -> dict[str, list[float]]:
    """Rounds in which every side plays the work of prepare(), in rotating order; returns seconds by side."""
    names, seconds = list(sides), {name: [] for name in sides}
    for turn in range(rounds):
        work, first = prepare(), turn % len(names)
        for name in names[first:] + names[:first]:
            start = clock()
            sides[name].round(*work)
            seconds[name].append(clock() - start)
        check(f"round {turn + 1}")
    return seconds


class Ratio:
    """The peer's time divided by ours, round by round."""

    def __init__(self, peer: list[float], ours: list[float]):
        self.rounds = [p / o for p, o in zip(peer, ours)]
        self.median = statistics.median(self.rounds) if self.rounds else NAN

    def quartiles(self) -> str:
        if len(self.rounds) < 2:
            return ""
        low, _, high = statistics.quantiles(self.rounds, n=4, method="inclusive")
        return f"{low:.2f}-{high:.2f}"


def geometric(values: list[float]) -> float:
    values = [v for v in values if not math.isnan(v)]
    return math.exp(statistics.fmean(map(math.log, values))) if values else NAN


def spread(found: list[Ratio]) -> str:
    """The geometric mean over games, its least and greatest value over rounds, and the slowest game's median."""
    found = [ratio for ratio in found if ratio.rounds]
    if not found:
        return "nan"
    by_round = [geometric(list(values)) for values in zip(*(ratio.rounds for ratio in found))]
    medians = [ratio.median for ratio in found]
    return (
        f"{geometric(medians):.2f} ({min(by_round):.2f} to {max(by_round):.2f} by round, least game {min(medians):.2f})"
    )


def speed(frames: int, seconds: list[float]) -> str:
    return f"{frames / statistics.median(seconds):,.0f}" if seconds else "nan"


def row(widths: list[int], cells: list[str]) -> None:
    print(
        "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (w, c) in enumerate(zip(widths, cells))) + " |",
        flush=True,
    )


def heading(cells: list[str]) -> list[int]:
    widths = [18] + [max(len(cell), 11) for cell in cells[1:]]
    row(widths, cells)
    print("|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|")
    return widths


def single(rom: str, name: str, lib: ctypes.CDLL, helper: ctypes.CDLL, plan: argparse.Namespace) -> dict:
    """Work `screen` and `emulate` in one game."""
    clock = time.process_time if plan.processor_time else time.perf_counter
    cart = Cart(lib, rom, name)
    sides = {"ale screen": Ale(rom, True), "ale emulate": Ale(rom, False)}
    for way, work in WAYS:
        sides[f"{way} {work}"] = Ours(cart, helper, work == "screen", way)
    counter = Ours(cart, helper, False, "loop")
    source = stream([action.value for action in sides["ale screen"].ale.getMinimalActionSet()], seed=1)

    def prepare() -> tuple[list[int], np.ndarray]:
        actions = [next(source) for _ in range(frames)]
        return actions, np.array(actions, np.uint8)

    def check(where: str) -> None:
        if len({(side.ram(), side.rewards) for side in sides.values()}) > 1:
            raise RuntimeError(f"{name}, {where}: RAM or rewards differ")
        if len({side.screen.tobytes() for side in sides.values() if side.screen is not None}) > 1:
            raise RuntimeError(f"{name}, {where}: pictures differ")

    frames = 150
    warm_up = prepare()
    start = clock()
    sides["ale screen"].round(*warm_up)
    frames = max(100, int(frames * plan.seconds / (clock() - start)))
    for key, side in sides.items():
        if key != "ale screen":
            side.round(*warm_up)
    check("warming up")
    instructions = helper.bench_count(counter.env, warm_up[1].ctypes.data, len(warm_up[1]), None) / len(warm_up[1])
    times = in_turns(sides, plan.rounds, prepare, check, clock)
    for side in [*sides.values(), counter]:
        side.close()
    cart.close()
    return {"frames": frames, "times": times, "instructions": instructions}


# ---- Batches: the sides that play ------------------------------------------------------------------------------------


class BatchOptions(ctypes.Structure):
    _fields_ = (
        [(n, ctypes.c_int32) for n in "envs batch_size threads device width height stack frame_skip noop_max".split()]
        + [("max_episode_frames", ctypes.c_int32), ("repeat_action_probability", ctypes.c_float)]
        + [(n, ctypes.c_uint8) for n in "autoreset rgb max_pool fire_reset episodic_life life_loss_info".split()]
        + [(n, ctypes.c_uint8) for n in "reward_clipping full_action_space stack_in_place sound".split()]
        + [("reserved", ctypes.c_uint64 * 8)]
    )


class BatchResults(ctypes.Structure):
    _fields_ = [
        (n, ctypes.c_void_p)
        for n in "observations final_observations env_ids rewards lives frame_numbers episode_frame_numbers "
        "terminated truncated ram sound".split()
    ]


def has_batches(lib: ctypes.CDLL) -> bool:
    if not hasattr(lib, "vcs_batch_create"):
        return False
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    declare(
        lib,
        {
            "vcs_batch_defaults": (None, pointer),
            "vcs_batch_create": (ctypes.c_int, pointer, number, pointer, pointer, pointer, pointer),
            "vcs_batch_free": (None, pointer),
            "vcs_batch_reset": (ctypes.c_int, pointer, pointer, pointer, number, pointer, pointer),
            "vcs_batch_step": (ctypes.c_int, pointer, pointer, pointer, pointer, pointer),
            "vcs_batch_bytes": (ctypes.c_size_t, pointer, pointer),
        },
    )
    return True


class Batch:
    """A batch of one game: 84x84, gray, stack 4, frame skip 4, the maximum of two frames, clipped rewards, no-op
    starts, FIRE at resets. Rounds are arrays of actions, a row a step; results are those of the last step."""

    observations: np.ndarray
    rewards: np.ndarray

    def round(self, actions: np.ndarray) -> None:
        step = self.step
        for row_of_actions in actions:
            step(row_of_actions)


class OurBatch(Batch):
    """vcs_batch_step into our own arrays, with all results."""

    def __init__(self, cart: Cart, envs: int, threads: int):
        lib, self.cart, self.batch, self.options = cart.lib, cart, ctypes.c_void_p(), BatchOptions()
        lib.vcs_batch_defaults(ctypes.byref(self.options))
        if (self.options.width, self.options.stack, self.options.frame_skip, self.options.reward_clipping) != (
            84,
            4,
            4,
            1,
        ):
            raise RuntimeError("vcs_batch_options_t is not as this script has it")
        self.options.envs, self.options.threads = envs, threads
        carts = (ctypes.c_void_p * 1)(cart.handle)
        options, batch = ctypes.byref(self.options), ctypes.byref(self.batch)
        cart.require(lib.vcs_batch_create(carts, 1, None, options, batch, cart.message))
        self.observations = np.zeros((envs, 4, 84, 84), np.uint8)
        self.numbers = np.zeros((5, envs), np.int32)
        self.rewards, self.flags = self.numbers[1], np.zeros((2, envs), np.uint8)
        self.results = BatchResults(self.observations.ctypes.data, None)
        for i, name in enumerate("env_ids rewards lives frame_numbers episode_frame_numbers".split()):
            setattr(self.results, name, self.numbers[i].ctypes.data)
        self.results.terminated, self.results.truncated = self.flags[0].ctypes.data, self.flags[1].ctypes.data
        self.call, self.pointer, self.message = lib.vcs_batch_step, ctypes.byref(self.results), cart.message
        seeds = np.arange(envs, dtype=np.int32)
        cart.require(lib.vcs_batch_reset(self.batch, None, seeds.ctypes.data, envs, self.pointer, cart.message))

    def step(self, actions: np.ndarray) -> None:
        if self.call(self.batch, actions.ctypes.data, None, self.pointer, self.message):
            raise RuntimeError(self.message.value.decode())

    def bytes_each(self) -> tuple[int, int]:
        by_thread = ctypes.c_size_t()
        return self.cart.lib.vcs_batch_bytes(self.batch, ctypes.byref(by_thread)), by_thread.value

    def close(self) -> None:
        self.cart.lib.vcs_batch_free(self.batch)


class AleVector(Batch):
    def __init__(self, name: str, envs: int, threads: int):
        from ale_py.vector_env import AtariVectorEnv

        self.vector = AtariVectorEnv(game=name, num_envs=envs, num_threads=threads)
        self.observations, _ = self.vector.reset(seed=0)
        self.action_count = int(self.vector.single_action_space.n)

    def step(self, actions: np.ndarray) -> None:
        self.observations, self.rewards = self.vector.step(actions)[:2]

    def close(self) -> None:
        self.vector.close()


class EnvPool(Batch):
    def __init__(self, name: str, envs: int, threads: int):
        import envpool

        task = "".join(word.capitalize() for word in name.split("_")) + "-v5"
        self.pool = envpool.make(
            task,
            env_type="gymnasium",
            num_envs=envs,
            num_threads=threads,
            seed=0,
            reward_clip=True,
            frame_skip=4,
            stack_num=4,
        )
        self.observations, _ = self.pool.reset()
        self.last_action = int(self.pool.action_space.n) - 1

    def step(self, actions: np.ndarray) -> None:
        self.observations, self.rewards = self.pool.step(actions)[:2]

    def round(self, actions: np.ndarray) -> None:
        super().round(np.minimum(actions, self.last_action))

    def close(self) -> None:
        self.pool.close()


def batches(rom: str, name: str, lib: ctypes.CDLL, plan: argparse.Namespace) -> dict:
    """Work `batch` in one game. A side that cannot be made has no times; a reason is in `missing`."""
    cart, sides, made, missing = Cart(lib, rom, name), {}, {}, {}
    makers = {
        "alevec": lambda: AleVector(name, plan.envs, plan.threads),
        "envpool": lambda: EnvPool(name, plan.envs, plan.threads),
        "ours": lambda: OurBatch(cart, plan.envs, plan.threads),
    }
    if not has_batches(lib):
        del makers["ours"]
        missing["ours"] = "the library has no vcs_batch_create"
    for key, make in makers.items():
        start = time.perf_counter()
        try:
            sides[key] = make()
        except Exception as error:  # whatever a peer raises: it is missing then, and the output says why
            missing[key] = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        made[key] = time.perf_counter() - start
    dice = np.random.default_rng(1)
    actions = sides["alevec"].action_count if "alevec" in sides else 1

    def prepare() -> tuple[np.ndarray]:
        return (dice.integers(actions, size=(steps, plan.envs), dtype=np.int32),)

    def check(where: str) -> None:
        if "ours" in sides and "alevec" in sides:
            ours, theirs = sides["ours"], sides["alevec"]
            if not (
                np.array_equal(ours.observations, theirs.observations) and np.array_equal(ours.rewards, theirs.rewards)
            ):
                raise RuntimeError(f"{name}, {where}: observations or rewards are not AtariVectorEnv's")

    steps = 3
    warm_up, pace = prepare(), 1.0
    for side in sides.values():
        start = time.perf_counter()
        side.round(*warm_up)
        pace = min(pace, (time.perf_counter() - start) / steps) if side is not sides.get("ours") else pace
    check("warming up")
    steps = max(4, int(plan.batch_seconds / pace))
    times = {key: [] for key in ("alevec", "envpool", "ours")} | in_turns(sides, plan.batch_rounds, prepare, check)
    for side in sides.values():
        side.close()
    cart.close()
    return {"frames": steps * plan.envs * 4, "times": times, "made": made, "missing": missing}


# ---- Start-up and memory ---------------------------------------------------------------------------------------------


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def start_up(rom: str, name: str, lib: ctypes.CDLL, threads: int, count: int = 1000) -> None:
    trim, cart = ctypes.CDLL(None).malloc_trim, Cart(lib, rom, name)
    if has_batches(lib):
        trim(0)
        before, start = resident(), time.perf_counter()
        batch = OurBatch(cart, count, threads)
        seconds, grown = time.perf_counter() - start, resident() - before
        (each, by_thread), seen = batch.bytes_each(), batch.observations.nbytes
        print(f"start-up, a batch of {count:,} of {name} with its first reset, {threads} threads: {seconds:.2f} s")
        print(
            f"memory in a batch: {each:,} bytes by environment, {by_thread:,} by thread; resident "
            f"{grown / count / 1024:.1f} KiB each, {seen / count / 1024:.1f} of it the caller's observations"
        )
        batch.close()
        del batch
    trim(0)
    before, start = resident(), time.perf_counter()
    envs = [cart.environment() for _ in range(count)]
    seconds, grown = time.perf_counter() - start, resident() - before
    for env in envs:
        lib.vcs_env_act(env, 0, 0)
    drawn = resident() - before
    machine, state = lib.vcs_state_size(cart.handle), lib.vcs_env_state_size(envs[0])
    print(f"start-up, {count:,} environments of {name} one by one: {seconds:.2f} s")
    print(
        f"memory: machine {machine:,} bytes, state of an environment {state:,}; resident by environment "
        f"{grown / count / 1024:.1f} KiB, {drawn / count / 1024:.1f} KiB once it has drawn a frame"
    )
    for env in envs:
        lib.vcs_env_free(env)
    start = time.perf_counter()
    for _ in range(5):
        Ale(rom, False)
    print(f"start-up, ale-py: {(time.perf_counter() - start) * count / 5:.1f} s for {count:,}, from 5")
    cart.close()


# ---- The report ------------------------------------------------------------------------------------------------------


def report_single(
    games: list[tuple[str, str]], lib: ctypes.CDLL, helper: ctypes.CDLL, plan: argparse.Namespace
) -> dict[str, float]:
    print(
        f"\none environment, frames a second; ratio: median and quartiles of {plan.rounds} rounds of {plan.seconds} s"
    )
    widths = heading(
        "game|ale-py screen|ours screen|ratio|quartiles|ale-py emulate|ours emulate|ratio|quartiles|6507 MIPS".split(
            "|"
        )
    )
    found: dict[str, list[Ratio]] = {f"{way} {work}": [] for way, work in WAYS}
    mips = []
    for name, rom in games:
        result = single(rom, name, lib, helper, plan)
        times, frames = result["times"], result["frames"]
        for key, ratios in found.items():
            ratios.append(Ratio(times["ale " + key.split()[1]], times[key]))
        mips.append(result["instructions"] * frames / statistics.median(times["loop emulate"]) / 1e6)
        cells = [name]
        for work in ("screen", "emulate"):
            ratio = found["step " + work][-1]
            cells += [
                speed(frames, times["ale " + work]),
                speed(frames, times["step " + work]),
                f"{ratio.median:.2f}",
                ratio.quartiles(),
            ]
        row(widths, cells + [f"{mips[-1]:.1f}"])
    print(f"screen, Python to Python:        {spread(found['step screen'])}")
    print(f"screen, ours call by call:       {spread(found['calls screen'])}")
    print(f"screen, ours in a loop in C:     {spread(found['loop screen'])}")
    print(f"emulate, Python to Python:       {spread(found['step emulate'])}")
    print(f"emulate, ours in a loop in C:    {spread(found['loop emulate'])}")
    least, most = min(mips), max(mips)
    print(f"6507 MIPS, emulate, ours in C:   {geometric(mips):.1f} ({least:.1f} to {most:.1f} by game)")
    return {work: geometric([r.median for r in found["step " + work]]) for work in ("screen", "emulate")}


def report_batches(games: list[tuple[str, str]], lib: ctypes.CDLL, plan: argparse.Namespace) -> dict[str, float]:
    print(
        f"\nbatches of {plan.envs}, {plan.threads} threads, 84x84x4, frame skip 4, emulated frames a second; "
        f"{plan.batch_rounds} rounds of {plan.batch_seconds} s"
    )
    widths = heading("game|AtariVectorEnv|EnvPool|ours|by AtariVectorEnv|quartiles|by EnvPool|quartiles".split("|"))
    found: dict[str, list[Ratio]] = {"alevec": [], "envpool": []}
    made: dict[str, list[float]] = {"alevec": [], "envpool": [], "ours": []}
    reasons: dict[str, list[str]] = {}
    for name, rom in games:
        result = batches(rom, name, lib, plan)
        times, cells = result["times"], []
        for peer, ratios in found.items():
            ratios.append(Ratio(times[peer], times["ours"]))
            cells += [f"{ratios[-1].median:.2f}", ratios[-1].quartiles()]
        for key, seconds in result["made"].items():
            made[key].append(seconds)
        for key, reason in result["missing"].items():
            reasons.setdefault(f"{key}: {reason}", []).append(name)
        row(widths, [name] + [speed(result["frames"], times[key]) for key in ("alevec", "envpool", "ours")] + cells)
    for reason, names in reasons.items():
        print(f"nan: {reason} ({', '.join(names) if len(names) < len(games) else 'all games'})")
    print(f"batch against AtariVectorEnv:    {spread(found['alevec'])}")
    print(f"batch against EnvPool:           {spread(found['envpool'])}")
    started = [f"{key} {statistics.median(seconds):.2f} s" for key, seconds in made.items() if seconds]
    print("start-up of a batch with its first reset, median: " + ", ".join(started))
    return {peer: geometric([r.median for r in ratios]) for peer, ratios in found.items()}


def processor() -> str:
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="names; default: the ten games, with --full all 64")
    parser.add_argument("--build", default="build", help="where libdiffvcs.so and bench/loop.so are")
    parser.add_argument("--full", action="store_true", help="all games, more rounds, counts by callgrind")
    parser.add_argument("--work", default="single,batch,start", help="which parts: single, batch, start, callgrind")
    parser.add_argument("--rounds", type=int, help="one environment: default 7, with --full 15")
    parser.add_argument("--seconds", type=float, default=0.08, help="one environment: length of ale-py's round")
    parser.add_argument(
        "--processor-time", action="store_true", help="one environment: count seconds of the processor (a busy machine)"
    )
    parser.add_argument("--batch-rounds", type=int, help="batches: default 5, with --full 9")
    parser.add_argument("--batch-seconds", type=float, default=0.15, help="batches: length of the faster peer's round")
    parser.add_argument("--envs", type=int, help="environments in a batch: default 16, with --full 32")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of a batch; default: all cores"
    )
    plan = parser.parse_args()
    plan.rounds = plan.rounds or (15 if plan.full else 7)
    plan.batch_rounds = plan.batch_rounds or (9 if plan.full else 5)
    plan.envs = plan.envs or (32 if plan.full else 16)
    work = set(plan.work.split(",")) | ({"callgrind"} if plan.full else set())
    try:
        import ale_py
    except ImportError:
        print("bench: ale-py is not installed here: there is nothing to compare with", file=sys.stderr)
        return 1
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    roms = os.path.join(os.path.dirname(ale_py.__file__), "roms")
    golden = os.path.join(HERE, "..", "tests", "golden", "xitari")
    names = plan.games or (sorted({f.split(".")[0] for f in os.listdir(golden)}) if plan.full else TEN)
    names = [OTHER_NAMES.get(name, name) for name in names]
    games = [(name, os.path.join(roms, name + ".bin")) for name in names]
    lib, helper = libraries(plan.build)
    machine = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}; {time.strftime('%Y-%m-%d')}; {versions()}")
    one, many = {}, {}
    gc.disable()
    if "single" in work:
        one = report_single(games, lib, helper, plan)
    if "batch" in work:
        many = report_batches(games, lib, plan)
    if "start" in work:
        print()
        start_up(games[0][1], games[0][0], lib, plan.threads)
    if "callgrind" in work:
        print(flush=True)
        subprocess.run([os.path.join(HERE, "callgrind.sh"), roms], check=False)
    print(
        f"ratios: single={one.get('screen', NAN):.2f} emulate={one.get('emulate', NAN):.2f} "
        f"batch_vs_alevec={many.get('alevec', NAN):.2f} batch_vs_envpool={many.get('envpool', NAN):.2f}"
    )
    return 0


def versions() -> str:
    from importlib.metadata import PackageNotFoundError, version

    found = [f"Python {sys.version.split()[0]}"]
    for package in ("ale-py", "envpool", "numpy"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


if __name__ == "__main__":
    sys.exit(main())
