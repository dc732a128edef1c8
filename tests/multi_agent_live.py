#!/usr/bin/env python3
"""Games for several players beside multi_agent_ale_py, frame by frame: rewards, lives, endings, RAM, of every player.

Every mode for two and four players is played with random actions, each held for up to 12 frames, for --frames frames; a game
that ends begins again. multi_agent_ale_py draws the contents of RAM at power-on from its random seed and we draw them as
ale-py does, from a fixed one; with that seed the machines are the same.

Maze Craze makes one of 30 mazes from the timer's value at power-on, which both machines draw at every reset. The reference
draws other random numbers in between, so ours is reset until it has the same maze.

--quick plays one mode of each environment for 600 frames. Exit status 1 if there is a difference.
"""

import argparse
import sys

import multi_agent_ale_py
import numpy as np

import diffvcs
from diffvcs.pettingzoo import environments, modes

GAMES = sorted({environment.game for environment in environments.values()})
MAZES_TRIED = 1000
POWER_ON_SEED = 4753849  # ale-py's system_random_seed


def reference(game, mode):
    ale = multi_agent_ale_py.ALEInterface()
    ale.setFloat(b"repeat_action_probability", 0.0)
    ale.setInt(b"random_seed", POWER_ON_SEED)
    ale.loadROM(str(diffvcs.roms.get_rom_path(game)))
    ale.setMode(mode)
    ale.reset_game()
    return ale


def reset(game, ours, theirs):
    """Begins a game in our machine; the reference has begun its own."""
    for _ in range(MAZES_TRIED if game == "maze_craze" else 1):
        ours.reset()
        if (ours.ram == theirs.getRAM()).all():
            break


def compare(game, players, mode, frames):
    """Returns the first difference in words, or None, and how often there were rewards and endings."""
    theirs, ours = reference(game, mode), diffvcs.Machine(game, players=players, mode=mode)
    ours.draw(False)
    reset(game, ours, theirs)
    random = np.random.default_rng(mode)
    actions, left = np.zeros(players, int), np.zeros(players, int)
    rewarded = ended = 0
    for frame in range(frames):
        new = left == 0
        actions[new], left[new] = random.integers(0, 18, new.sum()), random.integers(1, 13, new.sum())
        left -= 1
        a, b = ours.act_players(actions.tolist()), theirs.act(actions).tolist()
        if a != b:
            return f"frame {frame}: rewards {a}, not {b}", rewarded, ended
        lives = theirs.allLives().tolist()
        if ours.player_lives != lives:
            return f"frame {frame}: lives {ours.player_lives}, not {lives}", rewarded, ended
        if ours.over != theirs.game_over():
            return f"frame {frame}: over {ours.over}, not {theirs.game_over()}", rewarded, ended
        wrong = np.flatnonzero(ours.ram != theirs.getRAM())
        if wrong.size:
            return f"frame {frame}: RAM ${0x80 + wrong[0]:02X} and {wrong.size - 1} more bytes", rewarded, ended
        rewarded += any(b)
        if ours.over:
            ended += 1
            theirs.reset_game()
            reset(game, ours, theirs)
    return None, rewarded, ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--quick", action="store_true", help="one mode of each environment, 600 frames")
    parser.add_argument("--games", default=",".join(GAMES))
    options = parser.parse_args()
    multi_agent_ale_py.ALEInterface.setLoggerMode("error")
    frames = 600 if options.quick else options.frames
    failures = total = 0
    for game in options.games.split(","):
        for players in (2, 4):
            listed = modes(game, players)
            assert listed == reference(game, listed[0]).getAvailableModes(players).tolist() if listed else True
            for mode in listed[:1] if options.quick else listed:
                problem, rewarded, ended = compare(game, players, mode, frames)
                total += 1
                failures += problem is not None
                if problem or not options.quick:
                    print(f"{game} {players} players, mode {mode}: {problem or 'the same'}, {rewarded} frames with rewards, {ended} ends", flush=True)  # fmt: skip
    print(f"{total - failures} of {total} modes are the same over {frames} frames")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
