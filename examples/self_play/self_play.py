#!/usr/bin/env python3
"""Two agents learn Pong by playing each other, on one batch; their Elo rating over time, and a video of the result.

An agent sees six numbers from RAM, from its own side of the table: where its paddle and the ball are, and how the ball moves.
It turns its paddle by the sign of a weighted sum of them. Weights are learned by evolution strategies: in each generation
every environment of the batch plays its own variation of the weights against an earlier version of the same agent, half of them
on each side, and the weights move towards the variations that won more points.

Every ten generations the agent plays a player who acts at random and its own last versions; from the points follows its Elo
rating, with the random player at 0. At the end it plays the random player on a new batch.

    python examples/self_play/self_play.py --video pong.gif      (the video needs Pillow)

Needs ROM images (pip install ale-py) and NumPy. docs/players.md has the output.
"""

import argparse
import sys
import time

import numpy as np

from diffvcs.pettingzoo import pong_v3

NOOP, FIRE, RIGHT, LEFT = 0, 1, 2, 3  # Pong's own numbers of actions
BALL_X, BALL_Y, PADDLES = 0x31, 0x36, (0x33, 0x32)  # bytes of RAM; the first player is on the right
FEATURES, ENVS, STEPS = 6, 32, 300
STEP_FRAMES = 4


def features(ram, before, side):
    """What a player on a side sees: environments x FEATURES, about -1 to 1."""
    x, y, own = (ram[:, i].astype(float) for i in (BALL_X, BALL_Y, PADDLES[side]))
    direction = 1 if side == 0 else -1
    dx, dy = direction * (x - before[:, BALL_X]), y - before[:, BALL_Y]
    return np.stack(
        [(y - own) / 50, dy / 10, direction * (x - 126) / 60, dx / 10, (own - 128) / 80, np.ones(len(x))], 1
    )


def act(weights, ram, before, side, step):
    """The actions of linear players: one row of weights for each environment."""
    value = (features(ram, before, side) * weights).sum(1)
    actions = np.where(value > 0.1, LEFT, np.where(value < -0.1, RIGHT, NOOP))
    return np.where(ram[:, BALL_Y] == 0, FIRE if step % 2 else NOOP, actions)  # serve


def play(batch, players, random, steps=STEPS):
    """Plays both players' weights (None: at random) in all environments; returns the points that each side won, by environment."""
    _, info = batch.reset(range(ENVS), range(ENVS))
    ram = before = info["ram"].copy()
    won = np.zeros((ENVS, 2))
    for step in range(steps):
        actions = np.empty((ENVS, 2), np.int32)
        for side, weights in enumerate(players):
            if weights is None:
                actions[:, side] = random.integers(0, 4, ENVS)
            else:
                actions[:, side] = act(weights, ram, before, side, step)
        _, rewards, _, _, info = batch.step(actions)
        before, ram = ram, info["ram"].copy()
        won += np.clip(rewards, 0, None)
    return won


def share(won, side):
    """The part of all points that a side won, 0.5 if there were none."""
    return (won[:, side].sum() + 0.5) / (won.sum() + 1)


def match(batch, one, other, random):
    """The part of the points that `one` wins, playing half of the time on each side."""
    sides = [play(batch, pair, random) for pair in ((one, other), (other, one))]
    return (share(sides[0], 0) + share(sides[1], 1)) / 2


def elo(results):
    """The rating that explains the parts won against players of known ratings best, on average."""
    gains = [rating + 400 * np.log10(part / (1 - part)) for rating, part in results]
    return float(np.mean(gains))


def write_video(path, weights, random, steps):
    """Writes a GIF of the trained player (on the right) and the random player."""
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("the video needs Pillow: pip install pillow") from None
    env = pong_v3.parallel_raw_env(obs_type="rgb_image")
    env.reset()
    pictures, ram = [], env.machine.ram[None].copy()
    before = ram
    for step in range(steps):
        actions = [int(act(weights[None], ram, before, 0, step)[0]), int(random.integers(0, 4))]
        for _ in range(STEP_FRAMES):
            env.step({"first_0": actions[0], "second_0": actions[1]})
        before, ram = ram, env.machine.ram[None].copy()
        pictures.append(Image.fromarray(env.machine.rgb()).resize((320, 420), Image.NEAREST))
        if env.machine.over:
            env.reset()
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=66, loop=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--video", help="write a GIF of the trained player against the random one")
    parser.add_argument(
        "--at-least", type=float, default=0, help="fail below this percentage of the points against random"
    )
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    batch = pong_v3.vector_env(
        ENVS, frame_skip=STEP_FRAMES, noop_max=30, use_fire_reset=False, reward_clipping=False, ram=True, observations=False
    )  # fmt: skip
    weights, league = np.zeros(FEATURES), [(np.zeros(FEATURES), 0.0)]
    start, spread, rate = time.perf_counter(), 0.5, 0.4
    for generation in range(1, options.generations + 1):
        noise = random.standard_normal((ENVS // 2, FEATURES))
        mine = weights + spread * np.concatenate([noise, -noise])
        rival = league[random.integers(max(0, len(league) - 3), len(league))][0]
        gains = np.zeros(ENVS)
        for side, pair in enumerate(((mine, rival), (rival, mine))):
            won = play(batch, pair, random)
            gains += won[:, side] - won[:, 1 - side]
        ranks = gains.argsort().argsort() / (ENVS - 1) - 0.5
        weights = weights + rate * (ranks[:, None] * (mine - weights)).sum(0) / (ENVS * spread * spread) * 2
        if generation % 10 == 0:
            part = match(batch, weights, None, random)
            rating = elo(
                [(0.0, part)] + [(known, match(batch, weights, old, random)) for old, known in league[1:][-2:]]
            )
            league.append((weights.copy(), rating))
            seconds = time.perf_counter() - start
            print(f"generation {generation:3}: Elo {rating:5.0f}, {100 * part:3.0f} % of the points against random, {seconds:5.1f} s", flush=True)  # fmt: skip
    part = match(batch, weights, None, np.random.default_rng(options.seed + 1))
    frames = options.generations * 2 * ENVS * STEPS * STEP_FRAMES
    print(f"after {frames:,} frames of self-play: {100 * part:.0f} % of the points against a random player")
    if options.video:
        write_video(options.video, weights, random, 300)
        print(f"wrote {options.video}")
    return 1 if 100 * part < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
