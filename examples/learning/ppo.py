"""Train an agent by PPO: one file, on a GPU or on the CPU.

    python ppo.py pong --until 18                       # pictures; a GPU if there is one
    python ppo.py pong --observe ram --cells 49,54,51,50 --device cpu --envs 32 --gamma 0.98 --rate 1e-3 --clip 0.2
    python ppo.py breakout --until 400 --minutes 10 --seed 2

The agent acts in all environments for some steps, which makes a rollout, and learns from it for some epochs (Schulman et
al. 2017). Everything overlaps: environments are in groups, and the host emulates one group while the GPU chooses actions
for another; with --lag 1 the GPU meanwhile learns from the last rollout, so the policy that acts is one rollout older than
the one that learns. PPO's trust region is then around the policy as learning from a rollout begins, and samples are weighted
by how much more likely it is to act as the older one did (Hilton et al. 2022). On a GPU acting and learning are CUDA graphs, and numbers are
bfloat16 where the hardware multiplies matrices.

Ends when the mean score of the last 100 games reaches --until, or after --minutes or --frames. The folder --out holds curve.csv (time,
frames, score), curve.png (with matplotlib), agent.pt (the checkpoint, written every half a minute and continued from by
--resume), game.mp4 (with ffmpeg) and result.json. Scores are those of the game, of whole games; the agent sees their signs.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import torch
from torch import nn

import diffvcs
from diffvcs.learn import TorchVectorEnv


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("game", help="a game's name, or the path of its ROM")
    add("--until", type=float, default=None, metavar="SCORE", help="stop at this mean of 100 games")
    add("--minutes", type=float, default=10, help="stop after this time (default 10)")
    add("--frames", type=float, default=None, help="stop after so many frames")
    add("--seed", type=int, default=1)
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="cuda, cuda:1 or cpu")
    add("--observe", choices=("image", "ram"), default="image")
    add(
        "--cells",
        type=lambda text: [int(word) for word in text.split(",")],
        metavar="BYTE,...",
        help="with --observe ram: only these bytes and those of the step before, as numbers (default: all, as bits)",
    )
    add("--emulation", choices=("auto", "host", "device", "both"), default="auto", help="where machines run")
    add(
        "--threads", type=int, default=None, help="threads of PyTorch (default: 1 with --cells, whose layers are small)"
    )
    add("--envs", type=int, default=256)
    add(
        "--groups",
        type=int,
        default=None,
        help="groups of environments (default: 2 on a GPU with emulation on the host, else 1)",
    )
    add("--steps", type=int, default=32, help="steps of a rollout")
    add("--minibatches", type=int, default=8)
    add("--epochs", type=int, default=4)
    add("--rate", type=float, default=4e-4, help="Adam's learning rate")
    add(
        "--decay",
        type=float,
        default=0,
        metavar="FRAMES",
        help="let the rate and the weight of entropy fall to a tenth over so many frames (0: constant)",
    )
    add(
        "--lag",
        type=int,
        choices=(0, 1),
        default=1,
        help="1: learn from a rollout while the next one is made (default)",
    )
    add("--gamma", type=float, default=0.99)
    add("--trace", type=float, default=0.95, help="lambda of generalised advantage estimation")
    add("--clip", type=float, default=0.1)
    add("--entropy", type=float, default=0.01)
    add("--sticky", type=float, default=0.0, help="probability of sticky actions")
    add("--out", type=pathlib.Path, default=None, help="folder of the results (default runs/GAME-SEED)")
    add("--resume", action="store_true", help="continue from agent.pt in --out")
    add("--no-video", action="store_true")
    return parser.parse_args()


def weights(layer: nn.Module, gain: float = 2**0.5) -> nn.Module:
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def fold(seen: torch.Tensor) -> torch.Tensor:
    """Pictures (n x stack x height x width) as n x height/4 x width/4 blocks of stack x 4 x 4 pixels, a view; RAM as it is. A
    convolution of 8 x 8 pixels in steps of 4 is one of 2 x 2 blocks, and a GPU computes that faster."""
    if seen.dim() == 2:
        return seen
    n, stack, height, width = seen.shape
    return seen.view(n, stack, height // 4, 4, width // 4, 4).permute(0, 2, 4, 1, 3, 5)


class Agent(nn.Module):
    """Policy and value: the network of Mnih et al. (2015) on folded pictures, two layers on RAM or on some bytes of it."""

    def __init__(self, shape: tuple[int, ...], actions: int, cells: int) -> None:
        super().__init__()
        self.cells = cells  # of RAM; 0: all
        if cells:
            self.body = nn.Sequential(
                weights(nn.Linear(2 * cells, 64)), nn.Tanh(), weights(nn.Linear(64, 64)), nn.Tanh()
            )
        elif len(shape) == 1:
            self.body = nn.Sequential(
                weights(nn.Linear(8 * shape[0], 512)), nn.ReLU(), weights(nn.Linear(512, 256)), nn.ReLU()
            )
            self.register_buffer("bits", torch.arange(8, dtype=torch.uint8))
        else:
            self.body = nn.Sequential(
                weights(nn.Conv2d(16 * shape[2], 32, 2)), nn.ReLU(), weights(nn.Conv2d(32, 64, 4, 2)), nn.ReLU(),
                weights(nn.Conv2d(64, 64, 3, 1)), nn.ReLU(), nn.Flatten(), weights(nn.Linear(3136, 512)), nn.ReLU(),
            )  # fmt: skip
        width = 64 if cells else 256 if len(shape) == 1 else 512
        self.policy = weights(nn.Linear(width, actions), 0.01)
        self.value = weights(nn.Linear(width, 1), 1.0)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self.cells:  # now, and how they changed
            now, before = seen.float().split(self.cells, 1)
            x = torch.cat([now / 127.5 - 1, ((now - before) / 8).clamp(-1, 1)], 1)
        elif seen.dim() == 2:
            x = ((seen[..., None] >> self.bits) & 1).flatten(1).float() - 0.5
        else:
            numbers = torch.bfloat16 if seen.is_cuda else torch.float32  # bfloat16 has 0 to 255 exactly
            x = seen.flatten(3).to(numbers).permute(0, 3, 1, 2) / 255  # channels last in memory
        with torch.autocast(seen.device.type, torch.bfloat16, enabled=seen.is_cuda):
            features = self.body(x)
        features = features.float()
        return self.policy(features), self.value(features)[:, 0]


class Rollout:
    """What happened in `steps` steps of all environments, as tensors (steps x environments x ...)."""

    def __init__(self, steps: int, n: int, shape: tuple[int, ...], device: torch.device) -> None:
        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        self.seen = zeros(steps, n, *shape, dtype=torch.uint8)
        self.action = zeros(steps, n, dtype=torch.int64)
        self.likelihood, self.value, self.reward, self.alive = (zeros(steps, n) for _ in range(4))
        self.advantage, self.target = zeros(steps, n), zeros(steps, n)
        self.near, self.weight = zeros(steps, n), zeros(steps, n)  # likelihood as learning begins, relative to acting

    def judge(self, last_value: torch.Tensor, gamma: float, trace: float) -> None:
        """Generalised advantage estimation (Schulman et al. 2016), backwards in time; advantages with mean 0, deviation 1."""
        following, advantage = last_value, torch.zeros_like(last_value)
        for t in reversed(range(len(self.reward))):
            surprise = self.reward[t] + gamma * self.alive[t] * following - self.value[t]
            advantage = surprise + gamma * trace * self.alive[t] * advantage
            self.advantage[t], following = advantage, self.value[t]
        self.target.copy_(self.advantage + self.value)
        self.advantage.copy_((self.advantage - self.advantage.mean()) / (self.advantage.std() + 1e-8))


class Graph:
    """A function without arguments whose work on the GPU is recorded at its first call and replayed at later ones. On the
    CPU it is just called."""

    def __init__(self, function, device: torch.device) -> None:
        self.function, self.on_gpu, self.graph, self.calls = function, device.type == "cuda", None, 0
        # Graphs that run at the same time must be recorded on different streams: cuBLAS has one workspace for each stream.
        self.stream = torch.cuda.Stream() if self.on_gpu else None

    def __call__(self):
        self.calls += 1
        if not self.on_gpu or self.calls <= 3:  # the first calls let libraries choose their kernels
            self.result = self.function()
        elif self.graph is None:
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=self.stream):
                self.result = self.function()
            self.graph.replay()
        else:
            self.graph.replay()
        return self.result


class Learner:
    """PPO's updates of one network from one minibatch at a time."""

    def __init__(self, agent: Agent, rollouts: list[Rollout], o: argparse.Namespace, device: torch.device) -> None:
        self.agent, self.o = agent, o
        on_gpu = device.type == "cuda"
        self.rate = torch.tensor(o.rate, device=device) if on_gpu else o.rate
        self.entropy = torch.tensor(o.entropy, device=device)
        self.optimizer = torch.optim.Adam(agent.parameters(), self.rate, eps=1e-5, fused=on_gpu, capturable=on_gpu)
        self.total = o.envs * o.steps
        self.rows = torch.zeros(self.total // o.minibatches, dtype=torch.int64, device=device)
        self.device = device
        self.updates = [Graph(lambda r=r: self.update(r), device) for r in rollouts]
        self.beginnings = [Graph(lambda r=r: self.begin(r), device) for r in rollouts]

    @torch.no_grad()
    def begin(self, r: Rollout) -> None:
        """Notes how likely the present policy is to act as the rollout did."""
        columns = (column.flatten(0, 1).split(1024) for column in (r.seen, r.action, r.likelihood, r.near, r.weight))
        for seen, action, old, near, weight in zip(*columns):
            near.copy_(self.agent(seen)[0].log_softmax(-1).gather(1, action[:, None])[:, 0])
            weight.copy_((near - old).exp().clamp(max=2))

    def update(self, r: Rollout) -> None:
        """One step of Adam from the rows of a rollout whose numbers are in self.rows."""
        o, rows = self.o, self.rows
        logits, value = self.agent(r.seen.flatten(0, 1)[rows])
        likelihoods = logits.log_softmax(-1)
        likelihood = likelihoods.gather(1, r.action.flatten()[rows, None])[:, 0]
        entropy = -(likelihoods.exp() * likelihoods).sum(-1).mean()
        ratio = (likelihood - r.near.flatten()[rows]).exp()
        advantage = r.advantage.flatten()[rows] * r.weight.flatten()[rows]
        gain = torch.min(ratio * advantage, ratio.clamp(1 - o.clip, 1 + o.clip) * advantage).mean()
        error = (value - r.target.flatten()[rows]).square().mean() / 2
        loss = -gain + 0.5 * error - self.entropy * entropy
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
        self.optimizer.step()

    def tasks(self, which: int):
        """The updates of one rollout, as a generator: each `next` queues one minibatch's."""
        self.beginnings[which]()
        for _ in range(self.o.epochs):
            order = torch.randperm(self.total, device=self.device)
            for rows in order.split(self.total // self.o.minibatches):
                self.rows.copy_(rows)
                self.updates[which]()
                yield

    def decay(self, part: float) -> None:
        """Sets the rate and the weight of entropy to this part of what they were at the beginning."""
        self.entropy.fill_(part * self.o.entropy)
        if isinstance(self.rate, torch.Tensor):
            self.rate.fill_(part * self.o.rate)
        else:
            for group in self.optimizer.param_groups:
                group["lr"] = part * self.o.rate


class Group:
    """Some environments, and the policy that acts in them. Columns `own` of a rollout are theirs."""

    def __init__(self, env: TorchVectorEnv, own: slice, actor: Agent, seed: int, cells: list[int] | None) -> None:
        self.env, self.own, self.actor, self.cells = env, own, actor, cells
        self.seen = self.before = env.reset(seed)
        self.now = self.look().contiguous()  # what a CUDA graph reads
        self.acting = Graph(self.act, self.now.device)
        self.sent: tuple[Rollout, int] | None = None
        self.finished: list[tuple[torch.Tensor, torch.Tensor]] = []

    @torch.no_grad()
    def act(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        logits, value = self.actor(self.now)
        likelihoods = logits.log_softmax(-1)
        noise = torch.rand_like(logits).clamp_(1e-20).log_().neg_().log_().neg_()  # Gumbel: the largest is a sample
        action = (logits + noise).argmax(-1)
        return action, likelihoods.gather(1, action[:, None])[:, 0], value

    def look(self) -> torch.Tensor:
        """What the network sees."""
        if self.cells:
            return torch.cat([self.seen[:, self.cells], self.before[:, self.cells]], 1)
        return fold(self.seen)

    def begin_step(self, r: Rollout, t: int) -> None:
        self.now.copy_(self.look())
        if self.cells:
            self.before = self.seen.clone()
        r.seen[t, self.own] = self.now
        action, r.likelihood[t, self.own], r.value[t, self.own] = self.acting()
        r.action[t, self.own] = action
        self.env.send(action)
        self.sent = r, t

    def end_step(self) -> None:
        if self.sent is None:
            return
        (r, t), self.sent = self.sent, None
        self.seen, reward, terminated, truncated, info = self.env.recv()
        r.reward[t, self.own] = reward.sign()
        r.alive[t, self.own] = (~(terminated | truncated)).float()
        self.finished.append((info["score"].clone(), info["began"].clone()))

    def value(self) -> torch.Tensor:
        """The value of what is seen now."""
        self.now.copy_(self.look())
        return self.acting()[2].clone()

    def scores(self) -> list[float]:
        """Scores of games that ended since the last call."""
        scores, ends = (torch.stack(parts) for parts in zip(*self.finished))
        self.finished = []
        return scores[ends].tolist()


def on(stream):
    """Work inside goes to this stream of the GPU; None: there is no GPU."""
    return torch.cuda.stream(stream) if stream else contextlib.nullcontext()


def follow(later, earlier) -> None:
    """What is queued on one stream from now on waits for what is queued on the other."""
    if later:
        later.wait_stream(earlier)


def write(path: pathlib.Path, save) -> None:
    """Calls `save` with a temporary path beside the final one, and renames it: there is the old file or the whole new one."""
    part = path.with_name(path.name + ".part")
    save(part)
    os.replace(part, path)


def draw_curve(path: pathlib.Path, rows: list[tuple[float, ...]], o: argparse.Namespace) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no curve.png: pip install matplotlib; curve.csv has the numbers")
        return
    figure, axes = plt.subplots(figsize=(7, 4.5))
    axes.plot([r[0] for r in rows], [r[2] for r in rows], label=f"seed {o.seed}")
    axes.set(
        xlabel="seconds", ylabel="score, mean of the last 100 games", title=f"PPO on {o.game}, {o.envs} environments"
    )
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    write(path, lambda part: figure.savefig(part, format="png", dpi=120))
    plt.close(figure)


def write_video(path: pathlib.Path, agent: Agent, o: argparse.Namespace, device: torch.device) -> None:
    """One game of the agent as a video, at the speed of the console."""
    if not shutil.which("ffmpeg"):
        print("no game.mp4: ffmpeg is not installed (apt-get install ffmpeg)")
        return
    env = TorchVectorEnv(o.game, 1, device=device, emulation="host", obs_type=o.observe, noop_max=30)
    cart = env.batch.carts[0]
    width, height = 2 * diffvcs.WIDTH if hasattr(diffvcs, "WIDTH") else 320, cart.height
    part = path.with_name(path.stem + ".part.mp4")
    colours = TorchVectorEnv(
        o.game, 1, device="cpu", emulation="host", stack_num=1, img_height=height, img_width=width, grayscale=False
    )
    command = (
        f"ffmpeg -loglevel error -y -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r 15 -i - "
        f"-vf scale={2 * width}:{2 * height}:flags=neighbor -pix_fmt yuv420p"
    )
    with subprocess.Popen([*command.split(), str(part)], stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin
        player, shown = Group(env, slice(0, 1), agent, o.seed, o.cells), colours.reset(o.seed)
        for _ in range(5000):
            encoder.stdin.write(shown.numpy().tobytes())
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=agent(player.look())[0]).sample()
            if o.cells:
                player.before = player.seen.clone()
            player.seen, *_, info = env.step(action)
            shown, *_ = colours.step(action.cpu())
            if info["began"].item():
                break
        encoder.stdin.close()
        if encoder.wait() == 0:
            os.replace(part, path)
    env.close()
    colours.close()


def main() -> int:
    o = arguments()
    device = torch.device(o.device)
    torch.manual_seed(o.seed)
    if o.threads or o.cells:
        torch.set_num_threads(o.threads or 1)  # threads that wait for each other in layers of 64 take longer than one
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    out = o.out or pathlib.Path("runs") / f"{pathlib.Path(o.game).stem}-{o.seed}"
    if (o.envs * o.steps) % o.minibatches:
        print(
            f"--envs x --steps ({o.envs * o.steps}) must be a multiple of --minibatches ({o.minibatches})",
            file=sys.stderr,
        )
        return 2
    if o.resume and not (out / "agent.pt").exists():
        print(f"--resume: there is no {out}/agent.pt", file=sys.stderr)
        return 2
    if o.cells and (o.observe != "ram" or not all(0 <= cell < 128 for cell in o.cells)):
        print("--cells are bytes of RAM, 0 to 127: they need --observe ram", file=sys.stderr)
        return 2
    on_gpu = device.type == "cuda"
    if o.groups is None:
        o.groups = 2 if on_gpu and o.emulation != "device" else 1
    if o.envs % o.groups:
        print(f"--envs ({o.envs}) must be a multiple of --groups ({o.groups})", file=sys.stderr)
        return 2
    envs: list[TorchVectorEnv] = []
    for _ in range(o.groups):
        env = TorchVectorEnv(
            o.game, o.envs // o.groups, device=device, emulation=o.emulation, obs_type=o.observe, life_loss_info=True,
            repeat_action_probability=o.sticky, threads_of=envs[0] if envs else None,
        )  # fmt: skip
        envs.append(env)
    out.mkdir(parents=True, exist_ok=True)
    cells = len(o.cells) if o.cells else 0
    shape = (2 * cells,) if cells else fold(torch.empty(1, *envs[0].observation_shape)).shape[1:]  # what a network sees
    agent, actor = (Agent(shape, len(envs[0].actions), cells).to(device) for _ in range(2))
    if device.type == "cuda" and o.observe == "image":
        agent, actor = (network.to(memory_format=torch.channels_last) for network in (agent, actor))
    rollouts = [Rollout(o.steps, o.envs, shape, device) for _ in range(2)]
    learner = Learner(agent, rollouts, o, device)
    earlier, frames, rows = 0.0, 0, []
    if o.resume:
        saved = torch.load(out / "agent.pt", map_location=device, weights_only=True)
        agent.load_state_dict(saved["agent"])
        learner.optimizer.load_state_dict(saved["optimizer"])
        for group in learner.optimizer.param_groups:  # decay changes this number, and a CUDA graph reads it
            group["lr"] = learner.rate
        earlier, frames, rows = saved["seconds"], saved["frames"], [tuple(row) for row in saved["curve"]]
    actor.load_state_dict(agent.state_dict())

    width = o.envs // o.groups
    groups = [
        Group(env, slice(i * width, (i + 1) * width), actor, o.seed * 100_003 + i * width, o.cells)
        for i, env in enumerate(envs)
    ]
    learning = torch.cuda.Stream(priority=0) if on_gpu else None
    main_stream = torch.cuda.Stream(priority=-1) if on_gpu else None
    scores: collections.deque[float] = collections.deque(maxlen=100)
    curve = out / "curve.csv"
    began, saved_at, printed, mean, reached, games = time.perf_counter(), 0.0, 0.0, float("nan"), False, 0

    def save(seconds: float) -> None:
        state = {"agent": agent.state_dict(), "optimizer": learner.optimizer.state_dict(), "seconds": seconds,
                 "frames": frames, "curve": rows}  # fmt: skip
        write(out / "agent.pt", lambda part: torch.save(state, part))
        text = "seconds,frames,score\n" + "".join(f"{s:.2f},{f},{x:.2f}\n" for s, f, x in rows)
        write(curve, lambda part: part.write_text(text))

    tasks, which = iter(()), 0
    share = -(-o.epochs * o.minibatches // o.steps)  # updates queued beside each step
    try:
        with on(main_stream):
            while True:
                r = rollouts[which]
                for t in range(o.steps):
                    for group in groups:
                        group.end_step()
                        group.begin_step(r, t)
                    with on(learning):
                        for _ in range(share):
                            next(tasks, None)
                for group in groups:
                    group.end_step()
                r.judge(torch.cat([group.value() for group in groups]), o.gamma, o.trace)
                if not o.lag:
                    follow(learning, main_stream)
                    tasks = learner.tasks(which)
                with on(learning):
                    for _ in tasks:  # those that were not queued yet
                        pass
                follow(main_stream, learning)
                with torch.no_grad():
                    for mine, learnt in zip(actor.parameters(), agent.parameters()):
                        mine.copy_(learnt)
                follow(learning, main_stream)
                tasks, which = learner.tasks(which) if o.lag else iter(()), 1 - which
                frames += o.envs * o.steps * 4
                finished = [score for group in groups for score in group.scores()]
                scores.extend(finished)
                games += len(finished)
                seconds = earlier + time.perf_counter() - began
                if o.decay:
                    learner.decay(max(0.1, 1 - 0.9 * frames / o.decay))
                if len(scores) == 100:
                    mean = float(np.mean(scores))
                    rows.append((seconds, frames, mean))
                if seconds - printed >= 1 or seconds < printed:
                    printed = seconds
                    print(f"\r{seconds:7.1f} s  {frames / 1e6:8.2f} M frames  {games} games  "
                          f"score {mean:8.2f}  ", end="", flush=True)  # fmt: skip
                if seconds - saved_at >= 30:
                    saved_at = seconds
                    save(seconds)
                reached = o.until is not None and len(scores) == 100 and mean >= o.until
                if reached or seconds >= 60 * o.minutes or (o.frames and frames >= o.frames):
                    break
    except KeyboardInterrupt:
        print("\nstopped; --resume continues", file=sys.stderr)
    if on_gpu:
        torch.cuda.synchronize()
    seconds = earlier + time.perf_counter() - began
    save(seconds)
    result = {"game": o.game, "seed": o.seed, "reached": reached, "score": mean, "seconds": round(seconds, 2),
              "frames": frames, "frames_per_second": round(frames / seconds), "settings": {
                  name: value for name, value in vars(o).items() if isinstance(value, (int, float, str))}}  # fmt: skip
    write(out / "result.json", lambda part: part.write_text(json.dumps(result, indent=1) + "\n"))
    print(f"\n{o.game}: {'reached' if reached else 'ended at'} {mean:.2f} after {seconds:.1f} s and {frames / 1e6:.2f} M frames; "
          f"results in {out}")  # fmt: skip
    if rows:
        draw_curve(out / "curve.png", rows, o)
    if not o.no_video:
        write_video(out / "game.mp4", actor, o, device)
    for env in envs:
        env.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
