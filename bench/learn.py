"""Frames a second of TorchVectorEnv with random actions: what a learner gets, with tensors on its device.

    python bench/learn.py cuda host:1024 device:4096 both:4096:2400 [--seconds 1] [--games pong breakout space_invaders]

A plan is where machines run, the number of environments and, with `both`, how many of them the host emulates. With --groups 2
environments are in two groups that are sent to in turn, so that the host's threads do not wait for copies.
"""

import argparse
import time

import torch

from diffvcs.learn import TorchVectorEnv

WARM_STEPS, FRAME_SKIP = 12, 4


def rate(game: str, device: str, plan: str, seconds: float, groups: int) -> float:
    """Frames a second of one plan."""
    emulation, count, *share = plan.split(":")
    settings = {"on_host": int(share[0]) // groups} if share else {}
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
    parser.add_argument("--games", nargs="+", default=["pong", "breakout", "space_invaders"])
    o = parser.parse_args()
    print("raw frames a second, millions\n" + f"{'plan':24}" + "".join(f"{game:>16}" for game in (*o.games, "mean")))
    for plan in o.plans:
        rates = [rate(game, o.device, plan, o.seconds, o.groups) / 1e6 for game in o.games]
        print(f"{plan:24}" + "".join(f"{r:16.3f}" for r in (*rates, sum(rates) / len(rates))), flush=True)


if __name__ == "__main__":
    main()
