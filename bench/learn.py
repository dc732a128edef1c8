"""Frames a second of TorchVectorEnv with random actions: what a learner gets, with tensors on its device.

    python bench/learn.py cuda host:1024 device:4096 both:4096:2400 [--seconds 1] [--games pong breakout space_invaders]

A plan is where machines run, the number of environments and, with `both`, how many of them the host emulates. With --groups 2
environments are in two groups that are sent to in turn, so that the host's threads do not wait for copies.

With `both` every step is one of all environments, so the host and the GPU wait for each other. `async:4096` is an
AsyncTorchVectorEnv: the host makes several steps while the GPU makes one. `async:4096:1024:2` has 1,024 environments on the host in
two parts, `async:1024:1024:2` has nothing on the GPU, `async:4096:0` nothing on the host. Frames are those of the results that were received.
"""

import argparse
import time

import torch

from diffvcs.learn import AsyncTorchVectorEnv, TorchVectorEnv

WARM_STEPS, WARM_SECONDS, FRAME_SKIP = 12, 0.2, 4


def rate_async(game: str, device: str, count: int, share: list[str], seconds: float, settings: dict) -> float:
    """Frames a second of parts that do not wait for each other. Actions are chosen on the device after each recv."""
    if share:
        on_host = int(share[0])
        settings["emulation"] = "device" if on_host == 0 else "both" if on_host < count else "host"
        settings |= {"on_host": on_host} if settings["emulation"] == "both" else {}
        settings |= {"host_parts": int(share[1])} if len(share) > 1 else {}
    env = AsyncTorchVectorEnv(game, count, device=device, **settings)
    number, first = len(env.actions), env.reset()
    env.send(torch.randint(number, first.shape[:1], device=device))
    frames, began, end = 0, 0.0, time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < end:
        rewards = env.recv()[1]
        env.send(torch.randint(number, rewards.shape, device=device))
        frames += len(rewards) * FRAME_SKIP
        if not began and time.perf_counter() >= end:
            finish(env)
            frames, began = 0, time.perf_counter()
            end = began + seconds
    finish(env)
    spent = time.perf_counter() - began
    env.close()
    return frames / spent


def finish(env: AsyncTorchVectorEnv) -> None:
    """Waits for steps that were received: with nothing on the host, recv does not wait for the GPU."""
    if env.emulation == "device":
        wait(env.device.type)


def rate(game: str, device: str, plan: str, seconds: float, groups: int, threads: int) -> float:
    """Frames a second of one plan."""
    emulation, count, *share = plan.split(":")
    settings = {"num_threads": threads} if threads else {}
    if emulation == "async":
        return rate_async(game, device, int(count), share, seconds, settings)
    if share:
        settings["on_host"] = int(share[0]) // groups
    envs = [
        TorchVectorEnv(game, int(count) // groups, device=device, emulation=emulation, **settings)
        for _ in range(groups)
    ]
    n = envs[0].num_envs
    actions = torch.randint(len(envs[0].actions), (16, n), device=device)
    for i, env in enumerate(envs):
        env.reset(i * n)
        env.send(actions[0])
    steps, began = 0, time.perf_counter()
    while steps <= WARM_STEPS or time.perf_counter() - began < seconds:
        if steps == WARM_STEPS:
            wait(device)
            began = time.perf_counter()
        for env in envs:
            env.recv()
            env.send(actions[steps % 16])
        steps += 1
    for env in envs:
        env.recv()
    wait(device)
    spent = time.perf_counter() - began
    for env in envs:
        env.close()
    return (steps - WARM_STEPS) * groups * n * FRAME_SKIP / spent


def wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--groups", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="of the host (0: as many as it has)")
    parser.add_argument("--games", nargs="+", default=["pong", "breakout", "space_invaders"])
    o = parser.parse_args()
    print("raw frames a second, millions\n" + f"{'plan':24}" + "".join(f"{game:>16}" for game in (*o.games, "mean")))
    for plan in o.plans:
        rates = [rate(game, o.device, plan, o.seconds, o.groups, o.threads) / 1e6 for game in o.games]
        print(f"{plan:24}" + "".join(f"{r:16.3f}" for r in (*rates, sum(rates) / len(rates))), flush=True)


if __name__ == "__main__":
    main()
