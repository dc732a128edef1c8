"""Frames a second of TorchVectorEnv with random actions: what a learner gets, with tensors on its device.

    python bench/learn.py cuda host:1024 device:4096 both:4096:2400 [--seconds 1] [--games pong breakout space_invaders]

A plan is where machines run, the number of environments and, with `both`, how many of them the host emulates. With --groups 2
environments are in two groups that are sent to in turn, so that the host's threads do not wait for copies.

With `both` every step is one of all environments, so the host and the GPU wait for each other. The plan `apart:4096:1024` steps the
same two parts (TorchVectorEnv.parts) on their own, and each goes on as soon as it can: the host makes about three steps while the
GPU makes one, as in a learner with a rollout for each part. `apart:4096:1024:2` has two parts on the host, which emulates one of them
while Python and the GPU work on the results of the other; `apart:1024:1024:2` has nothing on the GPU. Frames are those of steps of any
part that were complete in the same time. Steps on the GPU are queued up to QUEUED ahead, as they are where actions are chosen there.
"""

import argparse
import collections
import contextlib
import time

import torch

from diffvcs.learn import TorchVectorEnv

WARM_STEPS, FRAME_SKIP, QUEUED = 12, 4, 3


class Part:
    """Environments on one stream of a GPU, with random actions. Steps that were queued are counted once they are complete."""

    def __init__(self, env: TorchVectorEnv, priority: int) -> None:
        self.env, self.on_gpu = env, env.device.type == "cuda"
        self.stream = torch.cuda.Stream(env.device, priority) if self.on_gpu else None
        self.actions = torch.randint(len(env.actions), (16, env.num_envs), device=env.device)
        self.steps, self.queue = 0, collections.deque()
        wait(env.device.type)
        with self.turn():
            env.reset(env.num_envs)

    def turn(self) -> contextlib.AbstractContextManager:
        return torch.cuda.stream(self.stream) if self.on_gpu else contextlib.nullcontext()

    def send(self) -> None:
        with self.turn():
            self.env.send(self.actions[self.steps % 16])

    def recv(self) -> None:
        with self.turn():
            self.env.recv()
        self.steps += 1
        self.queue.append(self.stream.record_event() if self.on_gpu else None)

    def completed(self) -> int:
        """Frames of the steps that were completed since the last call."""
        frames = 0
        while self.queue and (self.queue[0] is None or self.queue[0].query()):
            self.queue.popleft()
            frames += self.env.num_envs * FRAME_SKIP
        return frames


def rate_apart(game: str, device: str, count: int, on_host: int, parts: int, seconds: float, settings: dict) -> float:
    """Frames a second of parts that do not wait for each other."""
    place = {"emulation": "both", "on_host": on_host} if on_host < count else {"emulation": "host"}
    env = TorchVectorEnv(game, count, device=device, host_parts=parts, **place, **settings)
    each = [Part(one, 0 if one.emulation == "device" else -1) for one in env.parts or [env]]
    hosts = [part for part in each if part.env.emulation == "host"]  # their copies and stacks overtake steps on the GPU
    there = [part for part in each if part.env.emulation == "device"]
    for part in hosts:
        part.send()
    frames, began = 0, 0.0
    while not began or time.perf_counter() - began < seconds:
        if not began and hosts[0].steps >= WARM_STEPS and all(part.steps > 2 * QUEUED for part in there):
            sum(part.completed() for part in each)
            frames, began = 0, time.perf_counter()
        for part in hosts:
            for other in there:
                while len(other.queue) < QUEUED:
                    other.send()
                    other.recv()
            part.recv()
            part.send()
            frames += sum(one.completed() for one in each)
    spent = time.perf_counter() - began
    for part in hosts:
        part.recv()
    wait(device)
    env.close()
    return frames / spent


def rate(game: str, device: str, plan: str, seconds: float, groups: int, threads: int) -> float:
    """Frames a second of one plan."""
    emulation, count, *share = plan.split(":")
    settings = {"num_threads": threads} if threads else {}
    if emulation == "apart":
        on_host, parts = int(share[0]), int(share[1]) if len(share) > 1 else 1
        return rate_apart(game, device, int(count), on_host, parts, seconds, settings)
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
