"""python -m diffvcs demo: the package in one screen, on our own cartridge or on a game whose image is there.
python -m diffvcs roms: which games there are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from . import INPUT_NAMES, Machine, __version__, jvp, png, roms, run, truth
from .functional import input_places


def demo(game: str, frames: int, out: Path) -> None:
    """Plays, presses each input for a frame, and says what it does: the derivative, and the truth beside it."""
    machine = Machine(game)
    machine.reset()
    for _ in range(frames):
        machine.act_on("NOOP")
    state, horizon = machine.save(), 8
    print(f"{machine.cart}: {frames} frames, RAM {machine.ram[:8].tobytes().hex(' ')} ..., hash {machine.hash():016x}")
    actions = ["NOOP"] * horizon
    played = run(machine.cart, state, actions)
    exact = truth(machine.cart, state, actions, input_places([0], INPUT_NAMES[:5]), played=played)
    print(f"what holding an input for one frame changes {horizon} frames later:")
    assert exact.dframes is not None
    strongest, shown = -1, np.zeros(machine.shape)
    for i, name in enumerate(INPUT_NAMES[:5]):
        held = np.zeros((horizon, len(INPUT_NAMES)))
        held[0, i] = 1
        moved = jvp(machine.cart, state, actions, dinput=held, method="bit+fork", played=played).dframes
        assert moved is not None
        moved = moved[-1]
        pixels = int(exact.rows["pixels"][i, 0])
        agree = np.count_nonzero((moved != 0) & (exact.dframes[i, 0] != 0))
        print(f"  {name:6} {pixels:5} pixels in truth, {np.count_nonzero(moved):5} by bit+fork, {agree:5} in both")
        if pixels > strongest:
            strongest, shown = pixels, exact.dframes[i, 0]
    picture = machine.cart.pixel_values("rgb")[played.frames[-1]].astype(np.uint8)
    picture[shown > 0], picture[shown < 0] = (255, 140, 0), (0, 140, 255)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "python_demo.png"
    png.write(path, np.repeat(np.repeat(picture, 2, axis=0), 4, axis=1))
    print(f"{path}: the picture then, with what the strongest input lights (orange) and darkens (blue)")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m diffvcs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  python -m diffvcs demo\n  python -m diffvcs demo --game space_invaders --frames 1050\n"
        "  python -m diffvcs roms",
    )
    parser.add_argument("--version", action="version", version=f"diffvcs {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("demo", help="play, differentiate, compare with the truth, leave a picture")
    shown.add_argument("--game", default="demo", help="default: our own cartridge")
    shown.add_argument("--frames", type=int, default=300, help="frames of nothing before; default 300")
    shown.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture; default out")
    commands.add_parser("roms", help="list the games whose images are found")
    options = parser.parse_args(argv)
    try:
        if options.command == "demo":
            demo(options.game, max(options.frames, 0), options.out)
        else:
            print("\n".join(roms.get_all_rom_ids()) or "no ROM images: `pip install ale-py` brings 108")
    except (OSError, RuntimeError, ValueError) as problem:
        print(f"diffvcs: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
